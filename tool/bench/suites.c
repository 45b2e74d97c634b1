// The table of suites and its expansion into cases. See bench/suites.h.
#include "tool/bench/suites.h"
#include "core/random.h"
#include "kernels/banks/banks.h"

#include <inttypes.h>
#include <stdio.h>

// ---- suites -------------------------------------------------------------------------------------

static const bench_suite suites[] = {
    {"sort", "sorting keys", "keys", BENCH_ELEMENTS_PER_SECOND},
    {"rows", "sorting the rows of 2^24 keys", "keys in a row", BENCH_ELEMENTS_PER_SECOND},
    {"ragged", "sorting rows of unequal length, 2^24 keys", "keys in a row, on average",
     BENCH_ELEMENTS_PER_SECOND},
    {"bmmc", "permutations that are affine in the index bits", "elements", BENCH_BYTES_PER_SECOND},
    {"fft", "Fourier transforms of c64", "elements", BENCH_ELEMENTS_PER_SECOND},
    {"padded", "sorting numbers of keys that are no powers of two", "keys",
     BENCH_ELEMENTS_PER_SECOND},
    {"paper", "the sorter of the BMMC paper beside sort", "keys", BENCH_ELEMENTS_PER_SECOND},
    {"layouts", "exchanges by every bank layout", "elements", BENCH_BYTES_PER_SECOND},
    {"scan", "scans, sums and maxima", "elements", BENCH_BYTES_PER_SECOND},
    {"permute", "random permutations by schedules", "elements", BENCH_BYTES_PER_SECOND},
    {"hmm", "the permutations of the HMM paper by each strategy", "elements",
     BENCH_BYTES_PER_SECOND},
    {"transpose", "transposes of lengths that are no powers of two", "elements",
     BENCH_BYTES_PER_SECOND},
    {"links", "permutations and networks on several GPUs, as much on each as on one", "elements",
     BENCH_BYTES_PER_SECOND},
    {"scaling", "time per element and column of a sorting network", "keys",
     BENCH_SECONDS_PER_OPERATION},
};

const bench_suite *bench_suite_at(size_t index) {
  return index < sizeof suites / sizeof *suites ? &suites[index] : NULL;
}

const bench_suite *bench_suite_named(const char *name) {
  for (size_t i = 0; bench_suite_at(i); i++)
    if (strcmp(suites[i].name, name) == 0)
      return &suites[i];
  return NULL;
}

// ---- rows ---------------------------------------------------------------------------------------

typedef enum map_kind {
  NO_MAP,
  BIT_REVERSAL,
  TRANSPOSE,
  RANDOM_BPC,   // bit-permute/complement: a permutation of the index bits, some of them flipped
  RANDOM_BMMC,  // bit-matrix-multiply/complement: any invertible matrix
  GRAY_CODE
} map_kind;

// The sorter of the BMMC paper, section 7.1: even and odd indices by themselves, then merged.
static const char paper_sorter[] =
    "paper_sort 0 xs = xs\n"
    "paper_sort n xs = paper_merge n (parm 1 (paper_sort (n-1)) xs)\n"
    "\n"
    "paper_merge 0 xs = xs\n"
    "paper_merge n xs = parm (2^(n-1)) (paper_merge (n-1)) (paper_column n xs)\n"
    "\n"
    "paper_column 0 xs = xs\n"
    "paper_column 1 [x1, x2] = if x1 <= x2 then [x1, x2] else [x2, x1]\n"
    "paper_column n xs = parm 3 (paper_column (n-1)) xs\n";

// Where a row is measured, and on what.
typedef enum row_place { ANYWHERE, ON_GPU } row_place;

typedef struct row_peer {
  const char *name, *arguments;
} row_peer;

