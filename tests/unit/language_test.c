// Features of the language and what they do to each other: many small programs, each checked
// against a result worked out by hand or by C code. What a program does to one array it must also
// do to every row of a matrix and to every half of a larger array, so the sized tests run each
// program there as well.
#include "tests/unit/api.h"

#include <math.h>
#include <stdarg.h>

// ---- results as text -------------------------------------------------------------------------

enum { TEXT_SIZE = 1 << 16 };
static char shown[TEXT_SIZE];
static size_t shown_length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(shown + shown_length, TEXT_SIZE - shown_length, format, arguments);
  va_end(arguments);
  if (more > 0 && shown_length + (size_t)more < TEXT_SIZE)
    shown_length += (size_t)more;
}

// As short as reads back; -0 for the negative zero.
static void put_real(double x, bool narrow) {
  char digits[40];
  for (int precision = 1; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, x);
    if (isnan(x) || (narrow ? strtof(digits, NULL) == (float)x : strtod(digits, NULL) == x))
      break;
  }
  put("%s", isnan(x) ? "nan" : digits);
}

static void put_scalar(const char *type, const char *data) {
  size_t size = size_of_type(type);
  uint64_t bits = element_bits(data, size, 0);
  if (strcmp(type, "bool") == 0)
    put("%s", bits ? "true" : "false");
  else if (*type == 'u')
    put("%" PRIu64, bits);
  else if (*type == 'i')
    put("%" PRId64, (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
  else if (strcmp(type, "f32") == 0)
    put_real((double)float_of_bits((uint32_t)bits), true);
  else if (strcmp(type, "f64") == 0)
    put_real(double_of_bits(bits), false);
  else {
    bool narrow = strcmp(type, "c64") == 0;
    for (int part = 0; part < 2; part++) {
      bits = element_bits(data, size / 2, (uint64_t)part);
      put(part ? "," : "");
      put_real(narrow ? (double)float_of_bits((uint32_t)bits) : double_of_bits(bits), narrow);
    }
    put("i");
  }
}

static const char *put_array(const char *type, uint32_t rank, const uint64_t *dims,
                             const char *data) {
  if (rank == 0) {
    put_scalar(type, data);
    return data + size_of_type(type);
  }
  put("[");
  for (uint64_t i = 0; i < *dims; i++) {
    put(i > 0 ? " " : "");
    data = put_array(type, rank - 1, dims + 1, data);
  }
  put("]");
  return data;
}

// "i64 [1 2]; f32 0.5": results, and their components, one after the other. Arrays without elements
// show their shape: "i64 [0][4]".
static const char *show(outcome out) {
  shown_length = 0;
  shown[0] = 0;
  for (size_t i = 0; i < out.count; i++)
    for (size_t k = 0; k < permc_value_components(out.values[i]); k++) {
      const permc_value *v = out.values[i];
      uint32_t rank = permc_value_rank(v, k);
      const uint64_t *dims = permc_value_dims(v, k);
      uint64_t count = 1;
      for (uint32_t d = 0; d < rank; d++)
        count *= dims[d];
      put("%s%s ", i + k > 0 ? "; " : "", permc_value_type(v, k));
      for (uint32_t d = 0; d < rank && count == 0; d++)
        put("[%d]", (int)dims[d]);
      if (count > 0)
        put_array(permc_value_type(v, k), rank, dims, permc_value_data(v, k));
    }
  return shown;
}

// ---- fixed programs --------------------------------------------------------------------------

static bool run_text(permc_context *c, const char *arguments, outcome *out) {
  permc_value **in = NULL;
  size_t count = 0;
  bool good = permc_read_bytes(c, "main", "arguments", arguments, strlen(arguments), &in, &count) &&
              permc_run(c, "main", NULL, in, count, &out->values, &out->count);
  permc_values_free(in, count);
  return good;
}

// Runs main on arguments in the text format.
static void expect(const char *program, const char *arguments, const char *expected) {
  permc_context *c = load_text(program);
  outcome out = {NULL, 0};
  if (c != NULL)
    permc_allow_extern(c, true);
  bool good = c != NULL && run_text(c, arguments, &out);
  const char *found = good ? show(out) : c != NULL ? permc_message(c) : "";
  if (!CHECK_STR(found, expected))
    printf("%s-- on %s\n", program, arguments);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

static void expect_error(const char *program, const char *arguments, const char *part) {
  permc_context *c = permc_context_new();
  outcome out = {NULL, 0};
  bool good = permc_load_text(c, "test", program, strlen(program)) && run_text(c, arguments, &out);
  if (!CHECK_CONTAINS(good ? show(out) : permc_message(c), part) || !CHECK(!good))
    printf("%s-- on %s\n", program, arguments);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

// ---- programs of any size --------------------------------------------------------------------

// What main : [m]int -> [m]int does to one array.
typedef void expectation(size_t count, const int64_t *in, int64_t *out);

static int64_t *some_numbers(size_t count) {
  int64_t *in = malloc((count + 1) * sizeof *in);
  for (size_t i = 0; i < count; i++)
    in[i] = (int64_t)random_below(1000) - 500;
  return in;
}

static bool check_array(permc_context *c, const char *entry, uint32_t rank, const uint64_t *dims,
                        const int64_t *in, const int64_t *expected) {
  permc_value *out = run_value(c, entry, permc_value_new("i64", rank, dims, in));
  bool good = check_value(out, 0, "i64", rank, dims, expected);
  permc_value_free(out);
  return good;
}

static bool define(permc_context *c, const char *expression) {
  return permc_define(c, expression) || CHECK_STR(permc_message(c), "");
}

static bool check_alone(permc_context *c, size_t count, expectation *f) {
  int64_t *in = some_numbers(count), *expected = malloc((count + 1) * sizeof *expected);
  f(count, in, expected);
  bool good = check_array(c, "main", 1, (uint64_t[]){count}, in, expected);
  free(in);
  free(expected);
  return good;
}

// Every row of arrays of more dimensions, by an expression that maps main.
static bool check_rows(permc_context *c, const char *expression, uint32_t rank,
                       const uint64_t *dims, expectation *f) {
  size_t rows = 1, count = dims[rank - 1];
  for (uint32_t i = 0; i + 1 < rank; i++)
    rows *= dims[i];
  int64_t *in = some_numbers(rows * count), *expected = malloc((rows * count + 1) * sizeof *in);
  for (size_t i = 0; i < rows; i++)
    f(count, in + i * count, expected + i * count);
  bool good = define(c, expression) && check_array(c, "-e", rank, dims, in, expected);
  free(in);
  free(expected);
  return good;
}

// Both halves of an array twice as long.
static bool check_halves(permc_context *c, const char *expression, size_t mask, size_t count,
                         expectation *f) {
  int64_t *in = some_numbers(2 * count), *expected = malloc(2 * count * sizeof *in);
  int64_t *part = malloc(count * sizeof *in), *result = malloc(count * sizeof *in);
  for (int half = 0; half < 2; half++) {
    for (size_t i = 0, k = 0; i < 2 * count; i++)
      if (__builtin_parityll(i & mask) == half)
        part[k++] = in[i];
    f(count, part, result);
    for (size_t i = 0, k = 0; i < 2 * count; i++)
      if (__builtin_parityll(i & mask) == half)
        expected[i] = result[k++];
  }
  bool good =
      define(c, expression) && check_array(c, "-e", 1, (uint64_t[]){2 * count}, in, expected);
  free(in);
  free(expected);
  free(part);
  free(result);
  return good;
}

// The same call before, inside and after a map and a parm.
static bool check_repeated(permc_context *c, size_t count, expectation *f) {
  int64_t *in = some_numbers(2 * count), *expected = malloc((2 * count + 1) * sizeof *in);
  f(count, in, expected);
  f(count, in + count, expected + count);
  bool good = define(c, "\\xs xss -> (main xs, map main xss, main xs, map main [xs, xss[1]])");
  outcome out = run_values(
      c, "-e", (permc_value *[]){value_1("i64", count, in), value_2("i64", 2, count, in)}, 2);
  good = good && CHECK_EQ_U64(out.count, 4) && check_1(out.values[0], 0, "i64", count, expected) &&
         check_2(out.values[1], 0, "i64", 2, count, expected) &&
         check_1(out.values[2], 0, "i64", count, expected) &&
         check_2(out.values[3], 0, "i64", 2, count, expected);
  permc_values_free(out.values, out.count);
  free(in);
  free(expected);
  return good;
}

static bool check_everywhere(permc_context *c, size_t count, expectation *f) {
  bool good = check_alone(c, count, f);
  for (uint64_t rows = 0; good && count <= 40 && rows <= 3; rows++)
    good = check_rows(c, "map main", 2, (uint64_t[]){rows, count}, f);
  if (!good || count > 40)
    return good;
  return check_rows(c, "map (map main)", 3, (uint64_t[]){2, 3, count}, f) &&
         check_rows(c, "mapi (\\i xs -> let z = i - i in map (+ z) (main (map (+ z) xs)))", 2,
                    (uint64_t[]){2, count}, f) &&
         check_rows(c, "map (map main)", 3, (uint64_t[]){2, 0, count}, f) &&
         check_repeated(c, count, f);
}

static void report(const char *program, bool good, size_t count) {
  if (!good)
    printf("%s-- on %zu elements\n", program, count);
}

static void check_lengths(const char *program, expectation *f) {
  static const size_t counts[] = {0, 1, 2, 3, 7, 8, 33, 64, 65, 100, 1000};
  permc_context *c = load_text(program);
  bool good = c != NULL;
  for (size_t i = 0; good && i < sizeof counts / sizeof *counts; i++) {
    good = check_everywhere(c, counts[i], f);
    report(program, good, counts[i]);
  }
  permc_context_free(c);
}

static void check_powers(const char *program, expectation *f) {
  permc_context *c = load_text(program);
  bool good = c != NULL;
  for (int n = 0; good && n <= 10; n++) {
    size_t count = (size_t)1 << n;
    good = check_everywhere(c, count, f) && check_halves(c, "two main", count, count, f) &&
           check_halves(c, "ilv main", 1, count, f) &&
           check_halves(c, "\\xs -> parm (length xs - 1) main xs", 2 * count - 1, count, f) &&
           check_halves(c, "\\xs -> parmi 1 (\\b ys -> map (\\y -> y + 0 * b) (main ys)) xs", 1,
                        count, f);
    report(program, good, count);
  }
  permc_context_free(c);
}

// ---- functions, patterns, bindings -----------------------------------------------------------

TEST(patterns) {
  expect("f (-1) = 10\nf 0 = 20\nf _ = 30\nmain : (int, int, int)\nmain = (f (-1), f 0, f 1)\n", "",
         "i64 10; i64 20; i64 30");
  expect("f 0x10u8 = 1\nf _ = 2\nmain : (int, int)\nmain = (f 16, f 17)\n", "", "i64 1; i64 2");
  expect("f true x = x\nf false x = -x\nmain : int -> (int, int)\nmain x = (f (1 < 2) x, f (2 < 1) "
         "x)\n",
         "5", "i64 5; i64 -5");
  expect("main : [4]int -> int\nmain [_, a, _, b] = a * 10 + b\n", "[1, 2, 3, 4]", "i64 24");
  expect("main : [2][2]int -> [4]int\nmain [[a, b], [c, d]] = [d, c, b, a]\n", "[[1, 2], [3, 4]]",
         "i64 [4 3 2 1]");
  expect("main : [2][3]int -> [2][3]int\nmain [x, y] = [y, x]\n", "[[1, 2, 3], [4, 5, 6]]",
         "i64 [[4 5 6] [1 2 3]]");
  expect("main : [2](int, bool) -> (bool, int)\nmain [(a, b), (c, d)] = (d, a)\n",
         "[1, 2] [true, false]", "bool false; i64 1");
  expect("f 0 _ = 1\nf _ 0 = 2\nf 1 1 = 3\nf a b = a * b\n"
         "main : (int, int, int, int, int)\nmain = (f 0 0, f 5 0, f 1 1, f 1 2, f 3 4)\n",
         "", "i64 1; i64 2; i64 3; i64 2; i64 12");
  expect("f [x] = x\nf [x, y] = x + y\nf [x, y, z, w] = x * y + z * w\n"
         "main : int -> (int, int, int)\nmain x = (f [x], f [x, 2], f [x, 2, 3, 4])\n",
         "5", "i64 5; i64 7; i64 22");
  expect("main : (int, (int, int)) -> int\nmain (a, (b, c)) = a * 100 + b * 10 + c\n", "1 2 3",
         "i64 123");
  expect("swap4 [a, b, c, d] = [c, d, a, b]\nmain : [4](int, f32) -> [4](int, f32)\nmain = swap4\n",
         "[1, 2, 3, 4] [0.5, 1.5, 2.5, 3.5]", "i64 [3 4 1 2]; f32 [2.5 3.5 0.5 1.5]");
  expect_error("f 1 = 2\nmain : int\nmain = f 3\n", "", "no equation of 'f' matches the call f 3");
  expect_error("f 0 = 2\nf n = 3\nmain : i32 -> int\nmain x = f (i64 x)\n", "1",
               "known before the program runs");
  expect("f 0 = 2\nf n = 3\nmain : int -> int\nmain x = f x\n", "1", "i64 3");
  expect_error("f [x, y] = x\nmain : [m]int -> int\nmain xs = f xs\n", "[1, 2, 3, 4]", "f [4]");
}

TEST(guards) {
  expect("f x\n  | x < 0 = -1\n  | x == 0 = 0\n  | x > 100 = 3\n  | otherwise = 1\n"
         "main : [m]int -> [m]int\nmain = map f\n",
         "[-4, 0, 7, 200]", "i64 [-1 0 1 3]");
  // Static guards fall through to the next equation.
  expect("f n\n  | n < 2 = 10\nf n\n  | n < 4 = 20\nf n = 30\nmain : (int, int, int)\nmain = (f 1, "
         "f 3, f 9)\n",
         "", "i64 10; i64 20; i64 30");
  // Guards see the where bindings; the bindings of an equation that does not apply are not
  // evaluated.
  expect("f n\n  | big = 1\n  where big = n > bound\n        bound = 10 / n\nf n = 2\n"
         "main : (int, int)\nmain = (f 4, f 2)\n",
         "", "i64 1; i64 2");
  expect("f x\n  | even x = (x, [x, 1])\n  | otherwise = (-x, [0, x])\n"
         "main : int -> (int, [2]int)\nmain = f\n",
         "3", "i64 -3; i64 [0 3]");
  expect("classify n x\n  | n == 0 = 0\n  | x < 0 = -n\n  | n == 1 = 100\n  | x < 10 = n\n  | "
         "otherwise = 10 * n\n"
         "main : [m]int -> ([m]int, [m]int, [m]int)\n"
         "main xs = (map (classify 0) xs, map (classify 1) xs, map (classify 2) xs)\n",
         "[-5, 5, 50]", "i64 [0 0 0]; i64 [-1 100 100]; i64 [-2 2 20]");
  expect_error("f x\n  | x < 0 = 1\nmain : int -> int\nmain = f\n", "1", "otherwise");
}

TEST(let_and_where) {
  expect("main : int -> int\nmain x = let a = x + 1; b = a * 2 in let a = b + x in a * b\n", "3",
         "i64 88");
  // Bindings in any order, mutually visible.
  expect("main : int -> int\nmain x = c\n  where\n    c = b + a\n    a = x\n    b = a * 10\n", "3",
         "i64 33");
  expect("main : int -> (int, int)\nmain x = (y, z)\n  where\n    (y, (z, _)) = (x + 1, (x + 2, x "
         "+ 3))\n",
         "3", "i64 4; i64 5");
  expect("main : [4]int -> int\nmain xs = a - d\n  where [a, _, _, d] = xs\n", "[9, 1, 1, 4]",
         "i64 5");
  expect("main : int -> int\nmain x = f 3\n  where\n    f 0 = x\n    f n = g (n - 1) + 1\n    g 0 "
         "= 2 * x\n"
         "    g n = f (n - 1) + 10\n",
         "5", "i64 22");
  // Nobody asks for what would fail.
  expect("main : [m]int -> int\nmain xs = if m > 2 then late else 7\n  where late = xs[2]\n        "
         "never = xs[1000]\n",
         "[1, 2]", "i64 7");
  expect("main : int -> int\nmain x = let loop = loop + 1 in x\n", "4", "i64 4");
  expect_error("main : int -> int\nmain x = let loop = loop + 1 in loop\n", "4",
               "depends on itself");
  expect_error("main : int -> int\nmain x = let (a, b) = (b, a) in a\n", "4", "depends on itself");
  // A pattern's right side is one binding.
  expect("main : int -> int\nmain x = let (a, b) = (x, x + 1); c = b in c\n", "4", "i64 5");
  expect("f = \\x -> let y = x in y\ng = let y = 3 in \\x -> x + y\nmain : int -> (int, int)\nmain "
         "x = (f x, g x)\n",
         "4", "i64 4; i64 7");
}

TEST(recursion) {
  expect("even_ 0 = true\neven_ n = odd_ (n - 1)\nodd_ 0 = false\nodd_ n = even_ (n - 1)\n"
         "main : [m]int -> (bool, bool)\nmain xs = (even_ m, odd_ m)\n",
         "[1, 2, 3]", "bool false; bool true");
  expect("fib 0 = 0\nfib 1 = 1\nfib n = fib (n - 1) + fib (n - 2)\nmain : (int, int)\nmain = (fib "
         "10, fib 80)\n",
         "", "i64 55; i64 23416728348467685");
  expect(
      "ackermann 0 n = n + 1\nackermann m 0 = ackermann (m - 1) 1\n"
      "ackermann m n = ackermann (m - 1) (ackermann m (n - 1))\nmain : int\nmain = ackermann 2 9\n",
      "", "i64 21");
  expect("power x 0 = 1\npower x n = x * power x (n - 1)\nmain : f64 -> int -> (f64, int)\nmain x "
         "k = (power x 5, power k 3)\n",
         "2.0 3", "f64 32; i64 27");
  // Deep, but not too deep.
  expect("down 0 x = x\ndown n x = down (n - 1) (x + 1)\nmain : int -> int\nmain x = down 5000 x\n",
         "1", "i64 5001");
  expect_error("f n = f (n + 1)\nmain : int\nmain = f 0\n", "", "'f'");
  expect_error("f n = g n\ng n = f n + 1\nmain : int\nmain = f 0\n", "", "which is the limit");
}

TEST(polymorphism) {
  expect("main : int -> f32 -> (int, f32, (int, int), (f32, f32))\nmain x y = (twice x, twice y, "
         "pair x, pair y)\n"
         "  where\n    twice a = a + a\n    pair a = (a, a)\n",
         "5 2.5", "i64 10; f32 5; i64 5; i64 5; f32 2.5; f32 2.5");
  // A local polymorphic function that uses another, and a captured value.
  expect("main : u8 -> f64 -> int -> (u8, f64, int)\nmain x y z = (g x, g y, g z)\n  where\n"
         "    f a = a * a\n    g a = iter steps f a + 1\n    steps = 1 + 1\n",
         "3u8 1.5 2", "u8 82; f64 6.0625; i64 17");
  expect("f 0 x = [x]\nf n x = concat (f (n - 1) x) (f (n - 1) x)\n"
         "main : int -> f32 -> ([]int, []f32)\nmain x y = (f 2 x, f 1 y)\n",
         "3 2.5", "i64 [3 3 3 3]; f32 [2.5 2.5]");
  // Mutual recursion, each use of the group at its own type.
  expect("a 0 x = x\na n x = b (n - 1) (x + 1)\nb 0 x = x\nb n x = a (n - 1) (x * 2)\n"
         "main : i8 -> f32 -> (i8, f32, i8)\nmain x y = (a 4 x, a 4 y, b 4 x)\n",
         "5i8 0.5", "i8 26; f32 8; i8 23");
  // A use inside of the group at its own type, and inside of a local function of it.
  expect("f 0 x = x\nf n x = g x\n  where g y = f (n - 1) (y + 1)\n"
         "main : u8 -> f64 -> (u8, f64)\nmain x y = (f 3 x, f 2 y)\n",
         "254u8 0.5", "u8 1; f64 2.5");
  expect("zero : a\nzero = minval - minval\nboth = (maxval, minval)\n"
         "main : (i8, u16, bool, i8)\nmain = (fst both, fst both, snd both, 1 + zero * 0)\n",
         "", "i8 127; u16 65535; bool false; i8 1");
  // The classes of a signature's type names are inferred.
  expect("plus : a -> a -> a\nplus x y = x + y\nmain : c64 -> u8 -> (c64, u8)\nmain z x = (plus z "
         "z, plus x 1)\n",
         "1.0+2.0i 255u8", "c64 2,4i; u8 0");
  expect_error("plus : a -> a -> a\nplus x y = x + y\nmain : bool -> bool\nmain b = plus b b\n",
               "true", "bool");
  // Main at the types of its input.
  expect("main : [m]a -> (a, [m]a)\nmain xs = (maximum xs, map (\\x -> x) xs)\n",
         "[1i16, 5i16, 3i16]", "i16 5; i16 [1 5 3]");
  expect("main x = x + x\n", "2.5f32", "f32 5");
}

TEST(functions_as_values) {
  expect("add x = \\y -> x + y\nmake b = if b then add 1 else (\\y -> y * 2)\n"
         "main : int -> (int, int)\nmain x = (make true x, make false x)\n",
         "7", "i64 8; i64 14");
  expect("compose fs = foldr_ (length fs) fs\nfoldr_ 0 fs x = x\nfoldr_ n fs x = foldr_ (n - 1) fs "
         "(fs[n - 1] x)\n"
         "main : int -> int\nmain = compose [(+ 1), (* 2), \\x -> x * x]\n",
         "3", "i64 19");
  expect("main : int -> []int\nmain x = [f x | f <- [(+ 1), (* 10), \\y -> y * y, max 4]]\n", "7",
         "i64 [8 70 49 7]");
  expect("main : int -> [3]int\nmain x = map (\\f -> f x) [(+ 1), negate, const 4]\n", "7",
         "i64 [8 -7 4]");
  expect("three a b c = a * 100 + b * 10 + c\nmain : int -> (int, int, int)\n"
         "main x = let f = three x; g = f 2 in (g 3, f 4 5, flip (three 1) x 2)\n",
         "9", "i64 923; i64 945; i64 129");
  expect("main : int -> int\nmain = (+ 1) . (* 2) . \\x -> x - 3\n", "10", "i64 15");
  expect("main : int -> int\nmain x = x |> (+ 1) |> (2 ^) |> \\y -> y - 1\n", "4", "i64 31");
  expect("main : int -> int -> int\nmain = flip (-)\n", "3 10", "i64 7");
  expect("main : int -> (int, int, int, int)\nmain x = ((10 -) x, (4 / ) x, (% 4) x, (-3 +) x)\n",
         "7", "i64 3; i64 0; i64 3; i64 4");
  expect(
      "apply f x = f x\ntwice f = f . f\nmain : int -> int\nmain = apply (twice (twice (* 3)))\n",
      "2", "i64 162");
  expect("main : [m]int -> [m]int\nmain = map f where f = if true then g else h\n                  "
         " g x = x + 1\n                   h x = x\n",
         "[1, 2]", "i64 [2 3]");
  expect("pairs = [(\\x -> x + 1, 2), (\\x -> x * 2, 3)]\nmain : int -> [2]int\nmain x = [f (x + "
         "k) | (f, k) <- pairs]\n",
         "5", "i64 [8 16]");
  expect_error("main : bool -> int -> int\nmain b x = (if b then (+ 1) else negate) x\n", "true 3",
               "functions");
  expect_error("main : i32 -> int\nmain x = [negate, abs][i64 x] 3\n", "1", "index");
  expect("main : [n]int -> int -> [2^n]u8 -> [2^n]u8\nmain = bmmc\n", "[2, 1] 3 [1, 2, 3, 4]",
         "u8 [4 2 3 1]");
  expect_error("main : [n]int -> int -> [2^n]u8 -> [2^n]u8\nmain = bmmc\n", "[1, 1] 0 [1, 2, 3, 4]",
               "not invertible");
}

TEST(shadowing) {
  // The program's definitions hide the library's, which does not see them.
  expect("map f xs = xs\nsort xs = xs\nmain : [2^n]int -> [2^n]int\nmain xs = argsort (map (+ 1) "
         "(sort xs))\n",
         "[3, 1, 2, 0]", "i64 [3 1 2 0]");
  expect("length xs = 42\ncompare_exchange xs = xs\ntwo f xs = xs\nlog2 n = 0\n"
         "main : [2^n]int -> ([2^n]int, int, []int, [2^n]int)\nmain xs = (sort xs, length xs, "
         "top_k 2 xs, two sort xs)\n",
         "[3, 1, 2, 0]", "i64 [0 1 2 3]; i64 42; i64 [3 2]; i64 [3 1 2 0]");
  expect("sum x = x + 1\nmain : int -> int\nmain sort = sum sort\n", "3", "i64 4");
  expect("x = 1\nf x = let x = x_ + 1; x_ = 5 in x\nmain : int -> (int, int, int)\nmain y = (x, f "
         "y, (\\x -> (\\x -> x) (x + 1)) y)\n",
         "3", "i64 1; i64 6; i64 4");
  expect("main : [m]int -> []int\nmain xs = [x | x <- [x * 10 | x <- xs], x <- [x, x + 1]]\n",
         "[1, 2]", "i64 [10 11 20 21]");
  expect("f n = n\nmain : [2^n]int -> (int, int, int)\nmain xs = (n, f 9, g 7)\n  where g n = n\n",
         "[1, 2, 3, 4]", "i64 2; i64 9; i64 7");
  expect("min x y = x * 10 + y\nmain : int -> (int, int)\nmain x = (min x 2, clamp 0 3 x)\n", "5",
         "i64 52; i64 3");
}

TEST(comprehensions_and_ranges) {
  expect("main : ([]int, []int, []int, []int, int, int)\n"
         "main = ([1..4], [10, 8..2], [10, 7..-3], [3..3], length [5..4], length [1, 0..2])\n",
         "", "i64 [1 2 3 4]; i64 [10 8 6 4 2]; i64 [10 7 4 1 -2]; i64 [3]; i64 0; i64 0");
  expect("main : []int\nmain = [10 * i + j | i <- 1..2, j <- [0, 5, 7], i + j != 6]\n", "",
         "i64 [10 17 20 25 27]");
  expect("main : []int\nmain = [i * j | i <- 1..3, j <- i..3, k <- [j - i], k % 2 == 0]\n", "",
         "i64 [1 3 4 9]");
  expect("main : [][]int\nmain = [[i..i + 2] | i <- 0..2]\n", "", "i64 [[0 1 2] [1 2 3] [2 3 4]]");
  expect("main : [m]int -> [k]int -> []int\nmain xs ys = [x * y | x <- xs, y <- ys]\n",
         "[1, 2, 3] [10, 20]", "i64 [10 20 20 40 30 60]");
  expect("main : [m]int -> []int\nmain xs = [x * k | k <- 1..2, x <- xs]\n", "[1, 2, 3]",
         "i64 [1 2 3 2 4 6]");
  expect("main : [m]int -> [][]int\nmain xs = [[x * k | k <- 1..2] | x <- xs]\n", "[1, 2, 3]",
         "i64 [[1 2] [2 4] [3 6]]");
  expect("main : [m][2]int -> []int\nmain xs = [a + b | [a, b] <- xs]\n", "[[1, 2], [3, 4]]",
         "i64 [3 7]");
  expect("main : [m](int, int) -> []int\nmain xs = [a + b | (a, b) <- xs, m > 1]\n",
         "[1, 2] [3, 4]", "i64 [4 6]");
  expect("main : [m]int -> []int\nmain xs = [f x | x <- xs, f <- [(+ 1), (* 2)]]\n", "[1, 5]",
         "i64 [2 2 6 10]");
  expect("main : [m]int -> []int\nmain xs = [x | x <- xs, m > 5]\n", "[1, 5]", "i64 [0]");
  expect("main : int -> []int\nmain x = [x + i | i <- [-1..1]]\n", "5", "i64 [4 5 6]");
  expect(
      "f = [\\x -> x + i | i <- 1..3]\nmain : int -> [3]int\nmain x = [f[0] x, f[1] x, f[2] x]\n",
      "10", "i64 [11 12 13]");
  expect_error("main : [m]int -> []int\nmain xs = [x | x <- xs, x > 2]\n", "[1, 2]",
               "condition in a comprehension");
  expect_error("main : i32 -> []int\nmain n = [1..i64 n]\n", "3", "known before");
  expect("main : int -> []int\nmain n = [1..n]\n", "3", "i64 [1 2 3]");
  expect_error("main : []int\nmain = [1, 1..3]\n", "", "the step of this range is 0");
}

TEST(static_lists) {
  expect("main : [2^n]int -> [2^n]int\nmain = bmmc (map (\\i -> 2 ^ ((i + 1) % 3)) [0..2]) 0\n",
         "[0, 1, 2, 3, 4, 5, 6, 7]", "i64 [0 2 4 6 1 3 5 7]");
  expect("main : [8]int -> [8]int\nmain = bmmc (take 3 (drop 1 (concat [9, 1] [4, 2, 7]))) 0\n",
         "[0, 1, 2, 3, 4, 5, 6, 7]", "i64 [0 1 4 5 2 3 6 7]");
  expect("main : [8]int -> int\nmain xs = xs[length [0..2] + fst (head (zip [1, 2] [3, 4]))]\n",
         "[0, 1, 2, 3, 40, 5, 6, 7]", "i64 40");
  expect("rows = [(1, 2), (3, 4)]\nmain : [8]int -> int\nmain xs = let (a, b) = unzip rows in "
         "xs[a[1] + b[0]]\n",
         "[0, 1, 2, 3, 4, 50, 6, 7]", "i64 50");
  expect("main : [8]int -> [8]int\nmain = parm (head (map (+ 4) [1, 2])) reverse\n",
         "[0, 1, 2, 3, 4, 5, 6, 7]", "i64 [7 6 5 4 3 2 1 0]");
  expect("main : [2]int -> int\nmain xs = xs[last (mapi (\\i x -> i * x) [5, 1])]\n", "[3, 4]",
         "i64 4");
  expect("main : [4]int -> [4]int\nmain xs = [xs[i] | i <- [2, 0, 3, 1]]\n", "[1, 2, 3, 4]",
         "i64 [3 1 4 2]");
  expect_error("main : [2]i32 -> [4]int -> [4]int\nmain rows xs = bmmc (map i64 rows) 0 xs\n",
               "[1, 2] [1, 2, 3, 4]", "matrix");
}

TEST(sizes) {
  expect(
      "sizes : [2^n]int -> [m]int -> [2^n][k]int -> (int, int, int)\nsizes xs ys zs = (n, m, k)\n"
      "main : [a]int -> [b]int -> [a][c]int -> (int, int, int)\nmain = sizes\n",
      "[1, 2, 3, 4] [5] [[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]", "i64 2; i64 1; i64 3");
  expect("main : [m]int -> [2^n]int -> (int, int)\nmain xs ys = (h xs, h ys)\n  where\n    h : "
         "[k]int -> int\n"
         "    h zs = k * 100 + m * 10 + n\n",
         "[1, 2, 3] [1, 2]", "i64 331; i64 231");
  // A local signature's size name hides the outer one.
  expect("main : [m]int -> int\nmain xs = h (concat xs xs) + m\n  where\n    h : [m]int -> int\n   "
         " h ys = m * 100\n",
         "[1, 2, 3]", "i64 603");
  expect("f : [2^n]int -> [2^(n + 1)]int\nf xs = concat xs xs\nmain : [2^n]int -> [2 * "
         "2^n]int\nmain xs = f xs\n",
         "[1, 2]", "i64 [1 2 1 2]");
  expect("main : [m]int -> [m + 1]int -> int\nmain xs ys = m\n", "[1, 2] [1, 2, 3]", "i64 2");
  expect("main : [m + 1]int -> [m]int -> int\nmain xs ys = m\n", "[1, 2, 3] [1, 2]", "i64 2");
  expect("main : [4]a -> [2 * 2]a\nmain xs = xs\n", "[1, 2, 3, 4]", "i64 [1 2 3 4]");
  expect("main : ([m]int, [m]f32) -> ([m]f32, [m]int)\nmain (xs, ys) = (ys, xs)\n",
         "[1, 2] [0.5, 1.5]", "f32 [0.5 1.5]; i64 [1 2]");
  expect("main : [m]([k]int, int) -> [m](int, [k]int)\nmain = map swap\n",
         "[[1, 2], [3, 4]] [5, 6]", "i64 [5 6]; i64 [[1 2] [3 4]]");
  // Eta: the signature has more arrows than the equations have patterns.
  expect("f : int -> [2^n]int -> [2^n]int\nf k = map (+ k * n)\nmain : [2^n]int -> [2^n]int\nmain "
         "= f n . f 10\n",
         "[1, 2, 3, 4]", "i64 [25 26 27 28]");
  expect("main : [2^n]int -> [k]int -> [k]int\nmain xs = map (+ (n * 10 + k))\n",
         "[1, 2] [1, 2, 3]", "i64 [14 15 16]");
  // A size name where the function argument has sizes of its own.
  expect("on_rows : ([]a -> []b) -> [m][k]a -> [m][k]b\non_rows f = map f\n"
         "main : [m][2^n]int -> [m][2^n]int\nmain = on_rows sort\n",
         "[[2, 1], [4, 3], [6, 5]]", "i64 [[1 2] [3 4] [5 6]]");
  expect_error("main : [m]int -> [m]int -> int\nmain xs ys = m\n", "[1, 2] [1, 2, 3]",
               "but this array has 3");
  expect_error("main : [m]int -> [m]int\nmain xs = concat xs xs\n", "[1, 2]", "but returns 4");
  expect_error("main : [m][2^n]int -> [m][2^n]int\nmain = map (take 1)\n", "[[1, 2], [3, 4]]",
               "but returns 1");
  expect_error("main : [2^n]int -> int\nmain xs = n\n", "[1, 2, 3]", "the nearest are 2 and 4");
  expect_error("main : [2^n]int -> int\nmain xs = n\n", "empty([0]i64)", "empty");
}

// ---- arrays ----------------------------------------------------------------------------------

TEST(arrays_of_tuples_of_arrays) {
  const char *arguments = "[[1, 2], [3, 4], [5, 6], [7, 8]] [true, false, true, false]";
#define MAIN "main : [2^n]([2]int, bool) -> [2^n]([2]int, bool)\nmain = "
  expect(MAIN "reverse\n", arguments,
         "i64 [[7 8] [5 6] [3 4] [1 2]]; bool [false true false true]");
  expect(MAIN "parm 1 reverse\n", arguments,
         "i64 [[5 6] [7 8] [1 2] [3 4]]; bool [true false true false]");
  expect(MAIN "column 2 (\\[x, y] -> [y, x])\n", arguments,
         "i64 [[5 6] [7 8] [1 2] [3 4]]; bool [true false true false]");
  expect(MAIN "map (\\(r, b) -> (reverse r, not b))\n", arguments,
         "i64 [[2 1] [4 3] [6 5] [8 7]]; bool [false true false true]");
  expect(MAIN "join . transpose . split 1\n", arguments,
         "i64 [[1 2] [5 6] [3 4] [7 8]]; bool [true true false false]");
  expect(MAIN "\\xs -> concat (drop 3 xs) (take 3 xs)\n", arguments,
         "i64 [[7 8] [1 2] [3 4] [5 6]]; bool [false true false true]");
  expect(MAIN "\\xs -> replicate 4 xs[2]\n", arguments,
         "i64 [[5 6] [5 6] [5 6] [5 6]]; bool [true true true true]");
  expect(MAIN "mapi (\\i (r, b) -> (map (+ i) r, b && i > 0))\n", arguments,
         "i64 [[1 2] [4 5] [7 8] [10 11]]; bool [false false true false]");
  expect(MAIN "two (\\xs -> [xs[1], xs[0]])\n", arguments,
         "i64 [[3 4] [1 2] [7 8] [5 6]]; bool [false true false true]");
  expect(MAIN "\\[a, b, c, d] -> [(a.0, d.1), (d.0, a.1), c, b]\n", arguments,
         "i64 [[1 2] [7 8] [5 6] [3 4]]; bool [false true true false]");
#undef MAIN
}

TEST(rows_of_length_zero) {
  expect("main : [m][k]int -> ([m][k]int, [m]int)\nmain xs = (map (map (+ 1)) xs, map sum xs)\n",
         "empty([2][0]i64)", "i64 [2][0]; i64 [0 0]");
  expect("main : [m][2^n]int -> [m][2^n]int\nmain = map (sort . two reverse . parmi 1 (\\b -> map "
         "(+ b)))\n",
         "empty([0][4]i64)", "i64 [0][4]");
  expect("main : [m][2^n]int -> [m][2^n]int\nmain = map (\\r -> join (transpose (split 1 r)))\n",
         "empty([0][8]i64)", "i64 [0][8]");
  expect("main : [m]int -> ([m]int, int, [m](int, int), []int)\n"
         "main xs = (mapi (+) xs, sum xs, zip xs (iota m), concat xs [1])\n",
         "empty([0]i64)", "i64 [0]; i64 0; i64 [0]; i64 [0]; i64 [1]");
  expect("main : [m][k]int -> ([][m][k]int, []int, int)\nmain xs = (replicate 2 xs, join xs, "
         "length (join xs))\n",
         "empty([0][3]i64)", "i64 [2][0][3]; i64 [0]; i64 0");
  expect("main : [m]int -> ([0]int, [0][m]int)\nmain xs = (take 0 xs, replicate 0 xs)\n", "[1, 2]",
         "i64 [0]; i64 [0][2]");
  expect("main : [m](int, [3]f32) -> [m]([3]f32, int)\nmain = padded (0, [0, 0, 0]) (map swap)\n",
         "empty([0]i64) empty([0][3]f32)", "f32 [0][3]; i64 [0]");
  expect("main : [m][2]i32 -> [m][2]i32\nmain = padded [maxval, maxval] reverse\n",
         "empty([0][2]i32)", "i32 [0][2]");
  expect("main : [m][2]int -> [m][2]int\nmain xs = concat xs []\n", "empty([0][2]i64)",
         "i64 [0][2]");
  expect("main : [m][2]int -> ([m][2]int, [m][2]int)\nmain xs = (concat [] xs, [reverse x | x <- "
         "xs])\n",
         "empty([0][2]i64)", "i64 [0][2]; i64 [0][2]");
  expect("main : [m]int -> [m]int\nmain = mapi (\\i x -> if i == 0 then x else x / i)\n",
         "empty([0]i64)", "i64 [0]");
  // Lengths of rows that come from the rows, a list, a range, a signature; that nobody says.
  expect("main : [m]int -> ([0][3]int, [][2][m]int, [][]int, int)\n"
         "main xs = ([], [[xs, xs] | i <- 1..0], [take i xs | i <- 3..2], length xs)\n",
         "[1]", "i64 [0][3]; i64 [0][2][1]; i64 [0][0]; i64 1");
  expect("main : [m]int -> ([][2]int, [][3]int, [][4]int)\n"
         "main xs = (take 0 [[x, x] | x <- [1, 2]], map (\\[a, b] -> [a, b, 7]) (drop 2 [[1, 2], "
         "[3, 4]]), [replicate (k + 1) k | (k, _) <- zip (drop 1 [3]) []])\n",
         "[1]", "i64 [0][2]; i64 [0][3]; i64 [0][4]");
  expect_error("main : [m][8]int -> [m][8]int\nmain = map (take 4)\n", "empty([0][8]i64)",
               "must return 8 elements");
  expect_error("main : [m][8]int -> [m]int\nmain = map (\\r -> r[8])\n", "empty([0][8]i64)",
               "index 8 is outside");
  expect_error("main : [m][2]int -> [m][3]int\nmain xs = concat xs (replicate 0 [1, 2, 3])\n",
               "empty([0][2]i64)", "same shape");
  // Recursion that an empty list ends is not followed further.
  expect("count d = [[d] | _ <- 1..d, row <- count (d - 1)]\n"
         "main : int -> [][]int\nmain x = count 3\n",
         "1", "i64 [0][0]");
}

// A list without elements is as static as any other.
TEST(empty_lists) {
  expect("main : [2^n]int -> []int\nmain xs = map (\\i -> xs[i]) [0..n - 1]\n", "[5]", "i64 [0]");
  expect("main : [2^n]int -> []int\nmain xs = map (\\i -> xs[i]) [0..n - 1]\n", "[5, 6]",
         "i64 [5]");
  expect("main : [2^n]int -> [2^n]int\nmain xs = bmmc (map (\\i -> sum_ [2^j | j <- i..i]) [0..n - "
         "1]) 0 xs\n"
         "  where sum_ js = js[0]\n",
         "[5]", "i64 [5]");
  expect("main : [2^n]int -> []int\nmain xs = mapi (\\i j -> xs[i + j]) (take n [0, 0])\n", "[5]",
         "i64 [0]");
  expect(
      "main : int -> ([]int, int, int)\nmain x = (concat [] [x], length [], sum (map (+ x) []))\n",
      "5", "i64 [5]; i64 0; i64 0");
}

static void each_rank(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++) {
    out[i] = 0;
    for (size_t k = 0; k < count; k++)
      out[i] += in[k] < in[i];
  }
}

static void prefix_sums(size_t count, const int64_t *in, int64_t *out) {
  int64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    out[i] = sum += in[i];
}

static void plus_sum(size_t count, const int64_t *in, int64_t *out) {
  int64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += in[i];
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] + sum;
}

TEST(captured_arrays) {
  check_lengths("main : [m]int -> [m]int\nmain xs = map (\\x -> count (\\y -> y < x) xs) xs\n",
                each_rank);
  check_lengths(
      "main : [m]int -> [m]int\nmain xs = [sum [if y < x then 1 else 0 | y <- xs] | x <- xs]\n",
      each_rank);
  check_lengths("rank xs x = count (< x) xs\nmain : [m]int -> [m]int\nmain xs = map (rank xs) xs\n",
                each_rank);
  check_lengths("main : [m]int -> [m]int\nmain xs = mapi (\\i x -> sum (mapi (\\j y -> if j <= i "
                "then y else 0) xs)) xs\n",
                prefix_sums);
  check_lengths("main : [m]int -> [m]int\nmain xs = map (+ total) xs\n  where total = sum xs\n",
                plus_sum);
  // Forced for the first time two levels further in.
  check_lengths(
      "main : [m]int -> [m]int\nmain xs = map (\\x -> head (map (\\y -> y + total) [x])) xs\n"
      "  where total = sum copy\n        copy = map (\\x -> x) xs\n",
      plus_sum);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = if n == 0 then map (* 2) xs else parm 1 "
               "(map (+ total)) xs\n"
               "  where total = sum xs\n",
               plus_sum);
  check_powers(
      "main : [2^n]int -> [2^n]int\nmain xs = if n == 0 then map (* 2) xs else column 1 f xs\n"
      "  where f [x, y] = [x + total, total + y]\n        total = sum xs\n",
      plus_sum);
}

// ---- index bits ------------------------------------------------------------------------------

static void plus_index(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] + (int64_t)i;
}

