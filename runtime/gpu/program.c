#include "runtime/gpu/program.h"
#include "runtime/gpu/state.h"

static cuda_program *allocate_program(cuda_device *d, const plan *p, const cuda_options *o) {
  cuda_program *g = calloc(1, sizeof *g);
  if (!g)
    return NULL;
  *g = (cuda_program){.device = d, .peers = o->peers, .plan = p, .interrupted = o->interrupted};
  g->part_count = o->peers ? cuda_peers_count(o->peers) : o->ranks ? o->rank_count : 1;
  bool has_kernels = true;
  for (unsigned i = 0; i < g->part_count; i++) {
    g->parts[i].device = o->peers ? cuda_peer(o->peers, i) : o->ranks ? o->ranks[i] : d;
    g->parts[i].kernels = calloc(p->passes.count + 1, sizeof *g->parts[i].kernels);
    g->parts[i].rows = calloc(p->passes.count + 1, sizeof(cuda_rows *));
    has_kernels &= g->parts[i].kernels != NULL && g->parts[i].rows != NULL;
  }
  streams_begin(&g->streams, (uint32_t)p->arrays.count);
  pthread_mutex_init(&g->schedules, NULL);
  cache_open(&g->cache);
  if (o->no_cache)
    g->cache.folder[0] = 0;
  g->source =
      (cuda_code_source){&g->cache, cuda_code_options[o->fuse], cuda_facts_of(d)->capability};
  g->passes = calloc(p->passes.count + 1, sizeof *g->passes);
  g->own = calloc(p->arrays.count + 1, sizeof *g->own);
  g->stretches = calloc(p->passes.count + 1, sizeof *g->stretches);
  for (size_t i = 0; i < p->passes.count && g->passes && !o->ranks; i++)
    g->passes[i].permuting = cuda_permuting_new(d, p, &p->passes.items[i]);
  if (has_kernels && g->passes && g->stretches && g->own)
    return g;
  cuda_program_free(g);
  return NULL;
}

static bool make_routines(cuda_program *g, error *failure) {
  const plan *p = g->plan;
  for (uint32_t i = 0; i < p->passes.count; i++) {
    const plan_pass *pass = &p->passes.items[i];
    program_pass *own = &g->passes[i];
    if (plan_routine_of(p, pass) &&
        !(cuda_routine_new(&own->routine, g->device, p, pass, &g->source, failure) &&
          (!g->peers || cuda_rows_new(&own->rows, g->peers, p, pass, &g->source, failure))))
      return false;
  }
  return true;
}

static bool make_arrays(cuda_program *g, error *failure) {
  return program_place_arrays(g, failure) && program_allocate_arrays(g, true, failure) &&
         program_upload(g, NET_TABLE, NULL, 0, failure);
}

// How its devices wait for each other.
static bool make_barrier(cuda_program *g, error *failure) {
  if (!g->peers || !cuda_peers_are_distinct(g->peers))
    return true;
  bool overlap = false;
  for (uint32_t i = 0; i < g->plan->passes.count; i++)
    overlap = overlap || g->plan->passes.items[i].turn_bits;
  if (!gpu_barrier_new(&g->barrier, g->peers, &g->source, failure))
    return false;
  g->has_sides = overlap && g->barrier && cuda_peers_make_sides(g->peers);
  return true;
}

cuda_program *cuda_program_new(cuda_device *d, const plan *p, c_code *code, const cuda_options *o,
                               error *failure) {
  cuda_program *g = allocate_program(d, p, o);
  if (!g)
    return error_no_memory(failure), NULL;
  for (size_t i = 0; i < p->passes.count; i++) {
    g->passes[i].facts = code->facts[i];
    code->facts[i].matrix = NULL;  // the program's now
    code->facts[i].one = NULL;
  }
  if (make_barrier(g, failure) && program_compile(g, o, code, failure) &&
      (o->ranks || (make_routines(g, failure) && make_arrays(g, failure))) &&
      program_upload_roots(g, code->roots, failure) &&
      (program_plan_launches(g) || error_no_memory(failure)))
    return g;
  cuda_program_free(g);
  return NULL;
}

static void free_part(program_part *part, size_t pass_count) {
  for (size_t i = 0; i < pass_count && part->rows; i++)
    cuda_rows_free(part->rows[i]);
  free(part->rows);
  cuda_memory_free(part->device, part->imports);
  for (size_t i = 0; i < part->module_count; i++)
    cuda_module_free(part->device, part->modules[i]);
  free(part->kernels);
}

static void free_pass(program_pass *pass) {
  cuda_permuting_free(pass->permuting);
  cuda_routine_free(pass->routine);
  cuda_rows_free(pass->rows);
  free(pass->facts.matrix);
  free(pass->facts.one);
  free(pass->arrays);
}

void cuda_program_free(cuda_program *g) {
  if (!g)
    return;
  if (g->stretches)
    program_drop_graphs(g);
  for (size_t i = 0; i < g->plan->passes.count && g->passes; i++)
    free_pass(&g->passes[i]);
  for (uint32_t i = 0; i < g->storage.room_count; i++) {
    program_memory_free(g, (uintptr_t)g->storage.rooms[i].memory);
    g->storage.rooms[i].memory = NULL;
  }
  cuda_memory_free(g->device, g->copied.address);
  cuda_memory_free(g->device, g->state);
  for (unsigned i = 0; i < g->part_count; i++)
    free_part(&g->parts[i], g->plan->passes.count);
  gpu_barrier_free(g->barrier);
  streams_end(&g->streams, g->device);
  pthread_mutex_destroy(&g->schedules);
  free(g->passes);
  free(g->own);
  storage_end(&g->storage);
  free(g->stretches);
  free(g);
}
