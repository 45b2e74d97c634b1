// Generated C code: random Nets in random Plans with random phases, compiled and compared with the
// literal evaluator of net_random.h; every scalar operation on every type against
// core/scalar/scalar.h.
//
// PERMC_EMIT_SEEDS=a-b runs other seeds than the usual few, PERMC_EMIT_TEXT=1 prints the code of a
// plan that fails.
#define RANDOM_NET_BITS 9
#include "tests/readers/readers.h"
#include "tests/unit/evaluated.h"
#include "tests/unit/memory.h"
#include "tests/unit/plan_random.h"

#include "runtime/compiled/compiler.h"
#include "runtime/cpu/roots.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/program.h"
#include "runtime/permc.h"
#include "tests/unit/compiled.h"

static bool no_compiler(void) {
  compiler c;
  return !compiler_find(&c, NULL);
}

// ---- random phases ---------------------------------------------------------------------------

// A basis of v that begins with `count` given independent vectors.
static uint64_t *random_vectors(random_state *r, f2_space v, int count, const uint64_t *given) {
  uint64_t *basis = NEW_ARRAY(&memory, uint64_t, v.dimension + 1);
  f2_space all = f2_space_zero(v.n);
  bool plain = random_chance(r, 2);
  for (int i = 0; i < count; i++)
    f2_space_insert(&all, basis[i] = given[i]);
  for (int next = 0; count < v.dimension;) {
    uint64_t x = plain ? v.basis[next++ % v.dimension]
                       : f2_space_element(v, random_word(r) & f2_mask(v.dimension));
    if (random_chance(r, 8))
      plain = !plain;
    if (f2_space_insert(&all, x))
      basis[count++] = x;
  }
  return basis;
}

static void add_phase(random_state *r, plan_pass *pass, f2_space directions, uint32_t first,
                      uint32_t end) {
  plan_phase *f = &pass->phases[pass->phase_count++];
  uint32_t d = (uint32_t)pass->tile.dimension, least = (uint32_t)directions.dimension;
  f->first_op = first;
  f->op_count = end - first;
  f->r = least + random_below(r, (d - least < 3 ? d - least : 3) + 1);
  f->l = random_below(r, (d - f->r < 4 ? d - f->r : 4) + 1);
  uint64_t shuffled[F2_MAX];
  memcpy(shuffled, directions.basis, sizeof shuffled);
  f->basis = random_vectors(r, pass->tile, (int)least, shuffled);
  if (pass->phase_count > 1)
    f->exchange = random_vectors(r, pass->tile, 0, NULL);
}

static void random_phases(random_state *r, const net_stage *s, plan_pass *pass) {
  uint32_t most = random_below(r, 4), first = 0;
  f2_space directions = f2_space_zero(s->n);
  pass->phases = NEW_ARRAY(&memory, plan_phase, pass->op_count + 3);
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    f2_space more = directions;
    for (uint32_t k = 0; k < op->k; k++)
      f2_space_insert(&more, op->directions[k]);
    if (i > first && more.dimension > (int)most) {
      add_phase(r, pass, directions, first, i);
      first = i;
      more = f2_span(s->n, (int)op->k, op->directions);
    }
    directions = more;
  }
  if (random_chance(r, 4))
    add_phase(r, pass, f2_space_zero(s->n), first, first);
  add_phase(r, pass, directions, first, pass->op_count);
  if (random_chance(r, 4))
    add_phase(r, pass, f2_space_zero(s->n), pass->op_count, pass->op_count);
}

