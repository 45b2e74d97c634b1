// Counts of a Trace and a Plan, times rates. See model.h.
#include "runtime/model/model.h"

#include <math.h>

typedef struct pass_rates {
  double pass, op, move, minimum, node;
} pass_rates;

// Seconds for each of what is counted, on one processor. Measured on a server of 2024 with AVX-512
// by 30 programs of the standard library and the examples at 2^4 to 2^20 elements; most are within
// a factor of two.
static const struct {
  struct {
    double step, scalar_byte, other, root, external, comparison, far;
  } interp;
  struct {
    double all, step, concat;
  } planning;
  pass_rates portable, compiled;
  struct {
    double node, move;          // bytes
    double byte, look;          // seconds: to write it, to look for its code
    double compiler, per_byte;  // ... to compile it
  } text;
  struct {
    double driver, nvrtc, text_byte, copy_byte;
    double speed;  // times that of a processor
  } gpu;
  double noticed;
  double margin;  // by which interp has to be faster
} rates = {
    .interp = {.step = 3e-7,
               .scalar_byte = 2.5e-10,
               .other = 2e-10,
               .root = 3e-8,
               .external = 2e-8,
               .comparison = 2e-8,
               .far = 1.5},
    .planning = {.all = 1e-4, .step = 4e-6, .concat = 1e-4},
    .portable = {.pass = 3e-6, .op = 4e-6, .move = 1.2e-9, .minimum = 1.5e-10, .node = 8e-10},
    .compiled = {.pass = 3e-6, .move = 1e-9, .minimum = 6e-11, .node = 8e-11},
    .text =
        {.node = 400, .move = 1500, .byte = 5e-8, .look = 5e-3, .compiler = 0.06, .per_byte = 7e-6},
    .gpu = {.driver = 0.4, .nvrtc = 0.3, .text_byte = 3e-6, .copy_byte = 1e-10, .speed = 50},
    .noticed = 0.3,
    .margin = 1.25};
enum { NEAR_BYTES = 1 << 20, SPLIT_BYTES = 1 << 17, MOST_COMPILERS = 16 };

// ---- the Trace ---------------------------------------------------------------------------------

static double interp_seconds_of_step(const trace_step *s) {
  double size = (double)scalar_types[s->type].size, each = rates.interp.other;
  double elements = (double)trace_step_count(s);
  switch (s->op) {
  case TRACE_SCALAR:
  case TRACE_SELECT:
  case TRACE_CONVERT:
    each = rates.interp.scalar_byte * size;
    break;
  case TRACE_ROOT:
    each = rates.interp.root;
    break;
  case TRACE_EXTERN:
    each = rates.interp.external;
    break;
  case TRACE_PLACES:
    each = rates.interp.comparison * log2((double)s->dims[0] + 2);
    break;
  default:
    break;
  }
  return rates.interp.step +
         elements * each * (elements * size > NEAR_BYTES ? rates.interp.far : 1);
}

cost_model model_of_trace(const trace *t, unsigned threads) {
  cost_model m = {.planning = rates.planning.all + rates.planning.step * (double)t->steps.count};
  double joined = 0, permuted = 0;
  for (size_t i = 0; i < t->steps.count; i++) {
    const trace_step *s = &t->steps.items[i];
    if (!trace_step_keeps_order(t, s))
      m.interp += interp_seconds_of_step(s);
    if (s->op == TRACE_CONCAT) {  // its parts are passes of their own, as a rule
      m.planning += rates.planning.concat;
      joined += (double)trace_step_count(s);
    }
    if (s->op == TRACE_BMMC)
      permuted += (double)trace_step_count(s);
  }
  if (joined > 0)  // nor do permutations between them become one
    m.joins = 2 * rates.portable.move * (joined + permuted) / threads;
  return m;
}

double model_least_planned(const cost_model *m) {
  return m->planning + (m->planning > m->interp / 8 ? m->joins : 0);
}

bool model_prefers_interp(const cost_model *m) {
  return m->interp * rates.margin < model_least_planned(m);
}

bool model_is_worth_planning(const cost_model *m) {
  return m->interp >= rates.noticed && m->planning <= m->interp / 2;
}

// ---- the Plan ----------------------------------------------------------------------------------

// Moves, minima and nodes: elements, each once for a load, a store or a node of an op.
typedef struct pass_counts {
  double ops;  // loads and stores among them
  double moves, minima, nodes;
  double text;  // bytes
} pass_counts;

unsigned model_compilers(uint64_t bytes, unsigned threads) {
  unsigned most = threads < MOST_COMPILERS ? threads : MOST_COMPILERS;
  uint64_t files = bytes / SPLIT_BYTES;
  return files <= 1 ? 1 : files >= most ? most : (unsigned)files;
}

