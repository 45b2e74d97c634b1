// The bytes that values are read from, and the call of value_read that reads them. Private to
// runtime/values/.
//
// In: a file, a pipe or bytes in memory. Out: bytes in hand, one after the other, or an array's
// elements, straight from the file. What a header announces is compared with what the file holds
// before anything is allocated; where that is not known (a pipe), arrays grow as data comes.
//
//   bytes of the source   0 ........ at ........ end ............... end of the file
//                         done       in hand     unread (known of files only)
#ifndef PERMC_RUNTIME_VALUES_SOURCE_H
#define PERMC_RUNTIME_VALUES_SOURCE_H

#include "runtime/values/value.h"

enum {
  SOURCE_BUFFER = 1 << 16,  // bytes read ahead; the most that source_fill can bring together
  SOURCE_NAME = 160,        // longer names lose their beginning, so that messages keep their end
  MESSAGE_SIZE = 320,       // of a message, but for the source's name
};

// The columns of a table, or the fields of a structured .npy.
typedef struct field_list {
  char **names;  // owned, "" of one without; NULL: a table without a header
  size_t width, capacity;
  size_t *wanted;      // numbers from 0, in the order in which they are read
  size_t count, next;  // of them
  bool by_name;        // one was chosen by its name
} field_list;

// Of text: its line and the character in it, from 1.
typedef struct text_place {
  uint64_t line, column;
} text_place;

struct value_source {
  char name[SOURCE_NAME];
  const unsigned char *at, *end;  // bytes in hand
  unsigned char *buffer;          // NULL: all bytes are in hand, in the caller's memory
  int descriptor;                 // -1: nothing is left to read
  bool owns_descriptor;
  bool size_known;          // a regular file or memory
  uint64_t unread;          // then: bytes behind `end`
  uint64_t loaded;          // offset of `end`
  bool ended;               // there is nothing behind `end`
  int failure;              // errno of a failed read
  progress progress;        // is told of each read
  uint64_t line;            // of `at`, from 1
  uint64_t line_start;      // offset of its first byte
  size_t tabs;              // in it, among the blanks before `at`: empty fields of a table
  bool only_npy;            // a .npy was read: only another may follow
  field_list fields;        // of the table or structured .npy that was read last
  array *pending;           // of the latter, while some were not asked for yet
  const char *name_read;    // of the field that was read last; NULL: none
  bool is_csv;              // by its name: all of it is a table
  bool behind_value;        // of text, read by the last call of value_read
  bool in_program;          // the values of a test block, which are never a table
  bool may_be_empty;        // a table of that or another name: nothing is an array without elements
  uint64_t left_from;       // arrays of so many bytes stay in the file; 0: none does
  bool one_row;             // the table has one, no header, and all its columns are wanted
  char *columns;            // that are wanted, "price,0"; NULL: all
  char note[MESSAGE_SIZE];  // value_note
  struct table *table;      // whose columns are being read; NULL: none is
  // Of the call of value_read in progress:
  value_expectation expected;
  uint64_t start;   // offset of the value
  bool other_type;  // it has failed as the data have not the type that is expected
  int found_rank;   // ... and have this rank; -1: that is not known
  error *error;
};

// At least `want` (<= SOURCE_BUFFER) bytes in hand, one after the other; false if the source ends
// before.
bool source_fill(value_source *s, size_t want);
static inline int source_peek(value_source *s) {
  return s->at < s->end || source_fill(s, 1) ? *s->at : -1;
}
bool source_begins(value_source *s, const char *bytes, size_t count);
static inline uint64_t source_offset(const value_source *s) {
  return s->loaded - (uint64_t)(s->end - s->at);
}
static inline text_place source_place(const value_source *s) {
  return (text_place){s->line, source_offset(s) - s->line_start + 1};
}
// Moves up to `count` bytes to `to`, straight from the file where they are not in hand yet.
size_t source_read_bytes(value_source *s, void *to, size_t count);
// False if fewer than `count` bytes are known to be left; *left then says how many.
bool source_holds(const value_source *s, uint64_t count, uint64_t *left);
// Steps over bytes that source_holds, without reading them. False: errno says why not.
bool source_skip(value_source *s, uint64_t count);
void source_free(value_source *s);  // which has no table any more
void source_drop_pending(value_source *s);
void source_drop_fields(value_source *s);
void source_drop_table(value_source *s);

// ---- fields (fields.c) -------------------------------------------------------------------------

bool fields_add(value_source *s, const char *name, size_t length);
// Those that s->columns names, or all. False: there is no such field.
bool fields_choose(value_source *s);
// False: fields are wanted, and there are none.
bool fields_expect_none(value_source *s);
void fields_next(value_source *s);  // the next of those that are wanted has been read
enum { FIELD_LIST_SIZE = 200 };
const char *fields_list(const value_source *s, char out[FIELD_LIST_SIZE]);  // for a message
// As a row of .csv has it: in quotes where it needs them.
void fields_add_csv_name(text *to, const char *name);

// ---- arrays: nothing is owned after an error ---------------------------------------------------

// The bytes of elements of `size` bytes along dims, and that many are not known to be missing.
bool source_check_size(value_source *s, uint64_t size, uint32_t rank, const uint64_t *dims,
                       uint64_t *bytes);
// The elements of a as they lie in the source, into a->data (allocated; grown as they arrive where
// the source's size is not known). type, rank and dims are set.
bool source_read_array(value_source *s, array *a);
// Makes the bytes of bools 0 or 1: what is not 0 is true.
void array_make_truths(array *a);
// Whether the elements, which begin here, are to stay in the file.
bool source_may_leave(const value_source *s, uint64_t bytes);
// Then: makes a->owner say where they are: so many bytes from here, and from one to the next.
// `swapped`:
// they are big-endian. source_skip steps over them.
bool source_leave_array(value_source *s, array *a, uint64_t offset, uint64_t record, bool swapped);

// ---- messages: false, for the caller to return -------------------------------------------------

// "NAME: text", with "byte N: " between them where the value begins at byte N > 0 (or the operating
// system's reason, if a read failed).
bool source_fail(value_source *s, const char *format, ...) PRINTF_LIKE(2, 3);
// "NAME:3:14: text".
bool source_fail_at(value_source *s, text_place at, const char *format, ...) PRINTF_LIKE(3, 4);
bool source_fail_truncated(value_source *s, const char *what, uint64_t announced, uint64_t found);
bool source_fail_memory(value_source *s, uint64_t bytes);  // that are needed

// Whether there is memory for so many bytes, `held` of which are there. Asked before, as the system
// promises more than there is, and kills who takes it.
bool source_fits(value_source *s, uint64_t held, uint64_t bytes);
// realloc of `held` bytes; NULL: they do not fit.
void *source_grow(value_source *s, void *data, uint64_t held, uint64_t bytes);

enum { QUOTE_SIZE = 80, MISMATCH_SIZE = 160 };
// Up to 40 bytes of foreign text made printable; returns `out`.
const char *value_quote(char out[QUOTE_SIZE], const char *bytes, size_t count);
// Whether a value of this type and rank is not the expected one; then `out` is a sentence:
// "expected []f32, found [][]i64".
bool value_mismatch(value_source *s, char out[MISMATCH_SIZE], scalar_type type, uint32_t rank);
// The same, and source_fail says so. True: it is the expected one.
bool source_expects(value_source *s, scalar_type type, uint32_t rank);

#endif
