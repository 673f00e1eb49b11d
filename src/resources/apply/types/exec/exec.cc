// SPDX-License-Identifier: Apache-2.0
// The type exec with the providers posix and shell.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/redacted.h"
#include "core/codec/json_text.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool always(Context&) { return true; }

constexpr ProviderClass kPosix{
    .name = "posix", .suitable = always, .features = "umask", .depth = 2};
constexpr ProviderClass kShell{.name = "shell", .suitable = always, .features = "umask"};
constexpr const ProviderClass* kProviders[] = {&kPosix, &kShell};

constexpr std::string_view kChecks[] = {"refreshonly", "creates", "unless", "onlyif"};

std::vector<Value> list(const Value& v) {
    if (v.is_undef()) return {};
    if (v.is_array()) return {v.as_array().begin(), v.as_array().end()};
    return {v};
}

// Formats a command as Ruby's to_s and inspect do.
std::string shown(const Value& v) {
    if (!v.is_array()) return plain(v);
    std::string out = "[";
    for (const Value& item : v.as_array()) {
        if (out.size() > 1) out += ", ";
        out += item.is_string() ? "\"" + plain(item) + "\"" : shown(item);
    }
    return out + "]";
}

std::vector<std::string> flat(const Value& v) {
    std::vector<std::string> out;
    for (const Value& item : list(v)) {
        if (item.is_array()) {
            for (std::string& s : flat(item)) out.push_back(std::move(s));
        } else {
            out.push_back(plain(item));
        }
    }
    return out;
}

// Returns the program of a command line: a quoted first word, or the text before the first space.
std::string program_of(const Value& command) {
    if (command.is_array()) {
        return command.as_array().empty() ? std::string() : plain(command.as_array()[0]);
    }
    std::string text = plain(command);
    for (char quote : {'"', '\''}) {
        for (std::size_t at = 0; at != std::string::npos;) {
            if (at < text.size() && text[at] == quote) {
                std::size_t end = text.find(quote, at + 1);
                if (end != std::string::npos && end > at + 1) {
                    return text.substr(at + 1, end - at - 1);
                }
            }
            at = text.find('\n', at);
            if (at != std::string::npos) ++at;
        }
    }
    return text.substr(0, text.find(' '));
}

bool absolute(std::string_view path) { return path.starts_with('/'); }

// Collects every "/path" at the start of a line.
void leading_paths(std::string_view text, std::vector<std::string>& out) {
    while (!text.empty()) {
        if (text[0] == '/') {
            std::string_view word = text.substr(0, text.find_first_of(" \t\r\n\f\v"));
            if (word.size() > 1) out.emplace_back(word);
        }
        std::size_t nl = text.find('\n');
        if (nl == std::string_view::npos) break;
        text.remove_prefix(nl + 1);
    }
}

void leading_quoted(std::string_view text, std::vector<std::string>& out) {
    while (!text.empty()) {
        if (text[0] == '"') {
            std::size_t end = text.find('"', 1);
            if (end != std::string_view::npos && end > 1) out.emplace_back(text.substr(1, end - 1));
        }
        std::size_t nl = text.find('\n');
        if (nl == std::string_view::npos) break;
        text.remove_prefix(nl + 1);
    }
}

// Splits output into lines. Throws Puppet's error if it is not UTF-8, because Ruby cannot split
// such text.
std::vector<std::string> lines_of(const std::string& text) {
    if (!codec::is_utf8(text)) throw base::plain_error("invalid byte sequence in UTF-8");
    std::vector<std::string> out;
    std::size_t at = 0;
    while (at <= text.size()) {
        std::size_t end = text.find('\n', at);
        out.push_back(text.substr(at, end == std::string::npos ? end : end - at));
        if (end == std::string::npos) break;
        at = end + 1;
    }
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
}

/// Returns a finite number, or nullopt.
std::optional<double> number_of(const Value& v) {
    std::string text = plain(v);
    char* end = nullptr;
    const double d = v.is_numeric() ? v.as_number() : std::strtod(text.c_str(), &end);
    if (text.empty() || (end && *end != '\0') || !std::isfinite(d)) return std::nullopt;
    return d;
}

