// Steps from plans for a target one level further out. See external.h.
#include "fusion/external/making.h"
#include "fusion/plan/plan.h"
#include "fusion/shares/passage.h"

// ---- a pass as a step ---------------------------------------------------------------------------

// Bytes of all slots for one element.
static uint64_t slot_bytes(const plan_pass *pass) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    bytes += pass->slot_bytes[i];
  return bytes;
}

// The tile with index bits besides, the lowest first, as many as memory has room for.
static f2_space widened_tile(const making *m, const plan_pass *pass, int n) {
  f2_space tile = pass->tile;
  for (int i = 0; i < n; i++)
    if (slot_bytes(pass) << (tile.dimension + 1) <= m->target->tile_bytes)
      f2_space_insert(&tile, f2_unit(i));
  return tile;
}

// Another file for each array that the pass loads, too, so that what has been read is still there
// when a run begins again after the half of a step; or that has had values of another type.
static void renew_stored(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *s = plan_stage_of(p, pass);
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id array = pass->stores[i].array;
    net_array like = p->arrays.items[array];
    like.type = s->values.items[pass->stores[i].value];
    if (like.type != m->out->arrays.items[m->arrays[array]].type ||
        plan_find_move(pass->loads, pass->load_count, array))
      m->arrays[array] = making_add_file(m, &like);
  }
}

// A value between passes, only where it has elements.
static void store_where_made(arena *a, const net_stage *s, net_store *o) {
  f2_space live = live_of_value(s, o->value);
  for (uint32_t i = 0; i < o->live_count; i++)
    live = live_where(live, o->live[i]);
  o->live = live_forms(a, live, &o->live_count);
}

// The pass's ops as a stage, with its loads and stores: of the plan's stage, index and arrays.
static net_stage stage_of_pass(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *from = plan_stage_of(p, pass);
  net_id *numbers = NEW_ARRAY(m->memory, net_id, from->values.count + 1);
  bool *kept = NEW_ARRAY(m->memory, bool, from->values.count + 1);
  for (uint32_t i = 0; i < pass->store_count; i++)
    if (pass->stores[i].array >= m->from->arrays.count)
      kept[pass->stores[i].value] = true;
  net_stage to = net_stage_of_ops(m->memory, from, pass->ops, pass->op_count, kept, numbers);
  for (uint32_t i = 0; i < pass->load_count; i++) {
    const plan_move *l = &pass->loads[i];
    net_load load = {net_value_number(m->memory, &to, from, numbers, l->value), m->arrays[l->array],
                     l->map, l->padding_start, l->padding_value};
    vec_push(m->memory, &to.loads, load);
  }
  renew_stored(m, p, pass);
  for (uint32_t i = 0; i < pass->store_count; i++) {
    const plan_move *o = &pass->stores[i];
    net_store store = {net_value_number(m->memory, &to, from, numbers, o->value),
                       m->arrays[o->array],
                       o->map,
                       o->padding_start,
                       o->live_count,
                       o->live};
    if (o->array >= m->from->arrays.count)
      store_where_made(m->memory, &to, &store);
    vec_push(m->memory, &to.stores, store);
  }
  for (size_t i = 0; i < to.nodes.count; i++)
    if (net_node_has_array(to.nodes.items[i].kind))
      to.nodes.items[i].number = m->arrays[to.nodes.items[i].number];
  return to;
}

// The stage with stores first, ..., end - 1 alone, and what these need.
static net_stage stage_of_stores(arena *a, const net_stage *of, size_t first, size_t end) {
  size_t values = of->values.count + 1;
  net_id *numbers = NEW_ARRAY(a, net_id, values);
  bool *needed = NEW_ARRAY(a, bool, values), *kept = NEW_ARRAY(a, bool, values);
  uint32_t count = (uint32_t)of->ops.count, last = count;
  uint32_t *ops = NEW_ARRAY(a, uint32_t, count + 1);
  for (size_t i = first; i < end; i++)
    needed[of->stores.items[i].value] = true;
  while (count-- > 0) {
    const net_op *op = &of->ops.items[count];
    bool wanted = false;
    for (uint32_t k = 0; k < op->output_count; k++)
      wanted = wanted || needed[op->outputs[k].value];
    if (!wanted)
      continue;
    ops[--last] = count;
    net_reads reads = net_op_reads(a, of, op);
    for (uint32_t k = 0; k < reads.count; k++)
      needed[reads.values[k]] = true;
  }
  net_stage to = net_stage_of_ops(a, of, ops + last, (uint32_t)of->ops.count - last, kept, numbers);
  for (size_t i = 0; i < of->loads.count; i++) {
    net_load load = of->loads.items[i];
    if (!needed[load.value])
      continue;
    load.value = net_value_number(a, &to, of, numbers, load.value);
    vec_push(a, &to.loads, load);
  }
  for (size_t i = first; i < end; i++) {
    net_store store = of->stores.items[i];
    store.value = net_value_number(a, &to, of, numbers, store.value);
    vec_push(a, &to.stores, store);
  }
  return to;
}

void making_add_stage(making *m, const net_stage *s) {
  net *part = NEW(m->memory, net);
  making inner = *m;
  *part = (net){.externs = m->from->externs};
  for (size_t a = 0; a < m->out->arrays.count; a++)
    vec_push(m->memory, &part->arrays, m->out->arrays.items[a]);
  vec_push(m->memory, &part->stages, *s);
  making_begin_net(&inner, part);
  making_add_stages(&inner, 0, 1);
  m->wide = m->wide || inner.wide;
  m->wrong = inner.wrong;
}

