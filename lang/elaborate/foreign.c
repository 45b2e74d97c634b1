// Calls of foreign C functions: one step each.
#include "lang/elaborate/elaborator.h"

static void add_type(text *to, uint32_t arity, const scalar_type *parameters, scalar_type result) {
  for (uint32_t i = 0; i < arity; i++)
    text_printf(to, "%s -> ", scalar_types[parameters[i]].name);
  text_string(to, scalar_types[result].name);
}

// The caller's function, if its type is known, has that of the declaration.
static void check_callback(elaborator *e, const c_function *x) {
  const c_callback *given = x->callback;
  if (!given || !given->types)
    return;
  text is = {0}, should = {0};
  add_type(&is, given->arity, given->types, given->types[given->arity]);
  add_type(&should, x->arity, x->parameters, x->result);
  const char *found = arena_text(e->memory, &is), *wanted = arena_text(e->memory, &should);
  if (strcmp(found, wanted))
    fail(e, "'%s' is declared as %s, and the function that is given for it is %s", x->name, wanted,
         found);
}

value *run_foreign(elaborator *e, const closure *c) {
  const binding *b = c->foreign;
  bool allowed = e->allow_extern || b->callback;
  e->d->wants_extern = !allowed;
  if (!allowed)
    fail_hint(e, "if you trust this program, run it with --allow-extern",
              "'%s' is a C function of the library '%s', which is not allowed", b->name,
              b->library);
  c_function x = {
      .library = b->library, .name = b->name, .arity = c->arity, .callback = b->callback};
  x.parameters = NEW_ARRAY(e->memory, scalar_type, c->arity);
  type *t = b->scheme->type;
  value_id *operands = NEW_ARRAY(e->memory, value_id, c->arity);
  for (uint32_t i = 0; i < c->arity; i++) {
    t = type_prune(t);
    x.parameters[i] = closed_scalar(t->parts[0]);
    operands[i] = as_dynamic(e, c->arguments[i])->u.step;
    t = t->parts[1];
  }
  x.result = closed_scalar(t);
  check_callback(e, &x);
  trace_step s = {.op = TRACE_EXTERN, .type = x.result, .number = e->out->externs.count};
  for (uint64_t i = 0; i < e->out->externs.count; i++)
    if (!strcmp(e->out->externs.items[i].name, x.name) &&
        !strcmp(e->out->externs.items[i].library, x.library))
      s.number = i;
  if (s.number == e->out->externs.count)
    vec_push(e->memory, &e->out->externs, x);
  return make_dynamic(e, emit(e, s, c->arity, operands));
}
