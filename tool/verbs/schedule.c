// permc schedule: the three steps of a permutation, made once for any number of arrays.
#include "runtime/values/value.h"
#include "tool/verbs/verbs.h"

// The one array of a file. False: reported.
static bool read_permutation(const char *path, array *out) {
  error e = {0};
  value_source *s = value_source_open(path, &e);
  value_status status =
      s ? value_read(s, (value_expectation){SCALAR_COUNT, 1}, out, &e) : VALUE_ERROR;
  if (status == VALUE_END)
    error_set(&e, SPAN_NONE, "%s: there is no array", value_source_name(s));
  value_source_close(s);
  if (status != VALUE_OK)
    cli_error("%s", e.message);
  return status == VALUE_OK;
}

static bool write_schedule(const char *from, const char *path, const array *permutation) {
  error e = {0};
  permc_value v = {.components = (array *)(uintptr_t)permutation, .count = 1};
  output_file *to = output_open(path, &e);
  bool good = to && value_write(output_stream(to), FORMAT_SCHEDULE, &v, &e);
  bool is_of_data = to && !good && !ferror(output_stream(to));  // not of the file
  if (to && !is_of_data)
    good = output_commit(to, &e);
  else
    output_discard(to);
  if (!good && is_of_data)
    cli_error("%s: %s", from, e.message);
  else if (!good)
    cli_error("%s", e.message);
  return good;
}

cli_status verb_schedule(const cli_arguments *args) {
  const char *from = args->operands[0], *to = cli_value(args, "-o");
  array permutation = {0};
  if (!cli_ends_with(to, ".sched"))
    return cli_usage_error("schedule: a schedule is a file that ends in .sched, and '%s' does not",
                           to);
  bool good = cli_check_output(to) && read_permutation(from, &permutation) &&
              write_schedule(from, to, &permutation);
  array_destroy(&permutation);
  return good ? CLI_OK : CLI_WRONG;
}
