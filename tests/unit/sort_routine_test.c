// runtime/routines: sorts of words with each instruction set, and of keys of all types with
// payloads and in rows, beside a stable insertion and merge by the total order; checks of places of
// all widths.
#include "tests/test.h"

#include "core/random.h"
#include "core/scalar/scalar.h"
#include "runtime/routines/executor.h"
#include "runtime/routines/key_order.h"
#include "runtime/routines/places.h"
#include "runtime/routines/sort.h"
#include "runtime/routines/words.c"  // with the names that are its own
#include "runtime/routines/words_team.h"

static uint64_t state = 15;

// ---- words --------------------------------------------------------------------------------------

typedef enum shape {
  RANDOM,
  EQUAL,
  MOSTLY_EQUAL,
  FEW,
  UP,
  DOWN,
  ORGAN,    // up and down
  HIGHEST,  // the highest words, which also fill vectors
  SHAPES
} shape;

static uint64_t draw_shaped(shape s, uint64_t i, uint64_t count) {
  switch (s) {
  case EQUAL:
    return 7;
  case MOSTLY_EQUAL:
    return draw_below(&state, 100) ? 7 : draw_word(&state);
  case FEW:
    return draw_below(&state, 5);
  case UP:
    return i;
  case DOWN:
    return count - i;
  case ORGAN:
    return i < count / 2 ? i : count - i;
  case HIGHEST:
    return UINT64_MAX - draw_below(&state, 3);
  default:
    return draw_word(&state);
  }
}

static uint64_t encode(uint64_t x, size_t size, word_code code) {
  uint64_t all = UINT64_MAX >> (64 - 8 * size), negative = x > all >> 1 ? code.negative : 0;
  return (x ^ negative ^ code.all) & all;
}

static word_code sorted_code;
static size_t sorted_size;
static int compare_words(const void *a, const void *b) {
  uint64_t x = 0, y = 0;
  memcpy(&x, a, sorted_size);
  memcpy(&y, b, sorted_size);
  x = encode(x, sorted_size, sorted_code);
  y = encode(y, sorted_size, sorted_code);
  return (x > y) - (x < y);
}

static void check_words(size_t size, uint32_t most, word_code code, shape s, uint64_t count,
                        unsigned threads, bool in_place) {
  uint64_t room = (count + 1) * size;
  char *keys = malloc(room), *to = in_place ? keys : malloc(room), *expected = malloc(room);
  char *scratch = malloc(word_task_scratch(count, threads) * size);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word = draw_shaped(s, i, count);
    memcpy(keys + i * size, &word, size);
  }
  memcpy(expected, keys, count * size);
  sorted_code = code;
  sorted_size = size;
  qsort(expected, count, size, compare_words);
  word_job j = {code, code, keys, to, scratch, NULL};
  word_task t = {word_sorter_find(size, most), j, count, {.threads = threads}};
  CHECK(word_sort(&t));
  if (!CHECK(memcmp(to, expected, count * size) == 0))
    printf("%zu bytes, vectors of %u, shape %d, %" PRIu64 " words, %u threads\n", size, most, s,
           count, threads);
  free(scratch);
  free(expected);
  free(keys);
  if (!in_place)
    free(to);
}

static const uint32_t sets[] = {16, 32, 64};  // bytes of vectors: none, AVX2, AVX-512

TEST(words_of_each_set) {
  for (size_t size = 4; size <= 8; size += 4)
    for (size_t set = 0; set < 3; set++) {
      uint64_t half = UINT64_MAX >> (65 - 8 * size);
      const word_code codes[3] = {{0, 0}, {0, half + 1}, {half, ~(half + 1)}};
      for (uint64_t count = 0; count <= 600; count += slower() < 10 ? 1 : 29)
        check_words(size, sets[set], codes[count % 3], RANDOM, count, 1, count % 2);
      for (uint32_t s = 0; s < SHAPES; s++)
        for (uint32_t trial = 0; trial < (slower() < 10 ? 6 : 4); trial++)
          check_words(size, sets[set], codes[trial % 3], s, draw_below(&state, 20u << 2 * trial), 1,
                      trial % 2);
    }
}

TEST(words_beyond_the_scratch_and_by_threads) {
  for (size_t size = 4; size <= 8; size += 4)
    for (size_t set = 0; set < 3; set++)
      for (uint32_t s = slower() < 10 ? 0 : 1; s < SHAPES; s += slower() < 10 ? 1 : 8)
        check_words(size, sets[set], (word_code){0, s % 2}, s, (1 << 17) + s * 1111, 1 + s % 4 * s,
                    s / 2 % 2);
}

