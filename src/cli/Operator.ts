import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, PubSub } from "effect"
import * as Database from "../layers/Database.ts"
import { EmbeddedPostgres } from "../layers/EmbeddedPostgres.ts"
import { Environment } from "../layers/Environment.ts"
import * as PasswordHashing from "../layers/PasswordHashing.ts"
import { notify } from "../layers/PostgresChannel.ts"
import { Broadcast, type BroadcastMessage } from "../services/Broadcast.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Sessions } from "../services/identity/Sessions.ts"
import { Users } from "../services/identity/Users.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"
import { Tokens } from "../services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../services/OpaqueSecrets.ts"
import { Roles } from "../services/staff/Roles.ts"

/** Sessions with Postgres that a command opens at most. */
const connectionsMax = 3

/** How to reach the database: of `DATABASE_URL`, or the embedded one, which is started for the command where no server runs it. */
const database = Layer.unwrap(Effect.map(Environment, ({ databaseUrl, dataDir }) =>
  databaseUrl === undefined
    ? Database.layerEmbedded(connectionsMax).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir, adopt: false })))
    : Database.layerAt({ url: databaseUrl, maxConnections: connectionsMax })))

/** What a command changes is told to running servers by NOTIFY; nothing is heard here. */
const broadcast = Layer.effect(
  Broadcast,
  Effect.gen(function*() {
    const context = yield* Effect.context<PgClient.PgClient>()
    const silence = yield* PubSub.unbounded<BroadcastMessage>()
    return Broadcast.of({
      publish: (message) => notify(message).pipe(Effect.orDie, Effect.provide(context)),
      subscribe: PubSub.subscribe(silence),
      heard: () => Effect.void,
      connected: Effect.succeed(true)
    })
  })
)

/** The services behind the commands, on a database that is there. */
export const layerOn = (passwords: PasswordHashing.Parameters) =>
  Layer.mergeAll(Registrations.layer, Users.layer, Roles.layer, OperatorCommands.layer).pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(Tokens.layer),
    Layer.provideMerge(Layer.mergeAll(OpaqueSecrets.layer, PasswordHashing.layerWith(passwords), broadcast)),
    Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
  )

/** The same, beside a running server or without one. */
export const layerWith = (passwords: PasswordHashing.Parameters) =>
  Layer.satisfiesServicesType<never>()(
    layerOn(passwords).pipe(
      Layer.provideMerge(database),
      Layer.provideMerge(Environment.layer),
      Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
    )
  )
export const layer = layerWith(PasswordHashing.recommended)
