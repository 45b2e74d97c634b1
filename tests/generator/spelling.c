// The text of a program that hides a plan: see hidden.h.
//
// Each op becomes functions of the array: pair3 for a pair, step3 for all of them. Sizes are
// numbers. In the sub-arrays that parm makes, an index lacks the lowest bit of the mask (f2.h):
// directions are written without it.
#include "tests/generator/hidden.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct spelling {
  const hidden_program *p;
  text *out;       // definitions, each before it is used
  uint32_t names;  // given so far
} spelling;

// The ops of a sequence, in an array of 2^n elements.
typedef struct sequence {
  hidden_op ops[HIDDEN_OPS];
  uint32_t count;
  int n;
} sequence;

// ---- functions of pairs --------------------------------------------------------------------------

static bool has_parts(const spelling *s) { return s->p->part_count > 1; }

// "(i64 x0)" where component `from` has another type than component `to`.
static void write_part(const spelling *s, char element, uint32_t from, uint32_t to) {
  const hidden_program *p = s->p;
  if (!has_parts(s))
    text_printf(s->out, "%c", element);
  else if (p->types[from] == p->types[to])
    text_printf(s->out, "%c%u", element, from);
  else
    text_printf(s->out, "(%s %c%u)", scalar_types[p->types[to]].name, element, from);
}

// A sum of all components of both elements, for component `to`.
static void write_sum(const spelling *s, char first, char second, uint32_t to, uint64_t *noise) {
  static const char *const signs[] = {" + ", " - "};
  for (uint32_t i = 0; i < 2 * s->p->part_count; i++) {
    if (i > 0)
      text_string(s->out, signs[hidden_below(noise, 2)]);
    uint32_t factor = 1 + 2 * hidden_below(noise, 4);
    if (factor > 1)
      text_printf(s->out, "%u * ", factor);
    write_part(s, i % 2 ? second : first, i / 2, to);
  }
}

static void write_sums(const spelling *s, char first, char second, const char *second_array,
                       uint64_t *noise) {
  text_string(s->out, has_parts(s) ? "(" : "");
  for (uint32_t to = 0; to < s->p->part_count; to++) {
    text_string(s->out, to ? ", " : "");
    write_sum(s, first, second, to, noise);
    if (second_array)
      text_printf(s->out, " + 2 * %s %s", scalar_types[s->p->types[to]].name, second_array);
  }
  text_string(s->out, has_parts(s) ? ")" : "");
}

// A function of the element alone.
static void write_own(const spelling *s, char element, uint64_t *noise) {
  text_string(s->out, has_parts(s) ? "(" : "");
  for (uint32_t to = 0; to < s->p->part_count; to++) {
    text_printf(s->out, "%s%u * ", to ? ", " : "", 3 + 2 * hidden_below(noise, 4));
    write_part(s, element, to, to);
    text_printf(s->out, " + %u", 1 + hidden_below(noise, 9));
  }
  text_string(s->out, has_parts(s) ? ")" : "");
}

static const char *element_pattern(const spelling *s, char element) {
  return !has_parts(s) ? (element == 'x' ? "x" : "y") : element == 'x' ? "(x0, x1)" : "(y0, y1)";
}

// Components of x and y, each of itself (or of its partner, where these are exchanged) and of some
// of the other three.
static void write_supports(const spelling *s, uint64_t *noise) {
  bool exchanged[2] = {hidden_below(noise, 4) == 0, hidden_below(noise, 4) == 0};
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t to = i % 2;
    bool own_x = (i < 2) != exchanged[to];
    text_string(s->out, i == 2 ? "), (" : i % 2 ? ", " : "");
    write_part(s, own_x ? 'x' : 'y', to, to);
    for (uint32_t from = 0; from < 4; from++) {
      bool x = from < 2;
      if ((x == own_x && from % 2 == to) || hidden_below(noise, 3))
        continue;
      text_string(s->out, hidden_below(noise, 2) ? " + " : " - ");
      write_part(s, x ? 'x' : 'y', from % 2, to);
    }
  }
  text_string(s->out, ")]\n");
}

