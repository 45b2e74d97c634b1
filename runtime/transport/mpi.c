// Ranks that are processes of MPI; data lies in host memory. Nothing here blocks in MPI: what is
// awaited is polled, so that a rank that does not come is noticed, and so are control messages: a
// rank that fails or ends tells all others, and one that waits for long, so that it is not taken
// for the one that is missing.
#include "runtime/transport/mpi_library.h"
#include "runtime/transport/transport.h"

#include "core/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum {
  CHUNK = 64 << 20,  // most bytes of an MPI message: each that arrives is a sign of life
  CONTROL_TAG = 0,
  DATA_TAGS = 32000,  // from 1 on, by exchange: messages of two exchanges do not mix
  RESTLESS = 200,     // looks without a rest between them
};
#define NOBODY UINT32_MAX

// Seconds that a rank which failed stays for the others, and that messages of one which has ended
// may still be under way.
static const double last_words = 1, stragglers = 0.2;

typedef enum topic { FAILS, ENDS, WAITS, TOPICS } topic;
typedef struct control {
  uint32_t rank, topic;
  bool spoke;
  char failure[sizeof((error *)0)->message];  // or empty
} control;

typedef struct request {
  mpi_handle handle;
  uint32_t peer;  // NOBODY: all
  bool receive, done;
  int bytes;
} request;

typedef struct mpi_rank {
  transport base;
  const mpi_library *m;
  mpi_handle comm;
  uint64_t exchanges;
  error failure;    // the first that is known here
  bool spoke;       // this rank has said so to the user
  bool stuck;       // a request was left behind: its memory may be gone, so MPI is left alone
  bool any_thread;  // may call MPI; else only that which has begun it
  control heard;
  mpi_handle hearing;
  bool hears;
  struct said {  // by topic: the words, which stay until all have them
    control words;
    mpi_handle *sends;
    uint32_t count, arrived;
  } said[TOPICS];
  uint32_t ended_count;
  void *parent;           // the communicator that it was opened for
  unsigned users;         // with the lock of `use`
  atomic_bool kept;       // with its parent, for others to find
  struct mpi_rank *next;  // of those that are closed
  struct peer {
    bool ended, failed, spoke;
    double waits;  // when it last said so
  } * peers;
} mpi_rank;

// A communicator of the caller keeps the transport that is shared on it (an attribute): it is found
// as long as the communicator lives, and not by another that gets its number.
//
// MPI is ended with the last transport, if the first has begun it. Until then those that are closed
// wait here for the other ranks: these may close theirs in another order.
static struct {
  pthread_mutex_t lock;
  unsigned open;
  bool ours;
  int key;  // of what communicators keep; has_key: there is one
  bool has_key;
  mpi_rank *closed;
} use = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- control messages --------------------------------------------------------------------------

static bool may_call(const mpi_rank *t) {
  int main = 1;
  return t->any_thread || (t->m->is_main(&main) == 0 && main);
}

// Whether all others have what was said of it.
static bool has_arrived(mpi_rank *t, topic what) {
  struct said *s = &t->said[what];
  mpi_status status;
  for (int done = 1; s->arrived < s->count; s->arrived++)
    if (t->m->test(&s->sends[s->arrived], &done, &status) != 0 || !done)
      return false;
  return true;
}

// To nobody before the ranks have joined: until then base.ranks is 1. Not again before it has
// arrived: until then MPI may read the words.
static void say(mpi_rank *t, topic what) {
  struct said *s = &t->said[what];
  if (!may_call(t) || !has_arrived(t, what))
    return;
  s->words = (control){.rank = t->base.rank, .topic = what, .spoke = t->spoke};
  snprintf(s->words.failure, sizeof s->words.failure, "%s", t->failure.message);
  s->count = s->arrived = 0;
  for (uint32_t r = 0; r < t->base.ranks && t->base.ranks > 1; r++)
    if (r != t->base.rank &&
        t->m->isend(&s->words, sizeof s->words, t->m->byte, (int)r, CONTROL_TAG,
                    mpi_value(t->m, &t->comm), &s->sends[s->count]) == 0)
      s->count++;
}

