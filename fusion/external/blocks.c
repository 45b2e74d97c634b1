// Stages by loops whose arrays are files: loops in blocks, of which each share has one of each. See
// external.h.
//
// Blocks are halved until memory has room for what a share reads and writes, always of the loop by
// which the disk then takes the least time. The last block of a loop may be a part of one: then a
// share computes more than it reads and stores.
#include "fusion/external/making.h"
#include "fusion/shares/passage.h"

// ---- as few loops as do -------------------------------------------------------------------------

// The index bits that only say, each for itself, where elements are.
static uint64_t free_bits(const net_stage *s) {
  const net_map *m;
  uint64_t bound = 0;
  for (size_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    for (uint32_t k = 0; k < op->k; k++)
      bound |= op->directions[k] | op->coordinates[k].mask;
    for (uint32_t k = 0; k < op->live_count; k++)
      bound |= op->live[k].mask;
  }
  for (size_t i = 0; i < s->stores.count; i++)
    for (uint32_t k = 0; k < s->stores.items[i].live_count; k++)
      bound |= s->stores.items[i].live[k].mask;
  for (size_t at = 0; (m = net_next_map(s, &at));)
    for (uint32_t r = 0; r < m->row_count; r++)
      bound |= f2_weight(m->rows[r].form.mask) > 1 ? m->rows[r].form.mask : 0;
  return f2_mask(s->n) & ~bound;
}

// What the bit adds to the map.
static int64_t weight_of_bit(const net_map *m, int bit) {
  const net_row *row = net_map_row(m, f2_unit(bit));
  return row ? net_row_step(row) : 0;
}

// The map with strides for the bits from `low` on.
static void bits_as_strides(arena *a, net_map *m, int low, uint32_t loops) {
  int64_t *strides = NEW_ARRAY(a, int64_t, loops + 1);
  uint32_t rows = 0;
  for (uint32_t l = 0; l < loops; l++)
    strides[l] =
        l < m->loop_count ? m->strides[l] : weight_of_bit(m, low + (int)(l - m->loop_count));
  for (uint32_t r = 0; r < m->row_count; r++) {
    net_row row = m->rows[r];
    if (row.form.mask >> low)
      m->offset += row.form.constant ? row.weight : 0;
    else
      m->rows[rows++] = row;
  }
  m->row_count = rows;
  m->strides = strides;
  m->loop_count = loops;
}

// Each bit from `low` on as a loop of two turns, behind those that there are.
static void bits_as_loops(arena *a, net_stage *s, int low) {
  net_map *m;
  uint32_t loops = s->loop_count + (uint32_t)(s->n - low);
  uint64_t *extents = NEW_ARRAY(a, uint64_t, loops + 1);
  for (uint32_t l = 0; l < loops; l++)
    extents[l] = l < s->loop_count ? s->extents[l] : 2;
  for (size_t at = 0; (m = net_next_map(s, &at));)
    bits_as_strides(a, m, low, loops);
  s->n = low;
  s->extents = extents;
  s->loop_count = loops;
}

static void remove_loop(net_stage *s, uint32_t loop) {
  net_map *m;
  s->loop_count--;
  for (uint32_t l = loop; l < s->loop_count; l++)
    s->extents[l] = s->extents[l + 1];
  for (size_t at = 0; (m = net_next_map(s, &at));) {
    m->loop_count--;
    for (uint32_t l = loop; l < s->loop_count; l++)
      m->strides[l] = m->strides[l + 1];
  }
}

static bool is_in_no_map(const net_stage *s, uint32_t loop) {
  const net_map *m;
  for (size_t at = 0; (m = net_next_map(s, &at));)
    if (m->strides[loop])
      return false;
  return true;
}

