// Prepares the passes of a plan and runs their items. See portable.h.
#include "runtime/portable/pass.h"

enum {
  ENOUGH_BITS = 12,        // a tile of 2^12 elements is large enough ...
  ENOUGH_BYTES = 1 << 17,  // ... and so is one of that size
  LINE_BYTES = 64,         // lines of memory come first in the basis
  WINDOW_BITS = 14,        // bytes of the tile that several compare-exchanges share: first cache
  SLOT_ALIGN = 64,
};

// ---- which tile ---------------------------------------------------------------------------------

// Bytes of one position, all slots.
static uint64_t count_position_bytes(const plan_pass *p) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p->slot_count; i++)
    sum += p->slot_bytes[i];
  return sum ? sum : 1;
}

static bool is_small_tile(const plan_pass *p, int bits) {
  return bits <= ENOUGH_BITS && count_position_bytes(p) << bits <= ENOUGH_BYTES;
}

// The plan's tile, enlarged by blocks of its share and then by iterations while it is small.
static void choose_extent(portable_pass_state *s, f2_space *v) {
  const plan_pass *p = s->plan;
  tile *t = &s->tile;
  int blocks = t->stage->n - p->tile.dimension;
  uint64_t iterations = net_stage_elements(t->stage) >> t->stage->n;
  *v = p->tile;
  while (s->extra_bits < blocks - t->stage->shares && is_small_tile(p, v->dimension + 1))
    f2_space_insert(v, p->blocks[s->extra_bits++]);
  t->d = v->dimension;
  t->block_bits = blocks - s->extra_bits;
  for (int i = 0; i < t->block_bits; i++)
    t->blocks[i] = p->blocks[s->extra_bits + i];
  while (t->block_bits == 0 && is_small_tile(p, t->d + t->batch_bits + 1) &&
         f2_unit(t->batch_bits) < iterations)
    t->batch_bits++;
}

// ---- which basis --------------------------------------------------------------------------------

// The order of candidates; those that are sums of earlier ones are left out.
//
//   1. vectors on which no coordinate of an op depends, if several ops want runs (see wants_runs)
//   2. else a line of memory: what counts through the addresses of the first load
//   3. the directions of the ops, in order, so that pairs of early ops are near in the tile; without
//      their part in the line
//   4. further line vectors, and the rest of V
typedef struct basis_choice {
  f2_space space, chosen;  // V, and the span of what has been chosen
  int count;
  uint64_t basis[F2_MAX];
} basis_choice;

static void add_basis_vector(basis_choice *c, uint64_t vector) {
  if (f2_space_has(c->space, vector) && f2_space_insert(&c->chosen, vector))
    c->basis[c->count++] = vector;
}

// Ops that are computed element by element are faster if elements j of their instances lie in runs.
static bool wants_runs(const net_stage *s, const net_op *op) {
  compare row = {0};
  net_id value = 0;
  return op->k > 0 && !compare_match(s, op, &row, &value);
}

// The vectors of V on which no coordinate of an op that wants runs depends, if several ops do.
static f2_space find_run_vectors(const portable_pass_state *s, f2_space v) {
  const net_stage *stage = s->tile.stage;
  uint32_t wanting = 0;
  for (uint32_t i = 0; i < s->plan->op_count; i++) {
    const net_op *op = &stage->ops.items[s->plan->ops[i]];
    bool wants = wants_runs(stage, op);
    wanting += wants;
    for (uint32_t k = 0; wants && k < op->k; k++) {
      f2_space one = f2_span(stage->n, 1, &op->coordinates[k].mask);
      v = f2_space_intersection(v, f2_space_orthogonal(one));
    }
  }
  return wanting > 1 ? v : f2_space_zero(stage->n);
}

// Vectors that add 1, 2, 4, ... to the address; *line: as many as there are in a line. With these
// vectors, the first index of each tile is chosen so that the lowest bits of that address are 0:
// then runs of the tile are runs of memory, not xor-permuted.
static int find_line_vectors(arena *a, portable_pass_state *s, uint64_t *lines, int *line) {
  const plan_pass *p = s->plan;
  const plan_move *first = p->load_count ? p->loads : p->stores;
  tile_set all;
  *line = 0;
  if (p->load_count + p->store_count == 0)
    return 0;
  tile_set_prepare(a, &s->tile, 0, NULL, &all);
  tile_map map = tile_map_of(a, &s->tile, &first->map);
  int count = tile_map_lines(&s->tile, &map, &all, MOVE_BITS, lines);
  for (int i = 0; i < count; i++)
    lines[i] = tile_index(&s->tile, &(tile_item){.base = 0}, lines[i]);
  if (count > 0) {
    s->level = map.words[0].index;
    s->level_origin = f2_combine(count, lines, s->level.constant);
  }
  s->level_count = count;
  s->level_vectors = memcpy(NEW_ARRAY(a, uint64_t, count), lines, (size_t)count * sizeof *lines);
  while (*line < count && p->slot_bytes[first->slot] << *line < LINE_BYTES)
    *line += 1;
  return count;
}

