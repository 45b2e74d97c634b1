// The error type (core/error.h): the first error is kept; messages show their place.
#include "tests/test.h"

#include "core/error.h"  // after test.h, whose parameters are called text

TEST(first_error_is_kept_with_its_place) {
  error e = {0};
  CHECK(!error_is_set(&e));
  CHECK(!error_set(&e, (span){1, 2, 5}, "%d is no mask", 9));
  CHECK(error_is_set(&e));
  CHECK(!error_set(&e, SPAN_NONE, "another"));
  CHECK_STR(e.message, "9 is no mask");
  CHECK_EQ_U64(e.where.file, 1);
  CHECK_EQ_U64(e.where.end, 5);
  CHECK_EQ_U64(e.step, STEP_NONE);
  CHECK(!error_set(NULL, SPAN_NONE, "nobody asks"));
}

TEST(number_of_what_is_refused) {
  error e = {0}, other = {0};
  CHECK(!error_set_number(&e, 27, "%s: too large", "a"));
  CHECK(!error_set_number(&e, 28, "another"));
  CHECK_STR(e.message, "a: too large");
  CHECK(e.number == 27 && e.step == STEP_NONE && e.where.file == UINT32_MAX);
  CHECK(!error_pass(&other, &e) && other.number == 27);
  CHECK_STR(other.message, "a: too large");
  e.number = 0;
  CHECK(!error_pass(&other, &e) && other.number == 27);
  CHECK(!error_pass(NULL, &e) && !error_set_number(NULL, 27, "nobody asks"));
}

TEST(long_message_is_cut) {
  char long_text[2000];
  memset(long_text, 'x', sizeof long_text);
  error e = {0};
  CHECK(!error_set(&e, SPAN_NONE, "%.*s", (int)sizeof long_text, long_text));
  CHECK_EQ_U64(strlen(e.message), sizeof e.message - 1);
}

TEST(reported_error_shows_its_line) {
  jmp_buf failure;
  arena memory = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  diagnostics d = {.memory = &memory};
  static const char program[] = "f x =\n  parm 9 x\n";
  uint32_t file =
      diag_add_source(&d, (source){"a.perm", program, sizeof program - 1, false, false});
  error e = {0};
  CHECK(!error_set(&e, (span){file, 8, 14}, "the mask is 9"));
  diag_report(&d, DIAG_ERROR, e.where, "%s", e.message);
  CHECK_EQ_U64(d.errors, 1);
  CHECK_STR(d.rendered.data, "a.perm:2:3: error: the mask is 9\n"
                             "    parm 9 x\n"
                             "    ^^^^^^\n");
  error nowhere = {0};
  CHECK(!error_set(&nowhere, SPAN_NONE, "out of memory"));
  diag_report(&d, DIAG_ERROR, nowhere.where, "%s", nowhere.message);
  CHECK(strstr(d.rendered.data, "\npermc: out of memory\n") != NULL);
  text_free(&d.rendered);
  arena_free(&memory);
}

// Names come from programs and files: no byte of them is an order to the terminal.
TEST(control_characters) {
  jmp_buf failure;
  arena memory = {.failure = &failure};
  REQUIRE(setjmp(failure) == 0);
  diagnostics d = {.memory = &memory};
  static const char bad[] = "x\x1b[31m \xc2\x9b \xff y\n";
  uint32_t file = diag_add_source(&d, (source){"\x1b]0;a.perm", bad, sizeof bad - 1, false, false});
  diag_report(&d, DIAG_ERROR, (span){file, 0, 1}, "no name '%s'", "\x1b[2J\r\x7f\xc3\xa9");
  diag_report(&d, DIAG_HINT, SPAN_NONE, "%s", "\b");
  CHECK_STR(text_content(&d.rendered), "?]0;a.perm:1:1: error: no name '?[2J??\xc3\xa9'\n"
                                       "  x?[31m ? ? y\n"
                                       "  ^\n"
                                       "hint: ?\n");
  text_free(&d.rendered);
  arena_free(&memory);
}

TEST_MAIN()
