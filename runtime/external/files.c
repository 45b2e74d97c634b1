// Files of arrays and of routines: which there are, and for how long. See files.h.
#include "runtime/external/files.h"
#include "runtime/external/routines/routine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const net_array *array_at(const run_files *f, net_id a) {
  return &f->run->steps->arrays.items[a];
}

static uint64_t bytes_of(const net_array *a) { return a->count * scalar_types[a->type].size; }

static bool make_file(run_files *f, run_file *file, const char *name, bool result, uint64_t bytes,
                      error *failure) {
  return run_file_make(file,
                       &(run_file_options){.folder = f->run->folder,
                                           .name = name,
                                           .journal = f->has_journal ? &f->journal : NULL,
                                           .result = result,
                                           .bytes = bytes},
                       failure);
}

// ---- arguments ---------------------------------------------------------------------------------

static const array *argument_of(const run_files *f, net_id a) {
  uint32_t number = array_at(f, a)->number;
  return number < f->run->argument_count ? &f->run->arguments[number] : NULL;
}

static bool copy_argument(run_files *f, net_id a, run_file *file, error *failure) {
  const net_array *of = array_at(f, a);
  uint64_t size = scalar_types[of->type].size, some = EXTERNAL_REQUEST / size;
  FREED char *piece = malloc(EXTERNAL_REQUEST);
  bool good = piece || error_no_memory(failure);
  for (uint64_t first = 0, count; good && first < of->count; first += count) {
    error why = {0};
    count = of->count - first < some ? of->count - first : some;
    good = array_fetch(argument_of(f, a), first, count, piece, &why) || error_pass(failure, &why);
    good = good && disk_write(&file->disk, first * size, piece, count * size, failure);
    if (good && f->run->interrupted && atomic_load(f->run->interrupted))
      good = error_set(failure, SPAN_NONE, "interrupted");
  }
  return good;
}

static bool open_argument(run_files *f, net_id a, run_file *file, error *failure) {
  const net_array *of = array_at(f, a);
  const array *given = argument_of(f, a);
  int descriptor;
  char name[40];
  if (!given || given->type != of->type || array_count(given) != of->count)
    return error_set(failure, SPAN_NONE, "an argument is missing, or has another length");
  if (!array_file_place(given, &descriptor, &file->offset)) {
    snprintf(name, sizeof name, "argument%" PRIu32, of->number);
    // A run that goes on has it from the step before, or from this one, whose first pieces are done.
    bool is_new = f->step == file->use.first && f->done == 0;
    return make_file(f, file, name, false, bytes_of(of), failure) &&
           (!is_new || copy_argument(f, a, file, failure));
  }
  file->path = strdup(array_file_name(given));
  return file->path ? disk_open_again(&file->disk, file->path, descriptor, failure)
                    : error_no_memory(failure);
}

// ---- arrays ------------------------------------------------------------------------------------

static bool open_array(run_files *f, net_id a, error *failure) {
  const net_array *of = array_at(f, a);
  run_file *file = &f->arrays[a];
  char name[40];
  if (file->disk.path || of->role == NET_TABLE)
    return true;
  if (of->role == NET_ARGUMENT)
    return open_argument(f, a, file, failure);
  bool result = of->role == NET_RESULT;
  file->offset = result ? RUN_HEADER : 0;
  snprintf(name, sizeof name, "f%" PRIu32, (uint32_t)a);
  return make_file(f, file, name, result, file->offset + bytes_of(of), failure);
}

static void note_use(run_files *f, net_id a, uint32_t step) {
  if (a != NET_NONE)
    storage_note_use(&f->arrays[a].use, step);
}

static void find_lifetimes(run_files *f) {
  const external *e = f->run->steps;
  for (net_id a = 0; a < e->arrays.count; a++)
    f->arrays[a] = RUN_FILE_NONE;
  for (uint32_t i = 0; i < e->steps.count; i++) {
    const external_step *s = &e->steps.items[i];
    for (size_t k = 0; k < s->moves.count; k++)
      note_use(f, s->moves.items[k].file, i);
    for (uint32_t k = 0; s->routine && k < s->routine->pair_count; k++) {
      note_use(f, s->routine->pairs[k].from, i);
      note_use(f, s->routine->pairs[k].to, i);
    }
    if (s->routine && s->routine->ragged)
      note_use(f, s->routine->offsets, i);
  }
}

external_place files_place(const run_files *f, net_id a) {
  return (external_place){&f->arrays[a].disk, f->arrays[a].offset};
}

external_place files_of_routine(run_files *f, uint32_t number, uint64_t offset, uint64_t bytes,
                                error *failure) {
  run_file *file = f->routines;
  char name[60];
  while (file && file->number != number)
    file = file->next;
  if (file)
    return (external_place){&file->disk, file->offset};
  if (!(file = malloc(sizeof *file)))
    return error_no_memory(failure), (external_place){0};
  *file = RUN_FILE_NONE;
  file->number = number;
  file->offset = offset;
  file->next = f->routines;
  f->routines = file;
  snprintf(name, sizeof name, "s%" PRIu32 "-%" PRIu32, f->step, number);
  bool good = make_file(f, file, name, false, offset + bytes, failure);
  return good ? (external_place){&file->disk, offset} : (external_place){0};
}

