// Ops as lists of steps, each over a chunk of instances at a time. See pass.h.
#include "core/sizes.h"
#include "runtime/portable/pass.h"

enum {
  WORK_BYTES = 32 << 10,  // of all steps' buffers together, unless a chunk of one needs more
  FOREIGN_CHUNK = 16,     // calls between two reads of the interrupt flag
  BUFFER_ALIGN = 64,
};
#define NO_BUFFER UINT64_MAX

// ---- preparation: the list of steps -------------------------------------------------------------

typedef VEC(tile_step) step_list;

typedef struct preparation {
  op_context *context;
  const net_stage *stage;
  const net_op *op;
  step_list steps;
} preparation;

// The position of element j, from that of element 0.
static uint64_t element_offset(const preparation *p, uint64_t j) {
  return tile_position(p->context->tile, f2_combine((int)p->op->k, p->op->directions, j));
}

static uint64_t slot_start(const preparation *p, net_id value) {
  uint32_t slot = p->context->plan->slot_of[value];
  assert(slot != NET_NONE);
  return p->context->slots[slot];
}

static uint32_t size_bits_of(scalar_type type) { return (uint32_t)f2_lsb(scalar_types[type].size); }

static void add_step(preparation *p, net_id id) {
  op_context *c = p->context;
  const net_node *node = &p->stage->nodes.items[id];
  tile_step s = {.kind = node->kind, .type = node->type, .scalar = node->scalar};
  s.number = node->number;
  s.constant = node->constant;
  s.buffer = NO_BUFFER;
  s.operand_count = node->operand_count;
  s.operands = NEW_ARRAY(c->memory, uint32_t, node->operand_count);
  for (uint32_t i = 0; i < node->operand_count; i++)
    s.operands[i] = c->step_of[node->operands[i]];
  s.turn = node->kind == NET_TURN ? (uint32_t)p->steps.count : NO_TURN;
  for (uint32_t i = 0; i < node->operand_count && node->kind != NET_FOLD && s.turn == NO_TURN; i++)
    s.turn = p->steps.items[s.operands[i]].turn;
  s.operand_type = node->operand_count ? p->stage->nodes.items[node->operands[0]].type : node->type;
  if (node->kind == NET_ELEMENT) {
    s.slot = slot_start(p, node->value);
    s.offset = element_offset(p, node->number);
  }
  if (node->kind == NET_INDEX)
    s.map = tile_map_of(c->memory, c->tile, &node->map);
  if (node->kind == NET_ROOT)
    s.roots = root_table_find(&c->executor->roots, node->type, node->number);
  s.kernel = compare_kind_of(node->type);
  c->step_of[id] = (uint32_t)p->steps.count;
  vec_push(c->memory, &p->steps, s);
}

// Element nodes come just before their first use, so that they occupy a buffer for a short time.
static void list_steps(preparation *p, tile_op *out) {
  op_context *c = p->context;
  uint32_t count = net_op_nodes(p->stage, p->op, c->nodes);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &p->stage->nodes.items[c->nodes[i]];
    for (uint32_t k = 0; k < node->operand_count; k++)
      if (c->step_of[node->operands[k]] == UINT32_MAX)
        add_step(p, node->operands[k]);
    if (node->kind != NET_ELEMENT)
      add_step(p, c->nodes[i]);
  }
  for (uint32_t o = 0; o < p->op->output_count; o++)
    for (uint64_t j = 0; j < UINT64_C(1) << p->op->k; j++) {
      net_id id = p->op->outputs[o].elements[j];
      if (id != NET_NONE && c->step_of[id] == UINT32_MAX)
        add_step(p, id);
      out->output_count += id != NET_NONE;
    }
}

