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

typedef struct step {
  c_writer *w;
  uint32_t bytes;
  const register_layout *from, *to;
  uint64_t *unit;  // the coordinates in `from` of the unit vectors
} step;

// Register `number` of the new layout, of one or two old ones; of one that is dead it has whatever
// the other one holds.
static uint32_t write_register(const step *s, uint64_t number, const uint32_t *in) {
  uint32_t lanes = 1U << s->from->lanes, pattern[64];
  uint64_t registers = f2_mask((int)s->from->registers), a = UINT64_MAX, b = UINT64_MAX;
  bool same = true;
  assert(lanes <= 64);
  for (uint32_t j = 0; j < lanes; j++) {
    uint64_t x = register_layout_at(s->to, number, j) ^ s->from->origin;
    uint64_t source = f2_combine(dimension_of(s->from), s->unit, x), place = source & registers;
    if (a == UINT64_MAX)
      a = place;
    else if (place != a)
      b = place;
    assert(place == a || place == b);
    pattern[j] = (uint32_t)(source >> s->from->registers) + (place == a ? 0 : lanes);
    same = same && pattern[j] == j;
  }
  uint32_t first = in[a], second = in[b == UINT64_MAX ? a : b];
  if (same || (first == UINT32_MAX && second == UINT32_MAX))
    return first;
  return c_let(s->w, c_vector(s->w, s->bytes, lanes), "%s(v%u, v%u, %s)",
               c_bits_function(s->w, "shuffle", s->bytes, lanes),
               first == UINT32_MAX ? second : first, second == UINT32_MAX ? first : second,
               lane_list(s->w, lanes, pattern));
}

static void write_step(c_writer *w, uint32_t bytes, const register_layout *from,
                       const register_layout *to, const uint32_t *in, uint32_t *out) {
  uint64_t unit[F2_MAX + 1];
  int n = dimension_of(from);
  for (int i = 0; i < n; i++) {
    bool found = f2_coordinates(n, from->vector, f2_unit(i), &unit[i]);
    assert(found);
    (void)found;
  }
  step s = {w, bytes, from, to, unit};
  for (uint64_t i = 0; i < UINT64_C(1) << to->registers; i++)
    out[i] = write_register(&s, i, in);
}

void c_relayout(c_writer *w, uint32_t bytes, const register_layout *from, const register_layout *to,
                const uint32_t *in, uint32_t *out) {
  f2_space lanes = lanes_of(from), wanted = lanes_of(to);
  f2_space shared = f2_space_intersection(lanes, wanted);
  size_t registers = (size_t)1 << from->registers;
  uint32_t *now = NEW_ARRAY(w->memory, uint32_t, registers), leaving,
           *then = NEW_ARRAY(w->memory, uint32_t, registers);
  memcpy(now, in, registers * sizeof *now);
  register_layout at = *from, next = *from;
  align_lanes(&next, shared, &leaving);
  int steps = (int)from->lanes - shared.dimension;
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
    write_step(w, bytes, &at, &next, now, then);
    uint32_t *swap = now;
    now = then;
    then = swap;
    at = next;
  }
  write_step(w, bytes, &at, to, now, out);
}
