import { Clock, Effect, FileSystem, Layer, Path, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Transporter } from "nodemailer"
import { type Email, EmailNotSent, Mailer } from "../services/emails/Mailer.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { traced } from "../services/runtime/Traced.ts"
import { Environment } from "./Environment.ts"

/** Timeout of the mail server, in milliseconds; short, because a user waits. */
const timeout = 10_000
/** Maximum connections to the mail server. */
const connectionsMax = 3
const tries = Schedule.max([Schedule.exponential("500 millis"), Schedule.recurs(2)])

/** Loaded on first use: most commands and nodes send no mail. */
const nodemailer = Effect.promise(() => import("nodemailer"))

const deliver = (transport: Transporter, from: string, email: Email) =>
  Effect.tryPromise({
    try: () =>
      transport.sendMail({ from, ...email, headers: { "Auto-Submitted": "auto-generated", ...email.headers } }),
    catch: (error) => new EmailNotSent({ message: error instanceof Error ? error.message : String(error) })
  })

/** Returns an e-mail as it is sent: envelope and bytes. */
export const composed = Effect.fnUntraced(function*(from: string, email: Email) {
  const { createTransport } = yield* nodemailer
  const { envelope, message } = yield* deliver(createTransport({ streamTransport: true, buffer: true }), from, email)
  return { envelope, message }
})

/** Sends through the mail server of `SMTP_URL`. */
const smtp = Effect.fnUntraced(function*(url: Redacted.Redacted<string>) {
  const { mailFrom } = yield* ServerConfig
  const transport = yield* Effect.acquireRelease(
    Effect.map(nodemailer, ({ createTransport }) =>
      createTransport({
        url: Redacted.value(url),
        pool: true,
        maxConnections: connectionsMax,
        connectionTimeout: timeout,
        greetingTimeout: timeout,
        socketTimeout: timeout
      })),
    (transport) => Effect.sync(() => transport.close())
  )
  return Mailer.of({
    send: traced("Mailer.send")((email) => Effect.asVoid(Effect.retry(deliver(transport, mailFrom, email), tries)))
  })
})

/** Writes e-mails into `DATA_DIR/mail` as they would be sent, for a server without a mail server. */
const files = Effect.fnUntraced(function*(dataDir: string) {
  const { mailFrom } = yield* ServerConfig
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const random = yield* SecureRandom.SecureRandom
  const folder = path.join(dataDir, "mail")
  return Mailer.of({
    send: traced("Mailer.send")(function*(email) {
      const { message } = yield* composed(mailFrom, email)
      const file = path.join(folder, `${yield* Clock.currentTimeMillis}-${yield* random.uuidV4()}.eml`)
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
        Effect.andThen(fs.writeFile(file, message, { mode: 0o600 })),
        Effect.mapError((error) => new EmailNotSent({ message: error.message }))
      )
      yield* Effect.logInfo(`SMTP_URL is not set, so the e-mail "${email.subject}" was written to ${file}`)
    })
  })
})

export const layer = Layer.effect(
  Mailer,
  Effect.gen(function*() {
    const { dataDir, smtpUrl } = yield* Environment
    return smtpUrl === undefined ? yield* files(dataDir) : yield* smtp(smtpUrl)
  })
)
