// The cache of compiled code: digests, entries that are right and wrong, folders that cannot be
// used, two processes at once, the bound; and compilers that are missing, fail, or are interrupted.
#include "tests/test.h"

#include "fusion/plan/plan.h"
#include "runtime/compiled/compiler.h"
#include "runtime/system/cache.h"
#include "runtime/system/temporary.h"
#include "tests/readers/readers.h"
#include "tests/unit/compiled.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char place[512];  // a new folder for each test

static void set(char *out, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static void set(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(out, size, format, arguments) >= (int)size)
    abort();
  va_end(arguments);
}

static void enter(const char *name) {
  const char *folder = getenv("PERMC_TMP");
  set(place, sizeof place, "%s/%s-XXXXXX", folder ? folder : "/tmp", name);
  if (!mkdtemp(place))
    abort();
  setenv("PERMC_CACHE", place, 1);
  setenv("TMPDIR", place, 1);
  unsetenv("PERMC_CC");
}

static void leave(void) {
  char command[600];
  set(command, sizeof command, "chmod -R u+w %s; rm -rf %s", place, place);
  if (system(command) != 0)
    printf("%s is left\n", place);
}

static size_t count_files(const char *folder) {
  size_t count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d)) != NULL;)
    count += e->d_name[0] != '.';
  if (d)
    closedir(d);
  return count;
}

static const char *in_place(const char *name) {
  static char path[1200];
  set(path, sizeof path, "%s/%s", place, name);
  return path;
}

static void write_text(const char *path, const char *content, mode_t mode) {
  FILE *f = fopen(path, "w");
  if (!f || fputs(content, f) < 0 || fclose(f) != 0 || chmod(path, mode) != 0)
    abort();
}

static size_t count_entries(void) {
  cache c;
  cache_list l;
  cache_look(&c);
  CHECK(cache_count(&c, &l));
  size_t count = l.count;
  cache_list_free(&l);
  return count;
}

static uint64_t clear(const cache *c) {
  uint64_t removed = UINT64_MAX;
  CHECK(cache_clear(c, &removed));
  return removed;
}

// ---- digests ---------------------------------------------------------------------------------

static void check_digest(const char *content, size_t count, const char *expected) {
  unsigned char out[DIGEST_BYTES];
  char hex[2 * DIGEST_BYTES + 1];
  for (size_t step = 1; step < 300; step += 61) {
    digest d = digest_start();
    for (size_t i = 0; i < count; i += step)
      digest_add(&d, content + i, count - i < step ? count - i : step);
    digest_finish(&d, out);
    digest_hex(out, hex);
    CHECK_STR(hex, expected);
  }
}

