// Every law of rules.h on generated instances. Laws on movements: both sides executed literally on
// arrays of all sizes up to 2^6. Rewrites of Nets: random nets compute the same before and after,
// each rule fires in them, and a net of its own shows what it does.
#include "tests/readers/readers.h"
#include "tests/unit/f2_more.h"
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/rules/rules.h"

#include <time.h>

TEST(table) {
  for (rule_id i = 0; i < RULE_COUNT; i++) {
    CHECK(rules[i].name && rules[i].law && rules[i].condition && rules[i].source);
    for (rule_id j = 0; j < i; j++)
      CHECK(strcmp(rules[i].name, rules[j].name) != 0);
  }
}

// ---- movements -------------------------------------------------------------------------------

enum { MOST_BITS = 6, MOST = 1 << MOST_BITS };

// A function of arrays: f2's maps are not used to say what bmmc and parm mean.
typedef struct function {
  enum { BMMC, PARM, MAP, MIX, COMPOSED } kind;
  f2_affine map;                          // BMMC
  uint64_t mask;                          // PARM
  const struct function *part, *earlier;  // PARM: of the sub-arrays; COMPOSED: part . earlier
} function;

static void run(const function *f, int n, uint64_t *xs);

static void run_parm(const function *f, int n, uint64_t *xs) {
  uint64_t parts[2][MOST], count[2] = {0, 0}, size = UINT64_C(1) << n;
  for (uint64_t i = 0; i < size; i++) {
    int part = __builtin_parityll(i & f->mask);
    parts[part][count[part]++] = xs[i];
  }
  for (int part = 0; part < 2; part++) {
    run(f->part, n - 1, parts[part]);
    count[part] = 0;
  }
  for (uint64_t i = 0; i < size; i++) {
    int part = __builtin_parityll(i & f->mask);
    xs[i] = parts[part][count[part]++];
  }
}

static void run(const function *f, int n, uint64_t *xs) {
  uint64_t out[MOST], size = UINT64_C(1) << n;
  if (f->kind == PARM) {
    run_parm(f, n, xs);
    return;
  }
  if (f->kind == COMPOSED) {
    run(f->earlier, n, xs);
    run(f->part, n, xs);
    return;
  }
  for (uint64_t x = 0; x < size; x++) {
    uint64_t to = x;
    if (f->kind == BMMC) {
      to = f->map.c;
      for (int i = 0; i < n; i++)
        to ^= (uint64_t)__builtin_parityll(f->map.a.row[i] & x) << i;
    }
    out[to] = f->kind == MAP   ? xs[x] * 5 + 1
              : f->kind == MIX ? xs[(x * 3 + 1) % size] * 7 + xs[x] + x
                               : xs[x];
  }
  memcpy(xs, out, size * sizeof *xs);
}

// Both lists of functions, ends with NULL, the last is applied first. Not the identity both, which
// would show nothing.
static size_t instances;

static void check_law(int n, const function *const *left, const function *const *right) {
  uint64_t a[MOST], b[MOST], size = UINT64_C(1) << n;
  int lefts = 0, rights = 0;
  for (uint64_t i = 0; i < size; i++)
    a[i] = b[i] = i * i + 3;
  while (left[lefts])
    lefts++;
  while (right[rights])
    rights++;
  while (lefts-- > 0)
    run(left[lefts], n, a);
  while (rights-- > 0)
    run(right[rights], n, b);
  CHECK(memcmp(a, b, size * sizeof *a) == 0);
  instances++;
}

#define LAW(n, left, right)                                                                        \
  check_law(n, (const function *const[]){UNWRAP left, NULL},                                       \
            (const function *const[]){UNWRAP right, NULL})
#define UNWRAP(...) __VA_ARGS__

static function bmmc(f2_matrix a, uint64_t c) { return (function){.kind = BMMC, .map = {a, c}}; }
static function parm(uint64_t mask, const function *part) {
  return (function){.kind = PARM, .mask = mask, .part = part};
}
static function two(int n, const function *part) { return parm(f2_unit(n - 1), part); }

static const function mix = {.kind = MIX}, map = {.kind = MAP};

static function random_bmmc(random_state *r, int n) {
  return bmmc(random_matrix(r, n), random_word(r) & f2_mask(n));
}

TEST(bmmc_bmmc) {
  random_state r = {1};
  for (int n = 0; n <= MOST_BITS; n++)
    for (int i = 0; i < 50; i++) {
      function f = random_bmmc(&r, n), g = random_bmmc(&r, n);
      function both = bmmc(f2_multiply(f.map.a, g.map.a), f2_apply(f.map.a, g.map.c) ^ f.map.c);
      LAW(n, (&f, &g), (&both));
    }
  CHECK(instances > 300);
}

TEST(bmmc_inverse) {
  random_state r = {2};
  for (int n = 0; n <= MOST_BITS; n++)
    for (int i = 0; i < 50; i++) {
      function f = random_bmmc(&r, n), back = f;
      REQUIRE(f2_inverse(f.map.a, &back.map.a));
      back.map.c = f2_apply(back.map.a, f.map.c);
      function nothing = bmmc(f2_identity(n), 0);
      LAW(n, (&f, &back), (&nothing));
      LAW(n, (&back, &f), (&nothing));
    }
}

TEST(parm_bmmc) {
  random_state r = {3};
  for (int n = 1; n <= MOST_BITS; n++)
    for (uint64_t m = 1; m <= f2_mask(n); m++) {
      function f = random_bmmc(&r, n), whole = parm(m, &mix), halves = two(n, &mix);
      f2_matrix p = f2_parm(n, m);
      function before = bmmc(f2_multiply(p, f.map.a), f2_apply(p, f.map.c));
      function after = bmmc(f2_parm_inverse(n, m), 0);
      LAW(n, (&whole, &f), (&after, &halves, &before));
    }
}

TEST(parm_of_bmmc) {
  random_state r = {4};
  for (int n = 1; n <= MOST_BITS; n++)
    for (uint64_t m = 1; m <= f2_mask(n); m++) {
      function part = random_bmmc(&r, n - 1), left = parm(m, &part);
      f2_matrix p = f2_parm(n, m), back = f2_parm_inverse(n, m);
      f2_matrix wide = f2_block_diagonal(part.map.a, f2_identity(1));
      function right = bmmc(f2_multiply(back, f2_multiply(wide, p)), f2_apply(back, part.map.c));
      LAW(n, (&left), (&right));
    }
}

