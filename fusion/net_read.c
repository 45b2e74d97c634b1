// Nets from text: the form of net_print.c. A line is blank, a comment (#), or one thing; nothing
// here checks more than that the text can be kept as a Net (net_verify does the rest).
#include "fusion/net.h"

#include <ctype.h>
#include <inttypes.h>

// Numbers in a text that are larger are mistakes, not to be answered with memory.
enum { MOST_NUMBERED = 1 << 20, MOST_DIRECTIONS = 20 };

#define NOT_GIVEN (NET_NONE - 1)  // an element of which no line has spoken yet

typedef struct reader {
  arena *memory;
  net *net;
  const char *at;  // what is left of the text
  size_t line;
  const char *wrong;
  jmp_buf stop;
  net_stage *stage;  // the last one, NULL before it
  net_op *op;        // being read; its outputs are below
  VEC(net_output) outputs;
  VEC(net_id) names;  // the nodes t0, t1, ... of the op
} reader;

// ---- words and numbers -----------------------------------------------------------------------

NORETURN PRINTF_LIKE(2, 3) static void fail(reader *r, const char *format, ...) {
  text message = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&message, format, arguments);
  va_end(arguments);
  // The arena may jump away: then the text's memory is lost with everything else.
  r->wrong = arena_printf(r->memory, "line %zu: %s", r->line, message.data ? message.data : "");
  text_free(&message);
  longjmp(r->stop, 1);
}

static void skip(reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
    r->at++;
  if (*r->at == '#')
    r->at += strcspn(r->at, "\n");
}

static bool at_end(reader *r) {
  skip(r);
  return *r->at == '\n' || *r->at == 0;
}

static bool literal(reader *r, const char *token) {
  skip(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0)
    return false;
  r->at += length;
  return true;
}

// A word as a whole: up to a blank or the end.
static size_t word_length(const char *at) { return strcspn(at, " \t\r\n#"); }

static bool word(reader *r, const char *expected) {
  skip(r);
  size_t length = strlen(expected);
  if (word_length(r->at) != length || strncmp(r->at, expected, length) != 0)
    return false;
  r->at += length;
  return true;
}

static void expect(reader *r, const char *token) {
  if (!literal(r, token))
    fail(r, "expected `%s`, found `%.*s`", token, (int)strcspn(r->at, "\n"), r->at);
}

static uint64_t number(reader *r) {
  uint64_t value = 0;
  skip(r);
  int base = 10;
  if (r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'b')) {
    base = r->at[1] == 'x' ? 16 : 2;
    r->at += 2;
  }
  const char *start = r->at;
  for (;; r->at++) {
    char c = *r->at;
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
    if (digit >= base)
      break;
    if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
        __builtin_add_overflow(value, (uint64_t)digit, &value))
      fail(r, "a number is too large");
  }
  if (r->at == start)
    fail(r, "expected a number, found `%.*s`", (int)strcspn(r->at, "\n"), r->at);
  return value;
}

static uint32_t small_number(reader *r) {
  uint64_t value = number(r);
  if (value >= MOST_NUMBERED)
    fail(r, "the number %" PRIu64 " is too large", value);
  return (uint32_t)value;
}

static scalar_type type_name(reader *r) {
  skip(r);
  size_t length = strcspn(r->at, " \t\r\n#:");
  scalar_type type = scalar_named(r->at, length);
  if (type == SCALAR_COUNT)
    fail(r, "there is no element type `%.*s`", (int)length, r->at);
  r->at += length;
  return type;
}

// ---- forms and maps --------------------------------------------------------------------------

static int index_bit(reader *r) {
  uint64_t bit = number(r);
  if (bit >= F2_MAX)
    fail(r, "there is no index bit x%" PRIu64, bit);
  return (int)bit;
}

static net_form form(reader *r) {
  net_form f = {0, false};
  do {
    if (literal(r, "x"))
      f.mask ^= f2_unit(index_bit(r));
    else if (literal(r, "1"))
      f.constant ^= true;
    else
      expect(r, "0");
  } while (literal(r, "^"));
  return f;
}

typedef VEC(net_form) forms;

static bool form_follows(reader *r) {
  skip(r);
  return (r->at[0] == 'x' && isdigit((unsigned char)r->at[1])) || r->at[0] == '0' ||
         r->at[0] == '1';
}