static void list_outputs(preparation *p, tile_op *out) {
  op_context *c = p->context;
  out->outputs = NEW_ARRAY(c->memory, tile_output, out->output_count);
  out->output_count = 0;
  for (uint32_t o = 0; o < p->op->output_count; o++) {
    const net_output *output = &p->op->outputs[o];
    uint32_t size_bits = size_bits_of(p->stage->values.items[output->value]);
    for (uint64_t j = 0; j < UINT64_C(1) << p->op->k; j++)
      if (output->elements[j] != NET_NONE)
        out->outputs[out->output_count++] = (tile_output){
            c->step_of[output->elements[j]], size_bits, slot_start(p, output->value),
            element_offset(p, j), j == 0 && p->op->k == 1 && output->elements[1] != NET_NONE};
  }
}

// ---- preparation: buffers -----------------------------------------------------------------------

// Buffers as bytes of one instance, from 0 on. A buffer becomes a spare after the last use of what
// it holds.
typedef struct buffers {
  arena *memory;
  VEC(uint64_t) spare[5];  // by log2 of the size
  uint64_t used;
} buffers;

static uint64_t take_buffer(buffers *b, uint32_t size_bits) {
  if (b->spare[size_bits].count > 0)
    return b->spare[size_bits].items[--b->spare[size_bits].count];
  uint64_t at = b->used;
  b->used += UINT64_C(1) << size_bits;
  return at;
}

// A fold evaluates the steps of its turn, which read their operands then.
static void keep_turn(const preparation *p, uint32_t *last, uint32_t fold) {
  uint32_t turn = p->steps.items[fold].operands[0];
  for (uint32_t i = turn; i < fold; i++) {
    const tile_step *s = &p->steps.items[i];
    for (uint32_t k = 0; s->turn == turn && k < s->operand_count; k++)
      last[s->operands[k]] = last[s->operands[k]] > fold ? last[s->operands[k]] : fold;
    last[i] = s->turn == turn ? fold : last[i];
  }
}

// last[i]: the last step that reads step i; steps.count if it is an output.
static uint32_t *find_last_uses(preparation *p, const tile_op *op) {
  uint32_t *last = NEW_ARRAY(p->context->memory, uint32_t, p->steps.count);
  for (uint32_t i = 0; i < p->steps.count; i++)
    for (uint32_t k = 0; k < p->steps.items[i].operand_count; k++)
      last[p->steps.items[i].operands[k]] = i;
  for (uint32_t i = 0; i < p->steps.count; i++)
    if (p->steps.items[i].kind == NET_FOLD)
      keep_turn(p, last, i);
  for (uint32_t i = 0; i < op->output_count; i++)
    last[op->outputs[i].step] = (uint32_t)p->steps.count;
  for (uint32_t i = 0; i < p->steps.count; i++)
    if (p->steps.items[i].kind == NET_CONSTANT)  // filled once for all chunks
      last[i] = (uint32_t)p->steps.count;
  return last;
}

static void release_operand_buffers(buffers *b, const tile_step *s, uint32_t at,
                                    const uint32_t *last, const step_list *steps) {
  for (uint32_t k = 0; k < s->operand_count; k++) {
    uint32_t operand = s->operands[k];
    const tile_step *o = &steps->items[operand];
    bool again = false;
    for (uint32_t i = 0; i < k; i++)
      again |= s->operands[i] == operand;
    if (!again && last[operand] == at && o->buffer != NO_BUFFER)
      vec_push(b->memory, &b->spare[size_bits_of(o->type)], o->buffer);
  }
}

// Constants first, so that no other step has their buffers.
static void assign_buffers(preparation *p, tile_op *op) {
  buffers b = {.memory = p->context->memory};
  uint32_t *last = find_last_uses(p, op);
  for (uint32_t i = 0; i < p->steps.count; i++) {
    tile_step *s = &p->steps.items[i];
    s->buffer = s->kind == NET_CONSTANT ? take_buffer(&b, size_bits_of(s->type)) : NO_BUFFER;
  }
  for (uint32_t i = 0; i < p->steps.count; i++) {
    tile_step *s = &p->steps.items[i];
    // An element node in a run of the tile is read there; not if it is stored, perhaps over itself.
    s->direct =
        s->kind == NET_ELEMENT && op->set.run >= op->set.chunk_bits && last[i] < p->steps.count;
    if (s->buffer == NO_BUFFER && !s->direct)
      s->buffer = take_buffer(&b, size_bits_of(s->type));
    release_operand_buffers(&b, s, i, last, &p->steps);
  }
  op->work_bytes = b.used;
}

