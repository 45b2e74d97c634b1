// Phases of a pass where lanes are threads that go in step: the warps of a GPU. See plan.h.
//
// A WARP is the 2^l threads that differ in L. Its loads and stores are coalesced if L is spanned by
// the vectors that step through a line of the array; what it does in scratch memory, of 2^l banks,
// is free of conflicts if the bank is one-to-one on L. Both conditions are ranks of matrices. So
// every array has its lines as lanes in some phase, one without ops if need be, and of an exchange
// the bank is a coordinate modulo a common complement K of the lanes before it and those after it:
//
//   n = 4, l = 1, r = 1, bit reversal: loads step along 0001, stores along 1000
//
//     phase 0: R = <0010>, L = <0001>, T = <0100 1000>      loads
//     exchange: K = <1001 0010 0100>; address bits = 0001, 1001, 0010, 0100
//     phase 1: R = <0001>, L = <1000>, T = <0010 0100>      stores: 1000 = 0001 + 1001, bank 1
//
// (docs/algebra.md, section 5; the BMMC paper needs two passes where its tiles have unit vectors.)
#include "fusion/plan/planning.h"

typedef struct warps {
  const planning *p;
  plan_pass *pass;
  phase_shape shape;
  vector_list iterations;  // of strategies that are plain
  vector_list last;        // the basis of the phase before, its lanes first
  VEC(plan_phase) phases;
} warps;

// The vectors that add 1, 2, 4, ... to an address, at most so many, as far as there are such in the
// tile.
static vector_list line_vectors(const warps *w, const net_map *m, int most) {
  vector_list found = {0};
  f2_matrix rows;
  if (!map_matrix(m, w->pass->tile.n, &rows))
    return found;
  for (uint32_t i = 0; i < m->row_count && found.count < most; i++) {
    uint64_t x;
    uint32_t row = 0;
    while (row < m->row_count && m->rows[row].weight != INT64_C(1) << found.count)
      row++;
    if (row == m->row_count || !f2_solve(rows, f2_unit((int)row), &x) ||
        !f2_space_has(w->pass->tile, x))
      break;
    found.items[found.count++] = x;
  }
  return found;
}

// How a phase that only moves holds the lines of an array: each thread 2^wide neighbours, the
// target's wide_bytes if it can; the lanes what comes next. Where elements are asked
// for one by one (plan_move_is_wide), the lanes are the neighbours.
typedef struct line {
  vector_list wide, lanes;
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
  int wide = w->p->strategy->plain || !plan_move_is_wide(m) || bytes >= w->p->target->wide_bytes
                 ? 0
                 : smaller_of(f2_msb(w->p->target->wide_bytes / bytes), w->shape.r);
  wide = aligned_bits(&m->map, wide);
  line found = {.lanes = line_vectors(w, &m->map, wide + w->shape.l)};
  if (found.lanes.count > w->shape.l) {
    found.wide.count = wide = found.lanes.count - w->shape.l;
    memcpy(found.wide.items, found.lanes.items, (size_t)wide * sizeof(uint64_t));
    memmove(found.lanes.items, found.lanes.items + wide, (size_t)w->shape.l * sizeof(uint64_t));
  }
  found.lanes.count = smaller_of(found.lanes.count, w->shape.l);
  return found;
}

bool plan_move_is_wide(const plan_move *m) {
  return m->padding_start == UINT64_MAX && m->live_count == 0;
}

static f2_space span_of(const warps *w, const vector_list *l) {
  return f2_span(w->pass->tile.n, l->count, l->items);
}

// Whether a phase with these directions and coordinates can have the lanes, every direction static.
static bool can_have_lanes(const warps *w, f2_space d, f2_space forms, const vector_list *wanted) {
  f2_space lines = span_of(w, wanted);
  return f2_space_sum(d, lines).dimension == d.dimension + lines.dimension &&
         f2_space_contains(f2_space_orthogonal(forms), lines) &&
         d.dimension + w->shape.l <= w->pass->tile.dimension;
}