double model_compile_seconds(uint64_t bytes, unsigned threads) {
  return rates.text.compiler +
         rates.text.per_byte * (double)bytes / model_compilers(bytes, threads);
}

// Elements of a pass of what has so many live forms of its own; among them may be the pass's.
static double live_elements(const plan *p, const plan_pass *pass, uint32_t live_count) {
  uint32_t forms = live_count > pass->live_count ? live_count : pass->live_count;
  return ldexp((double)net_stage_elements(&p->net->stages.items[pass->stage]), -(int)forms);
}

// Whether the op consists of comparators, for which executors have code.
static bool is_network(const net_stage *s, uint32_t count, const net_id *nodes) {
  bool chooses = false;
  for (uint32_t i = 0; i < count; i++) {
    net_node_kind kind = s->nodes.items[nodes[i]].kind;
    if (kind != NET_ELEMENT && kind != NET_MIN && kind != NET_MAX)
      return false;
    chooses |= kind != NET_ELEMENT;
  }
  return chooses;
}

// `room`: for the numbers of all nodes of the stage.
static pass_counts count_pass(const plan *p, const plan_pass *pass, net_id *room) {
  const net_stage *s = &p->net->stages.items[pass->stage];
  uint32_t moves = pass->load_count + pass->store_count;
  pass_counts c = {.ops = pass->op_count + moves, .text = rates.text.move * moves};
  for (uint32_t i = 0; i < pass->load_count; i++)
    c.moves += live_elements(p, pass, pass->loads[i].live_count);
  for (uint32_t i = 0; i < pass->store_count; i++)
    c.moves += live_elements(p, pass, pass->stores[i].live_count);
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    double instances = ldexp(live_elements(p, pass, op->live_count), -(int)op->k);
    uint32_t count = net_op_nodes(s, op, room);
    *(is_network(s, count, room) ? &c.minima : &c.nodes) += instances * count;
    c.text += rates.text.node * count;
  }
  return c;
}

static double seconds_of_pass(const pass_counts *c, const pass_rates *r, unsigned threads) {
  double elements = r->move * c->moves + r->minimum * c->minima + r->node * c->nodes;
  return r->pass + r->op * c->ops + elements / threads;
}

void model_add_plan(cost_model *m, arena *memory, const plan *p, unsigned threads, bool gpu_runs) {
  size_t most = 0;
  double length = 0, bytes = 0, routines = 0;  // those that the host executes, in seconds
  for (size_t i = 0; i < p->net->stages.count; i++)
    most = p->net->stages.items[i].nodes.count > most ? p->net->stages.items[i].nodes.count : most;
  net_id *room = NEW_ARRAY(memory, net_id, most + 1);
  m->passes = NEW_ARRAY(memory, model_pass, p->passes.count + 1);
  m->portable = m->compiled = 0;
  for (size_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    pass_counts c = count_pass(p, pass, room);
    const net_routine *r = plan_routine_of(p, pass);
    m->passes[i] = r ? (model_pass){pass->seconds, pass->seconds}
                     : (model_pass){seconds_of_pass(&c, &rates.portable, threads),
                                    seconds_of_pass(&c, &rates.compiled, threads)};
    routines += r && !plan_routine_has_kernels(r) ? pass->seconds : 0;
    m->portable += m->passes[i].portable;
    m->compiled += m->passes[i].compiled;
    length += c.text;
  }
  m->bytes = length;
  m->text = rates.text.look + rates.text.byte * length;
  m->compile = model_compile_seconds((uint64_t)length, threads);
  for (size_t i = 0; i < p->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    bytes += a->role == NET_TEMPORARY ? 0 : (double)(a->count * scalar_types[a->type].size);
  }
  m->cuda_cached = m->planning + (gpu_runs ? 0 : rates.gpu.driver) + rates.gpu.copy_byte * bytes +
                   (m->compiled - routines) * threads / rates.gpu.speed + routines;
  m->cuda = m->cuda_cached + rates.gpu.nvrtc + rates.gpu.text_byte * length;
}

static double lesser(double a, double b) { return a < b ? a : b; }

bool model_returns_to_interp(const cost_model *m) {
  return model_prefers_interp(m) &&
         m->interp * rates.margin < lesser(m->portable, m->compile + m->compiled);
}

bool model_prefers_gpu(const cost_model *m) {
  double uncompiled = lesser(m->portable, m->interp), later = m->text + m->compiled;
  double now = lesser(uncompiled, later + m->compile);
  later = lesser(uncompiled, later);
  return m->cuda < now + m->planning && m->cuda_cached < later + m->planning;
}
