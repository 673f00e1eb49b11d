// SPDX-License-Identifier: Apache-2.0
#include "store/db/queue.h"

#include <algorithm>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "core/base/assert.h"
#include "core/sys/descriptor.h"
#include "store/db/queue_format.h"
#include "store/db/secrets.h"

namespace bunraku::store {

namespace {

using namespace queue_format;

bool is_full(int code) { return code == ENOSPC || code == EDQUOT || code == EFBIG; }

base::Error disk_error(std::string_view doing, const std::string& path, int code) {
    const Failure kind = is_full(code) ? Failure::Full : Failure::Unavailable;
    return {fmt::format("Could not {} {}: {}", doing, path, strerror(code)),
            static_cast<int>(kind)};
}

/// The message is short enough to need no heap memory.
Result<void> out_of_memory() {
    return base::failure("Out of memory", static_cast<int>(Failure::Unavailable));
}

Result<void> make_folder(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        std::string folder = path.substr(0, at);
        if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
            int code = errno;
            struct stat st;
            if (::stat(folder.c_str(), &st) != 0) {
                return std::unexpected(disk_error("create the folder", folder, code));
            }
        }
        if (at == std::string::npos) return {};
    }
}

void sync_folder(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

/// Returns the numbers of the existing segments, in order.
Result<std::vector<std::uint64_t>> segment_numbers(const std::string& folder) {
    std::vector<std::uint64_t> out;
    DIR* dir = ::opendir(folder.c_str());
    if (!dir) {
        if (errno == ENOENT) return out;
        return std::unexpected(disk_error("read", folder, errno));
    }
    while (dirent* e = ::readdir(dir)) {
        std::string_view name = e->d_name;
        if (name.size() != 20 || !name.ends_with(".log")) continue;
        std::uint64_t n = strtoull(e->d_name, nullptr, 16);
        if (n > 0) out.push_back(n);
    }
    ::closedir(dir);
    std::sort(out.begin(), out.end());
    return out;
}

std::string path_of_segment(const std::string& folder, std::uint64_t number) {
    return fmt::format("{}/{:016x}.log", folder, number);
}

bool write_all(int fd, std::vector<iovec> parts, off_t offset, int* code) {
    BUNRAKU_ASSERT(fd >= 0 && offset >= 0);
    std::size_t first = 0;
    while (first < parts.size()) {
        int count = static_cast<int>(std::min<std::size_t>(parts.size() - first, 512));
        ssize_t n = ::pwritev(fd, parts.data() + first, count, offset);
        if (n < 0) {
            if (errno == EINTR) continue;
            *code = errno;
            return false;
        }
        offset += n;
        auto left = static_cast<std::size_t>(n);
        while (first < parts.size() && left >= parts[first].iov_len) {
            left -= parts[first++].iov_len;
        }
        if (left > 0) {
            parts[first].iov_base = static_cast<char*>(parts[first].iov_base) + left;
            parts[first].iov_len -= left;
        }
    }
    return true;
}

/// Allocates `size` bytes on disk in advance. A full disk is then detected before a command is
/// accepted, and appending changes no metadata. If the disk has less space, allocates less, but at
/// least `needed`. Returns the error number, or 0.
int allocate(int fd, std::uint64_t needed, std::uint64_t& size) {
    BUNRAKU_ASSERT(fd >= 0 && needed <= size);
    for (;;) {
        const int code = ::posix_fallocate(fd, 0, static_cast<off_t>(size));
        if (code == EOPNOTSUPP || code == EINVAL) return 0;
        if (!is_full(code) || size == needed) return code;
        // Releases the partial allocation so that the next attempt can use the space.
        if (::ftruncate(fd, 0) != 0) return errno;
        size = std::max(needed, size / 4);
    }
}

Result<std::string> read_at(const std::string& path, std::uint64_t offset, std::size_t size) {
    const sys::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.good()) return std::unexpected(disk_error("read", path, errno));
    std::string out(size, '\0');
    if (const int code = sys::read_all_at(file.get(), out, offset); code != 0)
        return std::unexpected(disk_error("read", path, code));
    return out;
}

}  // namespace

