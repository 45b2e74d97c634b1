// Programs on ranks (runtime/ranks): threads as ranks of one run, and threads that are each a rank
// with a context of its own, as processes are: each reads its part of a file and writes its part of
// another.
//
//   ranks_test            the list below on 1 to 16 ranks
//   ranks_test files      whole files beside those of a run on one rank
//   mpirun -n 4 ranks_test --halves      calls on communicators of the caller: ranks 0 1, ranks 2 3
//   mpirun -n 2 ranks_test --starts COMMAND...     a command that ranks start
//
// GPUs are those of fake_cuda.c, which execute kernels that fake_nvrtc.c compiles for the host;
// messages are carried by fake_nccl.c, or through memory of the host.
#include "api.h"
#include "runtime/context/context.h"
#include "runtime/ranks/ranks.h"
#include "runtime/system/unnamed.h"
#include "runtime/transport/mpi_library.h"
#include "tests/unit/carry.h"
#include "tests/unit/fake_driver.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Of ranks that are contexts of their own.
static const char *backend_of_each = "portable";

// ---- GPUs ----------------------------------------------------------------------------------------

static void (*set_nccl)(const char *settings);
static size_t (*nccl_left)(void);

static bool find_nccl(void) {
  void *library = dlopen(FAKE_NCCL, RTLD_NOW);
  void *set = library ? dlsym(library, "fake_nccl_set") : NULL;
  void *left = library ? dlsym(library, "fake_nccl_left") : NULL;
  memcpy(&set_nccl, &set, sizeof set);
  memcpy(&nccl_left, &left, sizeof left);
  return set && left;
}

// From here on, contexts have these GPUs. There is no compiler: false.
static bool use_gpus(const char *cuda, const char *nccl) {
  static char folder[300], cache[310];
  if (system("command -v cc >/dev/null") != 0)
    return false;
  if (fake_driver_load()) {
    snprintf(folder, sizeof folder, "%s/.gpu", getenv("PERMC_TMP"));
    snprintf(cache, sizeof cache, "%s/cache", folder);
    CHECK(mkdir(folder, 0700) == 0 && find_nccl());
    setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_HOST", folder, 1);
    setenv("PERMC_CACHE", cache, 1);
  }
  fake.set(cuda);
  set_nccl(nccl ? nccl : "");
  setenv("PERMC_NCCL", nccl ? FAKE_NCCL : "off", 1);
  return true;
}

// They were used as they want to be, and nothing is left.
static void check_gpus(void) {
  fake_driver_check();
  CHECK_EQ_U64(nccl_left(), 0);
}

// ---- results -------------------------------------------------------------------------------------

typedef struct run {
  permc_context *context;
  permc_value **arguments, **results;
  size_t argument_count, result_count;
} run;

static void end_run(run *r) {
  permc_values_free(r->arguments, r->argument_count);
  permc_values_free(r->results, r->result_count);
  permc_context_free(r->context);
}

static bool same_results(const run *a, const run *b) {
  bool same = a->result_count == b->result_count;
  for (size_t i = 0; same && i < a->result_count; i++) {
    same = a->results[i]->count == b->results[i]->count;
    for (size_t k = 0; same && k < a->results[i]->count; k++)
      same = array_same_bits(&a->results[i]->components[k], &b->results[i]->components[k]);
  }
  return same;
}

// Number-theoretic transforms, whose roots are powers of 3 modulo a prime.
static const char library[] =
    "power w k = if k == 0 then 1\n"
    "  else if k % 2 == 0 then power (w * w % 998244353) (k / 2)\n"
    "  else w * power w (k - 1) % 998244353\n"
    "levels 0 xs = xs\n"
    "levels n xs = butterflies n n 1u64 (two (levels (n - 1)) xs)\n"
    "butterflies n 1 f [a, b] = let t = b * f % q in [(a + t) % q, (a + q - t) % q]\n"
    "butterflies n m f xs = parmi 1 (\\bit -> butterflies n (m - 1) (root bit)) xs\n"
    "  where root bit = if bit == 1\n"
    "          then f * u64 (power 3 (998244352 / 2^n * 2^(n - m))) % q else f\n"
    "q = 998244353u64\n"
    "ntt : [2^n]u64 -> [2^n]u64\n"
    "ntt xs = levels n (bitrev (map (\\x -> x % q) xs))\n";

static bool run_on(run *r, const char *expression, const char *types, const char *backend,
                   uint32_t ranks) {
  permc_ranks wanted = {.transport = "threads", .count = ranks};
  *r = (run){.context = permc_context_new()};
  return r->context && permc_load_text(r->context, "library", library, strlen(library)) &&
         permc_define(r->context, expression) && (!ranks || permc_use_ranks(r->context, &wanted)) &&
         permc_read_random(r->context, "-e", types, 7, &r->arguments, &r->argument_count) &&
         permc_run(r->context, "-e", backend, r->arguments, r->argument_count, &r->results,
                   &r->result_count);
}

