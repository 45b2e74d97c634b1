// The backend cuda: a Plan for warps, on the context's GPU.
#include "runtime/cpu/cpu.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/context.h"
#include "runtime/gpu/state.h"

#include <stdio.h>

static void close_device(void *open) { cuda_close(open); }

bool cuda_open_for(permc_context *c, char *why, size_t size) {
  if (!context_gpu(c)->open)
    *context_gpu(c) = (context_device){cuda_open(c->device, why, size), close_device};
  return context_gpu(c)->open != NULL;
}

static backend_status open_gpu(permc_context *c, char why[BACKEND_WHY]) {
  char problem[CUDA_WHY];
  if (!cuda_open_for(c, problem, sizeof problem) || !nvrtc_find(problem, sizeof problem)) {
    snprintf(why, BACKEND_WHY,
             "%.400s; it needs an NVIDIA GPU, its driver for CUDA 12 or later, and NVRTC", problem);
    return BACKEND_MISSING;
  }
  return BACKEND_READY;
}

static bool name_gpu(const permc_context *c, char name[BACKEND_WHY]) {
  const cuda_device *d = c->gpus[c->device].open;
  const cuda_facts *facts = d ? cuda_facts_of(d) : NULL;
  if (facts)
    snprintf(name, BACKEND_WHY, "%s, sm_%d", facts->name, facts->capability);
  return facts != NULL;
}

// What a block may have, but for a little that the driver and kernels take themselves.
static uint64_t tile_of_gpu(const permc_context *c) {
  enum { BESIDES = 3 << 10 };
  const cuda_device *d = c->gpus[c->device].open;
  int shared = d ? cuda_facts_of(d)->shared_per_block : 0;
  return shared > BESIDES ? f2_unit(f2_msb((uint64_t)shared - BESIDES)) : 0;
}

static bool open_devices(permc_context *c, gpu_program *g, error *failure) {
  char why[CUDA_WHY];
  bool good = c->peer_count > 1
                  ? (g->peers = cuda_peers_open(c->peers, c->peer_count, why, sizeof why)) != NULL
                  : (g->own = cuda_open(c->device, why, sizeof why)) != NULL;
  return good || error_set(failure, SPAN_NONE, "%s", why);
}

static uint64_t memory_left(const gpu_program *g, cuda_device *d) {
  return g->peers ? cuda_peers_memory_left(g->peers) : cuda_memory_left(d);
}

static void name_devices(gpu_program *g, const cuda_device *d) {
  const cuda_facts *facts = cuda_facts_of(d);
  char count[16] = "";
  unsigned several = g->peers ? cuda_peers_count(g->peers) : g->rank_count;
  if (several > 1)
    snprintf(count, sizeof count, "%u x ", several);
  snprintf(g->device, sizeof g->device, "%s%s, CUDA %d.%d", count, facts->name,
           facts->driver / 1000, facts->driver % 1000 / 10);
}

static bool open_ranks(permc_context *c, gpu_program *g, error *failure) {
  char why[CUDA_WHY] = "";
  if (ranks_are_here(c->ranks) && ranks_count(c->ranks) > CUDA_MOST_PEERS)
    return error_set(failure, SPAN_NONE, "a process has at most %d ranks with GPUs, not %u",
                     CUDA_MOST_PEERS, (unsigned)ranks_count(c->ranks));
  int chosen = c->device && !ranks_are_here(c->ranks) ? c->device : -1;
  g->ranks = ranks_gpus(c->ranks, chosen, &g->rank_count, why, sizeof why);
  return g->ranks || error_set(failure, SPAN_NONE, "%s", why);
}

static const ranks_devices *devices_of_ranks(const backend_program *p) {
  return &((const gpu_program *)p->state)->devices;
}

