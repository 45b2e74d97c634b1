// plan_print and plan_read, target_read, and plan_facts: round trips of plans of random nets, every
// mistake in a text, counts of plans written by hand.
#include "tests/readers/readers.h"
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/plan/plan.h"

static const char *printed(const plan *p) {
  text out = {0};
  plan_print(&out, p);
  const char *copy = arena_copy(&memory, out.data ? out.data : "", out.length);
  CHECK(!out.failed);
  text_free(&out);
  return copy;
}

// The text of the plan of that text, or the message.
static const char *again(const char *string) {
  const char *wrong = NULL;
  const plan *p = plan_read(&memory, string, &wrong);
  return p ? printed(p) : wrong;
}

// ---- plans -----------------------------------------------------------------------------------

static void check_round_trip(const net *t, const target *machine) {
  const plan *p = plan_make(&memory, t, machine, NULL);
  CHECK_STR(plan_verify(&memory, p), NULL);
  const char *first = printed(p), *wrong = NULL;
  const plan *q = plan_read(&memory, first, &wrong);
  CHECK_STR(wrong, NULL);
  if (!q)
    return;
  CHECK_STR(printed(q), first);
  CHECK_STR(net_verify(&memory, q->net), NULL);
  CHECK_STR(plan_verify(&memory, q), NULL);
}

static void check_random_net(random_state *random) {
  START();
  const net *t = random_net(&memory, random);
  for (size_t k = 0; k < target_count(); k++)
    check_round_trip(t, target_at(k));
  arena_free(&memory);
}

TEST(random_nets) {
  random_state random = {1};
  for (int i = 0; i < 150; i++)
    check_random_net(&random);
}

#define NET                                                                                        \
  "array a0 i32 48 argument 0\n"                                                                   \
  "array a1 i32 48 result 0\n"                                                                     \
  "stage 0 n=4 loops 3\n"                                                                          \
  "  v0 = load a0 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3\n"                                            \
  "  op 0 directions 0b0010 coordinates x1 live x2 step %1\n"                                      \
  "    v1[0] = min v0[0] v0[1]\n"                                                                  \
  "    v1[1] = max v0[0] v0[1]\n"                                                                  \
  "  op 1 directions 0b1000 coordinates x0^x3 step %2\n"                                           \
  "    v2[0] = min v1[0] v1[1]\n"                                                                  \
  "    v2[1] = max v1[0] v1[1]\n"                                                                  \
  "  op 2 step %3\n"                                                                               \
  "    v3[0] = v2[0]\n"                                                                            \
  "  store v3 in a1 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3\n"
#define TARGET                                                                                     \
  "target mine line_bytes 16 tile_bytes 256 lane_bytes 0 lane_bits 1 register_bytes 16 "           \
  "adapts 0 wide_bytes 8 memory_bytes_per_second 4e+10 ops_per_second 3e+10 exchange_ops 2 "       \
  "pass_seconds 3e-06\n"
#define PASS                                                                                       \
  "stage 0 strategy by-hand padding none\n"                                                        \
  "array a2 i32 48 temporary\n"                                                                    \
  "pass 0 of stage 0 seconds 0.5\n"                                                                \
  "  tile 0b0001 0b0010 0b1000\n"                                                                  \
  "  blocks 0b0100\n"                                                                              \
  "  slot 0 bytes 4 values v0-v1 v3\n"                                                             \
  "  slot 1 bytes 4 values v2\n"                                                                   \
  "  load slot 0 from a0 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3 padded from 40 with i32:-1 live x2 "   \
  "scattered\n"                                                                                    \
  "  phase 0 ops 0 registers 0b0010 lanes 0b0001 threads 0b1000\n"                                 \
  "  exchange address bits 0b0010 0b1000 0b0001\n"                                                 \
  "  phase 1 ops 1-2 registers 0b1000 lanes 0b0001 threads 0b0010\n"                               \
  "  store slot 0 in a1 at 16*o0 + x0 + 2*x1 + 4*x2 + 8*x3 padded from 47 coalesced\n"             \
  "  live x2^1\n"                                                                                  \
  "  padded from 12\n"

