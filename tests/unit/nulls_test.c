// Each function of permc.h, as permc.h declares it (tests/tools/api_calls.awk), without a context,
// without texts, values and places for results, and with some of these: none may crash, and each
// says what it lacks.
#include "tests/unit/api.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WITH_CONTEXT = 1, WITH_TEXT = 2, WITH_OUT = 4, WITH_NUMBER = 8, MODES = 16 };

typedef struct trial {
  permc_context *context;
  const char *text;
  void *out;
  size_t *count;
  uint8_t number;
} trial;

// What it returns is nothing: false, NULL.
#define USE(name, returned, ...)                                                                   \
  static bool call_##name(const trial *t) {                                                        \
    permc_context *c = t->context;                                                                 \
    const char *s = t->text;                                                                       \
    void *out = t->out;                                                                            \
    size_t *count = t->count;                                                                      \
    uint8_t n = t->number;                                                                         \
    (void)c, (void)s, (void)out, (void)count, (void)n;                                             \
    return returned(name(__VA_ARGS__));                                                            \
  }
#define IS_NOTHING(x) !(x)
#define DONE(x) ((x), true)
#define BOOL(name, ...) USE(name, IS_NOTHING, __VA_ARGS__)
#define POINTER(name, ...) USE(name, IS_NOTHING, __VA_ARGS__)
#define NUMBER(name, ...) USE(name, DONE, __VA_ARGS__)
#define NOTHING(name, ...) USE(name, DONE, __VA_ARGS__)
#include "api_calls.inc"
#undef BOOL
#undef POINTER
#undef NUMBER
#undef NOTHING

static const struct row {
  const char *name;
  bool (*call)(const trial *t);
} rows[] = {
#define BOOL(name, ...) {#name, call_##name},
#define POINTER BOOL
#define NUMBER BOOL
#define NOTHING BOOL
#include "api_calls.inc"
};

// These have something to return.
static bool returns_something(const char *name) {
  static const char *const names[] = {"permc_version", "permc_context_new", "permc_message"};
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    found = found || !strcmp(names[i], name);
  return found;
}

// In a process that a crash may end: *mode is the last one tried.
static bool try_modes(const struct row *r, volatile unsigned *mode) {
  bool good = true;
  for (*mode = 0; good && *mode < MODES; (*mode)++) {
    void *out = NULL;
    size_t count = 0;
    trial t = {NULL, *mode & WITH_TEXT ? "main" : NULL, *mode & WITH_OUT ? &out : NULL,
               *mode & WITH_OUT ? &count : NULL, *mode & WITH_NUMBER ? 2 : 0};
    if (*mode & WITH_CONTEXT)
      t.context = load_text("main : [m]i32 -> [m]i32\nmain = map (+ 1)\n");
    good = r->call(&t) || *mode & WITH_CONTEXT || returns_something(r->name);
    if (strcmp(r->name, "permc_context_free") != 0)
      permc_context_free(t.context);
  }
  return good;
}

TEST(nothing_is_a_mistake) {
  volatile unsigned *mode =
      mmap(NULL, sizeof *mode, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mode != MAP_FAILED && chdir(getenv("PERMC_TMP")) == 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(try_modes(&rows[i], mode) ? 0 : 1);
    }
    int status = 1;
    if (!CHECK(waitpid(child, &status, 0) == child && status == 0))
      printf("%s%s%s%s%s: %s\n", rows[i].name, *mode & WITH_CONTEXT ? ", context" : "",
             *mode & WITH_TEXT ? ", text" : "", *mode & WITH_OUT ? ", place of results" : "",
             *mode & WITH_NUMBER ? ", 2" : "", WIFSIGNALED(status) ? "a crash" : "no failure");
  }
}

TEST_MAIN()
