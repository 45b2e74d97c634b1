// Plans as programs of a machine. See hmm/plan.h.
#include "kernels/hmm/plan.h"

#include "kernels/hmm/pass.h"
#include "kernels/hmm/registers.h"

#include <inttypes.h>
#include <math.h>

typedef struct plan_program {
  hmm_pass of;
  uint64_t slots;  // blocks at once
  uint64_t first;  // block that is executed
  // Where words are moved:
  const hmm_arrays *arrays;
  uint32_t dmms;
  hmm_registers *registers;
  uint64_t *arrived;       // by warp: 1 + the step whose words are to be kept, or 0
  uint64_t *begun, *done;  // by warp: the phase, counted over all items, that it has begun; that
                           // it has computed
  hmm_word written[LANES];
  uint64_t scratch_words;  // of a block
} plan_program;

// ---- arrays ----------------------------------------------------------------------------------

hmm_arrays hmm_arrays_of(arena *a, const plan *p) {
  hmm_arrays m = {.place = NEW_ARRAY(a, uint64_t, p->arrays.count)};
  for (size_t i = 0; i < p->arrays.count; i++) {
    uint64_t bytes = p->arrays.items[i].count * scalar_types[p->arrays.items[i].type].size;
    m.place[i] = m.count;
    m.count += (bytes + SCRATCH_UNIT - 1) / SCRATCH_UNIT * (SCRATCH_UNIT / WORD);
  }
  m.words = NEW_ARRAY(a, hmm_word, m.count);
  return m;
}

// ---- requests --------------------------------------------------------------------------------

static uint64_t warps_of(const plan_program *p) {
  return p->of.threads > LANES ? p->of.threads / LANES : 1;
}

static pass_place place_of(const plan_program *p, uint64_t warp, uint64_t step) {
  uint64_t each = warps_of(p), slot = warp / each;
  uint64_t item = p->first + slot + step / p->of.steps.count * p->slots;
  return (pass_place){item < p->of.items ? &p->of.steps.items[step % p->of.steps.count] : NULL,
                      item, warp % each};
}

static hmm_op plan_op(void *state, uint64_t warp, uint64_t step) {
  const plan_program *p = state;
  pass_place at = place_of(p, warp, step);
  if (!at.step)
    return HMM_END;
  if (hmm_pass_skips(&p->of, at.item))
    return HMM_SKIP;
  if (!at.step->access)
    return HMM_SYNC;
  if (!at.step->access->placed && hmm_pass_has_idle(&p->of, at.step->access)) {
    uint64_t unit[LANES];
    uint32_t words, count = hmm_pass_units(&p->of, &at, unit, &words), idle = 0;
    for (uint32_t i = 0; i < count; i++)
      idle += unit[i] == HMM_IDLE;
    if (idle == count)
      return HMM_SKIP;
  }
  return at.step->access->op;
}

// Where the access's units begin, in bytes. Where blocks share a memory whose contents count, each
// has a part of it; where nothing does, all arrays may begin at 0.
static uint64_t base_of(const plan_program *p, const pass_access *a, uint64_t warp) {
  uint64_t each = warps_of(p);
  if (!p->arrays)
    return a->base;
  return hmm_is_shared(a->op) ? a->base + warp / each / p->dmms * p->scratch_words * WORD
                              : p->arrays->place[a->array] * WORD;
}

// ---- words -----------------------------------------------------------------------------------

// What the request's lanes have in their registers, to its words, or the other way round. Elements
// of less than a word share it with others: only their own bits are written.
static void copy_words(plan_program *p, const pass_place *at, uint64_t warp, const uint64_t *unit,
                       hmm_word *value) {
  const pass_access *a = at->step->access;
  uint32_t words = a->bytes > WORD ? a->bytes / WORD : 1, first = at->step->part * (LANES / words);
  uint64_t xor_all = affine_bits_at(a->register_xor, at->item, at->warp),
           base = base_of(p, a, warp);
  for (uint32_t i = 0; i < LANES / words; i++) {
    uint32_t lane = first + i, within = (uint32_t)((base + unit[i] * a->scale) % WORD);
    unsigned char *in_word = (unsigned char *)(value + i * words) + within;
    for (uint32_t e = 0; e < 1U << a->wide && unit[i] != HMM_IDLE; e++) {
      uint32_t number = a->registers[e ^ xor_all ^ a->register_xor->lane[lane]];
      if (!hmm_is_write(a->op))
        memcpy(hmm_register(p->registers, a->phase, warp, a->slot, number, lane),
               in_word + e * a->part_bytes, a->part_bytes);
      else
        memcpy(in_word + e * a->part_bytes,
               a->who == PASS_PADDING
                   ? hmm_register_padding(p->registers, a->phase, a->slot, number)
                   : hmm_register(p->registers, a->phase, warp, a->slot, number, lane),
               a->part_bytes);
    }
    for (uint32_t k = 0; k < words; k++)
      p->written[i * words + k] =
          a->bytes < WORD ? (hmm_word)f2_mask((int)(8 * a->bytes)) << 8 * within : UINT32_MAX;
  }
}

