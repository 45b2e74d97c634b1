// See draw.h. An element has a line from where it is first loaded. An op leaves what it makes on
// the line of what it makes it of; a store and a load carry the line through an array. So nothing
// is moved.
#include "runtime/draw/draw.h"

#include <inttypes.h>

#define NO_LINE UINT32_MAX
enum { MOST_POINTS = 4096 };

typedef struct weaver {
  arena *memory;
  const net *net;
  draw_network *out;
  uint32_t **array_lines;  // by array: of each element, or NULL where it has no lines yet
  uint32_t depth[DRAW_LINES];
  // Of the stage that is walked:
  const net_stage *stage;
  uint64_t points;         // of its index space, with all loops
  uint32_t **value_lines;  // by value: of each point, or NULL
} weaver;

// ---- lines -------------------------------------------------------------------------------------

static uint32_t *no_lines(const weaver *w, uint64_t count) {
  uint32_t *lines = NEW_ARRAY(w->memory, uint32_t, count + 1);
  for (uint64_t i = 0; i < count; i++)
    lines[i] = NO_LINE;
  return lines;
}

// Those of another argument that is loaded at the same places: they are the components of one.
static uint32_t *lines_beside(const weaver *w, const net_load *load) {
  for (size_t i = 0; i < w->stage->loads.count; i++) {
    const net_load *other = &w->stage->loads.items[i];
    const net_array *a = &w->net->arrays.items[load->array],
                    *b = &w->net->arrays.items[other->array];
    if (w->array_lines[other->array] && b->role == NET_ARGUMENT && a->count == b->count &&
        net_map_equal(&load->map, &other->map))
      return w->array_lines[other->array];
  }
  return NULL;
}

// False: there are too many.
static bool begin_lines(weaver *w, const net_load *load) {
  const net_array *a = &w->net->arrays.items[load->array];
  uint32_t **lines = &w->array_lines[load->array];
  if (*lines || a->role != NET_ARGUMENT)
    return true;
  *lines = lines_beside(w, load);
  if (*lines)
    return true;
  if (a->count > DRAW_LINES - w->out->line_count)
    return false;
  *lines = no_lines(w, a->count);
  for (uint64_t i = 0; i < a->count; i++)
    (*lines)[i] = w->out->line_count++;
  return true;
}

// ---- points ------------------------------------------------------------------------------------

static int64_t address_at(const weaver *w, const net_map *m, uint64_t point) {
  uint64_t loops[64] = {0};
  net_loop_indices(w->stage, point >> w->stage->n, loops);
  return net_map_at(m, loops, point & f2_mask(w->stage->n));
}

static bool load_lines(weaver *w, const net_load *load) {
  if (!begin_lines(w, load))
    return false;
  const uint32_t *from = w->array_lines[load->array];
  uint32_t *lines = w->value_lines[load->value] = no_lines(w, w->points);
  uint64_t count = w->net->arrays.items[load->array].count;
  if (count > load->padding_start)
    count = load->padding_start;
  for (uint64_t p = 0; from && p < w->points; p++) {
    int64_t at = address_at(w, &load->map, p);
    if (at >= 0 && (uint64_t)at < count)
      lines[p] = from[at];
  }
  return true;
}

static void store_lines(weaver *w, const net_store *store) {
  uint64_t count = w->net->arrays.items[store->array].count;
  uint32_t **lines = &w->array_lines[store->array];
  if (!*lines)
    *lines = no_lines(w, count);
  for (uint64_t p = 0; w->value_lines[store->value] && p < w->points; p++) {
    int64_t at = address_at(w, &store->map, p);
    if (at >= 0 && (uint64_t)at < count && (uint64_t)at < store->padding_start &&
        net_forms_hold(store->live_count, store->live, p))
      (*lines)[at] = w->value_lines[store->value][p];
  }
}

// ---- ops ---------------------------------------------------------------------------------------

// Below functions of one operand and constants: map (* 2) of a minimum is a minimum here.
static net_node_kind kind_below(const net_stage *s, net_id node) {
  for (;;) {
    const net_node *n = &s->nodes.items[node];
    net_id below = NET_NONE;
    if (n->kind != NET_SCALAR && n->kind != NET_CONVERT)
      return net_extremum_of(s, n).kind;
    for (uint32_t i = 0; i < n->operand_count; i++)
      if (s->nodes.items[n->operands[i]].kind != NET_CONSTANT) {
        if (below != NET_NONE)
          return n->kind;
        below = n->operands[i];
      }
    if (below == NET_NONE)
      return n->kind;
    node = below;
  }
}