// The phase of ops [first, end), with lanes that begin with `wanted` and registers that begin with
// d, the directions. Whatever else is chosen lies in the kernel of the ops' coordinates, as far as
// possible. What stays as it was in the phase before needs no address of its own: so lanes and
// threads are those of before where they can be, moved into the kernel along the directions. But
// where ops matter in some places only, those come first: then few warps have something to do, and
// all of each.
static plan_phase warp_phase(warps *w, uint32_t first, uint32_t end, const vector_list *d,
                             const vector_list *wanted) {
  f2_space v = w->pass->tile,
           live = live_directions(plan_live_of_ops(w->p->stage, w->pass, first, end));
  f2_space kernel = f2_space_intersection(
      f2_space_orthogonal(coordinate_forms(w->p->stage, w->pass, first, end)), v);
  f2_space few = live.dimension < live.n ? f2_space_intersection(kernel, live) : f2_space_zero(v.n);
  vector_list before = projected_into(kernel, d->count, d->items, w->last.count, w->last.items);
  vector_list alive = vectors_within(&before, live);
  const phase_row rows[] = {
      {IN_REGISTERS, d->count, d->items},       {IN_LANES, wanted->count, wanted->items},
      {IN_LANES, alive.count, alive.items},     {IN_LANES, few.dimension, few.basis},
      {IN_LANES, before.count, before.items},   {IN_LANES, kernel.dimension, kernel.basis},
      {IN_LANES, v.dimension, v.basis},         {IN_REGISTERS, kernel.dimension, kernel.basis},
      {IN_REGISTERS, v.dimension, v.basis},     {IN_THREADS, alive.count, alive.items},
      {IN_THREADS, before.count, before.items}, {IN_THREADS, kernel.dimension, kernel.basis},
      {IN_THREADS, v.dimension, v.basis}};
  plan_phase p =
      choose_phase(w->p->memory, w->pass, w->shape, first, end, sizeof rows / sizeof *rows, rows);
  w->last.count = v.dimension;
  for (int i = 0; i < v.dimension; i++)
    w->last.items[i] = p.basis[((uint32_t)i + p.r) % (uint32_t)v.dimension];
  return p;
}

// The vectors of one line of the move's array: of elements of 8 bytes 16, which are half a warp.
static vector_list vectors_of_one_line(const warps *w, const plan_move *m) {
  int bits = log2_floor(w->p->target->line_bytes / w->pass->slot_bytes[m->slot]);
  return line_vectors(w, &m->map, smaller_of(bits, w->shape.l));
}

// Lanes are those of a load or of a store: whole warps of neighbours, or else whole lines.
static void add_op_phase(warps *w, uint32_t first, uint32_t end, f2_space d) {
  vector_list wanted = {0}, lines[4] = {0}, directions = vectors_of(d);
  const plan_move *load = plan_first_load(w->pass);
  if (first == 0 && load) {
    lines[0] = line_vectors(w, &load->map, w->shape.l);
    lines[2] = vectors_of_one_line(w, load);
  }
  if (end == w->pass->op_count && w->pass->store_count) {
    lines[1] = line_vectors(w, &w->pass->stores[0].map, w->shape.l);
    lines[3] = vectors_of_one_line(w, &w->pass->stores[0]);
  }
  f2_space forms = coordinate_forms(w->p->stage, w->pass, first, end);
  for (int i = 0; i < 4 && !wanted.count; i++)
    if (can_have_lanes(w, d, forms, &lines[i]))
      wanted = lines[i];
  vec_push(w->p->memory, &w->phases, warp_phase(w, first, end, &directions, &wanted));
}

// Whether a phase has whole lines as lanes, or as lanes and registers.
static bool has_line(const warps *w, const plan_move *m, size_t from, size_t to) {
  line wide = lines_of_move(w, m);
  vector_list narrow = vectors_of_one_line(w, m);
  for (size_t i = from; i < to; i++) {
    const plan_phase *p = &w->phases.items[i];
    f2_space own = f2_span(w->pass->tile.n, (int)p->l, p->basis + p->r);
    f2_space registers = f2_span(w->pass->tile.n, (int)p->r, p->basis);
    if (f2_space_contains(own, span_of(w, &narrow)) ||
        (f2_space_contains(own, span_of(w, &wide.lanes)) &&
         f2_space_contains(registers, span_of(w, &wide.wide))))
      return true;
  }
  return false;
}

// What is not the wide vectors themselves turns over none of their address bits: every thread's
// accesses are whole.
static void align_accesses(const warps *w, plan_phase *phase, const net_map *m,
                           const vector_list *wide) {
  for (int i = wide->count; i < w->pass->tile.dimension; i++)
    for (uint32_t r = 0; r < m->row_count; r++)
      for (int k = 0; k < wide->count; k++)
        if (m->rows[r].weight == INT64_C(1) << k && f2_dot(m->rows[r].form.mask, phase->basis[i]))
          phase->basis[i] ^= wide->items[k];
}

// What the paper's kernels go through one after the other: vectors of the tile beside its lines.
static vector_list iterations_of(const warps *w) {
  vector_list found = {0};
  const plan_pass *p = w->pass;
  f2_space lines = f2_space_zero(w->pass->tile.n);
  for (uint32_t i = 0; i < p->load_count + p->store_count; i++) {
    vector_list own = line_vectors(w, &plan_move_at(p, i)->map, w->shape.l);
    lines = f2_space_sum(lines, span_of(w, &own));
  }
  f2_space rest = f2_space_complement(lines, p->tile);
  found.count = smaller_of(rest.dimension, w->shape.r);
  memcpy(found.items, rest.basis, (size_t)found.count * sizeof(uint64_t));
  return found;
}

