// Ops in an order with fewer passes. See plan.h. Where chains of ops end in one, their last ops go
// IN LOCKSTEP, those that are as far from the end in turn, and share a pass. Ops that change
// different elements COMMUTE:
//
// An op is IN PLACE on a live set S (net.h) if everywhere else it leaves the value that it reads.
// Two ops whose sets have no index in common commute. An op may also be done in two parts: first
// on a set of whole cosets of its directions, later on the rest of S.
//
// So a pass goes through the ops in order and takes those whose directions fit into its tile. What
// an op that it leaves would have changed is BLOCKED: the set B, from then on. Later ops are taken
// where they do not meet B; what their pairs join with B is blocked as well.
//
//   The last columns of Batcher's odd-even merge, tiles of 2^15: i meets i + k, k = 16, 8, 4, 2, 1, if
//   floor(i / k) is odd. The carry of i + k decides the direction: 2k + k, 4k + 2k + k, ... Those that
//   reach x15 leave the tile <x0 ... x14>.
//
//      k   blocked by what is left             the same around a multiple of 2^15, x15 ...
//      16  x4 = x5 = ... = x14                              . . . # # . . .
//      8   x5 = ... = x14                                 . . # # # # . .
//      4   x6 = ... = x14                               . . # # # # # # .
//      2   x7 = ... = x14                             . . # # # # # # # # .
//      1   x8 = ... = x14                           . . # # # # # # # # # #     #: done by the next pass
//
//   Five levels are two passes, of which the second has 2^14 of the elements of each 2^20, in the tile
//   <x0 ... x7, x8 + ... + x14, x15 ... x19>. In order they are five passes: each level needs all
//   directions above its own.
#include "fusion/plan/planning.h"

typedef struct part {  // of an op
  uint32_t op;
  const f2_space *set;       // what it changes
  const net_domain *domain;  // NULL: all of it
} part;

typedef struct part_list {
  part *items;
  size_t count, capacity;
} part_list;

typedef struct commuting {
  arena *memory;
  const planning *p;
  const net_stage *s;
  net_id *component;  // by value: the first of those that continue one another
  f2_space *changes;  // by op
  bool *divisible;    // by op: all its outputs continue a value
} commuting;

// ---- what an op changes ----------------------------------------------------------------------

// Where in the set the node is not element `e` of the value; or more.
static f2_space changed_by(const net_stage *s, net_id id, net_id value, uint64_t e, f2_space set) {
  const net_node *node = &s->nodes.items[id];
  if (node->kind == NET_ELEMENT && node->value == value && node->number == e)
    return live_empty(s->n);
  if (node->kind != NET_SELECT)
    return set;
  net_domain all = net_domain_on(set);
  f2_space changed[2];
  for (int side = 0; side < 2; side++)
    changed[side] = changed_by(s, node->operands[1 + side], value, e,
                               net_domain_where(s, &all, node->operands[0], side == 0).on);
  return live_hull(changed[0], changed[1]);
}

static f2_space changed_of(const net_stage *s, const net_op *op, const net_output *output,
                           net_id value) {
  f2_space set = live_empty(s->n), live = live_of_op(s, op);
  for (uint64_t e = 0; e < UINT64_C(1) << op->k; e++)
    if (output->elements[e] != NET_NONE)
      set = live_hull(set, changed_by(s, output->elements[e], value, e, live));
  return live_cosets(set, op->k, op->directions);
}

// The value that the output continues, of those that the op reads, or NET_NONE. *set: where it
// changes that.
static net_id continued_value(const commuting *c, uint32_t number, const net_output *output,
                              uint32_t count, const net_id *reads, f2_space *set) {
  const net_stage *s = c->s;
  net_id found = NET_NONE;
  for (uint32_t i = 0; i < count; i++) {
    net_id v = reads[i];
    if (v == NET_NONE || s->values.items[v] != s->values.items[output->value] ||
        c->p->uses.values[v].stored || c->p->uses.values[v].last != number)
      continue;
    f2_space changed = changed_of(s, &s->ops.items[number], output, v);
    if (found != NET_NONE && changed.dimension <= set->dimension)
      continue;
    found = v;
    *set = changed;
  }
  return found;
}

