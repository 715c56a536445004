import { Effect, Schema, Struct } from "effect"
import { AccountIdFromString, AppIdFromString, MediaIdFromString, StatusIdFromString } from "../Ids.ts"
import { persisted } from "../Persisted.ts"
import { QuotePolicy } from "./InteractionPolicy.ts"
import { ContentType } from "./StoredStatus.ts"
import { Visibility } from "./Visibility.ts"
import { Written } from "./Written.ts"

/** A field that is null where nothing was said, and where it is younger than what was kept. */
interface Sayable extends Struct.Lambda {
  <S extends Schema.Constraint>(self: S): Schema.withDecodingDefaultKey<Schema.NullOr<S>>
  readonly "~lambda.out": this["~lambda.in"] extends Schema.Constraint
    ? Schema.withDecodingDefaultKey<Schema.NullOr<this["~lambda.in"]>>
    : never
}
const sayable = Struct.lambda<Sayable>((self) =>
  Schema.NullOr(self).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
)

/** What an author said of a status beside its text; null where that falls back on the author's settings. */
export const Said = Written.mapFields(Struct.map(sayable))
export type Said = typeof Said.Type

/** Nothing of it. */
const unsaid: Said = Schema.decodeSync(Said)({})

/** What was given of it. */
export const saidBy = (given: { readonly [Field in keyof Written]?: Written[Field] | null | undefined }): Said => {
  const known: Partial<Said> = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...unsaid, ...known }
}

/** What was said, and what stands where nothing was. */
export const saidOr = (said: Said, standing: Written): Written => {
  const given: Partial<Written> = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null))
  return { ...standing, ...given }
}

/** A poll as its author writes it. `seconds` is how long it takes votes. */
export const NewPoll = Schema.Struct({
  options: Schema.Array(Schema.String),
  seconds: Schema.Int,
  multiple: Schema.Boolean,
  hideTotals: Schema.Boolean
})
export type NewPoll = typeof NewPoll.Type

/** A status as its author sends it; it may wait for its time as a row. */
export const Post = Schema.Struct({
  text: Schema.String,
  /** How the text is written. */
  contentType: sayable(ContentType),
  ...Said.fields,
  visibility: sayable(Visibility),
  /** Only for people of this server. */
  localOnly: sayable(Schema.Boolean),
  inReplyToId: sayable(StatusIdFromString),
  applicationId: sayable(AppIdFromString),
  /** Accounts that the post may mention, where the client checks that. */
  allowedMentions: sayable(Schema.Array(AccountIdFromString)),
  /** Files to attach, in the order in which they are shown. */
  mediaIds: sayable(Schema.Array(MediaIdFromString)),
  poll: sayable(NewPoll),
  quotedStatusId: sayable(StatusIdFromString),
  /** Who may quote it. */
  quoteApprovalPolicy: sayable(QuotePolicy),
  /** Who may reply to it, favourite and reblog it, in words of `InteractionPolicy.ts`; none is everybody. */
  interactionPolicy: sayable(Schema.Array(Schema.String))
})
export type Post = typeof Post.Type

/** `scheduled_statuses.params` */
export const PersistedPost = persisted(Post, 1)
