// What permc_tune has stored: for one program on one machine, the target to plan for.
//
// In: a net, the machine's own target, and in words what processor it has. Out: the target that the
// planner should use. Reads and writes the cache only; measuring is runtime/tune/.
//
//   const target *own = target_named("avx512");                 // tiles of 128 KiB
//   bool tuned;
//   const target *t = tuned_target(memory, net, own, NULL, NULL, &tuned);
//   // nothing stored: t == own, !tuned
//   tuned_point p = tuned_point_of(own);
//   p.bytes[TUNED_TILE] = 32 << 10;
//   tuned_store(&folder, key, own, &p, path, &why);  // permc_tune found p to be faster
//   t = tuned_target(memory, net, own, NULL, NULL, &tuned);
//   // t: own with tiles of 32 KiB for every stage, tuned
//
// Three numbers of a target are tuned: bytes of a tile, of registers, of an access. An entry is in
// the cache beside compiled code, under a digest of all that it depends on: the rewritten net, all
// fields of the machine's own target, the processor, the version of permc. Its content is a target
// as text (fusion/target/target.h):
//
//   base = avx512
//   tile_bytes = 32768
//   register_bytes = 1024
//   wide_bytes = 16
//   adapts = 0
#ifndef PERMC_RUNTIME_TUNED_TUNED_H
#define PERMC_RUNTIME_TUNED_TUNED_H

#include "fusion/plan/plan.h"
#include "runtime/system/cache.h"

// ---- points ------------------------------------------------------------------------------------

typedef enum tuned_field { TUNED_TILE, TUNED_REGISTERS, TUNED_WIDE, TUNED_FIELDS } tuned_field;

typedef struct tuned_point {
  uint64_t bytes[TUNED_FIELDS];
} tuned_point;

tuned_point tuned_point_of(const target *t);
// The machine's target with these numbers for every stage.
target tuned_target_at(const target *own, const tuned_point *p);

// ---- planning ----------------------------------------------------------------------------------

// What permc_tune asks of the planner, and what it learns from it.
typedef struct tuned_trial {
  const target *target;  // in: to plan for; NULL: as the model has it
  // Out, of the last plan made for the machine at hand:
  char key[CACHE_KEY];  // of its entry in the cache; "": no plan was made
  const target *own;    // the machine's own target
  tuned_point chosen;   // by the model, for the largest stage
  bool same;            // ... and for all others
  char machine[160];    // "avx512, AMD EPYC 9554 64-Core Processor"
} tuned_trial;

// The target to plan this net for in place of `own`, that of the machine at hand: the one on trial,
// else one that is stored (then *tuned), else `own`. `gpu`: in words, "NVIDIA H200, sm_90"; NULL:
// the machine is this processor. `trial`: filled in; NULL: there is none.
const target *tuned_target(arena *memory, const net *n, const target *own, const char *gpu,
                           tuned_trial *trial, bool *tuned);

// ---- entries -----------------------------------------------------------------------------------

// False: *why is a sentence without a full stop. `path`: where the entry lies.
bool tuned_store(const cache *c, const char key[CACHE_KEY], const target *own, const tuned_point *p,
                 char path[CACHE_PATH], const char **why);
// What is stored, in place of `own`. False: there is no entry that reads as a target.
bool tuned_find(const cache *c, const char key[CACHE_KEY], arena *memory, const target *own,
                target *out);

#endif
