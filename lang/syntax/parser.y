// The grammar. In: the tokens of offside.c. Out: a module of bindings (syntax/tree.h). Actions only
// construct nodes (build.h). After a syntax error the parser goes on with the next item.
%require "3.8"
%define api.pure full
%define parse.error custom
%define parse.lac full
%define api.value.type union
%locations
%expect 0
%param { parser *p }

%code requires {
#include "lang/syntax/build.h"
#include "lang/syntax/hints.h"
#define YYLTYPE span
#define YYLLOC_DEFAULT(current, rhs, n)                                                            \
  do {                                                                                             \
    if (n) {                                                                                       \
      (current) = span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n));                                   \
    } else {                                                                                       \
      (current) = YYRHSLOC(rhs, 0);                                                                \
      (current).start = (current).end;                                                             \
    }                                                                                              \
  } while (0)
}

%code {
#define YYMAXDEPTH 20000
static int yylex(YYSTYPE *value, YYLTYPE *where, parser *p);
static void yyerror(YYLTYPE *where, parser *p, const char *message);
}

// Names in quotes are what a syntax error calls the token.
%token END 0 "the last definition"
%token ITEM "the definition"
%token OPEN "a binding"
%token SEMI "the binding"
%token CLOSE "the block"
%token <const token *> NAME "a name" INTEGER "a number" FLOATING "a number with a point" STRING "a string in quotes"
%token <const token *> COMPARE "a comparison" SHIFT "a shift" TIMES "'*', '/' or '%'" XOR "'xor'"
%token <const token *> FIELD "a field such as .0"
%token INDEX "'[' without a space before it"
%token BAR "'|'" ARROW "'->'" FROM "'<-'" DOTDOT "'..'" PIPE "'|>'" OROR "'||'" ANDAND "'&&'"
%token LET "'let'" IN "'in'" WHERE "'where'" IF "'if'" THEN "'then'" ELSE "'else'"
%token IMPORT "'import'" EXTERN "'extern'" TRUE "'true'" FALSE "'false'" WILD "'_'"

// Loosest first.
%precedence PREFIX  // the body of a lambda, let or if reaches as far as it can
%left PIPE
%right OROR
%right ANDAND
%nonassoc COMPARE
%left '|'
%left XOR
%left '&'
%left SHIFT
%left '+' '-'
%left TIMES '`'
%precedence NEGATE
%right '^'
%right '.'

%type <binding *> binding equation
%type <binding_list> bindings block where
%type <alternative_list> right guards
%type <pattern *> pattern
%type <pattern_list> patterns pattern_items
%type <expr *> expr application atom
%type <expr_list> exprs
%type <qualifier_list> qualifiers
%type <qualifier> qualifier
%type <type_expr *> type simple_type
%type <type_list> types

%%

// After an error everything up to the next item is skipped, and errors count again from there.
program:
  %empty
| program start item
| program error
;

start: ITEM { yyerrok; } ;

item:
  IMPORT STRING                     { add_import(p, @$, $STRING); }
| EXTERN STRING NAME ':' type       { add_extern(p, @NAME, $STRING, $NAME, $type); }
| NAME ':' type                     { vec_push(p->memory, &p->items, new_signature(p, @NAME, $NAME, $type)); }
| equation                          { vec_push(p->memory, &p->items, $equation); }
;

equation:
  NAME patterns right where         { $$ = new_equation(p, @$, @NAME, $NAME, $patterns, $right, $where); }
;

right:
  '=' expr                          { $$ = (alternative_list){0}; add_alternative(p, &$$, NULL, $expr); }
| guards
;

guards:
  BAR expr '=' expr                 { $$ = (alternative_list){0}; add_alternative(p, &$$, $2, $4); }
| guards BAR expr '=' expr          { $$ = $1; add_alternative(p, &$$, $3, $5); }
;

where:
  %empty                            { $$ = (binding_list){0}; }
| WHERE block                       { $$ = merge_bindings(p, $block); }
;

block:
  OPEN bindings CLOSE               { $$ = $bindings; }
;

bindings:
  binding                           { $$ = (binding_list){0}; if ($1) vec_push(p->memory, &$$, $1); }
| bindings SEMI binding             { $$ = $1; if ($3) vec_push(p->memory, &$$, $3); }
| bindings SEMI                     { $$ = $1; }
;

binding:
  equation
