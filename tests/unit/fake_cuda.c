// The calls of a driver of CUDA that needs no GPU. See fake_cuda.h.
#include "tests/unit/fake_cuda_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Exported, with the types that permc believes them to have.
#define EXPORT __attribute__((visibility("default")))
#define PROTOTYPE(name, symbol, parameters) EXPORT cuda_status symbol parameters;
CUDA_CALLS(PROTOTYPE)
CUDA_LATER_CALLS(PROTOTYPE)
CUDA_SHARE_CALLS(PROTOTYPE)

enum { SHARED_OPTIN = 232448, MULTIPROCESSORS = 132 };

// ---- errors and devices ------------------------------------------------------------------------

static const struct error_row {
  cuda_status status;
  const char *name, *text;
} errors[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_STATUS_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_STATUS_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_STATUS_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
};

static const struct error_row *error_of(cuda_status status) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].status == status)
      return &errors[i];
  return NULL;
}

cuda_status cuGetErrorName(cuda_status status, const char **name) {
  const struct error_row *row = error_of(status);
  *name = row ? row->name : NULL;
  return row ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuGetErrorString(cuda_status status, const char **text) {
  const struct error_row *row = error_of(status);
  *text = row ? row->text : NULL;
  return row ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuDriverGetVersion(int *version) {
  BEGIN(NOTHING);
  *version = fake_now.driver;
  return CUDA_STATUS_GOOD;
}

cuda_status cuInit(unsigned flags) {
  BEGIN(NOTHING);
  fake_started = fake_now.devices > 0 && flags == 0;
  return fake_started ? CUDA_STATUS_GOOD : CUDA_STATUS_NO_DEVICE;
}

cuda_status cuDeviceGetCount(int *count) {
  BEGIN(DRIVER);
  *count = fake_now.devices;
  return CUDA_STATUS_GOOD;
}

cuda_status cuDeviceGet(cuda_ordinal *device, int ordinal) {
  BEGIN(DRIVER);
  if (ordinal < 0 || ordinal >= fake_now.devices)
    return wrong(INVALID_DEVICE, "cuDeviceGet %d", ordinal);
  *device = 7 + ordinal;  // unlike ordinals, so that the two are not mixed up
  return CUDA_STATUS_GOOD;
}

static cuda_status check_device(cuda_ordinal device, const char *symbol) {
  return device >= 7 && device < 7 + fake_now.devices
             ? CUDA_STATUS_GOOD
             : wrong(INVALID_DEVICE, "%s of device %d", symbol, device);
}

cuda_status cuDeviceGetName(char *name, int size, cuda_ordinal device) {
  BEGIN(DRIVER);
  snprintf(name, (size_t)size, "Fake GPU");
  return check_device(device, __func__);
}

cuda_status cuDeviceGetUuid_v2(unsigned char uuid[16], cuda_ordinal device) {
  BEGIN(DRIVER);
  memset(uuid, fake_now.same ? 0 : device, 16);
  return check_device(device, __func__);
}

cuda_status cuDeviceTotalMem_v2(size_t *bytes, cuda_ordinal device) {
  BEGIN(DRIVER);
  *bytes = (size_t)fake_now.memory << 20;
  return check_device(device, __func__);
}

cuda_status cuDeviceGetAttribute(int *value, int attribute, cuda_ordinal device) {
  const int known[][2] = {
      {CUDA_MULTIPROCESSORS, MULTIPROCESSORS},
      {CUDA_THREADS_PER_MULTIPROCESSOR, 2048},
      {CUDA_CAPABILITY_MAJOR, fake_now.capability / 10},
      {CUDA_CAPABILITY_MINOR, fake_now.capability % 10},
      {CUDA_SHARED_PER_BLOCK_OPTIN, SHARED_OPTIN},
      {CUDA_CAN_MAP, !fake_now.apart},
  };
  BEGIN(DRIVER);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i][0] == attribute) {
      *value = known[i][1];
      return check_device(device, __func__);
    }
  return wrong(INVALID_VALUE, "attribute %d", attribute);
}

// ---- contexts ----------------------------------------------------------------------------------

static object *context_of(cuda_ordinal device) {
  object *o = fake_objects;
  while (o && (o->kind != CONTEXT || o->device != device))
    o = o->next;
  return o;
}