// What the warp's last read has brought goes to its registers, now that it goes on.
static void store_arrived_words(plan_program *p, uint64_t warp, hmm_word *value) {
  if (p->arrived[warp] == 0)
    return;
  pass_place last = place_of(p, warp, p->arrived[warp] - 1);
  uint64_t unit[LANES];
  uint32_t words;
  hmm_pass_units(&p->of, &last, unit, &words);
  copy_words(p, &last, warp, unit, value);
  p->arrived[warp] = 0;
}

static void compute_phase(plan_program *p, const pass_place *at, uint64_t warp, uint64_t phase) {
  if (p->done[warp] != phase)
    hmm_registers_compute(p->registers, at->step->access->phase, warp, at->item, at->warp);
  p->done[warp] = phase;
}

// A phase computes when it first has something to write. (Threads that hold nothing but padding
// write constants, before the others have read.)
static void execute_words(plan_program *p, const pass_place *at, uint64_t warp, uint64_t step,
                          const uint64_t *unit, hmm_word *value) {
  const pass_access *a = at->step->access;
  uint64_t count = p->of.pass.schedule.phase_count,
           phase = step / p->of.steps.count * count + a->phase + 1;
  store_arrived_words(p, warp, value);
  if (p->begun[warp] != phase)
    hmm_registers_begin(p->registers, a->phase, warp);
  p->begun[warp] = phase;
  if (!hmm_is_write(a->op)) {
    p->arrived[warp] = step + 1;
    return;
  }
  if (a->who != PASS_PADDING)
    compute_phase(p, at, warp, phase);
  copy_words(p, at, warp, unit, value);
}

// A gather or scatter, which has been done when the phase was computed: what is left are its
// requests. A warp of which no lane asks for anything asks for one word. Where there are no words,
// nobody knows the places: each lane asks for a group of its own.
static void placed_lanes(plan_program *p, const pass_place *at, uint64_t warp, uint64_t step,
                         uint64_t *address, hmm_word *value) {
  const pass_access *a = at->step->access;
  uint32_t words = a->bytes > WORD ? a->bytes / WORD : 1, count = LANES / words;
  uint64_t base = base_of(p, a, warp), any = 0;
  const uint64_t *places = NULL;
  if (p->arrays) {
    uint64_t phase = step / p->of.steps.count * p->of.pass.schedule.phase_count + a->phase + 1;
    store_arrived_words(p, warp, value);
    if (p->begun[warp] != phase)
      hmm_registers_begin(p->registers, a->phase, warp);
    p->begun[warp] = phase;
    compute_phase(p, at, warp, phase);
    places = hmm_registers_places(p->registers, warp, a->placed_number);
    memset(p->written, 0, sizeof p->written);
  }
  for (uint32_t i = 0; i < LANES; i++) {
    uint32_t lane = at->step->part * count + i / words;
    uint64_t place = places ? places[lane] : (uint64_t)lane * LANES;
    address[i] = place == HMM_IDLE ? HMM_IDLE : (base + place * a->scale) / WORD + i % words;
    any += place != HMM_IDLE;
  }
  if (!any)
    address[0] = base / WORD;
}

static void plan_lanes(void *state, uint64_t warp, uint64_t step, uint64_t *address,
                       hmm_word *value) {
  plan_program *p = state;
  pass_place at = place_of(p, warp, step);
  const pass_access *a = at.step->access;
  if (a->placed) {
    placed_lanes(p, &at, warp, step, address, value);
    return;
  }
  uint64_t unit[LANES], base = base_of(p, a, warp);
  uint32_t words, count = hmm_pass_units(&p->of, &at, unit, &words);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < words; k++)
      address[i * words + k] =
          unit[i] == HMM_IDLE ? HMM_IDLE : (base + unit[i] * a->scale) / WORD + k;
  if (p->arrays)
    execute_words(p, &at, warp, step, unit, value);
}

