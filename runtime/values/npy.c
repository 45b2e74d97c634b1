// NumPy's .npy format (numpy/lib/format.py, "NEP 1", versions 1.0 to 3.0):
//
//   93 'N' 'U' 'M' 'P' 'Y'  major minor  header length (u16; from version 2: u32)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }   spaces   '\n'
//   elements, row-major
//
// A structured descr, [('f0', '<u4'), ('', '|V4'), ('f1', [('re', '<f4'), ('im', '<f4')])], gives
// one array per field: nested fields flattened, padding ('', '|V4') skipped. Written are version
// 1.0 headers, byte for byte those of numpy.save.
#include "runtime/values/formats.h"

// ---- reading ----------------------------------------------------------------------------------

// One .npy that is being read.
typedef struct npy_reader {
  npy_header header;
  value_source *source;
  uint64_t start;  // of the value in its source
  value_error *error;
} npy_reader;

static bool all_own_order(const npy_header *h) {
  for (size_t f = 0; f < h->count; f++)
    if (h->fields[f].swapped)
      return false;
  return true;
}

// Room for `records` elements in each field's array.
static bool resize_fields(const npy_header *h, array *fields, uint64_t records) {
  for (size_t f = 0; f < h->count; f++) {
    size_t bytes = (size_t)records * scalar_types[h->fields[f].type].size;
    void *data = realloc(fields[f].data, bytes ? bytes : 1);
    if (!data)
      return false;
    fields[f].data = data;
  }
  return true;
}

// Spreads `count` records over the arrays, from element `to` on.
static void scatter(const npy_header *h, array *fields, const unsigned char *records, uint64_t to,
                    size_t count) {
  for (size_t f = 0; f < h->count; f++) {
    size_t size = scalar_types[h->fields[f].type].size, step = (size_t)h->record;
    const unsigned char *from = records + h->fields[f].offset;
    unsigned char *data = (unsigned char *)fields[f].data + to * size;
    for (size_t i = 0; i < count; i++, from += step, data += size)
      switch (size) {  // constant sizes make these moves, not calls
      case 1:
        memcpy(data, from, 1);
        break;
      case 2:
        memcpy(data, from, 2);
        break;
      case 4:
        memcpy(data, from, 4);
        break;
      case 8:
        memcpy(data, from, 8);
        break;
      default:
        memcpy(data, from, 16);
        break;
      }
  }
}

// Reads all records through the source's buffer. Where the size of the source is not known, the
// arrays begin with room for one buffer and grow as data comes.
static value_status split_records(npy_reader *r, array *fields, uint64_t records) {
  const npy_header *h = &r->header;
  value_source *s = r->source;
  uint64_t one_buffer = SOURCE_BUFFER / h->record;  // at least 1
  uint64_t capacity = s->size_known || records < one_buffer ? records : one_buffer;
  if (!resize_fields(h, fields, capacity))
    return source_fail(s, r->error, r->start, "out of memory");
  for (uint64_t done = 0; done < records;) {
    if (!source_fill(s, (size_t)h->record))
      return source_fail(s, r->error, r->start,
                         "the header promises %llu records, but only %llu follow",
                         (unsigned long long)records, (unsigned long long)done);
    uint64_t count = (uint64_t)(s->end - s->at) / h->record;
    count = count < records - done ? count : records - done;
    while (done + count > capacity) {
      capacity = 2 * capacity < records ? 2 * capacity : records;
      if (!resize_fields(h, fields, capacity))
        return source_fail(s, r->error, r->start, "out of memory");
    }
    scatter(h, fields, s->at, done, (size_t)count);
    s->at += count * h->record;
    done += count;
  }
  return VALUE_OK;
}

static value_status finish_fields(npy_reader *r, array *fields, uint64_t records) {
  const npy_header *h = &r->header;
  for (size_t f = 0; f < h->count; f++) {
    if (h->fields[f].swapped)
      value_swap_bytes(fields[f].data, fields[f].type, records);
    if (source_check_bools(r->source, &fields[f], r->error) != VALUE_OK)
      return VALUE_ERROR;
  }
  return VALUE_OK;
}

static void destroy_fields(array *fields, size_t count) {
  for (size_t f = 0; f < count; f++)
    array_destroy(&fields[f]);
  free(fields);
}