static void listen(mpi_rank *t) {
  t->hears = t->ended_count + 1 < t->base.ranks &&
             t->m->irecv(&t->heard, sizeof t->heard, t->m->byte, t->m->any_source, CONTROL_TAG,
                         mpi_value(t->m, &t->comm), &t->hearing) == 0;
}

// The first failure that is known here: of each rank all others hear that it has one, and which.
static void fail_by(mpi_rank *t, const char *line) {
  if (error_is_set(&t->failure))
    return;
  error_set(&t->failure, SPAN_NONE, "%s", line);
  say(t, FAILS);
}

// Takes notice of what others have said.
static void hear(mpi_rank *t) {
  mpi_status status;
  int done = 1;
  while (t->hears && may_call(t) && t->m->test(&t->hearing, &done, &status) == 0 && done) {
    struct peer *p = &t->peers[t->heard.rank];
    p->failed = p->failed || t->heard.failure[0] != 0;
    p->spoke = p->spoke || t->heard.spoke;
    if (t->heard.failure[0] != 0)
      fail_by(t, t->heard.failure);
    if (t->heard.topic == WAITS)
      p->waits = clock_seconds();
    else if (t->heard.topic == ENDS && ++t->ended_count)
      p->ended = true;
    listen(t);
  }
}

// The first failure that is found here ends the others.
static void fail(mpi_rank *t, const char *format, ...) PRINTF_LIKE(2, 3);
static void fail(mpi_rank *t, const char *format, ...) {
  char line[sizeof t->failure.message];
  WITH_ARGUMENTS(format, vsnprintf(line, sizeof line, format, arguments));
  fail_by(t, line);
}

static bool end_of_call(const mpi_rank *t, error *failure) {
  return !error_is_set(&t->failure) || error_pass(failure, &t->failure);
}

// ---- waiting -----------------------------------------------------------------------------------

// Errors are returned by the calls; by MPI_Test of MPICH 5 not those of a message.
static _Thread_local int noticed;
static void go_on(void *comm, int *code, ...) {
  (void)comm;
  noticed = *code;
}

static bool fail_call(const mpi_library *m, const char *call, int code, error *failure) {
  char why[1024] = "";
  int length;
  m->error_string(code, why, &length);
  why[strcspn(why, "\n")] = 0;
  return error_set(failure, SPAN_NONE, "%s: %s", call, why);
}

static void fail_by_code(mpi_rank *t, const char *call, int code) {
  error why = {0};
  fail_call(t->m, call, code, &why);
  fail(t, "rank %u: %.480s", t->base.rank, why.message);
}

static void test(mpi_rank *t, request *r) {
  mpi_status status;
  int done = 0, class = 0, count = r->bytes;
  noticed = 0;
  int code = t->m->test(&r->handle, &done, &status);
  code = code != 0 ? code : noticed;
  r->done = done || code != 0;
  if (code != 0)
    t->m->error_class(code, &class);
  else if (r->receive && done)
    t->m->get_count(&status, t->m->byte, &count);
  if (class == t->m->truncated || count != r->bytes)
    fail(t, "rank %u expects another number of bytes than rank %u sends", t->base.rank, r->peer);
  else if (code != 0)
    fail_by_code(t, "MPI_Test", code);
}

// How long to wait for a rank: not for one that has ended; for one that waits itself, until it has
// named another.
static double patience(const mpi_rank *t, uint32_t peer) {
  if (peer != NOBODY && t->peers[peer].ended)
    return stragglers;
  bool waits = peer != NOBODY && clock_seconds() - t->peers[peer].waits < t->base.timeout;
  return waits ? 2 * t->base.timeout : t->base.timeout;
}

