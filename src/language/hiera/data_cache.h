// Data files: read, parsed, indexed once, shared by all compiles and threads until they change.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/value/value.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"
#include "language/hiera/config.h"

namespace bunraku::hiera {

/// See the top of the file. A file is read anew when its modification time, size or inode changes,
/// or where it was written so shortly before it was read that a second write might have left them
/// as they were; every compile looks once, and keeps what it saw. What nobody asked for in `keep`
/// is dropped when something is next read. Puppet drops its cache with the environment
/// (environment_timeout); here a changed file is all that matters, whatever that setting says.
class DataCache {
public:
    enum class Format : std::uint8_t { Yaml, Json, Hocon };

    explicit DataCache(std::chrono::milliseconds keep = std::chrono::hours(1)) : keep_(keep) {}

    /// One parsed file. Immutable.
    struct File {
        base::Arena arena;
        Value data;         ///< undef where the file holds nothing
        std::string text;   ///< only where asked for
        std::string error;  ///< why it could not be parsed; empty: it could
        /// What was read beside the file itself: includes and variables of HOCON.
        std::vector<std::pair<environment::Read, std::string>> also_read;
        /// The files among these, as they were.
        std::vector<std::pair<std::string, environment::Stamp>> included;
        bool includes_unchanged(const environment::Files& files) const;
        /// The place of a root key among the entries of `data`; -1: not there.
        int find(std::string_view key, std::uint64_t hash) const;
        const Value& value_at(int i) const { return entries_[static_cast<std::size_t>(i)].value; }
        /// The value holds "%{" somewhere.
        bool interpolates(int i) const { return flags_[static_cast<std::size_t>(i)] & 1; }
        /// The type Puppet names for a value that is no Puppet value (a Ruby Symbol, a Hash with
        /// Boolean keys); null: it is one.
        const std::string* strange(int i) const;
        /// What the file says as a hiera.yaml, made once a layer.
        std::shared_ptr<const Config> config(Layer layer,
                                             const std::function<Config()>& make) const;

        void index();
        std::vector<std::pair<std::uint32_t, std::string>> strange_values;

    private:
        std::span<const value::Entry> entries_;
        struct IndexSlot {
            std::uint32_t hash = 0, entry = 0;  // entry + 1; 0: free
        };
        std::vector<IndexSlot> slots_;  // open addressing
        std::vector<std::uint8_t> flags_;
        mutable std::mutex mutex_;
        mutable std::shared_ptr<const Config> configs_[3];
    };
    struct Loaded {
        std::shared_ptr<const File> file;  ///< null: see `error`
        int error = 0;                     ///< errno; ENOENT: there is none
    };
    /// The reader notes what it reads by this.
    Loaded load(const environment::Files& files, const std::string& path, Format format,
                bool keep_text = false);
    /// Files held now.
    std::size_t size();

    /// Deciphered texts by what they were deciphered from and with: deciphering costs a
    /// millisecond. Nothing but memory ever holds them.
    bool find_plain(const std::string& cipher, std::string& plain);
    void remember_plain(const std::string& cipher, const std::string& plain);

private:
    using Clock = std::chrono::steady_clock;
    struct Slot {
        environment::Stamp stamp;
        std::shared_ptr<const File> file;
        std::atomic<Clock::rep> used{0};  ///< when it was last asked for
    };
    void drop_unused(Clock::time_point now);
    /// The file cannot be read: nothing of it is kept.
    Loaded forget(const std::string& name, int error);

    const std::chrono::milliseconds keep_;
    Clock::time_point swept_;
    std::shared_mutex mutex_;
    std::unordered_map<std::string, Slot> slots_;
    std::unordered_map<std::string, std::string> plain_;
};

}  // namespace bunraku::hiera
