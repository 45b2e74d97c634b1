// Movements that a few numbers describe: where elements go, and the numbers. See recognise.h.
#include "core/number.h"
#include "core/permutation/recognise.h"

#include <inttypes.h>
#include <string.h>

static const char *const movement_names[] = {"rotation", "affine map", "exchange of dimensions",
                                             "in rows",  "in columns", "any"};

static uint64_t place_by_exchange(const uint64_t *dims, uint64_t i) {
  uint64_t inner = i % dims[3], column = i / dims[3] % dims[2];
  uint64_t row = i / dims[3] / dims[2] % dims[1], outer = i / dims[3] / dims[2] / dims[1];
  return ((outer * dims[2] + column) * dims[1] + row) * dims[3] + inner;
}

uint64_t movement_place(const movement *m, uint64_t count, uint64_t i) {
  switch (m->kind) {
  case MOVES_BY_ROTATION:
    return i < count - m->by ? i + m->by : i - (count - m->by);
  case MOVES_BY_AFFINE_MAP:
    return f2_affine_apply(m->map, i);
  default:
    return place_by_exchange(m->dims, i);
  }
}

movement movement_inverse(const movement *m, uint64_t count) {
  movement back = *m;
  switch (m->kind) {
  case MOVES_BY_ROTATION:
    back.by = m->by ? count - m->by : 0;
    break;
  case MOVES_BY_AFFINE_MAP:
    f2_affine_inverse(m->map, &back.map);
    break;
  default:
    back.dims[1] = m->dims[2];
    back.dims[2] = m->dims[1];
  }
  return back;
}

// p[i] is p of i without its lowest one, and the column of that.
static bool are_affine(const f2_affine *map, const place_list *p, uint64_t first, uint64_t last) {
  uint64_t columns[F2_MAX + 1];
  for (int i = 0; i < map->a.columns; i++)
    columns[i] = f2_column(map->a, i);
  if (first == 0 && last && place_at(p, first++) != map->c)
    return false;
  for (uint64_t i = first; i < last; i++)
    if (place_at(p, i) != (place_at(p, i & (i - 1)) ^ columns[f2_lsb(i)]))
      return false;
  return true;
}

bool movement_holds(const movement *m, const place_list *p, uint64_t first, uint64_t last) {
  if (m->kind == MOVES_BY_AFFINE_MAP)
    return are_affine(&m->map, p, first, last);
  for (uint64_t i = first; i < last; i++)
    if (place_at(p, i) != movement_place(m, p->count, i))
      return false;
  return true;
}

void movement_print(text *out, const movement *m) {
  text_string(out, movement_names[m->kind]);
  if (m->kind == MOVES_BY_ROTATION)
    text_printf(out, " by %" PRIu64, m->by);
  if (m->kind == MOVES_BY_EXCHANGE)
    text_printf(out, " of [%" PRIu64 "][%" PRIu64 "][%" PRIu64 "][%" PRIu64 "]", m->dims[0],
                m->dims[1], m->dims[2], m->dims[3]);
  if (m->kind != MOVES_BY_AFFINE_MAP)
    return;
  for (int i = 0; i < m->map.a.rows; i++)
    text_printf(out, "%s%" PRIu64, i ? ", " : " [", m->map.a.row[i]);
  text_printf(out, "] ^ %" PRIu64, m->map.c);
}

uint32_t movement_write(const movement *m, uint64_t numbers[MOVEMENT_NUMBERS]) {
  switch (m->kind) {
  case MOVES_BY_ROTATION:
    numbers[0] = m->by;
    return 1;
  case MOVES_BY_AFFINE_MAP:
    numbers[0] = m->map.c;
    for (int i = 0; i < m->map.a.columns; i++)
      numbers[1 + i] = f2_column(m->map.a, i);
    return 1 + (uint32_t)m->map.a.columns;
  case MOVES_BY_EXCHANGE:
    memcpy(numbers, m->dims, sizeof m->dims);
    return sizeof m->dims / sizeof *m->dims;
  default:
    return 0;
  }
}

static bool read_affine(movement *m, uint64_t count, const uint64_t *numbers,
                        uint32_t number_count) {
  f2_affine inverse;
  if (!is_power_of_two(count) || number_count != 1 + (uint32_t)f2_lsb(count))
    return false;
  for (uint32_t i = 0; i < number_count; i++)
    if (numbers[i] >= count)
      return false;
  m->map = (f2_affine){f2_from_columns(f2_lsb(count), f2_lsb(count), numbers + 1), numbers[0]};
  return f2_affine_inverse(m->map, &inverse);
}

static bool read_exchange(movement *m, uint64_t count, const uint64_t *numbers,
                          uint32_t number_count) {
  uint64_t product = 1;
  bool good = number_count == sizeof m->dims / sizeof *m->dims;
  for (uint32_t i = 0; i < number_count && good; i++)
    good = numbers[i] != 0 && !__builtin_mul_overflow(product, numbers[i], &product);
  if (good)
    memcpy(m->dims, numbers, sizeof m->dims);
  return good && product == count;
}

bool movement_read(movement *m, movement_kind kind, uint64_t count, const uint64_t *numbers,
                   uint32_t number_count) {
  *m = (movement){.kind = kind};
  if (kind == MOVES_BY_AFFINE_MAP)
    return read_affine(m, count, numbers, number_count);
  if (kind == MOVES_BY_EXCHANGE)
    return read_exchange(m, count, numbers, number_count);
  if (kind != MOVES_BY_ROTATION || number_count != 1 || numbers[0] > count - (count != 0))
    return false;
  m->by = numbers[0];
  return true;
}