// The function of a pair: pair3 [x, y] = ...
static void define_pair(spelling *s, const hidden_op *op, uint32_t name) {
  text *out = s->out;
  uint64_t noise = op->noise;
  const char *x = element_pattern(s, 'x'), *y = element_pattern(s, 'y');
  switch (op->kind) {
  case PAIR_COMPARE:
    text_printf(out, "pair%u [x, y] = if x <= y then [x, y] else [y, x]\n", name);
    return;
  case PAIR_SWITCH:
    text_printf(out, "pair%u [(x, w), (y, _)] = if w > 100 then [y, x] else [x, y]\n", name);
    return;
  case PAIR_PAIRED_SWITCH:
    text_printf(out, "pair%u ([x, y], w) = if w > 100 then [y, x] else [x, y]\n", name);
    return;
  case PAIR_BITS:
    text_printf(out, "pair%u [(x, w), (y, _)] = if (w >> %u) & 1 == 1 then [y, x] else [x, y]\n",
                name, op->bit);
    return;
  case PAIR_CROSS:
    text_printf(out, "pair%u [(x0, x1), (y0, y1)] = [(", name);
    write_supports(s, &noise);
    return;
  case PAIR_NEUTRAL:
    if (hidden_below(&noise, 3)) {
      text_printf(out, "pair%u [x, y] = %s\n", name, hidden_below(&noise, 2) ? "[x, y]" : "[y, x]");
      return;
    }
    text_printf(out, "pair%u [%s, %s] = [", name, x, y);
    write_own(s, 'x', &noise);
    text_string(out, ", ");
    write_own(s, 'y', &noise);
    text_string(out, "]\n");
    return;
  case PAIR_WEIGHT:
    text_printf(out, "pair%u [(%s, w), (%s, v)] = [", name, x, y);
    break;
  case PAIR_PAIRED_WEIGHT:
    text_printf(out, "pair%u ([%s, %s], w) = [", name, x, y);
    break;
  default:
    text_printf(out, "pair%u [%s, %s] = [", name, x, y);
  }
  bool weighted = op->kind == PAIR_WEIGHT || op->kind == PAIR_PAIRED_WEIGHT;
  if (op->kind == PAIR_ONE_SIDE)
    text_string(out, x);
  else
    write_sums(s, 'x', 'y', weighted ? "w" : NULL, &noise);
  text_string(out, ", ");
  if (op->kind == PAIR_CONSTANT)
    text_string(out, has_parts(s) ? "(7, 5)" : "7");
  else
    write_sums(s, 'y', 'x', weighted ? op->kind == PAIR_WEIGHT ? "v" : "w" : NULL, &noise);
  text_string(out, "]\n");
}

// ---- one op --------------------------------------------------------------------------------------

// A vector that is orthogonal to all of the space, of one bit if `unit`; 0: there is none.
static uint64_t orthogonal_mask(f2_space of, bool unit, uint64_t *noise) {
  f2_space free = f2_space_orthogonal(of);
  if (free.dimension == 0)
    return 0;
  uint64_t any = f2_space_element(free, 1 + hidden_random(noise) % f2_mask(free.dimension));
  uint64_t units = 0;
  for (int i = 0; i < of.n; i++)
    if (f2_space_has(free, f2_unit(i)))
      units |= f2_unit(i);
  if (!unit || !units)
    return any;
  return f2_deposit(units, f2_unit((int)hidden_below(noise, (uint32_t)f2_weight(units))));
}

// The direction, in the sub-arrays of `parm mask`.
static uint64_t sub_direction(uint64_t x, uint64_t mask, int n) {
  return f2_extract(f2_mask(n) & ~f2_unit(f2_lsb(mask)), x);
}

static void write_parm(const spelling *s, const char *g, uint64_t mask, int n, uint64_t *noise) {
  uint32_t open = 0;
  for (; n > 1; n--, open++) {
    uint64_t orthogonal = orthogonal_mask(f2_span(n, 1, &mask), s->p->units, noise);
    text_printf(s->out, "%sparm %" PRIu64 " ", open ? "(" : "", orthogonal);
    mask = sub_direction(mask, orthogonal, n);
  }
  text_printf(s->out, "%s", g);
  for (uint32_t i = 1; i < open; i++)
    text_string(s->out, ")");
}

