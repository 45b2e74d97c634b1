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
#define LISTED(word, form, lister, line)                                                           \
  { .name = word, .argument = form, .help = line, .list = lister }
#define END_OF_OPTIONS                                                                             \
  { .name = NULL }

// Options that several verbs have.
#define BACKENDS "auto|interp|cpu|portable|cuda|machine"
#define STRATEGY                                                                                   \
  LISTED("--strategy", "NAME", cli_list_strategies,                                                \
         "plan by this strategy where it applies; help lists them")
#define LAYOUT                                                                                     \
  LISTED("--layout", "NAME", cli_list_layouts,                                                     \
         "exchange by this bank layout, or NAME:SEED; help lists them")
#define THREADS                                                                                    \
  NUMBER("--threads", "N", 1, 1024, "threads of the cpu backend (default: the processors)")
#define TARGET_ISA VALUE("--target-isa", "ISA", "compile for native, baseline, avx2 or avx512")
#define STRICT_FP SWITCH("--strict-fp", "floats to the bit as interp computes them (the default)")
#define FAST_FP SWITCH("--fast-fp", "products and sums may be fused: other last bits")
#define CPU_OPTIONS THREADS, TARGET_ISA, STRATEGY, LAYOUT, STRICT_FP, FAST_FP

static const cli_option run_options[] = {
    VALUE("-e", "EXPR", "run this expression, such as 'padded maxval sort'"),
    VALUES("-i", "FILE", "read arguments from FILE (- is standard input)"),
    VALUES("-o", "FILE", "write a result to FILE: .npy, .bin or .dat, else text"),
    VALUE("--entry", "NAME", "the entry point to run (default: main)"),
    VALUE("--backend", BACKENDS, "what executes the program (default: auto)"),
    CPU_OPTIONS,
    VALUE("--random", "TYPES", "make arguments at random, such as '[1024]i32 i64'"),
    NUMBER("--seed", "S", 0, UINT64_MAX, "the seed of --random (default: 1)"),
    SWITCH("--time", "print the time of each stage to standard error"),
    SWITCH("--allow-extern", "let the program call C functions (extern)"),
    END_OF_OPTIONS,
};

static const cli_option check_options[] = {
    VALUES("--size", "NAME=SIZE", "elaborate at this value of a size name, such as n=30"),
    SWITCH("--time", "print the time of each stage to standard error"),
    END_OF_OPTIONS,
};

