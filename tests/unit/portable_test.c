// The portable executor and the driver: random Nets in random Plans against the literal evaluator
// of tests/nets, and nets made by hand for what those hardly meet: long runs, every vector width
// and element type of compare-exchange, batches of loop iterations, NaN bits, foreign functions,
// interrupts, memory.
#include "tests/unit/evaluated.h"
#include "tests/unit/memory.h"
#include "tests/unit/plan_random.h"

#include "runtime/portable/pass.h"

#include <math.h>

// ---- running ---------------------------------------------------------------------------------

// How many result elements are wrong; UINT64_MAX if the run failed.
static uint64_t run_wrong(const plan *p, const evaluation *e, uint32_t threads,
                          uint32_t vector_bytes) {
  array results[8];
  size_t count = 0;
  uint64_t wrong = UINT64_MAX;
  error why = {0};
  array *arguments = evaluated_arguments(&memory, p->net, e, &count);
  portable *x = portable_new(p, &(portable_options){true, NULL, vector_bytes}, &why);
  cpu_executor executor = {portable_pass, x, NULL};
  cpu_options o = {.threads = threads, .executor = &executor};
  if (x == NULL) {
    printf("%s\n", why.message);
    for (size_t i = 0; i < count; i++)
      array_destroy(&arguments[i]);
    return wrong;
  }
  if (cpu_run(p, &o, arguments, count, results, &why))
    wrong = evaluated_wrong(p->net, e, results, false);
  else
    printf("%s\n", why.message);
  for (size_t i = 0; i < p->net->arrays.count; i++)
    if (p->net->arrays.items[i].role == NET_RESULT)
      array_destroy(&results[p->net->arrays.items[i].number]);
  for (size_t i = 0; i < count; i++)
    CHECK(arguments[i].data == NULL);
  portable_free(x);
  return wrong;
}

// Random plans of a net, each run in vectors of some width, by one thread or two.
static void check_plans(const net *t, random_state *random, int count, const char *what) {
  static const uint32_t widths[] = {0, 16, 32, 64};
  const char *bad = net_verify(&memory, t);
  if (bad && !CHECK(bad == NULL))
    printf("%s: %s\n", what, bad);
  evaluation *e = net_evaluate(&memory, t, random->seed);
  for (int i = 0; i < count; i++) {
    plan *p = random_plan(&memory, random, t);
    uint64_t wrong = run_wrong(p, e, 1 + random_below(random, 2), widths[random_below(random, 4)]);
    if (!CHECK_EQ_U64(wrong, 0))
      printf("%s, plan %d\n", what, i);
  }
}

// ---- random nets -----------------------------------------------------------------------------

static bool calls_out(const net *t) {
  for (size_t i = 0; i < t->stages.count; i++)
    for (size_t k = 0; k < t->stages.items[i].nodes.count; k++)
      if (t->stages.items[i].nodes.items[k].kind == NET_EXTERN)
        return true;
  return false;
}

static bool check_random_net(uint64_t seed) {
  START();
  random_state random = {seed};
  char what[32];
  snprintf(what, sizeof what, "seed %" PRIu64, seed);
  net *t = random_net_of(&memory, &random, seed % 3 == 0);
  bool usable = !calls_out(t);  // its foreign function does not exist
  if (usable)
    check_plans(t, &random, 3, what);
  return usable;
}

TEST(random_nets) {
  for (uint64_t seed = 0, done = 0; done < 1000; seed++)
    done += check_random_net(seed);
}

// One stage of random ops on a larger space, with loops.
static bool check_large_stage(uint64_t seed) {
  START();
  random_state random = {seed};
  char what[32];
  snprintf(what, sizeof what, "large stage, seed %" PRIu64, seed);
  net *t = NEW(&memory, net);
  net_stage s = {.n = 5 + (int)random_below(&random, 6), .loop_count = random_below(&random, 2)};
  s.extents = NEW_ARRAY(&memory, uint64_t, 1);
  s.extents[0] = 1 + random_below(&random, 5);
  for (uint32_t i = 0; i < 2; i++)
    net_array_add(&memory, t, random_type(&random), stage_points(&s), NET_ARGUMENT, i);
  random_stage(&memory, &random, t, &s, true);
  vec_push(&memory, &t->stages, s);
  bool usable = !calls_out(t) && !net_evaluate(&memory, t, 0)->garbage && !net_verify(&memory, t);
  if (usable)
    check_plans(t, &random, 2, what);
  return usable;
}

