// Phases of a pass where lanes are threads that go in step: the warps of a GPU. See plan.h.
//
// A WARP is the 2^l threads that differ in L. Its loads and stores are coalesced if L is spanned by
// the vectors that step through a line of the array; what it does in scratch memory, of 2^l banks,
// is free of conflicts if the bank is one-to-one on L. Both are ranks. So every array has its
// lines as lanes in some phase, one without ops if need be, and of an exchange the bank is a
// coordinate modulo a common complement K of the lanes before it and those after it:
//
//   n = 4, l = 1, r = 1, bit reversal: loads step along 0001, stores along 1000
//
//     phase 0: R = <0010>, L = <0001>, T = <0100 1000>      loads
//     exchange: K = <1001 0010 0100>; address bits = 0001, 1001, 0010, 0100
//     phase 1: R = <0001>, L = <1000>, T = <0010 0100>      stores: 1000 = 0001 + 1001, bank 1
//
// (docs/algebra.md, section 5; the BMMC paper needs two passes where its tiles have unit vectors.)
#include "fusion/plan/planning.h"

typedef struct lanes {
  int count;
  uint64_t basis[F2_MAX];
} lanes;

typedef struct warps {
  arena *memory;
  const strategy_row *strategy;
  const net_stage *stage;
  plan_pass *pass;
  int r, l;
  uint32_t wide_bytes;  // target.h
  uint32_t alone;       // an op that is a phase of its own
  lanes iterations;     // of strategies that are plain
  lanes last;           // the basis of the phase before, its lanes first
  VEC(plan_phase) phases;
} warps;

// The vectors that add 1, 2, 4, ... to an address, at most so many, as far as there are such in the
// tile.
static lanes line_vectors(const warps *w, const net_map *m, int most) {
  lanes found = {0};
  f2_matrix rows;
  if (!map_matrix(m, w->stage->n, &rows))
    return found;
  for (uint32_t i = 0; i < m->row_count && found.count < most; i++) {
    uint64_t x;
    uint32_t row = 0;
    while (row < m->row_count && m->rows[row].weight != INT64_C(1) << found.count)
      row++;
    if (row == m->row_count || !f2_solve(rows, f2_unit((int)row), &x) ||
        !f2_space_has(w->pass->tile, x))
      break;
    found.basis[found.count++] = x;
  }
  return found;
}

// How a phase that only moves holds the lines of an array: each thread 2^wide neighbours, the
// target's wide_bytes if it can; the lanes what comes next. Where elements are asked
// for one by one (plan_move_is_wide), the lanes are the neighbours.
typedef struct line {
  lanes wide, lanes;
} line;

// How many of the lowest address bits are rows of their own, all else being a multiple of theirs;
// of at most so many.
static int aligned_bits(const net_map *m, int most) {
  uint64_t others = (uint64_t)m->offset;
  for (uint32_t i = 0; i < m->loop_count; i++)
    others |= (uint64_t)m->strides[i];
  for (uint32_t r = 0; r < m->row_count; r++) {
    uint64_t weight = (uint64_t)m->rows[r].weight;
    others |= weight & (weight - 1) || weight >> most ? weight : 0;
  }
  return others ? smaller_of(most, f2_lsb(others)) : most;
}

static line lines_of_move(const warps *w, const plan_move *m) {
  uint32_t bytes = w->pass->slot_bytes[m->slot];
  int wide = w->strategy->plain || !plan_move_is_wide(m) || bytes >= w->wide_bytes
                 ? 0
                 : smaller_of(f2_msb(w->wide_bytes / bytes), w->r);
  wide = aligned_bits(&m->map, wide);
  line found = {.lanes = line_vectors(w, &m->map, wide + w->l)};
  if (found.lanes.count > w->l) {
    found.wide.count = wide = found.lanes.count - w->l;
    memcpy(found.wide.basis, found.lanes.basis, (size_t)wide * sizeof(uint64_t));
    memmove(found.lanes.basis, found.lanes.basis + wide, (size_t)w->l * sizeof(uint64_t));
  }
  found.lanes.count = smaller_of(found.lanes.count, w->l);
  return found;
}

bool plan_move_is_wide(const plan_move *m) {
  return m->padding_start == UINT64_MAX && m->live_count == 0;
}

static f2_space span_of(const warps *w, const lanes *l) {
  return f2_span(w->stage->n, l->count, l->basis);
}

