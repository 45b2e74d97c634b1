// The parser of test blocks.
//
// The file is walked line by line. The comment lines of a block are copied with everything that is
// not theirs (code before them, the dashes) as blanks, so that places in the copy are places in the
// file:
//
//   file                      copy, read from line 2 on
//   sort = ...
//   -- ==
//   -- input { 1 }               input { 1 }
#include "tool/testing/block.h"
#include "tool/cli/options.h"

#include <ctype.h>
#include <errno.h>

typedef struct block_parser {
  test_blocks *into;
  const char *file;
  const char *at, *end;    // the rest of the block
  const char *line_start;  // of the current line
  uint32_t line;           // from 1
  test_block block;
  uint32_t word_line;  // of the current directive
  uint32_t error_line;
  bool wrong;  // the block has a mistake: the rest of it is not read
} block_parser;

static void report_mistake(block_parser *p, uint32_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void report_mistake(block_parser *p, uint32_t line, const char *format, ...) {
  text_printf(&p->into->mistakes, "%s:%u: ", p->file, line);
  WITH_ARGUMENTS(format, text_message(&p->into->mistakes, format, arguments));
  text_string(&p->into->mistakes, "\n");
  p->into->mistake_count++;
  p->wrong = true;
}

// ---- words -----------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void advance(block_parser *p) {
  if (*p->at++ == '\n') {
    p->line++;
    p->line_start = p->at;
  }
}

static void skip_blanks(block_parser *p) {
  while (p->at < p->end && is_blank(*p->at))
    advance(p);
}

// The next word: letters, digits, _ and ' ; "" if something else (or nothing) follows.
static const char *next_word(block_parser *p) {
  skip_blanks(p);
  const char *start = p->at;
  while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '\''))
    p->at++;
  return arena_copy(&p->into->memory, start, (size_t)(p->at - start));
}

static bool next_is(block_parser *p, char c) {
  skip_blanks(p);
  if (p->at == p->end || *p->at != c)
    return false;
  p->at++;
  return true;
}

// The next word without blanks (a file name).
static const char *next_path(block_parser *p) {
  skip_blanks(p);
  const char *start = p->at;
  while (p->at < p->end && !is_blank(*p->at))
    p->at++;
  return arena_copy(&p->into->memory, start, (size_t)(p->at - start));
}

// The rest of the line, without blanks at its ends.
static const char *rest_of_line(block_parser *p) {
  while (p->at < p->end && *p->at != '\n' && is_blank(*p->at))
    p->at++;
  const char *start = p->at;
  while (p->at < p->end && *p->at != '\n')
    p->at++;
  const char *end = p->at;
  while (end > start && is_blank(end[-1]))
    end--;
  return arena_copy(&p->into->memory, start, (size_t)(end - start));
}

// What stands between { and }, which may be lines apart. False: a mistake.
static bool next_braces(block_parser *p, const char *after, block_data *data) {
  if (!next_is(p, '{')) {
    const char *start = p->at, *values = rest_of_line(p);
    values += strspn(values, ": ");
    bool braces = *values && *values != '{';
    report_mistake(p, p->line, "column %u: expected { after '%s'%s%s%s%s%s",
                   (uint32_t)(start - p->line_start) + 1, after, *values ? ": write -- " : "",
                   *values ? after : "", braces ? " { " : " ", values, braces ? " }" : "");
    return false;
  }
  *data = (block_data){DATA_TEXT, NULL, p->line, (uint32_t)(p->at - p->line_start) + 1};
  const char *start = p->at;
  while (p->at < p->end && *p->at != '}' && *p->at != '{')
    advance(p);
  if (p->at == p->end || *p->at == '{') {
    report_mistake(p, data->line, "the { after '%s' has no }: write one at the end of its values",
                   after);
    return false;
  }
  data->text = arena_copy(&p->into->memory, start, (size_t)(p->at - start));
  p->at++;
  return true;
}

// { values } or @ file.
static bool next_data(block_parser *p, const char *after, block_data *data) {
  if (!next_is(p, '@'))
    return next_braces(p, after, data);
  uint32_t line = p->line;
  data->kind = DATA_FILE;
  data->text = next_path(p);
  data->line = line;
  data->column = 1;
  if (!*data->text)
    report_mistake(p, line, "expected a file name after '%s @'", after);
  return !p->wrong;
}

static void split_words(block_parser *p, const char *words, block_names *into) {
  while (*words) {
    while (is_blank(*words))
      words++;
    size_t length = strcspn(words, " \t\r\n");
    if (length)
      vec_push(&p->into->memory, into, arena_copy(&p->into->memory, words, length));
    words += length;
  }
}

// ---- directives ------------------------------------------------------------------------------

