#include "runtime/cpu/sweeps.h"

typedef struct turns {
  uint64_t first, count;
} turns;

static bool overlaps(const sweep *s, uint32_t loop) {
  return !s->whole && net_loop_overlaps(s->stage, loop);
}

static bool is_one_stretch(const sweep *s) { return s->whole || !net_stage_overlaps(s->stage); }

// The turns of a loop that the items have.
static turns all_turns(const sweep *s, uint32_t loop) {
  uint64_t weight = f2_unit((int)s->block_bits), extent = s->stage->extents[loop];
  for (uint32_t l = loop + 1; l < s->stage->loop_count; l++)
    weight *= s->stage->extents[l];
  uint64_t count = (s->end - s->first) / weight;
  if (s->first < s->end && count == 0)
    count = 1;
  return count < extent ? (turns){s->first / weight % extent, count} : (turns){0, extent};
}

// Those of them that are in the sweep; *overlapping counts the loops before it that overlap.
static turns turns_of(const sweep *s, uint32_t loop, int *overlapping) {
  turns all = all_turns(s, loop);
  if (!overlaps(s, loop))
    return all;
  uint64_t last = s->stage->extents[loop] - 1;
  bool has_last = all.first + all.count > last;
  return f2_bit(s->last, (*overlapping)++) ? (turns){last, has_last}
                                           : (turns){all.first, all.count - has_last};
}

sweep sweep_first(const plan *p, const plan_pass *pass, bool whole, uint64_t first, uint64_t end) {
  const net_stage *stage = plan_stage_of(p, pass);
  return (sweep){stage, (uint32_t)(pass->tile.n - pass->tile.dimension), whole, 0, first, end};
}

bool sweep_next(sweep *s) {
  int overlapping = 0;
  for (uint32_t l = 0; l < s->stage->loop_count; l++)
    overlapping += overlaps(s, l);
  return ++s->last < f2_unit(overlapping);
}

uint64_t sweep_items(const sweep *s) {
  uint64_t items = f2_unit((int)s->block_bits);
  int overlapping = 0;
  for (uint32_t l = s->stage->loop_count; l-- > 0 && !is_one_stretch(s);)
    items *= turns_of(s, l, &overlapping).count;
  return is_one_stretch(s) ? s->end - s->first : items;
}

uint64_t sweep_item(const sweep *s, uint64_t number, uint64_t *count) {
  uint64_t blocks = f2_unit((int)s->block_bits), item = number & (blocks - 1), weight = blocks;
  uint64_t stretch = blocks, rest = number / blocks;  // neighbours, up to the first loop that skips
  int overlapping = 0;
  if (is_one_stretch(s)) {
    *count = s->end - s->first - number;
    return s->first + number;
  }
  for (uint32_t l = s->stage->loop_count; l-- > 0; weight *= s->stage->extents[l]) {
    turns t = turns_of(s, l, &overlapping);
    item += (t.first + rest % t.count) * weight;
    stretch *= stretch == weight ? t.count : 1;
    rest /= t.count;
  }
  *count = stretch - number % stretch;
  return item;
}
