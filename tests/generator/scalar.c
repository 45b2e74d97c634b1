// Expressions of a given scalar type.
//
// In: a scope and a type. Out: a term of that type. Static arithmetic that leaves its range is an
// error of the language, so the first operand of integer arithmetic is asked to be dynamic.
#include "tests/generator/generator.h"

#include <ctype.h>

#define CLASS_EXACT_FLOATS (CLASS_FLOAT | CLASS_COMPLEX)

// ---- leaves ----------------------------------------------------------------------------------

static bool is_scalar_of(const shape *s, const void *with) {
  const scalar_class *classes = with;
  return s->kind == SHAPE_SCALAR && (*classes & CLASS_OF(s->type));
}

// A place of one of the classes; DYNAMIC: that is no static number. Elements of arrays are many,
// but not wanted more often for that.
static term scalar_place(generator *g, const scope *s, scalar_class classes, unsigned flags) {
  place found[PLACES], direct[PLACES];
  size_t all = find_places(g, s, is_scalar_of, &classes, found), count = 0, near = 0;
  for (size_t i = 0; i < all; i++) {
    if (flags & DYNAMIC && found[i].of->fixed)
      continue;
    if (found[i].of->shape->kind != SHAPE_ARRAY)
      direct[near++] = found[i];
    found[count++] = found[i];
  }
  if (near && !draw_chance(g, 20))
    return pick_place(g, s, direct, near);
  return pick_place(g, s, found, count);
}

scalar_type type_at_hand(generator *g, const scope *s, scalar_class among) {
  place found[PLACES];
  size_t count = find_places(g, s, is_scalar_of, &among, found);
  if (count && !draw_chance(g, 25))
    return found[draw_below(g, (uint32_t)count)].shape->type;
  return draw_type(g, among);
}

// The origin of what an operation makes: only the bits of floats matter.
static origin made(scalar_type t, bool rough) {
  if (!(CLASS_OF(t) & CLASS_EXACT_FLOATS))
    return ORIGIN_MOVED;
  return rough ? ORIGIN_ROUGH : ORIGIN_COMPUTED;
}

static term converted(generator *g, term from, scalar_type to) {
  bool same = from.shape->type == to;
  origin o = same ? from.shape->origin : made(to, false);
  return make_term(write_code(g, "%s %s", scalar_types[to].name, atom_text(g, from)),
                   scalar_shape(g, to, o));
}

// A comparison of what is there: bool x would be true nearly always.
static term comparison_leaf(generator *g, const scope *s) {
  static const char *const names[] = {"<", "<=", ">", ">=", "!=", "=="};
  term a = scalar_place(g, s, CLASS_REAL, DYNAMIC);
  if (!a.text)
    return (term){0};
  term b = scalar_place(g, s, CLASS_OF(a.shape->type), DYNAMIC);
  const char *other = b.text;
  if (strcmp(other, a.text) == 0)
    other = literal_text(g, a.shape->type, true);
  return make_atom(write_code(g, "(%s %s %s)", a.text, names[draw_below(g, 6)], other),
                   scalar_shape(g, SCALAR_BOOL, ORIGIN_MOVED));
}

// Something dynamic of another type, converted.
static term foreign_leaf(generator *g, const scope *s, scalar_type t) {
  if (t == SCALAR_BOOL && !draw_chance(g, 10)) {
    term c = comparison_leaf(g, s);
    if (c.text)
      return c;
  }
  bool complex = CLASS_OF(t) & CLASS_COMPLEX;
  term other = scalar_place(g, s, complex ? CLASS_NUM : CLASS_ORD, DYNAMIC);
  if (other.text)
    return converted(g, other, t);
  other = scalar_place(g, s, CLASS_COMPLEX, DYNAMIC);
  if (!other.text || complex)
    return (term){0};
  scalar_type real = scalar_real_of(other.shape->type);
  const char *part = write_code(g, "%s %s", draw_below(g, 2) ? "im" : "re", other.text);
  return converted(g, make_term(part, scalar_shape(g, real, ORIGIN_COMPUTED)), t);
}

// Something that nothing has used yet, converted if it has another type: an argument, an index.
static term unused_leaf(generator *g, const scope *s, scalar_type t) {
  place found[PLACES];
  scalar_class classes = CLASS_OF(t) & CLASS_COMPLEX ? CLASS_NUM : CLASS_ORD;
  size_t all = find_places(g, s, is_scalar_of, &classes, found), count = 0;
  for (size_t i = 0; i < all; i++)
    if (!*found[i].of->used && !found[i].of->fixed && found[i].of->shape->kind != SHAPE_ARRAY)
      found[count++] = found[i];
  term other = pick_place(g, s, found, count);
  return other.text && other.shape->type != t ? converted(g, other, t) : other;
}

