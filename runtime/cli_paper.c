// permc paper: the tables of a paper, computed again, beside what the paper has.
#include "runtime/cli.h"
#include "runtime/paper.h"

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
              : cli_usage_error("paper: no paper '%s', only %s", name, names.data);
  text_free(&names);
  return status;
}

cli_status cli_paper(const cli_arguments *given) {
  const paper *p = paper_named(given->operands[0]);
  if (!p)
    return no_paper(given->operands[0]);
  jmp_buf failure;
  arena memory = {.failure = &failure};
  paper_tables tables = {0};
  text out = {0};
  if (setjmp(failure)) {
    arena_free(&memory);
    cli_error("out of memory");
    return CLI_WRONG;
  }
  p->reproduce(&memory, 0, &tables);
  if (cli_count(given, "--json"))
    paper_print_json(&out, p, &tables);
  else
    paper_print(&out, p, &tables);
  bool good = !out.failed;
  if (good)
    fputs(out.data, stdout);
  else
    cli_error("out of memory");
  text_free(&out);
  arena_free(&memory);
  return good ? CLI_OK : CLI_WRONG;
}
