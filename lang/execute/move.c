// Moves of elements. See execute.h.
//
// All are one: units, elements or rows that stay together, go from places of an instance of the
// operand to places of an instance of the result. Those are the same in all instances.
//
//   %1 split %0 m=3          [8]u32, so a unit has 4 bytes, and an instance 32
//     from  0  4  8 12 16 20 24 28
//     to    0 16 20  4  8 24 28 12      units 0 3 4 7 and 1 2 5 6
//   %1 element %0 [2]        [5][8]u32: a unit is a row; from its place 2 of 5 to the only one
//
// Sizes are those of trace_verify: no product of them overflows unless the result is empty, and
// then nothing here is reached.
#include "lang/execute/execute.h"

#include "core/f2.h"
#include "core/number.h"
#include "core/sizes.h"

enum {
  WATCH_ELEMENTS = 1 << 18,  // at most some milliseconds of moves
  CHUNK = 512,               // places that are found at a time; a power of two
  PIECE_BYTES = 1 << 14,     // of a unit that are moved at a time
  LOOK_BYTES = 1 << 18,      // moved between two looks at the watch
};

bool step_watch_spend(step_watch *w, uint64_t elements) {
  if (elements < w->left) {
    w->left -= elements;
    return true;
  }
  w->left = WATCH_ELEMENTS;
  return w->interrupted == NULL || !atomic_load_explicit(w->interrupted, memory_order_relaxed);
}

typedef struct move {
  unsigned char *out;
  const unsigned char *in;
  size_t unit;                   // bytes
  size_t out_stride, in_stride;  // bytes from one instance to the next
  uint64_t instances;            // of the result
  uint64_t ratio, used;          // so many of them read the same one; so many have, before
} move;

// Bytes from the beginning of an instance.
typedef struct chunk {
  size_t count, to[CHUNK], from[CHUNK];
} chunk;

static const chunk one_unit = {.count = 1};

static bool move_chunk(step_watch *w, const move *m, const chunk *c) {
  const size_t count = c->count, out_stride = m->out_stride, in_stride = m->in_stride;
  const size_t *restrict to = c->to, *restrict from = c->from;
  for (size_t done = 0, size; done < m->unit; done += size) {
    size = m->unit - done < PIECE_BYTES ? m->unit - done : PIECE_BYTES;
    unsigned char *restrict out = m->out + done;
    const unsigned char *restrict in = m->in + done;
    uint64_t look = LOOK_BYTES / (count * size + 1) + 1, left = m->ratio - m->used;
    for (uint64_t i = 0, n; i < m->instances; i += n) {
      n = m->instances - i < look ? m->instances - i : look;
#define MOVE(U)                                                                                    \
  for (uint64_t k = 0; k < n; k++, out += out_stride) {                                            \
    for (size_t j = 0; j < count; j++)                                                             \
      memcpy(out + to[j], in + from[j], U);                                                        \
    if (--left == 0)                                                                               \
      left = m->ratio, in += in_stride;                                                            \
  }
      FOR_UNIT_SIZE(size, MOVE)
#undef MOVE
      if (!step_watch_spend(w, n * count * (1 + size / 16)))
        return false;
    }
  }
  return true;
}

bool execute_repeat(step_watch *w, void *out, const void *in, size_t unit, uint64_t start,
                    uint64_t n, uint64_t ratio) {
  return move_chunk(w,
                    &(move){.out = out,
                            .in = (const unsigned char *)in + start / ratio * unit,
                            .unit = unit,
                            .out_stride = unit,
                            .in_stride = unit,
                            .instances = n,
                            .ratio = ratio,
                            .used = start % ratio},
                    &one_unit);
}

// ---- places --------------------------------------------------------------------------------------

static uint64_t remove_bit(uint64_t x, int bit) {
  return (x >> (bit + 1)) << bit | (x & f2_mask(bit));
}

