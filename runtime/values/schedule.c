// Schedules of permutations (core/permutation/schedule.h) as files. One that is read is the array
// of the permutation's images; an array of integers that is written must be a permutation.
//
//   89 'P' 'E' 'R' 'M' 'S' 0d 0a   version (u32, 1)   form (u32)   length (u64)
//   rows, width (u32)   hashes of the steps (3 x u64)   hash of all this (u64)
//   form 0           steps 0, 1, 2 (u16 each, rows x width of them), little-endian
//   forms 1, 2, 3    a rotation, an affine map, an exchange of dimensions (core/permutation/recognise.h):
//                    `rows` is how many numbers (u64) describe it, of which the first hash is; there are
//                    no steps
//   forms 4, 5       elements stay in rows of `width`, or in `width` columns: one step (u16, one for each
//                    element): its place in its row, or the row of its place; `rows` is 0
#include "core/permutation/schedule.h"
#include "core/hash.h"
#include "core/permutation/recognise.h"
#include "runtime/system/pool.h"
#include "runtime/values/formats.h"

#include <inttypes.h>

enum { SCHEDULE_VERSION = 1, HEADER = 64 };
static const char magic[8] = "\x89PERMS\r\n";

typedef struct schedule_header {
  char magic[8];
  uint32_t version, form;
  uint64_t length;
  uint32_t rows, width;
  uint64_t steps[SCHEDULE_STEPS], own;
} schedule_header;
_Static_assert(sizeof(schedule_header) == HEADER, "there are no gaps");

// By form.
static const movement_kind forms[] = {MOVES_ANYHOW,      MOVES_BY_ROTATION, MOVES_BY_AFFINE_MAP,
                                      MOVES_BY_EXCHANGE, MOVES_IN_ROWS,     MOVES_IN_COLUMNS};
enum { FORMS = sizeof forms / sizeof *forms, FORM_IN_ROWS = 4, LINE_MOST = 1 << 16 };

// Places in a row, or in a column: of a step of forms 4 and 5.
static uint64_t line_length(const schedule_header *h) {
  return h->form == FORM_IN_ROWS ? h->width : h->length / h->width;
}

static bool is_line(const schedule_header *h) { return h->form >= FORM_IN_ROWS; }

static uint64_t header_hash(const schedule_header *h) {
  return hash_bytes(h, offsetof(schedule_header, own));
}

// Memory for all steps, which begins at steps[0].
static bool allocate_steps(permutation_schedule *s) {
  uint64_t cells = schedule_cells(s);
  s->steps[0] = array_memory(SCHEDULE_STEPS * cells * sizeof **s->steps);
  s->steps[1] = s->steps[0] + cells;
  s->steps[2] = s->steps[1] + cells;
  return s->steps[0] != NULL;
}

// ---- reading ----------------------------------------------------------------------------------

static const char damaged[] = "the schedule is damaged; make it again with permc schedule";

static bool is_shape(const schedule_header *h) {
  if (h->form < FORMS && is_line(h))
    return h->rows == 0 && h->width != 0 && h->length % h->width == 0 &&
           line_length(h) <= LINE_MOST && h->length <= SCHEDULE_LENGTH_MAX;
  if (h->form != 0)
    return h->form < FORMS && h->rows <= MOVEMENT_NUMBERS;
  return h->length <= SCHEDULE_LENGTH_MAX && h->width != 0 && (h->width & (h->width - 1)) == 0 &&
         h->width <= COLORING_DEGREE_MAX && h->rows <= COLORING_NODES_MAX &&
         h->rows == (h->length + h->width - 1) / h->width;
}

static bool read_header(value_source *s, schedule_header *h) {
  if (source_read_bytes(s, h, HEADER) != HEADER)
    return source_fail(s, "the file ends inside the header of a schedule");
  if (h->version != SCHEDULE_VERSION)
    return source_fail(s,
                       "a schedule of version %" PRIu32 "; this permc reads version %d: make it "
                       "again with permc schedule",
                       h->version, SCHEDULE_VERSION);
  return (header_hash(h) == h->own && is_shape(h)) || source_fail(s, damaged);
}

