// permc draw: a picture of a program at given sizes.
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

// NULL: reported.
static char *make_picture(cli_session *s) {
  const char *what = cli_value(s->args, "--what"), *path = cli_value(s->args, "-o");
  char name[32];
  snprintf(name, sizeof name, "%s%s", what ? what : "picture",
           path && cli_ends_with(path, ".svg") ? ".svg" : "");
  return cli_explain(s, (permc_explain_options){.dump = name});
}

static bool draw(cli_session *s, void *with) {
  (void)with;
  return cli_put_out(s, cli_read_given(s) ? make_picture(s) : NULL);
}

cli_status verb_draw(const cli_arguments *args) {
  const char *path = cli_value(args, "-o");
  bool good = !path || cli_check_picture(path, true);
  return good ? cli_with_program(args, draw, NULL) : CLI_WRONG;
}
