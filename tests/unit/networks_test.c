// Every sorter, merger and selection of the library on all inputs of zeros and ones up to 16 lines:
// by the 0-1 principle (Knuth, The Art of Computer Programming, volume 3, section 5.3.4, theorem Z)
// a network that is right on these is right on all. Then what the principle does not cover: that
// elements of every type are moved to the bit, also under `padded`.
#include "tests/unit/api.h"

#include <math.h>

// ---- zeros and ones --------------------------------------------------------------------------

// A function of rows, mapped over all of them in one run.
static permc_context *mapped(const char *function) {
  char text[300];
  snprintf(text, sizeof text, "map (%s)", function);
  return load_expression(text);
}

// All rows of so many zeros and ones: bit k of the row's number is its element k.
static uint8_t *all_rows(size_t lines) {
  size_t rows = (size_t)1 << lines;
  uint8_t *in = malloc(rows * lines + 1);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < lines; k++)
      in[i * lines + k] = i >> k & 1;
  return in;
}

static size_t ones(const uint8_t *row, size_t lines) {
  size_t count = 0;
  for (size_t k = 0; k < lines; k++)
    count += row[k];
  return count;
}

static void fill_row(uint8_t *row, size_t lines, size_t one_count, bool ones_first) {
  for (size_t k = 0; k < lines; k++)
    row[k] = ones_first ? k < one_count : k >= lines - one_count;
}

// `kept` elements of each of the rows, in order.
static void check_selection(const char *function, const char *type, size_t rows, size_t lines,
                            size_t kept, const uint8_t *in, bool ones_first) {
  uint8_t *expected = malloc(rows * kept + 1);
  for (size_t i = 0; i < rows; i++) {
    size_t count = ones(in + i * lines, lines);
    size_t left = ones_first ? count : count > lines - kept ? count - (lines - kept) : 0;
    fill_row(expected + i * kept, kept, left < kept ? left : kept, ones_first);
  }
  permc_context *c = mapped(function);
  permc_value *out = run_value(c, "-e", value_2(type, rows, lines, in));
  if (!check_2(out, 0, type, rows, kept, expected))
    printf("%s, %zu lines\n", function, lines);
  permc_value_free(out);
  permc_context_free(c);
  free(expected);
}

static void check_all_rows(const char *function, const char *type, size_t lines, bool ones_first) {
  uint8_t *in = all_rows(lines);
  check_selection(function, type, (size_t)1 << lines, lines, lines, in, ones_first);
  free(in);
}

// The largest number of lines; valgrind is slow.
static size_t most_lines(void) { return slower() == 1 ? 16 : 8; }

typedef struct sorter {
  const char *function;
  bool descending;
} sorter;

static const sorter sorters[] = {
    {"sort", false},
    {"sort_desc", true},
    {"sort_by (<=)", false},
    {"sort_by (<)", false},
    {"sort_by total_le", false},
    {"sort_by (>=)", true},
    {"sort_by (\\x y -> y <= x)", true},
    {"sort_on id", false},
    {"sort_on (\\x -> 200 - x)", true},
    {"sort_stable_on id", false},
    {"sort_stable_on (\\x -> 1 - x)", true},
    {"balanced_sort", false},
    {"periodic_sort", false},
    {"bitonic_sort", false},
    {"odd_even_sort", false},
    {"\\xs -> map fst (sort_on snd (zip xs (ranks xs)))", false},
};

TEST(sorters) {
  for (size_t s = 0; s < sizeof sorters / sizeof *sorters; s++)
    for (size_t lines = 1; lines <= most_lines(); lines *= 2)
      check_all_rows(sorters[s].function, "u8", lines, sorters[s].descending);
}

