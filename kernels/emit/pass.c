#include "kernels/emit/pass.h"
#include "core/hash.h"
#include "kernels/emit/emit.h"
#include "kernels/emit/exchange.h"
#include "kernels/emit/online.h"
#include "kernels/emit/schedule.h"

c_pass c_pass_of(c_writer *w, uint32_t number) {
  const plan_pass *pass = &w->plan->passes.items[number];
  return (c_pass){.w = w,
                  .pass = pass,
                  .stage = &w->plan->net->stages.items[pass->stage],
                  .schedule = c_schedule_of(w, pass)};
}

// ---- moves -----------------------------------------------------------------------------------

bool c_pass_always_inside(const c_pass *p, const plan_move *move) {
  __extension__ typedef __int128 wide;
  wide low = move->map.offset, high = low;
  for (uint32_t i = 0; i < move->map.loop_count; i++)
    *(move->map.strides[i] < 0 ? &low : &high) +=
        (wide)move->map.strides[i] * (wide)(p->stage->extents[i] - 1);
  for (uint32_t r = 0; r < move->map.row_count; r++)
    *(move->map.rows[r].weight < 0 ? &low : &high) += move->map.rows[r].weight;
  return move->padding_start != UINT64_MAX ||
         (low >= 0 && high < (wide)p->w->plan->arrays.items[move->array].count);
}

// The op of the pass that makes a value: its place among them, or UINT32_MAX for what is loaded.
static uint32_t maker(const c_pass *p, net_id value) {
  for (uint32_t i = 0; i < p->pass->op_count; i++) {
    const net_op *op = &p->stage->ops.items[p->pass->ops[i]];
    for (uint32_t o = 0; o < op->output_count; o++)
      if (op->outputs[o].value == value)
        return i;
  }
  return UINT32_MAX;
}

// The value that a slot holds before op `end` of the pass: the last that was made by then, else
// what was loaded.
static net_id value_before(const c_pass *p, uint32_t slot, uint32_t end) {
  net_id found = NET_NONE;
  int64_t latest = -2;
  for (net_id v = 0; v < p->stage->values.count; v++) {
    if (p->pass->slot_of[v] != slot)
      continue;
    uint32_t i = maker(p, v);
    int64_t made = i == UINT32_MAX ? -1 : (int64_t)i;
    if (made > latest && (i == UINT32_MAX || i < end)) {
      latest = made;
      found = v;
    }
  }
  return found;
}

// ---- padding that stays where it is (plan/padding.h)
// -----------------------------------------------

static bool has_suffix(const c_pass *p) {
  return p->pass->padding_start != UINT64_MAX &&
         p->w->plan->padding[p->pass->stage] == PADDING_FREE;
}

// The bits of a float as a key (emit/exchange.h).
static uint64_t key_of(uint64_t bits, uint32_t bytes) {
  uint64_t sign = bits >> (8 * bytes - 1) & 1;
  return sign ? bits ^ f2_mask((int)(8 * bytes - 1)) : bits;
}

// A register with what a value is from the suffix on: a constant.
static uint32_t fill_register(const c_pass *p, const c_phase *f, net_id value, bool keyed,
                              uint32_t part) {
  static const scalar_type words[] = {SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_U64};
  scalar_type type = p->stage->values.items[value];
  scalar_bits bits = p->w->plan->padding_values[p->pass->stage][value];
  if (keyed) {
    type = words[f2_msb(scalar_types[type].size)];
    bits.u64 = key_of(bits.u64, (uint32_t)scalar_types[type].size);
  }
  c_value fill = c_known(type, bits);
  return c_as_vector(p->w, &fill, part, 1U << f->space->l);
}

scalar_bits c_pass_fill(const c_pass *p, uint32_t slot, uint32_t end) {
  return p->w->plan->padding_values[p->pass->stage][value_before(p, slot, end)];
}