enum { NEITHER = -1, BOTH = -2, DEEPEST = 16 };

// The element of a group of two, 0 or 1, that this node is made of.
static int side_of(const net_stage *s, net_id node, int depth) {
  const net_node *n = &s->nodes.items[node];
  int side = n->kind == NET_ELEMENT ? (int)n->number : n->kind == NET_CONSTANT ? NEITHER : BOTH;
  if ((n->kind != NET_SCALAR && n->kind != NET_CONVERT) || depth == DEEPEST)
    return side;
  side = NEITHER;
  for (uint32_t i = 0; i < n->operand_count; i++) {
    int other = side_of(s, n->operands[i], depth + 1);
    side = side == NEITHER || side == other ? other : other == NEITHER ? side : BOTH;
  }
  return side;
}

// Whether a condition on two elements holds where the first one, or its key, is the smaller one:
// t1 | t3 & t4 of keys that are tuples. *known: it is made of comparisons.
static bool holds_in_order(const net_stage *s, net_id node, int depth, bool *known) {
  const net_node *n = &s->nodes.items[node];
  scalar_op op = n->kind == NET_SCALAR ? (scalar_op)n->scalar : SCALAR_OP_COUNT;
  if (depth == DEEPEST || (op != OP_COMPLEMENT && n->operand_count != 2))
    return *known = false;
  if (op == OP_COMPLEMENT || op == OP_AND || op == OP_OR) {
    bool a = holds_in_order(s, n->operands[0], depth + 1, known);
    if (op == OP_COMPLEMENT)
      return !a;
    bool b = holds_in_order(s, n->operands[1], depth + 1, known);
    return op == OP_AND ? a && b : a || b;
  }
  int a = side_of(s, n->operands[0], 0), b = side_of(s, n->operands[1], 0);
  if (op < OP_EQ || op > OP_TOTAL_LE || a < 0 || b < 0 || a == b)
    return *known = false;
  bool up = op == OP_LT || op == OP_LE || op == OP_TOTAL_LE;
  return op == OP_NE || (op != OP_EQ && up == (a < b));
}

// An output whose two elements change places by a condition on their order.
static draw_kind exchange_of(const net_stage *s, const net_id *e, bool upper_first) {
  const net_node *first = &s->nodes.items[e[0]], *second = &s->nodes.items[e[1]];
  const net_id *a = first->operands, *b = second->operands;
  if (first->kind != NET_SELECT || second->kind != NET_SELECT || a[0] != b[0] || a[1] != b[2] ||
      a[2] != b[1])
    return DRAW_GROUP;
  bool known = true, holds = holds_in_order(s, a[0], 0, &known);
  bool stays = holds == (side_of(s, a[1], 0) != 1);
  return !known ? DRAW_GROUP : stays == upper_first ? DRAW_ORDER : DRAW_REVERSE;
}

// Of two lines, by one output that is a minimum on one of them, a maximum on the other.
static draw_kind kind_of(const net_stage *s, const net_op *op, bool upper_first) {
  for (uint32_t i = 0; op->k == 1 && i < op->output_count; i++) {
    const net_id *e = op->outputs[i].elements;
    bool both = e[0] != NET_NONE && e[1] != NET_NONE;
    if (e[0] == NET_NONE && e[1] == NET_NONE)
      continue;
    net_node_kind kinds[2];  // what nobody wants is the other one
    for (int k = 0; k < 2; k++)
      kinds[k] = e[k] != NET_NONE                  ? kind_below(s, e[k])
                 : kind_below(s, e[!k]) == NET_MIN ? NET_MAX
                                                   : NET_MIN;
    if (kinds[0] + kinds[1] == NET_MIN + NET_MAX && (kinds[0] == NET_MIN || kinds[0] == NET_MAX))
      return (kinds[0] == NET_MIN) == upper_first ? DRAW_ORDER : DRAW_REVERSE;
    draw_kind exchange = both ? exchange_of(s, e, upper_first) : DRAW_GROUP;
    if (exchange != DRAW_GROUP)
      return exchange;
  }
  return DRAW_GROUP;
}

