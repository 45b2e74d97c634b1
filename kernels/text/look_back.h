// Blocks that look back (kernels/emit/look_back.h), on a GPU and on the host. This text stands in
// generated files as it is here.
//
// The kernel's last parameter is its state: memory that is 0 before the first run, and that no other
// run has at the same time. The first word is the number of runs that have ended. Each block reads
// it before it publishes, and the last block, which has then waited for all others, adds this run.
//
// A block waits for blocks of lower numbers only. GPUs begin blocks in the order of their numbers,
// on which CUB's scans rely, too (AgentScan takes its tile by blockIdx.x). A counter from which
// blocks take numbers as they begin would make sure of it, but the loads of a block would wait for
// its number: 53.6 us for 51.0 (H200, 2^24 i32).
#ifndef PERMC_KERNELS_TEXT_LOOK_BACK_H
#define PERMC_KERNELS_TEXT_LOOK_BACK_H

#define PERMC_MARK(type)                                                                           \
  const uint32_t mark = *(const uint32_t *)state + 1;                                              \
  const type b = (type)item;
#define PERMC_LAST_MARK(last)                                                                      \
  if (b == last)                                                                                   \
    *state = mark;

#ifdef PERMC_HOST
#define PERMC_WARP
#define PERMC_PAUSE

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
#define PERMC_WARP __syncwarp();
// About as long as what a block waits for takes to come, where all multiprocessors are busy. Looks
// that come too early hold up what they look for (H200, 2^28 i32: 784 us without it, 744 with it).
#define PERMC_PAUSE __nanosleep(700);

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
