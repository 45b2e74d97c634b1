// The table of formats, and reading and writing by it. See value.h.
#include "runtime/values/formats.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

// ---- the formats ------------------------------------------------------------------------------

static bool npy_begins(value_source *s) { return source_peek(s) == 0x93; }

// Words of text that begin with b do not go on with a control character.
static bool binary_begins(value_source *s) {
  return source_peek(s) == 'b' && (!source_fill(s, 2) || s->at[1] < 32);
}

static bool table_is_named(value_source *s) { return s->is_csv || s->columns; }

// Whether rows of numbers begin here, where an array of rank 1 or 2 is expected (-2: at least 1).
static bool rows_begin(value_source *s) {
  int rank = s->expected.rank < 0 ? -1 - s->expected.rank : s->expected.rank;
  int c = source_peek(s);
  return (rank == 1 || rank == 2) && !s->in_program &&
         (isalnum(c) || c > 127 || (c > 0 && strchr("+-._#\",;|", c))) &&
         !source_begins(s, "empty", 5);
}

static bool text_begins(value_source *s) {
  (void)s;
  return true;
}

static bool holds_any(const array *components, size_t count, error *e) {
  (void)components, (void)count, (void)e;
  return true;
}

// A value's format is found by its first bytes, so that one source may mix them; a file's by the
// ending of its name. The first row that suits is taken.
static const struct value_format_row {
  const char *endings[2];
  bool (*begins)(value_source *s);  // whether a value of the format begins here; NULL: as text
  bool (*read)(value_source *s, array *out);
  bool (*holds)(const array *components, size_t count, error *e);  // types and ranks, not data
  bool (*write)(FILE *to, const permc_value *v, error *e);
} formats[] = {
    [FORMAT_NPY] = {{".npy", ".npy"}, npy_begins, npy_read, npy_holds, npy_write},
    [FORMAT_BINARY] = {{".bin", ".dat"}, binary_begins, binary_read, holds_any, binary_write},
    [FORMAT_SCHEDULE] =
        {{".sched", ".sched"}, schedule_begins, schedule_read, schedule_holds, schedule_write},
    [FORMAT_CSV] = {{".csv", ".csv"}, table_is_named, table_read, table_holds, csv_write},
    [FORMAT_PLAIN] = {{".txt", ".txt"}, rows_begin, table_read, table_holds, plain_write},
    [FORMAT_TEXT] = {{".in", ".out"}, text_begins, text_read, holds_any, text_write},
    [FORMAT_SUMMARY] = {{"", ""}, NULL, NULL, holds_any, summary_write},
};

// ---- reading ----------------------------------------------------------------------------------

static bool read_pending_field(value_source *s, array *out) {
  array *field = &s->pending[s->fields.next];
  char mismatch[MISMATCH_SIZE];
  if (value_mismatch(s, mismatch, field->type, field->rank))
    return source_fail(s, "field %zu: %s", s->fields.next + 1, mismatch);
  *out = *field;
  fields_next(s);
  if (s->fields.next == s->fields.count)
    source_drop_pending(s);
  return true;
}

#define COLUMNS " cannot be read; save columns as .csv, or as .npy with numpy.save"
#define ARRAYS " cannot be read; save each array as a .npy file with numpy.save"
#define COMPRESSED "this is compressed; unpack it with "
#define UTF16 "this is UTF-16 text; save it as UTF-8"

// How files begin that people take for data, and what to do with them. `binary`: only with a byte
// soon after that no text has, for a header may begin so, too ("ORC,CDF").
static const struct {
  const char *bytes;
  size_t count;
  bool binary;
  const char *why;
} foreign[] = {
    {"PK\3\4", 4, false, "a zip archive (.npz, .xlsx)" ARRAYS ", a sheet as .csv"},
    {"\x1f\x8b", 2, false, COMPRESSED "gunzip"},
    {"BZh", 3, true, COMPRESSED "bunzip2"},
    {"\xfd\x37zXZ", 5, false, COMPRESSED "unxz"},
    {"\x28\xb5\x2f\xfd", 4, false, COMPRESSED "unzstd"},
    {"\x04\x22\x4d\x18", 4, false, COMPRESSED "unlz4"},
    {"7z\xbc\xaf", 4, false, COMPRESSED "7z x"},
    {"PAR1", 4, true, "Parquet" COLUMNS},
    {"ARROW1", 6, true, "Arrow (Feather)" COLUMNS},
    {"\xff\xff\xff\xff", 4, false, "an Arrow stream" COLUMNS},
    {"FEA1", 4, true, "Feather" COLUMNS},
    {"ORC", 3, true, "ORC" COLUMNS},
    {"Obj\1", 4, false, "Avro" COLUMNS},
    {"SQLite format 3", 15, true, "SQLite" COLUMNS},
    {"\xd0\xcf\x11\xe0", 4, false, "an .xls sheet cannot be read; save it as .csv"},
    {"\x89HDF", 4, false, "HDF5" ARRAYS},
    {"CDF", 3, true, "NetCDF" ARRAYS},
    {"MATLAB", 6, true, "a .mat file" ARRAYS},
    {"SIMPLE  =", 9, false, "FITS" ARRAYS},
    {"\x80", 1, true, "a pickle" ARRAYS},
    {"RIFF", 4, true, "a sound or image (.wav, .webp)" ARRAYS},
    {"II*\0", 4, false, "an image" ARRAYS},
    {"GIF8", 4, true, "an image" ARRAYS},
    {"%PDF-", 5, false, "PDF cannot be read; save tables as .csv"},
    {"\x89PNG", 4, false, "an image" ARRAYS},
    {"\xff\xd8\xff", 3, false, "an image" ARRAYS},
    {"<?xml", 5, false, "XML cannot be read; save tables as .csv"},
    {"<!", 2, false, "HTML cannot be read; save tables as .csv"},
    {"<html", 5, false, "HTML cannot be read; save tables as .csv"},
    {"\xff\xfe", 2, false, UTF16},
    {"\xfe\xff", 2, false, UTF16},
    {"\x7f\x45LF", 4, false, "this is a program of the machine, no data"},
    {"\0", 1, false,
     "this is no text, and no format that begins so can be read (permc help formats)"},
    {"{", 1, false, "a JSON object cannot be read; an array of numbers can: [1.5, 2]"},
};

