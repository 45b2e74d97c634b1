// Phases of a pass: which ops run in registers together, and who holds what. See plan.h.
//
// Fast memory keeps one layout during the whole pass: its lines are the HOME lanes H, those of the
// pass's first load. A phase whose directions D avoid H takes its lanes along H. Otherwise lanes
// are the projections of H along D to the threads' side, and W = R + L, which a thread holds_lines,
// contains H: whole lines are loaded, and change places in registers.
#include "fusion/plan/planning.h"

// The lines of 2^l elements of a move: its address's low bits.
static f2_space move_lines(const net_stage *s, const plan_move *m, int l) {
  return f2_space_intersection(line_space(&m->map, s->n, 1u << l), f2_space_full(s->n));
}

// Widens *v within `all` to `dimension`.
static void widen_space(f2_space *v, f2_space all, int dimension) {
  for (int i = 0; i < all.dimension && v->dimension < dimension; i++)
    f2_space_insert(v, all.basis[i]);
}

// K with V = D + K, in the kernel of the ops' coordinates as far as possible.
static f2_space static_complement(const net_stage *s, const plan_pass *pass, uint32_t first,
                                  uint32_t end, f2_space d) {
  f2_space forms = coordinate_forms(s, pass, first, end);
  f2_space kernel = f2_space_intersection(f2_space_orthogonal(forms), pass->tile);
  f2_space inside = f2_space_complement(d, kernel);
  f2_space rest = f2_space_complement(f2_space_sum(d, inside), pass->tile);
  return f2_space_sum(inside, rest);
}

// The image of h under the projection to k along d (V = d + k).
static uint64_t projected_along(f2_space d, f2_space k, uint64_t h) {
  uint64_t basis[F2_MAX], sum;
  for (int i = 0; i < k.dimension; i++)
    basis[i] = k.basis[i];
  for (int i = 0; i < d.dimension; i++)
    basis[k.dimension + i] = d.basis[i];
  ensure(f2_coordinates(k.dimension + d.dimension, basis, h, &sum));
  return f2_combine(k.dimension, k.basis, sum);
}

typedef struct thread_shape {
  int r, l;
  f2_space home;
} thread_shape;

plan_phase phase_of_basis(arena *a, const phase_basis *b, uint32_t first, uint32_t end) {
  plan_phase phase = {.first_op = first, .op_count = end - first};
  uint32_t all = 0;
  phase.r = b->count[IN_REGISTERS];
  phase.l = b->count[IN_LANES];
  phase.basis = NEW_ARRAY(a, uint64_t, b->held.dimension + 1);
  for (int part = 0; part < PHASE_PARTS; all += b->count[part++])
    memcpy(phase.basis + all, b->vectors[part], b->count[part] * sizeof *phase.basis);
  return phase;
}

// The phase of ops [first, end), whose directions span d. `also`: lines that it must hold, too.
// Where ops matter in some places only, lanes and registers are of those places, and threads of
// them come first: the others have nothing to do.
static plan_phase new_phase(arena *a, const net_stage *s, const plan_pass *pass, uint32_t first,
                            uint32_t end, f2_space d, const thread_shape *shape, f2_space also) {
  f2_space v = pass->tile, k = static_complement(s, pass, first, end, d);
  f2_space live = live_directions(s, pass, first, end);
  f2_space alive = live.dimension < s->n ? f2_space_intersection(k, live) : k;
  phase_basis b = {
      .held = f2_space_zero(s->n),
      .most = {(uint32_t)shape->r, (uint32_t)smaller_of(shape->l, v.dimension - shape->r), F2_MAX}};
  phase_take(&b, IN_REGISTERS, d.dimension, d.basis);
  f2_space wanted[2] = {shape->home, also};
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < wanted[w].dimension; i++) {
      uint64_t h = projected_along(d, k, wanted[w].basis[i]);
      if (!f2_space_has(live, h))
        continue;
      phase_take(&b, IN_LANES, 1, &h);
      phase_take(&b, IN_REGISTERS, 1, &h);
    }
  phase_take(&b, IN_LANES, alive.dimension, alive.basis);
  phase_take(&b, IN_REGISTERS, alive.dimension, alive.basis);
  phase_take(&b, IN_THREADS, alive.dimension, alive.basis);
  phase_take(&b, IN_THREADS, k.dimension, k.basis);
  plan_phase phase = phase_of_basis(a, &b, first, end);
  assert(
      b.held.dimension == v.dimension &&
      (live.dimension < s->n || (phase.r == b.most[IN_REGISTERS] && phase.l == b.most[IN_LANES])));
  return phase;
}

