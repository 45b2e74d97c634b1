#include "kernels/emit/phase.h"
#include "kernels/emit/look_back.h"
#include "kernels/ops/exchange.h"
#include "kernels/transfer/transfer.h"

// What the phase does with a slot.
static const c_use *use_of(const pass_text *p, const c_phase *f, uint32_t slot) {
  return c_use_of(&p->of, f->number, slot);
}

// ---- padding that stays where it is (fusion/plan/padding.h) ----------------------------------

// Sets the registers of a slot that holds a value (those of padding alone, if only_padding) to what
// padding is in the value. As constants: compilers drop what is done to them.
static void set_padding_registers(const pass_text *p, c_phase *f, uint32_t slot, net_id value,
                                  bool keyed, bool only_padding) {
  static const scalar_type words[] = {SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_U64};
  c_registers *s = &f->slots[slot];
  c_value padding = c_known(s->type, c_pass_padding_value(&p->of, value));
  if (keyed) {
    uint32_t bytes = (uint32_t)scalar_types[s->type].size;
    padding =
        c_known(words[f2_msb(bytes)], (scalar_bits){.u64 = c_key_of(padding.known.u64, bytes)});
  }
  for (uint32_t part = 0; part < scalar_parts(s->type); part++) {
    uint32_t id = c_as_vector(p->w, &padding, part, 1U << f->space->l);
    for (size_t i = 0; i < (size_t)1 << f->space->r; i++)
      if (!only_padding || f->padding[i])
        s->id[((size_t)part << f->space->r) + i] = id;
  }
}

// ---- moves -----------------------------------------------------------------------------------

// A large array of which a tile is one stretch, and the next tile the next: processors foresee
// that, but not far enough where they compute in between.
static bool is_read_through(const pass_text *p, const plan_move *move, const xor_sum *map,
                            uint32_t parts) {
  enum { LARGE = 1 << 22 };  // bytes
  const net_array *a = &p->of.context->plan->arrays.items[move->array];
  uint64_t inside = xor_sum_rows_of_threads(map) | xor_sum_rows_of(map, UINT64_MAX);
  return !p->w->warps && p->of.pass->op_count > 0 &&
         a->count >= LARGE / scalar_types[a->type].size &&
         xor_sum_weight(map, inside) < (uint64_t)parts << p->of.pass->tile.dimension;
}

// Large arrays that are written once: their lines need not be read before, nor stay in the caches.
// A variable that says so, or NULL.
static const char *stream_of(pass_text *p, const plan_move *move, const xor_sum *map,
                             const c_space *space, scalar_type type) {
  uint64_t elements = p->of.context->plan->arrays.items[move->array].count;
  if (p->w->warps || elements < p->of.context->options->stream_bytes / scalar_types[type].size)
    return NULL;
  c_access access = c_access_of(map, space, type, C_CHUNK, 0);
  if (!c_access_streams(&access))
    return NULL;
  p->streams = true;
  return c_format(p->w, "stream%u", move->array);
}

static c_place memory_place(const pass_text *p, const c_phase *f, const plan_move *move) {
  c_place place = {.array = c_array_name(p->w, move->array),
                   .padding_start = move->padding_start,
                   .padding_value = move->padding_value};
  f2_space known = f->live;
  place.live = c_pass_live_of_move(&p->of, move, &known, &place.live_count);
  return place;
}

// Vectors are loaded whole: what is dead has the place of something alive.
static c_place scratch_place(const pass_text *p, const c_phase *f, uint32_t slot, bool out) {
  const c_use *use = use_of(p, f, slot);
  uint64_t region = p->of.schedule.region[out ? use->out : use->in][slot];
  c_place place = {.array = c_format(p->w, "(scratch + %llu)", (unsigned long long)region),
                   .padding_start = UINT64_MAX,
                   .padding = out ? NULL : f->padding,
                   .scratch = true,
                   .base = region};
  f2_space known = f->live;
  if (out || p->w->warps)
    place.live = c_pass_live_in_scratch(&p->of, f->number, slot, out, &known, &place.live_count);
  return place;
}

// From memory or scratch, if there is something to load.
static void load_slot(const pass_text *p, c_phase *f, uint32_t slot) {
  const c_use *use = use_of(p, f, slot);
  bool memory = use->load != C_NOWHERE;
  if (!memory && use->in == C_NOWHERE)
    return;
  const plan_move *move = memory ? &p->of.pass->loads[use->load] : NULL;
  scalar_type type = use->before.type;
  c_place place = memory ? memory_place(p, f, move) : scratch_place(p, f, slot, false);
  xor_sum map = memory ? xor_sum_of(p->w->memory, &move->map, f->space, scalar_parts(type))
                       : c_pass_scratch_map(&p->of, f->number, f->number, slot, type);
  place.ahead = memory && is_read_through(p, move, &map, scalar_parts(type));
  place.bytes = memory && net_array_has_bytes(&p->of.context->plan->arrays.items[move->array]);
  f->slots[slot] = c_registers_of(p->w, f->space, type);
  c_load(p->w, &map, f->space, type, &place, f->slots[slot].id);
  if (f->padding)
    set_padding_registers(p, f, slot, use->before.value, p->keyed[slot] && !memory, true);
  if (p->keyed[slot] && memory)
    c_to_keys(f, slot);
}