static void times_square(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] * (int64_t)(i * i) + 7;
}

TEST(index_bits) {
  check_lengths("main : [m]int -> [m]int\nmain = mapi (\\i x -> x + i)\n", plus_index);
  check_lengths("main : [m]int -> [m]int\nmain xs = zip_with (+) xs (iota m)\n", plus_index);
  check_lengths("main : [m]int -> [m]int\nmain xs = mapi (\\i x -> square i * x + 7) xs\n  where "
                "square i = i * i\n",
                times_square);
  // From the lowest bit up, as the FFT does.
  check_powers(
      "go n m k [x] = [x + k]\ngo n m k xs = parmi 1 (\\b -> go n (m - 1) (k + b * 2^(n - m))) xs\n"
      "main : [2^n]int -> [2^n]int\nmain = go n n 0\n",
      plus_index);
  // From the highest bit down.
  check_powers("go k [x] = [x + k]\ngo k xs = parmi (length xs / 2) (\\b -> go (2 * k + b)) xs\n"
               "main : [2^n]int -> [2^n]int\nmain = go 0\n",
               plus_index);
}

// ---- calls that are seen again ---------------------------------------------------------------

static void times_4950(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] * 4950 + 9900;
}

static void scaled_by_first(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] * in[0] + in[0] * in[0];
}

