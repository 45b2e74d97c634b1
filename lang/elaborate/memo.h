// Memoised calls. A call of a global function with the same static arguments, and dynamic ones of
// the same shapes, leaves the same steps up to renaming: they are written once and then copied.
//
//   sort 3 %0: ... parm 1 (sort 2) ...      the steps of `sort 2 %1` are %2 ... %40
//   later: sort 2 %77                       %78 ... %116: the same with %1 -> %77
#ifndef PERMC_LANG_ELABORATE_MEMO_H
#define PERMC_LANG_ELABORATE_MEMO_H

#include "lang/elaborate/elaborator.h"

typedef struct memo_call memo_call;

// The result of an equal earlier call, its steps copied; or NULL, and then *call is what
// memo_finish wants (NULL when this call cannot be memoised).
value *memo_replay(elaborator *e, const closure *f, memo_call **call);
void memo_finish(elaborator *e, memo_call *call, value *result);

// The elements of this step decide something: calls that are given it are copied for no others.
void memo_look_at(elaborator *e, value_id id);

#endif
