import { Context, type Effect, Schema } from "effect"

/** An e-mail to one recipient: `text`, and an optional `html` alternative. */
export interface Email {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An e-mail could not be sent after several tries. */
export class EmailNotSent extends Schema.TaggedError<EmailNotSent>()("EmailNotSent", { message: Schema.String }) {}

/** Sends e-mails through a mail server; the sender is the server's `MAIL_FROM`. */
export class Mailer extends Context.Service<Mailer, {
  readonly send: (email: Email) => Effect.Effect<void, EmailNotSent>
}>()("murmuration/services/emails/Mailer") {}