std::string Queue::segment_path(std::uint64_t number) const {
    return path_of_segment(options_.folder, number);
}

Result<std::unique_ptr<Queue>> Queue::open(const QueueOptions& options) {
    BUNRAKU_TRY_VOID(make_folder(options.folder));
    std::unique_ptr<Queue> queue(new Queue(options));
    std::string lock = options.folder + "/lock";
    queue->lock_fd_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (queue->lock_fd_ < 0) return std::unexpected(disk_error("open", lock, errno));
    if (::flock(queue->lock_fd_, LOCK_EX | LOCK_NB) != 0) {
        return base::failure(
            fmt::format("The queue {} is in use by another process", options.folder));
    }
    BUNRAKU_TRY_VOID(queue->recover());
    queue->seal_dead_letters();
    return queue;
}

Queue::~Queue() {
    stop();
    for (auto& [number, segment] : segments_) {
        if (segment.fd >= 0) ::close(segment.fd);
    }
    if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<std::uint64_t> Queue::read_segment(
    const std::string& path, bool last,
    const std::function<void(QueuedCommand, std::uint64_t, std::uint32_t)>& command,
    const std::function<void(std::uint64_t)>& done) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::unexpected(disk_error("read", path, errno));
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } closer{fd};
    char head[kSegmentHeader];
    if (::pread(fd, head, sizeof head, 0) != sizeof head) return 0;
    std::string_view header(head, sizeof head);
    if (header.find_first_not_of('\0') == std::string_view::npos) return 0;
    if (!header.starts_with(kSegmentMagic)) {
        return base::failure(fmt::format("{} is not a segment of a command queue", path));
    }
    if (header.substr(0, 12) != segment_header().substr(0, 12)) {
        return base::failure(fmt::format("{} was written by a newer program", path));
    }
    std::uint64_t at = kSegmentHeader;
    std::string bytes(kRecordHeader + kMaxCertname, '\0');
    for (;;) {
        ssize_t n = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (n < static_cast<ssize_t>(kRecordHeader)) return at;
        std::string_view view(bytes.data(), static_cast<std::size_t>(n));
        Record r;
        if (!decode(view, &r)) return at;
        std::uint64_t body = at + kRecordHeader + r.certname_size;
        struct stat st;
        if (::fstat(fd, &st) != 0) return std::unexpected(disk_error("read", path, errno));
        if (static_cast<std::uint64_t>(st.st_size) < body + r.body_size) return at;
        bool check = last || r.type == RecordType::Done;
        if (check) {
            auto text = read_at(path, body, r.body_size);
            if (!text) return std::unexpected(text.error());
            if (crc32c(*text) != r.body_crc) return at;
            if (r.type == RecordType::Done) {
                for (std::size_t i = 0; i + 8 <= text->size(); i += 8) {
                    std::uint64_t id;
                    memcpy(&id, text->data() + i, 8);
                    done(id);
                }
            }
        }
        if (r.type == RecordType::Command) {
            QueuedCommand c;
            c.id = r.id;
            c.header.kind = static_cast<CommandKind>(r.command);
            c.header.version = r.version;
            c.header.certname = view.substr(kRecordHeader, r.certname_size);
            c.header.received = r.received;
            c.header.producer_timestamp = r.producer_timestamp;
            c.size = r.body_size;
            command(std::move(c), body, r.body_crc);
        }
        at = body + r.body_size;
    }
}

