// Counts of a Trace and a Plan, times rates, times what the machine takes. See model.h.
#include "runtime/model/model.h"

#include <math.h>

// What a pass is counted in.
typedef enum pass_unit {
  PASS_START,      // 1
  PASS_STEPS,      // nodes of ops, loads and stores, once for each tile
  PASS_MOVED,      // bytes that are loaded and stored, by tiles of neighbours
  PASS_APART,      // ... by tiles of lines
  PASS_PLACED,     // elements that only change their places
  PASS_NODES,      // bytes that nodes make
  PASS_MINIMA,     // ... minima and maxima
  PASS_ORDERED,    // ... comparators of floats, for which executors have code
  PASS_CHOICES,    // ... selects
  PASS_PRODUCTS,   // ... products of complex numbers
  PASS_CALLS,      // elements: sin and its kin, roots, C functions
  PASS_TAKEN,      // elements at places that are data, of an array in the caches
  PASS_EXCHANGED,  // bytes that go from phase to phase
  PASS_UNITS
} pass_unit;
typedef struct pass_counts {
  double of[PASS_UNITS];
  double waits;  // seconds of one thread, for elements at places that are data
  double text;   // bytes
} pass_counts;
typedef double pass_rates[PASS_UNITS];

// Seconds on a usual server (speed_usual), but for PASS_MOVED, which is in copies of as many bytes.
// Found by 20 programs of the library at 2^4 to 2^24 elements, one thread, AVX-512.
static const pass_rates compiled_rates = {
    [PASS_START] = 1e-09,      [PASS_STEPS] = 4e-09,     [PASS_MOVED] = 0.8,
    [PASS_APART] = 1.3,        [PASS_PLACED] = 1.1e-10,  [PASS_NODES] = 1.6e-12,
    [PASS_MINIMA] = 6.1e-12,   [PASS_ORDERED] = 6.5e-12, [PASS_CHOICES] = 3.5e-11,
    [PASS_PRODUCTS] = 2.7e-11, [PASS_CALLS] = 2.3e-09,   [PASS_TAKEN] = 9e-10,
    [PASS_EXCHANGED] = 2.6e-12};
static const pass_rates portable_rates = {
    [PASS_START] = 4.5e-08,    [PASS_STEPS] = 1.4e-08,  [PASS_MOVED] = 12,
    [PASS_APART] = 11,         [PASS_PLACED] = 5.1e-10, [PASS_NODES] = 3.5e-11,
    [PASS_MINIMA] = 1.7e-11,   [PASS_ORDERED] = 8e-11,  [PASS_CHOICES] = 2.7e-10,
    [PASS_PRODUCTS] = 2.7e-10, [PASS_CALLS] = 2.5e-09,  [PASS_TAKEN] = 2.5e-09};
static const struct {
  struct {
    double step, scalar_byte, copied_byte, other, placed, placed_far, root, external, comparison,
        far;
  } interp;
  struct {
    double all, step, concat;
    double joined;  // of an element that concat makes, or a permutation beside it, portable
  } planning;
  struct {
    double node, move;                             // bytes
    double byte, look;                             // seconds: to write it, to look for its code
    double compiler, headers, per_byte, per_lane;  // ... to compile it
  } text;
  struct {
    double driver, nvrtc, text_byte, copy_byte;
    double speed;  // times that of a processor
  } gpu;
  double call;            // of a program, on processors
  double share;           // to have other threads help with a pass
  double another_thread;  // of a routine
  double margin;          // by which interp has to be faster
} rates = {
    .interp = {.step = 1e-7,
               .scalar_byte = 1e-10,
               .copied_byte = 6e-11,
               .other = 3.5e-10,
               .placed = 1.2e-9,
               .placed_far = 7e-9,
               .root = 1e-7,
               .external = 2e-8,
               .comparison = 2e-8,
               .far = 1.5},
    .planning = {.all = 1e-4, .step = 4e-6, .concat = 1e-4, .joined = 4e-9},
    .text = {.node = 400,
             .move = 1500,
             .byte = 5e-8,
             .look = 5e-3,
             .compiler = 0.04,
             .headers = 0.2,
             .per_byte = 4e-6,
             .per_lane = 2e-4},
    .gpu = {.driver = 0.4, .nvrtc = 0.3, .text_byte = 3e-6, .copy_byte = 1e-10, .speed = 110},
    .call = 1.8e-7,
    .share = 3e-6,
    .another_thread = 0.45,
    .margin = 1.25};
