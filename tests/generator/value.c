// Expressions of a given shape, and functions.
#include "tests/generator/generator.h"

// ---- shapes to ask for -----------------------------------------------------------------------

static const shape *any_scalar_shape(generator *g, const scope *s) {
  return scalar_shape(g, type_at_hand(g, s, CLASS_ANY), ORIGIN_MOVED);
}

static const shape *small_array_shape(generator *g, const scope *s) {
  static const uint64_t lengths[] = {2, 4, 1, 3, 8, 5};
  const shape *e = any_scalar_shape(g, s);
  if (draw_chance(g, 20))
    e = pair_shape(g, e, any_scalar_shape(g, s));
  return array_shape(g, lengths[draw_below(g, 6)], e);
}

const shape *draw_shape(generator *g, const scope *s, const shape *like) {
  static const uint32_t weights[] = {40, 30, 14, 5, 6, 2};
  switch (draw_weighted(g, weights, 6)) {
  case 1:
    if (shape_size(like) <= 8)
      return with_origin(g, like, ORIGIN_MOVED);
    return any_scalar_shape(g, s);
  case 2:
    return pair_shape(g, any_scalar_shape(g, s), any_scalar_shape(g, s));
  case 3: {
    shape triple = *pair_shape(g, any_scalar_shape(g, s), any_scalar_shape(g, s));
    triple.parts[triple.count++] = any_scalar_shape(g, s);
    shape *copy = NEW(g->memory, shape);
    *copy = triple;
    return copy;
  }
  case 4:
    return small_array_shape(g, s);
  case 5:
    return pair_shape(g, small_array_shape(g, s), any_scalar_shape(g, s));
  default:
    return any_scalar_shape(g, s);
  }
}

// ---- tuples ----------------------------------------------------------------------------------

static term tuple_of_parts(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  shape *made = NEW(g->memory, shape);
  *made = *wanted;
  const char *list = "";
  for (uint32_t i = 0; i < wanted->count; i++) {
    term part = value_term(g, s, wanted->parts[i], flags & ~(unsigned)TYPED);
    list = write_code(g, "%s%s%s", list, i ? ", " : "", part.text);
    made->parts[i] = part.shape;
  }
  return make_atom(write_code(g, "(%s)", list), made);
}

// Of two shapes that are the same but for origins, the rougher, leaf by leaf.
static const shape *joint_shape(generator *g, const shape *a, const shape *b) {
  shape *made = NEW(g->memory, shape);
  *made = *a;
  if (b->origin > a->origin)
    made->origin = b->origin;
  for (uint32_t i = 0; i < a->count; i++)
    made->parts[i] = joint_shape(g, a->parts[i], b->parts[i]);
  return made;
}

static term select_tuple(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  mark_used(g, "select of tuples");
  term c = scalar_term(g, s, SCALAR_BOOL, DYNAMIC);
  term a = value_term(g, s, wanted, flags), b = value_term(g, s, wanted, flags);
  return make_term(write_code(g, "if %s then %s else %s", c.text, atom_text(g, a), atom_text(g, b)),
                   joint_shape(g, a.shape, b.shape));
}

static term let_tuple(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  mark_used(g, "let of a tuple");
  term bound = value_term(g, s, draw_shape(g, s, wanted), flags & ROUGH);
  if (bound.shape->kind != SHAPE_TUPLE)
    return tuple_of_parts(g, s, wanted, flags);
  scope inner = *s;
  const char *names = "";
  for (uint32_t i = 0; i < bound.shape->count; i++) {
    const char *name = fresh_name(g, "p");
    add_variable(g, &inner, name, bound.shape->parts[i]);
    names = write_code(g, "%s%s%s", names, i ? ", " : "", name);
  }
  term body = value_term(g, &inner, wanted, flags);
  return make_atom(write_code(g, "(let (%s) = %s in %s)", names, bound.text, body.text),
                   body.shape);
}

static term tuple_value(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  if (g->budget > 0 && all_scalars(wanted) && draw_chance(g, 12))
    return select_tuple(g, s, wanted, flags);
  if (g->budget > 0 && draw_chance(g, 6))
    return let_tuple(g, s, wanted, flags);
  term found = {0};
  if (draw_chance(g, 35))
    found = any_place(g, s, wanted);
  return found.text ? found : tuple_of_parts(g, s, wanted, flags);
}

