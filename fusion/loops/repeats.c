// Equal steps as one, and the steps that repeat. See loops.h.
#include "fusion/loops/looping.h"

#include "core/hash.h"
#include "fusion/lower/retrace.h"

enum { LEAST_ROUNDS = 8 };

// ---- equal work once ----------------------------------------------------------------------------

// Steps that happen as often as the program says, or are told by their number, stay apart.
static value_id add_step(retrace *r) {
  const trace_op op = retrace_old(r)->op;
  bool apart = op == TRACE_EXTERN || op == TRACE_ARGUMENT;
  return apart ? retrace_add(r, retrace_step(r)) : retrace_add_once(r, retrace_step(r));
}

// Checks stand at the end of a Trace; here, behind what they look at, so that they are of its
// round.
static const trace *trace_with_work_once(arena *a, const trace *t, const uint32_t **origins) {
  retrace r = retrace_of(a, t, NULL);
  const bool *needed = trace_find_needed(a, t);
  value_id *checks = NEW_ARRAY(a, value_id, t->steps.count + 1);  // by step: a WRONG of it
  for (value_id i = 0; i < t->steps.count; i++)
    if (needed[i] && t->steps.items[i].op == TRACE_WRONG && t->steps.items[i].operand_count == 1)
      checks[t->steps.items[i].operands[0]] = i;
  for (r.step = 0; r.step < t->steps.count; r.step++) {
    value_id own = r.step, check = checks[own];
    if (!needed[own] || (retrace_old(&r)->op == TRACE_WRONG && r.now[own]))
      continue;
    r.now[own] = add_step(&r);
    if (!check)
      continue;
    r.step = check;
    r.now[check] = add_step(&r);
    r.step = own;
  }
  return retrace_end(&r, origins);
}

static uint32_t work_of(const numbered *n, const trace_step *s) {
  uint32_t all = 0;
  switch (s->op) {
  case TRACE_CONSTANT:
  case TRACE_TABLE:
  case TRACE_IOTA:
  case TRACE_INSTANCE:
    return 0;
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
  case TRACE_ROOT:
    all = 1;
    break;
  case TRACE_PACK:
    break;
  default:
    all = step_moves(s) ? 0 : DATA;
  }
  for (uint32_t i = 0; i < s->operand_count && all < DATA; i++)
    all += n->work[s->operands[i]];
  return all < DATA ? all : DATA;
}

numbered number_steps(arena *a, const trace *t) {
  numbered n = {.memory = a};
  n.trace = trace_with_work_once(a, t, &n.origins);
  size_t steps = n.trace->steps.count;
  n.at = NEW_ARRAY(a, value_id, steps + 1);
  n.position = NEW_ARRAY(a, uint32_t, steps + 1);
  n.work = NEW_ARRAY(a, uint32_t, steps + 1);
  n.ranges = NEW_ARRAY(a, number_range, steps + 1);
  trace_find_ranges(n.trace, 0, NULL, n.ranges);
  for (value_id i = 0; i < steps; i++) {
    bool leaf = n.trace->steps.items[i].operand_count == 0;
    n.position[i] = leaf ? NO_STEP : n.count;
    n.work[i] = work_of(&n, &n.trace->steps.items[i]);
    if (!leaf)
      n.at[n.count++] = i;
  }
  return n;
}

// ---- rounds that are alike ----------------------------------------------------------------------

// Whether rounds of that period are alike, as far as one step tells: its operands are of its own
// round in both, at the same offset, or of one shape.
static bool is_step_alike(const numbered *n, const repeat *r, uint32_t x, uint32_t y, uint32_t o) {
  const trace_step *s = numbered_step(n, n->at[x + o]), *t = numbered_step(n, n->at[y + o]);
  bool alike = trace_steps_are_alike(s, t);
  if (alike &&
      s->number != t->number)  // which element: a part of an array, or the place of a gather
    alike = s->op == TRACE_ELEMENT &&
            (n->parts || (s->operands[0] == t->operands[0] && s->batch == 1 &&
                          offset_in_round(n, x, r->period, s->operands[0]) == NO_STEP));
  for (uint32_t k = 0; alike && k < s->operand_count; k++) {
    uint32_t own = offset_in_round(n, x, r->period, s->operands[k]);
    alike =
        own == offset_in_round(n, y, r->period, t->operands[k]) &&
        trace_have_one_shape(numbered_step(n, s->operands[k]), numbered_step(n, t->operands[k]));
  }
  return alike;
}

