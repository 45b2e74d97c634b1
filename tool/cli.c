// Verbs, their options, and what they share: dispatch, signals, messages.
#include "tool/cli.h"
#include "runtime/compiled/compiler.h"
#include "runtime/pipeline.h"
#include "runtime/system/cache.h"
#include "runtime/values/value.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <time.h>
#include <unistd.h>

// ---- tables ----------------------------------------------------------------------------------

#define BACKENDS "auto|interp|cpu|portable|cuda|machine"
#define PLANNING_OPTIONS                                                                           \
  {"--strategy", "NAME", false, "plan by this strategy where it applies; help lists them"}, {      \
    "--layout", "NAME", false, "exchange by this bank layout, or NAME:SEED; help lists them"       \
  }
#define CPU_OPTIONS                                                                                \
  {"--threads", "N", false, "threads of the cpu backend (default: the processors)"},               \
      {"--target-isa", "ISA", false, "compile for native, baseline, avx2 or avx512"},              \
      PLANNING_OPTIONS,                                                                            \
      {"--strict-fp", NULL, false, "floats to the bit as interp computes them (the default)"}, {   \
    "--fast-fp", NULL, false, "products and sums may be fused: other last bits"                    \
  }
#define END_OF_OPTIONS                                                                             \
  { NULL, NULL, false, NULL }

static cli_status print_help(const cli_arguments *given);

static const cli_option run_options[] = {
    {"-e", "EXPR", false, "run this expression, such as 'padded maxval sort'"},
    {"-i", "FILE", true, "read arguments from FILE (- is standard input)"},
    {"-o", "FILE", true, "write a result to FILE: .npy, .bin or .dat, else text"},
    {"--entry", "NAME", false, "the entry point to run (default: main)"},
    {"--backend", BACKENDS, false, "what executes the program (default: auto)"},
    CPU_OPTIONS,
    {"--random", "TYPES", false, "make arguments at random, such as '[1024]i32 i64'"},
    {"--seed", "S", false, "the seed of --random (default: 1)"},
    {"--time", NULL, false, "print the time of each stage to standard error"},
    {"--allow-extern", NULL, false, "let the program call C functions (extern)"},
    END_OF_OPTIONS,
};

static const cli_option check_options[] = {
    {"--size", "NAME=SIZE", true, "elaborate at this value of a size name, such as n=30"},
    {"--time", NULL, false, "print the time of each stage to standard error"},
    END_OF_OPTIONS,
};

static const cli_option explain_options[] = {
    {"-e", "EXPR", false, "explain this expression, in FILE's scope if there is one"},
    {"--entry", "NAME", false, "the entry point to explain (default: main)"},
    {"--size", "NAME=SIZE", true, "the value of a size name of its signature, such as n=24"},
    {"--arguments", "TYPES", false, "... or the types of its arguments, such as '[2^24]u32 i64'"},
    {"--target", "TARGET", false, "plan for this machine: a name, or a FILE; help lists them"},
    PLANNING_OPTIONS,
    {"--machine", NULL, false, "instead: each pass on a memory machine like a GPU, and on a GPU"},
    {"--rules", NULL, false, "also list the rewrite rules that fired, and what they saved"},
    {"--json", NULL, false, "print one JSON object"},
    {"--dump", "trace|net|plan|c|cuda", false, "print this form of the program instead"},
    END_OF_OPTIONS,
};

static const cli_option test_options[] = {
    {"--only", "TEXT", false, "only tests with TEXT in 'FILE:LINE ENTRY NAME'"},
    {"--tag", "TAG", true, "only test blocks with one of these tags"},
    {"--exclude", "TAG", true, "no test blocks with one of these tags"},
    {"--jobs", "N", false, "how many files at a time (default: the processors)"},
    {"--backend", BACKENDS, false, "what executes the programs (default: auto)"},
    CPU_OPTIONS,
    {"--allow-extern", NULL, false, "let the programs call C functions (extern)"},
    END_OF_OPTIONS,
};

