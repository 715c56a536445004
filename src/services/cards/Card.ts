import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { persisted } from "../database/Persisted.ts"

/** Preview of a page. All fields are validated and truncated. Texts are plain, "" if unknown. */
export const Card = Schema.Struct({
  title: Schema.String,
  description: Schema.String,
  language: Schema.NullOr(Schema.String),
  type: Schema.Literals(["link", "photo", "video"]),
  authorName: Schema.String,
  authorUrl: Schema.String,
  providerName: Schema.String,
  providerUrl: Schema.String,
  /** Player frame of the page's own site, made by `playerFrame`; "" without a player. */
  html: Schema.String,
  /** Pixels of the image or the player; 0 if unknown. */
  width: Schema.Int,
  height: Schema.Int,
  embedUrl: Schema.String,
  imageDescription: Schema.String,
  /** Milliseconds since 1970. */
  publishedAt: Schema.NullOr(Schema.Number)
})
export type Card = typeof Card.Type

/** `preview_cards.details` */
export const PersistedCard = persisted(Card, 1)

/** Card of a status as stored. */
export const CardRecord = Schema.Struct({
  /** Decimal string. */
  id: Schema.String,
  /** Account that the page names as its author. */
  creatorId: Schema.NullOr(Schema.String),
  /** True if that account lists the page's host among its attribution domains. */
  attributed: Schema.Boolean,
  /** URL as in the status. */
  url: Schema.String,
  /** Null until there is something to show. */
  card: Schema.NullOr(Card),
  imageName: Schema.NullOr(Schema.String),
  blurhash: Schema.NullOr(Schema.String)
})
export type CardRecord = typeof CardRecord.Type

/** JSON of a card `c` with the account `k` that it names; `url` is an expression of the displayed URL. */
export const cardRecord = (sql: SqlClient, url: string): Fragment =>
  sql.literal(`json_build_object('id', c.id::text, 'url', ${url}, 'card', c.details, 'imageName', c.image_name,
    'blurhash', c.blurhash, 'creatorId', k.id::text, 'attributed', EXISTS (
      SELECT FROM unnest(k.attribution_domains) d WHERE domain_key(c.page_host) = domain_key(d)
        OR starts_with(domain_key(c.page_host), domain_key(d) || '.')))`)

/** Joins to cards `c` the account `k` that each one names as its author, unless suspended. */
export const cardCreator = (sql: SqlClient): Fragment =>
  sql.literal("LEFT JOIN accounts k ON k.id = c.creator_id AND k.suspended_at IS NULL")
