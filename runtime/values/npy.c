// NumPy's .npy format (numpy/lib/format.py, "NEP 1", versions 1.0 to 3.0):
//
//   93 'N' 'U' 'M' 'P' 'Y'  major minor  header length (u16; from version 2: u32)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }   spaces   '\n'
//   elements, row-major
//
// A structured descr, [('f0', '<u4'), ('', '|V4'), ('f1', [('re', '<f4'), ('im', '<f4')])], gives
// one array per field: nested fields flattened ('f1.re', 'f1.im'), padding ('', '|V4') skipped.
// Written are version 1.0 headers, byte for byte those of numpy.save; see write_dictionary.
#include "core/sizes.h"
#include "runtime/values/formats.h"

#include <errno.h>

// ---- reading ----------------------------------------------------------------------------------

// Memory for `records` elements in each field's array.
static bool resize_fields(value_source *s, const npy_header *h, array *fields, uint64_t held,
                          uint64_t records) {
  bool good = source_fits(s, held * h->record, records * h->record);
  for (size_t f = 0; good && f < h->count; f++) {
    size_t size = scalar_types[h->fields[f].type].size;
    void *data = source_grow(s, fields[f].data, held * size, records * size);
    fields[f].data = data ? data : fields[f].data;
    good = data;
  }
  return good;
}

// Spreads `count` records over the arrays, from element `to` on.
static void copy_records_to_fields(const npy_header *h, array *fields, const unsigned char *records,
                                   uint64_t to, size_t count) {
  for (size_t f = 0; f < h->count; f++) {
    size_t size = scalar_types[h->fields[f].type].size, step = (size_t)h->record;
    const unsigned char *from = records + h->fields[f].offset;
    unsigned char *data = (unsigned char *)fields[f].data + to * size;
#define SPREAD(U)                                                                                  \
  for (size_t i = 0; i < count; i++, from += step, data += (U))                                    \
    memcpy(data, from, (U));
    FOR_ELEMENT_SIZE(size, SPREAD)
  }
}

// Reads all records through the source's buffer. Where the size of the source is not known, the
// arrays begin with one buffer's records and grow as data comes.
static bool read_records(value_source *s, const npy_header *h, array *fields, uint64_t records) {
  uint64_t one_buffer = SOURCE_BUFFER / h->record;  // at least 1
  uint64_t capacity = s->size_known || records < one_buffer ? records : one_buffer;
  bool good = resize_fields(s, h, fields, 0, capacity);
  for (uint64_t done = 0; good && done < records;) {
    if (!source_fill(s, (size_t)h->record))
      return source_fail_truncated(s, "records", records, done);
    uint64_t count = (uint64_t)(s->end - s->at) / h->record;
    count = count < records - done ? count : records - done;
    while (good && done + count > capacity) {
      uint64_t held = capacity;
      capacity = 2 * capacity < records ? 2 * capacity : records;
      good = resize_fields(s, h, fields, held, capacity);
    }
    if (!good)
      break;
    copy_records_to_fields(h, fields, s->at, done, (size_t)count);
    s->at += count * h->record;
    done += count;
  }
  return good;
}

static bool leave_fields(value_source *s, const npy_header *h, array *fields, uint64_t bytes) {
  for (size_t f = 0; f < h->count; f++)
    if (!source_leave_array(s, &fields[f], h->fields[f].offset, h->record, h->fields[f].swapped))
      return false;
  return source_skip(s, bytes) || source_fail(s, "%s", strerror(errno));
}

// All fields become pending arrays of the source, which frees them also after an error.
static bool read_structured(value_source *s, const npy_header *h) {
  uint64_t bytes;
  if (!source_check_size(s, h->record, h->rank, h->dims, &bytes))
    return false;
  array *fields = calloc(h->count, sizeof *fields);
  if (!fields)
    return source_fail(s, "out of memory");
  for (size_t f = 0; f < h->count; f++) {
    fields[f] = (array){.type = h->fields[f].type, .rank = h->rank};
    memcpy(fields[f].dims, h->dims, sizeof h->dims);
  }
  s->pending = fields;
  if (source_may_leave(s, bytes))
    return leave_fields(s, h, fields, bytes);
  bool good = read_records(s, h, fields, bytes / h->record);
  for (size_t f = 0; good && f < h->count; f++) {
    if (h->fields[f].swapped)
      elements_swap(fields[f].type, fields[f].data, array_count(&fields[f]));
    array_make_truths(&fields[f]);
  }
  return good;
}