bool *c_pass_dead_registers(const c_pass *p, const c_space *s) {
  if (!p->w->warps || !has_suffix(p))
    return NULL;
  f2_space others = f2_span(p->pass->tile.n, (int)s->blocks, s->block);
  for (uint32_t i = 0; i < s->threads; i++)
    f2_space_insert(&others, s->basis[s->r + i]);
  bool *dead = NEW_ARRAY(p->w->memory, bool, (size_t)1 << s->r), any = false;
  for (uint64_t i = 0; i < UINT64_C(1) << s->r; i++) {
    uint64_t x = 0;
    for (uint32_t k = 0; k < s->r; k++)
      x ^= f2_bit(i, (int)k) ? s->basis[k] : 0;
    dead[i] = f2_space_reduce(others, x) >= p->pass->padding_start;
    any |= dead[i];
  }
  return any ? dead : NULL;
}

// Dead registers become constants: compilers drop what is done to them.
static void fill_dead(const c_pass *p, c_phase *f, uint32_t phase, uint32_t slot, bool keyed) {
  c_registers *s = &f->slots[slot];
  if (!f->dead)
    return;
  net_id value = value_before(p, slot, p->schedule.phases[phase].first_op);
  for (uint32_t part = 0; part < c_parts(s->type); part++) {
    uint32_t id = fill_register(p, f, value, keyed, part);
    for (size_t i = 0; i < (size_t)1 << f->space->r; i++)
      if (f->dead[i])
        s->id[((size_t)part << f->space->r) + i] = id;
  }
}

// Arrays have their numbers in functions; in kernels they are counted, so that passes over other
// arrays have the same text.
static const char *array_name(const c_pass *p, net_id array) {
  uint32_t number = array;
  for (uint32_t i = 0; i < p->array_count && p->w->warps; i++)
    if (p->arrays[i] == array)
      number = i;
  return c_format(p->w, "a%u", number);
}

static void load_slot(const c_pass *p, c_phase *f, uint32_t phase, uint32_t load) {
  const plan_move *move = &p->pass->loads[load];
  scalar_type type = p->schedule.loaded[load];
  c_place place = {.array = array_name(p, move->array),
                   .limit = move->padding_start,
                   .fill = move->padding_value};
  if (!c_pass_always_inside(p, move)) {
    place.live_count = move->live_count;
    place.live = move->live;
  }
  c_map map = c_map_of(p->w, &move->map, f->space, c_parts(type));
  f->slots[move->slot] = c_registers_of(p->w, f->space, type);
  c_load(p->w, &map, f->space, c_part_bytes(type), c_parts(type), &place, f->slots[move->slot].id);
  fill_dead(p, f, phase, move->slot, false);
  if (p->keyed[move->slot])
    c_to_keys(f, move->slot);
}

// Large arrays that are written once: their lines need not be read before, nor stay in the caches.
static const char *stream_of(c_pass *p, const plan_move *move, const c_space *space,
                             scalar_type type) {
  uint64_t elements = p->w->plan->arrays.items[move->array].count;
  if (p->w->warps || elements < p->w->options->stream_bytes / scalar_types[type].size)
    return NULL;
  c_map map = c_map_of(p->w, &move->map, space, c_parts(type));
  c_access access = c_access_of(&map, space, c_part_bytes(type), c_parts(type), C_CHUNK, 0);
  if (!c_access_streams(&access))
    return NULL;
  p->streams = true;
  return c_format(p->w, "stream%u", move->array);
}

static void store_slot(c_pass *p, c_phase *f, const plan_move *move) {
  scalar_type type = f->slots[move->slot].type;
  c_place place = {.array = array_name(p, move->array),
                   .limit = move->padding_start,
                   .live_count = move->live_count,
                   .live = move->live,
                   .dead = f->dead,
                   .stream = stream_of(p, move, f->space, type)};
  c_map map = c_map_of(p->w, &move->map, f->space, c_parts(type));
  c_registers from = p->keyed[move->slot] ? c_from_keys(f, move->slot) : f->slots[move->slot];
  c_store(p->w, &map, f->space, c_part_bytes(type), c_parts(type), &place, from.id);
}

