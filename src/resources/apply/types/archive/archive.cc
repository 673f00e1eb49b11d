// SPDX-License-Identifier: Apache-2.0
// The type archive: a file that is downloaded and extracted (puppet-archive 4.1.0, 6.1.2 to 8.1.0),
// with its provider curl. The module's Ruby code handles rarely used features.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/content_source.h"
#include "resources/apply/execution.h"
#include "resources/apply/local_content.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/types/file/checksum.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

/// From this level on, the archive is removed after extraction even if that failed, and whether or
/// not `creates` exists.
constexpr int kCleansAlways = 1;
/// From this level on, the module passes the folder to the command instead of changing its own
/// working directory. It also supports additional headers.
constexpr int kFolderOfCommand = 2;

bool archive_suitable(Context& context) { return has_command(context, "curl"); }
constexpr ProviderClass kArchiveCurl{
    .name = "curl", .suitable = archive_suitable, .default_for = [](Context&) { return 1; }};
constexpr const ProviderClass* kArchiveProviders[] = {&kArchiveCurl};

/// Reports whether Ruby's Shellwords leave the path unchanged.
bool plain_path(std::string_view path) {
    return path.starts_with('/') && std::ranges::all_of(path, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("/._-+,:@").contains(c);
           });
}

bool is_switch(const Value& v) {
    return v.is_undef() || v.is(value::Kind::Boolean) || is_word(v, "true") || is_word(v, "false");
}

bool yes(const Value& v) {
    return v.is(value::Kind::Boolean) ? v.as_boolean() : is_word(v, "true");
}

/// The extract command for a file extension and its default flags. {0} is the file and {1} are the
/// flags.
struct Packing {
    std::string_view ending, flags, command;
};
constexpr Packing kPackings[] = {{".tar", "xf", "tar {1} {0}"},
                                 {".tgz", "xzf", "tar {1} {0}"},
                                 {".tar.gz", "xzf", "tar {1} {0}"},
                                 {".tbz", "xjf", "tar {1} {0}"},
                                 {".tar.bz2", "xjf", "tar {1} {0}"},
                                 {".txz", "", "unxz {2} {0} | tar {1} -"},
                                 {".tar.xz", "", "unxz {2} {0} | tar {1} -"},
                                 {".gz", "-d", "gunzip {1} {0}"},
                                 {".zip", "-o", "unzip {1} {0}"},
                                 {".war", "-o", "unzip {1} {0}"},
                                 {".jar", "-o", "unzip {1} {0}"}};
const Packing* packing_of(std::string_view path) {
    const auto at =
        std::ranges::find_if(kPackings, [&](const Packing& k) { return path.ends_with(k.ending); });
    return at == std::end(kPackings) ? nullptr : at;
}

