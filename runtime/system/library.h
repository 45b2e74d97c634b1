// Functions of a library that is loaded at run time: permc is built without it.
//
//   static const library_row rows[] = {{"ncclGetVersion", offsetof(nccl_library, get_version)},
//                                      {"ncclSend", offsetof(nccl_library, send)}};
//   static const library_spec spec = {.name = "NCCL", ...};
//   const nccl_library *n = library_load(&spec, &known, &state, why, sizeof why);
//
// sets all fields of `known` and returns it, or NULL: "NCCL (/usr/lib/libnccl.so.2) has no function
// ncclSend; install a newer one".
#ifndef PERMC_RUNTIME_SYSTEM_LIBRARY_H
#define PERMC_RUNTIME_SYSTEM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIBRARY_FILES = 16 };

typedef struct library_row {
  const char *symbol;
  size_t place;  // of a function pointer in the table
} library_row;

typedef struct library_spec {
  const char *name;             // in messages
  const char *variable, *kind;  // the variable that names another, and what it names
  const char *in_folder;        // the file in a folder that the variable names; NULL: it names none
  const char *none;             // what is said where there is none
  bool tells_reason;            // ... with the loader's reason
  int scope;                    // RTLD_LOCAL or RTLD_GLOBAL
  // Names that the loader looks for, then files in the folders of CUDA; NULL behind the last.
  const char *files[LIBRARY_FILES], *in_cuda[4];
  const library_row *rows;
  size_t row_count;
  // Whether the version will do, by the function of the first row: an old library is reported as
  // old, not as lacking a function. NULL: any will. And what is done when all rows are there.
  bool (*fits)(void *table, const char *path, char *why, size_t size);
  bool (*start)(void *library, const char *path, void *table, char *why, size_t size);
} library_spec;

typedef struct library_state {
  bool loaded;
  uint32_t forks;  // library_forks, when it was
} library_state;

// As dlopen and dlclose. All of the library opens and closes by these two, so that a child of fork
// may, too, whatever other threads did meanwhile.
void *library_open(const char *path, int mode);
void library_close(void *library);

// Loads it when it is first asked for, once for the process, and never unloads it. Returns the
// table; NULL: `why` is a sentence without a full stop. Any thread may call it.
const void *library_load(const library_spec *s, void *table, library_state *state, char *why,
                         size_t size);
// Looks up all rows. Returns the first symbol that the library does not have, or NULL.
const char *library_find(void *library, const library_row *rows, size_t count, void *table);

#endif
