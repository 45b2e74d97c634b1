// The results of checks. See checks.h.
//
//   keys.perm:2:13: error: index 12 at position 5 is outside of an array of 10 elements
#include "runtime/checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/check.inc"

static void report_hint(diagnostics *d, const trace_check *k, const check_fault *f) {
  bool twice = (uint64_t)f->value < k->length;
  if (k->kind == CHECK_KEYS)
    diag_report(d, DIAG_HINT, k->where,
                "more bits take larger keys, and min %" PRIu64
                " key keeps them below; reduce_groups takes pairs with any keys",
                k->length - 1);
  const char *hint =
      k->kind == CHECK_PADDING
          ? "pad with what the function puts last: padded maxval sort in ascending order, "
            "padded minval sort_desc in descending; take m (f (extended x xs)) is what f makes "
            "of elements and padding"
      : k->kind == CHECK_PLACES && twice ? "each element needs a place of its own"
      : k->kind == CHECK_PLACES
          ? "indices are 0 to length xs - 1: clamp 0 (length xs - 1) i is one of them; what is "
            "defined outside of a branch is computed even where that is not taken"
      : (k->kind == CHECK_ROWS || k->kind == CHECK_ENDS) && f->value < 0
          ? "offsets ascend: each is at least the one before it"
          : NULL;
  if (hint)
    diag_report(d, DIAG_HINT, k->where, "%s", hint);
}

bool checks_pass(diagnostics *d, const trace *t, const array *results) {
  for (size_t i = 0; i < t->checks.count; i++) {
    const trace_check *k = &t->checks.items[i];
    const array *a = &results[trace_returned(t) + i];
    const check_rule rule = {k->kind, k->is_unsigned, k->length, k->inner};
    char message[200];
    check_fault fault;
    if (check_is_passed(&rule, a->data, array_bytes(a), &fault))
      continue;
    check_print_fault(message, sizeof message, &fault);
    diag_report(d, DIAG_ERROR, k->where, "%s", message);
    report_hint(d, k, &fault);
    return false;
  }
  return true;
}
