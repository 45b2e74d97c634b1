// See program.h.
#include "tool/cli/program.h"
#include "fusion/plan/plan.h"
#include "kernels/banks/banks.h"
#include "runtime/context/context.h"
#include "runtime/values/value.h"

#include "tool/cli/progress.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

// ---- contexts --------------------------------------------------------------------------------

// Of all contexts, and never taken back.
static atomic_bool interrupted;

permc_context *cli_context_new(void) {
  permc_context *c = permc_context_new();
  if (!c)
    return cli_out_of_memory(), NULL;
  c->limits.interrupted = &interrupted;
  cli_progress_watch(c);
  return c;
}

void cli_interrupt_contexts(void) { atomic_store(&interrupted, true); }

// Limits of the whole process. False: the name is none of them.
static bool limit_process(const char *name, uint64_t value) {
  if (!strcmp(name, "seconds"))
    alarm(value < UINT_MAX ? (unsigned)value : UINT_MAX);
  else if (!strcmp(name, "space"))
    setrlimit(RLIMIT_AS, &(struct rlimit){value, RLIM_INFINITY});
  else
    return false;
  return true;
}

static cli_status use_limits(const cli_arguments *a, permc_context *context) {
  size_t count;
  const char *const *words = cli_values(a, "--limit", &count);
  cli_status status = CLI_OK;
  // There can be several contexts, and the time runs from the first.
  static atomic_bool process_is_limited;
  bool first = !atomic_exchange(&process_is_limited, true);
  if (cli_is_given(a, "--untrusted")) {
    permc_use_untrusted(context);
    if (first && limit_process("seconds", 60))
      limit_process("space", UINT64_C(4) << 30);
  }
  for (size_t i = 0; i < count && status == CLI_OK; i++) {
    char name[20];
    const char *equals = strchr(words[i], '=');
    uint64_t value;
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - words[i] : 0), words[i]);
    if (!equals || !cli_read_number(equals + 1, &value) || !value ||
        !(first ? limit_process(name, value) || permc_set_limit(context, name, value)
                : !strcmp(name, "seconds") || !strcmp(name, "space") ||
                      permc_set_limit(context, name, value)))
      status = cli_usage_error("%s: --limit must be steps=N, calls=N, operations=N, memory=BYTES, "
                               "stack=BYTES, results=BYTES, space=BYTES or seconds=N, such as "
                               "memory=2^33, not '%s'",
                               a->verb->name, words[i]);
  }
  return status;
}

// "0-3" or "0,2,5-6": returns how many numbers; 0: it is no such list, or a longer one.
static size_t read_devices(const char *word, int32_t *devices, size_t room) {
  size_t count = 0;
  for (const char *at = word; *at; at += *at == ',') {
    unsigned first, last;
    int used = 0, more = 0;
    if (sscanf(at, "%4u%n", &first, &used) != 1 || !isdigit((unsigned char)*at))
      return 0;
    at += used;
    last = first;
    if (*at == '-' && (sscanf(at, "-%4u%n", &last, &more) != 1 || !isdigit((unsigned char)at[1])))
      return 0;
    at += more;
    if (last < first || last - first >= room - count || (*at && (*at != ',' || !at[1])))
      return 0;
    for (; first <= last; first++)
      devices[count++] = (int32_t)first;
  }
  return count;
}

// Options that not all backends have.
static cli_status check_backend(const cli_arguments *a) {
  static const struct {
    const char *option, *backends;
    uint64_t least;
  } rows[] = {{"--devices", "cuda", 0},
              {"--ranks", "auto, portable, cpu or cuda", 2},
              {"--memory", "auto, portable or cpu", 0}};
  const char *backend = cli_value(a, "--backend");
  for (size_t i = 0; backend && i < sizeof rows / sizeof *rows; i++)
    if (cli_is_given(a, rows[i].option) && cli_number(a, rows[i].option, 0) >= rows[i].least &&
        !strstr(rows[i].backends, backend))
      return cli_usage_error("%s: %s is for --backend %s, not %s", a->verb->name, rows[i].option,
                             rows[i].backends, backend);
  return CLI_OK;
}

