// Files and folders that are removed when a signal ends the process: a list in fixed memory that a
// signal's handler may read.
//
//   int slot = temporary_register("/tmp/permc-1f3a9c/x.tmp");   // before the file is created
//   ...
//   temporary_unregister(slot);                                 // it is gone, or is to stay
#ifndef PERMC_RUNTIME_SYSTEM_TEMPORARY_H
#define PERMC_RUNTIME_SYSTEM_TEMPORARY_H

// -1: the list is full, or the path too long; a signal then leaves the file behind.
int temporary_register(const char *path);
void temporary_unregister(int slot);  // -1 is allowed

// Removes each file, and each folder with the files in it.
void temporary_remove_all_from_signal(void);

#endif
