// Checking programs at sizes (permc.h, permc_check).
#include "core/clock.h"
#include "runtime/pipeline.h"

#include <inttypes.h>

typedef struct check_job {
  const char *entry;
  const permc_size *sizes;
  size_t count;
} check_job;

typedef struct check_attempt {
  bool good, guessed;  // guessed: the value of an int was needed
  bool limited;        // a limit was reached
  bool empty;          // an argument has no elements
} check_attempt;

static check_attempt check_once(permc_context *c, const binding *b, const check_job *j,
                                int64_t other, int64_t guess) {
  FREED_BY(pipeline_free) pipeline p = {0};
  pipeline_request r = {.entry = b->name,
                        .last = STAGE_TRACE,
                        .sizes = j->sizes,
                        .size_count = j->count,
                        .some_sizes = true,
                        .other = other,
                        .guess = guess};
  bool good = pipeline_make(c, &r, &p);
  check_attempt a = {.good = good, .guessed = p.has_static};
  for (size_t i = 0; i < p.shapes.arrays.count; i++)
    for (uint32_t k = 0; k < p.shapes.arrays.items[i].rank; k++)
      a.empty |= !p.shapes.arrays.items[i].dims[k];
  return a;
}

enum { LAST = 4 };

// Whether the first lines of both are the same: notes below it may show the size.
static bool same_first_line(const char *a, const char *b) {
  size_t length = strcspn(a, "\n");
  return length == strcspn(b, "\n") && !memcmp(a, b, length);
}

// Whether all errors and warnings of `messages` are among those of `before`, whose notes may tell
// of other calls.
static bool says_nothing_new(permc_context *c, const char *before, const char *messages) {
  for (size_t length; *messages; messages += length + (messages[length] == '\n')) {
    length = strcspn(messages, "\n");
    const char *line = arena_copy(&c->memory, messages, length);
    bool says =
        !strncmp(line, "permc: ", 7) || strstr(line, ": error: ") || strstr(line, ": warning: ");
    if (says && !strstr(before, line))
      return false;
  }
  return true;
}

// Whether the entry works where sizes that are not given are `other`, with some value of ints that
// have to be known.
static check_attempt check_size(permc_context *c, const binding *b, const check_job *j,
                                int64_t other) {
  size_t start = c->program.diagnostics.rendered.length;
  check_attempt a = {.guessed = true};
  for (int64_t guess = 0; guess <= LAST && !a.good && a.guessed; guess++) {
    context_truncate_messages(c, start);
    a = check_once(c, b, j, other, guess);
  }
  return a;
}

// The same where nothing is reported. *messages: what would be; NULL: nobody asks.
static check_attempt check_silently(permc_context *c, const binding *b, const check_job *j,
                                    int64_t other, const char **messages) {
  diagnostics *d = &c->program.diagnostics;
  size_t start = d->rendered.length;
  unsigned errors = d->errors;
  check_attempt a = check_size(c, b, j, other);
  if (messages)
    *messages =
        arena_copy(&c->memory, text_content(&d->rendered) + start, d->rendered.length - start);
  context_truncate_messages(c, start);
  d->errors = errors;
  a.limited = d->exhausted;
  d->exhausted = false;
  return a;
}

// The first size above LAST with which the entry works, such as 8 for blocks of 8 x 8; 0: none of
// those that are tried. Nothing is reported.
static int64_t find_size(permc_context *c, const binding *b, const check_job *j, bool power) {
  static const int64_t sizes[] = {5, 6, 7, 8, 10, 12, 16, 20, 60, 64, 100, 128, 240, 1000, 1024};
  enum { LARGEST_POWER = 20 };
  check_attempt a = {0};
  // Where a limit ends one size, larger ones take longer still.
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !a.limited; i++) {
    if (!power || sizes[i] <= LARGEST_POWER)
      a = check_silently(c, b, j, sizes[i], NULL);
    if (a.good)
      return sizes[i];
  }
  return 0;
}

// "with n = 4: "; open: the name of the size, or NULL where arrays have 2^n elements, or ~n.
static const char *shown_size(permc_context *c, const char *open, int64_t n) {
  return open ? arena_printf(&c->memory, "with %s = %" PRId64 ": ", open, n)
              : arena_printf(&c->memory,
                             "with arrays of %" PRId64 " elements: ", n < 0 ? ~n : INT64_C(1) << n);
}

