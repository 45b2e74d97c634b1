// Files that have no name until they are done: whatever ends the process before, the system takes
// them back.
//
//   int file = unnamed_create("out");         // in this folder; -1: none can be made there, so take a named one
//   write(file, ...)
//   unnamed_link(file, "out/keys.npy")        // false: errno; EEXIST: there is a file of that name
//
// No call replaces an old file by one without a name: it takes two, linkat and rename. They are
// made by a process of their own, so that one that is killed in between leaves no file.
//
// Not all file systems have them (Linux: O_TMPFILE): ext4, xfs, btrfs and tmpfs do, NFS does not.
#ifndef PERMC_RUNTIME_SYSTEM_UNNAMED_H
#define PERMC_RUNTIME_SYSTEM_UNNAMED_H

#include <stdbool.h>
#include <stddef.h>

enum { UNNAMED_PATH = 40 };

// A new file, to be read and written, of the mode that open would give it: by the umask, or a
// default ACL.
int unnamed_create(const char *folder);
// Gives a name to an open file, which may have others.
bool unnamed_link(int descriptor, const char *path);
typedef struct unnamed_replacement {
  int descriptor;         // of a file that gets the name `temporary`; -1: it has that
  const char *temporary;  // in the folder of `path`
  const char *path;
} unnamed_replacement;
// Files replace those at their paths: all or, where one cannot get its first name, none. False:
// errno, and which has failed; those that come after it have no name `temporary` left.
bool unnamed_replace(const unnamed_replacement *all, size_t count, size_t *failed);
// Whether two open files are where a name for one can be in the folder of the other.
bool unnamed_together(int a, int b);
// By this path an open file can be opened again: "/proc/self/fd/5".
void unnamed_path(char path[UNNAMED_PATH], int descriptor);

#endif
