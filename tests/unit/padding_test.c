// The check of padded on random functions, against a model whose elements know whether they are
// padding.
#include "core/text.h"
#include "tests/unit/api.h"

enum { MOST = 16, STAGES = 3, ROWS = 2 };

typedef struct item {
  int64_t value;
  bool padding;
} item;

typedef struct row {
  size_t count, elements;  // with padding, without
  item items[MOST];
} row;

typedef struct stage {
  const char *text;
  void (*apply)(row *r);
} stage;

static void apply_map(row *r) {
  for (size_t i = 0; i < r->count; i++)
    r->items[i].value = r->items[i].value * 3 + 1;
}

static void apply_mapi(row *r) {
  for (size_t i = 0; i < r->count; i++)
    r->items[i].value = r->items[i].value * 64 + (int64_t)i;
}

static void apply_scan(row *r) {
  for (size_t i = 1; i < r->count; i++) {
    r->items[i].value += r->items[i - 1].value;
    r->items[i].padding &= r->items[i - 1].padding;
  }
}

static void apply_butterfly(row *r) {
  for (size_t i = 0; i + 1 < r->count; i += 2) {
    item x = r->items[i], y = r->items[i + 1];
    r->items[i] = (item){x.value + y.value, x.padding && y.padding};
    r->items[i + 1] = (item){x.value + 2 * y.value, x.padding && y.padding};
  }
}

static void apply_reverse(row *r) {
  for (size_t i = 0; 2 * i < r->count; i++) {
    item first = r->items[i];
    r->items[i] = r->items[r->count - 1 - i];
    r->items[r->count - 1 - i] = first;
  }
}

// Stable: by the value modulo so much.
static void sort_items(row *r, int64_t modulo, bool descending) {
  for (size_t i = 1; i < r->count; i++)
    for (size_t k = i; k > 0; k--) {
      item *a = &r->items[k - 1], *b = &r->items[k], first = *a;
      if (descending ? a->value >= b->value : a->value % modulo <= b->value % modulo)
        break;
      *a = *b;
      *b = first;
    }
}

static void apply_sort(row *r) { sort_items(r, INT64_MAX, false); }
static void apply_sort_desc(row *r) { sort_items(r, INT64_MAX, true); }
static void apply_sort_on(row *r) { sort_items(r, 7, false); }

// Of an index that a comparison of displaced elements moves: where its element is padding, or it is
// an index of padding.
static void apply_argsort(row *r) {
  for (size_t i = 0; i < r->count; i++)
    r->items[i].value = r->items[i].value * MOST + (int64_t)i;
  apply_sort(r);
  for (size_t i = 0; i < r->count; i++) {
    size_t index = (size_t)r->items[i].value % MOST;
    r->items[i] = (item){(int64_t)index, r->items[i].padding || index >= r->elements};
  }
}

static void apply_exchange(row *r) {
  for (size_t i = 0; i + 1 < r->count; i += 2)
    if (r->items[i].value >= r->items[i + 1].value) {
      item first = r->items[i];
      r->items[i] = r->items[i + 1];
      r->items[i + 1] = first;
    }
}

static const stage stages[] = {
    {"map (\\x -> x * 3 + 1)", apply_map},
    {"mapi (\\i x -> x * 64 + i)", apply_mapi},
    {"scan (+)", apply_scan},
    {"reverse", apply_reverse},
    {"sort", apply_sort},
    {"balanced_sort", apply_sort},
    {"odd_even_sort", apply_sort},
    {"sort_desc", apply_sort_desc},
    {"argsort", apply_argsort},
    {"column 1 (\\[x, y] -> [x + y, x + 2 * y])", apply_butterfly},
    {"sort_stable_on (\\x -> x % 7)", apply_sort_on},
    {"column 1 (\\[x, y] -> if x < y then [x, y] else [y, x])", apply_exchange},
};

// Of an element and padding that are equal, either may come first.
static bool has_ties(const row *r) {
  for (size_t i = 0; i < r->count; i++)
    for (size_t k = 0; k < i; k++)
      if (r->items[i].value == r->items[k].value && r->items[i].padding != r->items[k].padding)
        return true;
  return false;
}

