// SPDX-License-Identifier: Apache-2.0
#include "services/console/definition_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "compile/reference/documents.h"
#include "core/base/text.h"
#include "services/console/markdown.h"
#include "services/console/parts.h"

namespace bunraku::console {

using insight::UsedInput;
using reference::DocItem;

namespace {

constexpr std::size_t kMostSource = 300, kMostLine = 500, kMostFile = 1 << 20;

std::optional<std::string> text_of(const CodeState& state, const std::string& path) {
    const auto files = state.files ? state.files : environment::disk_files();
    const auto stamp = files->stat(path);
    if (!stamp.exists || stamp.size > kMostFile) return std::nullopt;
    auto text = files->read(path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// Returns the documentation of an item in a manifest.
std::optional<DocItem> document_of(const UsedInput& item, const std::string& text) {
    try {
        for (auto& each : reference::documents_of_manifest(item.path, text))
            if (base::lower(each.name) == base::lower(item.name)) return std::move(each);
    } catch (const base::PuppetError&) {
        // The manifest has changed since, and is not valid now.
    }
    return std::nullopt;
}

void write_parameters(Html& h, const DocItem& doc) {
    std::vector<const reference::DocTag*> parameters;
    for (const auto& tag : doc.doc.tags)
        if (tag.tag == "param" && tag.name) parameters.push_back(&tag);
    if (parameters.empty()) return;
    const auto panel = open_panel(h, "Parameters");
    constexpr Column kColumns[] = {{"Name"}, {"Type"}, {"Default"}, {"Description"}};
    const auto table = open_table(h, kColumns, "Parameters");
    for (const auto* tag : parameters) {
        const auto row = h.in("tr");
        {
            const auto td = h.in("td", {{"class", "mono"}});
            h.foreign(*tag->name, 200);
        }
        {
            const auto td = h.in("td", {{"class", "mono"}});
            if (tag->types) h.foreign(fmt::format("{}", fmt::join(*tag->types, ", ")), 1000);
        }
        {
            const auto td = h.in("td", {{"class", "mono"}});
            if (const auto* value = doc.default_of(*tag->name)) h.foreign(*value, 1000);
        }
        const auto td = h.in("td");
        if (tag->text) h.foreign(*tag->text);
    }
}

void write_source(Html& h, std::string_view text) {
    const auto panel = open_panel(h, "Source");
    const auto box = h.in("div", {{"class", "in"}});
    const auto pre = h.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
    const auto code = h.in("code");
    std::size_t number = 0;
    for (const auto line : base::lines(text)) {
        if (++number > kMostSource) {
            h.leaf("span", {{"class", "h"}}, "… more lines are not shown");
            break;
        }
        h.leaf("span", line.substr(0, kMostLine));
    }
}

}  // namespace

std::string place_text(const UsedInput& item) {
    return item.line > 0 ? fmt::format("{}:{}", item.path, item.line) : item.path;
}

void write_definition(Html& h, const CodeState& state, const std::string& root,
                      const UsedInput& item) {
    const bool manifest = item.path.ends_with(".pp");
    const auto text = manifest ? text_of(state, root + "/" + item.path) : std::nullopt;
    const auto doc = text ? document_of(item, *text) : std::nullopt;
    {
        const auto panel = open_panel(h, "Definition");
        {
            const auto place = h.in("p", {{"class", "in mono"}});
            h.foreign(place_text(item), kMostLine);
        }
        if (doc && !doc->doc.text.empty()) {
            write_markdown(h, doc->doc.text);
        } else if (manifest) {
            h.leaf("p", {{"class", "in m"}}, "It has no documentation comment.");
        } else if (item.kind == "key") {
            h.leaf(
                "p", {{"class", "in m"}},
                "Values of data are not shown, because they may be secret. The page Catalog of a "
                "node shows what its catalog contains.");
        }
    }
    if (!doc) return;
    write_parameters(h, *doc);
    if (!doc->source.empty()) write_source(h, doc->source);
}

}  // namespace bunraku::console
