// Memory that runs out (memory_failure.h): calls that have effects of their own, then the life of
// fifty programs that cover the language. Each program has a process of its own.
#include "tests/unit/memory_failure.h"

// ---- calls of one session ----------------------------------------------------------------------

static const char session_program[] = "main : [2^n]i32 -> [2^n]i32\n"
                                      "main = sort\n"
                                      "\n"
                                      "sums : [2^n]f32 -> f32 -> [2^n]f32\n"
                                      "sums xs y = map (\\x -> x * 1.5 + y) (parm 1 id xs)\n"
                                      "\n"
                                      "difference : [2^n]i32 -> i32\n"
                                      "difference xs = reduce (-) xs\n";
static const char keys[] = "[7i32, 1i32, 5i32, 3i32, 2i32, 6i32, 0i32, 4i32]";

static bool create_context(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = NULL;
  permc_context_free(s->context);
  s->context = permc_context_new();
  return s->context;
}

static bool load_program(session *s) {
  return permc_load_text(s->context, "program.perm", session_program, sizeof session_program - 1);
}

// Whether the text is refused with a message that contains `says`.
static bool refuse_text(session *s, const char *wrong, const char *says) {
  return !permc_load_text(s->context, "wrong.perm", wrong, strlen(wrong)) &&
         strstr(permc_message(s->context), says);
}

static bool refuse_syntax(session *s) {
  return refuse_text(s, "main : [2^n]i32 -> \nmain = ) sort\n", "expected");
}

static bool refuse_types(session *s) {
  return refuse_text(s, "main : [2^n]i32 -> [2^n]f32\nmain = sort\n", "f32");
}

static bool define_expression(session *s) { return permc_define(s->context, "map (+ 1) (iota 4)"); }

static bool check_entries(session *s) { return permc_check(s->context, NULL, NULL, 0); }

static bool refuse_size(session *s) {
  permc_size size = {"n", 0};
  return !permc_check(s->context, "sums", &size, 1) &&
         strstr(permc_message(s->context), "this array has one element");
}

static bool name_types(session *s) {
  return permc_entry_type(s->context, "main") && permc_entry_type(s->context, "-e");
}

static bool explain_entry(session *s, const permc_explain_options *options) {
  permc_size size = {"n", 10};
  char *out = NULL;
  bool good = permc_explain(s->context, "main", &size, 1, options, &out);
  if (good == !out || (out && !*out)) {
    printf("permc_explain: %s with%s text\n", good ? "success" : "failure", out ? "" : "out");
    good = false;
  }
  free(out);
  return good;
}

static bool explain_text(session *s) {
  return explain_entry(s, &(permc_explain_options){.rules = true});
}

static bool explain_plan(session *s) {
  return explain_entry(s, &(permc_explain_options){.dump = "plan"});
}

static bool explain_net(session *s) {
  return explain_entry(s, &(permc_explain_options){.dump = "net"});
}

static bool format_program(session *s) {
  char *out = permc_format(s->context, "program.perm", session_program, sizeof session_program - 1);
  bool good = out && !strcmp(out, session_program);
  free(out);
  return good;
}

static bool read_arguments(session *s) {
  drop_arguments(s);
  return permc_read_bytes(s->context, "main", "keys", keys, sizeof keys - 1, &s->arguments,
                          &s->argument_count);
}

static bool run_entry(session *s, const char *backend) {
  permc_values_free(s->results, s->result_count);
  s->results = NULL;
  s->result_count = 0;
  if (!permc_run(s->context, "main", backend, s->arguments, s->argument_count, &s->results,
                 &s->result_count))
    return false;
  const int32_t *sorted = permc_value_data(s->results[0], 0);
  for (int32_t i = 0; i < 8; i++)
    if (sorted[i] != i)
      return false;
  return true;
}

static bool run_interp(session *s) { return run_entry(s, "interp"); }

static bool run_portable(session *s) { return run_entry(s, "portable"); }

