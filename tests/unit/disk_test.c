// Stretches between files and memory: every byte to its place, by every kind of requests, from any
// offset; what fails says so in a line.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/disk/disk.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = 3 << 20, PARTS = 40 };

static const char *path_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp", name);
  return path;
}

static char *random_bytes(uint64_t *state, size_t count) {
  char *bytes = aligned_alloc(DISK_PAGE, (count + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE);
  for (size_t i = 0; i < count; i++)
    bytes[i] = (char)draw_word(state);
  return bytes;
}

static bool move(disk *d, const disk_part *parts, size_t count, error *e) {
  disk_begin(d, parts, count);
  return disk_end(d, e);
}

// Parts that do not overlap, in random order of the file; `step` 1: from any byte on.
static size_t cut_parts(uint64_t *state, const disk_file *f, char *memory, bool writes,
                        uint64_t step, disk_part *parts) {
  size_t count = 0;
  for (uint64_t at = 0; at < FILE_BYTES && count < PARTS; count++) {
    uint64_t bytes = draw_word(state) % (FILE_BYTES / PARTS * 2) / step * step;
    bytes = at + bytes < FILE_BYTES && count + 1 < PARTS ? bytes : FILE_BYTES - at;
    parts[count] = (disk_part){f, at, bytes, memory + at, writes};
    at += bytes;
  }
  for (size_t i = count; i > 1; i--) {
    size_t other = draw_word(state) % i;
    disk_part swapped = parts[i - 1];
    parts[i - 1] = parts[other];
    parts[other] = swapped;
  }
  return count;
}

static void check_moves(disk *d, uint64_t *state, uint64_t step, uint64_t shift) {
  char *from = random_bytes(state, FILE_BYTES + DISK_PAGE),
       *to = random_bytes(state, FILE_BYTES + DISK_PAGE);
  disk_file f;
  disk_part parts[PARTS];
  error e = {0};
  CHECK(disk_open(&f, path_of("moved"), DISK_CREATE, FILE_BYTES, &e));
  size_t count = cut_parts(state, &f, from + shift, true, step, parts);
  CHECK(move(d, parts, count, &e));
  count = cut_parts(state, &f, to + shift, false, step, parts);
  CHECK(move(d, parts, count, &e));
  CHECK_STR(e.message, "");
  CHECK(memcmp(from + shift, to + shift, FILE_BYTES) == 0);
  uint64_t bytes;
  CHECK(disk_size(&f, &bytes, &e) && bytes == FILE_BYTES);
  disk_close(&f);
  free(from);
  free(to);
}

TEST(every_byte_to_its_place) {
  uint64_t state = 1;
  for (size_t k = 0; k < disk_kind_count(); k++) {
    error e = {0};
    disk *d = disk_new(disk_kind_name(k), NULL, &e);
    if (!d)
      continue;
    check_moves(d, &state, DISK_PAGE, 0);
    check_moves(d, &state, 1, 0);
    check_moves(d, &state, 1, 77);
    disk_free(d);
  }
}

// Direct transfers of whole pages move no byte more than asked for.
TEST(counts) {
  uint64_t state = 2;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  REQUIRE(d != NULL);
  check_moves(d, &state, DISK_PAGE, 0);
  disk_counts c = disk_counts_of(d);
  CHECK_EQ_U64(c.bytes_read, FILE_BYTES);
  CHECK_EQ_U64(c.bytes_written, FILE_BYTES);
  disk_free(d);
}

TEST(both_at_once) {
  uint64_t state = 3;
  error e = {0};
  disk *d = disk_new(NULL, NULL, &e);
  REQUIRE(d != NULL);
  char *a = random_bytes(&state, FILE_BYTES), *b = random_bytes(&state, FILE_BYTES);
  disk_file f[2];
  CHECK(disk_open(&f[0], path_of("first"), DISK_CREATE, FILE_BYTES, &e));
  char second[4096];
  snprintf(second, sizeof second, "%s", path_of("second"));
  CHECK(disk_open(&f[1], second, DISK_CREATE, FILE_BYTES, &e));
  CHECK(disk_write(&f[0], 0, a, FILE_BYTES, &e));
  disk_part parts[2] = {{&f[0], 0, FILE_BYTES, b, false}, {&f[1], 0, FILE_BYTES, a, true}};
  CHECK(move(d, parts, 2, &e));
  CHECK(memcmp(a, b, FILE_BYTES) == 0);
  memset(b, 0, FILE_BYTES);
  CHECK(disk_read(&f[1], 0, b, FILE_BYTES, &e));
  CHECK(memcmp(a, b, FILE_BYTES) == 0);
  disk_close(&f[0]);
  disk_close(&f[1]);
  free(a);
  free(b);
  disk_free(d);
}

// From now on this call of the system fails in this process, and those that it starts.
static bool refuse_call(unsigned call, unsigned number) {
  struct sock_filter rows[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof rows / sizeof *rows, rows};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A call that the system refuses for good ends with a line, or the bytes go another way.
TEST(refused_calls) {
  static const struct {
    const char *kind;
    unsigned call;
    int number;
    bool fails;
  } rows[] = {{"ring", SYS_io_uring_enter, EBADF, false},
              {"ring", SYS_io_uring_enter, EAGAIN, false},
              {"threads", SYS_preadv, EAGAIN, true},
              {"threads", SYS_preadv, EINTR, true},
              {"threads", SYS_pwritev, EIO, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      uint64_t state = 7;
      error e = {0};
      alarm(60);
      disk *d = disk_new(rows[i].kind, NULL, &e);
      if (!d || !refuse_call(rows[i].call, (unsigned)rows[i].number))
        _exit(0);
      if (!rows[i].fails)
        check_moves(d, &state, 1, 77);
      disk_file f;
      static char bytes[FILE_BYTES];
      CHECK(disk_open(&f, path_of("refused"), DISK_CREATE, FILE_BYTES, &e));
      disk_part parts[2] = {{&f, 0, FILE_BYTES / 2, bytes, false},
                            {&f, FILE_BYTES / 2, FILE_BYTES / 2, bytes, true}};
      CHECK(move(d, parts, 2, &e) != rows[i].fails);
      CHECK_CONTAINS(e.message, rows[i].fails ? strerror(rows[i].number) : "");
      disk_free(d);
      fflush(stdout);
      _exit(test_state.failures > 0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
}

TEST(what_fails) {
  static char page[2 * DISK_PAGE];
  for (size_t k = 0; k < disk_kind_count(); k++) {
    error e = {0};
    disk *d = disk_new(disk_kind_name(k), NULL, &e);
    if (!d)
      continue;
    disk_file f;
    CHECK(disk_open(&f, path_of("short"), DISK_CREATE, 1000, &e));
    f.path = "short.npy";
    e = (error){0};
    disk_part part = {&f, 500, DISK_PAGE, page, false};
    CHECK(!move(d, &part, 1, &e));
    CHECK_STR(e.message, "short.npy: it ends at byte 1000, before byte 4596");
    disk_close(&f);
    disk_free(d);
  }
  error e = {0};
  disk_file f;
  CHECK(!disk_open(&f, "/nowhere/x", DISK_CREATE, 10, &e));
  CHECK(strstr(e.message, "/nowhere/x: ") == e.message);
  atomic_bool stop = true;
  disk *d = disk_new(NULL, &stop, &e);
  e = (error){0};
  disk_part part = {&f, 0, 1, page, false};
  CHECK(!move(d, &part, 1, &e));
  CHECK_STR(e.message, "interrupted");
  disk_free(d);
}

TEST_MAIN()
