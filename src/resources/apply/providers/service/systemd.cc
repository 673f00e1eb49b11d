// SPDX-License-Identifier: Apache-2.0
// The provider systemd.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "resources/apply/types/service/service_provider.h"
#include "resources/apply/types/service/unit_states.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

std::vector<std::string> list_units(Context& context) {
    std::vector<std::string> out;
    Executed e;
    try {
        e = execute(context, {command_path(context, "systemctl"), "list-unit-files", "--type",
                              "service", "--full", "--all", "--no-pager"});
    } catch (const PuppetError&) {
        return out;
    }
    auto re = regex::Regex::cached(
        "^(\\S+)\\s+(disabled|enabled|masked|indirect|bad|static)\\s*([^-]\\S+)?\\s*$",
        regex::kIgnoreCase);
    if (!re) return out;
    for (const std::string_view line : base::lines(e.output)) {
        if (auto m = (*re)->search(line)) out.emplace_back(m->group(line, 1));
    }
    return out;
}

class Systemd final : public ServiceProvider {
public:
    using ServiceProvider::ServiceProvider;

    bool running() override {
        if (resource_.get("status").is_undef())
            if (const auto known = UnitStates::of(context_).active(resource_)) return *known;
        return ServiceProvider::running();
    }
    void start() override {
        with_journal("start", [&] { ServiceProvider::start(); });
    }
    void stop() override {
        with_journal("stop", [&] { ServiceProvider::stop(); });
    }
    void restart() override {
        with_journal("restart", [&] { ServiceProvider::restart(); });
    }

    std::string enabled() override {
        const Unit& u = unit();
        if (is_word(resource_.should("enable"), "mask") && u.state == "masked") return "mask";
        if (u.state == "indirect") return "false";
        // systemd also knows the state of init scripts, so a unit without a state is not there.
        return u.code == 0 ? "true" : "false";
    }

    void enable(const std::string& wanted) override {
        if (wanted == "true") {
            systemctl("unmask");
            systemctl("enable");
        } else if (wanted == "mask") {
            Execute o;
            o.fail_on_error = false;
            if (execute(context_, {program(), "cat", "--", name()}, o).status == 0) {
                systemctl("disable");
            }
            systemctl("mask");
        } else {
            systemctl("disable");
        }
    }

    bool can_enable() override {
        const std::string& state = unit().state;
        if (state == "static" && !is_word(resource_.should("enable"), "mask")) {
            debug(fmt::format("Unable to enable or disable static service {}", name()));
            return false;
        }
        if (state == "indirect") {
            debug(fmt::format("Service {} is in 'indirect' state and cannot be enabled/disabled",
                              name()));
            return false;
        }
        return true;
    }

protected:
    std::vector<std::string> own_command(std::string_view what) override {
        if (what == "start") systemctl("unmask");
        return {program(), what == "status" ? "is-active" : std::string(what), "--", name()};
    }

private:
    /// The result of `is-enabled`.
    struct Unit {
        std::string state;
        int code = 0;
    };

    std::string program() { return command_path(context_, "systemctl"); }

    const Unit& unit() {
        if (!unit_) {
            // States for which `is-enabled` exits with 0.
            constexpr std::string_view kGood[] = {"enabled",  "enabled-runtime", "static",
                                                  "alias",    "indirect",        "generated",
                                                  "transient"};
            if (auto known = UnitStates::of(context_).enabled(resource_)) {
                const bool good = std::ranges::find(kGood, *known) != std::end(kGood);
                unit_ = Unit{std::move(*known), good ? 0 : 1};
                return *unit_;
            }
            Execute o;
            o.fail_on_error = false;
            o.query = true;
            Executed e = execute(context_, {program(), "is-enabled", "--", name()}, o);
            unit_ = Unit{chomped(std::move(e.output)), e.status};
        }
        return *unit_;
    }

    void systemctl(const std::string& action) {
        unit_.reset();
        try {
            execute(context_, {program(), action, "--", name()});
        } catch (const PuppetError&) {
            throw PuppetError(fmt::format("Could not {} {}: ", action, name()));
        }
    }

    void reload_daemon() {
        Execute o;
        o.fail_on_error = false;
        const std::string ctl = program();
        const std::string out =
            chomped(execute(context_, {ctl, "show", "--property=NeedDaemonReload", "--", name()}, o)
                        .output);
        if (out.ends_with("=yes") || out == "yes") execute(context_, {ctl, "daemon-reload"}, o);
    }

    // Runs `f`. If it fails, throws an error that contains the journal of the unit.
    template <class F>
    void with_journal(std::string_view action, F&& f) {
        try {
            if (action != "stop") reload_daemon();
            f();
        } catch (const PuppetError&) {
            const std::string command =
                fmt::format("journalctl -n 50 --since '5 minutes ago' -u {} --no-pager", name());
            debug(fmt::format("Running journalctl command to get logs for systemd {} failure: {}",
                              action, command));
            std::string journal;
            try {
                journal = execute_line(context_, command).output;
            } catch (const PuppetError& e) {
                journal = e.message();
            }
            throw PuppetError(fmt::format("Systemd {} for {} failed!\njournalctl log for {}:\n{}",
                                          action, name(), name(), journal));
        }
    }

    std::optional<Unit> unit_;
};

int default_for(Context& c) {
    const Platform& os = platform(c);
    const auto old = [&](int from, int to) {
        const auto major = base::parse_integer<int>(os.major);
        return major && *major >= from && *major <= to;
    };
    if (os.name == "redhat" && old(4, 6)) return 0;
    if (os.name == "amazon") return os.major == "2017" || os.major == "2018" ? 0 : 1;
    if (os.name == "debian") return old(5, 7) ? 0 : 1;
    if (os.name == "linuxmint") return old(10, 17) ? 0 : 1;
    if (os.name == "ubuntu") {
        return os.major == "10.04" || os.major == "12.04" || os.major == "14.04" ||
                       os.major == "14.10"
                   ? 0
                   : 1;
    }
    if (os.name == "fedora") return 2;
    for (std::string_view family : {"archlinux", "redhat", "suse", "coreos", "gentoo"}) {
        if (os.family == family) return 1;
    }
    return 0;
}

}  // namespace

const ProviderClass& provider_service_systemd() {
    static constexpr ServiceProviderClass kClass{
        {.name = "systemd",
         .suitable =
             [](Context& c) {
                 const auto comm = c.system.files.read("/proc/1/comm");
                 return comm && comm->find("systemd") != std::string::npos &&
                        has_command(c, "systemctl");
             },
         .features = "refreshable enableable maskable",
         .default_for = default_for,
         .depth = 6},
        make_service_provider<Systemd>,
        list_units};
    return kClass;
}

}  // namespace bunraku::apply