static bool compile_types(session *s, const char *backend) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile_types(s->context, "main", backend, "[8]i32");
  return s->compiled;
}

static bool compile_portable(session *s) { return compile_types(s, "portable"); }
static bool compile_interp(session *s) { return compile_types(s, "interp"); }

static bool compile_like(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile(s->context, "main", "portable", s->arguments, s->argument_count);
  return s->compiled;
}

// On borrowed memory, into results that are made for it.
static bool call_program(session *s) {
  int32_t data[8] = {7, 1, 5, 3, 2, 6, 0, 4};
  uint64_t dims[1] = {8};
  permc_memory memory = {
      .type = "i32", .rank = 1, .dims = dims, .data = data, .device = PERMC_HOST};
  size_t count = 0;
  s->error = (permc_error){PERMC_ERROR_MEMORY, "out of memory"};
  permc_value *in = permc_value_borrow(&memory, &s->error);
  permc_value **out = in ? permc_results_new(s->compiled, &count) : NULL;
  bool good = out && permc_call(s->compiled, &in, 1, out, count, NULL, &s->error) == PERMC_OK;
  for (int32_t i = 0; good && i < 8; i++)
    good = ((const int32_t *)permc_value_data(out[0], 0))[i] == i && data[0] == 7;
  permc_value_free(in);
  permc_values_free(out, count);
  return good;
}

static bool refuse_law(session *s) {
  return !permc_check_laws(s->context, "difference", s->arguments, s->argument_count) &&
         strstr(permc_message(s->context), "not associative");
}

static const char *result_path(void) {
  static char path[1024];
  const char *folder = getenv("PERMC_TMP");
  snprintf(path, sizeof path, "%s/result.npy", folder ? folder : "/tmp");
  return path;
}

static bool write_result(session *s) {
  return permc_write_file(s->context, result_path(), s->results[0]);
}

static bool read_result(session *s) {
  const char *path = result_path();
  drop_arguments(s);
  return permc_read_files(s->context, "main", &path, 1, &s->arguments, &s->argument_count);
}

static bool read_random(session *s) {
  drop_arguments(s);
  return permc_read_random(s->context, "main", "[8]i32", 1, &s->arguments, &s->argument_count);
}

static bool read_random_at_size(session *s) {
  permc_size size = {"n", 3};
  drop_arguments(s);
  return permc_read_random_at(s->context, "main", &size, 1, 1, &s->arguments, &s->argument_count);
}

// In an order in which each finds what it needs.
static const call session_calls[] = {
    {"permc_context_new", create_context},
    {"permc_load_text, a syntax error", refuse_syntax},
    {"permc_load_text, a type error", refuse_types},
    {"permc_load_text", load_program},
    {"permc_define", define_expression},
    {"permc_check", check_entries},
    {"permc_check, a size that fails", refuse_size},
    {"permc_entry_type", name_types},
    {"permc_explain", explain_text},
    {"permc_explain, plan", explain_plan},
    {"permc_explain, net", explain_net},
    {"permc_format", format_program},
    {"permc_read_bytes", read_arguments},
    {"permc_run, interp", run_interp},
    {"permc_run, portable", run_portable},
    {"permc_compile_types, interp", compile_interp},
    {"permc_call, interp", call_program},
    {"permc_compile_types", compile_portable},
    {"permc_call", call_program},
    {"permc_compile", compile_like},
    {"permc_check_laws, one that does not hold", refuse_law},
    {"permc_write_file", write_result},
    {"permc_read_files", read_result},
    {"permc_read_random", read_random},
    {"permc_read_random_at", read_random_at_size},
};

// ---- fifty programs ----------------------------------------------------------------------------