static backend_status prepare_kernels(backend_program *p, char why[BACKEND_WHY]) {
  permc_context *c = p->context;
  if (!c_code_is_bounded(p->code, why, BACKEND_WHY))
    return BACKEND_MISSING;  // NVRTC works in this process, where nothing else can end it
  gpu_program *g = p->state = calloc(1, sizeof *g);
  cuda_device *d = context_gpu(c)->open;
  if (!g) {
    context_no_memory(c);
    return BACKEND_FAILED;
  }
  error failure = {0};
  bool good = p->on_ranks ? open_ranks(c, g, &failure) : open_devices(c, g, &failure);
  name_devices(g, d);
  cuda_options o = {.peers = g->peers,
                    .ranks = g->ranks,
                    .rank_count = g->rank_count,
                    .shares = g->ranks ? ranks_count(c->ranks) : 0,
                    .interrupted = c->limits.interrupted,
                    .fuse = c->fuse,
                    .progress = p->progress};
  if (good && p->model && cpu_peak_bytes(p->memory, p->plan) > memory_left(g, d))
    good = error_set(&failure, SPAN_NONE, "the GPU has too little memory for this");
  d = g->peers ? cuda_peer(g->peers, 0) : g->ranks ? g->ranks[0] : g->own;
  if (good)
    g->program = cuda_program_new(d, p->plan, p->code, &o, &failure);
  g->devices = (ranks_devices){g->ranks, g->program, cuda_program_items, cuda_program_routine};
  if (g->program)
    return BACKEND_READY;
  snprintf(why, BACKEND_WHY, "%.500s", failure.message);
  if (p->model && !atomic_load(&c->stop))
    return BACKEND_MISSING;  // `auto` has the processor
  context_error_of(c, PERMC_ERROR_DEVICE, "%s", failure.message);
  return BACKEND_FAILED;
}

static bool execute_kernels(backend_program *p, backend_run *r) {
  gpu_program *g = p->state;
  error failure = {0};
  bool good = cuda_program_run(g->program, r->arguments, r->argument_count, r->results, &failure);
  if (!good)
    context_error_of(p->context, PERMC_ERROR_DEVICE, "%s", failure.message);
  if (!r->keep)
    arrays_destroy(r->arguments, r->argument_count);
  if (good)
    backend_shape_results(p->trace, r->results);
  return good;
}

static const char *describe_device(const backend_program *p) {
  return ((const gpu_program *)p->state)->device;
}

static bool time_kernels(backend_program *p, uint64_t copy_bytes, unsigned runs, double *seconds) {
  cuda_program *g = program_of(p);
  error failure = {0};
  bool good = copy_bytes ? cuda_program_time_copy(g, copy_bytes, runs, seconds, &failure)
                         : cuda_program_time(g, runs, seconds, &failure);
  if (!good)
    context_error_of(p->context, PERMC_ERROR_DEVICE, "%s", failure.message);
  return good;
}

static void release_kernels(backend_program *p) {
  FREED gpu_program *g = p->state;
  if (g) {
    cuda_program_free(g->program);
    cuda_peers_close(g->peers);
    cuda_close(g->own);
  }
}

// Larger tables take longer to read than their roots take to make, where a GPU has half as many
// units for double as for float, and not a 32nd or a 64th (CUDA C++ Programming Guide, "Throughput
// of Native Arithmetic Instructions"): 2^28 c64 in 5.33 ms, with tables 5.52.
static uint32_t root_bits(const permc_context *c) {
  enum { MOST = 17 };
  static const int with_units_for_double[] = {60, 70, 80, 90, 100};
  const cuda_device *d = c->gpus[c->device].open;
  bool makes = false;
  for (size_t i = 0; i < sizeof with_units_for_double / sizeof(int) && d; i++)
    makes = makes || cuda_facts_of(d)->capability == with_units_for_double[i];
  return makes ? MOST : 0;
}

const backend cuda_backend = {.name = "cuda",
                              .summary = "fused passes on an NVIDIA GPU",
                              .target = "gpu",
                              .at_hand = true,
                              .stream_bytes = UINT64_MAX,
                              .open = open_gpu,
                              .name_device = name_gpu,
                              .tile_bytes = tile_of_gpu,
                              .prepare = prepare_kernels,
                              .execute = execute_kernels,
                              .call = program_call,
                              .passes = program_describe,
                              .workspace = program_workspace,
                              .fetch = program_fetch,
                              .devices = devices_of_ranks,
                              .root_bits = root_bits,
                              .release = release_kernels,
                              .time = time_kernels,
                              .device = describe_device};
