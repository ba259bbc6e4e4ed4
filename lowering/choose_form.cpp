// choose_form: names what each step is and picks the kernel that runs it.
//
//   what adds to elements that equal entries of tables give, in order                       scatter
//   the same by atomics                                                                     direct
//   product of two operands with                                                            runs by
//   m or n of variable extent (see find_batches), no shared_batch, the others <= 64         tall_skinny_ab
//   m, n <= 64, k >= 1024, no batch                                                         tall_skinny_atb
//   m >= 1024, n, k <= 64, no batch; on a CPU m >= 32 n, 32 k, and k > 1                    tall_skinny_ab
//   the same, on a CPU, and on a GPU that copies in bulk mostly                             as a tall_batch
//   what a BLAS computes faster: see library_choice                                         library
//   a GPU's m, n, k <= 128, too large to share an SM, by its tensor cores                   batched_stationary
//   the same of operands that these do not take, or on older ones                           batched_panels
//   m, n, k <= 128, the batch fastest in memory; on a CPU X and Y of a vector of products <= 512 KB
//                                                                                           batched_lanes
//   on a CPU m, n or k > 128, X and Y of more than 20 KB, a symmetric C: see blocked_product  batched_blocked
//   m, n, k <= 128, any batch                                                               batched_small
//   the rest, padded operands among them: sides and sums of several axes                    gett
//   everything else                                                                         direct
// On a CPU the library is asked after batched_blocked.
// Products that tables gather from: the batched kernels but batched_lanes, where the tables are as long as the batch;
// else, if they are large, what is gathered is copied first.
#include "lowering/choose_form.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/blocked_product.hpp"
#include "lowering/choose_matrix_kernel.hpp"
#include "lowering/choose_tile.hpp"
#include "lowering/classify_axes.hpp"
#include "lowering/families.hpp"
#include "lowering/fuse_axes.hpp"
#include "lowering/gathers.hpp"
#include "lowering/gett_product.hpp"
#include "lowering/lanes_model.hpp"
#include "lowering/library_choice.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/register_tile.hpp"
#include "lowering/shared_batch.hpp"
#include "lowering/stationary_model.hpp"
#include "lowering/sum_parts.hpp"
#include "lowering/tall_batch.hpp"
#include "lowering/tall_skinny_ab_model.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "lowering/tall_skinny_atb_model.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"
#include "lowering/two_steps.hpp"

#include <algorithm>
#include <iterator>

namespace ricci::lowering {
namespace {

using enum axis_class;

/// From where on gathered operands are copied: evaluations in all, and for each element copied.
constexpr double least_copied_work = 1 << 22, least_reuse = 16;

/// Elements that a thread of the direct kernel has where nothing is summed, and operands with which it may.
constexpr std::int32_t items_of_thread = 4;
constexpr std::size_t most_loads = 8;

constexpr std::int64_t most_on_stack = 512 << 10; ///< of a CPU's threads, which have 1 MB or more

class form_chooser {
  public:
    form_chooser(plan& p, const machine& chip, const priors& known, bool dynamic_extents)
        : plan_(p), chip_(chip), known_(known), dynamic_(dynamic_extents) {}

    void choose(step st, std::vector<step>& out) {
        if (collision_of(st) != collision::none) return take_scatter(std::move(st), out);
        st.shape = shape_of(st);
        if (dynamic_ || !chip_.has_compiler) return take_direct(std::move(st), out);
        if (!is_plain_product(st)) return take_gett_or_direct(std::move(st), out);
        if (is_gathered(st)) return choose_gathered(std::move(st), out);
        if (varies(st, m) || varies(st, n)) return choose_for_variable(std::move(st), out);
        if (st.shape == form::tall_skinny_atb || (is_vector_shape(st.shape) && fits_atb(st)))
            return take_atb(std::move(st), out);
        if (st.shape == form::tall_skinny_ab || ((st.shape == form::gemv || is_scaling(st)) && fits_ab(st))) {
            const auto long_side = extent_of(st, n) > extent_of(st, m) ? n : m;
            return take_ab(std::move(st), long_side, out);
        }
        auto single = with_single_axes(st);
        choose_by_size(std::move(single), std::move(st), out);
    }