Result<void> Queue::recover() {
    BUNRAKU_ASSERT(entries_.empty() && segments_.empty() && next_id_ == 1);
    std::vector<std::uint64_t> numbers = BUNRAKU_TRY(segment_numbers(options_.folder));
    std::map<std::uint64_t, Entry> found;
    for (std::uint64_t number : numbers) {
        segments_[number].number = number;
        current_ = number;
        BUNRAKU_TRY(read_segment(
            segment_path(number), number == numbers.back(),
            [&](QueuedCommand c, std::uint64_t offset, std::uint32_t crc) {
                next_id_ = std::max(next_id_, c.id + 1);
                Entry e;
                e.segment = number;
                e.offset = offset;
                e.crc = crc;
                e.command = std::move(c);
                found.insert_or_assign(e.command.id, std::move(e));
            },
            [&](std::uint64_t id) {
                next_id_ = std::max(next_id_, id + 1);
                found.erase(id);
            }));
    }
    for (auto& [id, entry] : found) {
        BUNRAKU_ASSERT(entry.command.id == id && segments_.contains(entry.segment));
        ++segments_[entry.segment].live;
        Node& node = nodes_[entry.command.header.certname];
        supersede(node, entry.command.header);
        node.waiting.push_back(id);
        std::string certname = entry.command.header.certname;
        entries_.emplace(id, std::move(entry));
        make_ready(certname, node);
    }
    // New records go to a new segment, so that no record ever follows a torn one.
    remove_segments();
    BUNRAKU_ASSERT(cached_bytes_ == 0 && in_flight_ == 0);
    unwritten_done_.clear();
    return {};
}

Result<void> Queue::new_segment(std::uint64_t at_least) {
    Segment segment;
    BUNRAKU_ASSERT(at_least > 0);
    segment.number = current_ + 1;
    BUNRAKU_ASSERT(segment.number > 0);
    std::string path = segment_path(segment.number);
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return std::unexpected(disk_error("write", path, errno));
    segment.allocated = std::max(options_.segment_bytes, at_least + kSegmentHeader);
    int code = allocate(fd, at_least + kSegmentHeader, segment.allocated);
    std::string header = segment_header();
    BUNRAKU_ASSERT(header.size() == kSegmentHeader);
    if (code == 0) {
        std::vector<iovec> parts{{header.data(), header.size()}};
        write_all(fd, parts, 0, &code);
    }
    if (code == 0 && options_.durable && ::fsync(fd) != 0) code = errno;
    if (code != 0) {
        ::close(fd);
        ::unlink(path.c_str());
        return std::unexpected(disk_error("write", path, code));
    }
    if (options_.durable) sync_folder(options_.folder);
    segment.fd = fd;
    segment.tail = kSegmentHeader;
    BUNRAKU_ASSERT(segment.tail < segment.allocated);
    std::lock_guard lock(mutex_);
    BUNRAKU_ALWAYS_ASSERT(!segments_.contains(segment.number));
    try {
        segments_[segment.number] = segment;
    } catch (...) {
        ::close(fd);
        throw;
    }
    close_current();
    current_ = segment.number;
    BUNRAKU_ASSERT(segments_.rbegin()->first == current_);
    remove_segments();
    return {};
}

