// Private to fusion/rules: one stage under rewriting.
#ifndef PERMC_FUSION_RULES_REWRITING_H
#define PERMC_FUSION_RULES_REWRITING_H

#include "fusion/net/net.h"
#include "fusion/rules/rules.h"

typedef struct rewriter {
  arena *memory;
  net *net;
  net_stage *stage;
  rule_log *log;
  bool changed;
  bool joins_apart;  // ops that only select among values take nothing in ...
  bool held_apart;   // ... and that kept two ops apart
  uint64_t loops;    // iterations of all loops
  // What is being rewritten, for the log: its step, and how often its nodes are evaluated.
  uint32_t step;
  uint64_t times;
  net_id *memo;     // by node, NET_NONE between uses
  net_id *nodes;    // of the op that was walked last
  size_t capacity;  // of both
} rewriter;

static inline const net_node *node_at(const rewriter *r, net_id id) {
  return &r->stage->nodes.items[id];
}
static inline const net_node *operand(const rewriter *r, const net_node *node, uint32_t i) {
  return node_at(r, node->operands[i]);
}
static inline bool is_constant(const net_node *node) { return node->kind == NET_CONSTANT; }
static inline net_id add_constant(rewriter *r, scalar_type type, scalar_bits bits) {
  return net_node_add(r->memory, r->stage,
                      &(net_node){.kind = NET_CONSTANT, .type = type, .constant = bits});
}

// What is simplified on trial is no firing, since it may come to nothing.
static inline rewriter trial_begins(rewriter *r) {
  rewriter before = *r;
  r->log = NULL;
  return before;
}
static inline void trial_ends(rewriter *r, const rewriter *before) {
  r->log = before->log;
  r->changed = before->changed;
}

// ---- rules/log.c -----------------------------------------------------------------------------

void rewriter_fired(rewriter *r, rule_id rule, uint64_t bytes, uint64_t operations);
// Sets step and times.
void rewriter_at(rewriter *r, const net_op *op);
// Of a value in memory, where it is dead but for 2^dead_dimensions-th of the indices.
uint64_t rewriter_bytes(const rewriter *r, net_id value, int dead_dimensions);

// ---- rules/nodes.c ---------------------------------------------------------------------------

// r->nodes becomes the nodes of the op, with room in the memo; returns how many.
uint32_t rewriter_walk(rewriter *r, const net_op *op);
// How many of them are work, unlike elements and constants.
size_t rewriter_count_operations(rewriter *r, const net_op *op);
// Whether some are evaluated as often as the program says.
bool op_has_effect(rewriter *r, const net_op *op);
// The first `count` of r->nodes have nothing in the memo.
void rewriter_forget(rewriter *r, uint32_t count);
// The op with the nodes that the memo has for its own, `count` of them, which it forgets.
net_op rewriter_take_memo(rewriter *r, const net_op *op, uint32_t count);
// The values of the op, each with 2^k dead elements.
net_output *dead_outputs(arena *a, const net_op *op, uint32_t k);
// The number of a node of equal value: of the given one, or what constant, identity and minmax make
// of it. Its operands are simplified.
net_id node_simplified(rewriter *r, const net_node *node);

// ---- rules/index.c ---------------------------------------------------------------------------

// Whether the node is an index of that map, or a constant: an index that is the same everywhere.
bool node_is_index(const rewriter *r, const net_node *node, net_map *map);
// The number of an index of that map; of a constant where the map is one.
net_id add_index(rewriter *r, const net_map *map);
// That of what the rule makes of an operation, or NET_NONE.
net_id index_simplified(rewriter *r, const net_node *node);

// ---- rules/merge.c ---------------------------------------------------------------------------

// The stage's ops and loads rewritten once, in order: rules on nodes, common subexpressions,
// map-id, and the merging of ops.
void stage_rewrite_ops(rewriter *r);

// ---- rules/narrow.c --------------------------------------------------------------------------

// Which elements of its cosets the elements of an op read:
//
//   v1[0] = + v0[0] v0[1]; v1[1] = v0[3]      at 1 3, E = <0b01>, moved = <0b01 0b10>
typedef struct element_reads {
  net_id *at;      // by element: one that it reads, or NET_NONE
  f2_space e;      // spanned by the differences of what one element reads
  f2_space moved;  // besides by those of an element and what it reads
} element_reads;
// r->nodes becomes the op's nodes, *count of them.
element_reads element_reads_of(rewriter *r, const net_op *op, uint32_t *count);
// Ops without the directions that they do not need.
void stage_narrow(rewriter *r);

// ---- rules/turn.c ----------------------------------------------------------------------------

// Ops that do the same on both halves of the indices, with their elements in another order.
void stage_turn_halves(rewriter *r);

// ---- rules/join.c ----------------------------------------------------------------------------

// Whether the op, of single elements, only selects among values.
bool op_only_chooses(const net_stage *s, const net_op *op);
// The rule in-place, for all such ops of the stage.
void stage_coalesce_joins(rewriter *r);

// ---- rules/frames.c --------------------------------------------------------------------------

// Ops that do not move elements: what reads their values has another index.
void stage_move_frames(rewriter *r);

// ---- rules/dead.c ----------------------------------------------------------------------------

// Drops what no store needs, and narrows live sets to where it is needed. `wanted`: by array,
// whether a later stage or the program's caller reads it.
void stage_drop_dead(rewriter *r, const bool *wanted);
void stage_want_reads(rewriter *r, bool *wanted);  // the arrays that it reads
// Renumbers what is left: stages without stores, and temporaries, values and nodes that nobody uses
// go.
void net_compact(arena *a, net *t);

// ---- rules/loads.c ---------------------------------------------------------------------------

// Gives loads of an array the same map where it is the same wherever they are wanted. By value.
void stage_join_loads(rewriter *r, f2_space *wanted);
// The rule one-store, by the rewriters of all stages.
void net_join_stores(rewriter *rewriters, net *t);

// ---- rules/space.c ---------------------------------------------------------------------------

// A stage that is alive on a part of its indices only gets that part as its index space.
void stage_restrict(rewriter *r);

// ---- rules/thin.c ----------------------------------------------------------------------------

// The rule thin, by the rewriters of all stages.
void net_thin_arrays(rewriter *rewriters, net *t);

#endif
