// Strings in JSON texts (RFC 8259).
#ifndef PERMC_TOOL_REPORTS_JSON_TEXT_H
#define PERMC_TOOL_REPORTS_JSON_TEXT_H

#include "core/text.h"

void json_write_string(text *to, const char *string);  // in quotes, escaped

#endif
