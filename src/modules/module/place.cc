// SPDX-License-Identifier: Apache-2.0
// Installs a module's tree at its path, and draws trees of modules.
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/number.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "modules/module/tarball.h"
#include "modules/module/tool.h"

namespace bunraku::module {

namespace {

using base::Result;

/// Sets the owner of every file in a tree to the owner of the containing folder, as Puppet does.
void harmonize_owner(const std::string& tree, const std::string& folder) {
    struct stat want{};
    if (::geteuid() != 0 || ::stat(folder.c_str(), &want) != 0) return;
    if (want.st_uid == 0 && want.st_gid == 0) return;
    // A file whose owner cannot be changed keeps it.
    const auto change = [&](const std::filesystem::path& path) {
        [[maybe_unused]] const int status = ::lchown(path.c_str(), want.st_uid, want.st_gid);
    };
    std::error_code unreadable;
    change(tree);
    for (std::filesystem::recursive_directory_iterator it(tree, unreadable), end;
         it != end && !unreadable; it.increment(unreadable))
        change(it->path());
}

}  // namespace

std::string colored(bool on, std::string_view color, std::string_view text) {
    if (!on) return std::string(text);
    const char* code = color == "cyan"  ? "\033[0;36m"
                       : color == "red" ? "\033[0;31m"
                                        : "\033[0;41m";
    return fmt::format("{}{}\033[0m", code, text);
}

std::string draw_tree(const std::vector<TreeNode>& nodes, int level) {
    std::string out;
    const std::string indent(static_cast<std::size_t>(level) * 2, ' ');
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool last = i + 1 == nodes.size();
        out += indent;
        out += last ? "└" : "├";
        out += "─";
        out += nodes[i].children.empty() ? "─" : "┬";
        out += " " + nodes[i].text + "\n";
        std::string branch = draw_tree(nodes[i].children, level + 1);
        if (!last) {
            // Everything below this node is prefixed with the line to the next sibling.
            std::string lined;
            std::string_view rest = branch;
            while (!rest.empty()) {
                const std::size_t eol = rest.find('\n') + 1;
                std::string_view row = rest.substr(0, eol);
                rest.remove_prefix(eol);
                if (row.starts_with(indent + " ")) {
                    lined += indent + "│";
                    row.remove_prefix(indent.size() + 1);
                }
                lined += row;
            }
            branch = std::move(lined);
        }
        out += branch;
    }
    return out;
}

void remove_leftovers(const std::string& target) {
    auto& fs = sys::disk();
    const std::string folder(sys::directory_name(target));
    const std::string name = fmt::format(".{}.", sys::base_name(target));
    auto names = fs.list(folder);
    if (!names) return;
    for (const std::string& other : *names) {
        if (!other.starts_with(name)) continue;
        const std::string_view rest = std::string_view(other).substr(name.size());
        const std::size_t dot = rest.find('.');
        const auto pid = base::parse_integer<pid_t>(rest.substr(0, dot));
        const bool ours = dot != rest.npos && pid && *pid > 0 &&
                          (rest.substr(dot) == ".new" || rest.substr(dot) == ".old");
        if (ours && ::kill(*pid, 0) != 0 && errno == ESRCH) {
            (void)fs.remove_all(folder + "/" + other);
        }
    }
}

Result<void> place_tree(const std::string& target,
                        const std::function<Result<void>(const std::string&)>& fill) {
    auto& fs = sys::disk();
    remove_leftovers(target);
    const std::string folder(sys::directory_name(target));
    const std::string stem = fmt::format("{}/.{}.{}", folder, sys::base_name(target), ::getpid());
    const std::string fresh = stem + ".new", old = stem + ".old";
    BUNRAKU_TRY_VOID(fs.remove_all(fresh));
    if (auto filled = fill(fresh); !filled) {
        (void)fs.remove_all(fresh);
        return filled;
    }
    harmonize_owner(fresh, folder);
    struct stat there{};
    if (::lstat(target.c_str(), &there) == 0) {
        // Exchange both atomically, then remove the old tree.
        if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
            return fs.remove_all(fresh);
        }
        BUNRAKU_TRY_VOID(fs.rename(target, old));
    }
    auto done = fs.rename(fresh, target);
    (void)fs.remove_all(done ? old : fresh);
    return done;
}

Result<void> place_module(std::string_view archive, const std::string& target) {
    return place_tree(target,
                      [&](const std::string& fresh) { return unpack_tarball(archive, fresh); });
}

}  // namespace bunraku::module
