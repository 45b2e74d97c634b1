// permc explain: how a program will run at given sizes.
#include "tool/reports/explain.h"
#include "fusion/target/target.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

static void print_target(const target *t) {
  FREED_BY(text_free) text fields = {0};
  for (size_t i = 0; i < target_field_count(); i++) {
    text_printf(&fields, "%s%s = ",
                i == 0  ? "  "
                : i % 4 ? ", "
                        : ",\n  ",
                target_field_at(i).name);
    target_print_field(&fields, t, i);
  }
  printf("%s\n%s\n\n", t->name, text_content(&fields));
}

void print_targets(void) {
  for (size_t i = 0; i < target_count(); i++)
    print_target(target_at(i));
  puts("A file can be given instead, with lines such as:\n"
       "  base = avx2            # what is not said below is as there\n"
       "  tile_bytes = 65536\n");
  for (size_t i = 0; i < target_field_count(); i++)
    printf("%-24s %s\n", target_field_at(i).name, target_field_at(i).summary);
}

typedef struct explain_output {
  bool json, machine, rules;
  text out;
} explain_output;

static bool print_report(permc_context *c, const explanation *e, void *with) {
  explain_output *o = with;
  if (o->machine)
    return report_explain_machine(c, e, o->json, &o->out);
  report_explain_json(&o->out, e, o->rules);
  return true;
}

static uint32_t asked_ranks(const cli_arguments *args) {
  return (uint32_t)cli_number(args, "--ranks", 0);
}

// A report of the tool; NULL: reported.
static char *make_report(cli_session *s) {
  const cli_arguments *args = s->args;
  explain_output o = {cli_is_given(args, "--json"),
                      cli_is_given(args, "--machine"),
                      cli_is_given(args, "--rules"),
                      {0}};
  const char *name = cli_value(args, "--target");
  pipeline_request r = {.entry = s->entry,
                        .last = STAGE_PLAN,
                        .shows_times = true,
                        .types = cli_value(args, "--arguments"),
                        .arguments = s->arguments,
                        .argument_count = s->argument_count,
                        .sizes = s->sizes.first,
                        .size_count = s->sizes.count,
                        .ranks = asked_ranks(args),
                        .memory = cli_number(args, "--memory", 0),
                        .target = name        ? name
                                  : o.machine ? "gpu"
                                              : NULL};
  bool good = cli_report(s->context, explain_entry(s->context, &r, print_report, &o));
  if (good && !o.out.failed)
    return o.out.data;
  if (good)
    cli_error("out of memory");
  text_free(&o.out);
  return NULL;
}

// What the library says; NULL: reported.
static char *make_text(cli_session *s) {
  const char *dump = cli_is_given(s->args, "--html") ? "html" : cli_value(s->args, "--dump");
  return cli_explain(s, (permc_explain_options){.rules = cli_is_given(s->args, "--rules"),
                                                .ranks = asked_ranks(s->args),
                                                .memory = cli_number(s->args, "--memory", 0),
                                                .dump = dump});
}

static bool explain(cli_session *s, void *with) {
  (void)with;
  bool report = cli_is_given(s->args, "--json") || cli_is_given(s->args, "--machine");
  char *out = !cli_read_given(s) ? NULL : report ? make_report(s) : make_text(s);
  return cli_put_out(s, out);
}

cli_status verb_explain(const cli_arguments *args) { return cli_with_program(args, explain, NULL); }
