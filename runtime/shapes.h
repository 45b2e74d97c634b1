// What arguments an entry is given, before there are any: types and lengths.
//
//   "[2^24]u32 [8](u32, f64)"     as a user writes them, one type for each argument
//   n = 24                        or the sizes that the entry's signature names
#ifndef PERMC_RUNTIME_SHAPES_H
#define PERMC_RUNTIME_SHAPES_H

#include "runtime/pipeline.h"

// As many values as the entry has parameters; their arrays have no data. `what`: what the types
// are, for messages. On failure, which is reported, there are none.
bool shapes_of_types(permc_context *c, const char *entry, const char *what, const char *types,
                     permc_value ***values, size_t *count);

// The arrays of all arguments at these sizes, which have to be all that the signature names; the
// lengths of all arrays have to follow from them. Element types that are open get their defaults.
bool shapes_at(permc_context *c, binding *b, arena *memory, const permc_size *sizes,
               size_t size_count, array_shapes *shapes);

#endif
