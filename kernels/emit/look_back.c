#include "kernels/emit/look_back.h"

// ---- levels ----------------------------------------------------------------------------------

static uint32_t shift_of(const net_op *op) { return (uint32_t)f2_msb(op->directions[0]); }

static const net_op *op_between(const c_look_back *l, uint32_t i) {
  return &l->stage->ops.items[l->plan->middle + i];
}

static uint32_t words_of(scalar_type type) {
  return scalar_parts(type) * (scalar_part_bytes(type) > 4 ? 2 : 1);
}

static void add_published(c_look_back *l, net_id value, uint32_t shift, uint32_t bits,
                          uint64_t *scratch_bytes) {
  scalar_type type = l->stage->values.items[value];
  l->first_word[value] = l->words;
  l->words += words_of(type) * (f2_unit(l->stage->n) >> shift);
  l->scratch[value] = *scratch_bytes;
  *scratch_bytes += ((scalar_types[type].size << bits) + 15) / 16 * 16;
}

// Values of a level are published where an op of the level reads them.
c_look_back *c_look_back_of(c_writer *w, const plan_look_back *p, uint64_t *scratch_bytes) {
  const net_stage *stage = p->stage;
  c_look_back *l = NEW(w->memory, c_look_back);
  *l = (c_look_back){.plan = p, .stage = stage, .words = 1};
  l->first_word = NEW_ARRAY(w->memory, uint64_t, stage->values.count + 1);
  l->scratch = NEW_ARRAY(w->memory, uint64_t, stage->values.count + 1);
  bool *published = NEW_ARRAY(w->memory, bool, stage->values.count + 1);
  for (uint32_t i = 0; i < p->in_count; i++)
    published[p->in[i]] = true;
  for (uint32_t i = 0; i < p->middle_count; i++)
    for (uint32_t o = 0; o < op_between(l, i)->output_count; o++)
      published[op_between(l, i)->outputs[o].value] |= plan_goes_up(op_between(l, i));
  *scratch_bytes = (*scratch_bytes + 15) / 16 * 16;
  w->look_back_needed = true;
  for (uint32_t i = 0; i < p->middle_count; i++) {
    const net_op *op = op_between(l, i);
    net_reads reads = net_op_reads(w->memory, stage, op);
    for (uint32_t k = 0; k < reads.count; k++)
      if (published[reads.values[k]] && !l->first_word[reads.values[k]])
        add_published(l, reads.values[k], shift_of(op), op->k, scratch_bytes);
  }
  return l;
}

uint64_t c_look_back_blocks(const c_look_back *l) {
  const plan_pass *pass = &l->plan->one->passes.items[0];
  uint64_t tile = f2_unit((int)l->plan->tile_bits), all = f2_unit(l->stage->n) / tile;
  return pass->padding_start / tile < all ? (pass->padding_start + tile - 1) / tile : all;
}

// The block's number among those of the level that the op is on.
static const char *place_of(const c_look_back *l, c_writer *w, const net_op *op) {
  return c_format(w, "(b >> %u & %u)", shift_of(op) - l->plan->tile_bits, (1U << op->k) - 1);
}

// Whether the block is the last one below a group.
static const char *is_last(const c_look_back *l, c_writer *w, const net_op *op) {
  uint64_t mask = f2_mask((int)(shift_of(op) - l->plan->tile_bits + op->k));
  return c_format(w, "((b & %s) == %s)", c_number(w, mask), c_number(w, mask));
}

// ---- what is asked of memory -----------------------------------------------------------------
//
// For a record (kernels/schedule/record.h); without one, nothing. The state is memory, as an array
// is. What the last block does to begin the next run is not noted.
//
//   block 0x35 of 2^8, by thread t: the total of 0x30 ^ t if t < 5, to word t of scratch
//     load, 8 bytes at 8 (1 + word), word = 0x30 ^ t:   word_of(4, 8, 4, 5)
//     put, 4 bytes at 4 word, word = t:                 word_of(0, 0, 0, 5)
//     a guard of both: t is from 0 to 0 ^ 5 - 1         end_column = word_of(0, 4, 0, 0).column

// Bits first ... end - 1 of the block's number, from bit `to` on, XOR the lowest bits of the
// thread's.
static xor_word word_of(const c_writer *w, uint32_t first, uint32_t end, uint32_t to,
                        uint32_t of_thread) {
  if (!w->record)
    return (xor_word){0};
  const c_space *s = w->record->space;
  uint64_t *column = NEW_ARRAY(w->record->memory, uint64_t, s->blocks + s->threads);
  for (uint32_t i = first; i < end; i++)
    column[i] = f2_unit((int)(i - first + to));
  for (uint32_t i = 0; i < of_thread && i < s->threads; i++)
    column[s->blocks + i] = f2_unit((int)i);
  return (xor_word){1, 0, column};
}

