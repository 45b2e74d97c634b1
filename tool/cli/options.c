// From argv to cli_arguments, by the verb's table of options.
//
//   --entry NAME   --entry=NAME   -e EXPR   -eEXPR   --time
//   --             the rest are operands
//   -              an operand
#include "tool/cli/options.h"
#include "core/units.h"

#include <errno.h>

// ---- suggestions -----------------------------------------------------------------------------

enum { LONGEST_WORD = 40 };

cli_status cli_unknown_name(const cli_arguments *a, const char *what, const text_closest *closest,
                            const char *listed) {
  if (closest->name)
    return cli_usage_error("%s: unknown %s '%s' (did you mean %s?)", a->verb->name, what,
                           closest->word, closest->name);
  return cli_usage_error("%s: unknown %s '%s' (%s)", a->verb->name, what, closest->word, listed);
}

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length) {
  for (const cli_option *o = verb->options; o->name; o++)
    if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
      return o;
  return NULL;
}

cli_status cli_unknown_verb(const cli_verb *verbs, const char *word) {
  bool option = word[0] == '-';
  text_closest closest = {.word = word};
  bool has_verb = false;
  text_consider(&closest, "--help");
  text_consider(&closest, "--version");
  for (const cli_verb *v = verbs; v->name; v++) {
    has_verb = has_verb || find_option(v, word, strcspn(word, "="));
    if (!option)
      text_consider(&closest, v->name);
  }
  if (cli_ends_with(word, ".perm")) {
    FREED_BY(text_free) text file = {0};
    text_shell_word(&file, word);
    cli_usage_error("unknown verb '%s' (did you mean permc run %s?)", word, text_content(&file));
    return CLI_USAGE;
  }
  if (closest.name)
    return cli_usage_error("unknown %s '%s' (did you mean %s?)", option ? "option" : "verb", word,
                           closest.name);
  if (has_verb)
    return cli_usage_error("option '%s' stands before the verb, which comes first: permc run FILE "
                           "%s ...",
                           word, word);
  return cli_usage_error(option ? "unknown option '%s' before the verb (see permc help)"
                                : "unknown verb '%s' (see permc help)",
                         word);
}

// ---- parsing ---------------------------------------------------------------------------------

