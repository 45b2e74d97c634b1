// The program as a whole: arguments, the entry point, results.
#include "tests/generator/generator.h"

#include <inttypes.h>
#include <stdio.h>

const program_options default_program_options = {.max_bits = 16, .fault_percent = 3};

// ---- arguments -------------------------------------------------------------------------------

// Small sizes are the common ones; the largest still come up.
static int draw_bits(generator *g) {
  static const uint32_t weights[] = {14, 16, 22, 24, 22, 18, 14, 10, 8, 5, 4, 3, 2, 2, 1, 1, 1};
  int bits = (int)draw_weighted(g, weights, sizeof weights / sizeof *weights);
  return bits < g->options->max_bits ? bits : g->options->max_bits;
}

static void draw_types(generator *g) {
  g->type_count = 2 + draw_below(g, 3);
  for (size_t i = 0; i < g->type_count; i++)
    g->types[i] = (scalar_type)((SCALAR_I32 + draw_below(g, SCALAR_COUNT)) % SCALAR_COUNT);
}

static const shape *element_shape(generator *g) {
  const shape *first = scalar_shape(g, draw_type(g, CLASS_ANY), ORIGIN_MOVED);
  static const uint32_t weights[] = {70, 18, 5, 3};
  const shape *second;
  switch (draw_weighted(g, weights, 4)) {
  case 1:
    return pair_shape(g, first, scalar_shape(g, draw_type(g, CLASS_ANY), ORIGIN_MOVED));
  case 2:
    second = pair_shape(g, first, scalar_shape(g, draw_type(g, CLASS_ANY), ORIGIN_MOVED));
    return pair_shape(g, second, scalar_shape(g, draw_type(g, CLASS_ANY), ORIGIN_MOVED));
  case 3:
    second = array_shape(g, 1 + draw_below(g, 4), first);
    return pair_shape(g, second, scalar_shape(g, draw_type(g, CLASS_ANY), ORIGIN_MOVED));
  default:
    return first;
  }
}

static uint64_t odd_length(generator *g) {
  static const uint64_t lengths[] = {3, 5, 7, 12, 6, 1, 9, 2, 4, 8};
  return lengths[draw_below(g, 10)];
}

static uint64_t any_length(generator *g) {
  uint64_t power = UINT64_C(1) << g->bits;
  switch (draw_below(g, 4)) {
  case 0:
    return odd_length(g);
  case 1:
    return power + 1;
  case 2:
    return power > 1 ? power - 1 : 1;
  default:
    return power / 4 * 3 + 1;
  }
}

// 2^bits without the factor that an outer or inner dimension takes.
static uint64_t power_beside(generator *g, uint64_t factor) {
  int bits = g->bits;
  for (; factor > 1 && bits > 0; factor /= 2)
    bits--;
  return UINT64_C(1) << bits;
}

static const shape *argument_shape(generator *g, uint32_t scalars) {
  const uint32_t weights[] = {40, 24, 10, 12, 12, 12, scalars, 2, 2};
  const shape *e = element_shape(g), *other;
  uint64_t length, rows, power = UINT64_C(1) << g->bits;
  switch (draw_weighted(g, weights, sizeof weights / sizeof *weights)) {
  case 1:
    rows = odd_length(g);
    return array_shape(g, rows, array_shape(g, power_beside(g, rows), e));
  case 2:
    rows = UINT64_C(1) << draw_below(g, (uint32_t)g->bits + 1);
    return array_shape(g, rows, array_shape(g, power / rows, e));
  case 3:
    return array_shape(g, any_length(g), e);
  case 4:
    length = odd_length(g);
    return array_shape(g, power_beside(g, length), array_shape(g, length, e));
  case 5:
    rows = odd_length(g), length = odd_length(g);
    e = array_shape(g, length, e);
    return array_shape(g, rows, array_shape(g, power_beside(g, rows * length), e));
  case 6:
    return all_scalars(e) ? e : e->parts[1];
  case 7:
    mark_used(g, "empty array");
    return array_shape(g, 0, draw_below(g, 2) ? array_shape(g, power, e) : e);
  case 8:
    other = array_shape(g, any_length(g), e);
    return pair_shape(g, array_shape(g, power, element_shape(g)), other);
  default:
    return array_shape(g, power, e);
  }
}

// ---- signatures ------------------------------------------------------------------------------

// A length as a signature has it, without brackets. Names are bound by parameters only.
static const char *length_text(generator *g, scope *s, uint64_t length, bool binds) {
  static const char *const names[] = {"n", "m", "k", "p"};
  int n = length_bits(length);
  bool power = n >= 0 && draw_below(g, 4);
  int64_t wanted = power ? n : (int64_t)length;
  const char *form = power ? "2^%s" : "%s";
  for (size_t i = 0; i < s->size_count; i++)
    if (s->sizes[i].value == wanted && draw_below(g, 2))
      return write_code(g, form, s->sizes[i].name);
  if (binds && s->size_count < SCOPE_SIZES && !draw_chance(g, 30)) {
    const char *name = names[s->size_count];
    s->sizes[s->size_count++] = (named_size){name, wanted};
    return write_code(g, form, name);
  }
  if (draw_below(g, 2))
    return "";
  return power ? write_code(g, "2^%d", n) : write_code(g, "%" PRIu64, length);
}

