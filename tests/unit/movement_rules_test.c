// The laws on movements (fusion/rules/rules.h, those before map-map) in random programs: the Net
// that lowering makes, the one that the rules make of it, and its Plan compute what the steps of
// the Trace do, taken literally; and each law is at work in some of the programs.
#include "tests/unit/evaluated.h"
#include "tests/unit/memory.h"

#include "fusion/lower/lower.h"
#include "fusion/lower/retrace.h"
#include "fusion/rules/rules.h"
#include "runtime/interp/interp.h"
#include "runtime/pipeline.h"
#include "runtime/portable/portable.h"
#include "tests/generator/hidden.h"
#include "tests/generator/program.h"

enum { PROGRAMS = 1500, HIDDEN = 300, LEAST = 10 };  // LEAST: of firings

static size_t fired[RULE_COUNT], compared, with_checks;

// The evaluation's arguments with the dimensions of the Trace's; zeros where the Net has none.
static array *arguments_of(const trace *t, const net *n, const evaluation *e, size_t *count) {
  array *arguments = NEW_ARRAY(&memory, array, t->steps.count + 1);
  *count = 0;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (s->op != TRACE_ARGUMENT)
      continue;
    array *to = &arguments[s->number];
    *count = s->number + 1 > *count ? s->number + 1 : *count;
    if (!array_create(to, s->type, s->rank, s->dims))
      abort();
    memset(to->data, 0, array_bytes(to));
    for (uint64_t x = 0; s->places && s->places->is_recognised && x < s->dims[0]; x++)
      ((uint32_t *)to->data)[x] = (uint32_t)movement_place(&s->places->moves, s->dims[0], x);
    for (size_t k = 0; k < n->arrays.count; k++) {
      const net_array *from = &n->arrays.items[k];  // of pairs of what the Trace's has, perhaps
      size_t size = scalar_types[from->type].size;
      for (uint64_t x = 0;
           from->role == NET_ARGUMENT && from->number == s->number && x < from->count; x++)
        memcpy((char *)to->data + x * size, &e->arrays[k][x].bits, size);
    }
  }
  return arguments;
}

// Whether those results, which are destroyed, are the evaluation's.
static bool same_results_as(const net *n, const evaluation *e, array *results, size_t count,
                            const error *wrong) {
  bool good =
      CHECK_STR(wrong->message, "") && CHECK_EQ_U64(evaluated_wrong(n, e, results, true), 0);
  for (size_t i = 0; i < count; i++)
    array_destroy(&results[i]);
  return good;
}

// The Trace, step by step, on the evaluation's arguments.
static bool same_as_trace(const trace *t, const net *n, const evaluation *e) {
  size_t count;
  error wrong = {0};
  array *arguments = arguments_of(t, n, e, &count);
  array *results = NEW_ARRAY(&memory, array, t->results.count + 1);
  interp_run(t, arguments, count, results, false, NULL, &wrong);
  arrays_destroy(arguments, count);
  return same_results_as(n, e, results, t->results.count, &wrong);
}

// The Plan, by the portable executor.
static bool same_as_plan(const trace *t, const plan *made, const evaluation *e) {
  size_t count;
  error wrong = {0};
  array *arguments = arguments_of(t, made->net, e, &count);
  array *results = NEW_ARRAY(&memory, array, t->results.count + 1);
  portable *x = portable_new(made, &(portable_options){0}, &wrong);
  if (!CHECK(x != NULL))
    return false;
  cpu_executor executor = {portable_pass, x, NULL};
  cpu_run(made, &(cpu_options){.threads = 1, .executor = &executor}, arguments, count, results,
          &wrong);
  portable_free(x);
  return same_results_as(made->net, e, results, t->results.count, &wrong);
}

typedef struct check {
  uint64_t seed;
  bool good;
} check;

// What lowering makes of the Trace first returns as much, and makes the same checks.
static bool same_checks(const trace *t) {
  const uint32_t *origins = NULL;
  const trace *moved = trace_without_known_places(&memory, t, NULL, &origins);
  const trace *made = trace_on_wholes(&memory, moved, NULL, &origins);
  with_checks += made != t && t->checks.count;
  return CHECK_EQ_U64(trace_returned(made), trace_returned(t)) &&
         CHECK_EQ_U64(made->checks.count, t->checks.count) &&
         CHECK_EQ_U64(made->proven_checks, t->proven_checks);
}

