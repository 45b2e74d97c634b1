// What `permc explain --dump tree` and `--dump types` show of a program.
#include "tests/test.h"

#include "lang/load/program.h"  // after test.h, whose parameters are called text

typedef void printing(text *out, const program *p);

// Loads a program, which must be right, and compares what is printed of it.
static void expect(printing *print, const char *written, const char *printed) {
  jmp_buf failure;
  static loaded_program p;
  p = (loaded_program){.memory.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  bool good = program_load(&p, "test.perm", written, strlen(written));
  CHECK_STR(p.diagnostics.rendered.data ? p.diagnostics.rendered.data : "", "");
  REQUIRE(good);
  text out = {0};
  print(&out, &p.program);
  CHECK_STR(out.data, printed);
  text_free(&out);
  program_free(&p);
}

TEST(tree_of_signatures_and_local_definitions) {
  expect(tree_print,
         "main : [2^n]i32 -> [2^n]i32\n"
         "main xs = parm (2^(n-1)) reverse xs where k = log2 (length xs)\n",
         "binding main : [(^ 2 n)]i32 -> [(^ 2 n)]i32\n"
         "  equation xs = (parm (^ 2 (- n 1)) reverse xs)\n"
         "    where\n"
         "      binding k = (log2 (length xs))\n");
}

TEST(tree_of_equations_and_guards) {
  expect(tree_print,
         "f 0 (a, _) = a\n"
         "f n (a, [b, c]) | n > 3 && a == -1 = 2 | otherwise = (a, [1, 2.5]).0\n",
         "binding f\n"
         "  equation 0 (a, _) = a\n"
         "  equation n (a, [b, c])\n"
         "    | (if (> n 3) then (== a -1) else false)\n"
         "      = 2\n"
         "    | otherwise\n"
         "      = (a, [1, 2.5]).0\n");
}

TEST(tree_of_long_expressions) {
  expect(tree_print,
         "f xs = map (\\x -> let y = x + 1; (a, b) = (y, y) in a * b) [1, 2 .. xs[0]]\n",
         "binding f\n"
         "  equation xs =\n"
         "    apply map\n"
         "      to\n"
         "        \\x ->\n"
         "          let\n"
         "            binding y = (+ x 1)\n"
         "            binding (a, b) = (y, y)\n"
         "          in (* a b)\n"
         "      to [1, 2..xs[0]]\n");
}

TEST(tree_of_an_expression_program) {
  jmp_buf failure;
  loaded_program p = {.memory.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  REQUIRE(program_define(&p, "-e", "map (+ 1)"));
  text out = {0};
  tree_print(&out, &p.program);
  CHECK_STR(out.data, "binding -e = (map (\\<the section's operand> -> "
                      "(+ <the section's operand> 1)))\n");
  text_free(&out);
  program_free(&p);
}

TEST(types_of_local_definitions) {
  expect(types_print,
         "f : int -> []b -> []b\n"
         "f n xs = map (\\x -> let y = x + n2; (a, b) = (y, y); h z = (z, n) in (h a).0 * b) xs\n"
         "  where n2 = 3\n",
         "f : i64 -> []b -> []b   (b is a number)\n"
         "  n : i64\n"
         "  xs : []b\n"
         "  n2 : b\n"
         "  lambda\n"
         "    x : b\n"
         "    h : t1 -> (t1, i64)\n"
         "      z : t1\n"
         "    y : b\n"
         "    a : b\n"
         "    b : b\n");
}

TEST(types_of_variables_nobody_names) {
  expect(types_print,
         "squares xs = [y * y | y <- xs, z <- [1..3], y < 0]\n"
         "larger x y = if x.0 <= y then y else x.0\n",
         "squares : []t1 -> []t1   (t1 is a real number)\n"
         "  xs : []t1\n"
         "  y : t1\n"
         "  z : i64\n"
         "larger : (t1, ...) -> t1 -> t1   (t1 is an ordered scalar or a tuple of such)\n"
         "  x : (t1, ...)\n"
         "  y : t1\n");
}

TEST_MAIN()
