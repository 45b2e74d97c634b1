// Private to fusion/loops.
#ifndef PERMC_FUSION_LOOPS_LOOPING_H
#define PERMC_FUSION_LOOPS_LOOPING_H

#include "fusion/loops/loops.h"

// A Trace whose equal steps are one step. Those without operands (LEAVES: arguments, constants)
// belong to no part; the others are numbered in their order, which are their POSITIONS.
typedef struct numbered {
  arena *memory;
  const trace *trace;       // nothing in it is without use
  const uint32_t *origins;  // by step: that of the program's Trace
  bool parts;               // whether arrays may be parts of others
  uint32_t count;           // of positions
  value_id *at;             // by position: the step
  uint32_t *position;       // by step; NO_STEP: a leaf
  uint32_t *work;           // by step: scalar operations that make it of nothing; DATA: it is data
  number_range *ranges;     // by step
} numbered;

enum { DATA = UINT16_MAX };

static inline const trace_step *numbered_step(const numbered *n, value_id id) {
  return &n->trace->steps.items[id];
}

// Whether it is elements of its operand in another place.
static inline bool step_moves(const trace_step *s) {
  switch (s->op) {
  case TRACE_RESHAPE:
  case TRACE_BROADCAST:
  case TRACE_REPLICATE:
  case TRACE_TRANSPOSE:
  case TRACE_SLICE:
  case TRACE_ELEMENT:
  case TRACE_SPLIT:
  case TRACE_BMMC:
    return true;
  default:
    return false;
  }
}

// The step whose elements it has, in any shape.
static inline value_id step_in_any_shape(const numbered *n, value_id id) {
  const trace_step *s = numbered_step(n, id);
  while (s->op == TRACE_RESHAPE && !s->bound && !s->trusted) {
    id = s->operands[0];
    s = numbered_step(n, id);
  }
  return id;
}

// Steps at positions first, ..., first + rounds * period - 1: each round's are like those of the
// first but for the values that they read of other rounds, or of constants.
typedef struct repeat {
  uint32_t first, period, rounds;
} repeat;

numbered number_steps(arena *a, const trace *t);
// In their order, without a position in two of them; *count of them.
repeat *find_repeats(const numbered *n, uint32_t *count);
// Where else a round of it may begin, as offsets in a round: before what needs whole arrays. *count
// of them, at most MOST_ROTATIONS, by the bytes that go from round to round.
enum { MOST_ROTATIONS = 4 };
uint32_t *find_rotations(const numbered *n, repeat r, uint32_t *count);
// The rounds that are like the middle one.
repeat alike_rounds(const numbered *n, repeat r);
// The operand, where it is a step of the round that begins at the position; else NO_STEP. As an
// offset.
static inline uint32_t offset_in_round(const numbered *n, uint32_t begin, uint32_t period,
                                       value_id operand) {
  uint32_t at = n->position[operand];
  return at != NO_STEP && at >= begin && at - begin < period ? at - begin : NO_STEP;
}

// ---- parts --------------------------------------------------------------------------------------

// What a part reads or makes: in each round, a step of the numbered Trace.
typedef struct part_value {
  value_id *of;       // by round
  uint64_t *numbers;  // not NULL: this element of it; without `of`, this i64
} part_value;

// A stretch of positions, as a Trace whose arguments are values of other parts. Its results are
// `outputs`; then those of the program that are leaves, or another one's, by their number.
typedef struct part {
  repeat at;  // one round, where it is no loop
  trace *trace;
  VEC(uint32_t) origins;  // by step of it: that of the program's Trace
  VEC(part_value) inputs, outputs;
  VEC(uint32_t) rest;
  net *net;
} part;

// needed: by step, whether an array of it is read by another part; marks those that this part
// reads. leaves: whether those that are needed are among its outputs.
part make_part(const numbered *n, repeat at, bool *needed, bool leaves, uint32_t rest_count,
               const uint32_t *rest);

#endif
