// How many passes the planner takes for programs whose fewest are known by construction
// (tests/generator/hidden.h), as a table: by the way that a program hides its plan, how many
// programs take as many passes as the drawn plan, one more, two more, still more. Copies count as
// passes.
//
//   build/release/tests/fewest_passes_test passes                   the programs of CI
//   build/release/tests/fewest_passes_test --count 1000             so many of each way
//   build/release/tests/fewest_passes_test --count 50 --reduce DIR  those that miss, made smaller
//   build/release/tests/fewest_passes_test --count 50 --backend cpu results on that backend, too
//   build/release/tests/fewest_passes_test --print --way parm --seed 7
//
// MOST_MISSED is a ratchet: how many of the programs of CI may take more than one pass above the
// drawn plan. It is lowered with each planner that does better, to 0 in the end, and never raised.
#include "tests/generator/hidden.h"

#include "runtime/pipeline.h"
#include "runtime/portable/portable.h"
#include "tests/generator/program.h"
#include "tests/test.h"

enum { EACH = 24, COMPARED_BITS = 10, ABOVE = 3 };

// Of EACH programs.
static const uint32_t most_missed[HIDDEN_WAYS] = {0};

static struct {
  uint64_t seed, count;
  int way;  // -1: all
  bool print;
  const char *folder;   // for reduced programs
  const char *backend;  // to be compared with interp as well
} settings = {.way = -1};

// ---- one program ---------------------------------------------------------------------------------

// Lines of 16 bytes, small tiles: so that few elements need several passes.
static target small_target(uint64_t tile_bytes) {
  target t = *target_named("baseline");
  t.name = "small";
  t.line_bytes = HIDDEN_LINE_BYTES;
  t.tile_bytes = tile_bytes;
  t.lane_bytes = 16;
  t.lane_bits = 2;
  t.register_bytes = 64;
  return t;
}

typedef struct attempt {
  const hidden_program *program;
  permc_context *context;
  permc_value **arguments, **oracle;
  size_t argument_count, oracle_count;
  bool compare;  // with interp
  plan_facts facts;
} attempt;

static const array *component(permc_value *const *values, size_t count, size_t number) {
  for (size_t i = 0; i < count; number -= values[i++]->count)
    if (number < values[i]->count)
      return &values[i]->components[number];
  return NULL;
}

static void compare_plan(attempt *t, const plan *p, size_t result_count) {
  array arguments[HIDDEN_OPS + 4], results[4] = {{0}};
  error why = {0};
  size_t count = 0;
  for (; component(t->arguments, t->argument_count, count); count++)
    arguments[count] = *component(t->arguments, t->argument_count, count);
  portable *e = portable_new(p, &(portable_options){0}, &why);
  cpu_executor executor = {portable_pass, e, NULL};
  cpu_options o = {.threads = 1, .executor = &executor, .borrow_arguments = true};
  if (CHECK(e != NULL) && CHECK(cpu_run(p, &o, arguments, count, results, &why)))
    for (size_t i = 0; i < result_count; i++) {
      const array *expected = component(t->oracle, t->oracle_count, i);
      if (CHECK(expected != NULL) && CHECK(results[i].data != NULL))
        CHECK(memcmp(results[i].data, expected->data, array_bytes(expected)) == 0);
      array_destroy(&results[i]);
    }
  portable_free(e);
}

static bool count_passes(permc_context *c, pipeline *p, void *with) {
  attempt *t = with;
  (void)c;
  target small = small_target(t->program->tile_bytes);
  plan *made = plan_make(&p->memory, p->net, &small, NULL);
  const char *problem = plan_verify(&p->memory, made);
  t->facts = plan_facts_of(made);
  if (CHECK_STR(problem, NULL) && t->compare)
    compare_plan(t, made, p->trace.results.count);
  return true;
}

// On a backend, planned for what it runs on.
static void compare_backend(attempt *t) {
  permc_value **found = NULL;
  size_t count = 0;
  bool good = permc_run(t->context, "main", settings.backend, t->arguments, t->argument_count,
                        &found, &count);
  CHECK_STR(good ? "" : permc_message(t->context), "");
  const array *a, *b;
  for (size_t i = 0; good && (a = component(t->oracle, t->oracle_count, i)); i++)
    CHECK((b = component(found, count, i)) && memcmp(a->data, b->data, array_bytes(a)) == 0);
  permc_values_free(found, count);
}

