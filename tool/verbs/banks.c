// permc banks: what the accesses of a trace, or of a plan, cost under every bank layout.
#include "kernels/banks/banks.h"
#include "kernels/hmm/banks_plan.h"
#include "tool/reports/address_text.h"
#include "tool/reports/json.h"
#include "tool/reports/plan.h"
#include "tool/verbs/verbs.h"

#include <inttypes.h>
#include <math.h>

typedef struct fit {  // accesses of one pattern
  bank_pattern pattern;
  uint64_t accesses, units;  // units: of the layout raw
} fit;

typedef struct choice {  // a layout, and what it costs
  const bank_layout_kind *kind;
  bank_layout *layout;  // NULL: `wrong` says why
  const char *wrong;
  bank_cost cost;
} choice;

typedef struct report {
  const char *title;  // the file, or the entry of a program
  bool of_plan;
  const bank_layout_kind *only;
  bank_trace trace;
  uint64_t accesses;  // of the trace, each as often as it happens
  bank_layout_request request;
  VEC(fit) fits;
  VEC(choice) choices;
  uint64_t raw;  // conflicts without a layout
  const choice *best;
  const bank_layout *of_data;  // the default where indices are data; NULL: no access is random
} report;

// ---- counting ----------------------------------------------------------------------------------

// Which patterns there are: open addressing, at most half full.
typedef struct known {
  size_t slots;  // a power of two
  size_t *slot;  // number + 1 of a fit; 0: free
} known;

// By what pattern_equal compares.
static size_t hash_of(const bank_pattern *p) {
  uint64_t h = (uint64_t)p->stride * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 32 ^ (uint64_t)p->rows) * UINT64_C(0xbf58476d1ce4e5b9);
  h ^= h >> 32 ^ (uint64_t)p->class ^ (p->class == PATTERN_BLOCK ? (uint64_t)p->width << 2 : 0);
  h *= UINT64_C(0x94d049bb133111eb);
  return (size_t)(h ^ h >> 32);
}

static size_t *find(const known *k, const report *r, const bank_pattern *p) {
  size_t at = hash_of(p) & (k->slots - 1);
  while (k->slot[at] != 0 && !pattern_equal(&r->fits.items[k->slot[at] - 1].pattern, p))
    at = (at + 1) & (k->slots - 1);
  return &k->slot[at];
}

static void make_room(arena *a, known *k, const report *r) {
  if (2 * (r->fits.count + 1) <= k->slots)
    return;
  k->slots = k->slots ? 2 * k->slots : 64;
  k->slot = NEW_ARRAY(a, size_t, k->slots);
  for (size_t i = 0; i < r->fits.count; i++)
    *find(k, r, &r->fits.items[i].pattern) = i + 1;
}

static void classify(arena *a, report *r, bank_counter *c) {
  known k = {0};
  for (size_t i = 0; i < r->trace.accesses.count; i++) {
    const bank_access *access = &r->trace.accesses.items[i];
    uint64_t units = bank_congestion(c, access->count, access->address) * access->times;
    fit own = {pattern_of(access->count, access->address), access->times, units};
    r->accesses += own.accesses;
    r->raw += own.units - own.accesses;
    make_room(a, &k, r);
    size_t *slot = find(&k, r, &own.pattern);
    if (*slot == 0) {
      vec_push(a, &r->fits, own);
      *slot = r->fits.count;
    } else {
      r->fits.items[*slot - 1].accesses += own.accesses;
      r->fits.items[*slot - 1].units += own.units;
    }
  }
}

static int by_cost(const void *x, const void *y) {
  const fit *a = x, *b = y;
  const bank_pattern *p = &a->pattern, *q = &b->pattern;
  int by_units = (a->units < b->units) - (a->units > b->units);
  int by_class = (p->class > q->class) - (p->class < q->class);
  int by_stride = (p->stride > q->stride) - (p->stride < q->stride);
  int by_rows = (p->rows > q->rows) - (p->rows < q->rows);
  int by_width = (p->width > q->width) - (p->width < q->width);
  return by_units    ? by_units
         : by_class  ? by_class
         : by_stride ? by_stride
         : by_rows   ? by_rows
                     : by_width;
}

// Words of memory, in whole rows of banks.
static uint64_t memory_of(const bank_layout *l) {
  uint64_t words = l->places > l->words ? l->places : l->words;
  return (words + l->banks - 1) / l->banks * l->banks;
}

