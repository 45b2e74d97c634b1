// Shapes, texts and launches of permutations. See permute.h.
#include "kernels/routines/permute/permute.h"
#include "kernels/routines/permute/permute_mix.h"
#include "kernels/text/text.h"

enum {
  LINE = 128,            // bytes: all banks once
  TILE_BYTES = 1 << 17,  // most
  TILE_MOST = 1 << 15,   // elements
  TILE_LEAST_BYTES = 1 << 16,
  SEGMENT_BYTES =
      16,  // shorter segments are worth a larger tile, of which a multiprocessor has one
  TILE_THREADS = 512,    // of the least tiles; a multiprocessor has some of them at a time
  TILES_MOST = 1 << 14,  // the square of their number is how many counts a schedule is made of
  SIDE = 32,             // of a tile that is transposed
  ROW_MOST_THREADS = 1024,
  ROW_MOST_BYTES = 227 << 10,
  DIRECT_THREADS = 256,
  DIRECT_EACH = 4  // elements of a thread
};

const char *const permute_names[PERMUTE_KINDS] = {
#define ROW(id, name) name,
    PERMUTE_STRATEGIES(ROW)
#undef ROW
};

static uint32_t word_bytes(uint32_t bytes) { return bytes < 4 ? 4 : bytes; }

uint32_t permute_place(uint32_t bytes, uint32_t i) {
  uint32_t word = word_bytes(bytes), at = i * bytes;
  return (at ^ permute_mix(at / LINE, LINE / word) * word) / bytes;
}

uint64_t permute_segments(const permute_shape *s) {
  uint64_t tiles = permute_tiles(s);
  return tiles < s->tile ? tiles : s->tile;
}

// ---- shapes ------------------------------------------------------------------------------------

static uint32_t tile_of_bytes(uint32_t tile_bytes, uint32_t bytes) {
  return tile_bytes / bytes < TILE_MOST ? tile_bytes / bytes : TILE_MOST;
}

// Of a block. A multiprocessor has only one of large tiles at a time.
static uint32_t most_threads(const permute_shape *s) {
  bool large = s->tile * s->bytes > TILE_LEAST_BYTES || s->tile == TILE_MOST;
  return large ? 2 * TILE_THREADS : TILE_THREADS;
}

static const char *shape_tiles(permute_shape *s) {
  s->tile = tile_of_bytes(TILE_LEAST_BYTES, s->bytes);
  if ((double)s->tile * s->tile * s->bytes < (double)s->n * SEGMENT_BYTES)
    s->tile = tile_of_bytes(TILE_BYTES, s->bytes);
  s->threads = most_threads(s);
  return permute_tiles(s) <= TILES_MOST ? NULL : "it would have too many tiles";
}

// Elements that all threads of a warp take together of a tile.
static uint32_t granule(uint32_t bytes) { return 32 * (bytes == 1 ? 16 : 8); }

// As many threads as a tile can have that take whole granules.
static void shape_threads(permute_shape *s) {
  uint32_t most = most_threads(s);
  uint32_t warps = s->tile / granule(s->bytes);
  for (uint32_t i = 1; i <= warps && 32 * i <= most; i++)
    if (warps % i == 0)
      s->threads = 32 * i;
}

// A tile is some whole rows, and whole granules.
static const char *shape_rows(permute_shape *s, uint64_t width) {
  uint64_t least, step = granule(s->bytes);
  if (width == 0)
    return "elements do not stay in rows";
  if (__builtin_mul_overflow(width / greatest_common_divisor(width, step), step, &least) ||
      least > tile_of_bytes(TILE_BYTES, s->bytes))
    return "rows have no room in fast memory";
  uint64_t room = tile_of_bytes(TILE_LEAST_BYTES, s->bytes);
  s->tile = (uint32_t)(least < room ? room / least * least : least);
  shape_threads(s);
  return NULL;
}

static const char *shape_matrix(permute_shape *s) {
  permutation_schedule shape = schedule_shape(s->n);
  s->rows = shape.rows;
  s->width = shape.width;
  if (s->n == 0 || s->rows % SIDE || s->width % SIDE || (uint64_t)s->rows * s->width != s->n ||
      (s->rows > ROW_MOST_THREADS && s->rows % ROW_MOST_THREADS))
    return "the array is no matrix whose rows and columns are multiples of 32";
  return (uint64_t)s->width * s->bytes <= ROW_MOST_BYTES ? NULL
                                                         : "a row has no room in fast memory";
}

