// How elaboration ends early: errors with the place in the user's own text, and limits.
#include "core/units.h"
#include "lang/elaborate/elaborator.h"
#include "lang/syntax/hints.h"
#include <inttypes.h>

const limits default_limits = {.steps = 30000000,
                               .calls = 10000,
                               .operations = 4000000,
                               .memory = UINT64_C(2) << 30,
                               .stack = UINT64_C(200) << 20,
                               .results = UINT64_MAX};

uint64_t *limit_named(limits *l, const char *name) {
  const struct {
    const char *name;
    uint64_t *limit;
  } rows[] = {{"steps", &l->steps},   {"calls", &l->calls}, {"operations", &l->operations},
              {"memory", &l->memory}, {"stack", &l->stack}, {"results", &l->results}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name))
      return rows[i].limit;
  return NULL;
}

// Where the program, by the calls around it, called into the library; `where` itself, if it is not
// of the library. *through: the library's function, or NULL.
static span place_in_program(const elaborator *e, const active_call *c, span where,
                             const char **through) {
  *through = NULL;
  for (; c && e->d->sources.items[where.file].library; c = c->outer) {
    where = c->where;
    *through = c->name;
  }
  return where;
}

// Errors are shown in the user's own text.
static span user_place(const elaborator *e, const char **through) {
  return place_in_program(e, e->calls, e->where, through);
}

static void show_argument(text *out, const value *v);

static void note_call(elaborator *e, const active_call *c, span where) {
  text shown = {0};
  for (uint32_t i = 0; i < c->closure->given; i++)
    show_argument(&shown, c->closure->arguments[i]);
  diag_report(e->d, DIAG_NOTE, where, "'%s' is called here: %s%s", c->name, c->name,
              arena_text(e->memory, &shown));
}

// Where the program called its own functions around an error, from the inside, each place once.
static void note_calls(elaborator *e, span where) {
  enum { MOST_NOTED = 3 };
  span places[MOST_NOTED + 1] = {where};
  unsigned count = 1, i;
  for (const active_call *c = e->calls; c && c->outer && count <= MOST_NOTED; c = c->outer) {
    const char *through;
    span place = place_in_program(e, c->outer, c->where, &through);
    if (!c->name || c->library || e->d->sources.items[place.file].library)
      continue;
    for (i = 0; i < count; i++)
      if (places[i].file == place.file && places[i].start == place.start &&
          places[i].end == place.end)
        break;
    if (i < count)
      continue;
    note_call(e, c, place);
    places[count++] = place;
  }
}

// The innermost dynamic condition of the program that stands around itself. Both branches of it are
// computed each time, so that a recursion in one of them goes on until something stops it.
static const branch *repeated_branch(const elaborator *e) {
  enum { LOOKED_AT = 100 };
  const branch *last = e->branches;
  for (unsigned i = 0; last && i < LOOKED_AT; i++, last = last->outer)
    for (const branch *b = last->outer; b; b = b->outer)
      if (b->condition == last->condition && !e->d->sources.items[b->condition->where.file].library)
        return last;
  return NULL;
}

static const char end_by_size[] =
    "let a size end the recursion, or do a fixed number of steps, as many as are ever needed, with "
    "a condition in each: let (i, a) = iter 20 (\\(i, a) -> if i > 0 then (i - 1, a * i) else (i, "
    "a)) (n, 1) in a";

static void report_failure(elaborator *e, const char *hint, const char *format, va_list arguments) {
  const char *through;
  span where = user_place(e, &through);
  text message = {0};
  text_vprintf(&message, format, arguments);
  if (through)
    text_printf(&message, " (in '%s' of the library)", through);
  diag_report(e->d, DIAG_ERROR, where, "%s", arena_text(e->memory, &message));
  note_calls(e, where);
  const branch *around = repeated_branch(e);
  if (around)
    diag_report(e->d, DIAG_NOTE, around->condition->where,
                "both branches of this condition are computed, because it depends on data: the "
                "recursion goes on where it is false, too");
  if (around)
    hint = end_by_size;
  if (hint)
    diag_report(e->d, DIAG_HINT, where, "%s", hint);
}

// What fails in a trial is no error.
static void leave_trial(elaborator *e) {
  if (e->trial)
    longjmp(e->trial->failed, 1);
}

// The same of the innermost one that has another way, or of the outermost one.
static void leave_counted(elaborator *e, bool outermost) {
  trial *left = NULL;
  for (trial *t = e->trial; t && (outermost || !left); t = t->outer)
    left = t->counted ? t : left;
  if (left)
    longjmp(left->failed, 1);
}

