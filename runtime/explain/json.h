// JSON texts (RFC 8259) read into trees.
//
//   const char *wrong;
//   json *report = json_read(&arena, bytes, length, &wrong);
//   const json *rows = json_member(report, "rows");          // NULL if there is none
//   for (const json *row = json_first(rows); row; row = row->next)
//     puts(json_string(json_member(row, "name"), "?"));
#ifndef PERMC_RUNTIME_EXPLAIN_JSON_H
#define PERMC_RUNTIME_EXPLAIN_JSON_H

#include "core/text.h"

typedef enum json_kind {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} json_kind;

typedef struct json json;
struct json {
  json_kind kind;
  double number;
  const char *string;  // UTF-8; a string with a zero byte ends there
  json *first;         // of an array or object
  const char *key;     // of a member
  json *next;          // its neighbour
};

// NULL: *wrong is a sentence such as "line 3: a value is missing" (in the arena, or static).
// At most 64 arrays and objects inside of each other.
json *json_read(arena *memory, const char *bytes, size_t length, const char **wrong);

// Of NULL, or of another kind, each of these gives NULL or what is said.
const json *json_first(const json *list);
const json *json_member(const json *object, const char *key);
const char *json_string(const json *value, const char *otherwise);
double json_number(const json *value, double otherwise);

void json_write_string(text *to, const char *string);  // in quotes, escaped

#endif
