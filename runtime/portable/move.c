// Loads and stores: units of neighbours, copied between a slot and an array. See pass.h.
#include "core/sizes.h"
#include "runtime/portable/pass.h"

// ---- units --------------------------------------------------------------------------------------

// Bodies for units of a fixed size, which the compiler turns into one or two instructions each. A
// unit's place in the tile is high ^ low[...], in elements; where units are single elements, their
// size is known, too.
#define TILE_UNIT(i) (slot + ((high ^ low[(i) << unit_bits]) << size_bits))
#define TILE_ELEMENT(i, U) (slot + (high ^ low[i]) * (U))
#define EACH_UNIT(U, COPY_ONE)                                                                     \
  if (unit_bits == 0)                                                                              \
    for (size_t i = 0; i < n; i++)                                                                 \
      COPY_ONE(i, TILE_ELEMENT(i, U), U);                                                          \
  else                                                                                             \
    for (size_t i = 0; i < n; i++)                                                                 \
      COPY_ONE(i, TILE_UNIT(i), U);
void tile_gather(uint32_t size_bits, int unit_bits, size_t n, const unsigned char *slot,
                 uint64_t high, const uint32_t *restrict low, unsigned char *to) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define GATHER_ONE(i, unit, U) memcpy(to + i * (U), unit, (U))
#define GATHER(U) EACH_UNIT(U, GATHER_ONE)
  FOR_UNIT_SIZE(bytes, GATHER)
}

void tile_scatter(uint32_t size_bits, int unit_bits, size_t n, unsigned char *slot, uint64_t high,
                  const uint32_t *restrict low, const unsigned char *from) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define SCATTER_ONE(i, unit, U) memcpy(unit, from + i * (U), (U))
#define SCATTER(U) EACH_UNIT(U, SCATTER_ONE)
  FOR_UNIT_SIZE(bytes, SCATTER)
}

static void load_units(uint32_t size_bits, int unit_bits, size_t n, unsigned char *slot,
                       uint64_t high, const uint32_t *restrict low, const unsigned char *memory,
                       const int64_t *restrict addresses) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define LOAD_ONE(i, unit, U) memcpy(unit, memory + ((uint64_t)addresses[i] << size_bits), (U))
#define LOAD(U) EACH_UNIT(U, LOAD_ONE)
  FOR_UNIT_SIZE(bytes, LOAD)
}

static void store_units(uint32_t size_bits, int unit_bits, size_t n, const unsigned char *slot,
                        uint64_t high, const uint32_t *restrict low, unsigned char *memory,
                        const int64_t *restrict addresses) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define STORE_ONE(i, unit, U) memcpy(memory + ((uint64_t)addresses[i] << size_bits), unit, (U))
#define STORE(U) EACH_UNIT(U, STORE_ONE)
  FOR_UNIT_SIZE(bytes, STORE)
}

// ---- preparation --------------------------------------------------------------------------------

enum {
  SHORT_BYTES = 16,  // shorter units go through blocks: that is faster
  LINE_BYTES = 64,   // rows and lines are at most as long
};

static int lesser(int a, int b) { return a < b ? a : b; }

// The number of the block's row that begins at position `start`; a new one, if none does.
static uint32_t find_row(tile_move *m, uint32_t start) {
  for (uint32_t r = 0; r < m->row_count; r++)
    if (m->rows[r << m->row_bits] == start)
      return r;
  m->rows[m->row_count << m->row_bits] = start;
  return m->row_count++;
}

// Numbers begin with lines of memory: units are the runs that tile and memory have in common.
static void number_units(arena *a, const tile *t, tile_move *m, int count, const uint64_t *lines) {
  tile_set_order(&m->set, count, lines);
  tile_set_find_run(t, &m->set);
  tile_set_tabulate(a, t, &m->set, MOVE_BITS);
  tile_map_tabulate(a, t, &m->set, &m->map);
}

