// The picture of a plan: its passes, from first to last, with what they read, write and cost. See
// draw.h.
//
//   pass 1  ███████████████   133 us  memory   64 MiB read, 64 MiB written   45 ops in 10 phases
#include "runtime/draw/draw.h"

#include "core/svg.h"
#include "core/units.h"

#include <stdio.h>

static double longest_pass(const plan *p) {
  double longest = 0;
  for (size_t i = 0; i < p->passes.count; i++)
    longest = p->passes.items[i].seconds > longest ? p->passes.items[i].seconds : longest;
  return longest > 0 ? longest : 1;
}

// "45 ops in 10 phases, tiles of 2^14".
static void describe_work(text *to, const plan *p, size_t number) {
  static const char *const kinds[] = {[PLAN_MOVE] = "moves elements", [PLAN_COPY] = "copies"};
  const plan_pass *pass = &p->passes.items[number];
  plan_pass_facts f = plan_pass_facts_of(p, number);
  if (f.kind == PLAN_ROUTINE)
    text_printf(to, "routine %s", net_routine_names[plan_routine_of(p, pass)->kind]);
  else if (f.kind == PLAN_WORK)
    text_printf(to, "%u op%s in %u phase%s", pass->op_count, pass->op_count == 1 ? "" : "s",
                pass->phase_count, pass->phase_count == 1 ? "" : "s");
  else
    text_string(to, kinds[f.kind]);
  if (f.kind != PLAN_ROUTINE)
    text_printf(to, ", tiles of 2^%d", pass->tile.dimension);
}

static void describe_cost(text *to, const plan *p, size_t number) {
  static const char *const bounds[] = {
      [PLAN_BY_MEMORY] = "memory", [PLAN_BY_WORK] = "work", [PLAN_BY_START] = "start"};
  char seconds[NUMBER_SPACE], read[NUMBER_SPACE], written[NUMBER_SPACE];
  plan_pass_facts f = plan_pass_facts_of(p, number);
  text_printf(to, "%s by %s, %s read, %s written",
              show_seconds(seconds, p->passes.items[number].seconds), bounds[f.bound],
              show_bytes(read, f.bytes_read), show_bytes(written, f.bytes_written));
}

// ---- on a terminal -----------------------------------------------------------------------------

static void print_pass(text *to, const plan *p, size_t number, double longest) {
  enum { BAR = 24 };
  int length = (int)(BAR * p->passes.items[number].seconds / longest + 0.5);
  text_printf(to, "pass %-3zu ", number + 1);
  for (int i = 0; i < BAR; i++)
    text_string(to, i < (length ? length : 1) ? "█" : " ");
  text_string(to, " ");
  describe_cost(to, p, number);
  text_string(to, "; ");
  describe_work(to, p, number);
  text_string(to, "\n");
}

// ---- SVG ---------------------------------------------------------------------------------------

enum { ROW = 40, BAR_LEFT = 64, BAR_WIDTH = 440, MARGIN = 8 };  // pixels

static void draw_pass(text *to, const plan *p, size_t number, double longest) {
  char word[32];
  text cost = {0}, work = {0};
  double y = MARGIN + ROW * (double)number,
         width = BAR_WIDTH * p->passes.items[number].seconds / longest;
  describe_cost(&cost, p, number);
  describe_work(&work, p, number);
  snprintf(word, sizeof word, "pass %zu", number + 1);
  svg_words(to, BAR_LEFT - 8, y + 14, SVG_END, 0, word);
  svg_shade(to, BAR_LEFT, y, width > 2 ? width : 2, ROW - 6,
            svg_colour((unsigned)plan_pass_facts_of(p, number).bound));
  svg_words(to, BAR_LEFT + 6, y + 14, SVG_START, 0, text_content(&cost));
  svg_words(to, BAR_LEFT + 6, y + 28, SVG_START, 0, text_content(&work));
  to->failed = to->failed || cost.failed || work.failed;
  text_free(&cost);
  text_free(&work);
}

const char *draw_passes_of(draw_picture *to, arena *a, const pipeline *p) {
  double longest = longest_pass(p->plan);
  (void)a;
  for (size_t i = 0; i < p->plan->passes.count; i++)
    (to->svg ? draw_pass : print_pass)(&to->body, p->plan, i, longest);
  to->width = BAR_LEFT + BAR_WIDTH + MARGIN;
  to->height = 2 * MARGIN + ROW * (int)p->plan->passes.count;
  return p->plan->passes.count ? NULL : "it has no passes over memory";
}
