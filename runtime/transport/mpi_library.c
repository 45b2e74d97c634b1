// Finding and loading an MPI. See mpi_library.h.
#include "runtime/transport/mpi_library.h"

#include "runtime/system/library.h"
#include "runtime/system/locks.h"

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
  const char *name, *world_symbol, *byte_symbol;
  ptrdiff_t world, byte;
  bool numbers;
  int any_source, serialized, truncated;
} mpi_abi;
static const mpi_abi open_mpi = {
    "Open MPI", "ompi_mpi_comm_world", "ompi_mpi_byte", 0, 0, false, -1, 2, 15};
static const mpi_abi standard = {"the MPI ABI", NULL, NULL, 0x101, 0x247, false, -1, 2048, 15};
static const mpi_abi mpich = {"MPICH", NULL, NULL, 0x44000000, 0x4c00010d, true, -2, 2, 14};

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

// Parts of Open MPI find its names only where they are global.
static void *load_first(int flags, bool launched, const char **name) {
  for (size_t i = 0; i < NAMES; i++) {
    void *library = launched && getenv(names[i].variable) == NULL
                        ? NULL
                        : dlopen(names[i].name, RTLD_NOW | RTLD_GLOBAL | flags);
    if (library != NULL) {
      *name = names[i].name;
      return library;
    }
  }
  return NULL;
}

static void *load_any(const char **name) {
  void *library = load_first(RTLD_NOLOAD, false, name);
  if (library == NULL)
    library = load_first(0, true, name);
  return library != NULL ? library : load_first(0, false, name);
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

static bool load(mpi_library *m, char *why, size_t size) {
  const char *named = getenv("PERMC_MPI");
  m->name = named && *named ? named : NULL;
  void *library = m->name ? dlopen(m->name, RTLD_NOW | RTLD_GLOBAL) : load_any(&m->name);
  if (library == NULL) {
    if (m->name)
      snprintf(why, size, "PERMC_MPI does not name a library that can be loaded (%s)", dlerror());
    else
      snprintf(why, size, "there is no MPI library; PERMC_MPI names one");
    return false;
  }
  const char *missing = library_find(library, rows, sizeof rows / sizeof *rows, m);
  if (missing) {
    snprintf(why, size, "the MPI library %s has no function %s", m->name, missing);
    dlclose(library);
    return false;
  }
  const mpi_abi *a = abi_of(library);
  m->abi = a->name;
  m->numbers = a->numbers;
  m->any_source = a->any_source;
  m->serialized = a->serialized;
  m->truncated = a->truncated;
  m->world = a->world_symbol ? dlsym(library, a->world_symbol) : (void *)a->world;
  m->byte = a->byte_symbol ? dlsym(library, a->byte_symbol) : (void *)a->byte;
  return true;
}

const mpi_library *mpi_library_find(char *why, size_t size) {
  static mpi_library known;
  static bool loaded;
  library_lock(LOCK_MPI);
  if (!loaded)
    loaded = load(&known, why, size);
  const mpi_library *m = loaded ? &known : NULL;
  library_unlock(LOCK_MPI);
  return m;
}
