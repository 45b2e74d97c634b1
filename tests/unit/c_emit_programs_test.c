// Generated code of programs of the library: on f16, with recurrences, for GPUs; where its stores
// are, and its comments.
#include "tests/unit/c_emit.h"

#include "runtime/cuda/code.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/program.h"
#include "runtime/permc.h"
#include "tests/readers/readers.h"

// ---- programs of the library -----------------------------------------------------------------

static const plan *planned(const char *expression, const char *types, const char *machine) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {.target = machine, .types = types, .dump = "plan"};
  char *out = NULL;
  const char *wrong = NULL;
  const plan *p = NULL;
  if (CHECK(c && permc_define(c, expression)) && CHECK(permc_explain(c, "-e", NULL, 0, &o, &out)))
    p = plan_read(&memory, out, &wrong);
  CHECK_STR(wrong, NULL);
  free(out);
  permc_context_free(c);
  return p;
}

// Of an op with many nodes a thread has few elements, and vectors are of its widest nodes: the C
// compiler takes half a second for what took it 40. A GPU's thread computes as many elements of
// c128 as of c64, but moves half as many.
TEST(registers_of_wide_ops) {
  START();
  static const struct {
    const char *expression, *types, *machine;
    uint32_t r, l;
  } rows[] = {
      {"\\xs -> fold (\\ok p -> zip_with (\\i b -> b && not (i % p == 0 && i > p)) (iota 4096) "
       "ok) xs [p | p <- 2..31]",
       "[4096]bool", "avx512", 1, 3},
      // A chain waits for itself.
      {"map (iter 100 (\\x -> x * x + 0.5))", "[4096]f64", "avx512", 4, 3},
      {"map (+ 1)", "[4096]u8", "avx512", 4, 6},
      // Elements that have no neighbours in memory are moved one by one, by a line of text each.
      {"join . map (replicate 5)", "[100001]u8", "avx512", 4, 6},
      {"fft", "[2^24]c64", "gpu", 4, 5},
      {"fft", "[2^24]c128", "gpu", 4, 5},
      {"bitrev", "[2^24]c64", "gpu", 4, 5},
      {"bitrev", "[2^24]c128", "gpu", 3, 5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const plan *p = planned(rows[i].expression, rows[i].types, rows[i].machine);
    if (!CHECK(p && p->passes.count > 0 && p->passes.items[0].phase_count > 0))
      continue;
    CHECK_EQ_U64(p->passes.items[0].phases[0].r, rows[i].r);
    CHECK_EQ_U64(p->passes.items[0].phases[0].l, rows[i].l);
  }
  arena_free(&memory);
}

// Text beyond the bound is left out, of the passes that take the least time for it: those run
// uncompiled.
TEST(passes_left_out) {
  START();
  const plan *p =
      planned("\\xs -> (reverse (scan (+) xs), map (* 3) (bitrev xs))", "[2^16]u32", "avx2");
  const char *problem = NULL;
  c_code code = {0};
  uint32_t left_out = 0;
  if (no_compiler())
    SKIP("there is no C compiler");
  REQUIRE(p && c_emit(&code, p, &usual_text, &problem));
  c_code_bound(&code, p, UINT64_MAX);
  CHECK_STR(code.note, "");
  c_code_bound(&code, p, 1);  // no pass would be left
  CHECK_STR(code.note, "");
  c_code_bound(&code, p, c_code_bytes(&code) - 1);
  for (uint32_t i = 0; i < code.pass_count; i++)
    left_out += code.facts[i].left_out;
  CHECK(left_out > 0 && left_out < code.pass_count);
  CHECK_CONTAINS(code.note, "run uncompiled, which is slower: the program becomes ");
  c_code_free(&code);
  text_is_bounded = true;
  evaluation *e = net_evaluate(&memory, p->net, 36);
  check_run(p, e, &usual_text, &(compiled_options){.isa = "native", .no_cache = true});
  text_is_bounded = false;
  arena_free(&memory);
}

// Any bits; or no NaN but the usual ones.
static void fill_halves(const plan *p, evaluation *e, random_state *r, bool usual) {
  for (size_t i = 0; i < p->net->arrays.count; i++)
    for (uint64_t x = 0;
         p->net->arrays.items[i].role == NET_ARGUMENT && x < p->net->arrays.items[i].count; x++) {
      uint16_t bits = (uint16_t)random_word(r);
      bits = random_chance(r, 8) ? (uint16_t)(bits & 0x8000) : bits;
      scalar_type type = p->net->arrays.items[i].type;
      bool odd = usual && (bits & 0x7fff) > scalar_types[type].infinity;
      e->arrays[i][x].bits.u16 = odd ? scalar_maxval(type).u16 : bits;
    }
  for (size_t i = 0; i < p->net->stages.count; i++)
    evaluate_stage(&memory, p->net, &p->net->stages.items[i], e);
}

static void check_on_small_floats(const char *const program[2], const char *machine, bool native,
                                  random_state *random, unsigned seed) {
  START();
  const plan *p = planned(program[0], program[1], machine);
  // Vectors that the processor has not take compilers minutes.
  compiled_options options = {
      .isa = native ? "native" : machine, .no_cache = true, .limits = {.seconds = 600}};
  if (!CHECK(p != NULL))
    return;
  evaluation *e = net_evaluate(&memory, p->net, seed / 2);
  fill_halves(p, e, random, seed % 2);
  if (!check_bits(p, e, &usual_text, &options))
    printf("%s for %s\n", program[0], machine);
  arena_free(&memory);
}

// In vectors and, for "gpu", in kernels on the host.
TEST(programs_on_small_floats) {
  static const char *const machines[] = {"baseline", "avx2", "avx512", "gpu"};
  static const char *const programs[][2] = {
      {"sort_network", "[2^10]f16"},
      {"map sort_network", "[3][2^8]f16"},
      {"padded maxval sort_network", "[300]f16"},
      {"sort_network", "[2^8](f16, u16)"},
      {"sort_by (>=)", "[2^8]f16"},
      {"scan (+)", "[2^8]f16"},
      {"map (\\x -> x * x - 0.1 / x)", "[2^10]f16"},
      {"map (\\x -> (x * x - 0.1 / x, f32 x, bf16 (f32 x + 0.1)))", "[2^10]bf16"},
      {"sort_network", "[2^8](bf16, u16)"},
      {"map sort_network", "[2^7][2](bf16, u16)"},
  };
  // Vectors of 32 numbers of 16 bits, where the processor has none, take gcc 12 100 seconds.
  bool slow = !compiler_isa_named("avx512") && !test_all();
  random_state random = {7};
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
      if ((i + k) % test_step(2) == 0 && !(slow && i == 8 && k == 2))
        check_on_small_floats(programs[i], machines[k], k >= 2, &random,
                              (unsigned)(2 * i + (i + k) / 2 % 2));
}

// What runs on the host above is CUDA, too.
TEST(compiled_for_gpus) {
  static const char *const programs[][2] = {
      {"sort_network", "[2^10]f16"},
      {"map (\\x -> (x * 1.5 - sin x, f32 x, i8 x, x < 3, f16 (f64 x), x ^ 3))", "[2^10]f16"},
      {"map (\\x -> (x * 1.5, f32 x, i8 x, x < 3, bf16 (f64 x), bf16 (i64 x)))", "[2^10]bf16"},
      {"map (\\x -> if x < 7 then x + 5 else 77)", "[2^10]u16"},
      {"map (\\x -> if x < 7 then x + 5 else 77)", "[2^10]u8"},
      // NVRTC took this for ever, looking at each factor of the power.
      {"two (\\a -> [a[0], a[1], a[2], sign (a[2] ^ 9223372036854775806)])", "[8]i32"},
  };
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    SKIP(why);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    START();
    const plan *p = planned(programs[i][0], programs[i][1], "gpu");
    const char *problem = NULL;
    c_code code = {0};
    text t = {0};
    if (!CHECK(p && c_emit(&code, p, &(c_options){.stream_bytes = UINT64_MAX}, &problem)))
      continue;
    c_code_file(&t, &code, 0, code.pass_count, false);
    text_add(&t, "", 1);
    nvrtc_job job = {.text = t.data,
                     .name = "test",
                     .architecture = 80,
                     .options = cuda_code_options[false],
                     .option_count = CUDA_CODE_OPTIONS};
    void *cubin = NULL;
    size_t size = 0;
    if (!CHECK(!t.failed && nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
      printf("%s: %s\n", programs[i][0], why);
    free(cubin);
    text_free(&t);
    c_code_free(&code);
  }
  arena_free(&memory);
}

static void check_on_machines(const char *expression, const char *types) {
  static const char *const machines[] = {"avx512", "avx2", "baseline", "gpu"};
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
    START();
    const plan *p = planned(expression, types, machines[k]);
    compiled_options options = {.isa = "native", .no_cache = true};
    if (CHECK(p != NULL))
      check_run(p, net_evaluate(&memory, p->net, k), &usual_text, &options);
  }
  arena_free(&memory);
}

// Lanes and registers share a bit of the index, so that roots turn otherwise in each lane.
TEST(roots_of_lanes) {
  check_on_machines("bmmc [1, 8, 3, 16, 4] 0 . bmmc [1, 4, 8, 2, 16] 0 . fft", "[32]c128");
}

// Results of one element, made together: what goes from phase to phase is alive in some lanes of
// some registers.
TEST(results_made_together) {
  check_on_machines("\\x -> (i16 x[3], x[30] + x[3] + x[9] + x[16] + x[1], "
                    "map (\\v -> (v, f32 x[9])) (reverse [minimum x]))",
                    "[32]i32");
}

// Elements that one column needs are loaded there, not into the phase of the first: the inverse of
// the Haar transform, its columns over 1, 2, 4, ... elements.
TEST(loads_where_few_are_needed) {
  START();
  text t = {0};
  const char *problem = NULL;
  c_code code = {0};
  text_string(&t, "let inverse xs = if length xs == 1 then xs else let half = length xs / 2 in "
                  "join (map (\\(m, d) -> [m + d, m - d]) "
                  "(zip (inverse (take half xs)) (drop half xs))) in inverse");
  const plan *p = planned(text_content(&t), "[2^12]f32", "avx512");
  if (CHECK(p && p->passes.count == 1 && c_emit(&code, p, &usual_text, &problem)))
    CHECK(!strstr(text_content(&code.passes[0]), "t < 2048;"));
  c_code_free(&code);
  text_free(&t);
  arena_free(&memory);
}

// The phases of a sum are for what is left of it, whether the length is a power of two or not.
TEST(phases_of_sums_shrink) {
  static const char *const lengths[] = {"[1048576]i64", "[1000000]i64"};
  for (int i = 0; i < 2; i++) {
    START();
    const char *problem = NULL;
    c_code code = {0};
    const plan *p = planned("sum", lengths[i], "avx2");
    if (CHECK(p && c_emit(&code, p, &usual_text, &problem))) {
      const char *pass = text_content(&code.passes[0]), *last = strstr(pass, "phase 3: 1 op");
      CHECK(strstr(pass, "t < 256;") && strstr(pass, "t < 32;") && strstr(pass, "t < 4;"));
      CHECK(last && strstr(last, "t < 1;"));
    }
    c_code_free(&code);
    arena_free(&memory);
  }
}

// Much scalar code takes fewer registers, not 64 times as much text, and no long basic blocks.
TEST(text_of_many_guards) {
  START();
  text t = {0};
  const char *problem = NULL;
  c_code code = {0};
  text_string(&t, "let f x | x == 0 = x");
  for (int i = 1; i < 300; i++)
    text_printf(&t, " | x == %d = x * %d", i, i + 7);
  text_string(&t, " | otherwise = 0 in map f");
  const plan *p = planned(text_content(&t), "[1024]i32", "avx512");
  if (CHECK(p && c_emit(&code, p, &usual_text, &problem)))
    CHECK(c_code_bytes(&code) < 1 << 20 && strstr(text_content(&code.passes[0]), "PERMC_CUT(1)"));
  c_code_free(&code);
  text_free(&t);
  arena_free(&memory);
}

// ---- roots ---------------------------------------------------------------------------------------

// Roots that registers alone choose are constants of the code; of others, the threads of a warp
// read neighbours. A tile that is one run of a large array is brought to the second cache in time.
TEST(reads_of_warps) {
  static const struct {
    const char *program, *types, *has, *lacks;
  } rows[] = {{"map fft", "[2^18][2^3]c64", "PERMC_STORE", "PERMC_ROOT"},
              {"map fft", "[2^12][2^12]c64", "const int64_t u37 = (t);\n", "imports->roots"},
              {"map fft", "[5000][2^12]c64", "PERMC_NEXT_TILE(a0, 32768, 3)", "imports->roots"},
              {"map (fft . reverse)", "[5000][2^12]c64", "PERMC_NEXT_TILE", "imports->roots"},
              {"map fft", "[100][2^12]c64", "PERMC_ROOT", "PERMC_NEXT_TILE"},
              {"map fft . transpose", "[2^12][2^12]c64", "PERMC_ROOT", "PERMC_NEXT_TILE"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_context *c = permc_context_new();
    permc_explain_options o = {.target = "gpu", .types = rows[i].types, .dump = "cuda"};
    char *out = NULL;
    CHECK(c && permc_define(c, rows[i].program) && permc_explain(c, "-e", NULL, 0, &o, &out));
    CHECK_CONTAINS(out, rows[i].has);
    CHECK(out && !strstr(out, rows[i].lacks));
    free(out);
    permc_context_free(c);
  }
}

// Bits of an index are tested in elements of the width that they choose: in whole vectors of bytes.
TEST(tests_of_bits) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {.target = "avx2", .types = "[1000]u8", .dump = "c"};
  char *out = NULL;
  CHECK(c && permc_define(c, "mapi (\\i x -> if i & 4 == 0 then x else 0u8)") &&
        permc_explain(c, "-e", NULL, 0, &o, &out));
  CHECK_CONTAINS(out, "eq_i8x32(");
  free(out);
  permc_context_free(c);
}

// ---- recurrences ---------------------------------------------------------------------------------

// Whether the program's text has a loop of many rounds.
static bool has_rounds(const char *const program[2], const char *machine) {
  permc_context *c = permc_context_new();
  permc_explain_options o = {
      .target = machine, .types = program[1], .dump = strcmp(machine, "gpu") ? "c" : "cuda"};
  char *out = NULL;
  bool good = c && permc_define(c, program[0]) && permc_explain(c, "-e", NULL, 0, &o, &out);
  CHECK_STR(permc_message(c), "");
  good = good && strstr(out, "for (uint32_t i = 0; i < ");
  free(out);
  permc_context_free(c);
  return good;
}

static void check_recurrence(const char *const program[2], const char *machine, unsigned seed) {
  START();
  const plan *p = planned(program[0], program[1], machine);
  compiled_options options = {.isa = strcmp(machine, "gpu") ? machine : "native", .no_cache = true};
  if (CHECK(p != NULL) &&
      !(CHECK(has_rounds(program, machine)) &&
        check_run(p, net_evaluate(&memory, p->net, seed), &usual_text, &options)))
    printf("%s for %s\n", program[0], machine);
  arena_free(&memory);
}

// Steps that repeat become loops: what is carried are one or two values, of the last round or of
// the one before it, of one part or two, truths; constants are one for all rounds or one for each.
TEST(recurrences) {
  static const char *const machines[] = {"baseline", "avx2", "gpu"};
  static const char *const programs[][2] = {
      {"map (iter 300 (\\x -> x * 1664525 + 1013904223))", "[2^10]i32"},
      {"map (\\a -> iter 80 (\\x -> 0.5 * (x + a / x)) a)", "[300]f64"},
      {"map (\\x -> fst (iter 301 (\\(a, b) -> (b, a * 3 + b)) (x, 1)))", "[2^8]i64"},
      {"let down n x = if n == 0 then x else down (n - 1) (x * x + i32 n) in map (down 200)",
       "[2^8]i32"},
      {"let down n x = if n == 0 then x else down (n - 1) (x * complex 0.25 (f32 (n % 5)) + x) in "
       "map (down 100)",
       "[2^6]c64"},
      {"map (\\x -> iter 100 (\\(b, y) -> (y > 100 || not b, if b then y * 3 + 1 else y + 7)) "
       "(x > 9, x))",
       "[2^8]u8"},
      {"map (\\x -> iter 130 (\\y -> y xor (y << 3)) (iter 150 (\\y -> y * 7 + 1) x))", "[70]u32"},
      {"column 1 (\\[a, b] -> let (c, d) = iter 120 (\\(x, y) -> (x + 3 * y, y xor x)) (a, b) in "
       "[c - d, d])",
       "[2^7]i16"},
      {"mapi (\\i x -> iter 200 (\\y -> y * 3 + i) x)", "[2^9]int"},
      {"map (iter 250 (\\x -> x * 0.5 + 1.5))", "[2^8]f16"},
  };
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
      check_recurrence(programs[i], machines[k], (unsigned)i);
}

// Bits of a thread, whose number has 32 bits, become high bits of an index.
TEST(large_steps) {
  static const char *const programs[][2] = {
      {"mapi (\\i x -> x + i * 2^40)", "[2^8]i64"},
      {"mapi (\\i x -> x xor (i + 3) * 3 * 2^33)", "[2^7]i64"},
      {"parmi 3 (\\i xs -> map (+ i * minval) xs)", "[2^6]i64"},
  };
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    START();
    const plan *p = planned(programs[i][0], programs[i][1], "gpu");
    compiled_options options = {.isa = "native", .no_cache = true};
    if (!CHECK(p && check_run(p, net_evaluate(&memory, p->net, i), &usual_text, &options)))
      printf("%s\n", programs[i][0]);
    arena_free(&memory);
  }
}

