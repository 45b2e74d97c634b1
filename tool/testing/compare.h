// What test blocks ask of results: equality, `sorted`, `permutation`.
//
// Floats are equal if they differ by at most t * max(1, m), m the largest finite magnitude of the
// expected array (as Futhark does), t = 1e-2 for f16, 1e-1 for bf16, 1e-5 for f32 and c64,
// 1e-12 for f64 and c128.
// All NaN are equal, and so are -0.0 and 0.0. Everything else is compared exactly.
#ifndef PERMC_TOOL_TESTING_COMPARE_H
#define PERMC_TOOL_TESTING_COMPARE_H

#include "core/text.h"
#include "runtime/permc.h"
#include "runtime/values/value.h"

// The arrays of several values, one after the other; their data stay the values'.
typedef struct array_list {
  array *items;
  size_t count;
} array_list;

bool list_arrays(array_list *into, permc_value *const *values, size_t count);  // false: no memory
void list_free(array_list *list);  // the list, not the arrays' data

// Each gives false with the first difference in *why, such as "result[2] is 3i32, expected 2i32";
// a text that has failed: memory ran out.
// `name` stands for what was found: "result".
// Of arrays that are too long to be shown, *row is the row with the difference, by all indices but
// the last; NO_ROW: there is none. `row` may be NULL.
#define NO_ROW UINT64_MAX
bool lists_equal(const char *name, const array_list *expected, const array_list *found, text *why,
                 uint64_t *row);
bool values_equal(const char *name, permc_value *const *expected, size_t expected_count,
                  permc_value *const *found, size_t found_count, text *why, uint64_t *row);
// Each array, or each row of it, in the library's total order; tuples lexicographically.
bool values_sorted(permc_value *const *values, size_t count, text *why, uint64_t *row);
// Each result holds the elements of the argument in its place, in some order, to the bit.
bool values_permuted(permc_value *const *before, size_t before_count, permc_value *const *after,
                     size_t after_count, text *why);
// Adds lines with what a test was run on: the row of each array that has it, else the array, where
// it is long shortened.
void print_input(text *to, permc_value *const *values, size_t count, uint64_t row);

#endif
