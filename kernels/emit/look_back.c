#include "kernels/emit/look_back.h"

// ---- levels ----------------------------------------------------------------------------------

static uint32_t shift_of(const net_op *op) { return (uint32_t)f2_msb(op->directions[0]); }

static const net_op *op_between(const c_look_back *l, uint32_t i) {
  return &l->stage->ops.items[l->plan->middle + i];
}

static uint32_t words_of(scalar_type type) {
  return scalar_parts(type) * (scalar_part_bytes(type) > 4 ? 2 : 1);
}

// ---- looks -----------------------------------------------------------------------------------

static const c_look *look_of(const c_look_back *l, uint32_t shift) {
  const c_look *look = l->looks;
  while (shift >= look->shift + look->bits)
    look++;
  return look;
}

// Whether it is of the lower of two levels that are joined.
static bool is_lower(const c_look_back *l, const net_op *op) {
  const c_look *look = look_of(l, shift_of(op));
  return look->upper && shift_of(op) == look->shift;
}

// The bits of the level that begins there; 0: none does.
static uint32_t bits_of_level(const c_look_back *l, uint32_t shift) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < l->plan->middle_count && !bits; i++)
    if (shift_of(op_between(l, i)) == shift)
      bits = op_between(l, i)->k;
  return bits;
}

// Levels are joined where threads look at few elements each, and where a warp can do what the upper
// one has to. Looks take warps of their own as long as there are some, so that none waits for
// another.
static void find_looks(c_writer *w, c_look_back *l) {
  enum { MOST_EACH_LOG = 2, LANES_LOG = 5, LANES = 1 << LANES_LOG };
  uint32_t next = 0, all = 1U << l->threads;
  bool again = false;
  l->looks = NEW_ARRAY(w->memory, c_look, l->stage->n + 1);
  for (uint32_t shift = l->plan->tile_bits; (int)shift < l->stage->n;) {
    uint32_t bits = bits_of_level(l, shift), upper = bits_of_level(l, shift + bits);
    if (!bits) {
      shift++;
      continue;
    }
    upper = bits < MOST_EACH_LOG || upper > LANES_LOG || bits + upper > l->threads + MOST_EACH_LOG
                ? 0
                : upper;
    c_look look = {.shift = shift, .bits = bits + upper, .upper = upper, .each = 2};
    while (1U << look.bits > look.each << l->threads)
      look.each *= 2;
    look.threads = (1U << look.bits) / look.each;
    uint32_t room = look.threads > LANES ? look.threads : LANES;
    look.first = (next + room - 1) / room * room;
    again |= look.first + room > all;
    if (look.first + room > all)
      look.first = 0;
    look.pauses = !again;
    next = look.first + room;
    l->looks[l->look_count++] = look;
    shift += look.bits;
  }
}

// ---- what is published -----------------------------------------------------------------------

static void add_published(c_look_back *l, net_id value, uint32_t shift, uint32_t bits,
                          uint64_t *scratch_bytes) {
  scalar_type type = l->stage->values.items[value];
  l->first_word[value] = l->words;
  l->words += words_of(type) * (f2_unit(l->stage->n) >> shift);
  l->scratch[value] = *scratch_bytes;
  l->level[value] = shift;
  *scratch_bytes += ((scalar_types[type].size << bits) + 15) / 16 * 16;
}

