// Phases of a pass: which ops run in registers together, and who holds what. See plan.h.
//
// The parts of V = R + L + T are chosen by rows. Each row offers vectors to one part, which takes
// those that no part has yet, until it has its most:
//
//   n = 4, V = F_2^4, at most 2 registers and 1 lane; direction 0011, home lanes 0001
//
//     registers  0011       R = <0011>
//     lanes      0001       L = <0001>
//     registers  0001       held already
//     registers  0100 1000  R = <0011 0100>
//     threads    0100 1000  T = <1000>
//
// Where lanes are those of vectors, fast memory keeps one layout during the whole pass: its lines
// are the HOME lanes H, those of the pass's first load. A phase whose directions D avoid H takes its
// lanes along H. Otherwise lanes are the projections of H along D to the threads' side, and W = R +
// L, which a thread holds, contains H: whole lines are loaded, and change places in registers.
// Where lanes are threads: warps.c.
#include "fusion/plan/planning.h"

// ---- of both kinds of lanes --------------------------------------------------------------------

// The longest chain of nodes of an op, each of which needs the one before it.
static uint32_t longest_chain(const planning *p, const net_op *op) {
  uint32_t count = net_op_nodes(p->stage, op, p->stage->walk), longest = 1;
  for (uint32_t i = 0; i < count; i++) {  // operands precede their node
    const net_node *node = &p->stage->nodes.items[p->stage->walk[i]];
    uint32_t depth = 0;
    for (uint32_t k = 0; k < node->operand_count; k++)
      if (p->depth[node->operands[k]] > depth)
        depth = p->depth[node->operands[k]];
    p->depth[p->stage->walk[i]] = ++depth;
    longest = depth > longest ? depth : longest;
  }
  return longest;
}

// At most 2^r elements, so few that the C compiler has the statements of all of them in a fraction of
// a second; where lanes are vectors, no more than keep the processor busy while chains of nodes wait
// for themselves.
static int with_fewer_statements(const planning *p, const net_op *op, int r) {
  enum { MOST = 1 << 13, MOST_AT_ONCE = 1 << 9, BUSY = 24 };
  uint64_t nodes = net_op_nodes(p->stage, op, p->stage->walk), most = MOST;
  int k = (int)op->k;
  if (p->target->lane_bytes && r > k && nodes << (r - k) > MOST_AT_ONCE) {
    uint64_t busy = BUSY * (uint64_t)longest_chain(p, op);
    most = busy < MOST_AT_ONCE ? MOST_AT_ONCE : busy < MOST ? busy : MOST;
  }
  while (r > k && nodes << (r - k) > most)
    r--;
  return r;
}

// By slot, the bytes of an element in a register. What is computed of complex numbers is computed of
// their parts, in a vector each.
static const uint32_t *slot_widths(const planning *p, const plan_pass *pass) {
  if (!p->target->lane_bytes || pass->op_count == 0)
    return pass->slot_bytes;
  uint32_t *width = NEW_ARRAY(p->memory, uint32_t, pass->slot_count + 1);
  for (net_id v = 0; v < p->stage->values.count; v++)
    if (pass->slot_of[v] != NET_NONE) {
      uint32_t bytes = scalar_part_bytes(p->stage->values.items[v]),
               *own = &width[pass->slot_of[v]];
      *own = bytes > *own ? bytes : *own;
    }
  return width;
}

// log2 of the elements of every slot that a thread has registers for: single ones, or vectors of
// 2^l.
static int register_bits(const planning *p, const plan_pass *pass, int l, uint32_t widest,
                         const uint32_t *slot_width) {
  enum { USUAL = 8 };  // bytes of an element: a GPU's thread computes as many of wider ones
  const target *t = p->target;
  uint32_t width = t->lane_bytes ? t->lane_bytes : 4, count = 0;
  uint32_t lanes = t->lane_bytes ? 1u << l : 1;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    if (!plan_slot_is_direct(p->stage, pass, i))
      count += (lanes * slot_width[i] + width - 1) / width;
  bool wide = !t->lane_bytes && widest > USUAL && pass->op_count;  // moves: more threads instead
  uint32_t bytes = wide ? t->register_bytes / USUAL * widest : t->register_bytes;
  int r = log2_floor(bytes / width / (count ? count : 1));
  for (uint32_t i = 0; i < pass->op_count; i++)
    r = with_fewer_statements(p, &p->stage->ops.items[pass->ops[i]], r);
  return r;
}