// bmmc [1, 2, 4] 0
static void write_move(text *out, f2_affine move) {
  text_string(out, "bmmc [");
  for (int i = 0; i < move.a.rows; i++)
    text_printf(out, "%s%" PRIu64, i ? ", " : "", move.a.row[i]);
  text_printf(out, "] %" PRIu64, move.c);
}

static f2_affine random_move(const spelling *s, int n, uint64_t *noise) {
  f2_affine move = f2_affine_identity(n);
  for (int i = 0; i < 4 * n; i++) {
    int a = (int)hidden_below(noise, (uint32_t)n), b = (int)hidden_below(noise, (uint32_t)n);
    uint64_t row = move.a.row[a];
    if (s->p->units) {
      move.a.row[a] = move.a.row[b];
      move.a.row[b] = row;
    } else if (a != b) {
      move.a.row[a] ^= move.a.row[b];
    }
  }
  move.c = hidden_random(noise) & f2_mask(n);
  return move;
}

// All pairs of the direction, of the array `xs`.
static void write_column(const spelling *s, hidden_way way, const char *g, uint64_t mask, int n,
                         const char *xs, uint64_t *noise) {
  text *out = s->out;
  int high = f2_msb(mask);
  uint64_t rest = mask ^ f2_unit(high);
  if (n == 1) {
    text_printf(out, "%s %s", g, xs);
    return;
  }
  switch (way) {
  case HIDDEN_PARM:
    write_parm(s, g, mask, n, noise);
    text_printf(out, " %s", xs);
    return;
  case HIDDEN_SPLIT_JOIN:
    if (rest)
      break;
    if (high == 0)
      text_printf(out, "join (map %s (split 1 %s))", g, xs);
    else
      text_printf(
          out,
          "join (map (\\r -> join (transpose (map %s (transpose (split %d r))))) (split %d %s))", g,
          high, high + 1, xs);
    return;
  case HIDDEN_COMPREHENSION: {
    if (rest)
      break;
    int row = high > 2 ? high - 2 : 0;
    text_printf(out, "join (map (\\r -> join (listed %d %s (split %d r))) (split %d %s))",
                1 << (high - row), g, row, high + 1, xs);
    return;
  }
  case HIDDEN_TAKE_DROP:
    if (high == n - 1)
      text_printf(out, "halves %" PRIu64 " %s %s", rest, g, xs);
    else
      text_printf(out, "join (map (halves %" PRIu64 " %s) (split %d %s))", rest, g, high + 1, xs);
    return;
  case HIDDEN_MOVES: {
    f2_affine move = random_move(s, n, noise), back = move;
    f2_affine_inverse(move, &back);
    write_move(out, back);
    text_printf(out, " (column %" PRIu64 " %s (", f2_apply(move.a, mask), g);
    write_move(out, move);
    text_printf(out, " %s))", xs);
    return;
  }
  case HIDDEN_PARTNERS:
    text_printf(out, "%s %" PRIu64 " %s %s", hidden_below(noise, 2) ? "partnered" : "crossed", mask,
                g, xs);
    return;
  default:
    break;
  }
  text_printf(out, "column %" PRIu64 " %s %s", mask, g, xs);
}

static void write_parts(const spelling *s, const hidden_op *op, uint32_t name, int n) {
  uint64_t noise = op->noise + 1;
  uint32_t form = hidden_below(&noise, 3);
  const char *to = scalar_types[s->p->types[1]].name;
  text_printf(s->out, "step%u xs = ", name);
  if (form == 2) {  // the second component alone, of both
    text_printf(s->out,
                "zip (map fst xs) (column %" PRIu64
                " (\\[(a, b), (c, d)] -> [b + 3 * %s c, d - %s a]) xs)\n",
                op->mask, to, to);
    return;
  }
  text_string(s->out, "zip (");
  write_column(s, op->spelling, "(\\[x, y] -> [x + 3 * y, x - y])", op->mask, n, "(map fst xs)",
               &noise);
  text_string(s->out, ") (");
  if (form == 0)
    write_column(s, op->spelling, "(\\[x, y] -> [x - y, 5 * x + y])", op->other, n, "(map snd xs)",
                 &noise);
  else
    text_printf(s->out, "map (\\(a, b) -> b + 3 * %s a) xs", to);
  text_string(s->out, ")\n");
}