// Element `first` of the result is padding (or none, and these are the results).
static void check_program(const char *expression, size_t rows, size_t length, const int64_t *data,
                          const int64_t *expected, size_t first) {
  static const char *const backends[] = {"interp", "portable"};
  permc_context *c = load_expression(expression);
  for (size_t b = 0; c && b < sizeof backends / sizeof *backends; b++) {
    permc_value *argument = value_2("i64", rows, length, data), **results = NULL;
    size_t count = 0;
    bool good = permc_run(c, "-e", backends[b], &argument, 1, &results, &count);
    char part[100];
    snprintf(part, sizeof part, "element %zu of the result of padded is padding", first % length);
    bool right = first < rows * length
                     ? CHECK(!good) && CHECK_CONTAINS(permc_message(c), part)
                     : CHECK_STR(permc_message(c), "") &&
                           CHECK(!memcmp(permc_value_data(results[0], 0), expected,
                                         rows * length * sizeof *expected));
    if (!right)
      printf("%s, %zu elements, %s\n", expression, length, backends[b]);
    permc_values_free(results, count);
    permc_value_free(argument);
  }
  permc_context_free(c);
}

static void try_program(void) {
  static const int64_t paddings[] = {0, 5000000000, 501};  // the elements are even
  size_t length = 2 + random_below(MOST - 1), rows = 1 + random_below(ROWS);
  size_t stage_count = 1 + random_below(STAGES), first = SIZE_MAX;
  int64_t padding = paddings[random_below(3)], data[ROWS * MOST], expected[ROWS * MOST];
  const stage *chosen[STAGES];
  bool tied = false;
  text expression = {0};
  for (size_t s = 0; s < stage_count; s++)
    chosen[s] = &stages[random_below(sizeof stages / sizeof *stages)];
  text_printf(&expression, "map (padded %lld (", (long long)padding);
  for (size_t s = stage_count; s-- > 0;)
    text_printf(&expression, "%s%s", chosen[s]->text, s ? " . " : "))");
  for (size_t i = 0; i < rows; i++) {
    row r = {.count = 1, .elements = length};
    while (r.count < length)
      r.count *= 2;
    for (size_t k = 0; k < r.count; k++)
      r.items[k] = (item){padding, k >= length};
    for (size_t k = 0; k < length; k++)  // different ones
      data[i * length + k] = r.items[k].value = (int64_t)(2 + 32 * random_below(30) + 2 * k);
    for (size_t s = 0; s < stage_count; s++) {
      chosen[s]->apply(&r);
      tied = tied || has_ties(&r);
    }
    for (size_t k = 0; k < length; k++) {
      expected[i * length + k] = r.items[k].value;
      if (r.items[k].padding && first == SIZE_MAX)
        first = i * length + k;
    }
  }
  if (!tied)
    check_program(text_content(&expression), rows, length, data, expected, first);
  text_free(&expression);
}

TEST(padding_is_found_where_it_is) {
  for (unsigned i = 0; i < 300 / slower(); i++)
    try_program();
}

static void check_three(const char *comparator, const int64_t *data, const int64_t *expected,
                        size_t first) {
  text expression = {0};
  const char *c = comparator;
  text_printf(&expression, "map (padded 9 (column 1 (%s) . column 2 (%s) . column 3 (%s)))", c, c,
              c);
  check_program(text_content(&expression), 1, 3, data, expected, first);
  text_free(&expression);
}

// Which of two equal ones is padding is not known by their values.
TEST(padding_that_equals_an_element) {
  static const char *const comparators[] = {
      "\\[x, y] -> if x < y then [x, y] else [y, x]",
      "\\[x, y] -> if y > x then [x, y] else [y, x]",
      "\\[x, y] -> [if x < y then x else y, if x < y then y else x]",
      "\\[x, y] -> [min x y, max x y]",
  };
  const int64_t equal[3] = {9, 5, 7}, sorted[3] = {5, 7, 9}, larger[3] = {9, 10, 7};
  for (size_t i = 0; i < sizeof comparators / sizeof *comparators; i++) {
    check_three(comparators[i], equal, sorted, 3);
    check_three(comparators[i], larger, NULL, 2);
  }
}

TEST_MAIN()
