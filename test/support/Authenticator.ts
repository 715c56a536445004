import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Secret, TOTP } from "otpauth"
import { rowsOf } from "../../src/services/database/Rows.ts"
import { password } from "./SignedIn.ts"
import type * as TestBrowser from "./TestBrowser.ts"

type Browser<R> = ReturnType<typeof TestBrowser.makeWith<R>>

const idRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt }))
const settings = "/settings/two_factor_authentication"

/** Authenticator app for a secret, a second implementation of TOTP. Steps before or after now simulate clock skew. */
export const authenticator = (secret: string) => {
  const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(" ", "")) })
  return { code: (steps = 0) => totp.generate({ timestamp: Date.now() + steps * 30_000 }) }
}

const secretsOn = ({ text }: TestBrowser.Page) =>
  /<code class="secret">([^<]*(?:<br>[^<]*)*)<\/code>/.exec(text)?.[1] ?? ""

/** Switches on two-factor for a signed-in user; returns their app, their backup codes and the page that shows them. */
export const setUp = Effect.fnUntraced(function*<R>(browser: Browser<R>, secret = password) {
  const qr = yield* browser.submit(yield* browser.get(settings), { password: secret })
  const app = authenticator(secretsOn(qr))
  const page = yield* browser.submit(qr, { code: app.code() })
  return { app, qr, page, codes: secretsOn(page).split("<br>") }
})

/** Resets the last used code, so that tests need not wait half a minute for the next. */
export const nextStep = Effect.fnUntraced(function*(username: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* idRows(sql`UPDATE users SET otp_last_step = 0 WHERE account_id = (
    SELECT id FROM accounts WHERE username = ${username} AND domain IS NULL) RETURNING account_id`)
})
