// Foreign functions of the C library: every element type, batches, errors, interruption.
#include "tests/test.h"

#include "runtime/foreign/foreign.h"
#include "runtime/interp/interp.h"
#include "tests/unit/trace_builder.h"
#include <math.h>
#include <signal.h>
#include <sys/time.h>

// ----------------------------------------------------------------------------------

static value_id add_call(builder *b, c_function e, const value_id *operands, uint64_t batch) {
  vec_push(&b->memory, &b->trace.externs, e);
  trace_step s = {
      .op = TRACE_EXTERN, .type = e.result, .batch = batch, .number = b->trace.externs.count - 1};
  return add_step(b, s, operands, e.arity, NULL);
}

// f of constants.
static bool call(c_function e, const scalar_bits *arguments, scalar_bits *value, error *failure) {
  builder b;
  builder_start(&b);
  value_id operands[4];
  for (uint32_t i = 0; i < e.arity; i++)
    operands[i] = add_constant(&b, e.parameters[i], arguments[i]);
  add_result(&b, add_call(&b, e, operands, 1));
  array result;
  bool good = CHECK_STR(trace_verify(&b.memory, &b.trace), NULL) &&
              interp_run(&b.trace, NULL, 0, &result, true, NULL, failure);
  if (good) {
    *value = (scalar_bits){0};
    memcpy(value, result.data, scalar_types[e.result].size);
    array_destroy(&result);
  }
  builder_free(&b);
  return good;
}

#define TYPES(...) ((scalar_type[]){__VA_ARGS__})
#define BITS(...) ((scalar_bits[]){__VA_ARGS__})

TEST(foreign_types) {
  scalar_bits v = {0};
  error failure;
  CHECK(call((c_function){"m", "cosf", 1, TYPES(SCALAR_F32), SCALAR_F32, NULL}, BITS({.f32 = 0.5f}),
             &v, &failure));
  CHECK(v.f32 == cosf(0.5f));
  CHECK(call((c_function){"libm.so.6", "hypot", 2, TYPES(SCALAR_F64, SCALAR_F64), SCALAR_F64, NULL},
             BITS({.f64 = 3}, {.f64 = 4}), &v, &failure));
  CHECK(v.f64 == 5);
  CHECK(call((c_function){"m", "ldexp", 2, TYPES(SCALAR_F64, SCALAR_I32), SCALAR_F64, NULL},
             BITS({.f64 = 1.5}, {.i32 = -1}), &v, &failure));
  CHECK(v.f64 == 0.75);
  CHECK(call((c_function){"c", "abs", 1, TYPES(SCALAR_I32), SCALAR_I32, NULL}, BITS({.i32 = -7}),
             &v, &failure));
  CHECK_EQ_I64(v.i32, 7);
  CHECK(call((c_function){"", "labs", 1, TYPES(SCALAR_I64), SCALAR_I64, NULL},
             BITS({.i64 = INT64_MIN + 1}), &v, &failure));
  CHECK_EQ_I64(v.i64, INT64_MAX);
  CHECK(call((c_function){"", "htons", 1, TYPES(SCALAR_U16), SCALAR_U16, NULL},
             BITS({.u16 = 0x1234}), &v, &failure));
  CHECK(v.u16 == 0x1234 || v.u16 == 0x3412);
  // Narrow results of an int function: the low bits; and a bool is 0 or 1.
  CHECK(call((c_function){"c", "abs", 1, TYPES(SCALAR_I8), SCALAR_I8, NULL}, BITS({.i8 = -5}), &v,
             &failure));
  CHECK_EQ_I64(v.i8, 5);
  CHECK(call((c_function){"c", "abs", 1, TYPES(SCALAR_U8), SCALAR_U8, NULL}, BITS({.u8 = 200}), &v,
             &failure));
  CHECK_EQ_I64(v.u8, 200);
  CHECK(call((c_function){"c", "abs", 1, TYPES(SCALAR_I16), SCALAR_BOOL, NULL}, BITS({.i16 = -5}),
             &v, &failure));
  CHECK(v.u8 == 1);
  CHECK(call((c_function){"c", "abs", 1, TYPES(SCALAR_BOOL), SCALAR_I32, NULL}, BITS({.b = true}),
             &v, &failure));
  CHECK_EQ_I64(v.i32, 1);
}

TEST(too_many_parameters) {
  scalar_type parameters[C_FUNCTION_TYPES];
  for (int i = 0; i < C_FUNCTION_TYPES; i++)
    parameters[i] = SCALAR_I32;
  error failure = {0};
  c_function e = {"c", "abs", C_FUNCTION_TYPES, parameters, SCALAR_I32, NULL};
  CHECK(foreign_open(&e, true, &failure) == NULL);
  CHECK_CONTAINS(failure.message, "\"abs\" has more than 63 parameters");
  e.arity = C_FUNCTION_TYPES - 1;
  foreign *f = foreign_open(&e, true, &failure);
  CHECK(f != NULL);
  foreign_close(f);
}

