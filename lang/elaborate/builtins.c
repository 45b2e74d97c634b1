// What is built in: one row per name. Combinators that move data, a few functions on static
// numbers, and, from the tables of scalar.h, all scalar operations and conversions. Everything else
// is written in the language (stdlib/).
#include "core/f2.h"
#include "core/number.h"
#include "lang/elaborate/elaborator.h"
#include "lang/syntax/tree.h"
#include <inttypes.h>

// What a row of the table does with its arguments a. instance: what the variables of its signature
// are.
#define UNUSED __attribute__((unused))
#define BUILTIN(name)                                                                              \
  static value *run_##name(elaborator *e, UNUSED const builtin *row, UNUSED value **a,             \
                           UNUSED type **instance)

// ---- arguments -------------------------------------------------------------------------------

// What fails next is the fault of this argument.
static void blame_argument(elaborator *e, uint32_t argument) { e->where = e->places[argument]; }

static int64_t static_argument(elaborator *e, value **a, uint32_t i, const char *what) {
  a[i] = static_scalar(e, a[i]);
  if (a[i]->kind != VALUE_SCALAR)
    blame_argument(e, i);
  return static_integer(e, a[i], what);
}

// log2 of the length of argument i.
static uint64_t power_argument(elaborator *e, uint64_t length, uint32_t i, const char *who) {
  if (!length || (length & (length - 1)))
    blame_argument(e, i);
  return power_length(e, length, who);
}

// ---- parm, column, map -----------------------------------------------------------------------

static value *check_result_length(elaborator *e, value *v, uint64_t length, const char *who) {
  if (v->kind == VALUE_LIST || v->kind == VALUE_ARRAY)
    v = as_array(e, v);
  if (v->u.array.length == length)
    return lift(e, v);
  blame_argument(e, 1);
  fail_hint(e, "its results go back to the places that the elements came from",
            "the function given to %s must return %" PRIu64 " elements, but returns %" PRIu64, who,
            length, v->u.array.length);
}

static const char *hint_for_one_element(const elaborator *e) {
  return is_recursive(e)
             ? "a recursion on halves ends at one element: give it the size, f 0 xs = xs and f n "
               "xs "
               "= two (f (n-1)) xs, and call f n xs with the n of [2^n] in the signature"
             : "one element has no halves: this works on arrays of two elements or more";
}

static uint64_t static_mask(elaborator *e, value **a, const char *who) {
  int64_t m = static_argument(e, a, 0, arena_printf(e->memory, "the mask of %s", who));
  uint64_t length = length_of(a[2]);
  power_argument(e, length, 2, who);
  if (m > 0 && (uint64_t)m < length)
    return (uint64_t)m;
  blame_argument(e, length == 1 ? 2 : 0);
  if (length == 1)
    fail_hint(e, hint_for_one_element(e),
              "at least 2 elements are needed here, but this array has one element");
  fail_hint(e, "a mask selects index bits",
            "the mask of %s is %" PRId64 ", but it must be from 1 to %" PRIu64
            " for an array of %" PRIu64 " elements",
            who, m, length - 1, length);
}

static value *emit_instance_number(elaborator *e, uint64_t factor) {
  trace_step s = {.op = TRACE_INSTANCE, .batch = e->batch, .number = factor};
  return make_dynamic(e, emit(e, s, 0, NULL));
}

static value *apply_to_halves(elaborator *e, value **a, bool numbered, const char *who) {
  uint64_t length = length_of(a[2]), m = static_mask(e, a, who);
  trace_step in = {.op = TRACE_SPLIT, .number = m}, out = {.op = TRACE_STITCH, .number = m};
  open_level level;
  value *half = make_array(e, length / 2, enter_level(e, a[2], in, 2, &level));
  value *f = numbered ? apply(e, a[1], emit_instance_number(e, 2)) : a[1];
  value *result = check_result_length(e, apply(e, f, half), length / 2, who);
  leave_level(e);
  return make_array(e, length, move_element(e, result, out));
}

BUILTIN(parm) { return apply_to_halves(e, a, false, row->name); }

BUILTIN(parmi) { return apply_to_halves(e, a, true, row->name); }

BUILTIN(column) {
  uint64_t length = length_of(a[2]), m = static_mask(e, a, row->name);
  if (a[2]->kind == VALUE_LIST && length == 2) {  // one pair, as static as it is
    value *result = apply(e, a[1], a[2]);
    return result->kind == VALUE_LIST && length_of(result) == 2
               ? result
               : make_array(e, 2, check_result_length(e, result, 2, row->name)->u.array.element);
  }
  trace_step in = {.op = TRACE_PAIR, .number = m},
             out = {.op = TRACE_UNPAIR, .number = m, .dims = &length};
  open_level level;
  value *pair = make_array(e, 2, enter_level(e, a[2], in, length / 2, &level));
  value *result = check_result_length(e, apply(e, a[1], pair), 2, row->name);
  leave_level(e);
  return make_array(e, length, move_element(e, result, out));
}