// Lowered once more, since rewriting changes a Net in place.
static bool check_nets(permc_context *c, pipeline *p, void *with) {
  (void)c;
  check *k = with;
  const net *plain = lower(&memory, &p->trace, NULL);
  k->good = CHECK_STR(net_verify(&memory, plain), NULL) && same_checks(&p->trace) &&
            same_as_trace(&p->trace, plain, net_evaluate(&memory, plain, k->seed)) &&
            same_as_trace(&p->trace, p->net, net_evaluate(&memory, p->net, k->seed)) &&
            same_as_plan(&p->trace, p->plan, net_evaluate(&memory, p->plan->net, k->seed));
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    fired[rule] += p->rules.of[rule].times;
  compared++;
  return true;
}

// A file with a target whose tiles hold a few lines: small programs have several passes.
static const char *tiny_target(void) {
  static char path[600];
  const char *folder = getenv("PERMC_TMP");
  if (*path)
    return path;
  snprintf(path, sizeof path, "%s/tiny.target", folder ? folder : "/tmp");
  FILE *file = fopen(path, "w");
  if (!file)
    abort();
  fputs("base = avx2\nname = tiny\nline_bytes = 16\ntile_bytes = 256\nregister_bytes = 64\n", file);
  fclose(file);
  return path;
}

// Whether all is well with the program of that text, for arguments and a target.
static bool check_request(permc_context *c, const pipeline_request *r, const char *code,
                          uint64_t seed) {
  check k = {seed, true};
  if (permc_load_text(c, "random.perm", code, strlen(code)))
    pipeline_with(c, r, check_nets, &k);
  if (!k.good)
    printf("seed %" PRIu64 ", arguments %s\n%s", seed, r->types, code);
  arena_free(&memory);
  return k.good;
}

static bool check_program_for(permc_context *c, const char *machine, const char *code,
                              const char *types, uint64_t seed) {
  pipeline_request r = {.entry = "main", .last = STAGE_PLAN, .types = types, .target = machine};
  return check_request(c, &r, code, seed);
}

static bool check_program(permc_context *c, const char *code, const char *types, uint64_t seed) {
  return check_program_for(c, seed % 2 ? tiny_target() : "line32-tile128k", code, types, seed);
}

// Scans that are large enough for a GPU's blocks to look back. (Their kernels: look_back_test.c.)
static bool check_scans(permc_context *c) {
  static const char *const operators[] = {"(+)", "max", "min", "(xor)", "(|)"};
  static const char *const types[] = {"[2^14]i32", "[2^14]u64"};
  bool good = true;
  for (uint64_t k = 0; k < LEAST && good; k++) {
    char code[100];
    snprintf(code, sizeof code, "main : [m]a -> [m]a\nmain xs = scan %s xs\n", operators[k / 2]);
    good = check_program_for(c, "gpu", code, types[k % 2], k);
  }
  return good;
}

// Sorts by keys: of the keys, of what goes with them, of indices; in rows; twice by the same
// places.
static bool check_sorts(permc_context *c) {
  static const char *const bodies[] = {
      "(permute p ks, permute p xs, permute p (iota (length ks))) where p = sorted_places ks",
      "(permute p xs, permute p (permute p xs)) where p = sorted_places_desc ks",
      "map (\\x -> permute (sorted_places ks) (replicate (length xs) x)) xs",
      "(permute (bucket_places 8 keys) xs, count_keys 8 keys) where keys = map (\\k -> u8 k) ks",
      "permute (sorted_places (zip ks (reverse xs))) xs"};
  static const char *const types[] = {"[13]i16 [13]f32", "[16]bool [16]u64"};
  enum { BODIES = sizeof bodies / sizeof *bodies };
  bool good = true;
  for (uint64_t k = 0; k < 2 * BODIES && good; k++) {
    char code[200];
    snprintf(code, sizeof code, "main ks xs = %s\n", bodies[k / 2]);
    good = check_program(c, code, types[k % 2], k);
  }
  return good;
}

// Places that are checked, of elements that were in two parts.
static bool check_places(permc_context *c) {
  static const char *const bodies[] = {
      "gather (map i64 ks) (concat (map (+ 1) (take 3 xs)) (drop 3 xs))",
      "permute (map i64 ks) (concat (take 5 xs) (map (* 2) (drop 5 xs)))"};
  static const char *const types[] = {"[13]u8 [13]f32", "[16]i16 [16]u64"};
  bool good = true;
  for (uint64_t k = 0; k < 4 && good; k++) {
    char code[100];
    snprintf(code, sizeof code, "main ks xs = %s\n", bodies[k / 2]);
    good = check_program(c, code, types[k % 2], k);
  }
  return good;
}

