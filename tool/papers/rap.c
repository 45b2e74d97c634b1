// Tables II, III and IV of the RAP paper, by simulation: congestions of one warp's access, under
// layouts whose random numbers are drawn anew.
//
// An array of w^d words has the digits of an address as indices: in Table II a[i][j] of w x w, in
// Table IV a[i][j][k][l] of w^4 words, l the lowest. An access that is strided along one digit has
// all its values there, and others at random. (Contiguous: along the lowest.)
#include "core/random.h"
#include "kernels/banks/banks.h"
#include "tool/papers/paper.h"

#include <assert.h>
#include <inttypes.h>

enum { TRIALS = 100000, STEPS = 10000, SEED = 2014 };

// ---- simulation --------------------------------------------------------------------------------

// Accesses to an array, and the random numbers that they are made of.
typedef struct simulation {
  uint32_t w;
  uint64_t words;
  bank_counter *counter;
  uint64_t state;  // of random numbers
} simulation;

// The mean of samples, and what half its 95 % interval is.
typedef struct sample {
  double sum, squares;
  uint64_t count;
} sample;

static void add_sample(sample *s, double x) {
  s->sum += x;
  s->squares += x * x;
  s->count++;
}

static double mean_of(const sample *s) { return s->sum / (double)s->count; }

static double half_interval(const sample *s) {
  double n = (double)s->count, mean = mean_of(s);
  double variance = n > 1 ? (s->squares - n * mean * mean) / (n - 1) : 0;
  return variance > 0 ? 1.96 * sqrt(variance / n) : 0;
}

static simulation simulation_new(arena *a, uint32_t w, int digits) {
  simulation m = {.w = w, .words = 1, .counter = bank_counter_new(a, w, w), .state = SEED};
  for (int i = 0; i < digits; i++)
    m.words *= w;
  return m;
}

static bank_layout *layout_of(arena *a, const simulation *m, const char *name, uint64_t seed) {
  const char *wrong;
  bank_layout_request r = {.banks = m->w, .words = m->words, .seed = seed};
  bank_layout *l = bank_layout_make(a, bank_layout_kind_named(name), &r, &wrong);
  assert(l);
  return l;
}

// One access of a kind to m's array, in `address`. `which` is the digit of a strided one.
typedef void access_maker(simulation *m, int which, uint64_t *address);

static void make_strided(simulation *m, int digit, uint64_t *address) {
  uint64_t stride = 1, base = draw_word(&m->state) % m->words;
  for (int i = 0; i < digit; i++)
    stride *= m->w;
  base -= base / stride % m->w * stride;
  for (uint32_t t = 0; t < m->w; t++)
    address[t] = base + t * stride;
}

// a[t][(t + i) mod w], or with `which` 1 a[(t + i) mod w][t].
static void make_diagonal(simulation *m, int which, uint64_t *address) {
  uint32_t i = draw_below(&m->state, m->w);
  for (uint32_t t = 0; t < m->w; t++) {
    uint32_t other = (t + i) % m->w;
    address[t] = which ? (uint64_t)other * m->w + t : (uint64_t)t * m->w + other;
  }
}

// Words may be asked for by several threads; these are one request.
static void make_random(simulation *m, int which, uint64_t *address) {
  (void)which;
  for (uint32_t t = 0; t < m->w; t++)
    address[t] = draw_word(&m->state) % m->words;
}

// So many accesses. Small tables are drawn anew for each; a table with many more numbers than an
// access looks at, when one in 32 of them has been looked at: samples hardly ever share numbers.
static sample simulate(simulation *m, bank_layout *l, access_maker *make, int which,
                       uint64_t trials) {
  sample s = {0};
  uint64_t address[BANK_LANES_MAX], period = bank_layout_random_numbers(l) / (32 * m->w);
  for (uint64_t i = 0; i < trials; i++) {
    if (period <= 1 || i % period == 0)
      bank_layout_draw(l, &m->state);
    make(m, which, address);
    add_sample(&s, bank_layout_congestion(l, m->counter, m->w, address));
  }
  return s;
}

// ---- Tables II and III -------------------------------------------------------------------------

static const char *const implementations[] = {"raw", "RAS", "RAP"};

// A row of Table II, at w = 16, 32, 64, 128 and 256, or of Table III, at w = 32.
typedef struct row {
  const char *name;
  access_maker *make;
  int which;
  double published[3][5];  // by implementation and w
} row;

#define BALLS                                                                                      \
  { 3.08, 3.53, 3.96, 4.38, 4.77 }
#define ONES                                                                                       \
  { 1, 1, 1, 1, 1 }
#define RANDOM                                                                                     \
  { 2.92, 3.44, 3.90, 4.34, 4.75 }
static const row table_2[] = {
    {"contiguous", make_strided, 0, {ONES, ONES, ONES}},
    {"stride", make_strided, 1, {{16, 32, 64, 128, 256}, BALLS, ONES}},
    {"diagonal", make_diagonal, 0, {ONES, BALLS, {3.20, 3.61, 4.00, 4.41, 4.78}}},
    {"random", make_random, 0, {RANDOM, RANDOM, RANDOM}},
};

