// Subspaces of the index space: lines of arrays, directions and coordinates of ops. See planning.h.
#include "fusion/plan/planning.h"

bool map_matrix(const net_map *m, int n, f2_matrix *rows) {
  if (m->row_count > F2_MAX)
    return false;
  *rows = f2_zero((int)m->row_count, n);
  for (uint32_t i = 0; i < m->row_count; i++)
    rows->row[i] = m->rows[i].form.mask;
  return true;
}

f2_space line_space(const net_map *m, int n, uint32_t line_elements) {
  f2_space lines = f2_space_zero(n);
  f2_matrix rows;
  if (!map_matrix(m, n, &rows))
    return lines;
  for (uint32_t i = 0; i < m->row_count; i++) {
    uint64_t x;
    if ((uint64_t)m->rows[i].weight < line_elements && f2_solve(rows, f2_unit((int)i), &x))
      f2_space_insert(&lines, x);
  }
  return lines;
}

f2_space lines_in_share(const planning *p, const net_map *m, uint32_t line_elements) {
  f2_space lines = line_space(m, p->stage->n, line_elements);
  return p->stage->shares ? f2_space_intersection(lines, p->share) : lines;
}

f2_space lines_of_value(const planning *p, const net_map *m, net_id value) {
  return lines_in_share(p, m, p->target->line_bytes / width_of(p->stage, value));
}

f2_space part_space(const net_map *m, int n, uint32_t elements) {
  f2_space far = f2_space_zero(n);
  for (uint32_t i = 0; i < m->row_count; i++)
    if ((uint64_t)m->rows[i].weight >= elements)
      f2_space_insert(&far, m->rows[i].form.mask);
  return f2_space_orthogonal(far);
}

int missing_dimensions(f2_space tile, const net_map *m, uint32_t line_bytes, uint32_t bytes) {
  f2_space lines = line_space(m, tile.n, line_bytes / bytes);
  return f2_space_sum(tile, lines).dimension - tile.dimension;
}

f2_space coordinate_forms(const net_stage *s, const plan_pass *pass, uint32_t first, uint32_t end) {
  f2_space forms = f2_space_zero(s->n);
  for (uint32_t i = first; i < end; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    for (uint32_t k = 0; k < op->k; k++)
      f2_space_insert(&forms, op->coordinates[k].mask);
  }
  return forms;
}

f2_space op_directions(const net_stage *s, const plan_pass *pass, uint32_t i) {
  const net_op *op = &s->ops.items[pass->ops[i]];
  return f2_span(s->n, (int)op->k, op->directions);
}

f2_space plan_live_of_ops(const net_stage *s, const plan_pass *pass, uint32_t first, uint32_t end) {
  f2_space live = live_all(s->n);
  for (uint32_t i = first; i < end && (i == first || live.dimension); i++) {
    f2_space own = live_of_op(s, &s->ops.items[pass->ops[i]]);
    live = i == first ? own : live_hull(live, own);
  }
  return live;
}

f2_space plan_live_of_value(const planning *p, net_id value) {
  const net_value_uses *u = &p->uses.values[value];
  const net_op *op = u->maker == NET_NONE ? NULL : &p->stage->ops.items[u->maker];
  return op ? live_of_output(p->stage, op, &op->outputs[u->output]) : live_all(p->stage->n);
}

int plan_line_bits_of_value(const planning *p, net_id value) {
  return plan_are_few((uint32_t)plan_live_of_value(p, value).dimension) ? 0 : p->t;
}

void take_vectors(uint64_t *to, uint32_t *count, uint32_t most, int from_count,
                  const uint64_t *from, f2_space *held) {
  for (int i = 0; i < from_count && *count < most; i++)
    if (f2_space_insert(held, from[i]))
      to[(*count)++] = from[i];
}

bool vanishes_on(uint64_t form, uint32_t count, const uint64_t *vectors) {
  for (uint32_t i = 0; i < count; i++)
    if (f2_dot(form, vectors[i]))
      return false;
  return true;
}

vector_list vectors_of(f2_space space) {
  vector_list all = {.count = space.dimension};
  memcpy(all.items, space.basis, (size_t)space.dimension * sizeof *all.items);
  return all;
}

vector_list vectors_within(const vector_list *from, f2_space space) {
  vector_list found = {0};
  for (int i = 0; i < from->count; i++)
    if (f2_space_has(space, from->items[i]))
      found.items[found.count++] = from->items[i];
  return found;
}

vector_list projected_into(f2_space k, int along_count, const uint64_t *along, int count,
                           const uint64_t *from) {
  vector_list found = {0}, basis = vectors_of(k);
  f2_space all = k;
  uint64_t c;
  for (int i = 0; i < along_count; i++)
    if (f2_space_insert(&all, along[i]))
      basis.items[basis.count++] = along[i];
  for (int i = 0; i < count; i++)
    if (f2_coordinates(basis.count, basis.items, from[i], &c))
      found.items[found.count++] = f2_combine(k.dimension, k.basis, c);
  return found;
}
