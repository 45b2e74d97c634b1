// Ranks that are threads of one process. They meet in a group: one lock, and for each rank what it
// sends and how often it has come. A receiver copies straight from the sender's memory.
#include "runtime/transport/transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

// What a rank shows to the others.
typedef struct member {
  uint64_t meetings;  // that it has come to
  const transport_message *sends;
  uint32_t send_count;
  bool left;
} member;

struct transport_group {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t ranks;
  uint32_t copying;  // ranks that read memory of others: nobody leaves an exchange before they end
  error failure;     // the first; all ranks end with it
  member members[];
};

typedef struct thread_rank {
  transport base;
  transport_group *group;
} thread_rank;

transport_group *transport_group_make(uint32_t ranks) {
  transport_group *g = calloc(1, sizeof *g + ranks * sizeof *g->members);
  if (g == NULL)
    return NULL;
  g->ranks = ranks;
  pthread_condattr_t monotonic;
  pthread_mutex_init(&g->lock, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&g->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return g;
}

void transport_group_free(transport_group *g) {
  if (g == NULL)
    return;
  pthread_cond_destroy(&g->changed);
  pthread_mutex_destroy(&g->lock);
  free(g);
}

// ---- meetings, with the lock held --------------------------------------------------------------

static void wake_all(transport_group *g) { pthread_cond_broadcast(&g->changed); }

// The first rank that has not come to a meeting, or ranks.
static uint32_t first_missing(const transport_group *g, uint64_t meeting) {
  uint32_t r = 0;
  while (r < g->ranks && g->members[r].meetings >= meeting)
    r++;
  return r;
}

static struct timespec seconds_from_now(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double whole = seconds < 1e9 ? seconds : 1e9;  // which is for ever
  t.tv_sec += (time_t)whole;
  t.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

// Comes to the next meeting and waits for all others. False: the group has failed. While ranks
// copy, those that are missing are at work.
static bool meet(thread_rank *t) {
  transport_group *g = t->group;
  uint64_t meeting = ++g->members[t->base.rank].meetings;
  uint32_t missing = first_missing(g, meeting);
  if (missing == g->ranks)
    wake_all(g);
  struct timespec end = seconds_from_now(t->base.timeout);
  while (!error_is_set(&g->failure) && (missing = first_missing(g, meeting)) < g->ranks) {
    if (g->members[missing].left)
      error_set(&g->failure, SPAN_NONE, "rank %u ended before the others", missing);
    else if (pthread_cond_timedwait(&g->changed, &g->lock, &end) != ETIMEDOUT)
      continue;
    else if (g->copying > 0)
      end = seconds_from_now(t->base.timeout);
    else if ((missing = first_missing(g, meeting)) < g->ranks)
      error_set(&g->failure, SPAN_NONE, "rank %u did not come within %g s", missing,
                t->base.timeout);
    if (error_is_set(&g->failure))
      wake_all(g);
  }
  return !error_is_set(&g->failure);
}

// Whether the group has not failed; else its failure is the caller's.
static bool end_of_call(thread_rank *t, error *failure) {
  transport_group *g = t->group;
  bool good = !error_is_set(&g->failure);
  if (!good)
    error_pass(failure, &g->failure);
  pthread_mutex_unlock(&g->lock);
  return good;
}

// ---- an exchange -------------------------------------------------------------------------------

// Copies what the others send to this rank; *wrong says what does not fit to what it expects.
static bool copy_messages(const thread_rank *t, const transport_message *receives, uint32_t count,
                          error *wrong) {
  const transport_group *g = t->group;
  uint32_t self = t->base.rank;
  for (uint32_t i = 1; i < g->ranks; i++) {
    uint32_t r = (self + i) % g->ranks;  // not all from the same at first
    const transport_message *to = transport_message_of(receives, count, r);
    const transport_message *from =
        transport_message_of(g->members[r].sends, g->members[r].send_count, self);
    if ((from == NULL) != (to == NULL) || (from != NULL && from->bytes != to->bytes))
      return error_set(wrong, SPAN_NONE,
                       "rank %u expects another number of bytes than rank %u sends", self, r);
    if (from != NULL && from->bytes > 0)
      memcpy(to->data, from->data, from->bytes);
  }
  return true;
}

// Between the first meeting and the second, ranks read what the others send. A rank leaves when
// nobody copies any more, even after a failure: its memory may be gone then.
static bool threads_exchange(transport *base, const transport_message *sends, uint32_t send_count,
                             const transport_message *receives, uint32_t receive_count,
                             error *failure) {
  thread_rank *t = (thread_rank *)base;
  transport_group *g = t->group;
  pthread_mutex_lock(&g->lock);
  g->members[base->rank].sends = sends;
  g->members[base->rank].send_count = send_count;
  if (meet(t)) {
    error wrong = {0};
    g->copying++;
    pthread_mutex_unlock(&g->lock);
    bool good = copy_messages(t, receives, receive_count, &wrong);
    pthread_mutex_lock(&g->lock);
    if (!good)
      error_pass(&g->failure, &wrong);
    if (--g->copying == 0 || !good)
      wake_all(g);
    meet(t);
  }
  while (g->copying > 0)
    pthread_cond_wait(&g->changed, &g->lock);
  return end_of_call(t, failure);
}

static bool threads_barrier(transport *base, error *failure) {
  thread_rank *t = (thread_rank *)base;
  pthread_mutex_lock(&t->group->lock);
  meet(t);
  return end_of_call(t, failure);
}

// ---- the others --------------------------------------------------------------------------------

static void group_fail(transport_group *g, const char *line) {
  pthread_mutex_lock(&g->lock);
  error_set(&g->failure, SPAN_NONE, "%s", line);
  wake_all(g);
  pthread_mutex_unlock(&g->lock);
}

static void group_no_memory(transport_group *g, uint32_t rank) {
  char line[40];
  snprintf(line, sizeof line, "rank %u: out of memory", rank);
  group_fail(g, line);
}

static bool threads_check(transport *base, error *failure) {
  thread_rank *t = (thread_rank *)base;
  pthread_mutex_lock(&t->group->lock);
  return end_of_call(t, failure);
}

static void threads_fail(transport *base, const char *line) {
  group_fail(((thread_rank *)base)->group, line);
}

static transport *threads_open(const transport_options *o, error *failure) {
  if (o->group == NULL || o->group->ranks != o->ranks || o->rank >= o->ranks) {
    error_set(failure, SPAN_NONE, "rank %u of %u is none of the group's", o->rank, o->ranks);
    return NULL;
  }
  thread_rank *t = calloc(1, sizeof *t);
  if (t == NULL) {
    group_no_memory(o->group, o->rank);
    error_set(failure, SPAN_NONE, "rank %u: out of memory", o->rank);
    return NULL;
  }
  *t = (thread_rank){.base = {.rank = o->rank, .ranks = o->ranks, .timeout = o->timeout},
                     .group = o->group};
  return &t->base;
}

static void threads_close(transport *base) {
  transport_group *g = ((thread_rank *)base)->group;
  pthread_mutex_lock(&g->lock);
  g->members[base->rank].left = true;
  wake_all(g);
  pthread_mutex_unlock(&g->lock);
  free(base);
}

const transport_kind transport_threads = {
    .name = "threads",
    .open = threads_open,
    .exchange = threads_exchange,
    .barrier = threads_barrier,
    .check = threads_check,
    .fail = threads_fail,
    .close = threads_close,
};
