// Private to runtime/system/: what the files of the cache (cache.h) share.
//
//   folder.c  where the cache lies, and who may write to it
//   cache.c   its entries and their index
//   work.c    work folders: a name such as work-1f3a9c, a lock, and a link that proves what it is:
//             .permc-work -> "work folder work-1f3a9c of permc, inode 4711"
#ifndef PERMC_RUNTIME_SYSTEM_CACHING_H
#define PERMC_RUNTIME_SYSTEM_CACHING_H

#include "runtime/system/cache.h"
#include <sys/stat.h>

extern const char cache_entries_folder[], cache_work_folder[];  // within the cache's

// False: the path is too long.
bool cache_join_path(char path[CACHE_PATH], const char *folder, const char *name);
// Whether the file is this user's, and nobody else may write to it.
bool cache_is_private(const struct stat *s);
int cache_open_folder(int above, const char *path);  // -1: errno says why
// Opened for its files, else NULL and errno says why.
DIR *cache_open_files(int above, const char *path);
// Whether errno says that this process or the system lacks something, not that a file is wrong.
bool cache_lacks_resources(void);

// Whether it is still the folder that was made.
bool cache_work_is_whole(const cache_work *w);
// Removes what processes that were killed have left.
void cache_remove_left_work(const cache *c);

#endif
