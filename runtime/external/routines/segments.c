// Offsets: whether they are in order, which segment has a key, where segments begin. See
// segments.h.
#include "runtime/external/routines/segments.h"

#include "runtime/external/routines/scan.h"

// ---- all offsets of some rows ------------------------------------------------------------------

typedef struct scanning {
  segments *of;
  uint64_t run;
  segment_border *borders;
  uint64_t border;  // the next one
  uint64_t last;    // offset
} scanning;

static uint64_t place_of_border(const scanning *s) {
  uint64_t at = s->border * s->run;
  return at < s->of->length ? at : s->of->length;
}

// Borders before `end`, which offset number `next` is, or the row's end.
static void add_borders(scanning *s, uint64_t next, uint64_t end, bool is_segment) {
  while (s->borders && place_of_border(s) < end) {
    uint64_t at = place_of_border(s);
    bool inside = is_segment && s->last < at;
    s->borders[s->border++] = (segment_border){inside ? s->last : at, inside ? end : at, next};
  }
}

static bool look_at_part(void *with, const scan_part *p, error *failure) {
  scanning *s = with;
  const segments *of = s->of;
  const uint64_t *offsets = p->keys;
  (void)failure;
  for (uint64_t row = 0; row < p->rows; row++)
    for (uint64_t i = 0, number = p->start; i < p->length; i++, number++) {
      uint64_t end = *offsets++;
      s->of->wrong |= (number > 0 && end < s->last) || end > of->length;
      add_borders(s, number, end < of->length ? end : of->length, number > 0);
      s->last = end;
    }
  return true;
}

static void forget_borders(scanning *s) {
  s->border = 0;
  add_borders(s, s->of->offsets.count, s->of->length, false);
}

bool segments_scan(segments *s, uint64_t row, uint64_t rows, uint64_t run, segment_border *borders,
                   error *failure) {
  const external_offsets *o = &s->offsets;
  uint64_t first = row * o->count;
  scanning x = {.of = s, .run = run, .borders = borders};
  scan all = {.by = s->by,
              .from = place_after(o->from, first * sizeof(uint64_t)),
              .size = sizeof(uint64_t),
              .rows = rows,
              .length = o->count,
              .most_rows = rows,
              .with = &x,
              .work = look_at_part};
  s->wrong = false;
  bool good = o->table ? look_at_part(&x,
                                      &(scan_part){.rows = rows,
                                                   .length = o->count,
                                                   .keys = (const uint64_t *)o->table + first},
                                      failure)
                       : scan_run(&all, failure);
  add_borders(&x, o->count, s->length, false);
  if (s->wrong)
    forget_borders(&x);
  if (borders)
    borders[x.border] = (segment_border){s->length, s->length, o->count};
  return good;
}

// ---- segments of a stretch ---------------------------------------------------------------------

// Offset `number` of all rows', which are read some at a time.
static bool offset_at(segments *s, uint64_t number, uint64_t *value, error *failure) {
  const external_offsets *o = &s->offsets;
  if (o->table) {
    *value = ((const uint64_t *)o->table)[number];
    return true;
  }
  if (number - s->first >= s->count) {
    uint64_t left = s->rows * o->count - number;
    external_place at = place_after(o->from, number * sizeof *value);
    s->first = number;
    s->count = left < SEGMENTS_SOME ? left : SEGMENTS_SOME;
    if (!disk_read(at.file, at.offset, s->values, s->count * sizeof *value, failure))
      return s->count = 0, false;
  }
  *value = s->values[number - s->first];
  return true;
}

bool segments_cut(segments *s, uint64_t row, uint64_t first, uint64_t count, uint64_t next,
                  uint64_t *begins, uint64_t *found, error *failure) {
  uint64_t at = first, last = first + count, end, all = s->offsets.count;
  *found = 0;
  for (uint64_t i = s->wrong ? all : next; at < last; i++) {
    end = last;
    if (i < all && !offset_at(s, row * all + i, &end, failure))
      return false;
    end = end < last ? end : last;
    bool is_segment = i > 0 && i < all;
    for (; at < end; at = is_segment ? end : at + 1)
      begins[(*found)++] = at - first;
  }
  begins[*found] = count;
  return true;
}
