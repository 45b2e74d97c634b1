// From a pass to the requests of its warps. See hmm/pass.h.
#include "kernels/hmm/pass.h"

#include "core/number.h"

// The words of rows of a map; of none, a word that is 0.
static xor_word *words_of_rows(arena *a, const c_map *m, uint64_t rows, uint32_t *count) {
  xor_word *words = NEW_ARRAY(a, xor_word, m->rows + 1);
  *count = c_map_words(a, m, rows, words);
  if (*count == 0)
    words->column = NEW_ARRAY(a, uint64_t, m->blocks + m->threads + m->vectors);
  return words;
}

// At coordinates x of W.
static xor_word *words_at(arena *a, const c_map *m, uint32_t count, const xor_word *words,
                          uint64_t x) {
  xor_word *at = NEW_ARRAY(a, xor_word, count);
  for (uint32_t g = 0; g < count; g++)
    at[g] = (xor_word){words[g].odd, xor_word_at(m, &words[g], x), words[g].column};
  return at;
}

static void add_access(hmm_pass *p, pass_access one) {
  pass_access *kept = NEW(p->memory, pass_access);
  *kept = one;
  for (uint32_t part = 0; part < (one.bytes > WORD ? one.bytes / WORD : 1); part++)
    vec_push(p->memory, &p->steps, ((pass_step){kept, part}));
}

// All accesses of a slot's registers, as c_load and c_store (kernels/transfer/) make them.
static void add_accesses(hmm_pass *p, pass_access like, const c_map *map, const c_space *space,
                         scalar_type type, const c_place *place) {
  uint32_t bytes = scalar_part_bytes(type), parts = scalar_parts(type);
  c_access a = c_access_of(map, space, type, 0, c_access_widest(true, place));
  uint32_t live_count = p->live_count + place->live_count;
  net_form *forms = NEW_ARRAY(p->memory, net_form, live_count + 1);
  for (uint32_t i = 0; i < live_count; i++)
    forms[i] = i < p->live_count ? p->live[i] : place->live[i - p->live_count];
  c_map live = c_map_of_forms(live_count, forms, space);
  uint64_t chunk_rows = 0, index = f2_mask((int)(space->r + space->l));
  for (uint32_t i = 0; i < a.wide; i++)
    chunk_rows |= f2_unit((int)a.chunk_row[i]);
  uint32_t one;
  const xor_word *words = words_of_rows(p->memory, map, f2_mask((int)map->rows) & ~chunk_rows,
                                        &like.count),
                 *alive = words_of_rows(p->memory, &live, f2_mask((int)live.rows), &one);
  like.map = map;
  like.scale = map->bytes ? 1 : bytes;
  like.bytes = bytes << a.wide;
  like.limit = place->padding_start == UINT64_MAX ? UINT64_MAX : place->padding_start * parts;
  for (uint64_t i = 0; i < UINT64_C(1) << a.home.registers; i += UINT64_C(1) << a.wide) {
    uint64_t x = register_layout_at(&a.memory, i, 0);
    if (a.wide == 0 && place->padding && place->padding[x & f2_mask((int)space->r)])
      continue;
    like.words = words_at(p->memory, map, like.count, words, x);
    like.live = live_count ? words_at(p->memory, &live, one, alive, x & index) : NULL;
    add_access(p, like);
  }
}

// ---- phases ----------------------------------------------------------------------------------

static void add_move(hmm_pass *p, const plan_move *move, bool load, const c_space *space,
                     scalar_type type, pass_access like, const bool *dead) {
  c_place place = {.padding_start = move->padding_start, .padding = load ? NULL : dead};
  f2_space known = p->known;
  place.live = c_pass_live_of_move(&p->pass, move, &known, &place.live_count);
  c_map *map = NEW(p->memory, c_map);
  *map = c_map_of(p->memory, &move->map, space, scalar_parts(type));
  like.op = load ? HMM_READ_GLOBAL : HMM_WRITE_GLOBAL;
  add_accesses(p, like, map, space, type, &place);
}

static void add_exchange(hmm_pass *p, uint32_t phase, uint32_t slot, bool get, pass_access like,
                         const bool *dead) {
  const c_schedule *s = &p->pass.schedule;
  const c_use *use = c_use_of(s, p->pass.pass, phase, slot);
  scalar_type type = get ? use->before : use->after;
  c_place place = {.padding_start = UINT64_MAX, .scratch = true, .padding = get ? dead : NULL};
  c_map *map = NEW(p->memory, c_map);
  *map = c_pass_scratch_map(&p->pass, phase, get ? phase : use->next, slot, type);
  like.op = get ? HMM_READ_SHARED : HMM_WRITE_SHARED;
  like.base = s->region[get ? use->in : use->out][slot];
  f2_space known = p->known;
  place.live = c_pass_live_in_scratch(&p->pass, phase, slot, !get, &known, &place.live_count);
  add_accesses(p, like, map, &s->spaces[phase], type, &place);
}