// By the planner, for a machine of any measures; or at random.
static plan *some_plan(random_state *r, const net *t) {
  target *machine = NEW(&memory, target);
  *machine = *target_named("avx512");
  machine->line_bytes = 16U << random_below(r, 4);
  machine->tile_bytes = UINT64_C(256) << random_below(r, 5);
  machine->lane_bytes = 16U << random_below(r, 3);
  machine->lane_bits = 2 + random_below(r, 3);
  machine->register_bytes = machine->lane_bytes << random_below(r, 4);
  machine->adapts = random_below(r, 2);
  machine->wide_bytes = 1U << random_below(r, 5);
  if (random_chance(r, 3))
    machine->lane_bytes = 0;  // a kernel, and threads in turn
  if (random_chance(r, 2))
    return plan_make(&memory, t, machine, NULL);
  plan *p = random_plan(&memory, r, t);
  p->target = machine;
  for (size_t i = 0; i < p->passes.count; i++)
    random_phases(r, &t->stages.items[p->passes.items[i].stage], &p->passes.items[i]);
  return p;
}

// ---- running ---------------------------------------------------------------------------------

static const c_options usual_text = {.stream_bytes = COMPILED_STREAM_BYTES};

// Whether the bits of all NaN are one: they are but in what is only moved.
static bool nan_is_nan = true;

