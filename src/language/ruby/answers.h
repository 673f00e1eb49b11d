// SPDX-License-Identifier: Apache-2.0
// Memos: cached results of Ruby code with the reads that they depend on. A memo is used again while
// these reads are unchanged (docs/design/0250). Any memo may be dropped at any time; this costs
// only speed. template/answers.h decides which results are cached and which are still valid.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/diagnostic.h"
#include "language/ruby/host.h"

namespace bunraku::ruby {

/// Reads outside of the compile, each with a fingerprint of its result. A set extends an earlier
/// one (`before`), and equal sets are the same object.
struct AnswerReads {
    struct RecordedRead {
        ReadNote note;
        std::string state;
    };
    std::shared_ptr<const AnswerReads> before;
    std::vector<RecordedRead> reads;  ///< Reads in addition to those of `before`.
    std::string id;
};

struct Answer {
    /// A request of the code to the compile. `leaves` means that the request ended the code instead
    /// of returning an answer.
    struct Asked {
        std::string question, answer;
        bool leaves = false;
    };
    struct Statement {
        base::Level level = base::Level::Notice;
        std::string text, source;
    };
    /// Reads of this piece of code; null if there are none.
    std::shared_ptr<const AnswerReads> own;
    /// Reads of all code that ran in the same process before.
    std::shared_ptr<const AnswerReads> process;
    std::vector<Asked> asked;
    std::vector<Statement> logged;
    std::string value;    ///< In Marshal's format.
    bool secret = false;  ///< True if the value must not be written to the disk.
};

/// The memos of one environment. Thread-safe.
class AnswerTable {
public:
    AnswerTable(std::string folder, const std::string& environment);
    ~AnswerTable();
    AnswerTable(const AnswerTable&) = delete;
    AnswerTable& operator=(const AnswerTable&) = delete;

    /// Returns a digest that reveals nothing without this site's secret.
    std::string fingerprint(std::string_view text) const;
    /// Returns the memos of a call, the newest first.
    std::vector<std::shared_ptr<const Answer>> find(const std::string& key);
    void keep(const std::string& key, Answer answer);
    /// Returns the set that extends `before` by `reads`.
    std::shared_ptr<const AnswerReads> extended(std::shared_ptr<const AnswerReads> before,
                                                std::vector<AnswerReads::RecordedRead> reads);
    /// Writes the memos that were added since the last call to the disk.
    void save();

    /// Returns the recorded state of a file if its stamp is `stamp`.
    std::optional<std::string> known_state(const std::string& path, const std::string& stamp);
    void remember_state(const std::string& path, std::string stamp, std::string state);

    /// Returns false after a memo was found to be wrong, until the file `distrust_file` is removed.
    bool trusted() const;
    void distrust(std::string_view why);
    const std::string& distrust_file() const { return distrust_file_; }

private:
    struct Slot {
        /// Position in `loaded_` of a memo that is not decoded yet.
        std::size_t offset = 0, size = 0;
        std::shared_ptr<const Answer> answer;
    };
    void load();
    void drop_all();
    void evict(std::size_t size);
    std::string header() const;
    std::shared_ptr<const Answer> decoded(std::string_view record) const;
    void write_reads(const std::shared_ptr<const AnswerReads>& reads);

    std::string folder_, file_, distrust_file_;
    std::string secret_;
    mutable std::mutex mutex_;
    bool trusted_ = true;
    bool damaged_ = false;  ///< True if the end of the file is unreadable.
    std::string loaded_;
    std::unordered_map<std::string, std::vector<Slot>> answers_;
    std::unordered_map<std::string, std::shared_ptr<const AnswerReads>> reads_;
    std::unordered_map<std::string, bool> written_;  ///< Ids of the reads that are on the disk.
    struct State {
        std::string stamp, state;
    };
    std::unordered_map<std::string, State> states_;
    std::string pending_;
    std::size_t used_bytes_ = 0;  ///< Approximate bytes in use.
};

/// The memo tables of all environments. Thread-safe.
class Answers {
public:
    enum class Mode : std::uint8_t {
        Off,
        On,    ///< Memos are used; one compile in a hundred verifies them.
        Check  ///< All calls are made again and compared with their memos.
    };
    /// Parses "off", "on" or "check".
    static std::optional<Mode> mode_named(std::string_view name);

    /// If `folder` is empty, nothing is written to the disk.
    Answers(std::string folder, Mode mode) : folder_(std::move(folder)), mode_(mode) {}
    Mode mode() const { return mode_; }
    /// Returns the table of the environment with that name and folder.
    std::shared_ptr<AnswerTable> table(const std::string& environment);
    /// Returns true for one call in a hundred.
    bool sample();

private:
    std::string folder_;
    Mode mode_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<AnswerTable>> tables_;
    std::uint64_t sample_count_ = 0;
};

/// Returns the folder of the memos: below the setting ruby_cachedir, or in this user's cache
/// folder.
std::string answers_folder(const std::string& ruby_cachedir);

/// Returns the wall clock in the form of file times.
std::int64_t file_time_now();
/// Returns false if the file may have changed since that time.
bool unmodified_since(const std::string& path, std::int64_t since_ns);
/// Reports whether only its owner can read the file.
bool is_private(const std::string& path);

}  // namespace bunraku::ruby
