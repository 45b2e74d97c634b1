// Files larger than memory: lists of stretches of bytes between files and memory, moved at the rate
// of the disk while the caller computes.
//
//   disk *d = disk_new(NULL, NULL, &failure);
//   disk_file in;
//   disk_open(&in, "in.npy", DISK_READ, 0, &failure);
//   disk_part parts[] = {{&in, .offset = 128, .bytes = 1 << 20, .memory = slab},
//                        {&in, .offset = 1 << 30, .bytes = 1 << 20, .memory = slab + (1 << 20)}};
//   disk_begin(d, parts, 2);
//   compute();
//   disk_end(d, &failure);    // false: "in.npy: it ends at byte 512, before byte 1048704"
//
// Direct transfers. Data goes between disk and memory without a copy in the system's memory
// (O_DIRECT) where the file system does that. It is then moved by whole pages of 4 KiB. A stretch
// to read may begin and end inside pages: these two go through pages of our own. It is enough that
// memory and offset are equal modulo 4 KiB. What cannot be moved so (another memory; a written
// stretch's ends inside pages) goes through the system's memory.
//
//   offset 128, bytes 1 MiB   page 0 (128 ... 4095) | 255 pages, straight | page 256 (0 ... 127)
//
//   disk.c      batches of parts; the table of kinds of requests
//   file.c      files
//   request.c   which bytes one request moves, and what becomes of its answer
//   ring.c      requests by io_uring
//   threads.c   requests by some threads that wait for each
#ifndef PERMC_RUNTIME_DISK_DISK_H
#define PERMC_RUNTIME_DISK_DISK_H

#include "core/error.h"
#include <stdatomic.h>

enum { DISK_PAGE = 4096 };

// ---- files -------------------------------------------------------------------------------------

typedef enum disk_use {
  DISK_READ,
  DISK_CREATE,  // new, or emptied; its bytes are allocated at once, so that a full disk is known now
  DISK_UPDATE   // has its bytes already
} disk_use;

typedef struct disk_file {
  const char *path;  // as the user wrote it; the caller's
  int cached;        // descriptor
  int direct;        // descriptor for O_DIRECT; -1: the file system has no such transfers
} disk_file;

bool disk_open(disk_file *f, const char *path, disk_use use, uint64_t bytes, error *failure);
// To be read, by a descriptor of it, which stays the caller's.
bool disk_open_again(disk_file *f, const char *path, int descriptor, error *failure);
// New, by a descriptor, which becomes the disk_file's, also where this fails.
bool disk_take(disk_file *f, const char *path, int descriptor, uint64_t bytes, error *failure);
// New, in the folder, without a name: it is gone when it is closed, or the process has ended.
bool disk_open_unnamed(disk_file *f, const char *folder, uint64_t bytes, error *failure);
void disk_close(disk_file *f);  // {0} is allowed
bool disk_size(const disk_file *f, uint64_t *bytes, error *failure);
// Waits until the disk has what was written.
bool disk_sync(const disk_file *f, error *failure);
// Some bytes, at once and through the system's memory.
bool disk_read(const disk_file *f, uint64_t offset, void *memory, uint64_t bytes, error *failure);
bool disk_write(const disk_file *f, uint64_t offset, const void *memory, uint64_t bytes,
                error *failure);

// ---- transfers ---------------------------------------------------------------------------------

typedef struct disk_part {
  const disk_file *file;
  uint64_t offset, bytes;
  void *memory;
  bool writes;
} disk_part;

typedef struct disk disk;

// How requests are made, by name: a table. `ring` is not there where the kernel refuses it.
typedef struct disk_kind disk_kind;
size_t disk_kind_count(void);
const char *disk_kind_name(size_t index);

// `kind` NULL: the first of the table that works here. `interrupted` (may be NULL) is read between
// requests.
disk *disk_new(const char *kind, const atomic_bool *interrupted, error *failure);
void disk_free(disk *d);  // NULL is allowed

// Begins to move the parts, whose list and memory stay as they are until disk_end, which waits for
// them. Reads and writes are under way at one time, each in order. False: the first failure, or
// "interrupted"; nothing is under way then.
void disk_begin(disk *d, const disk_part *parts, size_t count);
bool disk_end(disk *d, error *failure);

// The bytes that requests have moved so far, whole pages where a direct one reads them.
typedef struct disk_counts {
  uint64_t bytes_read, bytes_written, requests;
} disk_counts;
disk_counts disk_counts_of(const disk *d);

#endif
