// How passes are launched, and recorded.
#include "runtime/cuda/device.h"
#include "runtime/gpu/state.h"

// The items first ... last - 1 of a pass that is no routine.
static bool launch_items(const cuda_program *g, unsigned number, uint32_t pass, uint64_t first,
                         uint64_t last, const cuda_address *arrays) {
  const program_part *part = &g->parts[number];
  const launch_place at = {.arrays = arrays,
                           .block = part->imports,
                           .cleared = true,
                           .alone = g->peers != NULL,
                           .first = first,
                           .last = last};
  return first >= last ||
         table_launch(&g->tables[OF_ALL], &part->code[OF_ALL], part->device, pass, &at);
}

static uint64_t items_of(const cuda_program *g, uint32_t pass) {
  const launch_table *t = &g->tables[OF_ALL];
  return t->passes[pass].count ? t->launches.items[t->passes[pass].first].blocks : 0;
}

bool program_launch(const cuda_program *g, cuda_device *d, uint32_t number,
                    const cuda_address *arrays, cuda_address temporaries, bool cleared) {
  const program_part *part = &g->parts[0];
  const launch_place at = {.arrays = arrays,
                           .temporaries = temporaries,
                           .block = part->imports,
                           .cleared = cleared,
                           .alone = g->peers &&
                                    !plan_routine_of(g->plan, &g->plan->passes.items[number])};
  return table_launch(&g->tables[OF_ALL], &part->code[OF_ALL], d, number, &at);
}

// ---- for ranks ----------------------------------------------------------------------------------

bool cuda_program_items(const cuda_program *g, unsigned rank, uint32_t pass, uint64_t first,
                        uint64_t last, const cuda_address *addresses) {
  uint64_t items = items_of(g, pass);
  return launch_items(g, rank, pass, first, last < items ? last : items, addresses);
}

bool cuda_program_routine(cuda_program *g, unsigned rank, uint32_t pass, bool all, uint32_t part,
                          const cuda_address *addresses, bool *done, error *failure) {
  int which = all ? OF_ALL : OF_PART;
  const launch_table *t = &g->tables[which];
  program_part *own = &g->parts[rank];
  launch_place at = {.arrays = addresses, .part = part};
  uint64_t bytes = t->passes[pass].bytes;
  *done = t->passes[pass].count > 0;
  if (!*done)
    return true;
  if (!table_code_load(&own->code[which], own->device, t, pass, NULL, &g->source, failure))
    return cuda_fail(own->device, failure);
  bool good = (!bytes || cuda_stream_memory_new(own->device, bytes, &at.temporaries)) &&
              table_launch(t, &own->code[which], own->device, pass, &at);
  if (at.temporaries)
    good = cuda_stream_memory_free(own->device, at.temporaries) && good;
  return good || cuda_fail(own->device, failure);
}

// ---- runs, by all devices -----------------------------------------------------------------------

// All devices see what all have been given before.
static bool meet(const cuda_program *g) {
  return g->barrier ? gpu_barrier_launch(g->barrier)
                    : cuda_peers_join(g->peers) && cuda_peers_fork(g->peers);
}

// A turn of a pass, of `turns`: each device executes the items of its part.
static bool launch_parts(const cuda_program *g, uint32_t number, uint32_t turn, uint32_t turns) {
  uint64_t items = items_of(g, number), parts = g->part_count * (uint64_t)turns;
  bool good = true;
  for (unsigned i = 0; i < g->part_count && good; i++) {
    uint64_t part = i * (uint64_t)turns + turn;
    good = launch_items(g, i, number, items * part / parts, items * (part + 1) / parts, g->own) ||
           cuda_peers_refuse(g->peers, i);
  }
  return good;
}

// A turn of one of two passes that overlap, on its side.
static bool launch_on_side(const cuda_program *g, uint32_t number, uint32_t turn, uint32_t turns,
                           bool behind_barrier) {
  bool links = g->plan->passes.items[number].waits_for_links;
  cuda_peers_use_side(g->peers, links ? CUDA_LINK_SIDE : CUDA_MEMORY_SIDE);
  bool good =
      (!behind_barrier || gpu_barrier_launch(g->barrier)) && launch_parts(g, number, turn, turns);
  cuda_peers_use_side(g->peers, CUDA_NO_SIDE);
  return good;
}

// The pass and the next, of which a turn begins when the first has written what it reads
// (fusion/plan/overlap.c).
static bool launch_turns(const cuda_program *g, uint32_t number) {
  const plan_pass *first = &g->plan->passes.items[number], *second = first + 1;
  uint32_t turns = 1u << first->turn_bits;
  bool good = cuda_peers_begin_sides(g->peers);
  for (uint32_t t = 0; t < turns && good; t++)
    good =
        launch_on_side(g, number, t, turns, false) &&
        cuda_peers_follow(g->peers, first->waits_for_links ? CUDA_LINK_SIDE : CUDA_MEMORY_SIDE) &&
        launch_on_side(g, number + 1, t ^ second->turn_flip, turns, true);
  return good && cuda_peers_end_sides(g->peers);
}

