// Rows of plain numbers, one a line: .csv, with commas between its columns, and .txt, with blanks.
//
//   date,price,"volume, total"        a header names the columns: a first row with a name
//   2024-01-02,1.5,200
//   2024-01-03,1.25,100               -i FILE:price reads the column 1, FILE:price,2 two of them
//
// The whole text is kept while its columns are read one after the other: their types follow from
// what the program expects of each. Where a field of each row begins is kept, too, so that the next
// column is read from there on. Fields of .csv may be quoted (RFC 4180); blanks around them,
// empty lines and lines that begin with # do not count. Lines end with LF, CR LF or CR. The
// separator is that of , ; | and the tabulator which the first line has, else blanks, but never in
// .csv ("1 000" is not two numbers). A line that two of them may separate is an error.
#include "runtime/values/formats.h"

#include <ctype.h>

typedef struct cell {
  const char *at;
  size_t length;  // with its quotes
  text_place place;
} cell;

typedef struct table {
  char *bytes;
  size_t length;
  uint64_t first_line;
  char separator;  // ' ': any blanks
  bool has_header;
  cell *row;        // those of the row in hand
  size_t capacity;  // of row
  const char *at;   // behind the row in hand
  const char *line_start;
  uint64_t line;
  uint64_t *marks;  // of each row, by its number: where the field of column marked_column begins
  size_t rows, marks_capacity;
  size_t marked_column;
} table;

enum { CHOICE_SIZE = 300 };  // "-i a.csv:weight,count"

void source_drop_table(value_source *s) {
  if (!s->table)
    return;
  free(s->table->bytes);
  free(s->table->row);
  free(s->table->marks);
  free(s->table);
  s->table = NULL;
  s->fields.next = s->fields.count;
}

// ---- fields -----------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_newline(char c) { return c == '\n' || c == '\r'; }

static const char *end_of(const table *t) { return t->bytes + t->length; }

static void skip_blanks(table *t) {
  while (t->at < end_of(t) && is_blank(*t->at) && (t->separator == ' ' || *t->at != t->separator))
    t->at++;
}

// At the end of a line; in .txt also at its comment, which begins like a field.
static bool line_ends(const table *t) {
  if (t->at == end_of(t) || is_newline(*t->at))
    return true;
  bool begins = t->separator == ' ' && (t->at == t->line_start || is_blank(t->at[-1]));
  return begins && (*t->at == '#' || (end_of(t) - t->at >= 2 && !memcmp(t->at, "--", 2)));
}

// Over the end of a line, which is in hand: LF, CR LF or CR.
static void skip_newline(table *t) {
  bool two = end_of(t) - t->at >= 2 && t->at[0] == '\r' && t->at[1] == '\n';
  t->at += two ? 2 : t->at < end_of(t);
  t->line++;
  t->line_start = t->at;
}

static void skip_line(table *t) {
  while (t->at < end_of(t) && !is_newline(*t->at))
    t->at++;
  skip_newline(t);
}

static text_place place_of(const table *t) {
  return (text_place){t->line, (uint64_t)(t->at - t->line_start) + 1};
}

// Moves behind the closing quote of a field. A quote in it is doubled; it may hold newlines.
static bool skip_quoted(value_source *s, table *t, text_place place) {
  for (t->at++; t->at < end_of(t);) {
    bool doubled = end_of(t) - t->at >= 2 && t->at[1] == '"';
    if (*t->at == '"' && !doubled) {
      t->at++;
      return true;
    }
    if (is_newline(*t->at))
      skip_newline(t);
    else
      t->at += *t->at == '"' ? 2 : 1;
  }
  return source_fail_at(s, place, "this quoted field has no end");
}

static bool add_cell(value_source *s, table *t, size_t at) {
  if (!memory_grow(&t->row, sizeof *t->row, at, &t->capacity))
    return source_fail(s, "out of memory");
  cell *c = &t->row[at];
  *c = (cell){t->at, 0, place_of(t)};
  if (t->separator != ' ' && !line_ends(t) && *t->at == '"' && !skip_quoted(s, t, c->place))
    return false;
  while (!line_ends(t) && (t->separator == ' ' ? !is_blank(*t->at) : *t->at != t->separator))
    t->at++;
  c->length = (size_t)(t->at - c->at);
  while (c->length > 0 && is_blank(c->at[c->length - 1]))
    c->length--;
  return true;
}

