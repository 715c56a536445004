import type { SqlClient } from "effect/sql"

export type MediaType = "image" | "gifv" | "video" | "audio" | "unknown"

/** Pixels, and what follows from them. */
export interface Size {
  readonly width: number
  readonly height: number
  /** `640x480` */
  readonly size: string
  readonly aspect: number
}

/** Duration in seconds, bitrate in bits a second, frame rate as a fraction. */
export interface Playing {
  readonly width?: number
  readonly height?: number
  readonly frameRate?: string
  readonly duration: number
  readonly bitrate: number
}

/** Three colours of a picture, each `#rrggbb`, for what a player shows around it (entities.md, `colors`). */
export interface Colors {
  readonly background: string
  readonly foreground: string
  readonly accent: string
}

export interface Meta {
  readonly original?: Size | Playing
  readonly small?: Size
  /** Of the picture that is shown with a sound. */
  readonly colors?: Colors
}

export const sizeOf = (width: number, height: number): Size => ({
  width,
  height,
  size: `${width}x${height}`,
  aspect: width / height
})

/** A file as clients get to see it. `fileName` is null until it is ready. */
export interface MediaRecord {
  /** A decimal string. */
  readonly id: string
  readonly type: MediaType
  readonly state: "queued" | "processing" | "ready" | "failed"
  readonly description: string | null
  readonly focusX: number | null
  readonly focusY: number | null
  readonly meta: Meta
  readonly blurhash: string | null
  readonly fileName: string | null
  readonly previewName: string | null
  /** Where a remote account's file is, and the key under which it is shown here. */
  readonly remoteUrl: string | null
  readonly remoteKey: string | null
  readonly previewRemoteUrl: string | null
  readonly previewRemoteKey: string | null
}

/** The record of row `m` of media_attachments as one JSON value. */
export const recordOf = (sql: SqlClient.SqlClient) =>
  sql.literal(`json_build_object('id', m.id::text, 'type', m.type, 'state', m.state, 'description', m.description,
    'focusX', m.focus_x, 'focusY', m.focus_y, 'meta', m.meta, 'blurhash', m.blurhash, 'fileName', m.file_name,
    'previewName', m.preview_name, 'remoteUrl', m.remote_url, 'remoteKey', remote_key(m.remote_url),
    'previewRemoteUrl', m.preview_remote_url, 'previewRemoteKey', remote_key(m.preview_remote_url))`)

/** The records that an array of ids names, in its order, as a JSON list; `ids` is a column. Files of rejected servers are left out. */
export const recordsOf = (sql: SqlClient.SqlClient, ids: string) =>
  sql`CASE WHEN ${sql.literal(ids)} = '{}' THEN '[]'::json ELSE coalesce((SELECT json_agg(${recordOf(sql)} ORDER BY o.n)
    FROM unnest(${sql.literal(ids)}) WITH ORDINALITY o (id, n) JOIN media_attachments m ON m.id = o.id
      AND (m.remote_url IS NULL OR NOT (SELECT media_rejected FROM accounts WHERE accounts.id = m.account_id))), '[]') END`
