// What the shares of a stage load: from slabs, or from windows of arrays that lie in slabs
// otherwise. See shares.h.
//
//   8 elements, 2 ranks, element x of the result is that at x + 1 of the argument, or 0
//
//   window     first 1, step 4, length 4      rank 0 gets elements 1 2 3 4, rank 1 elements 5 6 7
#include "core/number.h"
#include "fusion/shares/sharing.h"

static bool is_slab(const share_window *w, uint64_t slab) {
  return w->first >= 0 && w->step == (int64_t)slab && (uint64_t)w->first + w->length <= slab;
}

bool sharing_find_window(arena *a, const net_stage *s, const net_map *m, share_window *w) {
  share_box b;
  if (!net_stage_elements(s))
    return false;
  share_box_of_map(a, s, NULL, m, UINT64_MAX, &b);
  if (b.digit_count != 1 || b.digits[0].divide != 1 || b.digits[0].extent != net_share_count(s))
    return false;
  *w = (share_window){b.first, b.digits[0].step, b.elements};
  return true;
}

bool sharing_goes_to_slabs(int p, int n, const net_map *m, uint64_t slab, f2_affine *number) {
  int low = slab ? f2_msb(slab) : 0;
  f2_affine address;
  if (!is_power_of_two(slab) || !net_map_bits(m, n, low + p, &address))
    return false;
  *number = (f2_affine){f2_zero(p, n), address.c >> low};
  memcpy(number->a.row, address.a.row + low, (size_t)p * sizeof *address.a.row);
  return true;
}

bool sharing_keeps_to_slab(arena *a, const net_stage *s, const net_map *m, uint64_t slab) {
  share_window w;
  f2_affine number;
  if (!s->shares || !sharing_goes_to_slabs(s->shares, s->n, m, slab, &number))
    return sharing_find_window(a, s, m, &w) && is_slab(&w, slab);
  bool own = number.c == 0;
  for (int i = 0; i < s->shares; i++)
    own = own && number.a.row[i] == f2_unit(net_share_bits(s) + i);
  return own;
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
    bool own = slab && sharing_keeps_to_slab(s->memory, stage, &l->map, slab);
    share_window w;
    bool some =
        slab && !own && sharing_find_window(s->memory, stage, &l->map, &w) && w.length <= count / 2;
    if (own || some)
      s->fixed.items[l->array] = true;
    if (!own)
      l->array = some ? window_of(s, l->array, &w) : sharing_whole_array(s, l->array);
  }
}
