// Plan to C and CUDA text: a self-contained C file with vector extensions (gcc and clang), with a
// function for each pass and a table of them.
//
//   c_options options = {.stream_bytes = 1 << 25};
//   const char *problem = NULL;
//   c_code code = {0};
//   if (c_emit(&code, plan, &options, &problem))
//     c_code_file(&out, &code, 0, code.pass_count, true);      // text out
//   c_code_free(&code);
//
// kernels/text/host.h says what the program that loads it finds there. A file holds all passes, or
// some of them, so that several compilers can work at once. Compilers must be given the options
// -ffp-contract=off -fno-strict-aliasing, and must not know the mathematical functions that they
// would evaluate themselves (runtime/compiled/compiled.c).
//
// Results are those of the oracle to the bit: the scalar functions are core/scalar/, which the text
// contains, and vector operators stand where they mean the same.
//
// For a target whose lanes are threads the text is a kernel: kernels/text/cuda_host.h stands in
// front of it and makes it CUDA for NVRTC, or C for the host, which can count the lines and banks
// that it touches. What a pass does, and when, kernels/schedule/ says. Here it is written,
// loads and stores by kernels/transfer/, ops by kernels/ops/:
//
//   pass.c            a pass: a function, or a kernel    phase.c     one of its phases
//   runtime_matrix.c  kernels whose matrix is data       ops.c       the ops of a phase
//   look_back.c       kernels whose blocks look back     comments.c  what only readers see
//
// `permc explain --dump c` and `--dump cuda` show a program's own part of the text, with comments:
//
//   // sort : []t1 -> []t1
//   // a0  argument 0: [16]u32
//   // a1  result 0: [16]u32
//   // for avx512, in 1 pass over memory:
//   //   permc_pass_0  loads a0, stores a1; 10 ops in 10 phases, tiles of 2^4 elements, ...
#ifndef PERMC_KERNELS_EMIT_EMIT_H
#define PERMC_KERNELS_EMIT_EMIT_H

#include "kernels/schedule/schedule.h"
#include "kernels/text/host.h"

// A kernel that executes passes up to `last` (fusion/plan/plan.h, look-back).
typedef struct c_one_kernel {
  uint32_t last;
  uint64_t blocks;
  uint64_t state_bytes;  // of its last parameter: 0 before the first run (kernels/text/look_back.h)
  uint32_t array_count;  // its parameters, as those of plan_pass_arrays
  net_id arrays[];
} c_one_kernel;

typedef struct c_pass_facts {
  uint64_t scratch_bytes;
  bool in_place;     // an array loaded and one stored by equal maps may be one buffer
  uint32_t threads;  // of a block, where lanes are threads; else 1
  uint32_t kernel;   // the first pass whose kernel has the same code: this pass has that one
  permc_runtime_matrix *matrix;  // the last parameter of its kernel, or NULL
  c_one_kernel *one;             // its kernel executes others as well; NULL: it does not
  bool left_out;                 // c_code_bound: its function is empty
} c_pass_facts;                  // threads 0: the kernel of an earlier pass executes this one

// What comments say of the program.
typedef struct c_comments {
  const char *title;  // a line: its name and type
  void *with;         // for the functions, whose answers are read before they are called again
  // The name of an argument, by number, or NULL.
  const char *(*argument)(void *with, uint32_t number);
  // The source line that a step of the trace comes from: "sort.perm:12: ...".
  const char *(*line_of_step)(void *with, uint32_t step);
} c_comments;

typedef struct c_code {
  text head;             // comments on the program
  text library;          // in front of all, the same for many programs
  uint64_t lanes_alone;  // of passes: lanes that are computed one by one
  bool headers;          // it includes the compiler's headers, which take it a while
  text parts;            // of the library, the names of its sources: ", core/scalar/integer.c"
  text definitions;      // types, functions and tables that the passes need
  uint32_t pass_count;
  text *passes;             // functions; of kernels, what follows their number
  text *functions;          // that passes call
  text *hosts;              // of kernels: functions that execute their blocks in turn
  c_pass_facts *facts;      // by pass
  permc_root_table *roots;  // the tables that the code reads, in order; the last has m = 0
  text tables;              // of passes and roots, for the host
  char problem[160];
  char note[200];  // which passes are left out; "": none
} c_code;

// The name of the function of a pass: permc_pass_0, and behind it _sort_perm_12 where the plan has
// its line.
enum { C_PASS_NAME = 64 };
void c_pass_name(const plan *p, uint32_t pass, char name[C_PASS_NAME]);

// False: memory is out, or *problem says what of the plan cannot be written.
bool c_emit(c_code *code, const plan *p, const c_options *options, const char **problem);
void c_code_free(c_code *code);

// What the threads of a pass ask of memory, noted while its kernel is written; the text is not kept.
// Of passes that are one kernel, the first has all, and is that kernel's. NULL, or what of the plan
// or the options cannot be.
const char *c_record_pass(c_context *c, uint32_t pass, kernel_record *out);

// A file with the function partition_key, the key that the pass makes of an element of each array
// that its stage loads (fusion/plan/plan.h, keys), for kernels/routines/partition/partition.h.
// False: as above.
bool c_emit_keys(text *out, const plan *p, uint32_t pass);

// A file with the passes first ... last-1 and, if `tables`, the tables of passes and of roots. One
// file with all of them, or several to be linked.
void c_code_file(text *out, const c_code *code, uint32_t first, uint32_t last, bool tables);

// The program's own part for a reader: with comments if there are any, without the library; of
// kernels what a GPU gets, without the host's functions.
void c_code_program(text *out, const c_code *code);

// The passes in files of about the same length, so that compilers can work at once: file i has the
// passes first[i] ... first[i + 1] - 1. A file for every `file_bytes` of text, at most `most` and
// not more than passes; first has room for most + 1. Returns how many: at least 1.
size_t c_code_split(const c_code *code, uint64_t file_bytes, size_t most, uint32_t *first);

uint64_t c_code_bytes(const c_code *code);            // of all text
uint64_t c_code_bytes_of_passes(const c_code *code);  // what a compiler takes its time for
// Whether a compiler gets so much text: it would take minutes for more. False: *why (of `size`
// bytes) is a sentence without a full stop.
bool c_code_is_bounded(const c_code *code, char *why, size_t size);
#define C_CODE_MOST_BYTES (UINT64_C(1) << 22)

// Of text for a processor that is longer than `most`: leaves out the passes that take the least time
// for their text, until it is not. Whoever takes the code executes them in another way. Where no pass
// would be left, the text stays as it is.
void c_code_bound(c_code *code, const plan *p, uint64_t most);

// NULL, or what of the plan's scalar code CUDA has not: the text is for the host alone.
const char *c_missing_on_gpu(const plan *p);

#endif
