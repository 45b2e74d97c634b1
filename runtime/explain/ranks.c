// What ranks execute and send, for a reader; bytes are those of the rank that sends the most:
//
//   ranks         16: 2 hosts of 8
//
//   stage  on ranks  rho  messages   to peers  over network       time
//       1  split                                               5.3 ms
//       2  exchange    4        15     56 MiB        64 MiB     1.5 ms
//     all                       15     56 MiB        64 MiB     6.8 ms
#include "core/units.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>

static void print_bytes(text *out, int width, uint64_t bytes) {
  char number[NUMBER_SPACE];
  text_printf(out, "  %*s", width, bytes ? show_bytes(number, bytes) : "");
}

// A row behind the name of what it is of.
static void print_cost(text *out, const share_cost *cost) {
  const share_traffic *most = cost->most;
  uint64_t messages = most[SHARE_TO_PEER].messages + most[SHARE_OVER_NETWORK].messages;
  char number[NUMBER_SPACE];
  snprintf(number, sizeof number, "%" PRIu64, messages);
  text_printf(out, "  %8s", messages ? number : "");
  print_bytes(out, 9, most[SHARE_TO_PEER].bytes);
  print_bytes(out, 12, most[SHARE_OVER_NETWORK].bytes);
  text_printf(out, "  %9s\n", show_seconds(number, cost->seconds));
}

void explain_ranks_text(text *out, const explanation *e) {
  const shares *s = e->pipeline->shares;
  const target *t = e->pipeline->target;
  int peer_bits = shares_peer_bits(t, s->p);
  size_t count = s->net->stages.count;
  uint64_t hosts = f2_unit(s->p - peer_bits);
  text_printf(out, "\nranks         %" PRIu64 ": %" PRIu64 " host%s of %" PRIu64 "\n",
              f2_unit(s->p), hosts, hosts == 1 ? "" : "s", f2_unit(peer_bits));
  text_string(out, "\nstage  on ranks  rho  messages   to peers  over network       time\n");
  for (size_t i = 0; i < count; i++) {
    char rho[NUMBER_SPACE];
    snprintf(rho, sizeof rho, "%d", e->costs[i].rho);
    text_printf(out, "%5zu  %-8s  %3s", i + 1, share_kind_names[s->stages[i].kind],
                s->stages[i].kind == SHARE_EXCHANGE ? rho : "");
    print_cost(out, &e->costs[i]);
  }
  text_printf(out, "%5s  %-8s  %3s", "all", "", "");
  print_cost(out, &e->costs[count]);
  text_string(out, "\n");
}