// How many phases the pass's ops have, where a thread holds 2^r elements.
static uint32_t phases_with_registers(const planning *p, const plan_pass *pass, int r) {
  uint32_t count = 0;
  f2_space d;
  for (uint32_t end = 0; end < pass->op_count; count++)
    end = phase_end(p, pass, end, r, &d);
  return count;
}

// Registers of a thread for one element.
static uint64_t words_of(uint64_t bytes) { return (bytes + 3) / 4; }

static uint64_t words_of_slots(const plan_pass *pass) {
  uint64_t words = 0;
  for (uint32_t i = 0; i < pass->slot_count; i++)
    words += words_of(pass->slot_bytes[i]);
  return words;
}

// Twice the registers, where a tile leaves room for few blocks, which would hide each other's
// exchanges, and where of few phases one is saved by that: rows of 2^13 c64 on an H200 81.9 us, not
// 84.7. (Of many phases that is long code: sorts of rows of 2^14 u32 261 us, not 168.)
static int with_fewer_phases(const planning *p, const plan_pass *pass, int r) {
  enum { LARGE_TILE = 1 << 16, MOST_WORDS = 64, FEW = 4 };
  uint64_t bytes = 0;
  uint32_t phases = phases_with_registers(p, pass, r);
  for (uint32_t i = 0; i < pass->slot_count; i++)
    bytes += (uint64_t)pass->slot_bytes[i] << pass->tile.dimension;
  bool may = bytes >= LARGE_TILE && words_of_slots(pass) << (r + 1) <= MOST_WORDS && phases <= FEW;
  return may && phases_with_registers(p, pass, r + 1) < phases ? r + 1 : r;
}

// Twice the registers, too, where a tile has many threads that compute little: a few words for each
// element and op, and not much in all. Rows on an H200: fwht of 2^15 f32 144 us, not 154, of 2^14
// f16 94 us, not 106; quantised in blocks, f32 to i8, 139 us, not 166.
static int with_fewer_threads(const planning *p, const plan_pass *pass, int r) {
  enum { MANY_BITS = 9, MOST_WORDS = 64, FEW = 3, FEW_IN_ALL = 1 << 11 };
  uint64_t computed = 0;
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &p->stage->ops.items[pass->ops[i]];
    uint64_t words = 0;
    for (uint32_t n = net_op_nodes(p->stage, op, p->stage->walk); n-- > 0;)
      words += words_of(scalar_types[p->stage->nodes.items[p->stage->walk[n]].type].size);
    computed += words << (r + 1 - smaller_of((int)op->k, r + 1));
  }
  bool many = pass->op_count > 0 && pass->tile.dimension - r >= MANY_BITS;
  bool may = words_of_slots(pass) << (r + 1) <= MOST_WORDS && computed <= FEW_IN_ALL &&
             computed <= (uint64_t)FEW * pass->op_count << (r + 1);
  return many && may ? r + 1 : r;
}

// Bytes of the widest elements that the pass has, or computes with often: compilers take vectors of
// twice a register apart, conversions and comparisons lane by lane. Halves are computed as singles;
// an index that is compared, or chooses a root, is as narrow as all else (kernels/ops/).
static uint32_t widest_computed(const planning *p, const plan_pass *pass, uint32_t widest) {
  enum { MOST = 8, OFTEN = 16 };  // bytes of a real element; one of so many nodes
  uint32_t of_bytes[MOST + 1] = {0}, all = 0, wider = 0;
  const net_node *nodes = p->stage->nodes.items;
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &p->stage->ops.items[pass->ops[i]];
    uint32_t count = net_op_nodes(p->stage, op, p->stage->walk);
    for (uint32_t n = 0; n < count; n++, all++) {
      const net_node *node = &nodes[p->stage->walk[n]];
      bool narrow = node->kind == NET_ROOT ||
                    (node->kind == NET_SCALAR && scalar_ops[node->scalar].result == RESULT_BOOL);
      if (node->type == SCALAR_F16)
        of_bytes[sizeof(float)]++;
      else if (node->kind != NET_INDEX && node->kind != NET_CONSTANT &&
               !net_masks_index(p->stage, node))
        of_bytes[scalar_part_bytes(node->type)]++;
      narrow |= net_masks_index(p->stage, node);
      for (uint32_t k = 0; k < node->operand_count && !narrow; k++)
        of_bytes[sizeof(int64_t)] += nodes[node->operands[k]].kind == NET_INDEX;
    }
  }
  for (uint32_t bytes = MOST; bytes > widest; bytes /= 2) {
    wider += of_bytes[bytes];
    if (wider > 0 && wider >= all / OFTEN)
      return bytes;
  }
  return widest;
}

