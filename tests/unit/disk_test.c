// Stretches between files and memory: every byte to its place, by every kind of requests, from any
// offset; what fails says so in a line; checksums.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/disk/disk.h"
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
    parts[count] = (disk_part){f, at, bytes, memory + at, writes, false, false};
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
  disk_part parts[2] = {{&f[0], 0, FILE_BYTES, b, false, false, false},
                        {&f[1], 0, FILE_BYTES, a, true, false, false}};
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

// A file with checksums, as its user writes it and reads it: in pieces, each byte once, in any
// order.
typedef struct checked {
  disk *disk;
  disk_file file;
  char *written, *read;
} checked;
enum { BLOCK = 2 * DISK_PAGE, BLOCKS = 8, BEGIN = 100, END = BLOCKS * BLOCK - 77 };

static bool open_checked(checked *c, const char *kind, uint64_t *state) {
  error e = {0};
  *c = (checked){disk_new(kind, NULL, &e), {0}, random_bytes(state, END), random_bytes(state, END)};
  if (!c->disk)
    return false;
  CHECK(disk_open_unnamed(&c->file, "scratch", getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp",
                          BLOCKS * BLOCK, &e));
  c->file.sums = (disk_sums){BLOCK, BEGIN, END, BLOCKS, calloc(BLOCKS, sizeof(disk_block))};
  return true;
}

static void close_checked(checked *c) {
  if (c->disk) {
    free(c->file.sums.of);
    disk_close(&c->file);
  }
  disk_free(c->disk);
  free(c->written);
  free(c->read);
}

// Pieces of at most so many bytes.
static bool move_all(checked *c, uint64_t *state, bool writes, uint64_t most, error *e) {
  static disk_part parts[END];
  size_t count = 0;
  char *memory = writes ? c->written : c->read;
  for (uint64_t at = BEGIN; at < END; count++) {
    uint64_t bytes = 1 + draw_word(state) % most;
    bytes = bytes < END - at ? bytes : END - at;
    parts[count] = (disk_part){&c->file, at, bytes, memory + at, writes, true, false};
    at += bytes;
  }
  for (size_t i = count; i > 1; i--) {
    size_t k = draw_word(state) % i;
    disk_part other = parts[k];
    parts[k] = parts[i - 1];
    parts[i - 1] = other;
  }
  if (!writes)
    disk_sums_begin(&c->file.sums);
  return move(c->disk, parts, count, e);
}

static void spoil(checked *c, uint64_t at) {
  char byte;
  CHECK(pread(c->file.cached, &byte, 1, (off_t)at) == 1);
  byte ^= 4;
  CHECK(pwrite(c->file.cached, &byte, 1, (off_t)at) == 1);
}

// A byte that another has changed is found by whoever reads all of its block, in whatever pieces it
// was written, and is read.
TEST(damage) {
  uint64_t state = 4;
  for (size_t k = 0; k < disk_kind_count(); k++)
    for (int i = 0; i < 40; i++) {
      error e = {0};
      checked c;
      uint64_t most[2] = {UINT64_C(16) << draw_word(&state) % 14, UINT64_C(16)
                                                                      << draw_word(&state) % 14};
      if (open_checked(&c, disk_kind_name(k), &state)) {
        CHECK(move_all(&c, &state, true, most[0], &e) && move_all(&c, &state, false, most[1], &e));
        CHECK(memcmp(c.written + BEGIN, c.read + BEGIN, END - BEGIN) == 0);
        CHECK(disk_verify(&c.file, &e));
        uint64_t at = BEGIN + draw_word(&state) % (END - BEGIN);
        spoil(&c, at);
        CHECK(!move_all(&c, &state, false, most[1], &e));
        char message[200];
        snprintf(message, sizeof message,
                 "scratch: bytes %d to %d are not what was written there: the disk, or another "
                 "process, has damaged them",
                 (int)at / BLOCK * BLOCK, (int)at / BLOCK * BLOCK + BLOCK - 1);
        CHECK_STR(e.message, message);
        error other = {0};
        CHECK(!disk_verify(&c.file, &other));
        CHECK_STR(other.message, message);
        spoil(&c, at);
        e = (error){0};
        CHECK(move_all(&c, &state, false, most[1], &e));
      }
      close_checked(&c);
    }
}

