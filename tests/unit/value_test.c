// Arrays, and what all formats have in common: values written and read again, and their sources.
// Formats: value_text_test.c, value_table_test.c, value_binary_test.c, value_npy_test.c. Output
// files:
// value_output_test.c.
#include "values.h"

#include <math.h>

// Values that formats get wrong, and random bits behind them.
static void fill_special(array *a, uint64_t seed) {
  static const double special[] = {0.0, -0.0,      1.0,  -1.5, 0x1p-149, 0x1p-126, 0x1p127, 1e-5,
                                   0.1, 123456789, 1e16, 1e15, INFINITY, 1 / 3.,   16777217};
  uint64_t count = array_count(a) * (scalar_types[a->type].kind == KIND_COMPLEX ? 2 : 1);
  size_t size = scalar_types[a->type].size / (scalar_types[a->type].kind == KIND_COMPLEX ? 2 : 1);
  array bits;
  CHECK(array_random(&bits, SCALAR_U64, 1, &count, &seed));
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word = ((uint64_t *)bits.data)[i];
    double number = special[(word >> 8) % LENGTH(special)];
    float single = (float)number;
    bool chosen = (word & 1) != 0;
    if (a->type == SCALAR_BOOL)
      word &= 1;
    else if (scalar_types[a->type].kind < KIND_FLOAT && chosen)
      word = word & 2 ? UINT64_MAX << (8 * size - 1) : (UINT64_C(1) << (8 * size - 1)) - 1;
    else if (CLASS_OF(a->type) & CLASS_SMALL && chosen)
      word = scalar_of_double(a->type, number).u64;
    else if (scalar_types[a->type].kind >= KIND_FLOAT && chosen && size == 4)
      memcpy(&word, &single, 4);
    else if (scalar_types[a->type].kind >= KIND_FLOAT && chosen)
      memcpy(&word, &number, 8);
    memcpy((char *)a->data + i * size, &word, size);
  }
  array_destroy(&bits);
}

// ---- round trips ------------------------------------------------------------------------------

static const struct {
  uint32_t rank;
  uint64_t dims[4];
} shapes[] = {{0, {0}},       {1, {0}},       {1, {1}},         {1, {7}},
              {2, {3, 5}},    {2, {0, 8}},    {2, {8, 0}},      {3, {2, 3, 4}},
              {3, {2, 0, 4}}, {3, {1, 1, 1}}, {4, {2, 1, 3, 2}}};

static value_expectation expectation_of(const array *a) {
  return (value_expectation){a->type, (int)a->rank};
}

static void check_same(const array *a, const array *b, value_format format) {
  if (format == FORMAT_TEXT)  // NaN keeps no payload there
    CHECK(array_same_bits(a, b));
  else
    CHECK(same_bits(a, b));
}

static void check_read_back(value_source *s, const array *a, value_format format) {
  error e = {0};
  array b = {0}, none = {0};
  CHECK(s != NULL);
  CHECK_EQ_I64(value_read(s, expectation_of(a), &b, &e), VALUE_OK);
  CHECK_STR(e.message, "");
  check_same(a, &b, format);
  CHECK_EQ_I64(value_read(s, expectation_of(a), &none, &e), VALUE_END);
  CHECK(none.data == NULL);
  array_destroy(&b);
  value_source_close(s);
}

static void check_round_trip(const array *a, value_format format) {
  const char *path = temporary_path("round_trip");
  error e = {0};
  memory m = written(format, a, 1);
  check_read_back(value_source_bytes("memory", m.bytes, m.count, &e), a, format);
  save(path, m.bytes, m.count);
  check_read_back(value_source_open(path, &e), a, format);
  feed f;
  CHECK(start_feed(&f, m));
  check_read_back(value_source_open(f.path, &e), a, format);
  end_feed(&f);
  unlink(path);
  free(m.bytes);
}

TEST(round_trips) {
  for (int type = 0; type < SCALAR_COUNT; type++)
    for (size_t shape = 0; shape < LENGTH(shapes); shape++)
      for (size_t format = 0; format < LENGTH(formats); format++) {
        array a;
        REQUIRE(array_create(&a, (scalar_type)type, shapes[shape].rank, shapes[shape].dims));
        fill_special(&a, (uint64_t)type * 100 + shape);
        check_round_trip(&a, formats[format]);
        array_destroy(&a);
      }
}