TEST(parm_parm) {
  random_state r = {5};
  for (int n = 2; n <= MOST_BITS; n++)
    for (uint64_t m = 1; m <= f2_mask(n); m++) {
      function inner = random_bmmc(&r, n - 1), first = parm(m, &inner), second = parm(m, &mix);
      function composed = {.kind = COMPOSED, .part = &mix, .earlier = &inner};
      function together = parm(m, &composed);
      LAW(n, (&together), (&second, &first));

      uint64_t k = 1 + random_word(&r) % f2_mask(n - 1);
      function deep = parm(k, &mix), nested = parm(m, &deep);
      f2_matrix wide = f2_block_diagonal(f2_parm(n - 1, k), f2_identity(1)), back;
      f2_matrix q = f2_multiply(wide, f2_parm(n, m));
      REQUIRE(f2_inverse(q, &back));
      function quarter = two(n - 1, &mix), quarters = two(n, &quarter);
      function there = bmmc(q, 0), home = bmmc(back, 0);
      LAW(n, (&nested), (&home, &quarters, &there));
    }
}

TEST(map_bmmc) {
  random_state r = {6};
  for (int n = 0; n <= MOST_BITS; n++)
    for (int i = 0; i < 50; i++) {
      function f = random_bmmc(&r, n);
      LAW(n, (&map, &f), (&f, &map));
    }
}

// ---- nets ------------------------------------------------------------------------------------

static const char *printed(const net *t) {
  text out = {0};
  net_print(&out, t);
  const char *copy = arena_copy(&memory, out.data ? out.data : "", out.length);
  text_free(&out);
  return copy;
}

static void count_firings(const rule_log *log, size_t *fired) {
  for (rule_id rule = 0; rule < RULE_COUNT; rule++)
    fired[rule] += log->of[rule].times;
}

// A random net before and after the rules; they find nothing more afterwards.
static bool check_random(uint64_t seed, size_t *fired) {
  random_state r = {seed}, again = {seed};
  bool routines = seed % 4 == 0;
  net *before = random_net_of(&memory, &r, routines),
      *after = random_net_of(&memory, &again, routines);
  rule_log log = {.memory = &memory}, second = {.memory = &memory};
  rules_apply(&memory, after, &log);
  bool good = CHECK_STR(net_verify(&memory, after), NULL);
  const evaluation *expected = net_evaluate(&memory, before, seed);
  good = good && CHECK(same_results(before, expected, after, net_evaluate(&memory, after, seed)));
  const char *once = printed(after);
  rules_apply(&memory, after, &second);
  good = good && CHECK_STR(printed(after), once);
  for (rule_id rule = 0; rule < RULE_COUNT && good; rule++)
    good = CHECK_EQ_U64(second.of[rule].times, 0);
  count_firings(&log, fired);
  return good;
}

// Where what a part makes was replaced by a value that is the same only there; where one of two
// halves was written again for both.
static const uint64_t faults[] = {10167, 6729};

TEST(random_nets) {
  size_t fired[RULE_COUNT] = {0};
  START();
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++, arena_free(&memory))
    CHECK(check_random(faults[i], fired));
  for (uint64_t seed = 0; seed < 6000; seed++, arena_free(&memory))
    if (!check_random(seed, fired)) {
      random_state r = {seed};
      printf("seed %" PRIu64 "\n%s", seed, printed(random_net_of(&memory, &r, seed % 4 == 0)));
      break;
    }
  for (rule_id rule = RULE_MAP_MAP; rule < RULE_COUNT; rule++)
    if (!CHECK(fired[rule] >= 100))
      printf("%s fired %zu times\n", rules[rule].name, fired[rule]);
}

// ---- examples --------------------------------------------------------------------------------

#define START_STAGE                                                                                \
  "array a0 i32 8 argument 0\n"                                                                    \
  "array a1 i32 8 result 0\n"                                                                      \
  "extern e0 f -> i32 in \"m\"\n"                                                                  \
  "stage 0 n=3\n"                                                                                  \
  "  v0 = load a0 at x0 + 2*x1 + 4*x2\n"

