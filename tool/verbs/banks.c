// permc banks: what the accesses of a trace, or of a plan, cost under every bank layout.
#include "kernels/hmm/plan.h"
#include "tool/reports/address_text.h"
#include "tool/reports/banks_report.h"
#include "tool/reports/plan.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>

// --layout NAME, or NAME:SEED of a random one.
static cli_status read_layout(const cli_arguments *args, banks_report *r) {
  const char *name = cli_value(args, "--layout");
  uint64_t seed;
  if (!name)
    return CLI_OK;
  r->only = bank_layout_kind_and_seed(name, &seed);
  if (!r->only && strchr(name, ':'))
    return cli_usage_error("banks: unknown layout '%s' (--layout help lists them; a random layout "
                           "may have a seed below 2^64, such as RAP:7)",
                           name);
  text_closest closest = {.word = name};
  for (size_t i = 0; bank_layout_kind_at(i); i++)
    text_consider(&closest, bank_layout_kind_at(i)->name);
  if (!r->only)
    return cli_unknown_name(args, "layout", &closest, "--layout help lists them");
  if (!strchr(name, ':'))
    return CLI_OK;
  if (cli_is_given(args, "--seed"))
    return cli_usage_error("banks: give the seed in --layout %s or in --seed, not in both", name);
  r->request.seed = seed;
  return CLI_OK;
}

static cli_status read_trace(arena *a, const cli_arguments *args, banks_report *r) {
  const char *path = args->operands[0], *wrong = NULL;
  size_t length, line;
  r->title = strcmp(path, "-") ? path : "standard input";
  char *bytes = cli_read_file(path, SIZE_MAX, &length, &wrong);
  if (!bytes)
    return cli_error("%s: %s", r->title, wrong);
  bool good = address_text_read(a, bytes, length, &r->trace, NULL, &line, &wrong);
  free(bytes);
  if (!good)
    line ? cli_error("%s:%zu: %s", r->title, line, wrong) : cli_error("%s: %s", r->title, wrong);
  return good ? CLI_OK : CLI_WRONG;
}

static cli_status read_plan(arena *a, const cli_arguments *args, banks_report *r) {
  FREED_BY(report_plan_free) report_plan p = {0};
  const char *wrong = NULL;
  cli_status status = report_plan_make(args, cli_operand(args, 0), &p);
  r->of_plan = true;
  r->title = p.title;
  if (status == CLI_OK)
    wrong = bank_trace_add_plan(a, &r->trace, p.pipeline.plan);
  if (status == CLI_OK && !wrong && r->trace.accesses.count == 0)
    wrong = "the plan has no exchanges, so its warps do not access scratch memory";
  if (wrong)
    status = cli_error("%s: %s", r->title, wrong);
  return status;
}

// The options of plans are none of a trace's.
static cli_status read_accesses(arena *a, const cli_arguments *args, banks_report *r) {
  static const char *const of_plans[] = {"--entry", "--size", "--arguments", "--strategy", NULL};
  const char *file = cli_operand(args, 0);
  if (cli_is_given(args, "-e") || cli_ends_with(file, ".perm"))
    return read_plan(a, args, r);
  for (const char *const *name = of_plans; *name; name++)
    if (cli_is_given(args, *name))
      return cli_usage_error("banks: %s needs a program: FILE.perm or -e EXPR", *name);
  return read_trace(a, args, r);
}

cli_status verb_banks(const cli_arguments *args) {
  arena *a = args->memory;
  banks_report r = {.request = {.banks = (uint32_t)cli_number(args, "--banks", 32),
                                .seed = cli_number(args, "--seed", 1)}};
  text out = {0};
  cli_status status = read_layout(args, &r);
  if (status == CLI_OK)
    status = read_accesses(a, args, &r);
  if (status != CLI_OK)
    return status;
  r.request.words = cli_number(args, "--words", r.trace.words);
  if (r.request.words < r.trace.words)
    return cli_usage_error("banks: --words %" PRIu64 " is too small: %s has the address %" PRIu64,
                           r.request.words, r.title, r.trace.words - 1);
  const char *wrong = banks_report_make(a, &r);
  if (wrong)
    return cli_error("%s: %s", r.title, wrong);
  (cli_is_given(args, "--json") ? banks_report_json : banks_report_text)(&out, &r);
  return cli_print_text(&out);
}
