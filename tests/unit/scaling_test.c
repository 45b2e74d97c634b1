// How the products of the pipeline grow with a program: counted, not timed. bench/README.md has
// the times.
#include "tests/test.h"

#include "runtime/pipeline.h"

typedef struct counts {
  uint64_t steps, nodes, ops, text, memory;  // of the Trace, the Net, the Net, the C text, all
} counts;

static bool count_products(permc_context *c, pipeline *p, void *with) {
  counts *n = with;
  (void)c;
  n->steps = p->trace.steps.count;
  for (size_t i = 0; i < p->net->stages.count; i++) {
    n->nodes += p->net->stages.items[i].nodes.count;
    n->ops += p->net->stages.items[i].ops.count;
  }
  for (uint32_t i = 0; i < p->code.pass_count; i++)
    n->text += p->code.passes[i].length + p->code.functions[i].length;
  n->text += p->code.definitions.length;
  n->memory = p->memory.used;
  return true;
}

// Of the program that `write` writes at n, for arguments of those types, within a limit of memory.
typedef void write_program(text *out, unsigned n);

static counts counts_within(write_program *write, unsigned n, const char *types, uint64_t memory) {
  counts found = {0};
  text written = {0};
  write(&written, n);
  permc_context *c = permc_context_new();
  c->limits.memory = memory;
  pipeline_request r = {
      .entry = "main", .last = STAGE_TEXT, .backend = "cpu", .types = types, .target = "avx2"};
  bool good = permc_load_text(c, "scaling.perm", written.data, written.length) &&
              pipeline_with(c, &r, count_products, &found);
  CHECK_STR(permc_message(c), "");
  CHECK(good);
  permc_context_free(c);
  text_free(&written);
  return found;
}

static counts counts_at(write_program *write, unsigned n, const char *types) {
  return counts_within(write, n, types, default_limits.memory);
}

static bool same_products(counts a, counts b) {
  return a.steps == b.steps && a.nodes == b.nodes && a.ops == b.ops;
}

// Four times the program has at most that many times the products: n log n.
static void check_growth(write_program *write, unsigned n, const char *types) {
  counts a = counts_at(write, n, types), b = counts_at(write, 4 * n, types);
  CHECK(b.steps <= 5 * a.steps);
  CHECK(b.nodes <= 5 * a.nodes);
  CHECK(b.ops <= 5 * a.ops);
  CHECK(b.text <= 5 * a.text);
  CHECK(b.memory <= 5 * a.memory);
}

// ---- tables ------------------------------------------------------------------------------------

static void write_table(text *out, unsigned n) {
  text_printf(out,
              "main : [2^n]int -> [2^n]int\n"
              "main xs = zip_with (+) (join (replicate (length xs / %u) table)) xs\n"
              "table = [i * 7 %% 31 | i <- 0..%u]\n",
              n, n - 1);
}

static void write_table_of_tuples(text *out, unsigned n) {
  text_printf(
      out,
      "main : [2^n]int -> [2^n]int\n"
      "main xs = map f (zip xs (join (replicate (length xs / %u) table)))\n"
      "f (x, (a, [b, c])) = x * a + b - i64 c\n"
      "table = [(i, [i32 i, i32 (lookup i)]) | i <- 0..%u] |> map (\\(a, [b, c]) -> (a, [i64 b, "
      "i64 c]))\n"
      "lookup i = squares[i]\n"
      "squares = [i * i | i <- 0..%u]\n",
      n, n - 1, n - 1);
}

// Tables are data: only memory grows with their length.
TEST(tables) {
  write_program *const programs[] = {write_table, write_table_of_tuples};
  for (size_t i = 0; i < 2; i++) {
    counts a = counts_at(programs[i], 256, "[2^14]int"),
           b = counts_at(programs[i], 1 << 13, "[2^14]int");
    CHECK(same_products(a, b));
    CHECK(b.text <= a.text + 400);
    CHECK(b.memory <= (1 << 13) * UINT64_C(6000));
  }
}

// ---- recurrences -------------------------------------------------------------------------------

static void write_iteration(text *out, unsigned n) {
  text_printf(out, "main : [m]i32 -> [m]i32\nmain = map (iter %u (\\x -> x * 5 + 3))\n", n);
}

static void write_recursion(text *out, unsigned n) {
  text_printf(out,
              "main : [m]f32 -> [m]f32\nmain = map (horner %u 0)\n"
              "horner 0 s x = s\nhorner n s x = horner (n - 1) (s * x + f32 (n %% 7)) x\n",
              n);
}

// A loop in the text, and a constant for each step where they differ.
TEST(recurrences) {
  check_growth(write_iteration, 1000, "[1024]i32");
  check_growth(write_recursion, 1000, "[1024]f32");
  CHECK(counts_at(write_iteration, 4000, "[1024]i32").text < 20000);
  CHECK(counts_at(write_recursion, 4000, "[1024]f32").text < 80000);
}

static void write_columns(text *out, unsigned n) {
  text_printf(out,
              "main : [2^n]i32 -> [2^n]i32\nmain = iter %u (column 1 f . column 2 f)\n"
              "f [a, b] = [a + b * 3, xor a b]\n",
              n);
}

// Ops that repeat are a loop, too.
TEST(columns) {
  check_growth(write_columns, 250, "[2^10]i32");
  CHECK(counts_at(write_columns, 1000, "[2^10]i32").text < 30000);
}

// ---- what depends on the index alone -----------------------------------------------------------

static void write_sum_of_iota(text *out, unsigned n) {
  text_printf(out, "main : int -> int\nmain x = x + sum (iota (2^%u))\n", n);
}

// A few nodes for each of the levels.
TEST(sums_of_indices) {
  CHECK(counts_at(write_sum_of_iota, 40, "i64").nodes < 1000);
  CHECK(counts_at(write_sum_of_iota, 40, "i64").text < 100000);
}

// ---- elements that are taken one by one --------------------------------------------------------

static void write_picks(text *out, unsigned n) {
  text_printf(out, "main : [2^n]int -> []int\nmain xs = [xs[i * 5 %% %u] | i <- 0..%u]\n", n,
              n - 1);
}

static void write_computed_picks(text *out, unsigned n) {
  text_printf(out,
              "main : [2^n]int -> []int\nmain xs = [xs[i * 5 %% %u] * i + xs[i] | i <- 0..%u]\n", n,
              n - 1);
}

TEST(picks) {
  check_growth(write_picks, 256, "[2^10]int");
  check_growth(write_computed_picks, 256, "[2^10]int");
}

// Within a limit of elaboration, which is half of that of each part of planning.
TEST(memory_of_picks) { counts_within(write_computed_picks, 1 << 12, "[2^12]int", 2500 << 12); }

TEST_MAIN()