// How many result elements are wrong; UINT64_MAX if the run failed.
static uint64_t run_wrong(const plan *p, const evaluation *e, const c_options *text_options,
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
  cpu_executor executor = {compiled_pass, x};
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

static void show(const plan *p, const c_options *options) {
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

// ---- random nets -----------------------------------------------------------------------------

static bool calls_out(const net *t) {
  for (size_t i = 0; i < t->stages.count; i++)
    for (size_t k = 0; k < t->stages.items[i].nodes.count; k++)
      if (t->stages.items[i].nodes.items[k].kind == NET_EXTERN)
        return true;
  return false;
}

static bool test_seed(uint64_t seed) {
  START();
  random_state random = {seed};
  net *t = random_net(&memory, &random);
  if (calls_out(t) || net_verify(&memory, t))
    return false;
  evaluation *e = net_evaluate(&memory, t, seed);
  plan *p = some_plan(&random, t);
  static const char *const isas[] = {"native", "native", "avx2", "baseline"};
  compiled_options options = {.isa = isas[random_below(&random, 4)], .no_cache = true};
  c_options streaming = {.stream_bytes = random_chance(&random, 2) ? 1 : COMPILED_STREAM_BYTES};
  uint64_t bad = run_wrong(p, e, &streaming, &options);
  if (!CHECK_EQ_U64(bad, 0)) {
    printf("seed %" PRIu64 " for %s\n", seed, options.isa);
    show(p, &streaming);
  }
  return true;
}

TEST(random_nets) {
  uint64_t first = 0, last = UINT64_MAX, wanted = test_amount(25, 2000), done = 0;
  const char *seeds = getenv("PERMC_EMIT_SEEDS");
  if (no_compiler())
    SKIP("there is no C compiler");
  if (seeds)
    sscanf(seeds, "%" SCNu64 "-%" SCNu64, &first, &last);
  for (uint64_t seed = first; seed <= last && (seeds || done < wanted); seed++)
    done += test_seed(seed);
  arena_free(&memory);
}

// ---- every operation on every type -----------------------------------------------------------

enum { OPERATION_BITS = 8 };

// Elements that make trouble, and random ones.
static scalar_bits element_of(random_state *r, scalar_type type, bool small) {
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
  plan_pass *pass;
} operations;

static net_map identity_map(int n) {
  net_map m = {.row_count = (uint32_t)n, .rows = NEW_ARRAY(&memory, net_row, n)};
  for (int i = 0; i < n; i++)
    m.rows[i] = (net_row){{f2_unit(i), false}, INT64_C(1) << i};
  return m;
}

static net_id add_argument(operations *o, scalar_type type, uint32_t number) {
  net_load load = {.map = identity_map(OPERATION_BITS), .padding_start = UINT64_MAX};
  load.array = net_array_add(&memory, o->net, type, 1 << OPERATION_BITS, NET_ARGUMENT, number);
  load.value = net_value_add(&memory, o->stage, type);
  vec_push(&memory, &o->stage->loads, load);
  return net_node_add(&memory, o->stage,
                      &(net_node){NET_ELEMENT, .type = type, .value = load.value});
}

// A node whose value is an op's, and a result's.
static void add_result(operations *o, net_id node) {
  scalar_type type = o->stage->nodes.items[node].type;
  net_op op = {.output_count = 1, .outputs = NEW(&memory, net_output)};
  *op.outputs = (net_output){net_value_add(&memory, o->stage, type), NEW(&memory, net_id)};
  op.outputs->elements[0] = node;
  vec_push(&memory, &o->stage->ops, op);
  net_store store = {
      .value = op.outputs->value, .map = identity_map(OPERATION_BITS), .padding_start = UINT64_MAX};
  store.array = net_array_add(&memory, o->net, type, 1 << OPERATION_BITS, NET_RESULT, o->results++);
  vec_push(&memory, &o->stage->stores, store);
}

static net_id inner(operations *o, net_node node, uint32_t count, const net_id *operands) {
  node.operand_count = count;
  node.operands = (net_id *)operands;
  return net_node_add(&memory, o->stage, &node);
}

static void add_operations(operations *o, scalar_type type) {
  net_id a = add_argument(o, type, 0), b = add_argument(o, type, 1);
  net_id count = add_argument(o, SCALAR_I64, 2), choice = add_argument(o, SCALAR_BOOL, 3);
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++) {
    if (!(scalar_ops[op].operands & CLASS_OF(type)))
      continue;
    net_node node = {NET_SCALAR, .type = scalar_result_of(op, type), .scalar = op};
    add_result(o, inner(o, node, (uint32_t)scalar_ops[op].arity,
                        (net_id[]){a, op == OP_POWI ? count : b}));
  }
  for (scalar_type to = 0; to < SCALAR_COUNT; to++) {
    bool narrows = scalar_types[type].kind == KIND_COMPLEX && scalar_types[to].kind != KIND_COMPLEX;
    if (!narrows)
      add_result(o, inner(o, (net_node){NET_CONVERT, .type = to}, 1, &a));
  }
  add_result(o, inner(o, (net_node){NET_SELECT, .type = type}, 3, (net_id[]){choice, a, b}));
  if (CLASS_OF(type) & CLASS_BITS) {
    add_result(o, inner(o, (net_node){NET_MIN, .type = type}, 2, (net_id[]){a, b}));
    add_result(o, inner(o, (net_node){NET_MAX, .type = type}, 2, (net_id[]){a, b}));
  }
  if (CLASS_OF(type) & CLASS_COMPLEX) {
    add_result(o, inner(o, (net_node){NET_ROOT, .type = type, .number = 12}, 1, &count));
    add_result(o, inner(o, (net_node){NET_ROOT, .type = type, .number = 64}, 1, &count));
  }
  if (CLASS_OF(type) & CLASS_INTEGER)
    for (int64_t by = -1; by < 66; by += 9) {
      net_node constant = {NET_CONSTANT, .type = type, .constant = scalar_from_i64(type, by)};
      net_id operands[2] = {a, net_node_add(&memory, o->stage, &constant)};
      add_result(o, inner(o, (net_node){NET_SCALAR, .type = type, .scalar = OP_SHL}, 2, operands));
      add_result(o, inner(o, (net_node){NET_SCALAR, .type = type, .scalar = OP_SHR}, 2, operands));
    }
}

// All of the net's stage as one pass of one phase.
static plan *one_pass(net *t, uint32_t r, uint32_t l) {
  // Vectors; without lanes, threads of a kernel.
  static const target vectors = {.name = "test", .lane_bytes = 64}, threads = {.name = "test"};
  plan *p = NEW(&memory, plan);
  net_stage *s = &t->stages.items[0];
  plan_pass pass = {.tile = f2_space_full(s->n), .padding_start = UINT64_MAX, .phase_count = 1};
  *p = (plan){.net = t, .target = l ? &vectors : &threads};
  for (size_t i = 0; i < t->arrays.count; i++)
    vec_push(&memory, &p->arrays, t->arrays.items[i]);
  pass.slot_count = (uint32_t)s->values.count;
  pass.slot_bytes = NEW_ARRAY(&memory, uint32_t, s->values.count);
  pass.slot_of = NEW_ARRAY(&memory, uint32_t, s->values.count);
  for (uint32_t v = 0; v < s->values.count; v++) {
    pass.slot_bytes[v] = (uint32_t)scalar_types[s->values.items[v]].size;
    pass.slot_of[v] = v;
  }
  pass.op_count = (uint32_t)s->ops.count;
  pass.ops = NEW_ARRAY(&memory, uint32_t, s->ops.count);
  for (uint32_t i = 0; i < pass.op_count; i++)
    pass.ops[i] = i;
  pass.loads = NEW_ARRAY(&memory, plan_move, s->loads.count);
  for (size_t i = 0; i < s->loads.count; i++)
    pass.loads[pass.load_count++] = (plan_move){.slot = s->loads.items[i].value,
                                                .array = s->loads.items[i].array,
                                                .map = s->loads.items[i].map,
                                                .padding_start = UINT64_MAX};
  pass.stores = NEW_ARRAY(&memory, plan_move, s->stores.count);
  for (size_t i = 0; i < s->stores.count; i++)
    pass.stores[pass.store_count++] = (plan_move){.slot = s->stores.items[i].value,
                                                  .array = s->stores.items[i].array,
                                                  .map = s->stores.items[i].map,
                                                  .padding_start = UINT64_MAX};
  pass.phases = NEW(&memory, plan_phase);
  *pass.phases = (plan_phase){.op_count = pass.op_count, .r = r, .l = l};
  pass.phases->basis = NEW_ARRAY(&memory, uint64_t, s->n + 1);
  for (int i = 0; i < s->n; i++)
    pass.phases->basis[i] = f2_unit(i < (int)r ? i + (int)l : i < (int)(r + l) ? i - (int)r : i);
  vec_push(&memory, &p->passes, pass);
  return p;
}

static evaluation *evaluate_operations(const net *t, random_state *r) {
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

static void test_operations(scalar_type type, uint32_t l, const char *isa) {
  START();
  random_state random = {type + 100 * l};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0, NULL};
  add_operations(&o, type);
  vec_push(&memory, &t->stages, stage);
  const char *wrong = net_verify(&memory, t);
  if (!CHECK(wrong == NULL)) {
    printf("%s\n", wrong);
    return;
  }
  evaluation *e = evaluate_operations(t, &random);
  plan *p = one_pass(t, 1, l);
  compiled_options options = {.isa = isa, .no_cache = true};
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &options), 0)) {
    printf("%s of 2^%u lanes for %s\n", scalar_types[type].name, l, isa);
    show(p, &usual_text);
  }
}

