#include "lang/types/mismatch.h"
#include "lang/syntax/hints.h"

#include <ctype.h>

const char *type_text(arena *a, type *t) {
  text out = {0};
  type_print(&out, t);
  return arena_text(a, &out);
}

static bool is_array_of_any(const type *t) {
  const type *element = t->kind == TYPE_ARRAY ? type_prune(t->parts[0]) : t;
  return element != t && element->kind == TYPE_VARIABLE && !element->rigid;
}

static void print_both_types(arena *a, type *const types[2], const char *texts[2]) {
  for (int i = 0; i < 2; i++)
    if (is_array_of_any(types[i]) && types[!i]->kind != TYPE_ARRAY &&
        !type_contains(types[i], types[!i])) {
      texts[i] = "an array";
      texts[!i] = type_text(a, types[!i]);
      return;
    }
  text out[2] = {{.memory = a}, {.memory = a}};
  type_print_both(&out[0], types[0], &out[1], types[1]);
  for (int i = 0; i < 2; i++)
    texts[i] = arena_text(a, &out[i]);
}

static bool contains(span outer, span inner) {
  return outer.file == inner.file && outer.start <= inner.start && outer.end >= inner.end;
}

// The text of an expression as it stands in the source, or NULL if it has several lines or is long.
static const char *show_code(diagnostics *d, span where) {
  enum { LONGEST = 40 };
  const char *code = d->sources.items[where.file].text + where.start;
  uint32_t length = where.end - where.start;
  bool whole = length <= LONGEST && !memchr(code, '\n', length);
  return whole ? arena_copy(d->memory, code, length) : NULL;
}

// Whether it is an operator with its second operand: (+ 1), (xor 1).
static bool is_section(const char *code) {
  const char *inside = code && *code == '(' ? code + 1 + strspn(code + 1, " ") : "";
  return (ispunct((unsigned char)*inside) && !strchr("([_-\\.\"", *inside)) ||
         !strncmp(inside, "xor ", 4);
}

// The same as an argument.
static const char *show_argument(diagnostics *d, span where) {
  const char *code = show_code(d, where);
  bool bare = code && strpbrk(code, " (") && *code != '(' && *code != '[';
  return bare ? arena_printf(d->memory, "(%s)", code) : code;
}

// ---- hints by the types ----------------------------------------------------------------------

// "expected a number" says it all.
static bool is_only_constrained(const type *t) {
  return t->kind == TYPE_VARIABLE && !t->rigid && !t->fields.count &&
         t->constraint.kind != CONSTRAINT_NONE;
}

static bool is_scalar_of(const type *t, scalar_class allowed) {
  return t->kind == TYPE_SCALAR && (CLASS_OF(t->scalar) & allowed);
}

static bool is_array_of_arrays(const type *t) {
  return t->kind == TYPE_ARRAY && type_prune(t->parts[0])->kind == TYPE_ARRAY;
}

static uint32_t count_parameters(const type *t) {
  uint32_t count = 0;
  for (; t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1]))
    count++;
  return count;
}

// What compact and distinct give.
static bool is_counted_array(const type *t) {
  return t->kind == TYPE_TUPLE && t->count == 2 && type_prune(t->parts[0])->kind == TYPE_ARRAY &&
         is_scalar_of(type_prune(t->parts[1]), CLASS_INTEGER);
}

