// Schedules as files: what is read is the permutation that was written, in any type of integers;
// every damaged, cut or foreign file is one error.
#include "tests/unit/values.h"

#include "core/hash.h"

enum { LENGTH_TESTED = 299, HEADER = 64, HASHED = 56 };

// 7 i modulo the length, which is no multiple of 7; no movement that is recognised.
static array permutation_of(scalar_type type, uint64_t length) {
  array a;
  CHECK(array_create(&a, type, 1, &length));
  for (uint64_t i = 0; i < length; i++) {
    uint64_t to = 7 * i % length;
    memcpy((char *)a.data + i * scalar_types[type].size, &to, scalar_types[type].size);
  }
  return a;
}

static value_status read_back(memory m, value_expectation expected, array *out, error *e) {
  value_source *s = value_source_bytes("p.sched", m.bytes, m.count, e);
  value_status status = value_read(s, expected, out, e);
  value_source_close(s);
  return status;
}

TEST(round_trips) {
  static const uint64_t lengths[] = {0, 1, 2, 100, 127};
  for (scalar_type type = SCALAR_I8; type <= SCALAR_U64; type++)
    for (size_t i = 0; i < LENGTH(lengths); i++) {
      array a = permutation_of(type, lengths[i]), b;
      memory m = written(FORMAT_SCHEDULE, &a, 1);
      error e;
      CHECK(read_back(m, (value_expectation){type, 1}, &b, &e) == VALUE_OK);
      CHECK(array_same_bits(&a, &b));
      array_destroy(&a);
      array_destroy(&b);
      free(m.bytes);
    }
}

static void check_refused(memory m, const char *why) {
  array b;
  error e;
  CHECK(read_back(m, anything, &b, &e) == VALUE_ERROR);
  CHECK(b.data == NULL);
  CHECK_CONTAINS(e.message, why);
}

// The hash of the header, after it was changed.
static void sign(memory m) {
  uint64_t hash = hash_bytes(m.bytes, HASHED);
  memcpy(m.bytes + HASHED, &hash, sizeof hash);
}

// Those that are recognised are described by a few numbers, whatever their length is.
TEST(recognised) {
  enum { BITS = 12, N = 1 << BITS };
  array a, b;
  for (int kind = 0; kind < 5; kind++) {
    uint64_t length = kind == 2 ? 70 * 30 : N;
    CHECK(array_create(&a, SCALAR_U32, 1, &length));
    for (uint32_t i = 0; i < length; i++)
      ((uint32_t *)a.data)[i] = kind == 0   ? i
                                : kind == 1 ? (i + 1000) % N
                                : kind == 2 ? i / 10 % 30 * 70 + i / 300 * 10 + i % 10
                                : kind == 3 ? (i ^ i >> 1) ^ 77
                                            : i % 64 * 64 + i / 64;
    memory m = written(FORMAT_SCHEDULE, &a, 1);
    CHECK(m.count <= HEADER + 8 * (BITS + 1));
    error e;
    CHECK(read_back(m, (value_expectation){SCALAR_U32, 1}, &b, &e) == VALUE_OK);
    CHECK(array_same_bits(&a, &b));
    array_destroy(&b);
    for (size_t i = 8; i < m.count; i++) {
      m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
      check_refused(m, i / 4 == 2 ? "this permc reads version 1" : "the schedule is damaged");
      m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
    }
    check_refused((memory){m.bytes, m.count - 1}, "bytes");
    m.bytes[16]++;  // another length, signed
    sign(m);
    if (kind > 1)  // rotations are of any length
      check_refused(m, "the schedule is damaged");
    array_destroy(&a);
    free(m.bytes);
  }
}

// Movement in rows of 30, or in 30 columns, has one step of 2 bytes an element; two of one row that
// go to one place are found out, and so is a place outside.
TEST(in_rows_and_columns) {
  enum { N = 1200, WIDTH = 30, HEIGHT = N / WIDTH };
  uint64_t length = N;
  for (uint32_t in_columns = 0; in_columns < 2; in_columns++) {
    array a, b;
    error e;
    REQUIRE(array_create(&a, SCALAR_U16, 1, &length));
    for (uint32_t i = 0; i < N; i++) {
      uint32_t row = i / WIDTH, column = i % WIDTH;
      ((uint16_t *)a.data)[i] =
          (uint16_t)(in_columns ? (row * 7 + column * column) % HEIGHT * WIDTH + column
                                : row * WIDTH + (column * 7 + row * row) % WIDTH);
    }
    memory m = written(FORMAT_SCHEDULE, &a, 1);
    CHECK_EQ_U64(m.count, HEADER + 2 * N);
    CHECK(read_back(m, (value_expectation){SCALAR_U16, 1}, &b, &e) == VALUE_OK);
    CHECK(array_same_bits(&a, &b) && b.permutation);
    array_destroy(&b);
    for (size_t i = 8; i < m.count; i += i < HEADER ? 1 : 97) {
      m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
      check_refused(m, i / 4 == 2 ? "this permc reads version 1" : "the schedule is damaged");
      m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
    }
    check_refused((memory){m.bytes, m.count - 1}, "bytes");
    for (int forged = 0; forged < 2; forged++) {
      memcpy(m.bytes + HEADER + 100, forged ? "\xff\xff" : m.bytes + HEADER + 102, 2);
      uint64_t hash = hash_bytes(m.bytes + HEADER, 2 * N);
      memcpy(m.bytes + 32, &hash, sizeof hash);
      sign(m);
      check_refused(m, "the schedule is damaged");
    }
    array_destroy(&a);
    free(m.bytes);
  }
}

