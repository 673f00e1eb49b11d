// SPDX-License-Identifier: Apache-2.0
// The type vcsrepo: a working copy or a clone of a repository (puppetlabs-vcsrepo 5.4.0 to 7.0.0),
// with its provider git. The module's Ruby code handles rarely used features.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/guarded_file_system.h"
#include "core/value/build.h"
#include "resources/apply/execution.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

/// From this level on, safe directories are recorded for the whole machine rather than for the
/// user, and the record is not removed.
constexpr int kSafeForAll = 1;

bool git_suitable(Context&) { return true; }
constexpr ProviderClass kVcsrepoGit{
    .name = "git",
    .suitable = git_suitable,
    .features =
        "bare_repositories reference_tracking ssh_identity multiple_remotes user depth "
        "branch submodules safe_directory hooks_allowed umask http_proxy tmpdir"};
constexpr const ProviderClass* kVcsrepoProviders[] = {&kVcsrepoGit};

/// Reports whether the text is free of spaces, which a revision must not contain, and of characters
/// that have a meaning in patterns.
bool plain_words(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("/._-+,:@=~%#").contains(c);
    });
}
bool switch_or_nothing(const Value& v) {
    return v.is_undef() || v.is(value::Kind::Boolean) || is_word(v, "true") || is_word(v, "false");
}
bool is_umask(const Value& v) {
    if (!v.is_string() || v.as_string().empty() || v.as_string().size() > 5) return false;
    const std::string_view text = v.as_string();
    return text.find_first_not_of("01234567") == std::string_view::npos &&
           (text.size() < 5 || text.starts_with('0'));
}
bool is_sources(const Value& v) {
    if (v.is_undef() || (v.is_string() && !v.as_string().empty())) return true;
    if (!v.is_hash()) return false;
    return std::ranges::all_of(v.as_hash(), [](const auto& e) {
        return e.key.is_string() && plain_words(e.key.as_string()) && e.value.is_string() &&
               !e.value.as_string().empty();
    });
}
std::string_view without_slash(std::string_view text) {
    if (text.ends_with('/')) text.remove_suffix(1);
    return text;
}

/// The installed version of git, valid until the run changes the machine.
struct GitVersion {
    std::uint64_t actions = 0;
    int number = 0;  ///< 2039 for 2.39
};
int git_version(Context& context) {
    auto& slot = context.parsed_types["git"];
    auto known = std::static_pointer_cast<GitVersion>(slot);
    if (known && known->actions == context.actions) return known->number;
    known = std::make_shared<GitVersion>();
    const std::string trimmed_output =
        execute(context, {"git", "--version"}, {.fail_on_error = false, .query = true}).output;
    if (const auto found = match_of(pattern_of(R"((\d+)\.(\d+))"), trimmed_output)) {
        known->number =
            base::parse_integer<int>(found->group(trimmed_output, 1)).value_or(0) * 1000 +
            base::parse_integer<int>(found->group(trimmed_output, 2)).value_or(0);
    }
    known->actions = context.actions;
    slot = known;
    return known->number;
}
/// Older versions do not support an SSH command.
constexpr int kGitWithSsh = 2003;
/// Older versions overwrite existing tags without `--force`.
constexpr int kGitForcesTags = 2020;

