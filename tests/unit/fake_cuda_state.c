// The fake driver behind its calls: settings, what there is, and what is to be done later. See
// fake_cuda.h.
#include "tests/unit/fake_cuda_state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Exported.
#define EXPORT __attribute__((visibility("default")))
EXPORT void fake_cuda_set(const char *settings);
EXPORT void fake_cuda_define(const char *name, unsigned parameter_count, fake_cuda_kernel *run);
EXPORT const char *fake_cuda_misuse(void);
EXPORT size_t fake_cuda_left(void);
EXPORT int fake_cuda_hold(void *stream, int more);
EXPORT size_t fake_cuda_calls(const char *symbol);

static pthread_mutex_t lock;
__attribute__((constructor)) static void make_lock(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &recursive);
}
int fake_lock(void) { return pthread_mutex_lock(&lock); }
void fake_unlock(int *locked) { *locked = pthread_mutex_unlock(&lock); }

// ---- settings ----------------------------------------------------------------------------------

static const fake_settings first_settings = {.devices = 1,
                                             .driver = 12080,
                                             .capability = 90,
                                             .memory = 1024,
                                             .reach = 1,
                                             .at = 1,
                                             .status = 1};
fake_settings fake_now;

#define CALL_NAME(name, symbol, parameters) #symbol,
static const char *const call_names[] = {CUDA_CALLS(CALL_NAME) CUDA_LATER_CALLS(CALL_NAME)
                                             CUDA_SHARE_CALLS(CALL_NAME)};
enum { CALLS = sizeof call_names / sizeof *call_names };
static size_t call_counts[CALLS];
static char misuse[256];
static int lost;  // the error that a kernel has left

static const struct setting_row {
  const char *name;
  size_t place;
} setting_rows[] = {
    {"devices", offsetof(fake_settings, devices)},
    {"driver", offsetof(fake_settings, driver)},
    {"capability", offsetof(fake_settings, capability)},
    {"memory", offsetof(fake_settings, memory)},
    {"apart", offsetof(fake_settings, apart)},
    {"same", offsetof(fake_settings, same)},
    {"reach", offsetof(fake_settings, reach)},
    {"busy", offsetof(fake_settings, busy)},
    {"slow", offsetof(fake_settings, slow)},
    {"fault", offsetof(fake_settings, fault)},
    {"at", offsetof(fake_settings, at)},
    {"status", offsetof(fake_settings, status)},
};

static void set_one(const char *word) {
  if (sscanf(word, "fail=%63s", fake_now.fail) == 1)
    return;
  for (size_t i = 0; i < sizeof setting_rows / sizeof *setting_rows; i++) {
    size_t length = strlen(setting_rows[i].name);
    if (strncmp(word, setting_rows[i].name, length) == 0 && word[length] == '=') {
      int value = atoi(word + length + 1);
      memcpy((char *)&fake_now + setting_rows[i].place, &value, sizeof value);
      return;
    }
  }
  fprintf(stderr, "fake_cuda: there is no setting %s\n", word);
  abort();
}

void fake_cuda_set(const char *settings) {
  char word[100];
  fake_now = first_settings;
  misuse[0] = 0;
  lost = 0;
  memset(call_counts, 0, sizeof call_counts);
  for (int used = 0; sscanf(settings, "%99s%n", word, &used) == 1; settings += used)
    set_one(word);
}

__attribute__((constructor)) static void set_from_environment(void) {
  const char *settings = getenv("FAKE_CUDA");
  fake_cuda_set(settings ? settings : "");
}

const char *fake_cuda_misuse(void) { return misuse; }

int fake_cuda_hold(void *stream, int more) {
  LOCKED;
  object *o = lives(stream, STREAM);
  if (o)
    o->held += more;
  return do_all(NULL);
}

cuda_status wrong(cuda_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!misuse[0])
    vsnprintf(misuse, sizeof misuse, format, arguments);
  va_end(arguments);
  return status;
}

