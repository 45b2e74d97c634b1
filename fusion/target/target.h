// A target: what the planner knows of a machine. A CPU and a GPU differ here and in the emitter, in
// nothing else.
//
//   avx512   lines of 128 bytes; tiles of 128 KiB in L2; 16 vectors of 64 bytes in registers
//   gpu      lines of 128 bytes; tiles of 64 KiB in shared memory; 2^5 lanes, 32 registers each
//
// In: a name of the table (target.c), or the text of a file (text.c). Out: a row, for the planner.
#ifndef PERMC_FUSION_TARGET_TARGET_H
#define PERMC_FUSION_TARGET_TARGET_H

#include "core/text.h"

typedef struct target {
  const char *name;
  uint32_t line_bytes;      // memory moves in lines of so many bytes: a power of two
  uint64_t tile_bytes;      // fast memory for one tile, all its slots
  uint32_t lane_bytes;      // a vector of the widest element is at most so many bytes (0: lanes are
                            // counted, as on a GPU)
  uint32_t lane_bits;       // at most 2^lane_bits lanes
  uint32_t register_bytes;  // of data in registers, of one thread (all its lanes if lane_bytes)
  uint32_t adapts;          // 0 or 1: whether tiles and registers get smaller with the number of
                            // elements (plan_stage_target)
  uint32_t wide_bytes;      // the most that one access of a thread has, where lanes are counted: a
                            // power of two from 1 to 16
  // The cost model: seconds per unit, of the whole machine.
  double memory_bytes_per_second;  // of a copy: bytes read + bytes written
  double ops_per_second;           // min/max of 4-byte elements
  double exchange_ops;             // what moving one element between phases costs, in ops
  double pass_seconds;             // starting a pass
} target;

// The table's rows.
size_t target_count(void);
const target *target_at(size_t index);
const target *target_named(const char *name);  // or NULL

// ---- as text (target/text.c) -----------------------------------------------------------------

// The fields in words: rows of a table.
typedef struct target_field {
  const char *name, *summary;
} target_field;
size_t target_field_count(void);
target_field target_field_at(size_t index);
// "128", "4e+10": the field's value, so that it reads back exactly.
void target_print_field(text *out, const target *t, size_t field);
// Whether there is a field of that name; *wrong: NULL, or why that is no value of it. The value
// ends before a blank.
bool target_set_field(target *t, const char *name, const char *value, const char **wrong);

// A target from lines such as
//
//   base = avx2            # what is not said below is as there; without it all has to be said
//   name = laptop
//   tile_bytes = 65536
//
// NULL: *wrong is a sentence with the line.
target *target_read(arena *a, const char *string, const char **wrong);

#endif
