// What people write who know another language, and what it is here: one table, for the messages of
// the lexer, the parser, the names and the types.
//
//   hint_for(HINT_NAME, "filter")    "..., which data decide: keep the length, and mark ..."
//   hint_at(tokens, 12, &shown)      of the tokens around an error: "a lambda is written \x -> ..."
#ifndef PERMC_LANG_SYNTAX_HINTS_H
#define PERMC_LANG_SYNTAX_HINTS_H

#include "lang/syntax/token.h"

typedef enum hint_kind {
  HINT_SIGN,      // characters that are no token: ** $ ! λ
  HINT_ITEM,      // tokens that begin no definition: `def f`, refused before the text is parsed
  HINT_TOKENS,    // tokens up to a syntax error
  HINT_SUFFIX,    // what stands behind the digits of a number
  HINT_NAME,      // a name that is not defined
  HINT_TYPE,      // a name that is no type
  HINT_STATIC,    // what needs a value that is known before the program runs
  HINT_FUNCTION,  // a function whose argument should be one of two arguments
  HINT_ARGUMENT,  // a function whose argument has the wrong type
  HINT_ORDER,  // a function on arrays that takes others, whose order is not that of other languages
  HINT_EXTRA,  // a function that is given one argument too many
  HINT_EQUATION,  // what a function of the library needs that is given something else
  HINT_LENGTH     // a function on 2^n elements that is given another length
} hint_kind;

// The hint for exactly this, or NULL.
const char *hint_for(hint_kind kind, const char *written);
// For characters, the first of which decides.
const char *hint_for_characters(const char *bytes, size_t count);
// For a syntax error at token number `at`, or NULL. *shown: the token that shows what is wrong,
// which is `loop` of a loop.
const char *hint_at(const token_list *tokens, size_t at, size_t *shown);
// For the definition that begins at token number `at`; NULL: it may be one.
const char *hint_for_item(const token_list *tokens, size_t at);

#endif
