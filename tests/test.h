// The harness of the C tests: one header, one program per file tests/unit/*_test.c.
//
//   #include "tests/test.h"
//
//   TEST(addition) {
//     CHECK_EQ_I64(1 + 1, 2);           // a failing check prints itself; the test goes on
//     char *text = format(7);
//     REQUIRE(text != NULL);            // a failing requirement ends the test
//     CHECK_STR(text, "7");
//     if (!has_feature())
//       SKIP("no such feature here");   // ends the test
//   }
//
//   TEST_MAIN()
//
// Tests register themselves and run in the order of the file. `program PART...` runs those whose
// name contains one of the parts, `program -PART...` all but those; `program --list` names them.
// Prints
//   tests/unit/x_test.c:12: addition: CHECK_EQ_I64(1 + 1, 2): 3, expected 2
// for each failing check, and at the end `N passed, N failed, N skipped`; the exit status is 1 when
// a test failed. SKIP and REQUIRE return from the function they stand in: only in a TEST itself.
// In helper functions CHECK and its kin may be used freely.
#ifndef PERMC_TESTS_TEST_H
#define PERMC_TESTS_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEST_FAILURES_SHOWN = 20 };  // of one test; a loop over 2^20 elements says enough with these

typedef struct test_case test_case;
struct test_case {
  const char *name;
  void (*run)(void);
  test_case *next;
};

static struct {
  test_case *first, **end;
  const char *name;     // of the test that runs
  const char *skipped;  // why, if it was: a copy, in the next
  char reason[1024];
  size_t failures;  // of the test that runs
} test_state;

static inline void test_register(test_case *one) {
  if (test_state.end == NULL)
    test_state.end = &test_state.first;
  *test_state.end = one;
  test_state.end = &one->next;
}

// Starts the line of a failing check; true if the caller shall print the rest of it.
static inline bool test_fail(const char *file, int line, const char *check) {
  test_state.failures++;
  if (test_state.failures > TEST_FAILURES_SHOWN)
    return false;
  printf("%s:%d: %s: %s", file, line, test_state.name, check);
  return true;
}

static inline bool test_check(bool good, const char *file, int line, const char *check) {
  if (!good && test_fail(file, line, check))
    printf(": false\n");
  return good;
}

static inline bool test_check_u64(uint64_t found, uint64_t expected, const char *file, int line,
                                  const char *check) {
  if (found != expected && test_fail(file, line, check))
    printf(": %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")\n", found, found,
           expected, expected);
  return found == expected;
}

static inline bool test_check_i64(int64_t found, int64_t expected, const char *file, int line,
                                  const char *check) {
  if (found != expected && test_fail(file, line, check))
    printf(": %" PRId64 ", expected %" PRId64 "\n", found, expected);
  return found == expected;
}

static inline const char *test_text(const char *found) { return found ? found : "(null)"; }

static inline bool test_check_string(const char *found, const char *expected, const char *file,
                                     int line, const char *check) {
  bool good =
      found == expected || (found != NULL && expected != NULL && strcmp(found, expected) == 0);
  if (!good && test_fail(file, line, check))
    printf("\n---- found\n%s\n---- expected\n%s\n----\n", test_text(found), test_text(expected));
  return good;
}

static inline bool test_check_contains(const char *found, const char *part, const char *file,
                                       int line, const char *check) {
  bool good = found != NULL && part != NULL && strstr(found, part) != NULL;
  if (!good && test_fail(file, line, check))
    printf("\n---- found\n%s\n---- expected a text that contains\n%s\n----\n", test_text(found),
           test_text(part));
  return good;
}

// All of these give whether they held. Order: found, expected.
#define CHECK(condition)                                                                           \
  test_check((condition) ? true : false, __FILE__, __LINE__, "CHECK(" #condition ")")
#define CHECK_EQ_U64(a, b)                                                                         \
  test_check_u64((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, "CHECK_EQ_U64(" #a ", " #b ")")
#define CHECK_EQ_I64(a, b)                                                                         \
  test_check_i64((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, "CHECK_EQ_I64(" #a ", " #b ")")
#define CHECK_STR(a, b) test_check_string((a), (b), __FILE__, __LINE__, "CHECK_STR(" #a ", " #b ")")
#define CHECK_CONTAINS(text, part)                                                                 \
  test_check_contains((text), (part), __FILE__, __LINE__, "CHECK_CONTAINS(" #text ", " #part ")")

#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!test_check((condition) ? true : false, __FILE__, __LINE__, "REQUIRE(" #condition ")"))    \
      return;                                                                                      \
  } while (0)

#define SKIP(why)                                                                                  \
  do {                                                                                             \
    snprintf(test_state.reason, sizeof test_state.reason, "%s", (why));                            \
    test_state.skipped = test_state.reason;                                                        \
    return;                                                                                        \
  } while (0)

#define TEST(title)                                                                                \
  static void test_run_##title(void);                                                              \
  static test_case test_case_##title = {#title, test_run_##title, NULL};                           \
  __attribute__((constructor)) static void test_register_##title(void) {                           \
    test_register(&test_case_##title);                                                             \
  }                                                                                                \
  static void test_run_##title(void)

// How many times slower this build is than a release (1, or 7 with sanitizers).
static inline unsigned slower(void) {
  const char *times = getenv("PERMC_SLOWER");
  return times == NULL ? 1 : (unsigned)strtoul(times, NULL, 10);
}

// Whether nothing is left out: `./bootstrap test --all`.
static inline bool test_all(void) { return getenv("PERMC_ALL") != NULL; }

// Of what is drawn at random, or tried one by one: `sample` of them in a release, fewer where the
// build is slower, and `all` where nothing is left out.
static inline uint64_t test_amount(uint64_t sample, uint64_t all) {
  uint64_t some = sample / slower();
  return test_all() ? all : some ? some : 1;
}

// Of a list, every so many-th in a release, fewer where the build is slower, and each where nothing
// is left out.
static inline uint64_t test_step(uint64_t sample) { return test_all() ? 1 : sample * slower(); }

static inline bool test_selected(const char *name, int count, char **parts) {
  bool wanted = true;
  for (int i = 1; i < count; i++) {
    if (parts[i][0] == '-') {
      if (strstr(name, parts[i] + 1) != NULL)
        return false;
    } else {
      wanted = false;
    }
  }
  for (int i = 1; i < count; i++)
    wanted = wanted || strstr(name, parts[i]) != NULL;
  return wanted;
}

static inline int test_list(void) {
  for (const test_case *one = test_state.first; one != NULL; one = one->next)
    printf("%s\n", one->name);
  return 0;
}

static inline int test_main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--list") == 0)
    return test_list();
  size_t passed = 0, failed = 0, skipped = 0;
  for (const test_case *one = test_state.first; one != NULL; one = one->next) {
    if (!test_selected(one->name, count, arguments))
      continue;
    test_state.name = one->name;
    test_state.skipped = NULL;
    test_state.failures = 0;
    one->run();
    if (test_state.failures > TEST_FAILURES_SHOWN)
      printf("%s: %zu failures in all\n", one->name, test_state.failures);
    if (test_state.failures > 0) {
      failed++;
    } else if (test_state.skipped != NULL) {
      printf("%s: skipped: %s\n", one->name, test_state.skipped);
      skipped++;
    } else {
      passed++;
    }
    fflush(stdout);
  }
  printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
  return failed > 0 ? 1 : 0;
}

#define TEST_MAIN()                                                                                \
  int main(int argc, char **argv) { return test_main(argc, argv); }

#endif
