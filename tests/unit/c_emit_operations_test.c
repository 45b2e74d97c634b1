// Generated C code: every scalar operation on every type against core/scalar/scalar.h, functions of
// C libraries against the operations that compute the same, and tables of roots.
#include "tests/unit/c_emit.h"

#include "runtime/cpu/roots.h"

// ---- every operation on every type -----------------------------------------------------------

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
    pass.loads[pass.load_count++] = (plan_move){.value = s->loads.items[i].value,
                                                .slot = s->loads.items[i].value,
                                                .array = s->loads.items[i].array,
                                                .map = s->loads.items[i].map,
                                                .padding_start = UINT64_MAX};
  pass.stores = NEW_ARRAY(&memory, plan_move, s->stores.count);
  for (size_t i = 0; i < s->stores.count; i++)
    pass.stores[pass.store_count++] = (plan_move){.value = s->stores.items[i].value,
                                                  .slot = s->stores.items[i].value,
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

static void test_operations(scalar_type type, uint32_t l, const char *isa) {
  START();
  random_state random = {type + 100 * l};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0};
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
  if (!check_run(p, e, &usual_text, &options))
    printf("%s of 2^%u lanes for %s\n", scalar_types[type].name, l, isa);
}

// Compare-exchange in the total order, and selections: NaN keep their bits.
static void test_moves(scalar_type type, uint32_t l, const char *isa) {
  START();
  random_state random = {type + 7 * l};
  net *t = NEW(&memory, net);
  net_stage stage = {.n = OPERATION_BITS};
  operations o = {t, &stage, 0};
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
  check_bits(p, e, &usual_text, &options);
}

TEST(moves_keep_bits) {
  if (no_compiler())
    SKIP("there is no C compiler");
  for (scalar_type type = SCALAR_F16; type <= SCALAR_C128; type++)
    for (uint32_t l = 0; l < 5; l += 2)
      test_moves(type, l, l == 2 ? "avx2" : "native");
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
  operations o = {t, &stage, 0};
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
  check_run(p, e, &usual_text, &options);
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
