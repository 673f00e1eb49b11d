// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/change.h"

#include <fmt/format.h>

#include "core/codec/digest.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/environment/read_answer.h"
#include "language/hiera/key.h"

namespace bunraku::compiler {

using codec::short_digest;
using environment::Read;
using environment::ReadTable;
using value::Value;

namespace {

std::string text_of(const Value& v) { return short_digest(value::to_json(v)); }

std::string data_answer(const InputsSnapshot& inputs, const ReadTable::Item& read) {
    using Format = hiera::DataCache::Format;
    const std::string path(read.name);
    const auto format = path.ends_with(".json")                               ? Format::Json
                        : path.ends_with(".conf") || path.ends_with(".hocon") ? Format::Hocon
                                                                              : Format::Yaml;
    const auto loaded = inputs.data->load(inputs.environment->files(), path, format);
    if (!loaded.file) return fmt::format("errno {}", loaded.error == 0 ? 0 : 1);
    if (!loaded.file->error.empty()) return "error " + short_digest(loaded.file->error);
    if (!loaded.file->data.is_hash()) return "data " + text_of(loaded.file->data);
    if (read.detail == "*") {
        std::string keys;
        for (const auto& e : loaded.file->data.as_hash()) keys += value::to_text(e.key) + '\n';
        return short_digest(keys);
    }
    const int i = loaded.file->find(read.detail, hiera::hash_text(read.detail));
    if (i < 0) return "-";
    const auto* strange = loaded.file->unsupported(i);
    return text_of(loaded.file->value_at(i)) + (strange ? *strange : "");
}

}  // namespace

std::string answer_to(const InputsSnapshot& inputs, const ReadTable::Item& read) {
    const auto& environment = *inputs.environment;
    const auto& files = environment.files();
    const std::string name(read.name);
    switch (read.kind) {
        case Read::File:
            if (read.detail == environment::kStatDetail)
                return environment::stat_answer(files, name);
            [[fallthrough]];
        case Read::Exists:
        case Read::Folder:
        case Read::Glob: return environment::files_answer(files, read.kind, name);
        case Read::Names: {
            const auto file = environment.parse_manifest(name);
            return file ? file->names_digest() : "-";
        }
        case Read::Definition: {
            const auto file = environment.parse_manifest(name);
            return file ? file->definition_digest(read.detail) : "-";
        }
        case Read::Data: return data_answer(inputs, read);
        case Read::Fact: return environment::facts_answer(inputs.facts, read.name);
        case Read::Trusted: return environment::facts_answer(inputs.trusted, read.name);
        case Read::ServerFact: return environment::facts_answer(inputs.server_facts, read.name);
        case Read::Parameter: return short_digest(inputs.parameters);
        case Read::Setting:
            return inputs.setting ? inputs.setting(read.name).value_or("\1") : std::string();
        case Read::Variable:
            return (inputs.variable ? inputs.variable(read.name) : files.variable(name))
                .value_or("\1");
        default: return inputs.answer ? inputs.answer(read).value_or("") : std::string();
    }
}

std::string facts_fingerprint(const Value& facts, const std::vector<std::string>& paths) {
    std::string all;
    for (const auto& path : paths)
        all += fmt::format("{}={}\n", path, environment::facts_answer(facts, path));
    return short_digest(all);
}

std::vector<ReadTable::Item> Change::touched(const environment::Trace& trace, bool first) {
    if (table_ != trace.table()) {
        table_ = trace.table();
        known_.clear();
    }
    std::vector<ReadTable::Item> out;
    auto look = [&](std::uint64_t id, auto&& item_of) {
        if (first && !out.empty()) return;
        auto [it, fresh] = known_.try_emplace(id, false);
        if (fresh) {
            const ReadTable::Item item = item_of();
            it->second = answer_to(before_, item) != answer_to(after_, item);
        }
        if (it->second) out.push_back(item_of());
    };
    trace.ids().for_each(
        [&](environment::ReadId id) { look(id, [&] { return table_->item(id); }); });
    for (const auto& [file, keys] : trace.data()) {
        keys.for_each([&](environment::ReadId key) {
            // Adds 1 to the file, so that data of file 0 does not collide with a read without a
            // file.
            look((std::uint64_t{file} + 1) << 32 | key, [&] {
                return ReadTable::Item{Read::Data, table_->item(file).name,
                                       table_->item(key).detail};
            });
        });
    }
    return out;
}

std::vector<ReadTable::Item> Change::unseen(const environment::Trace& trace) {
    std::vector<ReadTable::Item> out;
    for (const auto& [item, answer] : trace.items()) {
        const bool unseen = item.kind == Read::Clock || item.kind == Read::Random ||
                            item.kind == Read::Host || item.kind == Read::Opaque ||
                            item.kind == Read::Command || item.kind == Read::Query ||
                            item.kind == Read::Export;
        if (unseen) out.push_back(item);
    }
    return out;
}

}  // namespace bunraku::compiler