// What the issue of ranks names, and edges: fewer rows or elements than ranks, none at all.
static const struct {
  const char *expression, *types;
} programs[] = {
    {"sort", "[1024]u32"},
    {"sort", "[1000]f32"},
    {"padded maxval sort_network", "[777]i16"},
    {"sort_network", "[2048](u32, u8)"},
    {"bitonic_sort", "[512]f64"},
    {"map sort_network", "[8][64]u32"},
    {"map sort", "[3][100]u16"},
    {"map radix_sort", "[4][600]u32"},
    {"map (radix_sort_on fst)", "[8][200](u16, u64)"},
    {"map sort_network", "[2][256]u32"},
    {"sort_network", "[4]u32"},
    {"sort", "[1]u8"},
    {"sort", "[0]u8"},
    {"map sum", "[5][16]i32"},
    {"fft", "[1024]c64"},
    {"ifft", "[512]c128"},
    {"convolve", "[256]c64 [256]c64"},
    {"fft2", "[32][16]c64"},
    {"fwht", "[4096]i64"},
    {"fwht", "[8]i32"},
    {"ntt", "[512]u64"},
    {"bitrev", "[1024]u16"},
    {"transpose", "[32][64]u8"},
    {"transpose", "[7][15]u64"},
    {"bmmc [3, 1, 4, 8, 16, 32, 64, 128] 5", "[256]u32"},
    {"rotate 3", "[256]u8"},
    {"reverse", "[1000]f32"},
    {"shuffle", "[64]u8"},
    {"scan (+)", "[1000]i32"},
    {"scan (+)", "[1024]u64"},
    {"sum", "[1024]i32"},
    {"\\xs -> (sum xs, maximum xs, map (\\x -> x * x) xs)", "[256]u32"},
    {"\\x y -> x + y", "i64 i64"},
    {"\\x ys -> map (\\y -> (y, x)) ys", "u32 [64]f32"},
    {"iota 100", ""},
    {"42", ""},
    {"gather", "[0]i64 [16]u32"},
    {"histogram 16 (\\x -> x & 15u32)", "[1000]u32"},
    {"compact (\\x -> x > 128u8)", "[500]u8"},
    {"top_k 5", "[100]u32"},
    {"zip_with (+)", "[33]f32 [33]f32"},
    {"sort", "[17]i8"},
    {"sort_desc", "[999]f16"},
    {"\\xs -> (sort xs, sum xs)", "[1000]bf16"},
    {"sort", "[4097](f32, u16)"},
    {"map sort", "[1][1000]u64"},
    {"map sort", "[40][3]i32"},
    {"map sort", "[0][8]u32"},
    {"map sort", "[3][0]u32"},
    {"column_sort", "[1024]u32"},
    {"padded maxval sort_network", "[1]i16"},
    {"padded maxval sort_network", "[9]f32"},
    {"argsort", "[1000]u32"},
    {"argsort", "[0]u32"},
    {"ranks", "[700]i64"},
    {"map argsort", "[3][77]u8"},
    {"\\xs -> permute (argsort xs) xs", "[1001]u32"},
    {"sort_on (\\(k, v) -> k)", "[600](u16, f64)"},
    {"fft", "[4]c64"},
    {"fft", "[1]c64"},
    {"map fft", "[5][16]c64"},
    {"ntt", "[8]u64"},
    {"map ntt", "[3][32]u64"},
    {"fwht", "[1]i32"},
    {"map fwht", "[3][8]i32"},
    {"bmmc [1] 1", "[2]u8"},
    {"map (bmmc [2, 1, 4] 3)", "[5][8]u16"},
    {"transpose", "[0][5]u32"},
    {"scan (+)", "[0]i32"},
    {"scan (+)", "[3]i32"},
    {"sum", "[0]i32"},
    {"reverse", "[0]u8"},
    {"map (\\x -> x + 1)", "[0]u32"},
    {"concat", "[0]u32 [3]u32"},
    {"histogram 16 (\\x -> x & 15u32)", "[0]u32"},
    {"compact (\\x -> x > 128u8)", "[0]u8"},
    {"\\xs -> map (\\a -> parm 1 (\\b -> sort_ragged (let r = b[0] % 1 in [r, 0 + r, 0 + r, 0 + "
     "r]) "
     "(map (\\x -> (x, x)) b)) a) xs",
     "[1][2]i64"},
};

static void compare_on(const char *by, uint32_t most, size_t first, size_t step) {
  for (size_t i = first; i < sizeof programs / sizeof *programs; i += step) {
    const char *e = programs[i].expression, *types = programs[i].types;
    run expected;
    if (!CHECK(run_on(&expected, e, types, "interp", 0)))
      printf("  %s: %s", e, permc_message(expected.context));
    for (uint32_t ranks = 1; ranks <= most; ranks *= 2) {
      run found;
      bool good = run_on(&found, e, types, by, ranks);
      if (!CHECK(good && same_results(&expected, &found)))
        printf("  %s of %s, %u ranks, %s: %s\n", e, types, (unsigned)ranks, by,
               permc_message(found.context));
      end_run(&found);
    }
    end_run(&expected);
  }
}

TEST(programs_portable) { compare_on("portable", 16, 0, test_step(3)); }
TEST(programs_compiled) { compare_on("cpu", 2, 0, test_step(10)); }

TEST(programs_on_gpus) {
  if (!use_gpus("devices=8", ""))
    SKIP("there is no C compiler");
  compare_on("cuda", 8, 0, test_step(5));
  check_gpus();
}

