// Arrays in memory, and the files they come from and go to.
//
// In: a file, a pipe or bytes. Out: arrays; and the other way.
//
// An `array` is one rectangular array of one element type, row-major. A language value is a list
// of them: a tuple, or an array of tuples, is one array per component ("structure of arrays").
//
//   [(1u32, 2.5f32), (3u32, 4.5f32)]   is   { u32, rank 1, dims {2}, 1 3 }
//                                           { f32, rank 1, dims {2}, 2.5 4.5 }
//
// Formats (by their first bytes when read, by the file's ending when written):
//   NumPy .npy 1.0-3.0          C order, both byte orders; structured dtypes give several arrays
//   Futhark binary (.bin .dat)  'b' 2 rank type dims data; c64 and c128 are extension codes
//   Futhark text                [[1i32, 2], [3, 4]], empty([0]i32), 1.5+2.0i, f32.nan, true
//   plain text                  one number per line (read only; where rank 1 is expected)
//
//   value_source *s = value_source_open("keys.npy", &e);                 // [4]u32
//   array a;
//   while (value_read(s, (value_expectation){SCALAR_U32, 1}, &a, &e) == VALUE_OK) {
//     value_write(stdout, FORMAT_TEXT, &a, 1, &error);        // [3u32, 1u32, 2u32, 0u32]
//     array_destroy(&a);
//   }
//   value_source_close(s);
//
// Text does not depend on the locale that the program has set: the point is always '.'. Printed
// numbers are the shortest that read back as the same bits (NaN keeps no payload in text; binary
// and .npy keep all bits).
//
//   value.h        this door
//   array.c        arrays in memory: sizes, random elements, equality
//   source.c       the bytes of a file or of memory, in hand or taken straight into arrays
//   number.c       numbers as text, both ways
//   text.c         Futhark's text format and plain text
//   binary.c       Futhark's binary format
//   npy.c          NumPy's format;  npy_header.c  its header
//   value.c        the table of formats, and reading and writing by it
//   output.c       files that appear whole or not at all
#ifndef PERMC_RUNTIME_VALUES_VALUE_H
#define PERMC_RUNTIME_VALUES_VALUE_H

#include "core/error.h"
#include "core/scalar/scalar.h"
#include <stdio.h>

enum { VALUE_MAX_RANK = 16 };

typedef struct array {
  scalar_type type;
  uint32_t rank;                  // 0: a scalar
  uint64_t dims[VALUE_MAX_RANK];  // outermost first
  void *data;                     // owned (malloc); 64-byte aligned not required
} array;

// What is inside a permc_value (permc.h): one array, or one per component of a tuple.
struct permc_value {
  array *components;
  size_t count;
};

uint64_t array_count(const array *a);  // elements
uint64_t array_bytes(const array *a);
// Memory for so many bytes of data: aligned to 64 bytes, in huge pages where it is large and the
// system has them. NULL: there is none. free() frees it.
void *array_memory(uint64_t bytes);
// The address space that it takes for them: up to an eighth more, so that arrays of about the same
// size can have each other's. What is not touched takes no memory.
uint64_t array_reserved_bytes(uint64_t bytes);
// The bytes of elements of `size` bytes along dims; false if any product of the dims overflows
// (zeros do not hide it: strides are products too).
bool array_bytes_of(uint64_t size, uint32_t rank, const uint64_t *dims, uint64_t *bytes);
// False when the size overflows or memory is out; then nothing is owned. dims may hold zeros.
bool array_create(array *a, scalar_type type, uint32_t rank, const uint64_t *dims);
void array_destroy(array *a);                      // idempotent
void arrays_destroy(array *arrays, size_t count);  // the same of each, which is {0} then

// Functions that take an error clear it first; it has no place in a source.

// ---- reading ---------------------------------------------------------------------------------

typedef struct value_source value_source;

// The whole of a file ("-": standard input), its format detected. NULL: *e says why, with the
// file's name. A regular file is read once and not copied more often than its format needs (the
// data of a .npy or binary file of our own byte order is read straight into the array).
value_source *value_source_open(const char *path, error *e);
// The same of bytes in memory (not copied; must outlive the source). `name` is for messages.
value_source *value_source_bytes(const char *name, const void *bytes, size_t count, error *e);
void value_source_close(value_source *s);
const char *value_source_name(const value_source *s);  // for messages

// What the program expects of the next array. Text without a suffix takes the expected type.
typedef struct value_expectation {
  scalar_type type;  // SCALAR_COUNT: any; then unsuffixed text is i64, or f64 with . or e
  int rank;          // -1: any; -1 - r: any of at least r (plain text is an array when r = 1)
} value_expectation;

typedef enum value_status { VALUE_OK, VALUE_END, VALUE_ERROR } value_status;
// The next array. VALUE_END: the source holds no more. VALUE_ERROR: *e names source and place
// (line:column in text, byte offset in binary). A mismatch with the expectation (i64 data where
// f32 is expected, rank 2 for 1) is an error that names both. The caller owns out->data.
// A structured .npy gives its fields as consecutive arrays (the same dims).
value_status value_read(value_source *s, value_expectation expected, array *out, error *e);
// How many more arrays the structured .npy that is being read has (0: the next value begins).
size_t value_pending(const value_source *s);

// ---- writing ---------------------------------------------------------------------------------

typedef enum value_format { FORMAT_NPY, FORMAT_BINARY, FORMAT_TEXT } value_format;
value_format value_format_of(const char *path);  // .npy, .bin .dat, else text

// One language value: `count` arrays that are its components, in order. In .npy, count > 1 needs
// equal dims and becomes a structured array with fields f0, f1, ...; false if they differ. In the
// Futhark formats the components follow each other (text: one per line).
bool value_write(FILE *to, value_format format, const array *components, size_t count, error *e);

// A file that appears whole or not at all: written beside its place, renamed by commit. For what
// is not a regular file (a pipe, /dev/full) it is written directly. Every write error (disk full,
// closed pipe) is reported by commit.
typedef struct output_file output_file;
output_file *output_open(const char *path, error *e);  // "-": standard output
FILE *output_stream(output_file *o);
bool output_commit(output_file *o, error *e);  // closes and frees
void output_discard(output_file *o);           // removes the temporary file, frees

// ---- random data -----------------------------------------------------------------------------

// Deterministic in (seed, type, dims), the same on every machine (SplitMix64, Steele, Lea and Flood
// 2014). Integers cover their whole range, floats are uniform in [0, 1), complex parts likewise,
// bools fair.
bool array_random(array *a, scalar_type type, uint32_t rank, const uint64_t *dims, uint64_t *state);

bool array_same_shape(const array *a, const array *b);  // and type
// Equal shapes, types and bits, all NaN equal.
bool array_same_bits(const array *a, const array *b);

#endif
