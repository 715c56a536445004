import { Effect, Schema } from "effect"
import type { ServedExtension } from "../../media/FileTypes.ts"
import { sizeOf } from "../../media/MediaRecord.ts"
import type { BucketObject } from "../../media/Storage.ts"
import { StoredFiles } from "../../media/StoredFiles.ts"
import { OldFiles } from "../OldFiles.ts"
import type { Step, TextRow } from "../Step.ts"
import { lacksAccount, listOf, writeRedirects } from "./ColumnSql.ts"
import { emoji } from "./EmojiSteps.ts"

/** Files that are copied at once. */
const filesAtOnce = 4

/** Refusals in a row, after which files are downloaded instead of copied by the storage: it lacks a permission. */
const refusalsMax = 4

/** Types of emoji (limits-and-rates.md section 1). */
const emojiTypes = /\.(?:png|gif|webp)$/i

const extensions: Readonly<Record<string, ServedExtension>> = {
  jpg: "jpg",
  jpeg: "jpg",
  png: "png",
  webp: "webp",
  gif: "gif",
  mp4: "mp4",
  mp3: "mp3"
}

/** Returns Mastodon's path of a file: its id in groups of three digits, of which a rest of one or two is dropped. */
export const placeOf = (folder: string, id: string, style: string, file: string): string =>
  `${folder}/${(id.padStart(id.length <= 9 ? 9 : 12, "0").match(/\d{3}/g) ?? []).join("/")}/${style}/${file}`

const Edges = Schema.Struct({ width: Schema.Finite, height: Schema.Finite })
const Played = Schema.Struct({ duration: Schema.Finite, bitrate: Schema.Finite })
const Point = Schema.Struct({ x: Schema.Finite, y: Schema.Finite })
const FileMeta = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const readMeta = Schema.decodeUnknownEffect(FileMeta)
const isEdges = Schema.is(Edges)
const isPlayed = Schema.is(Played)
const isPoint = Schema.is(Point)
const sizeIn = (value: unknown) =>
  isEdges(value) && value.width > 0 && value.height > 0 ? sizeOf(value.width, value.height) : undefined

/** Returns the sizes, duration and focus that Mastodon knows of a file, in the form that this server stores. */
const metaOf = (text: string | null | undefined) =>
  Effect.map(Effect.orElseSucceed(readMeta(text ?? "{}"), (): { readonly [name: string]: unknown } => ({})), (meta) => {
    const { focus, original, small } = meta
    const edges = sizeIn(original)
    const played = isPlayed(original)
      ? {
        ...(edges && { width: edges.width, height: edges.height }),
        duration: original.duration,
        bitrate: original.bitrate
      }
      : edges
    const preview = sizeIn(small)
    return {
      meta: JSON.stringify({ ...(played && { original: played }), ...(preview && { small: preview }) }),
      x: isPoint(focus) ? String(Math.min(1, Math.max(-1, focus.x))) : null,
      y: isPoint(focus) ? String(Math.min(1, Math.max(-1, focus.y))) : null
    }
  })

/** Returns the pairs of a file's path at Mastodon and its name here, without missing files, as JSON. */
const redirectsOf = (...pairs: ReadonlyArray<readonly [path: string | undefined, name: string | undefined]>) =>
  JSON.stringify(pairs.filter(([path, name]) => path !== undefined && name !== undefined))

const withoutExtension = (file: string) => file.replace(/\.[^.]*$/, "")