// Rounds of a loop that have one plan: on other arrays, on parts of one, on constants; of two rounds
// before.
TEST(loops) {
  static const char *const machines[] = {"baseline", "gpu"};
  static const char *const programs[][2] = {
      // A GPU takes a pass to copy w for all lanes: of fewer gathers, rounds written out are faster.
      {"\\ps ws xs -> fold (\\y w -> map (\\a -> a * 3 + w) (gather ps (map (* 3) (gather ps (map "
       "(* 3) "
       "(gather ps y)))))) xs ws",
       "[60]i64 [30]i64 [60]i64"},
      {"\\ps xs -> iteri 24 (\\i (a, b) -> (zip_with (-) (gather ps b) (map (+ i) a), a)) (xs, xs)",
       "[64]i64 [64]int"},
      // Two passes of a round have one kernel.
      {"\\ps -> iter 12 (\\a -> map (+ 1) (gather ps (map (* 3) (gather ps (map (* 3) (gather ps "
       "a))))))",
       "[40]i64 [40]i64"},
  };
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
      START();
      const plan *p = planned(programs[i][0], programs[i][1], machines[k]);
      compiled_options options = {.isa = k ? "native" : machines[k], .no_cache = true};
      uint32_t repeats = 0;
      for (size_t n = 0; p && n < p->passes.count; n++)
        repeats += p->passes.items[n].repeats != 0;
      if (!(CHECK(p != NULL) && CHECK(repeats > 6) &&
            CHECK_STR(net_verify(&memory, p->net), NULL) &&
            check_run(p, net_evaluate(&memory, p->net, i), &usual_text, &options)))
        printf("%s for %s\n", programs[i][0], machines[k]);
      arena_free(&memory);
    }
}

