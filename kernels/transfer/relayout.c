#include "kernels/transfer/relayout.h"

static int dimension_of(const register_layout *y) { return (int)(y->registers + y->lanes); }

static f2_space lanes_of(const register_layout *y) {
  return f2_span(dimension_of(y), (int)y->lanes, y->vector + y->registers);
}

// ---- the steps -------------------------------------------------------------------------------

// Another basis of the lanes: a vector in the space `shared` stays in its place, vectors of
// a basis of `shared` replace others, and the rest are those to be exchanged (marked in *leaving).
static void align_lanes(register_layout *y, f2_space shared, uint32_t *leaving) {
  uint64_t *lane = y->vector + y->registers;
  f2_space spanned = f2_space_zero(shared.n);
  uint32_t stays = 0;
  for (uint32_t i = 0; i < y->lanes; i++)
    if (f2_space_has(shared, lane[i]) && f2_space_insert(&spanned, lane[i]))
      stays |= 1U << i;
  f2_space others = f2_space_complement(spanned, shared), all = shared;
  *leaving = 0;
  int next = 0;
  for (uint32_t i = 0; i < y->lanes; i++)
    if (!(stays >> i & 1) && f2_space_insert(&all, lane[i]))
      *leaving |= 1U << i;
  for (uint32_t i = 0; i < y->lanes; i++)
    if (!((stays | *leaving) >> i & 1))
      lane[i] = others.basis[next++];
}

// Takes the lane vector q into place `lane`; the vector that was there becomes a register's, in the
// place of one that q contains.
static void exchange_lane(register_layout *y, uint32_t lane, uint64_t q) {
  uint64_t bits;
  bool found = f2_coordinates(dimension_of(y), y->vector, q, &bits);
  assert(found && (bits & f2_mask((int)y->registers)) != 0);
  (void)found;
  uint64_t *leaves = &y->vector[y->registers + lane];
  y->vector[f2_lsb(bits)] = *leaves;
  *leaves = q;
}

// ---- in the code -----------------------------------------------------------------------------

static const char *lane_list(c_writer *w, uint32_t lanes, const uint32_t *from) {
  text t = {0};
  for (uint32_t i = 0; i < lanes; i++)
    text_printf(&t, i == 0 ? "%u" : ", %u", from[i]);
  return arena_text(w->memory, &t);
}

// A register: its variable, and of which registers of the layout before its lanes are. One that is
// dead has no variable.
typedef struct made {
  uint64_t source[2];
  const char *pattern;  // NULL: it is source[0]
  bool written;
  uint32_t id;
} made;

// Layouts on the way from one to the other, and their registers.
typedef struct relayout {
  c_writer *w;
  uint32_t bytes, count;
  register_layout *layout;
  made **made;
} relayout;

// The registers of layout k.
static void find_sources(relayout *r, uint32_t k) {
  const register_layout *from = &r->layout[k - 1], *to = from + 1;
  uint64_t unit[F2_MAX + 1], registers = f2_mask((int)to->registers);
  uint32_t lanes = 1U << to->lanes, pattern[64];
  int n = dimension_of(from);
  assert(lanes <= 64);
  for (int i = 0; i < n; i++) {
    bool found = f2_coordinates(n, from->vector, f2_unit(i), &unit[i]);
    assert(found);
    (void)found;
  }
  r->made[k] = NEW_ARRAY(r->w->memory, made, registers + 1);
  for (uint64_t i = 0; i <= registers; i++) {
    made *m = &r->made[k][i];
    bool same = true;
    for (uint32_t j = 0; j < lanes; j++) {
      uint64_t source = f2_combine(n, unit, register_layout_at(to, i, j) ^ from->origin),
               place = source & registers;
      if (j == 0)
        m->source[0] = m->source[1] = place;
      if (place != m->source[0])
        m->source[1] = place;
      assert(place == m->source[0] || place == m->source[1]);
      pattern[j] = (uint32_t)(source >> to->registers) + (place == m->source[0] ? 0 : lanes);
      same = same && pattern[j] == j;
    }
    m->pattern = same ? NULL : lane_list(r->w, lanes, pattern);
  }
}

