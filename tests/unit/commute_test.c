// The planner's rule disjoint-ops (fusion/plan/commute.c): random chains of ops that change the
// indices of cosets compute the same in the order that it gives them.
#include "tests/readers/readers.h"
#include "tests/unit/memory.h"
#include "tests/unit/net_random.h"

#include "fusion/plan/plan.h"

enum { BITS = 7, MOST_OPS = 24 };

static target small_target(uint64_t tile_bytes) {
  target t = *target_named("baseline");
  t.line_bytes = 8;
  t.tile_bytes = tile_bytes;
  return t;
}

// A form that is the same for x and x ^ direction.
static void write_form(text *out, random_state *r, uint64_t direction) {
  uint64_t mask = random_word(r) & random_word(r) & f2_mask(BITS);
  if (f2_dot(mask, direction))
    mask ^= direction & -direction;
  const char *before = "(";
  for (int i = 0; i < BITS; i++)
    if (f2_bit(mask, i)) {
      text_printf(out, "%sx%d", before, i);
      before = "^";
    }
  text_printf(out, "%s%u)", before, random_below(r, 2));
}

// Op i of a chain, between v[i] and v[i + 1], of components with that stride: everywhere, where the
// forms are 0, or where one is 0 and another is not.
static void write_op(text *out, random_state *r, uint32_t i, uint32_t from, uint32_t to) {
  uint64_t direction = 1 + random_below(r, (1u << BITS) - 1);
  uint32_t forms = random_below(r, 4);
  bool nested = random_chance(r, 2);
  text_printf(out, "  op %u directions 0x%" PRIx64 " coordinates x%d step %%%u\n", i, direction,
              f2_msb(direction), i);
  static const char *const codes[][2] = {{"min", "max"}, {"+", "-"}, {"-", "*"}};
  const char *const *code = codes[random_below(r, 3)];
  uint32_t t = 0, condition[2] = {0};
  for (int k = 0; k < (nested ? 2 : 1) && forms; k++) {
    text_printf(out, "    t%u = index ", t++);
    for (uint32_t f = 0; f < forms; f++) {
      text_add(out, " + ", f ? 3 : 0);
      write_form(out, r, direction);
    }
    text_printf(out, "\n    t%u = < t%u i64:1\n", t, t - 1);
    condition[k] = t++;
  }
  for (int e = 0; e < 2; e++) {
    text_printf(out, "    t%u = %s v%u[0] v%u[1]\n", t++, code[e], from, from);
    if (forms && nested) {
      text_printf(out, "    t%u = select t%u v%u[%d] t%u\n", t, condition[1], from, e, t - 1);
      t++;
    }
    if (forms)
      text_printf(out, "    v%u[%d] = select t%u t%u v%u[%d]\n", to, e, condition[0], t - 1, from,
                  e);
    else
      text_printf(out, "    v%u[%d] = t%u\n", to, e, t - 1);
  }
}

static const char *random_chains(random_state *r) {
  text out = {0};
  uint32_t components = 1 + random_below(r, 2), ops = 2 + random_below(r, MOST_OPS);
  const char *address = "x0 + 2*x1 + 4*x2 + 8*x3 + 16*x4 + 32*x5 + 64*x6";
  uint32_t now[2] = {0, 1}, values = components;
  for (uint32_t c = 0; c < components; c++)
    text_printf(&out, "array a%u i32 128 argument %u\n", c, c);
  for (uint32_t c = 0; c < components; c++)
    text_printf(&out, "array a%u i32 128 result %u\n", components + c, c);
  text_printf(&out, "stage 0 n=%d\n", BITS);
  for (uint32_t c = 0; c < components; c++)
    text_printf(&out, "  v%u = load a%u at %s\n", c, c, address);
  for (uint32_t i = 0; i < ops; i++) {
    uint32_t c = random_below(r, components);
    write_op(&out, r, i, now[c], values);
    now[c] = values++;
  }
  for (uint32_t c = 0; c < components; c++)
    text_printf(&out, "  store v%u in a%u at %s\n", now[c], components + c, address);
  const char *copy = arena_copy(&memory, out.data, out.length);
  text_free(&out);
  return copy;
}

static uint32_t parts;

static bool check_chains(uint64_t seed) {
  random_state r = {seed};
  const char *code = random_chains(&r), *wrong = NULL;
  const net *t = net_read(&memory, code, &wrong);
  target goal = small_target(UINT64_C(16) << random_below(&r, 5));
  if (!CHECK_STR(wrong, NULL) || !CHECK_STR(net_verify(&memory, t), NULL))
    return false;
  plan *p = plan_make(&memory, t, &goal, NULL);
  bool good = CHECK_STR(plan_verify(&memory, p), NULL) &&
              CHECK_STR(net_verify(&memory, p->net), NULL) &&
              CHECK(same_results(t, net_evaluate(&memory, t, seed), p->net,
                                 net_evaluate(&memory, p->net, seed)));
  if (!good)
    printf("seed %" PRIu64 "\n%s", seed, code);
  parts += p->fired[RULE_DISJOINT_OPS];
  return good;
}

TEST(random_chains) {
  START();
  for (uint64_t seed = 0; seed < 3000; seed++, arena_free(&memory))
    if (!check_chains(seed))
      break;
  CHECK(parts > 1000);
}

TEST_MAIN()
