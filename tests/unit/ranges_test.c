// Bounds of integers (lang/ranges.c): no element of a random Trace is beyond them; and the checks
// that they make superfluous.
#include "tests/unit/api.h"

#include "core/random.h"
#include "runtime/interp/interp.h"
#include "tests/unit/trace_builder.h"

enum { COUNT = 32, STEPS = 24 };

static const scalar_type types[] = {SCALAR_BOOL, SCALAR_I8,  SCALAR_I16, SCALAR_I32, SCALAR_I64,
                                    SCALAR_U8,   SCALAR_U16, SCALAR_U32, SCALAR_U64};
static const scalar_op operations[] = {
    OP_ADD,      OP_SUB,  OP_MUL, OP_DIV, OP_MOD, OP_NEG,    OP_ABS,      OP_AND,
    OP_OR,       OP_XOR,  OP_SHL, OP_SHR, OP_LT,  OP_LE,     OP_GT,       OP_GE,
    OP_TOTAL_LE, OP_SIGN, OP_CLZ, OP_CTZ, OP_EQ,  OP_PARITY, OP_POPCOUNT, OP_COMPLEMENT};
#define COUNT_OF(list) (uint32_t)(sizeof(list) / sizeof *(list))

// Small, or near the ends of the type.
static scalar_bits draw_element(uint64_t *seed, scalar_type t) {
  scalar_bits x = {.u64 = draw_word(seed)};
  uint32_t kind = draw_below(seed, 4);
  if (t == SCALAR_BOOL)
    return (scalar_bits){.u64 = x.u64 & 1};
  if (kind == 0)
    return scalar_from_i64(t, (int64_t)(x.u64 % 40) - 8);
  if (kind == 1)
    return scalar_from_i64(t, (int64_t)(x.u64 % 4) - 2);
  if (kind == 2)
    x.u64 = (UINT64_C(1) << (8 * scalar_types[t].size - 1)) - 2 + x.u64 % 4;
  return x;
}

// A step of that type before the last; NO_STEP: there is none.
static value_id draw_step(const builder *b, uint64_t *seed, scalar_type t) {
  uint32_t count = (uint32_t)b->trace.steps.count, first = draw_below(seed, count);
  for (uint32_t i = 0; i < count; i++) {
    value_id id = (first + i) % count;
    if (step_of(b, id)->type == t && step_of(b, id)->rank == 0)
      return id;
  }
  return NO_STEP;
}

static void add_random_step(builder *b, uint64_t *seed) {
  scalar_type t = types[draw_below(seed, COUNT_OF(types))];
  value_id x = draw_step(b, seed, t), y = draw_step(b, seed, t),
           condition = draw_step(b, seed, SCALAR_BOOL);
  scalar_op op = operations[draw_below(seed, COUNT_OF(operations))];
  uint32_t kind = draw_below(seed, 8);
  if (kind == 0 || x == NO_STEP)
    add_constant(b, t, draw_element(seed, t));
  else if (kind == 1)
    add_convert(b, x, types[draw_below(seed, COUNT_OF(types))]);
  else if (kind == 2 && condition != NO_STEP && step_of(b, condition)->op == TRACE_SCALAR &&
           step_of(b, step_of(b, condition)->operands[0])->type == t) {  // of what it compares
    const trace_step *c = step_of(b, condition);
    value_id last = c->operands[c->operand_count - 1];
    add_select(b, condition, c->operands[0], draw_below(seed, 2) ? last : x);
    add_select(b, condition, draw_below(seed, 2) ? last : x, c->operands[0]);
  } else if (kind == 2 && condition != NO_STEP)
    add_select(b, condition, x, y);
  else if (kind == 3)
    add_instance(b, COUNT, 1 + draw_below(seed, COUNT));
  else if (scalar_ops[op].operands & CLASS_OF(t))
    scalar_ops[op].arity == 1 ? add_unary(b, op, x) : add_binary(b, op, x, y);
}

// Comparisons of one value with others, some of them joined, as conditions within each other.
static void add_random_conditions(builder *b, uint64_t *seed) {
  static const scalar_op comparisons[] = {OP_LT, OP_LE, OP_GT, OP_GE};
  scalar_type t = types[1 + draw_below(seed, COUNT_OF(types) - 1)];
  value_id x = draw_step(b, seed, t), found = x, before = NO_STEP;
  if (x == NO_STEP)
    return;
  for (uint32_t i = 2 + draw_below(seed, 4); i > 0; i--) {
    value_id limit = add_constant(b, t, draw_element(seed, t));
    scalar_op op = comparisons[draw_below(seed, COUNT_OF(comparisons))];
    bool turned = draw_below(seed, 2), all = draw_below(seed, 2);
    value_id condition = turned ? add_binary(b, op, limit, x) : add_binary(b, op, x, limit);
    if (draw_below(seed, 3) == 0)
      condition = add_unary(b, OP_COMPLEMENT, condition);
    if (before != NO_STEP && draw_below(seed, 2)) {
      value_id known = add_constant(b, SCALAR_BOOL, (scalar_bits){.u64 = !all});
      condition =
          all ? add_select(b, before, condition, known) : add_select(b, before, known, condition);
    }
    if (draw_below(seed, 3) == 0)
      found = add_binary(b, draw_below(seed, 2) ? OP_ADD : OP_SUB, found, limit);
    found = draw_below(seed, 2) ? add_select(b, condition, found, limit)
                                : add_select(b, condition, limit, found);
    before = condition;
  }
}