// Tests all; how many are done now. *pending is one that is not, of the rank with which patience
// ends first.
static uint64_t test_all(mpi_rank *t, request *all, uint64_t count, request **pending) {
  uint64_t done = 0;
  *pending = NULL;
  for (uint64_t i = 0; i < count; i++) {
    request *r = &all[i];
    if (r->done)
      continue;
    test(t, r);
    done += r->done;
    if (!r->done && (*pending == NULL || patience(t, r->peer) < patience(t, (*pending)->peer)))
      *pending = r;
  }
  return done;
}

static void rest(unsigned looks) {
  static const struct timespec moment = {.tv_nsec = 50000};
  if (looks < RESTLESS)
    sched_yield();
  else
    nanosleep(&moment, NULL);
}

static void fail_waiting(mpi_rank *t, uint32_t peer) {
  if (peer == NOBODY)
    fail(t, "rank %u: not all ranks came within %g s", t->base.rank, t->base.timeout);
  else if (t->peers[peer].ended)
    fail(t, "rank %u ended before the others", peer);
  else
    fail(t, "rank %u did not come within %g s", peer, t->base.timeout);
}

// Memory of a receive may be freed when it has been cancelled, or has come. What others may still
// read or write is left behind.
static void abandon(mpi_rank *t, request *all, uint64_t count) {
  request *pending = NULL;
  for (uint64_t i = 0; i < count; i++)
    if (!all[i].done && all[i].receive)
      t->m->cancel(&all[i].handle);
  double end = clock_seconds() + stragglers;
  for (unsigned looks = 0; clock_seconds() < end; rest(looks++)) {
    test_all(t, all, count, &pending);
    if (pending == NULL)
      return;
  }
  t->stuck = true;
}

static bool wait_for(mpi_rank *t, request *all, uint64_t count) {
  double last = clock_seconds(), said = last;  // when something came; when this rank said it waits
  request *pending;
  for (unsigned looks = 0; !error_is_set(&t->failure); rest(looks++)) {
    uint64_t done = test_all(t, all, count, &pending);
    if (pending == NULL)
      break;
    hear(t);
    double now = clock_seconds();
    if (done > 0) {
      last = said = now;
      looks = 0;
    } else if (now - last > patience(t, pending->peer)) {
      fail_waiting(t, pending->peer);
    } else if (now - said > t->base.timeout / 2) {
      say(t, WAITS);
      said = now;
    }
  }
  if (error_is_set(&t->failure))
    abandon(t, all, count);
  return !error_is_set(&t->failure);
}

static const char of_one_thread[] =
    "MPI was begun for one thread, and another calls it here; begin it by MPI_Init_thread with "
    "MPI_THREAD_SERIALIZED";

// ---- an exchange -------------------------------------------------------------------------------

static uint64_t chunks_of(const mpi_rank *t, const transport_message *m, uint32_t count) {
  uint64_t chunks = 0;
  for (uint32_t i = 0; i < count; i++)
    if (m[i].rank != t->base.rank)
      chunks += m[i].bytes == 0 ? 1 : (m[i].bytes - 1) / CHUNK + 1;
  return chunks;
}

// Starts the messages to, or from, others; the first request behind theirs.
static request *start(mpi_rank *t, request *next, const transport_message *m, uint32_t count,
                      bool receive) {
  const mpi_library *l = t->m;
  int tag = 1 + (int)(t->exchanges % DATA_TAGS), code;
  void *comm = mpi_value(l, &t->comm);
  for (uint32_t i = 0; i < count; i++) {
    request *end = next + chunks_of(t, &m[i], 1);
    unsigned char *data = m[i].data;
    for (uint64_t left = m[i].bytes; next < end; next++) {
      int bytes = left < CHUNK ? (int)left : CHUNK, peer = (int)m[i].rank;
      *next = (request){.peer = m[i].rank, .receive = receive, .bytes = bytes};
      code = receive ? l->irecv(data, bytes, l->byte, peer, tag, comm, &next->handle)
                     : l->isend(data, bytes, l->byte, peer, tag, comm, &next->handle);
      next->done = code != 0;
      if (code != 0)
        fail_by_code(t, receive ? "MPI_Irecv" : "MPI_Isend", code);
      left -= (uint64_t)bytes;
      data = left > 0 ? data + bytes : NULL;
    }
  }
  return next;
}

