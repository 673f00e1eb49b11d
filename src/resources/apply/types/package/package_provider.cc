// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/package/package_provider.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/codec/json_text.h"

namespace bunraku::apply {

using base::PuppetError;

Value PackageState::value(Context& context) const {
    if (!list || gone()) {
        std::string text;
        for (const std::string& v : versions) text += (text.empty() ? "" : "; ") + v;
        return context.string(text);
    }
    std::vector<Value> all;
    for (const std::string& v : versions) all.push_back(context.string(v));
    return Value::array(context.arena.copy(all));
}

const PackageState& PackageProvider::state() {
    if (!state_) {
        state_ = query();
        // A package that is not found counts as purged if the manager distinguishes that from
        // absent.
        if (!state_) {
            state_ = PackageState{
                .name = name(),
                .versions = {resource_.has_feature("purgeable") ? "purged" : "absent"}};
        }
    }
    return *state_;
}

bool PackageProvider::versioned() const {
    constexpr std::string_view kWords[] = {"present", "latest", "absent", "purged", "disabled", ""};
    return std::find(std::begin(kWords), std::end(kWords), wanted()) == std::end(kWords);
}

std::vector<std::string> PackageProvider::options(std::string_view attribute) const {
    std::vector<std::string> out;
    const Value given = resource_.get(attribute);
    if (!given.is_array()) return out;
    for (const Value& v : given.as_array()) {
        if (!v.is_hash()) {
            out.push_back(plain(v));
            continue;
        }
        std::vector<std::string> pairs;
        for (const value::Entry& e : v.as_hash())
            pairs.push_back(plain(e.key) + "=" + plain(e.value));
        std::sort(pairs.begin(), pairs.end());
        out.insert(out.end(), pairs.begin(), pairs.end());
    }
    return out;
}

namespace {

// Returns the position of the "=" after a name of letters, digits and underscores, or npos.
std::size_t end_of_name(std::string_view setting) {
    std::size_t at = 0;
    while (at < setting.size() &&
           (std::isalnum(static_cast<unsigned char>(setting[at])) || setting[at] == '_'))
        ++at;
    return at > 0 && at < setting.size() && setting[at] == '=' ? at : std::string_view::npos;
}

std::span<const Value> entries(const Value& given) {
    return given.is_array() ? given.as_array() : std::span<const Value>(&given, 1);
}

}  // namespace

void validate_package_environment(const Value& given) {
    for (const Value& one : entries(given)) {
        if (const std::string text = plain(one); end_of_name(text) == std::string::npos)
            throw PuppetError(fmt::format("Invalid environment setting '{}'", text));
    }
}

// The messages are those of Puppet::Provider::Package#package_environment of OpenVox 8.26.
std::vector<std::pair<std::string, std::string>> package_environment(const Resource& resource) {
    std::vector<std::pair<std::string, std::string>> out;
    const Value given = resource.get("environment");
    if (given.is_undef()) return out;
    for (const Value& one : entries(given)) {
        const std::string text = plain(one);
        const std::size_t end = end_of_name(text);
        if (end == std::string::npos) {
            resource.provider_log(
                Level::Warning,
                fmt::format("Cannot understand environment setting {}", codec::json_string(text)));
            continue;
        }
        std::string name = text.substr(0, end), v = text.substr(end + 1);
        const auto known = std::ranges::find(out, name, [](const auto& e) { return e.first; });
        if (known != out.end()) {
            resource.provider_log(Level::Warning,
                                  fmt::format("Overriding environment setting '{}'", name));
        }
        if (v.empty()) warn_of_empty_setting(resource, name);
        if (known != out.end()) {
            known->second = std::move(v);
        } else {
            out.emplace_back(std::move(name), std::move(v));
        }
    }
    return out;
}

}  // namespace bunraku::apply
