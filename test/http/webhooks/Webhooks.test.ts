import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import { AdminAccount } from "../../../src/http/staff/wire/AdminAccount.ts"
import { AdminReport } from "../../../src/http/staff/wire/AdminReport.ts"
import { AdminWebhook } from "../../../src/http/webhooks/wire/Webhook.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { ask, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { otherServer } from "../../support/RemotePosts.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"

const path = "/api/v1/admin/webhooks"
const events = [
  "account.approved",
  "account.created",
  "account.updated",
  "report.created",
  "report.updated",
  "status.created",
  "status.updated"
]
const all = ["manageWebhooks", "manageUsers", "manageReports", "viewDevops"] as const

/** Starts a program that records its requests, and responds as configured. */
const program = Effect.gen(function*() {
  const { reply, baseUrl } = yield* otherServer
  // Tests read messages of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  const told: Array<{ readonly body: any; readonly text: string; readonly signature: string; readonly id: string }> = []
  const replies: Array<number> = []
  const url = reply("/hook", (request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const text = Buffer.concat(parts).toString()
      const { "x-hub-delivery": id, "x-hub-signature": signature } = request.headers
      told.push({ body: JSON.parse(text), text, signature: String(signature), id: String(id) })
      response.writeHead(replies.shift() ?? 204).end()
    })
  })
  return { baseUrl, told, replies, url }
})
const toldOf = (one: Effect.Success<typeof program>, count: number) =>
  eventually(Effect.sync(() => one.told), (told) => told.length >= count)
const signed = (text: string, secret: string) => `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`

