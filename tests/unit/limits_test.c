// The limits of elaboration, lowered so that little reaches them; and a context that loads one
// program after another with the library read once.
#include "tests/test.h"

#include "runtime/context/context.h"

// Without a thread and a stack of its own for every call: valgrind is slow at these.
static permc_context *new_context(void) {
  permc_context *c = permc_context_new();
  c->in_place = true;
  return c;
}

static permc_context *loaded(const char *bytes) {
  permc_context *c = new_context();
  if (!permc_load_text(c, "limits.perm", bytes, strlen(bytes)))
    CHECK_STR(permc_message(c), "");
  return c;
}

static void check_fails(permc_context *c, const char *message) {
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK_STR(permc_message(c), message);
  permc_context_free(c);
}

// ---- limits ------------------------------------------------------------------------------------

TEST(depth) {
  permc_context *c = loaded("main : [2^n]i32 -> [2^n]i32\n"
                            "main xs = down n xs\n"
                            "down n xs = down (n - 1) xs\n");
  c->limits.calls = 100;
  check_fails(
      c, "limits.perm:3:13: error: the calls of 'down' are nested 100 deep, which is the limit\n"
         "  down n xs = down (n - 1) xs\n"
         "              ^^^^^^^^^^^^^^^\n"
         "limits.perm:2:11: note: 'down' is called here: down 0 [1]\n"
         "  main xs = down n xs\n"
         "            ^^^^^^^^^\n"
         "hint: a recursion needs an equation that ends it, such as down 0 xs = xs; "
         "--limit calls=200 raises the limit\n");
}

static const char counting[] = "main : i64\n"
                               "main = length [i + j | i <- 1..1000, j <- 1..1000]\n";

TEST(steps) {
  permc_context *c = loaded(counting);
  c->limits.steps = 1000;
  check_fails(c, "limits.perm:2:16: error: evaluating 'main' takes more than 1000 steps, which is "
                 "the limit\n"
                 "  main = length [i + j | i <- 1..1000, j <- 1..1000]\n"
                 "                 ^^^\n"
                 "hint: --limit steps=2000 raises the limit\n");
}

// Rounds of calls beside each other are steps, by how many calls there are.
TEST(steps_of_rounds) {
  text t = {0};
  text_string(&t, "main : int\nmain = 1");
  for (int i = 0; i < 2000; i++)
    text_string(&t, " |> id");
  permc_context *c = loaded(text_content(&t));
  c->limits.steps = 100000;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK_CONTAINS(permc_message(c), "evaluating 'main' takes more than 100000 steps");
  permc_context_free(c);
  text_free(&t);
}

// Calls by builtins are steps, too, and so are looks at values that share parts.
TEST(steps_of_compositions) {
  permc_context *c = loaded("f 0 = id\nf n = f (n - 1) . f (n - 1)\nmain : int\nmain = f 40 1\n");
  c->limits.steps = 1000000;
  check_fails(c,
              "limits.perm:4:8: error: evaluating 'main' takes more than 1000000 steps, which is "
              "the limit\n"
              "  main = f 40 1\n"
              "         ^^^^^^\n"
              "hint: --limit steps=2000000 raises the limit\n");
  c = loaded("f x 0 = (+ x)\nf x n = f x (n - 1) . f x (n - 1)\n"
             "main : i32 -> i32\nmain x = f x 40 1\n");
  c->limits.steps = 1000000;
  check_fails(c, "limits.perm:2:23: error: evaluating 'f' takes more than 1000000 steps, which is "
                 "the limit\n"
                 "  f x n = f x (n - 1) . f x (n - 1)\n"
                 "                        ^^^^^^^^^^^\n"
                 "limits.perm:2:9: note: 'f' is called here: f _ 22\n"
                 "  f x n = f x (n - 1) . f x (n - 1)\n"
                 "          ^^^^^^^^^^^\n"
                 "limits.perm:4:10: note: 'f' is called here: f _ 40\n"
                 "  main x = f x 40 1\n"
                 "           ^^^^^^\n"
                 "hint: --limit steps=2000000 raises the limit\n");
}