static void parse_entry(block_parser *p) {
  if (p->block.entries.count > 0 || p->block.cases.count > 0)
    report_mistake(p, p->word_line, "'entry:' must be given once, before the inputs of its block");
  p->block.entry_line = p->word_line;
  split_words(p, rest_of_line(p), &p->block.entries);
  if (p->block.entries.count == 0)
    report_mistake(p, p->word_line, "expected a name after 'entry:'");
}

static void parse_tags(block_parser *p) {
  block_data data;
  if (next_braces(p, "tags", &data))
    split_words(p, data.text, &p->block.tags);
}

static void add_case(block_parser *p, block_data input) {
  block_case c = {.line = p->word_line, .input = input};
  vec_push(&p->into->memory, &p->block.cases, c);
}

static void parse_input(block_parser *p) {
  block_data data;
  if (next_data(p, "input", &data))
    add_case(p, data);
}

static void parse_random(block_parser *p) {
  block_data data;
  if (strcmp(next_word(p), "input") != 0) {
    report_mistake(p, p->word_line, "expected 'input' after 'random'");
  } else if (next_braces(p, "random input", &data)) {
    data.kind = DATA_RANDOM;
    add_case(p, data);
  }
}

// The input that an output or error belongs to: the last, if it has none yet.
static block_case *case_before(block_parser *p, const char *what) {
  size_t count = p->block.cases.count;
  block_case *c = count ? &p->block.cases.items[count - 1] : NULL;
  if (!c)
    report_mistake(p, p->word_line, "'%s' must follow an input", what);
  else if (c->output.kind != DATA_NONE || c->automatic_output || c->error)
    report_mistake(p, p->word_line, "the input of line %u already has an output or an error",
                   c->line);
  return p->wrong ? NULL : c;
}

static void parse_output(block_parser *p) {
  block_data data;
  block_case *c = case_before(p, "output");
  if (c && next_data(p, "output", &data))
    c->output = data;
}

static void parse_auto(block_parser *p) {
  if (strcmp(next_word(p), "output") != 0) {
    report_mistake(p, p->word_line, "expected 'output' after 'auto'");
    return;
  }
  block_case *c = case_before(p, "auto output");
  if (c)
    c->automatic_output = true;
}

static void parse_error(block_parser *p) {
  const char *words = rest_of_line(p);
  if (!*words) {
    report_mistake(p, p->word_line, "expected words of the message after 'error:'");
    return;
  }
  if (p->block.cases.count == 0) {
    if (p->block.error)
      report_mistake(p, p->word_line, "a block without inputs has at most one 'error:'");
    p->block.error = words;
    p->error_line = p->word_line;
    return;
  }
  block_case *c = case_before(p, "error:");
  if (c)
    c->error = words;
}

static const struct {
  const char *name;
  property_kind kind;
  bool takes_function;
} property_rows[] = {
    {"sorted", PROPERTY_SORTED, false},
    {"permutation", PROPERTY_PERMUTATION, false},
    {"inverse_of", PROPERTY_INVERSE_OF, true},
    {"equals", PROPERTY_EQUALS, true},
};
enum { PROPERTY_ROWS = sizeof property_rows / sizeof *property_rows };

// The same property after several inputs of a block is one property.
static void add_property(block_parser *p, block_property property) {
  for (size_t i = 0; i < p->block.properties.count; i++)
    if (strcmp(p->block.properties.items[i].text, property.text) == 0)
      return;
  vec_push(&p->into->memory, &p->block.properties, property);
}

static void parse_property(block_parser *p) {
  const char *written = rest_of_line(p);
  size_t length = strcspn(written, " \t"), i = 0;
  while (i < PROPERTY_ROWS && (strlen(property_rows[i].name) != length ||
                               memcmp(property_rows[i].name, written, length) != 0))
    i++;
  const char *function = written + length + strspn(written + length, " \t");
  if (i == PROPERTY_ROWS)
    report_mistake(p, p->word_line,
                   "expected sorted, permutation, inverse_of FUNCTION or equals FUNCTION, not '%s'",
                   written);
  else if (property_rows[i].takes_function && !*function)
    report_mistake(p, p->word_line, "expected a function after '%s'", property_rows[i].name);
  else if (!property_rows[i].takes_function && *function)
    report_mistake(p, p->word_line, "'%s' takes no function, but '%s' follows",
                   property_rows[i].name, function);
  else
    add_property(p, (block_property){property_rows[i].kind, p->word_line, written,
                                     property_rows[i].takes_function ? function : NULL});
}

// ---- structure -------------------------------------------------------------------------------

const char *const structure_count_names[STRUCTURE_COUNTS] = {"columns", "passes",    "permutations",
                                                             "copies",  "exchanges", "planned"};

