// What the differential test must find: random programs whose second result is spoiled on purpose,
// programs with a word exchanged; that programs are the same for the same seed, and become small.
#include "tests/generator/differ.h"
#include "tests/unit/api.h"

#include <math.h>

enum { FIRST = 7000 };  // seed: programs from there on have enough of what these tests need

static permc_context *new_context(void) {
  permc_context *c = random_program_context();
  if (c == NULL)
    abort();
  return c;
}

// ---- spoiled results -------------------------------------------------------------------------

static bool spoiled;

static permc_value *some_value(const random_program *p, result *r, size_t *component,
                               uint64_t *count) {
  for (size_t tries = 0; !r->message && tries < 20; tries++) {
    permc_value *v = r->values[random_below(p->result_count)];
    *component = random_below(permc_value_components(v));
    *count = component_size(v, *component);
    if (*count > 0)
      return v;
  }
  return NULL;
}

// The results are this file's own: it may write in them.
static char *writable(const permc_value *v, size_t component) {
  return (char *)(uintptr_t)permc_value_data(v, component);
}

static bool is_real_float(const char *type) { return type[0] == 'f' || strcmp(type, "bf16") == 0; }

// Whether the element is a NaN; a complex one could have one in it.
static bool is_real_nan(const char *type, const char *element) {
  double wide = 0;
  scalar_bits bits = {{0}};
  memcpy(&bits, element, size_of_type(type));
  if (is_real_float(type))
    scalar_convert(scalar_named(type, strlen(type)), SCALAR_F64, 1, &bits, &wide);
  return type[0] == 'c' || isnan(wide);
}

// One bit of one element, but none of a NaN, which may be another NaN then.
static void flip_bit(const random_program *p, result *r) {
  size_t k;
  uint64_t count;
  permc_value *v = some_value(p, r, &k, &count);
  if (v == NULL)
    return;
  const char *type = permc_value_type(v, k);
  size_t size = size_of_type(type);
  char *element = writable(v, k) + size * random_below(count);
  if (is_real_nan(type, element))
    return;
  element[random_below(size)] ^= (char)(1 << random_below(strcmp(type, "bool") ? 8 : 1));
  spoiled = !is_real_nan(type, element);
}

// A NaN that was only moved becomes another NaN.
static bool change_payload_of(const permc_value *v, size_t k, const leaf *l) {
  const char *type = permc_value_type(v, k);
  uint64_t count = component_size(v, k);
  for (uint64_t i = 0; i < count && l->scalar->origin == ORIGIN_MOVED && is_real_float(type); i++) {
    char *element = writable(v, k) + size_of_type(type) * i;
    if (is_real_nan(type, element)) {
      element[1] ^= 1;
      return is_real_nan(type, element);
    }
  }
  return false;
}

static void change_payload(const random_program *p, result *r) {
  for (size_t i = 0; i < p->result_count && !r->message; i++) {
    leaf_list list = result_leaves(p->results[i]);
    for (size_t k = 0; k < list.count && !spoiled; k++)
      spoiled = change_payload_of(r->values[i], k, &list.items[k]);
  }
}

static void exchange_elements(const random_program *p, result *r) {
  size_t k;
  uint64_t count;
  permc_value *v = some_value(p, r, &k, &count);
  if (v == NULL)
    return;
  size_t size = size_of_type(permc_value_type(v, k));
  char *x = writable(v, k) + size * random_below(count), *y = writable(v, k), kept[16];
  spoiled = memcmp(x, y, size) != 0 && !is_real_nan(permc_value_type(v, k), x);
  memcpy(kept, x, size);
  memcpy(x, y, size);
  memcpy(y, kept, size);
}

// Another type, of the same size or not; one dimension more.
static void replace_value(const random_program *p, result *r) {
  static const char *const types[] = {"u8", "i8", "f64", "i64"};
  static const uint64_t one = 1;
  size_t k;
  uint64_t count, data[2] = {0, 0};
  permc_value *v = some_value(p, r, &k, &count);
  if (v == NULL)
    return;
  const char *type = types[random_below(4)];
  for (size_t i = 0; i < r->count; i++)
    if (r->values[i] == v) {
      uint32_t rank = (uint32_t)random_below(2);
      spoiled = strcmp(type, permc_value_type(v, 0)) != 0 || permc_value_rank(v, 0) != rank;
      r->values[i] = permc_value_new(type, rank, &one, data);
      permc_value_free(v);
      return;
    }
}

