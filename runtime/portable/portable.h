// The portable executor of the CPU backend: runs the passes of any Plan, in C, without generating
// code. It wants no other tool at run time, and is what compiled code is compared with.
//
//   portable *e = portable_new(p, &(portable_options){.allow_foreign = false}, &failure);
//   cpu_run(p, &(cpu_options){.executor = &(cpu_executor){portable_pass, e}}, ...);
//   portable_free(e);
//
// A tile is loaded into scratch memory, each op of the pass goes over it, it is stored. The plan's
// phases are not looked at. Elements of the tile are numbered in a basis of its subspace, chosen
// so that lines of memory and the elements of an op lie in runs; the linear maps from there to
// addresses, to pairs and to index values are tables and XORs (pass.h).
//
//   portable.c           which tiles, in which basis; the loop over items
//   tile.c      subsets of a tile, and maps on them, as tables
//   move.c      loads and stores
//   op.c        ops as lists of steps over chunks of instances (core/scalar/scalar.h does
//   the work) compare.c   compare-exchange, in vectors: what sorting networks are made of
#ifndef PERMC_RUNTIME_PORTABLE_PORTABLE_H
#define PERMC_RUNTIME_PORTABLE_PORTABLE_H

#include "runtime/cpu/cpu.h"

typedef struct portable portable;

typedef struct portable_options {
  bool allow_foreign;
  const atomic_bool *interrupted;  // looked at between calls of foreign functions; may be NULL
  uint32_t vector_bytes;           // vectors no wider than that (0: as wide as the machine's)
} portable_options;

// Prepares all passes of `p`, which must outlive the executor. NULL: *failure says why.
portable *portable_new(const plan *p, const portable_options *o, error *failure);
void portable_free(portable *e);  // NULL is allowed

// How it executes a pass: for cpu_executor, with the portable as `with`.
cpu_work portable_pass(void *with, uint32_t pass);

#endif