class Vcsrepo final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kVcsrepoProviders;
    }

    bool does(const Given& given) const override {
        if (!is_word(given("provider"), "git") || !has_command(context_, "git")) return false;
        const Value ensure = given("ensure");
        if (std::ranges::none_of(kStates, [&](auto s) { return is_word(ensure, s); })) return false;
        for (const char* name : {"includes", "module", "fstype", "excludes", "compression",
                                 "basic_auth_username", "basic_auth_password", "configuration",
                                 "cvs_rsh", "p4config", "conflict", "tmpdir", "audit"}) {
            if (!given(name).is_undef()) return false;
        }
        for (const char* name : {"force", "submodules", "trust_server_cert", "keep_local_changes",
                                 "safe_directory", "skip_hooks"}) {
            if (!switch_or_nothing(given(name))) return false;
        }
        for (const char* name :
             {"owner", "group", "user", "revision", "remote", "branch", "identity"}) {
            const Value v = given(name);
            if (!v.is_undef() && !(v.is_string() && plain_words(v.as_string()))) return false;
        }
        if (!given("identity").is_undef() && git_version(context_) < kGitWithSsh) return false;
        const Value depth = given("depth"), umask = given("umask"), proxy = given("http_proxy");
        if (!depth.is_undef() && !depth.is(value::Kind::Integer) &&
            !(depth.is_string() && plain_words(depth.as_string())))
            return false;
        if (!umask.is_undef() && !is_umask(umask)) return false;
        if (!proxy.is_undef() && !(proxy.is_string() && plain_words(proxy.as_string()) &&
                                   (proxy.as_string().starts_with("http://") ||
                                    proxy.as_string().starts_with("https://"))))
            return false;
        if (!is_sources(given("source"))) return false;
        const Value path = given(given("path").is_undef() ? "title" : "path");
        return path.is_string() && plain_words(path.as_string()) &&
               path.as_string().starts_with('/') && !path.as_string().ends_with('/');
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "force") return coerced(v);
        return Resource::munge(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "force") return Value::boolean(false);
        if (a.name == "remote") return Value::string("origin");
        if (a.name == "submodules") return Value::string("true");
        if (a.name == "trust_server_cert" || a.name == "keep_local_changes" ||
            a.name == "safe_directory")
            return Value::string("false");
        return {};
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        for (const char* name : {"git", "git-core", "mercurial", "subversion"})
            out.push_back({Relation::Require, "package", name});
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "source") return sources();
        if (p.spec->name == "revision") return context_.string(revision());
        if (p.spec->name == "skip_hooks") return Value::string(hooks_skipped() ? "true" : "false");
        if (is_working_copy())
            return Value::string(wants("latest") && is_latest() ? "latest" : "present");
        if (is_bare()) return Value::string(is_mirror() ? "mirror" : "bare");
        return Value::string("absent");
    }

    bool insync(Param& p, const Value& is) override {
        if (p.spec->name == "ensure" && wants("present")) return !apply::is_absent(is);
        if (p.spec->name != "source" || !is.is_string() || !should(p).is_string())
            return Resource::insync(p, is);
        const std::string_view has = is.as_string(), wanted = should(p).as_string();
        return has == wanted || (wanted.ends_with('/') ? has == without_slash(wanted)
                                                       : without_slash(has) == wanted);
    }

    void sync(Param& p) override {
        const std::string wanted = plain(should(p));
        if (p.spec->name == "source") return set_sources(should(p));
        if (p.spec->name == "revision") return set_revision(wanted);
        if (p.spec->name == "skip_hooks") return skip_hooks(wanted == "true");
        call_value(*this, wanted, p.spec->name, [&] { become(wanted, p); });
    }

