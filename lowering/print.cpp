// print: plans as text.
#include "lowering/print.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/place_temporaries.hpp"
#include "lowering/print_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ricci::lowering {
namespace {

/// A step that works on matrices; `describe` an operand.
template <class Describe>
std::string print_matrices(const step& st, const std::string& axes, const std::string& part_of,
                           const Describe& describe, const std::string& workspace) {
    constexpr std::string_view roles[] = {"matrix", "vector", "info", "given", "solution", "log|det|", "sign"};
    const auto& w = st.matrices;
    const auto sizes = matrix_sizes_of(st);
    auto out = fmt::format("step over {} in {}{}:\n  {} {} of {} x {}{}{}{}{}", axes, name_of(st.compute), part_of,
                           w.task == matrix_task::factor ? "factor" : "solve with", name_of(w.method), sizes.m,
                           sizes.n, sizes.r > 0 ? fmt::format(", {} right-hand sides", sizes.r) : "",
                           w.conjugated ? ", conjugated" : "", w.upper ? ", upper" : "", w.unit ? ", unit" : "");
    if (w.smallest_norm) out += ", solved with its adjoint";
    if (w.adjoint) out += ", of its adjoint";
    if (w.task == matrix_task::factor) out += w.keeps_factors ? ", in place" : ", factors not kept";
    out += '\n';
    for (std::size_t r = 0; r < matrix_roles; ++r)
        if (const auto o = w.operand[r]; o >= 0)
            out += fmt::format("  {} {}\n", roles[r], describe(st.operands[static_cast<std::size_t>(o)]));
    if (st.shape != form::none)
        out += fmt::format("  form {}, kernel {}{}{}\n", name_of(st.shape), name_of(st.kernel),
                           st.dynamic_extents ? ", extents as arguments" : "",
                           workspace.empty() ? "" : fmt::format(", workspace {}", workspace));
    return out;
}

} // namespace

std::string_view name_of(form f) {
    constexpr std::string_view names[] = {"",
                                          "pointwise",
                                          "permutation",
                                          "reduction",
                                          "dot",
                                          "GEMV",
                                          "outer product",
                                          "GEMM",
                                          "batched GEMM",
                                          "interleaved batched GEMM",
                                          "tall-skinny A^T B",
                                          "tall-skinny A B",
                                          "direct",
                                          "scatter",
                                          "chain",
                                          "Winograd convolution",
                                          "tile transform",
                                          "factorization",
                                          "substitution"};
    return names[static_cast<int>(f)];
}

std::string_view name_of(family f) {
    constexpr std::string_view names[] = {"",
                                          "direct",
                                          "batched_small",
                                          "batched_lanes",
                                          "batched_panels",
                                          "batched_stationary",
                                          "batched_blocked",
                                          "gett",
                                          "tall_skinny_atb",
                                          "tall_skinny_ab",
                                          "library",
                                          "scatter",
                                          "chain",
                                          "winograd",
                                          "tile_transform",
                                          "factor_lanes",
                                          "factor_block",
                                          "factor_blocked",
                                          "substitute"};
    return names[static_cast<int>(f)];
}

std::string to_string(const plan& p, const statement& s) { return print_steps(p, s) + print_notes(p); }

std::string print_notes(const plan& p, std::size_t first) {
    std::string out;
    for (auto n = first; n < p.notes.size(); ++n) out += fmt::format("note: {}\n", p.notes[n]);
    return out;
}