TEST(large_stages) {
  for (uint64_t seed = 0, done = 0; done < 60; seed++)
    done += check_large_stage(seed);
}

// ---- nets by hand ----------------------------------------------------------------------------

typedef struct hand {
  random_state *random;
  net *net;
  net_stage stage;
} hand;

static net_id leaf(hand *h, net_id value, uint64_t number) {
  net_node node = {NET_ELEMENT, .type = h->stage.values.items[value], .value = value};
  node.number = number;
  return net_node_add(&memory, &h->stage, &node);
}

static net_id inner(hand *h, net_node_kind kind, scalar_type type, scalar_op op, uint64_t number,
                    uint32_t count, const net_id *operands) {
  net_node node = {kind, .type = type, .scalar = op, .operand_count = count, .number = number};
  node.operands = (net_id *)operands;
  return net_node_add(&memory, &h->stage, &node);
}

// An op with the first k vectors of a frame, with one output of the elements `nodes`; its value.
static net_id hand_op(hand *h, const random_frame *f, uint32_t k, scalar_type type,
                      const net_id *nodes) {
  net_op op = {.k = k, .output_count = 1};
  op.directions = NEW_ARRAY(&memory, uint64_t, k);
  op.coordinates = NEW_ARRAY(&memory, net_form, k);
  for (uint32_t i = 0; i < k; i++) {
    op.directions[i] = f2_column(f->vectors, (int)i);
    op.coordinates[i] = (net_form){f->inverse.row[i], random_chance(h->random, 3)};
  }
  op.outputs = NEW(&memory, net_output);
  op.outputs->value = net_value_add(&memory, &h->stage, type);
  op.outputs->elements = NEW_ARRAY(&memory, net_id, UINT64_C(1) << k);
  memcpy(op.outputs->elements, nodes, sizeof(net_id) << k);
  vec_push(&memory, &h->stage.ops, op);
  return op.outputs->value;
}

static net_id hand_load(hand *h, scalar_type type, uint32_t number, net_map map, uint64_t count) {
  net_load load = {.padding_start = UINT64_MAX, .map = map};
  load.array = net_array_add(&memory, h->net, type, count, NET_ARGUMENT, number);
  load.value = net_value_add(&memory, &h->stage, type);
  vec_push(&memory, &h->stage.loads, load);
  return load.value;
}

static void hand_store(hand *h, net_id value, uint32_t number, net_map map, uint64_t count) {
  net_store store = {.value = value, .padding_start = UINT64_MAX, .map = map};
  store.array =
      net_array_add(&memory, h->net, h->stage.values.items[value], count, NET_RESULT, number);
  vec_push(&memory, &h->stage.stores, store);
}

static void hand_start(hand *h, random_state *random, int n, uint32_t loops,
                       const uint64_t *extents) {
  *h = (hand){random, NEW(&memory, net), {.n = n, .loop_count = loops}};
  h->stage.extents = NEW_ARRAY(&memory, uint64_t, loops);
  for (uint32_t l = 0; l < loops; l++)
    h->stage.extents[l] = extents[l];
}

static void hand_check(hand *h, int plans, const char *what) {
  vec_push(&memory, &h->net->stages, h->stage);
  check_plans(h->net, h->random, plans, what);
}

// ---- compare-exchange ------------------------------------------------------------------------