TEST(operations) {
  permc_context *c = loaded("main : [8]i64 -> []i64\n"
                            "main xs = [xs[0] + same i | i <- 1..99]\n"
                            "same 0 = 0\n"
                            "same i = i\n");
  c->limits.operations = 100;
  check_fails(c,
              "limits.perm:2:15: error: this program does more than 100 operations at this size, "
              "which is the limit\n"
              "  main xs = [xs[0] + same i | i <- 1..99]\n"
              "                ^\n"
              "hint: --limit operations=200 raises the limit\n");
}

// Rounds that are all alike are not written down first: a limit that ends them is met at once.
TEST(rounds) {
  permc_context *c = loaded("main : [8]i32 -> [8]i32\n"
                            "main = map (iter 1000000000 (\\x -> x * 5 + 3))\n");
  check_fails(c, "limits.perm:2:18: error: 1000000000 more rounds of iter take 1000000000 steps, "
                 "and the limit is 30000000 for the whole program\n"
                 "  main = map (iter 1000000000 (\\x -> x * 5 + 3))\n"
                 "                   ^^^^^^^^^^\n"
                 "hint: --limit steps=1920000000 raises the limit\n");
  c = loaded("main : [8]i32 -> [8](i32, f64)\n"
             "main xs = map (iter 2000000 next) [(x, f64 x) | x <- xs]\n"
             "next (x, y) = (x * 5 + 3, y * 0.5)\n");
  check_fails(c, "limits.perm:2:21: error: 1999996 more rounds of iter take 5999988 operations, "
                 "and the limit is 4000000 for the whole program\n"
                 "  main xs = map (iter 2000000 next) [(x, f64 x) | x <- xs]\n"
                 "                      ^^^^^^^\n"
                 "hint: --limit operations=8000000 raises the limit\n");
}

// They may be as many as the limit allows; and one that counts on something static may do less
// later.
TEST(rounds_within_limits) {
  permc_context *c = loaded("main : [8]i32 -> [8]i32\n"
                            "main xs = iter 1000 (map (\\x -> x + 1)) xs\n");
  c->limits.operations = 5000;
  CHECK(permc_check(c, NULL, NULL, 0));
  permc_context_free(c);
  c = loaded("main : [8]i32 -> [8]i32\n"
             "main xs = snd (iter 10000 some (0, xs))\n"
             "some (i, xs) = (i + 1, if i < 10 then map (+ 1) xs else xs)\n");
  c->limits.operations = 1000;
  CHECK(permc_check(c, NULL, NULL, 0));
  permc_context_free(c);
}

TEST(memory) {
  permc_context *c = loaded("main : i64\n"
                            "main = length (double 40 [1, 2])\n"
                            "double 0 xs = xs\n"
                            "double k xs = double (k - 1) (concat xs xs)\n");
  c->limits.memory = 1 << 20;
  check_fails(c, "limits.perm:4:15: error: evaluating 'double' takes more than 1 MiB of memory, "
                 "which is the limit\n"
                 "  double k xs = double (k - 1) (concat xs xs)\n"
                 "                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                 "limits.perm:2:15: note: 'double' is called here: double 40 [2]\n"
                 "  main = length (double 40 [1, 2])\n"
                 "                ^^^^^^^^^^^^^^^^^^\n"
                 "hint: --limit memory=2^21 raises the limit\n");
}

// One allocation that goes from below the limit to beyond what there is.
TEST(memory_at_once) {
  permc_context *c = loaded("main : i64\n"
                            "main = length (concat (replicate 64 1) (f (concat [0] [1..100000])))\n"
                            "f xs = concat xs xs\n");
  c->limits.memory = 1 << 20;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(strstr(permc_message(c), "takes more than 1 MiB of memory, which is the limit"));
  permc_context_free(c);
}