// Threads fill stretches of it: the bits are those of one after the other.
TEST(random_arrays_in_parts) {
  uint64_t counts[] = {(1 << 21) + 1000, 5, (1 << 20) - 3}, total = 0;
  for (size_t i = 0; i < LENGTH(counts); i++)
    total += counts[i];
  for (int type = 0; type < SCALAR_COUNT; type++) {
    uint64_t state = 7, whole_state = 7, at = 0;
    array whole, part;
    REQUIRE(array_random(&whole, (scalar_type)type, 1, &total, &whole_state));
    for (size_t i = 0; i < LENGTH(counts); i++) {
      REQUIRE(array_random(&part, (scalar_type)type, 1, &counts[i], &state));
      CHECK(memcmp(part.data, (char *)whole.data + at, (size_t)array_bytes(&part)) == 0);
      at += array_bytes(&part);
      array_destroy(&part);
    }
    CHECK_EQ_U64(state, whole_state);
    array_destroy(&whole);
  }
}

TEST(round_trips_of_large_arrays) {
  uint64_t dims[] = {3, 25001}, state = 5;
  for (int type = 0; type < SCALAR_COUNT; type++)
    for (size_t format = 0; format < LENGTH(formats); format++) {
      array a;
      REQUIRE(array_random(&a, (scalar_type)type, 2, dims, &state));
      check_round_trip(&a, formats[format]);
      array_destroy(&a);
    }
}

// All of them, as text, which is not longer than it must be, and as every other format.
TEST(every_f16_round_trips) {
  uint64_t count = 65536;
  array a, b = {0};
  error e;
  REQUIRE(array_create(&a, SCALAR_F16, 1, &count));
  for (uint32_t i = 0; i < count; i++)
    ((uint16_t *)a.data)[i] = (uint16_t)i;
  for (size_t format = 0; format < LENGTH(formats); format++)
    check_round_trip(&a, formats[format]);
  memory m = written(FORMAT_TEXT, &a, 1);
  value_source *s = value_source_bytes("m", m.bytes, m.count, &e);
  REQUIRE(value_read(s, anything, &b, &e) == VALUE_OK);
  CHECK(b.type == SCALAR_F16 && memcmp(a.data, b.data, count * 2) == 0);
  value_source_close(s);
  array_destroy(&a);
  array_destroy(&b);
  free(m.bytes);
}

TEST(tuples_round_trip_through_npy) {
  uint64_t state = 3;
  for (size_t shape = 0; shape < LENGTH(shapes); shape++) {
    array parts[SCALAR_COUNT];
    for (int c = 0; c < SCALAR_COUNT; c++) {
      REQUIRE(array_create(&parts[c], (scalar_type)c, shapes[shape].rank, shapes[shape].dims));
      fill_special(&parts[c], state + (uint64_t)c);
    }
    memory m = written(FORMAT_NPY, parts, SCALAR_COUNT);
    error e;
    value_source *s = value_source_bytes("m", m.bytes, m.count, &e);
    for (int c = 0; c < SCALAR_COUNT; c++) {
      array b = {0};
      CHECK_EQ_I64(value_read(s, expectation_of(&parts[c]), &b, &e), VALUE_OK);
      CHECK(same_bits(&parts[c], &b));
      array_destroy(&b);
      array_destroy(&parts[c]);
    }
    array none;
    CHECK_EQ_I64(value_read(s, anything, &none, &e), VALUE_END);
    value_source_close(s);
    free(m.bytes);
  }
}

