#pragma once
// The schema of the store and how older files come to it. Private to this room.

#include "store/database.h"

namespace fabricast::store {

/// The version of a file that this program writes (`PRAGMA user_version`).
int newest_version();

/// Write-ahead logs the file and brings it to `to`, one migration per version, all or nothing.
/// Throws base::Error (failure) on a file of a newer version, and on one of another program.
void migrate(Database& database, int to = newest_version());

}  // namespace fabricast::store
