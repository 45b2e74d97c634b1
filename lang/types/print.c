// Types as text: one in a message, or those of all bindings of a program.
#include "lang/types/types.h"

// ---- one type --------------------------------------------------------------------------------

const char *type_constraint_name(constraint c) {
  static const struct {
    scalar_class allowed;
    const char *name;
  } names[] = {{CLASS_INTEGER, "an integer"},
               {CLASS_PART, "an f32 or f64"},
               {CLASS_FLOAT, "a real float"},
               {CLASS_COMPLEX, "a complex number"},
               {CLASS_FRAC, "a float or complex number"},
               {CLASS_REAL, "a real number"},
               {CLASS_NUM, "a number"},
               {CLASS_BITS, "an integer or bool"},
               {CLASS_ORD, "an ordered scalar"},
               {CLASS_ANY, "a scalar"}};
  if (c.kind == CONSTRAINT_EACH)
    return c.allowed & ~CLASS_ORD ? "a scalar or a tuple of such"
                                  : "an ordered scalar or a tuple of such";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(c.allowed & ~names[i].allowed))
      return names[i].name;
  return "a scalar";
}

const char *type_conversion_hint(constraint c, const type *t) {
  bool of_one = c.kind != CONSTRAINT_EACH && t->kind == TYPE_SCALAR;
  scalar_class wanted = c.allowed, found = of_one ? CLASS_OF(t->scalar) : 0;
  if (found & CLASS_REAL && !(wanted & ~CLASS_COMPLEX))
    return "; c64 x or c128 x is the number x as one; fft_real takes real numbers";
  if (found & CLASS_INTEGER && !(wanted & ~CLASS_FRAC))
    return "; f32 n or f64 n is the integer n as a float";
  if (found & CLASS_BOOL && !(wanted & ~CLASS_NUM))
    return "; a condition b as a number is if b then 1 else 0";
  return "";
}

// Unnamed variables are called t1, t2, ... in the order in which they are met.
enum { MOST_VARIABLES = 32 };

typedef struct printer {
  text *out;
  type *seen[MOST_VARIABLES];  // the named ones, too
  unsigned count;
} printer;

static void print_nested(printer *p, type *t, bool nested);

// A tuple of which only some components are known: (i32, _, t1, ...)
static void print_fields(printer *p, const type *t) {
  uint32_t last = 0;
  for (size_t i = 0; i < t->fields.count; i++)
    if (t->fields.items[i].index > last)
      last = t->fields.items[i].index;
  text_string(p->out, "(");
  for (uint32_t k = 0; k <= last; k++) {
    size_t i = 0;
    while (i < t->fields.count && t->fields.items[i].index != k)
      i++;
    if (i < t->fields.count)
      print_nested(p, t->fields.items[i].type, true);
    else
      text_string(p->out, "_");
    text_string(p->out, ", ");
  }
  text_string(p->out, "...)");
}

static void print_variable_name(printer *p, type *t) {
  unsigned i = 0, unnamed = 0;
  for (; i < p->count && p->seen[i] != t; i++)
    unnamed += !p->seen[i]->rigid;
  if (i == p->count && i < MOST_VARIABLES)
    p->seen[p->count++] = t;
  if (t->rigid)
    text_string(p->out, t->name);
  else
    text_printf(p->out, "t%u", unnamed + 1);
}

static void print_variable(printer *p, type *t, bool nested) {
  if (!t->rigid && t->fields.count) {
    print_fields(p, t);
    return;
  }
  if (!t->rigid && t->constraint.kind != CONSTRAINT_NONE && !nested) {
    text_string(p->out, type_constraint_name(t->constraint));
    return;
  }
  print_variable_name(p, t);
}

static void print_parts(printer *p, type *t) {
  text_string(p->out, "(");
  for (uint32_t i = 0; i < t->count; i++) {
    if (i)
      text_string(p->out, ", ");
    print_nested(p, t->parts[i], true);
  }
  text_string(p->out, ")");
}

static void print_nested(printer *p, type *t, bool nested) {
  t = type_prune(t);
  switch (t->kind) {
  case TYPE_SCALAR:
    text_string(p->out, scalar_types[t->scalar].name);
    break;
  case TYPE_COMPLEX: {
    type *real = type_prune(t->parts[0]);
    bool known = real->kind == TYPE_SCALAR;
    text_string(p->out,
                known ? scalar_types[scalar_complex_of(real->scalar)].name : "a complex number");
    break;
  }
  case TYPE_ARRAY:
    text_string(p->out, "[]");
    if (type_prune(t->parts[0])->kind == TYPE_FUNCTION)
      text_string(p->out, "(");
    print_nested(p, t->parts[0], true);
    if (type_prune(t->parts[0])->kind == TYPE_FUNCTION)
      text_string(p->out, ")");
    break;
  case TYPE_TUPLE:
    print_parts(p, t);
    break;
  case TYPE_FUNCTION: {
    bool inner = type_prune(t->parts[0])->kind == TYPE_FUNCTION;
    if (inner)
      text_string(p->out, "(");
    print_nested(p, t->parts[0], true);
    text_string(p->out, inner ? ") -> " : " -> ");
    print_nested(p, t->parts[1], true);
    break;
  }
  case TYPE_VARIABLE:
    print_variable(p, t, nested);
    break;
  }
}

