// The rule in-place. A JOIN is an op that chooses between two values by its index: they lie side by
// side, and together they take the room of one, if they are one from the start.
//
//   op 0 live x1 step %1             op 0 step %1
//     v1[0] = * v0[0] v0[0]     ->     t0 = * v0[0] v0[0]
//   op 1 step %2                       t1 = < (index x1) i64:1
//     t0 = < (index x1) i64:1          v1[0] = select t1 t0 v0[0]
//     v2[0] = select t0 v1[0] v0[0]
//
// So a join is what a phi is to a compiler of scalar code, and goes as phis do, by coalescing.
// Values that are to be one are a CLASS, and each of them is WANTED on a part of the indices until
// its last reader. Two are in CONFLICT if one is made where the other is wanted, before that one's
// last reader. A class without conflicts is executed as one variable: an op that makes one of its
// values changes the variable where that is wanted, and leaves it elsewhere; a join does nothing.
//
//   n = 3                              wanted on      made  last     the variable v0 ... v4
//   v0 = load                          all               -     3     all v0
//   op 0: v1 = f v0                    x0^1              0     1     v1 where x0 is 1, else v0
//   op 1: v2 = select (x0 < 1) v0 v1   all               1     4     the same
//   op 2: ...
//   op 3: v3 = g v2                    x0, x1^1          3     4     v3 where x0 = 0 and x1 = 1
//   op 4: v4 = select (x0 < 1) (select (x1 < 1) v0 v3) v2
//
// An op must read the class that it changes a part of, so that it takes no more room than before.
// If it reads none of it, one of its operands joins the class, and what that was made from, ...
#include "fusion/rules/rewriting.h"

// Somebody needs a value on a part of the indices.
typedef struct reader {
  uint32_t at;  // 1 + the op; a store: NET_NONE
  const net_domain *want;
  struct reader *later;
} reader;

// A value.
typedef struct member {
  uint32_t made, last;     // 1 + the op; a load: 0. Nobody reads it after its `last`
  bool gone;               // a join, which does nothing
  const net_domain *want;  // by all readers
  reader *readers;         // the first one first
  // A class is a tree, and a list, in which the value that is made last comes first. `until`: the
  // largest `last` of the value and those behind it. Of the root: the list's first value, and when
  // its last one is made.
  net_id parent, earlier, latest;
  uint32_t until, first;
} member;

typedef struct coalescing {
  rewriter *r;
  net_uses uses;
  member *members;           // by value
  const net_domain *domain;  // the one that was kept last
  net_id *order;             // scratch
  // Of each class, while its ops are executed:
  net_id *now;       // the latest value of the variable
  uint32_t *needed;  // the largest `last` of values that were made
} coalescing;

// z = select c y w, or select c w y.
typedef struct join {
  net_id condition, chosen[2], value;  // chosen[0] where the condition holds
} join;

static bool find_join(const net_stage *s, const net_op *op, const net_output *output, join *j) {
  const net_node *node = op->k ? NULL : &s->nodes.items[output->elements[0]];
  f2_space set;
  if (!node || node->kind != NET_SELECT || !net_condition_set(s, node->operands[0], &set))
    return false;
  *j = (join){.condition = node->operands[0], .value = output->value};
  for (int i = 0; i < 2; i++) {
    const net_node *chosen = &s->nodes.items[node->operands[1 + i]];
    if (chosen->kind != NET_ELEMENT)
      return false;
    j->chosen[i] = chosen->value;
  }
  return true;
}

// Whether the node is an element, or a selection among elements.
static bool is_choice(const net_stage *s, net_id id) {
  const net_node *node = &s->nodes.items[id];
  if (node->kind != NET_SELECT)
    return node->kind == NET_ELEMENT;
  return is_choice(s, node->operands[1]) && is_choice(s, node->operands[2]);
}

bool op_only_chooses(const net_stage *s, const net_op *op) {
  bool all = op->k == 0;
  for (uint32_t i = 0; i < op->output_count && all; i++)
    all = is_choice(s, op->outputs[i].elements[0]);
  return all;
}

