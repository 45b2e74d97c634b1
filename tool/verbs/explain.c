// permc explain: how a program will run at given sizes.
#include "tool/reports/explain.h"
#include "fusion/target/target.h"
#include "tool/cli/program.h"
#include "tool/verbs/verbs.h"

static void print_target(const target *t) {
  text fields = {0};
  for (size_t i = 0; i < target_field_count(); i++) {
    text_printf(&fields, "%s%s = ",
                i == 0  ? "  "
                : i % 4 ? ", "
                        : ",\n  ",
                target_field_at(i).name);
    target_print_field(&fields, t, i);
  }
  printf("%s\n%s\n\n", t->name, text_content(&fields));
  text_free(&fields);
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

// What to explain an entry for.
typedef struct explain_input {
  const cli_sizes *sizes;
  permc_value **arguments;  // of -i, or NULL
  size_t argument_count;
} explain_input;

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
static char *make_report(const cli_arguments *args, const explain_input *in, permc_context *c) {
  explain_output o = {cli_is_given(args, "--json"),
                      cli_is_given(args, "--machine"),
                      cli_is_given(args, "--rules"),
                      {0}};
  const char *name = cli_value(args, "--target");
  pipeline_request r = {.entry = cli_entry(args),
                        .last = STAGE_PLAN,
                        .shows_times = true,
                        .types = cli_value(args, "--arguments"),
                        .arguments = in->arguments,
                        .argument_count = in->argument_count,
                        .sizes = in->sizes->first,
                        .size_count = in->sizes->count,
                        .ranks = asked_ranks(args),
                        .memory = cli_number(args, "--memory", 0),
                        .target = name        ? name
                                  : o.machine ? "gpu"
                                              : NULL};
  bool good = cli_report(c, explain_entry(c, &r, print_report, &o));
  if (good && !o.out.failed)
    return o.out.data;
  if (good)
    cli_error("out of memory");
  text_free(&o.out);
  return NULL;
}

// What the library says; NULL: reported.
static char *make_text(const cli_arguments *args, const explain_input *in, permc_context *c) {
  permc_explain_options options = {
      .target = cli_value(args, "--target"),
      .types = cli_value(args, "--arguments"),
      .arguments = in->arguments,
      .argument_count = in->argument_count,
      .rules = cli_is_given(args, "--rules"),
      .ranks = asked_ranks(args),
      .memory = cli_number(args, "--memory", 0),
      .dump = cli_is_given(args, "--html") ? "html" : cli_value(args, "--dump")};
  char *out = NULL;
  const cli_sizes *sizes = in->sizes;
  cli_report(c, permc_explain(c, cli_entry(args), sizes->first, sizes->count, &options, &out));
  return out;
}

static cli_status explain_at_sizes(const cli_arguments *args, const cli_sizes *sizes) {
  permc_context *c = cli_context_new();
  char *out = NULL;
  if (!c)
    return CLI_WRONG;
  cli_status status = cli_use_options(args, c);
  if (status == CLI_OK) {
    bool report = cli_is_given(args, "--json") || cli_is_given(args, "--machine");
    explain_input in = {.sizes = sizes};
    if (cli_load(c, cli_operand(args, 0), cli_value(args, "-e")) &&
        cli_read_given(c, args, &in.arguments, &in.argument_count))
      out = (report ? make_report : make_text)(args, &in, c);
    permc_values_free(in.arguments, in.argument_count);
    text all = {.data = out, .length = out ? strlen(out) : 0};
    status = out ? cli_print_text(&all) : CLI_WRONG;
  }
  permc_context_free(c);
  return status;
}

cli_status verb_explain(const cli_arguments *args) {
  cli_sizes sizes;
  cli_status status = cli_read_sizes(args, 1, &sizes);
  if (status == CLI_OK)
    status = explain_at_sizes(args, &sizes);
  cli_sizes_free(&sizes);
  return status;
}
