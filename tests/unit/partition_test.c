// Kernels of partitions (kernels/routines/partition/partition.h): their text, compiled for the
// host, sorts stably by keys of few bits; it asks for as many lines of memory as it has to; NVRTC
// compiles it, where there is one.
#include "tests/test.h"

#include "kernels/routines/partition/partition.h"
#include "kernels/text/text.h"
#include "runtime/cuda/code.h"
#include "tests/unit/routine_library.h"
#include "tests/unit/splitmix.h"

enum { MOST_PAYLOADS = PARTITION_MOST_PAYLOADS };

typedef struct row {
  uint32_t bits;
  uint64_t rows, length;
  uint32_t input_count, input_bytes[PARTITION_MOST_INPUTS];
  bool places, no_counts;
  uint32_t payload_count;
  partition_moved payloads[MOST_PAYLOADS];
  uint64_t alike;  // not 0: so many neighbours are equal
} row;

#define APART PARTITION_NO_INPUT
static const row rows[] = {
    {1, 1, 70000, 1, {4}, false, false, 1, {{4, false, 0}}, 0},
    {1, 3, 5000, 1, {1}, false, true, 2, {{12, false, APART}, {4, true, APART}}, 0},
    {4, 1, 40001, 2, {2, 8}, true, false, 2, {{8, false, 1}, {8, true, APART}}, 0},
    {2, 40, 9, 1, {8}, true, true, 0, {{0}}, 0},
    {3,
     2,
     8192,
     3,
     {1, 4, 8},
     false,
     false,
     3,
     {{1, false, 0}, {2, false, APART}, {16, false, APART}},
     0},
    {1, 1, 1, 1, {4}, true, false, 1, {{4, false, 0}}, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

// The sum of the inputs, modulo the number of keys.
static const char *const key_texts[] = {
    "static inline uint32_t partition_key(uint64_t a) { return (uint32_t)a & PARTITION_MASK; }\n",
    "static inline uint32_t partition_key(uint64_t a, uint64_t b) { return (uint32_t)(a + b) & "
    "PARTITION_MASK; }\n",
    "static inline uint32_t partition_key(uint64_t a, uint64_t b, uint64_t c) { return "
    "(uint32_t)(a + b + c) & "
    "PARTITION_MASK; }\n",
};

static partition_work work_of(const row *r, text *key) {
  c_source_add(key, "kernels/text/cuda_host.h");
  text_printf(key, "#define PARTITION_MASK %u\n%s", (1U << r->bits) - 1,
              key_texts[r->input_count - 1]);
  text_add(key, "", 1);
  partition_work w = {.bits = r->bits,
                      .rows = r->rows,
                      .length = r->length,
                      .multiprocessors = 2,
                      .input_count = r->input_count,
                      .key_text = key->data,
                      .wants_places = r->places,
                      .payload_count = r->payload_count,
                      .payloads = r->payloads};
  memcpy(w.input_bytes, r->input_bytes, sizeof w.input_bytes);
  return w;
}

// ---- arguments, and what is expected -----------------------------------------------------------

typedef struct subject {
  const row *row;
  uint64_t elements;
  char *arrays[PARTITION_ARRAYS];
  uint32_t *keys;
  uint64_t *places;  // in the row
} subject;

static char *random_bytes(uint64_t count) {
  char *bytes = aligned_alloc(128, (count + 128) / 128 * 128);
  for (uint64_t i = 0; i < count; i++)
    bytes[i] = (char)random_u64();
  return bytes;
}

// The first of each `alike` neighbours is all of them.
static char *alike_bytes(uint64_t elements, uint32_t bytes, uint64_t alike) {
  char *out = random_bytes(elements * bytes);
  for (uint64_t i = 0; i < elements && alike; i++)
    memmove(out + i * bytes, out + i / alike * alike * bytes, bytes);
  return out;
}

static void find_keys(subject *s) {
  const row *r = s->row;
  for (uint64_t i = 0; i < s->elements; i++) {
    for (uint32_t k = 0; k < r->input_count; k++) {
      uint64_t word = 0;
      memcpy(&word, s->arrays[PARTITION_FIRST_INPUT + k] + i * r->input_bytes[k],
             r->input_bytes[k]);
      s->keys[i] += (uint32_t)word;
    }
    s->keys[i] &= (1U << r->bits) - 1;
  }
}

static void find_places(subject *s) {
  const row *r = s->row;
  for (uint64_t first = 0; first < s->elements; first += r->length) {
    uint64_t place = 0;
    for (uint32_t key = 0; key < 1U << r->bits; key++)
      for (uint64_t i = 0; i < r->length; i++)
        if (s->keys[first + i] == key)
          s->places[first + i] = place++;
  }
}

static void subject_make(subject *s, const row *r, const partition_kernels *k) {
  *s = (subject){.row = r, .elements = r->rows * r->length};
  s->arrays[PARTITION_STATE] = calloc(1, k->state_bytes);
  s->arrays[PARTITION_TOTALS] = r->no_counts ? NULL : random_bytes((r->rows << r->bits) * 8);
  s->arrays[PARTITION_PLACED] = random_bytes(s->elements * 8);
  for (uint32_t i = 0; i < r->input_count; i++)
    s->arrays[PARTITION_FIRST_INPUT + i] = alike_bytes(s->elements, r->input_bytes[i], r->alike);
  for (uint32_t i = 0; i < r->payload_count; i++) {
    const partition_moved *m = &r->payloads[i];
    char **a = &s->arrays[PARTITION_FIRST_PAYLOAD + 2 * i];
    a[1] = random_bytes(s->elements * m->bytes);
    a[0] = random_bytes(s->elements * m->bytes);
    if (m->input != APART)
      memcpy(a[0], s->arrays[PARTITION_FIRST_INPUT + m->input], s->elements * m->bytes);
  }
  s->keys = calloc(s->elements, sizeof *s->keys);
  s->places = calloc(s->elements, sizeof *s->places);
  find_keys(s);
  find_places(s);
}

static void subject_free(subject *s) {
  for (uint32_t i = 0; i < PARTITION_ARRAYS; i++)
    free(s->arrays[i]);
  free(s->keys);
  free(s->places);
}

static bool is_moved(const subject *s, uint32_t payload) {
  const partition_moved *m = &s->row->payloads[payload];
  char *const *a = &s->arrays[PARTITION_FIRST_PAYLOAD + 2 * payload];
  for (uint64_t i = 0; i < s->elements; i++) {
    uint64_t number = i % s->row->length, first = i - number;
    const void *from = m->numbers ? (const char *)&number : a[0] + i * m->bytes;
    if (memcmp(a[1] + (first + s->places[i]) * m->bytes, from, m->bytes) != 0)
      return false;
  }
  return true;
}

static bool are_counted(const subject *s) {
  const row *r = s->row;
  int64_t *counts = calloc(r->rows << r->bits, sizeof *counts);
  for (uint64_t i = 0; i < s->elements; i++)
    counts[(i / r->length << r->bits) + s->keys[i]]++;
  bool good = memcmp(counts, s->arrays[PARTITION_TOTALS], (r->rows << r->bits) * 8) == 0;
  free(counts);
  return good;
}

static void check_results(const subject *s) {
  for (uint32_t i = 0; i < s->row->payload_count; i++)
    CHECK(is_moved(s, i));
  if (!s->row->no_counts)
    CHECK(are_counted(s));
  if (s->row->places)
    CHECK(memcmp(s->places, s->arrays[PARTITION_PLACED], s->elements * 8) == 0);
}

// ---- lines and banks ---------------------------------------------------------------------------

// Bytes of an element: those that the keys are made of; those that are read besides; those that are
// written.
typedef struct element_bytes {
  uint64_t keys, apart, moved;
} element_bytes;

static element_bytes bytes_of(const row *r) {
  element_bytes out = {0};
  for (uint32_t i = 0; i < r->input_count; i++)
    out.keys += r->input_bytes[i];
  for (uint32_t i = 0; i < r->payload_count; i++) {
    const partition_moved *m = &r->payloads[i];
    out.apart += m->input == APART && !m->numbers ? m->bytes : 0;
    out.moved += m->bytes;
  }
  out.moved += r->places ? 8 : 0;
  return out;
}

// The counting kernel reads the keys; the other one reads all once and writes all once. Where the
// lanes of a warp have one key, those of a key begin where lines do, and the lines are as few as a
// copy's: bytes divided by 128, without conflicts at the banks. Any others lie in as many stretches
// of a tile as there are keys: each has two lines more at most.
static void check_lines(const row *r, const partition_kernels *k, uint32_t launch,
                        const access_sums *found) {
  element_bytes b = bytes_of(r);
  uint64_t lines = r->rows * r->length / 32, tiles = k->tiles * r->rows;
  uint64_t more = r->alike ? 0 : 2 * tiles * (r->payload_count + r->places) << r->bits;
  uint64_t stored = launch ? lines * b.moved / 4 : 0;
  CHECK_EQ_U64(found->lines[PERMC_LOADS], lines * (b.keys + (launch ? b.apart : 0)) / 4);
  CHECK(found->lines[PERMC_STORES] >= stored && found->lines[PERMC_STORES] <= 2 * stored + more);
  CHECK_EQ_U64(found->turns[0], found->least_turns[0]);
  CHECK(found->turns[1] <= found->least_turns[1] * ((UINT64_C(1) << r->bits) + 1));
  if (r->alike) {
    CHECK_EQ_U64(found->lines[PERMC_STORES], stored);
    CHECK_EQ_U64(found->turns[1], found->least_turns[1]);
  }
}

static void check_row(const row *r, bool counted) {
  text key = {0}, body = {0};
  partition_work w = work_of(r, &key);
  partition_kernels k;
  routine_launch launches[PARTITION_LAUNCHES];
  subject s;
  CHECK(partition_kernels_of(&w, &k));
  partition_launches(&k, launches);
  text_string(&body, "#include <stdbool.h>\ntypedef struct permc_imports permc_imports;\n");
  partition_kernels_write(&body, &k);
  write_entries(&body, PARTITION_LAUNCHES, launches);
  text_string(&body, "PERMC_COUNTERS\n");
  void *library = compile(&body);
  REQUIRE(library != NULL);
  char *scratch = aligned_alloc(128, SCRATCH);
  subject_make(&s, r, &k);
  for (int run = 0; run < 2; run++) {  // the first one leaves its state
    for (uint32_t i = 0; i < PARTITION_LAUNCHES; i++) {
      access_sums found = {.lines = {0}};
      run_launch(s.arrays, library, &launches[i], scratch);
      take_counts(library, &found);
      if (counted)
        check_lines(r, &k, i, &found);
    }
    check_results(&s);
  }
  dlclose(library);
  subject_free(&s);
  free(scratch);
  text_free(&body);
  text_free(&key);
}

TEST(partitions) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 3, ROWS)
  check_row(&rows[i], false);
}

