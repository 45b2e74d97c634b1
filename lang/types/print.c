// Types as text, for messages.
#include "lang/types/types.h"

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
               {CLASS_ORD, "a real number or bool"},
               {CLASS_ANY, "a scalar"}};
  if (c.kind == CONSTRAINT_EACH)
    return "a scalar or a tuple of such";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(c.allowed & ~names[i].allowed))
      return names[i].name;
  return "a scalar";
}

const char *type_scalar_hint(arena *a, scalar_type wanted, scalar_type found, bool inferred) {
  bool length = inferred && wanted == SCALAR_I64 && (CLASS_FLOAT & CLASS_OF(found)) != 0;
  const char *name = scalar_types[wanted].name, *other = scalar_types[found].name;
  return arena_printf(
      a, "no conversion is implicit: %s%s x is the number x as %s",
      length
          ? arena_printf(a, "length gives an i64, so with %s write %s (length xs); ", other, other)
          : "",
      name, name);
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
  if (t->kind == TYPE_VARIABLE)
    found = t->constraint.allowed;
  if ((t->kind == TYPE_COMPLEX || (found && !(found & ~CLASS_COMPLEX))) &&
      c.kind != CONSTRAINT_EACH && !(wanted & CLASS_COMPLEX))
    return "; of a complex number z the parts are re z and im z, the length is magnitude z";
  if (t->kind == TYPE_TUPLE && c.kind != CONSTRAINT_EACH && c.allowed)
    return "; a function of a pair is \\(x, y) -> x + y, and of two arrays zip_with (+) xs ys";
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
