// Dimensions in another order: by the routine (runtime/routines/transpose.h), and by the kernel
// (kernels/routines/transpose/transpose.h), whose text is compiled for the host. NVRTC compiles it,
// where there is one.
#include "tests/test.h"

#include "kernels/routines/transpose/transpose.h"
#include "runtime/cuda/code.h"
#include "runtime/routines/transpose.h"
#include "tests/unit/routine_library.h"
#include "tests/unit/splitmix.h"

enum { MOST = 4, GUARD = 64 };

// An array of these extents, the outermost first, whose dimension order[0] becomes the outermost.
typedef struct row {
  uint32_t bytes, count;
  uint64_t extents[MOST];
  uint32_t order[MOST];
} row;

static const row rows[] = {
    {4, 2, {131, 257}, {1, 0}},
    {4, 2, {3000, 7}, {1, 0}},
    {4, 2, {7, 3000}, {1, 0}},
    {1, 2, {255, 301}, {1, 0}},
    {2, 2, {100, 513}, {1, 0}},
    {8, 2, {65, 127}, {1, 0}},
    {16, 2, {33, 70}, {1, 0}},
    {1, 2, {2001, 3}, {1, 0}},
    {2, 2, {5, 2001}, {1, 0}},
    {4, 3, {41, 67, 3}, {1, 0, 2}},
    {4, 3, {500, 5, 7}, {0, 2, 1}},
    {4, 3, {31, 9, 40}, {2, 1, 0}},
    {1, 3, {64, 50, 6}, {1, 0, 2}},
    {8, 4, {3, 20, 5, 21}, {2, 1, 3, 0}},
    {2, 4, {4, 33, 2, 61}, {3, 0, 1, 2}},
    {4, 2, {1, 1}, {0, 1}},
    {4, 4, {2, 3, 5, 7}, {3, 2, 1, 0}},
    {16, 3, {11, 13, 100}, {1, 0, 2}},
    {4, 2, {1031, 1201}, {1, 0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

// Of a row, by dimension of the result.
typedef struct subject {
  uint64_t elements;
  uint32_t count;
  net_dimension dimensions[MOST];
  char *from, *to;
} subject;

static void subject_make(subject *s, const row *r) {
  *s = (subject){.elements = 1};
  for (uint32_t i = 0; i < r->count; i++)
    s->elements *= r->extents[i];
  uint64_t to = s->elements;
  for (uint32_t i = 0; i < r->count; i++) {
    uint64_t from = 1, extent = r->extents[r->order[i]];
    for (uint32_t d = r->order[i] + 1; d < r->count; d++)
      from *= r->extents[d];
    to /= extent;
    if (extent > 1)
      s->dimensions[s->count++] = (net_dimension){extent, from, to};
  }
  size_t bytes = (s->elements * r->bytes + GUARD + 127) / 128 * 128;
  s->from = aligned_alloc(128, bytes);
  s->to = aligned_alloc(128, bytes);
  for (size_t i = 0; i < bytes; i++)
    s->from[i] = (char)random_u64();
  memset(s->to, 77, bytes);
}

static uint64_t wrong_elements(const subject *s, uint32_t bytes) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < s->elements; i++) {
    uint64_t rest = i, from = 0, to = 0;
    for (uint32_t d = 0; d < s->count; d++) {
      from += rest % s->dimensions[d].extent * s->dimensions[d].from;
      to += rest % s->dimensions[d].extent * s->dimensions[d].to;
      rest /= s->dimensions[d].extent;
    }
    wrong += memcmp(s->to + to * bytes, s->from + from * bytes, bytes) != 0;
  }
  for (size_t i = 0; i < GUARD; i++)
    wrong += s->to[s->elements * bytes + i] != 77;
  return wrong;
}

static void subject_free(subject *s) {
  free(s->from);
  free(s->to);
}

TEST(routine) {
  for (size_t i = 0; i < ROWS; i++)
    for (unsigned threads = 1; threads < 3; threads++) {
      subject s;
      subject_make(&s, &rows[i]);
      CHECK(routine_transpose(&(transpose_task){
          rows[i].bytes, s.count, s.dimensions, s.from, s.to, {.threads = threads}}));
      if (!CHECK_EQ_U64(wrong_elements(&s, rows[i].bytes), 0))
        printf("row %zu\n", i);
      subject_free(&s);
    }
}

// ---- the kernel --------------------------------------------------------------------------------

// A thread's turns are counted one by one, as far as there are rows for them.
enum { TURNS = 96 };

static bool has_rows(const transpose_kernel *k) {
  return k->reading.turns <= TURNS && k->writing.turns * k->packed <= TURNS;
}

static void *compile_transpose(const transpose_kernel *k, const routine_launch *l) {
  text body = {0};
  text_string(&body, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
  text_printf(&body, "#define PERMC_TURNS %d\n%s", TURNS,
              has_rows(k) ? "" : "#undef PERMC_COUNT\n");
  transpose_kernel_write(&body, k);
  write_entries(&body, 1, l);
  if (has_rows(k))
    text_string(&body, "PERMC_COUNTERS\n");
  void *library = compile(&body);
  text_free(&body);
  return library;
}

static void check_kernel(const row *r, void check(const row *, const transpose_kernel *, void *)) {
  subject s;
  transpose_kernel k;
  subject_make(&s, r);
  transpose_kernel_of(r->bytes, s.count, s.dimensions, &k);
  routine_launch l = transpose_launch(&k);
  void *library = compile_transpose(&k, &l);
  REQUIRE(library != NULL);
  CHECK(l.shared_bytes <= 48 << 10);
  char *scratch = aligned_alloc(128, SCRATCH), *arrays[] = {s.from, s.to};
  run_launch(arrays, library, &l, scratch);
  if (!CHECK_EQ_U64(wrong_elements(&s, r->bytes), 0))
    printf("row %td\n", r - rows);
  if (check)
    check(r, &k, library);
  dlclose(library);
  free(scratch);
  subject_free(&s);
}

TEST(kernels) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 6, ROWS)
  check_kernel(&rows[i], NULL);
}

