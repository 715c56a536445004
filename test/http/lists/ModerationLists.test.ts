import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import { AdminModerationList } from "../../../src/http/lists/wire/ModerationList.ts"
import { ask } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { OtherServer, servers } from "../activitypub/Sending.ts"
import { becomes, emptyTables, header, path, published, rules, short, suggested, synced } from "./FollowedLists.ts"

layer(servers, { excludeTestServices: true })("moderation lists", (it) => {
  it.effect("a list in CSV: its blocks are added, changed and removed; staff are not overruled, nor follows ended; each step is logged", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, createPerson } = yield* TestServer
      const now = yield* Clock.currentTimeMillis
      const staff = yield* staffMember("lister", ["manageFederation"])
      const ann = yield* createPerson("ann")
      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        VALUES (next_id(${now}), 'zoe', 'sub.loved.example', 'https://sub.loved.example/zoe', ${new Date(
        now
      )}, ${new Date(now)})`
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        SELECT next_id(${now}), ${ann.accountId}, id, ${new Date(now)} FROM accounts WHERE username = 'zoe'`
      yield* ask(staff, "POST", "/api/v1/admin/domain_blocks", { domain: "ours.example", severity: "noop" })
      const own = new URL(baseUrl).hostname
      const source = yield* published(
        "one.csv",
        "text/csv",
        `${header}spam.example,suspend,true,false,"Spam, ""lots""",true\nloud.example,silence,FALSE,FALSE,,\n` +
          `loved.example,suspend,,,,\nours.example,suspend,,,,\n*.hidden.example,suspend,,,,\nco.uk,suspend,,,,\n` +
          `${own},suspend,,,,\nnot a domain,suspend,,,,\nspam.example,silence,,,,\nnoop.example,noop,,,,\n`
      )
      const { body: list } = yield* ask(staff, "POST", path, {
        name: "One",
        url: source.url,
        type: "csv",
        apply_automatically: true
      })
      yield* Schema.decodeUnknownEffect(AdminModerationList)(list, { onExcessProperty: "error" })
      assert.deepInclude(list, {
        priority: 0,
        retract_automatically: true,
        preserve_relationships: true,
        last_error: null
      })
      const first = ["loud.example silence by list", "ours.example noop", "spam.example suspend by list"]
      assert.deepStrictEqual(yield* becomes(first), first)
      yield* eventually(suggested(staff), (found) => found.length === 1)
      assert.deepStrictEqual(short(yield* suggested(staff)), ["loved.example reject"])
      const [block] =
        yield* sql`SELECT reject_media, public_comment, obfuscate FROM domain_blocks WHERE domain = 'spam.example'`
      assert.deepStrictEqual(block, { rejectMedia: true, publicComment: `Spam, "lots"`, obfuscate: true })

      // The list changes one entry, drops one, and is unavailable for a while.
      source.say("")
      assert.isNotNull(
        yield* eventually(
          Effect.map(synced(staff, list.id), ({ last_error: error }) => error),
          (error) => error !== null
        )
      )
      assert.deepStrictEqual(yield* rules, first)
      source.say("<html>it moved</html>")
      yield* synced(staff, list.id)
      assert.deepStrictEqual(yield* rules, first)
      source.say(`${header}spam.example,silence,,,,\n`)
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const second = ["ours.example noop", "spam.example silence by list"]
      assert.deepStrictEqual(yield* becomes(second), second)
      yield* eventually(suggested(staff), (found) => found.length === 0)

      // A row that staff change no longer belongs to the list.
      const [spam] = yield* sql<{ id: bigint }>`SELECT id FROM domain_blocks WHERE domain = 'spam.example'`
      yield* ask(staff, "PUT", `/api/v1/admin/domain_blocks/${spam!.id}`, { severity: "noop" })
      source.say(`${header}spam.example,suspend,,,,\nnew.example,silence,,,,\n`)
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const third = ["new.example silence by list", "ours.example noop", "spam.example noop"]
      assert.deepStrictEqual(yield* becomes(third), third)
      // Deleting a list undoes its effects.
      assert.deepStrictEqual((yield* ask(staff, "DELETE", `${path}/${list.id}`)).body, {})
      assert.strictEqual((yield* ask(staff, "GET", `${path}/${list.id}`)).status, 404)
      const fourth = ["ours.example noop", "spam.example noop"]
      assert.deepStrictEqual(yield* becomes(fourth), fourth)
      const log = yield* sql<{ act: string; after: Record<string, unknown> | null }>`
        SELECT target_type || ' ' || action AS act, after FROM audit_log WHERE account_id IS NULL ORDER BY id`
      const blocks = log.filter(({ act }) => act === "domain_block create").map((
        { after }
      ) => [after?.["domain"], after?.["listId"]])
      assert.deepStrictEqual(blocks.toSorted(), [["loud.example", list.id], ["new.example", list.id], [
        "spam.example",
        list.id
      ]])
      assert.isAtLeast(log.filter(({ act }) => act === "moderation_list sync").length, 4)
      yield* emptyTables
    }))

  it.effect("errors of a list are reported, and an address is followed once", () =>
    Effect.gen(function*() {
      const { url } = yield* OtherServer
      const staff = yield* staffMember("wrong", ["manageFederation"])
      for (
        const [wish, text] of [
          [{ url: `${url}/x` }, "Name can't be blank"],
          [{ name: "x" }, "Url can't be blank"],
          [{ name: "x", url: "file:///etc/passwd" }, "Url is invalid"],
          [{ name: "x", url: `${url}/x`, type: "xml" }, "Type is not included in the list"],
          [{ name: "x", url: `${url}/x`, list_action: "drop" }, "List action is not included in the list"]
        ] as const
      ) {
        const { body, status } = yield* ask(staff, "POST", path, wish)
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${text}`])
      }
      yield* ask(staff, "POST", path, { name: "x", url: `${url}/x` })
      const again = yield* ask(staff, "POST", path, { name: "y", url: `${url}/x` })
      assert.deepStrictEqual(again.body, { error: "Validation failed: Url has already been taken" })
    }))

  it.effect("FIRES: after the snapshot only changes are fetched, page by page, from the cursor; without a usable cursor the list is read from the start", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { documents, url } = yield* OtherServer
      const staff = yield* staffMember("cursors", ["manageFederation"])
      const asked: Array<string> = []
      const base = `${url}/datasets/2`
      /** All changes in order; ids count up. */
      const log: Array<{ readonly domain: string; readonly policy: string | undefined }> = []
      const change = (id: number) => {
        const { domain, policy } = log[id - 1]!
        // Lists use both formats.
        const entity = id % 2 === 0
          ? { entityKind: "domain", entityKey: domain, recommendedPolicy: policy }
          : { entity: { type: "Domain", value: domain }, recommended_policy: policy }
        return { id: `${base}/changes/${id}`, type: policy === undefined ? "Retraction" : "Recommendation", ...entity }
      }
      let lost = false
      const responses =
        (json: (query: URLSearchParams) => unknown) => (request: IncomingMessage, response: ServerResponse) => {
          asked.push(String(request.url))
          const found = json(new URL(String(request.url), url).searchParams)
          response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/ld+json" })
            .end(JSON.stringify(found ?? {}))
        }
      const from = (id: number) => `${base}/changes?since=${id}`
      documents.set(
        "/datasets/2",
        responses(() => ({
          type: "Dataset",
          endpoints: { snapshot: `${base}/snapshot`, changes: `${base}/changes` }
        }))
      )
      documents.set(
        "/datasets/2/snapshot",
        responses(() => {
          const newest = new Map(log.map(({ domain }, at) => [domain, at + 1]))
          const ids = [...newest.values()].toSorted((a, b) => b - a)
          return { type: "OrderedCollection", items: ids.map(change), changes: from(log.length) }
        })
      )
      const pageRows = 2
      documents.set(
        "/datasets/2/changes",
        responses((query) => {
          const since = Number(query.get("since"))
          const ids = log.map((_, at) => at + 1).filter((id) => id > since)
          const shown = ids.slice(0, pageRows)
          return lost ? undefined : {
            type: "OrderedCollectionPage",
            orderedItems: shown.map(change),
            last: from(log.length),
            ...(ids.length > pageRows ? { next: from(shown.at(-1)!) } : {})
          }
        })
      )
      const logBlock = (domain: string, policy?: string) => log.push({ domain, policy })
      for (let n = 1; n <= 5; n++) logBlock(`d${n}.example`, "drop")
      logBlock("d5.example")
      const { body: list } = yield* ask(staff, "POST", path, {
        name: "Long",
        url: base,
        type: "fires",
        apply_automatically: true
      })
      const bad = (...names: ReadonlyArray<string>) => names.map((name) => `${name}.example suspend by list`)
      const first = bad("d1", "d2", "d3", "d4")
      assert.deepStrictEqual(yield* becomes(first), first)
      const cursor = Effect.map(
        sql<{ changesFrom: string | null }>`SELECT changes_from FROM moderation_lists WHERE id = ${BigInt(list.id)}`,
        ([row]) => row?.changesFrom
      )
      assert.strictEqual(yield* cursor, from(6))

      // Three pages of changes, of which the last one per domain counts.
      logBlock("d1.example")
      logBlock("d6.example", "drop")
      logBlock("d2.example", "accept")
      logBlock("d7.example", "filter")
      logBlock("d2.example", "drop")
      asked.length = 0
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const second = [...bad("d2", "d3", "d4", "d6"), "d7.example silence by list"]
      assert.deepStrictEqual(yield* becomes(second), second)
      yield* eventually(cursor, (at) => at === from(11))
      assert.deepStrictEqual(asked, ["/datasets/2", ...[6, 8, 10].map((id) => `/datasets/2/changes?since=${id}`)])

      // Without changes there is only one request.
      asked.length = 0
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const nothingNew = ["/datasets/2", "/datasets/2/changes?since=11"]
      assert.deepStrictEqual(
        yield* eventually(Effect.sync(() => [...asked]), ({ length }) => length >= nothingNew.length),
        nothingNew
      )
      assert.deepStrictEqual(yield* rules, second)

      // A cursor that is lost, and one that is too old.
      lost = true
      logBlock("d8.example", "drop")
      asked.length = 0
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const third = [...second, ...bad("d8")]
      assert.deepStrictEqual(yield* becomes(third), third)
      assert.deepStrictEqual(asked.at(-1), "/datasets/2/snapshot")
      lost = false
      yield* eventually(cursor, (at) => at === from(12))
      yield* sql`UPDATE moderation_lists SET whole_at = whole_at - interval '8 days' WHERE id = ${BigInt(list.id)}`
      logBlock("d9.example", "drop")
      asked.length = 0
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      const fourth = [...third, ...bad("d9")]
      assert.deepStrictEqual(yield* becomes(fourth), fourth)
      assert.deepStrictEqual(asked, ["/datasets/2", "/datasets/2/snapshot"])
      // A new address has no state.
      yield* ask(staff, "PATCH", `${path}/${list.id}`, { url: `${url}/datasets/3` })
      assert.isNull(yield* cursor)
      assert.deepStrictEqual(yield* rules, fourth)
      yield* emptyTables
    }))
})
