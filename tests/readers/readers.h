// Nets and plans from the texts that net_print and plan_print write: tests describe them so, and
// see that nothing is lost in printing. See net/print.c and plan/print.c for the form.
#ifndef PERMC_TESTS_READERS_READERS_H
#define PERMC_TESTS_READERS_READERS_H

#include "fusion/plan/plan.h"

// NULL in *wrong: the net of that text. Otherwise a sentence with the line.
net *net_read(arena *a, const char *string, const char **wrong);
// The same of a plan, with its net and its target.
plan *plan_read(arena *a, const char *string, const char **wrong);

#endif