Result<void> Queue::write(std::vector<Pending*>& batch) {
    BUNRAKU_ASSERT(!batch.empty());
    BUNRAKU_ASSERT(std::ranges::adjacent_find(batch, std::ranges::greater_equal{}, &Pending::id) ==
                   batch.end());
    std::vector<std::string> heads;
    heads.reserve(batch.size() + 1);
    std::vector<iovec> parts;
    std::uint64_t total = 0;
    std::vector<std::uint32_t> crcs;
    for (Pending* p : batch) {
        Record r;
        r.command = static_cast<std::uint8_t>(p->header.kind);
        r.version = static_cast<std::uint16_t>(p->header.version);
        r.body_size = static_cast<std::uint32_t>(p->body.size());
        r.id = p->id;
        r.received = p->header.received;
        r.producer_timestamp = p->header.producer_timestamp;
        r.body_crc = crc32c(p->body);
        crcs.push_back(r.body_crc);
        heads.push_back(encode(r, p->header.certname));
        parts.push_back({heads.back().data(), heads.back().size()});
        if (!p->body.empty()) parts.push_back({p->body.data(), p->body.size()});
        total += heads.back().size() + p->body.size();
    }
    BUNRAKU_ASSERT(heads.size() == batch.size() && crcs.size() == batch.size());
    bool fits = false;
    {
        std::lock_guard lock(mutex_);
        auto at = segments_.find(current_);
        fits = at != segments_.end() && at->second.fd >= 0 &&
               at->second.tail + total <= at->second.allocated;
    }
    if (!fits) BUNRAKU_TRY_VOID(new_segment(total));
    // Only the thread that holds the write turn changes the end of the segment.
    Segment& segment = writable();
    BUNRAKU_ALWAYS_ASSERT(segment.fd >= 0 && segment.tail >= kSegmentHeader);
    BUNRAKU_ALWAYS_ASSERT(segment.tail + total <= segment.allocated);
    int code = 0;
    bool ok = write_all(segment.fd, parts, static_cast<off_t>(segment.tail), &code);
    if (ok && options_.durable && ::fdatasync(segment.fd) != 0) {
        code = errno;
        ok = false;
    }
    if (!ok) {
        // It is unknown how much of the batch is on disk, so no more records are appended to this
        // segment.
        std::lock_guard lock(mutex_);
        close_current();
        return std::unexpected(disk_error("write", segment_path(segment.number), code));
    }
    std::lock_guard lock(mutex_);
    std::uint64_t offset = segment.tail;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        offset += heads[i].size();
        enter(*batch[i], offset, crcs[i]);
        offset += batch[i]->body.size();
    }
    BUNRAKU_ASSERT(offset == segment.tail + total);
    segment.tail = offset;
    return {};
}

/// Never throws, so that every waiter of the batch receives a result and the next writer gets its
/// turn.
Result<void> Queue::write_or_fail(std::vector<Pending*>& batch) {
    try {
        return write(batch);
    } catch (const std::exception&) {
        // Part of the batch may be on disk, so no more records are appended to this segment.
        std::lock_guard lock(mutex_);
        close_current();
        return out_of_memory();
    }
}

void Queue::close_current() {
    auto at = segments_.find(current_);
    if (at == segments_.end() || at->second.fd < 0) return;
    ::close(at->second.fd);
    at->second.fd = -1;
}

void Queue::enter(Pending& p, std::uint64_t offset, std::uint32_t crc) {
    BUNRAKU_ASSERT(p.id > 0 && !entries_.contains(p.id));
    Entry e;
    e.command.id = p.id;
    e.command.header = p.header;
    e.command.size = static_cast<std::uint32_t>(p.body.size());
    e.command.completion = p.completion;
    e.segment = current_;
    e.offset = offset;
    e.crc = crc;
    std::string& body = options_.secrets ? p.plain : p.body;
    if (cached_bytes_ + body.size() <= options_.memory_bytes) {
        e.cached_body = body;
        e.cached = true;
    }
    const std::uint64_t cached = e.cached_body.size();
    Node& node = nodes_[p.header.certname];
    supersede(node, p.header);
    BUNRAKU_ASSERT(node.waiting.empty() || node.waiting.back() < p.id);
    auto at = entries_.emplace(p.id, std::move(e)).first;
    try {
        node.waiting.push_back(p.id);
        if (!gather(p, node)) make_ready(p.header.certname, node);
    } catch (...) {
        if (!node.waiting.empty() && node.waiting.back() == p.id) node.waiting.pop_back();
        entries_.erase(at);
        throw;
    }
    cached_bytes_ += cached;
    BUNRAKU_ASSERT(cached_bytes_ <= options_.memory_bytes);
    ++segments_[current_].live;
}

/// Removes waiting catalogs or factsets that `by`, a newer one, makes obsolete.
void Queue::supersede(Node& node, const CommandHeader& by) {
    if (by.kind != CommandKind::ReplaceCatalog && by.kind != CommandKind::ReplaceFacts) return;
    if (by.producer_timestamp == 0) return;
    for (auto at = node.waiting.begin(); at != node.waiting.end();) {
        auto found = entries_.find(*at);
        bool skip = false;
        if (found != entries_.end()) {
            const CommandHeader& h = found->second.command.header;
            skip = h.kind == by.kind && h.producer_timestamp != 0 &&
                   h.producer_timestamp < by.producer_timestamp;
        }
        if (!skip) {
            ++at;
            continue;
        }
        unwritten_done_.push_back(*at);
        ++superseded_;
        end(found->second, Completion::State::Superseded, {});
        release(found->second);
        entries_.erase(found);
        at = node.waiting.erase(at);
    }
}

