// Processes that time themselves, one turn when asked. See
// bench/peers/peer.h for their side.
//
//   permc                      DIR/std_sort --count 1048576 --threads 2 --turns
//     "\n"                -->
//                         <--  "0.0551\n"                   seconds of one turn
//     (end of its input)  -->  ends
#include "tool/bench/peer.h"
#include "tool/cli/io.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_WORDS = 32 };

// Splits `room` at blanks.
static size_t split_words(char *room, char **words, size_t count) {
  char *rest = NULL;
  for (char *word = strtok_r(room, " ", &rest); word && count + 1 < MOST_WORDS;
       word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  words[count] = NULL;
  return count;
}

static int start_process(const char *path, char **words, int in, int out) {
  posix_spawn_file_actions_t actions;
  pid_t process;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  int failed = posix_spawn(&process, path, &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  return failed ? -1 : process;
}

// Pipes that the process does not inherit but as its input and output.
static bool open_pipes(int to[2], int from[2]) {
  if (pipe2(to, O_CLOEXEC) != 0)
    return false;
  if (pipe2(from, O_CLOEXEC) == 0)
    return true;
  close(to[0]);
  close(to[1]);
  return false;
}

bool bench_peer_exists(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, X_OK) == 0;
}

bool bench_peer_open(bench_peer *p, const char *folder, const char *name, const char *arguments,
                     unsigned threads) {
  char room[256], number[16], *words[MOST_WORDS];
  int to[2], from[2];
  *p = (bench_peer){.process = -1};
  snprintf(p->path, sizeof p->path, "%s/%s", folder, name);
  snprintf(room, sizeof room, "%s", arguments);
  snprintf(number, sizeof number, "%u", threads);
  char threads_option[] = "--threads", turns_option[] = "--turns";
  words[0] = p->path;
  words[1] = turns_option;
  words[2] = threads_option;
  words[3] = number;
  split_words(room, words, 4);
  bool piped = open_pipes(to, from);
  if (piped) {
    p->process = start_process(p->path, words, to[0], from[1]);
    int why = errno;
    close(to[0]);
    close(from[1]);
    p->to = fdopen(to[1], "w");
    p->from = fdopen(from[0], "r");
    errno = why;
  }
  if (piped && p->process >= 0 && p->to && p->from)
    return true;
  cli_error("%s: %s", p->path, strerror(errno));
  bench_peer_close(p);
  return false;
}

bool bench_peer_turn(void *with, double *seconds) {
  bench_peer *p = with;
  char line[256], *end = line;
  if (fputc('\n', p->to) != EOF && fflush(p->to) == 0 && fgets(line, sizeof line, p->from))
    *seconds = strtod(line, &end);
  else
    line[0] = 0;
  if (end > line && *end == '\n' && *seconds > 0)
    return true;
  line[strcspn(line, "\n")] = 0;
  cli_error("%s: %s", p->path, line[0] ? line : "the process has ended");
  return false;
}

void bench_peer_close(bench_peer *p) {
  if (p->to)
    fclose(p->to);
  if (p->from)
    fclose(p->from);
  if (p->process >= 0)
    waitpid(p->process, NULL, 0);
  *p = (bench_peer){.process = -1};
}
