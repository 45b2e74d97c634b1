// A driver of CUDA that needs no GPU: fake_cuda.c, a shared library that PERMC_CUDA_DRIVER names.
//
// Memory of the device is memory of the host, and its address that of the host. What is launched
// and copied is done as late as CUDA may do it: when somebody waits. Each use is looked at: the
// context must be current, copies must lie inside of what was allocated, handles must live, nothing
// may be left when the context ends. A mistake of that kind is told by fake_cuda_misuse, and the
// call gives the error that CUDA would.
//
// How it behaves is said by words NAME=VALUE, at first those of the environment variable FAKE_CUDA:
//
//   FAKE_CUDA="driver=12040 capability=61"            an old GPU
//   FAKE_CUDA="fail=cuMemAlloc_v2 at=3 status=2"      the third call of cuMemAlloc_v2 fails
//
//   devices=1   driver=12080   capability=90   memory=1024 (MiB)
//   apart=1     devices cannot map memory       reach=0   ... nor reach that of others
//   same=1      all devices are one and the same GPU
//   busy=N      the next N cuStreamQuery say that the work is not done yet
//   slow=N      a recording takes N milliseconds
//   fault=N     from the next kernel that is executed, all calls give the error N
//   fail=SYMBOL at=1 status=1
//
// Modules are the text FAKE_CUDA_MODULE; their kernels are functions that the test has defined. Or
// they are FAKE_CUDA_LIBRARY and the path of a library (fake_nvrtc.c): kernels K are its functions
// fake_K. Several threads may call at once. The work of all streams is done in the order in which
// it was given, but between the halves of the blocks of such a kernel comes what other streams have
// next, up to an event. The functions here are found by dlsym.
#ifndef PERMC_TESTS_FAKE_CUDA_H
#define PERMC_TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_CUDA_MODULE "fake cubin"
#define FAKE_CUDA_LIBRARY "fake library "
enum { FAKE_CUDA_PARAMETERS = 64 };

typedef struct fake_cuda_launch {
  const char *name;
  unsigned blocks[3], threads, shared_bytes;
  uint64_t parameters[FAKE_CUDA_PARAMETERS];
} fake_cuda_launch;

typedef void fake_cuda_kernel(const fake_cuda_launch *l);

// Settings that are not named take their first values again; calls are counted from here.
void fake_cuda_set(const char *settings);
// A kernel of so many parameters of 8 bytes, in place of the one of that name. Executes `run`
// (NULL: nothing) once per launch.
void fake_cuda_define(const char *name, unsigned parameter_count, fake_cuda_kernel *run);
// "" or the first mistake since fake_cuda_set.
const char *fake_cuda_misuse(void);
// How much there is of: memory, host memory, contexts, streams, events, modules, functions,
// recordings, graphs, work not done yet; 0: nothing is left over.
size_t fake_cuda_left(void);
// The stream has more, or less, to wait for, until which it is not done (fake_nccl.c); what it was
// given before is done. Returns a status.
int fake_cuda_hold(void *stream, int more);
// How often a function of the driver was called since fake_cuda_set; NULL: any.
size_t fake_cuda_calls(const char *symbol);

#endif
