// The lines of passes. See lines.h.
#include "runtime/lines.h"

typedef struct place_count {
  span at;
  uint32_t ops;
} place_count;

typedef VEC(place_count) place_counts;

// Places are few: ops of one call of the library have one.
static void count_place(arena *a, const trace *t, uint32_t step, place_counts *counts) {
  if (step >= t->steps.count)
    return;
  span at = t->steps.items[step].caller;
  size_t i = 0;
  while (i < counts->count &&
         (counts->items[i].at.file != at.file || counts->items[i].at.start != at.start))
    i++;
  if (i == counts->count)
    vec_push(a, counts, ((place_count){at, 0}));
  counts->items[i].ops++;
}

static const char *line_of_pass(const permc_context *c, arena *a, const trace *t, const plan *p,
                                uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  const net_stage *s = plan_stage_of(p, pass);
  const net_routine *routine = plan_routine_of(p, pass);
  place_counts counts = {0};
  if (routine)
    count_place(a, t, routine->origin, &counts);
  for (uint32_t i = 0; i < pass->op_count; i++)
    count_place(a, t, s->ops.items[pass->ops[i]].origin, &counts);
  const place_count *most = NULL;
  for (size_t i = 0; i < counts.count; i++)
    if (!most || counts.items[i].ops > most->ops)
      most = &counts.items[i];
  if (!most || most->at.file >= c->program.diagnostics.sources.count)
    return NULL;
  const source *from = &c->program.diagnostics.sources.items[most->at.file];
  const char *slash = strrchr(from->name, '/');
  uint32_t line, column;
  source_position(from, most->at.start, &line, &column);
  return arena_printf(a, "%s:%u", slash ? slash + 1 : from->name, (unsigned)line);
}

const char **lines_of_passes(const permc_context *c, arena *a, const trace *t, const plan *p) {
  const char **lines = NEW_ARRAY(a, const char *, p->passes.count + 1);
  for (uint32_t i = 0; i < p->passes.count; i++)
    lines[i] = line_of_pass(c, a, t, p, i);
  return lines;
}
