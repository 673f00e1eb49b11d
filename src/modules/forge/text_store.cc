// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/text_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <vector>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/uninitialized.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;

constexpr std::string_view kName = "texts.";
constexpr std::uint64_t kFirstSlots = 4096;

std::string path_of_texts(const std::string& folder, std::uint32_t generation) {
    return fmt::format("{}/{}{}", folder, kName, generation);
}

/// Returns the numbers of the existing stores in ascending order.
std::vector<std::uint32_t> generations(const std::string& folder) {
    std::vector<std::uint32_t> out;
    const auto names = sys::disk().list(folder);
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        if (!name.starts_with(kName)) continue;
        const auto number = base::parse_integer<std::uint32_t>(name.substr(kName.size()));
        if (number) out.push_back(*number);
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string boot_id() {
    return sys::disk().read("/proc/sys/kernel/random/boot_id").value_or(std::string());
}

std::uint64_t begin_of_digest(std::string_view text) {
    const std::string hex = codec::hex_digest(codec::DigestKind::Sha256, text);
    std::uint64_t out = 0;
    for (char c : std::string_view(hex).substr(0, 16)) {
        out = out << 4U | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return out;
}

}  // namespace

TextStore::TextStore(std::string folder, std::uint32_t generation)
    : folder_(std::move(folder)),
      path_(path_of_texts(folder_, generation)),
      generation_(generation),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}

std::string TextStore::newest(const std::string& folder) {
    const auto all = generations(folder);
    return all.empty() ? std::string() : path_of_texts(folder, all.back());
}

Result<std::unique_ptr<TextStore>> TextStore::open(const std::string& folder) {
    const auto all = generations(folder);
    std::unique_ptr<TextStore> out(new TextStore(folder, all.empty() ? 1 : all.back()));
    struct stat status{};
    if (!out->file_.good() || ::fstat(out->file_.get(), &status) != 0) {
        return failure("cannot open " + out->path_, errno);
    }
    out->size_ = static_cast<std::uint64_t>(status.st_size);
    if (out->size_ == 0) BUNRAKU_TRY_VOID(out->note_boot());
    out->open_index();
    return out;
}

Result<void> TextStore::begin_next(const std::string& folder) {
    const auto all = generations(folder);
    BUNRAKU_ASSERT(std::ranges::is_sorted(all));
    TextStore next(folder, all.empty() ? 1 : all.back() + 1);
    if (!next.file_.good()) return failure("cannot make " + next.path_, errno);
    return {};
}

Result<std::string> TextStore::read(const std::string& folder, const RecordView& view) {
    const std::string path = path_of_texts(folder, view.generation);
    const sys::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.good()) return failure("cannot read " + path, errno);
    std::string out(view.fragments_size(), '\0');
    std::size_t at = 0;
    for (std::size_t i = 0; i < kFragments; ++i) {
        if (sys::read_all_at(file.get(), std::span(out).subspan(at, view.lengths[i]),
                             view.places[i]) != 0) {
            return failure(path + " is cut short");
        }
        at += view.lengths[i];
    }
    return out;
}

bool TextStore::matches_at(std::uint64_t place, std::string_view text) const {
    if (place > size_ || text.size() > size_ - place) return false;
    char piece[8192] BUNRAKU_UNINITIALIZED;
    while (!text.empty()) {
        const std::size_t n = std::min(text.size(), sizeof piece);
        if (sys::read_all_at(file_.get(), std::span(piece, n), place) != 0 ||
            std::memcmp(piece, text.data(), n) != 0) {
            return false;
        }
        text.remove_prefix(n);
        place += n;
    }
    return true;
}

Result<std::string> TextStore::apart(std::string_view record) {
    std::string_view fragments = record;
    const auto view = read_record(&fragments);
    if (!view || view->apart || fragments.size() < view->fragments_size()) {
        return failure("the record is broken");
    }
    std::array<std::uint64_t, kFragments> places{};
    std::array<std::uint64_t, kFragments> digests{};
    std::array<bool, kFragments> fresh{};
    std::string added;
    std::size_t at = 0;
    for (std::size_t i = 0; i < kFragments; ++i) {
        const std::string_view text = fragments.substr(at, view->lengths[i]);
        at += text.size();
        // Metadata contains the version, so no two releases share it.
        const bool shared = i != static_cast<std::size_t>(Fragment::Metadata) && index_;
        Slot known;
        if (shared) {
            digests[i] = begin_of_digest(text);
            find(digests[i], text, &known);
        }
        if (known.place != 0) {
            places[i] = known.place - 1;
            continue;
        }
        places[i] = size_ + added.size();
        added += text;
        fresh[i] = shared;
    }
    BUNRAKU_ASSERT(at == view->fragments_size());
    // Written before the record that refers to it, so that a killed process never leaves a record
    // with missing text.
    if (const int error = sys::write_all_at(file_.get(), added, size_); error != 0) {
        return failure("cannot write " + path_, error);
    }
    size_ += added.size();
    for (std::size_t i = 0; i < kFragments; ++i)
        BUNRAKU_ALWAYS_ASSERT(places[i] + view->lengths[i] <= size_);
    // An existing text may be from a process that died before it synced the file.
    dirty_ = true;
    at = 0;
    for (std::size_t i = 0; i < kFragments; ++i) {
        if (fresh[i]) remember(digests[i], fragments.substr(at, view->lengths[i]), places[i]);
        at += view->lengths[i];
    }
    return record_apart(record.substr(0, record.size() - fragments.size()), generation_, places);
}

