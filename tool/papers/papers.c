// The table of papers. See paper.h.
#include "tool/papers/paper.h"

#include <strings.h>

static const paper papers[] = {
    {"rap",
     "K. Nakano, S. Matsumae, Y. Ito: Random Address Permute-Shift Technique for the Shared Memory "
     "on GPUs, 2014",
     paper_rap},
    {"hash",
     "G. J. van den Braak, J. Gomez-Luna, J. M. Gonzalez-Linares, H. Corporaal, N. Guil: "
     "Configurable XOR Hash Functions for Banked Scratchpad Memories in GPUs, IEEE Transactions on "
     "Computers 65(7), 2016",
     paper_hash},
    {"dmm", "K. Nakano: Simple Memory Machine Models for GPUs, 2012", paper_dmm},
    {"hmm",
     "A. Kasagi, K. Nakano, Y. Ito: An Optimal Offline Permutation Algorithm on the Hierarchical "
     "Memory Machine, with the GPU implementation, 2013",
     paper_hmm},
    {"bmmc",
     "M. Bouverot-Dupuis, M. Sheeran: Efficient GPU Implementation of Affine Index Permutations on "
     "Arrays, FHPNC 2023",
     paper_bmmc},
};

const paper *paper_at(size_t index) {
  return index < sizeof papers / sizeof *papers ? &papers[index] : NULL;
}

const paper *paper_named(const char *name) {
  for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
    if (strcasecmp(papers[i].name, name) == 0)
      return &papers[i];
  return NULL;
}
