// The kernel of a barrier of GPUs (runtime/gpu/barrier.h). This text stands in generated files as
// it is here, behind kernels/text/cuda_host.h. GPU `rank` of `count` executes one block, of which
// thread t tells GPU t that it is here, and waits until GPU t has told it. The words of a GPU are
// at flags + rank * stride:
//
//   word t           the last round in which GPU t has come
//   word count + t   the round in which this GPU told GPU t
//
// What a GPU has stored before, wherever, all see afterwards: the end of a kernel comes before the
// release, and the acquire before the next kernel (PTX ISA, "Memory Consistency Model", "Causality
// Order").
#ifndef PERMC_KERNELS_ROUTINES_BARRIER_BARRIER_TEXT_H
#define PERMC_KERNELS_ROUTINES_BARRIER_BARRIER_TEXT_H

#ifdef PERMC_HOST
// GPUs are executed one after the other: all have come to the round before, and more cannot be
// asked for.
static inline void permc_arrive(uint64_t *flag, uint64_t round) { *flag = round; }
static inline void permc_await(const uint64_t *flag, uint64_t round) {
  if (*flag + 1 < round)
    __builtin_trap();
}
#else
static inline void permc_arrive(uint64_t *flag, uint64_t round) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(round) : "memory");
}

// A GPU that does not come in five minutes never will: the trap is an error of the launch.
static inline void permc_await(const uint64_t *flag, uint64_t round) {
  const uint64_t most = UINT64_C(300000000000);
  uint64_t begun, now, found;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
  for (;;) {
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(found) : "l"(flag) : "memory");
    if (found >= round)
      return;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now - begun > most)
      __trap();
  }
}
#endif

// clang-format off: what macros begin and end is indented below as blocks are
PERMC_KERNEL(barrier, 32, 1, 0, uint64_t *const flags, const uint64_t stride, const uint64_t rank,
             const uint64_t count)
PERMC_THREADS(32)
uint64_t *const own = flags + rank * stride;
if (t < count) {
  const uint64_t round = own[count + t] + 1;
  own[count + t] = round;
  permc_arrive(flags + t * stride + rank, round);
  permc_await(own + t, round);
}
PERMC_END
PERMC_KERNEL_END

#endif