static void lose_result(const random_program *p, result *r) {
  (void)p;
  spoiled = r->count > 0;
  if (spoiled)
    permc_value_free(r->values[--r->count]);
}

static void fail_instead(const random_program *p, result *r) {
  (void)p;
  spoiled = r->message == NULL;
  permc_values_free(r->values, r->count);
  free(r->message);
  *r = (result){NULL, 0, spoiled ? strdup("a message") : NULL};
}

static void check_found(void (*spoil)(const random_program *, result *), unsigned least) {
  permc_context *c = new_context();
  unsigned made = 0, found = 0;
  for (uint64_t seed = FIRST; seed < FIRST + 400 / slower(); seed++) {
    random_program *p = random_program_new(seed, &default_program_options);
    bool failed;
    spoiled = false;
    watch_program(p, seed);
    difference d = try_program(c, p, &(rival){.backend = "interp", .spoil = spoil}, &failed);
    made += spoiled;
    found += spoiled && d.kind != NO_DIFFERENCE;
    if (spoiled && d.kind == NO_DIFFERENCE)
      CHECK_EQ_U64(seed, UINT64_MAX);
    random_program_free(p);
  }
  watch_program(NULL, 0);
  CHECK_EQ_U64(found, made);
  CHECK(made >= least / slower());
  permc_context_free(c);
}

TEST(a_flipped_bit_is_found) { check_found(flip_bit, 200); }

TEST(a_changed_payload_is_found) { check_found(change_payload, 4); }

TEST(exchanged_elements_are_found) { check_found(exchange_elements, 80); }

TEST(another_type_or_rank_is_found) { check_found(replace_value, 200); }

TEST(a_lost_result_is_found) { check_found(lose_result, 300); }

TEST(a_failure_is_found) { check_found(fail_instead, 300); }

// ---- wrong programs --------------------------------------------------------------------------

// A wrong backend: a word of the program is another one there, which runs as well.
static const char *const exchanges[][2] = {
    {"reverse ", "bitrev "}, {"bitrev ", "reverse "},  {"two ", "ilv "},
    {"ilv ", "two "},        {"shuffle ", "gray "},    {"gray ", "reverse "},
    {" <= ", " > "},         {" < ", " >= "},          {" + ", " - "},
    {" - ", " + "},          {" * ", " + "},           {" max ", " min "},
    {"sort ", "sort_desc "}, {"parm 1 ", "parm 2 "},   {"column 1 ", "column 2 "},
    {"take ", "drop "},      {"parmi 1 ", "parmi 3 "}, {"sorted_places ", "sorted_places_desc "},
};

// A copy of the text with one of the places of a word changed, or NULL.
static char *with_another_word(const char *program, const char *word, const char *other) {
  const char *places[64];
  size_t count = 0;
  for (const char *p = program; (p = strstr(p, word)) != NULL && count < 64; p++)
    places[count++] = p;
  if (count == 0)
    return NULL;
  const char *place = places[random_below(count)];
  size_t room = strlen(program) + strlen(other) + 1;
  char *changed = malloc(room);
  snprintf(changed, room, "%.*s%s%s", (int)(place - program), program, other, place + strlen(word));
  return changed;
}

typedef struct wrong_words {
  permc_context *right, *wrong;
  unsigned made, found;
} wrong_words;

static void try_another_word(wrong_words *w, const random_program *p) {
  size_t which = random_below(sizeof exchanges / sizeof *exchanges);
  char *changed = with_another_word(p->text, exchanges[which][0], exchanges[which][1]);
  if (changed == NULL)
    return;
  random_program other = *p;
  other.text = changed;
  result a = load_and_run(w->right, p, "interp"), b = load_and_run(w->wrong, &other, "interp");
  if (!a.message && !b.message) {
    w->made++;
    w->found += compare_results(p, &a, &b).kind != NO_DIFFERENCE;
  }
  free_result(&a);
  free_result(&b);
  free(changed);
}

