// One file's tests. Each entry of each block is tested on each of the block's inputs:
//
//   read the input -> run -> compare with the output (or the message with `error:`) -> properties
//
// and its structure is compared with what each entry's plan has.
//
// A failure is one line and details below it:
//
//   sort.perm:12: main: result[2] is 3i32, expected 2i32
//     expected [0i32, 1i32, 2i32, 3i32]
//     found    [0i32, 1i32, 3i32, 2i32]
//     input    [3i32, 0i32, 1i32, 2i32]
#include "tool/testing/case.h"
#include "core/path.h"
#include "runtime/values/value.h"
#include "tool/cli/program.h"
#include "tool/testing/compare.h"
#include "tool/testing/structure.h"

#include <unistd.h>

// One test at work.
typedef struct test_run {
  test_file *file;
  permc_context *context;
  const test_block *block;
  const block_case *the_case;        // NULL: the error of a whole program, or a structure
  const block_structure *structure;  // NULL: none is looked at
  uint32_t line;                     // where it stands
  const char *entry;
  const char *load_error;  // the message when the program does not load; NULL: it does
  permc_value **arguments, **results;
  size_t argument_count, result_count;
  uint64_t row;  // of the failure, for print_input
  text why;      // of the failure
} test_run;

// ---- what a test is called -------------------------------------------------------------------

static bool has_tag(const test_block *block, const char *const *tags, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < block->tags.count; k++)
      if (strcmp(tags[i], block->tags.items[k]) == 0)
        return true;
  return false;
}

static void add_data_name(text *name, const char *before, const block_data *data) {
  if (data->kind == DATA_FILE)
    text_printf(name, "%s @%s", before, data->text);
  else
    text_printf(name, "%s%s {%s}", data->kind == DATA_RANDOM ? "random " : "", before, data->text);
}

// Whether the options select the test "FILE:LINE ENTRY NAME".
static bool is_selected(const test_file *file, const test_block *block, uint32_t line,
                        const char *entry, const char *name) {
  const test_options *options = file->options;
  if (options->tag_count && !has_tag(block, options->tags, options->tag_count))
    return false;
  if (has_tag(block, options->excluded, options->excluded_count))
    return false;
  if (!options->only)
    return true;
  FREED_BY(text_free) text full = {0};
  text_printf(&full, "%s:%u %s %s", file->path, line, entry, name);
  return full.data && strstr(full.data, options->only);
}

// ---- reports ---------------------------------------------------------------------------------

// Adds lines, each with two blanks before it.
static void add_indented(text *to, const char *lines) {
  while (*lines) {
    size_t length = strcspn(lines, "\n");
    text_printf(to, "  %.*s\n", (int)length, lines);
    lines += length + (lines[length] == '\n');
  }
}

// The first line of `why` beside the place, the others below it.
static void add_report(test_file *file, uint32_t line, const char *entry, const char *why) {
  size_t length = strcspn(why, "\n");
  FREED_BY(text_free) text report = {0};
  text_printf(&report, "%s:%u: %s: %.*s\n", file->path, line, entry, (int)length, why);
  add_indented(&report, why + length + (why[length] == '\n'));
  text_shown(&file->report, text_content(&report), report.length);
  file->report.failed |= report.failed;
}

static void finish_test(test_run *run, bool passed, uint32_t line) {
  bool skipped = !passed && permc_needs_extern(run->context);
  if (!passed && !skipped)
    add_report(run->file, line, run->entry,
               run->why.length && !run->why.failed ? run->why.data : "out of memory");
  ++*(passed ? &run->file->passed : skipped ? &run->file->skipped : &run->file->failed);
  if (run->file->progress)
    run->file->progress(run->file);
  permc_values_free(run->arguments, run->argument_count);
  permc_values_free(run->results, run->result_count);
  text_free(&run->why);
}

// The context's message below `what`.
static bool fail_with_message(test_run *run, const char *what) {
  text_printf(&run->why, "%s:\n%s", what, permc_message(run->context));
  return false;
}

// ---- data ------------------------------------------------------------------------------------

// A path in a test block is relative to its file.
static void add_path(text *to, const test_file *file, const char *path) {
  const char *slash = strrchr(file->path, '/');
  if (path[0] != '/' && slash)
    text_add(to, file->path, (size_t)(slash - file->path) + 1);
  text_string(to, path);
}

