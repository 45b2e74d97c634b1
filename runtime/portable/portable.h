// The portable executor of the CPU backend: runs the passes of any Plan in C, without generating
// code. It needs no other tool at run time, and compiled code is compared with it in tests.
//
//   in    a Plan
//   out   an executor for cpu_run (runtime/cpu/cpu.h)
//
//   portable *e = portable_new(p, &(portable_options){.allow_foreign = false}, &failure);
//   cpu_executor executor = {portable_pass, e};
//   cpu_run(p, &(cpu_options){.executor = &executor}, arguments, count, results, &failure);
//   portable_free(e);
//
// A tile is loaded into scratch memory, each op of the pass is applied to all of it, and it is
// stored. The plan's phases are not used. For a pass that sorts pairs of a tile of 8 elements:
//
//   position    0 1 2 3 4 5 6 7
//   load        5 3 8 1 4 4 2 7        slot 0
//   compare     3 5 1 8 4 4 2 7        direction 001: positions p and p ^ 1; slot 1
//   store       3 5 1 8 4 4 2 7
//
// Elements of the tile are numbered in a basis of its subspace, chosen so that lines of memory and
// the elements of an op lie in runs; the linear maps from there to addresses, to pairs and to index
// values are tables and XORs (pass.h).
//
//   pass.h        a prepared pass (private to this room)
//   portable.c    which tiles, in which basis; the loop over items
//   tile.c        subsets of a tile, and maps on them, as tables
//   move.c        loads and stores
//   op.c          ops as lists of steps over chunks of instances (core/scalar/scalar.h computes them)
//   compare.c     compare-exchange, in vectors: what sorting networks consist of
//                 (vectors.inc: for each width of vectors; compare.inc, floats.inc: for each type)
//   roots.c       tables of roots of unity
#ifndef PERMC_RUNTIME_PORTABLE_PORTABLE_H
#define PERMC_RUNTIME_PORTABLE_PORTABLE_H

#include "runtime/cpu/cpu.h"

typedef struct portable portable;

typedef struct portable_options {
  bool allow_foreign;
  const atomic_bool *interrupted;  // read between calls of foreign functions; may be NULL
  uint32_t vector_bytes;           // vectors are at most as wide (0: as wide as the machine's)
} portable_options;

// Prepares all passes of `p`, which must outlive the executor. NULL: *failure says why.
portable *portable_new(const plan *p, const portable_options *o, error *failure);
void portable_free(portable *e);  // NULL is allowed

// How it executes a pass: for cpu_executor, with the executor as `with`.
cpu_work portable_pass(void *with, uint32_t pass);

#endif
