import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted } from "effect"
import { Mailer } from "../../src/services/emails/Mailer.ts"
import { Credentials } from "../../src/services/identity/Credentials.ts"
import { Secrets } from "../../src/services/secrets/Secrets.ts"

/** Sign-in services, which no simulation calls. */
export const unusedServices = Layer.mergeAll(
  Layer.succeed(Credentials, {
    hash: () => Effect.die("no passwords"),
    verify: () => Effect.die("no passwords"),
    isForeign: () => false
  }),
  Layer.succeed(Secrets, {
    signingKey: Redacted.make(""),
    vapid: { publicKey: "", privateKey: Redacted.make("") }
  }),
  Layer.succeed(Mailer, { send: () => Effect.die("no e-mails") }),
  NodeCrypto.layer
)
