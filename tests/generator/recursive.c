// Recursive functions on [2^n]t: definitions whose static recursion ends at n = 0 or n = 1.
//
// Each template is a text with holes. What fills a hole has to be right at every size that the
// recursion comes to, so masks are formulas in the size here, not numbers.
#include "tests/generator/generator.h"

// What the holes are filled with.
typedef struct frame {
  const char *name;
  const shape *element;
  const scope *scope;  // counts how often the functions in the holes are applied
  uint64_t applications;
} frame;

// ---- holes -----------------------------------------------------------------------------------

// A mask for 2^n elements, n >= 1.
static const char *general_mask(generator *g, const char *n) {
  switch (draw_below(g, 5)) {
  case 0:
    return "1";
  case 1:
    return write_code(g, "(2^(%s - 1))", n);
  case 2:
    return write_code(g, "(2^%s - 1)", n);
  case 3:
    return write_code(g, "(min 3 (2^%s - 1))", n);
  default:
    return write_code(g, "(1 + %u %% (2^%s - 1))", draw_below(g, 100), n);
  }
}

static const char *halving(generator *g, const char *n) {
  uint32_t form = draw_below(g, 4);
  return form == 0 ? "two" : form == 1 ? "ilv" : write_code(g, "parm %s", general_mask(g, n));
}

static const char *general_matrix(generator *g, const char *n) {
  if (draw_below(g, 2))
    return write_code(g, "[2^((i + %u) %% %s) | i <- 0..%s-1]", draw_below(g, 4), n, n);
  return write_code(g, "[2^i + (if i < %s-1 then 2^(%s-1) else 0) | i <- 0..%s-1]", n, n, n);
}

// A closed function of `count` elements that gives `wanted`.
static term closed_function(generator *g, const frame *f, uint32_t count, const shape *wanted) {
  request r = {.parameter_count = count, .wanted = wanted, .factor = f->applications};
  for (uint32_t i = 0; i < count; i++)
    r.parameters[i] = f->element;
  r.repeated = r.closed = true;
  return function_term(g, f->scope, &r);
}

// \[x, y] -> ..., closed
static const char *pair_code(generator *g, const frame *f, origin *o) {
  const shape *e = f->element;
  bool ordered = !(shape_classes(e) & CLASS_COMPLEX) && all_scalars(e);
  if (ordered && draw_below(g, 2) == 0)
    return draw_below(g, 2) ? "compare_exchange" : "(compare_exchange_by (>=))";
  request r = {.parameters = {array_shape(g, 2, e)}, .parameter_count = 1};
  r.wanted = r.parameters[0];
  r.factor = f->applications / 2;
  r.repeated = r.closed = true;
  term code = function_term(g, f->scope, &r);
  *o = shape_origin(code.shape) > *o ? shape_origin(code.shape) : *o;
  return code.text;
}

// One step on [2^n]t that keeps it so, for any n >= 1. xs is an atom.
static const char *general_step(generator *g, const frame *f, const char *n, const char *xs,
                                origin *o) {
  static const char *const names[] = {"reverse", "bitrev", "shuffle", "unshuffle", "gray", "id"};
  switch (draw_below(g, 6)) {
  case 0:
    return write_code(g, "column %s %s %s", general_mask(g, n), pair_code(g, f, o), xs);
  case 1: {
    term code = closed_function(g, f, 1, f->element);
    *o = shape_origin(code.shape) > *o ? shape_origin(code.shape) : *o;
    return write_code(g, "map %s %s", code.text, xs);
  }
  case 2: {
    term code = closed_function(g, f, 2, f->element);
    *o = shape_origin(code.shape) > *o ? shape_origin(code.shape) : *o;
    return write_code(g, "zip_with %s %s (%s %s)", code.text, xs, names[draw_below(g, 6)], xs);
  }
  case 3:
    return write_code(g, "bmmc %s (%u %% 2^%s) %s", general_matrix(g, n), draw_below(g, 50), n, xs);
  case 4:
    return write_code(g, "%s %s %s", halving(g, n), names[draw_below(g, 5)], xs);
  default:
    return write_code(g, "%s %s", names[draw_below(g, 6)], xs);
  }
}

