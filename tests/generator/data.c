// The data of arguments: counting, small numbers, edges of the type, any bits, few different ones.
#include "tests/generator/generator.h"

#include <math.h>

typedef enum data_kind { COUNTING, SMALL, EDGES, BITS, FEW, DATA_KINDS } data_kind;

// ---- one element -----------------------------------------------------------------------------

static uint64_t integer_edge(scalar_type t, uint64_t random) {
  unsigned bits = (unsigned)scalar_types[t].size * 8;
  uint64_t all = UINT64_MAX >> (64 - bits), half = all >> 1;
  uint64_t edges[] = {0, 1, all, half, half + 1, half - 1, all - 1, 2, bits, bits - 1};
  return edges[random % (sizeof edges / sizeof *edges)];
}

// The bits of floats of the type `part`. NaN of either sign, quiet and signalling, with payloads.
static uint64_t nan_bits(scalar_type part, uint64_t random) {
  if (part == SCALAR_F64)
    return (random & UINT64_C(0x800fffff00ffffff)) | UINT64_C(0x7ff0000000000001) |
           (random & 6 ? UINT64_C(0x0008000000000000) : 0);
  if (part == SCALAR_F16)
    return (random & 0x81ff) | 0x7c01 | (random & 6 ? 0x0200 : 0);
  if (part == SCALAR_BF16)
    return (random & 0x803f) | 0x7f81 | (random & 6 ? 0x0040 : 0);
  return (random & UINT32_C(0x803fffff)) | UINT32_C(0x7f800001) |
         (random & 6 ? UINT32_C(0x00400000) : 0);
}

static uint64_t float_bits(scalar_type part, double x) {
  scalar_bits bits = {{0}};
  scalar_convert(SCALAR_F64, part, 1, &x, &bits);
  return bits.u64;
}

static uint64_t float_edge(scalar_type part, uint64_t random) {
  static const double half_edges[] = {0.0,      -0.0,   INFINITY, -INFINITY, 0x1p-24,
                                      -0x1p-14, 0x1p15, 1.0,      -1.0,      0.5,
                                      2.5,      -65504, 0x1p-13,  0x1p10,    1e-3};
  static const double narrow_edges[] = {0.0,       -0.0,    INFINITY, -INFINITY, 0x1p-149,
                                        -0x1p-126, 0x1p127, 1.0,      -1.0,      0.5,
                                        2.5,       -0x1p23, 0x1p31,   -0x1p63,   1e-3};
  static const double wide_edges[] = {0.0,        -0.0,     INFINITY, -INFINITY, 0x1p-1074,
                                      -0x1p-1022, 0x1p1023, 1.0,      -1.0,      0.5,
                                      2.5,        -0x1p52,  0x1p31,   -0x1p63,   1e-3};
  static const double *const edges[SCALAR_COUNT] = {[SCALAR_F16] = half_edges,
                                                    [SCALAR_BF16] = narrow_edges,
                                                    [SCALAR_F32] = narrow_edges,
                                                    [SCALAR_F64] = wide_edges};
  unsigned i = (unsigned)(random >> 8) % 20;
  return i >= 15 ? nan_bits(part, random >> 16) : float_bits(part, edges[part][i]);
}

static uint64_t float_element(scalar_type part, data_kind kind, uint64_t i, uint64_t random) {
  switch (kind) {
  case COUNTING:
    return float_bits(part, (double)i);
  case EDGES:
    return random & 1 ? float_edge(part, random >> 1)
                      : float_bits(part, (double)(int)(random % 41) / 4 - 5);
  case BITS:
    if (random & 3)  // sums of what differs much in size are the larger
      return float_bits(part, (double)(int64_t)(random >> 8) / 0x1p55 * 2000 - 1000);
    return random >> (64 - 8 * scalar_types[part].size);
  case FEW:
    return float_bits(part, (double)(random % 3));
  default:
    return float_bits(part, (double)(int64_t)(random >> 12) / 0x1p51 * 8 - 4);
  }
}

static uint64_t integer_element(scalar_type t, data_kind kind, uint64_t i, uint64_t random) {
  switch (kind) {
  case COUNTING:
    return i;
  case EDGES:
    return random & 1 ? integer_edge(t, random >> 1) : random % 21 - 10;
  case BITS:
    return random;
  case FEW:
    return random % 3;
  default:
    return random % 201 - (scalar_types[t].kind == KIND_SIGNED ? 100 : 0);
  }
}

static void write_element(char *to, scalar_type t, data_kind kind, uint64_t i, uint64_t *random) {
  scalar_type part = scalar_real_of(t);
  size_t size = scalar_types[part].size;
  uint64_t bits;
  switch (scalar_types[t].kind) {
  case KIND_BOOL:
    bits = random_bits(random);
    bits = bits & 1 ? bits >> 8 & 0xff : 0;  // what is not 0 is true
    break;
  case KIND_COMPLEX:
    bits = float_element(part, kind, 0, random_bits(random));
    memcpy(to + size, &bits, size);
    bits = float_element(part, kind, i, random_bits(random));
    break;
  case KIND_FLOAT:
    bits = float_element(part, kind, i, random_bits(random));
    break;
  default:
    bits = integer_element(t, kind, i, random_bits(random));
  }
  memcpy(to, &bits, size);  // little end first, as on every target of permc
}

// ---- values ----------------------------------------------------------------------------------

enum { DATA_RANK = 8, DATA_LEAVES = 16 };

typedef struct leaves {
  generator *g;
  uint64_t *random;
  permc_value *made[DATA_LEAVES];
  size_t count;
} leaves;

static void add_leaf(leaves *l, scalar_type t, const uint64_t *dims, uint32_t rank) {
  data_kind kind = (data_kind)draw_below(l->g, DATA_KINDS);
  static const char *const names[] = {"data: counting", "data: small", "data: edges and NaN",
                                      "data: any bits", "data: few different"};
  mark_used(l->g, names[kind]);
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    count *= dims[i];
  char *data = malloc(count * scalar_types[t].size + 1);
  if (!data)
    longjmp(*l->g->memory->failure, 1);
  for (uint64_t i = 0; i < count; i++)
    write_element(data + i * scalar_types[t].size, t, kind, i, l->random);
  l->made[l->count++] = permc_value_new(scalar_types[t].name, rank, dims, data);
  free(data);
}

static void add_leaves(leaves *l, const shape *s, uint64_t *dims, uint32_t rank) {
  if (s->kind == SHAPE_SCALAR) {
    add_leaf(l, s->type, dims, rank);
    return;
  }
  if (s->kind == SHAPE_ARRAY)
    dims[rank++] = s->length;
  for (uint32_t i = 0; i < s->count; i++)
    add_leaves(l, s->parts[i], dims, rank);
}

permc_value *draw_data(generator *g, const shape *s, uint64_t *random) {
  leaves l = {.g = g, .random = random};
  uint64_t dims[DATA_RANK];
  add_leaves(&l, s, dims, 0);
  return l.count == 1 ? l.made[0] : permc_value_tuple(l.made, l.count);
}
