// What holds of every kind of transport, and what ranks end with where one of them fails: one table
// of laws and faults.
//
//   static void run(transport *t) { good = laws[i].work(t, &failure); }      // by all ranks at one time
#ifndef PERMC_TESTS_UNIT_TRANSPORT_LAWS_H
#define PERMC_TESTS_UNIT_TRANSPORT_LAWS_H

#include "core/sanitized.h"
#include "runtime/cuda/cuda.h"
#include "runtime/transport/transport.h"
#include "tests/test.h"
#include "tests/unit/carry.h"

#include <signal.h>
#include <unistd.h>

enum { MOST_RANKS = 32, LONGEST = 3000, MOST_BLOCKS = 64 };

// What a rank does. False: *failure says why.
typedef bool rank_work(transport *t, error *failure);

// A number that all ranks can tell, from up to three others.
static uint64_t number_of(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xc2b2ae3d27d4eb4f) + c;
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static bool wrong(const transport *t, error *failure, const char *what) {
  return error_set(failure, SPAN_NONE, "rank %u of %u: wrong %s", t->rank, t->ranks, what);
}

// Where a transport takes messages from: of the GPU (fake_cuda.h), the processor can use it, too.
static unsigned char *memory_new(transport *t, size_t bytes) {
  unsigned char *memory =
      t->device ? (void *)(uintptr_t)cuda_memory_new(t->device, bytes) : malloc(bytes);
  if (memory != NULL)
    memset(memory, 0, bytes);
  return memory;
}

static void memory_end(transport *t, void *memory) {
  if (t->device)
    cuda_memory_free(t->device, (uintptr_t)memory);
  else
    free(memory);
}

static void fill(unsigned char *bytes, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++)
    bytes[i] = (unsigned char)(seed + 3 * i + (i >> 8));
}

static bool is_filled(const unsigned char *bytes, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++)
    if (bytes[i] != (unsigned char)(seed + 3 * i + (i >> 8)))
      return false;
  return true;
}

// ---- laws --------------------------------------------------------------------------------------

// Bytes of the message in a round, or -1: there is none.
static int64_t length_of(uint64_t round, uint32_t from, uint32_t to) {
  uint64_t x = number_of(round, from, to);
  return x % 8 == 0 ? -1 : x % 8 == 1 ? 0 : (int64_t)(x / 8 % LONGEST);
}

typedef struct traffic {
  transport_message sends[MOST_RANKS], receives[MOST_RANKS];
  uint32_t send_count, receive_count;
  unsigned char *memory;
} traffic;

static void traffic_make(traffic *w, transport *t, uint64_t round) {
  *w = (traffic){.memory = memory_new(t, 2 * (size_t)t->ranks * LONGEST)};
  for (uint32_t i = 0; i < t->ranks; i++) {
    uint32_t peer = (i + (uint32_t)round) % t->ranks;
    int64_t out = length_of(round, t->rank, peer), in = length_of(round, peer, t->rank);
    unsigned char *place = w->memory + 2 * (size_t)i * LONGEST;
    if (out >= 0)
      w->sends[w->send_count++] = (transport_message){peer, place, (uint64_t)out};
    if (in >= 0)
      w->receives[w->receive_count++] = (transport_message){peer, place + LONGEST, (uint64_t)in};
    fill(place, out > 0 ? (uint64_t)out : 0, number_of(round, t->rank, peer));
  }
}

static bool exchange_of_round(transport *t, uint64_t round, error *failure) {
  traffic w;
  traffic_make(&w, t, round);
  bool good = transport_exchange(t, w.sends, w.send_count, w.receives, w.receive_count, failure);
  for (uint32_t i = 0; good && i < w.receive_count; i++) {
    const transport_message *m = &w.receives[i];
    if (!is_filled(m->data, m->bytes, number_of(round, m->rank, t->rank)))
      good = wrong(t, failure, "message");
  }
  memory_end(t, w.memory);
  return good;
}

static bool random_exchanges(transport *t, error *failure) {
  bool good = true;
  uint64_t bytes = 0, sent = 0;
  for (uint64_t round = 0; good && round < 12; round++) {
    good = exchange_of_round(t, round, failure);
    for (uint32_t to = 0; to < t->ranks; to++) {
      int64_t out = length_of(round, t->rank, to);
      bytes += out > 0 ? (uint64_t)out : 0;
    }
  }
  for (uint32_t to = 0; to < t->ranks; to++)
    sent += t->sent[to].bytes;
  return good && (sent == bytes || wrong(t, failure, "count of bytes"));
}