// What to do where one kind of type stands in the place of another.
static const char *hint_for_kinds(const type *wanted, const type *found) {
  const bool open = is_only_constrained(wanted), any = is_only_constrained(found);
  const bool number = any || is_scalar_of(found, CLASS_NUM);
  const bool arrays = wanted->kind == TYPE_ARRAY && found->kind == TYPE_ARRAY;
  const type *const inner[2] = {arrays ? type_prune(wanted->parts[0]) : wanted,
                                arrays ? type_prune(found->parts[0]) : found};
  const struct {
    bool applies;
    const char *hint;
  } rows[] = {
      {found->kind == TYPE_FUNCTION && wanted->kind == TYPE_ARRAY &&
           is_array_of_arrays(type_prune(found->parts[0])) && !is_array_of_arrays(wanted),
       "an argument may be missing; the rows of one array become one array by join xss"},
      {found->kind == TYPE_FUNCTION && wanted->kind != TYPE_FUNCTION,
       "an argument may be missing, or parentheses around it: f (g x)"},
      {wanted->kind == TYPE_FUNCTION && found->kind == TYPE_ARRAY &&
           is_array_of_any(type_prune(wanted->parts[0])) &&
           is_only_constrained(type_prune(type_prune(wanted->parts[0])->parts[0])),
       "an element is xs[i], without a blank before [; if this is to be a function: \\x -> ..."},
      {wanted->kind == TYPE_FUNCTION && found->kind != TYPE_FUNCTION &&
           found->kind != TYPE_VARIABLE,
       "a function is expected: \\x -> ..., or one parameter more to the left of ="},
      {wanted->kind == TYPE_ARRAY && is_counted_array(found),
       "of a pair p of an array and a number, such as compact and distinct give, p.0 is the array "
       "and p.1 the number (how many elements count); its type is ([]a, int)"},
      {wanted->kind == TYPE_ARRAY &&
           (found->kind == TYPE_TUPLE ||
            (arrays && inner[0]->kind == TYPE_ARRAY && inner[1]->kind == TYPE_TUPLE)),
       "component 0 of a tuple p is p.0; an array of two elements is [x, y]"},
      {arrays && inner[0]->kind != TYPE_FUNCTION && inner[1]->kind == TYPE_FUNCTION,
       "the function takes an argument too many: mapi gives it the index and the element, a pair "
       "is "
       "one argument, \\(x, y) -> ..."},
      {open && found->kind == TYPE_TUPLE,
       "component 0 of a pair p is p.0; a function of a pair is \\(x, y) -> x + y, and of two "
       "arrays zip_with (+) xs ys"},
      {arrays && inner[0]->kind == TYPE_SCALAR && inner[1]->kind == TYPE_ARRAY,
       "an array of rows becomes one array by join xss"},
      {arrays && inner[0]->kind == TYPE_ARRAY && is_scalar_of(inner[1], CLASS_ANY),
       "rows of w elements are rows_of w xs; one row is [xs]"},
      {wanted->kind == TYPE_ARRAY && (number || found->rigid),
       "x as an array is [x], or replicate n x of n elements; a pattern [x, y] takes one argument, "
       "the array: f [x, y]"},
      {is_scalar_of(wanted, CLASS_NUM) && found->kind == TYPE_ARRAY,
       "an array becomes one number by sum xs or maximum xs; its first element is xs[0]"},
      {wanted->kind == TYPE_ARRAY && found->kind == TYPE_ARRAY &&
           type_prune(wanted->parts[0])->kind == TYPE_TUPLE &&
           type_prune(found->parts[0])->kind != TYPE_TUPLE,
       "zip xs ys makes an array of pairs of two arrays"},
      {is_scalar_of(wanted, CLASS_BOOL) && found->kind == TYPE_ARRAY,
       "a condition is one bool, such as any (map (\\x -> x > 0) xs); a choice for each element is "
       "map (\\x -> if x > 0 then x else 0) xs"},
      {is_scalar_of(wanted, CLASS_BOOL) && number, "a condition is a comparison, such as x != 0"},
      {is_scalar_of(found, CLASS_BOOL) && (open || is_scalar_of(wanted, CLASS_NUM)),
       "a condition b as a number is if b then 1 else 0"},
      {(wanted->kind == TYPE_COMPLEX || (open && !(wanted->constraint.allowed & ~CLASS_COMPLEX))) &&
           is_scalar_of(found, CLASS_REAL),
       "no conversion is implicit: c64 x or c128 x is the real number x as a complex one"},
      {open && !(wanted->constraint.allowed & CLASS_COMPLEX) && found->kind == TYPE_COMPLEX,
       "the parts of a complex number z are re z and im z, its length is magnitude z"},
      {open && !(wanted->constraint.allowed & CLASS_INTEGER) && is_scalar_of(found, CLASS_INTEGER),
       "no conversion is implicit: f32 n or f64 n is the integer n as a float"},
      {open && !(wanted->constraint.allowed & CLASS_FRAC) && is_scalar_of(found, CLASS_REAL),
       "i64 x cuts off the fraction of x, floor x and round x are floats"},
      {any && !(found->constraint.allowed & CLASS_INTEGER) &&
           (is_scalar_of(wanted, CLASS_INTEGER) ||
            (open && !(wanted->constraint.allowed & ~CLASS_INTEGER))),
       "a number with a point is no integer; f32 n or f64 n is the integer n as a float"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].applies)
      return rows[i].hint;
  return NULL;
}

static const char *hint_at_difference(arena *a, type *wanted, type *found);

// Why a variable cannot become this type; NULL if it could.
static const char *hint_on_variable(arena *a, type *v, type *t) {
  if (v->rigid)
    return arena_printf(a, "'%s' in a signature may be any type, but this definition makes it %s",
                        v->name, type_text(a, t));
  if (t->kind == TYPE_VARIABLE && t->rigid)
    return hint_on_variable(a, t, v);
  for (size_t i = 0; i < v->fields.count; i++) {
    uint32_t field = v->fields.items[i].index;
    if (t->kind != TYPE_TUPLE || field >= t->count)
      return arena_printf(a, "%s has no component .%u", type_text(a, t), field);
    const char *hint = hint_at_difference(a, v->fields.items[i].type, t->parts[field]);
    if (hint)
      return hint;
  }
  bool open = t->kind == TYPE_VARIABLE;
  if (v->constraint.kind == CONSTRAINT_NONE ||
      (open && (t->constraint.kind == CONSTRAINT_NONE ||
                (t->constraint.allowed & v->constraint.allowed) != 0)))
    return NULL;
  return arena_printf(a, "%s is not %s%s",
                      open ? type_constraint_name(t->constraint) : type_text(a, t),
                      type_constraint_name(v->constraint),
                      t->kind == TYPE_ARRAY ? "; map f xss works on each row, and join xss makes "
                                              "one array of all elements"
                                            : type_conversion_hint(v->constraint, t));
}

// Finds the place where two types that could not be made equal differ, and says why.
static const char *hint_at_difference(arena *a, type *wanted, type *found) {
  wanted = type_prune(wanted);
  found = type_prune(found);
  if (wanted == found)
    return NULL;
  if (wanted->kind == TYPE_VARIABLE)
    return hint_on_variable(a, wanted, found);
  const char *inside = found->rigid ? NULL : hint_for_kinds(wanted, found);
  bool scalars = wanted->kind == TYPE_SCALAR && found->kind == TYPE_SCALAR;
  if (inside && (scalars || (found->kind == TYPE_VARIABLE && wanted->kind == TYPE_SCALAR)))
    return inside;
  if (found->kind == TYPE_VARIABLE)
    return hint_on_variable(a, found, wanted);
  if (scalars) {
    return arena_printf(a, "%s, map %s xs an array",
                        type_scalar_hint(a, wanted->scalar, found->scalar, true),
                        scalar_types[wanted->scalar].name);
  }
  if (wanted->kind == TYPE_TUPLE && found->kind == TYPE_TUPLE && wanted->count != found->count)
    return arena_printf(a,
                        "one is a tuple of %u, the other of %u; fst and snd take pairs, and of any "
                        "tuple p component 1 is p.1, as in sort_on (\\p -> p.1)",
                        wanted->count, found->count);
  if (wanted->kind != found->kind || wanted->count != found->count)
    return NULL;
  const char *hint = NULL;
  for (uint32_t i = 0; i < wanted->count && !hint; i++)
    hint = hint_at_difference(a, wanted->parts[i], found->parts[i]);
  return hint;
}

