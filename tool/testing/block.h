// Test blocks: the tests that a .perm file carries in its comments, in the notation of Futhark.
//
//   -- ==
//   -- entry: main sort_all            the entry points tested (without it: main)
//   -- tags { slow }
//   -- input { [3, 1, 2, 0] }          a test: values, @file, or random types
//   -- output { [0, 1, 2, 3] }         what it gives: values, @file; or else
//   -- auto output                     ... what the backend interp gives
//   -- error: WORDS                    ... a failure with these words in its message
//   -- random input { [1048576]i32 }
//   -- property: sorted                holds for every input of the block that is to succeed
//   -- structure { n 20 columns 210 passes <= 9 }
//                                      of the plan at these sizes, for a target of its own
//
// A block is a run of comment lines from `-- ==` on; code, an empty line or the next `-- ==` ends
// it. A block of its own with `error: WORDS` and no input says that the program has that error.
//
// In: a file's text. Out: blocks, and the mistakes in them. Nothing is executed. Private to
// testing/.
#ifndef PERMC_TOOL_TESTING_BLOCK_H
#define PERMC_TOOL_TESTING_BLOCK_H

#include "core/text.h"

typedef enum data_kind { DATA_NONE, DATA_TEXT, DATA_FILE, DATA_RANDOM } data_kind;

typedef struct block_data {
  data_kind kind;
  const char *text;       // what stands between the braces, or the file's name; 0-terminated
  uint32_t line, column;  // where it begins, from 1
} block_data;

typedef struct block_case {
  uint32_t line;
  block_data input;
  block_data output;      // DATA_NONE: not given
  bool automatic_output;  // the result is that of the interp backend
  const char *error;      // words of the run's message; NULL: the run succeeds
} block_case;

typedef enum property_kind {
  PROPERTY_SORTED,
  PROPERTY_PERMUTATION,
  PROPERTY_INVERSE_OF,
  PROPERTY_EQUALS
} property_kind;

typedef struct block_property {
  property_kind kind;
  uint32_t line;
  const char *text;      // "inverse_of bitrev"
  const char *function;  // "bitrev", an expression; NULL where the kind has none
} block_property;

typedef enum structure_count {
  STRUCTURE_COLUMNS,
  STRUCTURE_PASSES,
  STRUCTURE_PERMUTATIONS,
  STRUCTURE_COPIES,
  STRUCTURE_EXCHANGES,
  STRUCTURE_PLANNED,
  STRUCTURE_COUNTS
} structure_count;
extern const char *const structure_count_names[STRUCTURE_COUNTS];  // "columns", ...

// What a count has to be.
typedef struct structure_expectation {
  structure_count count;
  bool at_most;  // else exactly
  uint64_t number;
} structure_expectation;

typedef struct structure_size {  // a size name of the signature
  const char *name;
  int64_t number;
} structure_size;

typedef struct block_structure {
  uint32_t line;
  VEC(structure_expectation) expectations;
  VEC(structure_size) sizes;
  const char *target;  // a name; NULL: not given
} block_structure;

typedef VEC(const char *) block_names;

typedef struct test_block {
  uint32_t line, entry_line;  // of -- ==; of -- entry:, or of -- ==
  block_names entries;        // at least one
  block_names tags;
  VEC(block_case) cases;
  VEC(block_property) properties;
  VEC(block_structure) structures;
  const char *error;  // of the program, in a block without inputs; NULL: none
} test_block;

typedef struct test_blocks {
  arena memory;
  VEC(test_block) blocks;
  text mistakes;  // one line "FILE:LINE: ..." each
  unsigned mistake_count;
} test_blocks;

// False: memory ran out. Mistakes are in into->mistakes; a block is left out from its first mistake
// on.
bool testblock_parse(test_blocks *into, const char *file, const char *program, size_t length);
void testblock_free(test_blocks *b);

#endif
