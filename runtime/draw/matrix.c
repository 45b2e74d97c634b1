// A bit-matrix permutation and its picture. See draw.h.
//
//   bitrev on 2^3 elements     x0 x1 x2      the element at x goes to y = A x ^ c
//                           y0  ·  ·  1
//                           y1  ·  1  ·
//                           y2  1  ·  ·
#include "runtime/draw/draw.h"

#include "core/svg.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_TILED = 8 };  // index bits: of more, elements are not shown one by one

// Which tile each element is in: a pass of the plan that loads it and stores it.
typedef struct tiling {
  const net_stage *stage;
  const plan_pass *pass;
  f2_affine to_before, to_after;        // from an index of the stage to addresses
  uint64_t number[1 << MOST_TILED];     // of the tile, by the element's before
  uint64_t before_of[1 << MOST_TILED];  // by the element's after
  uint64_t count;
} tiling;

// ---- the map -----------------------------------------------------------------------------------

static bool is_whole(const net *n, net_id number, const net_stage *s) {
  return n->arrays.items[number].count == UINT64_C(1) << s->n;
}

// The affine maps from the stage's index to the element's place before and after it, the same for
// all arrays (the components of tuples). False: it is otherwise.
static bool find_maps(const net *n, const net_stage *s, f2_affine *before, f2_affine *after) {
  if (s->routine || s->ops.count || s->loop_count || s->loads.count != s->stores.count ||
      !s->loads.count)
    return false;
  const net_load *load = &s->loads.items[0];
  const net_store *store = &s->stores.items[0];
  for (size_t i = 0; i < s->loads.count; i++) {
    const net_load *l = &s->loads.items[i];
    const net_store *t = &s->stores.items[i];
    if (!net_map_equal(&l->map, &load->map) || !net_map_equal(&t->map, &store->map) ||
        !is_whole(n, l->array, s) || !is_whole(n, t->array, s) || t->live_count)
      return false;
  }
  return net_map_bits(&load->map, s->n, s->n, before) &&
         net_map_bits(&store->map, s->n, s->n, after);
}

// The components of tuples may have a stage each.
static bool find_permutation(const net *n, f2_affine *out) {
  for (size_t i = 0; i < n->stages.count; i++) {
    f2_affine before, after, back;
    if (!find_maps(n, &n->stages.items[i], &before, &after) || !f2_affine_inverse(before, &back))
      return false;
    f2_affine own = f2_affine_compose(after, back);
    if (i && !f2_affine_equal(own, *out))
      return false;
    *out = own;
  }
  return n->stages.count > 0;
}

// False: several passes do it, or there are too many elements.
static bool find_tiling(const plan *p, tiling *t) {
  const net_stage *s = t->stage = p->net->stages.items;
  if (p->passes.count != 1 || p->net->stages.count != 1 || s->n > MOST_TILED ||
      !find_maps(p->net, s, &t->to_before, &t->to_after))
    return false;
  t->pass = &p->passes.items[0];
  uint64_t first[1 << MOST_TILED];  // by tile: its least index
  for (uint64_t x = 0; x < UINT64_C(1) << s->n; x++) {
    uint64_t least = f2_space_reduce(t->pass->tile, x), tile = 0;
    while (tile < t->count && first[tile] != least)
      tile++;
    if (tile == t->count)
      first[t->count++] = least;
    uint64_t before = f2_affine_apply(t->to_before, x);
    t->number[before] = tile;
    t->before_of[f2_affine_apply(t->to_after, x)] = before;
  }
  return true;
}

// ---- on a terminal -----------------------------------------------------------------------------

static void print_matrix(text *to, f2_affine m) {
  text_printf(to, "%5s", "");
  for (int j = 0; j < m.a.columns; j++)
    text_printf(to, " %*s%d", j < 10 ? 2 : 1, "x", j);
  for (int i = 0; i < m.a.rows; i++) {
    text_printf(to, "\n%*s%d ", i < 10 ? 3 : 2, "y", i);
    for (int j = 0; j < m.a.columns; j++)
      text_printf(to, "   %s", f2_bit(m.a.row[i], j) ? "1" : "·");
    text_string(to, f2_bit(m.c, i) ? "   ^ 1" : "");
  }
  text_string(to, "\n");
}

