// Rows in memory, runs, buckets: pieces that are read, sorted and written. See sort.h.
#include "runtime/external/routines/sort.h"

#include "core/number.h"
#include "core/units.h"
#include "runtime/external/routines/cuts.h"
#include "runtime/routines/sort.h"
#include "runtime/values/value.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- shape -------------------------------------------------------------------------------------

enum {
  SAMPLE_BYTES = 24,       // of memory: its rank, and a sort of ranks
  SAMPLES_PART = 8,        // of the memory
  SLACK_PART = 16,         // of a buffer
  BLOCK_BYTES = 1 << 14,   // between samples, at most
  PIECES = 48,             // that a row has at least, so that reading, sorting and writing overlap,
  LEAST_PIECE = 16 << 20,  // ... of so many bytes or more
};

// Bytes of memory that a key takes: three buffers, and what a sort of them takes (runtime/routines/sort.c).
static uint64_t bytes_of_key(const external_sort *s) {
  uint64_t sum = 0, most = 0;
  for (uint32_t c = 0; c < s->column_count; c++) {
    sum += s->columns[c].size;
    most = s->columns[c].size > most ? s->columns[c].size : most;
  }
  uint64_t words = s->column_count > 1 ? 2 * sizeof(uint64_t) : most < 4 ? 8 : 0;
  words += s->offsets.count ? sizeof(uint64_t) : 0;  // where segments begin
  return PIPELINE_BUFFERS * sum + most + words;
}

// As few runs as there can be, but some: keys of a run are a multiple of a page's, where there are so many.
static uint64_t choose_run(const external_sort *s, uint64_t most) {
  uint64_t few = divide_up(s->length, PIECES), least = LEAST_PIECE / s->columns[0].size;
  few = few > least ? few : least;
  uint64_t run = most < few ? most : few;
  return run > DISK_PAGE ? run / DISK_PAGE * DISK_PAGE : run;
}

// Its runs, where these are cut, its buckets.
static uint64_t pieces_of_row(const external_sort_shape *s) {
  return s->runs + s->buckets + 1 + s->buckets;
}

static bool fit_long_row(const external_sort *s, uint64_t most, external_sort_shape *shape) {
  if (most == 0)
    return false;
  shape->run = choose_run(s, most);
  shape->runs = divide_up(s->length, shape->run);
  // A bucket is of as many keys as a run, and of one stretch of each run besides.
  uint64_t block = BLOCK_BYTES / s->columns[0].size, step = shape->run / (4 * shape->runs),
           least = divide_up(s->length * SAMPLE_BYTES * SAMPLES_PART, s->memory);
  shape->step = block < 1 ? 1 : step < block ? step : block;
  if (shape->step < least || shape->step == 0)
    return false;
  run_cuts c = {.count = s->length, .run = shape->run, .runs = shape->runs, .step = shape->step};
  shape->piece = shape->run;
  shape->buckets = divide_up(cuts_samples(&c), shape->run / shape->step - shape->runs);
  shape->pieces = s->rows * pieces_of_row(shape);
  return true;
}

bool external_sort_fit(const external_sort *s, external_sort_shape *shape, error *failure) {
  uint64_t room = s->memory - s->memory / SAMPLES_PART, each = bytes_of_key(s);
  uint64_t most = (room - room / SLACK_PART) / each;
  *shape = (external_sort_shape){.fits = s->length <= most};
  bool good = true;
  if (s->length == 0 || s->rows == 0)
    return true;
  if (shape->fits) {
    uint64_t rows = most / s->length, few = LEAST_PIECE / s->columns[0].size / s->length + 1;
    rows = rows < few ? rows : few;
    rows = rows < s->rows ? rows : s->rows;
    shape->piece = rows * s->length;
    shape->pieces = divide_up(s->rows, rows);
  } else
    good = fit_long_row(s, most, shape);
  shape->slack = shape->piece * each / SLACK_PART / PIPELINE_BUFFERS / s->column_count;
  shape->slack = shape->slack < DISK_PAGE ? DISK_PAGE : shape->slack;
  char bytes[NUMBER_SPACE];
  return good || error_set(failure, SPAN_NONE,
                           "%s of memory are too few to sort %" PRIu64 " elements in files",
                           show_bytes(bytes, s->memory), s->length);
}