static const struct {
  scalar_type type;
  net_node_kind kind;
  scalar_op op;
} exchanges[] = {
    {SCALAR_BOOL, NET_MIN, OP_LE},          {SCALAR_I8, NET_MIN, OP_LE},
    {SCALAR_I16, NET_MIN, OP_LE},           {SCALAR_I32, NET_MIN, OP_LE},
    {SCALAR_I64, NET_MIN, OP_LE},           {SCALAR_U8, NET_MIN, OP_LE},
    {SCALAR_U16, NET_MIN, OP_LE},           {SCALAR_U32, NET_MIN, OP_LE},
    {SCALAR_U64, NET_MIN, OP_LE},           {SCALAR_F16, NET_SELECT, OP_LT},
    {SCALAR_F16, NET_SELECT, OP_LE},        {SCALAR_F16, NET_SELECT, OP_GT},
    {SCALAR_F16, NET_SELECT, OP_GE},        {SCALAR_F16, NET_SELECT, OP_TOTAL_LE},
    {SCALAR_BF16, NET_SELECT, OP_LT},       {SCALAR_BF16, NET_SELECT, OP_LE},
    {SCALAR_BF16, NET_SELECT, OP_GT},       {SCALAR_BF16, NET_SELECT, OP_GE},
    {SCALAR_BF16, NET_SELECT, OP_TOTAL_LE}, {SCALAR_F32, NET_SELECT, OP_LT},
    {SCALAR_F32, NET_SELECT, OP_LE},        {SCALAR_F32, NET_SELECT, OP_GT},
    {SCALAR_F32, NET_SELECT, OP_GE},        {SCALAR_F32, NET_SELECT, OP_TOTAL_LE},
    {SCALAR_F64, NET_SELECT, OP_LT},        {SCALAR_F64, NET_SELECT, OP_LE},
    {SCALAR_F64, NET_SELECT, OP_GT},        {SCALAR_F64, NET_SELECT, OP_GE},
    {SCALAR_F64, NET_SELECT, OP_TOTAL_LE},  {SCALAR_I16, NET_SELECT, OP_LT},
    {SCALAR_U8, NET_SELECT, OP_GE},         {SCALAR_U64, NET_SELECT, OP_GT},
    {SCALAR_I32, NET_SELECT, OP_LE},        {SCALAR_BOOL, NET_SELECT, OP_TOTAL_LE},
};
enum { EXCHANGES = sizeof exchanges / sizeof *exchanges };

static net_id add_exchange(hand *h, uint32_t row, net_id value, const random_frame *f) {
  scalar_type type = exchanges[row].type;
  bool turned = random_chance(h->random, 2), swapped = random_chance(h->random, 2);
  net_id leaves[2] = {leaf(h, value, 0), leaf(h, value, 1)}, nodes[2];
  net_id other[2] = {leaves[1], leaves[0]};
  if (exchanges[row].kind == NET_SELECT) {
    net_id c = inner(h, NET_SCALAR, SCALAR_BOOL, exchanges[row].op, 0, 2, swapped ? other : leaves);
    nodes[turned] = inner(h, NET_SELECT, type, 0, 0, 3, (net_id[]){c, leaves[0], leaves[1]});
    nodes[!turned] = inner(h, NET_SELECT, type, 0, 0, 3, (net_id[]){c, leaves[1], leaves[0]});
  } else {
    nodes[turned] = inner(h, NET_MIN, type, 0, 0, 2, leaves);
    nodes[!turned] = inner(h, NET_MAX, type, 0, 0, 2, swapped ? other : leaves);
  }
  return hand_op(h, f, 1, type, nodes);
}

static void check_exchanges(uint64_t seed) {
  START();
  hand h;
  char what[64];
  random_state random = {seed};
  uint32_t row = (uint32_t)seed % EXCHANGES, loops = random_chance(&random, 4);
  uint64_t extent = 1 + random_below(&random, 40);
  hand_start(&h, &random, 1 + (int)random_below(&random, loops ? 5 : 10), loops, &extent);
  snprintf(what, sizeof what, "exchanges of row %u, seed %" PRIu64, row, seed);
  net_id value = hand_load(&h, exchanges[row].type, 0, random_address(&memory, &random, &h.stage),
                           stage_points(&h.stage));
  for (uint32_t i = 0; i < 12; i++) {
    random_frame f = random_directions(&random, h.stage.n);
    if (random_chance(&random, 2)) {  // as in a sorting network: two units
      int a = (int)random_below(&random, (uint32_t)h.stage.n);
      int b = (int)random_below(&random, (uint32_t)h.stage.n);
      f.vectors = f.inverse = f2_identity(h.stage.n);
      f.vectors.row[0] = f.inverse.row[0] = 0;
      f.vectors.row[a] |= 1;
      f.inverse.row[0] = f2_unit(a) | f2_unit(b);
      if (a == b)
        f.inverse.row[0] = f2_unit(a);
    }
    value = add_exchange(&h, row, value, &f);
  }
  hand_store(&h, value, 0, random_address(&memory, &random, &h.stage), stage_points(&h.stage));
  hand_check(&h, 3, what);
}