// Ranks that have one GPU together, through memory of the host.
TEST(programs_on_one_gpu) {
  if (!use_gpus("devices=1", NULL))
    SKIP("there is no C compiler");
  compare_on("cuda", 4, 1, test_step(9));
  check_gpus();
}

// Each function of the driver, and of NCCL (NULL: without it), fails at some call: there is a
// message, and nothing is left.
static void check_failing(const char *cuda, const char *nccl, const char *line) {
  run r;
  use_gpus(cuda, nccl);
  bool good = run_on(&r, "fft", "[256]c64", "cuda", 2);
  const char *message = permc_message(r.context), *end = strchr(message, '\n');
  if (!CHECK(good || (end && !end[1] && strstr(message, line))))
    printf("  %s %s: %s\n", cuda, nccl ? nccl : "through the host", message);
  end_run(&r);
  check_gpus();
}

TEST(gpus_fail) {
  if (!use_gpus("devices=2", ""))
    SKIP("there is no C compiler");
  for (size_t i = 0; i < SYMBOLS; i++)
    for (int at = 1; at <= 16; at = at * 2 + 1) {
      char settings[120];
      bool tells = strncmp(symbols[i], "cuGetError", 10) != 0;
      snprintf(settings, sizeof settings, "devices=2 fail=%s at=%d status=700", symbols[i], at);
      check_failing(settings, "", tells ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "");
      check_failing(settings, NULL, tells ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "");
    }
  check_failing("devices=2", "fail=ncclSend rank=1",
                "permc: rank 1: ncclSend to rank 0: unhandled");
  check_failing("devices=2", "fail=async rank=0 at=2", "permc: rank 0: NCCL's exchange: unhandled");
  check_failing("devices=2", "fail=ncclGetUniqueId", "permc: rank 0: ncclGetUniqueId: unhandled");
}

TEST(more_ranks_than_a_process_has_with_gpus) {
  run r;
  if (!use_gpus("devices=2", NULL))
    SKIP("there is no C compiler");
  CHECK(!run_on(&r, "sort", "[64]u8", "cuda", 32));
  CHECK_CONTAINS(permc_message(r.context), "a process has at most 16 ranks with GPUs, not 32");
  end_run(&r);
}

TEST(wrong_numbers) {
  run r;
  CHECK(!run_on(&r, "sort", "[8]u8", NULL, 3));
  CHECK_CONTAINS(permc_message(r.context), "3 ranks are no power of two");
  end_run(&r);
  CHECK(!run_on(&r, "sort", "[8]u8", "interp", 2));
  CHECK_CONTAINS(permc_message(r.context), "the backend interp does not run on ranks");
  end_run(&r);
}

// What a program finds wrong in its data is found on ranks, too.
TEST(checks) {
  for (uint32_t ranks = 1; ranks <= 8; ranks *= 2) {
    run r;
    CHECK(!run_on(&r, "padded 0u32 sort_network", "[5]u32", "portable", ranks));
    CHECK_CONTAINS(permc_message(r.context), "is padding");
    end_run(&r);
  }
}

// ---- one rank in each context --------------------------------------------------------------------

enum { RANKS = 4 };

// What a rank does, in a thread that stands for its process.
typedef struct job {
  transport_group *group;
  uint32_t rank;
  const char *expression, *in, *other, *out;  // other: what the last rank reads, if it is set
  bool in_memory;                             // and not as parts of the file
  void (*before)(permc_context *c, uint32_t rank);
  bool twice;  // the result is an argument of another run
  uint64_t first, count;
  bool good, split;  // split: it had less than the whole result
  char message[600];
} job;

// The results are arguments again, of the same program.
static bool run_again(permc_context *c, run *r) {
  permc_value **results = NULL;
  size_t count = 0;
  bool good = permc_run(c, "-e", backend_of_each, r->results, r->result_count, &results, &count);
  permc_values_free(r->results, r->result_count);
  r->results = results;
  r->result_count = count;
  return good;
}

static bool run_job(permc_context *c, const job *j, run *r) {
  const char *in = j->other && j->rank == RANKS - 1 ? j->other : j->in;
  bool good = permc_define(c, j->expression) &&
              permc_read_files(c, "-e", &in, 1, &r->arguments, &r->argument_count);
  for (size_t i = 0; good && j->in_memory && i < r->argument_count; i++)
    good = array_load(r->arguments[i]->components, &(error){0});
  if (good && j->before)
    j->before(c, j->rank);
  return good &&
         permc_run_consume(c, "-e", backend_of_each, r->arguments, r->argument_count, &r->results,
                           &r->result_count) &&
         (!j->twice || run_again(c, r)) && permc_write_file(c, j->out, r->results[0]);
}

static void *run_rank(void *with) {
  job *j = with;
  error failure = {0};
  run r = {.context = permc_context_new()};
  ranks_options o = {.kind = &transport_threads,
                     .count = RANKS,
                     .timeout = 20,
                     .group = j->group,
                     .rank = j->rank};
  r.context->ranks = ranks_open(&o, &failure);
  r.context->end_ranks = ranks_close;
  j->good = r.context->ranks && run_job(r.context, j, &r);
  j->split = j->good && !permc_value_data(r.results[0], 0);
  if (j->good)
    permc_value_part(r.results[0], 0, &j->first, &j->count);
  snprintf(j->message, sizeof j->message, "%s", permc_message(r.context));
  if (!j->good)
    permc_fail_ranks(r.context, j->message);
  end_run(&r);
  return NULL;
}