// The words of a structure while they are read.
typedef struct structure_reader {
  block_parser *p;
  uint32_t line;
  const block_names *words;
  size_t next;
} structure_reader;

static const char *next_structure_word(structure_reader *r) {
  return r->next < r->words->count ? r->words->items[r->next++] : "";
}

// "10", or after `<=`, where that is allowed.
static int64_t read_structure_number(structure_reader *r, const char *after, bool *at_most) {
  const char *word = next_structure_word(r), *what = after;
  if (at_most)
    *at_most = !strcmp(word, "<=");
  if (at_most && *at_most) {
    what = word;
    word = next_structure_word(r);
  }
  errno = 0;
  long long number = strtoll(word, NULL, 10);
  if (!*word || strspn(word, "0123456789") != strlen(word) || errno)
    report_mistake(r->p, r->line,
                   strchr(after, '=') ? "'%s' is no name of a count or size: write n 20, without ="
                   : at_most && !*at_most ? "expected a number, or <= and a number, after '%s'"
                                          : "expected a number after '%s'",
                   what);
  return number;
}

static void read_structure_target(structure_reader *r, block_structure *s) {
  if (s->target)
    report_mistake(r->p, r->line, "a structure has one target, not two");
  s->target = next_structure_word(r);
  if (!*s->target)
    report_mistake(r->p, r->line, "expected a name after 'target'");
}

// A pair of a name and a number: a count, or else a size, whose names only the program knows.
static void read_structure_pair(structure_reader *r, const char *name, block_structure *s) {
  arena *memory = &r->p->into->memory;
  structure_count i = 0;
  while (i < STRUCTURE_COUNTS && strcmp(structure_count_names[i], name) != 0)
    i++;
  if (i < STRUCTURE_COUNTS) {
    structure_expectation e = {.count = i};
    e.number = (uint64_t)read_structure_number(r, name, &e.at_most);
    vec_push(memory, &s->expectations, e);
  } else {
    structure_size size = {name, read_structure_number(r, name, NULL)};
    vec_push(memory, &s->sizes, size);
  }
}

// Such as "n 24 columns 300 passes <= 14 target avx2".
static void parse_structure(block_parser *p) {
  block_data data;
  block_names words = {0};
  block_structure s = {.line = p->word_line};
  if (!next_braces(p, "structure", &data))
    return;
  split_words(p, data.text, &words);
  for (structure_reader r = {p, data.line, &words, 0}; r.next < words.count && !p->wrong;) {
    const char *name = next_structure_word(&r);
    if (!strcmp(name, "target"))
      read_structure_target(&r, &s);
    else
      read_structure_pair(&r, name, &s);
  }
  if (p->wrong)
    return;
  text_closest closest = {.word = s.sizes.count ? s.sizes.items[0].name : ""};
  for (size_t i = 0; i < STRUCTURE_COUNTS; i++)
    text_consider(&closest, structure_count_names[i]);
  if (!s.expectations.count)
    report_mistake(p, data.line,
                   "'structure' needs columns, passes, permutations, copies or exchanges, and a "
                   "number%s%s",
                   closest.name ? "; did you mean " : "", closest.name ? closest.name : "");
  if (!p->wrong)
    vec_push(&p->into->memory, &p->block.structures, s);
}

// ---- all directives --------------------------------------------------------------------------

static const struct {
  const char *word;
  bool colon;  // follows the word
  void (*parse)(block_parser *p);
} directives[] = {
    {"entry", true, parse_entry},          {"tags", false, parse_tags},
    {"input", false, parse_input},         {"random", false, parse_random},
    {"output", false, parse_output},       {"auto", false, parse_auto},
    {"error", true, parse_error},          {"property", true, parse_property},
    {"structure", false, parse_structure},
};
enum { DIRECTIVES = sizeof directives / sizeof *directives };

static void parse_directive(block_parser *p) {
  p->word_line = p->line;
  const char *start = p->at, *word = next_word(p);
  for (size_t i = 0; i < DIRECTIVES; i++) {
    if (strcmp(directives[i].word, word) != 0)
      continue;
    if (directives[i].colon && (p->at == p->end || *p->at != ':')) {
      report_mistake(p, p->word_line, "expected : after '%s'", word);
      return;
    }
    p->at += directives[i].colon;
    directives[i].parse(p);
    return;
  }
  text_closest closest = {.word = word};
  for (size_t i = 0; i < DIRECTIVES; i++)
    text_consider(&closest, directives[i].word);
  p->at = start;
  report_mistake(p, p->word_line,
                 "expected entry:, tags, input, random input, output, auto output, error:, "
                 "property: or structure, not '%.40s'%s%s%s; nothing behind it in this block was "
                 "run",
                 rest_of_line(p), closest.name ? " (did you mean " : "",
                 closest.name ? closest.name : "", closest.name ? "?)" : "");
}

