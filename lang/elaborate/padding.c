// The check of `padded`: that no element of its result is padding, or computed from it alone.
//
// The padded array has a shadow of its shape: bools, true at the padding. It passes through the
// same steps as the elements do, and what is left of it where the result is kept is a hidden result
// of the program (trace_check), all false unless something is wrong.
//
//   padded 0 (sort_desc) [-3, 5, -7]       elements   -3  5 -7  0        5  0 -3 | -7
//                                          shadow      .  .  .  1   ->   .  1  . |  .     an error
//
// A moved element keeps its shadow, also where its place is data (an element of an array from
// elsewhere has that of its place); a computed one is padding where all its operands are, of those
// that are of the padded array (else, of its partners). Where a condition chooses, the shadow is
// that of the chosen one, whatever the condition reads: a sorter may compare elements with padding.
// A branch that no shadow has reached has the condition's.
//
// An array of as many elements as the padded one that comes from elsewhere (iota, another argument)
// is its partner: its elements belong to those of the padded array, and so have their shadow. So
// argsort, which moves indices beside elements, returns padding where an index is that of padding.
// What follows from partners alone may stand beside other elements by then, as in argsort .
// reverse. Where a condition on those chooses it, it is padding, too, where its neighbour is.
//
// Where no condition on elements chooses, the shadow is known. If it is true from some element of
// the array on, as at the start, that number (`start`) is all that is kept of it: of scan (+), say,
// and of map f, nothing is left to check when the program runs.
#include "lang/elaborate/elaborator.h"

#include "core/number.h"

// FOLLOWING: of partners alone, but with a shadow of its own.
typedef enum origin { ELSEWHERE, PARTNER, FOLLOWING, SHADOWED } origin;

typedef struct shadowing {
  elaborator *e;
  value_id first, returned, end;  // the padded array's steps, and the function's up to `returned`
  uint64_t kept, full;
  uint64_t batch;          // where padded stands: all instances have equal shadows, where known
  unsigned char *origins;  // by step from `first` on: an origin
  uint64_t *starts;        // of an instance of the padded array; or UNKNOWN
  bool *needed;
  value_id *shadows;
  uint32_t *search, *seen;  // by step: the last search that came by
} shadowing;

#define UNKNOWN UINT64_MAX

// ---- where steps come from -------------------------------------------------------------------

static bool is_partner(const shadowing *w, const trace_step *s) {
  if (s->op == TRACE_INSTANCE)
    return s->number == w->full && s->batch / w->full == w->batch;
  return s->rank && s->dims[0] == w->full && s->batch <= w->batch;
}

static origin origin_of(const shadowing *w, value_id id) {
  if (id >= w->first)
    return (origin)w->origins[id - w->first];
  return is_partner(w, &w->e->out->steps.items[id]) ? PARTNER : ELSEWHERE;
}

// Rows of the partner's length, and one of its elements for all, are no partners.
static bool keeps_partner(trace_op op) { return op != TRACE_BROADCAST && op != TRACE_ELEMENT; }

static origin find_origin(const shadowing *w, const trace_step *s) {
  if (s->op == TRACE_COUNT || s->op == TRACE_GROUP ||
      s->op == TRACE_FOLD)  // of all keys, of elements
    return ELSEWHERE;
  origin most = is_partner(w, s) ? PARTNER : ELSEWHERE;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    origin o = origin_of(w, s->operands[i]);
    if (o == PARTNER)
      o = keeps_partner(s->op) ? FOLLOWING : ELSEWHERE;
    most = o > most ? o : most;
  }
  return most;
}

static bool has_places(trace_op op) { return op == TRACE_GATHER || op == TRACE_SCATTER; }

static bool is_computed(trace_op op) {
  return op == TRACE_SCALAR || op == TRACE_CONVERT || op == TRACE_ROOT || op == TRACE_EXTERN ||
         op == TRACE_PLACES;  // of each key one
}

