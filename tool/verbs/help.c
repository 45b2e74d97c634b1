// `permc help` and `permc help VERB`, from the tables alone.
#include "tool/cli.h"

enum { OPTION_COLUMN = 26 };

// "--backend auto|interp", as it is typed.
static int option_width(const cli_option *o) {
  return (int)(strlen(o->name) + (o->argument ? strlen(o->argument) + 1 : 0));
}

static void print_option(FILE *to, const cli_option *o) {
  fprintf(to, "  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
  if (option_width(o) < OPTION_COLUMN - 3)
    fprintf(to, "%*s", OPTION_COLUMN - 2 - option_width(o), "");
  else
    fprintf(to, "\n%*s", OPTION_COLUMN, "");
  fprintf(to, "%s%s\n", o->help, o->repeats ? " (repeatable)" : "");
}

void cli_help(FILE *to) {
  fputs("permc: a compiler for a small language of combinators over arrays\n\nusage:\n", to);
  for (const cli_verb *v = cli_verbs; v->name; v++)
    fprintf(to, "  permc %-7s %-24s %s\n", v->name, v->operands, v->summary);
  fprintf(to, "\noptions:\n  %-24s%s\n  %-24s%s\n", "--help",
          "this text; after a verb, that verb's options", "--version", "the version of permc");
  fputs("\nFor the options of a verb: permc help VERB\n"
        "\nexit status: 0 all is well, 1 the program or its data is wrong, 2 the command line is "
        "wrong\n",
        to);
}

void cli_help_verb(FILE *to, const cli_verb *verb) {
  fprintf(to, "usage: permc %s%s %s\n\n%s\n", verb->name, verb->options->name ? " [OPTION]..." : "",
          verb->operands, verb->details);
  if (verb->options->name)
    fputs("\noptions:\n", to);
  for (const cli_option *o = verb->options; o->name; o++)
    print_option(to, o);
  fprintf(to, "\nexample:\n  %s\n", verb->example);
}
