// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/content_hash.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <openssl/evp.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"

namespace bunraku::catalog {

namespace {

void append_digest(std::string& out, const Digest& d) {
    out.append(reinterpret_cast<const char*>(d.data()), d.size());
}

void append_number(std::string& out, long n) {
    char buffer[24];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, n).ptr);
}

}  // namespace

void append_canonical_parameters(std::string& out, const Resource& resource) {
    std::vector<const Parameter*> sorted;
    sorted.reserve(resource.parameters.size());
    for (const Parameter& p : resource.parameters) {
        if (!p.value.is_undef()) sorted.push_back(&p);
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const Parameter* a, const Parameter* b) { return a->name < b->name; });
    BUNRAKU_ASSERT(sorted.size() <= resource.parameters.size());
    out += '{';
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0) out += ',';
        codec::append_json_string(out, sorted[i]->name);
        out += ':';
        append_json_value(out, sorted[i]->value, ValueForm::Exact, true);
    }
    out += '}';
}

ResourceDigests resource_digests(const Resource& resource, std::string& scratch) {
    ResourceDigests out;
    scratch.clear();
    scratch += '[';
    codec::append_json_string(scratch, resource.ref.type);
    scratch += ',';
    codec::append_json_string(scratch, resource.ref.title);
    scratch += ',';
    append_canonical_parameters(scratch, resource);
    scratch += ']';
    out.content = codec::sha1(scratch);
    scratch.clear();
    append_digest(scratch, out.content);
    scratch += resource.exported ? 'e' : '-';
    scratch += resource.virtual_ ? 'v' : '-';
    append_number(scratch, resource.line);
    scratch += '\0';
    scratch += resource.file;
    scratch += '\0';
    scratch += resource.kind;
    for (const auto* list : {&resource.tags, &resource.aliases}) {
        scratch += '\n';
        for (const std::string& item : *list) {
            scratch += '\0';
            scratch += item;
        }
    }
    out.row = codec::sha1(scratch);
    return out;
}

Digest catalog_hash(const Catalog& catalog, const std::vector<ResourceDigests>& resources,
                    const std::vector<Relation>& relations, bool ordered) {
    BUNRAKU_ASSERT(resources.size() == catalog.resources.size());
    std::vector<std::uint32_t> order(resources.size());
    std::iota(order.begin(), order.end(), 0);
    auto ref = [&](std::uint32_t i) -> const Ref& { return catalog.resources[i].ref; };
    auto by_ref = [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(ref(a).type, ref(a).title) < std::tie(ref(b).type, ref(b).title);
    };
    if (!ordered) std::sort(order.begin(), order.end(), by_ref);
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    BUNRAKU_ASSERT(rank.empty() || rank[order.back()] + 1 == rank.size());

    std::vector<Relation> edges = relations;
    for (Relation& e : edges) {
        BUNRAKU_ASSERT(e.source < rank.size() && e.target < rank.size());
        e.source = rank[e.source];
        e.target = rank[e.target];
    }
    if (!ordered) {
        std::sort(edges.begin(), edges.end(), [](const Relation& a, const Relation& b) {
            return std::tie(a.source, a.target, a.kind) < std::tie(b.source, b.target, b.kind);
        });
    }
    std::string bytes;
    bytes.reserve(catalog.name.size() + 24 * resources.size() + 9 * edges.size() + 8);
    bytes += catalog.name;
    bytes += '\0';
    for (std::uint32_t i : order) append_digest(bytes, resources[i].row);
    for (const Relation& e : edges) {
        for (std::uint32_t end : {e.source, e.target}) {
            for (int shift = 0; shift < 32; shift += 8) {
                bytes += static_cast<char>((end >> shift) & 0xff);
            }
        }
        bytes += static_cast<char>(e.kind);
    }
    BUNRAKU_ASSERT(bytes.size() ==
                   catalog.name.size() + 1 + sizeof(Digest) * resources.size() + 9 * edges.size());
    return codec::sha1(bytes);
}

Digest catalog_hash(const Catalog& catalog, const std::vector<Relation>& relations) {
    std::string scratch;
    std::vector<ResourceDigests> resources;
    resources.reserve(catalog.resources.size());
    for (const Resource& r : catalog.resources) resources.push_back(resource_digests(r, scratch));
    BUNRAKU_ASSERT(resources.size() == catalog.resources.size());
    return catalog_hash(catalog, resources, relations);
}

}  // namespace bunraku::catalog