// Numbers begin with a line of memory and go on with a row of the tile.
static void number_blocks(arena *a, const tile *t, tile_move *m, uint64_t *lines) {
  for (int i = 0; i < m->row_bits; i++)
    lines[m->line_bits + i] = f2_unit(i);
  tile_set_order(&m->set, m->line_bits + m->row_bits, lines);
  tile_set_align(t, &m->map, &m->set, m->line_bits);
  tile_set_tabulate(a, t, &m->set, MOVE_BITS);
  tile_map_tabulate(a, t, &m->set, &m->map);
  size_t count = (size_t)1 << m->set.chunk_bits;
  m->rows = NEW_ARRAY(a, uint32_t, count);
  m->within = NEW_ARRAY(a, uint16_t, count);
  for (size_t i = 0; i < count; i++) {
    uint32_t inside = m->set.low[i] & (uint32_t)f2_mask(m->row_bits);
    m->within[i] = (uint16_t)(find_row(m, m->set.low[i] ^ inside) << m->row_bits | inside);
  }
  assert((size_t)m->row_count << m->row_bits == count);
}

void tile_move_prepare(arena *a, const tile *t, const plan_move *from, uint32_t live_count,
                       const net_form *live, uint32_t element_bytes, uint64_t slot,
                       tile_move *out) {
  uint64_t lines[F2_MAX];
  *out = (tile_move){.plan = from, .slot = slot, .size_bits = (uint32_t)f2_lsb(element_bytes)};
  out->checked = from->padding_start != UINT64_MAX &&  // the address may be negative, or in padding
                 !net_map_lies_within(t->stage, &from->map, from->padding_start);
  tile_set_prepare(a, t, live_count, live, &out->set);
  out->map = tile_map_of(a, t, &from->map);
  int count = tile_map_lines(t, &out->map, &out->set, MOVE_BITS, lines);
  int enough = f2_lsb(LINE_BYTES) - (int)out->size_bits;
  out->line_bits = lesser(count, enough);
  out->row_bits = lesser(lesser(out->set.run, t->d), lesser(enough, MOVE_BITS - out->line_bits));
  number_units(a, t, out, count, lines);
  int shared = lesser(out->set.run, out->map.run);
  out->has_blocks = shared < f2_lsb(SHORT_BYTES) - (int)out->size_bits && shared < out->line_bits &&
                    shared < out->row_bits;
  if (out->has_blocks)
    number_blocks(a, t, out, lines);
}

uint64_t tile_move_work(const tile_move *m) {
  uint64_t block = UINT64_C(1) << (m->set.chunk_bits + (int)m->size_bits);
  return (sizeof(int64_t) << MOVE_BITS) + block + m->map.word_count * sizeof(uint64_t);
}

// ---- one move -----------------------------------------------------------------------------------

typedef struct move_state {
  const tile *tile;
  const tile_move *move;
  const tile_item *item;
  bool store;
  int unit_bits;
  uint64_t origin;
  unsigned char *slot, *array;
  int64_t *addresses;    // of a chunk's units
  unsigned char *block;  // room for a chunk
  uint64_t *constants;   // of the map
  size_t line_xor;       // blocks: element i of a line is number i ^ line_xor
} move_state;

static void move_rows(const move_state *v, uint64_t high) {
  const tile_move *m = v->move;
  if (v->store)
    tile_gather(m->size_bits, m->row_bits, m->row_count, v->slot, high, m->rows, v->block);
  else
    tile_scatter(m->size_bits, m->row_bits, m->row_count, v->slot, high, m->rows, v->block);
}

// Bodies for one element of a line and of the block.
#define EACH_OF_LINES(U, COPY_ONE)                                                                 \
  for (size_t k = 0; k < count; k++) {                                                             \
    unsigned char *line = memory + (uint64_t)addresses[k] * (U);                                   \
    const uint16_t *inside = within + k * length;                                                  \
    for (size_t i = 0; i < length; i++)                                                            \
      COPY_ONE(line + (i ^ line_xor) * (U), block + (size_t)(inside[i] ^ row_xor) * (U), (U));     \
  }
#define FROM_BLOCK(element, inside, U) memcpy(element, inside, U)
#define TO_BLOCK(element, inside, U) memcpy(inside, element, U)
#define STORE_LINES(U) EACH_OF_LINES(U, FROM_BLOCK)
#define LOAD_LINES(U) EACH_OF_LINES(U, TO_BLOCK)

