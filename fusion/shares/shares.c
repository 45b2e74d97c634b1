// What holds of a Net in shares, and its text. See shares.h.
#include "fusion/shares/sharing.h"

#include <inttypes.h>

const char *const share_kind_names[] = {"split",  "exchange", "gather",
                                        "window", "routine",  "whole"};

int shares_bits(uint64_t ranks) {
  enum { MOST = 20 };
  bool good = ranks && !(ranks & (ranks - 1)) && ranks <= f2_unit(MOST);
  return good ? f2_msb(ranks) : -1;
}

// ---- verification -------------------------------------------------------------------------------

// Whether each share of a stage has these addresses in its own part of the array.
static bool stays_in_share(arena *a, const shares *s, const net_stage *stage, net_id array,
                           const net_map *m) {
  const share_window *has = s->window[array];
  share_window w;
  if (!has)
    return sharing_keeps_to_slab(a, stage, m, s->slab[array]);
  return sharing_find_window(a, stage, m, &w) && w.step == has->step && w.first >= has->first &&
         (uint64_t)(w.first - has->first) + w.length <= has->length;
}

static const char *problem_of_split(arena *a, const shares *s, const net_stage *stage) {
  if (stage->routine || (!stage->shares && !stage->share_turns))
    return "a stage that is split has no shares";
  for (size_t i = 0; i < stage->loads.count; i++) {
    const net_load *l = &stage->loads.items[i];
    if (s->slab[l->array] && !stays_in_share(a, s, stage, l->array, &l->map))
      return "a share loads what another has";
  }
  for (size_t i = 0; i < stage->stores.count; i++) {
    const net_store *o = &stage->stores.items[i];
    if (!s->slab[o->array] || s->window[o->array] ||
        !stays_in_share(a, s, stage, o->array, &o->map))
      return "a share stores what another has";
  }
  for (net_access at = {0}; net_access_next(stage, &at);)
    if (at.by == NET_BY_NODE && (at.writes || s->slab[at.array]))
      return "a share goes to places that another has";
  return NULL;
}

static const char *problem_of_whole(const shares *s, const net_stage *stage) {
  bool good = !stage->shares && !stage->share_turns;
  for (net_access at = {0}; net_access_next(stage, &at);)
    good = good && !s->slab[at.array];
  return good ? NULL : "a stage that each rank executes needs an array that none has";
}

// Whether the stage, and what is said of it, are the same.
static const char *problem_of_exchange(const shares *s, const share_stage *e,
                                       const net_stage *stage) {
  uint64_t count = s->net->arrays.items[e->from].count;
  f2_affine back;
  if (e->blocks.a.rows + e->block > F2_MAX || count != f2_unit(e->blocks.a.rows + e->block) ||
      s->net->arrays.items[e->to].count != count || !f2_affine_inverse(e->blocks, &back))
    return "an exchange is not one of all blocks";
  if (s->slab[e->from] != count >> s->p || s->slab[e->to] != count >> s->p ||
      e->blocks.a.rows < s->p)
    return "an exchange is not one between slabs";
  if (stage->loads.count != 1 || stage->stores.count != 1 || stage->ops.count ||
      stage->loads.items[0].array != e->from || stage->stores.items[0].array != e->to)
    return "an exchange is another stage than it says";
  return NULL;
}

const char *shares_verify(arena *a, const shares *s) {
  const char *problem = net_verify(a, s->net);
  for (size_t i = 0; i < s->net->stages.count && !problem; i++) {
    const net_stage *stage = &s->net->stages.items[i];
    const share_stage *as = &s->stages[i];
    switch (as->kind) {
    case SHARE_SPLIT:
      problem = problem_of_split(a, s, stage);
      break;
    case SHARE_ROUTINE:
      if (!stage->routine || !shares_routine_slab(s->net, stage->routine, s->slab, f2_unit(s->p)))
        problem = "a routine has not its slabs";
      break;
    case SHARE_WHOLE:
      problem = problem_of_whole(s, stage);
      break;
    case SHARE_EXCHANGE:
      problem = problem_of_exchange(s, as, stage);
      break;
    case SHARE_GATHER:
    case SHARE_WINDOW:
      if (!s->slab[as->from] || s->window[as->from] ||
          (as->kind == SHARE_GATHER ? s->slab[as->to] > 0 : !s->window[as->to]))
        problem = "what is fetched is not of an array in slabs, or goes to one";
      break;
    }
  }
  return problem;
}

// ---- text ---------------------------------------------------------------------------------------

void shares_print(text *out, const shares *s) {
  text_printf(out, "ranks %" PRIu64 "\n", f2_unit(s->p));
  for (size_t i = 0; i < s->net->arrays.count; i++)
    if (s->slab[i] && !s->window[i])
      text_printf(out, "slab a%zu %" PRIu64 "\n", i, s->slab[i]);
  for (size_t i = 0; i < s->net->stages.count; i++) {
    const share_stage *as = &s->stages[i];
    text_printf(out, "stage %zu %s", i, share_kind_names[as->kind]);
    if (share_only_moves(as->kind))
      text_printf(out, " a%" PRIu32 " to a%" PRIu32, as->from, as->to);
    if (as->kind == SHARE_EXCHANGE) {
      text_printf(out, " blocks of %" PRIu64 ":", f2_unit(as->block));
      for (int r = 0; r < as->blocks.a.rows; r++)
        net_write_mask(out, as->blocks.a.row[r], as->blocks.a.columns);
      text_printf(out, " ^ %" PRIu64, as->blocks.c);
    }
    const share_window *w = as->kind == SHARE_WINDOW ? s->window[as->to] : NULL;
    if (w)
      text_printf(out, " first %" PRId64 " step %" PRId64 " length %" PRIu64, w->first, w->step,
                  w->length);
    text_string(out, "\n");
  }
  net_print(out, s->net);
}
