// The papers' tables: every published figure is met, with fewer trials than `permc paper` takes and
// so much more tolerance.
#include "tests/test.h"
#include "tool/papers/paper.h"
#include <jansson.h>

static arena memory;

static paper_tables tables_of(const char *name, uint64_t trials) {
  paper_tables t = {.memory = &memory};
  paper_named(name)->reproduce(&t, trials);
  return t;
}

static const paper_table *table_named(const paper_tables *t, const char *beginning) {
  for (size_t i = 0; i < t->tables.count; i++)
    if (strncmp(t->tables.items[i]->title, beginning, strlen(beginning)) == 0)
      return t->tables.items[i];
  return NULL;
}

static const paper_cell nowhere = {"nowhere", NAN, NAN, 0, NULL};

static const paper_cell *cell_at(const paper_table *t, const char *where) {
  for (size_t i = 0; t && i < t->cells.count; i++)
    if (strcmp(t->cells.items[i].where, where) == 0)
      return &t->cells.items[i];
  printf("there is no cell '%s'\n", where);
  CHECK(false);
  return &nowhere;
}

// A figure without tolerance is exact. A mean of 1000 congestions, each at most 1 from their mean
// as a rule, is within 4 of its standard errors, 0.13, of what 10^5 of them have.
static void check_cells(const paper_table *t, double more) {
  for (size_t i = 0; i < t->cells.count; i++) {
    paper_cell c = t->cells.items[i];
    c.tolerance += c.tolerance > 0 ? more : 0;
    if (!CHECK(!paper_differs(&c)))
      printf("%s: %s: %g, published %g\n", t->title, c.where, c.ours, c.published);
  }
}

// RAP paper, Tables II to IV.
TEST(rap) {
  paper_tables t = tables_of("rap", 1000);
  REQUIRE(t.tables.count == 4);
  CHECK_EQ_U64(t.tables.items[0]->cells.count, 60);
  CHECK_EQ_U64(t.tables.items[1]->cells.count, 18);
  for (size_t i = 0; i < t.tables.count; i++)
    check_cells(t.tables.items[i], 0.1);
  const paper_table *four = table_named(&t, "Table IV at w = 32");
  CHECK_EQ_U64(cell_at(four, "R1P stride3")->ours, 1);
  CHECK_EQ_U64(cell_at(four, "1P malicious, searched")->ours, 32);
  CHECK(isnan(cell_at(four, "3P random")->published));
  CHECK_CONTAINS(cell_at(four, "3P random")->note, "95 % +-0.0");
  CHECK_CONTAINS(cell_at(four, "3P random")->note, " log w / log log w");
}

// The search finds accesses that are at least as bad as the paper's: their means, over permutations
// that it has not seen, are within 0.02 of what they would be over all.
TEST(rap_malicious) {
  for (uint32_t w = 16; w <= 32; w *= 2) {
    double papers, found;
    paper_rap_malicious(&memory, w, 50000, 10000, &papers, &found);
    if (!CHECK(found > papers - 0.04 && papers > (w == 16 ? 6.7 : 7.8)))
      printf("w = %u: found %.3f, the paper's %.3f\n", w, found, papers);
  }
}

// DMM/UMM and HMM papers: every figure, by execution. Of one random permutation there is no minimum
// as of a thousand: it is as far from it as the paper's maximum.
TEST(machines) {
  paper_tables dmm = tables_of("dmm", 0), hmm = tables_of("hmm", 1);
  for (size_t i = 0; i < dmm.tables.count; i++)
    check_cells(dmm.tables.items[i], 0);
  for (size_t i = 0; i < hmm.tables.count; i++)
    check_cells(hmm.tables.items[i], 3);
  CHECK_EQ_U64(cell_at(table_named(&dmm, "Figure 4"), "UMM")->ours, 7);
  CHECK(cell_at(table_named(&hmm, "Table III"), "minimum")->ours > 99980);
}

// Hash paper; nothing is random. Of its Table 5 one row leaves conflicts (docs/papers.md).
TEST(hash) {
  paper_tables t = tables_of("hash", 0);
  size_t differ = 0;
  for (size_t i = 0; i < t.tables.count; i++)
    for (size_t k = 0; k < t.tables.items[i]->cells.count; k++)
      if (paper_differs(&t.tables.items[i]->cells.items[k])) {
        differ++;
        CHECK_STR(t.tables.items[i]->cells.items[k].where,
                  "Walsh transform of 2048, bitwise-xor-mih");
      }
  CHECK_EQ_U64(differ, 1);
  CHECK_EQ_U64(cell_at(table_named(&t, "Section 5.1"), "combinations")->ours, 188);
  CHECK_EQ_U64(cell_at(table_named(&t, "Figure 6"), "bit 2")->ours, 4);
  CHECK_EQ_U64(cell_at(table_named(&t, "Table 1"), "bit-vector XOR functions")->ours, 4480);
  const paper_table *six = table_named(&t, "Table 6");
  CHECK(cell_at(six, "bitwise-xor-mih")->ours >= 97);
  CHECK(cell_at(six, "bit-vector-xor")->ours >= 96);
  const paper_table *all = table_named(&t, "Bank conflicts with each hash");
  static const char *const programs[] = {"transpose 16x16", "transpose 32x32", "reduction of 256",
                                         "Walsh transform of 2048"};
  for (size_t i = 0; i < 4; i++) {
    char where[80];
    snprintf(where, sizeof where, "%s, bitwise-xor-mih", programs[i]);
    CHECK_EQ_U64(cell_at(all, where)->ours, 0);
    snprintf(where, sizeof where, "%s, bit-vector-xor", programs[i]);
    CHECK_EQ_U64(cell_at(all, where)->ours, 0);
    snprintf(where, sizeof where, "%s, optimal", programs[i]);
    CHECK_EQ_U64(cell_at(all, where)->ours, 0);
  }
}