// ---- templates -------------------------------------------------------------------------------

// Each gives the function to apply to the array, such as "h3 4", and raises *o.
typedef const char *template_maker(generator *g, const frame *f, const char *size, origin *o);

// r 0 xs = xs; r n xs = step (parm m (r (n-1)) xs)
static const char *halves_down(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: halves");
  const char *half = halving(g, "n");
  const char *inner = write_code(g, "%s (%s (n-1))", half, f->name);
  const char *right;
  if (draw_below(g, 2)) {
    right = write_code(g, "%s (%s)", inner, general_step(g, f, "n", "xs", o));
    text_printf(&g->text, "%s 0 xs = xs\n%s n xs = %s\n", f->name, f->name, right);
  } else {
    right = general_step(g, f, "n", "ys", o);
    text_printf(&g->text, "%s 0 xs = xs\n%s n xs = let ys = %s xs in %s\n", f->name, f->name, inner,
                right);
  }
  return write_code(g, "%s %s", f->name, size);
}

// The size from the array: a signature and guards.
static const char *halves_by_signature(generator *g, const frame *f, const char *size, origin *o) {
  (void)size;
  mark_used(g, "recursion: signature");
  const char *e = type_code(g, f->element);
  const char *half = halving(g, "n"), *step_text = general_step(g, f, "n", "xs", o);
  text_printf(&g->text,
              "%s : [2^n]%s -> [2^n]%s\n%s xs\n  | n == 0 = xs\n  | otherwise = %s %s (%s)\n",
              f->name, e, e, f->name, half, f->name, step_text);
  return f->name;
}

// r 0 xs = xs; r k xs = r (k-1) (step xs), with a step that depends on k.
static const char *levels(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: levels");
  const char *code = pair_code(g, f, o);
  const char *again = write_code(g, "column (2^(k-1)) %s", code);
  text_printf(&g->text,
              draw_below(g, 2) ? "%s 0 xs = xs\n%s k xs = %s (k-1) (%s xs)\n"
                               : "%s 0 xs = xs\n%s k xs = let ys = %s (k-1) xs in %s ys\n",
              f->name, f->name, f->name, again);
  return write_code(g, "%s %s", f->name, size);
}

// Butterflies: parmi leaves pairs, and collects their number in k.
static const char *butterflies(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: butterflies");
  request r = {.parameter_count = 3, .repeated = true, .closed = true, .factor = f->applications};
  r.parameters[0] = scalar_shape(g, SCALAR_I64, ORIGIN_MOVED);
  r.parameters[1] = r.parameters[2] = f->element;
  r.wanted = array_shape(g, 2, f->element);
  term code = function_term(g, f->scope, &r);
  *o = shape_origin(code.shape) > *o ? shape_origin(code.shape) : *o;
  const char *order[] = {"k + b * 2^(n-m)", "2 * k + b"};
  text_printf(&g->text,
              "%s n 0 k xs = xs\n%s n 1 k [a, b] = %s k a b\n"
              "%s n m k xs = parmi 1 (\\b -> %s n (m-1) (%s)) xs\n",
              f->name, f->name, code.text, f->name, f->name, order[draw_below(g, 2)]);
  if (draw_below(g, 2) == 0)
    return write_code(g, "%s %s %s 0", f->name, size, size);
  const char *all = fresh_name(g, "h");
  text_printf(&g->text, "%s 0 xs = xs\n%s n xs = %s n n 0 (two (%s (n-1)) xs)\n", all, all, f->name,
              all);
  return write_code(g, "%s %s", all, size);
}

