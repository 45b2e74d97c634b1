// What all kinds of transport share. See transport.h.
#include "runtime/transport/transport.h"
#include "core/hash.h"
#include "runtime/cuda/cuda.h"
#include "runtime/system/locks.h"

#include <stdio.h>

const transport_kind *const transport_kinds[] = {&transport_threads, &transport_mpi, NULL};

const transport_kind *transport_kind_named(const char *name) {
  const transport_kind *const *k = transport_kinds;
  while (*k != NULL && strcmp((*k)->name, name) != 0)
    k++;
  return *k;
}

transport *transport_open(const transport_options *o, error *failure) {
  transport *t = o->kind->open(o, failure);
  if (t == NULL)
    return NULL;
  t->kind = o->kind;
  t->forks = library_forks();
  pthread_mutex_init(&t->turn, NULL);
  t->sent = calloc(t->ranks, sizeof *t->sent);
  if (t->sent != NULL && o->shared && t->kind->share)
    t->kind->share(t);
  if (t->sent != NULL)
    return t;
  transport_fail(t, "out of memory", failure);
  transport_close(t);
  return NULL;
}

transport *transport_find(const transport_options *o) {
  return o->shared && o->kind->find ? o->kind->find(o) : NULL;
}

void transport_close(transport *t) {
  if (t == NULL || t->forks != library_forks() || (t->kind->leave && !t->kind->leave(t)))
    return;
  free(t->sent);
  pthread_mutex_destroy(&t->turn);
  t->kind->close(t);
}

// A child of a rank has no messages for the others.
static bool is_forked(const transport *t, error *failure) {
  return t->forks != library_forks() && !error_set(failure, SPAN_NONE, FORKED_RANK);
}

bool transport_speaks(transport *t) {
  if (t->below != NULL)
    return transport_speaks(t->below);
  if (t->disagrees)
    return t->rank == t->speaker;
  return t->kind->speaks == NULL || t->kind->speaks(t);
}

bool transport_barrier(transport *t, error *failure) {
  if (t->below != NULL)
    return transport_barrier(t->below, failure);
  return !is_forked(t, failure) && t->kind->barrier(t, failure);
}

bool transport_check(transport *t, error *failure) {
  if (t->below != NULL)
    return transport_check(t->below, failure);
  return !is_forked(t, failure) && (!t->kind->check || t->kind->check(t, failure));
}

bool transport_fail(transport *t, const char *cause, error *failure) {
  if (t->below != NULL)
    return transport_fail(t->below, cause, failure);
  char line[sizeof failure->message];
  bool forked = t->forks != library_forks();
  snprintf(line, sizeof line, "rank %u: %.480s", (unsigned)t->rank, cause);
  if (!forked)
    t->kind->fail(t, line);
  return (forked || transport_check(t, failure)) && error_set(failure, SPAN_NONE, "%s", line);
}

// ---- an exchange -------------------------------------------------------------------------------

static bool copy_bytes(transport *t, void *to, const void *from, uint64_t bytes) {
  if (t->device)
    return cuda_copy(t->device, (uintptr_t)to, (uintptr_t)from, bytes);
  memmove(to, from, bytes);
  return true;
}

static const char *problem_of(const transport *t, const transport_message *m, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (m[i].rank >= t->ranks)
      return "a message for a rank that does not exist";
    for (uint32_t k = 0; k < i; k++)
      if (m[k].rank == m[i].rank)
        return "two messages of one exchange for one rank";
  }
  return NULL;
}