// As hashlib.blake2b(..., digest_size=32) says.
TEST(digests) {
  char many[1000];
  for (size_t i = 0; i < sizeof many; i++)
    many[i] = (char)(i * 7);
  check_digest("", 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  check_digest("abc", 3, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  check_digest(many, 128, "14696d2a98d9f8a280da8b132b1045b345e1033759c6b02fcc4ee885c8ae7c37");
  check_digest(many, 129, "3934215260b1039be9d9d2b073b059bcd50120c327a22af93eb4d98cf821c14c");
  check_digest(many, 1000, "6ac4bea923678eb024090384d6e767b5870f849057dc19b172d8d9f2df30bf8e");
}

// ---- entries ---------------------------------------------------------------------------------

static const char key_a[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const char key_b[] = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// An entry of that content; whether it became one.
static bool keep(const cache *c, const char *key, const char *content, char path[CACHE_PATH]) {
  cache_work w;
  const char *why;
  char file[CACHE_PATH + 8];
  if (!cache_work_begin(c, &w, &why))
    return false;
  set(file, sizeof file, "%s/code.so", w.folder);
  write_text(file, content, 0700);
  bool kept = cache_keep(c, &w, "code.so", key, path);
  CHECK(access(path, R_OK) == 0);
  cache_work_end(&w);
  CHECK(access(w.folder, F_OK) != 0 || !w.folder[0]);
  return kept;
}

TEST(entries) {
  cache c;
  char path[CACHE_PATH], found[CACHE_PATH];
  enter("entries");
  cache_open(&c);
  CHECK_STR(c.folder, place);
  CHECK(!cache_find(&c, key_a, found));
  CHECK(keep(&c, key_a, "some code", path));
  CHECK(cache_find(&c, key_a, found));
  CHECK_STR(found, path);
  CHECK(!cache_find(&c, key_b, found));
  CHECK_EQ_U64(count_entries(), 1);
  CHECK_EQ_U64(clear(&c), 4096);
  CHECK_EQ_U64(count_entries(), 0);
  CHECK(!cache_find(&c, key_a, found));
  leave();
}

TEST(wrong_entries) {
  cache c;
  char path[CACHE_PATH], other[CACHE_PATH];
  struct stat s;
  enter("wrong");
  cache_open(&c);
  // another key's entry
  keep(&c, key_a, "some code", path);
  set(other, sizeof other, "%s/%s.so", in_place("permc-entries"), key_b);
  CHECK(link(path, other) == 0);
  CHECK(!cache_find(&c, key_b, other));
  // each byte changed; cut off anywhere
  CHECK(stat(path, &s) == 0);
  for (off_t i = 0; i < s.st_size; i++) {
    int file = open(path, O_RDWR);
    char byte = 0;
    CHECK(pread(file, &byte, 1, i) == 1);
    byte ^= 1;
    CHECK(pwrite(file, &byte, 1, i) == 1);
    CHECK(!cache_find(&c, key_a, other));
    byte ^= 1;
    CHECK(pwrite(file, &byte, 1, i) == 1);
    close(file);
  }
  CHECK(cache_find(&c, key_a, other));
  for (off_t length = s.st_size - 1; length >= 0; length -= 7) {
    CHECK(truncate(path, length) == 0);
    CHECK(!cache_find(&c, key_a, other));
  }
  // writable by others; a link; a folder
  CHECK(keep(&c, key_a, "some code", path));
  CHECK(cache_find(&c, key_a, other));
  chmod(path, 0722);
  CHECK(!cache_find(&c, key_a, other));
  CHECK(keep(&c, key_a, "some code", path));
  CHECK(rename(path, in_place("elsewhere")) == 0);
  CHECK(symlink(in_place("elsewhere"), path) == 0);
  CHECK(!cache_find(&c, key_a, other));
  CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
  CHECK(!cache_find(&c, key_a, other));
  CHECK(!keep(&c, key_a, "some code", path));
  leave();
}

TEST(folders) {
  cache c;
  char path[CACHE_PATH];
  enter("folders");
  setenv("PERMC_CACHE", in_place("a/b/c"), 1);
  cache_open(&c);
  CHECK_STR(c.folder, in_place("a/b/c"));
  CHECK(keep(&c, key_a, "code", path));
  // writable by others: not used, and still everything works
  chmod(in_place("a/b/c"), 0777);
  cache_open(&c);
  CHECK_STR(c.folder, "");
  CHECK_CONTAINS(c.problem, "can be written to by other users");
  CHECK(!keep(&c, key_b, "code", path));
  // a file
  write_text(in_place("file"), "", 0600);
  setenv("PERMC_CACHE", in_place("file"), 1);
  cache_open(&c);
  CHECK_STR(c.folder, "");
  setenv("PERMC_CACHE", in_place("file/inside"), 1);
  cache_open(&c);
  CHECK_STR(c.folder, "");
  // by XDG, by HOME, by nothing
  unsetenv("PERMC_CACHE");
  setenv("XDG_CACHE_HOME", in_place("xdg"), 1);
  cache_open(&c);
  CHECK_STR(c.folder, in_place("xdg/permc"));
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", place, 1);
  cache_open(&c);
  CHECK_STR(c.folder, in_place(".cache/permc"));
  unsetenv("HOME");
  cache_open(&c);
  CHECK_STR(c.folder, "");
  CHECK_CONTAINS(c.problem, "HOME");
  leave();
}

TEST(bound) {
  cache c;
  uint64_t removed;
  char path[CACHE_PATH], key[CACHE_KEY], content[1001];
  enter("bound");
  memset(content, 'x', 1000);
  content[1000] = 0;
  cache_open(&c);
  CHECK(cache_limit(&c, UINT64_C(8) * 4096, &removed));
  for (int i = 0; i < 10; i++) {
    set(key, sizeof key, "%064d", i);
    CHECK(keep(&c, key, content, path));
    struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    if (i == 4) {  // used again
      set(key, sizeof key, "%064d", 1);
      CHECK(cache_find(&c, key, path));
    }
    CHECK_EQ_U64(count_entries(), i < 8 ? i + 1 : i - 1);  // 7 of 8 stay
  }
  for (int i = 0; i < 10; i++) {
    set(key, sizeof key, "%064d", i);
    CHECK_EQ_U64(cache_find(&c, key, path), i == 1 || i > 2);
  }
  // one that is too large for it; a limit for all processes; none at all
  char *large = calloc(1, 40000);
  REQUIRE(large != NULL);
  memset(large, 'x', 39999);
  CHECK(!keep(&c, key_b, large, path));
  CHECK_EQ_U64(count_entries(), 8);
  cache_open(&c);
  CHECK(cache_limit(&c, UINT64_C(4) * 4096, &removed));
  CHECK_EQ_U64(removed, 4 * 4096);
  CHECK_EQ_U64(count_entries(), 4);
  CHECK(cache_limit(&c, 0, &removed));
  CHECK(!keep(&c, key_a, content, path));
  CHECK_EQ_U64(count_entries(), 0);
  // an index that a power loss has damaged
  CHECK(cache_limit(&c, UINT64_C(1) << 20, &removed));
  CHECK(keep(&c, key_a, content, path));
  write_text(in_place("permc-entries/index"), "permc", 0600);
  CHECK(keep(&c, key_b, content, path));
  CHECK_EQ_U64(count_entries(), 2);
  free(large);
  leave();
}

// What adding an entry reads does not depend on what lies in the folder.
TEST(no_folder_is_read_to_add_an_entry) {
  cache c;
  char path[CACHE_PATH], events[4096];
  enter("constant");
  cache_open(&c);
  CHECK(keep(&c, key_a, "code", path));
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  REQUIRE(watch >= 0);
  CHECK(inotify_add_watch(watch, place, IN_ACCESS | IN_ONLYDIR) >= 0);
  CHECK(inotify_add_watch(watch, in_place("permc-entries"), IN_ACCESS | IN_ONLYDIR) >= 0);
  CHECK(keep(&c, key_b, "code", path));
  ssize_t length = read(watch, events, sizeof events);
  for (ssize_t i = 0; i < length;) {
    struct inotify_event e;
    memcpy(&e, events + i, sizeof e);
    CHECK(e.len > 0 || (e.mask & IN_ISDIR) == 0);  // of the folder itself
    i += (ssize_t)(sizeof e + e.len);
  }
  close(watch);
  leave();
}

// ---- what permc has not made -----------------------------------------------------------------

static void make_old(const char *path) {
  struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0)
    abort();
}

static void run_command(const char *format, const char *a, const char *b) {
  char command[2 * CACHE_PATH + 100];
  set(command, sizeof command, format, a, b);
  if (system(command) != 0)
    abort();
}

// A folder of that name, in the cache's, with a file in it.
static void make_old_folder(const char *name) {
  char path[600];
  set(path, sizeof path, "%s", in_place(name));
  if (mkdir(path, 0700) != 0)
    abort();
  strcat(path, "/code.so");
  write_text(path, "of the user", 0600);
  make_old(in_place(name));
}

// A work folder as a process that was killed leaves it.
static void leave_work(const cache *c, cache_work *w) {
  char path[CACHE_PATH + 8];
  const char *why;
  if (!cache_work_begin(c, w, &why))
    abort();
  set(path, sizeof path, "%s/code.so", w->folder);
  write_text(path, "half", 0600);
  closedir(w->opened);
}

static bool has_code(const char *folder) {
  char path[CACHE_PATH + 8];
  set(path, sizeof path, "%s/code.so", folder);
  return access(path, R_OK) == 0;
}

TEST(only_own_work_folders_are_removed) {
  cache c;
  cache_work killed, at_work, renamed, copied, with_folder;
  char path[CACHE_PATH], other[CACHE_PATH + 8];
  const char *why;
  enter("work");
  cache_open(&c);
  make_old_folder("permc-work/work-notes");
  make_old_folder("permc-work/work-AbCdEf");
  make_old_folder("permc-work/notes");
  make_old_folder("work-notes");
  CHECK(symlink("notes", in_place("permc-work/work-Linked")) == 0);
  CHECK(mkdir(in_place("permc-work/work-Empty"), 0700) == 0);  // killed before it was marked
  CHECK(cache_work_begin(&c, &at_work, &why));
  set(other, sizeof other, "%s/code.so", at_work.folder);
  write_text(other, "half", 0600);
  leave_work(&c, &renamed);
  CHECK(rename(renamed.folder, in_place("permc-work/work-mine")) == 0);
  leave_work(&c, &copied);
  run_command("mv %s %s", copied.folder, in_place("aside"));
  run_command("cp -a %s %s", in_place("aside"), copied.folder);
  leave_work(&c, &with_folder);
  set(other, sizeof other, "%s/sub", with_folder.folder);
  CHECK(mkdir(other, 0700) == 0);
  set(other, sizeof other, "%s/sub/file", with_folder.folder);
  write_text(other, "of the user", 0600);
  leave_work(&c, &killed);
  CHECK(keep(&c, key_a, "code", path));
  CHECK(clear(&c) > 0);
  CHECK(access(killed.folder, F_OK) != 0);
  CHECK(access(in_place("permc-work/work-Empty"), F_OK) != 0);
  CHECK(has_code(at_work.folder));
  CHECK(has_code(in_place("permc-work/work-notes")));
  CHECK(has_code(in_place("permc-work/work-AbCdEf")));
  CHECK(has_code(in_place("permc-work/work-Linked")));
  CHECK(has_code(in_place("permc-work/work-mine")));
  CHECK(has_code(in_place("work-notes")));
  CHECK(has_code(copied.folder));
  CHECK(access(other, F_OK) == 0);
  cache_work_end(&at_work);
  CHECK(access(at_work.folder, F_OK) != 0 || !at_work.folder[0]);
  leave();
}

// While a compiler runs, the user has put another folder, or a link to one, in the place.
TEST(exchanged_work_folders) {
  cache c;
  char path[CACHE_PATH];
  enter("exchanged");
  cache_open(&c);
  make_old_folder("notes");
  for (int by_link = 0; by_link < 2; by_link++) {
    cache_work w;
    const char *why;
    char folder[CACHE_PATH];
    CHECK(cache_work_begin(&c, &w, &why));
    memcpy(folder, w.folder, sizeof folder);
    run_command("mv %s %s", folder, in_place(by_link ? "first" : "second"));
    run_command(by_link ? "ln -s %s %s" : "cp -r %s %s", in_place("notes"), folder);
    CHECK(!cache_keep(&c, &w, "code.so", key_a, path));
    cache_work_end(&w);
    CHECK(has_code(folder));
    CHECK(has_code(in_place("notes")));
  }
  leave();
}

static const char *const foreign_names[] = {
    "f000000000000000000000000000000000000000000000000000000000000000.so",
    "f000000000000000000000000000000000000000000000000000000000000001.text",
    "f000000000000000000000000000000000000000000000000000000000000002.so",
    "f000000000000000000000000000000000000000000000000000000000000003.so",
    "f000000000000000000000000000000000000000000000000000000000000004.text",
};

TEST(only_own_entries_are_removed) {
  cache c;
  char path[CACHE_PATH], key[CACHE_KEY], content[10001];
  uint64_t removed;
  enter("foreign");
  cache_open(&c);
  memset(content, 'x', 10000);
  content[10000] = 0;
  char folder[600];
  set(folder, sizeof folder, "%s", in_place("permc-entries"));
  REQUIRE(chdir(folder) == 0);
  write_text(foreign_names[0], content, 0600);
  write_text(foreign_names[1], "short", 0600);
  write_text("photo", content, 0600);
  CHECK(symlink("photo", foreign_names[2]) == 0);
  CHECK(mkdir(foreign_names[3], 0700) == 0);
  CHECK(mkfifo(foreign_names[4], 0600) == 0);
  for (size_t i = 0; i < 5; i++)
    make_old(foreign_names[i]);
  // They do not count for the bound.
  CHECK(cache_limit(&c, UINT64_C(8) * 4096, &removed));
  content[1000] = 0;
  for (int i = 0; i < 9; i++) {
    set(key, sizeof key, "%064d", i);
    CHECK(keep(&c, key, content, path));
    struct timespec times[2] = {{.tv_sec = 2000 + i}, {.tv_sec = 2000 + i}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
  }
  for (int i = 0; i < 9; i++) {
    set(key, sizeof key, "%064d", i);
    CHECK_EQ_U64(cache_find(&c, key, path), i >= 2);
  }
  CHECK_EQ_U64(clear(&c), 7 * 4096);
  CHECK_EQ_U64(count_files("."), 7);  // these, the photo and the index
  CHECK_EQ_U64(clear(&c), 0);
  CHECK(chdir("/") == 0);
  leave();
}

// ---- compiling -------------------------------------------------------------------------------

static arena memory;
static jmp_buf memory_failure;

// A plan that copies an array of 16 elements.
static plan *small_plan(void) {
  static const char description[] = "array a0 u32 16 argument 0\n"
                                    "array a1 u32 16 result 0\n"
                                    "stage n=4\n"
                                    "  v0 = load a0 at x0 + 2*x1 + 4*x2 + 8*x3\n"
                                    "  store v0 in a1 at x3 + 2*x2 + 4*x1 + 8*x0\n";
  const char *wrong = NULL;
  memory = (arena){.failure = &memory_failure};
  if (setjmp(memory_failure))
    abort();
  net *t = net_read(&memory, description, &wrong);
  return wrong ? NULL : plan_make(&memory, t, target_named("baseline"), NULL);
}

static bool runs(const plan *p, compiled *e) {
  uint32_t in[16], out[16] = {0};
  void *arrays[8] = {in, out};
  cpu_work w = compiled_pass(e, 0);
  void *scratch = aligned_alloc(64, w.scratch_bytes / 64 * 64 + 64);
  for (uint32_t i = 0; i < 16; i++)
    in[i] = i;
  bool good = p->passes.count == 1 && w.run(w.with, 0, arrays, 0, cpu_item_count(p, 0), scratch);
  free(scratch);
  return good && out[1] == 8 && out[8] == 1 && out[15] == 15 && out[3] == 12;
}

static compiled_status compile(const plan *p, const compiled_options *o, char message[512]) {
  error failure = {0};
  compiled_status status;
  compiled *e = compiled_from_plan(p, NULL, o, &status, &failure);
  set(message, 512, "%s", e ? "" : failure.message);
  CHECK(!e || runs(p, e));
  compiled_free(e);
  return status;
}

static bool has_compiler(void) {
  compiler c;
  return compiler_find(&c, NULL);
}

TEST(compiled_and_cached) {
  char message[512];
  compiled_options o = {.isa = "baseline"};
  enter("compiled");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  if (!has_compiler())
    SKIP("there is no C compiler");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED);
  CHECK_EQ_U64(count_entries(), 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_CACHED);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "native"}, message), COMPILED);
  CHECK_EQ_U64(count_entries(), 2);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "baseline", .no_cache = true}, message),
               COMPILED);
  CHECK_EQ_U64(compile(p, &(compiled_options){.isa = "vax"}, message), COMPILED_FAILED);
  CHECK_CONTAINS(message, "\"vax\"");
  CHECK_EQ_U64(count_entries(), 2);
  // no cache at all
  unsetenv("PERMC_CACHE");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  CHECK_EQ_U64(compile(p, &o, message), COMPILED);
  setenv("PERMC_CACHE", place, 1);
  CHECK_EQ_U64(count_entries(), 2);
  arena_free(&memory);
  leave();
}

