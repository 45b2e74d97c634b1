// Where files lie, by their real paths.
//
//   path_is_beside("examples/sort.perm", "examples/merge_files.perm")   // true
//   path_is_beside("examples/sort.perm", "stdlib/sort.perm")            // false
#ifndef PERMC_CORE_PATH_H
#define PERMC_CORE_PATH_H

#include <stdbool.h>

// Whether a file lies in the folder of `program`, or below it, when all symbolic links are
// followed. False as well: there is no such file, or no memory.
bool path_is_beside(const char *program, const char *path);

#endif
