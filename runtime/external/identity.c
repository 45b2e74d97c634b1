// What tells a run from others. See files.h.
#include "core/hash.h"
#include "runtime/external/files.h"

#include <stdlib.h>
#include <sys/stat.h>

// By its elements, also where they are drawn.
static bool digest_elements(digest *d, const array *a, error *failure) {
  uint64_t size = scalar_types[a->type].size, count = array_count(a),
           some = EXTERNAL_REQUEST / size;
  char *piece = malloc(EXTERNAL_REQUEST);
  bool good = piece || error_no_memory(failure);
  for (uint64_t first = 0, part; good && first < count; first += part) {
    error why = {0};
    part = count - first < some ? count - first : some;
    good = array_fetch(a, first, part, piece, &why) || error_pass(failure, &why);
    uint64_t sum = good ? hash_bytes(piece, part * size) : 0;
    digest_add(d, &sum, sizeof sum);
  }
  free(piece);
  return good;
}

// A file by what it is, without reading it.
static bool digest_argument(digest *d, const array *a, error *failure) {
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
  return digest_elements(d, a, failure);
}

bool files_identify(const external_run *r, char hex[2 * DIGEST_BYTES + 1], error *failure) {
  text steps = {0};
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
    good = digest_argument(&d, &r->arguments[i], failure);
  digest_finish_hex(&d, hex);
  text_free(&steps);
  return good;
}