private:
    static constexpr std::string_view kStates[] = {"present", "bare", "mirror", "absent", "latest"};

    // The desired state.
    bool wants(std::string_view state) const { return text("ensure") == state; }
    bool wants_bare() const { return wants("bare") || wants("mirror"); }
    std::string folder() const { return text("path"); }
    std::string remote() const { return text("remote"); }
    std::string wanted_revision() const { return text("revision"); }
    sys::FileSystem& files() const { return context_.system.files; }
    /// Returns the URL of the tracked remote.
    std::string url() const {
        const Value source = get("source");
        if (!source.is_hash()) return plain(source);
        const Value* found = source.as_hash().find(remote());
        if (!found)
            ruby_error(fmt::format("You must specify the URL for remote '{}' in the :source hash",
                                   remote()));
        return plain(*found);
    }
    std::vector<std::string> remotes_wanted() const {
        const Value source = get("source");
        if (source.is_undef()) ruby_error("undefined method `each_key' for nil:NilClass");
        if (!source.is_hash()) return {remote()};
        std::vector<std::string> out;
        for (const auto& e : source.as_hash()) out.push_back(plain(e.key));
        return out;
    }

    // Git.
    using Words = std::vector<std::string>;
    std::string home_of(const std::string& user) const {
        auto& users = context_.system.users;
        const auto found = user.empty() ? users.user(::getuid()) : users.user(user);
        if (!found) throw BytesError(fmt::format("can't find user for {}", user));
        return found->home;
    }
    std::string plain_git_in(const std::string& cwd, Words words) {
        words.insert(words.begin(), "git");
        Execute how{.cwd = cwd};
        const std::string user = text("user");
        const auto self = context_.system.users.user(context_.system.users.effective_uid());
        const bool other = !user.empty() && !(self && self->name == user);
        how.environment.emplace_back("HOME", home_of(other ? user : std::string()));
        if (other) how.user = user;
        if (find("identity")) {
            how.environment.emplace_back(
                "GIT_SSH_COMMAND",
                fmt::format("ssh -i {} -o \"IgnoreUnknown IdentityAgent\" -o \"IdentitiesOnly "
                            "yes\" -o \"IdentityAgent none\" -o \"PasswordAuthentication no\" -o "
                            "\"KbdInteractiveAuthentication no\"",
                            text("identity")));
        }
        if (find("umask")) how.umask = base::parse_integer<std::uint32_t>(text("umask"), 8);
        return execute(context_, words, how).output;
    }
    std::string git_in(const std::string& cwd, Words words) {
        if (flag("trust_server_cert")) words.insert(words.begin(), {"-c", "http.sslVerify=false"});
        return plain_git_in(cwd, std::move(words));
    }
    std::string git(Words words) {
        enter();
        return git_in(folder(), std::move(words));
    }
    std::string plain_git(Words words) {
        enter();
        return plain_git_in(folder(), std::move(words));
    }
    std::string git_of_remote(const std::string& cwd, Words words) {
        if (find("http_proxy"))
            words.insert(words.begin(), {"-c", "http.proxy=" + text("http_proxy")});
        return git_in(cwd, std::move(words));
    }
    void enter() const {
        if (!files().is_directory(folder()))
            ruby_error(fmt::format("No such file or directory @ dir_chdir - {}", folder()));
    }
    /// Returns the output of a command, or nullopt if the command failed.
    template <class F>
    static auto if_it_can(const F& command) -> std::optional<decltype(command())> {
        try {
            return command();
        } catch (const PuppetError& e) {
            if (e.issue_code() != "EXECUTION_FAILURE") throw;
            return std::nullopt;
        }
    }
    bool can(Words words) {
        return if_it_can([&] { return git(std::move(words)); }).has_value();
    }
    /// Returns the lines of a command's output without surrounding whitespace.
    std::vector<std::string> listed(Words words, bool star = false) {
        std::string trimmed_output = git(std::move(words));
        if (star) std::ranges::replace(trimmed_output, '*', ' ');
        std::vector<std::string> out;
        for (const std::string_view line : base::split(trimmed_output, '\n'))
            out.emplace_back(stripped(line));
        return out;
    }
    std::string trimmed_output(Words words) { return std::string(stripped(git(std::move(words)))); }
    std::string line_of(Words words) { return std::string(chomped(git(std::move(words)))); }

    // The current state.
    bool is_working_copy() {
        if (!files().is_directory(folder() + "/.git")) return false;
        if (!has("source")) return can({"status"});
        const auto has = if_it_can(
            [&] { return line_of({"config", "--get", fmt::format("remote.{}.url", remote())}); });
        return has && *has == url();
    }
    bool has_bare_config() {
        return unwrap(files().there(folder() + "/config")) &&
               can({"config", "--list", "--file", "config"});
    }
    bool is_bare() { return has_bare_config() && !is_working_copy(); }
    bool is_there() {
        note_safe_directory();
        return is_working_copy() || is_bare();
    }
    bool is_mirror() { return can({"config", "--get-regexp", "remote\\..*\\.mirror"}); }
    bool hooks_skipped() {
        const auto has =
            if_it_can([&] { return line_of({"config", "--local", "--get", "core.hooksPath"}); });
        return has && *has == "/dev/null";
    }
    Value sources() {
        std::vector<std::string> names;
        const std::string remotes = git({"remote"});
        for (const std::string_view line : base::split(remotes, '\n'))
            if (!line.empty()) names.emplace_back(line);
        const auto url_of = [&](const std::string& name) {
            return context_.string(
                line_of({"config", "--get", fmt::format("remote.{}.url", name)}));
        };
        if (names.size() == 1) return url_of(names[0]);
        value::HashBuilder out(context_.arena);
        for (const std::string& name : names) out.set(context_.string(name), url_of(name));
        return out.build();
    }

    // Revisions.
    std::vector<std::string> branches() { return listed({"branch", "--no-color", "-a"}, true); }
    using ModuleResource::has;
    static bool has(const std::vector<std::string>& names, const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    }
    bool is_tag(const std::string& name) { return has(listed({"tag", "-l"}), name); }
    bool is_local_branch(const std::string& name) { return has(branches(), name); }
    bool is_remote_branch(const std::string& name) {
        // The module uses the names as a regular expression, in which a dot matches any character.
        const Pattern pattern = pattern_of(fmt::format("(remotes/)?{}/{}$", remote(), name));
        return std::ranges::any_of(branches(),
                                   [&](const auto& b) { return match_of(pattern, b).has_value(); });
    }
    /// Returns the current branch; empty if none is checked out.
    std::string branch() {
        const std::string all = git({"branch", "--no-color", "-a"});
        const auto star = match_of(pattern_of(R"(\*\s+(.*))"), all);
        if (!star) ruby_error("undefined method `[]' for nil:NilClass");
        const std::string name(star->group(all, 1));
        for (const char* none : {"(detached from", "(HEAD detached at", "(no branch)"})
            if (name.contains(none)) return {};
        return name;
    }
    std::string revision_of(const std::string& name) {
        if (!has("source")) {
            const std::string printed = git({"status"});
            if (printed.contains("Initial commit") || printed.contains("No commits yet")) {
                constexpr std::string_view kOn = "On branch ";
                const auto at = printed.find(kOn);
                if (at == std::string::npos) return {};
                const auto begin = at + kOn.size();
                return printed.substr(begin, printed.find('\n', begin) - begin);
            }
        }
        const std::string current = trimmed_output({"rev-parse", name});
        if (has("revision") && wanted_revision() == current) return current;
        if (has("source")) update_references();
        if (!has("revision")) return current;
        const std::string wanted = wanted_revision();
        std::string id;
        if (is_tag(wanted)) {
            id = trimmed_output({"rev-parse", wanted + "^0"});
        } else if (is_local_branch(wanted)) {
            id = trimmed_output({"rev-parse", wanted});
        } else if (is_remote_branch(wanted)) {
            id = trimmed_output({"rev-parse", fmt::format("{}/{}", remote(), wanted)});
        } else {
            id = trimmed_output({"rev-parse", "--revs-only", wanted});
        }
        if (id.empty()) ruby_error(fmt::format("{} is not a local or remote ref", wanted));
        return current == id ? wanted : current;
    }
    std::string revision() { return revision_of("HEAD"); }
    bool is_latest() {
        const std::string now = revision();
        // With `force`, Puppet recreates the repository even when it only reads the state.
        if (flag("force") && is_working_copy()) create();
        if (!is_working_copy()) create();
        const std::string on = branch();
        return now == (on.empty() ? revision() : revision_of(fmt::format("{}/{}", remote(), on)));
    }

    // Changes.
    void become(const std::string& state, Param& ensure) {
        if (state == "absent") {
            if (is_there()) destroy();
        } else if (state == "latest") {
            follow(ensure);
        } else if (!is_there()) {
            create();
        } else if (state == "present") {
            if (is_bare()) make_working_copy();
        } else if (is_working_copy()) {
            make_bare();
        } else if (state == "bare") {
            if (is_mirror()) unset_mirror();
        } else if (!is_mirror()) {
            set_mirror();
        }
    }
    void follow(Param& ensure) {
        if (!is_there() || flag("force")) {
            log(Level::Notice, "Creating repository from latest", &ensure);
            return create();
        }
        if (is_bare()) make_working_copy();
        update_references();
        std::string wanted = has("revision") ? wanted_revision() : branch();
        if (wanted.empty()) wanted = revision();
        log(Level::Notice, fmt::format("Updating to latest '{}' revision", wanted), &ensure);
        set_revision(wanted);
    }

    void create() {
        clear_place();
        if (has("revision") && wants_bare())
            ruby_error(
                fmt::format("Cannot set a revision ({}) on a bare repository", wanted_revision()));
        if (has("source")) {
            clone();
            update_remotes(get("source"));
            if (wants("mirror") && get("source").is_hash()) set_mirror();
            if (has("skip_hooks")) skip_hooks(flag("skip_hooks"));
            if (has("revision")) check_out(wanted_revision());
            update_submodules();
        } else {
            if (wants("mirror"))
                ruby_error("Cannot init repository with mirror option, try bare instead");
            init();
            if (has("skip_hooks")) skip_hooks(flag("skip_hooks"));
        }
        give_to_owner();
    }
    void clear_place() {
        if (!files().is_directory(folder()) || unwrap(files().list(folder())).empty()) return;
        if (!flag("force"))
            throw PuppetError(
                fmt::format("Path {} exists and is not the desired repository.", folder()));
        provider_log(Level::Notice,
                     fmt::format("Removing {} to replace with desired repository.", folder()));
        destroy();
    }
    void destroy() {
        forget_safe_directory();
        unwrap(sys::remove_tree(files(), folder()));
    }
    void clone() {
        Words words{"clone"};
        const Value depth = get("depth");
        if (!depth.is_undef() && leading_number(plain(depth)) > 0) {
            words.insert(words.end(), {"--depth", plain(depth)});
            if (has("revision") && !find("branch"))
                words.insert(words.end(), {"--branch", wanted_revision()});
        }
        if (find("branch")) words.insert(words.end(), {"--branch", text("branch")});
        if (wants_bare()) words.push_back(wants("bare") ? "--bare" : "--mirror");
        if (remote() != "origin") words.insert(words.end(), {"--origin", remote()});
        const std::string from = url();
        if (is_working_copy()) return provider_log(Level::Notice, "Repo has already been cloned");
        words.insert(words.end(), {from, folder()});
        git_of_remote("/", std::move(words));
    }
    /// String#to_i.
    static long leading_number(const std::string& text) {
        return std::strtol(text.c_str(), nullptr, 10);
    }
    void init() {
        if (wants("bare") && is_working_copy()) return make_bare();
        if (wants("present") && is_bare()) return make_working_copy();
        if (const auto made = files().make_directory(folder()); !made)
            ruby_error(
                fmt::format("{} @ dir_s_mkdir - {}", std::strerror(made.error().code), folder()));
        if (find("user")) unwrap(files().set_owner(folder(), user_id(text("user")), {}, true));
        git(wants("bare") ? Words{"init", "--bare"} : Words{"init"});
    }

    /// Renames through a temporary name next to the repository, so that the repository is never
    /// copied.
    void make_bare() {
        if (!is_working_copy() || is_bare()) return;
        provider_log(Level::Notice, "Converting working copy repository to bare repository");
        const std::string temporary_name = temporary_sibling();
        unwrap(files().rename(folder() + "/.git", temporary_name));
        unwrap(sys::remove_tree(files(), folder()));
        unwrap(files().rename(temporary_name, folder()));
        plain_git({"config", "--local", "--bool", "core.bare", "true"});
        if (!wants("mirror")) return;
        if (!has("source")) ruby_error("Cannot have empty repository that is also a mirror.");
        set_mirror();
    }
    void make_working_copy() {
        provider_log(Level::Notice, "Converting bare repository to working copy repository");
        const std::string temporary_name = temporary_sibling();
        unwrap(files().rename(folder(), temporary_name));
        unwrap(files().make_directory(folder()));
        unwrap(files().rename(temporary_name, folder() + "/.git"));
        const auto commits = if_it_can([&] { return git({"rev-list", "--all", "--count"}); });
        if (commits && leading_number(*commits) > 0) {
            plain_git({"config", "--local", "--bool", "core.bare", "false"});
            git({"reset", "--hard", "HEAD"});
            git({"checkout", "--force"});
            give_to_owner();
        }
        if (is_mirror()) unset_mirror();
    }
    std::string temporary_sibling() const {
        return fmt::format("{}.vcsrepo-{:x}", folder(), context_.system.clock.now_ns());
    }

    void set_mirror() {
        for (const std::string& name : remotes_wanted())
            git({"config", fmt::format("remote.{}.mirror", name), "true"});
    }
    void unset_mirror() {
        for (const std::string& name : remotes_wanted())
            if_it_can([&] {
                return plain_git({"config", "--unset", fmt::format("remote.{}.mirror", name)});
            });
    }
    void skip_hooks(bool on) {
        if (on) {
            plain_git({"config", "--local", "core.hooksPath", "/dev/null"});
        } else {
            if_it_can(
                [&] { return plain_git({"config", "--local", "--unset", "core.hooksPath"}); });
        }
    }

    void set_sources(const Value& wanted) {
        const Value has = sources();
        if (has.is_hash()) {
            for (const auto& e : has.as_hash()) {
                const std::string name = plain(e.key);
                if (wanted.is_hash() ? !wanted.as_hash().find(name) : name != remote())
                    git({"remote", "remove", name});
            }
        }
        if (has.is_string() && wanted.is_string()) return create();
        update_remotes(wanted);
    }
    void update_remotes(const Value& wanted) {
        bool changed = false;
        if (wanted.is_hash()) {
            std::vector<std::pair<std::string, std::string>> each;
            for (const auto& e : wanted.as_hash()) each.emplace_back(plain(e.key), plain(e.value));
            std::ranges::sort(each);
            for (const auto& [name, from] : each) changed |= update_remote(name, from);
        } else {
            changed = update_remote(remote(), plain(wanted));
        }
        if (!changed) return;
        enter();
        git_of_remote(folder(), {"remote", "update"});
    }
    bool update_remote(const std::string& name, const std::string& from) {
        const std::string has = git({"config", "-l"});
        if (has.contains(fmt::format("remote.{}.url={}", name, from))) return false;
        const bool known = has.contains(fmt::format("remote.{}.url", name));
        if (known) {
            git({"remote", "set-url", name, from});
        } else {
            git({"remote", "add", name, from});
        }
        return true;
    }
    void update_references() {
        enter();
        git_of_remote(folder(), {"fetch", remote()});
        git_of_remote(folder(), git_version(context_) < kGitForcesTags
                                    ? Words{"fetch", "--tags", remote()}
                                    : Words{"fetch", "--tags", "--force", remote()});
        give_to_owner();
    }
    void update_submodules() {
        if (!wants_bare() && flag("submodules"))
            git({"submodule", "update", "--init", "--recursive"});
    }
    void set_revision(const std::string& wanted) {
        check_out(wanted);
        if (is_local_branch(wanted))
            git({"reset", "--hard",
                 has("source") ? fmt::format("{}/{}", remote(), wanted) : wanted});
        update_submodules();
        give_to_owner();
    }
    void check_out(const std::string& wanted) {
        const bool keep = flag("keep_local_changes");
        if (keep) git({"stash", "save"});
        if (!is_local_branch(wanted) && is_remote_branch(wanted)) {
            git({"checkout", "--force", "-b", wanted, "--track",
                 fmt::format("{}/{}", remote(), wanted)});
        } else {
            git({"checkout", "--force", wanted});
        }
        if (keep) git({"stash", "pop"});
    }

    // Ownership.
    template <class Find>
    static std::uint32_t id_of(const std::string& name, std::string_view kind, const Find& find) {
        if (const auto id = base::parse_integer<std::uint32_t>(name)) return *id;
        const auto id = find();
        if (!id) throw BytesError(fmt::format("can't find {} for {}", kind, name));
        return *id;
    }
    std::uint32_t user_id(const std::string& name) const {
        return id_of(name, "user", [&]() -> std::optional<std::uint32_t> {
            const auto found = context_.system.users.user(name);
            return found ? std::optional(found->uid) : std::nullopt;
        });
    }
    std::uint32_t group_id(const std::string& name) const {
        return id_of(name, "group", [&]() -> std::optional<std::uint32_t> {
            const auto found = context_.system.users.group(name);
            return found ? std::optional(found->gid) : std::nullopt;
        });
    }
    void give_to_owner() {
        std::optional<std::uint32_t> uid, gid;
        if (has("owner")) uid = user_id(text("owner"));
        if (has("group")) gid = group_id(text("group"));
        if (!uid && !gid) return;
        std::vector<std::string> todo{folder()};
        while (!todo.empty()) {
            const std::string path = std::move(todo.back());
            todo.pop_back();
            const auto found = unwrap(files().look(path));
            if (!found) continue;
            if (found->kind == sys::FileKind::Directory)
                for (const std::string& name : unwrap(files().list(path)))
                    todo.push_back(sys::join(path, name));
            if ((uid && found->uid != *uid) || (gid && found->gid != *gid))
                unwrap(files().set_owner(path, uid, gid, false));
        }
    }

    // Git's safe directories.
    std::string_view whose() const {
        return module_level(context_, spec_.name) < kSafeForAll ? "--global" : "--system";
    }
    std::string where() const { return files().is_directory(folder()) ? folder() : "/"; }
    bool known_safe() {
        const auto has = if_it_can([&] {
            return git_in(where(), {"config", std::string(whose()), "--get-all", "safe.directory"});
        });
        // The module compares the whole output with a single directory.
        return has && chomped(*has) == folder();
    }
    void note_safe_directory() {
        if (!has("owner")) return;
        if (text("owner") != text("user") && !known_safe()) {
            provider_log(Level::Notice,
                         fmt::format("Adding '{}' to safe directory list", folder()));
            git_in(where(), {"config", std::string(whose()), "--add", "safe.directory", folder()});
        } else if (module_level(context_, spec_.name) < kSafeForAll) {
            forget_safe_directory();
        }
    }
    void forget_safe_directory() {
        if (!known_safe()) return;
        provider_log(Level::Notice,
                     fmt::format("Removing '{}' from safe directory list", folder()));
        git_in(where(), {"config", std::string(whose()), "--unset", "safe.directory", folder()});
    }
};

}  // namespace

std::unique_ptr<Resource> make_vcsrepo(Context& context, const TypeSpec& spec) {
    return std::make_unique<Vcsrepo>(context, spec);
}

}  // namespace bunraku::apply