// Compare-exchange in the total order, and selections: NaN keep their bits.
static void test_moves(scalar_type type, uint32_t l, const char *isa) {
  START();
  random_state random = {type + 7 * l};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0, NULL};
  net_id a = add_argument(&o, type, 0), b = add_argument(&o, type, 1);
  net_id choice = add_argument(&o, SCALAR_BOOL, 3);
  bool complex = scalar_types[type].kind == KIND_COMPLEX;
  net_node le = {NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_TOTAL_LE};
  net_id c = complex ? choice : inner(&o, le, 2, (net_id[]){a, b});
  net_node select = {NET_SELECT, .type = type};
  add_result(&o, inner(&o, select, 3, (net_id[]){c, a, b}));
  add_result(&o, inner(&o, select, 3, (net_id[]){c, b, a}));
  add_result(&o, inner(&o, select, 3, (net_id[]){choice, a, b}));
  vec_push(&memory, &t->stages, stage);
  evaluation *e = evaluate_operations(t, &random);
  plan *p = one_pass(t, 1, l);
  compiled_options options = {.isa = isa, .no_cache = true};
  nan_is_nan = false;
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &options), 0))
    show(p, &usual_text);
  nan_is_nan = true;
}

TEST(moves_keep_bits) {
  if (no_compiler())
    SKIP("there is no C compiler");
  for (scalar_type type = SCALAR_F16; type <= SCALAR_C128; type++)
    for (uint32_t l = 0; l < 5; l += 2)
      test_moves(type, l, l == 2 ? "avx2" : "native");
}

