// Private to kernels/ops/: scalar code: the nodes of an op (net.h) as statements, each once for a
// register group, on whole vectors.
//
// A value is known now (a constant, or an index that depends on the register alone: folded by
// core/scalar/scalar.h as the oracle computes it), or the same in all lanes (one scalar in the
// code), or a vector. Complex numbers are two variables. A bool vector is bytes 0 and 1, or a mask
// as wide as the operands that were compared.
#ifndef PERMC_KERNELS_OPS_NODE_H
#define PERMC_KERNELS_OPS_NODE_H

#include "kernels/transfer/address.h"

typedef enum c_level { C_KNOWN, C_UNIFORM, C_VECTOR } c_level;

typedef struct c_value {
  c_level level;
  scalar_type type;
  uint32_t mask;   // bool vectors: bytes of a mask's element, 0: bytes 0 or 1
  uint32_t id[2];  // variables, by part
  scalar_bits known;
} c_value;

c_value c_known(scalar_type type, scalar_bits bits);
// The variable with part `part` of the value as a vector (bools: bytes 0 or 1).
uint32_t c_as_vector(c_writer *w, const c_value *v, uint32_t part, uint32_t lanes);

// A node of any kind but leaf and index, from its operands' values.
// Of a gather whose places are all of the array.
c_value c_gather_inside(c_writer *w, const net_node *node, const c_value *place, uint32_t lanes);
c_value c_node_value(c_writer *w, const net_node *node, const c_value *operands, uint32_t lanes);

// condition ? a : b, of values of one type.
c_value c_select(c_writer *w, const c_value *condition, const c_value *a, const c_value *b,
                 uint32_t lanes);

// A mask of lanes as it is for elements of that width: c_select converts others each time.
void c_set_mask_width(c_writer *w, c_value *v, uint32_t bytes, uint32_t lanes);

// A root times i^quarters, bit for bit as core/scalar/root.inc folds the circle.
c_value c_turned_root(c_writer *w, const c_value *root, unsigned quarters, uint32_t lanes);

// What is left of a and b when `one` of them is taken, bit for bit.
c_value c_other(c_writer *w, const c_value *a, const c_value *b, const c_value *one,
                uint32_t lanes);
// Whether c_other is to be used for the next value of that type.
bool c_by_sum(c_writer *w, scalar_type type, uint32_t lanes);

// An integer of the index at coordinates x, x ^ lane[0], ..., as that type of integers: `bound` has
// been written by c_bind.
c_value c_index_value(c_writer *w, const c_bound *bound, uint64_t x, uint32_t lane_bits,
                      const uint64_t *lane, scalar_type type);
// Such an index, or bits of it, compared with a constant, where its lanes differ by constants: as a
// mask of `width` bytes, or of as many more as these take. False: they do not.
bool c_compare_index(c_writer *w, scalar_op op, const c_bound *bound, uint64_t x,
                     const net_index_test *test, uint32_t lane_bits, const uint64_t *lane,
                     uint32_t width, c_value *out);
// An affine form likewise: `bits` the uniform variable whose bit `place` is its part of blocks and
// threads (NULL: none), `constant` its value at block 0, thread 0 and x, bit i of `flipped` whether
// lane vector i flips it.
c_value c_form_value(c_writer *w, const char *bits, uint32_t place, bool constant, uint64_t flipped,
                     uint32_t lane_bits);

#endif
