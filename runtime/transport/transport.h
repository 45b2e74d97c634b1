// Transport: ranks that exchange arrays. A rank is a thread, a process or a GPU; what it holds of
// an array is its share (fusion/shares). One operation moves data: an exchange, in which each rank
// sends at most one message to each rank and receives at most one from each. For example an
// all-to-all of 2 elements among 4 ranks, a matrix of 4 x 4 pairs that is transposed:
//
//   rank 0 has  a a  b b  c c  d d          rank 0 gets  a a  e e  i i  m m
//   rank 1 has  e e  f f  g g  h h          rank 1 gets  b b  f f  j j  n n
//   rank 2 has  i i  j j  k k  l l          rank 2 gets  c c  g g  k k  o o
//   rank 3 has  m m  n n  o o  p p          rank 3 gets  d d  h h  l l  p p
//
//   transport *t = transport_open(&(transport_options){.kind = &transport_threads, .rank = rank,
//                                 .ranks = 4, .timeout = 10, .group = group}, &failure);
//   for (uint32_t peer = 0; peer < 4; peer++) {
//     sends[peer] = (transport_message){peer, has + 2 * peer, 2 * sizeof *has};
//     receives[peer] = (transport_message){peer, gets + 2 * peer, 2 * sizeof *gets};
//   }
//   if (!transport_exchange(t, sends, 4, receives, 4, &failure))
//     puts(failure.message);     // "rank 2 did not come within 10 s", the same line on all ranks
//   transport_close(t);
//
// A kind is a row of functions (transport_kind). What is the same for all kinds is in transport.c:
// checks, counts, exchanges of blocks, gathers, agreement. All ranks make the same calls in the
// same order. Every wait has an end: where a rank fails, leaves or does not come, the calls of all
// others return false, with one line that names the rank and the cause, and so does every later
// call. Nothing here prints or exits.
//
//   transport.c  what all kinds share, and the table of kinds
//   threads.c    ranks that are threads of this process
//   mpi.c        ranks that are processes of MPI; mpi_library.c: the library, loaded at run time
//   caller.c     ranks whose messages a function of the caller carries
//   open_device.c  arrays in the memory of each rank's GPU: which of these carries them
//   staged.c     ... through memory of the host    nccl.c   ... by NCCL (nccl_library.c)
#ifndef PERMC_RUNTIME_TRANSPORT_TRANSPORT_H
#define PERMC_RUNTIME_TRANSPORT_TRANSPORT_H

#include "core/error.h"
#include "core/f2.h"
#include "runtime/permc.h"

#include <pthread.h>

// Its rank: to whom, or from whom; oneself: a copy. What is sent is only read, and what is received
// lies elsewhere. Bytes are the same on both sides; 0 is allowed.
typedef permc_transfer transport_message;
typedef permc_carry transport_carry;

// The message for, or from, a rank; NULL: there is none.
static inline const transport_message *transport_message_of(const transport_message *m,
                                                            uint32_t count, uint32_t rank) {
  for (uint32_t i = 0; i < count; i++)
    if (m[i].rank == rank)
      return &m[i];
  return NULL;
}

typedef struct transport_count {
  uint64_t messages, bytes;
} transport_count;

typedef struct transport_kind transport_kind;
typedef struct transport_group transport_group;

typedef struct transport transport;
typedef struct transport_options {
  const transport_kind *kind;
  uint32_t rank, ranks;    // ranks 0: those of the launcher, of kinds that have one
  double timeout;          // seconds that a rank waits for another, from which nothing comes
  transport_group *group;  // threads: where they meet
  uintptr_t communicator;  // mpi: the caller's, an MPI_Comm as a number; 0: MPI_COMM_WORLD
  bool shared;             // mpi: others of this process may find it: transport_find
  transport_carry *carry;  // caller: its function, and the function's first argument
  void *with;
  transport *below;            // of memory of GPUs: what carries all but the elements of arrays
  struct cuda_device *device;  // ... whose memory these are in
} transport_options;

// Kinds add what is theirs behind it.
struct transport {
  const transport_kind *kind;
  uint32_t rank, ranks;
  double timeout;
  // Of arrays in the memory of a GPU: that GPU, and what carries all else. NULL: they are the
  // host's.
  struct cuda_device *device;
  transport *below;
  bool disagrees;  // the last agreement has failed; then `speaker` is to say so
  uint32_t speaker;
  pthread_mutex_t turn;   // for those who share it in several threads: not used here
  uint32_t forks;         // of the process that is the rank (system/locks.h)
  transport_count *sent;  // by rank, oneself included: for tests and predictions
};