cuda_status cuDevicePrimaryCtxRetain(cuda_context **context, cuda_ordinal device) {
  BEGIN(DRIVER);
  object *o = context_of(device);
  if (!o)
    o = new_object(CONTEXT);
  o->device = device;
  o->users++;
  *context = (cuda_context *)o;
  return check_device(device, __func__);
}

cuda_status cuDevicePrimaryCtxRelease_v2(cuda_ordinal device) {
  LOCKED;
  cuda_status status = begin_call(__func__, DRIVER);
  object *o = context_of(device);
  if (!o)
    return wrong(INVALID_CONTEXT, "a context is released that is not retained");
  if (--o->users == 0)
    remove_object(o);
  o = fake_objects;
  while (o && o->kind != CONTEXT)
    o = o->next;
  if (!o)
    forget_all();
  return status;
}

cuda_status cuCtxPushCurrent_v2(cuda_context *context) {
  BEGIN(DRIVER);
  NEEDS(context, CONTEXT);
  if (fake_depth == sizeof fake_current / sizeof *fake_current)
    return wrong(INVALID_CONTEXT, "contexts are not popped");
  fake_current[fake_depth++] = (object *)context;
  return CUDA_STATUS_GOOD;
}

cuda_status cuCtxPopCurrent_v2(cuda_context **context) {
  LOCKED;
  cuda_status status = begin_call(__func__, DRIVER);
  if (fake_depth == 0)
    return wrong(INVALID_CONTEXT, "no context to pop");
  *context = (cuda_context *)fake_current[--fake_depth];
  return status;
}

// ---- memory ------------------------------------------------------------------------------------

// Of the current device; slabs are counted for all of them.
static size_t used_bytes(void) {
  size_t sum = 0;
  const object *own = fake_depth ? fake_current[fake_depth - 1] : NULL;
  for (const object *o = fake_objects; o; o = o->next)
    sum += (o->kind == MEMORY && o->context == own) || o->kind == SLAB ? o->bytes : 0;
  return sum;
}

cuda_status cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes) {
  BEGIN(CURRENT);
  *free_bytes = *all_bytes = (size_t)fake_now.memory << 20;
  *free_bytes -= used_bytes();
  return CUDA_STATUS_GOOD;
}

static object *new_memory(kind k, size_t bytes) {
  object *o = new_object(k);
  o->data = aligned_alloc(256, (bytes + 255) / 256 * 256);
  o->bytes = bytes;
  if (!o->data)
    abort();
  return o;
}

cuda_status cuMemAlloc_v2(cuda_address *address, size_t bytes) {
  BEGIN(CURRENT);
  size_t left = ((size_t)fake_now.memory << 20) - used_bytes();
  if (bytes == 0)
    return wrong(INVALID_VALUE, "cuMemAlloc_v2 of no bytes");
  if (fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "cuMemAlloc_v2 while launches are recorded");
  if (bytes > left)
    return CUDA_STATUS_OUT_OF_MEMORY;
  *address = (uintptr_t)new_memory(MEMORY, bytes)->data;
  return CUDA_STATUS_GOOD;
}

static object *memory_at(kind k, const void *data, const char *symbol) {
  object *o = fake_objects;  // (one that ends where another begins holds that place, too)
  while (o && (o->kind != k || o->data != data))
    o = o->next;
  if (!o)
    wrong(INVALID_VALUE, "%s of what is not allocated", symbol);
  return o;
}

static cuda_status free_memory(kind k, const void *data, const char *symbol) {
  do_all(NULL);
  object *o = memory_at(k, data, symbol);
  if (!o)
    return INVALID_VALUE;
  remove_object(o);
  return CUDA_STATUS_GOOD;
}

cuda_status cuMemFree_v2(cuda_address address) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  cuda_status freed = free_memory(MEMORY, (void *)(uintptr_t)address, __func__);
  return status ? status : freed;
}

cuda_status cuMemAllocAsync(cuda_address *address, size_t bytes, cuda_stream *stream) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  *address = (uintptr_t)new_memory(MEMORY, bytes)->data;
  return CUDA_STATUS_GOOD;
}

