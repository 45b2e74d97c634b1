#include "tool/testing/compare.h"
#include "runtime/values/value.h"

#include <math.h>

enum { SHOW_MOST = 32 };  // arrays up to so many elements are shown whole

// ---- lists -----------------------------------------------------------------------------------

bool list_arrays(array_list *into, permc_value *const *values, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++)
    total += values[i]->count;
  *into = (array_list){calloc(total + 1, sizeof *into->items), 0};
  for (size_t i = 0; into->items && i < count; i++)
    for (size_t k = 0; k < values[i]->count; k++)
      into->items[into->count++] = values[i]->components[k];
  return into->items != NULL;
}

void list_free(array_list *list) {
  free(list->items);
  *list = (array_list){0};
}

// ---- words -----------------------------------------------------------------------------------

static const unsigned char *element_at(const array *a, uint64_t index) {
  return (const unsigned char *)a->data + index * scalar_types[a->type].size;
}

// As the text format writes it, without the newline.
static void print_array(text *to, const array *a) {
  FREED char *written = NULL;
  size_t length = 0;
  error e;
  FILE *stream = open_memstream(&written, &length);
  bool ok =
      stream && value_write(stream, FORMAT_TEXT,
                            &(permc_value){.components = (array *)(uintptr_t)a, .count = 1}, &e);
  if (stream)
    fclose(stream);
  while (ok && length > 0 && written[length - 1] == '\n')
    length--;
  if (ok)
    text_add(to, written, length);
}

static void print_element(text *to, const array *a, uint64_t index) {
  array one = {.type = a->type, .rank = 0, .data = (void *)(uintptr_t)element_at(a, index)};
  print_array(to, &one);
}

// "result", "result.1" for one of several.
static void print_name(text *to, const char *name, size_t component, size_t components) {
  text_string(to, name);
  if (components > 1)
    text_printf(to, ".%zu", component);
}

// "[3][0]"
static void print_place(text *to, const array *a, uint64_t index) {
  uint64_t step = array_count(a);
  for (uint32_t i = 0; i < a->rank; i++) {
    step /= a->dims[i];
    text_printf(to, "[%llu]", (unsigned long long)(index / step));
    index %= step;
  }
}

// ---- equality --------------------------------------------------------------------------------

static double real_at(const array *a, uint64_t i) {
  scalar_type real = scalar_real_of(a->type);
  return scalar_as_double(real, (const char *)a->data + i * scalar_types[real].size);
}

static bool is_inexact(const array *a) {
  scalar_kind kind = scalar_types[a->type].kind;
  return kind == KIND_FLOAT || kind == KIND_COMPLEX;
}

static uint64_t parts_of_element(const array *a) {
  return scalar_types[a->type].kind == KIND_COMPLEX ? 2 : 1;
}

// How much floats may differ, by the largest magnitude of the array.
static double tolerance_of(const array *expected) {
  uint64_t parts = array_count(expected) * parts_of_element(expected);
  double largest = 1;
  for (uint64_t i = 0; i < parts; i++) {
    double magnitude = fabs(real_at(expected, i));
    if (isfinite(magnitude) && magnitude > largest)
      largest = magnitude;
  }
  scalar_type type = scalar_real_of(expected->type);
  return largest * (type == SCALAR_F16    ? 1e-2
                    : type == SCALAR_BF16 ? 1e-1
                    : type == SCALAR_F32  ? 1e-5
                                          : 1e-12);
}

static bool floats_equal(double a, double b, double tolerance) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= tolerance;
}

// The first index at which arrays of one type and shape differ; their length if none.
static uint64_t first_difference(const array *expected, const array *found) {
  uint64_t count = array_count(expected);
  if (!is_inexact(expected)) {
    size_t size = scalar_types[expected->type].size;
    for (uint64_t i = 0; i < count; i++)
      if (memcmp(element_at(expected, i), element_at(found, i), size) != 0)
        return i;
    return count;
  }
  uint64_t each = parts_of_element(expected);
  double tolerance = tolerance_of(expected);
  for (uint64_t i = 0; i < count * each; i++)
    if (!floats_equal(real_at(expected, i), real_at(found, i), tolerance))
      return i / each;
  return count;
}

static uint64_t row_length(const array *a) { return a->rank > 1 ? a->dims[a->rank - 1] : 0; }

static array row_of(const array *a, uint64_t row) {
  uint64_t length = row_length(a);
  return (array){.type = a->type,
                 .rank = 1,
                 .dims = {length},
                 .data = (void *)(uintptr_t)element_at(a, row * length)};
}