// ---- where values are wanted, and how long ---------------------------------------------------

static const net_domain *keep_domain(coalescing *c, net_domain domain) {
  if (!c->domain || !f2_space_equal(c->domain->on, domain.on) ||
      !f2_space_equal(c->domain->except, domain.except)) {
    net_domain *kept = NEW(c->r->memory, net_domain);
    *kept = domain;
    c->domain = kept;
  }
  return c->domain;
}

static void want(coalescing *c, net_id value, uint32_t at, net_domain domain) {
  member *m = &c->members[value];
  reader *first = NEW(c->r->memory, reader);
  *first = (reader){at, keep_domain(c, domain), m->readers};
  m->want = m->readers ? keep_domain(c, net_domain_hull(*m->want, domain)) : first->want;
  m->readers = first;
}

// Whether somebody needs the value after that on indices of the domain.
static bool is_wanted_after(const member *m, uint32_t at, const net_domain *domain) {
  for (const reader *of = m->readers; of; of = of->later)
    if (of->at > at && net_domains_meet(of->want, domain))
      return true;
  return false;
}

// The part of the domain, which has all of each coset, where the op reads elements of the value.
static net_domain domain_of_reads(coalescing *c, const net_op *op, net_id value,
                                  net_domain domain) {
  uint64_t ones = UINT64_MAX, any = 0;
  for (uint32_t i = op->k ? rewriter_walk(c->r, op) : 0; i-- > 0;) {
    const net_node *node = node_at(c->r, c->r->nodes[i]);
    if (node->kind == NET_ELEMENT && node->value == value) {
      ones &= node->number;
      any |= node->number;
    }
  }
  for (uint32_t i = 0; i < op->k; i++)
    if (f2_bit(ones, (int)i) == f2_bit(any, (int)i))
      domain.on = live_where(domain.on,
                             net_form_sum(op->coordinates[i], (net_form){0, f2_bit(any, (int)i)}));
  return domain;
}

// What the op reads, where it makes something that is wanted, in all of the coset; or everywhere,
// where it does more than that. What it makes then is left as it is nowhere.
static void find_wants_of_op(coalescing *c, uint32_t number) {
  const net_stage *s = c->r->stage;
  const net_op *op = &s->ops.items[number];
  f2_space live = live_of_op(s, op);
  bool foreign = op_has_effect(c->r, op);
  net_domain all = net_domain_on(foreign ? live : live_empty(s->n));
  for (uint32_t i = 0; i < op->output_count; i++) {
    member *m = &c->members[op->outputs[i].value];
    net_domain part = *m->want;
    join j;
    if (foreign) {
      m->want = keep_domain(c, net_domain_on(live_all(s->n)));
    } else if (find_join(s, op, &op->outputs[i], &j)) {
      for (int side = 0; side < 2; side++)
        want(c, j.chosen[side], number + 1, net_domain_where(s, m->want, j.condition, side == 0));
    } else {
      part.on = live_intersection(live_cosets(part.on, op->k, op->directions), live);
      if (!f2_space_equal(part.except, live_cosets(part.except, op->k, op->directions)))
        part.except = live_empty(s->n);
      all = net_domain_hull(all, part);
    }
  }
  for (uint32_t k = 0; k < c->uses.reads[number].count; k++) {
    net_id v = c->uses.reads[number].values[k];
    want(c, v, number + 1, domain_of_reads(c, op, v, all));
  }
}

static void find_wants(coalescing *c) {
  const net_stage *s = c->r->stage;
  for (net_id v = 0; v < s->values.count; v++) {
    const net_value_uses *u = &c->uses.values[v];
    uint32_t made = u->maker == NET_NONE ? 0 : u->maker + 1;
    uint32_t last = u->stored ? NET_NONE : u->last == NET_NONE ? made : u->last + 1;
    c->members[v] = (member){.made = made,
                             .first = made,
                             .last = last,
                             .until = last,
                             .parent = v,
                             .latest = v,
                             .earlier = NET_NONE,
                             .want = keep_domain(c, net_domain_on(live_empty(s->n)))};
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    const net_store *store = &s->stores.items[i];
    want(c, store->value, NET_NONE, net_domain_on(live_set(s->n, store->live_count, store->live)));
  }
  for (size_t i = s->ops.count; i-- > 0;)
    find_wants_of_op(c, (uint32_t)i);
}