// Slot 1 is that of the op before until the second op loads its factor.
#define FACTORS                                                                                    \
  "array a0 i32 4 argument 0\n"                                                                    \
  "array a1 i32 2 argument 1\n"                                                                    \
  "array a2 i32 4 result 0\n"                                                                      \
  "stage 0 n=2\n"                                                                                  \
  "  v0 = load a0 at x0 + 2*x1\n"                                                                  \
  "  v1 = load a1 at x1\n"                                                                         \
  "  op 0 step %1\n"                                                                               \
  "    v2[0] = v0[0]\n"                                                                            \
  "  op 1 directions 0b01 coordinates x0 step %2\n"                                                \
  "    v3[0] = + v2[0] v1[0]\n"                                                                    \
  "    v3[1] = - v2[1] v1[0]\n"                                                                    \
  "  store v3 in a2 at x0 + 2*x1\n" TARGET "stage 0 strategy by-hand padding none\n"               \
  "pass 0 of stage 0 seconds 0.5\n"                                                                \
  "  tile 0b01 0b10\n"                                                                             \
  "  blocks none\n"                                                                                \
  "  slot 0 bytes 4 values v2-v3\n"                                                                \
  "  slot 1 bytes 4 values v0-v1\n"                                                                \
  "  load slot 1 from a0 at x0 + 2*x1 coalesced\n"                                                 \
  "  load slot 1 from a1 at x1 "
#define BUTTERFLY                                                                                  \
  "  phase 0 ops 0-1 registers 0b01 lanes 0b10 threads none\n"                                     \
  "  store slot 0 in a2 at x0 + 2*x1 coalesced\n"

TEST(every_line) {
  START();
  CHECK_STR(again(NET TARGET PASS), NET TARGET PASS);
  CHECK_STR(again(NET TARGET "# nothing\n\nstage 0 strategy by-hand padding none # why not\n"),
            NET TARGET "stage 0 strategy by-hand padding none\n");
  CHECK_STR(again(FACTORS "direct op 1\n" BUTTERFLY), FACTORS "direct op 1\n" BUTTERFLY);
  arena_free(&memory);
}

// A load that an op does itself is in its slot from that op on, not before.
static const char *problem_with(const char *string) {
  const char *wrong = NULL;
  const plan *p = plan_read(&memory, string, &wrong);
  return p ? plan_verify(&memory, p) : wrong;
}

TEST(direct_loads) {
  START();
  CHECK_STR(problem_with(FACTORS "direct op 1\n" BUTTERFLY), NULL);
  CHECK_STR(problem_with(FACTORS "scattered\n" BUTTERFLY),
            "pass 0: op 1 reads v1, which is in no slot");
  CHECK_STR(problem_with(FACTORS "direct op 0\n" BUTTERFLY),
            "pass 0: op 1 reads v1, which is in no slot");
  CHECK_STR(problem_with(FACTORS "direct op 2\n" BUTTERFLY), "line 24: op 2 is none of the pass");
  arena_free(&memory);
}

static const struct {
  const char *text, *message;
} mistakes[] = {
    {"array a0 i32\n", "line 1: expected a number, found `\n"},
    {NET, "line 14: expected a target after the net"},
    {NET "target mine lanes 3\n", "line 14: a target has no field 'lanes'"},
    {NET "target mine lane_bits 11\n",
     "line 14: lane_bits is a whole number from 0 to 10, not '11'"},
    {NET TARGET "stage 0 strategy s padding some\n",
     "line 15: expected what padding costs stage 0: none, free or stored"},
    {NET TARGET "tile 0b1\n", "line 15: expected `pass` before this"},
    {NET TARGET "tiles 0b1\n", "line 15: there is no line `tiles`"},
    {NET TARGET "array a1 i32 3 temporary\n", "line 15: expected array a2"},
    {NET TARGET "pass 1 of stage 0 seconds 0\n", "line 15: expected number 0"},
    {NET TARGET "pass 0 of stage 1 seconds 0\n", "line 15: there is no stage 1"},
    {NET TARGET "pass 0 of stage 0 seconds 0 tile\n",
     "line 15: expected the end of the line, found `tile`"},
    {NET TARGET "pass 0 of stage 0 seconds 0\ntile 0b1 0b1\n",
     "line 16: the tile's vectors are dependent"},
    {NET TARGET "pass 0 of stage 0 seconds 0\ntile 0b10000\n",
     "line 16: the stage has no index 0x10"},
    {NET TARGET "pass 0 of stage 0 seconds 0\ntile 0b1\nblocks 0b10\n",
     "line 17: expected 3 vectors, found 1"},
    {NET TARGET "pass 0 of stage 0 seconds 0\ntile 0b1\n",
     "line 17: before this line, a pass has no blocks"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nblocks 1 2 4 8\ntile 0b1\n",
     "line 17: a tile stands before what refers to it"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nslot 0 bytes 4 values v4\n",
     "line 16: the stage has no v4-v4"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nload slot 0 from a2 at x0 coalesced\n",
     "line 16: there is no array a2"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nload slot 0 from a0 at x0\n",
     "line 16: expected `scattered`, found ``"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nphase 0 ops 3 registers lanes threads\n",
     "line 16: the stage has no 3-3"},
    {NET TARGET "pass 0 of stage 0 seconds 0\nphase 0 ops registers 1 lanes threads\n",
     "line 16: the tile has 0 dimensions, not 1"},
};