class Archive final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kArchiveProviders;
    }

    bool does(const Given& given) const override {
        const Value provider = given("provider");
        if (!provider.is_undef() && !is_word(provider, "curl")) return false;
        if (!archive_suitable(context_)) return false;
        for (const char* name :
             {"filename", "target", "url", "digest_string", "checksum_url", "digest_url",
              "digest_type", "username", "password", "headers", "proxy_type", "proxy_server"}) {
            if (!given(name).is_undef()) return false;
        }
        for (const char* name : {"extract", "cleanup", "checksum_verify", "allow_insecure"}) {
            if (!is_switch(given(name))) return false;
        }
        if (!all_texts_or_nothing(
                given, {"ensure", "creates", "path", "extract_path", "extract_command", "temp_dir",
                        "extract_flags", "source", "cookie", "checksum", "checksum_type", "user",
                        "group", "download_options"}))
            return false;
        const auto text = [&](std::string_view name) {
            const Value v = given(name);
            return v.is_string() ? v.as_string() : std::string_view();
        };
        for (const char* name : {"extract_path", "temp_dir", "creates"}) {
            if (!given(name).is_undef() && !plain_path(text(name))) return false;
        }
        const std::string_view path = text(given("path").is_undef() ? "title" : "path");
        if (!plain_path(path) || path.ends_with('/')) return false;
        // If no extract command is known for the file, Puppet's run fails.
        if (yes(given("extract")) && given("extract_command").is_undef() && !packing_of(path))
            return false;
        const std::string_view source = text("source"), sum = text("checksum");
        if (!given("source").is_undef() && !known_source(source)) return false;
        if (!given("checksum").is_undef() &&
            (sum.size() < 32 || sum.size() > 128 ||
             sum.find_first_not_of("0123456789abcdef") != std::string_view::npos))
            return false;
        if (text("checksum_type") == "sha2") return false;
        return known_command(given("extract_command"));
    }

    void validate_value(const Attribute& a, const Value& v) override {
        const std::string text = plain(v);
        if (a.name == "path" && !text.starts_with('/'))
            throw PuppetError(fmt::format("archive path must be absolute: {}", text));
        Resource::validate_value(a, v);
    }
    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "allow_insecure") return coerced(v);
        return Resource::munge(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "extract") return Value::string("false");
        if (a.name == "cleanup" || a.name == "checksum_verify") return Value::string("true");
        if (a.name == "checksum_type") return Value::string("none");
        return {};
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        const auto requires_ = [&](std::string_view type, std::string title) {
            out.push_back({Relation::Require, type, std::move(title)});
        };
        requires_("file", std::string(sys::directory_name(file())));
        if (find("extract_path")) requires_("file", text("extract_path"));
        requires_("file", "/root/.aws/config");
        requires_("file", "/root/.aws/credentials");
        requires_("exec", "install_aws_cli");
        if (level() >= kCleansAlways) requires_("exec", "install_gsutil");
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "ensure") return Value::string(exists() ? "present" : "absent");
        if (flag("extract") && !extracted()) return Value::string("archive not extracted");
        return get("creates");
    }

    void sync(Param& p) override {
        if (p.spec->name == "creates") return extract();
        const std::string wanted = plain(should(p));
        call_value(*this, wanted, p.spec->name, [&] {
            if (wanted == "absent") return destroy();
            create();
        });
    }

    std::string is_text(const Param& p, const Value& is) const override {
        if (p.spec->name == "ensure" && found_)
            return fmt::format("({}){}", text("checksum_type"), *found_);
        return Resource::is_text(p, is);
    }
    std::string should_text(const Param& p, const Value& should) const override {
        if (p.spec->name == "creates")
            return fmt::format("extracting in {} to create {}", text("extract_path"),
                               plain(should));
        if (found_) return fmt::format("({}){}", text("checksum_type"), text("checksum"));
        return Resource::should_text(p, should);
    }
    std::string change_text(const Param& p, const Value& is, const Value& should) const override {
        if (p.spec->name != "ensure") return Resource::change_text(p, is, should);
        if (is.is_undef() || apply::is_absent(is)) {
            if (found_)
                return fmt::format("replace archive: {} from {} to {}", file(), is_text(p, is),
                                   should_text(p, should));
            return fmt::format(
                "download archive from {} to {} {} {}", text("source"), file(),
                flag("extract") ? "and extracted in " + text("extract_path") : std::string(),
                flag("cleanup") ? "with cleanup" : "without cleanup");
        }
        if (apply::is_absent(should)) return fmt::format("remove archive: {} ", file());
        return Resource::change_text(p, is, should);
    }