static f2_space lanes_of(const warps *w, const plan_phase *phase) {
  return f2_span(w->stage->n, (int)phase->l, phase->basis + phase->r);
}

// Whether a phase with these directions and coordinates can have the lanes, every direction static.
static bool can_have_lanes(const warps *w, f2_space d, f2_space forms, const lanes *wanted) {
  f2_space lines = span_of(w, wanted);
  return f2_space_sum(d, lines).dimension == d.dimension + lines.dimension &&
         f2_space_contains(f2_space_orthogonal(forms), lines) &&
         d.dimension + w->l <= w->pass->tile.dimension;
}

// The vectors of the kernel that differ from these by directions, where there are such.
static lanes moved_into_kernel(const lanes *from, f2_space kernel, const lanes *d) {
  lanes found = {0};
  uint64_t basis[2 * F2_MAX], c;
  f2_space all = kernel;
  int count = kernel.dimension;
  memcpy(basis, kernel.basis, (size_t)count * sizeof *basis);
  for (int i = 0; i < d->count; i++)
    if (f2_space_insert(&all, d->basis[i]))
      basis[count++] = d->basis[i];
  for (int i = 0; i < from->count; i++) {
    uint64_t x = from->basis[i];
    if (!f2_coordinates(count, basis, x, &c))
      continue;
    found.basis[found.count++] = x ^ f2_combine(count, basis, c & ~f2_mask(kernel.dimension));
  }
  return found;
}

static void remember_phase(warps *w, const plan_phase *p) {
  w->last.count = w->pass->tile.dimension;
  for (int i = 0; i < w->last.count; i++)
    w->last.basis[i] = p->basis[((uint32_t)i + p->r) % (uint32_t)w->last.count];
}

static lanes vectors_within(const lanes *from, f2_space space) {
  lanes found = {0};
  for (int i = 0; i < from->count; i++)
    if (f2_space_has(space, from->basis[i]))
      found.basis[found.count++] = from->basis[i];
  return found;
}

// The phase of ops [first, end), with lanes that begin with `wanted` and registers that begin with
// d, the directions. Whatever else is chosen lies in the kernel of the ops' coordinates, as far as
// possible. What stays as it was in the phase before needs no address of its own: so lanes and
// threads are those of before where they can be, moved into the kernel along the directions. But
// where ops matter in some places only, those come first: then few warps have something to do, and
// all of each.
static plan_phase new_phase(warps *w, uint32_t first, uint32_t end, const lanes *d,
                            const lanes *wanted) {
  f2_space v = w->pass->tile, live = live_directions(w->stage, w->pass, first, end);
  f2_space kernel = f2_space_intersection(
      f2_space_orthogonal(coordinate_forms(w->stage, w->pass, first, end)), v);
  f2_space few = live.dimension < live.n ? f2_space_intersection(kernel, live) : f2_space_zero(v.n);
  lanes before = moved_into_kernel(&w->last, kernel, d), alive = vectors_within(&before, live);
  phase_basis b = {.held = f2_space_zero(v.n), .most = {(uint32_t)w->r, (uint32_t)w->l, F2_MAX}};
  const struct {
    phase_part part;
    int count;
    const uint64_t *vectors;
  } sources[] = {
      {IN_REGISTERS, d->count, d->basis},       {IN_LANES, wanted->count, wanted->basis},
      {IN_LANES, alive.count, alive.basis},     {IN_LANES, few.dimension, few.basis},
      {IN_LANES, before.count, before.basis},   {IN_LANES, kernel.dimension, kernel.basis},
      {IN_LANES, v.dimension, v.basis},         {IN_REGISTERS, kernel.dimension, kernel.basis},
      {IN_REGISTERS, v.dimension, v.basis},     {IN_THREADS, alive.count, alive.basis},
      {IN_THREADS, before.count, before.basis}, {IN_THREADS, kernel.dimension, kernel.basis},
      {IN_THREADS, v.dimension, v.basis}};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    phase_take(&b, sources[i].part, sources[i].count, sources[i].vectors);
  plan_phase p = phase_of_basis(w->memory, &b, first, end);
  assert(p.r == (uint32_t)w->r && p.l == (uint32_t)w->l && b.held.dimension == v.dimension);
  remember_phase(w, &p);
  return p;
}