static c_place scratch_place(const c_pass *p, uint32_t slot, int region) {
  return (c_place){.array = c_format(p->w, "(scratch + %llu)",
                                     (unsigned long long)p->schedule.region[region][slot]),
                   .limit = UINT64_MAX,
                   .scratch = true};
}

c_map c_pass_scratch_map(const c_pass *p, uint32_t space, uint32_t phase, uint32_t slot,
                         scalar_type type) {
  const plan_phase *of = &p->schedule.phases[phase];
  uint32_t bytes = c_part_bytes(type);
  const c_swizzle *swizzle = &c_use_of(&p->schedule, p->pass, phase, slot)->swizzle;
  c_map map = c_map_of_scratch(swizzle->basis, &p->schedule.spaces[space], c_parts(type));
  map.swizzle = swizzle->by ? swizzle : NULL;
  if (p->w->warps && bytes < 4 && !c_swizzle_asked(p->w))
    c_map_share_banks(&map, of->l, bytes == 1 ? 2 : 1);
  if (p->w->warps)
    c_map_in_bytes(&map, bytes);
  return map;
}

static void from_scratch(const c_pass *p, c_phase *f, uint32_t phase, uint32_t slot) {
  const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
  scalar_type type = use->before;
  c_map map = c_pass_scratch_map(p, phase, phase, slot, type);
  c_place place = scratch_place(p, slot, use->in);
  place.dead = f->dead;
  f->slots[slot] = c_registers_of(p->w, f->space, type);
  c_load(p->w, &map, f->space, c_part_bytes(type), c_parts(type), &place, f->slots[slot].id);
  fill_dead(p, f, phase, slot, p->keyed[slot]);
}

static void to_scratch(const c_pass *p, c_phase *f, uint32_t phase, uint32_t slot) {
  const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
  scalar_type type = f->slots[slot].type;
  c_map map = c_pass_scratch_map(p, phase, use->next, slot, type);
  c_place place = scratch_place(p, slot, use->out);
  c_store(p->w, &map, f->space, c_part_bytes(type), c_parts(type), &place, f->slots[slot].id);
}

// ---- phases ----------------------------------------------------------------------------------

static void phase_loads(const c_pass *p, c_phase *f, uint32_t phase) {
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    if (use->load != C_NOWHERE)
      load_slot(p, f, phase, (uint32_t)use->load);
    else if (use->in != C_NOWHERE)
      from_scratch(p, f, phase, slot);
  }
}

// Ops on keyed slots, which touch nothing else, go together.
static void phase_ops(const c_pass *p, c_phase *f, uint32_t count, const uint32_t *ops) {
  uint32_t *some = NEW_ARRAY(p->w->memory, uint32_t, count);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && p->keyed[slot]; i++)
      if (p->pass->slot_of[p->stage->ops.items[ops[i]].outputs[0].value] == slot)
        some[found++] = ops[i];
    if (found > 0)
      c_exchange(f, slot, found, some);
  }
  for (uint32_t i = 0; i < count; i++) {
    const net_op *op = &p->stage->ops.items[ops[i]];
    uint32_t slot = p->pass->slot_of[op->outputs[0].value];
    if (slot == NET_NONE || !p->keyed[slot])
      c_execute(f, op);
  }
}

// Registers that no op has written, in slots that are stored, become zero.
static void fill_registers(c_phase *f, uint32_t slot, scalar_type type) {
  c_registers *s = &f->slots[slot];
  uint32_t lanes = 1U << f->space->l;
  if (!s->id)
    *s = c_registers_of(f->w, f->space, type);
  for (size_t i = 0; i < (size_t)c_parts(s->type) << f->space->r; i++)
    if (s->id[i] == UINT32_MAX) {
      s->id[i] = f->w->next++;
      c_line(f->w, "const %s v%u = %s;", c_vector(f->w, c_part_bytes(s->type), lanes), s->id[i],
             lanes == 1 ? "0" : "{0}");
    }
}