// A letter for its tile.
static void print_element(text *to, const tiling *t, uint64_t before) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  text_printf(to, "%*s%c%" PRIu64,
              before < 10    ? 4
              : before < 100 ? 3
                             : 2,
              "", letters[t->number[before] % (sizeof letters - 1)], before);
}

static void print_tiling(text *to, const tiling *t) {
  uint64_t count = UINT64_C(1) << t->stage->n, across = UINT64_C(1) << (t->stage->n + 1) / 2;
  text_string(to, "\nelements and their tiles (a, b, ...), before and after\n");
  for (uint64_t row = 0; row < count; row += across) {
    for (uint64_t i = row; i < row + across; i++)
      print_element(to, t, i);
    text_string(to, "   ");
    for (uint64_t i = row; i < row + across; i++)
      print_element(to, t, t->before_of[i]);
    text_string(to, "\n");
  }
}

// ---- SVG ---------------------------------------------------------------------------------------

enum { CELL = 18, TILE_CELL = 26, MARGIN = 8, LABELS = 26 };  // pixels

static void draw_matrix(draw_picture *to, f2_affine m) {
  char word[16];
  double left = MARGIN + LABELS, top = MARGIN + LABELS;
  for (int j = 0; j < m.a.columns; j++) {
    snprintf(word, sizeof word, "x%d", j);
    svg_words(&to->body, left + CELL * (j + 0.5), top - 6, SVG_MIDDLE, 10, word);
  }
  for (int i = 0; i < m.a.rows; i++) {
    double y = top + CELL * i;
    snprintf(word, sizeof word, "y%d", i);
    svg_words(&to->body, left - 6, y + 13, SVG_END, 10, word);
    for (int j = 0; j < m.a.columns; j++) {
      svg_box(&to->body, left + CELL * j, y, CELL, CELL, "none", " stroke=\"#666\"");
      if (f2_bit(m.a.row[i], j))
        svg_box(&to->body, left + CELL * j + 2, y + 2, CELL - 4, CELL - 4, svg_colour(0), "");
    }
    if (f2_bit(m.c, i))
      svg_words(&to->body, left + CELL * m.a.columns + 6, y + 13, SVG_START, 10, "^ 1");
  }
  to->width = (int)left + CELL * m.a.columns + LABELS + MARGIN;
  to->height = (int)top + CELL * m.a.rows + MARGIN;
}

static void draw_element(text *to, const tiling *t, uint64_t before, double x, double y) {
  char word[24];
  snprintf(word, sizeof word, "%" PRIu64, before);
  svg_box(to, x + 1, y + 1, TILE_CELL - 2, TILE_CELL - 2, svg_colour((unsigned)t->number[before]),
          SVG_SHADE);
  svg_words(to, x + TILE_CELL / 2.0, y + 17, SVG_MIDDLE, 10, word);
}

static void draw_tiling(draw_picture *to, const tiling *t) {
  uint64_t count = UINT64_C(1) << t->stage->n, across = UINT64_C(1) << (t->stage->n + 1) / 2;
  double top = to->height + LABELS, left = MARGIN,
         second = left + TILE_CELL * (double)across + LABELS;
  svg_words(&to->body, left, top - 6, SVG_START, 0, "before, coloured by tile");
  svg_words(&to->body, second, top - 6, SVG_START, 0, "after");
  for (uint64_t i = 0; i < count; i++) {
    double x = TILE_CELL * (double)(i % across), y = top + TILE_CELL * (double)(i / across);
    draw_element(&to->body, t, i, left + x, y);
    draw_element(&to->body, t, t->before_of[i], second + x, y);
  }
  double right = second + TILE_CELL * (double)across + MARGIN;
  to->width = to->width > (int)right ? to->width : (int)right;
  to->height = (int)top + TILE_CELL * (int)(count / across) + MARGIN;
}

const char *draw_matrix_of(draw_picture *to, arena *a, const pipeline *p) {
  f2_affine m;
  tiling *t = NEW(a, tiling);
  if (!find_permutation(p->net, &m))
    return "it does not just move 2^n elements by one affine map of their index bits";
  if (to->svg)
    draw_matrix(to, m);
  else
    print_matrix(&to->body, m);
  bool tiled = find_tiling(p->plan, t);
  if (tiled && to->svg)
    draw_tiling(to, t);
  else if (tiled)
    print_tiling(&to->body, t);
  return NULL;
}
