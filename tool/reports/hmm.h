// What memory machines have counted, for a reader and as JSON (`permc machine`).
//
//   dmm: w = 32, l = 100, p = 256; stride, n = 1024
//   thread i reads word i n/p + t in round t (DMM/UMM paper, Table 1)
//
//                         barriers          free
//   time units                 524           524
//   closed form                524           524   (k p/w + l - 1) n/p, k = GCD(n/p, w) (DMM) or
//   ...
//
//   rounds                    good        casual      accesses        stages
//   shared read                  0             4            32           128
//
//   congestion of shared memory: 4 (32 accesses)
//   results are right
//
// A round is one step of all warps; a good one is coalesced (global) or conflict-free (shared).
#ifndef PERMC_TOOL_REPORTS_HMM_H
#define PERMC_TOOL_REPORTS_HMM_H

#include "kernels/hmm/algorithm.h"
#include "kernels/hmm/plan.h"

// [0]: with a barrier after each round; [1]: free-running.
typedef struct hmm_report {
  hmm_machine machine;
  const hmm_algorithm *algorithm;
  const hmm_task *task;
  const char *data;  // the name of the permutation or file, or NULL
  hmm_counts counts[2];
  uint64_t closed[2];     // 0: there is no closed form
  uint64_t distribution;  // D_w of a permutation: its casual round's stages; 0 of others
} hmm_report;

// NULL: *out has been counted, and results are right. Otherwise a sentence.
const char *hmm_report_make(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                            const hmm_task *t, hmm_report *out);
void hmm_report_text(text *to, const hmm_report *r);
// {"machine": "dmm", "width": 32, "dmms": 1, "latency": 100, "shared_latency": 1, "threads": 256,
//  "algorithm": "stride", "n": 1024, "requests": 1024,
//  "barriers": {"time": 524, "closed_form": 524}, "free": {"time": 524, "closed_form": null},
//  "rounds": [{"memory": "shared", "access": "read", "good": 0, "casual": 4, "accesses": 32,
//              "stages": 128}], "congestion": [{"memory": "shared", "stages": 4, "accesses": 32}]}
void hmm_report_json(text *to, const hmm_report *r);

// The same of a plan, pass by pass.
typedef struct hmm_plan_report {
  hmm_machine machine;
  const char *entry;
  uint32_t count;
  hmm_counts *passes[2];
  const double *seconds;  // by pass, as a GPU takes for it; NULL: there was none to be asked
  const char *layout;     // of exchanges; NULL: the planner's own
  const char *exchanges;  // a line for each, with the layout's parameters; ""
  const char *like;       // what the machine is like, or NULL
} hmm_plan_report;

// What hmm_plan_report_make will take. NULL, or a sentence.
const char *hmm_plan_report_estimate(arena *a, const hmm_machine *m, const plan *p,
                                     const c_options *options, hmm_estimate *out);
// Executes all passes twice. NULL: *out has been counted; otherwise a sentence.
const char *hmm_plan_report_make(arena *a, const hmm_machine *m, const plan *p, const char *entry,
                                 const c_options *options, hmm_plan_report *out);
void hmm_plan_report_text(text *to, const hmm_plan_report *r);
void hmm_plan_report_json(text *to, const hmm_plan_report *r);

#endif
