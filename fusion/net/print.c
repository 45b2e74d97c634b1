// Nets as text. The form, which tests/readers/net_read.c reads back:
//
//   array a0 i32 4 argument 0               element type, elements, role
//   array a1 i32 4 result 0
//   extern e0 hypotf f32 f32 -> f32 in "m"
//   stage 0 n=2 loops 3 5
//     v0 = load a0 at 3*o0 - 4*(x0^x1^1) + 7 padded from 9 with i32:-1
//     op 0 directions 0b10 coordinates x1 live x0^1 step %12
//       t0 = index o1 + x0                  nodes that others use; x, o: index bits, loops
//       t1 = convert i32 t0
//       v1[0] = select bool:true v0[1] t1   what the elements become
//       v1[1] = dead i32
//     store v1 in a1 at x0 + 2*x1 padded from 4 live x0^1
//   stage 1 n=0 routine sort rows 2 length 8 below 16 descending step %13
//     from a1 to none                     the keys
//     from a2 to a3                       a payload
//     from index to a4
//
// Names t are of one op. Nodes are printed in the order in which a walk from the elements meets
// them, operands first, so that the text does not depend on their numbers.
#include "fusion/net/net.h"

#include <inttypes.h>

typedef struct printer {
  arena memory;
  text *out;
  const net_stage *stage;
  uint32_t *uses;  // by node, within the op: how often; NAMED: a line t
  uint32_t *names;
  net_id *order;
} printer;

enum { NAMED = 2 };

// ---- nodes -----------------------------------------------------------------------------------

static void print_node(const printer *p, const net_node *node);

static void print_operand(const printer *p, net_id id) {
  const net_node *node = &p->stage->nodes.items[id];
  if (net_node_is(node->kind, NET_IS_LEAF))
    print_node(p, node);
  else
    text_printf(p->out, "t%" PRIu32, p->names[id]);
}

static void print_node(const printer *p, const net_node *node) {
  const char *name = net_node_name(node), *type = scalar_types[node->type].name;
  switch (node->kind) {
  case NET_ELEMENT:
    text_printf(p->out, "v%" PRIu32 "[%" PRIu64 "]", node->value, node->number);
    break;
  case NET_INDEX:
    text_printf(p->out, "%s ", name);
    net_write_map(p->out, &node->map);
    break;
  case NET_CONSTANT:
    net_write_constant(p->out, node->type, &node->constant);
    break;
  case NET_SCALAR:
  case NET_MIN:
  case NET_MAX:
  case NET_SELECT:
    text_string(p->out, name);
    break;
  case NET_CONVERT:
    text_printf(p->out, "%s %s", name, type);
    break;
  case NET_ROOT:
    text_printf(p->out, "%s %s %" PRIu64, name, type, node->number);
    break;
  case NET_EXTERN:
    text_printf(p->out, "%s e%" PRIu64 " %s", name, node->number, type);
    break;
  case NET_GATHER:
  case NET_SCATTER:
    text_printf(p->out, "%s a%" PRIu64 " %s", name, node->number, type);
    break;
  case NET_GROUP:
    text_printf(p->out, "%s a%" PRIu64 " %s %s", name, node->number, type,
                scalar_ops[node->scalar].name);
    break;
  case NET_TURN:
    text_printf(p->out, "%s %s", name, type);
    break;
  case NET_FOLD:
    text_printf(p->out, "%s %s %s", name, type, scalar_ops[node->scalar].name);
    break;
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    text_string(p->out, " ");
    print_operand(p, node->operands[i]);
  }
}

// ---- ops -------------------------------------------------------------------------------------

typedef struct visit {
  net_id node;
  uint32_t next;  // operand to look at
} visit;
typedef VEC(visit) visits;

// A use of the node, which is walked when met for the first time.
static void visit_node(printer *p, visits *stack, net_id id, uint32_t uses) {
  if (p->uses[id] == 0)
    vec_push(&p->memory, stack, ((visit){id, 0}));
  p->uses[id] += uses;
}

// Appends to p->order what `root` needs and no element before it did, operands first.
static void walk_nodes(printer *p, visits *stack, net_id root, uint32_t *count) {
  visit_node(p, stack, root, 1);
  while (stack->count > 0) {
    visit *top = &stack->items[stack->count - 1];
    const net_node *node = &p->stage->nodes.items[top->node];
    if (top->next < node->operand_count) {
      visit_node(p, stack, node->operands[top->next++], NAMED);
    } else {
      p->order[(*count)++] = top->node;
      stack->count--;
    }
  }
}

