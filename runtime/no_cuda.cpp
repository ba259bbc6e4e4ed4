// no_cuda: stands in for the CUDA backend in a build without it.
#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cublas.hpp"
#include "runtime/doctor.hpp"

namespace ricci::runtime {

namespace {

constexpr const char* absent = "this ricci was built without its CUDA backend";
constexpr const char* advice = "configure it with -DRICCI_CUDA=ON";

} // namespace

std::unique_ptr<backend> make_cuda_backend(int) {
    throw error(std::string(absent) + ": " + advice, blame::environment);
}

int cuda_device_count() noexcept { return 0; }

bool cublas_takes(const gemm_problem&) { return false; }

void cublas_gemm(device, const gemm_problem&) {
    throw error(std::string(absent) + ": " + advice, blame::environment);
}

std::vector<finding> examine_cuda() { return {{"CUDA backend", false, absent, advice}}; }

} // namespace ricci::runtime
