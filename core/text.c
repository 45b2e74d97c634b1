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
  char *data = realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
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
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(t, format, arguments);
  va_end(arguments);
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

const char *text_content(const text *t) { return t->data ? t->data : ""; }

void text_free(text *t) {
  free(t->data);
  *t = (text){0};
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
  va_list arguments;
  text t = {0};
  va_start(arguments, format);
  text_vprintf(&t, format, arguments);
  va_end(arguments);
  return arena_text(a, &t);
}

// ---- numbers in texts ----------------------------------------------------------------------

bool c_locale_enter(c_locale *c) {
  c->entered = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c->entered)
    c->before = uselocale(c->entered);
  return c->entered;
}

void c_locale_leave(c_locale *c) {
  uselocale(c->before);
  freelocale(c->entered);
}
