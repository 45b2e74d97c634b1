// How far long work is: what contexts report (permc_on_progress), and what the tool shows of it on
// a terminal, which is a pseudoterminal here. Nothing depends on how fast the machine is: the tool
// waits for input until its line has been seen.
#include "tests/test.h"  // first: it has parameters called `text`

#include "runtime/permc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- contexts --------------------------------------------------------------------------------

typedef struct stages {
  char names[400];
  const char *last;
  bool grows, complete;  // what was done never shrinks within a stage; `running` came to its total
} stages;

static void note_stage(void *with, const permc_progress *p) {
  stages *s = with;
  static uint64_t done;
  if (s->last != p->stage) {
    strcat(strcat(s->names, *p->stage ? p->stage : "."), " ");
    done = 0;
  }
  s->grows = s->grows && p->done >= done && (!p->total || p->done <= p->total);
  s->complete = s->complete || (!strcmp(p->stage, "running") && p->total && p->done == p->total);
  done = p->done;
  s->last = p->stage;
}

// A routine is one step of the run; on ranks, which are not 0, they are what is counted.
static void check_routine(uint32_t ranks) {
  permc_context *c = permc_context_new();
  permc_progress_report *report = note_stage;
  stages s = {.grows = true};
  permc_ranks threads = {.transport = "threads", .count = ranks};
  permc_value **arguments = NULL, **results = NULL;
  size_t count, result_count;
  permc_use_threads(c, 1);
  if (ranks)
    REQUIRE(permc_use_ranks(c, &threads));
  permc_on_progress(c, report, &s);
  REQUIRE(permc_define(c, "radix_sort"));
  REQUIRE(permc_read_random(c, "-e", "[1000]i32", 1, &arguments, &count));
  REQUIRE(permc_run(c, "-e", "portable", arguments, count, &results, &result_count));
  CHECK(s.complete);
  CHECK(s.grows);
  permc_values_free(arguments, count);
  permc_values_free(results, result_count);
  permc_context_free(c);
}

TEST(routines_report_that_they_are_done) {
  check_routine(0);
  check_routine(4);
}

TEST(contexts_report_their_stages) {
  permc_context *c = permc_context_new();
  stages s = {.grows = true};
  permc_value **arguments = NULL, **results = NULL;
  size_t count, result_count;
  char path[600];
  snprintf(path, sizeof path, "%s/sorted.npy", getenv("PERMC_TMP"));
  permc_use_threads(c, 1);  // the last elements are done by the thread that reports
  permc_on_progress(c, note_stage, &s);
  REQUIRE(permc_define(c, "sort_network"));
  REQUIRE(permc_read_random(c, "-e", "[2^12]i32", 1, &arguments, &count));
  s.names[0] = 0;
  REQUIRE(permc_run(c, "-e", "portable", arguments, count, &results, &result_count));
  CHECK_STR(s.names, "elaborating planning compiling running . ");
  CHECK(s.complete);
  s.names[0] = 0;
  REQUIRE(permc_write_file(c, path, results[0]));
  permc_values_free(arguments, count);
  const char *paths[] = {path};
  REQUIRE(permc_read_files(c, "-e", paths, 1, &arguments, &count));
  CHECK_STR(s.names, "writing . reading . ");
  CHECK(s.grows);
  permc_values_free(arguments, count);
  permc_on_progress(c, NULL, NULL);
  s.names[0] = 0;
  REQUIRE(permc_read_files(c, "-e", paths, 1, &arguments, &count));
  CHECK_STR(s.names, "");
  permc_values_free(arguments, count);
  permc_values_free(results, result_count);
  permc_context_free(c);
  unlink(path);
}

// ---- the tool on a terminal ------------------------------------------------------------------

typedef struct tool {
  pid_t process;
  int terminal;  // its standard output and error
  int input;     // its standard input
  char shown[1 << 16];
  size_t length;
} tool;

// Whether the system has a terminal to give (a container without /dev/pts has none).
static bool terminals_exist(void) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  int slave = terminal < 0 || grantpt(terminal) || unlockpt(terminal)
                  ? -1
                  : open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  close(slave);
  close(terminal);
  return slave >= 0;
}

