// The settings of a context (permc.h).
#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"
#include "runtime/arguments/arguments.h"
#include "runtime/compiled/compiler.h"
#include "runtime/context/context.h"
#include "runtime/external/run.h"
#include "runtime/ranks/ranks.h"
#include "runtime/system/pool.h"

void permc_allow_extern(permc_context *c, bool allow) {
  if (c)
    c->allow_extern = allow && !c->untrusted;
}

void permc_allow_imports(permc_context *c, permc_import_rule imports) {
  static const import_rule allowed[] = {IMPORT_ANY, IMPORT_BESIDE, IMPORT_NONE};
  if (c && (!c->untrusted || imports != PERMC_IMPORT_ANYWHERE))
    c->program.imports = allowed[imports];
}

void permc_use_untrusted(permc_context *c) {
  if (!c)
    return;
  c->untrusted = true;
  c->allow_extern = false;
  c->program.imports = IMPORT_BESIDE;
  c->limits.results = UINT64_C(1) << 30;
}

bool permc_needs_extern(const permc_context *c) { return c && c->program.diagnostics.wants_extern; }

void permc_use_threads(permc_context *c, unsigned threads) {
  if (c)
    c->threads = threads < POOL_MOST_THREADS ? threads : POOL_MOST_THREADS;
}

void permc_use_fast_floats(permc_context *c, bool fast) {
  if (c)
    c->fuse = fast;
}

void permc_limit_compiler(permc_context *c, uint64_t seconds, uint64_t bytes) {
  if (!c)
    return;
  c->compile_seconds = seconds;
  c->compile_memory = bytes;
}

bool permc_use_isa(permc_context *c, const char *name) {
  context_clear(c);
  if (!context_given(c, name, "the instruction set"))
    return false;
  const char *isa = compiler_isa_named(name);
  if (!isa)
    return context_error(c, "there is no instruction set '%s' here", name);
  c->isa = isa;
  return true;
}

bool permc_use_device(permc_context *c, int32_t device) {
  context_clear(c);
  if (!c || device < 0 || device >= CONTEXT_GPUS)
    return context_error_of(c, PERMC_ERROR_DEVICE, "there is no GPU %d", (int)device);
  c->gpu_failed = c->gpu_failed && c->device == device;
  c->device = device;
  c->peer_count = 0;
  return true;
}

bool permc_use_devices(permc_context *c, const int32_t *devices, size_t count) {
  context_clear(c);
  if (!context_given(c, devices, "the list of devices"))
    return false;
  if (count == 0 || count > CONTEXT_GPUS || (count & (count - 1)))
    return context_error_of(c, PERMC_ERROR_DEVICE,
                            "several GPUs must be 2, 4, 8 or %d, a power of two, not %zu",
                            CONTEXT_GPUS, count);
  for (size_t i = 0; i < count; i++)
    if (!permc_use_device(c, devices[i]))
      return false;
  for (size_t i = 0; i < count; i++)
    c->peers[i] = devices[i];
  c->device = devices[0];
  c->peer_count = (unsigned)count;
  return true;
}

bool permc_use_strategy(permc_context *c, const char *name) {
  context_clear(c);
  const plan_strategy *strategy = name ? plan_strategy_named(name) : NULL;
  if (!c || (name && !strategy))
    return context_error(c, "there is no strategy '%s'", name);
  c->strategy = strategy;
  return true;
}

bool permc_use_layout(permc_context *c, const char *name) {
  context_clear(c);
  uint64_t seed = c ? c->layout_seed : 0;
  const bank_layout_kind *layout = name ? bank_layout_kind_and_seed(name, &seed) : NULL;
  if (!c || (name && !layout))
    return context_error(c, "there is no layout '%s'", name);
  c->layout = layout;
  c->layout_seed = seed;
  return true;
}

// ---- ranks -------------------------------------------------------------------------------------

static const transport_kind *transport_wanted(permc_context *c, const permc_ranks *ranks,
                                              const ranks_launch *l) {
  const char *name = ranks->transport, *wanted = name          ? name
                                                 : l->launcher ? l->transport
                                                               : "threads";
  const transport_kind *kind = ranks->carry ? &transport_caller : transport_kind_named(wanted);
  FREED_BY(text_free) text known = {0};
  for (size_t i = 0; !kind && transport_kinds[i]; i++)
    text_printf(&known, "%s%s", i ? ", " : "", transport_kinds[i]->name);
  if (!kind && !name)
    context_error_of(c, PERMC_ERROR_MISSING,
                     "%s has started this as rank %u of %u, and the transport '%s' is not here "
                     "(known transports: %s)",
                     l->launcher, (unsigned)l->rank, (unsigned)l->count, wanted,
                     text_content(&known));
  else if (!kind)
    context_error_of(c, PERMC_ERROR_MISSING, "there is no transport '%s' (known transports: %s)",
                     wanted, text_content(&known));
  return kind;
}

