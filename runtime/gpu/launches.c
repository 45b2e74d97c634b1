// How passes are launched, and recorded.
#include "runtime/cuda/device.h"
#include "runtime/gpu/state.h"

// The items up to the last that has something to do.
static uint64_t items_to_launch(const plan *p, uint32_t number) {
  const plan_pass *pass = &p->passes.items[number];
  bool loops = p->net->stages.items[pass->stage].loop_count > 0;
  return loops ? cpu_item_count(p, number) : plan_live_blocks(p, pass);
}

bool program_plan_launches(cuda_program *g) {
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    const plan_pass *pass = &g->plan->passes.items[i];
    program_pass *l = &g->passes[i];
    const c_one_kernel *one = l->facts.one;
    l->arrays =
        calloc((one ? one->array_count : plan_pass_most_arrays(pass)) + 1, sizeof *l->arrays);
    if (!l->arrays)
      return false;
    l->array_count = one ? one->array_count : plan_pass_arrays(pass, l->arrays);
    l->items = one ? one->blocks : items_to_launch(g->plan, i);
    if (one && one->state_bytes > g->state_bytes)
      g->state_bytes = one->state_bytes;
    if (one)
      memcpy(l->arrays, one->arrays, one->array_count * sizeof *l->arrays);
  }
  return true;
}

// The items first ... last - 1 of a pass, on arrays that lie at these addresses.
static bool launch_items(const cuda_program *g, const program_part *part, cuda_device *d,
                         uint32_t number, uint64_t first, uint64_t last, cuda_address *addresses,
                         cuda_address state) {
  enum { MOST_PARAMETERS = 512 };  // CUDA allows 4096 bytes of them
  const program_pass *l = &g->passes[number];
  void *parameters[MOST_PARAMETERS];
  cuda_address imports = part->imports;
  bool good = true;
  if (!l->facts.threads)
    return true;
  if (l->array_count + 3 > MOST_PARAMETERS)
    return cuda_refuse(d, "pass %u has too many arrays", (unsigned)number);
  parameters[0] = &first;
  for (uint32_t i = 0; i < l->array_count; i++)
    parameters[1 + i] = &addresses[l->arrays[i]];
  parameters[1 + l->array_count] = &imports;
  parameters[2 + l->array_count] = l->facts.one ? (void *)&state : l->facts.matrix;
  for (; first < last && good; first += CUDA_MOST_BLOCKS_X) {
    uint64_t left = last - first;
    cuda_grid grid = {.x = left < CUDA_MOST_BLOCKS_X ? left : CUDA_MOST_BLOCKS_X,
                      .threads = l->facts.threads,
                      .overlapping = !g->peers};
    good = cuda_launch(d, &part->kernels[number], grid, parameters);
  }
  return good;
}

bool program_launch(const cuda_program *g, cuda_device *d, uint32_t number, cuda_address *addresses,
                    cuda_address state) {
  return launch_items(g, &g->parts[0], d, number, 0, g->passes[number].items, addresses, state);
}

bool cuda_program_items(const cuda_program *g, unsigned rank, uint32_t pass, uint64_t first,
                        uint64_t last, cuda_address *addresses) {
  const program_part *part = &g->parts[rank];
  last = last < g->passes[pass].items ? last : g->passes[pass].items;
  return first >= last || launch_items(g, part, part->device, pass, first, last, addresses, 0);
}

bool cuda_program_routine(cuda_program *g, unsigned rank, uint32_t pass, uint32_t parts,
                          uint32_t part, const cuda_address *addresses, bool *done,
                          error *failure) {
  program_part *p = &g->parts[rank];
  *done = false;
  if (!p->rows[pass] && !cuda_rows_new_part(&p->rows[pass], p->device, parts, g->plan,
                                            &g->plan->passes.items[pass], &g->source, failure))
    return false;
  *done = p->rows[pass] != NULL;
  return !*done || cuda_rows_run_part(p->rows[pass], part, addresses) ||
         error_set(failure, SPAN_NONE, "%s", cuda_message(p->device));
}

// All devices see what all have been given before.
static bool meet(const cuda_program *g) {
  return g->barrier ? gpu_barrier_launch(g->barrier)
                    : cuda_peers_join(g->peers) && cuda_peers_fork(g->peers);
}

// A turn of a pass, of `turns`: each device executes the items of its part.
static bool launch_parts(const cuda_program *g, uint32_t number, uint32_t turn, uint32_t turns) {
  uint64_t items = g->passes[number].items, parts = g->part_count * (uint64_t)turns;
  bool good = true;
  for (unsigned i = 0; i < g->part_count && good; i++) {
    uint64_t part = i * (uint64_t)turns + turn;
    good = launch_items(g, &g->parts[i], g->parts[i].device, number, items * part / parts,
                        items * (part + 1) / parts, g->own, 0) ||
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

static bool is_among(const cuda_program *g, const plan_move *moves, uint32_t count,
                     cuda_address at) {
  bool among = false;
  for (uint32_t i = 0; i < count; i++)
    among = among || g->own[moves[i].array] == at;
  return among;
}

// Whether the second pass writes over what turns of the first have yet to load, or they over what
// it has written. A pass that loads and stores in one buffer does so in place, so that a turn keeps
// to its elements.
static bool overwrites(const cuda_program *g, uint32_t number) {
  const plan_pass *first = &g->plan->passes.items[number], *second = first + 1;
  bool over = false;
  for (uint32_t i = 0; i < second->store_count; i++) {
    cuda_address written = g->own[second->stores[i].array];
    bool loaded = is_among(g, first->loads, first->load_count, written);
    bool stored = is_among(g, first->stores, first->store_count, written);
    bool own = is_among(g, second->loads, second->load_count, written);
    over = over || (loaded && !stored) || (stored && !own);
  }
  return over;
}

// Whether the pass and the next are launched in turns.
static bool overlaps(const cuda_program *g, uint32_t number, uint32_t last) {
  const plan_pass *pass = &g->plan->passes.items[number];
  return g->has_sides && pass->turn_bits && number + 1 < last && !g->passes[number].facts.one &&
         !g->passes[number + 1].facts.one &&
         g->passes[number].items % ((uint64_t)g->part_count << pass->turn_bits) == 0 &&
         g->passes[number + 1].items % ((uint64_t)g->part_count << pass->turn_bits) == 0 &&
         !overwrites(g, number);
}

static bool launch_pass(cuda_program *g, uint32_t number) {
  const program_pass *pass = &g->passes[number];
  uint32_t keys_for = g->plan->passes.items[number].keys_for;
  if (pass->permuting)
    return cuda_permuting_launch(pass->permuting, g->device, g->own, 0);
  if (pass->rows)
    return cuda_rows_launch(pass->rows);
  if (pass->routine)
    return cuda_routine_launch(pass->routine);
  if (keys_for && cuda_routine_makes_keys(g->passes[keys_for].routine))
    return true;
  bool together = g->peers && !pass->facts.one;  // whose blocks wait for each other
  return together ? launch_parts(g, number, 0, 1)
                  : program_launch(g, g->device, number, g->own, g->state);
}

// Between passes devices meet; the end of a graph is that of all.
static bool launch_runs(cuda_program *g, uint32_t first, uint32_t last, unsigned runs) {
  bool good = !g->peers || cuda_peers_fork(g->peers);
  for (unsigned run = 0; run < runs; run++)
    for (uint32_t i = first; i < last && good; i++) {
      good = overlaps(g, i, last) ? launch_turns(g, i++) : launch_pass(g, i);
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
