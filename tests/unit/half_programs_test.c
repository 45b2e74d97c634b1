// Programs on f16 and bf16, on all of their 65536 values: every backend gives the bits that interp gives, and
// interp what doubles say.
#include "core/scalar/scalar.h"
#include "runtime/compiled/compiler.h"
#include "tests/unit/api.h"

#include <math.h>

enum { ALL = 65536 };

static scalar_type half;  // the type that is tried
#define EACH_TYPE for (half = SCALAR_F16; half <= SCALAR_BF16; half++)

// All values in an order that is no order of theirs; `step` is odd.
static permc_value *all_values(uint32_t step) {
  uint16_t *x = malloc(ALL * sizeof *x);
  for (uint32_t i = 0; i < ALL; i++)
    x[i] = (uint16_t)(i * step + 12345);
  permc_value *v = value_1(scalar_types[half].name, ALL, x);
  free(x);
  return v;
}

static bool is_nan(uint16_t bits) { return (bits & 0x7fff) > scalar_types[half].infinity; }

// The place in the total order.
static int32_t place(uint16_t bits) {
  int32_t size = bits & 0x7fff;
  return is_nan(bits) ? 0x8000 : bits & 0x8000 ? -1 - size : size;
}

// The backends that there are.
static size_t backends(const char *names[4]) {
  compiler found;
  size_t count = 0;
  names[count++] = "interp";
  names[count++] = "portable";
  if (compiler_find(&found, NULL))
    names[count++] = "cpu";
  return count;
}

static outcome run_on(permc_context *c, const char *backend, size_t count) {
  permc_value *arguments[2] = {all_values(40503), all_values(9277)};
  outcome out = {NULL, 0};
  CHECK(permc_run(c, "-e", backend, arguments, count, &out.values, &out.count));
  CHECK_STR(permc_message(c), "");
  permc_value_free(arguments[0]);
  permc_value_free(arguments[1]);
  return out;
}

// NaN are equal in the order of sorts: which of them stands first is open.
static void make_nans_equal(outcome o) {
  for (size_t i = 0; i < o.count; i++)
    for (size_t k = 0; k < permc_value_components(o.values[i]); k++) {
      uint16_t *x = (uint16_t *)(uintptr_t)permc_value_data(o.values[i], k);
      for (uint64_t j = 0; j < permc_value_dims(o.values[i], k)[0]; j++)
        x[j] = is_nan(x[j]) ? scalar_maxval(half).u16 : x[j];
    }
}

static void check_equal(const char *expression, const char *backend, outcome a, outcome b) {
  bool good = CHECK_EQ_U64(b.count, a.count);
  for (size_t i = 0; good && i < a.count; i++)
    for (size_t k = 0; k < permc_value_components(a.values[i]); k++) {
      uint64_t bytes = permc_value_dims(a.values[i], k)[0];
      const char *type = permc_value_type(a.values[i], k);
      bytes *= size_of_type(type);
      good = CHECK(memcmp(permc_value_data(a.values[i], k), permc_value_data(b.values[i], k),
                          bytes) == 0) &&
             good;
    }
  if (!good)
    printf("%s of %s on %s\n", expression, scalar_types[half].name, backend);
}

static void check_with(const char *expression, size_t arguments, bool sorts) {
  const char *names[4];
  size_t count = backends(names);
  permc_context *c = load_expression(expression);
  outcome first = run_on(c, names[0], arguments);
  if (sorts)
    make_nans_equal(first);
  for (size_t i = 1; i < count; i++) {
    outcome other = run_on(c, names[i], arguments);
    if (sorts)
      make_nans_equal(other);
    check_equal(expression, names[i], first, other);
    permc_values_free(other.values, other.count);
  }
  permc_values_free(first.values, first.count);
  permc_context_free(c);
}

static void check_backends(const char *expression, size_t arguments) {
  check_with(expression, arguments, false);
}

