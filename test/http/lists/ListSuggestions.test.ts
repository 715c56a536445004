import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { AdminBlockPreview, AdminModerationSuggestion } from "../../../src/http/lists/wire/ModerationList.ts"
import { ask } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { OtherServer, servers } from "../activitypub/Sending.ts"
import { becomes, emptyTables, header, path, published, rules, short, suggested, synced } from "./FollowedLists.ts"

layer(servers, { excludeTestServices: true })("suggestions of lists", (it) => {
  it.effect("suggestions: applied by staff who confirm the loss of follows, dismissed permanently; of two concurrent decisions one is refused", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("decider", ["manageFederation"])
      const source = yield* published("two.csv", "text/plain", "bad.example\nworse.example\nworst.example\n")
      const { body: list } = yield* ask(staff, "POST", path, { name: "Two", url: source.url })
      const all = yield* eventually(suggested(staff), (found) => found.length === 3)
      yield* Schema.decodeUnknownEffect(Schema.Array(AdminModerationSuggestion))(all, { onExcessProperty: "error" })
      const of = (domain: string) =>
        `/api/v1/admin/moderation_suggestions/${all.find((one) => one.domain === domain)!.id}`
      const refused = yield* ask(staff, "POST", `${of("bad.example")}/apply`, {})
      assert.deepStrictEqual(refused.body, { error: "Validation failed: Confirmation must be accepted" })
      const applied = yield* ask(staff, "POST", `${of("bad.example")}/apply`, { confirm: true })
      assert.deepInclude(applied.body, { state: "applied", list_id: list.id })
      const twice = yield* Effect.forEach(
        ["dismiss", "dismiss"],
        (what) => ask(staff, "POST", `${of("worse.example")}/${what}`),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(twice.map(({ status }) => status).toSorted(), [200, 422])
      yield* synced(staff, list.id)
      assert.deepStrictEqual(yield* rules, ["bad.example suspend by list"])
      assert.deepStrictEqual(short(yield* suggested(staff)), ["worst.example reject"])
      // Removed from the list: staff are asked, and keep the block.
      yield* ask(staff, "PATCH", `${path}/${list.id}`, { retract_automatically: false })
      source.say("worst.example\n")
      yield* ask(staff, "POST", `${path}/${list.id}/sync`)
      yield* eventually(suggested(staff), (found) => short(found).includes("bad.example retract"))
      const retraction = (yield* suggested(staff)).find(({ action }) => action === "retract")!
      yield* ask(staff, "POST", `/api/v1/admin/moderation_suggestions/${retraction.id}/dismiss`)
      assert.deepStrictEqual(yield* rules, ["bad.example suspend"])
      assert.includeMembers((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
        "moderation_suggestion apply",
        "moderation_suggestion dismiss",
        "moderation_list update",
        "moderation_list create"
      ])
      yield* emptyTables
    }))

  it.effect("FIRES: a snapshot in pages; of two lists the higher priority decides, and a rule moves to the list that still has it", () =>
    Effect.gen(function*() {
      const { documents, url } = yield* OtherServer
      const staff = yield* staffMember("fires", ["manageFederation"])
      const servedJson = (value: unknown) => (_: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/ld+json" }).end(JSON.stringify(value))
      }
      const item = (entityKey: string, recommendedPolicy: string, more = {}) => ({
        type: "Recommendation",
        entityKind: "domain",
        entityKey,
        recommendedPolicy,
        ...more
      })
      documents.set(
        "/datasets/1",
        servedJson({ type: "Dataset", endpoints: { snapshot: `${url}/datasets/1/snapshot` } })
      )
      documents.set(
        "/datasets/1/snapshot",
        servedJson({ type: "OrderedCollection", first: `${url}/datasets/1/snapshot/1` })
      )
      // The newest first.
      documents.set(
        "/datasets/1/snapshot/1",
        servedJson({
          orderedItems: [
            item("dropped.example", "drop"),
            item("both.example", "filter"),
            { type: "Retraction", entityKind: "domain", entityKey: "back.example" },
            item("someone@x.example", "drop", { entityKind: "actor" }),
            { type: "Advisory", entityKind: "domain", entityKey: "labelled.example", labels: ["spam"] }
          ],
          next: "/datasets/1/snapshot/2"
        })
      )
      documents.set(
        "/datasets/1/snapshot/2",
        servedJson({
          orderedItems: [
            item("dropped.example", "accept"),
            item("back.example", "drop"),
            item("friend.example", "accept")
          ]
        })
      )
      const { body: fires } = yield* ask(staff, "POST", path, {
        name: "Fires",
        url: `${url}/datasets/1`,
        type: "fires",
        priority: 10,
        apply_automatically: true
      })
      const first = ["both.example silence by list", "dropped.example suspend by list"]
      assert.deepStrictEqual(yield* becomes(first), first)
      const source = yield* published("low.csv", "text/csv", "both.example\nlow.example\n")
      yield* ask(staff, "POST", path, { name: "Low", url: source.url, apply_automatically: true })
      const both = ["both.example silence by list", "dropped.example suspend by list", "low.example suspend by list"]
      assert.deepStrictEqual(yield* becomes(both), both)
      documents.set("/datasets/1/snapshot/1", servedJson({ orderedItems: [] }))
      yield* ask(staff, "POST", `${path}/${fires.id}/sync`)
      const after = ["both.example suspend by list", "low.example suspend by list"]
      assert.deepStrictEqual(yield* becomes(after), after)
      // A dataset whose pages form a circle is not read, and its earlier content stays.
      documents.set("/datasets/1/snapshot/1", servedJson({ orderedItems: [], next: "/datasets/1/snapshot/1" }))
      const error = yield* eventually(
        Effect.map(synced(staff, fires.id), ({ last_error: why }) => why),
        (why) => why !== null
      )
      assert.strictEqual(error, "its pages repeat or leave its host")
      yield* emptyTables
    }))

  it.effect("blocks as a file: previewed before they are created, added to existing ones, and exported unchanged", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("filer", ["manageFederation"])
      const at = "/api/v1/admin/domain_block_files"
      yield* ask(staff, "POST", "/api/v1/admin/domain_blocks", { domain: "here.example", public_comment: `a "b", c` })
      const data = `${header}here.example,suspend,,,,\nnew.example,silence,true,false,why,false\n!,suspend,,,,\n`
      const { body: preview } = yield* ask(staff, "POST", `${at}/preview`, { data })
      yield* Schema.decodeUnknownEffect(AdminBlockPreview)(preview, { onExcessProperty: "error" })
      assert.deepStrictEqual(
        [preview.skipped, preview.entries.map((one: { domain: string; known: boolean }) => [one.domain, one.known])],
        [1, [["here.example", true], ["new.example", false]]]
      )
      assert.deepStrictEqual(yield* rules, ["here.example silence"])
      assert.deepStrictEqual((yield* ask(staff, "POST", at, { data })).body, { made: 1 })
      assert.deepStrictEqual((yield* ask(staff, "POST", at, { data })).body, { made: 0 })
      assert.strictEqual(
        (yield* ask(staff, "GET", at)).body.data.trim(),
        `${header}here.example,silence,false,false,"a ""b"", c",false\nnew.example,silence,true,false,why,false`
      )
      const blank = yield* ask(staff, "POST", at, {})
      assert.deepStrictEqual(blank.body, { error: "Validation failed: Data can't be blank" })
      yield* emptyTables
    }))
})