// Whether operand i of a computed step says if that is padding.
static bool counts(const shadowing *w, const trace_step *s, uint32_t i) {
  origin o = origin_of(w, s->operands[i]);
  return o != ELSEWHERE && (o == SHADOWED || find_origin(w, s) != SHADOWED);
}

// The operand whose shadow serves for operand i (of those that are moved; the first says which).
static uint32_t chosen_operand(const shadowing *w, const trace_step *s, uint32_t i) {
  bool follows = s->op == TRACE_SELECT || (has_places(s->op) && i == 1);
  return follows && origin_of(w, s->operands[i]) == ELSEWHERE ? 0 : i;
}

// Of what a condition is computed from: the padded array's element that stands where `like` does.
static value_id find_beside(const shadowing *w, value_id condition, const trace_step *like) {
  if (condition < w->first || origin_of(w, condition) != SHADOWED ||
      w->seen[condition - w->first] == *w->search)
    return NO_STEP;
  w->seen[condition - w->first] = *w->search;
  const trace_step *s = &w->e->out->steps.items[condition];
  if (s->op != TRACE_SELECT && !is_computed(s->op))
    return s->batch == like->batch && (s->op != TRACE_ELEMENT || like->op != TRACE_ELEMENT ||
                                       s->number == like->number)
               ? condition
               : NO_STEP;
  value_id found = NO_STEP;
  for (uint32_t i = 0; i < s->operand_count && found == NO_STEP; i++)
    found = find_beside(w, s->operands[i], like);
  return found;
}

// Of branch i of a choice that follows from partners alone: the element beside it, or NO_STEP.
static value_id find_neighbour(const shadowing *w, const trace_step *s, uint32_t i) {
  value_id id = s->operands[i];
  if (s->op != TRACE_SELECT || origin_of(w, id) == ELSEWHERE || origin_of(w, id) == SHADOWED)
    return NO_STEP;
  const trace_step *like = &w->e->out->steps.items[id];
  while (is_computed(like->op)) {  // ends: it follows from a partner
    uint32_t k = 0;
    while (origin_of(w, like->operands[k]) == ELSEWHERE)
      k++;
    like = &w->e->out->steps.items[like->operands[k]];
  }
  ++*w->search;
  return find_beside(w, s->operands[0], like);
}

// ---- where known shadows start ---------------------------------------------------------------

static uint64_t row_elements(const trace_step *s, uint32_t dimension) {
  return dimension < s->rank ? product_of(s->dims + dimension, s->rank - dimension) : 1;
}

// Of a step's value, for one instance of the padded array.
static uint64_t count_elements(const shadowing *w, const trace_step *s) {
  return row_elements(s, 0) * (s->batch > w->batch ? s->batch / w->batch : 1);
}

// Where the shadow of an operand starts when each instance is repeated until there are `count`
// elements.
static uint64_t start_of(const shadowing *w, value_id id, uint64_t count) {
  const trace_step *s = &w->e->out->steps.items[id];
  origin o = origin_of(w, id);
  uint64_t own = count_elements(w, s), row = row_elements(s, 0);
  if (own == 0)
    return 0;
  uint64_t start = o >= FOLLOWING ? w->starts[id - w->first]
                   : o == PARTNER ? own / w->full * w->kept
                                  : own;
  bool whole = start == own || start % row == 0 || count == own;
  return start == UNKNOWN || !whole ? UNKNOWN : start * (count / own);
}

// Of arrays that are joined, row by row: the first element that is padding, if all behind are.
static uint64_t find_joined_start(const shadowing *w, const trace_step *s, uint64_t count) {
  uint64_t row = row_elements(s, 0), first = count, padding = 0, offset = 0;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    uint64_t part = row_elements(&w->e->out->steps.items[s->operands[i]], 0);
    uint64_t own = count / row * part, start = start_of(w, s->operands[i], own);
    if (start == UNKNOWN)
      return UNKNOWN;
    uint64_t at = start < own ? start / part * row + offset + start % part : count;
    first = at < first ? at : first;
    padding += own - start;
    offset += part;
  }
  return padding == count - first ? first : UNKNOWN;
}

