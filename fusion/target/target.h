// A target: what the planner knows of a machine. A CPU and a GPU differ here and in the emitter, in
// nothing else.
//
//   avx512   lines of 128 bytes; tiles of 128 KiB in L2; 16 vectors of 64 bytes in registers
//   c-avx512 the same for a library of `permc build`: one thread, called directly
//   gpu      lines of 128 bytes; tiles of 64 KiB in shared memory; 2^5 lanes, 32 registers each
//
// Beyond its memory there are OUTER LEVELS: ranks, each with a memory of its own, and disks. Of 2^p
// ranks the number's lowest bits, up to `peers` ranks, are on one host; the other bits are the
// host:
//
//   p = 5, peers = 8       rank  4 3 | 2 1 0       bits 4 3: hosts, reached by the network
//                                                  bits 2 1 0: peers, reached by the host's own links
//
// In: a name of the table (target.c), or the text of a file (text.c). Out: a row, for the planner.
#ifndef PERMC_FUSION_TARGET_TARGET_H
#define PERMC_FUSION_TARGET_TARGET_H

#include "core/networks.h"
#include "core/text.h"

// What a level moves, at most: an exchange of m messages a rank, b bytes in all, is predicted to
// take latency + (b + m * half_bytes) / bytes_per_second.
typedef struct target_link {
  double bytes_per_second;  // out of a rank, while as many come in
  double latency;           // seconds, of an exchange: its messages wait together
  double half_bytes;        // a message of so many bytes gets half of that rate
} target_link;
typedef enum target_level { TARGET_PEER, TARGET_NETWORK, TARGET_DISK, TARGET_LEVELS } target_level;

// What sorts and other routines cost, as measured (plan/cost.c): of a GPU in seconds; of a processor
// on one thread, in ops.
typedef struct target_routines {
  double start;      // of a kernel, in the measure of pass_seconds
  double key;        // to count the digits of a key, and to move it by each digit
  double byte;       // to read or write one of what a digit moves
  double place;      // to write one at the end
  double partition;  // of a byte that few keys put in order
  double call_ops, row_ops;
  double partition_ops;  // of a key, to halve what is not sorted
  double move_ops;       // of an element that goes where its key went
  double count_ops;      // of a key and a digit, where keys have few values
  double value_ops;      // of a value that keys can have, then
} target_routines;

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
  network_limits networks;         // which sorts are by networks
  target_routines routines;
  // The outer levels. Plans of what a rank does do not depend on them.
  uint32_t peers, nodes;  // at most so many ranks of a host, and hosts: powers of two
  uint64_t disk_block;    // files are read and written in blocks of so many bytes: a power of two
  target_link links[TARGET_LEVELS];
  bool
      keeps_order;  // not in texts: ops are executed in the net's order, even if that takes more passes
} target;

// The table's rows.
size_t target_count(void);
const target *target_at(size_t index);
const target *target_named(const char *name);  // or NULL

// ---- as text (target/text.c) -----------------------------------------------------------------

// The fields in words: rows of a table. The first of them are what plans depend on; the outer
// levels follow.
typedef struct target_field {
  const char *name, *summary;
} target_field;
size_t target_field_count(void);
size_t target_plan_field_count(void);
target_field target_field_at(size_t index);
// "128", "4e+10": the field's value, so that it reads back exactly.
void target_print_field(text *out, const target *t, size_t field);
// Whether there is a field of that name; *wrong: NULL, or why that is no value of it. The value
// ends before a blank.
bool target_set_field(target *t, const char *name, const char *value, const char **wrong);

// A target from lines such as
//
//   base = avx2            # what is not said below is as there; without it all has to be said but for
//                          # the outer levels, which are those of avx512
//   name = laptop
//   tile_bytes = 65536
//
// NULL: *wrong is a sentence with the line.
target *target_read(arena *a, const char *string, const char **wrong);

#endif
