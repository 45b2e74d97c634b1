// Nets from text: the form of net/print.c. A line is blank, a comment (#), or one thing; nothing
// here checks more than that the text can be kept as a Net (net_verify does the rest).
#include "tests/readers/reader.h"
#include "tests/readers/readers.h"

#include <ctype.h>
#include <inttypes.h>

// An op with more is a mistake, not to be answered with memory.
enum { MOST_DIRECTIONS = 20 };

#define NOT_GIVEN (NET_NONE - 1)  // an element of which no line has spoken yet

typedef struct net_reader {
  reader in;
  net *net;
  net_stage *stage;  // the last one, NULL before it
  net_op *op;        // being read; its outputs are below
  VEC(net_output) outputs;
  VEC(net_id) names;  // the nodes t0, t1, ... of the op
} net_reader;

// ---- nodes -----------------------------------------------------------------------------------

static bool letter_follows(net_reader *r, char letter) {
  read_skip(&r->in);
  if (r->in.at[0] != letter || !isdigit((unsigned char)r->in.at[1]))
    return false;
  r->in.at++;
  return true;
}

static net_id read_value_number(net_reader *r) {
  read_expect(&r->in, "v");
  return read_small_number(&r->in);
}

// Values are typed by what defines them.
static void define_value(net_reader *r, net_id value, scalar_type type) {
  while (r->stage->values.count <= value)
    net_value_add(r->in.memory, r->stage, SCALAR_COUNT);
  if (r->stage->values.items[value] != SCALAR_COUNT)
    read_fail(&r->in, "v%" PRIu32 " is defined before", value);
  r->stage->values.items[value] = type;
}

static net_id read_element_node(net_reader *r) {
  net_node node = {.kind = NET_ELEMENT, .value = read_small_number(&r->in)};
  read_expect(&r->in, "[");
  node.number = read_number(&r->in);
  read_expect(&r->in, "]");
  if (node.value >= r->stage->values.count || r->stage->values.items[node.value] == SCALAR_COUNT)
    read_fail(&r->in, "v%" PRIu32 " is not defined before", node.value);
  node.type = r->stage->values.items[node.value];
  return net_node_add(r->in.memory, r->stage, &node);
}

static net_id read_operand(net_reader *r) {
  if (letter_follows(r, 't')) {
    uint64_t name = read_number(&r->in);
    if (name >= r->names.count)
      read_fail(&r->in, "t%" PRIu64 " is not defined before", name);
    return r->names.items[name];
  }
  if (letter_follows(r, 'v'))
    return read_element_node(r);
  net_node node = {.kind = NET_CONSTANT, .type = read_type(&r->in)};
  node.constant = read_constant(&r->in, node.type);
  return net_node_add(r->in.memory, r->stage, &node);
}

static scalar_type node_type(const net_reader *r, net_id id) {
  return r->stage->nodes.items[id].type;
}

static const struct {
  const char *name;
  net_node_kind kind;
  int operands;
} words[] = {
    {"min", NET_MIN, 2},         {"max", NET_MAX, 2},         {"select", NET_SELECT, 3},
    {"convert", NET_CONVERT, 1}, {"root", NET_ROOT, 1},       {"extern", NET_EXTERN, -1},
    {"gather", NET_GATHER, 1},   {"scatter", NET_SCATTER, 2}, {"turn", NET_TURN, 2},
    {"fold", NET_FOLD, 3},       {"group", NET_GROUP, 2},
};
enum { WORDS = sizeof words / sizeof *words };

