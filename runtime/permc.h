// permc: a compiler and runtime for a combinator language over arrays. The public C API.
//
//   permc_context *c = permc_context_new();
//   uint32_t keys[4] = {3, 1, 2, 0};
//   uint64_t dims[1] = {4};
//   permc_value *in = permc_value_new("u32", 1, dims, keys), **outs = NULL;
//   size_t results = 0;
//   if (permc_load_text(c, "sort", "main : [2^n]a -> [2^n]a\nmain = sort\n", 36) &&
//       permc_run(c, "main", NULL, &in, 1, &outs, &results))
//     use(permc_value_data(outs[0], 0));          // 0 1 2 3
//   else
//     fputs(permc_message(c), stderr);            // file:line:column: error: ...
//   permc_values_free(outs, results);
//   permc_value_free(in);
//   permc_context_free(c);
//
// A context holds one program and the messages of the last call. The library never exits, aborts
// or prints. Contexts are independent of each other: one thread each at a time, any number of them.
// A compiled program (permc_compile) runs on the caller's own memory, in any number of threads at
// once (permc_call).
#ifndef PERMC_H
#define PERMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERMC_API __attribute__((visibility("default")))
#else
#define PERMC_API
#endif

typedef struct permc_context permc_context;

// What a call came to. The numbers stay as they are.
typedef enum permc_code {
  PERMC_OK = 0,
  PERMC_ERROR_PROGRAM = 1,  // the program, or what it does with these elements, is wrong
  PERMC_ERROR_ARGUMENT =
      2,                    // what the call was given: number, type, lengths of values; names; NULL
  PERMC_ERROR_LAYOUT = 3,   // memory: strides, alignment, read-only, overlapping, too small
  PERMC_ERROR_DEVICE = 4,   // memory of another device; CUDA failed
  PERMC_ERROR_MISSING = 5,  // what a backend needs is not here
  PERMC_ERROR_MEMORY = 6,   // there is no more, or its limit is reached
  PERMC_ERROR_INTERRUPTED = 7,  // by permc_interrupt
  PERMC_ERROR_FILE = 8,         // one cannot be read or written, or holds something else
  PERMC_ERROR_RANKS = 9,        // a rank has failed, or is gone (permc_use_ranks)
} permc_code;

// NULL, where nothing is said of it, is a mistake like others, also as a context: the call fails, or
// returns 0 or NULL, and a setting does nothing.

// What went wrong, in memory of the caller: for functions that several threads may call at once.
// They take NULL, too, where nobody wants to know.
typedef struct permc_error {
  permc_code code;
  char message[1020];  // without a final newline; of a wrong program with its place, and its line
} permc_error;

// "0.2.0". Static.
PERMC_API const char *permc_version(void);

// NULL when memory is out.
PERMC_API permc_context *permc_context_new(void);
PERMC_API void permc_context_free(permc_context *context);  // NULL is allowed

// Errors and warnings of the last call on this context, one rendered text with source lines and
// carets, each ending in a newline; "" if there were none. Valid until the next call. Of a context
// that is NULL, that it is.
PERMC_API const char *permc_message(const permc_context *context);

// What the last call on this context came to: what permc_message says in words. PERMC_OK if it says
// nothing, or warns only.
PERMC_API permc_code permc_last_code(const permc_context *context);

// Whether `extern` functions may be called; false by default. Set before loading.
PERMC_API void permc_allow_extern(permc_context *context, bool allow);
// A C function of the caller for the `extern` of that name, whatever library it is said to be in:
// in all programs that are loaded, and expressions that are defined, from now on, whether `extern`
// functions are allowed or not. `type`: as a program writes it, "f64 -> i32 -> f64"; then a program
// need not declare it, and one that declares it otherwise is refused. NULL: a program declares it,
// and is trusted. With `with`, if it is not NULL, as a first argument, of type void *, before the
// others:
//
//   static double above(void *with, double x) { return x > *(double *)with; }
//   permc_define_extern(context, "above", "f64 -> f64", (permc_function *)above, &limit);
//   permc_define(context, "map above");
//
// It is called on the processor (a GPU has no C functions, which is an error), as often as its
// results are needed, in any order; by one thread at a time in each run, but by several calls
// (permc_call) at once. It must return; permc_interrupt is all that it may call of the context. It
// and `with` live as long as the context. A later function of that name is for programs that are
// loaded later. False: there can be no such name or type, or `function` is NULL.
typedef void permc_function(void);
PERMC_API bool permc_define_extern(permc_context *context, const char *name, const char *type,
                                   permc_function *function, void *with);
