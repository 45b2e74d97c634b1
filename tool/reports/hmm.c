#include "tool/reports/hmm.h"
#include "kernels/schedule/schedule.h"

#include "tool/reports/json.h"

#include <ctype.h>
#include <inttypes.h>

const char *hmm_report_make(arena *a, const hmm_machine *m, const hmm_algorithm *r,
                            const hmm_task *t, hmm_report *out) {
  *out = (hmm_report){.machine = *m, .algorithm = r, .task = t};
  for (int free = 0; free < 2; free++) {
    hmm_machine own = *m;
    own.barrier = !free;
    const char *problem = hmm_algorithm_run(a, &own, r, t, &out->counts[free]);
    if (problem)
      return problem;
    out->closed[free] = hmm_algorithm_time(a, &own, r, t);
  }
  out->distribution = hmm_algorithm_distribution(a, m, r, t);
  return NULL;
}

// ---- text ------------------------------------------------------------------------------------

static void text_machine(text *to, const hmm_machine *m, uint64_t threads) {
  bool hmm = m->kind == HMM_KIND_HMM;
  text_printf(to, "%s: ", hmm_kind_names[m->kind]);
  if (hmm)
    text_printf(to, "d = %u, ", m->dmms);
  text_printf(to, "w = %u, %s = %" PRIu64, m->width, hmm ? "L" : "l", m->latency);
  if (hmm)
    text_printf(to, ", l = %" PRIu64, m->shared_latency);
  if (threads)
    text_printf(to, ", p = %" PRIu64, threads);
}

static void text_row(text *to, const char *name, const uint64_t *x, int count) {
  text_printf(to, "%-16s", name);
  for (int i = 0; i < count; i++)
    text_printf(to, " %13" PRIu64, x[i]);
}

static void text_rounds(text *to, const hmm_counts *c) {
  text_printf(to, "\n%-16s%14s%14s%14s%14s\n", "rounds", "good", "casual", "accesses", "stages");
  for (hmm_op op = 0; op < HMM_ACCESSES; op++)
    if (c->accesses[op]) {
      text_row(to, hmm_op_names[op],
               (uint64_t[]){c->rounds[op] - c->casual[op], c->casual[op], c->accesses[op],
                            c->stages[op]},
               4);
      text_string(to, "\n");
    }
}

static void text_congestion(text *to, const hmm_counts *c) {
  for (int shared = 0; shared < 2; shared++) {
    const char *before = NULL;
    for (uint32_t k = 0; k <= c->width; k++)
      if (c->histogram[shared][k]) {
        if (!before)
          text_printf(to, "\ncongestion of %s memory:", shared ? "shared" : "global");
        text_printf(to, "%s %u (%" PRIu64 " accesses)", before ? "," : "", k,
                    c->histogram[shared][k]);
        before = ",";
      }
  }
}

// In the names of the report's first line: the main memory's latency is L on an HMM, where formulas
// for all machines have l.
static void text_formula(text *to, const hmm_report *r, const char *formula) {
  bool as_it_is = r->machine.kind != HMM_KIND_HMM || r->algorithm->blocks != HMM_BLOCKS_NONE;
  for (const char *at = formula; *at; at++) {
    bool word = (at > formula && isalpha((unsigned char)at[-1])) || isalpha((unsigned char)at[1]);
    text_add(to, *at == 'l' && !word && !as_it_is ? "L" : at, 1);
  }
}

static void text_closed(text *to, const hmm_report *r) {
  text_row(to, "closed form", r->closed, r->closed[1] ? 2 : 1);
  text_string(to, "\n  barriers: ");
  text_formula(to, r, r->algorithm->formula);
  if (r->distribution)
    text_printf(to, ", D_w = %" PRIu64, r->distribution);
  if (r->closed[1]) {
    text_string(to, "\n  free: ");
    text_formula(to, r, HMM_FREE_FORMULA);
  }
  text_string(to, "\n");
}