// Compiled code has no sanitizers: where this test has them, one case in so many is enough.
static bool is_left_out(uint64_t number, uint64_t of) {
  return slower() > 1 && !test_all() && number % of != 0;
}

TEST(scalar_operations) {
  if (no_compiler())
    SKIP("there is no C compiler");
  for (scalar_type type = 0; type < SCALAR_COUNT; type++) {
    if (is_left_out(type, 3))
      continue;
    test_operations(type, 4, "native");
    if (type % 3 == 0)
      test_operations(type, 2 + type % 2, type % 2 == 0 ? "baseline" : "avx2");
    if (type % 4 == 1)
      test_operations(type, 0, "native");
    if (type == SCALAR_F16)
      test_operations(type, 3, "baseline");
  }
  arena_free(&memory);
}

// ---- networks of floats ----------------------------------------------------------------------

// Compare-exchanges in all their forms: either order of the operands, either end first.
static void add_exchange(net_stage *s, random_state *r, net_id *value) {
  scalar_type type = s->values.items[*value];
  net_op op = {.k = 1,
               .directions = NEW(&memory, uint64_t),
               .coordinates = NEW(&memory, net_form),
               .output_count = 1,
               .outputs = NEW(&memory, net_output)};
  do {
    *op.directions = random_chance(r, 2) ? f2_unit((int)random_below(r, (uint32_t)s->n))
                                         : random_word(r) & f2_mask(s->n);
    op.coordinates->mask = random_chance(r, 20) || *op.directions == 0
                               ? random_word(r) & f2_mask(s->n)
                               : f2_unit(f2_msb(*op.directions));
  } while (!f2_dot(*op.directions, op.coordinates->mask));
  op.coordinates->constant = random_chance(r, 2);
  net_id leaf[2];
  for (uint32_t i = 0; i < 2; i++)
    leaf[i] = net_node_add(&memory, s,
                           &(net_node){NET_ELEMENT, .type = type, .value = *value, .number = i});
  uint32_t first = random_below(r, 2), end = random_below(r, 2);
  net_id order = net_node_add(&memory, s,
                              &(net_node){NET_SCALAR, .type = SCALAR_BOOL, .scalar = OP_TOTAL_LE,
                                          .operand_count = 2,
                                          .operands = (net_id[]){leaf[first], leaf[!first]}});
  *op.outputs = (net_output){net_value_add(&memory, s, type), NEW_ARRAY(&memory, net_id, 2)};
  for (uint32_t i = 0; i < 2; i++)
    op.outputs->elements[i] =
        net_node_add(&memory, s,
                     &(net_node){NET_SELECT, .type = type, .operand_count = 3,
                                 .operands = (net_id[]){order, leaf[end ^ i], leaf[!(end ^ i)]}});
  *value = op.outputs->value;
  vec_push(&memory, &s->ops, op);
}