// The text of braces at the line and column where it stands in the file, so that messages about
// it name the right place.
static void add_in_place(text *to, const block_data *data) {
  for (uint32_t i = 1; i < data->line; i++)
    text_add(to, "\n", 1);
  for (uint32_t i = 1; i < data->column; i++)
    text_add(to, " ", 1);
  text_string(to, data->text);
}

// Whether a test may read this file, and show what is in it.
static bool may_read(test_run *run, const char *path) {
  if (cli_is_given(run->file->options->args, "--untrusted"))
    text_printf(&run->why, "@%s: tests of a program that is not trusted read no files", path);
  return !run->why.length;
}

// Messages about a file from elsewhere must not tell what is in it.
static void hide_content(test_run *run, const char *path) {
  if (!path_is_beside(run->file->path, path) && access(path, R_OK) == 0)
    text_printf(&run->why,
                "%s has no such values (it is not in the folder of the program, so nothing of it "
                "is shown)",
                path);
}

// The path of data in a file, or the text of braces. False: it cannot be had.
static bool locate_data(test_run *run, const block_data *data, text *to) {
  if (data->kind == DATA_FILE)
    add_path(to, run->file, data->text);
  else
    add_in_place(to, data);
  if (to->failed)
    text_string(&run->why, "out of memory");
  return !to->failed && (data->kind != DATA_FILE || may_read(run, to->data));
}

static bool read_input(test_run *run) {
  const block_data *input = &run->the_case->input;
  permc_value ***into = &run->arguments;
  size_t *count = &run->argument_count;
  if (input->kind == DATA_RANDOM)
    return permc_read_random(run->context, run->entry, input->text, 1, into, count);
  FREED_BY(text_free) text bytes = {0};
  bool found = locate_data(run, input, &bytes), file = input->kind == DATA_FILE, ok = false;
  const char *path = text_content(&bytes);
  if (found && file)
    ok = permc_read_files(run->context, run->entry, &path, 1, into, count);
  else if (found)
    ok = permc_read_bytes(run->context, run->entry, run->file->path, path, bytes.length, into,
                          count);
  if (found && file && !ok)
    hide_content(run, path);
  return ok;
}

// Reads arrays of the types of `like`; the arrays are the caller's to destroy.
static bool read_arrays_like(value_source *from, const array_list *like, array_list *into,
                             text *why) {
  error e = {0};
  for (size_t i = 0; i < like->count; i++) {
    value_expectation expected = {.type = like->items[i].type, .rank = (int)like->items[i].rank};
    value_status status = value_read(from, expected, &into->items[i], &e);
    if (status == VALUE_END)
      text_printf(why, "the output has %zu of the %zu arrays of the result", i, like->count);
    else if (status == VALUE_ERROR) {
      text_string(why, "the output cannot be read as ");
      array_print_shape(why, &like->items[i]);
      text_printf(why, ", the type of the result:\n%s", e.message);
    }
    if (status != VALUE_OK)
      return false;
    into->count++;
  }
  array extra = {0};
  value_expectation anything = {.type = SCALAR_COUNT, .rank = -1};
  value_status status = value_read(from, anything, &extra, &e);
  array_destroy(&extra);
  if (status != VALUE_END)
    text_printf(why, "the output has more than the %zu array%s of the result", like->count,
                like->count == 1 ? "" : "s");
  return status == VALUE_END;
}

static bool read_output(test_run *run, const array_list *like, array_list *into) {
  const block_data *output = &run->the_case->output;
  FREED_BY(text_free) text bytes = {0};
  error e = {0};
  value_source *from = NULL;
  if (locate_data(run, output, &bytes))
    from = output->kind == DATA_FILE
               ? value_source_open(bytes.data, &e)
               : value_source_bytes(run->file->path, text_content(&bytes), bytes.length, &e);
  bool ok = from && read_arrays_like(from, like, into, &run->why);
  if (!from && !run->why.length)
    text_string(&run->why, e.message);
  if (from && !ok && output->kind == DATA_FILE && !path_is_beside(run->file->path, bytes.data)) {
    text_free(&run->why);
    hide_content(run, bytes.data);
  }
  if (from)
    value_source_close(from);
  return ok;
}

// ---- checks ----------------------------------------------------------------------------------

