// Compare-exchange over a tile, in vectors of GCC's and clang's extension: for the processor that
// the library is compiled for, and on x86-64 for AVX2 and AVX-512, chosen when the program runs.
#include "runtime/portable/pass.h"

static void compute_lanes(const compare *c, int type_bits, int lane_bits, compare_lanes *l) {
  uint64_t low = f2_mask(lane_bits), coordinate = c->coordinate & low;
  l->direction = c->direction >> lane_bits;
  l->coordinate = c->coordinate >> lane_bits;
  l->within = c->direction & low;
  l->mixed = coordinate != 0;
  l->bytes = (uint32_t)l->within << type_bits;
  for (uint32_t i = 0; i < 64; i++)
    l->odd[i] = f2_dot(coordinate, (i >> type_bits) & low) ? 0xff : 0;
  for (uint32_t i = 0; i < 16; i++)
    l->words[i] = i ^ (l->bytes >> 2);
  l->top = l->run = 0;
  if (l->direction == 0)
    return;
  l->top = f2_msb(l->direction);
  uint64_t breaks = l->direction | (l->coordinate & ~f2_unit(l->top));
  l->run = f2_lsb(breaks);
}

// The first vector of the k-th run of those whose bit `top` is 0.
static inline uint64_t pair_start(const compare_lanes *l, uint64_t k) {
  uint64_t at = k << l->run, below = at & f2_mask(l->top);
  return (at ^ below) << 1 | below;
}

// ---- for vectors.inc and compare.inc, which are included once for each width and type -----------

#define PASTE__3(a, b, c) a##_##b##_##c
#define PASTE_3(a, b, c) PASTE__3(a, b, c)
#define PASTE__2(a, b) a##_##b
#define PASTE_2(a, b) PASTE__2(a, b)

#define NAME(x) PASTE_3(x, KIND, WIDTH)  // of the type and width
#define HALVES PASTE_2(halves, WIDTH)
#define WORDS PASTE_2(words, WIDTH)
#define LONGS PASTE_2(longs, WIDTH)

// Lane i takes the value of lane i ^ l->within. Where the bytes of a lane and its partner differ by
// less than a word, the vector of halves or words is rotated; else words or longs are shuffled.
#ifdef __clang__
#define SHUFFLE_LONGS(x, ...) __builtin_shufflevector((LONGS)x, (LONGS)x, __VA_ARGS__)
#else
#define SHUFFLE_LONGS(x, ...) __builtin_shuffle((LONGS)x, (LONGS){__VA_ARGS__})
#endif
#define SWAP_WORDS(x)                                                                              \
  if (l->bytes & 4)                                                                                \
    x = (WORDS)((LONGS)x << 32 | (LONGS)x >> 32);
#define SWAP_LONGS(x, bytes_apart, ...)                                                            \
  if (l->bytes & (bytes_apart))                                                                    \
    x = (WORDS)SHUFFLE_LONGS(x, __VA_ARGS__);
#define SHUFFLE_WORDS_16(x) SWAP_WORDS(x) SWAP_LONGS(x, 8, 1, 0)
#ifdef __clang__
#define SHUFFLE_WORDS_32(x) SWAP_WORDS(x) SWAP_LONGS(x, 8, 1, 0, 3, 2) SWAP_LONGS(x, 16, 2, 3, 0, 1)
#define SHUFFLE_WORDS_64(x)                                                                        \
  SWAP_WORDS(x)                                                                                    \
  SWAP_LONGS(x, 8, 1, 0, 3, 2, 5, 4, 7, 6)                                                         \
  SWAP_LONGS(x, 16, 2, 3, 0, 1, 6, 7, 4, 5)                                                        \
  SWAP_LONGS(x, 32, 4, 5, 6, 7, 0, 1, 2, 3)
#else
#define SHUFFLE_WORDS_32(x) x = __builtin_shuffle(x, *(const WORDS *)l->words);
#define SHUFFLE_WORDS_64(x) SHUFFLE_WORDS_32(x)
#endif
#define SHUFFLE(from, to)                                                                          \
  {                                                                                                \
    WORDS moved = (WORDS)(from);                                                                   \
    if (sizeof(T) < 2 && (l->bytes & 1))                                                           \
      moved = (WORDS)((HALVES)moved << 8 | (HALVES)moved >> 8);                                    \
    if (sizeof(T) < 4 && (l->bytes & 2))                                                           \
      moved = moved << 16 | moved >> 16;                                                           \
    if (sizeof(T) > 2 || l->bytes > 3) {                                                           \
      PASTE_2(SHUFFLE_WORDS, WIDTH)(moved)                                                         \
    }                                                                                              \
    to = (NAME(vector))moved;                                                                      \
  }

#define FLOATS_ARE(F, a, relation, b)                                                              \
  ((NAME(mask))((PASTE_2(F, WIDTH))(a)relation(PASTE_2(F, WIDTH))(b)))
#define RANKS_ARE(a, relation, b) ((NAME(mask))(NAME(rank)(a) relation NAME(rank)(b)))
#define HALVES_ARE(a, relation, b)                                                                 \
  ((NAME(mask))(NAME(number)(a) relation NAME(number)(b)) & ~NAME(is_nan)(a) & ~NAME(is_nan)(b))
// For core/scalar/order.inc.
#define INLINE TARGET static inline __attribute__((always_inline))
#define MASK(x) (x)