// ---- pieces of a row ---------------------------------------------------------------------------

// What pieces are of: rows that fit, runs of a row, or its buckets.
typedef struct sorting {
  const external_sort *task;
  const external_sort_shape *shape;
  uint64_t count;                     // of keys
  external_place *sources, *targets;  // of each column
  external_place *last;               // where keys of runs go that are in their places
  uint64_t before;                    // pieces that others were
  run_cuts cuts;
  bool buckets;
  uint64_t row;             // that does not fit
  segments *segments;       // of rows of unequal length; NULL: there are none
  segment_border *borders;  // then: of a row that does not fit
  uint64_t *begins;         // then: of the segments of a piece
  uint64_t *places;         // of buckets: see cuts_find
  uint64_t *samples;        // of runs: of each buffer's
  char *memory;             // as it was got
  char **buffers;           // of each column and each buffer; they begin with a page
} sorting;

static char *buffer_of(const sorting *s, uint32_t column, uint64_t piece) {
  return s->buffers[column * PIPELINE_BUFFERS + piece % PIPELINE_BUFFERS];
}

// Keys first, ..., first + count - 1 of the source.
typedef struct stretch {
  uint64_t first, count;
} stretch;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Of a run, what is not in its place when it is sorted: at its beginning, or at its end, keys of a segment that
// other runs have, too; all of a row that is one.
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

static external_place source_place(const sorting *s, uint32_t column, uint64_t key) {
  return place_after(s->sources[column], key * s->task->columns[column].size);
}

static external_place target_place(const sorting *s, uint32_t column, uint64_t key) {
  return place_after(s->targets[column], key * s->task->columns[column].size);
}

static uint64_t first_of(const sorting *s, uint64_t piece) {
  part p = {{0}, false};
  for (uint64_t i = 0; i < parts_of(s) && !p.keys.count; i++)
    p = part_of(s, piece, i);
  return p.keys.first;
}

// The piece in order begins at the same byte of a page here and in the target.
static char *sorted_of(const sorting *s, uint32_t column, uint64_t piece) {
  external_place to = target_place(s, column, first_of(s, piece));
  return buffer_of(s, column, piece) + (to.file ? to.offset % DISK_PAGE : 0);
}

// Where a stretch is read to, at `at` or behind it: at the same byte of a page as in the file, while there
// is slack.
static char *landing_of(external_place from, char *at, uint64_t *slack) {
  uint64_t gap = (from.offset - (uintptr_t)at) % DISK_PAGE;
  if (gap > *slack)
    return at;
  *slack -= gap;
  return at + gap;
}

static bool load_piece(void *with, uint64_t piece, transfers *t) {
  const sorting *s = with;
  for (uint32_t c = 0; c < s->task->column_count; c++) {
    size_t size = s->task->columns[c].size;
    char *at = sorted_of(s, c, piece);
    uint64_t slack = s->shape->slack;
    for (uint64_t i = 0; i < stretches_of(s) && s->sources[c].file; i++) {
      stretch g = stretch_of(s, piece, i);
      if (!g.count)
        continue;
      external_place from = source_place(s, c, g.first);
      at = landing_of(from, at, &slack);
      if (!transfers_add(t, from, at, g.count * size, false))
        return false;
      at += g.count * size;
    }
  }
  return true;
}

// The stretches one after the other, without what was left free.
static void pack_column(const sorting *s, uint64_t piece, uint32_t c) {
  size_t size = s->task->columns[c].size;
  char *to = sorted_of(s, c, piece), *at = to;
  uint64_t slack = s->shape->slack;
  for (uint64_t i = 0; i < stretches_of(s) && s->sources[c].file; i++) {
    stretch g = stretch_of(s, piece, i);
    if (!g.count)
      continue;
    at = landing_of(source_place(s, c, g.first), at, &slack);
    if (at != to)
      memmove(to, at, g.count * size);
    to += g.count * size;
    at += g.count * size;
  }
}

