import { Schema } from "effect"
import { MediaIdFromString } from "../../services/database/Ids.ts"
import { Text } from "./Params.ts"

/** Placeholder of a file among a request's parameters (`body/UploadedFiles.ts`); an empty text means no file. */
export const FileTicket = Schema.Union([
  Schema.Struct({ ticket: Schema.String }),
  Schema.Literal(""),
  Schema.Null
]).annotate({ description: "A file: a part of a multipart body, or a data: URL in base64" })
export type FileTicket = typeof FileTicket.Type

const words = {
  thumbnail: Schema.optionalKey(FileTicket),
  description: Schema.optionalKey(Schema.NullOr(Text)),
  /** `x,y`, each from -1 to 1 (S-071). */
  focus: Schema.optionalKey(Schema.NullOr(Text))
}

/** `POST /api/v2/media` */
export const NewMediaAttachment = Schema.Struct({ file: Schema.optionalKey(FileTicket), ...words })
export type NewMediaAttachment = typeof NewMediaAttachment.Type

/** `PUT /api/v1/media/:id` */
export const MediaChange = Schema.Struct(words)
export type MediaChange = typeof MediaChange.Type

export const MediaIdPath = { id: MediaIdFromString }
