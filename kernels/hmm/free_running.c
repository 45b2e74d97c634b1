// Free-running machines: each warp sends its next request as soon as its last one has ended, each
// memory takes the warps that wait for it in turn. See hmm/hmm.h.
#include "kernels/hmm/execution.h"

enum { NOBODY = -1 };

// Warps, as bits; a bit of `summary` says whether a word of `words` has any.
typedef struct warp_set {
  uint64_t *words, *summary;
  uint64_t word_count, summary_count, count;
} warp_set;

// A memory: who waits for it, when it can begin the next stage, and the requests on their way, in
// the order in which they end.
typedef struct port {
  warp_set waiting;
  uint64_t latency, begins;
  uint32_t turn;  // the warp that comes first, if it waits
  int64_t first, last;
  bool listed;  // among f->active
} port;

typedef struct free_run {
  hmm_execution *e;
  uint32_t port_count;
  port *ports;
  uint64_t *ends;        // by warp: when its request ends
  int64_t *behind;       // by warp: the next one on its way through the same memory
  uint64_t *arrived;     // by block: warps that have come to its barrier
  VEC(uint32_t) moving;  // warps that are between two steps
  uint32_t *active;      // memories where anybody waits or is on the way, and perhaps others
  uint32_t active_count;
  uint64_t now, alive;
} free_run;

// ---- sets of warps ---------------------------------------------------------------------------

static warp_set set_of(arena *a, uint64_t warps) {
  warp_set s = {.word_count = (warps + 63) / 64, .summary_count = (warps + 4095) / 4096};
  s.words = NEW_ARRAY(a, uint64_t, s.word_count);
  s.summary = NEW_ARRAY(a, uint64_t, s.summary_count);
  return s;
}

static void set_add(warp_set *s, uint32_t warp) {
  s->words[warp / 64] |= UINT64_C(1) << warp % 64;
  s->summary[warp / 4096] |= UINT64_C(1) << warp / 64 % 64;
  s->count++;
}

static void set_remove(warp_set *s, uint32_t warp) {
  uint64_t *word = &s->words[warp / 64];
  *word &= ~(UINT64_C(1) << warp % 64);
  if (*word == 0)
    s->summary[warp / 4096] &= ~(UINT64_C(1) << warp / 64 % 64);
  s->count--;
}

// The first member from `from` on, else the first of all. The set is not empty.
static uint32_t set_next(const warp_set *s, uint32_t from) {
  uint64_t word = from / 64;
  if (word < s->word_count && s->words[word] >> from % 64 != 0)
    return from + (uint32_t)__builtin_ctzll(s->words[word] >> from % 64);
  word++;
  for (uint64_t i = word / 64, bits; i < s->summary_count; i++) {
    bits = s->summary[i] & (i == word / 64 ? UINT64_MAX << word % 64 : UINT64_MAX);
    if (bits != 0) {
      uint64_t found = 64 * i + (uint64_t)__builtin_ctzll(bits);
      return (uint32_t)(64 * found + (uint64_t)__builtin_ctzll(s->words[found]));
    }
  }
  return set_next(s, 0);
}

// ---- warps -----------------------------------------------------------------------------------

// To the barrier of its block. All are there: they go on.
static void arrive_at_barrier(free_run *f, uint32_t warp) {
  uint64_t each = f->e->program->block_warps, block = warp / each;
  if (++f->arrived[block] < each)
    return;
  f->arrived[block] = 0;
  for (uint64_t i = 0; i < each; i++) {
    f->e->step[block * each + i]++;
    vec_push(f->e->memory, &f->moving, (uint32_t)(block * each + i));
  }
}

static void wait_for_memory(free_run *f, uint32_t number, uint32_t warp) {
  port *m = &f->ports[number];
  set_add(&m->waiting, warp);
  if (!m->listed)
    f->active[f->active_count++] = number;
  m->listed = true;
}