static void check_mistake(const char *string, const char *expected) {
  START();
  const char *message = again(string);
  size_t length = strcspn(expected, "\n");
  CHECK(!strncmp(message, expected, length));
  CHECK(!strchr(message, '\n'));
  arena_free(&memory);
}

TEST(mistakes_in_plans) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    check_mistake(mistakes[i].text, mistakes[i].message);
}

// Texts with a few characters changed, moved or missing: a message, or another plan, which can be
// verified and printed.
static void check_damaged(random_state *random) {
  static const char letters[] = "0123456789abx^+*-: \nvtop";
  char damaged[sizeof(NET TARGET PASS)] = NET TARGET PASS;
  uint32_t length = sizeof damaged - 1;
  START();
  for (uint32_t k = random_below(random, 3) + 1; k > 0; k--)
    damaged[random_below(random, length)] = letters[random_below(random, sizeof letters - 1)];
  if (random_chance(random, 8))
    damaged[random_below(random, length)] = 0;
  const char *wrong = NULL;
  const plan *p = plan_read(&memory, damaged, &wrong);
  CHECK((p == NULL) == (wrong != NULL));
  if (p && !net_verify(&memory, p->net)) {
    plan_verify(&memory, p);
    printed(p);
  }
  arena_free(&memory);
}

TEST(damaged_plans) {
  random_state random = {7};
  for (int i = 0; i < 20000; i++)
    check_damaged(&random);
}

// ---- targets ---------------------------------------------------------------------------------

TEST(a_target) {
  START();
  const char *wrong = NULL;
  const target *t = target_read(&memory,
                                "# mine\n\n base = avx2 \nname=laptop\n"
                                "tile_bytes = 65536 # half\nmemory_bytes_per_second = 1.5e10",
                                &wrong);
  CHECK_STR(wrong, NULL);
  REQUIRE(t != NULL);
  CHECK_STR(t->name, "laptop");
  CHECK_EQ_U64(t->tile_bytes, 65536);
  CHECK(t->memory_bytes_per_second == 1.5e10);
  CHECK_EQ_U64(t->line_bytes, target_named("avx2")->line_bytes);
  CHECK(t->ops_per_second == target_named("avx2")->ops_per_second);
  CHECK(t->links[TARGET_DISK].latency == target_named("avx2")->links[TARGET_DISK].latency);
  arena_free(&memory);
}

TEST(every_field_of_every_target) {
  START();
  for (size_t k = 0; k < target_count(); k++) {
    text lines = {0};
    for (size_t i = 0; i < target_field_count(); i++) {
      text_printf(&lines, "%s = ", target_field_at(i).name);
      target_print_field(&lines, target_at(k), i);
      text_string(&lines, "\n");
    }
    const char *wrong = NULL;
    target *t = target_read(&memory, lines.data, &wrong);
    CHECK_STR(wrong, NULL);
    if (t) {
      CHECK_STR(t->name, "custom");
      const target *u = target_at(k);
      CHECK(t->line_bytes == u->line_bytes && t->tile_bytes == u->tile_bytes &&
            t->lane_bytes == u->lane_bytes && t->lane_bits == u->lane_bits &&
            t->register_bytes == u->register_bytes && t->adapts == u->adapts &&
            t->wide_bytes == u->wide_bytes &&
            t->memory_bytes_per_second == u->memory_bytes_per_second &&
            t->ops_per_second == u->ops_per_second && t->exchange_ops == u->exchange_ops &&
            t->pass_seconds == u->pass_seconds && t->peers == u->peers && t->nodes == u->nodes &&
            t->disk_block == u->disk_block &&
            !memcmp(&t->networks, &u->networks, sizeof t->networks) &&
            !memcmp(&t->routines, &u->routines, sizeof t->routines) &&
            !memcmp(t->links, u->links, sizeof t->links));
    }
    text_free(&lines);
  }
  arena_free(&memory);
}

