// SPDX-License-Identifier: Apache-2.0
// Detection of each distribution from its own files.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "resources/facts/context.h"
#include "resources/facts/os.h"

namespace bunraku::facts {

namespace {

struct OsFamily {
    std::string_view id, rules_family;
};
/// Families of distributions. A distribution that is not listed uses its ID_LIKE.
constexpr OsFamily kOsFamilies[] = {
    {"debian", "debian"},   {"elementary", "debian"}, {"ubuntu", "debian"}, {"linuxmint", "debian"},
    {"raspbian", "debian"}, {"devuan", "debian"},     {"rhel", "rhel"},     {"fedora", "rhel"},
    {"amzn", "rhel"},       {"centos", "rhel"},       {"ol", "rhel"},       {"scientific", "rhel"},
    {"meego", "rhel"},      {"oel", "rhel"},          {"ovs", "rhel"},      {"mariner", "rhel"},
    {"azurelinux", "rhel"}, {"sles", "sles"},         {"opensuse", "sles"}, {"sled", "sles"},
    {"archlinux", "linux"}, {"gentoo", "linux"},      {"alpine", "linux"},  {"photon", "linux"},
    {"slackware", "linux"}, {"mageia", "linux"},      {"openwrt", "linux"},
};

struct Family {
    std::string_view name, members;
};
constexpr Family kFamilies[] = {
    {"RedHat",
     "redhat rhel fedora centos scientific ascendos cloudlinux psbm oraclelinux ovs oel "
     "amazon xenserver xcp-ng virtuozzo photon mariner azurelinux"},
    {"Debian", "debian ubuntu huaweios linuxmint devuan kde"},
    {"Suse", "sles sled suse"},
    {"Gentoo", "gentoo"},
    {"Archlinux", "arch manjaro"},
    {"Mandrake", "mandrake mandriva mageia"},
};

using Pairs = std::map<std::string, std::string, std::less<>>;

std::string capitalized_word(std::string_view text) {
    std::string out = base::lower(text);
    if (!out.empty()) out[0] = base::upper(out[0]);
    return out;
}

/// Returns the short name: CentOS for "CentOS Stream", RedHat for "Red Hat Enterprise Linux",
/// Archlinux for "Arch Linux".
std::string short_name(std::string_view name) {
    const std::string lower = base::lower(name);
    if (lower.starts_with("sles")) return "SLES";
    const auto words = base::words(name, " ");
    if (words.empty()) return {};
    const auto starts = [&](std::initializer_list<std::string_view> with) {
        return std::ranges::any_of(with, [&](std::string_view w) { return lower.starts_with(w); });
    };
    std::string out(words[0]);
    if (starts({"red", "oracle", "arch", "manjaro"})) {
        if (words.size() > 1) out += words[1];
    } else if (lower.ends_with("azure linux") && words.size() > 2) {
        out = std::string(words[1]) + std::string(words[2]);
    } else if (lower.ends_with("mariner")) {
        out = words.back();
    }
    if (starts({"arch", "manjaro"})) out = capitalized_word(out);
    if (starts({"virtuozzo"})) out += "Linux";
    return out;
}

ReleaseParts parts_of(std::string_view version, bool patch = false) {
    ReleaseParts out;
    if (version.empty()) return out;
    const auto parts = base::split(version, '.');
    out.full = version;
    out.major = parts[0];
    if (parts.size() > 1) out.minor = parts[1];
    if (patch && parts.size() > 2) out.patch = parts[2];
    return out;
}

/// Returns the text after `key`, as long as it consists of the given characters.
std::string after(std::string_view text, std::string_view key,
                  std::string_view of = "0123456789.") {
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
        const auto rest = text.substr(at + key.size());
        const auto end = std::min(rest.find_first_not_of(of), rest.size());
        if (end > 0 && rest[0] != '.') return std::string(rest.substr(0, end));
    }
    return {};
}

/// Returns the version from the first line of "X release 1.2 (Name)".
std::string from_release_line(std::string_view text) {
    for (std::string_view line : base::split(text, '\n'))
        if (line.ends_with("Rawhide")) return "Rawhide";
    if (text.find("release") != text.npos) return after(text, "release ");
    return after(text, "Amazon Linux ", "0123456789");
}

struct RedHatRelease {
    std::string codename, description, distributor, name, version;
};
RedHatRelease parse_redhat(std::string_view text) {
    RedHatRelease out;
    if (text.empty()) return out;
    out.description = trim(text);
    const auto at = text.find("release");
    for (std::string_view word : base::words(trim(text.substr(0, at)), " ")) {
        if (base::same_ignoring_case(word, "linux")) continue;
        out.distributor += word;
        if (out.name.empty()) out.name = word;
    }
    if (at != text.npos) {
        const auto words = base::words(text.substr(at + 7), " \n");
        if (!words.empty()) out.version = words[0];
        const auto open = text.find('(', at), close = text.rfind(')');
        if (open != text.npos && close != text.npos && close > open) {
            for (char c : text.substr(open, close - open + 1))
                if (c != '(' && c != ')') out.codename += c;
        }
    }
    return out;
}

std::string codename_of_version(std::string_view version) {
    const auto open = version.find('(');
    if (open != version.npos && version.ends_with(')')) {
        std::string out;
        for (char c : version.substr(open))
            if (c != '(' && c != ')') out += c;
        if (!out.empty()) return out;
    }
    // "14.04.1 LTS, Trusty Tahr"
    const auto words = base::words(version, " ,");
    const auto letters = [](std::string_view w) {
        return std::ranges::all_of(w, [](char c) { return base::upper(c) != base::lower(c); });
    };
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (letters(words[i]) && letters(words[i + 1])) {
            const auto gap = words[i].data() + words[i].size();
            if (gap + 1 == words[i + 1].data()) return base::lower(words[i]);
        }
    return {};
}

class OsReader {
public:
    OsReader(sys::FileSystem& files, sys::Processes* processes)
        : files_(files), processes_(processes) {
        std::string text = read("/etc/os-release");
        if (text.empty()) text = read("/usr/lib/os-release");
        for (std::string_view line : split_lines(text)) {
            const auto eq = line.find('=');
            if (line.starts_with('#') || eq == line.npos) continue;
            std::string value(trim(line.substr(eq + 1)));
            std::erase(value, '"');
            if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
                value = value.substr(1, value.size() - 2);
            pairs_[base::lower(trim(line.substr(0, eq)))] = value;
        }
        if (std::string& id = pairs_["version_id"];
            !id.empty() && id.find('.') == std::string::npos)
            id += ".0";
        std::string& id = pairs_["id"];
        if (base::lower(id).find("sles_sap") != std::string::npos) id = "sles";
        if (base::lower(id).find("opensuse") != std::string::npos) id = "opensuse";
        redhat_ = parse_redhat(read("/etc/redhat-release"));
    }

