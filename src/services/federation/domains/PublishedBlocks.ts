import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { rowsOf } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import { DomainBlocks } from "./DomainBlocks.ts"

/** Who may read the list of blocks, or their comments. */
export const BlockReaders = Schema.Literals(["all", "users", "disabled"])
export type BlockReaders = typeof BlockReaders.Type

/** Mastodon's names of the settings. */
const listSetting = "show_domain_blocks"
const commentsSetting = "show_domain_blocks_rationale"

interface PublishedBlock {
  readonly domain: string
  /** SHA-256 of the whole domain, in hexadecimal digits. */
  readonly digest: string
  readonly severity: "silence" | "suspend"
  /** Absent where comments are not for the reader. */
  readonly comment?: string | null
}

/** A domain of which asterisks hide the middle. */
export const obfuscated = (domain: string): string => {
  const visible = Math.floor(domain.length / 4)
  return Array.from(
    domain,
    (character, at) => at > visible && at < domain.length - visible && character !== "." ? "*" : character
  ).join("")
}

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown }))

/** The blocks that this server makes known, as far as its operator wants. */
export class PublishedBlocks extends Context.Service<PublishedBlocks, {
  /** Silenced and suspended domains, in this order; undefined where the list is not for the reader. */
  readonly list: (signedIn: boolean) => Effect.Effect<ReadonlyArray<PublishedBlock> | undefined>
  readonly publish: (what: "list" | "comments", readers: BlockReaders) => Effect.Effect<void>
}>()("murmuration/services/federation/domains/PublishedBlocks") {
  static readonly layer = Layer.effect(
    PublishedBlocks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* DomainBlocks

      const list = traced("PublishedBlocks.list")(function*(signedIn: boolean) {
        const rows = yield* settingRows(sql`
          SELECT name, value FROM settings WHERE name = ANY (${[listSetting, commentsSetting]}::text[])`).pipe(
          Effect.orDie
        )
        const open = (name: string) => {
          const readers = rows.find((row) => row.name === name)?.value
          return readers === "all" || (readers === "users" && signedIn)
        }
        if (!open(listSetting)) return undefined
        const commented = open(commentsSetting)
        return (yield* domains.blocks).toSorted((a, b) =>
          a.severity === b.severity ? (a.domain < b.domain ? -1 : 1) : a.severity < b.severity ? -1 : 1
        ).flatMap(({ domain, obfuscate, publicComment, severity }): ReadonlyArray<PublishedBlock> =>
          severity === "noop" ? [] : [{
            domain: obfuscate ? obfuscated(domain) : domain,
            digest: hash("sha256", domain),
            severity,
            ...(commented && { comment: publicComment })
          }]
        )
      })

      const publish = traced("PublishedBlocks.publish")(function*(what: "list" | "comments", readers: BlockReaders) {
        const updatedAt = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO settings (name, value, updated_at)
          VALUES (${what === "list" ? listSetting : commentsSetting}, ${JSON.stringify(readers)}::jsonb, ${updatedAt})
          ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value, updated_at = EXCLUDED.updated_at`.pipe(Effect.orDie)
      })
      return PublishedBlocks.of({ list, publish })
    })
  ).pipe(Layer.provideMerge(DomainBlocks.layer))
}