static cli_status use_devices(const cli_arguments *a, permc_context *context) {
  int32_t devices[CONTEXT_GPUS];
  const char *word = cli_value(a, "--devices");
  cli_status status = check_backend(a);
  if (!word || status != CLI_OK)
    return status;
  size_t count = read_devices(word, devices, CONTEXT_GPUS);
  if (!count)
    return cli_usage_error("%s: --devices must be numbers of at most %d GPUs, such as 0-3 or 0,2, "
                           "not '%s'",
                           a->verb->name, CONTEXT_GPUS, word);
  return cli_report(context, permc_use_devices(context, devices, count)) ? CLI_OK : CLI_WRONG;
}

const char *cli_backend(const cli_arguments *a) {
  const char *backend = cli_value(a, "--backend");
  return backend || !cli_is_given(a, "--devices") ? backend : "cuda";
}

cli_status cli_use_options(const cli_arguments *a, permc_context *context) {
  const char *isa = cli_value(a, "--target-isa"), *strategy = cli_value(a, "--strategy");
  const char *exchange = cli_value(a, "--layout"), *verb = a->verb->name;
  permc_allow_extern(context, cli_is_given(a, "--allow-extern"));
  permc_use_threads(context, (unsigned)cli_number(a, "--threads", 0));
  permc_use_fast_floats(context, cli_is_given(a, "--fast-fp"));
  permc_limit_compiler(context, cli_number(a, "--compile-seconds", 0),
                       cli_number(a, "--compile-memory", 0));
  if (strategy && !permc_use_strategy(context, strategy))
    return cli_usage_error("%s: unknown strategy '%s' (--strategy help lists them)", verb,
                           strategy);
  if (exchange && !permc_use_layout(context, exchange))
    return cli_usage_error("%s: unknown layout '%s' (--layout help lists them; a random layout may "
                           "have a seed, such as RAP:7)",
                           verb, exchange);
  if (isa && !permc_use_isa(context, isa))
    return cli_usage_error(
        "%s: --target-isa must be native, baseline, avx2 or avx512, as far as this "
        "processor has it, not '%s'",
        verb, isa);
  cli_status status = use_devices(a, context);
  return status == CLI_OK ? use_limits(a, context) : status;
}

cli_status cli_use_files(const cli_arguments *a, permc_context *context) {
  size_t count;
  const char *const *outputs = cli_values(a, "-o", &count);
  const char *first = NULL;
  size_t counter;
  error why;
  if (count && output_parse(outputs[0], &first, &counter, &why) && output_is_direct(first))
    first = NULL;
  permc_files files = {.memory = cli_number(a, "--memory", 0),
                       .resume = cli_is_given(a, "--resume")};
  FREED_BY(text_free) text folder = {0};
  cli_status status = CLI_OK;
  if (files.resume && !files.memory)
    status = cli_usage_error("%s: --resume needs --memory: it is for runs on files", a->verb->name);
  else if (files.resume && !first)
    status = cli_usage_error("%s: --resume needs -o FILE: what is done is kept beside it",
                             a->verb->name);
  else if (files.resume)
    text_printf(&folder, "%s.resume", first);
  else if (first && strrchr(first, '/'))  // of out/sorted.npy out/
    text_add(&folder, first, (size_t)(strrchr(first, '/') - first) + 1);
  else
    text_string(&folder, ".");
  files.folder = text_content(&folder);
  if (status == CLI_OK && files.memory && !cli_report(context, permc_use_files(context, &files)))
    status = CLI_WRONG;
  return status;
}

void cli_list_strategies(void) {
  for (size_t i = 0; plan_strategy_at(i); i++)
    printf("%-18s%s\n", plan_strategy_at(i)->name, plan_strategy_at(i)->summary);
}

void cli_list_layouts(void) {
  for (size_t i = 0; bank_layout_kind_at(i); i++)
    printf("%-22s%s\n", bank_layout_kind_at(i)->name, bank_layout_kind_at(i)->summary);
}

// ---- programs --------------------------------------------------------------------------------

