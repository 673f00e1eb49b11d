// SPDX-License-Identifier: Apache-2.0
#include "modules/module/puppetfile.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <utility>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "modules/module/feed.h"
#include "modules/module/git.h"
#include "modules/module/names.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using Argument = Declaration::Argument;
using ModuleKind = PuppetfileModule::Kind;

bool is_true(const Argument& a) {
    return a.kind == Argument::Kind::Constant ? a.text == "true" : true;
}

/// An option's value and the name it was given under. Two names for the same option cause a
/// warning.
struct Given {
    std::string key;
    const Argument* value = nullptr;
};

/// Reads the arguments of one `mod`. Like r10k, uses the first kind that its options match: git,
/// svn, local, forge, tarball (R10K::Module's order of registration).
class ModuleReader {
public:
    ModuleReader(const Declaration& word) : word_(word) { m_.line = word.line; }

    Result<PuppetfileModule> read() {
        BUNRAKU_TRY_VOID(sort_arguments());
        BUNRAKU_TRY_VOID(choose_kind());
        for (const Argument& a : word_.arguments) {
            if (!a.key.empty()) BUNRAKU_TRY_VOID(option(a));
        }
        BUNRAKU_TRY_VOID(check());
        return std::move(m_);
    }

private:
    std::unexpected<base::Error> refuse(const std::string& text) const {
        return failure(fmt::format("line {}: {}", word_.line, text));
    }
    const Argument* find(std::string_view key) const {
        const Argument* out = nullptr;
        for (const Argument& a : word_.arguments) {
            if (a.key == key) out = &a;
        }
        return out;
    }
    Result<void> sort_arguments() {
        std::size_t position = 0;
        for (const Argument& a : word_.arguments) {
            if (!a.key.empty()) continue;
            if (position == 0) {
                m_.name = a.text;
            } else if (a.kind == Argument::Kind::Symbol && a.text == "local") {
                m_.kind = ModuleKind::Local;
            } else if (a.kind == Argument::Kind::Constant) {
                if (a.text != "nil") return refuse(fmt::format("'{}' is not a version", a.text));
            } else {
                // librarian-puppet permits several requirements.
                m_.version += (m_.version.empty() ? "" : " ") + a.text;
            }
            ++position;
        }
        hash_ = position < 2;
        if (position == 0) return refuse("mod takes a name");
        return {};
    }
    Result<void> choose_kind() {
        const Argument* type = find("type");
        const auto is = [&](std::string_view name) { return type && type->text == name; };
        bool options = false;
        for (const Argument& a : word_.arguments) options |= !a.key.empty();
        if (find("git") || is("git")) {
            m_.kind = ModuleKind::Git;
        } else if (find("svn") || is("svn")) {
            m_.kind = ModuleKind::Svn;
        } else if ((find("local") && is_true(*find("local"))) || is("local")) {
            m_.kind = ModuleKind::Local;
        } else if (is("tarball")) {
            m_.kind = ModuleKind::Tarball;
        } else if (m_.kind != ModuleKind::Local && options && hash_ && !is("forge")) {
            std::string names;
            for (const Argument& a : word_.arguments) {
                if (!a.key.empty()) names += (names.empty() ? ":" : ", :") + a.key;
            }
            return refuse(
                fmt::format("Module {} with args {{{}}} doesn't have an implementation. "
                            "(Are you using the right arguments?)",
                            m_.name, names));
        }
        return {};
    }
    /// Records which option set a value. The last one wins, as in r10k.
    void set(std::string& target, Given& given, const Argument& a) {
        if (!given.key.empty()) {
            m_.warnings.push_back(
                fmt::format("{} parameters '{}' and '{}' conflict. Specify one or the other, but "
                            "not both",
                            class_name(), given.key, a.key));
        }
        given = {a.key, &a};
        target = a.kind == Argument::Kind::Constant && a.text == "nil" ? "" : a.text;
    }
    std::string_view class_name() const {
        switch (m_.kind) {
            case ModuleKind::Git: return "R10K::Module::Git";
            case ModuleKind::Svn: return "R10K::Module::SVN";
            case ModuleKind::Tarball: return "R10K::Module::Tarball";
            case ModuleKind::Local: return "R10K::Module::Local";
            case ModuleKind::Forge: break;
        }
        return "R10K::Module::Forge";
    }
    Result<void> option(const Argument& a) {
        const std::string& k = a.key;
        if (k == "install_path") {
            m_.moduledir = a.text;
            m_.own_folder = true;
            return {};
        }
        if (k == "exclude_spec") {
            m_.exclude_spec = is_true(a);
            return {};
        }
        if (k == "type") return {};
        // Options of g10k: link, fallback, sha256sum and these two spellings.
        if (k == "ignore-unreachable" || k == "ignore_unreachable") {
            m_.ignore_unreachable = is_true(a);
            return {};
        }
        bool known = true;
        switch (m_.kind) {
            case ModuleKind::Git:
                if (k == "git" || k == "source") {
                    set(m_.source, source_, a);
                } else if (k == "ref" || k == "tag" || k == "branch" || k == "commit" ||
                           k == "version") {
                    set(m_.ref, ref_, a);
                    m_.of_control_branch =
                        a.kind == Argument::Kind::Symbol && a.text == "control_branch";
                } else if (k == "default_branch") {
                    m_.default_refs = {a.text};
                } else if (k == "fallback") {
                    for (const auto name : base::split(a.text, '|'))
                        if (!name.empty()) m_.default_refs.emplace_back(name);
                } else if (k == "link") {
                    m_.of_control_branch = is_true(a);
                } else {
                    known = k == "default_branch_override";
                }
                break;
            case ModuleKind::Svn:
                if (k == "svn" || k == "source") {
                    set(m_.source, source_, a);
                } else if (k == "rev" || k == "revision" || k == "version") {
                    set(m_.ref, ref_, a);
                } else if (k == "username") {
                    m_.user = a.text;
                } else if (k == "password") {
                    m_.password = a.text;
                } else {
                    known = false;
                }
                break;
            case ModuleKind::Tarball:
                if (k == "source") {
                    set(m_.source, source_, a);
                } else if (k == "version" || k == "checksum") {
                    set(m_.checksum, ref_, a);
                } else {
                    return refuse(fmt::format("{} cannot handle option '{}'", class_name(), k));
                }
                break;
            case ModuleKind::Forge:
                if (k == "version") {
                    set(m_.version, ref_, a);
                } else if (k == "sha256sum") {
                    m_.checksum = a.text;
                } else {
                    known = k == "source";
                }
                break;
            case ModuleKind::Local: break;
        }
        if (!known) {
            m_.warnings.push_back(fmt::format("'{}' cannot handle option '{}'", m_.name, k));
        }
        return {};
    }
    /// Names become folders, and references become arguments of programs, so both are validated.
    Result<void> check() {
        const auto full = parse_module_name(m_.name);
        const bool plain = !m_.name.empty() && m_.name.size() < 200 &&
                           m_.name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
                               "TUVWXYZ0123456789_") == std::string::npos;
        if (!full && !(plain && m_.kind != ModuleKind::Forge)) {
            return refuse(fmt::format("'{}' is not a module name", m_.name));
        }
        const auto option = [](const std::string& text) { return text.starts_with('-'); };
        if (option(m_.source) || option(m_.ref) || option(m_.user) ||
            std::ranges::any_of(m_.default_refs, option)) {
            return refuse("an address or reference cannot begin with '-'");
        }
        const bool needs = m_.kind == ModuleKind::Git || m_.kind == ModuleKind::Svn ||
                           m_.kind == ModuleKind::Tarball;
        if (needs && m_.source.empty()) {
            return refuse(fmt::format("'{}' has no source address", m_.name));
        }
        if (m_.kind == ModuleKind::Tarball || m_.kind == ModuleKind::Forge) {
            m_.checksum = base::lower(m_.checksum);
            if (!m_.checksum.empty() &&
                (m_.checksum.size() != 64 ||
                 m_.checksum.find_first_not_of("0123456789abcdef") != std::string::npos)) {
                return refuse(fmt::format("'{}' is not a SHA-256 checksum", m_.checksum));
            }
        }
        if (m_.kind == ModuleKind::Forge && m_.version == "present") m_.version.clear();
        if (m_.kind == ModuleKind::Forge && !m_.version.empty() && m_.version != "latest" &&
            !base::SemVerRange::parse(m_.version)) {
            return refuse(fmt::format("'{}' is neither a version nor a range", m_.version));
        }
        return {};
    }

    const Declaration& word_;
    PuppetfileModule m_;
    Given source_, ref_;
    bool hash_ = false;  ///< true if there are options but no version after the name
};

}  // namespace