TEST(large_tuples_in_pipes_and_files) {
  uint64_t count = 300001, state = 9;
  array parts[3];
  REQUIRE(array_random(&parts[0], SCALAR_U8, 1, &count, &state));
  REQUIRE(array_random(&parts[1], SCALAR_C128, 1, &count, &state));
  REQUIRE(array_random(&parts[2], SCALAR_U16, 1, &count, &state));
  memory m = written(FORMAT_NPY, parts, 3);
  save(temporary_path("tuples.npy"), m.bytes, m.count);
  for (int pipe = 0; pipe < 2; pipe++) {
    feed f;
    error e = {0};
    REQUIRE(!pipe || start_feed(&f, m));
    value_source *s = value_source_open(pipe ? f.path : temporary_path("tuples.npy"), &e);
    for (int c = 0; c < 3; c++) {
      array b = {0};
      CHECK_EQ_I64(value_read(s, anything, &b, &e), VALUE_OK);
      CHECK(same_bits(&parts[c], &b));
      array_destroy(&b);
    }
    value_source_close(s);
    if (pipe)
      end_feed(&f);
  }
  unlink(temporary_path("tuples.npy"));
  free(m.bytes);
  for (int c = 0; c < 3; c++)
    array_destroy(&parts[c]);
}

// What is written of names, and read again: {names of the components}, .npy, .csv.
static const struct {
  const char *names[3], *npy, *csv;
} written_names[] = {
    {{NULL, NULL, NULL}, "[('f0', '|u1'), ('f1', '|u1'), ('f2', '|u1')]", "7,7,7\n"},
    {{"x", NULL, "y"}, "[('x', '|u1'), ('f1', '|u1'), ('y', '|u1')]", "x,column_1,y\n7,7,7\n"},
    {{"f2", "f2", NULL},
     "[('f2', '|u1'), ('f2_1', '|u1'), ('f2_2', '|u1')]",
     "f2,f2_1,column_2\n7,7,7\n"},
    {{NULL, "f0", "f1"},
     "[('f0_0', '|u1'), ('f0', '|u1'), ('f1', '|u1')]",
     "column_0,f0,f1\n7,7,7\n"},
    {{"1", "2", "3"}, "[('1', '|u1'), ('2', '|u1'), ('3', '|u1')]", "7,7,7\n"},
    {{"1", "b", "3"}, "[('1', '|u1'), ('b', '|u1'), ('3', '|u1')]", "1,b,3\n7,7,7\n"},
    {{"a,b", "'\"", " \\\n"},
     "[('a,b', '|u1'), ('\\'\"', '|u1'), (' \\\\\\x0a', '|u1')]",
     "\"a,b\",\"'\"\"\",\" \\\n\"\n7,7,7\n"},
    {{"\xff\xc3\xa9", "it's", "z"},
     "[('\xc3\xbf\xc3\xa9', '|u1'), (\"it's\", '|u1'), ('z', '|u1')]",
     "\xff\xc3\xa9,it's,z\n7,7,7\n"},
};

TEST(names_are_written) {
  for (size_t i = 0; i < LENGTH(written_names); i++) {
    unsigned char seven = 7;
    array parts[3] = {{.type = SCALAR_U8, .data = &seven}};
    parts[1] = parts[2] = parts[0];
    permc_value v = {
        .components = parts, .count = 3, .names = (char **)(uintptr_t)written_names[i].names};
    for (int f = 0; f < 2; f++) {
      memory m;
      error e;
      FILE *to = open_memstream(&m.bytes, &m.count);
      CHECK(value_write(to, f ? FORMAT_CSV : FORMAT_NPY, &v, &e));
      fclose(to);
      if (f)
        CHECK_STR(m.bytes, written_names[i].csv);
      else
        CHECK_CONTAINS(m.bytes + 10 + 2 * (m.bytes[6] == 3), written_names[i].npy);
      free(m.bytes);
    }
  }
}

// ---- sources and formats ----------------------------------------------------------------------

TEST(format_by_ending) {
  static const struct {
    const char *path;
    value_format format;
  } cases[] = {{"a.npy", FORMAT_NPY},    {"a.bin", FORMAT_BINARY},     {"b/a.dat", FORMAT_BINARY},
               {"a.csv", FORMAT_CSV},    {"a.sched", FORMAT_SCHEDULE}, {"a.TXT", FORMAT_PLAIN},
               {"a.b.out", FORMAT_TEXT}, {"npy", FORMAT_TEXT},         {"-", FORMAT_TEXT},
               {"", FORMAT_TEXT},        {"a.x/npy", FORMAT_TEXT},     {".npy", FORMAT_TEXT}};
  error e;
  value_format format;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    CHECK(value_format_of(cases[i].path, &format, &e));
    CHECK_EQ_I64(format, cases[i].format);
  }
  CHECK(!value_format_of("b/a.npz", &format, &e));
  CHECK_CONTAINS(e.message, "b/a.npz: '.npz' is the ending of no format; results can be written");
}