TEST(stack) {
  permc_context *c = loaded("main : i64\n"
                            "main = deep 1000\n"
                            "deep 0 = 0\n"
                            "deep n = 1 + deep (n - 1)\n");
  c->limits.stack = 100000;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(strstr(permc_message(c),
               "error: 'deep' is nested too deeply: it takes more than 97.7 KiB of "
               "stack, which is the limit\n"));
  permc_context_free(c);
}

// Each level of the recursion computes both branches.
TEST(recursion_on_data) {
  permc_context *c = loaded("main : [2^n]i32 -> [2^n]i32\n"
                            "main xs = map down xs\n"
                            "down x = if x == 0 then 0 else down (x - 1)\n");
  c->limits.calls = 100;
  check_fails(c,
              "limits.perm:3:13: error: both branches of this condition are computed, because it "
              "depends on data: the recursion of 'down' cannot end\n"
              "  down x = if x == 0 then 0 else down (x - 1)\n"
              "              ^^^^^^\n"
              "hint: it depends on an argument of the program\n"
              "hint: let a size end the recursion, or do a fixed number of steps, as many as are "
              "ever needed, with a condition in each: let (i, a) = iter 20 (\\(i, a) -> if i > 0 "
              "then (i - 1, a * i) else (i, a)) (n, 1) in a\n");
}

// What an index depends on is known without a look at all the conditions around it.
TEST(recursion_on_data_with_index) {
  permc_context *c = loaded("main : [8]int -> int\n"
                            "main xs = walk (sum xs) 0\n"
                            "walk i found = if i < 0 then found else walk (i - 1) (max found "
                            "[1, 2, 3, 4, 5][i])\n");
  c->limits.calls = 3000;
  c->in_place = false;  // a stack of its own
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(strstr(permc_message(c), "the recursion of 'walk' cannot end\n"));
  permc_context_free(c);
}

TEST(guards_on_data) {
  permc_context *c = loaded("main : [2^n]i32 -> [2^n]i32\n"
                            "main xs = map down xs\n"
                            "down x | x == 0 = 0\n"
                            "       | otherwise = down (x - 1)\n");
  c->limits.calls = 100;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(strstr(permc_message(c), "limits.perm:3:10: error: both branches of this condition"));
  permc_context_free(c);
}

TEST(set_limits) {
  permc_context *c = loaded("main : i64\n"
                            "main = deep 30000\n"
                            "deep 0 = 0\n"
                            "deep n = 1 + deep (n - 1)\n");
  c->in_place = false;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(permc_set_limit(c, "calls", 40000) && permc_check(c, NULL, NULL, 0));
  CHECK(!permc_set_limit(c, "depth", 1) && !permc_set_limit(c, "calls", 0));
  permc_context_free(c);
}

TEST(interruption) {
  atomic_bool stop = true;
  permc_context *c = loaded(counting);
  c->limits.interrupted = &stop;
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK(strstr(permc_message(c), "error: interrupted\n"));
  permc_context_free(c);
}

// A limit ends a check at its first size and with an error, not a warning.
TEST(limits_are_no_warnings) {
  permc_context *c = loaded("main : [2^n]i32 -> [2^n]i32\n"
                            "main xs = if f n > 0 then xs else xs\n"
                            "f n = f (n + 1)\n"
                            "other : [2^n]i32 -> [2^n]i32\n"
                            "other xs = parm 0 sort xs\n");
  c->limits.calls = 50;
  check_fails(c, "limits.perm:3:7: error: the calls of 'f' are nested 50 deep, which is the limit\n"
                 "  f n = f (n + 1)\n"
                 "        ^^^^^^^^^\n"
                 "limits.perm:2:14: note: 'f' is called here: f 0\n"
                 "  main xs = if f n > 0 then xs else xs\n"
                 "               ^^^\n"
                 "hint: a recursion needs an equation that ends it, such as f 0 x = x; "
                 "--limit calls=100 raises the limit\n");
}

