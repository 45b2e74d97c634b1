// Passes that overlap: the second begins while the first goes on. Where several GPUs share the
// blocks of passes, the first may wait for links and the second for memory.
//
// Each GPU executes its blocks of both in 2^k TURNS. A turn of the second reads what one turn of
// the first, on all GPUs, has written. So turns are numbered by forms of the addresses between the
// two, which the tiles of neither change:
//
//   pass 0 stores element x at A x ^ c, tile V     form f of addresses: f A V = 0, so f A numbers
//   pass 1 loads element y from B y ^ d, tile W    blocks of pass 0; f B W = 0, so f B those of pass 1
//
//   turn t of pass 0 are the blocks with f A x = t, turn t ^ f(c ^ d) of pass 1 those that read them
//
// The blocks of a pass get another basis, in which the forms are the bits of a block's number below
// those that number GPUs, so that a turn is a range of blocks.
#include "fusion/plan/planning.h"

// The store of the first, and the load of the second, of one array; as affine maps of their
// indices.
typedef struct passage {
  f2_affine store, load;
} passage;

static bool map_of(const plan *p, const plan_pass *pass, const plan_move *m, f2_affine *out) {
  return m->map.loop_count == 0 && m->map.offset == 0 &&
         net_map_bits(&m->map, plan_stage_of(p, pass)->n, (int)m->map.row_count, out);
}

static uint32_t block_bits(const plan *p, const plan_pass *pass) {
  return (uint32_t)(plan_stage_of(p, pass)->n - pass->tile.dimension);
}

// Whether all of its blocks are executed, each for itself.
static bool is_plain(const plan *p, const plan_pass *pass) {
  const net_stage *s = plan_stage_of(p, pass);
  return !s->routine && !s->loop_count && !pass->access_count && !pass->keys_for &&
         plan_live_blocks(p, pass) == f2_unit((int)block_bits(p, pass));
}

// What passes from the first to the second. False: it is not known, or the second writes what the
// first touches.
typedef VEC(passage) passages;
static bool find_passages(arena *a, const plan *p, const plan_pass *first, const plan_pass *second,
                          passages *out) {
  bool good = true;
  for (uint32_t i = 0; i < second->store_count; i++)
    good = good && !plan_pass_touches(first, second->stores[i].array);
  for (uint32_t i = 0; i < second->load_count && good; i++)
    for (uint32_t k = 0; k < first->store_count && good; k++) {
      passage between;
      net_id stored = first->stores[k].array, loaded = second->loads[i].array;
      if (stored != loaded)
        continue;
      good = map_of(p, first, &first->stores[k], &between.store) &&
             map_of(p, second, &second->loads[i], &between.load);
      vec_push(a, out, between);
    }
  return good && out->count;
}

// The form of an index that a form of its address is, without its constant.
static uint64_t pulled_back(f2_matrix m, uint64_t form) { return f2_combine(m.rows, m.row, form); }

static uint64_t on_blocks(const plan *p, const plan_pass *pass, uint64_t form) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < block_bits(p, pass); i++)
    bits |= (uint64_t)f2_dot(form, pass->blocks[i]) << i;
  return bits;
}

// Whether the form numbers the same turns for each passage.
static bool is_the_same(const passages *all, uint64_t form) {
  const passage *one = &all->items[0];
  bool same = true;
  for (size_t i = 1; i < all->count; i++) {
    const passage *b = &all->items[i];
    same = same && b->store.a.rows == one->store.a.rows && b->load.a.rows == one->load.a.rows &&
           pulled_back(b->store.a, form) == pulled_back(one->store.a, form) &&
           pulled_back(b->load.a, form) == pulled_back(one->load.a, form) &&
           f2_dot(form, b->store.c ^ one->store.c) == 0 &&
           f2_dot(form, b->load.c ^ one->load.c) == 0;
  }
  return same;
}

