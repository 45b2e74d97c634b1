// The routines of a plan as tables of C, for routines_text.h. See making.h.
#include "runtime/ahead/making.h"
#include "runtime/routines/key_order.h"

#include <stdio.h>

static const char *const kinds[NET_ROUTINE_KINDS] = {
    [NET_SORT] = "PERMC_SORT",   [NET_PLACES] = "PERMC_PLACES",
    [NET_COUNT] = "PERMC_COUNT", [NET_PERMUTE] = "PERMC_PERMUTE",
    [NET_WRONG] = "PERMC_WRONG", [NET_TRANSPOSE] = "PERMC_TRANSPOSE"};

static const char *number_or_none(char space[16], net_id id) {
  snprintf(space, 16, "%u", (unsigned)id);
  return id == NET_NONE ? "PERMC_NONE" : space;
}

// Of an element that goes where one key goes.
static uint64_t bytes_of_pair(const plan *p, const net_routine *r, uint32_t i) {
  net_id id = r->pairs[i].to == NET_NONE ? r->pairs[i].from : r->pairs[i].to;
  const net_array *a = &p->arrays.items[id];
  uint64_t each = i == 0 || r->kind == NET_TRANSPOSE ? 1 : a->count / (r->rows * r->length);
  net_id keys = r->pairs[0].from;
  return (i == 0 ? 1 : each) * scalar_types[i == 0 ? p->arrays.items[keys].type : a->type].size;
}

void ahead_write_routine(text *out, const plan *p, const net_routine *r, uint32_t number) {
  scalar_type keys = p->arrays.items[r->pairs[0].from].type;
  char from[16], to[16];
  text_printf(out, "static const permc_pair pairs_%u[] = {", number);
  for (uint32_t i = 0; i < r->pair_count; i++)
    text_printf(out, "%s{%s, %s, %llu}", i ? ", " : "", number_or_none(from, r->pairs[i].from),
                number_or_none(to, r->pairs[i].to), (unsigned long long)bytes_of_pair(p, r, i));
  text_string(out, "};\n");
  if (r->dimension_count)
    text_printf(out, "static const permc_dimension dimensions_%u[] = {", number);
  for (uint32_t i = 0; i < r->dimension_count; i++)
    text_printf(out, "%s{%llu, %llu, %llu}", i ? ", " : "",
                (unsigned long long)r->dimensions[i].extent,
                (unsigned long long)r->dimensions[i].from, (unsigned long long)r->dimensions[i].to);
  text_string(out, r->dimension_count ? "};\n" : "");
  bool limited = r->limit && (r->kind == NET_SORT || r->kind == NET_PLACES);
  key_order o = key_order_of(keys, r->descending, limited ? plan_routine_bits(p, r) : 0);
  const uint64_t words[] = {o.code.negative, o.code.all, o.magnitude, o.infinity,
                            o.nan,           r->rows,    r->length,   r->limit};
  text_printf(out,
              "static const permc_routine routine_%u = {\n  %s, %d, %d, %d, %d, %zu, {%zu, %u, {",
              number, kinds[r->kind], scalar_types[keys].kind == KIND_SIGNED, r->distinct, r->back,
              r->counts, o.size, o.size, o.bits);
  for (uint32_t i = 0; i < 8; i++)
    text_printf(out, "UINT64_C(%llu)%s", (unsigned long long)words[i],
                i == 1   ? "}, "
                : i == 4 ? "},\n  "
                         : ", ");
  text_printf(out, "%s, UINT64_C(%llu), %u, %u, pairs_%u, ",
              number_or_none(from, r->ragged ? r->offsets : NET_NONE),
              r->ragged ? (unsigned long long)(p->arrays.items[r->offsets].count / r->rows) : 0,
              r->pair_count, r->dimension_count, number);
  if (r->dimension_count)
    text_printf(out, "dimensions_%u};\n", number);
  else
    text_string(out, "NULL};\n");
}

bool ahead_routine_bytes(const net_routine *r, uint64_t *bytes, const char **why) {
  enum { OF_ELEMENT = 24 };  // of an order: two ranks, two indices
  bool sorts = r->kind == NET_SORT || r->kind == NET_PLACES;
  *bytes = sorts                                 ? OF_ELEMENT * r->length
           : r->kind == NET_WRONG && r->distinct ? 16 * (r->limit / 64 + 1)
                                                 : 0;
  *why = "rows of 2^32 elements and more are not sorted by a library";
  return !sorts || r->length <= UINT32_MAX;
}
