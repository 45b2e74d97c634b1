// Random trees. Whatever is drawn is well typed; what is drawn when the budget is spent is a leaf.
#include "tests/literal/tree.h"

#include "core/random.h"

enum { VARIABLES = 64 };

typedef struct maker {
  uint64_t *random;
  int variables;  // names given so far
  int budget;     // nodes left to make
} maker;

typedef struct scope {
  struct maker *maker;
  int scalars[VARIABLES], scalar_count;
  int arrays[VARIABLES], array_count;   // of this scope's length
  int longer[VARIABLES], longer_count;  // of outer scopes
  int functions;                        // g0 ... that may be called
  int scalar_functions;                 // and h0 ...
} scope;

static uint64_t draw(const scope *s, uint64_t bound) { return draw_word(s->maker->random) % bound; }

static node *make(kind k, const scope *s) {
  node *n = calloc(1, sizeof *n);
  n->kind = k;
  n->number = (int64_t)draw(s, 100);
  n->base = s->array_count > 0 ? s->arrays[0] : -1;
  s->maker->budget--;
  return n;
}

static int new_scalar(scope *s) {
  int name = s->maker->variables++;
  if (s->scalar_count < VARIABLES)
    s->scalars[s->scalar_count++] = name;
  return name;
}

static int new_array(scope *s) {
  int name = s->maker->variables++;
  if (s->array_count < VARIABLES)
    s->arrays[s->array_count++] = name;
  return name;
}

// The scope inside of a function on shorter arrays; *name is its parameter.
static scope inner(const scope *s, int *name) {
  scope in = *s;
  in.array_count = 0;
  for (int i = 0; i < s->array_count && in.longer_count < VARIABLES; i++)
    in.longer[in.longer_count++] = s->arrays[i];
  *name = new_array(&in);
  return in;
}

static node *any_scalar(const scope *s);
static node *any_array(const scope *s);

static node *scalar_leaf(const scope *s) {
  node *n = make(s->scalar_count > 0 && draw(s, 3) ? SCALAR : NUMBER, s);
  if (n->kind == SCALAR)
    n->first = s->scalars[draw(s, (uint64_t)s->scalar_count)];
  return n;
}

static node *any_element(const scope *s) {
  node *n = make(ELEMENT, s);
  int count = s->array_count + s->longer_count, i = (int)draw(s, (uint64_t)count);
  n->first = i < s->array_count ? s->arrays[i] : s->longer[i - s->array_count];
  return n;
}

static node *any_scalar(const scope *s) {
  kind k = (kind)draw(s, SCALAR_KINDS);
  if (s->maker->budget <= 0 || k <= SCALAR || (k == CALL_SCALAR && s->scalar_functions == 0))
    return scalar_leaf(s);
  if (k == ELEMENT)
    return s->array_count + s->longer_count > 0 ? any_element(s) : scalar_leaf(s);
  node *n = make(k, s);
  scope in = *s;
  if (k == SUM || k == TOTAL || k == LET_SCALAR || k == APPLY_LAMBDA) {
    n->child[0] = any_scalar(s);
    n->first = new_scalar(&in);
    n->child[1] = any_scalar(&in);
    return n;
  }
  n->first = k == CALL_SCALAR ? (int)draw(s, (uint64_t)s->scalar_functions) : 0;
  for (int i = 0; i < (k == TIMES ? 1 : k == CHOOSE ? 3 : 2); i++)
    n->child[i] = any_scalar(s);
  return n;
}

static node *array_leaf(const scope *s) {
  node *n = make(ARRAY, s);
  n->first = s->arrays[draw(s, (uint64_t)s->array_count)];
  if (s->longer_count > 0 && draw(s, 4) == 0) {
    n->kind = TAKE;
    n->first = s->longer[draw(s, (uint64_t)s->longer_count)];
  }
  return n;
}

// Children of the functions that take scalars to scalars.
static void fill_scalar_function(node *n, const scope *s) {
  scope in = *s;
  n->first = new_scalar(&in);
  if (n->kind != MAP && n->kind != COMPREHENSION)
    n->second = new_scalar(&in);
  n->child[0] = any_scalar(&in);
  if (n->kind == COLUMN || n->kind == EXCHANGE)
    n->child[2] = any_scalar(&in);
  n->child[1] = any_array(s);
}

