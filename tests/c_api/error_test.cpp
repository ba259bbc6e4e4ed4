// error_test: every mistake at the C interface has its status and one message, and nothing is written.
#include "tests/c_api/support.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <thread>

using namespace c_api_test;
using Catch::Contains;

namespace {

const std::vector<std::int64_t> square{2, 2}, negative{2, -1}, vector{2};
double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {9, 9, 9, 9};
constexpr auto text = "C(i,j) = A(i,k)*B(k,j)";

ricci_operand on_cpu(const char* name, const std::vector<std::int64_t>& extents, void* data) {
    return {name, RICCI_F64, static_cast<int>(extents.size()), extents.data(), nullptr, data, RICCI_CPU};
}

/// A, B and C, with the second one changed.
std::string contract_with(ricci_status expected, const std::function<void(ricci_operand&)>& change) {
    ricci_operand operands[] = {on_cpu("A", square, a), on_cpu("B", square, b), on_cpu("C", square, c)};
    change(operands[1]);
    return refused(expected, ricci_contract(text, 3, operands));
}

std::string contract(ricci_status expected, const char* statement, const std::vector<ricci_operand>& operands) {
    return refused(expected, ricci_contract(statement, static_cast<int>(operands.size()), operands.data()));
}

/// The arguments of a product of two batches of two 2 x 3 and 3 x 1 matrices, which a test changes one of.
struct gemm {
    ricci_device device = RICCI_CPU;
    char trans_a = 'N', trans_b = 'N';
    std::int64_t m = 2, n = 1, k = 3, count = 2;
    double one = 1, zero = 0;
    const double *alpha = &one, *beta = &zero;
    double memory[20] = {};
    const void *a = memory, *b = memory;
    void* c = memory + 16;
    int type_a = RICCI_F64, type_b = RICCI_F64, type_c = RICCI_F64;
    std::int64_t lda = 2, stride_a = 6, ldb = 3, stride_b = 3, ldc = 2, stride_c = 2;
    const void* pointers_a[2] = {memory, memory + 6};
    const void* pointers_b[2] = {memory, memory + 3};
    void* pointers_c[2] = {memory + 16, memory + 18};

    ricci_status strided() const {
        return ricci_gemm_strided_batched(device, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, stride_a, b,
                                          type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, count);
    }
    ricci_status by_pointers() const {
        return ricci_gemm_batched(device, trans_a, trans_b, m, n, k, alpha, a == nullptr ? nullptr : pointers_a,
                                  type_a, lda, b == nullptr ? nullptr : pointers_b, type_b, ldb, beta,
                                  c == nullptr ? nullptr : pointers_c, type_c, ldc, count);
    }
};

/// A wrong argument is refused in both forms, under the name that it has and its number in each.
void refuses(int strided, int by_pointers, const std::string& message, const std::function<void(gemm&)>& change) {
    gemm x;
    change(x);
    INFO(message);
    CHECK_THAT(refused(-strided, x.strided()),
               Contains(fmt::format("ricci_gemm_strided_batched: argument {} ({}", strided, message)));
    CHECK_THAT(refused(-by_pointers, x.by_pointers()),
               Contains(fmt::format("ricci_gemm_batched: argument {} ({}", by_pointers, message)));
    for (const double element : x.memory) CHECK(element == 0);
}

} // namespace

TEST_CASE("before the first failure the message is empty, and each thread has its own") {
    CHECK(ricci_contract(nullptr, 0, nullptr) == -1);
    CHECK_THAT(ricci_last_error(), Contains("ricci_contract: argument 1 (text) is NULL"));
    std::thread([] {
        CHECK(std::string(ricci_last_error()).empty());
        CHECK(ricci_run(nullptr, 0, nullptr) == -1);
        CHECK_THAT(ricci_last_error(), Contains("ricci_run: argument 1 (program) is NULL"));
    }).join();
    CHECK(ricci_synchronize(RICCI_CPU) == RICCI_SUCCESS); // leaves it
    CHECK_THAT(ricci_last_error(), Contains("ricci_contract: argument 1 (text) is NULL"));
    CHECK_THAT(ricci_version(), Contains("."));
}

