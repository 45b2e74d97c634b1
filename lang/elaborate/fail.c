// How elaboration ends early: errors with the place in the user's own text, and limits.
#include "lang/elaborate/elaborator.h"
#include <inttypes.h>

// Errors are shown in the user's own text: where it called into the library.
static span user_place(const elaborator *e, const char **through) {
  span where = e->where;
  *through = NULL;
  for (const active_call *c = e->calls; c && e->d->sources.items[where.file].library;
       c = c->outer) {
    where = c->where;
    *through = c->name;
  }
  return where;
}

static void report_failure(elaborator *e, const char *hint, const char *format, va_list arguments) {
  const char *through;
  span where = user_place(e, &through);
  text message = {0};
  text_vprintf(&message, format, arguments);
  if (through)
    text_printf(&message, " (in '%s' of the library)", through);
  diag_report(e->d, DIAG_ERROR, where, "%s", arena_text(e->memory, &message));
  if (hint)
    diag_report(e->d, DIAG_HINT, where, "%s", hint);
}

void fail_hint(elaborator *e, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_failure(e, hint, format, arguments);
  va_end(arguments);
  longjmp(e->failure, 1);
}

// What follows is an error even while a check only warns, and its last.
static void end_check(elaborator *e) {
  e->d->demote = NULL;
  e->d->exhausted = true;
}

void fail_limit(elaborator *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_check(e);
  report_failure(e, "a recursion needs an equation that ends it, such as f 0 x = x", format,
                 arguments);
  va_end(arguments);
  longjmp(e->failure, 1);
}

// The operand of a step that makes it dynamic: the first that is no constant.
static const trace_step *dynamic_operand(const elaborator *e, const trace_step *s) {
  uint32_t i = 0;
  while (i + 1 < s->operand_count && e->out->steps.items[s->operands[i]].op == TRACE_CONSTANT)
    i++;
  return &e->out->steps.items[s->operands[i]];
}

// The step at which a value stopped being static.
static const trace_step *dynamic_origin(const elaborator *e, value_id id) {
  const trace_step *s = &e->out->steps.items[id];
  while (s->operand_count && s->op != TRACE_ELEMENT)
    s = dynamic_operand(e, s);
  return s;
}

void fail_dynamic(elaborator *e, value *v, const char *what) {
  const char *through;
  span where = user_place(e, &through);
  diag_report(e->d, DIAG_ERROR, where, "%s needs a value that is known before the program runs",
              what);
  if (v->kind == VALUE_DYNAMIC) {
    const trace_step *s = dynamic_origin(e, v->u.step);
    const trace_step *root = s;
    while (root->operand_count)
      root = dynamic_operand(e, root);
    e->d->wants_static = root->op == TRACE_ARGUMENT && root->type == SCALAR_I64;
    e->d->can_be_static = e->d->wants_static && (root->rank == 0 || e->asks_for_matrix);
    e->d->wanted = (uint32_t)root->number;
    const char *why = s->op == TRACE_ARGUMENT ? "it depends on an argument of the program"
                      : s->op == TRACE_INSTANCE
                          ? "it depends on an index bit, which becomes known here"
                          : "it depends on an element of an array, taken here";
    if (s->op == TRACE_ARGUMENT || e->d->sources.items[s->where.file].library)
      diag_report(e->d, DIAG_HINT, where, "%s", why);
    else
      diag_report(e->d, DIAG_NOTE, s->where, "%s", why);
  }
  longjmp(e->failure, 1);
}

int64_t static_integer(elaborator *e, value *v, const char *what) {
  if (v->kind != VALUE_SCALAR)
    fail_dynamic(e, v, what);
  return v->u.scalar.bits.i64;
}

// The innermost function of the program itself, for messages about recursion.
const char *running_name(const elaborator *e) {
  for (const active_call *c = e->calls; c; c = c->outer)
    if (c->name && !c->library)
      return c->name;
  return e->calls && e->calls->name ? e->calls->name : "this expression";
}

void count_step(elaborator *e) {
  if (++e->steps > e->limits.steps)
    fail_limit(e, "evaluating '%s' takes more than %" PRIu64 " steps: does its recursion end?",
               running_name(e), e->limits.steps);
  if (!(e->steps & 1023) && e->limits.interrupted && atomic_load(e->limits.interrupted)) {
    end_check(e);
    fail(e, "interrupted");
  }
  if (e->memory->used > e->limits.memory)
    fail_limit(e, "evaluating '%s' takes more than %zu MiB of memory: does its recursion end?",
               running_name(e), e->limits.memory >> 20);
  char *here = __builtin_frame_address(0);
  size_t used = here < e->stack ? (size_t)(e->stack - here) : (size_t)(here - e->stack);
  if (used > e->limits.stack)
    fail_limit(e, "'%s' is nested too deeply", running_name(e));
}

static void show_argument(text *out, const value *v) {
  if (v->kind == VALUE_SCALAR && v->u.scalar.type == SCALAR_I64)
    text_printf(out, " %" PRId64, v->u.scalar.bits.i64);
  else if (v->kind == VALUE_ARRAY || v->kind == VALUE_LIST)
    text_printf(out, " [%" PRIu64 "]",
                v->kind == VALUE_LIST ? (uint64_t)v->u.parts.count : v->u.array.length);
  else if (v->kind == VALUE_SCALAR && v->u.scalar.type == SCALAR_BOOL)
    text_string(out, v->u.scalar.bits.b ? " true" : " false");
  else
    text_string(out, " _");
}

void fail_no_equation(elaborator *e, const function *code, value **arguments) {
  text shown = {0};
  for (uint32_t i = 0; i < code->arity; i++)
    show_argument(&shown, arguments[i]);
  const char *copy = arena_text(e->memory, &shown);
  if (!code->name)
    fail(e, "no pattern of this function matches its arguments:%s", copy);
  if (!strchr(copy, '['))
    fail(e, "no equation of '%s' matches the call %s%s", code->name, code->name, copy);
  fail_hint(e, "an array is shown as its length: f [4] is a call with an array of 4 elements",
            "no equation of '%s' matches the call %s%s", code->name, code->name, copy);
}
