// Edge colouring by Euler splits (Gabow 1976), and perfect matchings by random walks for odd
// degrees (Goel, Kapralov and Khanna 2010). See coloring.h.
//
// A part of the graph is the same few places of all rows. It is split, or coloured, where it lies:
//
//   places     0 1 2 3 4 5 6 7        degree 8
//   split      A A A A|B B B B        two parts of degree 4
//   ...        0|1|2|3|4|5|6|7        the place is the colour
#include "core/permutation/coloring.h"
#include "core/random.h"

#include <string.h>

// Places first, ..., first + count - 1 of each row of a graph.
typedef struct part {
  uint16_t *right, *edge;  // place 0 of row 0
  uint32_t nodes, stride;  // rows; from one row to the next
  uint32_t first, count;
  uint32_t *scratch;
} part;

static inline uint16_t *row_of(uint16_t *places, const part *p, uint32_t node) {
  return places + (size_t)node * p->stride + p->first;
}

enum {
  PADDING = 16,  // numbers between rows of mates, whose lengths are powers of two: cache sets
  NARROW = 32,   // parts of so few places, far apart, are coloured in a copy without gaps
  WIDE = 256,    // ... where rows are so far apart
  SORTED = 64,   // rows so long are sorted first
};

// Mates from one row to the next; even.
static uint32_t mate_stride(uint32_t count) {
  uint32_t even = count & ~UINT32_C(1);
  return even + (even / 16 < PADDING ? even / 16 & ~UINT32_C(1) : PADDING);
}

// ---- Euler splits ----------------------------------------------------------------------------

// Edges are numbered: their row times mate_stride, and the place in it. The edges of a right node
// are paired as they come, mate[e] being the other one of the pair; those of a left node are e,
// e^1.
static void pair_right_ends(const part *p, uint32_t *mate, uint32_t *waiting) {
  uint32_t stride = mate_stride(p->count), nobody = p->nodes * stride;
  for (uint32_t i = 0; i < p->nodes; i++)
    waiting[i] = nobody;
  for (uint32_t i = 0; i < p->nodes; i++) {
    const uint16_t *right = row_of(p->right, p, i);
    for (uint32_t j = 0, e = i * stride; j < p->count; j++, e++) {
      uint32_t other = waiting[right[j]];
      mate[e] = other;
      mate[other] = e;  // nobody's mate is nothing
      waiting[right[j]] = other == nobody ? e : nobody;
    }
  }
}

// The edges that are joined by pairs, at the right and at the left in turn, form a closed walk;
// every second one is of half A: it is its own mate from then on. The walk is gone both ways from
// edge `e` at once, until they meet: each waits for memory at each step.
static void walk(uint32_t *mate, uint32_t e) {
  uint32_t ahead = e, behind = mate[e];  // an edge of A; the one before an edge of A, at the right
  mate[e] = e;
  for (;;) {
    uint32_t next = mate[ahead ^ 1], last = behind ^ 1;
    if (mate[next] == next)
      return;
    mate[next] = next;
    ahead = next;
    behind = mate[last];
    if (behind == last)
      return;
    mate[last] = last;
  }
}

static void choose_halves(const part *p, uint32_t *mate) {
  uint32_t stride = mate_stride(p->count);
  for (uint32_t i = 0; i < p->nodes; i++)
    for (uint32_t e = i * stride; e < i * stride + p->count; e += 2)
      if (mate[e] != e && mate[e + 1] != e + 1)
        walk(mate, e);
}

// Of each pair at a left node one goes to the first half of the row, the other to the second.
static void part_row(uint16_t *row, uint16_t *second, const uint32_t *mate, uint32_t number,
                     uint32_t half) {
  for (uint32_t k = 0; k < half; k++) {
    uint32_t odd = mate[2 * k + 1] == number + 2 * k + 1;
    uint16_t a = row[2 * k + odd], b = row[2 * k + 1 - odd];
    row[k] = a;
    second[k] = b;
  }
  memcpy(row + half, second, half * sizeof *row);
}

// Two parts of half the degree, which is even. Rows that are sorted stay so.
static void split(const part *p) {
  uint32_t stride = mate_stride(p->count), *mate = p->scratch;
  uint32_t *rest = mate + (size_t)p->nodes * stride + 1;
  pair_right_ends(p, mate, rest);
  choose_halves(p, mate);
  for (uint32_t i = 0; i < p->nodes; i++) {
    const uint32_t *row_mates = mate + (size_t)i * stride;
    part_row(row_of(p->right, p, i), (uint16_t *)rest, row_mates, i * stride, p->count / 2);
    part_row(row_of(p->edge, p, i), (uint16_t *)rest, row_mates, i * stride, p->count / 2);
  }
}

