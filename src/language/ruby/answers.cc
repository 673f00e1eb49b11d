// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/answers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/codec/random.h"
#include "core/sys/change_times.h"
#include "core/sys/descriptor.h"
#include "core/sys/disk.h"
#include "core/sys/shared_secret.h"

namespace bunraku::ruby {

namespace {

using sys::Descriptor;
using sys::write_all;

constexpr std::size_t kLargest = 64U << 20;  ///< Bytes of a table, on the disk and in memory.
constexpr std::size_t kVariants = 16;        ///< Memos of one call.
constexpr std::size_t kLargestAnswer = 1U << 20;

std::uint64_t checksum(std::string_view text) {
    std::uint64_t sum = 14695981039346656037ULL;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return sum;
}

void put_number(std::string& out, std::uint64_t n, int bytes) {
    BUNRAKU_ASSERT(bytes > 0 && bytes <= 8 && (bytes == 8 || n >> (8 * bytes) == 0));
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(n >> (8 * i) & 255);
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, text.size(), 4);
    out += text;
}

/// Reads the output of put_number and put_text; `good` becomes false when a read passes the end.
struct Pieces {
    std::string_view rest;
    bool good = true;

    std::uint64_t number(int bytes) {
        BUNRAKU_ASSERT(bytes > 0 && bytes <= 8);
        if (rest.size() < static_cast<std::size_t>(bytes)) {
            good = false;
            return 0;
        }
        std::uint64_t n = 0;
        for (int i = 0; i < bytes; ++i)
            n |= std::uint64_t{static_cast<unsigned char>(rest[static_cast<std::size_t>(i)])}
                 << (8 * i);
        rest.remove_prefix(static_cast<std::size_t>(bytes));
        return n;
    }
    std::string_view text() {
        const auto size = number(4);
        if (rest.size() < size) {
            good = false;
            return {};
        }
        const auto out = rest.substr(0, size);
        rest.remove_prefix(size);
        return out;
    }
};

std::string record(char kind, std::string_view body) {
    std::string out;
    put_number(out, body.size() + 1, 4);
    const std::string whole = kind + std::string(body);
    put_number(out, checksum(whole), 8);
    return out + whole;
}

std::size_t weight(const Answer& answer) {
    std::size_t sum = 200 + answer.value.size();
    for (const auto& asked : answer.asked) sum += 96 + asked.question.size();
    for (const auto& logged : answer.logged) sum += 96 + logged.text.size();
    return sum;
}

}  // namespace

AnswerTable::AnswerTable(std::string folder, const std::string& environment)
    : folder_(std::move(folder)) {
    if (!folder_.empty()) {
        (void)sys::disk().make_directories(folder_, 0700);
        secret_ = sys::shared_secret(folder_ + "/secret", codec::random_hex(32).value_or(""));
    }
    if (secret_.empty()) {
        folder_.clear();
        secret_ = codec::random_hex(32).value_or("");
        return;
    }
    file_ = fmt::format("{}/{}", folder_, codec::short_digest(environment));
    distrust_file_ = file_ + ".distrusted";
    trusted_ = ::access(distrust_file_.c_str(), F_OK) != 0;
    if (trusted_) load();
}

AnswerTable::~AnswerTable() = default;

std::string AnswerTable::fingerprint(std::string_view text) const {
    std::string keyed;
    keyed.reserve(secret_.size() + text.size());
    keyed.append(secret_).append(text);
    return codec::short_digest(keyed);
}

/// Identifies this program and its secret; files with another header are ignored.
std::string AnswerTable::header() const {
    return fmt::format("bunraku answers 1 {}\n", fingerprint(sys::own_program_stamp()));
}

void AnswerTable::load() {
    const Descriptor fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    auto text = sys::own_file(fd.get(), 2 * kLargest);
    const auto start = header();
    if (!text || !text->starts_with(start)) return;
    loaded_ = std::move(*text);
    std::size_t at = start.size();
    while (at + 12 < loaded_.size()) {
        Pieces pieces{std::string_view(loaded_).substr(at)};
        const auto size = pieces.number(4);
        const auto sum = pieces.number(8);
        damaged_ = size == 0 || pieces.rest.size() < size;
        if (damaged_) break;
        const auto body = pieces.rest.substr(0, size);
        at += 12 + size;
        BUNRAKU_ASSERT(at <= loaded_.size() && !body.empty());
        Pieces inner{body.substr(1)};
        if (body[0] == 'A') {
            const std::string key(inner.text());
            auto& slots = answers_[key];
            // The record and its checksum are checked at first use.
            slots.insert(slots.begin(), {at - size - 8, size + 8, nullptr});
            if (slots.size() > kVariants) slots.pop_back();
        } else if (body[0] == 'R' && checksum(body) == sum) {
            auto reads = std::make_shared<AnswerReads>();
            reads->id = inner.text();
            const std::string before(inner.text());
            const auto n = inner.number(4);
            for (std::uint64_t i = 0; i < n && inner.good; ++i) {
                AnswerReads::RecordedRead seen;
                seen.note.kind = inner.text();
                seen.note.name = inner.text();
                seen.state = inner.text();
                reads->reads.push_back(std::move(seen));
            }
            if (!inner.good) continue;
            if (!before.empty()) {
                const auto known = reads_.find(before);
                if (known == reads_.end()) continue;
                reads->before = known->second;
            }
            written_[reads->id] = true;
            reads_.emplace(reads->id, std::move(reads));
        }
    }
    damaged_ = damaged_ || at != loaded_.size();
    used_bytes_ = loaded_.size();
}

