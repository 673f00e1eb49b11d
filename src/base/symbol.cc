#include "base/symbol.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/arena.h"

namespace bunraku::base {

// The table is process-wide on purpose: symbols are shared by every environment snapshot and
// compile thread, and a name once seen stays (docs/design/0001-symbols.md).
class SymbolTable {
public:
    static SymbolTable& instance() {
        static auto* table = new SymbolTable();
        return *table;
    }
    Symbol get(std::string_view name, bool insert) {
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
        shard.map.emplace(text, rep);
        return Symbol(rep);
    }

private:
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