TEST(missing_and_failing_compilers) {
  char message[512], path[600];
  compiled_options o = {.isa = "baseline"};
  enter("failing");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  setenv("PERMC_CC", "/nonexistent/cc", 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "/nonexistent/cc");
  // one that says its version and nothing else
  set(path, sizeof path, "%s", in_place("cc"));
  write_text(path,
             "#!/bin/sh\n[ \"$1\" = --version ] && echo test 1 && exit 0\n"
             "echo some words\necho 'x.c:1: error: no code today' >&2\nexit 1\n",
             0700);
  setenv("PERMC_CC", path, 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "x.c:1: error: no code today");
  CHECK(strchr(message, '\n') == NULL);
  // one that makes nothing, and says that all is well
  write_text(path, "#!/bin/sh\n[ \"$1\" = --version ] && echo test 2\nexit 0\n", 0700);
  setenv("PERMC_CC", in_place("./cc"), 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  // one that makes no shared object
  write_text(path,
             "#!/bin/sh\n[ \"$1\" = --version ] && echo test 3 && exit 0\n"
             "while [ \"$1\" != -o ]; do shift; done; echo text >\"$2\"\n",
             0700);
  setenv("PERMC_CC", in_place("././cc"), 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "cannot be loaded");
  // no compiler on PATH
  char *before = strdup(getenv("PATH"));
  unsetenv("PERMC_CC");
  setenv("PATH", place, 1);
  unlink(path);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "there is no C compiler");
  setenv("PATH", before, 1);
  free(before);
  arena_free(&memory);
  leave();
}