static void store_to_memory(pass_text *p, c_phase *f, const plan_move *move) {
  scalar_type type = f->slots[move->slot].type;
  xor_sum map = xor_sum_of(p->w->memory, &move->map, f->space, scalar_parts(type));
  c_place place = memory_place(p, f, move);
  place.padding = f->padding;
  place.stream = stream_of(p, move, &map, f->space, type);
  c_registers from = p->keyed[move->slot] ? c_from_keys(f, move->slot) : f->slots[move->slot];
  c_store(p->w, &map, f->space, type, &place, from.id);
}

static void store_to_scratch(const pass_text *p, const c_phase *f, uint32_t slot) {
  const c_registers *s = &f->slots[slot];
  xor_sum map = c_pass_scratch_map(&p->of, f->number, use_of(p, f, slot)->next, slot, s->type);
  c_place place = scratch_place(p, f, slot, true);
  c_store(p->w, &map, f->space, s->type, &place, s->id);
}

// ---- stores ----------------------------------------------------------------------------------

// Registers of which nothing matters that goes to scratch, whatever the block and the thread.
static bool *dead_registers(const pass_text *p, const c_phase *f, uint32_t slot) {
  uint32_t count;
  f2_space known = f->live;
  const net_form *live = c_pass_live_in_scratch(&p->of, f->number, slot, true, &known, &count);
  xor_sum m = xor_sum_of_forms(count, live, f->space);
  uint64_t dynamic = xor_sum_dynamic_rows(&m);
  uint64_t registers = UINT64_C(1) << f->space->r;
  bool *dead = NEW_ARRAY(p->w->memory, bool, registers);
  memset(dead, true, registers);
  for (uint64_t x = 0; x < registers << f->space->l; x++)  // of each lane
    if (!(xor_sum_rows_at(&m, x) & ~dynamic))
      dead[x & (registers - 1)] = false;
  return dead;
}

// Registers that no op has written, in slots that are stored, become zero, but for dead ones.
static void zero_unwritten_registers(c_phase *f, uint32_t slot, scalar_type type,
                                     const bool *dead) {
  c_registers *s = &f->slots[slot];
  uint32_t lanes = 1U << f->space->l;
  if (!s->id)
    *s = c_registers_of(f->w, f->space, type);
  for (size_t i = 0; i < (size_t)scalar_parts(s->type) << f->space->r; i++)
    if (s->id[i] == UINT32_MAX && !(dead && dead[i & f2_mask((int)f->space->r)]))
      s->id[i] =
          c_let(f->w, c_vector(f->w, scalar_part_bytes(s->type), lanes), "%s", c_zero(lanes));
}

const char *c_barrier(const pass_text *p) {
  for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++)
    if (p->keyed[slot])
      return "PERMC_BARRIER_OR(odd_nan)";
  return "PERMC_BARRIER";
}

// The bits of threads, where lanes are vectors without the last ones if nothing matters but where
// those are 0.
static uint32_t thread_bits(const pass_text *p, const c_phase *f) {
  uint32_t count, first = 0, bits = f->space->threads;
  f2_space known = c_pass_live_of_blocks(&p->of);
  const net_form *live = c_pass_live_threads(&p->of, f->number, &known, &count);
  if (p->w->warps || count == 0)
    return bits;
  xor_sum m = xor_sum_of_forms(count, live, f->space);
  f2_space last = f2_space_zero((int)count);
  while (first < bits && m.thread[first] == 0)
    first++;
  for (uint32_t i = first; i < bits; i++)
    f2_space_insert(&last, m.thread[i]);
  bool alone = m.constant == 0 && xor_sum_rows_of_blocks(&m) == 0;
  return alone && last.dimension == (int)(bits - first) ? first : bits;
}

// Threads of which nothing matters have nothing to do. Opens a block for the others.
static void skip_dead_threads(const pass_text *p, c_phase *f) {
  uint32_t count;
  f2_space known = c_pass_live_of_blocks(&p->of);
  const net_form *live = c_pass_live_threads(&p->of, f->number, &known, &count);
  if (count == 0)
    return;
  f->live = known;
  if (thread_bits(p, f) < f->space->threads)
    return;  // the loop ends before them
  c_begin_live(p->w, count, live, f->space);
  f->open = true;
}