// Whether the source begins with bytes of which one is in no text.
static bool is_binary(value_source *s) {
  enum { LOOK = 512 };
  source_fill(s, LOOK);
  const unsigned char *at = s->at, *end = s->end - at < LOOK ? s->end : at + LOOK;
  while (at < end && (*at >= ' ' || (*at >= '\t' && *at <= '\r')))
    at++;
  return at < end;
}

// Only at the beginning of a source; NULL: it may be read.
static const char *find_foreign(value_source *s) {
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign && source_offset(s) == 0; i++)
    if (source_begins(s, foreign[i].bytes, foreign[i].count) &&
        (!foreign[i].binary || is_binary(s)))
      return foreign[i].why;
  return NULL;
}

static value_status read_next_value(value_source *s, array *out) {
  s->start = 0;
  if (source_offset(s) == 0 && source_begins(s, "\xef\xbb\xbf", 3)) {  // a byte order mark
    s->at += 3;
    s->line_start += 3;
  }
  if (s->table)
    return table_read(s, out) ? VALUE_OK : VALUE_ERROR;
  if (!s->only_npy && !s->is_csv)
    text_skip_space(s);
  if (source_peek(s) < 0 && !s->failure) {
    bool empty =
        s->may_be_empty && s->loaded == 0 && (s->expected.rank == 1 || s->expected.rank == -2);
    s->may_be_empty = false;
    return !empty ? VALUE_END : table_read(s, out) ? VALUE_OK : VALUE_ERROR;
  }
  s->start = source_offset(s);
  const char *why = find_foreign(s);
  bool good;
  if (s->failure)
    good = source_fail(s, "cannot read");
  else if (s->behind_value && source_peek(s) == ',')
    good = source_fail_at(s, source_place(s),
                          "a comma stands between two arguments: write them one after the other, "
                          "as in [1, 2, 3] [4, 5, 6]");
  else if (s->only_npy && !npy_begins(s))
    good = source_fail(s, "the file has more data than its header announces; it may be damaged");
  else if (why)
    good = source_fail(s, "%s", why);
  else {
    value_format f = 0;
    while (!formats[f].begins || !formats[f].begins(s))
      f++;
    good = formats[f].read(s, out) && (!s->pending || read_pending_field(s, out));
    s->behind_value = good && f == FORMAT_TEXT;
  }
  return good ? VALUE_OK : VALUE_ERROR;
}

size_t value_pending(const value_source *s) { return s->fields.count - s->fields.next; }
size_t value_taken(const value_source *s) { return s->fields.next; }

void value_source_close(value_source *s) {
  if (!s)
    return;
  source_drop_table(s);
  source_free(s);
}

const char *value_note(const value_source *s) { return s->note; }
bool value_is_one_row(const value_source *s) { return s->one_row; }

bool value_is_in_program(const value_source *s) { return s->in_program; }

bool value_has_other_type(const value_source *s) { return s->other_type; }

int value_found_rank(const value_source *s) { return s->found_rank; }

value_status value_read(value_source *s, value_expectation expected, array *out, error *e) {
  c_environment c;
  *e = (error){0};
  *out = (array){0};
  s->expected = expected;
  s->other_type = false;
  s->found_rank = -1;
  s->name_read = NULL;
  s->error = e;
  if (s->pending)
    return read_pending_field(s, out) ? VALUE_OK : VALUE_ERROR;
  if (!c_environment_enter(&c)) {
    error_no_memory(e);
    return VALUE_ERROR;
  }
  value_status status = read_next_value(s, out);
  c_environment_leave(&c);
  if (status != VALUE_OK)
    *out = (array){0};
  return status;
}

// ---- writing ----------------------------------------------------------------------------------

bool value_format_of(const char *path, value_format *format, error *e) {
  *e = (error){0};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *ending = strrchr(name, '.');
  *format = FORMAT_TEXT;
  if (!ending || ending == name)
    return true;
  for (value_format f = 0; f <= FORMAT_TEXT; f++)
    if (!strcasecmp(ending, formats[f].endings[0]) || !strcasecmp(ending, formats[f].endings[1])) {
      *format = f;
      return true;
    }
  return error_set(
      e, SPAN_NONE,
      "%.200s: '%.40s' is the ending of no format; results can be written as .npy "
      "(NumPy), .bin or .dat (Futhark binary), .csv or .txt (rows of numbers), "
      ".sched (the schedule of a permutation), .in, .out or without an ending (Futhark text)",
      path, ending);
}

bool value_suits(value_format format, const array *components, size_t count, error *e) {
  *e = (error){0};
  return formats[format].holds(components, count, e);
}

bool value_write(FILE *to, value_format format, const permc_value *v, error *e) {
  c_environment c;
  *e = (error){0};
  if (!c_environment_enter(&c))
    return error_no_memory(e);
  errno = 0;
  bool good = formats[format].holds(v->components, v->count, e) && formats[format].write(to, v, e);
  if (!good)  // unless the writer has said why
    error_set(e, SPAN_NONE, "cannot write: %s", strerror(errno ? errno : EIO));
  c_environment_leave(&c);
  return good;
}