static const char *hint_by_types(diagnostics *d, span where, type *wanted, type *found) {
  const char *shown = show_argument(d, where), *hint = hint_for_kinds(wanted, found);
  if (is_scalar_of(wanted, CLASS_FRAC) && is_scalar_of(found, CLASS_INTEGER) && shown &&
      strchr(shown, '/'))
    return arena_printf(
        d->memory,
        "a quotient of integers is rounded down: convert what is divided, as in %s x / %s y",
        scalar_types[wanted->scalar].name, scalar_types[wanted->scalar].name);
  if (is_scalar_of(wanted, CLASS_NUM) && is_scalar_of(found, CLASS_NUM))
    return arena_printf(d->memory,
                        is_section(shown) ? "no conversion is implicit: write (%s . %s)"
                                          : "no conversion is implicit: write %s %s",
                        scalar_types[wanted->scalar].name, shown ? shown : "(...)");
  uint32_t needed = count_parameters(wanted), taken = count_parameters(found);
  if (!hint && needed && taken && needed != taken)
    return arena_printf(d->memory, "this function takes %u argument%s, but %u %s wanted here",
                        taken, taken == 1 ? "" : "s", needed, needed == 1 ? "is" : "are");
  bool told = hint || is_only_constrained(wanted) || is_only_constrained(found);
  return told ? hint : hint_at_difference(d->memory, wanted, found);
}

static void report_hint(diagnostics *d, span where, const char *hint) {
  if (hint)
    diag_report(d, DIAG_HINT, where, "%s", hint);
}

// ---- hints by the call -----------------------------------------------------------------------

static const expr *callee_of(const expr *e, uint32_t *arguments) {
  *arguments = 0;
  for (; e->kind == EXPR_APPLY; e = e->u.apply.function)
    ++*arguments;
  return e;
}

static bool is_operator(const char *name) {
  bool word = *name == '_' || ((*name | 32) >= 'a' && (*name | 32) <= 'z');
  return !word || !strcmp(name, "xor");
}

// For an operator behind a function: map + xs, take n - 1 xs, f -1.
static const char *hint_for_operator(diagnostics *d, span where, const char *name,
                                     const expr *callee, const char *code) {
  const char *from = d->sources.items[where.file].text;
  bool attached = from[where.start - 1] == ' ' && from[where.end] != ' ';  // f x -1
  if (callee->kind == EXPR_APPLY && !attached) {
    const char *outer = show_code(d, callee->u.apply.function->where);
    const char *last = show_code(d, callee->u.apply.argument->where);
    if (outer && last)
      return arena_printf(d->memory,
                          "an argument that is computed stands in parentheses: %s (%s %s ...)",
                          outer, last, name);
  }
  if (scalar_named(code, strlen(code)) != SCALAR_COUNT)
    return arena_printf(d->memory, "the name of a type converts what stands behind it: %s x", code);
  if (!strcmp(name, "-"))
    return arena_printf(
        d->memory, "a negative number that is an argument stands in parentheses: %s (-1)", code);
  return arena_printf(d->memory,
                      "as an argument an operator stands in parentheses, as in zip_with (%s) xs ys",
                      name);
}

// An operator that was meant to be something else, since a function stands before or behind it.
static void report_operator(diagnostics *d, span where, const char *name, const expr *callee,
                            bool before) {
  const char *code = show_code(d, callee->where);
  code = code ? code : "...";
  diag_report(d, DIAG_ERROR, where,
              "'%s' is an operator, but what stands %s it, '%s', is a function", name,
              before ? "before" : "behind", code);
  diag_report(d, DIAG_HINT, where, "%s",
              before ? hint_for_operator(d, where, name, callee, code)
                     : "an argument of this function may be missing");
}

bool report_misread_condition(diagnostics *d, const expr *branch, const type *found) {
  // (x && y is if x then y else false, with the place of && at false.)
  const expr *no = branch->u.branch.no;
  const expr *sign = no->kind == EXPR_BOOL ? no : branch->u.branch.yes;
  const char *name = show_code(d, sign->where);
  if (found->kind != TYPE_FUNCTION || !name || (strcmp(name, "&&") && strcmp(name, "||")))
    return false;
  report_operator(d, sign->where, name, branch->u.branch.condition, true);
  return true;
}

// A composition with what is no function: f32.sqrt x, xs.length, map (.0) xs.
static void report_composition(diagnostics *d, const expr *call, span where, type *found) {
  const expr *left = call->u.apply.function;
  left = left->kind == EXPR_APPLY ? left->u.apply.argument : call->u.apply.argument;
  const char *name = left->kind == EXPR_NAME ? left->u.name.text : "";
  bool of_type = scalar_named(name, strlen(name)) != SCALAR_COUNT;
  if (of_type)
    diag_report(d, DIAG_ERROR, left->where, "there are no modules of types, such as '%s.'", name);
  else
    diag_report(d, DIAG_ERROR, where, "'.' composes two functions, but this is %s",
                type_text(d->memory, found));
  const expr *right = call->u.apply.argument;
  bool applied = !of_type && right != left && right->kind == EXPR_APPLY;
  const char *f = show_code(d, left->where);
  const char *g = applied ? show_code(d, right->u.apply.function->where) : NULL;
  const char *x = applied ? show_code(d, right->u.apply.argument->where) : NULL;
  if (f && g && x) {
    diag_report(d, DIAG_HINT, where, "both are applied to an argument by (%s . %s) %s", f, g, x);
    return;
  }
  // The variable of a section is the parser's own: it has a space.
  diag_report(d, DIAG_HINT, where, "%s",
              hint_for(HINT_ARGUMENT, of_type             ? "i32."
                                      : strchr(name, ' ') ? ".0"
                                                          : "."));
}

