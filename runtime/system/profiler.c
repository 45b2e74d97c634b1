// How a library that uses NVTX meets a tool. See profiler.h.
//
// The tool's library has a function InitializeInjectionNvtx2. It is given one that finds tables of
// this side by number, and asks the table "callbacks" for the slots of the functions of a module.
// What it stores in these slots are its own functions.
#include "runtime/system/profiler.h"
#include "runtime/system/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Numbers of NVTX 3.
enum {
  TABLE_CALLBACKS = 1,
  TABLE_VERSION = 3,
  VERSION = 3,
  MODULE_CORE = 1,
  CORE_PUSH = 9,
  CORE_POP = 11,
  CORE_COUNT = 16
};

typedef void tool_function(void);
typedef struct callbacks {
  size_t bytes;
  int (*slots_of)(uint32_t module, tool_function ****slots, unsigned *count);
} callbacks;
typedef struct version_info {
  size_t bytes;
  uint32_t version, reserved;
  void (*set)(uint32_t version);
} version_info;
typedef const void *find_table(uint32_t number);

// The tool's functions of the core; NULL: none is attached, or it does not want that one.
static tool_function *core[CORE_COUNT];
static tool_function **core_slots[CORE_COUNT + 1];  // ends with NULL, and begins with it

static int slots_of(uint32_t module, tool_function ****slots, unsigned *count) {
  if (module != MODULE_CORE)
    return 0;
  for (size_t i = 1; i < CORE_COUNT; i++)
    core_slots[i] = &core[i];
  if (slots)
    *slots = core_slots;
  if (count)
    *count = CORE_COUNT;
  return 1;
}

static void ignore_version(uint32_t version) { (void)version; }

static const void *table_of(uint32_t number) {
  static const callbacks functions = {sizeof functions, slots_of};
  static const version_info version = {sizeof version, VERSION, 0, ignore_version};
  return number == TABLE_CALLBACKS ? (const void *)&functions
         : number == TABLE_VERSION ? (const void *)&version
                                   : NULL;
}

// The library stays: other users of NVTX in the process have it, too.
static void attach(void) {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *tool = path && *path ? library_open(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
  void *address = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
  int (*start)(find_table *) = NULL;
  memcpy(&start, &address, sizeof start);
  if (start && start(table_of) != 0)
    return;
  memset(core, 0, sizeof core);
}

static bool is_attached(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, attach);
  return core[CORE_PUSH] && core[CORE_POP];
}

bool profiler_wants_names(void) {
  const char *asked = getenv("PERMC_PROFILE");
  return (asked && *asked) || is_attached();
}

void profiler_begin(const char *name) {
  if (is_attached())
    ((int (*)(const char *))core[CORE_PUSH])(name);
}

void profiler_end(void) {
  if (is_attached())
    ((int (*)(void))core[CORE_POP])();
}
