// SPDX-License-Identifier: Apache-2.0
// The PostgreSQL half of Statement, as free functions.
#pragma once

#include "store/db/postgresql.h"

namespace bunraku::store::pg {

void bind_text(PgStatement& s, int n, std::string_view text);
void bind_integer(PgStatement& s, int n, std::int64_t number);
void bind_real(PgStatement& s, int n, double number);
void bind_blob(PgStatement& s, int n, std::string_view bytes);
int columns(const PgStatement& s);
std::string_view name(const PgStatement& s, int column);
bool is_null(const PgStatement& s, int column);
std::string_view text(const PgStatement& s, int column);
std::int64_t integer(const PgStatement& s, int column);
double real(const PgStatement& s, int column);
std::string_view blob(PgStatement& s, int column);
Statement::Type type(const PgStatement& s, int column);
void release(PgStatement* s, bool once);
void interrupt(PgConnection& c);
bool healthy(const PgConnection& c);
/// Reports whether libpq can send several statements in one round trip.
bool has_pipelines();

}  // namespace bunraku::store::pg