void Queue::make_ready(const std::string& certname, Node& node) {
    if (node.busy || node.delayed || node.waiting.empty()) return;
    BUNRAKU_ASSERT(node.out == 0);
    runnable_.push_back(certname);
    // Prevents a second entry in runnable_ until take() has handed out the commands.
    node.busy = true;
    notify_workers(sys::Duration(0));
}

/// Reports whether to delay this report so that several share one transaction. A transaction costs
/// more than the few rows of a report, and a fleet sends many reports per second. Any other command
/// for the node ends the delay.
bool Queue::gather(const Pending& p, Node& node) {
    const bool may = options_.gather_reports > sys::Duration(0) && waiters_ == 0 &&
                     p.header.kind == CommandKind::StoreReport;
    if (may && node.gathered) return true;
    if (!may || node.busy || node.delayed || node.waiting.size() > 1) {
        node.gathered = false;
        return false;
    }
    BUNRAKU_ASSERT(node.waiting.size() == 1 && node.out == 0);
    gathered_.push_back(p.header.certname);
    node.gathered = true;
    if (gathered_.size() == 1) {
        gathered_until_ = now() + options_.gather_reports;
        notify_workers(options_.gather_reports);
    }
    return true;
}

void Queue::release_gathered() {
    for (const auto& certname : std::exchange(gathered_, {})) {
        const auto node = nodes_.find(certname);
        if (node == nodes_.end() || !node->second.gathered) continue;
        node->second.gathered = false;
        make_ready(certname, node->second);
    }
}

void Queue::notify_workers(sys::Duration after) {
    ready_.notify_one();
    if (wake_) wake_(after);
}

void Queue::start(Wake wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (!runnable_.empty()) notify_workers(sys::Duration(0));
    if (!gathered_.empty()) notify_workers(std::max(gathered_until_ - now(), sys::Duration(0)));
    if (!delayed_.empty())
        notify_workers(std::max(delayed_.begin()->first - now(), sys::Duration(0)));
}

void Queue::release(const Entry& entry) {
    BUNRAKU_ASSERT(!entry.cached || cached_bytes_ >= entry.cached_body.size());
    if (entry.cached) cached_bytes_ -= entry.cached_body.size();
    auto segment = segments_.find(entry.segment);
    BUNRAKU_ASSERT(segment != segments_.end() && segment->second.live > 0);
    if (segment != segments_.end() && segment->second.live > 0) --segment->second.live;
}

/// Removes the oldest segments that contain no waiting commands. It stops at the first one that
/// must stay: the record that a command is done is never in an earlier segment than the command.
void Queue::remove_segments() {
    while (!segments_.empty()) {
        auto oldest = segments_.begin();
        BUNRAKU_ALWAYS_ASSERT(oldest->first == oldest->second.number && oldest->first <= current_);
        if (oldest->second.live > 0 || oldest->second.fd >= 0) return;
        ::unlink(segment_path(oldest->first).c_str());
        segments_.erase(oldest);
    }
}

