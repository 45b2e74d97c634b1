// Finds the verb of a command line and runs it; signals. See tool.h.
//
//   permc sort.perm          unknown verb 'sort.perm' (did you mean permc run sort.perm?)
//   permc run --help         the help of a verb
//   permc run sort.perm      verb_run (tool/verbs/run.c)
#include "tool/tool.h"
#include "runtime/compiled/compiler.h"
#include "runtime/system/temporary.h"
#include "runtime/values/value.h"
#include "tool/cli/program.h"
#include "tool/cli/progress.h"
#include "tool/reports/json.h"
#include "tool/verbs/verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

// Ends the process from within the handler: a run may be waiting for input, or be between two
// looks at the flag, which keeps other threads from going on meanwhile. Files are safe, for they
// appear by rename; the unfinished ones are removed here. A second signal while this runs ends the
// process as it is. The status is that of a process that the signal ends, as a shell shows it.
//
// Of several ranks, one that its launcher ends is silent: another has failed, and the launcher or
// that one has said so. What the terminal, or a clock, sends to all is said by rank 0; the launcher
// then ends the others.
static struct {
  int rank;  // -1: alone
  char interrupted[60], late[100];
} said = {.rank = -1};

static void prepare_words(void) {
  char who[30] = "";
  said.rank = cli_launched_rank();
  if (said.rank >= 0)
    snprintf(who, sizeof who, "rank %d: ", said.rank);
  snprintf(said.interrupted, sizeof said.interrupted, "permc: %sinterrupted\n", who);
  snprintf(said.late, sizeof said.late, "permc: %sthe time limit is reached (--limit seconds=N)\n",
           who);
}

static bool is_silent(const siginfo_t *from) {
  bool of_process = from->si_code == SI_USER || from->si_code == SI_QUEUE;
  return said.rank >= 0 && (of_process ? from->si_pid == getppid() : said.rank > 0);
}

static void on_signal(int number, siginfo_t *from, void *context) {
  (void)context;
  const char *message = number == SIGALRM ? said.late : said.interrupted;
  static volatile sig_atomic_t seen;
  int status = number == SIGALRM ? CLI_WRONG : 128 + number;
  if (seen)
    _exit(status);
  seen = 1;
  cli_interrupt_contexts();
  compiler_kill_all_from_signal();
  temporary_remove_all_from_signal();
  if (is_silent(from) && number == SIGALRM)
    sleep(1);
  if (is_silent(from))
    _exit(status);
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, "\r\033[K", 4) < 0)
    _exit(status);
  if (write(STDERR_FILENO, message, strlen(message)) < 0)
    _exit(status);
  _exit(status);
}

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

static void catch_signals(void) {
  prepare_words();
  signal(SIGPIPE, SIG_IGN);  // writes then fail with EPIPE, which is reported like any other error
  signal(SIGXFSZ, SIG_IGN);  // the same, with EFBIG
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_NODEFER | SA_SIGINFO},
                     before;
    sigemptyset(&action.sa_mask);
    if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(caught[i], &action, NULL);
  }
}

// What comes from now on ends the process without a word: after a failure of one, launchers end the
// others, which have said what they know.
static void leave_signals(void) {
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
    struct sigaction now;
    if (sigaction(caught[i], NULL, &now) == 0 && now.sa_sigaction == on_signal)
      signal(caught[i], SIG_DFL);
  }
}

// Those that the caller has closed are not the numbers of files that are opened later: what is said
// would be written into them. They fail as if they were closed.
static void keep_standard_streams(void) {
  for (int i = 0; i <= STDERR_FILENO; i++)
    if (fcntl(i, F_GETFD) < 0)
      (void)!open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static cli_status parse_and_run(cli_arguments *args, int argc, char **argv) {
  cli_status status = cli_parse(args, argc, argv);
  if (status != CLI_OK)
    return status;
  if (args->help || args->list) {
    args->help ? print_verb_help(stdout, args->verb) : args->list();
    return CLI_OK;
  }
  if (cli_has_option(args, "--quiet"))
    cli_is_given(args, "--quiet") ? cli_be_quiet() : cli_progress_start();
  status = args->verb->run(args);
  cli_progress_end();
  return status;
}

// The verb with the words behind it; NULL: the first of them should have been one.
static cli_status run_verb(const cli_verb *verb, int argc, char **argv) {
  jmp_buf failure;
  FREED_BY(arena_free) arena memory = {.failure = &failure};
  cli_arguments args = {.verb = verb, .verbs = cli_verbs, .memory = &memory};
  volatile cli_status status = CLI_WRONG;
  bool several = cli_is_one_of_several(verb);
  if (several)
    cli_keep_messages();
  if (setjmp(failure) != 0)
    cli_out_of_memory();
  else
    status = verb ? parse_and_run(&args, argc, argv)
                  : report_unknown_verb(&args, argv[0], argc > 1 ? argv[1] : NULL);
  if (several && status == CLI_USAGE)
    cli_say_once();
  else if (several)
    cli_end_keeping(true);
  return status;
}

int tool_main(int argc, char **argv, cli_connect *connect) {
  keep_standard_streams();
  catch_signals();
  cli_connect_by(connect);
  report_json_setup();
  cli_status status = CLI_OK;
  const char *word = argc > 1 ? argv[1] : NULL;
  const cli_verb *verb = word ? cli_verb_named(cli_verbs, word) : NULL;
  if (!word) {
    print_help(stderr, cli_verbs);
    status = CLI_USAGE;
  } else if (verb) {
    status = run_verb(verb, argc - 2, argv + 2);
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    print_help(stdout, cli_verbs);
  } else if (strcmp(word, "--version") == 0) {
    printf("permc %s\n", permc_version());
  } else {
    status = run_verb(NULL, argc - 1, argv + 1);
  }
  if (!cli_flush_stdout() && status == CLI_OK)
    status = CLI_WRONG;
  leave_signals();
  return (int)status;
}
