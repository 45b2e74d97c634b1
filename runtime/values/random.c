// Random elements: of an array in memory, or of a part of one that is apart. See value.h.
#include "core/random.h"
#include "runtime/system/pool.h"
#include "runtime/values/formats.h"

// What threads fill: the state at element i is that of the first after i draws.
typedef struct random_elements {
  void *data;
  scalar_type type;
  uint64_t state;
} random_elements;

#define FILL(c_type, value)                                                                        \
  for (uint64_t i = first; i < last; i++) {                                                        \
    uint64_t word = draw_word(&state);                                                             \
    ((c_type *)e->data)[i] = (c_type)(value);                                                      \
  }                                                                                                \
  break

// Multiples of 2^-digits, which the type holds.
static void fill_small_floats(const random_elements *e, int digits, uint64_t state, uint64_t first,
                              uint64_t last) {
  enum { PIECE = 256 };
  float piece[PIECE];
  for (uint64_t i = first, count; i < last; i += count) {
    count = last - i < PIECE ? last - i : PIECE;
    for (uint64_t k = 0; k < count; k++)
      piece[k] = (float)(draw_word(&state) >> (64 - digits)) / (float)(1 << digits);
    scalar_convert(SCALAR_F32, e->type, count, piece, (uint16_t *)e->data + i);
  }
}

// Floats are uniform in [0, 1): all multiples of 2^-11 (bf16: 2^-8, f32: 2^-24, f64: 2^-53) are
// equally likely.
static bool fill_random_elements(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  const random_elements *e = with;
  uint64_t state = e->state + first * DRAW_STEP;
  switch (e->type) {
  case SCALAR_BOOL:
    FILL(uint8_t, word >> 63);
  case SCALAR_I8:
  case SCALAR_U8:
    FILL(uint8_t, word >> 56);
  case SCALAR_I16:
  case SCALAR_U16:
    FILL(uint16_t, word >> 48);
  case SCALAR_I32:
  case SCALAR_U32:
    FILL(uint32_t, word >> 32);
  case SCALAR_I64:
  case SCALAR_U64:
    FILL(uint64_t, word);
  case SCALAR_F16:
    fill_small_floats(e, 11, state, first, last);
    break;
  case SCALAR_BF16:
    fill_small_floats(e, 8, state, first, last);
    break;
  case SCALAR_F32:
  case SCALAR_C64:
    FILL(float, (float)(word >> 40) * 0x1p-24f);
  case SCALAR_F64:
  case SCALAR_C128:
    FILL(double, (double)(word >> 11) * 0x1p-53);
  case SCALAR_COUNT:
    break;
  }
  return true;
}

static uint64_t draws_of(scalar_type type) {
  return scalar_types[type].kind == KIND_COMPLEX ? 2 : 1;
}

bool array_random(array *a, scalar_type type, uint32_t rank, const uint64_t *dims,
                  uint64_t *state) {
  enum { STRETCH = 1 << 20 };
  if (!array_create(a, type, rank, dims))
    return false;
  uint64_t count = array_count(a) * draws_of(type);
  random_elements e = {a->data, type, *state};
  *state += count * DRAW_STEP;
  return pool_run(pool_processors(), count, STRETCH, fill_random_elements, &e, NULL);
}

bool array_random_apart(array *a, scalar_type type, uint32_t rank, const uint64_t *dims,
                        uint64_t *state) {
  uint64_t bytes, *first = malloc(sizeof *first);
  array_owner *owner = malloc(sizeof *owner);
  if (!first || !owner || rank > VALUE_MAX_RANK ||
      !array_bytes_of(scalar_types[type].size, rank, dims, &bytes))
    return free(first), free(owner), false;
  *first = *state;
  *owner = (array_owner){ARRAY_AT_RANDOM, true, free, first};
  *a = (array){.type = type, .rank = rank, .owner = owner};
  if (rank)
    memcpy(a->dims, dims, rank * sizeof *dims);
  *state += array_count(a) * draws_of(type) * DRAW_STEP;
  return true;
}

void elements_draw(const array *a, uint64_t first, uint64_t count, void *to) {
  const uint64_t *state = a->owner->with, draws = draws_of(a->type);
  random_elements e = {to, a->type, *state + first * draws * DRAW_STEP};
  fill_random_elements(&e, 0, 0, count * draws);
}
