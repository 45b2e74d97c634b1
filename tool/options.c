// From argv to cli_arguments, by the verb's table of options.
//
//   --entry NAME   --entry=NAME   -e EXPR   -eEXPR   --time   -- (the rest are operands)   - (an
//   operand)
#include "fusion/plan/plan.h"
#include "kernels/banks/layout.h"
#include "tool/cli.h"

#include <assert.h>
#include <errno.h>

// ---- suggestions -----------------------------------------------------------------------------

enum { LONGEST_WORD = 40 };

// Insertions, deletions, replacements and swaps of neighbours that turn a into b (Damerau 1964,
// restricted to one edit per place).
static size_t edit_distance(const char *a, const char *b) {
  size_t rows[3][LONGEST_WORD + 1];
  size_t *before = rows[0], *last = rows[1], *row = rows[2];
  size_t m = strlen(a), n = strlen(b);
  if (m > LONGEST_WORD || n > LONGEST_WORD)
    return SIZE_MAX;
  for (size_t j = 0; j <= n; j++)
    before[j] = last[j] = j;
  for (size_t i = 1; i <= m; i++) {
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
      best = last[j] + 1 < best ? last[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
    size_t *oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[n];
}

const char *cli_closest(const char *word, const char *(*next)(const void *state, size_t i),
                        const void *state) {
  const char *best = NULL, *candidate;
  size_t length = strlen(word), least = 1 + length / 3;
  if (length <= 2)
    return NULL;  // anything would be near
  for (size_t i = 0; (candidate = next(state, i)); i++) {
    size_t distance = edit_distance(word, candidate);
    if (strncmp(word, candidate, length) == 0)
      distance = 0;  // the beginning of a word means that word
    if (distance < least || (distance == least && !best)) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

static const char *option_name(const void *state, size_t i) {
  const cli_option *options = state;
  return options[i].name;
}

// ---- parsing ---------------------------------------------------------------------------------

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length) {
  for (const cli_option *o = verb->options; o->name; o++)
    if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
      return o;
  return NULL;
}

// Whether the word is a long option that lacks a dash: "-entry" is not "-e ntry".
static bool lacks_dash(const cli_verb *verb, const char *word) {
  size_t length = strcspn(word, "=");
  for (const cli_option *o = verb->options; o->name; o++)
    if (length > 2 && o->name[1] == '-' && strlen(o->name) == length + 1 &&
        memcmp(o->name + 1, word, length) == 0)
      return true;
  return false;
}

static bool unknown_option(const cli_verb *verb, const char *name, size_t length) {
  char word[LONGEST_WORD + 1];
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  const char *closest =
      length > LONGEST_WORD ? NULL : cli_closest(word, option_name, verb->options);
  if (closest)
    cli_usage_error("%s: unknown option '%.*s' (did you mean %s?)", verb->name, (int)length, name,
                    closest);
  else
    cli_usage_error("%s: unknown option '%.*s' (see permc help %s)", verb->name, (int)length, name,
                    verb->name);
  return false;
}

// Whether the value is one of the words in "auto|interp"; other arguments take any value.
static bool allowed(const cli_option *option, const char *value) {
  if (!strchr(option->argument, '|'))
    return true;
  size_t length = strlen(value);
  for (const char *word = option->argument; word;
       word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL)
    if (length > 0 && strcspn(word, "|") == length && memcmp(word, value, length) == 0)
      return true;
  return false;
}

static bool not_allowed(const cli_verb *verb, const cli_option *option, const char *value) {
  text known = {0};
  for (const char *c = option->argument; *c; c++)
    *c == '|' ? text_string(&known, ", ") : text_add(&known, c, 1);
  cli_usage_error("%s: %s does not know '%s' (it knows %s)", verb->name, option->name, value,
                  known.data ? known.data : option->argument);
  text_free(&known);
  return false;
}

static bool add_option(cli_arguments *a, const cli_option *option, const char *value) {
  if (!option->repeats && cli_count(a, option->name) > 0) {
    cli_usage_error("%s: %s was given twice", a->verb->name, option->name);
    return false;
  }
  if (value && !allowed(option, value))
    return not_allowed(a->verb, option, value);
  a->options[a->option_count++] = (cli_given){option, value};
  return true;
}

// Parses the option at argv[*i], and its value, which may be the next word.
static bool parse_option(cli_arguments *a, int argc, char **argv, int *i) {
  const char *word = argv[*i], *attached = NULL;
  bool is_long = word[1] == '-';
  size_t length = is_long ? strcspn(word, "=") : 2;
  const cli_option *option = find_option(a->verb, word, length);
  if (!option || (!is_long && lacks_dash(a->verb, word)))
    return unknown_option(a->verb, word, strcspn(word, "="));
  if (word[length])
    attached = word + length + is_long;
  if (!option->argument && attached) {
    if (is_long)
      cli_usage_error("%s: %s takes no value", a->verb->name, option->name);
    else
      unknown_option(a->verb, word, strlen(word));
    return false;
  }
  if (option->argument && !attached) {
    if (*i + 1 >= argc) {
      cli_usage_error("%s: %s needs a value (%s)", a->verb->name, option->name, option->argument);
      return false;
    }
    attached = argv[++*i];
  }
  return add_option(a, option, attached);
}

static bool check_operands(const cli_arguments *a) {
  const cli_verb *verb = a->verb;
  if (a->operand_count < verb->least)
    cli_usage_error("%s: %s is missing (usage: permc %s [OPTION]... %s)", verb->name,
                    verb->operands, verb->name, verb->operands);
  else if (a->operand_count > verb->most)
    cli_usage_error("%s: one operand too many: '%s' (usage: permc %s [OPTION]... %s)", verb->name,
                    a->operands[verb->most], verb->name, verb->operands);
  else
    return true;
  return false;
}

bool cli_parse(cli_arguments *into, const cli_verb *verb, int argc, char **argv) {
  *into = (cli_arguments){.verb = verb};
  into->operands = calloc((size_t)argc + 1, sizeof *into->operands);
  into->options = calloc((size_t)argc + 1, sizeof *into->options);
  if (!into->operands || !into->options) {
    cli_error("%s", strerror(ENOMEM));
    return false;
  }
  bool only_operands = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (only_operands || word[0] != '-' || word[1] == 0)
      into->operands[into->operand_count++] = word;
    else if (strcmp(word, "--") == 0)
      only_operands = true;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
      return into->help = true;
    else if (!parse_option(into, argc, argv, &i))
      return false;
  }
  return check_operands(into);
}

void cli_arguments_free(cli_arguments *a) {
  free(a->operands);
  free(a->options);
  *a = (cli_arguments){0};
}

// ---- reading what was given ------------------------------------------------------------------

size_t cli_count(const cli_arguments *a, const char *name) {
  assert(find_option(a->verb, name, strlen(name)));
  size_t count = 0;
  for (size_t i = 0; i < a->option_count; i++)
    count += strcmp(a->options[i].option->name, name) == 0;
  return count;
}

const char *cli_value(const cli_arguments *a, const char *name) {
  assert(find_option(a->verb, name, strlen(name)));
  for (size_t i = 0; i < a->option_count; i++)
    if (strcmp(a->options[i].option->name, name) == 0)
      return a->options[i].value;
  return NULL;
}

const char **cli_values(const cli_arguments *a, const char *name, size_t *count) {
  const char **values = calloc(cli_count(a, name) + 1, sizeof *values);
  *count = 0;
  if (!values) {
    cli_error("%s", strerror(ENOMEM));
    return NULL;
  }
  for (size_t i = 0; i < a->option_count; i++)
    if (strcmp(a->options[i].option->name, name) == 0)
      values[(*count)++] = a->options[i].value;
  return values;
}

bool cli_number(const char *digits, uint64_t *number) {
  if (!*digits || strspn(digits, "0123456789") != strlen(digits))
    return false;
  errno = 0;
  unsigned long long value = strtoull(digits, NULL, 10);
  *number = value;
  return errno == 0;
}

bool cli_magnitude(const char *word, uint64_t *number) {
  uint64_t bits;
  if (strncmp(word, "2^", 2) != 0)
    return cli_number(word, number);
  if (!cli_number(word + 2, &bits) || bits > 63)
    return false;
  *number = UINT64_C(1) << bits;
  return true;
}

// "n=30". The name is the caller's to free.
static cli_status read_size(const cli_arguments *a, const char *given, permc_size *size) {
  const char *equals = strchr(given, '=');
  uint64_t value = 0;
  if (!equals || equals == given || !cli_number(equals + 1, &value) || value > INT64_MAX)
    return cli_usage_error("%s: --size is NAME=SIZE, such as n=30, not '%s'", a->verb->name, given);
  *size = (permc_size){strndup(given, (size_t)(equals - given)), (int64_t)value};
  return size->name ? CLI_OK : CLI_WRONG;
}

cli_status cli_sizes(const cli_arguments *a, permc_size **sizes, size_t *count) {
  const char **given = cli_values(a, "--size", count);
  cli_status status = CLI_OK;
  *sizes = calloc(*count + 1, sizeof **sizes);
  if (!given || !*sizes) {
    *count = *sizes ? *count : 0;
    status = CLI_WRONG;
  }
  for (size_t i = 0; i < *count && status == CLI_OK; i++)
    status = read_size(a, given[i], &(*sizes)[i]);
  free(given);
  return status;
}

void cli_sizes_free(permc_size *sizes, size_t count) {
  for (size_t i = 0; sizes && i < count; i++)
    free((char *)sizes[i].name);
  free(sizes);
}

// ---- how programs are planned and compiled ------------------------------------------------------

bool cli_use_planning(const cli_arguments *given, permc_context *context) {
  const char *name = cli_value(given, "--strategy"), *by = cli_value(given, "--layout");
  if (name && !permc_use_strategy(context, name)) {
    cli_usage_error("%s: there is no strategy '%s' (--strategy help lists them)", given->verb->name,
                    name);
    return false;
  }
  if (by && !permc_use_layout(context, by)) {
    cli_usage_error("%s: there is no layout '%s' (--layout help lists them; NAME:SEED has a number "
                    "behind the colon)",
                    given->verb->name, by);
    return false;
  }
  return true;
}

static bool asks_for_help(const cli_arguments *given, const char *option) {
  const char *name =
      find_option(given->verb, option, strlen(option)) ? cli_value(given, option) : NULL;
  return name && !strcmp(name, "help");
}

bool cli_lists_names(const cli_arguments *given) {
  bool strategies = asks_for_help(given, "--strategy"), layouts = asks_for_help(given, "--layout");
  for (size_t i = 0; strategies && plan_strategy_at(i); i++)
    printf("%-18s%s\n", plan_strategy_at(i)->name, plan_strategy_at(i)->summary);
  for (size_t i = 0; layouts && layout_kind_at(i); i++)
    printf("%-22s%s\n", layout_kind_at(i)->name, layout_kind_at(i)->summary);
  return strategies || layouts;
}

bool cli_use_cpu_options(const cli_arguments *given, permc_context *context) {
  const char *threads = cli_value(given, "--threads"), *isa = cli_value(given, "--target-isa");
  bool fast = cli_count(given, "--fast-fp") > 0;
  uint64_t count = 0;
  if (threads && (!cli_number(threads, &count) || count < 1 || count > 1024)) {
    cli_usage_error("%s: --threads is a number from 1 to 1024, not '%s'", given->verb->name,
                    threads);
    return false;
  }
  if (fast && cli_count(given, "--strict-fp")) {
    cli_usage_error("%s: --fast-fp and --strict-fp exclude each other", given->verb->name);
    return false;
  }
  permc_use_threads(context, (unsigned)count);
  permc_use_fast_floats(context, fast);
  if (!cli_use_planning(given, context))
    return false;
  if (!isa || permc_use_isa(context, isa))
    return true;
  cli_usage_error("%s: --target-isa is native, baseline, avx2 or avx512, as far as this processor "
                  "is of that kind, not '%s'",
                  given->verb->name, isa);
  return false;
}