class Exec final : public Resource {
public:
    using Resource::Resource;

    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }
    std::string_view foreign_providers() const override { return "windows"; }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "user") {
            sys::Users& users = context_.system.users;
            auto me = users.user(users.effective_uid());
            if (!users.is_root() && (!me || me->name != plain(v))) {
                throw PuppetError("Only root can execute commands as other users");
            }
        } else if (a.name == "command") {
            if (!v.is_string() && !v.is_array()) {
                throw PuppetError(
                    fmt::format("Command must be a String or Array<String>, got value of class {}",
                                v.is_integer() ? "Integer"
                                : v.is_hash()  ? "Hash"
                                               : "Object"));
            }
        } else if (a.name == "refresh") {
            validate_command(v);
        } else if (a.name == "unless" || a.name == "onlyif") {
            for (const Value& command : list(v)) validate_command(command);
        } else if (a.name == "environment") {
            for (const Value& one : list(v)) {
                std::string text = plain(one);
                std::size_t eq = text.find('=');
                while (eq != std::string::npos &&
                       (eq == 0 || !(std::isalnum(static_cast<unsigned char>(text[eq - 1])) ||
                                     text[eq - 1] == '_'))) {
                    eq = text.find('=', eq + 1);
                }
                if (eq == std::string::npos) {
                    throw PuppetError(fmt::format("Invalid environment setting '{}'", text));
                }
            }
        } else if (a.name == "cwd" || a.name == "creates") {
            if (v.is_array() && a.name == "cwd") {
                throw PuppetError(
                    fmt::format("{} only accepts a single path, not an array of paths", a.name));
            }
            for (const Value& one : list(v)) {
                if (!absolute(plain(one))) {
                    throw PuppetError(fmt::format("{} must be a fully qualified path", a.name));
                }
            }
        } else {
            Resource::validate_value(a, v);
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "returns") return context_.string(plain(v));
        if (a.name == "path") {
            std::vector<Value> parts;
            for (const std::string& one : flat(v)) {
                std::string_view rest = one;
                while (true) {
                    std::size_t colon = rest.find(':');
                    parts.push_back(context_.string(rest.substr(0, colon)));
                    if (colon == std::string_view::npos) break;
                    rest.remove_prefix(colon + 1);
                }
            }
            return Value::array(context_.arena.copy(parts));
        }
        if (a.name == "timeout") {
            Value one = v.is_array() && !v.as_array().empty() ? v.as_array()[0] : v;
            const auto n = number_of(one);
            // Puppet has already removed the first element from the list.
            const Value rest =
                v.is_array() ? Value::array(v.as_array().subspan(v.as_array().empty() ? 0 : 1)) : v;
            if (!n) munging_failed(a, rest, "The timeout must be a number.");
            return Value::floating(std::max(0.0, *n));
        }
        if (a.name == "tries") {
            // A string must consist of digits. A number beyond the range is limited to kMost.
            const bool digits = !v.is_string() || v.as_string().find_first_not_of("0123456789") ==
                                                      std::string_view::npos;
            const auto n = digits ? number_of(v) : std::nullopt;
            if (!n) munging_failed(a, v, "Tries must be an integer");
            if (*n < 1) munging_failed(a, v, "Tries must be an integer >= 1");
            constexpr double kMost = 1e18;
            return Value::integer(static_cast<std::int64_t>(std::min(*n, kMost)));
        }
        if (a.name == "try_sleep") {
            const auto n = number_of(v);
            if (!n) munging_failed(a, v, "try_sleep must be a number");
            if (*n < 0) munging_failed(a, v, "try_sleep cannot be a negative number");
            return Value::floating(*n);
        }
        if (a.name == "umask") {
            std::string text = plain(v);
            if (text.empty() || text.size() > 5 ||
                text.find_first_not_of("01234567") != std::string::npos) {
                throw PuppetError(fmt::format("The umask specification is invalid: \"{}\"", text));
            }
            return Value::integer(std::strtol(text.c_str(), nullptr, 8));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "returns") return Value::string("0");
        if (a.name == "logoutput") return Value::string("on_failure");
        if (a.name == "timeout") return Value::integer(300);
        if (a.name == "tries") return Value::integer(1);
        if (a.name == "try_sleep") return Value::integer(0);
        return Value::undef();
    }

    bool can_list() const override { return true; }  // returns an empty list, as in Puppet
    void validate() override { validate_command(get("command")); }

    void set_sensitive(std::vector<std::string> names) override {
        auto ours = [](const std::string& n) {
            return n == "command" || n == "unless" || n == "onlyif";
        };
        if (std::any_of(names.begin(), names.end(), ours)) {
            std::erase_if(names, ours);
            for (std::string_view n : {"command", "unless", "onlyif"}) {
                if (Param* p = find(n)) p->sensitive = true;
            }
        }
        Resource::set_sensitive(std::move(names));
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        std::vector<std::string> files;
        if (Value cwd = get("cwd"); !cwd.is_undef()) files.push_back(plain(cwd));
        const Param* command = find("command");
        if (command && !command->deferred) {
            Value first = command->value;
            if (first.is_array() && !first.as_array().empty()) first = first.as_array()[0];
            std::string text = plain(first);
            leading_paths(text, files);
            leading_quoted(text, files);
        }
        for (std::string_view name : {"onlyif", "unless"}) {
            const Param* p = find(name);
            if (!p || p->deferred) continue;
            for (Value line : list(p->value)) {
                if (line.is_array() && !line.as_array().empty()) line = line.as_array()[0];
                leading_paths(plain(line), files);
            }
        }
        for (std::string& f : files) out.push_back({Relation::Require, "file", std::move(f)});
        std::string user = text("user");
        if (!user.empty() && user.find_first_not_of("0123456789") != std::string::npos) {
            out.push_back({Relation::Require, "user", user});
        }
    }

    bool needs_ensure_retrieved() const override { return false; }
    Value retrieve_property(const Param& p) override {
        return check_all(false) ? Value::string("notrun") : should(p);
    }
    std::string event_name(const Param&) const override { return "executed_command"; }
    std::string change_text(const Param&, const Value&, const Value&) const override {
        return "executed successfully";
    }

    void sync(Param& p) override { run_main(p); }

    bool refreshable() const override { return true; }
    void refresh() override {
        if (!check_all(true)) return;
        Value command = get("refresh");
        if (!command.is_undef()) {
            run(command, false);
        } else if (Param* p = find("returns")) {
            run_main(*p);
        }
    }

