// ricci.h: the C interface: contractions as text, products of batches of matrices; <ricci/ricci.h> when installed.
//
// C99 and later, C++, and Fortran through iso_c_binding (examples/fortran). docs/c_interface.md has examples.
//
// Statuses. Every function but ricci_last_error, ricci_version and ricci_release returns one:
//     0       it is done (on a GPU: launched)
//     -i      its i-th argument is wrong, counted from 1, as LAPACK's INFO
//     1 to 4  RICCI_REFUSED ... RICCI_INTERNAL, below
// ricci_last_error() says what was wrong. Whatever is refused has written nothing, and no C++ exception comes out.
//
// Units. Extents, strides and leading dimensions count elements, never bytes; the first index is the fastest where
// nothing is said, as in BLAS. Memory must be aligned to its elements, complex ones to their parts.
//
// Threads. All functions may be called by any number of threads at once, a ricci_program by several too. The message,
// and the stream of each device, belong to the calling thread. As with all memory, who writes a tensor that another
// thread reads or writes must agree with it on an order.
//
// Time. On the CPU a call returns when its result is there. On a GPU it returns when its kernels are launched, on the
// device's current stream; ricci_synchronize waits. The first call of a kind compiles a kernel, which takes up to a
// few seconds; it is kept in memory and on disk.
#ifndef RICCI_H
#define RICCI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is chosen by name is an int: any value can be refused, and Fortran has the same type.

typedef int ricci_status;
enum {
    RICCI_SUCCESS = 0,
    RICCI_REFUSED = 1,       ///< the statement is wrong, or does not fit its operands
    RICCI_ENVIRONMENT = 2,   ///< the machine lacks something: a device, a driver, a compiler that works
    RICCI_OUT_OF_MEMORY = 3, ///< of the host or of a device
    RICCI_INTERNAL = 4       ///< a mistake of ricci's: please report it
};

/// Of an element. None is 0, so that a forgotten one is found.
typedef int ricci_type;
enum {
    RICCI_F16 = 1,  ///< binary16, 2 bytes
    RICCI_BF16 = 2, ///< bfloat16, 2 bytes
    RICCI_F32 = 3,  ///< float
    RICCI_F64 = 4,  ///< double
    RICCI_C64 = 5,  ///< float _Complex, 8 bytes
    RICCI_C128 = 6, ///< double _Complex, 16 bytes
    RICCI_I32 = 7,  ///< int32_t, of index tables, pivots and info only
    RICCI_I64 = 8   ///< int64_t, likewise
};

/// Where memory is.
typedef int ricci_device;
#define RICCI_CPU 0
/// Of an operand of rank 0: a number in the host's memory, which is read when a statement is run, on whatever device.
#define RICCI_NUMBER 1
/// A GPU, from 0.
#define RICCI_CUDA(ordinal) (256 + (ordinal))

/// What went wrong in this thread's last call that failed, for a person to read; "" before the first. It stays as it
/// is until the next call of this thread that fails.
const char* ricci_last_error(void);

/// "0.1.0"
const char* ricci_version(void);

// -- Statements as text

/// A tensor that a text names: element (i, j, ...) lies at data + i*strides[0] + j*strides[1] + ...
typedef struct ricci_operand {
    const char* name;       ///< letters, digits and underscores
    ricci_type type;
    int rank;               ///< indices, at most 32; 0: one number
    const int64_t* extents; ///< `rank` of them
    const int64_t* strides; ///< `rank` of them, any sign, 0 too; NULL: dense, the first index fastest
    void* data;             ///< written only where the name stands on a left side
    ricci_device device;    ///< where data points to; the same for all tensors of a statement
} ricci_operand;

/// Runs the statements of `text`, in order: "C(i,j,e) = A(i,k,e)*B(k,j,e)". docs/language.md tells what can stand in
/// it: =, += and -=, sums, products and quotients, functions, ranges, tables; ';' separates statements. A name on a
/// left side that is not among the operands, and is read by a later statement, is an intermediate: ricci makes it, of
/// the size and type that its statement says. All statements are checked before the first one runs, with the entries
/// of index tables where these are checked: on a CPU, and on a GPU with RICCI_CHECK=1, which also checks the pivots that
/// lu_solve reads. Every operand must be used. What is described is copied: names and arrays may go when the call
/// returns.
ricci_status ricci_contract(const char* text, int count, const ricci_operand* operands);

/// A text, parsed, and bound to the shapes of its operands.
typedef struct ricci_program ricci_program;

/// Makes a program of what ricci_contract would run, for calls that come often: its kernels are compiled now, and a
/// call by ricci_run costs no more than its launches and a look-up. The pointers given are those that ricci_run takes
/// where it is given none, and an example of others: kernels are made for what is aligned and overlaps as they do.
/// Where data is NULL, it counts as aligned to 256 bytes and apart from the rest. *program is NULL after a failure.
ricci_status ricci_prepare(const char* text, int count, const ricci_operand* operands, ricci_program** program);