// In texts $l is the layout, $k the number of the map, $n is n, $N 2^n, $R 2^(24-n), $O one more,
// $H and $L 2^ceil(n/2) and 2^floor(n/2), $Q 2^n by the number of GPUs. An expression that is NULL
// is the map's.
typedef struct suite_row {
  const char *suite, *series, *name, *expression, *types;
  int first, last, step;
  int gpu_last;  // on a GPU: larger sizes (0: the same)
  map_kind map;
  bench_property property;
  unsigned threads;
  row_place place;
  const char *strategy;
  const char *permutation, *lengths;
  unsigned draws;
  bool by_layouts;    // a case for each
  size_t maps;        // so many cases, each of another map; 0: one
  bool for_each_gpu;  // sizes are those of one GPU
  const char *program, *beside, *beside_types;
  row_peer peers[BENCH_PEERS], gpu_peers[BENCH_PEERS];  // elsewhere; on a GPU
} suite_row;

#define SORT(type, sorter, gpu_cub, gpu_torch)                                                     \
  .suite = "sort", .series = "sort " type, .name = "sort " type " 2^$n", .expression = sorter,     \
  .types = "[$N]" type, .first = 10, .last = 26, .step = 2, .gpu_last = 28,                        \
  .property = BENCH_SORTED,                                                                        \
  .gpu_peers = {                                                                                   \
      {"cub", "--count $N --type " gpu_cub},                                                       \
      {"cccl", "--count $N --type " gpu_cub},                                                      \
      {gpu_torch, "--operation sort --count $N --type " gpu_cub},                                  \
  }
#define ROWS(type, sorter, from, to, gpu_cub, gpu_torch)                                           \
  .suite = "rows", .series = "rows of " type, .name = "sort rows of 2^$n " type,                   \
  .expression = "map " sorter, .types = "[$R][$N]" type, .first = from, .last = to, .step = 1,     \
  .property = BENCH_SORTED,                                                                        \
  .gpu_peers = {                                                                                   \
      {"cub", "--count 16777216 --row $N --type " gpu_cub},                                        \
      {gpu_torch, "--operation sort --count 16777216 --row $N --type " gpu_cub},                   \
  }
#define RAGGED(type, sorter, which, gpu_cub)                                                       \
  .suite = "ragged", .series = which " rows of " type, .name = which " rows of 2^$n " type,        \
  .expression = sorter, .types = "[$O]i64 [16777216]" type, .first = 4, .last = 14, .step = 1,     \
  .property = BENCH_RAGGED, .lengths = which,                                                      \
  .gpu_peers = {{"cub", "--count 16777216 --row $N --lengths " which " --type " gpu_cub}}
#define MOVE(kind, words, type, dims, text, width, from, to, gpu_to, other, torch)                 \
  .suite = "bmmc", .series = words " " type, .name = words " " type " 2^$n", .expression = text,   \
  .types = dims type, .first = from, .last = to, .step = 2, .gpu_last = gpu_to, .map = kind,       \
  .property = BENCH_MOVED,                                                                         \
  .peers = {{"memcpy", "--count $N --width " width}, {other, "--count $N --width " width}},        \
  .gpu_peers = {                                                                                   \
      {"cuda_memcpy", "--count $N --width " width},                                                \
      {"torch", "--operation " torch " --count $N --width " width},                                \
  }
#define REVERSAL(type, width)                                                                      \
  MOVE(BIT_REVERSAL, "bit reversal", type, "[$N]", "bitrev", width, 24, 24, 28, NULL,              \
       "bit-reversal")
#define BMMC(type, width)                                                                          \
  MOVE(RANDOM_BMMC, "random BMMC", type, "[$N]", NULL, width, 24, 24, 28, NULL, "index-select")
// The permutations of the paper's figures 9 to 11 by one of the strategies that move elements.
#define BY(kind, words, text, way)                                                                 \
  .suite = "bmmc", .series = words " u32 by " way, .name = words " u32 2^$n by " way,              \
  .expression = text, .types = "[$N]u32", .first = 20, .last = 30, .step = 2, .map = kind,         \
  .property = BENCH_MOVED, .place = ON_GPU, .strategy = way
