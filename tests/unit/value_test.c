// Arrays, the formats they are read from and written to, and output files.
#include "tests/test.h"  // first: it has parameters called `text`

#include "runtime/system/temporary.h"
#include "runtime/values/value.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static const value_expectation anything = {SCALAR_COUNT, -1};
static const value_format formats[] = {FORMAT_TEXT, FORMAT_BINARY, FORMAT_NPY};

// ---- helpers ----------------------------------------------------------------------------------

// A path in the folder of this test; the last few results stay valid.
static const char *temporary_path(const char *name) {
  static char paths[8][512];
  static int next;
  const char *folder = getenv("PERMC_TMP");
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder ? folder : "/tmp", name);
  return path;
}

typedef struct memory {
  char *bytes;
  size_t count;
} memory;

static memory written(value_format format, const array *components, size_t count) {
  memory m = {0};
  error e = {0};
  FILE *to = open_memstream(&m.bytes, &m.count);
  CHECK(value_write(to, format,
                    &(permc_value){.components = (array *)(uintptr_t)components, .count = count},
                    &e));
  CHECK_STR(e.message, "");
  fclose(to);
  return m;
}

static void save(const char *path, const void *bytes, size_t count) {
  FILE *to = fopen(path, "wb");
  CHECK(to && fwrite(bytes, 1, count, to) == count);
  if (to)
    fclose(to);
}

static memory load(const char *path) {
  memory m = {0};
  FILE *from = fopen(path, "rb"), *to = open_memstream(&m.bytes, &m.count);
  for (int c = from ? getc(from) : EOF; c != EOF; c = getc(from))
    putc(c, to);
  fclose(to);
  if (from)
    fclose(from);
  return m;
}

static bool same_memory(memory a, memory b) {
  return a.count == b.count && memcmp(a.bytes, b.bytes, a.count) == 0;
}

static bool same_bits(const array *a, const array *b) {
  bool same = a->type == b->type && a->rank == b->rank &&
              memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
  return same && memcmp(a->data, b->data, array_count(a) * scalar_types[a->type].size) == 0;
}

// All values of a source as text, one per line; then "error: MESSAGE" if it came to that.
static memory text_of_source(value_source *s, value_expectation expected, error *e) {
  memory m = {0};
  FILE *to = open_memstream(&m.bytes, &m.count);
  value_status status = s ? VALUE_OK : VALUE_ERROR;
  for (array a; s && (status = value_read(s, expected, &a, e)) == VALUE_OK; array_destroy(&a))
    CHECK(value_write(to, FORMAT_TEXT, &(permc_value){.components = &a, .count = 1}, e));
  if (status == VALUE_ERROR)
    fprintf(to, "error: %s", e->message);
  fclose(to);
  value_source_close(s);
  return m;
}

static memory text_of_bytes(const void *bytes, size_t count, value_expectation expected) {
  error e = {0};
  return text_of_source(value_source_bytes("in", bytes, count, &e), expected, &e);
}

static memory text_of_file(const char *path, value_expectation expected) {
  error e = {0};
  return text_of_source(value_source_open(path, &e), expected, &e);
}

// A pipe that a thread fills.
typedef struct feed {
  int descriptors[2];
  memory content;
  pthread_t thread;
  char path[32];
} feed;

static void *fill_pipe(void *argument) {
  feed *f = argument;
  for (size_t done = 0; done < f->content.count;) {
    ssize_t some = write(f->descriptors[1], f->content.bytes + done, f->content.count - done);
    if (some <= 0)
      break;
    done += (size_t)some;
  }
  close(f->descriptors[1]);
  return NULL;
}

static bool start_feed(feed *f, memory content) {
  f->content = content;
  if (pipe2(f->descriptors, O_CLOEXEC) != 0 || pthread_create(&f->thread, NULL, fill_pipe, f) != 0)
    return false;
  snprintf(f->path, sizeof f->path, "/dev/fd/%d", f->descriptors[0]);
  return true;
}

static void end_feed(feed *f) {
  pthread_join(f->thread, NULL);
  close(f->descriptors[0]);
}

static memory text_of_pipe(const void *bytes, size_t count, value_expectation expected) {
  union {
    const void *from;
    char *to;
  } constant = {bytes};
  feed f;
  CHECK(start_feed(&f, (memory){constant.to, count}));
  memory m = text_of_file(f.path, expected);
  end_feed(&f);
  return m;
}

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
    else if (a->type == SCALAR_F16 && chosen)
      word = scalar_f16_nearest(number);
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

