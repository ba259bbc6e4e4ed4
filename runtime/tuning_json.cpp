// tuning_json: a tuning table as the text of a JSON file.
#include "runtime/tuning_json.hpp"

#include "lowering/error.hpp"
#include "lowering/tile_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ricci::runtime {
namespace {

using namespace lowering;
using nlohmann::json;

constexpr int version = 1;
constexpr const char* version_name = "ricci_tuning";

batch_class batch_named(const std::string& name) {
    for (const auto c : {batch_class::one, batch_class::few, batch_class::some, batch_class::many})
        if (name_of(c) == name) return c;
    throw error(fmt::format("\"{}\" is no class of batches", name));
}

enum class fields { all, not_default };

json tile_to_json(const batched_tile& t, fields wanted) {
    json out = json::object();
    const auto add_to = [](json& to) {
        return [&to](std::string_view name, const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, batched_core>)
                to[std::string(name)] = value == batched_core::mma ? "mma" : "fma";
            else
                to[std::string(name)] = value;
        };
    };
    for_each_field(t, add_to(out));
    if (wanted == fields::all) return out;
    static const json defaults = tile_to_json({}, fields::all);
    for (const auto& [name, value] : defaults.items())
        if (out[name] == value) out.erase(name);
    return out;
}

/// A parameter that is not there has its default: it is left out where it has, and an older ricci did not know it.
batched_tile tile_from_json(const json& from) {
    batched_tile t;
    for_each_field(t, [&](std::string_view name, auto& value) {
        const auto found = from.find(std::string(name));
        if (found == from.end()) return;
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, batched_core>)
            value = found->template get<std::string>() == "mma" ? batched_core::mma : batched_core::fma;
        else
            found->get_to(value);
    });
    return t;
}

std::pair<tuning_key, tuned_tile> entry_from_json(const json& from) {
    tuning_key key{
        from.at("layout").get<std::string>(),
        batch_named(from.at("batch").get<std::string>()),
        {from.at("m").get<std::int64_t>(), from.at("n").get<std::int64_t>(), from.at("k").get<std::int64_t>()},
        from.at("strides").get<std::string>()};
    const auto seconds = from.at("us").get<double>() * 1e-6;
    if (!(seconds > 0) || !std::isfinite(seconds)) throw error("a time is no positive number");
    return {std::move(key), {tile_from_json(from.at("tile")), seconds}};
}

json entry_to_json(const tuning_key& key, const tuned_tile& best) {
    return {{"layout", key.layout},
            {"batch", name_of(key.batch)},
            {"m", key.sizes[0]},
            {"n", key.sizes[1]},
            {"k", key.sizes[2]},
            {"strides", key.strides},
            {"tile", tile_to_json(best.tile, fields::not_default)},
            {"us", std::round(best.seconds * 1e9) * 1e-3}};
}

} // namespace

tuning_file read_tuning(std::string_view text) {
    tuning_file out;
    try {
        const auto all = json::parse(text);
        const auto found = all.at(version_name).get<int>();
        if (found > version) {
            out.newer = true;
            throw error(fmt::format("it is of version {}, this ricci reads {}", found, version));
        }
        if (found < 1) throw error(fmt::format("there is no version {}", found));
        all.at("architecture").get_to(out.architecture);
        all.at("chip").get_to(out.chip);
        for (const auto& e : all.at("entries")) {
            const auto [key, best] = entry_from_json(e);
            out.table.put(key, best);
        }
    } catch (const std::exception& e) { // nlohmann's and ours
        out.table = {};
        out.problem = e.what();
    }
    return out;
}

std::string to_json(const batched_tile& tile) { return tile_to_json(tile, fields::all).dump(); }

std::string write_tuning(const tuning_table& table, const machine& chip) {
    auto out = fmt::format("{{\"{}\": {}, \"architecture\": {}, \"chip\": {}, \"entries\": [", version_name, version,
                           json(lowering::tables_of(chip)).dump(), json(lowering::model_of(chip)).dump());
    const char* separator = "\n";
    for (const auto& [key, best] : table.entries()) {
        out += separator + entry_to_json(key, best).dump();
        separator = ",\n";
    }
    return out + "\n]}\n";
}

} // namespace ricci::runtime
