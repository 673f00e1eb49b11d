// SPDX-License-Identifier: Apache-2.0
// The type augeas: changes configuration files with the Augeas library, as augeas_core 2.0.1 does
// (docs/design/0210).
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "resources/apply/execution.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/types/augeas/commands.h"
#include "resources/apply/types/augeas/libaugeas.h"

namespace bunraku::apply {
namespace {

using base::plain_error;

bool augeas_suitable(Context&) { return load_libaugeas().has_value(); }
constexpr ProviderClass kAugeasProvider{.name = "augeas",
                                        .suitable = augeas_suitable,
                                        .features = "parse_commands need_to_run? execute_changes"};
constexpr const ProviderClass* kAugeasProviders[] = {&kAugeasProvider};

constexpr std::string_view kPutFailed = "/augeas//error[. = 'put_failed']";
constexpr std::string_view kSaved = "/augeas/events/saved";

/// Returns the result of `is C wanted`, or nullopt if the comparator C is not one of these.
template <class T>
std::optional<bool> compare(const T& is, std::string_view comparator, const T& wanted) {
    if (comparator == "==") return is == wanted;
    if (comparator == "!=") return is != wanted;
    if (comparator == "<") return is < wanted;
    if (comparator == "<=") return is <= wanted;
    if (comparator == ">") return is > wanted;
    if (comparator == ">=") return is >= wanted;
    return std::nullopt;
}

/// Parses digits with an optional sign and fraction.
std::optional<double> plain_number(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    std::string_view digits = text;
    if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
    const auto count = [&] {
        return std::min(digits.find_first_not_of("0123456789"), digits.size());
    };
    if (count() == 0) return std::nullopt;
    digits.remove_prefix(count());
    if (digits.starts_with('.')) {
        digits.remove_prefix(1);
        if (count() == 0) return std::nullopt;
        digits.remove_prefix(count());
    }
    if (!digits.empty()) return std::nullopt;
    return std::strtod(std::string(text).c_str(), nullptr);
}

class AugeasResource final : public Resource {
public:
    using Resource::Resource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kAugeasProviders;
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name != "context") return Resource::munge(a, v);
        if (const std::string text = plain(v); !text.empty() || get("incl").is_undef()) return v;
        return context_.string("/files" + text("incl"));
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "returns") return Value::integer(0);
        if (a.name == "context" || a.name == "onlyif" || a.name == "load_path") {
            return Value::string("");
        }
        if (a.name == "root") return Value::string("/");
        if (a.name == "type_check") return Value::string("false");
        if (a.name == "show_diff") return Value::boolean(true);
        return Value::undef();
    }
    void validate() override {
        if (get("lens").is_undef() != get("incl").is_undef()) {
            throw plain_error("You must specify both the lens and incl parameters, or neither.");
        }
    }

    bool needs_ensure_retrieved() const override { return false; }
    Value retrieve_property(const Param&) override {
        return needs_to_run() ? Value::string("need_to_run") : Value::integer(0);
    }
    std::string change_text(const Param&, const Value&, const Value&) const override {
        return "executed successfully";
    }
    void sync(Param&) override {
        ++context_.actions;
        open();
        const Closing closing{this};
        // Without this, Augeas does not reload a file that it has saved as a new file next to the
        // original.
        for (const std::string& saved : tree_->match(std::string(kSaved))) {
            tree_->remove(fmt::format("/augeas{}/mtime", tree_->get(saved).value_or("")));
        }
        tree_->set("/augeas/save", "overwrite");
        load();
        make_changes();
        save();
    }