// f32.sqrt xs: reported in place of the types, where it is not of a module that the type would be.
static bool report_module_of_type(diagnostics *d, call_notes *calls, const expr *call) {
  uint32_t arguments;
  span where = callee_of(call, &arguments)->where;
  const char *from = d->sources.items[where.file].text;
  uint32_t end = where.start ? where.start - 1 : 0, start = end;
  while (start && (isalnum((unsigned char)from[start - 1]) || from[start - 1] == '_'))
    start--;
  if (from[end] != '.' || scalar_named(from + start, end - start) == SCALAR_COUNT)
    return false;
  calls->misread = call;
  diag_report(d, DIAG_ERROR, (span){where.file, start, end},
              "there are no modules of types, such as '%.*s.'", (int)(end - start), from + start);
  diag_report(d, DIAG_HINT, where, "%s", hint_for(HINT_ARGUMENT, "i32."));
  return true;
}

// Reports an operator that was meant to be something else, in place of the types.
static bool report_misread_operator(diagnostics *d, call_notes *calls, const expr *call, span where,
                                    type *found) {
  uint32_t arguments;
  const expr *callee = callee_of(call, &arguments), *operand = call->u.apply.argument;
  if (callee->kind != EXPR_NAME || !is_operator(callee->u.name.text))
    return false;
  const char *name = callee->u.name.text;
  bool composition = !strcmp(name, "."), applicable = found->kind == TYPE_FUNCTION;
  bool named = operand->kind == EXPR_NAME || operand->kind == EXPR_APPLY;
  bool known = found->kind != TYPE_VARIABLE || is_only_constrained(found);
  if (composition ? applicable || !known || arguments > 2 : !applicable || !named)
    return false;
  calls->misread = call;
  if (composition) {
    report_composition(d, call, where, found);
    return true;
  }
  report_operator(d, callee->where, name, operand, arguments == 1);
  return true;
}

// Whether a value of one type may stand for one of the other, as far as kinds tell.
static bool kinds_agree(const type *a, const type *b) {
  if (a->kind == TYPE_VARIABLE)
    return !is_only_constrained(a) || (b->kind != TYPE_ARRAY && b->kind != TYPE_FUNCTION);
  return b->kind == TYPE_VARIABLE ? kinds_agree(b, a) : a->kind == b->kind;
}

// For a function that stands as an argument in front of its own: f (g x), (f . g) x or f . g.
static const char *hint_for_parentheses(diagnostics *d, const expr *whole, const expr *call,
                                        const type *wanted, const type *found) {
  const expr *outer = call->u.apply.function, *argument = call->u.apply.argument, *last = call;
  span inside = argument->where;
  while (found->kind == TYPE_FUNCTION && last != whole) {
    const expr *next = whole;
    while (next->u.apply.function != last)
      next = next->u.apply.function;
    if (next->u.apply.argument->where.start < inside.end)
      break;  // xs |> f g
    last = next;
    inside.end = next->where.end;
    found = type_prune(found->parts[1]);
  }
  const char *before = show_code(d, outer->where), *code = show_code(d, inside);
  if (before && !strcmp(before, "-") && outer->kind == EXPR_NAME)
    before = outer->u.name.text;  // negate, of -snd
  uint32_t given;
  const expr *callee = callee_of(call, &given);
  bool operator= callee->kind == EXPR_NAME && is_operator(callee->u.name.text);
  if (operator|| wanted->kind == TYPE_FUNCTION || !before || !code)
    return NULL;
  // Of a key for a function that takes the array alone, its own hint says more: sort_desc snd.
  const type *result = found->kind == TYPE_FUNCTION ? type_prune(found->parts[1]) : found;
  bool key = argument->kind == EXPR_NAME || argument->kind == EXPR_LAMBDA;
  bool lambda = argument->kind == EXPR_LAMBDA;
  if ((wanted->kind == TYPE_ARRAY || lambda) && outer->kind == EXPR_NAME && key &&
      result->kind == TYPE_VARIABLE && hint_for(HINT_ARGUMENT, outer->u.name.text))
    return NULL;
  const char *rest = show_code(d, (span){inside.file, inside.end, whole->where.end});
  const type *element = wanted->kind == TYPE_ARRAY ? type_prune(wanted->parts[0]) : wanted;
  if (outer->kind == EXPR_APPLY && element->kind == TYPE_FUNCTION) {  // map map f xss
    const char *both = show_code(d, span_join(outer->u.apply.argument->where, argument->where));
    rest = show_code(d, (span){inside.file, argument->where.end, whole->where.end});
    return arena_printf(d->memory, "an argument that is a call stands in parentheses: %s (%s)%s",
                        show_code(d, outer->u.apply.function->where), both ? both : "...",
                        rest ? rest : "");
  }
  if (last != call && kinds_agree(wanted, found))
    return arena_printf(d->memory, "an argument that is a call stands in parentheses: %s (%s)%s",
                        before, code, rest ? rest : "");
  if (last != call && outer->kind == EXPR_APPLY)
    return arena_printf(d->memory, "two functions become one by a point: (%s . %s)",
                        show_code(d, outer->u.apply.argument->where),
                        show_code(d, argument->where));
  if (found->kind == TYPE_FUNCTION && (last == call || wanted->kind == TYPE_ARRAY) &&
      kinds_agree(wanted, type_prune(found->parts[1])))
    return arena_printf(d->memory, "%sone function after the other is %s . %s",
                        argument->kind == EXPR_APPLY ? "an argument may be missing in it; " : "",
                        before, code);
  return NULL;
}

