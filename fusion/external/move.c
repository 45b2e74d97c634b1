// What shares read of an array in a file, and write to it: by index bits, or by boxes. See external.h.
#include "fusion/external/making.h"

// ---- by index bits ------------------------------------------------------------------------------

// The highest of n index bits number shares. Of the indices where forms are 0, the part of a share:
// those that differ by vectors of a space from one that is an affine map of the share.
typedef struct live_part {
  f2_space vectors;
  f2_affine first;
  VEC(net_form) conditions;  // forms of the share: where one is 1, it has no part
} live_part;

static live_part part_of_live(arena *a, int n, int low, uint32_t count, const net_form *forms) {
  live_part p = {.vectors = f2_space_units(n, f2_mask(low)), .first = {f2_zero(n, n - low), 0}};
  for (int i = low; i < n; i++)
    p.first.a.row[i] = f2_unit(i - low);
  for (uint32_t k = 0; k < count; k++) {
    // The form at `first`, and on the vectors: those where it is 0, and one where it is not.
    net_form at = {0, forms[k].constant ^ f2_dot(forms[k].mask, p.first.c)};
    f2_space rest = f2_space_zero(n);
    uint64_t other = 0;
    for (int i = 0; i < n; i++)
      if (f2_bit(forms[k].mask, i))
        at.mask ^= p.first.a.row[i];
    for (int i = 0; i < p.vectors.dimension; i++) {
      uint64_t v = p.vectors.basis[i];
      bool one = f2_dot(forms[k].mask, v);
      if (one && !other)
        other = v;
      else
        f2_space_insert(&rest, one ? v ^ other : v);
    }
    p.vectors = rest;
    if (!other && (at.mask || at.constant))
      vec_push(a, &p.conditions, at);
    for (int i = 0; other && i < n; i++)
      if (f2_bit(other, i))
        p.first.a.row[i] ^= at.mask;
    p.first.c ^= at.constant ? other : 0;
  }
  return p;
}

// Bits of addresses, the same number for all maps, so that those of two can be compared.
enum { ADDRESS_BITS = F2_MAX - 1 };

// The same with images that have no leading bit of v.
static f2_affine reduced_by(f2_space v, f2_affine f) {
  uint64_t columns[F2_MAX];
  for (int i = 0; i < f.a.columns; i++)
    columns[i] = f2_space_reduce(v, f2_column(f.a, i));
  return (f2_affine){f2_from_columns(f.a.rows, f.a.columns, columns), f2_space_reduce(v, f.c)};
}

bool making_move_by_bits(arena *a, const net_stage *s, const net_map *m, uint32_t live_count,
                         const net_form *live, external_move *out) {
  f2_affine bits;
  if (m->loop_count || !net_map_bits(m, s->n, ADDRESS_BITS, &bits))
    return false;
  live_part p = part_of_live(a, s->n, net_share_bits(s), live_count, live);
  out->by_bits = true;
  out->addresses = f2_space_image(bits.a, p.vectors);
  out->bases = reduced_by(out->addresses, f2_affine_compose(bits, p.first));
  out->elements = f2_unit(out->addresses.dimension);
  out->live_count = (uint32_t)p.conditions.count;
  out->live = p.conditions.items;
  return true;
}

// How far the shares' addresses are apart, which is one distance.
static bool have_one_distance(const external_move *a, const external_move *b, uint64_t *distance) {
  f2_affine x = a->bases, y = b->bases;
  f2_space u = f2_space_sum(a->addresses, b->addresses);
  for (int i = 0; i < x.a.columns; i++)
    if (f2_space_reduce(u, f2_column(x.a, i) ^ f2_column(y.a, i)))
      return false;
  *distance = f2_space_reduce(u, x.c ^ y.c);
  return true;
}

bool making_join_by_bits(external_move *into, const external_move *m) {
  uint64_t distance;
  if (into->addresses.n != m->addresses.n ||
      !net_forms_equal(into->live_count, into->live, m->live_count, m->live) ||
      !have_one_distance(into, m, &distance))
    return false;
  f2_space u = f2_space_sum(into->addresses, m->addresses);
  if (distance)
    f2_space_insert(&u, distance);
  uint64_t largest = into->elements > m->elements ? into->elements : m->elements;
  if (f2_unit(u.dimension) > 2 * largest)
    return false;
  into->addresses = u;
  into->bases = reduced_by(u, into->bases);
  into->elements = f2_unit(u.dimension);
  return true;
}

net_map making_bits_map(arena *a, const net_stage *s, const net_map *m, const external_move *of) {
  f2_affine bits, place = {f2_zero(0, s->n), 0};
  ensure(net_map_bits(m, s->n, ADDRESS_BITS, &bits));
  for (uint64_t left = f2_space_leading(of->addresses); left; left &= left - 1) {
    place.a.row[place.a.rows] = bits.a.row[f2_lsb(left)];
    place.c |= (uint64_t)f2_bit(bits.c, f2_lsb(left)) << place.a.rows++;
  }
  for (int i = 0; i < s->shares && !of->whole; i++)
    place.a.row[place.a.rows++] = f2_unit(net_share_bits(s) + i);
  return net_stage_map(a, s, place);
}

// ---- by boxes ---------------------------------------------------------------------------------

