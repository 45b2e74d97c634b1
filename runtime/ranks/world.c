// The GPUs of this process's ranks, their transports, and those of threads. See world.h.
#include "runtime/ranks/world.h"

#include "runtime/system/locks.h"
#include "runtime/system/pool.h"

static pthread_mutex_t *turn_of(rank_world *r) { return r->own ? &r->own->turn : &r->turn; }

void world_begin_turn(rank_world *r) {
  lock_for_long(turn_of(r), &r->forks);
  if (r->own)
    r->own->timeout = r->options.timeout;
}

void world_end_turn(rank_world *r) { pthread_mutex_unlock(turn_of(r)); }

void world_close_gpus(rank_world *r) {
  for (uint32_t i = 0; r->gpus && i < ranks_here(r); i++)
    cuda_close(r->gpus[i]);
  free(r->gpus);
  free(r->links);
  r->gpus = NULL;
  r->links = NULL;
}

// The GPUs of this machine in turn: by the number of the rank among those of the machine.
static bool open_gpus(rank_world *r, int chosen, char *why, size_t size) {
  ranks_launch l;
  int count = cuda_count(why, size);
  uint32_t first = !r->own ? 0 : ranks_launched(&l) ? l.local : r->own->rank;
  for (uint32_t i = 0; count > 0 && i < ranks_here(r); i++) {
    int number = chosen >= 0 ? chosen : (int)((first + i) % (uint32_t)count);
    if (!(r->gpus[i] = cuda_open(number, why, size)))
      return false;
  }
  return count > 0;
}

cuda_device *const *ranks_gpus(rank_world *r, int chosen, unsigned *count, char *why, size_t size) {
  *count = ranks_here(r);
  if (r->gpus)
    return r->gpus;
  r->gpus = calloc(*count, sizeof(cuda_device *));
  r->links = calloc(*count, sizeof *r->links);
  bool good = r->gpus && r->links;
  if (!good)
    snprintf(why, size, "out of memory");
  good = good && open_gpus(r, chosen, why, size);
  if (!good)
    world_close_gpus(r);
  return r->gpus;
}

// What carries arrays is closed by all at one time, as it was opened.
static void *close_link(void *with) {
  transport **link = with;
  transport_close(*link);
  *link = NULL;
  return NULL;
}

static void close_links(rank_world *r) {
  uint32_t count = r->links ? ranks_here(r) : 0;
  FREED pthread_t *threads = calloc(count + 1, sizeof *threads);
  FREED bool *started = calloc(count + 1, sizeof *started);
  for (uint32_t i = 1; i < count && threads && started; i++)
    started[i] = r->links[i] && pool_start_thread(&threads[i], close_link, &r->links[i]);
  if (count)
    close_link(&r->links[0]);
  for (uint32_t i = 1; i < count; i++)
    if (threads && started && started[i])
      pthread_join(threads[i], NULL);
    else
      close_link(&r->links[i]);
}

void world_end_team(rank_world *r) {
  close_links(r);
  for (uint32_t i = 0; r->members && i < r->count; i++)
    transport_close(r->members[i]);
  transport_group_free(r->group);
  free(r->members);
  r->members = NULL;
  r->group = NULL;
}

bool world_begin_team(rank_world *r, error *failure) {
  if (r->members)
    return true;
  r->group = transport_group_make(r->count);
  r->members = calloc(r->count, sizeof *r->members);
  if (!r->group || !r->members)
    return error_no_memory(failure);
  bool good = true;
  for (uint32_t i = 0; good && i < r->count; i++) {
    transport_options t = {.kind = r->options.kind,
                           .rank = i,
                           .ranks = r->count,
                           .timeout = r->options.timeout,
                           .group = r->group};
    good = (r->members[i] = transport_open(&t, failure)) != NULL;
  }
  return good;
}