bool cli_refuse_data(const char *file) {
  static const char *const endings[] = {".csv", ".npy", ".sched", ".txt", ".dat", ".bin", ".in"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const char *end = strstr(file, endings[i]);
    end = end ? end + strlen(endings[i]) : NULL;
    if (!end || !(*end == ':' || (!*end && access(file, R_OK) == 0)))
      continue;
    FREED_BY(text_free) text word = {0};
    text_shell_word(&word, file);
    cli_error("%s is no program (*.perm); data are read with -i %s", file, text_content(&word));
    return true;
  }
  return false;
}

static bool is_expression(const char *word) {
  permc_context *own = cli_context_new();
  bool good = own && permc_define(own, word);
  permc_context_free(own);
  return good;
}

// Of "-", standard input.
static bool load_program(permc_context *context, const char *file) {
  size_t length;
  const char *why = "";
  if (strcmp(file, "-") != 0)
    return permc_load(context, file);
  FREED char *bytes = cli_read_file(file, CLI_LARGEST_PROGRAM, &length, &why);
  return bytes ? permc_load_text(context, "standard input", bytes, length)
               : context_error_of(context, PERMC_ERROR_FILE, "standard input: %s", why);
}

bool cli_load(permc_context *context, const char *file, const char *expression) {
  bool loaded = !file || load_program(context, file);
  if (!loaded && cli_refuse_data(file))
    return false;
  char path[4096];
  if (!loaded && access(file, F_OK) != 0 &&
      snprintf(path, sizeof path, "%s.perm", file) < (int)sizeof path && access(path, R_OK) == 0) {
    cli_error("%s: No such file or directory (did you mean %s?)", file, path);
    return false;
  }
  if (!loaded && access(file, F_OK) != 0 && is_expression(file)) {
    FREED_BY(text_free) text word = {0};
    text_shell_word(&word, file);
    cli_error("%s: No such file or directory (did you mean -e %s?)", file, text_content(&word));
    return false;
  }
  return (!file || cli_report(context, loaded)) &&
         (!expression || cli_report(context, permc_define(context, expression)));
}

const char *cli_entry(const cli_arguments *a) {
  const char *entry = cli_value(a, "--entry");
  return entry ? entry : cli_is_given(a, "-e") ? "-e" : "main";
}

// ---- sizes -----------------------------------------------------------------------------------

// "n=10" or "n=10..24"; the name is cut off in place.
static bool parse_size(char *word, permc_size *first, int64_t *last) {
  char *equals = strchr(word, '='), *dots = equals ? strstr(equals, "..") : NULL;
  uint64_t from = 0, to = 0;
  if (!equals || equals == word)
    return false;
  if (dots)
    *dots = 0;
  *equals = 0;
  bool good =
      cli_read_number(equals + 1, &from) && cli_read_number(dots ? dots + 2 : equals + 1, &to);
  *first = (permc_size){word, (int64_t)from};
  *last = (int64_t)to;
  return good && from <= to && to <= INT64_MAX;
}

cli_status cli_read_sizes(const cli_arguments *a, int64_t longest, cli_sizes *sizes) {
  const char *const *words = cli_values(a, "--size", &sizes->count);
  if (!sizes->count)  // of threads that share the arguments none allocates
    return CLI_OK;
  sizes->first = NEW_ARRAY(a->memory, permc_size, sizes->count);
  sizes->last = NEW_ARRAY(a->memory, int64_t, sizes->count);
  for (size_t i = 0; i < sizes->count; i++) {
    permc_size *first = &sizes->first[i];
    char *word = arena_copy(a->memory, words[i], strlen(words[i]));
    if (parse_size(word, first, &sizes->last[i]) && sizes->last[i] - first->value < longest)
      continue;
    return longest > 1 ? cli_usage_error("%s: --size must be NAME=SIZE, or NAME=FIRST..LAST with "
                                         "at most %d sizes, not '%s'",
                                         a->verb->name, (int)longest, words[i])
                       : cli_usage_error("%s: --size must be NAME=SIZE with an integer, such as "
                                         "n=30, not '%s'",
                                         a->verb->name, words[i]);
  }
  return CLI_OK;
}

// ---- arguments -------------------------------------------------------------------------------

