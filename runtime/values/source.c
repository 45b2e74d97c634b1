// The bytes of a source, and the elements taken from them.
//
// A source hands out bytes from a buffer of 64 KiB; large data goes from the file straight into
// the array. What a header promises is compared with what the file holds before anything is
// allocated; where that is not known (a pipe), arrays grow with the data that comes.
#include "runtime/values/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- messages ---------------------------------------------------------------------------------

void value_fail(value_error *error, const char *format, ...) {
  if (!error)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
}

value_status source_fail(const value_source *s, value_error *error, uint64_t offset,
                         const char *format, ...) {
  char message[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (s->failure)
    value_fail(error, "%s: %s", s->name, strerror(s->failure));
  else if (offset > 0)
    value_fail(error, "%s: byte %llu: %.300s", s->name, (unsigned long long)offset, message);
  else
    value_fail(error, "%s: %.300s", s->name, message);
  return VALUE_ERROR;
}

const char *value_quote(char out[QUOTE_SIZE], const char *bytes, size_t count) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (i == 40 || used > QUOTE_SIZE - 10) {
      memcpy(out + used, "...", 3);
      used += 3;
      break;
    }
    if (c >= 32 && c < 127)
      out[used++] = (char)c;
    else
      used += (size_t)snprintf(out + used, 5, "\\x%02x", c);
  }
  out[used] = 0;
  return out;
}

// -1 - r stands for any rank of at least r.
static bool rank_is_expected(int expected, uint32_t rank) {
  return expected >= 0 ? rank == (uint32_t)expected : rank >= (uint32_t)(-1 - expected);
}

bool value_is_expected(value_expectation expected, scalar_type type, uint32_t rank) {
  return (expected.type == SCALAR_COUNT || expected.type == type) &&
         rank_is_expected(expected.rank, rank);
}

const char *value_mismatch(char out[MISMATCH_SIZE], value_expectation expected, scalar_type type,
                           uint32_t rank) {
  static const char brackets[] = "[][][][][][][][][][][][][][][][]";
  const char *found = scalar_types[type].name;
  if (expected.rank < 0 && !rank_is_expected(expected.rank, rank))
    snprintf(out, MISMATCH_SIZE, "expected rank %d or more, found rank %u", -1 - expected.rank,
             (unsigned)rank);
  else if (expected.type == SCALAR_COUNT)
    snprintf(out, MISMATCH_SIZE, "expected rank %d, found rank %u", expected.rank, (unsigned)rank);
  else if (expected.rank < 0)
    snprintf(out, MISMATCH_SIZE, "expected %s, found %s", scalar_types[expected.type].name, found);
  else
    snprintf(out, MISMATCH_SIZE, "expected %.*s%s, found %.*s%s", 2 * expected.rank, brackets,
             scalar_types[expected.type].name, 2 * (int)rank, brackets, found);
  return out;
}

// ---- sources ----------------------------------------------------------------------------------

// The end of a long name, and no bytes that would break a message of one line.
static void set_name(value_source *s, const char *name) {
  size_t length = strlen(name);
  if (length < SOURCE_NAME)
    memcpy(s->name, name, length + 1);
  else
    snprintf(s->name, SOURCE_NAME, "...%s", name + length - (SOURCE_NAME - 4));
  for (char *c = s->name; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127)
      *c = '?';
}

static value_source *new_source(const char *name, value_error *error) {
  value_source *s = calloc(1, sizeof *s);
  if (!s) {
    value_fail(error, "out of memory");
    return NULL;
  }
  set_name(s, name);
  s->descriptor = -1;
  s->line = 1;
  return s;
}

value_source *value_source_bytes(const char *name, const void *bytes, size_t count,
                                 value_error *error) {
  value_source *s = new_source(name, error);
  if (!s)
    return NULL;
  s->at = count ? bytes : (const unsigned char *)"";
  s->end = s->at + count;
  s->loaded = count;
  s->size_known = true;
  return s;
}

// What fstat and the position say of the bytes that are left. Files of size 0 are read as pipes:
// those of /proc claim it.
static bool inspect_descriptor(value_source *s) {
  struct stat status;
  if (fstat(s->descriptor, &status) != 0)
    return false;
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    off_t position = lseek(s->descriptor, 0, SEEK_CUR);
    if (position >= 0) {
      s->size_known = true;
      s->unread = position < status.st_size ? (uint64_t)(status.st_size - position) : 0;
    }
  }
  return true;
}

value_source *value_source_open(const char *path, value_error *error) {
  bool standard = strcmp(path, "-") == 0;
  value_source *s = new_source(standard ? "standard input" : path, error);
  if (!s)
    return NULL;
  s->owns_descriptor = !standard;
  s->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (s->descriptor < 0 || !inspect_descriptor(s)) {
    value_fail(error, "%s: %s", s->name, strerror(errno));
    value_source_close(s);
    return NULL;
  }
  s->buffer = malloc(SOURCE_BUFFER);
  if (!s->buffer) {
    value_fail(error, "%s: out of memory", s->name);
    value_source_close(s);
    return NULL;
  }
  s->at = s->end = s->buffer;
  return s;
}

void source_drop_pending(value_source *s) {
  for (size_t i = s->pending_next; i < s->pending_count; i++)
    array_destroy(&s->pending[i]);
  free(s->pending);
  s->pending = NULL;
  s->pending_count = s->pending_next = 0;
}

size_t value_pending(const value_source *s) { return s->pending_count - s->pending_next; }

void value_source_close(value_source *s) {
  if (!s)
    return;
  source_drop_pending(s);
  if (s->owns_descriptor && s->descriptor >= 0)
    close(s->descriptor);
  free(s->buffer);
  free(s);
}

