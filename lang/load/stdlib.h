// The standard library as it lies in the binary: each stdlib/*.perm file, embedded by the build
// (cmake/embed.cmake writes the C file), so that an installed permc needs no data files.
//
//   for (size_t i = 0; i < stdlib_file_count; i++)
//     parse(stdlib_files[i].name, stdlib_files[i].text, stdlib_files[i].length);
#ifndef PERMC_LANG_LOAD_STDLIB_H
#define PERMC_LANG_LOAD_STDLIB_H

#include <stddef.h>

struct embedded_file {
  const char *name;  // for messages: "stdlib/sort.perm"
  const char *text;  // a zero byte follows it
  size_t length;     // in bytes, without that zero
};

// Sorted by name.
extern const struct embedded_file stdlib_files[];
extern const size_t stdlib_file_count;

#endif
