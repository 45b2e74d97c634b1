// The table of verbs and their options. See verbs.h.
#include "tool/verbs/verbs.h"
#include "kernels/banks/banks.h"
#include "kernels/hmm/algorithm.h"
#include "tool/cli/program.h"

// ---- options ---------------------------------------------------------------------------------

#define SWITCH(word, line)                                                                         \
  { .name = word, .help = line }
#define VALUE(word, form, line)                                                                    \
  { .name = word, .argument = form, .help = line }
#define VALUES(word, form, line)                                                                   \
  { .name = word, .argument = form, .help = line, .repeats = true }
#define NUMBER(word, form, from, to, line)                                                         \
  { .name = word, .argument = form, .help = line, .number = true, .least = from, .most = to }
#define BYTES(word, from, line)                                                                    \
  {                                                                                                \
    .name = word, .argument = "BYTES", .help = line, .number = true, .bytes = true, .least = from, \
    .most = UINT64_MAX                                                                             \
  }
#define LISTED(word, form, lister, line)                                                           \
  { .name = word, .argument = form, .help = line, .list = lister }
#define END_OF_OPTIONS                                                                             \
  { .name = NULL }

// Options that several verbs have.
#define BACKENDS "auto|interp|cpu|portable|cuda"
#define STRATEGY                                                                                   \
  LISTED("--strategy", "NAME", cli_list_strategies,                                                \
         "plan by this strategy where it applies; help lists them")
#define LAYOUT                                                                                     \
  LISTED("--layout", "NAME", cli_list_layouts,                                                     \
         "exchange by this bank layout, or NAME:SEED; help lists them")
#define THREADS                                                                                    \
  NUMBER("--threads", "N", 1, 1024, "threads of the cpu backend (default: the processors)")
#define TARGET_ISA VALUE("--target-isa", "ISA", "compile for native, baseline, avx2 or avx512")
#define LIMIT                                                                                      \
  VALUES("--limit", "NAME=N",                                                                      \
         "at most N steps, calls, operations, memory, stack, results, space or seconds")
#define UNTRUSTED                                                                                  \
  SWITCH("--untrusted", "a stranger's program: no compiler, no other files, bounded in time")
#define STRICT_FP SWITCH("--strict-fp", "floats to the bit as interp computes them (the default)")
#define FAST_FP SWITCH("--fast-fp", "products and sums may be fused: other last bits")
#define COMPILE_LIMITS                                                                             \
  NUMBER("--compile-seconds", "N", 1, 1000000,                                                     \
         "end a C compiler that takes longer, and run uncompiled (default: 60)"),                  \
      BYTES("--compile-memory", UINT64_C(1) << 26,                                                 \
            "the same for its memory (default: 4GiB, or half of what there is)")
#define QUIET SWITCH("--quiet", "show no progress, and no notes on the data that were read")
#define ALLOW_EXTERN SWITCH("--allow-extern", "let programs call C functions (extern)")
#define LEAST_MEMORY (UINT64_C(1) << 16)  // of --memory
#define JSON SWITCH("--json", "print one JSON object")
#define TIME SWITCH("--time", "print the time of each stage to standard error")
#define BACKEND VALUE("--backend", BACKENDS, "what executes the program (default: auto)")
#define DEVICES                                                                                    \
  VALUE("--devices", "LIST", "2, 4, 8 or 16 GPUs that share the work: 0-3, or 0,2 (default: one)")
#define SEED(of) NUMBER("--seed", "S", 0, UINT64_MAX, "the seed of " of " (default: 1)")
// The program that a verb is about: "explain".
#define PROGRAM(verb)                                                                              \
  VALUE("-e", "EXPR", verb " this expression, in FILE's scope if there is one"),                   \
      VALUE("--entry", "NAME", "the entry point to " verb " (default: main)")
