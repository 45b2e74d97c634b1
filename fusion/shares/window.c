// What the shares of a stage load: from slabs, or from windows of arrays that lie in slabs
// otherwise. See shares.h.
//
//   8 elements, 2 ranks, element x of the result is that at x + 1 of the argument, or 0
//
//   window     first 1, step 4, length 4      rank 0 gets elements 1 2 3 4, rank 1 elements 5 6 7
#include "core/number.h"
#include "fusion/shares/sharing.h"

// The addresses that rows and loops give which no share has to itself: from *low on, *length of
// them.
static void add_range(int64_t weight, uint64_t most, share_window *w) {
  w->length += magnitude_of(weight) * most;
  if (weight < 0)
    w->first += weight * (int64_t)most;
}

// Whether the bits of the share shift the addresses of a share, by as much from each share to the
// next: by `step`, where a bit's own row may add to it or take from it; 0: by what the rows say.
// (What depends on the bits besides is in the range.)
static bool shifts_by_bits(const net_stage *s, const net_map *m, int64_t step, share_window *w) {
  int low = net_share_bits(s);
  for (uint32_t r = 0; r < m->row_count; r++) {
    const net_row *row = &m->rows[r];
    if (!(row->form.mask >> low && is_power_of_two(row->form.mask)))
      add_range(row->weight, 1, w);
  }
  for (int i = 0; i < s->shares; i++) {
    const net_row *row = net_map_row(m, f2_unit(low + i));
    if (!row)
      return false;
    int64_t by = net_row_step(row);
    w->first += row->form.constant ? row->weight : 0;
    w->step = i > 0 ? w->step : step ? step : by;
    by -= w->step * (int64_t)f2_unit(i);
    if (by != 0 && !step)
      return false;
    add_range(by, 1, w);
  }
  return true;
}

static bool is_slab(const share_window *w, uint64_t slab) {
  return w->first >= 0 && w->step == (int64_t)slab && (uint64_t)w->first + w->length <= slab;
}

bool sharing_find_window(const net_stage *s, const net_map *m, uint64_t slab, share_window *w) {
  *w = (share_window){m->offset, 0, 1};
  for (uint32_t l = 0; l < m->loop_count; l++) {
    bool shared = s->share_turns && l == 0;
    uint64_t turns = shared ? s->share_turns : s->extents[l];
    if (turns == 0)
      return false;
    add_range(m->strides[l], turns - 1, w);
    if (shared)
      w->step = m->strides[l] * (int64_t)turns;
  }
  share_window all = *w;
  if (s->shares && slab && shifts_by_bits(s, m, (int64_t)slab, w) && is_slab(w, slab))
    return true;
  *w = all;
  if (s->shares)
    return shifts_by_bits(s, m, 0, w);
  for (uint32_t r = 0; r < m->row_count; r++)
    add_range(m->rows[r].weight, 1, w);
  return w->step != 0;
}

// What shares have of an array in that window.
static net_id window_of(sharing *s, net_id array, const share_window *w) {
  for (size_t i = 0; i < s->kinds.count; i++) {
    const share_stage *k = &s->kinds.items[i];
    if (k->kind != SHARE_WINDOW || k->from != array)
      continue;
    const share_window *o = s->window.items[k->to];
    if (o->first == w->first && o->step == w->step && o->length == w->length)
      return k->to;
  }
  const net_array *of = &s->to->arrays.items[array];
  share_window *own = NEW(s->memory, share_window);
  *own = *w;
  net_id to = sharing_add_array(s, of->type, of->count, w->length);
  s->window.items[to] = own;
  sharing_add_stage(s, (share_stage){.kind = SHARE_WINDOW, .from = array, .to = to},
                    sharing_copying_stage(s, array, to));
  return to;
}

void sharing_fetch_loads(sharing *s, net_stage *stage) {
  for (size_t i = 0; i < stage->loads.count; i++) {
    net_load *l = &stage->loads.items[i];
    uint64_t slab = s->slab.items[l->array], count = s->to->arrays.items[l->array].count;
    share_window w;
    bool found = slab && sharing_find_window(stage, &l->map, slab, &w);
    if (found && is_slab(&w, slab))
      s->fixed.items[l->array] = true;
    else if (found && w.length <= count / 2) {
      s->fixed.items[l->array] = true;
      l->array = window_of(s, l->array, &w);
    } else {
      l->array = sharing_whole_array(s, l->array);
    }
  }
}