static const struct {
  rule_id rule;
  const char *before, *after;  // what follows the load of v0
} examples[] = {
    {RULE_MAP_MAP,
     "  op 0 step %1\n"
     "    v1[0] = * v0[0] v0[0]\n"
     "  op 1 step %2\n"
     "    v2[0] = + v1[0] i32:1\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = * v0[0] v0[0]\n"
     "    v1[0] = + t0 i32:1\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Another op, which does not read v1, lies between: v3 is made before it.
    {RULE_SAME_PAIR,
     "  op 0 step %1\n"
     "    v1[0] = * v0[0] v0[0]\n"
     "  op 1 directions 0b001 coordinates x0 step %3\n"
     "    v2[0] = + v0[0] v0[1]\n"
     "    v2[1] = - v0[1] v0[0]\n"
     "  op 2 directions 0b100 coordinates x2 step %4\n"
     "    v3[0] = * v1[0] v1[1]\n"
     "    v3[1] = i32:1\n"
     "  op 3 directions 0b001 coordinates x0 step %5\n"
     "    v4[0] = xor v2[0] v2[1]\n"
     "    v4[1] = v0[0]\n"
     "  op 4 directions 0b010 coordinates x1 step %6\n"
     "    v5[0] = xor v4[0] v3[1]\n"
     "    v5[1] = xor v4[1] v3[0]\n"
     "  store v5 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b100 coordinates x2 step %1\n"
     "    t0 = * v0[0] v0[0]\n"
     "    t1 = * v0[1] v0[1]\n"
     "    v1[0] = * t0 t1\n"
     "    v1[1] = i32:1\n"
     "  op 1 directions 0b001 coordinates x0 step %3\n"
     "    t0 = + v0[0] v0[1]\n"
     "    t1 = - v0[1] v0[0]\n"
     "    v2[0] = xor t0 t1\n"
     "    v2[1] = v0[0]\n"
     "  op 2 directions 0b010 coordinates x1 step %6\n"
     "    v3[0] = xor v2[0] v1[1]\n"
     "    v3[1] = xor v2[1] v1[0]\n"
     "  store v3 in a1 at x0 + 2*x1 + 4*x2\n"},
    {RULE_MAP_ID,
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    v1[0] = v0[1]\n"
     "    v1[1] = v0[0]\n"
     "  op 1 directions 0b001 coordinates x0^1 step %4\n"
     "    v2[0] = v1[1]\n"
     "    v2[1] = v1[0]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  store v0 in a1 at x0 + 2*x1 + 4*x2\n"},
    // The second op numbers the pair the other way round.
    {RULE_SAME_PAIR,
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    v1[0] = - v0[0] v0[1]\n"
     "    v1[1] = v0[1]\n"
     "  op 1 directions 0b001 coordinates x0^1 step %4\n"
     "    v2[0] = + v1[0] v1[1]\n"
     "    v2[1] = v1[1]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    t0 = - v0[0] v0[1]\n"
     "    v1[0] = t0\n"
     "    v1[1] = + v0[1] t0\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // A map before pairs, with an index that differs within them.
    {RULE_SAME_PAIR,
     "  op 0 step %1\n"
     "    t0 = index x0 + 2*x1\n"
     "    t1 = convert i32 t0\n"
     "    v1[0] = + v0[0] t1\n"
     "  op 1 directions 0b011 coordinates x1 step %3\n"
     "    v2[0] = - v1[0] v1[1]\n"
     "    v2[1] = v1[1]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b011 coordinates x1 step %1\n"
     "    t0 = index (x0^x1)\n"
     "    t1 = convert i32 t0\n"
     "    t2 = + v0[0] t1\n"
     "    t3 = index (x0^x1^1) + 2\n"
     "    t4 = convert i32 t3\n"
     "    t5 = + v0[1] t4\n"
     "    v1[0] = - t2 t5\n"
     "    v1[1] = t5\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Only one of a pair goes through the map: its live form becomes an element.
    {RULE_SAME_PAIR,
     "  op 0 live x0^1 step %1\n"
     "    v1[0] = * v0[0] i32:3\n"
     "  op 1 directions 0b001 coordinates x0 step %3\n"
     "    v2[0] = + v0[0] v1[1]\n"
     "    v2[1] = - v0[0] v1[1]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = * v0[1] i32:3\n"
     "    v1[0] = + v0[0] t0\n"
     "    v1[1] = - v0[0] t0\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // What is done with the pairs of direction 0b110 is the same for both x0, but for 5 + 2 x0.
    {RULE_FEWER_DIRECTIONS,
     "  op 0 directions 0b001 0b110 coordinates x0 x2 step %3\n"
     "    v1[0] = - v0[2] v0[0]\n"
     "    v1[1] = - v0[3] v0[1]\n"
     "    v1[2] = * v0[2] i32:5\n"
     "    v1[3] = * v0[3] i32:7\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b110 coordinates x2 step %3\n"
     "    t0 = index 2*x0 + 5\n"
     "    t1 = convert i32 t0\n"
     "    v1[0] = - v0[1] v0[0]\n"
     "    v1[1] = * v0[1] t1\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Both halves of x2 do the same, the one from behind.
    {RULE_OP_BMMC,
     "  op 0 directions 0b001 0b100 coordinates x0 x2 step %3\n"
     "    v1[0] = - v0[0] v0[2]\n"
     "    v1[1] = - v0[1] v0[3]\n"
     "    v1[2] = + v0[1] v0[3]\n"
     "    v1[3] = + v0[0] v0[2]\n"
     "  op 1 directions 0b010 coordinates x1 step %4\n"
     "    t0 = index x0 + 2*x2\n"
     "    t1 = convert i32 t0\n"
     "    v2[0] = - v1[0] v1[1]\n"
     "    v2[1] = + v1[0] t1\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b100 coordinates x2 step %3\n"
     "    v1[0] = - v0[0] v0[1]\n"
     "    v1[1] = + v0[0] v0[1]\n"
     "  op 1 directions 0b010 coordinates x1 step %4\n"
     "    t0 = index (x0^x2) + 2*x2\n"
     "    t1 = convert i32 t0\n"
     "    v2[0] = - v1[0] v1[1]\n"
     "    v2[1] = + v1[0] t1\n"
     "  store v2 in a1 at (x0^x2) + 2*x1 + 4*x2\n"},
    // Columns up where x2 is 0, down where it is 1, which number the pairs otherwise.
    {RULE_TWO_PARTS,
     "  op 0 directions 0b001 coordinates x0 live x2 step %1\n"
     "    v1[0] = + v0[0] v0[1]\n"
     "    v1[1] = - v0[0] v0[1]\n"
     "  op 1 directions 0b001 coordinates x0 live x2^1 step %2\n"
     "    v2[0] = - v0[0] v0[1]\n"
     "    v2[1] = + v0[0] v0[1]\n"
     "  op 2 directions 0b010 coordinates x1 live x2 step %3\n"
     "    v3[0] = min v1[0] v1[1]\n"
     "    v3[1] = / v1[0] v1[1]\n"
     "  op 3 directions 0b010 coordinates x1 live x2^1 step %4\n"
     "    v4[0] = / v2[0] v2[1]\n"
     "    v4[1] = min v2[0] v2[1]\n"
     "  op 4 step %5\n"
     "    t0 = index x2\n"
     "    t1 = < t0 i64:1\n"
     "    v5[0] = select t1 v3[0] v4[0]\n"
     "  store v5 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = index x2\n"
     "    t1 = < t0 i64:1\n"
     "    t2 = + v0[0] v0[1]\n"
     "    t3 = - v0[0] v0[1]\n"
     "    v1[0] = select t1 t2 t3\n"
     "    v1[1] = select t1 t3 t2\n"
     "  op 1 directions 0b010 coordinates x1 step %3\n"
     "    t0 = index x2\n"
     "    t1 = < t0 i64:1\n"
     "    t2 = min v1[0] v1[1]\n"
     "    t3 = / v1[0] v1[1]\n"
     "    v2[0] = select t1 t2 t3\n"
     "    v2[1] = select t1 t3 t2\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Sorted up where x2 is 0, down where it is 1; the same by two forms, one after the other.
    {RULE_TURNED_HALF,
     "  op 0 directions 0b001 coordinates x0 live x2 step %1\n"
     "    v1[0] = min v0[0] v0[1]\n"
     "    v1[1] = max v0[0] v0[1]\n"
     "  op 1 directions 0b001 coordinates x0^1 live x2^1 step %2\n"
     "    v2[0] = min v0[0] v0[1]\n"
     "    v2[1] = max v0[0] v0[1]\n"
     "  op 2 step %3\n"
     "    t0 = index x2\n"
     "    t1 = < t0 i64:1\n"
     "    v3[0] = select t1 v1[0] v2[0]\n"
     "  op 3 directions 0b010 coordinates x1 step %4\n"
     "    t0 = index x0\n"
     "    t1 = index 3*x2\n"
     "    t2 = < t0 i64:1\n"
     "    t3 = < i64:1 t1\n"
     "    t4 = max v3[0] v3[1]\n"
     "    t5 = min v3[0] v3[1]\n"
     "    t6 = - t4 t5\n"
     "    t7 = select t2 t5 t6\n"
     "    t8 = select t2 t6 t5\n"
     "    v4[0] = select t3 t7 t8\n"
     "    v4[1] = select t3 t8 t7\n"
     "  store v4 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0^x2 step %1\n"
     "    v1[0] = min v0[0] v0[1]\n"
     "    v1[1] = max v0[0] v0[1]\n"
     "  op 1 directions 0b010 coordinates x0^x1^x2 step %4\n"
     "    t0 = max v1[0] v1[1]\n"
     "    t1 = min v1[0] v1[1]\n"
     "    v2[0] = - t0 t1\n"
     "    v2[1] = t1\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n"},
    // A function of both elements for each of them, and another one that combines what they make.
    {RULE_ONE_OUTPUT,
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    v1[0] = * v0[0] v0[1]\n"
     "    v1[1] = dead i32\n"
     "    v2[0] = dead i32\n"
     "    v2[1] = - v0[0] v0[1]\n"
     "  op 1 directions 0b011 coordinates x0 step %2\n"
     "    v3[0] = + v1[0] v2[1]\n"
     "    v3[1] = - v1[0] v2[1]\n"
     "  store v3 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    v1[0] = * v0[0] v0[1]\n"
     "    v1[1] = - v0[0] v0[1]\n"
     "  op 1 directions 0b011 coordinates x0 step %2\n"
     "    v2[0] = + v1[0] v1[1]\n"
     "    v2[1] = - v1[0] v1[1]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Of pairs in two directions the first element, of an array zipped in.
    {RULE_ONE_LOAD,
     "  v1 = load a0 at x0 + 4*x2\n"
     "  v2 = load a0 at x0 + 2*x1\n"
     "  op 0 directions 0b010 coordinates x1 step %3\n"
     "    v3[0] = - v0[1] v1[0]\n"
     "    v3[1] = + v0[0] v1[0]\n"
     "  op 1 directions 0b100 coordinates x2 step %4\n"
     "    v4[0] = - v3[1] v2[0]\n"
     "    v4[1] = + v3[0] v2[0]\n"
     "  store v4 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b010 coordinates x1 step %3\n"
     "    v1[0] = - v0[1] v0[0]\n"
     "    v1[1] = + v0[0] v0[0]\n"
     "  op 1 directions 0b100 coordinates x2 step %4\n"
     "    v2[0] = - v1[1] v0[0]\n"
     "    v2[1] = + v1[0] v0[0]\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Where x1 is x0, both bits of an address are one row of the other load.
    {RULE_ONE_LOAD,
     "  v1 = load a0 at 3*x0 + 4*x2\n"
     "  op 0 live x0^x1 step %3\n"
     "    v2[0] = * v1[0] i32:3\n"
     "  store v2 in a1 at x0 + 2*x1 + 4*x2 live x0^x1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0^x1^1\n",
     "  op 0 live x0^x1 step %3\n"
     "    v1[0] = * v0[0] i32:3\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2 live x0^x1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0^x1^1\n"},
    {RULE_DEAD,
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    v1[0] = + v0[0] v0[1]\n"
     "    v1[1] = - v0[0] v0[1]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2 live x0 x2^1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0^1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0 x2\n",
     "  op 0 directions 0b001 coordinates x0 live x2^1 step %3\n"
     "    v1[0] = + v0[0] v0[1]\n"
     "    v1[1] = dead i32\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2 live x0 x2^1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0^1\n"
     "  store v0 in a1 at x0 + 2*x1 + 4*x2 live x0 x2\n"},
    {RULE_CONSTANT,
     "  op 0 step %1\n"
     "    t0 = index 3*(1) - 5\n"
     "    t1 = convert i32 t0\n"
     "    t2 = + i32:7 t1\n"
     "    t3 = <= t1 t2\n"
     "    t4 = select t3 v0[0] t2\n"
     "    v1[0] = xor t4 t2\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    v1[0] = xor v0[0] i32:5\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    {RULE_IDENTITY,
     "  op 0 step %1\n"
     "    t0 = + i32:0 v0[0]\n"
     "    t1 = * t0 i32:1\n"
     "    t2 = < t1 i32:5\n"
     "    t3 = ~ t2\n"
     "    t4 = ~ t3\n"
     "    t5 = ~ t4\n"
     "    t6 = xor t1 v0[0]\n"
     "    v1[0] = select t5 t6 t1\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = >= v0[0] i32:5\n"
     "    v1[0] = select t0 i32:0 v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // The order of pairs: x < y, or x = y and the second components are in order.
    {RULE_IDENTITY,
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = total_le v0[1] v0[0]\n"
     "    t1 = ~ t0\n"
     "    t2 = total_le v0[0] v0[1]\n"
     "    t3 = & t2 t0\n"
     "    t4 = & v0[0] i32:1\n"
     "    t5 = & v0[1] i32:1\n"
     "    t6 = total_le t4 t5\n"
     "    t7 = & t3 t6\n"
     "    t8 = | t1 t7\n"
     "    v1[0] = select t8 v0[0] v0[1]\n"
     "    v1[1] = select t8 v0[1] v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = > v0[1] v0[0]\n"
     "    t1 = == v0[0] v0[1]\n"
     "    t2 = & v0[0] i32:1\n"
     "    t3 = & v0[1] i32:1\n"
     "    t4 = total_le t2 t3\n"
     "    t5 = & t1 t4\n"
     "    t6 = | t0 t5\n"
     "    v1[0] = select t6 v0[0] v0[1]\n"
     "    v1[1] = select t6 v0[1] v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // The same of floats: no strict total order has a name.
    {RULE_IDENTITY,
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = convert f32 v0[1]\n"
     "    t1 = convert f32 v0[0]\n"
     "    t2 = total_le t0 t1\n"
     "    t3 = ~ t2\n"
     "    t4 = total_le t1 t0\n"
     "    t5 = & t4 t2\n"
     "    t6 = == v0[0] i32:2\n"
     "    t7 = & t5 t6\n"
     "    t8 = | t3 t7\n"
     "    v1[0] = select t8 v0[0] v0[1]\n"
     "    v1[1] = select t8 v0[1] v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %1\n"
     "    t0 = convert f32 v0[1]\n"
     "    t1 = convert f32 v0[0]\n"
     "    t2 = total_le t0 t1\n"
     "    t3 = ~ t2\n"
     "    t4 = total_le t1 t0\n"
     "    t5 = == v0[0] i32:2\n"
     "    t6 = & t4 t5\n"
     "    t7 = | t3 t6\n"
     "    v1[0] = select t7 v0[0] v0[1]\n"
     "    v1[1] = select t7 v0[1] v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // The root of a butterfly, the range of an index.
    {RULE_INDEX,
     "  op 0 step %1\n"
     "    t0 = index x2\n"
     "    t1 = * t0 i64:3\n"
     "    t2 = index (x1^1) - 4\n"
     "    t3 = - t1 t2\n"
     "    t4 = + t3 t2\n"
     "    t5 = negate t3\n"
     "    t6 = root c64 8 t5\n"
     "    t7 = re t6\n"
     "    t8 = convert i32 t7\n"
     "    t9 = < t3 t2\n"
     "    t10 = select t9 i32:1 t8\n"
     "    t11 = convert i32 t4\n"
     "    t12 = xor t10 t11\n"
     "    v1[0] = xor t12 v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = index -x1 - 3*x2 - 3\n"
     "    t1 = root c64 8 t0\n"
     "    t2 = re t1\n"
     "    t3 = convert i32 t2\n"
     "    t4 = index 3*x2\n"
     "    t5 = convert i32 t4\n"
     "    t6 = xor t3 t5\n"
     "    v1[0] = xor t6 v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Remainders by 8, and by 6 from below and from above.
    {RULE_INDEX,
     "  op 0 step %1\n"
     "    t0 = index x0 + 2*x1 + 4*x2 - 2\n"
     "    t1 = % t0 i64:8\n"
     "    t2 = % t0 i64:6\n"
     "    t3 = index x0 + 2*x1 + 4*x2 + 3\n"
     "    t4 = % t3 i64:6\n"
     "    t5 = + t1 t2\n"
     "    t6 = + t5 t4\n"
     "    t7 = convert i32 t6\n"
     "    v1[0] = xor t7 v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = index x0 + 2*x1 + 4*x2 - 2\n"
     "    t1 = & t0 i64:7\n"
     "    t2 = < t0 i64:0\n"
     "    t3 = index x0 + 2*x1 + 4*x2 + 4\n"
     "    t4 = select t2 t3 t0\n"
     "    t5 = + t1 t4\n"
     "    t6 = index x0 + 2*x1 + 4*x2 + 3\n"
     "    t7 = < t6 i64:6\n"
     "    t8 = index x0 + 2*x1 + 4*x2 - 3\n"
     "    t9 = select t7 t6 t8\n"
     "    t10 = + t5 t9\n"
     "    t11 = convert i32 t10\n"
     "    v1[0] = xor t11 v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Bit 2 of an index and of 4 less are never alike.
    {RULE_INDEX,
     "  op 0 step %1\n"
     "    t0 = index x0 + 2*x1 + 4*x2 - 1\n"
     "    t1 = & t0 i64:4\n"
     "    t2 = == t1 i64:4\n"
     "    v1[0] = select t2 v0[0] i32:0\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = index x0 + 2*x1 + 4*x2 + 3\n"
     "    t1 = & t0 i64:4\n"
     "    t2 = == t1 i64:0\n"
     "    v1[0] = select t2 v0[0] i32:0\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // Choices in a branch that know its condition.
    {RULE_IDENTITY,
     "  op 0 step %1\n"
     "    t0 = != v0[0] i32:5\n"
     "    t1 = select t0 v0[0] i32:7\n"
     "    t2 = min t1 i32:9\n"
     "    t3 = max t1 i32:8\n"
     "    v1[0] = select t0 t2 t3\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 step %1\n"
     "    t0 = == v0[0] i32:5\n"
     "    t1 = min v0[0] i32:9\n"
     "    v1[0] = select t0 i32:8 t1\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    {RULE_MINMAX,
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    t0 = total_le v0[0] v0[1]\n"
     "    v1[0] = select t0 v0[0] v0[1]\n"
     "    v1[1] = select t0 v0[1] v0[0]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    v1[0] = min v0[0] v0[1]\n"
     "    v1[1] = max v0[0] v0[1]\n"
     "  store v1 in a1 at x0 + 2*x1 + 4*x2\n"},
    // One op for each component; the second load is the first.
    {RULE_COMMON_SUBEXPRESSION,
     "  v1 = load a0 at x0 + 2*x1 + 4*x2\n"
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    t0 = * v0[0] v0[1]\n"
     "    v2[0] = + t0 v0[0]\n"
     "    v2[1] = - t0 v0[0]\n"
     "  op 1 directions 0b001 coordinates x0 step %4\n"
     "    t0 = * v1[0] v1[1]\n"
     "    v3[0] = + t0 v1[1]\n"
     "    v3[1] = + t0 i32:3\n"
     "  op 2 directions 0b100 coordinates x2 step %5\n"
     "    v4[0] = xor v2[0] v3[1]\n"
     "    v4[1] = xor v2[1] v3[0]\n"
     "  store v4 in a1 at x0 + 2*x1 + 4*x2\n",
     "  op 0 directions 0b001 coordinates x0 step %3\n"
     "    t0 = * v0[0] v0[1]\n"
     "    v1[0] = + t0 v0[0]\n"
     "    v1[1] = - t0 v0[0]\n"
     "    v2[0] = + t0 v0[1]\n"
     "    v2[1] = + t0 i32:3\n"
     "  op 1 directions 0b100 coordinates x2 step %5\n"
     "    v3[0] = xor v1[0] v2[1]\n"
     "    v3[1] = xor v1[1] v2[0]\n"
     "  store v3 in a1 at x0 + 2*x1 + 4*x2\n"},
};

static net *read_example(const char *middle) {
  const char *wrong = NULL;
  net *t = net_read(&memory, arena_printf(&memory, START_STAGE "%s", middle), &wrong);
  if (!t)
    printf("%s\n%s", wrong, middle);
  return t;
}

TEST(each_rule) {
  START();
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    net *before = read_example(examples[i].before), *t = read_example(examples[i].before);
    size_t fired[RULE_COUNT] = {0};
    rule_log log = {.memory = &memory};
    REQUIRE(t && before);
    CHECK_STR(net_verify(&memory, t), NULL);
    rules_apply(&memory, t, &log);
    count_firings(&log, fired);
    CHECK(fired[examples[i].rule] > 0);
    CHECK_STR(printed(t), arena_printf(&memory, START_STAGE "%s", examples[i].after));
    CHECK_STR(net_verify(&memory, t), NULL);
    CHECK(same_results(before, net_evaluate(&memory, before, i), t, net_evaluate(&memory, t, i)));
  }
  arena_free(&memory);
}

// A stage that is alive where x1 and x2 differ.
TEST(spaces) {
  static const char before[] = "array a0 i32 8 argument 0\n"
                               "array a1 i32 4 result 0\n"
                               "stage 0 n=3\n"
                               "  v0 = load a0 at x0 + 2*x1 + 4*x2\n"
                               "  op 0 directions 0b001 coordinates x0 live x1^x2^1 step %3\n"
                               "    t0 = index x1 + 2*x2\n"
                               "    t1 = convert i32 t0\n"
                               "    v1[0] = + v0[0] v0[1]\n"
                               "    v1[1] = - v0[0] t1\n"
                               "  store v1 in a1 at x0 + 2*x1 live x1^x2^1\n";
  static const char after[] = "array a0 i32 8 argument 0\n"
                              "array a1 i32 4 result 0\n"
                              "stage 0 n=2\n"
                              "  v0 = load a0 at x0 + 2*x1 + 2\n"
                              "  op 0 directions 0b01 coordinates x0 step %3\n"
                              "    t0 = index x1 + 1\n"
                              "    t1 = convert i32 t0\n"
                              "    v1[0] = + v0[0] v0[1]\n"
                              "    v1[1] = - v0[0] t1\n"
                              "  store v1 in a1 at x0 + 2*(x1^1)\n";
  const char *wrong = NULL;
  START();
  net *t = net_read(&memory, before, &wrong), *u = net_read(&memory, before, &wrong);
  REQUIRE(t && u);
  rules_apply(&memory, u, NULL);
  CHECK_STR(printed(u), after);
  CHECK_STR(net_verify(&memory, u), NULL);
  CHECK(same_results(t, net_evaluate(&memory, t, 1), u, net_evaluate(&memory, u, 1)));
  arena_free(&memory);
}

// The same op where nothing is alive, and on two parts that only the whole contains: what is dead
// does not make the whole worth its while.
TEST(dead_parts) {
  static const char parts[] =
      "array a0 i32 256 argument 0\n"
      "array a1 i32 16 result 0\n"
      "array a2 i32 16 result 1\n"
      "stage 0 n=8\n"
      "  v0 = load a0 at x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6 + 128*x7\n"
      "  op 0 live x0 x0^1 step %1\n"
      "    v1[0] = * v0[0] v0[0]\n"
      "  op 1 live x4 x5 x6 x7 step %2\n"
      "    v2[0] = * v0[0] v0[0]\n"
      "  op 2 live x0 x1 x2 x3 step %3\n"
      "    v3[0] = * v0[0] v0[0]\n"
      "  store v2 in a1 at x0 + 2*x1 + 4*x2 + 8*x3 live x4 x5 x6 x7\n"
      "  store v3 in a2 at x4 + 2*x5 + 4*x6 + 8*x7 live x0 x1 x2 x3\n";
  const char *wrong = NULL;
  START();
  CHECK_EQ_U64(live_points(live_empty(8)), 0);
  CHECK_EQ_U64(live_points(live_all(8)), 256);
  net *t = net_read(&memory, parts, &wrong);
  REQUIRE(t != NULL);
  CHECK_STR(net_verify(&memory, t), NULL);
  rules_apply(&memory, t, NULL);
  CHECK_EQ_U64(t->stages.items[0].ops.count, 2);
  for (size_t i = 0; i < t->stages.items[0].ops.count; i++)
    CHECK_EQ_U64(t->stages.items[0].ops.items[i].live_count, 4);
  arena_free(&memory);
}

// What one stage takes at places, and another one in order, is stored once: then both are loads of one
// array. In another order, too, and with gaps, if one of both is loaded at affine places.
static void check_stored_once(const char *stores, size_t loads) {
  START();
  const char *wrong = NULL;
  text source = {0};
  text_printf(&source,
              "array a0 i32 8 argument 0\n"
              "array a1 i32 8 temporary\n"
              "array a2 i32 %s\n"
              "  op 0 step %%2\n"
              "    v2[0] = * v0[0] v1[0]\n"
              "  store v2 in a3 at x0 + 2*x1 + 4*x2\n",
              stores);
  net *before = net_read(&memory, source.data, &wrong),
      *after = net_read(&memory, source.data, &wrong);
  rule_log log = {.memory = &memory};
  text_free(&source);
  REQUIRE(before && after);
  rules_apply(&memory, after, &log);
  CHECK_EQ_U64(log.of[RULE_ONE_STORE].times, 1);
  CHECK_EQ_U64(after->arrays.count, 3);
  CHECK_EQ_U64(after->stages.items[1].loads.count, loads);
  CHECK_STR(net_verify(&memory, after), NULL);
  CHECK(same_results(before, net_evaluate(&memory, before, 1), after,
                     net_evaluate(&memory, after, 1)));
  arena_free(&memory);
}

TEST(stored_once) {
#define STAGE_0                                                                                    \
  "array a3 i32 8 result 0\n"                                                                      \
  "stage 0 n=3\n"                                                                                  \
  "  v0 = load a0 at x0 + 2*x1 + 4*x2\n"                                                           \
  "  op 0 step %1\n"                                                                               \
  "    v1[0] = * v0[0] v0[0]\n"                                                                    \
  "  store v1 in a1 at 4*x0 + 2*x1 + x2\n"
  check_stored_once("8 temporary\n" STAGE_0 "  store v1 in a2 at 4*x0 + 2*x1 + x2\n"
                    "stage 1 n=3\n"
                    "  v0 = load a2 at x0 + 2*x1 + 4*x2\n"
                    "  v1 = load a1 at x0 + 2*x1 + 4*x2",
                    1);
  check_stored_once("32 temporary\n" STAGE_0 "  store v1 in a2 at 2*x0 + 4*(x1^1) + 8*(x0^x2) + 1\n"
                    "stage 1 n=3\n"
                    "  v0 = load a2 at 8*x0 + 4*x1 + 2*x2 + 1\n"
                    "  v1 = load a1 at x0 + 2*x1 + 4*x2 + 1 padded from 8 with i32:3",
                    2);
#undef STAGE_0
}

// Of sums of rows one in a row is read: they lie one after the other, and only the first of elements
// that are equal is stored.
TEST(thin_arrays) {
  START();
  const char *wrong = NULL, *source =
                                "array a0 i32 24 argument 0\n"
                                "array a1 i32 24 temporary\n"
                                "array a2 i32 8 result 0\n"
                                "stage 0 n=2 loops 6\n"
                                "  v0 = load a0 at 4*o0 + x0 + 2*x1\n"
                                "  op 0 directions 0b01 coordinates x0 step %1\n"
                                "    v1[0] = + v0[0] v0[1]\n"
                                "    v1[1] = dead i32\n"
                                "  op 1 directions 0b10 coordinates x1 live x0 step %2\n"
                                "    t0 = + v1[0] v1[1]\n"
                                "    v2[0] = t0\n"
                                "    v2[1] = t0\n"
                                "  store v2 in a1 at 4*o0 + x0 + 2*x1 live x0\n"
                                "stage 1 n=3\n"
                                "  v0 = load a1 at 4*x0 + 8*x1 + 16*x2 padded from 24 with i32:7\n"
                                "  op 0 step %3\n"
                                "    v1[0] = * v0[0] v0[0]\n"
                                "  store v1 in a2 at x0 + 2*x1 + 4*x2\n";
  net *before = net_read(&memory, source, &wrong), *after = net_read(&memory, source, &wrong);
  rule_log log = {.memory = &memory};
  REQUIRE(before && after);
  rules_apply(&memory, after, &log);
  CHECK_EQ_U64(log.of[RULE_THIN].times, 1);
  CHECK_EQ_U64(after->arrays.items[1].count, 6);
  CHECK_EQ_U64(after->stages.items[1].loads.items[0].padding_start, 6);
  CHECK_STR(net_verify(&memory, after), NULL);
  CHECK(same_results(before, net_evaluate(&memory, before, 1), after,
                     net_evaluate(&memory, after, 1)));
  arena_free(&memory);
}

// What is made of the other elements of a pair is no part of what it was put beside: op 3 is op 1
// on all indices, and v2 is none of it.
TEST(what_is_beside_a_part) {
  START();
  const char *ops = "  op 0 directions 0b001 coordinates x0 step %1\n"
                    "    v1[0] = + v0[0] v0[1]\n"
                    "    v1[1] = - v0[0] v0[1]\n"
                    "  op 1 live x0 step %2\n"
                    "    v2[0] = * v1[0] i32:3\n"
                    "  op 2 live x0^1 step %3\n"
                    "    v3[0] = * v1[0] i32:5\n"
                    "  op 3 step %4\n"
                    "    v4[0] = * v1[0] i32:3\n"
                    "  op 4 directions 0b001 coordinates x0 step %5\n"
                    "    v5[0] = xor v2[0] v3[1]\n"
                    "    v5[1] = + v2[0] v3[1]\n"
                    "  op 5 directions 0b010 coordinates x1 step %6\n"
                    "    v6[0] = + v1[0] v5[1]\n"
                    "    v6[1] = - v1[1] v5[0]\n"
                    "  store v4 in a1 at x0 + 2*x1 live x2\n"
                    "  store v6 in a1 at x0 + 2*x1 + 4 live x2\n";
  net *before = read_example(ops), *after = read_example(ops);
  REQUIRE(before && after);
  CHECK_STR(net_verify(&memory, before), NULL);
  rules_apply(&memory, after, NULL);
  CHECK_STR(net_verify(&memory, after), NULL);
  CHECK(same_results(before, net_evaluate(&memory, before, 1), after,
                     net_evaluate(&memory, after, 1)));
  arena_free(&memory);
}

// A ladder: op r_i takes in a_i, and reads a_(i + 1) no more then, which has the live set of
// r_(i + 1) then. A rung is a round.
//
//   a_i = x_i * y_i; r_i = ((x_i * y_i ^ a_i) & a_(i + 1)) + x_i where x0 is i & 1
static net *ladder(uint32_t rungs) {
  text out = {0};
  const char *wrong = NULL;
  uint32_t loads = 2 * rungs + 2, made = loads + rungs + 1;
  for (uint32_t i = 0; i < loads; i++)
    text_printf(&out, "array a%u i32 2 argument %u\n", i, i);
  for (uint32_t i = 0; i < rungs; i++)
    text_printf(&out, "array a%u i32 1 result %u\n", loads + i, i);
  text_string(&out, "stage 0 n=1\n");
  for (uint32_t i = 0; i < loads; i++)
    text_printf(&out, "  v%u = load a%u at x0\n", i, i);
  for (uint32_t k = 0, i = rungs; k <= rungs; k++, i--)
    text_printf(&out, "  op %u step %%1\n    v%u[0] = * v%u[0] v%u[0]\n", k, loads + i, 2 * i,
                2 * i + 1);
  for (uint32_t i = 0; i < rungs; i++)
    text_printf(&out,
                "  op %u live x0%s step %%2\n    t0 = * v%u[0] v%u[0]\n    t1 = xor t0 v%u[0]\n"
                "    t2 = & t1 v%u[0]\n    v%u[0] = + t2 v%u[0]\n",
                rungs + 1 + i, i % 2 ? "^1" : "", 2 * i, 2 * i + 1, loads + i, loads + i + 1,
                made + i, 2 * i);
  for (uint32_t i = 0; i < rungs; i++)
    text_printf(&out, "  store v%u in a%u at 0 live x0%s\n", made + i, loads + i,
                i % 2 ? "^1" : "");
  net *t = net_read(&memory, text_content(&out), &wrong);
  if (!t)
    printf("%s\n%s", wrong, text_content(&out));
  text_free(&out);
  return t;
}

// Op 1 would read op 0 on larger cosets where it is dead: what was simplified to see that has not fired.
TEST(merge_given_up) {
  static const char apart[] = "array a0 bool 2 argument 0\n"
                              "array a1 i64 2 result 0\n"
                              "stage 0 n=1\n"
                              "  v0 = load a0 at 0\n"
                              "  op 0 live x0 step %1\n"
                              "    t0 = index 4*x0 - 4\n"
                              "    v1[0] = clz t0\n"
                              "  op 1 directions 0b1 coordinates x0^1 step %2\n"
                              "    t0 = select v0[0] i64:-4 v1[0]\n"
                              "    v2[0] = max t0 i64:0\n"
                              "    v2[1] = i64:1\n"
                              "  store v2 in a1 at (x0^1)\n";
  const char *wrong = NULL;
  START();
  net *t = net_read(&memory, apart, &wrong);
  REQUIRE(t);
  rule_log log = {.memory = &memory};
  rules_apply(&memory, t, &log);
  CHECK_STR(printed(t), apart);
  CHECK_EQ_U64(log.of[RULE_CONSTANT].times, 0);
  CHECK(!log.stopped);
  arena_free(&memory);
}

// Rules are applied until none fires; where that takes very long, the log says that they were not.
TEST(many_rounds) {
  START();
  for (uint32_t rungs = 20; rungs <= 200; rungs += 180) {
    net *t = ladder(rungs);
    REQUIRE(t != NULL);
    CHECK_STR(net_verify(&memory, t), NULL);
    rule_log log = {.memory = &memory};
    text out = {0};
    rules_apply(&memory, t, &log);
    CHECK_STR(net_verify(&memory, t), NULL);
    rules_print(&out, &log);
    CHECK(log.stopped == (rungs == 200));
    if (log.stopped)
      CHECK_CONTAINS(out.data, "stopped after 64 rounds, more rules might apply");
    else
      CHECK_EQ_U64(t->stages.items[0].ops.count, 0);
    text_free(&out);
  }
  arena_free(&memory);
}

// What must stay as it is.
static const char *const untouched[] = {
    // floats: NaN and -0
    "  op 0 step %1\n"
    "    t0 = convert f32 v0[0]\n"
    "    t1 = sqrt t0\n"
    "    t2 = <= t0 t1\n"
    "    t3 = select t2 t0 t1\n"
    "    t4 = + t3 f32:0\n"
    "    t5 = * t4 f32:1\n"
    "    v1[0] = convert i32 t5\n"
    "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
    // a choice between other things than are compared
    "  op 0 step %1\n"
    "    t0 = <= v0[0] i32:5\n"
    "    v1[0] = select t0 v0[0] i32:6\n"
    "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
    // other directions
    "  op 0 directions 0b001 coordinates x0 step %3\n"
    "    v1[0] = - v0[1] v0[0]\n"
    "    v1[1] = v0[0]\n"
    "  op 1 directions 0b010 coordinates x1 step %3\n"
    "    v2[0] = - v1[1] v1[0]\n"
    "    v2[1] = v1[0]\n"
    "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
    // the same pairs, but which element is the first depends on x1
    "  op 0 directions 0b001 coordinates x0 step %3\n"
    "    v1[0] = - v0[1] v0[0]\n"
    "    v1[1] = v0[0]\n"
    "  op 1 directions 0b001 coordinates x0^x1 step %3\n"
    "    v2[0] = v1[0]\n"
    "    v2[1] = - v1[1] v1[0]\n"
    "  store v2 in a1 at x0 + 2*x1 + 4*x2\n",
    // elements change places, but the other operand of their reader does not
    "  op 0 directions 0b001 coordinates x0 step %3\n"
    "    v1[0] = - v0[1] v0[0]\n"
    "    v1[1] = v0[0]\n"
    "  op 1 directions 0b010 coordinates x1 step %3\n"
    "    v2[0] = v1[1]\n"
    "    v2[1] = + v1[0] i32:1\n"
    "  op 2 directions 0b100 coordinates x2 step %4\n"
    "    v3[0] = - v2[1] v1[0]\n"
    "    v3[1] = - v1[1] v2[0]\n"
    "  store v3 in a1 at x0 + 2*x1 + 4*x2\n",
    // foreign functions of constants
    "  op 0 step %1\n"
    "    t0 = extern e0 i32\n"
    "    v1[0] = xor v0[0] t0\n"
    "  store v1 in a1 at x0 + 2*x1 + 4*x2\n",
    // what lies between needs the first, and is needed by the last
    "  op 0 directions 0b001 coordinates x0 step %3\n"
    "    v1[0] = + v0[1] v0[0]\n"
    "    v1[1] = - v0[1] v0[0]\n"
    "  op 1 directions 0b010 coordinates x1 step %3\n"
    "    v2[0] = v1[1]\n"
    "    v2[1] = v1[0]\n"
    "  op 2 directions 0b001 coordinates x0 step %3\n"
    "    v3[0] = - v1[1] v2[0]\n"
    "    v3[1] = v2[1]\n"
    "  store v3 in a1 at x0 + 2*x1 + 4*x2\n",
};

TEST(side_conditions) {
  START();
  for (size_t i = 0; i < sizeof untouched / sizeof *untouched; i++) {
    net *t = read_example(untouched[i]);
    const char *whole = printed(t);
    CHECK_STR(net_verify(&memory, t), NULL);
    rule_log log = {.memory = &memory};
    rules_apply(&memory, t, &log);
    CHECK_STR(printed(t), whole);
  }
  arena_free(&memory);
}

TEST(what_is_saved) {
  START();
  net *t = read_example(examples[0].before);
  rule_log log = {.memory = &memory};
  text out = {0};
  rules_apply(&memory, t, &log);
  rules_print(&out, &log);
  CHECK_CONTAINS(out.data, "map-map               1 time, at %1; 64 bytes saved\n"
                           "                      map f . map g = map (f . g)");
  CHECK_CONTAINS(out.data, "dead                  1 time, at %1");
  text_free(&out);
  rules_apply(&memory, read_example(examples[0].before), NULL);
  arena_free(&memory);
}

// ---- time ------------------------------------------------------------------------------------

static net_id add_node(net_stage *s, net_node_kind kind, scalar_type type, uint32_t count,
                       const net_id *operands) {
  net_node node = {.kind = kind,
                   .type = type,
                   .scalar = OP_TOTAL_LE,
                   .operand_count = count,
                   .operands = (net_id *)operands};
  return net_node_add(&memory, s, &node);
}

// Two components, an op for each: sort_by on keys with a payload.
static void add_column(net_stage *s, uint64_t direction, net_id *values) {
  net_id key[2], made[2];
  for (uint64_t j = 0; j < 2; j++)
    key[j] = net_node_add(
        &memory, s,
        &(net_node){.kind = NET_ELEMENT, .type = SCALAR_I32, .value = values[0], .number = j});
  net_id le = add_node(s, NET_SCALAR, SCALAR_BOOL, 2, key);
  for (int i = 0; i < 2; i++) {
    net_op op = {.k = 1, .directions = NEW(&memory, uint64_t), .output_count = 1};
    op.coordinates = NEW(&memory, net_form);
    op.outputs = NEW(&memory, net_output);
    op.directions[0] = direction;
    op.coordinates[0].mask = f2_unit(f2_msb(direction));
    op.outputs->value = made[i] = net_value_add(&memory, s, SCALAR_I32);
    op.outputs->elements = NEW_ARRAY(&memory, net_id, 2);
    net_id x[2];
    for (uint64_t j = 0; j < 2; j++)
      x[j] = net_node_add(
          &memory, s,
          &(net_node){.kind = NET_ELEMENT, .type = SCALAR_I32, .value = values[i], .number = j});
    for (int j = 0; j < 2; j++)
      op.outputs->elements[j] =
          add_node(s, NET_SELECT, SCALAR_I32, 3, (net_id[]){le, x[j], x[1 - j]});
    vec_push(&memory, &s->ops, op);
  }
  memcpy(values, made, sizeof made);
}

// 465 columns of a bitonic sorter of 2^30 pairs: the rules take some milliseconds (PERMC_SHOW=1).
TEST(large_sorter) {
  START();
  enum { BITS = 30 };
  net t = {0};
  net_stage s = {.n = BITS};
  random_state r = {1};
  net_id values[2];
  net_map address = random_address(&memory, &r, &s);
  for (uint32_t i = 0; i < 2; i++) {
    values[i] = net_value_add(&memory, &s, SCALAR_I32);
    net_id array = net_array_add(&memory, &t, SCALAR_I32, UINT64_C(1) << BITS, NET_ARGUMENT, i);
    vec_push(&memory, &s.loads, ((net_load){values[i], array, address, UINT64_MAX, {{0}}}));
  }
  for (int level = 1; level <= BITS; level++)
    for (int i = level; i-- > 0;)
      add_column(&s, i == level - 1 ? f2_mask(level) : f2_unit(i), values);
  for (uint32_t i = 0; i < 2; i++) {
    net_id array = net_array_add(&memory, &t, SCALAR_I32, UINT64_C(1) << BITS, NET_RESULT, i);
    vec_push(&memory, &s.stores, ((net_store){values[i], array, address, UINT64_MAX, 0, NULL}));
  }
  CHECK_EQ_U64(s.ops.count, 930);
  vec_push(&memory, &t.stages, s);
  rule_log log = {.memory = &memory};
  clock_t before = clock();
  CHECK_STR(net_verify(&memory, &t), NULL);
  clock_t middle = clock();
  rules_apply(&memory, &t, &log);
  clock_t after = clock();
  CHECK_STR(net_verify(&memory, &t), NULL);
  CHECK_EQ_U64(t.stages.items[0].ops.count, 465);
  CHECK_EQ_U64(t.stages.items[0].ops.items[7].output_count, 2);
  double verify = (double)(middle - before) / CLOCKS_PER_SEC * 1e3;
  double rewriting = (double)(after - middle) / CLOCKS_PER_SEC * 1e3;
  if (getenv("PERMC_SHOW"))
    printf("verified in %.1f ms, rewritten in %.1f ms\n", verify, rewriting);
  arena_free(&memory);
}

TEST_MAIN()
