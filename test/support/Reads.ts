import { Effect, Layer } from "effect"
import { CurrentTransformer } from "effect/sql/Statement"
import { AccountViews } from "../../src/http/render/AccountViews.ts"
import { StatusViews } from "../../src/http/render/StatusViews.ts"
import { Collections } from "../../src/services/collections/Collections.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { ActiveFilters } from "../../src/services/filters/ActiveFilters.ts"
import { Accounts } from "../../src/services/identity/Accounts.ts"
import { Settings } from "../../src/services/identity/Settings.ts"
import { CustomEmojis } from "../../src/services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { Statuses } from "../../src/services/statuses/Statuses.ts"
import { ViewerStates } from "../../src/services/statuses/ViewerStates.ts"
import { committedOnly } from "./CommittedOnly.ts"
import { configurationOf } from "./Configuration.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** Server configuration for tests of single services. */
export const configuration = configurationOf("local.example")
export const { publicUrl } = configuration

/** Services that read and render, on their own database. */
export const reads = (config: Partial<ServerConfig["Service"]> = {}) =>
  Layer.satisfiesServicesType<never>()(StatusViews.layer.pipe(
    Layer.provideMerge(AccountViews.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Accounts.layer,
        ActiveFilters.layer,
        Collections.layer,
        Settings.layer,
        CustomEmojis.layer,
        Statuses.layer,
        ViewerStates.layer
      )
    ),
    Layer.provideMerge(Broadcast.layerMemory),
    Layer.provideMerge(TestDatabase.layer),
    Layer.provide(committedOnly),
    Layer.provideMerge(Layer.succeed(ServerConfig, { ...configuration, ...config }))
  ))

export const Reads = reads()

/** Returns an effect's result and the number of statements it sent to the database. */
export const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let count = 0
    return effect.pipe(
      Effect.provideService(CurrentTransformer, (statement) =>
        Effect.sync(() => {
          count++
          return statement
        })),
      Effect.map((value) => ({ value, queries: count }))
    )
  })
