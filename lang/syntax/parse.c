// Parsing: from a source to the tree of its definitions.
//
//   text -> lexer.l: tokens -> offside.c: the same with blocks -> parser.y, build.c: the tree
#include "lang/syntax/build.h"
#include "lang/syntax/hints.h"
#include "parser.h"

typedef enum parse_kind { PARSE_MODULE, PARSE_SIGNATURES, PARSE_EXPRESSION } parse_kind;

// Definitions as other languages write them are not parsed: their first token says what they are,
// and what follows in them is no error of its own.
static void mark_other_definitions(arena *a, token_list *l) {
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
    t->wrong = arena_printf(a, "unexpected '%s'", t->text);
    t->hint = hint;
  }
}

static module *parse_tokens(diagnostics *d, uint32_t file, const token_list *raw, parse_kind kind) {
  token_list laid = {0};
  offside(d->memory, raw, &laid);
  mark_other_definitions(d->memory, &laid);
  parser p = {.d = d, .memory = d->memory, .tokens = &laid, .module = NEW(d->memory, module)};
  p.module->file = file;
  p.module->library = d->sources.items[file].library;
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

static module *parse_file(diagnostics *d, uint32_t file, parse_kind kind) {
  token_list raw = {0};
  lex(d, file, false, &raw);
  return parse_tokens(d, file, &raw, kind);
}

module *parse_module(diagnostics *d, uint32_t file) { return parse_file(d, file, PARSE_MODULE); }

module *parse_signatures(diagnostics *d, uint32_t file) {
  return parse_file(d, file, PARSE_SIGNATURES);
}

module *parse_expression(diagnostics *d, uint32_t file, const char *name) {
  token_list raw = {0}, item = {0};
  lex(d, file, false, &raw);
  // As if the text were indented behind `name =`.
  span start = {file, 0, 0};
  vec_push(d->memory, &item.all,
           ((token){.kind = NAME, .where = start, .first = true, .text = name}));
  vec_push(d->memory, &item.all,
           ((token){.kind = '=', .where = start, .spaced = true, .text = "="}));
  for (size_t i = 0; i < raw.all.count; i++) {
    token t = raw.all.items[i];
    t.column++;
    vec_push(d->memory, &item.all, t);
  }
  return parse_tokens(d, file, &item, PARSE_EXPRESSION);
}
