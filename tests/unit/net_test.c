// Maps, shared nodes and the other small functions of net.h.
#include "tests/test.h"

#include "fusion/net/net.h"
#include "tests/nets/nets.h"

static arena memory;
static jmp_buf failure;

static void start(void) {
  memory.failure = &failure;
  if (setjmp(failure) != 0)
    abort();
}

// ---- maps ------------------------------------------------------------------------------------

// 7 + 3 o_0 - 5 o_1 + 4 (x_0 ^ x_2) + 2 (x_1 ^ 1)
static int64_t strides[2] = {3, -5};
static net_row rows[2] = {{{2, true}, 2}, {{5, false}, 4}};
static const net_map sample = {7, 2, 2, strides, rows};

TEST(map_at) {
  CHECK_EQ_I64(net_map_at(&sample, (uint64_t[]){0, 0}, 0), 9);
  CHECK_EQ_I64(net_map_at(&sample, (uint64_t[]){2, 0}, 2), 13);
  CHECK_EQ_I64(net_map_at(&sample, (uint64_t[]){0, 3}, 1), -2);
  CHECK_EQ_I64(net_map_at(&sample, (uint64_t[]){0, 0}, 5), 9);
  CHECK_EQ_I64(net_map_at(&(net_map){.offset = INT64_MIN}, NULL, 0), INT64_MIN);
}

// Rows in any order, of all weights, some of them alike or constant.
TEST(map_normalise) {
  random_state r = {1};
  start();
  enum { ROWS = 7, BITS = 3 };
  for (int round = 0; round < 3000; round++) {
    net_map m = net_map_new(&memory, 0, ROWS), other = net_map_new(&memory, 0, ROWS);
    m.offset = (int64_t)random_below(&r, 9) - 4;
    for (uint32_t i = 0; i < ROWS; i++)
      m.rows[i] = (net_row){{random_below(&r, 1u << BITS), random_chance(&r, 2)},
                            (int64_t)random_below(&r, 9) - 4};
    for (uint32_t i = 0; i < ROWS;
         i++) {  // the same function: backwards, each row as w - w (f ^ 1)
      net_row row = m.rows[ROWS - 1 - i];
      other.rows[i] = (net_row){{row.form.mask, !row.form.constant}, -row.weight};
      other.offset += row.weight;
    }
    other.offset += m.offset;
    net_map before = net_map_copy(&memory, &m), changed;
    REQUIRE(net_map_normalise(&m) && net_map_normalise(&other));
    CHECK(net_map_is_canonical(&m) && net_map_equal(&m, &other));
    for (uint64_t x = 0; x < UINT64_C(1) << BITS; x++)
      CHECK_EQ_I64(net_map_at(&m, NULL, x), net_map_at(&before, NULL, x));
    for (uint32_t i = 0; i < m.row_count; i++) {
      CHECK(net_map_row(&m, m.rows[i].form.mask) == &m.rows[i]);
      changed = net_map_copy(&memory, &m);
      changed.rows[i].weight *= -1;
      CHECK(!net_map_is_canonical(&changed));
      changed.rows[i].weight = m.rows[i].weight;
      changed.rows[i].form.mask = i ? m.rows[0].form.mask : 0;
      CHECK(!net_map_is_canonical(&changed));
    }
  }
}

TEST(map_normalise_wraps) {
  start();
  net_row large[] = {{{1, false}, INT64_MIN}, {{2, true}, INT64_MIN}}, sum[] = {{{1, true}, -1}};
  net_map m = {0, 0, 2, NULL, large};
  net_map_normalise(&m);
  CHECK(net_map_is_canonical(&m));
  for (uint64_t x = 0; x < 4; x++)
    CHECK_EQ_I64(net_map_at(&m, NULL, x), (x & 1) != !(x & 2) ? INT64_MIN : 0);
  m = (net_map){INT64_MIN, 0, 1, NULL, sum};
  CHECK(!net_map_normalise(&m));
}

TEST(map_bits) {
  const net_map maps[] = {
      {8, 0, 2, NULL, (net_row[]){{{1, false}, 1}, {{2, false}, 6}}},
      {2, 0, 1, NULL, (net_row[]){{{1, false}, 2}}},
      {0, 0, 2, NULL, (net_row[]){{{2, true}, 1}, {{5, false}, 2}}},
      {.offset = 4},
  };
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    f2_affine bits;
    REQUIRE(net_map_bits(&maps[i], 3, 4, &bits));
    CHECK_EQ_I64(bits.a.rows, 4);
    CHECK_EQ_I64(bits.a.columns, 3);
    for (uint64_t x = 0; x < 8; x++)
      CHECK_EQ_I64(net_map_at(&maps[i], NULL, x), (int64_t)f2_affine_apply(bits, x));
  }
}