// read(2) until something comes; 0 at the end or on an error, which s->failure keeps.
static size_t read_some(value_source *s, void *to, size_t count) {
  enum { LARGEST_READ = 1 << 30 };  // Linux moves at most 2^31 - 4096 bytes a call
  if (s->descriptor < 0 || s->failure || (s->size_known && s->unread == 0))
    return 0;
  if (s->size_known && count > s->unread)
    count = (size_t)s->unread;
  for (;;) {
    ssize_t got = read(s->descriptor, to, count < LARGEST_READ ? count : LARGEST_READ);
    if (got >= 0) {
      s->loaded += (uint64_t)got;
      s->unread -= s->size_known ? (uint64_t)got : 0;
      return (size_t)got;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      struct pollfd wait = {.fd = s->descriptor, .events = POLLIN};
      if (poll(&wait, 1, -1) >= 0)
        continue;
    }
    if (errno != EINTR) {
      s->failure = errno;
      return 0;
    }
  }
}

bool source_fill(value_source *s, size_t want) {
  size_t have = (size_t)(s->end - s->at);
  if (have >= want || !s->buffer)
    return have >= want;
  memmove(s->buffer, s->at, have);
  s->at = s->buffer;
  s->end = s->buffer + have;
  while (have < want) {
    size_t got = read_some(s, s->buffer + have, SOURCE_BUFFER - have);
    if (got == 0)
      return false;
    have += got;
    s->end += got;
  }
  return true;
}

size_t source_take(value_source *s, void *to, size_t count) {
  size_t have = (size_t)(s->end - s->at);
  size_t taken = have < count ? have : count;
  if (taken > 0)
    memcpy(to, s->at, taken);
  s->at += taken;
  while (taken < count) {
    size_t got = read_some(s, (char *)to + taken, count - taken);
    if (got == 0)
      break;
    taken += got;
  }
  if (s->at == s->end && s->buffer)
    s->at = s->end = s->buffer;
  return taken;
}

bool source_holds(const value_source *s, uint64_t count, uint64_t *left) {
  *left = (uint64_t)(s->end - s->at) + s->unread;
  return !s->size_known || count <= *left;
}

static value_status array_truncated(const value_source *s, uint64_t bytes, uint64_t left,
                                    value_error *error) {
  return source_fail(s, error, 0, "the header promises %llu bytes of data, but only %llu follow",
                     (unsigned long long)bytes, (unsigned long long)left);
}

// Of a source of unknown size: at most twice the bytes that came are ever allocated.
static value_status take_growing(value_source *s, array *a, uint64_t bytes, value_error *error) {
  uint64_t capacity = 0, have = 0;
  do {
    capacity = capacity == 0 ? SOURCE_BUFFER : 2 * capacity;
    capacity = capacity < bytes ? capacity : bytes;
    void *grown = realloc(a->data, capacity ? (size_t)capacity : 1);
    if (!grown) {
      array_destroy(a);
      return source_fail(s, error, 0, "out of memory for %llu bytes", (unsigned long long)bytes);
    }
    a->data = grown;
    have += source_take(s, (char *)a->data + have, (size_t)(capacity - have));
  } while (have == capacity && have < bytes);
  if (have < bytes) {
    array_destroy(a);
    return array_truncated(s, bytes, have, error);
  }
  return VALUE_OK;
}

static value_status take_known(value_source *s, array *a, uint64_t bytes, value_error *error) {
  a->data = array_memory(bytes);
  if (!a->data)
    return source_fail(s, error, 0, "out of memory for %llu bytes", (unsigned long long)bytes);
  size_t have = source_take(s, a->data, (size_t)bytes);
  if (have < bytes) {  // the file shrank meanwhile
    array_destroy(a);
    return array_truncated(s, bytes, have, error);
  }
  return VALUE_OK;
}

void value_swap_bytes(void *data, scalar_type type, uint64_t count) {
  size_t size = scalar_types[type].size;
  if (scalar_types[type].kind == KIND_COMPLEX) {
    size /= 2;
    count *= 2;
  }
  if (size == 2)
    for (uint16_t *words = data; count > 0; count--, words++)
      *words = __builtin_bswap16(*words);
  if (size == 4)
    for (uint32_t *words = data; count > 0; count--, words++)
      *words = __builtin_bswap32(*words);
  if (size == 8)
    for (uint64_t *words = data; count > 0; count--, words++)
      *words = __builtin_bswap64(*words);
}

value_status source_take_array(value_source *s, array *a, bool swapped, value_error *error) {
  uint64_t bytes, left, start = source_offset(s);
  a->data = NULL;
  if (!value_size(scalar_types[a->type].size, a->rank, a->dims, &bytes))
    return source_fail(s, error, start, "the dimensions are too large");
  if (!source_holds(s, bytes, &left))
    return array_truncated(s, bytes, left, error);
  value_status status =
      s->size_known ? take_known(s, a, bytes, error) : take_growing(s, a, bytes, error);
  if (status == VALUE_OK && swapped)
    value_swap_bytes(a->data, a->type, bytes / scalar_types[a->type].size);
  return status == VALUE_OK ? source_check_bools(s, a, error) : status;
}

value_status source_check_bools(const value_source *s, array *a, value_error *error) {
  if (a->type != SCALAR_BOOL)
    return VALUE_OK;
  const unsigned char *bytes = a->data;
  uint64_t count = array_count(a);
  for (uint64_t i = 0; i < count; i++)
    if (bytes[i] > 1) {
      unsigned found = bytes[i];
      array_destroy(a);
      return source_fail(s, error, 0, "element %llu is %u, but a bool is 0 or 1",
                         (unsigned long long)i, found);
    }
  return VALUE_OK;
}

const char *value_source_name(const value_source *s) { return s->name; }