bool c_pass_turns_around(const c_pass *p, uint32_t phase) {
  bool reads = false, writes = false;
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    reads |= use->in != C_NOWHERE;
    writes |= use->out != C_NOWHERE;
  }
  return reads && writes;
}

// A barrier tells all threads what one of them has found of its keys (emit/exchange.h).
static const char *barrier(const c_pass *p) {
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++)
    if (p->keyed[slot])
      return "PERMC_BARRIER_TELLING(strange)";
  return "PERMC_BARRIER";
}

// What goes to scratch then is kept over a barrier.
static void declare_kept(const c_pass *p, uint32_t phase) {
  const c_space *space = &p->schedule.spaces[phase];
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    if (use->out != C_NOWHERE)
      text_printf(&p->w->body, "    PERMC_VALUES(%s, kept%u, %u, %u)\n",
                  c_vector(p->w, c_part_bytes(use->after), 1), slot,
                  c_parts(use->after) << space->r, 1U << space->threads);
  }
}

static void keep_slot(c_phase *f, uint32_t slot, bool after) {
  c_registers *s = &f->slots[slot];
  for (uint32_t i = 0; i < c_parts(s->type) << f->space->r; i++)
    if (after) {
      s->id[i] = f->w->next++;
      c_line(f->w, "const %s v%u = PERMC_AT(kept%u, %u);", c_vector(f->w, c_part_bytes(s->type), 1),
             s->id[i], slot, i);
    } else {
      c_line(f->w, "PERMC_AT(kept%u, %u) = v%u;", slot, i, s->id[i]);
    }
}

static void keep_over_barrier(const c_pass *p, c_phase *f, uint32_t phase) {
  for (int after = 0; after < 2; after++) {
    for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
      const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
      if (use->out == C_NOWHERE)
        continue;
      if (!after)
        fill_registers(f, slot, use->after);
      keep_slot(f, slot, after);
    }
    if (!after && f->open)
      c_line(p->w, "}");
    f->open = f->open && after;
    if (!after)
      text_printf(&p->w->body, "    PERMC_END\n    %s\n    PERMC_THREADS(%u)\n", barrier(p),
                  1U << f->space->threads);
  }
}

static void phase_stores(c_pass *p, c_phase *f, uint32_t phase) {
  for (uint32_t i = 0; i < p->pass->store_count; i++)
    if (p->schedule.store_phase[i] == phase) {
      const plan_move *move = &p->pass->stores[i];
      fill_registers(f, move->slot, p->w->plan->arrays.items[move->array].type);
      store_slot(p, f, move);
    }
  if (p->w->warps && c_pass_turns_around(p, phase))
    keep_over_barrier(p, f, phase);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    if (use->out == C_NOWHERE)
      continue;
    fill_registers(f, slot, use->after);
    to_scratch(p, f, phase, slot);
  }
}

// What the phase leaves for others, as registers of constants.
static void fill_slots(const c_pass *p, c_phase *f, uint32_t phase) {
  const plan_phase *of = &p->schedule.phases[phase];
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    if (c_use_of(&p->schedule, p->pass, phase, slot)->out == C_NOWHERE)
      continue;
    net_id value = value_before(p, slot, of->first_op + of->op_count);
    f->slots[slot] = c_registers_of(p->w, f->space, p->stage->values.items[value]);
    for (uint32_t part = 0; part < c_parts(f->slots[slot].type); part++) {
      uint32_t id = fill_register(p, f, value, p->keyed[slot], part);
      for (size_t i = 0; i < (size_t)1 << f->space->r; i++)
        f->slots[slot].id[((size_t)part << f->space->r) + i] = id;
    }
  }
}

