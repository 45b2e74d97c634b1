// Strings in JSON texts (RFC 8259).
#ifndef PERMC_RUNTIME_EXPLAIN_JSON_H
#define PERMC_RUNTIME_EXPLAIN_JSON_H

#include "core/text.h"

void json_write_string(text *to, const char *string);  // in quotes, escaped

#endif
