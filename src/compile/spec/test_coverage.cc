// SPDX-License-Identifier: Apache-2.0
#include "compile/spec/test_coverage.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::spec {

void Coverage::add_class(const std::string& name, const std::vector<std::string>& parameters) {
    auto& c = classes_[name];
    c.known = true;
    for (const auto& parameter : parameters) c.parameters[parameter];
}

void Coverage::record(const catalog::Catalog& catalog) {
    for (const auto& r : catalog.resources) {
        if (r.virtual_ || r.ref.type == "Stage") continue;
        if (r.ref.type != "Class") {
            resources_.try_emplace(resource_key(r.ref.type, r.ref.title), r.ref.to_string());
            continue;
        }
        auto& c = classes_[base::lower(r.ref.title)];
        for (const auto& p : r.parameters) {
            auto& seen = c.parameters[p.name];
            if (seen.varied) continue;
            std::string value;
            value::print_source(value, p.value);
            seen.varied = c.compiled && value != seen.value;
            seen.value = std::move(value);
        }
        c.compiled = true;
    }
}

void Coverage::record(const Expected& expected) {
    expected_.insert(expected.resources.begin(), expected.resources.end());
    expected_parameters_.insert(expected.parameters.begin(), expected.parameters.end());
}

void Coverage::add(Coverage&& other) {
    for (auto& [name, from] : other.classes_) {
        auto& to = classes_[name];
        to.known |= from.known;
        for (auto& [parameter, seen] : from.parameters) {
            auto& mine = to.parameters[parameter];
            mine.varied |=
                seen.varied || (to.compiled && from.compiled && mine.value != seen.value);
            if (from.compiled) mine.value = std::move(seen.value);
        }
        to.compiled |= from.compiled;
    }
    resources_.merge(other.resources_);
    expected_.merge(other.expected_);
    expected_parameters_.merge(other.expected_parameters_);
}

std::string Coverage::text(bool whole) const {
    std::size_t classes = 0, compiled = 0, parameters = 0, varied = 0, resources = 0;
    std::string missing;
    for (const auto& [name, c] : classes_) {
        if (!c.known) continue;
        ++classes;
        compiled += c.compiled;
        if (!c.compiled) missing += fmt::format("  class {}: in no catalog\n", name);
        std::vector<std::string_view> same;
        for (const auto& [parameter, seen] : c.parameters) {
            ++parameters;
            if (seen.varied ||
                expected_parameters_.contains(resource_key("class", name) + " " + parameter))
                ++varied;
            else
                same.push_back(parameter);
        }
        if (c.compiled && !same.empty())
            missing += fmt::format("  class {}: always the same {}\n", name, fmt::join(same, ", "));
    }
    for (const auto& [key, shown] : resources_) {
        if (expected_.contains(key))
            ++resources;
        else
            missing += fmt::format("  {}: not expected\n", shown);
    }
    return fmt::format("coverage: {} of {} classes, {} of {} parameters, {} of {} resources\n{}",
                       compiled, classes, varied, parameters, resources, resources_.size(),
                       whole ? missing : "");
}

}  // namespace bunraku::spec
