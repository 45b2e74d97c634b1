// From a pass to the requests of its warps. See machine_plan.h.
#include "kernels/machine_plan.h"

#include "kernels/c_online.h"
#include "kernels/c_op.h"
#include "kernels/c_pass.h"
#include "kernels/machine_registers.h"

#include <inttypes.h>

enum { LANES = MACHINE_PLAN_WIDTH, LANE_BITS = 5, WORD = 4, SCRATCH_UNIT = 256 };

// ---- affine sums -----------------------------------------------------------------------------

// A number for each thread of each block: an XOR of what the bits of block and thread contribute.
typedef struct affine_bits {
  uint32_t blocks, threads;
  uint64_t *block, *thread;
  uint64_t lane[LANES];  // of the lowest thread bits
} affine_bits;

static affine_bits bits_of(arena *a, uint32_t blocks, uint32_t threads) {
  return (affine_bits){
      blocks, threads, NEW_ARRAY(a, uint64_t, blocks), NEW_ARRAY(a, uint64_t, threads), {0}};
}

static uint64_t combine(uint32_t count, const uint64_t *value, uint64_t bits) {
  uint64_t sum = 0;
  for (bits &= f2_mask((int)count); bits != 0; bits &= bits - 1)
    sum ^= value[f2_lsb(bits)];
  return sum;
}

static void set_lanes(affine_bits *b) {
  for (uint64_t i = 0; i < LANES; i++)
    b->lane[i] = combine(b->threads < LANE_BITS ? b->threads : LANE_BITS, b->thread, i);
}

// Of block and warp: what lanes add to.
static uint64_t bits_at(const affine_bits *b, uint64_t block, uint64_t warp) {
  return combine(b->blocks, b->block, block) ^ combine(b->threads, b->thread, warp << LANE_BITS);
}

// An address in elements, or bytes of scratch: offset + strides . loops + sum of odd * bits.
typedef struct affine_group {
  uint64_t odd;
  affine_bits bits;
} affine_group;
typedef struct affine_sum {
  uint64_t offset;
  uint32_t loops, count;
  const int64_t *strides;
  affine_group *groups;
} affine_sum;

// ---- accesses --------------------------------------------------------------------------------

// Threads with nothing but padding do nothing, except that they fill scratch (c_pass_beyond).
typedef enum who { ALL, THOSE_BEYOND, THOSE_WITHIN } who;

typedef struct access {
  machine_op op;
  const affine_sum *sum;
  uint64_t *at;             // by group: what registers, and constants, contribute
  net_id array;             // of memory
  uint64_t base;            // in scratch, in bytes
  uint32_t scale, bytes;    // of a unit of the sum; of the access of one lane
  const c_lying *lying;     // through which units of scratch go; NULL: none
  uint64_t limit;           // units from here on are left out
  const affine_bits *live;  // 0 where it is alive; NULL: everywhere
  uint64_t live_at;
  who who;
  const affine_bits *least;  // of `who`: the least index of a thread
  // Where words are moved: for which phase, the slot, the registers at the 2^wide places of the
  // access, of part_bytes bytes each, and what turns places over (c_access.h).
  uint32_t phase, slot, wide, part_bytes, *registers;
  const affine_bits *turn;
} access;

typedef struct plan_step {
  const access *access;  // NULL: a barrier
  uint32_t part;         // which of its requests
} plan_step;

typedef struct plan_program {
  arena *memory;
  c_writer *writer;
  c_pass pass;
  uint64_t threads, slots, items;  // of a block; blocks at once, and where they end
  uint64_t first;                  // block that is executed
  VEC(plan_step) steps;            // of one item
  affine_bits alive, least;        // of items (plan_pass)
  uint64_t alive_at;
  // Where words are moved:
  const machine_arrays *arrays;
  uint32_t dmms;
  machine_registers *registers;
  uint64_t *arrived;       // by warp: 1 + the step whose words are to be kept, or 0
  uint64_t *begun, *done;  // by warp: the phase, counted over all items, that it has begun; that
                           // it has computed
  machine_word written[LANES];
  uint64_t scratch_words;  // of a block
} plan_program;

