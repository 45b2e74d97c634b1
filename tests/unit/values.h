// What the tests of values share (value_*_test.c): values to text and back, through memory, files
// and pipes.
#ifndef PERMC_TESTS_VALUES_H
#define PERMC_TESTS_VALUES_H

#include "tests/test.h"  // first: it has parameters called `text`

#include "runtime/values/value.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define LENGTH(list) (sizeof(list) / sizeof *(list))
#define BYTES(text) text, sizeof(text) - 1

static const value_expectation anything = {SCALAR_COUNT, -1};
static const value_format formats[] = {FORMAT_TEXT, FORMAT_BINARY, FORMAT_NPY};

// A path in the folder of this test; the last few results stay valid.
static inline const char *temporary_path(const char *name) {
  static char paths[8][512];
  static int next;
  const char *folder = getenv("PERMC_TMP");
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder ? folder : "/tmp", name);
  return path;
}

typedef struct memory {
  char *bytes;
  size_t count;
} memory;

static inline memory written(value_format format, const array *components, size_t count) {
  memory m = {0};
  error e = {0};
  FILE *to = open_memstream(&m.bytes, &m.count);
  CHECK(value_write(to, format,
                    &(permc_value){.components = (array *)(uintptr_t)components, .count = count},
                    &e));
  CHECK_STR(e.message, "");
  fclose(to);
  return m;
}

static inline void save(const char *path, const void *bytes, size_t count) {
  FILE *to = fopen(path, "wb");
  CHECK(to && fwrite(bytes, 1, count, to) == count);
  if (to)
    fclose(to);
}

static inline memory load(const char *path) {
  memory m = {0};
  FILE *from = fopen(path, "rb"), *to = open_memstream(&m.bytes, &m.count);
  for (int c = from ? getc(from) : EOF; c != EOF; c = getc(from))
    putc(c, to);
  fclose(to);
  if (from)
    fclose(from);
  return m;
}

static inline bool same_memory(memory a, memory b) {
  return a.count == b.count && memcmp(a.bytes, b.bytes, a.count) == 0;
}

static inline bool same_bits(const array *a, const array *b) {
  bool same = a->type == b->type && a->rank == b->rank &&
              memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
  return same && memcmp(a->data, b->data, array_count(a) * scalar_types[a->type].size) == 0;
}

// All values of a source as text, one per line; then "error: MESSAGE" if it came to that.
static inline memory text_of_source(value_source *s, value_expectation expected, error *e) {
  memory m = {0};
  FILE *to = open_memstream(&m.bytes, &m.count);
  value_status status = s ? VALUE_OK : VALUE_ERROR;
  for (array a; s && (status = value_read(s, expected, &a, e)) == VALUE_OK; array_destroy(&a))
    CHECK(value_write(to, FORMAT_TEXT, &(permc_value){.components = &a, .count = 1}, e));
  if (status == VALUE_ERROR)
    fprintf(to, "error: %s", e->message);
  fclose(to);
  value_source_close(s);
  return m;
}

static inline memory text_of_bytes(const void *bytes, size_t count, value_expectation expected) {
  error e = {0};
  return text_of_source(value_source_bytes("in", bytes, count, &e), expected, &e);
}

static inline memory text_of_file(const char *path, value_expectation expected) {
  error e = {0};
  return text_of_source(value_source_open(path, &e), expected, &e);
}

// A pipe that a thread fills.
typedef struct feed {
  int descriptors[2];
  memory content;
  pthread_t thread;
  char path[32];
} feed;

static inline void *fill_pipe(void *argument) {
  feed *f = argument;
  for (size_t done = 0; done < f->content.count;) {
    ssize_t some = write(f->descriptors[1], f->content.bytes + done, f->content.count - done);
    if (some <= 0)
      break;
    done += (size_t)some;
  }
  close(f->descriptors[1]);
  return NULL;
}

static inline bool start_feed(feed *f, memory content) {
  f->content = content;
  if (pipe2(f->descriptors, O_CLOEXEC) != 0 || pthread_create(&f->thread, NULL, fill_pipe, f) != 0)
    return false;
  snprintf(f->path, sizeof f->path, "/dev/fd/%d", f->descriptors[0]);
  return true;
}

static inline void end_feed(feed *f) {
  pthread_join(f->thread, NULL);
  close(f->descriptors[0]);
}

static inline memory text_of_pipe(const void *bytes, size_t count, value_expectation expected) {
  union {
    const void *from;
    char *to;
  } constant = {bytes};
  feed f;
  CHECK(start_feed(&f, (memory){constant.to, count}));
  memory m = text_of_file(f.path, expected);
  end_feed(&f);
  return m;
}

// ---- cases of text ----------------------------------------------------------------------------

// What is read as this type and rank, and what is then written.
typedef struct text_case {
  const char *in;
  scalar_type type;
  int rank;
  const char *out;
} text_case;

#define ANY SCALAR_COUNT

static inline void check_text(const text_case *c) {
  value_expectation expected = {c->type, c->rank};
  memory m = text_of_bytes(c->in, strlen(c->in), expected);
  CHECK_STR(m.bytes, c->out);
  if (!strstr(c->out, "error:")) {  // there the names differ
    memory piped = text_of_pipe(c->in, strlen(c->in), expected);
    CHECK_STR(piped.bytes, c->out);
    free(piped.bytes);
  }
  free(m.bytes);
}

// An error in one line, which contains c->out.
static inline void check_bad_text(const text_case *c) {
  memory m = text_of_bytes(c->in, strlen(c->in), (value_expectation){c->type, c->rank});
  CHECK_CONTAINS(m.bytes, "error: in:");
  CHECK_CONTAINS(m.bytes, c->out);
  CHECK(strchr(strstr(m.bytes, "error"), '\n') == NULL);
  free(m.bytes);
}

#endif