std::string print_steps(const plan& p, const statement& s) {
    const auto names = operand_names(s);
    std::string out;
    const auto axis_list = [](const step& st, const std::vector<std::int32_t>& axes) {
        std::vector<std::string_view> list;
        for (const auto a : axes) list.push_back(st.axes[static_cast<std::size_t>(a)].name);
        return fmt::format("{}", fmt::join(list, " "));
    };
    const auto source_name = [&](std::int32_t source) {
        return source >= 0 ? names[static_cast<std::size_t>(source)] : fmt::format("T{}", -1 - source);
    };
    const auto kept_by = chains_that_keep(p);
    for (std::size_t t = 0; t < p.temporaries.size(); ++t)
        out += fmt::format(
            "temporary T{}: {} x {}{}\n", t, name_of(p.temporaries[t].type), p.temporaries[t].elements,
            kept_by[t] >= 0             ? fmt::format(", kept within chain {}", kept_by[t] + 1)
            : p.temporaries[t].of_slice ? fmt::format(", at byte {} of each slice's", p.temporaries[t].offset)
            : p.workspace_bytes > 0     ? fmt::format(", at byte {} of the workspace", p.temporaries[t].offset)
                                        : "");
    for (const auto& st : p.steps) {
        std::vector<std::string> axes;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            axes.push_back(
                fmt::format("{}:{}{}", st.axes[a].name, st.axes[a].extent, st.axes[a].variable ? "*" : ""));
        const auto describe_strides = [&](const operand& o) {
            std::vector<std::string> strides;
            for (std::size_t a = 0; a < st.axes.size(); ++a)
                if (o.present[a]) strides.push_back(fmt::format("{}:{}", st.axes[a].name, o.stride[a]));
            return fmt::format("{}[{}", source_name(o.source), fmt::join(strides, " "));
        };
        const auto describe = [&](const operand& o) {
            auto text = describe_strides(o);
            for (const auto& g : o.gathers) {
                const auto& table = st.operands[static_cast<std::size_t>(g.table)];
                const auto offset = table.offset == 0 ? std::string() : fmt::format(" {:+}", table.offset);
                text += table.type == scalar_type::address
                            ? fmt::format(" @{}{}]", describe_strides(table), offset)
                            : fmt::format(" {}*{}{}]", g.stride, describe_strides(table), offset);
                if (g.equal != collision::none) text += g.equal == collision::atomic ? " atomic" : " ordered";
            }
            if (o.offset != 0) text += fmt::format(" {:+}", o.offset);
            text += ']';
            if (!o.bounds.empty()) text += " padded";
            return text;
        };
        const auto scalar_name = [&](std::int32_t a) { return print_scalar(s.scalars[static_cast<std::size_t>(a)]); };
        const auto no_name = [](std::int32_t) { return std::string(); };
        tree_printer printer(
            st.nodes, [&](std::int32_t a) { return describe(st.operands[static_cast<std::size_t>(a)]); }, scalar_name,
            [&](std::int32_t list) { return axis_list(st, st.sums[static_cast<std::size_t>(list)]); });
        std::string slices;
        if (st.group >= 0) {
            const auto& group = p.groups[static_cast<std::size_t>(st.group)];
            slices = fmt::format(", {} of {} slices of {}", group.length, group.count, group.axis);
        }
        if (st.chain >= 0) slices = fmt::format(", of chain {}", st.chain + 1);
        if (st.matrices.task != matrix_task::none) {
            out += print_matrices(st, fmt::format("{}", fmt::join(axes, " ")), slices, describe,
                                  st.workspace.source < 0 ? source_name(st.workspace.source) : std::string());
            continue;
        }
        if (st.nodes.empty()) { // a call, before matrix_steps
            out += fmt::format("step over {} in {}:\n ", fmt::join(axes, " "), name_of(st.compute));
            for (const auto& o : st.operands) out += ' ' + describe(o);
            out += '\n';
            continue;
        }
        const auto left = describe(st.operands[0]);
        std::string kept;
        if (!st.beta.empty())
            kept = fmt::format("{}*{} + ",
                               tree_printer(st.beta, no_name, scalar_name, no_name)
                                   .print(static_cast<std::int32_t>(st.beta.size()) - 1),
                               left);
        out += fmt::format("step over {} in {}{}:\n  {} {} {}{}\n", fmt::join(axes, " "), arithmetic_of(st), slices,
                           left, kept.empty() ? sign_of(st.op) : "=", kept,
                           printer.print(static_cast<std::int32_t>(st.nodes.size()) - 1));
        if (!st.classes.empty()) {
            constexpr std::string_view titles[] = {"batch", "m", "n", "k", "other"};
            out += " ";
            for (int c = 0; c < 5; ++c) {
                std::vector<std::int32_t> members;
                for (std::size_t a = 0; a < st.classes.size(); ++a)
                    if (static_cast<int>(st.classes[a]) == c) members.push_back(static_cast<std::int32_t>(a));
                if (!members.empty()) out += fmt::format(" {} {{{}}}", titles[c], axis_list(st, members));
            }
            if (st.symmetry != symmetry::none)
                out += st.symmetry == symmetry::hermitian ? " Hermitian" : " symmetric";
            out += '\n';
        }
        if (st.shape != form::none)
            out += fmt::format(
                "  form {}, kernel {}{}{}\n", name_of(st.shape), name_of(st.kernel),
                st.dynamic_extents ? ", extents as arguments" : "",
                st.workspace.source < 0 ? fmt::format(", workspace {}", source_name(st.workspace.source)) : "");
    }
    return out;
}

std::string_view name_of(matrix_method m) {
    constexpr std::string_view names[] = {"Cholesky", "LU",  "LU without pivoting", "QR", "triangular",
                                          "Q",        "Q^H", "columns of Q"};
    return names[static_cast<std::size_t>(m)];
}

std::string_view name_of(tile_origin o) {
    constexpr std::string_view names[] = {"the model", "the model and measurements at sizes nearby",
                                          "the shipped table", "measurements"};
    return names[static_cast<std::size_t>(o)];
}