#define REVERSAL_BY(way) BY(BIT_REVERSAL, "bit reversal", "bitrev", way)
#define BPC_BY(way) BY(RANDOM_BPC, "random BPC", NULL, way)
#define BMMC_BY(way) BY(RANDOM_BMMC, "random BMMC", NULL, way)
#define PADDED(words, count, sorted)                                                               \
  .suite = "padded", .series = "padded sort", .name = "padded sort of " words,                     \
  .expression = "padded maxval sort", .types = "[" count "]u32", .first = 20, .last = 20,          \
  .step = 1, .property = BENCH_SORTED, .beside = "sort", .beside_types = "[" sorted "]u32"
#define FOLD(text, type, to, is, cub_algorithm, numpy)                                             \
  .suite = "scan", .series = text " " type, .name = text " " type " 2^$n", .expression = text,     \
  .types = "[$N]" type, .first = 20, .last = 24, .step = 4, .gpu_last = to, .property = is,        \
  .threads = 1, .peers = {{"numpy", "--operation " numpy " --count $N --type " type}},             \
  .gpu_peers = {{"cub_scan", "--algorithm " cub_algorithm " --count $N --type " type},             \
                {"cuda_memcpy", "--count $N --width 4"}}
#define SCAN(type) FOLD("scan (+)", type, 28, BENCH_SUMS, "scan", "cumsum")
#define SUM(type) FOLD("sum", type, 28, BENCH_SUMS, "sum", "sum")
#define MAXIMUM(type) FOLD("maximum", type, 28, BENCH_MAXIMUM, "maximum", "max")
#define PERMUTED(type, width, to)                                                                  \
  .suite = "permute", .series = "permute " type, .name = "permute " type " 2^$n",                  \
  .expression = "permute", .types = "[$N]u32 [$N]" type, .first = 20, .last = 24, .step = 2,       \
  .gpu_last = to, .property = BENCH_PERMUTED, .permutation = "random",                             \
  .gpu_peers = {{"torch", "--operation index-select --count $N --width " width},                   \
                {"torch", "--operation scatter --count $N --width " width},                        \
                {"cuda_memcpy", "--count $N --width " width}}
#define PERMUTED_BY(way)                                                                           \
  .suite = "permute", .series = "permute u32 by " way, .name = "permute u32 2^$n by " way,         \
  .expression = "permute", .types = "[$N]u32 [$N]u32", .first = 20, .last = 28, .step = 2,         \
  .property = BENCH_PERMUTED, .permutation = "random", .place = ON_GPU, .strategy = way
// Tables II and III of the HMM paper: each strategy on each of its permutations, and on many at
// random.
#define HMM_BY(which, type, way)                                                                   \
  .suite = "hmm", .series = which " " type " by " way, .name = which " " type " 2^$n by " way,     \
  .expression = "permute", .types = "[$N]u32 [$N]" type, .first = 16, .last = 28, .step = 2,       \
  .property = BENCH_PERMUTED, .permutation = which, .place = ON_GPU, .strategy = way
#define HMM_ROWS(which, type)                                                                      \
  {HMM_BY(which, type, "d-designated")}, {HMM_BY(which, type, "s-designated")},                    \
      {HMM_BY(which, type, "scheduled")}, {                                                        \
    HMM_BY(which, type, "tiled")                                                                   \
  }
#define HMM_TYPE(type)                                                                             \
  HMM_ROWS("identical", type), HMM_ROWS("shuffle", type), HMM_ROWS("random", type),                \
      HMM_ROWS("bit-reversal", type), HMM_ROWS("transpose", type)
#define HMM_DRAWN(way)                                                                             \
  .suite = "hmm", .series = "1000 random u32 by " way, .name = "1000 random of 2^$n u32 by " way,  \
  .expression = "permute", .types = "[$N]u32 [$N]u32", .first = 22, .last = 22, .step = 1,         \
  .property = BENCH_PERMUTED, .permutation = "random", .draws = 1000, .place = ON_GPU,             \
  .strategy = way