static const cli_option explain_options[] = {
    VALUE("-e", "EXPR", "explain this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "the entry point to explain (default: main)"),
    VALUES("--size", "NAME=SIZE", "the value of a size name of its signature, such as n=24"),
    VALUE("--arguments", "TYPES", "... or the types of its arguments, such as '[2^24]u32 i64'"),
    LISTED("--target", "TARGET", print_targets,
           "plan for this machine: a name, or a FILE; help lists them"),
    STRATEGY,
    LAYOUT,
    SWITCH("--machine", "instead: each pass on a memory hmm_machine like a GPU, and on a GPU"),
    SWITCH("--rules", "also list the rewrite rules that fired, and what they saved"),
    SWITCH("--json", "print one JSON object"),
    VALUE("--dump", "tree|types|trace|net|plan|c|cuda", "print this form of the program instead"),
    END_OF_OPTIONS,
};

static const cli_option test_options[] = {
    VALUE("--only", "TEXT", "only tests with TEXT in 'FILE:LINE ENTRY NAME'"),
    VALUES("--tag", "TAG", "only test blocks with one of these tags"),
    VALUES("--exclude", "TAG", "no test blocks with one of these tags"),
    NUMBER("--jobs", "N", 1, 4096, "how many files at a time (default: the processors)"),
    VALUE("--backend", BACKENDS, "what executes the programs (default: auto)"),
    CPU_OPTIONS,
    SWITCH("--allow-extern", "let the programs call C functions (extern)"),
    END_OF_OPTIONS,
};

static const cli_option bench_options[] = {
    VALUE("--suite", "sort|rows|bmmc|fft|padded|paper|layouts|scaling",
          "measure a suite of programs"),
    VALUE("-e", "EXPR", "measure this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "measure this entry point (default: main)"),
    VALUE("--arguments", "TYPES", "random arguments of these types, such as '[1024]i32'"),
    VALUES("--size", "NAME=SIZE", "... of these sizes of the signature; n=10..20: each of them"),
    VALUES("-i", "FILE", "... or arguments from FILE"),
    NUMBER("--seed", "S", 0, UINT64_MAX, "the seed of random arguments (default: 1)"),
    VALUE("--backend", BACKENDS, "what executes the programs (default: auto)"),
    CPU_OPTIONS,
    VALUE("--seconds", "S", "measure a case no longer than that (default: 2)"),
    VALUE("--only", "TEXT", "only cases with TEXT in their names"),
    VALUE("--peers", "FOLDER", "measure the peers in FOLDER (bench/peers) in the same rounds"),
    SWITCH("--json", "write figures to standard output, the table to standard error"),
    VALUE("--svg", "FILE", "write a plot to FILE"),
    VALUE("--compare", "OLD.json", "show what changed since; FILE may be NEW.json"),
    SWITCH("--allow-extern", "let the program call C functions (extern)"),
    END_OF_OPTIONS,
};

static const cli_option tune_options[] = {
    VALUE("-e", "EXPR", "tune this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "tune this entry point (default: main)"),
    VALUE("--arguments", "TYPES", "random arguments of these types, such as '[1024]i32'"),
    VALUES("--size", "NAME=SIZE", "... of these sizes of the signature, such as n=24"),
    VALUES("-i", "FILE", "... or arguments from FILE"),
    NUMBER("--seed", "S", 0, UINT64_MAX, "the seed of random arguments (default: 1)"),
    VALUE("--backend", "auto|cpu|cuda", "what executes the program (default: auto)"),
    CPU_OPTIONS,
    SWITCH("--dry-run", "measure and report, but store nothing"),
    SWITCH("--forget", "measure nothing, remove what is stored for this program"),
    SWITCH("--allow-extern", "let the program call C functions (extern)"),
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
    VALUE("--permutation", "NAME", "for d- and s-designated: its name, or a FILE with images"),
    VALUE("--addresses", "FILE", "for addresses: one number after the other, # comments"),
    NUMBER("--seed", "S", 0, UINT64_MAX, "of what is random (default: 1)"),
    VALUE("-e", "EXPR", "the plan of this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "... of this entry point (default: main)"),
    VALUE("--arguments", "TYPES", "... for arguments of these types, such as '[2^20]u32'"),
    STRATEGY,
    LAYOUT,
    SWITCH("--json", "print one JSON object"),
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
    NUMBER("--seed", "S", 0, UINT64_MAX, "the seed of random layouts (default: 1)"),
    VALUE("-e", "EXPR", "the plan of this expression, in FILE's scope if there is one"),
    VALUE("--entry", "NAME", "... of this entry point (default: main)"),
    VALUES("--size", "NAME=SIZE", "... at this value of a size name, such as n=20"),
    VALUE("--arguments", "TYPES", "... for arguments of these types, such as '[2^20]u32'"),
    STRATEGY,
    SWITCH("--json", "print one JSON object"),
    END_OF_OPTIONS,
};

static const cli_option paper_options[] = {
    SWITCH("--json", "print one JSON object"),
    END_OF_OPTIONS,
};

static const cli_option no_options[] = {END_OF_OPTIONS};

// ---- verbs -----------------------------------------------------------------------------------

const cli_verb cli_verbs[] = {
    {"run", "[FILE]", 0, 1, "run a program on data",
     "Runs an entry point of FILE (or the expression of -e, in FILE's scope if both are given).\n"
     "Arguments come from the files of -i, from --random, or else from standard input, one after\n"
     "the other: Futhark text or binary, NumPy .npy, or plain text with one number per line.\n"
     "Each -o takes one result, in order; what is left goes to standard output as text.",
     "permc run examples/sort.perm -i examples/keys.npy -o sorted.npy", run_options,
     "--random -i, --entry -e, --strict-fp --fast-fp", "FILE -e", verb_run},
    {"check", "FILE...", 1, SIZE_MAX, "find the mistakes of a program without running it",
     "Checks names and types of each FILE and elaborates its entry points, at sizes 0 to 4 or at\n"
     "those of --size. Sizes that fail are warnings, unless all fail or --size asked for them.",
     "permc check examples/spectrum.perm --size n=20 --time", check_options, NULL, NULL,
     verb_check},
    {"explain", "[FILE]", 0, 1, "show how a program will run at given sizes",
     "Plans an entry point of FILE (or the expression of -e) for given sizes, or for arguments of\n"
     "given types, and prints what it comes to: columns, permutations, and each pass over memory\n"
     "with what it reads, writes and costs. Nothing is run.",
     "permc explain examples/sort.perm --arguments '[2^24]f32'", explain_options,
     "--entry -e, --size --arguments, --dump --json, --dump --rules --machine", "FILE -e",
     verb_explain},
    {"test", "PATH...", 1, SIZE_MAX, "run the test blocks of programs",
     "Runs the test blocks (comments that start with -- ==) of each PATH: a file, or a directory\n"
     "with .perm files at any depth. The last line counts: N passed, N failed, N skipped.",
     "permc test examples --only sort --jobs 4", test_options, "--strict-fp --fast-fp", NULL,
     verb_test},
    {"bench", "[FILE]", 0, 1, "measure how long programs take",
     "Measures an entry point of FILE (or the expression of -e, or the programs of a suite), each\n"
     "compiled once, run many times in turn with a copy of as many bytes, its result verified.\n"
     "Prints median and least time, half the 95 % interval of the median, bytes of arguments and\n"
     "results per second, and the speed as a part of the copy's. See docs/measuring.md.",
     "permc bench -e sort --arguments '[1048576]u32'", bench_options,
     "--suite -e --entry, --suite --arguments --size -i, --suite FILE, --strict-fp --fast-fp",
     "FILE -e --suite", verb_bench},
    {"tune", "[FILE]", 0, 1, "measure how a program runs best on this machine",
     "Plans an entry point of FILE (or the expression of -e) with other tiles, registers and\n"
     "accesses than the cost model chooses, measures each, and stores the best if it is better by\n"
     "more than 2 %: this program, at these sizes, runs so from then on. Arguments are random, of\n"
     "--arguments or --size, or come from the files of -i. See docs/measuring.md.",
     "permc tune -e sort --arguments '[2^20]u32' --backend cpu", tune_options,
     "--entry -e, --size --arguments -i, --dry-run --forget, --strict-fp --fast-fp", "FILE -e",
     verb_tune},
    {"machine", "dmm|umm|hmm [WHAT]", 1, 2, "count time units on a memory machine",
     "Executes WHAT on a Discrete, Unified or Hierarchical Memory Machine and counts time units,\n"
     "rounds and congestion: an access or algorithm of the papers (WHAT = help lists them), or, "
     "on\n"
     "an hmm, the plan of a program (FILE, -e EXPR) for GPUs, pass by pass. Each with a barrier\n"
     "after each round, beside the papers' formula, and free-running; results are checked.",
     "permc machine dmm stride --size 1024 --threads 256\n"
     "  permc machine hmm -e sort --arguments '[2^16]u32' --dmms 4",
     machine_options, NULL, NULL, verb_machine},
    {"fmt", "FILE...", 1, SIZE_MAX, "lay out programs in the one canonical way",
     "Rewrites each FILE in place; comments are kept. FILE - goes from standard input to standard\n"
     "output.",
     "permc fmt examples/sort.perm", fmt_options, NULL, NULL, verb_fmt},
    {"banks", "[FILE]", 0, 1, "find bank conflicts, and a layout without them",
     "Reads accesses to banked memory, such as a GPU's shared memory: on each line of FILE the\n"
     "addresses that the threads of a warp ask for at the same time, in words, decimal or 0x...;\n"
     "# starts a comment. Or the accesses of a program (FILE.perm, -e EXPR), as its plan for GPUs\n"
     "makes them when it exchanges through shared memory. Prints the class of accesses, what they\n"
     "cost under every bank layout, and the best as a C expression of the address. See\n"
     "docs/banks.md.",
     "permc banks examples/transpose.trace --banks 32", banks_options, NULL, "FILE -e", verb_banks},
    {"paper", "NAME", 1, 1, "compute the tables of a paper again",
     "Prints the tables of a paper as permc computes them, beside what the paper has, with the\n"
     "deviation: rap (bank layouts by random permutations), hash (bank layouts by XOR), dmm and\n"
     "hmm (memory machines), bmmc (permutations in passes over memory). Random numbers are the\n"
     "same each time. docs/papers.md says why for every figure that differs.",
     "permc paper rap", paper_options, NULL, NULL, verb_paper},
    {"help", "[VERB]", 0, 1, "explain a verb and its options",
     "Prints how a verb is used, or the list of verbs.", "permc help run", no_options, NULL, NULL,
     verb_help},
    {.name = NULL},
};