void fail_hint(elaborator *e, const char *hint, const char *format, ...) {
  leave_trial(e);
  WITH_ARGUMENTS(format, report_failure(e, hint, format, arguments));
  longjmp(e->ledger->failure, 1);
}

// What follows is an error even while a check only warns, and its last.
static void end_check(elaborator *e) {
  e->d->demote = NULL;
  e->d->exhausted = true;
}

const trace_step *dynamic_operand(const elaborator *e, const trace_step *s) {
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

// What this step is made of in the end.
static const trace_step *dynamic_root(const elaborator *e, const trace_step *root) {
  while (root->operand_count)
    root = dynamic_operand(e, root);
  return root;
}

static bool may_be_wanted(const trace_step *root) {
  return root->op == TRACE_ARGUMENT && root->type == SCALAR_I64;
}

// The argument that keeps a step from being known; what is known: what it is made of.
static const trace_step *unknown_root(const elaborator *e, const trace_step *s) {
  while (!s->known && s->operand_count) {
    uint32_t i = 0;
    while (i + 1 < s->operand_count && e->out->steps.items[s->operands[i]].known)
      i++;
    s = &e->out->steps.items[s->operands[i]];
  }
  return dynamic_root(e, s);
}

// Notes whether the value could be static for one run (core/error.h).
static void note_wanted(elaborator *e, const value *v) {
  const trace_step *root = unknown_root(e, &e->out->steps.items[v->u.step]);
  e->d->wants_static = may_be_wanted(root);
  e->d->can_be_static = e->d->wants_static && (root->rank == 0 || e->asks_for_matrix);
  e->d->wanted = (uint32_t)root->number;
}

// Says where this value stopped being static.
static void explain_dynamic(elaborator *e, span where, const value *v) {
  const trace_step *s = dynamic_origin(e, v->u.step), *root = dynamic_root(e, s);
  bool library = e->d->sources.items[s->where.file].library;
  const trace_step *wanted = unknown_root(e, &e->out->steps.items[v->u.step]);
  if (s->op == TRACE_ARGUMENT || (wanted->op == TRACE_ARGUMENT && !wanted->rank))
    diag_report(e->d, DIAG_HINT, where, "it depends on an argument of the program");
  else if (library && e->out->steps.items[v->u.step].known && root->op != TRACE_INSTANCE)
    diag_report(e->d, DIAG_HINT, where,
                e->out->steps.items[v->u.step].batch == 1
                    ? "it is made of more than 2^20 elements, or of a place outside of its array: "
                      "that is not computed before the program runs"
                    : "iota, and lists of more than 64 elements, are data, and so is each of their "
                      "elements to a function on them; the elements of [0..15] are static");
  else if (s->op == TRACE_INSTANCE)
    diag_report(e->d, library ? DIAG_HINT : DIAG_NOTE, s->where, "it depends on an index bit%s",
                library ? "" : ", which becomes known here");
  else
    diag_report(e->d, library ? DIAG_HINT : DIAG_NOTE, s->where, "it depends on %s",
                library ? "elements of an array" : "an element of an array, taken here");
}

void fail_dynamic(elaborator *e, value *v, const char *what) {
  leave_counted(e, false);
  if (v->kind == VALUE_DYNAMIC)
    note_wanted(e, v);
  // An argument that can be static is made so in a trial, too: its lengths depend on it.
  if (!e->d->can_be_static)
    leave_trial(e);
  const char *through;
  span where = user_place(e, &through);
  diag_report(e->d, DIAG_ERROR, where, "%s needs a value that is known before the program runs",
              what);
  note_calls(e, where);
  if (v->kind == VALUE_DYNAMIC)
    explain_dynamic(e, where, v);
  const char *hint = e->d->can_be_static ? NULL : hint_for(HINT_STATIC, what);
  if (hint)
    diag_report(e->d, DIAG_HINT, where, "%s", hint);
  longjmp(e->ledger->failure, 1);
}

void fail_uncovered(elaborator *e, const value *v) {
  leave_counted(e, false);
  // In the library, an argument that can be static is made so: then the guard is true or false.
  if (e->d->sources.items[e->where.file].library)
    note_wanted(e, v);
  e->d->wants_static = e->d->can_be_static;
  if (e->d->can_be_static)
    e->trial = NULL;
  fail_hint(e, "end with: | otherwise = ...",
            "this condition depends on data, so another guard must cover the case that it is "
            "false");
}

static NORETURN void fail_branch(elaborator *e, const branch *around) {
  span where = around->condition->where;
  note_wanted(e, around->value);
  if (!e->d->wants_static)
    end_check(e);
  diag_report(e->d, DIAG_ERROR, where,
              "both branches of this condition are computed, because it depends on data: the "
              "recursion of '%s' cannot end",
              running_name(e));
  explain_dynamic(e, where, around->value);
  diag_report(e->d, DIAG_HINT, where, "%s", end_by_size);
  longjmp(e->ledger->failure, 1);
}

// The innermost call of a function that the program defines; NULL: there is none.
static const active_call *running_call(const active_call *c) {
  while (c && (!c->name || c->library || !c->closure->code ||
               c->closure->given < c->closure->code->arity))
    c = c->outer;
  return c;
}

static const char *shown_arguments(elaborator *e, const active_call *c) {
  text shown = {0};
  for (uint32_t i = 0; i < c->closure->code->arity; i++)
    show_argument(&shown, c->closure->arguments[i]);
  return arena_text(e->memory, &shown);
}

// Whether a call of the same function around this one has the same numbers and lengths.
static bool repeats_itself(elaborator *e, const active_call *c) {
  const active_call *outer = c->outer;
  while (outer && (!(outer = running_call(outer)) || outer->closure->code != c->closure->code))
    outer = outer ? outer->outer : NULL;
  const char *shown = shown_arguments(e, c);
  return outer && !strchr(shown, '_') && !strcmp(shown, shown_arguments(e, outer));
}

// Whether a condition or one of several equations may end the recursion.
static bool may_end(const function *code) {
  const equation *first = code->equations.items;
  const expr *body = first->alternatives[0].body;
  while (body->kind == EXPR_LET)
    body = body->u.let.body;
  return code->equations.count > 1 || first->alternative_count > 1 || body->kind == EXPR_IF;
}

// An equation that would end the recursion of the program's innermost function: clean 0 xs = xs.
static const char *ending_equation(elaborator *e, const active_call *c) {
  const function *code = c ? c->closure->code : NULL;
  value_kind kind = c && code->arity ? c->closure->arguments[0]->kind : VALUE_TUPLE;
  bool array = code && code->arity == 1 && (kind == VALUE_ARRAY || kind == VALUE_LIST);
  if (array && code->binding && code->binding->scheme) {
    const type *t = type_prune(code->binding->scheme->type);
    bool to_array = t->kind == TYPE_FUNCTION && type_prune(t->parts[1])->kind == TYPE_ARRAY;
    if (code->equations.items[0].patterns[0]->kind != PATTERN_LIST)
      return arena_printf(e->memory, "%s [x] = %s", c->name, to_array ? "[x]" : "x");
    return arena_printf(e->memory, "%s xs | length xs == 0 = %s", c->name, to_array ? "xs" : "0");
  }
  if (!code || code->arity < 2 || kind != VALUE_SCALAR)
    return "f 0 x = x";
  text out = {0};
  text_printf(&out, "%s 0", c->name);
  const char *name = "x";
  for (uint32_t i = 1; i < code->arity; i++) {
    const pattern *p = code->equations.items[0].patterns[i];
    name = p->kind == PATTERN_NAME ? p->name : "x";
    text_printf(&out, " %s", name);
  }
  text_printf(&out, " = %s", name);
  return arena_text(e->memory, &out);
}

// What to do about a recursion that is nested too deeply; raises: how the limit is raised.
static const char *hint_for_recursion(elaborator *e, const char *raises) {
  const active_call *c = running_call(e->calls);
  if (c && repeats_itself(e, c))
    return arena_printf(e->memory,
                        "it calls itself with the same numbers and lengths again, so nothing ends "
                        "it: put an equation in front that does, such as %s",
                        ending_equation(e, c));
  if (c && may_end(c->closure->code))
    return arena_printf(e->memory,
                        "if it does end, write it without nested calls: iter k f x does k steps, "
                        "fold f x xs one for each element; %s",
                        raises);
  return arena_printf(e->memory, "a recursion needs an equation that ends it, such as %s; %s",
                      ending_equation(e, c), raises);
}

bool is_recursive(const elaborator *e) {
  const char *name = running_name(e);
  unsigned calls = 0;
  for (const active_call *c = e->calls; c; c = c->outer)
    calls += c->name && !c->library && !strcmp(c->name, name);
  return calls >= 2;
}

// What may cost so many operations: a function that calls itself, once for each half. "": there is
// none.
static const char *halving_hint(elaborator *e) {
  const char *name = running_name(e);
  return !is_recursive(e)
             ? ""
             : arena_printf(e->memory,
                            "where '%s' leads to two calls of itself, the work doubles from "
                            "size to size: one call for both halves is parmi (2^(n-1)) "
                            "(\\half -> ...) xs, half being 0 or 1 (docs/guide.md); ",
                            name);
}

void fail_limit(elaborator *e, const char *limit, uint64_t needed, const char *format, ...) {
  e->ledger->counted_in_vain++;
  leave_counted(e, true);
  leave_trial(e);
  const branch *around = repeated_branch(e);
  if (around)
    fail_branch(e, around);
  end_check(e);
  uint64_t more = 2 * *limit_named(&e->limits, limit);
  while (more < needed && more <= UINT64_MAX / 2)
    more *= 2;
  bool power = !(more & (more - 1)), recursion = !strcmp(limit, "calls") || !strcmp(limit, "stack");
  const char *raises =
      arena_printf(e->memory, "--limit %s=%s%" PRIu64 " raises the limit", limit, power ? "2^" : "",
                   power ? (uint64_t)__builtin_ctzll(more) : more);
  const char *hint = recursion ? hint_for_recursion(e, raises)
                     : strcmp(limit, "operations")
                         ? raises
                         : arena_printf(e->memory, "%s%s", halving_hint(e), raises);
  if (needed == UINT64_MAX)
    hint =
        "a comprehension is evaluated number by number before the program runs; many numbers are "
        "data, as in map (\\i -> i * i) (iota n)";
  WITH_ARGUMENTS(format, report_failure(e, hint, format, arguments));
  longjmp(e->ledger->failure, 1);
}

// The innermost function of the program itself, for messages about recursion.
const char *running_name(const elaborator *e) {
  for (const active_call *c = e->calls; c; c = c->outer)
    if (c->name && !c->library)
      return c->name;
  return e->calls && e->calls->name ? e->calls->name : "this expression";
}

void count_step(elaborator *e) {
  char limit[NUMBER_SPACE];
  if (++e->ledger->steps > e->limits.steps)
    fail_limit(e, "steps", 0,
               "evaluating '%s' takes more than %" PRIu64 " steps, which is the limit",
               running_name(e), e->limits.steps);
  if (!(e->ledger->steps & 1023) && e->limits.interrupted && atomic_load(e->limits.interrupted)) {
    end_check(e);
    fail(e, "interrupted");
  }
  if (e->memory->used > e->limits.memory)
    fail_limit(e, "memory", 0, "evaluating '%s' takes more than %s of memory, which is the limit",
               running_name(e), show_bytes(limit, e->limits.memory));
  char *here = __builtin_frame_address(0);
  size_t used = here < e->stack ? (size_t)(e->stack - here) : (size_t)(here - e->stack);
  if (used > e->limits.stack)
    fail_limit(e, "stack", 0,
               "'%s' is nested too deeply: it takes more than %s of stack, which is the limit",
               running_name(e), show_bytes(limit, e->limits.stack));
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
  const char *copy = arena_text(e->memory, &shown), *needed = NULL;
  if (code->name && code->binding && code->binding->in_library)
    needed = hint_for(HINT_EQUATION, code->name);
  if (needed && code->arity == 1 && !strncmp(copy, " [", 2))
    fail_hint(e, hint_for(HINT_LENGTH, code->name), "'%s' needs %s, but this array has %.*s",
              code->name, needed, (int)strlen(copy + 2) - 1, copy + 2);
  if (needed)
    fail(e, "'%s' needs %s, but this is %s%s", code->name, needed, code->name, copy);
  const pattern *only = code->arity == 1 ? code->equations.items[0].patterns[0] : NULL;
  if (!code->name && only && only->kind == PATTERN_LIST && !strncmp(copy, " [", 2))
    fail_hint(e, "take and drop give a part of an array, split 1 xs rows of two",
              "this pattern is an array of %u elements, but the argument has %.*s", only->count,
              (int)strlen(copy + 2) - 1, copy + 2);
  if (!code->name)
    fail(e, "no pattern of this function matches its arguments:%s", copy);
  if (!strchr(copy, '['))
    fail(e, "no equation of '%s' matches the call %s%s", code->name, code->name, copy);
  fail_hint(e, "an array is shown as its length: f [4] is a call with an array of 4 elements",
            "no equation of '%s' matches the call %s%s", code->name, code->name, copy);
}