// Whether the last call failed because one was called that may not.
PERMC_API bool permc_needs_extern(const permc_context *context);

// For programs of strangers (docs/running.md): no extern functions, no compiler and no GPU,
// imports from the folder of the program alone, results of at most 1 GiB (the limit "results"). Set
// before loading. Time and memory of the process are its own to bound: permc_interrupt, setrlimit.
PERMC_API void permc_use_untrusted(permc_context *context);
// What `import` may read: files anywhere, the default; those in the folder of the program or below
// it, by their real paths (of a text: the folder that `name` is in); or none. Set before loading.
typedef enum permc_import_rule {
  PERMC_IMPORT_ANYWHERE,
  PERMC_IMPORT_BESIDE,
  PERMC_IMPORT_NONE
} permc_import_rule;
PERMC_API void permc_allow_imports(permc_context *context, permc_import_rule imports);

// What a program may take: to elaborate "steps", "calls" (nested), "operations", bytes of "memory"
// and of "stack"; and bytes of "results" (docs/language.md, "Limits"). False, without a message:
// there is no such limit, or it cannot be that value.
PERMC_API bool permc_set_limit(permc_context *context, const char *name, uint64_t value);

// Threads of the cpu backend. 0, the default: one per processor that the process may use.
PERMC_API void permc_use_threads(permc_context *context, unsigned threads);
// What the C compiler of the cpu backend may use: seconds, and bytes of memory of each of its
// processes. One that reaches a limit is ended, and the program runs uncompiled if the backend is
// "auto". 0: the default, 60 seconds; 4 GiB, or half of the memory there is.
PERMC_API void permc_limit_compiler(permc_context *context, uint64_t seconds, uint64_t bytes);
// The instruction set that the cpu backend compiles for: "native" (this machine's, the default),
// "baseline", and on x86-64 "avx2", "avx512". False with a message: there is no such name here.
PERMC_API bool permc_use_isa(permc_context *context, const char *name);
// How programs are planned: the name of a strategy (`permc run --strategy help` lists them), used
// for the stages to which it applies; NULL, the default: the cheapest by the cost model. False with
// a message: there is no such strategy.
PERMC_API bool permc_use_strategy(permc_context *context, const char *name);
// Where exchanges within a pass lie in scratch memory, on the backends cpu and cuda (the
// others have none): the name of a bank layout, or NAME:SEED of one that is random (`permc run
// --layout help` lists them); NULL or "optimal", the default: free of conflicts by construction.
// Results are the same with each. False with a message: there is no such layout, or the seed is no
// number.
PERMC_API bool permc_use_layout(permc_context *context, const char *name);
// The GPU that programs are compiled for from now on, and that permc_run takes: 0, the default, 1,
// ... in CUDA's order. False with a message: there is no such number. Whether there is such a GPU
// is seen when it is first needed.
PERMC_API bool permc_use_device(permc_context *context, int32_t device);
// The same for `count` GPUs of this machine, a power of two, at most 16: permc_run on the backend
// cuda spreads arrays over their memory, and they share the work. A GPU may be in the list several
// times.
PERMC_API bool permc_use_devices(permc_context *context, const int32_t *devices, size_t count);
// Whether the backends cpu and cuda may round a product and the sum that it goes into once instead
// of twice: faster, but then results differ in their last bits from interp's. The other backends
// never do. False by default: every backend gives the same bits.
PERMC_API void permc_use_fast_floats(permc_context *context, bool fast);

// ---- programs --------------------------------------------------------------------------------

// Parses, resolves and types a program, replacing the context's earlier one. `path`: a .perm
// file. False: see permc_message; then no program is loaded.
PERMC_API bool permc_load(permc_context *context, const char *path);
// The same of a text. `name` stands for the file in messages, and imports are relative to it.
PERMC_API bool permc_load_text(permc_context *context, const char *name, const char *text,
                               size_t length);
// Adds an entry point named "-e": an expression in the scope of the loaded program (or of the
// standard library alone when nothing was loaded).
PERMC_API bool permc_define(permc_context *context, const char *expression);

