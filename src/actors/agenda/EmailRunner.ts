import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Email, Mailer } from "../../services/emails/Mailer.ts"
import {
  type PromisedEmail,
  PromisedEmails,
  type PromiseKind,
  writtenEmail
} from "../../services/emails/PromisedEmails.ts"
import { NewMembers } from "../../services/identity/NewMembers.ts"
import { NotificationEmails } from "../../services/identity/NotificationEmails.ts"
import { StaffEmails } from "../../services/identity/StaffEmails.ts"
import { AppealEmails } from "../../services/moderation/AppealEmails.ts"
import { WarningEmails } from "../../services/moderation/WarningEmails.ts"
import { briefCause } from "../../services/outbound/BriefCause.ts"
import { continued } from "../../services/runtime/TraceParents.ts"
import { runClaimed } from "./ClaimRounds.ts"

/** Maximum concurrent e-mails of a node. */
const atOnceMax = 3
/** Timeout of one try; the claim lasts longer. */
const tryTimeout = "4 minutes"

type EmailsFor = (promised: PromisedEmail) => Effect.Effect<ReadonlyArray<Email>, SqlError>

const make = Effect.gen(function*() {
  const queue = yield* PromisedEmails
  const mailer = yield* Mailer
  const appeals = yield* AppealEmails
  const members = yield* NewMembers
  const notifications = yield* NotificationEmails
  const staff = yield* StaffEmails
  const warnings = yield* WarningEmails

  /** Writes the e-mails of a promise, in the languages of their recipients. */
  const emailsFor: Record<PromiseKind, EmailsFor> = {
    strike: ({ subjectId }) => warnings.about(subjectId),
    "appeal_filed": ({ subjectId }) => appeals.filed(subjectId),
    "appeal_decided": ({ subjectId }) => appeals.decided(subjectId),
    "sign_up": ({ subjectId }) => staff.aboutSignUp(subjectId),
    "sign_up_decided": ({ details }) => staff.aboutDecision(details),
    welcome: ({ subjectId }) => members.emailTo(subjectId),
    notifications: ({ details, subjectId }) => notifications.emailTo(subjectId, details)
  }

  const send = Effect.fnUntraced(function*(promised: PromisedEmail) {
    const email = writtenEmail(promised)
    if (email !== undefined) yield* mailer.send(email)
    yield* queue.complete(promised)
  })

  const run = (promised: PromisedEmail) =>
    (promised.kind === "email"
      ? send(promised)
      : Effect.flatMap(emailsFor[promised.kind](promised), (emails) => queue.write(promised, emails))).pipe(
        Effect.timeout(tryTimeout),
        continued("PromisedEmails.run", promised.traceParent, { kind: promised.kind, tries: promised.tries }),
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logWarning(`an e-mail of kind ${promised.kind} was not sent and will be retried`, briefCause(cause)),
            queue.retry(promised)
          )
        )
      )

  yield* runClaimed({ workName: "promised e-mails", atOnceMax, claim: queue.claim, run })
})

/** Sends promised e-mails on every node, each claimed by one node at a time, at least once. */
export const layer = Layer.effectDiscard(make).pipe(
  Layer.provide([
    AppealEmails.layer,
    NewMembers.layer,
    NotificationEmails.layer,
    PromisedEmails.layer,
    StaffEmails.layer,
    WarningEmails.layer
  ])
)
