// The header of a .npy, both ways. Strict where numpy.load is; but keys may come in any order, with
// any spaces, and Python 2's lengths (3L) are read.
#include "runtime/values/formats.h"

#include <ctype.h>

enum {
  LONGEST_HEADER = 1 << 20,
  DEEPEST_FIELD = 16,
  LARGEST_RECORD = SOURCE_BUFFER,  // what source_fill can bring together
};

// ---- the text ---------------------------------------------------------------------------------

// A cursor over the header. The first failure writes the message and stays.
typedef struct npy_parser {
  const char *at, *end;
  npy_header *header;
  value_source *source;
  bool latin;  // the text is Latin-1, else UTF-8
  text name;   // of the field at hand: "position.x" of nested ones
} npy_parser;

static void skip_spaces(npy_parser *p) {
  while (p->at < p->end && (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r')))
    p->at++;
}

// The next character that is no space, or 0 at the end.
static char peek(npy_parser *p) {
  skip_spaces(p);
  return p->at < p->end ? *p->at : 0;
}

static bool accept(npy_parser *p, char c) {
  if (c != peek(p) || p->at == p->end)
    return false;
  p->at++;
  return true;
}

static bool fail_header(npy_parser *p, const char *what) {
  char quote[QUOTE_SIZE];
  skip_spaces(p);
  return source_fail(p->source, "the .npy header is malformed: expected %s, found '%s'", what,
                     value_quote(quote, p->at, (size_t)(p->end - p->at)));
}

static bool expect(npy_parser *p, char c) {
  const char what[] = {'\'', c, '\'', 0};
  return accept(p, c) || fail_header(p, what);
}

typedef struct slice {
  const char *text;
  size_t length;
} slice;

static bool slice_is(slice s, const char *string) {
  return s.length == strlen(string) && memcmp(s.text, string, s.length) == 0;
}

// 'text' or "text". Escapes are stepped over, not undone: only names may hold them (add_name).
static bool parse_string(npy_parser *p, slice *out) {
  char quote = peek(p);
  if (quote != '\'' && quote != '"')
    return fail_header(p, "a string");
  out->text = ++p->at;
  while (p->at < p->end && *p->at != quote)
    p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
  if (p->at >= p->end)
    return fail_header(p, "the end of a string");
  out->length = (size_t)(p->at++ - out->text);
  return true;
}

static bool parse_word(npy_parser *p, const char *word) {
  size_t length = strlen(word);
  skip_spaces(p);
  if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
    return false;
  p->at += length;
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool parse_number(npy_parser *p, uint64_t *out) {
  *out = 0;
  if (!is_digit(peek(p)))
    return fail_header(p, "a length");
  for (; p->at < p->end && is_digit(*p->at); p->at++)
    if (__builtin_mul_overflow(*out, (uint64_t)10, out) ||
        __builtin_add_overflow(*out, (uint64_t)(*p->at - '0'), out))
      return source_fail(p->source, "a length in the .npy header does not fit 64 bits");
  if (p->at < p->end && *p->at == 'L')  // Python 2 wrote 3L
    p->at++;
  return true;
}

// (3, 2)  (3,)  ()
static bool parse_dims(npy_parser *p, uint32_t *rank, uint64_t dims[VALUE_MAX_RANK]) {
  bool comma = true;
  if (!expect(p, '('))
    return false;
  for (*rank = 0; !accept(p, ')'); ++*rank) {
    if (!comma)
      return fail_header(p, "',' or ')'");
    if (*rank == VALUE_MAX_RANK)
      return source_fail(p->source, "an array may have at most %d dimensions", VALUE_MAX_RANK);
    if (!parse_number(p, &dims[*rank]))
      return false;
    comma = accept(p, ',');
  }
  return (*rank != 1 || comma) ||
         source_fail(p->source, "the .npy header is malformed: the shape is not a tuple");
}

static bool parse_shape(npy_parser *p) { return parse_dims(p, &p->header->rank, p->header->dims); }

// ---- element types ----------------------------------------------------------------------------

typedef struct dtype_row {
  const char *code;
  scalar_type type;
} dtype_row;

// V2: what ml_dtypes, with which NumPy has bf16, writes; NumPy itself sees two bytes.
static const dtype_row dtypes[] = {
    {"b1", SCALAR_BOOL}, {"i1", SCALAR_I8},    {"i2", SCALAR_I16},  {"i4", SCALAR_I32},
    {"i8", SCALAR_I64},  {"u1", SCALAR_U8},    {"u2", SCALAR_U16},  {"u4", SCALAR_U32},
    {"u8", SCALAR_U64},  {"f2", SCALAR_F16},   {"f4", SCALAR_F32},  {"f8", SCALAR_F64},
    {"c8", SCALAR_C64},  {"c16", SCALAR_C128}, {"V2", SCALAR_BF16},
};

// What an unsupported code is called, by its first letter.
static const char *foreign_dtype(slice code) {
  static const struct {
    char letter;
    const char *name;
  } names[] = {{'S', "bytes"},          {'a', "bytes"}, {'U', "text"},
               {'O', "Python objects"}, {'M', "dates"}, {'m', "times"},
               {'V', "raw memory"},     {'T', "text"},  {'c', "long complex"}};
  if (code.length > 0 && code.text[0] == 'f')
    return "long double";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (code.length > 0 && code.text[0] == names[i].letter)
      return names[i].name;
  return "unknown";
}

static bool fail_dtype(npy_parser *p, slice dtype, slice code) {
  char quote[QUOTE_SIZE];
  return source_fail(
      p->source,
      "dtype '%s' (%s) is not supported; supported are b1, i1 i2 i4 i8, u1 u2 u4 u8, "
      "f2 f4 f8, c8 c16, V2 (bf16)",
      value_quote(quote, dtype.text, dtype.length), foreign_dtype(code));
}

static bool add_field(npy_parser *p, scalar_type type, bool swapped) {
  npy_header *h = p->header;
  if (!memory_grow(&h->fields, sizeof *h->fields, h->count, &h->capacity))
    return source_fail(p->source, "out of memory");
  h->fields[h->count++] = (npy_field){.type = type, .swapped = swapped, .offset = h->record};
  if (p->name.failed)
    return source_fail(p->source, "out of memory");
  return !h->structured || fields_add(p->source, text_content(&p->name), p->name.length);
}

static bool extend_record(npy_parser *p, uint64_t bytes) {
  npy_header *h = p->header;
  if (bytes > LARGEST_RECORD || h->record + bytes > LARGEST_RECORD)
    return source_fail(
        p->source,
        "records of more than %d bytes are not supported; save the fields as separate arrays",
        LARGEST_RECORD);
  h->record += bytes;
  return true;
}

// Of a type that is stepped over: |V4, which is padding where it has no name, <U8 (of 4 bytes each),
// <M8[s], <f16. Python's objects have none.
static bool foreign_bytes(slice code, uint64_t *bytes) {
  size_t i = 1;
  *bytes = 0;
  for (; i < code.length && is_digit(code.text[i]); i++)
    if (*bytes <= LARGEST_RECORD)
      *bytes = 10 * *bytes + (uint64_t)(code.text[i] - '0');
  if (i < 2 || !strchr("SaUVMmfc", code.text[0]) ||
      (i < code.length && (code.text[i] != '[' || !strchr("Mm", code.text[0]))))
    return false;
  *bytes *= code.text[0] == 'U' ? 4 : 1;
  return true;
}

// '<f4', a string in hand: a field, or padding if it is void without a name.
static bool parse_dtype(npy_parser *p, bool nameless) {
  slice dtype;
  if (!parse_string(p, &dtype))
    return false;
  slice code = dtype;
  char order = '=';
  if (dtype.length > 0 && strchr("<>=|", dtype.text[0]) && dtype.text[0]) {
    order = *code.text++;
    code.length--;
  }
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (slice_is(code, dtypes[i].code) && !(nameless && code.text[0] == 'V')) {
      bool swapped = order == '>';
      return add_field(p, dtypes[i].type, swapped) &&
             extend_record(p, scalar_types[dtypes[i].type].size);
    }
  uint64_t bytes;
  if (!p->header->structured || !foreign_bytes(code, &bytes))
    return fail_dtype(p, dtype, code);
  if (nameless && code.text[0] == 'V')
    return extend_record(p, bytes);
  if (!add_field(p, SCALAR_COUNT, false))
    return false;
  char quote[QUOTE_SIZE];
  npy_field *field = &p->header->fields[p->header->count - 1];
  snprintf(field->foreign, sizeof field->foreign, "dtype '%.30s' (%s) is not supported",
           value_quote(quote, dtype.text, dtype.length), foreign_dtype(code));
  return extend_record(p, bytes);
}

// An escape of Python's strings, behind its backslash; returns what follows it.
static const char *add_escape(text *t, const char *at, const char *end) {
  static const char letters[] = "nrtabfv\\'\"", meant[] = "\n\r\t\a\b\f\v\\'\"";
  const char *letter = strchr(letters, *at);
  int digits = *at == 'x' ? 2 : *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
  uint32_t character = 0;
  if (letter && *at)
    text_add(t, meant + (letter - letters), 1);
  else if (!digits)
    text_string(t, "\\"), text_add(t, at, 1);
  at++;
  for (int i = 0; i < digits && at < end && isxdigit((unsigned char)*at); i++, at++)
    character = character << 4 | (uint32_t)(*at <= '9' ? *at - '0' : (*at & 7) + 9);
  if (digits)
    text_character(t, character);
  return at;
}

// Adds a name, as UTF-8, behind those of the fields that it is nested in.
static void add_name(npy_parser *p, slice name) {
  if (p->name.length > 0 && name.length > 0)
    text_string(&p->name, ".");
  for (const char *at = name.text, *end = at + name.length; at < end;)
    if (*at == '\\' && end - at > 1)
      at = add_escape(&p->name, at + 1, end);
    else if (p->latin || !*at)
      text_character(&p->name, (unsigned char)*at++);
    else
      text_add(&p->name, at++, 1);
}

// The name of a field: 'name', or ('title', 'name'). nameless: it is empty.
static bool parse_name(npy_parser *p, bool *nameless) {
  slice name;
  bool titled = accept(p, '(');
  bool good = parse_string(p, &name) &&
              (!titled || (expect(p, ',') && parse_string(p, &name) && expect(p, ')')));
  *nameless = good && !titled && name.length == 0;
  if (good)
    add_name(p, name);
  return good;
}

static bool parse_fields(npy_parser *p, int depth);

// The shape of a field that is itself an array: that of the fields from number `first` on.
static bool parse_repetition(npy_parser *p, size_t first, uint64_t bytes) {
  uint32_t rank;
  uint64_t dims[VALUE_MAX_RANK], all;
  if (!parse_dims(p, &rank, dims))
    return false;
  for (size_t f = first; f < p->header->count; f++)
    snprintf(p->header->fields[f].foreign, sizeof p->header->fields[f].foreign,
             "a field that is itself an array is not supported; save it as a separate array");
  p->header->record -= bytes;
  return extend_record(p, array_bytes_of((size_t)bytes, rank, dims, &all) ? all : UINT64_MAX);
}

// ('f0', '<u4')  or  ('f0', [...])  or  ('f0', '<u4', (3,))
static bool parse_field(npy_parser *p, int depth) {
  bool nameless;
  npy_header *h = p->header;
  size_t outer = p->name.length, first = h->count;
  uint64_t begin = h->record;
  if (!expect(p, '(') || !parse_name(p, &nameless) || !expect(p, ','))
    return false;
  if (!(peek(p) == '[' ? parse_fields(p, depth + 1) : parse_dtype(p, nameless)))
    return false;
  p->name.length = outer;
  if (accept(p, ',') && peek(p) != ')' && !parse_repetition(p, first, h->record - begin))
    return false;
  return expect(p, ')');
}

// [field, field, ...]. The recursion is as deep as the fields nest, at most DEEPEST_FIELD.
static bool parse_fields(npy_parser *p, int depth) {
  if (depth > DEEPEST_FIELD)
    return source_fail(p->source, "fields may be nested at most %d deep", DEEPEST_FIELD);
  bool comma = true;
  if (!expect(p, '['))
    return false;
  while (!accept(p, ']')) {
    if (!comma)
      return fail_header(p, "',' or ']'");
    if (!parse_field(p, depth))
      return false;
    comma = accept(p, ',');
  }
  return true;
}

// ---- the dictionary ---------------------------------------------------------------------------

static bool parse_descr(npy_parser *p) {
  p->header->structured = peek(p) == '[';
  if (!p->header->structured)
    return parse_dtype(p, false);
  return parse_fields(p, 1) &&
         (p->header->count > 0 || source_fail(p->source, "the structured array has no fields"));
}

static bool parse_order(npy_parser *p) {
  if (parse_word(p, "True"))
    p->header->fortran_order = true;
  else if (!parse_word(p, "False"))
    return fail_header(p, "True or False");
  return true;
}

static const struct {
  const char *key;
  bool (*parse)(npy_parser *);
} header_keys[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
enum { HEADER_KEYS = 3 };

static bool parse_entry(npy_parser *p, bool seen[HEADER_KEYS]) {
  slice key;
  char quote[QUOTE_SIZE];
  if (!parse_string(p, &key) || !expect(p, ':'))
    return false;
  for (int i = 0; i < HEADER_KEYS; i++)
    if (slice_is(key, header_keys[i].key) && !seen[i]) {
      seen[i] = true;
      return header_keys[i].parse(p);
    }
  return source_fail(p->source, "the .npy header is malformed: key '%s' is unknown or repeated",
                     value_quote(quote, key.text, key.length));
}

static bool parse_header(npy_parser *p) {
  bool seen[HEADER_KEYS] = {false}, comma = true;
  if (!expect(p, '{'))
    return false;
  while (!accept(p, '}')) {
    if (!comma)
      return fail_header(p, "',' or '}'");
    if (!parse_entry(p, seen))
      return false;
    comma = accept(p, ',');
  }
  if (peek(p) || p->at < p->end)
    return fail_header(p, "the end of the header");
  for (int i = 0; i < HEADER_KEYS; i++)
    if (!seen[i])
      return source_fail(p->source, "the .npy header is malformed: key '%s' is missing",
                         header_keys[i].key);
  if (p->header->fortran_order && p->header->rank >= 2)
    return source_fail(p->source,
                       "the array is in Fortran order; save numpy.ascontiguousarray(a) instead");
  return true;
}

// The prefix and the text of the header; *text is owned by the caller.
static bool read_header_text(npy_parser *p, char **header_text) {
  value_source *s = p->source;
  if (!source_fill(s, 8) || memcmp(s->at, "\x93NUMPY", 6) != 0)
    return source_fail(p->source,
                       "not a .npy file: it does not begin with \\x93NUMPY and a version");
  unsigned major = s->at[6], minor = s->at[7];
  if (major < 1 || major > 3 || minor != 0)
    return source_fail(
        p->source, "version %u.%u of the .npy format cannot be read; versions 1.0, 2.0 and 3.0 can",
        major, minor);
  size_t prefix = major == 1 ? 10 : 12;
  p->latin = major < 3;
  if (!source_fill(s, prefix))
    return source_fail(p->source, "the file ends inside the header");
  size_t length = 0;
  for (size_t i = prefix; i-- > 8;)
    length = length << 8 | s->at[i];
  uint64_t left;
  if (length > LONGEST_HEADER)
    return source_fail(p->source, "the .npy header has %zu bytes; at most %d are read", length,
                       LONGEST_HEADER);
  if (!source_holds(s, prefix + length, &left))
    return source_fail(
        p->source, "the file ends inside the header: it announces %zu bytes, but only %llu follow",
        length, (unsigned long long)(left - prefix));
  s->at += prefix;
  *header_text = malloc(length + 1);
  if (!*header_text)
    return source_fail(p->source, "out of memory");
  p->at = *header_text;
  p->end = *header_text + length;
  return source_read_bytes(s, *header_text, length) == length ||
         source_fail(p->source, "the file ends inside the header");
}

bool npy_read_header(value_source *s, npy_header *h) {
  npy_parser p = {.header = h, .source = s};
  char *header_text = NULL;
  source_drop_fields(s);
  bool good = read_header_text(&p, &header_text) && parse_header(&p);
  free(header_text);
  text_free(&p.name);
  return good;
}

// ---- writing ----------------------------------------------------------------------------------

static void add_dtype(text *t, scalar_type type) {
  size_t i = 0;
  while (dtypes[i].type != type)
    i++;
  char order = scalar_types[type].size == 1 ? '|' : '<';
  text_printf(t, "'%c%s'", order, dtypes[i].code);
}

// A name as Python writes a string. Bytes that are not UTF-8 are taken for Latin-1.
static void add_string(text *t, const char *name) {
  char quote = strchr(name, '\'') && !strchr(name, '"') ? '"' : '\'';
  text_add(t, &quote, 1);
  for (size_t length; *name; name += length ? length : 1) {
    unsigned char c = (unsigned char)name[0];
    length = text_character_length(name, 4);  // a 0 ends it
    if (c == '\\' || c == (unsigned char)quote)
      text_printf(t, "\\%c", c);
    else if (c < 32 || c == 127)
      text_printf(t, "\\x%02x", c);
    else if (length)
      text_add(t, name, length);
    else
      text_character(t, c);
  }
  text_add(t, &quote, 1);
}

static void add_descr(text *t, const permc_value *v) {
  if (v->count == 1) {
    add_dtype(t, v->components[0].type);
    return;
  }
  char **names = names_written(v, "f");
  t->failed = t->failed || !names;
  for (size_t c = 0; names && c < v->count; c++) {
    text_string(t, c == 0 ? "[(" : ", (");
    add_string(t, names[c]);
    text_string(t, ", ");
    add_dtype(t, v->components[c].type);
    text_string(t, ")");
  }
  text_string(t, "]");
  names_free(names, v->count);
}

// numpy.save leaves room for the first dimension to grow to 21 digits in place.
static void add_growth(text *t, const array *a) {
  char digits[24];
  if (a->rank == 0)
    return;
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)a->dims[0]);
  text_printf(t, "%*s", 21 - length, "");
}

static void add_dictionary(text *t, const permc_value *v) {
  const array *a = &v->components[0];
  text_string(t, "{'descr': ");
  add_descr(t, v);
  text_string(t, ", 'fortran_order': False, 'shape': (");
  for (uint32_t i = 0; i < a->rank; i++)
    text_printf(t, "%s%llu", i > 0 ? ", " : "", (unsigned long long)a->dims[i]);
  text_string(t, a->rank == 1 ? ",), }" : "), }");
  add_growth(t, a);
}

// The dictionary, spaces up to a multiple of 64 bytes, a newline. Version 2.0, with a length of 32
// bits, only where 16 do not do; 3.0, where the text is UTF-8, only for names that are not ASCII.
static bool write_dictionary(FILE *to, const text *dictionary, uint64_t least) {
  unsigned char prefix[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  size_t size = 10;
  size_t total = (size + dictionary->length + 1) / 64 * 64 + 64;
  total = total < least ? (size_t)least : total;
  bool ascii = true;
  for (size_t i = 0; i < dictionary->length; i++)
    ascii = ascii && (unsigned char)dictionary->data[i] < 128;
  if (total - size > UINT16_MAX || !ascii) {
    prefix[6] = ascii ? 2 : 3;
    size = 12;
    total = (size + dictionary->length + 1) / 64 * 64 + 64;
  }
  for (size_t i = 8; i < size; i++)
    prefix[i] = (unsigned char)((total - size) >> (8 * (i - 8)));
  int padding = (int)(total - size - dictionary->length - 1);
  return fwrite(prefix, 1, size, to) == size &&
         fwrite(dictionary->data, 1, dictionary->length, to) == dictionary->length &&
         fprintf(to, "%*s\n", padding, "") == padding + 1;
}

bool npy_write_header(FILE *to, const permc_value *v, uint64_t least, error *e) {
  FREED_BY(text_free) text dictionary = {0};
  add_dictionary(&dictionary, v);
  return dictionary.failed ? error_no_memory(e) : write_dictionary(to, &dictionary, least);
}

char *npy_header_of(const permc_value *v, uint64_t least, size_t *length, error *e) {
  char *bytes = NULL;
  FILE *to = open_memstream(&bytes, length);
  bool good = to && npy_write_header(to, v, least, e);
  if (to && fclose(to) != 0)
    good = false;
  if (good)
    return bytes;
  free(bytes);
  if (!*e->message)
    error_no_memory(e);
  return NULL;
}
