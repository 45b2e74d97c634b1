// Keys as classes. See buckets.h.
#include "runtime/routines/buckets.h"
#include "core/sizes.h"
#include "runtime/routines/classes.h"

typedef struct bucketing {
  const sort_task *task;
  const char *keys;    // of the row
  uint8_t flip, mask;  // a class is a key in the order that is asked for
} bucketing;

bool buckets_suit(const sort_task *t) {
  return t->payload_count && !t->offsets && t->length >= BUCKETS_LEAST && t->order.bits <= 8;
}

static void classify_keys(const void *with, uint64_t first, uint64_t last, void *classes) {
  uint8_t *digits = classes;
  const bucketing b = *(const bucketing *)with;
#define CLASSIFY(U)                                                                                \
  for (uint64_t i = first; i < last; i++)                                                          \
    digits[i - first] = (uint8_t)((load_key(b.keys, i, (U)) ^ b.flip) & b.mask);
  FOR_ELEMENT_SIZE(b.task->order.size, CLASSIFY)
#undef CLASSIFY
}

// The keys of a row in order are known once they are counted.
static void fill_keys(const bucketing *b, const uint64_t *starts, char *to, size_t size) {
  for (uint64_t digit = 0, i = 0; digit <= b->mask; digit++) {
    uint64_t end = digit < b->mask ? starts[digit + 1] : b->task->length;
    for (uint64_t key = (digit ^ b->flip) & b->mask; i < end; i++)
      store_key(to, i, size, key);
  }
}

static bool bucket_row(bucketing *b, const class_order *o, uint64_t row) {
  const sort_task *t = b->task;
  size_t size = t->order.size;
  b->keys = (const char *)t->keys + row * t->length * size;
  if (!class_order_find(o, classify_keys, b))
    return false;
  for (const sort_payload *p = t->payloads; p < t->payloads + t->payload_count; p++) {
    uint64_t first = row * t->length * p->size;
    if (!class_order_move(o, p->from ? (const char *)p->from + first : NULL, (char *)p->to + first,
                          p->size, false))
      return false;
  }
  if (t->sorted && size == 1)
    fill_keys(b, o->starts, (char *)t->sorted + row * t->length, 1);
  else if (t->sorted)
    fill_keys(b, o->starts, (char *)t->sorted + row * t->length * size, size);
  return true;
}

bool routine_bucket(const sort_task *t) {
  worker_memory own = {0};
  crew c = crew_begin(&t->crew, &own);
  uint64_t starts = class_order_starts(t->length, BUCKETS, c.threads);
  class_order o = {
      .crew = c, .count = t->length, .class_count = 1U << t->order.bits, .class_bytes = 1};
  bucketing b = {
      .task = t, .flip = (uint8_t)t->order.code.all, .mask = (uint8_t)((1U << t->order.bits) - 1)};
  o.classes = reserve(c.memory, BLOCK_WORDS, t->length + 1);
  o.starts = reserve(c.memory, BLOCK_SCRATCH, starts * sizeof *o.starts);
  bool good = o.classes && o.starts;
  for (uint64_t row = 0; row < t->rows && good; row++)
    good = bucket_row(&b, &o, row);
  crew_end(&t->crew, &c);
  return good;
}
