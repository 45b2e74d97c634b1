// Arrays that stay in their file, of which each rank (runtime/ranks/ranks.h), or each step of a run
// beyond memory (runtime/external/run.h), reads its part.
//
//   value_source_leave(s, 1 << 16)
//   value_read(s, ...)                    // a: no data; the owner has the file, and where they begin
//   array_fetch(&a, 1000, 10, to, &e)     // reads elements 1000, ..., 1009 of it
//
// Only .npy of a regular file, in C order: its elements, or its fields one for one, are those of
// memory, but for their byte order. Or a file that a run has made, with room before element 0 for
// the header of a .npy.
#include "core/hash.h"
#include "core/sizes.h"
#include "runtime/system/pool.h"
#include "runtime/system/temporary.h"
#include "runtime/values/formats.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct array_file {
  int descriptor;
  uint64_t offset, record;  // bytes before element 0, and from each to the next
  bool swapped;
  char name[SOURCE_NAME];
  bool made;   // by a run; it has room for a header, and is no output yet
  char *path;  // of one that was made with a name; or NULL
  bool own;    // ... which goes with the array
  int slot;    // of system/temporary.h
} array_file;

static void close_file(void *with) {
  FREED array_file *f = with;
  close(f->descriptor);
  if (f->own && f->path)
    unlink(f->path);
  temporary_unregister(f->slot);
  free(f->path);
}

// ---- leaving an array where it is -----------------------------------------------------------------

void value_source_leave(value_source *s, uint64_t bytes) { s->left_from = bytes; }

bool source_may_leave(const value_source *s, uint64_t bytes) {
  return s->left_from && bytes >= s->left_from && s->size_known && s->owns_descriptor;
}

// Makes it what the array's elements are in, with a descriptor of its own. False: errno; 0: memory is
// out.
static bool own_file(array *a, const array_file *like, int descriptor) {
  array_file *f = malloc(sizeof *f);
  array_owner *owner = malloc(sizeof *owner);
  char *path = like->path ? strdup(like->path) : NULL;
  errno = 0;
  int own = f && owner && !path == !like->path ? dup(descriptor) : -1;
  if (own < 0) {
    free(f);
    free(owner);
    free(path);
    return false;
  }
  *f = *like;
  f->descriptor = own;
  f->path = path;
  f->slot = f->own && path ? temporary_register(path) : -1;
  *owner = (array_owner){ARRAY_IN_FILE, true, close_file, f};
  a->data = NULL;
  a->owner = owner;
  return true;
}

bool source_leave_array(value_source *s, array *a, uint64_t offset, uint64_t record, bool swapped) {
  array_file f = {.offset = source_offset(s) + offset, .record = record, .swapped = swapped};
  memcpy(f.name, s->name, sizeof f.name);
  return own_file(a, &f, s->descriptor) ||
         source_fail(s, "the array cannot stay in its file: %s", strerror(errno ? errno : ENOMEM));
}

// ---- reading a part -------------------------------------------------------------------------------

void elements_swap(scalar_type type, void *elements, uint64_t count) {
  size_t size = scalar_types[scalar_real_of(type)].size;
  uint64_t parts = count * scalar_types[type].size / size;
  if (size == 2)
    for (uint16_t *words = elements; parts > 0; parts--, words++)
      *words = __builtin_bswap16(*words);
  if (size == 4)
    for (uint32_t *words = elements; parts > 0; parts--, words++)
      *words = __builtin_bswap32(*words);
  if (size == 8)
    for (uint64_t *words = elements; parts > 0; parts--, words++)
      *words = __builtin_bswap64(*words);
}