// A column of the part of 2^n elements, which is its format at that number.
static void write_part_column(const spelling *s, const hidden_op *op, uint64_t mask, const char *g,
                              int n, const char *format, uint64_t *noise) {
  text part = {0};
  text_printf(&part, format, f2_unit(n));
  write_column(s, op->spelling, g, mask, n, text_content(&part), noise);
  text_free(&part);
}

// step3 xs = ..., in an array of 2^n elements; with a second array: step3 ws xs.
static void define_step(spelling *s, const hidden_op *op, uint32_t name, int n) {
  text *out = s->out;
  char g[40], ys[] = "ys", xs[] = "xs";
  uint64_t noise = op->noise + 1;
  snprintf(g, sizeof g, "pair%u", name);
  if (op->kind != PAIR_PARTS && op->kind != PAIR_RAGGED)
    define_pair(s, op, name);
  switch (op->kind) {
  case PAIR_PARTS:
    write_parts(s, op, name, n);
    return;
  case PAIR_RAGGED:
    text_printf(out, "step%u xs = concat (map (\\%s -> ", name, element_pattern(s, 'x'));
    write_own(s, 'x', &noise);
    text_printf(out, ") (take %" PRIu64 " xs)) (drop %" PRIu64 " xs)\n", op->other, op->other);
    return;
  case PAIR_HALVES:
    text_printf(out, "step%u xs = concat (", name);
    write_part_column(s, op, op->mask, g, n - 1, "(take %" PRIu64 " xs)", &noise);
    text_string(out, ") (");
    write_part_column(s, op, op->other, g, n - 1, "(drop %" PRIu64 " xs)", &noise);
    text_string(out, ")\n");
    return;
  case PAIR_QUARTERS:
    text_printf(out, "step%u xs = concat (", name);
    write_part_column(s, op, op->mask, g, n - 2, "(take %" PRIu64 " xs)", &noise);
    text_printf(out, ") (join (map (\\q -> ");
    write_part_column(s, op, op->other, g, n - 2, "q", &noise);
    text_printf(out, ") (split %d (drop %" PRIu64 " xs))))\n", n - 2, f2_unit(n - 2));
    return;
  case PAIR_BY_INDEX:
    text_printf(out,
                "choice%u b [x, y] = let [x', y'] = pair%u [x, y] in [if b == 1 then x' else x, if "
                "b == 1 then y' else y]\n",
                name, name);
    text_printf(out, "step%u xs = parmi %" PRIu64 " (\\b ys -> ", name, op->other);
    snprintf(g, sizeof g, "(choice%u b)", name);
    write_column(s, op->spelling, g, sub_direction(op->mask, op->other, n), n - 1, ys, &noise);
    text_printf(out, ") xs\n");
    return;
  case PAIR_PAIRED_SWITCH:
  case PAIR_PAIRED_WEIGHT: {
    int high = f2_msb(op->mask);
    if (high == 0)
      text_printf(out, "step%u ws xs = join (map %s (zip (split 1 xs) ws))\n", name, g);
    else
      text_printf(out,
                  "step%u ws xs = join (map rows (zip (split %d xs) (split %d ws)))\n"
                  "  where rows (r, vs) = "
                  "join (transpose (map %s (zip (transpose (split %d r)) vs)))\n",
                  name, high + 1, high, g, high);
    return;
  }
  case PAIR_WEIGHT:
  case PAIR_SWITCH:
  case PAIR_BITS:
    text_printf(out, "step%u ws xs = ", name);
    write_column(s, op->spelling, g, op->mask, n, "(zip xs ws)", &noise);
    break;
  default:
    text_printf(out, "step%u xs = ", name);
    write_column(s, op->spelling, g, op->mask, n, xs, &noise);
  }
  text_string(out, "\n");
}

// ---- sequences -----------------------------------------------------------------------------------

static void write_sequence(spelling *s, text *calls, const sequence *all, uint32_t *second);

static bool may_be_grouped(const hidden_op *op) {
  return op->kind == PAIR_FULL || op->kind == PAIR_COMPARE || op->kind == PAIR_ONE_SIDE ||
         op->kind == PAIR_NEUTRAL || op->kind == PAIR_CROSS || op->kind == PAIR_CONSTANT;
}

