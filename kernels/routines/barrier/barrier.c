#include "kernels/routines/barrier/barrier.h"
#include "kernels/text/text.h"

void barrier_kernel_write(text *out) {
  c_source_add(out, "kernels/text/cuda_host.h");
  c_source_add(out, "kernels/routines/barrier/barrier_text.h");
}