// It as two, each with some of the stores: tiles that hold the lines of fewer are smaller.
static void add_halves(making *m, const net_stage *s) {
  size_t half = s->stores.count / 2;
  m->halved++;
  for (int i = 0; i < 2 && !m->wrong; i++) {
    net_stage part = stage_of_stores(m->memory, s, i ? half : 0, i ? s->stores.count : half);
    making_add_stage(m, &part);
  }
  m->halved--;
}

// Copies of all that the stage, whose shares are those of `shared`, does not read by index bits: a
// share would have a window of them that is nearly all.
static void add_copies(making *m, net_stage *stage, const net_stage *shared) {
  for (size_t i = 0; i < stage->loads.count; i++) {
    external_move by_bits;
    net_load *l = &stage->loads.items[i];
    if (m->out->arrays.items[l->array].role != NET_TABLE &&
        !making_move_by_bits(m->memory, shared, &shared->loads.items[i].map, 0, NULL, &by_bits))
      making_add_copy(m, stage, l);
  }
}

static void add_pass(making *m, const plan *p, const plan_pass *pass) {
  const net_stage *of = plan_stage_of(p, pass);
  if (of->routine) {
    external_step step = {.shares = 1};
    step.routine = net_routine_changed(m->memory, &(net_change){.arrays = m->arrays}, of->routine);
    vec_push(m->memory, &m->out->steps, step);
    return;
  }
  if (of->loop_count) {
    m->wrong = "an array is worked on by rows, and memory has not room for one of them";
    return;
  }
  f2_space v = widened_tile(m, pass, of->n);
  net_stage stage = stage_of_pass(m, p, pass), to = {0};
  f2_affine none = {f2_zero(of->n - v.dimension, of->n), 0};
  f2_affine coordinates = sharing_coordinates(sharing_number(v, none));
  mark before = making_mark(m);
  bool fits = false;
  for (int copies = 0; copies <= (int)m->copies && !fits; copies++) {
    making_go_back(m, before);
    if (copies)
      add_copies(m, &stage, &to);
    if (m->wrong)
      return;
    before = making_mark(m);
    to = (net_stage){.n = of->n, .shares = none.a.rows};
    net_stage_merge(m->memory, &to, &stage, coordinates);
    fits = making_add_step(m, &to);
  }
  // Whether the tile is larger than those of the target, as it holds whole lines.
  bool wide = slot_bytes(pass) << pass->tile.dimension > m->target->tile_bytes;
  if (fits || !wide)
    return;
  enum { MOST_HALVED = 3 };  // passes of the halves have stores of what is between them, too
  if (stage.stores.count > 1 && !making_has_effects(&stage) && m->halved < MOST_HALVED) {
    making_go_back(m, before);
    add_halves(m, &stage);
  } else {
    m->wide = true;
  }
}

// ---- outer plans --------------------------------------------------------------------------------

void making_begin_net(making *m, const net *n) {
  making_writers *writers = NEW_ARRAY(m->memory, making_writers, n->arrays.count + 1);
  for (size_t i = 0; i < n->stages.count; i++)
    for (net_access at = {0}; net_access_next(&n->stages.items[i], &at);) {
      making_writers *w = &writers[at.array];
      w->first = at.writes && !w->end ? i : w->first;
      w->end = at.writes ? i + 1 : w->end;
    }
  m->from = n;
  m->writers = writers;
}

bool making_is_written_in(const making *m, size_t first, size_t end, net_id array, bool *any) {
  making_writers w = m->writers[array];
  bool within = w.end && w.first >= first && w.end <= end;
  *any = within;
  for (size_t i = first; i < end && !within && !*any && w.first < end && w.end > first; i++)
    for (net_access at = {0}; net_access_next(&m->from->stages.items[i], &at);)
      *any = *any || (at.writes && at.array == array);
  return within || !*any;
}

// For stages first, ..., end - 1 alone: what others write is given.
static void add_arrays(making *m, net *part, size_t first, size_t end) {
  uint32_t numbers[NET_ROLES] = {0};
  for (net_id i = 0; i < m->from->arrays.count; i++) {
    net_array of = m->from->arrays.items[i];
    bool any;
    making_is_written_in(m, first, end, i, &any);
    if (of.role != NET_TABLE)
      of.role = any ? NET_TEMPORARY : NET_ARGUMENT;
    of.number = numbers[of.role]++;
    vec_push(m->memory, &part->arrays, of);
  }
}

static net *part_of_net(making *m, size_t first, size_t end) {
  net *part = NEW(m->memory, net);
  *part = (net){.externs = m->from->externs};
  add_arrays(m, part, first, end);
  for (size_t i = first; i < end; i++) {
    const net_stage *s = &m->from->stages.items[i];
    net_stage copy;
    if (s->routine || !s->loop_count || !making_loop_as_bits(m, s, &copy))
      copy = net_stage_changed(m->memory, s, (net_change){0});
    vec_push(m->memory, &part->stages, copy);
  }
  return part;
}

void making_add_stages(making *m, size_t first, size_t end) {
  const plan *p = plan_make(m->memory, part_of_net(m, first, end), m->target, NULL);
  net_id *arrays = NEW_ARRAY(m->memory, net_id, p->arrays.count + 1);
  for (net_id i = 0; i < p->arrays.count; i++)
    arrays[i] = i < m->from->arrays.count ? i : making_add_file(m, &p->arrays.items[i]);
  m->arrays = arrays;
  for (size_t i = 0; i < p->passes.count && !m->wrong; i++)
    add_pass(m, p, &p->passes.items[i]);
}