// ---- classes ---------------------------------------------------------------------------------

static net_id class_of(const coalescing *c, net_id value) {
  while (c->members[value].parent != value)
    value = c->members[value].parent = c->members[c->members[value].parent].parent;
  return value;
}

// Whether a value of class a is made where one of class b is wanted.
static bool overwrites(const coalescing *c, net_id a, net_id b) {
  net_id before = c->members[b].latest;
  for (net_id v = c->members[a].latest; v != NET_NONE; v = c->members[v].earlier) {
    const member *m = &c->members[v];
    if (m->made < c->members[b].first)
      return false;
    while (before != NET_NONE && c->members[before].made > m->made)
      before = c->members[before].earlier;
    for (net_id u = before; u != NET_NONE && !m->gone; u = c->members[u].earlier) {
      const member *of = &c->members[u];
      if (of->until <= m->made)
        break;
      if (of->made == m->made && m->made == 0)
        return true;
      if (of->made == m->made ? net_domains_meet(of->want, m->want)
                              : is_wanted_after(of, m->made, m->want))
        return true;
    }
  }
  return false;
}

static void unite(coalescing *c, net_id a, net_id b) {
  net_id lists[2] = {c->members[a].latest, c->members[b].latest};
  uint32_t count = 0;
  if (a == b)
    return;
  while (lists[0] != NET_NONE && lists[1] != NET_NONE) {
    net_id *later = &lists[c->members[lists[1]].made > c->members[lists[0]].made];
    c->order[count++] = *later;
    *later = c->members[*later].earlier;
  }
  net_id rest = lists[lists[0] == NET_NONE];
  while (count-- > 0) {
    member *m = &c->members[c->order[count]];
    m->earlier = rest;
    m->until = c->members[rest].until > m->last ? c->members[rest].until : m->last;
    rest = c->order[count];
  }
  c->members[b].parent = a;
  c->members[a].latest = rest;
  if (c->members[b].first < c->members[a].first)
    c->members[a].first = c->members[b].first;
}

// ---- joins that do nothing -------------------------------------------------------------------

enum { MOST_TOGETHER = 16 };  // classes that become one at a time

// Classes that are to be one.
typedef struct joining {
  uint32_t count;
  net_id classes[MOST_TOGETHER];
} joining;

static bool is_joining(const joining *j, net_id class) {
  uint32_t i = 0;
  while (i < j->count && j->classes[i] != class)
    i++;
  return i < j->count;
}

static bool add_class(const coalescing *c, joining *j, net_id class) {
  if (is_joining(j, class))
    return j->count < MOST_TOGETHER;
  for (uint32_t i = 0; i < j->count; i++)
    if (overwrites(c, class, j->classes[i]) || overwrites(c, j->classes[i], class))
      return false;
  j->classes[j->count++] = class;
  return j->count < MOST_TOGETHER;
}

// The op that makes the first value of a class reads one of the others, or what it reads last joins
// them: of several values the one that was made last. False: there is none.
static bool add_operand(const coalescing *c, joining *j, net_id class) {
  uint32_t made = c->members[class].first;
  const net_stage *s = c->r->stage;
  const net_reads *reads = &c->uses.reads[made - 1];
  net_id found = NET_NONE;
  for (uint32_t i = 0; i < reads->count; i++) {
    net_id v = reads->values[i];
    if (is_joining(j, class_of(c, v)))
      return true;
    if (s->values.items[v] == s->values.items[class] && c->members[v].last <= made &&
        (found == NET_NONE || c->members[v].made > c->members[found].made)) {
      joining with = *j;
      found = add_class(c, &with, class_of(c, v)) ? v : found;
    }
  }
  return found != NET_NONE && add_class(c, j, class_of(c, found));
}