const char *permute_shape_of(permute_strategy strategy, uint64_t n, uint32_t bytes,
                             const permute_spread *spread, permute_shape *out) {
  *out = (permute_shape){.strategy = strategy, .n = n, .bytes = bytes};
  if (n >> 31)
    return "it has more than 2^31 elements";
  switch (strategy) {
  case PERMUTE_SCHEDULED:
    return shape_matrix(out);
  case PERMUTE_TILED:
    return shape_tiles(out);
  case PERMUTE_IN_ROWS:
    return shape_rows(out, spread ? spread->rows : 0);
  default:
    return NULL;
  }
}

bool permute_shapes_equal(const permute_shape *a, const permute_shape *b) {
  return a->strategy == b->strategy && a->n == b->n && a->bytes == b->bytes && a->tile == b->tile &&
         a->threads == b->threads && a->rows == b->rows && a->width == b->width;
}

// ---- text --------------------------------------------------------------------------------------

static void add_head(text *out, const permute_shape *s) {
  static const char *const gpu[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint4"};
  static const char *const host[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t",
                                     "struct { uint64_t bits[2]; } "};
  int log = 0;
  while (1U << log < s->bytes)
    log++;
  text_printf(out, "#ifdef PERMC_HOST\ntypedef %s permute_element;\n#else\n", host[log]);
  text_printf(out, "typedef %s permute_element;\n#endif\n", gpu[log]);
  text_printf(out, "typedef %s permute_word;\n", s->bytes < 4 ? "uint32_t" : "permute_element");
  text_printf(out, "#define PERMUTE_TILE %u\n#define PERMUTE_THREADS %u\n", s->tile, s->threads);
  text_printf(out, "#define PERMUTE_BLOCKS %u\n", s->threads <= TILE_THREADS ? 2 : 1);
  text_printf(out, "#define PERMUTE_DIRECT %u\n", DIRECT_EACH);
  text_printf(out, "#define PERMUTE_ROWS %u\n#define PERMUTE_WIDTH %u\n", s->rows, s->width);
}

void permute_text(text *out, const permute_shape *s) {
  c_source_add(out, "kernels/text/cuda_host.h");
  c_source_add(out, "kernels/routines/permute/permute_mix.h");
  add_head(out, s);
  c_source_add(out, "kernels/routines/permute/permute_text.h");
}

// ---- costs -------------------------------------------------------------------------------------

// Bytes that a casual access moves of a second cache of CACHE bytes, and of memory behind it;
// measured on an H200, whose copies move as many in that time.
enum { CACHE = 40 << 20 };
static const double casual_bytes[][2] = {
    [PERMUTE_D_DESIGNATED] = {56, 250}, [PERMUTE_S_DESIGNATED] = {32, 112}};
static const double kernel_bytes = 8e6;  // as many as a copy moves while a kernel begins

static double bytes_moved(const permute_shape *s, const permute_spread *spread) {
  double n = (double)s->n, size = n * s->bytes, inside = size < CACHE ? 1 : CACHE / size;
  bool writes = s->strategy == PERMUTE_D_DESIGNATED;
  permute_casual part = {1, 1};
  if (spread)
    part = writes ? spread->writes : spread->reads;
  const double *casual = casual_bytes[writes ? PERMUTE_D_DESIGNATED : PERMUTE_S_DESIGNATED];
  switch (s->strategy) {
  case PERMUTE_SCHEDULED:
    return 5 * kernel_bytes + n * (10 * s->bytes + 12) * 2;
  case PERMUTE_TILED:
    return 2 * kernel_bytes + n * (4 * s->bytes + 5) * 1.35;
  case PERMUTE_IN_ROWS:
    return kernel_bytes + n * (2 * s->bytes + 2) * (1.2 - 0.6 * inside);
  default:
    return kernel_bytes + (1 - inside) * n * (4 + s->bytes) + n * part.warp * casual[0] +
           n * (1 - inside) * part.window * (casual[1] - casual[0]);
  }
}

double permute_copies(const permute_shape *s, const permute_spread *spread) {
  return bytes_moved(s, spread) / (2 * (double)s->n * s->bytes);
}

permute_strategy permute_choose(uint64_t n, uint32_t bytes, const permute_spread *spread,
                                permute_shape *out) {
  permute_shape s;
  *out = (permute_shape){.n = 0};
  for (int i = 0; i < PERMUTE_KINDS; i++)
    if (!permute_shape_of((permute_strategy)i, n, bytes, spread, &s) &&
        (!out->n || bytes_moved(&s, spread) < bytes_moved(out, spread)))
      *out = s;
  return out->strategy;
}

// ---- launches ----------------------------------------------------------------------------------

static uint32_t direct_launch(const permute_shape *s, routine_launch *out) {
  *out = (routine_launch){.kernel =
                              s->strategy == PERMUTE_D_DESIGNATED ? "d_designated" : "s_designated",
                          .blocks = divide_up(s->n, DIRECT_THREADS * DIRECT_EACH),
                          .threads = DIRECT_THREADS,
                          LAUNCH_ARRAYS(PERMUTE_A, PERMUTE_B, PERMUTE_TABLE + PERMUTE_P),
                          LAUNCH_NUMBERS(s->n)};
  return 1;
}

static routine_launch row_launch(const permute_shape *s, uint32_t step, uint32_t from,
                                 uint32_t to) {
  uint32_t length = step == 1 ? s->rows : s->width;
  return (routine_launch){
      .kernel = step == 1 ? "columns" : "rows",
      .blocks = s->n / length,
      .threads = length < ROW_MOST_THREADS ? length : ROW_MOST_THREADS,
      .shared_bytes = length * s->bytes,
      LAUNCH_ARRAYS(from, to, PERMUTE_TABLE + PERMUTE_S + step, PERMUTE_TABLE + PERMUTE_D + step)};
}

static routine_launch side_launch(const permute_shape *s, const char *kernel, uint32_t from,
                                  uint32_t to) {
  return (routine_launch){.kernel = kernel,
                          .blocks = s->n / (SIDE * SIDE),
                          .threads = DIRECT_THREADS,
                          .shared_bytes = SIDE * SIDE * s->bytes,
                          LAUNCH_ARRAYS(from, to)};
}

static uint32_t scheduled_launches(const permute_shape *s, routine_launch *out) {
  out[0] = row_launch(s, 0, PERMUTE_A, PERMUTE_B);
  out[1] = side_launch(s, "transpose", PERMUTE_B, PERMUTE_BETWEEN);
  out[2] = row_launch(s, 1, PERMUTE_BETWEEN, PERMUTE_B);
  out[3] = side_launch(s, "transpose_back", PERMUTE_B, PERMUTE_BETWEEN);
  out[4] = row_launch(s, 2, PERMUTE_BETWEEN, PERMUTE_B);
  return 5;
}

// Each tile of a has its elements put in order.
static routine_launch put_launch(const permute_shape *s, uint32_t to) {
  return (routine_launch){.kernel = "put",
                          .blocks = permute_tiles(s),
                          .threads = s->threads,
                          .shared_bytes = s->tile * s->bytes,
                          LAUNCH_ARRAYS(PERMUTE_A, to, PERMUTE_TABLE + PERMUTE_PUT),
                          LAUNCH_NUMBERS(s->n)};
}

static uint32_t tiled_launches(const permute_shape *s, routine_launch *out) {
  out[0] = put_launch(s, PERMUTE_BETWEEN);
  out[1] = (routine_launch){
      .kernel = "collect",
      .blocks = permute_tiles(s),
      .threads = s->threads,
      .shared_bytes = s->tile * s->bytes,
      LAUNCH_ARRAYS(PERMUTE_BETWEEN, PERMUTE_B, PERMUTE_TABLE + PERMUTE_COLLECT,
                    PERMUTE_TABLE + PERMUTE_GROUPS, PERMUTE_TABLE + PERMUTE_SEGMENTS),
      LAUNCH_NUMBERS(permute_segments(s), s->n)};
  return 2;
}

uint32_t permute_launches(const permute_shape *s, routine_launch out[PERMUTE_LAUNCHES]) {
  if (s->n == 0)
    return 0;
  switch (s->strategy) {
  case PERMUTE_SCHEDULED:
    return scheduled_launches(s, out);
  case PERMUTE_TILED:
    return tiled_launches(s, out);
  case PERMUTE_IN_ROWS:
    return out[0] = put_launch(s, PERMUTE_B), 1;
  default:
    return direct_launch(s, out);
  }
}
