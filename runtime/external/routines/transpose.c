// Boxes that are read, transposed and written. See transpose.h.
#include "runtime/external/routines/transpose.h"

#include "core/number.h"
#include "core/units.h"
#include "runtime/routines/transpose.h"
#include "runtime/values/value.h"
#include <stdlib.h>

// ---- shape -------------------------------------------------------------------------------------

enum {
  BUFFERS = 4,            // two of boxes that are read and two of those that are written
  BLOCK_BYTES = 1 << 14,  // of a stretch, if memory is enough for it
  BOXES = 48,             // that there are at least, if blocks are so long
  LEAST_PART = 8,         // of the memory, that boxes have: smaller ones are very many
};

typedef enum side { FROM, TO } side;

static uint64_t distance(const external_transpose *t, side s, uint32_t d) {
  return dimension_distance(t->dimensions[d], s);
}

// Elements that stay together: of the dimension that is the innermost one before and after.
static uint64_t unit_of(const external_transpose *t, const uint64_t *box) {
  for (uint32_t d = 0; d < t->count; d++)
    if (t->dimensions[d].extent > 1 && distance(t, FROM, d) == 1 && distance(t, TO, d) == 1)
      return box[d] * t->size;
  return t->size;
}

// Stretches begin at the same byte of a page as in the file, if they are of some pages, and units
// stay whole.
static uint64_t pitch_of(uint64_t in_file, uint64_t least, uint64_t unit) {
  uint64_t aligned = least + (in_file - least) % DISK_PAGE;
  return least >= 2 * DISK_PAGE && aligned % unit == 0 ? aligned : least;
}

static void lay_out(const external_transpose *t, side s, const uint64_t *box, box_side *out) {
  uint32_t order[NET_DIMENSIONS];
  uint64_t unit = unit_of(t, box);
  bool inside = true;
  *out = (box_side){.bytes = t->size};
  dimensions_order(t->dimensions, t->count, s, order);
  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t d = order[i];
    uint64_t in_file = distance(t, s, d) * t->size;
    out->inside[d] = inside;
    out->pitches[d] = inside ? out->bytes : pitch_of(in_file, out->bytes, unit);
    out->bytes += (box[d] - 1) * out->pitches[d];
    inside = inside && box[d] == t->dimensions[d].extent;
  }
}

static void shape_box(const external_transpose *t, uint64_t least,
                      external_transpose_shape *shape) {
  for (uint32_t d = 0; d < t->count; d++)
    shape->box[d] = 1;
  for (side s = FROM; s <= TO; s++) {
    uint32_t order[NET_DIMENSIONS];
    dimensions_order(t->dimensions, t->count, s, order);
    dimensions_widen(t->dimensions, t->count, order, least, shape->box);
  }
  lay_out(t, FROM, shape->box, &shape->from);
  lay_out(t, TO, shape->box, &shape->to);
  shape->boxes = 1;
  for (uint32_t d = 0; d < t->count; d++)
    shape->boxes *= divide_up(t->dimensions[d].extent, shape->box[d]);
}

// The longest stretches that there is memory for, beside pages that no box has; but not longer than
// blocks if boxes become few.
bool external_transpose_fit(const external_transpose *t, external_transpose_shape *shape,
                            error *failure) {
  bool found = false;
  uint64_t used = 0;
  *shape = (external_transpose_shape){0};
  for (uint64_t least = 1; least > 0; least *= 2) {
    external_transpose_shape next = {0};
    shape_box(t, least, &next);
    uint64_t bytes = 2 * (next.from.bytes + next.to.bytes);
    if (bytes + (BUFFERS + 1) * 2 * DISK_PAGE > t->by.memory) {
      found = found && used >= t->by.memory / LEAST_PART;
      break;
    }
    if (next.boxes < BOXES && least * t->size > BLOCK_BYTES && found)
      break;
    *shape = next;
    used = bytes;
    found = true;
    if (next.boxes == 1)
      break;
  }
  char bytes[NUMBER_SPACE];
  return found ||
         error_set(failure, SPAN_NONE, "%s of memory are too few to transpose an array in files",
                   show_bytes(bytes, t->by.memory));
}

static uint64_t requests_of_side(const external_transpose *t, const uint64_t *box,
                                 const box_side *layout) {
  uint64_t stretches = 1, bytes = t->size;
  for (uint32_t d = 0; d < t->count; d++) {
    uint64_t extent = t->dimensions[d].extent;
    stretches *= layout->inside[d] ? divide_up(extent, box[d]) : extent;
    bytes *= layout->inside[d] ? box[d] : 1;
  }
  return stretches * divide_up(bytes, EXTERNAL_REQUEST);
}

uint64_t external_transpose_requests(const external_transpose *t,
                                     const external_transpose_shape *shape) {
  return requests_of_side(t, shape->box, &shape->from) +
         requests_of_side(t, shape->box, &shape->to);
}

// ---- boxes -------------------------------------------------------------------------------------

typedef struct transposing {
  const external_transpose *task;
  const external_transpose_shape *shape;
  char *memory;
  char *buffers[2][2];  // by side, and whether the box has an odd number
} transposing;

// A box: the first index of each dimension, and how many there are.
typedef struct box {
  uint64_t first[NET_DIMENSIONS], count[NET_DIMENSIONS];
} box;

