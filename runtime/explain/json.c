// A recursive descent over the text. See json.h.
#include "runtime/explain/json.h"

typedef struct reader {
  arena *memory;
  const char *start, *at, *end;
  unsigned depth;
  const char *wrong;  // the first thing that is
} reader;

static json *read_value(reader *r);

static json *fail(reader *r, const char *what) {
  size_t line = 1;
  for (const char *c = r->start; c < r->at; c++)
    line += *c == '\n';
  if (!r->wrong)
    r->wrong = arena_printf(r->memory, "line %zu: %s", line, what);
  return NULL;
}

static int peek(const reader *r) { return r->at < r->end ? (unsigned char)*r->at : -1; }

static void skip_space(reader *r) {
  while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
    r->at++;
}

static bool take(reader *r, int c) {
  skip_space(r);
  if (peek(r) != c)
    return false;
  r->at++;
  return true;
}

// ---- strings ------------------------------------------------------------------------------------

static void add_utf8(char **to, uint32_t c) {
  unsigned char bytes[4];
  size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = count; i-- > 1; c >>= 6)
    bytes[i] = (unsigned char)(0x80 | (c & 0x3f));
  bytes[0] = (unsigned char)(lead[count] | c);
  memcpy(*to, bytes, count);
  *to += count;
}

static bool read_hex(reader *r, uint32_t *code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    static const char digits[] = "0123456789abcdef";
    const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at | 0x20) : NULL;
    if (!digit)
      return false;
    *code = *code << 4 | (uint32_t)(digit - digits);
    r->at++;
  }
  return true;
}

// After \u: four digits, or a pair of surrogates.
static bool read_unicode(reader *r, uint32_t *code) {
  uint32_t low;
  if (!read_hex(r, code))
    return false;
  if (*code < 0xd800 || *code > 0xdfff)
    return true;
  if (*code > 0xdbff || r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
    return false;
  r->at += 2;
  if (!read_hex(r, &low) || low < 0xdc00 || low > 0xdfff)
    return false;
  *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

static bool read_escape(reader *r, char **to) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  int c = peek(r);
  const char *letter = c > 0 ? strchr(letters, c) : NULL;
  uint32_t code = 0;
  if (c < 0)
    return false;
  r->at++;
  if (letter)
    *(*to)++ = meant[letter - letters];
  else if (c != 'u' || !read_unicode(r, &code))
    return false;
  else
    add_utf8(to, code);
  return true;
}

// The opening quote has been taken. NULL: reported.
static const char *read_string(reader *r) {
  size_t room = 1;
  for (const char *c = r->at; c < r->end && *c != '"'; c += c[0] == '\\' ? 2 : 1)
    room += c[0] == '\\' ? 2 : 1;
  char *string = arena_alloc(r->memory, room + 4), *to = string;
  while (peek(r) >= 0x20 && peek(r) != '"') {
    if (*r->at != '\\')
      *to++ = *r->at++;
    else if (r->at++, !read_escape(r, &to))
      return fail(r, "an escape in a string is wrong"), NULL;
  }
  if (peek(r) != '"')
    return fail(r, "a string has no end"), NULL;
  r->at++;
  return string;
}

// ---- values -------------------------------------------------------------------------------------

static json *new_value(reader *r, json_kind kind) {
  json *value = NEW(r->memory, json);
  value->kind = kind;
  return value;
}

static size_t digits(const char *c, const char *end) {
  size_t count = 0;
  while (c + count < end && c[count] >= '0' && c[count] <= '9')
    count++;
  return count;
}

static json *read_number(reader *r) {
  const char *c = r->at + (peek(r) == '-');
  size_t whole = digits(c, r->end), part = 0;
  bool good = whole == 1 || (whole > 1 && *c != '0');
  c += whole;
  if (c < r->end && *c == '.') {
    part = digits(c + 1, r->end);
    good = good && part > 0;
    c += 1 + part;
  }
  if (c < r->end && (*c == 'e' || *c == 'E')) {
    c += 1 + (c + 1 < r->end && (c[1] == '+' || c[1] == '-'));
    part = digits(c, r->end);
    good = good && part > 0;
    c += part;
  }
  if (!good)
    return fail(r, "a value is missing or wrong");
  json *value = new_value(r, JSON_NUMBER);
  value->number = strtod(arena_copy(r->memory, r->at, (size_t)(c - r->at)), NULL);
  r->at = c;
  return value;
}

static json *read_word(reader *r) {
  static const struct {
    const char *word;
    json_kind kind;
  } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].word);
    if ((size_t)(r->end - r->at) >= length && !memcmp(r->at, words[i].word, length)) {
      r->at += length;
      return new_value(r, words[i].kind);
    }
  }
  return read_number(r);
}

static json *read_member(reader *r, bool has_key) {
  const char *key = NULL;
  if (has_key) {
    if (!take(r, '"'))
      return fail(r, "the name of a member is missing");
    key = read_string(r);
    if (key && !take(r, ':'))
      return fail(r, "':' is missing after the name of a member");
  }
  json *value = has_key && !key ? NULL : read_value(r);
  if (value)
    value->key = key;
  return value;
}

static json *read_list(reader *r, json_kind kind) {
  char closing = kind == JSON_OBJECT ? '}' : ']';
  json *list = new_value(r, kind), **end = &list->first;
  if (++r->depth > 64)
    return fail(r, "there are too many brackets inside of each other");
  for (bool more = !take(r, closing); more; more = !take(r, closing)) {
    if (list->first && !take(r, ','))
      return fail(r, "',' or a closing bracket is missing");
    *end = read_member(r, kind == JSON_OBJECT);
    if (!*end)
      return NULL;
    end = &(*end)->next;
  }
  r->depth--;
  return list;
}

static json *read_value(reader *r) {
  if (take(r, '{'))
    return read_list(r, JSON_OBJECT);
  if (take(r, '['))
    return read_list(r, JSON_ARRAY);
  if (!take(r, '"'))
    return read_word(r);
  const char *string = read_string(r);
  json *value = string ? new_value(r, JSON_STRING) : NULL;
  if (value)
    value->string = string;
  return value;
}

json *json_read(arena *memory, const char *bytes, size_t length, const char **wrong) {
  reader r = {.memory = memory, .start = bytes, .at = bytes, .end = bytes + length};
  json *value = read_value(&r);
  skip_space(&r);
  if (value && r.at < r.end)
    value = fail(&r, "something follows the value");
  *wrong = value ? NULL : r.wrong;
  return value;
}

// ---- access -------------------------------------------------------------------------------------

const json *json_first(const json *list) { return list ? list->first : NULL; }

const json *json_member(const json *object, const char *key) {
  for (const json *m = object && object->kind == JSON_OBJECT ? object->first : NULL; m; m = m->next)
    if (strcmp(m->key, key) == 0)
      return m;
  return NULL;
}

const char *json_string(const json *value, const char *otherwise) {
  return value && value->kind == JSON_STRING ? value->string : otherwise;
}

double json_number(const json *value, double otherwise) {
  return value && value->kind == JSON_NUMBER ? value->number : otherwise;
}

void json_write_string(text *to, const char *string) {
  text_string(to, "\"");
  for (const char *c = string; *c; c++) {
    if (*c == '"' || *c == '\\')
      text_printf(to, "\\%c", *c);
    else if ((unsigned char)*c < 0x20)
      text_printf(to, "\\u%04x", (unsigned)*c);
    else
      text_add(to, c, 1);
  }
  text_string(to, "\"");
}
