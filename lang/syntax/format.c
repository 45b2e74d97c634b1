// The formatter works on tokens, not on the tree: line breaks and comments stay as they were
// written. What it sets is the space between tokens, the indentation's shift, and blank lines.
//
//   f  x=let y=x+1              f x = let y = x + 1
//            z = y     becomes            z = y
//        in z                         in z
//
// A block (let, where) begins at the column of its first token. When that token moves, because the
// space before it changed, the block's other lines move with it.
#include "lang/syntax/build.h"
#include "lang/syntax/token.h"
#include "parser.h"

typedef struct block {
  uint32_t old_column;
  int64_t shift;   // new column - old column
  unsigned depth;  // brackets open around it
} block;

typedef struct formatter {
  diagnostics *d;
  const source *from;
  text *out;
  VEC(block) blocks;
  uint32_t column;  // of the next character written
  unsigned depth;   // open brackets
} formatter;

static bool is_open(int kind) { return kind == '(' || kind == '[' || kind == INDEX; }

static bool is_close(int kind) { return kind == ')' || kind == ']'; }

// After these a '-' is a sign, not a subtraction.
static bool expects_operand(int kind) {
  switch (kind) {
  case NAME:
  case INTEGER:
  case FLOATING:
  case STRING:
  case TRUE:
  case FALSE:
  case WILD:
  case FIELD:
  case ')':
  case ']':
    return false;
  default:
    return true;
  }
}

static uint32_t count_characters(const source *s, span where) {
  uint32_t count = 0;
  for (uint32_t i = where.start; i < where.end; i++)
    count += ((unsigned char)s->text[i] & 0xC0) != 0x80;
  return count;
}

static bool is_arithmetic(int kind) {
  return kind == '+' || kind == '-' || kind == TIMES || kind == '^';
}

// Whether a space stands between two tokens of one line. `sign`: the first is a sign; `quoted`: the
// first lies between backticks, or opens them; `section`: it is an operator after a parenthesis.
static bool needs_space(const token *a, const token *b, bool sign, bool quoted, bool section) {
  if (b->kind == FIELD || b->kind == INDEX || is_close(b->kind) || b->kind == ',' || b->kind == ';')
    return false;
  if (b->kind == '-' && (a->kind == '-' || a->kind == COMPARE))
    return true;  // -- begins a comment, and <- a generator
  if (is_open(a->kind) || sign || a->kind == '~' || a->kind == '\\')
    return false;
  if (quoted || a->kind == DOTDOT || b->kind == DOTDOT)
    return false;
  // Operators of arithmetic keep what the author chose, the same on both sides: f (n-1), x + 1. Of
  // a section only one side is seen: (+ 1), (2 *).
  if (is_arithmetic(a->kind))
    return section ? b->spaced : a->spaced;
  if (is_arithmetic(b->kind))
    return b->spaced;
  // An element type follows its brackets.
  if (a->kind == ']' && !b->spaced)
    return false;
  return true;
}

static void write_bytes(formatter *f, const char *bytes, size_t count, uint32_t width) {
  text_add(f->out, bytes, count);
  f->column += width;
}

static void write_spaces(formatter *f, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    write_bytes(f, " ", 1, 1);
}

static void write_token(formatter *f, const token *t) {
  uint32_t end = t->where.end;
  while (t->kind == TOKEN_COMMENT && end > t->where.start &&
         strchr(" \t\r", f->from->text[end - 1]))
    end--;
  write_bytes(f, f->from->text + t->where.start, end - t->where.start,
              count_characters(f->from, (span){t->where.file, t->where.start, end}));
}

// A block ends where a line begins left of it, or its bracket closes.
static void close_blocks(formatter *f, const token *t) {
  while (f->blocks.count) {
    const block *b = &f->blocks.items[f->blocks.count - 1];
    bool ended = b->depth > f->depth || (t->first && t->column < b->old_column);
    if (!ended)
      return;
    f->blocks.count--;
  }
}

static int64_t shifted_column(const formatter *f, const token *t) {
  if (!t->column)
    return 0;
  int64_t shift = f->blocks.count ? f->blocks.items[f->blocks.count - 1].shift : 0;
  int64_t column = (int64_t)t->column + shift;
  return column > 1 ? column : 1;
}

static void start_line(formatter *f, const token *t, const token *before) {
  if (before) {
    text_add(f->out, "\n", 1);
    if (t->line > before->line + 1)
      text_add(f->out, "\n", 1);
  }
  f->column = 0;
  write_spaces(f, shifted_column(f, t));
}

static void format_tokens(formatter *f, const token_list *list) {
  const token *before = NULL,
              *code = NULL;  // the token before, and the one before that is no comment
  bool opens = false, sign = false, quoted = false, section = false;
  for (size_t i = 0; i < list->all.count && list->all.items[i].kind; i++) {
    const token *t = &list->all.items[i];
    if (is_close(t->kind) && f->depth)
      f->depth--;
    close_blocks(f, t);
    if (t->first)
      start_line(f, t, before);
    else if (t->kind == TOKEN_COMMENT)
      write_spaces(f, 2);
    else if (before && needs_space(before, t, sign, quoted, section))
      write_spaces(f, 1);
    if (opens && t->kind != TOKEN_COMMENT) {
      block b = {t->column, (int64_t)f->column - (int64_t)t->column, f->depth};
      vec_push(f->d->memory, &f->blocks, b);
    }
    write_token(f, t);
    if (is_open(t->kind))
      f->depth++;
    if (t->kind != TOKEN_COMMENT) {
      opens = t->kind == LET || t->kind == WHERE;
      quoted = (t->kind == '`') != quoted;
      section = is_arithmetic(t->kind) && code && code->kind == '(';
      sign = t->kind == '-' && (!code || expects_operand(code->kind));
      code = t;
    }
    before = t;
  }
  if (before)
    text_add(f->out, "\n", 1);
}

// The same tokens in the same blocks: what formatting must not change.
static bool is_same_program(diagnostics *d, uint32_t file, const text *out) {
  source s = {.name = d->sources.items[file].name,
              .text = arena_copy(d->memory, text_content(out), out->length),
              .length = (uint32_t)out->length};
  uint32_t files[2] = {file, diag_add_source(d, s)};
  token_list laid[2] = {{{0}}};
  for (int i = 0; i < 2; i++) {
    token_list raw = {0};
    if (!lex(d, files[i], false, &raw))
      return false;
    offside(d->memory, &raw, &laid[i]);
  }
  if (laid[0].all.count != laid[1].all.count)
    return false;
  for (size_t i = 0; i < laid[0].all.count; i++) {
    const token *a = &laid[0].all.items[i], *b = &laid[1].all.items[i];
    if (a->kind != b->kind || strcmp(a->text, b->text))
      return false;
  }
  return true;
}

bool format_source(diagnostics *d, uint32_t file, text *out) {
  token_list tokens = {0};
  parse_module(d, file);
  if (d->errors || !lex(d, file, true, &tokens))
    return false;
  formatter f = {.d = d, .from = &d->sources.items[file], .out = out};
  format_tokens(&f, &tokens);
  if (out->failed || is_same_program(d, file, out))
    return !out->failed;
  diag_report(
      d, DIAG_ERROR, SPAN_NONE,
      "%s: formatting would change this program, so it is left as it is (please report this)",
      d->sources.items[file].name);
  return false;
}
