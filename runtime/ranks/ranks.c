// The ranks of this process, and a run by them. See ranks.h.
#include "runtime/ranks/parts.h"
#include "runtime/ranks/world.h"

#include "runtime/system/locks.h"
#include "runtime/system/pool.h"

#include <inttypes.h>

// ---- opening and closing ------------------------------------------------------------------------

// All ranks come to the transport that others of this process have on the communicator: so a call
// that differs is found, whichever program makes it. Where that has failed, they open a new one.
static transport *open_own(const transport_options *o, error *failure) {
  for (transport *t; (t = transport_find(o));) {
    error none = {0};
    pthread_mutex_lock(&t->turn);
    t->timeout = o->timeout;
    bool good = rank_agree(t, &(rank_step){.step = "the start of a program"}, failure);
    bool works = good || transport_check(t, &none);
    pthread_mutex_unlock(&t->turn);
    if (good)
      return t;
    transport_close(t);
    if (works)
      return NULL;
    *failure = (error){0};
  }
  return transport_open(o, failure);
}

rank_world *ranks_open(const ranks_options *o, error *failure) {
  rank_world *r = calloc(1, sizeof *r);
  if (!r)
    return error_no_memory(failure), NULL;
  pthread_mutex_init(&r->turn, NULL);
  r->forks = library_forks();
  r->owners = 1;
  r->options = *o;
  r->options.timeout = o->timeout > 0 ? o->timeout : RANKS_TIMEOUT;
  r->count = o->count;
  if (o->kind != &transport_threads || o->group) {
    transport_options t = {.kind = o->kind,
                           .rank = o->rank,
                           .ranks = o->kind == &transport_mpi ? o->launched : o->count,
                           .timeout = r->options.timeout,
                           .group = o->group,
                           .communicator = o->communicator,
                           .shared = true,
                           .carry = o->carry,
                           .with = o->with};
    if (!(r->own = open_own(&t, failure)))
      return ranks_close(r), NULL;
    r->count = r->own->ranks;
  }
  if (o->count && o->count != r->count)
    error_set(failure, SPAN_NONE,
              "%u ranks were asked for, and there are %u; start as many (mpirun -n %u)",
              (unsigned)o->count, (unsigned)r->count, (unsigned)o->count);
  else if (!r->own && r->count > RANKS_MOST_THREADS)
    error_set(failure, SPAN_NONE, "%u ranks are too many threads; one process has at most %d",
              (unsigned)r->count, RANKS_MOST_THREADS);
  else if (shares_bits(r->count) < 0)
    error_set(failure, SPAN_NONE, "%u ranks are no power of two; take 2, 4, 8, ...",
              (unsigned)r->count);
  else
    return r;
  error own = *failure;  // the others may have asked for no number
  *failure = (error){0};
  bool alike = ranks_refuse(r, own.message);
  if (alike || !r->own)
    *failure = own;
  else
    error_set(failure, SPAN_NONE, "rank %u: %.480s", (unsigned)ranks_own(r), own.message);
  if (o->refused)
    *o->refused = r;
  else
    ranks_close(r);
  return NULL;
}

rank_world *ranks_keep(rank_world *r) {
  if (!r)
    return NULL;
  pthread_mutex_lock(&r->turn);
  r->owners++;
  pthread_mutex_unlock(&r->turn);
  return r;
}

void ranks_close(rank_world *r) {
  if (!r)
    return;
  pthread_mutex_lock(&r->turn);
  unsigned owners = --r->owners;
  pthread_mutex_unlock(&r->turn);
  if (owners)
    return;
  world_end_team(r);
  world_close_gpus(r);
  transport_close(r->own);
  pthread_mutex_destroy(&r->turn);
  free(r);
}

uint32_t ranks_count(const rank_world *r) { return r->count; }
uint32_t ranks_own(const rank_world *r) { return r->own ? r->own->rank : 0; }
bool ranks_are_here(const rank_world *r) { return !r->own; }
transport *ranks_transport(const rank_world *r) { return r->own; }