// Gathers and scatters by places that are there: rotations, affine maps, transposes.
static bool check_known_places(permc_context *c) {
  static const char *const bodies[] = {"(permute p (map (+ 1) xs), gather p xs)",
                                       "map (\\x -> permute p (replicate (length p) x)) xs",
                                       "permute p (gather p (zip xs xs))",
                                       "map fst (permute p (zip xs (replicate (length xs) p)))"};
  static const movement moves[] = {{.kind = MOVES_BY_ROTATION, .by = 5},
                                   {.kind = MOVES_BY_AFFINE_MAP, .map = {{4, 4, {3, 6, 12, 8}}, 9}},
                                   {.kind = MOVES_BY_EXCHANGE, .dims = {2, 3, 7, 1}}};
  static const uint64_t counts[] = {11, 16, 42};
  bool good = true;
  for (uint64_t k = 0; k < 12 && good; k++) {
    char code[200];
    uint32_t places[42], zeros[42] = {0};
    uint64_t count = counts[k % 3];
    for (uint64_t i = 0; i < count; i++)
      places[i] = (uint32_t)movement_place(&moves[k % 3], count, i);
    snprintf(code, sizeof code, "main p xs = %s\n", bodies[k / 3]);
    permc_value *arguments[] = {permc_value_new("u32", 1, &count, places),
                                permc_value_new("u32", 1, &count, zeros)};
    check checked = {k, true};
    pipeline_request r = {.entry = "main", .last = STAGE_PLAN, .target = tiny_target()};
    r.arguments = arguments;
    r.argument_count = 2;
    CHECK(permc_load_text(c, "known.perm", code, strlen(code)) &&
          pipeline_with(c, &r, check_nets, &checked));
    good = CHECK_STR(permc_message(c), "") && checked.good;
    for (int i = 0; i < 2; i++)
      permc_value_free(arguments[i]);
    arena_free(&memory);
  }
  return good;
}

// Dimensions in another order, of rows that are no power of two.
static bool check_transposes(permc_context *c) {
  static const char *const bodies[] = {"transpose xs", "transpose (map sort xs)",
                                       "map reverse (transpose (map (map (+ 1)) xs))"};
  static const char *const types[] = {"[13][11]u16", "[6][35]f64", "[9][20]i8", "[3][50]u64"};
  bool good = true;
  for (uint64_t k = 0; k < 12 && good; k++) {
    char code[100];
    snprintf(code, sizeof code, "main xs = %s\n", bodies[k / 4]);
    good = check_program(c, code, types[k % 4], k);
  }
  return good;
}

// Sorts by few keys that are made of the elements, with their counts. (Their kernels:
// partition_test.c.)
static bool check_partitions(permc_context *c) {
  static const char *const bodies[] = {
      "compact (\\x -> x > 3) ks", "compact (\\(k, x) -> k >= 0 || x < 9) (zip ks xs)",
      "unzip (map (\\x -> compact (\\k -> i64 k % 2 == i64 x % 2) ks) xs)",
      "(bucket 2 (\\k -> i64 k & 3) ks, fst (compact (\\x -> x != 0) xs))"};
  static const char *const types[] = {"[13]i16 [13]f32", "[16]i8 [16]u64", "[2^6]i64 [2^6]u16",
                                      "[3]u8 [3]i32"};
  enum { BODIES = sizeof bodies / sizeof *bodies };
  bool good = true;
  for (uint64_t k = 0; k < 4 * BODIES && good; k++) {
    char code[300];
    snprintf(code, sizeof code, "main ks xs = %s\n", bodies[k / 4]);
    good = check_program_for(c, "gpu", code, types[k % 4], k);
  }
  return good;
}

// Short messages from all ranks to all, of 2 and of 4 hosts with 8 GPUs.
static bool check_peers(permc_context *c) {
  static const char *const bodies[] = {"bitrev xs", "map (+ 1) (bitrev xs)",
                                       "bitrev (zip_with (+) xs (reverse xs))"};
  static const char *const types[] = {"[2^10]u32", "[2^12]u16"};
  bool good = true;
  for (uint64_t k = 0; k < 12 && good; k++) {
    char code[100];
    snprintf(code, sizeof code, "main : [2^n]a -> [2^n]a\nmain xs = %s\n", bodies[k / 4]);
    pipeline_request r = {.entry = "main", .last = STAGE_PLAN, .target = "gpu"};
    r.types = types[k % 2];
    r.ranks = k % 4 < 2 ? 16 : 32;
    good = check_request(c, &r, code, k);
  }
  return good;
}

