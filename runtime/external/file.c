// Files with and without names, and their checksums. See file.h.
#include "runtime/external/file.h"
#include "core/number.h"
#include "core/units.h"
#include "runtime/system/temporary.h"
#include "runtime/system/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

// ---- checksums ---------------------------------------------------------------------------------

// In blocks so large that all of them take no more memory than there is for them.
static disk_sums shape_of_sums(const run_file_options *o, uint64_t bytes) {
  disk_sums s = {.block = DISK_PAGE};
  while (bytes / s.block * sizeof *s.of > o->sum_bytes)
    s.block *= 2;
  s.count = divide_up(bytes, s.block);
  return s;
}

// In a file beside it, so that what is in it stays when the process ends.
static bool map_sums(run_file *f, uint64_t bytes, error *failure) {
  text path = {0};
  text_printf(&path, "%s.sums", f->path);
  f->sums = path.failed ? -1 : open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  bool good = f->sums >= 0 && ftruncate(f->sums, (off_t)bytes) == 0 &&
              (errno = posix_fallocate(f->sums, 0, (off_t)bytes)) == 0;
  void *of = good ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->sums, 0) : MAP_FAILED;
  if (of != MAP_FAILED)
    f->disk.sums.of = of;
  else
    error_set(failure, SPAN_NONE, "%s: %s", text_content(&path),
              errno == ENOSPC ? "the disk is full" : strerror(errno));
  text_free(&path);
  return of != MAP_FAILED;
}

static bool add_sums(run_file *f, const run_file_options *o, uint64_t bytes, error *failure) {
  disk_sums s = shape_of_sums(o, bytes);
  bool good = true;
  f->disk.sums = s;
  if (o->journal && s.count)
    good = map_sums(f, s.count * sizeof *s.of, failure);
  else if (s.count)
    good = (f->disk.sums.of = calloc(s.count, sizeof *s.of)) || error_no_memory(failure);
  if (!good)
    f->disk.sums = (disk_sums){0};
  return good;
}

static void free_sums(run_file *f) {
  disk_sums *s = &f->disk.sums;
  if (f->sums >= 0 && s->of)
    munmap(s->of, s->count * sizeof *s->of);
  else
    free(s->of);
  if (f->sums >= 0)
    close(f->sums);
}

// ---- files -------------------------------------------------------------------------------------