static bool join_a_loop(net_stage *s) {
  for (uint32_t l = 0; l < s->loop_count; l++) {
    if (s->extents[l] == 1 || (s->extents[l] > 1 && is_in_no_map(s, l))) {
      remove_loop(s, l);
      return true;
    }
    for (uint32_t k = 0; k < s->loop_count; k++)
      if (k != l && net_loops_are_one(s, l, k)) {
        s->extents[k] *= s->extents[l];
        remove_loop(s, l);
        return true;
      }
  }
  return false;
}

net_stage making_join_loops(arena *a, const net_stage *s, bool bits) {
  net_stage own = {.loop_count = s->loop_count, .extents = s->extents, .n = s->n};
  f2_space loose = f2_space_units(s->n, bits ? free_bits(s) : 0);
  f2_affine highest = {f2_from_rows(loose.dimension, s->n, loose.basis), 0};
  net_stage_merge(a, &own, s, sharing_coordinates(highest));
  bits_as_loops(a, &own, s->n - loose.dimension);
  while (join_a_loop(&own))
    ;
  return net_stage_changed(a, &own, (net_change){0});
}

// ---- how many turns -----------------------------------------------------------------------------

// About half of so many: a small multiple of a power of two, so that parts of files begin with
// pages.
static uint64_t half_of(uint64_t turns) {
  enum { DIGITS = 4 };
  uint64_t half = turns / 2 + turns % 2;
  int rest = f2_msb(half) + 1 - DIGITS;
  return rest > 0 ? half >> rest << rest : half;
}

// Bytes of a share, and seconds of the disk for all, about. False: there can be no such shares.
static bool count_bytes(making *m, const net_stage *s, const share_blocks *b, double *bytes,
                        double *seconds) {
  external_traffic t = {0};
  external_move move;
  bool good = true;
  *bytes = 0;
  for (size_t i = 0; i < s->loads.count + s->stores.count && good; i++) {
    const net_load *load = i < s->loads.count ? &s->loads.items[i] : NULL;
    const net_store *store = load ? NULL : &s->stores.items[i - s->loads.count];
    if (load && m->out->arrays.items[load->array].role == NET_TABLE)
      continue;
    good = making_find_move(m, s, b, load, store, &move);
    move.whole = load && !move.box.digit_count;
    making_add_traffic(m, &move, &t);
    *bytes += (double)move.elements * (double)making_element_bytes(m, move.file);
  }
  *seconds = external_seconds(m->target, t, b->shares);
  return good;
}

// False: there are none for which memory has room.
static bool choose_turns(making *m, const net_stage *s, share_blocks *b) {
  double room = 2 * (double)m->target->tile_bytes;  // what is read, and what is written
  uint32_t loops = making_has_effects(s) ? 1 : b->count;
  double bytes, seconds;
  if (!count_bytes(m, s, b, &bytes, &seconds))
    return false;
  while (bytes > room) {
    uint32_t best = NET_NONE;
    double least = 0;
    for (uint32_t l = 0; l < loops; l++) {
      uint64_t turns = b->turns[l];
      if (turns == 1)
        continue;
      b->turns[l] = half_of(turns);
      share_blocks_count(b);
      if (count_bytes(m, s, b, &bytes, &seconds) && (best == NET_NONE || seconds < least)) {
        best = l;
        least = seconds;
      }
      b->turns[l] = turns;
    }
    if (best == NET_NONE)
      return false;
    b->turns[best] = half_of(b->turns[best]);
    share_blocks_count(b);
    count_bytes(m, s, b, &bytes, &seconds);
  }
  return true;
}

static bool add_in_blocks(making *m, const void *stage, int joins) {
  share_blocks b = share_blocks_of(m->memory, stage);
  m->joins_blocks = joins;
  return choose_turns(m, stage, &b) && making_add_as_is(m, stage, &b);
}

bool making_add_blocks(making *m, const net_stage *of) {
  net_stage s = making_join_loops(m->memory, of, true);
  if (!s.loop_count)
    return making_add_step(m, &s);
  return net_stage_elements(&s) && making_add_faster(m, add_in_blocks, &s);
}
