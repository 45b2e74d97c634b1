// The bytes of a source, the elements taken from them, and messages about them. See source.h.
#include "runtime/values/source.h"
#include "runtime/system/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- messages ---------------------------------------------------------------------------------

// `place`: "byte 12: ", "3:14: " or "". The message is one line, whatever names a file has.
static bool fail_at_place(value_source *s, const char *place, const char *format, va_list rest) {
  char message[MESSAGE_SIZE];
  vsnprintf(message, sizeof message, format, rest);
  for (char *c = message; *c; c++)
    *c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c;
  if (s->failure)
    return error_set(s->error, SPAN_NONE, "%s: %s", s->name, strerror(s->failure));
  return error_set(s->error, SPAN_NONE, "%s:%s %s", s->name, place, message);
}

bool source_fail(value_source *s, const char *format, ...) {
  char place[32] = "";
  if (s->start > 0)
    snprintf(place, sizeof place, " byte %llu:", (unsigned long long)s->start);
  WITH_ARGUMENTS(format, fail_at_place(s, place, format, arguments));
  return false;
}

bool source_fail_at(value_source *s, text_place at, const char *format, ...) {
  char place[48];
  snprintf(place, sizeof place, "%llu:%llu:", (unsigned long long)at.line,
           (unsigned long long)at.column);
  WITH_ARGUMENTS(format, fail_at_place(s, place, format, arguments));
  return false;
}

bool source_fail_truncated(value_source *s, const char *what, uint64_t announced, uint64_t found) {
  return source_fail(s, "the data is cut off: the header announces %llu %s, but only %llu follow",
                     (unsigned long long)announced, what, (unsigned long long)found);
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
    // Letters; what begins otherwise may look like nothing, or like another sign.
    bool letter = c > 0xC2 && c != 0xE2 && c != 0xEF;
    size_t length = letter ? text_character_length(bytes + i, count - i) : 0;
    if (c >= 32 && c < 127)
      out[used++] = (char)c;
    else if (length) {
      memcpy(out + used, bytes + i, length);
      used += length;
      i += length - 1;
    } else
      used += (size_t)snprintf(out + used, 5, "\\x%02x", c);
  }
  out[used] = 0;
  return out;
}

typedef char rank_text[32];

static const char *rank_name(int rank, rank_text out) {
  static const char *const names[] = {"one value", "an array", "an array of rows",
                                      "an array of matrices"};
  bool named = rank < (int)(sizeof names / sizeof *names);
  if (named)
    return names[rank];
  snprintf(out, sizeof(rank_text), "an array of rank %d", rank);
  return out;
}

bool value_mismatch(value_source *s, char out[MISMATCH_SIZE], scalar_type type, uint32_t rank) {
  value_expectation expected = s->expected;
  rank_text wanted, found;
  static const char brackets[] = "[][][][][][][][][][][][][][][][]";
  bool at_least = expected.rank < 0;  // -1 - r stands for any rank of at least r
  bool good_rank = at_least ? (int)rank >= -1 - expected.rank : (int)rank == expected.rank;
  bool good_type = expected.type == SCALAR_COUNT || expected.type == type;
  if (good_rank && good_type)
    return false;
  s->found_rank = (int)rank;
  s->other_type = expected.type != SCALAR_COUNT && (good_rank || !at_least);
  if (at_least && !good_rank)
    snprintf(out, MISMATCH_SIZE, "expected at least %s, found %s",
             rank_name(-1 - expected.rank, wanted), rank_name((int)rank, found));
  else if (expected.type == SCALAR_COUNT)
    snprintf(out, MISMATCH_SIZE, "expected %s, found %s%s", rank_name(expected.rank, wanted),
             rank_name((int)rank, found),
             expected.rank > 0 && (int)rank > expected.rank ? "; map f xss works on each row" : "");
  else if (at_least)
    snprintf(out, MISMATCH_SIZE, "expected %s, found %s", scalar_types[expected.type].name,
             scalar_types[type].name);
  else
    snprintf(out, MISMATCH_SIZE, "expected %.*s%s, found %.*s%s", 2 * expected.rank, brackets,
             scalar_types[expected.type].name, 2 * (int)rank, brackets, scalar_types[type].name);
  return true;
}