static void test_network(uint64_t seed) {
  START();
  random_state random = {seed};
  static const scalar_type types[] = {SCALAR_F16, SCALAR_F32, SCALAR_F64};
  scalar_type type = types[random_below(&random, 3)];
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0, NULL};
  add_argument(&o, type, 0);
  net_id value = 0;
  for (uint32_t i = 3 + random_below(&random, 20); i > 0; i--)
    add_exchange(&stage, &random, &value);
  net_store store = {
      .value = value, .map = random_address(&memory, &random, &stage), .padding_start = UINT64_MAX};
  store.array = net_array_add(&memory, t, type, 1 << OPERATION_BITS, NET_RESULT, 0);
  vec_push(&memory, &stage.stores, store);
  vec_push(&memory, &t->stages, stage);
  const char *wrong = net_verify(&memory, t);
  if (!CHECK(wrong == NULL)) {
    printf("%s\n", wrong);
    return;
  }
  evaluation *e = evaluate_operations(t, &random);
  for (uint64_t x = 0; x < 1 << OPERATION_BITS && seed % 3 == 0; x++) {  // the usual NaN alone
    element *one = &e->arrays[0][x];
    bool nan;
    scalar_apply(OP_ISNAN, type, 1, &one->bits, NULL, &nan);
    if (nan)
      one->bits = scalar_maxval(type);
  }
  evaluate_stage(&memory, t, &t->stages.items[0], e);
  plan *p = some_plan(&random, t);
  compiled_options options = {.isa = random_chance(&random, 3) ? "avx2" : "native",
                              .no_cache = true};
  nan_is_nan = false;
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &options), 0)) {
    printf("seed %" PRIu64 "\n", seed);
    show(p, &usual_text);
  }
  nan_is_nan = true;
}

TEST(networks_of_floats) {
  uint64_t first = 0, last = test_amount(10, 200) - 1;
  const char *seeds = getenv("PERMC_EMIT_SEEDS");
  if (no_compiler())
    SKIP("there is no C compiler");
  if (seeds)
    sscanf(seeds, "%" SCNu64 "-%" SCNu64, &first, &last);
  for (uint64_t seed = first; seed <= last; seed++)
    test_network(seed);
  arena_free(&memory);
}

// ---- foreign functions -----------------------------------------------------------------------

// A function of the C library and the operation that computes the same.
typedef struct foreign_row {
  const char *name;
  uint32_t arity;
  scalar_type operand;
  scalar_op op;
} foreign_row;
static const foreign_row foreign_rows[] = {
    {"atan2", 2, SCALAR_F64, OP_ATAN2},     {"fabsf", 1, SCALAR_F32, OP_ABS},
    {"csqrt", 1, SCALAR_C128, OP_SQRT},     {"csinf", 1, SCALAR_C64, OP_SIN},
    {"cabsf", 1, SCALAR_C64, OP_MAGNITUDE},
};

static void add_foreign(operations *o, const foreign_row *row, bool calls) {
  net_id a = add_argument(o, row->operand, 0), b = add_argument(o, row->operand, 1);
  net_node node = {NET_SCALAR, .type = scalar_result_of(row->op, row->operand), .scalar = row->op};
  if (calls) {
    scalar_type *parameters = NEW_ARRAY(&memory, scalar_type, 2);
    parameters[0] = parameters[1] = row->operand;
    vec_push(&memory, &o->net->externs,
             ((c_function){"m", row->name, row->arity, parameters, node.type, NULL}));
    node.kind = NET_EXTERN;
  }
  add_result(o, inner(o, node, row->arity, (net_id[]){a, b}));
}

static net *foreign_net(const foreign_row *row, bool calls) {
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0, NULL};
  add_foreign(&o, row, calls);
  vec_push(&memory, &t->stages, stage);
  return t;
}

static void check_foreign(const foreign_row *row, uint64_t seed, uint32_t lane_bits) {
  START();
  random_state random = {seed};
  evaluation *e = evaluate_operations(foreign_net(row, false), &random);
  plan *p = one_pass(foreign_net(row, true), 1, lane_bits);
  compiled_options options = {.no_cache = true};
  compiled_status status;
  error why = {0};
  CHECK(compiled_from_plan(p, NULL, &options, &status, &why) == NULL && status == COMPILED_FAILED);
  CHECK_CONTAINS(why.message, "--allow-extern");
  options.allow_foreign = true;
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &options), 0))
    show(p, &usual_text);
}

TEST(foreign_functions) {
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof foreign_rows / sizeof *foreign_rows; i++) {
    check_foreign(&foreign_rows[i], i, 0);
    check_foreign(&foreign_rows[i], i, 3);
  }
  arena_free(&memory);
}

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

