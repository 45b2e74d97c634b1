// The Hash paper's examples and tables as far as they follow from what it says: Table 1, Figure 6,
// the examples of sections 5.1 and 5.2.1, and of its programs those whose accesses it gives in
// closed form (sections 2, 3.2, 5.1 and 5.2.1), with 32 banks and 2^14 words as in its Table 1.
#include "kernels/banks/search.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

enum { BANK_BITS = 5, BANKS = 1 << BANK_BITS, ADDRESS_BITS = 14, WORDS = 1 << ADDRESS_BITS };

// ---- Table 1: how many hash functions ----------------------------------------------------------

// Equation 9: the subspaces of dimension m of F_2^n.
static double count_subspaces(int n, int m) {
  double count = 1;
  for (int i = 1; i <= m; i++)
    count *= (ldexp(1, n - i + 1) - 1) / (ldexp(1, m - i + 1) - 1);
  return count;
}

static double count_tried(arena *a, bit_vector_range range) {
  bank_trace t = {0};
  bank_trace_add(a, &t, 1, &(uint64_t){0});
  return (double)bit_vector_find(&t, range, BANK_BITS).combinations;
}

// Two digits are published: half of the last is the tolerance.
static void add_table_1(paper_tables *out) {
  arena *a = out->memory;
  enum { N = ADDRESS_BITS, M = BANK_BITS };
  const double log_of_all = M * ldexp(1, N) * log10(2);
  const bit_vector_range vectors = {f2_mask(N - M + 1), 1, 1, 0, true};
  const paper_cell cells[] = {
      {"all functions, log10", 24660 + log10(2.3), log_of_all, log10(2.4 / 2.3),
       "2.38e24660 with another digit, published as 2.3e24660"},
      {"XOR-based functions", 1.2e21, ldexp(1, N * M), 0.05e21, NULL},
      {"unique XOR-based functions", 1.2e14, count_subspaces(N, M), 0.05e14, NULL},
      {"bit-vector functions", 10, count_tried(a, vectors), 0, "counted by the search"},
      {"bit-vector XOR functions", 4480, count_tried(a, bit_vector_all(N, M)), 0,
       "counted by the search"},
      {"bitwise permutation functions", 2002, paper_binomial(N, M), 0, NULL},
      {"bitwise XOR functions", 9.7e7, paper_binomial(N * (N + 1) / 2, M), 0.05e7, NULL},
  };
  paper_add_cells(paper_add_table(out, "Table 1: hash functions of 14 address bits to 5 bank bits"),
                  cells, sizeof cells / sizeof *cells);
}

// ---- access patterns in closed form ------------------------------------------------------------

static void add_block(arena *a, bank_trace *t, uint32_t count, uint64_t offset, uint64_t stride,
                      uint32_t width, uint64_t rows) {
  uint64_t address[BANKS];
  for (uint32_t i = 0; i < count; i++)
    address[i] = offset + stride * (i % width) + rows * (i / width);
  bank_trace_add(a, t, count, address);
}

// Sections 3.2.1 and 3.2.2: a block of tile x tile threads writes a tile by rows, and reads it by
// columns.
static void add_transpose(arena *a, bank_trace *t, uint64_t tile) {
  for (uint64_t first = 0; first < tile * tile; first += BANKS) {
    add_block(a, t, BANKS, first, 1, (uint32_t)tile, tile);
    add_block(a, t, BANKS, first / tile, tile, (uint32_t)tile, 1);
  }
}

// Section 3.2.3: sdata[2 S tx] += sdata[2 S tx + S], S = 1, 2, ... below so many threads.
static void add_reduction(arena *a, bank_trace *t, uint64_t threads) {
  for (uint64_t s = 1; s < threads; s *= 2)
    for (uint64_t tx = 0; tx < threads && 2 * s * tx < threads; tx += BANKS) {
      uint64_t left = (threads - 2 * s * tx + 2 * s - 1) / (2 * s);
      uint32_t count = left < BANKS ? (uint32_t)left : BANKS;
      add_block(a, t, count, 2 * s * tx, 2 * s, count, 0);
      add_block(a, t, count, 2 * s * tx + s, 2 * s, count, 0);
    }
}