// The word at the start of an inner node; how many operands follow, -1: to the end of the line.
// *typed: the type is written, or else comes from the operands.
static int read_node_head(net_reader *r, net_node *node, bool *typed) {
  for (int i = 0; i < WORDS; i++)
    if (read_word(&r->in, words[i].name)) {
      node->kind = words[i].kind;
      if (node->kind == NET_EXTERN || net_node_has_array(node->kind)) {
        read_expect(&r->in, node->kind == NET_EXTERN ? "e" : "a");
        node->number = read_number(&r->in);
      }
      *typed = node->kind >= NET_CONVERT;
      if (*typed)
        node->type = read_type(&r->in);
      if (node->kind == NET_ROOT)
        node->number = read_number(&r->in);
      while ((node->kind == NET_FOLD || node->kind == NET_GROUP) &&
             !read_word(&r->in, scalar_ops[node->scalar].name))
        if (++node->scalar == SCALAR_OP_COUNT)
          read_fail(&r->in, "there is no such fold");
      return words[i].operands;
    }
  for (scalar_op op = 0; op < SCALAR_OP_COUNT; op++)
    if (read_word(&r->in, scalar_ops[op].name)) {
      *node = (net_node){.kind = NET_SCALAR, .scalar = op};
      return scalar_ops[op].arity;
    }
  read_fail(&r->in, "there is no operation `%.*s`", (int)read_word_length(r->in.at), r->in.at);
}

static net_id read_inner_node(net_reader *r) {
  net_node node = {0};
  VEC(net_id) operands = {0};
  bool typed = false;
  int expected = read_node_head(r, &node, &typed);
  while (expected < 0 ? !read_at_end(&r->in) : (int)operands.count < expected)
    vec_push(r->in.memory, &operands, read_operand(r));
  node.operand_count = (uint32_t)operands.count;
  node.operands = operands.items;
  if (!typed) {
    scalar_type type = node_type(r, operands.items[node.kind == NET_SELECT ? 1 : 0]);
    node.type = node.kind == NET_SCALAR ? scalar_result_of(node.scalar, type) : type;
    if (node.type == SCALAR_COUNT)
      read_fail(&r->in, "%s has no meaning for %s", scalar_ops[node.scalar].name,
                scalar_types[type].name);
  }
  return net_node_add(r->in.memory, r->stage, &node);
}

static bool operand_follows(net_reader *r) {
  read_skip(&r->in);
  size_t length = read_word_length(r->in.at);
  return memchr(r->in.at, ':', length) != NULL || memchr(r->in.at, '[', length) != NULL ||
         (r->in.at[0] == 't' && isdigit((unsigned char)r->in.at[1]));
}

static net_id read_node(net_reader *r) {
  if (operand_follows(r))
    return read_operand(r);
  if (!read_word(&r->in, "index"))
    return read_inner_node(r);
  net_node index = {.kind = NET_INDEX, .type = SCALAR_I64, .map = read_map(&r->in)};
  return net_node_add(r->in.memory, r->stage, &index);
}

// ---- ops -------------------------------------------------------------------------------------

static void end_op(net_reader *r) {
  if (!r->op)
    return;
  for (size_t i = 0; i < r->outputs.count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << r->op->k; j++)
      if (r->outputs.items[i].elements[j] == NOT_GIVEN)
        read_fail(&r->in, "before this line, v%" PRIu32 "[%" PRIu64 "] is missing",
                  r->outputs.items[i].value, j);
  r->op->outputs = r->outputs.items;
  r->op->output_count = (uint32_t)r->outputs.count;
  vec_push(r->in.memory, &r->stage->ops, *r->op);
  r->op = NULL;
}

// The number of what stands here, which may be left out.
static void read_own_number(net_reader *r, size_t expected) {
  read_skip(&r->in);
  if (isdigit((unsigned char)*r->in.at) && read_number(&r->in) != expected)
    read_fail(&r->in, "expected number %zu", expected);
}

