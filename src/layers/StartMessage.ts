import { Console, Effect, Schema } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../services/database/Rows.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"

const usageRows = rowsOf(Schema.Struct({ inUse: Schema.Boolean }))

/** Prints the server's address, disabled features and the next step, for the operator. */
export const startMessage = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const { federated, publicUrl, registrations } = yield* ServerConfig
  const local = address._tag === "UnixPathAddress" ? address.path : `http://${NetAddress.formatInet(address)}`
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(usageRows(sql`SELECT EXISTS (SELECT FROM users) AS in_use`))
  const lines = [
    `Murmuration is at ${publicUrl} (listening on ${local})`,
    ...(federated ? [] : ["It runs unfederated, because PUBLIC_URL is not https: other servers cannot see it."]),
    ...(registrations === "closed" ? ["Sign-ups are closed (REGISTRATIONS)."] : []),
    row?.inUse === true
      ? "Sign in with a Mastodon client, or make accounts with: npm run cli -- account create NAME --email ADDRESS --confirmed"
      : "Create the first account:  npm run cli -- account create NAME --email YOU@EXAMPLE.ORG --role owner --confirmed"
  ]
  yield* Console.log(lines.join("\n"))
})