private:
    bool sensitive() const {
        const Param* p = find("command");
        return p && p->sensitive;
    }

    void validate_command(const Value& command) const {
        if (provider_name() == "shell") return;
        std::string program = program_of(command);
        if (!absolute(program) && get("path").is_undef()) {
            throw PuppetError(
                fmt::format("'{}' is not qualified and no path was specified. Please qualify the "
                            "command or specify a path.",
                            program));
        }
    }

    std::string search_path() const { return fmt::format("{}", fmt::join(flat(get("path")), ":")); }

    void check_program(const Value& command) {
        std::string program = program_of(command);
        sys::FileSystem& files = context_.system.files;
        if (absolute(program) && sys::expand_path(program) == program) {
            const auto found = unwrap(files.look(program, true));
            if (!found) {
                throw PuppetError(fmt::format("Could not find command '{}'", program));
            }
            if (found->kind != sys::FileKind::File) {
                throw PuppetError(fmt::format("'{}' is a {}, not a file", program,
                                              sys::file_kind_name(found->kind)));
            }
            if (!files.access(program, 1)) {
                throw PuppetError(fmt::format("'{}' is not executable", program));
            }
            return;
        }
        if (!get("path").is_undef() && context_.system.processes.which(program, search_path())) {
            return;
        }
        throw PuppetError(fmt::format("Could not find command '{}'", program));
    }

    std::vector<std::pair<std::string, std::optional<std::string>>> environment() {
        std::vector<std::pair<std::string, std::optional<std::string>>> out;
        if (!get("path").is_undef()) out.emplace_back("PATH", search_path());
        for (const Value& one : list(get("environment"))) {
            std::string text = plain(one);
            std::size_t eq = text.find('=');
            bool word =
                eq != std::string::npos && eq > 0 &&
                std::all_of(
                    text.begin(), text.begin() + static_cast<std::ptrdiff_t>(eq),
                    [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
            if (!word) {
                provider_log(Level::Warning,
                             fmt::format("Cannot understand environment setting \"{}\"", text));
                continue;
            }
            std::string name = text.substr(0, eq);
            std::string v = text.substr(eq + 1);
            auto known = std::find_if(out.begin(), out.end(),
                                      [&](const auto& e) { return e.first == name; });
            if (known != out.end()) {
                provider_log(Level::Warning,
                             fmt::format("Overriding environment setting '{}' with '{}'", name, v));
            }
            if (v.empty()) warn_of_empty_setting(*this, name);
            if (known != out.end()) {
                known->second = v;
            } else {
                out.emplace_back(name, v);
            }
        }
        return out;
    }

    Executed run(const Value& given, bool check) {
        Value command = given;
        if (provider_name() == "shell") {
            const Value parts[] = {Value::string("/bin/sh"), Value::string("-c"),
                                   command.is_array() ? context_.string(plain(command)) : command};
            command = Value::array(context_.arena.copy(std::span<const Value>(parts)));
        }
        check_program(command);
        if (debugging()) {
            provider_debug(fmt::format("Executing{} '{}'", check ? " check" : "",
                                       base::redacted_if(sensitive(), shown(command))));
        }
        Execute o;
        o.fail_on_error = false;
        o.override_locale = false;
        o.interruptible = true;
        o.query = check;
        o.sensitive = sensitive();
        o.cwd = text("cwd");
        if (Value v = get("user"); !v.is_undef()) o.user = plain(v);
        if (Value v = get("group"); !v.is_undef()) o.group = plain(v);
        if (Value v = get("umask"); v.is_integer()) {
            o.umask = static_cast<std::uint32_t>(v.as_integer());
        }
        if (Value v = get("timeout"); v.is_numeric()) o.timeout_seconds = v.as_number();
        o.environment = environment();
        Executed done = command.is_array() ? execute(context_, flat(command), o)
                                           : execute_line(context_, plain(command), o);
        if (done.timed_out) return done;
        if (done.status == 127) throw PuppetError(done.output);
        return done;
    }

    void run_main(Param& p) {
        Value command = get("command");
        std::int64_t tries = get("tries").is_integer() ? get("tries").as_integer() : 1;
        double seconds = get("try_sleep").is_numeric() ? get("try_sleep").as_number() : 0;
        auto expected = flat(should(p));
        auto good = [&](const Executed& e) {
            return std::find(expected.begin(), expected.end(), e.status_text()) != expected.end();
        };
        Executed done;
        for (std::int64_t i = 1; i <= tries; ++i) {
            if (tries > 1) log(Level::Debug, fmt::format("Exec try {}/{}", i, tries), &p);
            done = run(command, false);
            if (done.timed_out) throw PuppetError("Command exceeded timeout");
            if (good(done)) break;
            if (seconds > 0 && tries > 1) {
                log(Level::Debug,
                    fmt::format("Sleeping for {} seconds between tries",
                                value::to_text(get("try_sleep"))),
                    &p);
                apply::pause(context_, static_cast<std::int64_t>(std::min(seconds, 1e9) * 1e9));
            }
        }
        std::string logging = text("logoutput");
        if (logging == "true" || (logging == "on_failure" && !good(done))) {
            if (sensitive()) {
                log(loglevel(), base::redacted("output"), &p);
            } else {
                for (std::string& one : lines_of(done.output)) log(loglevel(), std::move(one), &p);
            }
        }
        if (!good(done)) {
            std::string list = fmt::format("{}", fmt::join(expected, ","));
            const std::string what =
                base::redacted_if(sensitive(), fmt::format("'{}'", shown(command)), "command");
            throw PuppetError(fmt::format("{} returned {} instead of one of [{}]", what,
                                          done.status_text(), list));
        }
    }

    bool check_one(const Param& p, const Value& v) {
        std::string_view name = p.spec->name;
        if (name == "refreshonly") return !is_word(v, "true");
        if (name == "creates") {
            log(Level::Debug, fmt::format("Checking that 'creates' path '{}' exists", plain(v)),
                &p);
            return !unwrap(context_.system.files.there(plain(v)));
        }
        Executed done = run(v, true);
        if (done.timed_out) {
            log(Level::Err,
                fmt::format("Check {} exceeded timeout",
                            v.is_array() ? shown(v) : "\"" + plain(v) + "\""),
                &p);
            return false;
        }
        if (p.sensitive) {
            if (debugging()) log(Level::Debug, base::redacted("output"), &p);
        } else {
            for (std::string& one : lines_of(done.output)) {
                if (debugging()) log(Level::Debug, std::move(one), &p);
            }
        }
        return (done.status == 0) == (name == "onlyif");
    }

    bool check_all(bool refreshing) {
        for (std::string_view name : kChecks) {
            if (refreshing && name == "refreshonly") continue;
            const Param* p = find(name);
            if (!p) continue;
            for (const Value& v : list(p->value)) {
                if (check_one(*p, v)) continue;
                if (debugging()) {
                    debug(fmt::format(
                        "'{}' won't be executed because of failed check '{}'",
                        base::redacted_if(sensitive(), shown(get("command")), "command"), name));
                }
                return false;
            }
        }
        return true;
    }
};

}  // namespace

std::unique_ptr<Resource> make_exec(Context& context, const TypeSpec& spec) {
    return std::make_unique<Exec>(context, spec);
}

}  // namespace bunraku::apply
