// A CUDA device: its memory, compiled kernels, launches, recordings of launches, and times.
//
//   in    machine code of kernels, arrays
//   out   arrays, times, or a message
//
//   char why[CUDA_WHY];
//   cuda_device *d = cuda_open(0, why, sizeof why);              // NULL: why, a sentence
//   cuda_module *m = cuda_module_load(d, cubin, size);           // of runtime/cuda/nvrtc.h
//   cuda_address keys = cuda_memory_new(d, bytes);
//   cuda_kernel k;
//   bool good = m && keys && cuda_kernel_find(d, m, "permc_pass_0", 65536, &k) &&
//               cuda_upload(d, keys, host, bytes) &&
//               cuda_launch(d, &k, (cuda_grid){.blocks = 4096, .threads = 512}, (void *[]){&keys}) &&
//               cuda_wait(d, interrupted) && cuda_download(d, host, keys, bytes);
//   if (!good)
//     report(cuda_message(d));
//   cuda_memory_free(d, keys);
//   cuda_module_free(d, m);
//   cuda_close(d);
//
// A message names the call, what it was for, and the error in CUDA's words:
//
//   cuLaunchKernelEx of permc_pass_0, 4096 blocks of 512 threads, 65536 bytes of shared memory:
//   CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch
//
//   driver.h     CUDA's functions, loaded at run time
//   device.h     the device; call.c: how it is called, and messages
//   cuda.c       opening and closing      memory.c   memory and copies
//   sequence.c   sequences                launch.c   the rest
//   peers.h      several devices
//
// A device is the primary context of a GPU and one stream: what is launched
// and copied happens in this order, and the host goes on meanwhile. An error inside of a kernel is
// reported by the next call that notices, most often cuda_wait, and says what was launched last;
// after it CUDA refuses all other work on that GPU until the process ends. A device is used by one
// thread at a time, any thread; the context that is current there, if any, stays so. Several
// devices may be open at once, also of one GPU.
#ifndef PERMC_RUNTIME_CUDA_CUDA_H
#define PERMC_RUNTIME_CUDA_CUDA_H

#include "core/error.h"
#include "runtime/cuda/driver.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
  CUDA_LEAST_CAPABILITY = 70,  // Volta
  CUDA_SHARED_FOR_ALL = 49152  // bytes that every kernel may have; more is allowed one by one
};
#define CUDA_MOST_BLOCKS UINT64_C(2147483647)

// ---- devices -----------------------------------------------------------------------------------

typedef struct cuda_device cuda_device;

typedef struct cuda_facts {
  char name[128];
  int driver;      // the version of CUDA that the driver is for: 12040 is 12.4
  int capability;  // 90: compute capability 9.0, compiled for as sm_90
  int multiprocessors;
  int threads_per_multiprocessor;  // at most
  int shared_per_block;            // bytes at most, static and dynamic
  uint64_t memory_bytes;
} cuda_facts;

// How many GPUs there are, old ones included. 0: none, or no driver for CUDA 12.0: `why` is a
// sentence without a full stop.
int cuda_count(char *why, size_t size);

// The GPU `ordinal`: 0, 1, ... NULL: there is no driver, or one for less than CUDA 12.0; no such
// device; a device of compute capability below 7.0; or CUDA refused: `why` is a sentence without a
// full stop.
cuda_device *cuda_open(int ordinal, char *why, size_t size);
// NULL is allowed. Memory, modules and graphs of the device are to be freed before.
void cuda_close(cuda_device *d);

const cuda_facts *cuda_facts_of(const cuda_device *d);
// The message of the last call that failed, one line without a final full stop; "" before the
// first. Functions that free something leave it as it is.
const char *cuda_message(const cuda_device *d);
bool cuda_fail(const cuda_device *d, error *failure);  // with that message; returns false

// ---- memory ------------------------------------------------------------------------------------

// 0: failed; if memory is short, the message has how much is free. Aligned to 256 bytes. bytes == 0
// is allowed, and has an address of its own.
cuda_address cuda_memory_new(cuda_device *d, uint64_t bytes);
void cuda_memory_free(cuda_device *d, cuda_address a);  // 0 is allowed. Waits for what is launched
// Bytes of memory that are free now; 0: failed.
uint64_t cuda_memory_left(cuda_device *d);

// Copies from the host; `from` may be written to afterwards. Arrays go through two buffers of
// CUDA_STAGE_BYTES that the GPU can reach, so that the processor fills one while the other is
// transferred; up to CUDA_DIRECT_BYTES go without.
bool cuda_upload(cuda_device *d, cuda_address to, const void *from, uint64_t bytes);
// Copies to the host when everything before it is done, and waits for that.
bool cuda_download(cuda_device *d, void *to, cuda_address from, uint64_t bytes);
// All bytes are 0 then. May be recorded.
bool cuda_clear(cuda_device *d, cuda_address a, uint64_t bytes);
// Copies on the device. May be recorded.
bool cuda_copy(cuda_device *d, cuda_address to, cuda_address from, uint64_t bytes);

