// `permc help` and `permc help VERB`, from the table of verbs; `permc help NAME`, from the
// reference.
#include "lang/syntax/hints.h"
#include "tool/verbs/manual.h"
#include "tool/verbs/verbs.h"

#include <ctype.h>

enum { OPTION_COLUMN = 26 };

// "  --backend auto|interp   what executes the program"
static void print_option(FILE *to, const cli_option *o) {
  int width =
      fprintf(to, "  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
  if (width < OPTION_COLUMN - 1)
    fprintf(to, "%*s", OPTION_COLUMN - width, "");
  else
    fprintf(to, "\n%*s", OPTION_COLUMN, "");
  fprintf(to, "%s%s\n", o->help, o->repeats ? " (repeatable)" : "");
}

void print_help(FILE *to, const cli_verb *verbs) {
  fputs("permc: a compiler for a small language of combinators over arrays\n\nusage:\n", to);
  for (const cli_verb *v = verbs; v->name; v++)
    fprintf(to, "  permc %-7s %-24s %s\n", v->name, v->operands, v->summary);
  fprintf(to, "\noptions:\n  %-24s%s\n  %-24s%s\n", "--help",
          "this text; after a verb, that verb's options", "--version", "the version of permc");
  fputs("\nFor the options of a verb: permc help VERB; for a function of the language: permc help "
        "NAME;\nfor the formats of files: permc help formats\n"
        "\nexit status: 0 all is well, 1 the program or its data is wrong, 2 the command line is "
        "wrong\n",
        to);
}

void print_verb_help(FILE *to, const cli_verb *verb) {
  fprintf(to, "usage: permc %s%s %s\n\n%s\n", verb->name, verb->options->name ? " [OPTION]..." : "",
          verb->operands, verb->details);
  if (verb->options->name)
    fputs("\noptions:\n", to);
  for (const cli_option *o = verb->options; o->name; o++)
    print_option(to, o);
  fprintf(to, "\nexample:\n  %s\n", verb->example);
}

static cli_status print_function_help(const cli_arguments *args) {
  const manual m = manual_read(args->memory);
  text_closest closest = {.word = args->operands[0]};
  text out = {0};
  if (manual_print(&out, &m, closest.word))
    return cli_print_text(&out);
  const char *hint = hint_for(HINT_NAME, closest.word);
  if (hint)
    return cli_usage_error("there is no function '%s': %s", closest.word, hint);
  for (const cli_verb *v = args->verbs; v->name; v++)
    text_consider(&closest, v->name);
  for (size_t i = 0; i < m.entries.count; i++)
    text_consider(&closest, m.entries.items[i].name);
  if (closest.name)
    return cli_usage_error("unknown verb or function '%s' (did you mean %s?)", closest.word,
                           closest.name);
  return cli_usage_error("unknown verb or function '%s' (see permc help, and docs/library.md)",
                         closest.word);
}

static bool is_function(const manual *m, const char *word) {
  for (size_t i = 0; i < m->entries.count && isalpha((unsigned char)*word); i++)
    if (!strcmp(m->entries.items[i].name, word))
      return !manual_is_syntax(&m->entries.items[i]);
  return false;
}

cli_status report_unknown_verb(const cli_arguments *args, const char *word, const char *next) {
  const manual m = manual_read(args->memory);
  if (!is_function(&m, word))
    return cli_unknown_verb(args->verbs, word);
  FREED_BY(text_free) text data = {0};
  text_shell_word(&data, next && *next != '-' ? next : "FILE");
  cli_usage_error("unknown verb '%s', which is a function (did you mean permc run -e %s -i %s?)",
                  word, word, text_content(&data));
  return CLI_USAGE;
}

cli_status verb_help(const cli_arguments *args) {
  const char *name = cli_operand(args, 0);
  const cli_verb *verb = name ? cli_verb_named(args->verbs, name) : NULL;
  if (name && !verb)
    return print_function_help(args);
  if (verb)
    print_verb_help(stdout, verb);
  else
    print_help(stdout, args->verbs);
  return CLI_OK;
}
