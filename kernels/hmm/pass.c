// From a pass to the requests of its warps. See hmm/pass.h.
#include "kernels/hmm/pass.h"

#include "core/number.h"

bool hmm_pass_skips(const hmm_pass *p, uint64_t item) {
  const plan_pass *pass = p->of.pass;
  int blocks = (int)p->of.space->blocks;
  return (pass->live_count && f2_combine(blocks, p->alive.block, item) != p->alive.constant) ||
         (pass->padding_start != UINT64_MAX &&
          f2_combine(blocks, p->least, item) >= pass->padding_start);
}

const char *hmm_pass_open(arena *a, const plan *of, uint32_t number, const c_options *options,
                          hmm_pass *out) {
  static const c_options usual = C_OPTIONS_OF_GPU(NULL, 0);
  c_context c = c_context_of(a, of, options ? options : &usual);
  *out = (hmm_pass){0};
  kernel_record *r = &out->of;
  const char *problem = c_record_pass(&c, number, r);
  if (problem)
    return problem;
  const plan_pass *pass = r->pass;
  const net_stage *stage = r->stage;
  const c_space *s = r->space;
  out->threads = UINT64_C(1) << s->threads;
  out->items = product_of(stage->extents, stage->loop_count) << s->blocks;
  out->alive = xor_sum_of_forms(pass->live_count, pass->live, s);
  for (uint32_t i = 0; i < s->blocks; i++)
    out->least[i] = f2_space_reduce(pass->tile, s->block[i]);
  if (r->steps.count == 0)  // an item without steps would not end
    kernel_record_add(r, (kernel_step){.kind = STEP_BARRIER});
  for (size_t i = 0; i < r->steps.count; i++)
    for (uint32_t part = 0; part == 0 || part < r->steps.items[i].bytes / WORD; part++)
      vec_push(a, &out->steps, ((pass_step){&r->steps.items[i], part}));
  return NULL;
}

// Of the blocks that are alive, an affine space x + N, those whose least index is below the limit:
// their least indices are a coset of a subspace, in the order of its coordinates.
uint64_t hmm_pass_working(const hmm_pass *p, uint64_t *first) {
  const plan_pass *pass = p->of.pass;
  int blocks = (int)p->of.space->blocks;
  f2_matrix alive = f2_from_columns((int)pass->live_count, blocks, p->alive.block);
  f2_matrix least = f2_from_columns(pass->tile.n, blocks, p->least);
  uint64_t loops = p->items >> blocks, x, n;
  *first = 0;
  if (!f2_solve(alive, p->alive.constant, &x))
    return 0;
  f2_space free = f2_kernel(alive), image = f2_space_image(least, free);
  uint64_t offset = f2_space_reduce(image, f2_apply(least, x)), low = 0,
           high = f2_unit(image.dimension), all = high;
  while (low < high) {  // those below `low` are within the limit, those from `high` on are not
    uint64_t k = low + (high - low) / 2;
    if ((offset ^ f2_space_element(image, k)) < pass->padding_start)
      low = k + 1;
    else
      high = k;
  }
  if (low == 0)
    return 0;
  f2_matrix of_free = f2_from_columns(blocks, free.dimension, free.basis);
  if (f2_solve(f2_multiply(least, of_free), offset ^ f2_apply(least, x), &n))
    x ^= f2_apply(of_free, n);
  *first = x;
  return loops * low * (f2_unit(free.dimension) / all);
}

// ---- requests --------------------------------------------------------------------------------

// A word for lanes first ... first + count - 1 of the warp. `count` is a power
// of two that divides `first`. `blocks`: how many of its columns are of the block's bits (of scratch
// none); those of the thread's follow.
static void find_words(const hmm_pass *p, const pass_place *at, uint32_t blocks,
                       const xor_word *word, uint32_t first, uint32_t count, uint64_t *out) {
  const uint64_t *thread = word->column + blocks;
  int threads = (int)p->of.space->threads;
  out[0] = word->constant ^ f2_combine((int)blocks, word->column, at->item) ^
           f2_combine(threads, thread, at->warp << LANE_BITS | first);
  for (uint32_t size = 1; size < count; size *= 2, threads--) {
    uint64_t other = threads > 0 ? *thread++ : 0;
    for (uint32_t i = 0; i < size; i++)
      out[size + i] = out[i] ^ other;
  }
}

// The units at which these lanes are.
static void find_units(const hmm_pass *p, const pass_place *at, uint32_t first, uint32_t count,
                       uint64_t *unit) {
  const kernel_step *s = at->step->of;
  const net_stage *stage = p->of.stage;
  uint64_t fixed = s->offset, own[LANES], loops = at->item >> p->of.space->blocks;
  for (uint32_t i = s->strides ? stage->loop_count : 0; i-- > 0; loops /= stage->extents[i])
    fixed += (uint64_t)s->strides[i] * net_loop_index(stage, i, loops % stage->extents[i]);
  for (uint32_t i = 0; i < count; i++)
    unit[i] = fixed;
  for (uint32_t g = 0; g < s->word_count; g++) {
    find_words(p, at, s->blocks, &s->words[g], first, count, own);
    for (uint32_t i = 0; i < count; i++)
      unit[i] += s->words[g].odd * own[i];
  }
}

static void mask_idle_lanes(const hmm_pass *p, const pass_place *at, uint32_t first, uint32_t count,
                            uint64_t *unit) {
  const kernel_step *s = at->step->of;
  int blocks = (int)p->of.space->blocks;
  uint64_t word[LANES];
  for (uint32_t i = 0; i < count; i++)
    if (unit[i] >= s->limit || first + i >= p->threads)
      unit[i] = HMM_IDLE;
  for (uint32_t g = 0; g < s->guard_count; g++) {
    const thread_guard *guard = &s->guard[g];
    uint64_t end = guard->end;
    if (guard->end_column)
      end ^= f2_combine(blocks, guard->end_column, at->item);
    find_words(p, at, (uint32_t)blocks, &guard->word, first, count, word);
    for (uint32_t i = 0; i < count; i++)
      if (word[i] < guard->first || word[i] >= end)
        unit[i] = HMM_IDLE;
  }
}

bool hmm_pass_has_idle(const hmm_pass *p, const kernel_step *s) {
  return s->words && (s->guard_count > 0 || s->limit != UINT64_MAX || p->threads < LANES);
}

uint32_t hmm_pass_units(const hmm_pass *p, const pass_place *at, uint64_t *unit, uint32_t *words) {
  const kernel_step *s = at->step->of;
  *words = s->bytes > WORD ? s->bytes / WORD : 1;
  uint32_t count = LANES / *words, first = at->step->part * count;
  for (uint32_t i = 0; i < count && !s->words; i++)
    unit[i] = (uint64_t)(first + i) * LANES;
  if (!s->words)
    return count;
  find_units(p, at, first, count, unit);
  if (hmm_pass_has_idle(p, s))
    mask_idle_lanes(p, at, first, count, unit);
  for (uint32_t i = 0; i < count && s->swizzle; i++)
    if (unit[i] != HMM_IDLE)
      unit[i] = c_swizzle_place(s->swizzle, unit[i]);
  return count;
}
