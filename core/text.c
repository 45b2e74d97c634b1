#include "core/text.h"
#include <stdio.h>

// Room for `count` more bytes and the terminating 0.
static bool text_reserve(text *t, size_t count) {
  if (t->failed)
    return false;
  if (t->data && count < t->capacity - t->length)
    return true;
  if (count > SIZE_MAX / 4 || t->length > SIZE_MAX / 4) {
    t->failed = true;
    return false;
  }
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity <= t->length + count)
    capacity *= 2;
  char *data = t->memory ? arena_try_alloc(t->memory, capacity) : realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
  if (t->memory && t->data)
    memcpy(data, t->data, t->length + 1);
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_add(text *t, const char *bytes, size_t count) {
  if (!text_reserve(t, count))
    return;
  if (count)
    memcpy(t->data + t->length, bytes, count);
  t->length += count;
  t->data[t->length] = 0;
}

void text_string(text *t, const char *string) { text_add(t, string, strlen(string)); }

void text_printf(text *t, const char *format, ...) {
  WITH_ARGUMENTS(format, text_vprintf(t, format, arguments));
}

void text_vprintf(text *t, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0)
    t->failed = true;
  else if (text_reserve(t, (size_t)length)) {
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    t->length += (size_t)length;
  }
  va_end(again);
}

void text_character(text *t, uint32_t c) {
  bool good = c > 0 && c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
  c = good ? c : 0xFFFD;
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char first[4] = {0, 0xC0, 0xE0, 0xF0};
  char bytes[4] = {(char)(first[more] | c >> 6 * more)};
  for (int i = 1; i <= more; i++)
    bytes[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3F));
  text_add(t, bytes, (size_t)more + 1);
}

size_t text_character_length(const char *bytes, size_t left) {
  const unsigned char *c = (const unsigned char *)bytes;
  size_t length = *c < 0x80 ? 1 : *c < 0xC2 ? 0 : *c < 0xE0 ? 2 : *c < 0xF0 ? 3 : *c < 0xF5 ? 4 : 0;
  unsigned char low = *c == 0xE0 ? 0xA0 : *c == 0xF0 ? 0x90 : 0x80;
  unsigned char high = *c == 0xED ? 0x9F : *c == 0xF4 ? 0x8F : 0xBF;
  if (length > left || (length > 1 && (c[1] < low || c[1] > high)))
    return 0;
  for (size_t k = 2; k < length; k++)
    if ((c[k] & 0xC0) != 0x80)
      return 0;
  return length;
}

// Whether a terminal shows it: it is no control character.
static bool is_shown(const char *bytes, size_t length) {
  unsigned char c = (unsigned char)bytes[0];
  bool later = length == 2 && c == 0xC2 && (unsigned char)bytes[1] < 0xA0;  // U+0080 ... U+009F
  return length && !later && (c >= 32 || c == '\t' || c == '\n') && c != 127;
}

void text_shown(text *t, const char *bytes, size_t count) {
  for (size_t i = 0, length; i < count; i += length ? length : 1) {
    length = text_character_length(bytes + i, count - i);
    bool shown = is_shown(bytes + i, length);
    text_add(t, shown ? bytes + i : "?", shown ? length : 1);
  }
}

void text_message(text *t, const char *format, va_list arguments) {
  enum { END = 1000 };  // bytes kept at either end
  FREED_BY(text_free) text all = {0};
  text_vprintf(&all, format, arguments);
  const char *bytes = text_content(&all);
  size_t head = all.length, tail = 0;
  if (all.length > 2 * END) {
    for (head = END; ((unsigned char)bytes[head] & 0xC0) == 0x80; head--) {
    }
    for (tail = END; ((unsigned char)bytes[all.length - tail] & 0xC0) == 0x80 && tail; tail--) {
    }
  }
  text_shown(t, bytes, head);
  text_string(t, head < all.length ? " ... " : "");
  text_shown(t, bytes + all.length - tail, tail);
  t->failed |= all.failed;
}

// As bash, zsh and ksh read bytes that no terminal shows: $'caf\351'.
static void escape_shell_word(text *t, const char *word) {
  text_string(t, "$'");
  for (const unsigned char *c = (const unsigned char *)word; *c; c++)
    if (*c == '\'' || *c == '\\')
      text_printf(t, "\\%c", *c);
    else if (*c < 32 || *c > 126)
      text_printf(t, "\\%03o", *c);
    else
      text_printf(t, "%c", *c);
  text_string(t, "'");
}

void text_shell_word(text *t, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+=:,.@%/";
  if (*word && !word[strspn(word, plain)]) {
    text_string(t, word);
    return;
  }
  for (size_t i = 0, left = strlen(word), length; i < left; i += length) {
    length = text_character_length(word + i, left - i);
    if (!is_shown(word + i, length) || word[i] == '\n') {
      escape_shell_word(t, word);
      return;
    }
  }
  text_string(t, "'");
  for (const char *c = word; *c; c++)
    text_add(t, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
  text_string(t, "'");
}

size_t text_distance(const char *a, const char *b) {
  enum { LONGEST = 40 };
  size_t rows[3][LONGEST + 1], n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST)
    return SIZE_MAX;
  for (size_t j = 0; j <= m; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
      best = above[j] + 1 < best ? above[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      row[j] = swapped && before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
    }
  }
  return rows[n % 3][m];
}

void text_consider(text_closest *c, const char *candidate) {
  // At most a third of the letters differ; of two letters, anything would be near.
  size_t length = strlen(c->word), whole = strlen(candidate);
  size_t most = (length - strspn(c->word, "-")) / 3;
  if (length < 3)
    return;
  // What begins so, or has it as a word, means it: mach, machine; desc, sort_desc.
  bool begins = !strncmp(candidate, c->word, length);
  bool ends = whole > length && candidate[whole - length - 1] == '_' &&
              !strcmp(candidate + whole - length, c->word);
  size_t distance = begins ? 0 : ends ? 1 : text_distance(c->word, candidate);
  bool nearer = !c->name || distance < c->distance;
  bool shorter = c->name && distance == c->distance && whole < strlen(c->name);
  if (distance <= most && (nearer || shorter)) {
    c->name = candidate;
    c->distance = distance;
  }
}

const char *text_content(const text *t) { return t->data ? t->data : ""; }

void text_free(text *t) {
  if (!t->memory)
    free(t->data);
  *t = (text){.memory = t->memory};
}

char *arena_text(arena *a, text *t) {
  char *copy = t->failed ? NULL : arena_try_alloc(a, t->length + 1);
  if (copy && t->length)
    memcpy(copy, t->data, t->length);
  text_free(t);  // before the jump, which would lose it
  if (!copy)
    arena_fail(a);
  return copy;
}

char *arena_printf(arena *a, const char *format, ...) {
  text t = {0};
  WITH_ARGUMENTS(format, text_vprintf(&t, format, arguments));
  return arena_text(a, &t);
}

// ---- numbers --------------------------------------------------------------------------------

bool c_environment_enter(c_environment *c) {
  c->entered = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c->entered)
    return false;
  c->before = uselocale(c->entered);
  c->floats = float_environment_enter();
  return true;
}

void c_environment_leave(c_environment *c) {
  float_environment_leave(&c->floats);
  uselocale(c->before);
  freelocale(c->entered);
}