typedef struct mapped {
  value *function;
  uint64_t length;
  bool numbered;
  value *absent;  // what an element would look like where there is none
} mapped;

static value *apply_to_absent(elaborator *e, void *with) {
  const mapped *m = with;
  value *f = m->numbered ? apply(e, m->function, make_integer(e, 0)) : m->function;
  return apply(e, f, m->absent);
}

static const void *code_of(const value *f) {
  return f->u.function.code ? (const void *)f->u.function.code : f->u.function.row;
}

// What f returns has the lengths that it would have for an element, where f says them.
static value *map_nothing(elaborator *e, mapped m, type *result) {
  return m.absent ? make_empty_like(e, result, code_of(m.function), apply_to_absent, &m)
                  : make_empty(e, result, NULL);
}

// A list's elements are separate values already.
static value *map_list(elaborator *e, value *f, value *list, bool numbered, type *result) {
  if (!list->u.parts.count)
    return map_nothing(e, (mapped){f, 0, numbered, absent_element(e, list)}, result);
  uint32_t count = list->u.parts.count;
  value *out = make_parts(e, VALUE_LIST, count);
  const closure **calls = NEW_ARRAY(e->memory, const closure *, count);
  for (uint32_t i = 0; i < count; i++) {
    value *g = numbered ? apply(e, f, make_integer(e, i)) : f;
    out->u.parts.items[i] = with_argument(e, g, list->u.parts.items[i], e->where);
    calls[i] = &out->u.parts.items[i]->u.function;
  }
  if (calls[0]->given == calls[0]->arity)
    call_each(e, count, calls, out->u.parts.items);
  return out;
}

static value *apply_mapped(elaborator *e, value *element, void *with) {
  const mapped *m = with;
  value *f = m->numbered ? apply(e, m->function, emit_instance_number(e, m->length)) : m->function;
  return apply(e, f, element);
}

BUILTIN(map) {
  bool numbered = !strcmp(row->name, "mapi");
  mapped m = {a[0], length_of(a[1]), numbered, NULL};
  if (a[1]->kind == VALUE_ARRAY && !a[1]->u.array.listed)
    return map_elements(e, a[1], apply_mapped, &m);
  generator g = generator_of(a[1]);
  value *v = map_counted(e, &g, apply_mapped, &m);
  return v ? v : map_list(e, a[0], as_list(e, a[1]), numbered, instance[1]);
}

// ---- bmmc ------------------------------------------------------------------------------------

static void fail_singular(elaborator *e, f2_matrix a) {
  uint64_t rows = f2_dependent_rows(a);
  text list = {0};
  for (int i = 0; i < a.rows; i++)
    if (rows >> i & 1)
      text_printf(&list, "%s%d", list.length ? ", " : "", i);
  const char *names = arena_text(e->memory, &list);
  bool one = !(rows & (rows - 1));
  fail_hint(
      e,
      "a row is the mask of the index bits whose sum is a bit of the new index, and no row is "
      "the sum (xor) of others: bmmc [2, 1] 0 exchanges two bits",
      one ? "this matrix is not invertible: row %s is 0"
          : "this matrix is not invertible: rows %s sum to 0",
      names);
}

BUILTIN(bmmc) {
  uint64_t length = length_of(a[2]), n = power_argument(e, length, 2, row->name);
  span where = e->where;
  blame_argument(e, 0);
  a[0] = as_list(e, a[0]);
  e->asks_for_matrix = a[0]->kind == VALUE_ARRAY && a[0]->u.array.length;
  if (e->asks_for_matrix)
    fail_dynamic(e, element_at(e, a[0], 0), "the matrix of bmmc");
  if (length_of(a[0]) != n)
    fail_hint(e, "a matrix has one mask for each index bit, as in [2^i | i <- 0..n-1]",
              "an array of 2^%" PRIu64 " elements needs a matrix of %" PRIu64
              " rows, but this one has %" PRIu64,
              n, n, length_of(a[0]));
  f2_matrix matrix = {.rows = (int)n, .columns = (int)n};
  for (unsigned i = 0; i < n; i++) {
    int64_t mask = static_integer(e, a[0]->u.parts.items[i], "a row of bmmc's matrix");
    if (mask < 0 || (uint64_t)mask >= length)
      fail(e,
           "row %u of the matrix is %" PRId64 ", but a mask of %" PRIu64
           " bits is from 0 to %" PRIu64,
           i, mask, n, length - 1);
    matrix.row[i] = (uint64_t)mask;
  }
  f2_matrix inverse;
  if (!f2_inverse(matrix, &inverse))
    fail_singular(e, matrix);
  blame_argument(e, 1);
  int64_t c = static_integer(e, a[1], "the complement of bmmc");
  if (c < 0 || (uint64_t)c >= length)
    fail(e, "the complement is %" PRId64 ", but it must be from 0 to %" PRIu64, c, length - 1);
  e->where = where;
  trace_step s = {.op = TRACE_BMMC, .number = (uint64_t)c, .rows = matrix.row};
  return make_array(e, length, move_element(e, a[2], s));
}

