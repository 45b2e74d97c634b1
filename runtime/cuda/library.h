// Functions of a library that is loaded at run time. Private to runtime/cuda/.
//
//   static const library_row rows[] = {{"cuInit", offsetof(table, init)},
//                                      {"cuCtxGetId", offsetof(table, get_id)}};
//   const char *missing = library_find(library, rows, 2, &t);
//
// sets t.init and t.get_id and returns NULL, or "cuCtxGetId" if the library is too old to have it.
#ifndef PERMC_RUNTIME_CUDA_LIBRARY_H
#define PERMC_RUNTIME_CUDA_LIBRARY_H

#include <stddef.h>

typedef struct library_row {
  const char *symbol;
  size_t place;  // of a function pointer in the table
} library_row;

// Loads the library at that path, or of that name. NULL: *why is the loader's reason.
void *library_open(const char *path, const char **why);
// Looks up all rows. Returns the first symbol that the library does not have, or NULL.
const char *library_find(void *library, const library_row *rows, size_t count, void *table);

#endif
