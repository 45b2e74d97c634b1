// A permutation in three passes over rows. See permute.h.
#include "runtime/routines/permute.h"

#include "core/sizes.h"
#include "runtime/system/pool.h"
#include "runtime/values/value.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 64, CHUNK = 64 };  // bytes; numbers of a step between lines that are written

// One line past the caches: it is complete, and nobody reads it soon.
static inline void write_line(char *to, const char *line) {
#ifdef __SSE2__
  for (int i = 0; i < LINE; i += 16)
    _mm_stream_si128((__m128i *)(void *)(to + i),
                     _mm_load_si128((const __m128i *)(const void *)(line + i)));
#else
  memcpy(to, line, LINE);
#endif
}

static void finish_lines(void) {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

// Rows of a matrix; the last of them may lie elsewhere, where the array ends inside it.
typedef struct matrix {
  char *data, *last;
  uint64_t rows, stride;  // bytes from one row to the next
} matrix;

static inline char *row_of(const matrix *m, uint64_t row) {
  return row + 1 == m->rows ? m->last : m->data + row * m->stride;
}

typedef struct pass {
  size_t size;
  matrix from, to;
  const uint16_t *step;
  uint64_t count;  // numbers of a row of the step
  uint64_t lanes;  // rows that one line of the result has elements of
} pass;

// The elements of a line's worth of rows, `first` and the following ones, become columns: element
// step[row][k] of a row goes to row k of the result. A few lines are brought together at a time.
static inline void turn_rows(const pass *p, uint64_t first, size_t size) {
  _Alignas(LINE) char lines[CHUNK][LINE];
  uint64_t rows = p->from.rows - first < p->lanes ? p->from.rows - first : p->lanes;
  for (uint64_t k0 = 0; k0 < p->count; k0 += CHUNK) {
    uint64_t count = p->count - k0 < CHUNK ? p->count - k0 : CHUNK;
    for (uint64_t lane = 0; lane < rows; lane++) {
      const char *row = row_of(&p->from, first + lane);
      const uint16_t *step = p->step + (first + lane) * p->count + k0;
      for (uint64_t k = 0; k < count; k++)
        memcpy(lines[k] + lane * size, row + step[k] * size, size);
    }
    for (uint64_t k = 0; k < count; k++)
      write_line(row_of(&p->to, k0 + k) + first * size, lines[k]);
  }
}

static bool turn(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const pass *p = with;
  (void)worker;
#define TURN(size)                                                                                 \
  for (uint64_t i = first; i < last; i++)                                                          \
    turn_rows(p, i * p->lanes, size);
  FOR_ELEMENT_SIZE(p->size, TURN)
  finish_lines();
  return true;
}

// Each row from itself, by a copy of it.
static bool reorder(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const pass *p = with;
  char *copy = p->to.data + worker * p->to.stride;
  for (uint64_t i = first; i < last; i++) {
    char *row = row_of(&p->from, i);
    const uint16_t *step = p->step + i * p->count;
    memcpy(copy, row, p->count * p->size);
#define REORDER(size)                                                                              \
  for (uint64_t c = 0; c < p->count; c++)                                                          \
    memcpy(row + c * (size), copy + step[c] * (size), (size));
    FOR_ELEMENT_SIZE(p->size, REORDER)
  }
  return true;
}

// ---- all three --------------------------------------------------------------------------------

// Rows of `from`, a line's worth of them for each item.
static bool run_turn(const permute_task *t, pass *p) {
  return pool_run(t->threads, (p->from.rows + p->lanes - 1) / p->lanes, 1, turn, p, t->interrupted);
}

// `between` holds the matrix, transposed, with whole lines; `last` a row.
static bool run_steps(const permute_task *t, char *between, char *last) {
  const permutation_schedule *s = t->schedule;
  uint64_t width = s->width * t->size, lanes = LINE / t->size,
           lines = (s->rows + lanes - 1) / lanes;
  uint64_t whole = (s->rows - 1) * width, rest = s->length * t->size - whole;
  matrix from = {(char *)(uintptr_t)t->from, last, s->rows, width},
         to = {t->to, last, s->rows, width};
  matrix turned = {between, between + (s->width - 1) * lines * LINE, s->width, lines * LINE};
  memset(last, 0, width);
  memcpy(last, (const char *)t->from + whole, rest);
  pass rows = {t->size, from, turned, s->steps[0], s->width, lanes};
  pass columns = {t->size, turned, to, s->steps[1], s->rows, lanes};
  pass again = {t->size, to, {between, NULL, 0, width}, s->steps[2], s->width, 0};
  bool good = run_turn(t, &rows) && run_turn(t, &columns) &&
              pool_run(t->threads, s->rows, 1 + (1 << 16) / width, reorder, &again, t->interrupted);
  memcpy((char *)t->to + whole, last, rest);
  return good;
}

// Element by element: of few elements, or where lines of the result would not be lines of memory.
static void permute_directly(const permute_task *t, char *copy) {
  const permutation_schedule *s = t->schedule;
  memcpy(copy, t->from, s->length * t->size);
  for (uint64_t to = 0; to < s->length; to++)
    memcpy((char *)t->to + to * t->size, copy + schedule_origin(s, to) * t->size, t->size);
}

bool routine_permute(const permute_task *t) {
  const permutation_schedule *s = t->schedule;
  uint64_t lines = s->rows * t->size / LINE + 1, row = s->width * t->size;
  uint64_t bytes = s->width * lines * LINE, copies = (t->threads + UINT64_C(1)) * row;
  char *between = array_memory((bytes > copies ? bytes : copies) + row);
  if (!between || s->length == 0) {
    free(between);
    return between != NULL;
  }
  bool good = true;
  if (row < LINE || (uintptr_t)t->to % 16 != 0)
    permute_directly(t, between);
  else
    good = run_steps(t, between, between + (bytes > copies ? bytes : copies));
  free(between);
  return good;
}
