// Bank layouts: that they are layouts, what their C text computes, the searches of the Hash paper
// on its own examples, and what optimal promises.
#include "core/random.h"
#include "kernels/banks/search.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <unistd.h>

static arena memory;

static bank_layout *make(const char *name, uint32_t banks, uint64_t words,
                         const bank_trace *accesses) {
  const char *wrong;
  bank_layout_request r = {.banks = banks, .words = words, .accesses = accesses, .seed = 7};
  bank_layout *l = bank_layout_make(&memory, bank_layout_kind_named(name), &r, &wrong);
  if (!l)
    printf("%s: %s\n", name, wrong);
  CHECK(l != NULL);
  return l;
}

// Addresses offset + stride * (t mod width) + rows * (t / width).
static void add_block(bank_trace *t, uint32_t count, uint64_t offset, uint64_t stride,
                      uint32_t width, uint64_t rows) {
  uint64_t address[BANK_LANES_MAX];
  bank_pattern p = {PATTERN_BLOCK, offset, (int64_t)stride, (int64_t)rows, width};
  for (uint32_t i = 0; i < count; i++)
    address[i] = pattern_address(&p, i);
  bank_trace_add(&memory, t, count, address);
}

static void add_stride(bank_trace *t, uint32_t count, uint64_t stride) {
  add_block(t, count, 0, stride, count, 0);
}

// ---- congestion and traces ---------------------------------------------------------------------

TEST(congestion_of_the_header) {
  bank_counter *c = bank_counter_new(&memory, 4, BANK_LANES_MAX),
               *three = bank_counter_new(&memory, 3, BANK_LANES_MAX);
  CHECK_EQ_U64(bank_congestion(c, 4, (uint64_t[]){4, 5, 6, 7}), 1);
  CHECK_EQ_U64(bank_congestion(c, 4, (uint64_t[]){1, 5, 9, 13}), 4);
  CHECK_EQ_U64(bank_congestion(c, 4, (uint64_t[]){5, 5, 5, 5}), 1);
  CHECK_EQ_U64(bank_congestion(c, 4, (uint64_t[]){7, 5, 15, 0}), 2);
  CHECK_EQ_U64(bank_congestion(c, 4, (uint64_t[]){BANK_IDLE, 1, 5, 1}), 2);
  bank_request r = bank_request_of(4, (uint64_t[]){0, 1, 10, 6}),
               s = bank_request_of(4, (uint64_t[]){BANK_IDLE, 9, 14, 8});
  CHECK_EQ_U64(bank_request_groups(c, &r), 3);
  CHECK_EQ_U64(bank_request_groups(c, &s), 2);
  CHECK_EQ_U64(bank_congestion(three, 4, (uint64_t[]){0, 3, 6, 1}), 3);
}

TEST(congestion_against_a_count_by_definition) {
  uint64_t state = 3, place[BANK_LANES_MAX];
  for (int round = 0; round < 300; round++) {
    uint32_t w = 1 + draw_below(&state, 70), count = 1 + draw_below(&state, 200), most = 0;
    for (uint32_t i = 0; i < count; i++)
      place[i] = draw_below(&state, 1 + (uint32_t)round);
    for (uint32_t b = 0; b < w; b++) {
      uint32_t words = 0;
      for (uint32_t p = b; p <= (uint32_t)round; p += w)
        for (uint32_t i = 0; i < count; i++)
          if (place[i] == p) {
            words++;
            break;
          }
      most = words > most ? words : most;
    }
    arena own = {0};
    CHECK_EQ_U64(bank_congestion(bank_counter_new(&own, w, BANK_LANES_MAX), count, place), most);
    arena_free(&own);
  }
}

TEST(distinct_accesses) {
  bank_trace t = {0};
  bank_trace_add(&memory, &t, 3, (uint64_t[]){8, 9, 8});
  bank_trace_add(&memory, &t, 2, (uint64_t[]){17, 16});
  bank_trace_add(&memory, &t, 2, (uint64_t[]){1, 2});
  CHECK_EQ_U64(t.words, 18);
  CHECK_EQ_U64(t.lanes, 3);
  bank_trace d = bank_trace_distinct(&memory, &t);
  REQUIRE(d.accesses.count == 2);
  CHECK_EQ_U64(d.accesses.items[0].times, 2);  // {0, 1}
  CHECK_EQ_U64(d.accesses.items[0].address[1], 1);
  CHECK_EQ_U64(d.accesses.items[1].times, 1);  // {0, 3}
  CHECK_EQ_U64(d.accesses.items[1].address[1], 3);
}