// Rows and columns of whole lines.
static const row counted_rows[] = {
    {4, 2, {160, 352}, {1, 0}}, {2, 2, {192, 320}, {1, 0}}, {8, 2, {128, 192}, {1, 0}},
    {1, 2, {384, 640}, {1, 0}}, {16, 2, {64, 192}, {1, 0}},
};
enum { COUNTED_ROWS = sizeof counted_rows / sizeof *counted_rows };

// A transpose reads and writes each line once, as a copy does, and has no conflicts at the banks
// (the HMM paper, Table I: one coalesced read, one coalesced write, one of each of shared memory).
// Warps that read elements of less than 4 bytes have a part of a line each; tiles of these have an
// element more than they write of a row.
static void check_lines(const row *r, const transpose_kernel *k, void *library) {
  access_sums found = {.lines = {0}};
  uint64_t lines = r->extents[0] * r->extents[1] * r->bytes / 128;
  CHECK(has_rows(k));
  take_counts(library, &found);
  CHECK_EQ_U64(found.lines[PERMC_STORES], lines);
  if (r->bytes >= 4)
    CHECK_EQ_U64(found.lines[PERMC_LOADS], lines);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ_U64(found.lines[i], found.least_lines[i]);
    CHECK_EQ_U64(found.turns[i], found.least_turns[i]);
    if (r->bytes >= 4)
      CHECK_EQ_U64(found.turns[i], lines);
  }
}

TEST(lines_and_banks) {
  if (!has_compiler())
    SKIP(NO_COMPILER);
  EACH_OF_SAMPLE(i, 2, COUNTED_ROWS)
  check_kernel(&counted_rows[i], check_lines);
}

TEST(texts_for_gpus) {
  char why[NVRTC_WHY];
  if (!nvrtc_find(why, sizeof why))
    SKIP(why);
  for (size_t i = 0; i < ROWS; i += 3) {
    subject s;
    transpose_kernel k;
    text body = {0};
    void *cubin = NULL;
    size_t size;
    subject_make(&s, &rows[i]);
    transpose_kernel_of(rows[i].bytes, s.count, s.dimensions, &k);
    transpose_kernel_write(&body, &k);
    text_add(&body, "", 1);
    nvrtc_job job = {body.data, "transpose.cu", 90, cuda_code_options[0], CUDA_CODE_OPTIONS};
    if (!CHECK(nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
      printf("%s\n", why);
    free(cubin);
    subject_free(&s);
    text_free(&body);
  }
}

TEST_MAIN()
