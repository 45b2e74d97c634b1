// How many there are of each of the keys 0 ... limit - 1 in rows that lie in a file: counts of
// parts, added up for each row. See routines.h.
#include "runtime/routines/count.h"
#include "core/number.h"
#include "core/units.h"
#include "runtime/external/routines/routines.h"
#include "runtime/external/routines/scan.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
  const external_routine *call;
  int64_t *of_part, *of_rows;  // of the rows of a part: the part's, and those so far
} counting;

// A row's counts are written after its last part.
static bool count_part(void *with, const scan_part *p, error *failure) {
  const counting *s = with;
  const net_routine *r = s->call->routine;
  uint64_t count = p->rows * r->limit, bytes = count * sizeof(int64_t);
  const scalar_row *type = &scalar_types[external_array(s->call, r->pairs[0].from)->type];
  external_place to = external_place_of(s->call, r->pairs[0].to);
  count_task t = {.size = type->size,
                  .is_signed = type->kind == KIND_SIGNED,
                  .rows = p->rows,
                  .length = p->length,
                  .limit = r->limit,
                  .keys = p->keys,
                  .counts = s->of_part,
                  .crew = {.threads = 1, .interrupted = s->call->by.interrupted}};
  if (!routine_count(&t))
    return error_set(failure, SPAN_NONE, "interrupted");
  if (p->start == 0)
    memset(s->of_rows, 0, bytes);
  for (uint64_t i = 0; i < count; i++)
    s->of_rows[i] += s->of_part[i];
  return p->start + p->length < r->length ||
         disk_write(to.file, to.offset + p->first * r->limit * sizeof(int64_t), s->of_rows, bytes,
                    failure);
}

// Half of the memory is for keys, half for counts: those of a part, and those so far.
static uint64_t most_counts(const external_routine *c) {
  return c->by.memory / 2 / sizeof(int64_t) / 2;
}

bool fit_count(const external_routine *c, uint64_t *pieces, error *failure) {
  char bytes[NUMBER_SPACE];
  *pieces = 1;
  return c->routine->limit <= most_counts(c) ||
         error_set(failure, SPAN_NONE, "%s of memory are too few for %" PRIu64 " counts",
                   show_bytes(bytes, c->by.memory), c->routine->limit);
}

static scan scan_of(const external_routine *c) {
  return external_scan(c, 0, c->routine->rows, most_counts(c) / c->routine->limit);
}

bool traffic_of_count(const external_routine *c, external_traffic *to, error *failure) {
  scan keys = scan_of(c);
  (void)failure;
  scan_add_traffic(&keys, to);
  to->writes += c->routine->rows * c->routine->limit * sizeof(int64_t);
  to->requests += divide_up(c->routine->rows, scan_rows(&keys));
  return true;
}

bool run_count(const external_routine *c, error *failure) {
  uint64_t pieces;
  if (!fit_count(c, &pieces, failure))
    return false;
  counting s = {.call = c};
  scan keys = scan_of(c);
  keys.with = &s;
  keys.work = count_part;
  uint64_t counts = scan_rows(&keys) * c->routine->limit;
  s.of_part = malloc(2 * counts * sizeof *s.of_part);
  s.of_rows = s.of_part ? s.of_part + counts : NULL;
  bool good = s.of_part ? scan_run(&keys, failure) : error_no_memory(failure);
  free(s.of_part);
  return good;
}