static void print_whole(printer *p, text *out, type *t) {
  enum { LONGEST = 200 };
  size_t start = out->length;
  p->out = out;
  print_nested(p, t, false);
  if (out->length - start <= LONGEST)
    return;
  out->length = start + LONGEST;
  text_string(out, "...");
}

void type_print(text *out, type *t) {
  printer p = {.out = out};
  print_whole(&p, out, t);
}

void type_print_both(text *first, type *a, text *second, type *b) {
  printer p = {.out = first};
  print_whole(&p, first, a);
  print_whole(&p, second, b);
}

// ---- all bindings ----------------------------------------------------------------------------

static void list_expr(printer *p, const expr *x, unsigned depth);
static void list_bindings(printer *p, binding *const *bindings, size_t count, unsigned depth);

// name : type, and what is known of its variables where they are new: (t1 is a number)
static void list_type(printer *p, const char *name, type *t, unsigned depth) {
  unsigned before = p->count;
  text_printf(p->out, "%*s%s : ", (int)(2 * depth), "", name);
  print_nested(p, t, true);
  const char *separator = "   (";
  for (unsigned i = before; i < p->count; i++) {
    if (p->seen[i]->constraint.kind == CONSTRAINT_NONE)
      continue;
    text_string(p->out, separator);
    print_variable_name(p, p->seen[i]);
    text_printf(p->out, " is %s", type_constraint_name(p->seen[i]->constraint));
    separator = ", ";
  }
  text_string(p->out, *separator == ',' ? ")\n" : "\n");
}

static void list_pattern(printer *p, const pattern *v, unsigned depth) {
  // The parser's own variables, such as that of a range, have names with spaces.
  if (v->kind == PATTERN_NAME && !strchr(v->name, ' '))
    list_type(p, v->name, v->definition->monotype, depth);
  for (uint32_t i = 0; i < v->count; i++)
    list_pattern(p, v->items[i], depth);
}

static void list_function(printer *p, const function *f, unsigned depth) {
  for (size_t i = 0; i < f->equations.count; i++) {
    const equation *q = &f->equations.items[i];
    for (uint32_t k = 0; k < f->arity; k++)
      list_pattern(p, q->patterns[k], depth);
    list_bindings(p, q->locals, q->local_count, depth);
    for (uint32_t k = 0; k < q->alternative_count; k++) {
      if (q->alternatives[k].guard)
        list_expr(p, q->alternatives[k].guard, depth);
      list_expr(p, q->alternatives[k].body, depth);
    }
  }
}

static void list_comprehension(printer *p, const expr *x, unsigned depth) {
  for (uint32_t i = 0; i < x->u.comprehension.count; i++) {
    const qualifier *q = &x->u.comprehension.qualifiers[i];
    list_expr(p, q->source, depth);
    if (q->second)
      list_expr(p, q->second, depth);
    if (q->last)
      list_expr(p, q->last, depth);
    if (q->target)
      list_pattern(p, q->target, depth);
  }
  list_expr(p, x->u.comprehension.body, depth);
}

// The variables that are bound inside of an expression.
static void list_expr(printer *p, const expr *x, unsigned depth) {
  switch (x->kind) {
  case EXPR_APPLY:
    list_expr(p, x->u.apply.function, depth);
    list_expr(p, x->u.apply.argument, depth);
    break;
  case EXPR_LAMBDA:
    text_printf(p->out, "%*slambda\n", (int)(2 * depth), "");
    list_function(p, x->u.lambda, depth + 1);
    break;
  case EXPR_LET:
    list_bindings(p, x->u.let.bindings, x->u.let.count, depth);
    list_expr(p, x->u.let.body, depth);
    break;
  case EXPR_IF:
    list_expr(p, x->u.branch.condition, depth);
    list_expr(p, x->u.branch.yes, depth);
    list_expr(p, x->u.branch.no, depth);
    break;
  case EXPR_TUPLE:
  case EXPR_LIST:
    for (uint32_t i = 0; i < x->u.list.count; i++)
      list_expr(p, x->u.list.items[i], depth);
    break;
  case EXPR_COMPREHENSION:
    list_comprehension(p, x, depth);
    break;
  case EXPR_INDEX:
    list_expr(p, x->u.at.array, depth);
    list_expr(p, x->u.at.index, depth);
    break;
  case EXPR_PROJECT:
    list_expr(p, x->u.project.tuple, depth);
    break;
  default:
    break;
  }
}

static void list_bindings(printer *p, binding *const *bindings, size_t count, unsigned depth) {
  for (size_t i = 0; i < count; i++) {
    const binding *b = bindings[i];
    if (b->target)
      list_pattern(p, b->target, depth);
    else
      list_type(p, b->name, b->scheme ? b->scheme->type : b->monotype, depth);
    if (b->code)
      list_function(p, b->code, depth + 1);
  }
}

void types_print(text *out, const program *of) {
  for (size_t m = 0; m < of->modules.count; m++)
    for (size_t i = 0; !of->modules.items[m]->library && i < of->modules.items[m]->bindings.count;
         i++) {
      printer p = {.out = out};
      list_bindings(&p, &of->modules.items[m]->bindings.items[i], 1, 0);
    }
}
