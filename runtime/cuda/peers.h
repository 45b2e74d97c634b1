// Several GPUs of one host that work on the same arrays.
//
//   in    numbers of GPUs; one may be there several times, and is as many peers then
//   out   memory that all of them reach by the same addresses; an order of what they do
//
//   cuda_peers *p = cuda_peers_open((int[]){0, 1, 2, 3}, 4, why, sizeof why);
//   cuda_address a = cuda_peers_memory_new(p, bytes);
//   bool good = cuda_peers_fork(p);                     // they wait for what the first has been given
//   for (unsigned i = 0; i < 4 && good; i++)
//     good = cuda_launch(cuda_peer(p, i), &kernel[i], grid, (void *[]){&first[i], &a});
//   good = good && cuda_peers_join(p);                  // the first waits for what they have been given
//
// An array is one range of addresses. Each peer has a slab of it in its memory:
//
//   address   a          a + slab       a + 2 slab     a + 3 slab
//   memory    of peer 0  of peer 1      of peer 2      of peer 3
//
// Every kernel on every peer reads and writes all of it, by plain loads and stores: the hardware
// finds the peer. So where an element lies concerns the speed alone. Slabs are multiples of what
// CUDA maps (2 MiB): small arrays lie with the first peers.
#ifndef PERMC_RUNTIME_CUDA_PEERS_H
#define PERMC_RUNTIME_CUDA_PEERS_H

#include "runtime/cuda/cuda.h"

enum { CUDA_MOST_PEERS = 16 };
typedef struct cuda_peers cuda_peers;

// NULL: one of them is not there, cannot map memory, or cannot reach another: `why` is a sentence
// without a full stop.
cuda_peers *cuda_peers_open(const int *numbers, unsigned count, char *why, size_t size);
// NULL is allowed. Its memory, and what its devices have, is to be freed before.
void cuda_peers_close(cuda_peers *p);

unsigned cuda_peers_count(const cuda_peers *p);
bool cuda_peers_are_distinct(const cuda_peers *p);  // no GPU is there twice
cuda_device *cuda_peer(const cuda_peers *p, unsigned number);

// What fails in the following is a message of the first peer that begins with the GPU: "GPU 2:
// ...".
bool cuda_peers_refuse(cuda_peers *p,
                       unsigned number);  // the message of that peer as the first one's

cuda_address cuda_peers_memory_new(cuda_peers *p, uint64_t bytes);  // 0: failed
void cuda_peers_memory_free(cuda_peers *p, cuda_address a);  // 0 is allowed. Waits for all of them
uint64_t cuda_peers_memory_left(cuda_peers *p);              // of all together; 0: failed

// In order of the stream of each; both may be recorded by the first.
bool cuda_peers_fork(cuda_peers *p);
bool cuda_peers_join(cuda_peers *p);

// The sides of a peer: two streams, each on multiprocessors of its own. Where kernels share a
// multiprocessor, stores that wait for a link hold up those to memory behind them; on two sides
// each goes at its own speed.
enum { CUDA_LINK_SIDE, CUDA_MEMORY_SIDE, CUDA_SIDES, CUDA_NO_SIDE = CUDA_SIDES };
// Once for all programs. False: there are none, as the driver is older than CUDA 12.5 or does not
// make them, or a GPU is there twice.
bool cuda_peers_make_sides(cuda_peers *p);
bool cuda_peers_begin_sides(
    cuda_peers *p);  // what is given to them waits for what each has been given
bool cuda_peers_end_sides(cuda_peers *p);           // the other way round
void cuda_peers_use_side(cuda_peers *p, int side);  // for launches; or CUDA_NO_SIDE
bool cuda_peers_follow(cuda_peers *p,
                       int side);  // the other one waits for what this has been given

// As cuda_wait. A peer that fails is noticed also where others wait for it.
bool cuda_peers_wait(cuda_peers *p, const atomic_bool *interrupted);

#endif
