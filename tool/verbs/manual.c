// The embedded pages, and the comments of the library. See manual.h.
#include "tool/verbs/manual.h"
#include "core/scalar/scalar.h"
#include "lang/load/stdlib.h"
#include <string.h>

static const char *line_end(const char *line) { return line + strcspn(line, "\n"); }

static const char *next_line(const char *line) {
  const char *end = line_end(line);
  return *end ? end + 1 : end;
}

static bool begins(const char *line, const char *prefix) {
  return !strncmp(line, prefix, strlen(prefix));
}

// ---- names -----------------------------------------------------------------------------------

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '\'' ||
         (c >= '0' && c <= '9');
}

static bool is_sign(char c) { return c && strchr("+-*/%<>=!&|~^.", c); }

// What a code span such as `x + y`, `(x \| y)`, `reduce op xs` or `x xor y` is about.
static const char *name_in(arena *a, const char *words, size_t length) {
  char *name = NEW_ARRAY(a, char, length + 1);
  size_t count = 0, i = 0;
  for (; i < length && (!count || is_sign(words[i]) || words[i] == '\\'); i++)
    if (is_sign(words[i]))
      name[count++] = words[i];
  for (i = 0; !count && i < length; i++) {
    while (i < length && is_letter(words[i]))
      name[count++] = words[i++];
    // A variable in front of a name.
    if (count == 1 && i < length)
      count = 0;
  }
  name[count] = 0;
  return name;
}

// ---- entries ---------------------------------------------------------------------------------

static void add_entry(arena *a, manual *m, const char *name, const char *section,
                      const char *header, const char *row) {
  const char *end = next_line(section);
  while (*end && !begins(end, "## ") && !begins(end, "### "))
    end = next_line(end);
  manual_entry e = {name, section, end, header, row, NULL, m->page};
  vec_push(a, &m->entries, e);
}

static const char *cell_end(const char *cell) {
  while (*cell && *cell != '\n' && (*cell != '|' || cell[-1] == '\\'))
    cell++;
  return cell;
}

// The code spans of a row's first cell.
static void add_row(arena *a, manual *m, const char *section, const char *header, const char *row) {
  const char *end = cell_end(row + 1);
  for (const char *p = row; (p = memchr(p, '`', (size_t)(end - p)));) {
    const char *close = memchr(p + 1, '`', (size_t)(end - p - 1));
    if (!close)
      return;
    add_entry(a, m, name_in(a, p + 1, (size_t)(close - p - 1)), section, header, row);
    p = close + 1;
  }
}

// | phases, exchanges |
static void add_words(arena *a, manual *m, const char *section, const char *header,
                      const char *row) {
  for (const char *p = row + 2, *end = cell_end(row + 1); p < end;) {
    size_t length = strcspn(p, ", |");
    add_entry(a, m, arena_copy(a, p, length), section, header, row);
    p += length + strspn(p + length, ", ");
  }
}

// ### parm, parmi
static void add_heading(arena *a, manual *m, const char *section) {
  for (const char *p = section + 4; *p && *p != '\n';) {
    size_t length = strcspn(p, ",\n");
    add_entry(a, m, arena_copy(a, p, length), section, NULL, NULL);
    p += length;
    p += *p == ',' ? 2 : 0;
  }
}