// Fewer conflicts; or the same in less memory; or with less to compute.
static bool better(const choice *a, const choice *b) {
  uint64_t own = bank_conflicts(a->cost), other = bank_conflicts(b->cost);
  if (own == other) {
    own = memory_of(a->layout);
    other = memory_of(b->layout);
  }
  return own != other ? own < other
                      : bank_layout_operations(a->layout) < bank_layout_operations(b->layout);
}

static void choose(arena *a, report *r, bank_counter *c) {
  const bank_layout_kind *kind;
  bank_trace distinct = bank_trace_distinct(a, &r->trace);
  r->request.distinct = &distinct;
  for (size_t i = 0; (kind = bank_layout_kind_at(i)) != NULL; i++) {
    if (r->only && kind != r->only)
      continue;
    choice own = {.kind = kind};
    own.layout = bank_layout_make(a, kind, &r->request, &own.wrong);
    if (own.layout)
      own.cost = bank_layout_cost(own.layout, c, &r->trace);
    vec_push(a, &r->choices, own);
  }
  for (size_t i = 0; i < r->choices.count; i++) {
    const choice *own = &r->choices.items[i];
    if (own->layout && (!r->best || better(own, r->best)))
      r->best = own;
  }
  r->request.distinct = NULL;
}

// The layout for accesses of a trace without a pattern, which may be those of indices that are
// data.
static void choose_for_data(arena *a, report *r) {
  const bank_layout_request *q = &r->request;
  const char *wrong;
  for (size_t i = 0; i < r->fits.count && !r->of_data && !r->of_plan; i++)
    if (r->fits.items[i].pattern.class == PATTERN_RANDOM)
      r->of_data = bank_layout_for_data(a, q->banks, q->words, q->seed, &wrong);
}

// ---- text --------------------------------------------------------------------------------------

enum { FITS_SHOWN = 12 };

static void print_fit(text *to, const fit *f) {
  const bank_pattern *p = &f->pattern;
  text_printf(to, "%10" PRIu64 "%12.2f  %-6s", f->accesses, (double)f->units / (double)f->accesses,
              pattern_class_names[p->class]);
  if (p->class == PATTERN_STRIDE)
    text_printf(to, "  stride %" PRId64, p->stride);
  if (p->class == PATTERN_BLOCK)
    text_printf(to, "  rows of %" PRIu32 " with stride %" PRId64 ", %" PRId64 " apart", p->width,
                p->stride, p->rows);
  text_string(to, "\n");
}

static void print_choice(text *to, const report *r, const choice *c) {
  if (!c->layout) {
    text_printf(to, "%s\n", c->wrong);  // it begins with the name
    return;
  }
  uint64_t left = bank_conflicts(c->cost);
  text_printf(to, "%-22s%5" PRIu32 "%9.2f%12" PRIu64, c->kind->name, c->cost.worst,
              (double)c->cost.units / (double)c->cost.accesses, left);
  double removed = r->raw ? 100 * (1 - (double)left / (double)r->raw) : 0;
  if (r->raw)
    text_printf(to, "%8.1f %%", fabs(removed) < 0.05 ? 0 : removed);  // no -0.0
  else
    text_printf(to, "%10s", "-");
  text_printf(to, "  %s\n", c->layout->parameters);
}

// Tables, place and bank in C, of the address a.
static void print_c(text *to, const bank_layout *l, const char *prefix) {
  bank_layout_print_tables(to, l, "static const", prefix);
  text_string(to, "  place  ");
  bank_layout_print_place(to, l, prefix, "a");
  text_string(to, "\n  bank   ");
  bank_layout_print_bank(to, l, prefix, "a");
  text_string(to, "\n");
}

