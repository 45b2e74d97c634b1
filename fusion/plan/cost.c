// The cost model: what a pass is predicted to take (docs/algebra.md, section 7). See planning.h.
#include "core/number.h"
#include "fusion/plan/planning.h"
#include <math.h>

// ---- routines --------------------------------------------------------------------------------

// What an algorithm costs: of the bytes of keys, of what goes with them, and of what it writes, how
// often each crosses memory; and operations for each key, but for sorts.
static const struct {
  double keys, payloads, results;
  double ops;
} rates[NET_ROUTINE_KINDS] = {
    [NET_SORT] = {.keys = 2, .payloads = 5},
    [NET_PLACES] = {.keys = 2, .results = 5},
    [NET_COUNT] = {.keys = 1, .results = 1, .ops = 8},
    [NET_PERMUTE] = {.keys = 1, .payloads = 5, .ops = 2},  // 4: what is written anywhere
    [NET_WRONG] = {.keys = 1, .results = 1, .ops = 8},
    [NET_TRANSPOSE] = {.keys = 1, .results = 1},
};
enum { DIGIT = 8 };

static double bytes_of(const plan *p, net_id array) {
  const net_array *a = p->arrays.items;
  return array == NET_NONE ? 0 : (double)a[array].count * (double)scalar_types[a[array].type].size;
}

uint32_t plan_routine_bits(const plan *p, const net_routine *r) {
  if (r->limit)
    return bits_below(r->limit);
  const scalar_row *keys = &scalar_types[p->arrays.items[r->pairs[0].from].type];
  return keys->kind == KIND_BOOL ? 1 : 8 * (uint32_t)keys->size;
}

uint32_t plan_routine_digits(const plan *p, const net_routine *r) {
  bool sorts = r->kind == NET_SORT || r->kind == NET_PLACES;
  return !sorts ? 1 : (plan_routine_bits(p, r) + DIGIT - 1) / DIGIT;
}

bool plan_routine_is_partition(const net_routine *r) {
  return (r->kind == NET_SORT || r->kind == NET_PLACES) && r->limit &&
         r->limit <= NET_MOST_COUNTED && r->pair_count <= PLAN_PARTITION_PAIRS;
}

bool plan_routine_has_shares(const net_routine *r, uint32_t gpus) {
  enum { LEAST = 1 << 20 };
  return (r->kind == NET_SORT || r->kind == NET_PLACES) && r->rows == 1 && !r->counts &&
         !r->ragged && r->length >= LEAST && (gpus & (gpus - 1)) == 0 && r->length % gpus == 0;
}

// By kernels where lanes are threads (kernels/routines/sort/sort.h).
static pass_cost cost_on_gpu(const plan *p, const net_routine *r) {
  const target_routines *t = &p->target->routines;
  double digits = plan_routine_digits(p, r), elements = (double)r->rows * (double)r->length;
  double moved = bytes_of(p, r->pairs[0].from);
  for (uint32_t i = 1; i < r->pair_count; i++)
    moved += bytes_of(p, r->pairs[i].to);
  if (plan_routine_is_partition(r))
    return (pass_cost){t->start, t->partition * (moved + bytes_of(p, r->pairs[0].to)), 0};
  double places = r->kind == NET_PLACES ? elements : 0;
  return (pass_cost){
      t->start * (digits + 1),
      t->key * elements * (digits + 1) + 2 * t->byte * moved * digits + t->place * places, 0};
}

// A sort by a processor (runtime/routines/sort.c) on one thread, in operations: networks of up to
// 2^9 words, and a partition for each doubling from there; more for a row that is not sorted
// together with others, and for each element that is taken where it belongs. Where keys have few
// bits, there are counts of all that they can be.
static double sort_ops(const plan *p, const net_routine *r) {
  enum { LEAF = 9, LEAST = 4, WORD = 32 };  // log2 of words in a network; bits
  const target_routines *t = &p->target->routines;
  uint32_t bits = plan_routine_bits(p, r);
  uint32_t log = r->length > 1 ? (uint32_t)f2_msb(r->length - 1) + 1 : 0;
  uint32_t columns = log < LEAST ? LEAST : log < LEAF ? log : LEAF;
  bool keys_alone = r->pair_count == 1 && r->kind == NET_SORT;
  bool together = log >= LEAST && log < LEAF && r->length == (uint64_t)1 << log && keys_alone;
  double words = (keys_alone ? bits : bits + log) > WORD ? 2 : 1;
  double halved = log > LEAF ? t->partition_ops * (log - LEAF) : 0;
  double each = words * (columns * (columns + 1) / 2 + halved);
  double of_row = together ? 0 : t->row_ops;
  bool counts = bits <= (keys_alone ? 16 : 8) && log >= bits + (keys_alone ? 2 : 0);
  if (counts) {
    each = t->count_ops * plan_routine_digits(p, r);
    of_row = t->value_ops * (double)f2_unit((int)bits);
  }
  each += keys_alone ? 0 : (counts ? t->move_ops / 2 : t->move_ops) * (r->pair_count + 1);
  return t->call_ops + (double)r->rows * (each * (double)r->length + of_row);
}