TEST(sorters_of_bool) {
  static const sorter of_bool[] = {{"sort", false},          {"sort_desc", true},
                                   {"sort_on not", true},    {"sort_by (<=)", false},
                                   {"balanced_sort", false}, {"odd_even_sort", false}};
  for (size_t s = 0; s < sizeof of_bool / sizeof *of_bool; s++)
    for (size_t lines = 1; lines <= most_lines(); lines *= 2)
      check_all_rows(of_bool[s].function, "bool", lines, of_bool[s].descending);
}

// Every length, not only powers of two.
TEST(padded_sorters) {
  static const sorter padded[] = {{"padded maxval sort", false},
                                  {"padded minval sort_desc", true},
                                  {"padded 1 sort", false},
                                  {"padded 0 sort_desc", true},
                                  {"padded maxval balanced_sort", false},
                                  {"padded maxval periodic_sort", false},
                                  {"padded maxval bitonic_sort", false},
                                  {"padded maxval odd_even_sort", false},
                                  {"padded 1 (sort_by (<=))", false},
                                  {"padded 1 (sort_stable_on id)", false}};
  for (size_t s = 0; s < sizeof padded / sizeof *padded; s++)
    for (size_t lines = 1; lines <= (slower() == 1 ? 13 : 6); lines++)
      check_all_rows(padded[s].function, "u8", lines, padded[s].descending);
}

TEST(programs_own_sorters) {
  static const char *const paths[] = {"tests/programs/paper_sort.perm",
                                      "tests/programs/bitonic_rows.perm"};
  static const char *const functions[] = {"map (map u8 . main . map i32)", "main"};
  for (size_t lines = 1; lines <= most_lines(); lines *= 2)
    for (int p = 0; p < 2; p++) {
      size_t rows = (size_t)1 << lines;
      uint8_t *in = all_rows(lines), *expected = malloc(rows * lines);
      for (size_t i = 0; i < rows; i++)
        fill_row(expected + i * lines, lines, ones(in + i * lines, lines), false);
      permc_context *c = load_file(paths[p]);
      if (c != NULL)
        CHECK(permc_define(c, functions[p]));
      permc_value *out = run_value(c, "-e", value_2("u8", rows, lines, in));
      check_2(out, 0, "u8", rows, lines, expected);
      permc_value_free(out);
      permc_context_free(c);
      free(in);
      free(expected);
    }
}

TEST(selections) {
  for (size_t lines = 1; lines <= most_lines(); lines *= 2) {
    uint8_t *in = all_rows(lines);
    for (size_t k = 1; k <= lines; k *= 2) {
      static const sorter by[] = {{"top_k %zu", true},
                                  {"bottom_k %zu", false},
                                  {"top_k_by (>=) %zu", true},
                                  {"top_k_by (\\x y -> total_le x y) %zu", false},
                                  {"take %zu . sort", false}};
      for (size_t s = 0; s < sizeof by / sizeof *by; s++) {
        char function[100];
        snprintf(function, sizeof function, by[s].function, k);
        check_selection(function, "u8", (size_t)1 << lines, lines, k, in, by[s].descending);
      }
    }
    free(in);
  }
}

// ---- mergers ---------------------------------------------------------------------------------

// Rows whose two halves are sorted, with all numbers of ones in each.
static uint8_t *sorted_halves(size_t lines, size_t *rows) {
  size_t half = lines / 2, next = 0;
  *rows = (half + 1) * (half + 1);
  uint8_t *in = malloc(*rows * lines);
  for (size_t low = 0; low <= half; low++)
    for (size_t high = 0; high <= half; high++, next += lines) {
      fill_row(in + next, half, low, false);
      fill_row(in + next + half, half, high, false);
    }
  return in;
}

TEST(mergers_of_halves) {
  static const char *const mergers[] = {"merge",
                                        "merge_by (<=)",
                                        "merge_by total_le",
                                        "odd_even_merge",
                                        "balanced_merge . shuffle",
                                        "\\xs -> merge_sorted (take (length xs / 2) xs) "
                                        "(drop (length xs / 2) xs)"};
  for (size_t m = 0; m < sizeof mergers / sizeof *mergers; m++)
    for (size_t lines = 2; lines <= 64; lines *= 2) {
      size_t rows;
      uint8_t *in = sorted_halves(lines, &rows);
      check_selection(mergers[m], "u8", rows, lines, lines, in, false);
      free(in);
    }
}