// The arrays, or of long ones the row with the difference.
static void print_both(text *why, const array *expected, const array *found, uint64_t at,
                       uint64_t *row) {
  uint64_t length = row_length(found);
  bool whole = array_count(expected) <= SHOW_MOST && array_count(found) <= SHOW_MOST;
  if (expected->rank == 0 ||
      (!whole && (!array_same_shape(expected, found) || length == 0 || length > SHOW_MOST)))
    return;
  array rows[2];
  if (!whole) {
    rows[0] = row_of(expected, at / length);
    rows[1] = row_of(found, at / length);
    expected = &rows[0];
    found = &rows[1];
    text_string(why, "\nof this row:");
    if (row)
      *row = at / length;
  }
  text_string(why, "\nexpected ");
  print_array(why, expected);
  text_string(why, "\nfound    ");
  print_array(why, found);
}

bool lists_equal(const char *name, const array_list *expected, const array_list *found, text *why,
                 uint64_t *row) {
  if (expected->count != found->count) {
    text_printf(why, "%s has %zu components, expected %zu", name, found->count, expected->count);
    return false;
  }
  for (size_t k = 0; k < expected->count; k++) {
    const array *e = &expected->items[k], *f = &found->items[k];
    bool same = array_same_shape(e, f);
    uint64_t index = same ? first_difference(e, f) : 0;
    if (same && index == array_count(e))
      continue;
    print_name(why, name, k, expected->count);
    if (same)
      print_place(why, f, index);
    text_string(why, " is ");
    same ? print_element(why, f, index) : array_print_shape(why, f);
    text_string(why, ", expected ");
    same ? print_element(why, e, index) : array_print_shape(why, e);
    if (same && is_inexact(e))
      text_printf(why, " (they may differ by %.3g)", tolerance_of(e));
    print_both(why, e, f, index, row);
    return false;
  }
  return true;
}

bool values_equal(const char *name, permc_value *const *expected, size_t expected_count,
                  permc_value *const *found, size_t found_count, text *why, uint64_t *row) {
  FREED_BY(list_free) array_list e = {0}, f = {0};
  bool listed = list_arrays(&e, expected, expected_count) && list_arrays(&f, found, found_count);
  bool good = listed && lists_equal(name, &e, &f, why, row);
  why->failed = why->failed || !listed;
  return good;
}

// ---- sorted ----------------------------------------------------------------------------------

// A number that is ordered as the elements are in the library's total order: -0.0 before 0.0, NaN
// last, all of them equal. Not of complex numbers, which have no order. The bits of a float are
// ordered as a number with a sign and a magnitude (IEEE 754, section 3.4).
static uint64_t array_order_key(const array *a, uint64_t i) {
  const scalar_row *type = &scalar_types[a->type];
  uint64_t bits = 0, sign = UINT64_C(1) << (8 * type->size - 1);
  memcpy(&bits, element_at(a, i), type->size);
  if (type->kind == KIND_SIGNED)
    return bits ^ sign;
  if (type->kind != KIND_FLOAT)
    return bits;
  if ((bits & (sign - 1)) > type->infinity)
    return UINT64_MAX;
  return bits & sign ? ~bits & (2 * sign - 1) : bits | sign;
}

