// Permutations by schedules on a GPU. See permuting.h.
#include "runtime/gpu/permuting.h"
#include "kernels/routines/permute/permute.h"
#include "runtime/cuda/device.h"
#include "runtime/gpu/launcher.h"
#include "runtime/system/pool.h"

// What launches of one schedule use.
typedef struct schedule_parts {
  struct schedule_parts *next;  // of a schedule before it, which was recorded
  cuda_address memory[PERMUTE_TABLES];
  launch_table table;
  table_code code;
} schedule_parts;

struct cuda_permuting {
  cuda_device *device;
  const net_routine *routine;
  uint32_t bytes, place_bytes;  // of an element, of a place
  permute_strategy asked;       // PERMUTE_KINDS: none
  bool ready;
  bool recorded;  // by a caller, whose graph may be launched as long as the program lives
  uint64_t hash;  // of the places
  permute_shape shape;
  permute_tables tables;  // their lengths; the data is on the device
  schedule_parts now;
  cuda_address between;  // 0: not placed
};

static permute_strategy strategy_named(const char *name) {
  int i = 0;
  while (i < PERMUTE_KINDS && strcmp(permute_names[i], name) != 0)
    i++;
  return (permute_strategy)i;
}

cuda_permuting *cuda_permuting_new(cuda_device *d, const plan *p, const plan_pass *pass) {
  const net_routine *r = plan_routine_of(p, pass);
  cuda_permuting *c = r && r->kind == NET_PERMUTE ? calloc(1, sizeof *c) : NULL;
  if (!c)
    return NULL;
  const net_array *places = &p->arrays.items[r->pairs[0].from];
  const net_array *to = &p->arrays.items[r->pairs[1].to];
  c->device = d;
  c->routine = r;
  c->place_bytes = (uint32_t)scalar_types[places->type].size;
  c->bytes = (uint32_t)(to->count / r->length * scalar_types[to->type].size);
  c->asked = strategy_named(p->strategy[pass->stage]);
  return c;
}

static void drop_tables(const cuda_permuting *r, schedule_parts *s) {
  for (int i = 0; i < PERMUTE_TABLES; i++) {
    cuda_memory_free(r->device, s->memory[i]);
    s->memory[i] = 0;
  }
}

static void drop_kernels(const cuda_permuting *r, schedule_parts *s) {
  table_code_free(&s->code, r->device, &s->table);
  launch_table_free(&s->table);
}

void cuda_permuting_free(cuda_permuting *r) {
  for (schedule_parts *s = r ? &r->now : NULL, *next; s; s = next) {
    next = s->next;
    drop_tables(r, s);
    drop_kernels(r, s);
    if (s != &r->now)
      free(s);
  }
  if (r)
    cuda_memory_free(r->device, r->between);
  free(r);
}

// Another schedule comes. False: memory is out.
static bool leave_schedule(cuda_permuting *r) {
  schedule_parts *kept = r->recorded ? malloc(sizeof *kept) : NULL;
  if (r->recorded && !kept)
    return false;
  r->ready = r->recorded = false;
  if (!kept)
    return drop_tables(r, &r->now), true;
  *kept = r->now;
  r->now = (schedule_parts){.next = kept};
  return true;
}

net_id cuda_permuting_places(const cuda_permuting *r) { return r->routine->pairs[0].from; }

// ---- preparing ---------------------------------------------------------------------------------

// By the strategy that is asked for, or the cheapest.
static bool choose_shape(cuda_permuting *r, const place_list *p, const schedule_means *means,
                         error *failure) {
  uint64_t n = r->routine->length;
  permute_spread spread = {0};
  if (r->asked >= PERMUTE_IN_ROWS && !permute_spread_of(n, r->bytes, p, means, &spread))
    return error_stopped(failure, means->interrupted);
  if (r->asked == PERMUTE_KINDS) {
    permute_choose(n, r->bytes, &spread, &r->shape);
    return true;
  }
  const char *problem = permute_shape_of(r->asked, n, r->bytes, &spread, &r->shape);
  return !problem || error_set(failure, SPAN_NONE, "the strategy %s does not apply: %s",
                               permute_names[r->asked], problem);
}

// Makes the tables on the host, and uploads them.
static bool make_tables(cuda_permuting *r, cuda_device *d, const place_list *p,
                        const schedule_means *means, error *failure) {
  bool good = true;
  r->tables = permute_tables_of(&r->shape);
  for (int i = 0; i < PERMUTE_TABLES; i++)
    good = good && (r->tables.data[i] = malloc(r->tables.bytes[i] + 1));
  good = (good && permute_tables_make(&r->shape, p, means, &r->tables)) ||
         error_stopped(failure, means->interrupted);
  for (int i = 0; i < PERMUTE_TABLES && good; i++)
    if (r->tables.bytes[i])
      good = ((r->now.memory[i] = cuda_memory_new(d, r->tables.bytes[i])) &&
              cuda_upload(d, r->now.memory[i], r->tables.data[i], r->tables.bytes[i])) ||
             cuda_fail(d, failure);
  for (int i = 0; i < PERMUTE_TABLES; i++) {
    free(r->tables.data[i]);
    r->tables.data[i] = NULL;
  }
  return good;
}

