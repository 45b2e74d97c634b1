// The door of the tests in .perm files: in comes a file, out go counts and a report of failures.
//
//   test_options options = {.args = args};
//   test_file file = {.path = "sort.perm", .options = &options};
//   test_file_open(&file);         // file.tests: 2, of "-- input { [2, 1] } -- output { [1, 2] }" ...
//   test_file_run(&file);          // file.passed, file.failed: 1, 1
//   puts(text_content(&file.report));      // sort.perm:7: main: result[0] is 2i32, expected 1i32
//   test_file_close(&file);
//
// In reading order: block.h, block.c (test blocks parsed), case.c (their tests run), compare.h,
// compare.c (equality and properties of results; a second door, for permc bench), structure.h,
// structure.c (what a plan has to count).
#ifndef PERMC_TOOL_TESTING_CASE_H
#define PERMC_TOOL_TESTING_CASE_H

#include "tool/cli/options.h"
#include "tool/testing/block.h"
#include <stdbool.h>
#include <stddef.h>

// What all files have in common.
typedef struct test_options {
  const char *backend;  // NULL: auto
  const char *only;     // NULL: all
  const char *const *tags, *const *excluded;
  size_t tag_count, excluded_count;
  const cli_arguments *args;  // for the settings of contexts
} test_options;

typedef struct test_file {
  const char *path;
  const test_options *options;
  char *program;
  size_t length;
  test_blocks blocks;
  size_t tests;                              // selected
  text report;                               // of failures; printed when the file is done
  size_t passed, failed, skipped;            // skipped: it needs --allow-extern
  void (*progress)(struct test_file *file);  // called after each test, from the file's thread
} test_file;

// Reads the file and its blocks, counts the tests that the options select; mistakes and a file
// that cannot be read are failures.
void test_file_open(test_file *file);
void test_file_run(test_file *file);
void test_file_close(test_file *file);

#endif
