// Sizes: what a signature says of lengths, against the arrays of a call.
//
//   f : [m][2^n]a -> [2^(n+1)]a      called with an array of shape [3][8]
//
//   argument_lengths                 [m] is 3, [2^n] is 8
//   bind_size_names                  m = 3, n = 3
//   result_lengths                   [2^(n+1)] is what f returned; elaborate.c compares it with 16
#include "lang/elaborate/elaborator.h"

#include "core/number.h"
#include "lang/syntax/hints.h"
#include <inttypes.h>

static void fail_length(elaborator *e, uint64_t length, const char *who, const char *hint) {
  uint64_t below = 1;
  while (2 * below < length)
    below *= 2;
  if (!length)
    fail_hint(e, "the shortest array of length 2^n has 1 element (n = 0)",
              "%s needs a length that is a power of two, but this array is empty", who);
  fail_hint(e,
            hint ? hint
                 : "padded x f xs fills the array up with x at its end: padded maxval sort xs, in "
                   "descending order padded minval sort_desc xs",
            "%s needs a length that is a power of two, but this array has %" PRIu64
            " elements; the nearest are %" PRIu64 " and %" PRIu64,
            who, length, below, 2 * below);
}

uint64_t power_length(elaborator *e, uint64_t length, const char *who) {
  if (!is_power_of_two(length))
    fail_length(e, length, who, hint_for(HINT_LENGTH, who));
  return (uint64_t)__builtin_ctzll(length);
}

// Notes the lengths of v where t has an expression for them.
static void note_lengths(elaborator *e, const type_expr *t, const value *v, uint32_t argument,
                         bool row) {
  if (t->kind == TYPE_EXPR_ARRAY) {
    uint64_t length = length_of(v);
    if (t->size)
      vec_push(e->memory, &e->ledger->lengths, ((written_length){t->size, length, row, argument}));
    if (t->parts[0]->kind == TYPE_EXPR_NAME)
      return;
    if (v->kind == VALUE_ARRAY)
      note_lengths(e, t->parts[0], v->u.array.element, argument, true);
    else if (!length && v->u.parts.like)
      note_lengths(e, t->parts[0], v->u.parts.like, argument, true);
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->u.parts.count; i++)
      note_lengths(e, t->parts[0], v->u.parts.items[i], argument, true);
  }
  if (t->kind == TYPE_EXPR_TUPLE)
    for (uint32_t i = 0; i < t->count; i++)
      note_lengths(e, t->parts[i], v->u.parts.items[i], argument, row);
}

size_t argument_lengths(elaborator *e, const binding *b, value **arguments) {
  size_t first = e->ledger->lengths.count;
  const type_expr *t = b->signature;
  for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION;
       i++, t = t->parts[1])
    note_lengths(e, t->parts[0], arguments[i], i + 1, false);
  return first;
}

const type_expr *written_result(const binding *b) {
  const type_expr *t = b->signature;
  for (uint32_t i = 0; i < b->code->call_arity && t->kind == TYPE_EXPR_FUNCTION; i++)
    t = t->parts[1];
  return t;
}

size_t result_lengths(elaborator *e, const binding *b, const value *result) {
  size_t first = e->ledger->lengths.count;
  const type_expr *t = written_result(b);
  if (t->kind != TYPE_EXPR_FUNCTION)
    note_lengths(e, t, result, 0, false);
  return first;
}

// The name that this size binds, if it is one of the function's own.
static const expr *own_name(const expr *size, bool *power) {
  const expr *name = size_name(size, power);
  bool own =
      name && name->u.name.kind == REF_SLOT && name->u.name.target && name->u.name.target->is_size;
  return own ? name : NULL;
}

void bind_size_names(elaborator *e, activation *act, const binding *b, size_t first) {
  for (size_t i = first; i < e->ledger->lengths.count; i++) {
    written_length l = e->ledger->lengths.items[i];
    bool power;
    const expr *name = own_name(l.size, &power);
    if (!name)
      continue;
    if (power && !is_power_of_two(l.length))
      fail_length(e, l.length, arena_printf(e->memory, "'%s'", b->name),
                  b->in_library ? hint_for(HINT_LENGTH, b->name) : NULL);
    uint64_t n = power ? (uint64_t)__builtin_ctzll(l.length) : l.length;
    if (!act->slots[name->u.name.index])
      act->slots[name->u.name.index] = make_integer(e, (int64_t)n);
  }
  // What no array has, such as the rows of [].
  for (size_t i = 0; i < b->size_names.count; i++)
    if (!act->slots[b->first_size_slot + i])
      act->slots[b->first_size_slot + i] = make_integer(e, 0);
}

