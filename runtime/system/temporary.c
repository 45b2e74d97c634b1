// The list of temporary files, one lock-free state for each slot. See temporary.h.
#include "runtime/system/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 80 };

typedef enum slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_LIVE } slot_state;
static struct {
  atomic_int state;
  char path[PATH_MAX];
} slots[SLOTS];

int temporary_register(const char *path) {
  size_t length = strlen(path);
  for (int i = 0; i < SLOTS && length < PATH_MAX; i++) {
    int expected = SLOT_FREE;
    if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_CLAIMED))
      continue;
    memcpy(slots[i].path, path, length + 1);
    atomic_store(&slots[i].state, SLOT_LIVE);
    return i;
  }
  return -1;
}

void temporary_unregister(int slot) {
  if (slot >= 0)
    atomic_store(&slots[slot].state, SLOT_FREE);
}

// ---- in a signal's handler ---------------------------------------------------------------------

// What the kernel calls linux_dirent64.
typedef struct directory_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} directory_entry;

// Without readdir, which may allocate.
static void empty_folder(const char *path) {
  _Alignas(directory_entry) char buffer[4096];
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    return;
  long got;
  while ((got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
    for (long at = 0; at < got;) {
      directory_entry *e = (directory_entry *)(void *)(buffer + at);
      unlinkat(folder, e->name, 0);  // fails for . and ..
      at += e->length;
    }
  close(folder);
}

// A compiler that was just killed may still finish creating a file in its folder.
void temporary_remove_all_from_signal(void) {
  int saved = errno;
  for (int i = 0; i < SLOTS; i++)
    for (int again = 0; atomic_load(&slots[i].state) == SLOT_LIVE && again < 50; again++) {
      if (unlink(slots[i].path) == 0 || errno != EISDIR)
        break;
      empty_folder(slots[i].path);
      if (rmdir(slots[i].path) == 0 || errno == ENOENT)
        break;
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
  errno = saved;
}