// A random invertible map of n bits, from elementary steps; every third is a permutation of bits.
static f2_affine random_blocks(int n, uint64_t seed) {
  f2_affine f = f2_affine_identity(n);
  for (int i = 0; i < n; i++) {
    int j = (int)(number_of(seed, (uint64_t)i, 1) % (uint64_t)n);
    uint64_t row = f.a.row[i];
    f.a.row[i] = f.a.row[j];
    f.a.row[j] = row;
    for (int k = 0; k < n && seed % 3 != 0; k++)
      f.a.row[k] ^= k != i && number_of(seed, (uint64_t)i, (uint64_t)k) % 2 ? f.a.row[i] : 0;
  }
  f.c = number_of(seed, 0, 2) & f2_mask(n);
  return f;
}

static bool blocks_of_seed(transport *t, int n, uint64_t seed, error *failure) {
  enum { MOST_BYTES = 40, ROOM = MOST_BLOCKS * MOST_BYTES };
  unsigned char *from = memory_new(t, 2 * ROOM), *to = from + ROOM;
  if (from == NULL)
    return transport_fail(t, "out of memory", failure);
  transport_blocks b = {random_blocks(n, seed), seed % MOST_BYTES};
  uint64_t count = ((uint64_t)1 << n) / t->ranks;
  for (uint64_t i = 0; i < count; i++)
    fill(from + i * b.bytes, b.bytes, t->rank * count + i);
  bool good = transport_exchange_blocks(t, &b, from, to, failure);
  for (uint64_t q = 0; good && q < (uint64_t)1 << n; q++) {
    uint64_t place = f2_affine_apply(b.blocks, q);
    if (place / count == t->rank && !is_filled(to + place % count * b.bytes, b.bytes, q))
      good = wrong(t, failure, "block");
  }
  memory_end(t, from);
  return good;
}

static bool exchanges_of_blocks(transport *t, error *failure) {
  int p = 0;
  while ((uint32_t)1 << p < t->ranks)
    p++;
  bool good = true;  // of 2^p ranks only
  for (int more = 0; good && (uint32_t)1 << p == t->ranks && more <= 3; more++)
    for (uint64_t seed = 0; good && seed < 6; seed++)
      good = blocks_of_seed(t, p + more, seed + 10 * (uint64_t)more, failure);
  return good;
}

static bool gathers(transport *t, error *failure) {
  uint64_t bytes[MOST_RANKS], sum = 0, before = 0;
  for (uint32_t r = 0; r < t->ranks; r++) {
    bytes[r] = number_of(r, 5, 5) % LONGEST * (r % 3 != 1);
    before += r < t->rank ? bytes[r] : 0;
    sum += bytes[r];
  }
  unsigned char *all = memory_new(t, sum + 1);
  fill(all + before, bytes[t->rank], t->rank);
  bool good = transport_gather(t, all + before, bytes, all, failure);
  const unsigned char *place = all;
  for (uint32_t r = 0; good && r < t->ranks; place += bytes[r++])
    good = is_filled(place, bytes[r], r) || wrong(t, failure, "slab");
  memory_end(t, all);
  return good;
}

static bool agreements(transport *t, error *failure) {
  const transport_part parts[] = {{.name = "program", .bytes = "sort", .count = 4},
                                  {.name = "sizes", .bytes = "\0\1", .count = 2}};
  return transport_agree(t, parts, 2, failure) && transport_agree(t, parts, 0, failure);
}

// Two programs, or sizes, of the same plan are no difference.
static transport_part text_part(const char *name, const char *bytes) {
  return (transport_part){.name = name, .bytes = bytes, .count = strlen(bytes), .shown = true};
}

static bool agreements_that_explain(transport *t, error *failure) {
  transport_part parts[] = {text_part("sizes", t->rank == 1 ? "8" : "9"), text_part("plan", "same"),
                            text_part("file", "x")};
  parts[0].explains = parts[1].explained = true;
  return transport_agree(t, parts, 3, failure);
}

// ---- faults ------------------------------------------------------------------------------------

static bool barriers(transport *t, error *failure) {
  bool good = true;
  for (int i = 0; good && i < 3; i++)
    good = transport_barrier(t, failure);
  return good;
}