// The definition: SPLIT, PAIR, BMMC and TRANSPOSE bring unit x of an instance to this place; STITCH
// and UNPAIR bring it back from there. (The halves or pairs of an instance follow each other, so
// the whole is a permutation within the instance.)
static uint64_t permuted_place(const trace_step *s, uint64_t units, uint64_t x) {
  uint64_t y = s->number, mask = s->number;
  switch (s->op) {
  case TRACE_SPLIT:
  case TRACE_STITCH:
    return f2_dot(x, mask) * (units / 2) + remove_bit(x, f2_lsb(mask));
  case TRACE_PAIR:
  case TRACE_UNPAIR:
    return f2_bit(x, f2_msb(mask)) ? 2 * remove_bit(x ^ mask, f2_msb(mask)) + 1
                                   : 2 * remove_bit(x, f2_msb(mask));
  case TRACE_BMMC:
    for (int row = 0; units >> (row + 1) != 0; row++)
      y ^= (uint64_t)f2_dot(x, s->rows[row]) << row;
    return y;
  default:
    return x % s->dims[0] * s->dims[1] + x / s->dims[0];
  }
}

// The places of units first, ..., first + n - 1. All but TRANSPOSE are affine over F_2, so that the
// place of x + 2^b, x < 2^b, is that of x and the change that bit b makes.
static void find_places(const trace_step *s, uint64_t units, uint64_t first, size_t n,
                        size_t *place) {
  place[0] = permuted_place(s, units, first);
  if (s->op == TRACE_TRANSPOSE) {
    for (size_t x = 1; x < n; x++) {
      uint64_t next = place[x - 1] + s->dims[1];  // of the same row, or else of the next
      place[x] = next < units ? next : next - (units - 1);
    }
    return;
  }
  for (size_t bit = 1; bit < n; bit *= 2) {
    uint64_t change = permuted_place(s, units, first + bit) ^ place[0];
    for (size_t x = 0; x < bit; x++)
      place[x + bit] = place[x] ^ change;
  }
}

// ---- the steps ----------------------------------------------------------------------------------

static const trace_step *operand(const trace *t, const trace_step *s, uint32_t k) {
  return &t->steps.items[s->operands[k]];
}

static size_t instance_bytes(const trace_step *s) {
  return product_of(s->dims, s->rank) * scalar_types[s->type].size;
}

// What instances of `s` see of operand k: one unit of it each.
static move move_of(const trace *t, const trace_step *s, uint32_t k, const void *in, void *out) {
  return (move){.out = out,
                .in = in,
                .unit = instance_bytes(s),
                .out_stride = instance_bytes(s),
                .in_stride = instance_bytes(operand(t, s, k)),
                .instances = s->batch,
                .ratio = s->batch / operand(t, s, k)->batch};
}

static bool permute(step_watch *w, const trace *t, const trace_step *s, move m) {
  bool parts = s->op == TRACE_SPLIT || s->op == TRACE_PAIR;
  bool joins = s->op == TRACE_STITCH || s->op == TRACE_UNPAIR;
  const trace_step *whole = parts ? operand(t, s, 0) : s;
  uint64_t units = whole->dims[0], all = units;
  if (s->op == TRACE_TRANSPOSE)
    units = all = whole->dims[0] * whole->dims[1];
  if (s->op == TRACE_PAIR || s->op == TRACE_UNPAIR)  // index bits above the mask stay
    units = (uint64_t)2 << f2_msb(s->number);
  m.unit = instance_bytes(whole) / all;
  m.out_stride = m.in_stride = units * m.unit;
  m.instances = whole->batch * (all / units);
  m.ratio = parts || joins ? 1 : m.ratio;
  chunk c;
  for (uint64_t first = 0; first < units; first += c.count) {
    c.count = units - first < CHUNK ? units - first : CHUNK;
    find_places(s, units, first, c.count, c.to);
    for (size_t j = 0; j < c.count; j++) {
      size_t unit = (first + j) * m.unit, place = c.to[j] * m.unit;
      c.from[j] = joins ? place : unit;
      c.to[j] = joins ? unit : place;
    }
    if (!move_chunk(w, &m, &c))
      return false;
  }
  return true;
}

