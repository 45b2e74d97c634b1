// Tiles of two dimensions, and squares in vector registers. See transpose.h.
#include "runtime/routines/transpose.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Of a tile: rows that are neighbours after, columns that are neighbours before. Rows are so many
// elements apart before, columns after.
typedef struct tile_shape {
  uint64_t rows, columns;
  uint64_t row_pitch, column_pitch;
  size_t bytes;
} tile_shape;

typedef void tile_function(const char *from, char *to, const tile_shape *s);

// ---- tiles -------------------------------------------------------------------------------------

// Squares of N x N elements go through N vectors of 16 bytes: log2 N times, vectors i and i + N / 2
// are interleaved to vectors 2 i and 2 i + 1. An element may be several that stay together: it is
// aligned as they are.
#ifdef __clang__
#define INTERLEAVED(V, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define INTERLEAVED(V, x, y, ...) __builtin_shuffle(x, y, (V){__VA_ARGS__})
#endif
#define LOW_2 0, 2
#define HIGH_2 1, 3
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

// gcc 12 with AVX-512 has one instruction for two vectors, which is four times as slow.
#if defined(__x86_64__) && !defined(__clang__)
#define TILE_TARGET __attribute__((target("no-avx512f")))
#else
#define TILE_TARGET
#endif

#define TILE_FUNCTION(T, N)                                                                        \
  typedef T vector_of_##T __attribute__((vector_size(16)));                                        \
  typedef T some_##T __attribute__((aligned(1), may_alias));                                       \
  TILE_TARGET static inline void transpose_square_##T(const some_##T *from, some_##T *to,          \
                                                      uint64_t row_pitch, uint64_t column_pitch) { \
    vector_of_##T x[N], y[N];                                                                      \
    for (uint64_t i = 0; i < (N); i++)                                                             \
      memcpy(&x[i], from + i * row_pitch, 16);                                                     \
    for (int k = 1; k < (N); k *= 2) {                                                             \
      for (int i = 0; i < (N) / 2; i++) {                                                          \
        y[2 * i] = INTERLEAVED(vector_of_##T, x[i], x[i + (N) / 2], LOW_##N);                      \
        y[2 * i + 1] = INTERLEAVED(vector_of_##T, x[i], x[i + (N) / 2], HIGH_##N);                 \
      }                                                                                            \
      memcpy(x, y, sizeof x);                                                                      \
    }                                                                                              \
    for (uint64_t i = 0; i < (N); i++)                                                             \
      memcpy(to + i * column_pitch, &x[i], 16);                                                    \
  }                                                                                                \
  TILE_TARGET static void transpose_##T(const char *before, char *after, const tile_shape *s) {    \
    const some_##T *from = (const some_##T *)before;                                               \
    some_##T *to = (some_##T *)after;                                                              \
    uint64_t j = 0, whole = s->rows / (N) * (N);                                                   \
    for (; j + (N) <= s->columns; j += (N)) {                                                      \
      for (uint64_t i = 0; i < whole; i += (N))                                                    \
        transpose_square_##T(from + i * s->row_pitch + j, to + j * s->column_pitch + i,            \
                             s->row_pitch, s->column_pitch);                                       \
      for (uint64_t k = j; k < j + (N); k++)                                                       \
        for (uint64_t i = whole; i < s->rows; i++)                                                 \
          to[k * s->column_pitch + i] = from[i * s->row_pitch + k];                                \
    }                                                                                              \
    for (; j < s->columns; j++)                                                                    \
      for (uint64_t i = 0; i < s->rows; i++)                                                       \
        to[j * s->column_pitch + i] = from[i * s->row_pitch + j];                                  \
  }
TILE_FUNCTION(uint8_t, 16)
TILE_FUNCTION(uint16_t, 8)
TILE_FUNCTION(uint32_t, 4)
TILE_FUNCTION(uint64_t, 2)

// Elements of any size.
static void transpose_elements(const char *from, char *to, const tile_shape *s) {
  for (uint64_t j = 0; j < s->columns; j++)
    for (uint64_t i = 0; i < s->rows; i++)
      memcpy(to + (j * s->column_pitch + i) * s->bytes, from + (i * s->row_pitch + j) * s->bytes,
             s->bytes);
}

static tile_function *function_of(size_t bytes) {
  return bytes == 1   ? transpose_uint8_t
         : bytes == 2 ? transpose_uint16_t
         : bytes == 4 ? transpose_uint32_t
         : bytes == 8 ? transpose_uint64_t
                      : transpose_elements;
}

// ---- past the caches ---------------------------------------------------------------------------

// Whole lines of an array that the caches have no room for: they need not be read before.
static void stream(char *to, const char *from, size_t bytes) {
#ifdef __SSE2__
  enum { LINE = 64, VECTOR = 16 };
  size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
  head = head < bytes ? head : bytes;
  memcpy(to, from, head);
  for (to += head, from += head, bytes -= head; bytes >= LINE; bytes -= LINE)
    for (int k = 0; k < LINE; k += VECTOR, to += VECTOR, from += VECTOR)
      _mm_stream_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
#endif
  memcpy(to, from, bytes);
}