TEST(accesses_of_vectors) {
  bank_trace t = {0};
  bank_trace_add_vectors(&memory, &t, 5, 2, (uint64_t[]){8, 1});
  bank_trace_add_vectors(&memory, &t, 7, 0, NULL);
  REQUIRE(t.accesses.count == 2 && t.accesses.items[0].count == 4);
  CHECK(memcmp(t.accesses.items[0].address, (uint64_t[]){5, 13, 4, 12}, 32) == 0);
  CHECK_EQ_U64(t.accesses.items[1].count, 1);
  CHECK_EQ_U64(t.words, 14);
}

// ---- patterns ----------------------------------------------------------------------------------

// But for the offset.
static bool pattern_equal(const bank_pattern *p, const bank_pattern *q) {
  return p->class == q->class && p->stride == q->stride && p->rows == q->rows &&
         (p->class != PATTERN_BLOCK || p->width == q->width);
}

TEST(patterns) {
  static const struct {
    uint32_t count;
    uint64_t address[8];
    bank_pattern p;
  } rows[] = {
      {4, {16, 17, 18, 19}, {PATTERN_LINEAR, 16, 1, 0, 4}},
      {4, {16, 20, 24, 28}, {PATTERN_STRIDE, 16, 4, 0, 4}},
      {4, {9, 7, 5, 3}, {PATTERN_STRIDE, 9, -2, 0, 4}},
      {3, {5, 5, 5}, {PATTERN_STRIDE, 5, 0, 0, 3}},
      {8, {0, 1, 2, 3, 32, 33, 34, 35}, {PATTERN_BLOCK, 0, 1, 32, 4}},
      {6, {0, 16, 1, 17, 2, 18}, {PATTERN_BLOCK, 0, 16, 1, 2}},
      {7, {5, 5, 6, 6, 7, 7, 8}, {PATTERN_BLOCK, 5, 0, 1, 2}},
      {4, {9, 2, 17, 2}, {PATTERN_RANDOM, 9, 0, 0, 4}},
      {3, {0, 1, 77}, {PATTERN_RANDOM, 0, 0, 0, 3}},
      {8, {0, 1, 2, 3, 32, 33, 34, 36}, {PATTERN_RANDOM, 0, 0, 0, 8}},
      {1, {5}, {PATTERN_LINEAR, 5, 1, 0, 1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bank_pattern p = pattern_of(rows[i].count, rows[i].address);
    CHECK_STR(pattern_class_names[p.class], pattern_class_names[rows[i].p.class]);
    CHECK_EQ_U64(p.offset, rows[i].p.offset);
    CHECK(pattern_equal(&p, &rows[i].p));
    for (uint32_t t = 0; t < rows[i].count && p.class != PATTERN_RANDOM; t++)
      CHECK_EQ_U64(pattern_address(&p, t), rows[i].address[t]);
  }
}

// ---- all layouts -------------------------------------------------------------------------------

static const uint32_t widths[] = {1, 2, 4, 32, 24, 7};
static const uint64_t sizes[] = {1, 3, 32, 100, 1024, 5000};

// Every place is another word's, below l->places; the matrix, where there is one, says the same.
static void check_layout(const bank_layout *l) {
  unsigned char *taken = calloc(l->places, 1);
  f2_matrix a = l->matrix, inverse;
  bool linear = l->form == BANK_LAYOUT_LINEAR, good = taken != NULL;
  for (uint64_t x = 0; x < l->words && good; x++) {
    uint64_t p = bank_layout_place(l, x);
    good = p < l->places && !taken[p] && (!linear || f2_apply(a, x) == p);
    if (good)
      taken[p] = 1;
  }
  CHECK(!linear || !taken || taken[l->places - 1]);
  if (!CHECK(good))
    printf("%s, %u banks, %llu words\n", l->kind->name, l->banks, (unsigned long long)l->words);
  if (linear) {
    CHECK(f2_matrix_problem(a) == NULL);
    CHECK(f2_inverse(a, &inverse));
  }
  free(taken);
}

TEST(every_layout_is_one) {
  const bank_layout_kind *k;
  for (size_t i = 0; (k = bank_layout_kind_at(i)) != NULL; i++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const char *wrong;
        bank_layout_request r = {.banks = widths[w], .words = sizes[s], .seed = 1};
        bank_layout *l = bank_layout_make(&memory, k, &r, &wrong);
        bool power = (widths[w] & (widths[w] - 1)) == 0;
        bool possible = power || k->form != BANK_LAYOUT_LINEAR || strcmp(k->name, "raw") == 0;
        CHECK((l != NULL) == possible);
        if (l)
          check_layout(l);
        else
          CHECK_CONTAINS(wrong, "needs a power of two of banks, not ");
      }
}

TEST(names_are_found_in_either_case) {
  CHECK(bank_layout_kind_named("rap") == bank_layout_kind_named("RAP"));
  CHECK(bank_layout_kind_named("1PW2R") == bank_layout_kind_named("1Pw2R"));
  CHECK(bank_layout_kind_named("none") == NULL);
  CHECK(bank_layout_kind_named(BANK_LAYOUT_DEFAULT) != NULL);
}

TEST(seeds_behind_names) {
  static const char *const wrong[] = {"RAP:",
                                      "RAP:x",
                                      "RAP:7x",
                                      "RAP:-1",
                                      "RAP:18446744073709551616",
                                      "RAP:99999999999999999999999",
                                      "raw:7",
                                      "optimal:1",
                                      "foo:1"};
  uint64_t seed;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK(bank_layout_kind_and_seed(wrong[i], &seed) == NULL);
  CHECK(bank_layout_kind_and_seed("raw", &seed) == bank_layout_kind_named("raw"));
  CHECK_EQ_U64(seed, 1);
  CHECK(bank_layout_kind_and_seed("rap:18446744073709551615", &seed) ==
        bank_layout_kind_named("RAP"));
  CHECK_EQ_U64(seed, UINT64_MAX);
}

TEST(what_is_no_memory) {
  const char *wrong;
  bank_layout_request r = {.words = 10, .seed = 1};
  CHECK(!bank_layout_make(&memory, bank_layout_kind_named("raw"), &r, &wrong));
  CHECK_STR(wrong, "a memory has 1 to 1024 banks, not 0");
  r = (bank_layout_request){.banks = 32, .seed = 1};
  CHECK(!bank_layout_make(&memory, bank_layout_kind_named("raw"), &r, &wrong));
  CHECK_STR(wrong, "an array has 1 to 2^48 words, not 0");
  bank_trace t = {0};
  add_stride(&t, 32, 2);
  r = (bank_layout_request){.banks = 32, .words = 62, .accesses = &t, .seed = 1};
  CHECK(!bank_layout_make(&memory, bank_layout_kind_named("optimal"), &r, &wrong));
  CHECK_STR(wrong, "an array of 62 words has no address 62");
  r = (bank_layout_request){.banks = 32, .words = UINT64_C(1) << 40, .seed = 1};
  CHECK(!bank_layout_make(&memory, bank_layout_kind_named("RAS"), &r, &wrong));
  CHECK_STR(wrong, "RAS of 1099511627776 words needs 34359738368 random numbers, more than 2^26");
}

TEST(the_seed_decides) {
  bank_layout *a = make("RAP", 32, 1024, NULL), *b = make("RAP", 32, 1024, NULL);
  CHECK(memcmp(a->term[0].shift, b->term[0].shift, 64) == 0);
  const char *wrong;
  bank_layout *c = bank_layout_for_data(&memory, 32, 1024, 8, &wrong);
  REQUIRE(c != NULL);
  CHECK_STR(c->kind->name, "RAP");
  CHECK(memcmp(a->term[0].shift, c->term[0].shift, 64) != 0);
  CHECK_STR(c->parameters, "seed 8, 32 random numbers");
}

// RAP paper, Table IV, last row.
TEST(random_numbers_of_w4_words) {
  static const struct {
    const char *name;
    uint64_t count;
  } rows[] = {{"RAS", 4096}, {"1P", 16}, {"R1P", 16}, {"3P", 48}, {"w2P", 4096}, {"1Pw2R", 272}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_EQ_U64(bank_layout_random_numbers(make(rows[i].name, 16, 65536, NULL)), rows[i].count);
}

// The paper's Figure 6: r = (2, 0, 3, 1), a[10] goes to a[9].
TEST(rap_figure_6) {
  bank_layout *l = make("RAP", 4, 16, NULL);
  memcpy(l->term[0].shift, (uint16_t[]){2, 0, 3, 1}, 4 * sizeof(uint16_t));
  CHECK_EQ_U64(bank_layout_place(l, 10), 9);
  CHECK_EQ_U64(bank_layout_place(l, 10) % l->banks, 1);
}

// ---- C text ------------------------------------------------------------------------------------

// A library with place_N and bank_N for each layout, compiled by the system's compiler.
static void *compile(const text *source) {
  char folder[256], file[300], command[1200];
  const char *place = getenv("PERMC_TMP");
  snprintf(folder, sizeof folder, "%s/layout-XXXXXX", place ? place : "/tmp");
  if (!mkdtemp(folder))
    return NULL;
  snprintf(file, sizeof file, "%s/a.c", folder);
  FILE *to = fopen(file, "w");
  if (!to)
    return NULL;
  fwrite(source->data, 1, source->length, to);
  fclose(to);
  snprintf(command, sizeof command, "cc -Wall -Werror -shared -fPIC -O1 -o %s/a.so %s/a.c", folder,
           folder);
  void *library = NULL;
  if (system(command) == 0) {
    snprintf(file, sizeof file, "%s/a.so", folder);
    library = dlopen(file, RTLD_NOW);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  return library;
}

typedef unsigned long function(unsigned long);

// ISO C has no cast from dlsym's pointer to this.
static function *find(void *library, const char *what, size_t i) {
  char name[32];
  snprintf(name, sizeof name, "%s_%zu", what, i);
  function *f = NULL;
  *(void **)&f = dlsym(library, name);
  return f;
}

TEST(c_text_says_the_same) {
  bank_layout *all[64];
  size_t count = 0;
  text source = {0};
  bank_trace t = {0};
  add_stride(&t, 32, 6);
  add_block(&t, 32, 0, 1, 8, 64);
  const bank_layout_kind *k;
  for (size_t i = 0; (k = bank_layout_kind_at(i)) != NULL; i++)
    for (int odd = 0; odd < 2; odd++) {
      const char *wrong;
      bank_layout_request r = {
          .banks = odd ? 24 : 32, .words = 5000, .accesses = odd ? NULL : &t, .seed = i};
      bank_layout *l = bank_layout_make(&memory, k, &r, &wrong);
      if (!l)
        continue;
      char prefix[32];
      snprintf(prefix, sizeof prefix, "t%zu", count);
      bank_layout_print_tables(&source, l, "static const", prefix);
      text_printf(&source, "unsigned long place_%zu(unsigned long a) { return ", count);
      bank_layout_print_place(&source, l, prefix, "a");
      text_printf(&source, "; }\nunsigned long bank_%zu(unsigned long a) { return ", count);
      bank_layout_print_bank(&source, l, prefix, "a");
      text_string(&source, "; }\n");
      all[count++] = l;
    }
  void *library = compile(&source);
  text_free(&source);
  REQUIRE(library != NULL);
  for (size_t i = 0; i < count; i++) {
    function *place = find(library, "place", i), *bank = find(library, "bank", i);
    bool good = place && bank;
    for (uint64_t x = 0; x < all[i]->words && good; x++)
      good = place(x) == bank_layout_place(all[i], x) &&
             bank(x) == bank_layout_place(all[i], x) % all[i]->banks;
    if (!CHECK(good))
      printf("%s\n", all[i]->kind->name);
  }
  dlclose(library);
}

TEST(c_text_as_it_looks) {
  static const struct {
    const char *name, *place, *bank;
  } rows[] = {
      {"raw", "a", "(a & 0x1f)"},
      {"padding", "a + a / 32", "(a + a / 32) % 32"},
      {"fixed-xor", "a ^ (a >> 5 & 0x1f)", "(a & 0x1f) ^ (a >> 5 & 0x1f)"},
      {"optimal", "a ^ (a >> 5)", "(a & 0x1f) ^ (a >> 5)"},
      {"RAP", "a - a % 32 + (a + r_0[a / 32 % 32]) % 32", "(a + r_0[a / 32 % 32]) % 32"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    text place = {0}, bank = {0};
    bank_layout *l = make(rows[i].name, 32, i == 3 ? 1024 : 4096, NULL);
    if (strcmp(rows[i].name, "RAP") == 0)
      l->term_count = 1;
    bank_layout_print_place(&place, l, "r", "a");
    bank_layout_print_bank(&bank, l, "r", "a");
    CHECK_STR(place.data, rows[i].place);
    CHECK_STR(bank.data, rows[i].bank);
    text_free(&place);
    text_free(&bank);
  }
}

// ---- searches ----------------------------------------------------------------------------------

// Hash paper, Figure 6.
TEST(minimum_imbalance_figure_6) {
  bank_trace t = {0};
  uint64_t out[3];
  bank_trace_add(&memory, &t, 8, (uint64_t[]){27, 12, 6, 19, 11, 4, 28, 3});
  bank_trace d = bank_trace_distinct(&memory, &t);
  bits_choose(&memory, &d, BITS_MIH, 5, 3, out);
  CHECK_EQ_U64(out[0], 1 << 0);
  CHECK_EQ_U64(out[1], 1 << 3);
  CHECK_EQ_U64(out[2], 1 << 4);
}

// Hash paper, section 5.2.1.
TEST(givargis_on_the_papers_strides) {
  static const struct {
    uint64_t stride;
    int bits[5];
  } rows[] = {{45, {3, 4, 5, 6, 7}}, {13, {3, 4, 6, 5, 7}}};
  for (size_t i = 0; i < 2; i++) {
    bank_trace t = {0};
    uint64_t out[5];
    add_stride(&t, 32, 8);
    add_stride(&t, 32, rows[i].stride);
    bank_trace d = bank_trace_distinct(&memory, &t);
    bits_choose(&memory, &d, BITS_GIVARGIS, 14, 5, out);
    for (int b = 0; b < 5; b++)
      CHECK_EQ_U64(out[b], 1 << rows[i].bits[b]);
  }
}

// Hash paper, section 5.1: strides 4 and 6, 4,480 combinations, 188 of them after pruning.
TEST(pruned_search_tries_188_combinations) {
  bank_trace t = {0};
  bit_vector_range range;
  add_stride(&t, 32, 4);
  add_stride(&t, 32, 6);
  bank_trace d = bank_trace_distinct(&memory, &t);
  REQUIRE(bit_vector_pruned(&t, 14, 5, &range));
  CHECK_EQ_U64(range.k1, 0x6);
  CHECK_EQ_U64(range.k2_first, 1);
  CHECK_EQ_U64(range.k2_last, 7);
  bit_vector_search pruned = bit_vector_find(&d, range, 5);
  bit_vector_search all = bit_vector_find(&d, bit_vector_all(14, 5), 5);
  CHECK_EQ_U64(pruned.combinations, 188);
  CHECK_EQ_U64(all.combinations, 4480);
  CHECK_EQ_U64(pruned.conflicts, all.conflicts);
}

TEST(equal_strides_need_no_mask) {
  bank_trace t = {0};
  add_stride(&t, 32, 8);
  add_stride(&t, 32, 24);
  bank_layout *l = make("bit-vector-xor", 32, 1 << 14, &t);
  CHECK_CONTAINS(l->parameters, "k1 = 3, ");
  CHECK_CONTAINS(l->parameters, "mask = 0;");
  CHECK_STR(make("bit-vector", 32, 1 << 14, &t)->parameters, "k = 3");
}

// The distinct bank bits of a bit-vector XOR are independent, whatever its parameters.
TEST(searches_never_leave_a_bank_empty) {
  uint64_t state = 5;
  for (int round = 0; round < 60; round++) {
    bank_trace t = {0};
    uint64_t address[32];
    uint32_t count = 1 + draw_below(&state, 32);
    for (int i = 0; i < 3; i++) {
      for (uint32_t k = 0; k < count; k++)
        address[k] = draw_below(&state, round < 30 ? 8 : 1000);
      bank_trace_add(&memory, &t, count, address);
    }
    for (size_t i = 0; bank_layout_kind_at(i); i++)
      if (bank_layout_kind_at(i)->searches)
        check_layout(make(bank_layout_kind_at(i)->name, 16, 1024, &t));
  }
}

// ---- optimal -----------------------------------------------------------------------------------

static void add_subspace(bank_trace *t, f2_space v, uint64_t offset) {
  bank_trace_add_vectors(&memory, t, offset, v.dimension, v.basis);
}

static f2_space random_subspace(uint64_t *state, int n, int dimension) {
  f2_space v = f2_space_zero(n);
  while (v.dimension < dimension)
    f2_space_insert(&v, draw_word(state) & f2_mask(n));
  return v;
}

TEST(optimal_is_free_of_conflicts_for_any_two_subspaces) {
  uint64_t state = 11;
  bank_counter *c = bank_counter_new(&memory, 32, BANK_LANES_MAX);
  for (int round = 0; round < 200; round++) {
    int n = 5 + (int)draw_below(&state, 9);
    bank_trace t = {0};
    add_subspace(&t, random_subspace(&state, n, (int)draw_below(&state, 6)), 0);
    add_subspace(&t, random_subspace(&state, n, 5), draw_word(&state) & f2_mask(n));
    bank_layout *l = make("optimal", 32, f2_unit(n), &t);
    CHECK_EQ_U64(bank_layout_cost(l, c, &t).worst, 1);
    CHECK_CONTAINS(l->parameters, "a common complement");
  }
}

// Rows, columns, diagonals by XOR and blocks of 4 x 8: more than two, found by folding.
TEST(optimal_folds_for_more) {
  bank_trace t = {0};
  bank_counter *c = bank_counter_new(&memory, 32, BANK_LANES_MAX);
  add_stride(&t, 32, 1);
  add_stride(&t, 32, 32);
  add_block(&t, 32, 0, 1, 8, 32);
  add_block(&t, 32, 0, 1, 4, 32);
  add_block(&t, 32, 0, 32, 4, 1);
  add_stride(&t, 32, 8);
  bank_layout *l = make("optimal", 32, 1024, &t);
  CHECK_EQ_U64(bank_layout_cost(l, c, &t).worst, 1);
  CHECK(strstr(l->parameters, "; no conflict") != NULL);
}

// No bank map of 4 banks is one-to-one on all 2-dimensional subspaces of F_2^3: it says so.
TEST(optimal_counts_what_it_could_not_avoid) {
  bank_trace t = {0};
  for (uint64_t a = 1; a < 8; a++)
    for (uint64_t b = a + 1; b < 8; b++)
      bank_trace_add(&memory, &t, 4, (uint64_t[]){0, a, b, a ^ b});
  bank_layout *l = make("optimal", 4, 8, &t);
  bank_cost cost = bank_layout_cost(l, bank_counter_new(&memory, 4, BANK_LANES_MAX), &t);
  char expected[64];
  CHECK(bank_conflicts(cost) > 0);
  snprintf(expected, sizeof expected, "; %llu conflicts were left",
           (unsigned long long)bank_conflicts(cost));
  CHECK_CONTAINS(l->parameters, expected);
}

// Strides, diagonals and random addresses, which folding alone does not always serve best.
static bank_trace of_all_kinds(uint64_t *state, uint32_t banks, uint32_t words) {
  bank_trace t = {0};
  for (uint64_t left = 1 + draw_below(state, 40); left; left--) {
    uint64_t address[32], stride = 1 + draw_below(state, 60), kind = draw_below(state, 3);
    for (uint64_t j = 0; j < banks; j++)
      address[j] = kind == 0   ? j * stride % words
                   : kind == 1 ? (banks * j + (left + stride * j) % banks) % words
                               : draw_below(state, words);
    bank_trace_add(&memory, &t, banks, address);
  }
  return t;
}

TEST(no_linear_layout_has_fewer_conflicts_than_optimal) {
  uint64_t state = 23, others = 0;
  for (int round = 0; round < 100; round++) {
    uint32_t banks = UINT32_C(4) << draw_below(&state, 4), words = UINT32_C(64)
                                                                   << draw_below(&state, 9);
    bank_trace t = of_all_kinds(&state, banks, words);
    bank_counter *c = bank_counter_new(&memory, banks, BANK_LANES_MAX);
    const bank_layout *l = make("optimal", banks, words, &t);
    uint64_t own = bank_conflicts(bank_layout_cost(l, c, &t));
    const bank_layout_kind *kind;
    others += strstr(l->parameters, "; as ") != NULL;
    for (size_t i = 0; (kind = bank_layout_kind_at(i)); i++)
      if (kind->form == BANK_LAYOUT_LINEAR)
        CHECK(own <= bank_conflicts(bank_layout_cost(make(kind->name, banks, words, &t), c, &t)));
  }
  CHECK(others > 0 && others < 50);
}

// Strides 4 and 6 (Hash paper, section 5.1): their 5 bank bits are a quotient of bits 1 to 7 by a
// plane. Of all planes none is without a conflict, so the one that every search leaves is least.
TEST(strides_4_and_6_leave_a_conflict_under_every_linear_layout) {
  bank_trace t = {0};
  uint64_t least = UINT64_MAX;
  bank_counter *c = bank_counter_new(&memory, 32, BANK_LANES_MAX);
  add_stride(&t, 32, 4);
  add_stride(&t, 32, 6);
  for (uint64_t v = 2; v < 256; v += 2)
    for (uint64_t x = v + 2; x < 256; x += 2) {
      f2_space k = f2_span(8, 3, (uint64_t[]){1, v, x});
      f2_space rows = f2_space_orthogonal(k);
      bank_layout_request r = {.banks = 32, .words = 256};
      bank_layout l = {.banks = 32, .words = 256};
      bank_layout_from_bank(&l, &r, f2_from_rows(5, 8, rows.basis));
      uint64_t conflicts = bank_conflicts(bank_layout_cost(&l, c, &t));
      least = conflicts < least ? conflicts : least;
    }
  CHECK_EQ_U64(least, 1);
  CHECK_EQ_U64(bank_conflicts(bank_layout_cost(make("optimal", 32, 256, &t), c, &t)), 1);
}

// ---- large traces ------------------------------------------------------------------------------

static bank_trace random_trace(size_t accesses, uint32_t count, uint32_t words) {
  uint64_t state = 5, address[BANK_LANES_MAX];
  bank_trace t = {0};
  for (size_t i = 0; i < accesses; i++) {
    for (uint32_t k = 0; k < count; k++)
      address[k] = draw_below(&state, words);
    bank_trace_add(&memory, &t, count, address);
  }
  return t;
}

TEST(searches_look_at_no_more_than_their_work) {
  bank_trace t = random_trace(100, 64, 1 << 20);
  const uint64_t many = BANK_LAYOUT_WORK / (64 * 10);
  bank_trace all = bank_layout_thinned(&memory, &t, (bank_layout_work){1, 1, 1});
  CHECK_EQ_U64(all.accesses.count, 100);
  CHECK_STR(bank_layout_thinned_text(&memory, "k = 1", &t, &all), "k = 1");
  bank_trace few = bank_layout_thinned(&memory, &t, (bank_layout_work){.address = many});
  CHECK_EQ_U64(few.accesses.count, 10);
  CHECK(few.accesses.items[3].address == t.accesses.items[30].address);
  CHECK_STR(bank_layout_thinned_text(&memory, "k = 1", &t, &few),
            "k = 1; searched 10 of 100 different accesses");
  few = bank_layout_thinned(&memory, &t,
                            (bank_layout_work){.pair = BANK_LAYOUT_WORK / (64 * 63 / 2 * 4)});
  CHECK_EQ_U64(few.accesses.count, 4);
  few = bank_layout_thinned(&memory, &t,
                            (bank_layout_work){.access = BANK_LAYOUT_WORK, .address = 1});
  REQUIRE(few.accesses.count == 1);
  CHECK_EQ_U64(few.accesses.items[0].count, 2);
  few = bank_layout_thinned(&memory, &t, (bank_layout_work){.address = BANK_LAYOUT_WORK / 16});
  REQUIRE(few.accesses.count == 1);
  CHECK_EQ_U64(few.accesses.items[0].count, 16);
  CHECK(few.accesses.items[0].address[1] == t.accesses.items[0].address[4]);
  CHECK_STR(bank_layout_thinned_text(&memory, "k = 1", &t, &few),
            "k = 1; searched a part of 1 of 100 different accesses");
}

// Each of these took 20 seconds and more.
TEST(searches_of_large_traces_end) {
  bank_trace t = random_trace(1500, 1024, 1 << 20);
  bank_layout *l = make("bit-vector-xor", 256, 1 << 20, &t);
  CHECK_CONTAINS(l->parameters, " of 1500 different accesses");
  CHECK_STR(make("bit-vector-xor", 256, 1 << 20, &t)->parameters, l->parameters);
  CHECK_CONTAINS(make("optimal", 32, 1 << 20, &t)->parameters, " of 1500 different accesses");
}

TEST(one_bank_has_no_bits) {
  bank_trace t = random_trace(2, 2, 64);
  CHECK_STR(make("fixed-xor", 1, 64, NULL)->parameters, "none");
  CHECK_STR(make("bitwise-mih", 1, 64, &t)->parameters, "none");
  CHECK_STR(make("RAS", 1, 1, NULL)->parameters, "seed 7, 1 random number");
}

static int finish(int status) {
  arena_free(&memory);
  return status;
}

int main(int argc, char **argv) { return finish(test_main(argc, argv)); }
