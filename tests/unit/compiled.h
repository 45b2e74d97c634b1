// A plan compiled for the processor, for tests.
#ifndef PERMC_TESTS_COMPILED_H
#define PERMC_TESTS_COMPILED_H

#include "runtime/compiled/compiled.h"

// Whether one byte of text is too much, so that some passes are executed uncompiled.
static bool text_is_bounded = false;

// As compiled_new, of the text that the plan has with these options; NULL: those of the backend
// cpu.
static inline compiled *compiled_from_plan(const plan *p, const c_options *text_options,
                                           const compiled_options *o, compiled_status *status,
                                           error *why) {
  static const c_options usual = {.stream_bytes = COMPILED_STREAM_BYTES};
  c_code code = {0};
  const char *problem = NULL;
  compiled *e = NULL;
  *status = COMPILED_FAILED;
  bool written = c_emit(&code, p, text_options ? text_options : &usual, &problem);
  if (written && text_is_bounded)
    c_code_bound(&code, p, c_code_bytes(&code) - 1);
  if (written)
    e = compiled_new(p, &code, o, status, why);
  else
    error_set(why, SPAN_NONE, "%s", problem ? problem : "out of memory");
  c_code_free(&code);
  return e;
}

#endif
