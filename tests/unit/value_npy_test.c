// Values as .npy (runtime/values/npy.c, npy_header.c).
#include "values.h"

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
    {"bf16", "[1.0bf16, 3.14bf16, -0.0bf16, bf16.inf, 9.0e-41bf16]\n"},  // of ml_dtypes
    {"structured_bf16", "[1u32, 3u32]\n[2.5bf16, 4.5bf16]\n"},
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
      "structured_empty", "structured_0d", "f16",        "bf16"};
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
    // Fields that cannot be read are stepped over where others are chosen.
    {"{'descr': [('x', '<U2'), ('t', '<M8[s]'), ('', '|V3'), ('n', 'u1'), ('v', 'u2', (2, 3))], "
     "'fortran_order': False, 'shape': ()}",
     32, "field 'x': dtype '<U2' (text) is not supported; choose others, as in -i in:n"},
    {"{'descr': [('n', 'u1'), ('v', [('a', 'u2')], (2,))], 'fortran_order': False, 'shape': ()}", 5,
     "field 'v.a': a field that is itself an array is not supported"},
    {"{'descr': [('n', 'u1'), ('o', 'O')], 'fortran_order': False, 'shape': ()}", 9,
     "dtype 'O' (Python objects) is not supported"},
    {"{'descr': [('n', 'u1'), ('v', 'u2', (65536,))], 'fortran_order': False, 'shape': ()}", 9,
     "records of more than 65536 bytes are not supported"},
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

TEST_MAIN()