static int compare_keys(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

// A complex number with a NaN comes behind those with fewer, and one in the real part behind others.
static int compare_complex(const array *a, uint64_t i, uint64_t k) {
  array parts = *a;
  parts.type = scalar_real_of(a->type);
  uint64_t x[2] = {array_order_key(&parts, 2 * i), array_order_key(&parts, 2 * i + 1)};
  uint64_t y[2] = {array_order_key(&parts, 2 * k), array_order_key(&parts, 2 * k + 1)};
  int order = compare_keys(2 * (uint64_t)(x[0] == UINT64_MAX) + (x[1] == UINT64_MAX),
                           2 * (uint64_t)(y[0] == UINT64_MAX) + (y[1] == UINT64_MAX));
  for (int part = 0; part < 2 && !order; part++)
    order = compare_keys(x[part], y[part]);
  return order;
}

static int compare_tuples(const array *components, size_t count, uint64_t i, uint64_t k) {
  int order = 0;
  for (size_t c = 0; c < count && order == 0; c++) {
    const array *a = &components[c];
    order = scalar_types[a->type].kind == KIND_COMPLEX
                ? compare_complex(a, i, k)
                : compare_keys(array_order_key(a, i), array_order_key(a, k));
  }
  return order;
}

static bool check_sortable(const array *a, text *why) {
  if (a->rank > 0)
    return true;
  text_string(why, "'sorted' needs an array of ordered elements, but the result is ");
  array_print_shape(why, a);
  return false;
}

// Components of one shape: an array of tuples.
static bool check_rows_sorted(const array *components, size_t count, const char *name, text *why,
                              uint64_t *number) {
  for (size_t c = 0; c < count; c++)
    if (!check_sortable(&components[c], why))
      return false;
  uint64_t total = array_count(components), row = components->dims[components->rank - 1];
  for (uint64_t i = 1; i < total; i++) {
    if (i % row == 0 || compare_tuples(components, count, i - 1, i) <= 0)
      continue;
    text_string(why, name);
    print_place(why, components, i);
    text_string(why, " is out of order: ");
    for (int k = 0; k < 2; k++) {
      for (size_t c = 0; c < count; c++) {
        text_string(why, c ? ", " : count > 1 ? "(" : "");
        print_element(why, &components[c], i - 1 + (uint64_t)k);
      }
      text_string(why, count > 1 ? ")" : "");
      text_string(why, k ? "" : " stands before ");
    }
    if (components->rank > 1 && total > SHOW_MOST) {
      *number = i / row;
      text_string(why, "\nof this row:");
    }
    return false;
  }
  return true;
}

bool values_sorted(permc_value *const *values, size_t count, text *why, uint64_t *row) {
  for (size_t i = 0; i < count; i++) {
    const permc_value *v = values[i];
    bool one_shape = true;
    for (size_t c = 1; c < v->count; c++) {
      array like = v->components[c];
      like.type = v->components[0].type;
      one_shape = one_shape && array_same_shape(&like, &v->components[0]);
    }
    char name[32] = "result";
    if (count > 1)
      snprintf(name, sizeof name, "result.%zu", i);
    for (size_t c = 0; c < v->count; c += one_shape ? v->count : 1)
      if (!check_rows_sorted(&v->components[c], one_shape ? v->count : 1, name, why, row))
        return false;
  }
  return true;
}

// ---- permutation -----------------------------------------------------------------------------

static int compare_blocks(const void *a, const void *b, void *size) {
  return memcmp(a, b, *(size_t *)size);
}

// The elements of a value side by side, each `size` bytes, sorted as bytes. NULL: no memory.
static unsigned char *sorted_blocks(const permc_value *v, uint64_t count, size_t size) {
  unsigned char *blocks = malloc(count * size + 1);
  size_t offset = 0;
  for (size_t c = 0; blocks && c < v->count; c++) {
    size_t each = scalar_types[v->components[c].type].size;
    for (uint64_t i = 0; i < count; i++)
      memcpy(blocks + i * size + offset, element_at(&v->components[c], i), each);
    offset += each;
  }
  if (blocks)
    qsort_r(blocks, count, size, compare_blocks, &size);
  return blocks;
}

static bool check_same_elements(const permc_value *before, const permc_value *after,
                                const char *name, text *why) {
  uint64_t count = array_count(&before->components[0]);
  size_t size = 0;
  bool comparable = before->count == after->count;
  for (size_t c = 0; comparable && c < before->count; c++) {
    const array *b = &before->components[c], *a = &after->components[c];
    comparable = b->type == a->type && array_count(b) == count && array_count(a) == count;
    size += scalar_types[b->type].size;
  }
  if (!comparable) {
    text_printf(why, "%s is not a permutation of the input: types or lengths differ", name);
    return false;
  }
  FREED unsigned char *b = sorted_blocks(before, count, size),
                      *a = sorted_blocks(after, count, size);
  bool same = a && b && memcmp(a, b, count * size) == 0;
  if (!same)
    text_printf(why, a && b ? "%s does not hold the elements of the input" : "%s: out of memory",
                name);
  return same;
}

bool values_permuted(permc_value *const *before, size_t before_count, permc_value *const *after,
                     size_t after_count, text *why) {
  if (before_count != after_count) {
    text_printf(why, "'permutation' needs a result for each argument: %zu arguments, %zu results",
                before_count, after_count);
    return false;
  }
  for (size_t i = 0; i < before_count; i++) {
    char name[32] = "result";
    if (before_count > 1)
      snprintf(name, sizeof name, "result.%zu", i);
    if (!check_same_elements(before[i], after[i], name, why))
      return false;
  }
  return true;
}

// ---- inputs ----------------------------------------------------------------------------------

// Of a long array the first and last elements, and its type.
static void print_shortened(text *to, const array *a) {
  enum { ENDS = 3 };
  uint64_t count = array_count(a);
  if (count <= SHOW_MOST) {
    print_array(to, a);
    return;
  }
  for (uint64_t i = 0; a->rank == 1 && i < 2 * ENDS; i++) {
    text_string(to, i == ENDS ? ", ..., " : i ? ", " : "[");
    print_element(to, a, i < ENDS ? i : count - 2 * ENDS + i);
  }
  text_string(to, a->rank == 1 ? "]  -- " : "");
  array_print_shape(to, a);
}

void print_input(text *to, permc_value *const *values, size_t count, uint64_t row) {
  FREED_BY(list_free) array_list all = {0};
  to->failed |= !list_arrays(&all, values, count);
  for (size_t i = 0; all.items && i < all.count; i++) {
    const array *a = &all.items[i];
    uint64_t length = row_length(a);
    bool has_row = row != NO_ROW && length && row < array_count(a) / length;
    text_string(to, "\n");
    print_name(to, "input", i, all.count);
    text_string(to, all.count > 1 ? "  " : "    ");
    array part = has_row ? row_of(a, row) : *a;
    print_shortened(to, &part);
  }
}