bool transport_exchange(transport *t, const transport_message *sends, uint32_t send_count,
                        const transport_message *receives, uint32_t receive_count, error *failure) {
  if (is_forked(t, failure))
    return false;
  const char *problem = problem_of(t, sends, send_count);
  const transport_message *to_self = transport_message_of(sends, send_count, t->rank);
  const transport_message *from_self = transport_message_of(receives, receive_count, t->rank);
  if (problem == NULL)
    problem = problem_of(t, receives, receive_count);
  if (problem == NULL && ((to_self == NULL) != (from_self == NULL) ||
                          (to_self != NULL && to_self->bytes != from_self->bytes)))
    problem = "a message to itself of another length than it expects";
  if (problem == NULL && to_self != NULL && to_self->bytes > 0 &&
      to_self->data != from_self->data &&
      !copy_bytes(t, from_self->data, to_self->data, to_self->bytes))
    problem = cuda_message(t->device);
  if (problem != NULL)
    return transport_fail(t, problem, failure);
  if (!t->kind->exchange(t, sends, send_count, receives, receive_count, failure))
    return false;
  for (uint32_t i = 0; i < send_count; i++) {
    t->sent[sends[i].rank].messages++;
    t->sent[sends[i].rank].bytes += sends[i].bytes;
  }
  return true;
}

bool transport_gather(transport *t, const void *mine, const uint64_t *bytes, void *all,
                      error *failure) {
  FREED transport_message *m = calloc(2 * (size_t)t->ranks, sizeof *m);
  if (m == NULL)
    return transport_fail(t, "out of memory", failure);
  transport_message *receives = m + t->ranks;
  unsigned char *place = all;
  for (uint32_t r = 0; r < t->ranks; r++) {
    m[r] = (transport_message){r, (void *)mine, bytes[t->rank]};
    receives[r] = (transport_message){r, place, bytes[r]};
    place += bytes[r];
  }
  return transport_exchange(t, m, t->ranks, receives, t->ranks, failure);
}

void *transport_gather_each(transport *t, const void *mine, uint64_t bytes, error *failure) {
  FREED uint64_t *each = calloc(t->ranks, sizeof *each);
  void *all = malloc(t->ranks * bytes + 1);
  for (uint32_t r = 0; each != NULL && r < t->ranks; r++)
    each[r] = bytes;
  bool good = each != NULL && all != NULL ? transport_gather(t, mine, each, all, failure)
                                          : transport_fail(t, "out of memory", failure);
  if (good)
    return all;
  free(all);
  return NULL;
}

bool transport_share(transport *t, void *what, uint64_t bytes, error *failure) {
  FREED void *all = transport_gather_each(t, what, bytes, failure);
  if (all != NULL)
    memcpy(what, all, bytes);
  return all != NULL;
}

// ---- exchanges of blocks -----------------------------------------------------------------------

// A block that this rank sends or receives: its number in `from`, its place in what this rank has.
typedef struct block {
  uint32_t peer;
  uint64_t number, place;
} block;

