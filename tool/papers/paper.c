// The table of papers, and how their tables are shown. See paper.h.
#include "tool/papers/paper.h"

#include "tool/reports/json.h"

#include <stdio.h>
#include <strings.h>

// ---- the papers --------------------------------------------------------------------------------

static const paper papers[] = {
    {"rap",
     "K. Nakano, S. Matsumae, Y. Ito: Random Address Permute-Shift Technique for the Shared Memory "
     "on GPUs, 2014",
     paper_rap},
    {"hash",
     "G. J. van den Braak, J. Gomez-Luna, J. M. Gonzalez-Linares, H. Corporaal, N. Guil: "
     "Configurable XOR Hash Functions for Banked Scratchpad Memories in GPUs, IEEE Transactions on "
     "Computers 65(7), 2016",
     paper_hash},
    {"dmm", "K. Nakano: Simple Memory Machine Models for GPUs, 2012", paper_dmm},
    {"hmm",
     "A. Kasagi, K. Nakano, Y. Ito: An Optimal Offline Permutation Algorithm on the Hierarchical "
     "Memory Machine, with the GPU implementation, 2013",
     paper_hmm},
    {"bmmc",
     "M. Bouverot-Dupuis, M. Sheeran: Efficient GPU Implementation of Affine Index Permutations on "
     "Arrays, FHPNC 2023",
     paper_bmmc},
};

const paper *paper_at(size_t index) {
  return index < sizeof papers / sizeof *papers ? &papers[index] : NULL;
}

const paper *paper_named(const char *name) {
  for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
    if (strcasecmp(papers[i].name, name) == 0)
      return &papers[i];
  return NULL;
}

// ---- making tables -----------------------------------------------------------------------------

// Room for one more: lists double when their length is a power of two.
static void *grown(arena *a, void *items, size_t count, size_t size) {
  if (count & (count - 1))
    return items;
  char *more = arena_alloc(a, (count ? 2 * count : 1) * size);
  if (count)
    memcpy(more, items, count * size);
  return more;
}

paper_table *paper_add_table(arena *a, paper_tables *to, const char *format, ...) {
  text title = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&title, format, arguments);
  va_end(arguments);
  to->items = grown(a, to->items, to->count, sizeof *to->items);
  paper_table *t = &to->items[to->count++];
  *t = (paper_table){.title = arena_copy(a, text_content(&title), title.length)};
  text_free(&title);
  return t;
}

void paper_add(arena *a, paper_table *to, paper_cell cell) {
  to->cells = grown(a, to->cells, to->count, sizeof *to->cells);
  to->cells[to->count++] = cell;
}

// ---- text --------------------------------------------------------------------------------------

bool paper_differs(const paper_cell *c) {
  // What is printed with four digits agrees if it does in these.
  return !isnan(c->published) && !(fabs(c->ours - c->published) <= c->tolerance + 1e-9);
}

// In a column; `plus`: with its sign.
static void print_figure(text *to, double x, bool plus) {
  char digits[40];
  bool whole = x == floor(x);
  snprintf(digits, sizeof digits,
           fabs(x) < 1e9 ? plus ? "%+.*f" : "%.*f"
           : plus        ? "%+.*e"
                         : "%.*e",
           fabs(x) < 1e9 && whole ? 0
           : fabs(x) < 1e5        ? 4
                                  : 2,
           x);
  text_printf(to, "%14s", isnan(x) ? "" : digits);
}

static void print_table(text *to, const paper_table *t) {
  int width = 5;
  for (size_t i = 0; i < t->count; i++)
    width = (int)strlen(t->cells[i].where) > width ? (int)strlen(t->cells[i].where) : width;
  text_printf(to, "%s\n\n  %-*s%14s%14s%14s\n", t->title, width, "", "published", "ours",
              "deviation");
  for (size_t i = 0; i < t->count; i++) {
    const paper_cell *c = &t->cells[i];
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
  for (size_t i = 0; i < tables->count; i++)
    for (size_t k = 0; k < tables->items[i].count; k++) {
      const paper_cell *c = &tables->items[i].cells[k];
      *published += !isnan(c->published) && !isinf(c->tolerance);
      differ += paper_differs(c);
    }
  return differ;
}

void paper_print(text *to, const paper *p, const paper_tables *tables) {
  size_t published, differ = count_differing(tables, &published);
  text_printf(to, "%s\n\n", p->citation);
  for (size_t i = 0; i < tables->count; i++)
    print_table(to, &tables->items[i]);
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
  for (size_t i = 0; i < t->count; i++)
    json_array_append_new(cells, json_of_cell(&t->cells[i]));
  return json_pack("{s:o, s:o}", "title", report_string(t->title), "cells", cells);
}

void paper_print_json(text *to, const paper *p, const paper_tables *tables) {
  json_t *list = json_array();
  for (size_t i = 0; i < tables->count; i++)
    json_array_append_new(list, json_of_table(&tables->items[i]));
  report_print_json(to,
                    json_pack("{s:o, s:o, s:o}", "paper", report_string(p->name), "citation",
                              report_string(p->citation), "tables", list),
                    9, 2);
}