static void print_element(const printer *p, net_id id, scalar_type type) {
  if (id == NET_NONE)
    text_printf(p->out, "dead %s", scalar_types[type].name);
  else if (p->uses[id] >= NAMED)
    print_operand(p, id);
  else
    print_node(p, &p->stage->nodes.items[id]);
  text_string(p->out, "\n");
}

static void print_nodes(printer *p, const net_op *op) {
  uint32_t count = 0, named = 0;
  visits stack = {0};
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      if (op->outputs[i].elements[j] != NET_NONE)
        walk_nodes(p, &stack, op->outputs[i].elements[j], &count);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &p->stage->nodes.items[p->order[i]];
    if (net_node_is(node->kind, NET_IS_LEAF) || p->uses[p->order[i]] < NAMED)
      continue;
    p->names[p->order[i]] = named;
    text_printf(p->out, "    t%" PRIu32 " = ", named++);
    print_node(p, node);
    text_string(p->out, "\n");
  }
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
      net_id value = op->outputs[i].value;
      text_printf(p->out, "    v%" PRIu32 "[%" PRIu64 "] = ", value, j);
      print_element(p, op->outputs[i].elements[j], p->stage->values.items[value]);
    }
  for (uint32_t i = 0; i < count; i++)
    p->uses[p->order[i]] = 0;
}

static void print_op(printer *p, size_t number, const net_op *op) {
  text_printf(p->out, "  op %zu", number);
  for (uint32_t i = 0; i < op->k; i++) {
    text_string(p->out, i == 0 ? " directions" : "");
    net_write_mask(p->out, op->directions[i], p->stage->n);
  }
  net_write_forms(p->out, " coordinates ", op->k, op->coordinates);
  net_write_forms(p->out, " live ", op->live_count, op->live);
  text_printf(p->out, " step %%%" PRIu32 "\n", op->origin);
  print_nodes(p, op);
}

// ---- stages ----------------------------------------------------------------------------------

void net_write_routine(text *out, const net_routine *r) {
  text_printf(out, " routine %s rows %" PRIu64 " length %" PRIu64, net_routine_names[r->kind],
              r->rows, r->length);
  if (r->limit)
    text_printf(out, " below %" PRIu64, r->limit);
  for (uint32_t i = 0; i < r->dimension_count; i++) {
    net_dimension d = r->dimensions[i];
    text_printf(out, "%s %" PRIu64 ":%" PRIu64 ":%" PRIu64, i ? "" : " dimensions", d.extent,
                d.from, d.to);
  }
  text_printf(out, "%s%s%s", r->descending ? " descending" : "", r->distinct ? " distinct" : "",
              r->back ? " back" : "");
  if (r->origin != NET_NONE)
    text_printf(out, " step %%%" PRIu32, r->origin);
  if (r->ragged)
    text_printf(out, " offsets a%" PRIu32, r->offsets);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    net_routine_pair p = r->pairs[i];
    text_string(out, "\n  from ");
    if (p.from == NET_NONE)
      text_string(out, "index");
    else
      text_printf(out, "a%" PRIu32, p.from);
    text_string(out, " to ");
    if (p.to == NET_NONE)
      text_string(out, "none");
    else
      text_printf(out, "a%" PRIu32, p.to);
    if (r->counts && i == r->pair_count - 1)
      text_string(out, " counts");
  }
}

