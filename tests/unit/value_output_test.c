// Output files, which appear whole or not at all.
#include "values.h"

#include "runtime/system/temporary.h"
#include "runtime/system/unnamed.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

// As on a file system that has no files without names.
static bool lacks_unnamed;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (lacks_unnamed && (flags & O_TMPFILE) == O_TMPFILE)
    return errno = EOPNOTSUPP, -1;
  return __real_open(path, flags, mode);
}

// Not 0: a process that is killed when a file is to be renamed.
static pid_t killed;

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
  if (killed)
    kill(killed, SIGKILL);
  return __real_rename(from, to);
}

static bool has_unnamed(void) {
  int file = unnamed_create(temporary_path(""));
  if (file >= 0)
    close(file);
  return file >= 0;
}

static bool has_content(const char *path, const char *content) {
  memory m = load(path);
  bool same = strcmp(m.bytes, content) == 0 && m.count == strlen(content);
  free(m.bytes);
  return same;
}

static bool write_output(const char *path, const char *content, error *e) {
  output_file *o = output_open(path, e);
  if (!o)
    return false;
  fputs(content, output_stream(o));
  return output_commit(o, e);
}

// The names in the test's folder that output files leave behind.
static int temporaries_left(void) {
  char command[700];
  int count = -1;
  snprintf(command, sizeof command, "ls -A '%s' | grep -c '^[.]permc-.*[.]tmp$'",
           temporary_path(""));
  FILE *from = popen(command, "r");
  if (from && fscanf(from, "%d", &count) != 1)
    count = -1;
  if (from)
    pclose(from);
  return count;
}

static mode_t mode_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

static void check_appearing(void) {
  const char *path = temporary_path("out.txt");
  error e = {0};
  unlink(path);
  mode_t mask = umask(027);
  output_file *o = output_open(path, &e);
  REQUIRE(o != NULL);
  fputs("hello", output_stream(o));
  fflush(output_stream(o));
  CHECK(access(path, F_OK) != 0);
  CHECK_EQ_I64(temporaries_left(), !has_unnamed());
  CHECK(output_commit(o, &e));
  umask(mask);
  CHECK(has_content(path, "hello"));
  CHECK_EQ_I64(mode_of(path), 0640);
  chmod(path, 0604);
  CHECK(write_output(path, "again", &e));
  CHECK(has_content(path, "again"));
  CHECK_EQ_I64(mode_of(path), 0604);
  o = output_open(path, &e);
  fputs("lost", output_stream(o));
  output_discard(o);
  CHECK(has_content(path, "again"));
  CHECK_EQ_I64(temporaries_left(), 0);
  output_discard(NULL);
  unlink(path);
}

TEST(output_appears_whole) { check_appearing(); }

TEST(output_appears_whole_by_a_name) {
  lacks_unnamed = true;
  check_appearing();
  lacks_unnamed = false;
}

// Processes of ranks open it, so it has a name; and it appears, or goes.
TEST(an_output_that_others_find) {
  const char *path = temporary_path("shared.txt");
  error e = {0};
  for (int commits = 0; commits < 2; commits++) {
    output_file *o = output_open(path, &e);
    REQUIRE(o != NULL);
    const char *name = output_temporary(o);
    REQUIRE(name && name == output_temporary(o));
    CHECK_EQ_I64(temporaries_left(), 1);
    save(name, "theirs", 6);
    CHECK(output_close(o, &e));
    if (commits)
      CHECK(output_commit(o, &e) && has_content(path, "theirs"));
    else
      output_discard(o);
    CHECK_EQ_I64(temporaries_left(), 0);
  }
  unlink(path);
}

// The second has lost its folder, so that none appears, and the old file stays.
TEST(all_outputs_or_none) {
  char first[512], folder[512], second[600];
  error e = {0};
  snprintf(first, sizeof first, "%s", temporary_path("first.txt"));
  snprintf(folder, sizeof folder, "%s", temporary_path("goes"));
  snprintf(second, sizeof second, "%s/second.txt", folder);
  save(first, "old", 3);
  for (int goes = 0; goes < 2; goes++) {
    REQUIRE(mkdir(folder, 0777) == 0);
    output_file *made[3] = {output_open(first, &e), NULL, output_open(second, &e)};
    REQUIRE(made[0] && made[2]);
    fputs("new", output_stream(made[0]));
    if (goes && rmdir(folder) != 0) {
      output_discard(made[0]);
      output_discard(made[2]);
      rmdir(folder);
      SKIP("files have names here");
    }
    CHECK(outputs_commit(made, 3, &e) == !goes);
    CHECK(has_content(first, goes ? "old" : "new"));
    if (goes)
      CHECK_CONTAINS(e.message, "second.txt: No such file or directory");
    for (int i = 0; i < 3; i++)
      output_discard(made[i]);
    CHECK_EQ_I64(temporaries_left(), 0);
    save(first, "old", 3);
    unlink(second);
    rmdir(folder);
  }
  unlink(first);
}

