import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { customEmojisMax } from "../../instance/CustomEmojis.ts"
import type { StorageFailed } from "../../media/Storage.ts"
import type { Step, TextRow } from "../Step.ts"
import { beyond, writeRedirects } from "./ColumnSql.ts"

const joins = "LEFT JOIN custom_emoji_categories g ON g.id = t.category_id"
const columns = `id:bigint shortcode domain disabled:boolean visible_in_picker:boolean image_file_name image_remote_url
  created_at:timestamptz updated_at:timestamptz`
const badName = ["shortcode !~ '^[A-Za-z0-9_]{2,128}$'", "the shortcode is invalid"] as const

/** Emoji of other servers. Their pictures are fetched when they are shown. */
export const remoteEmoji: Step = {
  name: "emoji of other servers",
  table: "custom_emojis",
  where: "t.domain IS NOT NULL",
  columns,
  rejects: [badName, ["image_remote_url !~ '^https?://' OR image_remote_url IS NULL", "the picture has no address"]],
  write: [
    `INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, visible_in_picker, disabled, created_at, updated_at)
    SELECT id, shortcode, lower(domain), image_remote_url, image_remote_url, true, coalesce(disabled, false), created_at, updated_at FROM staged
    ON CONFLICT (shortcode, coalesce(domain, '')) DO UPDATE SET url = excluded.url, static_url = excluded.static_url,
      disabled = excluded.disabled, updated_at = excluded.updated_at`
  ],
  changes: true
}

/** Emoji of this server. `keep` stores the files of a row as `name` and, if it moves, `still`, with `redirects`. */
export const emoji = (keep: (row: TextRow) => Effect.Effect<TextRow, StorageFailed | SqlError>): Step => ({
  name: "custom emoji",
  table: "custom_emojis",
  joins,
  where: "t.domain IS NULL",
  columns,
  computed: [["category", "g.name"]],
  prepared: "name still redirects",
  prepare: (rows) => Effect.forEach(rows, keep),
  rejects: [
    badName,
    ["name IS NULL", "the picture is missing in the media folder, or of a type that is not served"],
    beyond("custom_emojis", customEmojisMax, "emoji", "x.domain IS NULL")
  ],
  write: [
    // A replaced picture loses its owner, so that the sweep deletes it.
    `UPDATE stored_files f SET emoji_id = NULL FROM staged s WHERE f.emoji_id = s.id`,
    `INSERT INTO custom_emojis (id, shortcode, file_name, static_name, visible_in_picker, disabled, category, created_at, updated_at)
      SELECT id, shortcode, name, still, coalesce(visible_in_picker, true), coalesce(disabled, false), left(nullif(category, ''), 100),
        created_at, updated_at FROM staged
      ON CONFLICT (id) DO UPDATE SET file_name = excluded.file_name, static_name = excluded.static_name, disabled = excluded.disabled,
        visible_in_picker = excluded.visible_in_picker, category = excluded.category, updated_at = excluded.updated_at`,
    `UPDATE stored_files f SET emoji_id = s.id FROM staged s WHERE f.name IN (s.name, s.still)`,
    writeRedirects()
  ],
  needsFiles: true,
  changes: true,
  ends: "custom_emojis"
})
