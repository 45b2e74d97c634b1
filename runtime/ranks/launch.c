// What the launcher of a parallel job says of this process, in its environment. See ranks.h.
#include "runtime/ranks/ranks.h"

typedef struct launcher {
  const char *name, *transport;
  const char *rank, *count, *local;  // variables; count NULL: it does not say
} launcher;

// In this order: mpirun may be started by torchrun's kin, not the other way.
static const launcher launchers[] = {
    {"Open MPI", "mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MPICH", "mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"PMIx", "mpi", "PMIX_RANK", NULL, "PMIX_LOCAL_RANK"},
    {"torchrun", "gloo", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
};

// A number of a variable; false: it is not there, or none.
static bool read_number(const char *variable, uint32_t *out) {
  const char *word = variable ? getenv(variable) : NULL;
  char *end;
  unsigned long number = word ? strtoul(word, &end, 10) : 0;
  if (!word || *word < '0' || *word > '9' || *end || number > UINT32_MAX)
    return false;
  *out = (uint32_t)number;
  return true;
}

bool ranks_launched(ranks_launch *out) {
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const launcher *l = &launchers[i];
    *out = (ranks_launch){.launcher = l->name, .transport = l->transport};
    if (!read_number(l->rank, &out->rank) || (l->count && !read_number(l->count, &out->count)))
      continue;
    read_number(l->local, &out->local);
    return true;
  }
  return false;
}