static void fill_array_function(node *n, const scope *s) {
  scope in = inner(s, &n->first);
  if (n->kind == PARMI)
    n->second = new_scalar(&in);
  if (n->kind == PADDED)
    n->child[2] = any_scalar(s);
  n->child[0] = any_array(&in);
  n->child[1] = any_array(s);
}

static void fill_let(node *n, const scope *s) {
  scope in = *s;
  if (n->kind == WHERE_SCALAR) {
    n->child[0] = any_scalar(s);
    n->first = new_scalar(&in);
  } else if (n->kind == LET_FUNCTION) {
    n->first = new_array(&in);
    n->child[0] = any_array(&in);
    in = *s;
  } else {
    n->child[0] = any_array(s);
    n->first = new_array(&in);
  }
  n->child[1] = any_array(&in);
}

// The children of an array's node, by its kind.
typedef void filler(node *n, const scope *s);

static void fill_zip(node *n, const scope *s) {
  scope in = *s;
  n->first = new_scalar(&in);
  n->second = new_scalar(&in);
  n->child[2] = any_scalar(&in);
  n->child[0] = any_array(s);
  n->child[1] = any_array(s);
}

static void fill_call(node *n, const scope *s) {
  n->first = s->functions > 0 ? (int)draw(s, (uint64_t)s->functions) : 0;
  n->child[0] = any_scalar(s);
  n->child[1] = any_array(s);
}

static void fill_two(node *n, const scope *s) {
  n->child[0] = any_array(s);
  n->child[1] = any_array(s);
}

static void fill_one(node *n, const scope *s) { n->child[1] = any_array(s); }

static filler *const fillers[KINDS] = {
    [MAP] = fill_scalar_function,
    [MAPI] = fill_scalar_function,
    [COLUMN] = fill_scalar_function,
    [EXCHANGE] = fill_scalar_function,
    [COMPREHENSION] = fill_scalar_function,
    [PARM] = fill_array_function,
    [PARMI] = fill_array_function,
    [ROWS] = fill_array_function,
    [COLUMNS] = fill_array_function,
    [PADDED] = fill_array_function,
    [TREE] = fill_array_function,
    [REPEAT] = fill_array_function,
    [ZIP_ROWS] = fill_array_function,
    [LET_ARRAY] = fill_let,
    [LET_FUNCTION] = fill_let,
    [WHERE_SCALAR] = fill_let,
    [ZIP_WITH] = fill_zip,
    [PAIRS] = fill_zip,
    [CALL] = fill_call,
    [REPLICATE] = fill_call,
    [BY_SIZE] = fill_two,
    [REORDER] = fill_one,
    [SORT] = fill_one,
    [SCAN] = fill_one,
    [STRICT] = fill_one,
    [ARGSORT] = fill_one,
};

static node *any_array(const scope *s) {
  kind k = (kind)(ARRAY + (int)draw(s, KINDS - ARRAY));
  if (s->maker->budget <= 0 || k == ARRAY || k == TAKE || (k == CALL && s->functions == 0))
    return array_leaf(s);
  node *n = make(k, s);
  if (fillers[k])
    fillers[k](n, s);
  return n;
}

// ---- programs --------------------------------------------------------------------------------

literal_program *literal_program_new(uint64_t *random, int size) {
  literal_program *p = calloc(1, sizeof *p);
  maker m = {.random = random};
  for (int i = 0; p && i < FUNCTIONS; i++) {
    scope s = {.maker = &m, .scalar_functions = i};
    function *h = &p->scalars[i];
    h->first = new_scalar(&s);
    h->second = new_scalar(&s);
    m.budget = size;
    h->body = any_scalar(&s);
  }
  for (int i = 0; p && i < FUNCTIONS; i++) {
    scope s = {.maker = &m, .functions = i, .scalar_functions = FUNCTIONS};
    function *g = &p->arrays[i];
    g->first = new_scalar(&s);
    g->second = new_array(&s);
    m.budget = size;
    g->body = any_array(&s);
  }
  if (p) {
    p->variables = m.variables;
    literal_write(p);
  }
  return p;
}

static void release(node *n) {
  if (n == NULL)
    return;
  for (int i = 0; i < 3; i++)
    release(n->child[i]);
  free(n);
}

void literal_program_free(literal_program *p) {
  for (int i = 0; p && i < FUNCTIONS; i++) {
    release(p->scalars[i].body);
    release(p->arrays[i].body);
  }
  if (p)
    text_free(&p->text);
  free(p);
}