Result<void> TextStore::sync() {
    if (dirty_ && ::fdatasync(file_.get()) != 0) return failure("cannot write " + path_, errno);
    dirty_ = false;
    return {};
}

bool TextStore::same_boot() const {
    const auto noted = sys::disk().read(path_ + ".boot");
    return noted && *noted == boot_id();
}

Result<void> TextStore::note_boot() const {
    return sys::disk().replace(path_ + ".boot", boot_id(), {.mode = 0644, .sync = true});
}

void TextStore::remove_older() const {
    for (std::uint32_t n : generations(folder_)) {
        if (n >= generation_) break;
        const std::string old = path_of_texts(folder_, n);
        for (const char* end : {"", ".index", ".boot"}) ::unlink((old + end).c_str());
    }
}

// Opens the index: one slot with the number of used slots, followed by a power of two of slots.

void TextStore::open_index() {
    const std::string path = path_ + ".index";
    index_ =
        std::make_unique<sys::Descriptor>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    struct stat status{};
    if (!index_->good() || ::fstat(index_->get(), &status) != 0) return index_.reset();
    slots_ = static_cast<std::uint64_t>(status.st_size) / sizeof(Slot);
    slots_ = slots_ > 0 ? slots_ - 1 : 0;
    if (slots_ < kFirstSlots || (slots_ & (slots_ - 1)) != 0) {
        slots_ = kFirstSlots;
        if (::ftruncate(index_->get(), 0) != 0 ||
            ::ftruncate(index_->get(), static_cast<off_t>((slots_ + 1) * sizeof(Slot))) != 0) {
            return index_.reset();
        }
    }
    Slot head;
    if (sys::read_all_at(index_->get(), std::span(reinterpret_cast<char*>(&head), sizeof head),
                         0) != 0) {
        return index_.reset();
    }
    used_ = head.digest;
    BUNRAKU_ASSERT(slots_ >= kFirstSlots && (slots_ & (slots_ - 1)) == 0);
}

TextStore::Slot TextStore::slot(std::uint64_t number) const {
    Slot out;
    BUNRAKU_ASSERT(number < slots_);
    if (sys::read_all_at(index_->get(), std::span(reinterpret_cast<char*>(&out), sizeof out),
                         (number + 1) * sizeof(Slot)) != 0) {
        return {};
    }
    return out;
}

void TextStore::set_slot(std::uint64_t number, const Slot& slot) const {
    BUNRAKU_ASSERT(number < slots_ && slot.place != 0);
    (void)sys::write_all_at(index_->get(),
                            std::string_view(reinterpret_cast<const char*>(&slot), sizeof slot),
                            (number + 1) * sizeof(Slot));
}

std::uint64_t TextStore::find(std::uint64_t digest, std::string_view text, Slot* found) const {
    BUNRAKU_ASSERT(index_ && slots_ >= kFirstSlots && (slots_ & (slots_ - 1)) == 0);
    std::uint64_t number = digest & (slots_ - 1);
    // The bound ends the loop even if the index is corrupt.
    for (std::uint64_t i = 0; i < slots_; ++i) {
        const Slot here = slot(number);
        if (here.place == 0) break;
        if (here.digest == digest && matches_at(here.place - 1, text)) {
            *found = here;
            break;
        }
        number = (number + 1) & (slots_ - 1);
    }
    return number;
}

void TextStore::remember(std::uint64_t digest, std::string_view text, std::uint64_t place) {
    if (used_ * 4 >= slots_ * 3) grow_index();
    if (!index_) return;
    Slot known;
    const std::uint64_t number = find(digest, text, &known);
    if (known.place != 0) return;
    set_slot(number, {digest, place + 1});
    ++used_;
    const Slot head{used_, 0};
    (void)sys::write_all_at(index_->get(),
                            std::string_view(reinterpret_cast<const char*>(&head), sizeof head), 0);
}

void TextStore::grow_index() {
    std::vector<Slot> old(slots_ + 1), wider(slots_ * 2 + 1);
    if (sys::read_all_at(index_->get(),
                         std::span(reinterpret_cast<char*>(old.data()), old.size() * sizeof(Slot)),
                         0) != 0) {
        return index_.reset();
    }
    const std::uint64_t mask = slots_ * 2 - 1;
    std::uint64_t used = 0;
    for (std::uint64_t i = 1; i <= slots_; ++i) {
        if (old[i].place == 0) continue;
        std::uint64_t number = old[i].digest & mask;
        BUNRAKU_ASSERT(number <= mask);
        while (wider[number + 1].place != 0) number = (number + 1) & mask;
        wider[number + 1] = old[i];
        ++used;
    }
    wider[0].digest = used;
    BUNRAKU_ASSERT(used <= slots_);
    const std::string path = path_ + ".index";
    const auto done = sys::disk().replace(
        path,
        std::string_view(reinterpret_cast<const char*>(wider.data()), wider.size() * sizeof(Slot)),
        {.mode = 0644});
    index_.reset();
    if (done) open_index();
}

}  // namespace bunraku::forge
