// trace_verify accepts what is right and names what is wrong; trace_print draws the picture of
// trace.h.
#include "tests/test.h"

#include "tests/unit/trace_builder.h"

static const uint64_t four[1] = {4};

// parm 1 (column 1 cswap) on [4]i32: the worked example of trace.h.
static void build_picture(builder *b) {
  builder_start(b);
  value_id halves = add_move(b, TRACE_SPLIT, add_argument(b, 0, SCALAR_I32, 1, four), 1);
  value_id pairs = add_move(b, TRACE_PAIR, halves, 1);
  value_id x = add_move(b, TRACE_ELEMENT, pairs, 0), y = add_move(b, TRACE_ELEMENT, pairs, 1);
  value_id order = add_binary(b, OP_LE, x, y);
  value_id sorted[2] = {add_select(b, order, x, y), 0};
  sorted[1] = add_select(b, order, y, x);
  value_id joined = add_unpair(b, add_pack(b, sorted, 2), 2, 1);
  add_result(b, add_move(b, TRACE_STITCH, joined, 1));
}

TEST(picture) {
  builder b;
  build_picture(&b);
  CHECK_STR(trace_verify(&b.memory, &b.trace), NULL);
  text printed = {0};
  trace_print(&printed, &b.trace);
  CHECK_STR(printed.data, "%0    argument 0                       1  [4]i32\n"
                          "%1    split %0 m=1                     2  [2]i32\n"
                          "%2    pair %1 m=1                      2  [2]i32\n"
                          "%3    element %2 [0]                   2  i32\n"
                          "%4    element %2 [1]                   2  i32\n"
                          "%5    scalar <= %3 %4                  2  bool\n"
                          "%6    select %5 %3 %4                  2  i32\n"
                          "%7    select %5 %4 %3                  2  i32\n"
                          "%8    pack %6 %7                       2  [2]i32\n"
                          "%9    unpair %8 m=1                    2  [2]i32\n"
                          "%10   stitch %9 m=1                    1  [4]i32\n"
                          "results %10\n");
  text_free(&printed);
  builder_free(&b);
}

