// Moves of elements. See interp/move.h.
//
// Sizes are those of trace_verify: no product of them overflows unless the result is empty, and
// then nothing here is reached. A "unit" is what moves as a whole: an element of the outermost
// dimension (a scalar or a row), or several of them that stay together.
#include "runtime/interp/move.h"

#include "core/sizes.h"
#include "runtime/interp/buffers.h"

enum {
  WATCH_ELEMENTS = 1 << 18,  // at most some milliseconds of moves
  BLOCK_UNITS = 1 << 13,
  BLOCK_BYTES = 1 << 18,
  CACHE_BYTES = 1 << 13,
  SMALL_UNITS = 16,  // instances up to this long are moved place by place, over all instances
};

bool interp_watch_spend(interp_watch *w, uint64_t elements) {
  if (elements < w->left) {
    w->left -= elements;
    return true;
  }
  w->left = WATCH_ELEMENTS;
  return w->interrupted == NULL || !atomic_load_explicit(w->interrupted, memory_order_relaxed);
}

// ---- copies -------------------------------------------------------------------------------------

static bool copy_bytes(interp_watch *w, unsigned char *out, const unsigned char *in, size_t bytes) {
  while (bytes > 0) {
    size_t n = bytes < BLOCK_BYTES ? bytes : BLOCK_BYTES;
    memcpy(out, in, n);
    if (!interp_watch_spend(w, n / 8))
      return false;
    out += n, in += n, bytes -= n;
  }
  return true;
}

// How many units to move between two looks at the watch.
static size_t units_per_look(size_t unit, size_t count) {
  size_t block = unit < BLOCK_BYTES / BLOCK_UNITS ? BLOCK_UNITS : BLOCK_BYTES / unit + 1;
  return count < block ? count : block;
}

typedef struct strided_move {
  unsigned char *out;
  const unsigned char *in;
  size_t out_stride, in_stride;  // bytes from one unit to the next; in_stride 0 repeats one unit
} strided_move;

// `count` units of `unit` bytes.
static bool copy_units(interp_watch *w, strided_move p, size_t unit, size_t count) {
  if (p.out_stride == unit && p.in_stride == unit)
    return copy_bytes(w, p.out, p.in, unit * count);
  while (count > 0) {
    size_t n = units_per_look(unit, count);
    if (n == 1 && unit > BLOCK_BYTES) {
      if (!copy_bytes(w, p.out, p.in, unit))
        return false;
    } else {
#define COPY(size)                                                                                 \
  for (size_t i = 0; i < n; i++)                                                                   \
    memcpy(p.out + i * p.out_stride, p.in + i * p.in_stride, size);
      FOR_UNIT_SIZE(unit, COPY)
#undef COPY
    }
    if (!interp_watch_spend(w, n))
      return false;
    p.out += n * p.out_stride, p.in += n * p.in_stride, count -= n;
  }
  return true;
}

// One unit per instance, where `ratio` consecutive instances of the result read the same instance.
static bool copy_instances(interp_watch *w, strided_move p, size_t unit, uint64_t batch,
                           uint64_t ratio) {
  if (ratio == 1)
    return copy_units(w, p, unit, batch);
  for (uint64_t i = 0; i < batch; i += ratio) {
    strided_move repeated = {p.out + i * p.out_stride, p.in + i / ratio * p.in_stride, p.out_stride,
                             0};
    if (!copy_units(w, repeated, unit, ratio))
      return false;
  }
  return true;
}

void interp_repeat(void *out, const void *in, size_t unit, uint64_t start, size_t n,
                   uint64_t ratio) {
  unsigned char *to = out;
  const unsigned char *from = (const unsigned char *)in + start / ratio * unit;
  uint64_t used = start % ratio;
#define REPEAT(size)                                                                               \
  for (size_t i = 0; i < n; i++) {                                                                 \
    memcpy(to + i * (size), from, size);                                                           \
    if (++used == ratio)                                                                           \
      used = 0, from += (size);                                                                    \
  }
  FOR_UNIT_SIZE(unit, REPEAT)
#undef REPEAT
}

// ---- permutations of the elements of each instance ----------------------------------------------