// The vector, changed by the first `count` line vectors so that it leaves their bits of the address
// as they are: else those runs would be xor-permuted.
static uint64_t level_vector(const portable_pass_state *s, int count, uint64_t vector) {
  if (count == 0)
    return vector;
  return vector ^
         f2_combine(count, s->level_vectors, f2_combine(s->tile.stage->n, s->level.column, vector));
}

static void choose_basis(arena *a, portable_pass_state *s, f2_space v) {
  basis_choice c = {.space = v, .chosen = f2_space_zero(v.n)};
  uint64_t lines[F2_MAX];
  int line = 0;
  memcpy(s->tile.basis, v.basis, sizeof v.basis);  // for find_line_vectors
  // A group takes elements in the order of the index, wherever they lie.
  bool in_order = net_stage_has(s->tile.stage, NET_GROUP);
  int count = in_order ? 0 : find_line_vectors(a, s, lines, &line);
  f2_space runs = find_run_vectors(s, v);
  for (int i = 0; i < count; i++)
    if (f2_space_has(runs, lines[i]))
      add_basis_vector(&c, lines[i]);
  for (int i = 0; i < runs.dimension; i++)
    add_basis_vector(&c, runs.basis[i]);
  for (int i = 0; i < line && runs.dimension == 0; i++)
    add_basis_vector(&c, lines[i]);
  int level = runs.dimension == 0 ? line : 0;
  for (uint32_t i = 0; i < s->plan->op_count; i++) {
    const net_op *op = &s->tile.stage->ops.items[s->plan->ops[i]];
    for (uint32_t k = 0; k < op->k; k++)
      add_basis_vector(&c, level_vector(s, level, op->directions[k]));
  }
  for (int i = 0; i < count; i++)
    add_basis_vector(&c, lines[i]);
  for (int i = 0; i < v.dimension; i++)
    add_basis_vector(&c, level_vector(s, level, v.basis[i]));
  assert(c.count == s->tile.d);
  memcpy(s->tile.basis, c.basis, sizeof c.basis);
}

// ---- preparation --------------------------------------------------------------------------------