static void *interrupt_soon(void *flag) {
  nanosleep(&(struct timespec){.tv_nsec = 200 * 1000000}, NULL);
  atomic_store((atomic_bool *)flag, true);
  return NULL;
}

// Ended processes that nobody has waited for count as ended.
static bool lives(const char *pid_file) {
  int pid = 0;
  char state = 'X', path[64];
  FILE *f = fopen(pid_file, "r");
  bool known = f && fscanf(f, "%d", &pid) == 1;
  if (f)
    fclose(f);
  set(path, sizeof path, "/proc/%d/stat", pid);
  f = known ? fopen(path, "r") : NULL;
  if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
    state = 'X';
  if (f)
    fclose(f);
  return !known || (state != 'X' && state != 'Z');
}

// A compiler that takes long, and has started a process of its own.
static void slow_compiler(char path[600]) {
  char script[2000];
  set(path, 600, "%s", in_place("slow"));
  set(script, sizeof script,
      "#!/bin/sh\n[ \"$1\" = --version ] && echo slow && exit 0\n"
      "sleep 100 & echo $! >%s/pid.new; mv %s/pid.new %s/pid\n"
      "echo text >\"$TMPDIR/left-over\"\nwait\n",
      place, place, place);
  write_text(path, script, 0700);
}

TEST(interrupted) {
  char message[512], path[600];
  atomic_bool flag = false;
  pthread_t thread;
  enter("interrupted");
  slow_compiler(path);
  setenv("PERMC_CC", path, 1);
  plan *p = small_plan();
  REQUIRE(p != NULL);
  REQUIRE(pthread_create(&thread, NULL, interrupt_soon, &flag) == 0);
  compiled_options o = {.isa = "baseline", .interrupted = &flag};
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_FAILED);
  CHECK_STR(message, "interrupted");
  pthread_join(thread, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  CHECK(!lives(in_place("pid")));
  CHECK_EQ_U64(count_files(in_place("permc-work")), 0);
  CHECK_EQ_U64(count_files(place), 4);  // slow, pid, and the two of the cache
  arena_free(&memory);
  leave();
}