enum {
  NEAR_BYTES = 1 << 20,
  SPLIT_BYTES = 1 << 17,
  MOST_COMPILERS = 16,
  VECTOR_BYTES = 64,
  CONFLICTS = 1 << 11,  // bytes: lines so far apart are in few sets of the first cache
  SMALL_PASS = 1 << 16
};

// How many times as long as the usual server this machine takes to compute.
static double slowness(const cost_model *m) { return m->speed.cycle / speed_usual.cycle; }

// What an element at a place that is data waits for memory, of an array of so many bytes: what it
// takes in any case is counted as other work.
static double wait_seconds(const machine_speed *s, double bytes) {
  return speed_place_seconds(s, bytes) - s->place[SPEED_NEAR];
}

// ---- the Trace ---------------------------------------------------------------------------------

// Whether neighbours go to several lines of memory, as in a bit reversal but not in a rotation.
static bool scatters(const trace_step *s) {
  enum { LINE_BITS = 4, FEW = 2 };
  uint64_t away = 0;
  if (s->op != TRACE_BMMC)
    return true;
  for (int i = LINE_BITS; i < f2_msb(s->dims[0]); i++)
    away |= s->rows[i];
  return __builtin_popcountll(away & f2_mask(LINE_BITS)) > FEW;
}

static double interp_seconds_of_step(const trace_step *s) {
  double size = (double)scalar_types[s->type].size, each = rates.interp.other;
  double elements = (double)trace_step_count(s);
  bool far = elements * size > NEAR_BYTES;
  switch (s->op) {
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
    each = rates.interp.scalar_byte * size;
    break;
  case TRACE_RESHAPE:
  case TRACE_SLICE:
  case TRACE_CONCAT:
    each = rates.interp.copied_byte * size;
    break;
  case TRACE_ROOT:
    each = rates.interp.root;
    break;
  case TRACE_EXTERN:
    each = rates.interp.external;
    break;
  case TRACE_BMMC:
  case TRACE_TRANSPOSE:
  case TRACE_GATHER:
  case TRACE_SCATTER:
    each = far && scatters(s) ? rates.interp.placed_far : rates.interp.placed;
    break;
  case TRACE_PLACES:
    each = rates.interp.comparison * log2((double)s->dims[0] + 2);
    break;
  default:
    break;
  }
  return rates.interp.step + elements * each * (far ? rates.interp.far : 1);
}

cost_model model_of_trace(const trace *t, const machine_speed *speed, unsigned threads) {
  cost_model m = {.speed = *speed,
                  .planning = rates.planning.all + rates.planning.step * (double)t->steps.count};
  double joined = 0, permuted = 0;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    m.interp += interp_seconds_of_step(s);
    if (s->op == TRACE_CONCAT) {  // its parts are passes of their own, as a rule
      m.planning += rates.planning.concat;
      joined += (double)trace_step_count(s);
    }
    if (s->op == TRACE_BMMC)
      permuted += (double)trace_step_count(s);
  }
  if (joined > 0)  // nor do permutations between them become one
    m.joins = rates.planning.joined * (joined + permuted) * slowness(&m) / threads;
  m.interp *= slowness(&m);
  m.planning *= slowness(&m);
  return m;
}

double model_least_planned(const cost_model *m) {
  return m->planning + (m->planning > m->interp / 8 ? m->joins : 0);
}

bool model_prefers_interp(const cost_model *m) {
  return m->interp * rates.margin < model_least_planned(m);
}

// ---- the Plan ----------------------------------------------------------------------------------

unsigned model_compilers(uint64_t bytes, unsigned threads) {
  unsigned most = threads < MOST_COMPILERS ? threads : MOST_COMPILERS;
  uint64_t files = bytes / SPLIT_BYTES;
  return files <= 1 ? 1 : files >= most ? most : (unsigned)files;
}

