// report: what a run of the bench found, and its three forms: a table, JSON, CSV.
#pragma once

#include "bench/bandwidth.hpp"
#include "bench/lists.hpp"
#include "bench/measure.hpp"
#include "bench/peak.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ricci::bench {

/// An operator that is applied to a field of unknowns: what names a point that is no product.
struct field_operator {
    std::string name; ///< "BP3"
    std::int64_t order = 1;
    std::string form;    ///< "E", element vectors; "L", global ones
    std::string scatter; ///< of global vectors: "ordered", "atomic"
    double unknowns = 0; ///< what is applied is counted in them, too
};

/// A layer of a network: what names a point that is a convolution.
struct convolution_layer {
    std::string name; ///< "64x128@112"
    std::int64_t channels = 1, filters = 1, width = 1, height = 1;
    std::string algorithm; ///< "direct"; "f4", by tiles of 4 x 4
};

/// One point that was measured.
struct row {
    std::string kind; ///< "batched", "atb", "ab", "statement", "fem", "conv"
    shape size;       ///< zero for what is no product of two operands
    std::optional<field_operator> field;
    std::optional<convolution_layer> layer;
    std::int64_t batch = 1;    ///< of an operator, elements; of a layer, pictures
    std::string types;         ///< "f16:f32"
    std::string math = "full"; ///< "tf32": f32 and c64 may be rounded to TF32, by peers also
    std::string operations;    ///< "NT"
    std::string layout;        ///< "contiguous", "interleaved", ...; of tall-skinny products "column", "row"
    std::int64_t padding = 0, offset = 0;
    bool accumulate = false;
    std::string statement, kernel;
    double bytes = 0;         ///< touched, see touched_bytes_of
    double element_bytes = 0; ///< of the elements alone
    double flops = 0;
    std::size_t sets = 1;      ///< of operands, used in turn
    bool against_read = false; ///< % is of reading, not of the triad
    bool of_elements = false;  ///< % of the triad counts element_bytes, what has to be moved, not bytes
    bool against_peak = false; ///< or of the processor's peak, which some rows choose: whichever takes longer
    double yardstick = 0;      ///< bytes a second of either; flops a second
    std::vector<measured> results;
    std::string failure; ///< why there are no results
};

struct peer_version {
    std::string name, version; ///< version: empty where there is none to tell
    std::string missing;       ///< why it is not there; empty if it is
};

/// What the rows of a report are of.
enum class subject { products, fields, layers };

struct report {
    std::string command, version, date; ///< date: ISO 8601, UTC
    std::string device, chip, architecture;
    std::string processor; ///< of a CPU, as the system names it
    int processors = 0;
    gpu_facts gpu;
    bandwidth at_start, at_end;
    peak peak_at_start, peak_at_end; ///< of a CPU
    std::int64_t cache = 0;          ///< not 0: operands stay in the caches, and take so much at most
    std::vector<peer_version> peers;
    subject of = subject::products;
    timed_by by = timed_by::wall;
    double compile_seconds = 0; ///< that all points' kernels were made in, before the first; 0: each when it comes
    bool energy = false;
    bool counters = false;   ///< asked for
    std::string no_counters; ///< why there are none
    std::vector<row> rows;
    bool complete = true; ///< false: stopped before the end
};

/// A peer's fastest way whose results are within the bound, else its fastest; null where it has no time. Of "ricci"
/// too.
const measured* best_of(const row& r, std::string_view peer);

/// Unknowns a second; 0 where there is no field.
double unknowns_rate(const row& r, const measured& m);

/// What % is of: "triad", "read" or "peak".
const char* yardstick_of(const row& r);
double percent_of(const row& r, const measured& m);
/// The peer's time over ricci's; 0 where either has none.
double ratio_to(const row& r, std::string_view peer);

/// Rows of one type, or all; of layers those of one algorithm, and each layer's fastest that is not direct.
struct summary {
    std::string what;      ///< "f64", "all"
    std::string algorithm; ///< of layers: "f4", "best of f2, f4, f6"
    std::size_t rows = 0;
    struct figure {
        double mean = 0, least = 0; ///< geometric mean
        std::string where;          ///< the row of the least
        std::size_t rows = 0;
    };
    figure percent;
    std::vector<std::pair<std::string, figure>> ratios; ///< by peer
};
std::vector<summary> summaries_of(const report& r);

/// How many of ricci's results were checked, and how many are wrong.
std::pair<std::size_t, std::size_t> checked_and_wrong(const report& r);

/// How often event number `event` of events_of_processor() happened for each product of the batch; nothing where it
/// was not counted.
std::optional<double> count_of(const row& r, const measured& m, std::size_t event);

std::string label_of(const row& r);

// The table, part by part, so that a row can be printed as soon as it is known.
std::string table_head(const report& r);
std::string table_line(const report& r, const row& of);
std::string table_foot(const report& r);

std::string to_json(const report& r);
std::string to_csv(const report& r);

} // namespace ricci::bench