// Where the functions differ in what they take: a function of two arguments for one of a pair, and
// such. NULL: in something else.
static const char *hint_for_parameters(const type *wanted, const type *found) {
  const type *parameter = type_prune(wanted->parts[0]), *taken = type_prune(found->parts[0]);
  const type *result = type_prune(wanted->parts[1]), *made = type_prune(found->parts[1]);
  bool more = made->kind == TYPE_FUNCTION && result->kind != TYPE_FUNCTION;
  if (more && parameter->kind == TYPE_TUPLE)
    return "a pair is one argument: \\(x, y) -> ...";
  if (more && result->kind != TYPE_VARIABLE)
    return "the function takes an argument too many: mapi gives it the index and the element, "
           "zip_with elements of two arrays, a pair is one argument, \\(x, y) -> ...";
  if (taken->kind == TYPE_TUPLE && parameter->kind == TYPE_ARRAY)
    return "a row of two elements is matched by \\[x, y] -> ...; an array of pairs is made by zip "
           "xs "
           "ys";
  if (taken->kind == TYPE_TUPLE && parameter->kind != TYPE_TUPLE &&
      parameter->kind != TYPE_VARIABLE)
    return result->kind == TYPE_FUNCTION ? "the arguments are no pair: \\x y -> ..."
                                         : "zip xs ys makes an array of pairs of two arrays";
  return NULL;
}

// The type of a function that has a name; NULL: it has none, or is yet to be inferred.
static const type *type_of_name(const expr *callee) {
  if (callee->kind != EXPR_NAME)
    return NULL;
  const scheme *known = callee->u.name.kind == REF_BUILTIN ? callee->u.name.row->scheme
                        : callee->u.name.target            ? callee->u.name.target->scheme
                                                           : NULL;
  return known ? type_prune(known->type) : NULL;
}

static bool is_one_value(const type *t) {
  bool constrained = t->kind == TYPE_VARIABLE && t->constraint.kind != CONSTRAINT_NONE;
  return t->kind == TYPE_SCALAR || t->kind == TYPE_COMPLEX || constrained;
}

// How many arguments a function takes all of which are scalars, as is its result; 0: it is another.
static uint32_t count_scalar_parameters(const type *t) {
  uint32_t count = 0;
  for (; t && t->kind == TYPE_FUNCTION; t = type_prune(t->parts[1]), count++)
    if (!is_one_value(type_prune(t->parts[0])))
      return 0;
  return t && is_one_value(t) ? count : 0;
}

// The call's function and its arguments but for number `but`, in whose place is x, as far as `last`.
static const char *show_call(diagnostics *d, const expr *call, uint32_t but, uint32_t last) {
  uint32_t given;
  const expr *callee = callee_of(call, &given);
  if (given > last)
    return show_call(d, call->u.apply.function, but, last);
  if (!given)
    return callee->u.name.text;
  const char *before = show_call(d, call->u.apply.function, but, last);
  const char *shown = given == but ? "x" : show_argument(d, call->u.apply.argument->where);
  return before && shown ? arena_printf(d->memory, "%s %s", before, shown) : NULL;
}

// For a function of scalars that is given an array, argument number `given` of the call `whole`:
// sqrt xs, max 0 xs, clamp xs 0 1, atan2 ys xs. NULL: the function is another.
static const char *hint_for_elements(diagnostics *d, const expr *whole, const expr *call,
                                     uint32_t given) {
  enum { MOST_SHOWN = 8 };
  uint32_t all;
  const expr *callee = callee_of(whole ? whole : call, &all);
  uint32_t wanted = count_scalar_parameters(type_of_name(callee));
  const char *name = callee->u.name.text, *array = show_argument(d, call->u.apply.argument->where);
  if (!wanted || wanted > MOST_SHOWN || all != wanted || !array)
    return NULL;
  const char *same = !strcmp(name, "max")   ? "; the largest is maximum xs"
                     : !strcmp(name, "min") ? "; the smallest is minimum xs"
                                            : "";
  const char *others = show_call(d, call, given, given == wanted ? given - 1 : given);
  if (given == wanted)
    return others ? arena_printf(d->memory,
                                 given == 1 ? "%s of each element is map %s %s%s"
                                            : "%s of each element is map (%s) %s%s",
                                 name, others, array, same)
                  : NULL;
  others = show_call(d, whole, given, all);
  const char *second = show_argument(d, whole->u.apply.argument->where);
  if (!others)
    return NULL;
  const char *pairs =
      wanted == 2 && second && isalpha((unsigned char)*second)
          ? arena_printf(d->memory, "; of two arrays zip_with %s %s %s", name, array, second)
          : "";
  return arena_printf(d->memory, "%s of each element is map (\\x -> %s) %s%s%s", name, others,
                      array, pairs, same);
}

// map clamp 0 1 xs: the argument before this one is a function that has lost its own. NULL: it is not.
static const char *hint_for_lost_arguments(diagnostics *d, const expr *whole, const expr *call) {
  uint32_t given, all;
  const type *own = type_of_name(callee_of(call, &given));
  callee_of(whole, &all);
  if (given < 2 || !own || all <= count_parameters(own))
    return NULL;
  const expr *outer = call->u.apply.function, *argument = outer->u.apply.argument, *last = whole;
  const type *inner = type_of_name(argument);
  uint32_t lost = all - count_parameters(own);
  for (uint32_t i = 2; i < given; i++)
    own = type_prune(own->parts[1]);
  if (!inner || count_parameters(inner) != lost + count_parameters(type_prune(own->parts[0])))
    return NULL;
  for (uint32_t i = all; i > given - 1 + lost; i--)
    last = last->u.apply.function;
  const char *before = show_code(d, outer->u.apply.function->where);
  const char *inside = show_code(d, span_join(argument->where, last->u.apply.argument->where));
  const char *behind = show_code(d, (span){whole->where.file, last->where.end, whole->where.end});
  return before && inside && behind
             ? arena_printf(d->memory,
                            "an argument that is a call stands in parentheses: %s (%s)%s", before,
                            inside, behind)
             : NULL;
}

