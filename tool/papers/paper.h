// The door of tool/papers: `permc paper NAME`, the tables of a paper, computed again, beside what
// the paper has.
//
//   in     the name of a paper (a row of papers.c), and how many trials its simulations take
//   out    its tables: cells with the published figure and ours, printed as text or JSON
//
// A CELL is one figure of a table. For example, of Table II of the RAP paper:
//
//   where                published   ours     tolerance
//   "RAS stride w=32"    3.53        3.5317   0.03        the simulation agrees
//   "3P stride1 w=32"    1           1        0           the paper says that it is exact: it is
//   "RAS stride2 w=32"   NAN         3.5290   -           a formula in the paper; see the note
//
// A cell DIFFERS if it is further from the published figure than its tolerance; docs/papers.md
// gives the reason for each that does. Figures that are shown beside each other without being
// comparable, such as averages over other programs, have the tolerance INFINITY.
//
// Seeds are fixed, so that the output is the same each time. Files: papers.c (the papers), paper.c
// (making tables and printing them), and one for each paper.
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
  arena *memory;
  const char *title;  // "Table II: ..."
  VEC(paper_cell) cells;
} paper_table;

typedef struct paper_tables {
  arena *memory;
  VEC(paper_table *) tables;
} paper_tables;

typedef struct paper {
  const char *name, *citation;
  // Adds its tables. Simulations take so many trials per cell, and the longest searches so many
  // steps; 0: as many as the paper's figures deserve.
  void (*reproduce)(paper_tables *out, uint64_t trials);
} paper;

// ---- the papers (papers.c) ---------------------------------------------------------------------

const paper *paper_at(size_t index);  // NULL after the last
const paper *paper_named(const char *name);

void paper_rap(paper_tables *out, uint64_t trials);
void paper_hash(paper_tables *out, uint64_t trials);
void paper_dmm(paper_tables *out, uint64_t trials);
void paper_hmm(paper_tables *out, uint64_t trials);
void paper_bmmc(paper_tables *out, uint64_t trials);

// Of Table IV, against R1P: the mean congestion, over so many permutations, of the paper's
// malicious access and of the one that a search of so many steps finds (which does not know them).
void paper_rap_malicious(arena *a, uint32_t w, uint64_t trials, uint64_t steps, double *papers,
                         double *found);

// ---- making tables -----------------------------------------------------------------------------

// Adds a table without cells.
paper_table *paper_add_table(paper_tables *to, const char *format, ...) PRINTF_LIKE(2, 3);
// Adds a cell, exact and without a note, to be changed before the next is added; `format`: where.
paper_cell *paper_add(paper_table *to, double published, double ours, const char *format, ...)
    PRINTF_LIKE(4, 5);
void paper_add_cells(paper_table *to, const paper_cell *cells, size_t count);
// How many subsets of k elements n elements have.
double paper_binomial(int n, int k);

// ---- showing them ------------------------------------------------------------------------------

bool paper_differs(const paper_cell *cell);
// Columns of text, and a last line that counts.
void paper_print(text *to, const paper *p, const paper_tables *tables);
// {"paper": "rap", "citation": "...", "tables": [{"title": "...", "cells": [{"where": "...",
//  "published": 3.53, "ours": 3.5317, "tolerance": 0.03, "differs": false, "note": null}, ...]}]};
// null where there is no figure, or no tolerance.
void paper_print_json(text *to, const paper *p, const paper_tables *tables);

#endif
