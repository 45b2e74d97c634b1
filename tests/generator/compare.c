// Comparing the results of two runs.
#include "tests/generator/differ.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ULPS = 4 };  // of what is rough on a GPU; processors have one libm

static int tolerated_ulps = ULPS;

__attribute__((format(printf, 2, 3))) static difference differ(difference_kind kind,
                                                               const char *format, ...) {
  difference d = {.kind = kind};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(d.text, sizeof d.text, format, arguments);
  va_end(arguments);
  return d;
}

// ---- shapes ----------------------------------------------------------------------------------

static void add_leaves(leaf_list *list, const shape *s, leaf around) {
  if (s->kind == SHAPE_SCALAR) {
    around.scalar = s;
    if (list->count == LEAVES)
      abort();
    list->items[list->count++] = around;
    return;
  }
  if (s->kind == SHAPE_ARRAY && around.rank == LEAF_RANK)
    abort();
  if (s->kind == SHAPE_ARRAY)
    around.dims[around.rank++] = s->length;
  for (uint32_t i = 0; i < s->count; i++)
    add_leaves(list, s->parts[i], around);
}

leaf_list result_leaves(const shape *s) {
  leaf_list list = {.count = 0};
  add_leaves(&list, s, (leaf){.rank = 0});
  return list;
}

static uint64_t leaf_size(const leaf *l) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < l->rank; i++)
    count *= l->dims[i];
  return count;
}

uint64_t component_size(const permc_value *v, size_t component) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < permc_value_rank(v, component); i++)
    count *= permc_value_dims(v, component)[i];
  return count;
}

static bool equal_dims(const uint64_t *a, const uint64_t *b, uint32_t rank) {
  return rank == 0 || memcmp(a, b, rank * sizeof *a) == 0;
}

static bool is_foreseen(const permc_value *v, size_t component, const leaf *l) {
  return strcmp(permc_value_type(v, component), scalar_types[l->scalar->type].name) == 0 &&
         permc_value_rank(v, component) == l->rank &&
         equal_dims(permc_value_dims(v, component), l->dims, l->rank);
}

static bool equal_shapes(const permc_value *a, const permc_value *b, size_t component) {
  uint32_t rank = permc_value_rank(a, component);
  return strcmp(permc_value_type(a, component), permc_value_type(b, component)) == 0 &&
         permc_value_rank(b, component) == rank &&
         equal_dims(permc_value_dims(a, component), permc_value_dims(b, component), rank);
}

// ---- elements --------------------------------------------------------------------------------

static double part_of(const scalar_bits *x, scalar_type part, int i) {
  double value;
  scalar_convert(part, SCALAR_F64, 1, x->bytes + (size_t)i * scalar_types[part].size, &value);
  return value;
}

static bool near(double x, double y, double scale, scalar_type part) {
  static const struct {
    double least;
    int digits;
  } limits[SCALAR_COUNT] = {[SCALAR_F16] = {0x1p-14, 10},
                            [SCALAR_BF16] = {0x1p-126, 7},
                            [SCALAR_F32] = {0x1p-126, 23},
                            [SCALAR_F64] = {0x1p-1022, 52}};
  if (x == y || (isnan(x) && isnan(y)))
    return true;
  double unit = ldexp(fmax(scale, limits[part].least), -limits[part].digits);
  return isfinite(x) && isfinite(y) && fabs(x - y) <= tolerated_ulps * unit;
}

static bool equal_part(const scalar_bits *a, const scalar_bits *b, scalar_type part, int i,
                       origin o, double scale) {
  double x = part_of(a, part, i), y = part_of(b, part, i);
  size_t size = scalar_types[part].size, at = (size_t)i * size;
  if (o >= ORIGIN_COMPUTED && isnan(x) && isnan(y))
    return true;
  if (o == ORIGIN_ROUGH)
    return near(x, y, scale, part);
  return memcmp(a->bytes + at, b->bytes + at, size) == 0;
}

bool equal_elements(const void *x, const void *y, const shape *s) {
  scalar_kind kind = scalar_types[s->type].kind;
  scalar_bits a = {{0}}, b = {{0}};
  memcpy(&a, x, scalar_types[s->type].size);
  memcpy(&b, y, scalar_types[s->type].size);
  if (kind != KIND_FLOAT && kind != KIND_COMPLEX)
    return memcmp(&a, &b, sizeof a) == 0;
  int parts = kind == KIND_COMPLEX ? 2 : 1;
  scalar_type part = scalar_real_of(s->type);
  double scale = 0;  // the largest part
  for (int i = 0; i < 2 * parts; i++) {
    double size_of_part = fabs(part_of(i < parts ? &a : &b, part, i % parts));
    if (isfinite(size_of_part))
      scale = fmax(scale, size_of_part);
  }
  bool good = true;
  for (int i = 0; i < parts; i++)
    good = good && equal_part(&a, &b, part, i, s->origin, scale);
  return good;
}

static void show_element(char *to, size_t room, const char *element, scalar_type t) {
  scalar_bits b = {{0}};
  memcpy(&b, element, scalar_types[t].size);
  int used = 0;
  for (size_t i = scalar_types[t].size; i-- > 0;)
    used += snprintf(to + used, room - (size_t)used, "%02x", b.bytes[i]);
  if (scalar_types[t].kind == KIND_FLOAT)
    snprintf(to + used, room - (size_t)used, " (%.17g)", part_of(&b, t, 0));
}