static bool run_ranks(job *jobs, const job *like) {
  bool good = true;
  pthread_t threads[RANKS];
  transport_group *group = transport_group_make(RANKS);
  for (uint32_t i = 0; i < RANKS; i++) {
    jobs[i] = *like;
    jobs[i].group = group;
    jobs[i].rank = i;
    pthread_create(&threads[i], NULL, run_rank, &jobs[i]);
  }
  for (uint32_t i = 0; i < RANKS; i++) {
    pthread_join(threads[i], NULL);
    good = good && jobs[i].good;
  }
  transport_group_free(group);
  return good;
}

// ---- calls on parts ------------------------------------------------------------------------------

// The first element of n that rank r has; in other proportions than slabs, and rank 1 of 4 has
// none.
static uint64_t first_of(uint64_t n, uint32_t ranks, uint32_t r) {
  r = ranks > 2 && r == 2 ? 1 : r;
  return n * r * r / (ranks * ranks);
}

typedef struct part_call {
  uint64_t n, copies;  // copies: results have so many elements for each of the argument
  const char *expression;
  bool whole;         // the result is wanted by each rank
  const char *wrong;  // rank 0 leaves out its last element, and all say this
} part_call;

static permc_value *borrow_part(uint64_t n, uint64_t first, uint64_t end, void *data) {
  permc_error why;
  permc_memory m = {.type = "u32", .rank = 1, .dims = &n, .data = data, .device = PERMC_HOST};
  permc_value *v = permc_value_borrow_part(&m, first, end - first, &why);
  if (!CHECK(v != NULL))
    printf("  %s\n", why.message);
  return v;
}

// A call on what rank r has of keys, to what it has of `out`, or all. False: *why.
static bool call_part(permc_context *c, const part_call *t, uint32_t ranks, uint32_t r,
                      uint32_t *keys, uint32_t *out, permc_error *why) {
  char types[40];
  uint64_t first = 0, n = 0, own = first_of(t->n, ranks, r + 1) - first_of(t->n, ranks, r);
  CHECK(permc_place_parts(c, t->expression, &own, 1, &first, &n) && n == t->n);
  uint64_t end = first + own, m = n * t->copies;
  uint64_t begin = t->whole ? 0 : first * t->copies, stop = t->whole ? m : end * t->copies;
  snprintf(types, sizeof types, "[%u]u32", (unsigned)n);
  permc_compiled *p =
      permc_define(c, t->expression) ? permc_compile_types(c, "-e", backend_of_each, types) : NULL;
  if (!p) {
    why->code = permc_last_code(c);
    snprintf(why->message, sizeof why->message, "%s", permc_message(c));
    return false;
  }
  permc_value *in = borrow_part(t->n, first, end - (t->wrong && !r), keys + first);
  permc_value *result = borrow_part(m, begin, stop, out + begin);
  bool good = permc_call(p, &in, 1, &result, 1, NULL, why) == PERMC_OK &&
              permc_call(p, &in, 1, &result, 1, NULL, why) == PERMC_OK;
  permc_value_free(in);
  permc_value_free(result);
  permc_compiled_free(p);
  return good;
}

enum { MOST_KEYS = 5000, MOST_CALLERS = 8 };

typedef struct part_caller {
  pthread_t thread;
  void (*work)(permc_context *c, struct part_caller *j);
  const part_call *call;
  transport_group *group;
  uint32_t ranks, rank, *keys, *out;
  bool good;
  permc_error why;
} part_caller;

// What a rank does, by `work`: a thread with a context of its own.
static void *run_caller(void *with) {
  part_caller *j = with;
  error failure = {0};
  permc_context *c = permc_context_new();
  transport_options o = {.kind = &transport_threads,
                         .ranks = j->ranks,
                         .timeout = 20,
                         .group = j->group,
                         .rank = j->rank};
  transport *t = transport_open(&o, &failure);
  permc_ranks ranks = {.carry = carry, .with = t, .count = j->ranks, .rank = j->rank};
  if (CHECK(permc_use_ranks(c, &ranks)))
    j->work(c, j);
  permc_context_free(c);
  transport_close(t);
  return NULL;
}

static void run_callers(part_caller *all, const part_caller *like) {
  transport_group *group = transport_group_make(like->ranks);
  for (uint32_t r = 0; r < like->ranks; r++) {
    all[r] = *like;
    all[r].group = group;
    all[r].rank = r;
    all[r].out = like->out + (like->call && like->call->whole ? r * (2 * MOST_KEYS) : 0);
    pthread_create(&all[r].thread, NULL, run_caller, &all[r]);
  }
  for (uint32_t r = 0; r < like->ranks; r++)
    pthread_join(all[r].thread, NULL);
  transport_group_free(group);
}

static void call_as_rank(permc_context *c, part_caller *j) {
  j->good = call_part(c, j->call, j->ranks, j->rank, j->keys, j->out, &j->why);
}

static void fill_keys(uint32_t *keys, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    keys[i] = (uint32_t)(i * 2654435761u % 5003);
}

