import { Effect, Schema } from "effect"
import type { ServedExtension } from "../../media/FileTypes.ts"
import { sizeOf } from "../../media/MediaRecord.ts"
import { StoredFiles } from "../../media/StoredFiles.ts"
import { OldFiles } from "../OldFiles.ts"
import type { Step, TextRow } from "../Step.ts"
import { lacksAccount, listOf } from "./ColumnSql.ts"
import { emoji } from "./EmojiSteps.ts"

/** Files that are copied at once. */
const filesAtOnce = 4

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

const withoutExtension = (file: string) => file.replace(/\.[^.]*$/, "")

/** Files of this server: attachments of local posts, avatars and headers of local accounts, and custom emoji. */
export const make = Effect.gen(function*() {
  const files = yield* StoredFiles
  const old = yield* OldFiles

  /** Copies the first of these files; returns its new name, null if this server may show none of them. */
  const keepFile = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
    const found = yield* old.find(names)
    const extension = extensions[/\.([^./]+)$/.exec(found?.name ?? "")?.[1]?.toLowerCase() ?? ""]
    return found === undefined || extension === undefined ? null : yield* files.keep(extension, found.path, found.bytes)
  }, Effect.scoped)

  const attachment = Effect.fnUntraced(function*(row: TextRow) {
    const { meta, x, y } = yield* metaOf(row["file_meta"])
    const [id, file] = [row["id"] ?? "", row["file_file_name"] ?? ""]
    const at = (style: string, name: string) => placeOf("media_attachments/files", id, style, name)
    const base = withoutExtension(file)
    const media = file === "" ? null : yield* keepFile([at("original", file)])
    const preview = media === null
      ? null
      : yield* keepFile(
        [file, `${base}.png`, `${base}.jpeg`, `${base}.jpg`, `${base}.webp`].map((name) => at("small", name))
      )
    const copied: TextRow = { ...row, meta, x, y, media, preview }
    return copied
  })

  const keptEmoji = Effect.fnUntraced(function*(row: TextRow) {
    const [id, file] = [row["id"] ?? "", row["image_file_name"] ?? ""]
    const at = (style: string, name: string) => placeOf("custom_emojis/images", id, style, name)
    const name = emojiTypes.test(file) ? yield* keepFile([at("original", file)]) : null
    const still = name?.endsWith(".gif") === true
      ? yield* keepFile([at("static", `${withoutExtension(file)}.png`)])
      : null
    const copied: TextRow = { ...row, name, still }
    return copied
  })

  const picture = (kind: "avatar" | "header") =>
    Effect.fnUntraced(function*(row: TextRow) {
      const [id, file] = [row["id"] ?? "", row["file"] ?? ""]
      const at = (style: string, name: string) => placeOf(`accounts/${kind}s`, id, style, name)
      const name = yield* keepFile([at("original", file)])
      const still = name?.endsWith(".gif") === true
        ? yield* keepFile([at("static", `${withoutExtension(file)}.png`)])
        : null
      const copied: TextRow = { ...row, name, still }
      return copied
    })

  const attachments: Step = {
    name: "attachments",
    table: "media_attachments",
    joins:
      "JOIN accounts owner ON owner.id = t.account_id AND owner.domain IS NULL LEFT JOIN statuses st ON st.id = t.status_id",
    // Mastodon keeps attachments that an edit removed, for the history of the post.
    where: `t.status_id IS NOT NULL AND (st.ordered_media_attachment_ids IS NULL
      OR t.id = ANY (st.ordered_media_attachment_ids)) OR t.status_id IS NULL AND t.scheduled_status_id IS NOT NULL`,
    columns: `id:bigint account_id:bigint status_id:bigint type:int description blurhash file_file_name file_meta
      created_at:timestamptz`,
    computed: [["ordered", "to_jsonb(st.ordered_media_attachment_ids)"]],
    prepared: "meta x:float8 y:float8 media preview",
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
    prepared: "name still",
    prepare: (rows) => Effect.forEach(rows, picture(kind), { concurrency: filesAtOnce }),
    rejects: [
      lacksAccount("id"),
      ["name IS NULL", "the picture is missing in the media folder, or of a type that is not served"]
    ],
    write: [
      // A replaced picture loses its owner, so that the sweep deletes it.
      `UPDATE stored_files f SET account_id = NULL FROM staged s JOIN accounts a ON a.id = s.id
        WHERE f.name IN (a.${kind}_name, a.${kind}_static_name)`,
      `UPDATE accounts a SET ${kind}_name = s.name, ${kind}_static_name = s.still FROM staged s WHERE a.id = s.id`,
      `UPDATE stored_files f SET account_id = s.id FROM staged s WHERE f.name IN (s.name, s.still)`
    ],
    needsFiles: true,
    changes: true
  })
  return [attachments, pictures("avatar"), pictures("header"), emoji(keptEmoji)] as const
})