static affine_sum *sum_of(arena *a, const c_map *m, uint64_t without) {
  affine_sum *s = NEW(a, affine_sum);
  c_group groups[C_ROWS];
  *s = (affine_sum){.offset = m->offset, .loops = m->loops, .strides = m->strides};
  s->count = c_map_groups(m, f2_mask((int)m->rows) & ~without, groups);
  s->groups = NEW_ARRAY(a, affine_group, s->count);
  for (uint32_t g = 0; g < s->count; g++) {
    affine_bits *b = &s->groups[g].bits;
    s->groups[g].odd = groups[g].odd;
    *b = bits_of(a, m->blocks, m->threads);
    for (uint32_t i = 0; i < m->blocks; i++)
      b->block[i] = c_map_packed(m, groups[g].rows, m->block[i]);
    for (uint32_t i = 0; i < m->threads; i++)
      b->thread[i] = c_map_packed(m, groups[g].rows, m->thread[i]);
    set_lanes(b);
  }
  return s;
}

static uint64_t *sum_at(arena *a, const c_map *m, uint64_t without, uint64_t x) {
  c_group groups[C_ROWS];
  uint32_t count = c_map_groups(m, f2_mask((int)m->rows) & ~without, groups);
  uint64_t *at = NEW_ARRAY(a, uint64_t, count);
  for (uint32_t g = 0; g < count; g++)
    at[g] = c_map_packed(m, groups[g].rows, c_map_bits(m, x));
  return at;
}

static affine_bits *forms_of(arena *a, const c_map *m) {
  affine_bits *b = NEW(a, affine_bits);
  *b = bits_of(a, m->blocks, m->threads);
  memcpy(b->block, m->block, m->blocks * sizeof *m->block);
  memcpy(b->thread, m->thread, m->threads * sizeof *m->thread);
  set_lanes(b);
  return b;
}

// Bit k: what blocks and threads do to the row of address bit k.
static affine_bits *turn_of(arena *a, const c_access *c) {
  affine_bits *b = NEW(a, affine_bits);
  *b = bits_of(a, c->map.blocks, c->map.threads);
  for (uint32_t k = 0; k < c->wide; k++) {
    int row = (int)c->chunk_row[k];
    for (uint32_t i = 0; i < b->blocks; i++)
      b->block[i] |= (uint64_t)f2_bit(c->map.block[i], row) << k;
    for (uint32_t i = 0; i < b->threads; i++)
      b->thread[i] |= (uint64_t)f2_bit(c->map.thread[i], row) << k;
  }
  set_lanes(b);
  return b;
}

static void add_access(plan_program *p, access one) {
  access *kept = NEW(p->memory, access);
  *kept = one;
  for (uint32_t part = 0; part < (one.bytes > WORD ? one.bytes / WORD : 1); part++)
    vec_push(p->memory, &p->steps, ((plan_step){kept, part}));
}

// All accesses of a slot's registers, as c_load and c_store make them (c_access.c).
static void add_accesses(plan_program *p, access like, const c_map *map, const c_space *space,
                         scalar_type type, const c_place *place) {
  uint32_t bytes = c_part_bytes(type), parts = c_parts(type);
  c_access a = c_access_of(map, space, bytes, parts, 0, c_access_widest(p->writer, place));
  c_map live = c_map_of_forms(place->live_count, place->live, space);
  uint64_t without = 0, index = f2_mask((int)(space->r + space->l));
  for (uint32_t i = 0; i < a.wide; i++)
    without |= f2_unit((int)a.chunk_row[i]);
  like.sum = sum_of(p->memory, map, without);
  like.scale = map->bytes ? 1 : bytes;
  like.lying = map->lying;
  like.bytes = bytes << a.wide;
  like.limit = place->limit == UINT64_MAX ? UINT64_MAX : place->limit * parts;
  like.live = place->live_count ? forms_of(p->memory, &live) : NULL;
  like.wide = a.wide;
  like.part_bytes = bytes;
  like.turn = turn_of(p->memory, &a);
  for (uint64_t i = 0; i < UINT64_C(1) << a.home.registers; i += UINT64_C(1) << a.wide) {
    uint64_t x = c_layout_at(&a.memory, i, 0);
    if (a.wide == 0 && place->dead && place->dead[i & f2_mask((int)space->r)])
      continue;
    like.at = sum_at(p->memory, map, without, x);
    like.registers = NEW_ARRAY(p->memory, uint32_t, UINT64_C(1) << a.wide);
    for (uint64_t k = 0; k < UINT64_C(1) << a.wide; k++)
      like.registers[k] = (uint32_t)c_layout_at(&a.memory, i + k, 0);
    like.live_at = c_map_bits(&live, x & index);
    add_access(p, like);
  }
}

