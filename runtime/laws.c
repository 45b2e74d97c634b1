// The results of laws. See laws.h.
//
//   sort.perm:2:16: error: this operator is not associative, as scan takes it to be
//   hint: with x = 0, y = 0 and z = 1, (x op y) op z is -1 and x op (y op z) is 1
#include "runtime/laws.h"

#include <inttypes.h>

// What stands before each operand, and each side, of a counterexample.
static const char *const words[] = {"x = ", ", y = ", " and z = ", ", (x op y) op z is ",
                                    " and x op (y op z) is "};

static uint64_t scalars_each(const array *a) {
  return a->dims[0] ? array_count(a) / a->dims[0] : 0;
}

// Whether all places are inside for this instance of a trial.
static bool is_inside(const trace_law *law, const array *places, uint64_t instance) {
  for (size_t k = 0; k < law->lengths.count; k++) {
    const array *a = &places[k];
    uint64_t count = scalars_each(a), size = scalar_types[a->type].size, place;
    for (uint64_t i = instance * count; i < (instance + 1) * count; i++) {
      scalar_convert(a->type, SCALAR_U64, 1, (const char *)a->data + i * size, &place);
      if (place >= law->lengths.items[k])
        return false;
    }
  }
  return true;
}

// Whether this instance says something of the law: all places are inside, also where both operands
// are the same. Of a flat table, t[3 * x + y], an x that is too large is none of its elements, though
// with a small y there is a place.
static bool is_meant(const trace_law *law, const array *operands, const array *places,
                     uint64_t instance) {
  uint64_t trial = instance % law->trials, first = instance - trial;
  uint64_t bytes = scalars_each(operands) * scalar_types[operands->type].size;
  bool meant = is_inside(law, places, instance);
  for (uint64_t t = 0; t < law->trials && meant && law->lengths.count; t++) {
    bool same = law->components == 1, found = false;
    const char *x = (const char *)operands->data + t * bytes;
    for (uint32_t k = 0; k < law->operands && same; k++) {
      const char *data = operands[k].data;
      same = !memcmp(data + t * bytes, x, bytes);
      found = found || !memcmp(data + trial * bytes, x, bytes);
    }
    meant = !same || !found || is_inside(law, places, first + t);
  }
  return meant;
}

// The least trial at which a component of both sides differs; its instance of the batch in *at.
static uint64_t first_difference(const trace_law *law, const array *operands, const array *left,
                                 const array *places, uint64_t *at) {
  const array *right = left + 1;
  uint64_t bytes = scalars_each(left) * scalar_types[left->type].size, least = law->trials;
  if (!array_same_shape(left, right))
    return 0;
  for (uint64_t i = 0; i < left->dims[0]; i++)
    if (i % law->trials < least &&
        memcmp((const char *)left->data + i * bytes, (const char *)right->data + i * bytes,
               bytes) != 0 &&
        is_meant(law, operands, places, i)) {
      least = i % law->trials;
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

// Element i of `count` arrays, each `step` after the one before: 3, [1, 2] or (3, true).
static void print_element(text *to, const array *arrays, uint32_t count, uint32_t step,
                          uint64_t i) {
  text_string(to, count > 1 ? "(" : "");
  for (uint32_t k = 0; k < count; k++) {
    const array *a = &arrays[k * step];
    uint64_t scalars = scalars_each(a), size = scalar_types[a->type].size;
    text_string(to, k ? ", " : "");
    text_string(to, a->rank > 1 ? "[" : "");
    for (uint64_t s = 0; s < scalars; s++) {
      text_string(to, s ? ", " : "");
      print_scalar(to, a->type, (const char *)a->data + (i * scalars + s) * size);
    }
    text_string(to, a->rank > 1 ? "]" : "");
  }
  text_string(to, count > 1 ? ")" : "");
}

static void report_law(permc_context *c, const trace_law *law, const char *example) {
  diagnostics *d = &c->program.diagnostics;
  diag_report(d, DIAG_ERROR, law->where, "this operator is not associative, as %s%s to be",
              law->name ? law->name : "it", law->name ? " takes it" : " is promised");
  diag_report(d, DIAG_HINT, law->where, "with %s", example);
}

static bool law_holds(permc_context *c, const trace_law *law, const array *operands) {
  const array *sides = operands + law->operands * law->components;
  const array *places = sides + 2 * law->sides;
  uint64_t least = law->trials, at = 0;
  for (uint32_t k = 0; k < law->sides; k++) {
    uint64_t i = 0, trial = first_difference(law, operands, &sides[k * 2], places, &i);
    if (trial < least) {
      least = trial;
      at = i;
    }
  }
  if (least == law->trials)
    return true;
  FREED_BY(text_free) text example = {0};
  const char *const *word = words;
  for (uint32_t i = 0; i < law->operands; i++) {
    text_string(&example, *word++);
    print_element(&example, operands + i, law->components, law->operands, least);
  }
  for (uint32_t i = 0; i < 2; i++) {
    text_string(&example, *word++);
    print_element(&example, sides + i, law->sides, 2, at);
  }
  if (example.failed)
    context_no_memory(c);
  else
    report_law(c, law, text_content(&example));
  return false;
}

bool laws_hold(permc_context *c, const trace *t, const array *results) {
  for (size_t i = 0; i < t->laws.count; i++) {
    const trace_law *law = &t->laws.items[i];
    if (!law_holds(c, law, results))
      return false;
    results += law->operands * law->components + 2 * law->sides + law->lengths.count;
  }
  return true;
}
