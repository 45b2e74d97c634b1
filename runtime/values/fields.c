// Fields: the columns of a table and the fields of a structured .npy. Their names, the choice among
// them that stands behind a file's name (-i data.csv:price,0), and the names that are written.
#include "core/hash.h"
#include "runtime/values/formats.h"

static const char plain_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

// ---- reading ----------------------------------------------------------------------------------

bool fields_add(value_source *s, const char *name, size_t length) {
  field_list *f = &s->fields;
  if (!memory_grow(&f->names, sizeof *f->names, f->width, &f->capacity))
    return source_fail(s, "out of memory");
  f->names[f->width] = strndup(name, length);
  return f->names[f->width++] || (f->width--, source_fail(s, "out of memory"));
}

void fields_add_csv_name(text *to, const char *name) {
  size_t length = strlen(name);
  bool plain = length > 0 && !strpbrk(name, ",;\t\"\r\n") && name[0] != '#' && name[0] != ' ' &&
               name[length - 1] != ' ';
  text_string(to, plain ? "" : "\"");
  for (; *name; name++)
    text_string(to, *name == '"' ? "\"\"" : (const char[]){*name, 0});
  text_string(to, plain ? "" : "\"");
}

const char *fields_list(const value_source *s, char out[FIELD_LIST_SIZE]) {
  FREED_BY(text_free) text names = {0}, shown = {0};
  for (size_t i = 0; i < s->fields.width; i++) {
    text_string(&names, i ? ", " : "");
    if (names.length > FIELD_LIST_SIZE - 60) {
      text_string(&names, "...");
      break;
    }
    char name[50];
    snprintf(name, sizeof name, "%s", s->fields.names[i]);
    fields_add_csv_name(&names, name);
  }
  text_shown(&shown, text_content(&names), names.length);
  snprintf(out, FIELD_LIST_SIZE, "%s", text_content(&shown));
  for (char *c = out; *c; c++)
    *c = *c == '\n' || *c == '\t' ? '?' : *c;  // one line
  return out;
}

// The number of the field `name`: a name, else a number from 0.
static bool find_field(value_source *s, const char *name, size_t length, size_t *field) {
  field_list *f = &s->fields;
  for (*field = 0; f->names && *field < f->width; ++*field)
    if (strlen(f->names[*field]) == length && memcmp(f->names[*field], name, length) == 0)
      return f->by_name = true;
  char *end = NULL;
  *field = *name >= '0' && *name <= '9' ? (size_t)strtoull(name, &end, 10) : f->width;
  return *field < f->width && end == name + length;
}

// The first field of that name that is not `field`, or the width.
static size_t other_of_name(const field_list *f, size_t field) {
  size_t i = 0;
  while (i < f->width && (i == field || strcmp(f->names[i], f->names[field]) != 0))
    i++;
  return i;
}

// A name that two have says of neither that it is meant.
static bool is_only_one(value_source *s, const char *name, size_t length, size_t field) {
  const char *own = s->fields.names ? s->fields.names[field] : "";
  bool by_name = strlen(own) == length && memcmp(own, name, length) == 0;
  size_t other = by_name ? other_of_name(&s->fields, field) : s->fields.width;
  return other == s->fields.width ||
         source_fail(s, "columns %zu and %zu are both called '%.60s'; choose by number", field,
                     other, own);
}

static bool fail_unknown_field(value_source *s, const char *name, size_t length) {
  char list[FIELD_LIST_SIZE];
  const char *what = s->table ? "column" : "field";
  int shown = length < 60 ? (int)length : 60;
  if (!s->fields.width)
    return source_fail(s, "there is no column '%.*s': the table is empty", shown, name);
  if (s->fields.names)
    return source_fail(s, "there is no %s '%.*s'; there is %s", what, shown, name,
                       fields_list(s, list));
  return source_fail(s, "there is no %s '%.*s': the table has no header, and %s%zu", what, shown,
                     name,
                     s->fields.width > 1 ? "its columns are called 0 to " : "its column is called ",
                     s->fields.width - 1);
}