static void print_report(text *to, const report *r) {
  text_printf(to, "%s: %" PRIu64 " access%s", r->title, r->accesses, r->accesses == 1 ? "" : "es");
  if (r->of_plan)
    text_printf(to, " of scratch, %zu different,", r->trace.accesses.count);
  text_printf(to,
              " of up to %" PRIu32 " address%s, %" PRIu64 " word%s, %" PRIu32 " bank%s\n\n"
              "  accesses  congestion  class\n",
              r->trace.lanes, r->trace.lanes == 1 ? "" : "es", r->request.words,
              r->request.words == 1 ? "" : "s", r->request.banks, r->request.banks == 1 ? "" : "s");
  for (size_t i = 0; i < r->fits.count && i < FITS_SHOWN; i++)
    print_fit(to, &r->fits.items[i]);
  if (r->fits.count > FITS_SHOWN)
    text_printf(to, "       and %zu other pattern%s\n", r->fits.count - FITS_SHOWN,
                r->fits.count - FITS_SHOWN == 1 ? "" : "s");
  text_printf(to, "\n%-22s%5s%9s%12s%10s\n", "layout", "worst", "mean", "conflicts", "removed");
  for (size_t i = 0; i < r->choices.count; i++)
    print_choice(to, r, &r->choices.items[i]);
  if (r->of_data) {
    text_printf(to,
                "\nof indices that are data: %s, seed %" PRIu64 ", by default; of an address a\n",
                r->of_data->kind->name, r->of_data->seed);
    print_c(to, r->of_data, "data");
  }
  text_printf(to, "\nbest: %s, in %" PRIu64 " word%s of memory; of an unsigned address a%s\n",
              r->best->kind->name, memory_of(r->best->layout),
              memory_of(r->best->layout) == 1 ? "" : "s",
              memory_of(r->best->layout) >> 32 ? " of 64 bits" : "");
  print_c(to, r->best->layout, "shift");
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t *json_of_fit(const fit *f) {
  const bank_pattern *p = &f->pattern;
  return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "class", pattern_class_names[p->class],
                   "stride", (json_int_t)p->stride, "width",
                   (json_int_t)(p->class == PATTERN_BLOCK ? p->width : 0), "rows",
                   (json_int_t)p->rows, "accesses", report_count(f->accesses), "units",
                   report_count(f->units));
}

static json_t *json_of_choice(const choice *c) {
  if (!c->layout)
    return json_pack("{s:s, s:o}", "name", c->kind->name, "wrong", report_string(c->wrong));
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", c->kind->name, "parameters",
                   report_string(c->layout->parameters), "worst", report_count(c->cost.worst),
                   "units", report_count(c->cost.units), "conflicts",
                   report_count(bank_conflicts(c->cost)));
}

static json_t *json_of_layout(const bank_layout *l, const char *prefix) {
  text tables = {0}, place = {0}, bank = {0};
  bank_layout_print_tables(&tables, l, "static const", prefix);
  bank_layout_print_place(&place, l, prefix, "a");
  bank_layout_print_bank(&bank, l, prefix, "a");
  json_t *value =
      json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", l->kind->name, "words",
                report_count(memory_of(l)), "tables", report_string(text_content(&tables)), "place",
                report_string(text_content(&place)), "bank", report_string(text_content(&bank)));
  text_free(&tables);
  text_free(&place);
  text_free(&bank);
  return value;
}

static void print_json(text *to, const report *r) {
  json_t *patterns = json_array(), *layouts = json_array();
  for (size_t i = 0; i < r->fits.count; i++)
    json_array_append_new(patterns, json_of_fit(&r->fits.items[i]));
  for (size_t i = 0; i < r->choices.count; i++)
    json_array_append_new(layouts, json_of_choice(&r->choices.items[i]));
  json_t *all =
      json_pack("{s:o, s:o, s:o, s:o, s:o}", r->of_plan ? "entry" : "file", report_string(r->title),
                "accesses", report_count(r->accesses), "lanes", report_count(r->trace.lanes),
                "words", report_count(r->request.words), "banks", report_count(r->request.banks));
  if (r->of_plan)
    json_object_set_new(all, "different", report_count(r->trace.accesses.count));
  json_object_set_new(all, "patterns", patterns);
  json_object_set_new(all, "layouts", layouts);
  json_object_set_new(all, "best", json_of_layout(r->best->layout, "shift"));
  if (r->of_data) {
    json_object_set_new(all, "seed", report_count(r->of_data->seed));
    json_object_set_new(all, "of_data", json_of_layout(r->of_data, "data"));
  }
  report_print_json(to, all, 9, 2);
}

// ---- the verb ----------------------------------------------------------------------------------

static const char *layout_name_at(const void *state, size_t i) {
  (void)state;
  const bank_layout_kind *k = bank_layout_kind_at(i);
  return k ? k->name : NULL;
}