// BMMC: out[A x + c] = in[x], by table for the low bits of x and bit by bit for the others.
enum { TABLE_BITS = 8 };

typedef struct affine_map {
  uint64_t columns[64], constant;
  uint64_t table[1 << TABLE_BITS];  // A x for x < 2^TABLE_BITS
} affine_map;

typedef struct permutation {
  const trace_step *step;
  uint64_t instances;      // each of `units` units, in the operand and in the result alike
  uint64_t units, unit;    // unit in bytes
  uint64_t mask;           // SPLIT, STITCH, PAIR, UNPAIR
  uint64_t rows, columns;  // TRANSPOSE, of the operand
  uint64_t ratio;          // this many instances of the result read the same one
  const affine_map *map;
} permutation;

static uint64_t remove_bit(uint64_t x, int bit) {
  return (x >> (bit + 1)) << bit | (x & (((uint64_t)1 << bit) - 1));
}

static uint64_t affine_high(const affine_map *map, uint64_t x) {
  uint64_t y = map->constant;
  for (uint64_t rest = x >> TABLE_BITS << TABLE_BITS; rest != 0; rest &= rest - 1)
    y ^= map->columns[__builtin_ctzll(rest)];
  return y;
}

// The definition: SPLIT, PAIR, BMMC and TRANSPOSE bring unit x of an instance to this place; STITCH
// and UNPAIR bring it back from there. (The halves or pairs of an instance follow each other, so
// the whole is a permutation within the instance.)
static uint64_t permuted_place(const permutation *p, uint64_t x) {
  int low = __builtin_ctzll(p->mask), high = 63 - __builtin_clzll(p->mask);
  switch (p->step->op) {
  case TRACE_SPLIT:
  case TRACE_STITCH:
    return (uint64_t)__builtin_parityll(x & p->mask) * (p->units / 2) + remove_bit(x, low);
  case TRACE_PAIR:
  case TRACE_UNPAIR:
    return x >> high & 1 ? 2 * remove_bit(x ^ p->mask, high) + 1 : 2 * remove_bit(x, high);
  case TRACE_BMMC:
    return affine_high(p->map, x) ^ p->map->table[x & ((1 << TABLE_BITS) - 1)];
  default:
    return x % p->columns * p->rows + x / p->columns;
  }
}

static bool moves_back(trace_op op) { return op == TRACE_STITCH || op == TRACE_UNPAIR; }

// Short instances: for each place, many instances at once, as many as the first cache holds.
static bool permute_short_instances(interp_watch *w, const permutation *p, const unsigned char *in,
                                    unsigned char *out) {
  size_t instance = p->units * p->unit;
  uint64_t block = (CACHE_BYTES / instance / p->ratio + 1) * p->ratio;
  for (uint64_t done = 0; done < p->instances; done += block) {
    uint64_t n = p->instances - done < block ? p->instances - done : block;
    const unsigned char *first_in = in + done / p->ratio * instance;
    unsigned char *first_out = out + done * instance;
    for (uint64_t x = 0; x < p->units; x++) {
      uint64_t y = permuted_place(p, x), from = moves_back(p->step->op) ? y : x, to = x + y - from;
      strided_move where = {first_out + to * p->unit, first_in + from * p->unit, instance,
                            instance};
      if (!copy_instances(w, where, p->unit, n, p->ratio))
        return false;
    }
  }
  return true;
}

