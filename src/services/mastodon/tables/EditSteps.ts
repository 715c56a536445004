import { Effect } from "effect"
import type { Step } from "../Step.ts"
import { lacksPostHere, listOf } from "./ColumnSql.ts"
import { renderer } from "./TextRenderer.ts"

/** Versions of edited posts; the last one is the current one, in both servers. */
export const make = Effect.gen(function*() {
  const rendered = yield* renderer
  return {
    name: "edits",
    table: "status_edits",
    joins: "JOIN statuses st ON st.id = t.status_id AND st.edited_at IS NOT NULL AND st.deleted_at IS NULL",
    columns: `id:bigint status_id:bigint text spoiler_text sensitive:boolean created_at:timestamptz
      ordered_media_attachment_ids media_descriptions poll_options content_type`,
    computed: [["is_local:boolean", "coalesce(st.local, st.uri IS NULL)"], ["language", "st.language"]],
    prepared: "html",
    prepare: rendered,
    skips: [lacksPostHere("status_id")],
    write: [
      `INSERT INTO status_edits (id, status_id, text, html, spoiler_text, sensitive, language, created_at, media_ids,
        media_descriptions, poll_options, content_type)
      SELECT id, status_id, CASE WHEN is_local THEN coalesce(text, '') ELSE '' END, coalesce(html, ''), coalesce(spoiler_text, ''),
        coalesce(sensitive, false), nullif(language, ''), created_at, ${
        listOf("ordered_media_attachment_ids", "bigint")
      },
        ARRAY(SELECT coalesce(d, '') FROM jsonb_array_elements_text(coalesce(media_descriptions, '[]')::jsonb) d),
        CASE WHEN poll_options IS NOT NULL THEN ${listOf("poll_options", "text")} END,
        CASE WHEN is_local AND content_type = 'text/markdown' THEN 'text/markdown' ELSE 'text/plain' END FROM staged
      ON CONFLICT (id) DO NOTHING`
    ]
  } satisfies Step
})
