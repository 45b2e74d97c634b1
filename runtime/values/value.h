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
//   tables (.csv .txt)          plain numbers, one row a line, with commas or blanks between
//                               columns; read where an array of rank 1 is expected
//   schedules (.sched)          a permutation in three steps; read as the array of its images
//
//   value_source *s = value_source_open("keys.npy", &e);                 // [4]u32
//   array a;
//   while (value_read(s, (value_expectation){SCALAR_U32, 1}, &a, &e) == VALUE_OK) {
//     permc_value v = {.components = &a, .count = 1};
//     value_write(stdout, FORMAT_TEXT, &v, &e);     // [3u32, 1u32, 2u32, 0u32]
//     array_destroy(&a);
//   }
//   value_source_close(s);
//
// Text does not depend on the locale that the program has set: the point is always '.'. Printed
// numbers are the shortest that read back as the same bits; NaN have sign and payload.
//
//   value.h        this door
//   array.c        arrays in memory: sizes, equality
//   random.c       random elements
//   apart.c        arrays that stay in their file
//   source.c       the bytes of a file or of memory, in hand or taken straight into arrays
//   number.c       numbers as text, both ways
//   text.c         Futhark's text format and plain text
//   table.c        rows of plain numbers: .csv and .txt
//   binary.c       Futhark's binary format
//   schedule.c     schedules of permutations
//   npy.c          NumPy's format;  npy_header.c  its header
//   fields.c       names of fields and columns, and the choice of some
//   value.c        the table of formats, and reading and writing by it
//   output.c       files that appear whole or not at all
//   parts.c        one .npy written by several processes, or piece by piece
#ifndef PERMC_RUNTIME_VALUES_VALUE_H
#define PERMC_RUNTIME_VALUES_VALUE_H

#include "core/error.h"
#include "core/progress.h"
#include "core/scalar/scalar.h"
#include <stdio.h>

enum { VALUE_MAX_RANK = 16 };

// Whose memory an array's elements are in, where it is not malloc'ed.
typedef struct array_owner {
  int32_t device;  // where they are, as below, or the number of a GPU
  bool read_only;
  void (*release)(void *with);  // called once, when the array is destroyed; may be NULL
  void *with;
} array_owner;
enum {
  ARRAY_HOST = -1,
  // The array has no data:
  ARRAY_IN_FILE = -2,    // array_fetch reads its elements
  ARRAY_IN_PART = -3,    // `with` is an array_part
  ARRAY_AT_RANDOM = -4,  // array_fetch draws its elements; `with` is the state of the first
};
// The elements first, ..., first + count - 1 of an array, which one rank has (runtime/ranks).
typedef struct array_part {
  uint64_t first, count;
  void *data;
  void *memory;  // to be freed
} array_part;

typedef struct array {
  scalar_type type;
  uint32_t rank;                  // 0: a scalar
  uint64_t dims[VALUE_MAX_RANK];  // outermost first
  void *data;                     // aligned for an element
  array_owner *owner;             // NULL: data is malloc'ed, and the array's own
  bool permutation;               // of 0, 1, ...: read from a schedule, so nobody checks it
} array;

// What is inside a permc_value (permc.h): one array, or one per component of a tuple.
typedef struct permc_value {
  array *components;
  size_t count;
  char **names;  // of the components, owned; NULL: of one without; of all: there are none
} permc_value;

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
void array_destroy(array *a);  // idempotent
static inline int32_t array_device(const array *a) {
  return a->owner ? a->owner->device : ARRAY_HOST;
}
void arrays_destroy(array *arrays, size_t count);  // the same of each, which is {0} then

// Whether it has no data, but array_fetch, or a rank, its elements.
static inline bool array_is_apart(const array *a) { return array_device(a) < ARRAY_HOST; }
// What of it is in memory here: all, or a part; of an array in a file nothing.
array_part array_own(const array *a);

// Functions that take an error clear it first; it has no place in a source.

