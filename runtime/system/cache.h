// The cache of compiled code on disk: shared objects by the digest of all that they were made of;
// and beside them small texts, of what was measured (tune.h).
//
//   cache c;
//   cache_open(&c);                       // finds the folder and looks at who may write to it
//   char path[CACHE_PATH];
//   if (!cache_find(&c, key, path)) {
//     cache_work w;
//     cache_work_begin(&c, &w, &why);     // a private folder for the compiler's files
//     ...                                 // the compiler writes <w.folder>/code.so
//     cache_keep(&c, &w, key, path);      // ... which becomes the entry, or stays where it is
//     library = dlopen(path, RTLD_NOW);
//     cache_work_end(&w);                 // removes what is left
//   }
//
// The folder is $PERMC_CACHE, else $XDG_CACHE_HOME/permc, else $HOME/.cache/permc. Nothing is
// loaded that somebody else may have written: folder and entries must belong to this user and be
// writable by no other, and an entry ends with a digest of its content and its key, which is
// computed anew before each use. Entries appear whole (by rename), so processes at once do not
// disturb each other. An entry that is not right is made again. Where there is no usable folder, or
// no room in it, code is compiled in a temporary folder, loaded and removed.
//
// The entries in the folder have at most CACHE_MOST_BYTES; those that were not used for the longest
// time go first. Work folders that a killed process has left go after an hour.
//
// The folder may hold files of the user. Removed, and counted, is only what permc has made, and
// that is proved, not told from a name: an entry is a regular file of this user with the trailer
// that permc writes; a work folder has a marker file that tells the folder's own name and inode,
// and no folder in it. Only the name of an entry that is written or forgotten is taken as it is: it
// is the digest of what is kept, so what lies there is that entry, damaged or not.
#ifndef PERMC_RUNTIME_SYSTEM_CACHE_H
#define PERMC_RUNTIME_SYSTEM_CACHE_H

#include "runtime/system/digest.h"
#include <stdbool.h>
#include <stdint.h>

enum { CACHE_PATH = 4096, CACHE_KEY = 2 * DIGEST_BYTES + 1 };
#define CACHE_MOST_BYTES (UINT64_C(1) << 30)

typedef struct cache {
  char folder[CACHE_PATH];  // "" where there is none
  char problem[256];        // then: why, in words
  uint64_t most_bytes;
} cache;

void cache_open(cache *c);
// The same, but creates nothing: where there is no folder yet, there are no entries.
void cache_look(cache *c);

// The path of a good entry. `key`: 64 hexadecimal digits.
bool cache_find(const cache *c, const char key[CACHE_KEY], char path[CACHE_PATH]);

// A folder for one compilation.
typedef struct cache_work {
  char folder[CACHE_PATH];
  int slot;  // of system/temporary.h
} cache_work;

// In the cache, else in $TMPDIR or /tmp. False: *why is the reason, a sentence without a full stop.
bool cache_work_begin(const cache *c, cache_work *w, const char **why);
// Makes the file `name` of the work folder the entry of `key`. False: it was not possible, and path
// is the file as it is.
bool cache_keep(const cache *c, const cache_work *w, const char *name, const char key[CACHE_KEY],
                char path[CACHE_PATH]);
void cache_work_end(cache_work *w);

// Small texts, private and checked as all entries are, under keys of their own.
enum { CACHE_TEXT = 4096 };  // bytes at most, with what proves the entry
// False: there is no good entry. One open of a file.
bool cache_find_text(const cache *c, const char key[CACHE_KEY], char out[CACHE_TEXT]);
// It appears whole or not at all. False: it is not kept, and *why (a sentence without a full stop,
// as long-lived as the cache) says why not. `path`: where it lies.
bool cache_keep_text(const cache *c, const char key[CACHE_KEY], const char *content,
                     char path[CACHE_PATH], const char **why);
// Whether there was one, good or not, that is gone now.
bool cache_remove_text(const cache *c, const char key[CACHE_KEY]);

// Removes all entries. Returns the bytes they held.
uint64_t cache_clear(const cache *c);

#endif