static void add_op_phase(warps *w, uint32_t first, uint32_t end, f2_space d) {
  lanes load = {0}, store = {0}, directions = {.count = d.dimension};
  memcpy(directions.basis, d.basis, sizeof directions.basis);
  if (first == 0 && w->pass->load_count)
    load = line_vectors(w, &w->pass->loads[0].map, w->l);
  if (end == w->pass->op_count && w->pass->store_count)
    store = line_vectors(w, &w->pass->stores[0].map, w->l);
  f2_space forms = coordinate_forms(w->stage, w->pass, first, end);
  bool loads = load.count > 0 && can_have_lanes(w, d, forms, &load);
  bool stores = store.count > 0 && can_have_lanes(w, d, forms, &store);
  plan_phase phase = new_phase(w, first, end, &directions,
                               loads    ? &load
                               : stores ? &store
                                        : &(lanes){.count = 0});
  vec_push(w->memory, &w->phases, phase);
}

// Phases with the ops from `first` on: each takes ops while their directions fit into the
// registers.
static void add_op_phases(warps *w, uint32_t first) {
  f2_space d = f2_space_zero(w->stage->n);
  for (uint32_t i = first; i < w->pass->op_count; i++) {
    f2_space own = op_directions(w->stage, w->pass, i), wider = f2_space_sum(d, own);
    if (wider.dimension > w->r || i == w->alone || (i > 0 && i - 1 == w->alone)) {
      add_op_phase(w, first, i, d);
      first = i;
      wider = own;
    }
    d = wider;
  }
  if (w->pass->op_count > first)
    add_op_phase(w, first, w->pass->op_count, d);
}

// Whether a phase has whole lines as lanes, or as lanes and registers.
static bool has_line(const warps *w, const plan_move *m, size_t from, size_t to) {
  line wide = lines_of_move(w, m);
  lanes narrow = line_vectors(w, &m->map, w->l);
  for (size_t i = from; i < to; i++) {
    const plan_phase *p = &w->phases.items[i];
    f2_space own = lanes_of(w, p), registers = f2_span(w->stage->n, (int)p->r, p->basis);
    if (f2_space_contains(own, span_of(w, &narrow)) ||
        (f2_space_contains(own, span_of(w, &wide.lanes)) &&
         f2_space_contains(registers, span_of(w, &wide.wide))))
      return true;
  }
  return false;
}

// What is not the wide vectors themselves turns over none of their address bits: every thread's
// accesses are whole.
static void align_accesses(const warps *w, plan_phase *phase, const net_map *m, const lanes *wide) {
  for (int i = wide->count; i < w->pass->tile.dimension; i++)
    for (uint32_t r = 0; r < m->row_count; r++)
      for (int k = 0; k < wide->count; k++)
        if (m->rows[r].weight == INT64_C(1) << k && f2_dot(m->rows[r].form.mask, phase->basis[i]))
          phase->basis[i] ^= wide->basis[k];
}

// What the paper's kernels go through one after the other: vectors of the tile beside its lines.
static lanes iterations_of(const warps *w) {
  lanes found = {0};
  const plan_pass *p = w->pass;
  f2_space lines = f2_space_zero(w->stage->n);
  for (uint32_t i = 0; i < p->load_count + p->store_count; i++) {
    const plan_move *m = i < p->load_count ? &p->loads[i] : &p->stores[i - p->load_count];
    lanes own = line_vectors(w, &m->map, w->l);
    lines = f2_space_sum(lines, span_of(w, &own));
  }
  f2_space rest = f2_space_complement(lines, p->tile);
  found.count = smaller_of(rest.dimension, w->r);
  memcpy(found.basis, rest.basis, (size_t)found.count * sizeof(uint64_t));
  return found;
}

// A phase without ops for each line that none of the phases at that end has as lanes.
static void add_move_phases(warps *w, const plan_move *moves, uint32_t count, size_t from,
                            size_t to, uint32_t at) {
  size_t added = w->phases.count;
  for (uint32_t i = 0; i < count; i++) {
    if (plan_are_few(moves[i].live_count) || has_line(w, &moves[i], from, to) ||
        has_line(w, &moves[i], added, w->phases.count))
      continue;
    line lines = lines_of_move(w, &moves[i]);
    if (w->strategy->plain)
      lines.wide = w->iterations;
    plan_phase phase = new_phase(w, at, at, &lines.wide, &lines.lanes);
    if (!w->strategy->plain)
      align_accesses(w, &phase, &moves[i].map, &lines.wide);
    vec_push(w->memory, &w->phases, phase);
  }
}

