// What a permutation that is given as data does, where it does something simple.
//
// p has the place of each element: out[p[i]] = x[i]. An array of 12 elements as [3][4]:
//
//   p                                  it
//   2 3 4 5 6 7 8 9 10 11 0 1          rotates by 2: element i goes to (i + 2) mod 12
//   0 3 6 9 1 4 7 10 2 5 8 11          exchanges the dimensions of [1][3][4][1]: a transpose
//   2 3 0 1 4 5 6 7 8 9 10 11          stays in rows of 4: i / 4 does not change
//   4 9 2 3 8 1 6 7 0 5 10 11          stays in columns of 4: i mod 4 does not change
//
// Of 2^n elements: whether p[i] = A i ^ c, which n + 1 elements of p determine and one look at each
// proves. The kinds are tried in the order of the enumeration. A look is over at the first element
// that is otherwise, so that a random p costs next to nothing.
#ifndef PERMC_CORE_PERMUTATION_RECOGNISE_H
#define PERMC_CORE_PERMUTATION_RECOGNISE_H

#include "core/f2.h"
#include "core/permutation/permutation.h"
#include "core/text.h"

typedef enum movement_kind {
  MOVES_BY_ROTATION,  // by 0: nothing moves
  MOVES_BY_AFFINE_MAP,
  MOVES_BY_EXCHANGE,  // of two neighbouring dimensions
  MOVES_IN_ROWS,
  MOVES_IN_COLUMNS,
  MOVES_ANYHOW
} movement_kind;

typedef struct movement {
  movement_kind kind;
  uint64_t by;       // a rotation: element i goes to (i + by) mod count
  f2_affine map;     // an affine map: element i goes to A i ^ c
  uint64_t dims[4];  // an exchange: [d0][d1][d2][d3] becomes [d0][d2][d1][d3]
  uint64_t width;    // rows: the least; columns: the greatest
} movement;

enum { WIDEST_ROWS = 1 << 16 };  // that are looked for

// That p is a permutation the first three kinds prove; of rows and columns it is taken for granted.
movement recognise_movement(const place_list *p);

// ---- the first three kinds, which need no places (movement.c) ------------------------------------

static inline bool movement_is_simple(const movement *m) { return m->kind <= MOVES_BY_EXCHANGE; }
// Where element i of `count` goes.
uint64_t movement_place(const movement *m, uint64_t count, uint64_t i);
// The movement that takes `count` elements back.
movement movement_inverse(const movement *m, uint64_t count);
// Whether the places first ... last - 1 are those of the movement, if all others are.
bool movement_holds(const movement *m, const place_list *p, uint64_t first, uint64_t last);
// "rotation by 3", "affine map [2, 1] ^ 0" (rows of the matrix, as of bmmc), "exchange of
// dimensions of [1][3][4][1]"; of the other kinds their names.
void movement_print(text *out, const movement *m);
// As numbers, for files: by; c and the columns of A; dims. Returns how many; 0: of another kind.
enum { MOVEMENT_NUMBERS = F2_MAX + 1 };
uint32_t movement_write(const movement *m, uint64_t numbers[MOVEMENT_NUMBERS]);
// The movement of that kind with these numbers. False: there is none of `count` elements.
bool movement_read(movement *m, movement_kind kind, uint64_t count, const uint64_t *numbers,
                   uint32_t number_count);

#endif
