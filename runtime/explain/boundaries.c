// Why passes are apart, in words and with places of the program's text. See explain.h.
#include "core/units.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>

enum { SHOWN = 40 };  // characters of an op's text

// "scan (+) xs at sort.perm:3:9", of a step; NULL: no step, or it is not in the program's own text.
static const char *place_of(const permc_context *c, arena *a, const trace *t, uint32_t step) {
  if (step >= t->steps.count)
    return NULL;
  const span at = t->steps.items[step].caller;
  if (at.file >= c->program.diagnostics.sources.count)
    return NULL;
  const source *s = &c->program.diagnostics.sources.items[at.file];
  uint32_t line, column;
  if (s->library || at.end > s->length)
    return NULL;
  source_position(s, at.start, &line, &column);
  if (s->outside || at.start == at.end)
    return arena_printf(a, "%s:%u:%u", s->name, (unsigned)line, (unsigned)column);
  int length = (int)strcspn(s->text + at.start, "\n");
  if (length > (int)(at.end - at.start))
    length = (int)(at.end - at.start);
  bool all = length <= SHOWN && at.start + (uint32_t)length == at.end;
  return arena_printf(a, "%.*s%s at %s:%u:%u", length > SHOWN ? SHOWN : length, s->text + at.start,
                      all ? "" : "...", s->name, (unsigned)line, (unsigned)column);
}

static void explain_tile(arena *a, const plan *p, explained_boundary *b) {
  char size[NUMBER_SPACE];
  int more = b->at.needed - b->at.held;
  b->why =
      arena_printf(a,
                   "X and Y in one pass need a tile of 2^%d elements; this target's tiles (%s) "
                   "hold 2^%d of their values",
                   b->at.needed, show_bytes(size, p->target->tile_bytes), b->at.held);
  b->remedy = arena_printf(a, "a tile %" PRIu64 " times as large, or fewer values at a time",
                           UINT64_C(1) << more);
}

static void explain_one(const permc_context *c, arena *a, const pipeline *p,
                        explained_boundary *b) {
  b->first = place_of(c, a, &p->trace, b->at.first);
  b->second = place_of(c, a, &p->trace, b->at.second);
  b->why = net_reasons[b->at.reason].why;
  b->remedy = net_reasons[b->at.reason].remedy;
  if (b->at.reason == NET_REASON_TILE)
    explain_tile(a, p->plan, b);
}

static int compare_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

// By what they say, and then in their order.
static int compare_words(const explained_boundary *a, const explained_boundary *b) {
  int order = a->at.permutation - b->at.permutation;
  order = order ? order : compare_text(a->why, b->why);
  order = order ? order : compare_text(a->first, b->first);
  return order ? order : compare_text(a->second, b->second);
}

static int compare_boundaries(const void *x, const void *y) {
  const explained_boundary *const *a = x, *const *b = y;
  int order = compare_words(*a, *b);
  return order ? order : *a < *b ? -1 : *a > *b;
}

static void link_repeated(arena *a, explained_boundary *all, size_t count) {
  explained_boundary **sorted = NEW_ARRAY(a, explained_boundary *, count);
  for (size_t i = 0; i < count; i++)
    sorted[i] = &all[i];
  if (count)
    qsort(sorted, count, sizeof *sorted, compare_boundaries);
  for (size_t i = 1; i < count; i++)
    if (compare_words(sorted[i - 1], sorted[i]) == 0) {
      sorted[i - 1]->again = sorted[i];
      sorted[i]->repeats = true;
    }
}

const explained_boundary *explain_boundaries(const permc_context *c, arena *a, const pipeline *p,
                                             uint32_t *count) {
  const plan_boundary *list = plan_boundaries(a, p->plan, count);
  explained_boundary *all = NEW_ARRAY(a, explained_boundary, *count);
  for (uint32_t i = 0; i < *count; i++) {
    all[i] = (explained_boundary){.at = list[i]};
    explain_one(c, a, p, &all[i]);
  }
  link_repeated(a, all, *count);
  return all;
}