// ---- perfect matchings -----------------------------------------------------------------------

#define NOBODY UINT32_MAX

// A matching that has not this left node yet gets it. A walk leaves left nodes by random edges and
// right ones by the edge of the matching, until it comes to a right node without one. Along it
// edges change places with those of the matching; where it went in a circle, the last way out
// counts, so that circles are left out. The expected sum of the walks is O(nodes log nodes).
static void match_node(const part *p, uint32_t node, uint32_t *place, uint32_t *left, uint32_t *out,
                       uint64_t *state) {
  uint32_t at = node, from;
  do {
    bool matched = place[at] != NOBODY;
    uint32_t k = draw_below(state, p->count - matched);
    out[at] = k + (matched && k >= place[at]);
    at = left[row_of(p->right, p, at)[out[at]]];
  } while (at != NOBODY);
  at = node;
  do {
    from = at;
    place[from] = out[from];
    uint32_t *end = &left[row_of(p->right, p, from)[out[from]]];
    at = *end;
    *end = from;
  } while (at != NOBODY);
}

static void swap(uint16_t *a, uint16_t *b) {
  uint16_t kept = *a;
  *a = *b;
  *b = kept;
}

// The first place becomes a perfect matching. Its nodes come in a random order: from any one of
// those that are left the next walk is expected to be short, from a certain one it need not be.
static void match(const part *p) {
  uint32_t *place = p->scratch, *left = place + p->nodes, *out = left + p->nodes;
  uint32_t *order = out + p->nodes;
  uint64_t state = (uint64_t)p->first << 32 | p->count;
  for (uint32_t i = 0; i < p->nodes; i++) {
    uint32_t k = draw_below(&state, i + 1);
    order[i] = order[k];
    order[k] = i;
    place[i] = left[i] = NOBODY;
  }
  for (uint32_t i = 0; i < p->nodes; i++)
    match_node(p, order[i], place, left, out, &state);
  for (uint32_t i = 0; i < p->nodes; i++) {
    uint16_t *right = row_of(p->right, p, i), *edge = row_of(p->edge, p, i);
    swap(right, right + place[i]);
    swap(edge, edge + place[i]);
  }
}

// ---- parts -----------------------------------------------------------------------------------

// Splits a part of degree 2 or more; the first half (the second one follows it).
static part halve(part p) {
  if (p.count % 2 != 0) {
    match(&p);
    p.first++;
    p.count--;
  }
  split(&p);
  p.count /= 2;
  return p;
}

static part beside(part p) {
  p.first += p.count;
  return p;
}

// Numbers of scratch that colouring a part takes, its narrow parts included.
static uint64_t scratch_of(uint32_t nodes, uint32_t count) {
  return (uint64_t)nodes * (mate_stride(count) + 2) + count + 16;
}

static void color_here(part p) {
  while (p.count > 1) {
    p = halve(p);
    color_here(p);
    p = beside(p);
  }
}

// Rows of few places, far apart, would all lie in the same few sets of a cache.
static void color_copy(const part *p) {
  part copy = *p;
  copy.stride = p->count;
  copy.first = 0;
  copy.right = (uint16_t *)(p->scratch + scratch_of(p->nodes, p->count));
  copy.edge = copy.right + (size_t)p->nodes * p->count;
  size_t bytes = p->count * sizeof *p->right;
  for (uint32_t i = 0; i < p->nodes; i++) {
    memcpy(row_of(copy.right, &copy, i), row_of(p->right, p, i), bytes);
    memcpy(row_of(copy.edge, &copy, i), row_of(p->edge, p, i), bytes);
  }
  color_here(copy);
  for (uint32_t i = 0; i < p->nodes; i++) {
    memcpy(row_of(p->right, p, i), row_of(copy.right, &copy, i), bytes);
    memcpy(row_of(p->edge, p, i), row_of(copy.edge, &copy, i), bytes);
  }
}

