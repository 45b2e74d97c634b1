// The routines of a plan as tables of C. See making.h.
#include "runtime/routines/routine.h"
#include "runtime/ahead/making.h"
#include "runtime/routines/executor.h"

#include <stdio.h>
#include <stdlib.h>

static void write_pairs(text *out, const routine_work *w, uint32_t of) {
  text_printf(out, "static const routine_pair pairs_%u[] = {", of);
  for (uint32_t i = 0; i < w->pair_count; i++)
    text_printf(out, "%s{%uU, %uU, %u}", i ? ", " : "", (unsigned)w->pairs[i].from,
                (unsigned)w->pairs[i].to, (unsigned)w->pairs[i].bytes);
  text_printf(out, "};\nstatic const net_dimension dimensions_%u[] = {", of);
  for (uint32_t i = 0; i < w->dimension_count; i++)
    text_printf(out, "{%llu, %llu, %llu}, ", number(w->dimensions[i].extent),
                number(w->dimensions[i].from), number(w->dimensions[i].to));
  text_string(out, "{0, 0, 0}};\n");
}

static void write_work(text *out, const routine_work *w, uint32_t of) {
  const key_order *o = &w->order;
  const uint64_t numbers[] = {o->code.negative, o->code.all, o->magnitude, o->infinity,
                              o->nan,           w->rows,     w->length,    w->limit};
  text_printf(out,
              "static const routine_work routine_%u = {\n"
              "  (routine_kind)%d, %d, %d, %d, %d, {%zu, %u, {",
              of, (int)w->kind, w->is_signed, w->distinct, w->back, w->counts, o->size,
              (unsigned)o->bits);
  for (uint32_t i = 0; i < 8; i++)
    text_printf(out, "UINT64_C(%llu)%s", number(numbers[i]),
                i == 1   ? "}, "
                : i == 4 ? "},\n  "
                         : ", ");
  text_printf(out, "%uU, UINT64_C(%llu), %u, %u, pairs_%u, dimensions_%u};\n", (unsigned)w->offsets,
              number(w->offset_count), (unsigned)w->pair_count, (unsigned)w->dimension_count, of,
              of);
}

bool ahead_add_routine(text *out, const plan *p, const net_routine *r, uint32_t of,
                       uint64_t *memory) {
  routine_pair *pairs = malloc(r->pair_count * sizeof *pairs);
  if (!pairs)
    return false;
  routine_work w = routine_work_of(p, r, pairs);
  uint64_t bytes[BLOCKS];
  char name[32];
  snprintf(name, sizeof name, "blocks_%u", of);
  routine_memory_bytes(&w, bytes);
  write_pairs(out, &w, of);
  write_work(out, &w, of);
  ahead_write_numbers(out, name, BLOCKS, bytes);
  free(pairs);
  for (size_t b = 0; b < BLOCKS; b++)
    *memory += ahead_aligned(bytes[b]);
  return true;
}