static const cli_option bench_options[] = {
    {"--suite", "sort|rows|bmmc|fft|padded|paper|layouts|scaling", false,
     "measure a suite of programs"},
    {"-e", "EXPR", false, "measure this expression, in FILE's scope if there is one"},
    {"--entry", "NAME", false, "measure this entry point (default: main)"},
    {"--arguments", "TYPES", false, "random arguments of these types, such as '[1024]i32'"},
    {"--size", "NAME=SIZE", true, "... of these sizes of the signature; n=10..20: each of them"},
    {"-i", "FILE", true, "... or arguments from FILE"},
    {"--seed", "S", false, "the seed of random arguments (default: 1)"},
    {"--backend", BACKENDS, false, "what executes the programs (default: auto)"},
    CPU_OPTIONS,
    {"--seconds", "S", false, "measure a case no longer than that (default: 2)"},
    {"--only", "TEXT", false, "only cases with TEXT in their names"},
    {"--peers", "FOLDER", false, "measure the peers in FOLDER (bench/peers) in the same rounds"},
    {"--json", NULL, false, "write figures to standard output, the table to standard error"},
    {"--svg", "FILE", false, "write a plot to FILE"},
    {"--compare", "OLD.json", false, "show what changed since; FILE may be NEW.json"},
    {"--allow-extern", NULL, false, "let the program call C functions (extern)"},
    END_OF_OPTIONS,
};

static const cli_option tune_options[] = {
    {"-e", "EXPR", false, "tune this expression, in FILE's scope if there is one"},
    {"--entry", "NAME", false, "tune this entry point (default: main)"},
    {"--arguments", "TYPES", false, "random arguments of these types, such as '[1024]i32'"},
    {"--size", "NAME=SIZE", true, "... of these sizes of the signature, such as n=24"},
    {"-i", "FILE", true, "... or arguments from FILE"},
    {"--seed", "S", false, "the seed of random arguments (default: 1)"},
    {"--backend", "auto|cpu|cuda", false, "what executes the program (default: auto)"},
    CPU_OPTIONS,
    {"--dry-run", NULL, false, "measure and report, but store nothing"},
    {"--forget", NULL, false, "measure nothing, remove what is stored for this program"},
    {"--allow-extern", NULL, false, "let the program call C functions (extern)"},
    END_OF_OPTIONS,
};

static const cli_option machine_options[] = {
    {"--size", "SIZE", true, "n, such as 2^20; of programs NAME=SIZE, such as n=20"},
    {"--width", "W", false, "w: banks of a memory, threads of a warp (default: 32)"},
    {"--latency", "L", false, "of the memory, of an hmm the global one (default: 100)"},
    {"--shared-latency", "L", false, "of an hmm's shared memories (default: 1)"},
    {"--threads", "P", false, "p, a multiple of w (default: as many as there is work for)"},
    {"--dmms", "D", false, "d, the DMMs of an hmm (default: 1)"},
    {"--registers", "R", false, "r of a thread, for umm-transpose (default: w)"},
    {"--permutation", "NAME", false, "for d- and s-designated: its name, or a FILE with images"},
    {"--addresses", "FILE", false, "for addresses: one number after the other, # comments"},
    {"--seed", "S", false, "of what is random (default: 1)"},
    {"-e", "EXPR", false, "the plan of this expression, in FILE's scope if there is one"},
    {"--entry", "NAME", false, "... of this entry point (default: main)"},
    {"--arguments", "TYPES", false, "... for arguments of these types, such as '[2^20]u32'"},
    PLANNING_OPTIONS,
    {"--json", NULL, false, "print one JSON object"},
    {"--time", NULL, false, "print how long it took to standard error"},
    END_OF_OPTIONS,
};

static const cli_option fmt_options[] = {
    {"--check", NULL, false, "change nothing, list the files that would change"},
    END_OF_OPTIONS,
};

