// How an entry runs, without running it: `permc explain`.
//
// Comes in: an entry of the loaded program, and the types or sizes of its arguments. Goes out: the
// products of the pipeline as text (explain/dump.c), or what they come to, for a reader
// (explain/text.c) and for reports of the tool.
//
//   bool print_seconds(permc_context *c, const explanation *e, void *with) {
//     printf("%g\n", e->facts.seconds);
//     return true;
//   }
//   pipeline_request r = {.entry = "main", .types = "[2^24]u32", .last = STAGE_PLAN};
//   explain_entry(c, &r, print_seconds, NULL);
#ifndef PERMC_RUNTIME_EXPLAIN_EXPLAIN_H
#define PERMC_RUNTIME_EXPLAIN_EXPLAIN_H

#include "fusion/shares/cost.h"
#include "runtime/external/run.h"
#include "runtime/pipeline.h"

// What the backend auto would do. Names of backends, of which one may be another.
typedef struct explained_choice {
  const char *begins;  // with nothing in the cache, on the processor
  const char *cached;  // with the program's code in the cache
  const char *on_gpu;  // on a machine with a GPU
  const char *often;   // where it is compiled once and called often
  bool compiles;       // cpu is compiled beside the first, and takes over
  char why[200];
} explained_choice;

// Columns on more than two elements at once, such as a network on each row of a matrix.
typedef struct explained_groups {
  uint64_t columns, elements;  // of the largest
  uint64_t comparators,
      layers;  // in all: pairs of a minimum and a maximum, and their longest chains
} explained_groups;

// Why a pass is apart from those before it, or why one only moves elements.
typedef struct explained_boundary {
  plan_boundary at;
  const char *first,
      *second;               // "scan (+) xs at sort.perm:3:9"; NULL: no op, or not of the program
  const char *why, *remedy;  // sentences without a full stop; remedy: what would remove it
  // The next boundary that says the same, and whether one before does.
  const struct explained_boundary *again;
  bool repeats;
} explained_boundary;

// A step on files, and what it is predicted to take.
typedef struct explained_step {
  external_amount amount;
  double seconds;
} explained_step;

typedef struct explanation {
  const char *entry, *type;  // "main", "[2^n]i32 -> [2^n]i32"
  const pipeline_request *request;
  pipeline *pipeline;  // with all products up to the Plan
  explained_choice choice;
  plan_facts facts;
  explained_groups groups;
  uint32_t boundary_count;
  const explained_boundary *boundaries;  // by pass
  const share_cost *costs;      // of stages on ranks, and of all of them; NULL: it is for one
  const explained_step *steps;  // on files; NULL: arrays are in memory
  uint64_t moving_steps;        // of the trace, that put elements into another order
  uint64_t peak_bytes;          // of arrays, in a run on the CPU
  double planning_seconds;      // lowering, rules and planner
} explanation;

// Explains the entry, and hands that to `use` while it lives. False: reported, or `use` has
// returned false.
typedef bool explain_use(permc_context *c, const explanation *e, void *with);
bool explain_entry(permc_context *c, const pipeline_request *r, explain_use *use, void *with);

// Of all passes (explain/boundaries.c).
const explained_boundary *explain_boundaries(const permc_context *c, arena *a, const pipeline *p,
                                             uint32_t *count);

// For a reader. show_rules: also the rewrite rules that fired.
// "1 column works on groups of 8 elements: 19 comparators in 6 layers".
void explain_groups_text(text *out, const explained_groups *g);
void explain_text(text *out, const permc_context *c, const explanation *e, bool show_rules);
// What steps on files read and write (explain/files.c).
void explain_files_text(text *out, const explanation *e);
// What ranks execute and send (explain/ranks.c).
void explain_ranks_text(text *out, const explanation *e);
// The same beside pictures, as a page of HTML (explain/page.c).
void explain_page(text *to, const permc_context *c, const explanation *e, bool show_rules);

// ---- products (explain/dump.c) ---------------------------------------------------------------

// A form of the program that can be printed.
typedef struct explain_product {
  const char *name;      // "plan"
  pipeline_stage stage;  // that makes it
  const char *backend;   // that it is made for; NULL: as the request says
  bool (*print)(text *out, permc_context *c, const pipeline *p);  // false: reported
  const char *picture;  // instead: of runtime/draw/, "": the usual one; NULL: it is none
  bool svg;
} explain_product;

// C or CUDA: the program's own part, with names and lines of its source (explain/print_code.c). The
// text that compilers get has no such comments.
bool explain_code(text *out, permc_context *c, const pipeline *p);

// What such comments are made of; `lines` must outlive them.
typedef struct explain_lines {
  const diagnostics *sources;
  const pipeline *pipeline;
  char title[400], line[200];
} explain_lines;
c_comments explain_comments(permc_context *c, const pipeline *p, explain_lines *lines);

const explain_product *explain_product_named(permc_context *c, const char *name);  // NULL: reported
bool explain_product_print(text *out, permc_context *c, const pipeline *p,
                           const explain_product *product);

#endif
