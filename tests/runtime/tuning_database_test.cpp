// tuning_database_test: what was measured stays, whatever stands in the cache's folder.
#include "kernels/embedded.hpp"
#include "lowering/known_chips.hpp"
#include "lowering/lower.hpp"
#include "lowering/tile_fields.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/tuning_database.hpp"
#include "runtime/tuning_json.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <thread>
#include <vector>

using namespace ricci;
using namespace ricci::runtime;
using namespace ricci::test;
using lowering::tuned_tile;
using lowering::tuning_key;
using lowering::tuning_table;
namespace fs = std::filesystem;

namespace {

tuning_key some_key(std::int64_t n) {
    return {"batched_small f64, \"quoted\"", lowering::batch_class::many, {n, n, n}, "C m1 n" + std::to_string(n)};
}

/// Every parameter differs from its default.
tuned_tile some_tile(int n) {
    tuned_tile out;
    int count = 0;
    lowering::for_each_field(out.tile, [&](std::string_view, auto& value) {
        using type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<type, bool>)
            value = true;
        else if constexpr (std::is_enum_v<type>)
            value = lowering::batched_core::mma;
        else
            value = static_cast<type>(n + 100 * ++count);
    });
    out.seconds = 1e-6 * n + 1.5e-6;
    return out;
}

tuning_table table_of(std::initializer_list<int> sizes) {
    tuning_table out;
    for (const int n : sizes) out.put(some_key(n), some_tile(n));
    return out;
}

fs::path database_file() { return cache_directory() / "tuning" / "sm_90-a_GPU.json"; }

const lowering::machine chip = tests::some_gpu();

bool same(const tuning_table& a, const tuning_table& b) {
    if (a.entries().size() != b.entries().size()) return false;
    for (const auto& [key, best] : a.entries()) {
        const auto* found = b.find(key);
        if (found == nullptr || !(found->tile == best.tile) || std::abs(found->seconds - best.seconds) > 1e-9)
            return false;
    }
    return true;
}

} // namespace