// ---- shapes ----------------------------------------------------------------------------------

static value *zip_nothing(elaborator *e, value **a, type **instance) {
  value *pair = make_parts(e, VALUE_TUPLE, 2);
  for (int k = 0; k < 2; k++)
    pair->u.parts.items[k] = absent_element(e, a[k]);
  bool known = pair->u.parts.items[0] && pair->u.parts.items[1];
  return make_empty(e, type_tuple(e->memory, instance, 2), known ? pair : NULL);
}

BUILTIN(zip) {
  uint64_t length = length_of(a[0]);
  if (length_of(a[1]) != length)
    fail_hint(e,
              length_of(a[1]) == length + 1
                  ? "a range counts both ends: [0..m] has m + 1 numbers, [0..m-1] has m; take "
                    "(length xs - 1) xs is xs without its last element"
                  : NULL,
              "zip needs two arrays of equal length, but these have %" PRIu64 " and %" PRIu64
              " elements",
              length, length_of(a[1]));
  bool lists = is_list(a[0]) && is_list(a[1]), listed = lists && length;
  for (int k = 0; k < 2; k++)
    listed = listed &&
             (a[k]->kind == VALUE_ARRAY || are_static(a[k]->u.parts.items, a[k]->u.parts.count));
  listed = listed && (a[0]->kind == VALUE_ARRAY || a[1]->kind == VALUE_ARRAY);
  for (int k = 0; k < 2 && lists && !listed; k++)
    a[k] = as_list(e, a[k]);
  if (lists && !listed) {
    if (!length)
      return zip_nothing(e, a, instance);
    value *list = make_parts(e, VALUE_LIST, a[0]->u.parts.count);
    for (uint32_t i = 0; i < list->u.parts.count; i++) {
      value *pair = list->u.parts.items[i] = make_parts(e, VALUE_TUPLE, 2);
      for (int k = 0; k < 2; k++)
        pair->u.parts.items[k] = a[k]->u.parts.items[i];
    }
    return list;
  }
  value *pair = make_parts(e, VALUE_TUPLE, 2);
  for (int k = 0; k < 2; k++)
    pair->u.parts.items[k] = as_array(e, a[k])->u.array.element;
  value *zipped = make_array(e, length, pair);
  return listed ? as_listed(e, zipped) : zipped;
}

BUILTIN(unzip) {
  value *both = make_parts(e, VALUE_TUPLE, 2);
  a[0] = as_list(e, a[0]);
  for (uint32_t k = 0; k < 2; k++) {
    if (a[0]->kind == VALUE_LIST && !a[0]->u.parts.count) {
      const value *like = a[0]->u.parts.like;
      both->u.parts.items[k] = make_empty(e, instance[k], like ? like->u.parts.items[k] : NULL);
    } else if (a[0]->kind == VALUE_LIST) {
      value *list = both->u.parts.items[k] = make_parts(e, VALUE_LIST, a[0]->u.parts.count);
      for (uint32_t i = 0; i < list->u.parts.count; i++)
        list->u.parts.items[i] = a[0]->u.parts.items[i]->u.parts.items[k];
    } else {
      both->u.parts.items[k] =
          make_array(e, a[0]->u.array.length, a[0]->u.array.element->u.parts.items[k]);
    }
  }
  return both;
}

// The array in rows of `inner` elements.
static value *rows_of_array(elaborator *e, value *xs, uint64_t inner) {
  uint64_t dims[] = {length_of(xs) / inner, inner};
  trace_step s = {.op = TRACE_RESHAPE, .batch = OWN_BATCH, .number = 1, .rank = 2, .dims = dims};
  return make_array(e, dims[0], make_array(e, inner, move_element(e, xs, s)));
}

BUILTIN(split) {
  int64_t k = static_argument(e, a, 0, "the row length of split");
  uint64_t length = length_of(a[1]);
  bool good = k >= 0 && k <= 62 && length % (UINT64_C(1) << k) == 0;
  if (!good)
    blame_argument(e, 0);
  if (k < 0)
    fail(e, "split k makes rows of 2^k elements, but this k is %" PRId64, k);
  if (!good)
    fail_hint(e,
              length == 1 ? hint_for_one_element(e)
                          : "rows of 8 elements are split 3 xs, rows of any w elements rows_of w "
                            "xs",
              "split %" PRId64 " makes rows of 2^%" PRId64
              " elements, which do not divide an array of %" PRIu64,
              k, k, length);
  return rows_of_array(e, a[1], UINT64_C(1) << k);
}

