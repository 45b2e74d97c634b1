// The driver API of CUDA, loaded when it is first used: permc is built without CUDA, and runs where
// there is none. Private to runtime/cuda/, but for the types that cuda.h names.
//
//   char why[CUDA_WHY];
//   const cuda_driver *api = cuda_driver_find(why, sizeof why);      // NULL: why, a sentence
//   cuda_status status = api ? api->mem_alloc(&address, bytes) : 0;
//   if (api && status)
//     cuda_status_text(api, status, text, sizeof text);  // CUDA_ERROR_OUT_OF_MEMORY: out of memory
//
// The library is libcuda.so.1, which comes with NVIDIA's driver; the environment variable
// PERMC_CUDA_DRIVER names another file (the tests use a driver that needs no GPU, fake_cuda.c).
#ifndef PERMC_RUNTIME_CUDA_DRIVER_H
#define PERMC_RUNTIME_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

enum { CUDA_WHY = 512, CUDA_DRIVER_LEAST = 12000 };  // 1000 * major + 10 * minor, as CUDA counts

typedef int cuda_status;  // CUresult; those that are told apart:
enum {
  CUDA_STATUS_GOOD = 0,
  CUDA_STATUS_OUT_OF_MEMORY = 2,
  CUDA_STATUS_NOT_INITIALIZED = 3,  // of cuInit: this process was forked
  CUDA_STATUS_NO_DEVICE = 100,
  CUDA_STATUS_NOT_READY = 600,
  CUDA_STATUS_ACCESS_ENABLED = 704  // it was already
};

// What CUDA calls CUdevice, CUdeviceptr, CUcontext, CUstream, CUevent, CUmodule, CUfunction,
// CUgraph, CUgraphExec, CUgraphNode, CUgreenCtx and CUdevResourceDesc.
typedef int cuda_ordinal;
typedef uint64_t cuda_address;
typedef struct cuda_context cuda_context;
typedef struct cuda_stream cuda_stream;
typedef struct cuda_event cuda_event;
typedef struct cuda_module cuda_module;
typedef struct cuda_function cuda_function;
typedef struct cuda_recording cuda_recording;
typedef struct cuda_graph cuda_graph;
typedef struct cuda_node cuda_node;
typedef struct cuda_share cuda_share;  // a green context: a share of the multiprocessors
typedef struct cuda_share_plan cuda_share_plan;
typedef uint64_t cuda_slab;  // CUmemGenericAllocationHandle: physical memory, without an address

// CUDA's numbers of attributes of devices (CUdevice_attribute) and functions
// (CUfunction_attribute), and of options.
enum {
  CUDA_MULTIPROCESSORS = 16,
  CUDA_THREADS_PER_MULTIPROCESSOR = 39,
  CUDA_CAPABILITY_MAJOR = 75,
  CUDA_CAPABILITY_MINOR = 76,
  CUDA_SHARED_PER_BLOCK_OPTIN = 97,
  CUDA_CAN_MAP = 102,  // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED

  CUDA_FUNCTION_STATIC_SHARED = 1,
  CUDA_FUNCTION_MOST_DYNAMIC_SHARED = 8,

  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_NO_TIMING = 2,
  CUDA_CAPTURE_THREAD_LOCAL = 1,

  CUDA_LAUNCH_OVERLAPPING = 6  // PROGRAMMATIC_STREAM_SERIALIZATION; the value: int 1
};

// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc: memory of a device, without an address,
// and who may read and write a range of addresses.
enum { CUDA_MEMORY_PINNED = 1, CUDA_LOCATION_DEVICE = 1, CUDA_READ_WRITE = 3 };
typedef struct cuda_location {
  int type;
  cuda_ordinal device;
} cuda_location;

typedef struct cuda_slab_kind {
  int type, handles;
  cuda_location location;
  void *none;
  unsigned char flags[8];
} cuda_slab_kind;

typedef struct cuda_access {
  cuda_location location;
  int flags;
} cuda_access;

