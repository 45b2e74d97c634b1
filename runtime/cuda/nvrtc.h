// NVIDIA's run-time compiler of CUDA C++ (NVRTC), loaded when it is first used.
//
//   in    CUDA C++ text, an architecture
//   out   machine code for that architecture (a cubin), or the first error's line
//
//   const char *options[] = {"-std=c++17", "--fmad=false"};
//   nvrtc_job job = {.text = "extern \"C\" __global__ void one(int *a) { *a = 1; }",
//                    .name = "plan.cu", .architecture = 90,
//                    .options = options, .option_count = 2};
//   void *cubin;
//   size_t size;
//   char message[NVRTC_WHY];
//   if (nvrtc_compile(&job, &cubin, &size, message, sizeof message)) {
//     m = cuda_module_load(d, cubin, size);               // runtime/cuda/cuda.h
//     free(cubin);
//   } else {
//     puts(message);                                      // plan.cu(12): error: ...
//   }
//
// It is $PERMC_NVRTC (the path of the library), else the first of libnvrtc.so.13, libnvrtc.so.12
// and libnvrtc.so that is found in the loader's folders, in $CUDA_HOME/lib64, $CUDA_PATH/lib64 or
// /usr/local/cuda/lib64. It needs libnvrtc-builtins, which lies beside it, and neither a GPU nor
// its driver. Any number of threads may call it at once.
#ifndef PERMC_RUNTIME_CUDA_NVRTC_H
#define PERMC_RUNTIME_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

enum { NVRTC_WHY = 512, NVRTC_LEAST_MAJOR = 12 };

// Loads it, once for the process. False: none is installed, it is older than CUDA 12, or lacks a
// function: `why` is a sentence without a full stop.
bool nvrtc_find(char *why, size_t size);

// The version of its CUDA, such as 12, 4. False: there is no NVRTC.
bool nvrtc_version(int *major, int *minor);

typedef struct nvrtc_job {
  const char *text, *name;     // CUDA C++, and its name in messages
  int architecture;            // 90: machine code for compute capability 9.0 alone (sm_90)
  const char *const *options;  // but for --gpu-architecture
  size_t option_count;
} nvrtc_job;

// Makes a cubin of `size` bytes, malloc'd. False: there is no NVRTC, it does not know the
// architecture, or the text has an error: `message` is the first error's line as NVRTC writes it,
// "plan.cu(12): error: identifier "x" is undefined", or a sentence without a full stop.
bool nvrtc_compile(const nvrtc_job *job, void **cubin, size_t *size, char *message,
                   size_t message_size);

#endif
