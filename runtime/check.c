// Checking programs at sizes (permc.h, permc_check).
#include "runtime/pipeline.h"

#include <inttypes.h>

typedef struct check_job {
  const char *entry;
  const permc_size *sizes;
  size_t count;
} check_job;

static bool check_once(permc_context *c, const binding *b, const check_job *j, int64_t other) {
  pipeline p;
  pipeline_request r = {.entry = b->name,
                        .last = STAGE_TRACE,
                        .sizes = j->sizes,
                        .size_count = j->count,
                        .some_sizes = true,
                        .other = other};
  bool good = pipeline_make(c, &r, &p);
  pipeline_free(&p);
  return good;
}

// Sizes that are not given go from 0 to 4; those that fail are warnings, unless all do. A limit
// that is reached ends the check.
static bool check_entry(permc_context *c, binding *b, const check_job *j) {
  enum { LAST = 4 };
  diagnostics *d = &c->program.diagnostics;
  const char *open = NULL;
  for (size_t i = 0; i < b->size_names.count && !open; i++)
    if (!size_is_given(b->size_names.items[i], j->sizes, j->count))
      open = b->size_names.items[i];
  bool unsized = !b->size_names.count && !j->count && type_has_arrays(b->scheme->type);
  if (!open && !unsized)
    return check_once(c, b, j, 0);
  bool passed = false;
  size_t start = d->rendered.length;
  for (int64_t n = 0; n <= LAST; n++) {
    d->demote = open ? arena_printf(&c->program.memory, "with %s = %" PRId64 ": ", open, n)
                     : arena_printf(&c->program.memory,
                                    "with arrays of %" PRId64 " elements: ", INT64_C(1) << n);
    passed |= check_once(c, b, j, n);
    d->demote = NULL;
    if (d->exhausted)
      return false;
  }
  if (passed)
    return true;
  context_truncate_messages(c, start);
  return check_once(c, b, j, LAST);
}

// A function that wants an int static (a mask, a count, a list of them) is a helper, although its
// signature makes it look like an entry point: no fault of the program.
static bool check_listed(permc_context *c, binding *b, const check_job *j) {
  diagnostics *d = &c->program.diagnostics;
  unsigned errors = d->errors;
  size_t start = d->rendered.length;
  d->wants_static = false;
  bool good = check_entry(c, b, j);
  if (!d->wants_static || !strcmp(b->name, "main"))
    return good;
  d->errors = errors;
  context_truncate_messages(c, start);
  return true;
}

static bool run_check(permc_context *c, void *with) {
  const check_job *j = with;
  double start = context_now();
  bool good = true;
  if (j->entry) {
    binding *b = context_entry(c, j->entry);
    good = b && check_entry(c, b, j);
  } else {
    const diagnostics *d = &c->program.diagnostics;
    for (size_t i = 0; i < c->program.program.entries.count && !d->exhausted; i++)
      good &= check_listed(c, c->program.program.entries.items[i], j);
    if (!c->program.program.entries.count)
      diag_report(&c->program.diagnostics, DIAG_WARNING, SPAN_NONE,
                  "there is no entry point ('main', or a function with a signature), so no size "
                  "was tried");
  }
  c->times.elaborate = context_now() - start;
  return good;
}

// Whether some entry has a size of that name; *known collects the names there are.
static bool known_size(const permc_context *c, const char *name, text *known) {
  bool found = false;
  for (size_t i = 0; i < c->program.program.entries.count; i++) {
    const binding *b = c->program.program.entries.items[i];
    for (size_t k = 0; k < b->size_names.count; k++) {
      found |= !strcmp(b->size_names.items[k], name);
      text_printf(known, "%s'%s' of '%s'", known->length ? ", " : "; there is ",
                  b->size_names.items[k], b->name);
    }
  }
  return found;
}

bool permc_check(permc_context *c, const char *entry, const permc_size *sizes, size_t count) {
  context_begin_call(c);
  for (size_t i = 0; i < count; i++) {
    text known = {0};
    bool found = known_size(c, sizes[i].name, &known);
    if (!found)
      context_error(c, "no entry point has a size named '%s'%s", sizes[i].name,
                    text_content(&known));
    text_free(&known);
    if (!found)
      return false;
  }
  check_job j = {entry, sizes, count};
  return context_run_job(c, run_check, &j);
}