double model_compile_seconds(uint64_t bytes, bool headers, uint64_t lanes, unsigned threads) {
  return rates.text.compiler + (headers ? rates.text.headers : 0) +
         (rates.text.per_byte * (double)bytes + rates.text.per_lane * (double)lanes) /
             model_compilers(bytes, threads);
}

// Elements of a pass of what has so many live forms of its own; among them may be the pass's.
static double live_elements(const plan *p, const plan_pass *pass, uint32_t live_count) {
  uint32_t forms = live_count > pass->live_count ? live_count : pass->live_count;
  return ldexp((double)net_stage_elements(plan_stage_of(p, pass)), -(int)forms);
}

static pass_unit unit_of_node(const net_node *d) {
  enum { TABLE = 1 << 14 };  // roots
  switch (d->kind) {
  case NET_MIN:
  case NET_MAX:
    return PASS_MINIMA;
  case NET_SELECT:
    return PASS_CHOICES;
  case NET_GATHER:
  case NET_SCATTER:
  case NET_GROUP:
  case NET_FOLD:
    return PASS_TAKEN;
  case NET_EXTERN:
    return PASS_CALLS;
  case NET_SCALAR:
    if (d->scalar == OP_MUL && CLASS_OF(d->type) & CLASS_COMPLEX)
      return PASS_PRODUCTS;
    return d->scalar >= OP_SQRT && d->scalar <= OP_POW ? PASS_CALLS : PASS_NODES;
  case NET_ROOT:
    return d->number > TABLE ? PASS_PRODUCTS : PASS_NODES;
  case NET_ELEMENT:
  case NET_INDEX:
  case NET_CONSTANT:
  case NET_CONVERT:
  case NET_TURN:
    break;
  }
  return PASS_NODES;
}

static double array_bytes(const plan *p, uint64_t array) {
  const net_array *a = &p->net->arrays.items[array];
  return (double)(a->count * scalar_types[a->type].size);
}

// What passes are counted with.
typedef struct counter {
  const machine_speed *speed;
  const plan *plan;
  bool *by_data;         // by node of the op at hand: it is made of elements in memory
  double *times;         // ... how often it is evaluated for all cosets together
  const double *takers;  // count_takers
} counter;

static bool is_taken_at_turn(const net_stage *s, const net_node *node) {
  return node->kind == NET_GATHER && s->nodes.items[node->operands[0]].kind == NET_TURN;
}

// By array: how many nodes take its elements at the numbers of a turn.
static double *count_takers(arena *memory, const net *n) {
  double *takers = NEW_ARRAY(memory, double, n->arrays.count + 1);
  for (size_t i = 0; i < n->stages.count; i++) {
    const net_stage *s = &n->stages.items[i];
    for (size_t k = 0; k < s->nodes.count; k++)
      if (is_taken_at_turn(s, &s->nodes.items[k]))
        takers[s->nodes.items[k].number]++;
  }
  return takers;
}

// The numbers of a turn in all cosets: the elements that are taken at these numbers, each once by one
// of the array's takers.
static double count_numbers(const counter *c, const net_stage *s, uint32_t count, net_id turn,
                            double cosets) {
  double numbers = cosets;
  for (uint32_t i = 0; i < count; i++) {
    const net_node *d = &s->nodes.items[s->walk[i]];
    double elements =
        is_taken_at_turn(s, d) && d->operands[0] == turn
            ? (double)c->plan->net->arrays.items[d->number].count / c->takers[d->number]
            : 0;
    numbers = elements > numbers ? elements : numbers;
  }
  return numbers;
}

static void count_times(const counter *c, const net_stage *s, uint32_t count, double cosets) {
  for (uint32_t i = 0; i < count; i++) {
    const net_node *d = &s->nodes.items[s->walk[i]];
    double *own = &c->times[s->walk[i]];
    *own = d->kind == NET_TURN ? count_numbers(c, s, count, s->walk[i], cosets) : cosets;
    for (uint32_t k = 0; k < d->operand_count; k++)
      if (s->nodes.items[d->operands[k]].kind != NET_FOLD && c->times[d->operands[k]] > *own)
        *own = c->times[d->operands[k]];
  }
}

