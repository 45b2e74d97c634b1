#include "kernels/schedule/schedule.h"

// ---- phases ----------------------------------------------------------------------------------

// Whether something is stored to the array by another map: to places that others load. (By the same
// map each thread stores in the last phase where it alone may load.)
static bool stored_elsewhere(const plan_pass *p, const plan_move *load) {
  bool elsewhere = false;
  for (uint32_t i = 0; i < p->store_count; i++)
    elsewhere |= p->stores[i].array == load->array && !net_map_equal(&p->stores[i].map, &load->map);
  return elsewhere;
}

// An array that is loaded and stored in one phase by different maps: all must be loaded before
// anything is stored.
static bool needs_loading_phase(const plan_pass *p) {
  bool needed = false;
  for (uint32_t i = 0; i < p->load_count && p->phase_count == 1; i++)
    needed |= stored_elsewhere(p, &p->loads[i]);
  return needed;
}

// Lanes lowest: the lines of scratch are the vectors.
static uint64_t *plain_exchange(c_context *context, const plan_phase *phase, uint32_t dimension) {
  uint64_t *basis = NEW_ARRAY(context->memory, uint64_t, dimension);
  for (uint32_t i = 0; i < dimension; i++)
    basis[i] = phase->basis[i < phase->l              ? phase->r + i
                            : i < phase->l + phase->r ? i - phase->l
                                                      : i];
  return basis;
}

static void set_phases(c_context *context, const plan_pass *p, c_schedule *s) {
  uint32_t dimension = (uint32_t)p->tile.dimension, extra = needs_loading_phase(p);
  s->phase_count = p->phase_count + extra;
  s->phases = NEW_ARRAY(context->memory, plan_phase, s->phase_count);
  s->spaces = NEW_ARRAY(context->memory, c_space, s->phase_count);
  for (uint32_t i = 0; i < p->phase_count; i++)
    s->phases[i + extra] = p->phases[i];
  if (extra) {
    s->phases[0] = s->phases[1];
    s->phases[0].op_count = 0;
    s->phases[1].exchange = plain_exchange(context, &s->phases[1], dimension);
  }
  for (uint32_t i = 0; i < s->phase_count; i++) {
    const plan_phase *f = &s->phases[i];
    uint32_t lanes = context->warps ? 0 : f->l;  // a thread of a warp has one
    s->spaces[i] = (c_space){(uint32_t)p->tile.n - dimension,
                             dimension - f->r - lanes,
                             f->r,
                             lanes,
                             p->blocks,
                             f->basis,
                             NULL};
  }
}

// ---- what ops do -----------------------------------------------------------------------------

static c_content content_of(const c_pass *p, net_id value, f2_space live) {
  f2_space *kept = live.dimension ? NEW(p->context->memory, f2_space) : NULL;
  if (kept)
    *kept = live;
  return (c_content){value, p->stage->values.items[value], kept};
}

static bool is_partial(const net_op *op, const net_output *output) {
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
    if (output->elements[j] == NET_NONE)
      return true;
  return false;
}

// A slot that an op loads directly is made in its phase: nothing in it was needed.
static void scan_op(const c_pass *p, uint32_t phase, uint32_t number) {
  const net_op *op = &p->stage->ops.items[p->pass->ops[number]];
  for (uint32_t i = 0; i < p->pass->load_count; i++) {
    const plan_move *m = &p->pass->loads[i];
    if (m->direct != number + 1)
      continue;
    c_use *use = c_use_of(p, phase, m->slot);
    use->made = true;
    use->after = content_of(p, m->value, live_set(p->stage->n, m->live_count, m->live));
    p->schedule.load_phase[i] = phase;
  }
  net_reads reads = net_op_reads(p->context->memory, p->stage, op);
  for (uint32_t i = 0; i < reads.count; i++) {
    uint32_t slot = p->pass->slot_of[reads.values[i]];
    assert(slot != NET_NONE);
    c_use *use = c_use_of(p, phase, slot);
    use->needed |= !use->made;
  }
  for (uint32_t i = 0; i < op->output_count; i++) {
    net_id made = op->outputs[i].value;
    if (p->pass->slot_of[made] == NET_NONE)
      continue;
    c_use *use = c_use_of(p, phase, p->pass->slot_of[made]);
    use->needed |= !use->made && is_partial(op, &op->outputs[i]);
    use->made = true;
    use->after = content_of(p, made, live_of_output(p->stage, op, &op->outputs[i]));
  }
}