static void on_signal(int number) {
  (void)number;
  compiler_kill_all_from_signal();
  temporary_remove_all_from_signal();
  _exit(7);
}

TEST(ended_by_a_signal) {
  char message[512], path[600];
  int status = 0;
  enter("signal");
  slow_compiler(path);
  setenv("PERMC_CC", path, 1);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, on_signal);
    plan *p = small_plan();
    compile(p, &(compiled_options){.isa = "baseline"}, message);
    _exit(1);
  }
  for (int i = 0; i < 500 && access(in_place("pid"), F_OK) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  kill(child, SIGTERM);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
  CHECK(!lives(in_place("pid")));
  CHECK_EQ_U64(count_files(in_place("permc-work")), 0);
  CHECK_EQ_U64(count_files(place), 4);
  leave();
}

// True as well if it was ended before it could write its number.
static bool ends_soon(const char *pid_file) {
  for (int i = 0; i < 1000 && access(pid_file, F_OK) == 0 && lives(pid_file); i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  return access(pid_file, F_OK) != 0 || !lives(pid_file);
}

TEST(ended_with_a_killed_process) {
  char message[512], path[600];
  enter("killed");
  slow_compiler(path);
  setenv("PERMC_CC", path, 1);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    compile(small_plan(), &(compiled_options){.isa = "baseline"}, message);
    _exit(1);
  }
  for (int i = 0; i < 500 && access(in_place("pid"), F_OK) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
  CHECK(ends_soon(in_place("pid")));
  leave();
}

TEST(limits_of_a_compiler) {
  char message[512], path[600];
  enter("limits");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  slow_compiler(path);
  setenv("PERMC_CC", path, 1);
  compiled_options o = {.isa = "baseline", .limits = {.seconds = 1}};
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "takes more than 1 s, its limit (--compile-seconds)");
  CHECK(ends_soon(in_place("pid")));
  // a process that the compiler leaves behind
  set(path, sizeof path, "%s", in_place("leaving"));
  write_text(path,
             "#!/bin/sh\n[ \"$1\" = --version ] && echo leaving && exit 0\n"
             "sleep 100 >/dev/null 2>&1 & echo $! >${0%/*}/pid; exit 1\n",
             0700);
  setenv("PERMC_CC", path, 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK(ends_soon(in_place("pid")));
  // files and messages without end
  set(path, sizeof path, "%s", in_place("wordy"));
  write_text(path, "#!/bin/sh\n[ \"$1\" = --version ] && echo wordy && exit 0\nexec yes error\n",
             0700);
  setenv("PERMC_CC", path, 1);
  o.limits.seconds = 20;
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "failed: error");
  arena_free(&memory);
  leave();
}