// Elements first, ..., first + count - 1, of an array in memory or apart, to `to`. By several
// threads at once. False: the file cannot be read, or has changed; the part has not all.
bool array_fetch(const array *a, uint64_t first, uint64_t count, void *to, error *e);

// A digest of the first elements of an array in memory or apart, which are read by pieces.
bool array_digest(const array *a, uint64_t count, unsigned threads, uint64_t *digest, error *e);

// Of an array in a file: whether its elements are there as in memory, without gaps, and need no
// check; then where. The descriptor is the array's.
bool array_file_place(const array *a, int *descriptor, uint64_t *offset);
const char *array_file_name(const array *a);  // of an array in a file: as the user wrote it
// Not 0, and the same for the same bytes of the same file, as long as nobody writes to it.
uint64_t array_file_identity(const array *a);
// Makes a, which has a type and dims, an array in a file of its own, whose elements begin at
// `offset`: a multiple of 64, which leaves room for the header of a .npy. `name` is for messages;
// `path` is where it is (NULL: it has no name); `own`: that goes with the array. False: *e says why.
bool array_of_file(array *a, int descriptor, uint64_t offset, const char *name, const char *path,
                   bool own, error *e);
// Brings an array that is in a file, or at random, to memory. False: *e says why.
bool array_load(array *a, error *e);

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
bool value_source_is_empty(const value_source *s);     // it had no byte so far
void value_source_watch(value_source *s, progress p);  // is told the bytes that were read
// From now on arrays of so many bytes and more stay in their file, where that is a .npy and no
// pipe:
// their owner is then ARRAY_IN_FILE.
void value_source_leave(value_source *s, uint64_t bytes);

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
// How many more arrays the structured .npy or table that is being read has (0: the next value
// begins).
size_t value_pending(const value_source *s);
// The name of the array that was read last, a field or a column, in the characters of the file as
// UTF-8; NULL: it has none. Valid until the next value is read.
const char *value_name(const value_source *s);
size_t value_taken(const value_source *s);  // how many were read of it
// "-i a.csv:weight -i a.csv:2": the first `count` of the fields that are read, each apart; for a
// message.
void value_print_fields(text *out, const value_source *s, size_t count);
// A sentence for the user about what was read, "" if there is nothing to say: that a first row was
// taken as a header, though numbers stand in it.
const char *value_note(const value_source *s);
// Whether a table without a header was read that is one row, and nobody chose columns.
bool value_is_one_row(const value_source *s);
// Whether these are the values of a test block: of no file that could be named instead.
bool value_is_in_program(const value_source *s);
// Whether reading has failed as the data have not the type that is expected.
bool value_has_other_type(const value_source *s);
// ... of which rank they are instead; -1: that is not known.
int value_found_rank(const value_source *s);

// ---- writing ---------------------------------------------------------------------------------

typedef enum value_format {
  FORMAT_NPY,
  FORMAT_BINARY,
  FORMAT_SCHEDULE,
  FORMAT_CSV,
  FORMAT_PLAIN,
  FORMAT_TEXT,
  FORMAT_SUMMARY  // text for a reader: of more than 1,000 elements the first, the last, the shape
} value_format;
// By the ending of the file's name; without one (and of "-") text. False: *e lists the formats.
bool value_format_of(const char *path, value_format *format, error *e);
// Whether a format holds a value whose components have these types and shapes (data are not looked
// at): .npy only components of the same shape; tables only columns of the same length, or rows.
bool value_suits(value_format format, const array *components, size_t count, error *e);

// One language value. In .npy several components become a structured array. In the Futhark formats
// the components follow each other (text: one per line), in tables they are columns, one beside the
// other. The fields of .npy have the names of the components, and those of .csv if any has one and
// it is read as a header again; a component without a name is called by its number, column_1
// in .csv and f1 in .npy, and of equal names the later ones get their number: price, price_1.
bool value_write(FILE *to, value_format format, const permc_value *v, error *e);

