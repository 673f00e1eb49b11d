// Outside providers: programs in any language that say and change the state of resources, by lines
// of "key=value" (docs/outside-providers.md). They stand in TYPE/NAME of the folders that
// Options::provider_folders names, and of bunraku/providers in the lib folders of modules.
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

/// Keys and values in their order; a key may come several times.
class OutsideRecord {
public:
    void add(std::string key, std::string value) {
        pairs_.emplace_back(std::move(key), std::move(value));
    }
    std::vector<std::string> all(std::string_view key) const;
    /// The first; nullopt: none.
    std::optional<std::string> get(std::string_view key) const;
    bool empty() const { return pairs_.empty(); }
    const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

private:
    std::vector<std::pair<std::string, std::string>> pairs_;
};

/// A line of the protocol: newlines and backslashes of a value are "\n" and "\\".
std::string outside_line(std::string_view key, std::string_view value);
/// An answer by records, each of which begins with `name`. Throws base::PuppetError where a line
/// has no "=".
std::vector<OutsideRecord> parse_outside(std::string_view text);

/// One program.
class OutsideProgram {
public:
    OutsideProgram(Context& context, std::string path)
        : context_(context), path_(std::move(path)) {}

    /// What it says of itself, asked once: features, suitable, ..
    const OutsideRecord& description();
    bool has_feature(std::string_view feature);
    /// All that are there.
    std::vector<OutsideRecord> list();
    /// The answer to one question about one resource.
    OutsideRecord ask(std::string_view verb, const OutsideRecord& request);

    const std::string& path() const { return path_; }

private:
    std::vector<OutsideRecord> run(std::string_view verb, const OutsideRecord& request);

    Context& context_;
    std::string path_;
    std::optional<OutsideRecord> description_;
};

/// Those that a run has met.
class OutsideProviders {
public:
    explicit OutsideProviders(Context& context) : context_(context) {}
    ~OutsideProviders();
    /// Null: there is no such program.
    OutsideProgram* find(std::string_view type, std::string_view name);
    /// The class by which resources know it.
    const ProviderClass* class_of(std::string_view type, std::string_view name);

private:
    std::optional<std::string> path_of(std::string_view type, std::string_view name) const;

    Context& context_;
    std::map<std::string, std::unique_ptr<OutsideProgram>, std::less<>> programs_;
    std::map<std::string, const ProviderClass*, std::less<>> classes_;
};

OutsideProviders& outside_providers(Context& context);

/// All attributes of a resource as a request has them.
OutsideRecord outside_request(const Resource& resource);

/// For a resource of a built-in type (not initialised yet) that asks for `wanted`: the one to have
/// in its place where that is an outside provider. Null: it is none, or the type speaks to it
/// itself (package).
std::unique_ptr<Resource> outside_instead_of(const Resource& native, const Value& wanted);

}  // namespace bunraku::apply