    OsInfo info() {
        OsInfo out;
        const std::string id = identifier();
        out.rules_family = family_of(id);
        out.name = id == "linuxmint" ? capitalized_word(pair("id")) : short_name(pair("name"));
        if (out.name.empty() && out.rules_family == "rhel") out.name = redhat_.name;
        if (out.name.empty()) out.name = "Linux";
        out.family = family(out.rules_family);
        if (out.rules_family == "debian") {
            debian(out, id);
        } else if (out.rules_family == "rhel") {
            rhel(out, id);
        } else if (out.rules_family == "sles") {
            sles(out);
        } else {
            others(out, id);
        }
        return out;
    }

private:
    std::string read(const char* path) { return files_.read(path).value_or(""); }
    std::string pair(std::string_view name) const {
        const auto found = pairs_.find(name);
        return found == pairs_.end() ? std::string() : found->second;
    }

    std::string identifier() {
        if (files_.exists("/etc/devuan_version")) return "devuan";
        if (files_.exists("/etc/arch-release")) return "archlinux";
        if (const std::string id = pair("id"); !id.empty()) return base::lower(id);
        if (!redhat_.name.empty()) return "rhel";
        const std::string suse = read("/etc/SuSE-release");
        const auto words = base::words(suse, " \n");
        return words.empty() ? std::string() : base::lower(words[0]);
    }

