// Functions of a library that is loaded at run time.
//
//   static const library_row rows[] = {{"cuInit", offsetof(cuda_driver, init)},
//                                      {"cuStreamQuery", offsetof(cuda_driver, stream_query)}};
//   const char *missing = library_find(library, rows, 2, &driver);
//
// sets both fields of `driver` and returns NULL, or "cuStreamQuery" if the library lacks that.
#ifndef PERMC_RUNTIME_SYSTEM_LIBRARY_H
#define PERMC_RUNTIME_SYSTEM_LIBRARY_H

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
