// Files that have no name until they are done: whatever ends the process before, the system takes them back.
//
//   int file = unnamed_create("out");         // in this folder; -1: none can be made there, so take a named one
//   write(file, ...)
//   unnamed_link(file, "out/keys.npy")        // false: errno; EEXIST: there is a file of that name
//
// Not all file systems have them (Linux: O_TMPFILE): ext4, xfs, btrfs and tmpfs do, NFS does not.
#ifndef PERMC_RUNTIME_SYSTEM_UNNAMED_H
#define PERMC_RUNTIME_SYSTEM_UNNAMED_H

#include <stdbool.h>

enum { UNNAMED_PATH = 40 };

// A new file, to be read and written, of the mode that open would give it: by the umask, or a default ACL.
int unnamed_create(const char *folder);
// Gives a name to an open file, which may have others.
bool unnamed_link(int descriptor, const char *path);
// Whether two open files are where a name for one can be in the folder of the other.
bool unnamed_together(int a, int b);
// By this path an open file can be opened again: "/proc/self/fd/5".
void unnamed_path(char path[UNNAMED_PATH], int descriptor);

#endif
