// Choices, costs, shapes, and what is in scope.
#include "tests/generator/generator.h"

// ---- choices ---------------------------------------------------------------------------------

// splitmix64: the same numbers on every machine.
uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static bool is_given(const generator *g, uint32_t choice) {
  return !g->missing && g->given_next < g->given_count && g->given[g->given_next] == choice;
}

void open_span(generator *g) {
  vec_push(g->memory, &g->choices, SPAN_BEGINS);
  if (!g->replay)
    return;
  if (is_given(g, SPAN_BEGINS))
    g->given_next++;
  else
    g->missing++;
}

void close_span(generator *g) {
  vec_push(g->memory, &g->choices, SPAN_ENDS);
  if (!g->replay)
    return;
  if (g->missing) {
    g->missing--;
    return;
  }
  for (unsigned inside = 1; inside && g->given_next < g->given_count; g->given_next++) {
    inside += g->given[g->given_next] == SPAN_BEGINS;
    inside -= g->given[g->given_next] == SPAN_ENDS;
  }
}

uint32_t draw_below(generator *g, uint32_t bound) {
  uint32_t made = 0;
  if (!g->replay)
    made = (uint32_t)(random_bits(&g->random) >> 32) % bound;
  else if (!g->missing && g->given_next < g->given_count && g->given[g->given_next] < SPAN_ENDS)
    made = g->given[g->given_next++] % bound;
  vec_push(g->memory, &g->choices, made);
  return made;
}

bool draw_chance(generator *g, uint32_t percent) { return draw_below(g, 100) >= 100 - percent; }

size_t draw_weighted(generator *g, const uint32_t *weights, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += weights[i];
  uint32_t left = sum ? draw_below(g, sum) : 0;
  for (size_t i = 0; i < count; i++) {
    if (left < weights[i])
      return i;
    left -= weights[i];
  }
  return 0;
}

void mark_used(generator *g, const char *name) {
  for (size_t i = 0; i < g->marks.count; i++)
    if (strcmp(g->marks.items[i], name) == 0)
      return;
  vec_push(g->memory, &g->marks, name);
}

const char *write_code(generator *g, const char *format, ...) {
  text t = {0};
  va_list arguments;
  va_start(arguments, format);
  text_vprintf(&t, format, arguments);
  va_end(arguments);
  const char *copy = arena_copy(g->memory, t.data ? t.data : "", t.length);
  text_free(&t);
  return copy;
}

const char *fresh_name(generator *g, const char *prefix) {
  return write_code(g, "%s%u", prefix, g->names++);
}

scalar_type draw_type(generator *g, scalar_class among) {
  scalar_class preferred = 0;
  for (size_t i = 0; i < g->type_count; i++)
    preferred |= CLASS_OF(g->types[i]) & among;
  if (preferred && !draw_chance(g, 15))
    among = preferred;
  uint32_t skip = draw_below(g, (uint32_t)__builtin_popcount(among));
  while (skip--)
    among &= among - 1;
  return (scalar_type)__builtin_ctz(among);
}

bool draw_fault(generator *g, const char *name, uint32_t percent) {
  if (!g->fault || !draw_chance(g, percent))
    return false;
  g->fault = false;
  mark_used(g, name);
  return true;
}

bool pay_for(generator *g, const scope *s, uint64_t elements) {
  uint64_t cost;
  if (__builtin_mul_overflow(s->instances, elements, &cost) || cost > g->cost)
    return false;
  g->cost -= cost;
  return true;
}

// ---- shapes ----------------------------------------------------------------------------------

static const shape *new_shape(generator *g, shape s) {
  shape *copy = NEW(g->memory, shape);
  *copy = s;
  return copy;
}

const shape *scalar_shape(generator *g, scalar_type t, origin o) {
  return new_shape(g, (shape){.kind = SHAPE_SCALAR, .type = t, .origin = o});
}

const shape *array_shape(generator *g, uint64_t length, const shape *element) {
  return new_shape(g,
                   (shape){.kind = SHAPE_ARRAY, .length = length, .count = 1, .parts = {element}});
}

const shape *pair_shape(generator *g, const shape *first, const shape *second) {
  return new_shape(g, (shape){.kind = SHAPE_TUPLE, .count = 2, .parts = {first, second}});
}

bool shapes_agree(const shape *a, const shape *b) {
  bool same = a->kind == b->kind && a->count == b->count && a->length == b->length &&
              (a->kind != SHAPE_SCALAR || a->type == b->type);
  for (uint32_t i = 0; same && i < a->count; i++)
    same = shapes_agree(a->parts[i], b->parts[i]);
  return same;
}

