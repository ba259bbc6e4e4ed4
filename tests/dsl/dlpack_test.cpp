// dlpack_test: there and back, and what is refused.
#include "dsl/dlpack.hpp"

#include "tests/catch.hpp"

using ricci::cpu, ricci::from_dlpack, ricci::tensor, ricci::to_dlpack, ricci::view;

TEST_CASE("a tensor as DLPack and back is the same memory") {
    tensor<std::complex<float>, 3, ricci::dyn> A(4, cpu());
    DLManagedTensor* d = to_dlpack(A);
    CHECK(d->dl_tensor.data == A.data());
    CHECK((d->dl_tensor.ndim == 2 && d->dl_tensor.shape[0] == 3 && d->dl_tensor.shape[1] == 4));
    CHECK((d->dl_tensor.strides[0] == 1 && d->dl_tensor.strides[1] == 3));
    CHECK((d->dl_tensor.dtype.code == kDLComplex && d->dl_tensor.dtype.bits == 64 && d->dl_tensor.dtype.lanes == 1));
    CHECK((d->dl_tensor.device.device_type == kDLCPU && d->dl_tensor.byte_offset == 0));
    const auto v = from_dlpack<std::complex<float>, 2>(d);
    CHECK(v.data() == A.data());
    CHECK(v.extents() == A.extents());
    CHECK(v.strides() == A.strides());
    CHECK(v.device() == cpu());
    d->deleter(d);
}

TEST_CASE("an exported tensor may give its memory away") {
    tensor<double, 5> A(cpu());
    const std::vector<double> values{1, 2, 3, 4, 5};
    A.upload(values);
    DLManagedTensor* d = to_dlpack(std::move(A));
    CHECK(A.data() == nullptr);
    const auto v = from_dlpack<const double, 1>(d);
    CHECK(v.data()[4] == 5);
    d->deleter(d); // the address sanitizer would see a leak or a double free
}

TEST_CASE("views are exported with their strides") {
    ricci::half memory[8];
    DLManagedTensor* d = to_dlpack(view<ricci::half, 2>(memory + 7, {2, 2}, {-1, -4}));
    CHECK((d->dl_tensor.strides[0] == -1 && d->dl_tensor.strides[1] == -4));
    CHECK((d->dl_tensor.dtype.code == kDLFloat && d->dl_tensor.dtype.bits == 16));
    d->deleter(d);
}

TEST_CASE("what another library exports") {
    float memory[24];
    std::int64_t shape[] = {2, 3, 4};
    DLTensor t{};
    t.data = memory;
    t.device = {kDLCPU, 0};
    t.ndim = 3;
    t.dtype = {kDLFloat, 32, 1};
    t.shape = shape;
    t.byte_offset = 8;
    SECTION("no strides: the last index is fastest") {
        const auto v = from_dlpack<float, 3>(t);
        CHECK(v.strides() == std::array<std::int64_t, 3>{12, 4, 1});
        CHECK(v.data() == memory + 2);
    }
    SECTION("another type") {
        CHECK_THROWS_WITH((from_dlpack<double, 3>(t)),
                          "a DLPack tensor has elements of type code 2, 32 bits, 1 lanes; the "
                          "view's have code 2, 64 bits, 1 lane");
        t.dtype.lanes = 4;
        CHECK_THROWS_AS((from_dlpack<float, 3>(t)), ricci::error);
    }
    SECTION("another rank") {
        CHECK_THROWS_WITH((from_dlpack<float, 2>(t)), "a DLPack tensor has 3 axes, the view 2");
    }
    SECTION("an unknown device") {
        t.device = {kDLVulkan, 0};
        CHECK_THROWS_AS((from_dlpack<float, 3>(t)), ricci::error);
        t.device = {kDLCUDA, 1};
        CHECK((from_dlpack<float, 3>(t).device() == ricci::cuda(1)));
    }
    SECTION("a negative extent") {
        shape[1] = -3;
        CHECK_THROWS_AS((from_dlpack<float, 3>(t)), ricci::error);
    }
    CHECK_THROWS_AS((from_dlpack<float, 3>(static_cast<const DLManagedTensor*>(nullptr))), ricci::error);
}
