// schedule: every result belongs to a root, itself or the concat in which it lies; a root's memory is free again
// behind the last step that reads one of its parts.
#include "examples/cnn/network/schedule.hpp"

#include <algorithm>

namespace cnn {
namespace {

class scheduler {
  public:
    explicit scheduler(const graph& g)
        : graph_(g), count_(static_cast<int>(g.ops.size())), root_(count_), first_channel_(count_),
          memory_(count_, -1), last_read_(count_, -1), released_(count_) {}

    schedule make() {
        list_steps();
        find_roots();
        find_last_reads();
        for (int s = 0; s < static_cast<int>(result_.steps.size()); ++s) allocate(s);
        result_.places.resize(count_);
        for (const step& s : result_.steps)
            result_.places[s.result] = {memory_[root_[s.result]], first_channel_[s.result]};
        return std::move(result_);
    }

  private:
    void list_steps() {
        std::vector<int> readers(count_), last_reader(count_);
        for (int n = 0; n < count_; ++n)
            for (const int input : graph_.ops[n].inputs) ++readers[input], last_reader[input] = n;
        std::vector<bool> taken(count_);
        for (int n = 0; n < count_; ++n) {
            if (taken[n]) continue;
            const bool relu = graph_.ops[n].kind == op_kind::conv && n != graph_.output && readers[n] == 1 &&
                              graph_.ops[last_reader[n]].kind == op_kind::relu;
            result_.steps.push_back({n, relu ? last_reader[n] : n, relu});
            if (relu) taken[last_reader[n]] = true;
        }
    }

    /// The last concat that reads a result has it in place; those before it, if any, hold copies. (So a concat at the
    /// end of many blocks collects their results, and what the blocks themselves put together is soon free again.)
    void find_roots() {
        for (int n = 0; n < count_; ++n) root_[n] = n;
        for (int n = count_ - 1; n >= 0; --n) {
            const op& o = graph_.ops[n];
            if (o.kind != op_kind::concat) continue;
            int channel = 0;
            for (const int input : o.inputs) {
                const auto kind = graph_.ops[input].kind;
                if (root_[input] == input && kind != op_kind::concat && kind != op_kind::input)
                    root_[input] = n, first_channel_[input] = channel;
                channel += graph_.ops[input].channels;
            }
        }
    }

    void find_last_reads() {
        for (int s = 0; s < static_cast<int>(result_.steps.size()); ++s)
            for (const int input : graph_.ops[result_.steps[s].op].inputs)
                last_read_[root_[input]] = std::max(last_read_[root_[input]], s);
        last_read_[root_[graph_.output]] = static_cast<int>(result_.steps.size());
    }

    std::int64_t numbers(int root) const {
        const op& o = graph_.ops[root];
        return std::int64_t{o.channels} * o.scale * o.scale;
    }

    void allocate(int s) {
        const step& now = result_.steps[s];
        const int root = root_[now.result];
        if (memory_[root] < 0) memory_[root] = overwritten(s) >= 0 ? inherit(overwritten(s)) : take(numbers(root));
        for (int n = 0; n < count_; ++n)
            if (memory_[n] >= 0 && !released_[n] && last_read_[n] == s) release(n);
    }

    /// An input that this step reads last, number by number, and whose memory fits: its result may take that place.
    int overwritten(int s) const {
        const step& now = result_.steps[s];
        const op& o = graph_.ops[now.op];
        if (o.kind != op_kind::relu && o.kind != op_kind::prelu && o.kind != op_kind::add) return -1;
        if (o.inputs.size() > 2) return -1; // added one by one, where the first sum would overwrite a later input
        for (const int input : o.inputs)
            if (root_[input] == input && last_read_[input] == s && root_[now.result] == now.result) return input;
        return -1;
    }
    int inherit(int from) {
        released_[from] = true;
        return memory_[from];
    }

    /// The smallest free memory that holds it, else the largest, enlarged; a new one where none is free.
    int take(std::int64_t size) {
        auto& all = result_.memories;
        int best = -1;
        for (const int m : free_) {
            const bool fits = all[m] >= size, best_fits = best >= 0 && all[best] >= size;
            if (best < 0 || (fits && (!best_fits || all[m] < all[best])) ||
                (!fits && !best_fits && all[m] > all[best]))
                best = m;
        }
        if (best < 0) {
            all.push_back(size);
            return static_cast<int>(all.size()) - 1;
        }
        free_.erase(std::find(free_.begin(), free_.end(), best));
        all[best] = std::max(all[best], size);
        return best;
    }
    void release(int root) {
        released_[root] = true;
        free_.push_back(memory_[root]);
    }

    const graph& graph_;
    int count_;
    std::vector<int> root_, first_channel_, memory_, last_read_; ///< of each operation; the last two of roots
    std::vector<bool> released_;
    std::vector<int> free_; ///< memories
    schedule result_;
};

} // namespace

schedule make_schedule(const graph& g) { return scheduler(g).make(); }

} // namespace cnn
