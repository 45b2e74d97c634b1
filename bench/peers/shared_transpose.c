// Transposes of a matrix of 32 x 32 words in the shared memory of a GPU by the three algorithms of
// the RAP paper (section III; its Table III), in any bank layout of permc:
//
//   crsw   thread (i, j) reads a[i][j], a row, and writes b[j][i], a column
//   srcw   reads a[j][i] and writes b[i][j]
//   drdw   reads a[j][(i + j) mod 32] and writes b[(i + j) mod 32][j], both along diagonals
//
// Each block has a matrix and transposes it REPEAT times, from a to b and back, which is what is
// measured; then it goes back to global memory, where it must be what it was. The layout is made
// for these accesses and those by rows, and the turns at the banks that it should come to are said
// beside the algorithm: what the counters of bench/layouts.py are compared with.
#include "kernels/banks/banks.h"
#include "peer.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

enum { W = 32, WORDS = W * W, REPEAT = 256 };

static const char *const addresses[][3] = {{"crsw", "32 * i + j", "32 * j + i"},
                                           {"srcw", "32 * j + i", "32 * i + j"},
                                           {"drdw", "32 * j + d", "32 * d + j"}};

static const peer_options *asked;
static cuda_device *device;
static cuda_module *module;
static cuda_kernel kernel;
static cuda_address memory;
static uint64_t blocks, turns;  // turns of a block
static uint32_t *contents;

static jmp_buf no_memory;

static void write_kernel(text *t, const bank_layout *l, const char *const *of) {
  bank_layout_print_tables(t, l, "__device__ const", "rap");
  text_string(t, "static __device__ unsigned place(unsigned a) { return ");
  bank_layout_print_place(t, l, "rap", "a");
  text_printf(t,
              "; }\n"
              "extern \"C\" __global__ void __launch_bounds__(%d) transposes(unsigned *x) {\n"
              "  extern __shared__ unsigned s[];\n"
              "  unsigned *a = s, *b = s + %llu, *own = x + %d * blockIdx.x;\n"
              "  const unsigned i = threadIdx.x / 32, j = threadIdx.x %% 32, d = (i + j) %% 32;\n"
              "  const unsigned from = place(%s), to = place(%s), at = place(threadIdx.x);\n"
              "  a[at] = own[threadIdx.x];\n"
              "  __syncthreads();\n"
              "  for (int k = 0; k < %d; k++) {\n"
              "    b[to] = a[from];\n"
              "    __syncthreads();\n"
              "    unsigned *c = a;\n"
              "    a = b, b = c;\n"
              "  }\n"
              "  own[threadIdx.x] = a[at];\n"
              "}\n",
              WORDS, (unsigned long long)l->places, WORDS, of[1], of[2], REPEAT);
  text_add(t, "", 1);
}

static const char *compile(const bank_layout *l, const char *const *of) {
  static char why[NVRTC_WHY];
  text t = {0};
  void *cubin = NULL;
  size_t size = 0;
  write_kernel(&t, l, of);
  nvrtc_job job = {t.data, "transpose.cu", cuda_facts_of(device)->capability, NULL, 0};
  bool good = !t.failed && nvrtc_compile(&job, &cubin, &size, why, sizeof why);
  text_free(&t);
  if (!good)
    return why;
  module = cuda_module_load(device, cubin, size);
  free(cubin);
  uint32_t bytes = (uint32_t)(2 * l->places * sizeof(uint32_t));
  return module && cuda_kernel_find(device, module, "transposes", bytes, &kernel)
             ? NULL
             : cuda_message(device);
}

