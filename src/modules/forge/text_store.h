// Texts of a repository's releases (their records' fragments), each once: a file that only grows,
// which the published snapshots share by a link.
//
//   repos/ID/texts.N        one text after the other; N is counted up where too many are nobody's
//   repos/ID/texts.N.index  digest -> place; compared with the text itself, so that it may be lost
//   repos/ID/texts.N.boot   since which start of the machine all of it is known to be there
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

/// The newest one of a repository, for whoever has its lock.
class TextStore {
public:
    /// Of repos/ID; made where there is none.
    static base::Result<std::unique_ptr<TextStore>> open(const std::string& folder);
    /// Another one, empty: the next publish of all moves there what is still somebody's.
    static base::Result<void> begin_next(const std::string& folder);
    /// Path of the newest one; empty: there is none.
    static std::string newest(const std::string& folder);
    /// The texts of `view`, one after the other, for readers without a lock.
    static base::Result<std::string> read(const std::string& folder, const RecordView& view);

    std::uint32_t generation() const { return generation_; }
    const std::string& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    /// `record` (head and fragments) with its fragments here: what is written of it elsewhere.
    base::Result<std::string> apart(std::string_view record);
    base::Result<void> sync();
    /// Is there something that nobody has waited for? Whoever asks does.
    bool take_dirty() { return std::exchange(dirty_, false); }
    /// False: the machine was started anew since this was last found whole, and what nobody waited
    /// for may be missing.
    bool same_boot() const;
    base::Result<void> note_boot() const;
    /// Takes away the ones before this.
    void remove_older() const;

private:
    struct Slot {
        std::uint64_t digest = 0, place = 0;  ///< one more than the offset; 0: free
    };
    TextStore(std::string folder, std::uint32_t generation);
    bool stands_at(std::uint64_t place, std::string_view text) const;
    void open_index();
    void grow_index();
    /// Where `digest` stands with that text, or the free slot for it.
    std::uint64_t find(std::uint64_t digest, std::string_view text, Slot* found) const;
    Slot slot(std::uint64_t number) const;
    void set_slot(std::uint64_t number, const Slot& slot) const;
    void remember(std::uint64_t digest, std::string_view text, std::uint64_t place);

    std::string folder_, path_;
    std::uint32_t generation_;
    std::uint64_t size_ = 0;
    sys::Descriptor file_;
    std::unique_ptr<sys::Descriptor> index_;  ///< null: nothing is found again
    std::uint64_t slots_ = 0, used_ = 0;
    bool dirty_ = false;
};

}  // namespace bunraku::forge