// So many bytes at base + unit * word.
enum { STATE = sizeof(uint64_t) };  // bytes of a word of state
static void note(c_writer *w, kernel_step_kind kind, uint32_t bytes, uint64_t base, uint32_t unit,
                 xor_word word) {
  if (!w->record)
    return;
  xor_word *words = NEW(w->record->memory, xor_word);
  *words = word;
  kernel_record_add(w->record, (kernel_step){.kind = kind,
                                             .bytes = bytes,
                                             .unit = unit,
                                             .base = base,
                                             .word_count = 1,
                                             .blocks = w->record->space->blocks,
                                             .words = words,
                                             .limit = UINT64_MAX});
}

// What follows is for threads from `first` on: for `last` of them in the last block of a group, or
// (0) in the other blocks for as many as there are blocks of the group before. Where nothing goes
// up, no block is last.
static void note_threads(const c_look_back *l, const c_phase *f, const net_op *op, uint32_t first,
                         uint32_t last, bool up) {
  uint32_t shift = shift_of(op) - l->plan->tile_bits, end = shift + op->k;
  uint64_t mask = f2_mask((int)end);
  thread_guard guard[2] = {
      {word_of(f->w, 0, 0, 0, f->space->threads), first, first + last,
       last ? NULL : word_of(f->w, shift, end, 0, 0).column},
      {word_of(f->w, 0, end, 0, 0), last ? mask : 0, last ? mask + 1 : mask, NULL}};
  kernel_record_begin(f->w->record, up ? 2 : 1, guard);
}

void c_look_back_begin(c_writer *w) {
  c_item(w, "PERMC_MARK(%s)", w->index);
  note(w, STEP_LOAD, sizeof(uint32_t), 0, STATE, word_of(w, 0, 0, 0, 0));
}

// ---- publishing ------------------------------------------------------------------------------

// To the element whose number is the block's without its lowest bits.
static void publish(const c_look_back *l, const c_phase *f, net_id value, uint32_t without,
                    const c_registers *from, uint32_t number, uint32_t r) {
  c_writer *w = f->w;
  scalar_type type = l->stage->values.items[value];
  uint32_t words = words_of(type), each = words / scalar_parts(type);
  const char *element = without ? c_format(w, "(b >> %u)", without) : "b";
  for (uint32_t word = 0; word < words; word++) {
    c_line(w, "permc_publish(state + %s + %u * (uint64_t)%s, mark, (uint32_t)(v%u%s));",
           c_number(w, l->first_word[value] + word), words, element,
           from->id[number + ((size_t)(word / each) << r)], word % each ? " >> 32" : "");
    note(w, STEP_STORE, STATE, STATE * (l->first_word[value] + word), STATE * words,
         word_of(w, without, f->space->blocks, 0, 0));
  }
}

void c_look_back_publish(const c_look_back *l, const c_phase *f, uint32_t number) {
  for (uint32_t i = 0; i < l->plan->in_count; i++)
    publish(l, f, l->plan->in[i], 0, &f->slots[f->pass->slot_of[l->plan->in[i]]], number,
            f->space->r);
}

// ---- an op by one thread ---------------------------------------------------------------------

// The elements of the op's coset are registers; what is below its level is 0.
static c_phase phase_of_op(const c_look_back *l, const c_phase *f, const net_op *op) {
  c_writer *w = f->w;
  c_space *space = NEW(w->memory, c_space);
  uint64_t *block = NEW_ARRAY(w->memory, uint64_t, f->space->blocks + 1);
  for (uint32_t i = 0; i < f->space->blocks; i++)
    block[i] =
        l->plan->tile_bits + i < shift_of(op) + op->k ? 0 : f2_unit((int)(l->plan->tile_bits + i));
  *space =
      (c_space){.blocks = f->space->blocks, .r = op->k, .block = block, .basis = op->directions};
  return c_phase_of(w, NULL, l->stage, space);
}

static void get_published(const c_look_back *l, c_phase *f, net_id value) {
  c_writer *w = f->w;
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type);
  c_registers *s = &f->slots[value];
  *s = c_registers_of(w, f->space, type);
  for (uint32_t i = 0; i < scalar_parts(type) << f->space->r; i++) {
    uint64_t place = l->scratch[value] + (uint64_t)i * bytes;
    s->id[i] =
        c_let(w, c_vector(w, bytes, 1), "PERMC_GET(%s, (%s *)(scratch + %llu))",
              c_vector(w, bytes, 1), c_vector_in_memory(w, bytes, 1), (unsigned long long)place);
    note(w, STEP_GET, bytes, place, bytes, word_of(w, 0, 0, 0, 0));
  }
  c_end_line(w);
}