// --layout NAME, or NAME:SEED of a random one.
static cli_status read_layout(const cli_arguments *args, report *r) {
  const char *name = cli_value(args, "--layout");
  uint64_t seed;
  if (!name)
    return CLI_OK;
  r->only = bank_layout_kind_and_seed(name, &seed);
  if (!r->only && strchr(name, ':'))
    return cli_usage_error("banks: unknown layout '%s' (--layout help lists them; a random layout "
                           "may have a seed below 2^64, such as RAP:7)",
                           name);
  if (!r->only)
    return cli_unknown_name(args, "layout", name, layout_name_at, "--layout help lists them");
  if (!strchr(name, ':'))
    return CLI_OK;
  if (cli_is_given(args, "--seed"))
    return cli_usage_error("banks: give the seed in --layout %s or in --seed, not in both", name);
  r->request.seed = seed;
  return CLI_OK;
}

static cli_status read_trace(arena *a, const cli_arguments *args, report *r) {
  const char *path = args->operands[0], *wrong = NULL;
  size_t length, line;
  r->title = strcmp(path, "-") ? path : "standard input";
  char *bytes = cli_read_file(path, &length, &wrong);
  if (!bytes) {
    cli_error("%s: %s", r->title, wrong);
    return CLI_WRONG;
  }
  bool good = address_text_trace(a, bytes, length, &r->trace, &line, &wrong);
  free(bytes);
  if (!good)
    line ? cli_error("%s:%zu: %s", r->title, line, wrong) : cli_error("%s: %s", r->title, wrong);
  return good ? CLI_OK : CLI_WRONG;
}

static cli_status read_plan(arena *a, const cli_arguments *args, report *r) {
  cli_status status;
  const plan *p = cli_gpu_plan(a, args, cli_operand(args, 0), &r->title, &status);
  if (!p)
    return status;
  r->of_plan = true;
  const char *wrong = bank_trace_add_plan(a, &r->trace, p);
  if (!wrong && r->trace.accesses.count == 0)
    wrong = "the plan has no exchanges, so its warps do not access scratch memory";
  if (wrong)
    cli_error("%s: %s", r->title, wrong);
  return wrong ? CLI_WRONG : CLI_OK;
}

// The options of plans are none of a trace's.
static cli_status read_accesses(arena *a, const cli_arguments *args, report *r) {
  static const char *const of_plans[] = {"--entry", "--size", "--arguments", "--strategy", NULL};
  const char *file = cli_operand(args, 0);
  if (cli_is_given(args, "-e") || cli_ends_with(file, ".perm"))
    return read_plan(a, args, r);
  for (const char *const *name = of_plans; *name; name++)
    if (cli_is_given(args, *name))
      return cli_usage_error("banks: %s needs a program: FILE.perm or -e EXPR", *name);
  return read_trace(a, args, r);
}

static cli_status analyse_accesses(arena *a, void *with) {
  const cli_arguments *args = with;
  report r = {.request = {.banks = (uint32_t)cli_number(args, "--banks", 32),
                          .seed = cli_number(args, "--seed", 1)}};
  text out = {0};
  cli_status status = read_layout(args, &r);
  if (status == CLI_OK)
    status = read_accesses(a, args, &r);
  if (status != CLI_OK)
    return status;
  r.request.words = cli_number(args, "--words", r.trace.words);
  if (r.request.words < r.trace.words)
    return cli_usage_error("banks: --words %" PRIu64 " is too small: %s has the address %" PRIu64,
                           r.request.words, r.title, r.trace.words - 1);
  r.request.accesses = &r.trace;
  bank_counter *c = bank_counter_new(a, r.request.banks, BANK_LANES_MAX);
  classify(a, &r, c);
  qsort(r.fits.items, r.fits.count, sizeof *r.fits.items, by_cost);
  choose(a, &r, c);
  choose_for_data(a, &r);
  if (!r.best) {
    cli_error("%s: %s", r.title, r.choices.items[0].wrong);
    return CLI_WRONG;
  }
  if (cli_is_given(args, "--json"))
    print_json(&out, &r);
  else
    print_report(&out, &r);
  return cli_print_text(&out);
}

cli_status verb_banks(const cli_arguments *args) {
  return cli_with_arena(analyse_accesses, (void *)(uintptr_t)args);
}