// Scratch addresses for the exchange between two phases: bit k is the coordinate along basis[k],
// K_k the span of basis[k], basis[k + 1], ... Each K_k is a common complement of the first k lanes
// before and the first k after, so that also half or a quarter of a warp, which is what the banks
// serve at once where elements have 8 or 16 bytes, is free of conflicts. One step: the next lane
// before has one vector in K_k, the next lane after another, and a hyperplane of K_k avoids both.
// A hyperplane of k that has neither p nor q, and of what is wanted as much as can be, the first
// first.
static f2_space hyperplane_without(f2_space k, uint64_t p, uint64_t q, uint32_t count,
                                   const uint64_t *wanted) {
  f2_space h = f2_space_zero(k.n);
  f2_space_insert(&h, p ^ q);
  for (uint32_t i = 0; i < count + (uint32_t)k.dimension; i++) {
    uint64_t x = i < count ? wanted[i] : k.basis[i - count];
    f2_space wider = h;
    if (f2_space_has(k, x) && f2_space_insert(&wider, x) && !f2_space_has(wider, p))
      h = wider;
  }
  return h;
}

// A phase's vectors under the projection to k along `low`, which with it makes the tile.
static lanes projected_phase(f2_space k, uint32_t low_count, const uint64_t *low,
                             const plan_phase *p, uint32_t d) {
  lanes out = {.count = (int)d};
  uint64_t basis[F2_MAX], c;
  memcpy(basis, low, low_count * sizeof *basis);
  memcpy(basis + low_count, k.basis, (size_t)k.dimension * sizeof *basis);
  for (uint32_t i = 0; i < d; i++) {
    ensure(f2_coordinates((int)low_count + k.dimension, basis, p->basis[i], &c));
    out.basis[i] = p->basis[i] ^ f2_combine((int)low_count, low, c);
  }
  return out;
}

// A basis of k in which registers have coordinates of their own, before and after, as far as can
// be: then what a register adds to an address is a constant of the instruction. Of the phases' own
// vectors if possible: then each thread bit is one address bit.
static void separate_registers(f2_space k, uint32_t l, uint64_t *basis, const plan_phase *before,
                               const plan_phase *after, uint32_t d) {
  lanes vectors[2] = {projected_phase(k, l, basis, before, d),
                      projected_phase(k, l, basis, after, d)};
  f2_space own[2][2], held = f2_space_zero(k.n);  // before, after; registers', others'
  uint32_t count = l;
  for (int i = 0; i < 2; i++) {
    uint32_t r = i ? after->r : before->r;
    own[i][0] = f2_span(k.n, (int)r, vectors[i].basis);
    own[i][1] = f2_span(k.n, (int)(d - r), vectors[i].basis + r);
  }
  for (int i = 0; i < 6; i++) {
    f2_space common = i < 4 ? f2_space_intersection(own[0][i / 2], own[1][i % 2]) : own[0][i - 4];
    for (int side = 0; side < 2; side++) {
      lanes some = vectors_within(&vectors[side], common);
      take_vectors(basis, &count, d, some.count, some.basis, &held);
    }
    take_vectors(basis, &count, d, common.dimension, common.basis, &held);
  }
  assert(count == d);
}

uint64_t *plan_exchange(arena *a, f2_space tile, const plan_phase *before,
                        const plan_phase *after) {
  f2_space k = tile;
  uint32_t d = (uint32_t)tile.dimension;
  uint64_t *basis = NEW_ARRAY(a, uint64_t, d + 1), wanted[2 * F2_MAX];
  memcpy(wanted, after->basis, after->r * sizeof *wanted);
  memcpy(wanted + after->r, before->basis, before->r * sizeof *wanted);
  for (uint32_t i = 0; i < before->l; i++) {
    f2_space p = f2_span(tile.n, (int)i + 1, before->basis + before->r);
    f2_space q = f2_span(tile.n, (int)i + 1, after->basis + after->r);
    p = f2_space_intersection(p, k);
    q = f2_space_intersection(q, k);
    assert(p.dimension == 1 && q.dimension == 1);
    basis[i] = p.basis[0];
    k = hyperplane_without(k, p.basis[0], q.basis[0], after->r + before->r, wanted);
  }
  separate_registers(k, before->l, basis, before, after, d);
  return basis;
}