// Bytes behind the header.
static bool read_bytes(value_source *s, void *to, uint64_t bytes) {
  uint64_t found = source_read_bytes(s, to, (size_t)bytes);
  return found == bytes || source_fail_truncated(s, "bytes", bytes, found);
}

static bool read_movement(value_source *s, const schedule_header *h, movement *out) {
  uint64_t numbers[MOVEMENT_NUMBERS], bytes = h->rows * sizeof *numbers;
  return read_bytes(s, numbers, bytes) &&
         ((hash_bytes(numbers, (size_t)bytes) == h->steps[0] &&
           movement_read(out, forms[h->form], h->length, numbers, h->rows)) ||
          source_fail(s, damaged));
}

static bool read_steps(value_source *s, const schedule_header *h, permutation_schedule *out) {
  uint64_t bytes = schedule_cells(out) * sizeof **out->steps, all = SCHEDULE_STEPS * bytes, left;
  uint32_t seen[SCHEDULE_SEEN];
  if (!source_holds(s, all, &left))
    return source_fail_truncated(s, "bytes", all, left);
  if (!allocate_steps(out))
    return source_fail_memory(s, all);
  if (!read_bytes(s, out->steps[0], all))
    return false;
  bool good = true;
  for (int i = 0; i < SCHEDULE_STEPS; i++)
    good = good && hash_bytes(out->steps[i], (size_t)bytes) == h->steps[i];
  return (good && schedule_is_sound(out, seen)) || source_fail(s, damaged);
}

// The one step of movement in rows or columns, as out->steps[0].
static bool read_line(value_source *s, const schedule_header *h, permutation_schedule *out) {
  uint64_t bytes = h->length * sizeof **out->steps, left;
  if (!source_holds(s, bytes, &left))
    return source_fail_truncated(s, "bytes", bytes, left);
  out->steps[0] = array_memory(bytes + 1);
  if (!out->steps[0])
    return source_fail_memory(s, bytes);
  if (!read_bytes(s, out->steps[0], bytes))
    return false;
  bool good = hash_bytes(out->steps[0], (size_t)bytes) == h->steps[0];
  for (uint64_t i = 0; i < h->length && good; i++)
    good = out->steps[0][i] < line_length(h);
  return good || source_fail(s, damaged);
}

static uint64_t line_place(const schedule_header *h, const uint16_t *line, uint64_t i) {
  return h->form == FORM_IN_ROWS ? i / h->width * h->width + line[i]
                                 : line[i] * (uint64_t)h->width + i % h->width;
}

typedef struct images_job {
  const permutation_schedule *s;  // or, where it has no steps,
  const movement *m;
  const schedule_header *h;
  void *data;
  size_t size;
} images_job;

// Of elements; of a schedule by the places where they end.
static bool write_images(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const images_job *j = with;
  (void)worker;
#define WRITE(type)                                                                                \
  for (uint64_t i = first; i < last; i++)                                                          \
    if (is_line(j->h))                                                                             \
      ((type *)j->data)[i] = (type)line_place(j->h, j->s->steps[0], i);                            \
    else if (j->s->steps[0])                                                                       \
      ((type *)j->data)[schedule_origin(j->s, i)] = (type)i;                                       \
    else                                                                                           \
      ((type *)j->data)[i] = (type)movement_place(j->m, j->s->length, i);
  switch (j->size) {
  case 1:
    WRITE(uint8_t) break;
  case 2:
    WRITE(uint16_t) break;
  case 4:
    WRITE(uint32_t) break;
  default:
    WRITE(uint64_t)
  }
#undef WRITE
  return true;
}

// The type of the images: what is expected, if it holds them.
static bool choose_type(value_source *s, uint64_t length, array *out) {
  scalar_type type = s->expected.type == SCALAR_COUNT ? SCALAR_I64 : s->expected.type;
  if ((CLASS_OF(type) & CLASS_INTEGER) == 0)
    type = SCALAR_I64;
  if (!source_expects(s, type, 1))
    return false;
  uint32_t bits = 8 * (uint32_t)scalar_types[type].size - (CLASS_OF(type) & CLASS_SIGNED ? 1 : 0);
  if (bits < 64 && length > UINT64_C(1) << bits)
    return source_fail(s, "%s is too narrow for a permutation of %" PRIu64 " elements",
                       scalar_types[type].name, length);
  return array_create(out, type, 1, &length) || source_fail(s, "out of memory");
}

