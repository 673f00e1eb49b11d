// The type cron: entries of users' crontabs, through the program crontab.
#include <algorithm>
#include <fmt/format.h>

#include "apply/execution.h"
#include "apply/parsed_file.h"
#include "apply/registry.h"
#include "base/civil_time.h"
#include "base/text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool suitable(Context& context) { return has_command(context, "crontab"); }
constexpr ProviderClass kCrontab{.name = "crontab", .suitable = suitable, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kCrontab};

constexpr std::string_view kTimes[] = {"minute", "hour", "monthday", "month", "weekday"};
constexpr std::string_view kNameMark = "# Puppet Name: ";

bool is_time(std::string_view name) {
    return std::find(std::begin(kTimes), std::end(kTimes), name) != std::end(kTimes);
}

struct Limits {
    int low, high;
};
Limits limits_of(std::string_view name) {
    if (name == "minute") return {0, 59};
    if (name == "hour") return {0, 23};
    if (name == "weekday") return {0, 7};
    if (name == "month") return {1, 12};
    return {1, 31};
}

// "mon", "Monday" -> 1; -1: no such name.
template <std::size_t N>
int by_name(const std::string_view (&names)[N], std::string_view text, int first) {
    for (std::size_t i = 0; i < N; ++i) {
        if (base::same_ignoring_case(names[i], text) ||
            base::same_ignoring_case(names[i].substr(0, 3), text)) {
            return static_cast<int>(i) + first;
        }
    }
    return -1;
}

bool digits(std::string_view s) {
    return !s.empty() && s.size() < 9 &&
           s.find_first_not_of("0123456789") == std::string_view::npos;
}

// A single value, "*", or ranges and steps; empty where it is not valid.
std::string time_text(std::string_view attribute, const std::string& v) {
    if (v == "*" || v == "absent") return v;
    Limits l = limits_of(attribute);
    if (digits(v)) {
        int n = std::atoi(v.c_str());
        return n >= l.low && n <= l.high ? std::to_string(n) : std::string();
    }
    if (attribute == "month") {
        if (int n = by_name(base::kMonths, v, 1); n > 0) return std::to_string(n);
    }
    if (attribute == "weekday") {
        if (int n = by_name(base::kDays, v, 0); n >= 0) return std::to_string(n);
    }
    // Lists, "1-5", "*/2", "1-10/3"
    std::string_view list = v;
    while (true) {
        std::size_t comma = list.find(',');
        std::string_view range = list.substr(0, comma);
        std::size_t slash = range.find('/');
        if (slash != std::string_view::npos && !digits(range.substr(slash + 1))) return {};
        range = range.substr(0, slash);
        if (range != "*") {
            std::size_t dash = range.find('-');
            std::string_view a = range.substr(0, dash);
            std::string_view b = dash == std::string_view::npos ? a : range.substr(dash + 1);
            for (std::string_view one : {a, b}) {
                bool named = (attribute == "weekday" && by_name(base::kDays, one, 0) >= 0) ||
                             (attribute == "month" && by_name(base::kMonths, one, 1) > 0);
                if (named) continue;
                if (!digits(one)) return {};
                int n = std::atoi(std::string(one).c_str());
                if (n < l.low || n > l.high) return {};
            }
        }
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
    }
    return v;
}

class Cron final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
        if (is_time(a.name)) {
            if (time_text(a.name, text).empty()) {
                throw PuppetError(fmt::format("{} is not a valid {}", text, a.name));
            }
            return;
        }
        if (a.name == "special") {
            constexpr std::string_view kSpecials[] = {"reboot",   "yearly", "annually",
                                                      "monthly",  "weekly", "daily",
                                                      "midnight", "hourly", "absent"};
            if (std::find(std::begin(kSpecials), std::end(kSpecials), text) ==
                std::end(kSpecials)) {
                throw PuppetError(fmt::format("Invalid special schedule \"{}\"", text));
            }
            return;
        }
        if (a.name == "environment" && text != "absent") {
            std::size_t eq = text.find('=');
            if (eq == std::string::npos || eq == 0) {
                throw PuppetError(fmt::format("Invalid environment setting \"{}\"", text));
            }
            return;
        }
        Resource::validate_value(a, v);
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (is_time(a.name)) return context_.string(time_text(a.name, plain(v)));
        if (a.name == "command") {
            const std::string text = plain(v);
            return context_.string(base::trim(text, " \t\n"));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "user") {
            sys::Users& users = context_.system.users;
            auto me = users.user(users.effective_uid());
            return context_.string(me ? me->name : "root");
        }
        if (a.name == "target") return get("user");
        return ParsedResource::default_for(a);
    }

    void validate() override {
        if (is_absent(get("ensure"))) return;
        if (!get("special").is_undef() && !is_absent(should("special"))) {
            for (std::string_view time : kTimes) {
                Value v = should(time);
                if (!v.is_undef() && !is_absent(v)) {
                    throw PuppetError(
                        fmt::format("{} cannot specify both a special schedule and a value for {}",
                                    ref(), time));
                }
            }
        }
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (Value v = get("user"); !v.is_undef()) {
            out.push_back({Relation::Require, "user", plain(v)});
        }
    }

    // Times and environment hold lists.
    Value should_value(const Param& p) const override {
        if ((is_time(p.spec->name) || p.spec->name == "environment") && p.has_should) {
            if (p.should.size() == 1 && (is_absent(p.should[0]) || is_word(p.should[0], "*"))) {
                return Value::string("absent");
            }
            return Value::array(p.should);
        }
        return Resource::should_value(p);
    }

    bool insync(Param& p, const Value& is) override {
        std::string_view n = p.spec->name;
        if (n == "user" || n == "target") return true;
        if (is_time(n) || n == "environment") {
            auto list = [&](const Value& v) {
                std::vector<std::string> out;
                if (v.is_array()) {
                    for (const Value& one : v.as_array()) out.push_back(plain(one));
                } else if (!is_absent(v) && !v.is_undef() && !is_word(v, "*")) {
                    out.push_back(plain(v));
                }
                if (n == "environment") std::sort(out.begin(), out.end());
                return out;
            };
            return list(is) == list(should(p));
        }
        return Resource::insync(p, is);
    }