// A transpose reads and writes with one of the accesses above, for any warp i.
static const row table_3[] = {
    {"CRSW read", make_strided, 0, {{1}, {1}, {1}}},
    {"CRSW write", make_strided, 1, {{32}, {3.53}, {1}}},
    {"SRCW read", make_strided, 1, {{32}, {3.53}, {1}}},
    {"SRCW write", make_strided, 0, {{1}, {1}, {1}}},
    {"DRDW read", make_diagonal, 1, {{1}, {3.53}, {3.61}}},
    {"DRDW write", make_diagonal, 0, {{1}, {3.53}, {3.61}}},
};

// Rows at `sizes` widths from w on. What the paper gives as 1 or w is exact; what it has simulated
// is within 0.03.
static void add_rows(paper_table *t, const row *rows, size_t count, uint32_t w, int sizes,
                     uint64_t trials) {
  for (int i = 0; i < 3; i++)
    for (const row *r = rows; r < rows + count; r++)
      for (int size = 0; size < sizes; size++) {
        simulation m = simulation_new(t->memory, w << size, 2);
        bank_layout *l = layout_of(t->memory, &m, implementations[i], SEED);
        sample s = simulate(&m, l, r->make, r->which, trials);
        double published = r->published[i][size], half = half_interval(&s);
        const char *width = sizes > 1 ? arena_printf(t->memory, " w=%u", m.w) : "";
        paper_cell *c =
            paper_add(t, published, mean_of(&s), "%s %s%s", implementations[i], r->name, width);
        c->tolerance = published == 1 || published == m.w ? 0 : 0.03;
        c->note = half > 0 ? arena_printf(t->memory, "95 %% +-%.4f", half) : NULL;
      }
}

// ---- Table IV: malicious accesses --------------------------------------------------------------

// The paper's access against R1P: rows i, j, k with the same three values in any of the six orders
// are rotated alike.
static void make_sixfold(simulation *m, int which, uint64_t *address) {
  static const uint8_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  (void)which;
  for (uint32_t t = 0; t < m->w; t++) {
    uint64_t value = 0;
    for (int d = 0; d < 3; d++)
      value = value * m->w + (t / 6 * 3 + order[t % 6][d]) % m->w;
    address[t] = value * m->w;
  }
}

// Another address, near to `from`: a digit at random, two digits of the row exchanged, or any.
static uint64_t draw_neighbour(simulation *m, uint64_t from) {
  uint64_t digit[4], x = 0;
  uint32_t i = 1 + draw_below(&m->state, 3), j = 1 + draw_below(&m->state, 3);
  for (int d = 0; d < 4; d++, from /= m->w)
    digit[d] = from % m->w;
  switch (draw_below(&m->state, 3)) {
  case 0:
    digit[draw_below(&m->state, 4)] = draw_below(&m->state, m->w);
    break;
  case 1:
    x = digit[i], digit[i] = digit[j], digit[j] = x;
    break;
  default:
    return draw_word(&m->state) % m->words;
  }
  return ((digit[3] * m->w + digit[2]) * m->w + digit[1]) * m->w + digit[0];
}

enum { TRAINING = 128 };

static double mean_congestion(simulation *m, bank_layout *const *layouts, const uint64_t *address) {
  uint64_t sum = 0;
  for (int i = 0; i < TRAINING; i++)
    sum += bank_layout_congestion(layouts[i], m->counter, m->w, address);
  return (double)sum / TRAINING;
}

// Climbs from a random access: one address becomes a neighbour of one of them, if the mean over
// layouts drawn beforehand is not less. What it finds is scored on others.
static void search_access(arena *a, simulation *m, const char *name, uint64_t steps,
                          uint64_t *address) {
  bank_layout *layouts[TRAINING];
  for (int i = 0; i < TRAINING; i++)
    layouts[i] = layout_of(a, m, name, draw_word(&m->state));
  make_random(m, 0, address);
  double best = mean_congestion(m, layouts, address);
  for (uint64_t step = 0; step < steps; step++) {
    uint32_t t = draw_below(&m->state, m->w);
    uint64_t before = address[t];
    address[t] = draw_neighbour(m, address[draw_below(&m->state, m->w)]);
    double now = mean_congestion(m, layouts, address);
    if (now < best)
      address[t] = before;
    else
      best = now;
  }
}

// ---- Table IV ----------------------------------------------------------------------------------

// What the paper has: a number, w, or O(log w / log log w) in expectation.
typedef enum entry { ONE, ALL, LOG } entry;

typedef struct column_4 {
  const char *name;
  entry strides[3], malicious;
  double numbers[3];  // random numbers: coefficients of w, w^2, w^3
} column_4;

