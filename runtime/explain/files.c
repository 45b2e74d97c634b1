// What steps on files read and write, for a reader:
//
//   memory        1 GiB, for arrays in files
//
//    step  works on    parts      reads     writes  requests       time
//       1  a stage        32     16 GiB     16 GiB     65536     9.13 s
//       2  sort          112     32 GiB     32 GiB     68608     17.7 s
//     all                144     48 GiB     48 GiB    134144     26.9 s
#include "core/units.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>

static void print_row(text *out, const explained_step *s) {
  char reads[NUMBER_SPACE], writes[NUMBER_SPACE], time[NUMBER_SPACE];
  text_printf(out, "  %7" PRIu64 "  %9s  %9s  %8" PRIu64 "  %9s\n", s->amount.parts,
              show_bytes(reads, s->amount.moved.reads), show_bytes(writes, s->amount.moved.writes),
              s->amount.moved.requests, show_seconds(time, s->seconds));
}

void explain_files_text(text *out, const explanation *e) {
  const external *steps = e->pipeline->steps;
  explained_step all = {0};
  char memory[NUMBER_SPACE];
  text_printf(out, "\nmemory        %s, for arrays in files\n",
              show_bytes(memory, e->request->memory));
  text_string(out, "\n step  works on     parts      reads     writes  requests       time\n");
  for (size_t i = 0; i < steps->steps.count; i++) {
    const net_routine *r = steps->steps.items[i].routine;
    text_printf(out, "%5zu  %-9s", i + 1, r ? net_routine_names[r->kind] : "a stage");
    print_row(out, &e->steps[i]);
    all.amount.parts += e->steps[i].amount.parts;
    all.amount.moved.reads += e->steps[i].amount.moved.reads;
    all.amount.moved.writes += e->steps[i].amount.moved.writes;
    all.amount.moved.requests += e->steps[i].amount.moved.requests;
    all.seconds += e->steps[i].seconds;
  }
  text_printf(out, "%5s  %-9s", "all", "");
  print_row(out, &all);
}