// SPLIT, STITCH, PAIR and UNPAIR of one instance move units 2x and 2x + 1, the interleaved side, to
// or from one unit of each half of an instance.
//
//   SPLIT by a mask whose lowest bit is bit 0 (the caller makes units of 2^lsb elements): place x
//   of the halves parity(x & rest) and the other.
//     unit  0 1 2 3 4 5 6 7   mask 011: half 0 gets 0 3 4 7, half 1 gets 1 2 5 6
//   PAIR by a mask whose highest bit is the top one (the caller makes more instances of shorter
//   ones): place x of the low half and x xor rest of the high half.
static bool move_halves_instance(interp_watch *w, const permutation *p, const unsigned char *in,
                                 unsigned char *out) {
  trace_op op = p->step->op;
  bool splits = op == TRACE_SPLIT || op == TRACE_STITCH;
  bool from_halves = op == TRACE_STITCH || op == TRACE_PAIR;
  size_t unit = p->unit, half = p->units / 2;
  uint64_t rest = splits ? p->mask >> 1 : p->mask - half;
  for (size_t done = 0, n; done < half; done += n) {
    n = units_per_look(2 * unit, half - done);
#define MOVE_UNITS(size)                                                                           \
  for (size_t x = done; x < done + n; x++) {                                                       \
    size_t odd = splits ? (size_t)__builtin_parityll(x & rest) : 0;                                \
    size_t first = x + odd * half, second = splits ? x + half - odd * half : (x ^ rest) + half;    \
    if (from_halves) {                                                                             \
      memcpy(out + 2 * x * (size), in + first * (size), size);                                     \
      memcpy(out + (2 * x + 1) * (size), in + second * (size), size);                              \
    } else {                                                                                       \
      memcpy(out + first * (size), in + 2 * x * (size), size);                                     \
      memcpy(out + second * (size), in + (2 * x + 1) * (size), size);                              \
    }                                                                                              \
  }
    FOR_UNIT_SIZE(unit, MOVE_UNITS)
#undef MOVE_UNITS
    if (!interp_watch_spend(w, 2 * n * (1 + unit / 16)))
      return false;
  }
  return true;
}

static bool bmmc_instance(interp_watch *w, const permutation *p, const unsigned char *in,
                          unsigned char *out) {
  size_t unit = p->unit;
  for (size_t done = 0, n; done < p->units; done += n) {
    n = p->units - done < 1 << TABLE_BITS ? p->units - done : 1 << TABLE_BITS;
    uint64_t high = affine_high(p->map, done);
#define MOVE_UNITS(size)                                                                           \
  for (size_t x = 0; x < n; x++)                                                                   \
    memcpy(out + (high ^ p->map->table[x]) * (size), in + (done + x) * (size), size);
    FOR_UNIT_SIZE(unit, MOVE_UNITS)
#undef MOVE_UNITS
    if (!interp_watch_spend(w, n * (1 + unit / 16)))
      return false;
  }
  return true;
}

static bool transpose_instance(interp_watch *w, const permutation *p, const unsigned char *in,
                               unsigned char *out) {
  size_t unit = p->unit;
  for (uint64_t row = 0; row < p->rows; row++) {
    strided_move where = {out + row * unit, in + row * p->columns * unit, p->rows * unit, unit};
    if (!copy_units(w, where, unit, p->columns))
      return false;
  }
  return true;
}

static bool permute(interp_watch *w, const permutation *p, const unsigned char *in,
                    unsigned char *out) {
  if (p->units <= SMALL_UNITS && p->instances > p->units)
    return permute_short_instances(w, p, in, out);
  bool (*move)(interp_watch *, const permutation *, const unsigned char *, unsigned char *) =
      p->step->op == TRACE_BMMC        ? bmmc_instance
      : p->step->op == TRACE_TRANSPOSE ? transpose_instance
                                       : move_halves_instance;
  size_t instance = p->units * p->unit;
  for (uint64_t i = 0; i < p->instances; i++)
    if (!move(w, p, in + i / p->ratio * instance, out + i * instance))
      return false;
  return true;
}

// ---- the steps ----------------------------------------------------------------------------------

static uint64_t dims_product(const uint64_t *dims, uint32_t count) {
  uint64_t p = 1;
  for (uint32_t i = 0; i < count; i++)
    p *= dims[i];
  return p;
}

// SPLIT and STITCH move 2^lsb(mask) elements together, so take those as the unit.
static bool move_halves(interp_watch *w, const trace_step *whole, permutation p, const void *in,
                        void *out) {
  int low = __builtin_ctzll(p.step->number);
  p.mask = p.step->number >> low;
  p.units = whole->dims[0] >> low;
  p.unit <<= low;
  p.instances = whole->batch;
  return permute(w, &p, in, out);
}

