// What shares read of an array in a file, and write to it, by boxes. See external.h.
#include "core/number.h"
#include "fusion/external/making.h"

// ---- boxes --------------------------------------------------------------------------------------

static uint64_t length_of_run(const external_box *b, uint64_t count) {
  return b->run + b->sides[0].stride * (count - 1);
}

static uint64_t whole_run(const external_box *b) { return length_of_run(b, b->sides[0].count); }

// From the lowest address to the highest.
static uint64_t span_of(const external_box *b) {
  uint64_t span = whole_run(b);
  for (uint32_t i = 1; i < b->side_count; i++)
    span += b->sides[i].stride * (b->sides[i].count - 1);
  return span;
}

static uint64_t set_places(external_box *b) {
  uint64_t place = whole_run(b);
  b->sides[0].place = b->sides[0].stride;
  for (uint32_t i = 1; i < b->side_count; i++) {
    b->sides[i].place = place;
    place *= b->sides[i].count;
  }
  return place;
}

static const external_digit *digit_of_side(const external_box *b, uint32_t side) {
  for (uint32_t i = 0; i < b->digit_count; i++)
    if (b->digits[i].side == side)
      return &b->digits[i];
  return NULL;
}

// The second side goes along runs, too, with what is between its elements. False: a share that has
// fewer elements of the first has the same run nevertheless.
static bool fold(external_box *b) {
  bool exact = !digit_of_side(b, 0);
  b->run = whole_run(b);
  b->side_count--;
  for (uint32_t i = 0; i < b->side_count; i++)
    b->sides[i] = b->sides[i + 1];
  for (uint32_t i = 0; i < b->digit_count; i++)
    if (b->digits[i].side != NET_NONE)
      b->digits[i].side = b->digits[i].side ? b->digits[i].side - 1 : NET_NONE;
  return exact;
}

// Another side, whose stride is none of the lowest. What is at most `gap` addresses apart is one
// run.
static bool add_side(external_box *b, uint64_t count, uint64_t stride, uint32_t digit,
                     uint64_t gap) {
  uint64_t span = span_of(b), run = whole_run(b);
  external_side *last = &b->sides[b->side_count - 1];
  bool good = true, overlaps = stride < span, exact = digit == NET_NONE;
  if (exact && b->side_count > 1 && !digit_of_side(b, b->side_count - 1) &&
      stride == last->stride * last->count) {
    last->count *= count;
    return true;
  }
  bool joins =
      gap == UINT64_MAX || (b->side_count == 1 && stride - run <= gap && !digit_of_side(b, 0));
  b->sides[b->side_count++] = (external_side){count, stride, 0};
  if (!exact)
    b->digits[digit].side = b->side_count - 1;
  if (overlaps || joins)
    while (b->side_count > 1)
      good = fold(b) && good;
  return good;
}

// ---- of a map -----------------------------------------------------------------------------------

// Elements of a loop or a row that a share has, `weight` addresses apart.
typedef struct dimension {
  uint64_t count, weight;
  uint32_t digit;  // whose last turn has fewer; or NET_NONE
} dimension;

typedef struct boxing {
  const net_stage *stage;
  const making_blocks *blocks;
  const net_map *map;
  external_box box;
  dimension *dimensions;
  uint32_t count;
} boxing;

static void add_dimension(boxing *x, uint64_t count, int64_t weight, uint32_t digit) {
  uint32_t at = x->count;
  if (count < 2)
    return;
  x->box.first += weight < 0 ? weight * (int64_t)(count - 1) : 0;
  for (; at > 0 && x->dimensions[at - 1].weight >= magnitude_of(weight); at--)
    x->dimensions[at] = x->dimensions[at - 1];
  x->dimensions[at] = (dimension){count, magnitude_of(weight), digit};
  x->count++;
}

static void add_loop(boxing *x, uint32_t l) {
  const making_blocks *b = x->blocks;
  uint64_t turns = b->turns[l], count = b->counts[l], last = b->extents[l] - turns * (count - 1);
  int64_t stride = x->map->strides[l];
  uint32_t clipped = NET_NONE;
  if (!stride)
    return;
  if (count > 1) {
    clipped = last < turns ? x->box.digit_count : NET_NONE;
    x->box.digits[x->box.digit_count++] =
        (external_digit){b->divide[l], count, stride * (int64_t)turns, NET_NONE, last, stride < 0};
  }
  add_dimension(x, turns, stride, clipped);
}

// Whether the row depends on one bit, which numbers shares.
static bool is_of_share(const net_stage *s, const net_row *row) {
  return is_power_of_two(row->form.mask) && row->form.mask >> net_share_bits(s);
}