TEST_CASE("wrong operands are named by their place and their name") {
    const auto broken = [](const std::string& message, const std::function<void(ricci_operand&)>& change) {
        CHECK_THAT(contract_with(-3, change), Contains("ricci_contract: argument 3 (operands) is wrong: " + message));
    };
    broken("operand 2 has no name: it is NULL", [](auto& o) { o.name = nullptr; });
    broken("operand 2 ('') has a name that cannot name a tensor", [](auto& o) { o.name = ""; });
    broken("operand 2 ('2B') has a name that cannot", [](auto& o) { o.name = "2B"; });
    broken("operand 2 ('exp') has a name that cannot", [](auto& o) { o.name = "exp"; });
    broken("operands 1 and 2 are both named 'A'", [](auto& o) { o.name = "A"; });
    broken("operand 2 ('B') has the type 0: expected RICCI_F16, ... RICCI_I64", [](auto& o) { o.type = 0; });
    broken("operand 2 ('B') has the type 9", [](auto& o) { o.type = 9; });
    broken("operand 2 ('B') has the rank -1: expected 0 to 32", [](auto& o) { o.rank = -1; });
    broken("operand 2 ('B') has the rank 33", [](auto& o) { o.rank = 33; });
    broken("operand 2 ('B') has no extents: they are NULL", [](auto& o) { o.extents = nullptr; });
    broken("operand 2 ('B') has the extent -1 in position 2", [](auto& o) { o.extents = negative.data(); });
    const std::int64_t huge[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    broken("operand 2 ('B') has more elements than 64 bits can count", [&](auto& o) { o.extents = huge; });
    broken("operand 2 ('B') has the device -1: expected RICCI_CPU, or RICCI_CUDA(n) with n from 0 to 63",
           [](auto& o) { o.device = -1; });
    broken("operand 2 ('B') has the device 255", [](auto& o) { o.device = RICCI_CUDA(-1); });
    broken("operand 2 ('B') has the device 320", [](auto& o) { o.device = RICCI_CUDA(64); });
    broken("operand 2 ('B') has the rank 2, but RICCI_NUMBER is of rank 0",
           [](auto& o) { o.device = RICCI_NUMBER; });
    broken("operand 2 ('B') is of integers, but RICCI_NUMBER",
           [](auto& o) { o.device = RICCI_NUMBER, o.rank = 0, o.type = RICCI_I32; });
    CHECK(refused(-2, ricci_contract(text, -1, nullptr)) == "ricci_contract: argument 2 (count) is -1");
    CHECK(refused(-3, ricci_contract(text, 2, nullptr)) ==
          "ricci_contract: argument 3 (operands) is NULL, but there are 2");
    CHECK(c[0] == 9);
}

TEST_CASE("wrong texts and operands that do not fit are refused with the statement") {
    const auto A = on_cpu("A", square, a), B = on_cpu("B", square, b), C = on_cpu("C", square, c);
    const auto x = on_cpu("x", vector, a);
    double factor = 2;
    const ricci_operand alpha{"alpha", RICCI_F64, 0, nullptr, nullptr, &factor, RICCI_NUMBER};
    const auto said = [](const char* statement, const std::vector<ricci_operand>& operands,
                         const std::string& message) {
        INFO(statement);
        CHECK_THAT(contract(RICCI_REFUSED, statement, operands), Contains(message));
    };
    said("", {}, "no statement");
    said("C(i,j) = A(i,k)*B(k,j", {A, B, C}, "column 22: expected ',' or ')', found the end");
    said("C(i,j) = A(i,k)*D(k,j)", {A, B, C}, "column 17: 'D' is none of the operands");
    said("C(i,j) = inverze(A(i,j), i, j)", {A, C},
         "column 10: 'inverze' is none of the operands, and there is no routine 'inverze'; the nearest is inverse");
    said("D(i,j) = A(i,k)*B(k,j)", {A, B}, "column 1: 'D' is none of the operands, and no later statement reads it");
    said("C(i,j) = A(i,j)", {A, B, C}, "'B' is among the operands, but no statement uses it");
    said("C(i,j) = A(i,j) + x(i,j)", {A, x, C}, "'x' has 1 axis, not 2");
    said("C(i,j) = A(i,k)*x(k)*B(k(0,3),j)", {A, x, B, C}, "the range (0, 3) of index k leaves position 2 of A");
    said("C(i,i) = A(i,0); C(i,0) = A(i,2)", {A, C}, "position 2 of A is fixed at 2, but its extent is 2");
    said("C(n(0,N),j) = 0", {A, C}, "'n' is none of the operands; or, if 'n' is an index, write integers");
    said("T(i,j) += A(i,j); C(i,j) = T(i,j)", {A, C}, "'T' does not exist, so nothing can be added to it");
    said("alpha = A(i,i)", {alpha, A}, "'alpha' is a number (RICCI_NUMBER): it cannot be assigned to");
    said("C(i,j) = alpha(0)*A(i,j)", {alpha, A, C}, "'alpha' is a number (RICCI_NUMBER): it has no positions");
    said("C(i,j) = A(i,alpha(j))", {alpha, A, C}, "'alpha' is a number (RICCI_NUMBER): it has no positions");
    auto no_data = C, misaligned = C, complex = A;
    no_data.data = nullptr;
    said("C(i,j) = A(i,j)", {A, no_data}, "C has no memory: its data is null");
    misaligned.data = reinterpret_cast<char*>(c) + 1;
    said("C(i,j) = A(i,j)", {A, misaligned}, "is not aligned to its elements' 8 bytes");
    complex.type = RICCI_C128;
    said("C(i,j) = A(i,j)", {complex, C}, "the right side is complex, C is f64");
    const std::int64_t zero_strides[] = {0, 1};
    auto repeated = C;
    repeated.strides = zero_strides;
    said("C(i,j) = A(i,j)", {A, repeated}, "C(i, j) is written more than once in an element");
    factor = 2;
    auto missing = alpha;
    missing.data = nullptr;
    CHECK(contract(-3, "C(i,j) = alpha*A(i,j)", {missing, A, C}) ==
          "ricci_contract: argument 3 (operands) is wrong: the number 'alpha' is NULL");
    for (const double element : c) CHECK(element == 9);
}

TEST_CASE("programs refuse what contractions do, and other numbers of pointers") {
    const ricci_operand operands[] = {on_cpu("A", square, a), on_cpu("B", square, b), on_cpu("C", square, c)};
    const ricci_operand disagreeing[] = {operands[0], on_cpu("B", vector, b), operands[2]};
    ricci_program* program = reinterpret_cast<ricci_program*>(&c);
    CHECK_THAT(refused(RICCI_REFUSED, ricci_prepare(text, 3, disagreeing, &program)),
               Contains("ricci_prepare: ") && Contains("'B' has 1 axis, not 2"));
    CHECK(program == nullptr);
    CHECK(refused(-1, ricci_prepare(nullptr, 3, operands, &program)) == "ricci_prepare: argument 1 (text) is NULL");
    CHECK(refused(-4, ricci_prepare(text, 3, operands, nullptr)) == "ricci_prepare: argument 4 (program) is NULL");
    const std::vector<std::int64_t> three_by_two{3, 2};
    const ricci_operand longer[] = {operands[0], on_cpu("B", three_by_two, b), operands[2]};
    CHECK_THAT(refused(RICCI_REFUSED, ricci_prepare(text, 3, longer, &program)),
               Contains("index k has extent 2 in position 2 of A and 3 in position 1 of B"));
    RICCI_OK(ricci_prepare(text, 3, operands, &program));
    void* const data[] = {a, b, nullptr};
    CHECK(refused(-2, ricci_run(program, 2, data)) ==
          "ricci_run: argument 2 (count) is 2, but the program has 3 operands");
    CHECK_THAT(refused(RICCI_REFUSED, ricci_run(program, 3, data)), Contains("ricci_run: C has no memory"));
    ricci_release(program);

    double factor = 2;
    const ricci_operand scaled[] = {operands[0], operands[2],
                                    {"f", RICCI_F64, 0, nullptr, nullptr, &factor, RICCI_NUMBER}};
    RICCI_OK(ricci_prepare("C(i,j) = f*A(i,j)", 3, scaled, &program));
    void* const without[] = {a, c, nullptr};
    CHECK(refused(-3, ricci_run(program, 3, without)) ==
          "ricci_run: argument 3 (data) is wrong: the number 'f' is NULL");
    ricci_release(program);
    std::size_t length = 0;
    CHECK(refused(-4, ricci_explain(text, 3, operands, nullptr, 5, &length)) ==
          "ricci_explain: argument 4 (text_out) is NULL");
    for (const double element : c) CHECK(element == 9);
}

TEST_CASE("a statement that is refused keeps those before it from running") {
    std::vector<double> big(1 << 10);
    const std::vector<std::int64_t> ten{10};
    const auto A = on_cpu("A", square, a), C = on_cpu("C", square, c), x = on_cpu("x", ten, big.data());
    CHECK_THAT(contract(RICCI_REFUSED, "C(i,j) = A(i,j); x(i) = A(i,0)", {A, C, x}), Contains("index i has extent"));
    for (const double element : c) CHECK(element == 9);
}

TEST_CASE("gemm: each wrong argument is named, with its number") {
    refuses(1, 1, "device) is 255: expected RICCI_CPU, or RICCI_CUDA(n)", [](auto& x) { x.device = RICCI_CUDA(-1); });
    refuses(1, 1, "device) is 1: expected", [](auto& x) { x.device = RICCI_NUMBER; });
    refuses(2, 2, "trans_a) is 'X': expected 'N', 'T' or 'C'", [](auto& x) { x.trans_a = 'X'; });
    refuses(2, 2, "trans_a) is the byte 0: expected", [](auto& x) { x.trans_a = '\0'; });
    refuses(3, 3, "trans_b) is '1': expected", [](auto& x) { x.trans_b = '1'; });
    refuses(4, 4, "m) is -1, below 0", [](auto& x) { x.m = -1; });
    refuses(5, 5, "n) is -5, below 0", [](auto& x) { x.n = -5; });
    refuses(6, 6, "k) is -1, below 0", [](auto& x) { x.k = -1; });
    refuses(7, 7, "alpha) is NULL", [](auto& x) { x.alpha = nullptr; });
    refuses(8, 8, "a) is NULL", [](auto& x) { x.a = nullptr; });
    refuses(9, 9, "type_a) is 0: expected RICCI_F16, ... RICCI_C128", [](auto& x) { x.type_a = 0; });
    refuses(9, 9, "type_a) is 7: expected", [](auto& x) { x.type_a = RICCI_I32; });
    refuses(10, 10, "lda) is 1: expected at least 2, m", [](auto& x) { x.lda = 1; });
    refuses(10, 10, "lda) is 2: expected at least 3, k as A is transposed", [](auto& x) { x.trans_a = 'T'; });
    refuses(10, 10, "lda) is -2: expected at least 2, m", [](auto& x) { x.lda = -2; });
    refuses(10, 10, "lda) is 0: expected at least 1, 1", [](auto& x) { x.m = 0, x.lda = 0; });
    refuses(12, 11, "b) is NULL", [](auto& x) { x.b = nullptr; });
    refuses(13, 12, "type_b) is 99: expected", [](auto& x) { x.type_b = 99; });
    refuses(14, 13, "ldb) is 2: expected at least 3, k", [](auto& x) { x.ldb = 2; });
    refuses(14, 13, "ldb) is 0: expected at least 1, n as B is transposed",
            [](auto& x) { x.trans_b = 'C', x.ldb = 0; });
    refuses(16, 14, "beta) is NULL", [](auto& x) { x.beta = nullptr; });
    refuses(17, 15, "c) is NULL", [](auto& x) { x.c = nullptr; });
    refuses(18, 16, "type_c) is -1: expected", [](auto& x) { x.type_c = -1; });
    refuses(18, 16, "type_c) is RICCI_F64, which is real, but B is complex",
            [](auto& x) { x.type_b = RICCI_C64, x.k = 1; });
    refuses(19, 17, "ldc) is 1: expected at least 2, m", [](auto& x) { x.ldc = 1; });
    refuses(21, 18, "count) is -1, below 0", [](auto& x) { x.count = -1; });
    // The first of several.
    refuses(4, 4, "m) is -1", [](auto& x) { x.m = -1, x.lda = -1, x.type_c = 0; });
}

TEST_CASE("gemm: pointers of the host that cannot be right are refused") {
    gemm x;
    x.pointers_b[1] = nullptr;
    CHECK(refused(-11, x.by_pointers()) == "ricci_gemm_batched: argument 11 (b) has NULL in place 1");
    x.pointers_b[1] = x.memory;
    x.pointers_c[0] = reinterpret_cast<char*>(x.memory) + 2;
    CHECK_THAT(refused(-15, x.by_pointers()),
               Contains("argument 15 (c) has 0x") && Contains("in place 0, which is not aligned to 8 bytes"));
}

TEST_CASE("gemm: matrices of C that share an element are refused") {
    gemm x;
    x.stride_c = 1;
    CHECK_THAT(refused(RICCI_REFUSED, x.strided()),
               Contains("C(i, j, e) is written more than once in an element") &&
                   Contains("in C(i, j, e) = A(i, k, e)*B(k, j, e)"));
    x.stride_c = 0;
    CHECK_THAT(refused(RICCI_REFUSED, x.strided()), Contains("is written more than once in an element"));
    x.stride_c = 2;
    x.a = reinterpret_cast<char*>(x.memory) + 1;
    CHECK_THAT(refused(RICCI_REFUSED, x.strided()), Contains("is not aligned to its elements' 8 bytes"));
    x.a = x.memory;
    x.lda = std::numeric_limits<std::int64_t>::max();
    CHECK_THAT(refused(RICCI_REFUSED, x.strided()), Contains("the span of A does not fit 64 bits") ||
                                                        Contains("the span in bytes of A does not fit 64 bits"));
}

TEST_CASE("devices, memory and choices") {
    ricci_device device = -1;
    RICCI_OK(ricci_default_device(&device));
    CHECK(device == tested_device());
    CHECK(refused(-1, ricci_default_device(nullptr)) == "ricci_default_device: argument 1 (device) is NULL");
    CHECK_THAT(refused(-1, ricci_set_stream(7, nullptr)), Contains("argument 1 (device) is 7: expected"));
    CHECK_THAT(refused(-1, ricci_synchronize(-7)), Contains("argument 1 (device) is -7: expected"));
    RICCI_OK(ricci_set_stream(RICCI_CPU, nullptr));
    void* memory = &device;
    CHECK_THAT(refused(RICCI_OUT_OF_MEMORY, ricci_allocate(RICCI_CPU, std::size_t{1} << 63, &memory)),
               Contains("ricci_allocate: not enough memory on the CPU for"));
    CHECK(memory == nullptr);
    CHECK(refused(-3, ricci_allocate(RICCI_CPU, 1, nullptr)) == "ricci_allocate: argument 3 (memory) is NULL");
    CHECK_THAT(refused(-1, ricci_free(3, &device)), Contains("argument 1 (device) is 3"));
    RICCI_OK(ricci_free(RICCI_CPU, nullptr));
    CHECK(refused(-2, ricci_copy(RICCI_CPU, nullptr, RICCI_CPU, a, 8)) ==
          "ricci_copy: argument 2 (target) is NULL");
    CHECK(refused(-4, ricci_copy(RICCI_CPU, c, RICCI_CPU, nullptr, 8)) ==
          "ricci_copy: argument 4 (source) is NULL");
    CHECK_THAT(refused(-3, ricci_copy(RICCI_CPU, c, 4, a, 8)), Contains("argument 3 (device) is 4"));
    RICCI_OK(ricci_copy(RICCI_CPU, nullptr, RICCI_CPU, nullptr, 0));
    CHECK_THAT(refused(-1, ricci_set_math(2)), Contains("argument 1 (math) is 2: expected RICCI_MATH_FULL"));
    RICCI_OK(ricci_set_math(RICCI_MATH_TF32));
    RICCI_OK(ricci_set_math(RICCI_MATH_FULL));
    CHECK_THAT(refused(-1, ricci_set_tuning(-1)), Contains("argument 1 (tuning) is -1: expected RICCI_TUNING_OFF"));
    for (const int choice : {RICCI_TUNING_OFF, RICCI_TUNING_ON_FIRST_USE, RICCI_TUNING_CACHED})
        RICCI_OK(ricci_set_tuning(choice));
}

TEST_CASE("a GPU that is not there is the environment's fault") {
    void* memory = nullptr;
    CHECK_THAT(refused(RICCI_ENVIRONMENT, ricci_allocate(RICCI_CUDA(63), 8, &memory)), Contains("ricci_allocate: "));
    CHECK(refused(RICCI_ENVIRONMENT, ricci_free(RICCI_CUDA(63), a)) == ricci_last_error());
    gemm x;
    x.device = RICCI_CUDA(63);
    CHECK(x.strided() == RICCI_ENVIRONMENT);
}

TEST_CASE("the operands of one statement are on one device") {
    const auto message = contract_with(RICCI_REFUSED, [](auto& o) { o.device = RICCI_CUDA(0); });
    CHECK_THAT(message, Contains("lives on cpu") && Contains("on cuda:0"));
}