// Of a process that is killed where its outputs have their first names, all replace the old ones
// all the same, a moment later.
TEST(outputs_of_a_process_that_is_killed) {
  char path[2][512];
  int status;
  if (!has_unnamed())
    SKIP("files have names here");
  for (int i = 0; i < 2; i++) {
    snprintf(path[i], sizeof path[i], "%s", temporary_path(i ? "killed_1" : "killed_0"));
    save(path[i], "old", 3);
  }
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    error e = {0};
    output_file *made[] = {output_open(path[0], &e), output_open(path[1], &e)};
    for (int i = 0; i < 2; i++)
      fputs("new", output_stream(made[i]));
    killed = getpid();
    outputs_commit(made, 2, &e);
    _exit(0);
  }
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (int waits = 0; waits < 5000 && !(temporaries_left() == 0 && has_content(path[1], "new"));
       waits++)
    usleep(1000);
  CHECK_EQ_I64(temporaries_left(), 0);
  for (int i = 0; i < 2; i++) {
    CHECK(has_content(path[i], "new"));
    unlink(path[i]);
  }
}

// A folder has come to its place: no other name is left.
TEST(an_output_that_cannot_be_replaced) {
  const char *path = temporary_path("place");
  error e = {0};
  unlink(path);
  output_file *o = output_open(path, &e);
  REQUIRE(o && mkdir(path, 0777) == 0);
  CHECK(!output_commit(o, &e));
  CHECK_EQ_I64(errno, EISDIR);
  CHECK_CONTAINS(e.message, "place: Is a directory");
  CHECK_EQ_I64(temporaries_left(), 0);
  CHECK(rmdir(path) == 0);
}

static void check_taking(void) {
  const char *path = temporary_path("taken.txt"), *other = temporary_path("other.txt");
  error e = {0};
  save(path, "old", 3);
  save(other, "other", 5);
  chmod(path, 0640);
  chmod(other, 0600);
  int file = open(other, O_RDWR), elsewhere = open("/proc/self/status", O_RDONLY);
  output_file *o = output_open(path, &e);
  REQUIRE(o && file >= 0);
  CHECK(!output_take(o, elsewhere));
  CHECK(output_take(o, file));
  CHECK(has_content(path, "old"));
  CHECK(output_commit(o, &e));
  CHECK(has_content(path, "other"));
  CHECK_EQ_I64(mode_of(path), 0640);
  CHECK_EQ_I64(temporaries_left(), 0);
  close(file);
  close(elsewhere);
  unlink(path), unlink(other);
}

TEST(an_output_takes_a_file) {
  check_taking();
  lacks_unnamed = true;
  check_taking();
  lacks_unnamed = false;
}

// A run that was killed had put the file there, and had more to do.
TEST(an_output_that_is_there_already) {
  const char *path = temporary_path("there.txt"), *other = temporary_path("of_the_run.txt");
  error e = {0};
  save(path, "result", 6);
  REQUIRE(link(path, other) == 0);
  int file = open(other, O_RDWR);
  output_file *o = output_open(path, &e);
  REQUIRE(o && file >= 0 && output_take(o, file));
  CHECK(output_commit(o, &e) && has_content(path, "result"));
  CHECK_EQ_I64(temporaries_left(), 0);
  close(file);
  unlink(path), unlink(other);
}