static f2_space span_of(const sequence *q, uint32_t from, uint32_t to) {
  f2_space span = f2_space_zero(q->n);
  for (uint32_t i = from; i < to; i++)
    f2_space_insert(&span, q->ops[i].mask);
  return span;
}

// The most ops from number `from` on that leave an index bit free.
static uint32_t group_end(const sequence *q, uint32_t from) {
  f2_space span = f2_space_zero(q->n);
  uint32_t end = from;
  while (end < q->count && may_be_grouped(&q->ops[end])) {
    f2_space_insert(&span, q->ops[end].mask);
    if (span.dimension == q->n)
      break;
    end++;
  }
  return end;
}

// The ops [from, to) in sub-arrays: a function group5 of the array.
static void define_group(spelling *s, const sequence *q, uint32_t from, uint32_t to,
                         uint32_t name) {
  sequence inner = {.count = to - from, .n = q->n - 1};
  uint64_t noise = q->ops[from].noise + 2, all = 0;
  f2_space span = span_of(q, from, to);
  for (uint32_t i = from; i < to; i++)
    all |= q->ops[i].mask;
  enum { PARM, HALVES, LOW, HIGH } form = (int)hidden_below(&noise, 4);
  int low = f2_lsb(all), high = f2_msb(all);
  if ((form == HALVES && high == q->n - 1) || (form == LOW && high == q->n - 1) ||
      (form == HIGH && low == 0))
    form = PARM;
  uint64_t mask = orthogonal_mask(span, s->p->units, &noise);
  if (form == LOW)
    inner.n = high + 1;
  if (form == HIGH)
    inner.n = q->n - low;
  for (uint32_t i = from; i < to; i++) {
    inner.ops[i - from] = q->ops[i];
    uint64_t *x = &inner.ops[i - from].mask;
    *x = form == PARM ? sub_direction(*x, mask, q->n) : form == HIGH ? *x >> low : *x;
  }
  text calls = {0};
  uint32_t none = 0;
  write_sequence(s, &calls, &inner, &none);
  text_printf(s->out, "inner%u xs = xs%s\n", name, text_content(&calls));
  text_free(&calls);
  text_printf(s->out, "group%u xs = ", name);
  uint64_t half = f2_unit(q->n - 1);
  switch (form) {
  case PARM:
    text_printf(s->out, "parm %" PRIu64 " inner%u xs\n", mask, name);
    break;
  case HALVES:
    text_printf(s->out, "concat (inner%u (take %" PRIu64 " xs)) (inner%u (drop %" PRIu64 " xs))\n",
                name, half, name, half);
    break;
  case LOW:
    text_printf(s->out, "join (map inner%u (split %d xs))\n", name, inner.n);
    break;
  case HIGH:
    text_printf(s->out, "join (transpose (map inner%u (transpose (split %d xs))))\n", name, low);
  }
}

// Defines the ops, and adds " |> step0 |> step1" to `calls`. *second: how many second arrays there
// were.
static void write_sequence(spelling *s, text *calls, const sequence *q, uint32_t *second) {
  for (uint32_t i = 0, end; i < q->count; i = end) {
    const hidden_op *op = &q->ops[i];
    uint64_t noise = op->noise + 3;
    uint32_t name = s->names++, most = s->p->grouped && q->n > 1 ? group_end(q, i) : i;
    end = i + 1;
    if (most > i + 1 && hidden_below(&noise, 4)) {
      end = i + 2 + hidden_below(&noise, most - i - 1);
      define_group(s, q, i, end, name);
      text_printf(calls, "\n  |> group%u", name);
      continue;
    }
    define_step(s, op, name, q->n);
    if (op->kind == PAIR_BITS)
      text_printf(calls, "\n  |> step%u bits", name);
    else if (hidden_second_type(op) != SCALAR_COUNT)
      text_printf(calls, "\n  |> step%u w%u", name, (*second)++);
    else
      text_printf(calls, "\n  |> step%u", name);
  }
}

// ---- programs ------------------------------------------------------------------------------------

