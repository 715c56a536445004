import { Context, type Effect, Schema } from "effect"

/** An e-mail to one person; `text` is always there, `html` beside it where a mail program may show more. */
export interface Email {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  /** Heads beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An e-mail could not be handed over after several tries. */
export class EmailNotSent extends Schema.TaggedError<EmailNotSent>()("EmailNotSent", { message: Schema.String }) {}

/** Hands e-mails to a mail server; the sender's address is the server's `MAIL_FROM`. */
export class Mailer extends Context.Service<Mailer, {
  readonly send: (email: Email) => Effect.Effect<void, EmailNotSent>
}>()("murmuration/services/emails/Mailer") {}