TEST(text_keeps_the_bits_of_numbers) {
  uint64_t state = 1, count = 100000;
  const scalar_type types[] = {SCALAR_U32, SCALAR_F32, SCALAR_U64, SCALAR_F64};
  for (size_t t = 0; t < LENGTH(types); t += 2) {
    array a, b = {0};
    error e;
    REQUIRE(array_random(&a, types[t], 1, &count, &state));
    a.type = types[t + 1];  // any bits are a number, subnormals and NaN among them
    for (uint64_t i = 0; i < count / 10; i++)
      memset((char *)a.data + i * 10 * scalar_types[a.type].size + scalar_types[a.type].size - 2, 0,
             2);
    memory m = written(FORMAT_TEXT, &a, 1);
    value_source *s = value_source_bytes("m", m.bytes, m.count, &e);
    REQUIRE(value_read(s, anything, &b, &e) == VALUE_OK);
    CHECK(same_bits(&a, &b));
    value_source_close(s);
    array_destroy(&a);
    array_destroy(&b);
    free(m.bytes);
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

TEST(pending_fields_are_freed) {
  error e;
  value_source *s = value_source_open("tests/data/npy/structured.npy", &e);
  array a;
  REQUIRE(s != NULL);
  CHECK_EQ_I64(value_read(s, anything, &a, &e), VALUE_OK);
  array_destroy(&a);
  CHECK_EQ_I64(value_read(s, (value_expectation){SCALAR_I64, 1}, &a, &e), VALUE_ERROR);
  CHECK_STR(e.message, "tests/data/npy/structured.npy: field 2: expected []i64, found []f32");
  value_source_close(s);
}

// ---- text -------------------------------------------------------------------------------------

typedef struct text_case {
  const char *in;
  scalar_type type;
  int rank;
  const char *out;
} text_case;

#define ANY SCALAR_COUNT

static const text_case text_cases[] = {
    {"", ANY, -1, ""},
    {" \n\t-- nothing\n--", ANY, -1, ""},
    {"1", ANY, -1, "1i64\n"},
    {"-1", SCALAR_I8, 0, "-1i8\n"},
    {"+1", ANY, 0, "1i64\n"},
    {"1 2\n3", ANY, 0, "1i64\n2i64\n3i64\n"},
    {"[1, 2]", ANY, -1, "[1i64, 2i64]\n"},
    {"[1, 2]", SCALAR_F32, 1, "[1.0f32, 2.0f32]\n"},
    {"[1i32, 2]", ANY, -1, "[1i32, 2i32]\n"},
    {"[1, 2u8, 3]", ANY, -1, "[1u8, 2u8, 3u8]\n"},
    {"[1, -2, 2.5]", ANY, -1, "[1.0f64, -2.0f64, 2.5f64]\n"},
    {"[1, 2i]", ANY, -1, "[1.0+0.0ic128, 0.0+2.0ic128]\n"},
    {"[1, 2.5c64]", ANY, -1, "[1.0+0.0ic64, 2.5+0.0ic64]\n"},
    {"[[1i32,2],[3,4]]", ANY, 2, "[[1i32, 2i32], [3i32, 4i32]]\n"},
    {"[ [1 ,2]\n,[3,-- x ]\n4]\r\n] -- end", ANY, 2, "[[1i64, 2i64], [3i64, 4i64]]\n"},
    {"[[[1]],[[2]]]", ANY, 3, "[[[1i64]], [[2i64]]]\n"},
    {"[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", ANY, 16, "[[[[[[[[[[[[[[[[1i64]]]]]]]]]]]]]]]]\n"},
    {"[1]--x\n[2]--y", ANY, -1, "[1i64]\n[2i64]\n"},
    {"[1][2]3", ANY, -1, "[1i64]\n[2i64]\n3i64\n"},
    {"1--x\n2", ANY, 0, "1i64\n2i64\n"},
    {"true false", ANY, 0, "true\nfalse\n"},
    {"[true, false]", SCALAR_BOOL, 1, "[true, false]\n"},
    {"true\n\nfalse\n", SCALAR_BOOL, 1, "[true, false]\n"},
    {"empty([0]i32)", ANY, -1, "empty([0]i32)\n"},
    {"empty ( [ 0 ] [8] f32 ) 1", ANY, -1, "empty([0][8]f32)\n1i64\n"},
    {"empty([3][0]c128)", SCALAR_C128, 2, "empty([3][0]c128)\n"},
    {"empty([0]bool)", SCALAR_BOOL, 1, "empty([0]bool)\n"},
    {"[]", SCALAR_I32, 1, "empty([0]i32)\n"},
    {"[[], []]", SCALAR_I32, -1, "empty([2][0]i32)\n"},
    {"0xff 0b101 1_000 0xf_fu8 0XFF", ANY, 0, "255i64\n5i64\n1000i64\n255u8\n255i64\n"},
    {"0x10 0b11", SCALAR_F64, 0, "16.0f64\n3.0f64\n"},
    {"0x1f32", ANY, 0, "7986i64\n"},
    {"0x1.8p3 -0x1p-2f32 0x.8p0 0x1.p1", ANY, 0, "12.0f64\n-0.25f32\n0.5f64\n2.0f64\n"},
    {"1.5 .5 5. 1e3 1E-3 1e+2f32 1_0.5", ANY, 0,
     "1.5f64\n0.5f64\n5.0f64\n1000.0f64\n0.001f64\n100.0f32\n10.5f64\n"},
    {"f32.nan -f32.inf f64.inf f64.nan nan inf -inf", ANY, 0,
     "f32.nan\n-f32.inf\nf64.inf\nf64.nan\nf64.nan\nf64.inf\n-f64.inf\n"},
    {"-f32.nan nan(0x1)f32 f64.nan(0x8000000000001) -f16.nan(0x3ff)", ANY, 0,
     "-f32.nan\nf32.nan(0x1)\nf64.nan(0x8000000000001)\n-f16.nan(0x3ff)\n"},
    {"[nan(0x1), -nan(0x400000)]", SCALAR_F32, 1, "[f32.nan(0x1), -f32.nan]\n"},
    {"-0 -0.0 0.0", SCALAR_F32, 0, "-0.0f32\n-0.0f32\n0.0f32\n"},
    {"-0", SCALAR_U8, 0, "0u8\n"},
    {"1.5+2.0i", ANY, 0, "1.5+2.0ic128\n"},
    {"1.5-2.0i", SCALAR_C64, 0, "1.5-2.0ic64\n"},
    {"1e+2-2e-1ic64 2i -i32", ANY, 0,
     "100.0-0.2ic64\n0.0+2.0ic128\nerror: in:1:18: expected a value, found '-i32'"},
    {"-0.0-0.0i nan+infi -inf-nani", SCALAR_C128, 0,
     "-0.0-0.0ic128\nnan+infic128\n-inf-nanic128\n"},
    {"nan(0x1)-nan(0xF)ic64 -nan(0x8000000000000)i", ANY, 0,
     "nan(0x1)-nan(0xf)ic64\n0.0-nanic128\n"},
    {"3 2.5f32", SCALAR_F32, 0, "3.0f32\n2.5f32\n"},
    {"3", SCALAR_C64, 0, "3.0+0.0ic64\n"},
    {"-128 127", SCALAR_I8, 0, "-128i8\n127i8\n"},
    {"-9223372036854775808 9223372036854775807", ANY, 0,
     "-9223372036854775808i64\n9223372036854775807i64\n"},
    {"18446744073709551615", SCALAR_U64, 0, "18446744073709551615u64\n"},
    {"340282346638528859811704183484516925440", SCALAR_F32, 0, "3.4028235e38f32\n"},
    {"65519 -65519.99999 6e4 f16.nan -f16.inf inf 0x1p-24 3e-8 0b11 2049.0000000000000001",
     SCALAR_F16, 0,
     "65500.0f16\n-65500.0f16\n60000.0f16\nf16.nan\n-f16.inf\nf16.inf\n6.0e-8f16\n6.0e-8f16\n"
     "3.0f16\n2050.0f16\n"},
    {"0.1f16 empty([0]f16)", ANY, -1, "0.1f16\nempty([0]f16)\n"},
    {"16777217 9007199254740993", SCALAR_F32, 0, "16777216.0f32\n9007199000000000.0f32\n"},
    {"1.00000017881393432617187499", SCALAR_F32, 0, "1.0000001f32\n"},  // no double rounding
    {"4.9e-324 1e-400", ANY, 0, "5.0e-324f64\n0.0f64\n"},
    {"\xef\xbb\xbf[1]", ANY, 1, "[1i64]\n"},
    // plain text
    {"1\n2\n\n3\n", SCALAR_U32, 1, "[1u32, 2u32, 3u32]\n"},
    {"1\r\n2\r\n", SCALAR_I16, 1, "[1i16, 2i16]\n"},
    {"1 -- one\n2.5", ANY, 1, "[1.0f64, 2.5f64]\n"},
    {"1.000000000000000000e+00\nnan\n-inf\n", SCALAR_F64, 1, "[1.0f64, f64.nan, -f64.inf]\n"},
    {"7", SCALAR_I32, 1, "[7i32]\n"},
    // tables
    {"1 2\n3 4 -- x\n", SCALAR_I32, 2, "[[1i32, 2i32], [3i32, 4i32]]\n"},
    {"1\t 2\r\n3\t4", ANY, 1, "[1i64, 3i64]\n[2i64, 4i64]\n"},
    {"a,\"b \"\"c\"\"\"\r\n1 ,\"2.5\"\r\n\r\n 3,4\r\n", ANY, -2,
     "[1i64, 3i64]\n[2.5f64, 4.0f64]\n"},
    {"# one\n1;2\n# two\n3;NaN", SCALAR_F32, -3, "[[1.0f32, 2.0f32], [3.0f32, f32.nan]]\n"},
    {"name,2019,2020\n1,2,3\n", SCALAR_I32, 2, "[[1i32, 2i32, 3i32]]\n"},
    {"\"\",a\n1,2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"\xc3\xa9,2\n1,2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"2019,2020\n1,2\n", SCALAR_I32, 2, "[[2019i32, 2020i32], [1i32, 2i32]]\n"},
    {"x,y\n", SCALAR_I32, 2, "empty([0][2]i32)\n"},
    {"\"1\n\",2", SCALAR_I32, 2,
     "error: in:1:1: expected a value, found '1\\x0a'; a header has a name in it, "
     "which begins with a letter"},
    {"1,\"2\"", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"True,FALSE", SCALAR_BOOL, 2, "[[true, false]]\n"},
    // rank -1 - r: at least r
    {"1\n2", ANY, -2, "[1i64, 2i64]\n"},
    {"[1] [[2]]", ANY, -2, "[1i64]\n[[2i64]]\n"},
    {"[[1]] empty([0][1]i8) [[[2]]]", ANY, -3, "[[1i64]]\nempty([0][1]i8)\n[[[2i64]]]\n"},
};

static void check_text(const text_case *c) {
  value_expectation expected = {c->type, c->rank};
  memory m = text_of_bytes(c->in, strlen(c->in), expected);
  CHECK_STR(m.bytes, c->out);
  if (!strstr(c->out, "error:")) {  // there the names differ
    memory piped = text_of_pipe(c->in, strlen(c->in), expected);
    CHECK_STR(piped.bytes, c->out);
    free(piped.bytes);
  }
  free(m.bytes);
}

TEST(text_values) {
  for (size_t i = 0; i < LENGTH(text_cases); i++)
    check_text(&text_cases[i]);
}

static const text_case bad_texts[] = {
    {"300", SCALAR_U8, 0, "in:1:1: 300 is outside u8 (0 to 255)"},
    {"[1,\n 300u8]", ANY, -1, "in:2:2: 300u8 is outside u8 (0 to 255)"},
    {"-1", SCALAR_U64, 0, "in:1:1: -1 is outside u64 (0 to 18446744073709551615)"},
    {"128i8", ANY, 0, "128i8 is outside i8 (-128 to 127)"},
    {"-129", SCALAR_I8, 0, "-129 is outside i8 (-128 to 127)"},
    {"32768", SCALAR_I16, 0, "outside i16 (-32768 to 32767)"},
    {"65536", SCALAR_U16, 0, "outside u16 (0 to 65535)"},
    {"2147483648", SCALAR_I32, 0, "outside i32 (-2147483648 to 2147483647)"},
    {"4294967296", SCALAR_U32, 0, "outside u32 (0 to 4294967295)"},
    {"9223372036854775808", ANY, 0, "outside i64 (-9223372036854775808 to 9223372036854775807)"},
    {"18446744073709551616", SCALAR_U64, 0, "outside u64 (0 to 18446744073709551615)"},
    {"0x1ffffffffffffffff", SCALAR_U64, 0, "outside u64"},
    {"0b11111111111111111111111111111111111111111111111111111111111111111", SCALAR_F32, 0,
     "outside f32"},
    {"1e39", SCALAR_F32, 0, "in:1:1: 1e39 is outside f32 (up to 3.4028235e38)"},
    {"65520", SCALAR_F16, 0, "in:1:1: 65520 is outside f16 (up to 65504.0)"},
    {"-65520.0", SCALAR_F16, 0, "outside f16"},
    {"1.0f32", SCALAR_F16, 0, "expected f16, found '1.0f32'"},
    {"-1e309", ANY, 0, "-1e309 is outside f64 (up to 1.7976931348623157e308)"},
    {"1+1e39ic64", ANY, 0, "1+1e39ic64 is outside c64"},
    {"1e309-1i", ANY, 0, "outside c128"},
    {"[300, 1u8]", ANY, -1, "in:1:7: the element 300 before this u8 is outside u8 (0 to 255)"},
    {"[-1, 1u64]", ANY, -1, "the element -1 before this u64 is outside u64"},
    {"1.5", SCALAR_I32, 0, "in:1:1: expected i32, found '1.5'"},
    {"1e3", SCALAR_I32, 0, "expected i32, found '1e3'"},
    {"1i64", SCALAR_I32, 0, "expected i32, found '1i64'"},
    {"1.0f64", SCALAR_F32, 0, "expected f32, found '1.0f64'"},
    {"f64.nan", SCALAR_F32, 0, "expected f32, found 'f64.nan'"},
    {"1.5i8", ANY, 0, "expected i8, found '1.5i8'"},
    {"1+2i", SCALAR_F32, 0, "expected f32, found '1+2i'"},
    {"1+2ic64", SCALAR_C128, 0, "expected c128, found '1+2ic64'"},
    {"1.0f32", SCALAR_C64, 0, "expected c64, found '1.0f32'"},
    {"true", SCALAR_I32, 0, "expected i32, found 'true'"},
    {"1", SCALAR_BOOL, 0, "expected bool, found '1'"},
    {"[1, true]", ANY, -1, "in:1:5: expected a number, found 'true'"},
    {"[true, 1]", ANY, -1, "expected bool, found '1'"},
    {"[1i32, 2i64]", ANY, -1, "in:1:8: expected i32, found '2i64'"},
    {"[1.5, 2f32]", ANY, -1, "expected f64, found '2f32'"},
    {"[1]", SCALAR_I32, 0, "in:1:1: expected i32, found []i32"},
    {"[[1]]", SCALAR_F32, 1, "expected []f32, found [][]f32"},
    {"[1]", ANY, 2, "expected rank 2, found rank 1"},
    {"[1]", SCALAR_F32, -3, "in:1:1: expected rank 2 or more, found rank 1"},
    {"empty([0]i32)", SCALAR_F32, -3, "in:1:1: expected rank 2 or more, found rank 1"},
    {"empty([0]i32)", SCALAR_F32, -2, "in:1:1: expected f32, found i32"},
    {"empty([0]i32)", SCALAR_F32, 1, "expected []f32, found []i32"},
    {"empty([0]i32)", SCALAR_F32, -1, "expected f32, found i32"},
    {"[[1,2],\n [3]]", ANY, -1, "in:2:2: this row has length 1, but the first row has length 2"},
    {"[[1],[]]", ANY, -1, "in:1:6: this row has length 0, but the first row has length 1"},
    {"[[],[1]]", ANY, -1, "in:1:5: this row has length 1, but the first row has length 0"},
    {"[[[1],[2]],[[3]]]", ANY, -1,
     "in:1:12: this row has length 1, but the first row has length 2"},
    {"[[1],2]", ANY, -1, "in:1:6: expected '[', found '2'"},
    {"[1,[2]]", ANY, -1, "in:1:4: expected a number, found '['"},
    {"[[],[[]]]", ANY, -1, "expected a number, found '['"},
    {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", ANY, -1,
     "in:1:17: an array may have at most 16 dimensions"},
    {"[1", ANY, -1,
     "in:1:3: expected ',' or ']', found the end of the text (the value begins at 1:1)"},
    {"[1,\n", ANY, -1, "in:2:1: expected a value, found the end of the text"},
    {"[", ANY, -1, "expected a value, found the end"},
    {"[1 2]", ANY, -1, "in:1:4: expected ',' or ']', found '2'"},
    {"[1,,2]", ANY, -1, "in:1:4: expected a value, found ','"},
    {"[1,]", ANY, -1, "in:1:4: expected a value, found ']'"},
    {"[,1]", ANY, -1, "expected a value, found ','"},
    {"[[1],]", ANY, -1, "in:1:6: expected '[', found ']'"},
    {"]", ANY, -1, "in:1:1: expected a value, found ']'"},
    {"[]", ANY, -1, "an empty array needs an element type; write it as empty([0]i64)"},
    {"empty", ANY, -1, "expected '('"},
    {"empty(i32)", ANY, -1, "expected a dimension, as in empty([0]i32), found 'i32'"},
    {"empty([0])", ANY, -1, "expected an element type, found ')'"},
    {"empty([0]f80)", ANY, -1, "expected an element type, found 'f80'"},
    {"empty([0]i32", ANY, -1, "expected ')', found the end"},
    {"empty([]i32)", ANY, -1, "expected a length, found ']'"},
    {"empty([0x0]i32)", ANY, -1, "expected a length, found '0x0'"},
    {"empty([1]i32)", ANY, -1, "an empty array must have a dimension of 0, as in empty([0]i32)"},
    {"empty([99999999999999999999]i32)", ANY, -1, "99999999999999999999 is outside u64"},
    {"empty([0][4294967296][4294967296]i32)", ANY, -1, "the dimensions are too large"},
    {"empty([0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]u8)", ANY, -1,
     "an array may have at most 16 dimensions"},
    {"1 2\n3", SCALAR_I32, 1, "in:2:1: this row has 1 field, but the first has 2"},
    {"1,2\n3,\n", SCALAR_I32, 2, "in:2:3: this field is empty; a number is expected"},
    {"1,2\n3,\"4\n", SCALAR_I32, 2, "in:2:3: this quoted field has no end"},
    {"1;\"2,3\"\n", SCALAR_I32, 2, "in:1:3: expected a value, found '2,3'"},
    {"3\n\"1,234.50\"\n", SCALAR_F64, 1,
     "found '1,234.50'; write thousands without separators: 1234.5"},
    {"3;1,5\n", SCALAR_F64, 2, "found '3;1'; write the decimal comma as a point: 1.5"},
    {"a;b\n3;1,5\n", SCALAR_F64, 2,
     "in:2:3: expected a value, found '1,5'; write the decimal comma as a point: 1.5"},
    {"1st,2nd\n1,2\n", SCALAR_I32, 2,
     "in:1:1: expected a value, found '1st'; a header has a name in it"},
    {"1,\xe2\x82\xac\n", SCALAR_I32, 2, "in:1:3: expected a value, found '\\xe2\\x82\\xac'"},
    {"Name,Weight,\"a, b\"\nItem01,1,2\n", SCALAR_I32, 2,
     "in:2:1: column 'Name' holds text ('Item01'); permc reads numbers only: choose columns, as in "
     "-i in:Weight,2"},
    {"1,2\nNone,2\n", SCALAR_I32, 2, "in:2:1: expected a value, found 'None'"},
    {"1\n2\nx\n", SCALAR_I32, 1, "in:3:1: expected a value, found 'x'"},
    {"1\n[2]\n", SCALAR_I32, 1, "in:2:1: expected a value, found '[2]'"},
    {"1\n300\n", SCALAR_U8, 1, "in:2:1: 300 is outside u8 (0 to 255)"},
    {"banana", ANY, -1, "in:1:1: expected a value, found 'banana'"},
    {"1x", ANY, -1, "found '1x'"},
    {"1.2.3", ANY, -1, "found '1.2.3'"},
    {"1f80", ANY, -1, "found '1f80'"},
    {"1int", ANY, -1, "found '1int'"},
    {"1bool", ANY, -1, "found '1bool'"},
    {"nan(0x0)", ANY, -1, "found 'nan(0x0)'"},
    {"nan(1)", ANY, -1, "found 'nan(1)'"},
    {"nan(0x1", ANY, -1, "found 'nan(0x1'"},
    {"inf(0x1)", ANY, -1, "found '('"},
    {"f32.nan(0x800000)", ANY, -1, "f32.nan(0x800000) is outside f32"},
    {"f64.nan(0x10000000000000000)", ANY, -1, "is outside f64"},
    {"f32.nanf32", ANY, -1, "found 'f32.nanf32'"},
    {"f32.1", ANY, -1, "found 'f32.1'"},
    {"f80.nan", ANY, -1, "found 'f80.nan'"},
    {"0x 0b", ANY, -1, "found '0x'"},
    {"0b2", ANY, -1, "found '0b2'"},
    {"0x1.8", ANY, -1, "found '0x1.8'"},
    {"1e", ANY, -1, "found '1e'"},
    {"1e+", ANY, -1, "found '1e+'"},
    {".", ANY, -1, "found '.'"},
    {"-", ANY, -1, "found '-'"},
    {"_1", ANY, -1, "found '_1'"},
    {"1+2", ANY, -1, "found '1+2'"},
    {"1+2i8", ANY, -1, "found '1+2i8'"},
    {"1+2if32", ANY, -1, "found '1+2if32'"},
    {"1++2i", ANY, -1, "found '1++2i'"},
    {"f32.nan+1i", ANY, -1, "found 'f32.nan+1i'"},
    {"tru", ANY, -1, "found 'tru'"},
    {"\"x\"", ANY, -1, "found '\"'"},
    {"\x01", ANY, -1, "found '\\x01'"},
    {"[1,\xc3\xa9]", ANY, -1, "in:1:4: expected a value, found '\\xc3'"},
    {"PK\3\4", ANY, -1,
     "in: an .npz or zip archive cannot be read; save each array as a .npy file with "
     "numpy.save"},
    {"[1] x", ANY, -1, "[1i64]\nerror: in:1:5: expected a value, found 'x'"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee", ANY, -1,
     "found 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'"},
};

TEST(malformed_texts) {
  for (size_t i = 0; i < LENGTH(bad_texts); i++) {
    const text_case *c = &bad_texts[i];
    memory m = text_of_bytes(c->in, strlen(c->in), (value_expectation){c->type, c->rank});
    CHECK_CONTAINS(m.bytes, "error: in:");
    CHECK_CONTAINS(m.bytes, c->out);
    CHECK(strchr(strstr(m.bytes, "error"), '\n') == NULL);
    free(m.bytes);
  }
}

TEST(long_tokens) {
  char digits[6000];
  memset(digits, '1', sizeof digits);
  memory m = text_of_bytes(digits, sizeof digits, anything);
  CHECK_STR(m.bytes, "error: in:1:1: a number may have at most 4095 characters");
  free(m.bytes);
  digits[1] = '.';  // one digit short of the limit
  m = text_of_bytes(digits, 4095, anything);
  CHECK_STR(m.bytes, "1.1111111111111112f64\n");
  free(m.bytes);
}

TEST(nul_bytes_in_text) {
  memory m = text_of_bytes("[1,\0 2]", 7, anything);
  CHECK_STR(m.bytes, "error: in:1:4: expected a value, found '\\x00'");
  free(m.bytes);
}

// Whatever the buffer's edge falls on: tokens, comments, "--".
TEST(tokens_across_the_buffer) {
  static char content[70000];
  static const char tail[] = "[12345, -6]--7\n--8\n1.5+2.5i-- end\n";
  for (size_t lead = 65536 - sizeof tail; lead <= 65536; lead++) {
    memset(content, ' ', lead);
    memcpy(content + lead, tail, sizeof tail);
    save(temporary_path("edge"), content, lead + strlen(tail));
    memory m = text_of_file(temporary_path("edge"), anything);
    CHECK_STR(m.bytes, "[12345i64, -6i64]\n1.5+2.5ic128\n");
    free(m.bytes);
  }
  unlink(temporary_path("edge"));
}

static const struct {
  scalar_type type;
  scalar_bits bits;
  const char *text;
} printed[] = {
    {SCALAR_F16, {.f16 = 0x3c00}, "1.0f16\n"},
    {SCALAR_F16, {.f16 = 0x2e66}, "0.1f16\n"},
    {SCALAR_F16, {.f16 = 0x8001}, "-6.0e-8f16\n"},
    {SCALAR_F16, {.f16 = 0x3c01}, "1.001f16\n"},
    {SCALAR_F16, {.f16 = 0x7bff}, "65500.0f16\n"},
    {SCALAR_F32, {.f32 = 1}, "1.0f32\n"},
    {SCALAR_F32, {.f32 = 0.1f}, "0.1f32\n"},
    {SCALAR_F32, {.f32 = 100000}, "100000.0f32\n"},
    {SCALAR_F32, {.f32 = 16777216}, "16777216.0f32\n"},
    {SCALAR_F32, {.f32 = 1e10f}, "10000000000.0f32\n"},
    {SCALAR_F32, {.f32 = 1e-4f}, "0.0001f32\n"},
    {SCALAR_F32, {.f32 = 1.25e-5f}, "0.0000125f32\n"},
    {SCALAR_F32, {.f32 = 1e-6f}, "1.0e-6f32\n"},
    {SCALAR_F32, {.f32 = 0x1p-149f}, "1.0e-45f32\n"},
    {SCALAR_F32, {.f32 = 0x1.fffffep127f}, "3.4028235e38f32\n"},
    {SCALAR_F32, {.f32 = 1.1565093e29f}, "1.1565093e29f32\n"},  // all digits end in 35
    {SCALAR_F64, {.f64 = -7.685544976090221e-78}, "-7.685544976090221e-78f64\n"},
    {SCALAR_F32, {.f32 = 9.9999999e9f}, "10000000000.0f32\n"},
    {SCALAR_F64, {.f64 = 1e15}, "1000000000000000.0f64\n"},
    {SCALAR_F64, {.f64 = 1e16}, "1.0e16f64\n"},
    {SCALAR_F64, {.f64 = 123456.75}, "123456.75f64\n"},
    {SCALAR_F64, {.f64 = 1.0 / 3}, "0.3333333333333333f64\n"},
    {SCALAR_F64, {.f64 = 5e-324}, "5.0e-324f64\n"},
    {SCALAR_F64, {.f64 = 0x1.fffffffffffffp1023}, "1.7976931348623157e308f64\n"},
    {SCALAR_F64, {.f64 = -0.0}, "-0.0f64\n"},
    {SCALAR_C64, {.c64 = {-1.5f, -2}}, "-1.5-2.0ic64\n"},
    {SCALAR_C128, {.c128 = {INFINITY, -INFINITY}}, "inf-infic128\n"},
    {SCALAR_I64, {.i64 = INT64_MIN}, "-9223372036854775808i64\n"},
    {SCALAR_U64, {.u64 = UINT64_MAX}, "18446744073709551615u64\n"},
    {SCALAR_I8, {.i8 = -128}, "-128i8\n"},
};

TEST(numbers_print_shortest) {
  for (size_t i = 0; i < LENGTH(printed); i++) {
    scalar_bits bits = printed[i].bits;
    array a = {.type = printed[i].type, .data = &bits};
    memory m = written(FORMAT_TEXT, &a, 1);
    CHECK_STR(m.bytes, printed[i].text);
    free(m.bytes);
  }
}

TEST(locale_of_the_program_does_not_matter) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; i < LENGTH(names) && !found; i++)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found)
    SKIP("no locale with a decimal comma is installed");
  static const char content[] = "1.5 0.12345678901234567890123 1.2e-300 1.2e-40f32";
  memory m = text_of_bytes(content, strlen(content), anything);
  CHECK_STR(m.bytes, "1.5f64\n0.12345678901234568f64\n1.2e-300f64\n1.2e-40f32\n");
  free(m.bytes);
  setlocale(LC_ALL, "C");
}

