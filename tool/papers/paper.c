// Making tables, and printing them. See paper.h.
#include "tool/papers/paper.h"

#include "tool/reports/json.h"

// ---- making tables -----------------------------------------------------------------------------

static const char *format_text(arena *a, const char *format, va_list arguments) {
  text t = {0};
  text_vprintf(&t, format, arguments);
  return arena_text(a, &t);
}

paper_table *paper_add_table(paper_tables *to, const char *format, ...) {
  paper_table *t = NEW(to->memory, paper_table);
  t->memory = to->memory;
  WITH_ARGUMENTS(format, t->title = format_text(to->memory, format, arguments));
  vec_push(to->memory, &to->tables, t);
  return t;
}

paper_cell *paper_add(paper_table *to, double published, double ours, const char *format, ...) {
  paper_cell cell = {NULL, published, ours, 0, NULL};
  WITH_ARGUMENTS(format, cell.where = format_text(to->memory, format, arguments));
  vec_push(to->memory, &to->cells, cell);
  return &to->cells.items[to->cells.count - 1];
}

void paper_add_cells(paper_table *to, const paper_cell *cells, size_t count) {
  for (size_t i = 0; i < count; i++)
    vec_push(to->memory, &to->cells, cells[i]);
}

double paper_binomial(int n, int k) {
  double count = 1;
  for (int i = 1; i <= k; i++)
    count = count * (n - k + i) / i;
  return count;
}

// ---- text --------------------------------------------------------------------------------------

bool paper_differs(const paper_cell *c) {
  // What is printed with four digits agrees if it does in these.
  return !isnan(c->published) && !(fabs(c->ours - c->published) <= c->tolerance + 1e-9);
}

// In a column; `plus`: with its sign.
static void print_figure(text *to, double x, bool plus) {
  bool large = fabs(x) >= 1e9, whole = !large && x == floor(x);
  const char *format = large ? plus ? "%+14.*e" : "%14.*e" : plus ? "%+14.*f" : "%14.*f";
  if (isnan(x))
    text_printf(to, "%14s", "");
  else
    text_printf(to, format, whole ? 0 : fabs(x) < 1e5 ? 4 : 2, x);
}

static void print_table(text *to, const paper_table *t) {
  int width = 5;
  for (size_t i = 0; i < t->cells.count; i++) {
    int length = (int)strlen(t->cells.items[i].where);
    width = length > width ? length : width;
  }
  text_printf(to, "%s\n\n  %-*s%14s%14s%14s\n", t->title, width, "", "published", "ours",
              "deviation");
  for (size_t i = 0; i < t->cells.count; i++) {
    const paper_cell *c = &t->cells.items[i];
    text_printf(to, "%c %-*s", paper_differs(c) ? '*' : ' ', width, c->where);
    print_figure(to, c->published, false);
    print_figure(to, c->ours, false);
    print_figure(to, c->ours - c->published, true);
    text_printf(to, "%s%s", c->note ? "  " : "", c->note ? c->note : "");
    while (to->length && to->data[to->length - 1] == ' ')
      to->data[--to->length] = 0;
    text_string(to, "\n");
  }
  text_string(to, "\n");
}

static size_t count_differing(const paper_tables *tables, size_t *published) {
  size_t differ = 0;
  *published = 0;
  for (size_t i = 0; i < tables->tables.count; i++)
    for (size_t k = 0; k < tables->tables.items[i]->cells.count; k++) {
      const paper_cell *c = &tables->tables.items[i]->cells.items[k];
      *published += !isnan(c->published) && !isinf(c->tolerance);
      differ += paper_differs(c);
    }
  return differ;
}

void paper_print(text *to, const paper *p, const paper_tables *tables) {
  size_t published, differ = count_differing(tables, &published);
  text_printf(to, "%s\n\n", p->citation);
  for (size_t i = 0; i < tables->tables.count; i++)
    print_table(to, tables->tables.items[i]);
  text_printf(to, "%zu published figures, %zu of them differ by more than their tolerance%s\n",
              published, differ, differ ? " (*)" : "");
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t *json_of_cell(const paper_cell *c) {
  return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "where", report_string(c->where), "published",
                   report_number(c->published), "ours", report_number(c->ours), "tolerance",
                   report_number(isnan(c->published) ? NAN : c->tolerance), "differs",
                   paper_differs(c), "note", c->note ? report_string(c->note) : json_null());
}

static json_t *json_of_table(const paper_table *t) {
  json_t *cells = json_array();
  for (size_t i = 0; i < t->cells.count; i++)
    json_array_append_new(cells, json_of_cell(&t->cells.items[i]));
  return json_pack("{s:o, s:o}", "title", report_string(t->title), "cells", cells);
}

void paper_print_json(text *to, const paper *p, const paper_tables *tables) {
  json_t *list = json_array();
  for (size_t i = 0; i < tables->tables.count; i++)
    json_array_append_new(list, json_of_table(tables->tables.items[i]));
  report_print_json(to,
                    json_pack("{s:o, s:o, s:o}", "paper", report_string(p->name), "citation",
                              report_string(p->citation), "tables", list),
                    9, 2);
}
