// What the readers and writers of value formats share: for runtime/value*.c only.
//
//   values/source.c  bytes of files and pipes, in hand or taken straight into arrays
//   value.c         which format? -> one of the readers below
//   values/text.c    text_read     text_write     values/number.c  its numbers
//   values/binary.c  binary_read   binary_write
//   values/npy.c     npy_read      npy_write      values/npy_header.c  its header
//
// A reader is called with the source at the first byte of a value. It owns nothing after an error.
#ifndef PERMC_RUNTIME_VALUES_FORMATS_H
#define PERMC_RUNTIME_VALUES_FORMATS_H

#include "runtime/values/value.h"

// ---- the bytes of a source --------------------------------------------------------------------

enum {
  SOURCE_BUFFER = 1 << 16,  // bytes read ahead; the most that source_fill can bring together
  SOURCE_NAME = 160,        // longer names lose their beginning, so that messages keep their end
};

struct value_source {
  char name[SOURCE_NAME];
  const unsigned char *at, *end;  // bytes in hand
  unsigned char *buffer;          // NULL: all bytes are in hand, in the caller's memory
  int descriptor;                 // -1: nothing is left to read
  bool owns_descriptor;
  bool size_known;      // a regular file or memory
  uint64_t unread;      // then: bytes behind `end`
  uint64_t loaded;      // offset of `end`
  int failure;          // errno of a failed read
  uint64_t line;        // of `at`, from 1
  uint64_t line_start;  // offset of its first byte
  bool only_npy;        // a .npy was read: only another may follow
  array *pending;       // fields of a structured .npy that were not asked for yet
  size_t pending_count, pending_next;
};

// At least `want` (<= SOURCE_BUFFER) bytes in hand, one after the other; false if the source ends
// before.
bool source_fill(value_source *s, size_t want);
static inline int source_peek(value_source *s) {
  return s->at < s->end || source_fill(s, 1) ? *s->at : -1;
}
static inline uint64_t source_offset(const value_source *s) {
  return s->loaded - (uint64_t)(s->end - s->at);
}
// Moves up to `count` bytes to `to`, straight from the file where they are not in hand yet.
size_t source_take(value_source *s, void *to, size_t count);
// False if fewer than `count` bytes are known to be left; *left then says how many.
bool source_holds(const value_source *s, uint64_t count, uint64_t *left);
void source_drop_pending(value_source *s);

// ---- messages ---------------------------------------------------------------------------------

void value_fail(value_error *error, const char *format, ...) PRINTF_LIKE(2, 3);
// "NAME: text", with "byte N: " between them for N > 0 (or the operating system's reason, if a
// read failed). Always VALUE_ERROR.
value_status source_fail(const value_source *s, value_error *error, uint64_t offset,
                         const char *format, ...) PRINTF_LIKE(4, 5);

enum { QUOTE_SIZE = 80 };
// Up to 40 bytes of foreign text made printable; returns `out`.
const char *value_quote(char out[QUOTE_SIZE], const char *bytes, size_t count);

bool value_is_expected(value_expectation expected, scalar_type type, uint32_t rank);
enum { MISMATCH_SIZE = 160 };
// "expected []f32, found [][]i64"; returns `out`.
const char *value_mismatch(char out[MISMATCH_SIZE], value_expectation expected, scalar_type type,
                           uint32_t rank);

// ---- array data -------------------------------------------------------------------------------

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST_BIG_ENDIAN true
#else
#define HOST_BIG_ENDIAN false
#endif

// The bytes of elements of `size` bytes along dims; false if any product of the dims overflows
// (zeros do not hide it: strides are products too).
bool value_size(uint64_t size, uint32_t rank, const uint64_t *dims, uint64_t *bytes);
// The elements of a as they lie in the source, into a->data (allocated; grown as they arrive where
// the source's size is not known). type, rank and dims are set. swapped: of the other byte order.
value_status source_take_array(value_source *s, array *a, bool swapped, value_error *error);
// Reverses the bytes of each element (of each part of a complex one).
void value_swap_bytes(void *data, scalar_type type, uint64_t count);
// Checks that bools are 0 or 1, which C relies on. Frees the array if not.
value_status source_check_bools(const value_source *s, array *a, value_error *error);

// ---- the formats ------------------------------------------------------------------------------

value_status text_read(value_source *s, value_expectation expected, array *out, value_error *error);
value_status binary_read(value_source *s, value_expectation expected, array *out,
                         value_error *error);
// The fields of a structured array go to s->pending, and nothing to *out.
value_status npy_read(value_source *s, value_expectation expected, array *out, value_error *error);

// Spaces, newlines and -- comments.
void text_skip_space(value_source *s);

bool text_write(FILE *to, const array *components, size_t count);
bool binary_write(FILE *to, const array *components, size_t count);
bool npy_write(FILE *to, const array *components, size_t count, value_error *error);

// ---- the header of a .npy (values/npy_header.c) ------------------------------------------------

typedef struct npy_field {
  scalar_type type;
  bool swapped;     // of the other byte order
  uint64_t offset;  // in the record
} npy_field;

typedef struct npy_header {
  npy_field *fields;  // owned
  size_t count, capacity;
  bool structured;
  uint64_t record;  // bytes of one element: all fields and padding
  bool fortran_order;
  uint32_t rank;
  uint64_t dims[VALUE_MAX_RANK];
} npy_header;

// Leaves the source at the data. h->fields is the caller's to free, also after an error.
value_status npy_read_header(value_source *s, npy_header *h, value_error *error);
// Of one array, or of the components of a tuple, which have the same dims.
bool npy_write_header(FILE *to, const array *components, size_t count, value_error *error);

// ---- numbers as text (values/number.c) ---------------------------------------------------------

// One real number of a token: 12  -0x1p3  .5  f32.nan  inf. `text` stands behind the sign.
//
//   -1.25e-3   negative, PART_FLOAT, base 10, digits 125, exponent -5
typedef struct part {
  bool negative;
  enum { PART_INTEGER, PART_FLOAT, PART_INFINITE, PART_NAN } form;
  int base;         // 2, 10 or 16
  uint64_t digits;  // the value is digits x 10^exponent (of hexadecimal floats strtod knows it)
  bool overflow;    // the digits leave u64
  int exponent;     // clamped to +-100000
  const char *text;
  scalar_type named;  // f32.nan and its kin name their type; else SCALAR_COUNT
} part;

typedef struct number {
  enum { NUMBER_BOOL, NUMBER_INTEGER, NUMBER_FLOAT, NUMBER_COMPLEX } form;
  scalar_type suffix;  // SCALAR_COUNT: none
  bool truth;
  part re, im;
} number;

// False if the token is no value. Removes underscores from it.
bool number_scan(char *token, number *n);
scalar_type number_type(const number *n);  // its suffix, else bool, i64, f64 or c128
bool number_suits(const number *n, scalar_type type);
// The bits of a number that suits the type; false if it is out of range.
bool number_put(void *to, scalar_type type, const number *n);
const char *number_range(scalar_type type);  // "0 to 255"

enum { ELEMENT_TEXT = 96 };
// One element as text with its type's suffix, not terminated; returns the length.
size_t text_of_element(char out[ELEMENT_TEXT], scalar_type type, const void *element);

#endif
