// Arrays in the language: small programs, each checked against a result worked out by hand or by C
// code. What a program does to one array it must also do to every row of a matrix and to every half
// of a larger array, so the sized tests run each program there as well.
#include "tests/unit/language.h"

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
               "must return rows of 8 elements");
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

TEST_MAIN()
