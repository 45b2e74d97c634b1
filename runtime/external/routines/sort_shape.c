// How rows that lie in files are cut into pieces to be sorted, and what that reads and writes. See
// sort.h.
#include "core/number.h"
#include "core/units.h"
#include "runtime/external/routines/sorting.h"
#include <inttypes.h>

enum {
  SAMPLE_BYTES = 24,       // of memory: its rank, and a sort of ranks
  SAMPLES_PART = 8,        // of the memory
  SLACK_PART = 16,         // of a buffer
  BLOCK_BYTES = 1 << 14,   // between samples, at most
  PIECES = 48,             // that a row has at least, so that reading, sorting and writing overlap,
  LEAST_PIECE = 16 << 20,  // ... of so many bytes or more
};

// Bytes of memory that a key takes: three buffers, and what a sort of them takes
// (runtime/routines/sort.c).
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

// As few runs as there can be, but some: keys of a run are a multiple of a page's, where there are
// so many.
static uint64_t choose_run(const external_sort *s, uint64_t most) {
  uint64_t few = divide_up(s->length, PIECES), least = LEAST_PIECE / s->columns[0].size;
  few = few > least ? few : least;
  uint64_t run = most < few ? most : few;
  return run > DISK_PAGE ? run / DISK_PAGE * DISK_PAGE : run;
}

uint64_t sorting_pieces_of_row(const external_sort_shape *s) {
  return s->runs + s->buckets + 1 + s->buckets;
}

static run_cuts cuts_of_row(const external_sort *s, const external_sort_shape *shape) {
  return (run_cuts){
      .count = s->length, .run = shape->run, .runs = shape->runs, .step = shape->step};
}

static bool fit_long_row(const external_sort *s, uint64_t most, external_sort_shape *shape) {
  if (most == 0)
    return false;
  shape->run = choose_run(s, most);
  shape->runs = divide_up(s->length, shape->run);
  // A bucket is of as many keys as a run, and of one stretch of each run besides.
  uint64_t block = BLOCK_BYTES / s->columns[0].size, step = shape->run / (4 * shape->runs),
           least = divide_up(s->length * SAMPLE_BYTES * SAMPLES_PART, s->by.memory);
  shape->step = block < 1 ? 1 : step < block ? step : block;
  if (shape->step < least || shape->step == 0)
    return false;
  run_cuts c = cuts_of_row(s, shape);
  shape->piece = shape->run;
  shape->buckets = divide_up(cuts_samples(&c), shape->run / shape->step - shape->runs);
  shape->pieces = s->rows * sorting_pieces_of_row(shape);
  return true;
}

bool external_sort_fit(const external_sort *s, external_sort_shape *shape, error *failure) {
  uint64_t room = s->by.memory - s->by.memory / SAMPLES_PART, each = bytes_of_key(s);
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
                           show_bytes(bytes, s->by.memory), s->length);
}

// ---- what is between, and moved ----------------------------------------------------------------

uint64_t external_sort_between(const external_sort *s, const external_sort_shape *shape,
                               uint32_t c) {
  if (shape->fits || s->length == 0)
    return 0;
  return s->length * s->columns[c].size;
}

uint64_t external_sort_samples(const external_sort *s, const external_sort_shape *shape) {
  if (shape->fits || s->length == 0)
    return 0;
  run_cuts c = cuts_of_row(s, shape);
  return cuts_samples(&c) * sizeof(uint64_t);
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
