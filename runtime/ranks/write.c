// One file of a value whose parts ranks have, or the whole value on rank 0. See ranks.h.
#include "runtime/ranks/parts.h"
#include "runtime/ranks/world.h"

#include "core/hash.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- from rank 0 to all, and to rank 0 ----------------------------------------------------------

static const array_part *part_of(const array *a) {
  return array_device(a) == ARRAY_IN_PART ? a->owner->with : NULL;
}

static bool gather_array(transport *t, array *a, error *failure) {
  array_part own = array_own(a);
  array whole = {.type = a->type};
  if (!part_of(a))
    return true;
  extent *has = parts_gather(t, own, failure);
  extent *wants = has ? calloc(t->ranks, sizeof *wants) : NULL;
  bool good = wants && (t->rank || array_create(&whole, a->type, a->rank, a->dims));
  if (good) {
    wants[0].count = array_count(a);
    good = parts_exchange(t, has, own.data, wants, whole.data, scalar_types[a->type].size, failure);
  } else if (has) {
    transport_fail(t, "out of memory", failure);
  }
  free(has);
  free(wants);
  if (good && !t->rank) {
    array_destroy(a);
    *a = whole;
  } else {
    array_destroy(&whole);
  }
  return good;
}

static bool gather_value(transport *t, permc_value *v, error *failure) {
  bool good = true;
  for (size_t i = 0; good && i < v->count; i++)
    good = gather_array(t, &v->components[i], failure);
  return good;
}

bool ranks_gather(rank_world *r, permc_value *v, error *failure) {
  transport *t = ranks_transport(r);
  *failure = (error){0};
  if (!t)
    return true;
  world_begin_turn(r);
  bool good = rank_agree(t, &(rank_step){.step = "showing a result"}, failure) &&
              gather_value(t, v, failure);
  world_end_turn(r);
  return good;
}

// ---- a file by all ------------------------------------------------------------------------------

// What this rank writes of the value: its part of all components, or, where each rank has all of
// them, an equal share. False: their parts differ.
static bool find_extent(const transport *t, const permc_value *v, extent *out) {
  const array_part *first = NULL;
  for (size_t i = 0; i < v->count; i++) {
    const array_part *part = part_of(&v->components[i]);
    if (first && part && (first->first != part->first || first->count != part->count))
      return false;
    first = first ? first : part;
  }
  uint64_t all = array_count(&v->components[0]), each = all / t->ranks + 1;
  uint64_t from = t->rank * each < all ? t->rank * each : all;
  *out = first ? (extent){first->first, first->count}
               : (extent){from, all - from < each ? all - from : each};
  return true;
}

// Whether all ranks can write it together. What is so of rank 0 is so of the others: slabs of as
// many elements are the same on it, or have all elements.
static bool parts_are_alike(const transport *t, const permc_value *v) {
  extent own;
  for (size_t i = 1; i < v->count; i++)
    if (array_count(&v->components[i]) != array_count(&v->components[0]))
      return false;
  return v->count > 0 && find_extent(t, v, &own);
}

typedef struct outcome {
  char cause[512];  // "" if all was well
} outcome;

// Of all ranks, of which each has written its part, or failed to: the first that failed. None ends
// before, so that all say the same.
static bool all_have_written(transport *t, const outcome *own, error *failure) {
  FREED outcome *all = transport_gather_each(t, own, sizeof *own, failure);
  bool good = all != NULL;
  for (uint32_t r = 0; good && r < t->ranks; r++)
    if (all[r].cause[0])
      good = error_set(failure, SPAN_NONE, "rank %u: %.480s", (unsigned)r, all[r].cause);
  return good;
}

// The file that all write: by the number of rank 0's descriptor, where all find it so, being
// processes of one machine; else by a name, which stays where rank 0 is killed.
typedef struct shared_file {
  char path[PATH_MAX];  // "": none is shared
  uint64_t identity;
} shared_file;

static uint64_t identity_of(int descriptor) {
  struct stat s;
  if (descriptor < 0 || fstat(descriptor, &s) != 0)
    return 0;
  const uint64_t parts[] = {s.st_dev, s.st_ino, (uint64_t)s.st_ctim.tv_nsec};
  return hash_bytes(parts, sizeof parts);
}

static bool finds(const shared_file *f) {
  int descriptor = open(f->path, O_WRONLY | O_CLOEXEC);
  bool same = descriptor >= 0 && identity_of(descriptor) == f->identity;
  if (descriptor >= 0)
    close(descriptor);
  return same;
}

