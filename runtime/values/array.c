// Arrays in memory: sizes, shapes, equality. See value.h.
#include "core/number.h"
#include "runtime/system/memory.h"
#include "runtime/values/value.h"

#include <inttypes.h>
#include <math.h>
#include <sys/mman.h>

// ---- memory -----------------------------------------------------------------------------------

bool array_bytes_of(uint64_t size, uint32_t rank, const uint64_t *dims, uint64_t *bytes) {
  bool empty = false;
  uint64_t product = size;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, dims[i], &product) || product > PTRDIFF_MAX)
      return false;
  }
  *bytes = empty ? 0 : product;
  return true;
}

uint64_t array_count(const array *a) { return product_of(a->dims, a->rank); }

uint64_t array_bytes(const array *a) { return array_count(a) * scalar_types[a->type].size; }

enum { LINE = 64, HUGE_PAGE = 1 << 21 };

uint64_t array_reserved_bytes(uint64_t bytes) {
  if (bytes < HUGE_PAGE)
    return bytes / LINE * LINE + LINE;
  uint64_t step = UINT64_C(1) << (60 - __builtin_clzll(bytes));
  return bytes > UINT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

void *array_memory(uint64_t bytes) {
  if (bytes > SIZE_MAX / 2)
    return NULL;
  size_t reserved = (size_t)array_reserved_bytes(bytes);
  if (reserved < HUGE_PAGE)
    return aligned_alloc(LINE, reserved);
  // The system promises more than the control group may use, and kills who takes it.
  char why[MEMORY_WHY];
  if (!memory_suffices((double)bytes, 0, why))
    return NULL;
  void *data;
  if (posix_memalign(&data, HUGE_PAGE, reserved) != 0)
    return NULL;
  madvise(data, reserved / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  return data;
}

bool array_create(array *a, scalar_type type, uint32_t rank, const uint64_t *dims) {
  *a = (array){.type = type};
  uint64_t bytes;
  if (rank > VALUE_MAX_RANK || !array_bytes_of(scalar_types[type].size, rank, dims, &bytes))
    return false;
  a->data = array_memory(bytes);
  if (!a->data)
    return false;
  a->rank = rank;
  for (uint32_t i = 0; i < rank; i++)
    a->dims[i] = dims[i];
  return true;
}

void array_destroy(array *a) {
  if (a->owner && a->owner->release)
    a->owner->release(a->owner->with);
  else if (!a->owner)
    free(a->data);
  free(a->owner);
  a->owner = NULL;
  a->data = NULL;
}

array_part array_own(const array *a) {
  if (array_device(a) == ARRAY_IN_PART)
    return *(const array_part *)a->owner->with;
  return (array_part){.count = a->data ? array_count(a) : 0, .data = a->data};
}

void arrays_destroy(array *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    array_destroy(&arrays[i]);
    arrays[i] = (array){0};
  }
}

// ---- shapes and equality ----------------------------------------------------------------------

bool array_same_shape(const array *a, const array *b) {
  return a->type == b->type && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

void array_print_shape(text *to, const array *a) {
  for (uint32_t i = 0; i < a->rank; i++)
    text_printf(to, "[%" PRIu64 "]", a->dims[i]);
  text_string(to, scalar_types[a->type].name);
}

void value_print_shapes(text *to, const permc_value *v) {
  for (size_t i = 0; i < v->count; i++) {
    text_string(to, i ? ", " : "");
    array_print_shape(to, &v->components[i]);
  }
}

static bool is_nan_part(const array *a, uint64_t part) {
  scalar_type real = scalar_real_of(a->type);
  return isnan(scalar_as_double(real, (char *)a->data + part * scalar_types[real].size));
}

bool array_same_bits(const array *a, const array *b) {
  if (!array_same_shape(a, b))
    return false;
  uint64_t bytes = array_bytes(a);
  if (memcmp(a->data, b->data, (size_t)bytes) == 0)
    return true;
  scalar_kind kind = scalar_types[a->type].kind;
  if (kind != KIND_FLOAT && kind != KIND_COMPLEX)
    return false;
  size_t size = scalar_types[scalar_real_of(a->type)].size;
  for (uint64_t i = 0; i < bytes / size; i++)
    if (memcmp((char *)a->data + i * size, (char *)b->data + i * size, size) != 0 &&
        !(is_nan_part(a, i) && is_nan_part(b, i)))
      return false;
  return true;
}
