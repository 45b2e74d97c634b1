#include "kernels/text/writer.h"

#include <ctype.h>

// ---- what is defined -------------------------------------------------------------------------

bool c_define(c_writer *w, const char *key) {
  uint64_t hash = hash_bytes(key, strlen(key));
  uint32_t id;
  for (size_t tried = 0; (id = hash_next(&w->defined, hash, &tried)) != HASH_NONE;)
    if (!strcmp(w->keys.items[id], key))
      return false;
  hash_add(w->memory, &w->defined, hash, (uint32_t)w->keys.count);
  vec_push(w->memory, &w->keys, arena_copy(w->memory, key, strlen(key)));
  return true;
}

// ---- text ------------------------------------------------------------------------------------

const char *c_format(c_writer *w, const char *format, ...) {
  text t = {0};
  WITH_ARGUMENTS(format, text_vprintf(&t, format, arguments));
  return arena_text(w->memory, &t);
}

const char *c_array_name(c_writer *w, net_id array) {
  uint32_t number = array;
  for (uint32_t i = 0; i < w->array_count; i++)
    if (w->arrays[i] == array)
      number = i;
  return c_format(w, "a%u", number);
}

void c_line(c_writer *w, const char *format, ...) {
  text_string(&w->body, "      ");
  WITH_ARGUMENTS(format, text_vprintf(&w->body, format, arguments));
  text_string(&w->body, "\n");
  w->joining = false;
}

void c_join(c_writer *w, const char *format, ...) {
  enum { COLUMNS = 100 };
  FREED_BY(text_free) text t = {0};
  WITH_ARGUMENTS(format, text_vprintf(&t, format, arguments));
  size_t line = w->body.length;
  bool joins = w->joining && !w->body.failed;
  while (joins && line > 1 && w->body.data[line - 2] != '\n')
    line--;
  if (joins && w->body.length - line + t.length < COLUMNS) {
    w->body.data[w->body.length - 1] = ' ';
    text_printf(&w->body, "%s\n", text_content(&t));
  } else {
    text_printf(&w->body, "      %s\n", text_content(&t));
  }
  w->body.failed |= t.failed;
  w->joining = true;
}

uint32_t c_let(c_writer *w, const char *type, const char *format, ...) {
  text t = {.memory = w->memory};
  WITH_ARGUMENTS(format, text_vprintf(&t, format, arguments));
  c_join(w, "const %s v%u = %s;", type, w->next, text_content(&t));
  return w->next++;
}

c_variable c_declare(c_writer *w, const char *type, const char *start) {
  c_join(w, "%s v%u = %s;", type, w->next, start);
  w->next++;
  return (c_variable){type, w->next - 1, w->next - 1};
}

void c_set(c_writer *w, size_t count, const c_variable *variables) {
  uint32_t *next = NEW_ARRAY(w->memory, uint32_t, count), last = 0;
  for (size_t i = 0; i < count; i++)
    last = variables[i].id > last ? variables[i].id : last;
  for (size_t i = 0; i < count; i++) {
    next[i] = variables[i].next;
    if (next[i] <= last && next[i] != variables[i].id)  // one of them, not what a round has made
      next[i] = c_let(w, variables[i].type, "v%u", next[i]);
  }
  for (size_t i = 0; i < count; i++)
    if (next[i] != variables[i].id)
      c_join(w, "v%u = v%u;", variables[i].id, next[i]);
}

void c_item(c_writer *w, const char *format, ...) {
  text_string(&w->item, "    ");
  WITH_ARGUMENTS(format, text_vprintf(&w->item, format, arguments));
  text_string(&w->item, "\n");
}

const char *c_number(c_writer *w, uint64_t value) {
  return value < 10000 ? c_format(w, "%llu", (unsigned long long)value)
                       : c_format(w, "0x%llx", (unsigned long long)value);
}

static bool is_in_name(char c) { return c == '_' || isalnum((unsigned char)c); }

// What follows a name, that of its type, is defined there, until its block ends.
const char *c_undefined_variable(c_writer *w, const char *code) {
  uint32_t *block_of = NEW_ARRAY(w->memory, uint32_t, w->next + 1);  // 0: not defined
  uint32_t *defined = NEW_ARRAY(w->memory, uint32_t, w->next + 1), count = 0, block = 1;
  char before = 0;  // spaces and comments left out
  for (const char *at = code; *at;) {
    size_t name = 0;
    while (is_in_name(at[name]))
      name++;
    if (at[0] == '/' && at[1] == '/') {
      at += strcspn(at, "\n");
      continue;
    }
    if (at[0] == 'v' && isdigit((unsigned char)at[1])) {
      unsigned long v = strtoul(at + 1, NULL, 10);
      if (v >= w->next || (!is_in_name(before) && !block_of[v]))
        return c_format(w, "v%lu", v);
      if (!block_of[v])
        block_of[defined[count++] = (uint32_t)v] = block;
    }
    block += *at == '{';
    block -= *at == '}';
    while (count > 0 && block_of[defined[count - 1]] > block)
      block_of[defined[--count]] = 0;
    at += name ? name : 1;
    before = isspace((unsigned char)at[-1]) ? before : at[-1];
  }
  return NULL;
}