static difference compare_leaf(const permc_value *a, const permc_value *b, size_t k, const leaf *l,
                               size_t number) {
  static const char *const origins[] = {"moved", "moved", "computed", "rough"};
  size_t size = scalar_types[l->scalar->type].size;
  uint64_t count = leaf_size(l);
  const char *x = permc_value_data(a, k), *y = permc_value_data(b, k);
  if (count == 0 || memcmp(x, y, count * size) == 0)
    return (difference){.kind = NO_DIFFERENCE};
  for (uint64_t i = 0; i < count; i++, x += size, y += size) {
    if (equal_elements(x, y, l->scalar))
      continue;
    char shown[2][64];
    show_element(shown[0], sizeof shown[0], x, l->scalar->type);
    show_element(shown[1], sizeof shown[1], y, l->scalar->type);
    return differ(ELEMENTS,
                  "result %zu, component %zu, element %" PRIu64 " of %" PRIu64
                  ": interp has %s, the other %s (%s, %s)",
                  number, k, i, count, shown[0], shown[1], scalar_types[l->scalar->type].name,
                  origins[l->scalar->origin]);
  }
  return (difference){.kind = NO_DIFFERENCE};
}

static difference compare_values(const permc_value *a, const permc_value *b, const shape *s,
                                 size_t number) {
  leaf_list list = result_leaves(s);
  if (permc_value_components(a) != list.count)
    return differ(SHAPES, "result %zu: interp has %zu components, the generator foresaw %zu",
                  number, permc_value_components(a), list.count);
  if (permc_value_components(b) != list.count)
    return differ(SHAPES, "result %zu: %zu components instead of %zu", number,
                  permc_value_components(b), list.count);
  for (size_t k = 0; k < list.count; k++) {
    if (!is_foreseen(a, k, &list.items[k]))
      return differ(SHAPES, "result %zu, component %zu: interp's is no %s as was foreseen", number,
                    k, scalar_types[list.items[k].scalar->type].name);
    if (!equal_shapes(a, b, k))
      return differ(SHAPES, "result %zu, component %zu: another type or shape", number, k);
    difference d = compare_leaf(a, b, k, &list.items[k], number);
    if (d.kind)
      return d;
  }
  return (difference){.kind = NO_DIFFERENCE};
}

// ---- results ---------------------------------------------------------------------------------

difference compare_results(const random_program *p, const result *oracle, const result *other) {
  if (oracle->message && other->message)
    return (difference){.kind = NO_DIFFERENCE};
  if (!oracle->message && other->message &&
      (strstr(other->message, "MiB of memory") || strstr(other->message, "KiB of memory") ||
       strstr(other->message, "are not sorted in files") ||
       strstr(other->message, "are not there on a GPU")))
    return differ(BEYOND_LIMITS, "%s", other->message);
  if (oracle->message || other->message)
    return differ(STATUS, "%s fails, the other does not:\n%.400s",
                  oracle->message ? "interp" : "the other backend",
                  oracle->message ? oracle->message : other->message);
  if (oracle->count != p->result_count || other->count != p->result_count)
    return differ(SHAPES, "interp gives %zu results, the other %zu, foreseen were %zu",
                  oracle->count, other->count, p->result_count);
  for (size_t i = 0; i < p->result_count; i++) {
    difference d = compare_values(oracle->values[i], other->values[i], p->results[i], i);
    if (d.kind)
      return d;
  }
  return (difference){.kind = NO_DIFFERENCE};
}

// On ranks: threads, or processes, of which rank 0 gets the results.
static result run_on_ranks(permc_context *c, const random_program *p, const rival *other) {
  permc_ranks threads = {.transport = "threads", .count = other->ranks};
  if (!other->rank) {
    permc_use_ranks(c, &threads);
    result r = run_program(c, p, other->backend, true);
    permc_use_ranks(c, NULL);
    return r;
  }
  if (!permc_load_text(other->rank, "random", p->text, strlen(p->text)))
    return (result){NULL, 0, strdup(permc_message(other->rank))};
  result r = run_program(other->rank, p, other->backend, true);
  for (size_t i = 0; !r.message && i < r.count; i++)
    if (!permc_gather(other->rank, r.values[i]))
      r.message = strdup(permc_message(other->rank));
  return r;
}

// By little memory: another for another program.
static result run_in_files(permc_context *c, const random_program *p, const rival *other) {
  permc_files files = {.memory = UINT64_C(1) << (12 + strlen(p->text) % 4 * 2),
                       .folder = other->folder};
  permc_use_files(c, &files);
  result r = run_program(c, p, other->backend, true);
  for (size_t i = 0; !r.message && i < r.count; i++) {
    files.memory = UINT64_C(1) << 30;  // for results
    permc_use_files(c, &files);
    if (!permc_gather(c, r.values[i]))
      r.message = strdup(permc_message(c));
  }
  permc_use_files(c, NULL);
  return r;
}

difference try_program(permc_context *c, const random_program *p, const rival *other,
                       bool *failed) {
  *failed = !permc_load_text(c, "random", p->text, strlen(p->text));
  if (*failed)
    return (difference){.kind = NO_DIFFERENCE};
  result oracle = run_program(c, p, "interp", false);
  result second = other->ranks || other->rank ? run_on_ranks(c, p, other)
                  : other->folder             ? run_in_files(c, p, other)
                                              : run_program(c, p, other->backend, true);
  if (other->spoil)
    other->spoil(p, &second);
  tolerated_ulps = strcmp(other->backend, "cuda") ? 0 : ULPS;
  bool compares = !other->rank || permc_rank(other->rank, NULL) == 0;
  difference d = {.kind = NO_DIFFERENCE};
  if (compares)
    d = compare_results(p, &oracle, &second);
  tolerated_ulps = ULPS;
  *failed = oracle.message != NULL;
  free_result(&oracle);
  free_result(&second);
  return d;
}