cuda_status cuMemFreeAsync(cuda_address address, cuda_stream *stream) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  NEEDS(stream, STREAM);
  object *o = memory_at(MEMORY, (void *)(uintptr_t)address, __func__);
  if (!o)
    return INVALID_VALUE;
  o->kind = FREED;
  do_later(stream, &(op){.freed = o});
  return status;
}

cuda_status cuCtxSynchronize(void) {
  BEGIN(CURRENT);
  do_all(NULL);
  return CUDA_STATUS_GOOD;
}

cuda_status cuMemHostAlloc(void **data, size_t bytes, unsigned flags) {
  BEGIN(CURRENT);
  *data = new_memory(HOST, bytes)->data;
  return flags == 0 ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuMemFreeHost(void *data) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  cuda_status freed = free_memory(HOST, data, __func__);
  return status ? status : freed;
}

static unsigned bit_of(cuda_ordinal device) { return 1U << (device - 7); }

static cuda_status check_copy(const void *device, size_t bytes, cuda_stream *stream,
                              const char *symbol) {
  const object *memory = holds(MEMORY, device, bytes), *range = holds(RANGE, device, bytes);
  const object *current = fake_current[fake_depth - 1];
  if (range && bytes && range->access & bit_of(current->device))
    return check_handle(stream, STREAM, symbol);
  if (!memory || bytes == 0)
    return wrong(INVALID_VALUE, "%s of %zu bytes is not inside of an allocation", symbol, bytes);
  if (memory->context != current && !(current->access & bit_of(memory->context->device)))
    return wrong(INVALID_CONTEXT, "%s of the memory of another device", symbol);
  return check_handle(stream, STREAM, symbol);
}

// From memory that the driver did not allocate, it is copied before the call returns.
cuda_status cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t bytes,
                                 cuda_stream *stream) {
  void *target = (void *)(uintptr_t)to;
  op o = {.to = target, .from = from, .bytes = bytes};
  BEGIN(CURRENT);
  if (check_copy(target, bytes, stream, __func__))
    return INVALID_VALUE;
  if (fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "an upload is recorded");
  if (!holds(HOST, from, bytes)) {
    if (!(o.own = malloc(bytes)))
      abort();
    memcpy(o.own, from, bytes);
  }
  return do_later(stream, &o);
}

cuda_status cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t bytes, cuda_stream *stream) {
  const void *source = (const void *)(uintptr_t)from;
  op o = {.to = to, .from = source, .bytes = bytes};
  BEGIN(CURRENT);
  if (check_copy(source, bytes, stream, __func__))
    return INVALID_VALUE;
  if (fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "a download is recorded");
  do_later(stream, &o);
  return holds(HOST, to, bytes) ? CUDA_STATUS_GOOD : do_all(NULL);
}

cuda_status cuMemcpyDtoDAsync_v2(cuda_address to, cuda_address from, size_t bytes,
                                 cuda_stream *stream) {
  op o = {.to = (void *)(uintptr_t)to, .from = (const void *)(uintptr_t)from, .bytes = bytes};
  BEGIN(CURRENT);
  if (check_copy(o.to, bytes, stream, __func__) || check_copy(o.from, bytes, stream, __func__))
    return INVALID_VALUE;
  return do_later(stream, &o);
}

cuda_status cuMemsetD8Async(cuda_address address, unsigned char byte, size_t count,
                            cuda_stream *stream) {
  op o = {.to = (void *)(uintptr_t)address, .bytes = count};
  BEGIN(CURRENT);
  if (check_copy(o.to, count, stream, __func__))
    return INVALID_VALUE;
  if (!(o.own = malloc(count)))
    abort();
  memset(o.own, byte, count);
  return do_later(stream, &o);
}

cuda_status cuCtxEnablePeerAccess(cuda_context *peer, unsigned flags) {
  BEGIN(CURRENT);
  NEEDS(peer, CONTEXT);
  object *current = fake_current[fake_depth - 1];
  unsigned bit = bit_of(((object *)peer)->device);
  if (flags || (object *)peer == current)
    return wrong(INVALID_VALUE, "a context is to reach itself");
  if (!fake_now.reach)
    return INVALID_VALUE;
  if (current->access & bit)
    return CUDA_STATUS_ACCESS_ENABLED;
  current->access |= bit;
  return CUDA_STATUS_GOOD;
}