  private:
    /// `single`: the step with single axes m and n.
    void choose_by_size(step single, step st, std::vector<step>& out) {
        const bool fixed = !varies(single, m) && !varies(single, n), streams_panels = fits_batched_panels(single);
        const bool stationary = fixed && fits_stationary(single);
        const bool streams_slowly = stationary ? streams_numbers(single) : streams_panels;
        const bool to_library = fits_library(single, chip_, streams_slowly);
        if (stationary && fits_batched_small(single) && whole_products_beat_library(single, chip_))
            take_batched(family::batched_small, std::move(single), out);
        else if (stationary && !(to_library && library_beats_stationary(single, chip_)))
            take_batched(family::batched_stationary, with_columns(std::move(single)), out);
        else if (fixed && fits_blocked(single, chip_) && !(to_library && library_beats_blocked(single)))
            take_batched(family::batched_blocked, std::move(single), out);
        else if (to_library)
            take_library(std::move(single), out);
        else if (fixed && streams_panels)
            take_batched(family::batched_panels, std::move(single), out);
        else if (fixed && fits_batched_lanes(single))
            take_batched(family::batched_lanes, std::move(single), out);
        else if (fixed && fits_batched_small(single))
            take_batched(family::batched_small, std::move(single), out);
        else if (fixed && fits_blocked_unrounded(single))
            take_unrounded(std::move(single), out);
        else
            take_gett_or_direct(std::move(st), out);
    }

    /// Of sides with several axes all are kept: no batch shares what it packs.
    void take_gett_or_direct(step st, std::vector<step>& out) {
        if (!fits_gett(st, chip_)) return take_direct(std::move(st), out);
        st = as_gett(std::move(st), chip_);
        set_kernel(st, family::gett);
        choose_tile(st, chip_, known_);
        out.push_back(std::move(st));
    }

    /// A product whose sums are so long that they are stored in parts, which C would round, or which a coefficient
    /// would scale one by one: the sums go into a temporary.
    bool fits_blocked_unrounded(const step& st) const {
        if (chip_.kind != target::cpu) return false;
        plan scratch;
        return fits_blocked(scaled_afterwards(st, scratch).product, chip_);
    }

    void take_unrounded(step st, std::vector<step>& out) {
        auto both = scaled_afterwards(std::move(st), plan_);
        take_batched(family::batched_blocked, std::move(both.product), out);
        take_direct(std::move(both.rest), out);
    }

    void choose_gathered(step st, std::vector<step>& out) {
        auto single = with_single_axes(st);
        single.shape = product_shape(single);
        if (is_gathered_by_batch(single) && !varies(single, m) && !varies(single, n)) {
            if (fits_stationary(single))
                return take_batched(family::batched_stationary, with_columns(std::move(single)), out);
            if (fits_batched_panels(single)) return take_batched(family::batched_panels, std::move(single), out);
            if (fits_batched_small(single)) return take_batched(family::batched_small, std::move(single), out);
        }
        if (pays_to_copy(st))
            take_copied(std::move(st), out);
        else
            take_direct(std::move(st), out);
    }

    /// Whether each element of what is gathered is used so often, and there is so much to do, that copies are nothing
    /// beside it.
    static bool pays_to_copy(const step& st) {
        double copied = 0;
        for (const auto& o : st.operands)
            if (!o.gathers.empty()) copied += static_cast<double>(element_count(st.axes, o.present));
        const auto work = static_cast<double>(element_count(st.axes, std::vector<char>(st.axes.size(), 1)));
        return work >= least_copied_work && work >= least_reuse * copied;
    }