bool source_expects(value_source *s, scalar_type type, uint32_t rank) {
  char mismatch[MISMATCH_SIZE];
  return !value_mismatch(s, mismatch, type, rank) || source_fail(s, "%s", mismatch);
}

// ---- sources ----------------------------------------------------------------------------------

// The end of a long name, and no bytes that would break a message of one line.
static void set_source_name(value_source *s, const char *name) {
  size_t length = strlen(name);
  if (length < SOURCE_NAME)
    memcpy(s->name, name, length + 1);
  else
    snprintf(s->name, SOURCE_NAME, "...%s", name + length - (SOURCE_NAME - 4));
  for (char *c = s->name; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127)
      *c = '?';
}

static value_source *new_source(const char *name, error *e) {
  value_source *s = calloc(1, sizeof *s);
  *e = (error){0};
  if (!s)
    return error_no_memory(e), NULL;
  set_source_name(s, name);
  s->descriptor = -1;
  s->line = 1;
  return s;
}

value_source *value_source_bytes(const char *name, const void *bytes, size_t count, error *e) {
  value_source *s = new_source(name, e);
  if (!s)
    return NULL;
  s->at = count ? bytes : (const unsigned char *)"";
  s->end = s->at + count;
  s->loaded = count;
  s->size_known = true;
  size_t length = strlen(name);
  s->in_program = length > 5 && !strcmp(name + length - 5, ".perm");
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

// Cuts "keys.csv:price,volume", which is no file itself, behind the file; the columns, or NULL.
// They may hold colons as well as the file: the longest name that there is.
static const char *cut_columns(char *file, const char *path) {
  const char *columns = NULL;
  for (char *colon; access(file, F_OK) != 0 && strcmp(file, "-") != 0;) {
    if (!(colon = strrchr(file, ':'))) {
      if (columns)  // there is no such file
        snprintf(file, strlen(path), "%.*s", (int)(columns - path) - 1, path);
      return columns;
    }
    *colon = 0;
    columns = columns ? columns : path + (colon - file) + 1;
  }
  return path[strlen(file)] ? path + strlen(file) + 1 : NULL;
}

value_source *value_source_open(const char *path, error *e) {
  if (!*path) {
    *e = (error){0};
    error_set(e, SPAN_NONE, "the name of an input file is empty");
    return NULL;
  }
  char *file = strdup(path);
  const char *columns = file ? cut_columns(file, path) : NULL;
  bool standard = file && strcmp(file, "-") == 0;
  value_source *s = file ? new_source(standard ? "standard input" : file, e) : NULL;
  if (!s || (columns && !(s->columns = strdup(columns)))) {
    free(s);
    free(file);
    error_no_memory(e);
    return NULL;
  }
  size_t length = strlen(file);
  s->is_csv = length > 4 && strcasecmp(file + length - 4, ".csv") == 0;
  s->may_be_empty = s->is_csv || (length > 4 && strcasecmp(file + length - 4, ".txt") == 0);
  s->owns_descriptor = !standard;
  s->descriptor = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
  int reason = errno;
  free(file);
  errno = reason;
  if (s->descriptor >= 0 && inspect_descriptor(s) && (s->buffer = malloc(SOURCE_BUFFER)) != NULL) {
    s->at = s->end = s->buffer;
    return s;
  }
  error_set(e, SPAN_NONE, "%s: %s", s->name, error_of_reading(errno));
  source_free(s);
  return NULL;
}

const char *value_source_name(const value_source *s) { return s->name; }
bool value_source_is_empty(const value_source *s) { return s->loaded == 0 && !s->failure; }

void value_source_watch(value_source *s, progress p) { s->progress = p; }

void source_drop_pending(value_source *s) {
  for (size_t i = s->fields.next; s->pending && i < s->fields.count; i++)
    array_destroy(&s->pending[i]);
  free(s->pending);
  s->pending = NULL;
  s->fields.next = s->fields.count;
}

void source_drop_fields(value_source *s) {
  for (size_t i = 0; s->fields.names && i < s->fields.width; i++)
    free(s->fields.names[i]);
  free(s->fields.names);
  free(s->fields.wanted);
  s->fields = (field_list){0};
  s->name_read = NULL;
}

void source_free(value_source *s) {
  source_drop_pending(s);
  source_drop_fields(s);
  free(s->columns);
  if (s->owns_descriptor && s->descriptor >= 0)
    close(s->descriptor);
  free(s->buffer);
  free(s);
}

// read(2) until something comes; 0 at the end or on an error, which s->failure keeps.
static size_t read_some(value_source *s, void *to, size_t count) {
  enum { LARGEST_READ = 1 << 24 };  // so that progress is told in between
  if (s->descriptor < 0 || s->failure || s->ended || (s->size_known && s->unread == 0))
    return 0;
  if (s->size_known && count > s->unread)
    count = (size_t)s->unread;
  for (;;) {
    ssize_t got = read(s->descriptor, to, count < LARGEST_READ ? count : LARGEST_READ);
    if (got >= 0) {
      s->ended = count && got == 0;  // a terminal would be asked again
      s->loaded += (uint64_t)got;
      s->unread -= s->size_known ? (uint64_t)got : 0;
      progress_report(&s->progress, s->loaded, s->size_known ? s->loaded + s->unread : 0);
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

bool source_begins(value_source *s, const char *bytes, size_t count) {
  return source_fill(s, count) && memcmp(s->at, bytes, count) == 0;
}

size_t source_read_bytes(value_source *s, void *to, size_t count) {
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

bool source_skip(value_source *s, uint64_t count) {
  uint64_t have = (uint64_t)(s->end - s->at), rest = count < have ? 0 : count - have;
  if (rest && lseek(s->descriptor, (off_t)rest, SEEK_CUR) < 0)
    return false;
  s->at += count - rest;
  s->loaded += rest;
  s->unread -= rest;
  return true;
}

bool source_holds(const value_source *s, uint64_t count, uint64_t *left) {
  *left = (uint64_t)(s->end - s->at) + s->unread;
  return !s->size_known || count <= *left;
}

// ---- arrays -----------------------------------------------------------------------------------

bool source_check_size(value_source *s, uint64_t size, uint32_t rank, const uint64_t *dims,
                       uint64_t *bytes) {
  uint64_t left;
  if (!array_bytes_of(size, rank, dims, bytes))
    return source_fail(s, "the dimensions are too large: their product exceeds the address space");
  return source_holds(s, *bytes, &left) || source_fail_truncated(s, "bytes", *bytes, left);
}

bool source_fail_memory(value_source *s, uint64_t bytes) {
  char why[MEMORY_WHY];
  if (memory_suffices((double)bytes, 0, why))
    strcpy(why, "more memory than there is");
  return source_fail(s,
                     "reading it takes %s; permc run --memory BYTES leaves arrays of .npy in "
                     "their files",
                     why);
}

bool source_fits(value_source *s, uint64_t held, uint64_t bytes) {
  enum { SMALL = 1 << 21 };
  char why[MEMORY_WHY];
  return bytes < SMALL || memory_suffices((double)bytes, held, why) || source_fail_memory(s, bytes);
}

void *source_grow(value_source *s, void *data, uint64_t held, uint64_t bytes) {
  if (!source_fits(s, held, bytes))
    return NULL;
  void *grown = realloc(data, bytes ? (size_t)bytes : 1);
  if (!grown)
    source_fail_memory(s, bytes);
  return grown;
}

// Where the source's size is not known, at most twice the bytes that came are ever allocated.
bool source_read_array(value_source *s, array *a) {
  uint64_t bytes, capacity = SOURCE_BUFFER / 2, have = 0;
  a->data = NULL;
  if (!source_check_size(s, scalar_types[a->type].size, a->rank, a->dims, &bytes))
    return false;
  do {
    capacity = s->size_known || 2 * capacity > bytes ? bytes : 2 * capacity;
    void *data = s->size_known ? array_memory(bytes) : source_grow(s, a->data, have, capacity);
    if (!data) {
      array_destroy(a);
      return source_fail_memory(s, bytes);
    }
    a->data = data;
    have += source_read_bytes(s, (char *)a->data + have, (size_t)(capacity - have));
  } while (have == capacity && have < bytes);
  if (have < bytes) {  // a pipe ended, or the file shrank meanwhile
    array_destroy(a);
    return source_fail_truncated(s, "bytes", bytes, have);
  }
  array_make_truths(a);
  return true;
}

void array_make_truths(array *a) {
  if (a->type == SCALAR_BOOL)
    scalar_convert(SCALAR_U8, SCALAR_BOOL, array_count(a), a->data, a->data);
}
