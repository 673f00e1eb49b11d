// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/file_checks.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <utility>

#include "compile/checks/code_checks.h"
#include "compile/checks/file_places.h"
#include "compile/checks/metadata_checks.h"
#include "core/base/text.h"
#include "core/codec/ini.h"
#include "core/codec/yaml.h"
#include "language/environment/conf.h"
#include "language/environment/environment.h"
#include "language/syntax/parser.h"
#include "modules/module/puppetfile.h"

namespace bunraku::checks {

namespace {

/// How many folders around a data file may contain its hiera.yaml.
constexpr int kMaxFolders = 32;

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// Returns the line in a message such as "line 3: ..", and the message without it.
std::pair<int, std::string> split_line(const std::string& message) {
    constexpr std::string_view kLine = "line ";
    const std::size_t colon = message.find(": ");
    if (!message.starts_with(kLine) || colon == std::string::npos) return {1, message};
    return {std::max(1, std::atoi(message.c_str() + kLine.size())), message.substr(colon + 2)};
}

void check_template(std::string_view text, const std::string& path, CodeNames* names,
                    Problems& problems) {
    try {
        const auto tree = syntax::parse(path, std::string(text), {.epp = true});
        for (const base::Diagnostic& found : syntax::validate(*tree))
            if (found.level >= base::Level::Err)
                problems.error("syntax", found.where, found.message);
        Problems found = check_tree(*tree, text, names);
        std::ranges::move(found.all, std::back_inserter(problems.all));
    } catch (const base::PuppetError& error) {
        // An error at the end of the text has no place.
        const std::size_t end = text.find_last_not_of(" \t\r\n");
        problems.error(
            "syntax",
            error.where().line > 0 || end == text.npos ? error.where() : location_of(text, end),
            error.message());
    }
}

class PuppetfileCheck {
public:
    PuppetfileCheck(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

    void run() {
        const auto words = module::parse_puppetfile_words(text_);
        if (!words) {
            // Other errors may be valid Ruby.
            if (words.error().message.ends_with("a string is not closed"))
                report_line("syntax", words.error().message);
            return;
        }
        std::map<std::string, int> lines;  // of the modules by folder
        for (const module::Declaration& word : *words) {
            const auto file = module::interpret_puppetfile({word});
            if (!file) {
                report_line("puppetfile", file.error().message);
                continue;
            }
            for (const module::PuppetfileModule& each : file->modules) check(each, lines);
        }
    }

private:
    void report_line(std::string_view check, const std::string& message) {
        auto [line, text] = split_line(message);
        // A message begins with the word that is wrong, if it is one.
        const std::size_t end = text.starts_with('\'') ? text.find('\'', 1) : std::string::npos;
        const base::Location where = end == std::string::npos
                                         ? start_of_line(text_, line)
                                         : word_in_line(text_, line, text.substr(1, end - 1));
        problems_.error(check, where, std::move(text));
    }

    void check(const module::PuppetfileModule& found, std::map<std::string, int>& lines) {
        const base::Location where = word_in_line(text_, found.line, found.name);
        for (const std::string& warning : found.warnings)
            problems_.warning("puppetfile", where, warning);
        const std::string folder = found.moduledir + "/" + found.folder();
        if (const auto [first, added] = lines.emplace(folder, found.line); !added)
            problems_.error(
                "puppetfile", where,
                fmt::format("module '{}' is already in line {}", found.folder(), first->second));
        if (found.kind == module::PuppetfileModule::Kind::Forge && found.version.empty())
            problems_.warning("puppetfile", where,
                              fmt::format("module '{}' has no version, so that it may change at "
                                          "each deployment",
                                          found.name));
    }

    std::string_view text_;
    Problems& problems_;
};

void check_environment_conf(std::string_view text, const std::string& path, Problems& problems) {
    constexpr std::string_view kCheck = "environment_conf";
    const auto file = codec::parse_ini(text);
    if (!file) {
        problems.error("syntax", start_of_line(text, std::max(1, file.error().code)),
                       file.error().message);
        return;
    }
    const environment::Spec spec;
    for (const auto& section : file->sections) {
        if (section.name != "main") {
            problems.warning(
                kCheck, start_of_line(text, section.line),
                fmt::format("section [{}] is ignored: environment.conf has no sections",
                            section.name));
            continue;
        }
        std::set<std::string_view> seen;
        for (const auto& entry : section.entries) {
            const base::Location where = word_in_line(text, entry.line, entry.name);
            // read_conf lists the unknown settings in one message, and returns all others.
            base::MemorySink own;
            const std::string line = fmt::format("{} = {}\n", entry.name, entry.value);
            const auto read = environment::read_conf(path, line, spec, own);
            if (!read) {
                problems.error(kCheck, where, read.error().message);
            } else if (!own.records.empty()) {
                problems.warning(kCheck, where,
                                 fmt::format("setting '{}' is not a setting of environments and is "
                                             "ignored",
                                             entry.name));
            }
            if (!seen.insert(entry.name).second)
                problems.warning(kCheck, where,
                                 fmt::format("setting '{}' appears twice", entry.name));
            const base::Location value = word_in_line(text, entry.line, entry.value);
            if (entry.name == "environment_timeout") {
                if (const auto ttl = environment::parse_ttl(entry.value, entry.name); !ttl)
                    problems.error(kCheck, value, ttl.error().message);
            } else if ((entry.name == "static_catalogs" || entry.name == "rich_data") &&
                       entry.value != "true" && entry.value != "false") {
                problems.error(kCheck, value,
                               fmt::format("'{}' is neither true nor false", entry.value));
            }
        }
    }
}

}  // namespace

base::Location start_of_line(std::string_view text, int line) {
    const auto lines = base::split(text, '\n');
    const auto number = static_cast<std::size_t>(std::max(line, 1));
    if (number > lines.size()) return {"", static_cast<int>(lines.size()), 1};
    const std::size_t blanks = lines[number - 1].find_first_not_of(" \t");
    return {"", line, blanks == std::string_view::npos ? 1 : static_cast<int>(blanks) + 1};
}

base::Location location_of(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t begin = before.rfind('\n');
    int column = 1;
    for (const char c : begin == before.npos ? before : before.substr(begin + 1))
        column += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return {"", static_cast<int>(std::ranges::count(before, '\n')) + 1, column};
}

base::Location word_in_line(std::string_view text, int line, std::string_view word) {
    std::size_t begin = 0;
    for (int i = 1; i < line && begin != std::string_view::npos; ++i) {
        begin = text.find('\n', begin);
        if (begin != std::string_view::npos) ++begin;
    }
    if (begin == std::string_view::npos) return start_of_line(text, line);
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t found = text.substr(0, end).find(word, begin);
    return found == std::string_view::npos ? start_of_line(text, line) : location_of(text, found);
}

bool is_module_folder(const std::string& folder) {
    const auto& files = *environment::disk_files();
    return files.stat(folder + "/metadata.json").exists &&
           !files.stat(folder + "/environment.conf").exists;
}

FileKind kind_of_file(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".pp")) return FileKind::Manifest;
    if (name.ends_with(".epp")) return FileKind::Epp;
    if (name == "hiera.yaml") return FileKind::HieraConfig;
    if (name.ends_with(".yaml") || name.ends_with(".yml")) return FileKind::Yaml;
    if (name == "metadata.json") return FileKind::Metadata;
    if (name == "Puppetfile") return FileKind::Puppetfile;
    if (name == "environment.conf") return FileKind::EnvironmentConf;
    return FileKind::Other;
}