// Of lengths that are no powers of two.
#define TRANSPOSED(rows, columns, type, width, for_memcpy)                                         \
  .suite = "transpose", .series = "transpose [" rows "][" columns "] " type,                       \
  .name = "transpose [" rows "][" columns "] " type, .expression = "transpose",                    \
  .types = "[" rows "][" columns "]" type, .first = 0, .last = 0, .step = 1,                       \
  .property = BENCH_TRANSPOSED,                                                                    \
  .peers = {{"memcpy", for_memcpy " --width " width},                                              \
            {"numpy",                                                                              \
             "--operation transpose --rows " rows " --columns " columns " --width " width}},       \
  .gpu_peers = {                                                                                   \
      {"cuda_memcpy", for_memcpy " --width " width},                                               \
      {"torch", "--operation transpose --rows " rows " --columns " columns " --width " width},     \
      {"cutensor", for_memcpy " --row " columns " --width " width}}
#define SCALING(number, words)                                                                     \
  .suite = "scaling", .series = words, .name = "sort_network u32 2^$n, " words,                    \
  .expression = "sort_network", .types = "[$N]u32", .first = 10, .last = 26, .step = 1,            \
  .property = BENCH_SORTED, .threads = number

// 16 MiB and 1 GiB of u32, 32 MiB and 2 GiB of c64 on each GPU.
#define LINKS(words, type, dims, text, of_map, count)                                              \
  .suite = "links", .series = words " " type, .name = words " " type " 2^$n", .expression = text,  \
  .types = dims type, .first = 22, .last = 28, .step = 6, .map = of_map, .maps = count,            \
  .place = ON_GPU, .for_each_gpu = true
#define LINKS_MOVE(words, dims, text, of_map, count)                                               \
  LINKS(words, "u32", dims, text, of_map, count),                                                  \
      .property = BENCH_MOVED,                                                                     \
      .gpu_peers = {{NULL, NULL},                                                                  \
                    {"nccl", "--count $N --row $Q --algorithm alltoall"},                          \
                    {"nccl", "--count $N --row $Q --algorithm permutes"}}

#define BY_LAYOUTS(words, text, dims, type, n, of_map)                                             \
  .suite = "layouts", .series = words, .name = words " by $l", .expression = text,                 \
  .types = dims type, .first = n, .last = n, .step = 1, .map = of_map, .by_layouts = true

#define PAIR "(u32, u32)"

// The sorts of C++, NumPy and Highway.
#define SORT_PEERS(arguments)                                                                      \
  {                                                                                                \
    {"std_sort", arguments}, {"x86_simd_sort", arguments}, { "vqsort", arguments }                 \
  }