// Entry points: functions of the program that have a signature (and "main", and "-e") and whose
// parameters and results hold no functions. In order of the source.
PERMC_API size_t permc_entry_count(const permc_context *context);
PERMC_API const char *permc_entry_name(const permc_context *context, size_t index);
// Its type as the program writes it, or as inferred: "[2^n]i32 -> [2^n]i32". Valid as long as the
// program is loaded. NULL with a message if there is no such entry.
PERMC_API const char *permc_entry_type(permc_context *context, const char *entry);
// Parameters of an entry; (size_t)-1 with a message if there is no such entry.
PERMC_API size_t permc_parameter_count(permc_context *context, const char *entry);

// One argument or result: one array, or one per component of a tuple (or of an array of tuples).
typedef struct permc_value permc_value;

typedef struct permc_size {
  const char *name;  // a size name of the signature, or a parameter that is an int
  int64_t value;
} permc_size;
// Whether the operators that a run on these arguments gives to scan, reduce and their kin are
// associative, as those take them to be: tried on small values, but for floats. False: the message
// has the smallest counterexample, at the place where the program gives the operator.
PERMC_API bool permc_check_laws(permc_context *context, const char *entry,
                                permc_value *const *arguments, size_t argument_count);

// Elaborates an entry (NULL: all) with its size names set as given, others at 0 ... 4. Sizes that
// fail are warnings; false if all above 0 fail, or a given size fails. Parameters that are ints,
// and have to be known, are tried at 0 ... 4 as well, if their value is not given. An entry for
// which none of these works, or that has to know the elements of an array, is skipped, with a
// warning.
PERMC_API bool permc_check(permc_context *context, const char *entry, const permc_size *sizes,
                           size_t count);

// Elaborates an entry for these arguments, or (arguments are NULL) of these types, as permc_explain
// takes them.
PERMC_API bool permc_check_arguments(permc_context *context, const char *entry, const char *types,
                                     permc_value *const *arguments, size_t argument_count);

// How an entry would be run, without running it (docs/running.md, "How a program will run").
typedef struct permc_explain_options {
  const char *target;  // NULL: this machine, as tuned. A name, or a file (fusion/target/target.h)
  // NULL: the sizes say all. Types of the arguments, or values: "[2^24]u32 [8](u8, i64) 5"
  const char *types;
  permc_value *const *arguments;  // NULL, or instead the arguments
  size_t argument_count;
  bool rules;  // also the rewrite rules that fired
  // NULL, or instead a form of the program as text: "trace", "net", "plan", "c", "cuda"; or a
  // picture: "network", "matrix" or "picture" (a network if it computes anything, else a matrix) for a
  // terminal, "network.svg" ... as SVG; or a page of HTML with all pictures: "html".
  const char *dump;
  uint32_t ranks;  // not 0: planned for so many, a power of two, and what they send
  uint64_t
      memory;  // not 0: planned for arrays in files and so many bytes, and what is read and written
} permc_explain_options;
// The entry at these sizes, which are all that its signature names, or for arguments of
// options->types (then without sizes). Element types that are open get their defaults. The caller
// frees *out with free().
PERMC_API bool permc_explain(permc_context *context, const char *entry, const permc_size *sizes,
                             size_t size_count, const permc_explain_options *options, char **out);

// ---- ranks -----------------------------------------------------------------------------------

// Runs of a program whose arrays are shared among ranks: threads of this process, or processes that
// a launcher has started (docs/running.md, "Ranks"). All call the same functions in the same
// order.
typedef struct permc_transfer {
  uint32_t rank;  // to whom, or from whom
  void *data;
  uint64_t bytes;
} permc_transfer;
// A function of the caller that carries messages, when all ranks have called it: each sends at most
// one to each other, and receives at most one of each, of as many bytes as it is sent; there may be
// none.
// False: it could not, and this rank does not go on. why->message, which is empty, may say why in a
// line.
typedef bool permc_carry(void *with, const permc_transfer *sends, size_t send_count,
                         const permc_transfer *receives, size_t receive_count, permc_error *why);