static const cli_option banks_options[] = {
    {"--banks", "W", false, "the banks of the memory (default: 32)"},
    {"--words", "N", false, "the words of the array (default: up to the largest address)"},
    {"--layout", "NAME", false, "only this layout; help lists them"},
    {"--seed", "S", false, "the seed of random layouts (default: 1)"},
    {"-e", "EXPR", false, "the plan of this expression, in FILE's scope if there is one"},
    {"--entry", "NAME", false, "... of this entry point (default: main)"},
    {"--size", "NAME=SIZE", true, "... at this value of a size name, such as n=20"},
    {"--arguments", "TYPES", false, "... for arguments of these types, such as '[2^20]u32'"},
    {"--strategy", "NAME", false, "plan by this strategy where it applies; help lists them"},
    {"--json", NULL, false, "print one JSON object"},
    END_OF_OPTIONS,
};

static const cli_option paper_options[] = {
    {"--json", NULL, false, "print one JSON object"},
    END_OF_OPTIONS,
};

static const cli_option no_options[] = {END_OF_OPTIONS};

const cli_verb cli_verbs[] = {
    {"run", "[FILE]", 0, 1, "run a program on data",
     "Runs an entry point of FILE (or the expression of -e, in FILE's scope if both are given).\n"
     "Arguments come from the files of -i, from --random, or else from standard input, one after\n"
     "the other: Futhark text or binary, NumPy .npy, or plain text with one number per line.\n"
     "Each -o takes one result, in order; what is left goes to standard output as text.",
     "permc run examples/sort.perm -i examples/keys.npy -o sorted.npy", run_options, cli_run},
    {"check", "FILE...", 1, SIZE_MAX, "find the mistakes of a program without running it",
     "Checks names and types of each FILE and elaborates its entry points, at sizes 0 to 4 or at\n"
     "those of --size. Sizes that fail are warnings, unless all fail or --size asked for them.",
     "permc check examples/spectrum.perm --size n=20 --time", check_options, cli_check},
    {"explain", "[FILE]", 0, 1, "show how a program will run at given sizes",
     "Plans an entry point of FILE (or the expression of -e) for given sizes, or for arguments of\n"
     "given types, and prints what it comes to: columns, permutations, and each pass over memory\n"
     "with what it reads, writes and costs. Nothing is run.",
     "permc explain examples/sort.perm --arguments '[2^24]f32'", explain_options, cli_explain},
    {"test", "PATH...", 1, SIZE_MAX, "run the test blocks of programs",
     "Runs the test blocks (comments that start with -- ==) of each PATH: a file, or a directory\n"
     "with .perm files at any depth. The last line counts: N passed, N failed, N skipped.",
     "permc test examples --only sort --jobs 4", test_options, cli_test},
    {"bench", "[FILE]", 0, 1, "measure how long programs take",
     "Measures an entry point of FILE (or the expression of -e, or the programs of a suite), each\n"
     "compiled once, run many times in turn with a copy of as many bytes, its result verified.\n"
     "Prints median and least time, half the 95 % interval of the median, bytes of arguments and\n"
     "results per second, and the speed as a part of the copy's. See docs/measuring.md.",
     "permc bench -e sort --arguments '[1048576]u32'", bench_options, cli_bench},
    {"tune", "[FILE]", 0, 1, "measure how a program runs best on this machine",
     "Plans an entry point of FILE (or the expression of -e) with other tiles, registers and\n"
     "accesses than the cost model chooses, measures each, and stores the best if it is better by\n"
     "more than 2 %: this program, at these sizes, runs so from then on. Arguments are random, of\n"
     "--arguments or --size, or come from the files of -i. See docs/measuring.md.",
     "permc tune -e sort --arguments '[2^20]u32' --backend cpu", tune_options, cli_tune},
    {"machine", "dmm|umm|hmm [WHAT]", 1, 2, "count time units on a memory machine",
     "Executes WHAT on a Discrete, Unified or Hierarchical Memory Machine and counts time units,\n"
     "rounds and congestion: an access or algorithm of the papers (WHAT = help lists them), or, "
     "on\n"
     "an hmm, the plan of a program (FILE, -e EXPR) for GPUs, pass by pass. Each with a barrier\n"
     "after each round, beside the papers' formula, and free-running; results are checked.",
     "permc machine dmm stride --size 1024 --threads 256\n"
     "  permc machine hmm -e sort --arguments '[2^16]u32' --dmms 4",
     machine_options, cli_machine},
    {"fmt", "FILE...", 1, SIZE_MAX, "lay out programs in the one canonical way",
     "Rewrites each FILE in place; comments are kept. FILE - goes from standard input to standard\n"
     "output.",
     "permc fmt examples/sort.perm", fmt_options, cli_fmt},
    {"banks", "[FILE]", 0, 1, "find bank conflicts, and a layout without them",
     "Reads accesses to banked memory, such as a GPU's shared memory: on each line of FILE the\n"
     "addresses that the threads of a warp ask for at the same time, in words, decimal or 0x...;\n"
     "# starts a comment. Or the accesses of a program (FILE.perm, -e EXPR), as its plan for GPUs\n"
     "makes them when it exchanges through shared memory. Prints the class of accesses, what they\n"
     "cost under every bank layout, and the best as a C expression of the address. See\n"
     "docs/banks.md.",
     "permc banks examples/transpose.trace --banks 32", banks_options, cli_banks},
    {"paper", "NAME", 1, 1, "compute the tables of a paper again",
     "Prints the tables of a paper as permc computes them, beside what the paper has, with the\n"
     "deviation: rap (bank layouts by random permutations), hash (bank layouts by XOR), dmm and\n"
     "hmm (memory machines), bmmc (permutations in passes over memory). Random numbers are the\n"
     "same each time. docs/papers.md says why for every figure that differs.",
     "permc paper rap", paper_options, cli_paper},
    {"help", "[VERB]", 0, 1, "explain a verb and its options",
     "Prints how a verb is used, or the list of verbs.", "permc help run", no_options, print_help},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

const cli_verb *cli_verb_named(const char *name) {
  for (const cli_verb *v = cli_verbs; v->name; v++)
    if (strcmp(v->name, name) == 0)
      return v;
  return NULL;
}

// ---- messages --------------------------------------------------------------------------------

static void print_error(const char *format, va_list arguments) {
  flockfile(stderr);
  fputs("permc: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
}

void cli_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
}

cli_status cli_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
  return CLI_USAGE;
}

