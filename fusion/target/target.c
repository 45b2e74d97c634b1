// The targets that are known by name. See target.h.
#include "fusion/target/target.h"

#include <string.h>

enum { KIB = 1024 };

// A GPU is a rank; eight are on a host. Links of H200s (NV18): between what NCCL's all-to-all and a
// kernel that stores to its peers reach with 1 GiB a GPU, 311 to 367 GB/s; NCCL's all-to-all of 16
// MiB a GPU takes 0.119 ms with four of them, which fixes the sum of latency and half_bytes, not
// each of them. Network: an adapter of 400 Gbit/s for each GPU; its latency and half_bytes are
// guesses.
// A disk: a part's requests wait together, and 32 KiB move at half the rate of 1 MiB
// (docs/running.md).
// clang-format off
#define DISK        {2e9, 100e-6, 1 << 15}
#define GPU_LEVELS  8, 1024, 1 << 16, {{340e9, 20e-6, 6.8e6}, {50e9, 20e-6, 1e5}, DISK}
// A processor is a rank, and has its host: the rates of its row are those of the whole machine.
// Network: an adapter of 100 Gbit/s. Peers, where a file says that there are some, copy through the
// host's memory.
#define HOST_LEVELS 1, 1024, 1 << 16, {{10e9, 10e-6, 4096}, {12.5e9, 20e-6, 64e3}, DISK}
// clang-format on

// Sorts: keys, pairs, rows, top (core/networks.h), of 1, 2, 4 and 8 bytes each. On processors one
// array is for the routine, which needs no compiler; rows where networks are the faster uncompiled,
// too.
// clang-format off
#define MANY          (UINT64_C(1) << 62)
#define ANY           {MANY, MANY, MANY, MANY}
#define NETWORKS      {{ANY, ANY, ANY, ANY}}
#define VECTOR_SORTS  {{{0}, {0}, {256, 32, 8, 4}, {64, 64, 64, 64}}}
#define PLAIN_SORTS   {{{256, 256, 256, 256}, {16, 16, 32, 64}, {256, 256, 256, 256}, {16, 16, 16, 16}}}
#define GPU_SORTS     {{{1 << 15, 1 << 17, 1 << 18, 1 << 20}, {1 << 10, 1 << 12, 1 << 13, 1 << 17},  \
                        ANY, {1 << 10, 1 << 16, 1 << 16, 1 << 16}}}
// Of libraries: their networks are compiled.
#define C_AVX512      {{{1 << 10, 1 << 14, 1 << 6, 1 << 6}, {1 << 9, 1 << 11, 1 << 6, 1 << 6},      \
                        {1 << 10, 1 << 14, 1 << 6, 1 << 6}, {1 << 10, 1 << 12, 1 << 12, 1 << 12}}}
#define C_AVX2        {{{1 << 10, 1 << 13, 1 << 14, 1 << 12}, {1 << 8, 1 << 9, 1 << 6, 1 << 6},     \
                        {1 << 10, 1 << 13, 1 << 14, 1 << 12}, {1 << 8, 1 << 12, 1 << 12, 1 << 12}}}
#define C_BASELINE    {{{1 << 6, 1 << 7, 1 << 8, 1 << 9}, {0, 0, 8, 16},                            \
                        {1 << 6, 1 << 7, 1 << 8, 1 << 9}, {1 << 1, 1 << 2, 1 << 4, 1 << 5}}}
// clang-format on

#define ROW(field, value, summary) value,
#define ROUTINES                                                                                   \
  { TARGET_ROUTINES(ROW) }