// Where all threads read scratch before any writes, what goes there is kept over the barrier.
static void write_spills_and_threads(const pass_text *p, const c_phase *f) {
  text *out = &p->w->body;
  const char *before = "    ";
  bool spills = c_pass_reads_and_writes(&p->of, f->number);
  for (uint32_t slot = 0; slot < p->of.pass->slot_count && spills; slot++) {
    const c_use *use = use_of(p, f, slot);
    if (use->out == C_NOWHERE)
      continue;
    text_printf(out, "%sPERMC_VALUES(%s, spill%u, %u, %u)", before,
                c_vector(p->w, scalar_part_bytes(use->after.type), 1), slot,
                scalar_parts(use->after.type) << f->space->r, 1U << f->space->threads);
    before = "\n    ";
  }
  text_printf(out, "%sPERMC_THREADS(%u)\n", *before == ' ' ? before : " ", 1U << f->space->threads);
}

// What is alive of the slot, to where it is kept over the barrier, or back.
static void spill_slot(c_phase *f, uint32_t slot, const bool *dead, bool back) {
  c_registers *s = &f->slots[slot];
  const char *type = c_vector(f->w, scalar_part_bytes(s->type), 1);
  for (uint32_t i = 0; i < scalar_parts(s->type) << f->space->r; i++) {
    if (dead[i & f2_mask((int)f->space->r)])
      continue;
    if (back)
      s->id[i] = c_let(f->w, type, "PERMC_AT(spill%u, %u)", slot, i);
    else
      c_join(f->w, "PERMC_AT(spill%u, %u) = v%u;", slot, i, s->id[i]);
  }
}

static void close_block(c_phase *f) {
  if (f->open)
    c_line(f->w, "}");
  f->open = false;
  kernel_record_begin(f->w->record, 0, NULL);
}

static void end_threads(c_phase *f) {
  close_block(f);
  if (f->w->warps || f->space->threads > 0)
    text_string(&f->w->body, f->w->warps ? "    PERMC_END\n" : "    }\n");
}

static void record_barrier(c_writer *w) {
  if (w->record && w->record->steps.count > 0)
    kernel_record_add(w->record, (kernel_step){.kind = STEP_BARRIER});
}

// All threads once more, behind a barrier.
static void begin_threads(const pass_text *p, c_phase *f, const char *barrier) {
  text_printf(&p->w->body, "    %s PERMC_THREADS(%u)\n", barrier, 1U << f->space->threads);
  c_end_line(p->w);
  record_barrier(p->w);
  skip_dead_threads(p, f);
}

static void write_stores(pass_text *p, c_phase *f) {
  uint32_t *out = NEW_ARRAY(p->w->memory, uint32_t, p->of.pass->slot_count), count = 0;
  const bool **dead = NEW_ARRAY(p->w->memory, const bool *, p->of.pass->slot_count);
  for (uint32_t i = 0; i < p->of.pass->store_count; i++)
    if (p->of.schedule.store_phase[i] == f->number) {
      const plan_move *move = &p->of.pass->stores[i];
      zero_unwritten_registers(f, move->slot, p->of.context->plan->arrays.items[move->array].type,
                               NULL);
      store_to_memory(p, f, move);
    }
  for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++)
    if (use_of(p, f, slot)->out != C_NOWHERE) {
      dead[count] = dead_registers(p, f, slot);
      zero_unwritten_registers(f, slot, use_of(p, f, slot)->after.type, dead[count]);
      out[count++] = slot;
    }
  bool spills = p->w->warps && c_pass_reads_and_writes(&p->of, f->number);
  for (uint32_t i = 0; i < count && spills; i++)
    spill_slot(f, out[i], dead[i], false);
  if (spills) {
    close_block(f);
    begin_threads(p, f, c_format(p->w, "PERMC_END %s", c_barrier(p)));
  }
  for (uint32_t i = 0; i < count && spills; i++)
    spill_slot(f, out[i], dead[i], true);
  for (uint32_t i = 0; i < count; i++)
    store_to_scratch(p, f, out[i]);
}

// ---- looking back ----------------------------------------------------------------------------

// In place of the op that stands for those between. The elements that matter to it are in one
// register, whatever the block and the thread.
static void write_look_back(const pass_text *p, c_phase *f) {
  const net_op *op = &p->of.stage->ops.items[p->of.pass->ops[f->first_op]];
  xor_sum m = xor_sum_of_forms(op->live_count, op->live, f->space);
  uint64_t dynamic = xor_sum_dynamic_rows(&m);
  uint32_t number = 0;
  while (xor_sum_rows_at(&m, number) & ~dynamic)
    number++;
  assert(number >> f->space->r == 0);
  if (!f->open)
    c_begin_live(p->w, op->live_count, op->live, f->space);
  f->open = true;
  c_look_back_publish(p->look_back, f, number);
  end_threads(f);
  c_look_back_wait(p->look_back, f);
  begin_threads(p, f, "PERMC_BARRIER");
  c_look_back_fold(p->look_back, f, number);
}