// GATHER and SCATTER in one instance: `places` is where its list of places begins.
static bool move_placed(step_watch *w, const trace_step *s, const trace_step *list,
                        const unsigned char *places, uint64_t length, const move *m) {
  chunk c;
  uint64_t place[CHUNK];
  size_t size = scalar_types[list->type].size;
  for (uint64_t first = 0, n; first < list->dims[0]; first += n) {
    n = list->dims[0] - first < CHUNK ? list->dims[0] - first : CHUNK;
    scalar_convert(list->type, SCALAR_U64, n, places + first * size, place);  // negative: too large
    c.count = 0;
    for (uint64_t j = 0; j < n; j++) {
      size_t unit = (first + j) * m->unit, placed = place[j] * m->unit;
      if (place[j] < length) {
        c.to[c.count] = s->op == TRACE_GATHER ? unit : placed;
        c.from[c.count++] = s->op == TRACE_GATHER ? placed : unit;
      } else if (s->op == TRACE_GATHER) {
        memset(m->out + unit, 0, m->unit);
      }
    }
    if (!move_chunk(w, m, &c))
      return false;
  }
  return true;
}

// Instance after instance, as each has places of its own.
static bool move_all_placed(step_watch *w, const trace *t, const trace_step *s,
                            const void *const *in, void *out) {
  const trace_step *list = operand(t, s, 0), *moved = operand(t, s, 1);
  move lists = move_of(t, s, 0, in[0], out), all = move_of(t, s, 1, in[1], out);
  move m = {.out = out, .unit = all.unit / s->dims[0], .instances = 1};
  for (uint64_t i = 0; i < s->batch; i++, m.out += all.out_stride) {
    m.in = all.in + i / all.ratio * all.in_stride;
    if (!move_placed(w, s, list, lists.in + i / lists.ratio * lists.in_stride,
                     s->op == TRACE_GATHER ? moved->dims[0] : s->dims[0], &m))
      return false;
  }
  return true;
}

bool execute_move(step_watch *w, const trace *t, const trace_step *s, const void *const *in,
                  void *out) {
  if (trace_step_count(s) == 0)
    return true;
  move m = move_of(t, s, 0, in[0], out);
  switch (s->op) {
  case TRACE_RESHAPE:
    m.unit *= m.instances, m.instances = 1;
    break;
  case TRACE_REPLICATE:
    m.unit = m.out_stride = m.in_stride;
    m.instances *= s->dims[0], m.ratio *= s->dims[0];
    break;
  case TRACE_ELEMENT:
    m.in += s->number * m.unit;
    break;
  case TRACE_SLICE:
    m.in += s->number * (m.unit / s->dims[0]);
    break;
  case TRACE_PACK:
  case TRACE_CONCAT:  // side by side
    for (uint32_t k = 0; k < s->operand_count; k++, out = (unsigned char *)out + m.unit) {
      m = move_of(t, s, k, in[k], out);
      m.unit = m.in_stride;
      if (!move_chunk(w, &m, &one_unit))
        return false;
    }
    return true;
  case TRACE_SPLIT:
  case TRACE_STITCH:
  case TRACE_PAIR:
  case TRACE_UNPAIR:
  case TRACE_BMMC:
  case TRACE_TRANSPOSE:
    return permute(w, t, s, m);
  case TRACE_GATHER:
    return move_all_placed(w, t, s, in, out);
  case TRACE_SCATTER:
    m = move_of(t, s, 2, in[2], out);
    return move_chunk(w, &m, &one_unit) && move_all_placed(w, t, s, in, out);
  default:  // BROADCAST
    break;
  }
  return move_chunk(w, &m, &one_unit);
}