// ---- all -------------------------------------------------------------------------------------

static const char *plan_problem(arena *a, const hmm_machine *m, const plan *p,
                                const plan_pass *pass) {
  if (m->kind != HMM_KIND_HMM)
    return arena_printf(a, "a plan needs an hmm (permc machine hmm): a %s has one memory only",
                        hmm_kind_names[m->kind]);
  if (p->target->lane_bytes != 0)
    return arena_printf(a, "the plan is for the target %s, whose lanes are no threads",
                        p->target->name);
  if (m->width != HMM_PLAN_WIDTH)
    return arena_printf(a, "the warps of a plan have %d lanes: w = %u will not do", HMM_PLAN_WIDTH,
                        m->width);
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    const plan_move *move =
        i < pass->load_count ? &pass->loads[i] : &pass->stores[i - pass->load_count];
    if (!c_map_fits(&move->map) || move->live_count > C_ROWS)
      return "an address of the plan is a sum of too many terms";
  }
  return NULL;
}

static uint64_t scratch_words_of(const hmm_pass *p) {
  uint64_t bytes = p->pass.schedule.scratch_bytes;
  return (bytes + SCRATCH_UNIT - 1) / SCRATCH_UNIT * (SCRATCH_UNIT / WORD);
}

// Contents of all memories, and of the threads' registers.
static void add_words(plan_program *p, const hmm_arrays *arrays, hmm_program *program) {
  arena *a = p->of.memory;
  p->arrays = arrays;
  p->scratch_words = scratch_words_of(&p->of);
  p->registers = hmm_registers_new(a, &p->of.pass, arrays, program->warps);
  p->arrived = NEW_ARRAY(a, uint64_t, program->warps);
  p->begun = NEW_ARRAY(a, uint64_t, program->warps);
  p->done = NEW_ARRAY(a, uint64_t, program->warps);
  program->value = NEW_ARRAY(a, hmm_word, program->warps * LANES);
  program->written = p->written;
  program->interrupted = arrays->interrupted;
  program->global = arrays->words;
  program->global_words = arrays->count;
  program->shared_words = (p->slots + p->dmms - 1) / p->dmms * p->scratch_words;
  program->shared = NEW_ARRAY(a, hmm_word, program->shared_words * p->dmms + 1);
}

static hmm_program program_of(plan_program *p) {
  return (hmm_program){.warps = p->slots * warps_of(p),
                       .block_warps = warps_of(p),
                       .state = p,
                       .op = plan_op,
                       .lanes = plan_lanes,
                       .global_words = UINT64_MAX,
                       .shared_words = UINT64_MAX};
}

// NULL: *out can run, of the blocks that follow each other one.
static const char *open_program(arena *a, const hmm_machine *m, const plan *of, uint32_t number,
                                const c_options *options, plan_program **out) {
  plan_program *p = *out = NEW(a, plan_program);
  const char *problem = plan_problem(a, m, of, &of->passes.items[number]);
  *p = (plan_program){.dmms = 1};
  return problem ? problem : hmm_pass_open(a, of, number, options, &p->of);
}

// As many blocks at once as the machine's threads allow.
static const char *set_blocks_at_once(arena *a, const hmm_machine *m, plan_program *p,
                                      uint32_t number) {
  uint64_t block = warps_of(p) * LANES;
  if (m->threads % LANES != 0)
    return arena_printf(a, "the threads are whole warps: p = %" PRIu64 " is no multiple of w = %d",
                        m->threads, LANES);
  if (m->threads != 0 && m->threads < block)
    return arena_printf(
        a, "the blocks of pass %u have %" PRIu64 " threads: p = %" PRIu64 " is not enough for one",
        number + 1, block, m->threads);
  p->dmms = m->dmms;
  p->slots = m->threads && m->threads / block < p->of.items ? m->threads / block : p->of.items;
  return NULL;
}

// What add_words takes for all blocks that are executed at once.
static double bytes_of_words(const hmm_machine *m, const plan_program *p, double warps) {
  double slots = (double)((p->slots + m->dmms - 1) / m->dmms) * m->dmms;
  double each =
      LANES * sizeof(hmm_word) + 3 * sizeof(uint64_t) + (double)hmm_registers_bytes(&p->of.pass);
  return slots * (double)scratch_words_of(&p->of) * WORD + warps * each;
}