// Of `take` rows of each array, from row `from` on.
static uint64_t find_part_start(const trace_step *of, uint64_t start, uint64_t from,
                                uint64_t take) {
  uint64_t inner = row_elements(of, 1), row = of->dims[0] * inner, rest = start % row;
  rest = rest < from * inner ? 0 : rest - from * inner;
  return start / row * take * inner + (rest < take * inner ? rest : take * inner);
}

// Whether the elements stay in their order: the halves are those of the highest bit, the pairs
// neighbours.
static bool keeps_order(const shadowing *w, const trace_step *s) {
  const trace_step *of = &w->e->out->steps.items[s->operands[0]];
  return s->op == TRACE_RESHAPE || s->op == TRACE_BROADCAST || s->op == TRACE_REPLICATE ||
         (s->op == TRACE_SPLIT && s->number == of->dims[0] / 2) ||
         (s->op == TRACE_STITCH && s->number == s->dims[0] / 2) ||
         ((s->op == TRACE_PAIR || s->op == TRACE_UNPAIR) && s->number == 1);
}

// Padding where all operands that count are.
static uint64_t find_computed_start(const shadowing *w, const trace_step *s, uint64_t count) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < s->operand_count; i++) {
    uint64_t start = counts(w, s, i) ? start_of(w, s->operands[i], count) : 0;
    if (start == count)
      return count;
    most = start > most ? start : most;  // UNKNOWN is the greatest
  }
  return most;
}

// Where places say which elements are moved: known if all are padding, or none, or they go by the
// places alone.
static uint64_t find_placed_start(const shadowing *w, const trace_step *s, uint64_t count) {
  uint64_t inner = row_elements(s, 1);
  bool none = true, all = true;
  for (uint32_t i = 1; i < s->operand_count; i++) {
    value_id id = s->operands[chosen_operand(w, s, i)];
    uint64_t own = count_elements(w, &w->e->out->steps.items[id]), start = start_of(w, id, own);
    if (s->op == TRACE_GATHER && id == s->operands[0]) {
      start = start_of(w, id, count / inner);
      return start == UNKNOWN ? start : start * inner;
    }
    none = none && start == own;
    all = all && start == 0;
  }
  return none ? count : all ? 0 : UNKNOWN;
}

static uint64_t find_start(const shadowing *w, const trace_step *s) {
  uint64_t count = count_elements(w, s), least = count, most = 0;
  if (count == 0)
    return 0;
  if (has_places(s->op))
    return find_placed_start(w, s, count);
  if (s->op == TRACE_CONCAT || s->op == TRACE_PACK)
    return find_joined_start(w, s, count);
  if (s->op == TRACE_SLICE || s->op == TRACE_ELEMENT) {
    const trace_step *of = &w->e->out->steps.items[s->operands[0]];
    uint64_t start = start_of(w, s->operands[0], count_elements(w, of));
    uint64_t take = s->op == TRACE_SLICE ? s->dims[0] : 1;
    return start == UNKNOWN ? start : find_part_start(of, start, s->number, take);
  }
  if (is_computed(s->op))
    return find_computed_start(w, s, count);
  for (uint32_t i = trace_first_moved(s->op); i < s->operand_count; i++) {
    value_id neighbour = find_neighbour(w, s, i);
    uint64_t start = start_of(w, s->operands[chosen_operand(w, s, i)], count);
    if (start == UNKNOWN || (neighbour != NO_STEP && start_of(w, neighbour, count) != start))
      return UNKNOWN;
    least = start < least ? start : least;
    most = start > most ? start : most;
  }
  bool chooses = s->op == TRACE_SELECT;
  bool alike = least == most && (chooses || least == 0 || least == count);
  return alike || keeps_order(w, s) ? least : UNKNOWN;
}

// ---- shadows ---------------------------------------------------------------------------------

static bool has_own_shadow(const shadowing *w, value_id id) {
  uint64_t start = origin_of(w, id) >= FOLLOWING ? w->starts[id - w->first] : 0;
  return start != 0 && start != count_elements(w, &w->e->out->steps.items[id]);
}