// (The array that a value is loaded from may be of another type of that size: one between passes,
// which has held another value.)
static void scan_phases(const c_pass *p) {
  c_content *held = NEW_ARRAY(p->context->memory, c_content, p->pass->slot_count);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++)
    held[slot].value = NET_NONE;
  for (uint32_t i = 0; i < p->pass->load_count; i++) {
    const plan_move *m = &p->pass->loads[i];
    if (!m->direct)
      held[m->slot] = content_of(p, m->value, live_set(p->stage->n, m->live_count, m->live));
  }
  for (uint32_t phase = 0; phase < p->schedule.phase_count; phase++) {
    const plan_phase *f = &p->schedule.phases[phase];
    for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
      c_use *use = c_use_of(p, phase, slot);
      use->before = use->after = held[slot];
    }
    for (uint32_t i = f->first_op; i < f->first_op + f->op_count; i++)
      scan_op(p, phase, i);
    for (uint32_t slot = 0; slot < p->pass->slot_count; slot++)
      held[slot] = c_use_of(p, phase, slot)->after;
  }
}

// ---- where to load and store -----------------------------------------------------------------

// Whether a warp's lanes fill lines of the array, together with the neighbours that each of them
// asks for at once. (Of 8 bytes each, 16 lanes fill a line, and the others are in another one.)
// Lanes that differ by x are in one line if the rows that x flips are of small weight. Lanes <1, 2,
// 4> at 4 (x0^x2) + 2 x1 + x2, u32, in lines of 16 bytes: 1, 4 both flip row 4, but 1^4 does not.
static bool warp_has_lines(const c_pass *p, const plan_move *move, const xor_sum *map,
                           uint32_t lanes, scalar_type type) {
  uint32_t parts = scalar_parts(type), bytes = scalar_part_bytes(type), rows[C_CHUNK], most = 0,
           inside = 0;
  uint64_t vectors[C_CHUNK], own = 1, far = 0, flipped[F2_MAX];
  if (plan_move_is_wide(move))
    own <<= c_wide_vectors(map, bytes, rows, vectors);
  own = own > parts ? own : parts;
  while (most < lanes && own * bytes << most < p->context->plan->target->line_bytes)
    most++;
  for (uint32_t r = 0; r < map->rows; r++)
    far |= map->weight[r] >= own << most ? f2_unit((int)r) : 0;
  for (uint32_t i = 0; i < lanes; i++)
    flipped[i] = map->thread[i] & far;
  f2_space near = f2_kernel(f2_from_columns((int)map->rows, (int)lanes, flipped));
  for (int i = 0; i < near.dimension; i++)
    inside += xor_sum_weight(map, f2_combine((int)lanes, map->thread, near.basis[i])) < own << most;
  return inside >= most;
}

// Whether what the phase loads or stores at once fills lines of the array.
static bool has_lines(const c_pass *p, const plan_move *move, uint32_t phase, bool loads) {
  const c_space *space = &p->schedule.spaces[phase];
  const c_use *use = c_use_of(p, phase, move->slot);
  scalar_type type = (loads ? use->before : use->after).type;
  xor_sum map = xor_sum_of(p->context->memory, &move->map, space, scalar_parts(type));
  if (p->context->warps)
    return warp_has_lines(p, move, &map, p->schedule.phases[phase].l, type);
  return c_access_of(&map, space, type, C_CHUNK, 0).chunk == space->l;
}

// Whether the phase works on few elements of the tile: those where its ops are live.
static bool works_on_few(const c_pass *p, uint32_t phase) {
  const plan_phase *f = &p->schedule.phases[phase];
  f2_space live = plan_live_of_ops(p->stage, p->pass, f->first_op, f->first_op + f->op_count);
  f2_space works = f2_space_intersection(p->pass->tile, live_directions(live));
  return f->op_count && plan_are_few((uint32_t)(p->pass->tile.dimension - works.dimension));
}

