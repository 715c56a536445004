import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/** Database of the Mastodon server, whose sessions cannot write. */
export class Source extends Context.Service<Source, SqlClient.SqlClient>()("murmuration/services/mastodon/Source") {}
