import { Schema } from "effect"

const Author = Schema.Struct({ name: Schema.String, url: Schema.String, avatar: Schema.String })
const Attachment = Schema.Struct({ url: Schema.String, mime_type: Schema.String, title: Schema.String })

const Item = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  title: Schema.String,
  content_html: Schema.String,
  date_published: Schema.String,
  date_modified: Schema.String,
  authors: Schema.Array(Author),
  tags: Schema.Array(Schema.String),
  attachments: Schema.Array(Attachment)
})

/** Feed in JSON (JSON Feed 1.1). */
export const JsonFeed = Schema.Struct({
  version: Schema.Literal("https://jsonfeed.org/version/1.1"),
  title: Schema.String,
  description: Schema.String,
  home_page_url: Schema.String,
  feed_url: Schema.String,
  next_url: Schema.optionalKey(Schema.String),
  icon: Schema.optionalKey(Schema.String),
  items: Schema.Array(Item)
})
export type JsonFeed = typeof JsonFeed.Type
