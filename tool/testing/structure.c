// Structures of test blocks. See testing/structure.h.
#include "tool/testing/structure.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>

// What is planned for, unless the block says it: tests do not depend on the machine.
static const char default_target[] = "line128-tile128k";

static bool copy_facts(permc_context *c, const explanation *e, void *facts) {
  (void)c;
  *(plan_facts *)facts = e->facts;
  return true;
}

static bool count_plan(permc_context *c, const char *entry, const block_structure *s,
                       const char *target_name, plan_facts *facts, text *why) {
  permc_size *sizes = calloc(s->sizes.count + 1, sizeof *sizes);
  if (!sizes) {
    text_string(why, "out of memory");
    return false;
  }
  for (size_t i = 0; i < s->sizes.count; i++)
    sizes[i] = (permc_size){s->sizes.items[i].name, s->sizes.items[i].number};
  pipeline_request r = {.entry = entry,
                        .last = STAGE_PLAN,
                        .sizes = sizes,
                        .size_count = s->sizes.count,
                        .target = target_name};
  bool good = explain_entry(c, &r, copy_facts, facts);
  if (!good)
    text_printf(why, "there is no plan to compare the structure with:\n%s", permc_message(c));
  free(sizes);
  return good;
}

// In the words of a structure, so that it can be copied into one.
static void print_structure(text *why, const block_structure *s, const char *target_name,
                            const uint64_t *found) {
  for (size_t i = 0; i < s->sizes.count; i++)
    text_printf(why, "%s %" PRId64 " ", s->sizes.items[i].name, s->sizes.items[i].number);
  for (size_t i = 0; i < STRUCTURE_COUNTS; i++)
    text_printf(why, "%s %" PRIu64 " ", structure_count_names[i], found[i]);
  text_printf(why, "target %s", target_name);
}

bool structure_holds(permc_context *c, const char *entry, const block_structure *s, text *why) {
  const char *target_name = s->target ? s->target : default_target;
  plan_facts f;
  if (!count_plan(c, entry, s, target_name, &f, why))
    return false;
  const uint64_t found[STRUCTURE_COUNTS] = {f.columns, f.passes, f.permutations, f.exchanges};
  size_t before = why->length;
  for (size_t i = 0; i < s->expectations.count; i++) {
    const structure_expectation *e = &s->expectations.items[i];
    uint64_t count = found[e->count];
    if (e->at_most ? count <= e->number : count == e->number)
      continue;
    text_printf(why, "%s%s %" PRIu64 ", expected %s%" PRIu64,
                why->length > before ? "; " : "the plan has ", structure_count_names[e->count],
                count, e->at_most ? "at most " : "", e->number);
  }
  if (why->length == before)
    return true;
  text_string(why, "\n");
  print_structure(why, s, target_name, found);
  return false;
}