// Whether the second pass writes over what turns of the first have yet to load, or they over what
// it has written. A pass that loads and stores in one buffer does so in place, so that a turn keeps
// to its elements.
static bool overwrites(const cuda_program *g, uint32_t number) {
  const plan_pass *first = &g->plan->passes.items[number], *second = first + 1;
  bool over = false;
  for (uint32_t i = 0; i < second->store_count; i++) {
    cuda_address written = g->own[second->stores[i].array];
    bool loaded = false, stored = false, own = false;
    for (plan_access at = {0}; plan_access_next(first, &at);)
      *(at.writes ? &stored : &loaded) |= g->own[at.array] == written;
    for (plan_access at = {0}; plan_access_next(second, &at);)
      own |= !at.writes && g->own[at.array] == written;
    over = over || (loaded && !stored) || (stored && !own);
  }
  return over;
}

// Whether the pass and the next are launched in turns.
static bool overlaps(const cuda_program *g, uint32_t number, uint32_t last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  uint64_t turns = (uint64_t)g->part_count << pass->turn_bits;
  return g->has_sides && pass->turn_bits && number + 1 < last && !g->facts[number].one &&
         !g->facts[number + 1].one && items_of(g, number) % turns == 0 &&
         items_of(g, number + 1) % turns == 0 && !overwrites(g, number);
}

int program_table_of(const cuda_program *g, uint32_t number) {
  return g->peers && g->tables[OF_PART].passes[number].count ? OF_PART : OF_ALL;
}

static bool launch_of_parts(const cuda_program *g, uint32_t number, uint32_t launch) {
  const launch_table *t = &g->tables[OF_PART];
  bool good = true;
  for (unsigned i = 0; i < g->part_count && good; i++) {
    const program_part *part = &g->parts[i];
    const launch_place at = {.arrays = g->own,
                             .shared = g->shared[number],
                             .shared_bytes = t->passes[number].shared,
                             .temporaries = part->temporaries[number],
                             .cleared = true,
                             .alone = t->ways.items[launch].scope != LAUNCH_OWN,
                             .part = i};
    good = table_launch_one(t, &part->code[OF_PART], part->device, launch, &at) ||
           cuda_peers_refuse(g->peers, i);
  }
  return good;
}

// A routine: each device has the rows that are its part, or its share of the only row.
static bool launch_rows(const cuda_program *g, uint32_t number) {
  const launch_table *t = &g->tables[OF_PART];
  const launch_pass *pass = &t->passes[number];
  bool good = true;
  for (uint32_t i = pass->first; i < pass->first + pass->count && good; i++)
    good = (!t->ways.items[i].meets || meet(g)) && launch_of_parts(g, number, i);
  return good;
}

static bool launch_one(const cuda_program *g, uint32_t number) {
  const c_one_kernel *one = g->facts[number].one;  // whose blocks wait for each other
  if (g->permuting[number])
    return cuda_permuting_launch(g->permuting[number], g->device, g->own, 0);
  if (program_table_of(g, number) == OF_PART)
    return launch_rows(g, number);
  if (g->peers && !one && !plan_routine_of(g->plan, &g->plan->passes.items[number]))
    return launch_parts(g, number, 0, 1);
  return program_launch(g, g->device, number, g->own,
                        one ? g->state : g->parts[0].temporaries[number], true);
}

// Between passes devices meet; the end of a graph is that of all.
static bool launch_runs(cuda_program *g, uint32_t first, uint32_t last, unsigned runs) {
  bool good = !g->peers || cuda_peers_fork(g->peers);
  for (unsigned run = 0; run < runs; run++)
    for (uint32_t i = first; i < last && good; i++) {
      good = overlaps(g, i, last) ? launch_turns(g, i++) : launch_one(g, i);
      bool is_end = run + 1 == runs && i + 1 >= last;
      good = good && (!g->peers || is_end || meet(g));
    }
  return good && (!g->peers || cuda_peers_join(g->peers));
}

cuda_graph *program_record(cuda_program *g, uint32_t first, uint32_t last, unsigned runs,
                           error *failure) {
  if (!cuda_graph_begin(g->device))
    return program_fail(g, failure), NULL;
  cuda_graph *graph = cuda_graph_end(g->device, launch_runs(g, first, last, runs));
  if (!graph && g->has_sides) {  // a driver that has sides may not record on them
    g->has_sides = false;
    return program_record(g, first, last, runs, failure);
  }
  if (!graph)
    program_fail(g, failure);
  return graph;
}