// ---- where stores are --------------------------------------------------------------------------

#define IN_ORDER "x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6 + 128*x7 + 256*x8 + 512*x9"
#define TRANSPOSED "x5 + 2*x6 + 4*x7 + 8*x8 + 16*x9 + 32*x0 + 64*x1 + 128*x2 + 256*x3 + 512*x4"

// A value is stored over what the pass loads, and in an array whose lines are the lanes of a phase
// without ops. The former is stored before that phase.
TEST(stores_over_what_is_loaded) {
  const char *wrong = NULL;
  const plan *p = plan_read(
      &memory,
      "array a0 u32 1024 argument 0\narray a1 u32 1024 result 0\nstage 0 n=10\n"
      "v0 = load a0 at " IN_ORDER "\nop 0 step %1\nv1[0] = + v0[0] v0[0]\n"
      "store v1 in a1 at " TRANSPOSED "\n"
      "target gpu line_bytes 128 tile_bytes 65536 lane_bytes 0 lane_bits 5 register_bytes 128 "
      "adapts 1 wide_bytes 16 memory_bytes_per_second 4e+12 ops_per_second 1.5e+13 "
      "exchange_ops 4 pass_seconds 3e-06\nstage 0 strategy free padding none\n"
      "array a2 u32 1024 temporary\npass 0 of stage 0 seconds 0\n"
      "tile 1 2 4 8 16 32 64 128 256 512\nblocks none\nslot 0 bytes 4 values v0-v1\n"
      "load slot 0 from a2 at " IN_ORDER " coalesced\n"
      "phase 0 ops 0 registers 32 64 128 256 512 lanes 1 2 4 8 16 threads none\n"
      "exchange address bits 33 66 132 264 528 1 2 4 8 16\n"
      "phase 1 ops none registers 1 2 4 8 16 lanes 32 64 128 256 512 threads none\n"
      "store slot 0 in a2 at " IN_ORDER " coalesced\n"
      "store slot 0 in a1 at " TRANSPOSED " coalesced\n",
      &wrong);
  CHECK_STR(wrong, NULL);
  if (p) {
    c_options options = {0};
    c_context c = c_context_of(&memory, p, &options);
    c_pass pass = c_pass_of(&c, 0);
    CHECK_EQ_U64(pass.schedule.store_phase[0], 0);
    CHECK_EQ_U64(pass.schedule.store_phase[1], 1);
  }
  arena_free(&memory);
}