// The classes of two values, and others that these need. False: they cannot be one.
static bool find_classes(const coalescing *c, net_id v, net_id w, joining *j) {
  *j = (joining){1, {class_of(c, v)}};
  if (!add_class(c, j, class_of(c, w)))
    return false;
  for (uint32_t i = 0; i < j->count; i++) {
    uint32_t first = UINT32_MAX, own = c->members[j->classes[i]].first;
    for (uint32_t k = 0; k < j->count; k++)
      first = c->members[j->classes[k]].first < first ? c->members[j->classes[k]].first : first;
    if (own > first && !add_operand(c, j, j->classes[i]))
      return false;
  }
  return true;
}

// Whether the join is gone.
static bool coalesce(coalescing *c, const net_op *op, const net_output *output) {
  join j;
  joining with;
  if (!find_join(c->r->stage, op, output, &j) || live_is_empty(c->members[j.value].want->on) ||
      !find_classes(c, j.chosen[0], j.chosen[1], &with))
    return false;
  rewriter_at(c->r, op);
  rewriter_fired(c->r, RULE_IN_PLACE, 0, 0);
  c->members[j.value].gone = true;
  for (uint32_t i = 0; i < with.count; i++)
    unite(c, class_of(c, j.value), with.classes[i]);
  return true;
}

// Whether one output is the other with its elements numbered otherwise.
static bool are_turned(const net_op *op, const net_output *a, const net_output *b) {
  for (uint64_t turn = 1; turn < UINT64_C(1) << op->k; turn++) {
    uint64_t j = 0;
    while (j < UINT64_C(1) << op->k && a->elements[j] == b->elements[j ^ turn])
      j++;
    if (j == UINT64_C(1) << op->k)
      return true;
  }
  return false;
}

// Outputs of an op that are one another's turned elements, each wanted elsewhere, become one, which
// the rule turned-half makes without a choice. Without members: whether there are some.
static bool coalesce_turned(coalescing *c, const net_op *op) {
  bool any = false;
  for (uint32_t i = 0; i < op->output_count; i++)
    for (uint32_t k = 0; k < i; k++) {
      if (!are_turned(op, &op->outputs[i], &op->outputs[k]))
        continue;
      if (!c->members)
        return true;
      net_id a = class_of(c, op->outputs[i].value), b = class_of(c, op->outputs[k].value);
      if (a == b || overwrites(c, a, b) || overwrites(c, b, a))
        continue;
      rewriter_at(c->r, op);
      rewriter_fired(c->r, RULE_IN_PLACE, 0, 0);
      unite(c, a, b);
      any = true;
    }
  return any;
}

// ---- the stage without them ------------------------------------------------------------------

// The op with the variables' latest values, of those that it reads.
static net_op with_latest_values(coalescing *c, const net_op *op) {
  rewriter *r = c->r;
  uint32_t count = rewriter_walk(r, op);
  for (uint32_t i = 0; i < count; i++) {
    net_node node = *node_at(r, r->nodes[i]);
    if (node.kind == NET_ELEMENT)
      node.value = c->now[class_of(c, node.value)];
    node = net_node_renumbered(r->memory, &node, r->memo);
    r->memo[r->nodes[i]] = node_simplified(r, &node);
  }
  return rewriter_take_memo(r, op, count);
}

static void need(coalescing *c, net_id value) {
  uint32_t *needed = &c->needed[class_of(c, value)];
  *needed = c->members[value].last > *needed ? c->members[value].last : *needed;
}

// Where the op is alive: it also keeps elements of variables that others need.
static f2_space live_with_kept(coalescing *c, const net_op *op, uint32_t at) {
  const net_stage *s = c->r->stage;
  for (uint32_t i = 0; i < op->output_count; i++)
    if (c->needed[class_of(c, op->outputs[i].value)] > at && !c->members[op->outputs[i].value].gone)
      return live_all(s->n);
  return live_of_op(s, op);
}