TEST(mergers_of_one_element) {
  static const char *const mergers[] = {"merge", "merge_by (<=)", "odd_even_merge",
                                        "balanced_merge", "bitonic_merge"};
  for (size_t m = 0; m < sizeof mergers / sizeof *mergers; m++)
    check_all_rows(mergers[m], "u8", 1, false);
}

TEST(merge_downwards) {
  for (size_t lines = 2; lines <= 64; lines *= 2) {
    size_t rows;
    uint8_t *in = sorted_halves(lines, &rows);
    for (size_t i = 0; i < rows * lines; i++)
      in[i] = !in[i];
    check_selection("merge_by (>=)", "u8", rows, lines, lines, in, true);
    check_selection("merge_by (flip total_le)", "u8", rows, lines, lines, in, true);
    free(in);
  }
}

// All bitonic rows: a block of ones, or of zeros, anywhere.
TEST(bitonic_merge) {
  for (size_t lines = 1; lines <= 32; lines *= 2) {
    size_t rows = (lines + 1) * (lines + 1) * 2, next = 0;
    uint8_t *in = calloc(rows, lines);
    for (size_t from = 0; from <= lines; from++)
      for (size_t to = 0; to <= lines; to++)
        for (int inside = 0; inside < 2; inside++, next++)
          for (size_t k = 0; k < lines; k++)
            in[next * lines + k] = (uint8_t)((k >= from && k < to) == inside);
    check_selection("bitonic_merge", "u8", rows, lines, lines, in, false);
    free(in);
  }
}

static void check_merge_sorted(permc_context *c, size_t p, size_t q) {
  size_t rows = (p + 1) * (q + 1), row = 0;
  uint8_t *low = malloc(rows * p + 1), *high = malloc(rows * q + 1);
  uint8_t *expected = malloc(rows * (p + q) + 1);
  for (size_t i = 0; i <= p; i++)
    for (size_t k = 0; k <= q; k++, row++) {
      fill_row(low + row * p, p, i, false);
      fill_row(high + row * q, q, k, false);
      fill_row(expected + row * (p + q), p + q, i + k, false);
    }
  permc_value *in[2] = {value_2("u8", rows, p, low), value_2("u8", rows, q, high)};
  outcome out = run_values(c, "-e", in, 2);
  if (out.count == 1)
    check_2(out.values[0], 0, "u8", rows, p + q, expected);
  permc_values_free(out.values, out.count);
  free(low);
  free(high);
  free(expected);
}

TEST(merge_sorted_of_all_lengths) {
  permc_context *c = load_expression("zip_with merge_sorted");
  for (size_t p = 0; p <= 9; p++)
    for (size_t q = 0; q <= 9; q++)
      check_merge_sorted(c, p, q);
  permc_context_free(c);
}

// ---- indices ---------------------------------------------------------------------------------

// Zeros before ones, each from left to right.
static void stable_order(const uint8_t *row, size_t lines, int64_t *order) {
  size_t next = 0;
  for (uint8_t bit = 0; bit < 2; bit++)
    for (size_t k = 0; k < lines; k++)
      if (row[k] == bit)
        order[next++] = (int64_t)k;
}

