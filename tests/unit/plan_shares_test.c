// Stages in shares: of random nets whose ops leave some index bits alone, planned for several
// targets, each share's items are executed on arrays between passes of its own. What the shares
// make together is what the whole net makes, in whatever order they come; and none writes to what
// another has between passes.
#include "tests/readers/readers.h"
#include "tests/unit/evaluated.h"
#include "tests/unit/memory.h"

#include "tests/unit/compiled.h"

#include "fusion/plan/plan.h"
#include "runtime/cpu/cpu.h"
#include "runtime/portable/portable.h"

// ---- nets -------------------------------------------------------------------------------------

static f2_space directions_of(const net_stage *s) {
  f2_space all = f2_space_zero(s->n);
  for (size_t i = 0; i < s->ops.count; i++)
    for (uint32_t k = 0; k < s->ops.items[i].k; k++)
      f2_space_insert(&all, s->ops.items[i].directions[k]);
  return all;
}

// The stage with other index bits, in which directions are the lowest, and what is left numbers
// shares.
static net_stage shared_by_bits(random_state *r, const net_stage *s) {
  f2_space low = directions_of(s), rest = f2_space_complement(low, f2_space_full(s->n));
  uint64_t columns[F2_MAX];
  for (int i = 0; i < s->n; i++)
    columns[i] = i < low.dimension ? low.basis[i] : rest.basis[i - low.dimension];
  f2_affine change = f2_affine_identity(s->n), back = change;
  change.a = f2_from_columns(s->n, s->n, columns);
  CHECK(f2_affine_inverse(change, &back));
  net_stage shared = {.n = s->n, .shares = (int)random_below(r, (uint32_t)rest.dimension + 1)};
  net_stage_merge(&memory, &shared, s, back);
  return shared;
}

static net *random_shares(random_state *r) {
  net *t = random_net(&memory, r);
  for (size_t i = 0; i < t->stages.count; i++) {
    net_stage *s = &t->stages.items[i];
    if (s->loop_count == 0)
      *s = shared_by_bits(r, s);
    else
      s->share_turns = 1 + random_below(r, (uint32_t)s->extents[0] + 1);
  }
  return t;
}

// Columns of a network in each of 4 shares of 64, of 200 elements.
static const char *padded_columns(text *out) {
  const char *map = "x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6 + 128*x7";
  text_printf(out,
              "array a0 i32 200 argument 0\narray a1 i32 200 result 0\nstage 0 n=8 shares 2\n");
  text_printf(out, "  v0 = load a0 at %s padded from 200 with i32:2147483647\n", map);
  for (int i = 0; i < 12; i++)
    text_printf(out,
                "  op %d directions 0x%x coordinates x%d step %%0\n"
                "    v%d[0] = min v%d[0] v%d[1]\n    v%d[1] = max v%d[0] v%d[1]\n",
                i, 1 << i % 6, i % 6, i + 1, i, i, i + 1, i, i);
  text_printf(out, "  store v12 in a1 at %s padded from 200\n", map);
  return out->data;
}

// The sum of each of 4 shares of 64.
static const char *sums(text *out) {
  text_printf(out, "array a0 i32 256 argument 0\narray a1 i32 4 result 0\nstage 0 n=8 shares 2\n");
  text_printf(out, "  v0 = load a0 at x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6 + 128*x7\n");
  for (int i = 0; i < 6; i++) {
    text_printf(out, "  op %d directions 0x%x coordinates x%d%s", i, 1 << i, i, i ? " live" : "");
    for (int k = 0; k < i; k++)
      text_printf(out, " x%d", k);
    text_printf(out, " step %%0\n    v%d[0] = + v%d[0] v%d[1]\n    v%d[1] = dead i32\n", i + 1, i,
                i, i + 1);
  }
  text_printf(out, "  store v6 in a1 at x6 + 2*x7 live x0 x1 x2 x3 x4 x5\n");
  return out->data;
}

