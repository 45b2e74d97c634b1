// Rows in memory, runs, buckets: pieces that are read, sorted and written. See sorting.h.
#include "core/number.h"
#include "runtime/external/routines/sorting.h"
#include "runtime/routines/sort.h"
#include <stdlib.h>
#include <string.h>

uint64_t sorting_buffer_bytes(const sorting *s, uint32_t column) {
  uint64_t bytes = s->shape->piece * s->task->columns[column].size + s->shape->slack + DISK_PAGE;
  return divide_up(bytes, DISK_PAGE) * DISK_PAGE;
}

static char *buffer_of(const sorting *s, uint32_t column, uint64_t piece) {
  char *at = s->memory + -(uintptr_t)s->memory % DISK_PAGE;
  for (uint32_t c = 0; c < column; c++)
    at += PIPELINE_BUFFERS * sorting_buffer_bytes(s, c);
  return at + piece % PIPELINE_BUFFERS * sorting_buffer_bytes(s, column);
}

// ---- where keys are ----------------------------------------------------------------------------

// In an array, of which the sort has all, or row `row`.
static external_place place_in(const sorting *s, external_place array, uint64_t size,
                               uint64_t key) {
  return place_after(array, (s->row * s->count + key) * size);
}

external_place sorting_source(const sorting *s, uint32_t column, uint64_t key) {
  const external_column *own = &s->task->columns[column];
  return s->buckets ? place_after(own->between, key * own->size)
                    : place_in(s, own->from, own->size, key);
}

// Of keys of runs, `last`: they are in their places.
static external_place target_place(const sorting *s, uint32_t column, uint64_t key, bool last) {
  const external_column *own = &s->task->columns[column];
  return s->shape->fits || s->buckets || last ? place_in(s, own->to, own->size, key)
                                              : place_after(own->between, key * own->size);
}

// Keys first, ..., first + count - 1 of the source.
typedef struct stretch {
  uint64_t first, count;
} stretch;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Of a run, what is not in its place when it is sorted: at its beginning, or at its end, keys of a
// segment that other runs have, too; all of a row that is one.
static stretch loose_of(const sorting *s, uint64_t run, bool at_end) {
  uint64_t first = run * s->shape->run, end = least(first + s->shape->run, s->count);
  if (!s->borders)
    return at_end ? (stretch){end, 0} : (stretch){first, end - first};
  uint64_t head = least(s->borders[run].end, end), tail = most(s->borders[run + 1].begin, head);
  return at_end ? (stretch){tail, end - tail} : (stretch){first, head - first};
}

static stretch within(stretch a, uint64_t first, uint64_t end) {
  first = most(a.first, first);
  end = least(a.first + a.count, end);
  return (stretch){first, end > first ? end - first : 0};
}

static uint64_t stretches_of(const sorting *s) { return s->buckets ? 2 * s->shape->runs : 1; }

static stretch stretch_of(const sorting *s, uint64_t piece, uint64_t i) {
  uint64_t each = s->shape->piece, runs = s->shape->runs, run = i / 2;
  if (!s->buckets) {
    uint64_t first = piece * each;
    return (stretch){first, least(s->count - first, each)};
  }
  uint64_t first = run * s->shape->run;
  return within(loose_of(s, run, i % 2), first + s->places[piece * runs + run],
                first + s->places[(piece + 1) * runs + run]);
}

// Where a part of a piece goes.
typedef struct part {
  stretch keys;
  bool last;  // they are in their places, as other keys of the run are not
} part;

static uint64_t parts_of(const sorting *s) {
  if (s->buckets)
    return s->borders ? s->shape->runs : 1;
  return s->shape->fits ? 1 : 3;
}

// The row's keys before a bucket.
static uint64_t keys_before(const sorting *s, uint64_t bucket) {
  uint64_t before = 0;
  for (uint64_t r = 0; r < s->shape->runs; r++)
    before += s->places[bucket * s->shape->runs + r];
  return before;
}