static uint32_t form_list(reader *r, net_form **out) {
  forms list = {0};
  while (form_follows(r))
    vec_push(r->memory, &list, form(r));
  *out = list.items;
  return (uint32_t)list.count;
}

typedef struct map_reader {
  net_map map;
  VEC(net_row) rows;
} map_reader;

static int64_t signed_weight(reader *r, bool negative, uint64_t magnitude) {
  if (magnitude > (uint64_t)INT64_MAX + negative)
    fail(r, "the weight %" PRIu64 " is too large", magnitude);
  return negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
}

static void add(reader *r, int64_t *sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum))
    fail(r, "a number of the map is too large");
}

// [number *] (oN | xN | (form)) | number
static void map_term(reader *r, map_reader *m, bool negative) {
  uint64_t magnitude = 1;
  skip(r);
  if (isdigit((unsigned char)*r->at)) {
    magnitude = number(r);
    if (!literal(r, "*")) {
      add(r, &m->map.offset, signed_weight(r, negative, magnitude));
      return;
    }
  }
  int64_t weight = signed_weight(r, negative, magnitude);
  if (literal(r, "o")) {
    uint64_t loop = number(r);
    if (loop >= m->map.loop_count)
      fail(r, "there is no loop o%" PRIu64, loop);
    add(r, &m->map.strides[loop], weight);
  } else if (literal(r, "(")) {
    vec_push(r->memory, &m->rows, ((net_row){form(r), weight}));
    expect(r, ")");
  } else {
    expect(r, "x");
    net_form bit = {f2_unit(index_bit(r)), false};
    vec_push(r->memory, &m->rows, ((net_row){bit, weight}));
  }
}

static net_map map(reader *r) {
  map_reader m = {.map.loop_count = r->stage->loop_count};
  m.map.strides = NEW_ARRAY(r->memory, int64_t, m.map.loop_count);
  bool negative = literal(r, "-");
  for (bool more = true; more;) {
    map_term(r, &m, negative);
    bool plus = literal(r, "+");
    negative = !plus && literal(r, "-");
    more = plus || negative;
  }
  m.map.rows = m.rows.items;
  m.map.row_count = (uint32_t)m.rows.count;
  return m.map;
}

// ---- constants -------------------------------------------------------------------------------

static double real(reader *r, bool narrow) {
  c_locale locale;
  char *end = NULL;
  if (!c_locale_enter(&locale))
    fail(r, "memory is out");
  double value = narrow ? (double)strtof(r->at, &end) : strtod(r->at, &end);
  c_locale_leave(&locale);
  if (end == r->at)
    fail(r, "expected a number, found `%.*s`", (int)strcspn(r->at, "\n"), r->at);
  r->at = end;
  return value;
}

// 0x before digits: its bits, as they are written for a NaN.
static void read_f32(reader *r, float *out) {
  if (r->at[0] == '0' && r->at[1] == 'x') {
    uint32_t bits = (uint32_t)number(r);
    memcpy(out, &bits, sizeof bits);
  } else {
    *out = (float)real(r, true);
  }
}

static void read_f64(reader *r, double *out) {
  if (r->at[0] == '0' && r->at[1] == 'x') {
    uint64_t bits = number(r);
    memcpy(out, &bits, sizeof bits);
  } else {
    *out = real(r, false);
  }
}

static void read_integer(reader *r, scalar_type type, scalar_bits *out) {
  bool negative = literal(r, "-");
  uint64_t magnitude = number(r);
  if (!scalar_holds(type, negative, magnitude))
    fail(r, "%s%" PRIu64 " is no %s", negative ? "-" : "", magnitude, scalar_types[type].name);
  *out = scalar_from_i64(type, (int64_t)(negative ? 0 - magnitude : magnitude));
}

static scalar_bits constant(reader *r, scalar_type type) {
  scalar_bits bits = {{0}};
  expect(r, ":");
  switch (type) {
  case SCALAR_BOOL:
    bits.b = literal(r, "true");
    if (!bits.b)
      expect(r, "false");
    break;
  case SCALAR_F32:
    read_f32(r, &bits.f32);
    break;
  case SCALAR_F64:
    read_f64(r, &bits.f64);
    break;
  case SCALAR_C64:
    read_f32(r, &bits.c64[0]);
    expect(r, ",");
    read_f32(r, &bits.c64[1]);
    break;
  case SCALAR_C128:
    read_f64(r, &bits.c128[0]);
    expect(r, ",");
    read_f64(r, &bits.c128[1]);
    break;
  default:
    read_integer(r, type, &bits);
  }
  return bits;
}

