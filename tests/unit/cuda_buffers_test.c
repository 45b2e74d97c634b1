// Buffers of a program on a GPU: random nets are planned for a GPU with little fast memory, so that
// they have several passes, and run on the fake driver. What its kernels compute does not matter:
// each notes at which addresses its arrays lie.
//
//   A pass finds in an array what was stored in it: no other array has had its buffer since.
//   It stores where it loads only if it may. Arguments are never overwritten. Buffers are reused.
#include "tests/unit/evaluated.h"

#include "runtime/gpu/program.h"
#include "tests/unit/fake_driver.h"
#include "tests/unit/memory.h"

enum { MOST_ARRAYS = 100 };

static size_t programs, passes;
static size_t reused, replaced;  // buffers: of an array before; of one that the same pass loads

// What lies where, as the launches of a run go by.
static struct {
  const plan *plan;
  const c_pass_facts *facts;
  uint32_t pass;  // of the next launch
  size_t count;
  struct {
    uint64_t address;
    net_id array;  // that was stored there last, or is given; NET_NONE: nothing
  } buffers[MOST_ARRAYS];
} seen;

static net_id *holder_of(uint64_t address) {
  size_t i = 0;
  while (i < seen.count && seen.buffers[i].address != address)
    i++;
  if (i == seen.count) {
    seen.buffers[i].address = address;
    seen.buffers[seen.count++].array = NET_NONE;
  }
  return &seen.buffers[i].array;
}

static void note_pass(const fake_cuda_launch *l) {
  net_id *holders[MOST_ARRAYS];
  uint32_t number = seen.pass++;
  const plan_pass *pass = &seen.plan->passes.items[number];
  uint32_t count;
  const net_id *arrays = plan_pass_arrays(&memory, pass, &count);
  for (uint32_t i = 0; i < count; i++)
    holders[arrays[i]] = holder_of(l->parameters[1 + i]);
  for (uint32_t i = 0; i < pass->load_count; i++) {
    net_id a = pass->loads[i].array;
    net_id *holder = holders[a];
    if (*holder == NET_NONE && net_array_is_given(&seen.plan->arrays.items[a]))
      *holder = a;
    CHECK_EQ_U64(*holder, a);
  }
  for (uint32_t i = 0; i < pass->store_count; i++) {
    net_id a = pass->stores[i].array, *holder = holders[a];
    for (uint32_t k = 0; k < pass->load_count; k++)
      if (pass->loads[k].array != a && holders[pass->loads[k].array] == holder) {
        CHECK(seen.facts[number].in_place && cpu_loads_where_stored(seen.plan, pass, k, a));
        replaced++;
      }
    if (*holder != NET_NONE && *holder != a) {
      CHECK(!net_array_is_given(&seen.plan->arrays.items[*holder]));
      reused++;
    }
    *holder = a;
  }
}

// Kernels have so many parameters: number, arrays, tables, and the matrix that is known at run
// time.
static bool define_kernels(const plan *p, const c_code *code) {
  for (uint32_t i = 0; i < p->passes.count; i++) {
    char name[32];
    uint32_t count;
    const plan_pass *pass = &p->passes.items[i];
    plan_pass_arrays(&memory, pass, &count);
    unsigned parameters = 2 + count + (code->facts[i].matrix != NULL);
    if (parameters > FAKE_CUDA_PARAMETERS)
      return false;
    snprintf(name, sizeof name, "permc_pass_%u", (unsigned)i);
    if (code->facts[i].kernel == i)
      fake.define(name, parameters, note_pass);
  }
  return true;
}

static void run_plan(cuda_device *d, const plan *p, c_code *code) {
  error wrong = {0};
  array results[MOST_ARRAYS] = {0};
  size_t count = 0;
  array *arguments = evaluated_arguments(&memory, p->net, net_evaluate(&memory, p->net, 1), &count);
  cuda_program *g = cuda_program_new(d, p, code, &(cuda_options){.no_cache = true}, &wrong);
  for (int run = 0; run < 2 && g; run++) {
    seen.plan = p;
    seen.facts = code->facts;
    seen.pass = 0;
    seen.count = 0;
    CHECK(cuda_program_run(g, arguments, count, results, &wrong));
    CHECK_EQ_U64(seen.pass, p->passes.count);
  }
  CHECK_STR(wrong.message, "");
  cuda_program_free(g);
  for (size_t i = 0; i < count; i++)
    array_destroy(&arguments[i]);
  for (size_t i = 0; i < MOST_ARRAYS; i++)
    array_destroy(&results[i]);
}

TEST(arrays_keep_what_was_stored) {
  enum { SEEDS = 400 };
  char why[CUDA_WHY];
  fake_driver_load();
  setenv("PERMC_NVRTC", FAKE_NVRTC, 1);
  setenv("FAKE_NVRTC_CUBIN", FAKE_CUDA_MODULE, 1);
  fake.set("");
  cuda_device *d = cuda_open(0, why, sizeof why);
  REQUIRE(d != NULL);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    START();
    random_state random = {seed};
    const net *n = random_net(&memory, &random);
    target little = *target_named("gpu");
    const char *problem = NULL;
    c_code code = {0};
    little.adapts = false;
    little.tile_bytes = 64;
    little.register_bytes = 32;
    const plan *p = plan_make(&memory, n, &little, NULL);
    if (p->arrays.count <= MOST_ARRAYS && c_emit(&code, p, &(c_options){0}, &problem) &&
        define_kernels(p, &code)) {
      programs++;
      passes += p->passes.count;
      run_plan(d, p, &code);
    }
    c_code_free(&code);
  }
  CHECK(programs > SEEDS / 4 && passes > programs && reused > SEEDS / 10 && replaced > 10);
  cuda_close(d);
  fake_driver_check();
  arena_free(&memory);
}

TEST_MAIN()