bool cli_report(const permc_context *context, bool ok) {
  const char *message = permc_message(context);
  if (*message)
    fputs(message, stderr);
  else if (!ok)
    cli_error("failed without a message");
  return ok;
}

bool cli_flush_stdout(void) {
  bool failed = ferror(stdout) != 0;
  errno = 0;
  if (fflush(stdout) != 0)
    failed = true;
  if (!failed)
    return true;
  cli_error("standard output: %s", errno ? strerror(errno) : "cannot write");
  __fpurge(stdout);  // what is left must not fail, and be reported, a second time
  clearerr(stdout);
  return false;
}

double cli_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_print_time(const char *of, const char *stage, double seconds) {
  fprintf(stderr, "permc: %s%s%-9s %.6f s\n", of ? of : "", of ? ": " : "", stage, seconds);
}

// ---- files -----------------------------------------------------------------------------------

char *cli_read_file(const char *path, size_t *length, const char **why) {
  bool is_stdin = strcmp(path, "-") == 0;
  FILE *from = is_stdin ? stdin : fopen(path, "rb");
  *length = 0;
  if (!from) {
    *why = strerror(errno);
    return NULL;
  }
  text all = {0};
  char buffer[65536];
  size_t count;
  errno = 0;
  while ((count = fread(buffer, 1, sizeof buffer, from)) > 0 && !all.failed)
    text_add(&all, buffer, count);
  int failure = all.failed ? ENOMEM : ferror(from) ? (errno ? errno : EIO) : 0;
  text_add(&all, "", 0);
  if (!is_stdin)
    fclose(from);
  if (failure) {
    *why = strerror(failure);
    text_free(&all);
    return NULL;
  }
  *length = all.length;
  return all.data;
}