TEST(sources_that_cannot_be_opened) {
  error e;
  CHECK(value_source_open("tests/data/nowhere.npy", &e) == NULL);
  CHECK_STR(e.message, "tests/data/nowhere.npy: No such file or directory");
  CHECK(value_source_open("tests/data", &e) == NULL);
  CHECK_STR(e.message, "tests/data: this is a folder; name a file in it");
  CHECK(value_source_open("", &e) == NULL);
  value_source_close(NULL);
}

TEST(messages_keep_to_one_line) {
  char name[600];
  memset(name, 'x', sizeof name);
  memcpy(name + sizeof name - 5, "\n.py", 5);
  error e;
  value_source *s = value_source_bytes(name, "?", 1, &e);
  array a;
  CHECK_EQ_I64(value_read(s, anything, &a, &e), VALUE_ERROR);
  CHECK(strchr(e.message, '\n') == NULL);
  CHECK_CONTAINS(e.message, "?.py:1:1: expected a value, found '?'");
  CHECK(strncmp(e.message, "...xxx", 6) == 0);
  value_source_close(s);
}

TEST(files_of_proc_claim_size_zero) {
  memory m = text_of_file("/proc/sys/kernel/pid_max", anything);
  CHECK_CONTAINS(m.bytes, "i64\n");
  free(m.bytes);
}

TEST(failed_reads_are_reported) {
  error e = {0};
  array a;
  value_source *s = value_source_open("/proc/self/mem", &e);  // nothing is at address 0
  REQUIRE(s != NULL);
  CHECK_EQ_I64(value_read(s, (value_expectation){SCALAR_I32, 1}, &a, &e), VALUE_ERROR);
  CHECK_STR(e.message, "/proc/self/mem: Input/output error");
  CHECK(a.data == NULL);
  value_source_close(s);
}

TEST(standard_input) {
  int saved = dup(STDIN_FILENO), in = open("tests/data/npy/u32_1d.npy", O_RDONLY);
  REQUIRE(saved >= 0 && in >= 0 && dup2(in, STDIN_FILENO) >= 0);
  memory m = text_of_file("-", anything);
  CHECK_STR(m.bytes, "[3u32, 1u32, 2u32, 0u32]\n");
  free(m.bytes);
  CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);  // left open
  lseek(STDIN_FILENO, 3, SEEK_SET);
  m = text_of_file("-", anything);
  CHECK_CONTAINS(m.bytes, "standard input:1:1: expected a value");
  free(m.bytes);
  dup2(saved, STDIN_FILENO);
  close(saved);
  close(in);
}

TEST(many_values_of_all_formats_in_one_stream) {
  uint64_t count = 1000, state = 8;
  memory m;
  FILE *to = open_memstream(&m.bytes, &m.count);
  array arrays[20];
  error e;
  for (int i = 0; i < 20; i++) {
    REQUIRE(array_random(&arrays[i], (scalar_type)(i % SCALAR_COUNT), 1, &count, &state));
    CHECK(value_write(to, i % 2 ? FORMAT_BINARY : FORMAT_TEXT,
                      &(permc_value){.components = &arrays[i], .count = 1}, &e));
  }
  fclose(to);
  value_source *s = value_source_bytes("m", m.bytes, m.count, &e);
  for (int i = 0; i < 20; i++) {
    array b = {0};
    CHECK_EQ_I64(value_read(s, anything, &b, &e), VALUE_OK);
    CHECK(same_bits(&arrays[i], &b));
    array_destroy(&arrays[i]);
    array_destroy(&b);
  }
  value_source_close(s);
  free(m.bytes);
}

// A header's promise costs nothing: a pipe's array grows with the data that comes.
TEST(pipes_that_promise_too_much) {
  memory m = text_of_pipe(BYTES("b\2\1 i32\0\0\0\0\0\0\0\20abc"), anything);
  CHECK_CONTAINS(
      m.bytes,
      "the data is cut off: the header announces 4611686018427387904 bytes, but only 3 follow");
  free(m.bytes);
  static const char header[] = "\x93NUMPY\1\0\x60\0{'descr': [('f0', '<u4'), ('f1', 'u1')], "
                               "'fortran_order': False, 'shape': (1000000000000,), }";
  char bytes[6 + 4 + 96 + 12];
  memset(bytes, ' ', sizeof bytes);
  memcpy(bytes, header, sizeof header - 1);
  m = text_of_pipe(bytes, sizeof bytes, anything);
  CHECK_CONTAINS(
      m.bytes,
      "the data is cut off: the header announces 1000000000000 records, but only 2 follow");
  free(m.bytes);
}

