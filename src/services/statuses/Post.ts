import { Effect, Schema, Struct } from "effect"
import { AccountIdFromString, AppIdFromString, MediaIdFromString, StatusIdFromString } from "../database/Ids.ts"
import { persisted } from "../database/Persisted.ts"
import { QuotePolicy } from "./InteractionPolicy.ts"
import { ContentType } from "./StoredStatus.ts"
import { Visibility } from "./Visibility.ts"
import { Written } from "./Written.ts"

/** A field that is null by default, also in posts stored before the field existed. */
interface Sayable extends Struct.Lambda {
  <S extends Schema.Constraint>(self: S): Schema.withDecodingDefaultKey<Schema.NullOr<S>>
  readonly "~lambda.out": this["~lambda.in"] extends Schema.Constraint
    ? Schema.withDecodingDefaultKey<Schema.NullOr<this["~lambda.in"]>>
    : never
}
const nullableField = Struct.lambda<Sayable>((self) =>
  Schema.NullOr(self).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
)

/** Author's input for a status besides its text; null falls back to the author's settings. */
export const PostInput = Written.mapFields(Struct.map(nullableField))
export type PostInput = typeof PostInput.Type

/** Input without any field. */
const emptyInput: PostInput = Schema.decodeSync(PostInput)({})

/** Builds the input from the given fields. */
export const inputOf = (
  given: { readonly [Field in keyof Written]?: Written[Field] | null | undefined }
): PostInput => {
  const known: Partial<PostInput> = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...emptyInput, ...known }
}

/** Returns the input's fields, with `standing` for those that are null. */
export const withDefaults = (input: PostInput, standing: Written): Written => {
  const given: Partial<Written> = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
  return { ...standing, ...given }
}

/** A poll as its author writes it; `seconds` is its duration. */
export const NewPoll = Schema.Struct({
  options: Schema.Array(Schema.String),
  seconds: Schema.Int,
  multiple: Schema.Boolean,
  hideTotals: Schema.Boolean
})
export type NewPoll = typeof NewPoll.Type

/** A status as its author sends it; stored as a row if scheduled. */
export const Post = Schema.Struct({
  text: Schema.String,
  /** Markup of the text. */
  contentType: nullableField(ContentType),
  ...PostInput.fields,
  visibility: nullableField(Visibility),
  /** Visible to this server only. */
  localOnly: nullableField(Schema.Boolean),
  inReplyToId: nullableField(StatusIdFromString),
  applicationId: nullableField(AppIdFromString),
  /** Accounts that the post may mention, if the client restricts them. */
  allowedMentions: nullableField(Schema.Array(AccountIdFromString)),
  /** Files to attach, in display order. */
  mediaIds: nullableField(Schema.Array(MediaIdFromString)),
  poll: nullableField(NewPoll),
  quotedStatusId: nullableField(StatusIdFromString),
  /** Quote policy. */
  quoteApprovalPolicy: nullableField(QuotePolicy),
  /** Policy words for replies, favourites and boosts (`InteractionPolicy.ts`); null or empty allows everyone. */
  interactionPolicy: nullableField(Schema.Array(Schema.String)),
  /** Further texts of a draft, each of which becomes a reply to the previous post; absent in other posts. */
  continued: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Post = typeof Post.Type

/** `scheduled_statuses.params` */
export const PersistedPost = persisted(Post, 1)