// Values of a level are published where an op of the level reads them.
c_look_back *c_look_back_of(c_writer *w, const plan_look_back *p, uint32_t threads,
                            uint64_t *scratch_bytes) {
  const net_stage *stage = p->stage;
  c_look_back *l = NEW(w->memory, c_look_back);
  *l = (c_look_back){.plan = p, .stage = stage, .threads = threads, .words = 1};
  l->first_word = NEW_ARRAY(w->memory, uint64_t, stage->values.count + 1);
  l->scratch = NEW_ARRAY(w->memory, uint64_t, stage->values.count + 1);
  l->level = NEW_ARRAY(w->memory, uint32_t, stage->values.count + 1);
  bool *published = NEW_ARRAY(w->memory, bool, stage->values.count + 1);
  for (uint32_t i = 0; i < p->in_count; i++)
    published[p->in[i]] = true;
  for (uint32_t i = 0; i < p->middle_count; i++)
    for (uint32_t o = 0; o < op_between(l, i)->output_count; o++)
      published[op_between(l, i)->outputs[o].value] |= plan_goes_up(op_between(l, i));
  *scratch_bytes = (*scratch_bytes + 15) / 16 * 16;
  w->look_back_needed = true;
  find_looks(w, l);
  for (uint32_t i = 0; i < p->middle_count; i++) {
    const net_op *op = op_between(l, i);
    net_reads reads = net_op_reads(w->memory, stage, op);
    uint32_t bits = is_lower(l, op) ? look_of(l, shift_of(op))->bits : op->k;
    for (uint32_t k = 0; k < reads.count; k++)
      if (published[reads.values[k]] && !l->first_word[reads.values[k]])
        add_published(l, reads.values[k], shift_of(op), bits, scratch_bytes);
  }
  return l;
}

uint64_t c_look_back_blocks(const c_look_back *l) {
  const plan_pass *pass = &l->plan->one->passes.items[0];
  uint64_t tile = f2_unit((int)l->plan->tile_bits), all = f2_unit(l->stage->n) / tile;
  return pass->padding_start / tile < all ? (pass->padding_start + tile - 1) / tile : all;
}

// The block's number among 2^bits, from a bit of the index on.
static const char *place_of(const c_look_back *l, c_writer *w, uint32_t shift, uint32_t bits) {
  return c_format(w, "(b >> %u & %u)", shift - l->plan->tile_bits, (1U << bits) - 1);
}

// Whether the block is the last one below a group: of those up to that bit of the index.
static const char *is_last(const c_look_back *l, c_writer *w, uint32_t end) {
  const char *mask = c_number(w, f2_mask((int)(end - l->plan->tile_bits)));
  return c_format(w, "((b & %s) == %s)", mask, mask);
}

// ---- what is asked of memory -----------------------------------------------------------------
//
// As words (kernels/schedule/record.h) of the bits of the block's and the thread's numbers. They
// are written as text, and noted for a record, if there is one. The state is memory, as an array
// is. What the last block does to begin the next run is not noted.
//
//   block 0x35 of 2^8, by thread t: the total of 0x30 ^ t if t < 5, to scratch
//     load, 8 bytes at 8 (1 + word), word = 0x30 ^ t:    block bits 4-7 to 4, thread bits 0-3 to 0
//     put, 4 bytes at 4 word, word = t:                  thread bits 0-3 to 0
//     a guard of both: t is from 0 to 0 ^ 5 - 1          end_column: block bits 0-3 to 0

// Bits first ... end - 1 of a number, to bits from `to` on.
typedef struct bit_range {
  uint32_t first, end, to;
} bit_range;

static const bit_range none;

static xor_word word_of(const c_phase *f, bit_range block, bit_range thread, uint64_t constant) {
  const c_space *s = f->space;
  arena *memory = f->w->record ? f->w->record->memory : f->w->memory;
  uint64_t *column = NEW_ARRAY(memory, uint64_t, s->blocks + s->threads + 1);
  for (uint32_t i = block.first; i < block.end; i++)
    column[i] = f2_unit((int)(i - block.first + block.to));
  for (uint32_t i = thread.first; i < thread.end && i < s->threads; i++)
    column[s->blocks + i] = f2_unit((int)(i - thread.first + thread.to));
  return (xor_word){1, constant, column};
}

static const char *text_of(const c_phase *f, xor_word word) {
  const c_space *s = f->space;
  const char *parts[] = {c_linear(f->w, "b", s->blocks, word.column, false),
                         c_linear(f->w, "t", s->threads, word.column + s->blocks, false),
                         c_number(f->w, word.constant)};
  const char *sum = NULL;
  for (int i = 0; i < 3; i++)
    if (strcmp(parts[i], "0") != 0)
      sum = sum ? c_format(f->w, "%s ^ %s", sum, parts[i]) : parts[i];
  return sum ? c_format(f->w, "(%s)", sum) : "0";
}

