// The tree as text: a node a line, its parts indented below it; an expression in one line where it
// is short. An application is (f x y), whatever the program's notation; the rest is written as in
// the language.
#include "lang/syntax/build.h"
#include <inttypes.h>
#include <stdio.h>

enum { LONGEST_LINE = 80, INDENT = 2 };

typedef struct printer {
  text *out;
  size_t limit;  // while an expression is tried in one line: how long out may be; else 0
} printer;

static void print_line(printer *p, const expr *x);
static void print_bindings(printer *p, binding *const *bindings, size_t count, unsigned depth);

static void print_indent(printer *p, unsigned depth) {
  text_printf(p->out, "%*s", (int)(INDENT * depth), "");
}

// Whether a line that is being tried is already too long: then the rest does not matter.
static bool is_too_long(const printer *p) { return p->limit && p->out->length > p->limit; }

// ---- one line --------------------------------------------------------------------------------

// The parser's own variables have names with spaces.
static void print_name(printer *p, const char *name) {
  text_printf(p->out, strchr(name, ' ') ? "<%s>" : "%s", name);
}

static void print_integer(printer *p, bool negative, uint64_t magnitude, scalar_type suffix) {
  text_printf(p->out, "%s%" PRIu64 "%s", negative ? "-" : "", magnitude,
              suffix == SCALAR_COUNT ? "" : scalar_types[suffix].name);
}

static void print_real(printer *p, const expr *x) {
  char digits[40];
  snprintf(digits, sizeof digits, "%.15g", x->u.real.f64);
  if (strtod(digits, NULL) != x->u.real.f64)
    snprintf(digits, sizeof digits, "%.17g", x->u.real.f64);
  text_printf(p->out, "%s%s%s", digits, strpbrk(digits, ".ein") ? "" : ".0",
              x->suffix == SCALAR_COUNT ? "" : scalar_types[x->suffix].name);
}

static void print_pattern(printer *p, const pattern *t) {
  switch (t->kind) {
  case PATTERN_INT:
    print_integer(p, t->negative, t->magnitude, t->suffix);
    break;
  case PATTERN_BOOL:
    text_string(p->out, t->boolean ? "true" : "false");
    break;
  case PATTERN_NAME:
    print_name(p, t->name);
    break;
  case PATTERN_WILD:
    text_string(p->out, "_");
    break;
  case PATTERN_TUPLE:
  case PATTERN_LIST:
    text_string(p->out, t->kind == PATTERN_TUPLE ? "(" : "[");
    for (uint32_t i = 0; i < t->count; i++) {
      text_string(p->out, i ? ", " : "");
      print_pattern(p, t->items[i]);
    }
    text_string(p->out, t->kind == PATTERN_TUPLE ? ")" : "]");
    break;
  }
}

static void print_items(printer *p, const char *before, expr *const *items, uint32_t count,
                        const char *after) {
  text_string(p->out, before);
  for (uint32_t i = 0; i < count && !is_too_long(p); i++) {
    text_string(p->out, i ? ", " : "");
    print_line(p, items[i]);
  }
  text_string(p->out, after);
}

static void print_application(printer *p, const expr *x) {
  if (x->kind == EXPR_APPLY) {
    print_application(p, x->u.apply.function);
    text_string(p->out, " ");
    print_line(p, x->u.apply.argument);
  } else {
    print_line(p, x);
  }
}

static void print_rest_of_range(printer *p, const qualifier *q) {
  print_items(p, ", ", &q->second, q->second ? 1 : 0, "");
  print_items(p, "..", &q->last, q->last ? 1 : 0, "");
}

static void print_qualifier(printer *p, const qualifier *q) {
  if (q->target) {
    print_pattern(p, q->target);
    text_string(p->out, " <- ");
  }
  print_line(p, q->source);
  print_rest_of_range(p, q);
}

static void print_comprehension(printer *p, const expr *x) {
  const qualifier *range = x->u.comprehension.qualifiers;
  if (range->target && range->target->name && !strcmp(range->target->name, RANGE_NUMBER)) {
    print_items(p, "[", &range->source, 1, "");
    print_rest_of_range(p, range);
    text_string(p->out, "]");
    return;
  }
  print_items(p, "[", &x->u.comprehension.body, 1, "");
  for (uint32_t i = 0; i < x->u.comprehension.count && !is_too_long(p); i++) {
    text_string(p->out, i ? ", " : " | ");
    print_qualifier(p, &x->u.comprehension.qualifiers[i]);
  }
  text_string(p->out, "]");
}

static void print_parameters(printer *p, const char *before, const equation *q, uint32_t arity) {
  for (uint32_t i = 0; i < arity; i++) {
    text_string(p->out, i ? " " : before);
    print_pattern(p, q->patterns[i]);
  }
}