static bool mpi_exchange(transport *base, const transport_message *sends, uint32_t send_count,
                         const transport_message *receives, uint32_t receive_count,
                         error *failure) {
  mpi_rank *t = (mpi_rank *)base;
  uint64_t count = chunks_of(t, sends, send_count) + chunks_of(t, receives, receive_count);
  if (!may_call(t))
    error_set(&t->failure, SPAN_NONE, "rank %u: %s", base->rank, of_one_thread);
  hear(t);
  FREED request *all = calloc(count + 1, sizeof *all);
  if (all == NULL)
    fail(t, "rank %u: out of memory", base->rank);
  if (!error_is_set(&t->failure)) {
    request *next = start(t, all, receives, receive_count, true);
    start(t, next, sends, send_count, false);
    wait_for(t, all, count);
    t->exchanges++;
  }
  return end_of_call(t, failure);
}

// An empty message of each rank to each: it shows which one is missing.
static bool mpi_barrier(transport *base, error *failure) {
  FREED transport_message *all = calloc(base->ranks, sizeof *all);
  for (uint32_t r = 0; all != NULL && r < base->ranks; r++)
    all[r].rank = r;
  if (all == NULL)
    fail((mpi_rank *)base, "rank %u: out of memory", base->rank);
  return all != NULL ? mpi_exchange(base, all, base->ranks, all, base->ranks, failure)
                     : end_of_call((mpi_rank *)base, failure);
}

static bool mpi_check(transport *base, error *failure) {
  hear((mpi_rank *)base);
  return end_of_call((mpi_rank *)base, failure);
}

static void mpi_fail(transport *base, const char *line) { fail_by((mpi_rank *)base, line); }

// Whether this rank says what has failed, as the lowest one that knows of it: yes, no (0), or one
// below it may yet (-1).
static int is_to_speak(const mpi_rank *t) {
  int speaks = 1;
  for (uint32_t r = 0; r < t->base.ranks; r++) {
    const struct peer *p = &t->peers[r];
    if (p->spoke || (p->failed && r < t->base.rank))
      return 0;
    if (r < t->base.rank && !p->ended)
      speaks = -1;
  }
  return speaks;
}

// A rank that does not come to know of it in a moment is gone, or has long work.
static bool mpi_speaks(transport *base) {
  mpi_rank *t = (mpi_rank *)base;
  double end = clock_seconds() + last_words;
  int speaks = -1;
  for (unsigned looks = 0; speaks < 0 && clock_seconds() < end; rest(looks++)) {
    hear(t);
    speaks = is_to_speak(t);
  }
  return t->spoke = speaks != 0;
}

// ---- opening and closing -----------------------------------------------------------------------

static void free_rank(mpi_rank *t) {
  for (int i = 0; i < TOPICS; i++)
    free(t->said[i].sends);
  free(t->peers);
  free(t);
}

// Whether all others have ended, too, and all that was said has arrived.
static bool has_parted(mpi_rank *t) {
  bool all = !t->stuck;
  if (all)
    hear(t);
  for (int i = 0; i < TOPICS; i++)
    all = all && has_arrived(t, (topic)i);
  return all && t->ended_count + 1 == t->base.ranks;
}

static bool part(mpi_rank *t, double seconds) {
  double end = clock_seconds() + seconds;
  bool parted = has_parted(t);
  for (unsigned looks = 0; !parted && clock_seconds() < end; parted = has_parted(t))
    rest(looks++);
  return parted;
}

// Frees those that all have closed; with `wait` all, but false if a rank did not come to it.
static bool settle(bool wait) {
  bool all = true;
  for (mpi_rank **at = &use.closed, *t; (t = *at);) {
    bool parted = wait ? part(t, t->base.timeout) : has_parted(t);
    if (parted || wait)
      *at = t->next;
    else
      at = &t->next;
    all = all && (parted || !wait);
    if (parted) {
      t->m->comm_free(&t->comm);
      free_rank(t);
    }
  }
  return all;
}