// Boxes are in the order in which they are written, so that neighbours in a page come one after the
// other.
static box box_at(const transposing *s, uint64_t number) {
  const external_transpose *t = s->task;
  uint32_t order[NET_DIMENSIONS];
  box b;
  dimensions_order(t->dimensions, t->count, TO, order);
  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t d = order[i];
    uint64_t extent = t->dimensions[d].extent, each = s->shape->box[d],
             boxes = divide_up(extent, each);
    b.first[d] = number % boxes * each;
    b.count[d] = extent - b.first[d] < each ? extent - b.first[d] : each;
    number /= boxes;
  }
  return b;
}

static const box_side *side_of(const transposing *s, side which) {
  return which == FROM ? &s->shape->from : &s->shape->to;
}

static external_place place_of(const transposing *s, side which, const box *b) {
  const external_transpose *t = s->task;
  external_place at = which == FROM ? t->from : t->to;
  for (uint32_t d = 0; d < t->count; d++)
    at.offset += b->first[d] * distance(t, which, d) * t->size;
  return at;
}

// The box's first element begins at the same byte of a page as in the file.
static char *memory_of(const transposing *s, side which, uint64_t number, const box *b) {
  return s->buffers[which][number % 2] + place_of(s, which, b).offset % DISK_PAGE;
}

static bool add_stretches(const transposing *s, side which, uint64_t number, transfers *list) {
  const external_transpose *t = s->task;
  const box_side *layout = side_of(s, which);
  box b = box_at(s, number);
  external_place first = place_of(s, which, &b);
  char *memory = memory_of(s, which, number, &b);
  uint64_t bytes = t->size, stretches = 1;
  uint32_t order[NET_DIMENSIONS];
  dimensions_order(t->dimensions, t->count, which, order);
  for (uint32_t i = 0; i < t->count; i++)
    *(layout->inside[order[i]] ? &bytes : &stretches) *= b.count[order[i]];
  for (uint64_t k = 0; k < stretches; k++) {
    uint64_t in_file = 0, here = 0, rest = k;
    for (uint32_t i = 0; i < t->count; i++) {
      uint32_t d = order[i];
      if (layout->inside[d])
        continue;
      in_file += rest % b.count[d] * distance(t, which, d) * t->size;
      here += rest % b.count[d] * layout->pitches[d];
      rest /= b.count[d];
    }
    if (!transfers_add(list, place_after(first, in_file), memory + here, bytes, which == TO))
      return false;
  }
  return true;
}

static bool load_box(void *with, uint64_t number, transfers *list) {
  return add_stretches(with, FROM, number, list);
}

static bool store_box(void *with, uint64_t number, transfers *list) {
  return add_stretches(with, TO, number, list);
}

// What stays together is moved as a whole, also where the box ends within it.
static bool transpose_box(void *with, uint64_t number, error *failure) {
  const transposing *s = with;
  const external_transpose *t = s->task;
  box b = box_at(s, number);
  net_dimension dimensions[NET_DIMENSIONS];
  uint32_t count = 0;
  for (uint32_t d = 0; d < t->count; d++) {
    bool together = distance(t, FROM, d) == 1 && distance(t, TO, d) == 1;
    if (s->shape->box[d] > 1)
      dimensions[count++] =
          (net_dimension){together ? s->shape->box[d] : b.count[d],
                          s->shape->from.pitches[d] / t->size, s->shape->to.pitches[d] / t->size};
  }
  return routine_transpose(&(transpose_task){
             .bytes = t->size,
             .count = count,
             .dimensions = dimensions,
             .from = memory_of(s, FROM, number, &b),
             .to = memory_of(s, TO, number, &b),
             .crew = {.threads = t->by.threads, .interrupted = t->by.interrupted}}) ||
         error_set(failure, SPAN_NONE, "interrupted");
}

static bool report_box(void *with, uint64_t number, error *failure) {
  return means_report(&((const transposing *)with)->task->by, number + 1, failure);
}

static bool make_buffers(transposing *s) {
  uint64_t from = divide_up(s->shape->from.bytes, DISK_PAGE) * DISK_PAGE + DISK_PAGE,
           to = divide_up(s->shape->to.bytes, DISK_PAGE) * DISK_PAGE + DISK_PAGE;
  s->memory = array_memory(2 * (from + to) + DISK_PAGE);
  if (!s->memory)
    return false;
  char *at = s->memory + -(uintptr_t)s->memory % DISK_PAGE;
  for (int i = 0; i < 2; i++) {
    s->buffers[FROM][i] = at + (uint64_t)i * from;
    s->buffers[TO][i] = at + 2 * from + (uint64_t)i * to;
  }
  return true;
}

bool external_transpose_run(const external_transpose *t, const external_transpose_shape *shape,
                            error *failure) {
  transposing s = {.task = t, .shape = shape};
  pipeline p = {.disk = t->by.disk,
                .last = shape->boxes,
                .with = &s,
                .load = load_box,
                .work = transpose_box,
                .store = store_box,
                .done = report_box};
  bool good = make_buffers(&s) ? pipeline_run(&p, failure) : error_no_memory(failure);
  free(s.memory);
  return good;
}