static const suite_row rows[] = {
    {SORT("u32", "sort", "u32", "torch"), .peers = SORT_PEERS("--count $N")},
    {SORT("f32", "sort", "f32", "torch"), .place = ON_GPU},
    {SORT("u64", "sort", "u64", NULL), .place = ON_GPU},
    {SORT(PAIR, "sort_on fst", "u32pair", NULL), .place = ON_GPU},
    {ROWS("u32", "sort", 5, 14, "u32", "torch"), .peers = SORT_PEERS("--count 16777216 --row $N")},
    {ROWS("f32", "sort", 10, 10, "f32", "torch"), .place = ON_GPU},
    {ROWS(PAIR, "(sort_on fst)", 10, 10, "u32pair", NULL), .place = ON_GPU},
    {RAGGED("u32", "sort_ragged", "uniform", "u32")},
    {RAGGED("u32", "sort_ragged", "zipf", "u32")},
    {RAGGED(PAIR, "sort_ragged_on fst", "uniform", "u32pair"), .place = ON_GPU},
    {RAGGED(PAIR, "sort_ragged_on fst", "zipf", "u32pair"), .place = ON_GPU},
    {MOVE(BIT_REVERSAL, "bit reversal", "u32", "[$N]", "bitrev", "4", 20, 26, 30, "bit_reversal",
          "bit-reversal")},
    {MOVE(TRANSPOSE, "transpose", "u32", "[$H][$L]", "transpose", "4", 20, 26, 30, NULL,
          "transpose")},
    {MOVE(RANDOM_BPC, "random BPC", "u32", "[$N]", NULL, "4", 20, 26, 30, NULL, "scatter")},
    {MOVE(RANDOM_BMMC, "random BMMC", "u32", "[$N]", NULL, "4", 20, 26, 30, NULL, "index-select")},
    {MOVE(GRAY_CODE, "Gray code", "u32", "[$N]", "gray", "4", 20, 26, 30, NULL, "index-select")},
    {REVERSAL("u8", "1")},
    {REVERSAL("u16", "2")},
    {REVERSAL("u64", "8")},
    {REVERSAL("c128", "16")},
    {BMMC("u8", "1")},
    {BMMC("u16", "2")},
    {BMMC("u64", "8")},
    {BMMC("c128", "16")},
    {MOVE(BIT_REVERSAL, "bit reversal", PAIR, "[$N]", "bitrev", "8", 28, 28, 28, NULL,
          "bit-reversal"),
     .place = ON_GPU},
    {MOVE(RANDOM_BMMC, "random BMMC", PAIR, "[$N]", NULL, "8", 28, 28, 28, NULL, "index-select"),
     .place = ON_GPU},
    {REVERSAL_BY("naive")},
    {BPC_BY("naive")},
    {BMMC_BY("naive")},
    {REVERSAL_BY("tile")},
    {BPC_BY("tile")},
    {BMMC_BY("tile")},
    {REVERSAL_BY("tile+banks")},
    {BPC_BY("tile+banks")},
    {BMMC_BY("tile+banks")},
    {REVERSAL_BY("tile+banks+iters")},
    {BPC_BY("tile+banks+iters")},
    {REVERSAL_BY("onepass")},
    {BPC_BY("onepass")},
    {BMMC_BY("onepass")},
    {REVERSAL_BY("online")},
    {BPC_BY("online")},
    {BMMC_BY("online")},
    {REVERSAL_BY("ulp")},
    {BPC_BY("ulp")},
    {BMMC_BY("ulp")},
    {.suite = "fft",
     .series = "fft c64",
     .name = "fft c64 2^$n",
     .expression = "fft",
     .types = "[$N]c64",
     .first = 10,
     .last = 24,
     .step = 2,
     .property = BENCH_FOURIER,
     .peers = {{"fftw", "--count $N"}}},
    {PADDED("2^19 + 1", "524289", "1048576")},
    {PADDED("3 2^18", "786432", "1048576")},
    {PADDED("10^6", "1000000", "1048576")},
    {PADDED("2^20", "1048576", "1048576")},
    {PADDED("2^20 + 1", "1048577", "1048576")},
    {PADDED("10^7", "10000000", "8388608")},
    {.suite = "paper",
     .series = "the paper's sorter",
     .name = "the paper's sorter u32 2^$n",
     .program = paper_sorter,
     .expression = "\\xs -> paper_sort (log2 (length xs)) xs",
     .types = "[$N]u32",
     .first = 14,
     .last = 26,
     .step = 2,
     .property = BENCH_SORTED,
     .beside = "sort",
     .beside_types = "[$N]u32"},
    {BY_LAYOUTS("bit reversal u32 2^24", "bitrev", "[$N]", "u32", 24, BIT_REVERSAL),
     .property = BENCH_MOVED},
    {BY_LAYOUTS("transpose u32 2^24", "transpose", "[$H][$L]", "u32", 24, TRANSPOSE),
     .property = BENCH_MOVED},
    {BY_LAYOUTS("transposes of 32 x 32 u32", "map transpose", "[1024][32][32]", "u32", 20, NO_MAP),
     .property = BENCH_INTERP,
     .gpu_peers = {{"shared_transpose", "--count $N --algorithm crsw --type $l"},
                   {"shared_transpose", "--count $N --algorithm srcw --type $l"},
                   {"shared_transpose", "--count $N --algorithm drdw --type $l"}}},
    {BY_LAYOUTS("sort u32 2^20", "sort", "[$N]", "u32", 20, NO_MAP), .property = BENCH_SORTED},
    {BY_LAYOUTS("sort rows of 2^10 u32", "map sort", "[$R][$N]", "u32", 10, NO_MAP),
     .property = BENCH_SORTED},
    {BY_LAYOUTS("fft c64 2^20", "fft", "[$N]", "c64", 20, NO_MAP), .property = BENCH_FOURIER},
    {SCAN("i32")},
    {SCAN("f32")},
    {SCAN("i64")},
    {SUM("i32")},
    {SUM("f32")},
    {SUM("i64")},
    {MAXIMUM("i32")},
    {MAXIMUM("f32")},
    {MAXIMUM("i64")},
    {.suite = "scan",
     .series = "scans of rows of 2^10 i32",
     .name = "scans of rows of 2^10 i32",
     .expression = "map (scan (+))",
     .types = "[$R][$N]i32",
     .first = 10,
     .last = 10,
     .step = 1,
     .property = BENCH_SUMS,
     .gpu_peers = {{"cuda_memcpy", "--count 16777216 --width 4"}}},
    {PERMUTED("u32", "4", 28)},
    {PERMUTED("u64", "8", 28)},
    {PERMUTED_BY("d-designated")},
    {PERMUTED_BY("s-designated")},
    {PERMUTED_BY("scheduled")},
    {PERMUTED_BY("tiled")},
    HMM_TYPE("u32"),
    HMM_TYPE("u64"),
    {HMM_DRAWN("d-designated")},
    {HMM_DRAWN("s-designated")},
    {HMM_DRAWN("tiled")},
    {TRANSPOSED("16383", "4097", "u32", "4", "--count 67121151")},
    {TRANSPOSED("16383", "16385", "u8", "1", "--count 268435455")},
    {TRANSPOSED("16383", "16385", "u16", "2", "--count 268435455"), .place = ON_GPU},
    {TRANSPOSED("16383", "16385", "u32", "4", "--count 268435455"), .place = ON_GPU},
    {TRANSPOSED("16383", "16385", "u64", "8", "--count 268435455"), .place = ON_GPU},
    {TRANSPOSED("16383", "16385", "c128", "16", "--count 268435455"), .place = ON_GPU},
    {TRANSPOSED("10000000", "7", "u32", "4", "--count 70000000")},
    {TRANSPOSED("7", "10000000", "u32", "4", "--count 70000000")},
    {LINKS_MOVE("random BMMC $k", "[$N]", NULL, RANDOM_BMMC, 20)},
    {LINKS_MOVE("bit reversal", "[$N]", "bitrev", BIT_REVERSAL, 1)},
    {LINKS_MOVE("transpose", "[$H][$L]", "transpose", TRANSPOSE, 1)},
    {LINKS("fft", "c64", "[$N]", "fft", NO_MAP, 1), .property = BENCH_FOURIER},
    {LINKS("permuted fft", "c64", "[$N]", "\\xs -> bitrev (fft xs)", NO_MAP, 1)},
    {LINKS("fwht", "f32", "[$N]", "fwht", NO_MAP, 1)},
    {LINKS("sort", "u32", "[$N]", "sort", NO_MAP, 1), .property = BENCH_SORTED},
    {SCALING(1, "1 thread")},
    {SCALING(2, "2 threads")},
};