// ---- the phase -------------------------------------------------------------------------------

// What follows is for threads whose least index is one of first ... end - 1.
static void record_least(kernel_record *r, const c_space *s, const uint64_t *block,
                         const uint64_t *thread, uint64_t first, uint64_t end) {
  if (!r)
    return;
  uint64_t *column = NEW_ARRAY(r->memory, uint64_t, s->blocks + s->threads);
  memcpy(column, block, s->blocks * sizeof *block);
  memcpy(column + s->blocks, thread, s->threads * sizeof *thread);
  kernel_record_begin(r, 1, &(thread_guard){{1, 0, column}, first, end, NULL});
}

// A thread with padding alone has nothing to compute: its slots hold what padding is, which other
// threads may read. Whether a block was opened for the other threads.
static bool skip_padding_threads(const pass_text *p, c_phase *f) {
  const c_space *s = f->space;
  uint64_t block[F2_MAX], thread[F2_MAX];
  if (!c_pass_has_padding_threads(&p->of, s, block, thread))
    return false;
  c_line(p->w, "if (((%s) ^ (%s)) >= %s) {", c_linear(p->w, "b", s->blocks, block, false),
         c_linear(p->w, c_thread(p->w), s->threads, thread, true),
         c_number(p->w, p->of.pass->padding_start));
  record_least(p->w->record, s, block, thread, p->of.pass->padding_start, UINT64_MAX);
  for (int store = 0; store < 2; store++)
    for (uint32_t slot = 0; slot < p->of.pass->slot_count; slot++) {
      const c_use *use = use_of(p, f, slot);
      if (use->out == C_NOWHERE)
        continue;
      if (!store) {
        f->slots[slot] = c_registers_of(p->w, s, use->after.type);
        set_padding_registers(p, f, slot, use->after.value, p->keyed[slot], false);
      } else if (p->w->warps && c_pass_reads_and_writes(&p->of, f->number)) {
        spill_slot(f, slot, dead_registers(p, f, slot), false);
      } else {
        store_to_scratch(p, f, slot);
      }
    }
  c_line(p->w, p->w->warps ? "} else {" : "continue;\n      }");
  record_least(p->w->record, s, block, thread, 0, p->of.pass->padding_start);
  memset(f->slots, 0, p->of.pass->slot_count * sizeof *f->slots);
  return p->w->warps;
}

const char *c_take_text(c_writer *w) {
  const char *item = c_format(w, "%s", w->item.length ? w->item.data : "");
  if (w->body.failed || w->item.failed)
    arena_fail(w->memory);
  const char *all = c_format(w, "%s%s", item, w->body.length ? w->body.data : "");
  text_free(&w->item);
  text_free(&w->body);
  c_end_line(w);
  return all;
}

const char *c_phase_write(pass_text *p, uint32_t phase) {
  c_writer *w = p->w;
  c_activity does = c_pass_activity(&p->of, phase);
  // Another phase may have left one that was to load or store nothing to do.
  if (w->warps && !does.makes && !does.loads && !does.stores && !does.reads)
    return "";
  const c_space *space = &p->of.schedule.spaces[phase];
  c_phase f = c_phase_of(w, p->of.pass, p->of.stage, space);
  f.number = phase;
  f.first_op = p->of.schedule.phases[phase].first_op;
  record_barrier(w);
  w->next = w->others = 0;  // variables are in a block of their own: equal phases have equal text
  if (w->warps)
    write_spills_and_threads(p, &f);
  else if (space->threads > 0)
    text_printf(&w->body, "    for (uint64_t t = 0; t < %llu; t++) {\n",
                1ULL << thread_bits(p, &f));
  f.padding = c_pass_padding_registers(&p->of, space);
  f.live = c_pass_live_of_blocks(&p->of);
  f.open = skip_padding_threads(p, &f);
  skip_dead_threads(p, &f);
  for (uint32_t slot = 0; slot < f.pass->slot_count; slot++)
    load_slot(p, &f, slot);
  if (p->look_back && p->of.schedule.phases[phase].op_count > 0 &&
      p->of.pass->ops[f.first_op] == p->look_back->plan->middle)
    write_look_back(p, &f);
  else
    c_phase_write_ops(p, &f);
  write_stores(p, &f);
  end_threads(&f);
  const char *code = c_take_text(w), *undefined = c_undefined_variable(w, code);
  if (undefined)
    p->of.context->problem = c_format(
        w, "%s is used in phase %u and not defined (please report this)", undefined, phase);
  return code;
}