// ---- phases ----------------------------------------------------------------------------------

static void add_move(plan_program *p, const plan_move *move, bool load, const c_space *space,
                     scalar_type type, access like, const bool *dead) {
  c_place place = {.limit = move->limit, .dead = load ? NULL : dead};
  if (!load || !c_pass_always_inside(&p->pass, move)) {
    place.live_count = move->live_count;
    place.live = move->live;
  }
  c_map map = c_map_of(p->writer, &move->map, space, c_parts(type));
  like.op = load ? MACHINE_READ_GLOBAL : MACHINE_WRITE_GLOBAL;
  like.array = move->array;
  like.slot = move->slot;
  add_accesses(p, like, &map, space, type, &place);
}

static void add_exchange(plan_program *p, uint32_t phase, uint32_t slot, bool get, access like,
                         const bool *dead) {
  const c_schedule *s = &p->pass.schedule;
  const c_use *use = c_use_of(s, p->pass.pass, phase, slot);
  scalar_type type = get ? use->before : use->after;
  c_place place = {.limit = UINT64_MAX, .scratch = true, .dead = get ? dead : NULL};
  c_map map = c_pass_scratch_map(&p->pass, phase, get ? phase : use->next, slot, type);
  like.op = get ? MACHINE_READ_SHARED : MACHINE_WRITE_SHARED;
  like.base = s->region[get ? use->in : use->out][slot];
  like.slot = slot;
  add_accesses(p, like, &map, &s->spaces[phase], type, &place);
}

static void add_puts(plan_program *p, uint32_t phase, access like) {
  for (uint32_t slot = 0; slot < p->pass.pass->slot_count; slot++)
    if (c_use_of(&p->pass.schedule, p->pass.pass, phase, slot)->out != C_NOWHERE)
      add_exchange(p, phase, slot, false, like, NULL);
}

