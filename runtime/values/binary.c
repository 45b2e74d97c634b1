// Futhark's binary format, little-endian as permc is:
//
//   'b'  version (2)  rank  type (4 characters)  dims (rank x u64)  elements, row-major
//    62   02           01    20 69 33 32 " i32"   02 00 .. 00        01 00 00 00 02 00 00 00
//
// " c64" and "c128" are our extension of its type names.
#include "runtime/values/formats.h"

enum { BINARY_VERSION = 2, BINARY_HEADER = 7 };

// A type's name, four characters wide.
static void print_type(char out[5], scalar_type type) {
  snprintf(out, 5, "%4s", scalar_types[type].name);
}

static scalar_type parse_type(const unsigned char name[4]) {
  char known[5];
  for (scalar_type type = 0; type < SCALAR_COUNT; type++) {
    print_type(known, type);
    if (memcmp(known, name, 4) == 0)
      return type;
  }
  return SCALAR_COUNT;
}

// Type, rank and dims. The source then stands at the elements.
static bool read_header(value_source *s, array *out) {
  static const char short_header[] = "the file ends inside the header of an array";
  if (!source_fill(s, 2))
    return source_fail(s, short_header);
  if (s->at[1] != BINARY_VERSION)
    return source_fail(s, "binary data of version %u; only version 2 can be read",
                       (unsigned)s->at[1]);
  if (!source_fill(s, BINARY_HEADER))
    return source_fail(s, short_header);
  out->rank = s->at[2];
  out->type = parse_type(s->at + 3);
  char quote[QUOTE_SIZE];
  if (out->type == SCALAR_COUNT)
    return source_fail(s,
                       "the element type '%s' is unknown; the types are bool, i8 to i64, u8 to "
                       "u64, f16, bf16, f32, f64, c64, c128",
                       value_quote(quote, (const char *)s->at + 3, 4));
  if (out->rank > VALUE_MAX_RANK)
    return source_fail(s, "the array has %u dimensions; at most %d are possible",
                       (unsigned)out->rank, VALUE_MAX_RANK);
  size_t length = BINARY_HEADER + 8 * (size_t)out->rank;
  if (!source_fill(s, length))
    return source_fail(s, short_header);
  memcpy(out->dims, s->at + BINARY_HEADER, 8 * (size_t)out->rank);
  s->at += length;
  return true;
}

bool binary_read(value_source *s, array *out) {
  return read_header(s, out) && fields_expect_none(s) && source_expects(s, out->type, out->rank) &&
         source_read_array(s, out);
}

bool binary_write(FILE *to, const permc_value *v, error *e) {
  (void)e;
  for (const array *a = v->components; a < v->components + v->count; a++) {
    unsigned char header[BINARY_HEADER + 8 * VALUE_MAX_RANK];
    size_t length = BINARY_HEADER + 8 * (size_t)a->rank;
    char type[5];
    print_type(type, a->type);
    memcpy(header, (unsigned char[]){'b', BINARY_VERSION, (unsigned char)a->rank}, 3);
    memcpy(header + 3, type, 4);
    memcpy(header + BINARY_HEADER, a->dims, 8 * (size_t)a->rank);
    size_t size = scalar_types[a->type].size, elements = (size_t)array_count(a);
    if (fwrite(header, 1, length, to) != length || fwrite(a->data, size, elements, to) != elements)
      return false;
  }
  return true;
}
