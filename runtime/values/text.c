// Futhark's text format.
//
//   [[1i32, 2], [3, 4]]   empty([0][8]f32)   1.5+2.0ic64   -f32.inf   0x1.8p3   true  -- comment
//
// Reading goes token by token; a token is a run of letters, digits and . + - _ (and nan(0x1) in it)
// or one other character. Nesting is counted, not recursed into. Elements go into one growing
// block. While neither an expectation nor an element has said what the type is, integers are kept
// as i64 and converted when one does ([1, 2.5] is f64, [1, 2u8] is u8).
//
// Printed numbers are the shortest that read back exactly. All of this runs in the C locale
// (value_read and value_write see to it).
#include "runtime/values/formats.h"

#include <strings.h>

// ---- tokens -----------------------------------------------------------------------------------

static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Digits, letters and . + - _ as two sets of bits: this is asked of every character.
static bool is_word(int c) {
  static const uint64_t words[2] = {UINT64_C(0x3ff680000000000), UINT64_C(0x7fffffe87fffffe)};
  return (unsigned)c < 128 && (words[c >> 6] >> (c & 63) & 1) != 0;
}

static bool comment_begins(value_source *s) {
  return source_fill(s, 2) && s->at[0] == '-' && s->at[1] == '-';
}

void text_skip_space(value_source *s) {
  s->tabs = 0;
  for (int c = source_peek(s); c >= 0; c = source_peek(s)) {
    if (c == '-' && comment_begins(s)) {
      while (c >= 0 && c != '\n' && c != '\r') {
        s->at++;
        c = source_peek(s);
      }
    } else if (is_space(c)) {
      s->at++;
      s->tabs = c == '\t' ? s->tabs + 1 : c == ' ' ? s->tabs : 0;
      if (c == '\n' || (c == '\r' && source_peek(s) != '\n')) {
        s->line++;
        s->line_start = source_offset(s);
      }
    } else {
      return;
    }
  }
}

// Whether c goes on with the word in hand: nan(0x1) is one word.
static bool is_in_word(const text_reader *r, int c) {
  return is_word(c) ||
         (c == '(' && r->length >= 3 && !strncasecmp(r->token + r->length - 3, "nan", 3)) ||
         (c == ')' && memchr(r->token, '(', r->length));
}

static void next_token(text_reader *r) {
  value_source *s = r->source;
  text_skip_space(s);
  r->at = source_place(s);
  r->length = 0;
  int c = source_peek(s);
  r->kind = c < 0 ? TOKEN_END : is_word(c) ? TOKEN_WORD : c;
  if (c >= 0 && !is_word(c)) {
    r->token[r->length++] = (char)c;
    s->at++;
  }
  while (r->kind == TOKEN_WORD && is_in_word(r, c) && !(c == '-' && comment_begins(s))) {
    if (r->length == LONGEST_TOKEN) {
      r->kind = TOKEN_LONG;
      break;
    }
    r->token[r->length++] = (char)c;
    s->at++;
    c = source_peek(s);
  }
  r->token[r->length] = 0;
}

// ---- messages ---------------------------------------------------------------------------------

// "expected WHAT, found 'x'".
static bool fail_unexpected(text_reader *r, const char *what) {
  char quote[QUOTE_SIZE];
  if (r->kind == TOKEN_END)
    return source_fail_at(
        r->source, r->at, "expected %s, found the end of the text (the value begins at %llu:%llu)",
        what, (unsigned long long)r->start.line, (unsigned long long)r->start.column);
  if (r->kind == TOKEN_LONG)
    return source_fail_at(r->source, r->at, "a number may have at most %d characters",
                          LONGEST_TOKEN);
  text_skip_space(r->source);
  const char *hint = source_peek(r->source) == '=' && r->kind == TOKEN_WORD
                         ? "; values have no names: [1, 2, 3] [4, 5]"
                     : r->length != 1     ? ""
                     : r->token[0] == '(' ? "; an array of pairs is written as two arrays: [1, 2] "
                                            "[0.5, 1.5]"
                     : r->token[0] == '"' ? "; there are no strings, only numbers, true and false"
                                          : "";
  return source_fail_at(r->source, r->at, "expected %s, found '%s'%s", what,
                        value_quote(quote, r->token, r->length), hint);
}

static bool check_expected(text_reader *r, scalar_type type, uint32_t rank) {
  char mismatch[MISMATCH_SIZE];
  return !value_mismatch(r->source, mismatch, type, rank) ||
         source_fail_at(r->source, r->start, "%s", mismatch);
}

static bool fail_memory(text_reader *r) {
  return source_fail_at(r->source, r->at, "out of memory");
}

// ---- elements ---------------------------------------------------------------------------------

