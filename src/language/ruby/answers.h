// Answers of Ruby code, kept with what was read for them, so that they can be given again while all
// that is as it was (docs/design/0250). What is kept may be dropped at any time, at the price of
// speed. template/answers.h decides what may be kept and what still fits.
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

/// Reads outside of the compile, each with a fingerprint of what was there. Sets grow out of one
/// another, and are the same object where they hold the same.
struct AnswerReads {
    struct Seen {
        ReadNote note;
        std::string state;
    };
    std::shared_ptr<const AnswerReads> before;
    std::vector<Seen> reads;  ///< what it has more than `before`
    std::string id;
};

struct Answer {
    /// What the code asked of the compile. `leaves`: the answer is that the code is left.
    struct Asked {
        std::string question, answer;
        bool leaves = false;
    };
    struct Statement {
        base::Level level = base::Level::Notice;
        std::string text, source;
    };
    std::shared_ptr<const AnswerReads> own;      ///< of its piece of code; null: nothing
    std::shared_ptr<const AnswerReads> process;  ///< of whatever had run in its process before
    std::vector<Asked> asked;
    std::vector<Statement> said;
    std::string value;    ///< in Marshal's format
    bool secret = false;  ///< for no disk
};

/// What is kept of one environment. Thread-safe.
class AnswerTable {
public:
    AnswerTable(std::string folder, const std::string& environment);
    ~AnswerTable();
    AnswerTable(const AnswerTable&) = delete;
    AnswerTable& operator=(const AnswerTable&) = delete;

    /// A digest that says nothing to who does not know this site's secret.
    std::string fingerprint(std::string_view text) const;
    /// The newest first.
    std::vector<std::shared_ptr<const Answer>> find(const std::string& key);
    void keep(const std::string& key, Answer answer);
    /// `before` and these.
    std::shared_ptr<const AnswerReads> grown(std::shared_ptr<const AnswerReads> before,
                                             std::vector<AnswerReads::Seen> reads);
    /// What was kept since the last time goes to the disk.
    void save();

    /// The state of a file that has this stamp, where it is known.
    std::optional<std::string> known_state(const std::string& path, const std::string& stamp);
    void remember_state(const std::string& path, std::string stamp, std::string state);

    /// False once an answer was found to be wrong: until the file `distrust_file` is removed.
    bool trusted() const;
    void distrust(std::string_view why);
    const std::string& distrust_file() const { return distrust_file_; }

private:
    struct Slot {
        std::size_t offset = 0, size = 0;  ///< in loaded_, where it was not needed so far
        std::shared_ptr<const Answer> answer;
    };
    void load();
    void drop_all();
    void make_room(std::size_t size);
    std::string header() const;
    std::shared_ptr<const Answer> decoded(std::string_view record) const;
    void write_reads(const std::shared_ptr<const AnswerReads>& reads);

    std::string folder_, file_, distrust_file_;
    std::string secret_;
    mutable std::mutex mutex_;
    bool trusted_ = true;
    bool damaged_ = false;  ///< the file has an end that nobody can read
    std::string loaded_;
    std::unordered_map<std::string, std::vector<Slot>> answers_;
    std::unordered_map<std::string, std::shared_ptr<const AnswerReads>> reads_;
    std::unordered_map<std::string, bool> written_;  ///< reads that are on the disk, by id
    struct State {
        std::string stamp, state;
    };
    std::unordered_map<std::string, State> states_;
    std::string pending_;
    std::size_t held_ = 0;  ///< bytes, about
};

/// The tables of all environments. Thread-safe.
class Answers {
public:
    enum class Mode : std::uint8_t {
        Off,
        On,    ///< answers are given again; one compile in a hundred compares them
        Check  ///< all are made again and compared
    };
    /// "off", "on", "check".
    static std::optional<Mode> mode_named(std::string_view name);

    /// `folder` empty: nothing is kept on a disk.
    Answers(std::string folder, Mode mode) : folder_(std::move(folder)), mode_(mode) {}
    Mode mode() const { return mode_; }
    /// Of an environment of that name and folder.
    std::shared_ptr<AnswerTable> table(const std::string& environment);
    /// True for one of a hundred who ask.
    bool sample();

private:
    std::string folder_;
    Mode mode_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<AnswerTable>> tables_;
    std::uint64_t asked_ = 0;
};

/// Where they are: below the setting ruby_cachedir, or this user's folder for caches.
std::string answers_folder(const std::string& ruby_cachedir);

/// The wall clock, as files have it.
std::int64_t file_time_now();
/// False where the file may have changed since that time.
bool settled(const std::string& path, std::int64_t since_ns);
/// A file that others than its owner may not read.
bool is_private(const std::string& path);

}  // namespace bunraku::ruby