// BMMC paper: all but that naive kernels of any matrix are one, without factors (docs/papers.md).
TEST(bmmc) {
  paper_tables t = tables_of("bmmc", 2);
  size_t differ = 0;
  for (size_t i = 0; i < t.tables.count; i++)
    for (size_t k = 0; k < t.tables.items[i]->cells.count; k++)
      if (paper_differs(&t.tables.items[i]->cells.items[k])) {
        differ++;
        CHECK_STR(t.tables.items[i]->cells.items[k].where, "naive, random BMMC");
      }
  CHECK_EQ_U64(differ, 1);
  const paper_table *kernels = table_named(&t, "Sections 4 and 5");
  CHECK_EQ_U64(cell_at(kernels, "tile+banks, random BMMC")->ours, 2);
  CHECK_EQ_U64(cell_at(kernels, "ulp, random BMMC")->ours, 2);
  CHECK_EQ_U64(cell_at(kernels, "onepass, random BMMC")->ours, 1);
  CHECK_EQ_U64(cell_at(kernels, "words that none of them puts in their places")->ours, 0);
  const paper_table *segments = table_named(&t, "Sections 4.1 and 6: segments");
  CHECK_EQ_U64(cell_at(segments, "naive, bit reversal: writes")->ours, 32);
  CHECK_EQ_U64(cell_at(segments, "onepass, random BMMC: writes")->ours, 1);
  const paper_table *turns = table_named(&t, "Section 4.2");
  CHECK_EQ_U64(cell_at(turns, "tile, bit reversal: gets")->ours, 32);
  CHECK_EQ_U64(cell_at(turns, "tile, random BMMC: gets")->ours, 32);
  CHECK_EQ_U64(cell_at(turns, "tile+banks, random BMMC: gets")->ours, 1);
  CHECK_EQ_U64(cell_at(turns, "tile, random BPC: those with 2^(5 - n_over) per get")->ours, 2);
  const paper_table *sorter = table_named(&t, "Section 7");
  CHECK_EQ_U64(cell_at(sorter, "columns of 2^24")->ours, 300);
  CHECK_EQ_U64(cell_at(sorter, "permutations that are left of 2^24")->ours, 0);
}

// ---- showing them ------------------------------------------------------------------------------

static paper_tables example(void) {
  paper_tables t = {.memory = &memory};
  paper_table *one = paper_add_table(&t, "Table %d: an example", 1);
  paper_add(one, 32, 32, "exact");
  paper_cell *near = paper_add(one, 3.53, 3.5316, "near");
  near->tolerance = 0.03;
  near->note = "95 % +-0.0046";
  paper_add(one, 3.53, 3.6, "far");
  paper_add(one, NAN, 1, "no figure");
  paper_add(one, 86, 99.8, "others")->tolerance = INFINITY;
  paper_add(one, 1.2e21, 1.1806e21, "large")->tolerance = 0.05e21;
  return t;
}

TEST(text_of_tables) {
  static const paper p = {"example", "A paper", NULL};
  paper_tables t = example();
  text out = {0};
  paper_print(&out, &p, &t);
  CHECK_STR(out.data, "A paper\n\n"
                      "Table 1: an example\n\n"
                      "                published          ours     deviation\n"
                      "  exact                32            32            +0\n"
                      "  near             3.5300        3.5316       +0.0016  95 % +-0.0046\n"
                      "* far              3.5300        3.6000       +0.0700\n"
                      "  no figure                           1\n"
                      "  others               86       99.8000      +13.8000\n"
                      "  large          1.20e+21      1.18e+21     -1.94e+19\n"
                      "\n"
                      "4 published figures, 1 of them differ by more than their tolerance (*)\n");
  text_free(&out);
}

TEST(json_of_tables) {
  static const paper p = {"example", "A \"paper\"", NULL};
  paper_tables t = example();
  text out = {0};
  paper_print_json(&out, &p, &t);
  json_t *all = json_loads(text_content(&out), 0, NULL);
  text_free(&out);
  REQUIRE(all != NULL);
  CHECK_STR(json_string_value(json_object_get(all, "citation")), "A \"paper\"");
  const json_t *table = json_array_get(json_object_get(all, "tables"), 0);
  const json_t *cells = json_object_get(table, "cells"), *cell = json_array_get(cells, 2);
  CHECK_STR(json_string_value(json_object_get(cell, "where")), "far");
  CHECK(json_is_true(json_object_get(cell, "differs")));
  CHECK(json_number_value(json_object_get(cell, "ours")) == 3.6);
  CHECK(json_is_null(json_object_get(json_array_get(cells, 3), "published")));
  json_decref(all);
}

int main(int argc, char **argv) {
  int status = test_main(argc, argv);
  arena_free(&memory);
  return status;
}
