// SPDX-License-Identifier: Apache-2.0
// Dead letters: commands that cannot be processed. Each has a file with the body and a file with
// the reason. They can be resubmitted to the queue.
#include <algorithm>
#include <chrono>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/command_fields.h"
#include "store/db/queue.h"
#include "store/db/queue_format.h"
#include "store/db/secrets.h"
#include "store/db/support.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kReason = ".reason.json";
constexpr std::size_t kMaxFile = 1U << 30;

std::string dead_folder(const std::string& folder) { return folder + "/dead-letters"; }

/// Keeps letters, digits, ".", "-" and "_", because a certname may contain any character.
std::string file_part(std::string_view text) {
    std::string out;
    for (char c : text.substr(0, 100)) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '_';
        out += plain ? c : '_';
    }
    return out;
}

bool plain_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
    std::string part = path + ".part";
    auto fail = [&](int code) -> Result<void> {
        ::unlink(part.c_str());
        return base::failure(
            fmt::format("Could not write {}: {}", path, strerror(code)),
            static_cast<int>(code == ENOSPC ? Failure::Full : Failure::Unavailable));
    };
    int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return fail(errno);
    std::size_t done = 0;
    while (done < bytes.size()) {
        ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            int code = errno;
            ::close(fd);
            return fail(code);
        }
        done += static_cast<std::size_t>(n);
    }
    if (::fsync(fd) != 0) {
        int code = errno;
        ::close(fd);
        return fail(code);
    }
    ::close(fd);
    if (::rename(part.c_str(), path.c_str()) != 0) return fail(errno);
    return {};
}

/// Returns at least the first `most` bytes of the file, if it has that many.
Result<std::string> read_file(const std::string& path, std::size_t most = kMaxFile) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return base::failure(fmt::format("Could not read {}: {}", path, strerror(errno)));
    std::string out;
    char buffer[65536] BUNRAKU_UNINITIALIZED;
    ssize_t n;
    while (out.size() < most && (n = ::read(fd, buffer, std::min(sizeof buffer, most))) > 0) {
        out.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(fd);
    return out;
}

std::string reason_json(const DeadLetter& d) {
    std::string out = "{\"command\":";
    codec::append_json_string(out, command_name(d.header.kind));
    out += fmt::format(",\"version\":{},\"certname\":", d.header.version);
    codec::append_json_string(out, d.header.certname);
    out += fmt::format(",\"received\":\"{}\"", catalog::format_wire_time(d.header.received));
    if (d.header.producer_timestamp != 0) {
        out += fmt::format(",\"producer_timestamp\":\"{}\"",
                           catalog::format_wire_time(d.header.producer_timestamp));
    }
    out += fmt::format(",\"attempts\":{},\"failed_at\":\"{}\",\"reason\":", d.attempts,
                       catalog::format_wire_time(d.failed_at));
    codec::append_json_string(out, d.reason);
    return out + "}\n";
}