static void check_indices(const char *function, size_t lines, bool inverse) {
  size_t rows = (size_t)1 << lines;
  uint8_t *in = all_rows(lines);
  int64_t *expected = malloc(rows * lines * sizeof *expected), order[16];
  for (size_t i = 0; i < rows; i++) {
    stable_order(in + i * lines, lines, order);
    for (size_t k = 0; k < lines; k++)
      expected[i * lines + (inverse ? (size_t)order[k] : k)] = inverse ? (int64_t)k : order[k];
  }
  permc_context *c = mapped(function);
  permc_value *out = run_value(c, "-e", value_2("u8", rows, lines, in));
  if (!check_2(out, 0, "i64", rows, lines, expected))
    printf("%s, %zu lines\n", function, lines);
  permc_value_free(out);
  permc_context_free(c);
  free(in);
  free(expected);
}

TEST(argsort_and_ranks) {
  for (size_t lines = 1; lines <= most_lines(); lines *= 2) {
    check_indices("argsort", lines, false);
    check_indices("ranks", lines, true);
    check_indices("\\xs -> map snd (sort_stable_on fst (zip xs (iota (length xs))))", lines, false);
  }
}

TEST(padded_argsort_and_ranks) {
  for (size_t lines = 1; lines <= (slower() < 10 ? 11 : 5); lines++) {
    check_indices("padded maxval argsort", lines, false);
    check_indices("padded 1 argsort", lines, false);
    check_indices("padded maxval ranks", lines, true);
  }
}

TEST(is_sorted) {
  permc_context *c = load_expression("\\xs -> (map is_sorted xs, map (is_sorted_by (>=)) xs)");
  for (size_t lines = 1; lines <= (slower() < 10 ? 12 : 6); lines++) {
    size_t rows = (size_t)1 << lines;
    uint8_t *in = all_rows(lines), *up = malloc(rows), *down = malloc(rows);
    for (size_t i = 0; i < rows; i++) {
      up[i] = down[i] = 1;
      for (size_t k = 1; k < lines; k++) {
        up[i] &= in[i * lines + k - 1] <= in[i * lines + k];
        down[i] &= in[i * lines + k - 1] >= in[i * lines + k];
      }
    }
    permc_value *argument = value_2("u8", rows, lines, in);
    outcome out = run_values(c, "-e", &argument, 1);
    if (CHECK_EQ_U64(out.count, 2)) {
      check_1(out.values[0], 0, "bool", rows, up);
      check_1(out.values[1], 0, "bool", rows, down);
    }
    permc_values_free(out.values, out.count);
    free(in);
    free(up);
    free(down);
  }
  permc_context_free(c);
}

// ---- elements of every type ------------------------------------------------------------------

static const char *const types[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                    "u16",  "u32", "u64", "f16", "f32", "f64"};
enum { TYPES = sizeof types / sizeof *types };

static uint64_t infinity_of(size_t size) {
  return size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
}

// Monotone in the library's order; all NaN are equal.
static uint64_t rank_of(const char *type, const void *element) {
  size_t size = size_of_type(type);
  uint64_t bits = element_bits(element, size, 0), top = UINT64_C(1) << (8 * size - 1);
  if (*type == 'i')
    return bits ^ top;
  if (*type != 'f')
    return bits;
  uint64_t infinity = infinity_of(size);
  if ((bits & (top - 1)) > infinity)
    return UINT64_MAX;
  return bits & top ? (~bits) & (2 * top - 1) : bits | top;
}

typedef struct moved {
  uint64_t rank, bits;
} moved;

static int by_rank_and_bits(const void *a, const void *b) {
  const moved *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  return (x->bits > y->bits) - (x->bits < y->bits);
}

static moved *ranked(const char *type, size_t count, const void *data) {
  size_t size = size_of_type(type);
  moved *list = malloc((count + 1) * sizeof *list);
  for (size_t i = 0; i < count; i++)
    list[i] = (moved){rank_of(type, (const char *)data + i * size), element_bits(data, size, i)};
  return list;
}

