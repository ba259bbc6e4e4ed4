// matrix_numbers: what the operands of a factorization or a solve hold where its kernels are tried.
#include "runtime/matrix_numbers.hpp"

#include "lowering/matrix_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

constexpr double heavy = 4; ///< beside rows and columns of norm 1

class writer {
  public:
    writer(const step& st, const operand& o, std::int64_t first, std::span<std::byte> image)
        : st_(st), o_(o), first_(first), image_(image), sizes_(matrix_sizes_of(st)) {}

    void write_matrices() {
        const auto& w = st_.matrices;
        const bool exchanges = w.task == matrix_task::factor && w.method == matrix_method::lu;
        const double scale = 1 / std::sqrt(static_cast<double>(std::max(sizes_.m, sizes_.n)));
        std::vector<std::int64_t> heavy_rows(static_cast<std::size_t>(sizes_.m));
        std::iota(heavy_rows.begin(), heavy_rows.end(), 0);
        for_each_matrix([&](std::int64_t offset) {
            if (exchanges) shuffle(heavy_rows);
            for (std::int64_t j = 0; j < sizes_.n; ++j) {
                const auto heavy_row = j < sizes_.vector() ? heavy_rows[static_cast<std::size_t>(j)] : -1;
                for (std::int64_t i = 0; i < sizes_.m; ++i) {
                    std::complex<double> x(scale * number(), scale * number());
                    if (i == heavy_row) x = heavy + 0.5 * number();
                    write(offset + i * along(w.row) + j * along(w.column), x);
                }
            }
        });
    }

    void write_tau() {
        for_each_element([&](std::int64_t) {
            return std::complex<double>(0.45 + 0.15 * number(), 0.1 * number()); // |v|^2 is at most 3
        });
    }

    void write_pivots() {
        for_each_element([&](std::int64_t k) { return static_cast<double>(k + below(sizes_.m - k)); });
    }

  private:
    std::int64_t along(std::int32_t axis) const { return axis < 0 ? 0 : o_.stride[static_cast<std::size_t>(axis)]; }

    /// f(offset of a matrix's first element).
    template <class F>
    void for_each_matrix(const F& f) {
        auto batch = batch_of_matrices(st_);
        std::erase_if(batch, [&](std::int32_t a) { return along(a) == 0; });
        std::vector<std::int64_t> at(batch.size(), 0);
        auto offset = o_.offset - first_;
        for (;;) {
            f(offset);
            std::size_t a = 0;
            for (; a < batch.size(); ++a) {
                offset += along(batch[a]);
                if (++at[a] < st_.axes[static_cast<std::size_t>(batch[a])].extent) break;
                offset -= at[a] * along(batch[a]), at[a] = 0;
            }
            if (a == batch.size()) return;
        }
    }

    /// Of a vector: f(k).
    template <class F>
    void for_each_element(const F& f) {
        for_each_matrix([&](std::int64_t offset) {
            for (std::int64_t k = 0; k < sizes_.vector(); ++k)
                write(offset + k * along(st_.matrices.along_vector), f(k));
        });
    }

    /// Any order is as likely as another: how long LU takes depends on where its pivots are.
    void shuffle(std::span<std::int64_t> x) {
        for (auto left = x.size(); left > 1; --left)
            std::swap(x[left - 1], x[static_cast<std::size_t>(below(static_cast<std::int64_t>(left)))]);
    }

    /// In [0, count).
    std::int64_t below(std::int64_t count) {
        return static_cast<std::int64_t>((number() + 1) / 2 * static_cast<double>(count));
    }

    /// In [-1, 1): splitmix64.
    double number() {
        auto x = state_ += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
    }

    template <class T>
    void put(std::int64_t at, const T& x) {
        std::memcpy(image_.data() + static_cast<std::size_t>(at) * sizeof x, &x, sizeof x);
    }

    void write(std::int64_t at, std::complex<double> x) {
        switch (o_.type) {
        case scalar_type::i32:
            return put(at, static_cast<std::int32_t>(x.real()));
        case scalar_type::i64:
            return put(at, static_cast<std::int64_t>(x.real()));
        case scalar_type::f32:
            return put(at, static_cast<float>(x.real()));
        case scalar_type::c64:
            return put(at, std::complex<float>(x));
        case scalar_type::c128:
            return put(at, x);
        default:
            return put(at, x.real());
        }
    }

    const step& st_;
    const operand& o_;
    std::int64_t first_;
    std::span<std::byte> image_;
    matrix_sizes sizes_;
    std::uint64_t state_ = 1;
};

} // namespace

void write_matrix_numbers(const step& st, matrix_role role, std::int64_t first, std::span<std::byte> image) {
    const auto* const o = operand_in(st, role);
    if (o == nullptr) return;
    writer to(st, *o, first, image);
    if (role == matrix_role::matrix) return to.write_matrices();
    if (role != matrix_role::vector || st.matrices.task == matrix_task::factor) return;
    is_index(o->type) ? to.write_pivots() : to.write_tau();
}

} // namespace ricci::runtime
