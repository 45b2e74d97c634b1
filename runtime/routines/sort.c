// Sorts by digits of 8 bits, the lowest first, of the keys' ranks: unsigned numbers in the keys'
// order. A rank travels with the index of its element; payloads follow at the end.
#include "runtime/routines/sort.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

typedef struct ranked {
  uint64_t rank, index;
} ranked;

// The bits of a float in the order of its values, as an unsigned number of so many bits.
static uint64_t rank_float(uint64_t bits, uint64_t infinity, uint64_t sign) {
  if ((bits & ~sign) > infinity)
    return sign | (sign - 1);  // NaN
  return bits & sign ? bits ^ (sign | (sign - 1)) : bits | sign;
}

static uint64_t rank_key(scalar_type type, const void *key) {
  scalar_bits k = {0};
  size_t size = scalar_types[type].size;
  memcpy(&k, key, size);
  uint64_t sign = (uint64_t)1 << (8 * size - 1);
  switch (scalar_types[type].kind) {
  case KIND_SIGNED:
    return k.u64 ^ sign;
  case KIND_FLOAT:
    return rank_float(k.u64,
                      type == SCALAR_F16   ? 0x7c00
                      : type == SCALAR_F32 ? 0x7f800000
                                           : (uint64_t)0x7ff << 52,
                      sign);
  default:
    return k.u64;
  }
}

// The elements of `from` by one digit of their ranks, in `to`.
static void sort_by_digit(const ranked *from, ranked *to, uint64_t count, uint32_t shift) {
  uint64_t starts[DIGITS] = {0}, sum = 0;
  for (uint64_t i = 0; i < count; i++)
    starts[from[i].rank >> shift & (DIGITS - 1)]++;
  for (size_t d = 0; d < DIGITS; d++) {
    uint64_t of_digit = starts[d];
    starts[d] = sum;
    sum += of_digit;
  }
  for (uint64_t i = 0; i < count; i++)
    to[starts[from[i].rank >> shift & (DIGITS - 1)]++] = from[i];
}

static ranked *sort_row(const sort_task *t, uint64_t first, uint64_t count, ranked *a, ranked *b) {
  size_t size = scalar_types[t->type].size;
  uint64_t mirror = t->descending ? UINT64_MAX >> (64 - 8 * size) : 0;
  for (uint64_t i = 0; i < count; i++)
    a[i] = (ranked){rank_key(t->type, (const char *)t->keys + (first + i) * size) ^ mirror, i};
  for (uint32_t shift = 0; shift < 8 * size; shift += DIGIT) {
    sort_by_digit(a, b, count, shift);
    ranked *other = a;
    a = b;
    b = other;
  }
  return a;
}

// A row of elements, moved by way of `spare`: `from` may be `to`.
static void move_row(const ranked *order, uint64_t first, uint64_t count, const sort_payload *p,
                     char *spare) {
  char *to = (char *)p->to + first * p->size;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t narrow = (uint32_t)order[i].index;
    const void *element = p->from ? (const char *)p->from + (first + order[i].index) * p->size
                          : p->size == 4 ? (const void *)&narrow
                                         : &order[i].index;
    memcpy(spare + i * p->size, element, p->size);
  }
  memcpy(to, spare, count * p->size);
}

static uint64_t row_first(const sort_task *t, uint64_t row) {
  return t->offsets ? t->offsets[row] : row * t->length;
}

bool routine_sort(const sort_task *t) {
  uint64_t longest = 0;
  size_t widest = scalar_types[t->type].size;
  for (uint64_t r = 0; r < t->rows; r++)
    if (row_first(t, r + 1) - row_first(t, r) > longest)
      longest = row_first(t, r + 1) - row_first(t, r);
  for (uint32_t p = 0; p < t->payload_count; p++)
    widest = t->payloads[p].size > widest ? t->payloads[p].size : widest;
  ranked *ranks = malloc((2 * longest + 1) * sizeof *ranks);
  char *spare = malloc(longest * widest + 1);
  bool good = ranks && spare;
  for (uint64_t r = 0; good && r < t->rows; r++) {
    uint64_t first = row_first(t, r), count = row_first(t, r + 1) - first;
    const ranked *order = sort_row(t, first, count, ranks, ranks + longest);
    sort_payload keys = {t->keys, t->sorted, scalar_types[t->type].size};
    if (t->sorted)
      move_row(order, first, count, &keys, spare);
    for (uint32_t p = 0; p < t->payload_count; p++)
      move_row(order, first, count, &t->payloads[p], spare);
    good = !t->interrupted || !atomic_load_explicit(t->interrupted, memory_order_relaxed);
  }
  free(ranks);
  free(spare);
  return good;
}