static const char *const helpers[] = {
    "partnered ",
    "partnered m f xs = map (\\(x, y) -> (f [x, y])[0]) (zip xs (flip_bits m xs))\n",
    "crossed ",
    "crossed m f xs = map (\\(x, y) -> (f [x, y])[0]) "
    "(column m (\\[x, y] -> [(x, y), (y, x)]) xs)\n",
    "halves ",
    "halves c f xs = concat (zip_with (\\x y -> (f [x, y])[0]) low high)\n"
    "                       (flipped c (zip_with (\\x y -> (f [x, y])[1]) low high))\n"
    "  where half = length xs / 2\n"
    "        low = take half xs\n"
    "        high = flipped c (drop half xs)\n"
    "flipped c xs = if c == 0 then xs else flip_bits c xs\n",
    "listed ",
    "listed h f r = [if i & h == 0 then zip_with (\\x y -> (f [x, y])[0]) (r[i]) (r[i + h])\n"
    "                else zip_with (\\x y -> (f [x, y])[1]) (r[i - h]) (r[i]) | i <- 0..length r - "
    "1]\n",
};

static void write_type(text *out, const hidden_program *p, bool rows) {
  if (rows && p->rows)
    text_printf(out, "[%u]", p->rows);
  text_printf(out, "[%" PRIu64 "]", f2_unit(p->n));
  if (p->part_count > 1)
    text_printf(out, "(%s, %s)", scalar_types[p->types[0]].name, scalar_types[p->types[1]].name);
  else
    text_string(out, scalar_types[p->types[0]].name);
}

static bool has_bits(const hidden_program *p) {
  for (uint32_t i = 0; i < p->op_count; i++)
    if (p->ops[i].kind == PAIR_BITS)
      return true;
  return false;
}

// "[512]u32 -> [512]u8", or with blanks between.
static void write_arguments(text *out, const hidden_program *p, const char *between) {
  write_type(out, p, true);
  if (has_bits(p))
    text_printf(out, "%s[%" PRIu64 "]u32", between, f2_unit(p->n));
  for (uint32_t i = 0; i < p->op_count; i++) {
    scalar_type second = hidden_second_type(&p->ops[i]);
    if (second != SCALAR_COUNT && p->ops[i].kind != PAIR_BITS)
      text_printf(out, "%s[%" PRIu64 "]%s", between, f2_unit(p->n - hidden_is_paired(&p->ops[i])),
                  scalar_types[second].name);
  }
}

void hidden_types(text *out, const hidden_program *p) { write_arguments(out, p, " "); }

// Neighbours on the argument: behind its ends those of the other end, or zeros.
static void define_window(spelling *s) {
  uint64_t noise = s->p->noise;
  uint32_t k = 1 + hidden_below(&noise, 3), before = 1;
  if (hidden_below(&noise, 2))  // as of a matrix
    before = k = 1u << (s->p->n / 2);
  bool three = s->p->window > 2, around = hidden_below(&noise, 2);
  const char *zero = has_parts(s) ? "(0, 0)" : "0";
  const char *pattern = !three         ? element_pattern(s, 'y')
                        : has_parts(s) ? "((y0, y1), (z0, z1))"
                                       : "(y, z)";
  text *out = s->out;
  if (s->p->brick) {
    hidden_op op = {.kind = PAIR_FULL, .noise = noise};
    int row = (int)hidden_below(&noise, 3);
    define_pair(s, &op, 999);
    text_printf(
        out,
        "window xs = concat (take %u xs) (concat pairs (drop (length xs - %u) xs))\n"
        "  where pairs = join (map (halves 0 pair999) (split %d (drop %u (take (length xs - %u) "
        "xs))))\n",
        1u << row, 1u << row, row + 1, 1u << row, 1u << row);
    return;
  }
  text_printf(out, "window xs = map g (zip xs %s)\n", three ? "(zip next before)" : "next");
  text_printf(out, "  where g (%s, %s) = ", element_pattern(s, 'x'), pattern);
  write_sums(s, 'x', 'y', NULL, &noise);
  if (three)
    text_string(out, has_parts(s) ? " |> \\(a, b) -> (a - z0, b + 3 * z1)" : " - 3 * z");
  if (around)
    text_printf(out, "\n        next = concat (drop %u xs) (take %u xs)\n", k, k);
  else
    text_printf(out, "\n        next = concat (drop %u xs) (replicate %u %s)\n", k, k, zero);
  if (three && around)
    text_printf(out,
                "        before = concat (drop (length xs - %u) xs) (take (length xs - %u) xs)\n",
                before, before);
  else if (three)
    text_printf(out, "        before = concat (replicate %u %s) (take (length xs - %u) xs)\n",
                before, zero, before);
}