static term size_leaf(generator *g, const scope *s) {
  const named_size *n = &s->sizes[draw_below(g, (uint32_t)s->size_count)];
  mark_used(g, "size name as a number");
  return make_atom(n->name, scalar_shape(g, SCALAR_I64, ORIGIN_MOVED));
}

term scalar_leaf(generator *g, const scope *s, scalar_type t, unsigned flags) {
  bool fixed = !(flags & DYNAMIC) && draw_chance(g, 30);
  if (fixed && t == SCALAR_I64 && s->size_count && draw_chance(g, 20))
    return size_leaf(g, s);
  term found = {0};
  g->exact++;  // what is rough is not converted
  if (!fixed && draw_chance(g, 50))
    found = unused_leaf(g, s, t);
  g->exact--;
  if (!fixed && !found.text)
    found = scalar_place(g, s, CLASS_OF(t), flags);
  g->exact++;
  if (!found.text && !fixed)
    found = foreign_leaf(g, s, t);
  g->exact--;
  if (found.text)
    return found;
  return make_atom(literal_text(g, t, flags & TYPED), scalar_shape(g, t, ORIGIN_MOVED));
}

// b, or a number where b is the same as a: x - x says nothing of x.
static term other_than(generator *g, term a, term b, scalar_type t) {
  if (strcmp(a.text, b.text) != 0 || draw_chance(g, 10))
    return b;
  return make_atom(literal_text(g, t, true), scalar_shape(g, t, ORIGIN_MOVED));
}

// ---- operations ------------------------------------------------------------------------------

static bool is_rough(scalar_op op, scalar_type t) {
  switch (op) {
  case OP_SQRT:
    return CLASS_OF(t) & CLASS_COMPLEX;
  case OP_EXP:
  case OP_LOG:
  case OP_SIN:
  case OP_COS:
  case OP_TAN:
  case OP_ASIN:
  case OP_ACOS:
  case OP_ATAN:
  case OP_ATAN2:
  case OP_SINH:
  case OP_COSH:
  case OP_TANH:
  case OP_POW:
  case OP_SINPI:
  case OP_COSPI:
  case OP_CIS:
  case OP_CISPI:
  case OP_MAGNITUDE:
    return true;
  default:
    return false;
  }
}

static bool is_comparison(scalar_op op) { return op >= OP_EQ && op <= OP_TOTAL_LE; }

// Whether op can give a t.
static bool gives(scalar_op op, scalar_type t) {
  switch (scalar_ops[op].result) {
  case RESULT_SAME:
    return scalar_ops[op].operands & CLASS_OF(t);
  case RESULT_BOOL:
    return t == SCALAR_BOOL;
  case RESULT_I64:
    return t == SCALAR_I64;
  case RESULT_REAL:
    return CLASS_OF(t) & CLASS_PART;
  case RESULT_COMPLEX:
    return CLASS_OF(t) & CLASS_COMPLEX;
  }
  return false;
}

static scalar_type operand_type(generator *g, const scope *s, scalar_op op, scalar_type t) {
  switch (scalar_ops[op].result) {
  case RESULT_REAL:
    return scalar_complex_of(t);
  case RESULT_COMPLEX:
    return scalar_real_of(t);
  case RESULT_BOOL:
  case RESULT_I64:
    return type_at_hand(g, s, scalar_ops[op].operands);
  default:
    return t;
  }
}

static scalar_op draw_operation(generator *g, scalar_type t, bool rough) {
  uint32_t weights[SCALAR_OP_COUNT] = {0};
  for (int i = 0; i < SCALAR_OP_COUNT; i++) {
    scalar_op op = (scalar_op)i;
    if (gives(op, t) && !is_rough(op, t))
      weights[i] = op <= OP_MUL ? 9 : is_comparison(op) || op == OP_XOR ? 5 : 2;
    else if (gives(op, t))
      weights[i] = rough ? 8 : 0;
  }
  return (scalar_op)draw_weighted(g, weights, SCALAR_OP_COUNT);
}

// Integer arithmetic on static numbers can fail.
static bool can_fail(scalar_op op, scalar_type t) {
  return (CLASS_OF(t) & CLASS_INTEGER) && scalar_ops[op].result == RESULT_SAME;
}