TEST(exchanges) {
  for (uint64_t seed = 0; seed < 12 * EXCHANGES; seed++)
    check_exchanges(seed);
}

// ---- maps ------------------------------------------------------------------------------------

// Any weights; the least address is 0. *count: one more than the highest.
static net_map weighted_map(hand *h, uint64_t *count) {
  const net_stage *s = &h->stage;
  net_map m = {.loop_count = s->loop_count, .row_count = random_below(h->random, 8)};
  if (random_chance(h->random, 20))
    m.row_count = 60 + random_below(h->random, 80);  // more than one word of rows
  m.strides = NEW_ARRAY(&memory, int64_t, m.loop_count);
  m.rows = NEW_ARRAY(&memory, net_row, m.row_count);
  int64_t scale = 1 + (int64_t)random_below(h->random, 3), least = 0, most = 0;
  for (uint32_t l = 0; l < m.loop_count; l++) {
    m.strides[l] = (int64_t)random_below(h->random, 9) - 3;
    int64_t end = m.strides[l] * (int64_t)(s->extents[l] - 1);
    *(end < 0 ? &least : &most) += end;
  }
  for (uint32_t r = 0; r < m.row_count; r++) {
    bool power = random_chance(h->random, 2);
    m.rows[r].form =
        (net_form){random_word(h->random) & f2_mask(s->n), random_chance(h->random, 3)};
    if (random_chance(h->random, 2))
      m.rows[r].form.mask = f2_unit((int)(r % 8)) & f2_mask(s->n);
    m.rows[r].weight = power ? scale << r % 8 : (int64_t)random_below(h->random, 21) - 10;
    *(m.rows[r].weight < 0 ? &least : &most) += m.rows[r].weight;
  }
  m.offset = -least;
  *count = (uint64_t)(most - least) + 1;
  net_map_normalise(&m);
  return m;
}

static void check_maps(uint64_t seed) {
  START();
  hand h;
  char what[64];
  random_state random = {seed};
  uint64_t extents[3], count;
  uint32_t loops = random_below(&random, 4);
  for (uint32_t l = 0; l < loops; l++)
    extents[l] = 1 + random_below(&random, l == 0 && loops == 1 ? 3000 : 9);
  hand_start(&h, &random, (int)random_below(&random, loops ? 4 : 9), loops, extents);
  snprintf(what, sizeof what, "maps, seed %" PRIu64, seed);
  scalar_type type = random_type(&random);
  for (uint32_t i = 0; i < 2; i++) {
    net_map map = weighted_map(&h, &count);
    net_id value = hand_load(&h, type, i, map, count);
    net_load *load = &h.stage.loads.items[value];
    if (random_chance(&random, 2)) {
      load->padding_start = random_below(&random, (uint32_t)count);
      load->padding_value = random_element(&random, type);
      h.net->arrays.items[load->array].count = load->padding_start + random_below(&random, 3);
    }
  }
  net_node index = {NET_INDEX, .type = SCALAR_I64};
  index.map = weighted_map(&h, &count);
  random_frame f = {f2_identity(h.stage.n), f2_identity(h.stage.n)};
  net_id node = net_node_add(&memory, &h.stage, &index),
         nodes[2] = {leaf(&h, 0, 0), leaf(&h, 1, 0)};
  net_id moved = hand_op(&h, &f, 0, type, &nodes[1]);
  hand_op(&h, &f, 0, SCALAR_I64, &node);
  hand_store(&h, 0, 0, random_address(&memory, &random, &h.stage), stage_points(&h.stage));
  hand_store(&h, moved, 1, random_address(&memory, &random, &h.stage), stage_points(&h.stage));
  hand_store(&h, moved + 1, 2, random_address(&memory, &random, &h.stage), stage_points(&h.stage));
  hand_check(&h, 3, what);
}