Result<std::uint64_t> Queue::add(const CommandHeader& header, std::string body,
                                 std::shared_ptr<Completion> completion) {
    if (header.certname.size() > kMaxCertname) return base::failure("The certname is too long");
    if (body.size() > kMaxBody - 1024) return base::failure("The command is too large");
    Pending p;
    p.header = header;
    p.body = std::move(body);
    if (options_.secrets) {
        p.plain = std::move(p.body);
        p.body = BUNRAKU_TRY(options_.secrets->seal(p.plain, kCommandSealContext));
    }
    p.completion = std::move(completion);
    {
        std::lock_guard lock(mutex_);
        if (stopping_) {
            return base::failure("The queue is being closed",
                                 static_cast<int>(Failure::Unavailable));
        }
        if (entries_.size() >= options_.max_depth) {
            return base::failure("Too many commands are waiting", static_cast<int>(Failure::Retry));
        }
    }
    std::unique_lock lock(log_mutex_);
    p.id = next_id_++;
    pending_.push_back(&p);
    log_turn_.wait(lock, [&] { return p.done || !writing_; });
    if (!p.done) {
        BUNRAKU_ASSERT(!writing_ && std::ranges::find(pending_, &p) != pending_.end());
        // This write includes the commands of all threads that are waiting.
        writing_ = true;
        std::vector<Pending*> batch;
        batch.swap(pending_);
        lock.unlock();
        Result<void> result = write_or_fail(batch);
        BUNRAKU_ASSERT(batch.size() > 0);
        lock.lock();
        writing_ = false;
        for (Pending* each : batch) {
            BUNRAKU_ASSERT(!each->done);
            each->done = true;
            try {
                each->result = result;
            } catch (const std::bad_alloc&) {
                each->result = out_of_memory();
            }
        }
        BUNRAKU_ASSERT(p.done);
        log_turn_.notify_all();
    }
    if (!p.result) return std::unexpected(p.result.error());
    return p.id;
}

std::vector<QueuedCommand> Queue::take(std::size_t most, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    auto deadline = now() + timeout;
    for (;;) {
        auto time = now();
        while (!delayed_.empty() && delayed_.begin()->first <= time) {
            std::string certname = delayed_.begin()->second;
            delayed_.erase(delayed_.begin());
            auto node = nodes_.find(certname);
            if (node == nodes_.end()) continue;
            BUNRAKU_ASSERT(node->second.delayed);
            node->second.delayed = false;
            make_ready(certname, node->second);
        }
        // If other commands run now, the gathered reports share their transaction.
        if (!gathered_.empty() && (gathered_until_ <= time || !runnable_.empty()))
            release_gathered();
        if (stopping_) return {};
        if (!runnable_.empty()) break;
        if (time >= deadline) return {};
        auto until = deadline;
        if (!gathered_.empty()) until = std::min(until, gathered_until_);
        if (!delayed_.empty()) until = std::min(until, delayed_.begin()->first);
        // Returns early on a notification; the loop then checks again.
        ready_.wait_once(lock, until);
    }
    std::vector<QueuedCommand> out;
    while (!runnable_.empty() && out.size() < most) {
        Node& node = nodes_[runnable_.front()];
        BUNRAKU_ASSERT(node.busy && node.out == 0);
        // All commands of a node go to the same taker. The node stays busy until all of them have
        // ended.
        for (std::uint64_t id : node.waiting) {
            if (out.size() >= most) break;
            auto found = entries_.find(id);
            if (found != entries_.end()) out.push_back(found->second.command);
        }
        std::size_t given = 0;
        for (std::size_t i = out.size(); i > 0; --i) {
            if (out[i - 1].header.certname != runnable_.front()) break;
            ++given;
        }
        BUNRAKU_ASSERT(given <= node.waiting.size() && given <= out.size());
        node.waiting.erase(node.waiting.begin(),
                           node.waiting.begin() + static_cast<std::ptrdiff_t>(given));
        node.out += given;
        runnable_.pop_front();
    }
    in_flight_ += out.size();
    BUNRAKU_ASSERT(in_flight_ <= entries_.size());
    return out;
}

Result<std::string> Queue::body(std::uint64_t id) {
    std::string out = BUNRAKU_TRY(stored_body(id, true));
    if (options_.secrets)
        out = BUNRAKU_TRY(options_.secrets->open(std::move(out), kCommandSealContext));
    return out;
}

