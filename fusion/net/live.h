// Live sets: the indices of a stage where given affine forms are all 0, and what maps do on them.
//
// A live set S is kept as the space of ALL forms that vanish on it, so that equal sets are equal
// structs. The form mask . x ^ c is the vector  mask << 1 | c  of F_2^(n+1):
//
//      n = 3, live x0^x2 x1^1          the x with x_0 = x_2 and x_1 = 1: 010 and 111
//      vectors 101 0, 010 1            and their sum 111 1: x_0 + x_1 + x_2 = 1 as well
//
// The form 1, the vector 1, vanishes nowhere: it is in the space exactly if S is empty. Then sums
// and intersections of spaces are, the other way round, intersections and hulls of sets. Reducing a
// form by the space (live_reduced) gives the same form for all that agree on S: a constant one if
// it is constant there.
#ifndef PERMC_FUSION_NET_LIVE_H
#define PERMC_FUSION_NET_LIVE_H

#include "fusion/net/net.h"

enum { LIVE_MAX = F2_MAX - 1 };  // the most index bits: a form has one coordinate more

static inline uint64_t live_vector(net_form f) { return f.mask << 1 | f.constant; }
static inline net_form live_form(uint64_t v) { return (net_form){v >> 1, v & 1}; }

f2_space live_all(int n);  // no form: every index of F_2^n, 0 <= n <= LIVE_MAX
f2_space live_set(int n, uint32_t count, const net_form *forms);
f2_space live_empty(int n);
bool live_is_empty(f2_space s);
f2_space live_and(f2_space s, net_form f);   // the indices of s where also f is 0
bool live_within(f2_space s, f2_space t);    // whether s is a subset of t
f2_space live_hull(f2_space s, f2_space t);  // the least live set that contains both
net_form live_reduced(f2_space s, net_form f);
// All cosets of the span of k directions that meet s: s + span(directions).
f2_space live_cosets(f2_space s, uint32_t k, const uint64_t *directions);
// The elements of s with the coordinates of number j.
f2_space live_element(f2_space s, uint32_t k, const net_form *coordinates, uint64_t j);
// The *count forms that define s (none for all; of the empty set, the form 1 among others).
net_form *live_forms(arena *a, f2_space s, uint32_t *count);

f2_space live_of_op(const net_stage *s, const net_op *op);
// Where a value of the stage is made: everywhere by a load, by an op where it has an element.
f2_space live_of_value(const net_stage *s, net_id value);

// The lowest and highest value of the map on s x loops, exact but for maps with many dependent rows
// (then a wider range). False if there is no point, or a value does not fit.
bool live_map_range(arena *a, const net_map *m, const uint64_t *extents, f2_space s, int64_t *low,
                    int64_t *high);

// Whether two points of s x loops have different values of the map.
typedef enum live_answer { LIVE_NO, LIVE_YES, LIVE_UNKNOWN } live_answer;
live_answer live_map_injective(arena *a, const net_map *m, const uint64_t *extents, f2_space s);

#endif
