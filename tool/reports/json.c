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

json_t *report_string(const char *string) {
  json_t *value = json_string(string);
  if (value)
    return value;
  FREED_BY(text_free) text valid = {0};
  for (size_t length; *string; string += length ? length : 1) {
    length = text_character_length(string, 4);  // a 0 ends it
    text_add(&valid, length ? string : "\xef\xbf\xbd", length ? length : 3);
  }
  return json_string(text_content(&valid));
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
