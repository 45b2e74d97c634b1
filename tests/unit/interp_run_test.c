// interp on whole programs: sorting, peak memory, arguments and results, failures, interruption.
#include "tests/test.h"

#include "core/sanitized.h"
#include "lang/execute/execute.h"
#include "runtime/interp/interp.h"
#include "tests/unit/trace_builder.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

// ---- whole programs -----------------------------------------------------------------------------

static int compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static bool sorts(value_id (*sorter)(builder *, value_id), uint64_t length) {
  builder b;
  builder_start(&b);
  add_result(&b, sorter(&b, add_argument(&b, 0, SCALAR_U32, 1, &length)));
  array keys, kept, result;
  array_create(&keys, SCALAR_U32, 1, &length);
  array_create(&kept, SCALAR_U32, 1, &length);
  for (uint64_t i = 0; i < length; i++)
    ((uint32_t *)keys.data)[i] = (uint32_t)(i * i * 2654435761u) >> 4;
  memcpy(kept.data, keys.data, length * 4);
  qsort(kept.data, length, 4, compare_u32);
  error failure;
  bool good = CHECK_STR(trace_verify(&b.memory, &b.trace), NULL) &&
              CHECK(interp_run(&b.trace, &keys, 1, &result, false, NULL, &failure)) &&
              CHECK(memcmp(result.data, kept.data, length * 4) == 0);
  array_destroy(&keys);
  array_destroy(&result);
  array_destroy(&kept);
  builder_free(&b);
  return good;
}

TEST(sorters) {
  for (uint64_t length = 1; length <= 1 << 14; length *= 2)
    if (!sorts(add_bitonic, length) || !sorts(add_paper_sort, length))
      break;
}

// ---- memory -------------------------------------------------------------------------------------

static bool needs(const builder *b, const char *what) {
  array results[8];
  error failure;
  return CHECK(!interp_run(&b->trace, NULL, 0, results, false, NULL, &failure)) &&
         CHECK_CONTAINS(failure.message, what) && CHECK(results[0].data == NULL);
}

// Each value has 256 TiB.
TEST(peak) {
  builder b;
  builder_start(&b);
  uint64_t length = (uint64_t)1 << 45;
  value_id xs = add_iota(&b, length), moved = xs;
  for (int i = 0; i < 5; i++)
    moved = add_concat(&b, add_slice(&b, moved, 1, length - 1), add_slice(&b, moved, 0, 1));
  add_result(&b, moved);
  needs(&b, "this needs 512 TiB of memory; this ");  // a move's operand and its result
  add_iota(&b, length);                              // nothing needs it
  needs(&b, "this needs 512 TiB of memory; this ");
  add_result(&b, xs);  // now the first value lives on
  needs(&b, "this needs 768 TiB of memory; this ");
  add_result(&b, xs);  // and is copied at the end
  needs(&b, "this needs 768 TiB of memory; this ");
  add_result(&b, xs);
  needs(&b, "this needs 1 PiB of memory; this ");
  builder_free(&b);
}

TEST(too_large) {
  builder b;
  builder_start(&b);
  add_result(&b, add_iota(&b, (uint64_t)1 << 45));
  needs(&b, "this needs 256 TiB of memory; this ");
  value_id half = add_iota(&b, (uint64_t)1 << 59);
  for (int i = 0; i < 5; i++)
    add_result(&b, half);
  needs(&b, "of memory; this ");
  builder_free(&b);
}

TEST(too_large_for_the_process) {
#if SANITIZED_ADDRESS
  SKIP("the address sanitizer needs all of the address space");
#else
  builder b;
  builder_start(&b);
  add_result(&b, add_iota(&b, (uint64_t)1 << 28));
  struct rlimit before, limit;
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  limit = before;
  limit.rlim_cur = 1 << 30;
  if (setrlimit(RLIMIT_AS, &limit) != 0)
    SKIP("the limit cannot be set");
  array result;
  error failure;
  CHECK(!interp_run(&b.trace, NULL, 0, &result, false, NULL, &failure));
  setrlimit(RLIMIT_AS, &before);
  CHECK_CONTAINS(failure.message, "this needs 2 GiB of memory; this process may use ");
  builder_free(&b);
#endif
}

TEST(result_of_many_dimensions) {
  builder b;
  builder_start(&b);
  uint64_t dims[17];
  for (int i = 0; i < 17; i++)
    dims[i] = 1;
  add_result(&b,
             add_reshape(&b, add_constant(&b, SCALAR_I64, (scalar_bits){.i64 = 1}), 1, 17, dims));
  array result;
  error failure;
  CHECK(!interp_run(&b.trace, NULL, 0, &result, false, NULL, &failure));
  CHECK_STR(failure.message, "result 1 has 17 dimensions; at most 16 are possible");
  builder_free(&b);
}

// ---- arguments and results ----------------------------------------------------------------------

