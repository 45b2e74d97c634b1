#include "kernels/schedule/access.h"

uint64_t register_layout_at(const register_layout *y, uint64_t number, uint64_t lane) {
  return y->origin ^ f2_combine((int)y->registers, y->vector, number) ^
         f2_combine((int)y->lanes, y->vector + y->registers, lane);
}

// ---- neighbours ------------------------------------------------------------------------------

// A vector of W that flips one row of weight 2^i and nothing else.
static bool find_neighbour(const xor_sum *m, uint32_t i, uint32_t *row, uint64_t *x) {
  for (uint32_t r = 0; r < m->rows; r++)
    if (m->weight[r] == UINT64_C(1) << i &&
        f2_coordinates((int)m->vectors, m->vector, f2_unit((int)r), x)) {
      *row = r;
      return true;
    }
  return false;
}

uint32_t c_wide_vectors(const xor_sum *m, uint32_t bytes, uint32_t row[C_CHUNK],
                        uint64_t x[C_CHUNK]) {
  uint32_t count = 0;
  while (bytes << count < 16 && find_neighbour(m, count, &row[count], &x[count]))
    count++;
  return count;
}

// x without what it has in the rows of the chunk, or of the wide access.
static uint64_t without_chunk(const c_access *a, const uint64_t *chunk, uint64_t x, uint64_t bits) {
  for (uint32_t i = 0; i < a->chunk + a->wide; i++)
    if (f2_bit(bits, (int)a->chunk_row[i]))
      x ^= chunk[i];
  return x;
}

static register_layout home_layout(const c_space *s, uint32_t parts) {
  register_layout y = {.registers = s->r + parts - 1, .lanes = s->l};
  for (uint32_t i = 0; i < y.registers; i++)
    y.vector[i] = f2_unit((int)(i < s->r ? i : s->r + s->l));
  for (uint32_t i = 0; i < s->l; i++)
    y.vector[y.registers + i] = f2_unit((int)(s->r + i));
  return y;
}

// The lanes begin with the chunk's vectors and go on with the phase's own lanes; what else lies in
// a line comes first among the registers.
static void set_memory_layout(c_access *a, const uint64_t *line, uint32_t line_bits) {
  register_layout *y = &a->memory;
  *y = a->home;
  f2_space lanes = f2_space_zero((int)a->map.vectors);
  uint64_t *lane = y->vector + y->registers;
  uint32_t count = 0, next = 0;
  for (; count < a->chunk; count++)
    f2_space_insert(&lanes, lane[count] = line[count]);
  for (uint32_t i = 0; count < y->lanes; i++)
    if (f2_space_insert(&lanes, a->home.vector[a->home.registers + i]))
      lane[count++] = a->home.vector[a->home.registers + i];
  f2_space all = lanes;
  for (uint32_t i = a->chunk; i < line_bits && next < y->registers; i++)
    if (f2_space_insert(&all, line[i]))
      y->vector[next++] = line[i];
  for (uint32_t i = 0; next < y->registers; i++)
    if (f2_space_insert(&all, f2_unit((int)i)))
      y->vector[next++] = f2_unit((int)i);
  for (uint32_t i = a->wide; i < y->registers + y->lanes; i++)
    if (i < y->registers || i >= y->registers + a->chunk)
      y->vector[i] = without_chunk(a, line, y->vector[i],
                                   xor_sum_rows_at(&a->map, y->vector[i]) ^ a->map.constant);
  y->origin = without_chunk(a, line, 0, a->map.constant);
}

// How many of the lowest address bits registers alone decide, all else being a multiple of theirs.
static uint32_t wide_bits(const xor_sum *m, const c_access *a, uint32_t line_bits,
                          uint32_t widest) {
  uint64_t others = m->offset, own = 0;
  uint32_t wide = 0;
  while (wide < line_bits && wide < widest && a->bytes << wide < 16)
    own |= f2_unit((int)a->chunk_row[wide++]);
  for (uint32_t r = 0; r < m->rows; r++)
    others |= f2_bit(own, (int)r) ? 0 : m->weight[r];
  for (uint32_t i = 0; i < m->loops; i++)
    others |= (uint64_t)m->strides[i];
  while (wide > 0 && others & f2_mask((int)wide))
    wide = (uint32_t)f2_lsb(others);
  return wide;
}

c_access c_access_of(const xor_sum *m, const c_space *s, scalar_type type, uint32_t longest,
                     uint32_t widest) {
  uint32_t bytes = scalar_part_bytes(type);
  c_access a = {.map = *m, .bytes = bytes, .home = home_layout(s, scalar_parts(type))};
  uint64_t line[C_CHUNK], dynamic = xor_sum_dynamic_rows(m);
  uint32_t line_bits = 0;
  while (line_bits < C_CHUNK &&
         find_neighbour(m, line_bits, &a.chunk_row[line_bits], &line[line_bits]))
    line_bits++;
  a.whole_lines = bytes << line_bits >= 64;
  a.chunk = line_bits < s->l ? line_bits : s->l;
  if (a.chunk > longest)
    a.chunk = longest;
  a.wide = s->l == 0 ? wide_bits(m, &a, line_bits, widest) : 0;
  for (uint32_t i = 0; i < a.chunk + a.wide; i++)
    a.xor_permuted |= f2_bit(dynamic, (int)a.chunk_row[i]);
  set_memory_layout(&a, line, line_bits);
  return a;
}

// All that is added to an address of a line is a multiple of 64 bytes.
bool c_access_streams(const c_access *a) {
  uint64_t others = f2_mask((int)a->map.rows), all = a->map.offset;
  uint32_t in_line = 0;
  while (a->bytes << in_line < 64)
    others &= ~f2_unit((int)a->chunk_row[in_line++]);
  for (; others != 0; others &= others - 1)
    all |= a->map.weight[f2_lsb(others)];
  for (uint32_t i = 0; i < a->map.loops; i++)
    all |= (uint64_t)a->map.strides[i];
  return a->whole_lines && a->chunk == a->home.lanes && a->bytes << a->chunk >= 16 &&
         all % (64 / a->bytes) == 0;
}

// Only one register at a time where some are left out.
uint32_t c_access_widest(bool warps, const c_place *place) {
  bool whole = !place->scratch && place->padding_start == UINT64_MAX && place->live_count == 0;
  return warps && whole ? C_CHUNK : 0;
}
