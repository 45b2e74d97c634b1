// Private to runtime/compiled/: a process of a compiler, which reads nothing and writes to a file
// in memory.
//
//   process p;
//   bool good;
//   if (process_start(&p, words, environment, &limits))     // {"/usr/bin/cc", "-c", ..., NULL}
//     while (!process_poll(&p, "/tmp/w/code.o", &good))
//       process_pause();
//   process_end(&p);                                        // in any case
//
// It leads a process group, which a signal handler can end (compiler_kill_all_from_signal), and
// which ends when permc ends, even if it is killed.
#ifndef PERMC_RUNTIME_COMPILED_PROCESS_H
#define PERMC_RUNTIME_COMPILED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// What a process may use: the kernel ends one that goes on, by a signal or a failing call.
typedef struct process_limits {
  uint64_t seconds, memory, file_bytes;
} process_limits;

typedef struct process {
  pid_t pid;  // 0: none, or ended
  int slot, output;
  int watch;  // permc's end of the pipe; -1: closed
} process;

// False: errno says why.
bool process_start(process *p, const char *const *arguments, char *const *environment,
                   const process_limits *most);
// Whether it has ended, and everything that it started; then *good says whether it succeeded. If
// the program ignores SIGCHLD, there is no exit status, and only the product (NULL: none) shows it.
bool process_poll(process *p, const char *product, bool *good);
// Ends it, and all that it started. One that the kernel cannot end, as its disk does not answer, is
// left alone after 2 s.
void process_end(process *p);
void process_pause(void);  // between two looks

#endif