static void add_inputs(plan_program *p, uint32_t phase, access like, const bool *dead) {
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

static void add_stores(plan_program *p, uint32_t phase, access like, const bool *dead) {
  const c_schedule *s = &p->pass.schedule;
  const plan_pass *pass = p->pass.pass;
  for (uint32_t i = 0; i < pass->store_count; i++) {
    const plan_move *move = &pass->stores[i];
    if (s->store_phase[i] == phase)
      add_move(p, move, false, &s->spaces[phase], p->writer->plan->arrays.items[move->array].type,
               like, dead);
  }
}

static void add_barrier(plan_program *p) { vec_push(p->memory, &p->steps, ((plan_step){NULL, 0})); }

// In the order of c_pass.c's write_phase.
static void add_phase(plan_program *p, uint32_t phase) {
  const c_space *space = &p->pass.schedule.spaces[phase];
  const bool *dead = c_pass_dead_registers(&p->pass, space);
  bool turns = c_pass_turns_around(&p->pass, phase);
  uint64_t block[F2_MAX], thread[F2_MAX];
  access all = {.who = ALL, .phase = phase}, beyond = all, within = all;
  if (c_pass_beyond(&p->pass, space, block, thread)) {
    c_map least = {.blocks = space->blocks, .threads = space->threads};
    memcpy(least.block, block, space->blocks * sizeof *block);
    memcpy(least.thread, thread, space->threads * sizeof *thread);
    beyond.who = THOSE_BEYOND;
    within.who = THOSE_WITHIN;
    beyond.least = within.least = forms_of(p->memory, &least);
  }
  if (p->steps.count > 0)
    add_barrier(p);
  if (beyond.who != ALL && !turns)
    add_puts(p, phase, beyond);
  add_inputs(p, phase, within, dead);
  add_stores(p, phase, within, dead);
  if (turns)
    add_barrier(p);
  add_puts(p, phase, turns ? all : within);
}

// ---- the pass as a program -------------------------------------------------------------------

static void set_skips(plan_program *p) {
  const plan_pass *pass = p->pass.pass;
  const c_space *s = &p->pass.schedule.spaces[0];
  c_map forms = c_map_of_forms(pass->live_count, pass->live, s);
  p->alive = *forms_of(p->memory, &forms);
  p->alive_at = forms.constant;
  p->least = bits_of(p->memory, s->blocks, 0);
  for (uint32_t i = 0; i < s->blocks; i++)
    p->least.block[i] = f2_space_reduce(pass->tile, s->block[i]);
}

// Whether there is nothing to do in the item's tile.
static bool is_skipped(const plan_program *p, uint64_t item) {
  const plan_pass *pass = p->pass.pass;
  if (pass->live_count && combine(p->alive.blocks, p->alive.block, item) != p->alive_at)
    return true;
  return pass->limit != UINT64_MAX && combine(p->least.blocks, p->least.block, item) >= pass->limit;
}

typedef struct place {
  const plan_step *step;  // NULL: there are no more items
  uint64_t item, warp;    // the warp within its block
} place;

static place place_of(const plan_program *p, uint64_t warp, uint64_t step) {
  uint64_t each = p->threads > LANES ? p->threads / LANES : 1, slot = warp / each;
  uint64_t item = p->first + slot + step / p->steps.count * p->slots;
  return (place){item < p->items ? &p->steps.items[step % p->steps.count] : NULL, item,
                 warp % each};
}

// The units at which the lanes first ... first + count - 1 are, or MACHINE_IDLE.
static void find_units(const plan_program *p, const place *at, uint32_t first, uint32_t count,
                       uint64_t *unit) {
  const access *a = at->step->access;
  const affine_sum *s = a->sum;
  uint64_t fixed = s->offset, loops = at->item >> p->pass.schedule.spaces[0].blocks;
  for (uint32_t i = s->loops; i-- > 0; loops /= p->pass.stage->extents[i])
    fixed += (uint64_t)s->strides[i] * (loops % p->pass.stage->extents[i]);
  for (uint32_t i = 0; i < count; i++)
    unit[i] = fixed;
  for (uint32_t g = 0; g < s->count; g++) {
    const affine_bits *b = &s->groups[g].bits;
    uint64_t odd = s->groups[g].odd, own = a->at[g] ^ bits_at(b, at->item, at->warp);
    for (uint32_t i = 0; i < count; i++)
      unit[i] += odd * (own ^ b->lane[first + i]);
  }
}

static void leave_out(const plan_program *p, const place *at, uint32_t first, uint32_t count,
                      uint64_t *unit) {
  const access *a = at->step->access;
  uint64_t live = a->live ? a->live_at ^ bits_at(a->live, at->item, at->warp) : 0;
  uint64_t least = a->least ? bits_at(a->least, at->item, at->warp) : 0;
  for (uint32_t i = 0; i < count; i++) {
    bool out = unit[i] >= a->limit || first + i >= p->threads;
    out |= a->live && (live ^ a->live->lane[first + i]) != 0;
    if (a->who != ALL)
      out |=
          ((least ^ a->least->lane[first + i]) >= p->pass.pass->limit) == (a->who == THOSE_WITHIN);
    if (out)
      unit[i] = MACHINE_IDLE;
  }
}

static bool has_conditions(const plan_program *p, const access *a) {
  return a->live || a->who != ALL || a->limit != UINT64_MAX || p->threads < LANES;
}

// Lanes of part i of an access, of `words` words each.
static uint32_t find_part(const plan_program *p, const place *at, uint64_t *unit, uint32_t *words) {
  const access *a = at->step->access;
  *words = a->bytes > WORD ? a->bytes / WORD : 1;
  uint32_t count = LANES / *words, first = at->step->part * count;
  find_units(p, at, first, count, unit);
  if (has_conditions(p, a))
    leave_out(p, at, first, count, unit);
  for (uint32_t i = 0; i < count && a->lying; i++)
    if (unit[i] != MACHINE_IDLE)
      unit[i] = c_lying_place(a->lying, unit[i]);
  return count;
}

static machine_op plan_op(void *state, uint64_t warp, uint64_t step) {
  const plan_program *p = state;
  place at = place_of(p, warp, step);
  if (!at.step)
    return MACHINE_END;
  if (is_skipped(p, at.item))
    return MACHINE_SKIP;
  if (!at.step->access)
    return MACHINE_SYNC;
  if (has_conditions(p, at.step->access)) {
    uint64_t unit[LANES];
    uint32_t words, count = find_part(p, &at, unit, &words), idle = 0;
    for (uint32_t i = 0; i < count; i++)
      idle += unit[i] == MACHINE_IDLE;
    if (idle == count)
      return MACHINE_SKIP;
  }
  return at.step->access->op;
}

// Where the access's units begin, in bytes. Where blocks share a memory whose contents count, each
// has a part of it; where nothing does, all arrays may begin at 0.
static uint64_t base_of(const plan_program *p, const access *a, uint64_t warp) {
  uint64_t each = p->threads > LANES ? p->threads / LANES : 1;
  if (!p->arrays)
    return a->base;
  return machine_is_shared(a->op) ? a->base + warp / each / p->dmms * p->scratch_words * WORD
                                  : p->arrays->place[a->array] * WORD;
}

// ---- words -----------------------------------------------------------------------------------

// What the request's lanes have in their registers, to its words, or the other way round. Elements
// of less than a word share it with others: only their own bits are written.
static void copy_words(plan_program *p, const place *at, uint64_t warp, const uint64_t *unit,
                       machine_word *value) {
  const access *a = at->step->access;
  uint32_t words = a->bytes > WORD ? a->bytes / WORD : 1, first = at->step->part * (LANES / words);
  uint64_t turn = bits_at(a->turn, at->item, at->warp), base = base_of(p, a, warp);
  for (uint32_t i = 0; i < LANES / words; i++) {
    uint32_t lane = first + i, within = (uint32_t)((base + unit[i] * a->scale) % WORD);
    unsigned char *in_word = (unsigned char *)(value + i * words) + within;
    for (uint32_t e = 0; e < 1U << a->wide && unit[i] != MACHINE_IDLE; e++) {
      uint32_t number = a->registers[e ^ turn ^ a->turn->lane[lane]];
      if (!machine_is_write(a->op))
        memcpy(machine_register(p->registers, a->phase, warp, a->slot, number, lane),
               in_word + e * a->part_bytes, a->part_bytes);
      else
        memcpy(in_word + e * a->part_bytes,
               a->who == THOSE_BEYOND
                   ? machine_register_beyond(p->registers, a->phase, a->slot, number)
                   : machine_register(p->registers, a->phase, warp, a->slot, number, lane),
               a->part_bytes);
    }
    for (uint32_t k = 0; k < words; k++)
      p->written[i * words + k] =
          a->bytes < WORD ? (machine_word)f2_mask((int)(8 * a->bytes)) << 8 * within : UINT32_MAX;
  }
}

// What the warp's last read has brought goes to its registers, now that it goes on.
static void take_arrived(plan_program *p, uint64_t warp, machine_word *value) {
  if (p->arrived[warp] == 0)
    return;
  place last = place_of(p, warp, p->arrived[warp] - 1);
  uint64_t unit[LANES];
  uint32_t words;
  find_part(p, &last, unit, &words);
  copy_words(p, &last, warp, unit, value);
  p->arrived[warp] = 0;
}

// A phase computes when it first has something to write. (Threads beyond a limit write constants,
// before the others have read.)
static void move_words(plan_program *p, const place *at, uint64_t warp, uint64_t step,
                       const uint64_t *unit, machine_word *value) {
  const access *a = at->step->access;
  uint64_t count = p->pass.schedule.phase_count,
           phase = step / p->steps.count * count + a->phase + 1;
  take_arrived(p, warp, value);
  if (p->begun[warp] != phase)
    machine_registers_begin(p->registers, a->phase, warp);
  p->begun[warp] = phase;
  if (!machine_is_write(a->op)) {
    p->arrived[warp] = step + 1;
    return;
  }
  if (p->done[warp] != phase && a->who != THOSE_BEYOND) {
    machine_registers_compute(p->registers, a->phase, warp, at->item, at->warp);
    p->done[warp] = phase;
  }
  copy_words(p, at, warp, unit, value);
}

static void plan_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                       machine_word *value) {
  plan_program *p = state;
  place at = place_of(p, warp, step);
  const access *a = at.step->access;
  uint64_t unit[LANES], base = base_of(p, a, warp);
  uint32_t words, count = find_part(p, &at, unit, &words);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < words; k++)
      address[i * words + k] =
          unit[i] == MACHINE_IDLE ? MACHINE_IDLE : (base + unit[i] * a->scale) / WORD + k;
  if (p->arrays)
    move_words(p, &at, warp, step, unit, value);
}