static const row counted_rows[] = {
    {1, 1, 70016, 1, {4}, false, true, 1, {{4, false, 0}}, 32},
    {1, 1, 70016, 1, {4}, false, true, 1, {{4, false, 0}}, 0},
    {3, 2, 9600, 2, {4, 8}, true, false, 2, {{8, false, 1}, {4, false, APART}}, 32},
    {4, 1, 40000, 2, {4, 8}, true, false, 2, {{8, false, 1}, {4, false, APART}}, 0},
};
enum { COUNTED_ROWS = sizeof counted_rows / sizeof *counted_rows };

TEST(lines_and_banks) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 2, COUNTED_ROWS)
  check_row(&counted_rows[i], true);
}

TEST(texts_for_gpus) {
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    SKIP(why);
  size_t step = ROWS / test_amount(2, ROWS);
  for (size_t i = 0; i < ROWS; i += step) {
    text key = {0}, body = {0};
    partition_work w = work_of(&rows[i], &key);
    partition_kernels k;
    void *cubin = NULL;
    size_t size;
    CHECK(partition_kernels_of(&w, &k));
    partition_kernels_write(&body, &k);
    text_add(&body, "", 1);
    nvrtc_job job = {body.data, "partition.cu", 90, cuda_code_options[0], CUDA_CODE_OPTIONS};
    if (!CHECK(nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
      printf("%s\n", why);
    free(cubin);
    text_free(&body);
    text_free(&key);
  }
}

TEST(what_has_none) {
  partition_kernels k;
  CHECK(!partition_kernels_of(&(partition_work){.bits = 5, .rows = 1, .length = 1}, &k));
  CHECK(!partition_kernels_of(&(partition_work){.bits = 1, .rows = UINT64_MAX, .length = 2}, &k));
  CHECK(!partition_kernels_of(
      &(partition_work){.bits = 1, .rows = UINT64_C(1) << 40, .length = 1, .multiprocessors = 1},
      &k));
}

TEST_MAIN()
