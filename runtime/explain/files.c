// What steps on files read and write, for a reader:
//
//   memory        1 GiB, for arrays in files
//
//    step  works on    parts      reads     writes       time
//       1  a stage        32     16 GiB     16 GiB     14.3 s
//       2  sort          112     32 GiB     32 GiB     28.6 s
//     all                144     48 GiB     48 GiB     42.9 s
#include "core/units.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>

static void print_row(text *out, const explained_step *s) {
  char reads[NUMBER_SPACE], writes[NUMBER_SPACE], time[NUMBER_SPACE];
  text_printf(out, "  %7" PRIu64 "  %9s  %9s  %9s\n", s->amount.parts,
              show_bytes(reads, s->amount.reads), show_bytes(writes, s->amount.writes),
              show_seconds(time, s->seconds));
}

void explain_files_text(text *out, const explanation *e) {
  const external *steps = e->pipeline->steps;
  explained_step all = {0};
  char memory[NUMBER_SPACE];
  text_printf(out, "\nmemory        %s, for arrays in files\n",
              show_bytes(memory, e->request->memory));
  text_string(out, "\n step  works on     parts      reads     writes       time\n");
  for (size_t i = 0; i < steps->steps.count; i++) {
    const net_routine *r = steps->steps.items[i].routine;
    text_printf(out, "%5zu  %-9s", i + 1, r ? net_routine_names[r->kind] : "a stage");
    print_row(out, &e->steps[i]);
    all.amount.parts += e->steps[i].amount.parts;
    all.amount.reads += e->steps[i].amount.reads;
    all.amount.writes += e->steps[i].amount.writes;
    all.seconds += e->steps[i].seconds;
  }
  text_printf(out, "%5s  %-9s", "all", "");
  print_row(out, &all);
}