// A compiler that reached its limit is not tried again for this program, until it may have more.
TEST(limits_are_remembered) {
  static const struct {
    const char *text;  // that the compiler's shell executes
    compiler_limits limits, less, more;
    const char *message, *remembered;
  } rows[] = {{"exec sleep 1000",
               {1, 0},
               {1, UINT64_C(1) << 32},
               {2, 0},
               "takes more than ",
               "reached its limit of time with this program in an earlier run; give it more "
               "(--compile-seconds)"},
              {"echo 'error: out of memory allocating 8 bytes' >&2; exit 1",
               {0, UINT64_C(1) << 30},
               {90, UINT64_C(1) << 29},
               {0, UINT64_C(1) << 31},
               "needs more than ",
               "reached its limit of memory with this program in an earlier run; give it more "
               "(--compile-memory)"}};
  char message[512], path[600];
  for (size_t i = 0; i < 2; i++) {
    char script[400];
    enter("remembered");
    plan *p = small_plan();
    REQUIRE(p != NULL);
    set(path, sizeof path, "%s", in_place("limited"));
    set(script, sizeof script,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo limited %zu && exit 0\n"
        "echo >>${0%%/*}/calls\n%s\n",
        i, rows[i].text);
    write_text(path, script, 0700);
    setenv("PERMC_CC", path, 1);
    compiled_options o = {.isa = "baseline", .limits = rows[i].limits};
    for (uint64_t run = 0; run < 3; run++) {
      struct stat s;
      CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
      CHECK_CONTAINS(message, run ? rows[i].remembered : rows[i].message);
      CHECK(stat(in_place("calls"), &s) == 0 && s.st_size == 1);
      o.limits = rows[i].less;
    }
    CHECK_EQ_U64(
        compile(p,
                &(compiled_options){.isa = "baseline", .limits = rows[i].limits, .no_cache = true},
                message),
        COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].message);
    o.limits = rows[i].more;
    CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].message);
    CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
    CHECK_CONTAINS(message, rows[i].remembered);
    arena_free(&memory);
    leave();
  }
}

