// SPDX-License-Identifier: Apache-2.0
// The type file: generates resources for the contents of a directory.
#include <fmt/format.h>
#include <unordered_set>

#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/types/file/file.h"

namespace bunraku::apply {

using sys::FileKind;

namespace {

bool is_below(std::string_view path, std::string_view above) {
    if (above == "/") return true;
    return path.size() >= above.size() && path.starts_with(above) &&
           (path.size() == above.size() || path[above.size()] == '/');
}

/// Reports whether `paths` contains `path` or one of its parents below `top`.
bool any_above(const std::unordered_set<std::string>& paths, std::string path,
               std::string_view top) {
    if (paths.empty()) return false;
    while (path.size() > top.size()) {
        if (paths.contains(path)) return true;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos) return false;
        path.resize(slash);
    }
    return false;
}

}  // namespace

ContentSearch File::walk_options() const {
    ContentSearch w;
    w.recurse = recurses();
    if (Value v = get("recurselimit"); v.is_integer()) w.limit = v.as_integer();
    if (Value v = get("max_files"); v.is_integer()) w.max_files = v.as_integer();
    Value ignore = get("ignore");
    if (ignore.is_string()) {
        w.ignore.push_back(plain(ignore));
    } else if (ignore.is_array()) {
        for (const Value& v : ignore.as_array()) w.ignore.push_back(plain(v));
    }
    w.follow_links = follows();
    return w;
}

std::unique_ptr<File> File::new_child(const std::string& relative) {
    auto child = std::make_unique<File>(context_, spec_);
    child->catalog = catalog;
    ResourceData data;
    data.title = sys::join(where(), relative);
    for (const auto& [name, v] : original_parameters()) {
        if (name == "path" || name == "name" || name == "parent" || name == "ensure" ||
            name == "recurse" || name == "recurselimit" || name == "max_files" ||
            name == "target" || name == "alias" || name == "source" || v.is_undef()) {
            continue;
        }
        data.parameters.emplace_back(name, v);
    }
    child->initialize(std::move(data));
    if (!follows()) {
        if (!walked_) walked_ = std::make_shared<const std::string>(where());
        child->found_below(walked_);
    }
    return child;
}

File& File::child_of(Generated& generated, const std::string& relative) {
    // A name that is not valid in a catalog is an error, as in Puppet, so that the other files are
    // not purged.
    if (!codec::is_utf8(relative)) throw base::plain_error("invalid byte sequence in UTF-8");
    auto& slot = generated[relative];
    if (!slot) slot = new_child(relative);
    return *slot;
}

void File::generate_links(Generated& generated, const std::string& target) {
    const auto found = walk_files(context_, context_.system.files, target, walk_options());
    for (const std::string& relative : found ? *found : std::vector<std::string>{}) {
        if (relative == ".") {
            set("ensure", Value::string("directory"));
            continue;
        }
        std::string full = sys::join(target, relative);
        const auto entry = unwrap(context_.system.files.look(full));
        if (!entry) continue;
        File& c = child_of(generated, relative);
        if (entry->kind == FileKind::Directory) {
            c.set("ensure", Value::string("directory"));
        } else {
            c.set("ensure", Value::string("link"));
            c.set("target", context_.string(full));
        }
    }
}

bool File::generate_copies(Generated& generated) {
    std::unordered_set<std::string> with_source;
    const bool all = is_word(get("sourceselect"), "all");
    const Value sources = get("source");
    for (const Value& source : sources.as_array()) {
        // A failure ends the recursion. Otherwise, with `purge`, a source that appears empty would
        // remove all local files.
        const std::string uri = plain(source);
        ContentSearch w = walk_options();
        w.recurse = true;
        w.likely_checksum = std::string(checksum_type());
        auto found = unwrap(content_of(uri).search(uri, w));
        if (!found) continue;
        for (const ContentMetadata& one : *found)
            if (one.relative == "." && one.status.kind != FileKind::Directory) return false;
        for (ContentMetadata& one : *found) {
            const std::string relative = one.relative;
            if (relative == ".") {
                if (!source_info_) use_source_info(std::move(one));
                continue;
            }
            if (!with_source.insert(relative).second) continue;
            File& c = child_of(generated, relative);
            c.set("source", context_.string(one.uri));
            c.use_source_info(std::move(one));
        }
        if (!all) break;
    }
    return true;
}

std::vector<std::unique_ptr<Resource>> File::eval_generate() {
    std::vector<std::unique_ptr<Resource>> out;
    if (!recurses()) return out;
    Generated generated;
    if (!is_word(get("recurse"), "remote")) {
        if (auto found = walk_files(context_, context_.system.files, where(), walk_options())) {
            for (const std::string& relative : *found) {
                if (relative != ".") child_of(generated, relative);
            }
        }
    }
    if (const Value target = get("target"); !target.is_undef()) {
        generate_links(generated, plain(target));
    } else if (find("source") && !generate_copies(generated)) {
        return out;
    }
    if (flag("purge")) {
        for (auto& [relative, c] : generated) {
            if (!c->find("source")) c->set("ensure", Value::string("absent"));
        }
    }

    // Skip everything at or below paths that the catalog manages itself.
    std::unordered_set<std::string> managed;
    std::string mine = where();
    for (const Resource* r : catalog->resources()) {
        if (&r->spec() != &spec()) continue;
        std::string path = r->text("path");
        if (path != mine && is_below(path, mine)) managed.insert(std::move(path));
    }
    for (auto& [relative, c] : generated) {
        if (!any_above(managed, c->where(), mine)) out.push_back(std::move(c));
    }
    return out;
}

}  // namespace bunraku::apply
