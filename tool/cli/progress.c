// See progress.h.
#include "tool/cli/progress.h"
#include "core/clock.h"
#include "core/units.h"
#include "runtime/context/context.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const double first_shown = 1, redrawn = 0.2;  // seconds

static struct {
  pthread_t thread;
  pthread_mutex_t lock;  // of all below
  pthread_cond_t ended;
  bool running, ending;
  atomic_bool of_verb;  // contexts are not shown
  bool visible;
  char stage[48];  // "": no work is going on
  const char *unit;
  uint64_t done, total;
  double begun, next;  // when the stage began; when the line may be drawn
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- the line --------------------------------------------------------------------------------

// "1.5 GiB", "12 tests", "3.1 M elements", as `unit` wants it.
static void add_amount(text *t, double amount) {
  static const char *const prefixes[] = {"", " k", " M", " G", " T"};
  char number[NUMBER_SPACE];
  size_t prefix = 0;
  if (!strcmp(line.unit, "bytes")) {
    text_string(t, show_bytes(number, (uint64_t)amount));
    return;
  }
  for (; amount >= 999.5 && prefix < 4; prefix++)
    amount /= 1000;
  text_printf(t, "%s%s %s", show_number(number, amount), prefixes[prefix], line.unit);
}

static void add_time(text *t, double seconds) {
  if (seconds < 120)
    text_printf(t, "%.0f s", seconds);
  else
    text_printf(t, "%.0f min", seconds / 60);
}

// "reading 45 %, 1.2 GiB/s, 3 s left"; without a total "writing 3.1 GiB, 1.2 GiB/s"; else the time.
static void describe(text *t, double now) {
  double elapsed = now - line.begun, rate = elapsed > 0 ? (double)line.done / elapsed : 0;
  text_printf(t, "permc: %s", line.stage);
  if (line.total)
    text_printf(t, " %.0f %%", 100 * (double)line.done / (double)line.total);
  else if (line.done)
    text_string(t, " "), add_amount(t, (double)line.done);
  text_string(t, ", ");
  if (line.done) {
    add_amount(t, rate);
    text_string(t, "/s");
  } else {
    add_time(t, elapsed);
  }
  if (line.done && line.total >= line.done) {
    text_string(t, ", ");
    add_time(t, (double)(line.total - line.done) / rate);
    text_string(t, " left");
  }
}

static void erase(void) {
  if (line.visible)
    fputs("\r\033[K", stderr);
  line.visible = false;
}

static void draw(double now) {
  text t = {0};
  const char *no_color = getenv("NO_COLOR");
  bool dim = !no_color || !*no_color;
  describe(&t, now);
  fprintf(stderr, "\r\033[K%s%.79s%s", dim ? "\033[2m" : "", text_content(&t),
          dim ? "\033[0m" : "");
  fflush(stderr);
  text_free(&t);
  line.visible = true;
}

static void *draw_line(void *unused) {
  (void)unused;
  pthread_mutex_lock(&line.lock);
  while (!line.ending) {
    double now = clock_seconds();
    if (line.stage[0] && now >= line.next)
      draw(now);
    double wake = now >= line.next ? now + redrawn : line.next;
    struct timespec until = {(time_t)wake, (long)((wake - (double)(time_t)wake) * 1e9)};
    pthread_cond_timedwait(&line.ended, &line.lock, &until);
  }
  pthread_mutex_unlock(&line.lock);
  return NULL;
}

// ---- what is shown ---------------------------------------------------------------------------

static void show(const char *stage, const char *unit, uint64_t done, uint64_t total) {
  pthread_mutex_lock(&line.lock);
  if (strcmp(line.stage, stage) || done < line.done) {
    snprintf(line.stage, sizeof line.stage, "%s", stage);
    line.begun = clock_seconds();
    if (!*stage)
      erase();
  }
  line.unit = unit;
  line.done = done;
  line.total = total;
  pthread_mutex_unlock(&line.lock);
}

static void on_progress(void *with, const permc_progress *p) {
  (void)with;
  // No line while somebody types the input.
  bool typed = !strcmp(p->stage, "reading") && !p->total && isatty(STDIN_FILENO);
  if (!typed && !atomic_load_explicit(&line.of_verb, memory_order_relaxed))
    show(p->stage, p->unit, p->done, p->total);
}

void cli_progress_watch(permc_context *context) {
  if (line.running)
    permc_on_progress(context, on_progress, NULL);
}

void cli_progress_work(const char *stage, const char *unit, uint64_t done, uint64_t total) {
  atomic_store(&line.of_verb, true);
  if (line.running)
    show(stage, unit, done, total);
}

void cli_progress_clear(void) {
  if (!line.running)
    return;
  pthread_mutex_lock(&line.lock);
  erase();
  double later = clock_seconds() + redrawn;
  line.next = line.next > later ? line.next : later;
  pthread_mutex_unlock(&line.lock);
}

// ---- the thread ------------------------------------------------------------------------------

void cli_progress_start(void) {
  const char *terminal = getenv("TERM");
  if (!isatty(STDERR_FILENO) || !terminal || !strcmp(terminal, "dumb"))
    return;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&line.ended, &attributes);
  pthread_condattr_destroy(&attributes);
  line.next = clock_seconds() + first_shown;
  line.running = pthread_create(&line.thread, NULL, draw_line, NULL) == 0;
}

void cli_progress_end(void) {
  if (!line.running)
    return;
  pthread_mutex_lock(&line.lock);
  erase();
  line.ending = true;
  pthread_cond_signal(&line.ended);
  pthread_mutex_unlock(&line.lock);
  pthread_join(line.thread, NULL);
  line.running = false;
}
