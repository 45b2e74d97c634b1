// Reading traces and lists: what is accepted, and what is said of what is not.
#include "tests/test.h"
#include "tool/reports/address_text.h"

static arena memory;

static bool reads(const char *bytes, size_t length, bank_trace *out, size_t *line,
                  const char **wrong) {
  *out = (bank_trace){0};
  return address_text_read(&memory, bytes, length, out, NULL, line, wrong);
}

TEST(the_trace_of_the_header) {
  static const char trace[] = "# Shared memory of a transpose\n"
                              "0 1 2 3   # in order\n"
                              "\n"
                              "0, 4, 8,\t12\r\n"
                              "  0x10 0X1f 24";
  bank_trace t;
  size_t line;
  const char *wrong;
  REQUIRE(reads(trace, strlen(trace), &t, &line, &wrong));
  REQUIRE(t.accesses.count == 3);
  CHECK_EQ_U64(t.accesses.items[0].count, 4);
  CHECK_EQ_U64(t.accesses.items[1].address[3], 12);
  CHECK_EQ_U64(t.accesses.items[2].count, 3);
  CHECK_EQ_U64(t.accesses.items[2].address[1], 31);
  CHECK_EQ_U64(t.words, 32);
  CHECK_EQ_U64(t.lanes, 4);
}

TEST(largest_address) {
  bank_trace t;
  size_t line;
  const char *wrong;
  REQUIRE(reads("0xffffffffffff 281474976710655", 30, &t, &line, &wrong));
  CHECK_EQ_U64(t.words, UINT64_C(1) << 48);
}

// One line each: its number and a sentence.
TEST(malformed_traces) {
  static const char none[] =
      "the file has no accesses: write the addresses of each access on a line";
  static const struct {
    const char *trace;
    size_t line;
    const char *wrong;
  } rows[] = {
      {"", 0, none},
      {"\n\n", 0, none},
      {"# nothing\n\n# more\n", 0, none},
      {"1 2\nfoo 3\n", 2, "'foo' is not a number such as 96 or 0x60"},
      {"1\n\n\n-2", 4, "'-2' is not a number such as 96 or 0x60"},
      {"1.5", 1, "'1.5' is not a number such as 96 or 0x60"},
      {"0x", 1, "'0x' is not a number such as 96 or 0x60"},
      {"0x1g", 1, "'0x1g' is not a number such as 96 or 0x60"},
      {"12a", 1, "'12a' is not a number such as 96 or 0x60"},
      {"1;2", 1, "'1;2' is not a number such as 96 or 0x60"},
      {"\x01\xff", 1, "'\\x01\\xff' is not a number such as 96 or 0x60"},
      {"abcdefghijklmnopqrstuvwxyz", 1,
       "'abcdefghijklmnopqrstuvwx...' is not a number such as 96 or 0x60"},
      {"0x1000000000000", 1, "0x1000000000000 is too large: addresses are less than 2^48"},
      {"1\n99999999999999999999999999999999", 2,
       "999999999999999999999999... is too large: addresses are less than 2^48"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bank_trace t;
    size_t line = 0;
    const char *wrong = NULL;
    CHECK(!reads(rows[i].trace, strlen(rows[i].trace), &t, &line, &wrong));
    CHECK_EQ_U64(line, rows[i].line);
    CHECK_STR(wrong, rows[i].wrong);
  }
}

TEST(a_byte_that_is_zero) {
  bank_trace t;
  size_t line;
  const char *wrong;
  CHECK(!reads("1 2\n3\0004\n", 8, &t, &line, &wrong));
  CHECK_EQ_U64(line, 2);
  CHECK_CONTAINS(wrong, "'3\\x004' is not a number");
}

TEST(most_addresses_of_an_access) {
  text trace = {0};
  bank_trace t;
  size_t line;
  const char *wrong;
  for (int i = 0; i < BANK_LANES_MAX; i++)
    text_printf(&trace, "%d ", i);
  CHECK(reads(trace.data, trace.length, &t, &line, &wrong));
  CHECK_EQ_U64(t.lanes, BANK_LANES_MAX);
  text_string(&trace, "7");
  CHECK(!reads(trace.data, trace.length, &t, &line, &wrong));
  CHECK_STR(wrong, "an access has more than 1024 addresses");
  text_free(&trace);
}

TEST(lists_run_over_lines) {
  static const char list[] = "0 1, 0x2\n\n# more\n3 # the last\n";
  address_list out = {0};
  size_t line;
  const char *wrong;
  REQUIRE(address_text_read(&memory, list, strlen(list), NULL, &out, &line, &wrong));
  REQUIRE(out.count == 4);
  for (uint64_t i = 0; i < 4; i++)
    CHECK_EQ_U64(out.items[i], i);
}

TEST(malformed_lists) {
  address_list out = {0};
  size_t line;
  const char *wrong;
  CHECK(!address_text_read(&memory, "# none\n", 7, NULL, &out, &line, &wrong));
  CHECK_EQ_U64(line, 0);
  CHECK_STR(wrong, "the file has no numbers");
  CHECK(!address_text_read(&memory, "1 2\n3 x4\n", 9, NULL, &out, &line, &wrong));
  CHECK_EQ_U64(line, 2);
  CHECK_STR(wrong, "'x4' is not a number such as 96 or 0x60");
}

int main(int argc, char **argv) {
  int status = test_main(argc, argv);
  arena_free(&memory);
  return status;
}