// Section 3.2.4: words i0, i0 + stride, i0 + 2 stride, i0 + 3 stride of each thread.
static void add_walsh_stage(arena *a, bank_trace *t, uint64_t stride) {
  for (uint64_t first = 0; first < 512; first += BANKS)
    for (uint64_t k = 0; k < 4; k++) {
      uint64_t address[BANKS];
      for (uint64_t i = 0; i < BANKS; i++) {
        uint64_t low = (first + i) & (stride - 1);
        address[i] = ((first + i - low) << 2) + low + k * stride;
      }
      bank_trace_add(a, t, BANKS, address);
    }
}

static void add_walsh(arena *a, bank_trace *t, uint64_t last) {
  for (uint64_t stride = 512; stride >= last; stride /= 4)
    add_walsh_stage(a, t, stride);
}

static void add_strides(arena *a, bank_trace *t, uint64_t both) {
  add_block(a, t, BANKS, 0, both >> 8, BANKS, 0);
  add_block(a, t, BANKS, 0, both & 0xff, BANKS, 0);
}

// Section 2: `way` threads access with stride 32, the others the word of their own number.
static void add_way(arena *a, bank_trace *t, uint64_t way) {
  uint64_t address[BANKS];
  for (uint64_t i = 0; i < BANKS; i++)
    address[i] = i < way ? i * BANKS : i;
  bank_trace_add(a, t, BANKS, address);
}

static void add_all_ways(arena *a, bank_trace *t, uint64_t last) {
  for (uint64_t way = 2; way <= last; way *= 2)
    add_way(a, t, way);
}

typedef struct program {
  const char *name;
  void (*make)(arena *a, bank_trace *t, uint64_t parameter);
  uint64_t parameter;
} program;