// `count` lines. In a row, position i of the table is position i ^ row_xor of the tile.
static void move_lines(const move_state *v, size_t count, uint32_t row_xor) {
  const tile_move *m = v->move;
  size_t size = (size_t)1 << m->size_bits, length = (size_t)1 << m->line_bits,
         line_xor = v->line_xor;
  unsigned char *memory = v->array, *restrict block = v->block;
  const int64_t *restrict addresses = v->addresses;
  const uint16_t *restrict within = m->within;
  if (v->store)
    FOR_UNIT_SIZE(size, STORE_LINES)
  else
    FOR_UNIT_SIZE(size, LOAD_LINES)
}

static void move_units(const move_state *v, int unit_bits, size_t count, uint64_t high) {
  const tile_move *m = v->move;
  if (v->store)
    store_units(m->size_bits, unit_bits, count, v->slot, high, m->set.low, v->array, v->addresses);
  else
    load_units(m->size_bits, unit_bits, count, v->slot, high, m->set.low, v->array, v->addresses);
}

static void move_checked(const move_state *v, size_t count, uint64_t high) {
  const tile_move *m = v->move;
  size_t size = (size_t)1 << m->size_bits;
  for (size_t i = 0; i < count; i++) {
    unsigned char *element = v->slot + ((high ^ m->set.low[i]) << m->size_bits);
    uint64_t address = (uint64_t)v->addresses[i];
    bool inside = address < m->plan->padding_start;
    if (inside && v->store)
      memcpy(v->array + (address << m->size_bits), element, size);
    else if (!v->store)
      memcpy(element, inside ? v->array + (address << m->size_bits) : m->plan->padding_value.bytes,
             size);
  }
}

// Whether all of so many runs of 2^bits addresses end before the padding.
static bool are_all_inside(const move_state *v, size_t count, int bits) {
  uint64_t highest = 0, last = f2_mask(bits);
  for (size_t i = 0; i < count; i++)
    highest = (uint64_t)v->addresses[i] > highest ? (uint64_t)v->addresses[i] : highest;
  return v->move->plan->padding_start > last && highest < v->move->plan->padding_start - last;
}

static void find_addresses(const move_state *v, uint64_t number, int stride_bits, size_t count) {
  tile_map_values(v->tile, &v->move->map, v->item, v->constants, number, stride_bits, count,
                  v->addresses);
}

static bool move_block(const move_state *v, uint64_t number, uint64_t high) {
  const tile_move *m = v->move;
  size_t count = (size_t)1 << (m->set.chunk_bits - m->line_bits);
  v->constants[0] ^= v->line_xor;
  find_addresses(v, number, m->line_bits, count);
  v->constants[0] ^= v->line_xor;
  if (m->checked && !are_all_inside(v, count, m->line_bits))
    return false;
  uint64_t row_xor = high & f2_mask(m->row_bits);
  if (v->store)
    move_rows(v, high ^ row_xor);
  move_lines(v, count, (uint32_t)row_xor);
  if (!v->store)
    move_rows(v, high ^ row_xor);
  return true;
}

static void move_chunk(const move_state *v, uint64_t number, size_t count) {
  const tile_move *m = v->move;
  uint64_t high = v->origin ^ tile_set_high(v->tile, &m->set, number);
  size_t units = count >> v->unit_bits;
  if (m->has_blocks && count >> m->set.chunk_bits == 1 && move_block(v, number, high))
    return;
  find_addresses(v, number, v->unit_bits, units);
  if (!m->checked || are_all_inside(v, units, v->unit_bits)) {
    move_units(v, v->unit_bits, units, high);
    return;
  }
  if (v->unit_bits > 0)
    find_addresses(v, number, 0, count);
  move_checked(v, count, high);
}