std::string PuppetfileModule::folder() const {
    const std::size_t cut = name.find_first_of("-/");
    return cut == std::string::npos ? name : name.substr(cut + 1);
}

bool PuppetfileModule::floats() const {
    switch (kind) {
        case ModuleKind::Git: return !is_commit(ref);
        case ModuleKind::Svn: return ref.empty();
        case ModuleKind::Forge: return version == "latest";
        case ModuleKind::Tarball: return false;
        case ModuleKind::Local: break;
    }
    return false;
}

Result<Puppetfile> interpret_puppetfile(const std::vector<Declaration>& words) {
    Puppetfile out;
    std::string folder;
    for (const Declaration& d : words) {
        if (d.word == "mod") {
            auto module = BUNRAKU_TRY(ModuleReader(d).read());
            if (!module.own_folder) module.moduledir = folder;
            out.modules.push_back(std::move(module));
        } else if (d.word == "forge" || d.word == "moduledir") {
            if (d.arguments.size() != 1 || !d.arguments[0].key.empty()) {
                return failure(fmt::format("line {}: {} takes one string", d.line, d.word));
            }
            if (d.word == "forge") out.forge = d.arguments[0].text;
            if (d.word == "moduledir") folder = out.moduledir = d.arguments[0].text;
        } else if (d.word == "metadata" || d.word == "modulefile") {
            out.wants_metadata = true;
        } else if (d.word != "exclusion") {
            // An exclusion can be ignored, because it only excludes dependencies, and dependencies
            // are never installed here.
            return failure(fmt::format(
                "line {}: unknown keyword '{}': expected forge, moduledir or mod", d.line, d.word));
        }
    }
    std::map<std::string, int> seen;
    std::string twice;
    for (const PuppetfileModule& m : out.modules) {
        if (++seen[m.folder()] == 2) twice += " " + m.folder();
    }
    if (!twice.empty()) {
        return failure(
            "Puppetfiles cannot contain duplicate module names. Remove the duplicates of the "
            "following modules:" +
            twice);
    }
    return out;
}

