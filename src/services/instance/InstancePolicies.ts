import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "./ServerConfig.ts"
import {
  decodeFlag,
  decodeMode,
  decodeText,
  decodeTimelinesAccess,
  decodeYears,
  type RegistrationsMode,
  settings,
  type TimelinesAccess
} from "./SettingNames.ts"

/** Lifetime of cached policies, in milliseconds: while this node hears of changes, and while it does not. */
const policiesMillisMax = 30_000
const policiesAloneMillisMax = 1_000

/** Policies for registrations and for access to timelines. */
export interface Policies {
  readonly registrations: (typeof RegistrationsMode)["Type"]
  /** HTML shown while registrations are closed; null if staff wrote none. */
  readonly registrationsMessage: string | null
  /** True if a sign-up must give a reason. */
  readonly reasonRequired: boolean
  /** Minimum age in years; null if no age is required. */
  readonly minAge: number | null
  /** True if open registrations switch to approval after a week without an active moderator. */
  readonly autoClose: boolean
  readonly timelines: TimelinesAccess
}

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown }))
const names = Object.values(settings)

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
        const rows = yield* settingRows(sql`SELECT name, value FROM settings WHERE name = ANY (${names}::text[])`)
        const set = new Map(rows.map(({ name, value }) => [name, value]))
        const timelines = Option.getOrElse(decodeTimelinesAccess(set.get(settings.timelinesAccess)), () => usualAccess)
        return {
          registrations: Option.getOrElse(decodeMode(set.get(settings.registrations)), () => registrations),
          registrationsMessage: Option.getOrNull(decodeText(set.get(settings.registrationsMessage))),
          reasonRequired: decodeFlag(set.get(settings.reasonRequired)),
          minAge: Option.getOrNull(decodeYears(set.get(settings.minAge))),
          autoClose: decodeFlag(set.get(settings.autoClose)),
          timelines: limitedFederation
            ? { liveFeeds: membersOnly(timelines.liveFeeds), hashtagFeeds: membersOnly(timelines.hashtagFeeds) }
            : timelines
        } satisfies Policies
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
