// The kernels of permutations (kernels/routines/permute/permute_text.h) for the host, with
// counters, under the names NAME_CASE: included once for each PERMUTE_CASE, a number, with the
// definitions that permute_text would write.
#define PERMUTE_JOINED(name, number) name##_##number
#define PERMUTE_JOIN(name, number) PERMUTE_JOINED(name, number)
#define PERMUTE_OF(name) PERMUTE_JOIN(name, PERMUTE_CASE)
#ifndef PERMUTE_WIDE
#define PERMUTE_WIDE PERMUTE_OF(permute_wide)
#define PERMUTE_WORDS PERMUTE_OF(permute_words)
#define PERMUTE_EACH PERMUTE_OF(permute_each)
#define PERMUTE_EIGHT PERMUTE_OF(permute_eight)
#define PERMUTE_STEP PERMUTE_OF(permute_step)
#define permute_at PERMUTE_OF(permute_at)
#define permute_element PERMUTE_OF(permute_element)
#define permute_word PERMUTE_OF(permute_word)
#define permc_kernel_d_designated PERMUTE_OF(d_designated)
#define permc_kernel_s_designated PERMUTE_OF(s_designated)
#define permc_kernel_rows PERMUTE_OF(rows)
#define permc_kernel_columns PERMUTE_OF(columns)
#define permc_kernel_transpose PERMUTE_OF(transpose)
#define permc_kernel_transpose_back PERMUTE_OF(transpose_back)
#define permc_kernel_put PERMUTE_OF(put)
#define permc_kernel_collect PERMUTE_OF(collect)
#endif