// ---- binary -----------------------------------------------------------------------------------

#define BYTES(text) text, sizeof(text) - 1

static const struct {
  const char *bytes;
  size_t count;
  const char *out;
} binary_cases[] = {
    {BYTES("b\2\0 i32\1\0\0\0"), "1i32\n"},
    {BYTES("b\2\1  u8\2\0\0\0\0\0\0\0\1\377"), "[1u8, 255u8]\n"},
    {BYTES(" \n-- text before\nb\2\0bool\1 2"), "true\n2i64\n"},
    {BYTES("b\2\0 c64\0\0\300\077\0\0\0\300"), "1.5-2.0ic64\n"},
    {BYTES("b\2\2 f64\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"), "empty([0][3]f64)\n"},
    {BYTES("b"), "error: in: the file ends inside the header of an array"},
    {BYTES("b\2"), "error: in: the file ends inside the header of an array"},
    {BYTES("b\2\0 i3"), "error: in: the file ends inside the header of an array"},
    {BYTES("b\2\1 i32\1\0\0\0\0\0\0"), "error: in: the file ends inside the header of an array"},
    {BYTES("b\1\0 i32\0\0\0\0"), "error: in: binary data of version 1; only version 2 can be read"},
    {BYTES("b\2\0 f16\0\x3c"), "1.0f16\n"},
    {BYTES("b\2\0 f80\0\0"), "error: in: the element type ' f80' is unknown; the types are bool, "
                             "i8 to i64, u8 to u64, f16, "
                             "f32, f64, c64, c128"},
    {BYTES("b\2\0\0\1\2\3\0\0"), "error: in: the element type '\\x00\\x01\\x02\\x03' is unknown; "
                                 "the types are bool, i8 to i64, u8 to u64, f16, "
                                 "f32, f64, c64, c128"},
    {BYTES("b\2\21 i32"), "error: in: the array has 17 dimensions; at most 16 are possible"},
    {BYTES("b\2\0 i32\0\0\0"),
     "error: in: the data is cut off: the header announces 4 bytes, but only 3 follow"},
    {BYTES("b\2\1 i32\377\377\377\377\377\377\377\377"),
     "error: in: the dimensions are too large: their product exceeds the address space"},
    {BYTES("b\2\1 i32\0\0\0\0\0\0\0\20"), "error: in: the data is cut off: the header announces "
                                          "4611686018427387904 bytes, but only 0 follow"},
    {BYTES("b\2\1bool\2\0\0\0\0\0\0\0\1\2"), "error: in: element 1 is 2, but a bool is 0 or 1"},
    {BYTES("1 b\2\0 i32\0\0\0\0b\2\0 i99"),
     "1i64\n0i32\nerror: in: byte 13: the element type ' i99' is unknown; the types are bool, i8 "
     "to i64, u8 to u64, f16, "
     "f32, f64, c64, c128"},
};