// In order, one after the other in the piece. Those of a bucket are of each border's segment.
static part part_of(const sorting *s, uint64_t piece, uint64_t i) {
  stretch all = stretch_of(s, piece, 0);
  if (!s->buckets && s->shape->fits)
    return (part){all, false};
  if (!s->buckets) {
    stretch head = loose_of(s, piece, false), tail = loose_of(s, piece, true);
    uint64_t first = head.first + head.count;
    return i == 1 ? (part){{first, tail.first - first}, true} : (part){i ? tail : head, false};
  }
  segment_border whole = {0, s->count, 0}, *b = s->borders ? &s->borders[i] : &whole;
  bool again = i > 0 && b->begin == b[-1].begin && b->end == b[-1].end;
  stretch keys = {b->begin, again ? 0 : b->end - b->begin};
  return (part){within(keys, keys_before(s, piece), keys_before(s, piece + 1)), false};
}

static uint64_t keys_of(const sorting *s, uint64_t piece) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < stretches_of(s); i++)
    count += stretch_of(s, piece, i).count;
  return count;
}

static uint64_t first_of(const sorting *s, uint64_t piece) {
  part p = {{0}, false};
  for (uint64_t i = 0; i < parts_of(s) && !p.keys.count; i++)
    p = part_of(s, piece, i);
  return p.keys.first;
}

// The piece in order begins at the same byte of a page here and in the target.
static char *sorted_of(const sorting *s, uint32_t column, uint64_t piece) {
  external_place to = target_place(s, column, first_of(s, piece), false);
  return buffer_of(s, column, piece) + (to.file ? to.offset % DISK_PAGE : 0);
}

// Where a stretch is read to, at `at` or behind it: at the same byte of a page as in the file,
// while there is slack.
static char *landing_of(external_place from, char *at, uint64_t *slack) {
  uint64_t gap = (from.offset - (uintptr_t)at) % DISK_PAGE;
  if (gap > *slack)
    return at;
  *slack -= gap;
  return at + gap;
}

// The stretches of a column one after the other: read to where each lands (t), or then moved
// together, without what was left free (NULL). False: out of memory.
static bool gather_stretches(const sorting *s, uint64_t piece, uint32_t c, transfers *t) {
  size_t size = s->task->columns[c].size;
  char *to = sorted_of(s, c, piece), *at = to;
  uint64_t slack = s->shape->slack;
  bool good = true;
  if (!sorting_source(s, c, 0).file)
    return true;
  for (uint64_t i = 0; i < stretches_of(s) && good; i++) {
    stretch g = stretch_of(s, piece, i);
    if (!g.count)
      continue;
    external_place from = sorting_source(s, c, g.first);
    at = landing_of(from, at, &slack);
    if (t)
      good = transfers_add(t, from, at, g.count * size, false);
    else if (at != to)
      memmove(to, at, g.count * size);
    to += g.count * size;
    at += g.count * size;
  }
  return good;
}

bool sorting_load(void *with, uint64_t piece, transfers *t) {
  const sorting *s = with;
  bool good = true;
  for (uint32_t c = 0; c < s->task->column_count && good; c++)
    good = gather_stretches(s, piece, c, t);
  return good;
}

static void shift_numbers(void *numbers, size_t size, uint64_t count, uint64_t by) {
  uint32_t *narrow = numbers;
  uint64_t *wide = numbers;
  for (uint64_t i = 0; i < count; i++)
    if (size == 4)
      narrow[i] += (uint32_t)by;
    else
      wide[i] += by;
}

// Where the segments of a piece begin: of rows, of a run, of a bucket.
static bool find_segments(const sorting *s, uint64_t piece, uint64_t *count, error *failure) {
  stretch all = stretch_of(s, piece, 0);
  uint64_t length = s->task->length, end = 0, found;
  *count = 0;
  if (!s->buckets && !s->shape->fits)
    return segments_cut(s->segments, s->row, all.first, all.count, s->borders[piece].next,
                        s->begins, count, failure);
  for (; !s->buckets && end < all.count; end += length, *count += found) {
    uint64_t *begins = s->begins + *count;
    if (!segments_cut(s->segments, (all.first + end) / length, 0, length, 0, begins, &found,
                      failure))
      return false;
    for (uint64_t i = 0; i < found; i++)
      begins[i] += end;
  }
  for (uint64_t i = 0; s->buckets && i < parts_of(s); i++) {
    uint64_t some = part_of(s, piece, i).keys.count;
    s->begins[*count] = end;
    end += some;
    *count += some > 0;
  }
  s->begins[*count] = end;
  return true;
}