// Elements at a place that is made of indices alone are neighbours, as a rule, and so are those at the
// numbers of a turn.
static bool is_by_data(const counter *c, const net_node *node) {
  bool by_data = node->kind == NET_ELEMENT || node->kind == NET_GATHER;
  for (uint32_t i = 0; i < node->operand_count; i++)
    by_data |= c->by_data[node->operands[i]];
  return by_data && node->kind != NET_TURN;
}

// Returns how many nodes it has.
static uint32_t count_op(pass_counts *c, const counter *with, const net_stage *s, const net_op *op,
                         double cosets) {
  net_comparator of;
  uint32_t count = net_op_nodes(s, op, s->walk);
  bool orders = net_op_comparator(s, op, &of);
  count_times(with, s, count, cosets);
  for (uint32_t i = 0; i < count; i++) {
    const net_node *d = &s->nodes.items[s->walk[i]];
    double instances = with->times[s->walk[i]];
    with->by_data[s->walk[i]] = is_by_data(with, d);
    pass_unit unit = orders && d->kind == NET_SELECT ? PASS_ORDERED : unit_of_node(d);
    if (!net_node_is(d->kind, NET_IS_LEAF) && d->kind != NET_INDEX)
      c->of[unit] +=
          instances *
          (unit == PASS_CALLS || unit == PASS_TAKEN ? 1 : (double)scalar_types[d->type].size);
    if (net_node_has_array(d->kind) && with->by_data[d->operands[0]])
      c->waits += instances * wait_seconds(with->speed, array_bytes(with->plan, d->number));
  }
  return count;
}

// Elements from one line of the tile to the next; 0: they are neighbours.
static double tile_stride(const plan_pass *pass) {
  for (int i = 0; i < pass->tile.dimension; i++)
    if (pass->tile.basis[i] != f2_unit(i))
      return (double)pass->tile.basis[i];
  return 0;
}

static pass_counts count_pass(const counter *with, const plan_pass *pass) {
  const plan *p = with->plan;
  const net_stage *s = plan_stage_of(p, pass);
  uint32_t moves = pass->load_count + pass->store_count, steps = moves;
  pass_counts c = {.of = {[PASS_START] = 1}, .text = rates.text.move * moves};
  double elements = live_elements(p, pass, pass->live_count);
  double stride = tile_stride(pass);
  bool apart = stride > 0, conflicts = stride * pass->slot_bytes[0] >= CONFLICTS;
  for (uint32_t i = 0; i < moves; i++) {
    const plan_move *m = plan_move_at(pass, i);
    c.of[apart ? PASS_APART : PASS_MOVED] +=
        live_elements(p, pass, m->live_count) * pass->slot_bytes[m->slot];
  }
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    double cosets = ldexp(live_elements(p, pass, op->live_count), -(int)op->k);
    uint32_t count = count_op(&c, with, s, op, cosets);
    steps += count;
    c.text += rates.text.node * count;
  }
  c.of[PASS_STEPS] = steps * ldexp(elements, -pass->tile.dimension);
  c.of[PASS_PLACED] = pass->op_count || !conflicts ? 0 : elements;
  c.of[PASS_EXCHANGED] = (pass->phase_count - 1.0) * elements * pass->slot_bytes[0];
  return c;
}

// Passes that have one tile, or little to do, are left to one thread (runtime/cpu/cpu.c).
static unsigned threads_of_pass(const plan *p, const plan_pass *pass, unsigned threads) {
  uint32_t steps = pass->load_count + pass->op_count + pass->store_count;
  double elements = live_elements(p, pass, pass->live_count);
  double tiles = ldexp(elements, -pass->tile.dimension);
  return elements * steps < SMALL_PASS || tiles < 2 ? 1
         : tiles < threads                          ? (unsigned)tiles
                                                    : threads;
}

