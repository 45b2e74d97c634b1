// The driver: what becomes of arguments and results, buffers between passes, what executors are
// asked for, and everything that can fail.
#include "tests/readers/readers.h"
#include "tests/unit/memory.h"
#include "tests/unit/plan_random.h"

#include "runtime/cpu/cpu.h"
#include "runtime/cpu/sweeps.h"
#include "runtime/portable/portable.h"

static plan *plan_of(const char *string) {
  const char *wrong = NULL;
  const net *t = net_read(&memory, string, &wrong);
  if (!CHECK_STR(wrong, NULL) || !CHECK_STR(net_verify(&memory, t), NULL))
    exit(1);
  random_state random = {1};
  return random_plan(&memory, &random, t);
}

// With the portable executor, unless the options have one. As cpu_run, it consumes the arguments.
static bool run(const plan *p, bool allow_foreign, cpu_options o, array *arguments, size_t count,
                array *results, error *why) {
  portable_options options = {.allow_foreign = allow_foreign, .interrupted = o.interrupted};
  portable *e = portable_new(p, &options, why);
  cpu_executor executor = {portable_pass, e, NULL};
  if (!o.executor)
    o.executor = &executor;
  bool good = e && cpu_run(p, &o, arguments, count, results, why);
  portable_free(e);
  return good;
}

static array numbers(uint64_t count) {
  array a;
  if (!array_create(&a, SCALAR_I32, 1, &count))
    abort();
  for (uint64_t i = 0; i < count; i++)
    ((int32_t *)a.data)[i] = (int32_t)i;
  return a;
}

static const char negate[] = "array a0 i32 8 argument 0\n"
                             "array a1 i32 8 result 0\n"
                             "stage n=3\n"
                             "  v0 = load a0 at x0 + 2*x1 + 4*x2\n"
                             "  op step 5\n"
                             "    v1[0] = negate v0[0]\n"
                             "  store v1 in a1 at x0 + 2*x1 + 4*x2\n";

TEST(result) {
  START();
  array argument = numbers(8), result;
  error why = {0};
  CHECK(run(plan_of(negate), false, (cpu_options){.threads = 1}, &argument, 1, &result, &why));
  CHECK(argument.data == NULL);
  CHECK_EQ_U64(result.type, SCALAR_I32);
  CHECK_EQ_U64(result.rank, 1);
  CHECK_EQ_U64(result.dims[0], 8);
  CHECK((uintptr_t)result.data % 64 == 0);
  for (int i = 0; i < 8; i++)
    CHECK_EQ_I64(((int32_t *)result.data)[i], -i);
  array_destroy(&result);
}

TEST(borrowed_arguments) {
  START();
  array argument = numbers(8), result[1] = {{0}};
  error why = {0};
  cpu_options o = {.threads = 2, .borrow_arguments = true};
  const plan *p = plan_of(negate);
  for (int i = 0; i < 3; i++) {
    CHECK(run(p, false, o, &argument, 1, result, &why));
    for (int k = 0; k < 8; k++) {
      CHECK_EQ_I64(((int32_t *)argument.data)[k], k);
      CHECK_EQ_I64(((int32_t *)result[0].data)[k], -k);
    }
    array_destroy(&result[0]);
  }
  array_destroy(&argument);
}

// ---- failures --------------------------------------------------------------------------------

static void check_failure(const plan *p, cpu_options o, array *arguments, size_t count,
                          const char *message) {
  array results[2] = {{0}};
  error why = {0};
  CHECK(!run(p, false, o, arguments, count, results, &why));
  CHECK_CONTAINS(why.message, message);
  for (size_t i = 0; i < count; i++)
    CHECK(arguments[i].data == NULL);
  CHECK(results[0].data == NULL);
}

TEST(arguments_that_do_not_fit) {
  START();
  const plan *p = plan_of(negate);
  cpu_options o = {.threads = 1};
  static const char message[] = "argument 1 must be an array of 8 i32";
  check_failure(p, o, NULL, 0, message);
  array a = numbers(7);
  check_failure(p, o, &a, 1, message);
  a = numbers(8);
  a.type = SCALAR_U32;
  check_failure(p, o, &a, 1, message);
  array several[3] = {numbers(8), numbers(5), numbers(1)}, result;  // more than are needed
  error why = {0};
  CHECK(run(p, false, o, several, 3, &result, &why));
  CHECK(several[1].data == NULL);
  array_destroy(&result);
}