// What -o says: the file, and the number of the result that counts how many elements go to it, from
// 1 on (0: all go).
//
//   "kept.npy"           kept.npy, 0
//   "first:2=kept.npy"   kept.npy, 2
//
// False: *e says what is expected behind "first:".
bool output_parse(const char *word, const char **path, size_t *counter, error *e);
// Keeps the first elements along the outermost dimension, in memory or apart, of an array that has as
// many.
void array_keep_first(array *a, uint64_t count);

// Whether a file can be written: before the work begins whose result it is to hold. False: *e says
// what is in the way, and what to do.
bool output_check(const char *path, error *e);
// Whether it is written directly: "-", a pipe, a device, a name below /dev or /proc.
bool output_is_direct(const char *path);
// Whether two files are one, by links or another spelling ("-" and what is no regular file is not).
bool output_same(const char *a, const char *b);

// A file that appears whole or not at all: written without a name, or beside its place, and given
// its name by commit. For what is not a regular file (a pipe, /dev/full) it is written directly.
// Every write error (disk full, closed pipe) is reported by commit. After a power loss it may be
// missing or short, unless output_sync was called.
typedef struct output_file output_file;
output_file *output_open(const char *path, error *e);  // "-": standard output
FILE *output_stream(output_file *o);
void output_watch(output_file *o, progress p, uint64_t total);  // is told the bytes written
void output_sync(output_file *o);  // waits until the disk has what was written
// All is written, and what went wrong with that is known; it is yet to be committed, or discarded.
bool output_close(output_file *o, error *e);
bool output_commit(output_file *o, error *e);  // closes and frees; errno says why it failed
// All of them (NULL: none), which are NULL then, or none of those that are left.
bool outputs_commit(output_file **made, size_t count, error *e);
void output_discard(output_file *o);  // removes the temporary file, frees

// The file itself; -1: it is written directly. Its bytes may be written by this, and not by the
// stream.
int output_descriptor(const output_file *o);
const char *output_name(const output_file *o);  // for messages
// Another file, of an open descriptor, takes its place, with its mode. False: it cannot have a name
// there, and nothing has happened.
bool output_take(output_file *o, int descriptor);

// One .npy by several processes (parts.c): where others find it until it is committed; NULL: it is
// written directly, by one process.
const char *output_temporary(output_file *o);
// Elements first, ..., first + count - 1 of the components of v, which has their shapes, to that
// file;
// data: by component, the first of them. Who has element 0 (or, of none, says first is 0) writes
// the header. False: *e says why.
bool npy_write_part(const char *path, const permc_value *v, uint64_t first, uint64_t count,
                    const void *const *data, error *e);
// The same of a value of arrays in files, by pieces of about so many bytes. Not of an output that
// is written directly.
bool npy_write_apart(const output_file *o, const permc_value *v, uint64_t memory, error *e);
// The file of the value's only array becomes the output, without a copy of its elements. *became is
// false where that is not so, and nothing has happened. False: *e says why.
bool value_file_becomes(const permc_value *v, output_file *o, bool *became, error *e);

// ---- random data -----------------------------------------------------------------------------

// Deterministic in (seed, type, dims), the same on every machine (SplitMix64, Steele, Lea and Flood
// 2014). Integers cover their whole range, floats are uniform in [0, 1), complex parts likewise,
// bools fair.
bool array_random(array *a, scalar_type type, uint32_t rank, const uint64_t *dims, uint64_t *state);
// The same array without data: array_fetch draws its elements.
bool array_random_apart(array *a, scalar_type type, uint32_t rank, const uint64_t *dims,
                        uint64_t *state);

bool array_same_shape(const array *a, const array *b);    // and type
void array_print_shape(text *to, const array *a);         // and type: "[4][8]u32"
void value_print_shapes(text *to, const permc_value *v);  // "[8]u32, [8]f64"
// Equal shapes, types and bits, all NaN equal.
bool array_same_bits(const array *a, const array *b);

#endif
