import { Context, type Effect, Schema } from "effect"

/** A letter to one person; `text` is always there, `html` beside it where a mail program may show more. */
export interface Letter {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** A letter could not be handed over after several tries. */
export class LetterNotSent extends Schema.TaggedError<LetterNotSent>()("LetterNotSent", { message: Schema.String }) {}

/** Hands letters over to whatever delivers them; the sender's address is the server's `MAIL_FROM`. */
export class Mailer extends Context.Service<Mailer, {
  readonly send: (letter: Letter) => Effect.Effect<void, LetterNotSent>
}>()("murmuration/services/letters/Mailer") {}