static bool are_alike(const numbered *n, const repeat *r, uint32_t round, uint32_t other) {
  uint32_t x = r->first + round * r->period, y = r->first + other * r->period, o = 0;
  while (o < r->period && is_step_alike(n, r, x, y, o))
    o++;
  return o == r->period;
}

repeat alike_rounds(const numbered *n, repeat r) {
  uint32_t middle = r.rounds / 2, first = middle, last = middle;
  while (first > 0 && are_alike(n, &r, middle, first - 1))
    first--;
  while (last + 1 < r.rounds && are_alike(n, &r, middle, last + 1))
    last++;
  return (repeat){r.first + first * r.period, r.period, last + 1 - first};
}

// ---- where a round begins -----------------------------------------------------------------------

// By offset in a round: the bytes that go from round to round if rounds begin there. `from` is a
// position in the middle of the steps that repeat.
static int64_t *crossing_bytes(const numbered *n, uint32_t from, uint32_t period) {
  int64_t *bytes = NEW_ARRAY(n->memory, int64_t, 2 * (size_t)period + 2);
  uint32_t *last = NEW_ARRAY(n->memory, uint32_t, 3 * (size_t)period + 2);
  uint32_t begin = from - period, end = from + 2 * period;
  for (uint32_t at = begin; at < end && at < n->count; at++) {
    const trace_step *s = numbered_step(n, n->at[at]);
    for (uint32_t k = 0; k < s->operand_count; k++) {
      uint32_t operand = n->position[s->operands[k]];
      if (operand != NO_STEP && operand >= begin)
        last[operand - begin] = at - begin;
    }
  }
  for (uint32_t i = 0; i < 2 * period; i++) {  // of steps before the cut, read behind it
    const trace_step *s = numbered_step(n, n->at[begin + i]);
    int64_t own = (int64_t)(trace_step_count(s) * scalar_types[s->type].size);
    if (last[i] <= i)
      continue;
    bytes[i + 1] += own;
    if (last[i] + 1 < 2 * period + 1)
      bytes[last[i] + 1] -= own;
  }
  for (uint32_t i = 1; i < 2 * period; i++)
    bytes[i] += bytes[i - 1];
  return bytes + period;
}

static bool needs_whole_arrays(const numbered *n, uint32_t position) {
  trace_op op = numbered_step(n, n->at[position])->op;
  return op == TRACE_GATHER || op == TRACE_SCATTER || op == TRACE_PLACES || op == TRACE_COUNT ||
         op == TRACE_GROUP || op == TRACE_FOLD;
}

// Where the fewest bytes do: of places that are equal, before what needs whole arrays.
static uint32_t best_cut(const numbered *n, uint32_t from, uint32_t period) {
  const int64_t *bytes = crossing_bytes(n, from, period);
  int64_t least = INT64_MAX;
  uint32_t best = 0;
  for (uint32_t c = 0; c < period; c++) {
    int64_t own = 2 * bytes[c] - needs_whole_arrays(n, from + c - period);
    best = own < least ? c : best;
    least = own < least ? own : least;
  }
  return best;
}

uint32_t *find_rotations(const numbered *n, repeat r, uint32_t *count) {
  uint32_t *rotations = NEW_ARRAY(n->memory, uint32_t, MOST_ROTATIONS + 1);
  const int64_t *bytes = crossing_bytes(n, r.first + r.rounds / 2 * r.period, r.period);
  *count = 0;
  for (uint32_t c = 1; c < r.period; c++) {
    uint32_t at = *count;
    if (!needs_whole_arrays(n, r.first + c))
      continue;
    for (; at > 0 && bytes[rotations[at - 1]] > bytes[c]; at--)
      rotations[at] = rotations[at - 1];
    rotations[at] = c;
    *count += *count < MOST_ROTATIONS;
  }
  return rotations;
}

// ---- which steps repeat -------------------------------------------------------------------------

enum { LEAST_SHARE = 8, LEAST_STEPS = 128 };  // of a loop: one in so many of all; so many

typedef struct searching {
  const numbered *n;
  uint64_t *kinds;   // by position
  uint64_t *hashes;  // of the kinds of all positions before it
  struct {
    uint64_t hash;
    uint32_t at;
  } * seen;
  uint64_t mask;
  VEC(repeat) found;
} searching;

static const uint64_t hash_factor = UINT64_C(0x9e3779b97f4a7c15);  // odd

// How far back as many kinds as `window` were seen as come from a position on; 0: they were not.
// Notes them.
static uint32_t distance_back(searching *s, uint32_t at, uint32_t window, uint64_t power) {
  uint64_t h = hash_word(s->hashes[at + window] - s->hashes[at] * power, window);
  size_t slot = h & s->mask;
  uint32_t before = s->seen[slot].hash == h ? s->seen[slot].at : at;
  s->seen[slot].hash = h;
  s->seen[slot].at = at;
  return at - before;
}