BUILTIN(rows_of) {
  int64_t width = static_argument(e, a, 0, "the row length of rows_of");
  uint64_t length = length_of(a[1]), inner = (uint64_t)width;
  bool good = width > 0 && length % inner == 0;
  if (!good)
    blame_argument(e, 0);
  if (width < 1)
    fail(e, "rows_of makes rows of at least 1 element, but this is %" PRId64, width);
  if (!good)
    fail_hint(e,
              "take (w * (length xs / w)) xs drops the last elements, concat xs (replicate k "
              "0) adds k zeros",
              "rows_of %" PRId64 " makes rows of %" PRId64
              " elements, which do not divide an array of %" PRIu64,
              width, width, length);
  return rows_of_array(e, a[1], inner);
}

BUILTIN(join) {
  if (a[0]->kind == VALUE_LIST && !a[0]->u.parts.count && !a[0]->u.parts.like)
    return make_empty(e, instance[0], NULL);
  return join_rows(e, a[0]);
}

BUILTIN(transpose) {
  value *rows = as_rows(e, a[0]), *inner = rows->u.array.element;
  uint64_t m = rows->u.array.length, k = inner->u.array.length;
  trace_step swap = {.op = TRACE_TRANSPOSE};
  return make_array(e, k, make_array(e, m, move_value(e, inner->u.array.element, swap)));
}

// element: the type of the array's.
static value *slice_array(elaborator *e, value *xs, type *element, uint64_t from, uint64_t count) {
  if (xs->kind == VALUE_LIST && !count)
    return make_empty(e, element, length_of(xs) ? xs->u.parts.items[0] : xs->u.parts.like);
  if (xs->kind == VALUE_LIST) {
    value *list = make_parts(e, VALUE_LIST, (uint32_t)count);
    memcpy(list->u.parts.items, xs->u.parts.items + from, count * sizeof *list->u.parts.items);
    return list;
  }
  trace_step s = {.op = TRACE_SLICE, .number = from, .dims = &count};
  value *part = make_array(e, count, move_element(e, xs, s));
  return xs->kind == VALUE_ARRAY && xs->u.array.listed ? as_listed(e, part) : part;
}

BUILTIN(take) {
  bool drop = !strcmp(row->name, "drop");
  int64_t k = static_argument(e, a, 0, arena_printf(e->memory, "the count of %s", row->name));
  uint64_t length = length_of(a[1]);
  if (k < 0 || (uint64_t)k > length)
    blame_argument(e, 0);
  if (k < 0)
    fail(e, "the count of %s must not be negative, but this is %" PRId64, row->name, k);
  if ((uint64_t)k > length)
    fail_hint(
        e, arena_printf(e->memory, "a count of min %" PRId64 " (length xs) is never too large", k),
        "%s %" PRId64 " needs %" PRId64 " element%s, but this array has %" PRIu64, row->name, k, k,
        k == 1 ? "" : "s", length);
  return drop ? slice_array(e, a[1], instance[0], (uint64_t)k, length - (uint64_t)k)
              : slice_array(e, a[1], instance[0], 0, (uint64_t)k);
}

// Concatenates the dynamic values inside, one by one; both have the same structure.
static value *concat_elements(elaborator *e, value *x, value *y) {
  size_t count;
  value **joined, *const *first = value_parts(x, &count), *const *second = value_parts(y, &count);
  if (x->kind == VALUE_DYNAMIC)
    return make_dynamic(e, emit_concat(e, x->u.step, y->u.step));
  value *n = copy_with_parts(e, x, &joined);
  for (size_t i = 0; i < count; i++)
    joined[i] = concat_elements(e, first[i], second[i]);
  return n;
}