// x * y, of names that were meant to be arrays; NULL: it is something else.
static const char *product_of_names(diagnostics *d, const expr *e) {
  uint32_t count;
  const expr *callee = callee_of(e, &count);
  if (count != 2 || callee->kind != EXPR_NAME || !is_operator(callee->u.name.text))
    return NULL;
  const expr *x = e->u.apply.function->u.apply.argument, *y = e->u.apply.argument;
  if (x->kind != EXPR_NAME || y->kind != EXPR_NAME)
    return NULL;
  return arena_printf(d->memory, "an operator works on numbers: of two arrays zip_with (%s) %s %s",
                      callee->u.name.text, x->u.name.text, y->u.name.text);
}

// The variable of a section, (* 2), is the parser's own: it has a space.
static bool is_section_variable(const expr *e) {
  return e->kind == EXPR_NAME && strchr(e->u.name.text, ' ');
}

// What the call was meant to be, whose argument has the type `found`; NULL: that is not known.
static const char *hint_for_call(diagnostics *d, const expr *whole, const expr *call, type *wanted,
                                 type *found) {
  uint32_t arguments;
  const expr *callee = callee_of(call, &arguments);
  if (callee->kind != EXPR_NAME)
    return NULL;
  const char *name = callee->u.name.text, *code = show_code(d, call->u.apply.argument->where);
  const char *product;
  const char *shown = show_argument(d, call->u.apply.argument->where);
  const expr *section = call->u.apply.argument;
  if (found->kind == TYPE_ARRAY && is_operator(name) && is_section_variable(section))
    return arena_printf(d->memory,
                        "the elements are rows here: map (map (%s 2)) xss for a number, map "
                        "(zip_with (%s) xs) xss for each row with xs",
                        name, name);
  if (found->kind == TYPE_ARRAY && is_operator(name) && is_only_constrained(wanted) &&
      type_prune(found->parts[0])->kind == TYPE_ARRAY)
    return arena_printf(d->memory,
                        "an operator works on numbers: zip_with (zip_with (%s)) xss yss for two "
                        "arrays of rows, map "
                        "(map (\\x -> x %s 2)) %s for all elements of one",
                        name, name, shown ? shown : "xss");
  const expr *left = call->u.apply.function;
  const char *composed_name = show_argument(d, left->where);
  if (!strcmp(name, ".") && found->kind == TYPE_ARRAY && shown && composed_name)
    return arena_printf(d->memory, "of each element it is map %s %s", composed_name, shown);
  if (found->kind == TYPE_ARRAY && is_operator(name) && arguments == 2 &&
      is_scalar_of(wanted, CLASS_NUM)) {
    const char *number = show_argument(d, left->u.apply.argument->where);
    return arena_printf(d->memory,
                        "an operator works on numbers: map (%s %s) %s for a number and an array",
                        number ? number : "x", name, shown ? shown : "xs");
  }
  if (wanted->kind == TYPE_ARRAY && is_only_constrained(found))
    if ((product = product_of_names(d, call->u.apply.argument)))
      return product;
  if (found->kind == TYPE_ARRAY && is_operator(name) && is_only_constrained(wanted))
    return arena_printf(
        d->memory,
        "an operator works on numbers: zip_with (%s) xs ys for two arrays, map (\\x "
        "-> x %s 2) %s for an array and a number%s",
        name, name, shown ? shown : "xs",
        strchr("<>", *name) && strcmp(name, "<<") && strcmp(name, ">>")
            ? "; compact (> 2) xs puts the elements above 2 first"
            : "");
  if (wanted->kind == TYPE_FUNCTION && code && !strncmp(code, "(-", 2))
    return arena_printf(d->memory, "%s is a number; a function that subtracts is \\x -> x - %.*s",
                        code, (int)strcspn(code + 2 + strspn(code + 2, " "), ")"),
                        code + 2 + strspn(code + 2, " "));
  const type *of = wanted, *other = found;
  for (; of->kind == TYPE_ARRAY && other->kind == TYPE_ARRAY; other = type_prune(other->parts[0]))
    of = type_prune(of->parts[0]);
  bool differ = wanted->kind != found->kind || found->kind == TYPE_FUNCTION ||
                (of->kind == TYPE_SCALAR && other->kind == TYPE_ARRAY);
  const char *hint = wanted->kind == TYPE_FUNCTION ? hint_for(HINT_FUNCTION, name) : NULL;
  if (!hint && found->kind == TYPE_ARRAY && !is_operator(name))
    hint = hint_for_elements(d, whole, call, arguments);
  bool functions = wanted->kind == TYPE_FUNCTION && found->kind == TYPE_FUNCTION;
  const char *parameters = functions ? hint_for_parameters(wanted, found) : NULL;
  if (!hint && !strcmp(name, "map"))
    hint = parameters;
  bool composed = !strcmp(name, ".") && functions;
  if (!hint && !composed && (differ || !strcmp(name, "^") || !strcmp(name, "not")))
    hint = hint_for(HINT_ARGUMENT, name);
  if (!hint && wanted->kind == TYPE_ARRAY)
    hint = hint_for(HINT_ORDER, name);
  if (!hint && differ && wanted->kind == TYPE_TUPLE && !is_operator(name))
    return arena_printf(d->memory, "'%s' takes a tuple here: %s (x, y)", name, name);
  if (!hint && arguments == 1 && found->kind == TYPE_ARRAY && is_only_constrained(wanted))
    return arena_printf(d->memory, "%s of each element is map %s %s", name, name,
                        shown ? shown : "xs");
  return hint ? hint : parameters;
}

// Whether the types suggest that f(x, y) was meant to give f two arguments.
static bool is_misled_by_commas(const call_notes *calls, const expr *call, span where, type *wanted,
                                type *found) {
  const expr *commas = calls->commas;
  if (commas && call == commas && wanted->kind != TYPE_TUPLE && !wanted->fields.count)
    return true;
  return commas && contains(where, commas->where) && type_is_first_order(wanted) &&
         !type_is_first_order(found);
}

