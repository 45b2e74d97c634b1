// Steps that become routines: places of keys, counts of keys, wrong places; and scatters to such
// places, which are sorts. See lower.h.
//
//   p = places k; scatter p k k; scatter p x x      routine places: from k to p
//                                                   routine sort: from k to r1, from x to r2
//
//   scatter p x x, p an argument that is a permutation
//                                                   routine permute: from p, from x to r1
//
// The same of p that is checked to be one, where the Trace asks for it: if p is none, r1 has other
// elements, and the check ends the program.
//
// Perhaps nobody reads the places then: they are dropped with what else is dead. Payloads of the same places
// go with one sort, as far as they are there when it begins.
#include "fusion/lower/lowering.h"

// ---- whole arrays ------------------------------------------------------------------------------

bool is_whole_array(lowering *l, const lowered *v) {
  const net_node *node = &l->pool.nodes.items[v->node];
  const storage *h = node->kind == NET_ELEMENT ? &l->storages.items[node->value] : NULL;
  if (!h || !h->in_memory || h->padding_start != UINT64_MAX ||
      net_array_has_bytes(&l->net->arrays.items[h->array]))
    return false;
  net_map whole = map_row_major(l->memory, v->axes, 0, 1);
  int64_t stride;
  return l->net->arrays.items[h->array].count == axes_product(v->axes, 0, v->axes->count) &&
         !node->map.offset && map_plain(&node->map, v->axes, 0, v->axes->count, &stride) &&
         (!v->axes->count || stride == 1) && node->map.row_count == whole.row_count;
}

// Operand i, for each of so many instances, as an array.
static net_id operand_array(lowering *l, const trace_step *s, uint32_t i, uint64_t instances) {
  lowered v = lower_operand(l, s, i);
  bool same = v.batch == instances;
  if (!same)
    extend_to_batch(l, &v, 1, instances);
  if (!is_whole_array(l, &v)) {
    make_plain(l, &v, NET_REASON_ROUTINE);
    if (same)
      l->values[s->operands[i]] = v;
  }
  return array_of_element(l, v.node);
}

// A new array for the step's value.
static lowered new_result(lowering *l, const trace_step *s, net_id *array) {
  lowered result = new_array_of_step(l, s, NET_REASON_ROUTINE);
  *array = array_of_element(l, result.node);
  return result;
}

// ---- routines ----------------------------------------------------------------------------------

// One pair more. Counts are the last.
static void add_pair(lowering *l, net_routine *r, net_routine_pair pair) {
  net_routine_pair *more = NEW_ARRAY(l->memory, net_routine_pair, r->pair_count + 1);
  uint32_t at = r->pair_count - r->counts;
  for (uint32_t i = 0; i < r->pair_count; i++)
    more[i < at ? i : i + 1] = r->pairs[i];
  more[at] = pair;
  r->pairs = more;
  r->pair_count++;
}

// A stage of its own, with this pair, that is closed at once.
static uint32_t add_routine(lowering *l, net_routine r, net_routine_pair pair) {
  uint32_t stage = stage_open(l, &(axes){0}, 0);
  net_routine *added = NEW(l->memory, net_routine);
  r.origin = l->step;
  *added = r;
  add_pair(l, added, pair);
  stage_of(l, stage)->routine = added;
  stage_close(l, stage);
  return stage;
}

// Of a count of few keys the sort by them that is there, which counts them then. NULL: there is
// none.
static net_routine *find_counting(lowering *l, const net_routine *count, net_id keys) {
  for (size_t i = 0; i < l->sorts.count && count->limit <= NET_MOST_COUNTED; i++) {
    const known_places *k = &l->sorts.items[i];
    net_routine *r = k->sort == NET_NONE ? NULL : stage_of(l, k->sort)->routine;
    if (r && !r->counts && r->limit == count->limit && r->rows == count->rows &&
        r->length == count->length && r->pairs[0].from == keys)
      return r;
  }
  return NULL;
}

lowered lower_key_routine(lowering *l, const trace_step *s) {
  const trace_step *of = operand_step(l, s, 0);
  if (!trace_step_count(of))
    return zeros_of_step(l, s);
  uint64_t rows = s->op == TRACE_WRONG ? of->batch : s->batch;
  net_routine_pair pair = {.from = operand_array(l, s, 0, rows)};
  lowered result = new_result(l, s, &pair.to);
  net_routine r = {.kind = s->op == TRACE_COUNT   ? NET_COUNT
                           : s->op == TRACE_WRONG ? NET_WRONG
                                                  : NET_PLACES,
                   .descending = s->scalar == OP_GE,
                   .distinct = s->scalar == OP_NE,
                   .rows = rows,
                   .length = of->dims[0],
                   .ragged = s->op == TRACE_PLACES && s->operand_count == 2,
                   .limit = s->number};
  net_routine *counting = r.kind == NET_COUNT ? find_counting(l, &r, pair.from) : NULL;
  if (counting) {
    add_pair(l, counting, pair);
    counting->counts = true;
    rule_fired(l->log, RULE_COUNTED_SORT, l->step, 0, 0);
    return result;
  }
  if (r.ragged)
    r.offsets = operand_array(l, s, 1, rows);
  uint32_t stage = add_routine(l, r, pair);
  if (s->op == TRACE_PLACES)
    vec_push(l->memory, &l->sorts, ((known_places){pair.to, stage, NET_NONE, 0}));
  return result;
}

