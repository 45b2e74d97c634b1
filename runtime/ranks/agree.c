// What ranks tell each other: that one has failed, that they do the same. See rank.h.
#include "runtime/ranks/rank.h"

// Always the same parts, so that ranks at different steps get each other's, and not what is no
// digest.
bool rank_agree(transport *t, const rank_step *own, error *failure) {
  const transport_part rows[] = {
      {.name = "step", .bytes = own->step, .shown = true},
      {.name = "entry point", .bytes = own->entry, .shown = true, .explains = true},
      {.name = "argument types", .bytes = own->types, .shown = true, .explains = true},
      {.name = "program text", .bytes = own->text, .shown = true, .explains = true},
      {.name = "call", .bytes = own->call, .shown = true, .explained = true},
      {.name = "plan", .bytes = own->plan, .explained = true},
      {.name = "choice of arguments that are in parts, or in files", .bytes = own->parts},
      {.name = "arguments that each rank has all of", .bytes = own->whole},
      {.name = "choice of floats", .bytes = own->floats, .shown = true},
      {.name = "memory", .bytes = own->memory, .shown = true},
      {.name = "output file, and all write one", .bytes = own->file, .shown = true}};
  enum { PARTS = sizeof rows / sizeof *rows };
  transport_part parts[PARTS];
  for (size_t i = 0; i < PARTS; i++) {
    parts[i] = rows[i];
    parts[i].bytes = rows[i].bytes ? rows[i].bytes : "";
    parts[i].count = strlen(parts[i].bytes);
  }
  return transport_agree(t, parts, PARTS, failure);
}

bool rank_compare(transport *t, uint64_t own, bool *same, error *failure) {
  FREED uint64_t *all = transport_gather_each(t, &own, sizeof own, failure);
  *same = all != NULL;
  for (uint32_t r = 0; all && r < t->ranks; r++)
    *same = *same && all[r] == own;
  return all != NULL;
}