static void find_changes(commuting *c, uint32_t number, uint32_t count, net_id *reads,
                         net_id *current) {
  const net_op *op = &c->s->ops.items[number];
  c->divisible[number] = true;
  c->changes[number] = live_empty(c->s->n);
  for (uint32_t o = 0; o < op->output_count; o++) {
    net_id made = op->outputs[o].value;
    f2_space set;
    net_id v = continued_value(c, number, &op->outputs[o], count, reads, &set);
    if (v == NET_NONE) {
      c->divisible[number] = false;
      set = live_of_op(c->s, op);
    }
    c->component[made] = v == NET_NONE ? made : c->component[v];
    current[c->component[made]] = made;
    c->changes[number] = live_hull(c->changes[number], set);
    for (uint32_t i = 0; i < count; i++)
      reads[i] = reads[i] == v ? NET_NONE : reads[i];
  }
}

// Components and changes. False: a value is read after another has continued it, or the stage has
// what this file does not know.
static bool find_components(commuting *c) {
  const net_stage *s = c->s;
  net_id *current = NEW_ARRAY(c->memory, net_id, s->values.count + 1);
  net_id *reads = NEW_ARRAY(c->memory, net_id, s->values.count + 1);
  if (net_stage_has(s, NET_EXTERN))
    return false;
  for (size_t i = 0; i < s->loads.count; i++) {
    net_id v = s->loads.items[i].value;
    c->component[v] = current[v] = v;
  }
  for (uint32_t i = 0; i < s->ops.count; i++) {
    uint32_t count = c->p->uses.reads[i].count;
    memcpy(reads, c->p->uses.reads[i].values, count * sizeof *reads);
    for (uint32_t k = 0; k < count; k++)
      if (current[c->component[reads[k]]] != reads[k])
        return false;
    find_changes(c, i, count, reads, current);
  }
  for (size_t i = 0; i < s->stores.count; i++)
    if (current[c->component[s->stores.items[i].value]] != s->stores.items[i].value)
      return false;
  return true;
}

// ---- one pass --------------------------------------------------------------------------------

typedef struct attempt {
  run run;  // its tile and slots
  part_list taken, left;
  size_t next;  // all parts from here on are left as well
} attempt;

static bool meet(f2_space a, f2_space b) { return !live_is_empty(f2_space_sum(a, b)); }

static const f2_space *keep_set(const commuting *c, f2_space set) {
  f2_space *kept = NEW(c->memory, f2_space);
  *kept = set;
  return kept;
}

static const net_domain *keep_domain(const commuting *c, net_domain domain) {
  net_domain *kept = NEW(c->memory, net_domain);
  *kept = domain;
  return kept;
}

// Whether the tile can have the op's directions, and lines in common with the tile before.
static bool widen_tile(const commuting *c, run *r, uint32_t number, const f2_space *before) {
  const net_op *op = &c->s->ops.items[number];
  run wider = *r;
  wider.slots |= c->p->op_slots[number];
  for (uint32_t k = 0; k < op->k; k++)
    f2_space_insert(&wider.space, op->directions[k]);
  int shared = before ? f2_space_intersection(wider.space, *before).dimension : c->p->t;
  int lines = shared < c->p->t ? c->p->t - shared : 0;
  if (wider.space.dimension + lines > plan_room(c->p, &wider))
    return false;
  *r = wider;
  return true;
}