TEST_CASE("what is kept is found by another process") {
    const scratch_cache cache;
    tuning_database first(chip);
    CHECK(first.measured()->entries().empty());
    CHECK_FALSE(fs::exists(database_file())); // looking makes nothing
    first.keep(table_of({3, 4}));
    CHECK(same(*first.measured(), table_of({3, 4})));
    CHECK(fs::exists(database_file()));
    tuning_database second(chip);
    CHECK(same(*second.measured(), table_of({3, 4})));
    second.keep(table_of({5}));
    CHECK(same(*tuning_database(chip).measured(), table_of({3, 4, 5})));
    int files = 0;
    for ([[maybe_unused]] const auto& item : fs::directory_iterator(database_file().parent_path())) ++files;
    CHECK(files == 1); // no temporary one stays
    CHECK((fs::status(database_file()).permissions() & fs::perms::all) ==
          (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("processes that write one after another, or at once, keep each other's entries") {
    const scratch_cache cache;
    tuning_database a(chip), b(chip);
    a.measured(), b.measured(); // both have read the empty folder
    a.keep(table_of({1}));
    b.keep(table_of({2}));
    CHECK(same(*b.measured(), table_of({1, 2})));
    auto newer = some_tile(7);
    tuning_table again;
    again.put(some_key(1), newer);
    b.keep(again);
    a.keep(table_of({3})); // does not bring its old entry 1 back
    CHECK(tuning_database(chip).measured()->find(some_key(1))->tile == newer.tile);

    const scratch_cache another;
    constexpr int writers = 8, each = 10;
    std::vector<std::thread> threads;
    for (int w = 0; w < writers; ++w)
        threads.emplace_back([w] {
            tuning_database own(chip);
            for (int n = 0; n < each; ++n) own.keep(table_of({1 + w * each + n}));
        });
    for (auto& t : threads) t.join();
    CHECK(tuning_database(chip).measured()->entries().size() == writers * each);
}

TEST_CASE("damaged, strange and newer files are ignored, with one warning") {
    const scratch_cache cache;
    const auto text_of = [&](const std::string& text) {
        fs::create_directories(database_file().parent_path());
        fs::permissions(cache_directory(), fs::perms::owner_all);
        fs::permissions(database_file().parent_path(), fs::perms::owner_all);
        write_text(database_file(), text);
        fs::permissions(database_file(), fs::perms::owner_read | fs::perms::owner_write);
    };
    const auto good = write_tuning(table_of({3}), chip);
    const auto replaced = [&](const std::string& what, const std::string& by) {
        auto out = good;
        return out.replace(out.find(what), what.size(), by);
    };
    for (const auto& text :
         {std::string(), std::string("{"), good.substr(0, good.size() / 2), std::string("[1,2]"),
          replaced("\"many\"", "\"lots\""), replaced("\"us\":", "\"us\":-"), replaced("\"m\":3", "\"m\":\"3\""),
          replaced("\"ricci_tuning\": 1", "\"ricci_tuning\": 0")}) {
        text_of(text);
        const auto child = in_child([] {
            tuning_database d(chip);
            const bool empty = d.measured()->entries().empty() && d.measured()->entries().empty();
            d.keep(table_of({8})); // a damaged one is written anew
            return empty && tuning_database(chip).measured()->entries().size() == 1;
        });
        INFO(text << child.errors);
        CHECK(child.status == 0);
        CHECK(occurrences(child.errors, "ricci: ") == 1);
        CHECK(contains(child.errors, database_file().string()));
    }
    text_of(replaced("\"ricci_tuning\": 1", "\"ricci_tuning\": 2"));
    const auto newer = read_text(database_file());
    const auto child = in_child([] {
        tuning_database d(chip);
        d.keep(table_of({8}));
        return d.measured()->entries().size() == 1;
    });
    CHECK(child.status == 0);
    CHECK(contains(child.errors, "version 2"));
    CHECK(read_text(database_file()) == newer); // a later ricci's is left alone
}

TEST_CASE("a parameter that a file does not name has its default") {
    auto text = write_tuning(table_of({3}), chip);
    const auto at = text.find("\"k_apart\":");
    REQUIRE(at != text.npos);
    text.erase(at, text.find(',', at) + 1 - at);
    const auto read = read_tuning(text);
    CHECK(read.problem.empty());
    REQUIRE(read.table.find(some_key(3)) != nullptr);
    CHECK(read.table.find(some_key(3))->tile.k_apart == 0);
}

TEST_CASE("folders and files of others are not read; where nothing can be written it goes on in memory") {
    const temporary_directory folder;
    const variable set("RICCI_CACHE_DIR", (folder.path() / "cache").string());
    fs::permissions(folder.path(), fs::perms::all);
    const auto others = as_plain_user([] {
        tuning_database d(chip);
        d.keep(table_of({3}));
        fs::permissions(database_file(), fs::perms::others_write, fs::perm_options::add);
        return tuning_database(chip).measured()->entries().empty();
    });
    CHECK(others.status == 0);
    CHECK(contains(others.errors, "others can write"));
    const auto read_only = as_plain_user([] {
        fs::permissions(database_file(), fs::perms::owner_read | fs::perms::owner_write);
        fs::permissions(database_file().parent_path(), fs::perms::owner_read | fs::perms::owner_exec);
        tuning_database d(chip);
        if (!same(*d.measured(), table_of({3}))) return false;
        d.keep(table_of({4}));
        d.keep(table_of({5}));
        fs::permissions(database_file().parent_path(), fs::perms::owner_all);
        return same(*d.measured(), table_of({3, 4, 5})) && same(*tuning_database(chip).measured(), table_of({3}));
    });
    CHECK(read_only.status == 0);
    CHECK(occurrences(read_only.errors, "ricci: ") == 1);
    const variable off("RICCI_CACHE_SIZE", "0");
    const auto in_memory = as_plain_user([] {
        tuning_database d(chip);
        d.keep(table_of({9}));
        return same(*d.measured(), table_of({9}));
    });
    CHECK(in_memory.status == 0);
    CHECK(in_memory.errors.empty());
}

TEST_CASE("a chip's own shipped table stands above its architecture's") {
    auto h200 = chip;
    h200.architecture = "sm_90", h200.name = "NVIDIA H200";
    const auto own = read_tuning(kernels::source_file("tuned/sm_90-NVIDIA_H200.json")),
               all = read_tuning(kernels::source_file("tuned/sm_90.json"));
    REQUIRE(own.problem.empty());
    REQUIRE_FALSE(own.table.entries().empty());
    const auto shipped = tuning_database(h200).shipped();
    const auto& entries = shipped->entries();
    for (const auto& [key, best] : own.table.entries()) CHECK(entries.at(key) == best);
    for (const auto& [key, best] : all.table.entries())
        if (own.table.entries().count(key) == 0) CHECK(entries.at(key) == best);
}

TEST_CASE("a shipped table is for every chip whose name begins with its own's words") {
    const auto avx512 = read_tuning(kernels::source_file("tuned/avx512.json")).table,
               amd = read_tuning(kernels::source_file("tuned/avx512-AMD.json")).table;
    REQUIRE_FALSE(amd.entries().empty());
    auto cpu = chip;
    cpu.instruction_set = "avx512", cpu.model = "AMD Ryzen 9 9950X";
    const auto shipped = tuning_database(cpu).shipped();
    for (const auto& [key, best] : amd.entries()) CHECK(shipped->entries().at(key) == best);
    for (const std::string model : {"Intel(R) Xeon(R) Processor", "AMDahl 470V/6", ""}) {
        cpu.model = model;
        CHECK(same(*tuning_database(cpu).shipped(), avx512));
    }
}

TEST_CASE("the shipped tables can be read, and a chip without one has none") {
    CHECK(read_tuning(kernels::source_file("tuned/sm_90.json")).problem.empty());
    tuning_database d(chip);
    CHECK(d.shipped()->entries().size() ==
          read_tuning(kernels::source_file("tuned/sm_90.json")).table.entries().size());
    auto other = chip;
    other.architecture = "sm_75";
    CHECK(tuning_database(other).shipped()->entries().empty());
}

TEST_CASE("clearing the kernel cache leaves the database") {
    const scratch_cache cache;
    tuning_database(chip).keep(table_of({3}));
    clear_cache();
    CHECK(list_cache().empty());
    CHECK(same(*tuning_database(chip).measured(), table_of({3})));
}

TEST_CASE("what ships of factorizations and solves is still among what they can be done with") {
    const auto chip = lowering::known_chip(GENERATE("h100", "h200")).value();
    const auto shipped = tuning_database(chip).shipped();
    std::size_t found = 0;
    for (const auto& [key, best] : shipped->entries()) {
        const auto is = [&](const char* text) { return contains(key.layout, text); };
        if (!is("factor_lanes ")) continue;
        const auto type = is(" in f32") ? "f32" : "f64";
        const auto n = key.sizes[0], batch = std::int64_t{1000000};
        const bool factors = is("in place");
        const auto text = is("Cholesky") ? factors ? "cholesky(A(i,j,e), i, j)"
                                                   : "X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e), positive_definite)"
                          : is("LU")     ? factors ? "piv(k,e) = lu(A(i,j,e), i, j)"
                                                   : "X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e))"
                          : factors      ? "tau(k,e) = qr(A(i,j,e), i, j)"
                                         : "X(j,r,e) = least_squares(A(i,j,e), i, j, B(i,r,e))";
        const auto s = tests::bound_text(
            text,
            fmt::format("A={0}[{1},{1},{2}] piv=i32[{1},{2}] tau={0}[{1},{2}] X={0}[{1},1,{2}] B={0}[{1},1,{2}]",
                        type, n, batch));
        const auto st = lowering::lower(s, chip, {nullptr, shipped.get()}).steps.at(0);
        INFO(lowering::to_string(key));
        CHECK(lowering::key_of(st, chip) == key);
        CHECK(st.origin == lowering::tile_origin::shipped);
        ++found;
    }
    CHECK(found > 0);
}
