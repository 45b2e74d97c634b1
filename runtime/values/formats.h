// The readers and writers of the formats, which value.c has in a table. Private to runtime/values/.
//
// A reader is called with the source at the first byte of a value, in the C locale. False: it has
// written the error, and owns nothing.
//
//   text_read(s, &a)            at "[1, 2] 5": a is 1 2, of i64, and s stands behind the ]
//   csv_write(to, v, &e)        of ([2]i64, [2]f64): 1,0.5 and 2,1.5 on a line each
#ifndef PERMC_RUNTIME_VALUES_FORMATS_H
#define PERMC_RUNTIME_VALUES_FORMATS_H

#include "runtime/values/source.h"

bool text_read(value_source *s, array *out);
bool text_write(FILE *to, const permc_value *v, error *e);
bool summary_write(FILE *to, const permc_value *v, error *e);
// Skips spaces, newlines and -- comments.
void text_skip_space(value_source *s);

bool binary_read(value_source *s, array *out);
bool binary_write(FILE *to, const permc_value *v, error *e);

// Reverses the bytes of each element (of each part of a complex one).
void elements_swap(scalar_type type, void *elements, uint64_t count);
// Those of an array of array_random_apart.
void elements_draw(const array *a, uint64_t first, uint64_t count, void *to);

// The fields of a structured array go to s->pending, and nothing to *out.
bool npy_read(value_source *s, array *out);
bool npy_write(FILE *to, const permc_value *v, error *e);
bool npy_holds(const array *components, size_t count, error *e);

// The names of the components as they are written, all different; one without a name has the prefix
// and its number. NULL: memory is out.
char **names_written(const permc_value *v, const char *prefix);
void names_free(char **names, size_t count);

// Rows of plain numbers, one a line: fields with commas between them, or blanks.
bool csv_write(FILE *to, const permc_value *v, error *e);
bool plain_write(FILE *to, const permc_value *v, error *e);
// An array of integers, which is written as the schedule of the permutation that it is.
bool schedule_begins(value_source *s);
bool schedule_read(value_source *s, array *out);
bool schedule_holds(const array *components, size_t count, error *e);
bool schedule_write(FILE *to, const permc_value *v, error *e);

// What is left of the source: at once as a 2-d array, or its first column; further calls read the
// others, until there is no s->table any more.
bool table_read(value_source *s, array *out);
bool table_holds(const array *components, size_t count, error *e);

// ---- the header of a .npy (npy_header.c) -------------------------------------------------------

typedef struct npy_field {
  scalar_type type;
  char foreign[80];  // why it cannot be read; "": it can
  bool swapped;      // big-endian
  uint64_t offset;   // in the record
} npy_field;

// Their names go to the source's field list.
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
bool npy_read_header(value_source *s, npy_header *h);
// Of one array, or of the components of a tuple, which have the same dims. It has at least so many
// bytes, a multiple of 64.
bool npy_write_header(FILE *to, const permc_value *v, uint64_t least, error *e);
// The same as bytes, which the caller frees; NULL: *e says why.
char *npy_header_of(const permc_value *v, uint64_t least, size_t *length, error *e);

// ---- numbers as text (number.c) ----------------------------------------------------------------

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
bool number_store(void *to, scalar_type type, const number *n);
const char *number_range(scalar_type type);  // "0 to 255"

enum { ELEMENT_TEXT = 96 };
// One element as text, with its type's suffix if `typed`, not terminated; returns the length.
size_t number_print(char out[ELEMENT_TEXT], scalar_type type, const void *element, bool typed);

// ---- elements from text (text.c) ---------------------------------------------------------------

enum { LONGEST_TOKEN = 4095 };
enum { TOKEN_END = 256, TOKEN_WORD, TOKEN_LONG };  // else the character itself

typedef struct text_reader {
  value_source *source;
  int kind;       // of the token
  text_place at;  // of the token
  size_t length;
  char token[LONGEST_TOKEN + 1];  // words only; 0-terminated

  text_place start;   // of the value
  scalar_type type;   // SCALAR_COUNT: undecided, elements are i64
  uint64_t count;     // elements so far
  uint64_t capacity;  // bytes of data
  unsigned char *data;
} text_reader;

void text_reader_begin(text_reader *r, value_source *s);  // of the type that s->expected has
bool text_reader_add(text_reader *r);  // the word in hand becomes the next element
// Gives the elements to out, whose dims are the caller's to set. Not good: frees them.
bool text_reader_end(text_reader *r, bool good, array *out);

#endif
