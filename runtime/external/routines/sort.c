// Rows that lie in files are sorted piece by piece: rows that fit in memory, or of each longer one
// its runs and then its buckets. See sort.h, sorting.h.
#include "runtime/external/routines/sorting.h"
#include "runtime/values/value.h"
#include <stdlib.h>

// ---- a row after the other ---------------------------------------------------------------------

static bool report_piece(void *with, uint64_t piece, error *failure) {
  const sorting *s = with;
  return means_report(&s->task->by, s->before + piece + 1, failure);
}

static bool make_buffers(sorting *s) {
  uint64_t bytes = DISK_PAGE;
  for (uint32_t c = 0; c < s->task->column_count; c++)
    bytes += PIPELINE_BUFFERS * sorting_buffer_bytes(s, c);
  return (s->memory = array_memory(bytes)) != NULL;
}

static bool sort_pieces(sorting *s, uint64_t count, error *failure) {
  pipeline p = {.disk = s->task->by.disk,
                .last = count,
                .with = s,
                .load = sorting_load,
                .work = sorting_work,
                .store = sorting_store,
                .done = report_piece};
  bool good = make_buffers(s) ? pipeline_run(&p, failure) : error_no_memory(failure);
  free(s->memory);
  s->memory = NULL;
  return good;
}

static bool sort_runs(sorting *s, error *failure) {
  s->samples = malloc(PIPELINE_BUFFERS * cuts_samples_of_run(&s->cuts) * sizeof *s->samples);
  bool good = s->samples ? sort_pieces(s, s->shape->runs, failure) : error_no_memory(failure);
  free(s->samples);
  s->samples = NULL;
  return good;
}

// ---- long rows ---------------------------------------------------------------------------------

static bool cut_runs(sorting *s, error *failure) {
  uint64_t samples_bytes = cuts_samples(&s->cuts) * sizeof *s->samples;
  uint64_t *samples = array_memory(samples_bytes);
  external_place at = s->task->samples;
  s->cuts.keys = sorting_source(s, 0, 0);
  s->cuts.room = array_memory(cuts_room(&s->cuts));
  s->cuts.found = report_piece;
  s->cuts.with = s;
  bool good = (samples && s->cuts.room) || error_no_memory(failure);
  good = good && disk_read(at.file, at.offset, samples, samples_bytes, failure) &&
         cuts_find(&s->cuts, samples, s->places, failure);
  free(samples);
  free(s->cuts.room);
  return good;
}

// Its cuts are pieces, too, which come first.
static bool sort_buckets(sorting *s, error *failure) {
  s->buckets = true;
  s->cuts.borders = s->borders;
  s->places = malloc((s->shape->buckets + 1) * s->shape->runs * sizeof *s->places);
  bool good = s->places ? cut_runs(s, failure) : error_no_memory(failure);
  s->before += s->shape->buckets + 1;
  good = good && sort_pieces(s, s->shape->buckets, failure);
  free(s->places);
  s->places = NULL;
  s->buckets = false;
  return good;
}

// Where the row's segments are.
static bool find_borders(sorting *s, error *failure) {
  return !s->segments || segments_scan(s->segments, s->row, 1, s->shape->run, s->borders, failure);
}

// So many pieces of those by these means are done, if this run has done some of them.
static bool settle(const external_means *m, uint64_t pieces, error *failure) {
  return pieces <= m->done || !m->settle || m->settle(m->with, pieces, failure);
}

// What a row has left between is overwritten by the runs of the next one: the first is settled then.
static bool sort_long_rows(sorting *s, error *failure) {
  const external_sort_shape *shape = s->shape;
  const external_means *by = &s->task->by;
  uint64_t each = sorting_pieces_of_row(shape), before = by->before;
  uint64_t done = by->done > before ? by->done - before : 0;
  bool good = true;
  for (s->row = done / each; s->row < s->task->rows && good; s->row++) {
    s->before = s->row * each;
    good = find_borders(s, failure) && settle(by, before + s->before, failure) &&
           (done >= s->before + shape->runs || sort_runs(s, failure));
    s->before += shape->runs;
    good = good && settle(by, before + s->before, failure) && sort_buckets(s, failure);
  }
  return good;
}

static bool sort_rows(sorting *s, error *failure) {
  if (!s->shape->fits)
    return sort_long_rows(s, failure);
  return (!s->segments || segments_scan(s->segments, 0, s->task->rows, 0, NULL, failure)) &&
         sort_pieces(s, s->shape->pieces, failure);
}

static bool make_segments(sorting *s) {
  const external_sort *e = s->task;
  if (!e->offsets.count)
    return true;
  s->segments = malloc(sizeof *s->segments);
  s->borders = s->shape->fits ? NULL : malloc((s->shape->runs + 1) * sizeof *s->borders);
  s->begins = malloc((s->shape->piece + 1) * sizeof *s->begins);
  if (!s->segments || !s->begins || (!s->borders && !s->shape->fits))
    return false;
  *s->segments =
      (segments){.offsets = e->offsets, .rows = e->rows, .length = e->length, .by = &e->by};
  return true;
}

bool external_sort_run(const external_sort *e, const external_sort_shape *shape, error *failure) {
  sorting s = {.task = e, .shape = shape, .count = shape->fits ? e->rows * e->length : e->length};
  s.cuts = (run_cuts){.order = e->order,
                      .count = e->length,
                      .run = shape->run,
                      .runs = shape->runs,
                      .step = shape->step,
                      .buckets = shape->buckets,
                      .by = &e->by};
  bool good = make_segments(&s) || error_no_memory(failure);
  good = good && (!shape->pieces || sort_rows(&s, failure));
  free(s.segments);
  free(s.borders);
  free(s.begins);
  return good;
}
