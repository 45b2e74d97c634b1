// The cache of compiled code on disk: shared objects by the digest of all that they were made of;
// and beside them small texts, of what was measured (tune.h, speed.h), of what runs took
// (compiled.h).
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
// disturb each other. An entry that is not right (after a power loss, say) is made again. Where
// there is no usable folder, or no room in it, code is compiled in a temporary folder, loaded and
// removed.
//
//   permc-entries/1f3a....so            an entry: its key and its kind, .so, .text, .runs or .speed
//   permc-entries/index                 their bytes and the limit, locked while one is added
//   permc-work/work-1f3a9c/             of a compilation, locked by its process
//
// There are never more bytes of entries than the limit; those that were not used for the longest
// time go first, an eighth of the limit at once. An entry counts as whole blocks of 4 KiB. Adding
// one takes a time that does not depend on what is in the folder. Work folders that a killed
// process has left go when the next compilation begins.
//
// The folder may hold files of the user. Removed, and counted, is only what permc has made, and
// that is proved, not told from a name: an entry is a regular file of this user with the trailer
// that permc writes; a work folder has a marker that tells the folder's own name and inode, and no
// folder in it, or is empty. Only the name of an entry that is written or forgotten is taken as it
// is: it is the digest of what is kept, so what lies there is that entry, damaged or not.
#ifndef PERMC_RUNTIME_SYSTEM_CACHE_H
#define PERMC_RUNTIME_SYSTEM_CACHE_H

#include "runtime/system/digest.h"
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { CACHE_PATH = 4096, CACHE_KEY = 2 * DIGEST_BYTES + 1 };
typedef enum cache_kind {
  CACHE_CODE,
  CACHE_TUNED,
  CACHE_RUNS,
  CACHE_SPEED,
  CACHE_KINDS
} cache_kind;
#define CACHE_MOST_BYTES (UINT64_C(1) << 30)

typedef struct cache {
  char folder[CACHE_PATH];  // "" where there is none
  char problem[256];        // then: why, in words
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
  // The folder, which is locked: removing what is in it needs no memory any more. NULL: none.
  DIR *opened;
} cache_work;

// In the cache, else in $TMPDIR or /tmp. False: *why is the reason, a sentence without a full stop.
bool cache_work_begin(const cache *c, cache_work *w, const char **why);
// Makes the file `name` of the work folder the entry of `key`. False: it was not possible, and path
// is the file as it is.
bool cache_keep(const cache *c, const cache_work *w, const char *name, const char key[CACHE_KEY],
                char path[CACHE_PATH]);
// A new file of the work folder, of this user alone. False: errno says why.
bool cache_work_write(const cache_work *w, const char *name, const void *bytes, size_t size);
void cache_work_end(cache_work *w);

// Entries whose content is in memory, private and checked as all entries are.
//
// It appears whole or not at all. False: it is not kept, and *why (a sentence without a full stop,
// as long-lived as the cache) says why not. `path`: where it lies.
bool cache_keep_bytes(const cache *c, cache_kind kind, const char key[CACHE_KEY], const void *bytes,
                      size_t size, char path[CACHE_PATH], const char **why);
// Code, malloc'd. False: there is no good entry, or no memory.
bool cache_find_bytes(const cache *c, const char key[CACHE_KEY], void **bytes, size_t *size);
// Small texts. `kind`: not CACHE_CODE.
enum { CACHE_TEXT = 4096 };  // bytes at most, with what proves the entry
// False: there is no good entry. One open of a file.
bool cache_find_text(const cache *c, cache_kind kind, const char key[CACHE_KEY],
                     char out[CACHE_TEXT]);
// Whether there was one, good or not, that is gone now.
bool cache_remove_text(const cache *c, cache_kind kind, const char key[CACHE_KEY]);

// ---- the entries as a whole --------------------------------------------------------------------

typedef struct cache_entry {
  char name[CACHE_KEY + 8];
  cache_kind kind;
  uint64_t bytes;
  struct timespec used;  // last
} cache_entry;

typedef struct cache_list {
  cache_entry *items;  // the oldest first
  size_t count;
  uint64_t bytes, limit;  // of all of them
} cache_list;

// False: errno says why. Free it with cache_list_free.
bool cache_count(const cache *c, cache_list *l);
void cache_list_free(cache_list *l);

// The limit from now on, for all processes, and removes what is beyond it, and work folders that
// were left. With 0 nothing is kept. NULL: removes all entries, and leaves the limit as it is.
// False: errno says why.
bool cache_limit(const cache *c, const uint64_t *bytes, uint64_t *removed);

#endif