bool c_pass_beyond(const c_pass *p, const c_space *s, uint64_t block[F2_MAX],
                   uint64_t thread[F2_MAX]) {
  uint64_t most = 0;
  f2_space shared = f2_span(p->pass->tile.n, (int)(s->r + s->l), s->basis);
  if (!has_suffix(p) || s->threads == 0)
    return false;
  for (uint32_t i = 0; i < s->blocks; i++)
    most |= block[i] = f2_space_reduce(shared, s->block[i]);
  for (uint32_t i = 0; i < s->threads; i++)
    most |= thread[i] = f2_space_reduce(shared, s->basis[s->r + s->l + i]);
  return most >= p->pass->padding_start;
}

// A thread whose indices are all from the limit on has nothing to compute: its slots hold what they
// are filled with, which other threads may read. Whether a block was opened for those that have.
static bool skip_suffix(const c_pass *p, c_phase *f, uint32_t phase) {
  const c_space *s = f->space;
  uint64_t block[F2_MAX], thread[F2_MAX];
  if (!c_pass_beyond(p, s, block, thread))
    return false;
  c_line(p->w, "if (((%s) ^ (%s)) >= %s) {", c_linear(p->w, "b", s->blocks, block, false),
         c_linear(p->w, c_thread(p->w), s->threads, thread, true),
         c_number(p->w, p->pass->padding_start));
  fill_slots(p, f, phase);
  bool keeps = p->w->warps && c_pass_turns_around(p, phase);
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++)
    if (c_use_of(&p->schedule, p->pass, phase, slot)->out == C_NOWHERE)
      continue;
    else if (keeps)
      keep_slot(f, slot, false);
    else
      to_scratch(p, f, phase, slot);
  c_line(p->w, p->w->warps ? "} else {" : "continue;\n      }");
  memset(f->slots, 0, p->pass->slot_count * sizeof *f->slots);
  return p->w->warps;
}

bool c_pass_is_idle(const c_pass *p, uint32_t phase) {
  bool idle = true;
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    const c_use *use = c_use_of(&p->schedule, p->pass, phase, slot);
    idle = idle && !use->made && use->load == C_NOWHERE && use->in == C_NOWHERE;
  }
  for (uint32_t i = 0; i < p->pass->store_count; i++)
    idle = idle && p->schedule.store_phase[i] != phase;
  return idle;
}

// What has been written since the last call, in the writer's memory.
static const char *take_text(c_writer *w) {
  const char *item = arena_text(w->memory, &w->item);
  return c_format(w, "%s%s", item, arena_text(w->memory, &w->body));
}

// Whether a phase neither loads nor stores: all that it touches is scratch.
static bool stays_inside(const c_pass *p, uint32_t phase) {
  bool inside = true;
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++)
    inside = inside && c_use_of(&p->schedule, p->pass, phase, slot)->load == C_NOWHERE;
  for (uint32_t i = 0; i < p->pass->store_count; i++)
    inside = inside && p->schedule.store_phase[i] != phase;
  return inside;
}

// A call of a function that is named for its text.
static void add_function(const c_pass *p, const char *phase, text *out, text *functions) {
  c_writer *w = p->w;
  const char *all = c_format(w, "%s%s", p->prelude, phase);
  uint64_t hash = hash_bytes(all, strlen(all));
  const char *name = c_format(w, "permc_phase_%016llx", (unsigned long long)hash);
  text_printf(functions, "\n#ifndef %s_KNOWN\n#define %s_KNOWN\nPERMC_PHASE(%s)\n%s", name, name,
              name, all);
  text_string(functions, "PERMC_PHASE_END\n#endif\n");
  text_printf(out, "    PERMC_CALL(%s)\n", name);
}