TEST(binary_values) {
  for (size_t i = 0; i < LENGTH(binary_cases); i++) {
    memory m = text_of_bytes(binary_cases[i].bytes, binary_cases[i].count, anything);
    CHECK_STR(m.bytes, binary_cases[i].out);
    free(m.bytes);
  }
}

TEST(binary_expectations) {
  memory m = text_of_bytes(BYTES("b\2\1 i64\0\0\0\0\0\0\0\0"), (value_expectation){SCALAR_F32, 1});
  CHECK_STR(m.bytes, "error: in: expected []f32, found []i64");
  free(m.bytes);
  m = text_of_bytes(BYTES("b\2\0 i64\0\0\0\0\0\0\0\0b\2\1 i64\0\0\0\0\0\0\0\0"),
                    (value_expectation){SCALAR_COUNT, 0});
  CHECK_STR(m.bytes, "0i64\nerror: in: byte 15: expected rank 0, found rank 1");
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

TEST(binary_of_known_bytes) {
  uint16_t data[] = {1, 0x1234};
  array a = {.type = SCALAR_U16, .rank = 2, .dims = {1, 2}, .data = data};
  memory m = written(FORMAT_BINARY, &a, 1);
  memory expected = {"b\2\2 u16\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\x34\x12", 27};
  CHECK(same_memory(m, expected));
  free(m.bytes);
}

// ---- .npy -------------------------------------------------------------------------------------

static const struct {
  const char *name, *out;
} npy_files[] = {
    {"u32_1d", "[3u32, 1u32, 2u32, 0u32]\n"},
    {"f32_2d", "[[-1.5f32, -0.5f32, 0.5f32], [1.5f32, 2.5f32, 3.5f32]]\n"},
    {"scalar_f64", "2.5f64\n"},
    {"empty_i32", "empty([0]i32)\n"},
    {"empty_2d_f32", "empty([0][8]f32)\n"},
    {"empty_inner_u8", "empty([3][0]u8)\n"},
    {"bool", "[true, false, true]\n"},
    {"i8", "[-128i8, 0i8, 127i8]\n"},
    {"i16_3d", "[[[-4i16, -3i16], [-2i16, -1i16]], [[0i16, 1i16], [2i16, 3i16]]]\n"},
    {"i64_big", "[-9223372036854775808i64, -1i64, 0i64, 9223372036854775807i64]\n"},
    {"u16_big_2d", "[[1u16, 256u16], [65535u16, 0u16]]\n"},
    {"f16", "[1.0f16, 2.0f16]\n"},
    {"f16_big", "[1.5f16, -0.0f16, f16.inf]\n"},
    {"f32_big", "[1.5f32, -0.0f32, f32.inf]\n"},
    {"c64", "[1.5+2.0ic64, -0.5-1.0ic64]\n"},
    {"c128_big_2d", "[[1.0+2.0ic128], [3.0-4.0ic128]]\n"},
    {"fortran_1d", "[1i32, 2i32]\n"},
    {"version2", "[1i32, 2i32]\n"},
    {"version3", "[1i32]\n[2.0f64]\n"},
    {"structured", "[1u32, 3u32]\n[2.5f32, 4.5f32]\n"},
    {"structured_padded", "[1i16, 2i16, 3i16]\n[2.5f64, -1.0f64, 0.0f64]\n[true, false, true]\n"},
    {"structured_nested", "[1u16, 4u16]\n[2i32, 5i32]\n[3.5f32, 6.5f32]\n"},
    {"structured_2d", "[[1u8], [3u8]]\n[[2u64], [4u64]]\n"},
    {"structured_empty", "empty([0]u32)\nempty([0]c64)\n"},
    {"structured_0d", "7i32\ntrue\n"},
    {"two", "[3u32, 1u32, 2u32, 0u32]\n[[-1.5f32, -0.5f32, 0.5f32], [1.5f32, 2.5f32, 3.5f32]]\n"},
    {"bad_fortran_2d", "the array is in Fortran order; save numpy.ascontiguousarray(a) instead"},
    {"bad_text", "dtype '<U2' (text) is not supported; supported are b1, i1 i2"},
    {"bad_bytes", "dtype '|S2' (bytes) is not supported"},
    {"bad_object", "dtype '|O' (Python objects) is not supported"},
    {"bad_date", "dtype '<M8[D]' (dates) is not supported"},
    {"bad_longdouble", "dtype '<f16' (long double) is not supported"},
    {"bad_void", "dtype '|V4' (raw memory) is not supported"},
    {"bad_subarray",
     "a field that is itself an array is not supported; save it as a separate array"},
    {"bad_truncated", "the data is cut off: the header announces 16 bytes, but only 13 follow"},
    {"bad_longer", "the file has 3 bytes more than its header announces"},
};

// As a file, as bytes and through a pipe.
TEST(files_of_numpy) {
  for (size_t i = 0; i < LENGTH(npy_files); i++) {
    char path[100];
    snprintf(path, sizeof path, "tests/data/npy/%s.npy", npy_files[i].name);
    memory content = load(path);
    memory results[] = {text_of_file(path, anything),
                        text_of_bytes(content.bytes, content.count, anything),
                        text_of_pipe(content.bytes, content.count, anything)};
    bool longer = strcmp(npy_files[i].name, "bad_longer") == 0;  // a pipe tells after the value
    for (size_t r = 0; r < LENGTH(results); r++) {
      CHECK_CONTAINS(results[r].bytes,
                     longer && r == 2 ? "byte 144: the file has more data than" : npy_files[i].out);
      CHECK((strncmp(npy_files[i].name, "bad_", 4) == 0) ==
            (strstr(results[r].bytes, "error:") != NULL));
      free(results[r].bytes);
    }
    free(content.bytes);
  }
}

// What numpy.save wrote is what we write.
TEST(npy_bytes_are_those_of_numpy) {
  static const char *const names[] = {
      "u32_1d",           "f32_2d",        "scalar_f64", "empty_i32",
      "empty_2d_f32",     "bool",          "i8",         "empty_inner_u8",
      "i16_3d",           "c64",           "structured", "structured_2d",
      "structured_empty", "structured_0d", "f16"};
  for (size_t i = 0; i < LENGTH(names); i++) {
    char path[100];
    error e;
    array parts[2];
    size_t count = 0;
    snprintf(path, sizeof path, "tests/data/npy/%s.npy", names[i]);
    value_source *s = value_source_open(path, &e);
    REQUIRE(s != NULL);
    while (count < 2 && value_read(s, anything, &parts[count], &e) == VALUE_OK)
      count++;
    value_source_close(s);
    memory ours = written(FORMAT_NPY, parts, count), theirs = load(path);
    CHECK(same_memory(ours, theirs));
    while (count > 0)
      array_destroy(&parts[--count]);
    free(ours.bytes);
    free(theirs.bytes);
  }
}

// A header, then `data` bytes that are 1.
static memory npy_of(const char *header, size_t data) {
  memory m;
  FILE *to = open_memstream(&m.bytes, &m.count);
  size_t length = strlen(header);
  fwrite("\x93NUMPY\1\0", 1, 8, to);
  putc((int)(length & 255), to);
  putc((int)(length >> 8), to);
  fputs(header, to);
  for (size_t i = 0; i < data; i++)
    putc(1, to);
  fclose(to);
  return m;
}

static const struct {
  const char *header;
  size_t data;
  const char *out;
} npy_headers[] = {
    {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", 4, "[257i16, 257i16]\n"},
    {"{'shape':(2,),'fortran_order':False,'descr':'<i2'}", 4, "[257i16, 257i16]\n"},
    {" { \"descr\" : \"i1\" ,\n'fortran_order' : True , 'shape' : ( 2 , ) } \n", 2, "[1i8, 1i8]\n"},
    {"{'descr': '=u2', 'fortran_order': False, 'shape': (1L, 2L)}", 4, "[[257u16, 257u16]]\n"},
    {"{'descr': '|u2', 'fortran_order': False, 'shape': ()}", 2, "257u16\n"},
    {"{'descr': '<b1', 'fortran_order': False, 'shape': (1,)}", 1, "[true]\n"},
    {"{'descr': [('x', '|i1')], 'fortran_order': False, 'shape': (1,)}", 1, "[1i8]\n"},
    {"{'descr': [(('title', 'x'), '|i1'), ('', '|V3'), (\"y'\\\"\", [('a', 'u1')])], "
     "'fortran_order': "
     "False, 'shape': (1,)}",
     5, "[1i8]\n[1u8]\n"},
    {"{'descr': [('x', '|i1',), ], 'fortran_order': False, 'shape': (1,)}", 1, "[1i8]\n"},
    {"", 0, "the .npy header is malformed: expected '{', found ''"},
    {"[]", 0, "expected '{', found '[]'"},
    {"{}", 0, "key 'descr' is missing"},
    {"{'descr': 'u1', 'shape': ()}", 1, "key 'fortran_order' is missing"},
    {"{'descr': 'u1', 'fortran_order': False}", 1, "key 'shape' is missing"},
    {"{'descr': 'u1', 'descr': 'u1', 'fortran_order': False, 'shape': ()}", 1,
     "key 'descr' is unknown or repeated"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (), 'x': 1}", 1,
     "key 'x' is unknown or repeated"},
    {"{'descr': 'u1', 'fortran_order': 0, 'shape': ()}", 1,
     "expected True or False, found '0, 'shape'"},
    {"{'descr': 'u1' 'fortran_order': False, 'shape': ()}", 1,
     "expected ',' or '}', found ''fortran"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': ()", 1, "expected ',' or '}', found ''"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': ()} x", 1,
     "expected the end of the header, found 'x'"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (2)}", 2, "the shape is not a tuple"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (-2,)}", 2,
     "expected a length, found '-2,)}'"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (2 3)}", 2,
     "expected ',' or ')', found '3)}'"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (2,", 2, "expected a length, found ''"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': [2]}", 2, "expected '(', found '[2]}'"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (99999999999999999999,)}", 2,
     "a length in the .npy header does not fit 64 bits"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 2,
     "the dimensions are too large"},
    {"{'descr': 'u8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}", 0,
     "the dimensions are too large"},
    {"{'descr': [('a', 'u8'), ('b', 'u8')], 'fortran_order': False, 'shape': "
     "(1152921504606846976,)}",
     2, "the dimensions are too large"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", 1,
     "an array may have at most 16 dimensions"},
    {"{'descr': 'u1', 'fortran_order': False, 'shape': (1000000000000,)}", 3,
     "the data is cut off: the header announces 1000000000000 bytes, but only 3 follow"},
    {"{'descr': [('a', 'u1'), ('b', 'u1')], 'fortran_order': False, 'shape': (1000000000000,)}", 3,
     "the data is cut off: the header announces 2000000000000 bytes, but only 3 follow"},
    {"{'descr': 'u1', 'fortran_order': True, 'shape': (1, 1)}", 1, "Fortran order"},
    {"{'descr': 'b1', 'fortran_order': False, 'shape': (1,)}b", 1,
     "expected the end of the header"},
    {"{'descr': u1, 'fortran_order': False, 'shape': ()}", 1, "expected a string, found 'u1"},
    {"{'descr': 'u1, 'fortran_order': False, 'shape': ()}", 1,
     "dtype 'u1, ' (unknown) is not supported"},
    {"{'descr': '', 'fortran_order': False, 'shape': ()}", 1,
     "dtype '' (unknown) is not supported"},
    {"{'descr': '<', 'fortran_order': False, 'shape': ()}", 1,
     "dtype '<' (unknown) is not supported"},
    {"{'descr': '<i3', 'fortran_order': False, 'shape': ()}", 1,
     "dtype '<i3' (unknown) is not supported"},
    {"{'descr': '<c32', 'fortran_order': False, 'shape': ()}", 1, "(long complex)"},
    {"{'descr': '<m8[s]', 'fortran_order': False, 'shape': ()}", 1, "(times)"},
    {"{'descr': [], 'fortran_order': False, 'shape': ()}", 0, "the structured array has no fields"},
    {"{'descr': [('', '|V8')], 'fortran_order': False, 'shape': ()}", 8,
     "the structured array has no fields"},
    {"{'descr': [('x', '|V8')], 'fortran_order': False, 'shape': ()}", 8,
     "dtype '|V8' (raw memory)"},
    {"{'descr': [('', '|V99999999999999999999'), ('x', 'u1')], 'fortran_order': False, 'shape': "
     "()}",
     8, "records of more than 65536 bytes are not supported"},
    {"{'descr': [('x', 'u1', (2,))], 'fortran_order': False, 'shape': ()}", 2,
     "a field that is itself an array"},
    {"{'descr': [('x' 'u1')], 'fortran_order': False, 'shape': ()}", 2,
     "expected ',', found ''u1')]"},
    {"{'descr': ['u1'], 'fortran_order': False, 'shape': ()}", 2, "expected '(', found ''u1'], "},
    {"{'descr': [('x', 'u1') ('y', 'u1')], 'fortran_order': False, 'shape': ()}", 2,
     "expected ',' or ']'"},
    {"{'descr': [('x', 'u1'", 2, "expected ')', found ''"},
    {"{'descr': [('x", 2, "expected the end of a string"},
    {"{'descr': 'b1', 'fortran_order': False, 'shape': (2,)}", 3,
     "the file has 1 byte more than its header announces"},
};

