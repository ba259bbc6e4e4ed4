// c_gemm: the C interface's products of batches of matrices, each of which is one statement.
#include "dsl/c_arguments.hpp"
#include "dsl/c_error.hpp"
#include "lowering/statement.hpp"
#include "ricci.h"
#include "runtime/math_mode.hpp"
#include "runtime/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace ricci;
using dsl::argument_error;
using lowering::operation, lowering::scalar_type;

/// What a call says of one of its matrices, as it says it.
struct matrix {
    std::string_view name; ///< "A"
    int argument = 0;      ///< the number of its pointer; its type and leading dimension stand behind
    const void* data = nullptr; ///< of the first one, or of the array of pointers
    int type_code = 0;
    std::int64_t leading = 0, stride = 0;
    bool by_pointers = false;
    std::int64_t rows = 0, columns = 0; ///< as they are in memory
    bool transposed = false, conjugated = false;
    scalar_type type{};
};

struct product {
    ricci::device where;
    std::int64_t m = 0, n = 0, k = 0, count = 0;
    lowering::scalar alpha, beta;
    matrix a, b, c;
};

bool is(const lowering::scalar& x, double value) { return x.real == value && x.imaginary == 0; }

/// Argument names in C: "lda" of "A".
std::string named(const char* prefix, const matrix& x) {
    return std::string(prefix) + static_cast<char>(x.name[0] - 'A' + 'a');
}

void read_operation(int argument, char letter, matrix& x) {
    const char upper = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    if (upper != 'N' && upper != 'T' && upper != 'C') {
        const bool is_printable = letter >= ' ' && letter <= '~';
        throw argument_error(argument, named("trans_", x),
                             fmt::format("is {}: expected 'N', 'T' or 'C'",
                                         is_printable ? fmt::format("'{}'", letter)
                                                      : fmt::format("the byte {}", static_cast<int>(letter))));
    }
    x.transposed = upper != 'N';
    x.conjugated = upper == 'C';
}

void check_length(int argument, const char* name, std::int64_t value) {
    if (value < 0) throw argument_error(argument, name, fmt::format("is {}, below 0", value));
}

lowering::scalar read_factor(int argument, const char* name, const double* value, bool complex) {
    if (value == nullptr) throw argument_error(argument, name, "is NULL");
    const double imaginary = complex ? value[1] : 0;
    return {value[0], imaginary, imaginary != 0}; // a real one leaves infinities whole
}

/// The pointer, type and leading dimension of a matrix. `used`: whether its elements are touched.
void check_matrix(matrix& x, bool used, const char* operation, const char* rows) {
    const auto pointer = x.by_pointers ? "is NULL: expected an array of pointers" : "is NULL";
    if (used && x.data == nullptr) throw argument_error(x.argument, named("", x), pointer);
    const auto type = dsl::type_of_code(x.type_code);
    if (!type || lowering::is_index(*type))
        throw argument_error(x.argument + 1, named("type_", x),
                             fmt::format("is {}: expected RICCI_F16, ... RICCI_C128", x.type_code));
    x.type = *type;
    if (x.leading < std::max<std::int64_t>(x.rows, 1))
        throw argument_error(x.argument + 2, fmt::format("ld{}", named("", x)),
                             fmt::format("is {}: expected at least {}, {}{}", x.leading,
                                         std::max<std::int64_t>(x.rows, 1), x.rows > 0 ? rows : "1", operation));
}

/// The host can look at the host's pointers.
void check_pointers(const matrix& x, std::int64_t count) {
    const auto* const pointers = static_cast<const void* const*>(x.data);
    const auto alignment = static_cast<std::uintptr_t>(lowering::size_of(lowering::real_of(x.type)));
    for (std::int64_t e = 0; e < count; ++e)
        if (pointers[e] == nullptr || reinterpret_cast<std::uintptr_t>(pointers[e]) % alignment != 0)
            throw argument_error(
                x.argument, named("", x),
                pointers[e] == nullptr
                    ? fmt::format("has NULL in place {}", e)
                    : fmt::format("has {} in place {}, which is not aligned to {} bytes", pointers[e], e, alignment));
}

