// Blocks that look back (kernels/emit/look_back.h), on a GPU and on the host. This text stands in
// generated files as it is here.
//
// The kernel's last parameter is its state: memory that is 0 before the first run, and that no
// other run has at the same time. The first word is the number of runs that have ended. Each block
// reads it before it publishes, and the last block, which has then waited for all others, adds this
// run.
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
#define PERMC_WARPS(number, first, threads)
#define PERMC_PAUSE

// Blocks run in turn: what one looks for is there.
#define PERMC_LOOK(name, count, pieces, stride, p, wanted)                                         \
  uint64_t name[(count) * (pieces)];                                                               \
  for (uint32_t i = 0; i < (count) && i * (stride) < (wanted); i++)                                \
    for (uint32_t k = 0; k < (pieces); k++)                                                        \
      if ((name[i * (pieces) + k] = (p)[i * (stride) * (pieces) + k]) >> 32 != mark)               \
        __builtin_trap();

static inline void permc_publish(uint64_t *p, uint32_t mark, uint32_t value) {
  *p = (uint64_t)mark << 32 | value;
}
#else
// Some warps of the block wait for each other, by a barrier of that number.
#define PERMC_WARPS(number, first, threads)                                                        \
  if ((threads) <= 32)                                                                             \
    __syncwarp();                                                                                  \
  else if (threadIdx.x - (first) < (threads))                                                      \
    asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory");
// About as long as what a block waits for takes to come, where all multiprocessors are busy. Looks
// that come too early hold up what they look for (H200, 2^28 i32: 758 us with 400, 733 with 700, 689
// with 1400, 698 with 2400; CUB's policy for sm_90 pauses for 1245).
#define PERMC_PAUSE __nanosleep(1400);

// Elements, `stride` apart, of so many pieces each: those among the first `wanted`, as soon as all
// of them are there.
template <unsigned count, unsigned pieces, unsigned stride>
void permc_look(uint64_t (&found)[count * pieces], const uint64_t *p, uint32_t wanted,
                uint32_t mark) {
  bool there;
  do {
    there = true;
    PERMC_UNROLL for (unsigned i = 0; i < count * pieces; i++) if (i / pieces * stride < wanted) {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                   : "=l"(found[i])
                   : "l"(p + i / pieces * stride * pieces + i % pieces)
                   : "memory");
      there &= found[i] >> 32 == mark;
    }
  } while (!there);
}
#define PERMC_LOOK(name, count, pieces, stride, p, wanted)                                         \
  uint64_t name[(count) * (pieces)];                                                               \
  permc_look<count, pieces, stride>(name, p, wanted, mark);

static inline void permc_publish(uint64_t *p, uint32_t mark, uint32_t value) {
  uint64_t piece = (uint64_t)mark << 32 | value;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(piece) : "memory");
}
#endif

#endif