bool fields_choose(value_source *s) {
  field_list *f = &s->fields;
  size_t most = f->width;
  for (const char *c = s->columns ? s->columns : ""; *c; c++)
    most += *c == ',';
  f->wanted = malloc((most + 1) * sizeof *f->wanted);
  if (!f->wanted)
    return source_fail(s, "out of memory");
  if (s->columns && find_field(s, s->columns, strlen(s->columns), f->wanted)) {
    f->count = 1;  // its name may have commas
    return is_only_one(s, s->columns, strlen(s->columns), *f->wanted);
  }
  for (; !s->columns && f->count < f->width; f->count++)
    f->wanted[f->count] = f->count;
  for (const char *name = s->columns; name; f->count++) {
    size_t length = strcspn(name, ",");
    if (!find_field(s, name, length, &f->wanted[f->count]))
      return fail_unknown_field(s, name, length);
    if (!is_only_one(s, name, length, f->wanted[f->count]))
      return false;
    name = name[length] ? name + length + 1 : NULL;
  }
  return true;
}

bool fields_expect_none(value_source *s) {
  return !s->columns || source_fail(s,
                                    "this is one array, which has no fields to choose from; leave "
                                    "out ':%.60s'",
                                    s->columns);
}

void fields_next(value_source *s) {
  field_list *f = &s->fields;
  const char *name = f->names ? f->names[f->wanted[f->next]] : "";
  s->name_read = *name ? name : NULL;
  f->next++;
}

const char *value_name(const value_source *s) { return s->name_read; }

// Names where a shell takes them as they are, else numbers.
void value_print_fields(text *out, const value_source *s, size_t count) {
  enum { SHOWN = 4 };
  bool standard = strcmp(s->name, "standard input") == 0;
  for (size_t i = 0; i < count && i < s->fields.count; i++) {
    if (i == SHOWN) {
      text_string(out, " ...");
      break;
    }
    size_t field = s->fields.wanted[i];
    const char *name = s->fields.names ? s->fields.names[field] : "";
    FREED_BY(text_free) text word = {0};
    text_printf(&word, "%s:", standard ? "FILE" : s->name);
    if (*name && strlen(name) < 40 && name[strspn(name, plain_characters)] == 0 &&
        other_of_name(&s->fields, field) == s->fields.width)
      text_string(&word, name);
    else
      text_printf(&word, "%zu", field);
    text_string(out, i ? " -i " : "-i ");
    text_shell_word(out, text_content(&word));
    out->failed |= word.failed;
  }
}

// ---- writing ----------------------------------------------------------------------------------

// A set of names, by their hashes.
typedef struct name_set {
  const char **slots;  // NULL: free
  size_t mask;
} name_set;

static bool add_to_set(name_set *set, const char *name) {
  size_t at = (size_t)hash_bytes(name, strlen(name)) & set->mask;
  for (; set->slots[at]; at = (at + 1) & set->mask)
    if (strcmp(set->slots[at], name) == 0)
      return false;
  set->slots[at] = name;
  return true;
}

void names_free(char **names, size_t count) {
  for (size_t i = 0; names && i < count; i++)
    free(names[i]);
  free(names);
}

// The name of component i, with numbers behind it until there is no other of that name.
static char *make_unique_name(name_set *set, const permc_value *v, size_t i, const char *prefix) {
  text name = {0};
  if (v->names && v->names[i])
    text_string(&name, v->names[i]);
  else
    text_printf(&name, "%s%zu", prefix, i);
  while (!name.failed && !add_to_set(set, name.data))
    text_printf(&name, "_%zu", i);
  if (name.failed)
    text_free(&name);
  return name.data;
}

char **names_written(const permc_value *v, const char *prefix) {
  name_set set = {.mask = 7};
  while (set.mask < 2 * v->count)
    set.mask = 2 * set.mask + 1;
  set.slots = calloc(set.mask + 1, sizeof *set.slots);
  char **names = set.slots ? calloc(v->count + 1, sizeof *names) : NULL;
  bool good = names != NULL;
  for (int unnamed = 0; unnamed < 2; unnamed++)  // whose names take none of the others'
    for (size_t i = 0; good && i < v->count; i++)
      if (unnamed == !(v->names && v->names[i]))
        good = (names[i] = make_unique_name(&set, v, i, prefix)) != NULL;
  free(set.slots);
  if (good)
    return names;
  names_free(names, v->count);
  return NULL;
}
