// What a plan comes to: counts, bytes, seconds. For `permc explain` and the structure lines of
// tests.
//
//   the paper's sorter, n = 24, i32, target line128-tile128k
//
//   columns 300, all static    ops on two or more elements; which of them an element is follows
//   maps 0                     from its register alone
//   passes 14, permutations 0  passes over memory; those among them that only move elements
//   copies 0                   passes that leave every element in its place: not counted as passes
//   exchanges 70               between the phases of passes
#ifndef PERMC_FUSION_PLAN_FACTS_H
#define PERMC_FUSION_PLAN_FACTS_H

#include "fusion/plan/plan.h"

typedef enum plan_pass_kind {
  PLAN_WORK,  // executes ops
  PLAN_MOVE,  // only moves elements
  PLAN_COPY   // moves whole arrays, or parts of them, as they are
} plan_pass_kind;

typedef enum plan_bound { PLAN_BY_MEMORY, PLAN_BY_WORK, PLAN_BY_START } plan_bound;

typedef struct plan_pass_facts {
  plan_pass_kind kind;
  uint32_t columns, static_columns, maps, exchanges;
  uint64_t bytes_read, bytes_written;  // each element once, and only where there are elements
  plan_bound bound;                    // what takes the longest
} plan_pass_facts;

typedef struct plan_facts {
  uint64_t columns, static_columns, maps;
  uint64_t passes, permutations, copies, exchanges;
  uint64_t bytes_read, bytes_written;
  uint64_t temporaries, temporary_bytes;  // arrays that are neither arguments nor results
  double seconds;
} plan_facts;

plan_pass_facts plan_pass_facts_of(const plan *p, size_t pass);
plan_facts plan_facts_of(const plan *p);

// How many dimensions the tile lacks to hold whole lines of the move's array. 0 where it holds
// them.
int plan_missing_dimensions(const plan *p, const plan_pass *pass, const plan_move *m);

#endif