// ---- all -------------------------------------------------------------------------------------

static const char *cannot(arena *a, const machine *m, const plan *p, const plan_pass *pass) {
  if (m->kind != MACHINE_HMM)
    return arena_printf(a, "a plan needs an hmm (permc machine hmm): a %s has one memory only",
                        machine_names[m->kind]);
  if (p->target->lane_bytes != 0)
    return arena_printf(a, "the plan is for the target %s, whose lanes are no threads",
                        p->target->name);
  if (m->width != MACHINE_PLAN_WIDTH)
    return arena_printf(a, "the warps of a plan have %d lanes: w = %u will not do",
                        MACHINE_PLAN_WIDTH, m->width);
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    const plan_move *move =
        i < pass->load_count ? &pass->loads[i] : &pass->stores[i - pass->load_count];
    if (!c_map_fits(&move->map) || move->live_count > C_ROWS)
      return "an address of the plan is a sum of too many terms";
  }
  return NULL;
}

// Contents of all memories, and of the threads' registers.
static void add_words(plan_program *p, const machine_arrays *arrays, machine_program *program) {
  const c_schedule *s = &p->pass.schedule;
  arena *a = p->memory;
  p->arrays = arrays;
  p->scratch_words = (s->scratch_bytes + SCRATCH_UNIT - 1) / SCRATCH_UNIT * (SCRATCH_UNIT / WORD);
  p->registers = machine_registers_new(a, &p->pass, program->warps);
  p->arrived = NEW_ARRAY(a, uint64_t, program->warps);
  p->begun = NEW_ARRAY(a, uint64_t, program->warps);
  p->done = NEW_ARRAY(a, uint64_t, program->warps);
  program->value = NEW_ARRAY(a, machine_word, program->warps * LANES);
  program->written = p->written;
  program->global = arrays->words;
  program->global_words = arrays->count;
  program->shared_words = (p->slots + p->dmms - 1) / p->dmms * p->scratch_words;
  program->shared = NEW_ARRAY(a, machine_word, program->shared_words * p->dmms + 1);
}