static char *path_in(const char *folder, const char *name) {
  size_t length = strlen(folder);
  text path = {0};
  text_printf(&path, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
  if (path.failed)
    text_free(&path);
  return path.data;
}

static bool make_by_journal(run_file *f, const run_file_options *o, uint64_t bytes,
                            error *failure) {
  bool is_there = journal_has_made(o->journal, o->name, bytes);
  uint64_t size;
  f->named = true;
  if (is_there && access(f->path, F_OK) != 0)
    return error_set(failure, SPAN_NONE, "%s: it is gone; remove its folder to begin anew",
                     f->path);
  if (!disk_open(&f->disk, f->path, is_there ? DISK_UPDATE : DISK_CREATE, bytes, failure))
    return false;
  if (!is_there)
    return journal_note_made(o->journal, o->name, bytes, failure);
  return disk_size(&f->disk, &size, failure) &&
         (size + DISK_PAGE > bytes ||  // a result ends behind its last element
          error_set(failure, SPAN_NONE, "%s: it has been cut; remove its folder to begin anew",
                    f->path));
}

static void choose_name(char name[80]) {
  static atomic_uint serial;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(name, 80, ".permc-%lx-r%x-%lx.tmp", (long)getpid(), atomic_fetch_add(&serial, 1),
           (long)now.tv_nsec);
}

// ---- what is said -------------------------------------------------------------------------------

static const struct {
  int number;
  const char *cause;  // NULL: as strerror says
  bool sized;         // a smaller file would do
  const char *advice;
} causes[] = {
    {ENOSPC, "the disk is full", true, "free space, or write elsewhere (-o)"},
    {EDQUOT, NULL, true, "free space, or write elsewhere (-o)"},
    {EFBIG, NULL, true, "raise the limit of the size of files (ulimit -f)"},
    {EMFILE, NULL, false, "raise the limit of open files (ulimit -n)"},
};
enum { CAUSES = sizeof causes / sizeof *causes };

static const char *name_of_cause(int i) {
  return causes[i].cause ? causes[i].cause : strerror(causes[i].number);
}

// The number of the cause with which the line ends; CAUSES: another.
static int cause_of(const char *line) {
  size_t length = strlen(line);
  int i = 0;
  for (; i < CAUSES; i++) {
    const char *cause = name_of_cause(i);
    size_t end = strlen(cause);
    if (length >= end && strcmp(line + length - end, cause) == 0)
      break;
  }
  return i;
}

void run_file_advise(error *failure) {
  error why = *failure;
  int cause = cause_of(why.message);
  *failure = (error){0};
  error_set(failure, why.where, "%s%s%s", why.message, cause < CAUSES ? "; " : "",
            cause < CAUSES ? causes[cause].advice : "");
}

// Of files whose names are of no use to anyone: the folder, and what is needed there.
static bool fail_making(const run_file_options *o, uint64_t bytes, const error *why,
                        error *failure) {
  struct statvfs s;
  char needs[NUMBER_SPACE], has[NUMBER_SPACE], beside[NUMBER_SPACE + 20] = "";
  int cause = cause_of(why->message);
  if (cause == CAUSES || !causes[cause].sized)
    return error_set(failure, why->where, "%s", why->message);
  if (causes[cause].number == ENOSPC && statvfs(o->folder, &s) == 0)
    snprintf(beside, sizeof beside, " (%s are free)",
             show_bytes(has, (uint64_t)s.f_bavail * s.f_frsize));
  return error_set(failure, SPAN_NONE, "%s: a file of this run needs %s there%s: %s", o->folder,
                   show_bytes(needs, bytes), beside, name_of_cause(cause));
}

// ---- making -------------------------------------------------------------------------------------

// A result: without a name where it can get one later, else with one.
static bool make_hidden(run_file *f, const run_file_options *o, uint64_t bytes, error *failure) {
  int unnamed = unnamed_create(o->folder);
  char by_number[UNNAMED_PATH];
  const char *path = f->path;
  error why = {0};
  f->named = unnamed < 0;
  if (f->named)
    f->slot = temporary_register(path);
  else
    unnamed_path(by_number, unnamed), path = by_number;
  bool good = disk_open(&f->disk, path, DISK_CREATE, bytes, &why);
  f->disk.path = good ? o->folder : NULL;
  if (unnamed >= 0)
    close(unnamed);
  size_t length = strlen(path);
  bool told = strncmp(why.message, path, length) == 0;
  return good || error_set(failure, SPAN_NONE, "%s%s", told ? o->folder : "",
                           why.message + (told ? length : 0));
}

static bool make_file(run_file *f, const run_file_options *o, bool hidden, uint64_t bytes,
                      error *failure) {
  if (o->journal)
    return make_by_journal(f, o, bytes, failure);
  return hidden ? make_hidden(f, o, bytes, failure)
                : disk_open_unnamed(&f->disk, o->folder, o->folder, bytes, failure);
}

bool run_file_make(run_file *f, const run_file_options *o, error *failure) {
  uint64_t bytes = divide_up(o->bytes, DISK_PAGE) * DISK_PAGE;
  bool hidden = o->result && !o->journal;
  error why = {0};
  char name[80];
  choose_name(name);
  if (!(f->path = path_in(o->folder, hidden ? name : o->name)))
    return error_no_memory(failure);
  if (!make_file(f, o, hidden, bytes, &why))
    return fail_making(o, bytes, &why, failure);
  return o->result || add_sums(f, o, bytes, failure);
}

static void unlink_both(const run_file *f) {
  text path = {0};
  unlink(f->path);
  text_printf(&path, "%s.sums", f->path);
  if (!path.failed && f->sums >= 0)
    unlink(path.data);
  text_free(&path);
}

void run_file_close(run_file *f, bool remove) {
  if (remove && f->named)
    unlink_both(f);
  free_sums(f);
  disk_close(&f->disk);
  temporary_unregister(f->slot);
  free(f->path);
  f->disk = (disk_file){0};
  f->path = NULL;
  f->named = false;
  f->slot = f->sums = -1;
}

bool run_file_sync(const run_file *f, error *failure) {
  const disk_sums *s = &f->disk.sums;
  if (!f->named)
    return true;
  if (f->sums >= 0 && s->of && msync(s->of, s->count * sizeof *s->of, MS_SYNC) != 0)
    return error_set(failure, SPAN_NONE, "%s.sums: %s", f->path, strerror(errno));
  return disk_sync(&f->disk, failure);
}
