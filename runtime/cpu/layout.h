// Where each array of a plan lies in a call whose arguments and results are the caller's memory: a
// door of this room, for the processor and for GPUs.
//
//   in    a Plan, and which of its passes may store where they have loaded
//   out   for each array a place; the bytes of workspace that a call needs
//
// Arrays between passes lie in a result, as long as nothing of that is stored, else in the
// workspace, where those that do not live at the same time have the same place:
//
//   pass       0             1             2
//   loads      a0            a2            a3         a0 is an argument, a1 the result
//   stores     a2            a3            a1
//   place      a1            W             a1         pass 2 may not store where it has loaded
//   place      a1            a1            a1         every pass may: no workspace
#ifndef PERMC_RUNTIME_CPU_LAYOUT_H
#define PERMC_RUNTIME_CPU_LAYOUT_H

#include "fusion/plan/plan.h"

enum { LAYOUT_ALIGNMENT = 256 };  // of the workspace, and of places in it

typedef enum array_home {
  HOME_NONE,
  HOME_ARGUMENT,
  HOME_TABLE,
  HOME_RESULT,
  HOME_WORKSPACE
} array_home;

typedef struct array_place {
  array_home home;  // HOME_NONE: no pass touches it
  uint64_t at;      // the number of the argument or result, or the offset in the workspace
} array_place;

typedef struct array_layout {
  array_place *places;                       // by array of the plan
  uint64_t workspace_bytes, temporaries_at;  // the offset of what one pass after the other has
} array_layout;

// How a pass is executed.
typedef struct layout_pass {
  bool in_place;   // arrays loaded and stored by the same map may be one
  uint32_t first;  // the pass with which its kernel begins: passes of one kernel happen at one time
  uint64_t bytes;  // of temporaries, while it runs
} layout_pass;

// passes: by pass of the plan. returned: results
// from this number on are nobody's, so that they lie in the workspace. The caller frees out->places
// with free(). False: out of memory.
bool array_layout_make(const plan *p, const layout_pass *passes, size_t returned,
                       array_layout *out);

#endif
