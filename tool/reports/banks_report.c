// See banks_report.h.
#include "tool/reports/banks_report.h"
#include "tool/reports/json.h"

#include <inttypes.h>
#include <math.h>

// ---- patterns ----------------------------------------------------------------------------------

static int order_patterns(const void *x, const void *y) {
  const bank_pattern *p = &((const banks_pattern *)x)->pattern;
  const bank_pattern *q = &((const banks_pattern *)y)->pattern;
  int by_class = (p->class > q->class) - (p->class < q->class);
  int by_stride = (p->stride > q->stride) - (p->stride < q->stride);
  int by_rows = (p->rows > q->rows) - (p->rows < q->rows);
  int by_width = p->class == PATTERN_BLOCK ? (p->width > q->width) - (p->width < q->width) : 0;
  return by_class ? by_class : by_stride ? by_stride : by_rows ? by_rows : by_width;
}

static int order_by_cost(const void *x, const void *y) {
  uint64_t a = ((const banks_pattern *)x)->units, b = ((const banks_pattern *)y)->units;
  return a != b ? (a < b) - (a > b) : order_patterns(x, y);
}

// The patterns of the accesses, each once, the most expensive first.
static void count_patterns(arena *a, banks_report *r, bank_counter *c) {
  size_t count = r->trace.accesses.count, kept = 0;
  banks_pattern *all = NEW_ARRAY(a, banks_pattern, count);
  for (size_t i = 0; i < count; i++) {
    const bank_access *access = &r->trace.accesses.items[i];
    uint64_t units = bank_congestion(c, access->count, access->address) * access->times;
    all[i] = (banks_pattern){pattern_of(access->count, access->address), access->times, units};
    r->accesses += access->times;
    r->raw += units - access->times;
  }
  qsort(all, count, sizeof *all, order_patterns);
  for (size_t i = 0; i < count; i++)
    if (kept && order_patterns(&all[kept - 1], &all[i]) == 0) {
      all[kept - 1].accesses += all[i].accesses;
      all[kept - 1].units += all[i].units;
    } else {
      all[kept++] = all[i];
    }
  qsort(all, kept, sizeof *all, order_by_cost);
  r->patterns = all;
  r->pattern_count = kept;
}

// Words of memory, in whole rows of banks.
static uint64_t memory_words(const bank_layout *l) {
  uint64_t words = l->places > l->words ? l->places : l->words;
  return (words + l->banks - 1) / l->banks * l->banks;
}

// Fewer conflicts; or the same in less memory; or with less to compute.
static bool is_better(const banks_candidate *a, const banks_candidate *b) {
  uint64_t own = bank_conflicts(a->cost), other = bank_conflicts(b->cost);
  if (own == other) {
    own = memory_words(a->layout);
    other = memory_words(b->layout);
  }
  return own != other ? own < other
                      : bank_layout_operations(a->layout) < bank_layout_operations(b->layout);
}

static void compare_layouts(arena *a, banks_report *r, bank_counter *c) {
  const bank_layout_kind *kind;
  bank_trace distinct = bank_trace_distinct(a, &r->trace);
  r->request.distinct = &distinct;
  for (size_t i = 0; (kind = bank_layout_kind_at(i)) != NULL; i++) {
    if (r->only && kind != r->only)
      continue;
    banks_candidate own = {.kind = kind};
    own.layout = bank_layout_make(a, kind, &r->request, &own.wrong);
    if (own.layout)
      own.cost = bank_layout_cost(own.layout, c, &r->trace);
    vec_push(a, &r->candidates, own);
  }
  for (size_t i = 0; i < r->candidates.count; i++) {
    const banks_candidate *own = &r->candidates.items[i];
    if (own->layout && (!r->best || is_better(own, r->best)))
      r->best = own;
  }
  r->request.distinct = NULL;
}

// The layout for accesses of a trace without a pattern, which may be those of indices that are
// data.
static void choose_layout_for_data(arena *a, banks_report *r) {
  const bank_layout_request *q = &r->request;
  const char *wrong;
  for (size_t i = 0; i < r->pattern_count && !r->of_data && !r->of_plan; i++)
    if (r->patterns[i].pattern.class == PATTERN_RANDOM)
      r->of_data = bank_layout_for_data(a, q->banks, q->words, q->seed, &wrong);
}

