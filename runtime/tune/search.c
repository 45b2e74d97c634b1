// Which targets are tried, in what order, and which of them is best. See tune.h.
#include "runtime/tune/tune.h"

#include <math.h>

static bool same_point(const tuned_point *a, const tuned_point *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

// A quarter, half and twice what the model chose, as far as the machine has it; of accesses, which
// are 16 bytes at most, a quarter and half.
static void add_field_values(tune_search *s, int field, const tune_bounds *b) {
  uint64_t chosen = s->start.bytes[field];
  for (int i = 0; i < TUNE_VALUES; i++) {
    uint64_t value = (chosen << i) / 4;
    if (value == chosen || (value >= b->least[field] && value <= b->most[field]))
      s->values[field][s->value_count[field]++] = value;
  }
}

void tune_search_start(tune_search *s, const tuned_point *start, bool same, const tune_bounds *b,
                       size_t most) {
  *s = (tune_search){.start = *start, .at = *start, .start_known = same};
  s->most = most && most < TUNE_MOST ? most : TUNE_MOST;
  for (int field = 0; field < TUNED_FIELDS; field++)
    add_field_values(s, field, b);
}

static bool was_tried(const tune_search *s, const tuned_point *p) {
  for (size_t i = 0; i < s->count; i++)
    if (same_point(p, &s->tried[i].point))
      return true;
  return s->start_known && same_point(p, &s->start);
}

static void next_field(tune_search *s) {
  s->idle = s->improved ? 0 : s->idle + 1;
  s->improved = false;
  s->value = 0;
  s->field = (s->field + 1) % TUNED_FIELDS;
}

bool tune_search_next(tune_search *s, tuned_point *p) {
  while (s->count < s->most && s->idle < TUNED_FIELDS) {
    if (s->value == s->value_count[s->field]) {
      next_field(s);
      continue;
    }
    *p = s->at;
    p->bytes[s->field] = s->values[s->field][s->value++];
    if (!was_tried(s, p))
      return true;
  }
  return false;
}

void tune_search_add(tune_search *s, const tuned_point *p, double ratio) {
  double before = s->best ? s->best->ratio : 1;
  tune_candidate *c = &s->tried[s->count++];
  *c = (tune_candidate){*p, ratio * before};
  if (!(ratio < TUNE_TIE))
    return;
  s->best = c;
  s->at = *p;
  s->improved = true;
}