// That each row, or column, has each of its places once.
static bool check_lines(value_source *s, array *out) {
  uint64_t position, count = array_count(out);
  place_list p = {out->data, scalar_types[out->type].size, count};
  FREED uint32_t *seen = array_memory((count / 32 + 1) * sizeof *seen);
  bool good = seen && permutation_check(&p, seen, &position) == PERMUTATION_OK;
  if (!good) {
    source_fail(s, seen ? damaged : "out of memory");
    array_destroy(out);
  }
  return good;
}

bool schedule_read(value_source *s, array *out) {
  schedule_header h;
  if (!read_header(s, &h) || !fields_expect_none(s))
    return false;
  permutation_schedule read = {.length = h.length, .rows = h.rows, .width = h.width};
  movement moves;
  bool good = is_line(&h) ? read_line(s, &h, &read)
              : h.form    ? read_movement(s, &h, &moves)
                          : read_steps(s, &h, &read);
  good = good && choose_type(s, h.length, out);
  if (good) {
    images_job j = {&read, &moves, &h, out->data, scalar_types[out->type].size};
    out->permutation = true;
    pool_run(pool_processors(), h.length, 1 << 16, write_images, &j, NULL);
  }
  free(read.steps[0]);
  return good && (!is_line(&h) || check_lines(s, out));
}

// Byte by byte: no text begins with the first one, so that what ends behind it is a schedule that
// is cut.
bool schedule_begins(value_source *s) {
  size_t have = 0;
  while (have < sizeof magic && source_fill(s, have + 1) &&
         s->at[have] == (unsigned char)magic[have])
    have++;
  return have == sizeof magic || (have > 0 && !source_fill(s, have + 1));
}

// ---- writing ----------------------------------------------------------------------------------

bool schedule_holds(const array *components, size_t count, error *e) {
  return (count == 1 && components->rank == 1) ||
         error_set(e, SPAN_NONE, "a schedule is of one array of integers: a permutation");
}

static bool report_fault(error *e, const array *a, const place_list *p, permutation_fault fault,
                         uint64_t position) {
  const unsigned char *found = (const unsigned char *)p->places + position * p->size;
  uint64_t first = 0, count = p->count;
  while (place_at(p, first) != place_at(p, position))
    first++;
  char shown[ELEMENT_TEXT];
  size_t length = number_print(shown, a->type, found, false);
  if (fault == PERMUTATION_TWICE)
    return error_set(e, SPAN_NONE,
                     "no permutation: index %.*s occurs twice, at positions %" PRIu64
                     " and %" PRIu64,
                     (int)length, shown, first, position);
  return error_set(e, SPAN_NONE,
                   "no permutation: index %.*s at position %" PRIu64
                   " is outside of an array of %" PRIu64 " element%s",
                   (int)length, shown, position, count, count == 1 ? "" : "s");
}

// The first negative number, which looks like a place where the type is as narrow; or p->count.
static uint64_t find_negative(const array *a, const place_list *p) {
  uint64_t i = p->count, sign = UINT64_C(1) << (8 * p->size - 1);
  if (scalar_types[a->type].kind == KIND_SIGNED && p->count > sign)
    for (i = 0; i < p->count && !(place_at(p, i) & sign); i++)
      ;
  return i;
}

static bool check_permutation(const array *a, const place_list *p, error *e) {
  uint64_t position;
  uint32_t *seen = array_memory((p->count / 32 + 1) * sizeof *seen);
  if (!seen)
    return error_no_memory(e);
  permutation_fault fault = permutation_check(p, seen, &position);
  free(seen);
  uint64_t negative = fault == PERMUTATION_OK ? find_negative(a, p) : p->count;
  if (negative < p->count)
    return report_fault(e, a, p, PERMUTATION_OUTSIDE, negative);
  return fault == PERMUTATION_OK || report_fault(e, a, p, fault, position);
}