static void add_puts(hmm_pass *p, uint32_t phase, pass_access like) {
  for (uint32_t slot = 0; slot < p->pass.pass->slot_count; slot++)
    if (c_use_of(&p->pass.schedule, p->pass.pass, phase, slot)->out != C_NOWHERE)
      add_exchange(p, phase, slot, false, like, NULL);
}

static void add_inputs(hmm_pass *p, uint32_t phase, pass_access like, const bool *dead) {
  const c_schedule *s = &p->pass.schedule;
  const plan_pass *pass = p->pass.pass;
  for (uint32_t slot = 0; slot < pass->slot_count; slot++) {
    const c_use *use = c_use_of(s, pass, phase, slot);
    if (use->load != C_NOWHERE)
      add_move(p, &pass->loads[use->load], true, &s->spaces[phase], s->loaded[use->load], like,
               dead);
    else if (use->in != C_NOWHERE)
      add_exchange(p, phase, slot, true, like, dead);
  }
}

static void add_stores(hmm_pass *p, uint32_t phase, pass_access like, const bool *dead) {
  const c_schedule *s = &p->pass.schedule;
  const plan_pass *pass = p->pass.pass;
  for (uint32_t i = 0; i < pass->store_count; i++) {
    const plan_move *move = &pass->stores[i];
    if (s->store_phase[i] == phase)
      add_move(p, move, false, &s->spaces[phase],
               p->pass.context->plan->arrays.items[move->array].type, like, dead);
  }
}

// The gathers and scatters of a phase: of each coset of an op once.
static void add_placed(hmm_pass *p, uint32_t phase) {
  const plan_phase *f = &p->pass.schedule.phases[phase];
  const net_stage *s = p->pass.stage;
  net_id *nodes = NEW_ARRAY(p->memory, net_id, s->nodes.count);
  for (uint32_t i = 0; i < f->op_count && p->pass.pass->access_count; i++) {
    const net_op *op = &s->ops.items[p->pass.pass->ops[f->first_op + i]];
    uint32_t count = net_op_nodes(s, op, nodes);
    for (uint64_t c = 0; c < UINT64_C(1) << (p->pass.schedule.spaces[phase].r - op->k); c++)
      for (uint32_t k = 0; k < count; k++) {
        const net_node *node = &s->nodes.items[nodes[k]];
        if (!net_node_has_array(node->kind))
          continue;
        scalar_type type = p->pass.context->plan->arrays.items[node->number].type;
        uint32_t bytes = (uint32_t)scalar_types[type].size;
        add_access(
            p, (pass_access){.op = node->kind == NET_GATHER ? HMM_READ_GLOBAL : HMM_WRITE_GLOBAL,
                             .scale = bytes,
                             .bytes = bytes});
      }
  }
}

static void add_barrier(hmm_pass *p) { vec_push(p->memory, &p->steps, ((pass_step){NULL, 0})); }

// In the order of kernels/emit/phase.c.
static void add_phase(hmm_pass *p, uint32_t phase) {
  const c_space *space = &p->pass.schedule.spaces[phase];
  const bool *dead = c_pass_padding_registers(&p->pass, space);
  bool reads_and_writes = c_pass_reads_and_writes(&p->pass, phase);
  uint64_t block[F2_MAX], thread[F2_MAX];
  pass_access all = {.who = PASS_ALL}, padding = all, within = all;
  if (c_pass_has_padding_threads(&p->pass, space, block, thread)) {
    xor_word *least = NEW(p->memory, xor_word);
    least->column = NEW_ARRAY(p->memory, uint64_t, space->blocks + space->threads);
    memcpy(least->column, block, space->blocks * sizeof *block);
    memcpy(least->column + space->blocks, thread, space->threads * sizeof *thread);
    padding.who = PASS_PADDING;
    within.who = PASS_WITHIN;
    padding.least = within.least = least;
  }
  p->known = c_pass_live_of_blocks(&p->pass);
  p->live = c_pass_live_threads(&p->pass, phase, &p->known, &p->live_count);
  if (p->steps.count > 0)
    add_barrier(p);
  if (padding.who != PASS_ALL && !reads_and_writes)
    add_puts(p, phase, padding);
  add_inputs(p, phase, within, dead);
  add_placed(p, phase);
  add_stores(p, phase, within, dead);
  if (reads_and_writes)
    add_barrier(p);
  add_puts(p, phase, reads_and_writes ? all : within);
}

// ---- the pass ---------------------------------------------------------------------------------

static void set_skips(hmm_pass *p) {
  const plan_pass *pass = p->pass.pass;
  const c_space *s = &p->pass.schedule.spaces[0];
  c_map forms = c_map_of_forms(pass->live_count, pass->live, s);
  uint32_t one;
  p->alive = *words_of_rows(p->memory, &forms, f2_mask((int)forms.rows), &one);
  p->least.column = NEW_ARRAY(p->memory, uint64_t, s->blocks);
  for (uint32_t i = 0; i < s->blocks; i++)
    p->least.column[i] = f2_space_reduce(pass->tile, s->block[i]);
}