// CUlaunchAttribute and CUlaunchConfig: how a kernel is launched.
typedef struct cuda_launch_attribute {
  int id;
  union {
    int number;
    char bytes[64];
    uint64_t aligned;
  } value;
} cuda_launch_attribute;

typedef struct cuda_launch_config {
  unsigned blocks[3], threads[3], shared_bytes;
  cuda_stream *stream;
  cuda_launch_attribute *attributes;
  unsigned attribute_count;
} cuda_launch_config;

// What a graph's node does, as CUgraphNodeParams has it: a kernel, or bytes that are set.
enum { CUDA_NODE_KERNEL = 0, CUDA_NODE_MEMSET = 2 };
typedef struct cuda_node_parameters {
  int type, reserved[3];
  union {
    struct {
      cuda_function *function;
      unsigned blocks[3], threads[3], shared_bytes;
      void **parameters, **extra;
      void *kernel;
      cuda_context *context;
    } kernel;
    struct {
      cuda_address to;
      size_t pitch;
      unsigned value, element_bytes;
      size_t width, height;
      cuda_context *context;
    } memset;
    long long bytes[29];
  } of;
  long long end;
} cuda_node_parameters;

// CUgraphEdgeData. Port and type 1: the next kernel waits itself (CUDA_LAUNCH_OVERLAPPING).
typedef struct cuda_edge {
  unsigned char from_port, to_port, type, reserved[5];
} cuda_edge;

// CUdevResource: multiprocessors of a device, `count` of them, which are divided by `unit` at once.
enum { CUDA_RESOURCE_MULTIPROCESSORS = 1, CUDA_SHARE_DEFAULT_STREAM = 1 };
typedef struct cuda_resource {
  int type;
  unsigned char padding[92];
  union {
    struct {
      unsigned count, least, unit;
    } multiprocessors;
    unsigned char bytes[48];
  } of;
  unsigned char later[64];  // room for what later drivers may add
} cuda_resource;