TEST(interrupted) {
  START();
  atomic_bool interrupted = true;
  array a = numbers(8);
  check_failure(plan_of(negate), (cpu_options){.interrupted = &interrupted}, &a, 1, "interrupted");
}

static const char huge[] = "array a0 u8 4611686018427387904 argument 0\n"
                           "array a1 u8 4611686018427387904 result 0\n"
                           "stage n=0 loops 4611686018427387904\n"
                           "  v0 = load a0 at o0\n"
                           "  store v0 in a1 at o0\n";

TEST(too_large) {
  START();
  array a = {.type = SCALAR_U8};
  const plan *p = plan_of(huge);
  check_failure(p, (cpu_options){.threads = 1}, &a, 1, "this needs 8 EiB of memory; ");
  CHECK_EQ_U64(cpu_peak_bytes(&memory, p), UINT64_C(1) << 63);
}

// ---- foreign functions -----------------------------------------------------------------------

// lrand48 is called once for each index that is alive, so that the next number is known.
static const char lottery[] = "array a0 i64 8 result 0\n"
                              "extern e0 lrand48 -> i64 in \"\"\n"
                              "stage n=4\n"
                              "  op live x1 step 7\n"
                              "    v0[0] = extern e0 i64\n"
                              "  store v0 in a0 at x0 + 2*x2 + 4*x3 live x1\n";

TEST(foreign_functions) {
  START();
  const plan *p = plan_of(lottery);
  array result;
  error why = {0};
  CHECK(!run(p, false, (cpu_options){.threads = 2}, NULL, 0, &result, &why));
  CHECK_STR(why.message,
            "\"lrand48\" is a C function; programs may call those only with --allow-extern");
  CHECK_EQ_U64(why.step, 7);
  int64_t expected[9], sum = 0;
  srand48(1);
  for (int i = 0; i < 9; i++)
    expected[i] = lrand48();
  srand48(1);
  why = (error){0};
  CHECK(run(p, true, (cpu_options){.threads = 2}, NULL, 0, &result, &why));
  CHECK_EQ_I64(lrand48(), expected[8]);
  for (int i = 0; i < 8; i++)
    sum += ((int64_t *)result.data)[i] - expected[i];
  CHECK_EQ_I64(sum, 0);
  array_destroy(&result);
}

TEST(foreign_functions_that_are_not_there) {
  START();
  plan *p = plan_of(lottery);
  p->net->externs.items[0].name = "no_such_function";
  array result;
  error why = {0};
  CHECK(!run(p, true, (cpu_options){.threads = 1}, NULL, 0, &result, &why));
  CHECK_CONTAINS(why.message, "has no function \"no_such_function\"");
}

// ---- arrays without elements -----------------------------------------------------------------

static const char nothing[] = "array a0 i32 0 argument 0\n"
                              "array a1 i32 0 result 0\n"
                              "array a2 bool 0 result 1\n"
                              "stage n=0 loops 0\n"
                              "  v0 = load a0 at o0\n"
                              "  store v0 in a1 at o0\n";

TEST(no_elements) {
  START();
  array argument = numbers(0), results[2];
  error why = {0};
  CHECK(run(plan_of(nothing), false, (cpu_options){.threads = 2}, &argument, 1, results, &why));
  CHECK(results[0].data != NULL && results[1].data != NULL);
  CHECK_EQ_U64(array_count(&results[0]) + array_count(&results[1]), 0);
  array_destroy(&results[0]);
  array_destroy(&results[1]);
}

// ---- what executors are asked for ------------------------------------------------------------

typedef struct seen {
  const plan *plan;
  atomic_uint items[64], wrong;
  const void *arrays[8];
  uint64_t granularity;
} seen;

static bool see(void *with, uint32_t pass, void *const *arrays, uint64_t first, uint64_t last,
                void *scratch) {
  seen *s = with;
  (void)pass;
  unsigned char *bytes = scratch;
  if ((uintptr_t)scratch % 64 != 0 || bytes[0] != 0 || bytes[999] != 0 ||
      first % s->granularity != 0 || last % s->granularity != 0)
    atomic_fetch_add(&s->wrong, 1);
  for (uint64_t i = first; i < last; i++)
    atomic_fetch_add(&s->items[i], 1);
  for (size_t i = 0; i < s->plan->arrays.count; i++)
    s->arrays[i] = arrays[i];
  return true;
}

