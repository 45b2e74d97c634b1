// What a program checks of its data while it runs. Libraries made ahead of time contain this text,
// and that of check.inc, which says in words what is wrong.
#ifndef PERMC_CORE_CHECK_H
#define PERMC_CORE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

// What is checked is the data of an array that the program computes.
//
//   CHECK_PADDING  bools that are all false unless `padded` keeps padding (lang/elaborate/padding.c)
//   CHECK_PLACES   i64: the first of all places that is wrong, or a number that none has; and what
//                  is written there (lang/elaborate/places.c)
//   CHECK_KEYS     the same of keys: which are wrong where they are no places among their counts
//   CHECK_ROWS     the same of the lengths of rows, which are from 0 to length - 1
//   CHECK_OFFSETS  the same of where rows begin and end
//   CHECK_ENDS     the same of both in one number: a length, or an end behind the elements, or a begin in
//                  front of them, INT64_MIN / 2 lower
//   CHECK_FRACTIONS  the same of fractions, in parts of length - 1
//
// An index in an array without elements is no place at all, unless nobody asks for it (lang/elaborate/
// indices.c): then it is 0. So it is checked as a place of an array with one; its low bits come with
// this one.
#define CHECK_NONE (INT64_C(1) << 62)

typedef enum check_kind {
  CHECK_PADDING,
  CHECK_PLACES,
  CHECK_KEYS,
  CHECK_ROWS,
  CHECK_OFFSETS,
  CHECK_ENDS,
  CHECK_FRACTIONS,
  CHECK_KINDS
} check_kind;

typedef struct check_rule {
  check_kind kind;
  bool is_unsigned;        // places: their type
  uint64_t length, inner;  // of the arrays whose elements are checked, and of each element;
                           //   of the arrays that places are of, and of each list of places
} check_rule;

// The first of all that is wrong.
typedef struct check_fault {
  check_rule rule;  // of what it says
  uint64_t row, position;
  int64_t value;
} check_fault;

#endif