// max(x, 0): which types are found behind it does not matter.
static void report_commas(diagnostics *d, const expr *call, const type *callee) {
  const expr *tuple = call->u.apply.argument;
  const char *name = call->u.apply.function->u.name.text;
  text right = {0};
  text_string(&right, name);
  uint32_t arity = 0;
  for (; callee->kind == TYPE_FUNCTION; callee = type_prune(callee->parts[1]), arity++) {
    bool given = arity < tuple->u.list.count;
    const char *argument = given ? show_argument(d, tuple->u.list.items[arity]->where) : NULL;
    text_printf(&right, " %s", argument ? argument : "...");
  }
  diag_report(d, DIAG_ERROR, call->where, "this gives '%s' one argument, which is a tuple", name);
  diag_report(d, DIAG_HINT, call->where,
              "it takes %u arguments, which stand side by side without commas: %s", arity,
              arena_text(d->memory, &right));
}

// The first pair of scalars of which one is decided by a literal and that cannot be made equal.
static bool find_literal(arena *a, type *wanted, type *found, type *pair[2]) {
  pair[0] = wanted = type_prune(wanted);
  pair[1] = found = type_prune(found);
  if (wanted == found)
    return false;
  bool scalars = !wanted->rigid && !found->rigid &&
                 (closed_scalar(wanted) != SCALAR_COUNT || is_only_constrained(wanted)) &&
                 (closed_scalar(found) != SCALAR_COUNT || is_only_constrained(found));
  if (scalars)
    return (wanted->literal || found->literal) && !type_unify(a, wanted, found);
  if (wanted->kind != found->kind || wanted->count != found->count)
    return false;
  for (uint32_t i = 0; i < wanted->count; i++)
    if (find_literal(a, wanted->parts[i], found->parts[i], pair))
      return true;
  return false;
}

// Whether this is a whole number with a point: 2.0.
static bool plain_integer(const char *code) {
  size_t digits = code ? strspn(code, "0123456789") : 0;
  return digits && !strcmp(code + digits, ".0");
}

// Marks the literal that has the wrong type, which may stand elsewhere.
static bool report_literal(diagnostics *d, const expr *whole, const expr *call, span where,
                           type *wanted, type *found, const char *const names[2]) {
  type *pair[2];
  if (!find_literal(d->memory, wanted, found, pair))
    return false;
  type *given = pair[pair[1]->literal != NULL], *other = pair[pair[1]->literal == NULL];
  const expr *literal = given->literal;
  diag_report(d, DIAG_ERROR, literal->where, "expected %s, found %s", type_text(d->memory, other),
              type_text(d->memory, given));
  if (!contains(literal->where, where))
    diag_report(d, DIAG_NOTE, where, "expected %s here, found %s", names[0], names[1]);
  scalar_type of = closed_scalar(other);
  scalar_class allowed = of == SCALAR_COUNT ? other->constraint.allowed : CLASS_OF(of);
  bool plain = (allowed & (literal->kind == EXPR_INT ? CLASS_NUM : CLASS_FRAC)) != 0;
  const char *code = show_code(d, literal->where), *hint = NULL;
  if (call && call->u.apply.argument == literal)
    hint = hint_for_call(d, whole, call, other, given);
  if (!hint && literal->suffix != SCALAR_COUNT && plain && code)
    hint = arena_printf(d->memory,
                        "a literal without a suffix takes the type that its context needs: %.*s",
                        (int)(strlen(code) - strlen(scalar_types[literal->suffix].name)), code);
  if (!hint && plain_integer(code) && (allowed & CLASS_INTEGER) && !(allowed & CLASS_FRAC))
    hint = arena_printf(d->memory,
                        "write %.*s, which takes the type that its context needs; f64 n is the "
                        "integer n as a float",
                        (int)(strlen(code) - 2), code);
  report_hint(d, literal->where, hint ? hint : hint_by_types(d, literal->where, other, given));
  return true;
}

// A size name of a signature that stands with other numbers: map (/ m) xs of floats.
static bool report_size(diagnostics *d, const expr *argument, const type *wanted,
                        const type *found) {
  bool size = argument->kind == EXPR_NAME && argument->u.name.kind != REF_BUILTIN &&
              argument->u.name.target->is_size;
  if (!size || !is_scalar_of(wanted, CLASS_NUM) || !is_scalar_of(found, CLASS_INTEGER))
    return false;
  const char *name = argument->u.name.text, *other = scalar_types[wanted->scalar].name;
  diag_report(d, DIAG_ERROR, argument->where, "'%s' is a size, an i64, but stands with %s here",
              name, other);
  diag_report(d, DIAG_HINT, argument->where, "no conversion is implicit: write %s %s", other, name);
  return true;
}

// The types of functions that the call names and that have no signature: as their equations are what
// makes them, these may be what is wrong.
static void note_inferred(diagnostics *d, const expr *call) {
  for (const expr *e = call, *next; e; e = next) {
    const expr *named = e->kind == EXPR_APPLY ? e->u.apply.argument : e;
    next = e->kind == EXPR_APPLY ? e->u.apply.function : NULL;
    if (named->kind != EXPR_NAME || named->u.name.kind != REF_GLOBAL)
      continue;
    const binding *b = named->u.name.target;
    if (!b->signature && !b->in_library && b->scheme &&
        type_prune(b->scheme->type)->kind == TYPE_FUNCTION)
      diag_report(d, DIAG_NOTE, b->where, "'%s' has no signature; by its equations it is %s",
                  b->name, type_text(d->memory, b->scheme->type));
  }
}

