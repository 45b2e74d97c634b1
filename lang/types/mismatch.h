// Private to lang/types: two types that should be one, and what is said where they are not: the
// error, and a hint that looks at the types or at the call around them.
//
//   map xs (+ 1)      error: expected t1 -> t2, found []i64
//                     hint: the function comes first: map f xs; of two arrays: zip_with f xs ys
#ifndef PERMC_LANG_TYPES_MISMATCH_H
#define PERMC_LANG_TYPES_MISMATCH_H

#include "lang/types/types.h"

// What hints know of the calls so far.
typedef struct call_notes {
  const expr *whole;    // the application whose beginning is being typed: f x y of f x; or NULL
  const expr *commas;   // the last call f(x, y) of a function that takes its arguments one by one
  const type *callee;   // of that type
  const expr *misread;  // the last call whose operator was meant to be an argument
  const char *loop;     // iter or its like, of which a function of a round is being typed; or NULL
  span round;           // that function's body
} call_notes;

const char *type_text(arena *a, type *t);
// Makes both types equal or says that this expression has the wrong one. It is the argument of
// `call`, or that is NULL.
bool expect_type(diagnostics *d, call_notes *calls, const expr *call, span where, type *wanted,
                 type *found);
// callee: the type of the function, before this argument.
bool expect_argument(diagnostics *d, call_notes *calls, const expr *call, type *callee,
                     type *found);
// The same of an operand of && or ||, which are conditions. False: it is no function.
bool report_misread_condition(diagnostics *d, const expr *branch, const type *found);
// The call's function has this type, which is none of a function.
void report_not_function(diagnostics *d, const expr *call, type *t);
// Whether nothing is known of the call's result, since it contains a call that is misread: one
// mistake, one message.
bool call_is_misread(const call_notes *calls, const expr *call);

#endif