TEST(output_through_links) {
  const char *link = temporary_path("link"), *target = temporary_path("target"),
             *chain = temporary_path("chain");
  error e = {0};
  unlink(link), unlink(target), unlink(chain);
  REQUIRE(symlink("target", link) == 0 && symlink(link, chain) == 0);
  CHECK(write_output(chain, "one", &e));  // the target does not exist yet
  CHECK(has_content(target, "one"));
  CHECK(write_output(link, "two", &e));
  CHECK(has_content(target, "two"));
  struct stat status;
  CHECK(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
  unlink(link), unlink(target);
  REQUIRE(symlink("link", link) == 0);
  CHECK(!write_output(link, "x", &e));
  CHECK_CONTAINS(e.message, "Too many levels of symbolic links");
  unlink(link), unlink(chain);
}

TEST(outputs_that_are_one_file) {
  char path[4][512];
  const char *names[] = {"same_file", "same_link", "same_hard"};
  for (int i = 0; i < 3; i++) {
    snprintf(path[i], sizeof path[i], "%s", temporary_path(names[i]));
    unlink(path[i]);
  }
  snprintf(path[3], sizeof path[3], "%s", temporary_path("./same_file"));
  REQUIRE(symlink("same_file", path[1]) == 0);
  for (int round = 0; round < 2; round++) {  // before the file is there, and after
    CHECK(output_same(path[0], path[1]));
    CHECK(output_same(path[3], path[1]));
    CHECK(!output_same(path[0], path[2]));
    save(path[0], "x", 1);
  }
  REQUIRE(link(path[0], path[2]) == 0);
  CHECK(output_same(path[2], path[1]));
  CHECK(!output_same("-", "-"));
  CHECK(!output_same("/dev/null", "/dev/null"));
  for (int i = 0; i < 3; i++)
    unlink(path[i]);
}

TEST(output_errors) {
  error e = {0};
  CHECK(!write_output("tests/nowhere/out", "x", &e));
  CHECK_STR(e.message, "tests/nowhere/out: there is no folder 'tests/nowhere'; make it (mkdir -p "
                       "tests/nowhere), or write elsewhere");
  CHECK(!write_output("tests", "x", &e));
  CHECK_STR(e.message, "tests: this is a folder; name a file in it");
  CHECK(!write_output("", "x", &e));
  CHECK(!write_output("/dev/full", "x", &e));
  CHECK_STR(e.message, "/dev/full: No space left on device");
  // More than any buffer holds: the write fails long before commit.
  uint64_t count = 1 << 20, state = 0;
  array a;
  REQUIRE(array_random(&a, SCALAR_U8, 1, &count, &state));
  for (size_t f = 0; f < LENGTH(formats); f++) {
    output_file *o = output_open("/dev/full", &e);
    REQUIRE(o != NULL);
    CHECK(!value_write(output_stream(o), formats[f], &(permc_value){.components = &a, .count = 1},
                       &e));
    CHECK_STR(e.message, "cannot write: No space left on device");
    CHECK(!output_commit(o, &e));
    CHECK_STR(e.message, "/dev/full: No space left on device");
  }
  array_destroy(&a);
  CHECK(write_output("/dev/null", "x", &e));
}

TEST(output_to_a_read_only_file) {
  if (geteuid() == 0)
    SKIP("root may write everywhere");
  const char *path = temporary_path("read_only");
  error e = {0};
  save(path, "old", 3);
  chmod(path, 0444);
  CHECK(!write_output(path, "new", &e));
  CHECK_CONTAINS(e.message, "the file may not be written to");
  CHECK(has_content(path, "old"));
  unlink(path);
}

static void *read_fifo(void *path) {
  memory *m = malloc(sizeof *m);
  *m = load(path);
  return m;
}

TEST(output_to_a_fifo) {
  char path[512];
  snprintf(path, sizeof path, "%s", temporary_path("fifo"));
  error e = {0};
  pthread_t thread;
  void *result;
  unlink(path);
  REQUIRE(mkfifo(path, 0600) == 0);
  REQUIRE(pthread_create(&thread, NULL, read_fifo, path) == 0);
  CHECK(write_output(path, "through", &e));
  pthread_join(thread, &result);
  CHECK_STR(((memory *)result)->bytes, "through");
  free(((memory *)result)->bytes);
  free(result);
  unlink(path);
}

TEST(standard_output) {
  const char *path = temporary_path("stdout");
  error e = {0};
  fflush(stdout);
  int saved = dup(STDOUT_FILENO), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(saved >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0);
  printf("first ");
  bool good = write_output("-", "second ", &e);
  printf("third");
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(to);
  CHECK(good);
  CHECK(has_content(path, "first second third"));
  int full = open("/dev/full", O_WRONLY);
  saved = dup(STDOUT_FILENO);
  dup2(full, STDOUT_FILENO);
  good = write_output("-", "x", &e);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(full);
  CHECK(!good);
  CHECK_STR(e.message, "standard output: No space left on device");
  unlink(path);
}

TEST(signals_remove_temporaries) {
  error e = {0};
  lacks_unnamed = true;
  output_file *open_files[100];  // more than the registry holds
  for (int i = 0; i < 100; i++) {
    char name[32];
    snprintf(name, sizeof name, "signal_%d", i);
    open_files[i] = output_open(temporary_path(name), &e);
    REQUIRE(open_files[i] != NULL);
  }
  CHECK_EQ_I64(temporaries_left(), 100);
  errno = 77;
  temporary_remove_all_from_signal();
  CHECK_EQ_I64(errno, 77);
  CHECK(temporaries_left() <= 36);
  CHECK(!output_commit(open_files[0], &e));
  CHECK_CONTAINS(e.message, "signal_0: No such file or directory");
  for (int i = 1; i < 100; i++)
    output_discard(open_files[i]);
  CHECK_EQ_I64(temporaries_left(), 0);
  CHECK(write_output(temporary_path("signal_0"), "x", &e));  // the slots are free again
  unlink(temporary_path("signal_0"));
  lacks_unnamed = false;
}

TEST_MAIN()