// Takes what is not blocked of a part, or comes to be, and leaves the rest. False: it is all
// blocked.
static bool take_part(const commuting *c, attempt *t, const part *of, f2_space *blocked) {
  const net_op *op = &c->s->ops.items[of->op];
  part taken = *of, left = *of;
  if (meet(*of->set, *blocked)) {
    f2_space more = live_cosets(*blocked, op->k, op->directions);
    if (!c->divisible[of->op] || live_within(*of->set, more))
      return false;
    *blocked = more;
    f2_space on = of->domain ? of->domain->on : live_all(c->s->n);
    taken.domain = keep_domain(c, (net_domain){on, more});
    left.set = keep_set(c, live_intersection(*of->set, more));
    left.domain = keep_domain(c, net_domain_on(live_intersection(on, more)));
    vec_push(c->memory, &t->left, left);
  }
  vec_push(c->memory, &t->taken, taken);
  return true;
}

// A pass of the parts in order. Sets of less than 2^-small of the indices do not widen its tile. It
// ends where everything is blocked, or many parts in turn were left: so that planning is linear in
// ops.
static attempt attempt_pass(const commuting *c, const part_list *parts, int small,
                            const f2_space *before) {
  enum { MANY = 128 };
  attempt t = {.run = {.first = before ? 1 : 0, .space = f2_space_zero(c->s->n)}};
  f2_space blocked = live_empty(c->s->n);
  size_t latest = 0;
  for (size_t i = 0; i < c->s->loads.count && !before; i++)
    t.run.space = f2_space_sum(
        t.run.space, lines_of_value(c->p, &c->s->loads.items[i].map, c->s->loads.items[i].value));
  for (; t.next < parts->count && blocked.dimension > 0 && t.next - latest < MANY; t.next++) {
    const part *of = &parts->items[t.next];
    const net_op *op = &c->s->ops.items[of->op];
    run wider = t.run;
    bool fits = f2_space_contains(wider.space, f2_span(c->s->n, (int)op->k, op->directions)) ||
                of->set->dimension <= small;
    if (fits && widen_tile(c, &wider, of->op, before) && take_part(c, &t, of, &blocked)) {
      t.run = wider;
      latest = t.next;
    } else {
      blocked = live_hull(blocked, *of->set);
      vec_push(c->memory, &t.left, *of);
    }
  }
  return t;
}

static size_t count_left(const part_list *parts, const attempt *t) {
  return t->left.count + parts->count - t->next;
}

// Of several attempts the one after which the fewest parts are left. One that takes none is no
// pass.
static bool best_attempt(const commuting *c, const part_list *parts, const f2_space *before,
                         attempt *best) {
  static const int small[] = {F2_MAX, 12, 10, 8, 6, 4};
  *best = (attempt){0};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
    attempt t = attempt_pass(c, parts, small[i], before);
    if (t.taken.count && (!best->taken.count || count_left(parts, &t) < count_left(parts, best)))
      *best = t;
  }
  return best->taken.count > 0;
}

// ---- the stage in that order -----------------------------------------------------------------

typedef struct writing {
  const commuting *c;
  net_stage *s;
  net_id *now;      // by component: its latest value
  net_id *renamed;  // by node
} writing;

// An element of a value, as it is now. Where no op has made one yet, none is needed: any constant.
static net_node latest_element(const writing *w, const net_node *of) {
  net_node node = *of;
  node.value = w->now[w->c->component[of->value]];
  return node.value == NET_NONE ? (net_node){.kind = NET_CONSTANT, .type = of->type} : node;
}