static void finish_stream(void) {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

// ---- the whole ---------------------------------------------------------------------------------

// `rows`, `columns`: the dimensions that tiles are cut of; the others are walked through.
typedef struct transposing {
  const transpose_task *task;
  tile_function *function;
  size_t bytes;
  net_dimension rows, columns, others[NET_DIMENSIONS];
  uint32_t other_count;
  uint64_t tile_rows, tile_columns, row_tiles, column_tiles;
  uint64_t tiles, chunk;  // of all dimensions; those that a thread takes at once
  uint64_t buffer_bytes;  // of a tile's buffer, where tiles go past the caches; or 0
  char *buffers;          // one for each worker, or NULL
} transposing;

enum { TILE_BYTES = 1 << 17, LINES = 256, CACHED = 1 << 22, PAD = 64 };

// What stays together is one element; then the innermost dimensions differ.
static void find_dimensions(transposing *t) {
  uint64_t element = 1;
  for (uint32_t d = 0; d < t->task->count; d++)
    if (t->task->dimensions[d].from == 1 && t->task->dimensions[d].to == 1)
      element = t->task->dimensions[d].extent;
  t->bytes = t->task->bytes * element;
  t->rows = t->columns = (net_dimension){1, 1, 1};
  for (uint32_t d = 0; d < t->task->count; d++) {
    net_dimension own = t->task->dimensions[d];
    if (own.from == 1 && own.to == 1)
      continue;
    own.from /= element;
    own.to /= element;
    if (own.to == 1)
      t->rows = own;
    else if (own.from == 1)
      t->columns = own;
    else
      t->others[t->other_count++] = own;
  }
  t->function = function_of(t->bytes);
}

// Columns of some lines, and as many rows as there is room for; of thin dimensions all.
static void choose_tiles(transposing *t) {
  uint64_t most = TILE_BYTES / t->bytes + 1, columns = LINES / t->bytes + 1;
  if (t->rows.extent * columns < most)
    columns = most / t->rows.extent;
  t->tile_columns = columns < t->columns.extent ? columns : t->columns.extent;
  uint64_t rows = most / t->tile_columns + 1;
  t->tile_rows = rows < t->rows.extent ? rows : t->rows.extent;
  t->row_tiles = (t->rows.extent + t->tile_rows - 1) / t->tile_rows;
  t->column_tiles = (t->columns.extent + t->tile_columns - 1) / t->tile_columns;
  t->tiles = t->row_tiles * t->column_tiles;
  for (uint32_t i = 0; i < t->other_count; i++)
    t->tiles *= t->others[i].extent;
  uint64_t bytes = t->tile_rows * t->tile_columns * t->bytes;
  t->chunk = 1 + TILE_BYTES / 2 / bytes;
  if (t->tiles * bytes > CACHED && t->tile_rows * t->bytes >= LINES && t->bytes <= PAD)
    t->buffer_bytes = (t->tile_rows * t->bytes + PAD) * t->tile_columns;
}

static void move_tile(const transposing *t, unsigned worker, uint64_t number) {
  uint64_t column = number % t->column_tiles * t->tile_columns;
  number /= t->column_tiles;
  uint64_t row = number % t->row_tiles * t->tile_rows;
  number /= t->row_tiles;
  uint64_t from = row * t->rows.from + column, to = column * t->columns.to + row;
  for (uint32_t i = 0; i < t->other_count; i++) {
    from += number % t->others[i].extent * t->others[i].from;
    to += number % t->others[i].extent * t->others[i].to;
    number /= t->others[i].extent;
  }
  tile_shape s = {t->rows.extent - row, t->columns.extent - column, t->rows.from, t->columns.to,
                  t->bytes};
  s.rows = s.rows < t->tile_rows ? s.rows : t->tile_rows;
  s.columns = s.columns < t->tile_columns ? s.columns : t->tile_columns;
  const char *before = (const char *)t->task->from + from * t->bytes;
  char *after = (char *)t->task->to + to * t->bytes;
  if (!t->buffers) {
    t->function(before, after, &s);
    return;
  }
  char *buffer = t->buffers + worker * t->buffer_bytes;
  s.column_pitch = t->tile_rows + PAD / t->bytes;
  t->function(before, buffer, &s);
  for (uint64_t j = 0; j < s.columns; j++)
    stream(after + j * t->columns.to * t->bytes, buffer + j * s.column_pitch * t->bytes,
           s.rows * t->bytes);
}

static bool move_tiles(void *with, unsigned worker, uint64_t first, uint64_t last) {
  for (uint64_t i = first; i < last; i++)
    move_tile(with, worker, i);
  finish_stream();
  return true;
}

uint64_t transpose_scratch_bytes(const transpose_task *task) {
  transposing t = {.task = task};
  find_dimensions(&t);
  choose_tiles(&t);
  return t.buffer_bytes;
}

bool routine_transpose(const transpose_task *task) {
  transposing t = {.task = task};
  find_dimensions(&t);
  choose_tiles(&t);
  worker_memory own = {0};
  crew c = crew_begin(&task->crew, &own);
  // Without memory for buffers it goes without them.
  if (t.buffer_bytes)
    t.buffers = reserve(c.memory, BLOCK_WORDS, c.threads * t.buffer_bytes);
  bool good = crew_run(&c, t.tiles, t.chunk, move_tiles, &t);
  crew_end(&task->crew, &c);
  return good;
}