static size_t number_of(const char *symbol) {
  size_t i = 0;
  while (i < CALLS && strcmp(call_names[i], symbol) != 0)
    i++;
  if (i == CALLS)
    abort();
  return i;
}

size_t fake_cuda_calls(const char *symbol) {
  size_t sum = 0;
  for (size_t i = 0; i < CALLS && !symbol; i++)
    sum += call_counts[i];
  return symbol ? call_counts[number_of(symbol)] : sum;
}

// ---- what there is -----------------------------------------------------------------------------

object *fake_objects;
bool fake_started;
static float clock_milliseconds;  // a kernel takes one
_Thread_local object *fake_current[16];
_Thread_local size_t fake_depth;

object *new_object(kind k) {
  object *o = calloc(1, sizeof *o);
  if (!o)
    abort();
  o->kind = k;
  o->context = k != CONTEXT && fake_depth ? fake_current[fake_depth - 1] : NULL;
  o->next = fake_objects;
  fake_objects = o;
  return o;
}

// Handles may be anything: they are only compared.
object *lives(const void *handle, kind k) {
  object *o = fake_objects;
  while (o && ((const void *)o != handle || o->kind != k))
    o = o->next;
  return o;
}

void remove_object(object *o) {
  object **at = &fake_objects;
  while (*at != o)
    at = &(*at)->next;
  *at = o->next;
  if (o->library)
    dlclose(o->library);
  free(o->data);
  free(o);
}

object *holds(kind k, const void *data, size_t bytes) {
  uintptr_t at = (uintptr_t)data;
  for (object *o = fake_objects; o; o = o->next) {
    uintptr_t begin = (uintptr_t)o->data;
    if (o->kind == k && at >= begin && at - begin <= o->bytes && bytes <= o->bytes - (at - begin))
      return o;
  }
  return NULL;
}

cuda_status begin_call(const char *symbol, need n) {
  size_t number = number_of(symbol);
  call_counts[number]++;
  if (strcmp(symbol, fake_now.fail) == 0 && (int)call_counts[number] == fake_now.at)
    return fake_now.status;
  if (n >= DRIVER && !fake_started)
    return wrong(NOT_INITIALIZED, "%s before cuInit", symbol);
  if (n >= CURRENT && fake_depth == 0)
    return wrong(INVALID_CONTEXT, "%s without a context", symbol);
  return n >= CURRENT ? lost : CUDA_STATUS_GOOD;
}
cuda_status check_handle(const void *handle, kind k, const char *symbol) {
  const object *o = lives(handle, k);
  if (!o)
    return wrong(INVALID_HANDLE, "%s of what does not live", symbol);
  return !o->context || (fake_depth && fake_current[fake_depth - 1] == o->context)
             ? CUDA_STATUS_GOOD
             : wrong(INVALID_CONTEXT, "%s of what is another device's", symbol);
}
// ---- work that is done later -------------------------------------------------------------------

static definition definitions[32];
static size_t definition_count;
op *fake_queue;
_Thread_local object *fake_captured;

void fake_cuda_define(const char *name, unsigned parameter_count, fake_cuda_kernel *run) {
  definition *d = (definition *)(uintptr_t)definition_of(name);
  if (parameter_count > FAKE_CUDA_PARAMETERS || (!d && definition_count == 32))
    abort();
  d = d ? d : &definitions[definition_count++];
  snprintf(d->name, sizeof d->name, "%s", name);
  d->parameter_count = parameter_count;
  d->run = run;
}

const definition *definition_of(const char *name) {
  for (size_t i = 0; i < definition_count; i++)
    if (strcmp(definitions[i].name, name) == 0)
      return &definitions[i];
  return NULL;
}

void append_op(op **to, const op *like) {
  op *o = malloc(sizeof *o);
  if (!o)
    abort();
  *o = *like;
  o->next = NULL;
  while (*to)
    to = &(*to)->next;
  *to = o;
}