static void read_op(net_reader *r) {
  VEC(uint64_t) directions = {0};
  end_op(r);
  read_own_number(r, r->stage->ops.count);
  net_op *op = r->op = NEW(r->in.memory, net_op);
  r->outputs.items = NULL;
  r->outputs.count = r->outputs.capacity = r->names.count = 0;
  if (read_literal(&r->in, "directions"))
    for (read_skip(&r->in); isdigit((unsigned char)*r->in.at); read_skip(&r->in))
      vec_push(r->in.memory, &directions, read_number(&r->in));
  op->directions = directions.items;
  op->k = (uint32_t)directions.count;
  if (op->k > MOST_DIRECTIONS)
    read_fail(&r->in, "%" PRIu32 " directions are too many", op->k);
  uint32_t coordinates =
      read_literal(&r->in, "coordinates") ? read_forms(&r->in, &op->coordinates) : 0;
  if (coordinates != op->k)
    read_fail(&r->in, "%" PRIu32 " directions have %" PRIu32 " coordinates", op->k, coordinates);
  if (read_literal(&r->in, "live"))
    op->live_count = read_forms(&r->in, &op->live);
  if (read_literal(&r->in, "step")) {
    read_literal(&r->in, "%");
    op->origin = (uint32_t)(read_number(&r->in) & UINT32_MAX);
  }
}

static net_output *output_of(net_reader *r, net_id value) {
  for (size_t i = r->outputs.count; i-- > 0;)
    if (r->outputs.items[i].value == value)
      return &r->outputs.items[i];
  net_output output = {value, NEW_ARRAY(r->in.memory, net_id, UINT64_C(1) << r->op->k)};
  for (uint64_t j = 0; j < UINT64_C(1) << r->op->k; j++)
    output.elements[j] = NOT_GIVEN;
  define_value(r, value, SCALAR_COUNT);
  vec_push(r->in.memory, &r->outputs, output);
  return &r->outputs.items[r->outputs.count - 1];
}

// The type of a value shows in its elements.
static void read_element(net_reader *r, net_id value) {
  read_expect(&r->in, "[");
  uint64_t j = read_number(&r->in);
  read_expect(&r->in, "]");
  read_expect(&r->in, "=");
  if (!r->op || j >> r->op->k != 0)
    read_fail(&r->in, "there is no such element of an op");
  net_id id = NET_NONE;
  scalar_type type = SCALAR_COUNT;
  if (read_word(&r->in, "dead")) {
    type = read_type(&r->in);
  } else {
    id = read_node(r);
    type = node_type(r, id);
  }
  net_output *output = output_of(r, value);
  if (output->elements[j] != NOT_GIVEN)
    read_fail(&r->in, "v%" PRIu32 "[%" PRIu64 "] is given before", value, j);
  output->elements[j] = id;
  r->stage->values.items[value] = type;
}

static void read_named_node(net_reader *r) {
  if (!r->op || read_number(&r->in) != r->names.count)
    read_fail(&r->in, "expected t%zu, in an op", r->names.count);
  read_expect(&r->in, "=");
  vec_push(r->in.memory, &r->names, read_node(r));
}

// ---- loads and stores ------------------------------------------------------------------------

static net_id read_array_number(net_reader *r) {
  read_expect(&r->in, "a");
  uint64_t id = read_number(&r->in);
  if (id >= r->net->arrays.count)
    read_fail(&r->in, "there is no array a%" PRIu64, id);
  return (net_id)id;
}

static void read_load(net_reader *r, net_id value) {
  net_load l = {.value = value, .padding_start = UINT64_MAX};
  end_op(r);
  l.array = read_array_number(r);
  read_expect(&r->in, "at");
  l.map = read_map(&r->in);
  if (read_literal(&r->in, "padded from")) {
    l.padding_start = read_number(&r->in);
    read_expect(&r->in, "with");
    l.padding_value = read_constant(&r->in, read_type(&r->in));
  }
  define_value(r, value, r->net->arrays.items[l.array].type);
  vec_push(r->in.memory, &r->stage->loads, l);
}

static void read_store(net_reader *r) {
  end_op(r);
  net_store s = {.value = read_value_number(r), .padding_start = UINT64_MAX};
  read_expect(&r->in, "in");
  s.array = read_array_number(r);
  read_expect(&r->in, "at");
  s.map = read_map(&r->in);
  if (read_literal(&r->in, "padded from"))
    s.padding_start = read_number(&r->in);
  if (read_literal(&r->in, "live"))
    s.live_count = read_forms(&r->in, &s.live);
  vec_push(r->in.memory, &r->stage->stores, s);
}