// That elements are false is known of what stages store, not of what a routine makes.
TEST(padding_behind_a_routine) {
  static const char code[] = "array a0 u8 5 argument 0\narray a1 bool 5 temporary\n"
                             "array a2 bool 5 temporary\narray a3 bool 5 result 0\n"
                             "stage 0 n=0 loops 5\n  v0 = load a0 at o0\n"
                             "  op 0 step %1\n    v1[0] = < v0[0] u8:7\n  store v1 in a1 at o0\n"
                             "stage 1 n=0 routine sort rows 1 length 5\n  from a1 to a2\n"
                             "stage 2 n=3\n"
                             "  v0 = load a2 at x0 + 2*x1 + 4*x2 padded from 5 with bool:false\n"
                             "  op 0 directions 0b001 coordinates x0 step %1\n"
                             "    v1[0] = | v0[0] v0[1]\n    v1[1] = v0[0]\n"
                             "  store v1 in a3 at x0 + 2*x1 + 4*x2 padded from 5\n";
  const char *wrong = NULL;
  START();
  const net *t = net_read(&memory, code, &wrong);
  CHECK_STR(wrong, NULL);
  REQUIRE(t != NULL);
  CHECK_STR(net_verify(&memory, t), NULL);
  const plan *p = plan_make(&memory, t, target_named("avx512"), NULL);
  CHECK_EQ_U64(p->padding[2], PADDING_STORED);
  arena_free(&memory);
}

// What routines cost is what the target says: each field costs one of these.
TEST(costs_of_routines) {
  static const char *const routines[] = {
      "array a0 u32 1024 argument 0\narray a1 u32 1024 result 0\n"
      "stage 0 n=0 routine sort rows 1 length 1024\n  from a0 to a1\n",
      "array a0 u32 1024 argument 0\narray a1 i64 1024 result 0\n"
      "stage 0 n=0 routine places rows 2 length 512\n  from a0 to a1\n",
      "array a0 u8 1024 argument 0\narray a1 u8 1024 result 0\n"
      "stage 0 n=0 routine sort rows 1 length 1024 below 2\n  from a0 to a1\n",
      "array a0 u32 1024 argument 0\narray a1 i64 2 result 0\n"
      "stage 0 n=0 routine check rows 1 length 1024 below 2\n  from a0 to a1\n"};
  enum { ROUTINES = sizeof routines / sizeof *routines };
  START();
  size_t found = 0;
  for (size_t i = 0; i < target_field_count(); i++) {
    const char *field = target_field_at(i).name, *wrong = NULL;
    bool matters = false;
    if (strncmp(field, "routine_", 8) != 0)
      continue;
    found++;
    for (size_t k = 0; k < 2 * ROUTINES; k++) {
      const char *base = k % 2 ? "gpu" : "avx512";
      const target *own = target_read(
          &memory, arena_printf(&memory, "base = %s\n%s = 1234\n", base, field), &wrong);
      const net *t = net_read(&memory, routines[k / 2], &wrong);
      CHECK_STR(wrong, NULL);
      REQUIRE(own && t);
      double seconds = plan_make(&memory, t, own, NULL)->passes.items[0].seconds;
      matters |=
          seconds != plan_make(&memory, t, target_named(base), NULL)->passes.items[0].seconds;
    }
    if (!CHECK(matters))
      printf("%s\n", field);
  }
  CHECK_EQ_U64(found, 11);
  arena_free(&memory);
}

// Whether padding stays is not known of a conversion: of an i32 that is not the greatest, the lowest
// 8 bits may be the greatest i8.
TEST(padding_of_conversions) {
  static const char converted[] =
      "array a0 i32 3 argument 0\narray a1 i32 4 result 0\nstage 0 n=2\n"
      "  v0 = load a0 at x0 + 2*x1 padded from 3 with i32:2147483647\n"
      "  op 0 directions 0b01 coordinates x0 step %1\n"
      "    t0 = convert i8 v0[0]\n    t1 = < t0 i8:127\n"
      "    v1[0] = v0[0]\n    v1[1] = select t1 v0[1] v0[0]\n"
      "  store v1 in a1 at x0 + 2*x1\n";
  static const char chosen[] = "array a0 i32 3 argument 0\narray a1 i32 4 result 0\nstage 0 n=2\n"
                               "  v0 = load a0 at x0 + 2*x1 padded from 3 with i32:2147483647\n"
                               "  op 0 directions 0b01 coordinates x0 step %1\n"
                               "    t0 = < v0[0] i32:2147483647\n"
                               "    v1[0] = v0[0]\n    v1[1] = select t0 v0[1] v0[0]\n"
                               "  store v1 in a1 at x0 + 2*x1\n";
  const char *wrong = NULL;
  START();
  const net *t = net_read(&memory, converted, &wrong), *u = net_read(&memory, chosen, &wrong);
  CHECK_STR(wrong, NULL);
  REQUIRE(t && u);
  CHECK_EQ_U64(plan_make(&memory, t, target_named("avx512"), NULL)->padding[0], PADDING_STORED);
  CHECK_EQ_U64(plan_make(&memory, u, target_named("avx512"), NULL)->padding[0], PADDING_FREE);
  arena_free(&memory);
}