static const char *signature_text(generator *g, scope *s, const shape *of, bool binds) {
  if (of->kind == SHAPE_SCALAR)
    return of->type == SCALAR_I64 && draw_below(g, 2) ? "int" : scalar_types[of->type].name;
  if (of->kind == SHAPE_ARRAY) {
    const char *length = length_text(g, s, of->length, binds);
    return write_code(g, "[%s]%s", length, signature_text(g, s, of->parts[0], binds));
  }
  const char *list = "";
  for (uint32_t i = 0; i < of->count; i++)
    list = write_code(g, "%s%s%s", list, i ? ", " : "", signature_text(g, s, of->parts[i], false));
  return write_code(g, "(%s)", list);
}

// ---- the entry point -------------------------------------------------------------------------

enum { MOST_BINDINGS = 6, MOST_ARGUMENTS = 3, MOST_RESULTS = 4 };

typedef struct entry {
  scope scope;
  const shape *arguments[MOST_ARGUMENTS];
  size_t argument_count;
  const char *types, *patterns;  // of the parameters
  const char *bindings;
  term results[MOST_RESULTS];
  size_t result_count;
} entry;

static void make_arguments(generator *g, entry *e) {
  e->argument_count = 1 + draw_below(g, MOST_ARGUMENTS);
  e->types = e->patterns = "";
  for (size_t i = 0; i < e->argument_count; i++) {
    open_span(g);
    const shape *s = argument_shape(g, i ? 60 : 3);
    close_span(g);
    e->arguments[i] = s;
    e->types = write_code(g, "%s%s -> ", e->types, signature_text(g, &e->scope, s, true));
    e->patterns = write_code(g, "%s %s", e->patterns, pattern_text(g, &e->scope, s));
  }
}

static void limit_cost(generator *g, const entry *e) {
  static const uint64_t factors[] = {60, 150, 600};
  static const uint32_t weights[] = {80, 17, 3};
  uint64_t size = 0;
  for (size_t i = 0; i < e->argument_count; i++)
    size += shape_size(e->arguments[i]);
  g->cost = 4000 + size * factors[draw_weighted(g, weights, 3)];
  static const int budgets[] = {8, 16, 30, 60};
  static const uint32_t budget_weights[] = {25, 40, 27, 8};
  g->budget = budgets[draw_weighted(g, budget_weights, 4)];
  // One in six moves and compares elements, and hardly computes with them.
  g->scalars = draw_below(g, 6) == 5 ? 0 : 5 * g->budget;
}

static term binding_value(generator *g, const entry *e) {
  term xs = draw_chance(g, 15) ? (term){0} : any_array(g, &e->scope);
  if (xs.text && pay_for(g, &e->scope, shape_size(xs.shape)))
    return apply_steps(g, &e->scope, xs, 1 + draw_below(g, 4), KEEP_NOTHING);
  return any_term(g, &e->scope, 1);
}

static bool is_used(const scope *s, const char *name) {
  for (size_t i = 0; i < s->variable_count; i++)
    if (strcmp(s->variables[i].name, name) == 0)
      return *s->variables[i].used;
  return true;
}

// The last binding is a result, and what no other one uses.
static void choose_results(generator *g, entry *e, const term *bindings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool last = i + 1 == count, room = e->result_count + 1 < MOST_RESULTS;
    if (last || (room && (!is_used(&e->scope, bindings[i].text) || draw_chance(g, 15))))
      e->results[e->result_count++] = bindings[i];
  }
}

static void make_bindings(generator *g, entry *e) {
  size_t count = 1 + draw_below(g, MOST_BINDINGS), made = 0;
  term bindings[MOST_BINDINGS];
  e->bindings = "";
  while (made < count && (made == 0 || g->budget > 0)) {
    open_span(g);
    term b = binding_value(g, e);
    close_span(g);
    const char *name = fresh_name(g, "b");
    e->bindings = write_code(g, "%s    %s = %s\n", e->bindings, name, b.text);
    add_variable(g, &e->scope, name, b.shape);
    bindings[made++] = make_atom(name, b.shape);
  }
  choose_results(g, e, bindings, made);
}

