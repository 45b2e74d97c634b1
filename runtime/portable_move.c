// Loads and stores: units of neighbours, copied between a slot and an array. See portable_pass.h.
#include "runtime/portable_pass.h"

__extension__ typedef __int128 int128;

// ---- units --------------------------------------------------------------------------------------

// Bodies for units of a fixed size, which the compiler turns into one or two instructions each. A
// unit's place in the tile is high ^ low[...], in elements.
#define TILE_UNIT(i) (slot + ((high ^ low[(i) << unit_bits]) << size_bits))
#define EACH_SIZE(bytes, COPY)                                                                     \
  switch (bytes) {                                                                                 \
  case 1:                                                                                          \
    COPY(1) break;                                                                                 \
  case 2:                                                                                          \
    COPY(2) break;                                                                                 \
  case 4:                                                                                          \
    COPY(4) break;                                                                                 \
  case 8:                                                                                          \
    COPY(8) break;                                                                                 \
  case 16:                                                                                         \
    COPY(16) break;                                                                                \
  case 32:                                                                                         \
    COPY(32) break;                                                                                \
  case 64:                                                                                         \
    COPY(64) break;                                                                                \
  default:                                                                                         \
    COPY(bytes) break;                                                                             \
  }

void tile_gather(uint32_t size_bits, int unit_bits, size_t n, const unsigned char *slot,
                 uint64_t high, const uint32_t *low, unsigned char *to) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define GATHER(U)                                                                                  \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(to + i * (U), TILE_UNIT(i), (U));
  EACH_SIZE(bytes, GATHER)
}

void tile_scatter(uint32_t size_bits, int unit_bits, size_t n, unsigned char *slot, uint64_t high,
                  const uint32_t *low, const unsigned char *from) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define SCATTER(U)                                                                                 \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(TILE_UNIT(i), from + i * (U), (U));
  EACH_SIZE(bytes, SCATTER)
}

static void load_units(uint32_t size_bits, int unit_bits, size_t n, unsigned char *slot,
                       uint64_t high, const uint32_t *low, const unsigned char *memory,
                       const int64_t *addresses) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define LOAD(U)                                                                                    \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(TILE_UNIT(i), memory + ((uint64_t)addresses[i] << size_bits), (U));
  EACH_SIZE(bytes, LOAD)
}

static void store_units(uint32_t size_bits, int unit_bits, size_t n, const unsigned char *slot,
                        uint64_t high, const uint32_t *low, unsigned char *memory,
                        const int64_t *addresses) {
  size_t bytes = (size_t)1 << ((int)size_bits + unit_bits);
#define STORE(U)                                                                                   \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(memory + ((uint64_t)addresses[i] << size_bits), TILE_UNIT(i), (U));
  EACH_SIZE(bytes, STORE)
}

// ---- preparation --------------------------------------------------------------------------------

// Whether the address may be negative or not below the limit.
static bool may_leave(const tile *t, const plan_move *m) {
  int128 low = m->map.offset, high = low;
  if (m->limit == UINT64_MAX)
    return false;
  for (uint32_t l = 0; l < m->map.loop_count; l++) {
    uint64_t extent = t->stage->extents[l];
    int128 most = extent ? (int128)m->map.strides[l] * (int128)(extent - 1) : 0;
    *(most < 0 ? &low : &high) += most;
  }
  for (uint32_t r = 0; r < m->map.row_count; r++)
    *(m->map.rows[r].weight < 0 ? &low : &high) += m->map.rows[r].weight;
  return low < 0 || high >= (int128)m->limit;
}

void tile_move_prepare(arena *a, const tile *t, const plan_move *from, uint32_t live_count,
                       const net_form *live, uint32_t element_bytes, uint64_t slot,
                       tile_move *out) {
  uint64_t lines[F2_MAX];
  *out = (tile_move){.plan = from, .slot = slot, .size_bits = (uint32_t)f2_lsb(element_bytes)};
  out->checked = may_leave(t, from);
  tile_set_prepare(a, t, live_count, live, &out->set);
  int count = tile_map_lines(t, &from->map, &out->set, CHUNK_BITS, lines);
  tile_set_order(t, &out->set, count, lines);
  tile_set_tabulate(a, t, &out->set, CHUNK_BITS);
  tile_map_prepare(a, t, &from->map, &out->set, &out->map);
}

uint64_t tile_move_work(const tile_move *m) {
  return (sizeof(int64_t) << CHUNK_BITS) + m->map.group_count * sizeof(uint64_t);
}

// ---- one move -----------------------------------------------------------------------------------

typedef struct moving {
  const tile *tile;
  const tile_move *move;
  const tile_item *item;
  bool store;
  int unit_bits;
  uint64_t origin;
  unsigned char *slot, *array;
  int64_t *addresses;   // of a chunk's units
  uint64_t *constants;  // of the map
} moving;