// Adds it to the map's offset where it is backward, and so begins with the highest place.
static int64_t weight_in_memory(const share_box *b, uint64_t count, int64_t weight, net_map *map) {
  if (count < 2 || !weight)
    return 0;
  int64_t apart = (int64_t)share_box_places_apart(b, magnitude_of(weight));
  map->offset += weight < 0 ? apart * (int64_t)(count - 1) : 0;
  return weight < 0 ? -apart : apart;
}

net_map making_box_map(arena *a, const net_stage *s, const share_blocks *blocks, const net_map *map,
                       int64_t first, const external_move *of) {
  const share_box *b = &of->box;
  int64_t *by_block = NEW_ARRAY(a, int64_t, map->loop_count + 1);
  int64_t *by_turn = NEW_ARRAY(a, int64_t, map->loop_count + 1);
  net_map to = {.offset = (int64_t)of->origin + first - b->first,
                .rows = NEW_ARRAY(a, net_row, map->row_count + (uint32_t)s->shares + 1)};
  for (uint32_t r = 0; r < map->row_count; r++) {
    net_row row = map->rows[r];
    if (!row.form.mask || share_has_row(s, &row))
      continue;
    row.weight = weight_in_memory(b, 2, row.weight, &to);
    to.rows[to.row_count++] = row;
  }
  for (int i = 0; i < s->shares && !of->whole; i++)
    to.rows[to.row_count++] =
        (net_row){{f2_unit(net_share_bits(s) + i), false}, (int64_t)(of->apart << i)};
  for (uint32_t l = 0; l < map->loop_count; l++) {
    by_block[l] = of->whole ? 0 : (int64_t)(of->apart * blocks->divide[l]);
    by_turn[l] = weight_in_memory(b, blocks->turns[l], map->strides[l], &to);
  }
  return blocks ? making_map_in_blocks(a, blocks, &to, by_block, by_turn) : to;
}

// ---- blocks -------------------------------------------------------------------------------------

// log2 of the elements of a block: the lowest unit vectors of U.
static int block_bits(const external_move *m) {
  int t = 0;
  while (t < m->addresses.dimension && m->addresses.basis[t] == f2_unit(t))
    t++;
  return t;
}

uint64_t external_block_count(const external_move *m) {
  return m->by_bits ? f2_unit(m->addresses.dimension - block_bits(m)) : share_box_runs(&m->box);
}

bool external_block_at(const external_move *m, uint64_t share, uint64_t i, share_block *out) {
  if (m->by_bits) {
    int t = block_bits(m);
    uint64_t first = f2_space_element(m->addresses, i << t) ^ f2_affine_apply(m->bases, share);
    *out = (share_block){first, f2_unit(t), i << t};
    if (!net_forms_hold(m->live_count, m->live, share) || first >= m->end)
      return false;
  } else {
    int64_t first;
    if (!share_box_run(&m->box, share, i, &first, out))
      return false;
    uint64_t before = first < 0 ? -(uint64_t)first : 0;
    if (before >= out->count || (uint64_t)first + before >= m->end)
      return false;
    *out = (share_block){(uint64_t)first + before, out->count - before, out->place + before};
  }
  out->count = m->end - out->first < out->count ? m->end - out->first : out->count;
  return true;
}

// The bytes of a move, and the requests for them.
static uint64_t bytes_moved(const external *e, const external_step *s, const external_move *m,
                            uint64_t *requests) {
  share_block b;
  uint64_t sum = 0, last = m->whole ? 1 : s->shares;
  size_t size = scalar_types[e->arrays.items[m->file].type].size;
  *requests = 0;
  for (uint64_t share = 0; share < last; share++) {
    uint64_t count = m->whole || external_share_acts(s, share) ? external_block_count(m) : 0;
    for (uint64_t i = 0; i < count; i++) {
      uint64_t bytes = external_block_at(m, share, i, &b) ? b.count * size : 0;
      sum += bytes;
      *requests += divide_up(bytes, EXTERNAL_REQUEST);
    }
  }
  return sum;
}

external_traffic external_step_traffic(const external *e, const external_step *s) {
  external_traffic t = {0};
  uint64_t requests;
  for (size_t i = 0; i < s->moves.count; i++) {
    const external_move *m = &s->moves.items[i];
    uint64_t bytes = bytes_moved(e, s, m, &requests);
    t.reads += external_move_reads(m) ? bytes : 0;
    t.writes += m->writes ? bytes : 0;
    t.requests += m->writes && external_move_reads(m) ? 2 * requests : requests;
  }
  return t;
}

double external_seconds(const target *t, external_traffic moved, uint64_t parts) {
  double bytes = (double)moved.reads + (double)moved.writes, requests = (double)moved.requests;
  return target_link_seconds(&t->links[TARGET_DISK], (double)parts, bytes / 2, requests / 2);
}

int64_t external_origin(const external_move *m, uint64_t share) {
  if (m->by_address)
    return share_box_first(&m->box, share);
  return (int64_t)(m->origin + (m->whole ? 0 : share * m->apart));
}

// By bits, the least address is that of the first block.
static bool has_any_block(const external_move *m, uint64_t share) {
  uint64_t count = m->by_bits ? 1 : external_block_count(m);
  share_block b;
  bool any = false;
  for (uint64_t i = 0; i < count && !any; i++)
    any = external_block_at(m, share, i, &b);
  return any;
}

bool external_share_acts(const external_step *s, uint64_t share) {
  bool acts = false;
  for (size_t i = 0; i < s->moves.count && !acts; i++) {
    const external_move *m = &s->moves.items[i];
    acts = m->writes && (m->whole || has_any_block(m, share));
  }
  return acts;
}
