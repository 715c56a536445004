import { Schema } from "effect"
import { Url } from "../../wire/Common.ts"
import { FileTicket } from "../../wire/MediaRequests.ts"
import { Text } from "../../wire/Params.ts"

/** An instance picture by kind; `url` is null for the server's default. */
export const AdminInstanceUpload = Schema.Struct({
  kind: Schema.Literals(["thumbnail", "app_icon", "favicon"]),
  url: Schema.NullOr(Url),
  /** URLs by size: `@1x`, or the edge of an icon in pixels. */
  versions: Schema.Record(Schema.String, Url),
  blurhash: Schema.NullOr(Schema.String),
  description: Schema.String
}).annotate({ identifier: "Admin::InstanceUpload" })
export type AdminInstanceUpload = typeof AdminInstanceUpload.Type

/** `PUT /api/v1/admin/site_uploads/:kind` */
export const NewInstanceUpload = Schema.Struct({
  file: Schema.optionalKey(FileTicket),
  description: Schema.optionalKey(Schema.NullOr(Text))
})

/** Kind in the path; an unknown one is not found. */
export const InstanceUploadPath = { kind: Schema.String }
