// Parts of rows in three buffers. See scan.h.
#include "runtime/external/routines/scan.h"

#include "core/number.h"
#include "runtime/values/value.h"

enum { PIECE = 16 << 20 };  // bytes, at most

typedef struct scanning {
  const scan *task;
  uint64_t rows, length;  // of a part
  uint64_t of_row;        // parts
  char *buffers[PIPELINE_BUFFERS];
} scanning;

// Keys of a part, at most.
static uint64_t keys_of(const scan *s) {
  uint64_t bytes = s->by->memory / 2 / PIPELINE_BUFFERS,
           keys = (bytes < PIECE ? bytes : PIECE) / s->size;
  return keys < 1 ? 1 : keys;
}

uint64_t scan_rows(const scan *s) {
  uint64_t rows = keys_of(s) / s->length;
  rows = rows < s->most_rows ? rows : s->most_rows;
  return rows < 1 ? 1 : rows < s->rows ? rows : s->rows;
}

static external_place place_of(const scan *s, const scan_part *p) {
  return place_after(s->from, (p->first * s->length + p->start) * s->size);
}

static scan_part part_at(const scanning *s, uint64_t piece) {
  const scan *t = s->task;
  scan_part p = {piece / s->of_row * s->rows, s->rows, piece % s->of_row * s->length, s->length,
                 NULL};
  p.rows = t->rows - p.first < p.rows ? t->rows - p.first : p.rows;
  p.length = t->length - p.start < p.length ? t->length - p.start : p.length;
  p.keys = s->buffers[piece % PIPELINE_BUFFERS] + place_of(t, &p).offset % DISK_PAGE;
  return p;
}

static bool load_part(void *with, uint64_t piece, transfers *t) {
  const scanning *s = with;
  scan_part p = part_at(s, piece);
  return transfers_add(t, place_of(s->task, &p), (void *)p.keys, p.rows * p.length * s->task->size,
                       false);
}

static bool work_on_part(void *with, uint64_t piece, error *failure) {
  const scanning *s = with;
  scan_part p = part_at(s, piece);
  return s->task->work(s->task->with, &p, failure);
}

static bool store_nothing(void *with, uint64_t piece, transfers *t) {
  (void)piece;
  (void)t;
  return with != NULL;
}

static scanning scanning_of(const scan *t) {
  uint64_t keys = keys_of(t);
  scanning s = {.task = t, .rows = scan_rows(t), .length = t->length < keys ? t->length : keys};
  s.of_row = s.length ? divide_up(t->length, s.length) : 0;
  return s;
}

static uint64_t parts_of(const scanning *s) {
  return s->rows ? divide_up(s->task->rows, s->rows) * s->of_row : 0;
}

void scan_add_traffic(const scan *t, external_traffic *to) {
  scanning s = scanning_of(t);
  to->reads += t->rows * t->length * t->size;
  to->requests += parts_of(&s) * divide_up(s.rows * s.length * t->size, EXTERNAL_REQUEST);
}

bool scan_run(const scan *t, error *failure) {
  scanning s = scanning_of(t);
  uint64_t bytes = divide_up(s.rows * s.length * t->size, DISK_PAGE) * DISK_PAGE + DISK_PAGE;
  FREED char *memory = array_memory(PIPELINE_BUFFERS * bytes + DISK_PAGE);
  pipeline p = {.disk = t->by->disk,
                .last = parts_of(&s),
                .with = &s,
                .load = load_part,
                .work = work_on_part,
                .store = store_nothing};
  for (uint64_t b = 0; b < PIPELINE_BUFFERS && memory; b++)
    s.buffers[b] = memory + -(uintptr_t)memory % DISK_PAGE + b * bytes;
  return memory ? pipeline_run(&p, failure) : error_no_memory(failure);
}
