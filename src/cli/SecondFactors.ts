import { Effect, Layer } from "effect"
import * as CatalogFiles from "../layers/CatalogFiles.ts"
import * as Environment from "../layers/Environment.ts"
import * as Mail from "../layers/Mail.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import type { AccountId } from "../services/database/Ids.ts"
import { Emails } from "../services/emails/Emails.ts"
import { TwoFactorReset } from "../services/identity/TwoFactorReset.ts"
import * as Operator from "./Operator.ts"

/** Services of the reset; queued e-mails are sent before the command ends. */
export const layer = TwoFactorReset.layer.pipe(
  Layer.provide([Emails.layer.pipe(Layer.provide(Mail.layer)), CatalogFiles.layer]),
  Layer.provideMerge(Environment.serverConfig),
  Layer.provideMerge(Operator.layer)
)

/** Disables a user's second factor. The user is notified by e-mail. */
export const take = Effect.fnUntraced(function*(name: string, accountId: AccountId) {
  yield* Effect.mapError(
    (yield* TwoFactorReset).disable(accountId, undefined),
    () => new OperatorError({ message: `${name} has no two-factor sign-in` })
  )
})