// Not all are found: the word may stand where it makes no difference to these data. Of few programs
// few may be found by chance, so the words are the same whatever ran before.
TEST(another_word_is_found) {
  enum { ALL = 2000, LEAST = 800 };
  wrong_words w = {new_context(), new_context(), 0, 0};
  random_state = 1;
  for (uint64_t seed = FIRST; seed < FIRST + ALL / slower() || seed < FIRST + LEAST; seed++) {
    random_program *p = random_program_new(seed, &default_program_options);
    watch_program(p, seed);
    try_another_word(&w, p);
    random_program_free(p);
  }
  watch_program(NULL, 0);
  CHECK(w.made >= 200 / slower());
  CHECK(4 * w.found > w.made);
  permc_context_free(w.right);
  permc_context_free(w.wrong);
}

// ---- elements --------------------------------------------------------------------------------

static bool equal_f64(double a, double b, origin o) {
  shape s = {.kind = SHAPE_SCALAR, .type = SCALAR_F64, .origin = o};
  return equal_elements(&a, &b, &s);
}

static bool equal_c64(float re, float im, float other_re, float other_im) {
  shape s = {.kind = SHAPE_SCALAR, .type = SCALAR_C64, .origin = ORIGIN_ROUGH};
  return equal_elements((float[]){re, im}, (float[]){other_re, other_im}, &s);
}

TEST(rough_elements_are_close) {
  double x = 1.5, e = 0x1p-52;
  CHECK(equal_f64(x, x + 4 * e, ORIGIN_ROUGH));
  CHECK(!equal_f64(x, x + 8 * e, ORIGIN_ROUGH));
  CHECK(!equal_f64(x, x + e, ORIGIN_COMPUTED));
  CHECK(equal_f64((double)INFINITY, (double)INFINITY, ORIGIN_ROUGH));
  CHECK(!equal_f64(1, (double)INFINITY, ORIGIN_ROUGH));
  CHECK(!equal_f64(1, (double)NAN, ORIGIN_ROUGH));
  // The parts of a complex number are as exact as the larger of them.
  CHECK(equal_c64(1, 0, 1, 0x1p-22f));
  CHECK(!equal_c64(1, 0, 1, 0x1p-20f));
}

TEST(nan_are_equal_unless_moved) {
  double quiet = double_of_bits(UINT64_C(0x7ff8000000000001));
  double other = double_of_bits(UINT64_C(0xfff8000000000002));
  CHECK(equal_f64(quiet, other, ORIGIN_COMPUTED));
  CHECK(!equal_f64(quiet, other, ORIGIN_MOVED));
  CHECK(equal_f64(other, other, ORIGIN_MOVED));
  CHECK(!equal_f64(0.0, -0.0, ORIGIN_COMPUTED));
}

// ---- programs --------------------------------------------------------------------------------

TEST(equal_seeds_give_equal_programs) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    random_program *a = random_program_new(seed, &default_program_options);
    random_program *b = random_program_new(seed, &default_program_options);
    random_program *again =
        random_program_again(seed, a->choices, a->choice_count, &default_program_options);
    CHECK_STR(b->text, a->text);
    CHECK_STR(again->text, a->text);
    for (size_t i = 0; i < a->argument_count && i < again->argument_count; i++) {
      result x = {&a->values[i], 1, NULL}, y = {&again->values[i], 1, NULL};
      random_program shaped = {.results = &a->arguments[i], .result_count = 1};
      CHECK_STR(compare_results(&shaped, &x, &y).text, "");
    }
    random_program_free(a);
    random_program_free(b);
    random_program_free(again);
  }
}

// A backend that is wrong where arrays are reversed.
static void dislike_reverse(const random_program *p, result *r) {
  for (size_t i = 0; i < p->mark_count && !r->message; i++)
    if (strcmp(p->marks[i], "reverse") == 0)
      lose_result(p, r);
}

TEST(what_differs_becomes_small) {
  permc_context *c = new_context();
  rival other = {.backend = "interp", .spoil = dislike_reverse};
  unsigned shrunk = 0;
  for (uint64_t seed = FIRST; shrunk < 5; seed++) {
    random_program *p = random_program_new(seed, &default_program_options);
    bool failed;
    watch_program(p, seed);
    difference d = try_program(c, p, &other, &failed);
    if (d.kind) {
      p = shrink_program(c, p, seed, &default_program_options, &other, d.kind);
      CHECK_CONTAINS(p->text, "reverse");
      CHECK(strlen(p->text) < 200);
      shrunk++;
    }
    random_program_free(p);
  }
  watch_program(NULL, 0);
  permc_context_free(c);
}

int main(int count, char **arguments) {
  watch_programs(60 * slower());
  return test_main(count, arguments);
}
