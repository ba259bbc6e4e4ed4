// kernel_arguments: a kernel's argument words for one launch.
#pragma once

#include "lowering/statement.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/reference.hpp"

#include <bit>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace ricci::runtime {

/// Sets `words` to the request's, patched. `address(source)`: the data of an operand's source, element (0, ..., 0).
/// `slice`: of those that a step in a group runs for; `lists`: of the scatter kernel; `adds_at_once`: of a chain.
/// `words` keeps its capacity, so that a warm launch takes nothing from the heap.
template <class Address>
void write_arguments(const backend& b, const kernel_request& request, lowering::scalar_type compute,
                     const std::vector<lowering::scalar>& scalars, const Address& address,
                     std::vector<std::uint64_t>& words, std::int64_t slice = 0, const row_lists& lists = {},
                     bool adds_at_once = false) {
    words = request.words;
    std::complex<double> coefficient = 1, beta = 1;
    if (!request.coefficient.empty()) coefficient = evaluate_scalars(request.coefficient, scalars, compute);
    if (!request.beta.empty()) beta = evaluate_scalars(request.beta, scalars, compute);
    for (const auto& patch : request.patches) {
        auto& word = words[static_cast<std::size_t>(patch.word)];
        using what = argument_patch::value;
        switch (patch.what) {
        case what::address:
            word = reinterpret_cast<std::uintptr_t>(address(patch.source)) +
                   static_cast<std::uint64_t>(patch.byte_offset + slice * patch.slice_bytes);
            break;
        case what::scalar_real:
            word = std::bit_cast<std::uint64_t>(scalars[static_cast<std::size_t>(patch.source)].real);
            break;
        case what::scalar_imaginary:
            word = std::bit_cast<std::uint64_t>(scalars[static_cast<std::size_t>(patch.source)].imaginary);
            break;
        case what::coefficient_real:
            word = std::bit_cast<std::uint64_t>(coefficient.real());
            break;
        case what::coefficient_imaginary:
            word = std::bit_cast<std::uint64_t>(coefficient.imag());
            break;
        case what::beta_real:
            word = std::bit_cast<std::uint64_t>(beta.real());
            break;
        case what::beta_imaginary:
            word = std::bit_cast<std::uint64_t>(beta.imag());
            break;
        case what::rows:
            word = static_cast<std::uint64_t>(lists.rows);
            break;
        case what::row_begins:
            word = reinterpret_cast<std::uintptr_t>(lists.begins);
            break;
        case what::row_behind:
            word = reinterpret_cast<std::uintptr_t>(lists.behind);
            break;
        case what::row_entries:
            word = reinterpret_cast<std::uintptr_t>(lists.entries);
            break;
        case what::row_keys:
            word = reinterpret_cast<std::uintptr_t>(lists.keys);
            break;
        case what::start_from_zero:
            word = lists.start_from_zero ? 1 : 0;
            break;
        case what::adds_at_once:
            word = adds_at_once ? 1 : 0;
            break;
        }
    }
    if (request.boxes.empty()) return;
    bool all = true;
    for (const auto& box : request.boxes)
        all = b.map_boxes(box.layout, words[static_cast<std::size_t>(box.address)],
                          box_map(words.data() + box.word, words_of_boxes)) &&
              all;
    words[static_cast<std::size_t>(request.boxes_word)] = all ? 1 : 0;
}

} // namespace ricci::runtime