// The phases, one after the other. Compilers take time that grows faster than a kernel (3.7 s for
// 310 KB, where 1.2 s will do), so phases of long ones are functions, which are called; that costs
// a few per cent of a short one's time.
static void add_phases(const c_pass *p, text *out, text *functions) {
  enum { LONG_KERNEL = 300000 };  // bytes of text
  size_t length = 0, written = 0;
  for (uint32_t i = 0; i < p->schedule.phase_count; i++)
    length += strlen(p->phases[i]);
  for (uint32_t i = 0; i < p->schedule.phase_count; i++) {
    const plan_phase *of = &p->schedule.phases[i];
    if (!*p->phases[i])
      continue;
    if (written++ && p->w->warps)
      text_printf(out, "    %s\n", barrier(p));
    text_printf(out, "    // phase %u: %u ops, 2^%u registers of 2^%u lanes\n", i, of->op_count,
                p->schedule.spaces[i].r, p->schedule.spaces[i].l);
    if (p->w->warps && length > LONG_KERNEL && stays_inside(p, i))
      add_function(p, p->phases[i], out, functions);
    else
      text_printf(out, "    {\n%s    }\n", p->phases[i]);
  }
}

static void write_phase(c_pass *p, uint32_t phase) {
  c_writer *w = p->w;
  p->phases[phase] = "";
  if (w->warps && c_pass_is_idle(p, phase))
    return;
  const plan_phase *of = &p->schedule.phases[phase];
  const c_space *space = &p->schedule.spaces[phase];
  size_t nodes = p->stage->nodes.count;
  c_phase f = {.w = w, .pass = p->pass, .stage = p->stage, .space = space};
  f.slots = NEW_ARRAY(w->memory, c_registers, p->pass->slot_count);
  f.values = NEW_ARRAY(w->memory, c_value, nodes);
  f.bounds = NEW_ARRAY(w->memory, const c_bound *, nodes);
  f.roots = NEW_ARRAY(w->memory, const struct c_root_access *, nodes);
  f.nodes = NEW_ARRAY(w->memory, net_id, nodes);
  w->next = w->others = 0;  // variables are in a block of their own: equal phases have equal text
  if (w->warps && c_pass_turns_around(p, phase))
    declare_kept(p, phase);
  if (w->warps)
    text_printf(&w->body, "    PERMC_THREADS(%u)\n", 1U << space->threads);
  else if (space->threads > 0)
    text_printf(&w->body, "    for (uint64_t t = 0; t < %llu; t++) {\n", 1ULL << space->threads);
  else
    text_string(&w->body, "    {\n");
  f.dead = c_pass_dead_registers(p, space);
  f.open = skip_suffix(p, &f, phase);
  phase_loads(p, &f, phase);
  phase_ops(p, &f, of->op_count, p->pass->ops + of->first_op);
  phase_stores(p, &f, phase);
  if (f.open)
    c_line(w, "}");
  text_string(&w->body, w->warps ? "    PERMC_END\n" : "    }\n");
  p->phases[phase] = take_text(w);
}

// ---- the function ----------------------------------------------------------------------------

static uint32_t block_bits(const c_pass *p) {
  return (uint32_t)(p->pass->tile.n - p->pass->tile.dimension);
}

// Item to block and loop indices.
static void write_item(c_pass *p) {
  c_writer *w = p->w;
  uint32_t blocks = block_bits(p);
  if (blocks > 0) {
    c_item(w, "const %s b = (%s)(item & %s);", w->index, w->index,
           c_number(w, f2_mask((int)blocks)));
    c_item(w, "(void)b;");
  }
  if (p->stage->loop_count > 0)
    c_item(w, "uint64_t o = item >> %u;", blocks);
  for (uint32_t i = p->stage->loop_count; i-- > 0;) {
    const char *extent = c_number(w, p->stage->extents[i]);
    c_item(w, "const int64_t o%u = (int64_t)(o %% %s);", i, extent);
    c_item(w, "o /= %s;", extent);
  }
}

