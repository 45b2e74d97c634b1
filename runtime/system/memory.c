// Memory limits of the machine, the control group and the process. See system/memory.h.
#include "runtime/system/memory.h"

#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t machine_limit(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static uint64_t soft_limit(bool known, const struct rlimit *limit) {
  return known && limit->rlim_cur != RLIM_INFINITY ? limit->rlim_cur : UINT64_MAX;
}

static uint64_t process_limit(void) {
  struct rlimit space, data;
  uint64_t a = soft_limit(getrlimit(RLIMIT_AS, &space) == 0, &space);
  uint64_t b = soft_limit(getrlimit(RLIMIT_DATA, &data) == 0, &data);
  return a < b ? a : b;
}

// The number in a file; UINT64_MAX when there is none ("max", or no such file).
static uint64_t number_in(const char *path) {
  uint64_t value = UINT64_MAX;
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return value;
  if (fscanf(file, "%" SCNu64, &value) != 1)
    value = UINT64_MAX;
  fclose(file);
  return value;
}

// Version 2: the limits of this group ("0::/a/b" in /proc/self/cgroup) and of all above it.
// Version 1: the file that a container sees.
static uint64_t group_limit(void) {
  uint64_t least = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  char line[1024] = "", path[1200];
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "0::/", 4) != 0)
    line[0] = '\0';
  if (file)
    fclose(file);
  char *group = strncmp(line, "0::/", 4) == 0 ? line + 3 : strcpy(line, "/");
  group[strcspn(group, "\n")] = '\0';
  for (;;) {
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    uint64_t limit = number_in(path);
    least = limit < least ? limit : least;
    char *slash = strrchr(group, '/');
    if (slash == NULL)
      return least;
    *slash = '\0';
  }
}

bool memory_suffices(double bytes, char why[MEMORY_WHY]) {
  enum { SMALL = 1 << 24 };  // bytes that every machine has
  if (bytes < SMALL)
    return true;
  uint64_t machine = machine_limit(), group = group_limit(), process = process_limit();
  uint64_t least = machine < group ? machine : group;
  const char *owner = machine <= group ? "this machine has" : "this control group may use";
  if (process < least) {
    least = process;
    owner = "this process may use";
  }
  if (bytes <= (double)least)
    return true;
  char need[NUMBER_SPACE], have[NUMBER_SPACE];
  snprintf(why, MEMORY_WHY, "%s of memory; %s %s",
           show_bytes(need, bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX), owner,
           show_bytes(have, least));
  return false;
}