static bool fail_out_of_range(text_reader *r, scalar_type type) {
  char quote[QUOTE_SIZE];
  r->source->other_type = true;
  return source_fail_at(r->source, r->at, "%s is outside %s (%s)",
                        value_quote(quote, r->token, strlen(r->token)), scalar_types[type].name,
                        number_range(type));
}

static scalar_type type_so_far(const text_reader *r) {
  return r->type == SCALAR_COUNT ? SCALAR_I64 : r->type;
}

static size_t element_size(const text_reader *r) { return scalar_types[type_so_far(r)].size; }

// Sets the type and converts the integers that came before.
static bool decide_type(text_reader *r, scalar_type type) {
  if (r->count == 0) {
    r->type = type;
    return true;
  }
  if (type == SCALAR_BOOL)
    return fail_unexpected(r, "a number");
  const int64_t *before = (const int64_t *)(const void *)r->data;
  bool integer = scalar_types[type].kind == KIND_SIGNED || scalar_types[type].kind == KIND_UNSIGNED;
  for (uint64_t i = 0; integer && i < r->count; i++)
    if (!scalar_holds(type, before[i] < 0,
                      before[i] < 0 ? 0 - (uint64_t)before[i] : (uint64_t)before[i]))
      return source_fail_at(r->source, r->at, "the element %lld before this %s is outside %s (%s)",
                            (long long)before[i], scalar_types[type].name, scalar_types[type].name,
                            number_range(type));
  uint64_t capacity = r->count * scalar_types[type].size;
  unsigned char *converted = malloc((size_t)capacity);
  if (!converted)
    return fail_memory(r);
  scalar_convert(SCALAR_I64, type, (size_t)r->count, before, converted);
  free(r->data);
  r->data = converted;
  r->capacity = capacity;
  r->type = type;
  return true;
}

static bool reserve_element(text_reader *r) {
  size_t size = element_size(r);
  uint64_t needed = (r->count + 1) * size;
  if (needed <= r->capacity)
    return true;
  uint64_t capacity = needed < 128 ? 128 : 2 * needed;
  void *grown = source_grow(r->source, r->data, r->capacity, capacity);
  if (!grown)
    return false;
  r->data = grown;
  r->capacity = capacity;
  return true;
}

bool text_reader_add(text_reader *r) {
  number n;
  if (r->kind != TOKEN_WORD || !number_scan(r->token, &n))
    return fail_unexpected(r, "a value");
  if (r->type == SCALAR_COUNT && (n.form != NUMBER_INTEGER || n.suffix != SCALAR_COUNT) &&
      !decide_type(r, number_type(&n)))
    return false;
  scalar_type type = type_so_far(r);
  if (!number_suits(&n, type)) {
    r->source->other_type = true;
    return fail_unexpected(r, scalar_types[type].name);
  }
  if (!reserve_element(r))
    return false;
  if (!number_store(r->data + r->count * element_size(r), type, &n))
    return fail_out_of_range(r, type);
  r->count++;
  return true;
}

// ---- nested lists -----------------------------------------------------------------------------

// Where the reader stands: `depth` brackets are open; level 0 is the outermost.
typedef struct nesting {
  int depth;
  int rank;  // -1: not known before the first element or the first closing bracket
  text_place opened[VALUE_MAX_RANK];
  uint64_t counts[VALUE_MAX_RANK];  // elements (rows) so far at each open level
  bool measured[VALUE_MAX_RANK];
  uint64_t dims[VALUE_MAX_RANK];  // where measured
} nesting;

static bool decide_rank(text_reader *r, nesting *n) {
  n->rank = n->depth;
  return check_expected(r, type_so_far(r), (uint32_t)n->rank);
}

static bool open_list(text_reader *r, nesting *n) {
  if (n->depth == n->rank)
    return fail_unexpected(r, "a number");
  if (n->depth == VALUE_MAX_RANK)
    return source_fail_at(r->source, r->at, "an array may have at most %d dimensions",
                          VALUE_MAX_RANK);
  n->opened[n->depth] = r->at;
  n->counts[n->depth] = 0;
  n->depth++;
  return true;
}

static bool close_list(text_reader *r, nesting *n) {
  if (n->rank < 0 && !decide_rank(r, n))
    return false;
  int level = --n->depth;
  if (!n->measured[level]) {
    n->measured[level] = true;
    n->dims[level] = n->counts[level];
  } else if (n->dims[level] != n->counts[level]) {
    return source_fail_at(r->source, n->opened[level],
                          "this row has length %llu, but the first row has length %llu; rows of "
                          "one array have one length",
                          (unsigned long long)n->counts[level], (unsigned long long)n->dims[level]);
  }
  if (level > 0)
    n->counts[level - 1]++;
  return true;
}

