// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/server_log.h"

namespace bunraku::cli {

namespace {

std::unique_ptr<base::LogSink> make_sink(const OptionParser& options, Streams streams,
                                         diagnostics::Stamps stamps) {
    return diagnostics::make_console_log({.level = options.log_level.value_or(base::Level::Notice),
                                          .format = options.log_format,
                                          .color = options.color,
                                          .explain_errors = options.explain_errors,
                                          .code = options.given_code(),
                                          .streams = streams,
                                          .stamps = stamps,
                                          .version = kVersion,
                                          .plain_system_errors = options.plain_system_errors()});
}

}  // namespace

std::unique_ptr<base::LogSink> make_console_sink(const OptionParser& options, Streams streams) {
    return make_sink(options, streams, diagnostics::Stamps::None);
}

std::unique_ptr<base::LogSink> make_server_sink(const OptionParser& options) {
    return make_sink(options, Streams::Errors, diagnostics::Stamps::Time);
}

}  // namespace bunraku::cli