protected:
    std::string default_target() const override {
        sys::Users& users = context_.system.users;
        auto me = users.user(users.effective_uid());
        return me ? me->name : "root";
    }
    std::string target() const override {
        Value v = get("user");
        return v.is_undef() ? default_target() : plain(v);
    }

    std::string read_target(const std::string& user) const override {
        Execute o;
        o.fail_on_error = false;
        o.combine = false;
        Executed e = execute(context_, crontab(user, {"-l"}), o);
        return e.status == 0 ? e.output : std::string();
    }

    std::string header(const std::string& now) const override {
        return fmt::format(
            "This file was autogenerated at {} by puppet.\n"
            "While it can still be managed manually, it is definitely not recommended.\n"
            "Note particularly that the comments starting with 'Puppet Name' should\n"
            "not be deleted, as doing so could cause duplicate cron jobs.\n",
            now);
    }
    void write_target(const std::string& user, const std::string& text) override {
        Execute o;
        o.input = text;
        execute(context_, crontab(user, {"-"}), o);
    }

    void parse(std::string_view text, ParsedTarget& into) const override {
        std::string pending_name;
        std::vector<Value> environment;
        std::vector<std::string> environment_lines;
        auto drop_environment = [&] {
            for (const std::string& line : environment_lines) add_line(into, line);
            environment_lines.clear();
            environment.clear();
        };
        each_text_line(text, [&](std::string_view line) {
            std::size_t first = line.find_first_not_of(" \t");
            if (line.starts_with(kNameMark)) {
                drop_environment();
                pending_name = line.substr(kNameMark.size());
                return;
            }
            if (first == std::string_view::npos || line[first] == '#') {
                drop_environment();
                add_line(into, line);
                return;
            }
            std::size_t eq = line.find('=');
            bool is_variable =
                eq != std::string_view::npos && line[first] != '@' &&
                !std::isdigit(static_cast<unsigned char>(line[first])) && line[first] != '*' &&
                line.substr(first, eq - first).find_first_of(" \t") == std::string_view::npos;
            if (is_variable) {
                if (pending_name.empty()) {
                    add_line(into, line);
                } else {
                    environment.push_back(context_.string(line.substr(first)));
                    environment_lines.emplace_back(line);
                }
                return;
            }
            auto r = std::make_unique<Record>();
            r->entry = true;
            std::string_view rest = line.substr(first);
            auto word = [&] {
                std::size_t end = rest.find_first_of(" \t");
                std::string_view w = rest.substr(0, end);
                rest.remove_prefix(std::min(rest.find_first_not_of(" \t", w.size()), rest.size()));
                return w;
            };
            if (rest[0] == '@') {
                r->set("special", context_.string(word().substr(1)));
            } else {
                for (std::string_view time : kTimes) {
                    std::string_view w = word();
                    if (w != "*") r->set(time, split_list(w));
                }
            }
            r->set("command", context_.string(rest));
            if (pending_name.empty()) {
                // Not ours: kept word for word.
                add_line(into, line);
                return;
            }
            r->name = std::exchange(pending_name, {});
            if (!environment.empty()) {
                r->set("environment", Value::array(context_.arena.copy(environment)));
            }
            environment.clear();
            environment_lines.clear();
            into.records.push_back(std::move(r));
        });
        drop_environment();
    }

    std::string render(const Record& r) const override {
        std::string out = std::string(kNameMark) + r.name + "\n";
        if (const Value* v = r.find("environment"); v && v->is_array()) {
            for (const Value& one : v->as_array()) out += plain(one) + "\n";
        }
        std::string special = r.get("special");
        if (!special.empty() && special != "absent") {
            out += "@" + special + " ";
        } else {
            for (std::string_view time : kTimes) {
                const Value* v = r.find(time);
                std::string text;
                if (v && v->is_array()) {
                    for (const Value& one : v->as_array()) {
                        text += (text.empty() ? "" : ",") + plain(one);
                    }
                } else if (v && !is_absent(*v)) {
                    text = plain(*v);
                }
                out += (text.empty() ? "*" : text) + " ";
            }
        }
        return out + r.get("command");
    }

    void fill(Record& r) const override {
        ParsedResource::fill(r);
        std::erase_if(r.values, [](const auto& v) { return v.first == "user"; });
    }

private:
    Value split_list(std::string_view text) const {
        std::vector<Value> out;
        while (true) {
            std::size_t comma = text.find(',');
            out.push_back(context_.string(text.substr(0, comma)));
            if (comma == std::string_view::npos) break;
            text.remove_prefix(comma + 1);
        }
        return Value::array(context_.arena.copy(out));
    }

    std::vector<std::string> crontab(const std::string& user, std::vector<std::string> args) const {
        std::vector<std::string> argv{command_path(context_, "crontab")};
        if (user != default_target()) argv.insert(argv.end(), {"-u", user});
        argv.insert(argv.end(), args.begin(), args.end());
        return argv;
    }
};

}  // namespace

std::unique_ptr<Resource> make_cron(Context& context, const TypeSpec& spec) {
    return std::make_unique<Cron>(context, spec);
}

}  // namespace bunraku::apply