// ---- blocks ----------------------------------------------------------------------------------

static void check_block(block_parser *p) {
  test_block *b = &p->block;
  if (b->error && b->cases.count > 0)
    report_mistake(p, p->error_line,
                   "'error:' must follow its input, or be in a block without inputs");
  else if (b->error && b->properties.count > 0)
    report_mistake(p, p->error_line,
                   "'property:' needs an input, and this block has only 'error:'");
  else if (b->properties.count > 0 && b->cases.count == 0)
    report_mistake(p, b->properties.items[0].line, "'property:' needs an input in its block");
  else if (!b->error && b->cases.count == 0 && b->structures.count == 0)
    report_mistake(p, b->line, "a test block needs an input, a structure or an error");
  if (b->entries.count == 0)
    vec_push(&p->into->memory, &b->entries, "main");
}

static void parse_block(block_parser *p, const char *start, size_t length, uint32_t line) {
  p->at = p->line_start = start;
  p->end = start + length;
  p->line = line + 1;  // after the line with ==
  p->block = (test_block){.line = line, .entry_line = line};
  p->wrong = false;
  for (skip_blanks(p); p->at < p->end && !p->wrong; skip_blanks(p))
    parse_directive(p);
  if (!p->wrong)
    check_block(p);
  // A block is kept up to its mistake: what stands before can run. The input that the mistake
  // belongs to cannot.
  if (p->wrong && p->block.cases.count > 0)
    p->block.cases.count--;
  if (p->block.entries.count == 0)
    vec_push(&p->into->memory, &p->block.entries, "main");
  vec_push(&p->into->memory, &p->into->blocks, p->block);
}

// The next line: its length without the newline.
static size_t line_length(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? (size_t)(newline - at) : (size_t)(end - at);
}

// Whether the line is a comment of its own; *dashes is where it begins.
static bool is_comment(const char *line, size_t length, size_t *dashes) {
  size_t i = 0;
  while (i < length && (line[i] == ' ' || line[i] == '\t'))
    i++;
  *dashes = i;
  return i + 1 < length && line[i] == '-' && line[i + 1] == '-';
}

static bool is_block_start(const char *line, size_t length) {
  size_t dashes;
  if (!is_comment(line, length, &dashes))
    return false;
  size_t i = dashes + 2, equals = 0;
  while (i < length && is_blank(line[i]))
    i++;
  for (; i < length && line[i] == '='; i++)
    equals++;
  while (i < length && is_blank(line[i]))
    i++;
  return equals == 2 && i == length;
}

// Copies the comment lines from `at` on into `copy` with their dashes blank; the count of bytes
// taken from the file, and of lines, come back.
static size_t copy_block(const char *at, const char *end, char *copy, size_t *copied,
                         uint32_t *lines) {
  const char *start = at;
  size_t dashes;
  *copied = 0;
  *lines = 0;
  while (at < end) {
    size_t length = line_length(at, end);
    if (!is_comment(at, length, &dashes) || is_block_start(at, length))
      break;
    memset(copy + *copied, ' ', dashes + 2);
    memcpy(copy + *copied + dashes + 2, at + dashes + 2, length - dashes - 2);
    copy[*copied + length] = '\n';
    *copied += length + 1;
    at += length < (size_t)(end - at) ? length + 1 : length;
    ++*lines;
  }
  return (size_t)(at - start);
}

static void parse_file(test_blocks *into, const char *file, const char *program, size_t length) {
  block_parser *p = NEW(&into->memory, block_parser);
  p->into = into;
  p->file = file;
  char *copy = arena_alloc(&into->memory, length + 1);
  const char *at = program, *end = program + length;
  for (uint32_t line = 1; at < end; line++) {
    size_t count = line_length(at, end);
    bool starts = is_block_start(at, count);
    at += count < (size_t)(end - at) ? count + 1 : count;
    if (!starts)
      continue;
    size_t copied;
    uint32_t lines;
    at += copy_block(at, end, copy, &copied, &lines);
    parse_block(p, copy, copied, line);
    line += lines;
  }
}

bool testblock_parse(test_blocks *into, const char *file, const char *program, size_t length) {
  jmp_buf failure;
  *into = (test_blocks){.memory = {.failure = &failure}};
  bool ok = setjmp(failure) == 0;
  if (ok)
    parse_file(into, file, program, length);
  into->memory.failure = NULL;
  return ok && !into->mistakes.failed;
}

void testblock_free(test_blocks *b) {
  arena_free(&b->memory);
  text_free(&b->mistakes);
}
