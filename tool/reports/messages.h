// Messages of a context as JSON, a value of each error and warning, with its hints and notes:
//
//   {"severity": "error", "message": "'srot' is not defined", "help": ["did you mean 'sort'?"],
//    "notes": [], "file": "keys.perm", "line": 2, "column": 11, "end_line": 2, "end_column": 15}
#ifndef PERMC_TOOL_REPORTS_MESSAGES_H
#define PERMC_TOOL_REPORTS_MESSAGES_H

#include "core/error.h"
#include <jansson.h>

// Adds them to the list. d->reported must have been set before they came.
void report_messages_json(json_t *list, const diagnostics *d);
// The same of an error that has words alone.
void report_words_json(json_t *list, const char *words);

#endif