void copy_ops(op **to, const op *from, object *stream, const object *graph) {
  for (; from; from = from->next) {
    op o = *from;
    o.stream = stream;
    o.graph = graph;
    if (from->own && !(o.own = malloc(from->bytes)))
      abort();
    if (from->own)
      memcpy(o.own, from->own, from->bytes);
    append_op(to, &o);
  }
}

cuda_status do_later(cuda_stream *stream, const op *o) {
  op later = *o;
  later.stream = (object *)stream;
  if (later.stream && later.stream->captured && later.stream->captured != fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "work for a stream that another thread records");
  append_op(fake_captured ? &fake_captured->ops : &fake_queue, &later);
  return CUDA_STATUS_GOOD;
}

static op *take_op(op **ops) {
  op *o = *ops;
  *ops = o->next;
  return o;
}

static void free_op(op *o) {
  if (o->freed && !o->graph)
    remove_object(o->freed);
  free(o->own);
  free(o);
}

void free_ops(op **ops) {
  while (*ops)
    free_op(take_op(ops));
}

static void execute(const op *o);

static bool comes_after(const op *later, const op *o) {
  return later->stream == o->stream || (o->graph && later->graph == o->graph);
}

// What other streams have to do next, up to an event, now: what waits neither for `o` nor for
// anything that is left in front of it.
static void execute_others(const op *o) {
  static bool within;
  op **at = &fake_queue;
  while (!within && *at && !(*at)->event) {
    bool waits = comes_after(*at, o);
    for (const op *before = fake_queue; before != *at && !waits; before = before->next)
      waits = comes_after(*at, before);
    if (waits) {
      at = &(*at)->next;
      continue;
    }
    op *other = take_op(at);
    within = true;
    execute(other);
    within = false;
    free_op(other);
  }
}

// The first half of the blocks, what comes between, the other half.
static void execute_code(const op *o) {
  const fake_cuda_launch *l = &o->launch;
  void *scratch = aligned_alloc(256, (l->shared_bytes / 256 + 1) * (size_t)256);
  if (!scratch)
    abort();
  unsigned half = l->blocks[0] / 2;
  fake_cuda_launch rest = *l;
  rest.parameters[0] += half;
  o->is->code(l->parameters, half, scratch);
  execute_others(o);
  o->is->code(rest.parameters, l->blocks[0] - half, scratch);
  free(scratch);
}

static void execute(const op *o) {
  if (o->bytes)
    memmove(o->to, o->own ? o->own : o->from, o->bytes);
  if (o->event && lives(o->event, EVENT)) {
    o->event->recorded = true;
    o->event->milliseconds = clock_milliseconds;
  }
  if (o->is) {
    clock_milliseconds += 1;
    if (o->is->run)
      o->is->run(&o->launch);
    if (o->is->code)
      execute_code(o);
    lost = fake_now.fault;
  }
}

cuda_status do_all(const object *until) {
  for (bool found = false; fake_queue && !found && !lost;) {
    op *o = take_op(&fake_queue);
    execute(o);
    found = until && o->event == until;
    free_op(o);
  }
  if (lost)
    free_ops(&fake_queue);
  return lost;
}

bool is_to_be_done(const object *event) {
  const op *o = fake_queue;
  while (o && o->event != event)
    o = o->next;
  return o != NULL;
}

// With the last context goes all that is left, which is a mistake.
void forget_all(void) {
  free_ops(&fake_queue);
  for (object *o; (o = fake_objects) != NULL; remove_object(o)) {
    if (o->kind != FUNCTION)
      wrong(0, "an object of kind %d is left over", (int)o->kind);
    free_ops(&o->ops);
  }
}

size_t fake_cuda_left(void) {
  size_t count = fake_depth;
  for (const object *o = fake_objects; o; o = o->next)
    count++;
  for (const op *o = fake_queue; o; o = o->next)
    count++;
  return count;
}
