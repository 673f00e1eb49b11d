// SPDX-License-Identifier: Apache-2.0
// The type alternatives: selects the program for a name in Debian's alternatives
// (voxpupuli-alternatives 2.1.0 to 6.0.0). On other systems the run uses the module's Ruby code.
#include <fmt/format.h>
#include <map>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {
namespace {

constexpr std::string_view kUpdateAlternatives = "update-alternatives";
/// From this level on, contradictory values of mode and path are an error.
constexpr int kModeNeedsPath = 1;

bool alternatives_suitable(Context& context) {
    return platform(context).family == "debian" && has_command(context, kUpdateAlternatives);
}
int alternatives_default(Context& context) {
    return platform(context).named({"debian", "ubuntu"}) ? 1 : 0;
}
constexpr ProviderClass kAlternativesDpkg{.name = "dpkg",
                                          .suitable = alternatives_suitable,
                                          .features = "mode",
                                          .default_for = alternatives_default};
constexpr const ProviderClass* kAlternativesProviders[] = {&kAlternativesDpkg};

/// The selected paths of all names, valid until the run changes the machine.
struct Selections {
    std::uint64_t actions = 0;
    std::map<std::string, std::string, std::less<>> paths;
};

class Alternatives final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kAlternativesProviders;
    }
    bool does(const Given& given) const override {
        const Value wanted = given("provider");
        return platform(context_).family == "debian" &&
               (wanted.is_undef() || apply::is_word(wanted, "dpkg"));
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "path" && !plain(v).starts_with('/'))
            throw base::PuppetError("path must be a fully qualified path");
        Resource::validate_value(a, v);
    }
    void validate() override {
        if (module_level(context_, spec_.name) < kModeNeedsPath) return;
        const bool path = find("path");
        if (path && text("mode") == "auto")
            throw base::PuppetError("Mode cannot be 'auto' if a path is given");
        if (!path && text("mode") == "manual")
            throw base::PuppetError("Mode cannot be 'manual' without a path");
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (find("path")) out.push_back({Relation::Require, "alternative_entry", text("path")});
    }
    bool needs_ensure_retrieved() const override { return false; }
    bool present(const CurrentValues&) const override { return true; }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "mode") return Value::string(mode());
        const std::string found = path();
        return found.empty() ? Value::undef() : context_.string(found);
    }
    void sync(Param& p) override {
        const std::string wanted = plain(should(p));
        if (p.spec->name == "path") {
            update({"--set", name(), wanted});
        } else if (wanted == "auto") {
            update({"--auto", name()});
        } else {
            update({"--set", name(), path()});
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        for (const auto& [name, path] : selections()) {
            auto made = make_sibling();
            ResourceData data;
            data.title = name;
            made->initialize(std::move(data));
            made->watch("path");
            made->watch("mode");
            out.push_back(std::move(made));
        }
        return out;
    }

private:
    std::string update(std::vector<std::string> words, bool query = false) {
        words.insert(words.begin(), command_path(context_, kUpdateAlternatives));
        return execute(context_, words, {.query = query}).output;
    }

    const std::map<std::string, std::string, std::less<>>& selections() {
        auto& slot = context_.parsed_types["alternatives"];
        auto known = std::static_pointer_cast<Selections>(slot);
        if (known && known->actions == context_.actions) return known->paths;
        known = std::make_shared<Selections>();
        const std::string listing = update({"--get-selections"}, true);
        for (const std::string_view line : base::lines(listing)) {
            const auto words = base::words(line, " \t");
            if (words.empty()) continue;
            known->paths[std::string(words[0])] = words.size() > 2 ? std::string(words[2]) : "";
        }
        known->actions = context_.actions;
        slot = known;
        return known->paths;
    }
    std::string path() {
        const auto& all = selections();
        const auto it = all.find(name());
        return it == all.end() ? std::string() : it->second;
    }
    std::string_view mode() {
        const std::string listing = update({"--display", name()}, true);
        const auto lines = base::lines(listing);
        const std::string_view first = lines.empty() ? std::string_view() : lines.front();
        if (first.contains("auto mode")) return "auto";
        if (first.contains("manual mode")) return "manual";
        throw base::plain_error(
            fmt::format("Could not determine if {} is in auto or manual mode", provider_source()));
    }
};

}  // namespace

std::unique_ptr<Resource> make_alternatives(Context& context, const TypeSpec& spec) {
    return std::make_unique<Alternatives>(context, spec);
}

}  // namespace bunraku::apply