std::shared_ptr<const Answer> AnswerTable::decoded(std::string_view text) const {
    Pieces pieces{text};
    const auto sum = pieces.number(8);
    if (checksum(pieces.rest) != sum) return nullptr;
    pieces.rest.remove_prefix(1);
    pieces.text();  // The key.
    auto out = std::make_shared<Answer>();
    for (auto* slot : {&out->own, &out->process}) {
        const std::string id(pieces.text());
        if (id.empty()) continue;
        const auto known = reads_.find(id);
        if (known == reads_.end()) return nullptr;
        *slot = known->second;
    }
    for (auto n = pieces.number(4); n > 0 && pieces.good; --n) {
        Answer::Asked asked;
        asked.question = pieces.text();
        asked.answer = pieces.text();
        asked.leaves = pieces.number(1) != 0;
        out->asked.push_back(std::move(asked));
    }
    for (auto n = pieces.number(4); n > 0 && pieces.good; --n) {
        Answer::Statement logged;
        logged.level = static_cast<base::Level>(pieces.number(1));
        logged.text = pieces.text();
        logged.source = pieces.text();
        out->logged.push_back(std::move(logged));
    }
    out->value = pieces.text();
    return pieces.good ? out : nullptr;
}

std::vector<std::shared_ptr<const Answer>> AnswerTable::find(const std::string& key) {
    std::vector<std::shared_ptr<const Answer>> out;
    const std::lock_guard lock(mutex_);
    if (!trusted_) return out;
    const auto it = answers_.find(key);
    if (it == answers_.end()) return out;
    for (auto& slot : it->second) {
        BUNRAKU_ASSERT(slot.answer || slot.offset + slot.size <= loaded_.size());
        if (!slot.answer)
            slot.answer = decoded(std::string_view(loaded_).substr(slot.offset, slot.size));
        if (slot.answer) out.push_back(slot.answer);
    }
    std::erase_if(it->second, [](const Slot& slot) { return !slot.answer; });
    return out;
}

void AnswerTable::drop_all() {
    answers_.clear();
    reads_.clear();
    written_.clear();
    loaded_.clear();
    pending_.clear();
    used_bytes_ = 0;
}

void AnswerTable::evict(std::size_t size) {
    used_bytes_ += size;
    if (used_bytes_ <= kLargest) return;
    drop_all();
    BUNRAKU_ASSERT(answers_.empty() && pending_.empty() && size <= kLargest);
    used_bytes_ = size;
    if (!file_.empty()) ::unlink(file_.c_str());
}

void AnswerTable::write_reads(const std::shared_ptr<const AnswerReads>& reads) {
    if (!reads || written_.contains(reads->id)) return;
    write_reads(reads->before);
    written_[reads->id] = true;
    std::string body;
    put_text(body, reads->id);
    put_text(body, reads->before ? reads->before->id : std::string());
    put_number(body, reads->reads.size(), 4);
    for (const auto& seen : reads->reads) {
        put_text(body, seen.note.kind);
        put_text(body, seen.note.name);
        put_text(body, seen.state);
    }
    BUNRAKU_ASSERT(!reads->before || written_.contains(reads->before->id));
    pending_ += record('R', body);
}

void AnswerTable::keep(const std::string& key, Answer answer) {
    const auto size = weight(answer);
    if (size > kLargestAnswer) return;
    const std::lock_guard lock(mutex_);
    if (!trusted_) return;
    evict(size);
    if (!folder_.empty() && !answer.secret) {
        write_reads(answer.own);
        write_reads(answer.process);
        std::string body;
        put_text(body, key);
        put_text(body, answer.own ? answer.own->id : std::string());
        put_text(body, answer.process ? answer.process->id : std::string());
        put_number(body, answer.asked.size(), 4);
        for (const auto& asked : answer.asked) {
            put_text(body, asked.question);
            put_text(body, asked.answer);
            put_number(body, asked.leaves ? 1 : 0, 1);
        }
        put_number(body, answer.logged.size(), 4);
        for (const auto& logged : answer.logged) {
            put_number(body, static_cast<std::uint64_t>(logged.level), 1);
            put_text(body, logged.text);
            put_text(body, logged.source);
        }
        put_text(body, answer.value);
        pending_ += record('A', body);
    }
    auto& slots = answers_[key];
    slots.insert(slots.begin(), {0, 0, std::make_shared<const Answer>(std::move(answer))});
    if (slots.size() > kVariants) slots.pop_back();
    BUNRAKU_ASSERT(slots.size() <= kVariants && slots.front().answer);
}