static term second_operand(generator *g, const scope *s, scalar_op op, scalar_type t, term a) {
  if (op == OP_POWI) {
    if (!draw_chance(g, 40))
      return make_atom(write_code(g, draw_chance(g, 20) ? "(-%u)" : "%u", draw_below(g, 6)), NULL);
    return scalar_term(g, s, SCALAR_I64, 0);
  }
  uint32_t shift = draw_below(g, draw_chance(g, 25) ? (uint32_t)scalar_types[t].size * 8 + 2 : 4);
  if ((op == OP_SHL || op == OP_SHR) && !draw_chance(g, 40))
    return make_atom(write_code(g, "%u", shift), NULL);
  return other_than(g, a, scalar_term(g, s, t, TYPED), t);
}

static const char *operation_text(generator *g, scalar_op op, term a, term b) {
  const char *name = scalar_ops[op].name, *x = atom_text(g, a);
  if (op == OP_NEG && draw_chance(g, 50))
    return write_code(g, "(-%s)", x);
  if (op == OP_COMPLEMENT)
    return write_code(g, "(~%s)", x);
  if (scalar_ops[op].arity == 1)
    return write_code(g, "(%s %s)", name, x);
  bool infix = !isalpha((unsigned char)*name) || op == OP_XOR;
  if (infix)
    return write_code(g, "(%s %s %s)", x, name, atom_text(g, b));
  if (draw_chance(g, 20))
    return write_code(g, "(%s `%s` %s)", x, name, atom_text(g, b));
  return write_code(g, "(%s %s %s)", name, x, atom_text(g, b));
}

static term compare_tuples(generator *g, const scope *s, scalar_op op, unsigned flags) {
  mark_used(g, "comparison of tuples");
  term part[2][2];
  for (int i = 0; i < 2; i++) {
    scalar_type t = type_at_hand(g, s, scalar_ops[op].operands);
    part[0][i] = scalar_term(g, s, t, i ? 0 : flags & DYNAMIC);
    part[1][i] = scalar_term(g, s, t, TYPED);
  }
  term a = make_atom(write_code(g, "(%s, %s)", part[0][0].text, part[0][1].text), NULL);
  term b = make_atom(write_code(g, "(%s, %s)", part[1][0].text, part[1][1].text), NULL);
  return make_atom(operation_text(g, op, a, b), scalar_shape(g, SCALAR_BOOL, ORIGIN_MOVED));
}

static term form_operation(generator *g, const scope *s, scalar_type t, unsigned flags) {
  bool rough = flags & ROUGH;
  scalar_op op = draw_operation(g, t, rough);
  if (is_comparison(op) && draw_chance(g, 12))
    return compare_tuples(g, s, op, flags);
  scalar_type from = operand_type(g, s, op, t);
  rough = is_rough(op, from);
  mark_used(g, scalar_ops[op].name);
  bool dynamic = flags & DYNAMIC || can_fail(op, from);
  term a = scalar_term(g, s, from, dynamic ? DYNAMIC : 0), b = a;
  if (a.fixed && can_fail(op, from))  // then there is nothing dynamic here
    return from == t ? a : (term){0};
  if (scalar_ops[op].arity == 2)
    b = scalar_ops[op].result == RESULT_COMPLEX ? scalar_term(g, s, from, TYPED)
                                                : second_operand(g, s, op, from, a);
  return make_atom(operation_text(g, op, a, b), scalar_shape(g, t, made(t, rough)));
}

// ---- other forms -----------------------------------------------------------------------------

static term form_convert(generator *g, const scope *s, scalar_type t, unsigned flags) {
  bool complex = CLASS_OF(t) & CLASS_COMPLEX;
  scalar_type from = type_at_hand(g, s, complex ? CLASS_NUM : CLASS_ORD);
  mark_used(g, "conversion");
  return converted(g, scalar_term(g, s, from, flags & DYNAMIC), t);
}

static origin joint(term a, term b) {
  origin x = shape_origin(a.shape), y = shape_origin(b.shape);
  return x > y ? x : y;
}

static term form_select(generator *g, const scope *s, scalar_type t, unsigned flags) {
  mark_used(g, "select");
  term c = scalar_term(g, s, SCALAR_BOOL, DYNAMIC);
  term a = scalar_term(g, s, t, flags & (DYNAMIC | ROUGH));
  term b = other_than(g, a, scalar_term(g, s, t, (flags & (DYNAMIC | ROUGH)) | TYPED), t);
  return make_term(write_code(g, "if %s then %s else %s", c.text, atom_text(g, a), atom_text(g, b)),
                   scalar_shape(g, t, joint(a, b)));
}

