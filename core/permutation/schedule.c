// Schedules of permutations, by edge colouring. See schedule.h.
#include "core/permutation/schedule.h"
#include "core/permutation/mark.h"

permutation_schedule schedule_shape(uint64_t length) {
  uint32_t width = 1;
  while ((uint64_t)width * width < length)
    width *= 2;
  return (permutation_schedule){
      .length = length, .rows = (uint32_t)((length + width - 1) / width), .width = width};
}

// The graph from rows to rows. Its right ends lie in step 2 until they are coloured.
static coloring graph_of(const permutation_schedule *s, const schedule_means *m) {
  return (coloring){.nodes = s->rows,
                    .degree = s->width,
                    .right = s->steps[2],
                    .edge = s->steps[0],
                    .scratch = m->scratch,
                    .threads = m->threads,
                    .pool = m->pool,
                    .interrupted = m->interrupted};
}

uint64_t schedule_scratch(const permutation_schedule *s, unsigned threads) {
  coloring c = graph_of(s, &(schedule_means){.threads = threads});
  return coloring_scratch(&c);
}

// ---- making ----------------------------------------------------------------------------------

typedef struct making {
  permutation_schedule *s;
  const place_list *p;
} making;

static inline uint64_t place_in_matrix(const making *m, uint64_t e) {
  return e < m->s->length ? place_at(m->p, e) : e;
}

static bool write_right_ends(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  uint64_t width = m->s->width;
  (void)worker;
  for (uint64_t e = first * width; e < last * width; e++)
    m->s->steps[2][e] = (uint16_t)(place_in_matrix(m, e) / width);
  return true;
}

// In column k, row right[i][k] of the result has its element in row i.
static bool write_columns(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const permutation_schedule *s = ((const making *)with)->s;
  (void)worker;
  for (uint64_t i = 0; i < s->rows; i++)
    for (uint64_t k = first; k < last; k++)
      s->steps[1][k * s->rows + s->steps[2][i * s->width + k]] = (uint16_t)i;
  return true;
}

// The element of colour k ends in the column of its image, which takes it from column k.
static bool write_last_step(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const making *m = with;
  uint64_t width = m->s->width;
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    for (uint64_t k = 0; k < width; k++)
      m->s->steps[2][place_in_matrix(m, i * width + m->s->steps[0][i * width + k])] = (uint16_t)k;
  return true;
}

bool schedule_make(permutation_schedule *s, const place_list *p, const schedule_means *m) {
  enum { ROWS = 16, COLUMNS = 32 };  // of a chunk
  making work = {s, p};
  coloring graph = graph_of(s, m);
  coloring_pool *run = m->pool ? m->pool : coloring_alone;
  return run(m->threads, s->rows, ROWS, write_right_ends, &work, m->interrupted) &&
         color_edges(&graph) &&
         run(m->threads, s->width, COLUMNS, write_columns, &work, m->interrupted) &&
         run(m->threads, s->rows, ROWS, write_last_step, &work, m->interrupted);
}

// ---- reading ---------------------------------------------------------------------------------

static bool are_permutations(const uint16_t *row, uint64_t rows, uint32_t width, uint32_t *seen) {
  for (uint64_t i = 0; i < rows; i++, row += width) {
    mark_none(seen, width);
    for (uint32_t k = 0; k < width; k++)
      if (row[k] >= width || !mark(seen, row[k]))
        return false;
  }
  return true;
}

bool schedule_is_sound(const permutation_schedule *s, uint32_t *seen) {
  bool sound = are_permutations(s->steps[0], s->rows, s->width, seen) &&
               are_permutations(s->steps[1], s->width, s->rows, seen) &&
               are_permutations(s->steps[2], s->rows, s->width, seen);
  for (uint64_t to = s->length; to < schedule_cells(s) && sound; to++)
    sound = schedule_origin(s, to) == to;
  return sound;
}

// ---- one row ---------------------------------------------------------------------------------

uint64_t row_copies_scratch(uint32_t length, uint32_t banks) {
  coloring c = {.nodes = banks, .degree = length / banks, .threads = 1};
  return (3 * (uint64_t)length + 1) / 2 + coloring_scratch(&c);
}

// The edges go from the banks of elements to the banks of their places; a colour is a request.
void row_copies_make(const uint16_t *step, uint32_t length, uint32_t banks, uint16_t *from,
                     uint16_t *to, uint32_t *scratch) {
  uint16_t *place = (uint16_t *)scratch, *right = place + length, *edge = right + length;
  coloring c = {.nodes = banks,
                .degree = length / banks,
                .right = right,
                .edge = edge,
                .scratch = scratch + (3 * (size_t)length + 1) / 2,
                .threads = 1};
  for (uint32_t k = 0; k < length; k++)
    place[step[k]] = (uint16_t)k;
  for (uint32_t bank = 0; bank < banks; bank++)
    for (uint32_t e = 0; e < c.degree; e++)
      right[bank * c.degree + e] = (uint16_t)(place[bank + banks * e] % banks);
  color_edges(&c);
  for (uint32_t bank = 0; bank < banks; bank++)
    for (uint32_t e = 0; e < c.degree; e++) {
      uint16_t element = (uint16_t)(bank + banks * edge[bank * c.degree + e]);
      from[e * banks + bank] = element;
      to[e * banks + bank] = place[element];
    }
}