TEST(arguments_are_kept) {
  builder b;
  builder_start(&b);
  uint64_t four[1] = {4};
  value_id xs = add_argument(&b, 1, SCALAR_U8, 1, four);
  add_result(&b, add_argument(&b, 1, SCALAR_U8, 1, four));  // the same argument twice
  add_result(&b, xs);
  array arguments[3], results[2];
  for (int i = 0; i < 3; i++) {
    array_create(&arguments[i], SCALAR_U8, 1, four);
    memcpy(arguments[i].data, "abcd", 4);
  }
  error failure;
  REQUIRE(interp_run(&b.trace, arguments, 3, results, false, NULL, &failure));
  for (int i = 0; i < 2; i++) {
    CHECK(results[i].data != arguments[1].data && memcmp(results[i].data, "abcd", 4) == 0);
    array_destroy(&results[i]);
  }
  for (int i = 0; i < 3; i++) {
    CHECK(memcmp(arguments[i].data, "abcd", 4) == 0);
    array_destroy(&arguments[i]);
  }
  builder_free(&b);
}

TEST(wrong_arguments) {
  builder b;
  builder_start(&b);
  uint64_t four[1] = {4}, five[1] = {5};
  add_result(&b, add_argument(&b, 0, SCALAR_U8, 1, four));
  array argument, result;
  error failure;
  CHECK(!interp_run(&b.trace, NULL, 0, &result, false, NULL, &failure));
  CHECK_CONTAINS(failure.message, "argument 1 is missing");
  array_create(&argument, SCALAR_U8, 1, five);
  CHECK(!interp_run(&b.trace, &argument, 1, &result, false, NULL, &failure));
  CHECK_CONTAINS(failure.message, "argument 1 is missing, or has another type or shape");
  CHECK(result.data == NULL);
  array_destroy(&argument);
  builder_free(&b);
}

// ---- interruption -------------------------------------------------------------------------------

static atomic_bool stop;

static void on_alarm(int signal_number) {
  (void)signal_number;
  atomic_store(&stop, true);
}

// The program would take seconds.
static void stops_soon(builder *b) {
  const struct itimerval soon = {.it_value = {.tv_usec = 30000}};
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  atomic_store(&stop, false);
  setitimer(ITIMER_REAL, &soon, NULL);
  array result;
  error failure;
  CHECK(!interp_run(&b->trace, NULL, 0, &result, false, &stop, &failure));
  CHECK_STR(failure.message, "interrupted");
}

TEST(interrupted_before) {
  builder b;
  builder_start(&b);
  add_result(&b, add_iota(&b, 3));
  array result;
  error failure;
  atomic_store(&stop, true);
  CHECK(!interp_run(&b.trace, NULL, 0, &result, false, &stop, &failure));
  CHECK_STR(failure.message, "interrupted");
  builder_free(&b);
}

TEST(interrupted_within) {
  builder b;
  builder_start(&b);
  uint64_t length = 1 << 20;
  value_id sum = add_reshape(&b, add_iota(&b, length), length, 0, NULL);
  for (int i = 0; i < 2000; i++)
    sum = add_binary(&b, OP_ADD, sum, sum);
  add_result(&b, add_reshape(&b, sum, 1, 1, &length));
  stops_soon(&b);
  builder_free(&b);
}

// Every move looks at the flag.
TEST(interrupted_moves) {
  builder b;
  builder_start(&b);
  uint64_t dims[2] = {64, 32}, rows[6] = {1, 2, 4, 8, 16, 33};
  value_id xs = add_argument(&b, 0, SCALAR_U32, 2, dims);
  add_reshape(&b, xs, 32, 1, dims);
  value_id halves = add_move(&b, TRACE_SPLIT, xs, 3), pairs = add_move(&b, TRACE_PAIR, xs, 5);
  add_move(&b, TRACE_STITCH, halves, 3);
  add_unpair(&b, pairs, 64, 5);
  add_move(&b, TRACE_STITCH, pairs, 3);
  add_bmmc(&b, xs, rows, 1);
  add_move(&b, TRACE_TRANSPOSE, xs, 0);
  add_slice(&b, xs, 3, 60);
  add_replicate(&b, xs, 2);
  add_replicate(&b, pairs, 2);
  add_concat(&b, xs, xs);
  add_broadcast(&b, xs, 8);
  add_move(&b, TRACE_ELEMENT, pairs, 1);
  add_pack(&b, (value_id[]){pairs, pairs}, 2);
  void *in = calloc(64 * 32, 4), *out = calloc(64 * 32 * 8, 4);
  REQUIRE(in != NULL && out != NULL);
  atomic_store(&stop, true);
  for (size_t i = 1; i < b.trace.steps.count; i++) {
    step_watch never = {.interrupted = NULL}, at_once = {.interrupted = &stop};
    const trace_step *s = &b.trace.steps.items[i];
    CHECK(execute_move(&never, &b.trace, s, (const void *const[]){in, in}, out));
    if (!CHECK(!execute_move(&at_once, &b.trace, s, (const void *const[]){in, in}, out)))
      printf("step %zu: %s\n", i, trace_op_names[s->op]);
  }
  free(in);
  free(out);
  builder_free(&b);
}

TEST_MAIN()