static value *concat_arrays(elaborator *e, value *x, value *y) {
  if (x->kind == VALUE_LIST && y->kind == VALUE_LIST) {
    uint32_t count = x->u.parts.count;
    value *list = make_parts(e, VALUE_LIST, count + y->u.parts.count);
    list->u.parts.element = x->u.parts.element;
    list->u.parts.like = x->u.parts.like ? x->u.parts.like : y->u.parts.like;
    memcpy(list->u.parts.items, x->u.parts.items, count * sizeof *list->u.parts.items);
    memcpy(list->u.parts.items + count, y->u.parts.items,
           y->u.parts.count * sizeof *list->u.parts.items);
    return list;
  }
  // [] does not know how long its rows would be.
  if (x->kind == VALUE_LIST && !x->u.parts.count && !absent_element(e, x))
    return y;
  if (y->kind == VALUE_LIST && !y->u.parts.count && !absent_element(e, y))
    return x;
  bool lists = is_list(x) && is_list(y);
  x = as_array(e, x);
  y = as_array(e, y);
  if (!same_structure(x->u.array.element, y->u.array.element))
    fail(e, "concat needs two arrays whose elements have the same shape");
  if (!x->u.array.length)
    return y;
  if (!y->u.array.length)
    return x;
  uint64_t length;
  if (__builtin_add_overflow(x->u.array.length, y->u.array.length, &length))
    fail(e, "the joined array has more than 2^64 elements");
  value *joined = make_array(e, length, concat_elements(e, x->u.array.element, y->u.array.element));
  return lists ? as_listed(e, joined) : joined;
}

BUILTIN(concat) { return concat_arrays(e, a[0], a[1]); }

static uint64_t static_count(elaborator *e, value **a, const char *who) {
  int64_t n = static_argument(e, a, 0, arena_printf(e->memory, "the length of %s", who));
  if (n >= 0 && n < INT64_C(1) << 62)
    return (uint64_t)n;
  blame_argument(e, 0);
  fail(e, "%s cannot make an array of %" PRId64 " elements", who, n);
}

BUILTIN(iota) {
  uint64_t n = static_count(e, a, row->name);
  trace_step s = {.op = TRACE_IOTA, .dims = &n};
  return make_array(e, n, make_dynamic(e, emit(e, s, 0, NULL)));
}

BUILTIN(replicate) {
  uint64_t n = static_count(e, a, row->name);
  if (n > MOST_STATIC || a[1]->kind != VALUE_SCALAR)
    return replicate_value(e, n, a[1]);
  value *list = n ? make_parts(e, VALUE_LIST, (uint32_t)n) : make_empty(e, instance[0], NULL);
  for (uint32_t i = 0; i < n; i++)
    list->u.parts.items[i] = a[1];
  list->u.parts.repeats = n > 0;
  return list;
}

static size_t bytes_of_type(type *t) {
  size_t sum = 0;
  t = type_prune(t);
  if (t->kind == TYPE_SCALAR)
    return scalar_types[t->scalar].size;
  for (uint32_t i = 0; i < t->count; i++)
    sum += bytes_of_type(t->parts[i]);
  return sum;
}

// How many elements such as these a network sorts faster than their places do (core/networks.h). In
// padded that is any number: the comparators leave the fill behind all others.
BUILTIN(networks) {
  const network_limits *of = e->out->networks;
  bool rows = e->batch > 1 && row->operation != NETWORK_TOP;
  size_t bytes = bytes_of_type(instance[0]), width = 0;
  if (!of || e->padding)
    return make_integer(e, INT64_MAX);
  e->out->asks_networks = true;
  while (width + 1 < NETWORK_WIDTHS && bytes >> width > 1)
    width++;
  uint64_t most = of->most[rows ? NETWORK_ROWS : row->operation][width];
  return make_integer(e, most > INT64_MAX ? INT64_MAX : (int64_t)most);
}

// fail_dynamic tells whoever runs the program to make the argument static, and elaborate it again.
BUILTIN(known) { return make_integer(e, static_argument(e, a, 0, "the argument of known")); }

BUILTIN(length) { return make_integer(e, (int64_t)length_of(a[0])); }

typedef struct padding_call {
  value *function, *padding;
} padding_call;

static value *apply_to_padding(elaborator *e, void *with) {
  const padding_call *p = with;
  value *result = apply(e, p->function, p->padding);
  if (!length_of(result))
    fail(e, "the function given to padded must return at least one element");
  return element_at(e, result, 0);
}

// padded x f [] computes nothing. Its result has rows as f returns them for [x].
static value *padded_nothing(elaborator *e, value **a, type *result) {
  padding_call p = {a[1], concat_arrays(e, a[2], replicate_value(e, 1, a[0]))};
  return make_empty_like(e, result, code_of(a[1]), apply_to_padding, &p);
}

// padded x f xs = take m (f (xs ++ x ++ x ...)), m = length xs.
BUILTIN(padded) {
  uint64_t m = length_of(a[2]), full = 1;
  if (!m)
    return padded_nothing(e, a, instance[1]);
  while (full < m)
    full *= 2;
  const elaborator before = *e;
  value_id first = (value_id)e->out->steps.count;
  value *xs =
      full == m ? a[2] : concat_arrays(e, as_array(e, a[2]), replicate_value(e, full - m, a[0]));
  e->memo_from = full > m ? first : e->memo_from;
  e->padding |= full > m;
  value *result = apply(e, a[1], xs);
  *e = before;
  if (length_of(result) < m) {
    blame_argument(e, 1);
    fail_hint(e, "a function that shortens the array takes it filled up: f (extended x xs)",
              "the function given to padded must return at least %" PRIu64
              " elements, but returns %" PRIu64,
              m, length_of(result));
  }
  if (full > m && type_is_first_order(instance[1]))
    check_padding(e, first, xs, result, m);
  return length_of(result) == m ? result : slice_array(e, result, instance[1], 0, m);
}