// A strategy that does not apply leaves the plan to others, which count what they spare once.
TEST(spared_once) {
  static const char sum[] = "array a0 i32 1024 argument 0\narray a1 i32 1024 argument 1\n"
                            "array a2 i32 1024 result 0\nstage 0 n=0 loops 1024\n"
                            "  v0 = load a0 at o0\n  v1 = load a1 at o0\n  op 0 step %1\n"
                            "    v2[0] = + v0[0] v1[0]\n  store v2 in a2 at o0\n";
  static const char *const names[] = {"greedy", "tile", "naive", "scheduled"};
  const char *wrong = NULL;
  START();
  const net *t = net_read(&memory, sum, &wrong);
  REQUIRE(t != NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const plan *p = plan_make(&memory, t, target_named("avx512"), plan_strategy_named(names[i]));
    CHECK_EQ_U64(p->fired[RULE_SHORT_LOADS], 1);
  }
  arena_free(&memory);
}

static const struct {
  const char *text, *message;
} bad_targets[] = {
    {"",
     "there is no line_bytes; give it, or the target that it is taken from, as in: base = avx2"},
    {"base = avx3\n", "line 1: there is no target 'avx3' to base this one on"},
    {"\nbase avx2\n", "line 2: expected NAME = VALUE"},
    {"base = avx2 avx2\n", "line 1: expected NAME = VALUE"},
    {"base = avx2\nbase =", "line 2: expected NAME = VALUE"},
    {"line_bytes = 64\nbase = avx2\n", "line 2: base stands before the fields"},
    {"base = avx2\nlane_bits = 3\nlane_bits = 3\n", "line 3: lane_bits is given twice"},
    {"base = avx2\ncache = 3\n", "line 2: a target has no field 'cache'"},
    {"base = avx2\nline_bytes = 48\n",
     "line 2: line_bytes is a power of two from 16 to 65536, not '48'"},
    {"base = avx2\nlane_bytes = 8\n",
     "line 2: lane_bytes is 0, or a power of two from 16 to 4096, not '8'"},
    {"base = gpu\nwide_bytes = 32\n",
     "line 2: wide_bytes is a power of two from 1 to 16, not '32'"},
    {"base = gpu\nwide_bytes = 12\n",
     "line 2: wide_bytes is a power of two from 1 to 16, not '12'"},
    {"base = gpu\nadapts = 2\n", "line 2: adapts is 0 or 1, not '2'"},
    {"base = avx2\nlane_bits = 2.5\n",
     "line 2: lane_bits is a whole number from 0 to 10, not '2.5'"},
    {"base = avx2\ntile_bytes = 64KiB\n",
     "line 2: tile_bytes is a whole number from 64 to 2^40, not '64KiB'"},
    {"base = avx2\nops_per_second = nan\n",
     "line 2: ops_per_second is a number from 1 to 1e18, not 'nan'"},
    {"base = avx2\npass_seconds = -1\n", "line 2: pass_seconds is a number from 0 to 1, not '-1'"},
    {"base = gpu\npeers = 3\n", "line 2: peers is a power of two from 1 to 65536, not '3'"},
    {"base = gpu\nnetwork_latency = -1\n",
     "line 2: network_latency is a number from 0 to 1000, not '-1'"},
};

TEST(mistakes_in_targets) {
  START();
  for (size_t i = 0; i < sizeof bad_targets / sizeof *bad_targets; i++) {
    const char *wrong = NULL;
    CHECK(target_read(&memory, bad_targets[i].text, &wrong) == NULL);
    CHECK_STR(wrong, bad_targets[i].message);
  }
  arena_free(&memory);
}

// ---- facts -----------------------------------------------------------------------------------

