// The requests that a batch of parts is made of: which bytes one moves, and what becomes of its
// answer.
#include "runtime/disk/request.h"

#include <errno.h>
#include <string.h>

enum { REQUEST_BYTES = 1 << 20, MOST_AGAIN = 10000 };  // at most

static uint64_t page_of(uint64_t at) { return at / DISK_PAGE * DISK_PAGE; }
static uint64_t page_after(uint64_t at) { return page_of(at + DISK_PAGE - 1); }

// ---- a request ---------------------------------------------------------------------------------

static void add_vector(disk_request *r, char *memory, uint64_t bytes) {
  if (bytes > 0)
    r->vectors[r->vector_count++] = (struct iovec){memory, bytes};
}

static void aim_at_cache(disk_request *r) {
  r->descriptor = r->file->cached;
  r->first = r->offset;
  r->vector_count = 0;
  r->head = r->tail = NULL;
  add_vector(r, r->memory, r->bytes);
}

static bool is_aligned(uint64_t at) { return at % DISK_PAGE == 0; }

static bool can_be_direct(const disk_request *r) {
  bool together = is_aligned(r->offset ^ (uintptr_t)r->memory);
  return r->file->direct >= 0 && together &&
         (!r->writes || (is_aligned(r->offset) && is_aligned(r->bytes)));
}

// By whole pages: the first and the last through pages of the request's own where they are not
// wanted as a whole.
static void aim(disk_request *r) {
  if (!can_be_direct(r)) {
    aim_at_cache(r);
    return;
  }
  uint64_t end = r->offset + r->bytes, middle = page_after(r->offset), rest = page_of(end);
  r->descriptor = r->file->direct;
  r->first = page_of(r->offset);
  r->vector_count = 0;
  r->head = is_aligned(r->offset) ? NULL : r->pages;
  r->tail = is_aligned(end) || rest < middle ? NULL : r->pages + DISK_PAGE;
  if (r->head)
    add_vector(r, r->head, DISK_PAGE);
  if (rest > middle)
    add_vector(r, r->memory + (middle - r->offset), rest - middle);
  if (r->tail)
    add_vector(r, r->tail, DISK_PAGE);
}

// What lies in the request's own pages, up to byte `end` of the file, goes to its memory.
static void land(const disk_request *r, uint64_t end) {
  uint64_t middle = page_after(r->offset), rest = page_of(r->offset + r->bytes);
  if (r->head) {
    uint64_t to = middle < end ? middle : end;
    memcpy(r->memory, r->head + (r->offset - r->first), to - r->offset);
  }
  if (r->tail && end > rest)
    memcpy(r->memory + (rest - r->offset), r->tail, end - rest);
}

static void count_bytes(disk *d, const disk_request *r, uint64_t bytes) {
  pthread_mutex_lock(&d->mutex);
  *(r->writes ? &d->counts.bytes_written : &d->counts.bytes_read) += bytes;
  d->counts.requests++;
  pthread_mutex_unlock(&d->mutex);
}

static bool give_up(disk *d, const disk_request *r, int number) {
  pthread_mutex_lock(&d->mutex);
  if (number == 0)
    disk_fail_short(&d->batch.failure, r->file, r->offset, r->offset + r->bytes);
  else
    disk_fail_at(&d->batch.failure, r->file, r->writes, r->offset, number);
  pthread_mutex_unlock(&d->mutex);
  return false;
}

bool disk_answer(disk *d, disk_request *r, int64_t answer) {
  if ((answer == -EINTR || answer == -EAGAIN) && r->again++ < MOST_AGAIN)
    return true;
  if (answer == -EINVAL && r->descriptor == r->file->direct)
    return aim_at_cache(r), true;
  if (answer < 0)
    return give_up(d, r, (int)-answer);
  uint64_t wanted = r->offset + r->bytes, end = r->first + (uint64_t)answer;
  end = end < wanted ? end : wanted;
  count_bytes(d, r, (uint64_t)answer);
  if (answer == 0 || end <= r->offset)
    return give_up(d, r, r->writes ? ENOSPC : 0);
  land(r, end);
  r->memory += end - r->offset;
  r->offset = end;
  r->bytes = wanted - end;
  if (r->bytes > 0)  // a short one: the rest is at no page's beginning, perhaps
    aim_at_cache(r);
  return r->bytes > 0;
}

// ---- a batch -----------------------------------------------------------------------------------

static bool has_more(const disk_batch *b, bool writes) {
  return b->cursors[writes].part < b->count;
}

// Past the parts of the other direction, and those without bytes.
static void go_to_part(disk_batch *b, bool writes) {
  struct disk_cursor *c = &b->cursors[writes];
  while (c->part < b->count &&
         (b->parts[c->part].writes != writes || c->done == b->parts[c->part].bytes))
    *c = (struct disk_cursor){c->part + 1, 0};
}

// Of a part, as much as one request moves: up to a multiple of its size, and what is written up to
// the last whole page, which is then written alone.
static uint64_t cut(const disk_part *p, uint64_t done) {
  uint64_t offset = p->offset + done, left = p->bytes - done;
  uint64_t whole = REQUEST_BYTES - offset % REQUEST_BYTES;
  uint64_t count = left <= REQUEST_BYTES + DISK_PAGE ? left : whole;
  if (p->writes && !is_aligned(offset)) {
    uint64_t head = page_after(offset) - offset;
    count = head < count ? head : count;
  } else if (p->writes && count >= DISK_PAGE)
    count = page_of(count);
  return count;
}

static void take(disk_batch *b, bool writes, disk_request *r) {
  struct disk_cursor *c = &b->cursors[writes];
  const disk_part *p = &b->parts[c->part];
  r->file = p->file;
  r->writes = writes;
  r->again = 0;
  r->offset = p->offset + c->done;
  r->bytes = cut(p, c->done);
  r->memory = (char *)p->memory + c->done;
  c->done += r->bytes;
  aim(r);
}

bool disk_next(disk *d, disk_request *r) {
  disk_batch *b = &d->batch;
  pthread_mutex_lock(&d->mutex);
  if (d->interrupted && atomic_load(d->interrupted))
    error_set(&b->failure, SPAN_NONE, "interrupted");
  go_to_part(b, false);
  go_to_part(b, true);
  b->turn = has_more(b, !b->turn) ? !b->turn : b->turn;
  bool more = has_more(b, b->turn) && !error_is_set(&b->failure);
  if (more)
    take(b, b->turn, r);
  pthread_mutex_unlock(&d->mutex);
  return more;
}

// ---- threads -----------------------------------------------------------------------------------

uint64_t disk_threads_worth(const disk_part *parts, size_t count) {
  enum { LEAST = 1 << 16 };
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += parts[i].bytes;
  return bytes / LEAST;
}
