// Libraries made ahead of time: an entry as sources of a C library, which needs no permc when it
// runs (`permc build`).
//
//   in    an entry of the loaded program, the types of its arguments
//   out   files: a header, sources, a CMake package
//
//   ahead_request r = {.entry = "sort", .name = "sorter", .types = "[1024]u32"};
//   ahead_library l;
//   if (ahead_make(c, &r, &l))
//     write(l.files[0].name, &l.files[0].content);
//   ahead_free(&l);
//
// For C:
//
//   NAME.h           the function that is called, and what goes with it: shapes, units, errors
//   NAME.c           calls, checks (the *_text.h of this room)
//   NAME_program.c   the passes (kernels/emit/emit.h), and a table of them, which says where arrays
//                    lie (program_text.h)
//   NAME_routines.c  if it has routines: the sources of runtime/routines
//   NAME_private.h   what the sources share
//   CMakeLists.txt   library, installation, find_package
//
// For CUDA, NAME_program.c has the machine code of the kernels, and tables of what is launched;
// NAME_1.cu is their text.
//
//   ahead.c    the program's text               host.c     its source for a processor
//   library.c  header, calls, package           gpu.c      ... for GPUs
//   files.c    its files                        tables.c   tables that both have
//   place.c    where arrays are                 routine.c  the routines of a processor
#ifndef PERMC_RUNTIME_AHEAD_AHEAD_H
#define PERMC_RUNTIME_AHEAD_AHEAD_H

#include "core/text.h"
#include "runtime/context/context.h"

typedef enum ahead_target { AHEAD_C, AHEAD_CUDA } ahead_target;

typedef struct ahead_request {
  const char *entry, *name;  // name: what all names of the library begin with, a name of C
  ahead_target target;
  const char *types;        // "[2^24]u32 [8](u32, f64) 5": values are part of the program; or NULL
  const permc_size *sizes;  // of its signature
  size_t size_count;
} ahead_request;

typedef struct ahead_file {
  char *name;
  text content;
} ahead_file;

typedef struct ahead_library {
  size_t count;
  ahead_file *files;
} ahead_library;

// False: reported. In both cases ahead_free frees it.
bool ahead_make(permc_context *c, const ahead_request *r, ahead_library *out);
void ahead_free(ahead_library *l);

#endif