static uint64_t aligned_size(uint64_t bytes) {
  return (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
}

// From bytes of one instance to places in the work memory, aligned.
static void place_buffers(preparation *p, tile_op *op) {
  uint64_t stretch = aligned_size(f2_unit(op->set.chunk_bits));
  op->pointers_at = op->work_bytes * stretch;
  for (uint32_t i = 0; i < p->steps.count; i++) {
    tile_step *s = &p->steps.items[i];
    if (s->buffer != NO_BUFFER)
      s->buffer *= stretch;
    op->words = s->map.word_count > op->words ? s->map.word_count : op->words;
  }
  op->work_bytes =
      op->pointers_at + p->steps.count * (sizeof(void *) + op->words * sizeof(uint64_t));
}

static int choose_chunk_bits(const tile_op *op) {
  int bits = STEP_BITS;
  while (bits > 0 && op->work_bytes << bits > WORK_BYTES)
    bits--;
  return bits;
}

static void prepare_steps(preparation *p, tile_op *out) {
  op_context *c = p->context;
  list_steps(p, out);
  list_outputs(p, out);
  out->set.chunk_bits = STEP_BITS;
  assign_buffers(p, out);
  tile_set_tabulate(c->memory, c->tile, &out->set, choose_chunk_bits(out));
  assign_buffers(p, out);  // again: in smaller chunks, more element nodes are in runs
  for (uint32_t i = 0; i < p->steps.count; i++)
    if (p->steps.items[i].kind == NET_INDEX)
      tile_map_tabulate(c->memory, c->tile, &out->set, &p->steps.items[i].map);
  place_buffers(p, out);
  out->steps = p->steps.items;
  out->step_count = (uint32_t)p->steps.count;
}

// Where the coordinates are 0 and the conditions of the op and of the pass hold. A run of elements
// 0 must be a run of the other elements, too.
static void prepare_set(const op_context *c, const net_op *op, tile_set *out) {
  uint32_t count = 0;
  net_form *forms = NEW_ARRAY(c->memory, net_form, op->k + op->live_count + c->plan->live_count);
  for (uint32_t i = 0; i < op->k; i++)
    forms[count++] = op->coordinates[i];
  for (uint32_t i = 0; i < op->live_count; i++)
    forms[count++] = op->live[i];
  for (uint32_t i = 0; i < c->plan->live_count; i++)
    forms[count++] = c->plan->live[i];
  tile_set_prepare(c->memory, c->tile, count, forms, out);
  for (uint32_t i = 0; i < op->k; i++) {
    int least = f2_lsb(tile_position(c->tile, op->directions[i]));
    out->run = least < out->run ? least : out->run;
  }
}

// For pairs p, p ^ e_u where runs have 2^u elements: counts the vectors e_(u+1), e_(u+2), ... after
// the run, and clears their bits in all other vectors.
//
//   u = 1, d = 4, zip_bits 3: elements 0 at 0-1, 4-5, 8-9, 12-13, elements 1 between them
static void find_zip(const tile *t, tile_op *op) {
  tile_set *s = &op->set;
  int u = s->run, end = u, all = s->dimension + t->batch_bits;
  if (op->op->k != 1 || tile_position(t, op->op->directions[0]) != f2_unit(u))
    return;
  while (end < s->dimension && s->basis[end] == f2_unit(end + 1))
    end++;
  uint64_t others = ~(f2_mask(end + 1) ^ f2_mask(u + 1));
  for (int i = end; i < s->dimension; i++)
    s->basis[i] &= others;
  for (uint32_t i = 0; i < s->independent_count; i++)
    s->solutions[i] &= others;
  op->zip_bits = end == t->d - 1 ? all : end;
}

void tile_op_prepare(op_context *c, const net_op *op, tile_op *out) {
  *out = (tile_op){.op = op};
  preparation p = {.context = c, .stage = c->tile->stage, .op = op};
  prepare_set(c, op, &out->set);
  find_zip(c->tile, out);
  out->together = 1;
  out->always = op->live_count + c->plan->live_count == 0;
  out->is_compare = tile_compare_prepare(c, op, out);
  if (out->is_compare)
    return;
  prepare_steps(&p, out);
  uint32_t count = net_op_nodes(p.stage, op, c->nodes);
  for (uint32_t i = 0; i < count; i++)
    c->step_of[c->nodes[i]] = UINT32_MAX;
}

// ---- steps --------------------------------------------------------------------------------------

typedef struct op_state {
  const portable *executor;
  const tile *tile;
  const tile_op *op;
  const tile_item *item;
  uint64_t origin, high;  // positions: of the set's first, and of the chunk's first element 0
  uint64_t number;
  size_t count;         // instances in the chunk
  const void **at;      // by step: the chunk's elements
  uint64_t *constants;  // by step: of its map, `words` each
  uint32_t words;
} op_state;

// A unit of neighbours is at most a chunk.
static int choose_unit_bits(const tile_set *set) {
  return set->run < set->chunk_bits ? set->run : set->chunk_bits;
}

static size_t count_units(size_t count, int unit_bits) {
  return (count + ((size_t)1 << unit_bits) - 1) >> unit_bits;
}

// In a zipped op: log2 of the instances in one stretch; 0: units are faster.
static int stretch_bits(const tile_op *op, uint32_t size_bits) {
  const tile_set *set = &op->set;
  int bits = op->zip_bits < set->chunk_bits ? op->zip_bits : set->chunk_bits;
  return bits > set->run + 1 && (int)size_bits + set->run < ZIP_SIZES ? bits : 0;
}

// The stretch that the element of instance i is in; *odd: whether it is in an odd unit.
static unsigned char *find_stretch(const op_state *r, uint64_t slot, uint64_t offset,
                                   uint32_t size_bits, size_t i, bool *odd) {
  uint64_t at = r->high ^ offset ^ r->op->set.low[i];
  *odd = f2_bit(at, r->op->set.run);
  return r->item->slots + slot + ((at & ~f2_unit(r->op->set.run)) << size_bits);
}

static void unzip_element(const op_state *r, const tile_step *s, int bits, unsigned char *out) {
  uint32_t size_bits = size_bits_of(s->type);
  int run = r->op->set.run;
  unzip_loop *unzip = r->executor->kernels->unzip[(int)size_bits + run];
  for (size_t i = 0; i < r->count; i += (size_t)1 << bits) {
    bool odd = false;
    const unsigned char *stretch = find_stretch(r, s->slot, s->offset, size_bits, i, &odd);
    unzip((size_t)1 << (bits - run), odd, stretch, out + (i << size_bits));
  }
}

static void zip_output(const op_state *r, const tile_output *o, int bits) {
  int run = r->op->set.run;
  zip_loop *zip = r->executor->kernels->zip[(int)o->size_bits + run];
  const unsigned char *zero = r->at[o[0].step], *one = r->at[o[1].step];
  for (size_t i = 0; i < r->count; i += (size_t)1 << bits) {
    bool odd = false;
    unsigned char *stretch = find_stretch(r, o->slot, o->offset, o->size_bits, i, &odd);
    size_t from = i << o->size_bits;
    zip((size_t)1 << (bits - run), (odd ? one : zero) + from, (odd ? zero : one) + from, stretch);
  }
}

static void load_element(const op_state *r, const tile_step *s, unsigned char *out) {
  uint32_t size_bits = size_bits_of(s->type);
  int bits = stretch_bits(r->op, size_bits);
  if (bits > 0) {
    unzip_element(r, s, bits, out);
    return;
  }
  int unit_bits = choose_unit_bits(&r->op->set);
  tile_gather(size_bits, unit_bits, count_units(r->count, unit_bits), r->item->slots + s->slot,
              r->high ^ s->offset, r->op->set.low, out);
}

// out[i] = table[from], for elements of a size that the compiler knows.
#define PUT_ALL(U, from)                                                                           \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(out + i * (U), table + (from) * (U), (U));

static void fill_constant(scalar_type type, const scalar_bits *value, size_t n,
                          unsigned char *out) {
  const unsigned char *table = value->bytes;
#define PUT_FIRST(U) PUT_ALL(U, 0)
  FOR_ELEMENT_SIZE(scalar_types[type].size, PUT_FIRST)
}

// The order of the table is a multiple of the step's.
static void look_up_roots(const tile_step *s, const int64_t *k, size_t n, unsigned char *out) {
  const unsigned char *table = s->roots->roots;
  uint64_t mask = s->number - 1, times = s->roots->order / s->number;
  int64_t order = (int64_t)s->number;
#define PUT_MASKED(U) PUT_ALL(U, ((uint64_t)k[i] & mask) * times)
#define PUT_REDUCED(U) PUT_ALL(U, (uint64_t)(k[i] % order + (k[i] % order < 0 ? order : 0)) * times)
  if ((s->number & mask) == 0)
    FOR_ELEMENT_SIZE(scalar_types[s->type].size, PUT_MASKED)
  else
    FOR_ELEMENT_SIZE(scalar_types[s->type].size, PUT_REDUCED)
}

static void find_roots(const tile_step *s, const int64_t *k, size_t n, unsigned char *out) {
  size_t size = scalar_types[s->type].size;
  if (s->roots) {
    look_up_roots(s, k, n, out);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    scalar_bits root = scalar_root(s->type, k[i], (int64_t)s->number);
    memcpy(out + i * size, root.bytes, size);
  }
}

// Elements of an array at the addresses k; 0 bits where it has none.
static void gather_elements(const op_state *r, const tile_step *s, const int64_t *k,
                            unsigned char *out) {
  const unsigned char *from = r->item->arrays[s->number];
  uint64_t count = r->executor->plan->arrays.items[s->number].count;
#define TAKE(U)                                                                                    \
  for (size_t i = 0; i < r->count; i++)                                                            \
    if ((uint64_t)k[i] < count)                                                                    \
      memcpy(out + i * (U), from + (uint64_t)k[i] * (U), (U));                                     \
    else                                                                                           \
      memset(out + i * (U), 0, (U));
  FOR_ELEMENT_SIZE(scalar_types[s->type].size, TAKE)
#undef TAKE
  if (net_array_has_bytes(&r->executor->plan->arrays.items[s->number]))
    scalar_convert(SCALAR_U8, SCALAR_BOOL, r->count, out, out);
}

// To elements at the addresses k, where the array has them: x, or what the fold makes of them and x.
static void write_elements(const op_state *r, const tile_step *s, const int64_t *k,
                           const unsigned char *x, unsigned char *out) {
  unsigned char *at = r->item->arrays[s->number];
  const net_array *to = &r->executor->plan->arrays.items[s->number];
  size_t size = scalar_types[to->type].size;
#define PUT(U)                                                                                     \
  for (size_t i = 0; i < r->count; i++)                                                            \
    if ((uint64_t)k[i] < to->count)                                                                \
      memcpy(at + (uint64_t)k[i] * (U), x + i * (U), (U));
  if (s->kind == NET_SCATTER)
    FOR_ELEMENT_SIZE(size, PUT)
#undef PUT
  for (size_t i = 0; i < r->count && s->kind == NET_GROUP; i++)
    if ((uint64_t)k[i] < to->count)
      scalar_fold(s->scalar, to->type, at + (uint64_t)k[i] * size, x + i * size);
  memset(out, 0, r->count);
}

static bool call_extern(const op_state *r, const tile_step *s, const void **in,
                        unsigned char *out) {
  const atomic_bool *interrupted = r->executor->interrupted;
  for (size_t i = 0; i < r->count; i += FOREIGN_CHUNK) {
    size_t calls = r->count - i < FOREIGN_CHUNK ? r->count - i : FOREIGN_CHUNK;
    if (interrupted && atomic_load_explicit(interrupted, memory_order_relaxed))
      return false;
    foreign_call(r->executor->externs.functions[s->number], calls, in,
                 out + i * scalar_types[s->type].size);
    for (uint32_t k = 0; k < s->operand_count; k++)
      in[k] = (const unsigned char *)in[k] +
              calls * scalar_types[r->op->steps[s->operands[k]].type].size;
  }
  return true;
}

static void store_outputs(const op_state *r) {
  int unit_bits = choose_unit_bits(&r->op->set);
  for (uint32_t i = 0; i < r->op->output_count; i++) {
    const tile_output *o = &r->op->outputs[i];
    int bits = o->with_next ? stretch_bits(r->op, o->size_bits) : 0;
    if (bits > 0)
      zip_output(r, o, bits);
    else
      tile_scatter(o->size_bits, unit_bits, count_units(r->count, unit_bits),
                   r->item->slots + o->slot, r->high ^ o->offset, r->op->set.low, r->at[o->step]);
    i += bits > 0;
  }
}

static void select_elements(const op_state *r, const tile_step *s, const void **in, void *out) {
  uint32_t size_bits = size_bits_of(s->type);
  if (size_bits < 4)
    r->executor->kernels->select[size_bits](r->count, in[0], in[1], in[2], out);
  else
    scalar_select(scalar_types[s->type].size, r->count, in[0], in[1], in[2], out);
}

static bool fold_turn(op_state *r, uint32_t fold);

static bool run_step(op_state *r, uint32_t number) {
  const tile_step *s = &r->op->steps[number];
  unsigned char *out = s->buffer == NO_BUFFER ? NULL : r->item->work + s->buffer;
  const void **in = r->item->operands;
  for (uint32_t k = 0; k < s->operand_count; k++)
    in[k] = r->at[s->operands[k]];
  r->at[number] = out;
  switch (s->kind) {
  case NET_ELEMENT:
    if (s->direct)
      r->at[number] = r->item->slots + s->slot + ((r->high ^ s->offset) << size_bits_of(s->type));
    else
      load_element(r, s, out);
    return true;
  case NET_INDEX:
    tile_map_values(r->tile, &s->map, r->item, r->constants + (size_t)number * r->words, r->number,
                    0, r->count, (int64_t *)out);
    return true;
  case NET_CONSTANT:
    return true;
  case NET_SCALAR:
    scalar_apply(s->scalar, s->operand_type, r->count, in[0], s->operand_count > 1 ? in[1] : NULL,
                 out);
    return true;
  case NET_MIN:
    r->executor->kernels->least[s->kernel](r->count, in[0], in[1], out);
    return true;
  case NET_MAX:
    r->executor->kernels->greatest[s->kernel](r->count, in[0], in[1], out);
    return true;
  case NET_SELECT:
    select_elements(r, s, in, out);
    return true;
  case NET_CONVERT:
    scalar_convert(s->operand_type, s->type, r->count, in[0], out);
    return true;
  case NET_ROOT:
    find_roots(s, in[0], r->count, out);
    return true;
  case NET_GATHER:
    gather_elements(r, s, in[0], out);
    return true;
  case NET_SCATTER:
  case NET_GROUP:
    write_elements(r, s, in[0], in[1], out);
    return true;
  case NET_EXTERN:
    return call_extern(r, s, in, out);
  case NET_TURN:
    return true;
  case NET_FOLD:
    return fold_turn(r, number);
  }
  return false;
}

// ---- folds --------------------------------------------------------------------------------------

// A place in the turns of all instances, one after the other.
typedef struct turn_place {
  const int64_t *from, *to;
  size_t instance, count;
  int64_t number;
} turn_place;

// Whether it is in a turn: in the next one that has a number, if it was at an end.
static bool is_in_turn(turn_place *p) {
  while (p->instance < p->count && p->number >= p->to[p->instance])
    if (++p->instance < p->count)
      p->number = p->from[p->instance];
  return p->instance < p->count;
}

// What a step of a turn reads besides is the same for all instances: as often as a chunk has room.
static void repeat_uniform(const op_state *r, const tile_step *s, uint32_t first) {
  for (uint32_t k = first; k < s->operand_count; k++) {
    const tile_step *o = &r->op->steps[s->operands[k]];
    if (o->turn == NO_TURN && o->kind != NET_CONSTANT) {
      scalar_bits one;
      memcpy(&one, r->at[s->operands[k]], scalar_types[o->type].size);
      fill_constant(o->type, &one, (size_t)1 << r->op->set.chunk_bits, r->item->work + o->buffer);
    }
  }
}

// As many numbers at a time as a chunk has, of whatever instances they are.
static bool fold_turn(op_state *r, uint32_t fold) {
  const tile_step *s = &r->op->steps[fold], *turn = &r->op->steps[s->operands[0]];
  size_t size = scalar_types[s->type].size, instances = r->count;
  unsigned char *out = r->item->work + s->buffer;
  int64_t *numbers = (int64_t *)(void *)(r->item->work + turn->buffer);
  turn_place next = {r->at[turn->operands[0]], r->at[turn->operands[1]], 0, instances, 0};
  next.number = next.from[0];
  memcpy(out, r->at[s->operands[1]], instances * size);
  r->at[s->operands[0]] = numbers;
  repeat_uniform(r, s, 2);
  for (uint32_t i = s->operands[0] + 1; i < fold; i++)
    if (r->op->steps[i].turn == s->operands[0])
      repeat_uniform(r, &r->op->steps[i], 0);
  while (is_in_turn(&next)) {
    turn_place at = next;
    const atomic_bool *interrupted = r->executor->interrupted;
    if (interrupted && atomic_load_explicit(interrupted, memory_order_relaxed))
      return false;
    for (r->count = 0; r->count < f2_unit(r->op->set.chunk_bits) && is_in_turn(&next);)
      numbers[r->count++] = next.number++;
    for (uint32_t i = s->operands[0] + 1; i < fold; i++)
      if (r->op->steps[i].turn == s->operands[0] && !run_step(r, i))
        return false;
    const unsigned char *x = r->at[s->operands[2]];
    for (size_t i = 0; i < r->count && is_in_turn(&at); i++, at.number++)
      scalar_fold(s->scalar, s->type, out + at.instance * size, x + i * size);
  }
  r->count = instances;
  return true;
}

// ---- one op on one tile -------------------------------------------------------------------------

static void start_steps(op_state *r) {
  const tile_op *op = r->op;
  uint64_t x = tile_index(r->tile, r->item, r->origin);
  for (uint32_t i = 0; i < op->step_count; i++) {
    const tile_step *s = &op->steps[i];
    if (s->kind == NET_INDEX)
      tile_map_start(r->tile, &s->map, x, r->constants + (size_t)i * r->words);
    if (s->kind == NET_CONSTANT)
      fill_constant(s->type, &s->constant, (size_t)1 << op->set.chunk_bits,
                    r->item->work + s->buffer);
  }
}

bool tile_op_run(const portable *e, const tile *t, const tile_op *op, const tile_item *item) {
  op_state r = {.executor = e, .tile = t, .op = op, .item = item};
  if (!tile_set_start(&op->set, item->base, &r.origin))
    return true;
  r.at = (const void **)(void *)(item->work + op->pointers_at);
  r.constants = (uint64_t *)(void *)(r.at + op->step_count);
  r.words = op->words;
  start_steps(&r);
  uint64_t total = item->count << op->set.dimension, chunk = f2_unit(op->set.chunk_bits);
  for (r.number = 0; r.number < total; r.number += chunk) {
    r.count = (size_t)(total - r.number < chunk ? total - r.number : chunk);
    r.high = r.origin ^ tile_set_high(t, &op->set, r.number);
    for (uint32_t i = 0; i < op->step_count; i++)
      if (op->steps[i].turn == NO_TURN && !run_step(&r, i))
        return false;
    store_outputs(&r);
  }
  return true;
}