static void write_part(writing *w, const part *of) {
  arena *a = w->c->memory;
  const net_stage *old = w->c->s;
  const net_op *from = &old->ops.items[of->op];
  uint32_t count = net_op_nodes(old, from, old->walk);
  for (uint32_t i = 0; i < count; i++) {
    net_id id = old->walk[i];
    net_node node = net_node_renumbered(a, &old->nodes.items[id], w->renamed);
    if (node.kind == NET_ELEMENT)
      node = latest_element(w, &node);
    w->renamed[id] = net_node_add_owned(a, w->s, &node);
  }
  net_op op = net_op_changed(a, &(net_change){.nodes = w->renamed}, from);
  for (uint32_t o = 0; o < op.output_count; o++) {
    net_output *to = &op.outputs[o];
    net_node kept = {.kind = NET_ELEMENT, .type = old->values.items[to->value], .value = to->value};
    for (; of->domain && kept.number < UINT64_C(1) << op.k; kept.number++) {
      net_id *e = &to->elements[kept.number];
      const net_node now = latest_element(w, &kept);
      if (*e != NET_NONE)
        *e = net_domain_choose(a, w->s, &op, kept.number, of->domain, w->c->changes[of->op], *e,
                               net_node_add(a, w->s, &now));
    }
    to->value = net_value_add(a, w->s, kept.type);
  }
  for (uint32_t o = 0; o < op.output_count; o++)
    w->now[w->c->component[from->outputs[o].value]] = op.outputs[o].value;
  vec_push(a, &w->s->ops, op);
}

static net_stage write_stage(const commuting *c, const part_list *order) {
  arena *a = c->memory;
  const net_stage *old = c->s;
  net_stage s = net_stage_like(old);
  writing w = {c, &s, NEW_ARRAY(a, net_id, old->values.count + 1),
               NEW_ARRAY(a, net_id, old->nodes.count + 1)};
  net_nodes_reserve(a, &s, old->nodes.count);
  for (net_id v = 0; v < old->values.count; v++)
    w.now[v] = NET_NONE;
  for (size_t i = 0; i < old->loads.count; i++) {
    net_load load = old->loads.items[i];
    load.value = w.now[load.value] = net_value_add(a, &s, old->values.items[load.value]);
    vec_push(a, &s.loads, load);
  }
  for (size_t i = 0; i < order->count; i++)
    write_part(&w, &order->items[i]);
  for (size_t i = 0; i < old->stores.count; i++) {
    net_store store = old->stores.items[i];
    store.value = w.now[c->component[store.value]];
    vec_push(a, &s.stores, store);
  }
  return s;
}

// ---- the order to begin with -----------------------------------------------------------------

static int by_size(const void *a, const void *b) {
  const part *x = a, *y = b;
  if (x->set->dimension != y->set->dimension)
    return y->set->dimension - x->set->dimension;
  return (x->op > y->op) - (x->op < y->op);
}

// All ops, of those between which order is free the smallest first: these are the least likely to
// meet what is blocked, and to have more blocked.
static part_list parts_of_ops(const commuting *c) {
  enum { MOST = 64 };  // ops in any order
  const net_stage *s = c->s;
  part_list parts = {0};
  size_t group = 0;
  for (uint32_t i = 0; i < s->ops.count; i++) {
    part whole = {i, &c->changes[i], NULL};
    if (c->divisible[i] && live_is_empty(*whole.set))
      continue;
    bool free = parts.count - group < MOST;
    for (size_t k = group; k < parts.count && free; k++)
      free = !meet(*parts.items[k].set, *whole.set);
    if (!free) {
      qsort(parts.items + group, parts.count - group, sizeof *parts.items, by_size);
      group = parts.count;
    }
    vec_push(c->memory, &parts, whole);
  }
  if (parts.count > group)
    qsort(parts.items + group, parts.count - group, sizeof *parts.items, by_size);
  return parts;
}

// Whether each part makes all that the parts read which it has overtaken. (They read from its value
// then, also where no later one did.)
static bool makes_what_is_read(const commuting *c, const part_list *order) {
  const net_stage *s = c->s;
  for (size_t i = 0; i < order->count; i++) {
    f2_space made = live_of_op(s, &s->ops.items[order->items[i].op]);
    for (size_t k = i + 1; k < order->count && made.dimension > 0; k++) {
      const net_op *read = &s->ops.items[order->items[k].op];
      if (order->items[k].op < order->items[i].op &&
          !live_within(live_cosets(live_of_op(s, read), read->k, read->directions), made))
        return false;
    }
  }
  return true;
}