// The last phase up to `to` that has whole lines, if that matters; else `to`. (Where lanes are
// those of vectors, a phase of fewer lanes takes more accesses, and a phase that works on few
// elements loads no others.)
static uint32_t load_phase(const c_pass *p, const plan_move *move, uint32_t to) {
  const c_space *spaces = p->schedule.spaces;
  if (stored_elsewhere(p->pass, move))
    return 0;
  if (p->context->warps ? plan_are_few(move->live_count) : works_on_few(p, to))
    return to;
  for (uint32_t phase = to + 1; phase-- > 0;)
    if (spaces[phase].l >= spaces[to].l && has_lines(p, move, phase, true))
      return phase;
  return to;
}

// The last phase that makes the slot's content; *made: whether any does.
static uint32_t last_made(const c_pass *p, uint32_t slot, bool *made) {
  uint32_t last = 0;
  *made = false;
  for (uint32_t phase = 0; phase < p->schedule.phase_count; phase++)
    if (c_use_of(p, phase, slot)->made) {
      last = phase;
      *made = true;
    }
  return last;
}

// The first phase that has whole lines of what the slot is loaded from; else the first.
static uint32_t first_loaded(const c_pass *p, uint32_t slot) {
  for (uint32_t i = 0; i < p->pass->load_count; i++)
    for (uint32_t phase = 0; phase < p->schedule.phase_count; phase++)
      if (p->pass->loads[i].slot == slot && !p->pass->loads[i].direct &&
          !stored_elsewhere(p->pass, &p->pass->loads[i]) &&
          has_lines(p, &p->pass->loads[i], phase, true))
        return phase;
  return 0;
}

// The latest phase that may load what the store writes over: the first that needs it (load_phase).
// Where that is not known yet, or other places are loaded, the last of all.
static uint32_t last_overwritten(const c_pass *p, const plan_move *store) {
  uint32_t latest = 0, count = p->schedule.phase_count;
  for (uint32_t i = 0; i < p->pass->load_count; i++) {
    const plan_move *load = &p->pass->loads[i];
    if (load->array != store->array || load->direct)
      continue;
    uint32_t phase = 0;
    while (phase < count && !c_use_of(p, phase, load->slot)->needed)
      phase++;
    if (phase == count || stored_elsewhere(p->pass, load))
      return count - 1;
    latest = phase > latest ? phase : latest;
  }
  return latest;
}

// The first phase that has whole lines, of those from the last on that makes the content; else that
// one. What is stored as it was loaded is not stored before the phase where it is best loaded. Over
// what the pass loads: the last phase that has whole lines, else the last.
static uint32_t store_phase(const c_pass *p, const plan_move *move) {
  bool made;
  uint32_t last = p->schedule.phase_count - 1, from = last_made(p, move->slot, &made);
  if (!made)
    from = first_loaded(p, move->slot);
  if (plan_find_move(p->pass->loads, p->pass->load_count, move->array)) {
    uint32_t loaded = last_overwritten(p, move), phase = last;
    from = loaded > from ? loaded : from;
    while (phase > from && !has_lines(p, move, phase, false))
      phase--;
    return has_lines(p, move, phase, false) ? phase : last;
  }
  if (p->context->warps && plan_are_few(move->live_count))
    return from;
  for (uint32_t phase = from; phase <= last; phase++)
    if (has_lines(p, move, phase, false))
      return phase;
  return from;
}

static void place_stores(c_pass *p) {
  c_schedule *c = &p->schedule;
  c->store_phase = NEW_ARRAY(p->context->memory, uint32_t, p->pass->store_count);
  for (uint32_t i = 0; i < p->pass->store_count; i++) {
    const plan_move *move = &p->pass->stores[i];
    uint32_t phase = store_phase(p, move);
    c->store_phase[i] = phase;
    c_use *use = c_use_of(p, phase, move->slot);
    use->needed |= !use->made;
  }
}