// The names of the section on files, which is of no function.
static void add_files(arena *a, manual *m, const char *section) {
  static const char *const names[] = {"formats", "format",  "files",     "file",    "csv",
                                      "table",   "tables",  "npy",       "numpy",   "txt",
                                      "text",    "futhark", "schedules", "schedule"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    add_entry(a, m, names[i], section, NULL, NULL);
}

// -- The first and the last element.             a group: a comment and the definitions below it,
// --   head [4, 5, 6] = 4                        up to the next one or a line of dashes
// head : []a -> a
// head xs = xs[0]
//
// last : []a -> a
//
// A comment that begins with -- == is a test block, and no group.
static void add_library(arena *a, manual *m, const struct embedded_file *file) {
  const char *comment = NULL;
  size_t group = m->entries.count;  // its first entry
  for (const char *line = file->text;; line = next_line(line)) {
    if (begins(line, "--")) {
      if (!comment || begins(line, "-- =="))
        comment = line;
      continue;
    }
    bool defines = is_letter(*line), first = defines && comment && !begins(comment, "-- ==");
    if (first || !*line || (comment && begins(comment, "-- ----"))) {
      for (; group < m->entries.count; group++)
        m->entries.items[group].end = first || comment ? comment : line;
    }
    if (!*line)
      return;
    const char *name = defines ? name_in(a, line, strcspn(line, " ")) : NULL;
    bool again = group < m->entries.count &&
                 !strcmp(m->entries.items[m->entries.count - 1].name, name ? name : "");
    if (defines && !again) {
      const char *section = first ? comment : m->entries.items[group].section;
      manual_entry e = {name, section, NULL, NULL, NULL, file, NULL};
      vec_push(a, &m->entries, e);
    }
    comment = NULL;
  }
}

// Whether code of the paragraph, between backticks, has the word.
static bool paragraph_has(const char *from, const char *end, const char *word) {
  size_t length = strlen(word);
  bool code = false;
  for (const char *p = from; p + length < end; p++) {
    code ^= *p == '`';
    if (code && !memcmp(p + 1, word, length) && !is_letter(*p) && !is_letter(p[length + 1]))
      return true;
  }
  return false;
}

static const char *paragraph_end(const char *line) {
  while (*line && *line != '\n')
    line = next_line(line);
  return line;
}

// Words of the syntax: of each, the first paragraph of a section that shows it.
static void add_syntax(arena *a, manual *m, const char *section) {
  static const char *const words[] = {"let",  "in",   "where",  "if",
                                      "then", "else", "import", "extern"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    bool code = false, found = false;
    const char *line = next_line(section);
    for (; *line && !found && !begins(line, "## "); line = next_line(line)) {
      code ^= begins(line, "```");
      const char *end = paragraph_end(line);
      if (code || *line == '\n' || *line == '|' || begins(line, "```"))
        continue;
      found = paragraph_has(line, end, words[i]);
      if (found)
        add_entry(a, m, words[i], section, NULL, line);
      while (next_line(line) < end)
        line = next_line(line);
    }
  }
}

// What names an entry of a section.
typedef enum section_kind { OTHER, SYNTAX, ROWS, HEADINGS, WORDS, FILES } section_kind;

static section_kind kind_of(const char *section) {
  static const struct {
    const char *heading;
    section_kind kind;
  } known[] = {{"## Source text\n", SYNTAX},           {"## Definitions and patterns\n", SYNTAX},
               {"## Expressions\n", SYNTAX},           {"## Scalar functions\n", ROWS},
               {"## Combinators\n", HEADINGS},         {"## Imports\n", SYNTAX},
               {"## C functions\n", SYNTAX},           {"## Test blocks\n", WORDS},
               {"## How a program will run\n", WORDS}, {"## Values and file formats\n", FILES}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins(section, known[i].heading))
      return known[i].kind;
  return OTHER;
}

static void add_page(arena *a, manual *m, const struct manual_file *page) {
  const char *section = NULL, *header = NULL;
  section_kind kind = OTHER;
  bool code = false;
  m->page = page;
  for (const char *line = page->text; *line; line = next_line(line)) {
    if (begins(line, "```"))
      code = !code;
    if (code)
      continue;
    if (begins(line, "## ")) {
      kind = kind_of(line);
      section = kind == WORDS ? line : NULL;
      if (kind == FILES)
        add_files(a, m, line);
      if (kind == SYNTAX)
        add_syntax(a, m, line);
    } else if ((kind == ROWS || kind == HEADINGS) && begins(line, "### ")) {
      section = line;
      if (kind == HEADINGS)
        add_heading(a, m, section);
      for (int t = 0; t <= SCALAR_COUNT && begins(line, "### Conversions\n"); t++)
        add_entry(a, m, t < SCALAR_COUNT ? scalar_types[t].name : "int", section, NULL, NULL);
    } else if ((kind == ROWS || kind == WORDS) && section && *line == '|') {
      if (begins(next_line(line), "|---"))
        header = line;
      else if (!begins(line, "|---"))
        (kind == ROWS || line[2] == '`' ? add_row : add_words)(a, m, section, header, line);
    }
  }
}

manual manual_read(arena *a) {
  manual m = {0};
  for (size_t i = 0; i < manual_file_count; i++)
    add_page(a, &m, &manual_files[i]);
  for (size_t i = 0; i < stdlib_file_count; i++)
    add_library(a, &m, &stdlib_files[i]);
  return m;
}

// ---- text ------------------------------------------------------------------------------------

// Without the marks of Markdown: `x` `y` is x, y; **x** is x; [text](#there) is text.
static void print_plain(text *out, const char *from, const char *end) {
  bool code = false, link = false;
  for (const char *p = from; p < end; p++) {
    const char *close = code ? NULL : memchr(p, ']', (size_t)(end - p));
    if (*p == '`') {
      code = !code;
      if (!code && end - p > 2 && !memcmp(p, "` `", 3))
        text_string(out, ",");
    } else if (*p == '[' && close && close[1] == '(') {
      link = true;
    } else if (*p == ']' && link && !code) {
      p = memchr(p, ')', (size_t)(end - p));
      link = false;
      if (!p)
        return;
    } else if (!code && begins(p, "**")) {
      p++;
    } else if (*p != '\\' || p[1] != '|') {
      text_add(out, p, 1);
    }
  }
}

static void print_cell(text *out, const char *cell) {
  const char *end = cell_end(cell);
  while (cell < end && *cell == ' ')
    cell++;
  while (end > cell && end[-1] == ' ')
    end--;
  print_plain(out, cell, end);
}

// "reduce op xs : (a -> a -> a) -> [2^n]a -> a", and the other columns below.
static void print_row(text *out, const manual_entry *e) {
  const char *title = e->header + 1, *cell = e->row + 1;
  print_cell(out, cell);
  for (int column = 1;; column++) {
    title = cell_end(title) + 1;
    cell = cell_end(cell) + 1;
    if (cell_end(cell) == line_end(cell))
      break;
    text heading = {0};
    print_cell(&heading, title);
    bool type = column == 1 && !strcmp(text_content(&heading), "type");
    if (type)
      text_string(out, " : ");
    else
      text_printf(out, heading.length && (column == 1 || heading.length > 9) ? "\n  %s: " : "\n  ",
                  text_content(&heading));
    text_free(&heading);
    print_cell(out, cell);
  }
  text_string(out, "\n");
}

// The section up to its first program; of one with tables, its first paragraph.
static void print_prose(text *out, const manual_entry *e) {
  bool code = false;
  const char *line = next_line(next_line(e->section));
  for (; line < e->end && !begins(line, "```perm") && !(e->row && *line == '|');
       line = next_line(line)) {
    if (begins(line, "```"))
      code = !code;
    else if (begins(line, "|---"))
      continue;
    else if (code)
      text_add(out, line, (size_t)(next_line(line) - line));
    else
      print_plain(out, line, next_line(line));
  }
}

// ---- examples --------------------------------------------------------------------------------

// Whether the line uses the name, as a whole word or operator.
static bool line_uses(const char *line, const char *name) {
  size_t length = strlen(name), all = (size_t)(line_end(line) - line);
  bool (*same_kind)(char) = is_letter(*name) ? is_letter : is_sign;
  for (size_t i = 0; i + length <= all; i++)
    if (!memcmp(line + i, name, length) && !(i && same_kind(line[i - 1])) &&
        !same_kind(line[i + length]))
      return true;
  return false;
}

// The first definition between the two places, with its signature and test block, whose equations
// use the name; with `anywhere`, whose signature or test block does.
static bool print_example(text *out, const char *name, const char *from, const char *end,
                          bool anywhere) {
  for (const char *line = from; line < end; line = next_line(line)) {
    if (!begins(line, "```perm"))
      continue;
    const char *first = line = next_line(line);
    for (bool found = false; line < end; line = next_line(line)) {
      bool last = begins(line, "```");
      if (*line != '\n' && !last) {
        const char *colon = strstr(line, " : ");
        bool code = !begins(line, "--") && !(colon && colon < line_end(line));
        found |= (code || anywhere) && line_uses(line, name);
        continue;
      }
      if (found) {
        text_string(out, "\nexample:\n");
        for (; first < line; first = next_line(first))
          text_printf(out, "  %.*s\n", (int)(line_end(first) - first), first);
        return true;
      }
      if (last)
        break;
      first = next_line(line);
    }
  }
  return false;
}

// The signatures of a group, and its comment, which has examples.
static void print_group(text *out, const manual_entry *e) {
  const char *comment_end = e->section;
  while (begins(comment_end, "--"))
    comment_end = next_line(comment_end);
  for (const char *line = comment_end; line < e->end; line = next_line(line)) {
    const char *space = line + strcspn(line, " \n");
    if (is_letter(*line) && begins(space, " : "))
      text_add(out, line, (size_t)(next_line(line) - line));
  }
  text_string(out, "\n");
  for (const char *line = e->section; line < comment_end; line = next_line(line)) {
    const char *said = line + (begins(line, "-- ") ? 3 : 2);
    text_add(out, said, (size_t)(next_line(line) - said));
  }
  text_printf(out, "\nfrom %s\n", e->file->name);
}

bool manual_is_syntax(const manual_entry *e) { return e->row && !e->header; }

bool manual_print(text *out, const manual *m, const char *name) {
  const char *section = NULL;
  for (size_t i = 0; i < m->entries.count; i++) {
    const manual_entry *e = &m->entries.items[i];
    if (strcmp(e->name, name) || e->section == section)
      continue;
    if (section)
      text_string(out, "\n");
    section = e->section;
    if (e->file) {
      print_group(out, e);
      continue;
    }
    if (e->header) {
      print_row(out, e);
      text_string(out, "\n");
    }
    if (manual_is_syntax(e))
      print_plain(out, e->row, paragraph_end(e->row));
    else
      print_prose(out, e);
    while (out->length > 1 && out->data[out->length - 1] == '\n' &&
           out->data[out->length - 2] == '\n')
      out->data[--out->length] = 0;
    const char *all = e->page->text, *end = all + e->page->length;
    bool function = begins(section, "### ");
    bool shown = (!function && !manual_is_syntax(e)) ||
                 print_example(out, name, section, e->end, false) || !function ||
                 print_example(out, name, section, e->end, true) ||
                 print_example(out, name, all, end, false);
    if (!shown)
      print_example(out, name, all, end, true);
    const char *title = section + strspn(section, "# ");
    text_printf(out, "\nfrom docs/%s, %.*s\n", strrchr(e->page->name, '/') + 1,
                (int)(line_end(title) - title), title);
  }
  return section;
}