Result<Puppetfile> parse_puppetfile(std::string_view text) {
    return interpret_puppetfile(BUNRAKU_TRY(parse_puppetfile_words(text)));
}

namespace {

/// Adds the dependencies in the metadata.json next to the Puppetfile (librarian-puppet's
/// `metadata`).
Result<void> add_dependencies(sys::System& system, const std::string& path, Puppetfile& file) {
    const std::string from = std::string(sys::directory_name(path)) + "/metadata.json";
    auto text = system.files.read(from);
    if (!text) return failure("Metadata file does not exist: " + from);
    auto metadata = parse_metadata(*text);
    if (!metadata) return failure(from + ": " + metadata.error().message);
    for (const Dependency& d : metadata->dependencies) {
        PuppetfileModule m;
        m.name = d.name;
        m.version = d.requirement == ">= 0.0.0" ? std::string() : d.requirement;
        bool there = false;
        for (const PuppetfileModule& other : file.modules) there |= other.folder() == m.folder();
        if (!there) file.modules.push_back(std::move(m));
    }
    return {};
}

}  // namespace

Result<Puppetfile> read_puppetfile(sys::System& system, const std::string& path,
                                   std::string_view text, const std::string& environment) {
    auto words = parse_puppetfile_words(text);
    if (!words) {
        auto read = ruby::read_puppetfile(system.processes, path, text, environment);
        if (!read && read.error().code == ENOENT) {
            return failure(fmt::format("{}; {}", words.error().message, read.error().message));
        }
        if (!read) return std::unexpected(read.error());
        words = std::move(read);
    }
    auto file = BUNRAKU_TRY(interpret_puppetfile(*words));
    if (file.wants_metadata) BUNRAKU_TRY_VOID(add_dependencies(system, path, file));
    return file;
}

}  // namespace bunraku::module
