// A pass that only moves, by a kernel that knows nothing of the matrix: it comes as data when the
// kernel is launched. This text stands in generated files as it is here, and kernels/c_online.c
// fills in the data.
//
// Everything is an XOR of vectors (index-algebra, section 3). A thread of the first phase reads, in
// pieces of 2^wide neighbours, the elements at
//
//   source = origin ^ blocks' ^ thread's ^ register's        (in memory, in elements)
//   place  = the same sum of the vectors' places             (in scratch memory)
//
// and one of the second phase writes what lies at `place` to `target` in the same way, in pieces of
// 2^out. Vector i of
// the threads and registers of the first phase, {source, put}, and of the second, {target, get},
// share a row.
#ifndef PERMC_KERNELS_ONLINE_H
#define PERMC_KERNELS_ONLINE_H

enum { PERMC_ONLINE_LOOPS = 4, PERMC_ONLINE_BLOCKS = 48, PERMC_ONLINE_TILE = 16 };

typedef struct permc_vector {
  uint64_t source, target;
  uint32_t put, get;
} permc_vector;

typedef struct permc_online {
  uint32_t blocks, loops;  // how many
  int64_t source_offset, target_offset;
  uint64_t extents[PERMC_ONLINE_LOOPS];
  int64_t source_strides[PERMC_ONLINE_LOOPS], target_strides[PERMC_ONLINE_LOOPS];
  permc_vector origin, block[PERMC_ONLINE_BLOCKS];
  permc_vector tile[PERMC_ONLINE_TILE];  // registers' vectors, then threads'
} permc_online;

// The sum of the vectors of the bits of `number`, added to *at.
#define PERMC_ONLINE_ADD(number, count, vectors, memory, scratch, at, place)                       \
  PERMC_UNROLL for (uint32_t i = 0; i < (count); i++) if ((number) >> i & 1) {                     \
    at ^= (permc_index)(vectors)[i].memory;                                                        \
    place ^= (vectors)[i].scratch;                                                                 \
  }

// x[j] = at ^ the sum of the vectors of the bits of j, for j < 2^count.
#define PERMC_ONLINE_SPAN(type, x, at, count, vectors, member)                                     \
  type x[1 << (count)];                                                                            \
  x[0] = at;                                                                                       \
  PERMC_UNROLL for (uint32_t i = 0; i < (count); i++)                                              \
      PERMC_UNROLL for (uint32_t j = 0; j < 1U << i; j++) x[j + (1U << i)] =                       \
          x[j] ^ (type)(vectors)[i].member;

#define PERMC_ONLINE_BODY(type, threads, r, in, out)                                               \
  permc_index source = (permc_index)m.origin.source, target = (permc_index)m.origin.target;        \
  uint32_t put = m.origin.put, get = m.origin.get;                                                 \
  int64_t from = m.source_offset, to = m.target_offset;                                            \
  for (uint32_t i = 0; i < m.blocks; i++)                                                          \
    if (item >> i & 1) {                                                                           \
      source ^= (permc_index)m.block[i].source;                                                    \
      target ^= (permc_index)m.block[i].target;                                                    \
      put ^= m.block[i].put;                                                                       \
      get ^= m.block[i].get;                                                                       \
    }                                                                                              \
  uint64_t rest = item >> m.blocks;                                                                \
  for (uint32_t i = m.loops; i-- > 0; rest /= m.extents[i]) {                                      \
    from += (int64_t)(rest % m.extents[i]) * m.source_strides[i];                                  \
    to += (int64_t)(rest % m.extents[i]) * m.target_strides[i];                                    \
  }                                                                                                \
  PERMC_THREADS(1U << (threads))                                                                   \
  permc_index at = source;                                                                         \
  uint32_t place = put;                                                                            \
  type v[1 << (r)];                                                                                \
  PERMC_ONLINE_ADD(t, threads, m.tile + (r), source, put, at, place)                               \
  PERMC_ONLINE_SPAN(permc_index, x, at, (r) - (in), m.tile + (in), source)                         \
  PERMC_ONLINE_SPAN(uint32_t, p, place, r, m.tile, put)                                            \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << ((r) - (in)); j++) {                                 \
    const uint32_t permc_turn = j;                                                                 \
    PERMC_LOAD_WIDE(type, 1 << (in), e, (const type *)a0 + from + x[j])                            \
    PERMC_UNROLL for (uint32_t k = 0; k < 1U << (in); k++) v[j << (in) | k] = e[k];                \
  }                                                                                                \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << (r); j++) {                                          \
    const uint32_t permc_turn = j;                                                                 \
    PERMC_PUT(type, (type *)scratch + p[j], v[j]);                                                 \
  }                                                                                                \
  PERMC_END                                                                                        \
  PERMC_BARRIER                                                                                    \
  PERMC_THREADS(1U << (threads))                                                                   \
  permc_index at = target;                                                                         \
  uint32_t place = get;                                                                            \
  type v[1 << (r)];                                                                                \
  PERMC_ONLINE_ADD(t, threads, m.tile + (r), target, get, at, place)                               \
  PERMC_ONLINE_SPAN(permc_index, x, at, (r) - (out), m.tile + (out), target)                       \
  PERMC_ONLINE_SPAN(uint32_t, p, place, r, m.tile, get)                                            \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << (r); j++) {                                          \
    const uint32_t permc_turn = j;                                                                 \
    v[j] = PERMC_GET(type, (type *)scratch + p[j]);                                                \
  }                                                                                                \
  PERMC_UNROLL for (uint32_t j = 0; j < 1U << ((r) - (out)); j++) {                                \
    const uint32_t permc_turn = j;                                                                 \
    PERMC_STORE_ALL(type, 1 << (out), v + (j << (out)), (type *)a1 + to + x[j])                    \
  }                                                                                                \
  PERMC_END

#endif