// Of a file that is not there, the name in its folder that is nearest.
static void suggest_file(const char *path) {
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash + 1 - path) : 0;
  char folder[4096], best[256];
  text_closest closest = {.word = path + length};
  bool fits = snprintf(folder, sizeof folder, "%.*s", length, path) < (int)sizeof folder;
  DIR *names =
      fits && access(path, F_OK) && errno == ENOENT ? opendir(length ? folder : ".") : NULL;
  for (struct dirent *d; names && (d = readdir(names));) {
    const char *c = d->d_name;
    while (*c && !iscntrl((unsigned char)*c))
      c++;
    if (!*c)
      text_consider(&closest, d->d_name);
    if (closest.name == d->d_name)
      closest.name = strcpy(best, d->d_name);
  }
  if (names)
    closedir(names);
  FREED_BY(text_free) text word = {0};
  text_printf(&word, "%.*s", length, path);
  if (closest.name) {
    text_string(&word, closest.name);
    FREED_BY(text_free) text shown = {0};
    text_shell_word(&shown, text_content(&word));
    fprintf(stderr, "hint: did you mean -i %s?\n", text_content(&shown));
  }
}

bool cli_read_files(permc_context *context, const char *entry, const char *const *paths,
                    size_t path_count, permc_value ***arguments, size_t *count) {
  bool good = cli_report_reading(
      context, permc_read_files(context, entry, paths, path_count, arguments, count));
  for (size_t i = 0; i < path_count && !good; i++)
    if (strcmp(paths[i], "-") != 0 && !strchr(paths[i], ':'))
      suggest_file(paths[i]);
  return good;
}

bool cli_read_given(cli_session *s) {
  size_t count;
  const char *const *paths = cli_values(s->args, "-i", &count);
  return !count ||
         cli_read_files(s->context, s->entry, paths, count, &s->arguments, &s->argument_count);
}

bool cli_read_data(permc_context *context, const char *entry, const cli_data *data,
                   permc_value ***arguments, size_t *count) {
  bool good;
  if (data->path_count && !data->types)
    return cli_read_files(context, entry, data->paths, data->path_count, arguments, count);
  if (data->types)
    good = permc_read_random(context, entry, data->types, data->seed, arguments, count);
  else
    good = permc_read_random_at(context, entry, data->sizes, data->size_count, data->seed,
                                arguments, count);
  return cli_report_reading(context, good);
}

// ---- sessions --------------------------------------------------------------------------------

cli_status cli_begin(cli_session *s, const cli_arguments *a) {
  *s = (cli_session){.args = a, .entry = cli_entry(a)};
  cli_status status = cli_read_sizes(a, 1, &s->sizes);
  if (status == CLI_OK && !(s->context = cli_context_new()))
    status = CLI_WRONG;
  return status == CLI_OK ? cli_use_options(a, s->context) : status;
}

cli_status cli_open(cli_session *s, const cli_arguments *a, const char *file) {
  cli_status status = cli_begin(s, a);
  bool loaded = status == CLI_OK && cli_load(s->context, file, cli_value(a, "-e"));
  return status == CLI_OK && !loaded ? CLI_WRONG : status;
}

char *cli_explain(cli_session *s, permc_explain_options o) {
  char *out = NULL;
  o.target = cli_value(s->args, "--target");
  o.types = cli_value(s->args, "--arguments");
  o.arguments = s->arguments;
  o.argument_count = s->argument_count;
  cli_report(s->context,
             permc_explain(s->context, s->entry, s->sizes.first, s->sizes.count, &o, &out));
  return out;
}

bool cli_put_out(const cli_session *s, char *out) {
  const char *path = cli_value(s->args, "-o");
  FREED_BY(text_free) text all = {.data = out, .length = out ? strlen(out) : 0};
  if (!out || !path)
    return out && cli_print_text(&all) == CLI_OK;
  return cli_write_file(path, &all);
}

cli_status cli_with_program(const cli_arguments *a, cli_work *work, void *with) {
  FREED_BY(cli_close) cli_session s = {0};
  cli_status status = cli_open(&s, a, cli_operand(a, 0));
  return status == CLI_OK && !work(&s, with) ? CLI_WRONG : status;
}

void cli_close(cli_session *s) {
  permc_values_free(s->arguments, s->argument_count);
  permc_context_free(s->context);
}
