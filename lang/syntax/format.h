// The formatter: a program text in its one canonical layout.
#ifndef PERMC_LANG_SYNTAX_FORMAT_H
#define PERMC_LANG_SYNTAX_FORMAT_H

#include "core/error.h"

// Appends the canonical text of source `file` to out. False (reported) if it has syntax errors.
// Idempotent; comments and line breaks stay, indentation keeps its meaning.
bool format_source(diagnostics *d, uint32_t file, text *out);

#endif