// A register of layout k, after those that it is made of. Where one of these is dead, it has
// whatever the other one holds.
static uint32_t write_register(const relayout *r, uint32_t k, uint64_t number) {
  made *m = &r->made[k][number];
  if (m->written)
    return m->id;
  m->written = true;
  uint32_t first = write_register(r, k - 1, m->source[0]),
           second = write_register(r, k - 1, m->source[1]), lanes = 1U << r->layout[k].lanes;
  if (!m->pattern || (first == UINT32_MAX && second == UINT32_MAX))
    return m->id = first;
  return m->id = c_let(r->w, c_vector(r->w, r->bytes, lanes), "%s(v%u, v%u, %s)",
                       c_bits_function(r->w, "shuffle", r->bytes, lanes),
                       first == UINT32_MAX ? second : first, second == UINT32_MAX ? first : second,
                       m->pattern);
}

// The least register of layout `first` that a register of layout k is made of.
static uint64_t least_source(const relayout *r, uint32_t first, uint32_t k, uint64_t number) {
  if (k == first)
    return number;
  uint64_t a = least_source(r, first, k - 1, r->made[k][number].source[0]),
           b = least_source(r, first, k - 1, r->made[k][number].source[1]);
  return a < b ? a : b;
}

// Layout by layout. Squares of 32 and 64 elements take more registers than a processor has: three
// layouts at a time, in which 8 registers become 8, so that each is stored and loaded again once
// for three.
static void write_layouts(const relayout *r) {
  enum { FEW = 5 };
  uint64_t count = UINT64_C(1) << r->layout->registers;
  uint32_t by = r->count <= FEW ? 1 : 3;
  for (uint32_t first = 0, k; first + 1 < r->count; first = k) {
    k = first + by < r->count ? first + by : r->count - 1;
    for (uint64_t i = 0; i < count; i++)
      for (uint64_t j = i, least = least_source(r, first, k, i); j < (by > 1 ? count : i + 1); j++)
        if (!r->made[k][j].written && least_source(r, first, k, j) == least)
          write_register(r, k, j);
  }
}

// Appends a layout.
static void add_layout(relayout *r, const register_layout *y) {
  r->layout[r->count] = *y;
  if (r->count++)
    find_sources(r, r->count - 1);
}

void c_relayout(c_writer *w, uint32_t bytes, const register_layout *from, const register_layout *to,
                const uint32_t *in, uint32_t *out) {
  f2_space lanes = lanes_of(from), wanted = lanes_of(to);
  f2_space shared = f2_space_intersection(lanes, wanted);
  size_t registers = (size_t)1 << from->registers;
  uint32_t leaving;
  int steps = (int)from->lanes - shared.dimension;
  relayout r = {w, bytes, 0, NEW_ARRAY(w->memory, register_layout, steps + 2),
                NEW_ARRAY(w->memory, made *, steps + 2)};
  register_layout next = *from;
  add_layout(&r, from);
  r.made[0] = NEW_ARRAY(w->memory, made, registers);
  for (size_t i = 0; i < registers; i++)
    r.made[0][i] = (made){.written = true, .id = in[i]};
  align_lanes(&next, shared, &leaving);
  // The wanted lanes that are new, those first whose place becomes free.
  for (int k = 0; k + 1 < steps; k++) {
    uint32_t place = 0, best = UINT32_MAX;
    for (uint32_t i = 0; i < to->lanes; i++)
      if (!f2_space_has(lanes_of(&next), to->vector[to->registers + i]) &&
          (best == UINT32_MAX || (leaving >> i & 1 && !(leaving >> best & 1))))
        best = i;
    place = leaving >> best & 1 ? best : (uint32_t)f2_lsb(leaving);
    exchange_lane(&next, place, to->vector[to->registers + best]);
    leaving &= ~(1U << place);
    add_layout(&r, &next);
  }
  add_layout(&r, to);
  write_layouts(&r);
  for (size_t i = 0; i < registers; i++)
    out[i] = r.made[r.count - 1][i].id;
}
