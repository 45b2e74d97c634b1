// Plans as C code, compiled and run, beside the literal evaluator of tests/nets.
//
//   evaluation *e = net_evaluate(&memory, t, seed);
//   check_run(p, e, &usual_text, &(compiled_options){.no_cache = true});   // p: a plan of t
//
// PERMC_EMIT_TEXT=1 prints the code of a plan that fails.
#ifndef PERMC_TESTS_C_EMIT_H
#define PERMC_TESTS_C_EMIT_H

#include "tests/unit/compiled.h"
#include "tests/unit/evaluated.h"
#include "tests/unit/memory.h"

#include "runtime/compiled/compiler.h"

static inline bool no_compiler(void) {
  compiler c;
  return !compiler_find(&c, NULL);
}

// Compiled code has no sanitizers: where this test has them, one case in so many is enough.
static inline bool is_left_out(uint64_t number, uint64_t of) {
  return slower() > 1 && !test_all() && number % of != 0;
}

// ---- running ---------------------------------------------------------------------------------

static const c_options usual_text = {.stream_bytes = COMPILED_STREAM_BYTES};

// Whether the bits of all NaN are one: they are but in what is only moved.
static bool nan_is_nan = true;

// How many result elements are wrong; UINT64_MAX if the run failed.
static inline uint64_t run_wrong(const plan *p, const evaluation *e, const c_options *text_options,
                                 const compiled_options *options) {
  array results[128];
  size_t count = 0;
  uint64_t wrong = UINT64_MAX;
  error why = {0};
  compiled_status status;
  compiled *x = compiled_from_plan(p, text_options, options, &status, &why);
  if (x == NULL) {
    printf("%s\n", why.message);
    return wrong;
  }
  array *arguments = evaluated_arguments(&memory, p->net, e, &count);
  cpu_executor executor = {compiled_pass, x, compiled_in_place};
  if (cpu_run(p, &(cpu_options){.threads = 2, .executor = &executor}, arguments, count, results,
              &why))
    wrong = evaluated_wrong(p->net, e, results, nan_is_nan);
  else
    printf("%s\n", why.message);
  for (size_t i = 0; i < p->net->arrays.count; i++)
    if (p->net->arrays.items[i].role == NET_RESULT)
      array_destroy(&results[p->net->arrays.items[i].number]);
  compiled_free(x);
  return wrong;
}

static inline void show(const plan *p, const c_options *options) {
  text t = {0};
  c_code code = {0};
  const char *problem;
  if (getenv("PERMC_EMIT_TEXT") == NULL)
    return;
  if (p->padding)
    plan_print(&t, p);
  else
    net_print(&t, p->net);
  text_string(&t, "\n");
  if (c_emit(&code, p, options, &problem))
    c_code_file(&t, &code, 0, code.pass_count, true);
  c_code_free(&code);
  printf("%s\n", t.data);
  text_free(&t);
}

// Prints the plan if a result is wrong.
static inline bool check_run(const plan *p, const evaluation *e, const c_options *text_options,
                             const compiled_options *options) {
  bool good = CHECK_EQ_U64(run_wrong(p, e, text_options, options), 0);
  if (!good)
    show(p, text_options);
  return good;
}

// The bits of NaN, too.
static inline bool check_bits(const plan *p, const evaluation *e, const c_options *text_options,
                              const compiled_options *options) {
  nan_is_nan = false;
  bool good = check_run(p, e, text_options, options);
  nan_is_nan = true;
  return good;
}

// ---- nets of one stage -----------------------------------------------------------------------

enum { OPERATION_BITS = 8 };

// Elements that make trouble, and random ones.
static inline scalar_bits element_of(random_state *r, scalar_type type, bool small) {
  static const double reals[] = {0.0,  -0.0,  1,      -1,   0.5,    1.5,    2.5,     -2.5,
                                 1e30, -3.25, 1e-310, 7e22, 3.4e38, 0x1p31, -0x1p63, 1e308};
  static const uint64_t patterns[] = {UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
                                      UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000001234),
                                      UINT64_C(0x0000000000000001)};
  static const uint16_t half_patterns[] = {0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7c01, 0x0001};
  uint32_t size = (uint32_t)scalar_types[type].size;
  scalar_bits bits = {{0}};
  scalar_kind kind = scalar_types[type].kind;
  uint64_t words[2] = {random_word(r), random_word(r)};
  if (kind == KIND_BOOL || small)
    return scalar_from_i64(type, (int64_t)random_below(r, kind == KIND_BOOL ? 2 : 130) - 66);
  if (kind == KIND_FLOAT || kind == KIND_COMPLEX) {
    scalar_type part = scalar_real_of(type);
    for (uint32_t i = 0; i < 2; i++) {
      scalar_bits one = {{0}};
      double real = reals[random_below(r, 16)] * (random_chance(r, 3) ? 0x1.123456789p0 : 1);
      scalar_convert(SCALAR_F64, part, 1, &real, &one);
      if (random_chance(r, 4))
        one.u64 = part == SCALAR_F64   ? patterns[random_below(r, 5)]
                  : part == SCALAR_F32 ? patterns[random_below(r, 5)] >> 32 | random_below(r, 2)
                                       : half_patterns[random_below(r, 6)];
      if (random_chance(r, 4))
        one.u64 = words[i] >> (64 - 8 * scalar_types[part].size);
      memcpy(bits.bytes + i * scalar_types[part].size, &one, scalar_types[part].size);
    }
    if (kind == KIND_FLOAT)
      memset(bits.bytes + size, 0, sizeof bits - size);
    return bits;
  }
  if (random_chance(r, 3))
    return random_chance(r, 2) ? scalar_minval(type) : scalar_maxval(type);
  memcpy(bits.bytes, words, size);
  return bits;
}

typedef struct operations {
  net *net;
  net_stage *stage;
  uint32_t results;
} operations;

static inline net_map identity_map(int n) {
  net_map m = {.row_count = (uint32_t)n, .rows = NEW_ARRAY(&memory, net_row, n)};
  for (int i = 0; i < n; i++)
    m.rows[i] = (net_row){{f2_unit(i), false}, INT64_C(1) << i};
  return m;
}

static inline net_id add_argument(operations *o, scalar_type type, uint32_t number) {
  net_load load = {.map = identity_map(OPERATION_BITS), .padding_start = UINT64_MAX};
  load.array = net_array_add(&memory, o->net, type, 1 << OPERATION_BITS, NET_ARGUMENT, number);
  load.value = net_value_add(&memory, o->stage, type);
  vec_push(&memory, &o->stage->loads, load);
  return net_node_add(&memory, o->stage,
                      &(net_node){NET_ELEMENT, .type = type, .value = load.value});
}

static inline evaluation *evaluate_operations(const net *t, random_state *r) {
  evaluation *e = NEW(&memory, evaluation);
  e->arrays = NEW_ARRAY(&memory, element *, t->arrays.count);
  for (size_t i = 0; i < t->arrays.count; i++) {
    e->arrays[i] = NEW_ARRAY(&memory, element, t->arrays.items[i].count);
    bool small = t->arrays.items[i].number == 2;
    for (uint64_t x = 0; x < t->arrays.items[i].count; x++)
      e->arrays[i][x] =
          (element){element_of(r, t->arrays.items[i].type, small || x % 8 == 7), true};
  }
  evaluate_stage(&memory, t, &t->stages.items[0], e);
  return e;
}

#endif
