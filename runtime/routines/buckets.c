// Counts, sums, and moves. See buckets.h.
#include "runtime/routines/buckets.h"
#include "core/sizes.h"

#include <string.h>

typedef struct bucketing {
  const sort_task *task;
  crew crew;
  const char *keys;  // of the row
  uint8_t flip, mask;
  uint8_t *digits;              // by element of the row: its key, in the order that is asked for
  uint64_t (*starts)[BUCKETS];  // by chunk: where its next element of each key goes
  const char *from;             // a payload; NULL: indices
  char *to;
  size_t size;
} bucketing;

bool buckets_suit(const sort_task *t) {
  return t->payload_count && !t->offsets && t->length >= BUCKETS_LEAST && t->order.bits <= 8;
}

static uint64_t chunk_end(const bucketing *b, uint64_t chunk) {
  uint64_t end = (chunk + 1) * BUCKETS_CHUNK;
  return end < b->task->length ? end : b->task->length;
}

static bool count_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const bucketing *b = with;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t at = chunk * BUCKETS_CHUNK, n = chunk_end(b, chunk) - at;
    uint8_t *digits = b->digits + at, flip = b->flip, mask = b->mask;
    const char *keys = b->keys;
    memset(b->starts[chunk], 0, sizeof b->starts[chunk]);
#define DIGITS(U)                                                                                  \
  for (uint64_t i = 0; i < n; i++)                                                                 \
    digits[i] = (uint8_t)((load_key(keys, at + i, (U)) ^ flip) & mask);
    FOR_ELEMENT_SIZE(b->task->order.size, DIGITS)
#undef DIGITS
    for (uint64_t i = 0; i < n; i++)
      b->starts[chunk][digits[i]]++;
  }
  return true;
}

static void sum_counts(const bucketing *b, uint64_t chunks) {
  uint64_t sum = 0;
  for (size_t key = 0; key < BUCKETS; key++)
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
      uint64_t count = b->starts[chunk][key];
      b->starts[chunk][key] = sum;
      sum += count;
    }
}

static bool move_chunks(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const bucketing *b = with;
  uint64_t next[BUCKETS];
  (void)worker;
#define MOVE(bytes)                                                                                \
  for (uint64_t i = chunk * BUCKETS_CHUNK; i < end; i++)                                           \
    memcpy(b->to + next[b->digits[i]]++ * (bytes), b->from + i * (bytes), bytes);
#define INDEX(T)                                                                                   \
  for (uint64_t i = chunk * BUCKETS_CHUNK; i < end; i++)                                           \
    ((T *)(void *)b->to)[next[b->digits[i]]++] = (T)i;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    uint64_t end = chunk_end(b, chunk);
    memcpy(next, b->starts[chunk], sizeof next);
    if (!b->from && b->size == 4) {
      INDEX(uint32_t)
    } else if (!b->from) {
      INDEX(uint64_t)
    } else if (b->size == 1) {
      MOVE(1)
    } else if (b->size == 2) {
      MOVE(2)
    } else if (b->size == 4) {
      MOVE(4)
    } else if (b->size == 8) {
      MOVE(8)
    } else {
      MOVE(b->size)
    }
  }
#undef MOVE
#undef INDEX
  return true;
}

static bool bucket_payload(bucketing *b, uint64_t row, const sort_payload *p) {
  const sort_task *t = b->task;
  uint64_t chunks = (t->length + BUCKETS_CHUNK - 1) / BUCKETS_CHUNK,
           first = row * t->length * p->size;
  b->from = p->from ? (const char *)p->from + first : NULL;
  b->to = (char *)p->to + first;
  b->size = p->size;
  return crew_run(&b->crew, chunks, 1, move_chunks, b);
}

// The keys of a row in order are known once they are counted.
static void fill_keys(const bucketing *b, char *to, size_t size) {
  for (uint64_t digit = 0, i = 0; digit < BUCKETS; digit++) {
    uint64_t end = digit + 1 < BUCKETS ? b->starts[0][digit + 1] : b->task->length;
    for (uint64_t key = (digit ^ b->flip) & b->mask; i < end; i++)
      store_key(to, i, size, key);
  }
}

static bool bucket_row(bucketing *b, uint64_t row) {
  const sort_task *t = b->task;
  uint64_t chunks = (t->length + BUCKETS_CHUNK - 1) / BUCKETS_CHUNK;
  size_t size = t->order.size;
  b->keys = (const char *)t->keys + row * t->length * size;
  if (!crew_run(&b->crew, chunks, 1, count_chunks, b))
    return false;
  sum_counts(b, chunks);
  bool good = true;
  for (uint32_t i = 0; i < t->payload_count && good; i++)
    good = bucket_payload(b, row, &t->payloads[i]);
  if (t->sorted && good && size == 1)
    fill_keys(b, (char *)t->sorted + row * t->length, 1);
  else if (t->sorted && good)
    fill_keys(b, (char *)t->sorted + row * t->length * size, size);
  return good;
}

bool routine_bucket(const sort_task *t) {
  uint64_t chunks = (t->length + BUCKETS_CHUNK - 1) / BUCKETS_CHUNK;
  worker_memory own = {0};
  bucketing b = {.task = t,
                 .crew = crew_begin(&t->crew, &own),
                 .flip = (uint8_t)t->order.code.all,
                 .mask = (uint8_t)((1U << t->order.bits) - 1)};
  b.digits = reserve(b.crew.memory, BLOCK_WORDS, t->length + 1);
  b.starts = reserve(b.crew.memory, BLOCK_SCRATCH, (chunks + 1) * sizeof *b.starts);
  bool good = b.digits && b.starts;
  for (uint64_t row = 0; row < t->rows && good; row++)
    good = bucket_row(&b, row);
  crew_end(&t->crew, &b.crew);
  return good;
}
