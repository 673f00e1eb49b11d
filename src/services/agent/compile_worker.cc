// SPDX-License-Identifier: Apache-2.0
#include "services/agent/compile_worker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "compile/site/agent_catalog.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/environment/files.h"
#include "services/agent/catalog_checks.h"

namespace bunraku::agent {

namespace {

using value::Value;

/// A longer line is not accepted as a request.
constexpr std::size_t kLongestLine = 256U << 20;

std::string asked_text(const Value& hash, std::string_view key) {
    const Value* v = value::at(hash, key);
    return v && !v->is_undef() ? value::to_text(*v) : std::string();
}

bool asked_flag(const Value& hash, std::string_view key) {
    const Value* v = value::at(hash, key);
    return v && v->kind() == value::Kind::Boolean && v->as_boolean();
}

/// Throws the error for a key of a request with a value of the wrong type.
[[noreturn]] void wrong(std::string_view key, std::string_view kind) {
    throw base::plain_error(fmt::format("'{}' of a request must be {}", key, kind));
}

const Value* asked_hash(const Value& request, std::string_view key) {
    const Value* v = value::at(request, key);
    if (!v || v->is_undef()) return nullptr;
    if (!v->is_hash()) wrong(key, "an object");
    return v;
}

class Worker {
public:
    Worker(const config::Settings& settings, site::Options options)
        : settings_(settings), site_(settings, of_worker(std::move(options))) {
        const char* base = std::getenv("TMPDIR");
        folder_ = std::string(base && *base ? base : "/tmp") + "/bunraku-worker.XXXXXX";
        if (!::mkdtemp(folder_.data()))
            throw base::plain_error(fmt::format("Could not create a folder like {}", folder_));
    }
    ~Worker() {
        (void)files_.remove(code_file());
        (void)files_.remove_directory(folder_);
    }
    Worker(const Worker&) = delete;

    /// Returns the response to a line, without a newline.
    std::string answer(std::string_view line) {
        auto arena = std::make_shared<base::Arena>(256 * 1024);
        base::MemorySink records;
        std::string id = "null", body;
        try {
            auto request = value::parse_json(*arena, line);
            if (!request) throw base::plain_error(request.error().message);
            if (!request->is_hash()) throw base::plain_error("A request must be a JSON object");
            if (const auto* given = value::at(*request, "id")) id = value::to_json(*given);
            if (asked_flag(*request, "clear")) {
                site_.clear();
                before_.reset();
            }
            body = compile(*request, arena, records);
        } catch (const base::PuppetError& e) {
            body = "\"error\":" + error_json(e);
        }
        return fmt::format(R"({{"id":{},{},"logs":{}}})", id, body, logs_json(records));
    }

private:
    static site::Options of_worker(site::Options out) {
        out.explain_errors = false;
        // Files may change between two requests.
        out.environment_timeout = "0";
        out.threads = 1;
        return out;
    }

    std::string code_file() const { return folder_ + "/site.pp"; }

    /// Writes the code to a file of this process. Therefore successive requests use the same
    /// environment, except for that file.
    void place_code(const std::string& code) {
        if (code == code_) return;
        code_.reset();
        if (const auto done = files_.write(code_file(), code, 0600); !done)
            throw base::plain_error(done.error().message);
        code_ = code;
    }

    site::NodeRequest request_of(const Value& data, std::shared_ptr<base::Arena> arena) {
        site::NodeRequest out;
        out.arena = std::move(arena);
        out.node = asked_text(data, "node");
        for (const char* name : {"environment", "environmentpath", "hiera_config"})
            if (auto text = asked_text(data, name); !text.empty())
                out.overlay.set(name, std::move(text));
        if (const auto* settings = asked_hash(data, "settings"))
            for (const auto& e : settings->as_hash())
                out.overlay.set(value::to_text(e.key), value::to_text(e.value));
        if (const auto* folders = value::at(data, "modulepath"); folders && !folders->is_undef()) {
            if (!folders->is_array()) wrong("modulepath", "a list of folders");
            out.sources.modulepath.emplace();
            for (const Value& folder : folders->as_array())
                out.sources.modulepath->push_back(value::to_text(folder));
        }
        if (const auto* code = value::at(data, "code"); code && !code->is_undef()) {
            place_code(value::to_text(*code));
            out.sources.manifest = code_file();
        } else {
            out.sources.manifest = asked_text(data, "manifest");
        }
        if (const auto* facts = asked_hash(data, "facts")) out.facts.values = *facts;
        if (const auto* trusted = asked_hash(data, "trusted")) out.trusted.give(*trusted);
        if (const auto* given = asked_hash(data, "server_facts")) {
            out.server_facts = site::ServerFacts::given(*given);
        }
        if (const auto* variables = asked_hash(data, "variables"))
            for (const auto& e : variables->as_hash())
                out.variables.emplace_back(value::to_text(e.key), e.value);
        if (const auto* classes = value::at(data, "classes"); classes && !classes->is_undef()) {
            if (!classes->is_array() && !classes->is_hash())
                wrong("classes", "a list or an object");
            value::HashBuilder enc(*out.arena, 1);
            enc.set("classes", *classes);
            out.classification = compiler::read_classification(enc.build());
        }
        return out;
    }

