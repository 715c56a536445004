import { Schema } from "effect"
import { Id, Url } from "./Common.ts"

export const MediaAttachment = Schema.Struct({
  id: Id,
  type: Schema.Literals(["image", "gifv", "video", "audio", "unknown"]),
  /** Null while the file is being processed. */
  url: Schema.NullOr(Url),
  preview_url: Schema.NullOr(Url),
  remote_url: Schema.NullOr(Url),
  preview_remote_url: Schema.NullOr(Url),
  text_url: Schema.NullOr(Url),
  meta: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  description: Schema.NullOr(Schema.String),
  blurhash: Schema.NullOr(Schema.String)
}).annotate({ identifier: "MediaAttachment" })
export type MediaAttachment = typeof MediaAttachment.Type