static bool color_part(part p, const atomic_bool *interrupted) {
  while (p.count > NARROW) {
    if (interrupted && atomic_load_explicit(interrupted, memory_order_relaxed))
      return false;
    p = halve(p);
    if (!color_part(p, interrupted))
      return false;
    p = beside(p);
  }
  if (p.stride < WIDE)
    color_here(p);
  else
    color_copy(&p);
  return true;
}

// ---- the graph -------------------------------------------------------------------------------

bool coloring_alone(unsigned threads, uint64_t items, uint64_t chunk, coloring_work *work,
                    void *with, const atomic_bool *interrupted) {
  (void)threads, (void)chunk, (void)interrupted;
  return work(with, 0, 0, items);
}

// How often the graph is split before its parts are coloured one by one: there are enough for all
// threads, and none is narrow.
static uint32_t depth_of(const coloring *c) {
  uint32_t depth = 0;
  while ((UINT32_C(1) << depth) < 4 * c->threads && c->threads > 1 && c->degree >> depth >= WIDE)
    depth++;
  return depth;
}

typedef struct job {
  const coloring *graph;
  uint32_t depth;  // the graph has been split so often
} job;

// One of the 2^depth parts, and its own scratch.
static part part_at(const job *j, uint32_t index) {
  const coloring *c = j->graph;
  part p = {c->right, c->edge, c->nodes, c->degree, 0, c->degree, NULL};
  for (uint32_t level = j->depth; level-- > 0;) {
    p.first += p.count % 2;
    p.count /= 2;
    if (index >> level & 1)
      p = beside(p);
  }
  p.scratch = c->scratch + index * scratch_of(p.nodes, p.count);
  return p;
}

static bool halve_parts(void *with, unsigned worker, uint64_t first, uint64_t last) {
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    halve(part_at(with, (uint32_t)i));
  return true;
}

static bool color_parts(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const job *j = with;
  (void)worker;
  for (uint64_t i = first; i < last; i++)
    if (!color_part(part_at(j, (uint32_t)i), j->graph->interrupted))
      return false;
  return true;
}

// One pass of a radix sort by a byte of the right end, which is in the higher half of each number.
static void sort_by(uint32_t shift, uint32_t count, const uint32_t *from, uint32_t *to) {
  uint32_t ends[256] = {0}, sum = 0;
  for (uint32_t j = 0; j < count; j++)
    ends[from[j] >> shift & 255]++;
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t own = ends[b];
    ends[b] = sum;
    sum += own;
  }
  for (uint32_t j = 0; j < count; j++)
    to[ends[from[j] >> shift & 255]++] = from[j];
}

// Rows sorted by right ends: mates then lie in rows near each other, at about the same place, so
// that walks stay in the caches.
static bool begin_rows(void *with, unsigned worker, uint64_t first, uint64_t last) {
  const coloring *c = ((const job *)with)->graph;
  uint32_t count = c->degree, *row = c->scratch + (size_t)worker * 2 * count, *other = row + count;
  for (uint64_t i = first; i < last; i++) {
    uint16_t *right = c->right + i * count, *edge = c->edge + i * count;
    for (uint32_t j = 0; j < count; j++)
      row[j] = (uint32_t)right[j] << 16 | j;
    if (count >= SORTED) {
      sort_by(16, count, row, other);
      sort_by(24, count, other, row);
    }
    for (uint32_t j = 0; j < count; j++) {
      right[j] = (uint16_t)(row[j] >> 16);
      edge[j] = (uint16_t)row[j];
    }
  }
  return true;
}

uint64_t coloring_scratch(const coloring *c) {
  uint64_t most = 2 * (uint64_t)c->degree * c->threads;
  for (uint32_t depth = 0; depth <= depth_of(c); depth++) {
    uint64_t own = scratch_of(c->nodes, c->degree >> depth) << depth;
    most = own > most ? own : most;
  }
  return most;
}

bool color_edges(const coloring *c) {
  coloring_pool *run = c->pool ? c->pool : coloring_alone;
  job j = {c, 0};
  uint32_t rows = 1 + (1 << 16) / (c->degree + 1);  // of a chunk
  if (!run(c->threads, c->nodes, rows, begin_rows, &j, c->interrupted))
    return false;
  for (; j.depth < depth_of(c); j.depth++)
    if (!run(c->threads, UINT64_C(1) << j.depth, 1, halve_parts, &j, c->interrupted))
      return false;
  return run(c->threads, UINT64_C(1) << j.depth, 1, color_parts, &j, c->interrupted);
}