// As the BMMC paper has its tiles (section 4.2): the lanes before are a row; the rows are what is
// left of the lanes behind, then of the threads and the registers before.
static uint64_t *raw_exchange(const warps *w, const plan_phase *before, const plan_phase *after) {
  uint32_t d = (uint32_t)w->pass->tile.dimension, count = 0;
  uint64_t *basis = NEW_ARRAY(w->memory, uint64_t, d + 1);
  const struct {
    const uint64_t *vectors;
    uint32_t count;
  } parts[] = {{before->basis + before->r, before->l},
               {after->basis + after->r, after->l},
               {before->basis + before->r + before->l, d - before->r - before->l},
               {before->basis, before->r}};
  f2_space all = f2_space_zero(w->pass->tile.n);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    take_vectors(basis, &count, d, (int)parts[i].count, parts[i].vectors, &all);
  return basis;
}

// Ops that make few elements of many, on neighbours that one access loads: they are executed where
// they are loaded, and only what they make is exchanged. Whether there are such; the phase is then
// the first.
static bool add_reducing_phase(warps *w) {
  if (!w->pass->load_count || w->strategy->plain)
    return false;
  line lines = lines_of_move(w, &w->pass->loads[0]);
  f2_space wide = span_of(w, &lines.wide);
  uint32_t count = 0;
  for (; count < w->pass->op_count && count != w->alone; count++) {
    const net_op *op = &w->stage->ops.items[w->pass->ops[count]];
    bool reduces = op->k > 0;
    for (uint32_t o = 0; o < op->output_count; o++)
      reduces &= op->outputs[o].elements[(UINT64_C(1) << op->k) - 1] == NET_NONE;
    if (!reduces || !f2_space_contains(wide, op_directions(w->stage, w->pass, count)))
      break;
  }
  f2_space forms = coordinate_forms(w->stage, w->pass, 0, count);
  if (count == 0 || !can_have_lanes(w, wide, forms, &lines.lanes))
    return false;
  plan_phase phase = new_phase(w, 0, count, &lines.wide, &lines.lanes);
  align_accesses(w, &phase, &w->pass->loads[0].map, &lines.wide);
  vec_push(w->memory, &w->phases, phase);
  return true;
}

void plan_warps(const planning *p, plan_pass *pass) {
  arena *a = p->memory;
  const net_stage *s = p->stage;
  warps w = {.memory = a,
             .strategy = p->strategy,
             .stage = s,
             .pass = pass,
             .wide_bytes = p->target->wide_bytes,
             .alone = p->alone};
  int k = most_directions(s, pass), d = pass->tile.dimension;
  int r = p->strategy->registers >= 0 ? p->strategy->registers
                                      : register_bits(p->target, p->stage, pass, 0);
  w.l = smaller_of((int)p->target->lane_bits, d - smaller_of(k, d));
  w.r = smaller_of(r > k ? r : k, d - w.l);
  if (d - w.r > PLAN_THREAD_BITS)
    w.r = d - PLAN_THREAD_BITS;
  if (p->strategy->plain)
    w.iterations = iterations_of(&w);

  uint32_t reduced = add_reducing_phase(&w) ? w.phases.items[0].op_count : 0;
  add_op_phases(&w, reduced);
  size_t ops = w.phases.count, front;
  add_move_phases(&w, pass->loads, pass->load_count, 0, ops ? 1 : 0, 0);
  front = w.phases.count - ops;
  VEC(plan_phase) all = {0};
  for (size_t i = 0; i < front; i++)
    vec_push(a, &all, w.phases.items[ops + i]);
  for (size_t i = 0; i < ops; i++)
    vec_push(a, &all, w.phases.items[i]);
  if (all.count)
    memcpy(w.phases.items, all.items, all.count * sizeof *all.items);
  size_t last = w.phases.count ? w.phases.count - 1 : 0;
  if (p->strategy->exchange != EXCHANGE_NONE)
    add_move_phases(&w, pass->stores, pass->store_count, last, w.phases.count, pass->op_count);
  if (w.phases.count == 0) {
    plan_phase phase = new_phase(&w, 0, 0, &(lanes){.count = 0}, &(lanes){.count = 0});
    vec_push(a, &w.phases, phase);
  }
  for (size_t i = 1; i < w.phases.count; i++)
    w.phases.items[i].exchange =
        p->strategy->exchange == EXCHANGE_RAW
            ? raw_exchange(&w, &w.phases.items[i - 1], &w.phases.items[i])
            : plan_exchange(a, pass->tile, &w.phases.items[i - 1], &w.phases.items[i]);
  pass->phases = w.phases.items;
  pass->phase_count = (uint32_t)w.phases.count;
}
