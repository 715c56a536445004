import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { InstancePolicies } from "../instance/InstancePolicies.ts"
import type { TimelineReaders, TimelinesAccess as Access } from "../instance/TimelinesAccess.ts"
import { Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { defaultRole, givenBits, permissions } from "../staff/Permissions.ts"
import type { Viewer } from "../visibility/Viewer.ts"

const seeing = permissions.viewFeeds | permissions.administrator

/** Origins of posts that are requested or allowed; in requests both or neither means all. */
interface Origins {
  readonly local: boolean
  readonly remote: boolean
}

/** Access to public timelines, as set by staff. */
export class TimelineAccess extends Context.Service<TimelineAccess, {
  /**
   * Restricts a request to the allowed origins; undefined if none is left. Fails for signed-out viewers where an origin
   * requires sign-in.
   */
  readonly narrow: <Wanted extends Origins>(
    viewer: Viewer,
    kind: keyof Access,
    selection: Wanted
  ) => Effect.Effect<Wanted | undefined, Unprocessable>
  /** Returns the users who get no posts of this origin in public streams. */
  readonly withoutAccess: (
    kind: keyof Access,
    origin: keyof Origins,
    accountIds: ReadonlyArray<AccountId>
  ) => Effect.Effect<ReadonlySet<bigint>>
}>()("murmuration/services/feeds/TimelineAccess") {
  static readonly layer = Layer.effect(
    TimelineAccess,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const policies = yield* InstancePolicies

      /** Returns the accounts whose role sees disabled timelines. */
      const withOverride = (accountIds: ReadonlyArray<AccountId>) =>
        Effect.map(
          Effect.orDie(idRows(sql`SELECT u.account_id AS id
            FROM users u JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${defaultRole}
            WHERE u.account_id = ANY (${accountIds}::bigint[]) AND ((${
            sql.literal(givenBits)
          } | e.permissions) & ${seeing}) <> 0`)),
          (rows) => new Set(rows.map(({ id }) => id))
        )
      const open = Effect.fnUntraced(function*(viewer: Viewer, { local, remote }: Access[keyof Access]) {
        // Roles are read only if something is disabled.
        const all = viewer !== undefined && (local === "disabled" || remote === "disabled") &&
          (yield* withOverride([viewer])).size > 0
        const opens = (reach: TimelineReaders) =>
          reach === "public" || viewer !== undefined && (reach === "authenticated" || all)
        return { local: opens(local), remote: opens(remote) }
      })

      return TimelineAccess.of({
        narrow: traced("TimelineAccess.narrow")(function*(viewer, kind, selection) {
          const { timelinesAccess: { [kind]: access } } = yield* policies.current
          const asked = selection.local === selection.remote
            ? [access.local, access.remote]
            : [selection.local ? access.local : access.remote]
          if (viewer === undefined && asked.some((reach) => reach !== "public")) {
            return yield* new Unprocessable({ text: "This method requires an authenticated user" })
          }
          const all = selection.local === selection.remote
          const may = yield* open(viewer, access)
          const [local, remote] = [may.local && (all || selection.local), may.remote && (all || selection.remote)]
          return local || remote ? { ...selection, local, remote } : undefined
        }),
        withoutAccess: traced("TimelineAccess.withoutAccess")(function*(kind, origin, accountIds) {
          const { timelinesAccess: { [kind]: access } } = yield* policies.current
          if (access[origin] !== "disabled" || accountIds.length === 0) return new Set()
          const withAccess = yield* withOverride(accountIds)
          return new Set(accountIds.filter((id) => !withAccess.has(id)))
        })
      })
    })
  )
}