// The places that the scatter's elements go to, if they are those of keys, as many in as many rows.
static known_places *find_sort(lowering *l, const trace_step *s) {
  const trace_step *list = operand_step(l, s, 0);
  const lowered places = l->values[s->operands[0]];
  if (list->batch != s->batch || list->dims[0] != s->dims[0] || places.kind != LOWERED_EXPRESSION ||
      !is_whole_array(l, &places))
    return NULL;
  net_id array = array_of_element(l, places.node);
  for (size_t i = 0; i < l->sorts.count; i++)
    if (l->sorts.items[i].places == array &&
        stage_of(l, l->sorts.items[i].stage)->routine->length == s->dims[0])
      return &l->sorts.items[i];
  return NULL;
}

// Whether all elements that it moves are the same.
static bool moves_constant(const lowering *l, const trace_step *s) {
  const lowered *v = &l->values[s->operands[1]];
  return v->kind == LOWERED_EXPRESSION && l->pool.nodes.items[v->node].kind == NET_CONSTANT &&
         operand_step(l, s, 1)->batch == s->batch;
}

// On processors a gather is scalar code, whatever its length; and so is one of few elements, which
// a cache holds.
static bool is_gather_for_routine(const lowering *l, const trace_step *s) {
  enum { FEW = 1 << 22 };
  return l->trace->wants_steps && s->dims[0] >= FEW && operand_step(l, s, 1)->dims[0] == s->dims[0];
}

// A scatter to all places of a permutation, or a gather from them, of elements of a size that
// memory moves at once.
bool lower_permute(lowering *l, const trace_step *s, lowered *result) {
  const trace_step *list = operand_step(l, s, 0);
  bool back = s->op == TRACE_GATHER;
  bool checked = l->trace->sorts_places && trace_is_checked_permute(l->trace, s);
  if (!(trace_is_permutation(list) || checked) || s->batch != 1 || list->dims[0] != s->dims[0] ||
      !s->dims[0] || (back && !is_gather_for_routine(l, s)))
    return false;
  uint64_t bytes = trace_step_count(s) / s->dims[0] * scalar_types[s->type].size;
  if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)))
    return false;
  net_routine_pair pairs[] = {{operand_array(l, s, 0, s->batch), NET_NONE},
                              {operand_array(l, s, 1, s->batch), NET_NONE}};
  *result = new_result(l, s, &pairs[1].to);
  net_routine r = {.kind = NET_PERMUTE, .back = back, .rows = 1, .length = s->dims[0]};
  add_pair(l, stage_of(l, add_routine(l, r, pairs[0]))->routine, pairs[1]);
  return true;
}

// Stores what later scatters to these places move, as far as it is there: it goes with this sort.
static void store_payloads(lowering *l, const trace_step *s, const known_places *k) {
  uint32_t now = (uint32_t)(s - l->trace->steps.items);
  for (uint32_t id = now + 1; id < l->trace->steps.count; id++) {
    const trace_step *f = &l->trace->steps.items[id];
    if (f->op == TRACE_SCATTER && l->uses[id] && f->operands[0] < now && f->operands[1] < now &&
        operand_step(l, f, 1)->op != TRACE_IOTA && operand_step(l, f, 1)->batch == f->batch &&
        find_sort(l, f) == k && !moves_constant(l, f))
      operand_array(l, f, 1, f->batch);
  }
}

bool lower_sort(lowering *l, const trace_step *s, lowered *result) {
  known_places *k = find_sort(l, s);
  if (!k)
    return false;
  if (moves_constant(l, s)) {
    *result = lower_operand(l, s, 1);
    return true;
  }
  const net_routine of = *stage_of(l, k->stage)->routine;
  bool index = operand_step(l, s, 1)->op == TRACE_IOTA;
  if (k->sort == NET_NONE)
    store_payloads(l, s, k);
  net_routine_pair pair = {index ? NET_NONE : operand_array(l, s, 1, s->batch), NET_NONE};
  bool ready = k->sort != NET_NONE && (pair.from == NET_NONE || pair.from < k->arrays);
  if (!ready) {
    net_routine r = of;
    r.kind = NET_SORT;
    r.pair_count = 0;
    k->arrays = (net_id)l->net->arrays.count;
    k->sort = add_routine(l, r, (net_routine_pair){of.pairs[0].from, NET_NONE});
  }
  *result = new_result(l, s, &pair.to);
  net_routine *sort = stage_of(l, k->sort)->routine;
  if (pair.from == sort->pairs[0].from && sort->pairs[0].to == NET_NONE)
    sort->pairs[0].to = pair.to;
  else
    add_pair(l, sort, pair);
  rule_fired(l->log, RULE_SORT, l->step, 0, 0);
  return true;
}
