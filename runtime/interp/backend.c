// The backend interp: the Trace, step by step.
#include "runtime/context/backend.h"
#include "runtime/interp/interp.h"

static backend_status prepare_interp(backend_program *p, char why[BACKEND_WHY]) {
  (void)p, (void)why;
  return BACKEND_READY;
}

// interp consumes what it is given, so that it gets copies of arguments that are kept.
static array *copy_arguments(permc_context *c, const backend_run *r) {
  array *copy = calloc(r->argument_count + 1, sizeof *copy);
  bool good = copy != NULL;
  for (size_t i = 0; good && i < r->argument_count; i++) {
    const array *from = &r->arguments[i];
    good = array_create(&copy[i], from->type, from->rank, from->dims);
    if (good)
      memcpy(copy[i].data, from->data, array_bytes(from));
  }
  if (good)
    return copy;
  context_error_of(c, PERMC_ERROR_MEMORY, "there is no memory for a copy of the arguments");
  if (copy)
    arrays_destroy(copy, r->argument_count);
  free(copy);
  return NULL;
}

static bool execute_trace(backend_program *p, backend_run *r) {
  permc_context *c = p->context;
  array *arguments = r->keep ? copy_arguments(c, r) : r->arguments;
  if (!arguments)
    return false;
  error failure = {0};
  bool good = interp_run(p->trace, arguments, r->argument_count, r->results, c->allow_extern,
                         c->limits.interrupted, &failure);
  if (r->keep)
    free(arguments);
  if (good)
    return true;
  return backend_fail(p, &failure);
}

static void release_nothing(backend_program *p) { (void)p; }

const backend interp_backend = {.name = "interp",
                                .summary = "step by step, the definition of the language",
                                .prepare = prepare_interp,
                                .execute = execute_trace,
                                .release = release_nothing};