static const example programs[] = {
    {"sort", "[2^4]u32"},
    {"sort", "[11]f32"},
    {"sort_desc", "[2^3](u16, i8)"},
    {"argsort", "[9]i64"},
    {"sort_stable_on (\\(k, x) -> k)", "[12](u8, u32)"},
    {"radix_sort", "[2^4]u16"},
    {"sample_sort", "[10]i32"},
    {"sort_by (\\x y -> x.0 >= y.0)", "[2^3](i32, u8)"},
    {"balanced_sort", "[2^3]f16"},
    {"column_sort", "[2^4]u32"},
    {"periodic_sort", "[2^3]bool"},
    {"padded maxval sort_network", "[5]u8"},
    {"top_k 3", "[2^4]f64"},
    {"merge_sorted", "[5]i32 [7]i32"},
    {"\\xs -> sort_ragged [1, 4, length xs - 1] xs", "[9]u32"},
    {"map_ragged 2 0 (scan (+)) [0, 3, 3, 7]", "[7]i32"},
    {"\\xs -> permute (ranks xs) xs", "[8]u32"},
    {"gather", "[3,0,7] [8]u32"},
    {"scatter", "[5,0,2] [3]f32 [8]f32"},
    {"\\ps xs -> permute (trusted ps) xs", "[3,1,0,2] [4]c64"},
    {"compact (\\x -> x > 0)", "[13]i32"},
    {"bucket 2 (\\x -> x & 3)", "[10]u8"},
    {"histogram 3 (\\x -> x & 7)", "[17]u16"},
    {"shuffle_random 3", "[11]u32"},
    {"bitrev", "[2^5]u8"},
    {"bmmc [4, 2, 1] 5", "[2^3]f64"},
    {"rotate 3", "[10]u16"},
    {"gray . ungray . shuffle . unshuffle", "[2^4]i32"},
    {"digitrev 2", "[2^4]c128"},
    {"bit_permute [2, 0, 1]", "[2^3]bool"},
    {"transpose", "[3][5]f32"},
    {"\\xs -> transpose (rows_of 3 xs)", "[12]u64"},
    {"\\xs -> concat (drop 2 xs) (take 2 xs)", "[9]f64"},
    {"map sort", "[3][2^2]i32"},
    {"unzip . map (\\(x, (y, z)) -> (y + x, z))", "[6](i32, (i32, f32))"},
    {"scan (+)", "[13]i64"},
    {"scan_segments max", "[8]bool [8]u32"},
    {"linear_recurrence 0.0", "[8]f64 [8]f64"},
    {"\\xs -> (sum xs, minimum xs, argmax xs)", "[14]i32"},
    {"\\xs -> (any (map (> 1.0) xs), count (< 0.0) xs, product xs)", "[8]f64"},
    {"is_sorted", "[9]u32"},
    {"fft", "[2^4]c64"},
    {"fwht", "[2^4]i32"},
    {"parm 5 reverse", "[2^3]u32"},
    {"parmi 1 (\\k xs -> map (+ k) xs)", "[2^3]i64"},
    {"column 2 (\\[x, y] -> [x + y, x - y])", "[2^3]f32"},
    {"map (\\x -> sqrt (abs (sin x)) + exp (x / 3.0))", "[7]f64"},
    {"map (\\x -> if x < 3 then i32 x << 2 else -7) (iota 9)", ""},
    {"main : [2^n]u32 -> [2^n]u32\n"
     "main xs = merged n (parm 1 sort xs)\n"
     "\n"
     "merged 0 xs = xs\n"
     "merged k xs = parm (2^(k-1)) (merged (k-1)) (vcolumn xs)\n",
     "[2^4]u32"},
    {"main : int -> [m]f32 -> ([m]f32, f32)\n"
     "main k xs = iter k step (xs, 0.0)\n"
     "\n"
     "step (xs, s) = (map (* 0.5) xs, s + maximum xs)\n",
     "3 [2^2]f32"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static bool check_program(session *s) {
  return permc_check_arguments(s->context, entry_of(s), s->program->types, NULL, 0);
}

static bool explain_program(session *s, const char *dump) {
  permc_explain_options o = {.types = s->program->types, .rules = !dump, .dump = dump};
  char *out = NULL;
  bool good = permc_explain(s->context, entry_of(s), NULL, 0, &o, &out) && out && *out;
  free(out);
  return good;
}

static bool explain_words(session *s) { return explain_program(s, NULL); }
static bool explain_page(session *s) { return explain_program(s, "html"); }
// Not all programs have one.
static bool explain_picture(session *s) {
  return explain_program(s, "picture.svg") || strstr(permc_message(s->context), " is not a ");
}
static bool explain_c(session *s) { return explain_program(s, "c"); }
static bool explain_cuda(session *s) { return explain_program(s, "cuda"); }

static bool run_program(session *s, const char *backend) {
  permc_value **results = NULL;
  size_t count = 0;
  bool good = permc_run(s->context, entry_of(s), backend, s->arguments, s->argument_count, &results,
                        &count);
  if (good && !s->expected) {
    s->expected = results;
    s->expected_count = count;
    return true;
  }
  good = good && are_expected(s, results, count);
  permc_values_free(results, count);
  return good;
}

static bool run_program_interp(session *s) { return run_program(s, "interp"); }
static bool run_program_portable(session *s) { return run_program(s, "portable"); }
static bool run_program_auto(session *s) { return run_program(s, NULL); }

static bool compile_program(session *s) {
  permc_compiled_free(s->compiled);
  s->compiled = permc_compile_types(s->context, entry_of(s), "portable", s->program->types);
  return s->compiled;
}

// The arguments where they are, component by component.
static permc_value *borrow_value(session *s, const permc_value *v) {
  permc_value *parts[4];
  size_t count = permc_value_components(v);
  for (size_t i = 0; i < count; i++)
    parts[i] = permc_value_borrow(&(permc_memory){.type = permc_value_type(v, i),
                                                  .rank = permc_value_rank(v, i),
                                                  .dims = permc_value_dims(v, i),
                                                  .data = (void *)(uintptr_t)permc_value_data(v, i),
                                                  .device = PERMC_HOST,
                                                  .read_only = true},
                                  &s->error);
  return permc_value_tuple(parts, count);
}

static bool call_compiled(session *s) {
  permc_value *in[3] = {NULL}, **out = NULL;
  size_t count = 0;
  bool good = true;
  s->error = (permc_error){PERMC_ERROR_MEMORY, "out of memory"};
  for (size_t i = 0; good && i < s->argument_count; i++)
    good = (in[i] = borrow_value(s, s->arguments[i])) != NULL;
  good = good && (out = permc_results_new(s->compiled, &count)) &&
         permc_call(s->compiled, in, s->argument_count, out, count, NULL, &s->error) == PERMC_OK &&
         are_expected(s, out, count);
  for (size_t i = 0; i < s->argument_count; i++)
    permc_value_free(in[i]);
  permc_values_free(out, count);
  return good;
}

static const call program_calls[] = {
    {"the program is loaded", load_source},
    {"permc_read_random", read_program_arguments},
    {"permc_check_arguments", check_program},
    {"permc_run, interp", run_program_interp},
    {"permc_run, portable", run_program_portable},
    {"permc_run, auto", run_program_auto},
    {"permc_compile_types", compile_program},
    {"permc_call", call_compiled},
    {"permc_explain", explain_words},
    {"permc_explain, html", explain_page},
    {"permc_explain, picture.svg", explain_picture},
    {"permc_explain, c", explain_c},
    {"permc_explain, cuda", explain_cuda},
};

TEST(calls_of_a_session) {
  share_trial();
  try_calls(NULL, &(call_list){session_calls, COUNT_OF(session_calls), 0, 12, NULL});
}

TEST(programs) {
  share_trial();
  for (size_t i = 0; i < PROGRAMS; i++) {
    random_state = i;
    try_calls(&programs[i], &(call_list){program_calls, COUNT_OF(program_calls), 0, 1, NULL});
  }
  print_part();
}

int main(int count, char **arguments) { return memory_failure_main(count, arguments); }