const char *hmm_plan_estimate(arena *a, const hmm_machine *m, const plan *of,
                              const c_options *options, hmm_estimate *out) {
  double most = 0;
  *out = (hmm_estimate){0};
  for (uint32_t i = 0; i < of->passes.count; i++) {
    plan_program *p;
    if (plan_routine_of(of, &of->passes.items[i]))
      continue;
    const char *problem = open_program(a, m, of, i, options, &p);
    if (!problem)
      problem = set_blocks_at_once(a, m, p, i);
    if (problem)
      return problem;
    double accesses = 0, warps = (double)p->slots * (double)warps_of(p);
    double times = (double)((p->of.items + p->slots - 1) / p->slots);
    for (size_t k = 0; k < p->of.steps.count; k++)
      accesses += p->of.steps.items[k].access != NULL;
    double bytes = hmm_run_bytes(m, warps, (double)warps_of(p), times * (double)p->of.steps.count);
    out->requests += accesses * LANES * (double)warps_of(p) * (double)p->of.items;
    out->bytes += bytes;
    most = fmax(most, bytes + bytes_of_words(m, p, warps));
  }
  for (size_t i = 0; i < of->arrays.count; i++)
    most += (double)of->arrays.items[i].count * (double)scalar_types[of->arrays.items[i].type].size;
  out->with_words = most;
  return NULL;
}

// A routine by digits of its keys: for each, all that it reads is read in order, and all that it
// writes written anywhere: n/w + l and n + l time units (HMM paper, section 3). A transpose writes
// whole lines.
static void count_routine(arena *a, const hmm_machine *m, const plan *of, const plan_pass *pass,
                          hmm_counts *out) {
  uint64_t digits = plan_routine_digits(of, plan_routine_of(of, pass));
  bool scatters = plan_routine_of(of, pass)->kind != NET_TRANSPOSE;
  *out = (hmm_counts){.width = m->width};
  for (int i = 0; i < 2; i++)
    out->histogram[i] = NEW_ARRAY(a, uint64_t, m->width + 1);
  for (uint32_t i = 0; i < pass->access_count; i++) {
    const plan_access *x = &pass->accesses[i];
    uint64_t n = of->arrays.items[x->array].count, warps = (n + m->width - 1) / m->width;
    bool casual = x->writes && scatters;
    int op = x->writes ? HMM_WRITE_GLOBAL : HMM_READ_GLOBAL;
    out->requests += digits * n;
    out->rounds[op] += digits;
    out->casual[op] += casual ? digits : 0;
    out->accesses[op] += digits * warps;
    out->stages[op] += digits * (casual ? n : warps);
    out->time += digits * ((casual ? n : warps) + m->latency);
    out->histogram[0][casual ? m->width : 1] += digits * warps;
  }
}

const char *hmm_plan_run(arena *a, const hmm_machine *m, const plan *of, uint32_t number,
                         const c_options *options, const hmm_arrays *arrays, hmm_counts *out) {
  plan_program *p;
  if (plan_routine_of(of, &of->passes.items[number])) {
    count_routine(a, m, of, &of->passes.items[number], out);
    return NULL;
  }
  const char *problem = open_program(a, m, of, number, options, &p);
  if (!problem && arrays)
    problem = hmm_registers_problem(of, number);
  if (!problem)
    problem = set_blocks_at_once(a, m, p, number);
  if (problem)
    return problem;
  hmm_program program = program_of(p);
  hmm_machine own = *m;
  own.threads = program.warps * LANES;
  if (arrays)
    add_words(p, arrays, &program);
  return hmm_run(a, &own, &program, out);
}

const char *hmm_plan_block(arena *a, const plan *of, uint32_t number, const c_options *options,
                           hmm_program *out, uint64_t *times) {
  static const hmm_machine like = {HMM_KIND_HMM, 1, HMM_PLAN_WIDTH, 1, 1, 0, true};
  plan_program *p;
  const char *problem = open_program(a, &like, of, number, options, &p);
  if (problem)
    return problem;
  *times = hmm_pass_working(&p->of, &p->first);
  p->of.items = p->first + 1;
  p->slots = 1;
  *out = program_of(p);
  return NULL;
}

const hmm_machine hmm_plan_default = {HMM_KIND_HMM, 1, HMM_PLAN_WIDTH, 100, 1, 0, false};

const char *hmm_plan_problem(arena *a, const plan *of, uint32_t number, const c_options *options) {
  plan_program *p;
  if (plan_routine_of(of, &of->passes.items[number]))
    return NULL;
  const char *problem = open_program(a, &hmm_plan_default, of, number, options, &p);
  return problem ? problem : hmm_registers_problem(of, number);
}