static void add_line(draw_link *link, uint32_t line) {
  uint32_t at = 0;
  while (at < link->count && link->lines[at] < line)
    at++;
  if (line == NO_LINE || (at < link->count && link->lines[at] == line))
    return;
  memmove(&link->lines[at + 1], &link->lines[at], (link->count - at) * sizeof *link->lines);
  link->lines[at] = line;
  link->count++;
}

static void add_link(weaver *w, draw_link link) {
  for (uint32_t i = 0; i < link.count; i++)
    if (w->depth[link.lines[i]] > link.column)
      link.column = w->depth[link.lines[i]];
  for (uint32_t i = 0; i < link.count; i++)
    w->depth[link.lines[i]] = link.column + 1;
  if (link.column >= w->out->column_count)
    w->out->column_count = link.column + 1;
  vec_push(w->memory, &w->out->links, link);
}

// The point of element j of the coset of `point`.
static uint64_t element_of(const net_op *op, uint64_t point, uint32_t j) {
  for (uint32_t i = 0; i < op->k; i++)
    if (net_form_at(op->coordinates[i], point) != f2_bit(j, (int)i))
      point ^= op->directions[i];
  return point;
}

// ---- comparators inside of an op ---------------------------------------------------------------

// A small network may be one op, minima and maxima of others. Its nodes are put on lines again:
//
//   t0 = min a b     a comparator on the lines of a and b; now t0 is on the upper one,
//   t1 = max a b     and t1 on the lower one
//   t2 = max t1 c    a comparator on the lines of t1 and c, whose minimum nobody wants
typedef struct lines_of_nodes {
  uint32_t count;
  net_id *nodes;          // of the op, operands first
  uint32_t *lines;        // by node
  net_id on[DRAW_LINES];  // by line: the last node there
} lines_of_nodes;

// The other result of a comparator, or NET_NONE.
static net_id partner_of(const net_stage *s, const lines_of_nodes *l, const net_extremum *c) {
  for (uint32_t i = 0; i < l->count; i++) {
    net_extremum other = net_extremum_of(s, &s->nodes.items[l->nodes[i]]);
    const net_id *x = other.operands, *y = c->operands;
    if (net_is_extremum(&other) && other.kind != c->kind &&
        ((x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0])))
      return l->nodes[i];
  }
  return NET_NONE;
}

static void put_on_line(lines_of_nodes *l, net_id node, uint32_t line) {
  l->on[line] = node;
  if (node != NET_NONE)
    l->lines[node] = line;
}

static bool is_on_line(const lines_of_nodes *l, net_id node) {
  return l->lines[node] != NO_LINE && l->on[l->lines[node]] == node;
}

// False: an operand is not on a line any more, so that this is no comparator of a network.
static bool compare_lines(weaver *w, lines_of_nodes *l, net_id node, const net_extremum *c,
                          draw_link *out) {
  if (!is_on_line(l, c->operands[0]) || !is_on_line(l, c->operands[1]))
    return false;
  uint32_t a = l->lines[c->operands[0]], b = l->lines[c->operands[1]],
           *lines = NEW_ARRAY(w->memory, uint32_t, 2);
  net_id other = partner_of(w->stage, l, c);
  lines[0] = a < b ? a : b;
  lines[1] = a < b ? b : a;
  put_on_line(l, c->kind == NET_MIN ? node : other, lines[0]);
  put_on_line(l, c->kind == NET_MAX ? node : other, lines[1]);
  *out = (draw_link){.kind = DRAW_ORDER, .count = 2, .lines = lines};
  return a != b;
}

// False: a node is no comparison of what is on lines.
static bool find_comparators(weaver *w, const net_op *op, uint64_t point, lines_of_nodes *l,
                             draw_links *made) {
  const net_stage *s = w->stage;
  for (uint32_t i = 0; i < l->count; i++) {
    const net_node *n = &s->nodes.items[l->nodes[i]];
    net_extremum c = net_extremum_of(s, n);
    draw_link link;
    if (n->kind == NET_ELEMENT && w->value_lines[n->value]) {
      uint32_t line = w->value_lines[n->value][element_of(op, point, (uint32_t)n->number)];
      if (line != NO_LINE)
        put_on_line(l, l->nodes[i], line);
    } else if (net_is_extremum(&c) && l->lines[l->nodes[i]] == NO_LINE) {
      if (!compare_lines(w, l, l->nodes[i], &c, &link))
        return false;
      vec_push(w->memory, made, link);
    } else if (!net_is_extremum(&c) && n->type != SCALAR_BOOL) {  // (by which a select chooses)
      return false;
    }
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint32_t j = 0; j < 1u << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE && !is_on_line(l, op->outputs[i].elements[j]))
        return false;
  return true;
}