// Elements keep their origin where they are moved or chosen, beside constants.
TEST(origins) {
  builder b;
  builder_start(&b);
  value_id x = add_argument(&b, 0, SCALAR_I32, 0, NULL),
           y = add_argument(&b, 7, SCALAR_I32, 0, NULL);
  value_id zero = add_constant(&b, SCALAR_I32, (scalar_bits){.i32 = 0});
  value_id less = add_binary(&b, OP_LT, x, y);
  value_id results[] = {y,
                        zero,
                        add_select(&b, less, y, zero),
                        add_select(&b, less, zero, x),
                        add_select(&b, less, x, y),
                        add_pack(&b, (value_id[]){zero, y, y}, 3),
                        add_pack(&b, (value_id[]){y, zero, x}, 3),
                        add_binary(&b, OP_ADD, x, zero),
                        add_convert(&b, x, SCALAR_I64),
                        less};
  static const uint32_t expected[] = {7,
                                      TRACE_COMPUTED,
                                      7,
                                      0,
                                      TRACE_COMPUTED,
                                      7,
                                      TRACE_COMPUTED,
                                      TRACE_COMPUTED,
                                      TRACE_COMPUTED,
                                      TRACE_COMPUTED};
  enum { COUNT = sizeof results / sizeof *results };
  uint32_t origins[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    add_result(&b, results[i]);
  CHECK(trace_find_origins(&b.trace, origins));
  for (size_t i = 0; i < COUNT; i++)
    CHECK_EQ_U64(origins[i], expected[i]);
  builder_free(&b);
}

// Every operation in one trace.
static void build_everything(builder *b) {
  builder_start(b);
  value_id xs = add_argument(b, 0, SCALAR_F32, 2, (uint64_t[]){4, 3});
  value_id moved = add_bmmc(b, xs, (uint64_t[]){2, 1}, 3);
  value_id turned = add_move(b, TRACE_TRANSPOSE, add_concat(b, xs, moved), 0);
  value_id part = add_slice(b, turned, 1, 2);
  value_id flat = add_reshape(b, part, 16, 0, NULL);
  value_id half = add_constant(b, SCALAR_F32, (scalar_bits){.f32 = 0.5f});
  value_id one = add_constant(b, SCALAR_C64, (scalar_bits){.c64 = {1, -2}});
  value_id yes = add_constant(b, SCALAR_BOOL, (scalar_bits){.b = true});
  value_id index = add_convert(b, add_instance(b, 16, 8), SCALAR_F32);
  value_id sum = add_binary(b, OP_ADD, add_binary(b, OP_MUL, flat, half), index);
  value_id chosen = add_select(b, yes, sum, add_broadcast(b, half, 16));
  scalar_type *parameters = NEW_ARRAY(&b->memory, scalar_type, 1);
  *parameters = SCALAR_F32;
  vec_push(&b->memory, &b->trace.externs,
           ((c_function){"m", "cosf", 1, parameters, SCALAR_F32, NULL}));
  trace_step call = {.op = TRACE_EXTERN, .type = SCALAR_F32, .batch = 16};
  add_result(b, add_reshape(b, add_step(b, call, &chosen, 1, NULL), 1, 1, (uint64_t[]){16}));
  add_result(b, add_replicate(b, one, 5));
  add_result(b, add_iota(b, 7));
  static const int16_t table[] = {1, -2, 3, 4, 5};
  value_id places = add_table(b, 0, SCALAR_I16, 5, table);
  add_result(b, places);
  add_result(b, add_scatter(b, places, add_gather(b, places, xs), xs));
  add_result(b, add_keyed(b, TRACE_PLACES, places, OP_GE, 0));
  add_result(b, add_keyed(b, TRACE_COUNT, places, OP_LE, 8));
  add_result(b, add_keyed(b, TRACE_WRONG, places, OP_NE, 8));
  value_id first = add_constant(b, SCALAR_I64, (scalar_bits){.i64 = 1});
  value_id end = add_constant(b, SCALAR_I64, (scalar_bits){.i64 = 3});
  trace_step fold = {.op = TRACE_FOLD, .type = SCALAR_F32, .scalar = OP_MUL, .batch = 16};
  value_id row = add_reshape(b, add_move(b, TRACE_TRANSPOSE, xs, 0), 1, 1, (uint64_t[]){12});
  add_result(b, add_reshape(b, add_step(b, fold, (value_id[]){first, end, chosen, row}, 4, NULL), 1,
                            1, (uint64_t[]){16}));
  add_root(b, add_instance(b, 4, 4), SCALAR_C64, 4);
}

TEST(every_operation) {
  builder b;
  build_everything(&b);
  CHECK_STR(trace_verify(&b.memory, &b.trace), NULL);
  text printed = {0};
  trace_print(&printed, &b.trace);
  CHECK_CONTAINS(printed.data, "bmmc %0 [2 1] 3");
  CHECK_CONTAINS(printed.data, "constant 0.5 ");
  CHECK_CONTAINS(printed.data, "constant 1-2i ");
  CHECK_CONTAINS(printed.data, "constant true ");
  CHECK_CONTAINS(printed.data, "instance mod 8 ");
  CHECK_CONTAINS(printed.data, " of 4 ");
  CHECK_CONTAINS(printed.data, "slice %3 [1...] ");
  CHECK_CONTAINS(printed.data, "extern cosf %");
  CHECK_CONTAINS(printed.data, "scalar * %5 %6");
  CHECK_CONTAINS(printed.data, " * ");
  CHECK_CONTAINS(printed.data, "table 0: 1 -2 3 4 ... ");
  text_free(&printed);
  builder_free(&b);
}

TEST(constants) {
  static const struct {
    scalar_type type;
    scalar_bits bits;
    const char *text;
  } rows[] = {
      {SCALAR_BOOL, {.b = false}, " false "},
      {SCALAR_I8, {.i8 = -8}, " -8 "},
      {SCALAR_I16, {.i16 = -16}, " -16 "},
      {SCALAR_I32, {.i32 = -32}, " -32 "},
      {SCALAR_I64, {.i64 = INT64_MIN}, " -9223372036854775808 "},
      {SCALAR_U8, {.u8 = 255}, " 255 "},
      {SCALAR_U16, {.u16 = 65535}, " 65535 "},
      {SCALAR_U32, {.u32 = UINT32_MAX}, " 4294967295 "},
      {SCALAR_U64, {.u64 = UINT64_MAX}, " 18446744073709551615 "},
      {SCALAR_F64, {.f64 = 0.1}, " 0.10000000000000001 "},
      {SCALAR_C128, {.c128 = {0.5, 2}}, " 0.5+2i "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    builder b;
    builder_start(&b);
    add_constant(&b, rows[i].type, rows[i].bits);
    text printed = {0};
    trace_print(&printed, &b.trace);
    CHECK_CONTAINS(printed.data, rows[i].text);
    text_free(&printed);
    builder_free(&b);
  }
}

TEST(operation_names) {
  CHECK_STR(trace_op_names[TRACE_ARGUMENT], "argument");
  CHECK_STR(trace_op_names[TRACE_REPLICATE], "replicate");
  for (int i = 0; i < TRACE_OP_COUNT; i++)
    CHECK(trace_op_names[i] != NULL);
}

// ---- what is wrong ------------------------------------------------------------------------------

// The operation's step in the trace of every operation; breaks one thing, checks the sentence.
#define WRONG(operation, sentence, ...)                                                            \
  do {                                                                                             \
    builder b;                                                                                     \
    build_everything(&b);                                                                          \
    add_rest(&b);                                                                                  \
    trace_step *s = find(&b, TRACE_##operation);                                                   \
    __VA_ARGS__;                                                                                   \
    CHECK_CONTAINS(trace_verify(&b.memory, &b.trace), sentence);                                   \
    builder_free(&b);                                                                              \
  } while (0)

static void add_rest(builder *b) {
  value_id xs = add_argument(b, 1, SCALAR_I32, 2, (uint64_t[]){8, 3});
  add_move(b, TRACE_STITCH, add_move(b, TRACE_SPLIT, xs, 5), 5);
  value_id pairs = add_move(b, TRACE_PAIR, xs, 6);
  add_unpair(b, pairs, 8, 6);
  value_id x = add_move(b, TRACE_ELEMENT, pairs, 1);
  add_pack(b, (value_id[]){x, x, x}, 3);
  add_constant(b, SCALAR_I64, (scalar_bits){.i64 = 1});
}

static trace_step *find(builder *b, trace_op op) {
  size_t i = b->trace.steps.count;
  while (i-- > 0)
    if (b->trace.steps.items[i].op == op)
      return &b->trace.steps.items[i];
  return NULL;
}

TEST(nothing_wrong) {
  builder b;
  build_everything(&b);
  add_rest(&b);
  CHECK_STR(trace_verify(&b.memory, &b.trace), NULL);
  builder_free(&b);
}

TEST(wrong_in_general) {
  WRONG(SLICE, "no such operation", s->op = TRACE_OP_COUNT);
  WRONG(SLICE, "no such element type", s->type = SCALAR_COUNT);
  WRONG(SLICE, "(slice): it has 0 operands, not 1", s->operand_count = 0);
  WRONG(SLICE, "does not precede", s->operands[0] = 1000);
  WRONG(SLICE, "does not precede", s->operands[0] = (value_id)(s - b.trace.steps.items));
  WRONG(SLICE, "is f32, not i32", s->type = SCALAR_I32);
  WRONG(TABLE, "it has no elements", s->table = NULL);
  WRONG(TABLE, "the batch is not 1", s->batch = 2);
  WRONG(IOTA, "size of the result overflows", s->dims[0] = (uint64_t)1 << 61);
  WRONG(IOTA, "size of the result overflows", s->batch = UINT64_MAX);
  WRONG(IOTA, "there is no step %99", b.trace.results.items[0] = 99, (void)s);
  WRONG(PAIR, "the batch of %", b.trace.results.items[0] = (value_id)(s - b.trace.steps.items));
}

TEST(wrong_scalars) {
  WRONG(ARGUMENT, "batch is not 1", s->batch = 2);
  WRONG(CONSTANT, "not one scalar", s->batch = 2);
  WRONG(SCALAR, "no such scalar operation", s->scalar = SCALAR_OP_COUNT);
  WRONG(SCALAR, "takes 2 operands", s->operand_count = 1);
  WRONG(SCALAR, "has no meaning for f32", s->scalar = OP_XOR);
  WRONG(SCALAR, "is f32, not i64", s->scalar = OP_POWI);
  WRONG(SCALAR, "< of f32 does not give f32", s->scalar = OP_LT);
  WRONG(SCALAR, "does not divide", s->batch = 24);
  WRONG(SCALAR, "rank 2, not 0", s->operands[0] = 0);
  WRONG(SCALAR, "the result's rank is not 0", s->rank = 1);
  WRONG(SELECT, "operand 0 is f32, not bool", s->operands[0] = s->operands[1]);
  WRONG(SELECT, "operand 2 is bool, not f32", s->operands[2] = s->operands[0]);
  WRONG(CONVERT, "no conversion to a real type", s->operands[0] = 7);
  WRONG(EXTERN, "no such foreign function", s->number = 1);
  WRONG(EXTERN, "cosf takes 1 operands", s->operand_count = 0);
  WRONG(EXTERN, "cosf gives f32", s->type = SCALAR_F64);
  WRONG(EXTERN, "is c64, not f32", s->operands[0] = 7);
  WRONG(ROOT, "order of the root is not positive", s->number = 0);
  WRONG(ROOT, "a complex number of an i64", s->type = SCALAR_F64);
  WRONG(ROOT, "a complex number of an i64", s->operands[0] = 7);
  WRONG(INSTANCE, "the modulus is 0", s->number = 0);
  WRONG(INSTANCE, "not an i64", s->type = SCALAR_I32);
}

TEST(wrong_moves) {
  WRONG(BROADCAST, "the shape changes", s->rank = 1);
  WRONG(RESHAPE, "16 elements become 15", s->dims[0] = 15);
  WRONG(SPLIT, "the mask 8 is not in 1 ... 7", s->number = 8);
  WRONG(SPLIT, "the mask 0 is not in 1 ... 7", s->number = 0);
  WRONG(SPLIT, "the parts have 3 elements", s->dims[0] = 3);
  WRONG(SPLIT, "the trailing dimensions differ", s->dims[1] = 4);
  WRONG(SPLIT, "batch 1 does not become 4", s->batch = 4);
  WRONG(SPLIT, "ranks", s->rank = 1);
  WRONG(STITCH, "6 is not a power of two", s->dims[0] = 6);
  WRONG(STITCH, "batch 2 does not become 2", s->batch = 2);
  WRONG(PAIR, "the parts have 4 elements", s->dims[0] = 4);
  WRONG(PAIR, "batch 1 does not become 3", s->batch = 3);
  WRONG(UNPAIR, "the mask 9", s->number = 9);
  WRONG(BMMC, "row 1 is a sum of earlier rows", s->rows[1] = 2);
  WRONG(BMMC, "row 0 is a sum of earlier rows", s->rows[0] = 0);
  WRONG(BMMC, "row 0, 4, is not below 4", s->rows[0] = 4);
  WRONG(BMMC, "it has no rows", s->rows = NULL);
  WRONG(BMMC, "the constant 4 is not below 4", s->number = 4);
  WRONG(BMMC, "4 elements become 8", s->dims[0] = 8);
  WRONG(ELEMENT, "element 2 of 2", s->number = 2);
  WRONG(ELEMENT, "shape of the operand's elements", s->dims[0] = 4);
  WRONG(PACK, "does not hold 3 elements", s->dims[0] = 4);
  WRONG(PACK, "operand 0 does not have the shape", s->dims[1] = 2);
  WRONG(TRANSPOSE, "two outermost dimensions swapped", s->dims[0] = 4);
  WRONG(SLICE, "2 elements from 2 on, of 3", s->number = 2);
  WRONG(SLICE, "from 18446744073709551615 on", s->number = UINT64_MAX);
  WRONG(CONCAT, "not the sum", s->dims[0] = 9);
  WRONG(CONCAT, "the trailing dimensions differ", s->dims[1] = 2);
  WRONG(IOTA, "not one array of i64", s->type = SCALAR_I32);
  WRONG(REPLICATE, "do not have the operand's shape", s->rank = 2, s->dims = (uint64_t[]){5, 1});
}

// Sizes at which a uint64_t or a shift would overflow, and zero sizes.
TEST(extreme_sizes) {
  builder b;
  builder_start(&b);
  uint64_t rows[62], big[1] = {(uint64_t)1 << 62};
  for (int i = 0; i < 62; i++)
    rows[i] = (uint64_t)1 << (61 - i);
  value_id xs = add_argument(&b, 0, SCALAR_U8, 1, big);
  add_bmmc(&b, xs, rows, 5);
  add_move(&b, TRACE_PAIR, xs, big[0] - 1);
  value_id none =
      add_argument(&b, 1, SCALAR_C128, 3, (uint64_t[]){(uint64_t)1 << 62, 0, (uint64_t)1 << 63});
  add_move(&b, TRACE_SPLIT, none, 3);
  value_id zero = add_reshape(&b, none, 0, 1, four);
  add_unpair(&b, add_move(&b, TRACE_PAIR, zero, 3), 4, 3);
  add_binary(&b, OP_ADD, add_instance(&b, 0, 0),
             add_constant(&b, SCALAR_I64, (scalar_bits){.i64 = 1}));
  CHECK_STR(trace_verify(&b.memory, &b.trace), NULL);
  builder_free(&b);
}

TEST_MAIN()