// The numbers of a run's elements are those of the row.
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
  sort_payload *payloads = calloc(e->column_count, sizeof *payloads);
  sort_task t = {.type = e->type,
                 .descending = e->descending,
                 .bits = e->bits,
                 .rows = rows,
                 .length = rows ? keys / rows : 0,
                 .offsets = s->segments ? s->begins : NULL,
                 .keys = sorted_of(s, 0, piece),
                 .payload_count = e->column_count - 1,
                 .payloads = payloads,
                 .threads = e->threads,
                 .interrupted = e->interrupted};
  t.sorted = s->targets[0].file ? sorted_of(s, 0, piece) : NULL;
  for (uint32_t c = 1; c < e->column_count && payloads; c++) {
    char *to = sorted_of(s, c, piece);
    payloads[c - 1] = (sort_payload){s->sources[c].file ? to : NULL, to, e->columns[c].size};
  }
  bool good = payloads && routine_sort(&t);
  free(payloads);
  return good;
}

// Numbers of elements are those of the row.
static void number_piece(const sorting *s, uint64_t piece, uint64_t rows, uint64_t keys) {
  uint64_t first = stretch_of(s, piece, 0).first, length = s->task->length;
  for (uint32_t c = 1; c < s->task->column_count; c++) {
    size_t size = s->task->columns[c].size;
    char *numbers = sorted_of(s, c, piece);
    if (s->sources[c].file)
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

static bool work_on_piece(void *with, uint64_t piece, error *failure) {
  const sorting *s = with;
  uint64_t keys = keys_of(s, piece), rows = s->shape->fits ? keys / s->task->length : 1;
  for (uint32_t c = 0; c < s->task->column_count; c++)
    pack_column(s, piece, c);
  if (s->segments && !find_segments(s, piece, &rows, failure))
    return false;
  if (!sort_piece(s, piece, rows, keys))
    return work_stopped(s->task->interrupted, failure);
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
    external_place place =
        to.last ? place_after(s->last[c], to.keys.first * size) : target_place(s, c, to.keys.first);
    good = transfers_add(t, place, at, to.keys.count * size, true);
    at += to.keys.count * size;
  }
  return good;
}

static bool store_piece(void *with, uint64_t piece, transfers *t) {
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

// ---- a row after the other ---------------------------------------------------------------------

static bool report_piece(void *with, uint64_t piece, error *failure) {
  const sorting *s = with;
  const external_sort *e = s->task;
  return !e->report || e->report(e->with, s->before + piece + 1, failure);
}

static bool make_buffers(sorting *s) {
  uint32_t columns = s->task->column_count;
  uint64_t bytes = DISK_PAGE;
  s->buffers = calloc((size_t)columns * PIPELINE_BUFFERS, sizeof *s->buffers);
  for (int pass = 0; pass < 2 && s->buffers; pass++) {
    char *at = pass ? s->memory + -(uintptr_t)s->memory % DISK_PAGE : NULL;
    for (uint32_t c = 0; c < columns; c++)
      for (uint32_t b = 0; b < PIPELINE_BUFFERS; b++) {
        uint64_t own = s->shape->piece * s->task->columns[c].size + s->shape->slack + DISK_PAGE;
        own = divide_up(own, DISK_PAGE) * DISK_PAGE;
        s->buffers[c * PIPELINE_BUFFERS + b] = at;
        at = pass ? at + own : NULL;
        bytes += pass ? 0 : own;
      }
    if (!pass && !(s->memory = array_memory(bytes)))
      return false;
  }
  return s->buffers != NULL;
}

// Pieces from number `done` of these on.
static bool sort_pieces(sorting *s, uint64_t done, uint64_t count, error *failure) {
  pipeline p = {.disk = s->task->disk,
                .first = done,
                .last = count,
                .with = s,
                .load = load_piece,
                .work = work_on_piece,
                .store = store_piece,
                .done = report_piece,
                .rest = s->task->rest};
  if (s->segments)
    s->begins = malloc((s->shape->piece + 1) * sizeof *s->begins);
  bool good = make_buffers(s) && (s->begins || !s->segments) ? pipeline_run(&p, failure)
                                                             : error_no_memory(failure);
  free(s->memory);
  free(s->buffers);
  free(s->begins);
  s->memory = NULL;
  s->buffers = NULL;
  s->begins = NULL;
  return good;
}

// Where key `first` of the arrays is.
static void find_places(sorting *s, uint64_t first, bool from_between, bool to_between) {
  for (uint32_t c = 0; c < s->task->column_count; c++) {
    const external_column *own = &s->task->columns[c];
    external_place from = own->from.file ? place_after(own->from, first * own->size) : own->from;
    external_place to = own->to.file ? place_after(own->to, first * own->size) : own->to;
    s->sources[c] = from_between ? own->between : from;
    s->targets[c] = to_between ? own->between : to;
    s->last[c] = to;
  }
}

// What is written of a row takes the place of what the row before has left.
static void forget_row(const sorting *s) {
  for (uint32_t c = 0; c < s->task->column_count; c++)
    disk_sums_clear(&s->targets[c].file->sums);
  disk_sums_clear(&s->task->samples.file->sums);
}

static bool sort_runs(sorting *s, uint64_t first, uint64_t done, error *failure) {
  find_places(s, first, false, true);
  if (done == 0)
    forget_row(s);
  s->samples = malloc(PIPELINE_BUFFERS * cuts_samples_of_run(&s->cuts) * sizeof *s->samples);
  bool good = s->samples ? sort_pieces(s, done, s->shape->runs, failure) : error_no_memory(failure);
  free(s->samples);
  s->samples = NULL;
  return good;
}

// ---- what is kept between for a sort that goes on ----------------------------------------------

// In a file of its own, for each bucket: where the runs are cut, and a checksum of that.
enum { SUM_BYTES = sizeof(uint64_t) };

// Of the cuts of a bucket.
static uint64_t cuts_bytes(const external_sort_shape *shape) {
  return shape->runs * sizeof(uint64_t);
}

static bool read_kept(const sorting *s, uint64_t at, void *to, uint64_t bytes, error *failure) {
  external_place from = place_after(s->task->cuts, at);
  return disk_read(from.file, from.offset, to, bytes, failure);
}

static bool write_kept(const sorting *s, uint64_t at, const void *from, uint64_t bytes,
                       error *failure) {
  external_place to = place_after(s->task->cuts, at);
  return disk_write(to.file, to.offset, from, bytes, failure);
}

static bool keep_cuts(void *with, uint64_t bucket, error *failure) {
  sorting *s = with;
  const uint64_t *cuts = s->places + bucket * s->shape->runs;
  uint64_t each = cuts_bytes(s->shape), sum = disk_sum(cuts, each);
  uint64_t at = bucket * (each + SUM_BYTES);
  return write_kept(s, at, cuts, each, failure) &&
         write_kept(s, at + each, &sum, SUM_BYTES, failure) && report_piece(s, bucket, failure);
}

// The first of these that are what was kept: *found of them.
static bool read_cuts(const sorting *s, uint64_t count, uint64_t *found, error *failure) {
  uint64_t each = cuts_bytes(s->shape);
  bool good = true, same = true;
  for (*found = 0; *found < count && good && same; *found += good && same) {
    uint64_t sum = 0, at = *found * (each + SUM_BYTES);
    uint64_t *cuts = s->places + *found * s->shape->runs;
    good =
        read_kept(s, at, cuts, each, failure) && read_kept(s, at + each, &sum, SUM_BYTES, failure);
    same = good && disk_sum(cuts, each) == sum;
  }
  return good;
}

// ---- long rows ---------------------------------------------------------------------------------

static bool cut_runs(sorting *s, uint64_t first, error *failure) {
  uint64_t samples_bytes = cuts_samples(&s->cuts) * sizeof *s->samples;
  uint64_t *samples = array_memory(samples_bytes);
  external_place at = s->task->samples;
  s->cuts.keys = s->sources[0];
  s->cuts.keys.once = false;  // pieces read them, too
  s->cuts.room = array_memory(cuts_room(&s->cuts));
  s->cuts.found = keep_cuts;
  s->cuts.with = s;
  bool good = (samples && s->cuts.room) || error_no_memory(failure);
  good = good && disk_read(at.file, at.offset, samples, samples_bytes, failure) &&
         cuts_find(&s->cuts, samples, first, s->places, failure);
  free(samples);
  free(s->cuts.room);
  return good;
}

static bool find_cuts(sorting *s, uint64_t done, error *failure) {
  uint64_t all = s->shape->buckets + 1, found;
  s->places = malloc(all * s->shape->runs * sizeof *s->places);
  if (!s->places)
    return error_no_memory(failure);
  return read_cuts(s, done < all ? done : all, &found, failure) &&
         (found == all || cut_runs(s, found, failure));
}

// Its cuts are pieces, too, which come first.
static bool sort_buckets(sorting *s, uint64_t row, uint64_t done, error *failure) {
  uint64_t cuts = s->shape->buckets + 1;
  find_places(s, row * s->count, true, false);
  s->buckets = true;
  s->cuts.borders = s->borders;
  bool good = find_cuts(s, done, failure);
  s->before += cuts;
  good = good && sort_pieces(s, done > cuts ? done - cuts : 0, s->shape->buckets, failure);
  free(s->places);
  s->places = NULL;
  s->buckets = false;
  return good;
}

// Where the row's segments are.
static bool find_borders(sorting *s, error *failure) {
  return !s->segments || segments_scan(s->segments, s->row, 1, s->shape->run, s->borders, failure);
}

// What segments that runs share have left between is all read.
static bool check_between(const sorting *s, error *failure) {
  bool good = true;
  for (uint32_t c = 0; c < s->task->column_count && s->segments && good; c++)
    good = disk_verify_read(s->task->columns[c].between.file, failure);
  return good;
}

// What the row before has left between is overwritten: a sort does not go on in that any more.
static bool settle_row(const sorting *s, error *failure) {
  const external_sort *e = s->task;
  return s->before <= e->done || !e->settle || e->settle(e->with, s->before, failure);
}

// Row after row: `done` pieces are, of all.
static bool sort_long_rows(sorting *s, error *failure) {
  const external_sort_shape *shape = s->shape;
  uint64_t each = pieces_of_row(shape);
  bool good = true;
  for (uint64_t row = s->task->done / each; row < s->task->rows && good; row++) {
    uint64_t done = s->task->done > row * each ? s->task->done - row * each : 0;
    s->row = row;
    s->before = row * each;
    good = find_borders(s, failure) && settle_row(s, failure);
    good = good && (done >= shape->runs || sort_runs(s, row * s->count, done, failure));
    s->before += shape->runs;
    done = done > shape->runs ? done - shape->runs : 0;
    good = good && sort_buckets(s, row, done, failure) && check_between(s, failure);
  }
  return good;
}

uint64_t external_sort_between(const external_sort *s, const external_sort_shape *shape,
                               uint32_t c) {
  if (shape->fits || s->length == 0)
    return 0;
  return s->length * s->columns[c].size;
}

uint64_t external_sort_cuts(const external_sort *s, const external_sort_shape *shape) {
  bool none = shape->fits || s->length == 0;
  return none ? 0 : (shape->buckets + 1) * (cuts_bytes(shape) + SUM_BYTES);
}

uint64_t external_sort_samples(const external_sort *s, const external_sort_shape *shape) {
  if (shape->fits || s->length == 0)
    return 0;
  uint64_t whole = shape->runs - 1, last = s->length - whole * shape->run;
  return (whole * divide_up(shape->run, shape->step) + divide_up(last, shape->step)) *
         sizeof(uint64_t);
}

// Requests for so many stretches, which have so many bytes together.
static uint64_t requests_of(uint64_t stretches, uint64_t bytes) {
  return stretches * divide_up(divide_up(bytes, stretches), EXTERNAL_REQUEST);
}

void external_sort_add_traffic(const external_sort *s, const external_sort_shape *shape,
                               external_traffic *to) {
  uint64_t runs = s->rows * shape->runs, buckets = s->rows * shape->buckets;
  for (uint32_t c = 0; c < s->column_count && shape->pieces; c++) {
    const external_column *own = &s->columns[c];
    bool is_read = own->from.file || !c, is_written = own->to.file || c;
    uint64_t bytes = s->rows * s->length * own->size;
    to->reads += (is_read ? bytes : 0) + (shape->fits ? 0 : bytes);
    to->writes += (is_written ? bytes : 0) + (shape->fits ? 0 : bytes);
    to->requests += is_read ? requests_of(shape->fits ? shape->pieces : runs, bytes) : 0;
    to->requests += is_written ? requests_of(shape->fits ? shape->pieces : buckets, bytes) : 0;
    if (!shape->fits)  // runs are written, and of each bucket a stretch of each run is read
      to->requests += requests_of(runs, bytes) + requests_of(buckets * shape->runs, bytes);
  }
  // Offsets are looked at, and then cut pieces.
  to->reads += 2 * s->rows * s->offsets.count * sizeof(uint64_t) * !s->offsets.table;
  // Samples are written, and read; of each cut, a stretch of each run but its own.
  if (!shape->fits)
    to->requests += s->rows * (shape->runs + 1 + (shape->buckets - 1) * (shape->runs - 1));
}

static bool sort_rows(sorting *s, error *failure) {
  if (!s->shape->fits)
    return sort_long_rows(s, failure);
  find_places(s, 0, false, false);
  return (!s->segments || segments_scan(s->segments, 0, s->task->rows, 0, NULL, failure)) &&
         sort_pieces(s, s->task->done, s->shape->pieces, failure);
}

static bool make_segments(sorting *s) {
  const external_sort *e = s->task;
  if (!e->offsets.count)
    return true;
  s->segments = malloc(sizeof *s->segments);
  s->borders = s->shape->fits ? NULL : malloc((s->shape->runs + 1) * sizeof *s->borders);
  if (!s->segments || (!s->borders && !s->shape->fits))
    return false;
  *s->segments = (segments){.offsets = e->offsets,
                            .rows = e->rows,
                            .length = e->length,
                            .disk = e->disk,
                            .memory = e->memory / 2};
  return true;
}

bool external_sort_run(const external_sort *e, const external_sort_shape *shape, error *failure) {
  sorting s = {.task = e,
               .shape = shape,
               .sources = calloc(e->column_count, sizeof *s.sources),
               .targets = calloc(e->column_count, sizeof *s.targets),
               .last = calloc(e->column_count, sizeof *s.last)};
  s.count = shape->fits ? e->rows * e->length : e->length;
  s.cuts = (run_cuts){.order = key_order_of(e->type, e->descending, e->bits),
                      .count = e->length,
                      .run = shape->run,
                      .runs = shape->runs,
                      .step = shape->step,
                      .buckets = shape->buckets,
                      .disk = e->disk,
                      .threads = e->threads,
                      .interrupted = e->interrupted};
  bool good = (s.sources && s.targets && s.last && make_segments(&s)) || error_no_memory(failure);
  good = good && (!shape->pieces || sort_rows(&s, failure));
  free(s.sources);
  free(s.targets);
  free(s.last);
  free(s.segments);
  free(s.borders);
  return good;
}