// The warp, and those that it sets free, to what they wait for next.
static void advance_warp(free_run *f, uint32_t warp) {
  const hmm_program *p = f->e->program;
  vec_push(f->e->memory, &f->moving, warp);
  while (f->moving.count > 0) {
    uint32_t next = f->moving.items[--f->moving.count];
    hmm_op op;
    while ((op = p->op(p->state, next, f->e->step[next])) == HMM_SKIP)
      f->e->step[next]++;
    if (op == HMM_END)
      f->alive--;
    else if (op == HMM_SYNC)
      arrive_at_barrier(f, next);
    else
      wait_for_memory(f, hmm_port(f->e, next, op), next);
  }
}

// ---- memories --------------------------------------------------------------------------------

static void finish_requests(free_run *f, port *m) {
  while (m->first != NOBODY && f->ends[m->first] <= f->now) {
    uint32_t warp = (uint32_t)m->first;
    m->first = f->behind[warp];
    f->e->step[warp]++;
    advance_warp(f, warp);
  }
}

static void send_request(free_run *f, port *m, uint32_t warp, uint32_t stages) {
  uint64_t end = f->now + stages - 1 + m->latency;
  m->begins = f->now + stages;
  f->ends[warp] = end;
  f->behind[warp] = NOBODY;
  if (m->first == NOBODY)
    m->first = warp;
  else
    f->behind[m->last] = warp;
  m->last = warp;
  if (end > f->e->counts->time)
    f->e->counts->time = end;
}

static void dispatch_warps(free_run *f, port *m) {
  const hmm_program *p = f->e->program;
  while (m->begins <= f->now && m->waiting.count > 0 && !f->e->wrong) {
    uint32_t warp = set_next(&m->waiting, m->turn);
    set_remove(&m->waiting, warp);
    m->turn = warp + 1;
    uint32_t stages = hmm_serve(f->e, warp, p->op(p->state, warp, f->e->step[warp]));
    send_request(f, m, warp, stages);
  }
}

// When something can happen next; UINT64_MAX: never. Memories at rest leave the list.
static uint64_t next_event(free_run *f) {
  uint64_t next = UINT64_MAX;
  uint32_t count = f->active_count;
  f->active_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    port *m = &f->ports[f->active[i]];
    m->listed = m->first != NOBODY || m->waiting.count > 0;
    if (m->listed)
      f->active[f->active_count++] = f->active[i];
    if (m->first != NOBODY && f->ends[m->first] < next)
      next = f->ends[m->first];
    if (m->waiting.count > 0 && m->begins < next)
      next = m->begins;
  }
  return next > f->now ? next : f->now;
}

static free_run free_run_new(hmm_execution *e) {
  const hmm_program *p = e->program;
  free_run f = {.e = e,
                .port_count = e->machine->dmms + 1,
                .ports = NEW_ARRAY(e->memory, port, e->machine->dmms + 1),
                .ends = NEW_ARRAY(e->memory, uint64_t, p->warps),
                .behind = NEW_ARRAY(e->memory, int64_t, p->warps),
                .arrived = NEW_ARRAY(e->memory, uint64_t, p->warps / p->block_warps),
                .active = NEW_ARRAY(e->memory, uint32_t, e->machine->dmms + 1),
                .alive = p->warps};
  for (uint32_t i = 0; i < f.port_count; i++)
    f.ports[i] = (port){.waiting = set_of(e->memory, p->warps),
                        .latency = hmm_latency(e->machine, i < e->machine->dmms),
                        .first = NOBODY,
                        .last = NOBODY};
  return f;
}

// When its request ends, who is behind it, and a bit of each memory's set and its summary.
double hmm_free_running_bytes(const hmm_machine *m) {
  return sizeof(uint64_t) + sizeof(int64_t) + (m->dmms + 1) * (1.0 + 1.0 / 64) / 8;
}

void hmm_run_free_running(hmm_execution *e) {
  free_run f = free_run_new(e);
  for (uint64_t warp = 0; warp < e->program->warps; warp++)
    advance_warp(&f, (uint32_t)warp);
  while (!e->wrong && (f.now = next_event(&f)) != UINT64_MAX) {
    for (uint32_t i = 0; i < f.active_count; i++)
      finish_requests(&f, &f.ports[f.active[i]]);
    for (uint32_t i = 0; i < f.active_count; i++)
      dispatch_warps(&f, &f.ports[f.active[i]]);
  }
  if (f.alive > 0 && !e->wrong)
    e->wrong = "warps wait at a barrier to which the rest of their block never comes";
}
