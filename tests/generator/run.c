// Running a random program, and telling which one it was when that crashes or does not end.
#include "tests/generator/differ.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- crashes ---------------------------------------------------------------------------------

static const random_program *running;
static char running_seed[300];  // and what it takes
static unsigned limit;          // seconds for each

static void say(const char *part) {
  if (write(STDOUT_FILENO, part, strlen(part)) < 0)
    _exit(1);
}

static void on_crash(int number) {
  say(number == SIGALRM ? "takes too long:\n" : "crashes:\n");
  say(running ? running->text : "");
  say(running_seed);
  say("\n");
  signal(number, SIG_DFL);
  raise(number == SIGALRM ? SIGKILL : number);
}

void watch_program(const random_program *p, uint64_t seed) {
  running = p;
  char *types = p ? random_program_types(p) : NULL;
  snprintf(running_seed, sizeof running_seed, "-- seed %" PRIu64 ", arguments: %s", seed,
           types ? types : "");
  free(types);
  alarm(p ? limit : 0);
}

void watch_programs(unsigned seconds) {
  limit = seconds;
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], on_crash);
}

// ---- running ---------------------------------------------------------------------------------

void free_result(result *r) {
  permc_values_free(r->values, r->count);
  free(r->message);
  *r = (result){NULL, 0, NULL};
}

static permc_value *copy_of(const permc_value *v) {
  permc_value *parts[32];
  size_t count = permc_value_components(v);
  for (size_t i = 0; i < count; i++)
    parts[i] = permc_value_new(permc_value_type(v, i), permc_value_rank(v, i),
                               permc_value_dims(v, i), permc_value_data(v, i));
  return count == 1 ? parts[0] : permc_value_tuple(parts, count);
}

result run_program(permc_context *c, const random_program *p, const char *backend, bool consume) {
  result r = {NULL, 0, NULL};
  permc_value *copies[8];
  bool good;
  if (consume) {
    for (size_t i = 0; i < p->argument_count; i++)
      copies[i] = copy_of(p->values[i]);
    good = permc_run_consume(c, "main", backend, copies, p->argument_count, &r.values, &r.count);
    for (size_t i = 0; i < p->argument_count; i++)
      permc_value_free(copies[i]);
  } else {
    good = permc_run(c, "main", backend, p->values, p->argument_count, &r.values, &r.count);
  }
  if (!good)
    r.message = strdup(permc_message(c));
  return r;
}

result load_and_run(permc_context *c, const random_program *p, const char *backend) {
  if (permc_load_text(c, "random", p->text, strlen(p->text)))
    return run_program(c, p, backend, false);
  return (result){NULL, 0, strdup(permc_message(c))};
}