layer(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" }), { excludeTestServices: true })(
  "webhooks",
  (it) => {
    it.effect("report accounts, reports and posts, each signed, in order", () =>
      Effect.gen(function*() {
        const by = yield* staffMember("hooker", all)
        const other = yield* program
        const { body: hook } = yield* ask(by, "POST", path, { url: other.url, events })
        const { secret } = yield* Schema.decodeUnknownEffect(AdminWebhook)(hook, { onExcessProperty: "error" })
        assert.isAtLeast(secret?.length ?? 0, 12)
        const anna = yield* newPerson("anna")
        const { body: post } = yield* ask(anna, "POST", "/api/v1/statuses", { status: "for all" })
        yield* ask(anna, "POST", "/api/v1/statuses", { status: "for followers", visibility: "private" })
        yield* ask(anna, "POST", "/api/v1/statuses", { status: "for one", visibility: "direct" })
        yield* ask(anna, "PUT", `/api/v1/statuses/${post.id}`, { status: "for all, really" })
        yield* ask(anna, "PATCH", "/api/v1/accounts/update_credentials", { display_name: "Anna" })
        const { body: report } = yield* ask(by, "POST", "/api/v1/reports", { account_id: String(anna.accountId) })
        yield* ask(by, "POST", `/api/v1/admin/reports/${report.id}/resolve`)
        yield* toldOf(other, 7)
        const names = new Set(other.told.map(({ body }) => body.event))
        assert.deepStrictEqual([...names].toSorted(), events.toSorted())
        for (const { body, id, signature, text } of other.told) {
          assert.strictEqual(signature, signed(text, secret ?? ""))
          assert.match(id, /^\d+$/)
          assert.isFalse(Number.isNaN(Date.parse(body.created_at)))
          const schema: Schema.Codec<unknown, unknown> = body.event.startsWith("account")
            ? AdminAccount
            : body.event.startsWith("report")
            ? AdminReport
            : Status
          yield* Schema.decodeUnknownEffect(schema)(body.object)
        }
        const posts = other.told.filter(({ body }) => body.event.startsWith("status"))
        assert.deepStrictEqual(posts.map(({ body }) => [body.event, body.object.id]), [
          ["status.created", post.id],
          ["status.updated", post.id]
        ])
        const ids = other.told.map(({ id }) => BigInt(id))
        assert.deepStrictEqual(ids, ids.toSorted((one, two) => one < two ? -1 : 1))
        const { body: shown } = yield* eventually(
          ask(by, "GET", `${path}/${hook.id}`),
          ({ body }) => body.waiting_count === 0
        )
        assert.isNotNull(shown.last_delivered_at)
        yield* ask(by, "DELETE", `${path}/${hook.id}`)
        assert.deepStrictEqual((yield* auditEntries(by.accountId)).map(({ act }) => act), [
          "webhook destroy",
          "report resolve",
          "webhook create"
        ])
      }))

    it.effect("row 92: programs that accept events and never respond do not delay others", () =>
      Effect.gen(function*() {
        const by = yield* staffMember("patient", all)
        let heard = 0
        const hook = (url: string) => ask(by, "POST", path, { url, events: ["status.created"] })
        // More than a node's concurrent webhooks, and due before the other one.
        const hooks = []
        for (let count = 0; count < 18; count++) {
          const { reply } = yield* otherServer
          hooks.push(yield* hook(reply("/hook", () => void heard++)))
        }
        const other = yield* program
        hooks.push(yield* hook(other.url))
        yield* ask(by, "POST", "/api/v1/statuses", { status: "one" })
        yield* toldOf(other, 1)
        // More must end to free a place for the other one.
        const ended = yield* (yield* SqlClient.SqlClient)`SELECT FROM webhooks WHERE failed_at IS NOT NULL`
        assert.isBelow(ended.length, 3)
        // Requests to the silent programs may still be on their way.
        yield* eventually(Effect.sync(() => heard), (requests) => requests >= 16)
        for (const { body } of hooks) yield* ask(by, "DELETE", `${path}/${body.id}`)
      }))

    it.effect("row 92: a refused delivery is retried under the same id, also after the node's death; then it is given up", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const by = yield* staffMember("retrier", all)
        const other = yield* program
        other.replies.push(503)
        const { body: hook } = yield* ask(by, "POST", path, { url: other.url, events: ["status.created"] })
        yield* ask(by, "POST", "/api/v1/statuses", { status: "one" })
        yield* toldOf(other, 1)
        const failed = yield* eventually(ask(by, "GET", `${path}/${hook.id}`), ({ body }) => body.last_error !== null)
        assert.deepStrictEqual([failed.body.last_error, failed.body.waiting_count], ["HTTP 503", 1])
        yield* ask(by, "POST", "/api/v1/statuses", { status: "two" })
        // As after the death of a node that was sending an event: the claim has expired.
        const due = sql`UPDATE webhook_deliveries SET due_at = ${new Date(0)} WHERE due_at IS NOT NULL`
        yield* due
        yield* toldOf(other, 3)
        assert.strictEqual(other.told[0]?.id, other.told[1]?.id)
        assert.strictEqual(other.told[0]?.body.created_at, other.told[1]?.body.created_at)
        assert.deepStrictEqual(
          other.told.map(({ body }) => body.object.content),
          ["<p>one</p>", "<p>one</p>", "<p>two</p>"]
        )
        // A request that the program refuses is not repeated; one that fails is tried eight times.
        other.replies.push(422)
        yield* ask(by, "POST", "/api/v1/statuses", { status: "three" })
        const given = (count: number) =>
          eventually(ask(by, "GET", `${path}/${hook.id}`), ({ body }) => body.given_up_count === count)
        const { body: up } = yield* given(1)
        assert.deepStrictEqual([up.last_error, up.waiting_count], ["HTTP 422", 0])
        other.replies.push(500)
        yield* ask(by, "POST", "/api/v1/statuses", { status: "four" })
        yield* toldOf(other, 5)
        yield* eventually(
          sql<{ due: boolean }>`SELECT due_at > ${new Date()} AS due FROM webhook_deliveries`,
          ([row]) => row?.due === true
        )
        other.replies.push(500)
        yield* sql`UPDATE webhook_deliveries SET tries = 7, due_at = ${new Date(0)}`
        assert.strictEqual((yield* given(2)).body.last_error, "HTTP 500")
        yield* ask(by, "DELETE", `${path}/${hook.id}`)
      }))

    it.effect("are created only by staff who may read their events, with valid addresses and templates", () =>
      Effect.gen(function*() {
        const by = yield* staffMember("limited", ["manageWebhooks", "viewDevops"])
        const other = yield* program
        assert.strictEqual((yield* ask(by, "POST", path, { url: other.url, events: ["account.created"] })).status, 403)
        const wrong: ReadonlyArray<object> = [
          { url: "" },
          { url: "ftp://x.example/" },
          { url: "https://x.example/" + "x".repeat(2_000) },
          { events: [] },
          { events: ["account.exploded"] },
          { template: "{" },
          { template: `"${"x".repeat(8_200)}"` }
        ]
        for (const given of wrong) {
          const { status } = yield* ask(by, "POST", path, { url: other.url, events: ["status.created"], ...given })
          assert.strictEqual(status, 422, JSON.stringify(given).slice(0, 60))
        }
        const template =
          `{"text": "{{object.account.username}} wrote {{ object.content }}", "of": "{{object.tags[0].name}}", "n": {{object.replies_count}}}`
        const { body: hook } = yield* ask(by, "POST", path, { url: other.url, events: ["status.created"], template })
        assert.strictEqual((yield* ask(by, "POST", path, { url: other.url, events: ["status.created"] })).status, 422)
        yield* ask(by, "POST", "/api/v1/statuses", { status: `"quoted" #x` })
        yield* toldOf(other, 1)
        assert.deepStrictEqual([other.told[0]?.body.of, other.told[0]?.body.n], ["x", 0])
        assert.include(other.told[0]?.body.text, "limited wrote <p>&quot;quoted&quot;")
        const { body: rotated } = yield* ask(by, "POST", `${path}/${hook.id}/rotate_secret`)
        assert.notStrictEqual(rotated.secret, hook.secret)
        yield* ask(by, "POST", "/api/v1/statuses", { status: "again" })
        yield* toldOf(other, 2)
        assert.strictEqual(other.told[1]?.signature, signed(other.told[1]?.text ?? "", rotated.secret))
        assert.strictEqual((yield* ask(by, "POST", `${path}/${hook.id}/disable`)).body.enabled, false)
        yield* ask(by, "POST", "/api/v1/statuses", { status: "unheard" })
        const { body: shown } = yield* ask(by, "POST", `${path}/${hook.id}/enable`)
        assert.deepStrictEqual([shown.enabled, shown.waiting_count], [true, 0])
        yield* ask(by, "DELETE", `${path}/${hook.id}`)
      }))
  }
)