typedef struct permc_ranks {
  const char *transport;   // "threads", "mpi"; NULL: the launcher's, or else threads
  uint32_t count;          // a power of two; 0: as many as the launcher has started
  double timeout;          // seconds that a rank waits for another, up to 1,000,000; 0: 60
  uintptr_t communicator;  // "mpi": the caller's MPI_Comm as a number; 0: MPI_COMM_WORLD
  // Not NULL: carries the messages of all ranks, of which this process is number `rank` of `count`.
  // `timeout` is not used: it is for this function to end.
  permc_carry *carry;
  void *with;  // its first argument
  uint32_t rank;
} permc_ranks;
// For what is run and compiled from now on (NULL: no longer). Where ranks are processes, arguments
// that permc_read_files reads from .npy stay in the file until each rank reads its part, and the
// arrays of results may be in parts: permc_write_file writes such a value to one file, called by
// all. With the backend cuda each rank has a GPU: that of permc_use_device, unless it is 0, or of
// the process's number on its machine. Values are in memory of the host.
PERMC_API bool permc_use_ranks(permc_context *context, const permc_ranks *ranks);
// Of this process, of how many: 0 and 1 where it has all of them.
PERMC_API uint32_t permc_rank(const permc_context *context, uint32_t *processes);
// Elements *first, ..., *first + *count - 1 of a component, which this process has of a result, or
// of any value all. Valid as long as the value. A value in parts, this or one of
// permc_value_borrow_part, may be an argument of another run or call: the parts of all processes
// are, in order of ranks, one behind the other, the whole array, and of any lengths.
PERMC_API const void *permc_value_part(const permc_value *value, size_t component, uint64_t *first,
                                       uint64_t *count);
// Called by all: this process has parts of arrays, of these lengths; each begins behind those of
// the lower ranks, at *first, in an array of the length *whole. `what` is the same text on all, or
// all fail: a line that says what is called, which is shown where it differs, and what else must be
// the same.
PERMC_API bool permc_place_parts(permc_context *context, const char *what, const uint64_t *lengths,
                                 size_t count, uint64_t *first, uint64_t *whole);
// Called by all: rank 0's value becomes one in its memory. Without ranks: one that is in files
// does.
PERMC_API bool permc_gather(permc_context *context, permc_value *value);
// This process cannot go on; the others end with the line "rank 3: CAUSE", of the first line of a
// message.
PERMC_API void permc_fail_ranks(permc_context *context, const char *cause);
// Called instead of permc_place_parts or permc_call, by a process that finds its arguments wrong:
// the others end that call with the line "rank 3: CAUSE", and all can go on. Returns when all have
// come; true: all have refused, with the same text.
PERMC_API bool permc_refuse_call(permc_context *context, const char *cause);
// Called by all after a call that has failed with PERMC_ERROR_RANKS, or permc_refuse_call, before
// the ranks are ended: whether this process is the one that shows the message, so that it is shown
// once. Of ranks that the caller connects each is, but where they have refused or differ.
PERMC_API bool permc_rank_speaks(permc_context *context);

// ---- arrays larger than memory -----------------------------------------------------------------

// Runs on arrays that are in files, a part of them at a time in memory (docs/running.md, "Arrays
// larger than memory"): large arguments that permc_read_files reads from .npy stay where they are,
// and results are in files of their own, that go with the value; permc_write_file makes them the
// user's without a copy, where they are beside each other, and permc_gather brings them to memory.
typedef struct permc_files {
  uint64_t memory;  // bytes, at most
  const char
      *folder;  // where files between the steps of a run are, and results; NULL: the current one
  // The folder is made for one run, and stays, so that the same run goes on there after it has
  // failed, or its process was ended; but where a check of the program has failed, as it would
  // again, it goes. permc_remove_files ends the run; until then, or until this context runs
  // something else, or is freed, no other run goes on there.
  bool resume;
} permc_files;
// For what is read and run from now on (NULL: no longer).
PERMC_API bool permc_use_files(permc_context *context, const permc_files *files);
// What runs have left in a folder that stays goes, and the folder.
PERMC_API void permc_remove_files(permc_context *context);

// ---- values ----------------------------------------------------------------------------------

// Copies `data` (row-major, dims outermost first; rank 0: one element); NULL: elements are
// anything, for results. type: "bool" "i8" ... "u64" "f16" (two bytes, IEEE binary16) "bf16" (two
// bytes, the upper half of an f32) "f32" "f64" "c64" "c128". NULL: unknown type, rank over 16, a size that overflows, no memory.
PERMC_API permc_value *permc_value_new(const char *type, uint32_t rank, const uint64_t *dims,
                                       const void *data);