TEST(maps) {
  for (uint64_t seed = 0; seed < 500; seed++)
    check_maps(seed);
}

// ---- wide ops --------------------------------------------------------------------------------

// A network on 2^k elements in one op: more nodes than there is room for in large chunks.
static void check_wide(uint64_t seed) {
  START();
  hand h;
  char what[64];
  random_state random = {seed};
  uint32_t k = (uint32_t)(seed % 7), size = 1U << k;
  hand_start(&h, &random, (int)k + (int)random_below(&random, 5), 0, NULL);
  snprintf(what, sizeof what, "k = %u, seed %" PRIu64, k, seed);
  net_id nodes[64];
  net_id value = hand_load(&h, SCALAR_C128, 0, random_address(&memory, &random, &h.stage),
                           stage_points(&h.stage));
  for (uint32_t j = 0; j < size; j++)
    nodes[j] = leaf(&h, value, (j * 5 + 3) % size);
  for (uint32_t i = 0; i < 5 * size; i++) {
    net_id operands[2] = {nodes[random_below(&random, size)], nodes[random_below(&random, size)]};
    nodes[random_below(&random, size)] =
        inner(&h, NET_SCALAR, SCALAR_C128, i % 2 ? OP_ADD : OP_SUB, 0, 2, operands);
  }
  random_frame f = random_directions(&random, h.stage.n);
  value = hand_op(&h, &f, k, SCALAR_C128, nodes);
  hand_store(&h, value, 0, random_address(&memory, &random, &h.stage), stage_points(&h.stage));
  hand_check(&h, 2, what);
}

TEST(wide_ops) {
  for (uint64_t seed = 0; seed < 35; seed++)
    check_wide(seed);
}

// ---- roots -----------------------------------------------------------------------------------

static void check_roots(uint64_t order) {
  START();
  hand h;
  random_state random = {order};
  uint64_t count;
  hand_start(&h, &random, 13, 0, NULL);
  net_node index = {NET_INDEX, .type = SCALAR_I64};
  index.map = weighted_map(&h, &count);
  index.map.offset -= 40;
  net_id node = net_node_add(&memory, &h.stage, &index);
  node = inner(&h, NET_ROOT, SCALAR_C128, 0, order, 1, &node);
  random_frame f = {f2_identity(13), f2_identity(13)};
  net_id value = hand_op(&h, &f, 0, SCALAR_C128, &node);
  hand_store(&h, value, 0, random_address(&memory, &random, &h.stage), 1 << 13);
  hand_check(&h, 1, "roots");
}

// With a table (of a power of two, and not) and without.
TEST(roots) {
  static const uint64_t orders[] = {1, 8, 12, 1024, 3000, 1 << 20};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    check_roots(orders[i]);
}

// A table serves the orders that divide its own, with the bits of scalar_root.
TEST(root_tables) {
  START();
  hand h;
  random_state random = {1};
  hand_start(&h, &random, 14, 0, NULL);
  net_node zero = {NET_CONSTANT, .type = SCALAR_I64};
  net_id k = net_node_add(&memory, &h.stage, &zero);
  static const uint64_t orders[] = {1, 2, 4, 12, 100, 3000, 4096, 12288, 16384};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    inner(&h, NET_ROOT, SCALAR_C64, 0, orders[i], 1, &k);
    inner(&h, NET_ROOT, SCALAR_C128, 0, orders[i], 1, &k);
  }
  vec_push(&memory, &h.net->stages, h.stage);
  root_tables tables;
  REQUIRE(root_tables_make(&tables, &memory, h.net));
  for (size_t i = 0; i < 2 * sizeof orders / sizeof *orders; i++) {
    scalar_type type = i % 2 ? SCALAR_C64 : SCALAR_C128;
    uint64_t order = orders[i / 2];
    const root_table *r = root_table_find(&tables, type, order);
    for (uint64_t j = 0; j < order && CHECK(r != NULL); j++) {
      scalar_bits root = scalar_root(type, (int64_t)j, (int64_t)order);
      const unsigned char *found = r->roots + j * (r->order / order) * scalar_types[type].size;
      if (!CHECK(memcmp(found, &root, scalar_types[type].size) == 0))
        printf("%s root %" PRIu64 " of %" PRIu64 "\n", scalar_types[type].name, j, order);
    }
  }
  roots_free(tables.memory, tables.count);
}

