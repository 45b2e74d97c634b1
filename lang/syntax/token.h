// Tokens: what the lexer makes of a text, for the parser (through offside.c) and the formatter.
//
//   main xs =            lex gives   NAME main, NAME xs, =, NAME y, where, NAME y, =, INTEGER 2
//     y where y = 2      offside     ITEM before main, OPEN after where, CLOSE at the end
#ifndef PERMC_LANG_SYNTAX_TOKEN_H
#define PERMC_LANG_SYNTAX_TOKEN_H

#include "core/error.h"
#include "core/scalar/scalar.h"

typedef struct token {
  int kind;  // the parser's number (parser.h), or TOKEN_COMMENT
  span where;
  bool first;       // on its line
  bool spaced;      // white space (or the line's start) before it
  uint32_t column;  // 0-based, in characters; tabs go to multiples of 8
  uint32_t line;
  const char *text;  // names and operators; the decoded text of a string
  uint64_t integer;  // number literals
  real_number real;
  const char *suffix;        // "i32", or NULL
  const char *wrong, *hint;  // what the parser reports when it reads this token, or NULL
} token;

enum { TOKEN_COMMENT = -2 };

typedef struct token_list {
  VEC(token) all;
} token_list;

// All tokens of source `file`, ending with kind 0 (end of file). Comments are kept when asked for
// (for the formatter). Errors stay in their tokens, whose kind is YYerror unless they have a
// meaning. False if any.
bool lex(diagnostics *d, uint32_t file, bool comments, token_list *out);

// Inserts what indentation says: ITEM before each item (column 0), and OPEN, SEMI, CLOSE around and
// between the bindings of let and where.
void offside(arena *a, const token_list *in, token_list *out);

#endif