TEST(foreign_complex) {
  scalar_bits v = {0};
  error failure;
  c_function conjugate = {"m", "conj", 1, TYPES(SCALAR_C128), SCALAR_C128, NULL};
  if (!call(conjugate, BITS({.c128 = {1, 2}}), &v, &failure)) {
    CHECK_CONTAINS(failure.message, "\"conj\" has a type that cannot be called on this machine");
    SKIP("libffi has no complex types here");
  }
  CHECK(v.c128[0] == 1 && v.c128[1] == -2);
  CHECK(call((c_function){"m", "conjf", 1, TYPES(SCALAR_C64), SCALAR_C64, NULL},
             BITS({.c64 = {3, 4}}), &v, &failure));
  CHECK(v.c64[0] == 3 && v.c64[1] == -4);
  CHECK(call((c_function){"m", "cabsf", 1, TYPES(SCALAR_C64), SCALAR_F32, NULL},
             BITS({.c64 = {3, 4}}), &v, &failure));
  CHECK(v.f32 == 5);
}

TEST(foreign_errors) {
  scalar_bits v = {0};
  error failure;
  CHECK(!call((c_function){"nowhere", "f", 0, NULL, SCALAR_I32, NULL}, NULL, &v, &failure));
  CHECK_CONTAINS(failure.message, "the library \"nowhere\" was not found: no libnowhere.so, nor");
  CHECK(failure.where.file != UINT32_MAX);
  CHECK(!call((c_function){"./nowhere.so", "f", 0, NULL, SCALAR_I32, NULL}, NULL, &v, &failure));
  CHECK_CONTAINS(failure.message, "the library \"./nowhere.so\" cannot be loaded: ");
  CHECK(!call((c_function){"m", "cosine", 0, NULL, SCALAR_I32, NULL}, NULL, &v, &failure));
  CHECK_STR(failure.message, "the library \"m\" has no function \"cosine\"");
}

TEST(foreign_is_refused) {
  builder b;
  builder_start(&b);
  value_id x = add_constant(&b, SCALAR_F32, (scalar_bits){.f32 = 1});
  add_result(
      &b, add_call(&b, (c_function){"m", "cosf", 1, TYPES(SCALAR_F32), SCALAR_F32, NULL}, &x, 1));
  array result;
  error failure;
  CHECK(!interp_run(&b.trace, NULL, 0, &result, false, NULL, &failure));
  CHECK_CONTAINS(failure.message, "\"cosf\" is a C function");
  CHECK_CONTAINS(failure.message, "--allow-extern");
  builder_free(&b);
}

// Many instances, one operand from an outer level.
TEST(foreign_batches) {
  builder b;
  builder_start(&b);
  uint64_t length = 5000;
  value_id x = add_convert(&b, add_reshape(&b, add_iota(&b, length), length, 0, NULL), SCALAR_F64);
  value_id operands[2] = {x, add_convert(&b, add_instance(&b, 10, 10), SCALAR_F64)};
  c_function e = {"m", "fmod", 2, TYPES(SCALAR_F64, SCALAR_F64), SCALAR_F64, NULL};
  add_result(&b, add_reshape(&b, add_call(&b, e, operands, length), 1, 1, &length));
  array result;
  error failure;
  REQUIRE(interp_run(&b.trace, NULL, 0, &result, true, NULL, &failure));
  const double *found = result.data;
  for (uint64_t i = 500; i < length; i++)
    CHECK(found[i] == fmod((double)i, (double)(i / 500)));
  array_destroy(&result);
  builder_free(&b);
}

static atomic_bool stop;

static void on_alarm(int signal_number) {
  (void)signal_number;
  atomic_store(&stop, true);
}

// 2^20 calls of a millisecond each.
TEST(foreign_interrupted) {
  builder b;
  builder_start(&b);
  value_id wait = add_constant(&b, SCALAR_U32, (scalar_bits){.u32 = 1000});
  value_id delay = add_broadcast(&b, wait, 1 << 20);
  c_function e = {"c", "usleep", 1, TYPES(SCALAR_U32), SCALAR_I32, NULL};
  uint64_t length = 1 << 20;
  add_result(&b, add_reshape(&b, add_call(&b, e, &delay, length), 1, 1, &length));
  const struct itimerval soon = {.it_value = {.tv_usec = 30000}};
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  array result;
  error failure;
  CHECK(!interp_run(&b.trace, NULL, 0, &result, true, &stop, &failure));
  CHECK_STR(failure.message, "interrupted");
  builder_free(&b);
}

TEST_MAIN()
