// c_interface: ricci from C: a contraction as text, the same prepared for many calls, and products of batches of
// matrices. Every result is compared with plain loops. It runs on a GPU if there is one, else on the CPU.
#include <ricci/ricci.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 12, columns = 9, inner = 20, batch = 500 };

/// Ends the program where a call fails.
static void check(ricci_status status) {
    if (status == RICCI_SUCCESS) return;
    fprintf(stderr, "c_interface: %s (status %d)\n", ricci_last_error(), status);
    exit(status == RICCI_ENVIRONMENT || status == RICCI_OUT_OF_MEMORY ? 2 : 1);
}

/// `count` doubles on the device, copies of `from` unless it is NULL.
static double* on_device(ricci_device device, const double* from, size_t count) {
    void* memory = NULL;
    check(ricci_allocate(device, count * sizeof(double), &memory));
    if (from != NULL) check(ricci_copy(device, memory, RICCI_CPU, from, count * sizeof(double)));
    return memory;
}

static double* random_numbers(size_t count) {
    double* numbers = malloc(count * sizeof(double));
    if (numbers == NULL) exit(2);
    for (size_t n = 0; n < count; ++n) numbers[n] = 2.0 * rand() / RAND_MAX - 1;
    return numbers;
}

/// expected = alpha * A * B + beta * expected for each matrix of the batch; first index fastest.
static void plain_loops(double alpha, const double* a, const double* b, double beta, double* expected) {
    for (size_t e = 0; e < batch; ++e)
        for (size_t j = 0; j < columns; ++j)
            for (size_t i = 0; i < rows; ++i) {
                double sum = 0;
                for (size_t k = 0; k < inner; ++k)
                    sum += a[i + rows * (k + inner * e)] * b[k + inner * (j + columns * e)];
                double* const c = &expected[i + rows * (j + columns * e)];
                *c = alpha * sum + beta * *c;
            }
}

/// Whether the device's numbers are those expected, up to rounding.
static int is_right(const char* what, ricci_device device, const double* on, const double* expected, size_t count) {
    double* const numbers = malloc(count * sizeof(double));
    if (numbers == NULL) exit(2);
    check(ricci_copy(RICCI_CPU, numbers, device, on, count * sizeof(double))); // waits for the device
    double largest = 0;
    for (size_t n = 0; n < count; ++n) largest = fmax(largest, fabs(numbers[n] - expected[n]));
    free(numbers);
    printf("%-42s largest difference %.1e: %s\n", what, largest, largest < 1e-12 ? "right" : "WRONG");
    return largest < 1e-12;
}

int main(void) {
    ricci_device device = RICCI_CPU;
    check(ricci_default_device(&device));
    printf("ricci %s on %s\n", ricci_version(), device == RICCI_CPU ? "the CPU" : "a GPU");

    const size_t size_a = rows * inner * batch, size_b = inner * columns * batch, size_c = rows * columns * batch;
    double* const host_a = random_numbers(size_a);
    double* const host_b = random_numbers(size_b);
    double* const expected = calloc(size_c, sizeof(double));
    if (expected == NULL) return 2;
    double* const a = on_device(device, host_a, size_a);
    double* const b = on_device(device, host_b, size_b);
    double* const c = on_device(device, expected, size_c);
    int right = 1;

    // 1. A statement as text. The operands are named in it; without strides they are dense, first index fastest.
    const int64_t of_a[] = {rows, inner, batch}, of_b[] = {inner, columns, batch}, of_c[] = {rows, columns, batch};
    const ricci_operand operands[] = {
        {.name = "A", .type = RICCI_F64, .rank = 3, .extents = of_a, .data = a, .device = device},
        {.name = "B", .type = RICCI_F64, .rank = 3, .extents = of_b, .data = b, .device = device},
        {.name = "C", .type = RICCI_F64, .rank = 3, .extents = of_c, .data = c, .device = device},
    };
    check(ricci_contract("C(i,j,e) = A(i,k,e)*B(k,j,e)", 3, operands));
    plain_loops(1, host_a, host_b, 0, expected);
    right &= is_right("contraction as text", device, c, expected, size_c);

    // 2. The same for many calls: parsed and compiled once. alpha is a number that each call reads anew.
    double alpha = 0;
    const ricci_operand scaled[] = {
        operands[0], operands[1], operands[2],
        {.name = "alpha", .type = RICCI_F64, .data = &alpha, .device = RICCI_NUMBER},
    };
    ricci_program* program = NULL;
    check(ricci_prepare("C(i,j,e) += alpha*A(i,k,e)*B(k,j,e)", 4, scaled, &program));
    for (int step = 1; step <= 3; ++step) {
        alpha = 0.25 * step;
        check(ricci_run(program, 4, (void* const[]){a, b, c, &alpha}));
        plain_loops(alpha, host_a, host_b, 1, expected);
    }
    ricci_release(program);
    right &= is_right("prepared, run three times", device, c, expected, size_c);

    // 3. C = -0.5*A*B + 2*C, by the arguments of a BLAS.
    const double factor = -0.5, beta = 2;
    check(ricci_gemm_strided_batched(device, 'N', 'N', rows, columns, inner, &factor, a, RICCI_F64, rows,
                                     rows * inner, b, RICCI_F64, inner, inner * columns, &beta, c, RICCI_F64, rows,
                                     rows * columns, batch));
    plain_loops(factor, host_a, host_b, beta, expected);
    right &= is_right("batch of products, a stride apart", device, c, expected, size_c);

    // 4. The same with an array of pointers for each operand, which lies where the matrices do.
    static const double *to_a[batch], *to_b[batch];
    static double* to_c[batch];
    for (int e = 0; e < batch; ++e)
        to_a[e] = a + e * rows * inner, to_b[e] = b + e * inner * columns, to_c[e] = c + e * rows * columns;
    void *pointers_a = NULL, *pointers_b = NULL, *pointers_c = NULL;
    check(ricci_allocate(device, sizeof to_a, &pointers_a));
    check(ricci_allocate(device, sizeof to_b, &pointers_b));
    check(ricci_allocate(device, sizeof to_c, &pointers_c));
    check(ricci_copy(device, pointers_a, RICCI_CPU, to_a, sizeof to_a));
    check(ricci_copy(device, pointers_b, RICCI_CPU, to_b, sizeof to_b));
    check(ricci_copy(device, pointers_c, RICCI_CPU, to_c, sizeof to_c));
    check(ricci_gemm_batched(device, 'N', 'N', rows, columns, inner, &factor, pointers_a, RICCI_F64, rows, pointers_b,
                             RICCI_F64, inner, &beta, pointers_c, RICCI_F64, rows, batch));
    plain_loops(factor, host_a, host_b, beta, expected);
    right &= is_right("batch of products, by pointers", device, c, expected, size_c);

    // 5. What is wrong is refused, and named, before anything is written.
    const int64_t too_long[] = {inner + 1, columns, batch};
    const ricci_operand disagreeing[] = {
        operands[0],
        {.name = "B", .type = RICCI_F64, .rank = 3, .extents = too_long, .data = b, .device = device},
        operands[2],
    };
    const ricci_status status = ricci_contract("C(i,j,e) = A(i,k,e)*B(k,j,e)", 3, disagreeing);
    printf("\nA mistake gives status %d and says\n%s\n", status, ricci_last_error());
    right &= status == RICCI_REFUSED;

    void* const all[] = {a, b, c, pointers_a, pointers_b, pointers_c};
    for (size_t n = 0; n < sizeof all / sizeof *all; ++n) check(ricci_free(device, all[n]));
    free(host_a), free(host_b), free(expected);
    return right ? 0 : 1;
}
