#include "runtime/cuda/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Products and sums are rounded one by one, as interp does, unless they may be fused. Functions
// without a mark are for the device.
const char *const cuda_code_options[2][CUDA_CODE_OPTIONS] = {
    {"-std=c++17", "--fmad=false", "-default-device"},
    {"-std=c++17", "--fmad=true", "-default-device"}};

static void compute_cache_key(const text *file, const cuda_code_source *s, char key[CACHE_KEY]) {
  int version[3] = {0, 0, s->architecture};
  digest d = digest_start();
  nvrtc_version(&version[0], &version[1]);
  digest_add(&d, "permc cuda " PERMC_VERSION, sizeof "permc cuda " PERMC_VERSION);
  digest_add(&d, version, sizeof version);
  for (size_t i = 0; i < CUDA_CODE_OPTIONS; i++)
    digest_add(&d, s->options[i], strlen(s->options[i]) + 1);
  digest_add(&d, text_content(file), file->length + 1);
  digest_finish_hex(&d, key);
}

static bool compile(cuda_code *out, const text *t, const cuda_code_source *s, const char *key) {
  nvrtc_job job = {text_content(t), "permc.cu", s->architecture, s->options, CUDA_CODE_OPTIONS};
  if (!nvrtc_compile(&job, &out->cubin, &out->size, out->message, sizeof out->message))
    return false;
  char path[CACHE_PATH];
  const char *why;  // without an entry, the text is compiled again next time
  (void)!cache_keep_bytes(s->cache, CACHE_CODE, key, out->cubin, out->size, path, &why);
  return true;
}

bool cuda_code_make(cuda_code *out, const text *t, const cuda_code_source *s, bool anew) {
  char key[CACHE_KEY];
  cuda_code_free(out);
  if (t->failed) {
    snprintf(out->message, sizeof out->message, "out of memory");
    return false;
  }
  compute_cache_key(t, s, key);
  out->cached = !anew && cache_find_bytes(s->cache, key, &out->cubin, &out->size);
  return out->cached || compile(out, t, s, key);
}

void cuda_code_free(cuda_code *c) {
  free(c->cubin);
  c->cubin = NULL;
}

bool cuda_code_load(cuda_module **out, cuda_device *d, cuda_code *code, const text *t,
                    const cuda_code_source *s, error *failure) {
  bool made = code->cubin || cuda_code_make(code, t, s, false);
  *out = made ? cuda_module_load(d, code->cubin, code->size) : NULL;
  if (made && !*out && code->cached) {
    made = cuda_code_make(code, t, s, true);
    *out = made ? cuda_module_load(d, code->cubin, code->size) : NULL;
  }
  return *out || (!made && error_set(failure, SPAN_NONE, "%s", code->message));
}
