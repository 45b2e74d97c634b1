// Tables of C that say of a program what program_text.h wants to know. See making.h.
#include "kernels/ops/root.h"
#include "runtime/ahead/making.h"
#include "runtime/cpu/cpu.h"

#include <string.h>

static const char *const homes[] = {[HOME_NONE] = "PERMC_NOWHERE",
                                    [HOME_ARGUMENT] = "PERMC_ARGUMENT",
                                    [HOME_TABLE] = "PERMC_TABLE",
                                    [HOME_RESULT] = "PERMC_RESULT",
                                    [HOME_WORKSPACE] = "PERMC_WORKSPACE"};

// A part of an array is its place in that.
static void write_part(text *out, const net_array *a) {
  text_printf(out, "  {PERMC_PART, UINT64_C(%u), UINT64_C(%llu)},\n", (unsigned)a->part_of - 1,
              number(a->part_at * scalar_types[a->type].size));
}

void ahead_write_places(text *out, const ahead_plan *s) {
  text_printf(out, "\nstatic const permc_place places[%zu] = {\n", s->plan->arrays.count + 1);
  for (size_t a = 0; a < s->plan->arrays.count; a++) {
    array_place place = s->layout.places[a];
    if (s->plan->arrays.items[a].part_of) {
      write_part(out, &s->plan->arrays.items[a]);
      continue;
    }
    text_printf(out, "  {%s, UINT64_C(%llu), 0},\n", homes[place.home],
                number(place.home == HOME_TABLE ? a : place.at));
  }
  text_string(out, "  {PERMC_NOWHERE, 0, 0}\n};\n");
}

// Words of 8 bytes; the last may have less.
void ahead_write_words(text *out, const unsigned char *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
    text_printf(out, "%s0x%llx", i == 0 ? "\n  " : i % 48 == 0 ? ",\n  " : ", ", number(word));
  }
}

void ahead_write_tables(text *out, const ahead_plan *s) {
  const plan *p = s->plan;
  for (size_t a = 0; a < p->arrays.count; a++) {
    const net_array *of = &p->arrays.items[a];
    if (s->layout.places[a].home != HOME_TABLE || !of->count)
      continue;
    text_printf(out, "static const uint64_t table_%zu[] = {", a);
    ahead_write_words(out, of->table, cpu_array_bytes(of));
    text_string(out, "\n};\n");
  }
  text_printf(out, "static const void *const tables[%zu] = {", p->arrays.count + 1);
  for (size_t a = 0; a < p->arrays.count; a++)
    if (s->layout.places[a].home == HOME_TABLE && p->arrays.items[a].count)
      text_printf(out, "table_%zu, ", a);
    else
      text_string(out, "NULL, ");
  text_string(out, "NULL};\n");
}

void ahead_write_numbers(text *out, const char *name, size_t count, const uint64_t *numbers) {
  text_printf(out, "static const uint64_t %s[] = {", name);
  for (size_t i = 0; i < count; i++)
    text_printf(out, "UINT64_C(%llu), ", number(numbers[i]));
  text_string(out, "0};\n");
}

void ahead_write_roots(text *out, const ahead_plan *s) {
  c_root_tables_write(out, "static const permc_root_table roots", s->code->roots);
  ahead_write_numbers(out, "roots_at", s->root_count, s->roots_at);
}

void ahead_write_checks(text *out, const ahead_plan *s) {
  const trace *t = s->trace;
  text_printf(out, "static const permc_check checks[%zu] = {\n", t->checks.count + 1);
  for (size_t i = 0; i < t->checks.count; i++) {
    const trace_check *k = &t->checks.items[i];
    net_id a = ahead_array_of_result(s->plan, trace_returned(t) + i);
    text_printf(out,
                "  {{(check_kind)%d, %d, UINT64_C(%llu), UINT64_C(%llu)}, %u, UINT64_C(%llu)},\n",
                (int)k->kind, k->is_unsigned, number(k->length), number(k->inner), (unsigned)a,
                number(s->plan->arrays.items[a].count));
  }
  text_string(out, "  {{CHECK_PADDING, 0, 0, 0}, 0, 0}\n};\n");
}

// Returns how many there are.
uint32_t ahead_write_copies(text *out, const ahead_plan *s) {
  uint32_t count = 0;
  text_string(out, "static const permc_copy copies[] = {");
  for (net_id a = 0; a < s->plan->arrays.count && s->copies; a++) {
    const net_array *of = &s->plan->arrays.items[a];
    if (of->role != NET_RESULT || of->number >= trace_returned(s->trace) || !of->count)
      continue;
    text_printf(out, "{%u, %u, UINT64_C(%llu)}, ", a, of->number, number(cpu_array_bytes(of)));
    count++;
  }
  text_string(out, "{0, 0, 0}};\n");
  return count;
}