TEST(npy_headers_of_all_kinds) {
  for (size_t i = 0; i < LENGTH(npy_headers); i++) {
    memory in = npy_of(npy_headers[i].header, npy_headers[i].data);
    memory out = text_of_bytes(in.bytes, in.count, anything);
    CHECK_CONTAINS(out.bytes, npy_headers[i].out);
    memory piped = text_of_pipe(in.bytes, in.count, anything);
    CHECK((strstr(out.bytes, "error: ") == NULL) == (strstr(piped.bytes, "error: ") == NULL));
    free(in.bytes);
    free(out.bytes);
    free(piped.bytes);
  }
}

// Names of fields, as they are written in Python; version 1 of the format is Latin-1, 3 is UTF-8.
static const struct {
  char version;
  const char *descr, *name;  // of the last field
} npy_names[] = {
    {1, "[('x', 'u1')]", "x"},
    {1, "[('', 'u1')]", NULL},
    {1, "[(('a title', 'x'), 'u1')]", "x"},
    {1, "[('a', [('b', [('c', 'u1')]), ('', 'u1')])]", "a"},
    {1, "[('a', [('b', [('c', 'u1')])])]", "a.b.c"},
    {1, "[('', [('b', 'u1')])]", "b"},
    {1, "[('caf\xe9', 'u1')]", "caf\xc3\xa9"},
    {3, "[('caf\xc3\xa9', 'u1')]", "caf\xc3\xa9"},
    {1, "[(\"it's\", 'u1')]", "it's"},
    {1, "[('\\\\ \\' \\\" \\n\\t', 'u1')]", "\\ ' \" \n\t"},
    {1, "[('\\xe9\\u6f22\\U0001f600', 'u1')]", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"},
    {1, "[('\\x00\\ud800\\U00110000', 'u1')]", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {1, "[('\\q\\x', 'u1')]", "\\q\xef\xbf\xbd"},
};

TEST(npy_names_of_fields) {
  for (size_t i = 0; i < LENGTH(npy_names); i++) {
    char header[200];
    error e;
    array a;
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': ()}",
             npy_names[i].descr);
    memory in = npy_of(header, 2);
    if (npy_names[i].version == 3) {  // whose length has four bytes
      memory wider = {malloc(in.count + 2), in.count + 2};
      memcpy(wider.bytes, in.bytes, 10);
      memset(wider.bytes + 10, 0, 2);
      memcpy(wider.bytes + 12, in.bytes + 10, in.count - 10);
      wider.bytes[6] = 3;
      free(in.bytes);
      in = wider;
    }
    value_source *s =
        value_source_bytes("in", in.bytes, in.count - !strstr(npy_names[i].descr, "]), ("), &e);
    do {
      CHECK_EQ_I64(value_read(s, anything, &a, &e), VALUE_OK);
      array_destroy(&a);
    } while (value_pending(s));
    CHECK_STR(value_name(s), npy_names[i].name);
    value_source_close(s);
    free(in.bytes);
  }
}

// What is written of names, and read again: {names of the components}, .npy, .csv.
static const struct {
  const char *names[3], *npy, *csv;
} written_names[] = {
    {{NULL, NULL, NULL}, "[('f0', '|u1'), ('f1', '|u1'), ('f2', '|u1')]", "7,7,7\n"},
    {{"x", NULL, "y"}, "[('x', '|u1'), ('f1', '|u1'), ('y', '|u1')]", "x,f1,y\n7,7,7\n"},
    {{"f2", "f2", NULL},
     "[('f2', '|u1'), ('f2_1', '|u1'), ('f2_2', '|u1')]",
     "f2,f2_1,f2_2\n7,7,7\n"},
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

static const struct {
  const char *bytes;
  size_t count;
  const char *out;
} npy_prefixes[] = {
    {BYTES("\x93"), "not a .npy file"},
    {BYTES("\x93NUMPX\1\0"), "not a .npy file"},
    {BYTES("\x93NUMPY\4\0\0\0"),
     "version 4.0 of the .npy format cannot be read; versions 1.0, 2.0 and 3.0 can"},
    {BYTES("\x93NUMPY\1\1\0\0"),
     "version 1.1 of the .npy format cannot be read; versions 1.0, 2.0 and 3.0 can"},
    {BYTES("\x93NUMPY\1\0\0"), "the file ends inside the header"},
    {BYTES("\x93NUMPY\1\0\5\0{}"),
     "the file ends inside the header: it announces 5 bytes, but only 2 follow"},
    {BYTES("\x93NUMPY\2\0\377\377\377\377{}"),
     "the .npy header has 4294967295 bytes; at most 1048576 are read"},
    {BYTES("\x93NUMPY\3\0\0\0\1\0{}"),
     "the file ends inside the header: it announces 65536 bytes, but only 2 follow"},
};

TEST(npy_prefixes_that_lie) {
  for (size_t i = 0; i < LENGTH(npy_prefixes); i++) {
    memory out = text_of_bytes(npy_prefixes[i].bytes, npy_prefixes[i].count, anything);
    CHECK_CONTAINS(out.bytes, npy_prefixes[i].out);
    free(out.bytes);
    out = text_of_pipe(npy_prefixes[i].bytes, npy_prefixes[i].count, anything);
    CHECK_CONTAINS(out.bytes, "error: ");
    free(out.bytes);
  }
}

// Every prefix of every file is an error or the end, never a value and never a crash.
TEST(npy_files_cut_anywhere) {
  for (size_t i = 0; i < LENGTH(npy_files); i++) {
    char path[100];
    snprintf(path, sizeof path, "tests/data/npy/%s.npy", npy_files[i].name);
    memory content = load(path);
    bool good = strncmp(npy_files[i].name, "bad_", 4) != 0 && strcmp(npy_files[i].name, "two") != 0;
    for (size_t count = 1; good && count < content.count; count++) {
      char *exact = malloc(count);  // so that a sanitizer sees a byte too many
      memcpy(exact, content.bytes, count);
      memory out = text_of_bytes(exact, count, anything);
      CHECK(strncmp(out.bytes, "error: in: ", 11) == 0);
      free(out.bytes);
      free(exact);
    }
    free(content.bytes);
  }
}

TEST(npy_writes_refused) {
  uint64_t three = 3, four = 4;
  array parts[2];
  error e;
  REQUIRE(array_create(&parts[0], SCALAR_U8, 1, &three));
  REQUIRE(array_create(&parts[1], SCALAR_U8, 1, &four));
  FILE *to = fopen("/dev/null", "w");
  CHECK(!value_write(to, FORMAT_NPY, &(permc_value){.components = parts, .count = 2}, &e));
  CHECK_CONTAINS(e.message, "the components of this tuple differ in shape");
  CHECK(!value_write(to, FORMAT_NPY, &(permc_value){.components = parts, .count = 0}, &e));
  CHECK_CONTAINS(e.message, "this value has none");
  fclose(to);
  array_destroy(&parts[0]);
  array_destroy(&parts[1]);
}

// More fields than a header of version 1.0 holds.
TEST(npy_with_thousands_of_fields) {
  enum { FIELDS = 4000 };
  uint64_t two = 2;
  array *parts = calloc(FIELDS, sizeof *parts);
  REQUIRE(parts != NULL);
  for (size_t i = 0; i < FIELDS; i++) {
    REQUIRE(array_create(&parts[i], SCALAR_C128, 1, &two));
    memset(parts[i].data, (int)(i & 127), 32);
  }
  memory m = written(FORMAT_NPY, parts, FIELDS);
  CHECK_EQ_I64(m.bytes[6], 2);
  error e;
  value_source *s = value_source_bytes("m", m.bytes, m.count, &e);
  for (size_t i = 0; i < FIELDS; i++) {
    array b = {0};
    CHECK_EQ_I64(value_read(s, anything, &b, &e), VALUE_OK);
    CHECK(same_bits(&parts[i], &b));
    array_destroy(&b);
    array_destroy(&parts[i]);
  }
  value_source_close(s);
  free(parts);
  free(m.bytes);
}

// ---- sources and formats ----------------------------------------------------------------------

TEST(format_by_ending) {
  static const struct {
    const char *path;
    value_format format;
  } cases[] = {{"a.npy", FORMAT_NPY},    {"a.bin", FORMAT_BINARY}, {"b/a.dat", FORMAT_BINARY},
               {"a.csv", FORMAT_CSV},    {"a.TXT", FORMAT_PLAIN},  {"a.b.out", FORMAT_TEXT},
               {"npy", FORMAT_TEXT},     {"-", FORMAT_TEXT},       {"", FORMAT_TEXT},
               {"a.x/npy", FORMAT_TEXT}, {".npy", FORMAT_TEXT}};
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
  CHECK_STR(e.message, "tests/data: Is a directory");
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
    double x = scalar_f16_value(((uint16_t *)a.data)[i]);
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

// ---- output files -----------------------------------------------------------------------------

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

TEST(output_appears_whole) {
  const char *path = temporary_path("out.txt");
  error e = {0};
  unlink(path);
  mode_t mask = umask(027);
  output_file *o = output_open(path, &e);
  REQUIRE(o != NULL);
  fputs("hello", output_stream(o));
  fflush(output_stream(o));
  CHECK(access(path, F_OK) != 0);
  CHECK_EQ_I64(temporaries_left(), 1);
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
                       "'tests/nowhere'), or write elsewhere");
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
}

TEST_MAIN()