TEST(backends_agree_on_f16) {
  half = SCALAR_F16;
  static const char *const of_one[] = {
      "sort_network",
      "sort_by (flip total_le)",
      "sort_by (<)",
      "sort_on negate",
      "argsort",
      "map (\\x -> x * x + 3.5 / x - sqrt x)",
      "map (\\x -> (negate x, abs x, sign x, floor x, ceil x, round x, trunc x, x % 0.7, x ^ 3))",
      "map (\\x -> (isnan x, x < 0.1, x == 0, x != x, total_le x (-0.0)))",
      "map (\\x -> (bool x, i8 x, u8 x, i16 x, u16 x, i32 x, u32 x, i64 x, u64 x))",
      "map (\\x -> f16 (f32 x * 1.0009765625) + f16 (f64 x * 1.00048828125))",
      "\\xs -> mapi (\\i x -> f16 i + f16 (i32 i - 30000) * f16 (u8 i) - f16 (x < 3)) xs",
      "map (\\x -> if x < 0.5 then x else min x 7.25)",
      "scan (+)",
      "fwht",
  };
  static const char *const of_two[] = {
      "zip_with (+)",
      "zip_with (-)",
      "zip_with (*)",
      "zip_with (/)",
      "zip_with (\\x y -> (x < y, x <= y, x > y, x >= y, x == y, x != y, total_le x y))",
      "zip_with (\\x y -> (min x y, max x y))",
      "\\xs ys -> sort_network (zip xs ys)",
  };
  check_with("sort", 1, true);
  check_with("sort_desc", 1, true);
  check_with("\\xs ys -> sort (zip xs ys)", 2, true);
  for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
    check_backends(of_one[i], 1);
  for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++)
    check_backends(of_two[i], 2);
}

// The same on bf16, in few programs, which compilers take seconds for.
TEST(backends_agree_on_bf16) {
  static const char *const programs[] = {
      "\\xs _ -> (sort_network xs, sort_by (flip total_le) xs, sort_by (<) xs, argsort xs, "
      "scan (+) xs, fwht xs, bitrev xs)",
      "\\xs _ -> map (\\x -> (x * x + 3.5 / x - sqrt x, negate x, abs x, sign x, floor x, ceil x, "
      "round x, trunc x, x % 0.7, x ^ 3, isnan x, x < 0.1, x == 0, x != x, total_le x (-0.0), "
      "if x < 0.5 then x else min x 7.25)) xs",
      "\\xs _ -> mapi (\\i x -> (bool x, i8 x, u8 x, i16 x, u16 x, i32 x, u32 x, i64 x, u64 x, f16 "
      "x, "
      "bf16 (f32 x * 1.0078125) + bf16 (f64 x * 1.00390625), bf16 (f16 x), "
      "bf16 i * bf16 (i32 i - 30000) + bf16 (u8 i) - bf16 (x < 3))) xs",
      "zip_with (\\x y -> (x + y, x - y, x * y, x / y, x < y, x <= y, x > y, x >= y, x == y, x != "
      "y, "
      "total_le x y, min x y, max x y))",
  };
  half = SCALAR_BF16;
  check_with("\\xs ys -> (sort xs, sort_desc ys)", 2, true);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    check_backends(programs[i], 2);
}

static void check_total_order(void) {
  const char *names[4];
  size_t count = backends(names);
  permc_context *c = load_expression("sort");
  for (size_t b = 0; b < count; b++) {
    outcome out = run_on(c, names[b], 1);
    const uint16_t *x = out.count ? permc_value_data(out.values[0], 0) : NULL;
    uint8_t *seen = calloc(ALL, 1);
    for (size_t i = 0; x && i < ALL; i++) {
      CHECK(i == 0 || place(x[i - 1]) <= place(x[i]));
      seen[x[i]]++;
    }
    for (size_t i = 0; x && i < ALL; i++)
      CHECK_EQ_U64(seen[i], 1);
    free(seen);
    permc_values_free(out.values, out.count);
  }
  permc_context_free(c);
}

TEST(sorted_in_the_total_order) { EACH_TYPE check_total_order(); }

static void check_error(const char *program, const char *message) {
  permc_context *c = permc_context_new();
  permc_allow_extern(c, true);
  CHECK(!permc_load_text(c, "test", program, strlen(program)));
  CHECK_CONTAINS(permc_message(c), message);
  permc_context_free(c);
}

TEST(errors) {
  check_error("extern \"m\" f : f16 -> f32\nmain : f32 -> f32\nmain x = f (f16 x)\n",
              "a foreign function cannot take or return f16");
  check_error("extern \"m\" f : f32 -> bf16\nmain : f32 -> bf16\nmain = f\n",
              "a foreign function cannot take or return bf16");
  check_error("extern \"m\" f : f32 -> f16\nmain : f32 -> f16\nmain = f\n",
              "a foreign function cannot take or return f16");
  check_error("main : f16 -> c64\nmain x = cis x\n", "expected an f32 or f64, found f16");
  check_error("main : f16 -> f16 -> c64\nmain = complex\n", "f16 is not an f32 or f64");
}

TEST_MAIN()
