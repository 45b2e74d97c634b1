#include "runtime/cpu/roots.h"

#include "core/scalar/scalar.h"
#include "runtime/system/pool.h"
#include <stdlib.h>
#include <string.h>

enum { LOW_BITS = 10, CHUNK = 1 << LOW_BITS, PADDING = 64 };  // a vector has at most 64 lanes

// ---- one root ----------------------------------------------------------------------------------

// The first eighth of the circle, for the largest power of two among the orders of a type: the
// others are those with signs changed and parts exchanged, as in scalar_root.
typedef struct octant {
  scalar_type type;
  uint64_t m;  // 0: none
  double *parts;
} octant;

static void compute_root(scalar_type type, uint64_t k, uint64_t m, double parts[2]) {
  scalar_bits root = scalar_root(type, (int64_t)k, (int64_t)m);
  scalar_convert(type, SCALAR_C128, 1, &root, parts);
}

static bool fill_octant(void *with, unsigned worker, uint64_t first, uint64_t last) {
  octant *o = with;
  (void)worker;
  for (uint64_t k = first; k < last; k++)
    compute_root(o->type, k, o->m, o->parts + 2 * k);
  return true;
}

static void look_up_root(const octant *o, uint64_t k, double parts[2]) {
  uint64_t m = o->m;
  bool below = k > m / 2;
  k = below ? m - k : k;
  bool left = k > m / 4;
  k = left ? m / 2 - k : k;
  bool steep = k > m / 8;
  k = steep ? m / 4 - k : k;
  parts[steep] = o->parts[2 * k];
  parts[!steep] = o->parts[2 * k + 1];
  if (left)
    parts[0] = -parts[0];
  if (below)
    parts[1] = -parts[1];
}

// ---- one table ---------------------------------------------------------------------------------

typedef struct table_job {
  const permc_root_table *row;
  const octant *octant;
  bool sums;            // no two vectors, nor the constant, have a row in common
  uint64_t low[CHUNK];  // sums: what the low bits of an entry's number add to k
  unsigned char *table;
} table_job;

static uint64_t sum_weights(const permc_root_table *row, uint64_t bits) {
  uint64_t sum = 0;
  for (; bits != 0; bits &= bits - 1)
    sum += row->weights[__builtin_ctzll(bits)];
  return sum;
}

static uint64_t row_bits(const permc_root_table *row, uint64_t q) {
  uint64_t bits = row->constant;
  for (; q != 0; q &= q - 1)
    bits ^= row->vectors[__builtin_ctzll(q)];
  return bits;
}

static void store_root(const table_job *f, uint64_t place, const double parts[2], uint64_t apart) {
  for (uint64_t i = 0; i < 2; i++) {
    float narrow = (float)parts[i];
    size_t bytes = f->row->part_bytes;
    memcpy(f->table + (place + i * apart) * bytes, bytes == 4 ? (const void *)&narrow : &parts[i],
           bytes);
  }
}

static void find_root(const table_job *f, uint64_t k, double parts[2]) {
  const permc_root_table *row = f->row;
  bool power = (row->m & (row->m - 1)) == 0;
  k = power ? k & (row->m - 1)
            : (uint64_t)(((int64_t)k % (int64_t)row->m + (int64_t)row->m) % (int64_t)row->m);
  if (power && f->octant->m >= 8 && f->octant->m >= row->m)
    look_up_root(f->octant, k * (f->octant->m / row->m), parts);
  else
    compute_root(f->octant->type, k, row->m, parts);
}

static bool fill_entries(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const table_job *f = with;
  const permc_root_table *row = f->row;
  (void)worker;
  for (uint64_t q = first; q < last;) {
    uint64_t start = row->vectors ? sum_weights(row, row_bits(row, q)) + row->offset : q;
    uint64_t end = q + CHUNK < last ? q + CHUNK : last;
    for (uint64_t at = q; at < end; at++) {
      double parts[2];
      uint64_t k = row->vectors && f->sums ? start + f->low[at - q]
                   : row->vectors          ? sum_weights(row, row_bits(row, at)) + row->offset
                                           : at;
      find_root(f, k, parts);
      if (row->vectors)
        store_root(f, at, parts, UINT64_C(1) << row->bits);
      else
        store_root(f, 2 * at, parts, 1);
    }
    q = end;
  }
  return true;
}

static void find_low_sums(table_job *f) {
  uint64_t seen = f->row->constant;
  f->sums = true;
  for (uint64_t i = 0; i < f->row->bits; i++) {
    f->sums = f->sums && (seen & f->row->vectors[i]) == 0;
    seen |= f->row->vectors[i];
  }
  for (uint64_t q = 0; q < CHUNK && f->row->vectors; q++)
    f->low[q] = q >> f->row->bits == 0 || f->row->bits >= LOW_BITS
                    ? sum_weights(f->row, row_bits(f->row, q) ^ f->row->constant)
                    : 0;
}

static uint64_t table_entries(const permc_root_table *row) {
  return row->vectors ? UINT64_C(1) << row->bits : row->m;
}

uint64_t roots_bytes(const permc_root_table *row) {
  return (2 * table_entries(row) + PADDING) * row->part_bytes;
}

static void *make_table(const permc_root_table *row, const octant *o, unsigned threads) {
  uint64_t entries = table_entries(row);
  if (entries > SIZE_MAX / 32)
    return NULL;
  table_job *f = malloc(sizeof *f);
  size_t bytes = (size_t)roots_bytes(row);
  void *table = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (f && table) {
    *f = (table_job){.row = row, .octant = o, .table = table};
    memset((char *)table + 2 * entries * row->part_bytes, 0, PADDING * row->part_bytes);
    if (row->vectors)
      find_low_sums(f);
    pool_run(threads, entries, CHUNK, fill_entries, f, NULL);
  } else {
    free(table);
    table = NULL;
  }
  free(f);
  return table;
}

// ---- all ---------------------------------------------------------------------------------------

// Not for tables with few of many roots.
static bool make_octant(octant *o, const permc_root_table *rows, unsigned threads) {
  for (; rows->m > 0; rows++)
    if (rows->part_bytes == (o->type == SCALAR_C64 ? 4 : 8) && (rows->m & (rows->m - 1)) == 0 &&
        rows->m > o->m && table_entries(rows) >= rows->m / 8)
      o->m = rows->m;
  if (o->m < 8)
    return true;
  o->parts = o->m / 8 < SIZE_MAX / 32 ? malloc((o->m / 8 + 1) * 2 * sizeof *o->parts) : NULL;
  if (o->parts)
    pool_run(threads, o->m / 8 + 1, CHUNK, fill_octant, o, NULL);
  return o->parts != NULL;
}

void **roots_make(const permc_root_table *rows, size_t *count, unsigned threads) {
  octant octants[2] = {{.type = SCALAR_C64}, {.type = SCALAR_C128}};
  size_t wanted = 0;
  while (rows && rows[wanted].m > 0)
    wanted++;
  *count = 0;
  void **tables = calloc(wanted + 1, sizeof *tables);
  bool good = tables && (wanted == 0 || (make_octant(&octants[0], rows, threads) &&
                                         make_octant(&octants[1], rows, threads)));
  for (; good && *count < wanted; ++*count) {
    const permc_root_table *row = &rows[*count];
    tables[*count] = make_table(row, &octants[row->part_bytes == 8], threads);
    good = tables[*count] != NULL;
  }
  free(octants[0].parts);
  free(octants[1].parts);
  if (good)
    return tables;
  roots_free(tables, *count);
  *count = 0;
  return NULL;
}

void roots_free(void **tables, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(tables[i]);
  free(tables);
}