// Ranks rise (or fall), and the bit patterns are those of the input.
static bool check_moved(const permc_value *out, const char *type, size_t count, const void *in,
                        bool descending) {
  if (!check_shape(out, 0, type, 1, (uint64_t[]){count}))
    return false;
  moved *before = ranked(type, count, in), *after = ranked(type, count, permc_value_data(out, 0));
  bool good = true;
  for (size_t i = 1; good && i < count; i++)
    good =
        CHECK(descending ? after[i - 1].rank >= after[i].rank : after[i - 1].rank <= after[i].rank);
  qsort(before, count, sizeof *before, by_rank_and_bits);
  qsort(after, count, sizeof *after, by_rank_and_bits);
  good = good && CHECK(memcmp(before, after, count * sizeof *before) == 0);
  free(before);
  free(after);
  return good;
}

typedef enum fill { ANY, FEW, EQUAL, MAXVAL, MINVAL, PAYLOADS, FILLS } fill;

static uint64_t float_pattern(size_t size, uint64_t payload, bool negative) {
  uint64_t nan = size == 2 ? 0x7e00 : size == 4 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
  return nan | payload | (uint64_t)negative << (8 * size - 1);
}

static uint64_t some_bits(const char *type, fill f, size_t i) {
  size_t size = size_of_type(type);
  uint64_t all = size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1, top = all / 2 + 1;
  bool real = *type == 'f';
  uint64_t infinity = infinity_of(size);
  switch (f) {
  case FEW:  // for floats: both zeros, infinities, a NaN
    return !real ? random_below(3) : (random_below(2) ? top : 0) | (random_below(3) * infinity / 2);
  case EQUAL:
    return 1;
  case MAXVAL:
    return real ? infinity : *type == 'i' ? top - 1 : all;
  case MINVAL:
    return real ? infinity | top : *type == 'i' ? top : 0;
  case PAYLOADS:
    return real ? float_pattern(size, i, i % 2) : random_below(2) * all;
  default:
    return random_u64() & all;
  }
}

static void fill_data(const char *type, fill f, size_t count, void *data) {
  size_t size = size_of_type(type);
  for (size_t i = 0; i < count; i++) {
    uint64_t bits = some_bits(type, f, i);
    if (strcmp(type, "bool") == 0)
      bits = f == EQUAL || f == MAXVAL ? 1 : f == MINVAL ? 0 : bits & 1;
    memcpy((char *)data + i * size, &bits, size);
  }
}

static const sorter typed_sorters[] = {
    {"padded maxval sort", false},
    {"padded minval sort_desc", true},
    {"padded maxval (sort_by total_le)", false},
    {"padded minval (sort_by (flip total_le))", true},
    {"padded maxval (sort_on id)", false},
    {"padded maxval (sort_stable_on id)", false},
    {"padded maxval balanced_sort", false},
    {"padded maxval periodic_sort", false},
    {"padded maxval bitonic_sort", false},
    {"padded maxval odd_even_sort", false},
};

static void check_typed(permc_context *c, const sorter *s, const char *type, fill f, size_t count) {
  uint64_t data[71];
  fill_data(type, f, count, data);
  permc_value *out = run_value(c, "-e", value_1(type, count, data));
  bool good = check_moved(out, type, count, data, s->descending);
  // A comparator leaves equal keys where they are.
  if (good && (f == EQUAL || f == MAXVAL || f == MINVAL || (f == PAYLOADS && *type == 'f')))
    good = check_1(out, 0, type, count, data);
  if (!good)
    printf("%s, %zu of %s, fill %d\n", s->function, count, type, (int)f);
  permc_value_free(out);
}

TEST(every_type_padded) {
  for (size_t s = 0; s < sizeof typed_sorters / sizeof *typed_sorters; s++) {
    permc_context *c = load_expression(typed_sorters[s].function);
    for (size_t t = 0; t < TYPES; t++)
      for (fill f = ANY; f < FILLS; f++)
        for (size_t count = 0; count <= 70; count += 1 + random_below(12 * slower()))
          check_typed(c, &typed_sorters[s], types[t], f, count);
    permc_context_free(c);
  }
}