bool hmm_pass_skips(const hmm_pass *p, uint64_t item) {
  const plan_pass *pass = p->pass.pass;
  int blocks = (int)p->pass.schedule.spaces[0].blocks;
  return (pass->live_count && f2_combine(blocks, p->alive.column, item) != p->alive.constant) ||
         (pass->padding_start != UINT64_MAX &&
          f2_combine(blocks, p->least.column, item) >= pass->padding_start);
}

static uint64_t count_items(const hmm_pass *p) {
  const net_stage *s = p->pass.stage;
  return product_of(s->extents, s->loop_count) << p->pass.schedule.spaces[0].blocks;
}

const char *hmm_pass_open(arena *a, const plan *of, uint32_t number, const c_options *options,
                          hmm_pass *out) {
  static const c_options usual = C_OPTIONS_OF_GPU(NULL, 0);
  c_context *c = NEW(a, c_context);
  c_runtime_matrix matrix;
  *c = c_context_of(a, of, options ? options : &usual);
  c->warps = true;
  if (c_runtime_matrix_of(c, &of->passes.items[number], &matrix))
    return "the strategy online has a kernel of its own, which the machines do not know (another "
           "--strategy has none)";
  *out = (hmm_pass){.memory = a, .pass = c_pass_of(c, number)};
  if (c->problem)
    return c->problem;
  out->threads = UINT64_C(1) << out->pass.schedule.spaces[0].threads;
  out->items = count_items(out);
  set_skips(out);
  for (uint32_t i = 0; i < out->pass.schedule.phase_count; i++)
    if (!c_pass_is_idle(&out->pass, i))
      add_phase(out, i);
  if (out->steps.count == 0)
    add_barrier(out);  // an item without steps would not end
  return NULL;
}

// Of the blocks that are alive, an affine space x + N, those whose least index is below the limit:
// their least indices are a coset of a subspace, in the order of its coordinates.
uint64_t hmm_pass_working(const hmm_pass *p, uint64_t *first) {
  const plan_pass *pass = p->pass.pass;
  int blocks = (int)p->pass.schedule.spaces[0].blocks;
  f2_matrix alive = f2_from_columns((int)pass->live_count, blocks, p->alive.column);
  f2_matrix least = f2_from_columns(pass->tile.n, blocks, p->least.column);
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
// of two that divides `first`. `blocks`: how many of its columns are of the block's bits; those of
// the thread's follow.
static void find_words(const pass_place *at, uint32_t blocks, const xor_word *word, uint32_t first,
                       uint32_t count, uint64_t *out) {
  const uint64_t *thread = word->column + blocks;
  int threads = (int)at->step->access->map->threads;
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
  const pass_access *a = at->step->access;
  const net_stage *s = p->pass.stage;
  uint64_t fixed = a->map->offset, own[LANES],
           loops = at->item >> p->pass.schedule.spaces[0].blocks;
  for (uint32_t i = a->map->loops; i-- > 0; loops /= s->extents[i])
    fixed += (uint64_t)a->map->strides[i] * net_loop_index(s, i, loops % s->extents[i]);
  for (uint32_t i = 0; i < count; i++)
    unit[i] = fixed;
  for (uint32_t g = 0; g < a->count; g++) {
    find_words(at, a->map->blocks, &a->words[g], first, count, own);
    for (uint32_t i = 0; i < count; i++)
      unit[i] += a->words[g].odd * own[i];
  }
}

static void mask_idle_lanes(const hmm_pass *p, const pass_place *at, uint32_t first, uint32_t count,
                            uint64_t *unit) {
  const pass_access *a = at->step->access;
  uint64_t live[LANES] = {0}, least[LANES] = {0}, padding_start = p->pass.pass->padding_start;
  uint32_t blocks = p->pass.schedule.spaces[0].blocks;
  if (a->live)
    find_words(at, blocks, a->live, first, count, live);
  if (a->who != PASS_ALL)
    find_words(at, blocks, a->least, first, count, least);
  for (uint32_t i = 0; i < count; i++)
    if (unit[i] >= a->limit || first + i >= p->threads || live[i] != 0 ||
        (a->who != PASS_ALL && (least[i] >= padding_start) == (a->who == PASS_WITHIN)))
      unit[i] = HMM_IDLE;
}

bool hmm_pass_has_idle(const hmm_pass *p, const pass_access *a) {
  return a->map && (a->live || a->who != PASS_ALL || a->limit != UINT64_MAX || p->threads < LANES);
}

uint32_t hmm_pass_units(const hmm_pass *p, const pass_place *at, uint64_t *unit, uint32_t *words) {
  const pass_access *a = at->step->access;
  *words = a->bytes > WORD ? a->bytes / WORD : 1;
  uint32_t count = LANES / *words, first = at->step->part * count;
  for (uint32_t i = 0; i < count && !a->map; i++)
    unit[i] = (uint64_t)(first + i) * LANES;
  if (!a->map)
    return count;
  find_units(p, at, first, count, unit);
  if (hmm_pass_has_idle(p, a))
    mask_idle_lanes(p, at, first, count, unit);
  for (uint32_t i = 0; i < count && a->map->swizzle; i++)
    if (unit[i] != HMM_IDLE)
      unit[i] = c_swizzle_place(a->map->swizzle, unit[i]);
  return count;
}
