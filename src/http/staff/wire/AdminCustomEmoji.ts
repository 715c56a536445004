import { Schema } from "effect"
import { Id, Timestamp, Url } from "../../wire/Common.ts"
import { FileTicket } from "../../wire/MediaRequests.ts"
import { pageFields, pageKeys } from "../../wire/PageQuery.ts"
import { Flag, Text } from "../../wire/Params.ts"

/** An emoji for staff; `domain` is null for this server's own. */
export const AdminCustomEmoji = Schema.Struct({
  id: Id,
  shortcode: Schema.String,
  domain: Schema.NullOr(Schema.String),
  url: Url,
  static_url: Url,
  category: Schema.NullOr(Schema.String),
  visible_in_picker: Schema.Boolean,
  disabled: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "Admin::CustomEmoji" })
export type AdminCustomEmoji = typeof AdminCustomEmoji.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)
const editableFields = { category: text, visibleInPicker: flag, unlisted: flag }

/** `POST /api/v1/admin/custom_emojis` */
export const NewCustomEmoji = Schema.Struct({
  shortcode: text,
  image: Schema.optionalKey(FileTicket),
  ...editableFields
}).pipe(
  Schema.encodeKeys({ visibleInPicker: "visible_in_picker" })
)

/** `PATCH /api/v1/admin/custom_emojis/:id`; absent fields are unchanged. */
export const CustomEmojiChange = Schema.Struct({ ...editableFields, enabled: flag, disabled: flag }).pipe(
  Schema.encodeKeys({ visibleInPicker: "visible_in_picker" })
)

/** `POST /api/v1/admin/custom_emojis/:id/copy` */
export const CustomEmojiCopy = Schema.Struct({ shortcode: text, category: text })

const queryText = Schema.optionalKey(Schema.String)

/** `GET /api/v1/admin/custom_emojis`; `remote` lists those of other servers, `domain` those of one. */
export const CustomEmojisQuery = Schema.Struct({ ...pageFields, remote: flag, domain: queryText, shortcode: queryText })
  .pipe(Schema.encodeKeys(pageKeys))

/** Parameters that links to further pages keep. */
export const customEmojisFilters = ["remote", "domain", "shortcode"]