// Each length once with every sorter.
TEST(every_length_padded) {
  for (size_t s = 0; s < sizeof typed_sorters / sizeof *typed_sorters; s++) {
    permc_context *c = load_expression(typed_sorters[s].function);
    for (size_t count = 0; count <= 70; count += slower())
      for (fill f = FEW; f < FILLS; f += PAYLOADS - FEW)
        check_typed(c, &typed_sorters[s], "f32", f, count);
    permc_context_free(c);
  }
}

// ---- pairs -----------------------------------------------------------------------------------

typedef struct pairs {
  size_t count;
  uint64_t keys[70];
  uint32_t marks[70];
} pairs;

static pairs some_pairs(const char *type, fill f, size_t count) {
  pairs p = {.count = count};
  fill_data(type, f, count, p.keys);
  for (size_t i = 0; i < count; i++)
    p.marks[i] = (uint32_t)i;
  return p;
}

// Bits of key number i, in an array of the type.
static uint64_t key_bits(const char *type, const void *keys, size_t i) {
  return element_bits(keys, size_of_type(type), i);
}

// Marks are the places in the input: each pair came whole, none twice; keys in order, and if
// `stable` equal ones as they were.
static void check_pairs_moved(const permc_value *out, const char *type, const pairs *in,
                              size_t kept, bool descending, bool stable) {
  if (!check_shape(out, 0, type, 1, (uint64_t[]){kept}) ||
      !check_shape(out, 1, "u32", 1, (uint64_t[]){kept}))
    return;
  const void *keys = permc_value_data(out, 0);
  const uint32_t *marks = permc_value_data(out, 1);
  bool seen[70] = {false};
  uint64_t before = 0;
  for (size_t i = 0; i < kept; i++) {
    if (!CHECK(marks[i] < in->count) || !CHECK(!seen[marks[i]]))
      return;
    seen[marks[i]] = true;
    CHECK_EQ_U64(key_bits(type, keys, i), key_bits(type, in->keys, marks[i]));
    uint64_t rank = rank_of(type, (const char *)keys + i * size_of_type(type));
    CHECK(i == 0 || (descending ? before >= rank : before <= rank));
    CHECK(!stable || i == 0 || before != rank || marks[i - 1] < marks[i]);
    before = rank;
  }
}

static void check_pair_sorter(permc_context *c, const char *type, fill f, size_t count,
                              bool descending, bool stable) {
  pairs in = some_pairs(type, f, count);
  permc_value *argument =
      value_pair(value_1(type, count, in.keys), value_1("u32", count, in.marks));
  permc_value *out = run_value(c, "-e", argument);
  check_pairs_moved(out, type, &in, count, descending, stable);
  permc_value_free(out);
}

TEST(pairs_keep_together) {
  static const struct {
    const char *function;
    bool descending, stable;
  } of_pairs[] = {
      {"padded maxval (sort_on fst)", false, true},
      {"padded maxval (sort_stable_on fst)", false, true},
      {"padded minval (sort_by (\\x y -> total_le y.0 x.0))", true, false},
      {"padded maxval sort", false, true},  // lexicographic, and the marks rise
  };
  for (size_t s = 0; s < sizeof of_pairs / sizeof *of_pairs; s++) {
    permc_context *c = load_expression(of_pairs[s].function);
    for (size_t t = 0; t < TYPES; t++)
      for (fill f = ANY; f < FILLS; f++)
        for (size_t count = 0; count <= 70; count += 1 + random_below(20 * slower()))
          check_pair_sorter(c, types[t], f, count, of_pairs[s].descending, of_pairs[s].stable);
    permc_context_free(c);
  }
}