std::string_view arithmetic_of(const step& st) {
    return st.math == math_mode::tf32 ? name_of(st.math) : name_of(st.compute);
}

namespace {

std::string to_string_on_cpu(const batched_tile& t) {
    auto out =
        t.products > 1 ? fmt::format("groups of {} products", t.products) : fmt::format("{}x{}", t.tile_m, t.tile_n);
    if (t.panel > 0) out += fmt::format(", panels of {} columns", t.panel);
    if (t.slices > 1) out += fmt::format(", {} tiles high", t.slices);
    if (t.k_panel > 0) out += fmt::format(", k panel {}", t.k_panel);
    if (t.k_unrolled == 0) out += ", sum unrolled";
    if (t.k_unrolled > 1) out += fmt::format(", sum unrolled by {}", t.k_unrolled);
    if (t.stages > 0) out += fmt::format(", {} product{} ahead", t.stages, t.stages == 1 ? "" : "s");
    return out;
}

} // namespace

std::string to_string(const batched_tile& t, target where) {
    if (where == target::cpu) return to_string_on_cpu(t);
    auto out = fmt::format("{} {}x{}", t.core == batched_core::mma ? "mma" : "fma", t.tile_m, t.tile_n);
    if (t.boxed) out += ", boxes";
    if (t.columns_apart) out += ", columns apart";
    if (t.rows_of_16) out += ", 16 rows";
    if (t.warpgroups) out += ", warpgroups";
    if (t.products > 1) out += fmt::format(", {} products", t.products);
    if (t.thread_products > 1) out += fmt::format(", {} a thread", t.thread_products);
    out += fmt::format(", {} threads", t.threads);
    if (t.panel > 0) out += fmt::format(", panel {}", t.panel);
    if (t.k_panel > 0) out += fmt::format(", k panel {}", t.k_panel);
    if (t.stages > 0) out += fmt::format(", {} stages", t.stages);
    if (t.slices > 1) out += fmt::format(", {} slices", t.slices);
    if (t.rows_first) out += ", rows first";
    if (t.skewed) out += ", skewed";
    if (t.c_transposed) out += ", transposed";
    if (t.realigned) out += ", realigned";
    if (t.k_apart > 0) out += fmt::format(", k apart {}", 4 * t.k_apart);
    if (t.in_registers) out += ", X in registers";
    return out;
}

namespace {

/// Of a factorization or a solve: factor_layout.hpp, substitute_layout.hpp.
std::string to_string_of_matrices(const batched_tile& t, const step& st, target where) {
    const bool solves = st.kernel == family::substitute;
    auto out = fmt::format("{} matri{} a {}", t.products, t.products == 1 ? "x" : "ces",
                           where == target::cpu ? "time" : "block");
    if (where == target::cpu) {
        if (solves) return out + (t.tile_m == 1 ? ", one a lane" : fmt::format(", {} right-hand sides", t.tile_n));
        return st.matrices.method == matrix_method::qr ? out + fmt::format(", panels of {} columns", t.k_panel) : out;
    }
    if (t.streamed) out += " at a time, streamed";
    if (t.core == batched_core::mma) out += ", tensor cores";
    out += fmt::format(", {} threads", t.threads);
    const bool shares = solves || st.kernel == family::factor_lanes;
    if (shares) out += fmt::format(", {} a matrix", t.tile_m);
    if (shares && t.tile_n > 1) out += fmt::format(", {} {} each", t.tile_n, solves ? "right-hand sides" : "lines");
    if (!shares && t.tile_n > 1) out += fmt::format(", {} strips a warp", t.tile_n);
    if (t.k_panel > 0) out += fmt::format(", panels of {}", t.k_panel);
    if (solves && t.tile_m > 32)
        out += t.stages > 0 ? ", sides in shared memory" : "";
    else if (t.stages > 0)
        out += solves ? ", sides in shared memory"
                      : fmt::format(", {} block{} an SM", t.stages, t.stages == 1 ? "" : "s");
    if (t.boxed) out += ", slabs";
    return out;
}

} // namespace

std::string to_string(const batched_tile& t, const step& st, target where) {
    if (st.matrices.task != matrix_task::none) return to_string_of_matrices(t, st, where);
    if (st.kernel == family::gett && where == target::cuda) {
        auto of_c = t;
        of_c.products = 1, of_c.panel = 0;
        return fmt::format("{}x{} of C, {}", t.products, t.panel, to_string(of_c, where));
    }
    if (st.chain < 0) return to_string(t, where);
    return fmt::format("{} element{}, {} threads, {} block{} an SM", t.products, t.products == 1 ? "" : "s",
                       t.threads, t.stages, t.stages == 1 ? "" : "s");
}

} // namespace ricci::lowering