TEST(map_not_of_bits) {
  // Two rows change one bit; too many bits; below 0.
  static const int64_t wrong[][3] = {{1, 1, 0}, {1, 3, 0}, {2, 2, 1}, {1, 4, 0},
                                     {1, 2, 4}, {1, 2, 1}, {1, 2, -1}};
  f2_affine bits;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    net_row bad[2] = {{{1, false}, wrong[i][0]}, {{2, false}, wrong[i][1]}};
    CHECK(!net_map_bits(&(net_map){wrong[i][2], 0, 2, NULL, bad}, 2, 2, &bits));
  }
}

TEST(map_equal) {
  CHECK(net_map_equal(&sample, &sample));
  net_map other = sample;
  other.offset = 8;
  CHECK(!net_map_equal(&sample, &other));
  other = sample;
  other.strides = (int64_t[]){3, 5};
  CHECK(!net_map_equal(&sample, &other));
  other = sample;
  other.rows = (net_row[]){{{2, false}, 2}, {{5, false}, 4}};
  CHECK(!net_map_equal(&sample, &other));
  other.row_count = 1;
  CHECK(!net_map_equal(&sample, &other));
}

// ---- nodes -----------------------------------------------------------------------------------

static net_id leaf(net_stage *s, net_id value, uint64_t number) {
  return net_node_add(
      &memory, s,
      &(net_node){NET_ELEMENT, .type = s->values.items[value], .value = value, .number = number});
}

static net_id binary(net_stage *s, scalar_op op, net_id x, net_id y) {
  net_id operands[2] = {x, y};
  scalar_type type = scalar_result_of(op, s->nodes.items[x].type);
  return net_node_add(&memory, s,
                      &(net_node){NET_SCALAR, .type = type, .scalar = op, .operand_count = 2,
                                  .operands = operands});
}

TEST(equal_nodes_are_shared) {
  start();
  net_stage s = {.n = 3};
  for (int i = 0; i < 2; i++)
    net_value_add(&memory, &s, SCALAR_I32);
  for (int again = 0; again < 2; again++) {
    net_id x = leaf(&s, 0, 0), y = leaf(&s, 1, 0);
    CHECK_EQ_U64(x, 0);
    CHECK_EQ_U64(y, 1);
    CHECK_EQ_U64(binary(&s, OP_ADD, x, y), 2);
    CHECK_EQ_U64(binary(&s, OP_ADD, y, x), 3);
    CHECK_EQ_U64(binary(&s, OP_SUB, x, y), 4);
    net_node index = {NET_INDEX, .type = SCALAR_I64, .map = sample};
    CHECK_EQ_U64(net_node_add(&memory, &s, &index), 5);
    index.map.offset = 8;
    CHECK_EQ_U64(net_node_add(&memory, &s, &index), 6);
    // Fields without meaning do not count.
    net_node constant = {NET_CONSTANT, .type = SCALAR_I8, .constant.i32 = 0x1234 + again * 0x100,
                         .value = 7 + (net_id)again, .map = sample};
    CHECK_EQ_U64(net_node_add(&memory, &s, &constant), 7);
  }
  CHECK_EQ_U64(s.nodes.count, 8);
  CHECK_EQ_U64(s.nodes.items[7].constant.i64, 0x34);
  CHECK(s.nodes.items[5].map.rows != rows);
  arena_free(&memory);
}

TEST(many_nodes) {
  start();
  net_stage s = {.n = 3};
  enum { COUNT = 5000 };
  for (int again = 0; again < 2; again++)
    for (int64_t i = 0; i < COUNT; i++)
      CHECK_EQ_U64(net_node_add(&memory, &s,
                                &(net_node){NET_CONSTANT, .type = SCALAR_I64, .constant.i64 = i}),
                   i);
  CHECK_EQ_U64(s.nodes.count, COUNT);
  arena_free(&memory);
}