    /// The gathered operands copied into temporaries, their product, and C from a temporary to where its tables say.
    void take_copied(step st, std::vector<step>& out) {
        for (const auto number : {st.x, st.y}) {
            auto& o = st.operands[static_cast<std::size_t>(number)];
            if (o.gathers.empty()) continue;
            const auto dense = add_temporary(plan_, st.axes, o.present, o.type, {nominal(st, o)});
            take_permutation(copy_step(st, dense, assignment::assign, o, accumulator(o.type)), out);
            o = dense;
        }
        std::vector<step> last;
        if (auto& left = st.operands[0]; !left.gathers.empty()) {
            const auto dense = add_temporary(plan_, st.axes, left.present, st.compute, {nominal(st, left)});
            take_permutation(copy_step(st, left, st.op, dense, st.compute), last);
            left = dense;
            st.op = assignment::assign;
        }
        plan_.notes.push_back("what tables gather is copied first: each element is used often");
        prune(st);
        plan product;
        product.steps.push_back(std::move(st));
        product = fuse_axes(classify_axes(std::move(product)));
        choose(std::move(product.steps.front()), out);
        for (auto& step : last) out.push_back(std::move(step));
    }

    void take_permutation(step copy, std::vector<step>& out) {
        copy.shape = form::permutation;
        take_direct(std::move(copy), out);
    }

    /// A side whose extent may change is no constant, however long it is now: the same kernel for a batch of one and
    /// of a million.
    void choose_for_variable(step st, std::vector<step>& out) {
        const auto long_side = varies(st, m) ? m : n;
        const auto narrow = extent_of(st, long_side == m ? n : m), ek = extent_of(st, k);
        if (varies(st, m) != varies(st, n) && !is_shared_batch(st, long_side) && axes_of(st, batch).empty() &&
            ek > 1 && std::max(narrow, ek) <= largest_small && fits_shared(narrow * ek * size_of(st.compute)))
            return has_gett_sum(st) ? take_gett_or_direct(std::move(st), out)
                                    : take_ab(std::move(st), long_side, out);
        auto single = with_single_axes(st);
        single.shape = product_shape(single);
        choose_by_size(std::move(single), std::move(st), out);
    }

    /// On a CPU a sum of several axes is packed sooner than its elements are found one by one (convolutions of 3 to
    /// 64 channels, f32: 11 to 14 GF/s by tall_skinny_ab, so 53 to 67).
    bool has_gett_sum(const step& st) const {
        return chip_.kind == target::cpu && !is_one_axis(st, k) && fits_gett(st, chip_);
    }

    static bool varies(const step& st, axis_class c) {
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (st.classes[a] == c && st.axes[a].variable) return true;
        return false;
    }

    static bool is_shared_batch(const step& st, axis_class side) {
        const auto own = side_of_matrices(st, axes_of(st, side), side == m ? st.x : st.y);
        return own.size() == 1 && !st.axes[static_cast<std::size_t>(own.front())].variable;
    }

    /// Without a sum: each row a multiple of one, or each element of one number. Vectors of memory are as good for it
    /// as for a product.
    bool is_scaling(const step& st) const {
        return chip_.kind == target::cuda && extent_of(st, k) == 1 && (is_one_axis(st, m) || is_one_axis(st, n));
    }

    static bool is_vector_shape(form f) { return f == form::dot || f == form::gemv; }

    /// A product of two operands that kernels for products may take: no axis of one operand alone, nothing padded,
    /// and the left not read by the right side.
    static bool is_plain_product(const step& st) {
        if (st.classes.empty() || std::find(st.classes.begin(), st.classes.end(), other) != st.classes.end())
            return false;
        if (element_count(st.axes, std::vector<char>(st.axes.size(), 1)) == 0) return false; // nothing to multiply
        return std::none_of(st.operands.begin(), st.operands.end(),
                            [](const operand& o) { return o.in_place || !o.bounds.empty(); });
    }

    form shape_of(const step& st) const {
        const bool sums =
            std::any_of(st.nodes.begin(), st.nodes.end(), [](const node& n) { return n.kind == operation::sum; });
        if (!st.classes.empty()) return product_shape(st);
        const auto accesses = std::count_if(st.nodes.begin(), st.nodes.end(),
                                            [](const node& n) { return n.kind == operation::access; });
        if (accesses == 1 && st.nodes.size() == 1 && st.operands[0].present == st.operands[1].present)
            return form::permutation;
        if (!sums) return form::pointwise;
        return accesses == 1 ? form::reduction : form::direct;
    }

