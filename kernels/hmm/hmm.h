// The memory machines: what a program's accesses cost in time units, counted by executing them.
//
//   DMM(w, l)       one memory of w banks: address a is in bank a mod w
//   UMM(w, l)       one memory of w banks with one address line: address a is in group a div w
//   HMM(d, w, L)    d DMMs, the shared memories, and a UMM, the global memory
//
// (DMM/UMM paper, section 2; HMM paper, section II.)
//
// p threads are p / w WARPS of w LANES. In a ROUND each lane of a warp asks for one word, or for
// nothing. The request of a warp is dispatched as a whole and fills as many STAGES of its memory's
// pipeline, one per time unit, as its CONGESTION: the most distinct addresses in one bank (DMM), or
// the number of address groups (UMM). Lanes that want one address are served by one request; of
// lanes that write to one address, the last does. A stage ends l time units after it began, and a
// warp whose last stage has ended may send its next request. Each memory takes the warps that wait
// for it in turn.
//
// An example, Figure 4 of the DMM/UMM paper: w = 4, l = 3, two warps, which ask for words 0, 1, 10,
// 6 and for 8, 9, 14, 15.
//
//      DMM   banks    0 1 2 2    0 1 2 3        UMM   groups   0 0 2 1    2 2 3 3
//            stages   2          1                    stages   3          2
//            time     (2 + 1) + 3 - 1 = 5             time     (3 + 2) + 3 - 1 = 7
//
// A PROGRAM is no list of addresses but two functions: what a warp does at a step, and for which
// addresses its lanes then ask. Memory has contents: a read brings words, a write stores them.
//
// A machine executes with a barrier after each round, as the HMM paper counts (section III: a round
// of stages k_1, k_2, ... takes sum k_i + l - 1), or free-running, each warp going on as soon as it
// can. Time goes from event to event; nothing happens between them.
//
// Files: hmm/hmm.c (with barriers), hmm/free_running.c (free-running), hmm/request.c (one request),
// and two doors: hmm/algorithm.h (the papers' accesses and algorithms), hmm/plan.h (Plans).
#ifndef PERMC_KERNELS_HMM_HMM_H
#define PERMC_KERNELS_HMM_HMM_H

#include "kernels/banks/banks.h"

typedef enum hmm_kind { HMM_KIND_DMM, HMM_KIND_UMM, HMM_KIND_HMM, HMM_KINDS } hmm_kind;
extern const char *const hmm_kind_names[];  // "dmm", ...

enum { HMM_WIDTH_MAX = 4096, HMM_DMMS_MAX = 4096 };

typedef struct hmm_machine {
  hmm_kind kind;
  uint32_t dmms;            // d: 1 but for an HMM
  uint32_t width;           // w, of all its memories
  uint64_t latency;         // l or L: of the memory; of an HMM, of the global memory
  uint64_t shared_latency;  // of an HMM's DMMs: 1 in the paper
  uint64_t threads;         // p, a multiple of w
  bool barrier;             // after each round
} hmm_machine;

// NULL, or a sentence that names the parameter that is none.
const char *hmm_problem(arena *a, const hmm_machine *m);

// ---- programs --------------------------------------------------------------------------------

typedef uint32_t hmm_word;
#define HMM_IDLE BANK_IDLE  // the address of a lane that asks for nothing

// What a warp does. The memory of a DMM is shared, that of a UMM global.
typedef enum hmm_op {
  HMM_READ_GLOBAL,
  HMM_WRITE_GLOBAL,
  HMM_READ_SHARED,
  HMM_WRITE_SHARED,
  HMM_ACCESSES,             // how many of the above there are
  HMM_SYNC = HMM_ACCESSES,  // waits until all warps of its block are here; takes no time
  HMM_SKIP,                 // no lane asks: the warp is not dispatched
  HMM_END
} hmm_op;
extern const char *const hmm_op_names[];  // "global read", ...
static inline bool hmm_is_write(hmm_op op) { return op & 1; }
static inline bool hmm_is_shared(hmm_op op) { return op >= HMM_READ_SHARED; }

typedef struct hmm_program {
  uint64_t warps;        // p / w
  uint64_t block_warps;  // divides warps. Block b = warp / block_warps is on DMM b mod d
  void *state;
  // Step 0, 1, ... of a warp; after HMM_END it is not asked again.
  hmm_op (*op)(void *state, uint64_t warp, uint64_t step);
  // At its turn, of a step that is an access: the w addresses, not all HMM_IDLE. value[w] is
  // what its last read brought and, where it writes, on return what is written.
  void (*lanes)(void *state, uint64_t warp, uint64_t step, uint64_t *address, hmm_word *value);
  // Contents, or NULL: accesses are counted, and nothing is moved.
  hmm_word *global, *shared;            // shared: d memories, one after the other
  uint64_t global_words, shared_words;  // of each; addresses from here on are errors
  hmm_word *value;                      // [warps][w], where there are contents
} hmm_program;

// ---- counts ----------------------------------------------------------------------------------

typedef struct hmm_counts {
  uint64_t time;      // time units
  uint64_t requests;  // of lanes
  // By op. A ROUND is one step of all warps; it is CASUAL unless each warp's request in it is
  // coalesced (one group) or conflict-free (congestion 1).
  uint64_t accesses[HMM_ACCESSES];  // of warps
  uint64_t stages[HMM_ACCESSES];
  uint64_t rounds[HMM_ACCESSES], casual[HMM_ACCESSES];
  uint32_t width;
  uint64_t *histogram[2];  // global, shared: [k], k from 0 to w: accesses with congestion k
} hmm_counts;

// Executes the program. NULL: *out has the counts (in the arena). Otherwise a sentence. Memory: a
// few words for each warp.
const char *hmm_run(arena *a, const hmm_machine *m, const hmm_program *p, hmm_counts *out);
// Bytes that it takes, about, besides what the program holds: `steps` of each warp.
double hmm_run_bytes(const hmm_machine *m, double warps, double block_warps, double steps);

#endif
