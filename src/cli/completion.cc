// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/reference/help_page.h"
#include "compile/site/store_access.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/system.h"
#include "core/value/text.h"
#include "resources/facts/facts.h"
#include "resources/restype/spec.h"
#include "store/db/database.h"
#include "store/engine/store.h"

namespace bunraku::cli {

namespace {

using Words = std::vector<std::string>;

class Completer {
public:
    Completer(const config::Settings& settings, const Words& words)
        : settings_(settings), words_(words), typed_(words.empty() ? "" : words.back()) {
        if (words_.empty()) words_.emplace_back();
    }

    Candidates run() {
        if (words_.size() == 1) {
            commands();
            add("help", "explain a command");
            add("--version", "the version");
            return std::move(out_);
        }
        const std::string name = words_[0] == "help" && words_.size() > 2 ? words_[1] : words_[0];
        if (words_[0] == "help" && words_.size() == 2) {
            commands();
            return std::move(out_);
        }
        const Command* command = find_command(name);
        if (!command) {
            out_.files = words_[0] != "help";
            return std::move(out_);
        }
        page_ = reference::parse_help(command_help(command->name));
        actions_ = reference::help_actions(page_, command->name);
        options_ = reference::help_options(page_);
        if (words_[0] == "help") {
            if (words_.size() == 3) actions();
            return std::move(out_);
        }
        behind(*command);
        return std::move(out_);
    }

private:
    void add(std::string word, std::string text = {}) {
        if (!word.starts_with(typed_)) return;
        // The description in the menu is one line with the first sentence.
        text = fmt::format("{}", fmt::join(base::words(text, " \t\n"), " "));
        if (const auto stop = text.find(". "); stop != text.npos) text.resize(stop);
        if (text.size() > 70) {
            std::size_t end = text.rfind(' ', 70);
            text.resize(end == text.npos ? 70 : end);
        }
        while (text.ends_with('.')) text.pop_back();
        std::erase(text, '`');
        out_.words.push_back({std::move(word), std::move(text)});
    }
    void commands() {
        for (const Command* c : all_commands()) add(std::string(c->name), std::string(c->summary));
    }
    void actions() {
        for (const auto& action : actions_) add(action.name, action.text);
    }

    void behind(const Command& command) {
        // bash splits "--environment=pro" at "="; other shells do not.
        if (const auto equals = typed_.find('=');
            typed_.starts_with("--") && equals != typed_.npos) {
            const std::string option = typed_.substr(0, equals);
            const std::string prefix = typed_.substr(0, equals + 1);
            typed_.erase(0, equals + 1);
            values(option);
            for (auto& c : out_.words) c.word.insert(0, prefix);
            out_.files = false;
            return;
        }
        const std::string& before = words_[words_.size() - 2];
        if (words_.size() > 2 && before.starts_with("-") && takes_value(before)) {
            values(before);
            return;
        }
        if (typed_.starts_with("-")) {
            options();
            return;
        }
        // The arguments, without options and their values.
        Words given;
        for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
            if (words_[i].starts_with("-")) {
                if (words_[i].find('=') == Words::value_type::npos && takes_value(words_[i])) ++i;
            } else {
                given.push_back(words_[i]);
            }
        }
        arguments(command.name, given);
    }

    const reference::HelpOption* option(std::string_view name) const {
        for (const auto& o : options_)
            if (std::ranges::find(o.names, name) != o.names.end()) return &o;
        return nullptr;
    }
    static const config::SettingSpec* setting(std::string_view option) {
        if (!option.starts_with("--")) return nullptr;
        std::string name(option.substr(2));
        std::ranges::replace(name, '-', '_');
        return config::find_setting(name);
    }
    bool takes_value(std::string_view name) const {
        if (name == "-e") return true;
        if (const reference::HelpOption* o = option(name)) return !o->argument.empty();
        if (name == "--log-level" || name == "--log-format" || name == "--setting") return true;
        const auto* spec = setting(name);
        return spec && spec->kind != config::SettingSpec::Kind::Boolean;
    }

    void options() {
        std::set<std::string> seen;
        const auto once = [&](const std::string& name, std::string_view text) {
            if (seen.insert(name).second) add(name, std::string(text));
        };
        for (const auto& o : options_)
            for (const auto& name : o.names) once(name, o.text);
        once("--help", "what the command does");
        once("--debug", "log everything");
        once("--verbose", "log informational messages too");
        once("--log-level", "the lowest level that is logged");
        once("--log-format", "text or json");
        once("--setting", "NAME=VALUE");
        if (!typed_.starts_with("--")) return;
        for (const auto& s : config::kSettings) {
            const bool boolean = s.kind == config::SettingSpec::Kind::Boolean;
            once(fmt::format("--{}", s.name), s.doc);
            if (boolean && typed_.starts_with("--no")) once(fmt::format("--no-{}", s.name), s.doc);
        }
    }

