#include "runtime/cpu/sweeps.h"

typedef struct turns {
  uint64_t first, count;
} turns;

static bool overlaps(const sweep *s, uint32_t loop) {
  return !s->whole && net_loop_overlaps(s->stage, loop);
}

// The turns of a loop that are in the sweep; *overlapping counts the loops before it that overlap.
static turns turns_of(const sweep *s, uint32_t loop, int *overlapping) {
  uint64_t extent = s->stage->extents[loop];
  if (!overlaps(s, loop))
    return (turns){0, extent};
  return f2_bit(s->last, (*overlapping)++) ? (turns){extent - 1, 1} : (turns){0, extent - 1};
}

sweep sweep_first(const plan *p, const plan_pass *pass, bool whole) {
  const net_stage *stage = &p->net->stages.items[pass->stage];
  return (sweep){stage, (uint32_t)(pass->tile.n - pass->tile.dimension), whole, 0};
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
  for (uint32_t l = s->stage->loop_count; l-- > 0;)
    items *= turns_of(s, l, &overlapping).count;
  return items;
}

uint64_t sweep_item(const sweep *s, uint64_t number, uint64_t *count) {
  uint64_t blocks = f2_unit((int)s->block_bits), item = number & (blocks - 1), weight = blocks;
  uint64_t stretch = blocks, rest = number / blocks;  // neighbours, up to the first loop that skips
  int overlapping = 0;
  for (uint32_t l = s->stage->loop_count; l-- > 0; weight *= s->stage->extents[l]) {
    turns t = turns_of(s, l, &overlapping);
    item += (t.first + rest % t.count) * weight;
    stretch *= stretch == weight ? t.count : 1;
    rest /= t.count;
  }
  *count = stretch - number % stretch;
  return item;
}