static void write_entry(generator *g, entry *e) {
  const char *results = "", *types = "";
  for (size_t i = 0; i < e->result_count; i++) {
    const char *comma = i ? ", " : "";
    results = write_code(g, "%s%s%s", results, comma, e->results[i].text);
    types = write_code(g, "%s%s%s", types, comma,
                       signature_text(g, &e->scope, e->results[i].shape, false));
  }
  bool several = e->result_count > 1;
  text_printf(&g->text, several ? "main : %s(%s)\n" : "main : %s%s\n", e->types, types);
  text_printf(&g->text, several ? "main%s = (%s)\n" : "main%s = %s\n", e->patterns, results);
  text_printf(&g->text, "  where\n%s", e->bindings);
}

// ---- the program -----------------------------------------------------------------------------

static void finish(generator *g, const entry *e, random_program *p, uint64_t seed) {
  p->text = arena_copy(g->memory, g->text.data, g->text.length);
  p->arguments = NEW_ARRAY(g->memory, const shape *, e->argument_count);
  p->values = calloc(e->argument_count, sizeof *p->values);
  if (!p->values)
    longjmp(*g->memory->failure, 1);
  for (size_t i = 0; i < e->argument_count; i++) {
    p->arguments[p->argument_count] = e->arguments[i];
    p->values[p->argument_count++] = draw_data(g, e->arguments[i], &seed);
  }
  const shape *only = e->result_count == 1 ? e->results[0].shape : NULL;
  bool tuple = only && only->kind == SHAPE_TUPLE;
  p->result_count = tuple ? only->count : e->result_count;
  p->results = NEW_ARRAY(g->memory, const shape *, p->result_count);
  for (size_t i = 0; i < p->result_count; i++)
    p->results[i] = tuple ? only->parts[i] : e->results[i].shape;
}

static void mark_shape(generator *g, const shape *s, const char *what) {
  if (s->kind == SHAPE_ARRAY) {
    mark_used(g, length_bits(s->length) >= 0
                     ? write_code(g, "%s: length 2^n", what)
                     : write_code(g, "%s: length %s", what,
                                  s->length > 12 ? "not 2^n, over 12"
                                                 : write_code(g, "%d", (int)s->length)));
    mark_used(g, write_code(g, "%s: rank %u", what, shape_rank(s)));
  }
  if (s->kind == SHAPE_TUPLE)
    mark_used(g, write_code(g, "%s: tuple", what));
  if (s->kind == SHAPE_SCALAR)
    mark_used(g, write_code(g, "%s: %s", what, scalar_types[s->type].name));
  for (uint32_t i = 0; i < s->count; i++)
    mark_shape(g, s->parts[i], what);
}

static void add_marks(generator *g, random_program *p) {
  mark_used(g, write_code(g, "n = %2d", g->bits));
  mark_used(g, write_code(g, "arguments: %zu", p->argument_count));
  mark_used(g, write_code(g, "results: %zu", p->result_count));
  for (size_t i = 0; i < p->argument_count; i++)
    mark_shape(g, p->arguments[i], "argument");
  for (size_t i = 0; i < p->result_count; i++)
    mark_shape(g, p->results[i], "result");
  p->marks = g->marks.items;
  p->mark_count = g->marks.count;
  p->choices = g->choices.items;
  p->choice_count = g->choices.count;
}

static void make(generator *g, random_program *p, uint64_t seed) {
  entry e = {.scope = {.instances = 1}};
  g->fault = draw_chance(g, g->options->fault_percent);
  g->swarm = draw_below(g, 2) ? draw_below(g, 1 << 20) : 0;
  g->bits = draw_bits(g);
  draw_types(g);
  make_arguments(g, &e);
  limit_cost(g, &e);
  make_bindings(g, &e);
  write_entry(g, &e);
  finish(g, &e, p, seed);
  add_marks(g, p);
}

typedef struct owned_program {
  random_program program;
  arena memory;
  jmp_buf failure;
} owned_program;

static random_program *new_program(generator *g, uint64_t seed) {
  owned_program *p = calloc(1, sizeof *p);
  if (!p || setjmp(p->failure)) {
    fprintf(stderr, "random_program: out of memory\n");
    abort();
  }
  p->memory.failure = &p->failure;
  g->memory = &p->memory;
  make(g, &p->program, seed);
  text_free(&g->text);
  return &p->program;
}

random_program *random_program_new(uint64_t seed, const program_options *o) {
  generator g = {.options = o, .random = seed * UINT64_C(0xd1342543de82ef95) + 1};
  return new_program(&g, seed);
}

random_program *random_program_again(uint64_t seed, const uint32_t *choices, size_t count,
                                     const program_options *o) {
  generator g = {.options = o, .given = choices, .given_count = count, .replay = true};
  return new_program(&g, seed);
}

void random_program_free(random_program *p) {
  if (!p)
    return;
  permc_values_free(p->values, p->argument_count);
  owned_program *owned = (owned_program *)p;  // its first member
  arena_free(&owned->memory);
  free(owned);
}
