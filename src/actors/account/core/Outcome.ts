import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"

/** Outcome of an activity, as it is recorded. */
export type Outcome = Effect.Effect<string, ClientError | SqlError | NeedsFetch>

export const done = "done"
export const ignored = (why: string) => Effect.succeed(`ignored: ${why}`)