// As so many rows, or segments.
static bool sort_piece(const sorting *s, uint64_t piece, uint64_t rows, uint64_t keys) {
  const external_sort *e = s->task;
  FREED sort_payload *payloads = calloc(e->column_count, sizeof *payloads);
  sort_task t = {.order = e->order,
                 .rows = rows,
                 .length = rows ? keys / rows : 0,
                 .offsets = s->segments ? s->begins : NULL,
                 .keys = sorted_of(s, 0, piece),
                 .payload_count = e->column_count - 1,
                 .payloads = payloads,
                 .crew = {.threads = e->by.threads, .interrupted = e->by.interrupted}};
  t.sorted = target_place(s, 0, 0, false).file ? sorted_of(s, 0, piece) : NULL;
  for (uint32_t c = 1; c < e->column_count && payloads; c++) {
    char *to = sorted_of(s, c, piece);
    payloads[c - 1] =
        (sort_payload){sorting_source(s, c, 0).file ? to : NULL, to, e->columns[c].size};
  }
  return payloads && routine_sort(&t);
}

// Numbers of elements are those of the row.
static void number_piece(const sorting *s, uint64_t piece, uint64_t rows, uint64_t keys) {
  uint64_t first = stretch_of(s, piece, 0).first, length = s->task->length;
  for (uint32_t c = 1; c < s->task->column_count; c++) {
    size_t size = s->task->columns[c].size;
    char *numbers = sorted_of(s, c, piece);
    if (sorting_source(s, c, 0).file)
      continue;
    if (!s->segments && !s->shape->fits)
      shift_numbers(numbers, size, keys, first);
    for (uint64_t i = 0; s->segments && i < rows; i++)
      shift_numbers(numbers + s->begins[i] * size, size, s->begins[i + 1] - s->begins[i],
                    (first + s->begins[i]) % length);
  }
}

static uint64_t *samples_of(const sorting *s, uint64_t piece) {
  return s->samples + piece % PIPELINE_BUFFERS * cuts_samples_of_run(&s->cuts);
}

bool sorting_work(void *with, uint64_t piece, error *failure) {
  const sorting *s = with;
  uint64_t keys = keys_of(s, piece), rows = s->shape->fits ? keys / s->task->length : 1;
  for (uint32_t c = 0; c < s->task->column_count; c++)
    gather_stretches(s, piece, c, NULL);
  if (s->segments && !find_segments(s, piece, &rows, failure))
    return false;
  if (!sort_piece(s, piece, rows, keys))
    return error_stopped(failure, s->task->by.interrupted);
  number_piece(s, piece, rows, keys);
  if (s->samples)
    cuts_draw(&s->cuts, sorted_of(s, 0, piece), keys, samples_of(s, piece));
  return true;
}

static bool store_column(const sorting *s, uint64_t piece, uint32_t c, transfers *t) {
  char *at = sorted_of(s, c, piece);
  size_t size = s->task->columns[c].size;
  bool good = true;
  for (uint64_t i = 0; i < parts_of(s) && good; i++) {
    part to = part_of(s, piece, i);
    external_place place = target_place(s, c, to.keys.first, to.last);
    good = transfers_add(t, place, at, to.keys.count * size, true);
    at += to.keys.count * size;
  }
  return good;
}

bool sorting_store(void *with, uint64_t piece, transfers *t) {
  const sorting *s = with;
  for (uint32_t c = 0; c < s->task->column_count; c++)
    if (!store_column(s, piece, c, t))
      return false;
  uint64_t each = s->samples ? cuts_samples_of_run(&s->cuts) : 0;
  return !s->samples ||
         transfers_add(t, place_after(s->task->samples, piece * each * sizeof *s->samples),
                       samples_of(s, piece),
                       divide_up(keys_of(s, piece), s->shape->step) * sizeof *s->samples, true);
}
