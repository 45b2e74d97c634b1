// Generated C code: random Nets in random Plans with random phases, compiled and compared with the
// literal evaluator of net_random.h; every scalar operation on every type against lang/scalar.h.
//
// PERMC_EMIT_SEEDS=a-b runs other seeds than the usual few, PERMC_EMIT_TEXT=1 prints the code of a
// plan that fails.
#define RANDOM_NET_BITS 9
#include "tests/unit/plan_random.h"

#include "runtime/compiled.h"
#include "runtime/compiler.h"

static arena memory;
static jmp_buf failure;

#define START()                                                                                    \
  do {                                                                                             \
    arena_free(&memory);                                                                           \
    memory = (arena){.failure = &failure};                                                         \
    if (setjmp(failure) != 0)                                                                      \
      abort();                                                                                     \
  } while (0)

static bool no_compiler(void) {
  compiler c;
  char message[512];
  return !compiler_find(&c, message, sizeof message);
}

// ---- random phases ---------------------------------------------------------------------------

// A basis of v that begins with `count` given independent vectors.
static uint64_t *random_vectors(random_state *r, f2_space v, int count, const uint64_t *given) {
  uint64_t *basis = NEW_ARRAY(&memory, uint64_t, v.dimension + 1);
  f2_space all = f2_space_zero(v.n);
  bool plain = random_chance(r, 2);
  for (int i = 0; i < count; i++)
    f2_space_insert(&all, basis[i] = given[i]);
  for (int next = 0; count < v.dimension;) {
    uint64_t x = plain ? v.basis[next++ % v.dimension]
                       : f2_space_element(v, random_word(r) & f2_mask(v.dimension));
    if (random_chance(r, 8))
      plain = !plain;
    if (f2_space_insert(&all, x))
      basis[count++] = x;
  }
  return basis;
}

static void add_phase(random_state *r, plan_pass *pass, f2_space directions, uint32_t first,
                      uint32_t end) {
  plan_phase *f = &pass->phases[pass->phase_count++];
  uint32_t d = (uint32_t)pass->tile.dimension, least = (uint32_t)directions.dimension;
  f->first_op = first;
  f->op_count = end - first;
  f->r = least + random_below(r, (d - least < 3 ? d - least : 3) + 1);
  f->l = random_below(r, (d - f->r < 4 ? d - f->r : 4) + 1);
  uint64_t shuffled[F2_MAX];
  memcpy(shuffled, directions.basis, sizeof shuffled);
  f->basis = random_vectors(r, pass->tile, (int)least, shuffled);
  if (pass->phase_count > 1)
    f->exchange = random_vectors(r, pass->tile, 0, NULL);
}

static void random_phases(random_state *r, const net_stage *s, plan_pass *pass) {
  uint32_t most = random_below(r, 4), first = 0;
  f2_space directions = f2_space_zero(s->n);
  pass->phases = NEW_ARRAY(&memory, plan_phase, pass->op_count + 3);
  for (uint32_t i = 0; i < pass->op_count; i++) {
    const net_op *op = &s->ops.items[pass->ops[i]];
    f2_space more = directions;
    for (uint32_t k = 0; k < op->k; k++)
      f2_space_insert(&more, op->directions[k]);
    if (i > first && more.dimension > (int)most) {
      add_phase(r, pass, directions, first, i);
      first = i;
      more = f2_span(s->n, (int)op->k, op->directions);
    }
    directions = more;
  }
  if (random_chance(r, 4))
    add_phase(r, pass, f2_space_zero(s->n), first, first);
  add_phase(r, pass, directions, first, pass->op_count);
  if (random_chance(r, 4))
    add_phase(r, pass, f2_space_zero(s->n), pass->op_count, pass->op_count);
}

// ---- running ---------------------------------------------------------------------------------

static array *make_arguments(const net *t, const evaluation *e, size_t *count) {
  array *arguments = NEW_ARRAY(&memory, array, t->arrays.count);
  *count = 0;
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *a = &t->arrays.items[i];
    if (a->role != NET_ARGUMENT)
      continue;
    array *to = &arguments[a->number];
    size_t size = scalar_types[a->type].size;
    if (!array_create(to, a->type, 1, &a->count))
      abort();
    for (uint64_t x = 0; x < a->count; x++)
      memcpy((char *)to->data + x * size, &e->arrays[i][x].bits, size);
    *count = a->number + 1 > *count ? a->number + 1 : *count;
  }
  return arguments;
}