static void call_alone(const part_call *t, uint32_t *keys, uint32_t *out) {
  permc_error why;
  permc_context *c = permc_context_new();
  permc_value *in, *result;
  char types[40];
  uint64_t m = t->n * t->copies;
  snprintf(types, sizeof types, "[%u]u32", (unsigned)t->n);
  CHECK(permc_define(c, t->expression));
  permc_compiled *p = permc_compile_types(c, "-e", "interp", types);
  permc_memory memory = {.type = "u32", .rank = 1, .dims = &t->n, .data = keys, .device = -1};
  in = permc_value_borrow(&memory, &why);
  memory.dims = &m;
  memory.data = out;
  result = permc_value_borrow(&memory, &why);
  CHECK(permc_call(p, &in, 1, &result, 1, NULL, &why) == PERMC_OK);
  permc_value_free(in);
  permc_value_free(result);
  permc_compiled_free(p);
  permc_context_free(c);
}

static void check_calls(const part_call *t, uint32_t ranks) {
  static uint32_t keys[MOST_KEYS], expected[2 * MOST_KEYS], found[MOST_CALLERS * 2 * MOST_KEYS];
  part_caller all[MOST_CALLERS],
      like = {.work = call_as_rank, .call = t, .ranks = ranks, .keys = keys, .out = found};
  fill_keys(keys, t->n);
  call_alone(t, keys, expected);
  memset(found, 0, sizeof found);
  run_callers(all, &like);
  for (uint32_t r = 0; r < ranks; r++) {
    if (!CHECK(all[r].good == !t->wrong))
      printf("  %s, %u ranks: %s\n", t->expression, (unsigned)ranks, all[r].why.message);
    CHECK_CONTAINS(all[r].why.message, t->wrong ? t->wrong : "");
    if (!t->wrong)
      CHECK(memcmp(all[r].out, expected, t->n * t->copies * sizeof *expected) == 0);
  }
}

