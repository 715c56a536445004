import { Effect } from "effect"
import { parse } from "../../services/identity/EmailAddresses.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Environment } from "../Environment.ts"
import { composed } from "../Mail.ts"
import { OperatorError } from "../OperatorError.ts"
import * as SmtpSession from "./SmtpSession.ts"

/**
 * Sends a test e-mail to an address through the mail server of `SMTP_URL`, and reports each step. Fails with the step
 * that does not work, and with advice.
 */
export const send = traced("TestEmail.send")(
  function*(to: string, report: (step: SmtpSession.Step) => Effect.Effect<void>) {
    const { server: { localDomain, mailFrom, publicUrl }, smtpUrl } = yield* Environment
    if (smtpUrl === undefined) {
      return yield* new OperatorError({
        message: "SMTP_URL is not set: e-mails are written to DATA_DIR/mail. Set it, for example to " +
          "smtps://user:password@mail.example.org."
      })
    }
    if (parse(to) === undefined) return yield* new OperatorError({ message: `${to} is not an e-mail address` })
    const { envelope, message } = yield* composed(mailFrom, {
      to,
      subject: `Test e-mail from ${localDomain}`,
      text: `The server at ${publicUrl} can send e-mails. Nobody has to do anything.\n`,
      html: `<p>The server at ${publicUrl} can send e-mails. Nobody has to do anything.</p>\n`
    })
    const session = yield* SmtpSession.open(smtpUrl, report)
    const reply = yield* session.send(envelope, message)
    yield* report({ subject: "Message", words: `from ${mailFrom} to ${to}; the server replied: ${reply}` })
  },
  Effect.scoped,
  Effect.catchTag("EmailNotSent", ({ message }) => new OperatorError({ message }))
)
