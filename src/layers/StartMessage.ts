import { Console, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { OwnerLinks, ownerSecretField, ownerSetupPath } from "../services/identity/OwnerLinks.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { OpaqueSecrets } from "../services/secrets/OpaqueSecrets.ts"
import { commandName } from "./CommandName.ts"
import { Environment } from "./Environment.ts"
import { jsonLine } from "./telemetry/LogFormats.ts"
import { recordOfText } from "./telemetry/LogRecords.ts"

/** Prints the server's address, disabled features and the next step, for the operator; in the format of the log. */
export const startMessage = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const { federated, publicUrl, registrations } = yield* ServerConfig
  const local = address._tag === "UnixPathAddress" ? address.path : `http://${NetAddress.formatInet(address)}`
  const secret = yield* (yield* OwnerLinks).issue
  const lines = [
    `Murmuration is at ${publicUrl} (listening on ${local})`,
    ...(federated ? [] : ["It runs unfederated, because PUBLIC_URL is not https: other servers cannot see it."]),
    ...(registrations === "closed" ? ["Sign-ups are closed (REGISTRATIONS)."] : []),
    ...(secret === undefined
      ? [
        `Sign in there or with a Mastodon client, or make accounts with: ${commandName} account create NAME --email ADDRESS --confirmed`
      ]
      : [
        "Create the owner's account: open this address in a browser. It works once, for one hour.",
        `  ${publicUrl}${ownerSetupPath}?${new URLSearchParams([[ownerSecretField, Redacted.value(secret)]])}`,
        `Or:  ${commandName} account create NAME --email YOU@EXAMPLE.ORG --role owner --confirmed`
      ])
  ]
  const text = lines.join("\n")
  const { logFormat } = yield* Environment
  yield* Console.log(logFormat === "json" ? jsonLine(yield* recordOfText(text)) : text)
}).pipe(Effect.provide(OwnerLinks.layer.pipe(Layer.provide(OpaqueSecrets.layer))))