// An op on the coset of a point, as comparators; false, and nothing is done: it is something else.
static bool link_comparators(weaver *w, const net_op *op, uint64_t point) {
  uint32_t nodes = (uint32_t)w->stage->nodes.count;
  lines_of_nodes l = {.nodes = NEW_ARRAY(w->memory, net_id, nodes + 1),
                      .lines = no_lines(w, nodes)};
  draw_links made = {0};
  for (uint32_t i = 0; i < DRAW_LINES; i++)
    l.on[i] = NET_NONE;
  l.count = net_op_nodes(w->stage, op, l.nodes);
  if (!find_comparators(w, op, point, &l, &made))
    return false;
  for (size_t i = 0; i < made.count; i++)
    add_link(w, made.items[i]);
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint32_t j = 0; j < 1u << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE && op->outputs[i].value != NET_NONE)
        w->value_lines[op->outputs[i].value][element_of(op, point, j)] =
            l.lines[op->outputs[i].elements[j]];
  return true;
}

// ---- ops in their stage ----------------------------------------------------------------------

static void link_coset(weaver *w, const net_op *op, const net_reads *reads, uint64_t point) {
  uint32_t elements = 1u << op->k;
  draw_link link = {.lines = NEW_ARRAY(w->memory, uint32_t, DRAW_LINES + 1)};
  uint32_t first = NO_LINE, *own = NEW_ARRAY(w->memory, uint32_t, elements);
  for (uint32_t j = 0; j < elements; j++) {
    uint64_t at = element_of(op, point, j);
    own[j] = NO_LINE;
    for (uint32_t r = 0; r < reads->count; r++) {
      uint32_t line =
          w->value_lines[reads->values[r]] ? w->value_lines[reads->values[r]][at] : NO_LINE;
      own[j] = own[j] == NO_LINE ? line : own[j];
      add_line(&link, line);
    }
    first = first == NO_LINE ? own[j] : first;
  }
  if (link.count > 2 && link_comparators(w, op, point))
    return;
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint32_t j = 0; j < elements; j++)
      if (op->outputs[i].elements[j] != NET_NONE && op->outputs[i].value != NET_NONE)
        w->value_lines[op->outputs[i].value][element_of(op, point, j)] =
            own[j] == NO_LINE ? first : own[j];
  if (!link.count)
    return;
  link.kind = link.count == 1   ? DRAW_MAP
              : link.count == 2 ? kind_of(w->stage, op, own[0] == link.lines[0])
                                : DRAW_GROUP;
  add_link(w, link);
}

static void link_op(weaver *w, const net_op *op) {
  net_reads reads = net_op_reads(w->memory, w->stage, op);
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i].value != NET_NONE)
      w->value_lines[op->outputs[i].value] = no_lines(w, w->points);
  for (uint64_t p = 0; p < w->points; p++)
    if (element_of(op, p, 0) == p && net_forms_hold(op->live_count, op->live, p))
      link_coset(w, op, &reads, p);
}

// ---- the whole ---------------------------------------------------------------------------------

static const char *problem_of(arena *a, const net_stage *s) {
  if (s->routine)
    return arena_printf(a, "it has a routine (%s) on rows of %" PRIu64 "%s",
                        net_routine_names[s->routine->kind], s->routine->length,
                        s->routine->kind == NET_SORT ? "; sort_network xs is one" : "");
  bool moves = net_stage_has(s, NET_GATHER) || net_stage_scatters(s);
  return moves ? "it takes or puts elements at places that are data" : NULL;
}

static const char *too_many(arena *a) {
  return arena_printf(a, "it has more than %d elements: give smaller sizes", DRAW_LINES);
}