// Any bits; or no NaN but the usual ones.
static void fill_halves(const plan *p, evaluation *e, random_state *r, bool usual) {
  for (size_t i = 0; i < p->net->arrays.count; i++)
    for (uint64_t x = 0;
         p->net->arrays.items[i].role == NET_ARGUMENT && x < p->net->arrays.items[i].count; x++) {
      uint16_t bits = (uint16_t)random_word(r);
      bits = random_chance(r, 8) ? (uint16_t)(bits & 0x8000) : bits;
      e->arrays[i][x].bits.f16 = usual && (bits & 0x7fff) > 0x7c00 ? 0x7e00 : bits;
    }
  for (size_t i = 0; i < p->net->stages.count; i++)
    evaluate_stage(&memory, p->net, &p->net->stages.items[i], e);
}

static void check_on_f16(const char *const program[2], const char *machine, bool native,
                         random_state *random, unsigned seed) {
  START();
  const plan *p = planned(program[0], program[1], machine);
  compiled_options options = {.isa = native ? "native" : machine, .no_cache = true};
  if (!CHECK(p != NULL))
    return;
  evaluation *e = net_evaluate(&memory, p->net, seed / 2);
  fill_halves(p, e, random, seed % 2);
  nan_is_nan = false;
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &options), 0)) {
    printf("%s for %s\n", program[0], machine);
    show(p, &usual_text);
  }
  nan_is_nan = true;
  arena_free(&memory);
}

// In vectors and, for "gpu", in kernels on the host.
TEST(programs_on_f16) {
  static const char *const machines[] = {"baseline", "avx2", "avx512", "gpu"};
  static const char *const programs[][2] = {
      {"sort_network", "[2^10]f16"},
      {"map sort_network", "[3][2^8]f16"},
      {"padded maxval sort_network", "[300]f16"},
      {"sort_network", "[2^8](f16, u16)"},
      {"sort_by (>=)", "[2^8]f16"},
      {"scan (+)", "[2^8]f16"},
      {"map (\\x -> x * x - 0.1 / x)", "[2^10]f16"},
  };
  random_state random = {7};
  if (no_compiler())
    SKIP("there is no C compiler");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
      if (!is_left_out(i + k, 4))
        check_on_f16(programs[i], machines[k], k >= 2, &random, (unsigned)(2 * i + (i + k) % 2));
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
      !CHECK(has_rounds(program, machine) &&
             run_wrong(p, net_evaluate(&memory, p->net, seed), &usual_text, &options) == 0))
    printf("%s for %s\n", program[0], machine);
  arena_free(&memory);
}

// Steps that repeat become loops: what is carried are one or two values, of the last round or of the
// one before it, of one part or two, truths; constants are one for all rounds or one for each.
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

