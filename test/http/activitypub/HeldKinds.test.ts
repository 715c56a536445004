import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { deleteBatch } from "../../../src/services/federation/purge/PurgedPosts.ts"
import { ask, idsOf, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { only, requests } from "../../support/InteractionCalls.ts"
import { notified, post, show } from "../../support/QuoteCalls.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { rule, unruled } from "../spam/SpamCalls.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers, settled } from "./Sending.ts"

const held = "/api/v1/admin/held_posts"
const word = "lottery"

/** Creates a moderator, and a rule that holds posts with `word`. */
const holding = Effect.fnUntraced(function*(name: string) {
  const by = yield* staffMember(name, ["manageRules", "manageReports"])
  yield* rule(by, "hold", { text_words: [word] })
  return by
})
const approve = Effect.fnUntraced(function*(by: Person, { id }: { readonly id: string }) {
  assert.strictEqual((yield* ask(by, "POST", `${held}/${id}/approve`)).status, 200)
  yield* settled
})
const isHidden = (by: Person, { id }: { readonly id: string }) =>
  Effect.map(ask(by, "GET", `/api/v1/statuses/${id}`), ({ status }) => status === 404)

layer(servers, { excludeTestServices: true })("kinds of posts that rules hold", (it) => {
  it.effect("F334: a scheduled post is held when it is due, and published once it is approved", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* holding("wilma1")
      const [anna, ben] = [yield* newPerson("anna1"), yield* newPerson("ben1")]
      const later = new Date(Date.now() + 3_600_000).toISOString()
      const scheduled = yield* ask(anna, "POST", "/api/v1/statuses", {
        status: `@ben1 a ${word}`,
        scheduled_at: later
      })
      assert.strictEqual(scheduled.status, 200)
      assert.deepStrictEqual(yield* idsOf(by, held), [], "it is not due")
      yield* sql`UPDATE agenda SET due_at = now() WHERE kind = 'scheduled_status' AND subject_id = ${scheduled.body.id}`
      const [id] = yield* eventually(idsOf(by, held), ({ length }) => length > 0)
      yield* settled
      const one = { id: String(id) }
      assert.isTrue(yield* isHidden(ben, one))
      assert.deepStrictEqual(yield* notified(ben, "mention"), [])
      assert.deepStrictEqual(yield* idsOf(anna, "/api/v1/scheduled_statuses"), [])
      yield* approve(by, one)
      assert.deepStrictEqual(yield* notified(ben, "mention"), [["anna1", one.id]])
      yield* unruled(by)
    }))

  it.effect("F334: a quote is neither announced nor counted until its post is approved", () =>
    Effect.gen(function*() {
      const by = yield* holding("wilma2")
      const [anna, ben] = [yield* newPerson("anna2"), yield* newPerson("ben2")]
      const quotable = yield* post(ben, "quote me", { quote_approval_policy: "public" })
      const { body: one } = yield* ask(anna, "POST", "/api/v1/statuses", {
        status: `a ${word}`,
        quoted_status_id: quotable.id
      })
      yield* settled
      const quotes = idsOf(ben, `/api/v1/statuses/${quotable.id}/quotes`)
      assert.deepStrictEqual(yield* notified(ben, "quote"), [])
      assert.deepStrictEqual(yield* quotes, [])
      assert.strictEqual((yield* show(ben, quotable)).quotes_count, 0)
      yield* approve(by, one)
      assert.deepStrictEqual(yield* notified(ben, "quote"), [["anna2", one.id]])
      assert.deepStrictEqual(yield* quotes, [one.id])
      assert.strictEqual((yield* show(ben, quotable)).quotes_count, 1)
      yield* unruled(by)
    }))

  it.effect("F334: authors are asked about quotes once their posts are approved; a reply that asks is reported instead", () =>
    Effect.gen(function*() {
      const by = yield* holding("wilma3")
      const [anna, ben] = [yield* newPerson("anna3"), yield* newPerson("ben3")]
      const asked = yield* post(ben, "ask me", {
        interaction_policy: { can_quote: { manual_approval: ["public"] } }
      })
      const { body: one } = yield* ask(anna, "POST", "/api/v1/statuses", {
        status: `a ${word}`,
        quoted_status_id: asked.id
      })
      yield* settled
      assert.deepStrictEqual((yield* requests(ben)).body, [])
      assert.deepStrictEqual(yield* notified(ben, "pending.quote"), [])
      yield* approve(by, one)
      assert.deepStrictEqual(yield* notified(ben, "pending.quote"), [["anna3", one.id]])
      const control = yield* post(ben, "ask before you reply", only("can_reply", [], ["public"]))
      const { body: reply } = yield* ask(anna, "POST", "/api/v1/statuses", {
        status: `a ${word}`,
        in_reply_to_id: control.id
      })
      yield* settled
      assert.deepStrictEqual(yield* idsOf(by, held), [])
      const { body: [report] } = yield* ask(by, "GET", "/api/v1/admin/reports")
      assert.deepStrictEqual(report.statuses.map(({ id }: { readonly id: string }) => id), [reply.id])
      assert.isTrue(yield* isHidden(by, reply))
      yield* unruled(by)
    }))

  it.effect("F334: a held quote from another server is told to nobody until it is approved, whatever was requested", () =>
    Effect.gen(function*() {
      const by = yield* holding("wilma6")
      const [ben, zoe] = [yield* newPerson("ben6"), yield* there("zoe6")]
      const actor = yield* actorOf(ben)
      const [open, asked] = [
        yield* post(ben, "quote me", { quote_approval_policy: "public" }),
        yield* post(ben, "ask me", { interaction_policy: { can_quote: { manual_approval: ["public"] } } })
      ]
      for (const [name, quoted] of [["open", open], ["asked", asked]] as const) {
        const instrument = note(zoe, name, {
          content: `<p>a ${word}</p>`,
          published: new Date().toISOString(),
          cc: [actor],
          quote: quoted.uri
        })
        yield* deliverFrom(zoe, { type: "Create", object: instrument })
        yield* deliverFrom(zoe, { type: "QuoteRequest", object: quoted.uri, instrument: instrument["id"] })
      }
      const counts = Effect.map(
        Effect.all([show(ben, open), show(ben, asked)]),
        (all) => all.map(({ quotes_count }) => quotes_count)
      )
      const all = Effect.map(
        Effect.all([notified(ben, "quote"), notified(ben, "pending.quote"), requests(ben)]),
        ([quotes, pending, { body }]) => [quotes.length, pending.length, body.length]
      )
      const waiting = yield* idsOf(by, held)
      assert.strictEqual(waiting.length, 2)
      assert.deepStrictEqual([yield* counts, yield* all], [[0, 0], [0, 0, 0]])
      yield* Effect.forEach(waiting, (id) => approve(by, { id }))
      assert.deepStrictEqual([yield* counts, yield* all], [[1, 0], [1, 1, 1]])
      yield* unruled(by)
    }))

  it.effect("F335: held posts are not counted when they are removed from a thread, when they lose their quotes or are purged", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* holding("wilma7")
      const [anna, ben, cleo] = yield* Effect.all(["anna7", "ben7", "cleo7"].map(newPerson))
      const thread = yield* post(ben!, "reply to me, or quote me", { quote_approval_policy: "public" })
      const writeHeld = Effect.fnUntraced(function*(author: Person) {
        const reply = yield* publish(author, `a ${word}`, { in_reply_to_id: thread.id })
        yield* publish(author, `another ${word}`, { quoted_status_id: thread.id })
        return reply
      })
      const reply = yield* writeHeld(anna!)
      yield* writeHeld(cleo!)
      yield* ask(ben, "POST", `/api/v1/accounts/${anna!.accountId}/block`)
      yield* settled
      const [row] = yield* sql`SELECT in_reply_to_id FROM statuses WHERE id = ${reply.id}`
      assert.deepStrictEqual(row, { inReplyToId: null })
      yield* deleteBatch(sql, cleo!.accountId)
      const [figures] = yield* sql`SELECT replies_count, quotes_count FROM status_stats WHERE status_id = ${thread.id}`
      assert.deepStrictEqual(figures, { repliesCount: 0, quotesCount: 0 })
      const posted = yield* sql`SELECT statuses_count FROM account_stats
        WHERE account_id IN (${anna!.accountId}, ${cleo!.accountId})`
      assert.deepStrictEqual(posted, [{ statusesCount: 0 }, { statusesCount: 0 }])
      yield* unruled(by)
    }))

  it.effect("F334: other servers get a held post once it is approved, and nothing about one that is rejected", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* holding("wilma4")
      const [anna, zoe] = [yield* newPerson("anna4"), yield* there("zoe4")]
      const bodies: Array<string> = []
      yield* OtherServer.use(({ documents }) =>
        Effect.sync(() => {
          for (const path of ["/inbox", "/users/zoe4/inbox"]) {
            documents.set(path, (request, response) => {
              request.on("data", (part) => bodies.push(String(part)))
              request.on("end", () => response.writeHead(202).end())
            })
          }
        })
      )
      yield* found(anna, "zoe4")
      yield* deliverFrom(zoe, { type: "Follow", object: yield* actorOf(anna) })
      const creates = () => bodies.flatMap((body) => /"type":"Create"/.test(body) ? body : [])
      const nothingWaits = eventually(sql`SELECT FROM deliveries`, ({ length }) => length === 0)
      const [one, two] = [yield* publish(anna, `a ${word}`), yield* publish(anna, `another ${word}`)]
      yield* settled
      const plain = yield* publish(anna, "plain")
      yield* settled
      yield* nothingWaits
      assert.strictEqual(creates().length, 1)
      assert.include(creates()[0], plain.id)
      assert.strictEqual((yield* ask(by, "POST", `${held}/${two.id}/reject`)).status, 200)
      yield* approve(by, one)
      yield* nothingWaits
      assert.strictEqual(creates().length, 2)
      assert.include(creates()[1], one.id)
      assert.isEmpty(bodies.filter((body) => body.includes(two.id)))
      yield* unruled(by)
    }))
})

