// Finding and loading an MPI. See mpi_library.h.
#include "runtime/transport/mpi_library.h"

#include "runtime/system/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const library_row rows[] = {
#define ROW(name, symbol, parameters) {#symbol, offsetof(mpi_library, name)},
    MPI_CALLS(ROW)
#undef ROW
};

// Handles are the addresses of symbols, or constants.
typedef struct mpi_abi {
  const char *world_symbol, *byte_symbol;
  ptrdiff_t world, byte;
  bool numbers;
  int any_source, serialized, truncated;
} mpi_abi;
static const mpi_abi open_mpi = {"ompi_mpi_comm_world", "ompi_mpi_byte", 0, 0, false, -1, 2, 15};
static const mpi_abi standard = {NULL, NULL, 0x101, 0x247, false, -1, 2048, 15};  // of MPI 5.0
static const mpi_abi mpich = {NULL, NULL, 0x44000000, 0x4c00010d, true, -2, 2, 14};

// Libraries by name, with the variable that their launcher sets for each rank.
static const struct {
  const char *name, *variable;
} names[] = {
    {"libmpi.so.40", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"libmpi.so.12", "PMI_SIZE"},              // MPICH, Intel MPI
    {"libmpich.so.12", "PMI_SIZE"},            // MPICH of Debian
    {"libmpi_abi.so.1", "PMI_SIZE"},
    {"libmpi_abi.so.0", "OMPI_COMM_WORLD_SIZE"},
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(3 * NAMES < LIBRARY_FILES, "each may be listed three times");

// That which is in the process already, else that of the launcher, else any: a name may occur more
// than once.
static void list_files(const char *files[LIBRARY_FILES]) {
  size_t count = 0;
  for (int choice = 0; choice < 3; choice++)
    for (size_t i = 0; i < NAMES; i++) {
      void *loaded = choice == 0 ? library_open(names[i].name, RTLD_NOW | RTLD_NOLOAD) : NULL;
      if (loaded || choice == 2 || (choice == 1 && getenv(names[i].variable)))
        files[count++] = names[i].name;
      if (loaded)
        library_close(loaded);
    }
}

// A library with the standard's ABI says so; it may be linked with one that has another.
static const mpi_abi *abi_of(void *library) {
  int (*version)(int *major, int *minor) = NULL, major = -1, minor = -1;
  void *symbol = dlsym(library, "MPI_Abi_get_version");
  memcpy(&version, &symbol, sizeof version);
  if (version != NULL && version(&major, &minor) == 0 && major >= 1)
    return &standard;
  return dlsym(library, open_mpi.world_symbol) != NULL ? &open_mpi : &mpich;
}

static bool find_abi(void *library, const char *path, void *table, char *why, size_t size) {
  mpi_library *m = table;
  const mpi_abi *a = abi_of(library);
  (void)why, (void)size;
  snprintf(m->name, sizeof m->name, "%s", path);
  m->numbers = a->numbers;
  m->any_source = a->any_source;
  m->serialized = a->serialized;
  m->truncated = a->truncated;
  m->world = a->world_symbol ? dlsym(library, a->world_symbol) : (void *)a->world;
  m->byte = a->byte_symbol ? dlsym(library, a->byte_symbol) : (void *)a->byte;
  return true;
}

// Parts of Open MPI find its names only where they are global.
const mpi_library *mpi_library_find(char *why, size_t size) {
  static mpi_library known;
  static library_state state;
  library_spec spec = {.name = "the MPI library",
                       .variable = "PERMC_MPI",
                       .kind = "library",
                       .none = "there is no MPI library; PERMC_MPI names one",
                       .scope = RTLD_GLOBAL,
                       .rows = rows,
                       .row_count = sizeof rows / sizeof *rows,
                       .start = find_abi};
  list_files(spec.files);
  return library_load(&spec, &known, &state, why, size);
}