static void close_routines(run_files *f, bool remove) {
  for (run_file *file; (file = f->routines);) {
    f->routines = file->next;
    run_file_close(file, remove);
    free(file);
  }
}

// ---- steps -------------------------------------------------------------------------------------

static bool is_used(const run_files *f, net_id a) {
  return f->arrays[a].use.first <= f->step && f->step <= f->arrays[a].use.last;
}

// All that is written is on the disk; then that it is.
static bool note(run_files *f, uint32_t step, uint64_t done, error *failure) {
  bool good = true;
  for (net_id a = 0; a < f->run->steps->arrays.count && good; a++)
    good = !is_used(f, a) || run_file_sync(&f->arrays[a], failure);
  for (run_file *file = f->routines; file && good; file = file->next)
    good = run_file_sync(file, failure);
  return good && journal_note_done(&f->journal, step, done, failure);
}

bool files_begin_step(run_files *f, uint32_t step, error *failure) {
  const external *e = f->run->steps;
  bool good = true;
  f->step = step;
  f->done = f->has_journal && f->journal.step == step ? f->journal.done : 0;
  for (net_id a = 0; a < e->arrays.count && good; a++)
    if (is_used(f, a))
      good = open_array(f, a, failure);
  return good;
}

bool files_settle(run_files *f, uint64_t done, error *failure) {
  return !f->has_journal || note(f, f->step, done, failure);
}

bool files_end_step(run_files *f, error *failure) {
  const external *e = f->run->steps;
  if (f->has_journal && !note(f, f->step + 1, 0, failure))
    return false;
  close_routines(f, true);
  for (net_id a = 0; a < e->arrays.count; a++)
    if (is_used(f, a) && f->arrays[a].use.last == f->step && e->arrays.items[a].role != NET_RESULT)
      run_file_close(&f->arrays[a], true);
  return true;
}

// ---- results -----------------------------------------------------------------------------------

static bool load_result(run_file *file, array *out, error *failure) {
  const uint64_t dims[] = {out->dims[0]};
  if (!array_create(out, out->type, 1, dims))
    return error_no_memory(failure);
  return disk_read(&file->disk, file->offset, out->data, array_bytes(out), failure);
}

bool files_take_result(run_files *f, net_id a, array *out, error *failure) {
  const net_array *of = array_at(f, a);
  run_file *file = &f->arrays[a];
  if (!open_array(f, a, failure))
    return false;
  *out = (array){.type = of->type, .rank = 1, .dims = {of->count}};
  if (of->number >= f->run->returned)
    return load_result(file, out, failure);
  uint64_t size;
  if (!disk_size(&file->disk, &size, failure))
    return false;
  if (size < file->offset + bytes_of(of))
    return error_set(failure, SPAN_NONE, "%s: another process has cut this file", file->disk.path);
  // The file ends behind its last element, and is the array's from then on.
  if (ftruncate(file->disk.cached, (off_t)(file->offset + bytes_of(of))) != 0)
    return error_set_number(failure, errno, "%s: %s", file->disk.path, strerror(errno));
  error why;
  if (!array_of_file(out, file->disk.cached, file->offset, file->disk.path,
                     file->named ? file->path : NULL, !f->has_journal, &why))
    return error_pass(failure, &why);
  file->named = false;  // it is not the run's any more
  return true;
}

static bool make_folder(const char *folder, error *failure) {
  struct stat s;
  int why = mkdir(folder, 0777) == 0 ? 0 : errno;
  if (why == 0 || (why == EEXIST && stat(folder, &s) == 0 && S_ISDIR(s.st_mode)))
    return true;
  return error_set_number(failure, why, "%s: %s", folder,
                          why == EEXIST ? "it is no folder; remove it, or write elsewhere"
                                        : error_of_writing(why));
}

static bool open_journal(run_files *f, error *failure) {
  char hex[2 * DIGEST_BYTES + 1];
  if (!files_identify(f->run, hex, failure) || !make_folder(f->run->folder, failure))
    return false;
  f->has_journal = true;
  return journal_open(&f->journal, f->run->folder, hex, failure);
}

bool files_open(run_files *f, const external_run *r, error *failure) {
  *f = (run_files){.run = r};
  f->arrays = calloc(r->steps->arrays.count + 1, sizeof *f->arrays);
  if (!f->arrays)
    return error_no_memory(failure);
  find_lifetimes(f);
  return !r->resume || open_journal(f, failure);
}

void files_close(run_files *f) {
  bool remove = !f->has_journal;
  close_routines(f, remove);
  for (net_id a = 0; f->arrays && a < f->run->steps->arrays.count; a++)
    run_file_close(&f->arrays[a], remove);
  free(f->arrays);
  journal_close(&f->journal);
  f->arrays = NULL;
}