// A pointer to an element of so many bytes, at that place from `region` on.
static const char *scratch_at(const c_phase *f, uint64_t region, uint32_t bytes, xor_word place) {
  const char *type = c_vector_in_memory(f->w, bytes, 1);
  uint64_t constant = place.constant;
  place.constant = 0;
  const char *linear = text_of(f, place);
  if (strcmp(linear, "0") == 0)
    return c_format(f->w, "(%s *)(scratch + %llu)", type,
                    (unsigned long long)(region + constant * bytes));
  return c_format(f->w, "(%s *)(scratch + %llu + (%s ^ %llu) * %u)", type,
                  (unsigned long long)region, linear, (unsigned long long)constant, bytes);
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

// The elements of a look in scratch. Those of the lower of two levels lie so that the threads that
// have a group each meet in no bank: element i of group g is at i ^ g in the group.
static xor_word spread(const c_look *look, const c_phase *f, xor_word element) {
  if (!look->upper)
    return element;
  uint32_t lower = look->bits - look->upper, count = f->space->blocks + f->space->threads;
  xor_word at = word_of(f, none, none, element.constant ^ element.constant >> lower);
  for (uint32_t i = 0; i < count; i++)
    at.column[i] = element.column[i] ^ element.column[i] >> lower;
  return at;
}

void c_look_back_begin(c_writer *w) {
  c_item(w, "PERMC_MARK(%s)", w->index);
  if (!w->record)
    return;
  const c_space *s = w->record->space;
  uint64_t *zero = NEW_ARRAY(w->record->memory, uint64_t, s->blocks + s->threads + 1);
  note(w, STEP_LOAD, sizeof(uint32_t), 0, STATE, (xor_word){1, 0, zero});
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
         word_of(f, (bit_range){without, f->space->blocks, 0}, none, 0));
  }
}

void c_look_back_publish(const c_look_back *l, const c_phase *f, uint32_t number) {
  for (uint32_t i = 0; i < l->plan->in_count; i++)
    publish(l, f, l->plan->in[i], 0, &f->slots[f->pass->slot_of[l->plan->in[i]]], number,
            f->space->r);
}

// ---- an op by one thread ---------------------------------------------------------------------

// It is executed on the block's group of the level, or (groups) on one of 2^groups by thread.
//
// The elements of the op's coset are registers; what is below its level is 0.
static c_phase phase_of_op(const c_look_back *l, const c_phase *f, const net_op *op,
                           uint32_t groups) {
  c_writer *w = f->w;
  c_space *space = NEW(w->memory, c_space);
  uint32_t end = shift_of(op) + op->k, threads = f->space->threads;
  uint64_t *block = NEW_ARRAY(w->memory, uint64_t, f->space->blocks + 1);
  uint64_t *basis = NEW_ARRAY(w->memory, uint64_t, op->k + threads + 1);
  memcpy(basis, op->directions, op->k * sizeof *basis);
  for (uint32_t i = 0; i < groups; i++)
    basis[op->k + i] = f2_unit((int)(end + i));
  for (uint32_t i = 0; i < f->space->blocks; i++)
    if (l->plan->tile_bits + i >= end + groups)
      block[i] = f2_unit((int)(l->plan->tile_bits + i));
  *space = (c_space){
      .blocks = f->space->blocks, .threads = threads, .r = op->k, .block = block, .basis = basis};
  return c_phase_of(w, NULL, l->stage, space);
}

// Where it has element i of the group in scratch.
static xor_word place_in_scratch(const c_look_back *l, const c_phase *f, const net_op *op,
                                 uint32_t groups, uint64_t i) {
  const c_look *look = look_of(l, shift_of(op));
  uint32_t from = groups ? 0 : shift_of(op) + op->k - l->plan->tile_bits;
  bit_range own = {from, from + look->upper, op->k};
  if (!is_lower(l, op))
    return word_of(f, none, none, i);
  return spread(look, f, groups ? word_of(f, none, own, i) : word_of(f, own, none, i));
}