// An entry that fails with all small sizes: one warning, if it works with a larger one.
static bool check_larger(permc_context *c, const binding *b, const check_job *j, const char *open) {
  diagnostics *d = &c->program.diagnostics;
  const char *messages[2];
  for (int i = 0; i < 2; i++)
    check_silently(c, b, j, LAST - i, &messages[i]);
  bool depends = !same_first_line(messages[0], messages[1]);
  int64_t larger = depends ? find_size(c, b, j, !open) : 0;
  d->demote = larger ? shown_size(c, open, LAST) : NULL;
  check_size(c, b, j, LAST);
  d->demote = NULL;
  if (larger)
    diag_report(d, DIAG_HINT, b->where, "%snothing is wrong", shown_size(c, open, larger));
  else if (open && depends)
    // What depends on the size says which one it was checked with.
    diag_report(d, DIAG_HINT, b->where, "this was checked with %s = %d; --size %s=N takes another",
                open, (int)LAST, open);
  return larger != 0;
}

// Sizes that are not given, where there are several, once more as 4, 3, ...: what needs two of them
// to be equal fails then, which is a warning.
static void check_unequal(permc_context *c, const binding *b, const check_job *j) {
  size_t count = j->count;
  permc_size *sizes = NEW_ARRAY(&c->memory, permc_size, j->count + b->size_names.count);
  text shown = {.memory = &c->memory};
  if (j->count)
    memcpy(sizes, j->sizes, j->count * sizeof *sizes);
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!size_is_given(b->size_names.items[i], j->sizes, j->count)) {
      sizes[count] =
          (permc_size){b->size_names.items[i], LAST - (int64_t)(count - j->count) % LAST};
      text_printf(&shown, "%s%s = %" PRId64, shown.length ? ", " : "with ", sizes[count].name,
                  sizes[count].value);
      count++;
    }
  if (count < j->count + 2)
    return;
  text_string(&shown, ": ");
  c->program.diagnostics.demote = text_content(&shown);
  check_size(c, b, &(check_job){j->entry, sizes, count}, LAST);
  c->program.diagnostics.demote = NULL;
}

// Sizes that are not given go from 0 to 4, or to larger ones where all above 0 fail; those that fail
// are warnings, unless all do, or those alone that make an argument empty: who writes xs[0] or a
// maximum gives no empty array. Arrays whose lengths have no names have 1 to 16 elements, and none
// if 3 do, too: who needs 2^n elements does not meet an empty array. A limit that is reached ends
// the check.
static check_attempt check_entry(permc_context *c, binding *b, const check_job *j) {
  diagnostics *d = &c->program.diagnostics;
  const char *open = NULL;
  for (size_t i = 0; i < b->size_names.count && !open; i++)
    if (!size_is_given(b->size_names.items[i], j->sizes, j->count))
      open = b->size_names.items[i];
  bool unsized = !b->size_names.count && !j->count && type_has_arrays(b->scheme->type);
  if (!open && !unsized)
    return check_size(c, b, j, 0);
  check_attempt all = {0};
  size_t start = d->rendered.length;
  unsigned errors = d->errors;
  bool only_empty = true, empty = unsized && check_silently(c, b, j, ~INT64_C(3), NULL).good;
  for (int64_t n = empty ? ~INT64_C(0) : 0; n <= LAST; n++) {
    d->demote = shown_size(c, open, n);
    check_attempt a = check_size(c, b, j, n);
    all.good |= a.good && n >= (open ? 1 : 0);
    all.guessed |= a.guessed;
    only_empty &= a.good || a.empty;
    d->demote = NULL;
    if (d->exhausted)
      return (check_attempt){0};
  }
  if (only_empty)
    context_truncate_messages(c, start);
  if (all.good && open)
    check_unequal(c, b, j);
  if (d->exhausted)
    return (check_attempt){0};
  if (all.good)
    return all;
  context_truncate_messages(c, start);
  d->errors = errors;
  all.good = check_larger(c, b, j, open);
  return all;
}