const cli_verb *cli_verb_named(const cli_verb *verbs, const char *name) {
  for (const cli_verb *v = verbs; v->name; v++)
    if (strcmp(v->name, name) == 0)
      return v;
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

// The option of this verb that other tools call so, or NULL.
static const char *other_name(const cli_verb *verb, const char *name) {
  static const char *const names[][2] = {{"--input", "-i"},     {"--in", "-i"},  {"--data", "-i"},
                                         {"--output", "-o"},    {"--out", "-o"}, {"--expr", "-e"},
                                         {"--expression", "-e"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t distance = text_distance(name, names[i][0]);
    if (distance <= (strlen(name) > 6) && find_option(verb, names[i][1], 2))
      return names[i][1];
  }
  return NULL;
}

// What to do in place of an option that other verbs have, or NULL.
static const char *hint_for_option(const cli_verb *verb, const char *name) {
  static const char *const rows[][3] = {
      {"run", "--size", "run takes sizes from its arguments (-i FILE)"},
      {"run", "--arguments",
       "run reads values: -i FILE, standard input, or --random '[8]i32' for random ones"},
      {"run", "--gpu", "a GPU executes it by --backend cuda"},
      {"bench", "--gpu", "a GPU executes it by --backend cuda"},
      {"run", "--target", "what executes it is --backend, for which processor --target-isa"},
      {"test", "-i", "a test has its data in the file: -- input { [1, 2] }, or -- input @ FILE"},
      {"test", "-e", "a test stands in a file *.perm, below -- =="},
      {"test", "--size", "a test has its data in the file: -- random input { [1024]i32 }"},
      {"bench", "--target", "what executes it is --backend, for which processor --target-isa"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(verb->name, rows[i][0]) && !strcmp(name, rows[i][1]))
      return rows[i][2];
  return NULL;
}

static bool report_unknown_option(const cli_verb *verb, const char *name, size_t length) {
  char word[LONGEST_WORD + 1];
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  const char *other = other_name(verb, word), *hint = hint_for_option(verb, word);
  text_closest closest = {.word = word};
  for (const cli_option *o = verb->options; o->name && length <= LONGEST_WORD; o++)
    text_consider(&closest, o->name);
  if (other)
    cli_usage_error("%s: unknown option '%s' (did you mean %s %s?)", verb->name, word, other,
                    find_option(verb, other, 2)->argument);
  else if (hint)
    cli_usage_error("%s: unknown option '%s': %s", verb->name, word, hint);
  else if (closest.name)
    cli_usage_error("%s: unknown option '%s' (did you mean %s?)", verb->name, word, closest.name);
  else
    cli_usage_error("%s: unknown option '%.*s' (see permc help %s)", verb->name, (int)length, name,
                    verb->name);
  return false;
}

// Whether the value is one of the words in "auto|interp"; other arguments take any value.
static bool is_allowed_word(const cli_option *option, const char *value) {
  if (!strchr(option->argument, '|'))
    return true;
  size_t length = strlen(value);
  for (const char *word = option->argument; word;
       word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL)
    if (length > 0 && strcspn(word, "|") == length && memcmp(word, value, length) == 0)
      return true;
  return false;
}

static bool report_word(const cli_verb *verb, const cli_option *option, const char *value) {
  FREED_BY(text_free) text words = {0};
  for (const char *c = option->argument; *c; c++)
    *c == '|' ? text_string(&words, ", ") : text_add(&words, c, 1);
  bool gpu = !strcmp(value, "gpu") && strstr(option->argument, "cuda");
  cli_usage_error("%s: %s must be one of %s, not '%s'%s", verb->name, option->name,
                  text_content(&words), value, gpu ? "; did you mean cuda?" : "");
  return false;
}

static bool report_number(const cli_verb *verb, const cli_option *option, const char *value) {
  char most[24] = "2^64-1", least_bytes[NUMBER_SPACE];
  if (option->bytes) {
    cli_usage_error("%s: %s must be a number of bytes, at least %s, such as 512MiB or 2^30, "
                    "not '%s'",
                    verb->name, option->name, show_bytes(least_bytes, option->least), value);
    return false;
  }
  if (option->most < UINT64_MAX)
    snprintf(most, sizeof most, "%llu", (unsigned long long)option->most);
  cli_usage_error("%s: %s must be a number from %llu to %s, such as 96 or 2^10, not '%s'",
                  verb->name, option->name, (unsigned long long)option->least, most, value);
  return false;
}

static bool add_option(cli_arguments *a, const cli_option *option, const char *value) {
  uint64_t number;
  if (!option->repeats && cli_is_given(a, option->name)) {
    cli_usage_error("%s: %s was given twice", a->verb->name, option->name);
    return false;
  }
  if (option->list && !strcmp(value, "help"))
    a->list = option->list;
  else if (value && !is_allowed_word(option, value))
    return report_word(a->verb, option, value);
  else if (option->number && (!(option->bytes ? cli_read_bytes : cli_read_number)(value, &number) ||
                              number < option->least || number > option->most))
    return report_number(a->verb, option, value);
  a->options[a->option_count++] = (cli_choice){option, value};
  return true;
}

// Parses the option at argv[*i], and its value, which may be the next word.
static bool parse_option(cli_arguments *a, int argc, char **argv, int *i) {
  const char *word = argv[*i], *attached = NULL;
  bool is_long = word[1] == '-';
  size_t length = is_long ? strcspn(word, "=") : 2;
  const cli_option *option = find_option(a->verb, word, length);
  if (!option || (!is_long && lacks_dash(a->verb, word)))
    return report_unknown_option(a->verb, word, strcspn(word, "="));
  if (word[length])
    attached = word + length + (word[length] == '=');
  if (!option->argument && attached) {
    if (is_long)
      cli_usage_error("%s: %s takes no value", a->verb->name, option->name);
    else
      report_unknown_option(a->verb, word, strlen(word));
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

// ---- checks of the whole ---------------------------------------------------------------------

static bool check_operands(const cli_arguments *a) {
  const cli_verb *verb = a->verb;
  if (a->operand_count < verb->least)
    cli_usage_error("%s: %s is missing (usage: permc %s [OPTION]... %s)", verb->name,
                    verb->operands, verb->name, verb->operands);
  else if (a->operand_count > verb->most)
    cli_usage_error("%s: '%s' is one operand too many (usage: permc %s [OPTION]...%s%s%s)",
                    verb->name, a->operands[verb->most], verb->name, *verb->operands ? " " : "",
                    verb->operands,
                    find_option(verb, "-i", 2) ? "; data are read with -i FILE" : "");
  else
    return true;
  return false;
}

// The next name of "--size --arguments, -e FILE"; *separator is what stands before it. False: none.
static bool next_name(const char **rest, char *name, size_t size, char *separator) {
  size_t blanks = strspn(*rest, ", "), length = strcspn(*rest + blanks, ", ");
  *separator = blanks ? **rest : ' ';
  snprintf(name, size, "%.*s", (int)length, *rest + blanks);
  *rest += blanks + length;
  return length > 0;
}

static bool check_exclusive(const cli_arguments *a) {
  char name[LONGEST_WORD], first[LONGEST_WORD] = "", separator;
  const char *rest = a->verb->exclusive ? a->verb->exclusive : "";
  while (next_name(&rest, name, sizeof name, &separator)) {
    if (separator == ',')
      first[0] = 0;
    if (!cli_is_given(a, name))
      continue;
    if (first[0]) {
      cli_usage_error("%s: give %s or %s, not both", a->verb->name, first, name);
      return false;
    }
    memcpy(first, name, sizeof first);
  }
  return true;
}

// "FILE or -e EXPR is missing"
static bool check_required(const cli_arguments *a) {
  char name[LONGEST_WORD], separator;
  const char *rest = a->verb->required ? a->verb->required : "";
  FREED_BY(text_free) text names = {0};
  bool good = !*rest;
  while (next_name(&rest, name, sizeof name, &separator)) {
    const cli_option *option = find_option(a->verb, name, strlen(name));
    good = good || cli_is_given(a, name);
    const char *form = option ? option->argument : "";
    text_printf(&names, "%s%s%s%s", names.length ? " or " : "", name, *form ? " " : "",
                strchr(form, '|') ? "NAME" : form);
  }
  if (!good)
    cli_usage_error("%s: %s is missing (see permc help %s)", a->verb->name, text_content(&names),
                    a->verb->name);
  return good;
}

static void group_values(cli_arguments *a) {
  size_t count = 0;
  a->values = NEW_ARRAY(a->memory, const char *, a->option_count);
  for (const cli_option *o = a->verb->options; o->name; o++)
    for (size_t i = 0; i < a->option_count; i++)
      if (a->options[i].option == o)
        a->values[count++] = a->options[i].value;
}

cli_status cli_parse(cli_arguments *a, int argc, char **argv) {
  a->operands = NEW_ARRAY(a->memory, const char *, argc + 1);
  a->options = NEW_ARRAY(a->memory, cli_choice, argc + 1);
  bool only_operands = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (only_operands || word[0] != '-' || word[1] == 0)
      a->operands[a->operand_count++] = word;
    else if (strcmp(word, "--") == 0)
      only_operands = true;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      a->help = true;
      return CLI_OK;
    } else if (!parse_option(a, argc, argv, &i))
      return CLI_USAGE;
  }
  group_values(a);
  bool good = a->list || (check_operands(a) && check_exclusive(a) && check_required(a));
  return good ? CLI_OK : CLI_USAGE;
}

// ---- what was given --------------------------------------------------------------------------

bool cli_has_option(const cli_arguments *a, const char *name) {
  return find_option(a->verb, name, strlen(name)) != NULL;
}

static const cli_choice *find_choice(const cli_arguments *a, const char *name) {
  for (size_t i = 0; i < a->option_count; i++)
    if (strcmp(a->options[i].option->name, name) == 0)
      return &a->options[i];
  return NULL;
}

bool cli_is_given(const cli_arguments *a, const char *name) {
  return name[0] == '-' ? find_choice(a, name) != NULL : a->operand_count > 0;
}

const char *cli_value(const cli_arguments *a, const char *name) {
  const cli_choice *choice = find_choice(a, name);
  return choice ? choice->value : NULL;
}

uint64_t cli_number(const cli_arguments *a, const char *name, uint64_t otherwise) {
  const char *word = cli_value(a, name);
  uint64_t number = otherwise;
  if (word)
    cli_read_bytes(word, &number);
  return number;
}

const char *const *cli_values(const cli_arguments *a, const char *name, size_t *count) {
  const char *const *values = a->values;
  *count = 0;
  for (const cli_option *o = a->verb->options; o->name; o++) {
    for (size_t i = 0; i < a->option_count; i++)
      *count += a->options[i].option == o;
    if (!strcmp(o->name, name))
      return values;
    values += *count;
    *count = 0;
  }
  return values;
}

const char *cli_operand(const cli_arguments *a, size_t index) {
  return index < a->operand_count ? a->operands[index] : NULL;
}

// ---- words -----------------------------------------------------------------------------------

bool cli_read_number(const char *word, uint64_t *number) {
  bool is_power = strncmp(word, "2^", 2) == 0;
  const char *digits = is_power ? word + 2 : word;
  if (!*digits || strspn(digits, "0123456789") != strlen(digits))
    return false;
  errno = 0;
  unsigned long long value = strtoull(digits, NULL, 10);
  if (errno || (is_power && value > 63))
    return false;
  *number = is_power ? UINT64_C(1) << value : value;
  return true;
}

bool cli_read_bytes(const char *word, uint64_t *bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  char number[24];
  for (int i = 0; i < 4; i++)
    if (cli_ends_with(word, units[i]) && strlen(word) < sizeof number) {
      snprintf(number, sizeof number, "%.*s", (int)strlen(word) - 3, word);
      int shift = 10 * (i + 1);
      if (!cli_read_number(number, bytes) || *bytes >> (64 - shift) != 0)
        return false;
      *bytes <<= shift;
      return true;
    }
  return cli_read_number(word, bytes);
}

bool cli_ends_with(const char *word, const char *ending) {
  size_t length = strlen(word), end = strlen(ending);
  return length > end && strcmp(word + length - end, ending) == 0;
}