// Three passes: of what a0 holds to a2, in the same places; to a3, in others; back to the first.
static const char chain[] = "array a0 i32 1024 argument 0\n"
                            "array a1 i32 1024 result 0\n"
                            "array a2 i32 1024 temporary\n"
                            "array a3 i32 1024 temporary\n"
                            "stage n=2 loops 256\n"
                            "  v0 = load a0 at 4*o0 + x0 + 2*x1\n"
                            "  store v0 in a2 at 4*o0 + x0 + 2*x1\n"
                            "stage n=2 loops 256\n"
                            "  v0 = load a2 at 4*o0 + x0 + 2*x1\n"
                            "  store v0 in a3 at 4*o0 + 2*x0 + x1\n"
                            "stage n=2 loops 256\n"
                            "  v0 = load a3 at 4*o0 + x0 + 2*x1\n"
                            "  store v0 in a1 at 4*o0 + x0 + 2*x1 live x0\n"
                            "  store v0 in a1 at 4*o0 + x0 + 2*x1 live x0^1\n";

static bool never_in_place(const void *with, uint32_t pass) {
  (void)with, (void)pass;
  return false;
}

// In place: a0 = a2, a3, a1 = the first; otherwise a0, a2, a0, a2.
static void check_buffers(bool in_place) {
  START();
  const plan *p = plan_of(chain);
  array argument = numbers(1024), result;
  const void *given = argument.data;
  error why = {0};
  portable *e = portable_new(p, &(portable_options){.vector_bytes = 0}, &why);
  cpu_executor executor = {portable_pass, e, in_place ? NULL : never_in_place};
  cpu_options o = {.threads = 2, .executor = &executor};
  CHECK(cpu_run(p, &o, &argument, 1, &result, &why));
  CHECK((result.data == given) == in_place);
  for (int i = 0; i < 1024; i++)
    CHECK_EQ_I64(((int32_t *)result.data)[i], (i & ~3) | (i & 1) << 1 | (i >> 1 & 1));
  array_destroy(&result);
  portable_free(e);
  CHECK_EQ_U64(cpu_peak_bytes(&memory, p), 2 * 4096);
}

TEST(buffers) {
  check_buffers(false);
  check_buffers(true);
}

// An argument's memory ends behind its last byte: a larger array of the same room cannot have it.
// (The address sanitizer and valgrind see what is written behind it.)
static const char uneven[] = "array a0 i32 1020 argument 0\n"
                             "array a1 i32 1022 argument 1\n"
                             "array a2 i32 1020 result 0\n"
                             "array a3 i32 1022 result 1\n"
                             "stage n=1 loops 510\n"
                             "  v0 = load a0 at 2*o0 + x0\n"
                             "  store v0 in a2 at 2*o0 + x0\n"
                             "stage n=1 loops 511\n"
                             "  v0 = load a1 at 2*o0 + x0\n"
                             "  store v0 in a3 at 2*o0 + x0\n";

TEST(arguments_of_their_very_size) {
  START();
  const plan *p = plan_of(uneven);
  array arguments[] = {numbers(1020), numbers(1022)}, results[2];
  error why = {0};
  portable *e = portable_new(p, &(portable_options){.vector_bytes = 0}, &why);
  cpu_executor executor = {portable_pass, e, never_in_place};
  cpu_options o = {.threads = 1, .executor = &executor};
  CHECK((uintptr_t)arguments[0].data % 64 == 0);
  CHECK(cpu_run(p, &o, arguments, 2, results, &why));
  for (int i = 0; i < 1022; i++)
    CHECK_EQ_I64(((int32_t *)results[1].data)[i], i);
  arrays_destroy(results, 2);
  portable_free(e);
}

static const char blocks[] = "array a0 i32 64 argument 0\n"
                             "array a1 i32 64 result 0\n"
                             "stage n=4 loops 4\n"
                             "  v0 = load a0 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3\n"
                             "  store v0 in a1 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3\n";

static cpu_work given_work(void *with, uint32_t pass) {
  (void)pass;
  return *(cpu_work *)with;
}

