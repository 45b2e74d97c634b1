// See json.h.
#include "tool/reports/json.h"
#include "tool/cli/io.h"

#include <math.h>

static void *allocate_or_exit(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory)
    exit((int)cli_out_of_memory());
  return memory;
}

void report_json_setup(void) { json_set_alloc_funcs(allocate_or_exit, free); }

// The length of the UTF-8 sequence that `c` begins with (RFC 3629, section 4); 0: it is none.
static size_t utf8_length(const unsigned char *c) {
  size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
  unsigned char low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
  if (c[0] > 0xf4 || (length > 1 && (c[1] < low || c[1] > high)))
    return 0;
  for (size_t i = 2; i < length; i++)
    if (c[i] < 0x80 || c[i] > 0xbf)
      return 0;
  return length;
}

json_t *report_string(const char *string) {
  json_t *value = json_string(string);
  if (value)
    return value;
  text valid = {0};
  for (size_t length; *string; string += length ? length : 1) {
    length = utf8_length((const unsigned char *)string);
    text_add(&valid, length ? string : "\xef\xbf\xbd", length ? length : 3);
  }
  value = json_string(text_content(&valid));
  text_free(&valid);
  return value;
}

json_t *report_number(double number) { return isfinite(number) ? json_real(number) : json_null(); }

json_t *report_count(uint64_t count) {
  return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

static int add_bytes(const char *bytes, size_t count, void *to) {
  text_add(to, bytes, count);
  return 0;
}

void report_print_json(text *to, json_t *value, unsigned digits, unsigned indent) {
  if (json_dump_callback(value, add_bytes, to,
                         JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits) | JSON_INDENT(indent)))
    to->failed = true;
  text_string(to, "\n");
  json_decref(value);
}

json_t *report_read_json(const char *bytes, size_t length, text *wrong) {
  json_error_t error;
  json_t *value =
      json_loadb(bytes, length, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
  if (!value)
    text_printf(wrong, "line %d: %s", error.line, error.text);
  return value;
}
