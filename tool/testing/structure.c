// Structures of test blocks. See testing/structure.h.
#include "tool/testing/structure.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>

// What is planned for, unless the block says it: tests do not depend on the machine.
static const char default_target[] = "line128-tile128k";

typedef struct counted_plan {
  plan_facts facts;
  explained_groups groups;
} counted_plan;

static bool copy_counts(permc_context *c, const explanation *e, void *counts) {
  (void)c;
  *(counted_plan *)counts = (counted_plan){e->facts, e->groups};
  return true;
}

static bool count_plan(permc_context *c, const char *entry, const block_structure *s,
                       const char *target_name, counted_plan *counts, text *why) {
  FREED permc_size *sizes = calloc(s->sizes.count + 1, sizeof *sizes);
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
  bool good = explain_entry(c, &r, copy_counts, counts);
  if (!good) {
    text_printf(why, "there is no plan to compare the structure with:\n%s", permc_message(c));
    const binding *b = context_entry(c, entry);
    for (size_t i = 0; b && i < s->sizes.count; i++)
      if (!entry_has_size(b, s->sizes.items[i].name))
        text_printf(why,
                    "in a structure '%s' would be a size; counts are columns, passes, "
                    "permutations, copies, exchanges and planned",
                    s->sizes.items[i].name);
    if (b && b->size_names.count > s->sizes.count)
      text_printf(why, "in a structure: { %s 10 columns 1 }", b->size_names.items[0]);
  }
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
  counted_plan counts;
  if (!count_plan(c, entry, s, target_name, &counts, why))
    return false;
  const plan_facts f = counts.facts;
  const uint64_t found[STRUCTURE_COUNTS] = {f.columns, f.passes,    f.permutations,
                                            f.copies,  f.exchanges, f.planned};
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
  if (counts.groups.columns) {
    text_string(why, "\n");
    explain_groups_text(why, &counts.groups);
  }
  return false;
}
