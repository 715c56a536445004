import { Schema } from "effect"
import type { SqlClient } from "effect/sql"

export const MediaType = Schema.Literals(["image", "gifv", "video", "audio", "unknown"])
export type MediaType = typeof MediaType.Type

/** Size in pixels, and derived values. */
const Size = Schema.Struct({
  width: Schema.Number,
  height: Schema.Number,
  /** `640x480` */
  size: Schema.String,
  aspect: Schema.Number
})
export type Size = typeof Size.Type

/** Duration in seconds, bitrate in bits per second, frame rate as a fraction. */
const Playing = Schema.Struct({
  width: Schema.optionalKey(Schema.Number),
  height: Schema.optionalKey(Schema.Number),
  frameRate: Schema.optionalKey(Schema.String),
  duration: Schema.Number,
  bitrate: Schema.Number
})
export type Playing = typeof Playing.Type

/** Three colours of an image, each `#rrggbb`, for the player around it (entities.md, `colors`). */
const Colors = Schema.Struct({ background: Schema.String, foreground: Schema.String, accent: Schema.String })
export type Colors = typeof Colors.Type

const Meta = Schema.Struct({
  original: Schema.optionalKey(Schema.Union([Size, Playing])),
  small: Schema.optionalKey(Size),
  /** Colours of the preview of audio or video. */
  colors: Schema.optionalKey(Colors)
})
export type Meta = typeof Meta.Type

export const sizeOf = (width: number, height: number): Size => ({
  width,
  height,
  size: `${width}x${height}`,
  aspect: width / height
})

/** A file as clients see it. `fileName` is null until it is ready. */
export const MediaRecord = Schema.Struct({
  /** Decimal string. */
  id: Schema.String,
  type: MediaType,
  state: Schema.Literals(["queued", "processing", "ready", "failed"]),
  description: Schema.NullOr(Schema.String),
  focusX: Schema.NullOr(Schema.Number),
  focusY: Schema.NullOr(Schema.Number),
  meta: Meta,
  blurhash: Schema.NullOr(Schema.String),
  fileName: Schema.NullOr(Schema.String),
  previewName: Schema.NullOr(Schema.String),
  /** URL of a remote file, and the key of its copy here. */
  remoteUrl: Schema.NullOr(Schema.String),
  remoteKey: Schema.NullOr(Schema.String),
  previewRemoteUrl: Schema.NullOr(Schema.String),
  previewRemoteKey: Schema.NullOr(Schema.String)
})
export type MediaRecord = typeof MediaRecord.Type

/** SQL expression: the record of a row `m` of media_attachments, as JSON. */
export const recordOf = (sql: SqlClient.SqlClient) =>
  sql.literal(`json_build_object('id', m.id::text, 'type', m.type, 'state', m.state, 'description', m.description,
    'focusX', m.focus_x, 'focusY', m.focus_y, 'meta', m.meta, 'blurhash', m.blurhash, 'fileName', m.file_name,
    'previewName', m.preview_name, 'remoteUrl', m.remote_url, 'remoteKey', remote_key(m.remote_url),
    'previewRemoteUrl', m.preview_remote_url, 'previewRemoteKey', remote_key(m.preview_remote_url))`)

/**
 * SQL expression: the records of an array of ids in its order, as a JSON list; `ids` is a column. Omits files of
 * servers whose media is rejected.
 */
export const recordsOf = (sql: SqlClient.SqlClient, ids: string) =>
  sql`CASE WHEN ${sql.literal(ids)} = '{}' THEN '[]'::json ELSE coalesce((SELECT json_agg(${recordOf(sql)} ORDER BY o.n)
    FROM unnest(${sql.literal(ids)}) WITH ORDINALITY o (id, n) JOIN media_attachments m ON m.id = o.id
      AND (m.remote_url IS NULL OR NOT (SELECT media_rejected FROM accounts WHERE accounts.id = m.account_id))), '[]') END`
