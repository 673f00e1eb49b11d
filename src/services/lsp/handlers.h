// SPDX-License-Identifier: Apache-2.0
// The handlers of the requests that concern documents. Each file implements one family, and
// methods.cc connects them with the names of the protocol.
#pragma once

#include "services/lsp/state.h"

namespace bunraku::lsp {

// navigation.cc
Answer on_definition(State& state, const value::Value& params);
Answer on_declaration(State& state, const value::Value& params);
Answer on_type_definition(State& state, const value::Value& params);
Answer on_implementation(State& state, const value::Value& params);
Answer on_references(State& state, const value::Value& params);
Answer on_document_highlight(State& state, const value::Value& params);
// rename.cc
Answer on_prepare_rename(State& state, const value::Value& params);
Answer on_rename(State& state, const value::Value& params);
// outline.cc
Answer on_document_symbol(State& state, const value::Value& params);
Answer on_workspace_symbol(State& state, const value::Value& params);
// structure.cc
Answer on_folding_range(State& state, const value::Value& params);
Answer on_selection_range(State& state, const value::Value& params);
// semantic_tokens.cc
Answer on_semantic_tokens(State& state, const value::Value& params);
Answer on_semantic_tokens_range(State& state, const value::Value& params);
/// Returns the legend of the semantic tokens as JSON.
std::string semantic_legend();
// hover.cc
Answer on_hover(State& state, const value::Value& params);
// completion.cc
Answer on_completion(State& state, const value::Value& params);
Answer on_resolve_completion(State& state, const value::Value& params);
// signature.cc
Answer on_signature_help(State& state, const value::Value& params);
// formatting.cc
Answer on_formatting(State& state, const value::Value& params);
Answer on_range_formatting(State& state, const value::Value& params);
// code_actions.cc
Answer on_code_action(State& state, const value::Value& params);
// annotations.cc
Answer on_code_lens(State& state, const value::Value& params);
Answer on_inlay_hint(State& state, const value::Value& params);
// call_hierarchy.cc
Answer on_prepare_call_hierarchy(State& state, const value::Value& params);
Answer on_incoming_calls(State& state, const value::Value& params);
Answer on_outgoing_calls(State& state, const value::Value& params);

}  // namespace bunraku::lsp