/// Returns the body as stored on disk. If `cached` is true, returns the unencrypted copy in memory
/// if there is one.
Result<std::string> Queue::stored_body(std::uint64_t id, bool cached) {
    std::string path;
    std::uint64_t offset = 0;
    std::uint32_t size = 0, crc = 0;
    {
        std::lock_guard lock(mutex_);
        auto found = entries_.find(id);
        if (found == entries_.end()) return base::failure("No such command");
        Entry& e = found->second;
        if (e.cached && cached) {
            BUNRAKU_ASSERT(cached_bytes_ >= e.cached_body.size());
            // The caller processes the command now. A retry reads the body from disk.
            e.cached = false;
            cached_bytes_ -= e.cached_body.size();
            return std::move(e.cached_body);
        }
        path = segment_path(e.segment);
        offset = e.offset;
        size = e.command.size;
        crc = e.crc;
    }
    std::string out = BUNRAKU_TRY(read_at(path, offset, size));
    if (crc32c(out) != crc) return base::failure("The command was damaged on disk");
    return out;
}

void Queue::end(Entry& entry, Completion::State state, std::string error) {
    BUNRAKU_ASSERT(state != Completion::State::Waiting);
    if (!entry.command.completion) return;
    entry.command.completion->state = state;
    entry.command.completion->error = std::move(error);
    completed_.notify_all();
}

Queue::Segment& Queue::writable() {
    std::lock_guard lock(mutex_);
    BUNRAKU_ALWAYS_ASSERT(segments_.contains(current_));
    return segments_[current_];
}

Result<void> Queue::append(std::string_view bytes) {
    Segment& segment = writable();
    BUNRAKU_ALWAYS_ASSERT(segment.fd >= 0 && segment.tail >= kSegmentHeader);
    BUNRAKU_ALWAYS_ASSERT(segment.tail + bytes.size() <= segment.allocated);
    int code = 0;
    std::vector<iovec> parts{{const_cast<char*>(bytes.data()), bytes.size()}};
    bool ok = write_all(segment.fd, parts, static_cast<off_t>(segment.tail), &code);
    std::lock_guard lock(mutex_);
    if (!ok) {
        close_current();
        return std::unexpected(disk_error("write", segment_path(current_), code));
    }
    segment.tail += bytes.size();
    return {};
}

void Queue::release_node(const std::string& certname) {
    BUNRAKU_ASSERT(in_flight_ > 0);
    if (in_flight_ > 0) --in_flight_;
    auto at = nodes_.find(certname);
    if (at == nodes_.end()) return;
    Node& node = at->second;
    BUNRAKU_ASSERT(node.out > 0 && node.busy);
    if (node.out > 0) --node.out;
    if (node.out > 0) return;
    // All commands of the node that were handed out have ended, so the node is free.
    node.busy = false;
    if (node.waiting.empty() && !node.delayed) {
        nodes_.erase(at);
    } else {
        make_ready(certname, node);
    }
}

void Queue::finish(const std::vector<std::uint64_t>& ids) {
    {
        std::lock_guard lock(mutex_);
        for (std::uint64_t id : ids) remove(id, Completion::State::Done, {});
    }
    write_done();
}

void Queue::remove(std::uint64_t id, Completion::State state, std::string error) {
    auto found = entries_.find(id);
    if (found == entries_.end()) return;
    std::string certname = found->second.command.header.certname;
    unwritten_done_.push_back(id);
    end(found->second, state, std::move(error));
    release(found->second);
    entries_.erase(found);
    release_node(certname);
}

void Queue::write_done() {
    std::unique_lock turn(log_mutex_);
    log_turn_.wait(turn, [&] { return !writing_; });
    writing_ = true;
    turn.unlock();
    try {
        append_done();
    } catch (const std::exception&) {
        // Out of memory is not an error here either; see append_done().
    }
    turn.lock();
    writing_ = false;
    turn.unlock();
    log_turn_.notify_all();
}