// What the caller was told of a rank is passed on as it is.
void ranks_fail(rank_world *r, const char *cause) {
  unsigned rank;
  char end;
  bool named = sscanf(cause, "rank %u%c", &rank, &end) == 2 && (end == ':' || end == ' ');
  world_begin_turn(r);
  if (r->own && named && r->own->forks == library_forks())
    r->own->kind->fail(r->own, cause);
  else if (r->own)
    transport_fail(r->own, cause, NULL);
  world_end_turn(r);
}

bool ranks_refuse(rank_world *r, const char *cause) {
  world_begin_turn(r);
  bool alike = r->own && transport_refuse(r->own, cause);
  world_end_turn(r);
  return alike;
}

bool ranks_speaks(rank_world *r) {
  world_begin_turn(r);
  bool speaks = !r->own || transport_speaks(r->own);
  world_end_turn(r);
  return speaks;
}

bool ranks_place(rank_world *w, const char *what, const uint64_t *lengths, size_t count,
                 uint64_t *first, uint64_t *whole, error *failure) {
  const rank_step step = {.step = "a call", .call = what, .text = strchr(what, '\n')};
  FREED uint64_t *all = NULL;
  for (size_t i = 0; i < count; i++)
    first[i] = 0, whole[i] = w->own ? 0 : lengths[i];
  if (!w->own)
    return true;
  world_begin_turn(w);
  if (rank_agree(w->own, &step, failure))
    all = transport_gather_each(w->own, lengths, count * sizeof *all, failure);
  world_end_turn(w);
  for (size_t i = 0; all && i < count; i++)
    for (uint32_t r = 0; r < w->count; r++) {
      first[i] += r < w->own->rank ? all[r * count + i] : 0;
      whole[i] += all[r * count + i];
    }
  return all != NULL;
}

// ---- threads as ranks ---------------------------------------------------------------------------

typedef struct member {
  const ranks_run *run;
  rank_place place;
  pthread_t thread;
  bool started, good;
  array_part *parts;  // by result
  error failure;
} member;

static void *run_member(void *with) {
  member *m = with;
  fesetenv(FE_DFL_ENV);
  m->good = rank_execute(m->run, &m->place, m->parts, &m->failure);
  return NULL;
}

// Starts a thread for each but the first, whose rank the caller is.
static void run_members(member *all, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    all[i].started = pool_start_thread(&all[i].thread, run_member, &all[i]);
    if (!all[i].started)
      transport_fail(
          all[i].place.transport,
          "no thread could be started; take fewer ranks, or raise the limit of processes "
          "(ulimit -u)",
          &all[i].failure);
  }
  run_member(&all[0]);
  for (uint32_t i = 1; i < count; i++)
    if (all[i].started)
      pthread_join(all[i].thread, NULL);
}

// The whole array of the result, of which the members have parts, or each all.
static bool join_parts(member *all, uint32_t count, const net_array *of, bool split, array *out) {
  uint64_t size = scalar_types[of->type].size;
  *out = (array){.type = of->type, .rank = 1, .dims = {of->count}};
  out->data = array_memory(of->count * size);
  for (uint32_t i = 0; i < (split ? count : 1) && out->data; i++) {
    const array_part *part = &all[i].parts[of->number];
    if (part->count)
      memcpy((char *)out->data + part->first * size, part->data, part->count * size);
  }
  for (uint32_t i = 0; i < count; i++) {
    free(all[i].parts[of->number].memory);
    all[i].parts[of->number] = (array_part){0};
  }
  return out->data;
}

// Whether a rank has a part of a result, and not all of it.
static bool is_split(const ranks_run *run, net_id a) {
  return run->shares->slab[a] && run->plan->arrays.items[a].number < run->returned;
}