bool all_scalars(const shape *s) {
  bool good = s->kind != SHAPE_ARRAY;
  for (uint32_t i = 0; good && i < s->count; i++)
    good = all_scalars(s->parts[i]);
  return good;
}

uint64_t shape_size(const shape *s) {
  uint64_t size = s->kind == SHAPE_SCALAR;
  for (uint32_t i = 0; i < s->count; i++)
    size += shape_size(s->parts[i]);
  return s->kind == SHAPE_ARRAY ? s->length * size : size;
}

unsigned shape_rank(const shape *s) {
  unsigned rank = 0;
  for (uint32_t i = 0; i < s->count; i++)
    rank = shape_rank(s->parts[i]) > rank ? shape_rank(s->parts[i]) : rank;
  return rank + (s->kind == SHAPE_ARRAY);
}

scalar_class shape_classes(const shape *s) {
  scalar_class classes = s->kind == SHAPE_SCALAR ? CLASS_OF(s->type) : 0;
  for (uint32_t i = 0; i < s->count; i++)
    classes |= shape_classes(s->parts[i]);
  return classes;
}

origin shape_origin(const shape *s) {
  origin most = s->kind == SHAPE_SCALAR ? s->origin : ORIGIN_MOVED;
  for (uint32_t i = 0; i < s->count; i++)
    most = shape_origin(s->parts[i]) > most ? shape_origin(s->parts[i]) : most;
  return most;
}

static const shape *change_origin(generator *g, const shape *s, origin o, bool raise) {
  shape copy = *s;
  if (s->kind == SHAPE_SCALAR && (!raise || s->origin < o))
    copy.origin = o;
  for (uint32_t i = 0; i < s->count; i++)
    copy.parts[i] = change_origin(g, s->parts[i], o, raise);
  return new_shape(g, copy);
}

const shape *with_origin(generator *g, const shape *s, origin o) {
  return change_origin(g, s, o, false);
}

const shape *at_least(generator *g, const shape *s, origin o) {
  return change_origin(g, s, o, true);
}

int length_bits(uint64_t length) {
  return length && !(length & (length - 1)) ? __builtin_ctzll(length) : -1;
}

static void write_type(text *t, const shape *s) {
  if (s->kind == SHAPE_SCALAR)
    text_string(t, scalar_types[s->type].name);
  if (s->kind == SHAPE_ARRAY)
    text_printf(t, "[%llu]", (unsigned long long)s->length);
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->kind == SHAPE_TUPLE)
      text_string(t, i ? ", " : "(");
    write_type(t, s->parts[i]);
  }
  if (s->kind == SHAPE_TUPLE)
    text_string(t, ")");
}

char *random_program_types(const random_program *p) {
  text t = {0};
  text_string(&t, "");
  for (size_t i = 0; i < p->argument_count; i++) {
    text_string(&t, i ? " " : "");
    write_type(&t, p->arguments[i]);
  }
  return t.data;
}

const char *type_code(generator *g, const shape *s) {
  text code = {0};
  write_type(&code, s);
  const char *copy = arena_copy(g->memory, code.data, code.length);
  text_free(&code);
  return copy;
}

// ---- scopes ----------------------------------------------------------------------------------

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

scope inner_scope(const scope *s, uint64_t factor) {
  scope inner = *s;
  inner.instances = times(s->instances, factor);
  inner.level++;
  return inner;
}

scope closed_scope(const scope *s, uint64_t factor) {
  return (scope){.instances = times(s->instances, factor)};
}

// When there are too many, the oldest goes.
void add_variable(generator *g, scope *s, const char *name, const shape *of) {
  if (s->variable_count == SCOPE_VARIABLES) {
    s->variable_count--;
    memmove(s->variables, s->variables + 1, s->variable_count * sizeof *s->variables);
  }
  s->variables[s->variable_count++] = (variable){name, of, false, s->level, NEW(g->memory, bool)};
}

// ---- terms -----------------------------------------------------------------------------------

term make_term(const char *code, const shape *of) { return (term){code, of, false, false}; }

term make_atom(const char *code, const shape *of) { return (term){code, of, true, false}; }

const char *atom_text(generator *g, term t) {
  return t.atom ? t.text : write_code(g, "(%s)", t.text);
}

