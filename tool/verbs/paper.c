// permc paper: the tables of a paper, computed again, beside what the paper has.
#include "tool/papers/paper.h"
#include "tool/cli.h"

static const char *name_at(const void *state, size_t i) {
  (void)state;
  const paper *p = paper_at(i);
  return p ? p->name : NULL;
}

static cli_status no_paper(const char *name) {
  text names = {0};
  for (size_t i = 0; paper_at(i); i++)
    text_printf(&names, "%s%s", i ? ", " : "", paper_at(i)->name);
  const char *closest = cli_closest(name, name_at, NULL);
  cli_status status =
      closest ? cli_usage_error("paper: no paper '%s' (did you mean %s?)", name, closest)
              : cli_usage_error("paper: no paper '%s', only %s", name, text_content(&names));
  text_free(&names);
  return status;
}

// False: memory is out.
static bool reproduce(arena *a, const paper *p, paper_tables *out) {
  jmp_buf failure;
  a->failure = &failure;
  if (setjmp(failure))
    return false;
  p->reproduce(a, 0, out);
  return true;
}

cli_status cli_paper(const cli_arguments *given) {
  const paper *p = paper_named(given->operands[0]);
  if (!p)
    return no_paper(given->operands[0]);
  arena memory = {0};
  paper_tables tables = {0};
  text out = {0};
  bool good = reproduce(&memory, p, &tables);
  if (good && cli_count(given, "--json"))
    paper_print_json(&out, p, &tables);
  else if (good)
    paper_print(&out, p, &tables);
  good = good && !out.failed;
  if (good)
    fputs(text_content(&out), stdout);
  else
    cli_error("out of memory");
  text_free(&out);
  arena_free(&memory);
  return good ? CLI_OK : CLI_WRONG;
}
