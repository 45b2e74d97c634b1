#include "core/permutation/recognise.h"
#include "core/number.h"

#include <string.h>

static bool is_rotation(const place_list *p, movement *m) {
  uint64_t to = m->by = p->count ? place_at(p, 0) : 0;
  for (uint64_t i = 0; i < p->count; i++, to++) {
    to = to == p->count ? 0 : to;
    if (place_at(p, i) != to)
      return false;
  }
  return p->count == 0 || m->by < p->count;
}

// The first element and those of one bit determine the map.
static bool is_affine(const place_list *p, movement *m) {
  if (!is_power_of_two(p->count))
    return false;
  int n = f2_lsb(p->count);
  uint64_t columns[F2_MAX], c = place_at(p, 0);
  f2_affine inverse;
  for (int i = 0; i < n; i++)
    columns[i] = place_at(p, f2_unit(i)) ^ c;
  for (int i = 0; i < n; i++)
    if (columns[i] >= p->count)
      return false;
  m->map = (f2_affine){f2_from_columns(n, n, columns), c};
  return c < p->count && f2_affine_inverse(m->map, &inverse) && movement_holds(m, p, 0, p->count);
}

// The dimensions that an exchange must have: the first element that moves is at d3, and goes to d1
// d3; that which is at d2 d3 comes to d3.
static bool find_dimensions(const place_list *p, uint64_t *dims) {
  uint64_t inner = 0, columns = 0;
  while (inner < p->count && place_at(p, inner) == inner)
    inner++;
  uint64_t to = inner && inner < p->count ? place_at(p, inner) : 0;
  if (!to || to >= p->count || to % inner)
    return false;
  uint64_t rows = to / inner;
  do
    columns++;
  while (columns < p->count / inner && place_at(p, columns * inner) == columns * rows * inner);
  uint64_t matrix;
  if (__builtin_mul_overflow(to, columns, &matrix) || p->count % matrix)
    return false;
  memcpy(dims, (uint64_t[]){p->count / matrix, rows, columns, inner}, 4 * sizeof *dims);
  return true;
}

static bool is_exchange(const place_list *p, movement *m) {
  uint64_t i = 0;
  if (!find_dimensions(p, m->dims))
    return false;
  for (uint64_t a = 0; a < m->dims[0]; a++)
    for (uint64_t b = 0; b < m->dims[1]; b++)
      for (uint64_t c = 0; c < m->dims[2]; c++) {
        uint64_t to = ((a * m->dims[2] + c) * m->dims[1] + b) * m->dims[3];
        for (uint64_t d = 0; d < m->dims[3]; d++, i++)
          if (place_at(p, i) != to + d)
            return false;
      }
  return true;
}

// A cut is a length whose first elements stay among themselves. All multiples of the width must be
// cuts.
typedef struct widths {
  uint32_t count;
  uint32_t width[1024];
  uint64_t due[1024];  // the next multiple
} widths;

static void find_widths(widths *w, uint64_t count) {
  w->count = 0;
  for (uint32_t i = 2; i <= WIDEST_ROWS && i < count && w->count < 1024; i++)
    if (count % i == 0) {
      w->width[w->count] = i;
      w->due[w->count++] = i;
    }
}

// What remains of the widths at a length; the next one that matters.
static uint64_t pass_multiple(widths *w, uint64_t length, bool cut) {
  uint64_t next = UINT64_MAX;
  uint32_t left = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    bool here = w->due[i] == length;
    if (here && !cut)
      continue;
    w->width[left] = w->width[i];
    w->due[left] = w->due[i] + (here ? w->width[i] : 0);
    next = w->due[left] < next ? w->due[left] : next;
    left++;
  }
  w->count = left;
  return next;
}

static bool is_in_rows(const place_list *p, movement *m) {
  widths w;
  find_widths(&w, p->count);
  uint64_t next = w.count ? w.due[0] : UINT64_MAX, most = 0;
  for (uint64_t i = 0; i < p->count && w.count; i++) {
    uint64_t to = place_at(p, i);
    most = to > most ? to : most;
    if (i + 1 == next)
      next = pass_multiple(&w, next, most == i);
  }
  m->width = w.count ? w.width[0] : 0;
  return m->width && most < p->count;
}

static bool is_in_columns(const place_list *p, movement *m) {
  uint64_t width = p->count;
  for (uint64_t i = 0; i < p->count && width > 1; i++) {
    uint64_t to = place_at(p, i);
    width = to < p->count ? greatest_common_divisor(width, to > i ? to - i : i - to) : 1;
  }
  m->width = width;
  return width > 1;
}

movement recognise_movement(const place_list *p) {
  static bool (*const is_kind[])(const place_list *,
                                 movement *) = {[MOVES_BY_ROTATION] = is_rotation,
                                                [MOVES_BY_AFFINE_MAP] = is_affine,
                                                [MOVES_BY_EXCHANGE] = is_exchange,
                                                [MOVES_IN_ROWS] = is_in_rows,
                                                [MOVES_IN_COLUMNS] = is_in_columns};
  for (uint32_t kind = 0; kind < MOVES_ANYHOW; kind++) {
    movement m = {.kind = (movement_kind)kind};
    if (is_kind[kind](p, &m))
      return m;
  }
  return (movement){.kind = MOVES_ANYHOW};
}
