// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/inputs.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/environment/read_answer.h"
#include "language/hiera/data_cache.h"
#include "language/hiera/key.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::insight {

using environment::Environment;
using environment::Read;
using Item = environment::ReadTable::Item;

namespace {

bool is_yaml(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

bool lies_below(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

/// Returns the names that only one of the lists contains.
std::vector<std::string> not_in_both(std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    std::vector<std::string> out;
    std::ranges::set_symmetric_difference(a, b, std::back_inserter(out));
    return out;
}

/// Returns the key if the line starts a root entry, or nullopt.
std::optional<std::string> root_key(std::string_view line) {
    if (line.empty() || base::kBlanks.find(line[0]) != std::string_view::npos ||
        std::string_view("-#{}[]%&*!|>@`").find(line[0]) != std::string_view::npos)
        return std::nullopt;
    std::size_t end = 0;
    if (line[0] == '"' || line[0] == '\'') {
        end = line.find(line[0], 1);
        if (end == std::string_view::npos || line.substr(end + 1).find(':') != 0)
            return std::nullopt;
        return std::string(line.substr(1, end - 1));
    }
    for (end = line.find(':'); end != std::string_view::npos; end = line.find(':', end + 1))
        if (end + 1 == line.size() || line[end + 1] == ' ' || line[end + 1] == '\t' ||
            line[end + 1] == '\r')
            return std::string(base::trim(line.substr(0, end)));
    return std::nullopt;
}

/// Returns the lines of a root key's entry, up to the next entry. Comments before the next entry
/// are not included.
std::optional<std::pair<std::size_t, std::size_t>> entry_of(std::string_view text,
                                                            std::string_view key) {
    std::optional<std::size_t> begin;
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto stop = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, stop - at);
        const std::size_t next = std::min(stop + 1, text.size());
        const auto found = root_key(line);
        const bool document = line.starts_with("---") || line.starts_with("...");
        if (begin && (found || document)) return std::pair(*begin, end);
        if (!begin && found && *found == key) {
            begin = at;
            end = next;
        } else if (begin && !line.empty() && line[0] != '#') {
            end = next;
        }
        at = next;
    }
    if (!begin) return std::nullopt;
    return std::pair(*begin, end);
}

/// Reports whether `mixed` equals `now` except for the key, which is as in `was`.
bool is_mixed(const environment::Files& files, const std::string& path,
              const hiera::DataCache::Loaded& was, const hiera::DataCache::Loaded& now,
              std::string_view key) {
    hiera::DataCache cache;
    const auto mixed = cache.load(files, path, hiera::DataCache::Format::Yaml);
    if (!mixed.file || !mixed.file->error.empty() || !was.file || !now.file) return false;
    auto value = [](const hiera::DataCache::File& file, std::string_view k) {
        const int i = file.find(k, hiera::hash_text(k));
        return i < 0 ? std::string() : value::to_json(file.value_at(i));
    };
    if (value(*mixed.file, key) != value(*was.file, key)) return false;
    std::set<std::string> keys;
    for (const auto* file : {now.file.get(), mixed.file.get()})
        if (file->data.is_hash())
            for (const auto& e : file->data.as_hash()) keys.insert(value::to_text(e.key));
    return std::ranges::all_of(keys, [&](const auto& k) {
        return k == key || value(*mixed.file, k) == value(*now.file, k);
    });
}

const syntax::Node* definition_in(const environment::ParsedFile* file, std::string_view name) {
    if (!file || !file->tree) return nullptr;
    for (const auto* node : file->tree->program->definitions)
        if (environment::definition_name(*node) == name) return node;
    return nullptr;
}

}  // namespace

std::string below(std::string_view path, std::string_view root) {
    if (!root.empty() && lies_below(path, root)) path.remove_prefix(root.size() + 1);
    return std::string(path);
}

std::string Input::name(std::string_view root) const {
    if (!path.empty())
        return detail.empty() ? below(path, root) : fmt::format("{}#{}", below(path, root), detail);
    if (kind == Read::Parameter) return "answer of the classifier";
    auto words = std::string(environment::read_name(kind));
    std::ranges::replace(words, '_', ' ');
    return detail.empty() ? words : words + " " + environment::shown_fact_path(detail);
}