// Of the same types and sizes, with other memory, in which elements are anything. NULL: no memory.
PERMC_API permc_value *permc_value_like(const permc_value *value);

// Memory of the caller as a value, without a copy. A byte of a bool that is not 0 is true; in
// results it is 1.
enum { PERMC_HOST = -1 };
typedef struct permc_memory {
  const char *type;  // as in permc_value_new
  uint32_t rank;
  const uint64_t *dims;
  const int64_t *strides;  // bytes, those of row-major memory; NULL: it is row-major
  void *data;              // a multiple of the size of an element (of its parts); on a GPU, of 16
  int32_t device;          // PERMC_HOST, or the number of the GPU that the memory is of
  bool read_only;          // it may be no result
  void (*release)(void *with);  // called once, when the value is freed; may be NULL
  void *with;
} permc_memory;
// NULL: *error says why, and nothing is released.
PERMC_API permc_value *permc_value_borrow(const permc_memory *memory, permc_error *error);
// What this process has of an array that ranks share (permc_use_ranks): elements first, ..., first
// + count - 1, in memory that begins with the first of them. dims are those of the whole array.
PERMC_API permc_value *permc_value_borrow_part(const permc_memory *memory, uint64_t first,
                                               uint64_t count, permc_error *error);
// Joins values into one tuple and frees them (also on failure, which gives NULL: no memory, or one
// value twice).
PERMC_API permc_value *permc_value_tuple(permc_value **parts, size_t count);
PERMC_API void permc_value_free(permc_value *value);  // NULL is allowed
PERMC_API void permc_values_free(permc_value **values, size_t count);
PERMC_API size_t permc_value_components(const permc_value *value);
PERMC_API const char *permc_value_type(const permc_value *value, size_t component);
PERMC_API uint32_t permc_value_rank(const permc_value *value, size_t component);
PERMC_API const uint64_t *permc_value_dims(const permc_value *value, size_t component);
// NULL: it has no elements in memory (permc_compiled_argument). Of borrowed memory the caller's
// pointer.
PERMC_API const void *permc_value_data(const permc_value *value, size_t component);
// A component's name: that of the field of a structured .npy (of nested ones "position.x"), or of
// the column of a table with a header, that it was read from. NULL: it has none. Names do not
// matter to a program. A component of a result has the name of a component of the arguments whose
// elements its own are: moved or chosen, as by a sort, besides constants such as the fill of
// padded; not computed from them. Files .npy of several components, and .csv, are written with the
// names; permc_value_tuple keeps them. Valid until the name is set, or the value freed.
PERMC_API const char *permc_value_name(const permc_value *value, size_t component);
// Sets it (NULL or "": to none). False: memory is out.
PERMC_API bool permc_value_set_name(permc_value *value, size_t component, const char *name);

// The arguments of an entry from files ("-": standard input), in any of the formats
// (docs/running.md, "Values and file formats"), one after the other until all parameters are
// filled. Allocates *arguments.
PERMC_API bool permc_read_files(permc_context *context, const char *entry, const char *const *paths,
                                size_t path_count, permc_value ***arguments, size_t *count);
// The same from bytes in memory; `name` is for messages.
PERMC_API bool permc_read_bytes(permc_context *context, const char *entry, const char *name,
                                const void *bytes, size_t byte_count, permc_value ***arguments,
                                size_t *count);
// The same at random: `types` such as "[1024]i32 [8](u32, f64) 5", where 5 is a value. Equal seeds,
// equal values.
PERMC_API bool permc_read_random(permc_context *context, const char *entry, const char *types,
                                 uint64_t seed, permc_value ***arguments, size_t *count);
// The same of the shapes that the entry's signature has at these sizes, all of them given.
PERMC_API bool permc_read_random_at(permc_context *context, const char *entry,
                                    const permc_size *sizes, size_t size_count, uint64_t seed,
                                    permc_value ***arguments, size_t *count);
// Whether the results of an entry can be written to these files, the first result to the first: no
// more files than results, of endings that are formats which hold such results, in folders that are
// there and may be written to, no file twice. "first:2=kept.npy" is kept.npy, to which as many
// elements of the result go as result 2 says (permc_keep_first): an integer. False: the message says
// what to do. To be asked before a long run. Where types of results depend on the arguments, they are checked if there are
// as many as parameters (0: not yet).
PERMC_API bool permc_check_outputs(permc_context *context, const char *entry,
                                   permc_value *const *arguments, size_t argument_count,
                                   const char *const *paths, size_t count);