TEST(limit_of_the_memory_of_a_compiler) {
  char message[512];
  compiled_options o = {.isa = "baseline", .limits = {.memory = UINT64_C(64) << 20}};
  enter("memory");
  plan *p = small_plan();
  REQUIRE(p != NULL);
  setenv("PERMC_CC", "gcc", 1);
  if (!has_compiler())
    SKIP("there is no gcc");
  write_text(in_place("cc"),
             "#!/bin/sh\n[ \"$1\" = --version ] && echo large && exit 0\n"
             "(echo 'int a[]={'; seq -s, 1000000; echo '};') | gcc -x c - -c -o /dev/null\n",
             0700);
  setenv("PERMC_CC", in_place("cc"), 1);
  CHECK_EQ_U64(compile(p, &o, message), COMPILED_UNAVAILABLE);
  CHECK_CONTAINS(message, "needs more than 64 MiB of memory, its limit (--compile-memory)");
  arena_free(&memory);
  leave();
}

static void note_done(void *with, uint64_t done, uint64_t total) {
  uint64_t *seen = with;
  seen[0]++;
  seen[1] = done;
  seen[2] = total;
  write_text(in_place("go"), "", 0600);
}

// The second process waits until the end of the first was told.
TEST(processes_that_are_done_are_told) {
  char paths[2][600], waits[800], makes[700];
  uint64_t seen[3] = {0, 0, 0};
  progress watch = {note_done, seen};
  error failure = {0};
  enter("told");
  for (int i = 0; i < 2; i++)
    set(paths[i], sizeof paths[i], "%s/%d", place, i);
  set(makes, sizeof makes, "echo a >%s", paths[0]);
  set(waits, sizeof waits, "until [ -e %s/go ]; do sleep 0.01; done; echo b >%s", place, paths[1]);
  const char *const first[] = {"/bin/sh", "-c", makes, NULL};
  const char *const second[] = {"/bin/sh", "-c", waits, NULL};
  const compiler_job jobs[] = {{first, paths[0]}, {second, paths[1]}};
  CHECK_EQ_U64(compiler_run(jobs, 2, place, NULL, NULL, &watch, &failure), COMPILER_DONE);
  CHECK(seen[0] == 1 && seen[1] == 1 && seen[2] == 2);
  leave();
}

