// session: one run of the bench: its device, yardstick, peers and operands, and what becomes of the rows.
#pragma once

#include "bench/session_base.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ricci::bench {

/// One tensor of a statement that is measured.
struct work_operand {
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t elements = 0; ///< from the first to the last
    double size = 1;           ///< its random values are below it
    bool written = false;
    /// Of a table: its elements, for operands at these addresses; else it is filled with random numbers.
    std::function<std::vector<std::byte>(const std::vector<void*>&)> contents;
};

/// The product that a statement is.
struct work_product {
    product p;
    std::array<std::size_t, 3> operand{0, 1, 2}; ///< which operands are its A, B and C
    std::array<std::int64_t, 3> offset{};        ///< of their first elements
    /// gathered: which operands are the table and the addresses; 0: none
    std::array<std::size_t, 2> tables{};
};

/// The addresses of a set's operands.
using operand_addresses = std::vector<void*>;

/// A statement, or a program of several, to be measured on operands that the session makes.
struct work {
    std::vector<work_operand> operands;
    /// The statements on operands at these addresses, in their order; several run as one program.
    std::function<std::vector<lowering::statement>(const operand_addresses&, device)> bind;
    double bytes = 0, element_bytes = 0, flops = 0;
    std::optional<work_product> as_product; ///< for peers and check
    /// Of what is no product, all may be empty: a peer's ways to do the same on these sets, the check of a set's
    /// results, and what makes of the random numbers those that the operands shall have.
    std::function<std::vector<contender>(const std::string& peer, const std::vector<operand_addresses>& sets)>
        contenders;
    std::function<findings(const operand_addresses&)> check;
    std::function<void(const operand_addresses&)> adjust;
    bool at_roofline = false; ///< % is of the peak where the flops take longer than the bytes
};

work work_of(const product& p);

/// The peers of a bench whose work is no product; work::contenders knows them by name.
struct peer_kinds {
    subject of = subject::fields; ///< what the rows are of
    std::vector<std::string> names;
    std::function<std::vector<std::string>(device)> usual; ///< where none are named
    /// Makes one ready, and returns its version. Throws ricci::error (environment) where it is not there.
    std::function<std::string(const std::string& name, device, device_tools&)> open;
};

class session : public session_base {
  public:
    /// Opens the device, measures its memory and prints the report's head. Throws ricci::error for a device, peer or
    /// output file that cannot be had. `kinds`: rows are of no products, and these are their peers.
    explicit session(const session_options& options, const peer_kinds* kinds = nullptr);

    /// Measures `w`, fills in the figures of `r`, prints and keeps it. A point that fails is reported and the run
    /// goes on, unless several in turn fail. False: stop, no more is wanted.
    bool run(row r, const work& w);

  private:
    void fill(const work& w, const std::vector<void*>& set, std::size_t set_number, bool written_only);
    void measure_row(row& r, const work& w);
    void open_peers(const peer_kinds* kinds);

    std::vector<std::unique_ptr<peer>> peers_; ///< of products, in the order of report_.peers; null: missing
};

} // namespace ricci::bench
