// Permutations of whole arrays by strategies that run on a GPU: b[p[i]] = a[i], for any p.
//
// In: how many elements of how many bytes, and a strategy. Out: a schedule made of p, the text of
// the kernels (permute_text.h), and the list of their launches.
//
//   d-designated   b[p[i]] = a[i]: writes are casual (HMM paper, section IV)
//   s-designated   b[i] = a[q[i]], q the inverse of p: reads are casual
//   scheduled      rows, transpose, rows, transpose, rows: five kernels, nothing casual (section VII)
//   tiled          two kernels, for any n: first each tile of a has its elements put in the order of the
//                  tiles of b, then each tile of b collects its elements, a segment from each tile of a
//   in-rows        one kernel, where p moves elements inside of rows only: tiles are whole rows, and putting
//                  their elements in order is all
//
// TILED. A tile is what fast memory holds, T elements. n = 8, T = 4:
//
//   p        2 5 0 7 | 1 4 3 6         the tile of b is p / 4: 0 1 0 1 | 0 1 0 1
//   put      0 2 1 3 | 0 2 1 3         the elements for tile 0, then those for tile 1
//   between  a0 a2 a1 a3 | a4 a6 a5 a7
//   collect  2 0 1 3 | 1 3 0 2         tile 0 of b has the segments a0 a2 and a4 a6; a0 goes to place 2
//   b        a2 a4 a0 a6 | a5 a1 a7 a3
//
// There are at most n / T segments of a tile: of T^2 / n elements in the mean, whatever p is, 4 of
// 2^28 in tiles of 2^15. Tiles that are collected at about the same time read the pieces of one
// line, which the second cache keeps for them; all else are whole lines. There is nothing to
// colour: a schedule is a count and a sum, as in a sort by the tile of b. It takes 5 bytes an
// element, so that the two kernels move 21 of an array of 4 bytes: a copy moves 8. On an H200
// random permutations of 2^23 to 2^28 take 3.0 to 3.7 copies, s-designated 4.7 to 14.8,
// d-designated 6.7 to 33.6.
//
// BANKS. Element i of a tile lies at permute_place(bytes, i): the words of each row of 128 bytes
// are XORed by a number of the row, so that conflicts are as few as of random addresses, whatever p
// is (RAP paper). The numbers of the schedule are such places: that costs nothing to read.
#ifndef PERMC_KERNELS_ROUTINES_PERMUTE_PERMUTE_H
#define PERMC_KERNELS_ROUTINES_PERMUTE_PERMUTE_H

#include "core/number.h"
#include "core/permutation/schedule.h"
#include "core/text.h"
#include "kernels/routines/launch.h"

#define PERMUTE_STRATEGIES(ROW)                                                                    \
  ROW(D_DESIGNATED, "d-designated")                                                                \
  ROW(S_DESIGNATED, "s-designated")                                                                \
  ROW(SCHEDULED, "scheduled")                                                                      \
  ROW(TILED, "tiled")                                                                              \
  ROW(IN_ROWS, "in-rows")

typedef enum permute_strategy {
#define ROW(id, name) PERMUTE_##id,
  PERMUTE_STRATEGIES(ROW)
#undef ROW
      PERMUTE_KINDS
} permute_strategy;
extern const char *const permute_names[PERMUTE_KINDS];

typedef struct permute_shape {
  permute_strategy strategy;
  uint64_t n;
  uint32_t bytes;          // of an element: 1, 2, 4, 8 or 16
  uint32_t tile, threads;  // of tiles: elements of one, threads of its block
  uint32_t rows, width;    // scheduled: the matrix
} permute_shape;

// What is known of p. How far casual accesses spread: the sectors of 32 bytes that they touch, for
// each of them; looked at where a few begin. Of a warp, as the distribution of the HMM paper
// (section IV):
// these cross between a multiprocessor and the second cache. And of as many as run at a time: these
// the second cache has to hold. 1: random; bytes / 32: in order.
enum { PERMUTE_SECTOR = 32, PERMUTE_WARP = 32, PERMUTE_WINDOW = 1 << 16 };
typedef struct permute_casual {
  double warp, window;
} permute_casual;

typedef struct permute_spread {
  permute_casual writes, reads;  // of d-designated, by p; of s-designated, by its inverse
  uint64_t rows;                 // elements stay in rows of so many; 0: not
} permute_spread;
// False: out of memory, or interrupted.
bool permute_spread_of(uint64_t n, uint32_t bytes, const place_list *p, const schedule_means *means,
                       permute_spread *out);

// NULL, or why the strategy cannot have so many elements: the end of a sentence. spread: NULL of a
// random p.
const char *permute_shape_of(permute_strategy strategy, uint64_t n, uint32_t bytes,
                             const permute_spread *spread, permute_shape *out);
bool permute_shapes_equal(const permute_shape *a, const permute_shape *b);
static inline uint64_t permute_tiles(const permute_shape *s) { return divide_up(s->n, s->tile); }
// Of a tile, at most.
uint64_t permute_segments(const permute_shape *s);
uint32_t permute_place(uint32_t bytes, uint32_t i);

// ---- schedules (permute_schedule.c) ------------------------------------------------------------

// What kernels read besides a and b, by strategy; the others have no bytes.
//   PERMUTE_P         p (d-designated) or q (s-designated): n numbers of 32 bits
//   PERMUTE_S, _D     scheduled: of each of its three steps, 16 bits an element
//   PERMUTE_PUT ...   tiled: see the text; put and collect are 16 bits an element. In rows: put
enum {
  PERMUTE_P,
  PERMUTE_S = 0,
  PERMUTE_D = 3,
  PERMUTE_PUT = 0,
  PERMUTE_COLLECT,
  PERMUTE_GROUPS,
  PERMUTE_SEGMENTS,
  PERMUTE_TABLES = 6
};

typedef struct permute_tables {
  uint64_t bytes[PERMUTE_TABLES];
  void *data[PERMUTE_TABLES];
} permute_tables;

// How long its tables are; they have no data yet.
permute_tables permute_tables_of(const permute_shape *s);
// Fills tables, whose data is the caller's, for a permutation p. `means`: as of schedules; its
// scratch is of no use. False: out of memory, or interrupted.
bool permute_tables_make(const permute_shape *s, const place_list *p, const schedule_means *means,
                         permute_tables *out);

// ---- kernels -----------------------------------------------------------------------------------

// Arrays of launches.
enum {
  PERMUTE_A,
  PERMUTE_B,
  PERMUTE_BETWEEN,
  PERMUTE_TABLE  // from here on tables
};
enum { PERMUTE_LAUNCHES = 5 };  // at most

// Returns how many.
uint32_t permute_launches(const permute_shape *s, routine_launch out[PERMUTE_LAUNCHES]);
// The text of the kernels, for NVRTC and for the host.
void permute_text(text *out, const permute_shape *s);

// What a strategy is predicted to take, beside a copy of the elements. NULL: p is random.
double permute_copies(const permute_shape *s, const permute_spread *spread);
// The cheapest strategy by that, with its shape.
permute_strategy permute_choose(uint64_t n, uint32_t bytes, const permute_spread *spread,
                                permute_shape *out);

#endif
