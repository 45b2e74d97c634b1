// An NCCL that needs no GPU, for ranks that are threads of one process: a shared library that
// PERMC_NCCL names. Works with the fake driver of CUDA (fake_cuda.h), whose memory is the host's.
//
// A communicator does not block: calls begin something and say that it is in progress; it goes on
// when its state is asked for. What a rank sends is copied when the other has come to receive it,
// and its stream is not done before. Each use is looked at: a mistake aborts.
//
// FAKE_NCCL says how it behaves, by words NAME=VALUE:
//
//   fail=SYMBOL at=1 status=2 rank=-1    the call of that number fails (of that rank; -1: of any)
//   fail=async at=1                      an exchange fails while it is under way
//   silent=1                             nothing comes
//   version=22809
#include "runtime/transport/nccl_library.h"
#include "tests/unit/fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PROTOTYPE(name, symbol, parameters) EXPORT nccl_status symbol parameters;
NCCL_CALLS(PROTOTYPE)
EXPORT const char *ncclGetErrorString(nccl_status status);
EXPORT const char *ncclGetLastError(nccl_comm *comm);
EXPORT size_t fake_nccl_left(void);
EXPORT void fake_nccl_set(const char *settings);

enum { MOST_RANKS = 32, MOST_MESSAGES = 2 * MOST_RANKS };

typedef struct message {
  int peer;
  bool receive, done;
  void *data;
  size_t count;
} message;

