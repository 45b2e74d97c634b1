// A C compiler that is a shell script, which PERMC_CC names from now on: it says its version, and
// executes `answer` for all else.
#ifndef PERMC_TESTS_UNIT_SCRIPT_H
#define PERMC_TESTS_UNIT_SCRIPT_H

#include "tests/test.h"

#include <sys/stat.h>

static inline void use_script_as_compiler(const char *folder, const char *answer) {
  char path[1100];
  snprintf(path, sizeof path, "%s/compiler", folder);
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  fprintf(file, "#!/bin/sh\ncase \"$1\" in --version) echo 'cc 1.0' ;; *) %s ;; esac\n", answer);
  CHECK(fclose(file) == 0);
  CHECK(chmod(path, 0700) == 0);
  setenv("PERMC_CC", path, 1);
}

#endif
