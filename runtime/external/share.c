// Shares, one after the other: buffers, transfers, passes. See share.h.
#include "runtime/external/share.h"
#include "core/number.h"
#include "runtime/cpu/storage.h"

#include <stdlib.h>
#include <string.h>

typedef struct buffer {
  const external_move *move;
  size_t size;      // of an element
  uint64_t offset;  // in the file, of element 0
  char *memory[2];  // whole pages; the same, of a move that is the same for all shares
} buffer;

typedef struct execution {
  const share_options *options;
  const external_step *step;
  size_t count;
  buffer *buffers;  // of all moves
  void **data;      // by array of the plan: where element 0 of it would be
  storage storage;  // of what a share has between its passes
} execution;

static const plan *plan_of(const execution *x) { return x->options->run->plan; }

// ---- where a share's memory is -----------------------------------------------------------------

// Of a share, element 0 of the memory of all shares would be at a multiple of 64 bytes; and where
// that is so in the file, places are at the same bytes of pages as there.
static char *memory_of(const buffer *b, uint64_t share) {
  uint64_t in_file = b->offset % 64 ? 0 : b->offset;
  uint64_t origin = (uint64_t)external_origin(b->move, share) * b->size;
  return b->memory[share % 2] + (in_file + origin) % DISK_PAGE;
}

static void *element_0(const buffer *b, uint64_t share) {
  uint64_t origin = (uint64_t)external_origin(b->move, share) * b->size;
  return (void *)((uintptr_t)memory_of(b, share) - origin);
}

static bool make_buffer(buffer *b) {
  uint64_t bytes = divide_up(b->move->elements * b->size, DISK_PAGE) * DISK_PAGE + DISK_PAGE;
  for (int i = 0; i < (b->move->whole ? 1 : 2); i++)
    if (!(b->memory[i] = aligned_alloc(DISK_PAGE, bytes)))
      return false;
  if (b->move->whole)
    b->memory[1] = b->memory[0];
  return true;
}

static bool is_of_stage(const execution *x, uint32_t pass) {
  return plan_of(x)->passes.items[pass].stage == x->step->stage;
}

// What is in no file, and what a pass of the stage makes.
static bool make_rooms(execution *x) {
  const plan *p = plan_of(x);
  storage *s = &x->storage;
  if (!storage_begin(s, p, NULL))
    return false;
  for (net_id a = 0; a < p->arrays.count; a++) {
    storage_item *item = &s->items[a];
    bool made = item->first != STORAGE_NEVER && is_of_stage(x, item->first);
    if (a < p->net->arrays.count || !made) {  // of most, where there are many stages
      item->first = STORAGE_NEVER;
      continue;
    }
    uint64_t bytes = plan_share_elements(p, a) * scalar_types[p->arrays.items[a].type].size;
    item->bytes = divide_up(bytes, DISK_PAGE) * DISK_PAGE + DISK_PAGE;
  }
  bool good = storage_place(s);
  for (uint32_t i = 0; i < s->room_count && good; i++)
    good = (s->rooms[i].memory = aligned_alloc(DISK_PAGE, s->rooms[i].bytes));
  return good;
}

static bool make_execution(execution *x) {
  const plan *p = plan_of(x);
  x->buffers = calloc(x->step->moves.count + 1, sizeof *x->buffers);
  x->data = calloc(p->arrays.count + 1, sizeof *x->data);
  bool good = x->buffers && x->data;
  for (size_t i = 0; i < x->step->moves.count && good; i++) {
    const external_move *m = &x->step->moves.items[i];
    x->buffers[x->count] =
        (buffer){.move = m,
                 .size = scalar_types[x->options->run->steps->arrays.items[m->file].type].size,
                 .offset = files_place(x->options->files, m->file).offset};
    good = make_buffer(&x->buffers[x->count++]);
  }
  good = good && make_rooms(x);
  for (net_id a = 0; a < p->arrays.count && good; a++)
    if (p->arrays.items[a].role == NET_TABLE)
      x->data[a] = (void *)(uintptr_t)p->arrays.items[a].table;
  return good;
}

static void free_execution(execution *x) {
  for (size_t i = 0; x->buffers && i < x->count; i++) {
    free(x->buffers[i].memory[0]);
    if (!x->buffers[i].move->whole)
      free(x->buffers[i].memory[1]);
  }
  free(x->buffers);
  free(x->data);
  storage_end(&x->storage);
}

// ---- transfers ---------------------------------------------------------------------------------

static void fill(const buffer *b, uint64_t share, uint64_t first, uint64_t end) {
  char *to = memory_of(b, share) + first * b->size;
  for (uint64_t i = first; i < end; i++, to += b->size)
    memcpy(to, &b->move->padding, b->size);
}