// 1000 elements, of which 5 shares have 208 each, the last one less; blocks of 2^10 and less
// overlap.
static const char *turns(text *out) {
  text_printf(out, "array a0 i32 1000 argument 0\narray a1 i32 1000 result 0\n"
                   "stage 0 n=0 turns 208 loops 1000\n  v0 = load a0 at o0\n"
                   "  op 0 step %%0\n    v1[0] = + v0[0] i32:1\n  store v1 in a1 at o0\n");
  return out->data;
}

static net *read_net(const char *(*write)(text *out)) {
  text out = {0};
  const char *wrong = NULL;
  net *t = net_read(&memory, write(&out), &wrong);
  CHECK_STR(wrong, NULL);
  text_free(&out);
  return t;
}

// ---- execution --------------------------------------------------------------------------------

typedef struct trial {
  random_state *random;
  const plan *plan;
  const cpu_executor *executor;
  void **data;    // by array of the net
  void ***own;    // by share: by array of the plan
  uint64_t most;  // shares of a stage
} trial;

enum { MARK = 0xa5 };

static uint64_t shares_of_pass(const plan *p, uint32_t pass) {
  return net_share_count(&p->net->stages.items[p->passes.items[pass].stage]);
}

// Arrays of the net are one for all shares; those between passes are each share's own.
static void give_memory(trial *t, const evaluation *e) {
  const plan *p = t->plan;
  t->data = NEW_ARRAY(&memory, void *, p->net->arrays.count + 1);
  for (uint32_t i = 0; i < p->passes.count; i++)
    t->most = shares_of_pass(p, i) > t->most ? shares_of_pass(p, i) : t->most;
  t->own = NEW_ARRAY(&memory, void **, t->most + 1);
  for (size_t i = 0; i < p->net->arrays.count; i++) {
    const net_array *a = &p->arrays.items[i];
    size_t size = scalar_types[a->type].size;
    char *to = t->data[i] = arena_alloc(&memory, cpu_array_bytes(a) + 64);
    for (uint64_t x = 0; net_array_is_given(a) && x < a->count; x++)
      memcpy(to + x * size, &e->arrays[i][x].bits, size);
  }
  for (uint64_t s = 0; s < t->most; s++) {
    t->own[s] = NEW_ARRAY(&memory, void *, p->arrays.count + 1);
    for (size_t i = 0; i < p->arrays.count; i++) {
      uint64_t bytes = cpu_array_bytes(&p->arrays.items[i]) + 64;
      t->own[s][i] = i < p->net->arrays.count ? t->data[i] : arena_alloc(&memory, bytes);
      if (i >= p->net->arrays.count)
        memset(t->own[s][i], MARK, bytes);
    }
  }
}

static bool run_share(const trial *t, cpu_store *store, uint32_t pass, uint64_t share) {
  error why = {0};
  cpu_options o = {
      .threads = 1 + random_below(t->random, 2), .executor = t->executor, .store = store};
  uint64_t first, last;
  plan_share_items(t->plan, &t->plan->passes.items[pass], share, &first, &last);
  return cpu_run_items(t->plan, &o, pass, first, last, t->own[share < t->most ? share : 0], &why);
}

// The passes [first, end) of a stage: pass by pass, the shares in any order; or share by share.
static bool run_stage(const trial *t, cpu_store *store, uint32_t first, uint32_t end) {
  uint64_t shares = shares_of_pass(t->plan, first), turn = random_word(t->random) | 1;
  uint32_t passes = end - first;
  bool good = true, share_by_share = random_chance(t->random, 2);
  while (shares & (shares - 1))
    shares++;  // a power of two, so that odd multiples are a permutation: some of these have no items
  for (uint64_t i = 0; i < shares * passes && good; i++) {
    uint64_t pass = share_by_share ? i % passes : i / shares;
    uint64_t share = (share_by_share ? i / passes : i % shares) * turn % shares;
    good = run_share(t, store, first + (uint32_t)pass, share);
  }
  return good;
}