// Rank 0's file o; NULL: it is not to be shared.
static bool share_file(transport *t, output_file *o, shared_file *f, error *failure) {
  int descriptor = o ? output_descriptor(o) : -1;
  *f = (shared_file){.identity = identity_of(descriptor)};
  if (o)
    snprintf(f->path, sizeof f->path, "/proc/%ld/fd/%d", (long)getpid(), descriptor);
  if (!transport_share(t, f, sizeof *f, failure))
    return false;
  bool own = finds(f), alike = true;
  if (*f->path && !rank_compare(t, own, &alike, failure))
    return false;
  if (!*f->path || (own && alike))
    return true;
  const char *name = o ? output_temporary(o) : NULL;
  snprintf(f->path, sizeof f->path, "%s", name ? name : "");
  return transport_share(t, f, sizeof *f, failure);
}

static outcome write_part(transport *t, const char *path, const char *temporary,
                          const permc_value *v) {
  extent own;
  error why = {0};
  outcome made = {""};
  const void **data = calloc(v->count, sizeof *data);
  if (!data)
    return (outcome){"out of memory"};
  bool good = find_extent(t, v, &own) ||
              error_set(&why, SPAN_NONE, "its components are not shared alike among the ranks");
  for (size_t i = 0; good && i < v->count; i++) {
    const array *a = &v->components[i];
    const array_part *part = part_of(a);
    data[i] = part ? part->data : (const char *)a->data + own.first * scalar_types[a->type].size;
  }
  good = good && npy_write_part(temporary, v, own.first, own.count, data, &why);
  free(data);
  const char *cause = why.message;
  size_t length = strlen(temporary);
  if (strncmp(cause, temporary, length) == 0 && strncmp(cause + length, ": ", 2) == 0)
    cause += length + 2;  // the file is known by the name that it is to get
  if (!good)
    snprintf(made.cause, sizeof made.cause, "%.200s: %.300s", path, cause);
  return made;
}

// Rank 0 makes the file, all write.
static bool write_together(transport *t, const char *path, output_file *o, const char *temporary,
                           const permc_value *v, error *failure) {
  outcome made = write_part(t, path, temporary, v);
  bool good = all_have_written(t, &made, failure);
  error why = {0};
  if (o && good && !output_close(o, &why))
    good = transport_fail(t, why.message, failure);
  return good && transport_barrier(t, failure);
}

static bool write_alone(transport *t, output_file *o, value_format format, permc_value *v,
                        error *failure) {
  error why = {0};
  bool good = value_write(output_stream(o), format, v, &why) || ferror(output_stream(o));
  return (good && output_close(o, &why)) || transport_fail(t, why.message, failure);
}

// Folders may have other names on other hosts.
static const char *name_in_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool ranks_commit(rank_world *r, output_file **made, size_t count, error *failure) {
  transport *t = ranks_transport(r);
  error why = {0};
  world_begin_turn(r);
  bool good = outputs_commit(made, count, &why);
  good = good ? transport_barrier(t, failure) : transport_fail(t, why.message, failure);
  world_end_turn(r);
  return good;
}

static bool write_value(transport *t, const char *path, value_format format, permc_value *v,
                        output_file **made, error *failure) {
  shared_file shared;
  error why = {0};
  rank_step step = {.step = "writing a file", .file = name_in_folder(path)};
  *failure = (error){0};
  if (!rank_agree(t, &step, failure))
    return false;
  output_file *o = *made = t->rank ? NULL : output_open(path, &why);
  if (!t->rank && !o)
    return transport_fail(t, why.message, failure);
  bool together = o && output_descriptor(o) >= 0 && format == FORMAT_NPY && parts_are_alike(t, v);
  bool good = share_file(t, together ? o : NULL, &shared, failure);
  if (good && *shared.path)
    return write_together(t, path, o, shared.path, v, failure);
  return good && gather_value(t, v, failure) &&
         (t->rank || write_alone(t, o, format, v, failure)) && transport_barrier(t, failure);
}

bool ranks_write(rank_world *r, const char *path, value_format format, permc_value *v,
                 output_file **made, error *failure) {
  world_begin_turn(r);
  bool good = write_value(ranks_transport(r), path, format, v, made, failure);
  world_end_turn(r);
  return good;
}