// ---- arrays -----------------------------------------------------------------------------------

TEST(array_sizes) {
  array a;
  uint64_t huge[] = {UINT64_C(1) << 32, UINT64_C(1) << 32}, negative[] = {UINT64_MAX};
  uint64_t hidden[] = {0, UINT64_C(1) << 40, UINT64_C(1) << 40}, many[17] = {0};
  CHECK(!array_create(&a, SCALAR_U8, 2, huge));
  CHECK(!array_create(&a, SCALAR_U8, 1, negative));
  CHECK(!array_create(&a, SCALAR_U8, 3, hidden));
  CHECK(!array_create(&a, SCALAR_U8, 17, many));
  CHECK(a.data == NULL);
  CHECK(array_create(&a, SCALAR_C128, 16, many));
  CHECK_EQ_U64(array_count(&a), 0);
  CHECK(a.data != NULL);
  array_destroy(&a);
  array_destroy(&a);
  CHECK(array_create(&a, SCALAR_C128, 0, NULL));
  CHECK_EQ_U64(array_count(&a), 1);
  array_destroy(&a);
}

TEST(random_arrays) {
  uint64_t state = 1234567, count = 5;
  array a;
  REQUIRE(array_random(&a, SCALAR_U64, 1, &count, &state));
  // The sequence that every SplitMix64 gives for this seed.
  static const uint64_t known[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                   UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                   UINT64_C(16408922859458223821)};
  CHECK(memcmp(a.data, known, sizeof known) == 0);
  array_destroy(&a);
  count = 100000;
  state = 1;
  REQUIRE(array_random(&a, SCALAR_F32, 1, &count, &state));
  float least = 1, most = 0;
  for (uint64_t i = 0; i < count; i++) {
    least = fminf(least, ((float *)a.data)[i]);
    most = fmaxf(most, ((float *)a.data)[i]);
  }
  CHECK(least >= 0 && least < 0.001f && most < 1 && most > 0.999f);
  array_destroy(&a);
  REQUIRE(array_random(&a, SCALAR_F16, 1, &count, &state));
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    double x = scalar_as_double(SCALAR_F16, &((uint16_t *)a.data)[i]);
    CHECK(x >= 0 && x < 1);
    sum += x;
  }
  CHECK(fabs(sum / (double)count - 0.5) < 0.01);
  array_destroy(&a);
  REQUIRE(array_random(&a, SCALAR_BOOL, 1, &count, &state));
  uint64_t trues = 0;
  for (uint64_t i = 0; i < count; i++)
    trues += ((uint8_t *)a.data)[i];
  CHECK(trues > 49000 && trues < 51000);
  array_destroy(&a);
}

TEST(equality) {
  float x[] = {1, (float)NAN, 0, 4}, y[] = {1, -(float)NAN, 0, 4}, z[] = {1, 2, -0.0f, 4};
  array a = {.type = SCALAR_F32, .rank = 1, .dims = {4}, .data = x}, b = a, c = a, d = a;
  b.data = y;
  c.data = z;
  CHECK(array_same_bits(&a, &b));
  CHECK(!array_same_bits(&a, &c));
  x[1] = y[1] = 2;
  CHECK(!array_same_bits(&a, &c));  // 0.0 and -0.0
  d.dims[0] = 3;
  CHECK(!array_same_bits(&a, &d) && !array_same_shape(&a, &d));
  d = a;
  d.type = SCALAR_U32;
  CHECK(!array_same_bits(&a, &d));
  d.type = a.type = b.type = c.type = SCALAR_C64;
  a.dims[0] = b.dims[0] = c.dims[0] = 2;
  CHECK(array_same_bits(&a, &b));
  CHECK(!array_same_bits(&a, &c));
}

TEST_MAIN()