// ---- maps ---------------------------------------------------------------------------------------

static f2_matrix random_permutation(int n, uint64_t *state) {
  int from[F2_MAX];
  for (int i = 0; i < n; i++)
    from[i] = i;
  for (int i = n; i > 1; i--) {
    int k = (int)(draw_word(state) % (uint64_t)i), last = from[i - 1];
    from[i - 1] = from[k];
    from[k] = last;
  }
  return f2_permutation(n, from);
}

static f2_matrix random_invertible(int n, uint64_t *state) {
  uint64_t row[F2_MAX];
  f2_matrix a, inverse;
  do {
    for (int i = 0; i < n; i++)
      row[i] = draw_word(state) & f2_mask(n);
    a = f2_from_rows(n, n, row);
  } while (!f2_inverse(a, &inverse));
  return a;
}

// [2^a][2^b] to [2^b][2^a], a the larger half: the low b bits become the high ones.
static f2_matrix transposition(int n) {
  int from[F2_MAX], b = n / 2;
  for (int i = 0; i < n; i++)
    from[i] = (i + b) % n;
  return f2_permutation(n, from);
}

static f2_matrix gray_code(int n) {
  uint64_t row[F2_MAX];
  for (int i = 0; i < n; i++)
    row[i] = f2_unit(i) | (i + 1 < n ? f2_unit(i + 1) : 0);
  return f2_from_rows(n, n, row);
}

