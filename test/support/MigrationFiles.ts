import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { readdirSync } from "node:fs"

/** Loads the migration with a name, whatever its number. */
export const migrationNamed = (name: string): Effect.Effect<Effect.Effect<void, SqlError, SqlClient.SqlClient>> =>
  Effect.promise(async () => {
    const folder = new URL("../../migrations/", import.meta.url)
    const file = readdirSync(folder).find((one) => one.endsWith(`_${name}.ts`)) ?? name
    return (await import(new URL(file, folder).href)).default
  })