static uint64_t count_items(const plan_program *p) {
  uint64_t items = UINT64_C(1) << p->pass.schedule.spaces[0].blocks;
  for (uint32_t i = 0; i < p->pass.stage->loop_count; i++)
    items *= p->pass.stage->extents[i];
  return items;
}

// NULL: *out has all steps.
static const char *open_pass(arena *a, const plan *of, uint32_t number, const c_options *options,
                             plan_program **out) {
  static const c_options usual = {.stream_bytes = UINT64_MAX};
  plan_program *p = *out = NEW(a, plan_program);
  c_writer *writer = NEW(a, c_writer);
  c_online online;
  *writer = (c_writer){.memory = a,
                       .plan = of,
                       .options = options ? options : &usual,
                       .warps = true,
                       .index = "uint64_t"};
  if (c_online_of(writer, &of->passes.items[number], &online))
    return "the strategy online has a kernel of its own, which the machines do not know (another "
           "--strategy has none)";
  *p = (plan_program){.memory = a, .writer = writer, .pass = c_pass_of(writer, number), .dmms = 1};
  if (writer->problem)
    return writer->problem;
  p->threads = UINT64_C(1) << p->pass.schedule.spaces[0].threads;
  p->items = count_items(p);
  set_skips(p);
  for (uint32_t i = 0; i < p->pass.schedule.phase_count; i++)
    if (!c_pass_is_idle(&p->pass, i))
      add_phase(p, i);
  if (p->steps.count == 0)
    add_barrier(p);  // an item without steps would not end
  return NULL;
}

static uint64_t warps_of(const plan_program *p) {
  return p->threads > LANES ? p->threads / LANES : 1;
}

