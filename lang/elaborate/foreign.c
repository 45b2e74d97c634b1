// Calls of foreign C functions: one step each.
#include "lang/elaborate/elaborator.h"

value *run_foreign(elaborator *e, const closure *c) {
  const binding *b = c->foreign;
  e->d->wants_extern = !e->allow_extern;
  if (!e->allow_extern)
    fail_hint(e, "if you trust this program, run it with --allow-extern",
              "'%s' is a C function of the library '%s', which is not allowed", b->name,
              b->library);
  trace_extern x = {.library = b->library, .name = b->name, .arity = c->arity};
  x.parameters = NEW_ARRAY(e->memory, scalar_type, c->arity);
  type *t = b->scheme->type;
  trace_step s = {
      .op = TRACE_EXTERN, .operand_count = c->arity, .batch = 1, .number = e->out->externs.count};
  s.operands = NEW_ARRAY(e->memory, value_id, c->arity);
  for (uint32_t i = 0; i < c->arity; i++) {
    t = type_prune(t);
    x.parameters[i] = closed_scalar(t->parts[0]);
    s.operands[i] = as_dynamic(e, c->arguments[i])->u.step;
    uint64_t batch = e->out->steps.items[s.operands[i]].batch;
    if (!batch || (s.batch && batch > s.batch))
      s.batch = batch;
    t = t->parts[1];
  }
  x.result = closed_scalar(t);
  s.type = x.result;
  for (uint64_t i = 0; i < e->out->externs.count; i++)
    if (!strcmp(e->out->externs.items[i].name, x.name) &&
        !strcmp(e->out->externs.items[i].library, x.library))
      s.number = i;
  if (s.number == e->out->externs.count)
    vec_push(e->memory, &e->out->externs, x);
  return make_dynamic(e, emit(e, s));
}