static void write_network(spelling *s, text *out) {
  const hidden_program *p = s->p;
  text calls = {0};
  uint32_t second = 0;
  sequence all = {.count = p->op_count, .n = p->n};
  memcpy(all.ops, p->ops, sizeof all.ops);
  write_sequence(s, &calls, &all, &second);
  if (p->window > 1)
    define_window(s);
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i += 2)
    if (s->out->data && strstr(s->out->data, helpers[i]))
      text_string(out, helpers[i + 1]);
  text_string(out, text_content(s->out));
  text_string(out, "main : ");
  write_arguments(out, p, " -> ");
  text_string(out, " -> ");
  write_type(out, p, true);
  text_printf(out, "\nmain %s%s", p->rows ? "xss" : "xs", has_bits(p) ? " bits" : "");
  for (uint32_t i = 0; i < second; i++)
    text_printf(out, " w%u", i);
  text_string(out, p->rows ? " = map (\\xs -> xs" : " = xs");
  f2_affine same = f2_affine_identity(p->n);
  if (p->window > 1)
    text_string(out, "\n  |> window");
  if (!f2_affine_equal(p->first, same)) {
    text_string(out, "\n  |> ");
    write_move(out, p->first);
  }
  text_string(out, text_content(&calls));
  if (!f2_affine_equal(p->last, same)) {
    text_string(out, "\n  |> ");
    write_move(out, p->last);
  }
  text_string(out, p->rows ? ") xss\n" : "\n");
  text_free(&calls);
}

// ---- trees ---------------------------------------------------------------------------------------

static void write_tree(spelling *s, text *out) {
  const hidden_program *p = s->p;
  hidden_op op = {.kind = PAIR_FULL, .noise = p->noise};
  define_pair(s, &op, 0);
  text_string(out, text_content(s->out));
  const char *pairs = p->by_halves ? "transpose (split (log2 (length xs) - 1) xs)" : "split 1 xs";
  const char *joined = p->by_halves ? "join (transpose (map pair0 (zipped low high)))"
                                    : "join (map pair0 (zipped low high))";
  switch (p->tree) {
  case TREE_HAAR:
  case TREE_IN_PLACE:
    text_printf(out, "tree 0 xs = xs\ntree k xs = ");
    text_string(out, p->tree == TREE_HAAR ? "concat (tree (k - 1) low) high\n"
                     : p->by_halves       ? "concat (tree (k - 1) low) high\n"
                                          : "join (transpose [tree (k - 1) low, high])\n");
    break;
  case TREE_REDUCE:
    text_string(out, "tree 0 xs = xs\ntree k xs = tree (k - 1) low\n");
    break;
  default:
    text_printf(out,
                "zipped a b = map (\\(x, y) -> [x, y]) (zip a b)\n"
                "tree 0 xs = xs\ntree k xs = %s\n"
                "  where half = length xs / 2\n        low = tree (k - 1) (take half xs)\n"
                "        high = drop half xs\n",
                joined);
  }
  if (p->tree != TREE_INVERSE)
    text_printf(out,
                "  where pairs = %s\n        low = map (\\q -> (pair0 q)[0]) pairs\n"
                "        high = map (\\q -> (pair0 q)[1]) pairs\n",
                pairs);
  text_string(out, "main : ");
  write_type(out, p, false);
  text_string(out, " -> ");
  hidden_program result = *p;
  result.n -= p->tree == TREE_REDUCE ? p->levels : 0;
  write_type(out, &result, false);
  text_printf(out, "\nmain xs = tree %d xs\n", p->levels);
}

void hidden_text(text *out, const hidden_program *p) {
  text definitions = {0};
  spelling s = {p, &definitions, 0};
  if (p->tree == TREE_NONE)
    write_network(&s, out);
  else
    write_tree(&s, out);
  text_free(&definitions);
}