    form product_shape(const step& st) const {
        if (!axes_of(st, other).empty()) return form::direct;
        const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
        const bool batched = !axes_of(st, batch).empty(); // also a batch of one
        if (ek == 1)
            return !batched && em > 1 && en > 1 ? form::outer_product
                   : em > 1 && en > 1           ? form::batched_gemm
                                                : form::pointwise;
        if (batched) return is_interleaved(st) ? form::interleaved_gemm : form::batched_gemm;
        if (em == 1 && en == 1) return form::dot;
        if (em == 1 || en == 1) return form::gemv;
        if (fits_atb(st)) return form::tall_skinny_atb;
        if (fits_ab(st)) return form::tall_skinny_ab;
        const bool several = axes_of(st, m).size() > 1 || axes_of(st, n).size() > 1; // a batch that one operand lacks
        return several ? form::batched_gemm : form::gemm;
    }

    static bool is_one_axis(const step& st, axis_class c) { return axes_of(st, c).size() == 1; }

    static bool fits_atb(const step& st) {
        const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
        return axes_of(st, batch).empty() && is_one_axis(st, k) && std::max(em, en) <= largest_small &&
               ek >= shortest_tall && ek >= tall_ratio * std::max(em, en);
    }

    bool fits_ab(const step& st) const {
        const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
        const auto tall = std::max(em, en), narrow = std::max(std::min(em, en), ek);
        return axes_of(st, batch).empty() && is_one_axis(st, em >= en ? m : n) && narrow <= largest_small &&
               tall >= shortest_tall && (chip_.kind == target::cuda || tall >= tall_ratio * narrow) &&
               fits_shared(std::min(em, en) * ek * size_of(st.compute));
    }

    /// All but one of several axes of m or n become batch axes along which the other operand is shared: a kernel has
    /// m and n as constants, and a long axis beside a short one is more often a batch than a side of a matrix. The
    /// one that stays is the nearest in memory whose extent does not vary, and that no table has.
    static step with_single_axes(step st) {
        for (const auto c : {m, n}) {
            const auto axes = axes_of(st, c);
            if (axes.size() < 2) continue;
            const auto is_side = [&](auto a) {
                const auto axis = static_cast<std::size_t>(a);
                return !st.axes[axis].variable &&
                       std::none_of(st.operands.begin(), st.operands.end(),
                                    [&](const operand& o) { return is_gathered_along(st, o, axis); });
            };
            const auto fixed = std::find_if(axes.begin(), axes.end(), is_side);
            const auto kept = fixed == axes.end() ? axes.front() : *fixed;
            for (const auto a : axes)
                if (a != kept) st.classes[static_cast<std::size_t>(a)] = batch;
        }
        return st;
    }

    /// On a CPU tiles lie on the stack.
    bool fits_shared(std::int64_t bytes) const { return chip_.kind == target::cpu || bytes <= chip_.shared_bytes; }

    bool fits_batched_small(const step& st) const {
        if (is_vector_shape(st.shape)) return false;
        const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
        if (chip_.kind == target::cpu) return ek > 1 && std::max({em, en, ek}) <= largest_batched;
        return ek > 1 && std::max({em, en, ek}) <= largest_batched &&
               batched_shared_bytes(st, batched_layout_of(st), 1) <= chip_.shared_bytes;
    }

    /// Products beside one another in memory; of few that are, batched_small takes those from several rows of the
    /// batch at once.
    bool fits_batched_lanes(const step& st) const {
        if (!has_neighboring_products(st)) return false;
        if (chip_.kind == target::cpu)
            return fits_batched_small(st) && !is_gathered(st) && neighbor_copy_bytes(st, chip_) <= most_on_stack;
        const auto batches = axes_of(st, batch);
        const bool few =
            batches.size() > 1 && st.axes[static_cast<std::size_t>(batches.front())].extent < least_neighbors;
        const auto largest = largest_side(st);
        return extent_of(st, k) > 1 && largest <= largest_batched && !(few && fits_batched_small(st));
    }