// The failure of the rank that failed first, as all others have it.
static bool execute_members(member *all, uint32_t count, const ranks_run *run, array *results,
                            error *failure) {
  run_members(all, count);
  for (uint32_t i = 0; i < count; i++)
    if (!all[i].good)
      return error_pass(failure, &all[i].failure);
  bool good = true;
  for (net_id a = 0; a < run->plan->arrays.count && !run->runs; a++) {
    const net_array *of = &run->plan->arrays.items[a];
    if (of->role == NET_RESULT)
      good = join_parts(all, count, of, is_split(run, a), &results[of->number]) && good;
  }
  return good || error_no_memory(failure);
}

static bool execute_threads(rank_world *r, const ranks_run *run, array *results, error *failure) {
  size_t result = run->plan->arrays.count + 1;
  FREED member *all = calloc(r->count, sizeof *all);
  FREED array_part *parts = calloc(r->count * result, sizeof *parts);
  bool good = (all && parts) || error_no_memory(failure);
  good = good && world_begin_team(r, failure);
  for (uint32_t i = 0; good && i < r->count; i++) {
    all[i] = (member){.run = run, .parts = parts + i * result};
    all[i].place = (rank_place){.threads = run->threads > r->count ? run->threads / r->count : 1,
                                .transport = r->members[i],
                                .own = i,
                                .links = run->devices ? &r->links[i] : NULL};
  }
  good = good && execute_members(all, r->count, run, results, failure);
  for (size_t i = 0; parts && i < r->count * result; i++)
    free(parts[i].memory);
  if (!good || !run->devices)
    world_end_team(r);
  return good;
}

// ---- one rank -----------------------------------------------------------------------------------

static void free_part(void *with) {
  FREED array_part *part = with;
  free(part->memory);
}

// The array of a part, which it takes over.
static bool array_of_part(array_part *part, array *out) {
  array_owner *owner = malloc(sizeof *owner);
  array_part *kept = malloc(sizeof *kept);
  if (!owner || !kept) {
    free(owner);
    free(kept);
    return false;
  }
  *kept = *part;
  *owner = (array_owner){ARRAY_IN_PART, true, free_part, kept};
  out->owner = owner;
  *part = (array_part){0};
  return true;
}

// Of random elements the first tell the seed.
static bool add_digest(text *out, const array *a, unsigned threads, error *why) {
  enum { DRAWN = 4096 };
  uint64_t count = array_count(a), digest;
  count = array_device(a) == ARRAY_AT_RANDOM && count > DRAWN ? DRAWN : count;
  bool good = array_digest(a, count, threads, &digest, why);
  if (good)
    text_printf(out, "%" PRIx64 " ", digest);
  return good;
}

// Of the arguments that each rank has all of: those that stay in files, or the others.
static bool add_digests(text *out, const ranks_run *run, bool files, error *why) {
  bool good = true;
  for (size_t i = 0; i < run->argument_count && good; i++) {
    const array *a = &run->arguments[i];
    int32_t device = array_device(a);
    if (device != ARRAY_IN_PART && device <= ARRAY_HOST && (device == ARRAY_IN_FILE) == files)
      good = add_digest(out, a, run->threads, why);
  }
  return good;
}

static void describe_arguments(const ranks_run *run, text *types, text *shared) {
  for (size_t i = 0; i < run->argument_count; i++) {
    const array *a = &run->arguments[i];
    array_print_shape(types, a);
    text_string(types, i + 1 < run->argument_count ? ", " : "");
    text_string(shared, array_device(a) == ARRAY_IN_PART   ? "part "
                        : array_device(a) == ARRAY_IN_FILE ? "file "
                                                           : "all ");
  }
}

// Whether all ranks run the same program, at the same sizes, and exchange the same arguments.
static bool agree_on_program(transport *t, const ranks_run *run, error *failure) {
  FREED_BY(text_free) text stages = {0}, types = {0}, shared = {0}, whole = {0};
  error why = {0};
  shares_print(&stages, run->shares);
  describe_arguments(run, &types, &shared);
  bool described = add_digests(&whole, run, false, &why);
  rank_step step = {.step = "a run",
                    .entry = run->entry,
                    .text = run->text,
                    .types = text_content(&types),
                    .plan = text_content(&stages),
                    .parts = text_content(&shared),
                    .whole = text_content(&whole),
                    .floats = run->fast_floats ? "fast floats" : "strict ones",
                    .memory = run->devices ? "that of a GPU" : "that of the host"};
  return described && !stages.failed && !types.failed && !shared.failed && !whole.failed
             ? rank_agree(t, &step, failure)
             : transport_fail(t, error_is_set(&why) ? why.message : "out of memory", failure);
}