static uint64_t *place_slots(arena *a, portable_pass_state *s) {
  uint64_t *slots = NEW_ARRAY(a, uint64_t, s->plan->slot_count);
  for (uint32_t i = 0; i < s->plan->slot_count; i++) {
    slots[i] = s->slot_bytes;
    uint64_t bytes = (uint64_t)s->plan->slot_bytes[i] << (s->tile.d + s->tile.batch_bits);
    s->slot_bytes += (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
  }
  return slots;
}

static void grow_work_bytes(portable_pass_state *s, uint64_t bytes) {
  bytes = (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
  s->work_bytes = bytes > s->work_bytes ? bytes : s->work_bytes;
}

static void prepare_moves(portable *e, portable_pass_state *s, const uint64_t *slots) {
  arena *a = &e->memory;
  const plan_pass *p = s->plan;
  s->loads = NEW_ARRAY(a, tile_move, p->load_count);
  s->stores = NEW_ARRAY(a, tile_move, p->store_count);
  for (; s->load_count < p->load_count; s->load_count++) {
    const plan_move *m = &p->loads[s->load_count];
    tile_move_prepare(a, &s->tile, m, m->live_count, m->live, p->slot_bytes[m->slot],
                      slots[m->slot], &s->loads[s->load_count]);
    s->loads[s->load_count].bytes = net_array_has_bytes(&e->plan->arrays.items[m->array]);
    grow_work_bytes(s, tile_move_work(&s->loads[s->load_count]));
  }
  for (; s->store_count < p->store_count; s->store_count++) {
    const plan_move *m = &p->stores[s->store_count];
    uint32_t count = m->live_count + p->live_count;
    net_form *live = NEW_ARRAY(a, net_form, count);
    for (uint32_t i = 0; i < count; i++)
      live[i] = i < m->live_count ? m->live[i] : p->live[i - m->live_count];
    tile_move_prepare(a, &s->tile, m, count, live, p->slot_bytes[m->slot], slots[m->slot],
                      &s->stores[s->store_count]);
    grow_work_bytes(s, tile_move_work(&s->stores[s->store_count]));
  }
}

// For each compare-exchange, how many from it on are applied together, window by window.
static void find_windows(portable_pass_state *s) {
  for (uint32_t i = s->op_count; i-- > 0;) {
    tile_op *op = &s->ops[i], *next = op + 1;
    bool joins =
        i + 1 < s->op_count && op->is_compare && next->is_compare && op->always && next->always &&
        op->size_bits == next->size_bits &&
        (op->compare.direction | next->compare.direction) << op->size_bits < f2_unit(WINDOW_BITS);
    op->together = joins ? next->together + 1 : 1;
  }
}

static void prepare_ops(portable *e, portable_pass_state *s, const uint64_t *slots) {
  const net_stage *stage = s->tile.stage;
  op_context c = {&e->memory, &s->tile, s->plan, slots, NULL, NULL, e};
  c.nodes = NEW_ARRAY(&e->memory, net_id, stage->nodes.count);
  c.step_of = NEW_ARRAY(&e->memory, uint32_t, stage->nodes.count);
  for (size_t i = 0; i < stage->nodes.count; i++)
    c.step_of[i] = UINT32_MAX;
  s->ops = NEW_ARRAY(&e->memory, tile_op, s->plan->op_count);
  for (; s->op_count < s->plan->op_count; s->op_count++) {
    tile_op *op = &s->ops[s->op_count];
    tile_op_prepare(&c, &stage->ops.items[s->plan->ops[s->op_count]], op);
    grow_work_bytes(s, op->work_bytes);
    for (uint32_t i = 0; i < op->step_count; i++)
      if (op->steps[i].operand_count > s->operand_count)
        s->operand_count = op->steps[i].operand_count;
  }
  find_windows(s);
}

// Where there is much to compute on a tile, the next one is prefetched into the cache meanwhile.
static void plan_prefetch(portable_pass_state *s) {
  uint64_t waits = 0, chunks = 0;
  if (s->tile.batch_bits > 0 || s->op_count < 2 || s->tile.d < ENOUGH_BITS)
    return;
  for (uint32_t i = 0; i < s->op_count; i += s->ops[i].together) {
    uint64_t all = f2_unit(s->tile.d + (int)s->ops[i].size_bits) >> WINDOW_BITS;
    waits += s->ops[i].together > 1 && all > 1 ? all : 1;
  }
  for (uint32_t i = 0; i < s->load_count; i++) {
    uint64_t some = f2_unit(s->loads[i].set.dimension - s->loads[i].set.chunk_bits);
    chunks = some > chunks ? some : chunks;
  }
  s->prefetch_chunks = (chunks + waits - 1) / waits;
}

static void prepare_pass(portable *e, const plan_pass *p, portable_pass_state *s) {
  f2_space v;
  *s = (portable_pass_state){.plan = p};
  s->tile.stage = &e->plan->net->stages.items[p->stage];
  if (s->tile.stage->routine)  // executed by whoever runs the passes
    return;
  choose_extent(s, &v);
  assert(s->tile.d + s->tile.batch_bits < 32);
  choose_basis(&e->memory, s, v);
  s->space = v;
  const uint64_t *slots = place_slots(&e->memory, s);
  prepare_moves(e, s, slots);
  prepare_ops(e, s, slots);
  plan_prefetch(s);
  s->live = NEW_ARRAY(&e->memory, net_form, p->live_count);
  for (uint32_t i = 0; i < p->live_count; i++)
    if (tile_position_mask(&s->tile, p->live[i].mask) == 0)
      s->live[s->live_count++] = p->live[i];
}

// ---- making and freeing -------------------------------------------------------------------------

// False: out of memory.
static bool prepare_passes(portable *e) {
  e->memory.failure = &e->failure;
  if (setjmp(e->failure))
    return false;
  if (!root_tables_make(&e->roots, &e->memory, e->plan->net))
    return false;
  e->passes = NEW_ARRAY(&e->memory, portable_pass_state, e->plan->passes.count);
  for (uint32_t i = 0; i < e->plan->passes.count; i++)
    if (plan_code_of(e->plan, i) != i)
      e->passes[i] = e->passes[plan_code_of(e->plan, i)];
    else
      prepare_pass(e, &e->plan->passes.items[i], &e->passes[i]);
  return true;
}

portable *portable_new(const plan *p, const portable_options *o, error *failure) {
  portable *e = calloc(1, sizeof *e);
  if (e) {
    e->plan = p;
    e->interrupted = o->interrupted;
    e->kernels = compare_kernels_find(o->vector_bytes);
  }
  if (!e || !prepare_passes(e))
    error_no_memory(failure);
  else if (cpu_externs_open(&e->externs, p, o->allow_foreign, failure))
    return e;
  portable_free(e);
  return NULL;
}

void portable_free(portable *e) {
  if (e == NULL)
    return;
  cpu_externs_close(&e->externs);
  if (e->roots.memory)
    roots_free(e->roots.memory, e->roots.count);
  arena_free(&e->memory);
  free(e);
}

// ---- running ------------------------------------------------------------------------------------

// The loads of the next tile are prefetched in parts, one before each part of the work on this one.
typedef struct next_tile {
  tile_item item;
  uint64_t part;  // chunks that have been prefetched
  bool is_prefetched;
} next_tile;

static void prefetch_next_tile(const portable_pass_state *s, next_tile *next) {
  if (!next->is_prefetched)
    return;
  for (uint32_t i = 0; i < s->load_count; i++)
    tile_prefetch(&s->tile, &s->loads[i], &next->item, next->part, s->prefetch_chunks);
  next->part += s->prefetch_chunks;
}

// Several compare-exchanges, window by window, or one over the whole tile.
static void run_compares(const portable *e, const portable_pass_state *s, uint32_t first,
                         const tile_item *item, next_tile *next) {
  const tile_op *op = &s->ops[first];
  uint64_t all = item->count << s->tile.d, window = all, origin = 0;
  if (!op->always && !tile_set_start(&op->set, item->base, &origin))
    return;
  if (op->together > 1)
    window = f2_unit(WINDOW_BITS - (int)op->size_bits);
  for (uint64_t at = 0; at < all; at += window) {
    prefetch_next_tile(s, next);
    for (uint32_t i = 0; i < op->together; i++) {
      const tile_op *one = op + i;
      e->kernels->compare[one->compare.kind](
          &one->compare, net_form_at(one->coordinate, item->base), item->slots + one->in,
          item->slots + one->out, at, all - at < window ? all - at : window);
    }
  }
}

static bool is_dead_tile(const portable_pass_state *s, const tile_item *item) {
  return !net_forms_hold(s->live_count, s->live, item->base) ||
         (s->plan->padding_start >> s->tile.stage->n == 0 &&
          f2_space_reduce(s->space, item->base) >= s->plan->padding_start);
}

// What op number - 1 loads directly, or, for 0, what is loaded before all ops. (A compare-exchange
// reads one value alone, so those that go together load nothing.)
static void load_for(const portable_pass_state *s, uint32_t number, const tile_item *item) {
  for (uint32_t i = 0; i < s->load_count; i++)
    if (s->plan->loads[i].direct == number)
      tile_load(&s->tile, &s->loads[i], item);
}

static bool run_tile(const portable *e, const portable_pass_state *s, const tile_item *item,
                     next_tile *next) {
  if (is_dead_tile(s, item))
    return true;
  load_for(s, 0, item);
  for (uint32_t i = 0; i < s->op_count; i += s->ops[i].together) {
    load_for(s, i + 1, item);
    if (s->ops[i].is_compare) {
      run_compares(e, s, i, item, next);
      continue;
    }
    prefetch_next_tile(s, next);
    if (!tile_op_run(e, &s->tile, &s->ops[i], item))
      return false;
  }
  for (uint32_t i = 0; i < s->store_count; i++)
    tile_store(&s->tile, &s->stores[i], item);
  return true;
}

static void locate_item(const portable_pass_state *s, uint64_t number, tile_item *item) {
  const tile *t = &s->tile;
  item->loop = number >> t->block_bits;
  item->base = s->level_origin ^
               level_vector(s, s->level_count, f2_combine(t->block_bits, t->blocks, number));
}

// The items here are tiles (numbered as the plan's items without the lowest extra_bits bits) or
// batches.
static bool run_items(void *with, uint32_t pass, void *const *arrays, uint64_t first, uint64_t last,
                      void *scratch) {
  const portable *e = with;
  const portable_pass_state *s = &e->passes[pass];
  const tile *t = &s->tile;
  uint64_t batch = f2_unit(t->batch_bits);
  tile_item item = {.arrays = arrays, .slots = scratch};
  item.work = item.slots + s->slot_bytes;
  item.operands = (const void **)(void *)(item.work + s->work_bytes);
  first >>= s->extra_bits;
  last >>= s->extra_bits;
  for (uint64_t i = first; i < last; i += item.count) {
    next_tile next = {.item = item, .is_prefetched = s->prefetch_chunks > 0 && i + 1 < last};
    item.count = last - i < batch ? last - i : batch;
    locate_item(s, i, &item);
    if (next.is_prefetched) {
      locate_item(s, i + 1, &next.item);
      next.is_prefetched = !is_dead_tile(s, &next.item);
    }
    if (!run_tile(e, s, &item, &next))
      return false;
  }
  return true;
}

cpu_work portable_pass(void *with, uint32_t pass) {
  const portable *e = with;
  const portable_pass_state *s = &e->passes[pass];
  cpu_work work = {.run = run_items, .with = with, .threads = e->externs.serial[pass]};
  work.granularity = f2_unit(s->extra_bits);
  work.chunk = work.granularity << s->tile.batch_bits;
  work.scratch_bytes = s->slot_bytes + s->work_bytes + (s->operand_count + 1) * sizeof(void *);
  return work;
}
