// Where the arrays of a plan lie, by their lifetimes: a door of this room, for processors, GPUs,
// shares of files, ranks (whose passes are their steps) and libraries that are made ahead of time.
//
//   in    a Plan, and which of its passes may store where they have loaded
//   out   by array the number of its room, which holds one array at a time; the rooms
//
// A result that is the caller's memory, and an argument that is taken over, have rooms from the
// beginning, in which other arrays may lie before or after them. The others are placed by size, the
// largest first; of equal ones the last first, so that those that are needed with a result leave its
// room to those before. Each goes to the first room whose arrays it does not meet. Two arrays meet
// where one pass needs both, unless it may store one where it loads the other:
//
//   pass       0             1             2             3
//   loads      a0            a2            a3            a4      all of one size: a0 is an argument,
//   stores     a2            a3            a4            a1      a1 the result
//   rooms      a2 in 1       a3 in 0       a4 in 1       a1 in 0     no pass is in place
//   rooms      a2 in 0       a3 in 0       a4 in 0       a1 in 0     every pass is
#ifndef PERMC_RUNTIME_CPU_STORAGE_H
#define PERMC_RUNTIME_CPU_STORAGE_H

#include "fusion/plan/plan.h"

#define STORAGE_NEVER UINT32_MAX

// How a pass is executed. Passes of one kernel happen at one time.
typedef struct storage_pass {
  bool in_place;     // arrays loaded and stored by the same map may be one
  uint32_t earlier;  // passes just before it that are of its kernel
  uint64_t bytes;    // of temporaries, while it runs
} storage_pass;

typedef struct storage_item {
  uint64_t bytes;
  uint32_t first, last;  // passes that need it; STORAGE_NEVER: it has no room
  uint32_t room;
  uint32_t next;  // array in the room
} storage_item;

typedef struct storage_room {
  uint64_t bytes;
  uint32_t first, last;  // passes that need it
  net_id owner;          // the array whose memory there is already, or NET_NONE
  net_id array;          // the first of its arrays
  void *memory;          // the user's, of malloc when storage_end comes; NULL: none
} storage_room;

typedef struct storage {
  const plan *plan;
  const storage_pass *passes;  // by pass; NULL: none is in place, and each is a kernel
  size_t returned;             // results below that number are the caller's memory
  // A room is allocated before the first pass that needs it, and freed after the last. It is never
  // idle, and no larger than memory for one of its arrays; of equal arrays the first is placed
  // first.
  bool transient;
  storage_item *items;  // by array
  storage_room *rooms;
  uint32_t room_count;
} storage;

// That a pass needs an array, which no later pass has needed yet, and at first (first is
// STORAGE_NEVER) none.
void storage_note_use(storage_item *item, uint32_t pass);
// By array, given ones as well: the first and the last pass that touches it.
void storage_lifetimes(const plan *p, storage_item *items);
// Arrays that are not given, and that a pass touches, as items; results are needed to the end. The
// caller may change items before they are placed. False: out of memory.
bool storage_begin(storage *s, const plan *p, const storage_pass *passes);
bool storage_place(storage *s);
// Frees the memory of rooms that no later pass needs, if they are transient.
void storage_free_after(storage *s, uint32_t pass);
void storage_end(storage *s);  // {0} is allowed

uint64_t cpu_array_bytes(const net_array *a);
// Whether each tile of the pass stores array `stored` just where its load number `load` has read.
// Then one buffer can serve for both arrays if no later pass needs the one that is loaded.
bool cpu_loads_where_stored(const plan *p, const plan_pass *pass, uint32_t load, net_id stored);

// ---- in the caller's memory ----------------------------------------------------------------------

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

// The places of a call whose arguments, and results below that number, are the caller's memory; all
// else is in a workspace. The caller frees out->places with free(). False: out of memory.
bool array_layout_make(const plan *p, const storage_pass *passes, size_t returned,
                       array_layout *out);

#endif
