// Features of the language and what they do to each other: many small programs, each checked
// against a result worked out by hand. Arrays are in language_arrays_test.c, elements in
// language_scalars_test.c.
#include "tests/unit/language.h"

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
               "argument 2 has 3 elements and argument 1 has 2");
  expect_error("main : [m]int -> [m]int\nmain xs = concat xs xs\n", "[1, 2]", "but returns 4");
  expect_error("main : [m][2^n]int -> [m][2^n]int\nmain = map (take 1)\n", "[[1, 2], [3, 4]]",
               "but returns one of 1");
  expect_error("main : [2^n]int -> int\nmain xs = n\n", "[1, 2, 3]", "the nearest are 2 and 4");
  expect_error("main : [2^n]int -> int\nmain xs = n\n", "empty([0]i64)", "empty");
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