// False: a check has failed.
static bool try_hidden(attempt *t) {
  size_t before = test_state.failures;
  text lines = {0}, types = {0};
  hidden_text(&lines, t->program);
  hidden_types(&types, t->program);
  permc_context *c = t->context;
  bool good = permc_load_text(c, "hidden", text_content(&lines), lines.length) &&
              permc_read_random(c, "main", types.data, 1, &t->arguments, &t->argument_count) &&
              (!t->compare || permc_run(c, "main", "interp", t->arguments, t->argument_count,
                                        &t->oracle, &t->oracle_count));
  pipeline_request r = {
      .entry = "main", .last = STAGE_PLAN, .types = types.data, .target = "baseline"};
  good = good && pipeline_with(c, &r, count_passes, t);
  CHECK_STR(good ? "" : permc_message(c), "");
  if (good && t->compare && settings.backend)
    compare_backend(t);
  good = test_state.failures == before;
  if (!good)
    printf("%s\n-- arguments: %s\n", text_content(&lines), text_content(&types));
  permc_values_free(t->arguments, t->argument_count);
  permc_values_free(t->oracle, t->oracle_count);
  t->arguments = t->oracle = NULL;
  t->argument_count = t->oracle_count = 0;
  text_free(&lines);
  text_free(&types);
  return good;
}

static uint64_t planned_passes(const attempt *t) { return t->facts.passes + t->facts.copies; }

// ---- the table -----------------------------------------------------------------------------------

typedef struct differences {
  uint32_t programs, known, fewer, above[ABOVE + 1];  // above: by 0, 1, 2, more
  uint64_t drawn, planned, most;
} differences;

static void count_difference(differences *d, const hidden_program *p, uint64_t planned) {
  uint32_t drawn = hidden_drawn_passes(p), least = hidden_least_passes(p);
  d->programs++;
  d->known += least == drawn;
  d->drawn += drawn;
  d->planned += planned;
  d->fewer += planned < drawn;
  uint64_t above = planned > drawn ? planned - drawn : 0;
  d->above[above < ABOVE ? above : ABOVE]++;
  d->most = above > d->most ? above : d->most;
}

static uint32_t missed(const differences *d) { return d->above[2] + d->above[ABOVE]; }

static void show_row(const char *name, const differences *d) {
  printf("%-14s %8u %6u %6u %6u %6u %6u %6u %7" PRIu64 " %8.2f %8.2f\n", name, d->programs,
         d->known, d->fewer, d->above[0], d->above[1], d->above[2], d->above[3], d->most,
         (double)d->drawn / d->programs, (double)d->planned / d->programs);
}

static void show_table(const differences *by_way) {
  differences all = {0};
  printf("%-14s %8s %6s %6s %6s %6s %6s %6s %7s %8s %8s\n", "", "programs", "exact", "fewer", "+0",
         "+1", "+2", "more", "most", "drawn", "planned");
  for (int way = 0; way < HIDDEN_WAYS; way++) {
    const differences *d = &by_way[way];
    if (d->programs == 0)
      continue;
    show_row(hidden_way_names[way], d);
    all.programs += d->programs;
    all.known += d->known;
    all.fewer += d->fewer;
    all.drawn += d->drawn;
    all.planned += d->planned;
    all.most = d->most > all.most ? d->most : all.most;
    for (int i = 0; i <= ABOVE; i++)
      all.above[i] += d->above[i];
  }
  show_row("all", &all);
}

// ---- smaller programs ----------------------------------------------------------------------------

static bool still_misses(const hidden_program *p, void *with) {
  attempt *t = with;
  t->program = p;
  t->compare = false;
  return try_hidden(t) && planned_passes(t) >= hidden_drawn_passes(p) + 2;
}

static void write_facts(text *out, const hidden_program *p, const plan_facts *f) {
  text_printf(out,
              "-- hidden by %s; lines of %d bytes, tiles of %" PRIu64 " bytes\n"
              "-- drawn plan: %u passes; least: %s%u\n"
              "-- planned: %" PRIu64 " passes, of them %" PRIu64 " permutations, and %" PRIu64
              " copies\n",
              hidden_way_names[p->way], HIDDEN_LINE_BYTES, p->tile_bytes, hidden_drawn_passes(p),
              hidden_least_passes(p) == hidden_drawn_passes(p) ? "" : "at least ",
              hidden_least_passes(p), f->passes, f->permutations, f->copies);
}

