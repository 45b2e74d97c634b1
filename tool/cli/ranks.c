// Ranks of a command line, or of a launcher. See program.h.
#include "runtime/ranks/ranks.h"
#include "core/hash.h"
#include "tool/cli/io.h"
#include "tool/cli/program.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

// MPI_Init waits for all that the launcher has started, some libraries without end: one of them may
// not be permc, or one that runs alone.
typedef struct watch {
  pthread_mutex_t lock;
  pthread_cond_t met;
  bool is_over;
  uint32_t rank;
  double seconds;
  // Its command line is: it waits to say so once with the others, and then says it alone.
  bool is_wrong;
} watch;

// Two seconds after each other, for launchers end the others when the first has said so.
enum { LATEST = 10 };

static void *end_what_waits(void *with) {
  watch *w = with;
  struct timespec end;
  int late = 0;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += (time_t)w->seconds + 2 * (w->rank < LATEST ? w->rank : LATEST);
  pthread_mutex_lock(&w->lock);
  while (!w->is_over && !late)
    late = pthread_cond_timedwait(&w->met, &w->lock, &end);
  if (!w->is_over && w->is_wrong) {
    cli_name_kept(w->rank);
    cli_end_keeping(true);
    _exit(CLI_USAGE);
  }
  if (!w->is_over) {
    cli_error(
        "rank %u: not all ranks came to MPI within %g s; do all run permc, with the same words?",
        (unsigned)w->rank, w->seconds);
    _exit(1);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static bool open_ranks(permc_context *context, const permc_ranks *wanted,
                       const ranks_launch *launch, bool is_wrong) {
  watch w = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .met = PTHREAD_COND_INITIALIZER,
             .rank = launch ? launch->rank : 0,
             .is_wrong = is_wrong,
             .seconds = (wanted->timeout > 0 ? wanted->timeout : RANKS_TIMEOUT) + 1};
  pthread_t thread;
  bool watches = launch && pthread_create(&thread, NULL, end_what_waits, &w) == 0;
  bool good = permc_use_ranks(context, wanted);
  pthread_mutex_lock(&w.lock);
  w.is_over = true;
  pthread_cond_signal(&w.met);
  pthread_mutex_unlock(&w.lock);
  if (watches)
    pthread_join(thread, NULL);
  return good;
}

// ---- processes that PyTorch connects ------------------------------------------------------------

static cli_connect *connect_processes;

void cli_connect_by(cli_connect *connect) { connect_processes = connect; }

static bool connect_launched(permc_ranks *wanted, const ranks_launch *launch) {
  const char *launcher = launch->launcher;
  unsigned rank = launch->rank, count = launch->count, asked = wanted->count;
  permc_error why = {PERMC_OK, ""};
  wanted->rank = rank;
  wanted->count = count;
  wanted->timeout = wanted->timeout > 0 ? wanted->timeout : RANKS_TIMEOUT;
  if (!connect_processes)
    cli_error("%s has started this as rank %u of %u, and this program cannot reach the others; use "
              "%s -m permc run ... (permc run --ranks 1 runs it alone)",
              launcher, rank, count, launcher);
  else if (asked && asked != count)
    cli_error("%u ranks were asked for, and there are %u; start as many (%s --nproc-per-node %u)",
              asked, count, launcher, asked);
  else if (!connect_processes(wanted, &why))
    cli_error("rank %u: PyTorch has not connected the %u ranks of %s: %s", rank, count, launcher,
              why.message);
  else
    return true;
  return false;
}

// ---- all of them --------------------------------------------------------------------------------

cli_status cli_use_ranks(const cli_arguments *a, permc_context *context) {
  permc_ranks wanted = {.transport = cli_value(a, "--transport"),
                        .count = (uint32_t)cli_number(a, "--ranks", 0),
                        .timeout = (double)cli_number(a, "--timeout", 0)};
  ranks_launch launch = {0};
  if (wanted.count & (wanted.count - 1))
    return cli_usage_error("%s: --ranks must be a power of two, not %u", a->verb->name,
                           (unsigned)wanted.count);
  bool threads = wanted.transport && !strcmp(wanted.transport, "threads");
  if (threads && !wanted.count)
    return cli_usage_error("%s: --transport threads needs --ranks: how many", a->verb->name);
  if (cli_is_given(a, "--timeout") && !wanted.count && !wanted.transport &&
      !ranks_launched(&launch))
    return cli_usage_error(
        "%s: --timeout is for ranks, and this runs alone: give --ranks, or start "
        "it by mpirun",
        a->verb->name);
  cli_end_keeping(true);
  bool launched = (!threads && ranks_launched(&launch)) || (wanted.transport && !threads);
  bool by_torch = launched && !wanted.transport && !strcmp(launch.transport, "gloo");
  if (wanted.count == 1 || (!launched && !wanted.count) || (by_torch && launch.count == 1))
    return CLI_OK;
  if (by_torch && !connect_launched(&wanted, &launch))
    return CLI_WRONG;
  const ranks_launch *mpi = launched && !by_torch ? &launch : NULL;
  bool good = open_ranks(context, &wanted, mpi, false);
  if (good || permc_rank_speaks(context))
    cli_report(context, good);
  if (!good)
    permc_use_ranks(context, NULL);
  return good ? CLI_OK : CLI_WRONG;
}

// Whether all ranks come to this, and none refuses. *alike: they have the same messages, which they
// compare as numbers, whose sum they get.
static bool meet_well(permc_context *context, const char *kept, uint32_t count, bool *alike) {
  uint64_t own = *kept ? hash_bytes(kept, strlen(kept)) | 1 : 0, before, all = 0;
  bool good = permc_place_parts(context, "ready", &own, 1, &before, &all);
  *alike = good && all == own * count;
  return good;
}

bool cli_meet_ranks(permc_context *context) {
  bool alike;
  uint32_t count, rank = permc_rank(context, &count);
  if (!meet_well(context, cli_kept_messages(), count, &alike)) {
    cli_end_keeping(false);
    cli_keep_messages();
    cli_report(context, false);
    return false;
  }
  cli_end_keeping(!alike || rank == 0);
  return true;
}

// Launchers end those that are there a moment after the first: all close together, when it is said.
void cli_end_ranks(permc_context *context) {
  unsigned rank = permc_rank(context, NULL);
  if (permc_last_code(context) != PERMC_ERROR_RANKS &&
      !permc_refuse_call(context, cli_kept_messages()))
    cli_name_kept(rank);
  cli_end_keeping(permc_rank_speaks(context));
  permc_use_ranks(context, NULL);
}

// ---- wrong command lines ------------------------------------------------------------------------

int cli_launched_rank(void) {
  ranks_launch launch;
  return ranks_launched(&launch) && launch.count != 1 ? (int)launch.rank : -1;
}

bool cli_is_one_of_several(const cli_verb *verb) {
  ranks_launch launch;
  cli_arguments none = {.verb = verb};
  return (!verb || cli_has_option(&none, "--transport")) && ranks_launched(&launch) &&
         launch.count > 1 && !strcmp(launch.transport, "mpi");
}

// Seconds that it waits for others, which may be no permc, or run alone.
static const double patience = 3;

void cli_say_once(void) {
  ranks_launch launch;
  permc_ranks wanted = {.transport = "mpi", .timeout = patience};
  permc_context *context = permc_context_new();
  if (context && ranks_launched(&launch) && open_ranks(context, &wanted, &launch, true))
    cli_end_ranks(context);
  else if (ranks_launched(&launch))
    cli_name_kept(launch.rank);
  cli_end_keeping(true);
  permc_context_free(context);
}
