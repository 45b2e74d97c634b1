// Stable sorts by keys on a GPU, and what comes of them: the text of the kernels, and the list of
// their launches.
//
//   sort_work w = {.type = SCALAR_F32, .rows = 1, .length = 1 << 24, .multiprocessors = 132,
//                  .shared_bytes = 227 << 10, .wants_keys = true, .payload_count = 1, .payloads = &(sort_moved){.bytes = 4}};
//   sort_kernels k;
//   sort_kernels_of(&w, &k);              kinds and bytes of its arrays, temporaries among them
//   sort_kernels_write(&out, &k);         text, for NVRTC or for the host
//   sort_launches(&k, launches);          what is launched, in this order:
//
//
// With offsets these are others, see ragged.h. Else:
//
//   count    a block for each few tiles             how often each digit of 8 bits occurs
//   digit    a block for each tile, four times      keys and payload, in the order of that digit
//
// DIGITS. A digit takes one read and one write of memory. Keys are sorted as unsigned words of
// their order: a flipped sign, all bits of negative floats flipped, all NaN last, all bits flipped
// where they descend. The first digit's kernel makes words of keys, the last one keys of words.
//
// PAYLOADS. One of 1, 2, 4 or 8 bytes goes with its key: where it is as wide as the key, up to 4
// bytes, both are joined to one word between the first and the last digit. If it is wider, or if
// there are several, the number of each key goes along instead, the order, by which they are
// gathered at the end.
//
// SHARES. A row that several devices sort together lies in shares of `length` keys, of which each
// device sorts its own. Then all merge pairs of runs, as often as it takes to have one:
//
//   cuts     on each device, for all tiles          where a tile of the merged run begins in both
//   merge    each device its part of all tiles      of a pair; keys and payload
#ifndef PERMC_KERNELS_ROUTINES_SORT_SORT_H
#define PERMC_KERNELS_ROUTINES_SORT_SORT_H

#include "core/scalar/scalar.h"
#include "core/text.h"
#include "kernels/routines/launch.h"

// Elements that go where the keys go.
typedef struct sort_moved {
  uint32_t bytes;  // of an element; of numbers 4 or 8
  bool numbers;    // instead of elements, the numbers of the keys in their row
} sort_moved;

typedef struct sort_work {
  scalar_type type;  // of the keys
  bool descending;
  uint32_t bits;  // not 0: keys are integers below 2^bits
  uint64_t rows, length;
  uint32_t shares;   // more than 1: of one row, a power of two, of which `length` is one's keys
  uint64_t offsets;  // not 0: so many cut each row into rows of its own (ragged.h)
  uint32_t multiprocessors, shared_bytes;  // of a block at most
  bool wants_keys;                         // in their order
  bool wants_places;  // the place of each key, as i64: then there are no payloads
  uint32_t payload_count;
  const sort_moved *payloads;
} sort_work;

// Arrays of launches. Payload i is SORT_PAYLOADS + 2 * i before, and the next one after.
enum {
  SORT_KEYS,
  SORT_SORTED,
  SORT_PLACES,
  SORT_SPARE_KEYS,
  SORT_SPARE_SORTED,  // in place of SORT_SORTED, where keys are not wanted
  SORT_ALONG,
  SORT_SPARE_ALONG,
  SORT_OFFSETS,  // i64
  SORT_CUTS,     // u64
  SORT_STATE,    // is 0 before the first run, and after each
  SORT_RUNS,     // from here on of all shares, which have their part of them
  SORT_RUNS_ALONG,
  SORT_MERGED,
  SORT_MERGED_ALONG,
  SORT_ORDER,
  SORT_PAYLOADS
};

// Of a block; how many at once on a multiprocessor.
typedef struct sort_shape {
  uint32_t threads, items, blocks;
} sort_shape;

typedef struct sort_kernels {
  sort_work work;
  sort_shape tile, part;            // of rows of unequal length
  uint32_t window;                  // keys among which the rows of a tile begin
  uint32_t short_row, longest;      // keys of a row that a thread sorts, or 0; that a tile sorts
  uint64_t room;                    // of parts in a list
  uint32_t threads, items, blocks;  // of a block; of a thread; on a multiprocessor
  uint32_t digits, tiles;           // of a row
  uint32_t count_bytes;             // of a number of keys: 4, or 8
  uint32_t along_bytes;             // of what goes with a key: 0, 1, 2, 4 or 8
  bool along_order;                 // it is the order
  bool joined;                      // with the key in one word
  uint32_t levels;                  // of merges of shares
  uint64_t chunk;                   // keys that a block counts
  uint32_t copies;                  // of its counters
  uint64_t bytes[SORT_PAYLOADS];    // of temporaries; 0: there is none
} sort_kernels;

// NULL, or why there are no kernels: the end of a sentence.
const char *sort_kernels_of(const sort_work *w, sort_kernels *out);
void sort_kernels_write(text *out, const sort_kernels *k);

// How many launches there are; room for as many.
uint32_t sort_launch_count(const sort_kernels *k);
void sort_launches(const sort_kernels *k, routine_launch *out);

#endif
