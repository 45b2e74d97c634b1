// permc paper: the tables of a paper, computed again, beside what the paper has.
#include "tool/papers/paper.h"
#include "tool/verbs/verbs.h"

cli_status verb_paper(const cli_arguments *args) {
  text_closest closest = {.word = args->operands[0]};
  const paper *p = paper_named(closest.word);
  paper_tables tables = {.memory = args->memory};
  text out = {0};
  if (!p) {
    text_string(&out, "there is ");
    for (size_t i = 0; paper_at(i); i++) {
      text_printf(&out, "%s%s", i ? ", " : "", paper_at(i)->name);
      text_consider(&closest, paper_at(i)->name);
    }
    cli_status status = cli_unknown_name(args, "paper", &closest, text_content(&out));
    text_free(&out);
    return status;
  }
  p->reproduce(&tables, 0);
  (cli_is_given(args, "--json") ? paper_print_json : paper_print)(&out, p, &tables);
  return cli_print_text(&out);
}
