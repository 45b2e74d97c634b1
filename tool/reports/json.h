// JSON of reports, with the library jansson (https://jansson.readthedocs.io).
//
//   json_t *row = json_pack("{s:o, s:o}", "name", report_string("sort"),
//                           "seconds", report_number(4.125e-6));
//   report_print_json(&out, row, 3, 0);        // {"name": "sort", "seconds": 4.13e-06}
//
// Values are made by jansson and by the functions here, which never give NULL in the tool: where
// memory runs out, report_json_setup lets it end with a message.
#ifndef PERMC_TOOL_REPORTS_JSON_H
#define PERMC_TOOL_REPORTS_JSON_H

#include "core/text.h"
#include <jansson.h>

void report_json_setup(void);  // called once, by main

json_t *report_string(const char *string);  // what is not UTF-8 becomes U+FFFD
json_t *report_number(double number);       // null where it is not finite
json_t *report_count(uint64_t count);       // from 2^63 on as a real number
// Prints the value, its real numbers with so many digits, and a newline; frees it. indent: blanks
// for each level; 0: one line.
void report_print_json(text *to, json_t *value, unsigned digits, unsigned indent);
// NULL: *wrong is a sentence such as "line 3: '}' expected near end of file". Numbers are real. The
// caller frees both: json_decref, text_free.
json_t *report_read_json(const char *bytes, size_t length, text *wrong);

#endif
