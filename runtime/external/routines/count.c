// Counts of parts, added up for each row. See count.h.
#include "runtime/external/routines/count.h"

#include "core/number.h"
#include "core/units.h"
#include "runtime/external/routines/scan.h"
#include "runtime/routines/count.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
  const external_count *task;
  int64_t *of_part, *of_rows;  // of the rows of a part: the part's, and those so far
} counting;

// A row's counts are written after its last part.
static bool count_part(void *with, const scan_part *p, error *failure) {
  const counting *s = with;
  const external_count *c = s->task;
  uint64_t count = p->rows * c->limit, bytes = count * sizeof(int64_t);
  const scalar_row *type = &scalar_types[c->type];
  count_task t = {.size = type->size,
                  .is_signed = type->kind == KIND_SIGNED,
                  .rows = p->rows,
                  .length = p->length,
                  .limit = c->limit,
                  .keys = p->keys,
                  .counts = s->of_part,
                  .crew = {.threads = 1, .interrupted = c->interrupted}};
  if (!routine_count(&t))
    return error_set(failure, SPAN_NONE, "interrupted");
  if (p->start == 0)
    memset(s->of_rows, 0, bytes);
  for (uint64_t i = 0; i < count; i++)
    s->of_rows[i] += s->of_part[i];
  return p->start + p->length < c->length ||
         disk_write(c->to.file, c->to.offset + p->first * c->limit * sizeof(int64_t), s->of_rows,
                    bytes, failure);
}

// Half of the memory is for keys, half for counts.
static uint64_t most_counts(const external_count *c) { return c->memory / 2 / sizeof(int64_t) / 2; }

bool external_count_fit(const external_count *c, error *failure) {
  char bytes[NUMBER_SPACE];
  return c->limit <= most_counts(c) ||
         error_set(failure, SPAN_NONE, "%s of memory are too few for %" PRIu64 " counts",
                   show_bytes(bytes, c->memory), c->limit);
}

static scan scan_of(const external_count *c) {
  return (scan){.disk = c->disk,
                .from = c->from,
                .size = scalar_types[c->type].size,
                .rows = c->rows,
                .length = c->length,
                .memory = c->memory / 2,
                .most_rows = most_counts(c) / c->limit};
}

void external_count_add_traffic(const external_count *c, external_traffic *to) {
  if (c->limit == 0)
    return;
  scan keys = scan_of(c);
  scan_add_traffic(&keys, to);
  to->writes += c->rows * c->limit * sizeof(int64_t);
  to->requests += divide_up(c->rows, scan_rows(&keys));
}

bool external_count_run(const external_count *c, error *failure) {
  if (!external_count_fit(c, failure))
    return false;
  if (c->limit == 0)
    return true;
  counting s = {.task = c};
  scan keys = scan_of(c);
  keys.with = &s;
  keys.work = count_part;
  uint64_t counts = scan_rows(&keys) * c->limit;
  s.of_part = malloc(2 * counts * sizeof *s.of_part);
  s.of_rows = s.of_part ? s.of_part + counts : NULL;
  bool good = s.of_part ? scan_run(&keys, failure) : error_no_memory(failure);
  free(s.of_part);
  return good;
}