// What runs on the host above is CUDA, too.
TEST(f16_compiled_for_gpus) {
  static const char *const programs[][2] = {
      {"sort_network", "[2^10]f16"},
      {"map (\\x -> (x * 1.5 - sin x, f32 x, i8 x, x < 3, f16 (f64 x), x ^ 3))", "[2^10]f16"},
      {"map (\\x -> if x < 7 then x + 5 else 77)", "[2^10]u16"},
      {"map (\\x -> if x < 7 then x + 5 else 77)", "[2^10]u8"},
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

// A sort of 2^8 keys, with arrays between passes.
TEST(several_passes) {
  if (no_compiler())
    SKIP("there is no C compiler");
  START();
  random_state random = {1};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0, NULL};
  add_argument(&o, SCALAR_F32, 0);
  net_id value = 0;
  for (uint32_t i = 0; i < 30; i++)
    add_exchange(&stage, &random, &value);
  net_store store = {
      .value = value, .map = identity_map(OPERATION_BITS), .padding_start = UINT64_MAX};
  store.array = net_array_add(&memory, t, SCALAR_F32, 1 << OPERATION_BITS, NET_RESULT, 0);
  vec_push(&memory, &stage.stores, store);
  vec_push(&memory, &t->stages, stage);
  evaluation *e = evaluate_operations(t, &random);
  target machine = *target_named("avx512");
  machine.tile_bytes = 256;
  machine.register_bytes = 128;
  machine.lane_bytes = 16;
  plan *p = plan_make(&memory, t, &machine, NULL);
  CHECK(p->passes.count > 1);
  if (!CHECK_EQ_U64(run_wrong(p, e, &usual_text, &(compiled_options){.no_cache = true}), 0))
    show(p, &usual_text);
  arena_free(&memory);
}

// ---- where stores are --------------------------------------------------------------------------

#define IN_ORDER "x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6 + 128*x7 + 256*x8 + 512*x9"
#define TRANSPOSED "x5 + 2*x6 + 4*x7 + 8*x8 + 16*x9 + 32*x0 + 64*x1 + 128*x2 + 256*x3 + 512*x4"

// A value is stored over what the pass loads, and in an array whose lines are the lanes of a phase without
// ops. The former is stored before that phase.
TEST(stores_over_what_is_loaded) {
  const char *wrong = NULL;
  const plan *p = plan_read(
      &memory,
      "array a0 u32 1024 argument 0\narray a1 u32 1024 result 0\nstage 0 n=10\n"
      "v0 = load a0 at " IN_ORDER "\nop 0 step %1\nv1[0] = + v0[0] v0[0]\n"
      "store v1 in a1 at " TRANSPOSED "\n"
      "target gpu line_bytes 128 tile_bytes 65536 lane_bytes 0 lane_bits 5 register_bytes 128 "
      "adapts 1 wide_bytes 16 memory_bytes_per_second 4e+12 ops_per_second 1.5e+13 "
      "exchange_ops 4 pass_seconds 3e-06 digit_seconds 0\nstage 0 strategy free padding none\n"
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

// ---- tables of roots -------------------------------------------------------------------------

TEST(tables_of_roots) {
  static const uint64_t orders[] = {1, 2, 3, 4, 5, 8, 12, 16, 24, 64, 100, 128, 1000, 1024, 4096};
  static const uint64_t vectors[] = {2, 5, 8}, weights[] = {100, UINT64_C(0) - 3, 7, 1000};
  permc_root_table rows[40] = {{0}};
  size_t count = 0, made = 0;
  for (uint64_t bytes = 4; bytes <= 8; bytes += 4) {
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
      rows[count++] = (permc_root_table){.m = orders[i], .part_bytes = bytes};
    for (size_t i = 0; i < 4; i++)
      rows[count++] =
          (permc_root_table){orders[4 + 3 * i], bytes, 3, UINT64_C(0) - 50, i, vectors, weights};
  }
  void **tables = roots_make(rows, &made, 2);
  REQUIRE(tables != NULL && made == count);
  for (size_t i = 0; i < count; i++) {
    uint64_t bytes = rows[i].part_bytes, entries = rows[i].vectors ? 8 : rows[i].m;
    for (uint64_t q = 0; q < entries; q++) {
      uint64_t k = q, bits = rows[i].constant;
      if (rows[i].vectors) {
        for (int b = 0; b < 3; b++)
          bits ^= q >> b & 1 ? vectors[b] : 0;
        k = rows[i].offset;
        for (int b = 0; b < 4; b++)
          k += bits >> b & 1 ? weights[b] : 0;
      }
      scalar_bits root =
          scalar_root(bytes == 4 ? SCALAR_C64 : SCALAR_C128, (int64_t)k, (int64_t)rows[i].m);
      const char *table = tables[i];
      bool planes = rows[i].vectors != NULL;
      CHECK(memcmp(table + (planes ? q : 2 * q) * bytes, root.bytes, bytes) == 0);
      CHECK(memcmp(table + (planes ? q + 8 : 2 * q + 1) * bytes, root.bytes + bytes, bytes) == 0);
    }
  }
  roots_free(tables, made);
}

TEST_MAIN()
