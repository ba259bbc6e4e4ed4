// chain_builder: takes a chain's steps one by one: what they must be like, and the phase that each goes to.
#include "lowering/chain_state.hpp"

#include "lowering/factor_layout.hpp"
#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::lowering {

void chain_state::add(const step& given) {
    step_ = &given;
    element_ = element_axis();
    take_compute();
    check_operands();
    meet_locals();
    if (is_call()) return add_call();
    places here;
    if (!out_.phases.empty() && !phase().call) {
        const auto before = *this;
        try {
            if (adds_rows(here) || appends(here)) return;
        } catch (const no_chain&) { // a phase of its own may do
        }
        take_back(before);
    }
    start_phase(here);
}

chain chain_state::finish() && {
    find_places_of_calls();
    count_work();
    return std::move(out_);
}

std::size_t chain_state::element_axis() const {
    for (std::size_t a = 0; a < axis_count(); ++a)
        if (st().axes[a].name == out_.axis) {
            if (!is_call() && !at(0).present[a]) throw no_chain{fmt::format("it sums over {}", out_.axis)};
            for (const auto& list : st().sums)
                if (std::count(list.begin(), list.end(), static_cast<std::int32_t>(a)) > 0)
                    throw no_chain{fmt::format("it sums over {}", out_.axis)};
            if (out_.elements != 0 && extent(a) != out_.elements)
                throw no_chain{fmt::format("{} has another extent", out_.axis)};
            return a;
        }
    throw no_chain{fmt::format("it does not depend on {}", out_.axis)};
}

void chain_state::take_compute() {
    if (out_.phases.empty()) out_.compute = st().compute, out_.elements = extent(element_);
    if (st().compute != out_.compute)
        throw no_chain{fmt::format("it computes in {}, not {}", name_of(st().compute), name_of(out_.compute))};
}

void chain_state::check_operands() const {
    for (const auto& o : st().operands) {
        if (!o.bounds.empty())
            throw no_chain{&o == &at(0) ? "what it writes has a padded position"
                                        : "an operand has a padded position"};
        if (table_of_addresses(st(), o) != nullptr) throw no_chain{"an operand lies at addresses"};
        if (o.overlaps) throw no_chain{"it overlaps what it writes"};
    }
    for (const auto& o : st().operands) {
        if (own_.count(o.source) > 0 || o.stride[element_] == 0) continue; // shared, or found by a table
        // Else its strides belong to how many elements there are, which a kernel's constants must not.
        for (std::size_t a = 0; a < axis_count(); ++a)
            if (o.present[a] && extent(a) > 1 && magnitude(o.stride[a]) > magnitude(o.stride[element_]))
                throw no_chain{fmt::format("{} is not the outermost index of an operand", out_.axis)};
    }
    if (is_call()) check_call();
    if (collision_of(st()) == collision::ordered)
        throw no_chain{"equal entries of its index table are added in their order, by a kernel of its own"};
    std::int64_t all = 1;
    for (std::size_t a = 0; a < axis_count(); ++a) {
        if (extent(a) == 0) throw no_chain{"it has no elements"};
        if (a != element_ && (extent(a) > most_numbers || (all *= extent(a)) > most_work))
            throw no_chain{fmt::format("there is too much to do for each {}", out_.axis)};
    }
}

void chain_state::meet_locals() {
    for (const auto& o : st().operands) {
        if (own_.count(o.source) == 0 || locals_.count(o.source) > 0) continue;
        const auto& t = plan_.temporaries[static_cast<std::size_t>(-1 - o.source)];
        if (t.type != out_.compute)
            throw no_chain{fmt::format("a temporary is {}, not {}", name_of(t.type), name_of(out_.compute))};
        if (!o.present[element_]) throw no_chain{fmt::format("a temporary does not depend on {}", out_.axis)};
        const auto length = local_tensor::slice_length(t, o.stride[element_]);
        if (!length) throw no_chain{fmt::format("a temporary does not go along with {}", out_.axis)};
        if (*length > most_numbers) throw no_chain{"a temporary is too large"};
        locals_.try_emplace(o.source, t, o.stride[element_]);
    }
}

bool chain_state::has_element(std::int32_t o) const {
    if (at(o).present[element_]) return true;
    return std::any_of(at(o).gathers.begin(), at(o).gathers.end(),
                       [&](const gather& g) { return at(g.table).present[element_] != 0; });
}

bool chain_state::depends(std::int32_t o, std::size_t a) const {
    if (extent(a) == 1) return false;
    if (at(o).present[a]) return true;
    return std::any_of(at(o).gathers.begin(), at(o).gathers.end(),
                       [&](const gather& g) { return at(g.table).present[a] != 0; });
}

local_tensor* chain_state::local_of(std::int32_t o) {
    const auto found = locals_.find(at(o).source);
    return found == locals_.end() ? nullptr : &found->second;
}

local_tensor::way chain_state::way_of(std::int32_t o, const local_tensor& t) const {
    auto way = t.read(st(), at(o), element_);
    if (!way) throw no_chain{"it goes through a temporary in a way that leaves an element"};
    return *std::move(way);
}

void chain_state::take_back(const chain_state& before) {
    out_ = before.out_;
    locals_ = before.locals_;
    phase_views_ = before.phase_views_;
    item_names_ = before.item_names_, stream_names_ = before.stream_names_;
    is_decided_ = before.is_decided_;
}

void chain_state::count_work() {
    const double factor = is_complex(out_.compute) ? 4 : 1;
    for (const auto& ph : out_.phases) {
        const auto items = static_cast<double>(ph.item_count()), points = static_cast<double>(ph.point_count());
        if (ph.call)
            out_.flops +=
                items * factor *
                factor_flops(ph.call->task, ph.call->method, ph.call->rows, ph.call->columns, ph.call->sides);
        for (const auto& op : ph.ops)
            if (op.kind == what::compute) out_.flops += items * points * factor;
        out_.flops += 2 * items * factor * static_cast<double>(ph.multiply_adds());
    }
}

chain_builder::chain_builder(const plan& p, std::string_view axis, const std::set<std::int32_t>& own)
    : state_(std::make_unique<chain_state>(p, axis, own)) {}
chain_builder::~chain_builder() = default;

std::optional<std::string> chain_builder::add(const step& st) {
    try {
        state_->add(st);
        return {};
    } catch (const no_chain& problem) {
        return problem.why;
    }
}

chain chain_builder::finish() && { return std::move(*state_).finish(); }

} // namespace ricci::lowering
