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
  uint32_t file = diag_add_source(&d, (source){"a.perm", program, sizeof program - 1, false});
  error e = {0};
  CHECK(!error_set(&e, (span){file, 8, 14}, "the mask is 9"));
  diag_error(&d, &e);
  CHECK_EQ_U64(d.errors, 1);
  CHECK_STR(d.rendered.data, "a.perm:2:3: error: the mask is 9\n"
                             "    parm 9 x\n"
                             "    ^^^^^^\n");
  error nowhere = {0};
  CHECK(!error_set(&nowhere, SPAN_NONE, "out of memory"));
  diag_error(&d, &nowhere);
  CHECK(strstr(d.rendered.data, "\npermc: out of memory\n") != NULL);
  text_free(&d.rendered);
  arena_free(&memory);
}

TEST_MAIN()