TEST(facts_of_a_plan_by_hand) {
  START();
  const char *wrong = NULL;
  const plan *p = plan_read(&memory, NET TARGET PASS, &wrong);
  REQUIRE(p != NULL);
  plan_facts f = plan_facts_of(p);
  CHECK_EQ_U64(f.columns, 2);
  CHECK_EQ_U64(f.static_columns, 1);  // x0^x3 differs between lanes
  CHECK_EQ_U64(f.maps, 1);
  CHECK_EQ_U64(f.passes, 1);
  CHECK_EQ_U64(f.permutations, 0);
  CHECK_EQ_U64(f.copies, 0);
  CHECK_EQ_U64(f.exchanges, 1);
  CHECK_EQ_U64(f.bytes_read, 4 * 24);     // 3 loops, 3 bits that are alive
  CHECK_EQ_U64(f.bytes_written, 4 * 24);  // the pass's own live form
  CHECK_EQ_U64(f.temporaries, 1);
  CHECK_EQ_U64(f.temporary_bytes, 4 * 48);
  CHECK(f.seconds == 0.5);
  CHECK_EQ_I64(plan_missing_dimensions(p, &p->passes.items[0], &p->passes.items[0].stores[0]), 0);
  arena_free(&memory);
}

TEST(dimensions_that_a_tile_lacks) {
  START();
  const char *wrong = NULL;
  const plan *p =
      plan_read(&memory,
                NET TARGET "stage 0 strategy s padding none\npass 0 of stage 0 seconds 0\n"
                           "tile 0b0001\nblocks 0b0010 0b0100 0b1000\nslot 0 bytes 4 values v0\n"
                           "load slot 0 from a0 at x0 + 2*x1 + 4*x2 + 8*x3 scattered\n"
                           "store slot 0 in a1 at x3 + 2*x2 + 4*x1 + 8*x0 scattered\n",
                &wrong);
  REQUIRE(p != NULL);
  const plan_pass *pass = &p->passes.items[0];
  CHECK_EQ_I64(plan_missing_dimensions(p, pass, &pass->loads[0]), 1);
  CHECK_EQ_I64(plan_missing_dimensions(p, pass, &pass->stores[0]), 2);
  arena_free(&memory);
}

// One stage of 4 index bits that loads a0 and stores it in a1.
static plan_facts facts_of_move(const char *from, const char *to) {
  const char *wrong = NULL;
  const char *source =
      arena_printf(&memory,
                   "array a0 u8 64 argument 0\narray a1 u8 64 result 0\nstage n=4 loops 3\n"
                   "  v0 = load a0 at %s\n  store v0 in a1 at %s\n",
                   from, to);
  const net *t = net_read(&memory, source, &wrong);
  CHECK_STR(wrong, NULL);
  return t ? plan_facts_of(plan_make(&memory, t, target_at(0), NULL)) : (plan_facts){0};
}

TEST(copies_and_permutations) {
  static const struct {
    const char *from, *to;
    uint64_t permutations, copies, bytes_read;
  } rows[] = {
      {"16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", "16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", 0, 1, 48},
      {"16*o0 + x0 + 2*x1 + 4*x2 + 8*x3 + 7", "8*x3 + 2*x1 + 4*x2 + x0 + 16*o0", 0, 1, 48},
      {"16*o0 + (x0^x3) + 2*x1 + 4*x2 + 8*x3", "16*o0 + (x0^x3) + 2*x1 + 4*x2 + 8*x3", 0, 1, 48},
      {"16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", "16*o0 + (x0^x3) + 2*x1 + 4*x2 + 8*x3", 1, 0, 48},
      {"16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", "16*o0 + (x0^1) + 2*x1 + 4*x2 + 8*x3", 1, 0, 48},
      {"16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", "o0 + 3*x0 + 6*x1 + 12*x2 + 24*x3", 1, 0, 48},
      {"x0 + 2*x1 + 4*x2 + 8*x3", "16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", 1, 0, 16},
      {"o0", "16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", 1, 0, 3},
      {"0", "16*o0 + x0 + 2*x1 + 4*x2 + 8*x3", 1, 0, 1},
  };
  START();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    plan_facts f = facts_of_move(rows[i].from, rows[i].to);
    CHECK_EQ_U64(f.permutations, rows[i].permutations);
    CHECK_EQ_U64(f.copies, rows[i].copies);
    CHECK_EQ_U64(f.passes, rows[i].permutations);
    CHECK_EQ_U64(f.bytes_read, rows[i].bytes_read);
    CHECK_EQ_U64(f.bytes_written, 48);
  }
  arena_free(&memory);
}

TEST_MAIN()
