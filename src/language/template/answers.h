// SPDX-License-Identifier: Apache-2.0
// Memos of Ruby code in one compile: decides which are used and which results become memos
// (docs/design/0250).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/environment/environment.h"
#include "language/evaluator/interpreter.h"
#include "language/ruby/answers.h"
#include "language/ruby/host.h"

namespace bunraku::templates {

class RubyCallbacks;
class RubySession;

/// A call of Ruby code.
struct RubyQuestion {
    std::string code;  ///< Name of the code: "function x::y", "template PATH".
    std::string more;  ///< Further inputs of the result.
    std::span<const value::Value> args;
    bool legacy = false;  ///< As in MarshalWriter::value.
    /// True if a block of this compile is passed; the result then gets no memo.
    bool block = false;
};

/// The memos of one compile.
class RubyAnswers {
public:
    RubyAnswers(std::shared_ptr<ruby::Answers> answers, RubySession& session);
    ~RubyAnswers();
    RubyAnswers(const RubyAnswers&) = delete;
    RubyAnswers& operator=(const RubyAnswers&) = delete;

    /// Returns the result of an earlier `make` if all of its reads are unchanged; otherwise calls
    /// `make`.
    value::Value answered(evaluator::Interpreter& in, evaluator::Scope& scope,
                          const RubyQuestion& question,
                          const std::function<value::Value(ruby::Callbacks&)>& make);
    /// Records a read of the running code. `memory` is that of its process (ruby::Host::memory).
    void on_read(const ruby::ReadNote& note, std::shared_ptr<void>& memory);

private:
    friend class RecordingCallbacks;
    /// The reads of one piece of code in this compile.
    struct Code {
        std::string name;
        std::shared_ptr<const ruby::AnswerReads> reads;
        std::vector<ruby::AnswerReads::RecordedRead> fresh;  ///< Reads that are not in `reads` yet.
        std::vector<ruby::Answer::Asked> asked;              ///< Requests of all of its calls.
        bool secret = false;
    };
    /// A call in progress.
    struct Frame {
        Code* code = nullptr;
        std::vector<ruby::Answer::Asked> asked;
        std::vector<ruby::Answer::Statement> logged;
        std::string why;        ///< Reason why the result gets no memo; empty if it may get one.
        bool inherits = false;  ///< True if the call used state that other calls of its code left.
    };

    /// Removes the newest frame.
    struct Pop {
        std::vector<Frame*>& frames;
        ~Pop() { frames.pop_back(); }
    };

    bool fits(const ruby::Answer& answer, RubyCallbacks& callbacks,
              const std::vector<value::Value>& objects);
    /// Loads the code of calls that memos replaced, before the next real call, which may use that
    /// code.
    void load_for_memos(evaluator::Interpreter& in);
    bool unchanged(const std::shared_ptr<const ruby::AnswerReads>& reads);
    /// Reports whether all reads of a memo are still unchanged after its call was repeated.
    bool still_unchanged(const ruby::Answer& answer, RubyCallbacks& callbacks,
                         const std::vector<value::Value>& objects);
    void note(const ruby::AnswerReads* reads);
    std::string state_of(const ruby::ReadNote& note);
    std::string file_state(const std::string& path);
    std::string facts_state(evaluator::Interpreter& in, std::string_view kind,
                            std::string_view path);
    void keep(const std::string& key, Frame& frame, std::string value);
    void report_mismatch(const RubyQuestion& question, const ruby::Answer& kept, const Frame& frame,
                         const std::string& now);

    std::shared_ptr<ruby::Answers> answers_;
    std::shared_ptr<ruby::AnswerTable> table_;
    RubySession& session_;
    evaluator::Interpreter* in_ = nullptr;
    std::int64_t began_ns_;
    bool check_;
    std::unordered_map<std::string, Code> codes_;
    std::vector<Frame*> frames_;
    std::shared_ptr<const ruby::AnswerReads> process_;  ///< Reads of the current child.
    std::unordered_map<std::string, std::string> states_;
    std::unordered_map<const ruby::AnswerReads*, bool> unchanged_;
    std::unordered_map<const ruby::AnswerReads*, environment::DependencyRecorder> recorded_;
    /// Reads of used memos whose code is not loaded yet.
    std::vector<std::shared_ptr<const ruby::AnswerReads>> used_memos_;
    /// Files loaded for these memos.
    std::set<std::string, std::less<>> loaded_;
    std::string last_code_;   ///< Code of the last result ..
    bool last_kept_ = false;  ///< .. and whether that result could be cached.
};

}  // namespace bunraku::templates
