// What shares of a stage touch of an array by an affine map. See box.h.
#include "fusion/shares/box.h"

// ---- blocks of loops ----------------------------------------------------------------------------

void share_blocks_count(share_blocks *b) {
  b->shares = 1;
  for (uint32_t l = b->count; l-- > 0;) {
    b->counts[l] = divide_up(b->extents[l], b->turns[l]);
    b->divide[l] = b->shares;
    b->shares *= b->counts[l];
  }
}

share_blocks share_blocks_of(arena *a, const net_stage *s) {
  share_blocks b = {.count = s->loop_count, .extents = s->extents};
  b.turns = NEW_ARRAY(a, uint64_t, b.count);
  b.divide = NEW_ARRAY(a, uint64_t, b.count);
  b.counts = NEW_ARRAY(a, uint64_t, b.count);
  memcpy(b.turns, s->extents, b.count * sizeof *b.turns);
  if (s->share_turns)
    b.turns[s->share_outer] = s->share_turns;
  share_blocks_count(&b);
  return b;
}

// ---- boxes --------------------------------------------------------------------------------------

static uint64_t length_of_run(const share_box *b, uint64_t count) {
  return b->run + b->sides[0].stride * (count - 1);
}

static uint64_t whole_run(const share_box *b) { return length_of_run(b, b->sides[0].count); }

uint64_t share_box_span(const share_box *b) {
  uint64_t span = whole_run(b);
  for (uint32_t i = 1; i < b->side_count; i++)
    span += b->sides[i].stride * (b->sides[i].count - 1);
  return span;
}

static void set_places(share_box *b) {
  b->elements = whole_run(b);
  b->sides[0].place = b->sides[0].stride;
  for (uint32_t i = 1; i < b->side_count; i++) {
    b->sides[i].place = b->elements;
    b->elements *= b->sides[i].count;
  }
}

static const share_digit *digit_of_side(const share_box *b, uint32_t side) {
  for (uint32_t i = 0; i < b->digit_count; i++)
    if (b->digits[i].side == side)
      return &b->digits[i];
  return NULL;
}