// The k first pairs have the k first keys, and each of them comes from the input.
static void check_top(permc_context *c, const char *type, fill f, size_t count, size_t k,
                      bool largest) {
  pairs in = some_pairs(type, f, count);
  permc_value *out = run_value(
      c, "-e", value_pair(value_1(type, count, in.keys), value_1("u32", count, in.marks)));
  check_pairs_moved(out, type, &in, k, largest, false);
  moved *all = ranked(type, count, in.keys);
  qsort(all, count, sizeof *all, by_rank_and_bits);
  if (check_shape(out, 0, type, 1, (uint64_t[]){k}))
    for (size_t i = 0; i < k; i++)
      CHECK_EQ_U64(rank_of(type, (const char *)permc_value_data(out, 0) + i * size_of_type(type)),
                   all[largest ? count - 1 - i : i].rank);
  free(all);
  permc_value_free(out);
}

TEST(top_of_pairs) {
  for (size_t k = 1; k <= 64; k *= 2)
    for (int largest = 0; largest < 2; largest++) {
      char function[100];
      snprintf(function, sizeof function, "top_k_by (\\x y -> total_le %s) %zu",
               largest ? "y.0 x.0" : "x.0 y.0", k);
      permc_context *c = load_expression(function);
      for (size_t t = 0; t < TYPES; t++)
        for (fill f = ANY; f < FILLS; f++)
          for (size_t count = k; count <= 64; count *= 4)
            check_top(c, types[t], f, count, k, largest);
      permc_context_free(c);
    }
}

// Stable: by rank, then by place.
static void check_argsort(permc_context *c, const char *type, fill f, size_t count) {
  uint64_t data[71];
  fill_data(type, f, count, data);
  moved *order = ranked(type, count, data);
  for (size_t i = 0; i < count; i++)
    order[i].bits = i;
  qsort(order, count, sizeof *order, by_rank_and_bits);
  int64_t expected[71], places[71];
  for (size_t i = 0; i < count; i++) {
    expected[i] = (int64_t)order[i].bits;
    places[order[i].bits] = (int64_t)i;
  }
  permc_value *argument = value_1(type, count, data);
  outcome out = run_values(c, "-e", &argument, 1);
  if (CHECK_EQ_U64(out.count, 2)) {
    check_1(out.values[0], 0, "i64", count, expected);
    check_1(out.values[1], 0, "i64", count, places);
  }
  permc_values_free(out.values, out.count);
  free(order);
}

TEST(argsort_of_every_type) {
  permc_context *c = load_expression("\\xs -> (padded maxval argsort xs, padded maxval ranks xs)");
  for (size_t t = 0; t < TYPES; t++)
    for (fill f = ANY; f < FILLS; f++)
      for (size_t count = 0; count <= 70; count += 1 + random_below(8 * slower()))
        check_argsort(c, types[t], f, count);
  permc_context_free(c);
}

TEST(minimum_and_maximum_of_every_type) {
  permc_context *c =
      load_expression("\\xs -> (minimum xs, maximum xs, is_sorted (padded maxval sort xs))");
  for (size_t t = 0; t < TYPES; t++)
    for (fill f = ANY; f < FILLS; f++)
      for (size_t count = 1; count <= 70; count += 1 + random_below(16)) {
        uint64_t data[71];
        fill_data(types[t], f, count, data);
        moved *order = ranked(types[t], count, data);
        qsort(order, count, sizeof *order, by_rank_and_bits);
        permc_value *argument = value_1(types[t], count, data);
        outcome out = run_values(c, "-e", &argument, 1);
        if (CHECK_EQ_U64(out.count, 3) && check_shape(out.values[0], 0, types[t], 0, NULL) &&
            check_shape(out.values[1], 0, types[t], 0, NULL)) {
          CHECK_EQ_U64(rank_of(types[t], permc_value_data(out.values[0], 0)), order[0].rank);
          CHECK_EQ_U64(rank_of(types[t], permc_value_data(out.values[1], 0)),
                       order[count - 1].rank);
          check_0(out.values[2], 0, "bool", "\1");
        }
        permc_values_free(out.values, out.count);
        free(order);
      }
  permc_context_free(c);
}

TEST_MAIN()
