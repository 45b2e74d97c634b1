// Generated C code: random Nets in random Plans with random phases, networks of floats, and a sort
// of several passes, compiled and compared with the literal evaluator.
//
// PERMC_EMIT_SEEDS=a-b runs other seeds than the usual few.
#define RANDOM_NET_BITS 9
#include "tests/unit/c_emit.h"
#include "tests/unit/plan_random.h"

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
  machine->line_bytes = 16U << random_below(r, 6);
  machine->tile_bytes = UINT64_C(256) << random_below(r, 5);
  machine->lane_bytes = 16U << random_below(r, 3);
  machine->lane_bits = 2 + random_below(r, 5);
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
  if (!check_run(p, e, &streaming, &options))
    printf("seed %" PRIu64 " for %s\n", seed, options.isa);
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
  static const scalar_type types[] = {SCALAR_F16, SCALAR_BF16, SCALAR_F32, SCALAR_F64};
  scalar_type type = types[random_below(&random, 4)];
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0};
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
  if (!check_bits(p, e, &usual_text, &options))
    printf("seed %" PRIu64 "\n", seed);
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

// A sort of 2^8 keys, with arrays between passes.
TEST(several_passes) {
  if (no_compiler())
    SKIP("there is no C compiler");
  START();
  random_state random = {1};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0};
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
  check_run(p, e, &usual_text, &(compiled_options){.no_cache = true});
  arena_free(&memory);
}

TEST_MAIN()