// ---- nodes -----------------------------------------------------------------------------------

static bool numbered(reader *r, char letter) {
  skip(r);
  if (r->at[0] != letter || !isdigit((unsigned char)r->at[1]))
    return false;
  r->at++;
  return true;
}

static net_id value_number(reader *r) {
  expect(r, "v");
  return small_number(r);
}

// Values are typed by what defines them.
static void define(reader *r, net_id value, scalar_type type) {
  while (r->stage->values.count <= value)
    net_value_add(r->memory, r->stage, SCALAR_COUNT);
  if (r->stage->values.items[value] != SCALAR_COUNT)
    fail(r, "v%" PRIu32 " is defined before", value);
  r->stage->values.items[value] = type;
}

static net_id leaf(reader *r) {
  net_node node = {.kind = NET_LEAF, .value = small_number(r)};
  expect(r, "[");
  node.number = number(r);
  expect(r, "]");
  if (node.value >= r->stage->values.count || r->stage->values.items[node.value] == SCALAR_COUNT)
    fail(r, "v%" PRIu32 " is not defined before", node.value);
  node.type = r->stage->values.items[node.value];
  return net_node_add(r->memory, r->stage, &node);
}

static net_id operand(reader *r) {
  if (numbered(r, 't')) {
    uint64_t name = number(r);
    if (name >= r->names.count)
      fail(r, "t%" PRIu64 " is not defined before", name);
    return r->names.items[name];
  }
  if (numbered(r, 'v'))
    return leaf(r);
  net_node node = {.kind = NET_CONSTANT, .type = type_name(r)};
  node.constant = constant(r, node.type);
  return net_node_add(r->memory, r->stage, &node);
}

static scalar_type node_type(const reader *r, net_id id) { return r->stage->nodes.items[id].type; }

static const struct {
  const char *name;
  net_node_kind kind;
  int operands;
} words[] = {
    {"min", NET_MIN, 2},         {"max", NET_MAX, 2},   {"select", NET_SELECT, 3},
    {"convert", NET_CONVERT, 1}, {"root", NET_ROOT, 1}, {"extern", NET_EXTERN, -1},
};
enum { WORDS = sizeof words / sizeof *words };

// The word at the start of an inner node; how many operands follow, -1: to the end of the line.
// *typed: the type is written, or else comes from the operands.
static int head(reader *r, net_node *node, bool *typed) {
  for (int i = 0; i < WORDS; i++)
    if (word(r, words[i].name)) {
      node->kind = words[i].kind;
      if (node->kind == NET_EXTERN) {
        expect(r, "e");
        node->number = number(r);
      }
      *typed = node->kind >= NET_CONVERT;
      if (*typed)
        node->type = type_name(r);
      if (node->kind == NET_ROOT)
        node->number = number(r);
      return words[i].operands;
    }
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
    if (word(r, scalar_ops[op].name)) {
      *node = (net_node){.kind = NET_SCALAR, .scalar = op};
      return scalar_ops[op].arity;
    }
  fail(r, "there is no operation `%.*s`", (int)word_length(r->at), r->at);
}

static net_id inner_node(reader *r) {
  net_node node = {0};
  VEC(net_id) operands = {0};
  bool typed = false;
  int expected = head(r, &node, &typed);
  while (expected < 0 ? !at_end(r) : (int)operands.count < expected)
    vec_push(r->memory, &operands, operand(r));
  node.operand_count = (uint32_t)operands.count;
  node.operands = operands.items;
  if (!typed) {
    scalar_type type = node_type(r, operands.items[node.kind == NET_SELECT ? 1 : 0]);
    node.type = node.kind == NET_SCALAR ? scalar_result_of(node.scalar, type) : type;
    if (node.type == SCALAR_COUNT)
      fail(r, "%s has no meaning for %s", scalar_ops[node.scalar].name, scalar_types[type].name);
  }
  return net_node_add(r->memory, r->stage, &node);
}

static bool operand_follows(reader *r) {
  skip(r);
  size_t length = word_length(r->at);
  return memchr(r->at, ':', length) != NULL || memchr(r->at, '[', length) != NULL ||
         (r->at[0] == 't' && isdigit((unsigned char)r->at[1]));
}

