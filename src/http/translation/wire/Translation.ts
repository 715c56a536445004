import { Schema } from "effect"
import { Html, Id } from "../../wire/Common.ts"
import { Text } from "../../wire/Params.ts"
import { texts } from "../../wire/Status.ts"

export const Translation = Schema.Struct({
  detected_source_language: Schema.String,
  language: Schema.String,
  provider: Schema.String,
  content: Html,
  ...texts,
  poll: Schema.NullOr(
    Schema.Struct({ id: Id, options: Schema.Array(Schema.Struct({ title: Schema.String })) })
  ),
  media_attachments: Schema.Array(Schema.Struct({ id: Id, description: Schema.String }))
}).annotate({ identifier: "Translation" })
export type Translation = typeof Translation.Type

/** Target language in the query. */
export const TranslationQuery = Schema.Struct({ lang: Schema.optionalKey(Schema.String) })

/** `POST /api/v1/statuses/:id/translate`; the default language is the reader's own. */
export const TranslationRequest = Schema.Struct({ lang: Schema.optionalKey(Schema.NullOr(Text)) })