// ---- static helpers --------------------------------------------------------------------------

// Fails where `rounds` more, of `cost` each, take what is counted beyond its limit.
static void check_rounds(elaborator *e, const char *limit, int64_t rounds, uint64_t used,
                         uint64_t cost) {
  uint64_t more, needed, most = *limit_named(&e->limits, limit);
  if (__builtin_mul_overflow((uint64_t)rounds, cost, &more) ||
      __builtin_add_overflow(more, used, &needed))
    more = needed = UINT64_MAX;
  if (needed <= most)
    return;
  blame_argument(e, 0);
  fail_limit(e, limit, needed,
             "%" PRId64 " more rounds of iter take %" PRIu64 " %s, and the limit is %" PRIu64
             " for the whole program",
             rounds, more, limit, most);
}

// The rounds are written down one by one. Where all that are left cost the same and a limit ends
// them, it does so at once.
BUILTIN(iter) {
  int64_t k = static_argument(e, a, 0, arena_printf(e->memory, "the count of %s", row->name));
  if (k < 0) {
    blame_argument(e, 0);
    fail(e, "iter cannot repeat a function %" PRId64 " times", k);
  }
  value *x = a[2];
  check_rounds(e, "steps", k, e->ledger->steps, 1);
  for (int64_t i = 1; i <= k; i++) {
    const value *before = x;
    uint64_t steps = e->ledger->steps, operations = e->out->steps.count;
    x = apply(e, a[1], x);
    bool power = i >= 4 && !(i & (i - 1));  // the first rounds may cost more
    if (!power || !same_structure(before, x) || !is_data(before, false) || !is_data(x, false))
      continue;
    check_rounds(e, "operations", k - i, e->out->steps.count, e->out->steps.count - operations);
    check_rounds(e, "steps", k - i, e->ledger->steps, e->ledger->steps - steps);
  }
  return x;
}

BUILTIN(associative) {
  promise_associative(e, a[0], a[1]);
  return a[0];
}

BUILTIN(compose) { return apply(e, a[0], apply(e, a[1], a[2])); }

BUILTIN(log2) {
  int64_t n = static_argument(e, a, 0, "log2");
  if (n < 1 || !is_power_of_two((uint64_t)n)) {
    blame_argument(e, 0);
    fail(e, "log2 needs a power of two, but this is %" PRId64, n);
  }
  return make_integer(e, __builtin_ctzll((uint64_t)n));
}

BUILTIN(not ) { return scalar_operation(e, OP_COMPLEMENT, a[0], NULL); }

BUILTIN(otherwise) { return make_bool(e, true); }

BUILTIN(pi) {
  double pi = 3.14159265358979323846;
  scalar_bits out = {.bytes = {0}};
  scalar_convert(SCALAR_F64, closed_scalar(instance[0]), 1, &pi, out.bytes);
  return make_scalar(e, closed_scalar(instance[0]), out);
}

BUILTIN(minval) { return make_scalars(e, instance[0], scalar_minval); }

BUILTIN(maxval) { return make_scalars(e, instance[0], scalar_maxval); }

BUILTIN(root) {
  scalar_type t = closed_scalar(instance[0]);
  int64_t m = static_argument(e, a, 1, "the order m of root k m");
  if (m <= 0) {
    blame_argument(e, 1);
    fail(e, "root k m needs a positive m, but this is %" PRId64, m);
  }
  if (a[0]->kind == VALUE_SCALAR)
    return make_scalar(e, t, scalar_root(t, a[0]->u.scalar.bits.i64, m));
  trace_step s = {.op = TRACE_ROOT, .type = t, .number = (uint64_t)m};
  return make_dynamic(e, emit(e, s, 1, &a[0]->u.step));
}

BUILTIN(scalar) {
  scalar_op op = (scalar_op)row->operation;
  bool comparison = op >= OP_EQ && op <= OP_TOTAL_LE;
  return comparison ? compare(e, op, a[0], a[1])
                    : scalar_operation(e, op, a[0], row->arity == 2 ? a[1] : NULL);
}

BUILTIN(convert) { return convert(e, (scalar_type)row->operation, a[0]); }

// ---- the table -------------------------------------------------------------------------------

