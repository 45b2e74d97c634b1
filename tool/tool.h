// The tool `permc` as a function: what the program does, and `python -m permc`
// (python/permc/_tool.c).
//
//   in    the words of a command line, the first being the program's name
//   out   the exit status; what it prints is on standard output and standard error, and flushed
//
// Once in a process, whose signals it catches: Ctrl-C ends the process. `connect` is for
// cli_connect_by.
#ifndef PERMC_TOOL_TOOL_H
#define PERMC_TOOL_TOOL_H

#include "tool/cli/program.h"

int tool_main(int argc, char **argv, cli_connect *connect);

#endif