term call_term(generator *g, const char *name, term argument, const shape *result) {
  if (draw_chance(g, 15))
    return make_term(write_code(g, "%s |> %s", atom_text(g, argument), name), result);
  return make_term(write_code(g, "%s %s", name, atom_text(g, argument)), result);
}

// ---- places ----------------------------------------------------------------------------------

typedef struct search {
  const generator *generator;
  place_test *test;
  const void *with;
  place *found;
  size_t count;
} search;

bool allows_rough(const generator *g) { return g->options->rough && !g->repeated && !g->exact; }

static void search_place(search *f, place p) {
  bool good = allows_rough(f->generator) || shape_origin(p.shape) < ORIGIN_ROUGH;
  if (good && f->test(p.shape, f->with) && f->count < PLACES)
    f->found[f->count++] = p;
  enum { DEPTH = sizeof p.path / sizeof *p.path };
  bool inside = p.shape->kind == SHAPE_TUPLE || (p.shape->kind == SHAPE_ARRAY && p.shape->length);
  if (!inside || p.depth == DEPTH)
    return;
  const shape *outer = p.shape;
  p.depth++;
  for (uint32_t i = 0; i < outer->count; i++) {
    p.path[p.depth - 1] = (int)i;
    p.shape = outer->parts[i];
    search_place(f, p);
  }
}

size_t find_places(const generator *g, const scope *s, place_test *test, const void *with,
                   place *found) {
  search f = {g, test, with, found, 0};
  for (size_t i = s->variable_count; i-- > 0;)  // the innermost first
    search_place(&f, (place){.of = &s->variables[i], .shape = s->variables[i].shape});
  return f.count;
}

term place_term(generator *g, const scope *s, const place *p) {
  const char *code = p->of->name;
  const shape *at = p->of->shape;
  *p->of->used = true;
  g->dynamic_places += !p->of->fixed;
  if (p->of->level < s->level)
    mark_used(g, p->shape->kind == SHAPE_ARRAY ? "captured array" : "captured scalar");
  for (int i = 0; i < p->depth; at = at->parts[p->path[i]], i++)
    if (at->kind == SHAPE_ARRAY) {
      mark_used(g, "xs[i]");
      code = write_code(g, "%s[%s]", code, index_text(g, s, at->length));
    } else {
      code = write_code(g, "%s.%d", code, p->path[i]);
    }
  return make_atom(code, p->shape);
}

// Moves the places that `prefer` holds for to the front and gives their number.
typedef bool preference(const scope *s, const place *p);

static bool is_unused(const scope *s, const place *p) {
  (void)s;
  return !*p->of->used;
}

static bool is_own(const scope *s, const place *p) { return p->of->level == s->level; }

static size_t keep_preferred(const scope *s, place *found, size_t count, preference *prefer) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (prefer(s, &found[i])) {
      place p = found[kept];
      found[kept++] = found[i];
      found[i] = p;
    }
  return kept;
}

// What nothing has used yet comes first, then what is of this function: an argument that makes no
// difference would hide what is done to it.
term pick_place(generator *g, const scope *s, place *found, size_t count) {
  if (!count)
    return (term){0};
  static preference *const preferences[] = {is_unused, is_own};
  for (int i = 0; i < 2; i++) {
    size_t preferred = keep_preferred(s, found, count, preferences[i]);
    if (preferred && preferred < count && !draw_chance(g, 35))
      count = preferred;
  }
  return place_term(g, s, &found[draw_below(g, (uint32_t)count)]);
}

term any_place_with(generator *g, const scope *s, place_test *test, const void *with) {
  place found[PLACES];
  return pick_place(g, s, found, find_places(g, s, test, with, found));
}

static bool has_shape(const shape *s, const void *with) { return shapes_agree(s, with); }

term any_place(generator *g, const scope *s, const shape *wanted) {
  return any_place_with(g, s, has_shape, wanted);
}

static bool is_array(const shape *s, const void *with) {
  (void)with;
  return s->kind == SHAPE_ARRAY;
}

// Mostly a whole variable, not a part of one.
term any_array(generator *g, const scope *s) {
  place found[PLACES];
  size_t count = find_places(g, s, is_array, NULL, found), whole = 0;
  for (size_t i = 0; i < count; i++)
    if (found[i].depth == 0) {
      place p = found[whole];
      found[whole++] = found[i];
      found[i] = p;
    }
  return pick_place(g, s, found, whole && !draw_chance(g, 25) ? whole : count);
}