static void write_reduced(permc_context *c, hidden_program *p, uint64_t seed, uint64_t planned) {
  attempt t = {.context = c};
  text out = {0};
  text_printf(&out, "-- seed %" PRIu64 ", before it was reduced: %" PRIu64 " passes for %u\n", seed,
              planned, hidden_drawn_passes(p));
  hidden_reduce(p, still_misses, &t);
  still_misses(p, &t);
  write_facts(&out, p, &t.facts);
  hidden_text(&out, p);
  char path[300];
  snprintf(path, sizeof path, "%s/%02d-%" PRIu64 ".perm", settings.folder, p->way, seed);
  FILE *file = fopen(path, "w");
  if (CHECK(file != NULL)) {
    fwrite(out.data, 1, out.length, file);
    fclose(file);
  }
  text_free(&out);
}

// ---- all -----------------------------------------------------------------------------------------

static void try_way(permc_context *c, hidden_way way, uint64_t count, differences *d) {
  for (uint64_t i = 0; i < count; i++) {
    hidden_program p;
    uint64_t seed = settings.seed + i;
    hidden_draw(&p, seed, way);
    attempt t = {.program = &p, .context = c, .compare = p.n <= COMPARED_BITS};
    if (!try_hidden(&t)) {
      printf("-- way %d, seed %" PRIu64 "\n", way, seed);
      continue;
    }
    count_difference(d, &p, planned_passes(&t));
    // The lower bound is one: no plan has fewer passes.
    if (!CHECK(planned_passes(&t) >= hidden_least_passes(&p)))
      printf("-- way %d, seed %" PRIu64 "\n", way, seed);
    if (settings.folder && planned_passes(&t) >= hidden_drawn_passes(&p) + 2)
      write_reduced(c, &p, seed, planned_passes(&t));
  }
}

TEST(passes) {
  static differences by_way[HIDDEN_WAYS];
  permc_context *c = random_program_context();
  REQUIRE(c != NULL);
  uint64_t each = settings.count ? settings.count : slower() > 1 ? EACH / 4 : EACH;
  for (int way = 0; way < HIDDEN_WAYS; way++)
    if (settings.way < 0 || settings.way == way)
      try_way(c, (hidden_way)way, each, &by_way[way]);
  show_table(by_way);
  for (int way = 0; way < HIDDEN_WAYS && !settings.count; way++)
    if (!CHECK(missed(&by_way[way]) <= most_missed[way]))
      printf("%s: %u programs take at least two passes more than drawn; at most %u may\n",
             hidden_way_names[way], missed(&by_way[way]), most_missed[way]);
  permc_context_free(c);
}

// A part overtook one that read from it what it never makes.
TEST(what_is_overtaken_reads_what_is_made) {
  hidden_program p;
  permc_context *c = random_program_context();
  hidden_draw(&p, 5327, HIDDEN_MIXED);
  attempt t = {.program = &p, .context = c, .compare = true};
  CHECK(try_hidden(&t));
  permc_context_free(c);
}

// The rule in-place waits for ops on parts, and on halves of pairs, to merge: until then these read
// what a join is to take the place of, so that it stays, and its values take room beside each other.
TEST(joins_wait_for_other_rules) {
  static const uint64_t seeds[] = {5290, 5363};
  permc_context *c = random_program_context();
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
    hidden_program p;
    hidden_draw(&p, seeds[i], HIDDEN_MIXED);
    attempt t = {.program = &p, .context = c, .compare = true};
    CHECK(try_hidden(&t));
    CHECK_EQ_U64(planned_passes(&t), hidden_drawn_passes(&p));
  }
  permc_context_free(c);
}

// ---- the generator -------------------------------------------------------------------------------

// The worked example of hidden.h.
static hidden_program worked_example(void) {
  static const uint64_t masks[] = {1, 6, 2, 9, 2, 1};
  hidden_program p = {.n = 4, .tile_bytes = 32, .part_count = 1, .window = 1};
  p.types[0] = SCALAR_U32;
  p.first = p.last = f2_affine_identity(4);
  p.run_count = 2;
  p.runs[0] = (hidden_run){f2_space_units(4, 7), 3};
  p.runs[1] = (hidden_run){f2_space_units(4, 11), 3};
  for (; p.op_count < 6; p.op_count++)
    p.ops[p.op_count].mask = masks[p.op_count];
  return p;
}