// Whether a parameter has the name of this size, so that the body means another value by it.
static bool is_hidden(const binding *b, const expr *size) {
  bool power;
  const expr *name = size_name(size, &power);
  const equation *q = b->code->equations.items;
  for (uint32_t i = 0; name && i < b->code->arity; i++)
    if (q->patterns[i]->kind == PATTERN_NAME && !strcmp(q->patterns[i]->name, name->u.name.text))
      return true;
  return false;
}

// Whether one of two lengths is that of the array whose rows the innermost map goes over: as where
// the product of two matrices takes the rows of the second for its columns.
static bool is_row_for_column(const elaborator *e, uint64_t a, uint64_t b) {
  const open_level *level = e->levels;
  if (!level || level->first == level->last || !level->batch)
    return false;
  uint64_t rows = step_at(e, level->first)->batch / level->batch;
  return rows > 1 && (rows == a || rows == b);
}

// Another argument of the call has given the size of l its value: zip_with f xs ys.
static void fail_equal_lengths(elaborator *e, const binding *b, written_length first,
                               written_length l) {
  const char *const rows[] = {"", "each row of "};
  span where = l.size->where;
  const char *name = arena_copy(e->memory, e->d->sources.items[where.file].text + where.start,
                                where.end - where.start);
  if (e->where.file == b->where.file && e->where.start == b->where.start)
    e->where = where;  // an entry point: its data
  fail_hint(e,
            is_row_for_column(e, first.length, l.length)
                ? "map takes the rows of a matrix b: its columns are the rows of transpose b"
                : "take k xs keeps k elements, take (length xs - 1) xs all but the last; in a "
                  "signature equal lengths have one name, others their own",
            "'%s' takes arrays of equal length ([%s]), but %sargument %u has %" PRIu64
            " elements and %sargument %u has %" PRIu64,
            b->name, name, rows[l.of_row], l.argument, l.length, rows[first.of_row], first.argument,
            first.length);
}

// The length among those of the call that gave the size name of l its value; NULL: l did, or it is
// no name alone.
static const written_length *first_of_name(elaborator *e, written_length l) {
  bool power;
  const expr *name = own_name(l.size, &power);
  for (size_t i = e->ledger->lengths.count; name && !power && i-- > 0;) {
    const written_length *other = &e->ledger->lengths.items[i];
    const expr *same = own_name(other->size, &power);
    if (same && !power && same->u.name.target == name->u.name.target && other->length != l.length &&
        other->argument < l.argument)
      return other;
    power = false;
  }
  return NULL;
}

void fail_size(elaborator *e, const binding *b, written_length l, int64_t wanted, bool result) {
  const written_length *first = result || is_hidden(b, l.size) ? NULL : first_of_name(e, l);
  if (first)
    fail_equal_lengths(e, b, *first, l);
  span where = l.size->where;
  const source *file = &e->d->sources.items[where.file];
  const char *const words[5][2] = {{"needs", "but this array has"},
                                   {"needs", "but a row of this array has"},
                                   {"must return", "but returns"},
                                   {"must have", "but has"},
                                   {"must return rows of", "but returns one of"}};
  int row = !result ? l.of_row : b->kind == BINDING_VALUE ? 3 : l.of_row ? 4 : 2;
  fail_hint(e,
            is_hidden(b, l.size) ? "in the signature this is the length of an argument, not the "
                                   "parameter of that name: name one of them differently"
            : result && l.of_row ? "all rows of an array have one length; in a signature it may be "
                                   "computed, as in [][2 * n], or left open: [][]"
            : result ? "a length in a signature may be computed, as in [2 * n], or left open: []"
                     : "take k xs keeps k elements; in a signature equal lengths have one name, "
                       "others their own",
            "'%s' %s %" PRId64 " elements ([%.*s]), %s %" PRIu64, b->name, words[row][0], wanted,
            (int)(where.end - where.start), file->text + where.start, words[row][1], l.length);
}
