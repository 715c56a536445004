import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { asForeign, asList, type Foreign, idOf, idsOf, single } from "../federation/documents/ForeignValues.ts"
import type { Document } from "../federation/documents/Vocabulary.ts"
import { LocalActors } from "../federation/LocalActors.ts"
import * as LocalIds from "../federation/LocalIds.ts"
import { Objects } from "../federation/Objects.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { momentOf } from "../runtime/Moments.ts"

/** Sizes of a comparison. */
interface Size {
  readonly actors: number
  readonly objects: number
  /** Requests to the other server per second. */
  readonly perSecond: number
}

/** Field in which the servers differ, with both values; `document` is its id here. */
interface Difference {
  readonly document: string
  readonly field: string
  readonly local: string
  readonly remote: string
}

const actorRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const objectRows = rowsOf(Schema.Struct({ id: Schema.BigInt, actorPath: LocalIds.ActorPath }))

/** Objects that are rendered at once. */
const objectsAtOnce = 50
/** Longest value in the table of differences, in characters. */
const valueCharactersMax = 200

const text = (value: unknown) => typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
const set = (value: unknown) => [...new Set(idsOf(value))].toSorted().join(" ")
/** Returns a time to the second: Mastodon prints no milliseconds. */
const second = (value: unknown) => String(Math.floor((momentOf(text(value)) ?? 0) / 1_000))
const keyOf = (document: Foreign) => asForeign(single(document["publicKey"])) ?? {}

/** Compared fields of actors, in a form in which equal ones are equal texts. */
const actorFields: Readonly<Record<string, (document: Foreign) => string>> = {
  id: ({ id }) => text(id),
  type: ({ type }) => asList(type).map(text).join(" "),
  inbox: ({ inbox }) => idOf(inbox) ?? "",
  "publicKey.id": (document) => text(keyOf(document)["id"]),
  "publicKey.publicKeyPem": (document) => text(keyOf(document)["publicKeyPem"]).trim().replaceAll("\r\n", "\n"),
  published: ({ published }) => second(published)
}
const objectFields: Readonly<Record<string, (document: Foreign) => string>> = {
  id: ({ id }) => text(id),
  type: ({ type }) => asList(type).map(text).join(" "),
  published: ({ published }) => second(published),
  to: ({ to }) => set(to),
  cc: ({ cc }) => set(cc),
  content: ({ content }) => text(content)
}

/**
 * Compares actors and public posts with those of the Mastodon server at `origin`, which must respond to requests without
 * a signature. The sample is the same each time. Returns the number of documents and their differences; a document that
 * could not be fetched differs, too.
 */
export const compare = Effect.fnUntraced(function*(origin: URL, { actors, objects, perSecond }: Size) {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const outbound = yield* Outbound
  const locals = yield* LocalActors
  const rendered = yield* Objects
  const differences: Array<Difference> = []
  let compared = 0
  let nextMillis = 0

  /** Waits for the next request's time. */
  const pace = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const at = Math.max(now, nextMillis)
    nextMillis = at + 1_000 / perSecond
    if (at > now) yield* Effect.sleep(at - now)
  })

  const check = Effect.fnUntraced(function*(
    id: string,
    own: Document | undefined,
    fields: Readonly<Record<string, (document: Foreign) => string>>
  ) {
    yield* pace
    compared++
    const differs = (field: string, here: string, there: string) =>
      differences.push({ document: id, field, local: here, remote: there })
    const url = new URL(id.slice(config.publicUrl.length), origin).href
    const fetched = yield* Effect.result(outbound.json({ url, type: DocumentTypes.activity }))
    if (fetched._tag === "Failure") {
      return differs("document", own === undefined ? "missing" : "found", fetched.failure.message)
    }
    const there = asForeign(fetched.success.value)
    const here = asForeign(own)
    if (here === undefined || there === undefined) {
      return differs("document", here === undefined ? "missing" : "found", "found")
    }
    for (const [field, read] of Object.entries(fields)) {
      const [a, b] = [read(here), read(there)]
      if (a !== b) differs(field, a, b)
    }
  })

  const accounts = yield* actorRows(sql`SELECT a.id FROM accounts a WHERE a.domain IS NULL AND a.suspended_at IS NULL
    AND EXISTS (SELECT FROM signing_keys k WHERE k.owner_id = a.id)
    ORDER BY hashint8(a.id), a.id LIMIT ${rowsMax(sql, actors)}`)
  for (const { id } of accounts) {
    const account = yield* Effect.option(locals.find(id))
    if (account._tag === "None") continue
    const document = yield* Effect.orElseSucceed(locals.document(account.value), () => undefined)
    yield* check(LocalIds.actor(config, account.value.actorPath), document, actorFields)
  }
  const posts = yield* objectRows(sql`SELECT s.id, a.actor_path FROM statuses s JOIN accounts a ON a.id = s.account_id
    WHERE s.local AND s.deleted_at IS NULL AND s.reblog_of_id IS NULL AND NOT s.local_only AND s.visibility IN ('public', 'unlisted')
      AND a.suspended_at IS NULL ORDER BY hashint8(s.id), s.id LIMIT ${rowsMax(sql, objects)}`)
  for (let from = 0; from < posts.length; from += objectsAtOnce) {
    const some = posts.slice(from, from + objectsAtOnce)
    const notes = yield* rendered.load(some.map(({ id }) => id))
    for (const { actorPath, id } of some) {
      yield* check(LocalIds.note(config, actorPath, id), notes.get(id)?.note, objectFields)
    }
  }
  return { compared, differences }
})

/** Returns differences as lines of id, field and both values, separated by tabs. */
export const tableOf = (differences: ReadonlyArray<Difference>): ReadonlyArray<string> => {
  const short = (value: string) => {
    const line = value.replace(/\s+/g, " ")
    return line.length > valueCharactersMax ? `${line.slice(0, valueCharactersMax)}…` : line
  }
  return differences.map(({ document, field, local, remote }) =>
    [document, field, short(local), short(remote)].join("\t")
  )
}