// What a kind does. Messages are as described above, already checked: ranks that exist, each at
// most once, one's own with the same bytes on both sides.
struct transport_kind {
  const char *name;
  // A transport whose rank, ranks and timeout are set, or NULL.
  transport *(*open)(const transport_options *o, error *failure);
  // All messages have come, and what was sent may be changed. One's own has been copied before.
  bool (*exchange)(transport *t, const transport_message *sends, uint32_t send_count,
                   const transport_message *receives, uint32_t receive_count, error *failure);
  // The next three: of those that have none below. No rank returns before all have come.
  bool (*barrier)(transport *t, error *failure);
  // Whether no failure is known here; does not wait. NULL: it hears of one in the next call only.
  bool (*check)(transport *t, error *failure);
  // This rank cannot go on: the others end with that line.
  void (*fail)(transport *t, const char *line);
  // Of ranks that have failed, and call it: whether this one is to say so. NULL: each is.
  bool (*speaks)(transport *t);
  // Of those that are shared; NULL: none is. Makes it known; finds one, as another user of it, or
  // NULL; a user leaves it: whether it was the last.
  void (*share)(transport *t);
  transport *(*find)(const transport_options *o);
  bool (*leave)(transport *t);
  // After a failure show its line before: when all have closed, launchers end what is left.
  void (*close)(transport *t);
};

// What a transport of arrays in the memory of a GPU begins as.
static inline transport transport_above(const transport_options *o) {
  return (transport){.rank = o->below->rank,
                     .ranks = o->below->ranks,
                     .timeout = o->below->timeout,
                     .device = o->device,
                     .below = o->below};
}

// ---- kinds -----------------------------------------------------------------------------------

extern const transport_kind transport_threads, transport_mpi, transport_caller;
extern const transport_kind
    *const transport_kinds[];  // those with a name for users; NULL at the end
const transport_kind *transport_kind_named(const char *name);

// Ranks whose arrays are in the memory of their GPUs, and which have the transport `below`: by NCCL
// where all have it and each has a GPU of its own; else through memory of the host. The variable PERMC_NCCL names the
// library, or its folder (then it carries them), or is "off" (then the host does). `below` must
// outlive it. What is in memory of a GPU has come, or may be changed, in the order of the device's
// stream.
extern const transport_kind transport_staged, transport_nccl;
transport *transport_open_device(transport *below, struct cuda_device *d, error *failure);

// Where the threads of one process meet: made before they start, freed when all have ended.
transport_group *transport_group_make(uint32_t ranks);  // NULL: no memory
void transport_group_free(transport_group *g);

// ---- what all kinds do -----------------------------------------------------------------------

// NULL with a failure. All ranks open together.
transport *transport_open(const transport_options *o, error *failure);
void transport_close(transport *t);  // t may be NULL
// One that is open with the same communicator, and shared; without a message. It is closed by each
// user. NULL: none is, or a rank has failed there.
transport *transport_find(const transport_options *o);

bool transport_exchange(transport *t, const transport_message *sends, uint32_t send_count,
                        const transport_message *receives, uint32_t receive_count, error *failure);
bool transport_barrier(transport *t, error *failure);
bool transport_check(transport *t, error *failure);
// This rank cannot go on: the others end with the line "rank 3: CAUSE", and so does *failure (which
// may be NULL), unless another has failed before: its line is that of all. Returns false.
bool transport_fail(transport *t, const char *cause, error *failure);
// All ranks have ended with the same line, and call this: one of them is to show it, before it
// closes.
bool transport_speaks(transport *t);

// Blocks of an array change ranks: block q of `from` becomes block blocks(q) of `to`. The array has
// 2^n blocks, n = blocks.a.rows; the highest bits of a block's number are its rank (ranks = 2^p),
// the others its place in `from` or `to`, which are what this rank has. One message for each pair
// of ranks. Blocks of a pair that are not neighbours in memory are packed.
typedef struct transport_blocks {
  f2_affine blocks;
  uint64_t bytes;  // of a block
} transport_blocks;
bool transport_exchange_blocks(transport *t, const transport_blocks *b, const void *from, void *to,
                               error *failure);
// Every rank gets what all have: rank r's bytes[r] bytes lie in `all` behind those of the ranks
// below. `mine` may be this rank's place in `all`.
bool transport_gather(transport *t, const void *mine, const uint64_t *bytes, void *all,
                      error *failure);
// What each rank has to say, of as many bytes on all: by rank, in memory that the caller frees.
// NULL: *failure says why.
void *transport_gather_each(transport *t, const void *mine, uint64_t bytes, error *failure);
// What rank 0 has to say comes to all.
bool transport_share(transport *t, void *what, uint64_t bytes, error *failure);

// Whether all ranks have the same parts, say program, sizes and options: "rank 2 differs from rank
// 0 in its sizes". Names and number of the parts are compared first, as those of a version. Where
// they do not, all ranks end this with the same line, and can go on.
typedef struct transport_part {
  const char *name;
  const void *bytes;
  size_t count;
  bool shown;  // a text whose first line is told: "... in its sizes: 8, not 4"
  // What explains may differ; it is told instead of what differs and is explained.
  bool explains, explained;
} transport_part;
bool transport_agree(transport *t, const transport_part *parts, size_t count, error *failure);
// Called instead by a rank that cannot do what the others agree on: they end that with
// "rank 2: CAUSE", of its first line. True: all ranks have refused, with the same text.
bool transport_refuse(transport *t, const char *cause);

#endif