static bool has_folds(const planning *p, const plan_pass *pass) {
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &p->stage->ops.items[pass->ops[i]];
    for (uint32_t n = net_op_nodes(p->stage, op, p->stage->walk); n-- > 0;)
      if (p->stage->nodes.items[p->stage->walk[n]].kind == NET_FOLD)
        return true;
  }
  return false;
}

// Whether each load and store of the pass has neighbours in memory side by side in the tile.
static bool moves_lines(const planning *p, const plan_pass *pass) {
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    f2_space pairs = line_space(&plan_move_at(pass, i)->map, p->stage->n, 2);
    if (!f2_space_intersection(pairs, pass->tile).dimension)
      return false;
  }
  return true;
}

// Lanes first: they are there anyhow; then as many registers as the tile has use for, at least as
// wide ops need. What only moves lines takes one in each register, and then has a line of the other
// side in each: squares of elements, however narrow, turn in registers. Where a fold is a loop for
// each element, there is one element at a time.
phase_shape phase_shape_of(const planning *p, const plan_pass *pass) {
  const target *t = p->target;
  uint32_t widest = 1;
  int k = 0, d = pass->tile.dimension, registers = p->strategy->registers;
  const uint32_t *slot_width = slot_widths(p, pass);
  for (uint32_t i = 0; i < pass->slot_count; i++)
    widest = slot_width[i] > widest ? slot_width[i] : widest;
  for (uint32_t i = 0; i < pass->op_count; i++) {
    int own = (int)p->stage->ops.items[pass->ops[i]].k;
    k = own > k ? own : k;
  }
  if (t->lane_bytes && has_folds(p, pass))
    return (phase_shape){smaller_of(k, d), 0};
  widest = t->lane_bytes ? widest_computed(p, pass, widest) : widest;
  int lanes = t->lane_bytes ? log2_floor(t->lane_bytes / widest) : F2_MAX;
  int l = smaller_of(smaller_of((int)t->lane_bits, lanes), d - smaller_of(k, d));
  int r =
      t->lane_bytes || registers < 0 ? register_bits(p, pass, l, widest, slot_width) : registers;
  if (!t->lane_bytes && registers < 0)
    r = with_fewer_threads(p, pass, with_fewer_phases(p, pass, r));
  if (t->lane_bytes && pass->op_count == 0 && r < l && moves_lines(p, pass))
    r = l;
  r = smaller_of(r > k ? r : k, d - l);
  if (!t->lane_bytes && d - r > PLAN_THREAD_BITS)
    r = d - PLAN_THREAD_BITS;
  return (phase_shape){r, l};
}

uint32_t phase_end(const planning *p, const plan_pass *pass, uint32_t first, int r, f2_space *d) {
  uint32_t end = first;
  *d = f2_space_zero(p->stage->n);
  for (; end < pass->op_count; end++) {
    f2_space wider = f2_space_sum(*d, op_directions(p->stage, pass, end));
    if (end > first && (wider.dimension > r || end == p->alone || end - 1 == p->alone))
      break;
    *d = wider;
  }
  return end;
}

plan_phase choose_phase(arena *a, const plan_pass *pass, phase_shape shape, uint32_t first,
                        uint32_t end, uint32_t row_count, const phase_row *rows) {
  f2_space held = f2_space_zero(pass->tile.n);
  uint64_t vectors[PHASE_PARTS][F2_MAX];
  uint32_t count[PHASE_PARTS] = {0}, most[] = {(uint32_t)shape.r, (uint32_t)shape.l, F2_MAX};
  for (uint32_t i = 0; i < row_count; i++)
    take_vectors(vectors[rows[i].part], &count[rows[i].part], most[rows[i].part], rows[i].count,
                 rows[i].vectors, &held);
  assert(f2_space_equal(held, pass->tile));
  plan_phase phase = {first,
                      end - first,
                      count[IN_REGISTERS],
                      count[IN_LANES],
                      NEW_ARRAY(a, uint64_t, held.dimension + 1),
                      NULL};
  for (uint32_t part = 0, all = 0; part < PHASE_PARTS; all += count[part++])
    memcpy(phase.basis + all, vectors[part], count[part] * sizeof *phase.basis);
  return phase;
}