void hmm_report_text(text *to, const hmm_report *r) {
  text_machine(to, &r->machine, r->machine.threads);
  text_printf(to, "; %s%s%s%s, n = %" PRIu64 "\n%s", r->algorithm->name, r->data ? " (" : "",
              r->data ? r->data : "", r->data ? ")" : "", r->task->n, r->algorithm->summary);
  if (r->algorithm->source)
    text_printf(to, " (%s)", r->algorithm->source);
  text_printf(to, "\n\n%-16s%14s%14s\n", "", "barriers", "free");
  text_row(to, "time units", (uint64_t[]){r->counts[0].time, r->counts[1].time}, 2);
  text_string(to, "\n");
  if (r->closed[0])
    text_closed(to, r);
  text_rounds(to, &r->counts[0]);
  text_congestion(to, &r->counts[0]);
  text_printf(to, "\n%s\n",
              r->algorithm->data == HMM_INPUT_ADDRESSES ? "accesses are counted, nothing is moved"
                                                        : "results are right");
}

const char *hmm_plan_report_estimate(arena *a, const hmm_machine *m, const plan *p,
                                     const c_options *options, hmm_estimate *out) {
  const char *problem = NULL;
  *out = (hmm_estimate){0};
  for (int barrier = 0; barrier < 2 && !problem; barrier++) {
    hmm_estimate one;
    hmm_machine own = *m;
    own.barrier = barrier;
    problem = hmm_plan_estimate(a, &own, p, options, &one);
    out->requests += one.requests;
    out->bytes += one.bytes;
  }
  return problem;
}

const char *hmm_plan_report_make(arena *a, const hmm_machine *m, const plan *p, const char *entry,
                                 const c_options *options, hmm_plan_report *out) {
  text exchanges = {0};
  *out = (hmm_plan_report){.machine = *m, .entry = entry, .count = (uint32_t)p->passes.count};
  const char *problem = NULL;
  for (int free = 0; free < 2; free++) {
    out->passes[free] = NEW_ARRAY(a, hmm_counts, out->count);
    hmm_machine own = *m;
    own.barrier = !free;
    for (uint32_t i = 0; i < out->count && !problem; i++)
      problem = hmm_plan_run(a, &own, p, i, options, &out->passes[free][i]);
  }
  if (!problem)
    c_swizzle_print(a, &exchanges, p, options);
  out->layout = exchanges.length ? options->layout->name : NULL;
  out->exchanges = arena_text(a, &exchanges);
  return problem;
}

// What a pass that runs freely waits for: the pipeline that is busy for most of its time, or, if
// none is for half of it, answers.
static const char *bound_of(const hmm_plan_report *r, uint32_t pass) {
  uint64_t stages[2] = {0, 0};
  for (hmm_op op = 0; op < HMM_ACCESSES; op++)
    stages[hmm_is_shared(op)] += r->passes[1][pass].stages[op];
  stages[1] /= r->machine.dmms;  // that work side by side
  bool shared = stages[1] > stages[0];
  if (r->passes[1][pass].time == 0)
    return "";
  return 2 * stages[shared] < r->passes[1][pass].time ? "latency" : shared ? "shared" : "global";
}

void hmm_plan_report_text(text *to, const hmm_plan_report *r) {
  uint64_t sum[7] = {0};
  double all = 0;
  text_machine(to, &r->machine, r->machine.threads);
  text_printf(to, "; %s\n\n%-6s%12s%12s  %-8s%12s%12s%12s%12s%s\n", r->entry, "pass", "barriers",
              "free", "bound by", "global", "per access", "shared", "per access",
              r->seconds ? "       measured" : "");
  for (uint32_t i = 0; i <= r->count; i++) {
    uint64_t x[6] = {0};
    if (i < r->count) {
      const hmm_counts *c = &r->passes[0][i];
      x[0] = c->time;
      x[1] = r->passes[1][i].time;
      for (hmm_op op = 0; op < HMM_ACCESSES; op++) {
        x[2 + hmm_is_shared(op)] += c->stages[op];
        x[4 + hmm_is_shared(op)] += c->accesses[op];
      }
      for (int k = 0; k < 6; k++)
        sum[k] += x[k];
      all += r->seconds ? r->seconds[i] : 0;
      text_printf(to, "%-6u", i + 1);
    } else {
      memcpy(x, sum, sizeof x);
      text_printf(to, "%-6s", "all");
    }
    text_printf(to, "%12" PRIu64 "%12" PRIu64 "  %-8s", x[0], x[1],
                i < r->count ? bound_of(r, i) : "");
    for (int k = 2; k < 4; k++)
      text_printf(to, "%12" PRIu64 "%12.3f", x[k], x[k + 2] ? (double)x[k] / (double)x[k + 2] : 0);
    if (r->seconds)
      text_printf(to, "%12.3f us", (i < r->count ? r->seconds[i] : all) * 1e6);
    text_string(to, "\n");
  }
  text_string(to,
              "\nbarriers, free: time units; global, shared: stages of the memories' pipelines\n");
  if (r->like)
    text_printf(to, "%s\n", r->like);
  if (r->layout)
    text_printf(to, "\nexchanges by %s\n%s", r->layout, r->exchanges);
}

