import { Effect, Layer, Stream } from "effect"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Filters } from "../../../src/services/filters/Filters.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { ListExports } from "../../../src/services/transfers/ListExports.ts"
import type { ListKind } from "../../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"

/* Imports and exports of lists on a running server, without its pages. */

/** Import services with the address of the server under test. */
const services = Layer.unwrap(Effect.map(TestServer, ({ baseUrl }) => {
  const host = new URL(baseUrl).host
  return Layer.merge(FileImports.layer, ListExports.layer).pipe(
    Layer.provide(Filters.layer.pipe(Layer.provide(Broadcast.layerMemory))),
    Layer.provide(Layer.succeed(ServerConfig, configurationOf(host, { publicUrl: baseUrl })))
  )
}))

/** A server with these services. */
export const importServerWith = (variables: Record<string, string>) =>
  services.pipe(Layer.provideMerge(TestServer.layer(variables)))
export const importServer = importServerWith({})

/** Imports a text and returns the transfer when it has ended. */
export const imported = Effect.fnUntraced(function*(
  { accountId }: Person,
  kind: ListKind,
  text: string,
  options: { readonly overwrite?: boolean; readonly follow?: boolean } = {}
) {
  const imports = yield* FileImports
  const transfers = yield* Transfers
  const transfer = yield* imports.begin(accountId, {
    bytes: new TextEncoder().encode(text),
    fileName: `${kind}.csv`,
    kind,
    overwrite: false,
    follow: false,
    ...options
  }, true)
  return yield* eventually(
    transfers.find(accountId, transfer.id),
    ({ state }) => state !== "scheduled" && state !== "in_progress"
  )
})

/** Returns an account's entries of a kind, as lines of its exported file. */
export const exported = (browserless: Person, kind: ListKind) =>
  Effect.gen(function*() {
    const exports = yield* ListExports
    return (yield* Stream.mkString(exports.file(browserless.accountId, kind))).trim().split("\r\n")
      .filter((line) => line !== "" && !line.startsWith("Account address")).toSorted()
  })