    std::string family_of(std::string_view id) const {
        const auto of = [](std::string_view name) {
            const auto found = std::ranges::find(kOsFamilies, base::lower(name), &OsFamily::id);
            return found == std::end(kOsFamilies) ? std::string_view() : found->rules_family;
        };
        if (const auto rules_family = of(id); !rules_family.empty())
            return std::string(rules_family);
        const std::string like = pair("id_like");
        for (std::string_view word : base::words(like, " "))
            if (const auto rules_family = of(word); !rules_family.empty())
                return std::string(rules_family);
        return "linux";
    }

    std::string family(std::string_view rules_family) const {
        if (rules_family == "rhel") return "RedHat";
        if (rules_family == "sles") return "Suse";
        std::string like = pair("id_like");
        if (like.empty()) like = pair("id");
        if (like.empty()) return "Linux";
        const std::string lower = base::lower(like);
        for (const auto& [name, members] : kFamilies)
            for (std::string_view member : base::words(members, " "))
                if (lower.find(member) != std::string::npos) return capitalized_word(name);
        return capitalized_word(like);
    }

    std::string run(std::vector<std::string> argv) {
        if (!processes_ || !processes_->which(argv[0])) return {};
        auto outcome = processes_->run(
            {.argv = std::move(argv), .timeout = std::chrono::milliseconds(10'000)});
        return outcome && outcome->ok() ? std::move(outcome->output) : std::string();
    }

    /// Returns the output of `lsb_release -a` by its own names, such as "Distributor ID".
    const Pairs& lsb() {
        if (!lsb_loaded_) {
            lsb_loaded_ = true;
            const std::string text = run({"lsb_release", "-a"});
            for (std::string_view line : split_lines(text)) {
                const auto colon = line.find(':');
                if (colon == line.npos) continue;
                std::string value(line.substr(colon + 1));
                std::erase(value, '\t');
                lsb_[std::string(line.substr(0, colon))] = value;
            }
        }
        return lsb_;
    }
    std::string lsb(std::string_view name) {
        const auto& all = lsb();
        const auto found = all.find(name);
        return found == all.end() ? std::string() : found->second;
    }

    void debian(OsInfo& out, const std::string& id) {
        out.codename = pair("version_codename");
        if (out.codename.empty()) out.codename = codename_of_version(pair("version"));
        out.description = pair("pretty_name");
        out.distro_id = capitalized_word(pair("id"));
        // lsb_release is slow here, and it reports a specification only if this package is
        // installed.
        if (files_.is_directory("/usr/share/doc/lsb-core")) out.specification = lsb("LSB Version");
        if (id == "ubuntu" || id == "linuxmint") {
            const std::string version = pair("version_id");
            out.release = out.distro_release = {version, version, {}, {}};
            if (id == "linuxmint") {
                const std::string info = read("/etc/linuxmint/info");
                std::string own;
                for (std::string_view line : split_lines(info))
                    if (own.empty() && line.starts_with("RELEASE="))
                        own = after(line, "RELEASE=", "0123456789");
                out.release = parts_of(own.empty() ? version : own);
            }
            return;
        }
        if (id == "devuan") {
            const std::string own(trim(read("/etc/devuan_version")));
            out.release = parts_of(own.empty() ? pair("version_id") : own);
            out.distro_release = parts_of(lsb("Release"));
            return;
        }
        const std::string version(trim(read("/etc/debian_version")));
        out.release = parts_of(version);
        // "6.04" becomes 6.4
        if (out.release.minor.size() == 2 && out.release.minor[0] == '0' &&
            out.release.minor[1] != '0')
            out.release.minor.erase(0, 1);
        out.distro_release = out.release;
    }

    void rhel(OsInfo& out, const std::string& id) {
        const std::string version_id = pair("version_id");
        const auto or_id = [&](std::string version) {
            return parts_of(version.empty() ? version_id : version);
        };
        out.specification = lsb("LSB Version");
        out.codename = redhat_.codename;
        out.description = redhat_.description;
        out.distro_id = redhat_.distributor;
        out.release = out.distro_release = or_id(redhat_.version);
        if (id == "ol") {
            out.description = pair("pretty_name");
            out.distro_id = capitalized_word(pair("id"));
            out.release = or_id(from_release_line(read("/etc/oracle-release")));
        } else if (id == "oel") {
            out.release = or_id(from_release_line(read("/etc/enterprise-release")));
        } else if (id == "ovs") {
            out.release = or_id(from_release_line(read("/etc/ovs-release")));
        } else if (id == "meego") {
            out.release = or_id(from_release_line(read("/etc/meego-release")));
        } else if (id == "mariner") {
            out.release = or_id(after(read("/etc/mariner-release"), "CBL-Mariner "));
        } else if (id == "azurelinux") {
            out.release = or_id(after(read("/etc/azurelinux-release"), "AZURELINUX_BUILD_NUMBER="));
        } else if (id == "amzn") {
            amazon(out);
        }
    }

    void amazon(OsInfo& out) {
        const std::string text = read("/etc/system-release");
        const RedHatRelease release = parse_redhat(text);
        out.codename = release.codename.empty() ? "n/a" : release.codename;
        out.description = release.description;
        out.distro_id = release.distributor;
        std::string version = from_release_line(text);
        // The package has the complete version.
        if (!version.empty() && version != "2") {
            const std::string answer =
                run({"rpm", "-q", "--qf", "%{NAME}\\n%{VERSION}\\n%{RELEASE}\\n%{VENDOR}", "-f",
                     "/etc/os-release"});
            const auto lines = split_lines(answer);
            if (lines.size() > 1) version = trim(lines[1]);
        }
        if (version.empty()) version = pair("version_id");
        out.release = parts_of(version);
        out.distro_release = parts_of(version, true);
    }

    void sles(OsInfo& out) {
        const std::string version = pair("version_id");
        out.specification = lsb("LSB Version");
        out.codename = pair("version_codename");
        if (out.codename.empty()) out.codename = "n/a";
        out.description = pair("pretty_name");
        out.distro_id = version.starts_with("12") ? "SUSE LINUX" : "SUSE";
        out.release = {version,
                       version.substr(0, version.find('.')),
                       version.substr(version.rfind('.') + 1),
                       {}};
        out.distro_release = out.release;
    }

    void others(OsInfo& out, const std::string& id) {
        const std::string version_id = pair("version_id");
        const auto or_id = [&](std::string version) {
            return parts_of(version.empty() ? version_id : version);
        };
        out.codename = lsb("Codename");
        out.description = lsb("Description");
        out.distro_id = lsb("Distributor ID");
        out.specification = lsb("LSB Version");
        out.distro_release = parts_of(lsb("Release"));
        if (id == "archlinux") {
            out.release = parts_of(trim(read("/proc/sys/kernel/osrelease")));
        } else if (id == "alpine") {
            out.release = or_id(std::string(trim(read("/etc/alpine-release"))));
        } else if (id == "gentoo") {
            out.release = or_id(from_release_line(read("/etc/gentoo-release")));
        } else if (id == "slackware") {
            out.release = or_id(after(read("/etc/slackware-version"), "Slackware "));
        } else if (id == "mageia") {
            out.release = or_id(after(read("/etc/mageia-release"), "Mageia release "));
        } else if (id == "openwrt") {
            // /^(\d+.\d+.*)/: a revision ("r19803-9a599fee93") does not count as a version.
            const std::string own(trim(read("/etc/openwrt_version")));
            const auto digits = own.find_first_not_of("0123456789");
            const bool version = digits != 0 && digits + 1 < own.size() && own[digits + 1] >= '0' &&
                                 own[digits + 1] <= '9';
            out.release = or_id(version ? own : std::string());
        } else if (id == "photon") {
            out.release = or_id(after(read("/etc/lsb-release"), "DISTRIB_RELEASE=\""));
        } else {
            out.release = {version_id, version_id, {}, {}};
        }
    }

    sys::FileSystem& files_;
    sys::Processes* processes_;
    Pairs pairs_, lsb_;
    bool lsb_loaded_ = false;
    RedHatRelease redhat_;
};

}  // namespace

OsInfo read_os(sys::FileSystem& files, sys::Processes* processes) {
    return OsReader(files, processes).info();
}

}  // namespace bunraku::facts