TEST(bounds) {
  hidden_program p = worked_example();
  CHECK_STR(hidden_problem(&p), NULL);
  CHECK_EQ_U64(hidden_drawn_passes(&p), 2);
  CHECK_EQ_U64(hidden_least_passes(&p), 2);
  p.ops[1].kind = PAIR_ONE_SIDE;  // does not bind: 1, 2, 9 may be one pass
  CHECK_EQ_U64(hidden_least_passes(&p), 1);
  p.ops[1].mask = 8;
  CHECK_STR(hidden_problem(&p), "a direction is outside of the tile");
  p.ops[1].kind = PAIR_NEUTRAL;
  CHECK_STR(hidden_problem(&p), NULL);
  p.ops[1].kind = PAIR_SWITCH;
  CHECK_STR(hidden_problem(&p), "a tile has no room");
  p.ops[1] = (hidden_op){.mask = 1};
  p.runs[1].tile = f2_space_units(4, 9);
  CHECK_STR(hidden_problem(&p), "a tile lacks lines");
  p.last.a = f2_bit_reversal(4);
  p.runs[1].tile = f2_space_units(4, 12);
  CHECK_STR(hidden_problem(&p), "two tiles share no line");
}

TEST(equal_seeds_give_equal_programs) {
  for (int way = 0; way < HIDDEN_WAYS; way++) {
    hidden_program p, q;
    text a = {0}, b = {0};
    hidden_draw(&p, 5, (hidden_way)way);
    hidden_draw(&q, 5, (hidden_way)way);
    hidden_text(&a, &p);
    hidden_text(&b, &q);
    CHECK_STR(text_content(&a), text_content(&b));
    CHECK_STR(hidden_problem(&p), NULL);
    text_free(&a);
    text_free(&b);
  }
}

// As if the planner missed what parm hides.
static bool hides_by_parm(const hidden_program *p, void *with) {
  bool found = false;
  (void)with;
  for (uint32_t i = 0; i < p->op_count; i++)
    found |= p->ops[i].spelling == HIDDEN_PARM;
  return found;
}

TEST(programs_become_small) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    hidden_program p;
    hidden_draw(&p, seed, seed % 2 ? HIDDEN_PARM : HIDDEN_MIXED);
    if (!hides_by_parm(&p, NULL))
      continue;
    hidden_reduce(&p, hides_by_parm, NULL);
    CHECK_EQ_U64(p.op_count, 1);
    CHECK_STR(hidden_problem(&p), NULL);
    CHECK_EQ_U64(p.run_count, 1);
    CHECK_EQ_U64(p.rows, 0);
    CHECK(hides_by_parm(&p, NULL));
    CHECK(p.n <= 2);
  }
}

// ---- options -------------------------------------------------------------------------------------

static int print_program(void) {
  hidden_program p;
  text out = {0};
  hidden_draw(&p, settings.seed, (hidden_way)(settings.way < 0 ? 0 : settings.way));
  write_facts(&out, &p, &(plan_facts){0});
  hidden_text(&out, &p);
  text_printf(&out, "-- arguments: ");
  hidden_types(&out, &p);
  printf("%s\n", text_content(&out));
  text_free(&out);
  return 0;
}

static int way_named(const char *name) {
  int way = 0;
  while (way < HIDDEN_WAYS && strcmp(hidden_way_names[way], name) != 0)
    way++;
  return way < HIDDEN_WAYS ? way : atoi(name);
}

int main(int count, char **arguments) {
  int kept = 1;
  for (int i = 1; i < count; i++) {
    const char *value = i + 1 < count ? arguments[i + 1] : "0";
    if (!strcmp(arguments[i], "--print"))
      settings.print = true;
    else if (!strcmp(arguments[i], "--count"))
      settings.count = strtoull(value, NULL, 10), i++;
    else if (!strcmp(arguments[i], "--seed"))
      settings.seed = strtoull(value, NULL, 10), i++;
    else if (!strcmp(arguments[i], "--way"))
      settings.way = way_named(value), i++;
    else if (!strcmp(arguments[i], "--backend"))
      settings.backend = value, i++;
    else if (!strcmp(arguments[i], "--reduce"))
      settings.folder = value, i++;
    else
      arguments[kept++] = arguments[i];
  }
  return settings.print ? print_program() : test_main(kept, arguments);
}