// clang-format off
#define ANY {CONSTRAINT_NONE, 0}
#define ORDERED {CONSTRAINT_EACH, CLASS_ANY}
static const builtin rows[] = {
    {"parm", "int -> ([]a -> []b) -> []a -> []b", ANY, 3, run_parm, 0, NULL},
    {"parmi", "int -> (int -> []a -> []b) -> []a -> []b", ANY, 3, run_parmi, 0, NULL},
    {"column", "int -> ([]a -> []b) -> []a -> []b", ANY, 3, run_column, 0, NULL},
    {"bmmc", "[]int -> int -> []a -> []a", ANY, 3, run_bmmc, 0, NULL},
    {"map", "(a -> b) -> []a -> []b", ANY, 2, run_map, 0, NULL},
    {"mapi", "(int -> a -> b) -> []a -> []b", ANY, 2, run_map, 0, NULL},
    {"zip", "[]a -> []b -> [](a, b)", ANY, 2, run_zip, 0, NULL},
    {"unzip", "[](a, b) -> ([]a, []b)", ANY, 1, run_unzip, 0, NULL},
    {"split", "int -> []a -> [][]a", ANY, 2, run_split, 0, NULL},
    {"rows_of", "int -> []a -> [][]a", ANY, 2, run_rows_of, 0, NULL},
    {"join", "[][]a -> []a", ANY, 1, run_join, 0, NULL},
    {"transpose", "[][]a -> [][]a", ANY, 1, run_transpose, 0, NULL},
    {"take", "int -> []a -> []a", ANY, 2, run_take, 0, NULL},
    {"drop", "int -> []a -> []a", ANY, 2, run_take, 0, NULL},
    {"concat", "[]a -> []a -> []a", ANY, 2, run_concat, 0, NULL},
    {"iota", "int -> []int", ANY, 1, run_iota, 0, NULL},
    {"replicate", "int -> a -> []a", ANY, 2, run_replicate, 0, NULL},
    {"known", "int -> int", ANY, 1, run_known, 0, NULL},
    {"length", "[]a -> int", ANY, 1, run_length, 0, NULL},
    {"padded", "a -> ([]a -> []b) -> []a -> []b", ANY, 3, run_padded, 0, NULL},
    {"gather", "[]a -> []b -> []b", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 2, run_gather, 0, NULL},
    {"trusted", "[]a -> []a", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 1, run_trusted, 0, NULL},
    {"scatter", "[]a -> []b -> []b -> []b", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 3, run_scatter, 0, NULL},
    {"sorted_places", "[]a -> []int", ORDERED, 1, run_sorted_places, OP_LE, NULL},
    {"sorted_places_desc", "[]a -> []int", ORDERED, 1, run_sorted_places, OP_GE, NULL},
    {"ragged_places", "[]int -> []a -> []int", ORDERED, 2, run_ragged_places, OP_LE, NULL},
    {"bucket_places", "int -> []a -> []int", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 2, run_bucket_places, 0, NULL},
    {"checked_power", "int -> int", ANY, 1, run_checked_power, 0, NULL},
    {"checked_lengths", "int -> []int -> []int", ANY, 2, run_checked_rows, CHECK_ROWS, NULL},
    {"checked_offsets", "int -> []int -> []int", ANY, 2, run_checked_rows, CHECK_OFFSETS, NULL},
    {"checked_ends", "int -> []int -> []int", ANY, 2, run_checked_rows, CHECK_ENDS, NULL},
    {"checked_keys", "int -> []a -> []a", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 2, run_checked_keys, 0, NULL},
    {"checked_fractions", "int -> []int -> []int", ANY, 2, run_checked_rows, CHECK_FRACTIONS, NULL},
    {"count_keys", "int -> []a -> []int", {CONSTRAINT_SCALAR, CLASS_INTEGER}, 2, run_count_keys, 0, NULL},
    {"is_foldable", "(a -> a -> a) -> a -> []a -> bool", ANY, 3, run_is_foldable, 0, NULL},
    {"fold_range", "(a -> a -> a) -> a -> int -> int -> []a -> a", ANY, 5, run_fold_range, 0, NULL},
    {"grouped", "(a -> a -> a) -> []int -> []a -> []a -> []a", ANY, 4, run_grouped, 0, NULL},
    {"groups_by_steps", "bool", ANY, 0, run_groups_by_steps, 0, NULL},
    {"iter", "int -> (a -> a) -> a -> a", ANY, 3, run_iter, 0, NULL},
    {"associative", "(a -> a -> a) -> []a -> a -> a -> a", ANY, 2, run_associative, 0, NULL},
    {"network_keys", "[]a -> int", ANY, 1, run_networks, NETWORK_KEYS, NULL},
    {"network_pairs", "[]a -> int", ANY, 1, run_networks, NETWORK_PAIRS, NULL},
    {"network_top", "[]a -> int", ANY, 1, run_networks, NETWORK_TOP, NULL},
    {".", "(b -> c) -> (a -> b) -> a -> c", ANY, 3, run_compose, 0, NULL},
    {"log2", "int -> int", ANY, 1, run_log2, 0, NULL},
    {"not", "bool -> bool", ANY, 1, run_not, 0, NULL},
    {"otherwise", "bool", ANY, 0, run_otherwise, 0, NULL},
    {"minval", "a", ORDERED, 0, run_minval, 0, NULL},
    {"maxval", "a", ORDERED, 0, run_maxval, 0, NULL},
    {"pi", "a", {CONSTRAINT_SCALAR, CLASS_FLOAT}, 0, run_pi, 0, NULL},
    {"root", "int -> int -> a", {CONSTRAINT_SCALAR, CLASS_COMPLEX}, 2, run_root, 0, NULL},
};
// clang-format on
enum { ROWS = sizeof rows / sizeof *rows };