// Whether each round reads what the one before it has made.
static bool is_chain(const numbered *n, const repeat *r) {
  for (uint32_t round = 1; round < r->rounds; round++) {
    uint32_t begin = r->first + round * r->period;
    bool reads = false;
    for (uint32_t at = begin; at < begin + r->period && !reads; at++) {
      const trace_step *s = numbered_step(n, n->at[at]);
      for (uint32_t k = 0; k < s->operand_count && !reads; k++)
        reads = offset_in_round(n, begin - r->period, r->period, s->operands[k]) != NO_STEP;
    }
    if (!reads)
      return false;
  }
  return true;
}

// Steps from lowest on, of which those from `at` on are like those a period before, up to `end`. A round
// may be several periods: what is done to one of three numbers is like what is done to the others.
static bool add_repeat(searching *s, uint32_t lowest, uint32_t at, uint32_t end, uint32_t period) {
  enum { MOST_PERIODS = 4 };
  const numbered *n = s->n;
  uint32_t first = at - period;
  while (first > lowest && s->kinds[first - 1] == s->kinds[first - 1 + period])
    first--;
  for (uint32_t own = period; own <= MOST_PERIODS * period; own += period) {
    uint32_t rounds = (end - first) / own;
    if (rounds < LEAST_ROUNDS)
      return false;
    uint32_t begin = first + best_cut(n, first + rounds / 2 * own, own);
    repeat r = alike_rounds(n, (repeat){begin, own, (end - begin) / own});
    uint64_t steps = (uint64_t)r.rounds * own;
    if (r.rounds >= LEAST_ROUNDS && steps >= LEAST_STEPS && steps * LEAST_SHARE >= n->count &&
        is_chain(n, &r)) {
      vec_push(n->memory, &s->found, r);
      return true;
    }
  }
  return false;
}

// Between two positions, by so many steps that are like others before.
static void search(searching *s, uint32_t lowest, uint32_t highest, uint32_t window) {
  uint32_t failed = 0, failed_end = 0;
  uint64_t power = 1;
  for (uint32_t i = 0; i < window; i++)
    power *= hash_factor;
  for (uint32_t at = lowest; at + window <= highest; at++) {
    uint32_t period = distance_back(s, at, window, power), end = at;
    if (!period || period > at - lowest || (period == failed && at < failed_end))
      continue;
    while (end < highest && s->kinds[end] == s->kinds[end - period])
      end++;
    if (end - at >= (LEAST_ROUNDS - 1) * period && add_repeat(s, lowest, at, end, period)) {
      const repeat *r = &s->found.items[s->found.count - 1];
      lowest = r->first + r->rounds * r->period;
      at = lowest - 1;
    } else {
      failed = period;
      failed_end = end;
    }
  }
}

// Where nothing was found yet.
static void search_all(searching *s, uint32_t window) {
  size_t found = s->found.count;
  uint32_t lowest = 0;
  for (size_t i = 0; i <= found; i++) {
    repeat r = i < found ? s->found.items[i] : (repeat){.first = s->n->count};
    search(s, lowest, r.first, window);
    lowest = r.first + r.rounds * r.period;
  }
}

static int compare_repeats(const void *a, const void *b) {
  const repeat *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

// Long steps first: a loop in each round of another one is no loop of its own.
repeat *find_repeats(const numbered *n, uint32_t *count) {
  searching s = {.n = n, .mask = 1};
  s.kinds = NEW_ARRAY(n->memory, uint64_t, n->count + 1);
  s.hashes = NEW_ARRAY(n->memory, uint64_t, n->count + 1);
  while (s.mask < 2 * (uint64_t)n->count)
    s.mask = 2 * s.mask + 1;
  s.seen = arena_alloc(n->memory, (size_t)(s.mask + 1) * sizeof *s.seen);
  for (uint32_t i = 0; i < n->count; i++) {
    const trace_step *t = numbered_step(n, n->at[i]);
    s.kinds[i] = hash_word(trace_hash_step(t), t->op == TRACE_ELEMENT ? 0 : t->number);
    s.hashes[i + 1] = s.hashes[i] * hash_factor + s.kinds[i];
  }
  for (uint32_t window = 1 << 10; window >= 4; window /= 4) {
    search_all(&s, window);
    if (s.found.count)
      qsort(s.found.items, s.found.count, sizeof *s.found.items, compare_repeats);
  }
  *count = (uint32_t)s.found.count;
  return s.found.items;
}