// ---- all passes ------------------------------------------------------------------------------

const net *plan_commuted(const planning *p, uint32_t passes, uint32_t *waiting) {
  const net_stage *s = p->stage;
  arena *a = p->memory;
  commuting c = {.memory = a, .p = p, .s = s};
  c.component = NEW_ARRAY(a, net_id, s->values.count + 1);
  c.changes = NEW_ARRAY(a, f2_space, s->ops.count + 1);
  c.divisible = NEW_ARRAY(a, bool, s->ops.count + 1);
  if (!find_components(&c))
    return NULL;
  part_list parts = parts_of_ops(&c), order = {0};
  const f2_space *before = NULL;
  *waiting = 0;
  for (uint32_t count = 1; parts.count > 0; count++) {
    attempt t;
    if (count >= passes || !best_attempt(&c, &parts, before, &t))
      return NULL;
    for (size_t i = 0; i < t.taken.count; i++)
      vec_push(a, &order, t.taken.items[i]);
    *waiting += (uint32_t)t.left.count;
    parts.items += t.next - t.left.count;  // those that are left instead of those looked at
    parts.count -= t.next - t.left.count;
    for (size_t i = 0; i < t.left.count; i++)
      parts.items[i] = t.left.items[i];
    before = keep_set(&c, t.run.space);
  }
  if (!makes_what_is_read(&c, &order))
    return NULL;
  return net_with_stage(a, p->net, p->stage_number, write_stage(&c, &order));
}

// ---- in lockstep -----------------------------------------------------------------------------

static uint32_t later_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

// By op: how many ops follow it, each of which reads what the one before it makes.
static uint32_t *find_heights(const planning *p) {
  const net_stage *s = p->stage;
  uint32_t *of_op = NEW_ARRAY(p->memory, uint32_t, s->ops.count + 1);
  uint32_t *of_value = NEW_ARRAY(p->memory, uint32_t, s->values.count + 1);
  for (size_t i = s->ops.count; i-- > 0;) {
    const net_op *op = &s->ops.items[i];
    for (uint32_t o = 0; o < op->output_count; o++)
      of_op[i] = later_of(of_op[i], of_value[op->outputs[o].value]);
    const net_reads *reads = &p->uses.reads[i];
    for (uint32_t k = 0; k < reads->count; k++)
      of_value[reads->values[k]] = later_of(of_value[reads->values[k]], of_op[i] + 1);
  }
  return of_op;
}

// The lowest height of two ops.
static uint32_t find_meeting(const planning *p, const uint32_t *height) {
  const size_t ops = p->stage->ops.count;
  uint32_t *count = NEW_ARRAY(p->memory, uint32_t, ops + 1), h = 0;
  for (size_t i = 0; i < ops; i++)
    count[height[i]]++;
  while (count[h] == 1)
    h++;
  return h;
}

const net *plan_in_lockstep(const planning *p, uint32_t levels) {
  const net_stage *old = p->stage;
  const uint32_t *height = find_heights(p);
  const uint32_t below = find_meeting(p, height) + levels;
  net_stage s = *old;
  s.ops.items = NEW_ARRAY(p->memory, net_op, old->ops.count + 1);
  s.ops.count = 0;
  for (size_t i = 0; i < old->ops.count; i++)
    if (height[i] >= below)
      s.ops.items[s.ops.count++] = old->ops.items[i];
  for (uint32_t h = below; h-- > 0;)
    for (size_t i = 0; i < old->ops.count; i++)
      if (height[i] == h)
        s.ops.items[s.ops.count++] = old->ops.items[i];
  bool same = true;
  for (size_t i = 0; i < old->ops.count && same; i++)
    same = s.ops.items[i].outputs == old->ops.items[i].outputs;
  return same ? NULL : net_with_stage(p->memory, p->net, p->stage_number, s);
}