// PAIR and UNPAIR never mix the index bits above the mask with those below, so each value of the
// upper bits is an instance.
static bool move_pairs(interp_watch *w, const trace_step *whole, permutation p, const void *in,
                       void *out) {
  int high = 63 - __builtin_clzll(p.step->number);
  p.mask = p.step->number;
  p.units = (uint64_t)2 << high;
  p.instances = whole->batch * (whole->dims[0] / p.units);
  return permute(w, &p, in, out);
}

static bool move_bmmc(interp_watch *w, permutation p, const void *in, void *out) {
  affine_map map = {.constant = p.step->number};
  p.units = p.step->dims[0];
  for (int column = 0; p.units >> (column + 1) != 0; column++)
    for (int row = 0; p.units >> (row + 1) != 0; row++)
      map.columns[column] |= (p.step->rows[row] >> column & 1) << row;
  for (uint64_t x = 1; x < 1 << TABLE_BITS; x++)
    map.table[x] = map.table[x & (x - 1)] ^ map.columns[__builtin_ctzll(x)];
  p.map = &map;
  return permute(w, &p, in, out);
}

static bool move_transpose(interp_watch *w, permutation p, const void *in, void *out) {
  p.rows = p.step->dims[1], p.columns = p.step->dims[0];
  p.units = p.rows * p.columns;
  p.unit /= p.step->dims[1];
  return permute(w, &p, in, out);
}

// `copies` of each instance of the operand, one after the other.
static bool move_replicate(interp_watch *w, strided_move p, size_t unit, uint64_t batch,
                           uint64_t ratio, uint64_t copies) {
  p.in_stride = unit, p.out_stride = copies * unit;
  if (copies < batch) {
    for (uint64_t j = 0; j < copies; j++) {
      strided_move one = {p.out + j * unit, p.in, p.out_stride, p.in_stride};
      if (!copy_instances(w, one, unit, batch, ratio))
        return false;
    }
    return true;
  }
  for (uint64_t i = 0; i < batch; i++) {
    strided_move one = {p.out + i * p.out_stride, p.in + i / ratio * unit, unit, 0};
    if (!copy_units(w, one, unit, copies))
      return false;
  }
  return true;
}

// PACK and CONCAT: the operands' instances side by side.
static bool move_beside(interp_watch *w, const trace *t, const trace_step *s, const void *const *in,
                        unsigned char *out, size_t stride) {
  for (uint32_t k = 0; k < s->operand_count; k++) {
    const trace_step *o = &t->steps.items[s->operands[k]];
    size_t unit = dims_product(o->dims, o->rank) * scalar_types[o->type].size;
    strided_move p = {out, in[k], stride, unit};
    if (unit != 0 && !copy_instances(w, p, unit, s->batch, s->batch / o->batch))
      return false;
    out += unit;
  }
  return true;
}

// ---- places that are data -----------------------------------------------------------------------

// GATHER and SCATTER: units (elements of the outermost dimension) at places of an array.
typedef struct placed_move {
  const trace *trace;
  const trace_step *step;
  const unsigned char *places;
  uint64_t length, unit;  // of the array that the places are of; bytes
} placed_move;

enum { PLACES = 256 };

// Places first, ..., first + n - 1 of an instance; as numbers that are too large where negative.
static void read_places(const placed_move *m, uint64_t instance, uint64_t first, size_t n,
                        uint64_t *out) {
  const trace_step *o = &m->trace->steps.items[m->step->operands[0]];
  uint64_t from = instance / (m->step->batch / o->batch) * o->dims[0] + first;
  scalar_convert(o->type, SCALAR_U64, n, m->places + from * scalar_types[o->type].size, out);
}

static bool gather_instance(interp_watch *w, const placed_move *m, uint64_t instance,
                            const unsigned char *in, unsigned char *out) {
  uint64_t places[PLACES], count = m->step->dims[0];
  for (uint64_t i = 0; i < count; i += PLACES) {
    size_t n = count - i < PLACES ? count - i : PLACES;
    read_places(m, instance, i, n, places);
    for (size_t j = 0; j < n; j++, out += m->unit)
      if (places[j] < m->length)
        memcpy(out, in + places[j] * m->unit, m->unit);
      else
        memset(out, 0, m->unit);
    if (!interp_watch_spend(w, n * (1 + m->unit / 16)))
      return false;
  }
  return true;
}

