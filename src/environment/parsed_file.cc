// Parsing with Puppet's validation behind it, and the cache of parsed files.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "environment/environment.h"

namespace bunraku::environment {

using base::Diagnostic;
using base::Level;

namespace {

constexpr std::string_view kBadModuleFile = "\1";
constexpr int kMaxErrors = 10;
constexpr int kMaxWarnings = 10;

std::string downcase(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

bool is_definition(const syntax::Node* node) {
    using enum syntax::NodeKind;
    switch (node->kind) {
        case FunctionDefinition:
        case PlanDefinition:
        case HostClassDefinition:
        case ResourceTypeDefinition:
        case TypeAlias:
        case TypeDefinition:
        case TypeMapping: return true;
        default: return false;
    }
}

// Puppet's label of a statement, for the one message that needs it.
std::string statement_label(const syntax::Node* node) {
    using enum syntax::NodeKind;
    switch (node->kind) {
        case CallNamedFunctionExpression: return "Function Call";
        case CallMethodExpression: return "Method call";
        case ResourceExpression: return "Resource Statement";
        case ResourceDefaultsExpression: return "Resource Defaults Expression";
        case ResourceOverrideExpression: return "Resource Override";
        case NodeDefinition: return "Node Definition";
        case IfExpression: return "'if' statement";
        case UnlessExpression: return "'unless' statement";
        case CaseExpression: return "'case' statement";
        case CollectExpression: {
            const auto& collect = syntax::to<syntax::CollectExpression>(node);
            return collect.query && collect.query->kind == ExportedQuery ? "Exported Query"
                                                                         : "Virtual Query";
        }
        case RelationshipExpression:
            return fmt::format("'{}' expression",
                               op_text(static_cast<const syntax::BinaryNode*>(node)->op));
        case AssignmentExpression:
            return fmt::format("'{}' expression",
                               op_text(static_cast<const syntax::BinaryNode*>(node)->op));
        default: {
            std::string out;
            for (char c : node_kind_name(node->kind)) {
                if (!out.empty() && c >= 'A' && c <= 'Z') out += ' ';
                out += c;
            }
            return out;
        }
    }
}

Diagnostic finding(const syntax::Node* node, std::string message, std::string code) {
    Diagnostic d;
    d.level = Level::Err;
    d.message = std::move(message);
    d.where = node->where();
    d.issue_code = std::move(code);
    return d;
}

}  // namespace

std::vector<Diagnostic> check_locations(const syntax::Tree& tree,
                                        const std::optional<std::string>& file_namespace) {
    std::vector<Diagnostic> out;
    if (!file_namespace || !tree.program) return out;
    const syntax::Node* body = tree.program->body;
    if (!body || body->kind == syntax::NodeKind::Nop) return out;
    auto check_top = [&](const syntax::Node* node) {
        if (is_definition(node)) return;
        out.push_back(
            finding(node,
                    fmt::format("This {} is unacceptable as a top level construct in this "
                                "location",
                                statement_label(node)),
                    "ILLEGAL_TOP_CONSTRUCT_LOCATION"));
    };
    if (const auto* block = syntax::as<syntax::BlockExpression>(body)) {
        for (const auto* statement : block->statements) check_top(statement);
    } else {
        check_top(body);
    }
    for (const auto* node : tree.program->definitions) {
        std::string_view name;
        switch (node->kind) {
            case syntax::NodeKind::HostClassDefinition:
            case syntax::NodeKind::ResourceTypeDefinition:
            case syntax::NodeKind::FunctionDefinition:
            case syntax::NodeKind::PlanDefinition:
                name = static_cast<const syntax::NamedDefinition*>(node)->name;
                break;
            default: continue;
        }
        if (*file_namespace == kBadModuleFile || !downcase(name).starts_with(*file_namespace)) {
            out.push_back(finding(
                node,
                fmt::format("Unacceptable location. The name '{}' is unacceptable in file '{}'",
                            name, tree.source ? tree.source->file() : std::string()),
                "ILLEGAL_DEFINITION_LOCATION"));
        }
    }
    return out;
}

void report_findings(const std::vector<Diagnostic>& findings, base::LogSink& log) {
    std::vector<const Diagnostic*> errors;
    int warnings = 0, deprecations = 0, all_warnings = 0;
    for (const auto& d : findings) {
        if (d.level >= Level::Err) {
            errors.push_back(&d);
            continue;
        }
        ++all_warnings;
        int& count = d.deprecation ? deprecations : warnings;
        if (count++ < kMaxWarnings) log.log(d);
    }
    if (errors.empty()) return;
    if (errors.size() == 1) {
        const Diagnostic& d = *errors[0];
        base::PuppetError error(d.message, d.issue_code, base::PuppetError::Class::Parse);
        throw error.at(d.where);
    }
    int emitted = 0;
    for (const auto* d : errors) {
        log.log(*d);
        if (++emitted >= kMaxErrors) break;
    }
    base::PuppetError error(
        all_warnings > 0
            ? fmt::format("Language validation logged {} errors, and {} warnings. Giving up",
                          errors.size(), all_warnings)
            : fmt::format("Language validation logged {} errors. Giving up", errors.size()),
        "", base::PuppetError::Class::Parse);
    base::Location where;
    where.file = errors[0]->where.file;
    throw error.at(std::move(where));
}

const syntax::Tree& ParsedFile::check(base::LogSink& log) const {
    if (error) throw *error;
    report_findings(findings, log);
    return *tree;
}

std::optional<std::string> Environment::namespace_for_file(std::string_view file) const {
    if (file.empty() || !file.ends_with(".pp")) return std::nullopt;
    if (!manifest_.empty() && file.starts_with(manifest_)) return std::nullopt;
    std::string_view relative;
    for (const auto& dir : modulepath_) {
        if (file.size() > dir.size() + 1 && file.starts_with(dir) && file[dir.size()] == '/') {
            relative = file.substr(dir.size() + 1);
            break;
        }
    }
    if (relative.empty()) return std::nullopt;
    // <module>/manifests/<folders>/<file>.pp
    std::string path = downcase(relative);
    std::vector<std::string> parts;
    std::string_view rest = path;
    while (true) {
        auto slash = rest.find('/');
        if (auto part = rest.substr(0, slash); !part.empty()) parts.emplace_back(part);
        if (slash == std::string_view::npos) break;
        rest = rest.substr(slash + 1);
    }
    constexpr std::array<std::string_view, 4> kFolders = {"manifests", "functions", "types",
                                                          "plans"};
    if (parts.size() < 2 || std::find(kFolders.begin(), kFolders.end(), parts[1]) == kFolders.end())
        return std::string(kBadModuleFile);
    std::string names = parts[0];
    for (std::size_t i = 2; i + 1 < parts.size(); ++i) names.append("::").append(parts[i]);
    std::string base = parts.size() > 2 ? parts.back() : std::string();
    if (base.ends_with(".pp")) base.resize(base.size() - 3);
    bool init = parts.size() == 3 && (base == "init" || base == "init_typeset");
    if (!base.empty() && !init) names.append("::").append(base);
    return names;
}

std::shared_ptr<const ParsedFile> Environment::parse_text(std::string file, std::string text,
                                                          bool epp) const {
    auto parsed = std::make_shared<ParsedFile>();
    auto file_namespace = namespace_for_file(file);
    try {
        syntax::ParseOptions options;
        options.epp = epp;
        options.tasks = spec_.tasks;
        parsed->tree = syntax::parse(std::move(file), std::move(text), options);
        syntax::ValidateOptions validate;
        validate.strict = spec_.strict;
        validate.tasks = spec_.tasks;
        auto places = check_locations(*parsed->tree, file_namespace);
        auto findings = syntax::validate(*parsed->tree, validate);
        parsed->findings = std::move(places);
        parsed->findings.insert(parsed->findings.end(), findings.begin(), findings.end());
    } catch (const base::PuppetError& error) {
        parsed->tree = nullptr;
        parsed->error = error;
    }
    return parsed;
}

std::shared_ptr<const ParsedFile> Environment::parse_file(const std::string& path) const {
    {
        std::shared_lock lock(mutex_);
        if (auto it = parsed_.find(path); it != parsed_.end()) return it->second;
    }
    auto text = read_file(path);
    if (!text) return nullptr;
    auto parsed = parse_text(path, std::move(*text));
    std::unique_lock lock(mutex_);
    auto [it, fresh] = parsed_.emplace(path, parsed);
    return it->second;
}

std::shared_ptr<const ParsedFile> Environment::parse_template(const std::string& path) const {
    const std::string key = "\2" + path;  // one file may be read as manifest and as template
    {
        std::shared_lock lock(mutex_);
        if (auto it = parsed_.find(key); it != parsed_.end()) return it->second;
    }
    auto text = read_file(path);
    if (!text) return nullptr;
    auto parsed = parse_text(path, std::move(*text), true);
    std::unique_lock lock(mutex_);
    auto [it, fresh] = parsed_.emplace(key, parsed);
    return it->second;
}

}  // namespace bunraku::environment