// What partitions with bad pivots come to: parts whose patience is at its end.
#define BY_HALVES(TEST_WIDTH)                                                                      \
  for (uint32_t patience = 0; patience < 4; patience++) {                                          \
    enum { COUNT = 5000 };                                                                         \
    static uint##TEST_WIDTH##_t keys[COUNT], to[COUNT], scratch[COUNT];                            \
    word_job j = {{0, 9}, {0, 9}, keys, to, scratch, NULL};                                        \
    part_##TEST_WIDTH##_scalar p = {                                                               \
        keys, to, NULL, COUNT, j.in, 0, (uint##TEST_WIDTH##_t)UINT64_MAX, patience, NULL, 0};      \
    for (uint32_t i = 0; i < COUNT; i++)                                                           \
      keys[i] = (uint##TEST_WIDTH##_t)draw_shaped(patience, i, COUNT);                             \
    CHECK(sort_part_##TEST_WIDTH##_scalar(&j, &p));                                                \
    sorted_size = sizeof *keys;                                                                    \
    sorted_code = j.in;                                                                            \
    qsort(keys, COUNT, sizeof *keys, compare_words);                                               \
    CHECK(memcmp(keys, to, sizeof keys) == 0);                                                     \
  }

TEST(words_with_bad_pivots) {
  BY_HALVES(32)
  BY_HALVES(64)
}

// ---- keys ---------------------------------------------------------------------------------------

static bool precedes(scalar_type type, bool descending, const char *a, const char *b) {
  bool le = false;
  scalar_apply(OP_TOTAL_LE, type, 1, descending ? b : a, descending ? a : b, &le);
  return le;
}

// The places' elements in order: a stable merge.
static void merge_sort(scalar_type type, bool descending, const char *keys, uint64_t count,
                       uint64_t *order, uint64_t *spare) {
  size_t size = scalar_types[type].size;
  if (count < 2)
    return;
  uint64_t half = count / 2, a = 0, b = half, at = 0;
  merge_sort(type, descending, keys, half, order, spare);
  merge_sort(type, descending, keys, count - half, order + half, spare);
  memcpy(spare, order, count * sizeof *spare);
  while (a < half || b < count) {
    bool of_a = b == count || (a < half && precedes(type, descending, keys + spare[a] * size,
                                                    keys + spare[b] * size));
    order[at++] = of_a ? spare[a++] : spare[b++];
  }
}

// Numbers of any bits, few different ones, near ones, and all kinds of NaN, infinities and zeros.
static void draw_keys(scalar_type type, uint32_t bits, uint64_t count, char *keys) {
  size_t size = scalar_types[type].size;
  uint32_t kind = draw_below(&state, 5);
  const uint64_t about = draw_word(&state), near = (UINT64_C(1) << draw_below(&state, 28)) - 1;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word = draw_word(&state), high = word << (64 - 8 * size) >> (64 - 8 * size);
    if (kind == 1)
      word = word % 5;
    if (kind == 2 && size > 1 && word % 3 == 0)
      word = high | (uint64_t)(size == 8 ? 0x7ff : size == 4 ? 0x7f8 : 0x7c0) << (8 * size - 12);
    if (kind == 3 && word % 3 == 0)
      word = word % 2 << (8 * size - 1);
    if (kind == 4)
      word = about ^ (word & near);
    if (type == SCALAR_BOOL)
      word &= 1;
    if (bits)
      word &= UINT64_MAX >> (64 - bits);
    memcpy(keys + i * size, &word, size);
  }
}

static void check_row(scalar_type type, const sort_task *t, const char *given, uint64_t first,
                      uint64_t count, uint64_t *order, uint64_t *spare) {
  size_t size = t->order.size;
  bool descending = order_is_descending(&t->order);
  given += first * size;
  for (uint64_t i = 0; i < count; i++)
    order[i] = i;
  merge_sort(type, descending, given, count, order, spare);
  bool good = true;
  for (uint64_t i = 0; i < count; i++) {
    const char *key = given + order[i] * size;
    good = good && (!t->sorted || !memcmp((char *)t->sorted + (first + i) * size, key, size));
    for (uint32_t p = 0; p < t->payload_count; p++) {
      const sort_payload *payload = &t->payloads[p];
      // Each element of a payload is its place, in as many bytes as it has.
      uint64_t place = order[i] + (payload->from ? first : 0), found = 0;
      size_t bytes = payload->size < 8 ? payload->size : 8;
      memcpy(&found, (char *)payload->to + (first + i) * payload->size, bytes);
      good = good && found == (place & UINT64_MAX >> (64 - 8 * bytes));
    }
  }
  if (!CHECK(good))
    printf("%s, descending %d, bits %u, %" PRIu64 " of %" PRIu64 ", %u payloads, %u threads\n",
           scalar_types[type].name, descending, t->order.bits, count, first, t->payload_count,
           t->crew.threads);
}

static void check_task(scalar_type type, uint64_t rows, uint64_t most, unsigned threads) {
  size_t size = scalar_types[type].size;
  uint64_t *offsets = calloc(rows + 1, sizeof *offsets);
  bool ragged = draw_below(&state, 2), in_place = draw_below(&state, 2);
  uint64_t length = draw_below(&state, (uint32_t)most + 1);
  if (rows >= 16)  // of whole vectors: several are sorted together
    length = (uint64_t)4 << draw_below(&state, 7);
  offsets[0] = draw_below(&state, 2) && ragged ? 3 : 0;
  for (uint64_t r = 0; r < rows; r++)
    offsets[r + 1] = offsets[r] + (ragged ? draw_below(&state, (uint32_t)most + 1) : length);
  uint64_t total = offsets[rows];
  bool integer = scalar_types[type].kind == KIND_UNSIGNED || scalar_types[type].kind == KIND_SIGNED;
  uint32_t widest = (uint32_t)(8 * size) - (scalar_types[type].kind == KIND_SIGNED);
  uint32_t bits = integer && draw_below(&state, 3) == 0 ? 1 + draw_below(&state, widest) : 0;
  char *given = malloc(total * size + 1), *keys = malloc(total * size + 1);
  char *sorted = in_place ? keys : malloc(total * size + 1);
  draw_keys(type, bits, total, given);
  memcpy(keys, given, total * size);
  static const size_t sizes[4] = {4, 8, 3, 16};
  sort_payload payloads[4];
  uint32_t payload_count = draw_below(&state, 2) ? draw_below(&state, 5) : 0;
  for (uint32_t p = 0; p < payload_count; p++) {
    char *from = calloc(total + 1, sizes[p]),
         *to = draw_below(&state, 2) ? from : calloc(total + 1, sizes[p]);
    for (uint64_t i = 0; i < total; i++)
      memcpy(from + i * sizes[p], &i, sizes[p] < 8 ? sizes[p] : 8);
    if (p < 2 && draw_below(&state, 2)) {
      if (to != from)
        free(from);
      from = NULL;
    }
    payloads[p] = (sort_payload){from, to, sizes[p]};
  }
  sort_task t = {.order = key_order_of(type, draw_below(&state, 2), bits),
                 .rows = rows,
                 .length = length,
                 .offsets = ragged ? offsets : NULL,
                 .keys = keys,
                 .sorted = payload_count && draw_below(&state, 3) == 0 ? NULL : sorted,
                 .payload_count = payload_count,
                 .payloads = payloads,
                 .crew = {.threads = threads}};
  CHECK(routine_sort(&t));
  uint64_t *order = malloc((2 * total + 1) * sizeof *order);
  for (uint64_t r = 0; r < rows; r++)
    check_row(type, &t, given, offsets[r], offsets[r + 1] - offsets[r], order, order + total);
  for (uint32_t p = 0; p < payload_count; p++) {
    free(payloads[p].to);
    if (payloads[p].from != payloads[p].to)
      free((void *)payloads[p].from);
  }
  free(order);
  free(given);
  free(keys);
  if (!in_place)
    free(sorted);
  free(offsets);
}

static bool is_ordered(scalar_type type) { return CLASS_OF(type) & CLASS_ORD; }

TEST(keys_of_all_types_in_rows) {
  for (uint32_t type = 0; type < SCALAR_COUNT; type++)
    for (uint32_t trial = 0; is_ordered(type) && trial < 40 / slower() + 4; trial++)
      check_task(type, trial % 4 ? draw_below(&state, 9) : 16 + draw_below(&state, 20),
                 1u << (trial % 4 ? trial % 11 : 7), 1 + trial % 3);
}

TEST(long_rows) {
  for (uint32_t type = 0; type < SCALAR_COUNT; type++)
    for (uint32_t trial = 0; is_ordered(type) && trial < (slower() < 10 ? 2 : 1); trial++)
      check_task(type, 1 + trial, slower() < 10 ? (uint64_t)20000 << trial : 3000, 1 + trial);
}

TEST(an_interrupted_sort_stops) {
  enum { COUNT = 1 << 20 };
  uint32_t *keys = calloc(COUNT, sizeof *keys);
  atomic_bool interrupted = true;
  for (unsigned threads = 1; threads < 4; threads++) {
    sort_task t = {.order = key_order_of(SCALAR_U32, false, 0),
                   .rows = 1,
                   .length = COUNT,
                   .keys = keys,
                   .sorted = keys,
                   .crew = {.threads = threads, .interrupted = &interrupted}};
    CHECK(!routine_sort(&t));
  }
  free(keys);
}

// What libraries made ahead of time set aside (runtime/ahead) is enough: no block grows.
static void check_memory(const routine_work *w, void *const *arrays) {
  worker_memory memory;
  routine_memory_bytes(w, memory.bytes);
  for (size_t b = 0; b < BLOCKS; b++)
    memory.blocks[b] = malloc(memory.bytes[b]);
  worker_memory before = memory;
  CHECK(routine_execute(w, arrays, &(crew){.threads = 1, .memory = &memory}));
  if (!CHECK(memcmp(before.bytes, memory.bytes, sizeof memory.bytes) == 0))
    printf("kind %d, %" PRIu64 " rows of %" PRIu64 ", %u pairs\n", (int)w->kind, w->rows, w->length,
           w->pair_count);
  free_worker_memory(&memory);
}

TEST(memory_is_bounded) {
  enum { MOST = 1 << 17 };
  const routine_pair pairs[] = {{0, 1, 8}, {2, 2, 8}, {ROUTINE_NONE, 3, 4}, {ROUTINE_NONE, 4, 8}};
  const net_dimension dimensions[] = {{16, 1, MOST / 16}, {MOST / 16, 16, 1}};
  uint64_t *arrays[6], offsets[] = {5, 7, 7, 60};
  arrays[5] = offsets;
  for (size_t a = 0; a < 5; a++)
    arrays[a] = malloc(MOST * sizeof **arrays);
  for (int trial = 0; trial < 200; trial++) {
    bool ragged = trial % 3 == 0;
    uint64_t rows = ragged ? 1 : (uint64_t)1 << trial % 5;
    scalar_type type = (scalar_type[]){SCALAR_U8, SCALAR_I16, SCALAR_F32, SCALAR_F64}[trial % 4];
    for (uint64_t i = 0; i < MOST; i++)
      arrays[0][i] = trial % 7 ? draw_word(&state) : draw_below(&state, 1 + (uint32_t)trial);
    routine_work w = {.kind = (routine_kind)(trial % ROUTINE_KINDS),
                      .distinct = trial % 2,
                      .order = key_order_of(type, trial % 2, 0),
                      .rows = rows,
                      .length = 64 + draw_below(&state, (uint32_t)(MOST / rows) - 64),
                      .limit = (uint64_t)1 << trial % 12,
                      .offsets = ragged ? 5 : ROUTINE_NONE,
                      .offset_count = 4,
                      .pairs = pairs,
                      .pair_count = 1};
    if (w.kind == ROUTINE_SORT)
      w.pair_count += draw_below(&state, 4);
    if (w.kind == ROUTINE_TRANSPOSE)
      w.length = MOST, w.rows = 1, w.dimensions = dimensions, w.dimension_count = 2;
    if (w.kind != ROUTINE_PERMUTE)
      check_memory(&w, (void *const *)arrays);
  }
  for (size_t a = 0; a < 5; a++)
    free(arrays[a]);
}

// ---- places -------------------------------------------------------------------------------------

// Limits at each power of two: the last place is right, and the next one is not where there is one.
TEST(places_of_all_widths) {
  enum { LENGTH = 1500, AT = 1200 };
  static unsigned char places[8 * LENGTH];
  for (size_t size = 1; size <= 8; size *= 2)
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++)
      for (uint32_t bit = 0; bit < 8 * size - is_signed; bit++)
        for (int64_t more = -1; more <= 1; more++) {
          uint64_t limit = (UINT64_C(1) << bit) + (uint64_t)more;
          uint64_t most = UINT64_MAX >> (64 - 8 * size + is_signed);
          int64_t found[2];
          place_check c = {.size = size,
                           .is_signed = is_signed,
                           .rows = 1,
                           .length = LENGTH,
                           .limit = limit,
                           .places = places,
                           .crew = {.threads = 1}};
          uint64_t tried[] = {limit - 1, limit, most, UINT64_MAX};
          for (size_t i = 0; i < 4 && limit; i++) {
            memset(places, 0, sizeof places);
            memcpy(places + AT * size, &tried[i], size);  // little-endian
            uint64_t place = tried[i] & UINT64_MAX >> (64 - 8 * size);
            bool wrong = place >= limit;
            CHECK(routine_find_wrong(&c, found));
            CHECK(found[0] == (wrong ? AT : INT64_MAX));
          }
          CHECK(limit || (routine_find_wrong(&c, found) && found[0] == 0));
        }
}

TEST_MAIN()
