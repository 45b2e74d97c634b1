// Messages, files and standard output of the tool. Used by every other file of the tool.
//
//   permc: run: --entry was given twice                  cli_usage_error("%s: ...")
//   permc: absent.npy: No such file or directory         cli_error("%s: %s", path, why)
#ifndef PERMC_TOOL_CLI_IO_H
#define PERMC_TOOL_CLI_IO_H

#include "core/text.h"
#include "runtime/permc.h"
#include <stdio.h>

// A signal ends permc with 128 and its number (tool/tool.c).
typedef enum cli_status {
  CLI_OK = 0,
  CLI_WRONG = 1,  // the program, the data or a file is wrong
  CLI_USAGE = 2   // the command line is wrong
} cli_status;

// ---- messages --------------------------------------------------------------------------------

// Each prints one line, "permc: ..." , to standard error.
cli_status cli_error(const char *format, ...) PRINTF_LIKE(1, 2);        // returns CLI_WRONG
cli_status cli_usage_error(const char *format, ...) PRINTF_LIKE(1, 2);  // CLI_USAGE
cli_status cli_out_of_memory(void);  // CLI_WRONG; the line once only
// Prints the messages of the last call on the context. Returns `good`.
bool cli_report(const permc_context *context, bool good);
// Has those messages go elsewhere from here on, and those of cli_error, in words without a context.
void cli_report_by(void (*report)(const permc_context *context, const char *words));
// The same, but of what went well nothing with --quiet: cli_be_quiet was called.
bool cli_report_reading(const permc_context *context, bool good);
void cli_be_quiet(void);
// Messages from here on are kept; then shown, or thrown away. What was kept stays until it is.
void cli_keep_messages(void);
const char *cli_kept_messages(void);
void cli_name_kept(unsigned rank);  // what is kept is what this rank says
void cli_end_keeping(bool show);
// One line of --time, such as "permc: load      0.0012 s"; `file` may be NULL.
void cli_print_time(const char *file, const char *stage, double seconds);

// ---- files -----------------------------------------------------------------------------------

// The whole of a file ("-": standard input), 0-terminated; the caller frees it. NULL: *why is a
// text. At most so many bytes are read, as what is piped may have no end: CLI_LARGEST_PROGRAM, or
// SIZE_MAX.
enum { CLI_LARGEST_PROGRAM = 64 << 20 };
char *cli_read_file(const char *path, size_t most, size_t *length, const char **why);
// Writes a file ("-": standard output), which appears whole or not at all, also after a power loss.
// False: reported.
bool cli_write_file(const char *path, const text *content);
// Whether a file can be written, asked before long work. False: reported.
bool cli_check_output(const char *path);
// The same of a picture, which is SVG or, `as_text`, text, whatever the name promises.
bool cli_check_picture(const char *path, bool as_text);
// Prints a value to standard output as text. On a terminal only the ends of arrays with more than
// 1,000 elements, unless `whole`. False: reported; a reader that is gone is not.
bool cli_print_value(const permc_value *v, bool whole);
// Prints the text to standard output and frees it. CLI_WRONG: it is incomplete; reported.
cli_status cli_print_text(text *content);
// Whether all of standard output arrived; prints one line if not (once). If its reader is gone
// (`permc run ... | head`), ends the process as SIGPIPE does, without a word.
bool cli_flush_stdout(void);

#endif
