import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { ServerConfig } from "./ServerConfig.ts"
import type { ValuesFor } from "./SettingTable.ts"
import { settingValues, storedNames } from "./SettingValues.ts"
import type { TimelinesAccess } from "./TimelinesAccess.ts"

/** Lifetime of cached policies, in milliseconds: while this node receives changes, and while it does not. */
const policiesMillisMax = 30_000
const policiesAloneMillisMax = 1_000

/** Policies for registrations and for access to timelines. */
export type Policies = ValuesFor<"policies">

/** Returns true if people may ask for an account with a password; others are invited or come by the provider. */
export const acceptsSignUps = (
  { provider }: Pick<ServerConfig["Service"], "provider">,
  { registrations }: Pick<Policies, "registrations">
): boolean => registrations !== "closed" && provider?.only !== true

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown, updatedAt: Timestamptz }))
const names = storedNames("policies")

/** Policies as staff set them, with environment variables as defaults. Cached until any node changes them. */
export class InstancePolicies extends Context.Service<InstancePolicies, {
  readonly current: Effect.Effect<Policies>
}>()("murmuration/services/instance/InstancePolicies") {
  static readonly layer = Layer.effect(
    InstancePolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { limitedFederation, publicTimelines, registrations } = yield* ServerConfig
      const usual = publicTimelines === "public" ? "public" : "authenticated"
      const usualAccess: TimelinesAccess = {
        liveFeeds: { local: usual, remote: usual },
        hashtagFeeds: { local: usual, remote: usual }
      }

      const load = Effect.gen(function*() {
        const rows = yield* settingRows(sql`
          SELECT name, value, updated_at FROM settings WHERE name = ANY (${names}::text[])`)
        const policies = settingValues("policies", rows, { registrations, timelinesAccess: usualAccess })
        const { hashtagFeeds, liveFeeds } = policies.timelinesAccess
        return limitedFederation
          ? {
            ...policies,
            timelinesAccess: { liveFeeds: membersOnly(liveFeeds), hashtagFeeds: membersOnly(hashtagFeeds) }
          }
          : policies
      }).pipe(Effect.orDie, Effect.withSpan("InstancePolicies.load"))

      const current = yield* single({
        kinds: ["instance"],
        millisMax: policiesMillisMax,
        aloneMillisMax: policiesAloneMillisMax
      }, load)
      return InstancePolicies.of({ current })
    })
  ).pipe(Layer.provide(Changes.layer))
}

/** Returns the access in limited federation mode, which always requires a signed-in user. */
const membersOnly = ({ local, remote }: TimelinesAccess["liveFeeds"]) => ({
  local: local === "public" ? "authenticated" as const : local,
  remote: remote === "public" ? "authenticated" as const : remote
})