    void values(const std::string& name) {
        const reference::HelpOption* o = option(name);
        const std::string argument = o ? o->argument : "";
        const auto ends = [&](std::string_view with) { return name.ends_with(with); };
        if (name == "--environment" || name == "--from-env" || name == "--to-env" ||
            argument == "ENV") {
            environments();
        } else if (name == "--node" || name == "--certname" || argument == "NODE") {
            nodes();
        } else if (name == "--log-level" || name == "--log_level") {
            for (const char* level :
                 {"debug", "info", "notice", "warning", "err", "alert", "emerg", "crit"})
                add(level);
        } else if (name == "--log-format") {
            add("text");
            add("json");
        } else if (ends("render-as")) {
            for (const char* format : {"console", "json", "yaml", "flat"}) add(format);
        } else if (name == "--section") {
            for (const char* section : {"main", "server", "agent", "user"}) add(section);
        } else if (name == "--roles") {
            for (const char* role : {"compiler", "store", "ca", "forge"}) add(role);
        } else if (name == "--setting") {
            for (const auto& s : config::kSettings)
                add(fmt::format("{}=", s.name), std::string(s.doc));
        } else if (const auto* spec = setting(name); spec && !spec->allowed.empty()) {
            for (const auto word : base::words(spec->allowed)) add(std::string(word));
        } else if (name != "-e" && name != "--execute") {
            out_.files = true;
        }
    }

    void arguments(std::string_view command, const Words& given) {
        const bool first = given.empty();
        const std::string action = first ? "" : given[0];
        if (first && !actions_.empty()) actions();
        if (command == "describe") {
            types();
        } else if (command == "resource") {
            if (first) {
                types();
            } else {
                out_.files = action == "file";
            }
        } else if (command == "facts" || command == "facter") {
            if (first || action == "show" || command == "facter") facts();
            out_.files = action == "diff";
        } else if (command == "config") {
            if (!first)
                for (const auto& s : config::kSettings)
                    add(std::string(s.name), std::string(s.doc));
        } else if (command == "node" || command == "catalog" || command == "whatif" ||
                   command == "fleet") {
            if (!first || command == "whatif") nodes();
        } else if (command == "module") {
            if (action == "upgrade" || action == "uninstall") {
                modules();
            } else {
                out_.files = !first;
            }
        } else if (command == "generate") {
            if (first) add("types");
        } else if (command == "completion") {
            for (const char* shell : {"bash", "zsh", "fish"}) add(shell);
        } else {
            out_.files = actions_.empty() || !first;
        }
    }

    std::shared_ptr<const environment::Environment> environment() {
        base::NullSink quiet;
        config::Settings settings = settings_;
        for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
            if (words_[i] == "--modulepath" || words_[i] == "--environment" ||
                words_[i] == "--environmentpath")
                settings.set(words_[i].substr(2), words_[i + 1]);
        }
        site::NodeRequest request;
        request.sources.no_manifest = true;
        if (settings.is_set("modulepath")) request.sources.modulepath = settings.list("modulepath");
        try {
            return site::Site(settings, site_options(quiet)).environment(request);
        } catch (const base::PuppetError&) {
            return nullptr;
        }
    }

    void environments() {
        auto& files = sys::disk();
        for (const auto& folder : settings_.list("environmentpath"))
            for (const auto& name : files.list(folder).value_or(Words()))
                if (files.is_directory(sys::join(folder, name))) add(name);
    }

    void nodes() {
        const std::string database = site::database_of(settings_, "");
        // Completion must be fast, so it does not query a remote database.
        if (store::is_postgresql_url(database)) return;
        auto& files = sys::disk();
        if (!files.exists(database)) return;
        auto store = store::Store::open(database, {.read_only = true});
        if (!store) return;
        if (auto known = (*store)->nodes(true))
            for (const auto& node : *known) add(node.certname);
    }

    void types() {
        std::set<std::string> seen;
        for (const auto* type : restype::all_types()) {
            if (type->name == "component" || type->name == "whit") continue;
            if (seen.insert(std::string(type->name)).second)
                add(std::string(type->name), std::string(type->doc));
        }
        const auto environment = this->environment();
        if (!environment) return;
        auto& files = sys::disk();
        for (const auto& module : environment->modules()) {
            for (std::string name :
                 files.list(module.path + "/lib/puppet/type").value_or(Words())) {
                if (!name.ends_with(".rb")) continue;
                name.resize(name.size() - 3);
                if (seen.insert(name).second) add(name, "of the module " + module.name);
            }
        }
    }

    void modules() {
        const auto environment = this->environment();
        if (!environment) return;
        for (const auto& module : environment->modules()) add(module.name);
    }

    void facts() {
        base::Arena arena;
        sys::RealSystem real;
        facts::Options wanted;
        paths("", facts::collect(arena, real.system(), wanted), 0);
    }
    void paths(const std::string& prefix, const value::Value& v, int depth) {
        constexpr int kDepth = 6;
        if (!v.is_hash() || depth > kDepth) return;
        for (const auto& entry : v.as_hash()) {
            const std::string key = value::to_text(entry.key);
            const std::string path = prefix.empty() ? key : prefix + "." + key;
            // Nested facts are offered once their prefix has been typed.
            const bool deeper = std::string_view(typed_).starts_with(path + ".");
            if (!deeper) {
                add(path, entry.value.is_hash() || entry.value.is_array()
                              ? std::string()
                              : value::to_text(entry.value));
            }
            if (deeper || path == typed_) paths(path, entry.value, depth + 1);
        }
    }

    const config::Settings& settings_;
    Words words_;
    std::string typed_;
    reference::HelpPage page_;
    std::vector<reference::HelpAction> actions_;
    std::vector<reference::HelpOption> options_;
    Candidates out_;
};

}  // namespace

Candidates complete(const config::Settings& settings, const Words& words) {
    Candidates out = Completer(settings, words).run();
    std::ranges::stable_sort(out.words, {}, &Candidate::word);
    return out;
}

}  // namespace bunraku::cli
