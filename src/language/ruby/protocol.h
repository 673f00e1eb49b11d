// What goes over the line between Bunraku and a Ruby child: arrays in Marshal's format whose first
// element is one of these numbers. share/ruby/plugin_host.rb has the other end.
#pragma once

#include <cstdint>

namespace bunraku::ruby {

/// To Ruby.
enum class ToRuby : std::uint8_t {
    Value = 0,      ///< [value]: the answer to a callback
    Error = 1,      ///< [message, token, issue code]: it failed; Ruby raises a Puppet::Error
    Unwind = 2,     ///< []: leave the Ruby code, a completion of the language is on its way
    Simplify = 3,   ///< []: what was sent last again, in classes that are known
    Unset = 4,      ///< []: the answer for a variable that is not set
    Call = 10,      ///< [name, signature (-1: 3.x), args, block handle, its arity]
    Load = 11,      ///< [file, name]: a function's file
    Render = 12,    ///< [source, file, variables]
    Proc = 13,      ///< [id, args]: a block of Ruby's
    LoadType = 14,  ///< [file, name]
    Check = 15,     ///< [type, title, parameters]
    LoadData = 16,  ///< [file, name]: a data type's file
    Method = 17,    ///< [type, init hash, method, args]
    Facts = 18,     ///< [verb, args]: custom facts (share/ruby/facts.rb)
    Setup = 19,     ///< [options]: load path, environment, memory limit
    Title = 21,     ///< [file, type, title]: what the title names
    Hiera3 = 22,    ///< [request]: a backend of Hiera 3 (Host::ask_hiera3)
    Manage = 23,    ///< [verb, args..]: a resource type at work (share/ruby/provider_host.rb)
    Ready = 24,     ///< [files]: code that calls would have loaded, had they been made
    Reset = 20,     ///< []: another compile begins, what was kept for the last one goes
};

/// From Ruby.
///
/// Callbacks, by name: "call_function" [name, args, block id, block arity], "yield" [handle, args],
/// "variable" [name], "set_variable" [name, value]. All others are requests:
///   "variable_changed" [name, value] what a template changed in place;
///   "variables" [] all that the scope sees, a hash; "variable_set" [name] true or false;
///   "setting" [name]; "find_file" [reference, folder]; "tags" [], "all_tags" [], "classes" [];
///   "scope_info" [] {class_name, module_name, resource, environment, node, file, line};
///   "resource" [type, title] parameters or undef; "known_type" [name]; "method" [handle, name,
///   args, block id, arity] of a kept value; "type_instance" [type text, value];
///   "type_assignable" [to, from]; "infer" [value, detailed]; "type_of_block" [handle];
///   "parse_type" [text]; "new" [type text, args]; "to_rich_data" [value]; "source_place" [];
///   "module_path" [name]; "modules" []; "block_info" [handle] [arity, names];
///   "hiera3_lookup" [key, override, default]; "deep_merge" [source, destination, options];
///   "evaluate" [text]; "function_exists" [name]; "add_resource" [type, title, parameters,
///   options]; "defaults" [type]; "is_builtin_type" [name]; "class_known" [name]; "define_class",
///   "add_class", "evaluate_class" [name]; "call_in_class" [class, function, args]; "in_parent"
///   [level, request, args] of the scope that declared this one; of a machine that is managed
///   "machine_path" [number], "machine_natives" [] [type, title] of each, "machine_resource"
///   [type, title] what it was given, "machine_set" [type, title, attribute, value]; of custom
///   facts "fact" [query], "facts" [] of what is built in, "time_limit" [what, seconds],
///   "time_over" [what].
enum class FromRuby : std::uint8_t {
    Value = 0,     ///< [value]
    Error = 1,     ///< [class, message, token, backtrace, file, line, issue code, column]
    Callback = 2,  ///< [name, arguments..]
    Log = 3,       ///< [level, message, source or undef]
    Unwind = 4,    ///< []: a StopIteration of ours came out at the top
    Reads = 5,     ///< [kind, name, kind, name ..]: what was read, before what it was read for
};

}  // namespace bunraku::ruby
