// Blocks that look back (kernels/emit/look_back.h), on a GPU and on the host. This text stands in
// generated files as it is here.
//
// The kernel's last parameter is its state: memory that is 0 before the first run, and that no other
// run has at the same time. The first word: how many runs there have been, and below how many blocks
// of this one have begun. A block's number `b` is its turn, so that all before it have begun, in
// whatever order a GPU starts blocks. The last one begins the next run: by then all have their
// numbers.
#ifndef PERMC_KERNELS_TEXT_LOOK_BACK_H
#define PERMC_KERNELS_TEXT_LOOK_BACK_H

#define PERMC_LAST_TURN(last)                                                                      \
  if (b == last)                                                                                   \
    *state = (uint64_t)mark << 32;

#ifdef PERMC_HOST
#define PERMC_TURN(type)                                                                           \
  const uint64_t turn = (*state)++;                                                                \
  const uint32_t mark = (uint32_t)(turn >> 32) + 1;                                                \
  const type b = (uint32_t)turn;
#define PERMC_WARP

// Blocks run in turn: what one looks for is there.
static inline uint64_t permc_piece(const uint64_t *p, uint32_t mark) {
  if (*p >> 32 != mark)
    __builtin_trap();
  return *p;
}

static inline void permc_publish(uint64_t *p, uint32_t mark, uint32_t value) {
  *p = (uint64_t)mark << 32 | value;
}
#else
#define PERMC_TURN(type)                                                                           \
  static __shared__ uint64_t turn;                                                                 \
  if (threadIdx.x == 0)                                                                            \
    turn = atomicAdd(state, UINT64_C(1));                                                          \
  __syncthreads();                                                                                 \
  const uint32_t mark = (uint32_t)(turn >> 32) + 1;                                                \
  const type b = (uint32_t)turn;
#define PERMC_WARP __syncwarp();

static inline uint64_t permc_piece(const uint64_t *p, uint32_t mark) {
  uint64_t piece;
  (void)mark;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(piece) : "l"(p) : "memory");
  return piece;
}

static inline void permc_publish(uint64_t *p, uint32_t mark, uint32_t value) {
  uint64_t piece = (uint64_t)mark << 32 | value;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(piece) : "memory");
}
#endif

// A value of 4 bytes, of 8 bytes: as soon as it is there.
static inline uint32_t permc_look(const uint64_t *p, uint32_t mark) {
  uint64_t piece = permc_piece(p, mark);
  while (piece >> 32 != mark)
    piece = permc_piece(p, mark);
  return (uint32_t)piece;
}

static inline uint64_t permc_look_wide(const uint64_t *p, uint32_t mark) {
  uint64_t low = permc_piece(p, mark), high = permc_piece(p + 1, mark);
  while (low >> 32 != mark || high >> 32 != mark) {
    low = permc_piece(p, mark);
    high = permc_piece(p + 1, mark);
  }
  return high << 32 | (uint32_t)low;
}

#endif