    /// Products of which an SM could not hold `whole` at once: from there on blocks that hold whole ones are slower,
    /// on an H200 (of the triad: f32 56 to 64 96 % instead of 75, c64 40 67 instead of 65 and 48 82 instead of 65,
    /// c128 40 92 instead of 77, f64 65 96 instead of 68; where all share X f64 48 89 instead of 77).
    bool fits_stationary(const step& st) const {
        const auto* mma = mma_of(st, chip_);
        if (mma == nullptr) return false;
        const auto upright = with_columns(st);
        const auto largest = largest_side(st);
        const auto narrowest = std::min(extent_of(st, m), extent_of(st, n));
        const bool complex = is_complex(st.compute);
        std::int64_t whole = mma->repeats > 1 ? 3 : 2;
        if (mma->element_bytes == 8) whole = complex || stationary_x_is_for_all(upright) ? 4 : largest > 64 ? 3 : 2;
        // Warpgroups have 64 rows, and want columns enough for what they keep.
        const bool fills_warpgroups = mma->repeats > 1 && has_warpgroup_products(*mma, chip_) && narrowest >= 32;
        if (fills_warpgroups && !cuts_unaligned_lines(upright)) whole = complex ? 6 : 7;
        return fits_batched_panels(st, whole) && takes_stationary(upright, chip_);
    }

    /// Products of which an SM's shared memory could not hold so many whole.
    bool fits_batched_panels(const step& st, std::int64_t parts = 2) const {
        if (chip_.kind != target::cuda || is_vector_shape(st.shape) || axes_of(st, batch).empty() ||
            has_neighboring_products(st) || !takes_panels(st))
            return false;
        const auto largest = largest_side(st);
        return extent_of(st, k) > 1 && largest <= largest_batched &&
               batched_shared_bytes(st, batched_layout_of(st), 1) > chip_.shared_bytes / parts;
    }

    /// What the kernel computes exactly anyway is the same step in either mode, with the same parameters.
    void set_kernel(step& st, family kernel) const {
        st.kernel = kernel;
        if (!may_round_to_tf32(st, chip_)) st.math = math_mode::full;
    }

    /// A BLAS drops the NaN of its operands where alpha or beta is 0, so these are applied by a step of their own, as
    /// is an addition that it would round twice.
    void take_library(step st, std::vector<step>& out) {
        set_kernel(st, family::library);
        if (!is_scaled(st) && !library_rounds_twice(st)) return out.push_back(std::move(st));
        take_two(scaled_afterwards(std::move(st), plan_), out);
    }

    void take_two(two_steps both, std::vector<step>& out) {
        out.push_back(std::move(both.product));
        take_direct(std::move(both.rest), out);
    }

    void take_direct(step st, std::vector<step>& out) {
        st = with_beta_in_tree(std::move(st));
        set_kernel(st, family::direct);
        st.dynamic_extents = dynamic_;
        if (!dynamic_) drop_single_axes(st);
        if (chip_.kind == target::cuda) {
            std::int64_t longest = 1;
            for (const auto& list : st.sums) {
                std::vector<char> marked(st.axes.size(), 0);
                for (const auto a : list) marked[static_cast<std::size_t>(a)] = 1;
                longest = std::max(longest, element_count(st.axes, marked));
            }
            st.tile[0] = longest >= 2048 ? direct_threads : longest >= 64 ? 32 : 1;
            st.tile[1] = longest == 1 && st.operands.size() <= most_loads ? items_of_thread : 1;
        } else if (auto parts = dynamic_ ? std::vector<step>() : summed_in_parts(st, plan_); !parts.empty()) {
            return void(std::move(parts.begin(), parts.end(), std::back_inserter(out)));
        }
        out.push_back(std::move(st));
    }

    /// What scatter_left left: a tree without sums.
    void take_scatter(step st, std::vector<step>& out) {
        st.shape = form::scatter;
        if (collision_of(st) == collision::atomic) return take_direct(std::move(st), out);
        set_kernel(st, family::scatter);
        st.dynamic_extents = dynamic_;
        if (!dynamic_) drop_single_axes(st);
        out.push_back(std::move(st));
    }