// An expression in one line. A let has none: it counts as too long.
static void print_line(printer *p, const expr *x) {
  if (is_too_long(p))
    return;
  switch (x->kind) {
  case EXPR_INT:
    print_integer(p, x->u.integer.negative, x->u.integer.magnitude, x->suffix);
    break;
  case EXPR_FLOAT:
    print_real(p, x);
    break;
  case EXPR_BOOL:
    text_string(p->out, x->u.boolean ? "true" : "false");
    break;
  case EXPR_NAME:
    print_name(p, x->u.name.text);
    break;
  case EXPR_APPLY:
    text_string(p->out, "(");
    print_application(p, x);
    text_string(p->out, ")");
    break;
  case EXPR_LAMBDA:
    print_parameters(p, "(\\", &x->u.lambda->equations.items[0], x->u.lambda->arity);
    print_items(p, " -> ", &x->u.lambda->equations.items[0].alternatives[0].body, 1, ")");
    break;
  case EXPR_LET:
    text_printf(p->out, "%*s", LONGEST_LINE, "");
    break;
  case EXPR_IF:
    print_items(p, "(if ", &x->u.branch.condition, 1, " then ");
    print_items(p, "", &x->u.branch.yes, 1, " else ");
    print_items(p, "", &x->u.branch.no, 1, ")");
    break;
  case EXPR_TUPLE:
    print_items(p, "(", x->u.list.items, x->u.list.count, ")");
    break;
  case EXPR_LIST:
    print_items(p, "[", x->u.list.items, x->u.list.count, "]");
    break;
  case EXPR_COMPREHENSION:
    print_comprehension(p, x);
    break;
  case EXPR_INDEX:
    print_line(p, x->u.at.array);
    print_items(p, "[", &x->u.at.index, 1, "]");
    break;
  case EXPR_PROJECT:
    print_line(p, x->u.project.tuple);
    text_printf(p->out, ".%u", x->u.project.field);
    break;
  case EXPR_WILD:
    text_string(p->out, "_");
    break;
  }
}

static void print_type(printer *p, const type_expr *t) {
  switch (t->kind) {
  case TYPE_EXPR_NAME:
    text_string(p->out, t->name);
    break;
  case TYPE_EXPR_ARRAY:
    print_items(p, "[", &t->size, t->size ? 1 : 0, "]");
    print_type(p, t->parts[0]);
    break;
  case TYPE_EXPR_TUPLE:
    for (uint32_t i = 0; i < t->count; i++) {
      text_string(p->out, i ? ", " : "(");
      print_type(p, t->parts[i]);
    }
    text_string(p->out, ")");
    break;
  case TYPE_EXPR_FUNCTION: {
    bool nested = t->parts[0]->kind == TYPE_EXPR_FUNCTION;
    text_string(p->out, nested ? "(" : "");
    print_type(p, t->parts[0]);
    text_string(p->out, nested ? ") -> " : " -> ");
    print_type(p, t->parts[1]);
    break;
  }
  }
}

// ---- indented --------------------------------------------------------------------------------

static void print_node(printer *p, const expr *x, unsigned depth);

// Ends the line that was begun at `start` with x, or puts x indented below it.
static void print_rest(printer *p, size_t start, const expr *x, unsigned depth) {
  size_t end = p->out->length;
  p->limit = start + LONGEST_LINE;
  text_string(p->out, " ");
  print_line(p, x);
  bool fits = !is_too_long(p);
  p->limit = 0;
  if (!fits && !p->out->failed)
    p->out->data[p->out->length = end] = 0;
  text_string(p->out, "\n");
  if (!fits)
    print_node(p, x, depth + 1);
}

static void print_part(printer *p, const char *label, const expr *x, unsigned depth) {
  size_t start = p->out->length;
  print_indent(p, depth);
  text_string(p->out, label);
  print_rest(p, start, x, depth);
}

// The bodies of an equation, whose first line was begun at `start`, and its local definitions.
static void print_right(printer *p, size_t start, const equation *q, unsigned depth) {
  if (q->alternatives[0].guard)
    text_string(p->out, "\n");
  for (uint32_t i = 0; i < q->alternative_count; i++) {
    const alternative *a = &q->alternatives[i];
    if (a->guard) {
      print_part(p, "|", a->guard, depth + 1);
      print_part(p, "=", a->body, depth + 2);
    } else {
      text_string(p->out, " =");
      print_rest(p, start, a->body, depth);
    }
  }
  if (!q->local_count)
    return;
  print_indent(p, depth + 1);
  text_string(p->out, "where\n");
  print_bindings(p, q->locals, q->local_count, depth + 2);
}

