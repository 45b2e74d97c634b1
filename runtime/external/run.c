// The steps of a run on arrays in files. See run.h.
#include "runtime/external/run.h"
#include "runtime/external/routines/routine.h"
#include "runtime/external/share.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct running {
  const external_run *run;
  run_files files;
  disk *disk;
  cpu_store *store;
  external_place *places;  // by array
  uint64_t before, total;  // parts: of the steps before the one at work, of all
} running;

// ---- routines ----------------------------------------------------------------------------------

static external_place file_of_routine(void *with, uint32_t number, uint64_t offset, uint64_t bytes,
                                      error *failure) {
  running *r = with;
  return files_of_routine(&r->files, number, offset, bytes, failure);
}

static bool report_part(void *with, uint64_t done, error *failure) {
  const running *r = with;
  (void)failure;
  progress_report(&r->run->progress, r->before + done, r->total);
  return true;
}

static bool settle_part(void *with, uint64_t done, error *failure) {
  running *r = with;
  return files_settle(&r->files, done, failure);
}

static external_routine routine_of(const running *r, const external_step *s) {
  return (external_routine){.routine = s->routine,
                            .arrays = r->run->steps->arrays.items,
                            .places = r->places,
                            .by = {.memory = r->run->memory,
                                   .threads = r->run->threads,
                                   .interrupted = r->run->interrupted}};
}

static bool run_routine(running *r, const external_step *s, error *failure) {
  external_routine routine = routine_of(r, s);
  routine.between = file_of_routine;
  routine.by.report = report_part;
  routine.by.settle = settle_part;
  routine.by.with = r;
  routine.by.done = r->files.done;
  routine.by.disk = r->disk;
  return external_routine_run(&routine, failure);
}

// ---- steps -------------------------------------------------------------------------------------

// Its parts alone, or with `moved` also what it reads and writes, for which all blocks are looked
// at.
static bool measure(const external *e, size_t step, uint64_t memory, bool moved,
                    external_amount *out, error *failure) {
  static const disk_file some;
  const external_step *s = &e->steps.items[step];
  *out = (external_amount){0};
  if (!s->routine) {
    out->parts = shares_parts(s);
    if (moved)
      out->moved = external_step_traffic(e, s);
    return true;
  }
  FREED external_place *places = calloc(e->arrays.count + 1, sizeof *places);
  for (size_t a = 0; places && a < e->arrays.count; a++)
    places[a].file = &some;
  external_routine r = {
      .routine = s->routine, .arrays = e->arrays.items, .places = places, .by.memory = memory};
  return places ? external_routine_fit(&r, &out->parts, failure) &&
                      (!moved || external_routine_traffic(&r, &out->moved, failure))
                : error_no_memory(failure);
}

bool external_measure(const external *e, size_t step, uint64_t memory, external_amount *out,
                      error *failure) {
  return measure(e, step, memory, true, out, failure);
}

// Of all steps: none is begun where one does not fit.
static bool count_all(running *r, error *failure) {
  bool good = true;
  for (size_t i = 0; i < r->run->steps->steps.count && good; i++) {
    external_amount amount;
    good = measure(r->run->steps, i, r->run->memory, false, &amount, failure);
    r->total += amount.parts;
  }
  return good;
}

static bool run_step(running *r, uint32_t number, error *failure) {
  const external_step *s = &r->run->steps->steps.items[number];
  if (!files_begin_step(&r->files, number, failure))
    return false;
  for (net_id a = 0; a < r->run->steps->arrays.count; a++)
    r->places[a] = files_place(&r->files, a);
  share_options o = {.run = r->run,
                     .files = &r->files,
                     .disk = r->disk,
                     .store = r->store,
                     .step = number,
                     .report = report_part,
                     .with = r};
  bool good = s->routine ? run_routine(r, s, failure) : shares_execute(&o, failure);
  return good && files_end_step(&r->files, failure);
}

static bool run_steps(running *r, error *failure) {
  bool good = true;
  uint32_t begin = r->files.has_journal ? r->files.journal.step : 0;
  for (uint32_t i = 0; i < r->run->steps->steps.count && good; i++) {
    external_amount amount;
    good = measure(r->run->steps, i, r->run->memory, false, &amount, failure) &&
           (i < begin || run_step(r, i, failure));
    r->before += amount.parts;
  }
  return good;
}

static bool take_results(running *r, array *results, error *failure) {
  const external *e = r->run->steps;
  bool good = true;
  for (net_id a = 0; a < e->arrays.count && good; a++)
    if (e->arrays.items[a].role == NET_RESULT)
      good = files_take_result(&r->files, a, &results[e->arrays.items[a].number], failure);
  return good;
}

// ---- the whole ---------------------------------------------------------------------------------

static bool make_running(running *r, error *failure) {
  r->places = calloc(r->run->steps->arrays.count + 1, sizeof *r->places);
  r->store = cpu_store_new();
  if (!r->places || !r->store)
    return error_no_memory(failure);
  if (!count_all(r, failure))
    return false;
  r->disk = disk_new(NULL, r->run->interrupted, failure);
  return r->disk && files_open(&r->files, r->run, failure);
}

bool external_execute(const external_run *run, array *results, error *failure) {
  running r = {.run = run};
  bool good =
      make_running(&r, failure) && run_steps(&r, failure) && take_results(&r, results, failure);
  if (!good)
    run_file_advise(failure);
  if (good && run->lock && run->resume)
    *run->lock = journal_keep(&r.files.journal);
  files_close(&r.files);
  if (run->moved && r.disk)
    *run->moved = disk_counts_of(r.disk);
  disk_free(r.disk);
  cpu_store_free(r.store);
  free(r.places);
  return good;
}

// The journal, which says whose files these are, goes last.
void external_remove(const char *folder, int lock) {
  DIR *all = opendir(folder);
  int own = all ? journal_clear(dirfd(all), lock) : lock;
  if (all && own >= 0) {
    for (struct dirent *e; (e = readdir(all));)
      if (journal_is_of_run(e->d_name))
        unlinkat(dirfd(all), e->d_name, 0);
    unlinkat(dirfd(all), "journal", 0);
    if (rmdir(folder) != 0 && errno == ENOTDIR)
      unlink(folder);  // a link to a folder, which is the user's
  }
  if (all)
    closedir(all);
  if (own >= 0)
    close(own);
}
