// Strategies for stages that only move elements. See plan.h.
//
// The BMMC paper permutes by tiles of 2^t x 2^t elements, t = 5, spanned by unit vectors: the low
// bits of the source's address and the bits that become the low ones of the target's. A matrix for
// which there are such bits is TILED; any other is a product of two that are, A = (U R)(R L P). A
// tile may be any subspace, though, and then every matrix is one pass (docs/algebra.md, section 3):
//
//   n = 4, t = 1, A = rows 0110 0001 0010 1000: lines are read along 0001; A^-1 0001 = 0100 + ...
//
//     naive     tile <0001 0010 ...>    reads lines, writes elements
//     tile      A in two: tiles <0001 1000>, and <0001 0010> of the array in between
//     onepass   tile <0001 0110>        reads lines, writes lines
#include "fusion/plan/planning.h"

enum {
  TILE = 5,         // log2 of the warp, sections 4.1 and
  ITERATIONS = 3,   // 4.3 of the paper
  NAIVE_BLOCK = 10  // log2 of the threads of a block
};

static pass_tiles *tiles_of_one(planning *p, f2_space tile) {
  pass_tiles *t = NEW(p->memory, pass_tiles);
  *t = (pass_tiles){1, NEW(p->memory, run)};
  t->runs[0].space = tile;
  return tile.dimension <= plan_room(p, &t->runs[0]) ? t : NULL;
}

static void add_units(const planning *p, f2_space *tile, int dimension) {
  for (int i = 0; i < net_share_bits(p->stage) && tile->dimension < dimension; i++)
    f2_space_insert(tile, f2_unit(i));
}

pass_tiles *plan_one_pass(planning *p) {
  pass_tiles *t = plan_free_layouts(p);
  return t ? t : plan_in_index_layout(p);
}

pass_tiles *plan_load_lines(planning *p) {
  const net_stage *s = p->stage;
  f2_space tile = f2_space_zero(s->n);
  for (size_t i = 0; i < s->loads.count && i < 1; i++)
    tile = lines_in_share(p, &s->loads.items[i].map, UINT32_C(1) << TILE);
  add_units(p, &tile, NAIVE_BLOCK);
  return tiles_of_one(p, tile);
}

// One tile of the lines of all loads and stores, and of index bits for 2^iterations of them; NULL:
// the lines need more vectors than a tile of the paper has.
static pass_tiles *unit_tile(planning *p, int iterations) {
  const net_stage *s = p->stage;
  f2_space tile = f2_space_zero(s->n);
  for (size_t i = 0; i < s->loads.count; i++)
    tile = f2_space_sum(tile, lines_in_share(p, &s->loads.items[i].map, UINT32_C(1) << TILE));
  for (size_t i = 0; i < s->stores.count; i++)
    tile = f2_space_sum(tile, lines_in_share(p, &s->stores.items[i].map, UINT32_C(1) << TILE));
  if (tile.dimension > 2 * TILE)
    return NULL;
  add_units(p, &tile, tile.dimension + iterations);
  return tiles_of_one(p, tile);
}

pass_tiles *plan_unit_tile(planning *p) { return unit_tile(p, 0); }
pass_tiles *plan_unit_tiles(planning *p) { return unit_tile(p, ITERATIONS); }

// ---- two factors -----------------------------------------------------------------------------

// A map as offset, loops, and an affine map of the index bits to all n address bits.
static bool is_bijection(const net_map *m, int n, f2_affine *bits) {
  f2_affine inverse;
  net_map rows = {.row_count = m->row_count, .rows = m->rows};
  return net_map_bits(&rows, n, n, bits) && f2_affine_inverse(*bits, &inverse);
}

// The permutation of a store, from the source's address bits to the target's.
static bool permutation_of(const net_stage *s, const net_store *to, f2_affine *from,
                           f2_matrix *moved) {
  const net_load *l = net_load_of(s, to->value);
  f2_affine goal, inverse;
  if (!l || l->padding_start != UINT64_MAX || to->padding_start != UINT64_MAX || to->live_count ||
      !is_bijection(&l->map, s->n, from) || !is_bijection(&to->map, s->n, &goal) ||
      !f2_affine_inverse(*from, &inverse))
    return false;
  *moved = f2_multiply(goal.a, inverse.a);
  return true;
}

// Whether the stage only permutes, and whether by a matrix that is not tiled.
static bool must_factor(const net_stage *s, bool always) {
  bool found = false;
  uint64_t columns;
  for (size_t i = 0; i < s->stores.count; i++) {
    f2_affine from;
    f2_matrix moved;
    if (s->ops.count || !permutation_of(s, &s->stores.items[i], &from, &moved))
      return false;
    found |= always || !f2_tile_columns(moved, TILE < s->n ? TILE : s->n, &columns);
  }
  return found && s->n > 0;
}

// The stage as two: through arrays in which an element stands where the first factor puts it.
static void add_factors(arena *a, net *t, const net_stage *s) {
  net_stage first = net_stage_like(s), second = net_stage_like(s);
  for (size_t i = 0; i < s->stores.count; i++) {
    const net_store *to = &s->stores.items[i];
    f2_affine from, between = f2_affine_identity(s->n);
    f2_matrix moved, last;
    ensure(permutation_of(s, to, &from, &moved) && f2_factor_tiled(moved, &between.a, &last));
    net_map map = net_stage_map(a, s, f2_affine_compose(between, from));
    scalar_type type = s->values.items[to->value];
    net_id array = net_array_add(a, t, type, net_stage_elements(s), NET_TEMPORARY, 0);
    t->arrays.items[array].reason = NET_REASON_FACTORS;
    t->arrays.items[array].step = NET_NONE;
    net_move_add(a, &first, type, *net_load_of(s, to->value),
                 (net_store){.array = array, .map = map, .padding_start = UINT64_MAX});
    net_move_add(a, &second, type,
                 (net_load){.array = array, .map = map, .padding_start = UINT64_MAX}, *to);
  }
  vec_push(a, &t->stages, first);
  vec_push(a, &t->stages, second);
}

static void add_apart(arena *a, net *t, const net_stage *s) {
  for (size_t i = 0; i < s->stores.count; i++) {
    net_stage one = net_stage_like(s);
    const net_store *to = &s->stores.items[i];
    net_move_add(a, &one, s->values.items[to->value], *net_load_of(s, to->value), *to);
    vec_push(a, &t->stages, one);
  }
}

bool plan_rewrite_moves(const rewriting *r, net *to) {
  unsigned wanted = r->asked ? r->asked->stages : WHOLE;
  if (r->stage->routine || wanted == WHOLE ||
      !(wanted == APART ? r->stage->ops.count == 0 : must_factor(r->stage, wanted == FACTORED)))
    return false;
  (wanted == APART ? add_apart : add_factors)(r->memory, to, r->stage);
  return true;
}