private:
    static bool known_source(std::string_view source) {
        if (source.starts_with("http://") || source.starts_with("https://"))
            return source.find_first_of(" \t\n") == std::string_view::npos;
        if (source.starts_with("puppet:///")) return true;
        if (source.starts_with("file://")) source.remove_prefix(7);
        return plain_path(source);
    }
    /// Reports whether the command has at most the file as its format argument.
    static bool known_command(const Value& command) {
        if (command.is_undef()) return true;
        const std::string_view text = command.as_string();
        const auto at = text.find('%');
        if (at == std::string_view::npos) return true;
        return text.substr(at).starts_with("%s") &&
               text.find('%', at + 1) == std::string_view::npos;
    }

    int level() const { return module_level(context_, spec_.name); }
    std::string file() const { return text("path"); }
    bool there(const std::string& path) const { return unwrap(context_.system.files.there(path)); }
    bool extracted() const { return find("creates") && there(text("creates")); }

    bool exists() {
        if (!extracted() || there(file())) return sum_is_right();
        clean_up();
        return true;
    }
    bool sum_is_right() {
        if (!there(file())) return false;
        if (text("checksum_type") == "none") return true;
        found_ = sum_of(file());
        return text("checksum") == *found_;
    }
    std::string sum_of(const std::string& path) const {
        return checksum_data(checksum_of_file(context_, text("checksum_type"), path));
    }
    void destroy() {
        if (there(file())) unwrap(context_.system.files.remove(file()));
    }
    void clean_up() {
        if (!flag("cleanup") || !(level() < kCleansAlways ? extracted() : flag("extract"))) return;
        context_.message(Level::Debug, fmt::format("Cleanup archive {}", file()));
        destroy();
    }

    void create() {
        try {
            if (!sum_is_right()) download();
            extract();
        } catch (...) {
            if (level() >= kCleansAlways) clean_up();
            throw;
        }
        clean_up();
    }
    void extract() {
        if (!flag("extract")) return;
        if (!find("extract_path")) ruby_error("missing archive extract_path");
        sys::FileSystem& files = context_.system.files;
        const std::string folder = text("extract_path");
        const auto real = files.real_path(folder);
        // The command would follow a link of another user to the folder.
        if (!real && real.error().code == ELOOP) throw base::plain_error(real.error().message);
        if (!real && level() < kFolderOfCommand)
            ruby_error(fmt::format("No such file or directory @ dir_chdir - {}", folder));
        const std::string command = extracting();
        context_.message(Level::Debug,
                         fmt::format("Archive extracting {} in {}: {}", file(), folder, command));
        Execute how{.cwd = folder};
        if (find("user")) how.user = text("user");
        if (find("group")) how.group = text("group");
        if (how.user || how.group) unwrap(files.set_mode(file(), 0644));
        execute_line(context_, command, how);
    }
    std::string extracting() const {
        const bool flags = find("extract_flags") != nullptr;
        if (find("extract_command")) {
            std::string command = text("extract_command");
            if (const auto at = command.find("%s"); at != std::string::npos)
                return command.replace(at, 2, file());
            // Without flags, Ruby inserts the word undef.
            return fmt::format("{} {} {}", command, flags ? text("extract_flags") : "undef",
                               file());
        }
        const Packing* kind = packing_of(file());
        if (!kind) throw PuppetError(fmt::format("Unknown filetype: {}", file()));
        const std::string text_of_flags = text("extract_flags");
        const std::string_view given = text_of_flags;
        const bool twice = kind->flags.empty();
        const std::string_view own = twice ? "xf" : kind->flags;
        return fmt::format(fmt::runtime(kind->command), file(), flags ? given : own,
                           flags ? given : "-dc");
    }

    void download() {
        const bool last = level() >= kFolderOfCommand;
        if (last && !find("source")) no_source();
        std::string folder = text("temp_dir");
        if (!folder.empty()) {
            const auto found = unwrap(context_.system.files.look(folder, true));
            if (!found || found->kind != sys::FileKind::Directory)
                throw PuppetError(fmt::format("Temporary directory {} doesn't exist", folder));
        } else {
            const char* given = std::getenv("TMPDIR");
            folder = given && *given == '/' ? given : "/tmp";
        }
        if (!find("source")) no_source();
        sys::FileSystem& files = context_.system.files;
        const std::string temporary =
            sys::join(folder, fmt::format("{}_{}{:x}", sys::base_name(file()), text("checksum"),
                                          context_.system.clock.now_ns()));
        struct Removed {
            sys::FileSystem& files;
            const std::string& path;
            ~Removed() { (void)files.remove(path); }
        } removed{files, temporary};
        fetch(temporary);
        if (flag("checksum_verify") && text("checksum_type") != "none") {
            const std::string sum = sum_of(temporary);
            if (sum != text("checksum")) {
                if (level() >= kCleansAlways) destroy();
                throw PuppetError(
                    fmt::format("Download file checksum mismatch (expected: {} actual: {})",
                                text("checksum"), sum));
            }
        }
        unwrap(files.make_directories(std::string(sys::directory_name(file()))));
        move(temporary);
    }
    [[noreturn]] static void no_source() {
        throw PuppetError("Unable to fetch archive, the source parameter is nil.");
    }

    void fetch(const std::string& to) {
        const std::string source = text("source");
        sys::FileSystem& files = context_.system.files;
        if (source.starts_with("http")) return fetch_by_curl(source, to);
        if (source.starts_with("puppet:")) {
            ContentSource& content = content_source(context_, source);
            if (!unwrap(content.metadata(source, {.follow_links = true})))
                ruby_error(
                    fmt::format("Could not retrieve information from environment {} "
                                "source(s) {}'",
                                context_.options.environment, source));
            const auto reader = unwrap(content.open(source));
            unwrap(files.replace_from(
                to, [&](const sys::Write& write) { return sys::pump(*reader, write); }));
            return;
        }
        const std::string from = source.starts_with("file://") ? source.substr(7) : source;
        if (!source.starts_with("file:") && !there(from))
            throw PuppetError(fmt::format("Source file: {} does not exists.", from));
        const auto reader = unwrap(files.open(from));
        const std::uint32_t mode = unwrap(files.stat(from)).mode;
        unwrap(files.write(to, "", mode & 0777));
        // the mode after the umask was applied
        const std::uint32_t given = unwrap(files.stat(to)).mode;
        unwrap(files.replace_from(
            to, [&](const sys::Write& write) { return sys::pump(*reader, write); },
            {.mode = given}));
    }
    void fetch_by_curl(const std::string& source, const std::string& to) const {
        std::vector<std::string> argv{command_path(context_, "curl")};
        // Any user can read the arguments of a process, so secrets are passed on standard input.
        Execute how;
        const auto configure = [&](std::string_view option, std::string_view v) {
            how.input += fmt::format("{} = \"", option);
            for (const char c : v)
                how.input += c == '"' || c == '\\' ? std::string{'\\', c}
                             : c == '\n'           ? "\\n"
                                                   : std::string(1, c);
            how.input += "\"\n";
        };
        if (secrets()) {
            configure("url", source);
            argv.insert(argv.end(), {"-K", "-"});
        } else {
            argv.push_back(source);
        }
        argv.insert(argv.end(), {"-o", to, "-fsSLg", "--max-redirs", "5"});
        const auto cookie = [&] {
            if (!find("cookie")) return;
            if (secrets()) return configure("cookie", text("cookie"));
            argv.insert(argv.end(), {"--cookie", text("cookie")});
        };
        const bool early = level() < kCleansAlways;
        if (early) cookie();
        if (flag("allow_insecure")) argv.emplace_back("--insecure");
        if (find("download_options")) argv.push_back(text("download_options"));
        if (!early) cookie();
        execute(context_, argv, how);
    }
    void move(const std::string& from) const {
        sys::FileSystem& files = context_.system.files;
        const auto renamed = files.rename(from, file());
        if (renamed) return;
        if (renamed.error().code != EXDEV) throw_system(renamed.error());
        const sys::FileStatus copied = unwrap(files.stat(from));
        unwrap(
            files.copy(from, file(), {.mode = copied.mode, .uid = copied.uid, .gid = copied.gid}));
        unwrap(files.set_mtime(file(), copied.mtime_ns));
    }

    /// The checksum of the existing file.
    std::optional<std::string> found_;
};

}  // namespace

std::unique_ptr<Resource> make_archive(Context& context, const TypeSpec& spec) {
    return std::make_unique<Archive>(context, spec);
}

}  // namespace bunraku::apply
