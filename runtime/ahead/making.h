// A library while it is made. Private to runtime/ahead/.
//
//   ahead_make      ahead_add_host_source or ahead_add_gpu_source, then ahead_add_library
#ifndef PERMC_RUNTIME_AHEAD_MAKING_H
#define PERMC_RUNTIME_AHEAD_MAKING_H

#include "runtime/ahead/ahead.h"
#include "runtime/cpu/storage.h"
#include "runtime/explain/explain.h"

// An argument or result, as callers see it.
typedef struct ahead_array {
  array shape;     // without data
  char name[64];   // in the program; "": none
  bool is_static;  // a part of the program, so no parameter
} ahead_array;

typedef struct ahead_making {
  permc_context *context;
  const ahead_request *request;
  ahead_library *library;
  size_t argument_count, result_count;
  ahead_array *arrays;  // arguments, then results
  uint64_t workspace_bytes;
  bool has_roots;
  char title[400];               // "main : [2^n]u32 -> [2^n]u32"
  text externs;                  // declarations of foreign functions
  size_t program_arrays;         // of the plan
  bool has_routines, has_sorts;  // of a processor
} ahead_making;

// For %llu.
static inline unsigned long long number(uint64_t n) { return n; }
// A file of the library, to be filled: FORMAT is its name. NULL: there is no memory.
text *ahead_add_file(ahead_library *l, const char *format, ...) PRINTF_LIKE(2, 3);

// A call of the plan: where all is, in what order.
typedef struct ahead_plan {
  const plan *plan;
  const trace *trace;
  const c_code *code;
  array_layout layout;
  uint32_t checked_after;  // passes, after which the checks are looked at; 0: there are none
  bool copies;             // results are in the workspace until the checks are passed
  uint32_t root_count;
  uint64_t *roots_at;  // by table of roots: its place in the memory that is made once
} ahead_plan;

// NAME_program.c. False: reported.
bool ahead_add_host_source(ahead_making *m, ahead_plan *s);  // host.c
bool ahead_add_gpu_source(ahead_making *m, ahead_plan *s);   // gpu.c
void ahead_write_head(text *out, const ahead_making *m);     // of a source
// The other files (library.c). False: reported.
bool ahead_add_library(ahead_making *m);

// ---- place.c ---------------------------------------------------------------------------------

// Layout and checks, of passes as they are executed. False: memory is out.
bool ahead_place_arrays(ahead_plan *s, const storage_pass *passes);
// The tables of roots, from *at on; then *at is behind them. False: memory is out.
bool ahead_place_roots(ahead_plan *s, uint64_t *at);
uint64_t ahead_aligned(uint64_t bytes);
net_id ahead_array_of_result(const plan *p, size_t result);

// ---- tables.c --------------------------------------------------------------------------------

// The tables places, tables, roots and roots_at, checks, copies.
void ahead_write_places(text *out, const ahead_plan *s);
void ahead_write_tables(text *out, const ahead_plan *s);
void ahead_write_roots(text *out, const ahead_plan *s);
void ahead_write_checks(text *out, const ahead_plan *s);
uint32_t ahead_write_copies(text *out, const ahead_plan *s);  // returns how many
void ahead_write_numbers(text *out, const char *name, size_t count, const uint64_t *numbers);
// Words of 8 bytes, between braces; the last may have less.
void ahead_write_words(text *out, const unsigned char *bytes, uint64_t count);

// ---- routine.c -------------------------------------------------------------------------------

// Adds the tables routine_OF and blocks_OF (host_program_text.h) of a routine, and to *memory what
// it takes of memory while it runs. False: memory is out.
bool ahead_add_routine(text *out, const plan *p, const net_routine *r, uint32_t of,
                       uint64_t *memory);

#endif