// ---- the whole -------------------------------------------------------------------------------

static const char *read_quoted(net_reader *r) {
  read_expect(&r->in, "\"");
  char *out = arena_copy(r->in.memory, r->in.at, strcspn(r->in.at, "\n"));
  size_t length = 0;
  for (; *r->in.at != '"'; r->in.at++) {
    if (*r->in.at == '\\')
      r->in.at++;
    if (*r->in.at == 0 || *r->in.at == '\n')
      read_fail(&r->in, "the name of the library does not end");
    out[length++] = *r->in.at == 'n' && r->in.at[-1] == '\\' ? '\n' : *r->in.at;
  }
  r->in.at++;
  out[length] = 0;
  return out;
}

static void read_extern(net_reader *r) {
  VEC(scalar_type) parameters = {0};
  read_expect(&r->in, "e");
  if (read_number(&r->in) != r->net->externs.count)
    read_fail(&r->in, "expected extern e%zu", r->net->externs.count);
  read_skip(&r->in);
  size_t length = read_word_length(r->in.at);
  c_function e = {.name = arena_copy(r->in.memory, r->in.at, length)};
  r->in.at += length;
  while (!read_literal(&r->in, "->"))
    vec_push(r->in.memory, &parameters, read_type(&r->in));
  e.parameters = parameters.items;
  e.arity = (uint32_t)parameters.count;
  e.result = read_type(&r->in);
  read_expect(&r->in, "in");
  e.library = read_quoted(r);
  vec_push(r->in.memory, &r->net->externs, e);
}

static void end_stage(net_reader *r) {
  if (!r->stage)
    return;
  end_op(r);
  for (size_t v = 0; v < r->stage->values.count; v++)
    if (r->stage->values.items[v] == SCALAR_COUNT)
      read_fail(&r->in, "before this line, v%zu is never defined", v);
  vec_push(r->in.memory, &r->net->stages, *r->stage);
}

static net_routine_kind read_routine_kind(net_reader *r) {
  for (net_routine_kind kind = 0; kind < NET_ROUTINE_KINDS; kind++)
    if (read_word(&r->in, net_routine_names[kind]))
      return kind;
  read_fail(&r->in, "there is no routine `%.*s`", (int)read_word_length(r->in.at), r->in.at);
}

static void read_dimensions(net_reader *r, net_routine *of) {
  VEC(net_dimension) dimensions = {0};
  for (read_skip(&r->in); *r->in.at >= '0' && *r->in.at <= '9'; read_skip(&r->in)) {
    net_dimension d = {.extent = read_number(&r->in)};
    read_expect(&r->in, ":");
    d.from = read_number(&r->in);
    read_expect(&r->in, ":");
    d.to = read_number(&r->in);
    vec_push(r->in.memory, &dimensions, d);
  }
  of->dimensions = dimensions.items;
  of->dimension_count = (uint32_t)dimensions.count;
}

static void read_routine(net_reader *r) {
  net_routine *of = r->stage->routine = NEW(r->in.memory, net_routine);
  of->kind = read_routine_kind(r);
  read_expect(&r->in, "rows");
  of->rows = read_number(&r->in);
  read_expect(&r->in, "length");
  of->length = read_number(&r->in);
  if (read_word(&r->in, "below"))
    of->limit = read_number(&r->in);
  if (read_word(&r->in, "dimensions"))
    read_dimensions(r, of);
  of->descending = read_word(&r->in, "descending");
  of->distinct = read_word(&r->in, "distinct");
  of->back = read_word(&r->in, "back");
  of->origin = NET_NONE;
  if (read_literal(&r->in, "step")) {
    read_literal(&r->in, "%");
    of->origin = (uint32_t)(read_number(&r->in) & UINT32_MAX);
  }
  of->ragged = read_word(&r->in, "offsets");
  if (of->ragged)
    of->offsets = read_array_number(r);
}