// Memory that is there for what is put on the stream from now on, until it is freed in the same
// order; both may be captured by whoever the stream is of. False: failed.
bool cuda_stream_memory_new(cuda_device *d, uint64_t bytes, cuda_address *a);
bool cuda_stream_memory_free(cuda_device *d, cuda_address a);
void cuda_stream_memory_end(cuda_device *d, cuda_address a);  // waits for all streams, and frees it
// Whether what is put on the stream is recorded by whoever the stream is of; true as well if CUDA
// cannot say.
bool cuda_is_capturing(cuda_device *d);
// Copies to the host and waits, unless the stream is capturing, which is an error.
bool cuda_fetch(cuda_device *d, void *to, cuda_address from, uint64_t bytes);

#define CUDA_STAGE_BYTES ((uint64_t)1 << 22)
#define CUDA_DIRECT_BYTES ((uint64_t)1 << 16)

// ---- kernels -----------------------------------------------------------------------------------

// From a cubin of `size` bytes. NULL: failed.
cuda_module *cuda_module_load(cuda_device *d, const void *cubin, size_t size);
void cuda_module_free(cuda_device *d, cuda_module *m);  // NULL is allowed

typedef struct cuda_kernel {
  cuda_function *function;
  char name[64];
  uint32_t dynamic_shared;  // bytes of a block, as requested
  int static_shared;        // bytes of a block
} cuda_kernel;

// Finds a function of a module, to be launched with so many bytes of dynamic shared memory.
bool cuda_kernel_find(cuda_device *d, cuda_module *m, const char *name, uint32_t dynamic_shared,
                      cuda_kernel *out);

typedef struct cuda_grid {
  uint64_t blocks;   // at most CUDA_MOST_BLOCKS
  uint32_t threads;  // of a block
  // The kernel itself waits for what was launched before it (griddepcontrol.wait), so that it may
  // be started while the blocks of that end: what launching costs is hidden. Where the device
  // cannot do that, it starts when that has ended.
  bool overlapping;
} cuda_grid;

// `parameters`: the address of each; they are read before it returns.
bool cuda_launch(cuda_device *d, const cuda_kernel *k, cuda_grid grid, void **parameters);

// ---- recordings --------------------------------------------------------------------------------

// Launches and cuda_copy between begin and end are recorded, not done; a graph does all of them in
// one launch. `is_complete` false (something failed in between): there is no graph, and the message
// stays. NULL: failed, or not complete.
bool cuda_graph_begin(cuda_device *d);
cuda_graph *cuda_graph_end(cuda_device *d, bool is_complete);
bool cuda_graph_launch(cuda_device *d, cuda_graph *g);
void cuda_graph_free(cuda_device *d, cuda_graph *g);  // NULL is allowed

// ---- sequences ---------------------------------------------------------------------------------

// Launches and clears, one after the other, that are started as one, on other addresses each time:
//
//   cuda_sequence *s = cuda_sequence_new(d);          // NULL: the driver has none, or failed
//   cuda_sequence_write(d, s);
//   bool good = cuda_launch(d, ...) && cuda_clear(d, ...);      // nothing is done yet
//   good = cuda_sequence_launch(d, s, good);                    // now, on the device's stream
//
// When it is written again, there must be the same kernels and grids. It can be written while it
// runs. One that runs twice at once, on two streams, does so one after the other.
typedef struct cuda_sequence cuda_sequence;
enum { CUDA_SEQUENCE_MOST = 64 };  // launches and clears
cuda_sequence *cuda_sequence_new(cuda_device *d);
void cuda_sequence_free(cuda_device *d, cuda_sequence *s);  // NULL is allowed
void cuda_sequence_write(cuda_device *d, cuda_sequence *s);
// As it was written. `is_complete` false, something failed meanwhile: it is not started, false.
bool cuda_sequence_launch(cuda_device *d, cuda_sequence *s, bool is_complete);

// ---- waiting -----------------------------------------------------------------------------------

// For all that was launched. `interrupted` may be NULL; when it becomes true, waiting ends (false,
// message "interrupted"), though what was launched runs on to its end.
bool cuda_wait(cuda_device *d, const atomic_bool *interrupted);

// Seconds on the device from begin to end, exact to about a microsecond. `end` waits.
bool cuda_time_begin(cuda_device *d);
bool cuda_time_end(cuda_device *d, double *seconds);

#endif
