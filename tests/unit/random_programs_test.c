// Random programs against an evaluator that takes every combinator at its word: parm copies two
// halves out, works on one after the other and copies them back, map is a loop, let evaluates at
// once. permc works on all instances of a nest in one batch, forces bindings late and replays calls
// that it has seen before; all of that must make no difference.
//
// A program is a list of functions g0, g1, ... : int -> [2^n]int -> [2^n]int, each of which may
// call those before it, and entries that call the last one outside and inside of map. On a failure
// the program is printed.
#include "tests/unit/api.h"

#include <stdarg.h>

enum { FUNCTIONS = 4, VARIABLES = 64, TEXT_SIZE = 1 << 16 };

// ---- expressions -----------------------------------------------------------------------------

typedef enum kind {
  // int
  NUMBER,
  SCALAR,
  ADD,
  SUBTRACT,
  XOR,
  TIMES,
  CHOOSE,
  MINIMUM,
  SUM,
  TOTAL,
  ELEMENT,
  LET_SCALAR,
  APPLY_LAMBDA,
  CALL_SCALAR,
  SCALAR_KINDS,
  // [2^n]int, of the length of the scope
  ARRAY,
  TAKE,
  MAP,
  MAPI,
  ZIP_WITH,
  PARM,
  PARMI,
  COLUMN,
  EXCHANGE,
  REORDER,
  ROWS,
  COLUMNS,
  LET_ARRAY,
  LET_FUNCTION,
  CALL,
  IOTA,
  REPLICATE,
  SORT,
  SCAN,
  PADDED,
  STRICT,
  BY_SIZE,
  PAIRS,
  WHERE_SCALAR,
  COMPREHENSION,
  TREE,
  REPEAT,
  ZIP_ROWS,
  ARGSORT,
  KINDS
} kind;

// `number`, `first` and `second` are constants and names of variables: v3 an int, a3 an array.
typedef struct node node;
struct node {
  kind kind;
  int64_t number;
  int first, second;
  int base;  // an array variable of the scope's length
  node *child[3];
};

typedef struct scope {
  int scalars[VARIABLES], scalar_count;
  int arrays[VARIABLES], array_count;   // of this scope's length
  int longer[VARIABLES], longer_count;  // of outer scopes
  int functions;                        // g0 ... that may be called
  int scalar_functions;                 // and h0 ...
} scope;

static int variables;  // names given so far
static int budget;     // nodes left to make

static node *make(kind k, const scope *s) {
  node *n = calloc(1, sizeof *n);
  n->kind = k;
  n->number = (int64_t)random_below(100);
  n->base = s->array_count > 0 ? s->arrays[0] : -1;
  budget--;
  return n;
}

static int new_scalar(scope *s) {
  int name = variables++;
  if (s->scalar_count < VARIABLES)
    s->scalars[s->scalar_count++] = name;
  return name;
}

static int new_array(scope *s) {
  int name = variables++;
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
  node *n = make(s->scalar_count > 0 && random_below(3) ? SCALAR : NUMBER, s);
  if (n->kind == SCALAR)
    n->first = s->scalars[random_below((uint64_t)s->scalar_count)];
  return n;
}

static node *any_element(const scope *s) {
  node *n = make(ELEMENT, s);
  int count = s->array_count + s->longer_count, i = (int)random_below((uint64_t)count);
  n->first = i < s->array_count ? s->arrays[i] : s->longer[i - s->array_count];
  return n;
}

static node *any_scalar(const scope *s) {
  kind k = (kind)random_below(SCALAR_KINDS);
  if (budget <= 0 || k <= SCALAR || (k == CALL_SCALAR && s->scalar_functions == 0))
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
  n->first = k == CALL_SCALAR ? (int)random_below((uint64_t)s->scalar_functions) : 0;
  for (int i = 0; i < (k == TIMES ? 1 : k == CHOOSE ? 3 : 2); i++)
    n->child[i] = any_scalar(s);
  return n;
}