static void get_published(const c_look_back *l, const c_phase *f, c_phase *own, const net_op *op,
                          net_id value, uint32_t groups) {
  c_writer *w = f->w;
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type);
  uint32_t bits = is_lower(l, op) ? look_of(l, shift_of(op))->bits : op->k;
  c_registers *s = &own->slots[value];
  *s = c_registers_of(w, own->space, type);
  for (uint32_t i = 0; i < scalar_parts(type) << op->k; i++) {
    uint64_t region = l->scratch[value] + ((uint64_t)(i >> op->k) * bytes << bits);
    xor_word place = place_in_scratch(l, f, op, groups, i & (uint32_t)f2_mask((int)op->k));
    s->id[i] = c_let(w, c_vector(w, bytes, 1), "PERMC_GET(%s, %s)", c_vector(w, bytes, 1),
                     scratch_at(f, region, bytes, place));
    note(w, STEP_GET, bytes, region, bytes, place);
  }
  c_end_line(w);
}

// Executes it on what scratch has of its level, and what `above` has of the one above.
static c_phase execute(const c_look_back *l, c_phase *f, const net_op *op, const c_registers *above,
                       uint32_t groups) {
  c_phase own = phase_of_op(l, f, op, groups);
  net_reads reads = net_op_reads(f->w->memory, l->stage, op);
  for (uint32_t i = 0; i < reads.count; i++) {
    net_id v = reads.values[i];
    scalar_type type = l->stage->values.items[v];
    if (l->first_word[v]) {
      get_published(l, f, &own, op, v, groups);
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

// The number of element i of a thread among those of the look.
static xor_word element_of_thread(const c_phase *f, const c_look *look, uint64_t i) {
  return word_of(f, none, (bit_range){0, (uint32_t)f2_msb(look->threads), 0}, i * look->threads);
}

// Element i of those that a thread has looked at, to scratch.
static void put_looked(const c_look_back *l, const c_phase *f, const c_look *look, net_id value,
                       uint32_t i, uint32_t found) {
  c_writer *w = f->w;
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type), pieces = words_of(type);
  const char *of = c_vector(w, bytes, 1);
  xor_word place = spread(look, f, element_of_thread(f, look, i));
  for (uint32_t part = 0; part < scalar_parts(type); part++) {
    uint64_t region = l->scratch[value] + ((uint64_t)part * bytes << look->bits);
    uint32_t k = i * pieces + part * (bytes > 4 ? 2 : 1);
    const char *high = bytes > 4 ? c_format(w, " | x%u[%u] << 32", found, k + 1) : "";
    c_line(w, "PERMC_PUT(%s, %s, (%s)((uint32_t)x%u[%u]%s));", of,
           scratch_at(f, region, bytes, place), of, found, k, high);
  }
}

static void note_looked(const c_look_back *l, const c_phase *f, const c_look *look, net_id value,
                        uint32_t i) {
  scalar_type type = l->stage->values.items[value];
  uint32_t bytes = scalar_part_bytes(type), pieces = words_of(type);
  uint32_t end = look->shift + look->bits - l->plan->tile_bits;
  xor_word from = word_of(f, (bit_range){end, f->space->blocks, look->bits},
                          (bit_range){0, (uint32_t)f2_msb(look->threads), 0}, i * look->threads);
  for (uint32_t k = 0; k < pieces; k++)
    note(f->w, STEP_LOAD, STATE, STATE * (l->first_word[value] + k), STATE * pieces, from);
  for (uint32_t part = 0; part < scalar_parts(type); part++)
    note(f->w, STEP_PUT, bytes, l->scratch[value] + ((uint64_t)part * bytes << look->bits), bytes,
         spread(look, f, element_of_thread(f, look, i)));
}

// What follows is for element i of the threads that look: in the last block of a group as many as
// the group has blocks, else as many as there are blocks before.
static void note_threads(const c_look_back *l, const c_phase *f, const c_look *look, uint32_t i,
                         bool last, bool up) {
  uint32_t shift = look->shift - l->plan->tile_bits, end = shift + look->bits;
  uint32_t log = (uint32_t)f2_msb(look->threads);
  uint64_t mask = f2_mask((int)end), own = look->first / look->threads;
  thread_guard guard[] = {
      {element_of_thread(f, look, i), 0, last ? 1U << look->bits : 0,
       last ? NULL : word_of(f, (bit_range){shift, end, 0}, none, 0).column},
      {word_of(f, none, (bit_range){log, f->space->threads, 0}, 0), own, own + 1, NULL},
      {word_of(f, (bit_range){0, end, 0}, none, 0), last ? mask : 0, last ? mask + 1 : mask, NULL}};
  kernel_record_begin(f->w->record, up ? 3 : 2, guard);
}

// Whether something goes up from the level that ends at that bit of the index.
static bool goes_above(const c_look_back *l, uint32_t end) {
  bool above = false;
  for (uint32_t i = 0; i < l->plan->middle_count; i++)
    above |=
        plan_goes_up(op_between(l, i)) && shift_of(op_between(l, i)) + op_between(l, i)->k == end;
  return above;
}

// How many blocks of the group before the block, or all for the last below a group.
static const char *wanted_by_block(const c_look_back *l, c_writer *w, const c_look *look) {
  uint32_t end = look->shift + look->bits;
  const char *place = place_of(l, w, look->shift, look->bits);
  return goes_above(l, end)
             ? c_format(w, "(%s ? %u : %s)", is_last(l, w, end), 1U << look->bits, place)
             : place;
}

// Whether it is a value of a look's lower level, which blocks have published.
static bool is_looked(const c_look_back *l, const c_look *look, net_id value) {
  return l->first_word[value] && l->level[value] == look->shift;
}

static void write_look(const c_look_back *l, c_phase *f, const c_look *look) {
  enum { FILLS_GPU = 1 << 10 };  // blocks: those of a GPU at once
  c_writer *w = f->w;
  uint32_t end = look->shift + look->bits - l->plan->tile_bits, id = w->next++;
  bool pauses = look->pauses && c_look_back_blocks(l) >= FILLS_GPU;
  bool up = goes_above(l, look->shift + look->bits);
  net_id values = (net_id)l->stage->values.count;
  text_printf(&w->body, "    PERMC_THREADS(%u)\n", 1U << f->space->threads);
  c_line(w, "const uint32_t e%u = %s, n%u = %s;", id, text_of(f, element_of_thread(f, look, 0)), id,
         wanted_by_block(l, w, look));
  c_line(w, "if (t - %u < %u && e%u < n%u) {%s", look->first, look->threads, id, id,
         pauses ? " PERMC_PAUSE" : "");
  for (net_id v = 0; v < values; v++) {
    if (!is_looked(l, look, v))
      continue;
    uint32_t pieces = words_of(l->stage->values.items[v]), found = w->next++;
    c_line(w,
           "PERMC_LOOK(x%u, %u, %u, %u, state + %s + %u * (uint64_t)((b >> %u << %u) + e%u), "
           "n%u - e%u)",
           found, look->each, pieces, look->threads, c_number(w, l->first_word[v]), pieces, end,
           look->bits, id, id, id);
    for (uint32_t i = 0; i < look->each; i++) {
      if (i)
        c_line(w, "if (%u < n%u - e%u) {", i * look->threads, id, id);
      put_looked(l, f, look, v, i, found);
      if (i)
        c_line(w, "}");
    }
  }
  c_line(w, "}");
  text_printf(&w->body, "    PERMC_END PERMC_WARPS(%u, %u, %u)\n", (unsigned)(look - l->looks) + 1,
              look->first, look->threads);
  for (uint32_t i = 0; i < look->each << up; i++) {
    note_threads(l, f, look, i % look->each, i >= look->each, up);
    for (net_id v = 0; v < values; v++)
      if (is_looked(l, look, v))
        note_looked(l, f, look, v, i % look->each);
  }
}

// What an op that goes up has made, to scratch, for the upper of two levels.
static void put_joined(const c_look_back *l, const c_phase *f, const net_op *op,
                       const c_phase *own) {
  c_writer *w = f->w;
  for (uint32_t o = 0; o < op->output_count; o++) {
    net_id value = op->outputs[o].value;
    scalar_type type = l->stage->values.items[value];
    uint32_t bytes = scalar_part_bytes(type), upper = look_of(l, shift_of(op))->upper;
    xor_word place = word_of(f, none, (bit_range){0, upper, 0}, 0);
    for (uint32_t part = 0; part < scalar_parts(type) && l->first_word[value]; part++) {
      uint64_t region = l->scratch[value] + ((uint64_t)part * bytes << upper);
      c_line(w, "PERMC_PUT(%s, %s, v%u);", c_vector(w, bytes, 1),
             scratch_at(f, region, bytes, place), own->slots[value].id[(size_t)part << op->k]);
      note(w, STEP_PUT, bytes, region, bytes, place);
    }
  }
}

// What follows is for a thread of each group of the lower of two levels, or for one of the last
// block below a group.
static void note_up(const c_look_back *l, const c_phase *f, const c_look *look, bool lower) {
  uint32_t end = look->shift + look->bits - l->plan->tile_bits;
  uint64_t mask = f2_mask((int)end), threads = lower ? 1U << look->upper : 1;
  thread_guard guard[2] = {{word_of(f, none, (bit_range){0, f->space->threads, 0}, 0), look->first,
                            look->first + threads, NULL},
                           {word_of(f, (bit_range){0, end, 0}, none, 0), mask, mask + 1, NULL}};
  kernel_record_begin(f->w->record, lower ? 1 : 2, guard);
}

// By ops that go up from the level: of joined ones each group of the lower by a thread, to scratch
// (of groups that are not whole it is of no meaning); else the last block of a group publishes what
// the group comes to.
static void write_up(const c_look_back *l, c_phase *f, const c_look *look, bool lower) {
  c_writer *w = f->w;
  uint32_t end = look->shift + look->bits;
  uint32_t shift = lower || !look->upper ? look->shift : end - look->upper;
  text_printf(&w->body, "    PERMC_THREADS(%u)\n", 1U << f->space->threads);
  if (lower)
    c_line(w, "if (t - %u < %u) {", look->first, 1U << look->upper);
  else
    c_line(w, "if (t == %u && %s) {", look->first, is_last(l, w, end));
  note_up(l, f, look, lower);
  for (uint32_t i = 0; i < l->plan->middle_count; i++) {
    const net_op *op = op_between(l, i);
    if (shift_of(op) != shift || !plan_goes_up(op))
      continue;
    c_phase own = execute(l, f, op, NULL, lower ? look->upper : 0);
    if (lower)
      put_joined(l, f, op, &own);
    for (uint32_t o = 0; o < op->output_count && !lower; o++)
      if (l->first_word[op->outputs[o].value])
        publish(l, f, op->outputs[o].value, end - l->plan->tile_bits,
                &own.slots[op->outputs[o].value], 0, op->k);
  }
  c_line(w, "}");
  text_string(&w->body, "    PERMC_END PERMC_WARPS(0, 0, 32)\n");
  kernel_record_begin(w->record, 0, NULL);
}

void c_look_back_wait(const c_look_back *l, c_phase *f) {
  for (uint32_t i = 0; i < l->look_count; i++) {
    const c_look *look = &l->looks[i];
    write_look(l, f, look);
    if (look->upper)
      write_up(l, f, look, true);
    if (goes_above(l, look->shift + look->bits))
      write_up(l, f, look, false);
    kernel_record_begin(f->w->record, 0, NULL);
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
  c_line(w, "const uint32_t p%u = %s;", place, place_of(l, w, shift_of(op), op->k));
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
    c_phase own = execute(l, f, op, above, 0);
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
