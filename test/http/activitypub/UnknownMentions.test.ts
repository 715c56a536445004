import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { unknownMentionsMax } from "../../../src/services/federation/inbox/UnknownMentions.ts"
import { requestsPerCauseMax } from "../../../src/services/outbound/Allowances.ts"
import { peer } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { eventually, timesAsked } from "./Exchange.ts"
import { actorOf, found, mentioning, received, there } from "./InboxCalls.ts"
import { deliverFrom, note, servers } from "./Sending.ts"

const errands = SqlClient.SqlClient.use((sql) => Effect.orDie(sql`SELECT tries FROM errands WHERE kind = 'mentions'`))
const noErrands = eventually(Effect.map(errands, (rows) => rows.length === 0 ? true : undefined))
const mentionsOf = (status: { readonly mentions: ReadonlyArray<{ readonly username: string }> }) =>
  status.mentions.map(({ username }) => username).toSorted()

layer(servers, { excludeTestServices: true })("mentions of unknown accounts", (it) => {
  it.effect("S-009: are fetched and mentioned, and unavailable ones remain links", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* there("zoe")]
      const [me, other] = [yield* actorOf(anna), yield* peer]
      const [yan, xeno] = [yield* other.actor("yan"), yield* other.actor("xeno")]
      const named = mentioning(me, yan.id, xeno.id, `${other.url}/users/none`)
      // The post is not addressed to xeno, whom it mentions.
      const object = note(zoe, "hello", { ...named, cc: [me, yan.id] })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object }), "done")
      yield* noErrands
      const status = yield* received(anna)
      assert.deepStrictEqual(mentionsOf(status), ["anna", "yan"])
      const sql = yield* SqlClient.SqlClient
      assert.isEmpty(yield* sql`SELECT FROM unknown_mentions`)
      assert.deepStrictEqual(
        yield* sql`SELECT silent FROM mentions m JOIN accounts a ON a.id = m.account_id WHERE a.uri = ${xeno.id}`,
        [{ silent: true }]
      )
      // A reply reaches everybody.
      const reply = yield* publish(anna, `@yan@${other.domain} hi`, { in_reply_to_id: status.id })
      assert.deepStrictEqual(mentionsOf(reply), ["yan"])
    }))

  it.effect("S-009: an edit may mention others", () =>
    Effect.gen(function*() {
      const [bea, zita, ugo] = [yield* newPerson("bea"), yield* there("zita"), yield* (yield* peer).actor("ugo")]
      const me = yield* actorOf(bea)
      yield* deliverFrom(zita, { type: "Create", object: note(zita, "edited", mentioning(me)) })
      const updated = new Date().toISOString()
      const object = note(zita, "edited", { ...mentioning(me, ugo.id), updated })
      assert.strictEqual(yield* deliverFrom(zita, { type: "Update", object }), "done")
      yield* noErrands
      assert.deepStrictEqual(mentionsOf(yield* received(bea)), ["bea", "ugo"])
    }))

  it.effect("belong to a direct conversation as soon as they are known", () =>
    Effect.gen(function*() {
      const [cleo, wim, tess] = [yield* newPerson("cleo"), yield* there("wim"), yield* (yield* peer).actor("tess")]
      yield* acceptPrivateMentions(cleo)
      const me = yield* actorOf(cleo)
      const everyone = { ...mentioning(me, tess.id), to: [me, tess.id], cc: [] }
      yield* deliverFrom(wim, { type: "Create", object: note(wim, "few", everyone) })
      yield* noErrands
      const conversations = yield* json(cleo, "/api/v1/conversations")
      assert.strictEqual(conversations.length, 1)
      assert.deepStrictEqual(
        conversations[0].accounts.map(({ username }: { username: string }) => username).toSorted(),
        ["tess", "wim"]
      )
    }))

  it.effect("F20: an unavailable server is retried later and does not delay the sender's other activities", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [dora, vera, other] = [yield* newPerson("dora"), yield* there("vera"), yield* peer]
      const [me, sam] = [yield* actorOf(dora), yield* other.actor("sam")]
      const document = other.documents.get("/users/sam")!
      other.documents.set("/users/sam", (_, response) => response.writeHead(503).end())
      yield* deliverFrom(vera, { type: "Create", object: note(vera, "first", mentioning(me, sam.id)) })
      assert.strictEqual(
        yield* deliverFrom(vera, { type: "Create", object: note(vera, "second", mentioning(me)) }),
        "done"
      )
      assert.strictEqual((yield* received(dora)).content, "<p>second</p>")
      const asked = Effect.sync(() => other.requests.filter(({ url }) => url === "/users/sam").length)
      const hurried = Effect.andThen(
        Effect.orDie(sql`UPDATE errands SET due_at = ${new Date()} WHERE tries < 3`),
        asked
      )
      yield* eventually(Effect.map(hurried, (times) => times > 1 ? true : undefined))
      other.documents.set("/users/sam", document)
      yield* Effect.orDie(sql`UPDATE errands SET due_at = ${new Date()}, tries = 0`)
      yield* noErrands
      const [, { status }] = yield* json(dora, "/api/v1/notifications")
      assert.deepStrictEqual(mentionsOf(status), ["dora", "sam"])
    }))

  it.effect("row 34: lookups of unknown mentions are bounded per post, and local names cause none", () =>
    Effect.gen(function*() {
      const [emil, ulla, others] = [yield* newPerson("emil"), yield* there("ulla"), [yield* peer, yield* peer]]
      const me = yield* actorOf(emil)
      const many = Array.from({ length: unknownMentionsMax + 5 }, (_, n) => `${others[n % 2]!.url}/users/n${n}`)
      const nobody = `${me}-nobody`
      yield* deliverFrom(ulla, { type: "Create", object: note(ulla, "many", mentioning(me, nobody, ...many)) })
      yield* noErrands
      const asked = others.flatMap(({ requests }) => requests).filter(({ url }) => url?.startsWith("/users/n"))
      assert.strictEqual(asked.length, unknownMentionsMax)
      assert.strictEqual(yield* timesAsked(nobody), 0)
      assert.isUndefined(yield* found(emil, "nobody"))
    }))

  it.effect("F76: one post causes a bounded number of requests to one host; the rest follow later", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [fritz, tina, other] = [yield* newPerson("fritz"), yield* there("tina"), yield* peer]
      const many = yield* Effect.forEach(Array.from({ length: unknownMentionsMax }), (_, n) => other.actor(`many${n}`))
      const object = note(tina, "everybody", mentioning(yield* actorOf(fritz), ...many.map(({ id }) => id)))
      assert.strictEqual(yield* deliverFrom(tina, { type: "Create", object }), "done")
      // Tried twice within the hour.
      const tried = (times: number) =>
        eventually(
          Effect.map(errands, ([row]) => row !== undefined && Number(row["tries"]) >= times ? true : undefined)
        )
      yield* tried(1)
      yield* Effect.orDie(sql`UPDATE errands SET due_at = now() WHERE tries < 2`)
      yield* tried(2)
      assert.isAtMost(other.requests.length, requestsPerCauseMax)
      const [row] = yield* sql<{ left: number }>`SELECT count(*)::int AS left FROM unknown_mentions`
      assert.isAbove(row!.left, 0)
    }))
})
