// Places of keys in order, by merging, and counts of keys; wrong places. See execute.h.
#include "lang/execute/execute.h"

#include <stdlib.h>
#include <string.h>

typedef struct ordering {
  const trace_step *step;
  scalar_type type;
  const unsigned char *keys;  // of an instance
  uint64_t count;
} ordering;

// Whether key i may stand before key j, which comes behind it.
static bool may_precede(const ordering *o, int64_t i, int64_t j) {
  size_t size = scalar_types[o->type].size;
  const void *x = o->keys + (size_t)i * size, *y = o->keys + (size_t)j * size;
  bool up = o->step->scalar == OP_LE, good;
  scalar_apply(OP_TOTAL_LE, o->type, 1, up ? x : y, up ? y : x, &good);
  return good;
}

// The numbers of two rows of keys in order, as one row.
static void merge_rows(const ordering *o, const int64_t *a, uint64_t m, const int64_t *b,
                       uint64_t n, int64_t *out) {
  uint64_t i = 0, j = 0;
  while (i < m || j < n)
    *out++ = j == n || (i < m && may_precede(o, a[i], b[j])) ? a[i++] : b[j++];
}

// out[i]: the place of key i. Rows of 1, 2, 4, ... keys are put in order, as their numbers.
static bool find_places(step_watch *w, const ordering *o, int64_t *out, int64_t *room) {
  int64_t *from = room, *to = room + o->count;
  for (uint64_t i = 0; i < o->count; i++)
    from[i] = (int64_t)i;
  for (uint64_t row = 1; row < o->count; row *= 2) {
    for (uint64_t i = 0; i < o->count; i += 2 * row) {
      uint64_t m = o->count - i < row ? o->count - i : row;
      uint64_t n = o->count - i - m < row ? o->count - i - m : row;
      merge_rows(o, from + i, m, from + i + m, n, to + i);
      if (!step_watch_spend(w, m + n))
        return false;
    }
    int64_t *other = from;
    from = to;
    to = other;
  }
  for (uint64_t i = 0; i < o->count; i++)
    out[from[i]] = (int64_t)i;
  return true;
}

// The same in rows: row i is keys offsets[i] ... offsets[i + 1] - 1. Others stay.
static bool find_ragged_places(step_watch *w, const ordering *o, const int64_t *offsets,
                               uint64_t rows, int64_t *out, int64_t *room) {
  for (uint64_t i = 0; i < o->count; i++)
    out[i] = (int64_t)i;
  for (uint64_t i = 0; i < rows; i++) {
    int64_t first = offsets[i], last = offsets[i + 1];
    if (first < 0 || last < first || (uint64_t)last > o->count)  // the check finds it
      continue;
    ordering row = *o;
    row.keys += (size_t)first * scalar_types[o->type].size;
    row.count = (uint64_t)(last - first);
    if (!find_places(w, &row, out + first, room))
      return false;
    for (int64_t k = first; k < last; k++)
      out[k] += first;
  }
  return step_watch_spend(w, rows);
}

static bool count_keys(step_watch *w, const ordering *o, int64_t *out) {
  memset(out, 0, o->step->number * sizeof *out);
  for (uint64_t i = 0; i < o->count; i++) {
    uint64_t key;
    scalar_convert(o->type, SCALAR_U64, 1, o->keys + i * scalar_types[o->type].size, &key);
    if (key < o->step->number)
      out[key]++;
  }
  return step_watch_spend(w, o->count + o->step->number);
}

// The first place of all that is wrong: outside, or the first of several that are equal.
static int64_t find_wrong(const ordering *o, int64_t *seen) {
  int64_t first = INT64_MAX;
  for (uint64_t p = 0; p < o->step->number && seen; p++)
    seen[p] = -1;
  for (uint64_t i = 0; i < o->count; i++) {
    uint64_t place;
    int64_t wrong = (int64_t)i;
    scalar_convert(o->type, SCALAR_U64, 1, o->keys + i * scalar_types[o->type].size, &place);
    if (place < o->step->number) {
      wrong = seen && seen[place] >= 0 ? seen[place] : INT64_MAX;
      if (seen && seen[place] < 0)
        seen[place] = (int64_t)i;
    }
    first = wrong < first ? wrong : first;
  }
  return first;
}

// Instance after instance.
static bool find_first_wrong(step_watch *w, const trace_step *s, const trace_step *of,
                             const unsigned char *keys, int64_t *out) {
  size_t size = scalar_types[of->type].size;
  FREED int64_t *seen = s->scalar == OP_NE ? malloc((s->number + 1) * sizeof *seen) : NULL;
  ordering o = {s, of->type, keys, of->dims[0]};
  bool good = seen || s->scalar != OP_NE;
  w->no_memory = !good;
  out[0] = INT64_MAX, out[1] = 0;
  for (uint64_t i = 0; i < of->batch && good && out[0] == INT64_MAX; i++) {
    int64_t found = find_wrong(&o, seen);
    if (found != INT64_MAX) {
      out[0] = (int64_t)(i * o.count) + found;
      scalar_convert(o.type, SCALAR_I64, 1, o.keys + (size_t)found * size, &out[1]);
    }
    o.keys += o.count * size;
    good = step_watch_spend(w, o.count + (seen ? s->number : 0));
  }
  return good;
}

// Instance i's part of an operand: how many elements stand before it.
static uint64_t elements_before(const trace_step *s, const trace_step *of, uint64_t i) {
  return i / (s->batch / of->batch) * of->dims[0];
}

bool execute_order(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                   int64_t *out) {
  const trace_step *of = &t->steps.items[s->operands[0]];
  const trace_step *cut = s->operand_count == 2 ? &t->steps.items[s->operands[1]] : NULL;
  const unsigned char *keys = in[0];
  const int64_t *offsets = cut ? in[1] : NULL;
  if (s->op == TRACE_WRONG)
    return find_first_wrong(w, s, of, keys, out);
  ordering o = {s, of->type, keys, of->dims[0]};
  FREED int64_t *room = malloc((2 * o.count + 1) * sizeof *room);
  w->no_memory = room == NULL;
  bool good = room != NULL;
  for (uint64_t i = 0; i < s->batch && good; i++, out += s->dims[0]) {
    o.keys = keys + elements_before(s, of, i) * scalar_types[o.type].size;
    good = cut ? find_ragged_places(w, &o, offsets + elements_before(s, cut, i), cut->dims[0] - 1,
                                    out, room)
           : s->op == TRACE_PLACES ? find_places(w, &o, out, room)
                                   : count_keys(w, &o, out);
  }
  return good;
}