/// A statement of the indices i, j and k in a matrix and e over the batch, as those of C++ are captured.
class gemm_statement {
  public:
    gemm_statement(lowering::statement& s, const product& p) : s_(s), p_(p) {
        s_.clear();
        s_.math = runtime::chosen_math();
        for (const std::string_view name : {"i", "j", "e", "k"})
            s_.labels.push_back({name, lowering::no_range, lowering::no_range});
        append(p.c, i, j);
    }

    /// C = alpha*A*B + beta*C
    void write() {
        using enum lowering::assignment;
        const bool has_product = !is(p_.alpha, 0), negative = is(p_.alpha, -1), adds = is(p_.beta, 1);
        if (!has_product) s_.labels.pop_back(); // k
        std::int32_t value = has_product ? scaled_product(negative) : -1;
        if (adds) {
            s_.op = negative ? subtract : add;
        } else {
            s_.op = assign;
            if (negative) value = s_.add(operation::negate, value);
            if (!is(p_.beta, 0)) {
                const auto old = scaled(p_.beta, s_.add(operation::access, append(p_.c, i, j)));
                value = value < 0 ? old : s_.add(operation::add, value, old);
            }
        }
        if (value < 0) scaled(p_.beta, -1); // C = 0
    }

  private:
    enum label : std::int32_t { i, j, e, k };

    std::int32_t scaled_product(bool negative) {
        const auto a = factor(p_.a, append(p_.a, i, k)), b = factor(p_.b, append(p_.b, k, j));
        const auto product = s_.add(operation::multiply, a, b);
        return negative || is(p_.alpha, 1) ? product : scaled(p_.alpha, product);
    }

    std::int32_t factor(const matrix& x, std::int32_t access) {
        const auto value = s_.add(operation::access, access);
        return x.conjugated && lowering::is_complex(x.type) ? s_.add(operation::conjugate, value) : value;
    }

    /// value*x; x alone for no value.
    std::int32_t scaled(const lowering::scalar& x, std::int32_t value) {
        s_.scalars.push_back(x);
        const auto scalar = s_.add(operation::scalar, static_cast<std::int32_t>(s_.scalars.size()) - 1);
        return value < 0 ? scalar : s_.add(operation::multiply, scalar, value);
    }

    void position(std::int64_t extent, std::int64_t stride, std::int32_t l) {
        s_.positions.push_back({extent, stride, 0, static_cast<std::int32_t>(s_.terms.size()), 1});
        s_.terms.push_back({l, 1});
    }

    /// Appends the access X(row, column, e), or what lies in memory so; returns its number.
    std::int32_t append(const matrix& x, label row, label column) {
        const auto number = static_cast<std::int32_t>(s_.accesses.size());
        auto& a = s_.accesses.emplace_back();
        a.type = x.type;
        a.device = p_.where.code();
        a.name = x.name;
        a.first_position = static_cast<std::int32_t>(s_.positions.size());
        position(x.rows, 1, x.transposed ? column : row);
        position(x.columns, x.leading, x.transposed ? row : column);
        if (!x.by_pointers) {
            a.data = const_cast<void*>(x.data);
            if (x.stride != 0 || &x == &p_.c) position(p_.count, x.stride, e); // else one for all
            a.position_count = static_cast<std::int32_t>(s_.positions.size()) - a.first_position;
            return number;
        }
        a.position_count = 3;
        auto& gathered = s_.positions.emplace_back();
        gathered.extent = p_.count;
        gathered.first_term = static_cast<std::int32_t>(s_.terms.size());
        gathered.table = number + 1;
        auto& table = s_.accesses.emplace_back();
        table.type = scalar_type::address;
        table.data = const_cast<void*>(x.data);
        table.device = p_.where.code();
        table.first_position = static_cast<std::int32_t>(s_.positions.size());
        table.position_count = 1;
        position(p_.count, 1, e);
        return number;
    }

    lowering::statement& s_;
    const product& p_;
};