// A message has its blocks in the order that they have in `from`.
static int compare_blocks(const void *a, const void *b) {
  const block *x = a, *y = b;
  if (x->peer != y->peer)
    return x->peer < y->peer ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

// One direction of an exchange: this rank's blocks in the order of the messages.
typedef struct side {
  transport *t;
  block *blocks;
  uint64_t count, bytes;  // blocks; bytes of one
  unsigned char *base;    // this rank's part of `from` or `to`
  unsigned char *packed;  // all blocks in the order of the messages, or NULL: no message needs it
  transport_message *messages;
  uint32_t message_count;
} side;

static void *room_new(transport *t, uint64_t bytes) {
  return t->device ? (void *)(uintptr_t)cuda_memory_new(t->device, bytes) : malloc(bytes);
}

static void side_free(side *s) {
  free(s->blocks);
  if (s->t->device)
    cuda_memory_free(s->t->device, (uintptr_t)s->packed);
  else
    free(s->packed);
  free(s->messages);
}

// The number of blocks from the first on that are one message; *neighbours: as they lie.
static uint64_t message_blocks(const side *s, uint64_t first, bool *neighbours) {
  uint64_t end = first + 1;
  *neighbours = true;
  for (; end < s->count && s->blocks[end].peer == s->blocks[first].peer; end++)
    *neighbours = *neighbours && s->blocks[end].place == s->blocks[end - 1].place + 1;
  return end - first;
}

// Why it cannot be made, or NULL. `other` gives for a block of this rank the one that it becomes,
// or that becomes it.
static const char *side_make(side *s, f2_affine other, bool sends) {
  const transport *t = s->t;
  s->blocks = calloc(s->count, sizeof *s->blocks);
  s->messages = calloc(s->count < t->ranks ? s->count : t->ranks, sizeof *s->messages);
  if (s->blocks == NULL || s->messages == NULL)
    return "out of memory";
  for (uint64_t place = 0; place < s->count; place++) {
    uint64_t own = t->rank * s->count + place, its = f2_affine_apply(other, own);
    s->blocks[place] = (block){(uint32_t)(its / s->count), sends ? own : its, place};
  }
  qsort(s->blocks, s->count, sizeof *s->blocks, compare_blocks);
  bool neighbours;
  for (uint64_t i = 0, some; i < s->count; i += some) {
    some = message_blocks(s, i, &neighbours);
    if (!neighbours && s->packed == NULL &&
        (s->packed = room_new(s->t, s->count * s->bytes)) == NULL)
      return "out of memory";
    s->messages[s->message_count++] = (transport_message){
        s->blocks[i].peer,
        neighbours ? s->base + s->blocks[i].place * s->bytes : s->packed + i * s->bytes,
        some * s->bytes};
  }
  return NULL;
}

// Copies the blocks of messages that are packed to their messages, or back.
static bool side_copy(const side *s, bool to_message) {
  bool neighbours, good = true;
  for (uint64_t i = 0, some; s->packed != NULL && i < s->count; i += some) {
    some = message_blocks(s, i, &neighbours);
    for (uint64_t k = i; !neighbours && k < i + some && good; k++) {
      unsigned char *in_message = s->packed + k * s->bytes;
      unsigned char *in_place = s->base + s->blocks[k].place * s->bytes;
      good = copy_bytes(s->t, to_message ? in_message : in_place,
                        to_message ? in_place : in_message, s->bytes);
    }
  }
  return good;
}

static bool exchange_sides(const side *sends, const side *receives, error *failure) {
  if (!side_copy(sends, true))
    return transport_fail(sends->t, "blocks could not be copied", failure);
  return transport_exchange(sends->t, sends->messages, sends->message_count, receives->messages,
                            receives->message_count, failure) &&
         (side_copy(receives, false) ||
          transport_fail(sends->t, "blocks could not be copied", failure));
}

bool transport_exchange_blocks(transport *t, const transport_blocks *b, const void *from, void *to,
                               error *failure) {
  uint64_t count = ((uint64_t)1 << b->blocks.a.rows) / t->ranks;
  FREED_BY(side_free)
  side sends = {.t = t, .count = count, .bytes = b->bytes, .base = (unsigned char *)from};
  FREED_BY(side_free) side receives = {.t = t, .count = count, .bytes = b->bytes, .base = to};
  f2_affine back;
  const char *problem = NULL;
  if (!f2_affine_inverse(b->blocks, &back) || count * t->ranks != (uint64_t)1 << b->blocks.a.rows)
    problem = "an exchange that is no permutation of blocks, the same number on each rank";
  if (problem == NULL)
    problem = side_make(&sends, b->blocks, true);
  if (problem == NULL)
    problem = side_make(&receives, back, false);
  return problem == NULL ? exchange_sides(&sends, &receives, failure)
                         : transport_fail(t, problem, failure);
}

// ---- agreement ---------------------------------------------------------------------------------

enum { MOST_PARTS = 16, LINE = 256 };

// Digests of the parts' names, and of each part.
typedef struct digests {
  uint64_t version, parts[MOST_PARTS];
  uint64_t refuses;  // not 0: this rank has a cause instead, of this digest
} digests;

static digests digests_of(const transport_part *parts, size_t count) {
  digests d = {0};
  for (size_t i = 0; i < count; i++) {
    d.version = d.version * 31 + hash_bytes(parts[i].name, strlen(parts[i].name));
    d.parts[i] = hash_bytes(parts[i].bytes, parts[i].count);
  }
  return d;
}

// The first part that differs, or what explains it; NULL: none.
static const transport_part *find_difference(const digests *a, const digests *b,
                                             const transport_part *parts, size_t count) {
  const transport_part *explains = NULL;
  for (size_t i = 0; i < count; i++) {
    if (a->parts[i] == b->parts[i])
      continue;
    if (!parts[i].explains)
      return parts[i].explained && explains != NULL ? explains : &parts[i];
    explains = explains != NULL ? explains : &parts[i];
  }
  return NULL;
}

typedef char line_of_rank[LINE];

// The first line of each rank comes to all. NULL: failed.
static line_of_rank *gather_lines(transport *t, const char *own, size_t count, error *failure) {
  line_of_rank mine = "";
  for (size_t i = 0; i < count && i + 1 < LINE && own[i] && own[i] != '\n'; i++)
    mine[i] = (unsigned char)own[i] < ' ' ? '?' : own[i];
  return transport_gather_each(t, mine, sizeof mine, failure);
}

static bool tell_cause(transport *t, uint32_t rank, const char *own, error *failure) {
  FREED line_of_rank *lines = gather_lines(t, own, strlen(own), failure);
  if (lines != NULL)
    error_set(failure, SPAN_NONE, "rank %u: %s", rank, lines[rank]);
  return false;
}

// Where the part is a text, and its first lines differ, they are shown. A failure of their gather
// stays what is said.
static bool tell_difference(transport *t, uint32_t rank, const transport_part *p, error *failure) {
  FREED line_of_rank *lines = p->shown ? gather_lines(t, p->bytes, p->count, failure) : NULL;
  if (lines && *lines[0] && *lines[rank] && strcmp(lines[0], lines[rank]) != 0)
    error_set(failure, SPAN_NONE, "rank %u differs from rank 0 in its %s: %s, not %s", rank,
              p->name, lines[rank], lines[0]);
  else
    error_set(failure, SPAN_NONE, "rank %u differs from rank 0 in its %s", rank, p->name);
  return false;
}

// Of all ranks' digests.
static bool compare(transport *t, const digests *all, const transport_part *parts, size_t count,
                    const char *cause, error *failure) {
  for (uint32_t r = 0; r < t->ranks; r++)
    if (all[r].refuses)
      return tell_cause(t, r, cause, failure);
  for (uint32_t r = 1; r < t->ranks; r++) {
    if (all[r].version != all[0].version)
      return error_set(failure, SPAN_NONE, "rank %u differs from rank 0 in its version", r);
    const transport_part *p = find_difference(&all[r], &all[0], parts, count);
    if (p != NULL)
      return tell_difference(t, r, p, failure);
  }
  return true;
}

static bool agree(transport *t, const transport_part *parts, size_t count, const char *cause,
                  bool *alike, error *failure) {
  digests own = digests_of(parts, count);
  own.refuses = *cause ? hash_bytes(cause, strlen(cause)) | 1 : 0;
  FREED digests *all = transport_gather_each(t, &own, sizeof own, failure);
  bool good = *alike = all != NULL;
  t->speaker = t->ranks;
  for (uint32_t r = 0; good && r < t->ranks; r++) {
    *alike = *alike && all[r].refuses == own.refuses;
    t->speaker = all[r].refuses && r < t->speaker ? r : t->speaker;
  }
  t->speaker %= t->ranks;  // of ranks that differ 0
  t->disagrees = good && !compare(t, all, parts, count, cause, failure);
  return good && !t->disagrees;
}

bool transport_agree(transport *t, const transport_part *parts, size_t count, error *failure) {
  if (t->below != NULL)
    return transport_agree(t->below, parts, count, failure);
  if (count > MOST_PARTS)
    return transport_fail(t, "too many parts to agree on", failure);
  bool alike;
  return agree(t, parts, count, "", &alike, failure);
}

bool transport_refuse(transport *t, const char *cause) {
  error failure = {0};
  bool alike;
  agree(t->below != NULL ? t->below : t, NULL, 0, *cause ? cause : "it has failed", &alike,
        &failure);
  return alike;
}
