// NVRTC: libraries that are missing, old or incomplete, and what is wrong with texts, by a library
// that needs no CUDA (fake_nvrtc.c); and, where there is an NVRTC, that it compiles.
#include "tests/test.h"

#include "runtime/cuda/nvrtc.h"
#include "tests/unit/library.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- with the fake: each test in a process of its own, since what is found stays ----------------

// The status of `run` in a child that has PERMC_NVRTC and FAKE_NVRTC set so.
static int in_child(const char *path, const char *version, void (*run)(void)) {
  int status = 1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setenv("PERMC_NVRTC", path, 1);
    setenv("FAKE_NVRTC", version, 1);
    run();
    fflush(stdout);
    _exit(test_state.failures > 0);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const char *expected;  // of the child

static void find_none(void) {
  char why[NVRTC_WHY] = "", message[NVRTC_WHY] = "";
  int major, minor;
  void *cubin = NULL;
  size_t size = 1;
  CHECK(!nvrtc_find(why, sizeof why));
  CHECK_CONTAINS(why, expected);
  CHECK(strchr(why, '\n') == NULL);
  CHECK(!nvrtc_version(&major, &minor));
  CHECK(!nvrtc_compile(&(nvrtc_job){.text = "", .name = "x.cu", .architecture = 90}, &cubin, &size,
                       message, sizeof message));
  CHECK(cubin == NULL && size == 0);
  CHECK_STR(message, why);
}

static void check_none(const char *path, const char *version, const char *reason) {
  expected = reason;
  CHECK(in_child(path, version, find_none) == 0);
}

TEST(none) {
  check_none("/nonexistent/libnvrtc.so", "",
             "PERMC_NVRTC does not name a library that can be loaded");
  check_none("/nonexistent/libnvrtc.so", "", "/nonexistent/libnvrtc.so");
  check_none(FAKE_NVRTC, "11.8", "is of CUDA 11.8, permc needs 12.0 or later");
  check_none(FAKE_NVRTC, "new", "is not a library of NVRTC");
}

TEST(functions_that_are_missing) {
  static const char *const symbols[] = {"nvrtcGetErrorString",    "nvrtcGetNumSupportedArchs",
                                        "nvrtcGetSupportedArchs", "nvrtcCreateProgram",
                                        "nvrtcDestroyProgram",    "nvrtcCompileProgram",
                                        "nvrtcGetCUBINSize",      "nvrtcGetCUBIN",
                                        "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"};
  char reason[100];
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    const char *path = library_without(FAKE_NVRTC, symbols[i]);
    snprintf(reason, sizeof reason, "has no function %s", symbols[i]);
    check_none(path, "12.0", reason);
    remove(path);
  }
  const char *path = library_without(FAKE_NVRTC, "nvrtcVersion");
  check_none(path, "12.0", "is not a library of NVRTC");
  remove(path);
}

// What is said of a text; "" if nothing. Where it is compiled, `cubin` gets the fake's.
static const char *said_of(const char *text, int architecture, char cubin[2000]) {
  static char message[NVRTC_WHY];
  static const char *const options[] = {"-std=c++17", "--fmad=false"};
  nvrtc_job job = {text, "x.cu", architecture, options, 2};
  void *code = NULL;
  size_t size = 0;
  message[0] = cubin[0] = 0;
  if (nvrtc_compile(&job, &code, &size, message, sizeof message)) {
    CHECK_STR(message, "");
    CHECK_EQ_U64(size, strlen(code) + 1);
    snprintf(cubin, 2000, "%s", (char *)code);
  }
  free(code);
  return message;
}

static void compile_with_fake(void) {
  char cubin[2000];
  int major = 0, minor = 0;
  CHECK(nvrtc_version(&major, &minor) && major == 13 && minor == 1);
  CHECK_STR(said_of("text", 90, cubin), "");
  CHECK_STR(cubin, "--gpu-architecture=sm_90 -std=c++17 --fmad=false text");
  CHECK_STR(said_of("text", 70, cubin),
            "NVRTC of CUDA 13.1 does not compile for sm_70, only for sm_80 sm_90");
  CHECK_STR(said_of("log:some words\n\nx.cu(3): error: a\nx.cu(4): error: b\n", 80, cubin),
            "x.cu(3): error: a");
  CHECK_STR(said_of("log:\n\nall is bad\nyes\n", 80, cubin), "all is bad");
  CHECK_STR(said_of("log:", 80, cubin), "nvrtcCompileProgram: NVRTC_ERROR_COMPILATION");
}