static machine_program program_of(plan_program *p) {
  return (machine_program){.warps = p->slots * warps_of(p),
                           .block_warps = warps_of(p),
                           .state = p,
                           .op = plan_op,
                           .lanes = plan_lanes,
                           .global_words = UINT64_MAX,
                           .shared_words = UINT64_MAX};
}

// As many blocks at once as the machine's threads allow.
static const char *take_threads(arena *a, const machine *m, plan_program *p, uint32_t number) {
  uint64_t block = warps_of(p) * LANES;
  if (m->threads % LANES != 0)
    return arena_printf(a, "the threads are whole warps: p = %" PRIu64 " is no multiple of w = %d",
                        m->threads, LANES);
  if (m->threads != 0 && m->threads < block)
    return arena_printf(
        a, "the blocks of pass %u have %" PRIu64 " threads: p = %" PRIu64 " is not enough for one",
        number + 1, block, m->threads);
  p->dmms = m->dmms;
  p->slots = m->threads && m->threads / block < p->items ? m->threads / block : p->items;
  return NULL;
}

const char *machine_plan_estimate(arena *a, const machine *m, const plan *of,
                                  const c_options *options, machine_estimate *out) {
  *out = (machine_estimate){0, 0};
  for (uint32_t i = 0; i < of->passes.count; i++) {
    plan_program *p;
    const char *problem = cannot(a, m, of, &of->passes.items[i]);
    if (!problem)
      problem = open_pass(a, of, i, options, &p);
    if (!problem)
      problem = take_threads(a, m, p, i);
    if (problem)
      return problem;
    double accesses = 0, warps = (double)p->slots * (double)warps_of(p);
    double times = (double)((p->items + p->slots - 1) / p->slots);
    for (size_t k = 0; k < p->steps.count; k++)
      accesses += p->steps.items[k].access != NULL;
    out->requests += accesses * LANES * (double)warps_of(p) * (double)p->items;
    out->bytes += machine_run_bytes(m, warps, (double)warps_of(p), times * (double)p->steps.count);
  }
  return NULL;
}

const char *machine_plan_run(arena *a, const machine *m, const plan *of, uint32_t number,
                             const c_options *options, const machine_arrays *arrays,
                             machine_counts *out) {
  plan_program *p;
  const char *problem = cannot(a, m, of, &of->passes.items[number]);
  if (!problem && arrays)
    problem = machine_registers_problem(of, number);
  if (!problem)
    problem = open_pass(a, of, number, options, &p);
  if (!problem)
    problem = take_threads(a, m, p, number);
  if (problem)
    return problem;
  machine_program program = program_of(p);
  machine own = *m;
  own.threads = program.warps * LANES;
  if (arrays)
    add_words(p, arrays, &program);
  return machine_run(a, &own, &program, out);
}

const char *machine_plan_block(arena *a, const plan *of, uint32_t number, const c_options *options,
                               machine_program *out, uint64_t *times) {
  static const machine like = {MACHINE_HMM, 1, MACHINE_PLAN_WIDTH, 1, 1, 0, true};
  plan_program *p;
  const char *problem = cannot(a, &like, of, &of->passes.items[number]);
  if (!problem)
    problem = open_pass(a, of, number, options, &p);
  if (problem)
    return problem;
  bool all = p->pass.pass->live_count == 0 && p->pass.pass->limit == UINT64_MAX;
  *times = all ? p->items : 0;
  for (uint64_t item = all ? 0 : p->items; item-- > 0;)
    if (!is_skipped(p, item)) {
      p->first = item;
      ++*times;
    }
  p->items = p->first + 1;
  p->slots = 1;
  *out = program_of(p);
  return NULL;
}

const machine machine_plan_usual = {MACHINE_HMM, 1, MACHINE_PLAN_WIDTH, 100, 1, 0, false};

const char *machine_plan_problem(arena *a, const plan *of, uint32_t number,
                                 const c_options *options) {
  const char *problem = cannot(a, &machine_plan_usual, of, &of->passes.items[number]);
  plan_program *p;
  if (!problem)
    problem = machine_registers_problem(of, number);
  return problem ? problem : open_pass(a, of, number, options, &p);
}
