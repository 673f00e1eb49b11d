// SPDX-License-Identifier: Apache-2.0
// Outside providers: programs in any language that report and change the state of resources, with
// lines of "key=value" (docs/outside-providers.md). A provider is the file TYPE/NAME in a folder of
// Options::provider_folders, or in bunraku/providers in a module's lib folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// Keys and values in order; a key may occur several times.
class OutsideRecord {
public:
    void add(std::string key, std::string value) {
        pairs_.emplace_back(std::move(key), std::move(value));
    }
    std::vector<std::string> all(std::string_view key) const;
    /// Returns the first value of the key, or nullopt.
    std::optional<std::string> get(std::string_view key) const;
    bool empty() const { return pairs_.empty(); }
    const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

private:
    std::vector<std::pair<std::string, std::string>> pairs_;
};

/// Formats a line of the protocol. Newlines and backslashes in the value become "\n" and "\\".
std::string outside_line(std::string_view key, std::string_view value);
/// Parses a response into records, each of which begins with `name`. Throws base::PuppetError if a
/// line has no "=".
std::vector<OutsideRecord> parse_outside(std::string_view text);

/// An outside provider's program.
class OutsideProgram {
public:
    OutsideProgram(Context& context, std::string path)
        : context_(context), path_(std::move(path)) {}

    /// Returns the program's description of itself: features, suitable, .. The program is run only
    /// once for it.
    const OutsideRecord& description();
    bool has_feature(std::string_view feature);
    /// Returns all resources that exist on the machine.
    std::vector<OutsideRecord> list();
    /// Returns the program's response to one request about one resource.
    OutsideRecord ask(std::string_view verb, const OutsideRecord& request);

    const std::string& path() const { return path_; }

private:
    std::vector<OutsideRecord> run(std::string_view verb, const OutsideRecord& request);

    Context& context_;
    std::string path_;
    std::optional<OutsideRecord> description_;
};

/// The outside providers that a run has used.
class OutsideProviders {
public:
    explicit OutsideProviders(Context& context) : context_(context) {}
    ~OutsideProviders();
    /// Returns null if the program does not exist.
    OutsideProgram* find(std::string_view type, std::string_view name);
    /// Returns the provider class that represents the program.
    const ProviderClass* class_of(std::string_view type, std::string_view name);

private:
    std::optional<std::string> path_of(std::string_view type, std::string_view name) const;

    Context& context_;
    std::map<std::string, std::unique_ptr<OutsideProgram>, std::less<>> programs_;
    std::map<std::string, const ProviderClass*, std::less<>> classes_;
};

OutsideProviders& outside_providers(Context& context);

/// Returns a request with all attributes of the resource.
OutsideRecord outside_request(const Resource& resource);

/// For a resource of a built-in type that has not been initialised, returns the resource that
/// replaces it if `wanted` is an outside provider. Returns null if it is not, or if the type itself
/// supports outside providers (package).
std::unique_ptr<Resource> outside_instead_of(const Resource& native, const Value& wanted);

}  // namespace bunraku::apply
