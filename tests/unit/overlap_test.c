// Passes that overlap (fusion/plan/overlap.c): a turn of the second reads nothing that another turn
// of the first writes; the plan stays one, and computes the same.
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/plan/plan.h"
#include "fusion/shares/cost.h"
#include "runtime/pipeline.h"

static size_t pairs, turns, flips;

// ---- the law -----------------------------------------------------------------------------------

// By index bit: the number of the block that this unit vector leads to, of which all others are
// sums.
typedef struct numbers {
  uint64_t units[F2_MAX];
} numbers;

static numbers numbers_of(const plan *p, const plan_pass *pass) {
  int n = p->net->stages.items[pass->stage].n, d = pass->tile.dimension;
  uint64_t basis[F2_MAX], coordinates = 0;
  numbers of = {{0}};
  for (int i = 0; i < n; i++)
    basis[i] = i < d ? pass->tile.basis[i] : pass->blocks[i - d];
  for (int i = 0; i < n; i++) {
    CHECK(f2_coordinates(n, basis, f2_unit(i), &coordinates));
    of.units[i] = coordinates >> d;
  }
  return of;
}

static uint64_t block_of(const numbers *of, uint64_t x) {
  uint64_t block = 0;
  for (; x; x &= x - 1)
    block ^= of->units[f2_lsb(x)];
  return block;
}

static int block_bits(const plan *p, const plan_pass *pass) {
  return p->net->stages.items[pass->stage].n - pass->tile.dimension;
}

static uint32_t turn_of(uint64_t block, int all, int parts, int bits) {
  return (uint32_t)(block >> (all - parts - bits) & f2_mask(bits));
}

static bool check_pair(const plan *p, uint32_t number, int parts, int bits) {
  const plan_pass *first = &p->passes.items[number], *second = first + 1;
  uint64_t elements = f2_unit(p->net->stages.items[first->stage].n), *none = NULL;
  numbers of_first = numbers_of(p, first), of_second = numbers_of(p, second);
  int m = block_bits(p, first), n = block_bits(p, second);
  bool good = true;
  for (uint32_t k = 0; k < first->store_count; k++) {
    const plan_move *o = &first->stores[k];
    uint64_t count = p->arrays.items[o->array].count;
    uint8_t *written = NEW_ARRAY(&memory, uint8_t, count);
    for (uint64_t x = 0; x < elements; x++) {
      int64_t at = net_map_at(&o->map, none, x);
      if (at >= 0 && (uint64_t)at < count)
        written[at] = (uint8_t)(1 + turn_of(block_of(&of_first, x), m, parts, bits));
    }
    for (uint32_t l = 0; l < second->load_count; l++)
      for (uint64_t y = 0; y < f2_unit(p->net->stages.items[second->stage].n) && good; y++) {
        int64_t at = net_map_at(&second->loads[l].map, none, y);
        if (second->loads[l].array != o->array || at < 0 || (uint64_t)at >= count || !written[at])
          continue;
        uint32_t turn = turn_of(block_of(&of_second, y), n, parts, bits);
        good = CHECK_EQ_U64(written[at] - 1u, turn ^ second->turn_flip);
      }
  }
  return good;
}

// Of the GPU: the highest bits of a block's number, by index bit.
static bool same_parts(const plan *p, const plan_pass *pass, const numbers *before, int parts) {
  numbers after = numbers_of(p, pass);
  bool same = true;
  for (int i = 0; i < p->net->stages.items[pass->stage].n && same; i++)
    same = CHECK_EQ_U64(after.units[i] >> (block_bits(p, pass) - parts),
                        before->units[i] >> (block_bits(p, pass) - parts));
  return same;
}

static bool check_plan(plan *p, int parts) {
  bool good = true;
  for (uint32_t i = 0; i + 1 < p->passes.count && good; i++) {
    plan_overlap o;
    int bits = plan_overlap_bits(&memory, p, i, i + 1, parts, &o);
    if (!bits)
      continue;
    numbers first = numbers_of(p, &p->passes.items[i]),
            second = numbers_of(p, &p->passes.items[i + 1]);
    plan_overlap_passes(&memory, p, i, i + 1, parts, &o, bits);
    plan_alternate_blocks(&memory, p, i, parts);
    plan_alternate_blocks(&memory, p, i + 1, parts);
    const char *problem = plan_verify(&memory, p);
    good = CHECK_STR(problem ? problem : "", "") && check_pair(p, i, parts, bits) &&
           same_parts(p, &p->passes.items[i], &first, parts) &&
           same_parts(p, &p->passes.items[i + 1], &second, parts);
    pairs++;
    turns += (size_t)bits;
    flips += p->passes.items[i + 1].turn_flip != 0;
    i++;
  }
  return good;
}

// ---- programs ----------------------------------------------------------------------------------

static bool check_program(permc_context *c, pipeline *p, void *with) {
  (void)c;
  (void)with;
  bool good = true;
  for (int parts = 1; parts <= 3 && good; parts++) {
    net *n = shares_of_peers(&memory, shares_for_peers(&memory, p->net, parts));
    good = check_plan(plan_make(&memory, n, p->target, NULL), parts) &&
           check_plan(plan_make(&memory, p->net, p->target, NULL), parts);
  }
  return good;
}

static void check_expression(const char *expression, const char *types) {
  START();
  permc_context *c = permc_context_new();
  pipeline_request r = {.entry = "-e", .last = STAGE_PLAN, .types = types, .target = "gpu"};
  if (!CHECK(permc_define(c, expression) && pipeline_with(c, &r, check_program, NULL)))
    printf("%s %s\n%s", expression, types, permc_message(c));
  permc_context_free(c);
}

TEST(programs) {
  check_expression("bitrev", "[2^15]u32");
  check_expression("transpose", "[2^7][2^8]u64");
  check_expression("fft", "[2^15]c64");
  check_expression("\\xs -> bitrev (fft xs)", "[2^14]c64");
  check_expression("fwht", "[2^16]f32");
  check_expression("sort_network", "[2^15]u32");
  check_expression("\\xs -> reverse (fwht (reverse xs))", "[2^15]i32");
  check_expression("\\xs -> zip_with (+) (bitrev xs) (gray xs)", "[2^14]u32");
  // A loop, whose rounds have one code until their blocks are put into turns.
  check_expression("\\ps -> iter 12 (\\xs -> zip_with (+) (fwht xs) (gather ps xs))",
                   "[2^16]u32 [2^16]i32");
  CHECK(pairs > 10 && turns > pairs);
}

TEST(matrices) {
  enum { BITS = 18 };
  random_state r = {1};
  for (int i = 0; i < (test_all() ? 100 : 3); i++) {
    text matrix = {0};
    f2_matrix a = random_matrix(&r, BITS);
    text_string(&matrix, "bmmc [");
    for (int k = 0; k < BITS; k++)
      text_printf(&matrix, "%s%" PRIu64, k ? ", " : "", a.row[k]);
    text_printf(&matrix, "] %" PRIu64, random_word(&r) & f2_mask(BITS));
    check_expression(matrix.data, "[2^18]u32");
    text_free(&matrix);
  }
  printf("%zu pairs, %zu bits, %zu flips\n", pairs, turns, flips);
  CHECK(flips > 0);
}

TEST_MAIN()
