// The type service with the providers systemd, debian, init and base.
#include <algorithm>
#include <fmt/format.h>

#include "apply/execution.h"
#include "apply/providers/registry.h"
#include "base/text.h"
#include "regex/regex.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool systemd_runs(Context& context) {
    auto comm = context.system.files.read("/proc/1/comm");
    return comm && comm->find("systemd") != std::string::npos;
}

bool debian_system(Context& context) {
    std::string text = context.system.files.read("/etc/os-release").value_or("");
    return ("\n" + text).find("\nID=debian") != std::string::npos ||
           ("\n" + text).find("\nID=ubuntu") != std::string::npos;
}

bool systemd_suitable(Context& context) {
    return systemd_runs(context) && has_command(context, "systemctl");
}
bool debian_suitable(Context& context) {
    return !systemd_runs(context) && has_command(context, "/usr/sbin/update-rc.d") &&
           has_command(context, "/usr/sbin/invoke-rc.d") &&
           has_command(context, "/usr/sbin/service");
}
bool init_suitable(Context& context) {
    return !debian_system(context) && has_command(context, "kill");
}
bool base_suitable(Context& context) { return has_command(context, "kill"); }

// By preference.
constexpr ProviderClass kProviders[] = {
    {.name = "systemd",
     .suitable = systemd_suitable,
     .features = "refreshable enableable maskable"},
    {.name = "debian", .suitable = debian_suitable, .features = "refreshable enableable"},
    {.name = "init", .suitable = init_suitable, .features = "refreshable"},
    {.name = "base", .suitable = base_suitable, .features = "refreshable"},
    {.name = "bsd"},
    {.name = "daemontools"},
    {.name = "freebsd"},
    {.name = "gentoo"},
    {.name = "launchd"},
    {.name = "openbsd"},
    {.name = "openrc"},
    {.name = "openwrt"},
    {.name = "pacemaker"},
    {.name = "rcng"},
    {.name = "redhat"},
    {.name = "runit"},
    {.name = "service"},
    {.name = "smf"},
    {.name = "src"},
    {.name = "swiftinit"},
    {.name = "upstart"},
    {.name = "windows"},
};