// Blocks of the share between file and memory; what is to be read, and is not in the file, is
// padding.
static bool add_blocks(const execution *x, const buffer *b, uint64_t share, bool writes,
                       transfers *t) {
  const external_move *m = b->move;
  uint64_t count = external_block_count(m), each = m->elements / count;
  external_place file = files_place(x->options->files, m->file);
  for (uint64_t i = 0; i < count; i++) {
    share_block k = {0, 0, i * each};
    bool there = external_block_at(m, share, i, &k);
    k.count = there ? k.count : 0;
    if (!writes && !there) {
      fill(b, share, i * each, (i + 1) * each);
    } else if (!writes) {
      fill(b, share, i * each, k.place);
      fill(b, share, k.place + k.count, (i + 1) * each);
    }
    if (!transfers_add(t, place_after(file, k.first * b->size),
                       memory_of(b, share) + k.place * b->size, k.count * b->size, writes))
      return false;
  }
  return true;
}

static bool add_moves(const execution *x, uint64_t share, bool whole, bool writes, transfers *t) {
  bool good = true;
  for (size_t i = 0; i < x->count && good; i++) {
    const buffer *b = &x->buffers[i];
    if (b->move->whole != whole)
      continue;
    if (b->move->fresh && !writes)
      fill(b, share, 0, b->move->elements);
    else if (writes ? b->move->writes : external_move_reads(b->move))
      good = add_blocks(x, b, share, writes, t);
  }
  return good;
}

static bool load_share(void *with, uint64_t share, transfers *t) {
  const execution *x = with;
  return !external_share_acts(x->step, share) || add_moves(x, share, false, false, t);
}

static bool store_share(void *with, uint64_t share, transfers *t) {
  const execution *x = with;
  return !external_share_acts(x->step, share) || add_moves(x, share, false, true, t);
}

static bool move_whole(const execution *x, bool writes, error *failure) {
  transfers t = {0};
  bool good = add_moves(x, 0, true, writes, &t);
  if (!good)
    error_no_memory(failure);
  if (good && t.count) {
    disk_begin(x->options->disk, t.parts, t.count);
    good = disk_end(x->options->disk, failure);
  }
  free(t.parts);
  return good;
}

// ---- passes ------------------------------------------------------------------------------------

static void place_arrays(execution *x, uint64_t share) {
  const plan *p = plan_of(x);
  for (size_t i = 0; i < x->count; i++)
    x->data[x->buffers[i].move->memory] = element_0(&x->buffers[i], share);
  for (net_id a = 0; a < p->arrays.count; a++)
    if (x->storage.items[a].first != STORAGE_NEVER) {
      uint64_t before =
          share * plan_share_elements(p, a) * scalar_types[p->arrays.items[a].type].size;
      uintptr_t memory = (uintptr_t)x->storage.rooms[x->storage.items[a].room].memory;
      x->data[a] = (void *)(memory + before % DISK_PAGE - before);
    }
}

static bool work_on_share(void *with, uint64_t share, error *failure) {
  execution *x = with;
  const external_run *r = x->options->run;
  cpu_options o = {.threads = r->threads,
                   .interrupted = r->interrupted,
                   .executor = r->executor,
                   .store = x->options->store};
  bool good = true;
  if (!external_share_acts(x->step, share))
    return true;
  place_arrays(x, share);
  for (uint32_t i = 0; i < r->plan->passes.count && good; i++) {
    uint64_t first, last;
    if (!is_of_stage(x, i))
      continue;
    plan_share_items(r->plan, &r->plan->passes.items[i], share, &first, &last);
    good = cpu_run_items(r->plan, &o, i, first, last, x->data, failure);
  }
  return good;
}

// ---- the whole ---------------------------------------------------------------------------------

static bool report_share(void *with, uint64_t share, error *failure) {
  const execution *x = with;
  return x->options->report(x->options->with, share + 1, failure);
}

// Whether what shares do is not known before all are done.
static bool is_one_part(const external_step *s) {
  bool one = false;
  for (size_t i = 0; i < s->moves.count; i++)
    one = one || (s->moves.items[i].writes && s->moves.items[i].whole);
  return one;
}

// Whether shares read what others write, perhaps.
static bool is_serial(const external_step *s) {
  bool serial = false;
  for (size_t i = 0; i < s->moves.count; i++)
    serial = serial || s->moves.items[i].partial;
  return serial;
}

uint64_t shares_parts(const external_step *s) { return is_one_part(s) ? 1 : s->shares; }

static bool run_shares(execution *x, error *failure) {
  bool one = is_one_part(x->step), good = true;
  pipeline p = {.disk = x->options->disk,
                .last = x->step->shares,
                .with = x,
                .load = load_share,
                .work = work_on_share,
                .store = store_share,
                .done = one ? NULL : report_share};
  if (!is_serial(x->step))
    return pipeline_run(&p, failure);
  for (uint64_t last = p.last; p.first < last && good; p.first++) {
    p.last = p.first + 1;
    good = pipeline_run(&p, failure);
  }
  return good;
}

bool shares_execute(const share_options *o, error *failure) {
  FREED_BY(free_execution)
  execution x = {.options = o, .step = &o->run->steps->steps.items[o->step]};
  bool good = make_execution(&x) || error_no_memory(failure);
  return good && move_whole(&x, false, failure) && run_shares(&x, failure) &&
         move_whole(&x, true, failure);
}
