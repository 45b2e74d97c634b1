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

static cli_status write_picture(const cli_arguments *args, char *picture) {
  text all = {.data = picture, .length = strlen(picture)};
  const char *path = cli_value(args, "-o");
  if (!path)
    return cli_print_text(&all);
  bool written = cli_write_file(path, &all);
  text_free(&all);
  return written ? CLI_OK : CLI_WRONG;
}

cli_status verb_draw(const cli_arguments *args) {
  const char *path = cli_value(args, "-o");
  cli_session s;
  if (path && !cli_check_picture(path, true))
    return CLI_WRONG;
  cli_status status = cli_open(&s, args, cli_operand(args, 0));
  if (status == CLI_OK) {
    char *picture = cli_read_given(&s) ? make_picture(&s) : NULL;
    status = picture ? write_picture(args, picture) : CLI_WRONG;
  }
  cli_close(&s);
  return status;
}