struct nccl_comm {
  struct nccl_comm *next;
  nccl_id id;
  int rank, ranks;
  bool joined, finalized;  // all have come; this one ends
  nccl_status state;
  void *stream;  // of the exchange that is under way, or NULL
  message messages[MOST_MESSAGES];
  int count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nccl_comm *all;
static unsigned ids;
static _Thread_local int depth;
static _Thread_local struct nccl_comm *grouped;

static struct {
  char fail[64];
  int at, status, rank, silent, version, calls;
} now = {.at = 1, .status = 2, .rank = -1, .version = 22809};

// ---- settings ----------------------------------------------------------------------------------

void fake_nccl_set(const char *settings) {
  char word[100];
  now.fail[0] = 0;
  now.at = 1, now.status = 2, now.rank = -1, now.silent = 0, now.version = 22809, now.calls = 0;
  for (int used = 0; sscanf(settings, "%99s%n", word, &used) == 1; settings += used) {
    int known = sscanf(word, "fail=%63s", now.fail) + sscanf(word, "at=%d", &now.at) +
                sscanf(word, "status=%d", &now.status) + sscanf(word, "rank=%d", &now.rank) +
                sscanf(word, "silent=%d", &now.silent) + sscanf(word, "version=%d", &now.version);
    if (known < 1)
      abort();
  }
}

__attribute__((constructor)) static void set_from_environment(void) {
  const char *settings = getenv("FAKE_NCCL");
  fake_nccl_set(settings ? settings : "");
}

static void mistake(const char *what) {
  fprintf(stderr, "fake_nccl: %s\n", what);
  abort();
}

// With the lock held.
static bool fails(const char *symbol, int rank) {
  return strcmp(symbol, now.fail) == 0 && (now.rank < 0 || now.rank == rank || rank < 0) &&
         ++now.calls == now.at;
}

// False: the stream has failed.
static bool hold(void *stream, int more) {
  int (*call)(void *stream, int more) = NULL;
  void *driver = dlopen(getenv("PERMC_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  void *symbol = driver ? dlsym(driver, "fake_cuda_hold") : NULL;
  memcpy(&call, &symbol, sizeof call);
  if (!call)
    mistake("no fake driver");
  bool good = call(stream, more) == 0;
  dlclose(driver);
  return good;
}

// ---- what goes on, with the lock held ------------------------------------------------------------

static struct nccl_comm *comm_of(const struct nccl_comm *like, int rank) {
  struct nccl_comm *c = all;
  while (c && (memcmp(&c->id, &like->id, sizeof c->id) != 0 || c->rank != rank))
    c = c->next;
  return c;
}

static int comms_like(const struct nccl_comm *like) {
  int count = 0;
  for (int r = 0; r < like->ranks; r++)
    count += comm_of(like, r) != NULL;
  return count;
}

static message *message_of(struct nccl_comm *c, int peer, bool receive) {
  for (int i = 0; c && c->stream && i < c->count; i++)
    if (c->messages[i].peer == peer && c->messages[i].receive == receive && !c->messages[i].done)
      return &c->messages[i];
  return NULL;
}

static void end_if_done(struct nccl_comm *c) {
  for (int i = 0; i < c->count; i++)
    if (!c->messages[i].done)
      return;
  hold(c->stream, -1);
  c->stream = NULL;
  c->count = 0;
}

static void copy_messages(struct nccl_comm *c) {
  for (int i = 0; c->stream && i < c->count && !now.silent; i++) {
    message *to = &c->messages[i];
    struct nccl_comm *other = comm_of(c, to->peer);
    message *from = to->receive && !to->done ? message_of(other, c->rank, false) : NULL;
    if (!from)
      continue;
    if (from->count != to->count)
      mistake("other bytes are received than sent");
    memcpy(to->data, from->data, to->count);
    to->done = from->done = true;
    end_if_done(other);
  }
  if (c->stream)
    end_if_done(c);
}

// ---- calls ---------------------------------------------------------------------------------------

static nccl_status begin(const char *symbol, int rank) {
  pthread_mutex_lock(&lock);
  bool bad = fails(symbol, rank);
  pthread_mutex_unlock(&lock);
  return bad ? now.status : NCCL_GOOD;
}

const char *ncclGetErrorString(nccl_status status) {
  return status == 2 ? "unhandled system error" : "other error";
}

const char *ncclGetLastError(nccl_comm *comm) {
  (void)comm;
  return "the cable is out\nand more";
}

nccl_status ncclGetVersion(int *version) {
  *version = now.version;
  return NCCL_GOOD;
}

nccl_status ncclGetUniqueId(nccl_id *id) {
  nccl_status status = begin(__func__, -1);
  pthread_mutex_lock(&lock);
  *id = (nccl_id){{0}};
  snprintf(id->bytes, sizeof id->bytes, "communicator %u", ++ids);
  pthread_mutex_unlock(&lock);
  return status;
}

nccl_status ncclCommInitRankConfig(nccl_comm **comm, int ranks, nccl_id id, int rank,
                                   nccl_config *config) {
  nccl_status status = begin(__func__, rank);
  if (config->size != sizeof *config || config->magic != NCCL_MAGIC || config->blocking)
    mistake("a configuration that is none");
  if (status != NCCL_GOOD)
    return status;
  struct nccl_comm *c = calloc(1, sizeof *c);
  if (!c || ranks > MOST_RANKS || rank >= ranks)
    mistake("too many ranks");
  *c = (struct nccl_comm){.id = id, .rank = rank, .ranks = ranks, .state = NCCL_IN_PROGRESS};
  pthread_mutex_lock(&lock);
  if (comm_of(c, rank))
    mistake("a rank joins twice");
  c->next = all;
  all = c;
  for (int r = 0; r < ranks && comms_like(c) == ranks; r++)
    comm_of(c, r)->joined = true;
  pthread_mutex_unlock(&lock);
  *comm = c;
  return NCCL_IN_PROGRESS;
}

nccl_status ncclCommGetAsyncError(nccl_comm *c, nccl_status *state) {
  nccl_status status = begin(__func__, c->rank);
  pthread_mutex_lock(&lock);
  if (c->stream && fails("async", c->rank))
    c->state = now.status;
  *state = c->state;
  if (c->state == NCCL_IN_PROGRESS && c->joined)
    c->state = NCCL_GOOD;
  copy_messages(c);
  pthread_mutex_unlock(&lock);
  return status;
}

nccl_status ncclGroupStart(void) {
  nccl_status status = begin(__func__, -1);
  if (status == NCCL_GOOD)
    depth++;
  return status;
}

static nccl_status add(nccl_comm *c, const char *symbol, message m, void *stream) {
  if (depth != 1 || c->state != NCCL_GOOD || c->stream || c->count == MOST_MESSAGES ||
      (grouped && grouped != c))
    mistake("a message at a wrong time");
  grouped = c;
  nccl_status status = begin(symbol, c->rank);
  if (status != NCCL_GOOD)
    return status;
  if (c->count == 0 && !hold(stream, 0))
    return 1;
  c->messages[c->count++] = m;
  // Others see it when the group ends.
  return NCCL_GOOD;
}

static _Thread_local void *group_stream;

nccl_status ncclSend(const void *data, size_t count, int type, int to, nccl_comm *c, void *stream) {
  if (type != NCCL_UINT8)
    mistake("another type");
  group_stream = stream;
  return add(c, __func__, (message){to, false, false, (void *)(uintptr_t)data, count}, stream);
}

nccl_status ncclRecv(void *data, size_t count, int type, int from, nccl_comm *c, void *stream) {
  if (type != NCCL_UINT8)
    mistake("another type");
  group_stream = stream;
  return add(c, __func__, (message){from, true, false, data, count}, stream);
}

nccl_status ncclGroupEnd(void) {
  struct nccl_comm *c = grouped;
  if (depth != 1)
    mistake("a group ends that has not begun");
  depth = 0;
  grouped = NULL;
  nccl_status status = begin(__func__, c ? c->rank : -1);
  if (status != NCCL_GOOD || !c || c->count == 0)
    return status;
  pthread_mutex_lock(&lock);
  c->stream = group_stream;
  hold(c->stream, 1);
  c->state = NCCL_IN_PROGRESS;
  pthread_mutex_unlock(&lock);
  return NCCL_IN_PROGRESS;
}

static nccl_status end_comm(nccl_comm *c) {
  pthread_mutex_lock(&lock);
  if (c->stream)
    hold(c->stream, -1);
  struct nccl_comm **at = &all;
  while (*at != c)
    at = &(*at)->next;
  *at = c->next;
  pthread_mutex_unlock(&lock);
  free(c);
  return NCCL_GOOD;
}

nccl_status ncclCommFinalize(nccl_comm *c) {
  nccl_status status = begin(__func__, c->rank);
  if (c->stream || c->state != NCCL_GOOD)
    mistake("a communicator ends in the middle");
  if (status == NCCL_GOOD) {
    c->finalized = true;
    c->state = NCCL_IN_PROGRESS;
  }
  return status ? status : NCCL_IN_PROGRESS;
}

nccl_status ncclCommDestroy(nccl_comm *c) {
  if (!c->finalized)
    mistake("a communicator is destroyed before it is finalized");
  return end_comm(c);
}

nccl_status ncclCommAbort(nccl_comm *c) { return end_comm(c); }

size_t fake_nccl_left(void) {
  size_t count = 0;
  for (struct nccl_comm *c = all; c; c = c->next)
    count++;
  return count;
}
