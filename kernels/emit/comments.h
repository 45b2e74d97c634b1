// Private to kernels/emit/: comments, which only readers see, and code without them. Two kernels
// that differ in comments alone are one kernel.
#ifndef PERMC_KERNELS_EMIT_COMMENTS_H
#define PERMC_KERNELS_EMIT_COMMENTS_H

#include "kernels/emit/emit.h"
#include "kernels/text/text.h"

// The comments at the head of the program's part.
void c_write_head(text *out, const plan *p, const c_code *code, const c_comments *comments);
// The line that an op comes from, if comments are wanted.
void c_write_origin(c_writer *w, const c_options *options, const net_op *op);
// The code without comments, in the writer's memory.
const char *c_without_comments(c_writer *w, const char *code);

#endif
