// Targets as text: their fields by name, with the values that make sense. See target.h.
#include "fusion/target/target.h"

#include <ctype.h>
#include <stdio.h>

// ---- fields ----------------------------------------------------------------------------------

typedef enum field_kind { FIELD_U32, FIELD_U64, FIELD_F64 } field_kind;

typedef struct field {
  target_field shown;
  size_t offset;
  field_kind kind;
  uint32_t power;  // 0: any number; else a power of two from here on, or 0 where that is allowed
  double least, most;  // allowed values
  const char *allowed;
} field;

// clang-format off
#define FIELD(name, kind, power, least, most, allowed, summary)                                    \
  {{#name, summary}, offsetof(target, name), kind, power, least, most, allowed}
// Three fields for each level.
#define LINK_FIELD(prefix, level, field, least, most, allowed, summary)                            \
  {{#prefix "_" #field, summary}, offsetof(target, links) + (level) * sizeof(target_link) +        \
   offsetof(target_link, field), FIELD_F64, 0, least, most, allowed}
#define LINK(prefix, level, among)                                                                 \
  LINK_FIELD(prefix, level, bytes_per_second, 1, 1e18, "a number from 1 to 1e18",                  \
             "out of a rank, among " among),                                                       \
  LINK_FIELD(prefix, level, latency, 0, 1e3, "a number from 0 to 1000",                            \
             "in seconds, of an exchange"),                                                        \
  LINK_FIELD(prefix, level, half_bytes, 0, 1e18, "a number from 0 to 1e18",                        \
             "a message of so many gets half of that rate")

// A field for each width of keys.
#define NETWORK_FIELD(name, shape, width, bytes)                                                   \
  {{#name "_" #bytes, "most that a network sorts faster, of " #bytes " bytes"},                      \
   offsetof(target, networks.most[shape][width]), FIELD_U64, 0, 0, 0x1p62, "a whole number from 0 to 2^62"}
// Of what routines cost.
#define COST(field, value, summary)                                                                \
  {{"routine_" #field, summary}, offsetof(target, routines.field), FIELD_F64, 0, 0, 1e18,          \
   "a number from 0 to 1e18"},
#define NETWORKS(name, shape)                                                                      \
  NETWORK_FIELD(name, shape, 0, 1), NETWORK_FIELD(name, shape, 1, 2),                              \
  NETWORK_FIELD(name, shape, 2, 4), NETWORK_FIELD(name, shape, 3, 8)

static const field fields[] = {
    FIELD(line_bytes, FIELD_U32, 16, 16, 1 << 16, "a power of two from 16 to 65536",
          "memory moves in lines of so many bytes"),
    FIELD(tile_bytes, FIELD_U64, 0, 64, 0x1p40, "a whole number from 64 to 2^40",
          "fast memory for one tile"),
    FIELD(lane_bytes, FIELD_U32, 16, 0, 4096, "0, or a power of two from 16 to 4096",
          "of a vector of the widest element; 0: lanes are counted, not measured"),
    FIELD(lane_bits, FIELD_U32, 0, 0, 10, "a whole number from 0 to 10",
          "there are at most 2^lane_bits lanes"),
    FIELD(register_bytes, FIELD_U32, 0, 16, 1 << 24, "a whole number from 16 to 2^24",
          "of data in the registers of a thread"),
    FIELD(adapts, FIELD_U32, 0, 0, 1, "0 or 1",
          "whether tiles and registers get smaller with the number of elements"),
    FIELD(wide_bytes, FIELD_U32, 1, 1, 16, "a power of two from 1 to 16",
          "of one access of a thread, where lanes are counted"),
    FIELD(memory_bytes_per_second, FIELD_F64, 0, 1, 1e18, "a number from 1 to 1e18",
          "read and written, of a copy"),
    FIELD(ops_per_second, FIELD_F64, 0, 1, 1e18, "a number from 1 to 1e18",
          "minima or maxima of 4-byte elements"),
    FIELD(exchange_ops, FIELD_F64, 0, 0, 1e6, "a number from 0 to 1e6",
          "what moving an element between phases costs, in such operations"),
    FIELD(pass_seconds, FIELD_F64, 0, 0, 1, "a number from 0 to 1",
          "for starting a pass"),
    NETWORKS(network_keys, NETWORK_KEYS),
    NETWORKS(network_pairs, NETWORK_PAIRS),
    NETWORKS(network_rows, NETWORK_ROWS),
    NETWORKS(network_top, NETWORK_TOP),
    TARGET_ROUTINES(COST)
    FIELD(peers, FIELD_U32, 1, 1, 1 << 16, "a power of two from 1 to 65536",
          "ranks of one host, at most"),
    FIELD(nodes, FIELD_U32, 1, 1, 1 << 16, "a power of two from 1 to 65536",
          "hosts, at most"),
    FIELD(disk_block, FIELD_U64, 512, 512, 1 << 30, "a power of two from 512 to 2^30",
          "bytes that files are read and written in"),
    LINK(peer, TARGET_PEER, "ranks of one host"),
    LINK(network, TARGET_NETWORK, "ranks of several hosts"),
    LINK(disk, TARGET_DISK, "memory and disk"),
};
// clang-format on
enum { FIELDS = sizeof fields / sizeof *fields, PLAN_FIELDS = 11 };

size_t target_field_count(void) { return FIELDS; }
size_t target_plan_field_count(void) { return PLAN_FIELDS; }
target_field target_field_at(size_t index) { return fields[index].shown; }

static double value_of(const target *t, const field *f) {
  const void *at = (const char *)t + f->offset;
  if (f->kind == FIELD_U32)
    return *(const uint32_t *)at;
  return f->kind == FIELD_U64 ? (double)*(const uint64_t *)at : *(const double *)at;
}

void target_print_field(text *out, const target *t, size_t index) {
  double value = value_of(t, &fields[index]);
  c_environment locale;
  char digits[40];
  if (!c_environment_enter(&locale)) {
    out->failed = true;
    return;
  }
  for (int precision = 6; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value)
      break;
  }
  c_environment_leave(&locale);
  text_string(out, digits);
}

static bool is_allowed(const field *f, double value) {
  if (!(value >= f->least && value <= f->most) || (value > 0 && value < f->power))
    return false;
  uint64_t whole = f->kind == FIELD_F64 ? 0 : (uint64_t)value;
  return f->kind == FIELD_F64 || ((double)whole == value && (!f->power || !(whole & (whole - 1))));
}

bool target_set_field(target *t, const char *name, const char *given, const char **wrong) {
  const field *f = fields;
  while (f < fields + FIELDS && strcmp(f->shown.name, name) != 0)
    f++;
  if (f == fields + FIELDS)
    return false;
  c_environment locale;
  *wrong = "out of memory";
  if (!c_environment_enter(&locale))
    return true;
  char *end;
  double value = strtod(given, &end);
  c_environment_leave(&locale);
  bool good = isdigit((unsigned char)*given) && (!*end || isspace((unsigned char)*end)) &&
              is_allowed(f, value);
  *wrong = good ? NULL : f->allowed;
  void *at = (char *)t + f->offset;
  if (good && f->kind == FIELD_U32)
    *(uint32_t *)at = (uint32_t)value;
  else if (good && f->kind == FIELD_U64)
    *(uint64_t *)at = (uint64_t)value;
  else if (good)
    *(double *)at = value;
  return true;
}

// ---- reading ---------------------------------------------------------------------------------

typedef struct target_reader {
  arena *memory;
  target *target;
  bool given[FIELDS], based;
  size_t line;
} target_reader;

static const char *set_base(target_reader *r, const char *value) {
  const target *base = target_named(value);
  for (size_t i = 0; i < FIELDS; i++)
    if (r->given[i])
      return arena_printf(r->memory, "line %zu: base stands before the fields", r->line);
  if (!base)
    return arena_printf(r->memory, "line %zu: there is no target '%s' to base this one on", r->line,
                        value);
  const char *name = r->target->name;
  *r->target = *base;
  r->target->name = name;
  r->based = true;
  return NULL;
}

static const char *set_line(target_reader *r, const char *name, const char *value) {
  const char *wrong = NULL;
  if (!strcmp(name, "base"))
    return set_base(r, value);
  if (!strcmp(name, "name")) {
    r->target->name = value;
    return NULL;
  }
  if (!target_set_field(r->target, name, value, &wrong))
    return arena_printf(r->memory, "line %zu: a target has no field '%s'", r->line, name);
  if (wrong)
    return arena_printf(r->memory, "line %zu: %s is %s, not '%s'", r->line, name, wrong, value);
  for (size_t i = 0; i < FIELDS; i++)
    if (!strcmp(fields[i].shown.name, name)) {
      if (r->given[i])
        return arena_printf(r->memory, "line %zu: %s is given twice", r->line, name);
      r->given[i] = true;
    }
  return NULL;
}

// The word at *at, which moves behind it and the blanks that follow.
static const char *next_word(target_reader *r, const char **at) {
  size_t length = strcspn(*at, " \t\r\n#=");
  const char *word = arena_copy(r->memory, *at, length);
  *at += length;
  *at += strspn(*at, " \t\r");
  return word;
}

static const char *read_line(target_reader *r, const char *at) {
  at += strspn(at, " \t\r");
  if (*at == '#' || *at == '\n' || !*at)
    return NULL;
  const char *name = next_word(r, &at), *value = "";
  bool equals = *at == '=';
  if (equals) {
    at++;
    at += strspn(at, " \t\r");
    value = next_word(r, &at);
  }
  if (!*name || !*value || (*at && *at != '\n' && *at != '#'))
    return arena_printf(r->memory, "line %zu: expected NAME = VALUE", r->line);
  return set_line(r, name, value);
}

target *target_read(arena *a, const char *string, const char **wrong) {
  target_reader r = {.memory = a, .target = NEW(a, target), .line = 1};
  *r.target = *target_named("avx512");
  r.target->name = "custom";
  for (*wrong = NULL; *string && !*wrong; r.line++) {
    *wrong = read_line(&r, string);
    string += strcspn(string, "\n");
    string += *string == '\n';
  }
  for (size_t i = 0; i < PLAN_FIELDS && !*wrong && !r.based; i++)
    if (!r.given[i])
      *wrong = arena_printf(a,
                            "there is no %s; give it, or the target that it is taken from, as "
                            "in: base = avx2",
                            fields[i].shown.name);
  return *wrong ? NULL : r.target;
}