// All fields become pending arrays of the source.
static value_status read_structured(npy_reader *r) {
  npy_header *h = &r->header;
  value_source *s = r->source;
  uint64_t bytes, left;
  if (!value_size(h->record, h->rank, h->dims, &bytes))
    return source_fail(s, r->error, r->start, "the dimensions are too large");
  if (!source_holds(s, bytes, &left))
    return source_fail(s, r->error, r->start,
                       "the header promises %llu bytes of data, but only %llu follow",
                       (unsigned long long)bytes, (unsigned long long)left);
  array *fields = calloc(h->count, sizeof *fields);
  if (!fields)
    return source_fail(s, r->error, r->start, "out of memory");
  for (size_t f = 0; f < h->count; f++) {
    fields[f].type = h->fields[f].type;
    fields[f].rank = h->rank;
    memcpy(fields[f].dims, h->dims, sizeof h->dims);
  }
  uint64_t records = bytes / h->record;
  if (split_records(r, fields, records) != VALUE_OK ||
      finish_fields(r, fields, records) != VALUE_OK) {
    destroy_fields(fields, h->count);
    return VALUE_ERROR;
  }
  s->pending = fields;
  s->pending_count = h->count;
  s->pending_next = 0;
  return VALUE_OK;
}

static value_status read_plain(npy_reader *r, array *out) {
  const npy_header *h = &r->header;
  out->rank = h->rank;
  memcpy(out->dims, h->dims, sizeof h->dims);
  return source_take_array(r->source, out, !all_own_order(h), r->error);
}

// Behind the data only another .npy may follow: anything else means that the header lied. A pipe
// is not asked for more before the next value is.
static value_status check_end(npy_reader *r, array *out) {
  value_source *s = r->source;
  s->only_npy = true;
  uint64_t left;
  if (!s->size_known || !source_holds(s, 1, &left) || source_peek(s) == 0x93)
    return VALUE_OK;
  array_destroy(out);
  source_drop_pending(s);
  return source_fail(s, r->error, r->start, "%llu bytes follow the data that the header promises",
                     (unsigned long long)left);
}

static value_status read_value(npy_reader *r, value_expectation expected, array *out) {
  npy_header *h = &r->header;
  char mismatch[MISMATCH_SIZE];
  out->type = h->fields[0].type;
  if (!value_is_expected(expected, out->type, h->rank))
    return source_fail(r->source, r->error, r->start, "%s",
                       value_mismatch(mismatch, expected, out->type, h->rank));
  value_status status = h->structured ? read_structured(r) : read_plain(r, out);
  return status == VALUE_OK ? check_end(r, out) : status;
}

value_status npy_read(value_source *s, value_expectation expected, array *out, value_error *error) {
  npy_reader r = {.source = s, .start = source_offset(s), .error = error};
  value_status status = npy_read_header(s, &r.header, error);
  if (status == VALUE_OK)
    status = read_value(&r, expected, out);
  free(r.header.fields);
  return status;
}

// ---- writing ----------------------------------------------------------------------------------

// Element i of every component, one after the other, through a buffer.
static bool write_records(FILE *to, const array *components, size_t count) {
  unsigned char buffer[1 << 14];
  size_t used = 0;
  uint64_t records = array_count(&components[0]);
  for (uint64_t i = 0; i < records; i++)
    for (size_t c = 0; c < count; c++) {
      size_t size = scalar_types[components[c].type].size;
      if (used + size > sizeof buffer) {
        if (fwrite(buffer, 1, used, to) != used)
          return false;
        used = 0;
      }
      memcpy(buffer + used, (const unsigned char *)components[c].data + i * size, size);
      used += size;
    }
  return fwrite(buffer, 1, used, to) == used;
}

static bool same_dims(const array *a, const array *b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool npy_write(FILE *to, const array *components, size_t count, value_error *error) {
  if (count == 0) {
    value_fail(error, "a .npy file holds one array; there is none");
    return false;
  }
  for (size_t c = 1; c < count; c++)
    if (!same_dims(&components[0], &components[c])) {
      value_fail(error,
                 "a .npy file holds one array; the components of this tuple differ in shape");
      return false;
    }
  if (!npy_write_header(to, components, count, error))
    return false;
  if (count > 1)
    return write_records(to, components, count);
  uint64_t elements = array_count(&components[0]);
  return fwrite(components[0].data, scalar_types[components[0].type].size, (size_t)elements, to) ==
         elements;
}
