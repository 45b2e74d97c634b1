// Files with and without names. See file.h.
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
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

// ---- files -------------------------------------------------------------------------------------

static char *path_in(const char *folder, const char *name) {
  size_t length = strlen(folder);
  text path = {0};
  text_printf(&path, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", name);
  if (path.failed)
    text_free(&path);
  return path.data;
}

static bool open_by_journal(run_file *f, const run_file_options *o, bool is_there, uint64_t bytes,
                            error *failure) {
  uint64_t size;
  struct stat s;
  f->named = true;
  if (is_there && lstat(f->path, &s) != 0)
    return journal_fail_damaged(failure, o->folder, "%s is gone", o->name);
  if (is_there && !S_ISREG(s.st_mode))
    return journal_fail_damaged(failure, o->folder, "%s is no file", o->name);
  if (!is_there)
    unlink(f->path);  // a link leads to what is not the run's
  if (!disk_open(&f->disk, f->path, is_there ? DISK_UPDATE : DISK_CREATE, bytes, failure))
    return false;
  return !is_there || (disk_size(&f->disk, &size, failure) &&
                       (size >= o->bytes ||  // a result ends behind its last element
                        journal_fail_damaged(failure, o->folder, "%s has been cut", o->name)));
}

static bool make_by_journal(run_file *f, const run_file_options *o, uint64_t bytes,
                            error *failure) {
  bool is_there = journal_has_made(o->journal, o->name, bytes);
  return open_by_journal(f, o, is_there, bytes, failure) &&
         (is_there || journal_note_made(o->journal, o->name, bytes, failure));
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
  bool sized;  // a smaller file would do
  const char *advice;
} causes[] = {
    {ENOSPC, true, "free space, or write elsewhere (-o)"},
    {EDQUOT, true, "free space, or write elsewhere (-o)"},
    {EFBIG, true, "raise the limit of the size of files (ulimit -f)"},
    {EMFILE, false, "raise the limit of open files (ulimit -n)"},
};
enum { CAUSES = sizeof causes / sizeof *causes };

// CAUSES: another.
static int cause_of(const error *why) {
  int i = 0;
  while (i < CAUSES && causes[i].number != why->number)
    i++;
  return i;
}

void run_file_advise(error *failure) {
  error why = *failure;
  int cause = cause_of(&why);
  if (cause == CAUSES)
    return;
  *failure = (error){0};
  error_set_number(failure, why.number, "%s; %s", why.message, causes[cause].advice);
}

// Of files whose names are of no use to anyone: the folder, and what is needed there.
static bool fail_making(const run_file_options *o, uint64_t bytes, const error *why,
                        error *failure) {
  struct statvfs s;
  char needs[NUMBER_SPACE], has[NUMBER_SPACE], beside[NUMBER_SPACE + 20] = "";
  int cause = cause_of(why);
  if (cause == CAUSES || !causes[cause].sized)
    return error_pass(failure, why);
  if (why->number == ENOSPC && statvfs(o->folder, &s) == 0)
    snprintf(beside, sizeof beside, " (%s are free)",
             show_bytes(has, (uint64_t)s.f_bavail * s.f_frsize));
  return error_set_number(failure, why->number, "%s: a file of this run needs %s there%s: %s",
                          o->folder, show_bytes(needs, bytes), beside,
                          error_of_writing(why->number));
}

// ---- making -------------------------------------------------------------------------------------

// A result: without a name where it can get one later, else with one.
static bool make_hidden(run_file *f, const run_file_options *o, uint64_t bytes, error *failure) {
  int unnamed = unnamed_create(o->folder);
  f->named = unnamed < 0;
  if (!f->named)
    return disk_take(&f->disk, o->folder, unnamed, bytes, failure);
  error why = {0};
  f->slot = temporary_register(f->path);
  bool good = disk_open(&f->disk, f->path, DISK_CREATE, bytes, &why);
  f->disk.path = good ? o->folder : NULL;
  size_t length = strlen(f->path);
  bool told = strncmp(why.message, f->path, length) == 0;
  return good || error_set_number(failure, why.number, "%s%s", told ? o->folder : "",
                                  why.message + (told ? length : 0));
}

static bool make_file(run_file *f, const run_file_options *o, bool hidden, uint64_t bytes,
                      error *failure) {
  if (o->journal)
    return make_by_journal(f, o, bytes, failure);
  if (hidden)
    return make_hidden(f, o, bytes, failure);
  return disk_open_unnamed(&f->disk, o->folder, bytes, failure);
}

bool run_file_make(run_file *f, const run_file_options *o, error *failure) {
  uint64_t bytes = divide_up(o->bytes, DISK_PAGE) * DISK_PAGE;
  bool hidden = o->result && !o->journal;
  error why = {0};
  char name[80];
  choose_name(name);
  if (!(f->path = path_in(o->folder, hidden ? name : o->name)))
    return error_no_memory(failure);
  return make_file(f, o, hidden, bytes, &why) || fail_making(o, bytes, &why, failure);
}

void run_file_close(run_file *f, bool remove) {
  if (remove && f->named)
    unlink(f->path);
  disk_close(&f->disk);
  temporary_unregister(f->slot);
  free(f->path);
  f->disk = (disk_file){0};
  f->path = NULL;
  f->named = false;
  f->slot = -1;
}

bool run_file_sync(const run_file *f, error *failure) {
  return !f->named || disk_sync(&f->disk, failure);
}
