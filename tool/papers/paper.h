// `permc paper NAME`: the tables of a paper, computed again, beside what the paper has.
//
// A CELL is one figure of a table. For example, of Table II of the RAP paper:
//
//   where                published   ours     tolerance
//   "RAS stride w=32"    3.53        3.5317   0.03        the simulation agrees
//   "3P stride1 w=32"    1           1        0           what is said to be exact is
//   "RAS stride2 w=32"   NAN         3.5290   -           a formula there: the note has the rest
//
// A cell DIFFERS if it is further from the published figure than its tolerance; docs/papers.md says
// why for each that does. Figures that are shown beside each other without being comparable, such
// as averages over other programs, have the tolerance INFINITY.
//
// A paper is a row of a table in paper.c, with a function that makes its tables, in paper_<name>.c.
// Seeds are fixed, so that the output is the same each time.
#ifndef PERMC_TOOL_PAPERS_PAPER_H
#define PERMC_TOOL_PAPERS_PAPER_H

#include "core/text.h"

#include <math.h>

typedef struct paper_cell {
  const char *where;
  double published;  // NAN: no figure
  double ours;
  double tolerance;
  const char *note;  // one line, or NULL
} paper_cell;

typedef struct paper_table {
  const char *title;  // "Table II: ..."
  size_t count;
  paper_cell *cells;
} paper_table;

typedef struct paper_tables {
  size_t count;
  paper_table *items;
} paper_tables;

typedef struct paper {
  const char *name, *citation;
  // Adds its tables. Simulations take so many trials per cell, and the longest searches so many
  // steps; 0: as many as the paper's figures deserve.
  void (*reproduce)(arena *a, uint64_t trials, paper_tables *out);
} paper;

// ---- the papers --------------------------------------------------------------------------------

const paper *paper_at(size_t index);  // NULL behind the last
const paper *paper_named(const char *name);

void paper_rap(arena *a, uint64_t trials, paper_tables *out);
void paper_hash(arena *a, uint64_t trials, paper_tables *out);
void paper_dmm(arena *a, uint64_t trials, paper_tables *out);
void paper_hmm(arena *a, uint64_t trials, paper_tables *out);
void paper_bmmc(arena *a, uint64_t trials, paper_tables *out);

// Of Table IV, against R1P: the mean congestion, over so many permutations, of the paper's
// malicious access and of the one that a search of so many steps finds (which does not know them).
void paper_rap_malicious(arena *a, uint32_t w, uint64_t trials, uint64_t steps, double *papers,
                         double *found);

// ---- making tables -----------------------------------------------------------------------------

// Adds a table without cells; it is valid until the next is added.
paper_table *paper_add_table(arena *a, paper_tables *to, const char *format, ...) PRINTF_LIKE(3, 4);
void paper_add(arena *a, paper_table *to, paper_cell cell);

// ---- showing them ------------------------------------------------------------------------------

bool paper_differs(const paper_cell *cell);
// Columns of text, and a last line that counts.
void paper_print(text *to, const paper *p, const paper_tables *tables);
// {"paper": "rap", "citation": "...", "tables": [{"title": "...", "cells": [{"where": "...",
//  "published": 3.53, "ours": 3.5317, "tolerance": 0.03, "differs": false, "note": null}, ...]}]};
// null where there is no figure, or no tolerance.
void paper_print_json(text *to, const paper *p, const paper_tables *tables);

#endif
