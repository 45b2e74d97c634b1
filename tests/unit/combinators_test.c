// Movement that depends on data, and sorts: each combinator on each type, each kind of data and
// many lengths, equal to interp. (Random programs: differential_test.)
//
//   combinators_test                      a sample: lengths up to some hundreds, each row on some types
//   combinators_test --all                all types, lengths up to 2^20
//   combinators_test --backends cuda      on these alone (default: portable)
#include "tests/test.h"

#include "core/scalar/scalar.h"
#include "runtime/permc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static struct {
  bool all;
  const char *backends;
} settings = {.backends = "portable"};

// ---- the tables ----------------------------------------------------------------------------------

typedef struct row {
  const char *expression;
  scalar_class types;
  uint64_t least;  // elements
} row;

static const row rows[] = {
    {"sort", CLASS_ANY, 0},
    {"sort_desc", CLASS_ANY, 0},
    {"sort_stable_on id", CLASS_ANY, 0},
    {"argsort", CLASS_ANY, 0},
    {"ranks", CLASS_ANY, 0},
    {"radix_sort", CLASS_ANY, 0},
    {"sample_sort", CLASS_ANY, 0},
    {"sorted_places_desc", CLASS_ANY, 0},
    {"top_k 3", CLASS_ANY, 3},
    {"\\xs -> permute (ranks xs) xs", CLASS_ANY, 0},
    {"\\xs -> gather (argsort xs) (zip xs (iota (length xs)))", CLASS_ANY, 0},
    {"\\xs -> scatter (take 3 (argsort xs)) (take 3 xs) xs", CLASS_ANY, 3},
    {"\\xs -> compact (\\x -> total_le x xs[0]) xs", CLASS_ANY, 1},
    {"\\xs -> sort_ragged [1, length xs / 3 + 1, length xs - 1] xs", CLASS_ANY, 3},
    {"\\xs -> map_ragged 2 xs[0] sort_network [0, 3, 3, 7] xs", CLASS_ANY, 7},
    {"bucket 3 (\\x -> x & 7)", CLASS_INTEGER, 0},
    {"\\xs -> permute (bucket_places 6 (map (& 63) xs)) xs", CLASS_INTEGER, 0},
    {"histogram 5 (\\x -> x & 31)", CLASS_INTEGER, 0},
    {"rotate 5", CLASS_ANY, 0},
    {"reverse", CLASS_ANY, 0},
    {"shuffle_random 3", CLASS_ANY, 0},
    {"\\xs -> transpose (rows_of (length xs / 3) (take (length xs / 3 * 3) xs))", CLASS_ANY, 3},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const uint64_t lengths[] = {0,   1,   2,   3,    7,    8,    9,    31,    61,    64,     65,
                                   127, 251, 513, 1021, 1024, 4095, 8193, 65537, 99991, 1 << 20};
enum { LENGTHS = sizeof lengths / sizeof *lengths, SHORT_LENGTHS = 14 };

typedef enum data_kind { RANDOM, EQUAL, ASCENDING, DESCENDING, FEW, PIPE, DATA_KINDS } data_kind;
static const char *const data_names[] = {"random",     "equal", "ascending",
                                         "descending", "few",   "an organ pipe"};

// Element i of so many, as a small number or as any bits.
static int64_t number_at(data_kind kind, uint64_t i, uint64_t count, uint64_t random) {
  switch (kind) {
  case RANDOM:
    return (int64_t)(random >> 8);
  case EQUAL:
    return 5;
  case ASCENDING:
    return (int64_t)i;
  case DESCENDING:
    return (int64_t)(count - i);
  case FEW:
    return (int64_t)(random >> 40) % 3;
  default:
    return (int64_t)(i < count / 2 ? i : count - i);
  }
}

static permc_value *make_data(scalar_type t, data_kind kind, uint64_t count) {
  size_t size = scalar_types[t].size;
  char *data = calloc(count + 1, size);
  uint64_t random = count + 1;
  for (uint64_t i = 0; i < count; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t x = number_at(kind, i, count, random ^ random >> 29);
    double real = kind == RANDOM && i % 7 == 0 ? (i % 2 ? NAN : -0.0) : (double)x;
    bool floats = CLASS_OF(t) & (CLASS_FLOAT | CLASS_COMPLEX);
    scalar_convert(floats ? SCALAR_F64 : SCALAR_I64, t, 1, floats ? (void *)&real : (void *)&x,
                   data + i * size);
  }
  permc_value *v = permc_value_new(scalar_types[t].name, 1, &count, data);
  free(data);
  return v;
}

// ---- one of them -----------------------------------------------------------------------------------

static bool same_values(permc_value *const *a, permc_value *const *b, size_t count) {
  for (size_t v = 0; v < count; v++)
    for (size_t c = 0; c < permc_value_components(a[v]); c++) {
      uint64_t elements = 1;
      size_t type = 0;
      for (uint32_t d = 0; d < permc_value_rank(a[v], c); d++)
        elements *= permc_value_dims(a[v], c)[d];
      while (strcmp(scalar_types[type].name, permc_value_type(a[v], c)) != 0)
        type++;
      if (elements && memcmp(permc_value_data(a[v], c), permc_value_data(b[v], c),
                             elements * scalar_types[type].size) != 0)
        return false;
    }
  return true;
}

static bool check_one(permc_context *c, const char *backend, const row *r, scalar_type t,
                      data_kind kind, uint64_t count) {
  permc_value *argument = make_data(t, kind, count), **found = NULL, **wanted = NULL;
  size_t found_count = 0, wanted_count = 0;
  bool good = CHECK(permc_run(c, "-e", "interp", &argument, 1, &wanted, &wanted_count)) &&
              CHECK(permc_run(c, "-e", backend, &argument, 1, &found, &found_count)) &&
              CHECK_EQ_U64(found_count, wanted_count) &&
              CHECK(same_values(wanted, found, found_count));
  if (!good)
    printf("%s of %" PRIu64 " %s, %s, on %s: %s\n", r->expression, count, scalar_types[t].name,
           data_names[kind], backend, permc_message(c) ? permc_message(c) : "");
  permc_values_free(found, found_count);
  permc_values_free(wanted, wanted_count);
  permc_value_free(argument);
  return good;
}

static bool is_sampled(size_t r, size_t t, size_t length, size_t kind) {
  return settings.all ||
         (length < SHORT_LENGTHS && (r * 5 + t * 7 + length * 11 + kind) % (97 * slower()) == 0);
}

static void check_backend(const char *backend) {
  permc_context *c = permc_context_new();
  for (size_t r = 0; r < ROWS; r++) {
    REQUIRE(permc_define(c, rows[r].expression));
    for (size_t t = 0; t < SCALAR_COUNT; t++)
      for (size_t l = 0; l < LENGTHS; l++)
        for (size_t k = 0; k < DATA_KINDS; k++)
          if ((CLASS_OF(t) & rows[r].types) && lengths[l] >= rows[r].least &&
              is_sampled(r, t, l, k))
            check_one(c, backend, &rows[r], (scalar_type)t, (data_kind)k, lengths[l]);
  }
  permc_context_free(c);
}

TEST(combinators) {
  char list[200];
  snprintf(list, sizeof list, "%s", settings.backends);
  for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
    check_backend(name);
}

int main(int count, char **arguments) {
  int kept = 1;
  setvbuf(stdout, NULL, _IOLBF, 0);  // a long run that is ended has shown what it found
  settings.all = getenv("PERMC_ALL") != NULL;
  for (int i = 1; i < count; i++)
    if (!strcmp(arguments[i], "--all"))
      settings.all = true;
    else if (!strcmp(arguments[i], "--backends") && i + 1 < count)
      settings.backends = arguments[++i];
    else
      arguments[kept++] = arguments[i];
  arguments[kept] = NULL;
  return test_main(kept, arguments);
}