// ---- memory of several devices at one range of addresses -----------------------------------------

cuda_status cuDeviceCanAccessPeer(int *can, cuda_ordinal device, cuda_ordinal peer) {
  BEGIN(DRIVER);
  *can = fake_now.reach;
  return device == peer ? wrong(INVALID_DEVICE, "a device as its own peer")
                        : check_device(peer, __func__);
}

enum { GRANULARITY = 1 << 21 };

static bool is_slab_kind(const cuda_slab_kind *k) {
  return k->type == CUDA_MEMORY_PINNED && k->location.type == CUDA_LOCATION_DEVICE && !k->handles &&
         check_device(k->location.device, "cuMemCreate") == CUDA_STATUS_GOOD;
}

cuda_status cuMemGetAllocationGranularity(size_t *bytes, const cuda_slab_kind *k, int recommended) {
  BEGIN(DRIVER);
  *bytes = GRANULARITY;
  return recommended <= 1 && is_slab_kind(k) ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuMemCreate(cuda_slab *slab, size_t bytes, const cuda_slab_kind *k,
                        unsigned long long flags) {
  BEGIN(CURRENT);
  if (!bytes || bytes % GRANULARITY || !is_slab_kind(k) || flags)
    return wrong(INVALID_VALUE, "cuMemCreate of %zu bytes", bytes);
  if (bytes > ((size_t)fake_now.memory << 20) - used_bytes())
    return CUDA_STATUS_OUT_OF_MEMORY;
  object *o = new_object(SLAB);
  *o = (object){.next = o->next, .kind = SLAB, .bytes = bytes, .users = 1};
  o->device = k->location.device;
  *slab = (uintptr_t)o;
  return CUDA_STATUS_GOOD;
}

// A slab lives as long as its handle, or it is mapped.
static void drop_slab(object *o) {
  if (--o->users == 0)
    remove_object(o);
}

cuda_status cuMemRelease(cuda_slab slab) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  object *o = lives((void *)(uintptr_t)slab, SLAB);
  if (!o)
    return wrong(INVALID_VALUE, "cuMemRelease of what does not live");
  drop_slab(o);
  return status;
}

cuda_status cuMemAddressReserve(cuda_address *address, size_t bytes, size_t alignment,
                                cuda_address wanted, unsigned long long flags) {
  BEGIN(CURRENT);
  if (!bytes || bytes % GRANULARITY || alignment || wanted || flags)
    return wrong(INVALID_VALUE, "cuMemAddressReserve of %zu bytes", bytes);
  unsigned char *data = aligned_alloc(GRANULARITY, bytes);
  if (!data)
    return CUDA_STATUS_OUT_OF_MEMORY;
  object *o = new_object(RANGE);
  *o = (object){.next = o->next, .kind = RANGE, .data = data, .bytes = bytes};
  *address = (uintptr_t)o->data;
  return CUDA_STATUS_GOOD;
}

cuda_status cuMemMap(cuda_address address, size_t bytes, size_t offset, cuda_slab slab,
                     unsigned long long flags) {
  BEGIN(CURRENT);
  object *o = lives((void *)(uintptr_t)slab, SLAB);
  object *range = holds(RANGE, (void *)(uintptr_t)address, bytes);
  if (!o || !range || o->range || bytes != o->bytes || offset || flags)
    return wrong(INVALID_VALUE, "cuMemMap of %zu bytes", bytes);
  o->range = range;
  o->mapped = 1 + address - (uintptr_t)range->data;
  o->users++;
  range->mapped += bytes;
  return CUDA_STATUS_GOOD;
}

cuda_status cuMemUnmap(cuda_address address, size_t bytes) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  object *range = holds(RANGE, (void *)(uintptr_t)address, bytes), *o = fake_objects;
  do_all(NULL);
  while (o && !(o->kind == SLAB && o->range && o->range == range && o->bytes == bytes &&
                o->mapped == 1 + address - (uintptr_t)range->data))
    o = o->next;
  if (!o)
    return wrong(INVALID_VALUE, "cuMemUnmap of what is not mapped");
  range->mapped -= bytes;
  range->access = 0;
  o->range = NULL;
  drop_slab(o);
  return status;
}

