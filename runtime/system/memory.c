// Memory limits of the machine, the control group and the process. See system/memory.h.
#include "runtime/system/memory.h"

#include "core/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t number_in_file(const char *path, const char *key, int base, uint64_t otherwise) {
  char line[256], *end = NULL;
  size_t length = strlen(key);
  uint64_t value = 0;
  FILE *file = fopen(path, "re");
  while (file && !end && fgets(line, sizeof line, file))
    if (strncmp(line, key, length) == 0) {
      value = strtoull(line + length, &end, base);
      end = end == line + length ? NULL : end;
    }
  if (file)
    fclose(file);
  return end ? value : otherwise;
}

static uint64_t machine_limit(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

// ---- the process -------------------------------------------------------------------------------

static uint64_t room_below(uint64_t limit, uint64_t used) {
  return limit == UINT64_MAX ? limit : limit > used ? limit - used : 0;
}

static uint64_t resource_room(int resource, uint64_t pages) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  return room_below(limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

static uint64_t process_room(void) {
  unsigned long size = 0, data = 0;  // pages
  FILE *file = fopen("/proc/self/statm", "re");
  if (file && fscanf(file, "%lu %*u %*u %*u %*u %lu", &size, &data) != 2)
    size = data = 0;
  if (file)
    fclose(file);
  uint64_t a = resource_room(RLIMIT_AS, size), b = resource_room(RLIMIT_DATA, data);
  return a < b ? a : b;
}

// ---- control groups ----------------------------------------------------------------------------

// What the files of a version are called.
typedef struct group_version {
  const char *folder, *limits[2], *usage, *cached[2];
} group_version;

static const group_version versions[] = {{"/sys/fs/cgroup/memory",
                                          {"memory.limit_in_bytes", ""},
                                          "memory.usage_in_bytes",
                                          {"total_inactive_file", "total_active_file"}},
                                         {"/sys/fs/cgroup",
                                          {"memory.max", "memory.high"},
                                          "memory.current",
                                          {"inactive_file", "active_file"}}};

enum { GROUP_PATH = 1400 };

static uint64_t group_number(const char *folder, const char *name, const char *key,
                             uint64_t otherwise) {
  char path[GROUP_PATH + 40];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return *name ? number_in_file(path, key, 10, otherwise) : otherwise;
}

// What the limit of one group leaves: what its processes hold is gone, but for the cache of files,
// which the kernel gives back.
static uint64_t room_in_folder(const group_version *v, const char *folder) {
  uint64_t limit = group_number(folder, v->limits[0], "", UINT64_MAX);
  uint64_t high = group_number(folder, v->limits[1], "", UINT64_MAX);
  limit = high < limit ? high : limit;
  if (limit == UINT64_MAX)
    return limit;
  uint64_t used = group_number(folder, v->usage, "", 0), cached = 0;
  for (int i = 0; i < 2; i++)
    cached += group_number(folder, "memory.stat", v->cached[i], 0);
  return room_below(limit, used > cached ? used - cached : 0);
}

// Of the group and all above it. In a container, its own group may be shown as the topmost.
static uint64_t room_in_version(const group_version *v, const char *root, char *group) {
  uint64_t least = UINT64_MAX;
  for (;;) {
    char folder[GROUP_PATH];
    snprintf(folder, sizeof folder, "%.300s%s%s", root, v->folder, group);
    uint64_t room = room_in_folder(v, folder);
    least = room < least ? room : least;
    char *slash = strrchr(group, '/');
    if (slash == NULL)
      return least;
    *slash = '\0';
  }
}

// Whether a line "4:cpu,memory:/a/b" or, in version 2, "0::/a/b" is about memory.
static bool is_memory_line(const char *line, const char **group, bool *unified) {
  const char *names = strchr(line, ':'), *end = names ? strchr(names + 1, ':') : NULL;
  const char *found = names ? strstr(names, "memory") : NULL;
  if (!end)
    return false;
  *group = end + 1;
  *unified = end == names + 1;
  return *unified || (found && found < end && (found[-1] == ':' || found[-1] == ',') &&
                      (found[6] == ':' || found[6] == ','));
}

uint64_t memory_group_room(const char *root) {
  char path[320], line[1000], top[2] = "";
  uint64_t least = UINT64_MAX;
  snprintf(path, sizeof path, "%.300s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    const char *group;
    bool unified;
    line[strcspn(line, "\n")] = '\0';
    if (!is_memory_line(line, &group, &unified))
      continue;
    uint64_t room = room_in_version(&versions[unified], root, line + (group - line));
    least = room < least ? room : least;
  }
  if (file)
    fclose(file);
  for (int i = 0; i < 2 && !file; i++) {
    uint64_t room = room_in_version(&versions[i], root, top);
    least = room < least ? room : least;
  }
  return least;
}

// ---- the least of all --------------------------------------------------------------------------

static uint64_t find_limit(uint64_t held, const char **owner) {
  uint64_t machine = machine_limit(), group = memory_group_room(""), process = process_room();
  group = group > UINT64_MAX - held ? UINT64_MAX : group + held;
  process = process > UINT64_MAX - held ? UINT64_MAX : process + held;
  uint64_t least = machine < group ? machine : group;
  if (owner)
    *owner = process < least    ? "this process may use"
             : machine <= group ? "this machine has"
                                : "this control group may use";
  return process < least ? process : least;
}

uint64_t memory_limit(const char **owner) { return find_limit(0, owner); }

bool memory_suffices(double bytes, uint64_t held, char why[MEMORY_WHY]) {
  enum { SMALL = 1 << 24 };  // bytes that every machine has
  if (bytes < SMALL)
    return true;
  const char *owner;
  uint64_t least = find_limit(held, &owner);
  if (bytes <= (double)least)
    return true;
  char need[NUMBER_SPACE], have[NUMBER_SPACE];
  snprintf(why, MEMORY_WHY, "%s of memory; %s %s",
           show_bytes(need, bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX), owner,
           show_bytes(have, least));
  return false;
}
