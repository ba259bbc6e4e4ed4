// print: both IRs as text.
#include "lowering/print.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/place_temporaries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <tuple>

namespace ricci::lowering {
namespace {

std::string_view function_name(operation kind) {
    using enum operation;
    switch (kind) {
    case conjugate:
        return "conj";
    case relu:
        return "relu";
    case exp:
        return "exp";
    case sqrt:
        return "sqrt";
    case abs:
        return "abs";
    case min:
        return "min";
    case max:
        return "max";
    case reciprocal:
        return "reciprocal";
    default:
        return "";
    }
}

/// Prints a tree of nodes; what an access, a scalar and a list of summed axes look like is the caller's.
template <class Access, class Scalar, class Sum>
class tree_printer {
  public:
    tree_printer(const std::vector<node>& nodes, Access access, Scalar scalar, Sum sum)
        : nodes_(nodes), access_(access), scalar_(scalar), sum_(sum) {}

    std::string print(std::int32_t at, int outer = 0) const {
        using enum operation;
        const node& n = nodes_[static_cast<std::size_t>(at)];
        switch (n.kind) {
        case access:
            return access_(n.a);
        case scalar:
            return scalar_(n.a);
        case add:
            return infix(n, " + ", 1, 1, outer);
        case subtract:
            return infix(n, " - ", 1, 2, outer);
        case multiply:
            return infix(n, "*", 2, 2, outer);
        case divide:
            return infix(n, "/", 2, 3, outer);
        case negate:
            return wrap(fmt::format("-{}", print(n.a, 3)), 1, outer);
        case sum:
            return fmt::format("sum{{{}}}({})", sum_(n.b), print(n.a));
        default:
            if (arity(n.kind) == 2) return std::string(function_name(n.kind)) + '(' + infix(n, ", ", 0, 0, 0) + ')';
            return fmt::format("{}({})", function_name(n.kind), print(n.a));
        }
    }

  private:
    std::string infix(const node& n, std::string_view sign, int level, int right_level, int outer) const {
        auto text = print(n.a, level); // left first: a range is shown where its index first stands
        text += sign;
        text += print(n.b, right_level);
        return wrap(std::move(text), level, outer);
    }
    static std::string wrap(std::string text, int inner, int outer) {
        return inner < outer ? fmt::format("({})", text) : text;
    }
    const std::vector<node>& nodes_;
    Access access_;
    Scalar scalar_;
    Sum sum_;
};

/// Prints accesses, each label's range where it first stands.
class access_printer {
  public:
    explicit access_printer(const statement& s) : s_(s), names_(operand_names(s)), shown_(s.labels.size(), false) {}

    std::string print(std::size_t number) {
        const auto& a = s_.accesses[number];
        std::vector<std::string> parts;
        for (int p = 0; p < a.position_count; ++p) parts.push_back(print(position_of(s_, a, p)));
        const auto text = fmt::format("{}({})", names_[number], fmt::join(parts, ", "));
        return a.padded ? fmt::format("padded({})({})", names_[number], fmt::join(parts, ", ")) : text;
    }

    std::string print(const position& p) {
        if (p.is_gathered()) {
            const auto& table = s_.accesses[static_cast<std::size_t>(p.table)];
            if (table.type == scalar_type::address)
                return print(s_.positions[static_cast<std::size_t>(table.first_position)]);
            const auto text = print(static_cast<std::size_t>(p.table));
            const auto name = names_[static_cast<std::size_t>(p.table)].size();
            if (!p.distinct && !p.atomic) return text;
            return fmt::format("{}({}){}", p.distinct ? "distinct" : "atomic", text.substr(0, name),
                               text.substr(name));
        }
        std::string text;
        bool affine = false;
        for (int t = 0; t < p.term_count; ++t) {
            const auto& term = s_.terms[static_cast<std::size_t>(p.first_term + t)];
            const auto c = term.coefficient;
            if (c == 0 && t > 0 && s_.terms[static_cast<std::size_t>(p.first_term)].label == term.label) {
                affine = true; // the mark of an affine position that came out as a plain index
                continue;
            }
            if (!text.empty())
                text += c < 0 ? " - " : " + ";
            else if (c < 0)
                text += "-";
            if (c != 1 && c != -1)
                text += fmt::format("{}*", c < 0 ? 0 - static_cast<std::uint64_t>(c) : static_cast<std::uint64_t>(c));
            text += print_label(static_cast<std::size_t>(term.label));
        }
        if (text.empty()) return fmt::format("{}", p.offset);
        if (p.offset != 0 || affine)
            text += fmt::format(" {} {}", p.offset < 0 ? '-' : '+',
                                p.offset < 0 ? 0 - static_cast<std::uint64_t>(p.offset)
                                             : static_cast<std::uint64_t>(p.offset));
        return text;
    }

