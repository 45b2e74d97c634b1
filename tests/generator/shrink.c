// Making a program that differs smaller: spans of its choices are emptied, left out or replaced by
// one of the spans inside of them, single choices lowered, as long as the program still differs.
#include "tests/generator/differ.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHRINK_RUNS = 5000, SHRINK_SECONDS = 30 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct shrinker {
  permc_context *context;
  const program_options *options;
  const rival *other;
  uint64_t seed;
  difference_kind kind;
  random_program *best;
  unsigned runs;
  double end;
} shrinker;

static bool is_smaller(const random_program *a, const random_program *b) {
  if (a->choice_count != b->choice_count)
    return a->choice_count < b->choice_count;
  for (size_t i = 0; i < a->choice_count; i++)
    if (a->choices[i] != b->choices[i])
      return a->choices[i] < b->choices[i];
  return false;
}

// Keeps the program of these choices if it is smaller and differs as the best one does.
static bool keep_if_smaller(shrinker *s, const uint32_t *choices, size_t count) {
  if (s->runs == 0 || now() > s->end)
    return false;
  s->runs--;
  random_program *p = random_program_again(s->seed, choices, count, s->options);
  bool failed, better = is_smaller(p, s->best);
  watch_program(p, s->seed);
  if (!better || try_program(s->context, p, s->other, &failed).kind != s->kind) {
    random_program_free(p);
    return false;
  }
  random_program_free(s->best);
  s->best = p;
  return true;
}

static size_t span_end(const uint32_t *choices, size_t begin) {
  size_t i = begin;
  unsigned inside = 0;
  do {
    inside += choices[i] == SPAN_BEGINS;
    inside -= choices[i] == SPAN_ENDS;
    i++;
  } while (inside > 0);
  return i;
}

// The best program's choices with those from `begin` to `end` replaced by others of them.
static bool replace_choices(shrinker *s, size_t begin, size_t end, size_t from, size_t to) {
  size_t count = s->best->choice_count;
  uint32_t *changed = malloc((count + 1) * sizeof *changed);
  memcpy(changed, s->best->choices, begin * sizeof *changed);
  memcpy(changed + begin, s->best->choices + from, (to - from) * sizeof *changed);
  memcpy(changed + begin + to - from, s->best->choices + end, (count - end) * sizeof *changed);
  bool kept = keep_if_smaller(s, changed, count - (end - begin) + (to - from));
  free(changed);
  return kept;
}

// A span becomes empty, goes, or becomes one of the spans inside of it.
static bool reduce_span(shrinker *s, size_t begin) {
  size_t end = span_end(s->best->choices, begin);
  if (end > begin + 2 && replace_choices(s, begin + 1, end - 1, begin, begin))
    return true;
  if (replace_choices(s, begin, end, begin, begin))
    return true;
  unsigned tried = 0;
  for (size_t i = begin + 1; i < end && tried < 6; i++)
    if (s->best->choices[i] == SPAN_BEGINS) {
      tried++;
      if (replace_choices(s, begin, end, i, span_end(s->best->choices, i)))
        return true;
    }
  return false;
}

static bool reduce_choice(shrinker *s, size_t at) {
  uint32_t was = s->best->choices[at], lower[] = {0, was / 2, was - 1};
  if (replace_choices(s, at, at + 1, at, at))
    return true;
  for (size_t i = 0; i < 3 && was > 0; i++) {
    size_t count = s->best->choice_count;
    uint32_t *changed = malloc(count * sizeof *changed);
    memcpy(changed, s->best->choices, count * sizeof *changed);
    changed[at] = lower[i];
    bool kept = keep_if_smaller(s, changed, count);
    free(changed);
    if (kept)
      return true;
  }
  return false;
}

static bool reduce_all(shrinker *s, bool spans) {
  bool progress = false;
  for (size_t at = 0; at < s->best->choice_count; at++) {
    uint32_t choice = s->best->choices[at];
    if (spans && choice == SPAN_BEGINS)
      while (at < s->best->choice_count && s->best->choices[at] == SPAN_BEGINS &&
             reduce_span(s, at))
        progress = true;
    if (!spans && choice < SPAN_ENDS)
      progress |= reduce_choice(s, at);
  }
  return progress;
}

random_program *shrink_program(permc_context *c, random_program *p, uint64_t seed,
                               const program_options *o, const rival *other, difference_kind kind) {
  shrinker s = {c, o, other, seed, kind, p, SHRINK_RUNS, now() + SHRINK_SECONDS};
  for (bool progress = true; progress;) {
    while (reduce_all(&s, true))
      ;
    progress = reduce_all(&s, false);
  }
  return s.best;
}