// The components of a tuple move together: their shadows are one, found among the last steps.
static bool same_words(const void *a, const void *b, size_t bytes) {
  return a == b || bytes == 0 || (a && b && !memcmp(a, b, bytes));
}

static bool same_shadow(const trace_step *a, const trace_step *b) {
  size_t bits = a->op == TRACE_BMMC ? (size_t)__builtin_ctzll(a->dims[0]) : 0;
  return a->op == b->op && a->number == b->number && a->batch == b->batch &&
         (a->op != TRACE_CONSTANT || a->constant.b == b->constant.b) && a->rank == b->rank &&
         a->operand_count == b->operand_count &&
         same_words(a->dims, b->dims, a->rank * sizeof *a->dims) &&
         same_words(a->rows, b->rows, bits * sizeof *a->rows) &&
         same_words(a->operands, b->operands, a->operand_count * sizeof *a->operands);
}

// Writes down a step of which all is there, but for its type.
static value_id append_shadow(const shadowing *w, trace_step s) {
  enum { LAST = 16 };
  elaborator *e = w->e;
  s.type = SCALAR_BOOL;
  s.shadow = true;
  for (value_id id = (value_id)e->out->steps.count, k = 0; id-- > w->end && k < LAST; k++)
    if (same_shadow(&e->out->steps.items[id], &s))
      return id;
  return append_step(e, &s);
}

// As emit. batch: where the operands may be of smaller ones; 0: it follows from theirs.
static value_id emit_shadow(const shadowing *w, trace_step s, uint64_t batch, uint32_t count,
                            const value_id *operands) {
  derive_step(w->e, &s, count, operands);
  s.batch = batch ? batch : s.batch;
  return append_shadow(w, s);
}

// An array of equal bools.
static value_id emit_bools(const shadowing *w, bool b, uint32_t rank, uint64_t *dims) {
  trace_step s = {.op = TRACE_CONSTANT, .constant = {.b = b}};
  value_id id = emit_shadow(w, s, 1, 0, NULL);
  for (uint32_t i = rank; i-- > 0;)
    id = emit_shadow(w, (trace_step){.op = TRACE_REPLICATE, .dims = dims + i}, 1, 1, &id);
  return id;
}

static value_id broadcast_shadow(const shadowing *w, value_id id, uint64_t batch) {
  trace_step s = {.op = TRACE_BROADCAST};
  return step_at(w->e, id)->batch == batch ? id : emit_shadow(w, s, batch, 1, &id);
}

// The elements of a shadow in another shape.
static value_id reshape_shadow(const shadowing *w, value_id id, uint64_t batch, uint32_t rank,
                               uint64_t *dims) {
  uint64_t all = step_at(w->e, id)->rank;
  trace_step s = {.op = TRACE_RESHAPE, .number = all, .rank = rank, .dims = dims};
  return emit_shadow(w, s, batch, 1, &id);
}

// A shadow of a step's shape, true from an element of each instance of the padded array on.
static value_id emit_known(const shadowing *w, const trace_step *like, uint64_t start) {
  uint64_t count = count_elements(w, like), parts[] = {start, count - start};
  if (start == 0 || start == count)
    return emit_bools(w, start == 0, like->rank, like->dims);
  value_id both[2] = {emit_bools(w, false, 1, parts), emit_bools(w, true, 1, parts + 1)};
  value_id id = emit_shadow(w, (trace_step){.op = TRACE_CONCAT}, 1, 2, both);
  id = broadcast_shadow(w, id, like->batch < w->batch ? like->batch : w->batch);
  if (like->rank == 1 && like->dims[0] == count)
    return id;
  return reshape_shadow(w, id, like->batch, like->rank, like->dims);
}

static value_id shadow_of(const shadowing *w, value_id id) {
  if (has_own_shadow(w, id))
    return w->shadows[id - w->first];
  trace_step s = w->e->out->steps.items[id];
  return emit_known(w, &s, start_of(w, id, count_elements(w, &s)));
}

