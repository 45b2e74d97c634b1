// What the sources of a library made ahead of time (ahead.h) say of a program, whatever
// it is for. Part of each of them, behind kernels/text/host.h.
//
// A program has arrays by number; each lies in an argument, a table of the source, a result, or
// the workspace. Here a0 is the argument, a1 the result, a2 between two passes:
//
//   places    {PERMC_ARGUMENT, 0, 0}  {PERMC_RESULT, 0, 0}  {PERMC_WORKSPACE, 512, 0}
#ifndef PERMC_AHEAD_PROGRAM
#define PERMC_AHEAD_PROGRAM

enum { PERMC_NOWHERE, PERMC_ARGUMENT, PERMC_TABLE, PERMC_RESULT, PERMC_WORKSPACE, PERMC_PART };
typedef struct permc_place {
  int home;
  uint64_t at;  // the number of the argument, table or result; a place in the workspace; the array
                // before this one that it is a part of, from `offset` bytes on
  uint64_t offset;
} permc_place;

// What is checked of array `array`, of `count` elements.
typedef struct permc_check {
  check_rule rule;
  uint32_t array;
  uint64_t count;
} permc_check;

// A result that is given to the caller when all checks are passed.
typedef struct permc_copy {
  uint32_t array, result;
  uint64_t bytes;
} permc_copy;

#endif