// Executes it on what scratch has of its level, and what `above` has of the one above.
static c_phase execute(const c_look_back *l, c_phase *f, const net_op *op,
                       const c_registers *above) {
  c_phase own = phase_of_op(l, f, op);
  net_reads reads = net_op_reads(f->w->memory, l->stage, op);
  for (uint32_t i = 0; i < reads.count; i++) {
    net_id v = reads.values[i];
    scalar_type type = l->stage->values.items[v];
    if (l->first_word[v]) {
      get_published(l, &own, v);
      continue;
    }
    own.slots[v] = c_registers_of(f->w, own.space, type);
    for (uint32_t part = 0; part < scalar_parts(type); part++)
      own.slots[v].id[(size_t)part << op->k] = above[v].id[part];
  }
  c_execute(&own, op);
  c_end_line(f->w);
  return own;
}

// ---- waiting ---------------------------------------------------------------------------------

static void wait_for_value(const c_look_back *l, c_writer *w, const net_op *op, net_id value) {
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type), parts = scalar_parts(type), words = words_of(type);
  const char *group =
      c_format(w, "(b >> %u << %u)", shift_of(op) - l->plan->tile_bits + op->k, op->k);
  for (uint32_t part = 0; part < parts; part++)
    c_line(w,
           "PERMC_PUT(%s, (%s *)(scratch + %llu + (t & 31) * %u), (%s)%s(state + %s + %u * "
           "(uint64_t)(%s + (t & 31)), mark));",
           c_vector(w, bytes, 1), c_vector_in_memory(w, bytes, 1),
           (unsigned long long)(l->scratch[value] + ((uint64_t)part * bytes << op->k)), bytes,
           c_vector(w, bytes, 1), bytes > 4 ? "permc_look_wide" : "permc_look",
           c_number(w, l->first_word[value] + part * (words / parts)), words, group);
}

static void note_waiting(const c_look_back *l, const c_phase *f, const net_op *op, net_id value) {
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type), words = words_of(type),
           each = words / scalar_parts(type);
  uint32_t end = shift_of(op) - l->plan->tile_bits + op->k;
  for (uint32_t word = 0; word < words; word++) {
    note(f->w, STEP_LOAD, STATE, STATE * (l->first_word[value] + word), STATE * words,
         word_of(f->w, end, f->space->blocks, op->k, 5));
    if (word % each == each - 1)
      note(f->w, STEP_PUT, bytes, l->scratch[value] + ((uint64_t)(word / each) * bytes << op->k),
           bytes, word_of(f->w, 0, 0, 0, 5));
  }
}

// The ops of a level; those that go up first.
static uint32_t ops_of_level(const c_look_back *l, uint32_t shift, const net_op **ops,
                             uint32_t *up) {
  uint32_t count = 0;
  *up = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < l->plan->middle_count; i++) {
      const net_op *op = op_between(l, i);
      if (shift_of(op) != shift || plan_goes_up(op) != !pass)
        continue;
      ops[count++] = op;
      *up += !pass;
    }
  return count;
}

enum { FILLS_GPU = 1 << 10 };  // blocks: those of a GPU at once