// Adds the first element of every part that an element lies in: even and odd indices, again and
// again.
static void add_firsts(size_t count, size_t stride, const int64_t *in, int64_t *out) {
  if (count == 1) {
    *out = *in;
    return;
  }
  int64_t first = in[0];
  int64_t *sum = calloc(count * stride, sizeof *sum);
  for (size_t i = 0; i < count; i++)
    sum[i * stride] = in[i * stride] + first;
  add_firsts(count / 2, 2 * stride, sum, out);
  add_firsts(count / 2, 2 * stride, sum + stride, out + stride);
  free(sum);
}

static void add_all_firsts(size_t count, const int64_t *in, int64_t *out) {
  add_firsts(count, 1, in, out);
}

TEST(repeated_calls) {
  check_lengths("f p = sum (map (\\i -> i * p) (iota 100))\nmain : [m]int -> [m]int\nmain xs = map "
                "(\\x -> f x + f 2) xs\n",
                times_4950);
  check_lengths("f p = sum [i * p | i <- 0..99]\nmain : [m]int -> [m]int\nmain xs = map (\\x -> f "
                "x + f 2) xs\n",
                times_4950);
  check_lengths("f p = sum (mapi (\\i q -> i * q) (replicate 100 p))\nmain : [m]int -> [m]int\n"
                "main xs = map (\\x -> f x + f 2) xs\n",
                times_4950);
  // At the depth of main, inside of a map of 100, and of another map inside of that.
  check_lengths("f p = sum (map (\\i -> i * p) (iota 100))\nmain : [m]int -> [m]int\n"
                "main xs = map (\\x -> f x + (map (\\k -> f k) (map (\\k -> f 2 - 9898) (iota "
                "100)))[99] - 9900 + f 2) xs\n",
                times_4950);
  check_powers("scale k xs = map (* k) xs\nmain : [2^n]int -> [2^n]int\n"
               "main xs = zip_with (+) (scale xs[0] xs) (scale xs[0] (replicate (2^n) xs[0]))\n",
               scaled_by_first);
  check_powers(
      "scale k xs = map (* k) xs\nmain : [2^n]int -> [2^n]int\n"
      "main xs = if n == 0 then map (\\x -> x * x + x * x) xs\n"
      "          else map (+ (scale k [k])[0]) (column 1 (scale k) xs)\n  where k = xs[0]\n",
      scaled_by_first);
  check_powers("firsts xs = if length xs == 1 then xs else ilv firsts (map (+ head xs) xs)\n"
               "main : [2^n]int -> [2^n]int\nmain = firsts\n",
               add_all_firsts);
  check_powers(
      "firsts f xs = if length xs == 1 then xs else parm 1 (firsts f) (map (f (head xs)) xs)\n"
      "main : [2^n]int -> [2^n]int\nmain xs = firsts (\\k x -> k + x + zero) xs\n"
      "  where zero = xs[2^n - 1] - last xs\n",
      add_all_firsts);
}