static void read_pair(net_reader *r) {
  net_routine *of = r->stage->routine;
  if (!of)
    read_fail(&r->in, "the stage is no routine");
  net_routine_pair p = {NET_NONE, NET_NONE}, *more;
  if (!read_word(&r->in, "index"))
    p.from = read_array_number(r);
  read_expect(&r->in, "to");
  if (!read_word(&r->in, "none"))
    p.to = read_array_number(r);
  of->counts = read_word(&r->in, "counts");
  more = NEW_ARRAY(r->in.memory, net_routine_pair, of->pair_count + 1);
  for (uint32_t i = 0; i < of->pair_count; i++)
    more[i] = of->pairs[i];
  more[of->pair_count++] = p;
  of->pairs = more;
}

static void read_stage(net_reader *r) {
  VEC(uint64_t) extents = {0};
  VEC(net_pace) paces = {0};
  end_stage(r);
  r->stage = NEW(r->in.memory, net_stage);
  read_own_number(r, r->net->stages.count);
  read_expect(&r->in, "n=");
  uint64_t n = read_number(&r->in);
  if (n > F2_MAX)
    read_fail(&r->in, "%" PRIu64 " index bits are too many", n);
  r->stage->n = (int)n;
  if (read_word(&r->in, "shares"))
    r->stage->shares = (int)(read_number(&r->in) & 0xff);
  if (read_word(&r->in, "turns"))
    r->stage->share_turns = read_number(&r->in);
  if (read_word(&r->in, "of")) {
    read_expect(&r->in, "o");
    r->stage->share_outer = (uint32_t)read_number(&r->in);
  }
  if (read_literal(&r->in, "loops"))
    while (!read_at_end(&r->in)) {
      vec_push(r->in.memory, &extents, read_number(&r->in));
      if (read_literal(&r->in, "*")) {
        net_pace pace = {.step = read_number(&r->in)};
        read_expect(&r->in, "..");
        pace.last = read_number(&r->in);
        vec_push(r->in.memory, &paces, pace);
      }
    }
  else if (read_word(&r->in, "routine"))
    read_routine(r);
  r->stage->paces = paces.items;
  r->stage->extents = extents.items;
  r->stage->loop_count = r->in.loop_count = (uint32_t)extents.count;
}

static void read_stage_line(net_reader *r) {
  if (!r->stage)
    read_fail(&r->in, "expected `stage` before this");
  if (read_word(&r->in, "op")) {
    read_op(r);
  } else if (read_word(&r->in, "from")) {
    read_pair(r);
  } else if (read_word(&r->in, "store")) {
    read_store(r);
  } else if (letter_follows(r, 't')) {
    read_named_node(r);
  } else {
    net_id value = read_value_number(r);
    read_skip(&r->in);
    if (*r->in.at == '[') {
      read_element(r, value);
    } else {
      read_expect(&r->in, "=");
      read_expect(&r->in, "load");
      read_load(r, value);
    }
  }
}

static void read_array_line(net_reader *r) {
  net_array a = read_array(&r->in, r->net->arrays.count);
  vec_push(r->in.memory, &r->net->arrays, a);
}

static void read_line(net_reader *r) {
  if (read_word(&r->in, "array"))
    read_array_line(r);
  else if (read_word(&r->in, "extern"))
    read_extern(r);
  else if (read_word(&r->in, "stage"))
    read_stage(r);
  else if (!read_at_end(&r->in))
    read_stage_line(r);
  if (!read_at_end(&r->in))
    read_fail(&r->in, "expected the end of the line, found `%.*s`", (int)strcspn(r->in.at, "\n"),
              r->in.at);
}

net *net_read(arena *a, const char *string, const char **wrong) {
  net_reader *r = NEW(a, net_reader);
  r->in.memory = a;
  r->net = NEW(a, net);
  r->in.at = string;
  r->in.line = 1;
  if (setjmp(r->in.stop) == 0) {
    for (;; r->in.at++, r->in.line++) {
      read_line(r);
      if (*r->in.at == 0)
        break;
    }
    end_stage(r);
  }
  *wrong = r->in.wrong;
  return r->in.wrong ? NULL : r->net;
}
