import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { rowsOf } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"
import { DomainBlocks } from "./DomainBlocks.ts"

/** Audience of the list of blocks, or of their comments. */
export const BlockReaders = Schema.Literals(["all", "users", "disabled"])
export type BlockReaders = typeof BlockReaders.Type

/** Mastodon's names of the settings. */
const listSetting = "show_domain_blocks"
const commentsSetting = "show_domain_blocks_rationale"

interface PublishedBlock {
  readonly domain: string
  /** SHA-256 of the domain before obfuscation, in hexadecimal. */
  readonly digest: string
  readonly severity: "silence" | "suspend"
  /** Absent if the reader may not see comments. */
  readonly comment?: string | null
}

/** Replaces the middle of a domain with asterisks. */
export const obfuscated = (domain: string): string => {
  const visible = Math.floor(domain.length / 4)
  return Array.from(
    domain,
    (character, at) => at > visible && at < domain.length - visible && character !== "." ? "*" : character
  ).join("")
}

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown }))

/** Blocks that the server publishes, if its operator wants that. */
export class PublishedBlocks extends Context.Service<PublishedBlocks, {
  /** Returns silenced, then suspended domains; undefined if the reader may not see the list. */
  readonly list: (signedIn: boolean) => Effect.Effect<ReadonlyArray<PublishedBlock> | undefined>
  readonly publish: (part: "list" | "comments", readers: BlockReaders) => Effect.Effect<void>
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

      const publish = traced("PublishedBlocks.publish")(function*(part: "list" | "comments", readers: BlockReaders) {
        const updatedAt = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO settings (name, value, updated_at)
          VALUES (${part === "list" ? listSetting : commentsSetting}, ${JSON.stringify(readers)}::jsonb, ${updatedAt})
          ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value, updated_at = EXCLUDED.updated_at`.pipe(Effect.orDie)
      })
      return PublishedBlocks.of({ list, publish })
    })
  ).pipe(Layer.provideMerge(DomainBlocks.layer))
}