// Columns of one direction on both halves of an array, and of its halves, by functions of their own.
static bool check_halves(permc_context *c) {
  static const char *const pairs[] = {"up", "down", "up", "down", "sum"};
  bool good = true;
  for (uint64_t k = 0; k < 24 && good; k++) {
    random_state r = {k};
    char code[900];
    uint32_t d[2] = {1 + random_below(&r, 3), 1 + random_below(&r, 7)};
    const char *f[6];
    for (int i = 0; i < 6; i++)
      f[i] = pairs[random_below(&r, 5)];
    snprintf(code, sizeof code,
             "up [x, y] = [min x y, max x y]\ndown [x, y] = [max x y, min x y]\n"
             "sum [x, y] = [x, x + y]\n"
             "both f g xs = concat (f (take (length xs / 2) xs)) (g (drop (length xs / 2) xs))\n"
             "main : [2^n]%s -> [2^n]%s\nmain xs = column %u %s (both (two (column %u %s) . both "
             "(column 1 %s) (column 1 %s)) (column %u %s) (both (column 1 %s) (column 1 up) xs))\n",
             k % 2 ? "i32" : "f32", k % 2 ? "i32" : "f32", d[1], f[0], d[0], f[1], f[2], f[3], d[0],
             f[4], f[5]);
    good = check_program(c, code, k % 2 ? "[2^5]i32" : "[2^4]f32", k);
  }
  return good;
}

// Complex numbers of two reals side by side, of an argument or of a result.
static bool check_pairs(permc_context *c) {
  static const char *const bodies[] = {"map conj zs", "reverse zs", "zip_with (+) zs (reverse zs)",
                                       "map (complex 0 2 *) zs",
                                       "column 1 (\\[a, b] -> [a + b, b]) zs"};
  bool good = true;
  for (uint64_t k = 0; k < LEAST && good; k++) {
    char code[300];
    snprintf(code, sizeof code,
             "main : [m]a -> [m]a\nmain xs = join (map (\\z -> [re z, im z]) (%s))\n"
             "  where zs = map (\\[x, y] -> complex x y) (rows_of 2 xs)\n",
             bodies[k / 2]);
    good = check_program(c, code, k % 2 ? "[2^5]f32" : "[2^5]f64", k);
  }
  return good;
}

// Networks and trees, with their elements in parts: what such rules are for.
static bool check_hidden(permc_context *c, hidden_way way, uint64_t seed) {
  enum { SMALL = 7 };
  hidden_program p;
  text code = {0}, types = {0};
  hidden_draw(&p, seed, way);
  hidden_text(&code, &p);
  hidden_types(&types, &p);
  bool good = p.n > SMALL || check_program(c, text_content(&code), text_content(&types), seed);
  text_free(&code);
  text_free(&types);
  return good;
}

TEST(random_programs) {
  program_options options = default_program_options;
  options.fault_percent = 0;
  permc_context *c = random_program_context();
  bool good = true;
  START();
  uint64_t programs = test_amount(PROGRAMS, PROGRAMS), hidden = test_amount(HIDDEN, HIDDEN);
  for (uint64_t seed = 0; seed < programs && good; seed++) {
    random_program *p = random_program_new(seed, &options);
    REQUIRE(p != NULL);
    char *types = random_program_types(p);
    good = check_program(c, p->text, types, seed);
    free(types);
    random_program_free(p);
  }
  static const hidden_way ways[] = {HIDDEN_RECURSION, HIDDEN_TAKE_DROP, HIDDEN_COMPREHENSION,
                                    HIDDEN_HALVES,    HIDDEN_SHRINK,    HIDDEN_BITS};
  for (uint64_t seed = 0; seed < hidden && good; seed++)
    good = check_hidden(c, ways[seed % (sizeof ways / sizeof *ways)], seed);
  good = good && check_program(c, "main : [2^n]u32 -> [2^n]u32\nmain xs = odd_even_sort xs\n",
                               "[2^8]u32", 2 * HIDDEN + 1);
  good = good && check_scans(c) && check_sorts(c) && check_places(c) && check_known_places(c) &&
         check_transposes(c) && check_partitions(c) && check_peers(c) && check_halves(c) &&
         check_pairs(c);
  permc_context_free(c);
  CHECK(compared > programs / 2 && with_checks >= 4);
  for (rule_id rule = 0; rule < RULE_COUNT && programs == PROGRAMS; rule++)
    if (!CHECK(fired[rule] >= LEAST))
      printf("%s fired %zu times\n", rules[rule].name, fired[rule]);
  if (getenv("PERMC_SHOW"))
    for (rule_id rule = 0; rule < RULE_COUNT; rule++)
      printf("%-22s %zu\n", rules[rule].name, fired[rule]);
}

TEST_MAIN()
