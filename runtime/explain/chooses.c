// Which functions were chosen, for a reader: those at one place that came out the same are one. See
// explain.h.
#include "runtime/explain/explain.h"

static bool are_alike(const pipeline *p, uint32_t a, uint32_t b) {
  const trace_choice *x = &p->open.choices.items[a], *y = &p->open.choices.items[b];
  const double *s = p->choices.seconds[a], *t = p->choices.seconds[b];
  return x->where.file == y->where.file && x->where.start == y->where.start &&
         x->count == y->count && p->choices.taken[a] == p->choices.taken[b] &&
         p->choices.reason[a] == p->choices.reason[b] &&
         (s == t || (s && t && !memcmp(s, t, x->count * sizeof *s)));
}

const explained_choose *explain_chooses(const permc_context *c, arena *a, const pipeline *p,
                                        uint32_t *count) {
  const choice_list *made = &p->choices;
  const bool *used = trace_used_choices(a, &p->open, made->taken);
  explained_choose *all = NEW_ARRAY(a, explained_choose, made->count);
  *count = 0;
  for (uint32_t i = 0; i < made->count; i++) {
    uint32_t k = 0;
    if (!used[i])
      continue;
    while (k < *count && !are_alike(p, all[k].choice, i))
      k++;
    if (k == *count)
      all[(*count)++] = (explained_choose){
          .place = explain_place(c, a, p->open.choices.items[i].where), .choice = i};
    all[k].times++;
  }
  return all;
}