// Stretches that are read, changed and written, now and then a damaged one: all of the file is
// known after that, as it was before, and damage is found, at once or then.
TEST(replaced_stretches) {
  uint64_t state = 9, found = 0;
  for (size_t k = 0; k < disk_kind_count(); k++)
    for (int i = 0; i < 40; i++) {
      error e = {0};
      checked c;
      bool good = true, damaged = i % 2;
      if (open_checked(&c, disk_kind_name(k), &state)) {
        CHECK(move_all(&c, &state, true, 1000, &e));
        if (damaged)
          spoil(&c, BEGIN + draw_word(&state) % (END - BEGIN));
        for (int n = 0; n < 10 && good; n++) {
          uint64_t at = BEGIN + draw_word(&state) % (END - BEGIN);
          uint64_t bytes = 1 + draw_word(&state) % (END - at);
          disk_part part = {&c.file, at, bytes, c.written + at, false, false, true};
          good = move(c.disk, &part, 1, &e);
          for (int b = 0; b < 5; b++)
            c.written[at + draw_word(&state) % bytes] ^= (char)draw_word(&state);
          part.writes = part.once = true;
          part.replaced = false;
          good = good && move(c.disk, &part, 1, &e);
        }
        good = good && disk_verify(&c.file, &e) && move_all(&c, &state, false, 1000, &e);
        CHECK(good || damaged);
        CHECK(!good || !damaged);
        CHECK(!good || memcmp(c.written + BEGIN, c.read + BEGIN, END - BEGIN) == 0);
        found += !good;
      }
      close_checked(&c);
    }
  CHECK(found > 0);
}

// What is moved in pieces, and nobody says that each byte is once, is not known.
TEST(unknown_blocks) {
  uint64_t state = 6;
  error e = {0};
  checked c;
  REQUIRE(open_checked(&c, NULL, &state) && move_all(&c, &state, true, 1000, &e));
  disk_part some = {&c.file, 3 * BLOCK + 1, BLOCK, c.read, false, false, false};
  spoil(&c, 3 * BLOCK + 5);
  CHECK(move(c.disk, &some, 1, &e));
  CHECK(disk_write(&c.file, 3 * BLOCK + 9, c.written, 1, &e));
  CHECK(c.file.sums.of[3].unknown && !c.file.sums.of[4].unknown);
  CHECK(disk_read(&c.file, 3 * BLOCK, c.read, BLOCK, &e) && disk_verify(&c.file, &e));
  CHECK(disk_write(&c.file, 3 * BLOCK, c.written, BLOCK, &e) && !c.file.sums.of[3].unknown);
  spoil(&c, 0 * BLOCK + BEGIN);
  CHECK(!disk_read(&c.file, BEGIN, c.read, BLOCK, &e));
  close_checked(&c);
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
      disk_part parts[2] = {{&f, 0, FILE_BYTES / 2, bytes, false, false, false},
                            {&f, FILE_BYTES / 2, FILE_BYTES / 2, bytes, true, false, false}};
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
    disk_part part = {&f, 500, DISK_PAGE, page, false, false, false};
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
  disk_part part = {&f, 0, 1, page, false, false, false};
  CHECK(!move(d, &part, 1, &e));
  CHECK_STR(e.message, "interrupted");
  disk_free(d);
}

TEST(sums) {
  uint64_t state = 5;
  char *bytes = random_bytes(&state, 1000);
  for (uint64_t count = 0; count <= 1000; count += 1 + count / 8) {
    uint64_t sum = disk_sum(bytes, count);
    for (int i = 0; i < 50 && count > 0; i++) {
      uint64_t at = draw_word(&state) % count;
      char bit = (char)(1 << draw_word(&state) % 8);
      bytes[at] ^= bit;
      CHECK(disk_sum(bytes, count) != sum);
      bytes[at] ^= bit;
    }
    CHECK(disk_sum(bytes, count) != disk_sum(bytes, count ? count - 1 : 1));
  }
  free(bytes);
}

// The checksum of a whole is the sum of those of its parts; one byte more or less is another.
TEST(sums_of_stretches) {
  enum { COUNT = 3 * DISK_PAGE };
  uint64_t state = 8;
  char *bytes = random_bytes(&state, COUNT);
  for (int i = 0; i < 2000; i++) {
    uint64_t offset = draw_word(&state) % (1 << 20), count = draw_word(&state) % COUNT,
             cut = count ? draw_word(&state) % count : 0;
    uint64_t sum = disk_sum_of_stretch(offset, bytes, count);
    CHECK(sum == disk_sum_of_stretch(offset + cut, bytes + cut, count - cut) +
                     disk_sum_of_stretch(offset, bytes, cut));
    bytes[cut] = (char)(bytes[cut] ^ 1 << i % 8);
    CHECK(!count || sum != disk_sum_of_stretch(offset, bytes, count));
    bytes[cut] = (char)(bytes[cut] ^ 1 << i % 8);
    CHECK(!count || sum != disk_sum_of_stretch(offset + DISK_PAGE, bytes, count));
  }
  memset(bytes, 0, COUNT);
  CHECK(disk_sum_of_stretch(5, bytes, COUNT) == 0);
  free(bytes);
}

TEST_MAIN()