TEST(op_reads) {
  start();
  net_stage s = {.n = 3};
  for (int i = 0; i < 4; i++)
    net_value_add(&memory, &s, SCALAR_I32);
  net_id other = leaf(&s, 1, 0), c = leaf(&s, 3, 1), x = leaf(&s, 0, 1), y = leaf(&s, 3, 0);
  net_id sum = binary(&s, OP_ADD, c, x), twice = binary(&s, OP_MUL, sum, sum);
  net_id elements[2] = {twice, NET_NONE}, more[2] = {y, sum};
  net_output outputs[2] = {{2, elements}, {1, more}};
  net_op op = {.k = 1, .output_count = 2, .outputs = outputs};
  net_id found[8];
  for (int again = 0; again < 2; again++) {
    CHECK_EQ_U64(net_op_nodes(&s, &op, found), 5);
    CHECK(memcmp(found, (net_id[]){c, x, y, sum, twice}, 5 * sizeof *found) == 0);
    net_reads reads = net_op_reads(&memory, &s, &op);
    CHECK_EQ_U64(reads.count, 2);
    CHECK(reads.values[0] == 0 && reads.values[1] == 3);
  }
  (void)other;
  arena_free(&memory);
}

// ---- domains -----------------------------------------------------------------------------------

static bool is_in(f2_space set, uint64_t x) {
  bool in = true;
  for (int i = 0; i < set.dimension; i++)
    in = in && !net_form_at(live_form(set.basis[i]), x);
  return in;
}

static bool is_in_domain(const net_domain *m, uint64_t x) {
  return is_in(m->on, x) && !is_in(m->except, x);
}

static f2_space random_set(random_state *r, int n) {
  f2_space set = live_all(n);
  for (uint32_t i = random_below(r, 4); i > 0; i--)
    set = live_where(set, (net_form){random_below(r, 1u << n), random_below(r, 2)});
  return set;
}

// Which of two constants the node is at x.
static net_id chosen_at(const net_stage *s, net_id id, uint64_t x) {
  const net_node *node = &s->nodes.items[id];
  if (node->kind != NET_SELECT)
    return id;
  const net_node *condition = &s->nodes.items[node->operands[0]];
  bool below = net_map_at(&s->nodes.items[condition->operands[0]].map, NULL, x) < 1;
  return chosen_at(s, node->operands[below ? 1 : 2], x);
}

TEST(domains) {
  start();
  enum { N = 4 };
  random_state r = {7};
  for (int round = 0; round < 2000; round++) {
    net_stage s = {.n = N};
    net_domain a = {random_set(&r, N), random_set(&r, N)}, b = {random_set(&r, N), live_empty(N)};
    net_domain both = net_domain_hull(a, b);
    f2_space known = random_set(&r, N), set = random_set(&r, N), rest = live_without(a.on, set);
    net_id inside = net_node_add(&memory, &s, &(net_node){.kind = NET_CONSTANT, .type = SCALAR_I8});
    net_node one = {
        .kind = NET_CONSTANT, .type = SCALAR_I8, .constant = scalar_from_i64(SCALAR_I8, 1)};
    net_id outside = net_node_add(&memory, &s, &one);
    net_op op = {.k = (uint32_t)round % 2,
                 .directions = (uint64_t[]){6},
                 .coordinates = &(net_form){4, false}};
    known = live_cosets(known, op.k, op.directions);
    for (uint64_t e = 0; e < UINT64_C(1) << op.k; e++) {
      net_id node = net_domain_choose(&memory, &s, &op, e, &a, known, inside, outside);
      for (uint64_t x = 0; x < 1 << N; x++)
        if (is_in(known, x) && (!op.k || (x >> 2 & 1) == e))
          CHECK(chosen_at(&s, node, x) == (is_in_domain(&a, x) ? inside : outside));
    }
    op.k = 0;
    net_id node = net_domain_choose(&memory, &s, &op, 0, &(net_domain){set, live_empty(N)},
                                    live_all(N), inside, outside);
    f2_space found;
    if (s.nodes.items[node].kind == NET_SELECT) {
      net_id condition = s.nodes.items[node].operands[0];
      CHECK(net_condition_set(&s, condition, &found) && f2_space_equal(found, set));
      for (int holds = 0; holds < 2; holds++) {
        net_domain where = net_domain_where(&s, &a, condition, holds);
        for (uint64_t x = 0; x < 1 << N; x++)
          if (is_in_domain(&a, x) && is_in(set, x) == holds)
            CHECK(is_in_domain(&where, x));
      }
    }
    for (uint64_t x = 0; x < 1 << N; x++) {
      if (is_in_domain(&a, x) || is_in_domain(&b, x))
        CHECK(is_in_domain(&both, x));
      if (is_in_domain(&a, x) && is_in_domain(&b, x))
        CHECK(net_domains_meet(&a, &b));
      if (is_in(a.on, x) && !is_in(set, x))
        CHECK(is_in(rest, x));
    }
  }
  arena_free(&memory);
}

