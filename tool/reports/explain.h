// What `permc explain` prints beside the text of the library: JSON, and the cost of a plan's passes
// on a memory machine.
#ifndef PERMC_TOOL_REPORTS_EXPLAIN_H
#define PERMC_TOOL_REPORTS_EXPLAIN_H

#include "runtime/explain/explain.h"

// One object. show_rules: also the rewrite rules that fired.
void report_explain_json(text *out, const explanation *e, bool show_rules);

// The passes on a Hierarchical Memory Machine like a GPU and, where there is a GPU, there. False:
// reported.
bool report_explain_machine(permc_context *c, const explanation *e, bool json, text *out);

#endif
