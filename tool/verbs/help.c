// `permc help` and `permc help VERB`, from the table of verbs alone.
#include "tool/verbs/verbs.h"

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
  fputs("\nFor the options of a verb: permc help VERB\n"
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

cli_status verb_help(const cli_arguments *args) {
  const char *word = cli_operand(args, 0);
  const cli_verb *verb = word ? cli_verb_named(args->verbs, word) : NULL;
  if (word && !verb)
    return cli_unknown_verb(args->verbs, word);
  if (verb)
    print_verb_help(stdout, verb);
  else
    print_help(stdout, args->verbs);
  return CLI_OK;
}