    std::string compile(const Value& data, const std::shared_ptr<base::Arena>& arena,
                        base::LogSink& records) {
        const auto session = site_.session(request_of(data, arena), records);
        keep_children(data, session->environment());
        try {
            const auto compiled = session->compile();
            std::string out =
                "\"catalog\":" + site::agent_catalog(compiled,
                                                     asked_flag(data, "keep_virtual")
                                                         ? site::VirtualResources::Keep
                                                         : site::VirtualResources::Omit,
                                                     records);
            if (asked_flag(data, "checks")) {
                const auto problems = check_catalog(settings_, *session, *compiled.catalog);
                out += ",\"refused\":";
                out += problems.refused.empty() ? "null" : codec::json_string(problems.refused);
                out += ",\"cycles\":[";
                for (const auto& cycle : problems.cycles) {
                    if (!out.ends_with('[')) out += ',';
                    codec::append_json_string(out, cycle);
                }
                out += ']';
            }
            without_code_file(out);
            return out;
        } catch (const base::PuppetError& e) {
            return "\"error\":" + error_json(e, " on node " + session->node());
        }
    }

    /// Each request with code makes a new environment. If only that file or other manifests and
    /// templates have changed, the Ruby processes of the previous environment are reused.
    void keep_children(const Value& data,
                       const std::shared_ptr<const environment::Environment>& environment) {
        std::string home;
        for (const char* key :
             {"environment", "environmentpath", "hiera_config", "settings", "modulepath"})
            if (const Value* given = value::at(data, key)) home += value::to_json(*given) + "\n";
        // Ruby processes do not load manifests or templates.
        const auto no_code = [](std::string_view path) {
            return path.ends_with(".pp") || path.ends_with(".epp") || path.ends_with(".erb");
        };
        const auto same = [&](const auto& noted) {
            return noted.first.starts_with(folder_) || no_code(noted.first) ||
                   noted.second.same(environment->files().stat(noted.first));
        };
        if (before_ && before_ != environment && home == home_ &&
            std::ranges::all_of(before_->noted(), same))
            keep_ruby_children(*before_, *environment);
        before_ = environment;
        home_ = std::move(home);
    }

    /// Code in the request has no file, so removes the file from the output.
    void without_code_file(std::string& json) const {
        const std::string path = codec::json_string(code_file());
        for (const auto& [what, with] : {std::pair{"\"file\":" + path + ",", std::string()},
                                         std::pair{",\"file\":" + path, std::string()},
                                         std::pair{"file: " + code_file() + ", ", std::string()}}) {
            for (std::size_t at = 0; (at = json.find(what, at)) != std::string::npos;)
                json.replace(at, what.size(), with);
        }
    }

    std::string error_json(const base::PuppetError& error, const std::string& suffix = {}) const {
        std::string text = error.full_text() + suffix;
        const auto& where = error.where();
        std::string out = "{\"message\":" + codec::json_string(text);
        if (!error.issue_code().empty())
            out += ",\"issue_code\":" + codec::json_string(error.issue_code());
        if (!where.file.empty() && where.file != code_file())
            out += ",\"file\":" + codec::json_string(where.file);
        if (where.line > 0) out += fmt::format(",\"line\":{}", where.line);
        out += '}';
        without_code_file(out);
        return out;
    }

    std::string logs_json(const base::MemorySink& records) const {
        std::string out = "[";
        for (const auto& r : records.records) {
            if (out.size() > 1) out += ',';
            out += fmt::format("{{\"level\":\"{}\",\"message\":", base::level_name(r.level));
            codec::append_json_string(out, r.message);
            if (r.where.line > 0) {
                out += ",\"file\":" + codec::json_string(r.where.file) +
                       fmt::format(",\"line\":{}", r.where.line);
            }
            out += '}';
        }
        out += ']';
        without_code_file(out);
        return out;
    }

    const config::Settings& settings_;
    site::Site site_;
    sys::FileSystem& files_ = sys::disk();
    std::string folder_;
    std::optional<std::string> code_;
    std::shared_ptr<const environment::Environment> before_;  ///< environment of the last request
    /// parameters of the last request that select the environment
    std::string home_;
};

/// Reads a line without its newline. Returns false at the end of the input.
bool read_line(std::FILE* in, std::string& out, bool& too_long) {
    out.clear();
    too_long = false;
    char* buffer = nullptr;
    std::size_t size = 0;
    const ssize_t n = ::getline(&buffer, &size, in);
    if (n > 0) {
        out.assign(buffer, static_cast<std::size_t>(n));
        too_long = out.size() > kLongestLine;
    }
    std::free(buffer);
    while (out.ends_with('\n') || out.ends_with('\r')) out.pop_back();
    return n > 0;
}

}  // namespace

int run_compile_worker(const config::Settings& settings, site::Options options, std::FILE* in,
                       std::FILE* out) {
    Worker worker(settings, std::move(options));
    std::string line;
    for (bool too_long = false; read_line(in, line, too_long);) {
        if (line.empty()) continue;
        std::string answer =
            too_long ? R"({"id":null,"error":{"message":"The request is too long"},"logs":[]})"
                     : worker.answer(line);
        answer += '\n';
        if (std::fwrite(answer.data(), 1, answer.size(), out) != answer.size() ||
            std::fflush(out) != 0)
            return 1;
    }
    return 0;
}

}  // namespace bunraku::agent
