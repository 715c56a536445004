import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf } from "../Rows.ts"
import { ServerConfig } from "./ServerConfig.ts"
import {
  asFlag,
  asMode,
  asText,
  asTimelinesAccess,
  asYears,
  type RegistrationsMode,
  settings,
  type TimelinesAccess
} from "./SettingNames.ts"

/**
 * How long they are believed, in milliseconds: while changes on other nodes are heard of, and while they are not.
 */
const policiesMillisMax = 30_000
const policiesAloneMillisMax = 1_000

/** How the server takes people in, and what it shows to whom. */
export interface Policies {
  readonly registrations: (typeof RegistrationsMode)["Type"]
  /** HTML, shown where nobody may sign up; null where staff has written nothing. */
  readonly registrationsMessage: string | null
  /** Who asks to be let in says why. */
  readonly reasonRequired: boolean
  /** In years; null where nobody's age is asked for. */
  readonly minAge: number | null
  /** Open registrations ask for approval from when no moderator was here for a week. */
  readonly autoClose: boolean
  readonly timelines: TimelinesAccess
}

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown }))
const names = Object.values(settings)

/** The policies as staff set them, else as the environment's variables say. In memory, until somebody changes them on any node. */
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
        const timelines = Option.getOrElse(asTimelinesAccess(set.get(settings.timelinesAccess)), () => usualAccess)
        return {
          registrations: Option.getOrElse(asMode(set.get(settings.registrations)), () => registrations),
          registrationsMessage: Option.getOrNull(asText(set.get(settings.registrationsMessage))),
          reasonRequired: asFlag(set.get(settings.reasonRequired)),
          minAge: Option.getOrNull(asYears(set.get(settings.minAge))),
          autoClose: asFlag(set.get(settings.autoClose)),
          timelines: limitedFederation
            ? { liveFeeds: closed(timelines.liveFeeds), hashtagFeeds: closed(timelines.hashtagFeeds) }
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

/** In restricted mode nobody reads without signing in. */
const closed = ({ local, remote }: TimelinesAccess["liveFeeds"]) => ({
  local: local === "public" ? "authenticated" as const : local,
  remote: remote === "public" ? "authenticated" as const : remote
})