static net_id node(reader *r) {
  if (operand_follows(r))
    return operand(r);
  if (!word(r, "index"))
    return inner_node(r);
  net_node index = {.kind = NET_INDEX, .type = SCALAR_I64, .map = map(r)};
  return net_node_add(r->memory, r->stage, &index);
}

// ---- ops -------------------------------------------------------------------------------------

static void op_end(reader *r) {
  if (!r->op)
    return;
  for (size_t i = 0; i < r->outputs.count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << r->op->k; j++)
      if (r->outputs.items[i].elements[j] == NOT_GIVEN)
        fail(r, "before this line, v%" PRIu32 "[%" PRIu64 "] is missing", r->outputs.items[i].value,
             j);
  r->op->outputs = r->outputs.items;
  r->op->output_count = (uint32_t)r->outputs.count;
  vec_push(r->memory, &r->stage->ops, *r->op);
  r->op = NULL;
}

static void op_start(reader *r) {
  VEC(uint64_t) directions = {0};
  op_end(r);
  net_op *op = r->op = NEW(r->memory, net_op);
  r->outputs.items = NULL;
  r->outputs.count = r->outputs.capacity = r->names.count = 0;
  if (literal(r, "directions"))
    for (skip(r); isdigit((unsigned char)*r->at); skip(r))
      vec_push(r->memory, &directions, number(r));
  op->directions = directions.items;
  op->k = (uint32_t)directions.count;
  if (op->k > MOST_DIRECTIONS)
    fail(r, "%" PRIu32 " directions are too many", op->k);
  uint32_t coordinates = literal(r, "coordinates") ? form_list(r, &op->coordinates) : 0;
  if (coordinates != op->k)
    fail(r, "%" PRIu32 " directions have %" PRIu32 " coordinates", op->k, coordinates);
  if (literal(r, "live"))
    op->live_count = form_list(r, &op->live);
  if (literal(r, "step"))
    op->origin = (uint32_t)(number(r) & UINT32_MAX);
}

static net_output *output_of(reader *r, net_id value) {
  for (size_t i = r->outputs.count; i-- > 0;)
    if (r->outputs.items[i].value == value)
      return &r->outputs.items[i];
  net_output output = {value, NEW_ARRAY(r->memory, net_id, UINT64_C(1) << r->op->k)};
  for (uint64_t j = 0; j < UINT64_C(1) << r->op->k; j++)
    output.elements[j] = NOT_GIVEN;
  define(r, value, SCALAR_COUNT);
  vec_push(r->memory, &r->outputs, output);
  return &r->outputs.items[r->outputs.count - 1];
}

// The type of a value shows in its elements.
static void element(reader *r, net_id value) {
  expect(r, "[");
  uint64_t j = number(r);
  expect(r, "]");
  expect(r, "=");
  if (!r->op || j >> r->op->k != 0)
    fail(r, "there is no such element of an op");
  net_id id = NET_NONE;
  scalar_type type = SCALAR_COUNT;
  if (word(r, "dead")) {
    type = type_name(r);
  } else {
    id = node(r);
    type = node_type(r, id);
  }
  net_output *output = output_of(r, value);
  if (output->elements[j] != NOT_GIVEN)
    fail(r, "v%" PRIu32 "[%" PRIu64 "] is given before", value, j);
  output->elements[j] = id;
  r->stage->values.items[value] = type;
}

static void name(reader *r) {
  if (!r->op || number(r) != r->names.count)
    fail(r, "expected t%zu, in an op", r->names.count);
  expect(r, "=");
  vec_push(r->memory, &r->names, node(r));
}

// ---- loads and stores ------------------------------------------------------------------------

static net_id array_number(reader *r) {
  expect(r, "a");
  uint64_t id = number(r);
  if (id >= r->net->arrays.count)
    fail(r, "there is no array a%" PRIu64, id);
  return (net_id)id;
}

static void load(reader *r, net_id value) {
  net_load l = {.value = value, .limit = UINT64_MAX};
  op_end(r);
  l.array = array_number(r);
  expect(r, "at");
  l.map = map(r);
  if (literal(r, "below")) {
    l.limit = number(r);
    expect(r, "else");
    l.fill = constant(r, type_name(r));
  }
  define(r, value, r->net->arrays.items[l.array].type);
  vec_push(r->memory, &r->stage->loads, l);
}

