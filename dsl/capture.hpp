// capture: an assignment or a conversion to a number becomes a lowering::statement, and is run, at once.
#pragma once

#include "dsl/access.hpp"
#include "dsl/checks.hpp"
#include "dsl/expr.hpp"
#include "dsl/index_set.hpp"

#include "lowering/error.hpp"
#include "lowering/statement.hpp"
#include "runtime/device.hpp"
#include "runtime/math_mode.hpp"
#include "runtime/run.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci::dsl {

/// This thread's statement, emptied. Its vectors keep their memory, so that a warm capture takes none.
inline lowering::statement& empty_statement() {
    static thread_local lowering::statement s;
    s.clear();
    s.math = runtime::chosen_math();
    return s;
}

/// Appends an access and returns its number; `label` runs along the numbers of the statement's indices.
inline std::int32_t append_access(lowering::statement& s, const access_parts& parts, const std::int32_t*& label) {
    const auto number = static_cast<std::int32_t>(s.accesses.size());
    auto& a = s.accesses.emplace_back(parts.header);
    a.first_position = static_cast<std::int32_t>(s.positions.size());
    const auto first_position = static_cast<std::size_t>(a.first_position);
    const term_value* terms = parts.terms;
    for (int r = 0; r < parts.header.position_count; ++r) {
        const auto& p = parts.positions[r];
        const auto first = static_cast<std::int32_t>(s.terms.size());
        for (int t = 0; t < p.term_count; ++t, ++terms, ++label) {
            s.terms.push_back({*label, terms->coefficient});
            if (terms->begin == lowering::no_range && terms->end == lowering::no_range) continue;
            auto& l = s.labels[static_cast<std::size_t>(*label)];
            const lowering::label written{l.name, terms->begin, terms->end};
            if (!l.has_range())
                l = written;
            else if (l.begin != written.begin || l.end != written.end)
                s.second_ranges.push_back(written);
        }
        // An affine position that comes out as 1*i + 0 must not bound i as a plain one does, or A(i + d) would
        // mean another thing for d == 0. In IR 1 only the number of terms can tell the two apart.
        if (!p.plain && p.term_count == 1 && p.offset == 0 && s.terms.back().coefficient == 1)
            s.terms.push_back({s.terms.back().label, 0});
        s.positions.push_back(
            {p.extent, p.stride, p.offset, first, static_cast<std::int32_t>(s.terms.size()) - first});
    }
    for (int r = 0; r < parts.header.position_count; ++r) {
        if (parts.positions[r].table < 0) continue;
        const auto& t = parts.tables[parts.positions[r].table];
        const auto* const own = parts.positions + t.first_position;
        const auto table = append_access(s, {t.header, own, nullptr, 0, terms}, label);
        for (int q = 0; q < t.header.position_count; ++q) terms += own[q].term_count;
        auto& gathered = s.positions[first_position + static_cast<std::size_t>(r)];
        gathered.table = table;
        gathered.distinct = t.said == entries::distinct, gathered.atomic = t.said == entries::atomic;
    }
    return number;
}

inline void append_labels(lowering::statement& s, const std::string_view* names, std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) s.labels.push_back({names[n], lowering::no_range, lowering::no_range});
}

template <class Left, class Right>
void run_statement(lowering::assignment op, const Left& left, const Right& right) {
    check_statement<Left, Right>();
    using indices = statement_indices<typename Left::occurrences, typename Right::occurrences>;
    auto& s = empty_statement();
    s.op = op;
    append_labels(s, indices::names::views.data(), indices::names::count);
    const std::int32_t* label = indices::numbers.data();
    left.append_left(s, label);
    right.append(s, label);
    runtime::run(s);
}

inline void refuse_read_while_collecting() {
    if (runtime::is_collecting())
        throw error(
            "a tensor's elements are read while statements are being recorded or explained, so that they have "
            "no value yet; read them outside");
}

inline void refuse_write_while_collecting() {
    if (runtime::is_collecting())
        throw error(
            "a tensor's elements are written from the host while statements are being recorded or explained, which "
            "run later or not at all; upload outside");
}

/// Says what is wrong with the read of one element, as it is said of any statement: with the statement printed.
inline void refuse_element(void* target, const access_parts& parts) {
    auto& s = empty_statement();
    lowering::access number;
    number.data = target;
    number.type = parts.header.type;
    number.device = parts.header.device;
    number.name = "number";
    s.accesses.push_back(number);
    const std::int32_t* no_labels = nullptr;
    s.add(lowering::operation::access, append_access(s, parts, no_labels));
    runtime::run(s);
}

/// An entry of an index table.
inline std::int64_t read_entry(const access_parts& parts) {
    std::int32_t narrow = 0;
    std::int64_t wide = 0;
    const bool is_narrow = parts.header.type == scalar_type::i32;
    read_element(is_narrow ? static_cast<void*>(&narrow) : &wide, parts);
    return is_narrow ? narrow : wide;
}

/// Copies the one element that `positions` select to the host; leaves `target` as it is outside of a padded access.
inline void read_element(void* target, const access_parts& parts) {
    refuse_read_while_collecting();
    const auto& header = parts.header;
    const void* data = header.data;
    std::int64_t offset = 0;
    for (int r = 0; r < header.position_count; ++r) {
        const auto& p = parts.positions[r];
        auto at = p.offset;
        if (p.table >= 0) {
            const auto& t = parts.tables[p.table];
            const access_parts table{t.header, parts.positions + t.first_position};
            if (t.header.type == scalar_type::address) {
                read_element(&data, table);
                continue;
            }
            at = read_entry(table);
        }
        if (at >= 0 && at < p.extent)
            offset = sum_of(offset, product_of(at, p.stride));
        else if (header.padded)
            return;
        else if (p.table >= 0 || lowering::is_index(header.type))
            throw error("position " + std::to_string(r + 1) + " of an element that is read is " + std::to_string(at) +
                        ", but its extent is " + std::to_string(p.extent));
        else
            return refuse_element(target, parts);
    }
    if (header.local != lowering::no_local || data == nullptr) return refuse_element(target, parts);
    const auto bytes = static_cast<std::size_t>(lowering::size_of(header.type));
    const auto* element = static_cast<const char*>(data) + product_of(offset, lowering::size_of(header.type));
    runtime::copy(cpu(), target, ricci::device(header.device), element, bytes);
}

/// Room for one number on a device: the caller's on the CPU.
class number_on_device {
  public:
    number_on_device(ricci::device d, void* host, std::size_t bytes)
        : device_(d), host_(host), bytes_(bytes), data_(d.is_cpu() ? host : runtime::allocate(d, bytes, false)) {}
    ~number_on_device() {
        if (data_ != host_) runtime::release(device_, data_);
    }
    number_on_device(const number_on_device&) = delete;
    number_on_device& operator=(const number_on_device&) = delete;

    void* data() const { return data_; }
    void fetch() const {
        if (data_ != host_) runtime::copy(cpu(), host_, device_, data_, bytes_);
    }

  private:
    ricci::device device_;
    void* host_;
    std::size_t bytes_;
    void* data_;
};

template <class Result, class Expression>
Result read_sum(const Expression& e) {
    refuse_read_while_collecting();
    Result value{};
    const ricci::device device(e.device());
    const number_on_device room(device, &value, sizeof(Result));
    lowering::access header;
    header.data = room.data();
    header.type = element_traits<Result>::type;
    header.device = device.code();
    header.name = "number";
    run_statement(lowering::assignment::assign,
                  make_access<element_traits<Result>::type, true, shape<>>(header, nullptr, nullptr), e);
    room.fetch();
    return value;
}

} // namespace ricci::dsl