static const char *walk_stage(weaver *w, const net_stage *s) {
  const char *problem = problem_of(w->memory, s);
  w->stage = s;
  w->points = net_stage_elements(s);
  if (problem)
    return problem;
  if (w->points > MOST_POINTS)
    return too_many(w->memory);
  w->value_lines = NEW_ARRAY(w->memory, uint32_t *, s->values.count + 1);
  memset(w->value_lines, 0, s->values.count * sizeof *w->value_lines);
  for (size_t i = 0; i < s->loads.count; i++)
    if (!load_lines(w, &s->loads.items[i]))
      return too_many(w->memory);
  for (size_t i = 0; i < s->ops.count; i++)
    link_op(w, &s->ops.items[i]);
  for (size_t i = 0; i < s->stores.count; i++)
    store_lines(w, &s->stores.items[i]);
  return w->out->column_count > DRAW_COLUMNS ? "it has too many columns: give smaller sizes" : NULL;
}

// ---- names -------------------------------------------------------------------------------------

// Whether a line stands for the same elements of each array of that role.
static bool share_lines(const weaver *w, net_role role) {
  const uint32_t *first = NULL;
  for (net_id i = 0; i < w->net->arrays.count; i++) {
    const net_array *a = &w->net->arrays.items[i];
    const uint32_t *lines = w->array_lines[i];
    if (a->role != role || !lines)
      continue;
    for (uint64_t k = 0; first && k < a->count; k++)
      if (first[k] != lines[k])
        return false;
    first = lines;
  }
  return true;
}

// What elements of these arrays the lines are.
static void name_lines(const weaver *w, net_role role, const char *letter, const char **names) {
  bool shared = share_lines(w, role);
  for (net_id i = 0; i < w->net->arrays.count; i++) {
    const net_array *a = &w->net->arrays.items[i];
    const uint32_t *lines = a->role == role ? w->array_lines[i] : NULL;
    for (uint64_t k = 0; lines && k < a->count; k++) {
      if (lines[k] == NO_LINE)
        continue;
      const char **name = &names[lines[k]];
      const char *before = *name, *space = *before ? " " : "";
      if (shared)
        *name = arena_printf(w->memory, "%s%s%" PRIu64, before, space, k);
      else
        *name = arena_printf(w->memory, "%s%s%s%" PRIu32 "[%" PRIu64 "]", before, space, letter,
                             a->number, k);
    }
    if (shared && lines)
      return;
  }
}

// In the first slot of its column where there is room between its first and its last line.
static void find_slots(weaver *w) {
  draw_network *out = w->out;
  out->slots = NEW_ARRAY(w->memory, uint32_t, out->column_count + 1);
  memset(out->slots, 0, out->column_count * sizeof *out->slots);
  for (size_t i = 0; i < out->links.count; i++) {
    draw_link *link = &out->links.items[i];
    for (size_t k = 0; k < i; k++) {
      const draw_link *other = &out->links.items[k];
      bool apart = other->lines[other->count - 1] < link->lines[0] ||
                   link->lines[link->count - 1] < other->lines[0];
      if (other->column == link->column && other->slot == link->slot && !apart) {
        link->slot++;
        k = SIZE_MAX;  // from the first again
      }
    }
    if (out->slots[link->column] <= link->slot)
      out->slots[link->column] = link->slot + 1;
  }
}

const char *draw_network_make(arena *a, const net *n, draw_network *out) {
  *out = (draw_network){.begins = NEW_ARRAY(a, const char *, DRAW_LINES),
                        .ends = NEW_ARRAY(a, const char *, DRAW_LINES)};
  weaver w = {.memory = a, .net = n, .out = out};
  w.array_lines = NEW_ARRAY(a, uint32_t *, n->arrays.count + 1);
  memset(w.array_lines, 0, n->arrays.count * sizeof *w.array_lines);
  for (size_t i = 0; i < n->stages.count; i++) {
    const char *problem = walk_stage(&w, &n->stages.items[i]);
    if (problem)
      return problem;
  }
  for (uint32_t i = 0; i < out->line_count; i++)
    out->begins[i] = out->ends[i] = "";
  if (!out->links.count)
    return "it only moves elements";
  name_lines(&w, NET_ARGUMENT, "a", out->begins);
  name_lines(&w, NET_RESULT, "r", out->ends);
  find_slots(&w);
  return NULL;
}