static bool begin_use(mpi_rank *t, error *failure) {
  const mpi_library *m = t->m;
  int yes = 0, ended = 0, level = 0, code = 0;
  pthread_mutex_lock(&use.lock);
  m->initialized(&yes);
  m->finalized(&ended);
  if (ended)
    error_set(failure, SPAN_NONE, "MPI was ended and cannot begin again in this process");
  else if (!yes)
    code = m->init_thread(NULL, NULL, m->serialized, &level);
  else
    code = m->query_thread(&level);
  t->any_thread = level >= m->serialized;
  use.ours = use.ours || (!ended && !yes && code == 0);
  bool good =
      code == 0 || fail_call(m, yes ? "MPI_Query_thread" : "MPI_Init_thread", code, failure);
  if (good && !ended && !may_call(t))
    good = error_set(failure, SPAN_NONE, "%s", of_one_thread);
  if (good && yes && !ended)
    settle(false);
  use.open += good && !ended;
  pthread_mutex_unlock(&use.lock);
  return good && !ended;
}

// With the lock held, when one was closed. Where it was not `clean`, what is under way may keep MPI
// from ending.
static void end_use(const mpi_library *m, bool clean) {
  use.ours = use.ours && clean;
  if (use.open == 0 && use.ours) {
    m->finalize();
    use.ours = false;
  }
}

// MPICH asks MPI_COMM_WORLD's handler about errors of MPI_Test.
static void return_errors(const mpi_rank *t) {
  mpi_handle handler;
  if (t->m->new_handler(go_on, &handler) != 0)
    return;
  t->m->set_handler(mpi_value(t->m, &t->comm), mpi_value(t->m, &handler));
  if (use.ours)
    t->m->set_handler(t->m->world, mpi_value(t->m, &handler));
  t->m->free_handler(&handler);
}

static void *parent_of(const mpi_library *m, const transport_options *o) {
  return o->communicator != 0 ? (void *)o->communicator : m->world;
}

// A communicator of our own, so that messages of the caller and ours do not mix. Until it is there,
// nobody can be told anything: t is a rank of one.
static bool join(mpi_rank *t, const transport_options *o, error *failure) {
  const mpi_library *m = t->m;
  void *parent = parent_of(m, o);
  int rank = 0, ranks = 0, code = m->comm_rank(parent, &rank);
  code = code != 0 ? code : m->comm_size(parent, &ranks);
  if (code != 0)
    return fail_call(m, "MPI_Comm_size", code, failure);
  if (o->ranks != 0 && (o->ranks != (uint32_t)ranks || o->rank != (uint32_t)rank))
    return error_set(failure, SPAN_NONE,
                     "rank %u of %u is rank %d of %d for MPI (%s): PERMC_MPI names another library",
                     o->rank, o->ranks, rank, ranks, m->name);
  t->base = (transport){.rank = (uint32_t)rank, .ranks = 1, .timeout = o->timeout};
  t->parent = parent;
  t->users = 1;
  t->peers = calloc((size_t)ranks, sizeof *t->peers);
  bool memory = t->peers != NULL;
  for (int i = 0; i < TOPICS; i++)
    memory = (t->said[i].sends = calloc((size_t)ranks, sizeof(mpi_handle))) && memory;
  if (!memory)
    return error_set(failure, SPAN_NONE, "rank %d: out of memory", rank);
  request copy = {.peer = NOBODY};
  code = m->comm_idup(parent, &t->comm, &copy.handle);
  if (code != 0)
    return fail_call(m, "MPI_Comm_idup", code, failure);
  if (!wait_for(t, &copy, 1))
    return end_of_call(t, failure);
  t->base.ranks = (uint32_t)ranks;
  return_errors(t);
  listen(t);
  return true;
}

