// Indentation to virtual tokens. In: the lexer's tokens. Out: the same with ITEM, OPEN, SEMI,
// CLOSE.
//
//   f n = g n          ITEM f n = g n
//     where g 0 = 1      where OPEN g 0 = 1
//           g k = k            SEMI g k = k CLOSE
//   main = f 3         ITEM main = f 3
//
// A token at column 0 begins an item and closes every block. `let` and `where` open a block at the
// column of the next token; a line that begins there is the next binding, one that begins left of
// it closes the block, one to its right continues. `in` closes its `let`, and a closing bracket or
// comma closes the blocks opened inside the bracket.
#include "lang/syntax/token.h"
#include "lang/syntax/tree.h"
#include "parser.h"

typedef enum context_kind {
  CONTEXT_LET,
  CONTEXT_WHERE,
  CONTEXT_BRACKET,
  CONTEXT_PARENTHESIS
} context_kind;

typedef struct context {
  context_kind kind;
  uint32_t column;
  bool open;  // a let closed by its indentation still awaits `in`
} context;

typedef struct offside_state {
  arena *memory;
  token_list *out;
  VEC(context) stack;
} offside_state;

// Virtual tokens stand right behind the last real one: that is where something may be missing.
static void emit_virtual(offside_state *l, int kind, const token *at) {
  const token_list *out = l->out;
  span where = {at->where.file, 0, 0};
  if (out->all.count)
    where.start = where.end = out->all.items[out->all.count - 1].where.end;
  token t = {.kind = kind, .where = where, .text = ""};
  vec_push(l->memory, &l->out->all, t);
}

static context *top_context(offside_state *l) {
  return l->stack.count ? &l->stack.items[l->stack.count - 1] : NULL;
}

static bool is_block(const context *c) {
  return c->kind == CONTEXT_LET || c->kind == CONTEXT_WHERE;
}

// Closes the innermost context. A let that was closed before stays silent.
static void pop_context(offside_state *l, const token *at) {
  if (is_block(top_context(l)) && top_context(l)->open)
    emit_virtual(l, CLOSE, at);
  l->stack.count--;
}

// Tokens that continue what stands before them, in any column.
static bool continues_line(int kind) {
  return kind == THEN || kind == ELSE || kind == IN || kind == ')' || kind == ']' || kind == ',' ||
         kind == WHERE;
}

static void apply_indentation(offside_state *l, const token *t) {
  // Innermost first: blocks to the right of this line end.
  for (size_t i = l->stack.count; i-- > 0;) {
    context *c = &l->stack.items[i];
    if (!is_block(c))
      return;  // a bracket: its inside is free
    if (!c->open)
      continue;
    if (t->column > c->column)
      return;
    if (t->column == c->column && !continues_line(t->kind)) {
      emit_virtual(l, SEMI, t);
      return;
    }
    if (t->column == c->column && t->kind != WHERE && t->kind != IN)
      return;
    emit_virtual(l, CLOSE, t);
    if (c->kind == CONTEXT_LET)
      c->open = false;
    else
      l->stack.count = i;
  }
}

static void close_brackets(offside_state *l, const token *t) {
  while (l->stack.count && is_block(top_context(l)))
    pop_context(l, t);
  if (l->stack.count)
    l->stack.count--;
}

// `in` ends its let, and every where opened inside of it.
static void close_let(offside_state *l, const token *t) {
  while (l->stack.count && is_block(top_context(l))) {
    bool let = top_context(l)->kind == CONTEXT_LET;
    pop_context(l, t);
    if (let)
      return;
  }
}

// A comma ends the blocks opened since the bracket around it; elsewhere it is a pattern's or a
// block's own business.
static void close_at_comma(offside_state *l, const token *t) {
  size_t i = l->stack.count;
  while (i && is_block(&l->stack.items[i - 1]))
    i--;
  if (!i)
    return;
  while (l->stack.count > i)
    pop_context(l, t);
}

static void open_block(offside_state *l, context_kind kind, const token *next) {
  emit_virtual(l, OPEN, next);
  context c = {kind, next->first && next->column == 0 ? UINT32_MAX : next->column, true};
  vec_push(l->memory, &l->stack, c);
}

// Inside parentheses a bar is the operator; elsewhere it starts a guard or the qualifiers.
static int bar_kind(offside_state *l) {
  return top_context(l) && top_context(l)->kind == CONTEXT_PARENTHESIS ? '|' : BAR;
}

void offside(arena *a, const token_list *in, token_list *out) {
  offside_state l = {.memory = a, .out = out};
  bool opened = false;  // this token began a block: its column is the block's own
  for (size_t i = 0; i < in->all.count; i++) {
    token t = in->all.items[i];
    if (t.kind == TOKEN_COMMENT)
      continue;
    bool item = t.first && t.column == 0;
    if (!t.kind && out->all.count)
      t.where.start = t.where.end = out->all.items[out->all.count - 1].where.end;
    if (item || !t.kind) {
      while (l.stack.count)
        pop_context(&l, &t);
      if (t.kind)
        emit_virtual(&l, ITEM, &t);
    } else if (t.first && !opened) {
      apply_indentation(&l, &t);
    }
    opened = false;
    if (t.kind == IN)
      close_let(&l, &t);
    if (t.kind == ')' || t.kind == ']')
      close_brackets(&l, &t);
    if (t.kind == ',')
      close_at_comma(&l, &t);
    if (t.kind == '|')
      t.kind = bar_kind(&l);
    if (t.kind == ';')
      t.kind = SEMI;
    vec_push(a, &out->all, t);
    if (t.kind == '(')
      vec_push(a, &l.stack, ((context){CONTEXT_PARENTHESIS, 0, true}));
    if (t.kind == '[' || t.kind == INDEX)
      vec_push(a, &l.stack, ((context){CONTEXT_BRACKET, 0, true}));
    if (t.kind == LET || t.kind == WHERE) {
      open_block(&l, t.kind == LET ? CONTEXT_LET : CONTEXT_WHERE, &in->all.items[i + 1]);
      opened = true;
    }
  }
}
