import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer, PubSub } from "effect"
import * as RestoreMark from "../layers/backup/RestoreMark.ts"
import * as Database from "../layers/Database.ts"
import { EmbeddedPostgres } from "../layers/EmbeddedPostgres.ts"
import { Environment } from "../layers/Environment.ts"
import * as ForgottenDatabase from "../layers/ForgottenDatabase.ts"
import * as PasswordHashing from "../layers/PasswordHashing.ts"
import { notify } from "../layers/PostgresChannel.ts"
import { Broadcast, type BroadcastMessage } from "../services/events/Broadcast.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Sessions } from "../services/identity/Sessions.ts"
import { Users } from "../services/identity/Users.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"
import { Tokens } from "../services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../services/secrets/OpaqueSecrets.ts"
import { Roles } from "../services/staff/Roles.ts"

/** Maximum Postgres connections of a command. */
const connectionsMax = 3

/** Database of `DATABASE_URL`, or the embedded one, which is started for the command unless a server runs it. */
const database = Layer.unwrap(Effect.gen(function*() {
  const { databaseUrl, dataDir } = yield* Environment
  yield* RestoreMark.refuse(dataDir)
  if (databaseUrl === undefined) {
    return Database.layerEmbedded(connectionsMax).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir, adopt: false })))
  }
  yield* ForgottenDatabase.refuse(databaseUrl, dataDir)
  return Database.layerAt({ url: databaseUrl, maxConnections: connectionsMax })
}))

/** Broadcasts to running servers by NOTIFY; receives nothing. */
const broadcast = Layer.effect(
  Broadcast,
  Effect.gen(function*() {
    const context = yield* Effect.context<PgClient.PgClient>()
    const silence = yield* PubSub.unbounded<BroadcastMessage>()
    return Broadcast.of({
      publish: (message) => notify(message).pipe(Effect.orDie, Effect.provide(context)),
      subscribe: PubSub.subscribe(silence),
      onMessage: () => Effect.void,
      connected: Effect.succeed(true)
    })
  })
)

/** Services of the commands, on an existing database connection. */
export const layerOn = (passwords: PasswordHashing.Parameters) =>
  Layer.mergeAll(Registrations.layer, Users.layer, Roles.layer, OperatorCommands.layer).pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(Tokens.layer),
    Layer.provideMerge(Layer.mergeAll(OpaqueSecrets.layer, PasswordHashing.layerWith(passwords), broadcast)),
    Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
  )

/** Services of the commands with their own database connection, with or without a running server. */
export const layerWith = (passwords: PasswordHashing.Parameters) =>
  Layer.satisfiesServicesType<never>()(
    layerOn(passwords).pipe(
      Layer.provideMerge(database),
      Layer.provideMerge(Environment.layer),
      Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
    )
  )
export const layer = layerWith(PasswordHashing.recommended)