// Tiles in which nothing is alive are left out.
static void write_live(c_pass *p) {
  c_writer *w = p->w;
  c_map m = c_map_of_forms(p->pass->live_count, p->pass->live, &p->schedule.spaces[0]);
  if (p->pass->live_count == 0)
    return;
  const char *bits = c_linear(w, "b", m.blocks, m.block, false);
  c_item(w, "if (((%s) ^ %s) != 0)", bits, c_number(w, m.constant));
  c_item(w, w->warps ? "  PERMC_SKIP;" : "  continue;");
}

// So are those whose least index is not below the limit.
static void write_limit(c_pass *p) {
  const c_space *s = &p->schedule.spaces[0];
  uint64_t least[F2_MAX];
  if (p->pass->padding_start == UINT64_MAX)
    return;
  for (uint32_t i = 0; i < s->blocks; i++)
    least[i] = f2_space_reduce(p->pass->tile, s->block[i]);
  c_item(p->w, "if ((%s) >= %s)", c_linear(p->w, "b", s->blocks, least, false),
         c_number(p->w, p->pass->padding_start));
  c_item(p->w, p->w->warps ? "  PERMC_SKIP;" : "  continue;");
}

// A buffer that is loaded, too, is in the caches: no stream.
static const char *stream_condition(const c_pass *p, net_id array) {
  const char *condition = c_format(p->w, "((uintptr_t)a%u & 63) == 0", array);
  for (uint32_t i = 0; i < p->pass->load_count; i++)
    condition = c_format(p->w, "%s && a%u != a%u", condition, array, p->pass->loads[i].array);
  return condition;
}

static void write_arrays(const c_pass *p, text *out) {
  for (net_id array = 0; array < p->w->plan->arrays.count; array++) {
    bool loaded = false, stored = false;
    for (uint32_t i = 0; i < p->pass->load_count; i++)
      loaded |= p->pass->loads[i].array == array;
    for (uint32_t i = 0; i < p->pass->store_count; i++)
      stored |= p->pass->stores[i].array == array;
    if (loaded || stored)
      text_printf(out, "  void *const a%u = arrays[%u];\n", array, array);
  }
  for (uint32_t i = 0; i < p->pass->store_count && p->streams; i++) {
    net_id array = p->pass->stores[i].array;
    bool again = false;
    for (uint32_t k = 0; k < i; k++)
      again |= p->pass->stores[k].array == array;
    if (!again)
      text_printf(out, "  const bool stream%u = %s;\n", array, stream_condition(p, array));
  }
}

// Each tile loads all of an array before it stores to one that may be the same buffer.
static bool in_place(const c_pass *p) {
  const plan_pass *pass = p->pass;
  for (uint32_t i = 0; i < pass->load_count; i++)
    for (uint32_t k = 0; k < pass->store_count; k++)
      if (net_map_equal(&pass->loads[i].map, &pass->stores[k].map) &&
          p->schedule.load_phase[i] > p->schedule.store_phase[k])
        return false;
  return true;
}

static void write_function(const c_pass *p, text *out, text *functions, uint32_t number) {
  text_printf(out,
              "\nvoid permc_pass_%u(void *const *arrays, uint64_t first, uint64_t last,\n"
              "                  void *memory, const permc_imports *imports) {\n"
              "  char *const scratch = memory;\n  (void)scratch;\n  (void)imports;\n",
              number);
  write_arrays(p, out);
  text_string(out, "  for (uint64_t item = first; item < last; item++) {\n");
  text_printf(out, "%s%s", p->prelude, p->skips);
  add_phases(p, out, functions);
  text_string(out, "  }\n");
  if (p->streams)
    text_string(out, "  PERMC_STREAMS_END();\n");
  text_string(out, "}\n");
}

uint32_t c_pass_arrays(const plan_pass *pass, net_id *arrays) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    net_id a =
        i < pass->load_count ? pass->loads[i].array : pass->stores[i - pass->load_count].array;
    uint32_t k = 0;
    while (k < count && arrays[k] != a)
      k++;
    arrays[k] = a;
    count += k == count;
  }
  return count;
}

