// See json_text.h.
#include "tool/reports/json_text.h"

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
