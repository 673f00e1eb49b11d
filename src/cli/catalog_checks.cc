#include "cli/catalog_checks.h"

#include "apply/graph.h"
#include "cli/apply_setup.h"

namespace bunraku::cli {

namespace {

/// The circles out of what is logged of them: each between parentheses, divided by the two
/// characters that Puppet ends the line with.
void add_cycles(std::string_view message, std::vector<std::string>& out) {
    message.remove_prefix(std::min(message.find('\n') + 1, message.size()));
    while (message.starts_with('(')) {
        const std::size_t end = message.find(")\\n");
        if (end == std::string_view::npos) return;
        out.emplace_back(message.substr(0, end + 1));
        message.remove_prefix(end + 3);
    }
}

}  // namespace

CatalogProblems check_catalog(Invocation& invocation, site::Session& session,
                              const catalog::Catalog& catalog) {
    CatalogProblems out;
    base::MemorySink log;
    ApplySession applying(invocation, log);
    auto& context = applying.context();
    context.options.noop = true;
    context.options.graph = false;
    context.options.environment = session.environment()->name();
    ModuleContent content(context, invocation.settings, session.node(), session.environment());
    context.content = &content;
    context.resolve_deferred = [&](const value::Value& v) { return session.resolve_deferred(v); };
    apply::RubyTypes ruby_types(context, [&] { return ruby_parts(session, invocation.settings); });
    context.ruby_types = &ruby_types;
    try {
        const auto ral = apply::RalCatalog::from(context, catalog);
        ral->finalize();
        apply::RelationshipGraph graph(context);
        graph.populate(*ral);
        if (graph.report_cycles().empty()) return out;
        for (const auto& record : log.records)
            if (record.message.starts_with("Found ")) add_cycles(record.message, out.cycles);
    } catch (const base::PuppetError& e) {
        out.refused = apply::error_text(e);
    } catch (const std::exception& e) {
        out.refused = e.what();
    }
    return out;
}

}  // namespace bunraku::cli