// A load whose slot is written before it is read is none.
static void place_loads(c_pass *p) {
  for (uint32_t i = 0; i < p->pass->load_count; i++) {
    const plan_move *move = &p->pass->loads[i];
    for (uint32_t phase = 0; phase < p->schedule.phase_count && !move->direct; phase++) {
      c_use *use = c_use_of(p, phase, move->slot);
      if (use->needed) {
        uint32_t at = load_phase(p, move, phase);
        c_use_of(p, at, move->slot)->load = (int)i;
        p->schedule.load_phase[i] = at;
      }
      if (use->needed || use->made)
        break;
    }
  }
}

// ---- scratch ---------------------------------------------------------------------------------

// Whether each thread of the phase writes, by the basis `out`, where it reads by the basis `in`:
// the two addresses of every x differ by one of an element of W.
static bool threads_keep_places(const c_space *s, const c_swizzle *in, const c_swizzle *out) {
  xor_sum a = xor_sum_of_scratch(in->basis, s, 1), b = xor_sum_of_scratch(out->basis, s, 1);
  f2_space own = f2_span((int)a.rows, (int)a.vectors, a.vector);
  for (uint32_t i = 0; i < a.vectors; i++)
    if (!f2_space_has(own, a.vector[i] ^ b.vector[i]))
      return false;
  for (uint32_t i = 0; i < a.threads; i++)
    if (!f2_space_has(own, a.thread[i] ^ b.thread[i]))
      return false;
  return true;
}

// Scratch between two phases with others between them, which do not touch the slot.
static c_swizzle swizzle_for(const c_pass *p, uint32_t from, uint32_t to, scalar_type type) {
  const plan_phase *phases = p->schedule.phases;
  const uint64_t *usual =
      p->context->warps && from + 1 < to
          ? plan_exchange(p->context->memory, p->pass->tile, &phases[from], &phases[to])
          : phases[to].exchange;
  assert(usual);
  return c_swizzle_asked(p->context)
             ? c_swizzle_between(p->context, p->pass->tile, &phases[from], &phases[to], usual, type)
             : (c_swizzle){.basis = usual};
}

// The slot goes from phase `from` to phase `to`, the next that needs it. Its region from now on.
static int carry_over(const c_pass *p, uint32_t slot, uint32_t from, uint32_t to, int region) {
  const c_schedule *c = &p->schedule;
  c_use *use = c_use_of(p, from, slot);
  c_swizzle out = swizzle_for(p, from, to, use->after.type);
  uint32_t dimension = (uint32_t)p->pass->tile.dimension;
  c_use_of(p, to, slot)->swizzle = out;
  use->next = to;
  use->out = 0;
  if (use->in == C_NOWHERE)
    return 0;
  if (!use->made && c_swizzle_equal(&use->swizzle, &out, dimension)) {
    use->out = C_NOWHERE;
    return region;
  }
  if (p->context->warps)  // all threads read before any writes
    return use->out;
  const f2_space *before = use->before.live, *after = use->after.live;
  bool alike = scalar_parts(use->before.type) == scalar_parts(use->after.type) &&
               (before && after ? f2_space_equal(*before, *after) : before == after);
  alike &= !out.by || c_swizzle_equal(&use->swizzle, &out, dimension);
  use->out =
      alike && threads_keep_places(&c->spaces[from], &use->swizzle, &out) ? region : 1 - region;
  return use->out;
}

static void route_slot(const c_pass *p, uint32_t slot, bool used[2]) {
  const c_schedule *c = &p->schedule;
  uint32_t held = UINT32_MAX;  // the last phase that had the content in registers
  int region = C_NOWHERE;
  for (uint32_t phase = 0; phase < c->phase_count; phase++) {
    c_use *use = c_use_of(p, phase, slot);
    if (use->needed && use->load == C_NOWHERE && held != UINT32_MAX) {
      region = carry_over(p, slot, held, phase, region);
      use->in = region;
      used[region] = true;
    }
    if (use->needed || use->made || use->load != C_NOWHERE)
      held = phase;
  }
}