const char *banks_report_make(arena *a, banks_report *r) {
  bank_counter *c = bank_counter_new(a, r->request.banks, BANK_LANES_MAX);
  r->request.accesses = &r->trace;
  count_patterns(a, r, c);
  compare_layouts(a, r, c);
  choose_layout_for_data(a, r);
  return r->best ? NULL : r->candidates.items[0].wrong;
}

// ---- text --------------------------------------------------------------------------------------

enum { PATTERNS_SHOWN = 12 };

static void print_pattern(text *to, const banks_pattern *f) {
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

static void print_candidate(text *to, const banks_report *r, const banks_candidate *c) {
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

void banks_report_text(text *to, const banks_report *r) {
  text_printf(to, "%s: %" PRIu64 " access%s", r->title, r->accesses, r->accesses == 1 ? "" : "es");
  if (r->of_plan)
    text_printf(to, " of scratch, %zu different,", r->trace.accesses.count);
  text_printf(to,
              " of up to %" PRIu32 " address%s, %" PRIu64 " word%s, %" PRIu32 " bank%s\n\n"
              "  accesses  congestion  class\n",
              r->trace.lanes, r->trace.lanes == 1 ? "" : "es", r->request.words,
              r->request.words == 1 ? "" : "s", r->request.banks, r->request.banks == 1 ? "" : "s");
  for (size_t i = 0; i < r->pattern_count && i < PATTERNS_SHOWN; i++)
    print_pattern(to, &r->patterns[i]);
  if (r->pattern_count > PATTERNS_SHOWN)
    text_printf(to, "       and %zu other pattern%s\n", r->pattern_count - PATTERNS_SHOWN,
                r->pattern_count - PATTERNS_SHOWN == 1 ? "" : "s");
  text_printf(to, "\n%-22s%5s%9s%12s%10s\n", "layout", "worst", "mean", "conflicts", "removed");
  for (size_t i = 0; i < r->candidates.count; i++)
    print_candidate(to, r, &r->candidates.items[i]);
  if (r->of_data) {
    text_printf(to,
                "\nof indices that are data: %s, seed %" PRIu64 ", by default; of an address a\n",
                r->of_data->kind->name, r->of_data->seed);
    print_c(to, r->of_data, "data");
  }
  text_printf(to, "\nbest: %s, in %" PRIu64 " word%s of memory; of an unsigned address a%s\n",
              r->best->kind->name, memory_words(r->best->layout),
              memory_words(r->best->layout) == 1 ? "" : "s",
              memory_words(r->best->layout) >> 32 ? " of 64 bits" : "");
  print_c(to, r->best->layout, "shift");
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t *json_of_pattern(const banks_pattern *f) {
  const bank_pattern *p = &f->pattern;
  return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "class", pattern_class_names[p->class],
                   "stride", (json_int_t)p->stride, "width",
                   (json_int_t)(p->class == PATTERN_BLOCK ? p->width : 0), "rows",
                   (json_int_t)p->rows, "accesses", report_count(f->accesses), "units",
                   report_count(f->units));
}

static json_t *json_of_candidate(const banks_candidate *c) {
  if (!c->layout)
    return json_pack("{s:s, s:o}", "name", c->kind->name, "wrong", report_string(c->wrong));
  return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", c->kind->name, "parameters",
                   report_string(c->layout->parameters), "worst", report_count(c->cost.worst),
                   "units", report_count(c->cost.units), "conflicts",
                   report_count(bank_conflicts(c->cost)));
}

static json_t *json_of_layout(const bank_layout *l, const char *prefix) {
  FREED_BY(text_free) text tables = {0}, place = {0}, bank = {0};
  bank_layout_print_tables(&tables, l, "static const", prefix);
  bank_layout_print_place(&place, l, prefix, "a");
  bank_layout_print_bank(&bank, l, prefix, "a");
  json_t *value = json_pack(
      "{s:s, s:o, s:o, s:o, s:o}", "name", l->kind->name, "words", report_count(memory_words(l)),
      "tables", report_string(text_content(&tables)), "place", report_string(text_content(&place)),
      "bank", report_string(text_content(&bank)));
  return value;
}

void banks_report_json(text *to, const banks_report *r) {
  json_t *patterns = json_array(), *layouts = json_array();
  for (size_t i = 0; i < r->pattern_count; i++)
    json_array_append_new(patterns, json_of_pattern(&r->patterns[i]));
  for (size_t i = 0; i < r->candidates.count; i++)
    json_array_append_new(layouts, json_of_candidate(&r->candidates.items[i]));
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
