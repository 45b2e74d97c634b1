// The portable executor and the driver: random Nets in random Plans against the literal evaluator
// of net_random.h, and nets made by hand for what those hardly meet: long runs, every vector width
// and element type of compare-exchange, batches of loop iterations, NaN bits, foreign functions,
// interrupts, memory.
#include "tests/unit/plan_random.h"

#include "runtime/cpu.h"
#include "runtime/portable.h"

#include <math.h>

static arena memory;
static jmp_buf failure;

#define START()                                                                                    \
  do {                                                                                             \
    arena_free(&memory);                                                                           \
    memory = (arena){.failure = &failure};                                                         \
    if (setjmp(failure) != 0)                                                                      \
      abort();                                                                                     \
  } while (0)

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
    for (uint64_t x = 0; a->role == NET_RESULT && x < a->count; x++)
      wrong += e->arrays[i][x].defined &&
               memcmp((char *)results[a->number].data + x * size, &e->arrays[i][x].bits, size) != 0;
  }
  return wrong;
}

// How many result elements are wrong; UINT64_MAX if the run failed.
static uint64_t run_wrong(const plan *p, const evaluation *e, uint32_t threads,
                          uint32_t vector_bytes) {
  array results[8];
  size_t count = 0;
  uint64_t wrong = UINT64_MAX;
  cpu_failure why;
  array *arguments = make_arguments(p->net, e, &count);
  portable *x = portable_new(p, &(portable_options){true, NULL, vector_bytes}, &why);
  cpu_executor executor = {portable_pass, x};
  cpu_options o = {.threads = threads, .executor = &executor};
  if (x == NULL) {
    printf("%s\n", why.message);
    for (size_t i = 0; i < count; i++)
      array_destroy(&arguments[i]);
    return wrong;
  }
  if (cpu_run(p, &o, arguments, count, results, &why))
    wrong = count_wrong(p->net, e, results);
  else
    printf("%s\n", why.message);
  for (size_t i = 0; i < p->net->arrays.count; i++)
    if (p->net->arrays.items[i].role == NET_RESULT)
      array_destroy(&results[p->net->arrays.items[i].number]);
  for (size_t i = 0; i < count; i++)
    CHECK(arguments[i].data == NULL);
  portable_free(x);
  return wrong;
}

// ---- random nets -----------------------------------------------------------------------------

static bool calls_out(const net *t) {
  for (size_t i = 0; i < t->stages.count; i++)
    for (size_t k = 0; k < t->stages.items[i].nodes.count; k++)
      if (t->stages.items[i].nodes.items[k].kind == NET_EXTERN)
        return true;
  return false;
}

TEST(random_nets) {
  for (uint64_t seed = 0, done = 0; done < 1500; seed++) {
    START();
    random_state random = {seed};
    net *t = random_net(&memory, &random);
    if (calls_out(t))
      continue;
    done++;
    const char *wrong = net_verify(&memory, t);
    if (wrong)
      continue;
    evaluation *e = net_evaluate(&memory, t, seed);
    for (int plans = 0; plans < 3; plans++) {
      plan *p = random_plan(&memory, &random, t);
      uint64_t bad = run_wrong(p, e, 1 + random_below(&random, 2), 0);
      if (!CHECK_EQ_U64(bad, 0))
        printf("seed %" PRIu64 " plan %d\n", seed, plans);
    }
  }
  arena_free(&memory);
}

TEST_MAIN()