static bool check_output(test_run *run) {
  FREED_BY(list_free) array_list results = {0}, expected = {0};
  bool ok = list_arrays(&results, run->results, run->result_count);
  if (ok) {
    expected.items = calloc(results.count + 1, sizeof *expected.items);
    ok = expected.items && read_output(run, &results, &expected) &&
         lists_equal("result", &expected, &results, &run->why, &run->row);
  }
  for (size_t i = 0; i < expected.count; i++)
    array_destroy(&expected.items[i]);
  return ok;
}

static bool check_auto_output(test_run *run) {
  permc_value **expected = NULL;
  size_t count = 0;
  bool ok = permc_run(run->context, run->entry, "interp", run->arguments, run->argument_count,
                      &expected, &count);
  if (!ok)
    fail_with_message(run, "auto output: interp fails");
  ok = ok && values_equal("result", expected, count, run->results, run->result_count, &run->why,
                          &run->row);
  permc_values_free(expected, count);
  return ok;
}

// A copy of the values as `parameters` arguments: as they are, as one tuple, or each component
// apart. False: they do not fit.
static bool regroup_values(permc_value *const *values, size_t count, size_t parameters,
                           permc_value ***into) {
  array_list all;
  if (!list_arrays(&all, values, count))
    return false;
  bool one = parameters == 1, apart = parameters == all.count;
  size_t made = 0;
  *into = calloc(all.count + 1, sizeof **into);
  bool ok = *into && (one || apart);
  for (size_t i = 0; ok && i < all.count; i++) {
    const array *a = &all.items[i];
    ok = ((*into)[made++] =
              permc_value_new(scalar_types[a->type].name, a->rank, a->dims, a->data)) != NULL;
  }
  if (ok && one && all.count > 1) {
    permc_value *tuple = permc_value_tuple(*into, made);  // takes the parts
    memset(*into, 0, made * sizeof **into);
    made = 1;
    ok = ((*into)[0] = tuple) != NULL;
  }
  list_free(&all);
  if (!ok) {
    permc_values_free(*into, made);
    *into = NULL;
  }
  return ok;
}

// function(values), the function being any expression in the program's scope.
static bool apply_function(test_run *run, const char *function, permc_value *const *values,
                           size_t count, permc_value ***results, size_t *result_count) {
  if (!permc_define(run->context, function))
    return fail_with_message(run, function);
  size_t parameters = permc_parameter_count(run->context, "-e");
  if (parameters == (size_t)-1)
    return fail_with_message(run, function);
  permc_value **copies = NULL;
  bool direct = parameters == count;
  if (!direct && !regroup_values(values, count, parameters, &copies)) {
    text_printf(&run->why, "%s takes %zu arguments, but there are %zu values", function, parameters,
                count);
    return false;
  }
  bool ok = permc_run(run->context, "-e", run->file->options->backend, direct ? values : copies,
                      parameters, results, result_count);
  if (!direct)
    permc_values_free(copies, parameters);
  return ok || fail_with_message(run, function);
}

static bool check_function(test_run *run, const block_property *property) {
  permc_value **values = NULL;
  size_t count = 0;
  bool inverse = property->kind == PROPERTY_INVERSE_OF, ok;
  if (inverse)
    ok =
        apply_function(run, property->function, run->results, run->result_count, &values, &count) &&
        values_equal("the recovered input", run->arguments, run->argument_count, values, count,
                     &run->why, &run->row);
  else
    ok = apply_function(run, property->function, run->arguments, run->argument_count, &values,
                        &count) &&
         values_equal("result", values, count, run->results, run->result_count, &run->why,
                      &run->row);
  permc_values_free(values, count);
  return ok;
}

static bool check_property(test_run *run, const block_property *property) {
  text_printf(&run->why, "property %s: ", property->text);
  size_t before = run->why.length;
  bool ok;
  switch (property->kind) {
  case PROPERTY_SORTED:
    ok = values_sorted(run->results, run->result_count, &run->why, &run->row);
    break;
  case PROPERTY_PERMUTATION:
    ok = values_permuted(run->arguments, run->argument_count, run->results, run->result_count,
                         &run->why);
    break;
  default:
    ok = check_function(run, property);
    break;
  }
  if (!ok && run->why.length == before)
    text_string(&run->why, "out of memory");
  if (ok)
    text_free(&run->why);
  return ok;
}