// A phase without ops for each line that none of the phases at that end has as lanes.
static void add_move_phases(warps *w, const plan_move *moves, uint32_t count, size_t from,
                            size_t to, uint32_t at) {
  size_t added = w->phases.count;
  for (uint32_t i = 0; i < count; i++) {
    if (moves[i].direct || plan_are_few(moves[i].live_count) || has_line(w, &moves[i], from, to) ||
        has_line(w, &moves[i], added, w->phases.count))
      continue;
    line lines = lines_of_move(w, &moves[i]);
    if (w->p->strategy->plain)
      lines.wide = w->iterations;
    plan_phase phase = warp_phase(w, at, at, &lines.wide, &lines.lanes);
    if (!w->p->strategy->plain)
      align_accesses(w, &phase, &moves[i].map, &lines.wide);
    vec_push(w->p->memory, &w->phases, phase);
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

// A basis of k in which registers have coordinates of their own, before and after, as far as can
// be: then what a register adds to an address is a constant of the instruction. Of the phases' own
// vectors if possible: then each thread bit is one address bit.
static void separate_registers(f2_space k, uint32_t l, uint64_t *basis, const plan_phase *before,
                               const plan_phase *after, uint32_t d) {
  vector_list vectors[2] = {projected_into(k, (int)l, basis, (int)d, before->basis),
                            projected_into(k, (int)l, basis, (int)d, after->basis)};
  f2_space own[2][2], held = f2_space_zero(k.n);  // before, after; registers', others'
  uint32_t count = l;
  for (int i = 0; i < 2; i++) {
    uint32_t r = i ? after->r : before->r;
    own[i][0] = f2_span(k.n, (int)r, vectors[i].items);
    own[i][1] = f2_span(k.n, (int)(d - r), vectors[i].items + r);
  }
  for (int i = 0; i < 6; i++) {
    f2_space common = i < 4 ? f2_space_intersection(own[0][i / 2], own[1][i % 2]) : own[0][i - 4];
    for (int side = 0; side < 2; side++) {
      vector_list some = vectors_within(&vectors[side], common);
      take_vectors(basis, &count, d, some.count, some.items, &held);
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
  uint64_t *basis = NEW_ARRAY(w->p->memory, uint64_t, d + 1);
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
// they are loaded, and only what they make is exchanged.
static void add_reducing_phase(warps *w) {
  const plan_move *load = plan_first_load(w->pass);
  if (!load || w->p->strategy->plain)
    return;
  line lines = lines_of_move(w, load);
  f2_space wide = span_of(w, &lines.wide);
  uint32_t count = 0;
  for (; count < w->pass->op_count && count != w->p->alone; count++) {
    const net_op *op = &w->p->stage->ops.items[w->pass->ops[count]];
    bool reduces = op->k > 0;
    for (uint32_t o = 0; o < op->output_count; o++)
      reduces &= op->outputs[o].elements[(UINT64_C(1) << op->k) - 1] == NET_NONE;
    if (!reduces || !f2_space_contains(wide, op_directions(w->p->stage, w->pass, count)))
      break;
  }
  f2_space forms = coordinate_forms(w->p->stage, w->pass, 0, count);
  if (count == 0 || !can_have_lanes(w, wide, forms, &lines.lanes))
    return;
  plan_phase phase = warp_phase(w, 0, count, &lines.wide, &lines.lanes);
  align_accesses(w, &phase, &load->map, &lines.wide);
  vec_push(w->p->memory, &w->phases, phase);
}

void plan_warps(const planning *p, plan_pass *pass) {
  warps w = {.p = p, .pass = pass, .shape = phase_shape_of(p, pass)};
  const vector_list none = {.count = 0};
  exchange_kind exchanges = p->strategy->exchange;
  if (p->strategy->plain)
    w.iterations = iterations_of(&w);
  add_reducing_phase(&w);
  for (uint32_t first = w.phases.count ? w.phases.items[0].op_count : 0, end;
       first < pass->op_count; first = end) {
    f2_space d;
    end = phase_end(p, pass, first, w.shape.r, &d);
    add_op_phase(&w, first, end, d);
  }
  size_t ops = w.phases.count;
  add_move_phases(&w, pass->loads, pass->load_count, 0, ops ? 1 : 0, 0);
  size_t all = w.phases.count, last = all ? all - 1 : 0;
  plan_phase *turned = NEW_ARRAY(p->memory, plan_phase, all + 1);
  for (size_t i = 0; i < all; i++)  // loads come first
    turned[i] = w.phases.items[(i + ops) % all];
  for (size_t i = 0; i < all; i++)
    w.phases.items[i] = turned[i];
  if (exchanges != EXCHANGE_NONE)
    add_move_phases(&w, pass->stores, pass->store_count, last, all, pass->op_count);
  if (w.phases.count == 0)
    vec_push(p->memory, &w.phases, warp_phase(&w, 0, 0, &none, &none));
  for (size_t i = 1; i < w.phases.count; i++) {
    plan_phase *before = &w.phases.items[i - 1], *after = &w.phases.items[i];
    after->exchange = exchanges == EXCHANGE_RAW
                          ? raw_exchange(&w, before, after)
                          : plan_exchange(p->memory, pass->tile, before, after);
  }
  pass->phases = w.phases.items;
  pass->phase_count = (uint32_t)w.phases.count;
}
