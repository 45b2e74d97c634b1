// The tests of one file: counted, selected and executed.
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
  const char **tags, **excluded;
  size_t tag_count, excluded_count;
  const cli_arguments *args;  // for the settings of contexts
} test_options;

typedef struct test_file {
  const char *path;
  const test_options *options;
  char *program;
  size_t length;
  test_blocks blocks;
  size_t tests;  // selected
  text report;   // of failures; printed when the file is done
  size_t passed, failed;
  void (*progress)(struct test_file *file);  // called after each test, from the file's thread
} test_file;

// Reads the file and its blocks, counts the tests that the options select; mistakes and a file
// that cannot be read are failures.
void test_file_open(test_file *file);
void test_file_run(test_file *file);
void test_file_close(test_file *file);

#endif