// ---- arrays ----------------------------------------------------------------------------------

static term replicated(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  mark_used(g, "replicate");
  term x = value_term(g, s, wanted->parts[0], flags);
  const char *count = static_text(g, s, (int64_t)wanted->length);
  return make_term(write_code(g, "replicate %s %s", count, atom_text(g, x)),
                   array_shape(g, wanted->length, x.shape));
}

static bool has_length(const shape *s, const void *with) {
  const shape *wanted = with;
  return s->kind == SHAPE_ARRAY && s->length == wanted->length;
}

static bool is_longer(const shape *s, const void *with) {
  const shape *wanted = with;
  return s->kind == SHAPE_ARRAY && s->length > wanted->length &&
         shapes_agree(s->parts[0], wanted->parts[0]);
}

static term mapped(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  term xs = any_place_with(g, s, has_length, wanted);
  if (!xs.text || !pay_for(g, s, shape_size(xs.shape)))
    return replicated(g, s, wanted, flags);
  mark_used(g, "map");
  request r = {.parameters = {xs.shape->parts[0]}, .parameter_count = 1};
  r.wanted = wanted->parts[0];
  r.factor = wanted->length;
  term f = function_term(g, s, &r);
  return call_term(g, write_code(g, "map %s", f.text), xs, array_shape(g, wanted->length, f.shape));
}

static term from_iota(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  (void)flags;
  mark_used(g, "iota");
  const shape *integer = scalar_shape(g, SCALAR_I64, ORIGIN_MOVED);
  term xs = make_term(write_code(g, "iota %s", static_text(g, s, (int64_t)wanted->length)),
                      array_shape(g, wanted->length, integer));
  if (shapes_agree(wanted, xs.shape) && draw_chance(g, 50))
    return xs;
  request r = {.parameters = {integer}, .parameter_count = 1};
  r.wanted = wanted->parts[0];
  r.factor = wanted->length;
  term f = function_term(g, s, &r);
  return make_term(write_code(g, "map %s %s", f.text, atom_text(g, xs)),
                   array_shape(g, wanted->length, f.shape));
}

// At least one element.
static term list(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  mark_used(g, "list");
  const char *items = "";
  const shape *element = wanted->parts[0];
  for (uint64_t i = 0; i < wanted->length; i++) {
    term x = value_term(g, s, wanted->parts[0], flags);
    items = write_code(g, "%s%s%s", items, i ? ", " : "", x.text);
    element = i ? joint_shape(g, element, x.shape) : x.shape;
  }
  return make_atom(write_code(g, "[%s]", items), array_shape(g, wanted->length, element));
}

static term cut(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  term xs = any_place_with(g, s, is_longer, wanted);
  if (!xs.text)
    return mapped(g, s, wanted, flags);
  bool front = draw_below(g, 2) == 0;
  uint64_t count = front ? wanted->length : xs.shape->length - wanted->length;
  mark_used(g, front ? "take" : "drop");
  if (draw_fault(g, "fault: take", 60))
    count += xs.shape->length + 1;
  return call_term(
      g, write_code(g, "%s %s", front ? "take" : "drop", static_text(g, s, (int64_t)count)), xs,
      array_shape(g, wanted->length, xs.shape->parts[0]));
}

static term concatenated(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  mark_used(g, "concat");
  uint64_t front =
      wanted->length ? draw_below(g, (uint32_t)(wanted->length < 64 ? wanted->length : 64)) : 0;
  if (draw_chance(g, 30))
    front = wanted->length / 2;
  term a = value_term(g, s, array_shape(g, front, wanted->parts[0]), flags);
  term b = value_term(g, s, array_shape(g, wanted->length - front, wanted->parts[0]), flags);
  return make_term(
      write_code(g, "concat %s %s", atom_text(g, a), atom_text(g, b)),
      array_shape(g, wanted->length, joint_shape(g, a.shape->parts[0], b.shape->parts[0])));
}

// A variable of that shape, and steps that keep it so.
static term found_array(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  term xs = any_place(g, s, wanted);
  if (!xs.text || !pay_for(g, s, shape_size(wanted)))
    return mapped(g, s, wanted, flags);
  return apply_steps(g, s, xs, draw_below(g, 3), KEEP_SHAPE);
}

