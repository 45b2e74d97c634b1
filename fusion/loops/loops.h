// Loops that are planned once: a Trace whose steps repeat, to a Net of which each round of a loop
// has the same stages, on other arrays.
//
// Elaboration writes every round down (`iter 100 step xs`, `fold`, a recursion). Where the steps of
// all rounds are equal but for the values of the rounds before them, one round is lowered, and its
// stages stand in the Net once for each round. The planner plans the first of stages that are alike
// (net_stages_are_alike), and others have its passes and its code (plan_pass.repeats): whoever
// makes another Net of it, in shares or in steps, knows nothing of loops.
//
//   iter 3 (\xs -> zip_with (+) xs (gather ps xs)) xs              round 0    round 1    round 2
//
//   %0 argument 0: ps   %1 argument 1: xs
//   %2 gather %0 %1     %3 zip_with (+) %1 %2                      stage 0    stage 1    stage 2
//   %4 gather %0 %3     %5 zip_with (+) %3 %4            reads     a0 a1      a0 a3      a0 a4
//   %6 gather %0 %5     %7 zip_with (+) %5 %6            writes    a3         a4         a2
//
// Values of a round that others read, or what comes after the loop, are arrays: each round's own,
// so that which of them share memory is what lifetimes say, as for all arrays. What differs from
// round to round is an array, too: a constant; an element of which number differs, of an array from
// before the round (`xs[k]`, `row[k]`, `xs[n * j + k]` in `iteri`), is in a part of that array, which
// begins elsewhere each time; else its number is the place of a gather.
//
// A loop stays written out where its rounds share passes: rounds that are planned apart would take
// more (sorting networks, transforms by iter), or much longer; and a short one, which costs nothing.
//
//   repeats.c  equal work once; which steps repeat
//   parts.c    the parts of a Trace, each as a Trace of its own
//   loops.c    which loops pay; the Net of the parts
#ifndef PERMC_FUSION_LOOPS_LOOPS_H
#define PERMC_FUSION_LOOPS_LOOPS_H

#include "fusion/plan/plan.h"
#include "lang/trace.h"

// The Net, or NULL: there is no loop that is worth it. Its steps (of ops, arrays) are those of `t`.
// parts: whether an array may be a part of another one. *wrong: what is wrong with a product of it,
// which is a fault of permc; else NULL. `log` as in lower.
net *loops_net(arena *a, const trace *t, const target *machine, bool parts, rule_log *log,
               const char **wrong);

#endif