/** Files of this server: attachments of local posts, avatars and headers of local accounts, and custom emoji. */
export const make = Effect.gen(function*() {
  const files = yield* StoredFiles
  const old = yield* OldFiles
  /** Refusals of the storage to copy an object, since the last one that it copied. */
  let refusals = 0

  /** Lets the storage copy an object; undefined if the file must be downloaded. A busy storage does not count as a refusal. */
  const copiedObject = Effect.fnUntraced(
    function*(extension: ServedExtension, object: BucketObject, bytes: number) {
      if (refusals >= refusalsMax) return undefined
      const copied = yield* files.keepObject(extension, object, bytes)
      refusals = copied === undefined ? refusals + 1 : 0
      if (refusals === refusalsMax) {
        yield* Effect.logWarning("the storage refuses to copy objects, so all further files are downloaded")
      }
      return copied
    },
    Effect.catchTag("StorageFailed", () => Effect.undefined)
  )

  /**
   * Copies or links the first of these files, which never change; one in a bucket of the same service is copied there.
   * Returns its new name and its path; null if this server may show none of them.
   */
  const keepFile = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
    const found = yield* old.find(names)
    const extension = extensions[/\.([^./]+)$/.exec(found?.name ?? "")?.[1]?.toLowerCase() ?? ""]
    if (found === undefined || extension === undefined) return null
    const { bytes, object } = found
    const copied = object === undefined ? undefined : yield* copiedObject(extension, object, bytes)
    return { name: copied ?? (yield* files.keep(extension, yield* found.path, bytes, true)), path: found.name }
  }, Effect.scoped)

  const attachment = Effect.fnUntraced(function*(row: TextRow) {
    const { meta, x, y } = yield* metaOf(row["file_meta"])
    const [id, file] = [row["id"] ?? "", row["file_file_name"] ?? ""]
    const at = (style: string, name: string) => placeOf("media_attachments/files", id, style, name)
    const base = withoutExtension(file)
    const cover = row["thumbnail_file_name"] ?? ""
    const media = file === "" ? null : yield* keepFile([at("original", file)])
    const preview = media === null
      ? null
      : yield* keepFile([
        ...(cover === "" ? [] : [placeOf("media_attachments/thumbnails", id, "original", cover)]),
        ...[file, `${base}.png`, `${base}.jpeg`, `${base}.jpg`, `${base}.webp`].map((name) => at("small", name))
      ])
    const copied: TextRow = {
      ...row,
      meta,
      x,
      y,
      media: media?.name ?? null,
      preview: preview?.name ?? null,
      redirects: redirectsOf([media?.path, media?.name], [preview?.path, preview?.name])
    }
    return copied
  })

  /** Copies a picture and, if it moves, its still; Mastodon may have named a still for one that does not move. */
  const picture = Effect.fnUntraced(function*(row: TextRow, folder: string, file: string) {
    const at = (style: string, name: string) => placeOf(folder, row["id"] ?? "", style, name)
    const stillPath = at("static", `${withoutExtension(file)}.png`)
    const kept = yield* keepFile([at("original", file)])
    const still = kept?.name.endsWith(".gif") === true ? yield* keepFile([stillPath]) : null
    const copied: TextRow = {
      ...row,
      name: kept?.name ?? null,
      still: still?.name ?? null,
      redirects: redirectsOf([kept?.path, kept?.name], [stillPath, still?.name ?? kept?.name])
    }
    return copied
  })

  const keptEmoji = (row: TextRow) => {
    const file = row["image_file_name"] ?? ""
    return picture(row, "custom_emojis/images", emojiTypes.test(file) ? file : "")
  }

  const attachments: Step = {
    name: "attachments",
    table: "media_attachments",
    joins:
      "JOIN accounts owner ON owner.id = t.account_id AND owner.domain IS NULL LEFT JOIN statuses st ON st.id = t.status_id",
    // Mastodon keeps attachments that an edit removed, for the history of the post.
    where: `t.status_id IS NOT NULL AND (st.ordered_media_attachment_ids IS NULL
      OR t.id = ANY (st.ordered_media_attachment_ids)) OR t.status_id IS NULL AND t.scheduled_status_id IS NOT NULL`,
    columns: `id:bigint account_id:bigint status_id:bigint type:int description blurhash file_file_name file_meta
      thumbnail_file_name created_at:timestamptz`,
    computed: [["ordered", "to_jsonb(st.ordered_media_attachment_ids)"]],
    prepared: "meta x:float8 y:float8 media preview redirects",
    prepare: (rows) => Effect.forEach(rows, attachment, { concurrency: filesAtOnce }),
    rejects: [
      lacksAccount("account_id"),
      [
        "status_id IS NOT NULL AND NOT EXISTS (SELECT FROM statuses s WHERE s.id = staged.status_id AND s.account_id = staged.account_id)",
        "the post was not copied"
      ],
      ["media IS NULL", "the file is missing in the media folder, or of a type that is not served"]
    ],
    write: [
      `INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x, focus_y, meta, blurhash, file_name,
          preview_name, created_at, touched_at)
        SELECT id, account_id, status_id, (ARRAY['image', 'gifv', 'video', 'unknown', 'audio'])[coalesce(type, 3) + 1], 'ready', description,
          x, y, meta::jsonb, blurhash, media, coalesce(preview, CASE WHEN type = 0 THEN media END), created_at, created_at FROM staged
        ON CONFLICT (id) DO UPDATE SET status_id = coalesce(excluded.status_id, media_attachments.status_id),
          description = excluded.description, focus_x = excluded.focus_x, focus_y = excluded.focus_y`,
      `UPDATE stored_files f SET media_id = s.id FROM staged s JOIN media_attachments m ON m.id = s.id
        WHERE f.name IN (s.media, s.preview) AND m.file_name = s.media`,
      writeRedirects("JOIN media_attachments m ON m.id = s.id AND m.file_name = s.media"),
      `UPDATE statuses p SET media_ids = ARRAY(SELECT m.id FROM media_attachments m WHERE m.status_id = p.id
          ORDER BY array_position(s.places, m.id), m.id)
        FROM (SELECT DISTINCT ON (status_id) status_id, ${listOf("ordered", "bigint")} AS places FROM staged) s
        WHERE p.id = s.status_id`
    ],
    needsFiles: true,
    changes: true
  }
  const pictures = (kind: "avatar" | "header"): Step => ({
    name: `${kind}s`,
    table: "accounts",
    where: `t.domain IS NULL AND coalesce(to_jsonb(t) ->> '${kind}_file_name', '') <> ''`,
    columns: "id:bigint",
    computed: [["file", `to_jsonb(t) ->> '${kind}_file_name'`]],
    prepared: "name still redirects",
    prepare: (rows) =>
      Effect.forEach(rows, (row) => picture(row, `accounts/${kind}s`, row["file"] ?? ""), { concurrency: filesAtOnce }),
    rejects: [
      lacksAccount("id"),
      ["name IS NULL", "the picture is missing in the media folder, or of a type that is not served"]
    ],
    write: [
      // A replaced picture loses its owner, so that the sweep deletes it.
      `UPDATE stored_files f SET account_id = NULL FROM staged s JOIN accounts a ON a.id = s.id
        WHERE f.name IN (a.${kind}_name, a.${kind}_static_name)`,
      `UPDATE accounts a SET ${kind}_name = s.name, ${kind}_static_name = s.still FROM staged s WHERE a.id = s.id`,
      `UPDATE stored_files f SET account_id = s.id FROM staged s WHERE f.name IN (s.name, s.still)`,
      writeRedirects()
    ],
    needsFiles: true,
    changes: true
  })
  return [attachments, pictures("avatar"), pictures("header"), emoji(keptEmoji)] as const
})
