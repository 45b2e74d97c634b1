// The table of pictures. See draw.h.
#include "runtime/draw/draw.h"

static const char *draw_network_of(draw_picture *to, arena *a, const pipeline *p) {
  draw_network network;
  const char *problem = draw_network_make(a, p->net, &network);
  if (!problem)
    draw_show_network(to, a, &network);
  return problem;
}

static const draw_row rows[] = {
    {"network", "a network", draw_network_of},
    {"matrix", "a permutation by a matrix", draw_matrix_of},
};

const draw_row *draw_at(size_t index) {
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

const draw_row *draw_named(const char *name) {
  for (size_t i = 0; draw_at(i); i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

const draw_row *draw_usual(const net *n) {
  for (size_t i = 0; i < n->stages.count; i++)
    if (n->stages.items[i].ops.count || n->stages.items[i].routine)
      return draw_named("network");
  return draw_named("matrix");
}
