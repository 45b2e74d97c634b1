// The literal evaluator. Arrays are copied wherever that is the simplest.
#include "tests/literal/tree.h"

typedef struct array {
  size_t length;
  int64_t *data;
} array;

typedef struct environment {
  const literal_program *program;
  int64_t *scalars;
  array *arrays;
  size_t *work;
} environment;

// For a call: no variable has a value.
static environment new_environment(const environment *e) {
  size_t count = (size_t)e->program->variables;
  return (environment){e->program, calloc(count, sizeof(int64_t)), calloc(count, sizeof(array)),
                       e->work};
}

static void drop(environment *e) {
  free(e->scalars);
  free(e->arrays);
}

static array new_data(size_t count) {
  return (array){count, calloc(count > 0 ? count : 1, sizeof(int64_t))};
}

static array copy_of(array a, size_t from, size_t count) {
  array b = new_data(count);
  memcpy(b.data, a.data + from, count * sizeof *b.data);
  return b;
}

static int64_t eval_scalar(const node *n, environment *e);

static int64_t call_scalar(const environment *e, int number, int64_t x, int64_t y) {
  const function *h = &e->program->scalars[number];
  environment own = new_environment(e);
  own.scalars[h->first] = x;
  own.scalars[h->second] = y;
  int64_t result = eval_scalar(h->body, &own);
  drop(&own);
  return result;
}

static int64_t eval_scalar(const node *n, environment *e) {
  ++*e->work;
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
    for (int64_t i = 0; i < literal_sum_length(n); i++) {
      e->scalars[n->first] = i;
      sum = literal_add(sum, literal_add(eval_scalar(n->child[1], e), x));
    }
    return sum;
  case TOTAL:
    x = eval_scalar(n->child[0], e);
    for (int64_t i = 1; i <= literal_sum_length(n); i++) {
      e->scalars[n->first] = i;
      sum = literal_add(sum, literal_subtract(eval_scalar(n->child[1], e), x));
    }
    return sum;
  default:
    break;
  }
  x = eval_scalar(n->child[0], e);
  y = eval_scalar(n->child[1], e);
  switch (n->kind) {
  case ADD:
    return literal_add(x, y);
  case SUBTRACT:
    return literal_subtract(x, y);
  case XOR:
    return x ^ y;
  case CALL_SCALAR:
    return call_scalar(e, n->first, x, y);
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

typedef array on_part(const node *n, environment *e, array part);

// The two halves that n->number chooses; n->second is the number of the half.
static array on_halves(const node *n, environment *e, array xs, on_part *f) {
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
  switch (number % REORDERS) {
  case 0:
    return last - x;
  case 1:
    for (int i = 0; i < bits; i++)
      y |= (x >> i & 1) << (bits - 1 - i);
    return y;
  case 2:
    return x ^ (x >> 1);
  case FLIP:
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
      out.data[i * row + k] = literal_subtract(xs.data[(rows - 1 - i) * row + k], result.data[k]);
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

static array eval_call(const environment *e, int number, int64_t s, array xs) {
  const function *g = &e->program->arrays[number];
  environment own = new_environment(e);
  own.scalars[g->first] = s;
  own.arrays[g->second] = xs;
  array out = eval_array(g->body, &own);
  drop(&own);
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
    return eval_call(e, n->first, eval_scalar(n->child[0], e), xs);
  case REPLICATE: {
    int64_t s = eval_scalar(n->child[0], e);
    out = new_data(xs.length);
    for (size_t i = 0; i < xs.length; i++)
      out.data[i] = literal_subtract(s, xs.data[i]);
    return out;
  }
  case SORT:
    out = copy_of(xs, 0, xs.length);
    qsort(out.data, out.length, sizeof *out.data, by_value);
    return out;
  case SCAN:
    out = copy_of(xs, 0, xs.length);
    for (size_t i = 1; i < out.length; i++)
      out.data[i] = literal_add(out.data[i], out.data[i - 1]);
    return out;
  default:
    return copy_of(xs, 0, xs.length);
  }
}

static array eval_array(const node *n, environment *e) {
  ++*e->work;
  array xs, ys, out;
  size_t count = e->arrays[n->base].length;
  switch (n->kind) {
  case ARRAY:
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

int64_t *literal_program_run(const literal_program *p, int64_t s, const int64_t *xs, size_t count,
                             size_t *work) {
  environment e = {.program = p, .work = work};
  return eval_call(&e, FUNCTIONS - 1, s, (array){count, (int64_t *)xs}).data;
}
