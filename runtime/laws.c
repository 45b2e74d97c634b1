// The results of laws. See laws.h.
//
//   sort.perm:2:16: error: this operator is not associative, as scan takes it to be
//   hint: with x = 0, y = 0 and z = 1, (x op y) op z is -1 and x op (y op z) is 1
#include "runtime/laws.h"

#include <inttypes.h>

enum { FIRST, SECOND, THIRD, LEFT, RIGHT, ARRAYS };  // of each component

static uint64_t scalars_each(const array *a) {
  return a->dims[0] ? array_count(a) / a->dims[0] : 0;
}

// The least triple at which a component differs; its instance of the batch in *at.
static uint64_t first_difference(const trace_law *law, const array *component, uint64_t *at) {
  const array *left = &component[LEFT], *right = &component[RIGHT];
  uint64_t bytes = scalars_each(left) * scalar_types[left->type].size, least = law->triples;
  if (!array_same_shape(left, right))
    return 0;
  for (uint64_t i = 0; i < left->dims[0]; i++)
    if (i % law->triples < least && memcmp((const char *)left->data + i * bytes,
                                           (const char *)right->data + i * bytes, bytes) != 0) {
      least = i % law->triples;
      *at = i;
    }
  return least;
}

static void print_scalar(text *to, scalar_type t, const void *scalar) {
  scalar_row row = scalar_types[t];
  uint64_t number = 0;
  if (row.kind == KIND_BOOL) {
    text_string(to, *(const bool *)scalar ? "true" : "false");
    return;
  }
  scalar_convert(t, row.kind == KIND_SIGNED ? SCALAR_I64 : SCALAR_U64, 1, scalar, &number);
  if (row.kind == KIND_SIGNED)
    text_printf(to, "%" PRId64, (int64_t)number);
  else
    text_printf(to, "%" PRIu64, number);
}

// Element i of one of the five arrays of all components: 3, [1, 2] or (3, true).
static void print_element(text *to, const trace_law *law, const array *arrays, int which,
                          uint64_t i) {
  text_string(to, law->components > 1 ? "(" : "");
  for (uint32_t k = 0; k < law->components; k++) {
    const array *a = &arrays[k * ARRAYS + (uint32_t)which];
    uint64_t count = scalars_each(a), size = scalar_types[a->type].size;
    text_string(to, k ? ", " : "");
    text_string(to, a->rank > 1 ? "[" : "");
    for (uint64_t s = 0; s < count; s++) {
      text_string(to, s ? ", " : "");
      print_scalar(to, a->type, (const char *)a->data + (i * count + s) * size);
    }
    text_string(to, a->rank > 1 ? "]" : "");
  }
  text_string(to, law->components > 1 ? ")" : "");
}

static bool law_holds(permc_context *c, const trace_law *law, const array *arrays) {
  static const char *const names[ARRAYS] = {"x = ", ", y = ", " and z = ", ", (x op y) op z is ",
                                            " and x op (y op z) is "};
  uint64_t least = law->triples, at = 0;
  for (uint32_t k = 0; k < law->components; k++) {
    uint64_t i = 0, triple = first_difference(law, &arrays[k * ARRAYS], &i);
    if (triple < least) {
      least = triple;
      at = i;
    }
  }
  if (least == law->triples)
    return true;
  text example = {0};
  for (int i = 0; i < ARRAYS; i++) {
    text_string(&example, names[i]);
    print_element(&example, law, arrays, i, i < LEFT ? least : at);
  }
  diagnostics *d = &c->program.diagnostics;
  if (example.failed) {
    context_error(c, "out of memory");
  } else {
    diag_report(d, DIAG_ERROR, law->where, "this operator is not associative, as %s%s to be",
                law->name ? law->name : "it", law->name ? " takes it" : " is promised");
    diag_report(d, DIAG_HINT, law->where, "with %s", text_content(&example));
  }
  text_free(&example);
  return false;
}

bool laws_hold(permc_context *c, const trace *t, const array *results) {
  for (size_t i = 0; i < t->laws.count; i++) {
    const trace_law *law = &t->laws.items[i];
    if (!law_holds(c, law, results))
      return false;
    results += law->components * ARRAYS;
  }
  return true;
}
