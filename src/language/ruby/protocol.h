// SPDX-License-Identifier: Apache-2.0
// The messages between Bunraku and a Ruby child: arrays in Marshal's format whose first element is
// one of these numbers. share/ruby/plugin_host.rb is the other end, and share/ruby/protocol.rb has
// the same tables.
#pragma once

#include <cstdint>

namespace bunraku::ruby {

/// Messages to Ruby.
enum class ToRuby : std::uint8_t {
    Value = 0,  ///< [value]: the answer to a callback.
    /// [message, token, issue code]: the callback failed; Ruby raises a Puppet::Error.
    Error = 1,
    Unwind = 2,     ///< []: leave the Ruby code for a break, return or next of the language.
    Simplify = 3,   ///< []: send the last message again, with known classes only.
    Unset = 4,      ///< []: the answer for a variable that is not set.
    Call = 10,      ///< [name, signature (-1: 3.x), args, block handle, its arity]
    Load = 11,      ///< [file, name]: load a function's file.
    Render = 12,    ///< [source, file, variables]
    Proc = 13,      ///< [id, args]: call a block of Ruby's.
    LoadType = 14,  ///< [file, name]
    Check = 15,     ///< [type, title, parameters]
    LoadData = 16,  ///< [file, name]: load a data type's file.
    Method = 17,    ///< [type, init hash, method, args]
    Facts = 18,     ///< [verb, args]: custom facts (share/ruby/facts.rb).
    Setup = 19,     ///< [options]: load path, environment, memory limit.
    Title = 21,     ///< [file, type, title]: split a title.
    Hiera3 = 22,    ///< [request]: call a Hiera 3 backend (Host::ask_hiera3).
    Manage = 23,    ///< [verb, args..]: a resource type's operation (share/ruby/provider_host.rb).
    Ready = 24,     ///< [files]: load code that calls would have loaded if they had been made.
    Reset = 20,     ///< []: another compile begins; drop the state of the last one.
};

/// Messages from Ruby.
///
/// Callbacks, by name: "call_function" [name, args, block id, block arity], "yield" [handle, args],
/// "variable" [name], "set_variable" [name, value]. All others are requests:
///   "variable_changed" [name, value] a change that a template made in place;
///   "variables" [] a hash of all variables in the scope; "variable_set" [name] true or false;
///   "setting" [name]; "find_file" [reference, folder]; "tags" [], "all_tags" [], "classes" [];
///   "scope_info" [] {class_name, module_name, resource, environment, node, file, line};
///   "resource" [type, title] parameters or undef; "known_type" [name]; "method" [handle, name,
///   args, block id, arity] of a stored value; "type_instance" [type text, value];
///   "type_assignable" [to, from]; "infer" [value, detailed]; "type_of_block" [handle];
///   "parse_type" [text]; "new" [type text, args]; "to_rich_data" [value]; "source_place" [];
///   "module_path" [name]; "modules" []; "block_info" [handle] [arity, names];
///   "hiera3_lookup" [key, override, default]; "deep_merge" [source, destination, options];
///   "evaluate" [text]; "function_exists" [name]; "add_resource" [type, title, parameters,
///   options]; "defaults" [type]; "is_builtin_type" [name]; "class_known" [name]; "define_class",
///   "add_class", "evaluate_class" [name]; "call_in_class" [class, function, args]; "in_parent"
///   [level, request, args] in the scope that declared this one. When resources are applied:
///   "machine_path" [number], "machine_natives" [] [type, title] of each, "machine_resource"
///   [type, title] its given attributes, "machine_set" [type, title, attribute, value],
///   "machine_mark_sensitive" [type, title, attribute]. For custom facts: "fact" [query],
///   "facts" [] all built-in facts, "time_limit" [what, seconds], "time_over" [what].
enum class FromRuby : std::uint8_t {
    Value = 0,     ///< [value]
    Error = 1,     ///< [class, message, token, backtrace, file, line, issue code, column]
    Callback = 2,  ///< [name, arguments..]
    Log = 3,       ///< [level, message, source or undef]
    Unwind = 4,    ///< []: a StopIteration of Bunraku left the Ruby code.
    /// [kind, name, kind, name ..]: reads, sent before the message that depends on them.
    Reads = 5,
};

}  // namespace bunraku::ruby
