// Pictures of an entry at given sizes: `permc draw`.
//
// Comes in: the Net and the Plan of a pipeline. Goes out: text for a terminal, or SVG. There are
// two pictures:
//
//   network   of the Net: a line for each element, data go from left to right. Permutations are gone:
//             elements stay on their lines, and the word at the end says where a result has them.
//             After Knuth, The Art of Computer Programming 3, section 5.3.4.
//
//               e = column 1 (\[a, b] -> [min a b, max a b])  on 4 elements
//
//               0 ─●───── 0      ● ─ ● a comparator: the minimum above, the maximum below
//               1 ─┼──●── 1      ▲     the maximum is at the arrow: above
//               2 ─●──┼── 2      ○ ─ ○ any other op on these elements
//               3 ────●── 3      □     an op on one element alone
//
//   matrix    of a program that is one bit-matrix permutation: its matrix over F_2, and in which tile of
//             the plan each element is, before and after
//
//   network.c        a network, from a Net
//   network_shown.c  its picture
//   matrix.c         a permutation, and its picture
//   draw.c           the table of pictures
#ifndef PERMC_RUNTIME_DRAW_DRAW_H
#define PERMC_RUNTIME_DRAW_DRAW_H

#include "runtime/pipeline.h"

// ---- networks (draw/network.c) ---------------------------------------------------------------

enum {
  DRAW_LINES = 64,     // the most that a picture has: more are no longer told apart
  DRAW_COLUMNS = 1024  // the same
};

typedef enum draw_kind {
  DRAW_ORDER,    // the minimum on the upper line, the maximum on the lower one
  DRAW_REVERSE,  // the other way round
  DRAW_GROUP,    // any other function of elements on several lines
  DRAW_MAP       // ... on one
} draw_kind;

typedef struct draw_link {
  draw_kind kind;
  uint32_t count;   // of lines
  uint32_t *lines;  // in increasing order
  uint32_t column;  // links of one column are of one depth
  uint32_t slot;    // of the column: links of one slot have no line in common, nor one between
} draw_link;

typedef VEC(draw_link) draw_links;

typedef struct draw_network {
  uint32_t line_count;
  const char **begins, **ends;  // of lines: "3", "0 4", "a1[3]"; "" where it is no element
  draw_links links;
  uint32_t column_count;
  uint32_t *slots;  // of columns
} draw_network;

// NULL, or why the program is no network that can be drawn: a clause, such as "it sorts rows of
// 1024 by a routine".
const char *draw_network_make(arena *a, const net *n, draw_network *out);

// ---- pictures --------------------------------------------------------------------------------

// What is drawn into.
typedef struct draw_picture {
  bool svg;
  text body;          // lines of text, or elements of SVG
  int width, height;  // of SVG, in pixels
} draw_picture;

void draw_show_network(draw_picture *to, arena *a, const draw_network *n);

// Each draws what the program is, or returns why it is none of that kind, as a clause.
typedef const char *draw_function(draw_picture *to, arena *a, const pipeline *p);
draw_function draw_matrix_of;

typedef struct draw_row {
  const char *name, *what;  // "matrix"; "a permutation by a matrix"
  draw_function *draw;
} draw_row;
// By number, NULL behind the last; by name, or NULL.
const draw_row *draw_at(size_t index);
const draw_row *draw_named(const char *name);
// The one that shows most of the program: a network if it computes anything, else a matrix.
const draw_row *draw_usual(const net *n);

#endif
