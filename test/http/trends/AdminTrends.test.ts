import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  AdminPublisher,
  AdminTag,
  AdminTrendingLink,
  AdminTrendingStatus
} from "../../../src/http/staff/wire/AdminTrend.ts"
import { ask } from "../../support/Api.ts"
import { favouritedBy, linkedBy, refreshTrends, remoteAccounts, taggedBy } from "../../support/Crowd.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"

const path = "/api/v1/admin/trends"
const decoded = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, value: unknown) =>
  Schema.decodeUnknownEffect(Schema.Array(schema), { onExcessProperty: "error" })(value)

layer(TestServer.layer(), { excludeTestServices: true })("trends in the staff API", (it) => {
  it.effect("S-112 S-232: trend candidates are listed, and trend while staff allow it", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("curator", ["manageTaxonomies"])
      yield* ask(by, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      const { body: status } = yield* ask(by, "POST", "/api/v1/statuses", { status: "much liked #Rising" })
      const many = yield* remoteAccounts("trends.test", 20)
      yield* favouritedBy(status.id, many)
      yield* taggedBy("rising", many)
      yield* linkedBy("https://news.test/a", many)
      yield* refreshTrends
      const all = (kind: string) => Effect.map(ask(by, "GET", `${path}/${kind}`), ({ body }) => body)
      const shown = (kind: string) =>
        Effect.map(ask(undefined, "GET", `/api/v1/trends/${kind}`), ({ body }) => body.length)
      const [tag] = yield* decoded(AdminTag, yield* all("tags"))
      assert.deepInclude(tag, { name: "Rising", trendable: false, usable: true, listable: true, requires_review: true })
      const [liked] = yield* decoded(AdminTrendingStatus, yield* all("statuses"))
      assert.deepInclude(liked, { id: status.id, requires_review: true })
      const [link] = yield* decoded(AdminTrendingLink, yield* all("links"))
      assert.deepInclude(link, { url: "https://news.test/a", requires_review: true })
      const [publisher] = yield* decoded(AdminPublisher, yield* all("links/publishers"))
      assert.deepInclude(publisher, { domain: "news.test", trendable: null, requires_review: true })
      const subjects = [["tags", tag!.id], ["statuses", liked!.id], ["links", link!.id]] as const
      for (const [kind, id] of subjects) {
        assert.strictEqual(yield* shown(kind), 0, kind)
        const approved = yield* ask(by, "POST", `${path}/${kind}/${id}/approve`)
        assert.deepInclude(approved.body, { requires_review: false }, kind)
        assert.strictEqual(yield* shown(kind), 1, kind)
        assert.strictEqual((yield* ask(by, "POST", `${path}/${kind}/${id}/reject`)).status, 200)
        assert.strictEqual(yield* shown(kind), 0, kind)
        assert.strictEqual((yield* all(kind)).length, 1, "what was refused can be let in again")
      }
      const site = yield* ask(by, "POST", `${path}/links/publishers/${publisher!.id}/approve`)
      assert.deepInclude(site.body, { trendable: true, requires_review: false })
      for (const kind of ["tags", "statuses", "links", "links/publishers"]) {
        const { body, status } = yield* ask(by, "POST", `${path}/${kind}/900000000000000001/approve`)
        assert.deepStrictEqual([status, body], [404, { error: "Record not found" }], kind)
      }
      const entries = yield* auditEntries(by.accountId)
      assert.deepStrictEqual(entries.map(({ act }) => act), [
        "publisher approve",
        "link reject",
        "link approve",
        "status reject",
        "status approve",
        "tag reject",
        "tag approve"
      ])
      assert.deepStrictEqual([entries[5]?.before, entries[5]?.after], [{ trendable: true }, { trendable: false }])
      assert.deepStrictEqual([entries[4]?.before, entries[4]?.after], [{ trendable: null }, { trendable: true }])
      assert.deepStrictEqual(entries[3]?.before, { trendable: true })
    }))

  it.effect("S-233: hashtags are listed and managed: their spelling, and whether they are usable, found and trending", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("librarian", ["manageTaxonomies"])
      yield* ask(by, "POST", "/api/v1/statuses", { status: "#littlebirds" })
      const { body: all } = yield* ask(by, "GET", "/api/v1/admin/tags?limit=200")
      yield* decoded(AdminTag, all)
      const { id } = all.find(({ name }: { readonly name: string }) => name === "littlebirds")
      const { body: changed } = yield* ask(by, "PUT", `/api/v1/admin/tags/${id}`, {
        display_name: "LittleBirds",
        listable: false,
        trendable: true
      })
      assert.deepInclude(changed, {
        name: "LittleBirds",
        listable: false,
        trendable: true,
        usable: true,
        requires_review: false
      })
      assert.deepStrictEqual((yield* ask(by, "GET", `/api/v1/admin/tags/${id}`)).body, changed)
      const { body: found } = yield* ask(by, "GET", "/api/v2/search?q=littlebirds&type=hashtags")
      assert.notInclude(found.hashtags.map((tag: { readonly id: string }) => tag.id), id)
      const renamed = yield* ask(by, "PUT", `/api/v1/admin/tags/${id}`, { display_name: "BigBirds" })
      assert.deepStrictEqual(
        [renamed.status, renamed.body.error],
        [422, "Validation failed: Display name does not match the previous name"]
      )
      assert.strictEqual((yield* ask(by, "PUT", "/api/v1/admin/tags/900000000000000001", {})).status, 404)
      const [entry] = yield* auditEntries(by.accountId)
      assert.deepInclude(entry, {
        act: "tag update",
        before: { displayName: "littlebirds", listable: true, trendable: null, usable: true },
        after: { displayName: "LittleBirds", listable: false, trendable: true, usable: true }
      })
      assert.lengthOf(yield* sql`SELECT FROM tags WHERE id = ${BigInt(id)} AND reviewed_at IS NOT NULL`, 1)
    }))
})