static void check_all_calls(size_t step) {
  static const part_call calls[] = {
      {1024, 1, "sort", false, NULL},
      {1000, 1, "sort", false, NULL},
      {5000, 1, "reverse", true, NULL},
      {4096, 1, "bitrev", false, NULL},
      {777, 2, "\\xs -> concat xs (map (\\x -> x + 1) xs)", false, NULL},
      {3, 1, "scan (+)", false, NULL},
      {0, 1, "map (\\x -> x * 2)", false, NULL},
      {1000, 1, "sort", false, "the parts of argument 1 that the ranks have"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i += step)
    for (uint32_t ranks = 1; ranks <= MOST_CALLERS; ranks *= 2)
      check_calls(&calls[i], ranks);
}

TEST(calls_on_parts) { check_all_calls(1); }

TEST(calls_on_parts_on_gpus) {
  if (!use_gpus("devices=8", ""))
    SKIP("there is no C compiler");
  backend_of_each = "cuda";
  check_all_calls(1);
  backend_of_each = "portable";
  check_gpus();
}

static void place_another(permc_context *c, part_caller *j) {
  uint64_t one = 1, first, all;
  CHECK(!permc_place_parts(c, j->rank == 1 ? "sort" : "sum", &one, 1, &first, &all));
  CHECK_CONTAINS(permc_message(c), "rank 1 differs from rank 0 in its call: sort, not sum");
  CHECK(permc_rank_speaks(c) == (j->rank == 0));
  CHECK(!permc_place_parts(c, j->rank == 1 ? "main\n1" : "main\n2", &one, 1, &first, &all));
  CHECK_CONTAINS(permc_message(c), "rank 1 differs from rank 0 in its program text");
}

// Its own arguments are wrong; all go on then.
static void refuse_one(permc_context *c, part_caller *j) {
  uint64_t one = 1, first, all;
  if (j->rank == 1) {
    permc_refuse_call(c, "permc: it has no keys\nat all");
  } else {
    CHECK(!permc_place_parts(c, "sort", &one, 1, &first, &all));
    CHECK_STR(permc_message(c), "permc: rank 1: it has no keys\n");
  }
  CHECK(permc_rank_speaks(c) == (j->rank == 1));
  CHECK(permc_place_parts(c, "sort", &one, 1, &first, &all) && all == 2);
}

TEST(other_calls) {
  part_caller all[2], like = {.work = place_another, .ranks = 2};
  run_callers(all, &like);
}

TEST(refused_calls) {
  part_caller all[2], like = {.work = refuse_one, .ranks = 2};
  run_callers(all, &like);
}

// ---- files ---------------------------------------------------------------------------------------

static const char *temporary_folder(void) {
  const char *folder = getenv("PERMC_TMP");
  return folder ? folder : "/tmp";
}

// A path in the test's own folder.
static const char *own_path(const char *name) {
  static char paths[4][300];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", temporary_folder(), name);
  return path;
}

static void write_random(const char *path, const char *types) {
  permc_context *c = load_expression("\\x -> x");
  permc_value **values;
  size_t count;
  CHECK(permc_read_random(c, "-e", types, 3, &values, &count) &&
        permc_write_file(c, path, values[0]));
  permc_values_free(values, count);
  permc_context_free(c);
}

static void write_alone(const char *expression, const char *in, const char *out) {
  run r = {.context = load_expression(expression)};
  job j = {.expression = expression, .in = in, .out = out};
  CHECK(run_job(r.context, &j, &r));
  end_run(&r);
}

static bool same_files(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  int c = 0, d = 0;
  while (x && y && c == d && c != EOF)
    c = fgetc(x), d = fgetc(y);
  if (x)
    fclose(x);
  if (y)
    fclose(y);
  return x && y && c == d;
}

static size_t files_in_folder(void) {
  size_t count = 0;
  DIR *folder = opendir(temporary_folder());
  for (const struct dirent *d; folder && (d = readdir(folder));)
    count += d->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

// As numpy writes arrays of big-endian machines.
static void make_big_endian(const char *path) {
  FILE *f = fopen(path, "r+b");
  char header[128];
  uint32_t word;
  CHECK(f && fread(header, sizeof header, 1, f) == 1);
  *(char *)memchr(header, '<', sizeof header) = '>';
  rewind(f);
  fwrite(header, sizeof header, 1, f);
  for (long at = sizeof header; fseek(f, at, SEEK_SET) == 0 && fread(&word, 4, 1, f) == 1;
       at += 4) {
    word = __builtin_bswap32(word);
    fseek(f, at, SEEK_SET);
    fwrite(&word, 4, 1, f);
  }
  fclose(f);
}

static const struct {
  const char *expression, *types, *out;
} file_runs[] = {
    {"map (\\x -> x + 1u32)", "[4096]u32", "a.npy"},
    {"sort", "[5000]u32", "b.npy"},
    {"sort_network", "[4096]f64", "c.npy"},
    {"\\xs -> map (\\x -> (x, i8 x)) xs", "[2048]i32", "d.npy"},
    {"sum", "[3000]i64", "e.npy"},
    {"bitrev", "[8192]u8", "f.csv"},
    {"transpose", "[64][32]u32", "g.txt"},
    {"take 3", "[4096]u32", "h.npy"},
    {"take 0", "[4096]u32", "i.npy"},
    {"map (\\x -> x)", "[2]u32", "j.npy"},
    {"sort_on fst", "[3000](u16, f64)", "k.npy"},
    {"map (\\(x, b, z) -> (z, b))", "[2048](u32, bool, c64)", "l.npy"},
};

static void check_files(size_t step) {
  size_t split = 0;
  for (size_t i = 0; i < sizeof file_runs / sizeof *file_runs; i += step)
    for (int swapped = 0; swapped <= (strstr(file_runs[i].types, "]u32") != NULL); swapped++) {
      const char *in = own_path("in.npy"), *out = own_path(file_runs[i].out);
      char expected[320];
      snprintf(expected, sizeof expected, "%s%s", out, strrchr(out, '.'));
      write_random(in, file_runs[i].types);
      if (swapped)
        make_big_endian(in);
      write_alone(file_runs[i].expression, in, expected);
      job jobs[RANKS], like = {.expression = file_runs[i].expression, .in = in, .out = out};
      if (!CHECK(run_ranks(jobs, &like) && same_files(out, expected)))
        printf("  %s: %s\n", file_runs[i].expression, jobs[0].message);
      split += jobs[0].split;
      remove(out);
      remove(expected);
      remove(in);
    }
  CHECK(split >= 5 / step);
  CHECK_EQ_U64(files_in_folder(), 0);
}

TEST(files) { check_files(1); }

// The only name in the folder is that of the result, when it is whole.
TEST(no_other_name) {
  const char *in = own_path("in.npy"), *out = own_path("out.npy");
  job jobs[RANKS], like = {.expression = "sort", .in = in, .out = out};
  _Alignas(struct inotify_event) char events[4096];
  int unnamed = unnamed_create(temporary_folder()), watch = inotify_init1(IN_NONBLOCK);
  if (unnamed < 0 || watch < 0)
    SKIP("files without names are not here");
  close(unnamed);
  write_random(in, "[4096]u32");
  CHECK(inotify_add_watch(watch, temporary_folder(), IN_CREATE | IN_MOVED_TO) >= 0);
  CHECK(run_ranks(jobs, &like));
  ssize_t got = read(watch, events, sizeof events);
  CHECK(got > 0);
  for (ssize_t at = 0; at < got;) {
    const struct inotify_event *e = (const void *)(events + at);
    CHECK_STR(e->name, "out.npy");
    at += (ssize_t)(sizeof *e + e->len);
  }
  close(watch);
  remove(in);
  remove(out);
}

TEST(files_on_gpus) {
  if (!use_gpus("devices=4", ""))
    SKIP("there is no C compiler");
  backend_of_each = "cuda";
  check_files(test_step(5));
  backend_of_each = "portable";
  check_gpus();
}

TEST(parts) {
  const char *in = own_path("in.npy"), *out = own_path("out.npy"), *alone = own_path("alone.npy");
  job jobs[RANKS],
      like = {.expression = "map (\\x -> x * 3u32)", .in = in, .out = out, .twice = true};
  write_random(in, "[5000]u32");
  write_alone("map (\\x -> x * 9u32)", in, alone);
  if (!CHECK(run_ranks(jobs, &like) && same_files(out, alone)))
    printf("  %s\n", jobs[0].message);
  uint64_t end = 0;
  for (uint64_t i = 0; i < RANKS; i++) {
    CHECK_EQ_U64(jobs[i].first, end);
    end += jobs[i].count;
  }
  CHECK_EQ_U64(end, 5000);
  remove(in);
  remove(out);
  remove(alone);
}

// ---- failures ------------------------------------------------------------------------------------

// When all have read the header.
static void cut_file(permc_context *c, uint32_t rank) {
  static atomic_uint come;
  (void)c;
  for (atomic_fetch_add(&come, 1); rank == 2 && atomic_load(&come) < RANKS;)
    usleep(100);
  if (rank == 2)
    CHECK(truncate(own_path("cut.npy"), 4096) == 0);
}

static void end_rank(permc_context *c, uint32_t rank) {
  if (rank == 1)
    permc_fail_ranks(c, "the machine is on fire");
}

// All end, with the line of one rank; no file is left.
static void check_failure(void (*before)(permc_context *, uint32_t), const char *line) {
  const char *in = own_path("cut.npy"), *out = own_path("cut_out.npy");
  job jobs[RANKS], like = {.expression = "sort", .in = in, .out = out, .before = before};
  write_random(in, "[65536]u32");
  CHECK(!run_ranks(jobs, &like));
  for (uint32_t i = 0; i < RANKS; i++) {
    CHECK(!jobs[i].good);
    CHECK_CONTAINS(jobs[i].message, line);
  }
  remove(in);
  CHECK_EQ_U64(files_in_folder(), 0);
}

static void end_as_told(permc_context *c, uint32_t rank) {
  if (rank == 1)
    permc_fail_ranks(c, "permc: rank 2 differs from rank 0 in its call\n");
}

TEST(failures) {
  check_failure(cut_file, "the file became shorter while it was read");
  check_failure(end_rank, "rank 1: the machine is on fire");
  check_failure(end_as_told, "permc: rank 2 differs from rank 0 in its call");
}

TEST(no_folder_for_the_result) {
  const char *in = own_path("in.npy");
  job jobs[RANKS], like = {.expression = "sort", .in = in, .out = own_path("none/out.npy")};
  write_random(in, "[4096]u32");
  CHECK(!run_ranks(jobs, &like));
  for (uint32_t i = 0; i < RANKS; i++)
    CHECK_CONTAINS(jobs[i].message, "rank 0: ");
  remove(in);
}

// Ranks whose programs differ.
static void other_length(permc_context *c, uint32_t rank) {
  if (rank == 3)
    permc_define(c, "sort_desc");
}

TEST(other_programs) {
  const char *in = own_path("in.npy");
  job jobs[RANKS],
      like = {.expression = "sort", .in = in, .out = own_path("o.npy"), .before = other_length};
  write_random(in, "[4096]u32");
  CHECK(!run_ranks(jobs, &like));
  for (uint32_t i = 0; i < RANKS; i++)
    CHECK_CONTAINS(jobs[i].message, "rank 3 differs from rank 0 in its program");
  remove(in);
  CHECK_EQ_U64(files_in_folder(), 0);
}

// An argument that differs in its last element, in memory and in files; and the same in two files.
TEST(other_elements) {
  const char *in = own_path("in.npy"), *copy = own_path("copy.npy");
  job jobs[RANKS], like = {.expression = "sort", .in = in, .other = copy, .out = own_path("o.npy")};
  write_random(in, "[20000]u32");
  write_random(copy, "[20000]u32");
  CHECK(run_ranks(jobs, &like));
  FILE *f = fopen(copy, "r+b");
  CHECK(f && fseek(f, -1, SEEK_END) == 0 && fputc(0xaa, f) == 0xaa && fclose(f) == 0);
  for (int memory = 0; memory < 2; memory++) {
    like.in_memory = memory;
    CHECK(!run_ranks(jobs, &like));
    for (uint32_t i = 0; i < RANKS; i++)
      CHECK_CONTAINS(jobs[i].message,
                     "rank 3 differs from rank 0 in its arguments that each rank has all of");
  }
  remove(in);
  remove(copy);
  remove(like.out);
}

// ---- launchers -----------------------------------------------------------------------------------

TEST(timeouts) {
  static const double wrong[] = {-1, -1e-300, 1e7, INFINITY, NAN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    permc_context *c = permc_context_new();
    CHECK(!permc_use_ranks(
        c, &(permc_ranks){.transport = "threads", .count = 2, .timeout = wrong[i]}));
    CHECK(permc_last_code(c) == PERMC_ERROR_ARGUMENT);
    CHECK(strstr(permc_message(c), "'timeout' goes from 0 to 1000000"));
    permc_context_free(c);
  }
}

TEST(launchers) {
  static const struct {
    const char *variables[4], *launcher, *transport;
  } cases[] = {
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, "Open MPI", "mpi"},
      {{"PMI_RANK", "PMI_SIZE"}, "MPICH", "mpi"},
      {{"RANK", "WORLD_SIZE"}, "torchrun", "gloo"},
  };
  ranks_launch found;
  CHECK(!ranks_launched(&found));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    setenv(cases[i].variables[0], "3", 1);
    CHECK(!ranks_launched(&found));
    setenv(cases[i].variables[1], "8", 1);
    CHECK(ranks_launched(&found));
    CHECK_STR(found.launcher, cases[i].launcher);
    CHECK_STR(found.transport, cases[i].transport);
    CHECK_EQ_U64(found.rank, 3);
    CHECK_EQ_U64(found.count, 8);
    unsetenv(cases[i].variables[0]);
    unsetenv(cases[i].variables[1]);
  }
}

