// The table of strategies. See plan.h.
#include "fusion/plan/planning.h"

// Strategies for schedules are of the routine permute, which has no tiles here: by name they are
// rows of kernels/routines/permute/permute.h.
static pass_tiles *routine_alone(planning *p) {
  (void)p;
  return NULL;
}

// Networks: how ops are grouped into passes; the cheaper plan wins. Permutations: the kernels of
// the BMMC paper (sections 4 and 5) stand beside our own; see plan/moves.c for what they are made
// of.
// clang-format off
static const strategy_row rows[] = {
    {{"free", "networks: the fewest passes, any layout between them", false},
     plan_free_layouts, true, WHOLE, false, -1, EXCHANGE_FREE},
    {{"greedy", "networks: each pass takes ops while they fit beside the lines of the index", false},
     plan_in_index_layout, true, WHOLE, false, -1, EXCHANGE_FREE},
    {{"onepass", "permutations: one pass for any matrix, its tile any subspace", true},
     plan_one_pass, true, WHOLE, false, -1, EXCHANGE_FREE},
    {{"online", "permutations: as onepass, by a kernel that is told the matrix when it runs", true},
     plan_one_pass, false, APART, false, -1, EXCHANGE_FREE},
    {{"ulp", "permutations: two passes by the factors U R and R L P, each as onepass", true},
     plan_one_pass, false, FACTORED, false, -1, EXCHANGE_FREE},
    {{"naive", "permutations: reads lines, writes elements where they go", true},
     plan_load_lines, false, WHOLE, true, 0, EXCHANGE_NONE},
    {{"tile", "permutations: tiles of 32 x 32 through scratch memory; two passes if need be", true},
     plan_unit_tile, false, TILED, true, 0, EXCHANGE_RAW},
    {{"tile+banks", "permutations: as tile, without bank conflicts", true},
     plan_unit_tile, false, TILED, true, 0, EXCHANGE_FREE},
    {{"tile+banks+iters", "permutations: as tile+banks, 8 tiles for each block of threads", true},
     plan_unit_tiles, false, TILED, true, 3, EXCHANGE_FREE},
    {{"d-designated", "schedules on a GPU: element i is written to place p(i)", false},
     routine_alone, false, WHOLE, false, -1, EXCHANGE_FREE},
    {{"s-designated", "schedules on a GPU: element q(i) is read, q the inverse of p", false},
     routine_alone, false, WHOLE, false, -1, EXCHANGE_FREE},
    {{"scheduled", "schedules on a GPU: the five kernels of the HMM paper, without conflicts", false},
     routine_alone, false, WHOLE, false, -1, EXCHANGE_FREE},
    {{"tiled", "schedules on a GPU: each tile is put in order, then collects its segments", false},
     routine_alone, false, WHOLE, false, -1, EXCHANGE_FREE},
    {{"in-rows", "schedules on a GPU: one kernel, where elements stay in rows that are small", false},
     routine_alone, false, WHOLE, false, -1, EXCHANGE_FREE},
};
// clang-format on

enum { ROWS = sizeof rows / sizeof *rows };

const plan_strategy *plan_strategy_at(size_t index) {
  return index < ROWS ? &rows[index].shown : NULL;
}

const strategy_row *strategy_row_of(const char *name) {
  for (size_t i = 0; i < ROWS; i++)
    if (!strcmp(rows[i].shown.name, name))
      return &rows[i];
  return NULL;
}

bool plan_strategy_permutes(const plan_strategy *s) {
  return strategy_row_of(s->name)->cut == routine_alone;
}

const plan_strategy *plan_strategy_named(const char *name) {
  const strategy_row *row = strategy_row_of(name);
  return row ? &row->shown : NULL;
}