// What only sizes decide: one branch is never looked at.
static term form_static_select(generator *g, const scope *s, scalar_type t, unsigned flags) {
  mark_used(g, "static condition");
  term xs = any_array(g, s);
  uint64_t n = xs.text ? xs.shape->length : (uint64_t)g->bits, least = draw_below(g, 8);
  const char *size = xs.text ? write_code(g, "length %s", xs.text) : static_text(g, s, (int64_t)n);
  term chosen = scalar_term(g, s, t, flags & ~(unsigned)TYPED), other = scalar_leaf(g, s, t, flags);
  bool first = n > least;
  return make_term(write_code(g, "if %s > %u then %s else %s", size, (unsigned)least,
                              atom_text(g, first ? chosen : other),
                              atom_text(g, first ? other : chosen)),
                   chosen.shape);
}

static term form_let(generator *g, const scope *s, scalar_type t, unsigned flags) {
  mark_used(g, "let of a scalar");
  scope inner = *s;
  term bound = scalar_term(g, s, type_at_hand(g, s, CLASS_ANY), DYNAMIC);
  const char *name = fresh_name(g, "x");
  add_variable(g, &inner, name, bound.shape);
  inner.variables[inner.variable_count - 1].fixed = bound.fixed;
  term body = scalar_term(g, &inner, t, flags & ~(unsigned)TYPED);
  const char *code = draw_below(g, 3)
                         ? write_code(g, "(let %s = %s in %s)", name, bound.text, body.text)
                         : write_code(g, "((\\%s -> %s) %s)", name, body.text, atom_text(g, bound));
  return make_atom(code, body.shape);
}

static bool only_scalars(const definition *d) {
  for (uint32_t i = 0; i < d->parameter_count; i++)
    if (d->parameters[i]->kind != SHAPE_SCALAR)
      return false;
  return true;
}

static const definition *scalar_definition(generator *g, const scope *s, scalar_type t) {
  const definition *fitting[16];
  uint32_t count = 0;
  for (size_t i = 0; i < g->definitions.count && count < 16; i++) {
    const definition *d = &g->definitions.items[i];
    if (d->result->kind == SHAPE_SCALAR && d->result->type == t && only_scalars(d))
      fitting[count++] = d;
  }
  if (count && !draw_chance(g, 30))
    return fitting[draw_below(g, count)];
  if (g->definitions.count >= 12)
    return NULL;
  request r = {.wanted = scalar_shape(g, t, ORIGIN_MOVED), .factor = 1, .closed = true};
  r.parameter_count = 1 + draw_below(g, 3);
  for (uint32_t i = 0; i < r.parameter_count; i++)
    r.parameters[i] = scalar_shape(g, type_at_hand(g, s, CLASS_ANY), ORIGIN_MOVED);
  return define_function(g, s, &r);
}

static term form_call(generator *g, const scope *s, scalar_type t, unsigned flags) {
  (void)flags;
  const definition *found = scalar_definition(g, s, t);
  if (!found || !pay_for(g, s, found->cost))
    return (term){0};
  mark_used(g, "call of a scalar function");
  definition d = *found;  // the list may grow
  const char *code = d.name;
  origin most = ORIGIN_MOVED;
  bool fixed = true;
  for (uint32_t i = 0; i < d.parameter_count; i++) {
    term a = scalar_term(g, s, d.parameters[i]->type, draw_chance(g, 4) ? 0 : DYNAMIC);
    fixed &= a.fixed;
    most = a.shape->origin > most ? a.shape->origin : most;
    code = write_code(g, "%s %s", code, atom_text(g, a));
  }
  if (fixed)  // its arithmetic would be static
    return (term){0};
  origin o = d.result->origin == ORIGIN_PARAMETER ? most : d.result->origin;
  return make_term(code, scalar_shape(g, t, o));
}

static term form_extreme(generator *g, const scope *s, scalar_type t, unsigned flags) {
  static const char *const names[] = {"min", "max", "clamp"};
  uint32_t which = draw_below(g, 3);
  mark_used(g, names[which]);
  term a = scalar_term(g, s, t, flags & DYNAMIC);
  term b = other_than(g, a, scalar_term(g, s, t, TYPED), t);
  const char *code = write_code(g, "%s %s %s", names[which], atom_text(g, a), atom_text(g, b));
  origin o = joint(a, b);
  if (which == 2) {
    term c = scalar_term(g, s, t, DYNAMIC);
    code = write_code(g, "%s %s", code, atom_text(g, c));
    o = c.shape->origin > o ? c.shape->origin : o;
  }
  return make_term(code, scalar_shape(g, t, o));
}

