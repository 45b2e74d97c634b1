// Random programs with data: well typed, deterministic in a seed.
//
// In: a seed, or the choices of an earlier program with some of them changed. Out: the text of a
// program with the entry point `main`, its arguments as values, and what its results will be
// shaped like. One library for the differential test, long runs and whatever else needs programs.
//
//   random_program *p = random_program_new(7, &default_program_options);
//   permc_load_text(context, "7.perm", p->text, strlen(p->text));
//   permc_run(context, "main", NULL, p->values, p->argument_count, &results, &count);
//   random_program_free(p);
//
// A program is made by a sequence of choices, each a number of which 0 is the simplest alternative.
// Leaving out choices, or making them smaller, gives another program that is well typed, and mostly
// a smaller one: that is how a failing program is reduced (Hypothesis reduces its examples so;
// MacIver and Donaldson, Test-case reduction via test-case generation, 2020). The choices of a part
// of a program stand between two marks, so that a change of one part leaves the others as they are.
#ifndef PERMC_TESTS_GENERATOR_PROGRAM_H
#define PERMC_TESTS_GENERATOR_PROGRAM_H

#include "core/scalar/scalar.h"
#include "runtime/permc.h"

// How the bits of a float came about, the least exact first to be compared last: what was only
// moved and selected is the same to the bit on every backend, NaN payloads included; what was
// computed by
// + - * / sqrt and their kin is, but for the bits of a NaN; what sin, exp and their kin made is
// close.
typedef enum origin {
  ORIGIN_MOVED,
  ORIGIN_PARAMETER,  // while a function is made that is applied repeatedly: moved from its argument
  ORIGIN_COMPUTED,
  ORIGIN_ROUGH
} origin;

typedef enum shape_kind { SHAPE_SCALAR, SHAPE_TUPLE, SHAPE_ARRAY } shape_kind;

enum { TUPLE_PARTS = 4 };

// The type of a value with its lengths.
typedef struct shape shape;
struct shape {
  shape_kind kind;
  scalar_type type;                 // SCALAR
  origin origin;                    // SCALAR
  uint64_t length;                  // ARRAY
  uint32_t count;                   // TUPLE; 1 for an ARRAY
  const shape *parts[TUPLE_PARTS];  // components; parts[0]: the elements of an ARRAY
};

typedef struct program_options {
  int max_bits;            // arrays have up to 2^max_bits elements, or rows of so many
  bool rough;              // sin, exp and their kin, too
  bool places;             // gather, scatter and what the library makes of them, too
  uint32_t fault_percent;  // how many programs get a mistake on purpose
} program_options;
extern const program_options default_program_options;

enum { SPAN_BEGINS = 0x7fffffff, SPAN_ENDS = 0x7ffffffe };  // among the choices

typedef struct random_program {
  const char *text;
  const shape **arguments, **results;
  permc_value **values;  // of the arguments
  size_t argument_count, result_count;
  const char **marks;  // what occurs in it: names of constructs, types and sizes
  size_t mark_count;
  uint32_t *choices;
  size_t choice_count;
} random_program;

random_program *random_program_new(uint64_t seed, const program_options *o);
// The program of these choices; those that are missing are 0. The data are made from the seed.
random_program *random_program_again(uint64_t seed, const uint32_t *choices, size_t count,
                                     const program_options *o);
void random_program_free(random_program *p);
// The types of its arguments: "[8]u32 [3](u8, f32)". To be freed.
char *random_program_types(const random_program *p);

// A context for one program after the other, each of them small. NULL when memory is out.
permc_context *random_program_context(void);

#endif