static void print_stage(printer *p, size_t number, const net_stage *s) {
  p->stage = s;
  p->uses = NEW_ARRAY(&p->memory, uint32_t, s->nodes.count);
  p->names = NEW_ARRAY(&p->memory, uint32_t, s->nodes.count);
  p->order = NEW_ARRAY(&p->memory, net_id, s->nodes.count);
  text_printf(p->out, "stage %zu n=%d", number, s->n);
  if (s->shares)
    text_printf(p->out, " shares %d", s->shares);
  if (s->share_turns)
    text_printf(p->out, " turns %" PRIu64, s->share_turns);
  if (s->share_outer)
    text_printf(p->out, " of o%u", (unsigned)s->share_outer);
  for (uint32_t l = 0; l < s->loop_count; l++) {
    text_printf(p->out, "%s %" PRIu64, l == 0 ? " loops" : "", s->extents[l]);
    if (s->paces)
      text_printf(p->out, "*%" PRIu64 "..%" PRIu64, s->paces[l].step, s->paces[l].last);
  }
  if (s->routine)
    net_write_routine(p->out, s->routine);
  text_string(p->out, "\n");
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *o = &s->loads.items[i];
    text_printf(p->out, "  v%" PRIu32 " = load a%" PRIu32, o->value, o->array);
    net_write_place(p->out, &o->map, o->padding_start, s->values.items[o->value],
                    &o->padding_value);
    text_string(p->out, "\n");
  }
  for (size_t i = 0; i < s->ops.count; i++)
    print_op(p, i, &s->ops.items[i]);
  for (size_t i = 0; i < s->stores.count; i++) {
    const net_store *o = &s->stores.items[i];
    text_printf(p->out, "  store v%" PRIu32 " in a%" PRIu32, o->value, o->array);
    net_write_place(p->out, &o->map, o->padding_start, SCALAR_COUNT, NULL);
    net_write_forms(p->out, " live ", o->live_count, o->live);
    text_string(p->out, "\n");
  }
}

// ---- the whole -------------------------------------------------------------------------------

static void print_extern(text *out, size_t id, const c_function *e) {
  text_printf(out, "extern e%zu %s", id, e->name);
  for (uint32_t i = 0; i < e->arity; i++)
    text_printf(out, " %s", scalar_types[e->parameters[i]].name);
  text_printf(out, " -> %s in \"", scalar_types[e->result].name);
  for (const char *at = e->library; *at; at++) {
    if (*at == '\n') {
      text_string(out, "\\n");
      continue;
    }
    text_string(out, *at == '"' || *at == '\\' ? "\\" : "");
    text_add(out, at, 1);
  }
  text_string(out, "\"\n");
}

static void print_net(printer *p, const net *t) {
  for (size_t i = 0; i < t->arrays.count; i++)
    net_write_array(p->out, i, &t->arrays.items[i]);
  for (size_t i = 0; i < t->externs.count; i++)
    print_extern(p->out, i, &t->externs.items[i]);
  for (size_t i = 0; i < t->stages.count; i++)
    print_stage(p, i, &t->stages.items[i]);
}

const char net_legend[] =
    "# Net: operations on index spaces.\n"
    "#   array      element type, number of elements, role\n"
    "#   stage      an index x has n bits x0, x1, ...; o0, o1, ... count the loops around it\n"
    "#              shares 2: the highest 2 bits number the share of whoever executes it;\n"
    "#              turns 5: a share has 5 turns of o0 (of o2: and one of o0 and o1)\n"
    "#   load       a value has an element at every index: the one at this address, a sum of\n"
    "#              weighted bits (x0^x2 is an exclusive or)\n"
    "#   op         a group is the indices that differ by sums of the directions (0b0011 flips\n"
    "#              x0 and x1); v0[j] is the element where coordinate i equals bit i of j\n"
    "#              (x0^1: where it is not). Without directions: one element at a time. t0 is a\n"
    "#              value inside of the op; dead: not computed, as no store needs it\n"
    "#   gather a0  the element of a0 at this address; scatter a0 i x: x goes there\n"
    "#   routine    an algorithm on whole arrays: sort (the keys come first; payloads go with "
    "them),\n"
    "#              places (where keys go), count (how many of each key there are),\n"
    "#              check (the first that is no place), transpose (each dimension: its length, "
    "how\n"
    "#              far apart elements are before and after)\n"
    "#   step %8    the (first) step of the Trace that the op comes from\n"
    "#   live       the op, or store, matters where these forms are 0\n"
    "#   padded     addresses from here on are not in memory: loads read the constant\n";

void net_print(text *out, const net *t) {
  jmp_buf failure;
  c_environment locale;
  printer p = {.memory.failure = &failure, .out = out};
  if (!c_environment_enter(&locale)) {
    out->failed = true;
    return;
  }
  if (setjmp(failure) == 0)
    print_net(&p, t);
  else
    out->failed = true;
  arena_free(&p.memory);
  c_environment_leave(&locale);
}
