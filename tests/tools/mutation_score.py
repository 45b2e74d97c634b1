#!/usr/bin/env python3
"""mutation_score.py BUILD [--seed N] [--count N] [--only FOLDER] [--output FILE]

How many faults, put into the C code on purpose, the tests of a folder find. For each folder of the
table below it changes one line at a time (an operator, a constant, a condition, a removed
statement), builds the folder's tests in BUILD and runs them. A mutant whose library is the same to
the bit is equivalent and not counted (Papadakis et al., Trivial compiler equivalence, ICSE 2015).
It edits the sources of BUILD in place and restores them: use a clone, and a user who owns nothing
else, because a mutant may remove files. Each mutant that survives is printed.
"""

import argparse, glob, hashlib, os, random, re, resource, shutil, subprocess, sys

PERM = "perm/stdlib perm/examples perm/tests/language"
# Folders, and the tests that run, the quick ones first.
FOLDERS = {
    "core/*.c": f"error_test f2_test f2_space_test memory_test {PERM} cli",
    "core/scalar": "scalar_test scalar_convert_test scalar_float_test scalar_half_test oracle",
    "lang": f"limits_test trace_test {PERM} docs/examples cli golden "
    "language_test language_arrays_test language_scalars_test",
    "fusion": "net_test net_verify_test net_text_test rules_test plan_text_test explain_test "
    f"portable_test {PERM} docs/examples oracle execute_test docs/outputs",
    "kernels/banks": "address_text_test layout_test banks_plan_test docs/outputs paper_test",
    "kernels/hmm": "hmm_test cli golden docs/outputs oracle hmm_papers_test",
    "kernels/emit kernels/ops kernels/schedule kernels/text kernels/transfer": "cpu_test "
    "explain_test nvrtc_test fast_fp_test oracle c_emit_test c_emit_operations_test "
    "c_emit_programs_test",
    "runtime/values runtime/arguments": f"value_half_test value_text_test value_table_test value_npy_test "
    f"value_output_test value_test {PERM} cli bad_data",
    "runtime/portable runtime/interp": f"interp_run_test portable_test {PERM} oracle interp_test",
    "runtime/cpu runtime/compiled runtime/system": "cpu_test pool_test memory_test cache_test "
    "compiler_test interrupt_test cli oracle",
    "runtime/cuda": "cuda_test cuda_program_test cuda_calls_test cuda_peers_test nvrtc_test",
    "runtime/gpu": "cuda_program_test cuda_calls_test cuda_routines_test cuda_buffers_test "
    "cuda_peers_test fast_fp_test",
    "runtime/*.c runtime/context runtime/explain runtime/foreign runtime/measure": f"error_test limits_test foreign_test explain_test bench_rounds_test api_test {PERM} cli bad_data golden",
    "tool/verbs tool/cli": "docs/pages cli bad_data golden bench docs/outputs",
    "tool/testing": f"{PERM} cli golden",
    "tool/bench tool/reports tool/papers": "bench_report_test explain_test bench "
    "bench_suites paper_test cli docs/outputs golden",
}
SWAPS = dict(
    pair.split()
    for pair in "== !=,!= ==,< <=,<= <,> >=,>= >,&& ||,|| &&,+ -,- +,* +,/ *,% /,<< >>,>> <<,& |,"
    "| &,^ &,+= -=,-= +=,|= &=,&= |=,true false,false true".split(",")
)
TOKEN = re.compile(
    r'"(?:\\.|[^"])*"|\'(?:\\.|[^\'])*\'|//.*|\b(?:true|false)\b|\b\d+\b'
    r"|(?<= )(?:==|!=|<=|>=|&&|\|\||<<|>>|[-+|&]=|[-+*/%<>&|^])(?= )"
)
STATEMENT = re.compile(
    r"^\s+(?:[\w.>\[\]-]+(?: [-+|&^*]?= |\()|return\b|\+\+|--|\w+(?:\+\+|--);).*;$"
)


def mutants_of(line):
    """Every changed text of one line of code."""
    found = []
    if not line.startswith(" ") or line.lstrip().startswith(
        ("//", "#", "static", "enum", "assert")
    ):
        return found
    for token in TOKEN.finditer(line):
        text, start, end = token.group(), token.start(), token.end()
        if text in SWAPS:
            found.append(line[:start] + SWAPS[text] + line[end:])
        elif text.isdigit():
            found.append(line[:start] + str(int(text) + 1) + line[end:])
    if STATEMENT.match(line) and not line.lstrip().startswith("return"):
        found.append(line[: len(line) - len(line.lstrip())] + ";")
    condition = re.match(r"^(.*\b(?:if|while) )(\(.*\))( \{)?$", line)
    if condition and condition[2].count("(") == condition[2].count(")"):
        found.append(f"{condition[1]}(!{condition[2]}){condition[3] or ''}")
    return found


def limit_resources():
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


def succeeds(command, seconds=1200):
    null = subprocess.DEVNULL
    streams = {"stdin": null, "stdout": null, "stderr": null, "start_new_session": True}
    with subprocess.Popen(command, preexec_fn=limit_resources, **streams) as child:
        try:
            return child.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            return False


def libraries(build):
    digest = hashlib.sha256()
    for name in ("libpermc_core.a", "libpermc_tool.a"):
        with open(f"{build}/{name}", "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", default="/dev/stdout")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    cache = open(f"{build}/CMakeCache.txt").read()
    root = re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", cache)[1]
    output = open(options.output, "a")
    for folders, tests in FOLDERS.items():
        if options.only not in folders:
            continue
        targets = [test for test in tests.split() if test.endswith("_test")]
        make = ["cmake", "--build", build, "-j2", "--target", "permc", "memcpy_peer", *targets]
        ctest = ["ctest", "--test-dir", build, "--timeout", "300", "--no-tests=error", "-R"]
        runs = [[*ctest, f"^(unit/)?{test}$"] for test in tests.split()]
        if not succeeds(make) or not all(succeeds(run) for run in runs):
            sys.exit(f"mutation_score.py: without a mutant the tests of {folders} fail")
        unchanged = libraries(build)
        lines = []
        for folder in folders.split():
            pattern = folder if folder.endswith(".c") else f"{folder}/**/*.[chi]*"
            for path in sorted(glob.glob(f"{root}/{pattern}", recursive=True)):
                for number, line in enumerate(open(path).read().split("\n")):
                    lines += [(path, number, line, text) for text in mutants_of(line)]
        order = random.Random(f"{options.seed} {folders}").sample(lines, len(lines))
        killed, survived = 0, 0
        for path, number, line, text in order:
            if killed + survived == options.count:
                break
            shutil.copy2(path, path + ".original")
            try:
                code = open(path).read().split("\n")
                code[number] = text
                open(path, "w").write("\n".join(code))
                if not succeeds(make) or libraries(build) == unchanged:
                    continue
                found = next((run[-1] for run in runs if not succeeds(run)), None)
            finally:
                shutil.move(path + ".original", path)
                os.utime(path)
            killed, survived = killed + (found is not None), survived + (found is None)
            if not found:
                place = f"{os.path.relpath(path, root)}:{number + 1}"
                print(
                    f"survived {place}: {line.strip()}  =>  {text.strip()}", file=output, flush=True
                )
        score = f"{killed} of {killed + survived} killed, of {len(lines)} possible"
        print(f"{folders}: {score}", file=output, flush=True)


main()