static bool scatter_instance(interp_watch *w, const placed_move *m, uint64_t instance,
                             const unsigned char *in, uint64_t count, unsigned char *out) {
  uint64_t places[PLACES];
  for (uint64_t i = 0; i < count; i += PLACES) {
    size_t n = count - i < PLACES ? count - i : PLACES;
    read_places(m, instance, i, n, places);
    for (size_t j = 0; j < n; j++, in += m->unit)
      if (places[j] < m->length)
        memcpy(out + places[j] * m->unit, in, m->unit);
    if (!interp_watch_spend(w, n * (1 + m->unit / 16)))
      return false;
  }
  return true;
}

// What a SCATTER changes.
static bool copy_base(interp_watch *w, const trace *t, const trace_step *s, const void *base,
                      unsigned char *out) {
  const trace_step *o = &t->steps.items[s->operands[2]];
  size_t unit = dims_product(s->dims, s->rank) * scalar_types[s->type].size;
  strided_move p = {out, base, unit, unit};
  return copy_instances(w, p, unit, s->batch, s->batch / o->batch);
}

static bool move_placed(interp_watch *w, placed_move m, const void *const *in, unsigned char *out) {
  const trace_step *s = m.step, *moved = &m.trace->steps.items[s->operands[1]];
  bool gathers = s->op == TRACE_GATHER;
  uint64_t instance = s->dims[0] * m.unit, from = moved->dims[0] * m.unit;
  m.places = in[0];
  m.length = gathers ? moved->dims[0] : s->dims[0];
  for (uint64_t i = 0; i < s->batch; i++, out += instance) {
    const unsigned char *units =
        (const unsigned char *)in[1] + i / (s->batch / moved->batch) * from;
    if (!(gathers ? gather_instance(w, &m, i, units, out)
                  : scatter_instance(w, &m, i, units, moved->dims[0], out)))
      return false;
  }
  return true;
}

bool interp_move(interp_watch *w, const trace *t, const trace_step *s, const void *const *in,
                 void *out) {
  if (trace_step_count(s) == 0)
    return true;
  const trace_step *o = &t->steps.items[s->operands[0]];
  size_t size = scalar_types[s->type].size;
  size_t instance = dims_product(s->dims, s->rank) * size,
         from = dims_product(o->dims, o->rank) * size;
  uint64_t ratio = s->batch / o->batch;
  strided_move p = {out, in[0], instance, from};
  placed_move placed = {.trace = t, .step = s, .unit = s->rank ? instance / s->dims[0] : 0};
  permutation q = {.step = s, .instances = s->batch, .mask = 1, .ratio = 1};
  if (s->rank > 0)
    q.unit = instance / s->dims[0];
  switch (s->op) {
  case TRACE_RESHAPE:
    return copy_bytes(w, out, in[0], s->batch * instance);
  case TRACE_BROADCAST:
    return copy_instances(w, p, instance, s->batch, ratio);
  case TRACE_SPLIT:
    return move_halves(w, o, q, in[0], out);
  case TRACE_STITCH:
    return move_halves(w, s, q, in[0], out);
  case TRACE_PAIR:
    return move_pairs(w, o, q, in[0], out);
  case TRACE_UNPAIR:
    return move_pairs(w, s, q, in[0], out);
  case TRACE_BMMC:
    return q.ratio = ratio, move_bmmc(w, q, in[0], out);
  case TRACE_TRANSPOSE:
    return q.ratio = ratio, move_transpose(w, q, in[0], out);
  case TRACE_ELEMENT:
    return p.in += s->number * instance, copy_instances(w, p, instance, s->batch, ratio);
  case TRACE_SLICE:
    return p.in += s->number * q.unit, copy_instances(w, p, instance, s->batch, ratio);
  case TRACE_PACK:
  case TRACE_CONCAT:
    return move_beside(w, t, s, in, out, instance);
  case TRACE_REPLICATE:
    return move_replicate(w, p, from, s->batch, ratio, s->dims[0]);
  case TRACE_GATHER:
    return move_placed(w, placed, in, out);
  case TRACE_SCATTER:
    return copy_base(w, t, s, in[2], out) && move_placed(w, placed, in, out);
  default:
    return true;
  }
}