// Keeps the first elements of a value's arrays, as many as `count` is, an integer: of a result that
// another one counts, such as those of compact. False: there are not as many, or it is negative; the
// value stays. By all ranks.
PERMC_API bool permc_keep_first(permc_context *context, permc_value *value,
                                const permc_value *count);
// Writes one value in the format of the path's ending ("-": standard output, text). The file
// appears whole or not at all.
PERMC_API bool permc_write_file(permc_context *context, const char *path, const permc_value *value);
// Each value to its own file: all are written, and then get their names, or none does.
PERMC_API bool permc_write_files(permc_context *context, const char *const *paths,
                                 permc_value *const *values, size_t count);

// ---- running ---------------------------------------------------------------------------------

// Elaborates the entry at the arguments' sizes and runs it. backend: NULL or "auto" takes what is
// predicted to be the fastest; "interp", "cpu", "portable", "cuda" are promises: one
// that is missing is an error (docs/running.md, "Backends"). A compiler may go on beside the
// caller afterwards, for a later run, until the context is freed, which may wait for it
// (docs/running.md, "Backends"). The arguments stay the caller's.
// Allocates *results: as many as the entry's result has components at its top level (a tuple of
// arrays gives one value each, an array of tuples one value).
PERMC_API bool permc_run(permc_context *context, const char *entry, const char *backend,
                         permc_value *const *arguments, size_t argument_count,
                         permc_value ***results, size_t *result_count);
// As permc_run, but frees each argument (and sets it to NULL) as soon as the run no longer needs
// it.
PERMC_API bool permc_run_consume(permc_context *context, const char *entry, const char *backend,
                                 permc_value **arguments, size_t argument_count,
                                 permc_value ***results, size_t *result_count);

// ---- compiled programs ------------------------------------------------------------------------

// An entry, prepared for arguments of certain types and sizes, to be run often ("auto" compiles it
// before it runs). It does not change: any number of threads may call it at once. It keeps the
// settings of the context as they were, and is to be freed before the context is, or loads another
// program.
typedef struct permc_compiled permc_compiled;

// For arguments of the types and sizes of `like`, whose elements matter only where the program
// needs to know them before it runs (a matrix, a size), and of schedules: what a rotation, an
// affine map or a transpose does may become part of the program, which refuses others then. NULL:
// see permc_message.
PERMC_API permc_compiled *permc_compile(permc_context *context, const char *entry,
                                        const char *backend, permc_value *const *like,
                                        size_t argument_count);
// The same for types in words, as permc_explain takes them: "[1024]u32 [8](u32, f64) 5".
PERMC_API permc_compiled *permc_compile_types(permc_context *context, const char *entry,
                                              const char *backend, const char *types);
PERMC_API void permc_compiled_free(permc_compiled *compiled);  // NULL is allowed

// What it takes and makes: values without data. NULL: there are no more.
PERMC_API const permc_value *permc_compiled_argument(const permc_compiled *compiled, size_t number);
PERMC_API const permc_value *permc_compiled_result(const permc_compiled *compiled, size_t number);

// Values with memory of their own for all results. NULL: no memory. To be freed by
// permc_values_free.
PERMC_API permc_value **permc_results_new(const permc_compiled *compiled, size_t *count);

typedef struct permc_call_options {
  void *stream;  // of a GPU's program: a CUstream or cudaStream_t of that GPU; NULL: CUDA's default
  void *workspace;  // of permc_workspace_bytes, for this call alone till it is done; NULL: permc's
  uint64_t workspace_bytes;
} permc_call_options;

// Runs it: reads the arguments, and writes to the results, which are values of the result types
// that the caller has made or borrowed. They overlap neither an argument nor each other. After an
// error their elements are anything; all else is as before.
//   a program for the processor   values in the host's memory; nothing is copied or allocated (but
//                                 by interp and machine, which run one call at a time)
//   a program for a GPU           values in its memory: the work is put on the stream, and the call
//                                 returns; values and workspace are needed until it is done there.
//                                 The stream may be capturing. Where the program checks its data
//                                 (indices, padding), the call waits for the checks.
//                                 Values in the host's memory: copied there and back.
//   on ranks                      by all processes, one call at a time: arguments and results in
//                                 parts (permc_value_borrow_part), or whole on all
PERMC_API permc_code permc_call(const permc_compiled *compiled, permc_value *const *arguments,
                                size_t argument_count, permc_value *const *results,
                                size_t result_count, const permc_call_options *options,
                                permc_error *error);