static transport *mpi_open(const transport_options *o, error *failure) {
  char why[512];
  mpi_rank *t = calloc(1, sizeof *t);
  const mpi_library *m = t != NULL ? mpi_library_find(why, sizeof why) : NULL;
  if (m == NULL) {
    error_set(failure, SPAN_NONE, "%s", t != NULL ? why : "out of memory");
    free(t);
    return NULL;
  }
  t->m = m;
  if (!begin_use(t, failure)) {
    free(t);
    return NULL;
  }
  if (join(t, o, failure))
    return &t->base;
  pthread_mutex_lock(&use.lock);
  use.open--;
  end_use(m, false);
  pthread_mutex_unlock(&use.lock);
  free_rank(t);
  return NULL;
}

// ---- what is shared on a communicator ----------------------------------------------------------

static int copy_none(void *comm, int key, void *with, void *kept, void *copy, int *copies) {
  (void)comm, (void)key, (void)with, (void)kept, (void)copy;
  *copies = 0;
  return 0;
}

// The communicator has ended, or keeps another.
static int end_kept(void *comm, int key, void *kept, void *with) {
  (void)comm, (void)key, (void)with;
  atomic_store(&((mpi_rank *)kept)->kept, false);
  return 0;
}

static bool mpi_is_running(const mpi_library *m) {
  int yes = 0, ended = 0;
  m->initialized(&yes);
  m->finalized(&ended);
  return yes && !ended;
}

static void mpi_share(transport *base) {
  mpi_rank *t = (mpi_rank *)base;
  pthread_mutex_lock(&use.lock);
  use.has_key = use.has_key || t->m->new_key(copy_none, end_kept, &use.key, NULL) == 0;
  atomic_store(&t->kept, use.has_key && t->m->keep(t->parent, use.key, t) == 0);
  pthread_mutex_unlock(&use.lock);
}

static transport *mpi_find(const transport_options *o) {
  char why[512];
  const mpi_library *m = mpi_library_find(why, sizeof why);
  mpi_rank *t = NULL;
  int found = 0;
  pthread_mutex_lock(&use.lock);
  if (m != NULL && use.has_key && mpi_is_running(m))
    m->kept(parent_of(m, o), use.key, &t, &found);
  t = found && !error_is_set(&t->failure) ? t : NULL;
  if (t != NULL)
    t->users++;
  pthread_mutex_unlock(&use.lock);
  return t != NULL ? &t->base : NULL;
}

static bool mpi_leave(transport *base) {
  mpi_rank *t = (mpi_rank *)base;
  pthread_mutex_lock(&use.lock);
  bool last = --t->users == 0;
  if (last && atomic_load(&t->kept) && mpi_is_running(t->m))
    t->m->drop(t->parent, use.key);
  pthread_mutex_unlock(&use.lock);
  return last;
}

// ---- closing -----------------------------------------------------------------------------------

// Where the caller has ended MPI before, or this thread may not call it, nobody can be told. What MPI may still write to stays.
static void mpi_close(transport *base) {
  mpi_rank *t = (mpi_rank *)base;  // which settle may free
  const mpi_library *m = t->m;
  bool failed = error_is_set(&t->failure), clean = true;
  int ended = 0;
  m->finalized(&ended);
  pthread_mutex_lock(&use.lock);
  use.open--;
  bool told = !ended && may_call(t);
  if (told) {
    say(t, ENDS);
    if (!failed)
      t->next = use.closed, use.closed = t;
    else if (part(t, last_words < base->timeout ? last_words : base->timeout))
      free_rank(t);
    clean = settle(use.open == 0) && !failed;
  }
  end_use(m, told && clean);
  pthread_mutex_unlock(&use.lock);
}

const transport_kind transport_mpi = {
    .name = "mpi",
    .open = mpi_open,
    .exchange = mpi_exchange,
    .barrier = mpi_barrier,
    .check = mpi_check,
    .fail = mpi_fail,
    .speaks = mpi_speaks,
    .share = mpi_share,
    .find = mpi_find,
    .leave = mpi_leave,
    .close = mpi_close,
};