static void fail_in_fake(void) {
  static const char *const rows[][2] = {
      {"nvrtcCreateProgram", "nvrtcCreateProgram: NVRTC_ERROR_OTHER"},
      {"nvrtcCompileProgram", "nvrtcCompileProgram: NVRTC_ERROR_COMPILATION"},
      {"nvrtcGetCUBINSize", "nvrtcGetCUBINSize: NVRTC_ERROR_OTHER"},
      {"nvrtcGetCUBIN", "nvrtcGetCUBIN: NVRTC_ERROR_OTHER"},
      {"nvrtcGetNumSupportedArchs", ""},
  };
  char cubin[2000];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("FAKE_NVRTC_FAIL", rows[i][0], 1);
    CHECK_STR(said_of("text", 90, cubin), rows[i][1]);
  }
  static const char *const logs[] = {"nvrtcGetProgramLogSize", "nvrtcGetProgramLog"};
  for (size_t i = 0; i < 2; i++) {
    setenv("FAKE_NVRTC_FAIL", logs[i], 1);
    CHECK_STR(said_of("log:error", 90, cubin), "nvrtcCompileProgram: NVRTC_ERROR_COMPILATION");
  }
}

TEST(with_the_fake) {
  CHECK(in_child(FAKE_NVRTC, "13.1", compile_with_fake) == 0);
  CHECK(in_child(FAKE_NVRTC, "12.0", fail_in_fake) == 0);
}

// ---- with NVRTC, if there is one ----------------------------------------------------------------

static const char kernel[] = "extern \"C\" __global__ void add(unsigned *a, const unsigned *b) {\n"
                             "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  a[i] += b[i];\n"
                             "}\n";

static bool is_elf(const void *code, size_t size) {
  return code && size > 64 && memcmp(code, "\177ELF", 4) == 0;
}

static bool compiles(int architecture, const char *text, char message[NVRTC_WHY]) {
  static const char *const options[] = {"-std=c++17"};
  void *code = NULL;
  size_t size = 0;
  bool good = nvrtc_compile(&(nvrtc_job){text, "add.cu", architecture, options, 1}, &code, &size,
                            message, NVRTC_WHY);
  CHECK(!good || is_elf(code, size));
  free(code);
  return good;
}

static char none[NVRTC_WHY];

TEST(compiles) {
  char message[NVRTC_WHY] = "";
  int major = 0, minor = 0;
  if (!nvrtc_find(none, sizeof none))
    SKIP(none);
  REQUIRE(nvrtc_version(&major, &minor));
  CHECK(compiles(80, kernel, message) && compiles(90, kernel, message));
  if (major * 100 + minor >= 1208)
    CHECK(compiles(100, kernel, message));
  CHECK_STR(message, "");
}

TEST(errors) {
  char message[NVRTC_WHY] = "";
  static const char *const bad_option[] = {"--no-such-option"};
  void *code;
  size_t size;
  if (!nvrtc_find(none, sizeof none))
    SKIP(none);
  CHECK(!compiles(80, "__global__ void f(int *a) {\n  *a = b;\n}\n", message));
  CHECK_STR(message, "add.cu(2): error: identifier \"b\" is undefined");
  CHECK(!compiles(35, kernel, message));
  CHECK_CONTAINS(message, "does not compile for sm_35, only for sm_");
  CHECK(!nvrtc_compile(&(nvrtc_job){kernel, "add.cu", 80, bad_option, 1}, &code, &size, message,
                       sizeof message));
  CHECK_CONTAINS(message, "no-such-option");
}

static void *compile_many(void *with) {
  char message[NVRTC_WHY] = "";
  bool good = true;
  for (int i = 0; i < 3; i++)
    good = good && compiles(i % 2 ? 80 : 90, kernel, message);
  *(bool *)with = good;
  return NULL;
}

TEST(threads) {
  pthread_t threads[4];
  bool good[4] = {0};
  if (!nvrtc_find(none, sizeof none))
    SKIP(none);
  for (int i = 0; i < 4; i++)
    REQUIRE(pthread_create(&threads[i], NULL, compile_many, &good[i]) == 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    CHECK(good[i]);
  }
}

TEST_MAIN()