static bool run_shares(const trial *t) {
  const plan *p = t->plan;
  cpu_store *store = cpu_store_new();
  bool good = store != NULL;
  for (uint32_t i = 0, end; i < p->passes.count && good; i = end) {
    for (end = i; end < p->passes.count && p->passes.items[end].stage == p->passes.items[i].stage;)
      end++;
    good = run_stage(t, store, i, end);
  }
  cpu_store_free(store);
  return good;
}

static uint64_t between;  // arrays that shares have had between passes

// Whether no share has written to what another one has of an array between passes.
static bool keep_apart(const trial *t) {
  const plan *p = t->plan;
  bool good = true;
  for (uint64_t s = 0; s < t->most; s++)
    for (size_t i = p->net->arrays.count; i < p->arrays.count; i++) {
      uint64_t size = scalar_types[p->arrays.items[i].type].size, count = p->arrays.items[i].count;
      uint64_t own = plan_share_elements(p, (net_id)i), first = s * own;
      const unsigned char *bytes = t->own[s][i];
      between += own < count && own > 0;
      for (uint64_t x = 0; x < count * size && own; x++)
        good &= (x / size >= first && x / size < first + own) || bytes[x] == MARK;
    }
  return good;
}

// Notes who stores the elements of a move that an item has; whether another share does, too.
static bool note_owner(const plan *p, const plan_pass *pass, const plan_move *m, uint64_t item,
                       uint64_t share, uint64_t *owner) {
  const net_stage *s = &p->net->stages.items[pass->stage];
  int bits = pass->tile.n - pass->tile.dimension;
  uint64_t o[8], base = f2_combine(bits, pass->blocks, item & f2_mask(bits));
  bool good = true;
  net_loop_indices(s, item >> bits, o);
  for (uint64_t i = 0; i < f2_unit(pass->tile.dimension); i++) {
    uint64_t x = base ^ f2_space_element(pass->tile, i), at = (uint64_t)net_map_at(&m->map, o, x);
    if (!all_zero(m->live_count, m->live, x) || at >= m->padding_start)
      continue;
    good &= !owner[at] || owner[at] == share + 1;
    owner[at] = share + 1;
  }
  return good;
}

// Whether no element is stored by two shares.
static bool store_apart(const plan *p) {
  bool good = true;
  for (uint32_t i = 0; i < p->passes.count; i++)
    for (uint32_t k = 0; k < p->passes.items[i].store_count; k++) {
      const plan_pass *pass = &p->passes.items[i];
      const plan_move *m = &pass->stores[k];
      uint64_t *owner = NEW_ARRAY(&memory, uint64_t, p->arrays.items[m->array].count + 1);
      for (uint64_t s = 0, first, last; s < shares_of_pass(p, i); s++) {
        plan_share_items(p, pass, s, &first, &last);
        for (; first < last; first++)
          good &= note_owner(p, pass, m, first, s, owner);
      }
    }
  return good;
}

static bool same_as_whole(const trial *t, const evaluation *e) {
  array results[8] = {{0}};
  for (size_t i = 0; i < t->plan->net->arrays.count; i++)
    if (t->plan->arrays.items[i].role == NET_RESULT)
      results[t->plan->arrays.items[i].number].data = t->data[i];
  return CHECK_EQ_U64(evaluated_wrong(t->plan->net, e, results, true), 0);
}

static bool calls_out(const net *t) {
  for (size_t i = 0; i < t->stages.count; i++)
    for (size_t k = 0; k < t->stages.items[i].nodes.count; k++)
      if (t->stages.items[i].nodes.items[k].kind == NET_EXTERN)
        return true;
  return false;
}

// By an executor, or the portable one.
static bool check_plan(random_state *r, const plan *p, const evaluation *e,
                       const cpu_executor *executor) {
  error why = {0};
  if (!CHECK_STR(plan_verify(&memory, p), NULL) || !CHECK(store_apart(p)))
    return false;
  portable *x = executor ? NULL : portable_new(p, &(portable_options){0}, &why);
  trial t = {.random = r,
             .plan = p,
             .executor = executor ? executor : &(cpu_executor){portable_pass, x, NULL}};
  give_memory(&t, e);
  bool good = (executor || CHECK(x != NULL)) && CHECK(run_shares(&t)) && CHECK(keep_apart(&t)) &&
              same_as_whole(&t, e);
  portable_free(x);
  return good;
}