static value_id combine_shadows(const shadowing *w, scalar_op op, value_id a, value_id b,
                                uint64_t batch) {
  trace_step s = {.op = TRACE_SCALAR, .scalar = op};
  return a == b ? a : emit_shadow(w, s, batch, 2, (value_id[]){a, b});
}

// Whether a step nearby chooses by the same condition what this one leaves.
static bool has_counterpart(const shadowing *w, value_id id) {
  enum { NEAR = 4 };
  const trace_step *all = w->e->out->steps.items, *s = &all[id];
  for (value_id k = id < w->first + NEAR ? w->first : id - NEAR; k < w->end && k <= id + NEAR; k++)
    if (all[k].op == TRACE_SELECT && all[k].operands[0] == s->operands[0] &&
        all[k].operands[1] == s->operands[2] && all[k].operands[2] == s->operands[1])
      return true;
  return false;
}

// The smaller or the larger of two. Where they are equal, both choices may be of the same one, as
// in [min x y, max x y]; their shadows must be of both, or padding is lost from sight. And x < y
// exchanges equal ones; their shadows stay where they are.
static value_id shadow_of_equal(const shadowing *w, value_id id, const value_id *parts,
                                value_id chosen) {
  trace_step s = w->e->out->steps.items[id], c = w->e->out->steps.items[s.operands[0]];
  bool same = trace_is_comparison(&c);
  bool straight = same && s.operands[1] == c.operands[0] && s.operands[2] == c.operands[1];
  bool crossed = same && s.operands[1] == c.operands[1] && s.operands[2] == c.operands[0];
  bool strict = c.scalar == OP_LT || c.scalar == OP_GT, exchange = has_counterpart(w, id);
  if ((!straight && !crossed) || (exchange && !strict))
    return chosen;
  bool smaller = straight == (c.scalar != OP_GT && c.scalar != OP_GE);
  value_id equal[3], sides[2][2] = {{c.operands[0], c.operands[1]}, {c.operands[1], c.operands[0]}};
  trace_step less = {.op = TRACE_SCALAR, .scalar = exchange ? OP_TOTAL_LE : OP_LE};
  for (int i = 0; i < 2; i++)
    equal[i] = emit_shadow(w, less, c.batch, 2, sides[i]);
  equal[0] = combine_shadows(w, OP_AND, equal[0], equal[1], c.batch);
  equal[1] = parts[exchange || (s.operands[1] < s.operands[2]) == smaller ? 1 : 2];
  equal[2] = chosen;
  return emit_shadow(w, (trace_step){.op = TRACE_SELECT}, s.batch, 3, equal);
}

static value_id shadow_of_choice(const shadowing *w, value_id id, const trace_step *s) {
  value_id parts[3] = {s->operands[0]};
  for (uint32_t i = 1; i < 3; i++) {
    value_id neighbour = find_neighbour(w, s, i);
    parts[i] = shadow_of(w, s->operands[chosen_operand(w, s, i)]);
    if (neighbour != NO_STEP)
      parts[i] = combine_shadows(w, OP_OR, parts[i], shadow_of(w, neighbour), s->batch);
  }
  if (parts[1] == parts[2])
    return broadcast_shadow(w, parts[1], s->batch);
  value_id chosen = emit_shadow(w, (trace_step){.op = TRACE_SELECT}, s->batch, 3, parts);
  return shadow_of_equal(w, id, parts, chosen);
}

static value_id shadow_of_computed(const shadowing *w, const trace_step *s) {
  value_id all = NO_STEP;
  uint32_t count =
      s->op == TRACE_PLACES ? 1 : s->operand_count;  // offsets are none of the elements
  for (uint32_t i = 0; i < count; i++) {
    if (!counts(w, s, i))
      continue;
    value_id shadow = shadow_of(w, s->operands[i]);
    all = all == NO_STEP ? shadow : combine_shadows(w, OP_AND, all, shadow, s->batch);
  }
  return broadcast_shadow(w, all == NO_STEP ? emit_bools(w, false, s->rank, s->dims) : all,
                          s->batch);
}