static bool has_place(const generator *g, const scope *s, place_test *test, const void *with) {
  place found[PLACES];
  return find_places(g, s, test, with, found) > 0;
}

static bool has_same_shape(const shape *s, const void *with) { return shapes_agree(s, with); }

static term array_value(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  typedef term maker(generator *, const scope *, const shape *, unsigned);
  static maker *const makers[] = {found_array, list,         mapped,    cut,
                                  from_iota,   concatenated, replicated};
  bool found = has_place(g, s, has_same_shape, wanted);
  uint32_t of_list = wanted->length == 0 || wanted->length > 8 ? 0 : found ? 12 : 60;
  uint32_t weights[] = {found ? 60 : 0,
                        of_list,
                        has_place(g, s, has_length, wanted) ? 25 : 0,
                        has_place(g, s, is_longer, wanted) ? 8 : 0,
                        5,
                        wanted->length > 1 ? 4 : 0,
                        3};
  if (g->budget <= 0)
    return found ? found_array(g, s, wanted, flags) : replicated(g, s, wanted, flags);
  pay_for(g, s, shape_size(wanted));
  return makers[draw_weighted(g, weights, sizeof weights / sizeof *weights)](g, s, wanted, flags);
}

term value_term(generator *g, const scope *s, const shape *wanted, unsigned flags) {
  if (wanted->kind == SHAPE_SCALAR)
    return scalar_term(g, s, wanted->type, flags);
  g->budget--;
  flags &= ~(unsigned)TYPED;
  unsigned exact = !(flags & ROUGH);
  g->exact += exact;
  open_span(g);
  term made = wanted->kind == SHAPE_TUPLE ? tuple_value(g, s, wanted, flags)
                                          : array_value(g, s, wanted, flags);
  close_span(g);
  g->exact -= exact;
  return made;
}

// Whatever comes from what is in scope.
term any_term(generator *g, const scope *s, unsigned depth) {
  uint32_t form = draw_below(g, 20);
  if (form < 16) {
    term xs = any_array(g, s);
    if (xs.text && pay_for(g, s, shape_size(xs.shape)))
      return apply_steps(g, s, xs, 1 + draw_below(g, 3), KEEP_NOTHING);
  }
  if (form < 18 && depth > 0) {
    term a = any_term(g, s, depth - 1), b = any_term(g, s, depth - 1);
    return make_atom(write_code(g, "(%s, %s)", a.text, b.text), pair_shape(g, a.shape, b.shape));
  }
  return scalar_term(g, s, type_at_hand(g, s, CLASS_ANY), DYNAMIC | ROUGH);
}

// ---- patterns --------------------------------------------------------------------------------

static const char *list_pattern(generator *g, scope *s, const shape *of) {
  static const char *const names[] = {"pattern of 1", "pattern of 2",  "pattern of 4",
                                      "pattern of 8", "pattern of 16", "pattern of 32",
                                      "pattern of 64"};
  mark_used(g, names[length_bits(of->length)]);
  const char *items = "";
  for (uint64_t i = 0; i < of->length; i++)
    items = write_code(g, "%s%s%s", items, i ? ", " : "", pattern_text(g, s, of->parts[0]));
  return write_code(g, "[%s]", items);
}

const char *pattern_text(generator *g, scope *s, const shape *of) {
  bool listable = of->kind == SHAPE_ARRAY && length_bits(of->length) >= 0;
  if (listable && (of->length <= 8 ? draw_chance(g, 50) : of->length <= 64 && draw_chance(g, 2)))
    return list_pattern(g, s, of);
  if (of->kind == SHAPE_TUPLE && draw_chance(g, 60)) {
    const char *items = "";
    for (uint32_t i = 0; i < of->count; i++)
      items = write_code(g, "%s%s%s", items, i ? ", " : "", pattern_text(g, s, of->parts[i]));
    return write_code(g, "(%s)", items);
  }
  const char *name = fresh_name(g, of->kind == SHAPE_ARRAY ? "a" : "x");
  add_variable(g, s, name, of);
  return name;
}

