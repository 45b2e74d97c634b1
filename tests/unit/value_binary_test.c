// Values in Futhark's binary format (runtime/values/binary.c).
#include "values.h"

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
    {BYTES("b\2\0bf16\x80\x3f"), "1.0bf16\n"},
    {BYTES("b\2\0 f80\0\0"), "error: in: the element type ' f80' is unknown; the types are bool, "
                             "i8 to i64, u8 to u64, f16, bf16, "
                             "f32, f64, c64, c128"},
    {BYTES("b\2\0\0\1\2\3\0\0"), "error: in: the element type '\\x00\\x01\\x02\\x03' is unknown; "
                                 "the types are bool, i8 to i64, u8 to u64, f16, bf16, "
                                 "f32, f64, c64, c128"},
    {BYTES("b\2\21 i32"), "error: in: the array has 17 dimensions; at most 16 are possible"},
    {BYTES("b\2\0 i32\0\0\0"),
     "error: in: the data is cut off: the header announces 4 bytes, but only 3 follow"},
    {BYTES("b\2\1 i32\377\377\377\377\377\377\377\377"),
     "error: in: the dimensions are too large: their product exceeds the address space"},
    {BYTES("b\2\1 i32\0\0\0\0\0\0\0\20"), "error: in: the data is cut off: the header announces "
                                          "4611686018427387904 bytes, but only 0 follow"},
    {BYTES("b\2\1bool\2\0\0\0\0\0\0\0\1\2"), "[true, true]\n"},
    {BYTES("1 b\2\0 i32\0\0\0\0b\2\0 i99"),
     "1i64\n0i32\nerror: in: byte 13: the element type ' i99' is unknown; the types are bool, i8 "
     "to i64, u8 to u64, f16, bf16, "
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
  CHECK_STR(m.bytes, "0i64\nerror: in: byte 15: expected one value, found an array");
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

TEST_MAIN()