cuda_status cuMemAddressFree(cuda_address address, size_t bytes) {
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  object *range = holds(RANGE, (void *)(uintptr_t)address, bytes);
  if (!range || range->bytes != bytes || range->mapped)
    return wrong(INVALID_VALUE, "cuMemAddressFree of %zu bytes", bytes);
  remove_object(range);
  return status;
}

cuda_status cuMemSetAccess(cuda_address address, size_t bytes, const cuda_access *who,
                           size_t count) {
  BEGIN(CURRENT);
  object *range = holds(RANGE, (void *)(uintptr_t)address, bytes);
  if (!range || range->bytes != bytes || range->mapped != bytes)
    return wrong(INVALID_VALUE, "cuMemSetAccess of what is not mapped");
  for (size_t i = 0; i < count; i++) {
    unsigned bit = bit_of(who[i].location.device);
    if (who[i].flags != CUDA_READ_WRITE || range->access & bit)
      return wrong(INVALID_VALUE, "cuMemSetAccess for device %d", who[i].location.device);
    range->access |= bit;
  }
  return CUDA_STATUS_GOOD;
}

// ---- streams and events ------------------------------------------------------------------------

cuda_status cuStreamCreate(cuda_stream **stream, unsigned flags) {
  BEGIN(CURRENT);
  *stream = (cuda_stream *)new_object(STREAM);
  return flags <= 1 ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

static cuda_status destroy(void *handle, kind k, const char *symbol) {
  LOCKED;
  cuda_status status = begin_call(symbol, CURRENT);
  object *o = lives(handle, k);
  if (!o)
    return wrong(INVALID_HANDLE, "%s of what does not live", symbol);
  free_ops(&o->ops);
  remove_object(o);
  return status;
}

// Shares of the multiprocessors: one of at least so many, and the rest.
enum { UNIT = 8 };

cuda_status cuDeviceGetDevResource(cuda_ordinal device, cuda_resource *resource, int type) {
  BEGIN(DRIVER);
  if (check_device(device, __func__))
    return INVALID_DEVICE;
  *resource = (cuda_resource){.type = type};
  resource->of.multiprocessors.count = MULTIPROCESSORS;
  resource->of.multiprocessors.unit = UNIT;
  return type == CUDA_RESOURCE_MULTIPROCESSORS ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuDevSmResourceSplitByCount(cuda_resource *groups, unsigned *group_count,
                                        const cuda_resource *of, cuda_resource *rest,
                                        unsigned flags, unsigned least) {
  BEGIN(DRIVER);
  unsigned all = of->of.multiprocessors.count, some = (least + UNIT - 1) / UNIT * UNIT;
  if (*group_count != 1 || flags || some > all || of->type != CUDA_RESOURCE_MULTIPROCESSORS)
    return wrong(INVALID_VALUE, "a share of %u multiprocessors", least);
  *groups = *rest = *of;
  groups->of.multiprocessors.count = some;
  rest->of.multiprocessors.count = all - some;
  return CUDA_STATUS_GOOD;
}

cuda_status cuDevResourceGenerateDesc(cuda_share_plan **plan, cuda_resource *resources,
                                      unsigned count) {
  BEGIN(DRIVER);
  *plan = (cuda_share_plan *)(void *)resources;  // it is used at once
  return count == 1 && resources->of.multiprocessors.count ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuGreenCtxCreate(cuda_share **share, cuda_share_plan *plan, cuda_ordinal device,
                             unsigned flags) {
  BEGIN(CURRENT);
  if (check_device(device, __func__))
    return INVALID_DEVICE;
  *share = (cuda_share *)new_object(SHARE);
  return plan && flags == CUDA_SHARE_DEFAULT_STREAM ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuGreenCtxDestroy(cuda_share *share) { return destroy(share, SHARE, __func__); }

cuda_status cuGreenCtxStreamCreate(cuda_stream **stream, cuda_share *share, unsigned flags,
                                   int priority) {
  BEGIN(CURRENT);
  NEEDS(share, SHARE);
  *stream = (cuda_stream *)new_object(STREAM);
  return flags == CUDA_STREAM_NON_BLOCKING && !priority ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuStreamDestroy_v2(cuda_stream *stream) {
  LOCKED;
  do_all(NULL);
  return destroy(stream, STREAM, __func__);
}

cuda_status cuStreamQuery(cuda_stream *stream) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  if (fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "a query while launches are recorded");
  if (fake_now.busy > 0 || ((object *)stream)->held)
    return fake_now.busy -= fake_now.busy > 0, CUDA_STATUS_NOT_READY;
  return do_all(NULL);
}

cuda_status cuStreamIsCapturing(cuda_stream *stream, int *status) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  *status = fake_captured != NULL;
  return CUDA_STATUS_GOOD;
}

cuda_status cuStreamSynchronize(cuda_stream *stream) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  if (fake_captured)
    return wrong(CAPTURE_UNSUPPORTED, "waiting while launches are recorded");
  return do_all(NULL);
}

cuda_status cuEventCreate(cuda_event **event, unsigned flags) {
  BEGIN(CURRENT);
  *event = (cuda_event *)new_object(EVENT);
  return flags <= 3 ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuEventDestroy_v2(cuda_event *event) { return destroy(event, EVENT, __func__); }

cuda_status cuEventRecord(cuda_event *event, cuda_stream *stream) {
  BEGIN(CURRENT);
  NEEDS(event, EVENT);
  NEEDS(stream, STREAM);
  return do_later(stream, &(op){.event = (object *)event});
}

// Work is done in the order in which it is asked for, so that nothing is to be waited for.
cuda_status cuStreamWaitEvent(cuda_stream *stream, cuda_event *event, unsigned flags) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  if (flags || !lives(event, EVENT))
    return wrong(INVALID_HANDLE, "a wait for what is no event");
  return CUDA_STATUS_GOOD;
}

cuda_status cuEventSynchronize(cuda_event *event) {
  BEGIN(CURRENT);
  NEEDS(event, EVENT);
  cuda_status status = CUDA_STATUS_GOOD;
  while (is_to_be_done((object *)event) && status == CUDA_STATUS_GOOD)
    status = do_all((object *)event);
  return status;
}

cuda_status cuEventElapsedTime(float *milliseconds, cuda_event *first, cuda_event *last) {
  BEGIN(CURRENT);
  NEEDS(first, EVENT);
  NEEDS(last, EVENT);
  const object *a = (object *)first, *b = (object *)last;
  if (!a->recorded || !b->recorded)
    return wrong(INVALID_HANDLE, "the time of what was not recorded");
  *milliseconds = b->milliseconds - a->milliseconds;
  return is_to_be_done(b) ? CUDA_STATUS_NOT_READY : CUDA_STATUS_GOOD;
}

// ---- modules and launches ----------------------------------------------------------------------

cuda_status cuModuleLoadData(cuda_module **module, const void *image) {
  BEGIN(CURRENT);
  const char *path = image;
  bool is_library = strncmp(path, FAKE_CUDA_LIBRARY, strlen(FAKE_CUDA_LIBRARY)) == 0;
  path += is_library ? strlen(FAKE_CUDA_LIBRARY) : 0;
  void *library = is_library ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library && strncmp(image, FAKE_CUDA_MODULE, strlen(FAKE_CUDA_MODULE)) != 0)
    return INVALID_IMAGE;
  object *o = new_object(MODULE);
  o->library = library;
  *module = (cuda_module *)o;
  return CUDA_STATUS_GOOD;
}

cuda_status cuModuleUnload(cuda_module *module) {
  LOCKED;
  do_all(NULL);
  for (object *o = fake_objects, *next; o; o = next) {
    next = o->next;
    if (o->kind == FUNCTION && o->module == (object *)module)
      remove_object(o);
  }
  return destroy(module, MODULE, __func__);
}

// The function fake_NAME of a library, and how many parameters it has.
static bool find_code(void *library, const char *name, definition *out) {
  char symbol[100];
  snprintf(symbol, sizeof symbol, "fake_%s", name);
  void *code = dlsym(library, symbol);
  snprintf(symbol, sizeof symbol, "fake_%s_parameters", name);
  const unsigned *count = dlsym(library, symbol);
  if (!code || !count || *count > FAKE_CUDA_PARAMETERS)
    return false;
  snprintf(out->name, sizeof out->name, "%s", name);
  out->parameter_count = *count;
  memcpy(&out->code, &code, sizeof code);
  return true;
}

cuda_status cuModuleGetFunction(cuda_function **function, cuda_module *module, const char *name) {
  BEGIN(CURRENT);
  NEEDS(module, MODULE);
  definition own = {.parameter_count = 0};
  void *library = ((object *)module)->library;
  bool is_there = library ? find_code(library, name, &own) : definition_of(name) != NULL;
  if (!is_there)
    return NOT_FOUND;
  object *o = new_object(FUNCTION);
  o->own = own;
  o->is = library ? &o->own : definition_of(name);
  o->module = (object *)module;
  o->dynamic_shared = 49152;
  *function = (cuda_function *)o;
  return CUDA_STATUS_GOOD;
}

cuda_status cuFuncGetAttribute(int *value, int attribute, cuda_function *function) {
  BEGIN(CURRENT);
  NEEDS(function, FUNCTION);
  *value = attribute == CUDA_FUNCTION_STATIC_SHARED ? 16 : 0;
  return CUDA_STATUS_GOOD;
}

cuda_status cuFuncSetAttribute(cuda_function *function, int attribute, int value) {
  BEGIN(CURRENT);
  NEEDS(function, FUNCTION);
  if (attribute != CUDA_FUNCTION_MOST_DYNAMIC_SHARED || value < 0 || value > SHARED_OPTIN)
    return wrong(INVALID_VALUE, "attribute %d is set to %d", attribute, value);
  ((object *)function)->dynamic_shared = value;
  return CUDA_STATUS_GOOD;
}

static cuda_status make_launch(const cuda_launch_config *c, cuda_function *function,
                               void **parameters, void **extra, op *made) {
  const object *f = (object *)function;
  unsigned x = c->blocks[0], y = c->blocks[1], z = c->blocks[2], threads = c->threads[0];
  op o = {.is = f->is, .launch = {f->is->name, {x, y, z}, threads, c->shared_bytes, {0}}};
  if (x == 0 || y == 0 || z == 0 || x > 2147483647 || y > 65535 || z > 65535 || threads == 0 ||
      threads > 1024 || c->threads[1] != 1 || c->threads[2] != 1 || extra)
    return INVALID_VALUE;
  for (unsigned i = 0; i < c->attribute_count; i++)
    if (c->attributes[i].id != CUDA_LAUNCH_OVERLAPPING || c->attributes[i].value.number != 1)
      return INVALID_VALUE;
  if (c->shared_bytes > (unsigned)f->dynamic_shared)
    return wrong(INVALID_VALUE, "%u bytes of shared memory were not allowed", c->shared_bytes);
  for (unsigned i = 0; i < f->is->parameter_count; i++)
    memcpy(&o.launch.parameters[i], parameters[i], sizeof o.launch.parameters[i]);
  *made = o;
  return CUDA_STATUS_GOOD;
}

cuda_status cuLaunchKernelEx(const cuda_launch_config *c, cuda_function *function,
                             void **parameters, void **extra) {
  op o;
  BEGIN(CURRENT);
  NEEDS(function, FUNCTION);
  NEEDS(c->stream, STREAM);
  cuda_status status = make_launch(c, function, parameters, extra, &o);
  return status ? status : do_later(c->stream, &o);
}

// ---- recordings --------------------------------------------------------------------------------

cuda_status cuStreamBeginCapture_v2(cuda_stream *stream, int mode) {
  BEGIN(CURRENT);
  NEEDS(stream, STREAM);
  if (fake_captured || mode < 0 || mode > 2)
    return wrong(INVALID_VALUE, "a recording inside of one");
  fake_captured = ((object *)stream)->captured = new_object(RECORDING);
  return CUDA_STATUS_GOOD;
}

cuda_status cuStreamEndCapture(cuda_stream *stream, cuda_recording **recording) {
  nanosleep(&(struct timespec){.tv_nsec = fake_now.slow * 1000000L}, NULL);
  LOCKED;
  cuda_status status = begin_call(__func__, CURRENT);
  NEEDS(stream, STREAM);
  if (!fake_captured)
    return wrong(INVALID_VALUE, "nothing is recorded");
  *recording = (cuda_recording *)fake_captured;
  fake_captured = ((object *)stream)->captured = NULL;
  return status;
}

cuda_status cuGraphInstantiateWithFlags(cuda_graph **graph, cuda_recording *recording,
                                        unsigned long long flags) {
  BEGIN(CURRENT);
  NEEDS(recording, RECORDING);
  object *g = new_object(GRAPH);
  copy_ops(&g->ops, ((object *)recording)->ops, NULL, NULL);
  for (op *o = ((object *)recording)->ops; o; o = o->next)
    o->freed = NULL;  // with the graph
  *graph = (cuda_graph *)g;
  return flags == 0 ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuGraphDestroy(cuda_recording *recording) {
  return destroy(recording, RECORDING, __func__);
}

cuda_status cuGraphLaunch(cuda_graph *graph, cuda_stream *stream) {
  BEGIN(CURRENT);
  NEEDS(graph, GRAPH);
  NEEDS(stream, STREAM);
  copy_ops(fake_captured ? &fake_captured->ops : &fake_queue, ((object *)graph)->ops,
           (object *)stream, (object *)graph);
  return CUDA_STATUS_GOOD;
}

// A node is its number, from 1.
static cuda_status make_node(const cuda_node_parameters *p, op *o) {
  if (p->type == CUDA_NODE_KERNEL) {
    NEEDS(p->of.kernel.function, FUNCTION);
    cuda_launch_config c = {.shared_bytes = p->of.kernel.shared_bytes};
    memcpy(c.blocks, p->of.kernel.blocks, sizeof c.blocks);
    memcpy(c.threads, p->of.kernel.threads, sizeof c.threads);
    return make_launch(&c, p->of.kernel.function, p->of.kernel.parameters, p->of.kernel.extra, o);
  }
  void *to = (void *)(uintptr_t)p->of.memset.to;
  size_t bytes = p->of.memset.width;
  if (p->type != CUDA_NODE_MEMSET || p->of.memset.element_bytes != 1 || p->of.memset.height != 1 ||
      p->of.memset.value || !holds(MEMORY, to, bytes))
    return wrong(INVALID_VALUE, "a node of %zu bytes that are cleared", bytes);
  *o = (op){.to = to, .bytes = bytes, .own = calloc(1, bytes)};
  return CUDA_STATUS_GOOD;
}

cuda_status cuGraphCreate(cuda_recording **graph, unsigned flags) {
  BEGIN(CURRENT);
  *graph = (cuda_recording *)new_object(RECORDING);
  return flags == 0 ? CUDA_STATUS_GOOD : INVALID_VALUE;
}

cuda_status cuGraphAddNode_v2(cuda_node **node, cuda_recording *graph, cuda_node *const *after,
                              const cuda_edge *edges, size_t count,
                              cuda_node_parameters *parameters) {
  op o;
  uintptr_t number = 1;
  BEGIN(CURRENT);
  NEEDS(graph, RECORDING);
  const op *last = NULL;
  for (const op *before = ((object *)graph)->ops; before; before = before->next, number++)
    last = before;
  if (count != (number > 1) || (count && (uintptr_t)*after != number - 1) ||
      (count && edges->type && !last->is))
    return wrong(INVALID_VALUE, "node %zu is not behind the one before", (size_t)number);
  cuda_status status = make_node(parameters, &o);
  if (status == CUDA_STATUS_GOOD)
    append_op(&((object *)graph)->ops, &o);
  *node = (cuda_node *)number;
  return status;
}

cuda_status cuGraphExecNodeSetParams(cuda_graph *graph, cuda_node *node,
                                     cuda_node_parameters *parameters) {
  op o;
  BEGIN(CURRENT);
  NEEDS(graph, GRAPH);
  op *at = ((object *)graph)->ops;
  for (uintptr_t i = 1; at && i < (uintptr_t)node; i++)
    at = at->next;
  cuda_status status = at ? make_node(parameters, &o) : INVALID_HANDLE;
  if (status)
    return status;
  if (o.is != at->is)
    return wrong(INVALID_VALUE, "a node becomes another");
  free(at->own);
  o.next = at->next;
  *at = o;
  return CUDA_STATUS_GOOD;
}

cuda_status cuGraphExecDestroy(cuda_graph *graph) { return destroy(graph, GRAPH, __func__); }
