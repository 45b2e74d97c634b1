// Tables (runtime/values/table.c): rows of numbers with separators, perhaps under a header.
#include "values.h"

static const text_case tables[] = {
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
    {"Bz,PAR1\n1,2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"\"1\n\",2", SCALAR_I32, 2,
     "error: in:1:1: expected a value, found '1\\x0a'; a header has a name in it, "
     "which begins with a letter"},
    {"1,\"2\"", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"True,FALSE", SCALAR_BOOL, 2, "[[true, false]]\n"},
    {"inf\nInfinity\n-INFINITY\nNaN\n+inf\n", ANY, 1,
     "[f64.inf, f64.inf, -f64.inf, f64.nan, f64.inf]\n"},
    // Lines end with LF, CR LF or CR.
    {"a,b\r1,2\r3,4\r", ANY, 1, "[1i64, 3i64]\n[2i64, 4i64]\n"},
    {"3\r1\r\n2\n", ANY, 1, "[3i64, 1i64, 2i64]\n"},
    {"1 2 # c\r3 4 -- d\r", SCALAR_I32, 2, "[[1i32, 2i32], [3i32, 4i32]]\n"},
    {"\"a\rb\",c\r1,2\r", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    // Separators.
    {"1|2\n3|4\n", SCALAR_I32, 2, "[[1i32, 2i32], [3i32, 4i32]]\n"},
    {"1,\t2\n3,\t4\n", SCALAR_I32, 2, "[[1i32, 2i32], [3i32, 4i32]]\n"},
    {"1 ,2 , 3\n", SCALAR_I32, 2, "[[1i32, 2i32, 3i32]]\n"},
    {"\"a;b|c\",d\n1,2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"a,\"\"\"b;\"\"\"\n1,2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
    {"# a;b,c\n1;2\n", SCALAR_I32, 2, "[[1i32, 2i32]]\n"},
};

TEST(tables_of_all_kinds) {
  for (size_t i = 0; i < LENGTH(tables); i++)
    check_text(&tables[i]);
}

static const text_case bad_tables[] = {
    {"1 2\n3", SCALAR_I32, 1, "in:2:1: this row has 1 field, but the first has 2"},
    {"1,2\n3,\n", SCALAR_I32, 2, "in:2:3: this field is empty; a missing value can be nan"},
    {"1,2\n3,\"4\n", SCALAR_I32, 2, "in:2:3: this quoted field has no end"},
    {"1;\"2,3\"\n", SCALAR_I32, 2, "in:1:3: expected a value, found '2,3'"},
    {"3\n\"1,234.50\"\n", SCALAR_F64, 1,
     "found '1,234.50'; write thousands without separators: 1234.5"},
    {"3,1\n3;1,5\n", SCALAR_F64, 2, "found '3;1'; write the decimal comma as a point: 1.5"},
    {"a;b\n\"-1,000\";2\n", SCALAR_I32, 2,
     "in:2:1: expected a value, found '-1,000'; write it without a separator of thousands, 1234, "
     "or "
     "with a decimal point, 1.234"},
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
    {"1.#INF 2\n", SCALAR_F64, 2, "in:1:1: expected a value, found '1.#INF'"},
    {"1--5 2\n", SCALAR_I32, 2, "in:1:1: expected a value, found '1--5'"},
    {"\t1\t2\n", SCALAR_I32, 2, "in:1:1: this field is empty"},
    // Digits that are not ASCII begin no name.
    {"\xd9\xa3,\xd9\xa4\n1,2\n", SCALAR_I32, 2, "in:1:1: expected a value, found"},
    {"\xef\xbc\x91,2\n1,2\n", SCALAR_I32, 2, "in:1:1: expected a value, found"},
    // What two separators may separate.
    {"1;2,5\n3;4,5\n", SCALAR_I32, 2,
     "in:1:1: the first field of this line is '1;2' by commas and '1' by semicolons; put a field "
     "that holds a separator in quotes, and write a decimal comma as a point: 1.5"},
    {"\n#\n1,5\t2,5\n", SCALAR_I32, 2,
     "in:3:1: the first field of this line is '1' by commas and "
     "'1,5' by tabulators"},
    {"1,5 2,5\n", SCALAR_I32, 2, "is '1' by commas and '1,5' by blanks"},
    {"2024-01-02 1,5\n", SCALAR_I32, 2, "by commas and '2024-01-02' by blanks"},
    {"temp, C;wind\n20,5;3\n", SCALAR_I32, 2, "is 'temp' by commas and 'temp, C' by semicolons"},
    {"1|2;3\n", SCALAR_I32, 2, "is '1|2' by semicolons and '1' by vertical bars"},
};

// A NUL ended a field.
static void check_zeros(scalar_type type) {
  static const struct {
    const char *bytes;
    size_t count;
    const char *place;
  } rows[] = {{BYTES("1\0"
                     "9\n3\n"),
               "in:1:2: "},
              {BYTES("1,\"2\0\"\n"), "in:1:5: "},
              {BYTES("\"a\0\",b\n1,2\n"), "in:1:3: "},
              {BYTES("1 2\r\n3 4\r\n\0"), "in:3:1: "},
              {BYTES("1\0,\0"
                     "2\0\n\0"),
               "in:1:2: "},
              {BYTES("a\0;b\r1;2\n"), "in:1:2: "}};
  for (size_t i = 0; i < LENGTH(rows); i++)
    for (int rank = 1; rank <= 2; rank++) {
      memory m = text_of_bytes(rows[i].bytes, rows[i].count, (value_expectation){type, rank});
      CHECK_CONTAINS(m.bytes, rows[i].place);
      CHECK_CONTAINS(m.bytes, "this is a NUL byte, which no text has");
      free(m.bytes);
    }
}

TEST(zero_bytes_in_tables) {
  for (scalar_type t = 0; t <= SCALAR_COUNT; t++)
    check_zeros(t);
}

TEST(malformed_tables) {
  for (size_t i = 0; i < LENGTH(bad_tables); i++)
    check_bad_text(&bad_tables[i]);
}

TEST_MAIN()
