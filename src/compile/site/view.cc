// SPDX-License-Identifier: Apache-2.0
#include "compile/site/view.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/sys/ruby_folders.h"
#include "core/value/build.h"
#include "language/environment/conf.h"

namespace bunraku::site {

using value::Value;

void Overlay::set(std::string name, std::string value) {
    for (auto& [known, text] : entries_) {
        if (known != name) continue;
        text = std::move(value);
        return;
    }
    const auto at = std::ranges::lower_bound(entries_, name, {},
                                             [](const auto& e) -> auto& { return e.first; });
    entries_.emplace(at, std::move(name), std::move(value));
}

const std::string* Overlay::find(std::string_view name) const {
    for (const auto& [known, text] : entries_) {
        if (known == name) return &text;
    }
    return nullptr;
}

View::View(const config::Settings& settings, const Overlay& overlay,
           const StoreAccess::Embedded& store, std::string user_agent)
    : settings_(settings), store_(store), user_agent_(std::move(user_agent)) {
    for (const auto& [name, text] : overlay.entries()) settings_.set(name, text);
}

Value View::shown(bool own) const {
    Shown& shown = own ? own_ : as_root_;
    std::call_once(shown.made, [&] {
        shown.arena = std::make_unique<base::Arena>(32 * 1024);
        shown.values = settings_as_value(*shown.arena, own ? settings_ : settings_.as_root());
    });
    return shown.values;
}

View::Connection::Connection(std::shared_ptr<const View> view, base::LogSink& log)
    : view_(std::move(view)) {
    {
        const std::lock_guard lock(view_->mutex_);
        if (!view_->idle_.empty()) {
            access_ = std::move(view_->idle_.back());
            view_->idle_.pop_back();
        }
    }
    if (!access_)
        access_ =
            std::make_unique<StoreAccess>(view_->settings_, view_->store_, view_->user_agent_);
    access_->log_to(&log);
}

View::Connection::~Connection() {
    access_->log_to(nullptr);
    const std::lock_guard lock(view_->mutex_);
    view_->idle_.push_back(std::move(access_));
}

std::string environment_missing(const config::Settings& settings) {
    return fmt::format(
        "Could not find a directory environment named '{}' anywhere in the path: {}. Does the "
        "directory exist?",
        settings.text("environment"), settings.text("environmentpath"));
}

environment::Spec environment_spec(const config::Settings& settings) {
    environment::Spec spec;
    spec.name = settings.text("environment");
    if (spec.name.empty()) spec.name = "production";
    spec.environmentpath = settings.list("environmentpath");
    spec.basemodulepath = settings.list("basemodulepath");
    spec.setting = [text = settings](std::string_view name) -> std::optional<std::string> {
        if (name == "ruby_plugin_folders")
            return fmt::format("{}", fmt::join(sys::ruby_plugin_folders(), ":"));
        return text.get(name);
    };
    return spec;
}

namespace {

Value number_or_text(base::Arena& arena, const std::string& text) {
    if (auto n = base::parse_integer<std::int64_t>(text)) return Value::integer(*n);
    if (text == "unlimited") return Value::floating(std::numeric_limits<double>::infinity());
    return Value::string(arena.copy(text));
}

/// Returns the items of a list. With `pairs`, splits each item at colons.
Value items_as_value(base::Arena& arena, const std::vector<std::string>& items, bool pairs) {
    std::vector<Value> out;
    for (const std::string& item : items) {
        if (!pairs) {
            out.push_back(value::make_string(arena, item));
            continue;
        }
        std::vector<Value> parts;
        for (std::string_view rest = item; !rest.empty();) {
            const auto colon = rest.find(':');
            if (const auto part = rest.substr(0, colon); !part.empty())
                parts.push_back(value::make_string(arena, part));
            rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
        }
        out.push_back(value::make_array(arena, parts));
    }
    return value::make_array(arena, out);
}

Value setting_as_value(base::Arena& arena, const config::Settings& settings,
                       const config::SettingSpec* spec, const std::string& name) {
    using Kind = config::SettingSpec::Kind;
    if (settings.is_nil(name)) return Value::undef();
    const std::string text = settings.text(name);
    switch (spec ? spec->kind : Kind::String) {
        case Kind::Integer:
        case Kind::Port:
        case Kind::Duration:
        case Kind::Priority:
        case Kind::Ttl: return number_or_text(arena, text);
        case Kind::List: return items_as_value(arena, settings.list(name), false);
        case Kind::ServerList:
        case Kind::Headers: return items_as_value(arena, settings.list(name), true);
        default:
            // Text values too: puppet.conf has no other form of true and false.
            if (text == "true" || text == "false") return Value::boolean(text == "true");
            return Value::string(arena.copy(text));
    }
}

}  // namespace

/// Returns the manifest that the settings name, independent of the manifest that is compiled
/// (environment.conf of 8.11).
static std::string configured_manifest(const config::Settings& settings,
                                       const environment::Environment& environment) {
    const auto own = environment.conf("manifest");
    if (!own || settings.boolean("disable_per_environment_manifest")) {
        return environment::expand_path(settings.text("default_manifest"), environment.directory());
    }
    const auto& name = environment.name();
    const auto value = environment::interpolate(
        own->starts_with('$') ? *own : environment::expand_path(*own, environment.directory()),
        [&](std::string_view wanted) -> std::optional<std::string> {
            return wanted == "environment" ? std::optional(name) : settings.get(wanted);
        });
    if (!value) throw base::plain_error(value.error().message);
    return *value;
}

Value environment_settings(base::Arena& arena, const config::Settings& settings,
                           const environment::Environment& environment) {
    value::HashBuilder out(arena, 8);
    if (environment.directory().empty()) return out.build();
    const auto set = [&](std::string_view name, Value v) {
        if (!settings.on_command_line(name)) out.set(Value::string(name), v);
    };
    const auto text = [&](const std::string& t) { return value::make_string(arena, t); };
    set("modulepath", text(fmt::format("{}", fmt::join(environment.modulepath(), ":"))));
    set("manifest", text(configured_manifest(settings, environment)));
    set("config_version", text(environment.config_version()));
    if (const auto ttl = environment.conf("environment_timeout")) {
        const auto seconds = environment::parse_ttl(*ttl, "environment_timeout");
        if (!seconds) throw base::plain_error(seconds.error().message);
        set("environment_timeout",
            number_or_text(arena, *seconds ? std::to_string(**seconds) : std::string("unlimited")));
    }
    for (const std::string_view name : {"static_catalogs", "rich_data"}) {
        const auto own = environment.conf(name);
        if (own)
            set(name, *own == "true"    ? Value::boolean(true)
                      : *own == "false" ? Value::boolean(false)
                                        : text(*own));
    }
    for (const std::string_view name : {"environment_data_provider", "compatibility"})
        if (const auto own = environment.conf(name)) set(name, text(*own));
    return out.build();
}

Value settings_as_value(base::Arena& arena, const config::Settings& settings) {
    value::HashBuilder out(arena, 512);
    for (const auto& name : settings.names()) {
        // The settings of the plugin host are not Puppet's, so catalogs do not see them. `$name`
        // has another meaning in the language.
        if (name.starts_with("ruby_") || name == "name") continue;
        out.set(arena.copy(name),
                setting_as_value(arena, settings, config::find_setting(name), name));
    }
    return out.build();
}

}  // namespace bunraku::site
