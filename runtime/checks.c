// The results of checks. See checks.h.
//
//   keys.perm:2:13: error: index 12 at position 5 is outside of an array of 10 elements
#include "runtime/checks.h"

#include <inttypes.h>

// Whether the elements that padded keeps are none of padding: the bools are all false.
static bool check_padding(diagnostics *d, const trace_check *k, const array *bools) {
  const char *found = array_bytes(bools) ? memchr(bools->data, true, array_bytes(bools)) : NULL;
  if (!found)
    return true;
  uint64_t place = (uint64_t)(found - (const char *)bools->data) / k->inner % k->length;
  diag_report(d, DIAG_ERROR, k->where,
              "element %" PRIu64 " of the result of padded is padding, or computed from it alone",
              place);
  diag_report(d, DIAG_HINT, k->where,
              "pad with what the function puts last: padded maxval sort in ascending order, "
              "padded minval sort_desc in descending; take m (f (extended x xs)) is what f makes "
              "of elements and padding");
  return false;
}

// Whether all places are places, and distinct where they must be: there is no first wrong one.
static bool check_places(diagnostics *d, const trace_check *k, const array *wrong) {
  const int64_t *found = wrong->data;
  if (found[0] == INT64_MAX)
    return true;
  uint64_t number = (uint64_t)found[0], place = (uint64_t)found[1];
  char row[64] = "", shown[32];
  if (number >= k->inner)
    snprintf(row, sizeof row, " of row %" PRIu64, number / k->inner);
  snprintf(shown, sizeof shown, k->is_unsigned ? "%" PRIu64 : "%" PRId64, place);
  if (place < k->length) {
    diag_report(d, DIAG_ERROR, k->where, "index %s occurs twice, first at position %" PRIu64 "%s",
                shown, number % k->inner, row);
    diag_report(d, DIAG_HINT, k->where, "each element needs a place of its own");
  } else {
    diag_report(d, DIAG_ERROR, k->where,
                "index %s at position %" PRIu64 "%s is outside of an array of %" PRIu64
                " element%s",
                shown, number % k->inner, row, k->length, k->length == 1 ? "" : "s");
  }
  return false;
}

bool checks_pass(permc_context *c, const trace *t, const array *results) {
  static bool (*const passes[])(diagnostics *, const trace_check *, const array *) = {
      [CHECK_PADDING] = check_padding, [CHECK_PLACES] = check_places};
  for (size_t i = 0; i < t->checks.count; i++) {
    const trace_check *k = &t->checks.items[i];
    if (!passes[k->kind](&c->program.diagnostics, k, &results[trace_returned(t) + i]))
      return false;
  }
  return true;
}