// Whether those in files are the same: none reads all of a file that is one for all.
static bool agree_on_files(transport *t, const ranks_run *run, error *failure) {
  uint64_t own = 0;
  bool same = true, good = true;
  for (size_t i = 0; i < run->argument_count; i++)
    if (array_device(&run->arguments[i]) == ARRAY_IN_FILE)
      own = own * 31 + array_file_identity(&run->arguments[i]);
  if (own)
    good = rank_compare(t, own, &same, failure);
  if (!good || same)
    return good;
  FREED_BY(text_free) text whole = {0};
  error why = {0};
  good = add_digests(&whole, run, true, &why) && !whole.failed
             ? rank_agree(t, &(rank_step){.step = "a run", .whole = text_content(&whole)}, failure)
             : transport_fail(t, error_is_set(&why) ? why.message : "out of memory", failure);
  return good;
}

static bool agree(transport *t, const ranks_run *run, error *failure) {
  return agree_on_program(t, run, failure) && agree_on_files(t, run, failure);
}

static bool execute_one(rank_world *r, const ranks_run *run, array *results, error *failure) {
  size_t count = run->plan->arrays.count;
  FREED array_part *parts = calloc(count + 1, sizeof *parts);
  if (!parts)
    return transport_fail(r->own, "out of memory", failure);
  rank_place place = {run->threads, r->own, 0, run->devices ? &r->links[0] : NULL};
  bool good = agree(r->own, run, failure) && rank_execute(run, &place, parts, failure);
  for (net_id a = 0; good && !run->runs && a < run->plan->arrays.count; a++) {
    const net_array *of = &run->plan->arrays.items[a];
    if (of->role != NET_RESULT)
      continue;
    array *out = &results[of->number];
    *out = (array){.type = of->type, .rank = 1, .dims = {of->count}};
    if (is_split(run, a)) {
      good = array_of_part(&parts[of->number], out) ||
             transport_fail(r->own, "out of memory", failure);
    } else {
      // Its data is its memory: element 0 is at a multiple of 64 bytes.
      out->data = parts[of->number].memory;
      parts[of->number] = (array_part){0};
    }
  }
  for (size_t i = 0; i < count; i++)
    free(parts[i].memory);
  return good;
}

// ---- the whole ----------------------------------------------------------------------------------

// From where the ranks have the result to where each wants it.
static bool deliver(transport *t, const array *made, const array *wanted, error *failure) {
  array_part from = array_own(made), to = array_own(wanted);
  uint64_t size = scalar_types[made->type].size;
  if (array_device(made) != ARRAY_IN_PART) {
    if (to.count)
      memcpy(to.data, (char *)from.data + to.first * size, to.count * size);
    return true;
  }
  FREED extent *has = parts_gather(t, from, failure);
  FREED extent *wants = has ? parts_gather(t, to, failure) : NULL;
  return wants && parts_exchange(t, has, from.data, wants, to.data, size, failure);
}

static bool deliver_all(rank_world *r, const ranks_run *run, array *results, error *failure) {
  bool good = true;
  for (uint32_t i = 0; run->wanted && i < run->returned; i++) {
    good = good && deliver(r->own, &results[i], &run->wanted[i], failure);
    array_destroy(&results[i]);
  }
  return good;
}

bool ranks_execute(rank_world *r, const ranks_run *run, array *results, error *failure) {
  world_begin_turn(r);
  bool good =
      r->own ? execute_one(r, run, results, failure) : execute_threads(r, run, results, failure);
  good = good && deliver_all(r, run, results, failure);
  world_end_turn(r);
  return good;
}