// All functions that are called: name here, symbol (with the version of its parameters),
// parameters. Every driver for CUDA 12.0 or later has them.
#define CUDA_CALLS(CALL)                                                                           \
  CALL(driver_get_version, cuDriverGetVersion, (int *version))                                     \
  CALL(get_error_name, cuGetErrorName, (cuda_status status, const char **name))                    \
  CALL(get_error_string, cuGetErrorString, (cuda_status status, const char **text))                \
  CALL(init, cuInit, (unsigned flags))                                                             \
  CALL(device_get_count, cuDeviceGetCount, (int *count))                                           \
  CALL(device_get, cuDeviceGet, (cuda_ordinal * device, int ordinal))                              \
  CALL(device_get_name, cuDeviceGetName, (char *name, int size, cuda_ordinal device))              \
  CALL(device_get_attribute, cuDeviceGetAttribute,                                                 \
       (int *value, int attribute, cuda_ordinal device))                                           \
  CALL(device_get_uuid, cuDeviceGetUuid_v2, (unsigned char uuid[16], cuda_ordinal device))         \
  CALL(device_total_mem, cuDeviceTotalMem_v2, (size_t * bytes, cuda_ordinal device))               \
  CALL(primary_retain, cuDevicePrimaryCtxRetain, (cuda_context * *context, cuda_ordinal device))   \
  CALL(primary_release, cuDevicePrimaryCtxRelease_v2, (cuda_ordinal device))                       \
  CALL(push_current, cuCtxPushCurrent_v2, (cuda_context * context))                                \
  CALL(pop_current, cuCtxPopCurrent_v2, (cuda_context * *context))                                 \
  CALL(synchronize, cuCtxSynchronize, (void))                                                      \
  CALL(mem_get_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * all_bytes))                   \
  CALL(mem_alloc, cuMemAlloc_v2, (cuda_address * address, size_t bytes))                           \
  CALL(mem_free, cuMemFree_v2, (cuda_address address))                                             \
  CALL(memset_8, cuMemsetD8Async,                                                                  \
       (cuda_address address, unsigned char byte, size_t count, cuda_stream *stream))              \
  CALL(mem_alloc_async, cuMemAllocAsync,                                                           \
       (cuda_address * address, size_t bytes, cuda_stream * stream))                               \
  CALL(mem_free_async, cuMemFreeAsync, (cuda_address address, cuda_stream * stream))               \
  CALL(slab_granularity, cuMemGetAllocationGranularity,                                            \
       (size_t * bytes, const cuda_slab_kind *kind, int recommended))                              \
  CALL(slab_create, cuMemCreate,                                                                   \
       (cuda_slab * slab, size_t bytes, const cuda_slab_kind *kind, unsigned long long flags))     \
  CALL(slab_release, cuMemRelease, (cuda_slab slab))                                               \
  CALL(range_reserve, cuMemAddressReserve,                                                         \
       (cuda_address * address, size_t bytes, size_t alignment, cuda_address wanted,               \
        unsigned long long flags))                                                                 \
  CALL(range_free, cuMemAddressFree, (cuda_address address, size_t bytes))                         \
  CALL(range_map, cuMemMap,                                                                        \
       (cuda_address address, size_t bytes, size_t offset, cuda_slab slab,                         \
        unsigned long long flags))                                                                 \
  CALL(range_unmap, cuMemUnmap, (cuda_address address, size_t bytes))                              \
  CALL(range_allow, cuMemSetAccess,                                                                \
       (cuda_address address, size_t bytes, const cuda_access *who, size_t count))                 \
  CALL(can_access_peer, cuDeviceCanAccessPeer, (int *can, cuda_ordinal device, cuda_ordinal peer)) \
  CALL(host_alloc, cuMemHostAlloc, (void **data, size_t bytes, unsigned flags))                    \
  CALL(host_free, cuMemFreeHost, (void *data))                                                     \
  CALL(copy_to_device, cuMemcpyHtoDAsync_v2,                                                       \
       (cuda_address to, const void *from, size_t bytes, cuda_stream *stream))                     \
  CALL(copy_to_host, cuMemcpyDtoHAsync_v2,                                                         \
       (void *to, cuda_address from, size_t bytes, cuda_stream *stream))                           \
  CALL(copy_on_device, cuMemcpyDtoDAsync_v2,                                                       \
       (cuda_address to, cuda_address from, size_t bytes, cuda_stream * stream))                   \
  CALL(stream_create, cuStreamCreate, (cuda_stream * *stream, unsigned flags))                     \
  CALL(stream_destroy, cuStreamDestroy_v2, (cuda_stream * stream))                                 \
  CALL(stream_query, cuStreamQuery, (cuda_stream * stream))                                        \
  CALL(stream_synchronize, cuStreamSynchronize, (cuda_stream * stream))                            \
  CALL(stream_wait, cuStreamWaitEvent, (cuda_stream * stream, cuda_event * event, unsigned flags)) \
  CALL(begin_capture, cuStreamBeginCapture_v2, (cuda_stream * stream, int mode))                   \
  CALL(is_capturing, cuStreamIsCapturing, (cuda_stream * stream, int *status))                     \
  CALL(end_capture, cuStreamEndCapture, (cuda_stream * stream, cuda_recording * *recording))       \
  CALL(graph_instantiate, cuGraphInstantiateWithFlags,                                             \
       (cuda_graph * *graph, cuda_recording * recording, unsigned long long flags))                \
  CALL(graph_destroy, cuGraphDestroy, (cuda_recording * recording))                                \
  CALL(graph_launch, cuGraphLaunch, (cuda_graph * graph, cuda_stream * stream))                    \
  CALL(graph_exec_destroy, cuGraphExecDestroy, (cuda_graph * graph))                               \
  CALL(event_create, cuEventCreate, (cuda_event * *event, unsigned flags))                         \
  CALL(event_destroy, cuEventDestroy_v2, (cuda_event * event))                                     \
  CALL(event_record, cuEventRecord, (cuda_event * event, cuda_stream * stream))                    \
  CALL(event_synchronize, cuEventSynchronize, (cuda_event * event))                                \
  CALL(event_elapsed_time, cuEventElapsedTime,                                                     \
       (float *milliseconds, cuda_event *begin, cuda_event *end))                                  \
  CALL(module_load, cuModuleLoadData, (cuda_module * *module, const void *image))                  \
  CALL(module_unload, cuModuleUnload, (cuda_module * module))                                      \
  CALL(module_get_function, cuModuleGetFunction,                                                   \
       (cuda_function * *function, cuda_module * module, const char *name))                        \
  CALL(func_get_attribute, cuFuncGetAttribute,                                                     \
       (int *value, int attribute, cuda_function *function))                                       \
  CALL(func_set_attribute, cuFuncSetAttribute,                                                     \
       (cuda_function * function, int attribute, int value))                                       \
  CALL(launch_kernel, cuLaunchKernelEx,                                                            \
       (const cuda_launch_config *config, cuda_function *function, void **parameters,              \
        void **extra))

