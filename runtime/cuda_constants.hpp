// cuda_constants: a kernel with constants of its own, loaded as often as launches may be under way that want others
// in them. Private to cuda_backend.
//
// A module has its constants once. Launches of one after the other wait for each other, on whatever streams, which
// costs nothing where they fill the GPU. Nobody knows when a graph's launches run: each has an instance of its own,
// which goes on to another graph when the last one with it is gone.
#pragma once

#include "runtime/backend.hpp"
#include "runtime/cuda_check.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ricci::runtime {

class constant_kernel {
  public:
    /// Loads the kernel anew: called with this GPU's context current.
    struct instance {
        CUfunction function{};
        CUdeviceptr constants = 0;
    };
    using load_function = std::function<instance()>;

    constant_kernel(const cuda_driver& d, instance first, load_function load)
        : d_(d), eager_(first), load_(std::move(load)) {}

    /// Copies the pieces and has `start` launch the kernel, in the order of the stream.
    void launch(CUstream stream, bool capturing, std::span<const constant_piece> pieces,
                const std::function<void(CUfunction)>& start);

  private:
    /// Instances that no graph holds. Graphs are destroyed when the user likes, on any thread.
    struct spare_instances {
        std::mutex mutex;
        std::vector<instance> all;
    };
    void copy(const instance& to, CUstream stream, std::span<const constant_piece> pieces) const;
    instance take_spare();
    void give_to_graph(const instance& taken, CUstream stream);

    const cuda_driver& d_;
    std::mutex mutex_; ///< of what is outside graphs
    instance eager_;
    CUevent last_{}; ///< behind its last launch
    load_function load_;
    std::shared_ptr<spare_instances> spare_ = std::make_shared<spare_instances>();
};

} // namespace ricci::runtime