    void take_batched(family kernel, step st, std::vector<step>& out) {
        if (chip_.kind == target::cpu) st = with_vectors_along_m(std::move(st));
        set_kernel(st, kernel);
        choose_tile(st, chip_, known_);
        out.push_back(std::move(st));
    }

    void take_ab(step st, axis_class long_side, std::vector<step>& out) {
        if (chip_.kind == target::cuda) {
            auto tall = long_side == n ? with_sides_swapped(st) : st;
            if (ab_takes_boxes(tall, chip_)) return take_rows(std::move(st), long_side, out);
            set_kernel(tall, family::tall_skinny_ab);
            if (library_beats_rows(tall, chip_)) return take_library(std::move(st), out);
        }
        if (auto split = as_batch(st, long_side, chip_)) {
            split->products.shape = product_shape(split->products);
            if (fits_batch(*split)) {
                choose_by_size(split->products, split->products, out);
                if (split->rest) take_rows(std::move(*split->rest), long_side, out);
                return;
            }
        }
        take_rows(std::move(st), long_side, out);
    }

    /// Lines of 4- or 2-byte numbers, along the sum, that are multiples of 128 bytes lie on the same banks; and
    /// columns pay where an SM has at least four products. Both measured on an H200: see as_batch.
    bool fits_batch(const tall_batch& split) const {
        if (chip_.kind == target::cpu) return true;
        const auto& st = split.products;
        const auto bytes = size_of(st.operands[static_cast<std::size_t>(st.x)].type);
        if (split.order == tall_order::rows && fits_stationary(st)) return true;
        if (bytes <= 4 && extent_of(st, k) * bytes % 128 == 0) return false;
        constexpr std::int64_t least_products = 4;
        return split.order == tall_order::rows || !fits_batched_panels(st, least_products);
    }

    void take_rows(step st, axis_class long_side, std::vector<step>& out) {
        auto plain = st;
        set_kernel(st, family::tall_skinny_ab);
        if (long_side == n) st = with_sides_swapped(std::move(st)); // the long axis is m by convention
        if (chip_.kind == target::cpu) st.tile = {64, 0, 0, 0};
        if (library_beats_ab(st, chip_)) return take_library(std::move(plain), out);
        choose_tile(st, chip_, known_);
        if (chip_.kind == target::cuda &&
            (ab_candidates(st, chip_).empty() || ab_shared_bytes(st, st.batched) > chip_.shared_bytes))
            return take_direct(std::move(plain), out);
        out.push_back(std::move(st));
    }

    void take_atb(step st, std::vector<step>& out) {
        set_kernel(st, family::tall_skinny_atb);
        if (chip_.kind != target::cuda)
            return take_two(added_in_chunks(with_vectors_along_m_of_x(std::move(st)), chip_, plan_), out);
        if (atb_candidates(st, chip_).empty()) return take_direct(std::move(st), out);
        choose_tile(st, chip_, known_);
        st.workspace = {-1 - static_cast<std::int32_t>(plan_.temporaries.size()), atb_workspace_bytes(st, chip_)};
        plan_.temporaries.push_back({scalar_type::f64, st.workspace.bytes / size_of(scalar_type::f64)});
        out.push_back(std::move(st));
    }

    plan& plan_;
    const machine& chip_;
    const priors& known_;
    bool dynamic_;
};

} // namespace

plan choose_form(plan p, const machine& chip, const priors& known, bool dynamic_extents) {
    std::vector<step> steps;
    form_chooser chooser(p, chip, known, dynamic_extents);
    for (auto& st : p.steps)
        if (st.chain >= 0)
            steps.push_back(std::move(st)); // fuse_statements has chosen
        else if (st.matrices.task != matrix_task::none)
            for (auto& part : choose_matrix_kernel(std::move(st), p, chip, known, dynamic_extents)) {
                if (part.matrices.task != matrix_task::none)
                    steps.push_back(std::move(part));
                else
                    chooser.choose(std::move(part), steps);
            }
        else if (st.kernel != family::none)
            steps.push_back(std::move(st)); // find_winograd has chosen
        else
            chooser.choose(std::move(st), steps);
    p.steps = std::move(steps);
    return p;
}

} // namespace ricci::lowering