// The second side goes along runs, too, with what is between its elements. False: a share that has
// fewer elements of the first has the same run nevertheless.
static bool fold(share_box *b) {
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
static bool add_side(share_box *b, uint64_t count, uint64_t stride, uint32_t digit, uint64_t gap) {
  uint64_t span = share_box_span(b), run = whole_run(b);
  share_side *last = &b->sides[b->side_count - 1];
  bool good = true, overlaps = stride < span, exact = digit == NET_NONE;
  if (exact && b->side_count > 1 && !digit_of_side(b, b->side_count - 1) &&
      stride == last->stride * last->count) {
    last->count *= count;
    return true;
  }
  bool joins =
      gap == UINT64_MAX || (b->side_count == 1 && stride - run <= gap && !digit_of_side(b, 0));
  b->sides[b->side_count++] = (share_side){count, stride, 0};
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
  const share_blocks *blocks;
  const net_map *map;
  share_box box;
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
  const share_blocks *b = x->blocks;
  uint64_t turns = b->turns[l], count = b->counts[l], last = b->extents[l] - turns * (count - 1);
  int64_t stride = x->map->strides[l];
  uint32_t clipped = NET_NONE;
  if (!stride)
    return;
  if (count > 1) {
    clipped = last < turns ? x->box.digit_count : NET_NONE;
    x->box.digits[x->box.digit_count++] =
        (share_digit){b->divide[l], count, stride * (int64_t)turns, NET_NONE, last, stride < 0};
  }
  add_dimension(x, turns, stride, clipped);
}

static void add_share_bit(boxing *x, int i) {
  share_box *b = &x->box;
  share_digit *before = b->digit_count ? &b->digits[b->digit_count - 1] : NULL;
  const net_row *row = net_map_row(x->map, f2_unit(net_share_bits(x->stage) + i));
  int64_t step = row ? net_row_step(row) : 0;
  b->first += step < 0 ? row->weight : 0;
  if (step && before && before->divide * before->extent == f2_unit(i) &&
      before->step * (int64_t)before->extent == step)
    before->extent *= 2;
  else if (step)
    b->digits[b->digit_count++] = (share_digit){f2_unit(i), 2, step, NET_NONE, 0, false};
}

bool share_box_of_map(arena *a, const net_stage *s, const share_blocks *blocks, const net_map *map,
                      uint64_t gap, share_box *out) {
  uint32_t most = map->loop_count + map->row_count;
  boxing x = {.stage = s, .blocks = blocks, .map = map};
  share_blocks turns;
  bool exact = true;
  if (!blocks && s->share_turns) {
    turns = share_blocks_of(a, s);
    x.blocks = &turns;
  }
  x.dimensions = NEW_ARRAY(a, dimension, most + 1);
  x.box = (share_box){.first = map->offset,
                      .run = 1,
                      .side_count = 1,
                      .sides = NEW_ARRAY(a, share_side, most + 2),
                      .digits = NEW_ARRAY(a, share_digit, most + (uint32_t)s->shares + 1)};
  x.box.sides[0] = (share_side){1, 1, 1};
  for (uint32_t l = 0; l < map->loop_count; l++)
    add_loop(&x, l);
  for (int i = 0; i < s->shares; i++)
    add_share_bit(&x, i);
  for (uint32_t r = 0; r < map->row_count; r++)
    if (!share_has_row(s, &map->rows[r]))
      add_dimension(&x, 2, map->rows[r].weight, NET_NONE);
  for (uint32_t i = 0; i < x.count; i++) {
    const dimension *d = &x.dimensions[i];
    exact = add_side(&x.box, d->count, d->weight, d->digit, gap) && exact;
  }
  set_places(&x.box);
  *out = x.box;
  return exact;
}

// ---- two as one ---------------------------------------------------------------------------------

static bool have_same_shape(const share_box *a, const share_box *b) {
  bool same = a->side_count == b->side_count && a->digit_count == b->digit_count;
  for (uint32_t i = 0; same && i < a->side_count; i++)
    same = a->sides[i].count == b->sides[i].count && a->sides[i].stride == b->sides[i].stride;
  for (uint32_t i = 0; same && i < a->digit_count; i++) {
    const share_digit *x = &a->digits[i], *y = &b->digits[i];
    same = x->divide == y->divide && x->extent == y->extent && x->step == y->step &&
           x->side == y->side && (x->side == NET_NONE || x->last == y->last);
  }
  return same;
}

bool share_boxes_join(arena *a, share_box *into, const share_box *m) {
  if (!have_same_shape(into, m))
    return false;
  share_box b = *into;
  int64_t end = into->first + (int64_t)into->run, other = m->first + (int64_t)m->run;
  b.first = b.first < m->first ? b.first : m->first;
  b.run = (uint64_t)((end > other ? end : other) - b.first);
  b.sides = NEW_ARRAY(a, share_side, b.side_count);
  b.digits = NEW_ARRAY(a, share_digit, b.digit_count + 1);
  memcpy(b.sides, into->sides, b.side_count * sizeof *b.sides);
  if (b.digit_count)
    memcpy(b.digits, into->digits, b.digit_count * sizeof *b.digits);
  if (b.side_count > 1 && whole_run(&b) > b.sides[1].stride)
    return false;
  while (b.side_count > 1 && whole_run(&b) == b.sides[1].stride && !digit_of_side(&b, 0))
    fold(&b);
  set_places(&b);
  if (b.elements > into->elements + m->elements)
    return false;
  *into = b;
  return true;
}

// ---- places -------------------------------------------------------------------------------------

uint64_t share_box_places_apart(const share_box *b, uint64_t weight) {
  uint32_t i = b->side_count - 1;
  if (weight < whole_run(b))
    return weight;
  while (i > 1 && b->sides[i].stride > weight)
    i--;
  return weight / b->sides[i].stride * b->sides[i].place;
}

// ---- runs ---------------------------------------------------------------------------------------

static uint64_t turn_of(const share_digit *d, uint64_t share) {
  return share / d->divide % d->extent;
}

int64_t share_box_first(const share_box *b, uint64_t share) {
  int64_t first = b->first;
  for (uint32_t i = 0; i < b->digit_count; i++)
    first += b->digits[i].step * (int64_t)turn_of(&b->digits[i], share);
  return first;
}

// Of a side, the elements that the share has: from *low on, before *high.
static void range_of_side(const share_box *b, uint32_t side, uint64_t share, uint64_t *low,
                          uint64_t *high) {
  const share_digit *d = digit_of_side(b, side);
  *low = 0;
  *high = b->sides[side].count;
  if (!d || turn_of(d, share) + 1 < d->extent)
    return;
  *low = d->backward ? *high - d->last : 0;
  *high = d->backward ? *high : d->last;
}

uint64_t share_box_runs(const share_box *b) {
  uint64_t runs = 1;
  for (uint32_t i = 1; i < b->side_count; i++)
    runs *= b->sides[i].count;
  return runs;
}

bool share_box_run(const share_box *b, uint64_t share, uint64_t i, int64_t *first,
                   share_block *out) {
  uint64_t low, high;
  *first = share_box_first(b, share);
  out->place = 0;
  for (uint32_t k = 1; k < b->side_count; k++) {
    const share_side *side = &b->sides[k];
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