/// A call's arguments in their order, the first wrong one of which is refused.
struct call {
    int device_code;
    char trans_a, trans_b;
    std::int64_t m, n, k;
    const double* alpha;
    matrix a, b;
    const double* beta;
    matrix c;
    std::int64_t count;
    int count_argument;
};

void multiply(call x) {
    product p;
    p.where = dsl::device_of_code(1, x.device_code);
    p.a = x.a, p.b = x.b, p.c = x.c;
    read_operation(2, x.trans_a, p.a);
    read_operation(3, x.trans_b, p.b);
    check_length(4, "m", p.m = x.m);
    check_length(5, "n", p.n = x.n);
    check_length(6, "k", p.k = x.k);
    p.count = x.count;
    const bool is_written = p.m > 0 && p.n > 0 && p.count > 0;
    // Whether C is complex tells how long alpha and beta are.
    const auto c_type = dsl::type_of_code(p.c.type_code);
    const bool complex = c_type && lowering::is_complex(*c_type);
    p.alpha = read_factor(7, "alpha", x.alpha, complex);
    const bool is_read = is_written && p.k > 0 && !is(p.alpha, 0);
    p.a.rows = p.a.transposed ? p.k : p.m, p.a.columns = p.a.transposed ? p.m : p.k;
    p.b.rows = p.b.transposed ? p.n : p.k, p.b.columns = p.b.transposed ? p.k : p.n;
    p.c.rows = p.m, p.c.columns = p.n;
    check_matrix(p.a, is_read, p.a.transposed ? " as A is transposed" : "", p.a.transposed ? "k" : "m");
    check_matrix(p.b, is_read, p.b.transposed ? " as B is transposed" : "", p.b.transposed ? "n" : "k");
    p.beta = read_factor(p.c.argument - 1, "beta", x.beta, complex);
    check_matrix(p.c, is_written, "", "m");
    for (const auto* from : {&p.a, &p.b})
        if (lowering::is_complex(from->type) && !complex)
            throw argument_error(p.c.argument + 1, "type_c",
                                 fmt::format("is {}, which is real, but {} is complex", dsl::name_of_code(p.c.type),
                                             from->name));
    check_length(x.count_argument, "count", p.count);
    if (!is_written || (is(p.beta, 1) && is(p.alpha, 0))) return;
    if (p.c.by_pointers && p.where.is_cpu()) {
        if (is_read) check_pointers(p.a, p.count), check_pointers(p.b, p.count);
        check_pointers(p.c, p.count);
    }
    static thread_local lowering::statement s; // its vectors keep their memory
    gemm_statement(s, p).write();
    runtime::run(s);
}

} // namespace

ricci_status ricci_gemm_strided_batched(ricci_device device, char trans_a, char trans_b, int64_t m, int64_t n,
                                        int64_t k, const double* alpha, const void* a, ricci_type type_a,
                                        int64_t lda, int64_t stride_a, const void* b, ricci_type type_b, int64_t ldb,
                                        int64_t stride_b, const double* beta, void* c, ricci_type type_c,
                                        int64_t ldc, int64_t stride_c, int64_t count) {
    return dsl::c_call("ricci_gemm_strided_batched", [&] {
        multiply({device, trans_a, trans_b, m, n, k, alpha, {"A", 8, a, type_a, lda, stride_a},
                  {"B", 12, b, type_b, ldb, stride_b}, beta, {"C", 17, c, type_c, ldc, stride_c}, count, 21});
    });
}

ricci_status ricci_gemm_batched(ricci_device device, char trans_a, char trans_b, int64_t m, int64_t n, int64_t k,
                                const double* alpha, const void* const* a, ricci_type type_a, int64_t lda,
                                const void* const* b, ricci_type type_b, int64_t ldb, const double* beta,
                                void* const* c, ricci_type type_c, int64_t ldc, int64_t count) {
    return dsl::c_call("ricci_gemm_batched", [&] {
        multiply({device, trans_a, trans_b, m, n, k, alpha, {"A", 8, a, type_a, lda, 0, true},
                  {"B", 11, b, type_b, ldb, 0, true}, beta, {"C", 15, c, type_c, ldc, 0, true}, count, 18});
    });
}