static const column_4 table_4[] = {
    {"raw", {ALL, ALL, ALL}, ALL, {0, 0, 0}},   {"RAS", {LOG, LOG, LOG}, LOG, {0, 0, 1}},
    {"1P", {ONE, ALL, ALL}, ALL, {1, 0, 0}},    {"R1P", {ONE, ONE, ONE}, LOG, {1, 0, 0}},
    {"3P", {ONE, ONE, ONE}, LOG, {3, 0, 0}},    {"w2P", {ONE, LOG, LOG}, LOG, {0, 0, 1}},
    {"1Pw2R", {ONE, LOG, LOG}, LOG, {1, 1, 0}},
};

static void add_entry(paper_table *t, const char *kind, const char *where, entry e, uint32_t w,
                      const sample *s) {
  double bound = log(w) / log(log(w)), published = e == ONE ? 1.0 : e == ALL ? (double)w : NAN;
  paper_cell *c = paper_add(t, published, mean_of(s), "%s %s", kind, where);
  if (e == LOG)
    c->note = arena_printf(t->memory, "95 %% +-%.4f, %.3f log w / log log w", half_interval(s),
                           mean_of(s) / bound);
}

// A malicious access under layouts of that name: the paper's, where there are no steps, or the one
// that a search of so many steps finds.
static sample sample_malicious(arena *a, simulation *m, bank_layout *l, uint64_t trials,
                               uint64_t steps) {
  uint64_t address[BANK_LANES_MAX];
  sample s = {0};
  if (steps > 0)
    search_access(a, m, l->kind->name, steps, address);
  else
    make_sixfold(m, 0, address);
  for (uint64_t i = 0; i < trials; i++) {
    bank_layout_draw(l, &m->state);
    add_sample(&s, bank_layout_congestion(l, m->counter, m->w, address));
  }
  return s;
}

void paper_rap_malicious(arena *a, uint32_t w, uint64_t trials, uint64_t steps, double *papers,
                         double *found) {
  simulation m = simulation_new(a, w, 4);
  bank_layout *l = layout_of(a, &m, "R1P", SEED);
  sample s = sample_malicious(a, &m, l, trials, 0);
  *papers = mean_of(&s);
  s = sample_malicious(a, &m, l, trials, steps);
  *found = mean_of(&s);
}

static void add_malicious(paper_table *t, const simulation *of, const column_4 *c, uint64_t trials,
                          uint64_t steps) {
  simulation m = *of;
  bank_layout *l = layout_of(t->memory, &m, c->name, SEED);
  // Tables that are much larger than an access are not worth as many trials.
  uint64_t fresh = trials / (1 + bank_layout_random_numbers(l) / (64 * m.w));
  sample s;
  if (strcmp(c->name, "R1P") == 0) {
    s = sample_malicious(t->memory, &m, l, fresh, 0);
    add_entry(t, c->name, "malicious, the paper's", LOG, m.w, &s);
  }
  s = sample_malicious(t->memory, &m, l, fresh, steps);
  add_entry(t, c->name, "malicious, searched", c->malicious, m.w, &s);
}

static void add_table_4(paper_tables *out, uint32_t w, uint64_t trials, uint64_t steps) {
  static const char *const names[] = {"contiguous", "stride1", "stride2", "stride3"};
  paper_table *t = paper_add_table(
      out,
      "Table IV at w = %u: the congestion of accesses to an array of w^4 words, mean of "
      "%" PRIu64 " accesses; malicious ones after %" PRIu64 " steps",
      w, trials, steps);
  for (size_t i = 0; i < sizeof table_4 / sizeof *table_4; i++) {
    const column_4 *c = &table_4[i];
    simulation m = simulation_new(out->memory, w, 4);
    bank_layout *l = layout_of(out->memory, &m, c->name, SEED);
    for (int digit = 0; digit < 4; digit++) {
      sample s = simulate(&m, l, make_strided, digit, trials);
      add_entry(t, c->name, names[digit], digit ? c->strides[digit - 1] : ONE, w, &s);
    }
    sample s = simulate(&m, l, make_random, 0, trials);
    add_entry(t, c->name, "random", LOG, w, &s);
    add_malicious(t, &m, c, trials, steps);
    double numbers = ((c->numbers[2] * w + c->numbers[1]) * w + c->numbers[0]) * w;
    paper_add(t, numbers, (double)bank_layout_random_numbers(l), "%s random numbers", c->name);
  }
}

void paper_rap(paper_tables *out, uint64_t trials) {
  uint64_t steps = trials && trials < STEPS ? trials : STEPS;
  trials = trials ? trials : TRIALS;
  add_rows(paper_add_table(out,
                           "Table II: the congestion of accesses to a matrix of w x w, mean of "
                           "%" PRIu64 " accesses",
                           trials),
           table_2, sizeof table_2 / sizeof *table_2, 16, 5, trials);
  add_rows(paper_add_table(
               out, "Table III: the congestion of transposes of 32 x 32, mean of %" PRIu64 " warps",
               trials),
           table_3, sizeof table_3 / sizeof *table_3, 32, 1, trials);
  add_table_4(out, 16, trials, steps);
  add_table_4(out, 32, trials, steps);
}