static term form_logic(generator *g, const scope *s, scalar_type t, unsigned flags) {
  static const char *const names[] = {"&&", "||", "not"};
  uint32_t which = draw_below(g, 3);
  mark_used(g, names[which]);
  term a = scalar_term(g, s, SCALAR_BOOL, flags & DYNAMIC);
  if (which == 2)
    return make_term(write_code(g, "not %s", atom_text(g, a)), scalar_shape(g, t, ORIGIN_MOVED));
  term b = scalar_term(g, s, SCALAR_BOOL, flags & DYNAMIC);
  return make_term(write_code(g, "%s %s %s", atom_text(g, a), names[which], atom_text(g, b)),
                   scalar_shape(g, t, ORIGIN_MOVED));
}

static term form_root(generator *g, const scope *s, scalar_type t, unsigned flags) {
  static const uint32_t orders[] = {4, 2, 8, 1, 16, 3, 5, 12, 1024};
  mark_used(g, "root");
  term a = scalar_term(g, s, t, flags & DYNAMIC), k = scalar_term(g, s, SCALAR_I64, DYNAMIC);
  uint32_t m = orders[draw_below(g, sizeof orders / sizeof *orders)];
  return make_term(write_code(g, "%s * root %s %u", atom_text(g, a), atom_text(g, k), m),
                   scalar_shape(g, t, ORIGIN_COMPUTED));
}

static term form_component(generator *g, const scope *s, scalar_type t, unsigned flags) {
  mark_used(g, "fst, snd");
  term a = scalar_term(g, s, t, flags & ~(unsigned)TYPED);
  term b = scalar_leaf(g, s, type_at_hand(g, s, CLASS_ANY), 0);
  bool first = draw_below(g, 2) == 0;
  return make_term(write_code(g, first ? "fst (%s, %s)" : "snd (%s, %s)", first ? a.text : b.text,
                              first ? b.text : a.text),
                   a.shape);
}

static term form_reduction(generator *g, const scope *s, scalar_type t, unsigned flags) {
  (void)flags;
  g->exact++;
  term made_term = reduction_term(g, s, scalar_shape(g, t, ORIGIN_MOVED));
  g->exact--;
  return made_term;
}

typedef struct form {
  uint32_t weight;
  scalar_class types;
  term (*make)(generator *g, const scope *s, scalar_type t, unsigned flags);
} form;

static const form forms[] = {
    {20, CLASS_ANY, scalar_leaf},       {40, CLASS_ANY, form_operation},
    {7, CLASS_ANY, form_convert},       {10, CLASS_ANY, form_select},
    {3, CLASS_ANY, form_static_select}, {5, CLASS_ANY, form_let},
    {7, CLASS_ANY, form_call},          {5, CLASS_ANY, form_extreme},
    {10, CLASS_BOOL, form_logic},       {10, CLASS_COMPLEX, form_root},
    {2, CLASS_ANY, form_component},     {4, CLASS_ANY, form_reduction},
};
enum { FORMS = sizeof forms / sizeof *forms };

static term draw_form(generator *g, const scope *s, scalar_type t, unsigned flags) {
  uint32_t weights[FORMS];
  for (int i = 0; i < FORMS; i++)
    weights[i] = forms[i].types & CLASS_OF(t) ? forms[i].weight : 0;
  term drawn = {0};
  uint64_t before = g->dynamic_places;
  if (g->scalar_budget-- > 0 && g->scalars-- > 0 && pay_for(g, s, 1))
    drawn = forms[draw_weighted(g, weights, FORMS)].make(g, s, t, flags);
  if (!drawn.text)
    drawn = scalar_leaf(g, s, t, flags);
  drawn.fixed = g->dynamic_places == before;
  return drawn;
}

// An expression that is no part of another one gets a size of its own.
term scalar_term(generator *g, const scope *s, scalar_type t, unsigned flags) {
  static const int sizes[] = {1, 2, 3, 0, 5, 8, 16};
  if (!allows_rough(g))
    flags &= ~(unsigned)ROUGH;
  unsigned exact = !(flags & ROUGH);
  bool whole = g->scalar_depth == 0;
  if (whole)
    g->scalar_budget = sizes[draw_below(g, sizeof sizes / sizeof *sizes)];
  g->scalar_depth++;
  g->exact += exact;
  open_span(g);
  term drawn = draw_form(g, s, t, flags);
  close_span(g);
  g->exact -= exact;
  g->scalar_depth--;
  return drawn;
}
