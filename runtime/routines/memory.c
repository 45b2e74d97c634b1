// The memory that routines take, as their files take it. See executor.h.
#include "runtime/routines/buckets.h"
#include "runtime/routines/classes.h"
#include "runtime/routines/count.h"
#include "runtime/routines/executor.h"
#include "runtime/routines/places.h"
#include "runtime/routines/sort.h"
#include "runtime/routines/transpose.h"
#include "runtime/routines/words.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void routine_memory_bytes(const routine_work *w, uint64_t bytes[BLOCKS]) {
  uint64_t n = w->length, chunk = n * w->rows < n + SORT_SHARE ? n * w->rows : n + SORT_SHARE;
  bool sorts = w->kind == ROUTINE_SORT || w->kind == ROUTINE_PLACES;
  for (size_t b = 0; b < BLOCKS; b++)
    bytes[b] = 0;
  if (sorts) {
    bool payloads = w->kind == ROUTINE_PLACES || w->pair_count > 1;
    bytes[BLOCK_SCRATCH] =
        larger(word_scratch(n), class_order_starts(n, BUCKETS, 1)) * sizeof(uint64_t) +
        (payloads && n >= ROUTINE_DIGITS_LEAST ? n * (sizeof(uint64_t) + 1) : 0);
    bytes[BLOCK_WORDS] = larger((n + 1) * sizeof(uint64_t), (chunk + 1) * sizeof(uint32_t));
    bytes[BLOCK_PAYLOADS] = w->pair_count * sizeof(sort_payload);
  }
  if (w->kind == ROUTINE_PLACES)
    bytes[BLOCK_ORDER] = (w->offsets == ROUTINE_NONE ? w->rows : 1) * n *
                         (n >> 32 ? sizeof(uint64_t) : sizeof(uint32_t));
  for (uint32_t i = 0; i < w->pair_count && sorts; i++)
    if (w->pairs[i].from == w->pairs[i].to)
      bytes[BLOCK_MOVED] = larger(bytes[BLOCK_MOVED], (n + 1) * w->pairs[i].bytes);
  if (w->kind == ROUTINE_COUNT && w->limit <= COUNT_SECOND)
    bytes[BLOCK_WORDS] = w->limit * sizeof(int64_t);
  if (w->kind == ROUTINE_WRONG && w->distinct)
    bytes[BLOCK_WORDS] = 2 * (w->limit / PLACE_BITS + 1) * sizeof(uint64_t);
  if (w->kind == ROUTINE_TRANSPOSE)
    bytes[BLOCK_WORDS] = transpose_scratch_bytes(&(transpose_task){
        .bytes = w->order.size, .count = w->dimension_count, .dimensions = w->dimensions});
}