// ---- functions -------------------------------------------------------------------------------

static origin parameters_origin(const request *r) {
  origin most = ORIGIN_MOVED;
  for (uint32_t i = 0; i < r->parameter_count; i++)
    if (shape_origin(r->parameters[i]) > most)
      most = shape_origin(r->parameters[i]);
  return most;
}

const shape *resolve_origin(generator *g, const shape *s, origin o) {
  shape *made = NEW(g->memory, shape);
  *made = *s;
  if (s->kind == SHAPE_SCALAR && s->origin == ORIGIN_PARAMETER)
    made->origin = o;
  for (uint32_t i = 0; i < s->count; i++)
    made->parts[i] = resolve_origin(g, s->parts[i], o);
  return made;
}

static term any_body(generator *g, const scope *s, const request *r, term last) {
  if (r->wanted)
    return value_term(g, s, r->wanted, ROUGH | DYNAMIC);
  if (last.shape->kind == SHAPE_ARRAY)
    return apply_steps(g, s, last, 1 + draw_below(g, 3), r->keep);
  return any_term(g, s, 1);
}

// Its scalar expressions are whole ones, even if the function stands inside of another.
static term body(generator *g, const scope *s, const request *r, term last) {
  unsigned depth = g->scalar_depth;
  int left = g->scalar_budget;
  g->scalar_depth = 0;
  term b = any_body(g, s, r, last);
  g->scalar_depth = depth;
  g->scalar_budget = left;
  return b;
}

// The patterns of the parameters; *last: the last of them, as a term where it has a name.
static const char *patterns(generator *g, scope *s, const request *r, term *last) {
  const char *all = "";
  for (uint32_t i = 0; i < r->parameter_count; i++) {
    const shape *p = r->parameters[i];
    if (r->repeated)
      p = with_origin(g, p, ORIGIN_PARAMETER);
    const char *one;
    if (i + 1 == r->parameter_count && !r->wanted) {
      one = fresh_name(g, p->kind == SHAPE_ARRAY ? "a" : "x");
      add_variable(g, s, one, p);
      *last = make_atom(one, p);
    } else {
      one = pattern_text(g, s, p);
    }
    all = write_code(g, "%s%s%s", all, i ? " " : "", one);
  }
  return all;
}

static term lambda(generator *g, const scope *s, const request *r) {
  scope inner = r->closed ? closed_scope(s, r->factor) : inner_scope(s, r->factor);
  term last = {0};
  const char *parameters = patterns(g, &inner, r, &last);
  g->repeated += r->repeated;
  term b = body(g, &inner, r, last);
  g->repeated -= r->repeated;
  return make_atom(write_code(g, "(\\%s -> %s)", parameters, b.text), b.shape);
}

// What follows the patterns of an equation whose body is *b: `= body`, or guards that choose
// between it and another one.
static const char *right_side(generator *g, const scope *s, const request *r, term *b) {
  if (!r->wanted || !all_scalars(r->wanted) || !draw_chance(g, 20))
    return write_code(g, " = %s", b->text);
  mark_used(g, "guards");
  term c = scalar_term(g, s, SCALAR_BOOL, DYNAMIC), other = value_term(g, s, r->wanted, DYNAMIC);
  b->shape = joint_shape(g, b->shape, other.shape);
  return write_code(g, "\n  | %s = %s\n  | otherwise = %s", c.text, b->text, other.text);
}

static const char *signature_of(generator *g, const request *r, const shape *result) {
  mark_used(g, "signature of a function");
  const char *all = "";
  for (uint32_t i = 0; i < r->parameter_count; i++)
    all = write_code(g, "%s%s -> ", all, type_code(g, r->parameters[i]));
  return write_code(g, "%s%s", all, type_code(g, result));
}

