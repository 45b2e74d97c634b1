// One case of a benchmark: a program, a copy of as many bytes, and others, taking turns.
#include "runtime/system/memory.h"
#include "runtime/system/pool.h"
#include "tool/bench/peer.h"
#include "tool/bench/program.h"

#include <stdio.h>

typedef struct contest {
  bench_program program, reference;
  bench_copy copy;
  bench_peer peers[BENCH_PEERS];
  bench_contestant all[BENCH_SIDES];
  size_t count;
} contest;

// ---- contestants --------------------------------------------------------------------------------

static void add_contestant(contest *g, const char *name, bench_turn *turn, void *with) {
  g->all[g->count++] = (bench_contestant){.name = name, .turn = turn, .with = with};
}

static bool add_copy(contest *g, const bench_request *r) {
  bool on_device = g->program.on_device;
  if (!bench_copy_open(&g->copy, on_device ? 0 : bench_program_copied(&g->program), r->threads)) {
    cli_error("bench: out of memory for the copy to compare with");
    return false;
  }
  if (on_device && bench_program_bytes(&g->program) > 1)
    add_contestant(g, "copy", bench_device_copy_turn, &g->program);
  if (g->copy.bytes)
    add_contestant(g, "copy", bench_copy_turn, &g->copy);
  return true;
}

static bool add_reference(contest *g, const bench_case *c, const bench_request *r) {
  if (!c->beside[0])
    return true;
  bench_request other = *r;
  other.program = NULL;
  other.expression = c->beside;
  other.data.types = c->beside_types;
  other.backend = permc_compiled_backend(g->program.compiled);  // also where that was chosen
  if (!bench_program_open(&g->reference, &other))
    return false;
  add_contestant(g, "reference", bench_program_turn, &g->reference);
  return true;
}

// The first must run. Another is left out where the folder has none of that name, and where its
// first turn fails, which is then reported.
static bool add_peers(contest *g, const bench_case *c, const char *folder, unsigned threads) {
  for (int i = 0; folder && i < BENCH_PEERS; i++) {
    const bench_peer_case *peer = &c->peers[i];
    double seconds;
    if (!peer->name || (i > 0 && !bench_peer_exists(folder, peer->name)))
      continue;
    bool good = bench_peer_open(&g->peers[i], folder, peer->name, peer->arguments, threads);
    if (i > 0 && good && !bench_peer_turn(&g->peers[i], &seconds)) {
      bench_peer_close(&g->peers[i]);
      continue;
    }
    if (!good)
      return false;
    add_contestant(g, peer->name, bench_peer_turn, &g->peers[i]);
  }
  return true;
}

static void close_contest(contest *g) {
  bench_program_close(&g->program);
  bench_program_close(&g->reference);
  bench_copy_close(&g->copy);
  for (int i = 0; i < BENCH_PEERS; i++)
    bench_peer_close(&g->peers[i]);
}

// ---- the row ------------------------------------------------------------------------------------

static void scale_figures(bench_figures *f, double factor) {
  f->median *= factor;
  f->mean *= factor;
  f->least *= factor;
  f->greatest *= factor;
  f->low *= factor;
  f->high *= factor;
}

static void make_row(bench_row *row, const contest *g, const bench_case *c,
                     const bench_request *r) {
  const bench_program *p = &g->program;
  const char *strategy = r->strategy ? r->strategy : cli_value(r->args, "--strategy");
  const char *device = permc_compiled_device(p->compiled);
  uint64_t elements = bench_program_elements(p);
  *row = (bench_row){.x = c->x ? c->x : elements,
                     .elements = elements,
                     .bytes = bench_program_bytes(p),
                     .columns = c->columns,
                     .passes = p->passes,
                     .threads = r->threads,
                     .elaborate = p->times.elaborate,
                     .plan = p->times.plan,
                     .compile = p->times.compile,
                     .read = p->read_seconds,
                     .predicted = p->predicted,
                     .seconds = g->all[0].figures,
                     .side_count = g->count - 1};
  snprintf(row->suite, sizeof row->suite, "%s", c->suite);
  snprintf(row->series, sizeof row->series, "%.47s", c->series);
  snprintf(row->name, sizeof row->name, "%s", c->name);
  snprintf(row->backend, sizeof row->backend, "%s", permc_compiled_backend(p->compiled));
  snprintf(row->strategy, sizeof row->strategy, "%s", strategy ? strategy : "");
  snprintf(row->device, sizeof row->device, "%s", device ? device : "");
  snprintf(row->verified, sizeof row->verified, "%s", p->verified);
  for (size_t i = 1; i < g->count; i++) {
    bench_side *side = &row->sides[i - 1];
    snprintf(side->name, sizeof side->name, "%s", g->all[i].name);
    side->seconds = g->all[i].figures;
    side->ratio = g->all[i].ratio;
    if (g->all[i].with != &g->reference)
      continue;
    side->elements = bench_program_elements(&g->reference);
    scale_figures(&side->ratio, (double)side->elements / (double)elements);
  }
}

// ---- memory -------------------------------------------------------------------------------------

// Bytes of memory that the system can give without taking them from others; UINT64_MAX: not known.
static uint64_t available_memory(void) {
  return number_in_file("/proc/meminfo", "MemAvailable:", 10, UINT64_MAX >> 10) << 10;
}

// Checked before the memory is asked for: the system promises more than it has.
static bool check_memory(const bench_case *c) {
  const double gib = 1 << 30;
  uint64_t available = available_memory();
  if (c->bytes <= available / 2)
    return true;
  cli_error("bench: argument and result need %.1f GiB of memory, %.1f GiB are available",
            2 * (double)c->bytes / gib, (double)available / gib);
  return false;
}

// ---- the case -----------------------------------------------------------------------------------

bool bench_run_case(const bench_case *c, const bench_request *request, const char *peers,
                    const bench_limits *limits, bench_row *row) {
  contest g = {.count = 0};
  bench_request r = *request;
  bench_limits some = *limits;
  if (c->draws)
    some = (bench_limits){.least = 1, .most = c->draws, .spread = -1, .seconds = limits->seconds};
  for (int i = 0; i < BENCH_PEERS; i++)
    g.peers[i].process = -1;
  if (!r.threads)
    r.threads = pool_processors();
  bool good = check_memory(c) && bench_program_open(&g.program, &r);
  if (good) {
    add_contestant(&g, "permc", bench_program_turn, &g.program);
    good = add_copy(&g, &r) && add_reference(&g, c, &r) && add_peers(&g, c, peers, r.threads) &&
           bench_measure(g.all, g.count, &some) && bench_program_verify(&g.program, &r, c);
  }
  if (good)
    make_row(row, &g, c, &r);
  close_contest(&g);
  return good;
}
