// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/read_locations.h"

#include "compile/compiler/compilation.h"

namespace bunraku::compiler {

const Reader* ReadLocations::first(environment::ReadTable& table, environment::Read kind,
                                   std::string_view name, std::string_view detail) {
    auto found = [&](std::uint64_t id) -> const Reader* {
        const auto it = first_.find(id);
        return it == first_.end() ? nullptr : &it->second;
    };
    if (kind == environment::Read::Data) {
        const auto file = table.id(kind, name);
        if (const auto* r = found((std::uint64_t{file} + 1) << 32 | table.id(kind, "", detail)))
            return r;
        return found(file);
    }
    const auto id = table.id(kind, name, detail);
    if (const auto* r = found(id)) return r;
    if (!parted_) {
        parted_ = true;
        for (const auto& [several, reader] : first_) {
            if (several >> 32 != 0) continue;
            environment::IdSet one;
            one.add(static_cast<environment::ReadId>(several));
            table.expand_groups(one).for_each([&](environment::ReadId part) {
                if (part != several) parts_.try_emplace(part, several);
            });
        }
    }
    const auto part = parts_.find(id);
    return part == parts_.end() ? nullptr : found(part->second);
}

Reader Compilation::reader() const {
    std::vector<Reader> chain;
    const auto* frame = interpreter_->frames();
    auto place = [](const evaluator::Interpreter::CallFrame& f, Reader& into) {
        const auto where = f.site->where();
        into.file = where.file;
        into.line = where.line;
    };
    for (auto it = evaluating_.rbegin(); it != evaluating_.rend(); ++it) {
        const Definition& definition = *(*it)->type.definition;
        Reader r;
        if (!(*it)->title_is_main && definition.node)
            r.what = environment::definition_name(*definition.node);
        r.file = definition.file;
        r.line = definition.line;
        for (const auto* f = frame; f; f = f->outer) {
            if (f->site->kind == syntax::NodeKind::Program) continue;
            const bool inside = !definition.node || (f->site->source == definition.node->source &&
                                                     f->site->offset >= definition.node->offset &&
                                                     f->site->offset < definition.node->offset +
                                                                           definition.node->length);
            if (!inside) continue;
            place(*f, r);
            frame = f->outer;
            break;
        }
        chain.push_back(std::move(r));
    }
    Reader out;
    if (chain.empty()) return out;
    out = std::move(chain.front());
    chain.erase(chain.begin());
    out.via = std::move(chain);
    return out;
}

}  // namespace bunraku::compiler