std::shared_ptr<const AnswerReads> AnswerTable::extended(
    std::shared_ptr<const AnswerReads> before, std::vector<AnswerReads::RecordedRead> reads) {
    if (reads.empty()) return before;
    BUNRAKU_ASSERT(!before || !before->id.empty());
    std::ranges::sort(reads, [](const auto& a, const auto& b) {
        return std::tie(a.note.kind, a.note.name) < std::tie(b.note.kind, b.note.name);
    });
    std::string text = before ? before->id : std::string();
    for (const auto& seen : reads)
        text += fmt::format("\n{}\t{}\t{}", seen.note.kind, seen.note.name, seen.state);
    auto id = fingerprint(text);
    const std::lock_guard lock(mutex_);
    auto& slot = reads_[id];
    if (!slot) {
        auto made = std::make_shared<AnswerReads>();
        made->before = std::move(before);
        made->reads = std::move(reads);
        made->id = std::move(id);
        slot = std::move(made);
        used_bytes_ += text.size();
    }
    return slot;
}

void AnswerTable::save() {
    const std::lock_guard lock(mutex_);
    if (pending_.empty() || file_.empty()) return;
    const std::string text = std::exchange(pending_, {});
    const auto start = header();
    const Descriptor fd(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.good() || ::flock(fd.get(), LOCK_EX) != 0) return;
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid() ||
        (status.st_mode & 077) != 0)
        return;
    std::string first(start.size(), '\0');
    const auto n = ::pread(fd.get(), first.data(), first.size(), 0);
    const bool known = n == static_cast<ssize_t>(first.size()) && first == start;
    const bool full = static_cast<std::size_t>(status.st_size) + text.size() > kLargest;
    if (!known || full || damaged_) {
        damaged_ = false;
        written_.clear();
        if (::ftruncate(fd.get(), 0) != 0 || write_all(fd.get(), start) != 0) return;
    } else if (::lseek(fd.get(), 0, SEEK_END) < 0) {
        return;
    }
    // If a full disk truncates a record, neither it nor any later record can be read, so the file
    // is emptied.
    if (write_all(fd.get(), text) != 0 && ::ftruncate(fd.get(), 0) != 0) ::unlink(file_.c_str());
}

std::optional<std::string> AnswerTable::known_state(const std::string& path,
                                                    const std::string& stamp) {
    const std::lock_guard lock(mutex_);
    const auto it = states_.find(path);
    if (it == states_.end() || it->second.stamp != stamp) return std::nullopt;
    return it->second.state;
}

void AnswerTable::remember_state(const std::string& path, std::string stamp, std::string state) {
    const std::lock_guard lock(mutex_);
    if (states_.size() > 100'000) states_.clear();
    states_[path] = {std::move(stamp), std::move(state)};
}

bool AnswerTable::trusted() const {
    const std::lock_guard lock(mutex_);
    return trusted_;
}

void AnswerTable::distrust(std::string_view why) {
    const std::lock_guard lock(mutex_);
    trusted_ = false;
    drop_all();
    if (file_.empty()) return;
    ::unlink(file_.c_str());
    const Descriptor fd(::open(distrust_file_.c_str(),
                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.good()) (void)write_all(fd.get(), std::string(why) + '\n');
}

std::optional<Answers::Mode> Answers::mode_named(std::string_view name) {
    if (name == "off") return Mode::Off;
    if (name == "on") return Mode::On;
    if (name == "check") return Mode::Check;
    return std::nullopt;
}

std::shared_ptr<AnswerTable> Answers::table(const std::string& environment) {
    const std::lock_guard lock(mutex_);
    auto& slot = tables_[environment];
    if (!slot) slot = std::make_shared<AnswerTable>(folder_, environment);
    return slot;
}

bool Answers::sample() {
    constexpr std::uint64_t kSample = 100;
    const std::lock_guard lock(mutex_);
    // The counter starts at the time of day, so that short-lived processes are sampled, too.
    if (sample_count_ == 0) sample_count_ = static_cast<std::uint64_t>(file_time_now() / 1000);
    return ++sample_count_ % kSample == 0;
}

std::string answers_folder(const std::string& ruby_cachedir) {
    if (!ruby_cachedir.empty()) return ruby_cachedir + "/answers";
    auto types = usual_options().cache_directory;
    const auto slash = types.rfind('/');
    return slash == std::string::npos ? std::string() : types.substr(0, slash) + "/answers";
}

std::int64_t file_time_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

bool unmodified_since(const std::string& path, std::int64_t since_ns) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return true;
    const auto changed =
        std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
    return changed <= since_ns - sys::kTimesTick;
}

bool is_private(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_mode & 04) == 0;
}

}  // namespace bunraku::ruby
