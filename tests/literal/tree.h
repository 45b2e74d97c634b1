// What a random program is made of: for tests/literal only.
#ifndef PERMC_TESTS_LITERAL_TREE_H
#define PERMC_TESTS_LITERAL_TREE_H

#include "core/text.h"
#include "tests/literal/literal.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 4 };
enum { REORDERS = 6, FLIP = 5 };  // permutations of REORDER; the last has a mask

typedef enum kind {
  // int
  NUMBER,
  SCALAR,
  ADD,
  SUBTRACT,
  XOR,
  TIMES,
  CHOOSE,
  MINIMUM,
  SUM,
  TOTAL,
  ELEMENT,
  LET_SCALAR,
  APPLY_LAMBDA,
  CALL_SCALAR,
  SCALAR_KINDS,
  // [2^n]int, of the length of the scope
  ARRAY,
  TAKE,
  MAP,
  MAPI,
  ZIP_WITH,
  PARM,
  PARMI,
  COLUMN,
  EXCHANGE,
  REORDER,
  ROWS,
  COLUMNS,
  LET_ARRAY,
  LET_FUNCTION,
  CALL,
  IOTA,
  REPLICATE,
  SORT,
  SCAN,
  PADDED,
  STRICT,
  BY_SIZE,
  PAIRS,
  WHERE_SCALAR,
  COMPREHENSION,
  TREE,
  REPEAT,
  ZIP_ROWS,
  ARGSORT,
  KINDS
} kind;

// `number`, `first` and `second` are constants and names of variables: v3 an int, a3 an array.
typedef struct node node;
struct node {
  kind kind;
  int64_t number;
  int first, second;
  int base;  // an array variable of the scope's length
  node *child[3];
};

// h0 ...: parameters are two ints; g0 ...: an int and an array.
typedef struct function {
  int first, second;
  node *body;
} function;

struct literal_program {
  function scalars[FUNCTIONS], arrays[FUNCTIONS];
  int variables;  // how many there are
  text text;
};

void literal_write(literal_program *p);     // text.c
int64_t literal_sum_length(const node *n);  // of SUM and TOTAL

#endif