TEST(expectations) {
  array a = permutation_of(SCALAR_U16, LENGTH_TESTED), b;
  memory m = written(FORMAT_SCHEDULE, &a, 1);
  error e;
  CHECK(read_back(m, anything, &b, &e) == VALUE_OK);
  CHECK_EQ_I64(b.type, SCALAR_I64);
  CHECK_EQ_I64(((int64_t *)b.data)[50], 51);
  array_destroy(&b);
  CHECK(read_back(m, (value_expectation){SCALAR_F32, 1}, &b, &e) == VALUE_ERROR);
  CHECK_STR(e.message, "p.sched: expected []f32, found []i64");
  CHECK(read_back(m, (value_expectation){SCALAR_I64, 2}, &b, &e) == VALUE_ERROR);
  CHECK_STR(e.message, "p.sched: expected [][]i64, found []i64");
  CHECK(read_back(m, (value_expectation){SCALAR_U8, 1}, &b, &e) == VALUE_ERROR);
  CHECK_STR(e.message, "p.sched: u8 is too narrow for a permutation of 299 elements");
  array_destroy(&a);
  free(m.bytes);
}

TEST(what_is_no_permutation) {
  array a = permutation_of(SCALAR_I16, LENGTH_TESTED);
  int16_t *images = a.data;
  permc_value v = {.components = &a, .count = 1};
  error e;
  FILE *to = tmpfile();
  images[7] = images[4];
  CHECK(!value_write(to, FORMAT_SCHEDULE, &v, &e));
  CHECK_STR(e.message, "no permutation: index 28 occurs twice, at positions 4 and 7");
  images[3] = -1;
  CHECK(!value_write(to, FORMAT_SCHEDULE, &v, &e));
  CHECK_STR(e.message,
            "no permutation: index -1 at position 3 is outside of an array of 299 elements");
  a.type = SCALAR_F16;
  CHECK(!value_write(to, FORMAT_SCHEDULE, &v, &e));
  CHECK_STR(e.message, "a schedule is of a permutation, an array of integers, not of f16");
  a.rank = 0;
  CHECK(!value_write(to, FORMAT_SCHEDULE, &v, &e));
  CHECK_STR(e.message, "a schedule is of one array of integers: a permutation");
  CHECK_EQ_I64(ftell(to), 0);
  fclose(to);
  array_destroy(&a);
}

// As a place of 8 bits -128 would be 128.
TEST(negative_numbers) {
  uint64_t length = 256;
  array a;
  error e;
  REQUIRE(array_create(&a, SCALAR_I8, 1, &length));
  for (int i = 0; i < 256; i++)
    ((uint8_t *)a.data)[i] = (uint8_t)i;
  FILE *to = tmpfile();
  CHECK(!value_write(to, FORMAT_SCHEDULE, &(permc_value){.components = &a, .count = 1}, &e));
  CHECK_STR(e.message,
            "no permutation: index -128 at position 128 is outside of an array of 256 elements");
  fclose(to);
  array_destroy(&a);
}

TEST(damaged_files) {
  array a = permutation_of(SCALAR_U16, LENGTH_TESTED);
  memory m = written(FORMAT_SCHEDULE, &a, 1);
  for (size_t i = 8; i < m.count; i += i < HEADER ? 1 : 13) {
    m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
    check_refused(m, i / 4 == 2 ? "this permc reads version 1" : "the schedule is damaged");
    m.bytes[i] = (char)(m.bytes[i] ^ 1 << i % 8);
  }
  for (size_t count = 1; count < m.count; count += count < HEADER ? 1 : 101)
    check_refused((memory){m.bytes, count}, count < HEADER ? "ends inside the header" : "bytes");
  m.bytes[16] = 0x7f;  // a length that does not fit the shape, signed
  sign(m);
  check_refused(m, "the schedule is damaged");
  free(m.bytes);
  array_destroy(&a);
}

// Steps that lead out of the matrix, or two elements to one place, with the right hashes.
TEST(forged_steps) {
  array a = permutation_of(SCALAR_U16, LENGTH_TESTED);
  memory m = written(FORMAT_SCHEDULE, &a, 1);
  size_t bytes = (m.count - HEADER) / 3;
  for (size_t step = 0; step < 3; step++) {
    char *at = m.bytes + HEADER + step * bytes, kept[2];
    for (int forged = 0; forged < 2; forged++) {
      memcpy(kept, at, 2);
      memcpy(at, forged ? "\xff\xff" : at + 2, 2);
      uint64_t hash = hash_bytes(m.bytes + HEADER + step * bytes, bytes);
      memcpy(m.bytes + 32 + 8 * step, &hash, sizeof hash);
      sign(m);
      check_refused(m, "the schedule is damaged");
      memcpy(at, kept, 2);
    }
    uint64_t hash = hash_bytes(m.bytes + HEADER + step * bytes, bytes);
    memcpy(m.bytes + 32 + 8 * step, &hash, sizeof hash);
  }
  free(m.bytes);
  array_destroy(&a);
}

TEST_MAIN()
