// SPDX-License-Identifier: Apache-2.0
// The type cron: entries of users' crontabs, managed with the program crontab (cron_core 1.1.0).
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/wording.h"
#include "resources/apply/execution.h"
#include "resources/apply/parsed_file.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool suitable(Context& context) { return has_command(context, "crontab"); }
constexpr ProviderClass kCrontab{.name = "crontab", .suitable = suitable, .prefetches = true};
constexpr const ProviderClass* kProviders[] = {&kCrontab};

constexpr std::string_view kTimes[] = {"minute", "hour", "monthday", "month", "weekday"};

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
    BUNRAKU_ASSERT(name == "monthday");
    return {1, 31};
}

// Returns the position of a name ("mon" or "Monday" gives 1), or -1 if it is unknown.
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
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}

// Normalizes a number, a name, a step or a range. Returns an empty string if it is invalid.
std::string time_text(std::string_view attribute, const std::string& v) {
    BUNRAKU_ASSERT(is_time(attribute));
    if (v == "*" || v == "absent") return "absent";
    if (line_match("^\\*/[0-9]+$", v) || line_match("^[0-9]+-[0-9]+(/[0-9]+)?$", v)) return v;
    if (digits(v)) {
        const Limits l = limits_of(attribute);
        if (v.size() > 9) return {};
        int n = std::atoi(v.c_str());
        return n >= l.low && n <= l.high ? v : std::string();
    }
    if (attribute == "month") {
        if (int n = by_name(base::kMonths, v, 1); n > 0) return std::to_string(n);
    }
    if (attribute == "weekday") {
        if (int n = by_name(base::kDays, v, 0); n >= 0) return std::to_string(n);
    }
    return {};
}

class Cron final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override { return kProviders; }

    void validate_value(const Attribute& a, const Value& v) override {
        std::string text = plain(v);
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
            if (!line_match("^\\s*(\\w+)\\s*=\\s*(.*)\\s*$", text)) {
                throw PuppetError(fmt::format("Invalid environment setting \"{}\"", text));
            }
            return;
        }
        Resource::validate_value(a, v);
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (is_time(a.name)) {
            std::string text = time_text(a.name, plain(v));
            if (text.empty()) {
                munging_failed(a, v, fmt::format("{} is not a valid {}", plain(v), a.name));
            }
            return context_.string(text);
        }
        if (a.name == "command") {
            const std::string text = plain(v);
            return context_.string(base::trim(text, " \t\n\v\f\r"));
        }
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "target") {
            const Value user = should("user");
            return user.is_undef() ? context_.string(default_target()) : user;
        }
        return ParsedResource::default_for(a);
    }

    void validate() override {
        const Value special = get("special");
        if (special.is_undef() || is_absent(special)) return;
        for (std::string_view time : {"minute", "hour", "weekday", "month", "monthday"}) {
            Value v = get(time);
            if (!v.is_undef() && !is_absent(v)) {
                throw PuppetError(fmt::format(
                    "{} cannot specify both a special schedule and a value for {}", ref(), time));
            }
        }
    }

    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        if (Value v = get("user"); !v.is_undef()) {
            out.push_back({Relation::Require, "user", plain(v)});
        }
    }

    // Times and environment are lists.
    Value should_value(const Param& p) const override {
        if (p.has_should && is_time(p.spec->name)) {
            if (!p.should.empty() && is_absent(p.should[0])) return Value::string("absent");
            return Value::array(p.should);
        }
        if (p.has_should && p.spec->name == "environment") return Value::array(p.should);
        return Resource::should_value(p);
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "user") {
            const Value user = hash_->value("user");
            if (!user.is_undef()) return user;
            return hash_->value("target");
        }
        return ParsedResource::retrieve_property(p);
    }

    bool insync(Param& p, const Value& is) override {
        std::string_view n = p.spec->name;
        if (is_time(n)) return display(is) == display(should(p));
        if (n == "environment") {
            if (!is.is_array()) {
                return p.should.size() == 1 && is_absent(p.should[0]) && is_absent(is);
            }
            std::vector<std::string> a, b;
            for (const Value& v : is.as_array()) a.push_back(plain(v));
            for (const Value& v : p.should) b.push_back(plain(v));
            std::sort(a.begin(), a.end());
            std::sort(b.begin(), b.end());
            return a == b;
        }
        return Resource::insync(p, is);
    }

    std::string should_text(const Param& p, const Value& should) const override {
        if (p.spec->name != "environment" || !should.is_array()) return display(should);
        std::string out;
        for (const Value& v : should.as_array()) out += (out.empty() ? "" : ",") + plain(v);
        return out;
    }

    void sync(Param& p) override {
        ParsedResource::sync(p);
        if (p.spec->name == "user") hash_->set("target", should(p));
    }