// False: the batch is not one stretch of memory and one of the tile.
static bool move_at_once(const move_state *v) {
  const tile_move *m = v->move;
  const net_map *map = m->map.map;
  uint64_t left = 0, count = v->item->count;
  if (m->checked || v->tile->batch_bits == 0 || m->set.dimension != v->tile->d ||
      v->unit_bits != v->tile->d || map->loop_count == 0 ||
      tile_loop_step(v->tile, map) != f2_unit(v->tile->d))
    return false;
  uint64_t first = m->map.offset + (uint64_t)tile_loop_offset(v->tile, map, v->item->loop, &left);
  for (uint32_t g = 0; g < m->map.word_count; g++)
    first += m->map.words[g].index.odd * v->constants[g];
  if (left < count)
    return false;
  unsigned char *memory = v->array + (first << m->size_bits);
  size_t bytes = (size_t)count << (v->tile->d + (int)m->size_bits);
  memcpy(v->store ? memory : v->slot, v->store ? v->slot : memory, bytes);
  return true;
}

// The length of runs of the tile that are runs of memory: the constant of the map does not
// xor-permute them.
static int find_unit_bits(const tile_move *m, const uint64_t *constants) {
  int bits = m->set.run < m->map.run ? m->set.run : m->map.run;
  for (uint32_t g = 0; bits > 0 && g < m->map.word_count; g++)
    if (m->map.words[g].index.odd == 1 && m->map.words[g].columns[0] == 1 &&
        (constants[g] & f2_mask(bits)) != 0)
      bits = f2_lsb(constants[g]);
  return bits;
}

// False: there is nothing to move.
static bool start_move(move_state *v) {
  const tile_move *m = v->move;
  const tile_item *item = v->item;
  if (!tile_set_start(&m->set, item->base, &v->origin))
    return false;
  v->slot = item->slots + m->slot;
  v->array = item->arrays[m->plan->array];
  v->addresses = (int64_t *)(void *)item->work;
  v->constants = (uint64_t *)(void *)item->work + ((size_t)1 << MOVE_BITS);
  v->block = (unsigned char *)(v->constants + m->map.word_count);
  tile_map_start(v->tile, &m->map, tile_index(v->tile, item, v->origin), v->constants);
  v->unit_bits = find_unit_bits(m, v->constants);
  v->line_xor = m->has_blocks ? (size_t)(v->constants[0] & f2_mask(m->line_bits)) : 0;
  return true;
}

static void run_move(move_state v) {
  const tile_set *set = &v.move->set;
  if (!start_move(&v) || move_at_once(&v))
    return;
  uint64_t total = v.item->count << set->dimension, chunk = f2_unit(set->chunk_bits);
  for (uint64_t number = 0; number < total; number += chunk)
    move_chunk(&v, number, (size_t)(total - number < chunk ? total - number : chunk));
}

void tile_load(const tile *t, const tile_move *m, const tile_item *item) {
  unsigned char *slot = item->slots + m->slot;
  run_move((move_state){.tile = t, .move = m, .item = item, .store = false});
  if (m->bytes)
    scalar_convert(SCALAR_U8, SCALAR_BOOL, item->count << t->d, slot, slot);
}

void tile_store(const tile *t, const tile_move *m, const tile_item *item) {
  run_move((move_state){.tile = t, .move = m, .item = item, .store = true});
}

void tile_prefetch(const tile *t, const tile_move *m, const tile_item *item, uint64_t first,
                   uint64_t count) {
  enum { LINE = 64 };
  move_state v = {.tile = t, .move = m, .item = item};
  if (!start_move(&v))
    return;
  uint64_t end = (first + count) << m->set.chunk_bits, all = item->count << m->set.dimension;
  uint64_t chunk = f2_unit(m->set.chunk_bits);
  int unit_bits = m->has_blocks ? m->line_bits : v.unit_bits;
  size_t bytes = (size_t)1 << (unit_bits + (int)m->size_bits);
  end = end < all ? end : all;
  for (uint64_t number = first << m->set.chunk_bits; number < end; number += chunk) {
    size_t units = (size_t)(end - number < chunk ? end - number : chunk) >> unit_bits;
    find_addresses(&v, number, unit_bits, units);
    for (size_t i = 0; i < units; i++)
      for (size_t k = 0; k < bytes; k += LINE) {
        uintptr_t at = (uintptr_t)v.array + ((uintptr_t)v.addresses[i] << m->size_bits) + k;
        __builtin_prefetch((const void *)at, 0, 2);
      }
  }
}
