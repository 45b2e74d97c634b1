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
  unsigned char out[DIGEST_BYTES];
  int version[3] = {0, 0, s->architecture};
  digest d = digest_start();
  nvrtc_version(&version[0], &version[1]);
  digest_add(&d, "permc cuda " PERMC_VERSION, sizeof "permc cuda " PERMC_VERSION);
  digest_add(&d, version, sizeof version);
  for (size_t i = 0; i < CUDA_CODE_OPTIONS; i++)
    digest_add(&d, s->options[i], strlen(s->options[i]) + 1);
  digest_add(&d, file->data, file->length);
  digest_finish(&d, out);
  digest_hex(out, key);
}

static bool read_cubin(const char *path, void **bytes, size_t *size) {
  FILE *f = fopen(path, "rb");
  long end = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  *bytes = end > 0 ? malloc((size_t)end) : NULL;
  *size = end > 0 ? (size_t)end : 0;
  bool good = *bytes && fseek(f, 0, SEEK_SET) == 0 && fread(*bytes, 1, *size, f) == *size;
  if (f)
    fclose(f);
  if (!good) {
    free(*bytes);
    *bytes = NULL;
  }
  return good;
}

// If that fails, the text is compiled again next time.
static void add_to_cache(const cache *c, const char *key, const void *cubin, size_t size) {
  cache_work work;
  const char *why;
  char path[CACHE_PATH + 16];
  if (!*c->folder || !cache_work_begin(c, &work, &why))
    return;
  snprintf(path, sizeof path, "%s/code.cubin", work.folder);
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(cubin, 1, size, f) == size;
  good = f && fclose(f) == 0 && good;
  if (good)
    cache_keep(c, &work, "code.cubin", key, path);
  cache_work_end(&work);
}

static bool compile(cuda_code *out, const text *t, const cuda_code_source *s, const char *key) {
  nvrtc_job job = {t->data, "permc.cu", s->architecture, s->options, CUDA_CODE_OPTIONS};
  if (!nvrtc_compile(&job, &out->cubin, &out->size, out->message, sizeof out->message))
    return false;
  add_to_cache(s->cache, key, out->cubin, out->size);
  return true;
}

bool cuda_code_make(cuda_code *out, text *t, const cuda_code_source *s, bool anew) {
  char key[CACHE_KEY], path[CACHE_PATH];
  cuda_code_free(out);
  text_add(t, "", 1);
  if (t->failed) {
    snprintf(out->message, sizeof out->message, "out of memory");
    return false;
  }
  compute_cache_key(t, s, key);
  out->cached =
      !anew && cache_find(s->cache, key, path) && read_cubin(path, &out->cubin, &out->size);
  return out->cached || compile(out, t, s, key);
}

void cuda_code_free(cuda_code *c) {
  free(c->cubin);
  c->cubin = NULL;
}

bool cuda_code_load(cuda_module **out, cuda_device *d, text *t, const cuda_code_source *s,
                    error *failure) {
  cuda_code code = {0};
  size_t length = t->length;
  bool made = cuda_code_make(&code, t, s, false);
  *out = made ? cuda_module_load(d, code.cubin, code.size) : NULL;
  if (made && !*out && code.cached) {
    t->length = length;
    made = cuda_code_make(&code, t, s, true);
    *out = made ? cuda_module_load(d, code.cubin, code.size) : NULL;
  }
  t->length = length;
  if (!*out)
    error_set(failure, SPAN_NONE, "%s", made ? cuda_message(d) : code.message);
  cuda_code_free(&code);
  return *out != NULL;
}
