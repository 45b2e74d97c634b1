// What the launcher of a parallel job says of this process, in its environment. See ranks.h.
#include "runtime/ranks/ranks.h"

#include <stdio.h>
#include <unistd.h>

typedef struct launcher {
  const char *name, *transport;
  const char *rank, *count, *local;  // variables; count NULL: it does not say
  const char *job;                   // one that differs from job to job; NULL: there is none
  const char *library;               // of a process that has begun to be a rank
} launcher;

// In this order: mpirun may be started by torchrun's kin, not the other way.
static const launcher launchers[] = {
    {"Open MPI", "mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE", "/libmpi"},
    {"MPICH", "mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", NULL, "/libmpi"},
    {"PMIx", "mpi", "PMIX_RANK", NULL, "PMIX_LOCAL_RANK", "PMIX_NAMESPACE", "/libmpi"},
    {"torchrun", "gloo", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT", "/libtorch"},
};

// ---- children of ranks -------------------------------------------------------------------------

enum { ENTRY = 200 };

// The first entry that contains the word, of a file of a process in /proc. False: there is none.
static bool find_entry(long process, const char *file, const char *word, char entry[ENTRY]) {
  char path[60], *line = NULL;
  size_t size = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/%s", process, file);
  FILE *from = fopen(path, "re");
  int end = strcmp(file, "environ") == 0 ? 0 : '\n';
  while (from && !found && getdelim(&line, &size, end, from) > 0)
    if ((found = strstr(line, word)))
      snprintf(entry, ENTRY, "%s", line);
  free(line);
  if (from)
    fclose(from);
  return found;
}

// Whether a process was started with the value that the variable has here: -1: with another.
static int has_variable(long process, const char *name) {
  char its[ENTRY], own[ENTRY];
  const char *value = name ? getenv(name) : NULL;
  snprintf(own, sizeof own, "%s=", name ? name : "");
  if (!value || !find_entry(process, "environ", own, its))
    return 0;
  snprintf(own, sizeof own, "%s=%s", name, value);
  return strcmp(own, its) == 0 ? 1 : -1;
}

// Variables are inherited by what a rank starts. It is one of the processes between this one and
// the launcher, which has no such variables. (MPI sets PMIX_RANK in a process that is alone.)
static bool is_child_of_rank(const launcher *l) {
  char entry[ENTRY];
  for (long p = getppid(); p > 1;) {
    int has = has_variable(p, l->rank);
    if (has < 0 || has_variable(p, l->job) < 0)
      return false;
    if ((has || !l->count) && find_entry(p, "maps", l->library, entry))
      return true;
    p = has && find_entry(p, "status", "PPid:", entry) ? strtol(entry + 5, NULL, 10) : 0;
  }
  return false;
}

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
  const char *rank_of = NULL;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const launcher *l = &launchers[i];
    *out = (ranks_launch){.launcher = l->name, .transport = l->transport};
    if (!read_number(l->rank, &out->rank) || (l->count && !read_number(l->count, &out->count)))
      continue;
    read_number(l->local, &out->local);
    if (!is_child_of_rank(l))
      return true;
    rank_of = rank_of ? rank_of : l->name;
  }
  *out = (ranks_launch){.child_of = rank_of};
  return false;
}