static void last_of_chain(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = 1024 * in[i] + 1023 * (int64_t)count;
}

// 2^10 calls of f, of which ten are evaluated; closures over dynamic values are part of what is
// compared.
TEST(doubling_recursion) {
  check_lengths("f 0 g x = x\nf n g x = f (n - 1) g (g (f 0 g x))\nmain : [m]int -> [m]int\n"
                "main xs = map (f 10 (\\x -> 2 * x + m)) xs\n",
                last_of_chain);
  check_lengths("f 0 g x = x\nf n g x = f (n - 1) (g . id) (g x)\nmain : [m]int -> [m]int\n"
                "main xs = map (\\x -> f 10 (\\y -> 2 * y + m + x - z x) x) xs\n  where z x = x\n",
                last_of_chain);
  check_lengths(
      "main : [m]int -> [m]int\nmain = map (iter 10 (\\x -> 2 * x + m))\n  where m_ = 0\n",
      last_of_chain);
  expect("f 0 xs = xs\nf n xs = zip_with (+) (f (n - 1) xs) (f (n - 1) (map (+ 1) xs))\n"
         "main : [m]int -> [m]int\nmain = f 12\n",
         "[0, 1]", "i64 [24576 28672]");
}

// ---- reorderings and other array functions at all sizes --------------------------------------

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void sorted(size_t count, const int64_t *in, int64_t *out) {
  memcpy(out, in, count * sizeof *in);
  qsort(out, count, sizeof *out, by_value);
}

