// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/custom.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/sys/ruby_folders.h"
#include "language/ruby/host.h"
#include "language/ruby/process.h"

namespace bunraku::facts {

namespace {

constexpr int kMostDeaths = 50;

}  // namespace

std::vector<std::string> facterlib_directories() {
    std::vector<std::string> out;
    for (const std::string& folder : sys::ruby_plugin_folders()) out.push_back(folder + "/facter");
    const char* given = std::getenv("FACTERLIB");
    std::string_view rest = given ? given : "";
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        if (const auto dir = rest.substr(0, colon); !dir.empty()) out.emplace_back(dir);
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
    return out;
}

std::vector<std::string> custom_fact_folders(Context& context, const Options& options) {
    std::vector<std::string> out;
    for (const std::string& folder : options.custom_directories) {
        if (std::ranges::find(out, folder) != out.end()) continue;
        const auto names = context.list(folder);
        const bool any = std::ranges::any_of(
            names, [](const std::string& name) { return name.ends_with(".rb"); });
        // Ruby's load path may contain Facter's own library folder, which contains no custom facts.
        if (any && std::ranges::find(names, "framework") == names.end()) out.push_back(folder);
    }
    return out;
}

class CustomFacts::Callbacks final : public ruby::Callbacks {
public:
    explicit Callbacks(CustomFacts& facts) : facts_(facts) {}
    Value call_function(std::string_view name, std::span<const Value>, std::uint64_t) override {
        throw base::PuppetError(fmt::format("Unknown function: '{}'.", name), "UNKNOWN_FUNCTION");
    }
    Value yield(std::uint64_t, std::span<const Value>) override { return {}; }
    std::optional<Value> variable(std::string_view) override { return std::nullopt; }
    void set_variable(std::string_view, const Value&) override {}
    void log(base::Level level, std::string_view message) override {
        log_record(facts_.options_.log, level, "Facter", std::string(message));
    }
    void log_from(base::Level level, std::string_view message, std::string_view source) override {
        // After a restart the files are loaded again. Do not log the same messages twice.
        if (level >= base::Level::Warning &&
            !facts_.reported_.insert(std::string(message)).second && facts_.deaths_ > 0)
            return;
        log_record(facts_.options_.log, level, source.empty() ? "Facter" : source,
                   std::string(message));
    }
    Value request(std::string_view what, std::span<const Value> args, base::Arena& arena) override {
        const auto text = [&](std::size_t i) {
            return i < args.size() && args[i].is_string() ? args[i].as_string()
                                                          : std::string_view();
        };
        if (what == "fact") return facts_.ask_(text(0));
        if (what == "facts") return facts_.ask_("");
        if (what == "time_limit") running = text(0);
        if (what == "time_over") facts_.skipped_.emplace(text(0));
        if (what == "setting" && facts_.options_.setting) {
            if (auto found = facts_.options_.setting(text(0)))
                return value::make_string(arena, *found);
        }
        return {};
    }
    /// The name of the fact that the Ruby code is resolving, as that code reports it.
    std::string running;

private:
    CustomFacts& facts_;
};

struct CustomFacts::Host {
    explicit Host(ruby::HostOptions options) : pool(std::move(options)) {}
    ruby::Pool pool;
    ruby::Pool::Lease lease;
};

CustomFacts::CustomFacts(Context& context, const Options& options, std::vector<std::string> folders,
                         std::span<const ExternalFact> external, Ask ask)
    : context_(context),
      options_(options),
      folders_(std::move(folders)),
      external_(external),
      ask_(std::move(ask)) {}
CustomFacts::~CustomFacts() = default;

Value CustomFacts::load_options() {
    const auto texts = [&](const auto& all) {
        std::vector<Value> out;
        for (const auto& text : all) out.push_back(context_.text(text));
        return value::make_array(context_.arena, out);
    };
    std::vector<Value> external;
    for (const ExternalFact& fact : external_)
        external.push_back(value::make_array(
            context_.arena, {context_.text(fact.name), fact.value,
                             fact.file.empty() ? Value::undef() : context_.text(fact.file),
                             Value::integer(fact.weight)}));
    return Fields(context_)
        .add("directories", texts(folders_))
        .add("external", value::make_array(context_.arena, external))
        .add("skip", texts(skipped_))
        .add("limit", options_.time_limit ==
                              static_cast<double>(static_cast<std::int64_t>(options_.time_limit))
                          ? Value::integer(static_cast<std::int64_t>(options_.time_limit))
                          : Value::floating(options_.time_limit))
        .add("debug", Value::boolean(options_.debug))
        .add("trace", Value::boolean(options_.trace))
        .build();
}

std::optional<Value> CustomFacts::call(std::string_view verb, std::span<const Value> args,
                                       std::string_view what) {
    while (deaths_ < kMostDeaths) {
        Callbacks callbacks(*this);
        try {
            if (!host_) {
                ruby::HostOptions host = ruby::usual_options();
                host.program = options_.ruby_program;
                host.setting = options_.setting;
                if (options_.setting) ruby::keep_below(host, options_.setting("ruby_cachedir"));
                host.load_path = options_.library_directories;
                for (const auto& directory : folders_) {
                    // lib/facter/x.rb may require files below lib.
                    if (directory.ends_with("/facter"))
                        host.load_path.push_back(directory.substr(0, directory.size() - 7));
                }
                host.timeout = std::chrono::milliseconds(
                    static_cast<std::int64_t>((options_.time_limit + 10) * 1000));
                host_ = std::make_unique<Host>(std::move(host));
                host_->lease = host_->pool.take();
                BUNRAKU_ASSERT(!loaded_);
            }
            if (!loaded_) {
                // Skip the facts that exceeded their time limit.
                const Value options = load_options();
                const Value names =
                    host_->lease->facts("load", {&options, 1}, callbacks, context_.arena);
                loaded_ = true;
                if (verb == "load") return names;
            }
            return host_->lease->facts(verb, args, callbacks, context_.arena);
        } catch (const base::PuppetError& error) {
            loaded_ = false;
            ++deaths_;
            BUNRAKU_ASSERT(deaths_ <= kMostDeaths);
            const bool expired = error.message().find("execution expired") != std::string::npos;
            const std::string at =
                callbacks.running.empty() ? std::string(what) : callbacks.running;
            log_record(
                options_.log, base::Level::Err, "Facter",
                expired
                    ? fmt::format("Timed out while resolving {}: its Ruby process was killed", at)
                    : fmt::format("Error while resolving custom fact {}: {}", at, error.message()));
            // Without a new fact to skip, another attempt would end in the same way.
            if (callbacks.running.empty() || !skipped_.insert(callbacks.running).second)
                return std::nullopt;
        }
    }
    return std::nullopt;
}

std::vector<std::string> CustomFacts::load() {
    if (ruby::find_ruby(options_.ruby_program).empty()) {
        if (options_.log)
            log_record(options_.log, base::Level::Warning, "Facter",
                       fmt::format("Skipping custom facts: could not find the program '{}'",
                                   options_.ruby_program));
        return {};
    }
    std::vector<std::string> names;
    const auto found = call("load", {}, "custom facts");
    if (found && found->is_array())
        for (const Value& name : found->as_array()) names.push_back(value::to_text(name));
    return names;
}

Value CustomFacts::value(const std::string& name) {
    const Value query = context_.text(name);
    return call("value", {&query, 1}, fmt::format("fact='{}'", name)).value_or(Value::undef());
}

}  // namespace bunraku::facts
