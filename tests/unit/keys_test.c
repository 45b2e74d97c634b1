// Sorts by few keys that make their keys of elements (fusion/plan/keys.c): which programs have
// them, and what the text of a key computes on the host; NVRTC compiles it, where there is one.
#include "tests/test.h"

#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "fusion/plan/planning.h"
#include "kernels/emit/emit.h"
#include "runtime/cuda/code.h"
#include "runtime/permc.h"
#include "tests/readers/readers.h"
#include "tests/unit/routine_library.h"
#include "tests/unit/splitmix.h"

typedef struct row {
  const char *entry, *types;
  bool made;  // whether keys are made of elements
  uint32_t (*key)(const void *x, const void *y);
} row;

static uint32_t is_odd(const void *x, const void *y) {
  (void)y;
  return *(const uint32_t *)x % 2;
}

static uint32_t is_far(const void *x, const void *y) {
  return !(*(const float *)x * 1.5F > (float)*(const int16_t *)y);
}

static uint32_t is_long(const void *x, const void *y) {
  (void)y;
  return !(*(const uint64_t *)x / 3 < 1000 || *(const uint64_t *)x >> 40 == 5);
}

static uint32_t third_of_4(const void *x, const void *y) {
  (void)y;
  return (uint32_t)(*(const uint64_t *)x / 3 % 4);
}

static const row rows[] = {
    {"compact even", "[70001]u32", true, is_odd},
    {"compact (\\(x, y) -> x * 1.5f32 > f32 y)", "[2^13](f32, i16)", true, is_far},
    {"\\xs -> compact (\\_ -> true) (mapi (\\i x -> x + i) xs)", "[5000]int", false, NULL},
    {"bucket 2 (\\x -> x / 3 % 4)", "[5000]u64", true, third_of_4},
    {"bucket 2 (\\x -> x / 3 % 5)", "[5000]u64", false,
     NULL},  // keys are checked: others read them
    {"map (fst . compact (\\x -> x / 3 < 1000 || x >> 40 == 5))", "[7][3000]u64", true, is_long},
    {"bucket 8 (\\x -> x % 256)", "[5000]u32", false, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

static uint32_t maker_of(const plan *p) {
  for (uint32_t i = 0; i < p->passes.count; i++)
    if (p->passes.items[i].keys_from)
      return p->passes.items[i].keys_from - 1;
  return UINT32_MAX;
}

// An entry that takes addresses, as elements are of any type.
static void write_entry(text *out, const net_stage *s) {
  static const char *const words[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  text_string(out, "\nuint32_t run_key(const void *const *x) {\n  return partition_key(");
  for (size_t i = 0; i < s->loads.count; i++) {
    size_t size = scalar_types[s->values.items[s->loads.items[i].value]].size;
    text_printf(out, "%s*(const %s *)x[%zu]", i ? ", " : "", words[f2_lsb(size)], i);
  }
  text_string(out, ");\n}\n");
}

typedef uint32_t key_function(const void *const *x);

static void check_keys(const row *r, const net_stage *s, key_function *make) {
  for (int i = 0; i < 1000; i++) {
    uint64_t words[PLAN_KEY_INPUTS];
    const void *x[PLAN_KEY_INPUTS];
    for (size_t k = 0; k < PLAN_KEY_INPUTS; k++) {
      words[k] = random_u64() >> random_u64() % 64;
      x[k] = &words[k];
    }
    CHECK(make(x) == r->key(x[0], s->loads.count > 1 ? x[1] : NULL));
  }
}

static void compile_keys(const row *r, const plan *p, uint32_t maker) {
  const net_stage *s = &p->net->stages.items[p->passes.items[maker].stage];
  text key = {0}, host = {0};
  char why[NVRTC_WHY];
  void *cubin = NULL;
  size_t size;
  REQUIRE(c_emit_keys(&key, p, maker));
  text_string(&host, "#include <stdbool.h>\n");
  text_add(&host, text_content(&key), key.length);
  write_entry(&host, s);
  text_string(&host, "PERMC_COUNTERS\n");
  void *library = compile(&host), *symbol = library ? dlsym(library, "run_key") : NULL;
  key_function *make;
  memcpy(&make, &symbol, sizeof make);
  if (CHECK(symbol != NULL))
    check_keys(r, s, make);
  if (library)
    dlclose(library);
  if (nvrtc_find(why, sizeof why)) {
    text_string(&key,
                "PERMC_KERNEL(keys, 32, 1, 0, uint32_t *const out) *out = 0; PERMC_KERNEL_END\n");
    nvrtc_job job = {text_content(&key), "keys.cu", 90, cuda_code_options[0], CUDA_CODE_OPTIONS};
    if (!CHECK(nvrtc_compile(&job, &cubin, &size, why, sizeof why)))
      printf("%s\n", why);
  }
  free(cubin);
  text_free(&host);
  text_free(&key);
}

static plan *plan_of(arena *memory, permc_context *c, const char *types) {
  permc_explain_options o = {.target = "gpu", .types = types, .dump = "plan"};
  char *out = NULL;
  const char *wrong = NULL;
  if (!CHECK(permc_explain(c, "-e", NULL, 0, &o, &out)))
    return NULL;
  plan *p = plan_read(memory, out, &wrong);
  CHECK_STR(wrong, NULL);
  free(out);
  return p;
}

static void check_row(const row *r) {
  static jmp_buf failure;
  permc_context *c = permc_context_new();
  compiler found;
  if (setjmp(failure))
    abort();
  arena memory = {.failure = &failure};
  REQUIRE(c && permc_define(c, r->entry));
  plan *p = plan_of(&memory, c, r->types);
  REQUIRE(p != NULL);
  CHECK((plan_keys_of_elements(&memory, p) == 1) == r->made);
  if (r->made && maker_of(p) != UINT32_MAX && compiler_find(&found, NULL))
    compile_keys(r, p, maker_of(p));
  permc_context_free(c);
  arena_free(&memory);
}

TEST(keys_of_elements) {
  for (size_t i = 0; i < ROWS; i++)
    check_row(&rows[i]);
}

TEST_MAIN()