std::string chomped(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

class Service final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "logonpassword" && v.is_string() &&
            v.as_string().find(':') != std::string_view::npos) {
            throw PuppetError("Passwords cannot include ':'");
        }
        Resource::validate_value(a, v);
        if (a.name != "enable") return;
        std::string want = plain(v);
        std::string_view feature = want == "mask"      ? "maskable"
                                   : want == "manual"  ? "manual_startable"
                                   : want == "delayed" ? "delayed_startable"
                                                       : "";
        if (!feature.empty() && !has_feature(feature)) {
            throw PuppetError(
                fmt::format("Provider {} must have features '{}' to set 'enable' to '{}'",
                            provider_name(), feature, want));
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "path") {
            std::vector<Value> out;
            auto add = [&](std::string_view rest) {
                while (true) {
                    std::size_t colon = rest.find(':');
                    out.push_back(context_.string(rest.substr(0, colon)));
                    if (colon == std::string_view::npos) return;
                    rest.remove_prefix(colon + 1);
                }
            };
            if (v.is_array()) {
                for (const Value& one : v.as_array()) add(plain(one));
            } else {
                add(plain(v));
            }
            return Value::array(context_.arena.copy(out));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "hasstatus") return Value::string("true");
        if (a.name == "pattern") {
            Value binary = get("binary");
            return binary.is_undef() ? context_.string(name()) : binary;
        }
        if (a.name == "path" && (provider_name() == "init" || provider_name() == "debian")) {
            return Value::string("/etc/init.d");
        }
        return Value::undef();
    }

    bool needs_ensure_retrieved() const override { return false; }
    bool present(const CurrentValues&) const override { return true; }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") return Value::string(running() ? "running" : "stopped");
        if (p.spec->name == "enable") return context_.string(enabled());
        return Value::string("absent");
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "enable" && provider_name() == "systemd") {
            std::string state = enabled_state().output;
            Value want = should(p);
            if (state == "static" && !is_word(want, "mask")) {
                context_.message(
                    Level::Debug,
                    fmt::format("Unable to enable or disable static service {}", name()));
                return true;
            }
            if (state == "indirect") {
                context_.message(
                    Level::Debug,
                    fmt::format("Service {} is in 'indirect' state and cannot be enabled/disabled",
                                name()));
                return true;
            }
            return same(is, want);
        }
        return Resource::insync(p, is);
    }

    std::string event_name(const Param& p) const override {
        std::string want = plain(should(p));
        if (p.spec->name == "ensure") {
            return want == "running" ? "service_started" : "service_stopped";
        }
        if (p.spec->name == "enable") {
            if (want == "true") return "service_enabled";
            if (want == "manual") return "service_manual_start";
            if (want == "delayed") return "service_delayed_start";
            return "service_disabled";
        }
        return Resource::event_name(p);
    }
    bool invalidates_refreshes(const Param& p) const override {
        return p.spec->name == "ensure" && is_word(should(p), "running");
    }

    void sync(Param& p) override {
        if (p.spec->name == "enable") {
            change_enable(plain(should(p)));
            return;
        }
        if (p.spec->name != "ensure") return Resource::sync(p);
        if (is_word(should(p), "running")) {
            start();
        } else {
            stop();
        }
        if (Param* enable = find("enable"); enable && enable->has_should) {
            if (!insync(*enable, retrieve_property(*enable))) sync(*enable);
        }
    }

    bool refreshable() const override { return true; }
    void refresh() override {
        watch("ensure");
        if (running()) {
            restart();
        } else {
            debug("Skipping restart; service is not running");
        }
    }

    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override {
        std::vector<std::unique_ptr<Resource>> out;
        const ProviderClass* d = default_provider();
        if (!d) return out;
        for (const std::string& n : d->name == "systemd" ? systemd_units() : init_scripts()) {
            auto r = make_sibling();
            ResourceData data;
            data.title = n;
            data.parameters = {{"name", context_.string(n)}};
            r->initialize(std::move(data));
            r->watch("ensure");
            r->watch("enable");
            out.push_back(std::move(r));
        }
        return out;
    }

