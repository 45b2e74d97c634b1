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
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

// ---- checksums ---------------------------------------------------------------------------------
//
// Of a run that may go on later they are also in a file, as they were at the last note, and at the
// one before:
// note n in slot n % 2, where it does not spoil the other if it is not written as a whole.

typedef struct slot {
  uint64_t note;
  uint64_t sum;  // of the note's number and the blocks, which follow
} slot;

static uint64_t blocks_bytes(const disk_sums *s) { return s->count * sizeof *s->of; }

static off_t place_of_slot(const disk_sums *s, uint64_t note) {
  return (off_t)(note % 2 * (sizeof(slot) + blocks_bytes(s)));
}

static uint64_t sum_of_slot(const disk_sums *s, uint64_t note) {
  return disk_sum(s->of, blocks_bytes(s)) ^ disk_sum(&note, sizeof note);
}

static bool fail_sums(const run_file *f, int number, error *failure) {
  return error_set_number(failure, number, "%s.sums: %s", f->path, error_of_writing(number));
}

// Whether the blocks of the slot are as they were at its note.
static bool load_blocks(run_file *f, uint64_t slot_number, const slot *own) {
  disk_sums *s = &f->disk.sums;
  ssize_t bytes = (ssize_t)blocks_bytes(s);
  off_t at = place_of_slot(s, slot_number) + (off_t)sizeof *own;
  return pread(f->sums, s->of, (size_t)bytes, at) == bytes && own->sum == sum_of_slot(s, own->note);
}

// The blocks as they were at the last note that the journal knows; no such slot: none was made
// since the file was. False: the slots are damaged.
static bool load_sums(run_file *f, uint64_t notes) {
  slot own[2] = {0};
  bool there[2];
  for (uint64_t i = 0; i < 2; i++) {
    if (pread(f->sums, &own[i], sizeof *own, place_of_slot(&f->disk.sums, i)) != sizeof *own ||
        own[i].note > notes + 1)  // the next one may have been on its way
      return false;
    there[i] = own[i].note && own[i].note <= notes;
  }
  uint64_t later = there[1] && (!there[0] || own[1].note > own[0].note);
  for (uint64_t k = 0; k < 2; k++)
    if (there[later ^ k] && load_blocks(f, later ^ k, &own[later ^ k]))
      return true;
  disk_sums_clear(&f->disk.sums);
  return !there[0] && !there[1];
}

static bool take_up_sums(run_file *f, const run_file_options *o, error *failure) {
  return load_sums(f, o->journal->notes) ||
         journal_fail_damaged(failure, o->folder, "%s.sums is not what was written", o->name);
}

static bool fail_opening_sums(const run_file *f, const run_file_options *o, bool is_there,
                              error *failure) {
  return is_there && errno == ENOENT
             ? journal_fail_damaged(failure, o->folder, "%s.sums is gone", o->name)
             : fail_sums(f, errno, failure);
}

static bool open_sums(run_file *f, const run_file_options *o, bool is_there, error *failure) {
  text path = {0};
  text_printf(&path, "%s.sums", f->path);
  errno = ENOMEM;
  f->sums = path.failed
                ? -1
                : open(path.data, O_RDWR | O_CLOEXEC | (is_there ? 0 : O_CREAT | O_TRUNC), 0666);
  bool good = f->sums >= 0 || fail_opening_sums(f, o, is_there, failure);
  text_free(&path);
  if (!good || is_there)
    return good && take_up_sums(f, o, failure);
  int number = posix_fallocate(f->sums, 0, 2 * place_of_slot(&f->disk.sums, 1));
  return !number || fail_sums(f, number, failure);
}

// Blocks are so large that all of them take no more memory than there is for them.
static void shape_sums(disk_sums *s, const run_file_options *o) {
  enum { LARGEST = 1 << 20 };
  *s = (disk_sums){.block = DISK_PAGE, .begin = o->offset, .end = o->bytes};
  while (o->bytes / s->block * sizeof *s->of > o->sum_bytes && s->block < LARGEST)
    s->block *= 2;
  s->count = divide_up(o->bytes, s->block);
}

static bool add_sums(run_file *f, const run_file_options *o, bool is_there, error *failure) {
  disk_sums *s = &f->disk.sums;
  shape_sums(s, o);
  if (s->count && !(s->of = calloc(s->count, sizeof *s->of))) {
    s->count = 0;
    return error_no_memory(failure);
  }
  return !s->count || !o->journal || open_sums(f, o, is_there, failure);
}

bool run_file_note_sums(const run_file *f, uint64_t note, error *failure) {
  const disk_sums *s = &f->disk.sums;
  if (f->sums < 0)
    return true;
  slot own = {note, sum_of_slot(s, note)};
  ssize_t bytes = (ssize_t)blocks_bytes(s);
  off_t at = place_of_slot(s, note);
  errno = ENOSPC;  // of a part that is written
  bool good = pwrite(f->sums, &own, sizeof own, at) == sizeof own &&
              pwrite(f->sums, s->of, (size_t)bytes, at + (off_t)sizeof own) == bytes &&
              fdatasync(f->sums) == 0;
  return good || fail_sums(f, errno, failure);
}

static void free_sums(run_file *f) {
  free(f->disk.sums.of);
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

// That it was made is noted when it has its checksums.
static bool make_by_journal(run_file *f, const run_file_options *o, uint64_t bytes,
                            error *failure) {
  bool is_there = f->found = journal_has_made(o->journal, o->name, bytes);
  return open_by_journal(f, o, is_there, bytes, failure) && add_sums(f, o, is_there, failure) &&
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
    {DISK_DAMAGED, false, "run it again, with --resume without its folder"},
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
  return good || error_set_number(failure, why.number, "%s%s", told ? o->folder : "",
                                  why.message + (told ? length : 0));
}

static bool make_file(run_file *f, const run_file_options *o, bool hidden, uint64_t bytes,
                      error *failure) {
  if (o->journal)
    return make_by_journal(f, o, bytes, failure);
  if (hidden)
    return make_hidden(f, o, bytes, failure);
  return disk_open_unnamed(&f->disk, o->folder, o->folder, bytes, failure) &&
         add_sums(f, o, false, failure);
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
  return !f->named || disk_sync(&f->disk, failure);
}