// ---- JSON ------------------------------------------------------------------------------------

static json_t *json_of_machine(const hmm_machine *m) {
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "machine", hmm_kind_names[m->kind], "width",
                   report_count(m->width), "dmms", report_count(m->dmms), "latency",
                   report_count(m->latency), "shared_latency", report_count(m->shared_latency),
                   // null: as many as there is work for
                   "threads", m->threads ? report_count(m->threads) : json_null());
}

static void add_time(json_t *to, const char *name, uint64_t time, uint64_t closed) {
  json_object_set_new(to, name,
                      json_pack("{s:o, s:o}", "time", report_count(time), "closed_form",
                                closed ? report_count(closed) : json_null()));
}

static void add_rounds(json_t *to, const hmm_counts *c) {
  json_t *rounds = json_array(), *congestion = json_array();
  for (hmm_op op = 0; op < HMM_ACCESSES; op++)
    if (c->accesses[op])
      json_array_append_new(rounds, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "memory",
                                              hmm_is_shared(op) ? "shared" : "global", "access",
                                              hmm_is_write(op) ? "write" : "read", "good",
                                              report_count(c->rounds[op] - c->casual[op]), "casual",
                                              report_count(c->casual[op]), "accesses",
                                              report_count(c->accesses[op]), "stages",
                                              report_count(c->stages[op])));
  for (int shared = 0; shared < 2; shared++)
    for (uint32_t k = 0; k <= c->width; k++)
      if (c->histogram[shared][k])
        json_array_append_new(congestion,
                              json_pack("{s:s, s:o, s:o}", "memory", shared ? "shared" : "global",
                                        "stages", report_count(k), "accesses",
                                        report_count(c->histogram[shared][k])));
  json_object_set_new(to, "rounds", rounds);
  json_object_set_new(to, "congestion", congestion);
}

void hmm_report_json(text *to, const hmm_report *r) {
  json_t *all = json_of_machine(&r->machine);
  json_object_set_new(all, "algorithm", report_string(r->algorithm->name));
  json_object_set_new(all, "n", report_count(r->task->n));
  json_object_set_new(all, "requests", report_count(r->counts[0].requests));
  add_time(all, "barriers", r->counts[0].time, r->closed[0]);
  add_time(all, "free", r->counts[1].time, r->closed[1]);
  add_rounds(all, &r->counts[0]);
  report_print_json(to, all, 9, 0);
}

// ["pass 1, before phase 2: seed 1, 64 random numbers", ...], from lines
static json_t *json_of_lines(const char *line) {
  json_t *list = json_array();
  for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
    json_array_append_new(list, json_stringn(line, (size_t)(end - line)));
  return list;
}

void hmm_plan_report_json(text *to, const hmm_plan_report *r) {
  json_t *all = json_of_machine(&r->machine), *passes = json_array();
  for (uint32_t i = 0; i < r->count; i++) {
    json_t *pass = json_pack("{s:o}", "requests", report_count(r->passes[0][i].requests));
    add_time(pass, "barriers", r->passes[0][i].time, 0);
    add_time(pass, "free", r->passes[1][i].time, 0);
    add_rounds(pass, &r->passes[0][i]);
    if (r->seconds)
      json_object_set_new(pass, "seconds", report_number(r->seconds[i]));
    json_array_append_new(passes, pass);
  }
  json_object_set_new(all, "entry", report_string(r->entry));
  json_object_set_new(all, "passes", passes);
  if (r->layout) {
    json_object_set_new(all, "layout", report_string(r->layout));
    json_object_set_new(all, "exchanges", json_of_lines(r->exchanges));
  }
  report_print_json(to, all, 9, 0);
}
