// cuda_constants: a kernel with constants of its own, loaded as often as launches need.
#include "runtime/cuda_constants.hpp"

#include "runtime/cuda_context.hpp"

namespace ricci::runtime {

void constant_kernel::launch(CUstream stream, bool capturing, std::span<const constant_piece> pieces,
                             const std::function<void(CUfunction)>& start) {
    if (capturing) {
        const auto own = take_spare();
        give_to_graph(own, stream);
        copy(own, stream, pieces);
        return start(own.function);
    }
    const std::lock_guard lock(mutex_);
    if (last_)
        check(d_.cuStreamWaitEvent(stream, last_, 0), "cuStreamWaitEvent");
    else
        check(d_.cuEventCreate(&last_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    copy(eager_, stream, pieces);
    start(eager_.function);
    check(d_.cuEventRecord(last_, stream), "cuEventRecord");
}

void constant_kernel::copy(const instance& to, CUstream stream, std::span<const constant_piece> pieces) const {
    for (const auto& piece : pieces)
        check(d_.cuMemcpyDtoDAsync(to.constants + static_cast<CUdeviceptr>(piece.at), piece.from,
                                   static_cast<std::size_t>(piece.bytes), stream),
              "copying to a kernel's constants: cuMemcpyDtoDAsync");
}

constant_kernel::instance constant_kernel::take_spare() {
    {
        const std::lock_guard lock(spare_->mutex);
        if (!spare_->all.empty()) {
            const auto taken = spare_->all.back();
            spare_->all.pop_back();
            return taken;
        }
    }
    const relaxed_capture scope(d_); // loading waits for nothing of the stream that is being captured
    return load_();
}

void constant_kernel::give_to_graph(const instance& taken, CUstream stream) {
    struct held_instance {
        std::shared_ptr<spare_instances> home;
        instance taken;
    };
    CUstreamCaptureStatus status{};
    CUgraph graph{};
    check(d_.cuStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr),
          "cuStreamGetCaptureInfo_v2");
    auto held = std::make_unique<held_instance>(held_instance{spare_, taken});
    CUuserObject object{};
    const auto give_back = [](void* which) {
        const std::unique_ptr<held_instance> all(static_cast<held_instance*>(which));
        const std::lock_guard lock(all->home->mutex);
        all->home->all.push_back(all->taken);
    };
    check(d_.cuUserObjectCreate(&object, held.get(), give_back, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
          "cuUserObjectCreate");
    held.release();
    check(d_.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), "cuGraphRetainUserObject");
}

} // namespace ricci::runtime
