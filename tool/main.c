// The program `permc`.
#include "tool/tool.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

typedef struct words {
  char **argv;
  int argc, status;
} words;

static void *run(void *with) {
  words *w = with;
  w->status = tool_main(w->argc, w->argv, NULL);
  return NULL;
}

// On a stack of its own where that of the process may not grow (ulimit -s).
int main(int argc, char **argv) {
  enum { ENOUGH = 1 << 20 };
  struct rlimit stack;
  pthread_attr_t attributes;
  pthread_t thread;
  words w = {argv, argc, 1};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= ENOUGH)
    return run(&w), w.status;
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstacksize(&attributes, 8 * ENOUGH) != 0 ||
      pthread_create(&thread, &attributes, run, &w) != 0)
    return fputs("permc: no thread could be started; raise the limit of the stack (ulimit -s)\n",
                 stderr),
           1;
  pthread_join(thread, NULL);
  return w.status;
}
