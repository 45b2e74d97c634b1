// Values as text (runtime/values/text.c, number.c), plain numbers one a line among it.
#include "values.h"

#include <math.h>

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
    {"0bf16 0b1 -bf16.nan(0x3f) bf16.inf 1e38bf16", ANY, 0,
     "0.0bf16\n1i64\n-bf16.nan(0x3f)\nbf16.inf\n1.0e38bf16\n"},
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
    // rank -1 - r: at least r
    {"1\n2", ANY, -2, "[1i64, 2i64]\n"},
    {"[1] [[2]]", ANY, -2, "[1i64]\n[[2i64]]\n"},
    {"[[1]] empty([0][1]i8) [[[2]]]", ANY, -3, "[[1i64]]\nempty([0][1]i8)\n[[[2i64]]]\n"},
};

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
    {"3.4e38", SCALAR_BF16, 0, "in:1:1: 3.4e38 is outside bf16 (up to 3.39e38)"},
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
    {"[1]", ANY, 2, "expected an array of rows, found an array"},
    {"[1]", SCALAR_F32, -3, "in:1:1: expected at least an array of rows, found an array"},
    {"empty([0]i32)", SCALAR_F32, -3, "in:1:1: expected at least an array of rows, found an array"},
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
     "in: a zip archive (.npz, .xlsx) cannot be read; save each array as a .npy file with "
     "numpy.save, a sheet as .csv"},
    {"\x1f\x8b\x08", ANY, -1, "in: this is compressed; unpack it with gunzip"},
    {"\xff\xfe[", ANY, 1, "in: this is UTF-16 text; save it as UTF-8"},
    {"{\"x\": [1]}", SCALAR_F64, 1,
     "in: a JSON object cannot be read; an array of numbers can: [1.5, 2]"},
    {"1\n{", SCALAR_I64, 1, "in:2:1: expected a value, found '{'"},
    {"[(1, 2.5)]", ANY, -1,
     "in:1:2: expected a value, found '('; an array of pairs is written as two arrays: [1, 2] "
     "[0.5, "
     "1.5]"},
    {"[1] x", ANY, -1, "[1i64]\nerror: in:1:5: expected a value, found 'x'"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee", ANY, -1,
     "found 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'"},
};

TEST(malformed_texts) {
  for (size_t i = 0; i < LENGTH(bad_texts); i++)
    check_bad_text(&bad_texts[i]);
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
    {SCALAR_BF16, {.bf16 = 0x3dcd}, "0.1bf16\n"},
    {SCALAR_BF16, {.bf16 = 0x46a6}, "21200.0bf16\n"},
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

TEST_MAIN()
