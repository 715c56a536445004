import { Console, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Catalogs from "../layers/Catalogs.ts"
import * as Environment from "../layers/Environment.ts"
import * as Mail from "../layers/Mail.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import * as EmailTexts from "../services/emails/EmailTexts.ts"
import { Mailer } from "../services/emails/Mailer.ts"
import { Approvals, type Pending, pendingMax } from "../services/identity/Approvals.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { UserCatalogs } from "../services/instance/UserCatalogs.ts"
import { traced } from "../services/runtime/Traced.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"

const services = Layer.mergeAll(Approvals.layer, Mail.layer, UserCatalogs.layer.pipe(Layer.provide(Catalogs.layer)))
  .pipe(
    Layer.provideMerge(Environment.serverConfig),
    Layer.provideMerge(Operator.layer)
  )

const line = ({ confirmed, createdAt, email, locale, reason, username }: Pending) =>
  [
    username,
    email,
    confirmed ? "confirmed" : "not confirmed",
    createdAt.toISOString().slice(0, 16).replace("T", " "),
    locale ?? "-",
    reason?.replace(/\s+/g, " ") ?? "-"
  ].join("\t")

export const list = Command.make(
  "list",
  {
    pending: Flag.Boolean("pending").pipe(
      Flag.withDescription("Sign-ups that wait for approval, oldest first"),
      Flag.withDefault(false)
    )
  },
  traced("account list")(function*(given) {
    if (!given.pending) {
      return yield* new OperatorError({ message: "Pass --pending to list sign-ups that wait for approval" })
    }
    const waiting = yield* (yield* Approvals).pending
    yield* Console.log(waiting.length === 0 ? "No sign-ups are waiting." : waiting.map(line).join("\n"))
    if (waiting.length === pendingMax) yield* Console.log(`Only the first ${pendingMax} are listed; there may be more.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(Command.withDescription("Lists sign-ups that wait: name, address, state, time, language, reason"))

/**
 * E-mails the decision to the member and to all staff who may decide. A mail that cannot be sent does not undo the
 * decision.
 */
const tell = Effect.fnUntraced(function*(one: Pending, decision: "approved" | "rejected") {
  const { localDomain: server, publicUrl } = yield* ServerConfig
  const mailer = yield* Mailer
  const catalogs = yield* UserCatalogs
  const staff = yield* (yield* Approvals).staff
  const { username } = one
  const member = { to: one.email, server, username }
  const written = [
    {
      locale: one.locale,
      text: decision === "approved" ? EmailTexts.approved({ ...member, publicUrl }) : EmailTexts.rejected(member)
    },
    ...staff.map(({ email: to, locale }) => ({ locale, text: EmailTexts.decided({ to, server, username, decision }) }))
  ]
  const emails = yield* Effect.forEach(
    written,
    ({ locale, text }) => Effect.map(catalogs.of({ locale: locale ?? undefined }), text)
  )
  yield* Effect.forEach(emails, (email) =>
    mailer.send(email).pipe(
      Effect.catch(({ message }) => Console.log(`The e-mail to ${email.to} was not sent: ${message}`))
    ))
})

const decision = (word: "approve" | "reject", done: "approved" | "rejected", description: string) =>
  Command.make(
    word,
    { name: Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain")) },
    traced(`account ${word}`)(function*(given) {
      const { accountId } = yield* findUser(given.name)
      const one = yield* asOperatorError((yield* Approvals)[word](accountId)).pipe(
        Effect.mapError(() => new OperatorError({ message: `${given.name} is not waiting for approval` }))
      )
      yield* tell(one, done)
      yield* Console.log(`Account ${given.name} was ${done}.`)
    }, (effect) => Effect.provide(effect, services))
  ).pipe(Command.withDescription(description))

export const approve = decision(
  "approve",
  "approved",
  "Approves a sign-up and notifies the user by e-mail"
)
export const reject = decision(
  "reject",
  "rejected",
  "Rejects a sign-up and notifies the user by e-mail; the name becomes available again"
)