  private:
    std::string print_label(std::size_t number) {
        const auto& l = s_.labels[number];
        if (!l.has_range() || shown_[number]) return std::string(l.name);
        shown_[number] = true;
        return fmt::format("{}({}, {})", l.name, l.begin, l.end);
    }

    const statement& s_;
    std::vector<std::string> names_;
    std::vector<bool> shown_;
};

std::string_view sign_of(assignment op) {
    return op == assignment::assign ? "=" : op == assignment::add ? "+=" : "-=";
}

/// As in C++: the matrix, its indices, then the other operands.
std::string print_call(const statement& s, access_printer& accesses) {
    const auto& c = s.call;
    const auto label = [&](std::int32_t l) {
        return l < 0 ? std::string_view("?") : s.labels[static_cast<std::size_t>(l)].name;
    };
    const auto matrix = accesses.print(0);
    auto text = fmt::format("{}({}, {}, {}", name_of(c.what), c.conjugated ? fmt::format("conj({})", matrix) : matrix,
                            label(c.row), label(c.column));
    for (std::size_t n = 1; n < s.accesses.size(); ++n) text += ", " + accesses.print(n);
    for (const auto& [flag, name] :
         {std::pair(c.unpivoted, "unpivoted"), std::pair(c.positive, "positive_definite"),
          std::pair(c.what == routine::triangular_solve && !c.upper, "lower"), std::pair(c.upper, "upper"),
          std::pair(c.unit, "unit_diagonal"), std::pair(c.adjoint, "adjoint")})
        if (flag) text += fmt::format(", {}", name);
    return text + ')';
}

std::string print_scalar(const scalar& x) {
    return x.complex ? fmt::format("({}{:+}i)", x.real, x.imaginary) : fmt::format("{}", x.real);
}

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

std::vector<std::string> operand_names(const statement& s) {
    // The same memory under another type, shape or strides is another operand.
    using identity = std::tuple<const void*, std::int32_t, scalar_type, std::vector<std::int64_t>>;
    std::map<identity, std::string> letters;
    std::vector<std::string> names;
    for (const auto& a : s.accesses) {
        if (!a.name.empty()) {
            names.emplace_back(a.name);
            continue;
        }
        if (a.type == scalar_type::address) {
            names.emplace_back(); // named after what it gives the addresses of
            continue;
        }
        const auto next = std::string(1, static_cast<char>('A' + letters.size() % 26));
        std::vector<std::int64_t> shape;
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s, a, p);
            shape.push_back(position.extent), shape.push_back(position.stride);
        }
        names.push_back(letters.try_emplace({a.data, a.local, a.type, std::move(shape)}, next).first->second);
    }
    for (std::size_t n = 0; n < names.size(); ++n)
        if (const auto* p = position_of_addresses(s, s.accesses[n]))
            names[static_cast<std::size_t>(p->table)] = names[n] + "'s addresses";
    return names;
}

std::string to_string(const statement& s, const access& a) {
    return access_printer(s).print(static_cast<std::size_t>(&a - s.accesses.data()));
}

std::string to_string(const statement& s, const position& p) { return access_printer(s).print(p); }

std::string to_string(const statement& s) {
    if (s.accesses.empty()) return "(empty statement)";
    access_printer accesses(s);
    if (s.is_call()) return print_call(s, accesses);
    auto text = fmt::format("{} {} ", accesses.print(0), sign_of(s.op));
    if (s.nodes.empty()) return text;
    tree_printer printer(
        s.nodes, [&](std::int32_t a) { return accesses.print(static_cast<std::size_t>(a)); },
        [&](std::int32_t a) { return print_scalar(s.scalars[static_cast<std::size_t>(a)]); },
        [](std::int32_t) { return std::string(); });
    return text + printer.print(static_cast<std::int32_t>(s.nodes.size()) - 1);
}

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
    out += fmt::format(", {} threads", t.threads);
    const bool shares = solves || st.kernel == family::factor_lanes;
    if (shares) out += fmt::format(", {} a matrix", t.tile_m);
    if (shares && t.tile_n > 1) out += fmt::format(", {} {} each", t.tile_n, solves ? "right-hand sides" : "lines");
    if (!shares && t.tile_n > 1) out += fmt::format(", {} strips a warp", t.tile_n);
    if (t.k_panel > 0) out += fmt::format(", panels of {}", t.k_panel);
    if (solves && t.tile_m > 32)
        out += t.stages > 0 ? ", sides in shared memory" : "";
    else if (t.stages > 0)
        out += solves ? ", sides in shared memory" : fmt::format(", {} blocks an SM", t.stages);
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