// The same on every machine: the random ones depend on n, their kind and their number.
static f2_affine make_map(map_kind kind, int n, size_t number) {
  uint64_t state = 1000000 * (uint64_t)number + 1000 * (uint64_t)kind + (uint64_t)n;
  f2_affine map = f2_affine_identity(n);
  switch (kind) {
  case BIT_REVERSAL:
    map.a = f2_bit_reversal(n);
    break;
  case TRANSPOSE:
    map.a = transposition(n);
    break;
  case RANDOM_BPC:
    map.a = random_permutation(n, &state);
    map.c = draw_word(&state) & f2_mask(n);
    break;
  case RANDOM_BMMC:
    map.a = random_invertible(n, &state);
    map.c = draw_word(&state) & f2_mask(n);
    break;
  case GRAY_CODE:
    map.a = gray_code(n);
    break;
  case NO_MAP:
    break;
  }
  return map;
}

// ---- expansion ----------------------------------------------------------------------------------

// Which of the cases of a row.
typedef struct case_place {
  int n, gpu_bits;
  size_t number;  // of its layout or map
  const char *bank_layout_name;
} case_place;

static uint64_t value_of_letter(char name, const case_place *at) {
  int n = at->n;
  bool of_rows = name == 'R' || name == 'O';
  int exponent = name == 'N'   ? n
                 : name == 'Q' ? n - at->gpu_bits
                 : of_rows     ? 24 - n
                 : name == 'H' ? n - n / 2
                               : n / 2;
  return name == 'n'   ? (uint64_t)n
         : name == 'k' ? at->number
                       : (UINT64_C(1) << exponent) + (name == 'O');
}

static void substitute(char *to, size_t size, const char *form, const case_place *at) {
  size_t length = 0;
  for (const char *c = form ? form : ""; *c && length + 24 < size; c++) {
    if (*c == '$' && c[1] == 'l' && c++)
      length += (size_t)snprintf(to + length, size - length, "%s", at->bank_layout_name);
    else if (*c == '$')
      length += (size_t)snprintf(to + length, size - length, "%" PRIu64, value_of_letter(*++c, at));
    else
      to[length++] = *c;
  }
  to[length] = 0;
}

static char *map_expression(f2_affine map) {
  text t = {0};
  text_string(&t, "bmmc [");
  for (int i = 0; i < map.a.rows; i++)
    text_printf(&t, "%s%" PRIu64, i ? ", " : "", map.a.row[i]);
  text_printf(&t, "] %" PRIu64, map.c);
  if (t.failed)
    text_free(&t);
  return t.data;
}

// The product of the lengths in "[16][1024]u32"; of the last of several arguments.
static uint64_t count_elements(const char *types) {
  uint64_t count = 1;
  const char *last = strrchr(types, ' ');
  for (const char *c = strchr(last ? last : types, '['); c; c = strchr(c + 1, '['))
    count *= strtoull(c + 1, NULL, 10);
  return count;
}