static bool add_list_element(text_reader *r, nesting *n) {
  if (n->rank < 0 && r->kind == TOKEN_WORD && !decide_rank(r, n))
    return false;
  if (n->rank >= 0 && n->depth < n->rank)
    return fail_unexpected(r, "'['");
  n->counts[n->depth - 1]++;
  return text_reader_add(r);
}

// From the opening bracket in hand to its closing one.
static bool read_list(text_reader *r, nesting *n) {
  bool may_close = false;  // after '[': yes; after ',': no
  for (;;) {
    if (r->kind == '[') {
      if (!open_list(r, n))
        return false;
      may_close = true;
      next_token(r);
      continue;
    }
    if (r->kind != ']' || !may_close) {
      if (!add_list_element(r, n))
        return false;
      next_token(r);
    }
    while (r->kind == ']') {
      if (!close_list(r, n))
        return false;
      if (n->depth == 0)
        return true;
      next_token(r);
    }
    if (r->kind != ',')
      return fail_unexpected(r, "',' or ']'");
    next_token(r);
    may_close = false;
  }
}

static bool read_list_value(text_reader *r, array *out) {
  nesting n = {.rank = -1};
  if (!read_list(r, &n))
    return false;
  if (r->count == 0 && r->type == SCALAR_COUNT)
    return source_fail_at(r->source, r->start,
                          "an empty array needs an element type; write it as empty([0]i64)");
  out->rank = (uint32_t)n.rank;
  memcpy(out->dims, n.dims, sizeof n.dims);
  return true;
}

// ---- the other forms of a value ---------------------------------------------------------------

static bool expect_token(text_reader *r, int kind, const char *what) {
  if (r->kind != kind)
    return fail_unexpected(r, what);
  next_token(r);
  return true;
}

// Decimal digits and nothing else; false if it is something else.
static bool scan_length(const char *at, uint64_t *length, bool *overflow) {
  *length = 0;
  *overflow = false;
  const char *digit = at;
  for (; *digit >= '0' && *digit <= '9'; digit++)
    if (__builtin_mul_overflow(*length, (uint64_t)10, length) ||
        __builtin_add_overflow(*length, (uint64_t)(*digit - '0'), length))
      *overflow = true;
  return digit > at && !*digit;
}

static bool read_dimension(text_reader *r, array *out) {
  if (out->rank == VALUE_MAX_RANK)
    return source_fail_at(r->source, r->at, "an array may have at most %d dimensions",
                          VALUE_MAX_RANK);
  next_token(r);
  bool overflow;
  if (r->kind != TOKEN_WORD || !scan_length(r->token, &out->dims[out->rank], &overflow))
    return fail_unexpected(r, "a length");
  if (overflow)
    return fail_out_of_range(r, SCALAR_U64);
  out->rank++;
  next_token(r);
  return expect_token(r, ']', "']'");
}

// empty([0][8]f32), with `empty` in hand.
static bool read_empty_array(text_reader *r, array *out) {
  bool has_zero = false;
  next_token(r);
  if (!expect_token(r, '(', "'('"))
    return false;
  while (r->kind == '[') {
    if (!read_dimension(r, out))
      return false;
    has_zero = has_zero || out->dims[out->rank - 1] == 0;
  }
  scalar_type type = r->kind == TOKEN_WORD ? scalar_named(r->token, r->length) : SCALAR_COUNT;
  if (out->rank == 0 || type == SCALAR_COUNT)
    return fail_unexpected(r,
                           out->rank == 0 ? "a dimension, as in empty([0]i32)" : "an element type");
  next_token(r);
  if (r->kind != ')')
    return fail_unexpected(r, "')'");
  uint64_t bytes;
  if (!check_expected(r, type, out->rank))
    return false;
  if (!has_zero)
    return source_fail_at(r->source, r->start,
                          "an empty array must have a dimension of 0, as in empty([0]i32)");
  if (!array_bytes_of(scalar_types[type].size, out->rank, out->dims, &bytes))
    return source_fail_at(r->source, r->start,
                          "the dimensions are too large: their product exceeds the address space");
  r->type = type;
  return true;
}

static bool read_any_value(text_reader *r, array *out) {
  if (r->kind == '[')
    return read_list_value(r, out);
  if (r->kind == TOKEN_WORD && strcmp(r->token, "empty") == 0)
    return read_empty_array(r, out);
  return text_reader_add(r) && check_expected(r, type_so_far(r), 0);
}

void text_reader_begin(text_reader *r, value_source *s) {
  r->source = s;  // its token is large: not zeroed
  r->type = s->expected.type;
  r->count = r->capacity = 0;
  r->data = NULL;
}

