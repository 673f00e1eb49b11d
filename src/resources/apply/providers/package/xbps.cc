// SPDX-License-Identifier: Apache-2.0
// The provider xbps for Void Linux.
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool is_void(Context& c) { return platform(c).name == "void"; }

// Parses "ii NAME-VERSION  description".
std::optional<PackageState> parse_line(std::string_view line) {
    const auto w = base::words(line, " \t\r");
    const std::size_t dash = w.size() > 1 ? w[1].rfind('-') : std::string_view::npos;
    if (dash == std::string_view::npos) return std::nullopt;
    return PackageState{.name = std::string(w[1].substr(0, dash)),
                        .versions = {std::string(w[1].substr(dash + 1))}};
}

std::vector<PackageState> list(Context& context, const std::string&) {
    std::vector<PackageState> out;
    try {
        const std::string output = execute(context, {"/usr/bin/xbps-query", "-l"}).output;
        for (std::string_view line : base::lines(output)) {
            if (auto p = parse_line(line)) {
                out.push_back(std::move(*p));
            } else if (!line.empty()) {
                context.message(Level::Warning, fmt::format("Failed to match line '{}'", line));
            }
        }
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        throw PuppetError("Error getting installed packages");
    }
    return out;
}

class Xbps final : public PackageProvider {
public:
    using PackageProvider::PackageProvider;

    std::optional<PackageState> query() override {
        for (PackageState& p : list(context_, "")) {
            if (base::same_ignoring_case(p.name, name())) return std::move(p);
        }
        if (!resource_.flag("allow_virtual")) return std::nullopt;
        const std::string output = execute(context_, {"/usr/bin/xbps-query", "-Rs", name()}).output;
        if (!output.starts_with("[*]")) return std::nullopt;
        return parse_line(std::string_view(output).substr(0, output.find('\n')));
    }

    void install() override {
        std::vector<std::string> argv{"/usr/bin/xbps-install", "-S", "-y"};
        for (std::string& o : options("install_options")) argv.push_back(std::move(o));
        if (const std::string source = resource_.text("source"); !source.empty()) {
            argv.push_back("--repository=" + source);
        }
        argv.push_back(name());
        const bool back = is_word(resource_.should("mark"), "hold");
        if (state().held) hold(false);
        try {
            execute(context_, argv);
        } catch (...) {
            if (back) hold(true);
            throw;
        }
        if (back) hold(true);
    }

    void uninstall() override {
        std::vector<std::string> argv{"/usr/bin/xbps-remove", "-R", "-y"};
        for (std::string& o : options("uninstall_options")) argv.push_back(std::move(o));
        argv.push_back(name());
        execute(context_, argv);
    }

    void hold(bool on) override {
        execute(context_, {"/usr/bin/xbps-pkgdb", "-m", on ? "hold" : "unhold", name()});
    }

    std::string latest() override {
        const auto found = query();
        return found ? found->versions.front() : std::string();
    }
};

}  // namespace

const ProviderClass& provider_package_xbps() {
    static constexpr PackageProviderClass kClass{
        {.name = "xbps",
         .suitable =
             [](Context& c) {
                 return is_void(c) && has_command(c, "/usr/bin/xbps-install") &&
                        has_command(c, "/usr/bin/xbps-remove") &&
                        has_command(c, "/usr/bin/xbps-query") &&
                        has_command(c, "/usr/bin/xbps-pkgdb");
             },
         .features = "installable uninstallable upgradeable holdable install_options "
                     "uninstall_options virtual_packages",
         .prefetches = true,
         .default_for = [](Context& c) { return is_void(c) ? 1 : 0; },
         .depth = 5},
        make_package_provider<Xbps>,
        list,
        /*allow_virtual=*/false};
    return kClass;
}

}  // namespace bunraku::apply