// ... at sizes of its signature, or for arguments.
#define SIZED_PROGRAM(verb, sizes)                                                                 \
  PROGRAM(verb),                                                                                   \
      VALUES("--size", "NAME=SIZE",                                                                \
             "the value of a size name of its signature, or an int: " sizes),                      \
      VALUE("--arguments", "TYPES", "... or types, or values, of its arguments: '[2^4]u32 5'"),    \
      VALUES("-i", "FILE", "... or arguments from FILE"),                                          \
      LISTED("--target", "TARGET", print_targets,                                                  \
             "plan for this machine: a name, or a FILE; help lists them")
// The arguments of what is measured.
#define RANDOM_ARGUMENTS(sizes)                                                                    \
  VALUE("--arguments", "TYPES", "random arguments of these types, such as '[1024]i32'"),           \
      VALUES("--size", "NAME=SIZE", "... of these sizes of the signature" sizes),                  \
      VALUES("-i", "FILE", "... or arguments from FILE"), SEED("random arguments")
// A program whose plan is looked at.
#define PLANNED_PROGRAM                                                                            \
  VALUE("-e", "EXPR", "the plan of this expression, in FILE's scope if there is one"),             \
      VALUE("--entry", "NAME", "... of this entry point (default: main)"),                         \
      VALUE("--arguments", "TYPES", "... for arguments of these types, such as '[2^20]u32'"),      \
      STRATEGY
#define CPU_OPTIONS THREADS, TARGET_ISA, STRATEGY, LAYOUT, STRICT_FP, FAST_FP, COMPILE_LIMITS