const std::optional<DataFolders::Root>& DataFolders::root(const std::string& folder) {
    const auto [entry, added] = roots_.try_emplace(folder);
    if (!added) return entry->second;
    const auto& files = *environment::disk_files();
    const auto text = files.read(folder + "/hiera.yaml");
    if (!text) return entry->second;
    const auto config = codec::parse_yaml(*text, folder + "/hiera.yaml");
    if (!config) return entry->second;
    Root root;
    const auto add = [&](const codec::YamlNode* node) {
        const codec::YamlNode* datadir = codec::find_member(node, "datadir");
        if (!datadir || datadir->kind != codec::YamlNode::Kind::String) return;
        std::string path = datadir->text;
        path.resize(std::min(path.find("%{"), path.size()));
        root.datadirs.push_back(environment::expand_path(path, folder) + "/");
    };
    const codec::YamlNode* defaults = codec::find_member(&*config, "defaults");
    if (codec::find_member(defaults, "datadir"))
        add(defaults);
    else
        root.datadirs.push_back(folder + "/data/");
    if (const auto* hierarchy = codec::find_member(&*config, "hierarchy"))
        for (const auto& level : hierarchy->items) add(&level);
    if (is_module_folder(folder)) {
        const std::string name(folder.substr(folder.rfind('/') + 1));
        root.module = name.substr(name.rfind('-') + 1);
    }
    return entry->second = std::move(root);
}

std::optional<DataPlace> DataFolders::place_of(const std::string& path) {
    std::string folder = parent_of(path);
    for (int i = 0; i < kMaxFolders && !folder.empty(); ++i, folder = parent_of(folder)) {
        const auto& found = root(folder);
        if (!found) continue;
        for (const std::string& datadir : found->datadirs)
            if (path.starts_with(datadir)) return DataPlace{found->module};
        return std::nullopt;
    }
    return std::nullopt;
}

std::vector<lint::Problem> check_file(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names,
                                      DataFolders& folders) {
    Problems problems;
    switch (kind_of_file(path)) {
        case FileKind::Manifest: return check_code(text, path, options, names);
        case FileKind::Epp: check_template(text, path, names, problems); break;
        case FileKind::HieraConfig: check_hiera_config(text, path, problems); break;
        case FileKind::Metadata: check_metadata(text, problems); break;
        case FileKind::Puppetfile: PuppetfileCheck(text, problems).run(); break;
        case FileKind::EnvironmentConf: check_environment_conf(text, path, problems); break;
        case FileKind::Yaml:
            if (const auto place = names ? folders.place_of(path) : std::nullopt)
                check_data(text, path, *place, *names, problems);
            break;
        case FileKind::Other: break;
    }
    select_problems(problems, options);
    return std::move(problems.all);
}

}  // namespace bunraku::checks
