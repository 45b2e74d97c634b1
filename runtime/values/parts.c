// One .npy that several processes write, each its elements, at their places in the file.
//
//   rank 0   output_open("keys.npy")
//            output_descriptor            /proc/4711/fd/5; this name goes to the others
//            output_temporary             .permc-1f3a9c.tmp, where they do not find that
//   all      npy_write_part(name, v, first, count, data, e)
//   rank 0   output_commit                when all are done: keys.npy is there, and whole
//
//   bytes of the file   0 ... 127 | elements of rank 0 | of rank 1 | ...
//                        header, which rank 0 writes
#include "runtime/values/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool write_at(int descriptor, uint64_t offset, const void *bytes, uint64_t count) {
  enum { LARGEST_WRITE = 1 << 24 };
  for (const char *from = bytes; count;) {
    size_t wanted = count < LARGEST_WRITE ? (size_t)count : LARGEST_WRITE;
    ssize_t written = pwrite(descriptor, from, wanted, (off_t)offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return errno = written < 0 ? errno : ENOSPC, false;
    from += written;
    offset += (uint64_t)written;
    count -= (uint64_t)written;
  }
  return true;
}

// Elements of all components, one after the other, through a buffer.
static bool write_records(int descriptor, uint64_t offset, const permc_value *v, uint64_t count,
                          const void *const *data) {
  unsigned char buffer[1 << 14];
  size_t used = 0;
  for (uint64_t i = 0; i < count; i++)
    for (size_t c = 0; c < v->count; c++) {
      size_t size = scalar_types[v->components[c].type].size;
      if (used + size > sizeof buffer) {
        if (!write_at(descriptor, offset, buffer, used))
          return false;
        offset += used;
        used = 0;
      }
      memcpy(buffer + used, (const unsigned char *)data[c] + i * size, size);
      used += size;
    }
  return write_at(descriptor, offset, buffer, used);
}

// `name`: for messages.
static bool write_part(int descriptor, const char *name, const permc_value *v, uint64_t first,
                       uint64_t count, const void *const *data, error *e) {
  size_t length = 0, record = 0;
  FREED char *header = npy_header_of(v, 0, &length, e);
  if (!header)
    return false;
  for (size_t c = 0; c < v->count; c++)
    record += scalar_types[v->components[c].type].size;
  uint64_t offset = length + first * record;
  bool good = (first || write_at(descriptor, 0, header, length)) &&
              (v->count == 1 ? write_at(descriptor, offset, data[0], count * record)
                             : write_records(descriptor, offset, v, count, data));
  int reason = errno;
  return good || error_set(e, SPAN_NONE, "%.300s: %s", name, strerror(reason));
}

bool npy_write_part(const char *path, const permc_value *v, uint64_t first, uint64_t count,
                    const void *const *data, error *e) {
  *e = (error){0};
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  bool opened = descriptor >= 0;
  bool good = opened && write_part(descriptor, path, v, first, count, data, e);
  if (opened && close(descriptor) == 0)
    return good;
  if (!error_is_set(e))
    error_set(e, SPAN_NONE, "%.300s: %s", path, strerror(errno));
  return false;
}

bool npy_write_apart(const output_file *o, const permc_value *v, uint64_t memory, error *e) {
  uint64_t all = array_count(&v->components[0]), record = 0;
  for (size_t c = 0; c < v->count; c++)
    record += scalar_types[v->components[c].type].size;
  uint64_t most = memory / record ? memory / record : 1, some = most < all ? most : all;
  FREED void **data = calloc(v->count, sizeof *data);
  bool good = data != NULL;
  for (size_t c = 0; c < v->count && good; c++)
    good = (data[c] = malloc(some * scalar_types[v->components[c].type].size + 1)) != NULL;
  *e = (error){0};
  if (!good)
    error_no_memory(e);
  for (uint64_t first = 0; good && (first < all || !first); first += some) {
    uint64_t count = all - first < some ? all - first : some;
    for (size_t c = 0; c < v->count && good; c++)
      good = array_fetch(&v->components[c], first, count, data[c], e);
    good = good && write_part(output_descriptor(o), output_name(o), v, first, count,
                              (const void *const *)data, e);
    if (!some)
      break;
  }
  for (size_t c = 0; data && c < v->count; c++)
    free(data[c]);
  return good;
}