// Moves from the end of a field to the next one; false: the row has none.
static bool next_field(table *t) {
  skip_blanks(t);
  if (line_ends(t))
    return false;
  if (t->separator != ' ') {
    t->at++;
    skip_blanks(t);
  }
  return true;
}

// The next row's fields; *count 0: there is none.
static bool next_row(value_source *s, table *t, size_t *count) {
  *count = 0;
  for (; t->at < end_of(t); skip_line(t)) {
    skip_blanks(t);
    if (!line_ends(t) && *t->at != '#')
      break;
  }
  if (t->at == end_of(t))
    return true;
  do
    if (!add_cell(s, t, (*count)++))
      return false;
  while (next_field(t));
  skip_line(t);
  return true;
}

// The text of a field without its quotes; false if it is too long to be a number.
static bool unquote(const cell *c, char out[LONGEST_TOKEN + 1]) {
  bool quoted = c->length >= 2 && c->at[0] == '"' && c->at[c->length - 1] == '"';
  const char *at = c->at + quoted, *end = c->at + c->length - quoted;
  size_t length = 0;
  for (; at < end && length < LONGEST_TOKEN; at++) {
    out[length++] = *at;
    at += quoted && at[0] == '"';
  }
  out[length] = 0;
  return at >= end;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool read_bytes(value_source *s, table *t) {
  uint64_t left;
  source_holds(s, 0, &left);
  t->first_line = s->line;
  for (size_t capacity = s->size_known ? (size_t)left + s->tabs + 1 : SOURCE_BUFFER + s->tabs;;
       capacity *= 2) {
    char *grown = source_grow(s, t->bytes, t->length, capacity);
    if (!grown)
      return false;
    t->bytes = grown;
    if (!t->length && s->tabs)  // they were taken for blanks
      memset(grown, '\t', t->length = s->tabs);
    t->length += source_read_bytes(s, grown + t->length, capacity - t->length);
    if (t->length < capacity)
      return !s->failure || source_fail(s, "cannot read");
  }
}

static void rewind_table(table *t) {
  t->at = t->line_start = t->bytes;
  t->line = t->first_line;
}

// A NUL would end the text of a field before its end.
static bool check_bytes(value_source *s, table *t) {
  const char *zero = t->length ? memchr(t->bytes, 0, t->length) : NULL;
  rewind_table(t);
  while (zero && t->at < zero)
    if (is_newline(*t->at))
      skip_newline(t);
    else
      t->at++;
  return !zero || source_fail_at(s, place_of(t),
                                 "this is a NUL byte, which no text has; a file in UTF-16 must be "
                                 "saved as UTF-8");
}

static const struct {
  char character;
  const char *name;
} separators[] = {{',', "commas"},
                  {';', "semicolons"},
                  {'|', "vertical bars"},
                  {'\t', "tabulators"},
                  {' ', "blanks"}};
enum { BLANKS = 4, SEPARATORS };

// The place of `c` in the table; SEPARATORS: it separates nothing.
static size_t separator_of(char c) {
  size_t i = 0;
  while (i < SEPARATORS && separators[i].character != c)
    i++;
  return i;
}

// Whether the blank at `at` may stand between fields of the line: not beside another separator.
static bool is_between_fields(const char *line, const char *at, const char *end) {
  const char *last = at, *next = at;
  while (last > line && is_blank(last[-1]))
    last--;
  while (next < end && is_blank(*next))
    next++;
  return last > line && next < end && separator_of(last[-1]) == SEPARATORS &&
         separator_of(*next) == SEPARATORS && !is_newline(*next);
}

// -12,5 and no more; `string` goes on to `end`, or to a blank.
static bool is_decimal_comma(const char *string, const char *end) {
  const char *at = string + (string < end && (*string == '-' || *string == '+')), *whole = at;
  while (at < end && isdigit((unsigned char)*at))
    at++;
  if (at == whole || at == end || *at != ',')
    return false;
  const char *fraction = ++at;
  while (at < end && isdigit((unsigned char)*at))
    at++;
  return at > fraction && (at == end || is_blank(*at) || is_newline(*at));
}

// A number with a decimal comma on either side of the blank.
static bool is_beside_decimal_comma(const char *line, const char *at, const char *end) {
  const char *word = at;
  while (word > line && !is_blank(word[-1]))
    word--;
  return is_decimal_comma(word, end) || is_decimal_comma(at + 1, end);
}

// Which separators the line in hand has, outside of quotes. Blanks are, beside commas, only where
// these may be decimal commas.
static void find_separators(table *t, bool seen[SEPARATORS], bool is_csv) {
  const char *line = t->at;
  bool quoted = false;
  for (char last = ','; t->at < end_of(t); last = is_blank(*t->at) ? last : *t->at, t->at++) {
    if (!quoted && (is_csv ? is_newline(*t->at) : line_ends(t)))
      return;
    if (*t->at == '"' && (quoted || last == '"' || separator_of(last) < SEPARATORS))
      quoted = !quoted;
    size_t i = quoted ? SEPARATORS : separator_of(*t->at);
    if (i < SEPARATORS && (!is_blank(*t->at) || is_between_fields(line, t->at, end_of(t))))
      seen[i] |= i < BLANKS || is_beside_decimal_comma(line, t->at, end_of(t));
  }
}

// The first field of the line in hand, as this separator ends it.
static bool quote_first(value_source *s, table *t, char separator, char out[QUOTE_SIZE]) {
  t->separator = separator;
  t->at = t->line_start;
  skip_blanks(t);
  if (!add_cell(s, t, 0))
    return false;
  value_quote(out, t->row->at, t->row->length);
  return true;
}

// The first line that is no comment decides.
static bool find_separator(value_source *s, table *t) {
  bool seen[SEPARATORS] = {false};
  t->separator = ' ';
  rewind_table(t);
  for (; t->at < end_of(t); skip_line(t)) {
    skip_blanks(t);
    if (!line_ends(t) && *t->at != '#')
      break;
  }
  t->at = t->line_start;
  text_place place = place_of(t);
  find_separators(t, seen, s->is_csv);
  size_t one = 0, two;
  while (one < SEPARATORS && !seen[one])
    one++;
  for (two = one + 1; two < SEPARATORS && !seen[two]; two++)
    ;
  t->separator = separators[one < SEPARATORS ? one : BLANKS].character;
  if (s->is_csv && one == SEPARATORS)
    t->separator = ',';
  char first[QUOTE_SIZE], other[QUOTE_SIZE];
  return two >= SEPARATORS ||
         (quote_first(s, t, separators[one].character, first) &&
          quote_first(s, t, separators[two].character, other) &&
          source_fail_at(
              s, place,
              "the first field of this line is '%s' by %s and '%s' by %s; put a field that holds a "
              "separator in quotes, and write a decimal comma as a point: 1.5",
              first, separators[one].name, other, separators[two].name));
}

static bool is_number(const cell *c) {
  char token[LONGEST_TOKEN + 1];
  number n;
  return unquote(c, token) && number_scan(token, &n);
}

// What other tools write where a value is missing.
static bool is_missing(const char *string) {
  static const char *const words[] = {"NA", "N/A", "n/a", "null", "NULL", "None"};
  size_t i = 0;
  while (i < sizeof words / sizeof *words && strcmp(string, words[i]))
    i++;
  return i < sizeof words / sizeof *words;
}

// Whether a character of UTF-8 begins here that is a digit, but not of ASCII: the table has the
// zeros of Arabic, Indian and other scripts, in the order of Unicode.
static bool is_foreign_digit(const unsigned char *at) {
  static const uint16_t zeros[] = {0x660, 0x6f0, 0x7c0,  0x966,  0x9e6,  0xa66, 0xae6,
                                   0xb66, 0xbe6, 0xc66,  0xce6,  0xd66,  0xde6, 0xe50,
                                   0xed0, 0xf20, 0x1040, 0x17e0, 0x1810, 0xff10};
  unsigned character = at[0] < 0xe0 ? (at[0] & 31u) << 6 | (at[1] & 63u)
                                    : (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u);
  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
    if (at[0] > 127 && at[0] < 0xf0 && character - zeros[i] < 10)
      return true;
  return false;
}

// A field that makes the first row a header: no number, and it begins like a word. Neither a sign
// nor $ begins one; in UTF-8 0xc2 and 0xe2 begin signs (of currencies, minus, hard blanks).
static bool is_name(const cell *c) {
  char string[LONGEST_TOKEN + 1];
  unquote(c, string);
  if (is_missing(string))
    return false;
  unsigned char first = (unsigned char)string[0];
  bool foreign = first > 127 && first != 0xc2 && first != 0xe2 &&
                 !is_foreign_digit((const unsigned char *)string);
  return (isalpha(first) || first == '_' || foreign) && !is_number(c);
}

static bool add_name(value_source *s, const cell *c) {
  char name[LONGEST_TOKEN + 1];
  unquote(c, name);
  return fields_add(s, name, strlen(name));
}

// A header with a number in it may be a row of a table that has no header.
static void note_header(value_source *s, const table *t) {
  char list[FIELD_LIST_SIZE];
  bool numbers = false;
  for (size_t i = 0; i < s->fields.width && t->has_header && !s->fields.by_name; i++)
    numbers = numbers || is_number(&t->row[i]);
  if (numbers)
    snprintf(
        s->note, sizeof s->note,
        "the first row names the columns (%s) and is not among the data; if it is data, write a "
        "row of names above it",
        fields_list(s, list));
}

static bool open_table(value_source *s) {
  source_drop_fields(s);
  table *t = s->table = calloc(1, sizeof *t);
  if (!t)
    return source_fail(s, "out of memory");
  if (!read_bytes(s, t) || !check_bytes(s, t) || !find_separator(s, t))
    return false;
  rewind_table(t);
  size_t width;
  if (!next_row(s, t, &width))
    return false;
  for (size_t i = 0; i < width && !t->has_header; i++)
    t->has_header = (s->is_csv || s->columns || t->separator != ' ') && is_name(&t->row[i]);
  for (size_t i = 0; i < width && t->has_header; i++)
    if (!add_name(s, &t->row[i]))
      return false;
  s->fields.width = width;
  if (!fields_choose(s))
    return false;
  note_header(s, t);
  return true;
}

// ---- columns ------------------------------------------------------------------------------------

// What option -i names columns by, as a shell takes it: their names where they are plain, else
// their numbers. Of the header, in hand, those for which numeric[i]; NULL: all. False: there is
// none.
static bool list_choice(const value_source *s, const table *t, const bool *numeric,
                        char out[CHOICE_SIZE]) {
  char name[LONGEST_TOKEN + 1];
  FREED_BY(text_free) text words = {0};
  bool standard = strcmp(s->name, "standard input") == 0, some = false;
  text_string(&words, standard ? "-" : s->name);
  for (size_t i = 0; i < s->fields.width && words.length < CHOICE_SIZE - 60; i++) {
    if (numeric && !numeric[i])
      continue;
    bool plain = unquote(&t->row[i], name) && is_name(&t->row[i]) && strlen(name) < 40;
    for (const char *c = name; *c; c++)
      plain = plain && (isalnum((unsigned char)*c) || *c == '_' || *c == '-' || *c == '.');
    if (!plain)
      snprintf(name, sizeof name, "%zu", i);
    text_printf(&words, "%c%s", some ? ',' : ':', name);
    some = true;
  }
  FREED_BY(text_free) text word = {0};
  text_shell_word(&word, text_content(&words));
  bool good = some && !words.failed && !word.failed && word.length + 4 < CHOICE_SIZE;
  if (good)
    snprintf(out, CHOICE_SIZE, "-i %s", word.data);
  return good;
}

// The column holds text: names it, and the columns that have a number in the row in hand.
static bool fail_text_column(value_source *s, table *t, size_t column, const char *found) {
  char name[QUOTE_SIZE], choice[CHOICE_SIZE];
  text_place place = t->row[column].place;
  size_t width;
  FREED bool *numeric = malloc(s->fields.width * sizeof *numeric);
  if (!numeric)
    return source_fail(s, "out of memory");
  for (size_t i = 0; i < s->fields.width; i++)
    numeric[i] = is_number(&t->row[i]);
  rewind_table(t);
  next_row(s, t, &width);
  snprintf(name, sizeof name, "%zu", column);
  if (t->has_header)
    value_quote(name, s->fields.names[column], strlen(s->fields.names[column]));
  bool columns = list_choice(s, t, numeric, choice);
  return source_fail_at(s, place, "column '%.40s' holds text ('%s'); permc reads numbers only%s%s",
                        name, found, columns ? ": choose columns, as in " : "",
                        columns ? choice : "");
}

// The field of this column is no number; `row` counts from 0 and without the header.
static bool fail_no_number(value_source *s, table *t, size_t column, uint64_t row) {
  char string[LONGEST_TOKEN + 1], found[QUOTE_SIZE], choice[CHOICE_SIZE];
  const cell *c = &t->row[column];
  unquote(c, string);
  value_quote(found, string, strlen(string));
  const char *hint = "", *example = "";
  bool may_have_header = s->is_csv || s->columns || t->separator != ' ';
  bool decimal = is_decimal_comma(string, string + strlen(string));
  if (decimal && strlen(strchr(string, ',')) == 4)
    hint = "; write it without a separator of thousands, 1234, or with a decimal point, 1.234";
  else if (decimal || (t->separator == ',' && strchr(string, ';')))
    hint = "; write the decimal comma as a point: 1.5";
  else if (strchr(string, ',') && !string[strspn(string, "+-0123456789,.")])
    hint = "; write thousands without separators: 1234.5";
  else if (is_missing(string))
    hint = "; a missing value can be nan, in columns of floats";
  else if (row == 0 && strlen(s->name) > 4 && !strcmp(s->name + strlen(s->name) - 4, ".npy"))
    hint = "; a .npy file begins with \\x93NUMPY, and this one does not";
  else if (row == 0 && !may_have_header && s->buffer && is_name(c) &&
           list_choice(s, t, NULL, choice))
    hint = "; a header is read with ", example = choice;
  else if (row == 0 && may_have_header && is_name(c))
    return fail_text_column(s, t, column, found);
  else if (s->is_csv && strpbrk(string, " \t"))
    hint = "; commas, semicolons or tabulators separate the columns of .csv, blanks those of .txt";
  else if (row == 0 && t->has_header)
    return fail_text_column(s, t, column, found);
  else if (row == 0 && may_have_header)
    hint = "; a header has a name in it, which begins with a letter";
  else if (row > 0)
    hint = "; a field is a number, such as 1.5, or true or false";
  return source_fail_at(s, c->place, "expected a value, found '%s'%s%s", found, hint, example);
}

// `c`: the field of this column and row.
static bool add_field(text_reader *r, table *t, const cell *c, size_t column, uint64_t row) {
  r->at = c->place;
  r->kind = unquote(c, r->token) ? TOKEN_WORD : TOKEN_LONG;
  r->length = strlen(r->token);
  if (r->kind == TOKEN_WORD && r->length == 0)
    return source_fail_at(r->source, r->at,
                          "this field is empty; a missing value can be nan, in columns of floats");
  if (text_reader_add(r))
    return true;
  if (r->kind == TOKEN_LONG || is_number(c))
    return false;
  *r->source->error = (error){0};  // a message that knows of columns
  return fail_no_number(r->source, t, column, row);
}

static bool begin_rows(value_source *s, table *t) {
  size_t width;
  rewind_table(t);
  return !t->has_header || next_row(s, t, &width);
}

static bool mark_row(value_source *s, table *t, const cell *c) {
  if (!memory_grow(&t->marks, sizeof *t->marks, t->rows, &t->marks_capacity))
    return source_fail(s, "out of memory");
  t->marks[t->rows++] = (uint64_t)(c->at - t->bytes);
  return true;
}

// A column behind marked_column, each field from its row's mark on, which it moves. A field that is
// wrong is looked at again as one of its whole row, with its place.
static bool read_marked(value_source *s, table *t, size_t column, text_reader *r, uint64_t *rows) {
  for (*rows = 0; *rows < t->rows; ++*rows) {
    size_t width;
    t->at = t->bytes + t->marks[*rows];
    t->line_start = t->at - (t->at > t->bytes && !is_newline(t->at[-1]));
    for (size_t i = t->marked_column; add_cell(s, t, 0) && i < column; i++)
      next_field(t);
    t->marks[*rows] = (uint64_t)(t->row->at - t->bytes);
    if (add_field(r, t, t->row, column, *rows))
      continue;
    *s->error = (error){0};
    bool good = begin_rows(s, t);
    for (uint64_t row = 0; good && row <= *rows; row++)
      good = next_row(s, t, &width);
    return good && add_field(r, t, &t->row[column], column, *rows);
  }
  t->marked_column = column;
  return true;
}

// The columns from number `first` to `last` - 1 of those that are wanted, row by row.
static bool read_columns(value_source *s, table *t, size_t first, size_t last, text_reader *r,
                         uint64_t *rows) {
  size_t width, column = first < last ? s->fields.wanted[first] : 0;
  if (t->rows && column >= t->marked_column)
    return read_marked(s, t, column, r, rows);
  t->rows = 0;
  t->marked_column = column;
  if (!begin_rows(s, t))
    return false;
  for (*rows = 0; next_row(s, t, &width); ++*rows) {
    if (width == 0)
      return true;
    if (width != s->fields.width)
      return source_fail_at(s, t->row[0].place,
                            "this row has %zu field%s, but the first has %zu; rows of a table have "
                            "equally many",
                            width, width == 1 ? "" : "s", s->fields.width);
    for (size_t i = first; i < last; i++)
      if (!add_field(r, t, &t->row[s->fields.wanted[i]], s->fields.wanted[i], *rows))
        return false;
    if (last < s->fields.count && !mark_row(s, t, &t->row[column]))
      return false;
  }
  return false;
}

bool table_read(value_source *s, array *out) {
  text_reader r;
  s->start = 0;
  if (!s->table && !open_table(s)) {
    source_drop_table(s);
    return false;
  }
  table *t = s->table;
  size_t first = s->fields.next, count = s->fields.count;
  bool whole = first == 0 && (s->expected.rank == 2 || s->expected.rank == -3);
  text_reader_begin(&r, s);
  r.start = (text_place){t->first_line, 1};
  bool good = read_columns(s, t, first, whole || !count ? count : first + 1, &r, &out->dims[0]);
  if (good && r.count == 0 && r.type == SCALAR_COUNT)
    good = source_fail(
        s, !t->length ? "this file is empty, and an empty array needs the type of its "
                        "elements, as in main : [m]f64 -> [m]f64"
                      : "a table without rows has no element type; the program may name one, as in "
                        "main : [m]f64 -> [m]f64");
  s->one_row = out->dims[0] == 1 && !t->has_header && !s->columns;
  out->rank = whole ? 2 : 1;
  out->dims[1] = whole ? count : 0;
  good = text_reader_end(&r, good, out);
  if (good && !source_expects(s, out->type, out->rank)) {
    array_destroy(out);
    good = false;
  }
  if (good && !whole && count)
    fields_next(s);
  if (!good || whole || s->fields.next == count)
    source_drop_table(s);
  return good;
}

// ---- writing ----------------------------------------------------------------------------------

bool table_holds(const array *components, size_t count, error *e) {
  for (size_t c = 0; c < count; c++) {
    const array *a = &components[c];
    if (a->rank > 2)
      return error_set(e, SPAN_NONE,
                       "a table has rows and columns, but this value has %u dimensions; write it "
                       "as .npy or .bin",
                       (unsigned)a->rank);
    if (!a->rank != !components[0].rank || (a->rank && a->dims[0] != components[0].dims[0]))
      return error_set(e, SPAN_NONE,
                       "the columns of a table are of one length, but the components of this "
                       "tuple are not; write it as text or .bin");
  }
  return true;
}

static uint64_t columns_of(const array *a) { return a->rank == 2 ? a->dims[1] : 1; }

static bool write_table(FILE *to, const permc_value *v, char separator) {
  char string[ELEMENT_TEXT];
  uint64_t rows = v->count && v->components[0].rank ? v->components[0].dims[0] : v->count > 0;
  for (uint64_t row = 0; row < rows && !ferror(to); row++) {
    bool first = true;
    for (const array *a = v->components; a < v->components + v->count; a++)
      for (uint64_t i = row * columns_of(a); i < (row + 1) * columns_of(a); i++, first = false) {
        const char *element = (const char *)a->data + i * scalar_types[a->type].size;
        if (!first)
          putc_unlocked(separator, to);
        fwrite_unlocked(string, 1, number_print(string, a->type, element, false), to);
      }
    putc_unlocked('\n', to);
  }
  return !ferror(to);
}

// The names of the components, if any has one and they are read as a header again.
static bool write_header(FILE *to, const permc_value *v, error *e) {
  bool named = false, header = false;
  for (size_t i = 0; i < v->count; i++) {
    named = named || (v->names && v->names[i]);
    if (v->components[i].rank == 2)  // several columns
      return true;
  }
  char **names = named ? names_written(v, "column_") : NULL;
  FREED_BY(text_free) text row = {0};
  for (size_t i = 0, start; names && i < v->count && !row.failed; i++) {
    text_string(&row, i ? "," : "");
    start = row.length;
    fields_add_csv_name(&row, names[i]);
    header = header || (!row.failed &&
                        is_name(&(cell){.at = row.data + start, .length = row.length - start}));
  }
  names_free(names, v->count);
  text_string(&row, "\n");
  return named && (!names || row.failed)
             ? error_no_memory(e)
             : !header || fwrite(row.data, 1, row.length, to) == row.length;
}

bool csv_write(FILE *to, const permc_value *v, error *e) {
  return write_header(to, v, e) && write_table(to, v, ',');
}

bool plain_write(FILE *to, const permc_value *v, error *e) {
  (void)e;
  return write_table(to, v, ' ');
}
