// A program on the backend cuda without a GPU: the driver is fake_cuda.c, the compiler
// fake_nvrtc.c, and the kernel of the program's first pass a function here.
//
//   enter("fail=cuInit at=1");          // settings of the driver (fake_cuda.h)
//   subject s = a_subject("cuda");      // map (+ 1) of COUNT u32, compiled
//   CHECK(execute(&s)), check_results(&s);
//   drop(&s);
#ifndef PERMC_TESTS_CUDA_PROGRAM_H
#define PERMC_TESTS_CUDA_PROGRAM_H

#include "tests/unit/api.h"
#include "tests/unit/fake_driver.h"

#include <unistd.h>

enum { COUNT = 1000 };

static inline void add_one(const fake_cuda_launch *l) { fake_add_one(l, COUNT); }

static fake_cuda_kernel *kernel = add_one;
static inline void run_kernel(const fake_cuda_launch *l) { kernel(l); }

static inline void enter(const char *settings) {
  static char place[512];
  if (fake_driver_load()) {
    const char *folder = getenv("PERMC_TMP");
    snprintf(place, sizeof place, "%s/cuda-XXXXXX", folder ? folder : "/tmp");
    REQUIRE(mkdtemp(place) != NULL);
    setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
    setenv("PERMC_CACHE", place, 1);
    fake.define("permc_pass_0", 4, run_kernel);
  }
  fake.set(settings);
}

typedef struct subject {
  permc_context *context;
  permc_value *argument, **results;
  size_t result_count;
  permc_compiled *compiled;
} subject;

static inline subject subject_of(const char *program, const char *backend) {
  uint32_t values[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    values[i] = 3 * i;
  subject s = {.context = load_text(program), .argument = value_1("u32", COUNT, values)};
  s.compiled = permc_compile(s.context, "main", backend, &s.argument, 1);
  return s;
}

static inline subject a_subject(const char *backend) {
  return subject_of("main : [m]u32 -> [m]u32\nmain = map (+ 1)\n", backend);
}

static inline void drop(subject *s) {
  permc_values_free(s->results, s->result_count);
  permc_compiled_free(s->compiled);
  permc_value_free(s->argument);
  permc_context_free(s->context);
}

static inline bool execute(subject *s) {
  return call_values(s->compiled, &s->argument, 1, &s->results, &s->result_count);
}

static inline void check_results(const subject *s) {
  uint32_t expected[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = 3 * i + 1;
  if (CHECK_EQ_U64(s->result_count, 1))
    check_1(s->results[0], 0, "u32", COUNT, expected);
}

// The message of a run says what went wrong.
typedef bool program_run(char *message, size_t size);

// A run in which a call of the driver fails, the at-th: whether it succeeds nevertheless. If not,
// the message names the failure; nothing is left over in any case.
static inline bool run_with_failure(const char *symbol, size_t at, program_run *run) {
  char settings[100], message[2000];
  snprintf(settings, sizeof settings, "fail=%s at=%zu status=999", symbol, at);
  enter(settings);
  bool good = run(message, sizeof message);
  if (!good && !CHECK_CONTAINS(message, "error 999"))
    printf("%s\n", settings);
  CHECK_EQ_U64(fake.left(), 0);
  return good;
}

#endif