// The shadow of places, for each element of rows like those of s.
static value_id spread_shadow(const shadowing *w, value_id id, const trace_step *s) {
  const trace_step places = w->e->out->steps.items[id];
  if (s->rank == 1)
    return id;
  uint64_t *dims = NEW_ARRAY(w->e->memory, uint64_t, s->rank);
  memcpy(dims, s->dims, s->rank * sizeof *dims);
  dims[0] = places.dims[0];
  id = reshape_shadow(w, id, places.batch * dims[0], 0, NULL);
  for (uint32_t i = s->rank; i-- > 1;)
    id = emit_shadow(w, (trace_step){.op = TRACE_REPLICATE, .dims = dims + i}, 0, 1, &id);
  return reshape_shadow(w, id, places.batch, s->rank, dims);
}

static value_id shadow_of_placed(const shadowing *w, const trace_step *s) {
  trace_step shadow = *s;
  value_id *operands = copy_operands(w->e, s->operand_count, s->operands);
  for (uint32_t i = 1; i < s->operand_count; i++) {
    bool follows = chosen_operand(w, s, i) == 0;
    operands[i] = shadow_of(w, s->operands[follows ? 0 : i]);
    if (follows)
      operands[i] = spread_shadow(w, operands[i], s);
    if (follows && s->op == TRACE_GATHER)
      return broadcast_shadow(w, operands[i], s->batch);
  }
  shadow.operands = operands;
  return append_shadow(w, shadow);
}

static value_id shadow_of_step(const shadowing *w, value_id id) {
  trace_step s = w->e->out->steps.items[id];
  switch (s.op) {
  case TRACE_SELECT:
    return shadow_of_choice(w, id, &s);
  case TRACE_SCALAR:
  case TRACE_CONVERT:
  case TRACE_ROOT:
  case TRACE_EXTERN:
  case TRACE_PLACES:
    return shadow_of_computed(w, &s);
  case TRACE_GATHER:
  case TRACE_SCATTER:
    return shadow_of_placed(w, &s);
  default: {
    value_id *operands = copy_operands(w->e, s.operand_count, s.operands);
    for (uint32_t i = 0; i < s.operand_count; i++)
      operands[i] = shadow_of(w, s.operands[i]);
    s.operands = operands;
    return append_shadow(w, s);
  }
  }
}

// ---- the check -------------------------------------------------------------------------------

static value_id same_step(elaborator *e, value_id id, void *with) {
  (void)e;
  (void)with;
  return id;
}

static value_id start_shadow(elaborator *e, value_id id, void *with) {
  const shadowing *w = with;
  trace_step s = e->out->steps.items[id];
  w->origins[id - w->first] = SHADOWED;
  w->starts[id - w->first] = row_elements(&s, 1) * w->kept;
  w->shadows[id - w->first] = emit_known(w, &s, w->starts[id - w->first]);
  return id;
}

static void find_starts(const shadowing *w) {
  for (value_id id = w->first; id < w->end; id++) {
    const trace_step *s = &w->e->out->steps.items[id];
    if (w->origins[id - w->first] == SHADOWED)  // the padded array
      continue;
    w->origins[id - w->first] = (unsigned char)find_origin(w, s);
    if (w->origins[id - w->first] >= FOLLOWING)
      w->starts[id - w->first] = find_start(w, s);
  }
}

// Whether the elements that are kept of a result may be padding.
static bool is_suspect(const shadowing *w, value_id id) {
  const trace_step *s = &w->e->out->steps.items[id];
  uint64_t start = origin_of(w, id) >= FOLLOWING ? w->starts[id - w->first] : UNKNOWN - 1;
  return start == UNKNOWN || start < row_elements(s, 1) * w->kept;
}

static void need_shadow(const shadowing *w, value_id id) {
  if (has_own_shadow(w, id))
    w->needed[id - w->first] = true;
}

static value_id need_result(elaborator *e, value_id id, void *with) {
  (void)e;
  const shadowing *w = with;
  if (is_suspect(w, id))
    need_shadow(w, id);
  return id;
}

