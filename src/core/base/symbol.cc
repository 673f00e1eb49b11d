// SPDX-License-Identifier: Apache-2.0
#include "core/base/symbol.h"

#include <array>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/base/arena.h"
#include "core/base/assert.h"

namespace bunraku::base {

// The table is process-wide on purpose: all environment snapshots and compile threads share
// symbols, and a symbol is never removed (docs/design/0001-symbol-interning.md).
class SymbolTable {
public:
    static SymbolTable& instance() {
        static auto* table = new SymbolTable();
        return *table;
    }
    Symbol get(std::string_view name, bool insert) {
        // Most lookups repeat a name at the same address, in a syntax tree or in the facts. They
        // need neither a hash nor a lock.
        Recent& recent = slot_of(name);
        if (recent.text == name.data() && recent.rep && Symbol(recent.rep).view() == name)
            return Symbol(recent.rep);
        const Symbol found = get_shared(name, insert);
        BUNRAKU_ASSERT(found.rep_ ? found.view() == name : !insert);
        if (found.rep_) recent = {name.data(), found.rep_};
        return found;
    }

private:
    struct Recent {
        const char* text = nullptr;
        const Symbol::Rep* rep = nullptr;
    };
    static Recent& slot_of(std::string_view name) {
        static constexpr std::size_t kSlots = 1024;
        static thread_local std::array<Recent, kSlots> slots;
        const auto at = reinterpret_cast<std::uintptr_t>(name.data());
        return slots[(at ^ (at >> 10) ^ (name.size() << 5)) % kSlots];
    }

    Symbol get_shared(std::string_view name, bool insert) {
        const std::uint64_t hash = std::hash<std::string_view>()(name);
        Shard& shard = shards_[hash % kShards];
        {
            std::shared_lock lock(shard.mutex);
            if (auto it = shard.map.find(name); it != shard.map.end()) return Symbol(it->second);
        }

        if (!insert) return {};
        std::unique_lock lock(shard.mutex);
        if (auto it = shard.map.find(name); it != shard.map.end()) return Symbol(it->second);
        std::string_view text = shard.arena.copy(name);
        auto* rep = shard.arena.make<Symbol::Rep>(
            Symbol::Rep{text.data(), static_cast<std::uint32_t>(text.size()), hash});
        BUNRAKU_ASSERT(rep->size == text.size());
        const bool fresh = shard.map.emplace(text, rep).second;
        BUNRAKU_ASSERT(fresh);
        return Symbol(rep);
    }

    static constexpr std::size_t kShards = 16;
    struct Shard {
        std::shared_mutex mutex;
        std::unordered_map<std::string_view, const Symbol::Rep*> map;
        Arena arena{4096};
    };
    Shard shards_[kShards];
};

Symbol Symbol::intern(std::string_view name) { return SymbolTable::instance().get(name, true); }
Symbol Symbol::find(std::string_view name) { return SymbolTable::instance().get(name, false); }

}  // namespace bunraku::base