/// Runs a program with data[n] in place of the n-th operand's; with those of ricci_prepare where data is NULL. Other
/// alignments and overlaps than those are right too: the first time they are met, a kernel may be compiled.
ricci_status ricci_run(const ricci_program* program, int count, void* const* data);

/// Frees a program; NULL is allowed.
void ricci_release(ricci_program* program);

/// What becomes of each statement: passes, kernels, bytes, flops and the time that a model predicts. Writes at most
/// `size` bytes to `text_out`, the last of them '\0', and the length of the whole, without it, to *length, unless
/// that is NULL; text_out may be NULL if size is 0. Runs nothing; data may be NULL.
ricci_status ricci_explain(const char* text, int count, const ricci_operand* operands, char* text_out, size_t size,
                           size_t* length);

// -- Products of batches of matrices
//
// C_e = alpha * op(A_e) * op(B_e) + beta * C_e for e = 0 ... count-1, matrices column by column as in BLAS: op(A) is
// m x k, op(B) is k x n, C is m x n. op is given by 'N' (as it is), 'T' (transposed) or 'C' (conjugate transposed),
// small letters too. The leading dimension of A is at least its rows as they are in memory: m with 'N', else k; that
// of B k or n, that of C m; and at least 1.
//
// The three matrices may have different types of numbers. It is computed in their promotion, at least float, and
// rounded once. C is complex where A or B is.
//
// alpha and beta are on the host: a double, or two, real and imaginary part, where C is complex. They are doubles
// whatever the types, since with mixed types a caller would have to know the type that it is computed in, and a
// double holds the numbers of all of them. With beta 0 C is not read, with alpha 0 neither A nor B is.

/// Matrix e of A begins at a + e*stride_a; strides have any sign, and 0 for A and B means one matrix for all. No two
/// matrices of C may have an element in common. C may overlap A or B: all is read before anything is written.
ricci_status ricci_gemm_strided_batched(ricci_device device, char trans_a, char trans_b, int64_t m, int64_t n,
                                        int64_t k, const double* alpha, const void* a, ricci_type type_a,
                                        int64_t lda, int64_t stride_a, const void* b, ricci_type type_b, int64_t ldb,
                                        int64_t stride_b, const double* beta, void* c, ricci_type type_c,
                                        int64_t ldc, int64_t stride_c, int64_t count);

/// Matrix e of A begins at a[e]. The arrays of pointers, `count` long, are in the device's memory too. No two
/// matrices of C may overlap, nor may C overlap A or B, but for the same array of pointers given for both.
ricci_status ricci_gemm_batched(ricci_device device, char trans_a, char trans_b, int64_t m, int64_t n, int64_t k,
                                const double* alpha, const void* const* a, ricci_type type_a, int64_t lda,
                                const void* const* b, ricci_type type_b, int64_t ldb, const double* beta,
                                void* const* c, ricci_type type_c, int64_t ldc, int64_t count);

// -- Devices

/// What RICCI_DEVICE in the environment says (cpu, cuda, cuda:1), else the first usable GPU, else the CPU.
ricci_status ricci_default_device(ricci_device* device);

/// This thread's calls on `device` go to `stream` (a cudaStream_t or CUstream; NULL: the default stream) from now on,
/// behind what this thread gave to the stream before. No effect on the CPU. Calls may be captured into a CUDA graph
/// after one run, or ricci_prepare.
ricci_status ricci_set_stream(ricci_device device, void* stream);

/// Waits until all that this thread gave to `device` has finished.
ricci_status ricci_synchronize(ricci_device device);

/// Memory for who has no other way to a device's: cudaMalloc's pointers and others serve as well. Its contents are
/// undefined. Aligned to 256 bytes (64 on the CPU); on a GPU allocated and freed in the order of the stream.
ricci_status ricci_allocate(ricci_device device, size_t bytes, void** memory);
ricci_status ricci_free(ricci_device device, void* memory);

/// Copies bytes between any two devices. On one GPU in the order of the stream; else it has been done on return.
ricci_status ricci_copy(ricci_device to, void* target, ricci_device from, const void* source, size_t bytes);

// -- Choices, for the calls of all threads from now on

enum {
    RICCI_MATH_FULL = 0, ///< products of floats are exact to float
    RICCI_MATH_TF32 = 1  ///< a GPU's tensor cores may round them to TF32, 11 bits
};
ricci_status ricci_set_math(int math);

enum {
    RICCI_TUNING_OFF = 0,         ///< a model chooses among kernels
    RICCI_TUNING_CACHED = 1,      ///< what was measured, else the model; so it is at first
    RICCI_TUNING_ON_FIRST_USE = 2 ///< what was never measured is, when it first runs
};
ricci_status ricci_set_tuning(int tuning);

#ifdef __cplusplus
}
#endif

#endif