// ---- lanes of vectors --------------------------------------------------------------------------

// The lines of 2^l elements of a move, as far as the tile has them.
static f2_space move_lines(const planning *p, const plan_pass *pass, const plan_move *m, int l) {
  return f2_space_intersection(line_space(&m->map, p->stage->n, 1u << l), pass->tile);
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

// The phase of ops [first, end), whose directions span d. It takes its lanes along `home`, and holds
// the lines `also`, too. Where ops matter in some places only, lanes and registers are of those
// places, and threads of them come first: the others have nothing to do.
static plan_phase vector_phase(const planning *p, const plan_pass *pass, uint32_t first,
                               uint32_t end, f2_space d, phase_shape shape, f2_space home,
                               f2_space also) {
  f2_space k = static_complement(p->stage, pass, first, end, d);
  f2_space live = live_directions(plan_live_of_ops(p->stage, pass, first, end)), alive = k;
  if (live.dimension < live.n)
    alive = f2_space_intersection(k, live);
  vector_list lines = vectors_of(home);
  for (int i = 0; i < also.dimension; i++)
    lines.items[lines.count++] = also.basis[i];
  lines = projected_into(k, d.dimension, d.basis, lines.count, lines.items);
  lines = vectors_within(&lines, live);
  const phase_row rows[] = {{IN_REGISTERS, d.dimension, d.basis},
                            {IN_LANES, lines.count, lines.items},
                            {IN_REGISTERS, lines.count, lines.items},
                            {IN_LANES, alive.dimension, alive.basis},
                            {IN_REGISTERS, alive.dimension, alive.basis},
                            {IN_THREADS, alive.dimension, alive.basis},
                            {IN_THREADS, k.dimension, k.basis}};
  return choose_phase(p->memory, pass, shape, first, end, sizeof rows / sizeof *rows, rows);
}

static bool holds_lines(const plan_phase *phase, f2_space lines) {
  return f2_space_contains(f2_span(lines.n, (int)(phase->r + phase->l), phase->basis), lines);
}

void plan_phases(const planning *p, plan_pass *pass) {
  phase_shape shape = phase_shape_of(p, pass);
  f2_space tile = pass->tile, none = f2_space_zero(tile.n), home = none, stored = none;
  if (plan_first_load(pass))
    home = move_lines(p, pass, plan_first_load(pass), shape.l);
  for (int i = 0; i < tile.dimension && home.dimension < shape.l; i++)
    f2_space_insert(&home, tile.basis[i]);
  if (pass->store_count)
    stored = move_lines(p, pass, &pass->stores[0], shape.l);
  VEC(plan_phase) phases = {0};
  uint32_t end = 0;
  do {
    f2_space d;
    uint32_t first = end;
    end = phase_end(p, pass, first, shape.r, &d);
    f2_space also = end == pass->op_count ? stored : none;
    vec_push(p->memory, &phases, vector_phase(p, pass, first, end, d, shape, home, also));
  } while (end < pass->op_count);
  // Lines that the last phase does not hold whole get a phase of their own.
  if (!holds_lines(&phases.items[phases.count - 1], stored) && pass->op_count) {
    plan_phase last =
        vector_phase(p, pass, pass->op_count, pass->op_count, none, shape, home, stored);
    if (holds_lines(&last, stored))
      vec_push(p->memory, &phases, last);
  }
  f2_space rest = f2_space_complement(home, tile);
  for (size_t i = 1; i < phases.count; i++) {
    uint64_t *exchange = phases.items[i].exchange = NEW_ARRAY(p->memory, uint64_t, tile.dimension);
    memcpy(exchange, home.basis, (size_t)home.dimension * sizeof *exchange);
    memcpy(exchange + home.dimension, rest.basis, (size_t)rest.dimension * sizeof *exchange);
  }
  pass->phases = phases.items;
  pass->phase_count = (uint32_t)phases.count;
}