// ---- targets ----------------------------------------------------------------------------------

enum { TARGETS = 4 };

static target target_of_trial(random_state *r, int i) {
  target t = *target_named(i & 1 ? "gpu" : "avx512");
  if (i >= 2) {
    t.line_bytes = 8;
    t.tile_bytes = UINT64_C(16) << random_below(r, 4);
    t.adapts = false;
  }
  return t;
}

static const plan_strategy *random_strategy(random_state *r) {
  size_t count = 0;
  while (plan_strategy_at(count))
    count++;
  return random_chance(r, 2) ? NULL : plan_strategy_at(random_below(r, (uint32_t)count));
}

static bool check_net(random_state *r, const net *t, uint64_t seed) {
  bool good = CHECK_STR(net_verify(&memory, t), NULL);
  const evaluation *e = net_evaluate(&memory, t, seed);
  for (int i = 0; i < TARGETS && good && !calls_out(t); i++) {
    target to = target_of_trial(r, i);
    good = check_plan(r, plan_make(&memory, t, &to, random_strategy(r)), e, NULL);
  }
  if (!good) {
    text out = {0};
    net_print(&out, t);
    printf("seed %" PRIu64 "\n%s", seed, out.data);
    text_free(&out);
  }
  return good;
}

TEST(random_nets) {
  uint64_t count = getenv("PERMC_ALL") ? 20000 : 300;
  START();
  between = 0;
  for (uint64_t seed = 0; seed < count; seed++, arena_free(&memory)) {
    random_state r = {seed};
    if (!check_net(&r, random_shares(&r), seed))
      break;
  }
  CHECK(between > count / 4);
}

TEST(padding_dead_elements_and_loops) {
  START();
  for (uint64_t seed = 0; seed < 20; seed++, arena_free(&memory)) {
    random_state r = {seed};
    check_net(&r, read_net(padded_columns), seed);
    check_net(&r, read_net(sums), seed);
    check_net(&r, read_net(turns), seed);
  }
}

// Turns of shares are in blocks of 2^4, the most that divide 208.
TEST(blocks_of_turns) {
  START();
  random_state r = {1};
  const target to = target_of_trial(&r, 0);
  const plan *p = plan_make(&memory, read_net(turns), &to, NULL);
  CHECK_EQ_U64(p->fired[RULE_BLOCKED_LOOPS], 1);
  CHECK_EQ_U64(p->net->stages.items[0].share_turns, 208 / 16);
  arena_free(&memory);
}

// By the code of processors, and by kernels as the host executes them.
static void check_compiled(const net *t, const target *to) {
  random_state r = {1};
  error why = {0};
  compiled_status status;
  const plan *p = plan_make(&memory, t, to, NULL);
  compiled *x = compiled_from_plan(p, NULL, &(compiled_options){0}, &status, &why);
  if (CHECK(x != NULL))
    check_plan(&r, p, net_evaluate(&memory, t, 1),
               &(cpu_executor){compiled_pass, x, compiled_in_place});
  else
    printf("%s\n", why.message);
  compiled_free(x);
}

TEST(compiled_code) {
  START();
  random_state r = {1};
  for (int i = 2; i < TARGETS; i++) {
    target to = target_of_trial(&r, i);
    check_compiled(read_net(padded_columns), &to);
    check_compiled(read_net(sums), &to);
  }
  arena_free(&memory);
  bool all =
      getenv("PERMC_ALL") != NULL;  // 150: registers whose elements are all dead change lanes
  for (uint64_t seed = all ? 0 : 150; seed <= (all ? 400 : 150); seed++, arena_free(&memory)) {
    random_state own = {seed};
    const net *t = random_shares(&own);
    target to = target_of_trial(&own, (int)(seed % TARGETS));
    if (!calls_out(t))
      check_compiled(t, &to);
  }
}

TEST_MAIN()