static bool read_at(const array_file *f, uint64_t offset, unsigned char *to, uint64_t bytes,
                    error *e) {
  enum { LARGEST_READ = 1 << 24 };
  while (bytes) {
    size_t wanted = bytes < LARGEST_READ ? (size_t)bytes : LARGEST_READ;
    ssize_t got = pread(f->descriptor, to, wanted, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_set_number(e, errno, "%s: %s", f->name, strerror(errno));
    if (got == 0)
      return error_set(e, SPAN_NONE, "%s: the file became shorter while it was read", f->name);
    to += got;
    offset += (uint64_t)got;
    bytes -= (uint64_t)got;
  }
  return true;
}

// Of records, in pieces of about so many bytes.
static bool read_field(const array_file *f, uint64_t size, uint64_t first, uint64_t count,
                       unsigned char *to, error *e) {
  enum { PIECE = 1 << 18 };
  uint64_t most = PIECE / f->record + 1;
  FREED unsigned char *records = malloc(most * f->record);
  bool good = records || error_no_memory(e);
  for (uint64_t done = 0, some; good && done < count; done += some) {
    some = count - done < most ? count - done : most;
    good = read_at(f, f->offset + (first + done) * f->record, records,
                   (some - 1) * f->record + size, e);
    const unsigned char *from = records;
#define TAKE(U)                                                                                    \
  for (uint64_t i = 0; good && i < some; i++, from += f->record, to += (U))                        \
    memcpy(to, from, (U));
    FOR_ELEMENT_SIZE(size, TAKE)
  }
  return good;
}

static bool fetch_from_file(const array *a, uint64_t first, uint64_t count, void *to, error *e) {
  uint64_t size = scalar_types[a->type].size;
  const array_file *f = a->owner->with;
  bool good = f->record == size ? read_at(f, f->offset + first * size, to, count * size, e)
                                : read_field(f, size, first, count, to, e);
  if (good && f->swapped)
    elements_swap(a->type, to, count);
  return good;
}

bool array_fetch(const array *a, uint64_t first, uint64_t count, void *to, error *e) {
  uint64_t size = scalar_types[a->type].size;
  array_part own = array_own(a);
  *e = (error){0};
  if (array_device(a) == ARRAY_AT_RANDOM)
    return elements_draw(a, first, count, to), true;
  if (array_device(a) == ARRAY_IN_FILE) {
    if (!fetch_from_file(a, first, count, to, e))
      return false;
  } else if (count && (first < own.first || first + count > own.first + own.count)) {
    return error_set(e, SPAN_NONE, "this rank has only a part of the array");
  } else if (count) {
    memcpy(to, (const char *)own.data + (first - own.first) * size, count * size);
  }
  if (a->type == SCALAR_BOOL)  // what is not 0 is true
    scalar_convert(SCALAR_U8, SCALAR_BOOL, count, to, to);
  return true;
}

bool array_digest(const array *a, uint64_t count, unsigned threads, uint64_t *digest, error *e) {
  enum { PIECE = 1 << 20 };  // bytes
  uint64_t size = scalar_types[a->type].size, most = PIECE / size;
  FREED char *piece = a->data ? NULL : malloc(PIECE);
  bool good = a->data || piece || error_no_memory(e);
  *digest = 0;
  for (uint64_t i = 0, some; good && i < count; i += some) {
    some = count - i < most ? count - i : most;
    good = a->data || array_fetch(a, i, some, piece, e);
    const char *bytes = a->data ? (const char *)a->data + i * size : piece;
    *digest = good ? *digest * 31 + pool_hash(threads, bytes, some * size) : 0;
  }
  return good;
}

// ---- files of their own ---------------------------------------------------------------------------

bool array_file_place(const array *a, int *descriptor, uint64_t *offset) {
  const array_file *f = array_device(a) == ARRAY_IN_FILE ? a->owner->with : NULL;
  if (!f || f->record != scalar_types[a->type].size || f->swapped || a->type == SCALAR_BOOL)
    return false;
  *descriptor = f->descriptor;
  *offset = f->offset;
  return true;
}

const char *array_file_name(const array *a) {
  const array_file *f = a->owner->with;
  return f->name;
}

uint64_t array_file_identity(const array *a) {
  const array_file *f = a->owner->with;
  struct stat s = {0};
  if (fstat(f->descriptor, &s) != 0)
    return (uint64_t)(uintptr_t)f | 1;
  // Not st_dev: each host has its own number of a folder that all share.
  const uint64_t parts[] = {s.st_ino,
                            (uint64_t)s.st_size,
                            (uint64_t)s.st_ctim.tv_sec,
                            (uint64_t)s.st_ctim.tv_nsec,
                            f->offset,
                            f->record};
  return hash_bytes(parts, sizeof parts) | 1u;
}

bool array_of_file(array *a, int descriptor, uint64_t offset, const char *name, const char *path,
                   bool own, error *e) {
  array_file f = {.offset = offset,
                  .record = scalar_types[a->type].size,
                  .made = true,
                  .path = (char *)(uintptr_t)path,
                  .own = own};
  *e = (error){0};
  snprintf(f.name, sizeof f.name, "%s", name);
  return own_file(a, &f, descriptor) ||
         (errno ? error_set_number(e, errno, "%.300s: %s", name, strerror(errno))
                : error_no_memory(e));
}

bool array_load(array *a, error *e) {
  array whole = {.type = a->type};
  if (!array_is_apart(a))
    return true;
  if (!array_create(&whole, a->type, a->rank, a->dims))
    return error_no_memory(e);
  if (!array_fetch(a, 0, array_count(a), whole.data, e))
    return array_destroy(&whole), false;
  array_destroy(a);
  *a = whole;
  return true;
}

// A file of a run's own may be another array's, too: it stays as it is, and becomes no output.
void array_keep_first(array *a, uint64_t count) {
  uint64_t whole = array_count(a);
  a->dims[0] = count;
  if (array_device(a) == ARRAY_IN_PART) {
    array_part *own = a->owner->with;
    uint64_t left = array_count(a) > own->first ? array_count(a) - own->first : 0;
    own->count = own->count < left ? own->count : left;
  } else if (array_device(a) == ARRAY_IN_FILE && array_count(a) < whole) {
    array_file *f = a->owner->with;
    f->made = false;
  }
}

static bool write_header(const array_file *f, const permc_value *v, const char *name, error *e) {
  size_t length;
  FREED char *header = npy_header_of(v, f->offset, &length, e);
  bool good = header && length == f->offset;
  if (good && pwrite(f->descriptor, header, length, 0) != (ssize_t)length)
    good = error_set(e, SPAN_NONE, "%.300s: %s", name, strerror(errno ? errno : ENOSPC));
  return good;
}

// Whether nobody else has the file: it has no name, or its own name alone. A file that has lost its
// name gets no other, and one of two names may be written to by who has the other.
static bool is_ours(const array_file *f) {
  struct stat s, there;
  return !f->path ||
         (fstat(f->descriptor, &s) == 0 && s.st_nlink == 1 && lstat(f->path, &there) == 0 &&
          s.st_dev == there.st_dev && s.st_ino == there.st_ino);
}

bool value_file_becomes(const permc_value *v, output_file *o, bool *became, error *e) {
  const array *a = &v->components[0];
  array_file *f = v->count == 1 && array_device(a) == ARRAY_IN_FILE ? a->owner->with : NULL;
  bool can = f && f->made && is_ours(f);
  *e = (error){0};
  *became = can && output_take(o, f->descriptor);
  if (*became)
    f->made = false;  // another output is a copy, and not the same file
  return !*became || write_header(f, v, output_name(o), e);
}