Result<DeadLetter> parse_reason(std::string_view text) {
    DeadLetter out;
    try {
        codec::JsonCursor json(text);
        json.enter_object();
        std::string_view raw;
        while (json.next_key(&raw)) {
            std::string key(raw);
            if (key == "command") {
                auto kind = command_from_name(json.string());
                if (!kind) json.fail("unknown command");
                out.header.kind = *kind;
            } else if (key == "version") {
                out.header.version = static_cast<int>(json.integer());
            } else if (key == "certname") {
                out.header.certname = std::string(json.string());
            } else if (key == "received") {
                out.header.received = read_time(json, key);
            } else if (key == "producer_timestamp") {
                out.header.producer_timestamp = read_time(json, key);
            } else if (key == "attempts") {
                out.attempts = static_cast<int>(json.integer());
            } else if (key == "failed_at") {
                out.failed_at = read_time(json, key);
            } else if (key == "reason") {
                out.reason = std::string(json.string());
            } else {
                json.skip();
            }
        }
    } catch (const codec::JsonError& e) {
        return base::failure(e.message);
    }
    return out;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> out;
    DIR* dir = ::opendir(folder.c_str());
    if (!dir) return out;
    while (dirent* e = ::readdir(dir)) {
        std::string_view name = e->d_name;
        if (!name.ends_with(kReason)) continue;
        out.emplace_back(name.substr(0, name.size() - kReason.size()));
    }
    ::closedir(dir);
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

void Queue::discard(std::uint64_t id, const std::string& reason) {
    DeadLetter letter;
    {
        std::lock_guard lock(mutex_);
        auto found = entries_.find(id);
        if (found == entries_.end()) return;
        letter.header = found->second.command.header;
        letter.attempts = found->second.command.attempts + 1;
        BUNRAKU_ASSERT(found->second.command.id == id && letter.attempts > 0);
    }
    letter.reason = reason;
    letter.failed_at = now_ms();
    std::string folder = dead_folder(options_.folder);
    ::mkdir(folder.c_str(), 0700);
    std::string kind = file_part(command_name(letter.header.kind));
    std::string base =
        fmt::format("{}/{:016x}-{}-{}", folder, id, kind, file_part(letter.header.certname));
    BUNRAKU_ASSERT(plain_name(base.substr(folder.size() + 1)));
    // The body on disk is authoritative, even if a worker changed its copy.
    auto bytes = stored_body(id, false);
    Result<void> kept = bytes ? write_file(base + ".json", *bytes) : write_file(base + ".json", "");
    if (kept) kept = write_file(base + std::string(kReason), reason_json(letter));
    if (!kept) {
        retry(id, std::chrono::seconds(30), Attempt::Ignored);
        return;
    }
    {
        std::lock_guard lock(mutex_);
        ++discarded_;
        remove(id, Completion::State::Failed, reason);
    }
    write_done();
}

/// Encrypts dead letters that an older program left unencrypted.
void Queue::seal_dead_letters() {
    if (!options_.secrets) return;
    for (const std::string& name : names_in(dead_folder(options_.folder))) {
        const std::string path = dead_folder(options_.folder) + "/" + name + ".json";
        // Reads only the head, because there may be many large files.
        const auto head = read_file(path, Secrets::kHead);
        if (!head || head->empty() || Secrets::is_sealed(*head)) continue;
        auto bytes = read_file(path);
        if (!bytes) continue;
        auto sealed = options_.secrets->seal(*bytes, queue_format::kCommandSealContext);
        if (sealed) (void)write_file(path, *sealed);
    }
}

Result<std::vector<DeadLetter>> Queue::dead_letters(const std::string& folder) {
    std::vector<DeadLetter> out;
    for (const std::string& name : names_in(dead_folder(folder))) {
        std::string base = dead_folder(folder) + "/" + name;
        auto text = read_file(base + std::string(kReason));
        if (!text) continue;
        auto letter = parse_reason(*text);
        if (!letter) letter = DeadLetter{};
        letter->name = name;
        struct stat st;
        if (::stat((base + ".json").c_str(), &st) == 0) {
            letter->size = static_cast<std::uint64_t>(st.st_size);
        }
        out.push_back(std::move(*letter));
    }
    return out;
}

std::size_t Queue::count_dead_letters(const std::string& folder) {
    return names_in(dead_folder(folder)).size();
}

Result<std::string> Queue::dead_letter_body(const std::string& folder, const std::string& name,
                                            Secrets* secrets) {
    if (!plain_name(name)) return base::failure("No such dead letter: " + name);
    std::string out = BUNRAKU_TRY(read_file(dead_folder(folder) + "/" + name + ".json"));
    if (secrets)
        out = BUNRAKU_TRY(secrets->open(std::move(out), queue_format::kCommandSealContext));
    return out;
}

std::string Queue::incoming_folder(const std::string& folder) { return folder + "/incoming"; }

Result<void> Queue::resubmit(const std::string& folder, const std::string& name) {
    std::string from = dead_folder(folder) + "/" + name, to = incoming_folder(folder);
    if (!plain_name(name) || ::access((from + std::string(kReason)).c_str(), F_OK) != 0) {
        return base::failure("No such dead letter: " + name);
    }
    ::mkdir(to.c_str(), 0700);
    to += "/" + name;
    // The reason is moved last: it marks the letter as complete in the other folder.
    if (::rename((from + ".json").c_str(), (to + ".json").c_str()) != 0 ||
        ::rename((from + std::string(kReason)).c_str(), (to + std::string(kReason)).c_str()) != 0) {
        return base::failure(fmt::format("Could not resubmit {}: {}", name, strerror(errno)));
    }
    return {};
}

Result<void> Queue::drop(const std::string& folder, const std::string& name) {
    std::string base = dead_folder(folder) + "/" + name;
    if (!plain_name(name) || ::unlink((base + std::string(kReason)).c_str()) != 0) {
        return base::failure("No such dead letter: " + name);
    }
    ::unlink((base + ".json").c_str());
    return {};
}

Queue::ImportResult Queue::import_resubmitted() {
    ImportResult out;
    const std::string folder = incoming_folder(options_.folder);
    for (const std::string& name : names_in(folder)) {
        std::string base = folder + "/" + name;
        auto text = read_file(base + std::string(kReason));
        auto letter = text ? parse_reason(*text) : Result<DeadLetter>(base::failure("unreadable"));
        auto bytes = read_file(base + ".json");
        if (bytes && options_.secrets)
            bytes = options_.secrets->open(std::move(*bytes), queue_format::kCommandSealContext);
        if (!letter || !bytes) continue;
        if (!add(letter->header, std::move(*bytes))) {
            out.refused = true;
            break;
        }
        ::unlink((base + std::string(kReason)).c_str());
        ::unlink((base + ".json").c_str());
        ++out.count;
    }
    return out;
}

}  // namespace bunraku::store
