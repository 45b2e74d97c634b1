// Edge colouring of regular bipartite multigraphs: the edges of a graph whose nodes all have degree
// d get d colours, so that each node has one edge of each colour (König 1916). Each colour is then
// a perfect matching: a permutation of the nodes, without conflicts.
//
// In: for each left node the right ends of its edges. Out: the same rows, reordered so that place k
// of each row has colour k; and where each edge was.
//
//   uint16_t right[3][2] = {{0, 1}, {1, 2}, {2, 0}}, edge[3][2];
//   coloring c = {.nodes = 3, .degree = 2, .right = *right, .edge = *edge, .threads = 1};
//   c.scratch = malloc(coloring_scratch(&c) * sizeof *c.scratch);
//   color_edges(&c)      right = {{0, 1}, {1, 2}, {2, 0}}: each column has 0, 1 and 2 once
//                        edge  = {{0, 1}, {0, 1}, {0, 1}}
//
// An even degree is halved by an Euler split: the edges form closed walks, and every second edge of
// a walk goes to the other half. An odd one gives off a perfect matching first. Halves are
// independent of each other, and many of them are coloured at a time. m edges take O(m log d)
// steps, whatever the graph is; the colours do not depend on the number of threads.
#ifndef PERMC_CORE_PERMUTATION_COLORING_H
#define PERMC_CORE_PERMUTATION_COLORING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whoever shares work among threads: pool_run of runtime/system/pool.h, which says what it does.
typedef bool coloring_work(void *with, unsigned worker, uint64_t first, uint64_t last);
typedef bool coloring_pool(unsigned threads, uint64_t items, uint64_t chunk, coloring_work *work,
                           void *with, const atomic_bool *interrupted);

coloring_pool coloring_alone;  // all of it by the caller

enum { COLORING_NODES_MAX = 1 << 16, COLORING_DEGREE_MAX = 1 << 16 };
#define COLORING_EDGES_MAX (UINT64_C(1) << 31)

typedef struct coloring {
  uint32_t nodes, degree;  // of either side; of each node
  uint16_t *right;      // [nodes][degree]: by left node the right ends, which have that degree too
  uint16_t *edge;       // [nodes][degree]: the place in `right` that each edge had
  uint32_t *scratch;    // about 4 bytes for each edge
  unsigned threads;     // at most, and at least 1
  coloring_pool *pool;  // NULL: coloring_alone
  const atomic_bool *interrupted;  // looked at now and then; may be NULL
} coloring;

uint64_t coloring_scratch(const coloring *c);  // numbers that c->scratch must hold
// False: interrupted. Then `right` and `edge` are anything.
bool color_edges(const coloring *c);

#endif