// One that speaks without end, and one that says nothing.
TEST(versions_without_end) {
  error failure = {0};
  compiler c;
  enter("versions");
  write_text(in_place("yes"), "#!/bin/sh\nexec yes\n", 0700);
  setenv("PERMC_CC", in_place("yes"), 1);
  CHECK(!compiler_find(&c, &failure));
  CHECK_CONTAINS(failure.message, "/yes, which is no C compiler");
  failure = (error){0};
  write_text(in_place("silent"), "#!/bin/sh\nsleep 1000\n", 0700);
  setenv("PERMC_CC", in_place("silent"), 1);
  CHECK(!compiler_find(&c, &failure));
  CHECK_CONTAINS(failure.message, "/silent, which does not answer --version");
  failure = (error){0};
  CHECK(!compiler_find(&c, &failure));  // is not asked again
  CHECK_CONTAINS(failure.message, "/silent, which does not answer --version");
  leave();
}

TEST(no_descriptor_for_a_compiler) {
  struct rlimit before;
  error failure = {0};
  compiler c;
  enter("descriptors");
  write_text(in_place("own"), "#!/bin/sh\necho own\n", 0700);
  setenv("PERMC_CC", in_place("own"), 1);
  getrlimit(RLIMIT_NOFILE, &before);
  setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, before.rlim_max});
  CHECK(!compiler_find(&c, &failure));
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_CONTAINS(failure.message, "/own cannot be started: Too many open files");
  CHECK(compiler_find(&c, NULL));  // asked again
  leave();
}

TEST(processes_at_once) {
  char message[512];
  pid_t children[4];
  enter("processes");
  if (!has_compiler())
    SKIP("there is no C compiler");
  fflush(stdout);
  for (int i = 0; i < 4; i++)
    if ((children[i] = fork()) == 0) {
      plan *p = small_plan();
      compiled_status status = compile(p, &(compiled_options){.isa = "baseline"}, message);
      _exit(test_state.failures == 0 && (status == COMPILED || status == COMPILED_CACHED) ? 0 : 1);
    }
  for (int i = 0; i < 4; i++) {
    int status = 1;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    CHECK_EQ_U64(status, 0);
  }
  CHECK_EQ_U64(count_entries(), 1);
  leave();
}

TEST_MAIN()