static double seconds_of_pass(const cost_model *m, const plan *p, const plan_pass *pass,
                              const pass_counts *c, const pass_rates *r, unsigned threads) {
  unsigned busy = threads_of_pass(p, pass, threads);
  double moved = c->of[PASS_MOVED] + c->of[PASS_APART], work = 0, copies = 0;
  for (int i = 0; i < PASS_UNITS; i++)
    *(i == PASS_MOVED || i == PASS_APART ? &copies : &work) += (*r)[i] * c->of[i];
  if (p->target->lane_bytes)
    work *= (double)VECTOR_BYTES / p->target->lane_bytes;
  return ((busy > 1 ? rates.share : 0) + work / busy) * slowness(m) + c->waits / busy +
         copies * speed_byte_seconds(&m->speed, moved, busy);
}

// As the planner has it, without the start; larger ones are shared by threads, of which each one more
// adds less than the first has done.
static double seconds_of_routine(const cost_model *m, const plan *p, const plan_pass *pass,
                                 unsigned threads) {
  const net_routine *r = plan_routine_of(p, pass);
  double seconds = pass->seconds - p->target->pass_seconds, waits = 0;
  for (uint32_t i = 1; i < r->pair_count && r->kind == NET_PERMUTE; i++)
    waits += (double)r->rows * (double)r->length *
             wait_seconds(&m->speed, array_bytes(p, r->pairs[i].to));
  double shares = (double)r->rows * (double)r->length / SMALL_PASS;
  double used = shares < threads ? shares : threads;
  return ((seconds > 0 ? seconds : 0) * slowness(m) + waits) /
         (used > 1 ? 1 + rates.another_thread * (used - 1) : 1);
}

void model_add_plan(cost_model *m, arena *memory, const plan *p, unsigned threads, bool gpu_runs) {
  double length = 0, bytes = 0;
  size_t nodes = 0;
  for (size_t i = 0; i < p->net->stages.count; i++)
    if (p->net->stages.items[i].nodes.count > nodes)
      nodes = p->net->stages.items[i].nodes.count;
  const counter with = {&m->speed, p, NEW_ARRAY(memory, bool, nodes + 1),
                        NEW_ARRAY(memory, double, nodes + 1), count_takers(memory, p->net)};
  m->passes = NEW_ARRAY(memory, model_pass, p->passes.count + 1);
  m->portable = m->compiled = rates.call * slowness(m);
  for (size_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    const net_routine *r = plan_routine_of(p, pass);
    if (r) {
      double seconds = seconds_of_routine(m, p, pass, threads);
      m->passes[i] = (model_pass){seconds, seconds};
    } else {
      pass_counts c = count_pass(&with, pass);
      m->passes[i] = (model_pass){seconds_of_pass(m, p, pass, &c, &portable_rates, threads),
                                  seconds_of_pass(m, p, pass, &c, &compiled_rates, threads)};
      length += pass->repeats ? 0 : c.text;
    }
    m->portable += m->passes[i].portable;
    m->compiled += m->passes[i].compiled;
  }
  m->bytes = length;
  m->text = (rates.text.look + rates.text.byte * length) * slowness(m);
  m->compile =
      model_compile_seconds((uint64_t)length, p->target->lane_bytes == VECTOR_BYTES, 0, threads) *
      slowness(m);
  for (size_t i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    bytes += a->role == NET_TEMPORARY ? 0 : (double)(a->count * scalar_types[a->type].size);
  }
  m->cuda_cached = m->planning + (gpu_runs ? 0 : rates.gpu.driver) + rates.gpu.copy_byte * bytes +
                   m->compiled * threads / rates.gpu.speed;
  m->cuda = m->cuda_cached + rates.gpu.nvrtc + rates.gpu.text_byte * length;
}

static double lesser(double a, double b) { return a < b ? a : b; }

bool model_prefers_gpu(const cost_model *m) {
  double uncompiled = lesser(m->portable, m->interp), later = m->text + m->compiled;
  double now = lesser(uncompiled, later + m->compile);
  later = lesser(uncompiled, later);
  return m->cuda < now + m->planning && m->cuda_cached < later + m->planning;
}
