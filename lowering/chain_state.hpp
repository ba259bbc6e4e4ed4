// chain_state: what chain_builder knows of a chain while it takes steps; a file for each section of its functions.
#pragma once

#include "lowering/chain_builder.hpp"
#include "lowering/chain_locals.hpp"
#include "lowering/tree.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::lowering {

/// Why a step is no part of a chain; caught by chain_builder::add.
struct no_chain {
    std::string why;
};

class chain_state {
  public:
    chain_state(const plan& p, std::string_view axis, const std::set<std::int32_t>& own) : plan_(p), own_(own) {
        out_.axis = axis;
    }

    void add(const step& given);
    chain finish() &&;

  private:
    using what = chain_op::what;
    using kind = axis_place::kind;
    using places = std::vector<axis_place>; ///< one for each axis of a step

    /// A pencil lies in a thread's registers; a sum that is none is written out term by term.
    static constexpr std::int64_t longest_pencil = 64, longest_pencils = 128, most_terms = 32;
    /// Of one element: of a temporary; of the values of all axes of a step together.
    static constexpr std::int64_t most_numbers = 1 << 16, most_work = 1 << 22;
    /// Of a phase: they are unrolled.
    static constexpr std::size_t most_ops = 384;

    /// A sum over X*Y, of which the one has items and the other is a row for each point.
    struct contraction {
        std::int32_t pencil = -1, matrix = -1; ///< operands
        bool pencil_conjugated = false, matrix_conjugated = false;
        std::vector<std::int32_t> summed;
    };

    /// The other way round: points times a row of a matrix, added to a pencil.
    struct added_row {
        contraction c;
        std::int32_t coefficient = -1; ///< a node
        bool negative = false;
    };

    static bool is(const axis_place& p, kind k) { return p.where == k; }

    // ---- chain_builder.cpp: the step, and what is known of it ----

    const step& st() const { return *step_; }
    const operand& at(std::int32_t o) const { return step_->operands[static_cast<std::size_t>(o)]; }
    std::int64_t extent(std::size_t a) const { return step_->axes[a].extent; }
    std::size_t axis_count() const { return step_->axes.size(); }
    std::size_t element_axis() const;
    void take_compute();
    void check_operands() const;
    /// Makes a local of each of the chain's own temporaries that is met for the first time.
    void meet_locals();
    bool has_element(std::int32_t o) const;
    /// Whether an operand depends on an axis that has several values.
    bool depends(std::int32_t o, std::size_t a) const;
    bool is_output_axis(std::size_t a) const { return at(0).present[a] != 0; }
    local_tensor* local_of(std::int32_t o);
    /// How an operand goes through a local.
    local_tensor::way way_of(std::int32_t o, const local_tensor& t) const;
    /// What a step that failed has changed.
    void take_back(const chain_state& before);
    /// Operations of one element.
    void count_work();

    // ---- chain_calls.cpp: factorizations and solves, each a phase of its own ----

    bool is_call() const { return st().matrices.task != matrix_task::none; }
    void check_call() const;
    void add_call();
    /// The axes of the batch that are not the element's become items, those of the matrices are left.
    places items_of_call();
    /// The view of an operand of the call, its rows and columns as inner axes.
    std::int32_t view_in_role(matrix_role r, const places& here);
    /// What comes to lie in a local.
    void write_by_call(std::int32_t o);
    /// Where calls work: in the operands where nobody needs these any more, else in slots of their own.
    void find_places_of_calls();
    std::int32_t own_slot(std::int32_t phase, std::int64_t rows, std::int64_t columns);

    // ---- chain_phases.cpp: where the step's axes go, in this phase or in a new one ----

