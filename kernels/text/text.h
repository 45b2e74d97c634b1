// C and CUDA text while it is generated: what every pass may need, and nothing of passes.
//
// In: names of operations, types and numbers of lanes. Out: the name of a function or type that
// does it; its definition is written in front of the passes, once.
//
//   c_line(w, "const %s v%u = %s(v%u, v%u);", c_vector(w, 4, 16), 3,
//          c_minimum(w, false, SCALAR_U32, 16), 1, 2);
//
//   in w->definitions, the first time   static inline ... u32x16 min_u32x16(u32x16 a, u32x16 b) {
//                                         ...
//   in w->body                          const u32x16 v3 = min_u32x16(v1, v2);
//
//   writer.h          the text: definitions in front, statements of an item and of a thread
//   function.h        functions on vectors, by element.c, function.c, lanes.c, half.c
//   template.h        ... from templates: vector.inc, and core/scalar/order.inc
//   source.h          the sources that a file contains as they are:
//     host.h            what generated code and the program that loads it share (another door:
//                       it includes nothing of permc)
//     cuda_host.h       what makes a kernel CUDA, or C for the host
//     half.h            f16 by instructions of x86
//     runtime_matrix.h  the kernel of a pass whose matrix comes at run time (another door)
#ifndef PERMC_KERNELS_TEXT_TEXT_H
#define PERMC_KERNELS_TEXT_TEXT_H

#include "kernels/text/function.h"
#include "kernels/text/host.h"
#include "kernels/text/runtime_matrix.h"
#include "kernels/text/source.h"
#include "kernels/text/writer.h"

#endif