static void reversed(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[count - 1 - i];
}

static void rotated(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[(i + 1) % count];
}

static void unchanged(size_t count, const int64_t *in, int64_t *out) {
  memcpy(out, in, count * sizeof *in);
}

static void evens_first(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[count == 1 ? 0 : i / 2 + (i % 2) * (count / 2)] = in[i];
}

static void collatz(size_t count, const int64_t *in, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = in[i] % 2 == 0 ? in[i] / 2 : 3 * in[i] + 1;
}

TEST(sorting_at_all_sizes) {
  check_lengths("main : [m]int -> [m]int\nmain = padded maxval sort\n", sorted);
  check_lengths("main : [m]int -> [m]int\nmain = padded maxval (map fst . sort_on fst . map (\\x "
                "-> (x, (x, x))))\n",
                sorted);
  check_lengths(
      "main : [m]int -> [m]int\nmain xs = let (a, b) = (take (m / 2) xs, drop (m / 2) xs)\n"
      "          in merge_sorted (padded maxval sort a) (padded maxval odd_even_sort b)\n",
      sorted);
  check_powers(
      "main : [2^n]int -> [2^n]int\nmain xs = reverse (map negate (sort (map negate xs)))\n",
      sorted);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = map snd (sort (zip xs (sort_desc (reverse "
               "xs)))) |> sort_by (<=)\n",
               sorted);
  check_powers("main : [2^n]int -> [2^n]int\nmain = go n\n  where\n    go 0 xs = xs\n"
               "    go k xs = merge (two (go (k - 1)) xs)\n",
               sorted);
}

TEST(moving_at_all_sizes) {
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = if n == 0 then xs else column (2^n - 1) "
               "(\\[x, y] -> [y, x]) xs\n",
               reversed);
  check_powers("flip_ f [x] = [x]\nflip_ f xs = f (flip_ f) (concat (drop h xs) (take h xs))\n  "
               "where h = length xs / 2\n"
               "main : [2^n]int -> [2^n]int\nmain = flip_ two\n",
               reversed);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = [xs[2^n - 1 - i] | i <- 0..2^n - 1]\n",
               reversed);
  check_powers("main : [2^n]int -> [2^n]int\nmain = iter n shuffle\n", unchanged);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = let k = n / 2 in join (transpose (transpose "
               "(split k xs)))\n",
               unchanged);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = if n == 0 then xs else join (transpose "
               "(split 1 xs))\n",
               evens_first);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = if n == 0 then xs else join (split (n - 1) "
               "(unshuffle xs))\n",
               evens_first);
  check_powers("main : [2^n]int -> [2^n]int\nmain xs = concat [x | [x, _] <- pairs] [y | [_, y] <- "
               "pairs] |> take (2^n)\n"
               "  where pairs = if n == 0 then [[xs[0], 0]] else split 1 xs\n",
               evens_first);
  check_lengths(
      "main : [m]int -> [m]int\nmain xs = if m == 0 then xs else concat (drop 1 xs) (take 1 xs)\n",
      rotated);
  check_lengths("main : [m]int -> [m]int\nmain xs = take m (concat (drop (min 1 m) xs) xs)\n",
                rotated);
  check_lengths("main : [m]int -> [m]int\nmain xs = (join [xs, map (+ 1) xs] |> take m)\n",
                unchanged);
}

TEST(scans_and_guards_at_all_sizes) {
  check_powers("main : [2^n]int -> [2^n]int\nmain = scan (+)\n", prefix_sums);
  check_lengths("main : [m]int -> [m]int\nmain = padded 0 (scan (+))\n", prefix_sums);
  check_lengths("main : [m]int -> [m]int\nmain = padded (0, 0) (scan (\\(a, b) (c, d) -> (a + c, "
                "d))) . map (\\x -> (x, x))\n"
                "       |> (\\f -> map fst . f)\n",
                prefix_sums);
  check_lengths("step x\n  | even x = x / 2\n  | otherwise = 3 * x + 1\nmain : [m]int -> "
                "[m]int\nmain = map step\n",
                collatz);
  check_lengths("main : [m]int -> [m]int\nmain = map (\\x -> (if x % 2 == 0 then [x / 2, x] else "
                "[3 * x + 1, x])[0])\n",
                collatz);
  check_lengths("main : [m]int -> [m]int\nmain = map (\\x -> (if odd x then ((0, 3 * x), 1) else "
                "((x, 0), -(x / 2))) |> (\\((a, b), c) -> a + b + c))\n",
                collatz);
  check_lengths("main : [m]int -> [m]int\nmain xs = [y | (x, y) <- zip xs (map step xs)]\n  "
                "where\n    step x\n"
                "      | even x = half\n      | otherwise = more\n      where half = x / 2\n       "
                "     more = 3 * x + 1\n",
                collatz);
}

// ---- nests -----------------------------------------------------------------------------------

TEST(nests) {
  expect("main : [2^n][k]int -> ([k]int, [2^n][k]int)\n"
         "main xs = (reduce (zip_with (+)) xs, scan (zip_with (+)) xs)\n",
         "[[1, 2], [3, 4], [5, 6], [7, 8]]", "i64 [16 20]; i64 [[1 2] [4 6] [9 12] [16 20]]");
  expect("main : [m]int -> [][][]int\nmain xs = map (\\x -> map (\\y -> map (\\z -> x * 100 + y * "
         "10 + z) xs) xs) xs\n",
         "[1, 2]", "i64 [[[111 112] [121 122]] [[211 212] [221 222]]]");
  expect(
      "main : [m][k]int -> [m][k]int\n"
      "main xs = mapi (\\i r -> mapi (\\j x -> x + i * k + j + sum r + sum (map head xs)) r) xs\n",
      "[[1, 2], [3, 4]]", "i64 [[8 10] [16 18]]");
  expect("main : [2^n][2^k]int -> [2^n][2^k]int\nmain = parmi 1 (\\b -> map (parmi 1 (\\c -> map "
         "(+ (10 * b + c)))))\n",
         "[[0, 0], [0, 0], [0, 0], [0, 0]]", "i64 [[0 1] [10 11] [0 1] [10 11]]");
  expect("main : [2^n]int -> [2^n]int\n"
         "main = parmi 1 (\\b xs -> if length xs == 1 then map (+ b) xs else parmi 1 (\\c -> map "
         "(+ (b * 10 + c * 100))) xs)\n",
         "[0, 0, 0, 0]", "i64 [0 10 100 110]");
  expect("main : [m]int -> [m](int, [2](int, bool))\nmain = map (\\x -> (x, [(x + 1, true), (x + "
         "2, x > 1)]))\n",
         "[1, 2]", "i64 [1 2]; i64 [[2 3] [3 4]]; bool [[true false] [true true]]");
  expect("main : [m][2](int, bool) -> [m]int\nmain = map (\\[(a, b), (c, d)] -> if b && d then a "
         "else c)\n",
         "[[1, 2], [3, 4]] [[true, true], [true, false]]", "i64 [1 4]");
  expect("main : int -> [3]int\nmain x = map (\\f -> f x) (map (\\k y -> y * k + x) [1, 2, 3])\n",
         "10", "i64 [20 30 40]");
  expect("step (cr, ci) (zr, zi, k) = (if out then zr else zr * zr - zi * zi + cr, if out then zi "
         "else 2 * zr * zi + ci,\n"
         "                             if out then k else k + 1)\n  where out = zr * zr + zi * zi "
         "> 4\n"
         "main : [m](f64, f64) -> [m]int\nmain = map (\\c -> (iter 50 (step c) (0, 0, 0)).2)\n",
         "[0.0, 1.0, -1.0] [0.0, 1.0, 0.3]", "i64 [50 2 35]");
}

static void check_product(permc_context *c, int a, int b, int d) {
  size_t rows = (size_t)1 << a, inner = (size_t)1 << b, columns = (size_t)1 << d;
  int64_t *x = some_numbers(rows * inner), *y = some_numbers(inner * columns);
  int64_t *z = calloc(rows * columns, sizeof *z);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      for (size_t k = 0; k < inner; k++)
        z[i * columns + j] += x[i * inner + k] * y[k * columns + j];
  outcome out = run_values(
      c, "main",
      (permc_value *[]){value_2("i64", rows, inner, x), value_2("i64", inner, columns, y)}, 2);
  if (CHECK_EQ_U64(out.count, 1))
    check_2(out.values[0], 0, "i64", rows, columns, z);
  permc_values_free(out.values, out.count);
  free(x);
  free(y);
  free(z);
}

TEST(matrix_products) {
  static const char *const programs[] = {
      "dot x y = sum (zip_with (*) x y)\nmain : [2^a][2^b]int -> [2^b][2^c]int -> [2^a][2^c]int\n"
      "main x y = [[dot r c | c <- transpose y] | r <- x]\n",
      "main : [2^a][2^b]int -> [2^b][2^c]int -> [2^a][2^c]int\nmain x y = map (\\r -> map (dot r) "
      "columns) x\n"
      "  where\n    columns = transpose y\n    dot r s = reduce (+) (mapi (\\i (p, q) -> p * q + 0 "
      "* i) (zip r s))\n",
      // By outer products, summed up.
      "main : [2^a][2^b]int -> [2^b][2^c]int -> [2^a][2^c]int\n"
      "main x y = reduce (zip_with (zip_with (+))) (zip_with (\\u v -> map (\\p -> map (* p) v) u) "
      "(transpose x) y)\n"};
  for (int k = 0; k < 3; k++) {
    permc_context *c = load_text(programs[k]);
    for (int a = 0; a <= 3; a++)
      for (int b = 0; b <= 3; b++)
        for (int d = 0; d <= 3; d++)
          check_product(c, a, b, d);
    permc_context_free(c);
  }
}

// Row operations on the identity reach every invertible matrix.
static void check_bmmc(int n) {
  uint64_t rows[16], count = (uint64_t)1 << n, complement = random_below(count);
  for (int i = 0; i < n; i++)
    rows[i] = (uint64_t)1 << i;
  for (int step = 0; step < 4 * n; step++) {
    size_t i = (size_t)random_below((uint64_t)n), k = (size_t)random_below((uint64_t)n);
    rows[i] ^= i != k ? rows[k] : 0;
  }
  shown_length = 0;
  put("main : [2^n]int -> [2^n]int\nmain = bmmc [");
  for (int i = 0; i < n; i++)
    put("%s%" PRIu64, i > 0 ? ", " : "", rows[i]);
  put("] %" PRIu64 "\n", complement);
  int64_t *in = some_numbers(count), *expected = malloc(count * sizeof *in);
  for (uint64_t x = 0; x < count; x++) {
    uint64_t y = complement;
    for (int i = 0; i < n; i++)
      y ^= (uint64_t)__builtin_parityll(x & rows[i]) << i;
    expected[y] = in[x];
  }
  permc_context *c = load_text(shown);
  check_array(c, "main", 1, (uint64_t[]){count}, in, expected);
  permc_context_free(c);
  free(in);
  free(expected);
}

TEST(affine_maps) {
  for (int n = 0; n <= 12; n++)
    for (int round = 0; round < 5; round++)
      check_bmmc(n);
}

TEST(operators) {
  expect("main = 1 + 2 * 3 ^ 2 ^ 1 % 5 - 7 / 2\n", "", "i64 1");
  expect("main = (5 & 3 == 1, 6 xor 3 & 1, 1 << 2 + 1, (1 | 2 & 3), -2 ^ 2, 2 * -3, 2 ^ 3 ^ 2)\n",
         "", "bool true; i64 7; i64 8; i64 3; i64 -4; i64 -6; i64 512");
  expect("main : bool -> bool -> [4]bool\nmain a b = [not a && b, a || b && not b, a == not b, not "
         "(a && b) || a]\n",
         "true false", "bool [false true true true]");
  expect("main : [3]int -> int\nmain xs = xs[0] - xs[1] - xs[2] + -xs[0]^2\n", "[9, 3, 1]",
         "i64 -76");
  expect("main : ((int, int), int) -> int\nmain p = p.0.1 * 10 + p.1\n", "1 2 3", "i64 23");
  expect("main : [2](int, int) -> int\nmain ps = ps[1].0 + (ps[0]).1\n", "[1, 2] [3, 4]", "i64 5");
  expect("f x = x * 2\ng x = x + 1\nmain : int -> (int, int, int)\nmain x = (f (g x) + 1, x |> f . "
         "g, x - 1 `max` 9 * 2)\n",
         "5", "i64 13; i64 12; i64 -13");
  expect("main : int -> (int, int, int)\nmain x = (x -1, 1 + let y = x in y * 2, if x > 0 then if "
         "x > 10 then 2 else 1 else 0)\n",
         "5", "i64 4; i64 11; i64 1");
  expect("main = (1i8 + 2, 2.5f32 * 2, 0xffu8 & 0x0f, 1_000 + 0b11, 1e3, 25e-1)\n", "",
         "i8 3; f32 5; u8 15; i64 1003; f64 1e+03; f64 2.5");
  expect("main : int -> (int, int, int, bool)\nmain x = (~x, xor x 3, (x | 8) & ~1, true xor (x > "
         "2))\n",
         "5", "i64 -6; i64 6; i64 12; bool false");
}

// ---- integers, static and dynamic ------------------------------------------------------------

__extension__ typedef __int128 wide;

static const char *const integer_types[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
enum { INTEGER_TYPES = 8, SAMPLES = 14 };

static wide least(const char *type) {
  return *type == 'i' ? -((wide)1 << (8 * size_of_type(type) - 1)) : 0;
}

static wide largest(const char *type) {
  return ((wide)1 << (8 * size_of_type(type) - (*type == 'i'))) - 1;
}

static wide wrap(const char *type, wide x) {
  wide range = largest(type) - least(type) + 1;
  x = (x - least(type)) % range;
  return x < 0 ? x + range + least(type) : x + least(type);
}

static wide sample(const char *type, int i) {
  const wide near[] = {0, 1, 2, 3, 5, 7, -1, -2, -5, -8};
  if (i < 10)
    return near[i] < least(type) ? largest(type) + near[i] : near[i];
  const wide far[] = {least(type), least(type) + 1, largest(type), largest(type) - 1};
  return far[i - 10];
}

static wide floor_div(wide x, wide y) {
  if (y == 0)
    return 0;
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static wide floor_mod(wide x, wide y) { return y == 0 ? 0 : x - y * floor_div(x, y); }

// The exact result, or what is documented where there is none; *fault: whether that is a static
// error.
static wide integer_operation(const char *op, const char *type, wide x, wide y, bool *fault) {
  wide bits = 8 * (wide)size_of_type(type), result = 0;
  *fault = (*op == '/' || *op == '%') && y == 0;
  switch (*op) {
  case '+':
    result = x + y;
    break;
  case '-':
    result = x - y;
    break;
  case '*':
    // The product of two u64 may leave the range of wide: wrapped as unsigned.
    if (__builtin_mul_overflow(x, y, &result)) {
      *fault = true;
      return wrap(type, (wide)((uint64_t)x * (uint64_t)y));
    }
    break;
  case '/':
    result = floor_div(x, y);
    break;
  case '%':
    result = floor_mod(x, y);
    break;
  case '&':
    result = x & y;
    break;
  case '|':
    result = x | y;
    break;
  case 'x':
    result = x ^ y;
    break;
  case '<':
    *fault = y < 0 || y >= bits;
    return *fault ? 0 : wrap(type, x * ((wide)1 << y));
  default:  // >>
    *fault = y < 0 || y >= bits;
    return *fault ? (x < 0 ? -1 : 0) : floor_div(x, (wide)1 << y);
  }
  *fault = *fault || result < least(type) || result > largest(type);
  return wrap(type, result);
}

static void put_literal(const char *type, wide x) {
  if (x < 0)
    put("(-%" PRIu64 "%s)", (uint64_t)-x, type);
  else
    put("%" PRIu64 "%s", (uint64_t)x, type);
}

// All pairs of samples, dynamically; and those without a fault as one list of literals.
static void check_integer_operation(const char *op, const char *type) {
  size_t size = size_of_type(type), count = 0, good = 0;
  char x_data[SAMPLES * SAMPLES * 8], y_data[SAMPLES * SAMPLES * 8],
      expected[SAMPLES * SAMPLES * 8];
  char expected_good[SAMPLES * SAMPLES * 8];
  shown_length = 0;
  put("main : [m]%s -> [m]%s -> [m]%s\nmain = zip_with (\\x y -> (x %s y))\nfixed : []%s\nfixed = "
      "[",
      type, type, type, op, type);
  for (int i = 0; i < SAMPLES; i++)
    for (int k = 0; k < SAMPLES; k++, count++) {
      bool fault;
      wide x = sample(type, i), y = sample(type, k);
      uint64_t x_bits = (uint64_t)x, y_bits = (uint64_t)y;
      uint64_t z_bits = (uint64_t)integer_operation(op, type, x, y, &fault);
      memcpy(x_data + count * size, &x_bits, size);
      memcpy(y_data + count * size, &y_bits, size);
      memcpy(expected + count * size, &z_bits, size);
      if (fault)
        continue;
      memcpy(expected_good + good++ * size, &z_bits, size);
      put(good > 1 ? ", (" : "(");
      put_literal(type, x);
      put(" %s ", op);
      put_literal(type, y);
      put(")");
    }
  put("]\n");
  permc_context *c = load_text(shown);
  permc_value *in[2] = {value_1(type, count, x_data), value_1(type, count, y_data)};
  outcome out = run_values(c, "main", in, 2), fixed = run_values(c, "fixed", NULL, 0);
  bool same = out.count == 1 && fixed.count == 1 &&
              check_1(out.values[0], 0, type, count, expected) &&
              check_1(fixed.values[0], 0, type, good, expected_good);
  if (!same)
    printf("%s of %s\n", op, type);
  permc_values_free(out.values, out.count);
  permc_values_free(fixed.values, fixed.count);
  permc_context_free(c);
}

TEST(integer_operations) {
  static const char *const operations[] = {"+", "-", "*", "/", "%", "&", "|", "xor", "<<", ">>"};
  for (int t = 0; t < INTEGER_TYPES; t++)
    for (int k = 0; k < 10; k++)
      check_integer_operation(operations[k], integer_types[t]);
}

TEST(static_faults) {
  static const struct {
    const char *expression, *part;
  } faults[] = {{"127i8 + 1", "overflows i8"},       {"0u32 - 1", "overflows u32"},
                {"2^62 * 2", "overflows i64"},       {"2^63", "overflows i64"},
                {"-(-128i8)", "overflows i8"},       {"abs (-128i8)", "overflows i8"},
                {"(-128i8) / (-1)", "overflows i8"}, {"5 / 0", "divides by zero"},
                {"5 % 0", "divides by zero"},        {"2 ^ (-1)", "negative exponent"},
                {"1 << (-1)", "a negative number"},  {"1 >> (-1)", "a negative number"},
                {"200i8", "does not fit i8"},        {"log2 12", "power of two"},
                {"(iota 3)[3]", "index 3"},          {"[1, 2][-1]", "index -1"},
                {"take 3 [1, 2]", "take 3"},         {"iter (-1) (+ 1) 0", "-1 times"}};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    char program[200];
    snprintf(program, sizeof program, "main = %s\n", faults[i].expression);
    expect_error(program, "", faults[i].part);
  }
  // What is dynamic wraps, also where only one side is.
  expect("main : i8 -> (i8, i8, i8, i8, i8)\nmain x = (x + 1, -(x + 1), abs (x + 1), 5 / (x - "
         "127), 1 << x)\n",
         "127i8", "i8 -128; i8 -128; i8 -128; i8 0; i8 0");
  expect("main : int -> int -> (int, int, int)\nmain x k = (x ^ k, x ^ 63, (-1) ^ k)\n", "2 -1",
         "i64 0; i64 -9223372036854775808; i64 -1");
}

// ---- conversions -----------------------------------------------------------------------------

static const char *const all_types[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f32", "f64"};
enum { ALL_TYPES = 11, CONVERTED = 24 };

static const double converted[CONVERTED] = {
    0,   1,     -1,    0.5, -0.5, 1.5,          -1.5,         127,    128,    -128,    -129, 255,
    256, 32767, 65536, 1e9, -1e9, 2147483648.0, 4294967296.0, 9.2e18, 1.8e19, -9.3e18, 1e30, -1e30};

// The samples that a type holds, as that type. Returns how many.
static size_t converted_samples(const char *type, void *data) {
  size_t count = 0, size = size_of_type(type);
  for (int i = 0; i < CONVERTED; i++) {
    double x = converted[i];
    if (strcmp(type, "f64") == 0) {
      ((double *)data)[count++] = x;
    } else if (strcmp(type, "f32") == 0) {
      ((float *)data)[count++] = (float)x;
    } else {
      bool fits = strcmp(type, "bool") == 0 ? x == 0 || x == 1
                                            : x == floor(x) && x >= (double)least(type) &&
                                                  x < (double)largest(type) + 0.5;
      uint64_t bits = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
      if (fits)
        memcpy((char *)data + count++ * size, &bits, size);
    }
  }
  if (strcmp(type, "f64") == 0) {
    const double more[] = {NAN, INFINITY, -INFINITY, -0.0};
    memcpy((double *)data + count, more, sizeof more);
    count += 4;
  }
  return count;
}

static double real_at(const char *type, const void *data, size_t i) {
  return strcmp(type, "f32") == 0 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static wide integer_at(const char *type, const void *data, size_t i) {
  uint64_t bits = element_bits(data, size_of_type(type), i);
  return *type == 'i' ? wrap(type, (wide)bits) : (wide)bits;
}

static wide saturated(const char *to, double x) {
  if (isnan(x))
    return 0;
  x = trunc(x);
  if (x <= (double)least(to))
    return least(to);
  return x >= (double)largest(to) ? largest(to) : (wide)x;
}

static void convert_reference(const char *from, const void *data, size_t i, const char *to,
                              void *out) {
  bool real = *from == 'f';
  double x = real ? real_at(from, data, i) : 0;
  wide n = real ? 0 : integer_at(from, data, i);
  if (strcmp(to, "bool") == 0) {
    *(uint8_t *)out = real ? x != 0 : n != 0;
  } else if (strcmp(to, "f32") == 0) {
    *(float *)out = real ? (float)x : (float)n;
  } else if (strcmp(to, "f64") == 0) {
    *(double *)out = real ? x : (double)n;
  } else {
    wide m = real ? saturated(to, x) : wrap(to, n);
    uint64_t bits = (uint64_t)m;
    memcpy(out, &bits, size_of_type(to));
  }
}

TEST(conversions) {
  for (int f = 0; f < ALL_TYPES; f++)
    for (int t = 0; t < ALL_TYPES; t++) {
      const char *from = all_types[f], *to = all_types[t];
      uint64_t data[CONVERTED + 4], expected[CONVERTED + 4];
      size_t count = converted_samples(from, data), size = size_of_type(to);
      for (size_t i = 0; i < count; i++)
        convert_reference(from, data, i, to, (char *)expected + i * size);
      char program[100];
      snprintf(program, sizeof program, "main : [m]%s -> [m]%s\nmain = map %s\n", from, to, to);
      permc_context *c = load_text(program);
      permc_value *out = run_value(c, "main", value_1(from, count, data));
      if (!check_1(out, 0, to, count, expected))
        printf("%s to %s\n", from, to);
      permc_value_free(out);
      permc_context_free(c);
    }
  // The same while elaborating.
  expect("main = [i8 x | x <- [300, -129, 127.9, -1.5, 0 / 0]]\n", "", "i8 [127 -128 127 -1 0]");
  expect("main = [u8 x | x <- [300, -129, 255, 256]]\n", "", "u8 [44 127 255 0]");
  expect("main = (u64 (-1i8), i64 0xffffffffffffffffu64, f32 16777217, bool 0.5, bool (0.0 / 0), "
         "i16 true)\n",
         "", "u64 18446744073709551615; i64 -1; f32 16777216; bool true; bool true; i16 1");
  expect("main = (c64 1.5f64, c128 (complex 1.5f32 (-0.5)), c128 3u8, re (c64 2))\n", "",
         "c64 1.5,0i; c128 1.5,-0.5i; c128 3,0i; f32 2");
  expect("main : c128 -> (c64, c128, f64)\nmain z = (c64 z, c128 z, re z)\n", "1.5-0.25i",
         "c64 1.5,-0.25i; c128 1.5,-0.25i; f64 1.5");
  expect_error("main : c128 -> f64\nmain z = f64 z\n", "1.5-0.25i", "c128");
}

TEST(extremes) {
  expect(
      "main : (i8, i8, u16, u16, i32, i32, u64, u64, i64, i64)\n"
      "main = (minval, maxval, minval, maxval, minval, maxval, minval, maxval, minval, maxval)\n",
      "",
      "i8 -128; i8 127; u16 0; u16 65535; i32 -2147483648; i32 2147483647; u64 0; u64 "
      "18446744073709551615; "
      "i64 -9223372036854775808; i64 9223372036854775807");
  expect("main : (bool, bool, f32, f32, f64, f64)\nmain = (minval, maxval, minval, maxval, minval, "
         "maxval)\n",
         "", "bool false; bool true; f32 -inf; f32 nan; f64 -inf; f64 nan");
  expect("main : ((u8, bool), (i8, (f32, u8)))\nmain = (maxval, minval)\n", "",
         "u8 255; bool true; i8 -128; f32 -inf; u8 0");
  expect("main : int -> int -> f64 -> (int, int, f64, f64, f64, f64)\n"
         "main x y nan = (min x y, max x y, min nan 1, min 1 nan, max nan 1, max 1 nan)\n",
         "3 -4 f64.nan", "i64 -4; i64 3; f64 1; f64 nan; f64 1; f64 nan");
}

// ---- comparisons and choices -----------------------------------------------------------------

static int compare_total(double x, double y) {
  if (isnan(x) || isnan(y))
    return isnan(x) - isnan(y);
  if (x == y)
    return (signbit(x) == 0) - (signbit(y) == 0);
  return x < y ? -1 : 1;
}

TEST(comparisons_of_tuples) {
  static const double keys[] = {-1, -0.0, 0.0, 1, INFINITY, NAN};
  double a[144], c[144];
  uint8_t b[144], d[144], expected[7][144];
  size_t count = 0;
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 12; k++, count++) {
      double x = a[count] = keys[i / 2], y = c[count] = keys[k / 2];
      int u = b[count] = (uint8_t)(i % 2), v = d[count] = (uint8_t)(k % 2),
          order = compare_total(x, y);
      expected[0][count] = x == y && u == v;
      expected[1][count] = x != y || u != v;
      expected[2][count] = x < y || (x == y && u < v);
      expected[3][count] = x < y || (x == y && u <= v);
      expected[4][count] = x > y || (x == y && u > v);
      expected[5][count] = x > y || (x == y && u >= v);
      expected[6][count] = order < 0 || (order == 0 && u <= v);
    }
  permc_context *context = load_text("both f = zip_with (\\x y -> f x y)\n"
                                     "main : [m](f64, u8) -> [m](f64, u8) -> ([m]bool, [m]bool, "
                                     "[m]bool, [m]bool, [m]bool, [m]bool, [m]bool)\n"
                                     "main x y = (both (==) x y, both (!=) x y, both (<) x y, both "
                                     "(<=) x y, both (>) x y, both (>=) x y, both total_le x y)\n");
  permc_value *in[2] = {value_pair(value_1("f64", count, a), value_1("u8", count, b)),
                        value_pair(value_1("f64", count, c), value_1("u8", count, d))};
  outcome out = run_values(context, "main", in, 2);
  for (size_t i = 0; i < out.count; i++)
    check_1(out.values[i], 0, "bool", count, expected[i]);
  CHECK_EQ_U64(out.count, 7);
  permc_values_free(out.values, out.count);
  permc_context_free(context);
}

TEST(static_and_dynamic_comparisons) {
  expect("main : int -> [8]bool\nmain x = [(x, 1) < (3, 2), (2, x) < (3, 0), (4, x) < (3, 0), (3, "
         "x) <= (3, 3), (3, x) <= (3, 2),\n"
         "                   (1, (x, 2)) == (1, (3, 2)), (1, x) != (1, 3), total_le (x, false) (3, "
         "false)]\n",
         "3", "bool [true true false true false true false true]");
  expect("main = [(1, 2) < (1, 3), (true, 0) < (false, 9), (1, 1, 1) >= (1, 1, 1), total_le (0 / "
         "0) 1.0, total_le (-0.0) 0.0]\n",
         "", "bool [true false true false true]");
  expect("main : bool -> bool -> [6]bool\nmain a b = [a <= b, a == b, a && b, a || b, a xor b, not "
         "a]\n",
         "true false", "bool [false false false true true false]");
  // && and || stop at a static answer.
  expect("main : [m]int -> [2]bool\nmain xs = [m > 9 && xs[9] > 0, m < 9 || xs[9] > 0]\n", "[1]",
         "bool [false true]");
  expect(
      "main : bool -> int -> (int, bool)\nmain b x = (if b then x else 3, if b then true else b)\n",
      "false 1", "i64 3; bool false");
}

TEST(choices_move_bits) {
  uint64_t bits[4] = {UINT64_C(0x7ff8000000000123), UINT64_C(0x8000000000000000),
                      UINT64_C(0xfff80000000000ff), 0};
  uint8_t choice[4] = {1, 0, 1, 0};
  uint64_t first[4] = {bits[0], 0, bits[2], 0}, second[4] = {0, bits[1], 0, bits[3]};
  permc_context *c =
      load_text("main : [m]bool -> [m]f64 -> ([m]f64, [m]f64)\n"
                "main bs xs = unzip (zip_with (\\b x -> if b then (x, 0) else (0, x)) bs xs)\n"
                "swaps : [m]bool -> [m]f64 -> [m][2]f64\n"
                "swaps bs xs = zip_with (\\b x -> if not b then [0, x] else [x, 0]) bs xs\n");
  outcome out = run_values(
      c, "main", (permc_value *[]){value_1("bool", 4, choice), value_1("f64", 4, bits)}, 2);
  if (CHECK_EQ_U64(out.count, 2)) {
    check_1(out.values[0], 0, "f64", 4, first);
    check_1(out.values[1], 0, "f64", 4, second);
  }
  permc_values_free(out.values, out.count);
  uint64_t both[8];
  for (int i = 0; i < 4; i++) {
    both[2 * i] = first[i];
    both[2 * i + 1] = second[i];
  }
  out = run_values(c, "swaps",
                   (permc_value *[]){value_1("bool", 4, choice), value_1("f64", 4, bits)}, 2);
  if (CHECK_EQ_U64(out.count, 1))
    check_2(out.values[0], 0, "f64", 4, 2, both);
  permc_values_free(out.values, out.count);
  permc_context_free(c);
}

TEST(choices) {
  expect("main : int -> [2][2]int\nmain x = if x > 0 then [[x, 1], [2, x]] else [[0, 0], [0, 0]]\n",
         "3", "i64 [[3 1] [2 3]]");
  expect("main : int -> (int, (bool, [2]int))\nmain x = if x > 5 then (1, (true, [x, 0])) else (2, "
         "(false, [0, x]))\n",
         "3", "i64 2; bool false; i64 [0 3]");
  // Static conditions choose anything, and evaluate nothing else.
  expect("main : [m]int -> [m]int\nmain xs = (if m > 2 then map (+ 1) else map (* xs[2])) xs\n",
         "[1, 2, 3]", "i64 [2 3 4]");
  expect("main : [m]int -> [m]int\nmain xs = if m == 2 then reverse xs else concat (take 1 xs) "
         "(bmmc [] 0 (drop 1 xs))\n",
         "[1, 2]", "i64 [2 1]");
  expect("main : [2]i32 -> [2]i32\nmain xs = if xs[0] > 0 then reverse xs else xs\n", "[1, 2]",
         "i32 [2 1]");
  expect("main : [2]i32 -> [2]i32\nmain xs = if xs[0] > 0 then reverse xs else xs\n", "[-1, 2]",
         "i32 [-1 2]");
  expect("main : bool -> [2][2](int, bool) -> [2][2](int, bool)\n"
         "main b xs = if b then transpose xs else xs\n",
         "true [[1, 2], [3, 4]] [[true, true], [false, true]]",
         "i64 [[1 3] [2 4]]; bool [[true false] [true true]]");
  expect(
      "main : [m]int -> [m][2]int\nmain = map (\\x -> if x > 1 then [x, 1] else replicate 2 x)\n",
      "[1, 2]", "i64 [[1 1] [2 1]]");
  expect("main : bool -> [m]int -> [m]int\nmain b xs = if b then xs else map (+ 1) xs\n",
         "true empty([0]i64)", "i64 [0]");
  expect_error("main : [m]int -> i8 -> []int\nmain xs k = take (i64 k) xs\n", "[1, 2] 1",
               "known before");
  expect("main : [m]int -> int -> []int\nmain xs k = take k xs\n", "[1, 2] 1", "i64 [1]");
  expect_error("main : int -> [2]int\nmain x = if x > 0 then [x, 1] else [x]\n", "1", "lengths");
  expect_error("main : [m]int -> []int\nmain xs = if xs[0] > 0 then xs else drop 1 xs\n", "[1, 2]",
               "lengths: 2 and 1");
}

// ---- floats and complex numbers --------------------------------------------------------------

TEST(floats) {
  expect("main : f64 -> f64 -> (f64, f64, f64, f64, f64, f64)\nmain x y = (x + y, x - y, x * y, x "
         "/ y, x % y, -x)\n",
         "7.5 -2.0", "f64 5.5; f64 9.5; f64 -15; f64 -3.75; f64 -0.5; f64 -7.5");
  expect("main : f32 -> f32 -> (f32, f32, bool, bool)\nmain x y = (x / y, 0 - x, x / y == y / 0, "
         "isnan (x / y - x / y))\n",
         "1.0 0.0", "f32 inf; f32 -1; bool false; bool true");
  expect("main : [m]f64 -> ([m]f64, [m]f64, [m]f64, [m]f64, [m]f64)\n"
         "main xs = (map floor xs, map ceil xs, map round xs, map trunc xs, map sign xs)\n",
         "[2.5, -2.5, 3.5, -0.25, 0.0]",
         "f64 [2 -3 3 -1 0]; f64 [3 -2 4 -0 0]; f64 [2 -2 4 -0 0]; f64 [2 -2 3 -0 0]; f64 [1 -1 1 "
         "-1 0]");
  expect("main : (f64, f64, f64, f64, f32)\nmain = (sinpi 0.5, cospi 0.5, sinpi 1, cospi 1e15, "
         "sqrt 2)\n",
         "", "f64 1; f64 0; f64 0; f64 1; f32 1.4142135");
  expect("main : f64 -> (f64, f64, f64, f64)\nmain x = (x ^ 3, x ^ (-2), pow x 0.5, x ^ 0)\n",
         "4.0", "f64 64; f64 0.0625; f64 2; f64 1");
  expect("main : f32 -> f32\nmain x = x * pi\n", "1.0", "f32 3.1415927");
}

TEST(complex_numbers) {
  expect("main : c128 -> c128 -> (c128, c128, c128, c128, c128)\nmain z w = (z + w, z - w, z * w, "
         "z / w, -z)\n",
         "3.0+4.0i 1.0-2.0i", "c128 4,2i; c128 2,6i; c128 11,-2i; c128 -1,2i; c128 -3,-4i");
  expect("main : c64 -> (f32, f32, c64, f32, bool, c64)\nmain z = (re z, im z, conj z, magnitude "
         "z, z == conj z, z ^ 2)\n",
         "3.0-4.0ic64", "f32 3; f32 -4; c64 3,4i; f32 5; bool false; c64 -7,-24i");
  expect("main : f64 -> (c128, c128, c128)\nmain x = (complex x 1 * complex 0 1, cispi x, 2 * "
         "complex x x)\n",
         "0.5", "c128 -1,0.5i; c128 0,1i; c128 1,1i");
  expect("main = (root 1 4 * root 1 4, root (-1) 4 + 1, root 5 1)\n", "",
         "c128 -1,0i; c128 1,-1i; c128 1,0i");
  expect("main : [m]c64 -> [m](f32, f32)\nmain = map (\\z -> (re z, im z))\n",
         "[1.0+2.0ic64, 3.0-4.0ic64]", "f32 [1 3]; f32 [2 -4]");
  expect_error("main : c64 -> c64 -> bool\nmain z w = z < w\n", "1.0i 2.0i", "c64");
  expect_error("main : c64 -> c64\nmain z = z % z\n", "1.0i", "c64");
}

// ---- C functions -----------------------------------------------------------------------------

TEST(foreign_functions) {
  expect("extern \"m\" hypot : f64 -> f64 -> f64\nextern \"m\" ldexp : f64 -> i32 -> f64\n"
         "main : [m]f64 -> [m]f64\nmain xs = mapi (\\i x -> ldexp (hypot x 4) (i32 i)) xs\n",
         "[3.0, 0.0]", "f64 [5 8]");
  expect("extern \"m\" fabsf : f32 -> f32\nextern \"m\" llabs : i64 -> i64\n"
         "main : [2^n]f32 -> int -> ([2^n]f32, int)\nmain xs k = (column 1 (\\[x, y] -> [fabsf y, "
         "fabsf x]) xs, llabs (-k))\n",
         "[-1.5, 2.5] 7", "f32 [2.5 1.5]; i64 7");
  expect("extern \"m\" fmax : f64 -> f64 -> f64\nmain : [2^n]f64 -> f64\nmain = reduce fmax\n",
         "[1.0, 4.0, 2.0, 3.0]", "f64 4");
  expect("extern \"m\" sqrt : f64 -> f64\nmain : [m][k]f64 -> [m][k]f64\nmain = map (map sqrt)\n",
         "empty([0][2]f64)", "f64 [0][2]");
  // Of constants too, and one function in several places.
  expect("extern \"m\" rint : f64 -> f64\nmain : f64 -> (f64, f64, f64)\nmain x = (rint 2.5, rint "
         "x, rint (rint x + 0.7))\n",
         "5.75", "f64 2; f64 6; f64 7");
  permc_context *c = load_text("extern \"m\" cbrt : f64 -> f64\nmain : f64 -> f64\nmain = cbrt\n");
  double x = 8;
  check_run_fails(c, "main", value_0("f64", &x), "--allow-extern");
  permc_context_free(c);
  expect_error("main : f64 -> f64\nmain = cbrt\n", "8.0", "cbrt");
}

// ---- entry points ----------------------------------------------------------------------------

TEST(entry_points) {
  expect("main = 5\n", "", "i64 5");
  expect("main = 2.5\n", "", "f64 2.5");
  expect("main = maxval\n", "", "i64 9223372036854775807");
  expect_error("main = main\n", "", "no entry point");
  expect_error("main = map\n", "", "no entry point");
  expect("main = (1, [true, false], 2.5)\n", "", "i64 1; bool [true false]; f64 2.5");
  expect("main : [m]int -> (([m]int, int), (int, [m](int, bool)))\nmain xs = ((xs, m), (1, map "
         "(\\x -> (x, x > 1)) xs))\n",
         "[1, 2]", "i64 [1 2]; i64 2; i64 1; i64 [1 2]; bool [false true]");
  expect("main : int -> (int, int) -> [m](u8, int) -> int\nmain a (b, c) ps = a + b + c + sum (map "
         "snd ps)\n",
         "1 2 3 [1u8, 2u8] [10, 20]", "i64 36");
  expect("main : [1][1][1][1]int -> [1][1][1][1]int\nmain = map (map (map (map (+ 1))))\n",
         "[[[[1]]]]", "i64 [[[[2]]]]");
  expect("main : [2][2][2]int -> [2][2][2]int\nmain = transpose . map transpose\n",
         "[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]", "i64 [[[0 2] [4 6]] [[1 3] [5 7]]]");
}

// The rows of [] have no length that n could be: it is 0.
TEST(size_name_that_no_argument_binds) {
  expect("f : [m][n]int -> [n+1]int -> int\nf xs ys = length ys\nmain x = x + f [] [7]\n", "3",
         "i64 4");
}

TEST_MAIN()