// How many blocks shall find room on a multiprocessor at once, so that one computes while another
// exchanges: compilers else keep the addresses of all phases in registers (152 of them, and one
// block, where 64 and four blocks are a quarter faster). 0: as it comes, where nothing is computed.
static uint32_t blocks_at_once(const c_pass *p) {
  enum { REGISTERS = 65536, THREADS = 2048, SCRATCH = 160 << 10, BESIDES = 32, BESIDES_WIDE = 64 };
  uint64_t data = 0, threads = UINT64_C(1) << p->schedule.spaces[0].threads;
  bool wide = false;
  for (uint32_t slot = 0; slot < p->pass->slot_count; slot++) {
    data += (p->pass->slot_bytes[slot] + 3) / 4;
    wide |= p->pass->slot_bytes[slot] > 4;
  }
  data = (data << p->schedule.spaces[0].r) + (wide ? BESIDES_WIDE : BESIDES);
  uint64_t blocks = (data < 128 ? REGISTERS / data : REGISTERS / 128) / threads;
  if (blocks > THREADS / threads)
    blocks = THREADS / threads;
  if (blocks > SCRATCH / (p->schedule.scratch_bytes + 1))
    blocks = SCRATCH / (p->schedule.scratch_bytes + 1);
  return p->pass->op_count ? (uint32_t)blocks : 0;
}

// The kernel from behind its number on.
static void write_kernel(const c_pass *p, text *out, text *functions) {
  text_printf(out, ", %u, %u, %llu", 1U << p->schedule.spaces[0].threads, blocks_at_once(p),
              (unsigned long long)p->schedule.scratch_bytes);
  for (uint32_t i = 0; i < p->array_count; i++)
    text_printf(out, ", void *a%u", i);
  text_string(out,
              ", const permc_imports *imports)\n    (void)imports;\n    bool strange = false;\n"
              "    (void)strange;\n");
  text_printf(out, "%s%s", p->prelude, p->skips);
  add_phases(p, out, functions);
}

static void write_phases(c_pass *p) {
  c_writer *w = p->w;
  write_item(p);
  p->prelude = take_text(w);
  write_live(p);
  write_limit(p);
  for (uint32_t slot = 0, any = 0; slot < p->pass->slot_count && !any && !w->warps; slot++)
    if (p->keyed[slot] && (any = 1))
      c_item(w, "bool strange = false;");
  p->skips = take_text(w);
  p->phases = NEW_ARRAY(w->memory, const char *, p->schedule.phase_count);
  for (uint32_t phase = 0; phase < p->schedule.phase_count; phase++)
    write_phase(p, phase);
}

c_pass_facts c_pass_write(c_writer *w, text *out, text *functions, uint32_t number) {
  enum { MANY_BLOCKS = 9 };  // 2^9, a few per multiprocessor
  const plan_pass *pass = &w->plan->passes.items[number];
  c_online online;
  if (c_online_of(w, pass, &online)) {
    c_online_write(w, &online, out);
    permc_online *data = malloc(sizeof *data);
    out->failed |= !data;
    if (data)
      *data = online.data;
    return (c_pass_facts){online.scratch_bytes, true, 1U << online.threads, number, data};
  }
  c_pass p = c_pass_of(w, number);
  w->sums = w->warps && block_bits(&p) >= MANY_BLOCKS;
  p.keyed = c_keyed_slots(w, pass, &p.schedule);
  p.arrays = NEW_ARRAY(w->memory, net_id, pass->load_count + pass->store_count + 1);
  p.array_count = c_pass_arrays(pass, p.arrays);
  write_phases(&p);
  if (w->warps)
    write_kernel(&p, out, functions);
  else
    write_function(&p, out, functions, number);
  return (c_pass_facts){p.schedule.scratch_bytes, in_place(&p),
                        w->warps ? 1U << p.schedule.spaces[0].threads : 1, number, NULL};
}