/// Errors are ignored: after a crash, the same commands are processed again with the same result.
void Queue::append_done() {
    std::string body;
    {
        std::lock_guard lock(mutex_);
        for (std::uint64_t id : unwritten_done_) {
            char bytes[8];
            memcpy(bytes, &id, 8);
            body.append(bytes, 8);
        }
        unwritten_done_.clear();
    }
    if (!body.empty()) {
        Record r;
        BUNRAKU_ASSERT(body.size() % sizeof(std::uint64_t) == 0);
        r.type = RecordType::Done;
        r.body_size = static_cast<std::uint32_t>(body.size());
        r.body_crc = crc32c(body);
        std::string record = encode(r, "") + body;
        BUNRAKU_ASSERT(record.size() == kRecordHeader + body.size());
        bool fits = false;
        {
            std::lock_guard lock(mutex_);
            auto at = segments_.find(current_);
            fits = at != segments_.end() && at->second.fd >= 0 &&
                   at->second.tail + record.size() <= at->second.allocated;
        }
        if (fits || new_segment(record.size())) (void)append(record);
        std::lock_guard lock(mutex_);
        remove_segments();
    }
}

void Queue::retry(std::uint64_t id, std::chrono::milliseconds delay, Attempt attempt) {
    std::lock_guard lock(mutex_);
    auto found = entries_.find(id);
    if (found == entries_.end()) return;
    if (attempt == Attempt::Counts) ++found->second.command.attempts;
    std::string certname = found->second.command.header.certname;
    Node& node = nodes_[certname];
    // Restores the command's position: other commands taken with it may be returned too, in any
    // order.
    auto at = std::lower_bound(node.waiting.begin(), node.waiting.end(), id);
    BUNRAKU_ASSERT(at == node.waiting.end() || *at != id);
    node.waiting.insert(at, id);
    if (!node.delayed) {
        node.delayed = true;
        delayed_.emplace(now() + delay, certname);
        notify_workers(delay);
    }
    release_node(certname);
}

void Queue::stop() {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    ready_.notify_all();
    completed_.notify_all();
}

bool Queue::wait(const std::shared_ptr<Completion>& completion, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ++waiters_;
    release_gathered();
    BUNRAKU_ASSERT(waiters_ > 0);
    completed_.wait_for(lock, timeout, [&] {
        return completion->state != Completion::State::Waiting || stopping_;
    });
    BUNRAKU_ASSERT(waiters_ > 0);
    --waiters_;
    return completion->state != Completion::State::Waiting;
}

Queue::Figures Queue::figures() const {
    std::lock_guard lock(mutex_);
    Figures out;
    BUNRAKU_ASSERT(in_flight_ <= entries_.size());
    out.depth = entries_.size();
    out.in_flight = in_flight_;
    out.delayed = delayed_.size();
    out.superseded = superseded_;
    out.discarded = discarded_;
    for (const auto& [number, segment] : segments_) {
        out.bytes += std::max(segment.allocated, segment.tail);
    }
    return out;
}

std::vector<QueuedCommand> Queue::list(std::size_t most) const {
    std::lock_guard lock(mutex_);
    std::vector<QueuedCommand> out;
    for (const auto& [id, entry] : entries_) out.push_back(entry.command);
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    if (out.size() > most) out.resize(most);
    return out;
}

Result<std::vector<QueuedCommand>> Queue::inspect(const std::string& folder) {
    std::vector<std::uint64_t> numbers = BUNRAKU_TRY(segment_numbers(folder));
    std::map<std::uint64_t, QueuedCommand> found;
    for (std::uint64_t number : numbers) {
        auto read = read_segment(
            path_of_segment(folder, number), number == numbers.back(),
            [&](QueuedCommand c, std::uint64_t, std::uint32_t) {
                std::uint64_t id = c.id;
                found.insert_or_assign(id, std::move(c));
            },
            [&](std::uint64_t id) { found.erase(id); });
        // A running server may remove segments during the inspection.
        if (!read && ::access(path_of_segment(folder, number).c_str(), F_OK) == 0) {
            return std::unexpected(read.error());
        }
    }
    std::vector<QueuedCommand> out;
    for (auto& [id, command] : found) out.push_back(std::move(command));
    return out;
}

}  // namespace bunraku::store
