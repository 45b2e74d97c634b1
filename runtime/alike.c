// See alike.h.
#include "runtime/alike.h"

#include "core/hash.h"
#include "lang/syntax/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 100 };

void run_origin_of(const permc_context *c, run_origin *out) {
  const loaded_program *p = &c->program;
  const char *expression = "";
  uint64_t digest = 0;
  for (size_t i = 0; i < p->program.modules.count; i++) {
    const module *m = p->program.modules.items[i];
    const source *s = &p->diagnostics.sources.items[m->file];
    if (m->library)
      continue;
    digest = digest * 31 + hash_bytes(s->text, s->length);
    if (strcmp(s->name, "-e") == 0)
      expression = s->text;
  }
  snprintf(out->text, sizeof out->text, "%.*s\n%" PRIx64, SHOWN, expression, digest);
}