static void move_units(const moving *v, int unit_bits, size_t count, uint64_t high) {
  const tile_move *m = v->move;
  if (v->store)
    store_units(m->size_bits, unit_bits, count, v->slot, high, m->set.low, v->array, v->addresses);
  else
    load_units(m->size_bits, unit_bits, count, v->slot, high, m->set.low, v->array, v->addresses);
}

static void move_checked(const moving *v, size_t count, uint64_t high) {
  const tile_move *m = v->move;
  size_t size = (size_t)1 << m->size_bits;
  for (size_t i = 0; i < count; i++) {
    unsigned char *element = v->slot + ((high ^ m->set.low[i]) << m->size_bits);
    uint64_t address = (uint64_t)v->addresses[i];
    bool inside = address < m->plan->limit;
    if (inside && v->store)
      memcpy(v->array + (address << m->size_bits), element, size);
    else if (!v->store)
      memcpy(element, inside ? v->array + (address << m->size_bits) : m->plan->fill.bytes, size);
  }
}

// Whether all of the units end below the limit.
static bool all_inside(const moving *v, size_t count) {
  uint64_t highest = 0;
  for (size_t i = 0; i < count; i++)
    highest = (uint64_t)v->addresses[i] > highest ? (uint64_t)v->addresses[i] : highest;
  uint64_t last = f2_mask(v->unit_bits);
  return v->move->plan->limit > last && highest < v->move->plan->limit - last;
}

static void move_chunk(const moving *v, uint64_t number, size_t count) {
  const tile_move *m = v->move;
  uint64_t high = v->origin ^ tile_set_high(v->tile, &m->set, number);
  size_t units = count >> v->unit_bits;
  tile_map_values(v->tile, &m->map, v->item, v->constants, number, v->unit_bits, units,
                  v->addresses);
  if (!m->checked || all_inside(v, units)) {
    move_units(v, v->unit_bits, units, high);
    return;
  }
  if (v->unit_bits > 0)
    tile_map_values(v->tile, &m->map, v->item, v->constants, number, 0, count, v->addresses);
  move_checked(v, count, high);
}

// All of the batch is one stretch of memory and one of the tile.
static bool move_at_once(const moving *v) {
  const tile_move *m = v->move;
  const net_map *map = m->map.map;
  uint64_t left = 0, count = v->item->count;
  if (m->checked || v->tile->batch_bits == 0 || m->set.dimension != v->tile->d ||
      v->unit_bits != v->tile->d || map->loop_count == 0 ||
      map->strides[map->loop_count - 1] != (int64_t)f2_unit(v->tile->d))
    return false;
  uint64_t first =
      (uint64_t)map->offset + (uint64_t)tile_loop_offset(v->tile, map, v->item->loop, &left);
  for (uint32_t g = 0; g < m->map.group_count; g++)
    first += (uint64_t)m->map.groups[g].odd * v->constants[g];
  if (left < count)
    return false;
  unsigned char *memory = v->array + (first << m->size_bits);
  size_t bytes = (size_t)count << (v->tile->d + (int)m->size_bits);
  memcpy(v->store ? memory : v->slot, v->store ? v->slot : memory, bytes);
  return true;
}

// Runs of memory, as long as the constant of the map does not turn them round.
static int find_unit(const tile_move *m, const uint64_t *constants) {
  int bits = m->set.run < m->map.run ? m->set.run : m->map.run;
  for (uint32_t g = 0; bits > 0 && g < m->map.group_count; g++)
    if (m->map.groups[g].odd == 1 && m->map.groups[g].columns[0] == 1 &&
        (constants[g] & f2_mask(bits)) != 0)
      bits = f2_lsb(constants[g]);
  return bits;
}

static void move(const tile *t, const tile_move *m, const tile_item *item, bool store) {
  moving v = {.tile = t, .move = m, .item = item, .store = store};
  if (!tile_set_start(&m->set, item->base, &v.origin))
    return;
  v.slot = item->slots + m->slot;
  v.array = item->arrays[m->plan->array];
  v.addresses = (int64_t *)item->work;
  v.constants = (uint64_t *)item->work + ((size_t)1 << CHUNK_BITS);
  tile_map_start(&m->map, tile_index(t, item, v.origin), v.constants);
  v.unit_bits = find_unit(m, v.constants);
  if (move_at_once(&v))
    return;
  uint64_t total = item->count << m->set.dimension, chunk = f2_unit(m->set.chunk_bits);
  for (uint64_t number = 0; number < total; number += chunk)
    move_chunk(&v, number, (size_t)(total - number < chunk ? total - number : chunk));
}

void tile_load(const tile *t, const tile_move *m, const tile_item *item) {
  move(t, m, item, false);
}

void tile_store(const tile *t, const tile_move *m, const tile_item *item) {
  move(t, m, item, true);
}