// names: the types as they were before they were compared.
static void report_mismatch(diagnostics *d, call_notes *calls, const expr *call, span where,
                            type *wanted, type *found, const char *const names[2]) {
  if (is_misled_by_commas(calls, call, where, wanted, found)) {
    report_commas(d, calls->commas, calls->callee);
    return;
  }
  if (call && (report_misread_operator(d, calls, call, where, found) ||
               report_module_of_type(d, calls, call)))
    return;
  if (report_literal(d, calls->whole, call, where, wanted, found, names))
    return;
  if (call && report_size(d, call->u.apply.argument, wanted, found))
    return;
  diag_report(d, DIAG_ERROR, where, "expected %s, found %s", names[0], names[1]);
  const char *hint = NULL;
  if (call && found->kind == TYPE_FUNCTION && calls->whole)
    hint = hint_for_parentheses(d, calls->whole, call, wanted, found);
  if (call && wanted->kind == TYPE_ARRAY && found->kind != TYPE_ARRAY && calls->whole && !hint)
    hint = hint_for_lost_arguments(d, calls->whole, call);
  if (call && !hint)
    hint = hint_for_call(d, calls->whole, call, wanted, found);
  report_hint(d, hint ? call->where : where, hint ? hint : hint_by_types(d, where, wanted, found));
  note_inferred(d, calls->whole ? calls->whole : call);
}

// ---- comparing -------------------------------------------------------------------------------

bool expect_type(diagnostics *d, call_notes *calls, const expr *call, span where, type *wanted,
                 type *found) {
  wanted = type_prune(wanted);
  found = type_prune(found);
  if (wanted == found)
    return true;
  // Shown as they were before a unification that fails half-way. (In the library none does.)
  bool compound = wanted->kind != TYPE_VARIABLE && found->kind != TYPE_VARIABLE &&
                  (wanted->count || found->count) && !d->sources.items[where.file].library;
  type *const both[2] = {wanted, found};
  const char *names[2];
  if (compound)
    print_both_types(d->memory, both, names);
  if (type_unify(d->memory, wanted, found))
    return true;
  if (!compound)
    print_both_types(d->memory, both, names);
  if (calls->loop && where.file == calls->round.file && where.start == calls->round.start &&
      where.end == calls->round.end) {
    diag_report(d, DIAG_ERROR, where, "a round of %s takes %s and gives %s", calls->loop, names[0],
                names[1]);
    diag_report(d, DIAG_HINT, where,
                "each round works on what the one before it has made, so it gives a value of the "
                "type that it takes");
    return false;
  }
  bool named = wanted->rigid || found->rigid;
  if (!named && (type_contains(wanted, found) || type_contains(found, wanted))) {
    diag_report(d, DIAG_ERROR, where, "this needs a type that contains itself: %s",
                names[wanted->kind == TYPE_VARIABLE]);
    diag_report(d, DIAG_HINT, where,
                "a value cannot hold, take or return itself: an argument may be missing, or one "
                "too many");
    return false;
  }
  report_mismatch(d, calls, call, where, wanted, found, names);
  return false;
}

// f(x, y) of a function that takes an argument more: without a blank, or where no tuple can be.
static bool is_call_with_commas(const diagnostics *d, const expr *call, const type *taking) {
  const expr *callee = call->u.apply.function, *argument = call->u.apply.argument;
  const type *parameter = type_prune(taking->parts[0]);
  bool attached = argument->where.start == callee->where.end;
  return type_prune(taking->parts[1])->kind == TYPE_FUNCTION && callee->kind == EXPR_NAME &&
         argument->kind == EXPR_TUPLE && (attached || parameter->kind == TYPE_ARRAY) &&
         d->sources.items[argument->where.file].text[argument->where.start] == '(';
}

bool expect_argument(diagnostics *d, call_notes *calls, const expr *call, type *callee,
                     type *found) {
  if (is_call_with_commas(d, call, callee)) {
    calls->commas = call;
    calls->callee = callee;
  }
  return expect_type(d, calls, call, call->u.apply.argument->where, callee->parts[0], found);
}

bool call_is_misread(const call_notes *calls, const expr *call) {
  return calls->misread &&
         (calls->misread == call->u.apply.function || contains(call->where, calls->misread->where));
}

void report_not_function(diagnostics *d, const expr *call, type *t) {
  uint32_t given;
  const expr *callee = callee_of(call, &given);
  const char *name = callee->kind == EXPR_NAME ? callee->u.name.text : NULL;
  if (name && given > 1)
    diag_report(d, DIAG_ERROR, call->where, "'%s' takes %u argument%s, but is given %u", name,
                given - 1, given == 2 ? "" : "s", given);
  else
    diag_report(d, DIAG_ERROR, call->u.apply.function->where,
                "this is applied to an argument, but it is %s, not a function",
                type_text(d->memory, t));
  // The two characters before a number: .0 xs, [1 2], [1, 2 3].
  uint32_t start = callee->where.start;
  const char *at = d->sources.items[callee->where.file].text + start;
  char last = start ? at[-1] : 0, other = start > 1 ? at[-2] : 0;
  bool number =
      callee->kind == EXPR_INT || callee->kind == EXPR_FLOAT || callee->kind == EXPR_INDEX;
  const char *hint = t->kind == TYPE_ARRAY && !(name && given > 1)
                         ? "an element is xs[i], without a blank before ["
                     : name                                    ? hint_for(HINT_EXTRA, name)
                     : number && last == '.'                   ? hint_for(HINT_ARGUMENT, ".0")
                     : number && (last == '[' || other == ',') ? hint_for(HINT_EXTRA, "[1 2]")
                                                               : NULL;
  const scheme *known = !name || given < 2                   ? NULL
                        : callee->u.name.kind == REF_BUILTIN ? callee->u.name.row->scheme
                                                             : callee->u.name.target->scheme;
  if (!hint && known)
    hint = arena_printf(d->memory,
                        "'%s' is of type %s; an argument that is a call stands in parentheses",
                        name, type_text(d->memory, known->type));
  report_hint(d, call->where, hint);
}
