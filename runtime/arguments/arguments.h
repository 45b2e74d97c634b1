// Arguments: what an entry is given, as shapes before there are data, and as values read or drawn.
//
// Comes in: types, sizes, files, bytes or a seed. Goes out: values of the API (permc_value), and
// the shapes that elaboration works at. An entry main : [2^n](a, i64) -> ... has one parameter of
// two arrays:
//
//   given as           permc_value          shapes
//   "[8](u32, i64)"    u32[8] i64[8]        {u32, 1, {8}} {i64, 1, {8}}, with a = u32
//   n = 3                                   {i64, 1, {8}} {i64, 1, {8}}, a by default
//
//   values.c    permc_value, as embedders see it
//   shapes.c    types in words, and sizes, to shapes
//   fit.c       the types of an entry's parameters, made equal to those of values
//   read.c      values from files and bytes
//   random.c    values at random
#ifndef PERMC_RUNTIME_ARGUMENTS_ARGUMENTS_H
#define PERMC_RUNTIME_ARGUMENTS_ARGUMENTS_H

#include "runtime/context/context.h"
#include "runtime/values/value.h"

// ---- values ----------------------------------------------------------------------------------

// Bytes from which on arrays are not read or drawn before a rank, or a step of a run on files,
// needs its part of them.
enum { VALUES_APART = 1 << 12 };

// Brings what is in files to memory. PERMC_ERROR_ARGUMENT: it has more than there is; *why says so.
permc_code value_load(const permc_context *c, permc_value *v, error *why);
// With so many components, all {0}. NULL: there is no memory.
permc_value *value_new(size_t component_count);
// Adds a component, with a name or NULL. False: there is no memory, and the array is the caller's.
bool value_append(permc_value *v, const array *component, const char *name);
// Frees the values; then there are none.
void values_drop(permc_value ***values, size_t *count);

// ---- sizes -----------------------------------------------------------------------------------

bool size_is_given(const char *name, const permc_size *sizes, size_t count);
// Whether it is a size name of the entry's signature, or names a parameter that is an int.
bool entry_has_size(const binding *entry, const char *name);
// "'m' and 'n'": all of these names, for messages; "" if there are none.
void entry_list_sizes(text *out, const binding *entry);
// The name that an equation of the entry gives to its parameter, if that is an int; else NULL.
const char *entry_integer_name(const binding *entry, size_t parameter);

// ---- shapes ----------------------------------------------------------------------------------

typedef struct argument_shapes {
  type **instance;      // what the type variables of the entry became
  array_shapes arrays;  // of all parameters, in order
} argument_shapes;

// What may stand behind --arguments: '3 [2^3]i32'. The array of number `known` is given its elements.
void entry_print_example(text *out, const binding *b, uint32_t known);

// Each is false, reported, where the entry takes no such arguments.
bool shapes_of_values(permc_context *c, binding *entry, permc_value *const *values, size_t count,
                      arena *memory, argument_shapes *out);
// At these sizes, all that the signature names, and values of parameters that are ints, by their
// names; the lengths of all arrays have to follow from them. Element types that are open get their
// defaults.
bool shapes_at(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
               arena *memory, argument_shapes *out);
// The same, where sizes that are not given, and lengths that no size names, are `other`, and ints
// *guess (NULL: not known).
bool shapes_at_some(permc_context *c, binding *entry, const permc_size *sizes, size_t count,
                    int64_t other, const int64_t *guess, arena *memory, argument_shapes *out);

// As many values as the entry has parameters, of types in words, "[2^24]u32 [8](u32, f64)", one for
// each; or instead of a type a value, such as 5 or [4, 1, 2]. Other arrays have no data. `what`:
// what the types are, for messages. On failure, which is reported, there are none.
bool values_of_types(permc_context *c, const char *entry, const char *what, const char *types,
                     permc_value ***values, size_t *count);

// One value of a type from text. NULL: reported.
permc_value *value_of_text(permc_context *c, const char *name, const char *bytes, size_t count,
                           type *t);

// ---- the types of parameters -----------------------------------------------------------------

// An entry's types while arguments are being fitted to it, one after the other.
typedef struct entry_types {
  binding *entry;
  type *rest;       // the type after the parameters fitted so far
  type **instance;  // what the entry's type variables became
} entry_types;
entry_types entry_types_start(permc_context *c, binding *entry);
// Makes the next parameter's type and the value agree; false (reported) if they cannot.
bool entry_types_fit(permc_context *c, entry_types *t, const permc_value *v, size_t number);
// Behind the error that an argument is not what is wanted: shows the literal that decides its type.
void entry_note_literal(permc_context *c, type *wanted);
// Type variables that no argument decides become their defaults.
void entry_types_finish(permc_context *c, entry_types *t);

#endif