// Drivers for CUDA 12.3 or later have these as well; of others the last field is NULL.
#define CUDA_LATER_CALLS(CALL)                                                                     \
  CALL(graph_create, cuGraphCreate, (cuda_recording * *graph, unsigned flags))                     \
  CALL(graph_set_node, cuGraphExecNodeSetParams,                                                   \
       (cuda_graph * graph, cuda_node * node, cuda_node_parameters * parameters))                  \
  CALL(graph_add_node, cuGraphAddNode_v2,                                                          \
       (cuda_node * *node, cuda_recording * graph, cuda_node *const *after,                        \
        const cuda_edge *edges, size_t count, cuda_node_parameters *parameters))

// Drivers for CUDA 12.5 or later: shares of a device's multiprocessors, which CUDA calls green
// contexts.
#define CUDA_SHARE_CALLS(CALL)                                                                     \
  CALL(resource_of, cuDeviceGetDevResource,                                                        \
       (cuda_ordinal device, cuda_resource * resource, int type))                                  \
  CALL(resource_split, cuDevSmResourceSplitByCount,                                                \
       (cuda_resource * groups, unsigned *group_count, const cuda_resource *of,                    \
        cuda_resource *rest, unsigned flags, unsigned least))                                      \
  CALL(share_plan, cuDevResourceGenerateDesc,                                                      \
       (cuda_share_plan * *plan, cuda_resource * resources, unsigned count))                       \
  CALL(share_create, cuGreenCtxCreate,                                                             \
       (cuda_share * *share, cuda_share_plan * plan, cuda_ordinal device, unsigned flags))         \
  CALL(share_destroy, cuGreenCtxDestroy, (cuda_share * share))                                     \
  CALL(share_stream, cuGreenCtxStreamCreate,                                                       \
       (cuda_stream * *stream, cuda_share * share, unsigned flags, int priority))

typedef struct cuda_driver {
  int version;  // of CUDA that the driver is for, such as 12040: 12.4
#define CUDA_FIELD(name, symbol, parameters) cuda_status(*name) parameters;
  CUDA_CALLS(CUDA_FIELD)
  CUDA_LATER_CALLS(CUDA_FIELD)
  CUDA_SHARE_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
} cuda_driver;

// By field, what CUDA calls the function.
typedef struct cuda_symbols {
#define CUDA_FIELD(name, symbol, parameters) const char *name;
  CUDA_CALLS(CUDA_FIELD)
  CUDA_LATER_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
} cuda_symbols;
extern const cuda_symbols cuda_names;

// Loads the driver and initialises it, once for the process. NULL: there is none, it is too old,
// lacks a function, or does not start; `why` is a sentence without a full stop. Any thread may call
// it.
const cuda_driver *cuda_driver_find(char *why, size_t size);

// "CUDA_ERROR_NAME: what it means".
void cuda_status_text(const cuda_driver *api, cuda_status status, char *text, size_t size);

#endif