int register_bits(const target *t, const net_stage *s, const plan_pass *pass, int l) {
  enum { MOST_STATEMENTS = 1 << 13 };  // of an op in a thread: compilers take a second for them
  uint32_t width = t->lane_bytes ? t->lane_bytes : 4, count = 0;
  uint32_t lanes = t->lane_bytes ? 1u << l : 1;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    count += (lanes * pass->slot_bytes[i] + width - 1) / width;
  int r = log2_floor(t->register_bytes / width / (count ? count : 1));
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    uint64_t nodes = net_op_nodes(s, op, s->walk);
    while (r > (int)op->k && nodes << (r - (int)op->k) > MOST_STATEMENTS)
      r--;
  }
  return r;
}

// r and l for a pass. Lanes first: they are there anyhow; then as many registers as the tile has
// use for, at least as wide ops need.
static thread_shape pass_shape(const net_stage *s, const target *t, const plan_pass *pass) {
  uint32_t widest = 1;
  int k = most_directions(s, pass), d = pass->tile.dimension;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    widest = pass->slot_bytes[i] > widest ? pass->slot_bytes[i] : widest;
  thread_shape shape = {.home = f2_space_zero(s->n)};
  shape.l = (int)t->lane_bits;
  if (t->lane_bytes)
    shape.l = smaller_of(shape.l, log2_floor(t->lane_bytes / widest));
  shape.l = smaller_of(shape.l, d - smaller_of(k, d));
  shape.r = register_bits(t, s, pass, shape.l);
  shape.r = smaller_of(shape.r > k ? shape.r : k, d - shape.l);
  if (pass->load_count)
    shape.home = f2_space_intersection(move_lines(s, &pass->loads[0], shape.l), pass->tile);
  widen_space(&shape.home, pass->tile, shape.l);
  return shape;
}

static uint64_t *home_layout(arena *a, const plan_pass *pass, const thread_shape *shape) {
  f2_space v = pass->tile, rest = f2_space_complement(shape->home, v);
  uint64_t *basis = NEW_ARRAY(a, uint64_t, v.dimension + 1);
  for (int i = 0; i < shape->home.dimension; i++)
    basis[i] = shape->home.basis[i];
  for (int i = 0; i < rest.dimension; i++)
    basis[shape->home.dimension + i] = rest.basis[i];
  return basis;
}

static bool holds_lines(const plan_phase *phase, int n, f2_space lines) {
  return f2_space_contains(f2_span(n, (int)(phase->r + phase->l), phase->basis), lines);
}

void plan_phases(arena *a, const net_stage *s, const target *t, plan_pass *pass) {
  thread_shape shape = pass_shape(s, t, pass);
  f2_space stored = f2_space_zero(s->n);
  if (pass->store_count)
    stored = f2_space_intersection(move_lines(s, &pass->stores[0], shape.l), pass->tile);
  VEC(plan_phase) phases = {0};
  f2_space none = f2_space_zero(s->n);
  uint32_t first = 0;
  f2_space d = none;
  for (uint32_t i = 0; i < pass->op_count; i++) {
    f2_space wider = f2_space_sum(d, op_directions(s, pass, i));
    if (wider.dimension > shape.r) {
      vec_push(a, &phases, new_phase(a, s, pass, first, i, d, &shape, none));
      first = i;
      wider = op_directions(s, pass, i);
    }
    d = wider;
  }
  vec_push(a, &phases, new_phase(a, s, pass, first, pass->op_count, d, &shape, stored));
  // Lines that the last phase does not hold whole get a phase of their own.
  if (!holds_lines(&phases.items[phases.count - 1], s->n, stored) && pass->op_count) {
    plan_phase last = new_phase(a, s, pass, pass->op_count, pass->op_count, none, &shape, stored);
    if (holds_lines(&last, s->n, stored))
      vec_push(a, &phases, last);
  }
  for (size_t i = 1; i < phases.count; i++)
    phases.items[i].exchange = home_layout(a, pass, &shape);
  pass->phases = phases.items;
  pass->phase_count = (uint32_t)phases.count;
}
