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
};

TEST(malformed_tables) {
  for (size_t i = 0; i < LENGTH(bad_tables); i++)
    check_bad_text(&bad_tables[i]);
}

TEST_MAIN()
