// Stretches between files and memory: every byte to its place, by every kind of requests, from any
// offset; what fails says so in a line; checksums.
#include "tests/test.h"

#include "core/random.h"
#include "runtime/disk/disk.h"
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

// A byte that another has changed is found where its block is read as a whole, by every kind of requests.
TEST(damage) {
  enum { BLOCK = 2 * DISK_PAGE, BYTES = 8 * BLOCK };
  uint64_t state = 4;
  static uint64_t sums[8];
  for (size_t k = 0; k < disk_kind_count(); k++) {
    error e = {0};
    disk *d = disk_new(disk_kind_name(k), NULL, &e);
    if (!d)
      continue;
    char *a = random_bytes(&state, BYTES), *b = random_bytes(&state, BYTES);
    disk_file f;
    CHECK(disk_open_unnamed(&f, "scratch", getenv("PERMC_TMP") ? getenv("PERMC_TMP") : "/tmp",
                            BYTES, &e));
    f.sums = (disk_sums){BLOCK, 8, sums};
    memset(sums, 0, sizeof sums);
    disk_part writes = {&f, 0, BYTES, a, true}, reads = {&f, 0, BYTES, b, false};
    CHECK(move(d, &writes, 1, &e) && move(d, &reads, 1, &e) && memcmp(a, b, BYTES) == 0);
    CHECK(sums[0] && sums[7]);
    a[3 * BLOCK + 5] ^= 1;
    CHECK(pwrite(f.cached, a + 3 * BLOCK + 5, 1, 3 * BLOCK + 5) == 1);
    CHECK(!move(d, &reads, 1, &e));
    CHECK_STR(e.message,
              "scratch: bytes 24576 to 32767 are not what was written there: the disk, or "
              "another process, has damaged them");
    // Not of a block that is not read as a whole, or not known.
    e = (error){0};
    reads = (disk_part){&f, 3 * BLOCK + 1, BLOCK, b, false};
    CHECK(move(d, &reads, 1, &e));
    CHECK(disk_write(&f, 3 * BLOCK, a, 1, &e) && !sums[3] && sums[2]);
    CHECK(disk_read(&f, 3 * BLOCK, b, BLOCK, &e));
    b[0] ^= 1;
    CHECK(pwrite(f.cached, b, 1, 0) == 1 && !disk_read(&f, 0, b, BLOCK, &e));
    disk_close(&f);
    disk_free(d);
    free(a);
    free(b);
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

TEST_MAIN()