static pass_cost routine_cost(const plan *p, const net_routine *r) {
  double elements = (double)r->rows * (double)r->length;
  if (!p->target->lane_bytes && r->kind != NET_PERMUTE && r->kind != NET_TRANSPOSE)
    return cost_on_gpu(p, r);
  double bytes = rates[r->kind].keys * bytes_of(p, r->pairs[0].from);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    if (i > 0)
      bytes += rates[r->kind].payloads * bytes_of(p, r->pairs[i].to);
    bytes += rates[r->kind].results * bytes_of(p, r->pairs[i].to);
  }
  bool sorts = r->kind == NET_SORT || r->kind == NET_PLACES;
  double ops = sorts ? sort_ops(p, r) : rates[r->kind].ops * elements;
  return (pass_cost){p->target->pass_seconds, bytes / p->target->memory_bytes_per_second,
                     ops / p->target->ops_per_second};
}

// ---- passes of tiles ---------------------------------------------------------------------------

// One of how many elements that the pass is executed for are in the live set.
static double part_within(const plan_pass *pass, f2_space live) {
  f2_space forms = live_set(pass->tile.n, pass->live_count, pass->live);
  return (double)f2_unit(f2_space_sum(forms, live).dimension - forms.dimension);
}

// The elements that phases exchange, of one that the pass is executed for: what the ops before or
// those behind compute, whichever is less.
static double exchanged_part(const net_stage *s, const plan_pass *pass) {
  double sum = 0, before = 1;
  for (uint32_t i = 0; i < pass->phase_count; i++) {
    const plan_phase *p = &pass->phases[i];
    double part =
        1 / part_within(pass, plan_live_of_ops(s, pass, p->first_op, p->first_op + p->op_count));
    sum += i == 0 ? 0 : part < before ? part : before;
    before = part;
  }
  return sum;
}

// How many times its bytes a move takes. Of parts of a line memory moves at least 32 of 128 bytes;
// half lines, 64 bytes, are slower by a quarter on a GPU (measured on an H200).
static double times_moved(const plan *p, const plan_pass *pass, const plan_move *m) {
  if (m->coalesced || m->direct)
    return 1;
  uint32_t line = p->target->line_bytes, bytes = pass->slot_bytes[m->slot];
  bool halves = missing_dimensions(pass->tile, &m->map, line, bytes) == 1;
  return halves && p->target->lane_bytes == 0 ? 1.25 : 4;
}

// What memory moves for the elements of a coset of an op that lie where data say: each is in a part
// of a line of its own, as on the memory machine UMM (Nakano: Simple memory machine models for GPUs,
// 2012), where each is in an address group of its own.
static double placed_bytes(const plan *p, const net_stage *s, const net_op *op) {
  uint32_t count = net_stage_has(s, NET_GATHER) || net_stage_has(s, NET_SCATTER)
                       ? net_op_nodes(s, op, s->walk)
                       : 0;
  enum { PARTS = 4 };  // as of parts of lines
  double part = p->target->line_bytes / PARTS, bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    const net_node *node = &s->nodes.items[s->walk[i]];
    if (!net_node_has_array(node->kind))
      continue;
    double size = (double)scalar_types[p->net->arrays.items[node->number].type].size;
    bytes += size > part ? size : part;
  }
  return bytes;
}

pass_cost pass_cost_of(const plan *p, const plan_pass *pass) {
  const net_stage *s = plan_stage_of(p, pass);
  const target *t = p->target;
  if (s->routine)
    return routine_cost(p, s->routine);
  double elements = 1, bytes = 0, ops = 0;
  for (uint32_t i = 0; i < s->loop_count; i++)
    elements *= (double)s->extents[i];
  for (int i = 0; i < s->n - (int)pass->live_count; i++)
    elements *= 2;
  elements /= (double)net_share_count(s);
  for (uint32_t i = 0; i < pass->load_count + pass->store_count; i++) {
    const plan_move *m = plan_move_at(pass, i);
    double moved = elements * pass->slot_bytes[m->slot] /
                   part_within(pass, live_set(s->n, m->live_count, m->live));
    if (m->direct)  // each element once: after that it is in a cache
      moved /= (double)f2_unit(part_space(&m->map, s->n, 1).dimension);
    bytes += moved * times_moved(p, pass, m);
  }
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    double of_op = elements / part_within(pass, live_of_op(s, op));
    ops += of_op;
    bytes += ldexp(of_op, -(int)op->k) * placed_bytes(p, s, op);
  }
  ops += elements * t->exchange_ops * exchanged_part(s, pass);
  return (pass_cost){t->pass_seconds, bytes / t->memory_bytes_per_second, ops / t->ops_per_second};
}

double pass_seconds(const plan *p, const plan_pass *pass) {
  pass_cost c = pass_cost_of(p, pass);
  return c.start + (c.memory > c.work ? c.memory : c.work);
}