// Bytes of memory, where the program runs, that a call needs besides its arguments and results; at
// an address that is a multiple of 256.
PERMC_API uint64_t permc_workspace_bytes(const permc_compiled *compiled);

// On a backend with a memory and a clock of its own (cuda): the seconds of one run of the passes,
// the mean of `runs`, on the arguments of the last permc_call with values in the host's memory,
// which are still there; without the way there and back. Not while another thread calls it. False:
// it failed, or (the message of the context is "") there is no such clock.
PERMC_API bool permc_time_call(permc_compiled *compiled, unsigned runs, double *seconds);
// The same of copying so many bytes within that memory.
PERMC_API bool permc_time_copy(permc_compiled *compiled, uint64_t bytes, unsigned runs,
                               double *seconds);
// The backend that was chosen: "interp", "cpu", ... Static.
PERMC_API const char *permc_compiled_backend(const permc_compiled *compiled);
// The device that it runs on, "NVIDIA H200, CUDA 13.0"; NULL: the processor. Lives as long as it.
PERMC_API const char *permc_compiled_device(const permc_compiled *compiled);

// Measures the program as it is planned for this machine, and as it would be planned with other
// tiles, registers and accesses (docs/running.md, "Tuning"), each compiled, compared with the
// first and timed on the arguments, which stay the caller's. If one is better by more than 2 % it
// is stored beside the cache of compiled code: this program, at these sizes and on such a machine,
// is planned so from then on. Otherwise what was stored is removed. Takes up to some minutes;
// permc_interrupt ends it, and nothing is stored. *report: lines for a reader, which the caller
// frees with free(); NULL on failure (see permc_message): there is no such backend or entry, the
// backend is interp, which has no plans, the program fails, or the cache cannot be written to.
typedef struct permc_tune_options {
  bool dry_run;    // nothing is stored or removed
  bool forget;     // nothing is measured: what is stored for this program is removed
  double seconds;  // that a candidate and the best so far are measured, at least; 0: 0.4
} permc_tune_options;
PERMC_API bool permc_tune(permc_context *context, const char *entry, const char *backend,
                          permc_value *const *arguments, size_t argument_count,
                          const permc_tune_options *options, char **report);

// Seconds that the last calls on this context took, by stage. What a backend does not do is 0.
typedef struct permc_times {
  double load, elaborate, start, plan, compile, run;  // start: of a GPU's driver
} permc_times;
PERMC_API permc_times permc_last_times(const permc_context *context);

// How far a call on a context is. The library prints nothing: who wants to show it does so.
typedef struct permc_progress {
  // "reading", "loading", "elaborating", "planning", "compiling", "running", "writing"; "" when the
  // call is over. Static.
  const char *stage;
  // What is counted: "bytes", "elements", "texts" (of code), "steps" (on ranks: passes and
  // exchanges); "" where nothing is. Static.
  const char *unit;
  uint64_t done, total;  // of this stage; total 0: not known
} permc_progress;
typedef void permc_progress_report(void *with, const permc_progress *progress);
// `report` is called when a stage of a later call begins, and while it goes on, up to some thousand
// times a second; from any thread of the library, but by one at a time. It must not call the
// context, but for permc_interrupt. NULL, the default: no reports.
PERMC_API void permc_on_progress(permc_context *context, permc_progress_report *report, void *with);

// Asks the calls in progress on this context to stop: elaboration, compilation, a run, permc_tune,
// and permc_call in every thread then fail with the message "interrupted". So do those that begin
// before all of these have ended; later ones, and other contexts, are not affected. Safe in a
// signal handler and from another thread. What is on a GPU's stream already goes on.
PERMC_API void permc_interrupt(permc_context *context);

// ---- formatting ------------------------------------------------------------------------------

// The program text in the one canonical layout (idempotent, comments kept). NULL: see
// permc_message. The caller frees it with free().
PERMC_API char *permc_format(permc_context *context, const char *name, const char *text,
                             size_t length);

#ifdef __cplusplus
}
#endif

#endif