// A warp waits for all that the block needs of the level, and the last block of a group publishes
// what the group comes to.
static void write_level(const c_look_back *l, c_phase *f, uint32_t shift, uint32_t warp) {
  c_writer *w = f->w;
  const net_op **ops = NEW_ARRAY(w->memory, const net_op *, l->plan->middle_count);
  bool *waited = NEW_ARRAY(w->memory, bool, l->stage->values.count + 1);
  uint32_t up, count = ops_of_level(l, shift, ops, &up), threads = 1U << f->space->threads;
  const char *limit = place_of(l, w, ops[0]);
  if (up)
    limit = c_format(w, "(%s ? %u : %s)", is_last(l, w, ops[0]), 1U << ops[0]->k, limit);
  text_printf(&w->body, "    PERMC_THREADS(%u)\n", threads);
  c_line(w, "if (t >> 5 == %u && (t & 31) < %s) {%s", warp, limit,
         c_look_back_blocks(l) >= FILLS_GPU ? " PERMC_PAUSE" : "");
  for (uint32_t i = 0; i < count; i++) {
    net_reads reads = net_op_reads(w->memory, l->stage, ops[i]);
    for (uint32_t k = 0; k < reads.count; k++)
      if (l->first_word[reads.values[k]] && !waited[reads.values[k]]) {
        waited[reads.values[k]] = true;
        wait_for_value(l, w, ops[i], reads.values[k]);
      }
  }
  c_line(w, "}");
  text_string(&w->body, "    PERMC_END PERMC_WARP\n");
  for (uint32_t last = 0; last < (up ? 2 : 1); last++) {
    note_threads(l, f, ops[0], 32 * warp, last << ops[0]->k, up);
    for (net_id value = 0; value < l->stage->values.count; value++)
      if (waited[value])
        note_waiting(l, f, ops[0], value);
  }
  if (!up)
    return;
  note_threads(l, f, ops[0], 32 * warp, 1, true);
  text_printf(&w->body, "    PERMC_THREADS(%u)\n", threads);
  c_line(w, "if (t == %u && %s) {", 32 * warp, is_last(l, w, ops[0]));
  for (uint32_t i = 0; i < up; i++) {
    c_phase own = execute(l, f, ops[i], NULL);
    for (uint32_t o = 0; o < ops[i]->output_count; o++)
      if (l->first_word[ops[i]->outputs[o].value])
        publish(l, f, ops[i]->outputs[o].value, shift - l->plan->tile_bits + ops[i]->k,
                &own.slots[ops[i]->outputs[o].value], 0, ops[i]->k);
  }
  c_line(w, "}");
  text_string(&w->body, "    PERMC_END\n");
}

void c_look_back_wait(const c_look_back *l, c_phase *f) {
  uint32_t level = 0, warps = f->space->threads > 5 ? 1U << (f->space->threads - 5) : 1;
  for (uint32_t shift = l->plan->tile_bits; (int)shift < l->stage->n;) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < l->plan->middle_count; i++)
      if (shift_of(op_between(l, i)) == shift)
        bits = op_between(l, i)->k;
    if (bits)
      write_level(l, f, shift, level++ % warps);
    kernel_record_begin(f->w->record, 0, NULL);
    shift += bits ? bits : 1;
  }
}

// ---- folding ---------------------------------------------------------------------------------

// Register `place` of those from `first` on, by the bits of place.
static const char *choose(c_writer *w, const char *place, const uint32_t *id, uint32_t first,
                          uint32_t bits) {
  if (bits == 0)
    return c_format(w, "v%u", id[first]);
  uint32_t half = 1U << (bits - 1);
  return c_format(w, "(%s & %u ? %s : %s)", place, half,
                  choose(w, place, id, first + half, bits - 1),
                  choose(w, place, id, first, bits - 1));
}

// The elements that are the block's.
static c_registers chosen_elements(const c_look_back *l, c_writer *w, const net_op *op,
                                   const c_registers *all) {
  c_registers chosen = {all->type, NEW_ARRAY(w->memory, uint32_t, scalar_parts(all->type))};
  uint32_t place = w->next++;
  c_line(w, "const uint32_t p%u = %s;", place, place_of(l, w, op));
  for (uint32_t part = 0; part < scalar_parts(all->type); part++) {
    chosen.id[part] = c_let(w, c_vector(w, scalar_part_bytes(all->type), 1), "%s",
                            choose(w, c_format(w, "p%u", place), all->id, part << op->k, op->k));
  }
  return chosen;
}

void c_look_back_fold(const c_look_back *l, c_phase *f, uint32_t number) {
  c_writer *w = f->w;
  c_line(w, "PERMC_LAST_MARK(%s)", c_number(w, c_look_back_blocks(l) - 1));
  c_registers *above = NEW_ARRAY(w->memory, c_registers, l->stage->values.count + 1);
  for (uint32_t i = 0; i < l->plan->middle_count; i++) {
    const net_op *op = op_between(l, i);
    if (plan_goes_up(op))
      continue;
    c_phase own = execute(l, f, op, above);
    for (uint32_t o = 0; o < op->output_count; o++)
      above[op->outputs[o].value] = chosen_elements(l, w, op, &own.slots[op->outputs[o].value]);
  }
  for (uint32_t i = 0; i < l->plan->out_count; i++) {
    net_id value = l->plan->out[i];
    c_registers *s = &f->slots[f->pass->slot_of[value]];
    *s = c_registers_of(w, f->space, l->stage->values.items[value]);
    for (uint32_t part = 0; part < scalar_parts(s->type); part++)
      s->id[number + ((size_t)part << f->space->r)] = above[value].id[part];
  }
}
