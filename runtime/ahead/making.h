// A library while it is made. Private to runtime/ahead/.
//
//   ahead_make      for each size: ahead_add_size; then ahead_add_library
#ifndef PERMC_RUNTIME_AHEAD_MAKING_H
#define PERMC_RUNTIME_AHEAD_MAKING_H

#include "runtime/ahead/ahead.h"
#include "runtime/cpu/layout.h"
#include "runtime/explain/explain.h"

// An argument or result, as callers see it.
typedef struct ahead_array {
  scalar_type type;
  uint32_t rank;
  uint64_t dims[VALUE_MAX_RANK];
  char name[64];   // in the program; "": none
  bool is_static;  // a part of the program, so no parameter
} ahead_array;

typedef struct ahead_size {
  size_t argument_count, result_count;
  ahead_array *arrays;  // arguments, then results
  uint64_t workspace_bytes;
  bool has_roots;
} ahead_size;

typedef struct ahead_making {
  permc_context *context;
  const ahead_request *request;
  ahead_library *library;
  size_t size_count;  // made so far
  ahead_size *sizes;
  char title[400];  // "main : [2^n]u32 -> [2^n]u32"
  text externs;     // declarations of foreign functions
} ahead_making;

// A file of the library, to be filled: FORMAT is its name. NULL: there is no memory.
text *ahead_add_file(ahead_library *l, const char *format, ...) PRINTF_LIKE(2, 3);
// "[16][4]u32".
void ahead_write_shape(text *out, const ahead_array *a);

// The source of the next size (size.c), from a Plan. False: reported.
bool ahead_add_size(ahead_making *m, const pipeline *p);
// The files that all sizes share (library.c). False: reported.
bool ahead_add_library(ahead_making *m);

// Routine number `number` of a source, as tables of C (routine.c): the name is routine_NUMBER.
void ahead_write_routine(text *out, const plan *p, const net_routine *r, uint32_t number);
// What it needs of memory while it runs, on a processor. False: it cannot be written; *why.
bool ahead_routine_bytes(const net_routine *r, uint64_t *bytes, const char **why);

#endif