bool permc_use_ranks(permc_context *c, const permc_ranks *wanted) {
  context_clear(c);
  if (!c)
    return false;
  ranks_close(c->ranks);
  ranks_close(c->refused);
  c->ranks = c->refused = NULL;
  c->end_ranks = ranks_close;
  if (!wanted)
    return true;
  if (!(wanted->timeout >= 0 && wanted->timeout <= RANKS_MOST_TIMEOUT))
    return context_error_of(c, PERMC_ERROR_ARGUMENT,
                            "a rank cannot wait for another for %g seconds: 'timeout' goes from 0 "
                            "to %d",
                            wanted->timeout, RANKS_MOST_TIMEOUT);
  error failure = {0};
  ranks_launch l;
  ranks_launched(&l);
  ranks_options o = {.kind = transport_wanted(c, wanted, &l),
                     .count = wanted->count,
                     .timeout = wanted->timeout,
                     .rank = wanted->rank,
                     .communicator = wanted->communicator,
                     .carry = wanted->carry,
                     .with = wanted->with};
  if (!o.kind)
    return false;
  if (o.kind == &transport_mpi && l.child_of && !wanted->communicator)
    return context_error_of(c, PERMC_ERROR_RANKS,
                            "a rank of %s has started this process, which is no rank itself; use "
                            "the transport 'threads', or start it by mpirun",
                            l.child_of);
  if (o.kind == &transport_mpi) {  // of a communicator MPI alone knows
    o.rank = l.rank;
    o.launched = wanted->communicator ? 0 : l.count;
  }
  o.refused = &c->refused;
  c->ranks = ranks_open(&o, &failure);
  return c->ranks || context_error_of(c, PERMC_ERROR_RANKS, "%s", failure.message);
}

uint32_t permc_rank(const permc_context *c, uint32_t *processes) {
  bool apart = c && c->ranks && !ranks_are_here(c->ranks);
  if (processes)
    *processes = apart ? ranks_count(c->ranks) : 1;
  return apart ? ranks_own(c->ranks) : 0;
}

bool permc_place_parts(permc_context *c, const char *what, const uint64_t *lengths, size_t count,
                       uint64_t *first, uint64_t *whole) {
  error failure = {0};
  context_begin_call(c);
  if (!context_given(c, what, "the text") || !context_given_list(c, lengths, count, "lengths") ||
      !context_given_list(c, first, count, "first elements") ||
      !context_given_list(c, whole, count, "whole lengths"))
    return false;
  for (size_t i = 0; i < count && !c->ranks; i++)
    first[i] = 0, whole[i] = lengths[i];
  return !c->ranks || ranks_place(c->ranks, what, lengths, count, first, whole, &failure) ||
         context_error_of(c, PERMC_ERROR_RANKS, "%s", failure.message);
}

// By all ranks, or out of files.
bool permc_gather(permc_context *c, permc_value *v) {
  error failure = {0};
  context_begin_call(c);
  if (!context_given(c, v, "the value"))
    return false;
  if (c->ranks)
    return ranks_gather(c->ranks, v, &failure) ||
           context_error_of(c, PERMC_ERROR_RANKS, "%s", failure.message);
  permc_code code = c->file_memory ? value_load(c, v, &failure) : PERMC_OK;
  return code == PERMC_OK || context_error_of(c, code, "%s", failure.message);
}

static const char *cause_of(const char *message) {
  return message && *message ? diag_unprefixed(message) : "it has failed";
}

void permc_fail_ranks(permc_context *c, const char *cause) {
  char line[400];
  cause = cause_of(cause);
  snprintf(line, sizeof line, "%.*s", (int)strcspn(cause, "\n"), cause);
  if (c && c->ranks)
    ranks_fail(c->ranks, line);
}

bool permc_refuse_call(permc_context *c, const char *cause) {
  return c && c->ranks && ranks_refuse(c->ranks, cause_of(cause));
}

bool permc_rank_speaks(permc_context *c) {
  struct rank_world *r = !c ? NULL : c->ranks ? c->ranks : c->refused;
  return c && (!r || ranks_speaks(r));
}

// ---- files -------------------------------------------------------------------------------------

bool permc_use_files(permc_context *c, const permc_files *files) {
  context_clear(c);
  if (!c)
    return false;
  char *folder = files ? strdup(files->folder ? files->folder : ".") : NULL;
  if (files && !folder)
    return context_no_memory(c);
  if (files && !files->memory)
    return free(folder), context_error(c, "the memory of runs on files is 0 bytes");
  context_unlock_files(c);
  free(c->file_folder);
  c->file_folder = folder;
  c->file_memory = files ? files->memory : 0;
  c->file_resume = files && files->resume;
  return true;
}

void permc_remove_files(permc_context *c) {
  if (!c)
    return;
  if (c->file_memory && c->file_resume)
    external_remove(c->file_folder, c->file_lock);
  c->file_lock = -1;
}
