// Private to kernels/text/ (door: text.h): C sources that generated code contains, as texts in
// the binary (cmake/embed.cmake): the scalar operations of core/, so that generated code and the
// oracle compute alike to the bit, and kernels/text/host.h.
//
//   c_source_add(out, "core/scalar/integer.c");    // add_i32, div_u8, ... as static functions
#ifndef PERMC_KERNELS_TEXT_SOURCE_H
#define PERMC_KERNELS_TEXT_SOURCE_H

#include "core/text.h"

struct c_source {
  const char *name;  // "core/scalar/integer.c"
  const char *text;
  size_t length;
};

// Sorted by name.
extern const struct c_source c_sources[];
extern const size_t c_source_count;

// NULL: there is none.
const struct c_source *c_source_named(const char *name, size_t length);

// Adds the text of the file `name`. Templates (.inc) that it includes are put in their places, its
// headers are in front already; comments and empty lines are left out.
void c_source_add(text *out, const char *name);

#endif