// Rates are those of a current server core pair and of an H200; they only have to put plans in the
// right order.
static const target rows[] = {
    {"avx512", 128, 128 * KIB, 64, 6, 1024, 0, 16, 40e9, 30e9, 2, 3e-6, VECTOR_SORTS, ROUTINES,
     HOST_LEVELS, false},
    {"avx2", 128, 128 * KIB, 32, 5, 256, 0, 16, 35e9, 15e9, 2, 3e-6, VECTOR_SORTS, ROUTINES,
     HOST_LEVELS, false},
    {"baseline", 128, 128 * KIB, 16, 2, 128, 0, 16, 30e9, 6e9, 2, 3e-6, PLAIN_SORTS, ROUTINES,
     HOST_LEVELS, false},
    {"gpu", 128, 64 * KIB, 0, 5, 128, 1, 16, 4e12, 15e12, 4, 3e-6, GPU_SORTS, ROUTINES, GPU_LEVELS,
     false},
    // Of libraries made ahead of time: the same passes, on one thread, called directly.
    {"c-avx512", 128, 128 * KIB, 64, 6, 1024, 0, 16, 12e9, 60e9, 2, 1e-7, C_AVX512, ROUTINES,
     HOST_LEVELS, false},
    {"c-avx2", 128, 128 * KIB, 32, 5, 256, 0, 16, 12e9, 40e9, 2, 1e-7, C_AVX2, ROUTINES,
     HOST_LEVELS, false},
    {"c-baseline", 128, 128 * KIB, 16, 2, 128, 0, 16, 12e9, 4e9, 2, 1e-7, C_BASELINE, ROUTINES,
     HOST_LEVELS, false},
    // For tests and for the figures of the design: lines and tiles in round numbers.
    {"line32-tile128k", 32, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6, NETWORKS, ROUTINES,
     HOST_LEVELS, false},
    {"line64-tile128k", 64, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6, NETWORKS, ROUTINES,
     HOST_LEVELS, false},
    {"line128-tile128k", 128, 128 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6, NETWORKS,
     ROUTINES, HOST_LEVELS, false},
    {"line128-tile32k", 128, 32 * KIB, 64, 4, 1024, 0, 16, 40e9, 30e9, 2, 3e-6, NETWORKS, ROUTINES,
     HOST_LEVELS, false},
    // For pictures: lines of 4 words, tiles of 16, so that few elements are many tiles.
    {"sketch", 16, 64, 0, 2, 16, 0, 4, 4e10, 3e10, 4, 3e-6, NETWORKS, ROUTINES, HOST_LEVELS, false},
};

size_t target_count(void) { return sizeof rows / sizeof *rows; }
const target *target_at(size_t index) { return index < target_count() ? &rows[index] : NULL; }

const target *target_named(const char *name) {
  for (size_t i = 0; i < target_count(); i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

// What a GPU gives to a stage: few elements are shared by more threads and more blocks, with less
// in registers and smaller tiles, so that all of it has something to do. Measured for sorting
// networks on an H200: with 2^14 to 2^18 keys up to 1.9 times as fast as large tiles. Up to 2^10
// elements are one tile, also of wide ones: a Fourier transform of 2^10 c64 in 1.32 us, by two
// passes 3.27. Of many elements half a tile is better where it takes neither more passes nor more
// phases (transforms of 2^24 c64: 229 us, 262); a tile beyond 64 KiB leaves room for one block, and
// pays where it saves a pass (rows of 2^14: 98 us, 157). Half lines take longer, but of arrays in a
// cache of 50 MiB not by much (2^11 x 2^11 c64 in 2 passes by half lines: 44 us, in 3: 54), if
// both, only of half of it (rfft of 2^20 f32, in 2 passes: 16.3 us, in 3: 12.8).
const target *target_for(arena *a, const target *t, uint64_t elements, uint32_t width,
                         target_choice choice) {
  enum { WORD = 4, CACHED = 32 * KIB * KIB };
  static const struct {
    int elements, tile, registers;  // log2: at most, of words, of a thread's
  } sizes[] = {{10, 10, 3}, {12, 12, 5}, {14, 10, 3}, {16, 11, 3},
               {19, 12, 4}, {23, 13, 5}, {63, 14, 5}};
  enum { LAST = sizeof sizes / sizeof *sizes - 1 };
  bool half_lines = target_has_half_lines(choice), whole = target_has_whole_tile(choice);
  size_t i = half_lines ? LAST : 0;
  while (t->adapts && i < LAST && elements >> sizes[i].elements > 1)
    i++;
  if (choice && i < LAST)
    return NULL;
  if (!t->adapts)
    return choice ? NULL : t;
  uint64_t unit = i == 0 && width > WORD ? width : WORD, tile = unit << sizes[i].tile,
           registers = unit << sizes[i].registers;
  if ((whole && tile >= t->tile_bytes) ||
      (half_lines && (elements * width < CACHED / (whole ? 2 : 4) || elements * width > CACHED)))
    return NULL;
  tile = whole ? t->tile_bytes : choice == TARGET_HALF_TILE ? tile / 2 : tile;
  target *own = NEW(a, target);
  *own = *t;
  own->line_bytes = half_lines ? t->line_bytes / 2 : t->line_bytes;
  if (own->register_bytes > registers)
    own->register_bytes = (uint32_t)registers;
  if (own->tile_bytes > tile)
    own->tile_bytes = tile;
  return own;
}
