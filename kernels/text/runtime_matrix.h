// A pass that only moves, by a kernel that does not know the matrix: it comes as data when the
// kernel is launched. This text stands in generated files as it is here, and
// kernels/schedule/runtime_matrix.c makes the data.
//
// Everything is an XOR of vectors (docs/algebra.md, section 3). In the first phase a thread reads, in
// pieces of 2^in neighbours, the elements at
//
//   source = origin ^ blocks' ^ thread's ^ register's        (in memory, in elements)
//   place  = the same sum of the vectors' places             (in scratch memory)
//
// and one of the second phase writes what lies at `place` to `target` in the same way, in pieces of
// 2^out. Vector i of the threads and registers of the first phase, {source, put}, and of the
// second, {target, get}, share a row:
//
//   bit reversal of 2^2 elements, one thread of 2^2 registers
//
//              source  target  put  get
//   origin          0       0    0    0
//   tile[0]         1       1    2    1      element 1 is read, put at 2
//   tile[1]         2       2    1    2      what lies at 2 is written as element 2
#ifndef PERMC_KERNELS_TEXT_ONLINE_H
#define PERMC_KERNELS_TEXT_ONLINE_H

enum { PERMC_MATRIX_LOOPS = 4, PERMC_MATRIX_BLOCKS = 32, PERMC_MATRIX_TILE = 16 };

typedef struct permc_vector {
  uint64_t source, target;
  uint32_t put, get;
} permc_vector;

typedef struct permc_runtime_matrix {
  uint32_t blocks, loops;  // how many
  int64_t source_offset, target_offset;
  uint64_t extents[PERMC_MATRIX_LOOPS];
  int64_t source_strides[PERMC_MATRIX_LOOPS], target_strides[PERMC_MATRIX_LOOPS];
  permc_vector origin, block[PERMC_MATRIX_BLOCKS];
  permc_vector tile[PERMC_MATRIX_TILE];  // registers' vectors, then threads'
} permc_runtime_matrix;

// Which bit is the lowest that is 1: what changes from one Gray code to the next.
#define PERMC_LOWEST(j)                                                                            \
  ((j)&1 ? 0 : (j)&2 ? 1 : (j)&4 ? 2 : (j)&8 ? 3 : (j)&16 ? 4 : (j)&32 ? 5 : 6)
#define PERMC_GRAY(j) ((j) ^ (j) >> 1)

// Adds the sum of the vectors of the bits of `number`: no branches, and vectors are operands of the
// instructions.
#define PERMC_MATRIX_ADD(number, count, vectors, memory, scratch, at, place)                       \
  PERMC_UNROLL for (uint32_t i = 0; i < (count); i++) {                                            \
    const uint32_t mask = 0 - (uint32_t)((number) >> i & 1);                                       \
    at ^= (permc_index)(vectors)[i].memory & (permc_index)(int32_t)mask;                           \
    place ^= (vectors)[i].scratch & mask;                                                          \
  }

// Registers are visited in the order of the Gray code, so that each is one vector from the one
// before. The bits of a block's number beyond `blocks` are those of the loops.
#define PERMC_MATRIX_BODY(type, threads, r, in, out)                                               \
  permc_index source = (permc_index)m.origin.source, target = (permc_index)m.origin.target;        \
  uint32_t put = m.origin.put, get = m.origin.get;                                                 \
  int64_t from = m.source_offset, to = m.target_offset;                                            \
  const uint64_t block = item & ((UINT64_C(1) << m.blocks) - 1);                                   \
  PERMC_MATRIX_ADD(block, PERMC_MATRIX_BLOCKS, m.block, source, put, source, put)                  \
  PERMC_MATRIX_ADD(block, PERMC_MATRIX_BLOCKS, m.block, target, get, target, get)                  \
  uint64_t rest = item >> m.blocks;                                                                \
  for (uint32_t i = m.loops; i-- > 0; rest /= m.extents[i]) {                                      \
    from += (int64_t)(rest % m.extents[i]) * m.source_strides[i];                                  \
    to += (int64_t)(rest % m.extents[i]) * m.target_strides[i];                                    \
  }                                                                                                \
  PERMC_THREADS(1U << (threads))                                                                   \
  permc_index at = source;                                                                         \
  uint32_t place = put;                                                                            \
  type v[1 << (r)];                                                                                \
  PERMC_MATRIX_ADD(t, threads, m.tile + (r), source, put, at, place)                               \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << ((r) - (in)); j++) {                                 \
    const uint32_t permc_turn = j;                                                                 \
    if (j > 0)                                                                                     \
      at ^= (permc_index)m.tile[(in) + PERMC_LOWEST(j)].source;                                    \
    PERMC_LOAD_WIDE(type, 1 << (in), e, (const type *)a0 + from + at)                              \
    PERMC_UNROLL for (uint32_t k = 0; k < 1U << (in); k++) v[PERMC_GRAY(j) << (in) | k] = e[k];    \
  }                                                                                                \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << (r); j++) {                                          \
    const uint32_t permc_turn = j;                                                                 \
    if (j > 0)                                                                                     \
      place ^= m.tile[PERMC_LOWEST(j)].put;                                                        \
    PERMC_PUT(type, (type *)scratch + place, v[PERMC_GRAY(j)]);                                    \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(1U << (threads))                                                                   \
  permc_index at = target;                                                                         \
  uint32_t place = get;                                                                            \
  type v[1 << (r)];                                                                                \
  PERMC_MATRIX_ADD(t, threads, m.tile + (r), target, get, at, place)                               \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << (r); j++) {                                          \
    const uint32_t permc_turn = j;                                                                 \
    if (j > 0)                                                                                     \
      place ^= m.tile[PERMC_LOWEST(j)].get;                                                        \
    v[PERMC_GRAY(j)] = PERMC_GET(type, (type *)scratch + place);                                   \
  }                                                                                                \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << ((r) - (out)); j++) {                                \
    const uint32_t permc_turn = j;                                                                 \
    if (j > 0)                                                                                     \
      at ^= (permc_index)m.tile[(out) + PERMC_LOWEST(j)].target;                                   \
    PERMC_STORE_ALL(type, 1 << (out), v + (PERMC_GRAY(j) << (out)), (type *)a1 + to + at)          \
  }                                                                                                \
  PERMC_END

#endif
