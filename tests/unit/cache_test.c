// The cache of compiled code: digests, entries that are right and wrong, folders that cannot be
// used, the bound, and what permc has not made and leaves alone.
#include "tests/unit/cache_place.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <time.h>

static uint64_t clear(const cache *c) {
  uint64_t removed = UINT64_MAX;
  CHECK(cache_limit(c, NULL, &removed));
  return removed;
}

// ---- digests ---------------------------------------------------------------------------------

static void check_digest(const char *content, size_t count, const char *expected) {
  char hex[2 * DIGEST_BYTES + 1];
  for (size_t step = 1; step < 300; step += 61) {
    digest d = digest_start();
    for (size_t i = 0; i < count; i += step)
      digest_add(&d, content + i, count - i < step ? count - i : step);
    digest_finish_hex(&d, hex);
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
  CHECK_STR(c.folder, cache_place);
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
  setenv("HOME", cache_place, 1);
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
  CHECK(cache_limit(&c, &(uint64_t){UINT64_C(8) * 4096}, &removed));
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
  CHECK(cache_limit(&c, &(uint64_t){UINT64_C(4) * 4096}, &removed));
  CHECK_EQ_U64(removed, 4 * 4096);
  CHECK_EQ_U64(count_entries(), 4);
  CHECK(cache_limit(&c, &(uint64_t){0}, &removed));
  CHECK(!keep(&c, key_a, content, path));
  CHECK_EQ_U64(count_entries(), 0);
  // an index that a power loss has damaged
  CHECK(cache_limit(&c, &(uint64_t){UINT64_C(1) << 20}, &removed));
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
  CHECK(inotify_add_watch(watch, cache_place, IN_ACCESS | IN_ONLYDIR) >= 0);
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
  CHECK(cache_limit(&c, &(uint64_t){UINT64_C(8) * 4096}, &removed));
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

TEST_MAIN()