// The signatures are parsed as one source, `name : type` a line.
static void infer_signatures(diagnostics *d, builtin *table) {
  text all = {0};
  for (int i = 0; i < ROWS; i++)
    text_printf(&all, "x : %s\n", rows[i].signature);
  source s = {.name = "builtins", .length = (uint32_t)all.length, .library = true};
  s.text = arena_text(d->memory, &all);
  const module *m = parse_signatures(d, diag_add_source(d, s));
  for (size_t i = 0; i < m->bindings.count; i++)
    table[i].scheme = scheme_of_signature(d, m->bindings.items[i]->signature, table[i].constraint);
}

static scheme *generalised_scheme(arena *a, type *t, type *variable) {
  scheme *s = NEW(a, scheme);
  s->type = t;
  s->all = NEW(a, quantifier);
  variable->owner = s->all;
  vec_push(a, &s->all->variables, variable);
  return s;
}

// t -> t -> result for operations on t; re and its kin relate t to the complex type of it.
static scheme *operation_scheme(arena *a, scalar_op op) {
  const scalar_op_row *r = &scalar_ops[op];
  bool comparison = op >= OP_EQ && op <= OP_TOTAL_LE;
  bool from_complex = r->result == RESULT_REAL;
  constraint c = {comparison ? CONSTRAINT_EACH : CONSTRAINT_SCALAR,
                  from_complex ? CLASS_PART
                  : comparison ? CLASS_ANY  // of complex numbers by their parts
                               : r->operands};
  type *t = type_variable(a, c, 1), *operand = t, *result = t;
  type *complex = type_scalar(a, SCALAR_C64);
  complex->parts[0] = t;
  if (from_complex)
    operand = complex;
  if (r->result == RESULT_COMPLEX)
    result = complex;
  if (r->result == RESULT_BOOL)
    result = type_scalar(a, SCALAR_BOOL);
  if (r->result == RESULT_I64)
    result = type_scalar(a, SCALAR_I64);
  type *second = op == OP_POWI ? type_scalar(a, SCALAR_I64) : operand;
  if (r->arity == 2)
    result = type_function(a, second, result);
  return generalised_scheme(a, type_function(a, operand, result), t);
}

static scheme *conversion_scheme(arena *a, scalar_type to) {
  scalar_class from = scalar_types[to].kind == KIND_COMPLEX ? CLASS_NUM
                      : to == SCALAR_BOOL                   ? CLASS_ANY
                                                            : CLASS_REAL | CLASS_BOOL;
  type *t = type_variable(a, (constraint){CONSTRAINT_SCALAR, from}, 1);
  return generalised_scheme(a, type_function(a, t, type_scalar(a, to)), t);
}

builtin_table builtins_create(diagnostics *d) {
  arena *a = d->memory;
  builtin_table t = {.count = ROWS + SCALAR_OP_COUNT + SCALAR_COUNT + 1};
  t.rows = NEW_ARRAY(a, builtin, t.count);
  memcpy(t.rows, rows, sizeof rows);
  infer_signatures(d, t.rows);
  builtin *next = t.rows + ROWS;
  for (int i = 0; i < SCALAR_OP_COUNT; i++)
    *next++ = (builtin){.name = scalar_ops[i].name,
                        .arity = (uint32_t)scalar_ops[i].arity,
                        .run = run_scalar,
                        .operation = i,
                        .scheme = operation_scheme(a, (scalar_op)i)};
  for (int i = 0; i <= SCALAR_COUNT; i++) {
    scalar_type to = i < SCALAR_COUNT ? (scalar_type)i : SCALAR_I64;
    *next++ = (builtin){.name = i < SCALAR_COUNT ? scalar_types[i].name : "int",
                        .arity = 1,
                        .run = run_convert,
                        .operation = (int)to,
                        .scheme = conversion_scheme(a, to)};
  }
  return t;
}
