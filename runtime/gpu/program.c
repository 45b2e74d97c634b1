#include "runtime/gpu/program.h"
#include "runtime/gpu/state.h"

static cuda_program *allocate_program(cuda_device *d, const plan *p, const cuda_options *o) {
  cuda_program *g = calloc(1, sizeof *g);
  if (!g)
    return NULL;
  *g = (cuda_program){.device = d, .peers = o->peers, .plan = p, .interrupted = o->interrupted};
  g->part_count = o->peers ? cuda_peers_count(o->peers) : o->ranks ? o->rank_count : 1;
  bool has_parts = true;
  for (unsigned i = 0; i < g->part_count; i++) {
    g->parts[i].device = o->peers ? cuda_peer(o->peers, i) : o->ranks ? o->ranks[i] : d;
    g->parts[i].temporaries = calloc(p->passes.count + 1, sizeof(cuda_address));
    has_parts &= g->parts[i].temporaries != NULL;
  }
  streams_begin(&g->streams, (uint32_t)p->arrays.count);
  pthread_mutex_init(&g->schedules, NULL);
  cache_open(&g->cache);
  if (o->no_cache)
    g->cache.folder[0] = 0;
  g->source =
      (cuda_code_source){&g->cache, cuda_code_options[o->fuse], cuda_facts_of(d)->capability};
  g->facts = calloc(p->passes.count + 1, sizeof *g->facts);
  g->permuting = calloc(p->passes.count + 1, sizeof(cuda_permuting *));
  g->own = calloc(p->arrays.count + 1, sizeof *g->own);
  g->shared = calloc(p->passes.count + 1, sizeof *g->shared);
  for (size_t i = 0; i < p->passes.count && g->permuting && !o->ranks; i++)
    g->permuting[i] = cuda_permuting_new(d, p, &p->passes.items[i]);
  if (has_parts && g->facts && g->permuting && g->own && g->shared)
    return g;
  cuda_program_free(g);
  return NULL;
}

// Of ranks there are only routines that are done by rows.
static bool make_tables(cuda_program *g, const c_code *code, const cuda_options *o,
                        error *failure) {
  enum { FILE_BYTES = 1 << 16 };  // of text that is worth a compilation of its own
  const cuda_facts *d = cuda_facts_of(g->device);
  launch_options all = {.code = code,
                        .file_bytes = FILE_BYTES,
                        .machine = {(uint32_t)d->multiprocessors, (uint32_t)d->shared_per_block},
                        .by_rows = o->ranks != NULL};
  launch_options part = {.machine = all.machine,
                         .by_rows = true,
                         .by_shares = g->peers != NULL,
                         .parts = g->peers ? g->part_count : o->shares};
  bool good = launch_table_make(&g->tables[OF_ALL], g->plan, &all, failure) &&
              (!part.parts || launch_table_make(&g->tables[OF_PART], g->plan, &part, failure));
  for (unsigned k = 0; k < g->part_count && good; k++)
    for (int table = 0; table < TABLES && good; table++)
      good =
          table_code_new(&g->parts[k].code[table], &g->tables[table]) || error_no_memory(failure);
  return good;
}

static bool check_routines(const cuda_program *g, error *failure) {
  for (uint32_t i = 0; i < g->plan->passes.count; i++) {
    const net_routine *r = plan_routine_of(g->plan, &g->plan->passes.items[i]);
    if (r && !g->permuting[i] && !g->tables[OF_ALL].passes[i].count)
      return error_set(failure, SPAN_NONE, "a GPU has no kernels for so many keys as %s has",
                       net_routine_names[r->kind]);
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
  bool good = make_tables(g, code, o, failure) && (o->ranks || check_routines(g, failure));
  for (size_t i = 0; i < p->passes.count; i++) {
    g->facts[i] = code->facts[i];
    code->facts[i].matrix = NULL;  // the program's now
    code->facts[i].one = NULL;
    if (g->facts[i].one && g->facts[i].one->state_bytes > g->state_bytes)
      g->state_bytes = g->facts[i].one->state_bytes;
  }
  if (good && make_barrier(g, failure) && program_compile(g, o, OF_ALL, failure) &&
      program_compile(g, o, OF_PART, failure) && (o->ranks || make_arrays(g, failure)) &&
      program_upload_roots(g, code->roots, failure))
    return g;
  cuda_program_free(g);
  return NULL;
}

static void free_part(const cuda_program *g, program_part *part) {
  for (size_t i = 0; i < g->plan->passes.count && part->temporaries; i++)
    cuda_memory_free(part->device, part->temporaries[i]);
  free(part->temporaries);
  cuda_memory_free(part->device, part->roots);
  for (int table = 0; table < TABLES; table++)
    table_code_free(&part->code[table], part->device, &g->tables[table]);
}

void cuda_program_free(cuda_program *g) {
  if (!g)
    return;
  program_drop_graphs(g);
  for (size_t i = 0; i < g->plan->passes.count && g->permuting; i++)
    cuda_permuting_free(g->permuting[i]);
  for (size_t i = 0; i < g->plan->passes.count && g->facts; i++) {
    free(g->facts[i].matrix);
    free(g->facts[i].one);
  }
  for (uint32_t i = 0; i < g->storage.room_count; i++) {
    program_memory_free(g, (uintptr_t)g->storage.rooms[i].memory);
    g->storage.rooms[i].memory = NULL;
  }
  for (size_t i = 0; i < g->plan->passes.count && g->shared; i++)
    for (uint32_t k = 0; k < LAUNCH_MOST_SHARED; k++)
      if (g->shared[i][k])
        program_memory_free(g, g->shared[i][k]);
  cuda_memory_free(g->device, g->copied.address);
  cuda_memory_free(g->device, g->state);
  for (unsigned i = 0; i < g->part_count; i++)
    free_part(g, &g->parts[i]);
  gpu_barrier_free(g->barrier);
  streams_end(&g->streams, g->device);
  pthread_mutex_destroy(&g->schedules);
  for (int table = 0; table < TABLES; table++)
    launch_table_free(&g->tables[table]);
  free(g->facts);
  free(g->permuting);
  free(g->own);
  free(g->shared);
  storage_end(&g->storage);
  free(g);
}
