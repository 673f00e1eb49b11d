// SPDX-License-Identifier: Apache-2.0
// The type package: its attributes. The package managers are implemented in providers/package/.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/types/package/outside_package.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

class Package final : public Resource {
public:
    using Resource::Resource;

    std::string_view foreign_providers() const override {
        return "aix appdmg apple aptrpm blastwave fink freebsd hpux macports nim openbsd "
               "pkg pkgdmg pkgin pkgng pkgutil portage ports portupgrade puppetserver_gem rug sun "
               "sunfreeware up2date urpmi windows";
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "name" && !v.is_string()) {
            throw PuppetError(fmt::format("Name must be a String not {}", v.is_array() ? "Array"
                                                                          : v.is_integer()
                                                                              ? "Integer"
                                                                              : "Object"));
        }
        if (a.name == "enable_only") return validate_streams(a, v);
        if (a.name == "environment") return validate_package_environment(v);
        Resource::validate_value(a, v);
        validate_streams(a, v);
        if (a.name != "ensure") return;
        std::string want = plain(Resource::munge(a, v));
        std::string_view feature = want == "purged"                        ? "purgeable"
                                   : want == "disabled"                    ? "disableable"
                                   : want == "latest"                      ? "upgradeable"
                                   : want == "present" || want == "absent" ? ""
                                                                           : "versionable";
        if (!feature.empty() && provider_ && provider_->suitable && !has_feature(feature)) {
            throw PuppetError(
                fmt::format("Provider {} must have features '{}' to set 'ensure' to '{}'",
                            provider_name(), feature, want));
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "install_options" || a.name == "uninstall_options") return v;
        if (a.name == "enable_only") return munged_switch(a, v);
        return Resource::munge(a, v);
    }

    bool set_whole(const Attribute& a, const Value& v) override {
        if (a.name != "install_options" && a.name != "uninstall_options") return false;
        for (const Value& one : v.is_array() ? v.as_array() : std::span(&v, 1)) {
            if (!one.is_string() && !one.is_hash())
                throw PuppetError("Expected either a string or hash of options");
        }
        param_slot(a).value =
            v.is_array() ? v : Value::array(context_.arena.copy(std::span<const Value>(&v, 1)));
        return true;
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "configfiles") return Value::string("keep");
        if (a.name == "install_only") return Value::boolean(false);
        if (a.name == "allow_virtual") {
            return Value::boolean(provider_ && provider_->suitable &&
                                  manager_class(*provider_)->allow_virtual);
        }
        if (a.name == "reinstall_on_refresh") return Value::string("false");
        return Value::undef();
    }

    void validate() override {
        std::string want = plain(should("ensure"));
        if (has("mark") && (want == "absent" || want == "purged")) {
            throw PuppetError(
                "You cannot use \"mark\" property while \"ensure\" is one of [\"absent\", "
                "\"purged\"]");
        }
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        for (std::string_view name : {"responsefile", "adminfile"}) {
            if (std::string t = text(name); !t.empty()) {
                out.push_back({Relation::Require, "file", t});
            }
        }
        if (std::string source = text("source"); source.starts_with('/')) {
            out.push_back({Relation::Require, "file", source});
        }
    }

    Value retrieve_property(const Param& p) override {
        const PackageState& s = manager().state();
        if (p.spec->name == "ensure") return s.value(context_);
        if (p.spec->name == "mark") {
            // For a missing package, `mark` is absent unless the resource sets it.
            if (s.gone() && !s.held && should(p).is_undef()) return Value::string("absent");
            return Value::string(s.held ? "hold" : "none");
        }
        if (p.spec->name == "flavor" && !s.flavor.empty()) return context_.string(s.flavor);
        return Value::string("absent");
    }

    bool present(const CurrentValues& current) const override {
        return current.present() && !is_word(current.get("ensure"), "purged");
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "ensure") return Resource::insync(p, is);
        PackageState now = manager().state();
        if (!is.is_array()) now.versions = {plain(is)};
        const bool gone = now.gone();
        const auto there = [&](const std::string& v) {
            return std::find(now.versions.begin(), now.versions.end(), v) != now.versions.end();
        };
        for (const Value& v : p.should) {
            std::string want = plain(v);
            if (want == "present") {
                if (!gone && !there("disabled")) return true;
            } else if (want == "latest") {
                if (gone) return false;
                if (!latest_) {
                    try {
                        latest_ = manager().latest();
                    } catch (const PuppetError& e) {
                        throw PuppetError(
                            fmt::format("Could not get latest version: {}", e.message()));
                    }
                }
                if (there(*latest_) || there("present")) return true;
                debug(fmt::format("{} \"{}\" is installed, latest is \"{}\"", name(), plain(is),
                                  *latest_));
            } else if (want == "absent") {
                if (gone) return true;
            } else if (there(want)) {
                return true;
            } else if (want != "purged") {
                return manager().satisfied(now, want);
            }
        }
        return false;
    }

    std::string should_text(const Param& p, const Value& should) const override {
        if (p.spec->name == "ensure" && latest_) return display(context_.string(*latest_));
        return display(should);
    }

    std::string change_text(const Param& p, const Value& is, const Value& should) const override {
        if (p.spec->name == "ensure") {
            if (is_word(should, "purged")) return "purged";
            bool gone = is.is_undef() || is_absent(is) || is_word(is, "purged");
            if (gone && !is_absent(should)) return "created";
        }
        return Resource::change_text(p, is, should);
    }

    std::string event_name(const Param& p) const override {
        if (p.spec->name != "ensure") return Resource::event_name(p);
        std::string want = plain(should(p));
        if (want == "present") return "package_installed";
        if (want == "absent") return "package_removed";
        if (want == "purged") return "package_purged";
        return "package_changed";
    }

    void sync(Param& p) override {
        const auto variables = package_environment(*this);
        const CommandEnvironment environment(context_, variables);
        if (p.spec->name == "mark") return manager().hold(is_word(should(p), "hold"));
        if (p.spec->name == "flavor") return manager().change_flavor();
        std::string want = plain(should(p));
        if (want == "absent") {
            manager().uninstall();
        } else if (want == "disabled") {
            manager().disable();
        } else if (want == "purged") {
            manager().purge();
        } else if (want == "present") {
            fetch_ahead();
            manager().install();
        } else {
            try {
                want == "latest" ? manager().update() : manager().install();
            } catch (const PuppetError& e) {
                throw PuppetError(fmt::format("Could not update: {}", e.message()));
            }
        }
    }

    void flush() override {
        try {
            manager().flush();
        } catch (const PuppetError&) {
            manager().forget();
            throw;
        }
        manager().forget();
    }

    bool refreshable() const override { return true; }
    void refresh() override {}  // no built-in provider can reinstall

    void prefetch(std::span<Resource* const> all) override {
        // There may be several gem and pip programs, so query each of them once.
        std::map<std::string, std::vector<Package*>, std::less<>> by_command;
        for (Resource* r : all) {
            by_command[r->text("command")].push_back(static_cast<Package*>(r));
        }
        for (const auto& [command, packages] : by_command) {
            std::map<std::string, PackageState, std::less<>> found;
            const PackageProviderClass& manager = *manager_class(*provider());
            for (PackageState& s : manager.outside ? outside_packages(*manager.outside)
                                                   : manager.list(context_, command)) {
                std::string key = s.name;
                found.insert_or_assign(std::move(key), std::move(s));
            }
            for (Package* p : packages) {
                if (auto it = found.find(p->name()); it != found.end())
                    p->manager().know(it->second);
            }
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        const ProviderClass* first = default_provider();
        if (!first) return out;
        std::vector<const ProviderClass*> classes{first};
        for (const ProviderClass* c : provider_classes()) {
            // Query a list that several managers share (apt and aptitude use dpkg's) only once.
            if (c != first && c->suitable(context_) &&
                manager_class(*c)->list != manager_class(*first)->list) {
                classes.push_back(c);
            }
        }
        std::map<std::string, bool, std::less<>> seen;
        for (const ProviderClass* c : classes) {
            std::vector<PackageState> all;
            try {
                all = manager_class(*c)->list(context_, "");
            } catch (const PuppetError& e) {
                // One broken manager (such as a pip that does not start) must not hide the packages
                // of the others.
                if (c == first) throw;
                context_.message(
                    Level::Warning,
                    fmt::format("Could not list the packages of {}: {}", c->name, e.message()));
            }
            for (PackageState& s : all) {
                if (!seen.emplace(s.name, true).second) continue;
                auto r = make_sibling();
                ResourceData d;
                d.title = s.name;
                d.parameters = {{"name", context_.string(s.name)},
                                {"provider", context_.string(c->name)}};
                r->initialize(std::move(d));
                if (c->has_feature("holdable")) r->watch("mark");
                static_cast<Package*>(r.get())->manager().know(std::move(s));
                out.push_back(std::move(r));
            }
        }
        return out;
    }

private:
    /// For fewer packages, one fetch is not faster than separate downloads.
    static constexpr std::size_t kWorthFetching = 3;

    bool comes_alone() const {
        const std::string given = name();
        return !is_word(should("ensure"), "present") || find("source") || find("responsefile") ||
               given.empty() || !std::isalnum(static_cast<unsigned char>(given[0]));
    }
    /// Downloads several packages in one call, because a manager that is run once per package also
    /// connects once per package. Includes the missing packages of all resources that are due. Each
    /// package is then installed and reported separately.
    void fetch_ahead() {
        if (!manager().fetches() || fetched_ || comes_alone() || !catalog || !catalog->due) return;
        const Value how = get("install_options");
        std::vector<std::string> names{name()};
        for (Resource* r : catalog->resources()) {
            if (r == this || r->type_name() != "package" || r->provider() != provider()) continue;
            auto* other = dynamic_cast<Package*>(r);
            // The prefetch has already determined the installed packages.
            if (!other || other->fetched_ || other->comes_alone() || other->noop() ||
                (other->manager_ && other->manager_->known()) ||
                !same(other->get("install_options"), how) || !catalog->due(*other))
                continue;
            other->fetched_ = true;
            names.push_back(other->name());
        }
        if (names.size() >= kWorthFetching) manager().fetch(names);
    }

    // The attributes that exclude each other for module streams.
    void validate_streams(const Attribute& a, const Value& v) const {
        const bool disabled = plain(should("ensure")) == "disabled";
        if (a.name == "flavor" && disabled)
            throw PuppetError("Cannot have both `ensure => disabled` and `flavor`");
        if (a.name != "enable_only") return;
        if (plain(v) == "true" && has("flavor"))
            throw PuppetError("Cannot have both `enable_only => true` and `flavor`");
        if (disabled)
            throw PuppetError("Cannot have both `ensure => disabled` and `enable_only => true`");
    }

    static const PackageProviderClass* manager_class(const ProviderClass& c) {
        return static_cast<const PackageProviderClass*>(&c);
    }
    PackageProvider& manager() {
        if (!manager_) manager_ = manager_class(*provider_)->make(*this);
        return *manager_;
    }

    std::unique_ptr<PackageProvider> manager_;
    bool fetched_ = false;
    std::optional<std::string> latest_;
};

}  // namespace

std::unique_ptr<Resource> make_package(Context& context, const TypeSpec& spec) {
    return std::make_unique<Package>(context, spec);
}

}  // namespace bunraku::apply