static node *array_leaf(const scope *s) {
  node *n = make(ARRAY, s);
  n->first = s->arrays[random_below((uint64_t)s->array_count)];
  if (s->longer_count > 0 && random_below(4) == 0) {
    n->kind = TAKE;
    n->first = s->longer[random_below((uint64_t)s->longer_count)];
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

static node *any_array(const scope *s) {
  kind k = (kind)(ARRAY + (int)random_below(KINDS - ARRAY));
  if (budget <= 0 || k == ARRAY || k == TAKE || (k == CALL && s->functions == 0))
    return array_leaf(s);
  node *n = make(k, s);
  switch (k) {
  case MAP:
  case MAPI:
  case COLUMN:
  case EXCHANGE:
  case COMPREHENSION:
    fill_scalar_function(n, s);
    break;
  case PARM:
  case PARMI:
  case ROWS:
  case COLUMNS:
  case PADDED:
  case TREE:
  case REPEAT:
  case ZIP_ROWS:
    fill_array_function(n, s);
    break;
  case LET_ARRAY:
  case LET_FUNCTION:
  case WHERE_SCALAR:
    fill_let(n, s);
    break;
  case ZIP_WITH:
  case PAIRS: {
    scope in = *s;
    n->first = new_scalar(&in);
    n->second = new_scalar(&in);
    n->child[2] = any_scalar(&in);
    n->child[0] = any_array(s);
    n->child[1] = any_array(s);
    break;
  }
  case CALL:
  case REPLICATE:
    n->first = s->functions > 0 ? (int)random_below((uint64_t)s->functions) : 0;
    n->child[0] = any_scalar(s);
    n->child[1] = any_array(s);
    break;
  case BY_SIZE:
    n->child[0] = any_array(s);
    n->child[1] = any_array(s);
    break;
  case IOTA:
    break;
  default:
    n->child[1] = any_array(s);
  }
  return n;
}

static void release(node *n) {
  if (n == NULL)
    return;
  for (int i = 0; i < 3; i++)
    release(n->child[i]);
  free(n);
}

// ---- the text of a program -------------------------------------------------------------------

static char program[TEXT_SIZE];
static size_t length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int more = vsnprintf(program + length, TEXT_SIZE - length, format, arguments);
  va_end(arguments);
  length += more > 0 && length + (size_t)more < TEXT_SIZE ? (size_t)more : 0;
}

static const char *const reorders[] = {"reverse",       "bitrev",  "gray",
                                       "rotate_bits 1", "shuffle", "flip_bits %d"};

// What the kinds with children look like: %1 %2 %3 the children, %v and %w the variables first and
// second as ints, %a first as an array, %b the base, %n the number.
static const char *const looks[KINDS] = {
    [NUMBER] = "%n",
    [SCALAR] = "%v",
    [ADD] = "(%1 + %2)",
    [SUBTRACT] = "(%1 - %2)",
    [XOR] = "(%1 xor %2)",
    [TIMES] = "(%1 * %n)",
    [CHOOSE] = "(let c = %1 in if c <= %2 then %3 else c)",
    [MINIMUM] = "(min %1 %2)",
    [SUM] = "(sum (map (\\%v -> %2 + %1) (iota %s)))",
    [TOTAL] = "(sum [%2 - %1 | %v <- 1..%s])",
    [CALL_SCALAR] = "(h%f %1 %2)",
    [ELEMENT] = "%a[%n % length %a]",
    [LET_SCALAR] = "(let %v = %1 in %2)",
    [APPLY_LAMBDA] = "((\\%v -> %2) %1)",
    [ARRAY] = "%a",
    [TAKE] = "take (length %b) %a",
    [MAP] = "map (\\%v -> %1) (%2)",
    [MAPI] = "mapi (\\%v %w -> %1) (%2)",
    [ZIP_WITH] = "zip_with (\\%v %w -> %3) (%1) (%2)",
    [PARM] = "halves %n (\\%a -> %1) (%2)",
    [PARMI] = "halves_i %n (\\%w %a -> %1) (%2)",
    [COLUMN] = "pairs %n (\\[%v, %w] -> [%1, %3]) (%2)",
    [EXCHANGE] = "pairs %n (\\[%v, %w] -> if %1 <= %3 then [%v, %w] else [%w, %v]) (%2)",
    [ROWS] = "join (map (\\%a -> %1) (split (cut %n %b) (%2)))",
    [COLUMNS] = "join (transpose (map (\\%a -> %1) (transpose (split (cut %n %b) (%2)))))",
    [LET_ARRAY] = "(let %a = %1 in %2)",
    [LET_FUNCTION] = "(let f%v %a = %1 in f%v (f%v (%2)))",
    [CALL] = "g%f %1 (%2)",
    [IOTA] = "iota (length %b)",
    [REPLICATE] = "zip_with (-) (replicate (length %b) %1) (%2)",
    [SORT] = "sort (%2)",
    [SCAN] = "scan (+) (%2)",
    [PADDED] = "(let k = %n % (length %b + 1); cs = %2 in concat (take k ((\\%a -> %1) (extended "
               "%3 (take k cs)))) (drop k cs))",
    [STRICT] = "join (split 0 (%2))",
    [BY_SIZE] = "(if length %b > 4 then %1 else %2)",
    [PAIRS] =
        "(let (p, q) = unzip (halves %n reverse (zip (%1) (%2))) in zip_with (\\%v %w -> %3) q p)",
    [WHERE_SCALAR] = "(let %v = %1 in %2)",
    [COMPREHENSION] = "[%1 | %v <- %2]",
    [TREE] = "tree %n (\\%a -> %1) (%2)",
    [REPEAT] = "iter (%n % 3) (\\%a -> %1) (%2)",
    [ZIP_ROWS] = "(let r = split (cut %n %b) (%2) in join (map (\\(%a, ys) -> zip_with (-) ys "
                 "(%1)) (zip r (reverse r))))",
    [ARGSORT] = "argsort (%2)",
};

static int64_t sum_length(const node *n) { return n->number % 8 == 0 ? 80 : n->number % 4; }

static void write_node(const node *n);

static void write_part(const node *n, char part) {
  switch (part) {
  case '1':
  case '2':
  case '3':
    write_node(n->child[part - '1']);
    break;
  case 'v':
    put("v%d", n->first);
    break;
  case 'w':
    put("v%d", n->second);
    break;
  case 'a':
    put("a%d", n->first);
    break;
  case 'b':
    put("a%d", n->base);
    break;
  case 'f':
    put("%d", n->first);
    break;
  case 'n':
    put("%d", (int)n->number);
    break;
  case 's':
    put("%d", (int)sum_length(n));
    break;
  default:
    put("%%%c", part);
  }
}

static void write_node(const node *n) {
  if (n->kind == REORDER) {
    int64_t which = n->number % 6;
    if (which == 5)
      put("flip_bits (%d %% length a%d) (", (int)n->number, n->base);
    else
      put("%s (", reorders[which]);
    write_node(n->child[1]);
    put(")");
    return;
  }
  for (const char *p = looks[n->kind]; *p != 0; p++)
    if (*p == '%')
      write_part(n, *++p);
    else
      put("%c", *p);
}

typedef struct global {
  int scalar, array;  // its parameters
  node *body;
} global;

static global globals[FUNCTIONS];

typedef struct scalar_global {
  int first, second;
  node *body;
} scalar_global;

static scalar_global scalar_globals[FUNCTIONS];

static const char prelude[] =
    "halves k f xs = if length xs == 1 then xs else parm (1 + k % (length xs - 1)) f xs\n"
    "halves_i k f xs = if length xs == 1 then f 0 xs else parmi (1 + k % (length xs - 1)) f xs\n"
    "pairs k f xs = if length xs == 1 then xs else column (1 + k % (length xs - 1)) f xs\n"
    "cut k xs = k % (log2 (length xs) + 1)\n"
    "tree k f xs = let ys = f xs in if length xs == 1 then ys else halves k (tree k f) ys\n";

static const char entries[] =
    "alone : int -> [2^n]int -> [2^n]int\n"
    "alone s xs = g3 s xs\n"
    "rows : int -> [m][2^n]int -> ([m][2^n]int, [m][2^n]int)\n"
    "rows s xss = (map (g3 s) xss, mapi (\\i xs -> g3 (s + i) (g3 s xs)) xss)\n"
    "both : int -> [2^n]int -> [m][2^n]int -> ([2^n]int, [m][2^n]int, [m][2^n]int)\n"
    "both s xs yss = (g3 s xs, map (g3 s) yss, map (\\ys -> g3 xs[0] (zip_with (+) xs (g3 ys[0] "
    "ys))) yss)\n";

static void make_program(int size) {
  variables = 0;
  length = 0;
  put("%s", prelude);
  for (int i = 0; i < FUNCTIONS; i++) {
    scope s = {.scalar_functions = i};
    scalar_global *h = &scalar_globals[i];
    h->first = new_scalar(&s);
    h->second = new_scalar(&s);
    budget = size;
    h->body = any_scalar(&s);
    put("h%d v%d v%d = ", i, h->first, h->second);
    write_node(h->body);
    put("\n");
  }
  for (int i = 0; i < FUNCTIONS; i++) {
    scope s = {.functions = i, .scalar_functions = FUNCTIONS};
    global *g = &globals[i];
    g->scalar = new_scalar(&s);
    g->array = new_array(&s);
    budget = size;
    g->body = any_array(&s);
    put("g%d v%d a%d = ", i, g->scalar, g->array);
    write_node(g->body);
    put("\n");
  }
  put("%s", entries);
}

// ---- evaluation ------------------------------------------------------------------------------

typedef struct array {
  size_t length;
  int64_t *data;
} array;

typedef struct environment {
  int64_t *scalars;
  array *arrays;
} environment;

static size_t evaluations;  // to give up on programs that take too long

static array new_data(size_t count) {
  return (array){count, calloc(count > 0 ? count : 1, sizeof(int64_t))};
}

static array copy_of(array a, size_t from, size_t count) {
  array b = new_data(count);
  memcpy(b.data, a.data + from, count * sizeof *b.data);
  return b;
}

static int64_t add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static int64_t subtract(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }

static int64_t eval_scalar(const node *n, environment *e);

static int64_t call_scalar(int number, int64_t x, int64_t y) {
  const scalar_global *h = &scalar_globals[number];
  environment own = {calloc((size_t)variables, sizeof(int64_t)), NULL};
  own.scalars[h->first] = x;
  own.scalars[h->second] = y;
  int64_t result = eval_scalar(h->body, &own);
  free(own.scalars);
  return result;
}

static int64_t eval_scalar(const node *n, environment *e) {
  evaluations++;
  int64_t x, y, sum = 0;
  switch (n->kind) {
  case NUMBER:
    return n->number;
  case SCALAR:
    return e->scalars[n->first];
  case ELEMENT:
    return e->arrays[n->first].data[(size_t)n->number % e->arrays[n->first].length];
  case TIMES:
    return (int64_t)((uint64_t)eval_scalar(n->child[0], e) * (uint64_t)n->number);
  case LET_SCALAR:
  case APPLY_LAMBDA:
    e->scalars[n->first] = eval_scalar(n->child[0], e);
    return eval_scalar(n->child[1], e);
  case SUM:
    x = eval_scalar(n->child[0], e);
    for (int64_t i = 0; i < sum_length(n); i++) {
      e->scalars[n->first] = i;
      sum = add(sum, add(eval_scalar(n->child[1], e), x));
    }
    return sum;
  case TOTAL:
    x = eval_scalar(n->child[0], e);
    for (int64_t i = 1; i <= sum_length(n); i++) {
      e->scalars[n->first] = i;
      sum = add(sum, subtract(eval_scalar(n->child[1], e), x));
    }
    return sum;
  default:
    break;
  }
  x = eval_scalar(n->child[0], e);
  y = eval_scalar(n->child[1], e);
  switch (n->kind) {
  case ADD:
    return add(x, y);
  case SUBTRACT:
    return subtract(x, y);
  case XOR:
    return x ^ y;
  case CALL_SCALAR:
    return call_scalar(n->first, x, y);
  case CHOOSE:
    return x <= y ? eval_scalar(n->child[2], e) : x;
  default:
    return x <= y ? x : y;
  }
}

static array eval_array(const node *n, environment *e);

static array eval_inner(const node *n, environment *e, array in) {
  e->arrays[n->first] = in;
  array out = eval_array(n->child[0], e);
  free(in.data);
  return out;
}

static int parity(size_t x) { return __builtin_parityll(x); }

typedef array work(const node *n, environment *e, array part);

// The two halves that n->number chooses; n->second is the number of the half.
static array on_halves(const node *n, environment *e, array xs, work *f) {
  size_t count = xs.length, mask = 1 + (size_t)n->number % (count - 1);
  array out = new_data(count);
  for (int half = 0; half < 2; half++) {
    array part = new_data(count / 2);
    for (size_t i = 0, k = 0; i < count; i++)
      if (parity(i & mask) == half)
        part.data[k++] = xs.data[i];
    if (n->kind == PARMI)
      e->scalars[n->second] = half;
    array result = f(n, e, part);
    for (size_t i = 0, k = 0; i < count; i++)
      if (parity(i & mask) == half)
        out.data[i] = result.data[k++];
    free(result.data);
  }
  return out;
}

static array eval_parm(const node *n, environment *e, array xs) {
  if (xs.length > 1)
    return on_halves(n, e, xs, eval_inner);
  if (n->kind == PARM)
    return copy_of(xs, 0, 1);
  e->scalars[n->second] = 0;
  return eval_inner(n, e, copy_of(xs, 0, 1));
}

// Frees xs, as eval_inner does.
static array eval_tree(const node *n, environment *e, array xs) {
  array ys = eval_inner(n, e, xs);
  if (ys.length == 1)
    return ys;
  array out = on_halves(n, e, ys, eval_tree);
  free(ys.data);
  return out;
}

static array eval_repeat(const node *n, environment *e, array xs) {
  array out = copy_of(xs, 0, xs.length);
  for (int64_t i = 0; i < n->number % 3; i++)
    out = eval_inner(n, e, out);
  return out;
}

static size_t highest_bit(size_t mask) { return (size_t)1 << (63 - __builtin_clzll(mask)); }

static array eval_column(const node *n, environment *e, array xs) {
  array out = copy_of(xs, 0, xs.length);
  if (xs.length == 1)
    return out;
  size_t mask = 1 + (size_t)n->number % (xs.length - 1), high = highest_bit(mask);
  for (size_t i = 0; i < xs.length; i++) {
    if (i & high)
      continue;
    int64_t x = xs.data[i], y = xs.data[i ^ mask];
    e->scalars[n->first] = x;
    e->scalars[n->second] = y;
    int64_t first = eval_scalar(n->child[0], e);
    e->scalars[n->first] = x;
    e->scalars[n->second] = y;
    int64_t second = eval_scalar(n->child[2], e);
    if (n->kind == EXCHANGE) {
      bool stay = first <= second;
      first = stay ? x : y;
      second = stay ? y : x;
    }
    out.data[i] = first;
    out.data[i ^ mask] = second;
  }
  return out;
}

static size_t reordered(size_t x, int bits, int64_t number) {
  size_t y = 0, last = ((size_t)1 << bits) - 1;
  switch (number % 6) {
  case 0:
    return last - x;
  case 1:
    for (int i = 0; i < bits; i++)
      y |= (x >> i & 1) << (bits - 1 - i);
    return y;
  case 2:
    return x ^ (x >> 1);
  case 5:
    return x ^ ((size_t)number & last);
  default:
    return bits == 0 ? 0 : ((x << 1) | (x >> (bits - 1))) & last;
  }
}

static int log_of(size_t count) { return 63 - __builtin_clzll(count); }

static array eval_reorder(const node *n, array xs) {
  array out = new_data(xs.length);
  for (size_t i = 0; i < xs.length; i++)
    out.data[reordered(i, log_of(xs.length), n->number)] = xs.data[i];
  return out;
}

// Rows of the matrix that xs is, or its columns.
static array eval_rows(const node *n, environment *e, array xs) {
  int cut = (int)(n->number % (log_of(xs.length) + 1));
  size_t row = (size_t)1 << cut, rows = xs.length >> cut;
  bool down = n->kind == COLUMNS;
  array out = new_data(xs.length);
  for (size_t i = 0; i < (down ? row : rows); i++) {
    array part = new_data(down ? rows : row);
    for (size_t k = 0; k < part.length; k++)
      part.data[k] = xs.data[down ? k * row + i : i * row + k];
    array result = eval_inner(n, e, part);
    for (size_t k = 0; k < result.length; k++)
      out.data[down ? k * row + i : i * row + k] = result.data[k];
    free(result.data);
  }
  return out;
}

static array eval_zip_rows(const node *n, environment *e, array xs) {
  int cut = (int)(n->number % (log_of(xs.length) + 1));
  size_t row = (size_t)1 << cut, rows = xs.length >> cut;
  array out = new_data(xs.length);
  for (size_t i = 0; i < rows; i++) {
    array result = eval_inner(n, e, copy_of(xs, i * row, row));
    for (size_t k = 0; k < row; k++)
      out.data[i * row + k] = subtract(xs.data[(rows - 1 - i) * row + k], result.data[k]);
    free(result.data);
  }
  return out;
}

static array eval_argsort(array xs) {
  array out = new_data(xs.length);
  for (size_t i = 0; i < xs.length; i++) {
    size_t place = 0;
    for (size_t k = 0; k < xs.length; k++)
      place += xs.data[k] < xs.data[i] || (xs.data[k] == xs.data[i] && k < i);
    out.data[place] = (int64_t)i;
  }
  return out;
}

static array eval_padded(const node *n, environment *e, array xs) {
  size_t k = (size_t)n->number % (xs.length + 1), full = 1;
  array out = copy_of(xs, 0, xs.length);
  if (k == 0)
    return out;
  while (full < k)
    full *= 2;
  int64_t fill = eval_scalar(n->child[2], e);
  array part = new_data(full);
  for (size_t i = 0; i < full; i++)
    part.data[i] = i < k ? xs.data[i] : fill;
  array result = eval_inner(n, e, part);
  memcpy(out.data, result.data, k * sizeof *out.data);
  free(result.data);
  return out;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static array eval_zip(const node *n, environment *e, array xs, array ys) {
  array out = new_data(xs.length);
  for (size_t i = 0; i < xs.length; i++) {
    e->scalars[n->first] = xs.data[i];
    e->scalars[n->second] = ys.data[i];
    out.data[i] = eval_scalar(n->child[2], e);
  }
  return out;
}

// Both arrays with each half reversed, exchanged.
static array eval_pairs(const node *n, environment *e, array xs, array ys) {
  size_t count = xs.length, mask = count > 1 ? 1 + (size_t)n->number % (count - 1) : 0;
  size_t *places[2] = {calloc(count, sizeof(size_t)), calloc(count, sizeof(size_t))}, used[2] = {0};
  for (size_t i = 0; i < count; i++)
    places[parity(i & mask)][used[parity(i & mask)]++] = i;
  array p = new_data(count), q = new_data(count);
  for (int half = 0; half < 2; half++)
    for (size_t k = 0; k < used[half]; k++) {
      p.data[places[half][k]] = xs.data[places[half][count > 1 ? used[half] - 1 - k : k]];
      q.data[places[half][k]] = ys.data[places[half][count > 1 ? used[half] - 1 - k : k]];
    }
  array out = eval_zip(n, e, q, p);
  free(p.data);
  free(q.data);
  free(places[0]);
  free(places[1]);
  return out;
}

static array eval_map(const node *n, environment *e, array xs) {
  array out = new_data(xs.length);
  for (size_t i = 0; i < xs.length; i++) {
    e->scalars[n->first] = n->kind == MAPI ? (int64_t)i : xs.data[i];
    if (n->kind == MAPI)
      e->scalars[n->second] = xs.data[i];
    out.data[i] = eval_scalar(n->child[0], e);
  }
  return out;
}

static array eval_call(int number, int64_t s, array xs) {
  const global *g = &globals[number];
  environment own = {calloc((size_t)variables, sizeof(int64_t)),
                     calloc((size_t)variables, sizeof(array))};
  own.scalars[g->scalar] = s;
  own.arrays[g->array] = xs;
  array out = eval_array(g->body, &own);
  free(own.scalars);
  free(own.arrays);
  return out;
}

static array eval_binding(const node *n, environment *e) {
  if (n->kind == WHERE_SCALAR) {
    e->scalars[n->first] = eval_scalar(n->child[0], e);
    return eval_array(n->child[1], e);
  }
  if (n->kind == LET_ARRAY) {
    array bound = e->arrays[n->first] = eval_array(n->child[0], e);
    array out = eval_array(n->child[1], e);
    free(bound.data);
    return out;
  }
  return eval_inner(n, e, eval_inner(n, e, eval_array(n->child[1], e)));  // LET_FUNCTION
}

// The kinds that work on the array of child 1.
static array eval_on(const node *n, environment *e, array xs) {
  array out;
  switch (n->kind) {
  case MAP:
  case MAPI:
  case COMPREHENSION:
    return eval_map(n, e, xs);
  case PARM:
  case PARMI:
    return eval_parm(n, e, xs);
  case COLUMN:
  case EXCHANGE:
    return eval_column(n, e, xs);
  case REORDER:
    return eval_reorder(n, xs);
  case ROWS:
  case COLUMNS:
    return eval_rows(n, e, xs);
  case PADDED:
    return eval_padded(n, e, xs);
  case TREE:
    return eval_tree(n, e, copy_of(xs, 0, xs.length));
  case REPEAT:
    return eval_repeat(n, e, xs);
  case ZIP_ROWS:
    return eval_zip_rows(n, e, xs);
  case ARGSORT:
    return eval_argsort(xs);
  case CALL:
    return eval_call(n->first, eval_scalar(n->child[0], e), xs);
  case REPLICATE: {
    int64_t s = eval_scalar(n->child[0], e);
    out = new_data(xs.length);
    for (size_t i = 0; i < xs.length; i++)
      out.data[i] = subtract(s, xs.data[i]);
    return out;
  }
  case SORT:
    out = copy_of(xs, 0, xs.length);
    qsort(out.data, out.length, sizeof *out.data, by_value);
    return out;
  case SCAN:
    out = copy_of(xs, 0, xs.length);
    for (size_t i = 1; i < out.length; i++)
      out.data[i] = add(out.data[i], out.data[i - 1]);
    return out;
  default:
    return copy_of(xs, 0, xs.length);
  }
}

static array eval_array(const node *n, environment *e) {
  evaluations++;
  array xs, ys, out;
  size_t count = e->arrays[n->base].length;
  switch (n->kind) {
  case ARRAY:
    return copy_of(e->arrays[n->first], 0, count);
  case TAKE:
    return copy_of(e->arrays[n->first], 0, count);
  case LET_ARRAY:
  case LET_FUNCTION:
  case WHERE_SCALAR:
    return eval_binding(n, e);
  case BY_SIZE:
    return eval_array(n->child[count > 4 ? 0 : 1], e);
  case IOTA:
    out = new_data(count);
    for (size_t i = 0; i < count; i++)
      out.data[i] = (int64_t)i;
    return out;
  case ZIP_WITH:
  case PAIRS:
    xs = eval_array(n->child[0], e);
    ys = eval_array(n->child[1], e);
    out = n->kind == PAIRS ? eval_pairs(n, e, xs, ys) : eval_zip(n, e, xs, ys);
    free(xs.data);
    free(ys.data);
    return out;
  default:
    break;
  }
  xs = eval_array(n->child[1], e);
  out = eval_on(n, e, xs);
  free(xs.data);
  return out;
}

// ---- comparing -------------------------------------------------------------------------------

static array last_function(int64_t s, const int64_t *row, size_t count) {
  array in = {count, (int64_t *)row};
  return eval_call(FUNCTIONS - 1, s, in);
}

// The expected results of `both`, rows of which are those of `alone` and `rows`.
typedef struct expected {
  int64_t *alone, *rows, *shifted, *mixed;
} expected;

static void store(int64_t *to, array a) {
  memcpy(to, a.data, a.length * sizeof *to);
  free(a.data);
}

static expected expect(int64_t s, size_t rows, size_t count, const int64_t *in,
                       const int64_t *rows_in) {
  size_t size = (rows * count + 1) * sizeof(int64_t);
  expected x = {malloc(count * sizeof(int64_t)), malloc(size), malloc(size), malloc(size)};
  store(x.alone, last_function(s, in, count));
  for (size_t i = 0; i < rows; i++) {
    const int64_t *row = rows_in + i * count;
    store(x.rows + i * count, last_function(s, row, count));
    store(x.shifted + i * count, last_function(add(s, (int64_t)i), x.rows + i * count, count));
    array sum = last_function(row[0], row, count);
    for (size_t k = 0; k < count; k++)
      sum.data[k] = add(in[k], sum.data[k]);
    store(x.mixed + i * count, last_function(in[0], sum.data, count));
    free(sum.data);
  }
  return x;
}

// Static arithmetic may leave the range of its type, and a program may be too large: its own fault.
static outcome run_or_limit(permc_context *c, const char *entry, permc_value **in, size_t count,
                            bool *good) {
  outcome out = {NULL, 0};
  *good = permc_run(c, entry, "interp", in, count, &out.values, &out.count);
  if (!*good && strstr(permc_message(c), "overflows") == NULL &&
      strstr(permc_message(c), "more than") == NULL)
    CHECK_STR(permc_message(c), "");
  return out;
}

static void check_entry(permc_context *c, const char *entry, permc_value **in, size_t arguments,
                        size_t results, int64_t *const *wanted, const uint32_t *ranks, size_t rows,
                        size_t columns) {
  bool good;
  outcome out = run_or_limit(c, entry, in, arguments, &good);
  if (good && CHECK_EQ_U64(out.count, results))
    for (size_t i = 0; i < results; i++) {
      uint64_t dims[2] = {rows, columns};
      check_value(out.values[i], 0, "i64", ranks[i], dims + (2 - ranks[i]), wanted[i]);
    }
  permc_values_free(out.values, out.count);
}

static void check_program(permc_context *c, int bits, size_t rows) {
  size_t count = (size_t)1 << bits;
  int64_t s = (int64_t)random_below(1000), *in = malloc(count * sizeof *in);
  int64_t *rows_in = malloc((rows * count + 1) * sizeof *rows_in);
  for (size_t i = 0; i < count; i++)
    in[i] = (int64_t)random_below(200) - 100;
  for (size_t i = 0; i < rows * count; i++)
    rows_in[i] = (int64_t)random_below(200) - 100;
  expected x = expect(s, rows, count, in, rows_in);
  permc_value *a = value_0("i64", &s), *b = value_1("i64", count, in);
  permc_value *d = value_2("i64", rows, count, rows_in);
  check_entry(c, "alone", (permc_value *[]){a, b}, 2, 1, (int64_t *[]){x.alone}, (uint32_t[]){1},
              rows, count);
  check_entry(c, "rows", (permc_value *[]){a, d}, 2, 2, (int64_t *[]){x.rows, x.shifted},
              (uint32_t[]){2, 2}, rows, count);
  check_entry(c, "both", (permc_value *[]){a, b, d}, 3, 3, (int64_t *[]){x.alone, x.rows, x.mixed},
              (uint32_t[]){1, 2, 2}, rows, count);
  permc_value_free(a);
  permc_value_free(b);
  permc_value_free(d);
  free(x.alone);
  free(x.rows);
  free(x.shifted);
  free(x.mixed);
  free(in);
  free(rows_in);
}

static void check_random_program(uint64_t seed, int size) {
  random_state = seed;
  make_program(size);
  size_t failures = test_state.failures;
  static const size_t row_counts[] = {0, 1, 3};
  permc_context *c = load_text(program);
  evaluations = 0;
  for (int bits = 0; c != NULL && bits <= 7 && evaluations < 30000; bits++)
    check_program(c, bits, row_counts[(size_t)bits % 3]);
  permc_context_free(c);
  for (int i = 0; i < FUNCTIONS; i++)
    release(globals[i].body);
  for (int i = 0; i < FUNCTIONS; i++)
    release(scalar_globals[i].body);
  if (test_state.failures > failures && test_state.failures <= TEST_FAILURES_SHOWN)
    printf("---- seed %" PRIu64 ", size %d\n%s----\n", seed, size, program);
}

// Other programs than usual: PERMC_SEED=2 random_programs_test
static void check_programs(uint64_t first, unsigned count, int size) {
  const char *other = getenv("PERMC_SEED");
  if (other != NULL)
    first += strtoull(other, NULL, 10) * 1000000;
  for (uint64_t seed = first;
       seed < first + test_amount(count, 50 * count) && test_state.failures == 0; seed++)
    check_random_program(seed, size);
}

TEST(tiny_programs) { check_programs(0, 300, 1); }

TEST(small_programs) { check_programs(100000, 400, 4); }

TEST(middling_programs) { check_programs(200000, 200, 10); }

TEST(large_programs) { check_programs(300000, 100, 20); }

TEST_MAIN()
