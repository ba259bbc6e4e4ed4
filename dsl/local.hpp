// local: an intermediate of a recorded program, without memory of its own.
#pragma once

#include "dsl/tensor.hpp"

#include "runtime/run.hpp"

namespace ricci {

/// A tensor that lives in registers or shared memory where its program's statements are fused, in workspace where not.
/// For use inside of record() only. Extents as for tensor; the device must be the program's.
template <class T, std::int64_t... Extents>
class local : dsl::operand_base<T, dsl::shape<Extents...>> {
    static_assert(((Extents >= 0 || Extents == dyn) && ...), "an extent is negative");
    using shape = dsl::shape<Extents...>;
    using base = dsl::operand_base<T, shape>;

  public:
    using base::device, base::extent, base::extents, base::rank, base::size, base::strides;

    /// local(run-time extents..., device = default_device())
    template <dsl::tensor_argument... A>
    explicit local(A... arguments) : local(dsl::all_extents<shape>(arguments...), dsl::device_among(arguments...)) {}

    local(const local&) = delete;
    local& operator=(const local&) = delete;

    /// One index, affine position or integer per axis.
    template <dsl::position_argument... P>
    auto operator()(const P&... p) {
        return this->template at<true>(false, p...);
    }

    template <class U, std::int64_t... Sizes>
    friend auto padded(local<U, Sizes...>& t);

  private:
    local(const dsl::per_axis<rank>& sizes, ricci::device d)
        : base(nullptr, sizes, dsl::dense_strides(sizes, sizeof(T)), d) {
        this->header_.local = runtime::new_local();
    }
};

/// As for a tensor.
template <class T, std::int64_t... Extents>
auto padded(local<T, Extents...>& t) {
    return dsl::padded_operand<true, T, dsl::shape<Extents...>>(t);
}

} // namespace ricci