// Element e of what the op makes, or of what is there.
static net_id changed_element(coalescing *c, const net_op *op, f2_space live, const net_output *of,
                              uint64_t e, net_id there) {
  net_id made = of->elements[e];
  if (made == NET_NONE || there == NET_NONE)
    return made == NET_NONE ? there : made;
  return net_domain_choose(c->r->memory, c->r->stage, op, e, c->members[of->value].want, live, made,
                           there);
}

// The op, 1 + its number was `at`, as one that changes variables, by one output each.
static net_op change_variables(coalescing *c, const net_op *op, uint32_t at) {
  rewriter *r = c->r;
  net_op changed = *op;
  f2_space live = live_with_kept(c, op, at);
  net_output *last = NEW_ARRAY(r->memory, net_output, op->output_count + 1), *into;
  changed.outputs = last;
  changed.live = live_forms(r->memory, live, &changed.live_count);
  for (uint32_t i = 0; i < op->output_count; i++) {
    const net_output *of = &op->outputs[i];
    net_id class = class_of(c, of->value);
    if (c->members[of->value].gone)
      continue;
    for (into = changed.outputs; into < last && class_of(c, into->value) != class;)
      into++;
    bool first = into == last;
    if (first)
      *last++ = (net_output){of->value, NEW_ARRAY(r->memory, net_id, UINT64_C(1) << op->k)};
    for (uint64_t e = 0; e < UINT64_C(1) << op->k; e++) {
      net_id there = into->elements[e];
      net_node kept = {.kind = NET_ELEMENT, .type = r->stage->values.items[class], .number = e};
      kept.value = c->now[class];
      if (first)
        there = c->needed[class] > at ? net_node_add(r->memory, r->stage, &kept) : NET_NONE;
      into->elements[e] = changed_element(c, op, live, of, e, there);
    }
  }
  changed.output_count = (uint32_t)(last - changed.outputs);
  return changed;
}

static void execute_stage(coalescing *c) {
  net_stage *s = c->r->stage;
  uint32_t kept = 0;
  c->now = NEW_ARRAY(c->r->memory, net_id, s->values.count);
  c->needed = NEW_ARRAY(c->r->memory, uint32_t, s->values.count);
  for (size_t i = 0; i < s->loads.count; i++) {
    net_id v = s->loads.items[i].value;
    c->now[class_of(c, v)] = v;
    need(c, v);
  }
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op op = with_latest_values(c, &s->ops.items[i]);
    net_op changed = change_variables(c, &op, i + 1);
    for (uint32_t k = 0; k < op.output_count; k++)
      need(c, op.outputs[k].value);
    for (uint32_t k = 0; k < changed.output_count; k++)
      c->now[class_of(c, changed.outputs[k].value)] = changed.outputs[k].value;
    if (changed.output_count)
      s->ops.items[kept++] = changed;
  }
  s->ops.count = kept;
  for (size_t i = 0; i < s->stores.count; i++)
    s->stores.items[i].value = c->now[class_of(c, s->stores.items[i].value)];
}

void stage_coalesce_joins(rewriter *r) {
  const net_stage *s = r->stage;
  coalescing c = {.r = r};
  join j;
  bool any = false;
  for (size_t i = 0; i < s->ops.count && !any; i++) {
    any = coalesce_turned(&c, &s->ops.items[i]);
    for (uint32_t k = 0; k < s->ops.items[i].output_count && !any; k++)
      any = find_join(s, &s->ops.items[i], &s->ops.items[i].outputs[k], &j);
  }
  if (!any)
    return;
  c.uses = net_uses_of(r->memory, s);
  c.members = NEW_ARRAY(r->memory, member, s->values.count);
  c.order = NEW_ARRAY(r->memory, net_id, s->values.count);
  find_wants(&c);
  any = false;
  for (size_t i = 0; i < s->ops.count; i++) {
    any |= coalesce_turned(&c, &s->ops.items[i]);
    for (uint32_t k = 0; k < s->ops.items[i].output_count; k++)
      any |= coalesce(&c, &s->ops.items[i], &s->ops.items[i].outputs[k]);
  }
  if (any)
    execute_stage(&c);
}