// ---- one program after another -----------------------------------------------------------------

static bool load(permc_context *c, const char *bytes) {
  return permc_load_text(c, "next.perm", bytes, strlen(bytes));
}

TEST(programs_replace_each_other) {
  permc_context *c = new_context();
  CHECK(load(c, "main : [2^n]i32 -> [2^n]i32\nmain = sort\nmine x = x\n"));
  CHECK(permc_check(c, NULL, NULL, 0));
  CHECK_EQ_U64(permc_entry_count(c), 1);
  // Definitions of the library's names hide them in this program only.
  CHECK(load(c, "sort xs = xs\nreverse = 3\nmain : [2^n]i32 -> [2^n]i32\nmain = sort\n"));
  CHECK(permc_check(c, NULL, NULL, 0));
  CHECK(!load(c, "main = mine 3\n"));
  CHECK_STR(permc_message(c), "next.perm:1:8: error: 'mine' is not defined\n"
                              "  main = mine 3\n"
                              "         ^^^^\n"
                              "hint: did you mean 'min'?\n");
  CHECK(!load(c, "main = = 3\n"));
  CHECK_EQ_U64(permc_entry_count(c), 0);
  CHECK(load(c, "main : [2^n]f64 -> [2^n]f64\nmain xs = reverse (sort xs)\n"));
  CHECK(permc_check(c, NULL, NULL, 0));
  CHECK_STR(permc_message(c), "");
  permc_context_free(c);
}

TEST(expressions_see_the_program) {
  permc_context *c = new_context();
  CHECK(permc_define(c, "map (\\x -> x + 1i32)"));
  CHECK(permc_define(c, "sort"));
  CHECK_EQ_U64(permc_entry_count(c), 1);
  CHECK(!permc_define(c, "twice 3"));
  CHECK(load(c, "twice x = 2 * x\nmain : i32\nmain = 3\n"));
  CHECK(permc_define(c, "twice 3"));
  CHECK_EQ_U64(permc_entry_count(c), 2);
  CHECK(permc_define(c, "twice 4"));
  CHECK_EQ_U64(permc_entry_count(c), 2);
  CHECK(load(c, "main : i32\nmain = 3\n"));
  CHECK_EQ_U64(permc_entry_count(c), 1);
  CHECK(!permc_define(c, "twice 3"));
  // Nothing of a program with errors is there.
  CHECK(!load(c, "twice x = x + true\nmain : i32\nmain = twice 3\n"));
  CHECK(!permc_define(c, "twice 3"));
  CHECK(permc_define(c, "sort"));
  CHECK_EQ_U64(permc_entry_count(c), 1);
  permc_context_free(c);
}

TEST(formatting_and_loading_mix) {
  permc_context *c = new_context();
  const char *programs[] = {"main=1\n", "main = = 1\n", "main  :  i32\nmain =   2\n"};
  const char *formatted[] = {"main = 1\n", NULL, "main : i32\nmain = 2\n"};
  for (int i = 0; i < 9; i++) {
    const char *one = programs[i % 3];
    char *out = permc_format(c, "next.perm", one, strlen(one));
    CHECK_STR(out, formatted[i % 3]);
    free(out);
    CHECK(load(c, one) == (i % 3 != 1));
  }
  permc_context_free(c);
}

// ---- nothing to check ----------------------------------------------------------------------

TEST(check_without_a_program) {
  permc_context *c = permc_context_new();
  REQUIRE(c != NULL);
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK_CONTAINS(permc_message(c), "there is no program to check");
  CHECK(!permc_load_text(c, "wrong", "main = x\n", 9));
  CHECK(!permc_check(c, NULL, NULL, 0));
  CHECK_CONTAINS(permc_message(c), "there is no program to check");
  CHECK(permc_define(c, "1 + 1"));
  CHECK(permc_check(c, NULL, NULL, 0));
  permc_context_free(c);
}

TEST_MAIN()