| NAME ':' type                     { $$ = new_signature(p, @NAME, $NAME, $type); }
| '(' pattern_items ')' '=' expr    { $$ = new_pattern_binding(p, @$, tuple_pattern(p, span_join(@1, @3), $2), $expr); }
| '[' pattern_items ']' '=' expr    { $$ = new_pattern_binding(p, @$, list_pattern(p, span_join(@1, @3), $2), $expr); }
;

patterns:
  %empty                            { $$ = (pattern_list){0}; }
| patterns pattern                  { $$ = $1; vec_push(p->memory, &$$, $2); }
;

pattern:
  NAME                              { $$ = name_pattern(p, @$, $1->text); }
| WILD                              { $$ = wild_pattern(p, @$); }
| INTEGER                           { $$ = integer_pattern(p, @$, $1, false); }
| '-' INTEGER                       { $$ = integer_pattern(p, @$, $2, true); }
| TRUE                              { $$ = bool_pattern(p, @$, true); }
| FALSE                             { $$ = bool_pattern(p, @$, false); }
| '(' pattern_items ')'             { $$ = tuple_pattern(p, @$, $2); }
| '[' pattern_items ']'             { $$ = list_pattern(p, @$, $2); }
;

pattern_items:
  pattern                           { $$ = (pattern_list){0}; vec_push(p->memory, &$$, $1); }
| pattern_items ',' pattern         { $$ = $1; vec_push(p->memory, &$$, $3); }
;

expr:
  application
| '\\' patterns ARROW expr %prec PREFIX            { $$ = new_lambda(p, @$, $patterns, $4); }
| LET block IN expr %prec PREFIX                   { $$ = new_let(p, @$, merge_bindings(p, $block), $4); }
| IF expr THEN expr ELSE expr %prec PREFIX         { $$ = new_if(p, @$, $2, $4, $6); }
| '-' expr %prec NEGATE                            { $$ = negate(p, @$, @1, $2); }
| '~' expr %prec NEGATE                            { $$ = new_apply(p, new_name(p, @1, "~"), $2); }
| expr PIPE expr                                   { $$ = new_apply(p, $3, $1); }
| expr OROR expr                                   { $$ = binary(p, @2, "||", $1, $3); }
| expr ANDAND expr                                 { $$ = binary(p, @2, "&&", $1, $3); }
| expr COMPARE expr                                { $$ = binary(p, @2, $2->text, $1, $3); }
| expr '|' expr                                    { $$ = binary(p, @2, "|", $1, $3); }
| expr XOR expr                                    { $$ = binary(p, @2, "xor", $1, $3); }
| expr '&' expr                                    { $$ = binary(p, @2, "&", $1, $3); }
| expr SHIFT expr                                  { $$ = binary(p, @2, $2->text, $1, $3); }
| expr '+' expr                                    { $$ = binary(p, @2, "+", $1, $3); }
| expr '-' expr                                    { $$ = binary(p, @2, "-", $1, $3); }
| expr TIMES expr                                  { $$ = binary(p, @2, $2->text, $1, $3); }
| expr '`' NAME '`' expr %prec TIMES               { $$ = binary(p, @NAME, $NAME->text, $1, $5); }
| expr '^' expr                                    { $$ = binary(p, @2, "^", $1, $3); }
| expr '.' expr                                    { $$ = binary(p, @2, ".", $1, $3); }
;

application:
  atom
| XOR atom                          { $$ = new_apply(p, new_name(p, @1, "xor"), $2); }
| application atom                  { $$ = new_apply(p, $1, $2); }
;

atom:
  NAME                              { $$ = new_name(p, @$, $1->text); }