bool text_reader_end(text_reader *r, bool good, array *out) {
  if (!good || !(r->capacity > 0 || reserve_element(r))) {
    free(r->data);
    return false;
  }
  uint64_t bytes = r->count * element_size(r);
  void *fitted = realloc(r->data, bytes ? (size_t)bytes : 1);
  out->type = type_so_far(r);
  out->data = fitted ? fitted : r->data;
  return true;
}

bool text_read(value_source *s, array *out) {
  text_reader r;
  text_reader_begin(&r, s);
  next_token(&r);
  r.start = r.at;
  bool good = read_any_value(&r, out) && !s->failure;  // a failed read looks like the end
  if (s->failure)
    source_fail(s, "cannot read");
  return text_reader_end(&r, good, out);
}

// ---- writing ----------------------------------------------------------------------------------

// A stream is written to by one thread.
static void add(FILE *to, const char *bytes, size_t count) { fwrite_unlocked(bytes, 1, count, to); }

static void write_shape(FILE *to, const array *a) {
  FREED_BY(text_free) text shape = {0};
  array_print_shape(&shape, a);
  add(to, text_content(&shape), shape.length);
}

// Before element i, `opening` brackets open: as many as there are dimensions whose rows begin at i.
// After it as many close as end there.
static void write_array(FILE *to, const array *a) {
  static const char opens[VALUE_MAX_RANK + 1] = "[[[[[[[[[[[[[[[[",
                                           closes[VALUE_MAX_RANK + 1] = "]]]]]]]]]]]]]]]]";
  char string[ELEMENT_TEXT];
  uint64_t index[VALUE_MAX_RANK] = {0};
  uint32_t begun = a->rank, ended;
  size_t size = scalar_types[a->type].size;
  for (const char *element = a->data; !ferror(to); element += size) {
    add(to, opens, begun);
    add(to, string, number_print(string, a->type, element, true));
    for (ended = 0; ended < a->rank && ++index[a->rank - 1 - ended] == a->dims[a->rank - 1 - ended];
         ended++)
      index[a->rank - 1 - ended] = 0;
    add(to, closes, ended);
    if (ended == a->rank)
      return;
    add(to, ", ", 2);
    begun = ended;
  }
}

static void write_component(FILE *to, const array *a) {
  if (array_count(a)) {
    write_array(to, a);
    return;
  }
  add(to, "empty(", 6);
  write_shape(to, a);
  add(to, ")", 1);
}

bool text_write(FILE *to, const permc_value *v, error *e) {
  (void)e;
  for (size_t i = 0; i < v->count && !ferror(to); i++) {
    write_component(to, &v->components[i]);
    add(to, "\n", 1);
  }
  return !ferror(to);
}

// ---- the ends of large arrays -----------------------------------------------------------------

// The elements of one row of dimension `level`, which begin with element `first`: so many at each
// end of every dimension.
static void write_ends(FILE *to, const array *a, uint32_t level, uint64_t first, uint64_t ends) {
  char string[ELEMENT_TEXT];
  uint64_t count = level < a->rank ? a->dims[level] : 0;
  if (level == a->rank) {
    const char *element = (const char *)a->data + first * scalar_types[a->type].size;
    add(to, string, number_print(string, a->type, element, true));
    return;
  }
  add(to, "[", 1);
  for (uint64_t i = 0; i < count && !ferror(to); i++) {
    add(to, ", ", i ? 2 : 0);
    if (i == ends && count > 2 * ends) {
      add(to, "...", 3);
      i = count - ends - 1;
    } else {
      write_ends(to, a, level + 1, first * count + i, ends);
    }
  }
  add(to, "]", 1);
}

// Up to three at each end, as NumPy does; fewer where many dimensions make them too many.
static uint64_t choose_ends(const array *a, uint64_t most) {
  for (uint64_t ends = 3; ends > 0; ends--) {
    uint64_t shown = 1;
    for (uint32_t i = 0; i < a->rank && shown <= most; i++)
      shown *= a->dims[i] < 2 * ends ? a->dims[i] : 2 * ends;
    if (shown <= most)
      return ends;
  }
  return 0;
}

bool summary_write(FILE *to, const permc_value *v, error *e) {
  enum { MOST = 1000 };
  (void)e;
  for (const array *a = v->components; a < v->components + v->count && !ferror(to); a++) {
    if (array_count(a) <= MOST) {
      write_component(to, a);
    } else {
      write_ends(to, a, 0, 0, choose_ends(a, MOST));
      add(to, "  -- ", 5);
      write_shape(to, a);
    }
    add(to, "\n", 1);
  }
  return !ferror(to);
}