// The loops select, unzip and zip (pass.h) for elements of so many bits.
#define MOVES(bits)                                                                                \
  TARGET static void PASTE_3(select, bits, WIDTH)(size_t n, const uint8_t *condition,              \
                                                  const void *a, const void *b, void *out) {       \
    typedef uint##bits##_t __attribute__((may_alias)) word;                                        \
    const word *x = a, *y = b;                                                                     \
    word *restrict to = out;                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      word yes = x[i], no = y[i];                                                                  \
      to[i] = condition[i] ? yes : no;                                                             \
    }                                                                                              \
  }                                                                                                \
  TARGET static void PASTE_3(unzip, bits, WIDTH)(size_t n, bool odd, const void *from, void *to) { \
    typedef uint##bits##_t __attribute__((may_alias)) word;                                        \
    const word *in = (const word *)from + odd;                                                     \
    word *restrict out = to;                                                                       \
    for (size_t i = 0; i < n; i++)                                                                 \
      out[i] = in[2 * i];                                                                          \
  }                                                                                                \
  TARGET static void PASTE_3(zip, bits, WIDTH)(size_t n, const void *even, const void *odd,        \
                                               void *to) {                                         \
    typedef uint##bits##_t __attribute__((may_alias)) word;                                        \
    const word *x = even, *y = odd;                                                                \
    word *restrict out = to;                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      out[2 * i] = x[i];                                                                           \
      out[2 * i + 1] = y[i];                                                                       \
    }                                                                                              \
  }

// Rows of the table of kernels.
#define SIZES(of)                                                                                  \
  PASTE_3(of, 8, WIDTH), PASTE_3(of, 16, WIDTH), PASTE_3(of, 32, WIDTH), PASTE_3(of, 64, WIDTH)
#define INTEGERS(of)                                                                               \
  PASTE_3(of, int8, WIDTH), PASTE_3(of, int16, WIDTH), PASTE_3(of, int32, WIDTH),                  \
      PASTE_3(of, int64, WIDTH), PASTE_3(of, uint8, WIDTH), PASTE_3(of, uint16, WIDTH),            \
      PASTE_3(of, uint32, WIDTH), PASTE_3(of, uint64, WIDTH)
#define FLOATS(of, type)                                                                           \
  PASTE_3(of, type##_lt, WIDTH), PASTE_3(of, type##_le, WIDTH), PASTE_3(of, type##_total, WIDTH)

#define VECTOR_BITS 4
#define TARGET
#define WIDTH 16
#include "runtime/portable/vectors.inc"

#if defined(__x86_64__)
#define VECTOR_BITS 5
#define TARGET __attribute__((target("avx2")))
#define WIDTH 32
#include "runtime/portable/vectors.inc"

#define VECTOR_BITS 6
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define WIDTH 64
#include "runtime/portable/vectors.inc"
#endif

const compare_kernels *compare_kernels_find(uint32_t most) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool any = most == 0;
  if ((any || most >= 64) && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return &kernels_64;
  if ((any || most >= 32) && __builtin_cpu_supports("avx2"))
    return &kernels_32;
#endif
  (void)most;
  return &kernels_16;
}

// ---- which ops are compare-exchanges ------------------------------------------------------------

uint32_t compare_kind_of(scalar_type type) {
  if (type == SCALAR_BOOL)
    return SCALAR_U8 - SCALAR_I8;
  return CLASS_OF(type) & CLASS_INTEGER ? (uint32_t)type - SCALAR_I8 : COMPARE_KINDS;
}

bool compare_match(const net_stage *stage, const net_op *op, compare *out, net_id *value) {
  net_comparator c;
  if (!net_op_comparator(stage, op, &c))
    return false;
  scalar_type type = stage->values.items[c.value];
  uint32_t order = c.order == OP_LT ? 0 : c.order == OP_LE ? 1 : 2;  // as the rows have them
  bool exact = scalar_types[type].kind != KIND_FLOAT;                // equal elements are the same
  out->kind =
      exact ? compare_kind_of(type) : COMPARE_F16_LT + 3 * (uint32_t)(type - SCALAR_F16) + order;
  out->swapped = !exact && c.turned;
  out->descending = (c.kind == NET_MAX) != out->swapped;
  *value = c.value;
  return out->kind < COMPARE_KINDS;
}

// With the alignment of compare_lanes, which memory of an arena may not have.
static const compare_lanes *allocate_lanes(const op_context *c, const compare *of, int size_bits) {
  size_t align = _Alignof(compare_lanes);
  uintptr_t at = (uintptr_t)arena_alloc(c->memory, sizeof(compare_lanes) + align);
  compare_lanes *l = (compare_lanes *)((at + align - 1) / align * align);
  int vector_bits = f2_lsb(c->executor->kernels->vector_bytes);
  compute_lanes(of, size_bits, vector_bits - size_bits, l);
  return l;
}

bool tile_compare_prepare(const op_context *c, const net_op *op, tile_op *out) {
  net_id value = 0, made = op->outputs[0].value;
  if (!compare_match(c->tile->stage, op, &out->compare, &value))
    return false;
  out->compare.direction = tile_position(c->tile, op->directions[0]);
  out->compare.coordinate = tile_position_mask(c->tile, op->coordinates[0].mask);
  out->coordinate = op->coordinates[0];
  out->size_bits = (uint32_t)f2_lsb(scalar_types[c->tile->stage->values.items[made]].size);
  out->compare.lanes = allocate_lanes(c, &out->compare, (int)out->size_bits);
  out->in = c->slots[c->plan->slot_of[value]];
  out->out = c->slots[c->plan->slot_of[made]];
  return true;
}