layer(TestServer.layer({ EMAIL_SUBSCRIPTIONS: "on" }), { excludeTestServices: true })(
  "held posts by e-mail",
  (it) => {
    it.effect("F334: subscribers by e-mail get a held post once it is approved", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const by = yield* holding("wilma5")
        const [anna, ben] = [yield* newPerson("anna5"), yield* newPerson("ben5")]
        yield* sql`UPDATE users SET email_subscriptions = true WHERE account_id = ${anna.accountId}`
        yield* sql`INSERT INTO email_subscriptions (id, account_id, email, locale, created_at, confirmed_at)
          VALUES (1, ${anna.accountId}, 'reader@mail.example', 'en', now(), now())`
        const waiting = Effect.map(
          sql<{ id: bigint }>`SELECT status_id AS id FROM email_digest_posts ORDER BY status_id`,
          (rows) => rows.map(({ id }) => String(id))
        )
        const other = yield* publish(ben, "reply to me")
        const one = yield* publish(anna, `a ${word}`)
        const reply = yield* publish(anna, `a ${word}, too`, { in_reply_to_id: other.id })
        const few = yield* publish(anna, `a ${word} for few`, { visibility: "unlisted" })
        assert.deepStrictEqual(yield* waiting, [])
        yield* Effect.forEach([one, reply, few], (held) => approve(by, held))
        assert.deepStrictEqual(yield* waiting, [one.id])
      }))
  }
)