// Halves one after the other: take, drop and concat.
static const char *pieces(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: pieces");
  const char *step_text = general_step(g, f, "n", "ys", o);
  text_printf(&g->text,
              "%s 0 xs = xs\n%s n xs = let h = 2^(n-1); ys = concat (%s (n-1) (%s h xs)) (%s (n-1) "
              "(%s h xs)) in %s\n",
              f->name, f->name, f->name, draw_below(g, 2) ? "take" : "drop", f->name,
              draw_below(g, 2) ? "drop" : "take", step_text);
  return write_code(g, "%s %s", f->name, size);
}

// Two functions that call each other.
static const char *mutual(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: mutual");
  const char *other = fresh_name(g, "h");
  const char *one = halving(g, "n"), *two = halving(g, "n");
  const char *step_text = general_step(g, f, "n", "xs", o);
  text_printf(&g->text,
              "%s 0 xs = xs\n%s n xs = %s (%s (n-1)) (%s)\n%s 0 xs = xs\n%s n xs = %s (%s (n-1)) "
              "xs\n",
              f->name, f->name, one, other, step_text, other, other, two, f->name);
  return write_code(g, "%s %s", f->name, size);
}

// Rows of 2^(n-1) by split, each by the recursion, joined.
static const char *by_rows(generator *g, const frame *f, const char *size, origin *o) {
  mark_used(g, "recursion: rows");
  const char *step_text = general_step(g, f, "n", "ys", o);
  text_printf(&g->text,
              "%s 0 xs = xs\n%s n xs = let ys = join (map (%s (n-1)) (split (n-1) xs)) in %s\n",
              f->name, f->name, f->name, step_text);
  return write_code(g, "%s %s", f->name, size);
}

// Rounds that are alike: each needs the whole array of the one before it, or of the two before it.
static const char *rounds(generator *g, const frame *f, const char *size, origin *o) {
  enum { LEAST = 8, MORE = 6 };
  static const char *const moves[] = {"rotate 1", "rotate (2^n - 1)", "scan (\\x y -> y)",
                                      "gather (map (\\i -> (5 * i + 3) % 2^n) (iota (2^n)))"};
  mark_used(g, "recursion: rounds");
  frame often = *f;
  uint32_t count = LEAST + draw_below(g, MORE);
  often.applications *= count;
  const char *step_text = general_step(g, &often, "n", "ys", o), *move = moves[draw_below(g, 4)];
  text_printf(&g->text,
              draw_below(g, 2)
                  ? "%s n xs = iter %u (\\zs -> let ys = %s zs in %s) xs\n"
                  : "%s n xs = fst (iter %u (\\(zs, us) -> (let ys = %s us in %s, zs)) (xs, xs))\n",
              f->name, count, move, step_text);
  return write_code(g, "%s %s", f->name, size);
}

static template_maker *const templates[] = {
    halves_down, levels, halves_by_signature, butterflies, pieces, mutual, by_rows, rounds};
enum { TEMPLATES = sizeof templates / sizeof *templates };

// ---- use -------------------------------------------------------------------------------------

static const char *make_recursion(generator *g, const frame *f, const char *size, origin *o) {
  g->repeated++;
  const char *made = templates[draw_below(g, TEMPLATES)](g, f, size, o);
  g->repeated--;
  return made;
}

term step_recursive(generator *g, const scope *s, term xs, keep k, const step *row) {
  (void)k, (void)row;
  const shape *e = xs.shape->parts[0];
  uint64_t bits = (uint64_t)length_bits(xs.shape->length);
  if (shape_rank(e) > 1)
    return (term){0};
  frame f = {.name = fresh_name(g, "h"), .element = with_origin(g, e, ORIGIN_PARAMETER)};
  f.scope = s;
  f.applications = xs.shape->length * (bits + 1);
  origin o = ORIGIN_PARAMETER;
  const char *size = static_text(g, s, (int64_t)bits);
  const char *made = make_recursion(g, &f, size, &o);
  origin from = shape_origin(xs.shape);
  if (g->repeated && from < ORIGIN_PARAMETER)
    from = ORIGIN_PARAMETER;
  if (o == ORIGIN_PARAMETER)
    o = from;
  return call_term(g, made, xs, at_least(g, xs.shape, o > from ? o : from));
}