std::vector<Input> inputs_of(const std::vector<Item>& reads, const Environment& before,
                             const Environment& after) {
    // Keyed by path and part; the part is empty for a whole file.
    std::map<std::pair<std::string, std::string>, Input> found;
    auto add = [&](std::string path, std::string detail, const Item& read) {
        auto& input = found[{path, detail}];
        if (input.reads.empty()) {
            input.path = std::move(path);
            input.detail = std::move(detail);
            input.kind = read.kind;
        }
        input.reads.push_back(read);
    };
    for (const Item& read : reads) {
        const std::string name(read.name);
        switch (read.kind) {
            case Read::File:
            case Read::Exists:
            case Read::Names: add(name, "", read); break;
            case Read::Definition: add(name, std::string(read.detail), read); break;
            case Read::Data: add(name, is_yaml(name) ? std::string(read.detail) : "", read); break;
            case Read::Folder: {
                const auto names = not_in_both(before.files().list(name), after.files().list(name));
                for (const auto& each : names) add(name + "/" + each, "", read);
                break;
            }
            case Read::Glob: {
                const auto paths = not_in_both(before.files().glob(name), after.files().glob(name));
                for (const auto& each : paths) add(each, "", read);
                break;
            }
            default: {
                auto& input =
                    found[{"", fmt::format("{} {}", environment::read_name(read.kind), read.name)}];
                input.kind = read.kind;
                input.detail = name;
                input.reads.push_back(read);
            }
        }
    }
    auto there = [](const Environment& environment, const std::string& path) {
        return environment.files().stat(path).exists;
    };
    // Files that count as a whole: they were added or removed, their code outside of definitions
    // changed, or their keys are not known individually.
    std::set<std::string> whole;
    for (const auto& [place, input] : found) {
        if (input.path.empty()) continue;
        if (place.second.empty() || place.second == "*" || !there(before, input.path) ||
            !there(after, input.path))
            whole.insert(input.path);
    }
    std::vector<Input> out;
    for (auto& [place, input] : found) {
        if (input.path.empty() || !whole.contains(input.path)) {
            out.push_back(std::move(input));
        } else if (!out.empty() && out.back().path == input.path) {
            std::ranges::move(input.reads, std::back_inserter(out.back().reads));
        } else {
            input.detail.clear();
            out.push_back(std::move(input));
        }
    }
    // Leaves out an added or removed folder if files in it are listed.
    std::vector<Input> remaining;
    for (const auto& input : out) {
        const bool folder = std::ranges::any_of(
            out, [&](const Input& other) { return lies_below(other.path, input.path); });
        if (input.path.empty() || !folder) remaining.push_back(input);
    }
    return remaining;
}

void files_below(const environment::Files& files, const std::string& folder,
                 std::vector<std::string>& out, int depth) {
    constexpr int kMostFolders = 30;
    if (depth > kMostFolders) return;
    for (const auto& name : files.list(folder)) {
        if (name.starts_with('.')) continue;
        const std::string path = folder + "/" + name;
        if (files.is_real_folder(path)) {
            files_below(files, path, out, depth + 1);
        } else if (!files.stat(path).directory) {
            out.push_back(path);
        }
    }
}

int line_of_key(std::string_view path, std::string_view text, std::string_view key) {
    std::size_t at = std::string_view::npos;
    if (is_yaml(path) || path.ends_with(".eyaml")) {
        if (const auto entry = entry_of(text, key)) at = entry->first;
    } else {
        at = text.find(fmt::format("\"{}\"", key));
    }
    if (at == std::string_view::npos) return 0;
    return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

int changed_line(const Input& input, const Environment& before, const Environment& after) {
    if (input.path.empty()) return 0;
    const auto old_text = before.files().read(input.path), text = after.files().read(input.path);
    if (!old_text || !text) return 0;
    int begin = 1;
    if (input.kind == Read::Data && !input.detail.empty()) {
        begin = line_of_key(input.path, *text, input.detail);
    } else if (input.kind == Read::Definition) {
        const auto file = after.parse_manifest(input.path);
        const auto* node = definition_in(file.get(), input.detail);
        if (node) begin = node->where().line;
    }
    const auto from = catalog::lines_with_ends(*old_text), to = catalog::lines_with_ends(*text);
    constexpr int kMostDifferences = 2000;
    int line = 1;
    for (const auto step : catalog::edit_script(from, to, kMostDifferences).steps) {
        if (step != catalog::Step::Same && line >= begin)
            return std::min(line, std::max(static_cast<int>(to.size()), 1));
        if (step != catalog::Step::Remove) ++line;
    }
    return begin;
}

std::optional<std::string> with_root_key_of(const std::string& text, const std::string& other,
                                            std::string_view key) {
    const auto now = entry_of(text, key), was = entry_of(other, key);
    if (!now && !was) return std::nullopt;
    const std::string entry =
        was ? other.substr(was->first, was->second - was->first) : std::string();
    std::string out;
    if (now) {
        out = text.substr(0, now->first) + entry;
        if (!out.empty() && !out.ends_with('\n')) out += '\n';
        return out + text.substr(now->second);
    }
    out = text;
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    return out + entry;
}

std::shared_ptr<const environment::Files> undone(const Input& input, const Environment& before,
                                                 const Environment& after) {
    if (input.path.empty()) return nullptr;
    const auto &was = before.spec().files, &now = after.spec().files;
    auto with = [&](std::string text) {
        return environment::overlaid_files(now, was, {{}, {{input.path, std::move(text)}}});
    };
    if (input.kind == Read::Data && !input.detail.empty()) {
        const auto old_text = was->read(input.path), text = now->read(input.path);
        if (old_text && text) {
            hiera::DataCache old_data, data;
            const auto yaml = hiera::DataCache::Format::Yaml;
            auto mixed = with_root_key_of(*text, *old_text, input.detail);
            if (mixed) {
                auto files = with(std::move(*mixed));
                if (is_mixed(*files, input.path, old_data.load(*was, input.path, yaml),
                             data.load(*now, input.path, yaml), input.detail))
                    return files;
            }
        }
    }
    if (input.kind == Read::Definition && !input.detail.empty()) {
        const auto old_file = before.parse_manifest(input.path);
        const auto file = after.parse_manifest(input.path);
        const auto* old_node = definition_in(old_file.get(), input.detail);
        const auto* node = definition_in(file.get(), input.detail);
        if (old_node && node) {
            std::string text(file->tree->source->text());
            return with(text.replace(node->offset, node->length, old_node->text()));
        }
    }
    return environment::overlaid_files(now, was, {{input.path}, {}});
}

}  // namespace bunraku::insight