// The most that the slot takes, which some layouts enlarge. (Where lanes are vectors, phases that
// keep it in place take the same.)
static uint64_t region_bytes(const c_pass *p, uint32_t slot) {
  uint32_t dimension = (uint32_t)p->pass->tile.dimension;
  uint64_t most = p->context->warps ? 0 : (uint64_t)p->pass->slot_bytes[slot] << dimension;
  for (uint32_t phase = 0; phase < p->schedule.phase_count; phase++) {
    const c_use *use = c_use_of(p, phase, slot);
    if (use->in == C_NOWHERE)
      continue;
    uint64_t bytes = scalar_part_bytes(use->before.type), unit = p->context->warps ? 1 : bytes;
    uint64_t elements = UINT64_C(1)
                        << c_pass_scratch_map(p, phase, phase, slot, use->before.type).rows;
    bytes = c_swizzle_units(&use->swizzle, elements * bytes / unit) * unit;
    most = bytes > most ? bytes : most;
  }
  return most;
}

static void set_regions(c_pass *p) {
  c_schedule *c = &p->schedule;
  for (int i = 0; i < 2; i++)
    c->region[i] = NEW_ARRAY(p->context->memory, uint64_t, p->pass->slot_count);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    bool used[2] = {false, false};
    route_slot(p, slot, used);
    uint64_t bytes = region_bytes(p, slot);
    for (int i = 0; i < 2; i++)
      if (used[i]) {
        c->region[i][slot] = c->scratch_bytes;
        c->scratch_bytes += (bytes + 63) / 64 * 64;
      }
  }
}

// ---- blocks -------------------------------------------------------------------------------------

static const plan_move *only_move_of_phase(const c_pass *p, uint32_t phase, scalar_type *type) {
  const c_schedule *c = &p->schedule;
  for (uint32_t i = 0; i < p->pass->load_count; i++) {
    const c_use *use = c_use_of(p, phase, p->pass->loads[i].slot);
    *type = use->before.type;
    if (use->load == (int)i)
      return &p->pass->loads[i];
  }
  for (uint32_t i = 0; i < p->pass->store_count; i++) {
    *type = c_use_of(p, phase, p->pass->stores[i].slot)->after.type;
    if (c->store_phase[i] == phase)
      return &p->pass->stores[i];
  }
  return NULL;
}

// A phase that only moves may take its tile to begin at another index: at that whose address ends
// in as many zeros as one wide access wants, so that blocks do not change which register comes
// first.
static void align_blocks(const c_pass *p, uint32_t phase) {
  c_space *space = &p->schedule.spaces[phase];
  scalar_type type;
  const plan_move *move = only_move_of_phase(p, phase, &type);
  if (!move || p->schedule.phases[phase].op_count > 0)
    return;
  uint32_t row[C_CHUNK];
  uint64_t x[C_CHUNK];
  xor_sum map = xor_sum_of(p->context->memory, &move->map, space, scalar_parts(type));
  uint32_t wide = c_wide_vectors(&map, scalar_part_bytes(type), row, x);
  uint64_t *block = NEW_ARRAY(p->context->memory, uint64_t, space->blocks + 1);
  uint64_t *shift = NEW_ARRAY(p->context->memory, uint64_t, space->blocks + 1);
  for (uint32_t i = 0; i < space->blocks; i++) {
    for (uint32_t k = 0; k < wide; k++)
      shift[i] ^=
          f2_bit(map.block[i], (int)row[k]) ? f2_combine((int)space->r, space->basis, x[k]) : 0;
    block[i] = space->block[i] ^ shift[i];
  }
  space->block = block;
  space->shift = shift;
}

c_pass c_pass_of(c_context *context, uint32_t number) {
  const plan_pass *pass = &context->plan->passes.items[number];
  c_pass p = {context, pass, plan_stage_of(context->plan, pass), {0}};
  c_schedule *c = &p.schedule;
  set_phases(context, pass, c);
  size_t uses = (size_t)c->phase_count * pass->slot_count;
  c->uses = NEW_ARRAY(context->memory, c_use, uses);
  for (size_t i = 0; i < uses; i++)
    c->uses[i].load = c->uses[i].in = c->uses[i].out = C_NOWHERE;
  c->load_phase = NEW_ARRAY(context->memory, uint32_t, pass->load_count);
  scan_phases(&p);
  place_stores(&p);
  place_loads(&p);
  for (uint32_t i = 0; i < c->phase_count && context->warps; i++)
    align_blocks(&p, i);
  set_regions(&p);
  return p;
}
