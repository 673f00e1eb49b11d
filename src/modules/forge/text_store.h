// SPDX-License-Identifier: Apache-2.0
// The texts of a repository's releases (the fragments of their records), each stored once. They are
// in an append-only file, which the published snapshots share by a hard link.
//
//   repos/ID/texts.N        the concatenated texts; a new N starts if too many are unused
//   repos/ID/texts.N.index  digest -> offset; verified against the text, so it may be lost
//   repos/ID/texts.N.boot   the boot of the machine since which all texts are known to be on disk
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/sys/descriptor.h"
#include "modules/forge/record.h"

namespace bunraku::forge {

/// The newest text store of a repository. The caller holds the repository's lock.
class TextStore {
public:
    /// Opens the newest store in repos/ID, or creates one.
    static base::Result<std::unique_ptr<TextStore>> open(const std::string& folder);
    /// Starts a new, empty store. The next full publish moves the used texts there.
    static base::Result<void> begin_next(const std::string& folder);
    /// Returns the path of the newest store, or an empty string if there is none.
    static std::string newest(const std::string& folder);
    /// Returns the concatenated texts of `view`, for readers without a lock.
    static base::Result<std::string> read(const std::string& folder, const RecordView& view);

    std::uint32_t generation() const { return generation_; }
    const std::string& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    /// Stores the fragments of `record` (head and fragments) and returns the head that refers to
    /// them.
    base::Result<std::string> apart(std::string_view record);
    base::Result<void> sync();
    /// Reports whether there are unsynced changes, and clears the mark. The caller must sync them.
    bool take_dirty() { return std::exchange(dirty_, false); }
    /// Returns false if the machine has been restarted since the store was last known to be
    /// complete, so that unsynced texts may be missing.
    bool same_boot() const;
    base::Result<void> note_boot() const;
    /// Removes the stores before this one.
    void remove_older() const;

private:
    struct Slot {
        std::uint64_t digest = 0, place = 0;  ///< offset plus one; 0 means that the slot is free
    };
    TextStore(std::string folder, std::uint32_t generation);
    bool matches_at(std::uint64_t place, std::string_view text) const;
    void open_index();
    void grow_index();
    /// Returns the slot of `digest` with that text, or the free slot for it.
    std::uint64_t find(std::uint64_t digest, std::string_view text, Slot* found) const;
    Slot slot(std::uint64_t number) const;
    void set_slot(std::uint64_t number, const Slot& slot) const;
    void remember(std::uint64_t digest, std::string_view text, std::uint64_t place);

    std::string folder_, path_;
    std::uint32_t generation_;
    std::uint64_t size_ = 0;
    sys::Descriptor file_;
    /// null if the index is unavailable, so that no text is found again
    std::unique_ptr<sys::Descriptor> index_;
    std::uint64_t slots_ = 0, used_ = 0;
    bool dirty_ = false;
};

}  // namespace bunraku::forge