static void add_share_bit(boxing *x, int i) {
  external_box *b = &x->box;
  external_digit *before = b->digit_count ? &b->digits[b->digit_count - 1] : NULL;
  const net_row *row = net_map_row(x->map, f2_unit(net_share_bits(x->stage) + i));
  int64_t step = row ? net_row_step(row) : 0;
  b->first += step < 0 ? row->weight : 0;
  if (step && before && before->divide * before->extent == f2_unit(i) &&
      before->step * (int64_t)before->extent == step)
    before->extent *= 2;
  else if (step)
    b->digits[b->digit_count++] = (external_digit){f2_unit(i), 2, step, NET_NONE, 0, false};
}

bool making_move_by_box(arena *a, const net_stage *s, const making_blocks *blocks,
                        const net_map *map, uint64_t gap, external_move *out) {
  uint32_t most = map->loop_count + map->row_count;
  boxing x = {.stage = s, .blocks = blocks, .map = map};
  bool exact = true;
  x.dimensions = NEW_ARRAY(a, dimension, most + 1);
  x.box = (external_box){.first = map->offset,
                         .run = 1,
                         .side_count = 1,
                         .sides = NEW_ARRAY(a, external_side, most + 2),
                         .digits = NEW_ARRAY(a, external_digit, most + (uint32_t)s->shares + 1)};
  x.box.sides[0] = (external_side){1, 1, 1};
  for (uint32_t l = 0; l < map->loop_count; l++)
    add_loop(&x, l);
  for (int i = 0; i < s->shares; i++)
    add_share_bit(&x, i);
  for (uint32_t r = 0; r < map->row_count; r++)
    if (!is_of_share(s, &map->rows[r]))
      add_dimension(&x, 2, map->rows[r].weight, NET_NONE);
  for (uint32_t i = 0; i < x.count; i++) {
    const dimension *d = &x.dimensions[i];
    exact = add_side(&x.box, d->count, d->weight, d->digit, gap) && exact;
  }
  out->by_bits = false;
  out->elements = set_places(&x.box);
  out->box = x.box;
  return exact;
}

// ---- two as one ---------------------------------------------------------------------------------

static bool have_same_shape(const external_box *a, const external_box *b) {
  bool same = a->side_count == b->side_count && a->digit_count == b->digit_count;
  for (uint32_t i = 0; same && i < a->side_count; i++)
    same = a->sides[i].count == b->sides[i].count && a->sides[i].stride == b->sides[i].stride;
  for (uint32_t i = 0; same && i < a->digit_count; i++) {
    const external_digit *x = &a->digits[i], *y = &b->digits[i];
    same = x->divide == y->divide && x->extent == y->extent && x->step == y->step &&
           x->side == y->side && (x->side == NET_NONE || x->last == y->last);
  }
  return same;
}

bool making_join_boxes(arena *a, external_move *into, const external_move *m) {
  if (into->by_bits || m->by_bits || !have_same_shape(&into->box, &m->box))
    return false;
  external_box b = into->box;
  int64_t end = into->box.first + (int64_t)into->box.run;
  int64_t other = m->box.first + (int64_t)m->box.run;
  b.first = b.first < m->box.first ? b.first : m->box.first;
  b.run = (uint64_t)((end > other ? end : other) - b.first);
  b.sides = NEW_ARRAY(a, external_side, b.side_count);
  b.digits = NEW_ARRAY(a, external_digit, b.digit_count + 1);
  memcpy(b.sides, into->box.sides, b.side_count * sizeof *b.sides);
  if (b.digit_count)
    memcpy(b.digits, into->box.digits, b.digit_count * sizeof *b.digits);
  if (b.side_count > 1 && whole_run(&b) > b.sides[1].stride)
    return false;
  while (b.side_count > 1 && whole_run(&b) == b.sides[1].stride && !digit_of_side(&b, 0))
    fold(&b);
  uint64_t elements = set_places(&b);
  if (elements > into->elements + m->elements)
    return false;
  into->box = b;
  into->elements = elements;
  return true;
}

// ---- places -------------------------------------------------------------------------------------

// How far apart in memory elements are that are so far apart in the file, along a side or a run.
static uint64_t places_apart(const external_box *b, uint64_t weight) {
  uint32_t i = b->side_count - 1;
  if (weight < whole_run(b))
    return weight;
  while (i > 1 && b->sides[i].stride > weight)
    i--;
  return weight / b->sides[i].stride * b->sides[i].place;
}

// Adds it to the map's offset where it is backward, and so begins with the highest place.
static int64_t weight_in_memory(const external_box *b, uint64_t count, int64_t weight,
                                net_map *map) {
  if (count < 2 || !weight)
    return 0;
  int64_t apart = (int64_t)places_apart(b, magnitude_of(weight));
  map->offset += weight < 0 ? apart * (int64_t)(count - 1) : 0;
  return weight < 0 ? -apart : apart;
}