// ---- bits of NaN -----------------------------------------------------------------------------

// A compare-exchange of floats with payloads, against the same by scalar_apply.
static void check_payloads(scalar_type type, scalar_op op, uint32_t width) {
  START();
  hand h;
  random_state random = {1};
  array results[1];
  error why = {0};
  hand_start(&h, &random, 6, 0, NULL);
  random_frame f = {f2_identity(6), f2_identity(6)};
  f2_affine same = f2_affine_identity(6);
  net_map map = random_address(&memory, &random, &h.stage);
  for (int i = 0; i < 6; i++)
    map.rows[i].form = (net_form){same.a.row[i], false};
  net_id value = hand_load(&h, type, 0, map, 64);
  net_id l[2] = {leaf(&h, value, 0), leaf(&h, value, 1)};
  net_id c = inner(&h, NET_SCALAR, SCALAR_BOOL, op, 0, 2, l);
  net_id nodes[2] = {inner(&h, NET_SELECT, type, 0, 0, 3, (net_id[]){c, l[0], l[1]}),
                     inner(&h, NET_SELECT, type, 0, 0, 3, (net_id[]){c, l[1], l[0]})};
  value = hand_op(&h, &f, 1, type, nodes);
  h.stage.ops.items[0].coordinates[0].constant = false;
  hand_store(&h, value, 0, map, 64);
  vec_push(&memory, &h.net->stages, h.stage);
  plan *p = random_plan(&memory, &random, h.net);
  static const uint32_t patterns[8] = {0x7fc00001, 0xffc12345, 0x7f800001, 0x80000000,
                                       0,          0x3f800000, 0xff800000, 0x7fffffff};
  static const uint16_t halves[8] = {0x7e01, 0xfe45, 0x7c01, 0x8000, 0, 0x3c00, 0xfc00, 0x7fff};
  array argument;
  array_create(&argument, type, 1, (uint64_t[]){64});
  size_t size = scalar_types[type].size;
  char expected[64 * sizeof(uint32_t)], *data = argument.data;
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t k = random_below(&random, 8);
    memcpy(data + i * size, size == 2 ? (const void *)&halves[k] : &patterns[k], size);
  }
  for (uint32_t i = 0; i < 64; i += 2) {
    char *pair = data + i * size;
    bool stays = false;
    scalar_apply(op, type, 1, pair, pair + size, &stays);
    memcpy(expected + i * size, stays ? pair : pair + size, size);
    memcpy(expected + (i + 1) * size, stays ? pair + size : pair, size);
  }
  portable *x = portable_new(p, &(portable_options){.vector_bytes = width}, &why);
  cpu_executor executor = {portable_pass, x, NULL};
  CHECK(cpu_run(p, &(cpu_options){.executor = &executor}, &argument, 1, results, &why));
  CHECK(memcmp(results[0].data, expected, 64 * size) == 0);
  array_destroy(&results[0]);
  portable_free(x);
}

TEST(payloads) {
  static const scalar_op relations[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_TOTAL_LE, OP_EQ};
  for (size_t i = 0; i < 6; i++)
    for (uint32_t width = 16; width <= 64; width *= 2) {
      check_payloads(SCALAR_F16, relations[i], width);
      check_payloads(SCALAR_BF16, relations[i], width);
      check_payloads(SCALAR_F32, relations[i], width);
    }
}

TEST_MAIN()