// ---- tables ----------------------------------------------------------------------------------

const char *c_table(c_writer *w, uint32_t bytes, uint32_t count, const uint64_t *entries) {
  text t = {0};
  for (uint32_t i = 0; i < count; i++)
    text_printf(&t, "%s%llu",
                i == 0   ? ""
                : i % 16 ? ", "
                         : ",\n  ",
                (unsigned long long)entries[i]);
  const char *all = arena_text(w->memory, &t);
  const char *name = c_format(w, "table_%llx", (unsigned long long)hash_bytes(all, strlen(all)));
  if (c_define(w, c_format(w, "%s %u %s", name, bytes, all)))
    text_printf(&w->definitions, "%s uint%u_t %s[%u] = {\n  %s};\n",
                w->warps ? "PERMC_TABLE" : "static const", bytes * 8, name, count, all);
  return name;
}

// ---- linear functions ------------------------------------------------------------------------

static bool is_unit(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

// Bits that move by one common distance are moved together; others are multiplied. A name may have
// 32 bits.
static const char *linear_by_shifts(c_writer *w, const char *name, uint32_t count,
                                    const uint64_t *value) {
  const char *sum = NULL;
  uint64_t done = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (value[i] == 0 || f2_bit(done, (int)i))
      continue;
    const char *term;
    if (is_unit(value[i])) {
      int distance = f2_lsb(value[i]) - (int)i;
      uint64_t mask = 0;
      for (uint32_t j = i; j < count; j++)
        if (is_unit(value[j]) && f2_lsb(value[j]) - (int)j == distance)
          mask |= f2_unit((int)j);
      done |= mask;
      term = mask == f2_mask((int)count) ? name : c_format(w, "(%s & %s)", name, c_number(w, mask));
      if (distance != 0)
        term = c_format(w, "(%s%s %s %d)", f2_msb(mask) + distance >= 32 ? "(uint64_t)" : "", term,
                        distance > 0 ? "<<" : ">>", distance > 0 ? distance : -distance);
    } else {
      term = c_format(w, "(%s >> %u & 1) * %s", name, i, c_number(w, value[i]));
    }
    sum = sum ? c_format(w, "%s ^ %s", sum, term) : term;
  }
  return sum ? sum : "0";
}

enum { TABLE_BITS = 10 };  // a table has at most 2^10 entries; more bits take more tables

static const char *linear_table(c_writer *w, uint32_t count, const uint64_t *value) {
  uint64_t all = 0, *entries = NEW_ARRAY(w->memory, uint64_t, 1U << count);
  for (uint32_t i = 0; i < count; i++)
    all |= value[i];
  for (uint32_t k = 0; k < 1U << count; k++)
    entries[k] = f2_combine((int)count, value, k);
  return c_table(w, all >> 32 ? 8 : 4, 1U << count, entries);
}

static const char *linear_by_tables(c_writer *w, const char *name, uint32_t count,
                                    const uint64_t *value) {
  const char *sum = NULL;
  for (uint32_t i = 0; i < count; i += TABLE_BITS) {
    uint32_t some = count - i < TABLE_BITS ? count - i : TABLE_BITS;
    const char *index = i + some < count ? c_format(w, "%s >> %u & %u", name, i, (1U << some) - 1)
                        : i > 0          ? c_format(w, "%s >> %u", name, i)
                                         : name;
    const char *term = c_format(w, "%s[%s]", linear_table(w, some, value + i), index);
    sum = sum ? c_format(w, "%s ^ %s", sum, term) : term;
  }
  return sum ? sum : "0";
}

const char *c_linear(c_writer *w, const char *name, uint32_t count, const uint64_t *value,
                     bool as_table) {
  uint64_t all = 0;
  bool shifted = true;
  for (uint32_t i = 0; i < count; i++) {
    all |= value[i];
    shifted = shifted && is_unit(value[i]) && value[i] == value[0] << i;
  }
  return all == 0                           ? "0"
         : !as_table || shifted || w->warps ? linear_by_shifts(w, name, count, value)
                                            : linear_by_tables(w, name, count, value);
}