// Whether the words stand in the message; "..." among them, and spaces beside it, are for any text.
static bool has_words(const char *message, const char *words) {
  const char *end = message + strlen(message), *next;
  for (; message && words; words = next ? next + 3 : NULL) {
    words += strspn(words, " ");
    next = strstr(words, "...");
    size_t length = next ? (size_t)(next - words) : strlen(words);
    while (length && words[length - 1] == ' ')
      length--;
    message = memmem(message, (size_t)(end - message), words, length);
    message = message ? message + length : NULL;
  }
  return message;
}

// `message` is the context's, or its own where the program did not load; NULL: there is no error.
static bool check_message(test_run *run, const char *words, const char *message) {
  if (message && has_words(message, words))
    return true;
  text_printf(&run->why, "expected an error with the words '%.200s', found%s%s", words,
              message ? ":\n" : " none", message ? message : "");
  return false;
}

// ---- tests -----------------------------------------------------------------------------------

// The message stands below the first test that fails for it.
static bool fail_of_load(test_run *run) {
  text_string(&run->why, "the program does not load");
  if (run->file->failed == run->file->blocks.mistake_count)
    text_printf(&run->why, ":\n%s", run->load_error);
  return false;
}

// Whether the entry is none of the program, with what to write instead, at the line that names it.
static bool has_no_entry(test_run *run) {
  size_t count = permc_entry_count(run->context);
  for (size_t i = 0; i < count; i++)
    if (strcmp(permc_entry_name(run->context, i), run->entry) == 0)
      return false;
  run->line = run->block->entry_line;
  permc_check(run->context, run->entry, NULL, 0);
  const char *why = permc_message(run->context);
  if (count && strstr(why, "there is no entry point"))
    text_printf(&run->why,
                "there is no such entry point; the line '-- entry: %s' below '-- ==' chooses %s",
                permc_entry_name(run->context, 0), count == 1 ? "the one there is" : "one");
  else
    text_printf(&run->why, "the block tests no entry point:\n%s", why);
  return true;
}

// What the test was run on, and how to run it alone. A file from elsewhere is not shown.
static void add_input(test_run *run) {
  const block_data *input = &run->the_case->input;
  FREED_BY(text_free) text path = {0};
  if (run->why.length && run->why.data[run->why.length - 1] == '\n')
    run->why.data[--run->why.length] = 0;
  if (input->kind == DATA_FILE)
    add_path(&path, run->file, input->text);
  if (!path.length || path_is_beside(run->file->path, path.data))
    print_input(&run->why, run->arguments, run->argument_count, run->row);
  if (input->kind != DATA_TEXT) {
    text_string(&run->why, "\nto run it: permc run ");
    text_shell_word(&run->why, run->file->path);
    if (strcmp(run->entry, "main") != 0)
      text_printf(&run->why, " --entry %s", run->entry);
    const char *types = input->text + strspn(input->text, " ");
    size_t length = strlen(types);
    while (length && types[length - 1] == ' ')
      length--;
    if (path.length) {
      text_string(&run->why, " -i ");
      text_shell_word(&run->why, path.data);
    } else
      text_printf(&run->why, " --random '%.*s'", (int)length, types);
  }
}

static bool check_case(test_run *run) {
  const block_case *c = run->the_case;
  if (run->load_error)
    return fail_of_load(run);
  if (!c->error && has_no_entry(run))
    return false;
  bool read = read_input(run);
  if (run->why.length)
    return false;
  bool ran =
      read && permc_run(run->context, run->entry, run->file->options->backend, run->arguments,
                        run->argument_count, &run->results, &run->result_count);
  if (c->error)
    return check_message(run, c->error, ran ? NULL : permc_message(run->context));
  if (!ran)
    return fail_with_message(run, read ? "the run fails" : "the input cannot be read");
  run->row = NO_ROW;
  bool good = (c->output.kind == DATA_NONE || check_output(run)) &&
              (!c->automatic_output || check_auto_output(run));
  if (good && !permc_check_laws(run->context, run->entry, run->arguments, run->argument_count))
    good = fail_with_message(run, "a law of the program does not hold");
  if (good && c->output.kind == DATA_NONE && !c->automatic_output &&
      !run->block->properties.count) {
    text_string(&run->why, "the run succeeds, but nothing is expected of it; write output { ... }, "
                           "auto output, error: or property: below the input");
    good = false;
  }
  for (size_t i = 0; good && i < run->block->properties.count; i++)
    good = check_property(run, &run->block->properties.items[i]);
  if (!good && !run->why.length)
    text_string(&run->why, "out of memory");
  if (!good)
    add_input(run);
  return good;
}