| WILD                              { $$ = new_expr(p, (expr){.kind = EXPR_WILD, .where = @$}); }
| INTEGER                           { $$ = new_integer(p, @$, $1); }
| FLOATING                          { $$ = new_real(p, @$, $1); }
| TRUE                              { $$ = new_bool(p, @$, true); }
| FALSE                             { $$ = new_bool(p, @$, false); }
| atom FIELD                        { $$ = new_project(p, @$, $1, $2); }
| atom INDEX expr ']'               { $$ = new_index(p, @$, $1, $expr); }
| '(' exprs ')'                     { $$ = new_tuple(p, @$, $exprs); }
| '[' ']'                           { $$ = new_list(p, @$, (expr_list){0}); }
| '[' exprs ']'                     { $$ = new_list(p, @$, $exprs); }
| '[' exprs DOTDOT expr ']'         { $$ = new_range(p, @$, $exprs, $expr); }
| '[' expr BAR qualifiers ']'       { $$ = new_comprehension(p, @$, $expr, $qualifiers); }
| '(' operator ')'                  { $$ = operator_value(p, @$, $operator); }
| '(' '~' ')'                       { $$ = new_name(p, @2, "~"); }
| '(' '-' ')'                       { $$ = new_name(p, @2, "-"); }
| '(' XOR ')'                       { $$ = new_name(p, @2, "xor"); }
| '(' operator expr ')'             { $$ = right_section(p, @$, $operator, $expr); }
| '(' expr COMPARE ')'              { $$ = left_section(p, @3, $3->text, $expr); }
| '(' expr '|' ')'                  { $$ = left_section(p, @3, "|", $expr); }
| '(' expr XOR ')'                  { $$ = left_section(p, @3, "xor", $expr); }
| '(' expr '&' ')'                  { $$ = left_section(p, @3, "&", $expr); }
| '(' expr SHIFT ')'                { $$ = left_section(p, @3, $3->text, $expr); }
| '(' expr '+' ')'                  { $$ = left_section(p, @3, "+", $expr); }
| '(' expr '-' ')'                  { $$ = left_section(p, @3, "-", $expr); }
| '(' expr TIMES ')'                { $$ = left_section(p, @3, $3->text, $expr); }
| '(' expr '^' ')'                  { $$ = left_section(p, @3, "^", $expr); }
| '(' expr '.' ')'                  { $$ = left_section(p, @3, ".", $expr); }
| '(' expr OROR ')'                 { $$ = left_section(p, @3, "||", $expr); }
| '(' expr ANDAND ')'               { $$ = left_section(p, @3, "&&", $expr); }
| '(' expr '`' NAME '`' ')'         { $$ = left_section(p, @NAME, $NAME->text, $expr); }
;

%type <expr *> operator;
operator:
  COMPARE                           { $$ = new_name(p, @$, $1->text); }
| '|'                               { $$ = new_name(p, @$, "|"); }
| '&'                               { $$ = new_name(p, @$, "&"); }
| SHIFT                             { $$ = new_name(p, @$, $1->text); }
| '+'                               { $$ = new_name(p, @$, "+"); }
| TIMES                             { $$ = new_name(p, @$, $1->text); }
| '^'                               { $$ = new_name(p, @$, "^"); }
| '.'                               { $$ = new_name(p, @$, "."); }
| OROR                              { $$ = new_name(p, @$, "||"); }
| ANDAND                            { $$ = new_name(p, @$, "&&"); }
| '`' NAME '`'                      { $$ = new_name(p, @$, $NAME->text); }
;

exprs:
  expr                              { $$ = (expr_list){0}; vec_push(p->memory, &$$, $1); }
| exprs ',' expr                    { $$ = $1; vec_push(p->memory, &$$, $3); }
;

qualifiers:
  qualifier                         { $$ = (qualifier_list){0}; vec_push(p->memory, &$$, $1); }
| qualifiers ',' qualifier          { $$ = $1; vec_push(p->memory, &$$, $3); }
;

qualifier:
  expr                              { $$ = (qualifier){.source = $1}; }
| expr FROM expr                    { $$ = (qualifier){.target = to_pattern(p, $1), .source = $3}; }
| expr FROM expr DOTDOT expr        { $$ = (qualifier){.target = to_pattern(p, $1), .source = $3, .last = $5}; }
;

type:
  simple_type
| simple_type ARROW type            { $$ = function_type(p, @$, $1, $3); }
;

simple_type:
  NAME                              { $$ = named_type(p, @$, $1); }
| '(' types ')'                     { $$ = tuple_type(p, @$, $types); }
| bracket ']' simple_type           { $$ = array_type(p, @$, NULL, $3); }
| bracket expr ']' simple_type      { $$ = array_type(p, @$, $expr, $4); }
;

bracket: '[' | INDEX ;

types:
  type                              { $$ = (type_list){0}; vec_push(p->memory, &$$, $1); }
| types ',' type                    { $$ = $1; vec_push(p->memory, &$$, $3); }
;

%%

// The innermost bracket that is open in front of token number `at`; NULL: none is.
static const token *bracket_around(const parser *p, size_t at) {
  size_t closed = 0;
  const token *t;
  for (size_t i = at; i-- > 0 && (t = &p->tokens->all.items[i])->kind != ITEM;) {
    bool opens = t->kind == '(' || t->kind == '[' || t->kind == INDEX;
    if (opens && !closed) return t;
    closed = closed + (t->kind == ')' || t->kind == ']') - opens;
  }
  return NULL;
}

