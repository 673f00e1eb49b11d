// Answers of Ruby code in one compile: which are given again, and which may be kept
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
    std::string code;  ///< which piece: "function x::y", "template PATH"
    std::string more;  ///< what else decides the answer
    std::span<const value::Value> args;
    bool legacy = false;  ///< as MarshalWriter::value has it
    bool block = false;   ///< a block of this compile goes with it: its answer is not kept
};

/// One per compile.
class RubyAnswers {
public:
    RubyAnswers(std::shared_ptr<ruby::Answers> answers, RubySession& session);
    ~RubyAnswers();
    RubyAnswers(const RubyAnswers&) = delete;
    RubyAnswers& operator=(const RubyAnswers&) = delete;

    /// What `make` gave when nothing of what it read was otherwise, or gives now.
    value::Value answered(evaluator::Interpreter& in, evaluator::Scope& scope,
                          const RubyQuestion& question,
                          const std::function<value::Value(ruby::Callbacks&)>& make);
    /// The code that runs has read something. `memory` is its process's (ruby::Host::memory).
    void on_read(const ruby::ReadNote& note, std::shared_ptr<void>& memory);

private:
    friend class RecordingCallbacks;
    /// What one piece of code read in this compile.
    struct Code {
        std::string name;
        std::shared_ptr<const ruby::AnswerReads> reads;
        std::vector<ruby::AnswerReads::Seen> fresh;  ///< not in `reads` yet
        std::vector<ruby::Answer::Asked> asked;      ///< by all of its calls
        bool secret = false;
    };
    /// A call that is being made.
    struct Frame {
        Code* code = nullptr;
        std::vector<ruby::Answer::Asked> asked;
        std::vector<ruby::Answer::Statement> said;
        std::string why;        ///< it cannot be kept; empty: it can
        bool inherits = false;  ///< it used what other calls of its code left
    };

    /// Takes the newest frame away again.
    struct Pop {
        std::vector<Frame*>& frames;
        ~Pop() { frames.pop_back(); }
    };

    bool fits(const ruby::Answer& answer, RubyCallbacks& callbacks,
              const std::vector<value::Value>& objects);
    /// Calls whose answers were given have loaded nothing: what they would have, is loaded before
    /// one is made, which may use it.
    void load_for_given(evaluator::Interpreter& in);
    bool unchanged(const std::shared_ptr<const ruby::AnswerReads>& reads);
    /// Whether nothing that it was made from has changed while it was made again.
    bool unmoved(const ruby::Answer& answer, RubyCallbacks& callbacks,
                 const std::vector<value::Value>& objects);
    void note(const ruby::AnswerReads* reads);
    std::string state_of(const ruby::ReadNote& note);
    std::string file_state(const std::string& path);
    std::string facts_state(evaluator::Interpreter& in, std::string_view kind,
                            std::string_view path);
    void keep(const std::string& key, Frame& frame, std::string value);
    void differs(const RubyQuestion& question, const ruby::Answer& kept, const Frame& frame,
                 const std::string& now);

    std::shared_ptr<ruby::Answers> answers_;
    std::shared_ptr<ruby::AnswerTable> table_;
    RubySession& session_;
    evaluator::Interpreter* in_ = nullptr;
    std::int64_t began_ns_;
    bool check_;
    std::unordered_map<std::string, Code> codes_;
    std::vector<Frame*> frames_;
    std::shared_ptr<const ruby::AnswerReads> process_;  ///< of the child at work
    std::unordered_map<std::string, std::string> states_;
    std::unordered_map<const ruby::AnswerReads*, bool> unchanged_;
    std::unordered_map<const ruby::AnswerReads*, environment::DependencyRecorder> recorded_;
    std::vector<std::shared_ptr<const ruby::AnswerReads>> given_;  ///< of answers, not loaded yet
    std::set<std::string, std::less<>> loaded_;                    ///< for such answers
    std::string last_code_;   ///< whose answer was given last ..
    bool last_kept_ = false;  ///< .. and whether it could be kept
};

}  // namespace bunraku::templates