// ---- signals ---------------------------------------------------------------------------------

// Of all contexts, and never taken back.
static atomic_bool interrupted;

permc_context *cli_context_new(void) {
  permc_context *c = permc_context_new();
  if (c)
    c->limits.interrupted = &interrupted;
  return c;
}

// Ends the process from within the handler: a run may be waiting for input, or be between two
// looks at the flag, which keeps other threads from going on meanwhile. Files are safe, for they
// appear by rename; the unfinished ones are removed here. A second signal while this runs ends the
// process as it is.
static void on_signal(int number) {
  static const char message[] = "permc: interrupted\n";
  static volatile sig_atomic_t seen;
  (void)number;
  if (seen)
    _exit(CLI_INTERRUPTED);
  seen = 1;
  atomic_store(&interrupted, true);
  compiler_kill_all_from_signal();
  cache_discard_all_from_signal();
  output_discard_all_from_signal();
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, "\r\033[K", 4) < 0)
    _exit(CLI_INTERRUPTED);
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
    _exit(CLI_INTERRUPTED);
  _exit(CLI_INTERRUPTED);
}

static void catch_signals(void) {
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
  signal(SIGPIPE, SIG_IGN);  // writes then fail with EPIPE, which is reported like any other error
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER}, before;
    sigemptyset(&action.sa_mask);
    if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(caught[i], &action, NULL);
  }
}

// ---- dispatch --------------------------------------------------------------------------------

static const char *verb_name(const void *state, size_t i) {
  const cli_verb *verbs = state;
  return verbs[i].name;
}

static const char *string_at(const void *state, size_t i) {
  const char *const *strings = state;
  return strings[i];
}

static cli_status unknown_verb(const char *word) {
  static const char *const global_options[] = {"--help", "--version", NULL};
  size_t length = strlen(word);
  if (word[0] == '-') {
    const char *option = cli_closest(word, string_at, global_options);
    if (option)
      return cli_usage_error("unknown option '%s' (did you mean %s?)", word, option);
    return cli_usage_error("unknown option '%s' before the verb (see permc help)", word);
  }
  if (length > 5 && strcmp(word + length - 5, ".perm") == 0)
    return cli_usage_error("unknown verb '%s' (did you mean permc run %s?)", word, word);
  const char *closest = cli_closest(word, verb_name, cli_verbs);
  if (closest)
    return cli_usage_error("unknown verb '%s' (did you mean %s?)", word, closest);
  return cli_usage_error("unknown verb '%s' (see permc help)", word);
}

static cli_status print_help(const cli_arguments *given) {
  if (given->operand_count == 0) {
    cli_help(stdout);
    return CLI_OK;
  }
  const cli_verb *verb = cli_verb_named(given->operands[0]);
  if (!verb)
    return unknown_verb(given->operands[0]);
  cli_help_verb(stdout, verb);
  return CLI_OK;
}

static cli_status run_verb(const cli_verb *verb, int argc, char **argv) {
  cli_arguments given;
  cli_status status = CLI_USAGE;
  if (cli_parse(&given, verb, argc, argv)) {
    if (given.help)
      cli_help_verb(stdout, verb);
    status = given.help || cli_lists_names(&given) ? CLI_OK : verb->run(&given);
  }
  cli_arguments_free(&given);
  return status;
}

int cli_main(int argc, char **argv) {
  catch_signals();
  cli_status status = CLI_OK;
  const char *word = argc > 1 ? argv[1] : NULL;
  const cli_verb *verb = word ? cli_verb_named(word) : NULL;
  if (!word) {
    cli_help(stderr);
    status = CLI_USAGE;
  } else if (verb) {
    status = run_verb(verb, argc - 2, argv + 2);
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    cli_help(stdout);
  } else if (strcmp(word, "--version") == 0) {
    printf("permc %s\n", permc_version());
  } else {
    status = unknown_verb(word);
  }
  if (!cli_flush_stdout() && status == CLI_OK)
    status = CLI_WRONG;
  return (int)status;
}