static const program programs[] = {
    {"transpose 16x16", add_transpose, 16},         {"transpose 32x32", add_transpose, 32},
    {"reduction of 256", add_reduction, 256},       {"Walsh transform of 2048", add_walsh, 2},
    {"strides 4 and 6", add_strides, 4 << 8 | 6},   {"strides 8 and 45", add_strides, 8 << 8 | 45},
    {"strides 8 and 13", add_strides, 8 << 8 | 13}, {"2 to 32 ways of stride 32", add_all_ways, 32},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static bank_trace accesses_of(arena *a, const program *p) {
  bank_trace t = {0};
  p->make(a, &t, p->parameter);
  return t;
}

static bank_layout *layout_of(arena *a, const char *name, const bank_trace *t) {
  const char *wrong;
  bank_layout_request r = {.banks = BANKS, .words = WORDS, .accesses = t, .seed = 1};
  bank_layout *l = bank_layout_make(a, bank_layout_kind_named(name), &r, &wrong);
  assert(l);
  return l;
}

static double conflicts_of(arena *a, const bank_layout *l, const bank_trace *t) {
  return (double)bank_conflicts(bank_layout_cost(l, bank_counter_new(a, BANKS, BANKS), t));
}

// ---- what the paper says of them ---------------------------------------------------------------

// Sections 2 and 3.2: "no bank conflicts", "8-way bank conflict", "4-way bank conflict".
static void add_degrees(paper_tables *out) {
  arena *a = out->memory;
  bank_trace load = {0}, store = {0}, stage = {0}, way = {0};
  bank_layout *raw = layout_of(a, "raw", NULL);
  bank_counter *c = bank_counter_new(a, BANKS, BANKS);
  add_block(a, &load, BANKS, 0, 1, 16, 16);
  add_block(a, &store, BANKS, 0, 16, 16, 1);
  add_walsh_stage(a, &stage, 8);
  add_way(a, &way, 4);
  paper_table *t =
      paper_add_table(out, "Sections 2 and 3.2: bank conflict degree of a warp's access");
  paper_add(t, 1, bank_layout_cost(raw, c, &load).worst, "transpose 16x16, loading");
  paper_add(t, 8, bank_layout_cost(raw, c, &store).worst, "transpose 16x16, storing");
  paper_add(t, 4, bank_layout_cost(raw, c, &stage).worst, "Walsh transform, stride 8");
  paper_add(t, 4, bank_layout_cost(raw, c, &way).worst, "4 ways of stride 32");
}

static void add_search(paper_tables *out) {
  arena *a = out->memory;
  paper_table *table = paper_add_table(out, "Section 5.1: the search for strides 4 and 6");
  bank_trace t = accesses_of(a, &(program){"", add_strides, 4 << 8 | 6});
  bank_trace distinct = bank_trace_distinct(a, &t);
  bit_vector_range range;
  bool pruned = bit_vector_pruned(&t, ADDRESS_BITS, BANK_BITS, &range);
  assert(pruned);
  (void)pruned;
  bit_vector_search few = bit_vector_find(&distinct, range, BANK_BITS);
  bit_vector_search all =
      bit_vector_find(&distinct, bit_vector_all(ADDRESS_BITS, BANK_BITS), BANK_BITS);
  double percent = 100 * (double)few.combinations / (double)all.combinations;
  paper_add(table, 1, range.k2_first, "first k2");
  paper_add(table, 7, range.k2_last, "last k2");
  paper_add(table, 188, (double)few.combinations, "combinations");
  paper_add(table, 4480, (double)all.combinations, "... without pruning");
  paper_add(table, 4, percent, "... in percent")->tolerance = 0.5;
  paper_add(table, NAN, (double)few.conflicts, "conflicts that it leaves")->note =
      arena_printf(a, "%" PRIu64 " without pruning", all.conflicts);
}

// The bits that a heuristic chooses, one after the other, beside the paper's.
static void add_bits(paper_table *table, const char *of, const bank_trace *t, uint32_t heuristic,
                     int n, int m, const int *published) {
  uint64_t bits[BANK_BITS];
  bank_trace distinct = bank_trace_distinct(table->memory, t);
  bits_choose(table->memory, &distinct, heuristic, n, m, bits);
  for (int i = 0; i < m; i++)
    paper_add(table, published[i], f2_lsb(bits[i]), "%sbit %d", of, i);
}

static void add_heuristics(paper_tables *out) {
  static const int published[2][BANK_BITS] = {{3, 4, 5, 6, 7}, {3, 4, 6, 5, 7}};
  arena *a = out->memory;
  paper_table *table =
      paper_add_table(out, "Section 5.2.1: bits in the order that Givargis's heuristic takes them");
  for (int i = 0; i < 2; i++) {
    bank_trace t = accesses_of(a, &programs[5 + i]);
    add_bits(table, arena_printf(a, "%s, ", programs[5 + i].name), &t, BITS_GIVARGIS, ADDRESS_BITS,
             BANK_BITS, published[i]);
  }
  table = paper_add_table(out, "Figure 6: bits that the minimum imbalance heuristic takes for 27, "
                               "12, 6, 19, 11, 4, 28, 3");
  bank_trace t = {0};
  bank_trace_add(a, &t, 8, (uint64_t[]){27, 12, 6, 19, 11, 4, 28, 3});
  add_bits(table, "", &t, BITS_MIH, 5, 3, (int[]){0, 3, 4});
}

// ---- Tables 5 and 6 ----------------------------------------------------------------------------

// Parameters of Table 5 for programs that are here. Of 22 programs hashes leave conflicts in two,
// which are not among them (section 7.1).
typedef struct row_5 {
  int program;
  bit_vector vector;
  uint64_t mih[BANK_BITS];
} row_5;

#define TWO(i, j) (UINT64_C(1) << (i) | UINT64_C(1) << (j))
#define BIT(i) (UINT64_C(1) << (i))
static const row_5 table_5[] = {
    {0, {0, 4, 14}, {BIT(0), BIT(4), TWO(1, 5), TWO(2, 6), TWO(3, 7)}},
    {2, {0, 5, 7}, {TWO(2, 7), TWO(1, 6), TWO(0, 5), BIT(4), BIT(3)}},
    {3, {0, 2, 31}, {TWO(0, 2), TWO(0, 3), TWO(0, 4), TWO(0, 5), TWO(1, 6)}},
};

static f2_matrix bank_of(bit_vector h) {
  f2_matrix bank = f2_zero(BANK_BITS, ADDRESS_BITS);
  for (int i = 0; i < BANK_BITS; i++)
    bank.row[i] = BIT((int)h.k1 + i) ^ (f2_bit(h.mask, i) ? BIT((int)h.k2 + i) : 0);
  return bank;
}

static void add_table_5(paper_tables *out) {
  static const char *const kinds[] = {"bit-vector-xor", "bitwise-xor-mih"};
  arena *a = out->memory;
  paper_table *table =
      paper_add_table(out, "Table 5: conflicts that are left with the paper's parameters");
  for (size_t i = 0; i < sizeof table_5 / sizeof *table_5; i++) {
    const row_5 *row = &table_5[i];
    const program *p = &programs[row->program];
    bank_trace t = accesses_of(a, p);
    for (int k = 0; k < 2; k++) {
      f2_matrix bank = k ? f2_from_rows(BANK_BITS, ADDRESS_BITS, row->mih) : bank_of(row->vector);
      bank_layout_request r = {.banks = BANKS, .words = WORDS};
      bank_layout l = *layout_of(a, "raw", NULL);
      bank_layout_from_bank(&l, &r, bank);
      paper_add(table, 0, conflicts_of(a, &l, &t), "%s, %s", p->name, kinds[k])->note =
          bank_layout_bits_text(a, bank);
    }
  }
}

static const struct {
  const char *name;
  double published;  // Table 6: % of conflicts removed, over the paper's 22 programs
} hashes[] = {{"fixed-xor", 86},        {"bit-vector", NAN}, {"bit-vector-xor", 96},
              {"bitwise-givargis", 49}, {"bitwise-mih", 47}, {"bitwise-xor-givargis", 88},
              {"bitwise-xor-mih", 97},  {"optimal", NAN}};
enum { HASHES = sizeof hashes / sizeof *hashes };

static void add_table_6(paper_tables *out) {
  arena *a = out->memory;
  double before[PROGRAMS], after[HASHES][PROGRAMS];
  paper_table *table = paper_add_table(out, "Bank conflicts with each hash, by program");
  for (int p = 0; p < PROGRAMS; p++) {
    bank_trace t = accesses_of(a, &programs[p]);
    before[p] = conflicts_of(a, layout_of(a, "raw", NULL), &t);
    for (int h = 0; h < HASHES; h++) {
      bank_layout *l = layout_of(a, hashes[h].name, &t);
      after[h][p] = conflicts_of(a, l, &t);
      paper_add(table, NAN, after[h][p], "%s, %s", programs[p].name, hashes[h].name)->note =
          arena_printf(a, "of %.0f; %s", before[p], l->parameters);
    }
  }
  table = paper_add_table(out, "Table 6: bank conflicts removed, %%, of the programs above; the "
                               "paper's are means over 22 others");
  for (int h = 0; h < HASHES; h++) {
    double mean = 0, all = 0, left = 0;
    for (int p = 0; p < PROGRAMS; p++) {
      mean += 100 * (1 - after[h][p] / before[p]) / PROGRAMS;
      all += before[p];
      left += after[h][p];
    }
    paper_cell *c =
        paper_add(table, hashes[h].published, 100 * (1 - left / all), "%s", hashes[h].name);
    c->tolerance = INFINITY;
    c->note = arena_printf(a, "%.0f of %.0f left; mean over programs %.1f", left, all, mean);
  }
}

void paper_hash(paper_tables *out, uint64_t trials) {
  (void)trials;  // nothing here is random
  add_table_1(out);
  add_degrees(out);
  add_search(out);
  add_heuristics(out);
  add_table_5(out);
  add_table_6(out);
}