net_map making_box_map(arena *a, const net_stage *s, const making_blocks *blocks,
                       const net_map *map, int64_t first, const external_move *of) {
  const external_box *b = &of->box;
  int64_t *by_block = NEW_ARRAY(a, int64_t, map->loop_count + 1);
  int64_t *by_turn = NEW_ARRAY(a, int64_t, map->loop_count + 1);
  net_map to = {.offset = (int64_t)of->origin + first - b->first,
                .rows = NEW_ARRAY(a, net_row, map->row_count + (uint32_t)s->shares + 1)};
  for (uint32_t r = 0; r < map->row_count; r++) {
    net_row row = map->rows[r];
    if (!row.form.mask || is_of_share(s, &row))
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

static uint64_t turn_of(const external_digit *d, uint64_t share) {
  return share / d->divide % d->extent;
}

int64_t external_box_first(const external_box *b, uint64_t share) {
  int64_t first = b->first;
  for (uint32_t i = 0; i < b->digit_count; i++)
    first += b->digits[i].step * (int64_t)turn_of(&b->digits[i], share);
  return first;
}

// Of a side, the elements that the share has: from *low on, before *high.
static void range_of_side(const external_box *b, uint32_t side, uint64_t share, uint64_t *low,
                          uint64_t *high) {
  const external_digit *d = digit_of_side(b, side);
  *low = 0;
  *high = b->sides[side].count;
  if (!d || turn_of(d, share) + 1 < d->extent)
    return;
  *low = d->backward ? *high - d->last : 0;
  *high = d->backward ? *high : d->last;
}

uint64_t external_box_runs(const external_box *b) {
  uint64_t runs = 1;
  for (uint32_t i = 1; i < b->side_count; i++)
    runs *= b->sides[i].count;
  return runs;
}

bool external_box_run(const external_box *b, uint64_t share, uint64_t i, int64_t *first,
                      external_block *out) {
  uint64_t low, high;
  *first = external_box_first(b, share);
  out->place = 0;
  for (uint32_t k = 1; k < b->side_count; k++) {
    const external_side *side = &b->sides[k];
    uint64_t j = i % side->count;
    i /= side->count;
    range_of_side(b, k, share, &low, &high);
    if (j < low || j >= high)
      return false;
    *first += (int64_t)(j * side->stride);
    out->place += j * side->place;
  }
  range_of_side(b, 0, share, &low, &high);
  *first += (int64_t)(low * b->sides[0].stride);
  out->place += low * b->sides[0].stride;
  out->count = length_of_run(b, high - low);
  return true;
}

// ---- which elements several shares have ---------------------------------------------------------

// Of all shares together: neighbours along a side or by a digit, how far apart they are, and what
// all of them span besides one.
typedef struct neighbours {
  uint64_t apart, span;
} neighbours;

static neighbours neighbours_by_digit(const external_box *b, const external_digit *d) {
  const external_side *runs = &b->sides[0];
  uint64_t step = magnitude_of(d->step), span = step * (d->extent - 1);
  return (neighbours){step, d->side == 0 ? span - runs->stride * (runs->count - d->last) : span};
}

static neighbours neighbours_along_side(const external_box *b, uint32_t side) {
  const external_digit *d = digit_of_side(b, side);
  uint64_t count = b->sides[side].count, stride = b->sides[side].stride;
  return (neighbours){stride, stride * ((d ? count * (d->extent - 1) + d->last : count) - 1)};
}

// Those that are the least apart of those that are more than `least` apart. `several`: there are
// others as far apart. False: there are none.
static bool next_neighbours(const external_box *b, uint64_t least, neighbours *out, bool *several) {
  bool found = false;
  *several = false;
  for (uint32_t i = 1; i < b->side_count + b->digit_count; i++) {
    bool is_side = i < b->side_count;
    const external_digit *d = is_side ? NULL : &b->digits[i - b->side_count];
    neighbours n = is_side ? neighbours_along_side(b, i) : neighbours_by_digit(b, d);
    bool counts = is_side || d->side == NET_NONE || d->side == 0;
    if (!counts || n.apart <= least || (found && n.apart > out->apart))
      continue;
    *several = found && n.apart == out->apart;
    *out = n;
    found = true;
  }
  return found;
}

// All shares as one box: neighbours are further apart than what those span that are less apart.
bool external_box_has_each_once(const external_box *b, uint64_t count) {
  neighbours n = {0, 0};
  uint64_t span = whole_run(b), differ = 1;
  bool several;
  for (uint32_t i = 0; i < b->digit_count; i++)
    differ *= b->digits[i].extent;
  if (differ < count)
    return false;
  while (next_neighbours(b, n.apart, &n, &several)) {
    if (n.apart < span || several)
      return false;
    span += n.span;
  }
  return true;
}
