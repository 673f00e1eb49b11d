// SPDX-License-Identifier: Apache-2.0
// A cache of data files. Each file is read, parsed and indexed once, and shared by all compiles and
// threads until it changes.
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
#include "core/base/assert.h"
#include "core/value/value.h"
#include "language/environment/files.h"
#include "language/environment/trace.h"
#include "language/hiera/config.h"

namespace bunraku::hiera {

/// A cache of parsed data files. A file is read again when its modification time, size or inode
/// changes. A file that was written shortly before it was read is also read again, because a second
/// write might leave these attributes unchanged. Every compile checks a file once and uses that
/// state until its end. Files that were not used for `keep` are removed at the next read. Puppet
/// clears its cache with the environment (environment_timeout); here only a change of the file
/// matters, whatever that setting is.
class DataCache {
public:
    enum class Format : std::uint8_t { Yaml, Json, Hocon };

    explicit DataCache(std::chrono::milliseconds keep = std::chrono::hours(1)) : keep_(keep) {}

    /// One parsed file. Immutable.
    struct File {
        base::Arena arena;
        Value data;         ///< Undef if the file is empty.
        std::string text;   ///< Only if requested.
        std::string error;  ///< Reason for a parse error; empty if there is none.
        /// Further reads: includes and variables of HOCON.
        std::vector<std::pair<environment::Read, std::string>> further_reads;
        /// Stamps of the included files.
        std::vector<std::pair<std::string, environment::Stamp>> included;
        bool includes_unchanged(const environment::Files& files) const;
        /// Returns the index of a root key in the entries of `data`; -1 if the key does not exist.
        int find(std::string_view key, std::uint64_t hash) const;
        const Value& value_at(int i) const {
            BUNRAKU_ASSERT(i >= 0 && static_cast<std::size_t>(i) < entries_.size());
            return entries_[static_cast<std::size_t>(i)].value;
        }
        /// Returns true if the value contains "%{".
        bool interpolates(int i) const {
            BUNRAKU_ASSERT(i >= 0 && static_cast<std::size_t>(i) < flags_.size());
            return flags_[static_cast<std::size_t>(i)] & 1;
        }
        /// Returns the type in Puppet's message about a value that is not a Puppet value, such as a
        /// Ruby Symbol or a Hash with Boolean keys. Null if the value is valid.
        const std::string* unsupported(int i) const;
        /// Returns the content as a hiera.yaml. It is converted once per layer.
        std::shared_ptr<const Config> config(Layer layer,
                                             const std::function<Config()>& make) const;

        void index();
        std::vector<std::pair<std::uint32_t, std::string>> unsupported_values;

    private:
        std::span<const value::Entry> entries_;
        struct IndexSlot {
            std::uint32_t hash = 0, entry = 0;  // `entry` is the index plus 1; 0 marks a free slot.
        };
        std::vector<IndexSlot> slots_;  // Hash table with open addressing.
        std::vector<std::uint8_t> flags_;
        mutable std::mutex mutex_;
        mutable std::shared_ptr<const Config> configs_[3];
    };
    struct Loaded {
        std::shared_ptr<const File> file;  ///< Null if `error` is set.
        int error = 0;                     ///< errno; ENOENT if the file does not exist.
    };
    /// Loads a file. The caller records the read.
    Loaded load(const environment::Files& files, const std::string& path, Format format,
                bool keep_text = false);
    /// Returns the number of cached files.
    std::size_t size();

    /// Cache of decrypted texts, by ciphertext and keys, because a decryption costs a millisecond.
    /// The texts are in memory only.
    bool find_decrypted(const std::string& cipher, std::string& plain);
    void store_decrypted(const std::string& cipher, const std::string& plain);

private:
    using Clock = std::chrono::steady_clock;
    struct Slot {
        environment::Stamp stamp;
        std::shared_ptr<const File> file;
        std::atomic<Clock::rep> used{0};  ///< Time of the last use.
    };
    void drop_unused(Clock::time_point now);
    /// Removes the cached data of a file that cannot be read.
    Loaded forget(const std::string& name, int error);

    const std::chrono::milliseconds keep_;
    Clock::time_point swept_;
    std::shared_mutex mutex_;
    std::unordered_map<std::string, Slot> slots_;
    std::unordered_map<std::string, std::string> decrypted_;
};

}  // namespace bunraku::hiera