// `readable`: the number of a field that can be read, or the number of all.
static bool fail_foreign_field(value_source *s, size_t field, const char *why, size_t readable) {
  FREED_BY(text_free) text example = {0};
  s->fields.wanted[0] = readable;
  if (readable < s->fields.width)
    value_print_fields(&example, s, 1);
  source_fail(s, "field '%.60s': %s%s%.100s", s->fields.names[field], why,
              example.length ? "; choose others, as in " : "", text_content(&example));
  return false;
}

// Of the fields only those that are wanted, in their order.
static bool choose_fields(value_source *s, npy_header *h) {
  if (!h->structured)
    return fields_expect_none(s);
  npy_field *wanted = fields_choose(s) ? malloc(s->fields.count * sizeof *wanted) : NULL;
  if (!wanted)
    return source_fail(s, "out of memory");
  size_t readable = 0;
  while (readable < h->count && *h->fields[readable].foreign)
    readable++;
  bool good = true;
  for (size_t f = 0; f < s->fields.count && good; f++) {
    wanted[f] = h->fields[s->fields.wanted[f]];
    good = !*wanted[f].foreign ||
           fail_foreign_field(s, s->fields.wanted[f], wanted[f].foreign, readable);
  }
  free(h->fields);
  h->fields = wanted;
  h->count = s->fields.count;
  return good;
}

static bool read_plain(value_source *s, const npy_header *h, array *out) {
  out->rank = h->rank;
  memcpy(out->dims, h->dims, sizeof h->dims);
  uint64_t bytes;
  if (!source_check_size(s, h->record, h->rank, h->dims, &bytes))
    return false;
  if (source_may_leave(s, bytes))
    return source_leave_array(s, out, 0, h->record, h->fields[0].swapped) &&
           (source_skip(s, bytes) || source_fail(s, "%s", strerror(errno)));
  if (!source_read_array(s, out))
    return false;
  if (h->fields[0].swapped)
    elements_swap(out->type, out->data, array_count(out));
  return true;
}

// After the data only another .npy may follow: anything else means that the header is wrong. A pipe
// is not asked for more before the next value is.
static bool check_end(value_source *s, array *out) {
  uint64_t left;
  s->only_npy = true;
  if (!s->size_known || !source_holds(s, 1, &left) || source_peek(s) == 0x93)
    return true;
  array_destroy(out);
  return source_fail(s,
                     "the file has %llu byte%s more than its header announces; it may be damaged",
                     (unsigned long long)left, left == 1 ? "" : "s");
}

bool npy_read(value_source *s, array *out) {
  npy_header h = {0};
  bool good = npy_read_header(s, &h) && choose_fields(s, &h);
  if (good)
    out->type = h.fields[0].type;
  good = good && source_expects(s, out->type, h.rank) &&
         (h.structured ? read_structured(s, &h) : read_plain(s, &h, out)) && check_end(s, out);
  if (!good)
    source_drop_pending(s);
  free(h.fields);
  return good;
}

// ---- writing ----------------------------------------------------------------------------------

// Element i of every component, one after the other.
static bool write_records(FILE *to, const array *components, size_t count) {
  uint64_t records = array_count(&components[0]);
  for (uint64_t i = 0; i < records; i++)
    for (size_t c = 0; c < count; c++) {
      size_t size = scalar_types[components[c].type].size;
      fwrite_unlocked((const char *)components[c].data + i * size, size, 1, to);
    }
  return !ferror(to);
}

bool npy_holds(const array *components, size_t count, error *e) {
  if (count == 0)
    return error_set(e, SPAN_NONE,
                     "a .npy file holds one array, but this value has none; write it as text");
  for (size_t c = 1; c < count; c++)
    if (components[c].rank != components[0].rank ||
        memcmp(components[c].dims, components[0].dims, components[0].rank * sizeof(uint64_t)))
      return error_set(e, SPAN_NONE,
                       "a .npy file holds one array, but the components of this tuple differ in "
                       "shape; write it as text or .bin");
  return true;
}

bool npy_write(FILE *to, const permc_value *v, error *e) {
  if (!npy_write_header(to, v, 0, e))
    return false;
  if (v->count > 1)
    return write_records(to, v->components, v->count);
  const array *a = &v->components[0];
  size_t elements = (size_t)array_count(a);
  return fwrite(a->data, scalar_types[a->type].size, elements, to) == elements;
}
