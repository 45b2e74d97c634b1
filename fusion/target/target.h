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
// What exchanges take, of so many bytes and messages in all.
static inline double target_link_seconds(const target_link *l, double exchanges, double bytes,
                                         double messages) {
  return exchanges * l->latency + (bytes + messages * l->half_bytes) / l->bytes_per_second;
}
typedef enum target_level { TARGET_PEER, TARGET_NETWORK, TARGET_DISK, TARGET_LEVELS } target_level;

// What sorts and other routines cost (plan/cost.c): of a GPU in seconds, of a processor on one
// thread in operations. Measured on an H200, whose kernels start in 3.6 us in a graph (passes are
// counted at more than twice their time, too), and with AVX-512 (runtime/routines/sort.c).
// clang-format off
#define TARGET_ROUTINES(ROW)                                                                       \
  ROW(start, 8e-6, "seconds, of a kernel of a sort on a GPU")                                      \
  ROW(key, 1.4e-12, "seconds, of a key there, for each digit and for their counts")                \
  ROW(byte, 3e-13, "seconds, of a byte that a digit moves there")                                  \
  ROW(place, 2e-11, "seconds, of a place that is written there")                                   \
  ROW(partition, 9e-13, "seconds, of a byte that few keys put in order there")                     \
  ROW(call_ops, 3000, "operations, of a sort on a processor")                                      \
  ROW(row_ops, 800, "operations, of a row that is sorted by itself")                               \
  ROW(partition_ops, 5.5, "operations, of a key that a pivot puts on its side")                    \
  ROW(move_ops, 20, "operations, of an element that goes where its key went")                      \
  ROW(count_ops, 24, "operations, of a key that is counted, and 8 of its bits")                    \
  ROW(value_ops, 64, "operations, of a value that counted keys can have")
// clang-format on

typedef struct target_routines {
#define ROW(field, value, summary) double field;
  TARGET_ROUTINES(ROW)
#undef ROW
} target_routines;

typedef struct target {
  const char *name;
  uint32_t line_bytes;  // memory moves in lines of so many bytes: a power of two
  uint64_t tile_bytes;  // fast memory for one tile, all its slots
  uint32_t lane_bytes;  // a vector of the widest element, or part of one that is computed with, is
                        // at most so many bytes (0: lanes are counted, as on a GPU)
  uint32_t lane_bits;   // at most 2^lane_bits lanes
  uint32_t register_bytes;  // of data in registers, of one thread (all its lanes if lane_bytes)
  uint32_t adapts;          // 0 or 1: whether tiles and registers get smaller with the number of
                            // elements (target_for)
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
// The target itself, or where it adapts, one with as much of its tile and its registers as so many
// elements are worth, the widest of so many bytes. Of many elements there are others to be tried;
// NULL: not of these.
typedef enum target_choice {
  TARGET_USUAL,
  TARGET_HALF_TILE,
  TARGET_WHOLE_TILE,
  TARGET_HALF_LINES,
  TARGET_WHOLE_TILE_HALF_LINES,
  TARGET_CHOICES
} target_choice;
static inline bool target_has_whole_tile(target_choice c) {
  return c == TARGET_WHOLE_TILE || c == TARGET_WHOLE_TILE_HALF_LINES;
}
static inline bool target_has_half_lines(target_choice c) {
  return c == TARGET_HALF_LINES || c == TARGET_WHOLE_TILE_HALF_LINES;
}
const target *target_for(arena *a, const target *t, uint64_t elements, uint32_t width,
                         target_choice choice);

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