static void check_items(uint64_t granularity, uint64_t chunk) {
  START();
  plan *p = plan_of(blocks);
  p->passes.items[0].tile = f2_space_units(4, 3);
  seen s = {.plan = p, .granularity = granularity};
  cpu_work work = {.run = see, .with = &s, .scratch_bytes = 1000};
  work.granularity = granularity;
  work.chunk = chunk;
  array argument = numbers(64), result;
  error why = {0};
  cpu_executor executor = {given_work, &work, NULL};
  CHECK_EQ_U64(cpu_item_count(p, 0), 16);
  CHECK(
      cpu_run(p, &(cpu_options){.threads = 3, .executor = &executor}, &argument, 1, &result, &why));
  CHECK_EQ_U64(s.wrong, 0);
  for (int i = 0; i < 16; i++)
    CHECK_EQ_U64(s.items[i], 1);
  array_destroy(&result);
}

TEST(items) {
  for (uint64_t granularity = 1; granularity <= 4; granularity *= 2)
    for (uint64_t chunk = 0; chunk < 20; chunk += 7)
      check_items(granularity, chunk);
}

// A transpose of [7][3][10] to [10][3][7], in blocks of 4 x 4 that overlap along both.
static const char overlapping[] =
    "array a0 i32 210 argument 0\n"
    "array a1 i32 210 result 0\n"
    "stage n=4 loops 2*4..3 3*1..2 3*4..6\n"
    "  v0 = load a0 at 30*o0 + 10*o1 + o2 + 30*x0 + 60*x1 + x2 + 2*x3\n"
    "  store v0 in a1 at o0 + 7*o1 + 21*o2 + x0 + 2*x1 + 21*x2 + 42*x3\n";

// Marks what an item stores; how many of these elements were marked before.
static uint64_t mark_stored(const plan *p, uint64_t item, uint8_t mark, uint8_t *marks) {
  const plan_pass *pass = &p->passes.items[0];
  const net_stage *s = &p->net->stages.items[0];
  int bits = pass->tile.n - pass->tile.dimension;
  uint64_t o[3], base = f2_combine(bits, pass->blocks, item), again = 0;
  net_loop_indices(s, item >> bits, o);
  for (uint64_t i = 0; i < f2_unit(pass->tile.dimension); i++) {
    uint64_t x = base ^ f2_space_element(pass->tile, i);
    uint8_t *at = &marks[net_map_at(&pass->stores[0].map, o, x)];
    again += *at == mark;
    *at = mark;
  }
  return again;
}

static void check_sweeps(const plan *p, bool whole, uint8_t sweeps, uint64_t first, uint64_t last) {
  uint8_t marks[210] = {0}, done[2 * 3 * 3 << 4] = {0}, mark = 0;
  sweep s = sweep_first(p, &p->passes.items[0], whole, first, last);
  do {
    mark++;
    for (uint64_t i = 0, count; i < sweep_items(&s); i += count) {
      uint64_t item = sweep_item(&s, i, &count);
      for (uint64_t k = item; k < item + count; k++) {
        done[k]++;
        CHECK(mark_stored(p, k, mark, marks) == 0 || whole);
      }
    }
  } while (sweep_next(&s));
  CHECK_EQ_U64(mark, sweeps);
  for (uint64_t i = 0; i < cpu_item_count(p, 0); i++)
    CHECK_EQ_U64(done[i], i >= first && i < last);
  for (int i = 0; i < 210 && first == 0 && last == cpu_item_count(p, 0); i++)
    CHECK(marks[i] > 0);
}

TEST(sweeps) {
  START();
  plan *p = plan_of(overlapping);
  for (int d = 0; d <= 4; d++) {
    plan_pass *pass = &p->passes.items[0];
    pass->tile = f2_space_units(4, f2_mask(d));
    for (int i = d; i < 4; i++)
      pass->blocks[i - d] = f2_unit(i);
    uint64_t items = cpu_item_count(p, 0);
    check_sweeps(p, false, 4, 0, items);
    check_sweeps(p, true, 1, 0, items);
    for (uint64_t turn = 0; turn < 2; turn++)  // of the first loop
      check_sweeps(p, false, 4, turn * items / 2, (turn + 1) * items / 2);
  }
}

static bool refuse(void *with, uint32_t pass, void *const *arrays, uint64_t first, uint64_t last,
                   void *scratch) {
  (void)with, (void)pass, (void)arrays, (void)first, (void)last, (void)scratch;
  return false;
}
static cpu_work refusing(void *with, uint32_t pass) {
  (void)pass;
  return (cpu_work){.run = refuse, .with = with};
}

TEST(executor_that_fails) {
  START();
  array a = numbers(1024);
  cpu_executor e = {refusing, NULL, NULL};
  check_failure(plan_of(chain), (cpu_options){.executor = &e}, &a, 1, "out of memory");
}

TEST_MAIN()