private:
    struct Closing {
        AugeasResource* resource;
        ~Closing() { resource->close(); }
    };
    void close() {
        if (!tree_) return;
        tree_.reset();
        provider_debug("Closed the augeas connection");
    }

    /// Any value other than false counts, even the string "false", as in the module.
    bool forced() const {
        const Value v = get("force");
        return !v.is_undef() && !(v.is(value::Kind::Boolean) && !v.as_boolean());
    }

    /// Reports whether changes are needed. If so, leaves the tree open for them.
    bool needs_to_run() {
        open();
        try {
            const bool wanted = condition_holds() && (forced() || changes_something());
            if (!wanted || noop()) close();
            return wanted;
        } catch (...) {
            close();
            throw;
        }
    }

    void open() {
        if (tree_) return;
        const bool one_file = !get("incl").is_undef();
        const unsigned flags = (text("type_check") == "true" ? AugeasTree::kTypeCheck : 0U) |
                               (one_file ? AugeasTree::kNoModuleAutoload : AugeasTree::kNoLoad);
        const std::string root = text("root"), lenses = load_path();
        provider_debug(fmt::format("Opening augeas with root {}, lens path {}, flags {}", root,
                                   lenses, flags));
        tree_ = std::make_unique<AugeasTree>(root, lenses, flags);
        try {
            provider_debug(fmt::format("Augeas version {} is installed",
                                       tree_->get("/augeas/version").value_or("")));
            const std::string errors = one_file ? only_file() : only_context();
            load();
            report_load_errors(errors);
        } catch (...) {
            close();
            throw;
        }
    }

    /// Returns the path of a file on the machine for its path in the tree.
    std::string file_of(std::string node) const {
        const std::string root = text("root");
        if (node.starts_with("/files")) node.replace(0, 6, root == "/" ? "" : root);
        return node;
    }
    /// Fails if a link of another user leads to the file. libaugeas opens paths itself, so this
    /// finds only links that exist before it does.
    void check_links(const std::string& file) const {
        const auto real = context_.system.files.real_path(file);
        if (!real && real.error().code != ENOENT) throw plain_error(real.error().message);
    }
    void load() {
        if (const std::string only = text("incl"); only.starts_with('/')) {
            check_links(file_of("/files" + only));
        }
        tree_->load();
        for (const std::string& node : tree_->match("/augeas/files//path"))
            check_links(file_of(tree_->get(node).value_or("")));
    }

    /// Restricts the tree to `incl`. Returns the path of the relevant errors.
    std::string only_file() {
        tree_->set("/augeas/load/Xfm/lens", text("lens"));
        tree_->set("/augeas/load/Xfm/incl", text("incl"));
        return "/augeas//error";
    }

    /// Restricts the tree to files that may match a simple context. Returns the path of the
    /// relevant errors, or an empty string if that is not possible.
    std::string only_context() {
        constexpr std::string_view kFiles = "/files";
        const std::string context = text("context");
        if (!context.starts_with("/files/") || context.size() == kFiles.size() + 1 ||
            context.find_first_of("'\"[]") != std::string::npos) {
            return {};
        }
        std::string path = context.substr(kFiles.size());
        if (!path.ends_with('/')) path += '/';
        const std::string others =
            fmt::format("/augeas/load/*['{}' !~ glob(incl) + regexp('/.*')]", path);
        if (tree_->match(others).size() < tree_->match("/augeas/load/*").size()) {
            tree_->remove(others);
            return fmt::format("/augeas/files{}/error", path);
        }
        provider_debug("Unable to optimize files loaded by context path, no glob matches");
        return {};
    }

    /// Returns the folders of lenses: first the requested folders, then those of modules.
    std::string load_path() const {
        std::string out;
        const auto add = [&](std::string_view folder) {
            if (!out.empty()) out += ':';
            out += folder;
        };
        const auto add_given = [&](const Value& given) {
            if (const std::string folders = plain(given); !folders.empty()) add(folders);
        };
        const Value given = get("load_path");
        if (given.is_array()) {
            for (const Value& one : given.as_array()) add_given(one);
        } else if (!given.is_undef()) {
            add_given(given);
        }
        if (context_.ruby_types) {
            for (const std::string& lib : context_.ruby_types->plugin_folders()) {
                const std::string lenses = lib + "/augeas/lenses";
                if (context_.system.files.exists(lenses)) add(lenses);
            }
        }
        return out;
    }

    void report_load_errors(const std::string& of_interest) const {
        const auto errors = tree_->match("/augeas//error");
        if (!errors.empty() && !of_interest.empty() && !tree_->match(of_interest).empty()) {
            provider_log(Level::Warning,
                         "Loading failed for one or more files, see debug for /augeas//error "
                         "output");
        } else if (!errors.empty()) {
            provider_debug("Loading failed for one or more files, output from /augeas//error:");
        }
        log_errors(errors);
    }
    void log_errors(const std::vector<std::string>& errors) const {
        if (!debugging()) return;
        for (const std::string& error : errors) {
            if (const auto what = tree_->get(error)) {
                provider_debug(fmt::format("{} = {}", error, *what));
            }
            for (const std::string& detail : tree_->match(error + "/*")) {
                provider_debug(fmt::format("{} = {}", detail, tree_->get(detail).value_or("")));
            }
        }
    }

    void save() {
        if (tree_->save()) return;
        const auto errors = tree_->match(std::string(kPutFailed));
        if (!errors.empty()) {
            provider_debug("Put failed on one or more files, output from /augeas//error:");
        }
        log_errors(errors);
        throw plain_error("Save failed, see debug output for details");
    }

    /// Reports whether the changes have an effect. Saves them to new files next to the originals,
    /// and removes these files.
    bool changes_something() {
        provider_debug("Will attempt to save and only run if files changed");
        tree_->set("/augeas/save", "newfile");
        make_changes();
        save();
        std::vector<std::string> files;
        for (const std::string& saved : tree_->match(std::string(kSaved))) {
            std::string file = file_of(tree_->get(saved).value_or(""));
            if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
        }
        for (const std::string& file : files) {
            check_links(file);
            const std::string made = file + ".augnew";
            if (context_.options.show_diff && flag("show_diff")) {
                provider_log(loglevel(), "\n" + difference(context_, file, made));
            }
            unwrap(context_.system.files.remove(made));
        }
        provider_debug(files.empty() ? "Skipping because no files were changed"
                                     : "Files changed, should execute");
        return !files.empty();
    }

    // A single string may contain several lines.
    std::vector<std::string> lines_of(const Value& v) const {
        std::vector<std::string> out;
        const auto add = [&](auto&& self, const Value& one) -> void {
            if (one.is_array()) {
                for (const Value& each : one.as_array()) self(self, each);
            } else if (one.is_string()) {
                out.emplace_back(one.as_string());
            } else if (!one.is_undef()) {
                throw plain_error(fmt::format("Invalid command: {}", plain(one)));
            }
        };
        if (v.is_string()) return base::texts(base::lines(v.as_string()));
        add(add, v);
        return out;
    }
    std::vector<AugeasCommand> parse(std::span<const std::string> lines) const {
        return parse_augeas_commands(lines, text("context"));
    }

    static base::PuppetError refused(std::string_view command, std::span<const std::string> params,
                                     std::string_view why) {
        return plain_error(fmt::format("Error sending command '{}' with params {}/{}", command,
                                       inspect_texts(params), why));
    }

    void make_changes() {
        for (const AugeasCommand& command : parse(lines_of(get("changes")))) {
            const std::string& verb = command[0];
            const auto params = std::span(command).subspan(1);
            try {
                if (!make_change(verb, params)) {
                    throw plain_error(fmt::format("Error sending command '{}' with params {}", verb,
                                                  inspect_texts(params)));
                }
            } catch (const base::PuppetError& e) {
                throw refused(verb, params, e.message());
            }
        }
    }

    /// Makes one change. Returns false if the library reports a failure. Failures of `set`,
    /// `clearm` and `rename` are ignored here, as in the module; they show when the file is saved.
    bool make_change(std::string_view verb, std::span<const std::string> params) {
        provider_debug(fmt::format("sending command '{}' {}with params {}", verb,
                                   verb == "touch" ? "(match, set) " : "", inspect_texts(params)));
        if (verb == "set") {
            tree_->set(params[0], params[1]);
        } else if (verb == "setm") {
            return tree_->set_all(params[0], params[1], params[2]);
        } else if (verb == "rm" || verb == "remove") {
            return tree_->remove(params[0]);
        } else if (verb == "clear") {
            return tree_->set(params[0], std::nullopt);
        } else if (verb == "clearm") {
            tree_->set_all(params[0], params[1], std::nullopt);
        } else if (verb == "touch") {
            return !tree_->match(params[0]).empty() || tree_->set(params[0], std::nullopt);
        } else if (verb == "insert" || verb == "ins") {
            if (params[1] != "before" && params[1] != "after") {
                throw plain_error(fmt::format("Invalid value '{}' for where param", params[1]));
            }
            return tree_->insert(params[2], params[0], params[1] == "before");
        } else if (verb == "defvar") {
            return tree_->define(params[0], params[1]);
        } else if (verb == "defnode") {
            return tree_->define_node(params[0], params[1], params[2]);
        } else if (verb == "mv" || verb == "move") {
            return tree_->move(params[0], params[1]);
        } else if (verb == "rename") {
            tree_->rename(params[0], params[1]);
        } else {
            throw plain_error(fmt::format("Command '{}' is not supported", verb));
        }
        return true;
    }

    bool condition_holds() const {
        const std::string filter = text("onlyif");
        if (filter.empty()) return true;
        const auto commands = parse(base::texts(base::lines(filter)));
        if (commands.empty()) throw plain_error(fmt::format("Invalid command: {}", filter));
        const AugeasCommand& command = commands[0];
        const std::string& verb = command[0];
        try {
            if (verb == "get") return get_holds(command);
            if (verb == "values" || verb == "match") return match_holds(command);
        } catch (const base::PuppetError& e) {
            // At this point the module has already removed the parameters from its list, so its
            // message does not show them.
            throw plain_error(fmt::format("Error sending command '{}' with params {}/{}", verb,
                                          verb == "get" ? "[]" : "nil", e.message()));
        }
        return true;
    }

    bool get_holds(const AugeasCommand& command) const {
        const std::string is = tree_->get(command[1]).value_or("");
        const std::string &comparator = command[2], &wanted = command[3];
        if (comparator == "=~") {
            const auto pattern = regex::Regex::compile(wanted);
            if (!pattern) throw plain_error(pattern.error().message);
            return (*pattern)->matches(is);
        }
        if (comparator != "==" && comparator != "!=") {
            const auto a = plain_number(is), b = plain_number(wanted);
            if (a && b) return compare(*a, comparator, *b).value_or(false);
        }
        return compare(is, comparator, wanted).value_or(false);
    }

    bool match_holds(const AugeasCommand& command) const {
        const std::string rest[] = {command[2]};
        const auto clauses = parse(rest);
        if (clauses.empty()) {
            throw plain_error(fmt::format("Invalid command: {} {}", command[0], command[1]));
        }
        const AugeasCommand& clause = clauses[0];
        const std::string& verb = clause[0];
        std::vector<std::optional<std::string>> found;
        for (std::string& path : tree_->match(command[1])) {
            if (command[0] == "match") {
                found.emplace_back(std::move(path));
            } else {
                found.push_back(tree_->get(path));
            }
        }
        if (verb == "size" && command[0] == "match") {
            const auto wanted = base::parse_integer<std::size_t>(clause[2]).value_or(
                clause[2].empty() ? 0 : std::string::npos);
            return compare(found.size(), clause[1], wanted).value_or(false);
        }
        if (verb == "include" || verb == "not_include") {
            const bool there = std::ranges::find(found, std::optional(clause[1])) != found.end();
            return there == (verb == "include");
        }
        if (verb != "==" && verb != "!=") return false;
        std::vector<std::optional<std::string>> wanted;
        try {
            for (std::string& one : parse_augeas_array(clause[1]))
                wanted.emplace_back(std::move(one));
        } catch (const base::PuppetError&) {
            throw plain_error("Invalid array in command: ");
        }
        return (found == wanted) == (verb == "==");
    }

    std::unique_ptr<AugeasTree> tree_;
};

}  // namespace

std::unique_ptr<Resource> make_augeas(Context& context, const TypeSpec& spec) {
    return std::make_unique<AugeasResource>(context, spec);
}

}  // namespace bunraku::apply