// Tables of places are parameters by what `now` has then.
static bool make_table(cuda_permuting *r, error *failure) {
  launch_table *t = &r->now.table;
  permc_parameter arrays[PERMUTE_TABLE + PERMUTE_TABLES] = {
      [PERMUTE_A] = {PERMC_IS_ARRAY, r->routine->pairs[1].from, NULL},
      [PERMUTE_B] = {PERMC_IS_ARRAY, r->routine->pairs[1].to, NULL},
      [PERMUTE_BETWEEN] = {PERMC_IS_TEMPORARY, 0, NULL}};
  routine_launch launches[PERMUTE_LAUNCHES];
  uint32_t count = permute_launches(&r->shape, launches);
  jmp_buf no_memory;
  for (int i = 0; i < PERMUTE_TABLES; i++)
    arrays[PERMUTE_TABLE + i] = (permc_parameter){PERMC_IS_DATA, 0, &r->now.memory[i]};
  *t = (launch_table){.memory.failure = &no_memory, .parts = 1};
  if (setjmp(no_memory))
    return error_no_memory(failure);
  t->passes = NEW(&t->memory, launch_pass);
  text code = {.memory = &t->memory};
  permute_text(&code, &r->shape);
  launch_table_add(t, t->passes, code, count, launches, arrays);
  for (size_t i = 0; i < t->parameters.count; i++)
    if (t->parameters.items[i].kind == PERMC_IS_TEMPORARY)
      t->passes->bytes = r->routine->length * r->bytes;
  return true;
}

// Those of another permutation of the same shape are the same.
static bool load_kernels(cuda_permuting *r, cuda_device *d, const permute_shape *before,
                         const cuda_code_source *made_of, error *failure) {
  schedule_parts *s = &r->now;
  if (s->code.modules && permute_shapes_equal(before, &r->shape))
    return true;
  drop_kernels(r, s);
  bool good =
      make_table(r, failure) && (table_code_new(&s->code, &s->table) || error_no_memory(failure)) &&
      (table_code_load(&s->code, d, &s->table, 0, NULL, made_of, failure) || cuda_fail(d, failure));
  if (!good)
    drop_kernels(r, s);
  return good;
}

uint64_t cuda_permuting_between(const cuda_permuting *r) {
  return r->now.table.passes ? r->now.table.passes->bytes : 0;
}

bool cuda_permuting_allocate(cuda_permuting *r) {
  uint64_t bytes = cuda_permuting_between(r);
  return !bytes || r->between || (r->between = cuda_memory_new(r->device, bytes));
}

typedef struct inverting {
  const place_list *p;
  uint32_t *inverse;
} inverting;

static bool invert_places(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const inverting *v = with;
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    v->inverse[place_at(v->p, i)] = (uint32_t)i;
  return true;
}

// A routine whose elements come from places moves them to those of the inverse. The caller frees
// *room.
static bool find_targets(const cuda_permuting *r, place_list *p, const schedule_means *means,
                         uint32_t **room, error *failure) {
  enum { CHUNK = 1 << 16 };
  *room = r->routine->back ? malloc(p->count * sizeof **room) : NULL;
  inverting v = {p, *room};
  if (!r->routine->back)
    return true;
  if (!*room || !pool_run(means->threads, p->count, CHUNK, invert_places, &v, means->interrupted))
    return error_stopped(failure, means->interrupted);
  *p = (place_list){*room, sizeof **room, p->count};
  return true;
}

bool cuda_permuting_prepare(cuda_permuting *r, cuda_device *d, const void *places,
                            const cuda_code_source *made_of, const atomic_bool *interrupted,
                            bool *changed, error *failure) {
  uint64_t n = r->routine->length;
  uint64_t hash = pool_hash(pool_processors(), places, n * r->place_bytes);
  permute_shape before = r->shape;
  if (r->ready && r->hash == hash)
    return true;
  if (cuda_is_capturing(d))
    return error_set(failure, SPAN_NONE,
                     "the schedule of a permutation is made by the first call with it: make one "
                     "before the stream is captured");
  *changed = true;
  if (!cuda_wait(d, interrupted))
    return cuda_fail(d, failure);
  if (!leave_schedule(r))
    return error_no_memory(failure);
  place_list p = {places, r->place_bytes, n};
  schedule_means means = {
      .threads = pool_processors(), .pool = pool_run, .interrupted = interrupted};
  uint32_t *room = NULL;
  bool good = find_targets(r, &p, &means, &room, failure) && choose_shape(r, &p, &means, failure) &&
              make_tables(r, d, &p, &means, failure) &&
              load_kernels(r, d, &before, made_of, failure);
  free(room);
  if (good && !cuda_wait(d, interrupted))  // for launches on other streams
    good = cuda_fail(d, failure);
  r->hash = hash;
  r->ready = good;
  return good;
}

// ---- launching ---------------------------------------------------------------------------------

bool cuda_permuting_launch(cuda_permuting *r, cuda_device *d, const cuda_address *addresses,
                           cuda_address between) {
  const launch_place at = {.arrays = addresses, .temporaries = between ? between : r->between};
  r->recorded = r->recorded || (!d->recording && cuda_is_capturing(d));
  return table_launch(&r->now.table, &r->now.code, d, 0, &at);
}
