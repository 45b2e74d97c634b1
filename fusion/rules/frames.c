// The rule `op-bmmc`: an op that moves elements as well is an op on smaller cosets, and a bmmc
// behind it, which nobody executes: what reads its values does so with another index.
//
//   op 0 directions 0b01 coordinates x0           op 0 directions 0b01 coordinates x0
//     v1[0] = + v0[1] i32:1                         v1[0] = + v0[0] i32:2
//     v1[1] = + v0[0] i32:2                         v1[1] = + v0[1] i32:1
//   store v1 in a1 at x0 + 2*x1             ->    store v1 in a1 at (x0^1) + 2*x1
//
// Let element j read elements of the coset b(j) + E only, for the least E. If some affine bijection
// t of the numbers has t(j) in b(j) + E, element j is put at number t(j): then it reads its own
// coset of E, and stage_narrow may drop the other directions. On indices that is a bijection T.
//
// Each value has a FRAME F: what was at index x is at F x. An op is renamed by the frame of the
// values that it reads, which must be the same for all but loads (these are read in any frame).
// What it makes has the frame F T.
#include "fusion/rules/rewriting.h"

enum { MOST_TRIES = 8, MOST_ELEMENTS = 64 };

// What an op moves.
typedef struct movement {
  bool moves;
  uint8_t numbers[MOST_ELEMENTS];  // t
  f2_affine indices;               // T
} movement;

typedef struct framing {
  rewriter *r;
  net_uses uses;
  movement **movements;      // by op, or NULL
  const f2_affine **read;    // by op: the frame of what it reads
  const f2_affine **frames;  // by value: NULL where nothing has changed, and of loads
  uint32_t *definitions;     // by value: the op whose movement made the frame
} framing;

// ---- what an op moves ------------------------------------------------------------------------

// Vectors and where t takes them, up to vectors of E.
typedef struct images {
  uint32_t count;
  uint64_t from[MOST_ELEMENTS], to[MOST_ELEMENTS];
} images;

// The differences from element `first` of a basis of those of all elements, or false: b is not
// affine.
static bool find_images(const element_reads *d, uint32_t k, uint64_t first, images *m) {
  f2_echelon relations = {{0}, {0}};
  for (uint64_t j = 0; j < UINT64_C(1) << k; j++) {
    uint64_t relation = 0, to = f2_space_reduce(d->e, d->at[j] ^ d->at[first]);
    if (d->at[j] == NET_NONE || j == first)
      continue;
    if (f2_echelon_insert(&relations, j ^ first, to, &relation)) {
      m->from[m->count] = j ^ first;
      m->to[m->count++] = to;
    } else if (relation) {
      return false;
    }
  }
  return true;
}

// Makes the images independent: vectors that go to E go to different ones there. False: there are
// too many.
static bool separate_images(const element_reads *d, images *m) {
  f2_echelon found = {{0}, {0}};  // tags: the vectors
  int kernel = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    uint64_t relation = 0;
    if (f2_echelon_insert(&found, m->to[i], m->from[i], &relation))
      continue;
    if (kernel == d->e.dimension)
      return false;
    m->from[i] = relation;  // goes to E
    m->to[i] = d->e.basis[kernel++];
  }
  return true;
}

// The rest of the vectors, each to itself where that leaves the images independent.
static void complete_images(uint32_t k, images *m) {
  f2_space from = f2_span((int)k, (int)m->count, m->from),
           to = f2_span((int)k, (int)m->count, m->to);
  uint64_t left = 0;
  for (uint32_t i = 0; i < k; i++) {
    uint64_t x = f2_unit((int)i);
    if (f2_space_has(from, x))
      continue;
    f2_space_insert(&from, x);
    m->from[m->count] = x;
    m->to[m->count] = f2_space_insert(&to, x) ? x : 0;
    left += m->to[m->count++] == 0;
  }
  f2_space rest = f2_space_complement(to, f2_space_full((int)k));
  for (uint32_t i = 0; i < m->count && left; i++)
    if (m->to[i] == 0)
      m->to[i] = rest.basis[--left];
}

// The vectors of the directions at these bits of a number.
static uint64_t index_of_number(const net_op *op, uint64_t number) {
  return f2_combine((int)op->k, op->directions, number);
}

// T x = x ^ D (t(j) ^ j), where j = C x ^ c is the number of x.
static f2_affine index_movement(const net_op *op, int n, const uint8_t *t) {
  uint64_t columns[F2_MAX], c = 0;
  for (uint32_t i = 0; i < op->k; i++)
    c |= (uint64_t)op->coordinates[i].constant << i;
  for (int b = 0; b < n; b++) {
    uint64_t j = 0;
    for (uint32_t i = 0; i < op->k; i++)
      j |= (uint64_t)f2_bit(op->coordinates[i].mask, b) << i;
    columns[b] = f2_unit(b) ^ index_of_number(op, (uint64_t)(t[j] ^ t[0]) ^ j);
  }
  return (f2_affine){f2_from_columns(n, n, columns), index_of_number(op, t[c] ^ c)};
}

static movement *movement_of(framing *f, const net_op *op) {
  if (op->k == 0 || UINT64_C(1) << op->k > MOST_ELEMENTS)
    return NULL;
  uint32_t count;
  element_reads d = element_reads_of(f->r, op, &count);
  uint64_t first = 0;
  while (first + 1 < UINT64_C(1) << op->k && d.at[first] == NET_NONE)
    first++;
  images m = {0};
  if (d.moved.dimension == d.e.dimension || !find_images(&d, op->k, first, &m) ||
      !separate_images(&d, &m))
    return NULL;
  complete_images(op->k, &m);
  movement *found = NEW(f->r->memory, movement);
  for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++) {
    uint64_t coordinates = 0;
    f2_coordinates((int)m.count, m.from, j ^ first, &coordinates);
    found->numbers[j] =
        (uint8_t)(f2_space_reduce(d.e, d.at[first]) ^ f2_combine((int)m.count, m.to, coordinates));
  }
  found->indices = index_movement(op, f->r->stage->n, found->numbers);
  found->moves = true;
  return found;
}