static uint64_t count_wrong(const net *t, const evaluation *e, const array *results) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < t->arrays.count; i++) {
    const net_array *a = &t->arrays.items[i];
    size_t size = scalar_types[a->type].size;
    for (uint64_t x = 0; a->role == NET_RESULT && x < a->count; x++) {
      const unsigned char *found = (const unsigned char *)results[a->number].data + x * size;
      bool good = !e->arrays[i][x].defined || memcmp(found, &e->arrays[i][x].bits, size) == 0;
      wrong += !good;
      for (size_t k = size; !good && wrong == 1 && k-- > 0;)
        printf("%s%02x, expected %02x%s", k == size - 1 ? "first wrong: " : "", found[k],
               e->arrays[i][x].bits.bytes[k], k == 0 ? "" : "; ");
      if (!good && wrong == 1)
        printf(" in a%zu at %" PRIu64 "\n", i, x);
    }
  }
  return wrong;
}

// How many result elements are wrong; UINT64_MAX if the run failed.
static uint64_t run_wrong(const plan *p, const evaluation *e, const compiled_options *options) {
  array results[64];
  size_t count = 0;
  uint64_t wrong = UINT64_MAX;
  cpu_failure why;
  compiled_status status;
  compiled *x = compiled_new(p, options, &status, &why);
  if (x == NULL) {
    printf("%s\n", why.message);
    return wrong;
  }
  array *arguments = make_arguments(p->net, e, &count);
  cpu_executor executor = {compiled_pass, x};
  if (cpu_run(p, &(cpu_options){.threads = 2, .executor = &executor}, arguments, count, results,
              &why))
    wrong = count_wrong(p->net, e, results);
  else
    printf("%s\n", why.message);
  for (size_t i = 0; i < p->net->arrays.count; i++)
    if (p->net->arrays.items[i].role == NET_RESULT)
      array_destroy(&results[p->net->arrays.items[i].number]);
  compiled_free(x);
  return wrong;
}

static void show(const plan *p, const compiled_options *options) {
  text t = {0};
  const char *problem;
  if (getenv("PERMC_EMIT_TEXT") == NULL)
    return;
  net_print(&t, p->net);
  text_string(&t, "\n");
  compiled_text(p, options, &t, &problem);
  printf("%s\n", t.data);
  text_free(&t);
}

// ---- random nets -----------------------------------------------------------------------------

static bool calls_out(const net *t) {
  for (size_t i = 0; i < t->stages.count; i++)
    for (size_t k = 0; k < t->stages.items[i].nodes.count; k++)
      if (t->stages.items[i].nodes.items[k].kind == NET_EXTERN)
        return true;
  return false;
}

static bool test_seed(uint64_t seed) {
  START();
  random_state random = {seed};
  net *t = random_net(&memory, &random);
  if (calls_out(t) || net_verify(&memory, t))
    return false;
  evaluation *e = net_evaluate(&memory, t, seed);
  plan *p = random_plan(&memory, &random, t);
  static const target machine = {.name = "test"};
  p->target = &machine;
  for (size_t i = 0; i < p->passes.count; i++)
    random_phases(&random, &t->stages.items[p->passes.items[i].stage], &p->passes.items[i]);
  static const char *const isas[] = {"native", "native", "avx2", "baseline"};
  compiled_options options = {.isa = isas[random_below(&random, 4)],
                              .no_cache = true,
                              .stream_bytes = random_chance(&random, 2) ? 1 : 0};
  uint64_t bad = run_wrong(p, e, &options);
  if (!CHECK_EQ_U64(bad, 0)) {
    printf("seed %" PRIu64 " for %s\n", seed, options.isa);
    show(p, &options);
  }
  return true;
}

TEST(random_nets) {
  uint64_t first = 0, last = UINT64_MAX, done = 0;
  const char *seeds = getenv("PERMC_EMIT_SEEDS");
  if (no_compiler())
    SKIP("there is no C compiler");
  if (seeds)
    sscanf(seeds, "%" SCNu64 "-%" SCNu64, &first, &last);
  for (uint64_t seed = first; seed <= last && (seeds || done < 60); seed++)
    done += test_seed(seed);
  arena_free(&memory);
}

TEST_MAIN()