// The same of a token that begins a line, if the rest of the definition does not close it.
static const token *bracket_left_open(const parser *p, size_t at) {
  const token *items = p->tokens->all.items;
  size_t end = at;
  while (items[end].kind && items[end].kind != ITEM) end++;
  return items[at].first && bracket_around(p, end) ? bracket_around(p, at) : NULL;
}

static const char *missing_bracket(parser *p, const token *open) {
  return arena_printf(p->memory, "a %s is missing in front of this", open->kind == '(' ? ")" : "]");
}

// The hint, and where columns are if a tabulator stands in front of the token or in a line above.
static const char *hint_for_tabs(parser *p, const token *t, const char *hint) {
  const source *s = &p->d->sources.items[t->where.file];
  size_t from = t->where.start;
  while (from && (s->text[from - 1] != '\n' || s->text[from] == ' ' || s->text[from] == '\t')) from--;
  bool tabs = t->first && memchr(s->text + from, '\t', t->where.start - from);
  return tabs ? arena_printf(p->memory, "%s; a tab goes to the next of columns 9, 17, 25, ...", hint) : hint;
}

// What people who know another language write is shown where it begins. False: it is not known.
static bool report_foreign(parser *p) {
  size_t shown;
  const char *hint = hint_at(p->tokens, p->at, &shown);
  if (!hint) return false;
  const token *t = &p->tokens->all.items[shown], *open = bracket_left_open(p, shown);
  hint = open ? missing_bracket(p, open) : hint_for_tabs(p, t, hint);
  syntax_error(p, t->where, yysymbol_name(YYTRANSLATE(t->kind)), NULL, hint);
  if (open) diag_report(p->d, DIAG_NOTE, open->where, "this bracket is not closed");
  return p->foreign = true;
}

static void report_token(parser *p, const token *t) {
  if (t->kind == YYerror && report_foreign(p)) return;
  diag_report(p->d, DIAG_ERROR, t->where, "%s", t->wrong);
  if (t->hint) diag_report(p->d, DIAG_HINT, t->where, "%s", t->hint);
}

static int yylex(YYSTYPE *value, YYLTYPE *where, parser *p) {
  const token *t = &p->tokens->all.items[p->at = p->next];
  // Behind the errors that are shown nothing is read.
  if (diag_is_full(p->d)) t = &p->tokens->all.items[p->next = p->tokens->all.count - 1];
  if (t->kind) p->next++;
  if (t->kind == ITEM) p->foreign = false;
  if (t->wrong && !p->foreign) report_token(p, t);
  value->NAME = t;
  *where = t->where;
  return t->kind;
}

static void yyerror(YYLTYPE *where, parser *p, const char *message) {
  // Bison's own: memory exhausted, i.e. nesting beyond YYMAXDEPTH.
  (void)message;
  diag_report(p->d, DIAG_ERROR, *where, "this is nested too deeply");
}

// The innermost open bracket where the token shows that it should have been closed before; NULL: it does not.
static const token *open_bracket(const parser *p) {
  const token *t = &p->tokens->all.items[p->at], *open = bracket_around(p, p->at);
  bool closes = open && t->kind == (open->kind == '(' ? ')' : ']');
  bool ends = t->where.end == t->where.start || t->kind == '=' || t->kind == ARROW || t->kind == THEN || t->kind == ELSE || t->kind == IN ||
              t->kind == ')' || t->kind == ']';
  return ends && !closes ? open : NULL;
}

