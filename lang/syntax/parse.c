// Parsing: from a source to the tree of its definitions.
//
//   text -> lexer.l: tokens -> offside.c: the same with blocks -> parser.y, build.c: the tree
#include "lang/syntax/build.h"
#include "lang/syntax/hints.h"
#include "parser.h"

typedef enum parse_kind { PARSE_MODULE, PARSE_SIGNATURES, PARSE_EXPRESSION } parse_kind;

// Definitions as other languages write them are not parsed: their first token says what they are,
// and what follows in them is no error of its own.
static void mark_other_definitions(diagnostics *d, token_list *l) {
  bool other = false;
  for (size_t i = 1; i < l->all.count; i++) {
    token *t = &l->all.items[i];
    other = other && t->kind != ITEM;
    if (other)
      t->wrong = NULL;
    const char *hint = t[-1].kind == ITEM ? hint_for_item(l, i) : NULL;
    if (!hint)
      continue;
    other = true;
    t->kind = YYerror;
    t->wrong = arena_printf(d->memory, "unexpected '%.*s'", (int)(t->where.end - t->where.start),
                            d->sources.items[t->where.file].text + t->where.start);
    t->hint = hint;
  }
}

// The tokens of a text, and those with its blocks. What is made of them does not refer to them, so
// that the next text may use their memory.
typedef struct token_lists {
  token_list raw, laid;
} token_lists;

static module *parse_tokens(diagnostics *d, uint32_t file, token_lists *l, parse_kind kind) {
  l->laid.all.count = 0;
  offside(d->memory, &l->raw, &l->laid);
  bool library = d->sources.items[file].library;
  if (!library)
    mark_other_definitions(d, &l->laid);
  parser p = {.d = d, .memory = d->memory, .tokens = &l->laid, .module = NEW(d->memory, module)};
  p.module->file = file;
  p.module->library = library;
  p.expression = kind == PARSE_EXPRESSION;
  yyparse(&p);
  binding_list merged = kind == PARSE_SIGNATURES ? p.items : merge_bindings(&p, p.items);
  for (size_t i = 0; i < merged.count; i++) {
    binding *b = merged.items[i];
    b->global = true;
    b->in_library = p.module->library;
    vec_push(p.memory, &p.module->bindings, b);
  }
  return p.module;
}

static module *parse_file(diagnostics *d, uint32_t file, token_lists *l, parse_kind kind) {
  l->raw.all.count = 0;
  lex(d, file, false, &l->raw);
  return parse_tokens(d, file, l, kind);
}

module *parse_module(diagnostics *d, uint32_t file) {
  return parse_file(d, file, &(token_lists){0}, PARSE_MODULE);
}

void parse_modules(diagnostics *d, uint32_t first, uint32_t count, module **modules) {
  token_lists l = {0};
  for (uint32_t i = 0; i < count; i++)
    modules[i] = parse_file(d, first + i, &l, PARSE_MODULE);
}

module *parse_signatures(diagnostics *d, uint32_t file) {
  return parse_file(d, file, &(token_lists){0}, PARSE_SIGNATURES);
}

module *parse_expression(diagnostics *d, uint32_t file, const char *name) {
  token_list words = {0};
  token_lists l = {0};
  lex(d, file, false, &words);
  // As if the text were indented behind `name =`.
  span start = {file, 0, 0};
  vec_push(d->memory, &l.raw.all,
           ((token){.kind = NAME, .where = start, .first = true, .text = name}));
  vec_push(d->memory, &l.raw.all,
           ((token){.kind = '=', .where = start, .spaced = true, .text = "="}));
  for (size_t i = 0; i < words.all.count; i++) {
    token t = words.all.items[i];
    t.column++;
    vec_push(d->memory, &l.raw.all, t);
  }
  return parse_tokens(d, file, &l, PARSE_EXPRESSION);
}