static void start_tool(tool *t, const char *no_color, const char *const *arguments) {
  int input[2], terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  CHECK(grantpt(terminal) == 0 && unlockpt(terminal) == 0 && pipe(input) == 0);
  int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  *t = (tool){.terminal = terminal};
  t->process = fork();
  if (t->process == 0) {
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", no_color, 1);
    dup2(input[0], STDIN_FILENO);
    dup2(slave, STDOUT_FILENO);
    dup2(slave, STDERR_FILENO);
    close(input[1]);
    execv(getenv("PERMC"), (char *const *)(uintptr_t)arguments);
    _exit(127);
  }
  close(slave);
  close(input[0]);
  t->input = input[1];
}

// Reads what the tool shows until `text` is there, or the end.
static bool wait_for(tool *t, const char *text) {
  while (!text || !strstr(t->shown, text)) {
    struct pollfd ready = {.fd = t->terminal, .events = POLLIN};
    if (poll(&ready, 1, 60000) <= 0)
      return false;
    ssize_t got = read(t->terminal, t->shown + t->length, sizeof t->shown - 1 - t->length);
    if (got <= 0)
      return false;
    t->length += (size_t)got;
  }
  return true;
}

// Gives it this input and waits for its end; its status.
static int end_tool(tool *t, const char *input) {
  int status = -1;
  CHECK(write(t->input, input, strlen(input)) == (ssize_t)strlen(input));
  close(t->input);
  wait_for(t, NULL);
  waitpid(t->process, &status, 0);
  close(t->terminal);
  return status;
}

TEST(long_work_shows_itself) {
  tool t;
  if (!terminals_exist())
    SKIP("no terminal can be opened here");
  start_tool(&t, "", (const char *const[]){"permc", "run", "-e", "map (+ 1)", "-i", "-", NULL});
  CHECK(wait_for(&t, "\r\033[K\033[2mpermc: reading, "));
  CHECK(write(t.input, "[1, ", 4) == 4);
  CHECK(wait_for(&t, "permc: reading 4 bytes, "));
  CHECK_EQ_I64(end_tool(&t, "2]"), 0);
  const char *last = strrchr(t.shown, '\033');
  CHECK_STR(last ? last : "", "\033[K[2i64, 3i64]\r\n");  // the line is gone
}

TEST(no_color_and_quiet) {
  tool t;
  if (!terminals_exist())
    SKIP("no terminal can be opened here");
  start_tool(&t, "1", (const char *const[]){"permc", "run", "-e", "map (+ 1)", "-i", "-", NULL});
  CHECK(wait_for(&t, "\r\033[Kpermc: reading, "));
  CHECK_EQ_I64(end_tool(&t, "[1]"), 0);
  CHECK(!strstr(t.shown, "\033[2m"));
  start_tool(&t, "",
             (const char *const[]){"permc", "run", "-e", "map (+ 1)", "-i", "-", "--quiet", NULL});
  usleep(1300000);  // more than a second, after which there would be a line
  CHECK_EQ_I64(end_tool(&t, "[1]"), 0);
  CHECK_STR(t.shown, "[2i64]\r\n");
}

TEST(large_results_are_summarised_on_a_terminal) {
  tool t;
  if (!terminals_exist())
    SKIP("no terminal can be opened here");
  start_tool(&t, "",
             (const char *const[]){"permc", "run", "-e",
                                   "\\k -> (iota 1000, map f32 (iota 1001), "
                                   "split 6 (iota 4096), k)",
                                   NULL});
  CHECK_EQ_I64(end_tool(&t, "1u8"), 0);
  CHECK(strstr(t.shown, "498i64, 499i64, 500i64, "));
  CHECK_CONTAINS(t.shown, "999i64]\r\n[0.0f32, 1.0f32, 2.0f32, ..., 998.0f32, 999.0f32, 1000.0f32]"
                          "  -- [1001]f32\r\n"
                          "[[0i64, 1i64, 2i64, ..., 61i64, 62i64, 63i64], [64i64, ");
  CHECK_CONTAINS(t.shown, ", 4095i64]]  -- [64][64]i64\r\n1u8\r\n");
  start_tool(&t, "",
             (const char *const[]){"permc", "run", "-e", "\\k -> (iota 1001, k)", "--full", NULL});
  CHECK_EQ_I64(end_tool(&t, "1u8"), 0);
  CHECK(!strstr(t.shown, "..."));
}

TEST_MAIN()