static void print_arguments(printer *p, const expr *x, unsigned depth) {
  if (x->kind != EXPR_APPLY)
    return;
  print_arguments(p, x->u.apply.function, depth);
  print_part(p, "to", x->u.apply.argument, depth);
}

static void print_qualifier_parts(printer *p, const qualifier *q, unsigned depth) {
  size_t start = p->out->length;
  print_indent(p, depth);
  text_string(p->out, q->target ? "for " : "if");
  if (q->target) {
    print_pattern(p, q->target);
    text_string(p->out, " <-");
  }
  print_rest(p, start, q->source, depth);
  if (q->second)
    print_part(p, ",", q->second, depth + 1);
  if (q->last)
    print_part(p, "..", q->last, depth + 1);
}

// An expression that is too long for one line.
static void print_node(printer *p, const expr *x, unsigned depth) {
  size_t start = p->out->length;
  print_indent(p, depth);
  switch (x->kind) {
  case EXPR_APPLY: {
    const expr *callee = x;
    while (callee->kind == EXPR_APPLY)
      callee = callee->u.apply.function;
    text_string(p->out, "apply");
    print_rest(p, start, callee, depth);
    print_arguments(p, x, depth + 1);
    break;
  }
  case EXPR_LAMBDA:
    print_parameters(p, "\\", &x->u.lambda->equations.items[0], x->u.lambda->arity);
    text_string(p->out, " ->");
    print_rest(p, start, x->u.lambda->equations.items[0].alternatives[0].body, depth);
    break;
  case EXPR_LET:
    text_string(p->out, "let\n");
    print_bindings(p, x->u.let.bindings, x->u.let.count, depth + 1);
    print_part(p, "in", x->u.let.body, depth);
    break;
  case EXPR_IF:
    text_string(p->out, "if");
    print_rest(p, start, x->u.branch.condition, depth);
    print_part(p, "then", x->u.branch.yes, depth);
    print_part(p, "else", x->u.branch.no, depth);
    break;
  case EXPR_TUPLE:
  case EXPR_LIST:
    text_string(p->out, x->kind == EXPR_TUPLE ? "tuple\n" : "list\n");
    for (uint32_t i = 0; i < x->u.list.count; i++)
      print_part(p, ",", x->u.list.items[i], depth + 1);
    break;
  case EXPR_COMPREHENSION:
    text_string(p->out, "list of");
    print_rest(p, start, x->u.comprehension.body, depth);
    for (uint32_t i = 0; i < x->u.comprehension.count; i++)
      print_qualifier_parts(p, &x->u.comprehension.qualifiers[i], depth + 1);
    break;
  case EXPR_INDEX:
    text_string(p->out, "element of");
    print_rest(p, start, x->u.at.array, depth);
    print_part(p, "at", x->u.at.index, depth + 1);
    break;
  case EXPR_PROJECT:
    text_printf(p->out, "component %u of", x->u.project.field);
    print_rest(p, start, x->u.project.tuple, depth);
    break;
  default:
    print_line(p, x);
    text_string(p->out, "\n");
    break;
  }
}

static void print_bindings(printer *p, binding *const *bindings, size_t count, unsigned depth) {
  for (size_t i = 0; i < count; i++) {
    const binding *b = bindings[i];
    size_t start = p->out->length;
    print_indent(p, depth);
    text_string(p->out, b->kind == BINDING_EXTERN ? "extern " : "binding ");
    if (b->kind == BINDING_EXTERN)
      text_printf(p->out, "\"%s\" ", b->library);
    if (b->target)
      print_pattern(p, b->target);
    else
      text_string(p->out, b->name);
    if (b->signature) {
      text_string(p->out, " : ");
      print_type(p, b->signature);
    }
    // A definition without parameters and signature needs no line of its own.
    bool value = b->code && !b->signature && !b->code->arity;
    if (!value)
      text_string(p->out, "\n");
    for (size_t k = 0; b->code && k < b->code->equations.count; k++) {
      const equation *q = &b->code->equations.items[k];
      if (!value) {
        start = p->out->length;
        print_indent(p, depth + 1);
        text_string(p->out, "equation");
        print_parameters(p, " ", q, b->code->arity);
      }
      print_right(p, start, q, value ? depth : depth + 1);
    }
  }
}

void tree_print(text *out, const program *p) {
  printer to = {.out = out};
  for (size_t m = 0; m < p->modules.count; m++) {
    const module *from = p->modules.items[m];
    if (from->library)
      continue;
    for (size_t i = 0; i < from->imports.count; i++)
      text_printf(out, "import \"%s\"\n", from->imports.items[i].path);
    print_bindings(&to, from->bindings.items, from->bindings.count, 0);
  }
}