// ---- comments --------------------------------------------------------------------------------

static const char *own_line(void *with, uint32_t step) {
  snprintf(with, 64, "program.perm:%u: // a line", (unsigned)step);
  return with;
}

// Without comments and white space.
static void add_code(text *out, const text *t) {
  for (const char *c = text_content(t); *c;)
    if (c[0] == '/' && c[1] == '/')
      c += strcspn(c, "\n");
    else if (*c == ' ' || *c == '\n')
      c++;
    else
      text_add(out, c++, 1);
}

static text all_code(const c_code *code) {
  text out = {0};
  add_code(&out, &code->definitions);
  for (uint32_t i = 0; i < code->pass_count; i++) {
    add_code(&out, &code->passes[i]);
    add_code(&out, &code->functions[i]);
  }
  add_code(&out, &code->tables);
  return out;
}

static void check_comments(const char *expression, const char *types, const char *machine,
                           bool shares) {
  START();
  const plan *p = planned(expression, types, machine);
  const char *problem = NULL;
  char line[64];
  c_comments comments = {.title = "a title", .with = line, .line_of_step = own_line};
  c_options plain = {.stream_bytes = UINT64_MAX}, for_readers = plain;
  c_code a = {0}, b = {0};
  for_readers.comments = &comments;
  if (CHECK(p && c_emit(&a, p, &plain, &problem) && c_emit(&b, p, &for_readers, &problem))) {
    text of_a = all_code(&a), of_b = all_code(&b), shown = {0};
    bool shared = false;
    CHECK(strcmp(text_content(&of_a), text_content(&of_b)) == 0);
    for (uint32_t i = 0; i < a.pass_count; i++) {
      CHECK_EQ_U64(a.facts[i].kernel, b.facts[i].kernel);
      shared |= a.facts[i].kernel != i && *machine == 'g';
    }
    CHECK_EQ_U64(shared, shares);
    c_code_program(&shown, &b);
    CHECK_CONTAINS(text_content(&shown), "// a title\n");
    CHECK_CONTAINS(text_content(&shown), "program.perm:");
    CHECK(a.head.length == 0 && !strstr(text_content(&a.passes[0]), "program.perm:"));
    text_free(&of_a);
    text_free(&of_b);
    text_free(&shown);
  }
  c_code_free(&a);
  c_code_free(&b);
  arena_free(&memory);
}

// Comments for readers change neither code, and so no key of a cache, nor which kernels are one.
TEST(comments_change_no_code) {
  check_comments("sort_network", "[2^10]f32", "avx512", false);
  check_comments("map (\\x -> x * 2 + 1) . sort", "[2^12]u32", "gpu", false);
  check_comments("periodic_sort", "[2^16]u32", "gpu", true);
}

TEST_MAIN()