// guessed: values of ints were tried.
static void report_skipped(permc_context *c, const binding *b, bool guessed) {
  FREED_BY(text_free) text names = {0};
  const char *name;
  for (size_t i = 0; guessed && i < b->code->arity; i++)
    if ((name = entry_integer_name(b, i)))
      text_printf(&names, "%s'%s'", names.length ? " and " : "", name);
  diag_report(&c->program.diagnostics, DIAG_WARNING, b->where,
              "'%s' was not checked: it has to know an argument before it runs", b->name);
  diag_report(&c->program.diagnostics, DIAG_HINT, b->where,
              names.length ? "give %s a value with --size, or give arguments with --arguments or -i"
                           : "give arguments with --entry %s and --arguments or -i",
              names.length ? text_content(&names) : b->name);
}

// Checks an entry. One that has to know an argument that nobody gives is skipped, which is said.
static bool check_or_skip(permc_context *c, binding *b, const check_job *j) {
  diagnostics *d = &c->program.diagnostics;
  unsigned errors = d->errors;
  size_t start = d->rendered.length;
  d->wants_static = d->can_be_static = false;
  check_attempt a = check_entry(c, b, j);
  // Two entries that call one wrong function say so once.
  char *before = arena_copy(&c->memory, text_content(&d->rendered), start);
  if (start && says_nothing_new(c, before, text_content(&d->rendered) + start))
    context_truncate_messages(c, start);
  // An element of an array cannot be known, but only main cannot be called with lists that are.
  bool skipped = a.guessed || d->can_be_static || (d->wants_static && strcmp(b->name, "main"));
  if (a.good || d->exhausted || !skipped)
    return a.good;
  d->errors = errors;
  context_truncate_messages(c, start);
  report_skipped(c, b, a.guessed);
  return true;
}

static bool run_check(permc_context *c, void *with) {
  const check_job *j = with;
  double start = clock_seconds();
  bool good = true;
  if (j->entry) {
    binding *b = context_entry(c, j->entry);
    good = b && check_or_skip(c, b, j);
  } else {
    const diagnostics *d = &c->program.diagnostics;
    for (size_t i = 0; i < c->program.program.entries.count && !d->exhausted; i++)
      good &= check_or_skip(c, c->program.program.entries.items[i], j);
    const binding *main = program_definition(&c->program, "main");
    if (!c->program.program.entries.count) {
      diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE,
                  "there is no entry point in %s ('main', or a function with a signature), so no "
                  "size was tried",
                  context_program_name(c));
      if (main && main->scheme && !first_order_parameters(main->scheme->type))
        diag_report(&c->program.diagnostics, DIAG_HINT, SPAN_NONE,
                    "'main' takes or returns functions: %s",
                    hint_for_functions(main->scheme->type));
    }
  }
  c->times.elaborate = clock_seconds() - start;
  return good;
}

// Whether some entry has a size of that name; *known collects the names there are.
static bool known_size(const permc_context *c, const char *name, text *known) {
  bool found = false;
  for (size_t i = 0; i < c->program.program.entries.count; i++) {
    const binding *b = c->program.program.entries.items[i];
    found |= entry_has_size(b, name);
    FREED_BY(text_free) text names = {0};
    entry_list_sizes(&names, b);
    if (names.length)
      text_printf(known, "%s%s of '%s'", known->length ? ", " : "; there is ", text_content(&names),
                  b->name);
  }
  return found;
}

bool permc_check(permc_context *c, const char *entry, const permc_size *sizes, size_t count) {
  context_begin_call(c);
  if (!context_given_sizes(c, sizes, count))
    return false;
  if (!c->program.ready || c->half_loaded)
    return context_error(c, "there is no program to check: load one first");
  for (size_t i = 0; i < count; i++) {
    text known = {0};
    bool found = known_size(c, sizes[i].name, &known);
    if (!found)
      context_error(c, "no entry point has a size named '%s'%s", sizes[i].name,
                    known.length ? text_content(&known)
                                 : "; a signature names sizes: main : [2^n]int -> [2^n]int");
    text_free(&known);
    if (!found)
      return false;
  }
  check_job j = {entry, sizes, count};
  return context_run_job(c, run_check, &j);
}

static bool accept_products(permc_context *c, pipeline *p, void *with) {
  (void)c, (void)p, (void)with;
  return true;
}

bool permc_check_arguments(permc_context *c, const char *entry, const char *types,
                           permc_value *const *arguments, size_t argument_count) {
  pipeline_request r = {.entry = entry,
                        .last = STAGE_TRACE,
                        .types = types,
                        .arguments = arguments,
                        .argument_count = argument_count};
  context_begin_call(c);
  return pipeline_with(c, &r, accept_products, NULL);
}