static void store(reader *r) {
  op_end(r);
  net_store s = {.value = value_number(r), .limit = UINT64_MAX};
  expect(r, "in");
  s.array = array_number(r);
  expect(r, "at");
  s.map = map(r);
  if (literal(r, "below"))
    s.limit = number(r);
  if (literal(r, "live"))
    s.live_count = form_list(r, &s.live);
  vec_push(r->memory, &r->stage->stores, s);
}

// ---- the whole -------------------------------------------------------------------------------

static void array(reader *r) {
  expect(r, "a");
  if (number(r) != r->net->arrays.count)
    fail(r, "expected array a%zu", r->net->arrays.count);
  net_array a = {.type = type_name(r), .role = NET_TEMPORARY};
  a.count = number(r);
  if (!word(r, "temporary")) {
    a.role = word(r, "argument") ? NET_ARGUMENT : NET_RESULT;
    if (a.role == NET_RESULT)
      expect(r, "result");
    a.number = small_number(r);
  }
  vec_push(r->memory, &r->net->arrays, a);
}

static const char *quoted(reader *r) {
  expect(r, "\"");
  char *out = arena_copy(r->memory, r->at, strcspn(r->at, "\n"));
  size_t length = 0;
  for (; *r->at != '"'; r->at++) {
    if (*r->at == '\\')
      r->at++;
    if (*r->at == 0 || *r->at == '\n')
      fail(r, "the name of the library does not end");
    out[length++] = *r->at == 'n' && r->at[-1] == '\\' ? '\n' : *r->at;
  }
  r->at++;
  out[length] = 0;
  return out;
}

static void foreign(reader *r) {
  VEC(scalar_type) parameters = {0};
  expect(r, "e");
  if (number(r) != r->net->externs.count)
    fail(r, "expected extern e%zu", r->net->externs.count);
  skip(r);
  size_t length = word_length(r->at);
  net_extern e = {.name = arena_copy(r->memory, r->at, length)};
  r->at += length;
  while (!literal(r, "->"))
    vec_push(r->memory, &parameters, type_name(r));
  e.parameters = parameters.items;
  e.arity = (uint32_t)parameters.count;
  e.result = type_name(r);
  expect(r, "in");
  e.library = quoted(r);
  vec_push(r->memory, &r->net->externs, e);
}

static void stage_end(reader *r) {
  if (!r->stage)
    return;
  op_end(r);
  for (size_t v = 0; v < r->stage->values.count; v++)
    if (r->stage->values.items[v] == SCALAR_COUNT)
      fail(r, "before this line, v%zu is never defined", v);
  vec_push(r->memory, &r->net->stages, *r->stage);
}

static void stage_start(reader *r) {
  VEC(uint64_t) extents = {0};
  stage_end(r);
  r->stage = NEW(r->memory, net_stage);
  expect(r, "n=");
  uint64_t n = number(r);
  if (n > F2_MAX)
    fail(r, "%" PRIu64 " index bits are too many", n);
  r->stage->n = (int)n;
  if (literal(r, "loops"))
    while (!at_end(r))
      vec_push(r->memory, &extents, number(r));
  r->stage->extents = extents.items;
  r->stage->loop_count = (uint32_t)extents.count;
}

static void in_stage(reader *r) {
  if (!r->stage)
    fail(r, "expected `stage` before this");
  if (word(r, "op")) {
    op_start(r);
  } else if (word(r, "store")) {
    store(r);
  } else if (numbered(r, 't')) {
    name(r);
  } else {
    net_id value = value_number(r);
    skip(r);
    if (*r->at == '[') {
      element(r, value);
    } else {
      expect(r, "=");
      expect(r, "load");
      load(r, value);
    }
  }
}

static void line(reader *r) {
  if (word(r, "array"))
    array(r);
  else if (word(r, "extern"))
    foreign(r);
  else if (word(r, "stage"))
    stage_start(r);
  else if (!at_end(r))
    in_stage(r);
  if (!at_end(r))
    fail(r, "expected the end of the line, found `%.*s`", (int)strcspn(r->at, "\n"), r->at);
}

net *net_read(arena *a, const char *string, const char **wrong) {
  reader *r = NEW(a, reader);
  r->memory = a;
  r->net = NEW(a, net);
  r->at = string;
  r->line = 1;
  if (setjmp(r->stop) == 0) {
    for (;; r->at++, r->line++) {
      line(r);
      if (*r->at == 0)
        break;
    }
    stage_end(r);
  }
  *wrong = r->wrong;
  return r->wrong ? NULL : r->net;
}
