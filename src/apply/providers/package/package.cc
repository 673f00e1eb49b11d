// The type package with the providers apt and dpkg. What is installed is asked once for all.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "apply/execution.h"
#include "apply/providers/package/debian_version.h"
#include "apply/providers/registry.h"
#include "base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool dpkg_suitable(Context& context) {
    for (std::string_view name : {"/usr/bin/dpkg", "/usr/bin/dpkg-deb", "/usr/bin/dpkg-query"}) {
        if (!has_command(context, name)) return false;
    }
    return true;
}

bool apt_suitable(Context& context) {
    if (!dpkg_suitable(context)) return false;
    for (std::string_view name : {"/usr/bin/apt-get", "/usr/bin/apt-cache", "/usr/bin/apt-mark",
                                  "/usr/bin/debconf-set-selections"}) {
        if (!has_command(context, name)) return false;
    }
    return true;
}

constexpr ProviderClass kProviders[] = {
    {.name = "apt",
     .suitable = apt_suitable,
     .features = "installable uninstallable upgradeable purgeable versionable version_ranges "
                 "holdable install_options virtual_packages",
     .prefetches = true},
    {.name = "dpkg",
     .suitable = dpkg_suitable,
     .features = "installable uninstallable upgradeable purgeable holdable virtual_packages",
     .prefetches = true},
    {.name = "aix"},
    {.name = "appdmg"},
    {.name = "apple"},
    {.name = "aptitude"},
    {.name = "aptrpm"},
    {.name = "blastwave"},
    {.name = "dnf"},
    {.name = "dnfmodule"},
    {.name = "fink"},
    {.name = "freebsd"},
    {.name = "gem"},
    {.name = "hpux"},
    {.name = "macports"},
    {.name = "nim"},
    {.name = "openbsd"},
    {.name = "opkg"},
    {.name = "pacman"},
    {.name = "pip"},
    {.name = "pip2"},
    {.name = "pip3"},
    {.name = "pkg"},
    {.name = "pkgdmg"},
    {.name = "pkgin"},
    {.name = "pkgng"},
    {.name = "pkgutil"},
    {.name = "portage"},
    {.name = "ports"},
    {.name = "portupgrade"},
    {.name = "puppet_gem"},
    {.name = "puppetserver_gem"},
    {.name = "rpm"},
    {.name = "rug"},
    {.name = "sun"},
    {.name = "sunfreeware"},
    {.name = "tdnf"},
    {.name = "up2date"},
    {.name = "urpmi"},
    {.name = "windows"},
    {.name = "xbps"},
    {.name = "yum"},
    {.name = "zypper"},
};

constexpr std::string_view kFormat = "${Status} ${Package} ${Version}\\n";
constexpr std::string_view kFormatProvides = "${Status} ${Package} ${Version} [${Provides}]\\n";

/// What dpkg says of a package.
struct State {
    std::string desired, error, status, name;
    std::string ensure;  ///< a version, "absent" or "purged"
};

std::optional<State> parse_line(std::string_view line) {
    auto w = base::texts(base::words(line, " \t\n'"));
    if (w.size() < 4) return std::nullopt;
    State s{w[0], w[1], w[2], w[3], w.size() > 4 && w[4][0] != '[' ? w[4] : ""};
    if (s.status == "not-installed") {
        s.ensure = "purged";
    } else if (s.status == "config-files" || s.status == "half-installed" ||
               s.status == "unpacked" || s.status == "half-configured") {
        s.ensure = "absent";
    }
    return s;
}

template <class F>
void each_line(std::string_view text, F&& f) {
    while (!text.empty()) {
        std::size_t nl = text.find('\n');
        f(text.substr(0, nl));
        if (nl == std::string_view::npos) break;
        text.remove_prefix(nl + 1);
    }
}