// What a syntax error says is missing: groups of tokens under one name, then single ones.
static int yyreport_syntax_error(const yypcontext_t *context, parser *p) {
  if (report_foreign(p)) return 0;
  yysymbol_kind_t expected[YYNTOKENS];
  int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
  bool set[YYNTOKENS] = {false};
  for (int i = 0; i < count; i++) set[expected[i]] = true;
  static const struct {
    const char *name;
    int mark, members[17];  // tokens; the group is named when `mark` is expected
  } groups[] = {
      {"an expression", LET,
       {LET, IF, '\\', '-', '~', NAME, WILD, INTEGER, FLOATING, TRUE, FALSE, '(', '[', XOR}},
      {"an operator", PIPE,
       {PIPE, OROR, ANDAND, COMPARE, XOR, '&', SHIFT, '+', '-', TIMES, '`', '^', '.', '|', FIELD, INDEX}},
      {"a type", INDEX, {NAME, INDEX, '(', '['}},
      {"an argument", FLOATING, {NAME, WILD, INTEGER, FLOATING, TRUE, FALSE, '(', '['}},
      {"a pattern", WILD, {NAME, WILD, INTEGER, '-', TRUE, FALSE, '(', '['}},
      {"an operator", COMPARE, {COMPARE, XOR, '&', SHIFT, '+', TIMES, '^', '.', '|', OROR, ANDAND, '`'}},
  };
  text names = {0};
  int named = 0;
  bool operators = set[YYSYMBOL_PIPE], expression = set[YYSYMBOL_LET];
  const token *open = open_bracket(p);
  const char *closing = !open ? NULL : open->kind == '(' ? ")" : "]";
  bool unclosed = open && !expression && set[*closing == ')' ? YYTRANSLATE(')') : YYTRANSLATE(']')];
  if (set[YYSYMBOL_IMPORT]) {
    text_string(&names, "a definition; the lines that continue one are indented");
    memset(set, false, sizeof set);
    named++;
  }
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    if (!set[YYTRANSLATE(groups[g].mark)]) continue;
    text_printf(&names, "%s%s", named++ ? ", " : "", groups[g].name);
    for (const int *member = groups[g].members; *member; member++) set[YYTRANSLATE(*member)] = false;
  }
  for (int s = 0; s < YYNTOKENS; s++)
    if (set[s] && s != YYSYMBOL_YYEOF && s != YYSYMBOL_ITEM && s != YYSYMBOL_CLOSE && s != YYSYMBOL_SEMI && s != YYSYMBOL_YYerror)
      text_printf(&names, "%s%s", named++ ? ", " : "", yysymbol_name((yysymbol_kind_t)s));
  if (!named++) text_string(&names, "the end of this definition");
  yysymbol_kind_t found = yypcontext_token(context);
  bool closes = found == YYTRANSLATE(')') || found == YYTRANSLATE(']');
  const struct {
    bool applies;
    const char *hint;
  } hints[] = {
      {found == YYSYMBOL_COMPARE && set[YYTRANSLATE('=')], "a definition has one =, as in main xs = map (+ 1) xs"},
      {found == YYSYMBOL_ARROW && set[YYTRANSLATE('=')], "a signature has a colon, as in main : [n]i32 -> [n]i32; a definition has ="},
      {set[YYTRANSLATE('=')] && !strcmp(p->tokens->all.items[p->next < p->tokens->all.count ? p->next : p->at].text, "|"),
       hint_for(HINT_ITEM, "|")},
      {found == YYSYMBOL_CLOSE && set[YYTRANSLATE('(')] && !set[YYSYMBOL_WILD], "a binding is expected here, such as y = 1, farther to the right than the definition that it belongs to"},
      {closes && !expression && !bracket_around(p, p->at), "no bracket is open here: delete this one, or open one in front of it"},
      {named == 2 && set[YYSYMBOL_IN], hint_for_tabs(p, &p->tokens->all.items[p->at], "expected 'in', as in let x = 1 in x + 1; several bindings of a let begin in one column")},
      {expression && yypcontext_token(context) == YYSYMBOL_ITEM, "expected an expression; lines that continue a definition are indented"},
      {unclosed, unclosed ? missing_bracket(p, open) : NULL},
      {set[YYSYMBOL_ELSE], "expected 'else': if c then x else y"},
      {yypcontext_token(context) == YYSYMBOL_BAR, "bitwise or is written inside parentheses: (a | b); x |> f is a pipe"},
      {yypcontext_token(context) == YYSYMBOL_COMPARE && operators, "comparisons do not chain: a < b && b < c"},
  };
  const char *hint = NULL;
  for (size_t i = 0; i < sizeof hints / sizeof *hints && !hint; i++)
    if (hints[i].applies) hint = hints[i].hint;
  syntax_error(p, *yypcontext_location(context), yypcontext_token(context) == YYSYMBOL_YYEMPTY ? "" : yysymbol_name(yypcontext_token(context)),
               hint ? NULL : arena_text(p->memory, &names), hint);
  if (open) diag_report(p->d, DIAG_NOTE, open->where, "this bracket is not closed");
  text_free(&names);
  return 0;
}