const definition *define_function(generator *g, const scope *s, const request *asked) {
  request r = *asked;
  r.repeated = true;  // its parameters are as good as its arguments
  scope own = closed_scope(s, r.factor);
  uint64_t before = g->cost;
  term last = {0};
  const char *name = fresh_name(g, "h"), *parameters = patterns(g, &own, &r, &last);
  uint64_t dynamic = g->dynamic_places;
  g->repeated++;
  term b = body(g, &own, &r, last);
  const char *right = right_side(g, &own, &r, &b);
  g->repeated--;
  g->dynamic_places = dynamic;
  if (draw_chance(g, 25))
    text_printf(&g->text, "%s : %s\n", name, signature_of(g, &r, b.shape));
  text_printf(&g->text, "%s %s%s\n", name, parameters, right);
  definition d = {.name = name, .parameter_count = r.parameter_count, .result = b.shape};
  memcpy(d.parameters, r.parameters, sizeof d.parameters);
  d.cost = own.instances ? (before - g->cost) / own.instances : 0;
  mark_used(g, "function at the top");
  vec_push(g->memory, &g->definitions, d);
  return &g->definitions.items[g->definitions.count - 1];
}

static bool fits(const definition *d, const request *r) {
  bool good = d->parameter_count == r->parameter_count;
  for (uint32_t i = 0; good && i < r->parameter_count; i++)
    good = shapes_agree(d->parameters[i], r->parameters[i]);
  if (!good || r->wanted)
    return good && shapes_agree(d->result, r->wanted);
  const shape *last = r->parameters[r->parameter_count - 1];
  return r->keep == KEEP_NOTHING || (r->keep == KEEP_SHAPE && shapes_agree(d->result, last)) ||
         (r->keep == KEEP_LENGTH && has_length(d->result, last));
}

// One that is there already: the same call at another place, with another batch.
static term known_function(generator *g, const scope *s, const request *r) {
  for (size_t i = 0; i < g->definitions.count; i++) {
    const definition *d = &g->definitions.items[i];
    scope inner = inner_scope(s, r->factor);
    if (fits(d, r) && pay_for(g, &inner, d->cost)) {
      mark_used(g, "function used again");
      return make_atom(d->name, d->result);
    }
  }
  return (term){0};
}

// f . g with a shape in between.
static term composed(generator *g, const scope *s, const request *r) {
  mark_used(g, "composition");
  request first = *r, second = *r;
  first.wanted = scalar_shape(g, type_at_hand(g, s, CLASS_ANY), ORIGIN_MOVED);
  term f = function_term(g, s, &first);
  second.parameters[0] = f.shape;
  term h = function_term(g, s, &second);
  return make_atom(write_code(g, "(%s . %s)", h.text, f.text), h.shape);
}

// (+ c), (c *)
static term section(generator *g, const scope *s, const request *r) {
  static const char *const names[] = {"+", "*", "/"};
  mark_used(g, "section");
  term c = scalar_leaf(g, s, r->wanted->type, TYPED);
  const char *name = names[draw_below(g, 3)];
  bool left = draw_below(g, 2);
  const char *code = left ? write_code(g, "(%s %s)", atom_text(g, c), name)
                          : write_code(g, "(%s %s)", name, atom_text(g, c));
  return make_atom(code, scalar_shape(g, r->wanted->type, ORIGIN_COMPUTED));
}

static bool is_scalar_function(const request *r) {
  return r->wanted && r->parameter_count == 1 && r->wanted->kind == SHAPE_SCALAR &&
         r->parameters[0]->kind == SHAPE_SCALAR && !r->repeated;
}

static term any_function(generator *g, const scope *s, const request *r) {
  bool closable = parameters_origin(r) < ORIGIN_ROUGH;
  if (is_scalar_function(r) && closable && draw_chance(g, 12)) {
    if (shapes_agree(r->wanted, r->parameters[0]) && (CLASS_OF(r->wanted->type) & CLASS_NUM) &&
        draw_chance(g, 60))
      return section(g, s, r);
    if (g->budget > 0)
      return composed(g, s, r);
  }
  term known = {0};
  if (closable && draw_chance(g, 30))
    known = known_function(g, s, r);
  if (!known.text && closable && (r->closed || draw_chance(g, 20)) && g->definitions.count < 12) {
    const definition *d = define_function(g, s, r);
    known = make_atom(d->name, d->result);
  }
  if (!known.text)
    return lambda(g, s, r);
  if (!r->repeated)
    known.shape = resolve_origin(g, known.shape, parameters_origin(r));
  return known;
}

term function_term(generator *g, const scope *s, const request *r) {
  open_span(g);
  term f = any_function(g, s, r);
  close_span(g);
  return f;
}
