// Futhark's binary format, little endian whatever the machine:
//
//   'b'  version (2)  rank  type (4 characters)  dims (rank x u64)  elements, row-major
//    62   02           01    20 69 33 32 " i32"   02 00 .. 00        01 00 00 00 02 00 00 00
//
// " c64" and "c128" are our extension of its type names.
#include "runtime/values/formats.h"

enum { BINARY_VERSION = 2, BINARY_HEADER = 7 };

static const char binary_names[SCALAR_COUNT][5] = {
    [SCALAR_BOOL] = "bool", [SCALAR_I8] = "  i8",   [SCALAR_I16] = " i16", [SCALAR_I32] = " i32",
    [SCALAR_I64] = " i64",  [SCALAR_U8] = "  u8",   [SCALAR_U16] = " u16", [SCALAR_U32] = " u32",
    [SCALAR_U64] = " u64",  [SCALAR_F16] = " f16",  [SCALAR_F32] = " f32", [SCALAR_F64] = " f64",
    [SCALAR_C64] = " c64",  [SCALAR_C128] = "c128",
};

static scalar_type binary_type(const unsigned char name[4]) {
  int type = 0;
  while (type < SCALAR_COUNT && memcmp(binary_names[type], name, 4) != 0)
    type++;
  return (scalar_type)type;
}

static uint64_t little_u64(const unsigned char bytes[8]) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; i--)
    value = value << 8 | bytes[i];
  return value;
}

// Type, rank and dims. The source then stands at the elements.
static value_status read_header(value_source *s, array *out, value_error *error) {
  uint64_t start = source_offset(s);
  if (!source_fill(s, 2))
    return source_fail(s, error, start, "binary data ends inside its header");
  if (s->at[1] != BINARY_VERSION)
    return source_fail(s, error, start, "binary data of version %u, but only version 2 is known",
                       (unsigned)s->at[1]);
  if (!source_fill(s, BINARY_HEADER))
    return source_fail(s, error, start, "binary data ends inside its header");
  out->rank = s->at[2];
  out->type = binary_type(s->at + 3);
  char quote[QUOTE_SIZE];
  if (out->type == SCALAR_COUNT)
    return source_fail(s, error, start, "unknown element type '%s'",
                       value_quote(quote, (const char *)s->at + 3, 4));
  if (out->rank > VALUE_MAX_RANK)
    return source_fail(s, error, start, "%u dimensions, but the most is %d", (unsigned)out->rank,
                       VALUE_MAX_RANK);
  if (!source_fill(s, BINARY_HEADER + 8 * (size_t)out->rank))
    return source_fail(s, error, start, "binary data ends inside its header");
  for (uint32_t i = 0; i < out->rank; i++)
    out->dims[i] = little_u64(s->at + BINARY_HEADER + 8 * i);
  s->at += BINARY_HEADER + 8 * (size_t)out->rank;
  return VALUE_OK;
}

value_status binary_read(value_source *s, value_expectation expected, array *out,
                         value_error *error) {
  uint64_t start = source_offset(s);
  char mismatch[MISMATCH_SIZE];
  if (read_header(s, out, error) != VALUE_OK)
    return VALUE_ERROR;
  if (!value_is_expected(expected, out->type, out->rank))
    return source_fail(s, error, start, "%s",
                       value_mismatch(mismatch, expected, out->type, out->rank));
  return source_take_array(s, out, HOST_BIG_ENDIAN, error);
}

// ---- writing ----------------------------------------------------------------------------------

static bool write_elements(FILE *to, const array *a) {
  size_t size = scalar_types[a->type].size;
  uint64_t count = array_count(a);
  if (!HOST_BIG_ENDIAN)
    return fwrite(a->data, size, (size_t)count, to) == count;
  char chunk[4096];
  for (uint64_t done = 0; done < count;) {
    uint64_t take = sizeof chunk / size < count - done ? sizeof chunk / size : count - done;
    memcpy(chunk, (const char *)a->data + done * size, (size_t)take * size);
    value_swap_bytes(chunk, a->type, take);
    if (fwrite(chunk, size, (size_t)take, to) != take)
      return false;
    done += take;
  }
  return true;
}

bool binary_write(FILE *to, const array *components, size_t count) {
  for (size_t c = 0; c < count; c++) {
    const array *a = &components[c];
    unsigned char header[BINARY_HEADER + 8 * VALUE_MAX_RANK] = {'b', BINARY_VERSION,
                                                                (unsigned char)a->rank};
    memcpy(header + 3, binary_names[a->type], 4);
    for (uint32_t i = 0; i < a->rank; i++)
      for (uint32_t byte = 0; byte < 8; byte++)
        header[BINARY_HEADER + 8 * i + byte] = (unsigned char)(a->dims[i] >> (8 * byte));
    size_t length = BINARY_HEADER + 8 * (size_t)a->rank;
    if (fwrite(header, 1, length, to) != length || !write_elements(to, a))
      return false;
  }
  return true;
}