static bool a_rank_fails(transport *t, error *failure) {
  if (!exchange_of_round(t, 1, failure))
    return false;
  if (t->rank == 1)
    transport_fail(t, "out of memory", NULL);
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static bool a_rank_leaves(transport *t, error *failure) {
  if (t->rank == 1)
    return error_set(failure, SPAN_NONE, "rank 1 ended before the others");
  return barriers(t, failure);
}

static bool a_rank_hangs(transport *t, error *failure) {
  if (!barriers(t, failure))
    return false;
  if (t->rank == 1)
    usleep((useconds_t)(1.5e6 * t->timeout));
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static inline bool a_rank_dies(transport *t, error *failure) {
  if (t->rank == 1)
    raise(SIGKILL);
  return exchange_of_round(t, 2, failure) && barriers(t, failure);
}

static bool a_rank_disagrees(transport *t, error *failure) {
  transport_part parts[] = {text_part("program", "sort"),
                            text_part("sizes", t->rank == 1 ? "8\nand more" : "9\nand more")};
  parts[1].shown = t->ranks > 2;
  return transport_agree(t, parts, 2, failure);
}

static bool a_rank_has_another_plan(transport *t, error *failure) {
  bool other = t->rank == 1;
  transport_part parts[] = {text_part("types", "i64"), text_part("sizes", other ? "8" : "9"),
                            text_part("plan", other ? "one" : "two")};
  parts[0].explains = parts[1].explains = parts[2].explained = true;
  return transport_agree(t, parts, 3, failure);
}

static bool a_rank_has_another_file(transport *t, error *failure) {
  bool other = t->rank == 1;
  transport_part parts[] = {text_part("sizes", other ? "8" : "9"), text_part("plan", "same"),
                            text_part("file", other ? "y\n" : "y")};
  parts[0].explains = parts[1].explained = true;
  return transport_agree(t, parts, 3, failure);
}

static bool a_rank_is_of_another_version(transport *t, error *failure) {
  const transport_part parts[] = {text_part("program", "sort"), text_part("sizes", "8")};
  return transport_agree(t, parts, t->rank == 1 ? 1 : 2, failure);
}

// All can go on then; of two the first is named.
static bool a_rank_refuses(transport *t, error *failure) {
  const transport_part parts[] = {text_part("program", "sort")};
  bool refuses = t->rank == 1 || t->rank == 3;
  if (!transport_refuse(t, "they are\nalike") ||
      (t->ranks > 1 && transport_refuse(t, t->rank == 1 ? "one" : "another")))
    return error_set(failure, SPAN_NONE, "who refuses alike is not known");
  if (refuses)
    transport_refuse(t, t->rank == 1 ? "it has no keys\nat all" : "it has no file");
  else if (transport_agree(t, parts, 1, failure))
    return true;
  error later = {0};
  if (!barriers(t, &later) || !transport_agree(t, parts, 1, &later))
    return error_set(failure, SPAN_NONE, "later: %s", later.message);
  return refuses && error_set(failure, SPAN_NONE, "rank 1: it has no keys");
}

static bool a_message_is_too_long(transport *t, error *failure) {
  unsigned char *bytes = memory_new(t, 16);
  transport_message m = {1 - t->rank % 2, bytes, t->rank == 1 ? 16 : 8};
  bool good =
      transport_exchange(t, &m, t->rank == 1, &m, t->rank == 0, failure) && barriers(t, failure);
  memory_end(t, bytes);
  return good;
}

static bool two_messages_for_one_rank(transport *t, error *failure) {
  transport_message m[] = {{0, NULL, 0}, {0, NULL, 0}};
  return transport_exchange(t, m, t->rank == 1 ? 2 : 0, NULL, 0, failure) && barriers(t, failure);
}

static const struct law {
  const char *name;
  rank_work *work;
  const char *line;  // NULL: all goes well; else what is in the line that all ranks end with
} laws[] = {
    {"random_exchanges", random_exchanges, NULL},
    {"exchanges_of_blocks", exchanges_of_blocks, NULL},
    {"gathers", gathers, NULL},
    {"agreements", agreements, NULL},
    {"agreements_that_explain", agreements_that_explain, NULL},
    {"barriers", barriers, NULL},
    {"a_rank_fails", a_rank_fails, "rank 1: out of memory"},
    {"a_rank_leaves", a_rank_leaves, "rank 1 ended before the others"},
    {"a_rank_hangs", a_rank_hangs, "rank 1 did not come within "},
    {"a_rank_disagrees", a_rank_disagrees, "rank 1 differs from rank 0 in its sizes"},
    {"a_rank_has_another_plan", a_rank_has_another_plan,
     "rank 1 differs from rank 0 in its sizes: 8, not 9"},
    {"a_rank_has_another_file", a_rank_has_another_file, "rank 1 differs from rank 0 in its file"},
    {"a_rank_refuses", a_rank_refuses, "rank 1: it has no keys"},
    {"a_rank_is_of_another_version", a_rank_is_of_another_version,
     "rank 1 differs from rank 0 in its version"},
    {"a_message_is_too_long", a_message_is_too_long,
     " expects another number of bytes than rank 1 sends"},
    {"two_messages_for_one_rank", two_messages_for_one_rank,
     "rank 1: two messages of one exchange for one rank"},
};
enum { LAWS = sizeof laws / sizeof *laws };

// Long enough for a rank that only has to wait for a processor.
static inline double patience(void) { return slower() > 1 ? 1 : 0.3; }

#endif