class Package final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass> provider_classes() const override { return kProviders; }
    const ProviderClass* default_provider() const override {
        if (apt_suitable(context_)) return &kProviders[0];
        if (dpkg_suitable(context_)) return &kProviders[1];
        return nullptr;
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "name" && !v.is_string()) {
            throw PuppetError(fmt::format("Name must be a String not {}", v.is_array() ? "Array"
                                                                          : v.is_integer()
                                                                              ? "Integer"
                                                                              : "Object"));
        }
        if (a.name == "mark" && plain(v) != "hold" && plain(v) != "none") {
            throw PuppetError(
                fmt::format("Invalid hold value \"{}\". Valid values are: hold/none", plain(v)));
        }
        Resource::validate_value(a, v);
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
        return Resource::munge(a, v);
    }

    bool set_whole(const Attribute& a, const Value& v) override {
        if (a.name != "install_options" && a.name != "uninstall_options") return false;
        param_slot(a).value =
            v.is_array() ? v : Value::array(context_.arena.copy(std::span<const Value>(&v, 1)));
        return true;
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "configfiles") return Value::string("keep");
        if (a.name == "enable_only" || a.name == "allow_virtual") return Value::boolean(false);
        if (a.name == "reinstall_on_refresh") return Value::string("false");
        return Value::undef();
    }

    void validate() override {
        std::string want = plain(should("ensure"));
        if (find("mark") && (want == "absent" || want == "purged")) {
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
        const State& s = state();
        if (p.spec->name == "ensure") return context_.string(s.ensure);
        if (p.spec->name == "mark") return Value::string(s.desired == "hold" ? "hold" : "none");
        return Value::string("absent");
    }

    bool present(const CurrentValues& current) const override {
        return current.present() && !is_word(current.get("ensure"), "purged");
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name != "ensure") return Resource::insync(p, is);
        std::string now = plain(is);
        bool gone = now == "absent" || now == "purged";
        for (const Value& v : p.should) {
            std::string want = plain(v);
            if (want == "present") {
                if (!gone && now != "disabled") return true;
            } else if (want == "latest") {
                if (gone) return false;
                if (!latest_) {
                    try {
                        latest_ = latest();
                    } catch (const PuppetError& e) {
                        throw PuppetError(
                            fmt::format("Could not get latest version: {}", e.message()));
                    }
                }
                if (now == *latest_ || now == "present") return true;
                debug(
                    fmt::format("{} \"{}\" is installed, latest is \"{}\"", name(), now, *latest_));
            } else if (want == "absent") {
                if (gone) return true;
            } else if (want == now) {
                return true;
            } else if (want != "purged" && provider_name() == "apt") {
                return range_insync(now, want);
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
        if (p.spec->name == "mark") {
            set_selection(plain(should(p)) == "hold");
            return;
        }
        std::string want = plain(should(p));
        if (want == "absent") {
            uninstall(false);
        } else if (want == "purged") {
            uninstall(true);
        } else if (want == "present") {
            install();
        } else {
            try {
                install();
            } catch (const PuppetError& e) {
                throw PuppetError(fmt::format("Could not update: {}", e.message()));
            }
        }
    }

    // A package that Puppet asked for is no automatic one.
    void flush() override {
        bool removing = is_absent(should("ensure")) || is_word(should("ensure"), "purged");
        if (provider_name() == "apt" && !removing && find("mark") == nullptr) {
            try {
                run({"/usr/bin/apt-mark", "manual", name()});
            } catch (const PuppetError& e) {
                state_.reset();
                throw;
            }
        }
        state_.reset();
    }

    bool refreshable() const override { return true; }
    void refresh() override {}  // neither apt nor dpkg can reinstall

    void prefetch(std::span<Resource* const> all) override {
        std::map<std::string, State, std::less<>> found;
        Execute o;
        o.combine = false;
        Executed done = execute(
            context_, {"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormat)}, o);
        each_line(done.output, [&](std::string_view line) {
            if (auto s = parse_line(line)) {
                std::string key = s->name;
                found.insert_or_assign(std::move(key), std::move(*s));
            }
        });
        for (Resource* r : all) {
            auto it = found.find(r->name());
            if (it != found.end()) static_cast<Package*>(r)->state_ = it->second;
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        if (!default_provider()) return out;
        Executed done =
            execute(context_, {"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormat)});
        std::map<std::string, bool, std::less<>> seen;
        each_line(done.output, [&](std::string_view line) {
            auto s = parse_line(line);
            if (!s || !seen.emplace(s->name, true).second) return;
            auto r = make_sibling();
            ResourceData d;
            d.title = s->name;
            d.parameters = {{"name", context_.string(s->name)}};
            r->initialize(std::move(d));
            r->watch("mark");
            static_cast<Package*>(r.get())->state_ = std::move(*s);
            out.push_back(std::move(r));
        });
        return out;
    }

private:
    const State& state() {
        if (!state_) state_ = query();
        return *state_;
    }

    Executed run(std::vector<std::string> argv, const std::string& input = {}) {
        Execute o;
        o.input = input;
        o.environment = {{"DEBIAN_FRONTEND", "noninteractive"},
                         {"APT_LISTBUGS_FRONTEND", "none"},
                         {"APT_LISTCHANGES_FRONTEND", "none"}};
        return execute(context_, argv, o);
    }

    State query() {
        std::string package = name();
        State missing{"", "ok", "missing", package, "purged"};
        try {
            if (flag("allow_virtual")) {
                Executed all = run(
                    {"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormatProvides)});
                std::optional<State> provider;
                each_line(all.output, [&](std::string_view line) {
                    if (!provider && names_package(line, package)) provider = parse_line(line);
                });
                if (provider && provider->name != package) {
                    context_.message(Level::Info,
                                     fmt::format("Package {} is virtual, defaulting to {}", package,
                                                 provider->name));
                    package = provider->name;
                    set("name", context_.string(package));
                }
            }
            Executed one =
                run({"/usr/bin/dpkg-query", "-W", "--showformat", std::string(kFormat), package});
            std::optional<State> s;
            each_line(one.output, [&](std::string_view line) {
                if (!s) s = parse_line(line);
            });
            if (!s) {
                missing.ensure = "absent";
                return missing;
            }
            if (s->error != "ok") {
                throw PuppetError(fmt::format("Package {}, version {} is in error state: {}",
                                              s->name, s->ensure, s->error),
                                  "PACKAGE_STATE");
            }
            return *s;
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            return missing;
        }
    }

    static bool names_package(std::string_view line, std::string_view package) {
        for (std::size_t at = line.find(package); at != std::string_view::npos;
             at = line.find(package, at + 1)) {
            std::size_t end = at + package.size();
            bool before = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '[');
            bool after = end < line.size() && (line[end] == ',' || line[end] == ']');
            bool named = end < line.size() && line[end] == ' ' && before;
            if ((before && after) || named) return true;
        }
        return false;
    }

    std::string latest() {
        if (provider_name() == "dpkg") {
            std::string source = text("source");
            if (source.empty()) {
                fail("Could not update: You cannot install dpkg packages without a source");
            }
            auto w = base::texts(
                base::words(run({"/usr/bin/dpkg-deb", "--show", source}).output, " \t\n'"));
            if (w.size() < 2) throw PuppetError("Could not find latest version");
            return w[1];
        }
        std::string output = run({"/usr/bin/apt-cache", "policy", name()}).output;
        std::size_t at = output.find("Candidate:");
        if (at != std::string::npos) {
            auto w = base::texts(base::words(std::string_view(output).substr(at + 10), " \t\n'"));
            if (!w.empty()) return w[0];
        }
        err("Could not find latest version");
        return {};
    }

    bool range_insync(const std::string& is, const std::string& want) const {
        if (is == "absent") return false;
        auto range = DebianVersionRange::parse(want);
        if (!range) {
            context_.message(Level::Debug,
                             fmt::format("Cannot parse {} as a debian version range", want));
            return false;
        }
        auto version = DebianVersion::parse(is);
        if (!version) {
            context_.message(Level::Debug, fmt::format("Cannot parse {} as a debian version", is));
            return false;
        }
        return range->includes(*version);
    }

    // The newest version on offer that the range takes in.
    std::string best_version(const DebianVersionRange& range, const std::string& want) {
        std::string output = run({"/usr/bin/apt-cache", "madison", name()}).output;
        std::optional<DebianVersion> best;
        std::string best_text;
        each_line(output, [&](std::string_view line) {
            std::size_t bar = line.find('|');
            if (bar == std::string_view::npos) return;
            std::size_t second = line.find('|', bar + 1);
            auto w = base::texts(base::words(
                line.substr(bar + 1, second == std::string_view::npos ? second : second - bar - 1),
                " \t\n'"));
            if (w.empty()) return;
            auto v = DebianVersion::parse(w[0]);
            if (v && range.includes(*v) && (!best || v->compare(*best) > 0)) {
                best = v;
                best_text = w[0];
            }
        });
        if (best) return best_text;
        context_.message(Level::Debug,
                         fmt::format("No available version for package {} is included in range {}",
                                     name(), want));
        return want;
    }

    void check_cdrom() const {
        std::string list = context_.system.files.read("/etc/apt/sources.list").value_or("");
        bool cdrom = false;
        each_line(list, [&](std::string_view line) {
            std::size_t at = line.find("cdrom:");
            cdrom = cdrom || (at != std::string_view::npos && line.find('#') > at);
        });
        if (cdrom && !flag("allowcdrom")) {
            throw PuppetError(
                "/etc/apt/sources.list contains a cdrom source; not installing.  Use 'allowcdrom' "
                "to override this failure.");
        }
    }

    void preseed() {
        std::string file = text("responsefile");
        if (!file.empty() && context_.system.files.exists(file)) {
            info(fmt::format("Preseeding {} to debconf-set-selections", file));
            run({"/usr/bin/debconf-set-selections", file});
        } else {
            info("No responsefile specified or non existent, not preseeding anything");
        }
    }

    void add_options(std::vector<std::string>& argv, const Value& options) const {
        if (!options.is_array()) return;
        for (const Value& v : options.as_array()) {
            if (v.is_hash()) {
                std::vector<std::string> pairs;
                for (const value::Entry& e : v.as_hash()) {
                    pairs.push_back(plain(e.key) + "=" + plain(e.value));
                }
                std::sort(pairs.begin(), pairs.end());
                argv.insert(argv.end(), pairs.begin(), pairs.end());
            } else {
                argv.push_back(plain(v));
            }
        }
    }

    void install() {
        bool keep = is_word(get("configfiles"), "keep");
        std::string source = text("source");
        std::vector<std::string> argv;
        std::string want = plain(should("ensure"));
        bool versioned = want != "present" && want != "latest";
        if (provider_name() == "dpkg") {
            if (source.empty()) {
                throw PuppetError("You cannot install dpkg packages without a source");
            }
            argv = {"/usr/bin/dpkg", keep ? "--force-confold" : "--force-confnew", "-i", source};
        } else {
            if (find("responsefile")) preseed();
            if (versioned) {
                auto range = DebianVersionRange::parse(want);
                if (range && !range->exact()) want = best_version(*range, want);
            }
            check_cdrom();
            argv = {"/usr/bin/apt-get", "-q", "-y", "-o",
                    keep ? "DPkg::Options::=--force-confold" : "DPkg::Options::=--force-confnew"};
            if (versioned) argv.emplace_back("--force-yes");
            add_options(argv, get("install_options"));
            argv.emplace_back("install");
            argv.push_back(!source.empty() ? source : versioned ? name() + "=" + want : name());
        }
        bool held = state().desired == "hold";
        bool hold = is_word(should("mark"), "hold");
        if (held) set_selection(false);
        try {
            run(argv);
        } catch (...) {
            if (hold) set_selection(true);
            throw;
        }
        if (hold) set_selection(true);
        if (provider_name() == "apt" && !source.empty() && want != "present") {
            State now = query();
            if (want != "latest" && !range_insync(now.ensure, want)) {
                throw PuppetError(fmt::format(
                    "Failed to update to version {}, got version {} instead", want, now.ensure));
            }
        }
    }

    void uninstall(bool purge) {
        if (provider_name() == "dpkg") {
            run({"/usr/bin/dpkg", purge ? "--purge" : "-r", name()});
            return;
        }
        if (find("responsefile")) preseed();
        std::vector<std::string> argv{"/usr/bin/apt-get", "-y", "-q"};
        if (state().desired == "hold") argv.emplace_back("--allow-change-held-packages");
        argv.emplace_back("remove");
        if (purge) argv.emplace_back("--purge");
        argv.push_back(name());
        run(std::move(argv));
        // What apt leaves of a package that was removed before, dpkg takes away.
        if (purge) run({"/usr/bin/dpkg", "--purge", name()});
    }

    void set_selection(bool hold) {
        Execute o;
        o.fail_on_error = false;
        o.combine = false;
        o.input = name() + (hold ? " hold\n" : " install\n");
        execute(context_, {"/usr/bin/dpkg", "--set-selections"}, o);
    }

    std::optional<State> state_;
    std::optional<std::string> latest_;
};

}  // namespace

std::unique_ptr<Resource> make_package(Context& context, const TypeSpec& spec) {
    return std::make_unique<Package>(context, spec);
}

}  // namespace bunraku::apply