// Of each warp: the addresses that the algorithm reads and writes, and with `rows` those by which
// the matrix comes from global memory or goes there.
static bank_trace accesses_of(arena *a, size_t algorithm, bool rows) {
  bank_trace t = {0};
  for (uint64_t i = 0; i < W; i++) {
    uint64_t row[W], column[W], diagonal_row[W], diagonal_column[W];
    for (uint64_t j = 0; j < W; j++) {
      uint64_t d = (i + j) % W;
      row[j] = W * i + j;
      column[j] = W * j + i;
      diagonal_row[j] = W * j + d;
      diagonal_column[j] = W * d + j;
    }
    bank_trace_add(a, &t, W, algorithm == 0 ? row : algorithm == 1 ? column : diagonal_row);
    bank_trace_add(a, &t, W, algorithm == 0 ? column : algorithm == 1 ? row : diagonal_column);
    if (rows)
      bank_trace_add(a, &t, W, row);
  }
  return t;
}

static uint64_t turns_of(arena *a, const bank_layout *l, size_t algorithm) {
  bank_counter *counter = bank_counter_new(a, W, W);
  bank_trace transpose = accesses_of(a, algorithm, false), all = accesses_of(a, algorithm, true);
  uint64_t own = bank_layout_cost(l, counter, &transpose).units,
           rows = bank_layout_cost(l, counter, &all).units - own;
  return REPEAT * own + 2 * rows;
}

static const char *make(const peer_options *o, arena *a) {
  static char why[CUDA_WHY];
  const char *wrong = NULL;
  size_t algorithm = 0;
  for (size_t i = 0; i < 3 && o->algorithm; i++)
    algorithm = strcmp(addresses[i][0], o->algorithm) ? algorithm : i;
  bank_trace accesses = accesses_of(a, algorithm, true);
  const bank_layout_kind *kind = bank_layout_kind_named(o->type ? o->type : "raw");
  bank_layout_request request = {.banks = W, .words = WORDS, .accesses = &accesses, .seed = 1};
  const bank_layout *l = kind ? bank_layout_make(a, kind, &request, &wrong) : NULL;
  if (!l)
    return wrong ? wrong : "there is no such layout";
  turns = turns_of(a, l, algorithm);
  device = cuda_open(0, why, sizeof why);
  if (!device)
    return why;
  blocks = o->count / WORDS ? o->count / WORDS : 1;
  contents = peer_memory(blocks * WORDS * sizeof *contents);
  memory = cuda_memory_new(device, blocks * WORDS * sizeof *contents);
  if (!contents || !memory)
    return "out of memory";
  peer_random(contents, blocks * WORDS * sizeof *contents);
  if (!cuda_upload(device, memory, contents, blocks * WORDS * sizeof *contents))
    return cuda_message(device);
  return compile(l, addresses[algorithm]);
}

static const char *prepare(const peer_options *o) {
  arena a = {.failure = &no_memory};
  asked = o;
  if (setjmp(no_memory))
    return "out of memory";
  const char *wrong = make(o, &a);
  arena_free(&a);
  return wrong;
}

static bool turn(double *seconds) {
  cuda_grid grid = {.x = blocks, .threads = WORDS};
  return cuda_time_begin(device) && cuda_launch(device, &kernel, grid, (void *[]){&memory}) &&
         cuda_time_end(device, seconds);
}

// An even number of transposes changes nothing.
static const char *check(void) {
  uint64_t bytes = blocks * WORDS * sizeof *contents;
  uint32_t *now = malloc(bytes);
  bool good = now && cuda_download(device, now, memory, bytes) && !memcmp(now, contents, bytes);
  free(now);
  return good ? NULL : "it is wrong";
}

static const char *chosen(void) {
  static char words[80];
  snprintf(words, sizeof words, "%s, %llu turns", asked->algorithm ? asked->algorithm : "crsw",
           (unsigned long long)turns);
  return words;
}

const peer this_peer = {
    "shared_transpose",
    1,
    prepare,
    turn,
    check,
    "crsw srcw drdw",
    "raw padding RAS RAP 1P R1P 3P w2P 1Pw2R fixed-xor bit-vector bit-vector-xor bitwise-givargis "
    "bitwise-mih bitwise-xor-givargis bitwise-xor-mih optimal",
    chosen};