static const cli_option run_options[] = {
    VALUE("-e", "EXPR", "run this expression, such as 'padded maxval sort'"),
    VALUES("-i", "FILE",
           "read arguments from FILE (- is standard input), or its columns: FILE:a,b"),
    VALUES("-o", "FILE", "write a result to FILE: .npy .bin .dat .csv .txt .sched; else text"),
    SWITCH("--full", "on a terminal, too, print all elements of large results"),
    VALUE("--entry", "NAME", "the entry point to run (default: main)"),
    VALUE("--backend", BACKENDS,
          "what executes the program (default: auto; on ranks without GPUs)"),
    DEVICES,
    CPU_OPTIONS,
    VALUE("--random", "TYPES", "make arguments at random, such as '[1024]i32 i64'"),
    SEED("--random"),
    NUMBER("--ranks", "P", 1, 1 << 20,
           "share arrays among P threads, a power of two; 1: not those of mpirun"),
    NUMBER("--timeout", "S", 1, 1000000,
           "seconds that a rank waits for another, then all end (default: 60)"),
    VALUE("--transport", "threads|mpi", "what ranks are (default: as mpirun says, or threads)"),
    BYTES("--memory", LEAST_MEMORY,
          "for arrays larger than memory: keep them in files, and use so much"),
    SWITCH("--resume", "... and go on later where this was ended: files stay in OUTPUT.resume"),
    TIME,
    LIMIT,
    UNTRUSTED,
    ALLOW_EXTERN,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option check_options[] = {
    SWITCH("--json", "print the messages as one JSON object: {\"diagnostics\": [...]}"),
    VALUE("-e", "EXPR", "check this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "only this entry point"),
    VALUES("--size", "NAME=SIZE", "elaborate at this value of a size name or an int, such as n=30"),
    VALUE("--arguments", "TYPES",
          "... for arguments of these types, or values: '[8]u32 [4, 1, 2]'"),
    VALUES("-i", "FILE", "... for arguments from FILE"),
    LIMIT,
    UNTRUSTED,
    TIME,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option explain_options[] = {
    SIZED_PROGRAM("explain", "n=24"),
    NUMBER("--ranks", "P", 1, 1 << 20, "plan for P ranks, a power of two, and show what they send"),
    BYTES("--memory", LEAST_MEMORY, "plan for arrays in files and so much memory"),
    STRATEGY,
    LAYOUT,
    LIMIT,
    UNTRUSTED,
    SWITCH("--machine", "instead: each pass on a memory machine like a GPU, and on a GPU"),
    SWITCH("--rules", "also list the rewrite rules that fired, and what they saved"),
    JSON,
    SWITCH("--html", "instead: all of it and pictures, as one page of HTML"),
    VALUE("-o", "FILE", "write it to FILE"),
    VALUE("--dump", "trace|net|plan|c|cuda", "print this form of the program instead"),
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option draw_options[] = {
    SIZED_PROGRAM("draw", "n=4"),
    VALUE("--what", "network|matrix",
          "the picture (default: a network, or a matrix of what only moves)"),
    VALUE("-o", "FILE", "write the picture to FILE, as SVG if it ends in .svg, else as text"),
    STRATEGY,
    LIMIT,
    UNTRUSTED,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option build_options[] = {
    PROGRAM("build"),
    VALUES("--size", "NAME=SIZE", "the value of a size name of its signature, or an int: n=10"),
    VALUE("--arguments", "TYPES", "... or types, or values, of its arguments: '[2^10]u32 5'"),
    VALUE("--target", "c|cuda", "C for one processor (the default), or for NVIDIA GPUs"),
    VALUE("-o", "DIR", "the folder that the library goes to: a new or an empty one"),
    VALUE("--name", "NAME",
          "what its names begin with (default: the entry's name, or that of DIR)"),
    TARGET_ISA,
    STRATEGY,
    LIMIT,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option test_options[] = {
    VALUE("--only", "TEXT", "only tests with TEXT in 'FILE:LINE ENTRY NAME'"),
    VALUES("--tag", "TAG", "only test blocks with one of these tags"),
    VALUES("--exclude", "TAG", "no test blocks with one of these tags"),
    NUMBER("--jobs", "N", 1, 4096, "how many files at a time (default: the processors)"),
    BACKEND,
    CPU_OPTIONS,
    LIMIT,
    UNTRUSTED,
    ALLOW_EXTERN,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option bench_options[] = {
    PROGRAM("measure"),
    RANDOM_ARGUMENTS("; n=10..20: each of them"),
    BACKEND,
    DEVICES,
    NUMBER("--ranks", "P", 1, 1 << 10,
           "on P ranks, a power of two: threads, with --backend cuda a GPU each"),
    CPU_OPTIONS,
    VALUE("--seconds", "S", "measure a case no longer than that, but 11 runs of it (default: 2)"),
    SWITCH("--json", "write figures to standard output, the table to standard error"),
    VALUE("--compare", "OLD.json", "show what changed since; FILE may be NEW.json"),
    SWITCH("--turns", "measure one run for each line of standard input (see bench/run.py)"),
    VALUES("-o", "FILE", "... and write a result to FILE at its end"),
    LIMIT,
    ALLOW_EXTERN,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option tune_options[] = {
    PROGRAM("tune"),
    RANDOM_ARGUMENTS(", such as n=24"),
    VALUE("--backend", "auto|cpu|cuda", "what executes the program (default: auto)"),
    CPU_OPTIONS,
    SWITCH("--dry-run", "measure and report, but store nothing"),
    SWITCH("--forget", "measure nothing, remove what is stored for this program"),
    LIMIT,
    ALLOW_EXTERN,
    QUIET,
    END_OF_OPTIONS,
};

static const cli_option machine_options[] = {
    VALUES("--size", "SIZE", "n, such as 2^20; of programs NAME=SIZE, such as n=20"),
    NUMBER("--width", "W", 1, HMM_WIDTH_MAX,
           "w: banks of a memory, threads of a warp (default: 32)"),
    NUMBER("--latency", "L", 1, UINT32_MAX,
           "of the memory, of an hmm the global one (default: 100)"),
    NUMBER("--shared-latency", "L", 1, UINT32_MAX, "of an hmm's shared memories (default: 1)"),
    NUMBER("--threads", "P", 1, UINT64_C(1) << 40,
           "p, a multiple of w (default: as many as there is work for)"),
    NUMBER("--dmms", "D", 1, HMM_DMMS_MAX, "d, the DMMs of an hmm (default: 1)"),
    NUMBER("--registers", "R", 1, HMM_WIDTH_MAX, "r of a thread, for umm-transpose (default: w)"),
    VALUE("--permutation", "NAME", "of algorithms that permute: its name, or a FILE with images"),
    VALUE("--addresses", "FILE", "for addresses: one number after the other, # comments"),
    SEED("what is random"),
    PLANNED_PROGRAM,
    LAYOUT,
    JSON,
    SWITCH("--time", "print how long it took to standard error"),
    END_OF_OPTIONS,
};

static const cli_option fmt_options[] = {
    SWITCH("--check", "change nothing, list the files that would change"),
    END_OF_OPTIONS,
};

static const cli_option banks_options[] = {
    NUMBER("--banks", "W", 1, BANKS_MAX, "the banks of the memory (default: 32)"),
    NUMBER("--words", "N", 1, UINT64_MAX,
           "the words of the array (default: up to the largest address)"),
    LISTED("--layout", "NAME", cli_list_layouts, "only this layout; help lists them"),
    SEED("random layouts"),
    PLANNED_PROGRAM,
    VALUES("--size", "NAME=SIZE", "the value of a size name of the program, such as n=20"),
    JSON,
    END_OF_OPTIONS,
};

static const cli_option paper_options[] = {
    JSON,
    END_OF_OPTIONS,
};

static const cli_option cache_options[] = {
    SWITCH("--list", "a line for each entry, the one that was not used for the longest first"),
    BYTES("--limit", 0, "from now on keep at most that much, such as 200MiB (1 GiB at first)"),
    SWITCH("--clear", "remove all entries"),
    END_OF_OPTIONS,
};

static const cli_option schedule_options[] = {
    VALUE("-o", "FILE.sched", "the file that the schedule goes to"),
    END_OF_OPTIONS,
};

static const cli_option no_options[] = {END_OF_OPTIONS};

// ---- verbs -----------------------------------------------------------------------------------

const cli_verb cli_verbs[] = {
    {"run", "[FILE]", 0, 1, "run a program on data",
     "Runs an entry point of FILE (or the expression of -e, in FILE's scope if both are given).\n"
     "Arguments come from the files of -i, from --random, or else from standard input, one after\n"
     "the other: tables such as .csv, NumPy .npy, plain text with one number per line, Futhark\n"
     "text or binary (permc help formats). A FILE - is a program on standard input.\n"
     "Each -o takes one result, in order, and -o first:2=FILE as many of its elements as result 2\n"
     "says; what is left goes to standard output as text.",
     "permc run examples/sort.perm -i examples/goods.csv:weight -o sorted.csv", run_options,
     "--random -i, --entry -e, --strict-fp --fast-fp, --ranks --devices, --ranks --memory, "
     "--devices --memory",
     "FILE -e", verb_run},
    {"check", "[PATH]...", 0, SIZE_MAX, "find the mistakes of a program without running it",
     "Checks names and types of each PATH, a file, or a folder with .perm files at any depth, and\n"
     "elaborates its entry points (or the expression of -e), sizes that a signature names at 0 to\n"
     "4, several of them also at 4, 3, ..., and at larger ones where all fail, or as --size says;\n"
     "arrays without such names with 1, 2, 4, 8 and 16 elements, and with none where 3 are taken,\n"
     "too. Sizes that fail are warnings, unless all do or --size asked for them. An int that has\n"
     "to be known is tried with 0 to 4 as well; an entry point that is not checked for want of a\n"
     "value is named. With --arguments or -i it elaborates one entry point (default: main) for\n"
     "these.\n"
     "\n"
     "With --json each of the diagnostics has its file, line, column, end_line and end_column\n"
     "(from 1, in characters, the end behind the last; none where it has no place), severity\n"
     "(error or warning), message, help (lines that say what to do), and notes, which have file,\n"
     "line, column, end_line, end_column and message.",
     "permc check examples/spectrum.perm --size n=20 --time", check_options,
     "--entry -e, --size --arguments -i", "FILE -e", verb_check},
    {"explain", "[FILE]", 0, 1, "show how a program will run at given sizes",
     "Plans an entry point of FILE (or the expression of -e) for given sizes, or for arguments of\n"
     "given types, and prints what it comes to: columns, permutations, and each pass over memory\n"
     "with what it reads, writes and costs. Nothing is run.",
     "permc explain examples/sort.perm --arguments '[2^24]f32'", explain_options,
     "--entry -e, --size --arguments -i, --dump --json --html, --dump --rules --machine, "
     "--ranks --memory",
     "FILE -e", verb_explain},
    {"draw", "[FILE]", 0, 1, "draw a program: its network, its matrix",
     "Draws an entry point of FILE (or the expression of -e) at given sizes. A network has a line\n"
     "for each of up to 64 elements; data go from left to right. Permutations take no room: an\n"
     "element stays on its line, which ends with its place in the result. A matrix is that of a\n"
     "program which is one permutation of 2^n elements, with the tiles of its plan. The passes of\n"
     "what is neither are in permc explain.",
     "permc draw -e sort_network --arguments '[2^4]u32' -o sort.svg", draw_options,
     "--entry -e, --size --arguments -i", "FILE -e", verb_draw},
    {"build", "[FILE]", 0, 1, "write a C library that runs a program without permc",
     "Writes an entry point of FILE (or the expression of -e) as sources of a C library into DIR:\n"
     "a header, sources, a CMake package. Such a library needs no permc. It is for arguments of\n"
     "the given types and lengths and, where they are values, for these.",
     "permc build -e sort --arguments '[2^10]u32' -o sorter", build_options,
     "--entry -e, --size --arguments", "FILE -e", verb_build},
    {"test", "PATH...", 1, SIZE_MAX, "run the test blocks of programs",
     "Runs the test blocks (comments that start with -- ==) of each PATH: a file, or a folder\n"
     "with .perm files at any depth. The last line counts: N passed, N failed, N skipped. Floats\n"
     "agree with an output that is given if they differ by at most 1e-1 (bf16), 1e-2 (f16), 1e-5\n"
     "(f32, c64) or 1e-12 (f64, c128), times the largest magnitude of the array where that is\n"
     "above 1.",
     "permc test examples --only sort --jobs 4", test_options, "--strict-fp --fast-fp", NULL,
     verb_test},
    {"bench", "[FILE]", 0, 1, "measure how long programs take",
     "Measures an entry point of FILE (or the expression of -e): compiled once, run many times in\n"
     "turn with a copy of as many bytes, its result verified.\n"
     "Prints median and least time, half the 95 % interval of the median, bytes of arguments and\n"
     "results per second, and the speed as a part of the copy's. See docs/running.md.",
     "permc bench -e sort --arguments '[1048576]u32'", bench_options,
     "-e --entry, --arguments --size -i, --strict-fp --fast-fp, --ranks --devices, "
     "--turns --compare",
     "FILE -e", verb_bench},
    {"tune", "[FILE]", 0, 1, "measure how a program runs best on this machine",
     "Plans an entry point of FILE (or the expression of -e) with other tiles, registers and\n"
     "accesses than the cost model chooses, measures each, and stores the best if it is better by\n"
     "more than 2 %: this program, at these sizes, runs so from then on, with every strategy.\n"
     "Otherwise what was stored before is removed. Arguments are random, of --arguments or "
     "--size,\n"
     "or come from the files of -i. See docs/running.md.",
     "permc tune -e sort --arguments '[2^20]u32' --backend cpu", tune_options,
     "--entry -e, --size --arguments -i, --dry-run --forget, --strict-fp --fast-fp", "FILE -e",
     verb_tune},
    {"machine", "dmm|umm|hmm [WHAT]", 1, 2, "count time units on a memory machine",
     "Executes WHAT on a Discrete, Unified or Hierarchical Memory Machine and counts time units,\n"
     "rounds and congestion: an access or algorithm of the papers (WHAT = help lists them), or,\n"
     "on an hmm, the plan of a program (FILE, -e EXPR) for GPUs, pass by pass. Each with a "
     "barrier\n"
     "after each round, beside the papers' formula, and free-running; results are checked.",
     "permc machine dmm stride --size 1024 --threads 256\n"
     "  permc machine hmm -e sort --arguments '[2^16]u32' --dmms 4",
     machine_options, NULL, NULL, verb_machine},
    {"fmt", "PATH...", 1, SIZE_MAX, "lay out programs: indents, blanks, long lines",
     "Rewrites each PATH in place, a file, or the .perm files in a folder at any depth; comments\n"
     "are kept. PATH - goes from standard input to standard output.",
     "permc fmt examples/sort.perm", fmt_options, NULL, NULL, verb_fmt},
    {"banks", "[FILE]", 0, 1, "find bank conflicts, and a layout without them",
     "Reads accesses to banked memory, such as a GPU's shared memory: on each line of FILE the\n"
     "addresses that the threads of a warp ask for at the same time, in words, decimal or 0x...,\n"
     "with blanks or commas between them; # starts a comment. Or the accesses of a program\n"
     "(FILE.perm, -e EXPR), as its plan for GPUs makes them when it exchanges through shared\n"
     "memory. Prints the class of accesses, what they cost under every bank layout, and the best\n"
     "as a C expression of the address. See docs/papers.md.",
     "permc banks examples/transpose.trace --banks 32", banks_options, NULL, "FILE -e", verb_banks},
    {"schedule", "FILE", 1, 1, "prepare a permutation for many arrays",
     "Makes a schedule of the permutation in FILE, an array of integers: three steps inside rows\n"
     "and columns, by which any number of arrays of that length and of any type are permuted. "
     "Where\n"
     "a program takes an array of integers, the schedule is that permutation.",
     "permc schedule p.npy -o p.sched", schedule_options, NULL, "-o", verb_schedule},
    {"paper", "NAME", 1, 1, "compute the tables of a paper again",
     "Prints the tables of a paper as permc computes them, beside what the paper has, with the\n"
     "deviation: rap (bank layouts by random permutations), hash (bank layouts by XOR), dmm and\n"
     "hmm (memory machines), bmmc (permutations in passes over memory). Random numbers are the\n"
     "same each time. docs/papers.md says why for every figure that differs.",
     "permc paper rap", paper_options, NULL, NULL, verb_paper},
    {"cache", "", 0, 0, "show, limit or clear what is kept of compiled programs",
     "Shows the cache: its folder (PERMC_CACHE), how many entries of compiled code, of tuned\n"
     "plans and of notes on runs it has, their size and its limit. Beyond the limit those go that\n"
     "were not used for the longest time.",
     "permc cache --limit 200MiB", cache_options, NULL, NULL, verb_cache},
    {"doctor", "", 0, 0, "say what was found of compiler, GPU and cache, and what is missing",
     "Tries the C compiler, NVRTC and each backend out, and says what was found: versions,\n"
     "threads, memory, cache, GPUs; and what to do about what is missing. Exit status 0: programs\n"
     "can run.",
     "permc doctor", no_options, NULL, NULL, verb_doctor},
    {"help", "[VERB|NAME]", 0, 1, "explain a verb, or a function of the language",
     "Prints how a verb is used, or the list of verbs; of a function or operator of the language\n"
     "its type, what it computes and an example.",
     "permc help run\n  permc help reduce", no_options, NULL, NULL, verb_help},
    {.name = NULL},
};