private:
    bool systemd() const { return provider_name() == "systemd"; }

    std::vector<std::string> own_command(std::string_view what) {
        std::string_view provider = provider_name();
        std::string w(what);
        if (provider == "systemd") {
            std::string ctl = command_path(context_, "systemctl");
            if (what == "start") systemctl("unmask");
            return {ctl, what == "status" ? "is-active" : w, "--", name()};
        }
        if (provider == "debian" && what == "status") {
            if (!flag("hasstatus")) return {};
            return {"/usr/sbin/service", name(), "status"};
        }
        if (provider == "debian" || provider == "init") {
            if (what == "status" && !flag("hasstatus")) return {};
            if (what == "restart" && !flag("hasrestart")) return {};
            return {init_script(), w};
        }
        if (what == "start") {
            std::string binary = text("binary");
            if (binary.empty()) {
                throw PuppetError("Services must specify a start command or a binary");
            }
            return {binary};
        }
        return {};
    }

    Executed service_command(std::string_view what, bool fail_on_error) {
        Execute o;
        o.fail_on_error = fail_on_error;
        o.override_locale = false;
        try {
            if (Value given = get(what); !given.is_undef()) {
                return execute_line(context_, plain(given), o);
            }
            return execute(context_, own_command(what), o);
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            throw PuppetError(fmt::format("Could not {} {}: {}", what, ref(), e.message()));
        }
    }

    bool running() {
        if (!get("status").is_undef() || !own_command("status").empty()) {
            return service_command("status", false).status == 0;
        }
        return !find_pid().empty();
    }

    std::string find_pid() {
        std::string pattern = text("pattern");
        if (pattern.empty()) fail("Either stop/status commands or a pattern must be specified");
        auto re = regex::Regex::cached(pattern);
        if (!re) throw PuppetError(re.error().message);
        provider_debug("Executing 'ps -ef'");
        std::string table = execute(context_, {"ps", "-ef"}).output;
        for (const std::string_view line : base::lines(table)) {
            if (!(*re)->matches(line)) continue;
            provider_debug(fmt::format("Process matched: {}", line));
            const auto words = base::words(line);
            if (words.size() < 2) continue;
            std::string out(words[1]);
            provider_debug(fmt::format("PID is {}", out));
            return out;
        }
        return {};
    }

    template <class F>
    void with_journal(std::string_view action, F&& f) {
        if (!systemd()) return f();
        try {
            if (action != "stop") reload_daemon();
            f();
        } catch (const PuppetError&) {
            std::string command =
                fmt::format("journalctl -n 50 --since '5 minutes ago' -u {} --no-pager", name());
            context_.message(Level::Debug,
                             fmt::format("Running journalctl command to get logs for systemd {} "
                                         "failure: {}",
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

    void start() {
        with_journal("start", [&] { service_command("start", true); });
    }

    void stop() {
        with_journal("stop", [&] {
            if (!get("stop").is_undef() || !own_command("stop").empty()) {
                service_command("stop", true);
                return;
            }
            std::string pid = find_pid();
            if (pid.empty()) {
                info(fmt::format("{} is not running", name()));
                return;
            }
            try {
                execute(context_, {command_path(context_, "kill"), pid});
            } catch (const PuppetError&) {
                fail(fmt::format("Could not kill {}, PID {}: ", name(), pid));
            }
        });
    }

    void restart() {
        with_journal("restart", [&] {
            if (!get("restart").is_undef() || !own_command("restart").empty()) {
                service_command("restart", true);
            } else {
                stop();
                start();
            }
        });
    }

    struct EnabledState {
        std::string output;
        int code = 0;
    };
    const EnabledState& enabled_state() {
        if (!enabled_known_) {
            Execute o;
            o.fail_on_error = false;
            Executed e = execute(
                context_, {command_path(context_, "systemctl"), "is-enabled", "--", name()}, o);
            enabled_ = {chomped(e.output), e.status};
            enabled_known_ = true;
        }
        return enabled_;
    }

    std::string enabled() {
        if (!systemd()) return debian_enabled() ? "true" : "false";
        const EnabledState& s = enabled_state();
        if (is_word(should("enable"), "mask") && s.output == "masked") return "mask";
        if (s.output == "indirect") return "false";
        if (s.code == 0) return "true";
        if (s.output.empty() && s.code > 0 && debian_system(context_) && debian_enabled()) {
            return "true";
        }
        return "false";
    }

    bool debian_enabled() {
        Execute o;
        o.fail_on_error = false;
        int code =
            execute(context_, {"/usr/sbin/invoke-rc.d", "--quiet", "--query", name(), "start"}, o)
                .status;
        if (code == 104 || code == 106) return true;
        if (code != 101 && code != 105) return false;
        std::string link = name();
        if (systemd() && link.find(".service") != std::string::npos) {
            link = link.substr(0, link.find('.'));
        }
        int links = 0;
        for (char level : std::string_view("0123456S")) {
            auto names = context_.system.files.list(fmt::format("/etc/rc{}.d", level));
            if (!names) continue;
            links += static_cast<int>(
                std::count_if(names->begin(), names->end(), [&](const std::string& n) {
                    return n.size() == link.size() + 3 && n[0] == 'S' && n.ends_with(link);
                }));
        }
        return links >= 4;
    }

    void systemctl(const std::string& action) {
        try {
            execute(context_, {command_path(context_, "systemctl"), action, "--", name()});
        } catch (const PuppetError&) {
            enabled_known_ = false;
            throw PuppetError(fmt::format("Could not {} {}: ", action, name()));
        }
        enabled_known_ = false;
    }

    void reload_daemon() {
        Execute o;
        o.fail_on_error = false;
        std::string ctl = command_path(context_, "systemctl");
        std::string out =
            chomped(execute(context_, {ctl, "show", "--property=NeedDaemonReload", "--", name()}, o)
                        .output);
        if (out.ends_with("=yes") || out == "yes") execute(context_, {ctl, "daemon-reload"}, o);
    }

    void change_enable(const std::string& want) {
        if (systemd()) {
            if (want == "true") {
                systemctl("unmask");
                systemctl("enable");
            } else if (want == "mask") {
                Execute o;
                o.fail_on_error = false;
                bool there =
                    execute(context_, {command_path(context_, "systemctl"), "cat", "--", name()}, o)
                        .status == 0;
                if (there) systemctl("disable");
                systemctl("mask");
            } else {
                systemctl("disable");
            }
            return;
        }
        std::string update = "/usr/sbin/update-rc.d";
        if (want == "true") {
            execute(context_, {update, "-f", name(), "remove"});
            execute(context_, {update, name(), "defaults"});
        } else {
            execute(context_, {update, name(), "disable"});
        }
    }

    std::string init_script() {
        std::vector<std::string> folders;
        if (Value path = get("path"); path.is_array()) {
            for (const Value& v : path.as_array()) {
                if (context_.system.files.is_directory(plain(v))) folders.push_back(plain(v));
            }
        }
        for (std::string_view suffix : {"", ".sh"}) {
            for (const std::string& folder : folders) {
                std::string script = sys::join(folder, name() + std::string(suffix));
                if (context_.system.files.exists(script)) return script;
                provider_debug(fmt::format("Could not find {}{} in {}", name(), suffix, folder));
            }
        }
        throw PuppetError(fmt::format("Could not find init script for '{}'", name()));
    }

    std::vector<std::string> systemd_units() {
        std::vector<std::string> out;
        Executed e;
        try {
            e = execute(context_, {command_path(context_, "systemctl"), "list-unit-files", "--type",
                                   "service", "--full", "--all", "--no-pager"});
        } catch (const PuppetError&) {
            return out;
        }
        auto re = regex::Regex::cached(
            "^(\\S+)\\s+(disabled|enabled|masked|indirect|bad|static)\\s*([^-]\\S+)?\\s*$",
            regex::kIgnoreCase);
        std::string_view rest = e.output;
        while (re && !rest.empty()) {
            std::size_t nl = rest.find('\n');
            std::string_view line = rest.substr(0, nl);
            rest.remove_prefix(nl == std::string_view::npos ? rest.size() : nl + 1);
            if (auto m = (*re)->search(line)) out.emplace_back(m->group(line, 1));
        }
        return out;
    }

    std::vector<std::string> init_scripts() {
        constexpr std::string_view kNot[] = {"functions.sh",
                                             "reboot.sh",
                                             "shutdown.sh",
                                             "functions",
                                             "halt",
                                             "killall",
                                             "single",
                                             "linuxconf",
                                             "reboot",
                                             "boot",
                                             "wait-for-state",
                                             "portmap-wait",
                                             "rcS",
                                             "module-init-tools",
                                             "plymouth-ready",
                                             "idmapd-mounting",
                                             "startpar-bridge",
                                             "cryptdisks-udev",
                                             "statd-mounting",
                                             "gssd-mounting"};
        std::vector<std::string> out;
        auto names = context_.system.files.list("/etc/init.d");
        if (!names) return out;
        for (const std::string& n : *names) {
            std::string path = sys::join("/etc/init.d", n);
            if (n.starts_with('.') ||
                std::find(std::begin(kNot), std::end(kNot), n) != std::end(kNot) ||
                context_.system.files.is_directory(path) ||
                !context_.system.files.access(path, 1)) {
                continue;
            }
            out.push_back(n);
        }
        return out;
    }

    EnabledState enabled_;
    bool enabled_known_ = false;
};

}  // namespace

std::unique_ptr<Resource> make_service(Context& context, const TypeSpec& spec) {
    return std::make_unique<Service>(context, spec);
}

}  // namespace bunraku::apply
