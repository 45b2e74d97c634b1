// The table of formats, and reading and writing by it. See value.h.
#include "runtime/values/formats.h"

#include <errno.h>

// ---- the formats ------------------------------------------------------------------------------

static bool npy_begins(value_source *s) { return source_peek(s) == 0x93; }

// Words of text that begin with b do not go on with a control character.
static bool binary_begins(value_source *s) {
  return source_peek(s) == 'b' && (!source_fill(s, 2) || s->at[1] < 32);
}

static bool text_begins(value_source *s) {
  (void)s;
  return true;
}

// A value's format is found by its first bytes, so that one source may mix them; a file's by the
// ending of its name. The first row that suits is taken.
static const struct value_format_row {
  const char *endings[2];
  bool (*begins)(value_source *s);  // whether a value of the format begins here
  bool (*read)(value_source *s, array *out);
  bool (*write)(FILE *to, const array *components, size_t count, error *e);
} formats[] = {
    [FORMAT_NPY] = {{".npy", ".npy"}, npy_begins, npy_read, npy_write},
    [FORMAT_BINARY] = {{".bin", ".dat"}, binary_begins, binary_read, binary_write},
    [FORMAT_TEXT] = {{"", ""}, text_begins, text_read, text_write},
};

// ---- reading ----------------------------------------------------------------------------------

static bool read_pending_field(value_source *s, array *out) {
  array *field = &s->pending[s->pending_next];
  char mismatch[MISMATCH_SIZE];
  if (value_mismatch(mismatch, s->expected, field->type, field->rank))
    return source_fail(s, "field %zu: %s", s->pending_next + 1, mismatch);
  *out = *field;
  if (++s->pending_next == s->pending_count)
    source_drop_pending(s);
  return true;
}

static value_status read_next_value(value_source *s, array *out) {
  s->start = 0;
  if (source_offset(s) == 0 && source_begins(s, "\xef\xbb\xbf", 3)) {  // a byte order mark
    s->at += 3;
    s->line_start += 3;
  }
  if (!s->only_npy)
    text_skip_space(s);
  if (source_peek(s) < 0 && !s->failure)
    return VALUE_END;
  s->start = source_offset(s);
  bool good;
  if (s->failure)
    good = source_fail(s, "cannot read");
  else if (s->only_npy && !npy_begins(s))
    good = source_fail(s, "the file has more data than its header announces; it may be damaged");
  else if (source_begins(s, "PK\3\4", 4))
    good = source_fail(s, "an .npz or zip archive cannot be read; save each array as a .npy file "
                          "with numpy.save");
  else {
    value_format f = 0;
    while (!formats[f].begins(s))
      f++;
    good = formats[f].read(s, out) && (!s->pending || read_pending_field(s, out));
  }
  return good ? VALUE_OK : VALUE_ERROR;
}

value_status value_read(value_source *s, value_expectation expected, array *out, error *e) {
  c_locale c;
  *e = (error){0};
  *out = (array){0};
  s->expected = expected;
  s->error = e;
  if (s->pending)
    return read_pending_field(s, out) ? VALUE_OK : VALUE_ERROR;
  if (!c_locale_enter(&c)) {
    error_set(e, SPAN_NONE, "out of memory");
    return VALUE_ERROR;
  }
  value_status status = read_next_value(s, out);
  c_locale_leave(&c);
  if (status != VALUE_OK)
    *out = (array){0};
  return status;
}

// ---- writing ----------------------------------------------------------------------------------

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), end = strlen(ending);
  return length >= end && strcmp(path + length - end, ending) == 0;
}

value_format value_format_of(const char *path) {
  value_format f = 0;
  while (!ends_in(path, formats[f].endings[0]) && !ends_in(path, formats[f].endings[1]))
    f++;
  return f;
}

bool value_write(FILE *to, value_format format, const array *components, size_t count, error *e) {
  c_locale c;
  *e = (error){0};
  if (!c_locale_enter(&c))
    return error_set(e, SPAN_NONE, "out of memory");
  errno = 0;
  bool good = formats[format].write(to, components, count, e);
  if (!good)  // unless the writer has said why
    error_set(e, SPAN_NONE, "cannot write: %s", strerror(errno ? errno : EIO));
  c_locale_leave(&c);
  return good;
}
