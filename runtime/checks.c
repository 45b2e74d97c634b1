// The results of checks. See checks.h.
//
//   keys.perm:2:13: error: index 12 at position 5 is outside of an array of 10 elements
#include "runtime/checks.h"

#include <inttypes.h>
#include <math.h>

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

// "position 3 of row 1"
static const char *position(char out[64], const trace_check *k, uint64_t number) {
  char row[32] = "";
  if (number >= k->inner)
    snprintf(row, sizeof row, " of row %" PRIu64, number / k->inner);
  snprintf(out, 64, "position %" PRIu64 "%s", number % k->inner, row);
  return out;
}

// Whether all places are places, and distinct where they must be, and all keys are below what they
// must be: there is no first wrong one.
static bool check_places(diagnostics *d, const trace_check *k, const array *wrong) {
  const int64_t *found = wrong->data;
  if (found[0] == INT64_MAX)
    return true;
  uint64_t place = (uint64_t)found[1];
  char where[64], shown[32];
  position(where, k, (uint64_t)found[0]);
  snprintf(shown, sizeof shown, k->is_unsigned ? "%" PRIu64 : "%" PRId64, place);
  if (k->kind == CHECK_KEYS) {
    diag_report(d, DIAG_ERROR, k->where, "key %s at %s is not from 0 to %" PRIu64, shown, where,
                k->length - 1);
    diag_report(d, DIAG_HINT, k->where,
                "more bits take larger keys, and min %" PRIu64 " key keeps them below",
                k->length - 1);
  } else if (place < k->length) {
    diag_report(d, DIAG_ERROR, k->where, "index %s occurs twice, first at %s", shown, where);
    diag_report(d, DIAG_HINT, k->where, "each element needs a place of its own");
  } else {
    diag_report(d, DIAG_ERROR, k->where,
                "index %s at %s is outside of an array of %" PRIu64 " element%s", shown, where,
                k->length, k->length == 1 ? "" : "s");
    diag_report(d, DIAG_HINT, k->where,
                "places are 0 to length xs - 1; map (clamp 0 (length xs - 1)) is keeps them so");
  }
  return false;
}

// Whether all rows have as many elements as they may.
static bool check_rows(diagnostics *d, const trace_check *k, const array *wrong) {
  const int64_t *found = wrong->data;
  if (found[0] == INT64_MAX)
    return true;
  uint64_t row = (uint64_t)found[0] % k->inner;
  diag_report(d, DIAG_ERROR, k->where,
              "row %" PRIu64 " has %" PRId64 " element%s, and may have %s%" PRIu64, row, found[1],
              found[1] == 1 ? "" : "s", found[1] < 0 ? "0 to " : "at most ", k->length - 1);
  if (found[1] < 0)
    diag_report(d, DIAG_HINT, k->where, "offsets ascend: each is at least the one before it");
  return false;
}

// Whether all rows begin and end in their array.
static bool check_offsets(diagnostics *d, const trace_check *k, const array *wrong) {
  const int64_t *found = wrong->data;
  if (found[0] == INT64_MAX)
    return true;
  diag_report(d, DIAG_ERROR, k->where,
              "offset %" PRId64 " at position %" PRIu64 " is not from 0 to %" PRIu64, found[1],
              (uint64_t)found[0] % k->inner, k->length - 1);
  return false;
}

// Whether all fractions are from 0 to 1. The least number stands for a NaN.
static bool check_fractions(diagnostics *d, const trace_check *k, const array *wrong) {
  const int64_t *found = wrong->data;
  if (found[0] == INT64_MAX)
    return true;
  double fraction = found[1] == INT64_MIN ? NAN : (double)found[1] / (double)(k->length - 1);
  diag_report(d, DIAG_ERROR, k->where, "fraction %.7g at position %" PRIu64 " is not from 0 to 1",
              fraction, (uint64_t)found[0] % k->inner);
  return false;
}

bool checks_pass(diagnostics *d, const trace *t, const array *results) {
  static bool (*const passes[])(diagnostics *, const trace_check *, const array *) = {
      [CHECK_PADDING] = check_padding, [CHECK_PLACES] = check_places,
      [CHECK_KEYS] = check_places,     [CHECK_ROWS] = check_rows,
      [CHECK_OFFSETS] = check_offsets, [CHECK_FRACTIONS] = check_fractions};
  for (size_t i = 0; i < t->checks.count; i++) {
    const trace_check *k = &t->checks.items[i];
    if (!passes[k->kind](d, k, &results[trace_returned(t) + i]))
      return false;
  }
  return true;
}