static bool is_inside(number_range r, scalar_type t, const void *element) {
  scalar_bits x = {{0}};
  memcpy(&x, element, scalar_types[t].size);
  if (t == SCALAR_U64 && x.u64 > INT64_MAX)
    return r.most == INT64_MAX;
  int64_t value = t == SCALAR_I8 ? x.i8 : t == SCALAR_I16 ? x.i16 : t == SCALAR_I32 ? x.i32 : x.i64;
  return r.least <= value && value <= r.most;
}

TEST(random_traces) {
  uint64_t amount = test_amount(400, 40000), bounded = 0;
  for (uint64_t seed = 1; seed <= amount; seed++) {
    builder b;
    builder_start(&b);
    uint64_t state = seed, length = COUNT;
    array arguments[COUNT_OF(types)], results[8 * STEPS] = {{0}};
    for (uint32_t i = 0; i < COUNT_OF(types); i++) {
      REQUIRE(array_create(&arguments[i], types[i], 1, &length));
      size_t size = scalar_types[types[i]].size;
      for (uint32_t k = 0; k < COUNT; k++) {
        scalar_bits x = draw_element(&state, types[i]);
        memcpy((char *)arguments[i].data + k * size, &x, size);
      }
      add_reshape(&b, add_argument(&b, i, types[i], 1, &length), COUNT, 0, NULL);
    }
    for (int i = 0; i < STEPS; i++)
      add_random_step(&b, &state);
    add_random_conditions(&b, &state);
    size_t steps = b.trace.steps.count;
    for (size_t i = 0; i < steps && b.trace.results.count < 8 * STEPS; i++)
      if (step_of(&b, (value_id)i)->rank == 0)
        add_result(&b, add_reshape(&b, (value_id)i, 1, 1, &step_of(&b, (value_id)i)->batch));
    number_range *ranges = NEW_ARRAY(&b.memory, number_range, b.trace.steps.count);
    trace_find_ranges(&b.trace, 0, NULL, ranges);
    error failure;
    REQUIRE(
        CHECK_STR(trace_verify(&b.memory, &b.trace), NULL) &&
        CHECK(interp_run(&b.trace, arguments, COUNT_OF(types), results, false, NULL, &failure)));
    arrays_destroy(arguments, COUNT_OF(types));
    for (size_t i = 0; i < b.trace.results.count; i++) {
      number_range r = ranges[b.trace.results.items[i]];
      bounded += r.least >= 0 && r.most < 1 << 10;
      for (uint64_t k = 0; k < results[i].dims[0]; k++)
        if (!CHECK(is_inside(r, results[i].type,
                             (char *)results[i].data + k * scalar_types[results[i].type].size)))
          printf("seed %llu, result %zu\n", (unsigned long long)seed, i);
      array_destroy(&results[i]);
    }
    builder_free(&b);
  }
  CHECK(bounded > 5 * amount);  // else this would say nothing
}

// Which programs check their keys, or places, in each run.
TEST(checks) {
  static const struct {
    const char *expression, *types;
    bool checks;
  } rows[] = {
      {"histogram 8 id", "[100]u8", false},
      {"histogram 8 int", "[100]u8", false},
      {"histogram 7 id", "[100]u8", true},
      {"histogram 8 id", "[100]i8", true},
      {"histogram 1 int", "[100]bool", false},
      {"histogram 8 (\\x -> x >> 24)", "[100]u32", false},
      {"histogram 8 (\\x -> x >> 23)", "[100]u32", true},
      {"histogram 8 (\\x -> x >> 56)", "[100]u64", false},
      {"histogram 4 (\\x -> x % 16)", "[100]i64", false},
      {"histogram 4 (\\x -> x % 17)", "[100]i64", true},
      {"histogram 4 (\\x -> x & 15)", "[100]i32", false},
      {"histogram 4 (\\x -> max 0 (min x 15))", "[100]i32", false},
      {"histogram 4 (\\x -> min x 15)", "[100]i32", true},
      {"histogram 4 (\\x -> if x < 16 then x else 3)", "[100]u32", false},
      {"histogram 4 (\\x -> if x <= 16 then x else 3)", "[100]u32", true},
      {"histogram 4 (\\x -> if x < 0 then 0 else if x > 15 then 15 else x)", "[100]i32", false},
      {"histogram 4 (\\x -> if x < 0 then 0 else if x > 16 then 15 else x)", "[100]i32", true},
      {"histogram 4 (\\x -> if x < 16 && x >= 0 then x else 0)", "[100]i32", false},
      {"histogram 4 (\\x -> if x < 16 || x >= 0 then x else 0)", "[100]i32", true},
      {"histogram 4 (\\x -> if not (x < 0 || x > 15) then x else 0)", "[100]i32", false},
      {"histogram 4 (\\x -> if x >= 8 && x < 24 then int x - 8 else 0)", "[100]i32", false},
      {"histogram 4 (\\x -> if x >= 8 && x < 25 then int x - 8 else 0)", "[100]i32", true},
      {"bucket 4 (\\x -> x / 16)", "[100]u8", false},
      {"\\xs -> gather (map (% 10) xs) (iota 10)", "[100]u32", false},
      {"\\xs -> gather (map (% 11) xs) (iota 10)", "[100]u32", true},
      {"gather [3, 2, 1]", "[10]f32", false},
      {"gather [3, 2, 10]", "[10]f32", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    permc_context *c = load_expression(rows[i].expression);
    permc_explain_options o = {.types = rows[i].types, .dump = "trace"};
    char *shown = NULL;
    CHECK(permc_explain(c, "-e", NULL, 0, &o, &shown));
    if (!CHECK(shown && (strstr(shown, "wrong %") != NULL) == rows[i].checks))
      printf("%s of %s:\n%s%s\n", rows[i].expression, rows[i].types, shown ? shown : "",
             permc_message(c));
    free(shown);
    permc_context_free(c);
  }
}

TEST_MAIN()