// The error of a whole program shows when it is loaded, elaborated at small sizes, or, without
// parameters, run.
static bool check_program_error(test_run *run) {
  const char *words = run->block->error;
  if (run->load_error)
    return check_message(run, words, run->load_error);
  if (!permc_check(run->context, run->entry, NULL, 0))
    return check_message(run, words, permc_message(run->context));
  size_t parameters = permc_parameter_count(run->context, run->entry);
  if (parameters == 0 && !permc_run(run->context, run->entry, run->file->options->backend, NULL, 0,
                                    &run->results, &run->result_count))
    return check_message(run, words, permc_message(run->context));
  return check_message(run, words, NULL);
}

static bool check_structure(test_run *run) {
  if (run->load_error)
    return fail_of_load(run);
  return !has_no_entry(run) && structure_holds(run->context, run->entry, run->structure, &run->why);
}

static void run_test(test_run run) {
  bool passed = run.the_case    ? check_case(&run)
                : run.structure ? check_structure(&run)
                                : check_program_error(&run);
  finish_test(&run, passed, run.line);
}

static void count_one(test_run run) { run.file->tests++; }

// Each test of the block that the options select. `like` is the start of all: file, context, entry.
static void visit_block(const test_run *like, void (*visit)(test_run run)) {
  const test_block *block = like->block;
  test_run run = *like;
  run.line = block->line;
  if (block->error && is_selected(run.file, block, run.line, run.entry, "error"))
    visit(run);
  for (size_t i = 0; i < block->cases.count; i++) {
    FREED_BY(text_free) text name = {0};
    run.the_case = &block->cases.items[i];
    run.line = run.the_case->line;
    add_data_name(&name, "input", &run.the_case->input);
    if (is_selected(run.file, block, run.line, run.entry, text_content(&name)))
      visit(run);
  }
  run.the_case = NULL;
  for (size_t i = 0; i < block->structures.count; i++) {
    run.structure = &block->structures.items[i];
    run.line = run.structure->line;
    if (is_selected(run.file, block, run.line, run.entry, "structure"))
      visit(run);
  }
}

static void visit_tests(test_run like, void (*visit)(test_run run)) {
  for (size_t b = 0; b < like.file->blocks.blocks.count; b++) {
    like.block = &like.file->blocks.blocks.items[b];
    for (size_t e = 0; e < like.block->entries.count; e++) {
      like.entry = like.block->entries.items[e];
      visit_block(&like, visit);
    }
  }
}

// ---- the file --------------------------------------------------------------------------------

void test_file_open(test_file *file) {
  const char *why = "";
  file->program = cli_read_file(file->path, CLI_LARGEST_PROGRAM, &file->length, &why);
  if (!file->program) {
    text_printf(&file->report, "permc: %s: %s\n", file->path, why);
    file->failed++;
    return;
  }
  if (!testblock_parse(&file->blocks, file->path, file->program, file->length)) {
    text_printf(&file->report, "permc: %s: out of memory\n", file->path);
    file->failed++;
    return;
  }
  if (file->blocks.mistake_count)
    text_shown(&file->report, text_content(&file->blocks.mistakes), file->blocks.mistakes.length);
  file->failed += file->blocks.mistake_count;
  visit_tests((test_run){.file = file}, count_one);
}

void test_file_run(test_file *file) {
  if (file->tests == 0)
    return;
  FREED_BY(cli_close) cli_session s = {0};
  // verb_test has found the options right: only memory can be lacking.
  if (cli_begin(&s, file->options->args) != CLI_OK) {
    file->failed += file->tests;
    return;
  }
  bool loaded = permc_load(s.context, file->path);
  FREED char *message = strdup(permc_message(s.context));
  visit_tests((test_run){.file = file,
                         .context = s.context,
                         .load_error = loaded    ? NULL
                                       : message ? message
                                                 : "out of memory"},
              run_test);
}

void test_file_close(test_file *file) {
  testblock_free(&file->blocks);
  text_free(&file->report);
  free(file->program);
}