// ---- frames ----------------------------------------------------------------------------------

static bool is_load(const framing *f, net_id value) {
  return f->uses.values[value].maker == NET_NONE;
}

// The frame of what the op reads into f->read. False: there are several. *latest: of the ops whose
// movements made them, the last one.
static bool find_frame_of_reads(framing *f, uint32_t op, uint32_t *latest) {
  const net_reads *reads = &f->uses.reads[op];
  bool found = false, same = true;
  f->read[op] = NULL;
  *latest = NET_NONE;
  for (uint32_t i = 0; i < reads->count; i++) {
    net_id v = reads->values[i];
    if (f->frames[v] && (*latest == NET_NONE || f->definitions[v] > *latest))
      *latest = f->definitions[v];
    if (is_load(f, v))
      continue;
    const f2_affine *other = f->read[op], *frame = f->frames[v];
    same =
        same && (!found || frame == other || (frame && other && f2_affine_equal(*frame, *other)));
    f->read[op] = frame;
    found = true;
  }
  return same;
}

// Frames for all values. False: the movement of some op, which is taken back, is in the way.
static bool find_frames(framing *f, bool *any) {
  net_stage *s = f->r->stage;
  *any = false;
  for (uint32_t i = 0; i < s->ops.count; i++) {
    const net_op *op = &s->ops.items[i];
    uint32_t origin;
    if (!find_frame_of_reads(f, i, &origin)) {
      f->movements[origin]->moves = false;
      return false;
    }
    const f2_affine *frame = f->read[i];
    movement *m = f->movements[i];
    if (m && m->moves) {
      f2_affine *own = NEW(f->r->memory, f2_affine);
      *own = frame ? f2_affine_compose(*frame, m->indices) : m->indices;
      frame = own;
      origin = i;
      *any = true;
    }
    for (uint32_t k = 0; k < op->output_count; k++) {
      f->frames[op->outputs[k].value] = frame;
      f->definitions[op->outputs[k].value] = origin;
    }
  }
  return true;
}

// ---- renaming --------------------------------------------------------------------------------

// The op where the index is renamed, with other index functions and loads.
static void rename_op(framing *f, net_op *op, const f2_affine *frame) {
  arena *a = f->r->memory;
  net_stage *s = f->r->stage;
  f2_affine back;
  net_change c = net_change_of_index(frame, &back);
  uint32_t count = rewriter_walk(f->r, op);
  c.nodes = f->r->memo;
  for (uint32_t i = 0; i < count; i++) {
    net_node node = net_node_changed(a, &c, node_at(f->r, f->r->nodes[i]));
    if (node.kind == NET_ELEMENT && is_load(f, node.value)) {
      net_load load = *net_load_of(s, node.value);
      load.map = net_map_changed(a, &c, &load.map);
      node.value = net_load_add(a, s, node.type, load);
    }
    f->r->memo[f->r->nodes[i]] = net_node_add_owned(a, s, &node);
  }
  c.nodes = NULL;
  net_op renamed = rewriter_take_memo(f->r, op, count);
  *op = net_op_changed(a, &c, &renamed);
}

static void move_elements(framing *f, net_op *op, const movement *m) {
  for (uint32_t i = 0; i < op->output_count; i++) {
    net_id *elements = NEW_ARRAY(f->r->memory, net_id, UINT64_C(1) << op->k);
    for (uint64_t j = 0; j < UINT64_C(1) << op->k; j++)
      elements[m->numbers[j]] = op->outputs[i].elements[j];
    op->outputs[i].elements = elements;
  }
  rewriter_at(f->r, op);
  rewriter_fired(f->r, RULE_OP_BMMC, 0, 0);
}

void stage_move_frames(rewriter *r) {
  arena *a = r->memory;
  net_stage *s = r->stage;
  framing f = {.r = r, .movements = NEW_ARRAY(a, movement *, s->ops.count + 1)};
  bool any = false, found = false;
  for (size_t i = 0; i < s->ops.count; i++) {
    f.movements[i] = movement_of(&f, &s->ops.items[i]);
    any |= f.movements[i] != NULL;
  }
  if (!any)
    return;
  f.uses = net_uses_of(a, s);
  f.read = NEW_ARRAY(a, const f2_affine *, s->ops.count + 1);
  f.frames = NEW_ARRAY(a, const f2_affine *, s->values.count + 1);
  f.definitions = NEW_ARRAY(a, uint32_t, s->values.count + 1);
  for (int tries = 0; any && !found && tries < MOST_TRIES; tries++)
    found = find_frames(&f, &any);
  if (!found || !any)
    return;
  for (size_t i = 0; i < s->ops.count; i++) {
    if (f.read[i])
      rename_op(&f, &s->ops.items[i], f.read[i]);
    if (f.movements[i] && f.movements[i]->moves)
      move_elements(&f, &s->ops.items[i], f.movements[i]);
  }
  for (size_t i = 0; i < s->stores.count; i++) {
    const f2_affine *frame = f.frames[s->stores.items[i].value];
    f2_affine back;
    if (!frame)
      continue;
    net_change c = net_change_of_index(frame, &back);
    s->stores.items[i] = net_store_changed(a, &c, &s->stores.items[i]);
  }
}