int plan_overlap_bits(arena *a, const plan *p, uint32_t pass, uint32_t next, int parts,
                      plan_overlap *out) {
  const plan_pass *first = &p->passes.items[pass], *second = &p->passes.items[next];
  passages all = {0};
  f2_echelon firsts = {0}, seconds = {0};
  *out = (plan_overlap){0};
  if (next >= p->passes.count || !is_plain(p, first) || !is_plain(p, second) ||
      !find_passages(a, p, first, second, &all) ||
      all.items[0].store.a.rows != all.items[0].load.a.rows)
    return 0;
  int m = (int)block_bits(p, first), n = (int)block_bits(p, second);
  if (m < parts || n < parts)
    return 0;
  for (int i = 1; i <= parts; i++) {
    f2_echelon_insert(&firsts, f2_unit(m - i), 0, NULL);
    f2_echelon_insert(&seconds, f2_unit(n - i), 0, NULL);
  }
  const passage *one = &all.items[0];
  f2_space forms =
      f2_space_intersection(f2_space_orthogonal(f2_space_image(one->store.a, first->tile)),
                            f2_space_orthogonal(f2_space_image(one->load.a, second->tile)));
  for (int i = 0; i < forms.dimension && out->bits < PLAN_OVERLAP_BITS; i++) {
    uint64_t form = forms.basis[i], tag = 0;
    uint64_t x = on_blocks(p, first, pulled_back(one->store.a, form));
    uint64_t y = on_blocks(p, second, pulled_back(one->load.a, form));
    bool stored = f2_dot(form, one->store.c), loaded = f2_dot(form, one->load.c);
    if (!is_the_same(&all, form) || !f2_echelon_reduce(&firsts, x, &tag) ||
        !f2_echelon_reduce(&seconds, y, &tag))
      continue;
    f2_echelon_insert(&firsts, x, 0, NULL);
    f2_echelon_insert(&seconds, y, 0, NULL);
    out->flip |= (uint32_t)(stored ^ loaded) << out->bits;
    out->forms[out->bits] = form;
    out->first[out->bits] = x;
    out->second[out->bits++] = y;
  }
  return out->bits;
}

// Of m bits of a number of a block, the highest `kept` stay; the forms are those from bit `at` on.
// Passes that had its code have their own.
static void renumber(arena *a, plan *p, uint32_t number, int kept, int at, int count,
                     const uint64_t *forms) {
  plan_pass *pass = &p->passes.items[number];
  int m = (int)block_bits(p, pass);
  f2_matrix rows = f2_zero(m, m), inverse;
  f2_echelon known = {0};
  uint64_t *blocks = NEW_ARRAY(a, uint64_t, m + 1);
  for (int i = m - kept; i < m; i++)
    rows.row[i] = f2_unit(i);
  for (int i = 0; i < count; i++)
    rows.row[at + i] = forms[i];
  for (int i = 0; i < m; i++)
    f2_echelon_insert(&known, rows.row[i], 0, NULL);
  for (int i = 0, next = 0; i < m; i++) {
    if (!f2_echelon_insert(&known, f2_unit(i), 0, NULL))
      continue;
    while (rows.row[next])
      next++;
    rows.row[next] = f2_unit(i);
  }
  ensure(f2_inverse(rows, &inverse));
  for (int i = 0; i < m; i++)
    blocks[i] = f2_combine(m, pass->blocks, f2_column(inverse, i));
  pass->blocks = blocks;
  pass->repeats = 0;
  for (size_t i = number + 1; i < p->passes.count; i++)
    if (p->passes.items[i].repeats == number + 1)
      p->passes.items[i].repeats = 0;
}

void plan_overlap_passes(arena *a, plan *p, uint32_t pass, uint32_t next, int parts,
                         const plan_overlap *o, int bits) {
  plan_pass *first = &p->passes.items[pass], *second = &p->passes.items[next];
  int m = (int)block_bits(p, first), n = (int)block_bits(p, second);
  renumber(a, p, pass, parts, m - parts - bits, bits, o->first);
  renumber(a, p, next, parts, n - parts - bits, bits, o->second);
  first->turn_bits = (uint32_t)bits;
  second->turn_flip = o->flip & (uint32_t)f2_mask(bits);
}

// The forms of a block's number that decide on which GPUs its elements are, but for the `kept`
// highest bits.
static int find_places(const plan *p, const plan_pass *pass, int parts, int kept, uint64_t *forms) {
  int m = (int)block_bits(p, pass), count = 0;
  f2_echelon known = {0};
  for (int i = m - kept; i < m; i++)
    f2_echelon_insert(&known, f2_unit(i), 0, NULL);
  for (uint32_t k = 0; k < pass->load_count + pass->store_count; k++) {
    const plan_move *move =
        k < pass->store_count ? &pass->stores[k] : &pass->loads[k - pass->store_count];
    f2_affine map;
    if (!map_of(p, pass, move, &map))
      continue;
    for (int i = 0; i < parts && i < map.a.rows && count < m - kept; i++) {
      forms[count] = on_blocks(p, pass, map.a.row[map.a.rows - 1 - i]);
      count += f2_echelon_insert(&known, forms[count], 0, NULL);
    }
  }
  return count;
}

void plan_alternate_blocks(arena *a, plan *p, uint32_t pass, int parts) {
  plan_pass *own = &p->passes.items[pass];
  int m = (int)block_bits(p, own), turns = (int)own->turn_bits;
  if (pass > 0 && p->passes.items[pass - 1].turn_bits)
    turns = (int)p->passes.items[pass - 1].turn_bits;
  if (!is_plain(p, own) || m <= parts + turns)
    return;
  uint64_t *forms = NEW_ARRAY(a, uint64_t, m + 1);
  int count = find_places(p, own, parts, parts + turns, forms);
  renumber(a, p, pass, parts + turns, 0, count, forms);
}
