// A network's picture. See draw.h.
//
//   column 0      column 1        a column is as wide as its slots; links of one slot are
//   slot 0  1     slot 0          above each other
#include "runtime/draw/draw.h"

#include "core/svg.h"

// Where each column begins, in slots and gaps between columns; at [column_count] the end.
static uint32_t *find_columns(arena *a, const draw_network *n) {
  uint32_t *starts = NEW_ARRAY(a, uint32_t, n->column_count + 1), at = 0;
  for (uint32_t i = 0; i < n->column_count; i++) {
    starts[i] = at;
    at += n->slots[i] + 1;
  }
  starts[n->column_count] = at;
  return starts;
}

static size_t longest_of(const char *const *words, uint32_t count) {
  size_t longest = 0;
  for (uint32_t i = 0; i < count; i++)
    longest = strlen(words[i]) > longest ? strlen(words[i]) : longest;
  return longest;
}

// ---- on a terminal -----------------------------------------------------------------------------

// One character each, from left to right: two for a slot.
static void draw_cells(const draw_network *n, const uint32_t *starts, const char **cells,
                       size_t width) {
  static const char *const dots[] = {
      [DRAW_ORDER] = "●", [DRAW_REVERSE] = "●", [DRAW_GROUP] = "○", [DRAW_MAP] = "□"};
  for (size_t i = 0; i < n->line_count * width; i++)
    cells[i] = "─";
  for (size_t i = 0; i < n->links.count; i++) {
    const draw_link *link = &n->links.items[i];
    size_t x = 2 * (starts[link->column] + link->slot) + 1;
    for (uint32_t y = link->lines[0]; y < link->lines[link->count - 1]; y++)
      cells[y * width + x] = "┼";
    for (uint32_t k = 0; k < link->count; k++)
      cells[link->lines[k] * width + x] = dots[link->kind];
    if (link->kind == DRAW_REVERSE)
      cells[link->lines[0] * width + x] = "▲";
  }
}

static void print_network(text *to, arena *a, const draw_network *n, const uint32_t *starts) {
  size_t width = 2 * starts[n->column_count];
  int margin = (int)longest_of(n->begins, n->line_count);
  const char **cells = NEW_ARRAY(a, const char *, n->line_count *width + 1);
  draw_cells(n, starts, cells, width);
  for (uint32_t y = 0; y < n->line_count; y++) {
    text_printf(to, "%*s ", margin, n->begins[y]);
    for (size_t x = 0; x < width; x++)
      text_string(to, cells[y * width + x]);
    text_printf(to, "%s%s\n", *n->ends[y] ? " " : "", n->ends[y]);
  }
}

// ---- SVG ---------------------------------------------------------------------------------------

enum { LINE = 18, SLOT = 12, LETTER = 8, MARGIN = 8 };  // pixels

static void draw_link_svg(text *to, const draw_link *link, double x) {
  double top = MARGIN + LINE * (link->lines[0] + 0.5),
         bottom = MARGIN + LINE * (link->lines[link->count - 1] + 0.5);
  bool reverse = link->kind == DRAW_REVERSE;
  const char *colour = reverse ? svg_colour(1) : svg_colour(0);
  if (link->kind == DRAW_MAP) {
    svg_box(to, x - 3, top - 3, 6, 6, svg_colour(2), "");
    return;
  }
  svg_line(to, x, top, 0, bottom - top, colour, link->kind == DRAW_GROUP ? "3 2" : "");
  for (uint32_t k = 0; k < link->count; k++)
    if (!reverse || k)
      svg_dot(to, x, MARGIN + LINE * (link->lines[k] + 0.5), 3, colour);
  if (reverse)
    svg_arrow_up(to, x, top, colour);
}

static void draw_network_svg(draw_picture *to, const draw_network *n, const uint32_t *starts) {
  double left = MARGIN + LETTER * (double)longest_of(n->begins, n->line_count) + 4,
         right = left + SLOT * (starts[n->column_count] + 1);
  for (uint32_t y = 0; y < n->line_count; y++) {
    double at = MARGIN + LINE * (y + 0.5);
    svg_line(&to->body, left, at, right - left, 0, "currentColor", "");
    svg_words(&to->body, left - 4, at + 4, SVG_END, 0, n->begins[y]);
    svg_words(&to->body, right + 4, at + 4, SVG_START, 0, n->ends[y]);
  }
  for (size_t i = 0; i < n->links.count; i++)
    draw_link_svg(&to->body, &n->links.items[i],
                  left + SLOT * (starts[n->links.items[i].column] + n->links.items[i].slot + 1));
  to->width = (int)(right + 4 + LETTER * (double)longest_of(n->ends, n->line_count) + MARGIN);
  to->height = 2 * MARGIN + LINE * (int)n->line_count;
}

void draw_show_network(draw_picture *to, arena *a, const draw_network *n) {
  const uint32_t *starts = find_columns(a, n);
  if (to->svg)
    draw_network_svg(to, n, starts);
  else
    print_network(&to->body, a, n, starts);
}