protected:
    std::string default_target() const override {
        sys::Users& users = context_.system.users;
        auto me = users.user(users.effective_uid());
        return me ? me->name : "root";
    }
    bool has_field(std::string_view f) const override { return f == "command" || f == "time"; }
    bool backs_up() const override { return false; }
    bool keeps_read_errors() const override { return true; }

    void create() override {
        if (should("command").is_undef()) {
            err("no command specified, cannot create");
            return;
        }
        ParsedResource::create();
    }

    std::string read_target(const std::string& user) const override {
        if (!context_.system.users.user(user)) {
            debug(
                fmt::format("The {} user does not exist. Treating their crontab file as empty in "
                            "case Puppet creates them in the middle of the run.",
                            user));
            return {};
        }
        Execute o;
        o.fail_on_error = false;
        Executed e = execute(context_, crontab(user, {"-l"}), o);
        if (e.status == 0) return e.output;
        if (e.output.find("no crontab for") != std::string::npos ||
            e.output.find("are not allowed to") != std::string::npos) {
            return {};
        }
        state().unreadable[user] = fmt::format(
            "Could not read crontab for {}: Execution of '{}' "
            "returned {}: {}",
            user, fmt::join(crontab(user, {"-l"}), " "), e.status_text(), base::trim(e.output));
        return {};
    }

    void write_target(const std::string& user, const std::string& text) override {
        if (!context_.system.users.user(user)) {
            throw base::plain_error(
                fmt::format("Cannot write the {} user's crontab: The user does not exist", user));
        }
        Execute o;
        o.input = text;
        o.fail_on_error = false;
        execute(context_, crontab(user, {"-"}), o);
    }

    std::string header() const override {
        return fmt::format(
            "# HEADER: This file was autogenerated at {} by puppet.\n"
            "# HEADER: While it can still be managed manually, it is definitely not recommended.\n"
            "# HEADER: Note particularly that the comments starting with 'Puppet Name' should\n"
            "# HEADER: not be deleted, as doing so could cause duplicate cron jobs.\n",
            sys::local_text(context_.system.clock.now_ns()));
    }

    std::string to_file(std::string text) const override {
        // Vixie cron writes this header itself, so it is removed. The TZ line must be the first
        // line.
        auto native = regex::Regex::cached("# DO NOT EDIT THIS FILE.*?Cron version.*?vixie.*?\\n",
                                           regex::kMultiline);
        if (native) {
            if (auto m = (*native)->search(text)) {
                text.erase(m->groups[0]->first, m->groups[0]->second - m->groups[0]->first);
            }
        }
        text = header() + text;
        if (auto zone = line_match("(^TZ=.+\\n)", text)) {
            const std::string line(zone->group(text, 1));
            text.erase(zone->groups[1]->first, line.size());
            text = line + text;
        }
        return text;
    }

    RecordPtr parse_line(const std::string& line) const override {
        if (line_match("^\\s*#", line)) {
            RecordPtr r = text_record(line, "comment");
            if (auto m = line_match("Puppet Name: (.+)\\s*$", line)) {
                r->set("name", context_.string(m->group(line, 1)));
            }
            return r;
        }
        if (line_match("^\\s*$", line)) return text_record(line);
        if (line_match("^\\s*\\w+\\s*=", line)) return text_record(line, "environment");
        auto m = line_match("^\\s*(@\\w+|\\S+\\s+\\S+\\s+\\S+\\s+\\S+\\s+\\S+)\\s+(.+)$", line);
        if (!m) return nullptr;
        RecordPtr r = entry_record();
        r->set("command", context_.string(m->group(line, 2)));
        const std::string time(m->group(line, 1));
        const Value absent = Value::string("absent");
        if (time.starts_with('@')) {
            for (std::string_view t : kTimes) r->set(t, absent);
            r->set("special", context_.string(std::string_view(time).substr(1)));
            return r;
        }
        r->set("special", absent);
        const auto words = base::words(time);
        for (std::size_t i = 0; i < words.size() && i < std::size(kTimes); ++i) {
            r->set(kTimes[i], words[i] == "*" ? absent : split_list(words[i]));
        }
        return r;
    }

    void after_reading(std::vector<RecordPtr>& records) const override {
        std::optional<std::string> name;
        std::optional<std::vector<Value>> environment;
        std::vector<RecordPtr> out;
        int index = 0;
        for (RecordPtr& r : records) {
            if (r->kind == "comment" && r->find("name")) {
                name = r->get("name");
                environment.emplace();
                continue;
            }
            if (r->kind == "environment" && environment) {
                environment->push_back(context_.string(r->text));
                continue;
            }
            if (r->entry) {
                if (name) {
                    r->set("name", context_.string(*name));
                    name.reset();
                } else {
                    std::string command;
                    const auto command_text = r->get("command");
                    for (std::string_view w : base::words(command_text)) {
                        command += (command.empty() ? "" : "_") + std::string(w);
                    }
                    r->set("name",
                           context_.string(fmt::format("unmanaged:{}-{}", command, ++index)));
                    r->unnamed = true;
                }
                if (!environment || environment->empty()) {
                    r->set("environment", Value::string("absent"));
                } else {
                    r->set("environment", Value::array(context_.arena.copy(*environment)));
                    environment.reset();
                }
            }
            out.push_back(std::move(r));
        }
        BUNRAKU_ASSERT(out.size() <= records.size());
        records = std::move(out);
    }

    bool takes(const Record& r) const override {
        Value mine = get("target");
        if (mine.is_undef()) mine = get("user");
        return plain(mine) == r.get("target");
    }

    // An entry without a name belongs to the first resource with the same values.
    ParsedResource* match(Record& r, const std::vector<ParsedResource*>& all) const override {
        if (r.find("name") && !r.unnamed) return nullptr;
        for (ParsedResource* p : all) {
            auto* cron = static_cast<Cron*>(p);
            if (plain(cron->get("target")) != r.get("target")) continue;
            if (plain(cron->value_of("command")) != r.get("command")) continue;
            bool same_times = true;
            for (std::string_view field :
                 {"minute", "hour", "monthday", "month", "weekday", "special"}) {
                if (cron->get(field).is_undef()) continue;
                if (display(cron->value_of(field)) != display(r.value(field))) same_times = false;
            }
            if (same_times) return p;
        }
        return nullptr;
    }

    std::string render(const Record& r) const override {
        std::string out;
        if (!r.unnamed) out += "# Puppet Name: " + r.get("name") + "\n";
        if (const Value v = r.value("environment"); v.is_array()) {
            for (const Value& one : v.as_array()) out += plain(one) + "\n";
        }
        if (!r.is_absent("special")) {
            out += "@" + r.get("special") + " ";
        } else {
            for (std::string_view time : kTimes) {
                std::string text;
                if (const Value v = r.value(time); v.is_array()) {
                    for (const Value& one : v.as_array()) {
                        text += (text.empty() ? "" : ",") + plain(one);
                    }
                } else if (!r.is_absent(time)) {
                    text = r.get(time);
                }
                out += (text.empty() ? "*" : text) + " ";
            }
        }
        return out + (r.is_absent("command") ? "*" : r.get("command"));
    }

private:
    // Puppet::Type#value: returns the desired value of a property.
    Value value_of(std::string_view name) const { return get(name); }

    Value split_list(std::string_view text) const {
        std::vector<Value> out;
        for (std::string_view one : base::split(text, ',')) out.push_back(context_.string(one));
        return Value::array(context_.arena.copy(out));
    }

    std::vector<std::string> crontab(const std::string& user, std::vector<std::string> args) const {
        std::vector<std::string> argv{"crontab"};
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
