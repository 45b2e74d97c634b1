#include "runtime/cpu/roots.h"

#include "core/memory.h"
#include "core/scalar/root_product.inc"
#include "core/scalar/scalar.h"
#include "runtime/system/pool.h"

enum { LOW_BITS = 10, CHUNK = 1 << LOW_BITS };

// ---- one root ----------------------------------------------------------------------------------

// The first quarter of the circle, for the largest power of two among the orders of a type: the
// others are those with parts exchanged and signs changed, as in scalar_root
// (core/scalar/root_product.inc).
typedef struct quarter {
  scalar_type type;
  uint64_t m;            // 0: none
  uint64_t apart;        // c64: so many in turn have the same first factor
  double *parts, *lows;  // pairs; c64: their second factors
} quarter;

static void compute_root(scalar_type type, uint64_t k, uint64_t m, double parts[2]) {
  scalar_bits root = scalar_root(type, (int64_t)k, (int64_t)m);
  scalar_convert(type, SCALAR_C128, 1, &root, parts);
}

// The roots first, ..., last - 1 of c128, of the first eighth; the others have their parts
// exchanged.
static bool fill_wide(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const quarter *o = with;
  (void)worker;
  for (uint64_t k = first; k < last; k++) {
    double *near = o->parts + 2 * k, *far = o->parts + 2 * (o->m / 4 - k);
    compute_root(SCALAR_C128, k, o->m, near);
    far[0] = near[1];
    far[1] = near[0];
  }
  return true;
}

static bool fill_products(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const quarter *o = with;
  double high[2];
  (void)worker;
  for (uint64_t k = first; k < last; k++) {
    const double *low = o->lows + 2 * (k % o->apart);
    double re, im, *out = o->parts + 2 * k;
    if (k == first || k % o->apart == 0)
      compute_root(SCALAR_C128, k / o->apart, o->m / o->apart, high);
    root_product(high[0], high[1], low[0], low[1], &re, &im);
    out[0] = (double)(float)re;
    out[1] = (double)(float)im;
  }
  return true;
}

static void look_up_root(const quarter *o, uint64_t k, double parts[2]) {
  const uint64_t quarters = k / (o->m / 4);
  const double *root = o->parts + 2 * (k % (o->m / 4));
  double re = root[quarters & 1], im = root[~quarters & 1];
  parts[0] = (quarters + 1) & 2 ? 0 - re : re;  // 0 - 0 is 0
  parts[1] = quarters & 2 ? 0 - im : im;
}

// ---- one table ---------------------------------------------------------------------------------

typedef struct table_job {
  const permc_root_table *row;
  const quarter *quarter;
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
  if (power && f->quarter->m >= 8 && f->quarter->m >= row->m)
    look_up_root(f->quarter, k * (f->quarter->m / row->m), parts);
  else
    compute_root(f->quarter->type, k, row->m, parts);
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

static void *make_table(const permc_root_table *row, const quarter *o, unsigned threads) {
  uint64_t entries = table_entries(row);
  if (entries > SIZE_MAX / 32)
    return NULL;
  FREED table_job *f = malloc(sizeof *f);
  size_t bytes = (size_t)permc_root_bytes(row);
  void *table = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (f && table) {
    *f = (table_job){.row = row, .quarter = o, .table = table};
    size_t made = (size_t)(2 * entries * row->part_bytes);
    memset((char *)table + made, 0, bytes - made);
    if (row->vectors)
      find_low_sums(f);
    pool_run(threads, entries, CHUNK, fill_entries, f, NULL);
  } else {
    free(table);
    table = NULL;
  }
  return table;
}

// ---- all ---------------------------------------------------------------------------------------

static double *new_pairs(uint64_t count) {
  return count < SIZE_MAX / 32 ? malloc(count * 2 * sizeof(double)) : NULL;
}

static bool make_products(quarter *o, unsigned threads) {
  o->apart = o->m >> ROOT_HIGH_BITS ? o->m >> ROOT_HIGH_BITS : 1;
  o->lows = new_pairs(o->apart);
  for (uint64_t l = 0; l < o->apart && o->lows; l++)
    compute_root(SCALAR_C128, l, o->m, o->lows + 2 * l);
  if (o->lows && o->parts)
    pool_run(threads, o->m / 4, CHUNK, fill_products, o, NULL);
  return o->lows && o->parts;
}

// Not for tables with few of many roots.
static bool make_quarter(quarter *o, const permc_root_table *rows, unsigned threads) {
  for (; rows->m > 0; rows++)
    if (rows->part_bytes == (o->type == SCALAR_C64 ? 4 : 8) && (rows->m & (rows->m - 1)) == 0 &&
        rows->m > o->m && table_entries(rows) >= rows->m / 8)
      o->m = rows->m;
  if (o->m < 8)
    return true;
  o->parts = new_pairs(o->m / 4 + 1);
  if (o->type == SCALAR_C64)
    return make_products(o, threads);
  if (o->parts)
    pool_run(threads, o->m / 8 + 1, CHUNK, fill_wide, o, NULL);
  return o->parts != NULL;
}

static void free_quarter(quarter *o) {
  free(o->parts);
  free(o->lows);
}

void **roots_make(const permc_root_table *rows, size_t *count, unsigned threads) {
  quarter quarters[2] = {{.type = SCALAR_C64}, {.type = SCALAR_C128}};
  size_t wanted = 0;
  while (rows && rows[wanted].m > 0)
    wanted++;
  *count = 0;
  void **tables = calloc(wanted + 1, sizeof *tables);
  bool good = tables && (wanted == 0 || (make_quarter(&quarters[0], rows, threads) &&
                                         make_quarter(&quarters[1], rows, threads)));
  for (; good && *count < wanted; ++*count) {
    const permc_root_table *row = &rows[*count];
    tables[*count] = make_table(row, &quarters[row->part_bytes == 8], threads);
    good = tables[*count] != NULL;
  }
  free_quarter(&quarters[0]);
  free_quarter(&quarters[1]);
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