// By what: a load, node, store or routine, its number, < or > (it writes), and the array.
static const char *accesses_of(const net_stage *s) {
  const char *all = "";
  for (net_access at = {0}; net_access_next(s, &at);)
    all = arena_printf(&memory, "%s%c%zu%s%u ", all, "lnsr"[at.by], at.number,
                       at.writes ? ">" : "<", at.array);
  return all;
}

TEST(accesses) {
  start();
  net_stage s = {.n = 1}, copy = {.n = 1}, of_routine = {0};
  CHECK_STR(accesses_of(&s), "");
  net_id v = net_value_add(&memory, &s, SCALAR_I64), w = net_value_add(&memory, &s, SCALAR_BOOL);
  net_map map = net_stage_map(&memory, &s, f2_affine_identity(1));
  vec_push(&memory, &s.loads, ((net_load){.value = v, .array = 3, .map = map}));
  net_id operands[2] = {leaf(&s, v, 0), leaf(&s, v, 0)};
  operands[1] = net_node_add(&memory, &s,
                             &(net_node){NET_GATHER, .type = SCALAR_I64, .number = 1,
                                         .operand_count = 1, .operands = operands});
  net_id scatter = net_node_add(&memory, &s,
                                &(net_node){NET_SCATTER, .type = SCALAR_BOOL, .number = 4,
                                            .operand_count = 2, .operands = operands});
  vec_push(&memory, &s.ops, ((net_op){.output_count = 1, .outputs = &(net_output){w, &scatter}}));
  vec_push(&memory, &s.stores, ((net_store){.value = v, .array = 0, .map = map}));
  CHECK_STR(accesses_of(&s), "l0<3 n1<1 n2>4 s0>0 ");
  net_change change = {.arrays = (net_id[]){5, 6, 7, 8, 9}};
  net_stage_append(&memory, &copy, &s, change);
  CHECK_STR(accesses_of(&copy), "l0<8 n1<6 n2>9 s0>5 ");
  net_routine_pair pairs[2] = {{2, NET_NONE}, {NET_NONE, 1}};
  of_routine.routine = &(net_routine){.pair_count = 2, .pairs = pairs, .offsets = 4};
  CHECK_STR(accesses_of(&of_routine), "r0<2 r3>1 ");
  of_routine.routine->ragged = true;
  copy = (net_stage){0};
  net_stage_append(&memory, &copy, &of_routine, change);
  CHECK_STR(accesses_of(&of_routine), "r0<2 r3>1 r4<4 ");
  CHECK_STR(accesses_of(&copy), "r0<7 r3>6 r4<9 ");
  arena_free(&memory);
}

// Where x0 = x1 = y0 and x2 is fixed: of three forms one is left, of another one nothing.
TEST(forms_once) {
  start();
  f2_affine old_of_new = {f2_zero(3, 1), 4};
  old_of_new.a.row[0] = old_of_new.a.row[1] = 1;
  net_change change = {.old_of_new = &old_of_new};
  net_form forms[] = {{1, false}, {2, false}, {3, false}, {6, true}};
  uint32_t count = 4;
  net_form *changed = net_forms_changed(&memory, &change, forms, &count);
  CHECK_EQ_U64(count, 1);
  CHECK(changed[0].mask == 1 && !changed[0].constant);
  arena_free(&memory);
}

TEST(arrays) {
  start();
  net t = {0};
  CHECK_EQ_U64(net_array_add(&memory, &t, SCALAR_F32, 12, NET_ARGUMENT, 0), 0);
  CHECK_EQ_U64(net_array_add(&memory, &t, SCALAR_C64, 3, NET_RESULT, 1), 1);
  CHECK_EQ_U64(t.arrays.items[1].count, 3);
  CHECK_EQ_U64(t.arrays.items[1].number, 1);
  arena_free(&memory);
}

TEST_MAIN()