    chain_phase& phase() { return out_.phases.back(); }
    std::int32_t phase_number() const { return static_cast<std::int32_t>(out_.phases.size()) - 1; }
    /// The sum at node n over X*Y, where no axis but those summed and the element is in both.
    std::optional<contraction> contraction_at(std::int32_t n) const;
    std::int64_t length_of(const contraction& c) const;
    /// The first contraction in the tree whose pencil fits in registers.
    std::optional<contraction> first_contraction() const;
    /// Axes in the order of their strides in an operand, the nearest first.
    std::vector<std::size_t> ordered(std::vector<std::size_t> axes, std::int32_t o) const;
    void start_phase(places& here);
    axis_place new_place(kind where, std::size_t a, std::vector<std::int64_t>& extents,
                         std::vector<std::string_view>& names);
    void place_known(places& here) const;
    /// Places the axes of an operand that this phase has computed at its points as they are there.
    bool place_as_computed(std::int32_t o, const local_tensor& t, places& here) const;
    /// Whether `here` has each item and each point's axis once among the axes of the output that have several values.
    bool covers_phase(const places& here);
    /// Places what is left by the indices' names.
    bool place_by_name(places& here);
    /// Evaluates the step at the points of the current phase, if it can be.
    bool appends(places& here);
    /// Whether the pencil depends on no point and the matrix on no item.
    bool fits_phase(const contraction& c, const places& here);
    bool is_scalar(std::int32_t n) const;
    /// The term as a row times what this phase has computed; places its axes.
    std::optional<added_row> added_row_at(const signed_term& term, places& here);
    bool adds_rows(places& here);
    /// Items of an undecided phase become its stream.
    void decide_stream(const std::set<std::int32_t>& points, places& here);

    // ---- chain_values.cpp: the operations of the phase, and how they reach their operands ----

    void push(const chain_op& op);
    std::int32_t value_of(chain_op op);
    std::int32_t compute(operation function, std::int32_t a, std::int32_t b = -1);
    void evaluate(const places& here);
    void store(std::int32_t value, std::int32_t to, std::int32_t accumulation);
    std::int32_t emit(std::int32_t n, const places& here);
    std::int32_t emit_sum(std::int32_t n, const places& here);
    std::int32_t load(std::int32_t o, const places& here);
    std::int32_t product_with_row(const contraction& c, const places& here);
    void emit_added_rows(const std::vector<added_row>& all, const std::vector<std::size_t>& inner,
                         const places& here);
    /// The pencil that the output is added up in: that of an earlier step of the phase, if it adds to it.
    std::int32_t output_pencil(const places& placed, const std::vector<std::size_t>& inner);
    /// The memory of an operand of the step; its offset is the view's.
    std::int32_t memory(const operand& o);
    std::int32_t matrix(const contraction& c, const places& placed, const std::vector<std::size_t>& inner);
    std::int32_t view(std::int32_t o, const places& placed, const std::vector<std::size_t>& inner, bool conjugated);
    std::int32_t view(const operand& o, const places& placed, const std::vector<std::size_t>& inner, bool conjugated);
    /// Views of other phases have other axes, also where their strides are the same.
    std::int32_t number_of_view(const chain_view& v);
    void mark(std::int32_t v, bool written);
    /// The slot of a local; what an earlier phase has computed of it at its points is stored there at its end.
    std::int32_t slot_of(local_tensor& t);

    // ---- chain_hazards.cpp: what a phase must not do ----

    /// Before a view is stored.
    void check_reads(std::int32_t to) const;
    /// Before a view is loaded.
    void check_stores(std::int32_t from) const;
    /// Before a local's slot is read.
    void check_read(const local_tensor& t) const;
    /// Before a local's slot is added to.
    void check_addition(const local_tensor& t) const;
    /// Before a part of a local's slot is written anew.
    void check_part(const local_tensor& t) const;
    bool same_place(std::int32_t a, std::int32_t b) const;

    const plan& plan_;
    const std::set<std::int32_t> own_;
    const step* step_ = nullptr;
    std::size_t element_ = 0;
    chain out_;
    std::map<std::int32_t, local_tensor> locals_; ///< by operand::source
    std::vector<std::int32_t> phase_views_;       ///< of the current phase
    std::vector<std::string_view> item_names_, stream_names_;
    bool is_decided_ = false; ///< which of the phase's axes are the stream's
};

} // namespace ricci::lowering
