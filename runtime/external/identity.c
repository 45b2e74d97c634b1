// What tells a run from others. See files.h.
#include "runtime/external/files.h"

#include <sys/stat.h>

// A file by what it is, without reading it; else by its elements, also where they are drawn.
static bool digest_argument(digest *d, const array *a, unsigned threads, error *failure) {
  int descriptor;
  uint64_t offset;
  struct stat s;
  uint32_t type = a->type;
  digest_add(d, &type, sizeof type);
  digest_add(d, a->dims, a->rank * sizeof *a->dims);
  if (array_file_place(a, &descriptor, &offset) && fstat(descriptor, &s) == 0) {
    const uint64_t facts[] = {s.st_dev,
                              s.st_ino,
                              (uint64_t)s.st_size,
                              (uint64_t)s.st_mtim.tv_sec,
                              (uint64_t)s.st_mtim.tv_nsec,
                              offset};
    digest_add(d, facts, sizeof facts);
    return true;
  }
  uint64_t elements;
  error why = {0};
  bool good =
      array_digest(a, array_count(a), threads, &elements, &why) || error_pass(failure, &why);
  digest_add(d, &elements, sizeof elements);
  return good;
}

bool files_identify(const external_run *r, char hex[2 * DIGEST_BYTES + 1], error *failure) {
  FREED_BY(text_free) text steps = {0};
  digest d = digest_start();
  external_print(&steps, r->steps);
  bool good = !steps.failed || error_no_memory(failure);
  digest_add(&d, PERMC_VERSION, sizeof PERMC_VERSION);
  digest_add(&d, text_content(&steps), steps.length);
  digest_add(&d, &r->memory, sizeof r->memory);
  for (size_t a = 0; a < r->steps->arrays.count; a++) {
    const net_array *of = &r->steps->arrays.items[a];
    if (of->role == NET_TABLE)
      digest_add(&d, of->table, of->count * scalar_types[of->type].size);
  }
  for (size_t i = 0; i < r->argument_count && good; i++)
    good = digest_argument(&d, &r->arguments[i], r->threads, failure);
  digest_finish_hex(&d, hex);
  return good;
}