// What ranks_launched says in a process that is started by one with this loaded and these
// variables, by way of a shell: 0: alone, 1: a rank, 2: a child of one.
static int run_launched(const char *loaded) {
  ranks_launch found;
  if (!loaded)
    return ranks_launched(&found) ? 1 : found.child_of ? 2 : 0;
  int file = open(loaded, O_RDONLY);
  void *mapped = file < 0 ? NULL : mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
  const int status = system("x=0; /proc/$PPID/exe --launched || x=$?; exit $x");
  return mapped == MAP_FAILED ? -1 : WEXITSTATUS(status);
}

TEST(children_of_ranks) {
  static const struct {
    const char *loaded, *variables;
    int expected;
  } cases[] = {
      {"libmpi.so.40", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0", 2},
      {"libmpich.so", "PMI_RANK=1 PMI_SIZE=2", 2},
      {"libtorch.so", "RANK=1 WORLD_SIZE=2 MASTER_PORT=5", 2},
      {"other.so", "PMI_RANK=1 PMI_SIZE=2", 1},
      {"libmpi.so.40", "RANK=1 WORLD_SIZE=2", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[700];
    const char *loaded = own_path(cases[i].loaded);
    snprintf(command, sizeof command, "echo x >%s; p=$PPID; env %s /proc/$p/exe --launched %s",
             loaded, cases[i].variables, loaded);
    const int status = system(command);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == cases[i].expected);
    remove(loaded);
  }
}

// ---- a communicator of the caller -----------------------------------------------------------------

// Calls on half of MPI's ranks, while the other half makes others. The line of what is wrong, or
// NULL.
static const char *call_in_half(const mpi_library *m, uintptr_t half, int half_rank, int half_size,
                                bool second) {
  static uint32_t keys[MOST_KEYS], expected[MOST_KEYS], found[MOST_KEYS];
  static permc_error why;
  const part_call call = {second ? 3000 : 4096, 1, second ? "sort" : "bitrev", false, NULL};
  permc_ranks ranks = {.transport = "mpi", .communicator = half, .timeout = 20};
  permc_context *c = permc_context_new();
  uint64_t first = first_of(call.n, (uint32_t)half_size, (uint32_t)half_rank);
  uint64_t end = first_of(call.n, (uint32_t)half_size, (uint32_t)half_rank + 1);
  fill_keys(keys, call.n);
  call_alone(&call, keys, expected);
  if (!permc_use_ranks(c, &ranks))
    return permc_message(c);
  bool good = call_part(c, &call, (uint32_t)half_size, (uint32_t)half_rank, keys, found, &why);
  permc_context_free(c);
  int ended = 1;
  m->finalized(&ended);
  if (ended)
    return "permc has ended the caller's MPI";
  if (good && memcmp(found + first, expected + first, (end - first) * sizeof *found) != 0)
    return "other elements";
  return good ? NULL : why.message;
}

static int run_halves(void) {
  char missing[500];
  const mpi_library *m = mpi_library_find(missing, sizeof missing);
  int (*split)(void *comm, int color, int key, mpi_handle *out) = NULL, level, rank, size;
  void *symbol = m ? dlsym(RTLD_DEFAULT, "MPI_Comm_split") : NULL;
  memcpy(&split, &symbol, sizeof split);
  if (!split)
    return puts(m ? "there is no MPI_Comm_split" : missing), 1;
  mpi_handle half;
  m->init_thread(NULL, NULL, m->serialized, &level);
  m->comm_rank(m->world, &rank);
  m->comm_size(m->world, &size);
  bool second = rank >= size / 2;
  split(m->world, second, rank, &half);
  m->comm_rank(mpi_value(m, &half), &rank);
  m->comm_size(mpi_value(m, &half), &size);
  const char *wrong = call_in_half(m, (uintptr_t)mpi_value(m, &half), rank, size, second);
  if (wrong)
    printf("rank %d of half %d: %s\n", rank, second, wrong);
  m->comm_free(&half);
  m->finalize();
  return wrong != NULL;
}

// What a rank starts has its variables, and is none.
static int start_command(char **words) {
  char missing[500];
  int level, status = 1;
  const mpi_library *m = mpi_library_find(missing, sizeof missing);
  if (!m)
    return puts(missing), 1;
  m->init_thread(NULL, NULL, m->serialized, &level);
  pid_t child = fork();
  if (child == 0)
    _exit(execv(*words, words));
  waitpid(child, &status, 0);
  m->finalize();
  return status != 0;
}

int main(int count, char **words) {
  if (count >= 2 && strcmp(words[1], "--launched") == 0)
    return run_launched(words[2]);
  if (count >= 3 && strcmp(words[1], "--starts") == 0)
    return start_command(words + 2);
  return count == 2 && strcmp(words[1], "--halves") == 0 ? run_halves() : test_main(count, words);
}