// Makes the steps; the caller frees them.
static bool make_steps(permutation_schedule *s, const place_list *p, error *e) {
  schedule_means m = {.threads = pool_processors(), .pool = pool_run};
  m.scratch = array_memory(schedule_scratch(s, m.threads) * sizeof *m.scratch);
  bool good = m.scratch && allocate_steps(s);
  if (!good)
    error_set(e, SPAN_NONE, "there is no memory for a schedule of %" PRIu64 " elements", s->length);
  good = good && schedule_make(s, p, &m);
  free(m.scratch);
  return good;
}

// The header, of the movement's form, and what describes it.
static bool write_form(FILE *to, const movement *m, schedule_header *h, const void *bytes,
                       size_t count) {
  while (forms[h->form] != m->kind)
    h->form++;
  h->steps[0] = hash_bytes(bytes, count);
  h->own = header_hash(h);
  return fwrite(h, HEADER, 1, to) == 1 && fwrite(bytes, 1, count, to) == count;
}

static bool write_movement(FILE *to, const movement *m, schedule_header *h) {
  uint64_t numbers[MOVEMENT_NUMBERS];
  h->rows = movement_write(m, numbers);
  h->width = 0;
  return write_form(to, m, h, numbers, h->rows * sizeof *numbers);
}

static bool write_line(FILE *to, const place_list *p, const movement *m, schedule_header *h,
                       error *e) {
  size_t bytes = (size_t)h->length * sizeof(uint16_t);
  FREED uint16_t *line = array_memory(bytes + 1);
  if (!line)
    return error_set(e, SPAN_NONE, "there is no memory for a schedule of %" PRIu64 " elements",
                     h->length);
  for (uint64_t i = 0; i < h->length; i++)
    line[i] = (uint16_t)(m->kind == MOVES_IN_ROWS ? place_at(p, i) % m->width
                                                  : place_at(p, i) / m->width);
  h->rows = 0;
  h->width = (uint32_t)m->width;
  return write_form(to, m, h, line, bytes);
}

// Whether places in a row, or rows in a column, are numbers of 16 bits.
static bool fits_line(const movement *m, uint64_t length) {
  return m->kind == MOVES_IN_ROWS ? m->width <= LINE_MOST
                                  : m->kind == MOVES_IN_COLUMNS && length / m->width <= LINE_MOST;
}

static bool write_steps(FILE *to, const place_list *p, schedule_header *h, error *e) {
  permutation_schedule s = {.length = h->length, .rows = h->rows, .width = h->width};
  size_t cells = (size_t)schedule_cells(&s), size = sizeof **s.steps;
  bool good = make_steps(&s, p, e);
  for (int i = 0; i < SCHEDULE_STEPS && good; i++)
    h->steps[i] = hash_bytes(s.steps[i], cells * size);
  h->own = header_hash(h);
  good = good && fwrite(h, HEADER, 1, to) == 1 &&
         fwrite(s.steps[0], size, SCHEDULE_STEPS * cells, to) == SCHEDULE_STEPS * cells;
  free(s.steps[0]);
  return good;
}

bool schedule_write(FILE *to, const permc_value *v, error *e) {
  const array *a = v->components;
  uint64_t length = array_count(a);
  if ((CLASS_OF(a->type) & CLASS_INTEGER) == 0)
    return error_set(e, SPAN_NONE,
                     "a schedule is of a permutation, an array of integers, not of %s",
                     scalar_types[a->type].name);
  if (length > SCHEDULE_LENGTH_MAX)
    return error_set(e, SPAN_NONE, "a schedule has at most %" PRIu64 " elements, not %" PRIu64,
                     (uint64_t)SCHEDULE_LENGTH_MAX, length);
  place_list p = {a->data, scalar_types[a->type].size, length};
  permutation_schedule s = schedule_shape(length);
  schedule_header h = {
      .version = SCHEDULE_VERSION, .length = length, .rows = s.rows, .width = s.width};
  memcpy(h.magic, magic, sizeof magic);
  if (!check_permutation(a, &p, e))
    return false;
  movement m = recognise_movement(&p);
  return movement_is_simple(&m)  ? write_movement(to, &m, &h)
         : fits_line(&m, length) ? write_line(to, &p, &m, &h, e)
                                 : write_steps(to, &p, &h, e);
}