static void find_needed(const shadowing *w) {
  for (value_id id = w->end; id-- > w->first;) {
    const trace_step *s = &w->e->out->steps.items[id];
    if (!w->needed[id - w->first] || w->shadows[id - w->first])
      continue;
    for (uint32_t i = trace_first_moved(s->op); i < s->operand_count; i++) {
      value_id neighbour = find_neighbour(w, s, i), operand = s->operands[chosen_operand(w, s, i)];
      if (!is_computed(s->op) || counts(w, s, i))
        need_shadow(w, operand);
      if (neighbour != NO_STEP)
        need_shadow(w, neighbour);
    }
  }
}

static value_id add_check(elaborator *e, value_id id, void *with) {
  const shadowing *w = with;
  trace_step s = e->out->steps.items[id];
  if (!is_suspect(w, id)) {
    e->out->proven_checks++;
    return id;
  }
  trace_check c = {.kind = CHECK_PADDING,
                   .shadow = shadow_of(w, id),
                   .guarded = id < w->returned ? id : NO_STEP,
                   .length = w->kept,
                   .inner = row_elements(&s, 1),
                   .where = e->where};
  if (s.dims[0] > w->kept) {
    trace_step keep = {.op = TRACE_SLICE, .dims = (uint64_t[]){w->kept}};
    c.shadow = move_step(e, c.shadow, &keep);
  }
  vec_push(e->memory, &e->out->checks, c);
  return id;
}

void check_padding(elaborator *e, value_id first, value *padded, value *result, uint64_t kept) {
  if (!e->batch)
    return;
  shadowing w = {.e = e,
                 .first = first,
                 .kept = kept,
                 .full = length_of(padded),
                 .batch = e->batch,
                 .returned = (value_id)e->out->steps.count};
  result = map_steps(e, result, same_step, NULL);  // what is a list becomes steps
  w.end = (value_id)e->out->steps.count;
  size_t count = w.end - first;
  w.origins = NEW_ARRAY(e->memory, unsigned char, count);
  w.starts = NEW_ARRAY(e->memory, uint64_t, count);
  w.needed = NEW_ARRAY(e->memory, bool, count);
  w.shadows = NEW_ARRAY(e->memory, value_id, count);
  w.search = NEW_ARRAY(e->memory, uint32_t, 1);
  w.seen = NEW_ARRAY(e->memory, uint32_t, count);
  map_steps(e, padded, start_shadow, &w);
  find_starts(&w);
  map_steps(e, result, need_result, &w);
  find_needed(&w);
  for (value_id id = first; id < w.end; id++)
    if (w.needed[id - first] && !w.shadows[id - first])
      w.shadows[id - first] = shadow_of_step(&w, id);
  map_steps(e, result, add_check, &w);
}

// The results of the trace are followed by those of its checks, whose elements were kept for a
// result.
void add_checks(elaborator *e) {
  trace *t = e->out;
  if (!t->checks.count)
    return;
  const bool *needed = trace_find_needed(e->memory, t);
  size_t count = 0;
  for (size_t i = 0; i < t->checks.count; i++) {
    trace_check c = t->checks.items[i];
    const trace_check *before = count > 0 ? &t->checks.items[count - 1] : NULL;
    bool known = before && before->shadow == c.shadow && before->length == c.length;
    bool rows = c.kind >= CHECK_ROWS;
    bool none = rows && trace_step_count(&t->steps.items[c.shadow]) == 0;
    if ((c.guarded != NO_STEP && !needed[c.guarded]) || known || none)
      continue;
    if (rows) {
      t->checks.items[count++] = c;
      vec_push(e->memory, &t->results, c.found == NO_STEP ? emit_row_check(e, &c) : c.found);
      continue;
    }
    uint64_t length = trace_step_count(&t->steps.items[c.shadow]);
    t->checks.items[count++] = c;
    vec_push(e->memory, &t->results, emit_elements(e, c.shadow, 1, 1, &length));
  }
  t->checks.count = count;
}