// The bytes of an element of "[16](u32, f64)".
static uint64_t element_bytes(const char *types) {
  static const char names[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  uint64_t bytes = 0;
  const char *last = strrchr(types, ']');
  for (const char *c = last ? last + 1 : types; *c; c += *c != 0) {
    size_t length = strspn(c, names);
    scalar_type type = scalar_named(c, length);
    bytes += length && type != SCALAR_COUNT ? scalar_types[type].size : 0;
    c += length;
  }
  return bytes;
}

// Columns of the network that sorts or transforms 2^n elements.
static uint64_t count_columns(const suite_row *row, int n) {
  uint64_t stages = (uint64_t)n;
  return row->property == BENCH_SORTED    ? stages * (stages + 1) / 2
         : row->property == BENCH_FOURIER ? stages
                                          : 0;
}

enum { LARGEST = 26 };  // sizes above it are for GPUs only

static bool make_case(const suite_row *row, const case_place *at, bool device, bench_case *c) {
  int n = at->n;
  *c = (bench_case){.suite = row->suite,
                    .series = row->series,
                    .program = row->program,
                    .threads = row->threads,
                    .property = row->property,
                    .map = make_map(row->map, n, at->number),
                    .strategy = row->strategy,
                    .permutation = row->permutation,
                    .lengths = row->lengths,
                    .draws = row->draws,
                    .layout = row->by_layouts ? at->bank_layout_name : NULL,
                    .gpu_only = n > LARGEST || row->strategy || row->for_each_gpu};
  substitute(c->name, sizeof c->name, row->name, at);
  substitute(c->types, sizeof c->types, row->types, at);
  substitute(c->beside, sizeof c->beside, row->beside, at);
  substitute(c->beside_types, sizeof c->beside_types, row->beside_types, at);
  for (int i = 0; i < BENCH_PEERS; i++) {
    const row_peer *from = device ? &row->gpu_peers[i] : &row->peers[i];
    bench_peer_case *peer = &c->peers[i];
    peer->name = from->name;
    substitute(peer->arguments, sizeof peer->arguments, from->arguments, at);
  }
  c->elements = count_elements(c->types);
  c->bytes = c->elements * element_bytes(c->types);
  c->x = row->beside || !n ? c->elements : UINT64_C(1) << n;
  c->columns = count_columns(row, row->beside ? f2_msb(c->elements - 1) + 1 : n);
  c->expression = row->expression ? strdup(row->expression) : map_expression(c->map);
  return c->expression != NULL;
}

static bool is_in_suite(const suite_row *row, const char *suite, bool device) {
  return strcmp(row->suite, suite) == 0 && (device || row->place == ANYWHERE);
}

static int last_size(const suite_row *row, bool device) {
  return device && row->gpu_last ? row->gpu_last : row->last;
}

static size_t count_numbers(const suite_row *row) {
  size_t count = 0;
  while (row->by_layouts && bank_layout_kind_at(count))
    count++;
  return row->by_layouts ? count : row->maps ? row->maps : 1;
}

// All sizes of a row, each by each layout or map. `cases` may be NULL: they are counted. SIZE_MAX:
// no memory.
static size_t make_cases(const suite_row *row, unsigned gpus, bench_case *cases) {
  size_t count = 0;
  case_place at = {.gpu_bits = gpus ? f2_msb(gpus) : 0};
  for (int n = row->first; n <= last_size(row, gpus > 0); n += row->step)
    for (at.number = 0; at.number < count_numbers(row); at.number++, count++) {
      at.n = row->for_each_gpu ? n + at.gpu_bits : n;
      at.bank_layout_name = row->by_layouts ? bank_layout_kind_at(at.number)->name : "";
      if (cases && !make_case(row, &at, gpus > 0, &cases[count]))
        return SIZE_MAX;
    }
  return count;
}

size_t bench_suite_cases(const char *suite, unsigned gpus, bench_case **cases) {
  bool device = gpus > 0;
  size_t count = 0, next = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_in_suite(&rows[i], suite, device))
      count += make_cases(&rows[i], gpus, NULL);
  *cases = calloc(count + 1, sizeof **cases);
  for (size_t i = 0; *cases && i < sizeof rows / sizeof *rows; i++) {
    size_t made =
        is_in_suite(&rows[i], suite, device) ? make_cases(&rows[i], gpus, *cases + next) : 0;
    if (made == SIZE_MAX) {
      bench_cases_free(*cases, count);
      *cases = NULL;
      return 0;
    }
    next += made;
  }
  return *cases ? count : 0;
}

void bench_cases_free(bench_case *cases, size_t count) {
  for (size_t i = 0; cases && i < count; i++)
    free(cases[i].expression);
  free(cases);
}
