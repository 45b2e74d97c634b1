// Routines: their table, and what must hold of each. See net.h.
#include "fusion/net/net.h"

#include <inttypes.h>

const char *const net_routine_names[NET_ROUTINE_KINDS] = {
#define ROW(id, name) name,
    NET_ROUTINES(ROW)
#undef ROW
};

// A SORT or a PERMUTE has any number of pairs, whose arrays are of one type and length. Others have
// one, from keys to i64: one for each key, or for each number below the limit, in each row; or two.
typedef enum result_kind { OF_PAIRS, OF_KEYS, OF_LIMIT, OF_TWO } result_kind;
static const struct {
  result_kind results;
  bool integers;  // the keys
} kinds[NET_ROUTINE_KINDS] = {
    [NET_SORT] = {OF_PAIRS, false},   [NET_PLACES] = {OF_KEYS, false},
    [NET_COUNT] = {OF_LIMIT, true},   [NET_WRONG] = {OF_TWO, true},
    [NET_PERMUTE] = {OF_PAIRS, true}, [NET_TRANSPOSE] = {OF_PAIRS, false},
};

void net_routine_split(const net_routine *r, net_routine *rest, net_routine *count) {
  *rest = *count = *r;
  rest->counts = count->counts = false;
  rest->pair_count--;
  count->kind = NET_COUNT;
  count->pairs += rest->pair_count;
  count->pair_count = 1;
}

typedef struct checker {
  arena *memory;
  const net *net;
  const net_routine *routine;
  uint64_t elements;  // of the keys
} checker;

static const net_array *array_at(const checker *c, net_id id) { return &c->net->arrays.items[id]; }

// Whether the dimensions, in the order of their distances, are those of an array without gaps.
static bool fill_array(const net_routine *r, bool after, uint64_t elements) {
  uint64_t inner = 1;
  for (uint32_t found = 0; found < r->dimension_count; found++) {
    uint32_t d = 0;
    while (d < r->dimension_count &&
           (r->dimensions[d].extent < 2 ||
            (after ? r->dimensions[d].to : r->dimensions[d].from) != inner))
      d++;
    if (d == r->dimension_count || __builtin_mul_overflow(inner, r->dimensions[d].extent, &inner))
      return false;
  }
  return inner == elements;
}

static const char *check_dimensions(const checker *c) {
  const net_routine *r = c->routine;
  bool good = r->kind != NET_TRANSPOSE
                  ? r->dimension_count == 0
                  : r->rows == 1 && r->pair_count == 1 && r->dimension_count > 1 &&
                        r->dimension_count <= NET_DIMENSIONS && r->pairs[0].to != NET_NONE &&
                        fill_array(r, false, c->elements) && fill_array(r, true, c->elements);
  return good ? NULL : "its dimensions are not those of its arrays";
}

static const char *check_keys(const checker *c) {
  const net_routine *r = c->routine;
  net_id keys = r->pairs[0].from;
  if (keys == NET_NONE || array_at(c, keys)->count != c->elements)
    return "the keys are not as many as its rows have elements";
  if (r->kind == NET_TRANSPOSE)
    return NULL;
  scalar_class types = r->limit || kinds[r->kind].integers ? CLASS_INTEGER : CLASS_ORD;
  if (!(types & CLASS_OF(array_at(c, keys)->type)))
    return arena_printf(c->memory, "the keys are %s", scalar_types[array_at(c, keys)->type].name);
  if (r->kind == NET_PERMUTE && (r->rows != 1 || r->pairs[0].to != NET_NONE))
    return "places are not of one row, or go somewhere";
  return r->kind != NET_COUNT || r->limit ? NULL : "it counts keys without a limit";
}

// An index is of 4 or 8 bytes; payloads are any number of elements for each key.
static const char *check_payload(const checker *c, net_routine_pair p) {
  const net_array *to = array_at(c, p.to);
  if (p.from == NET_NONE)
    return to->count == c->elements && (CLASS_INTEGER & CLASS_OF(to->type)) &&
                   scalar_types[to->type].size >= 4
               ? NULL
               : "the index goes to an array that has not its type, or its length";
  const net_array *from = array_at(c, p.from);
  return from->type == to->type && from->count == to->count && from->count % c->elements == 0
             ? NULL
             : "what goes to an array is not of its type and length";
}

static const char *check_result(const checker *c, net_routine_pair p, result_kind results) {
  const net_routine *r = c->routine;
  uint64_t count = 2;
  bool overflow =
      results != OF_TWO &&
      __builtin_mul_overflow(r->rows, results == OF_LIMIT ? r->limit : r->length, &count);
  if (overflow || p.to == NET_NONE || array_at(c, p.to)->count != count ||
      array_at(c, p.to)->type != SCALAR_I64)
    return "its result is not an array of i64, of its length";
  return NULL;
}

static const char *check_pair(const checker *c, uint32_t i) {
  net_routine_pair p = c->routine->pairs[i];
  for (int k = 0; k < 2; k++) {
    net_id id = k ? p.to : p.from;
    if (id != NET_NONE && id >= c->net->arrays.count)
      return arena_printf(c->memory, "there is no a%" PRIu32, id);
  }
  const char *wrong = i == 0 ? check_keys(c) : NULL;
  if (!wrong && c->routine->counts && i == c->routine->pair_count - 1)
    return p.from == c->routine->pairs[0].from ? check_result(c, p, OF_LIMIT)
                                               : "what it counts is not its keys";
  if (wrong || kinds[c->routine->kind].results != OF_PAIRS)
    return wrong ? wrong : check_result(c, p, kinds[c->routine->kind].results);
  if (p.to == NET_NONE)
    return i == 0 ? NULL : "a payload goes nowhere";
  return check_payload(c, p);
}

static const char *check_offsets(const checker *c) {
  const net_routine *r = c->routine;
  if ((r->kind != NET_SORT && r->kind != NET_PLACES) || r->offsets >= c->net->arrays.count)
    return "it has no rows of unequal length, or there are no such offsets";
  const net_array *o = array_at(c, r->offsets);
  return o->type == SCALAR_I64 && o->count && o->count % r->rows == 0
             ? NULL
             : "the offsets are not of i64, as many for each row";
}

const char *net_routine_problem(arena *a, const net *t, const net_stage *s) {
  const net_routine *r = s->routine;
  checker c = {a, t, r, 0};
  if (s->n || s->loop_count || net_stage_is_shared(s) || s->values.count || s->nodes.count ||
      s->loads.count || s->ops.count || s->stores.count)
    return "a routine has bits, loops or values";
  if ((unsigned)r->kind >= NET_ROUTINE_KINDS)
    return "there is no such routine";
  if (__builtin_mul_overflow(r->rows, r->length, &c.elements) || !c.elements)
    return "it has no elements, or too many";
  if (r->counts && ((r->kind != NET_SORT && r->kind != NET_PLACES) || r->pair_count < 2 ||
                    !r->limit || r->limit > NET_MOST_COUNTED))
    return "it does not count its keys";
  if (!r->pair_count || (r->pair_count > 1u + r->counts && kinds[r->kind].results != OF_PAIRS))
    return arena_printf(a, "it has %" PRIu32 " arrays", r->pair_count);
  for (uint32_t i = 0; i < r->pair_count; i++) {
    const char *wrong = check_pair(&c, i);
    if (wrong)
      return arena_printf(a, "array %" PRIu32 ": %s", i, wrong);
  }
  const char *wrong = check_dimensions(&c);
  return wrong || !r->ragged ? wrong : check_offsets(&c);
}
