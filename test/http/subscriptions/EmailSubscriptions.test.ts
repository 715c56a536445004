import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../../src/http/guard/Limits.ts"
import { parse } from "../../../src/services/identity/EmailAddresses.ts"
import { MailLinks } from "../../../src/services/identity/MailLinks.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { EmailDigests } from "../../../src/services/subscriptions/EmailDigests.ts"
import { pendingMax, subscriptionsMax } from "../../../src/services/subscriptions/EmailSubscriptions.ts"
import { behindGate } from "../../support/Gates.ts"
import { person } from "../../support/People.ts"
import { get, post, send } from "../../support/Requests.ts"
import { issueToken, user } from "../../support/SignedIn.ts"
import {
  change,
  linkIn,
  nextEmailTo,
  path,
  runDigestSweep,
  subscribed,
  takeEmails,
  withEmailSubscriptions,
  write
} from "../../support/Subscribers.ts"
import { server } from "../../support/WebServer.ts"

const sweeping = (config: Partial<ServerConfig["Service"]>) =>
  Layer.provideMerge(Layer.mergeAll(EmailDigests.layer, Retention.layer), server(config))

layer(sweeping({ emailSubscriptions: true }), { excludeTestServices: true })(
  "posts by e-mail",
  (it) => {
    it.effect("F122: an anonymous request changes the language of a pending subscription, not of a confirmed one", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* withEmailSubscriptions("lena")
        const locale = Effect.map(
          sql<{ locale: string }>`SELECT locale FROM email_subscriptions WHERE account_id = ${id}`,
          ([row]) => row?.locale
        )
        const subscribeIn = (language: string) =>
          post(path(id), { email: "lang@mail.example" }, { "accept-language": language })
        yield* subscribeIn("de")
        yield* nextEmailTo("lang@mail.example")
        yield* subscribeIn("fr")
        assert.strictEqual(yield* locale, "fr")
        yield* get(linkIn(yield* nextEmailTo("lang@mail.example"), "/email_subscriptions/"))
        assert.strictEqual((yield* subscribeIn("de")).status, 200)
        assert.strictEqual(yield* locale, "fr")
      }))

    it.effect("POST /api/v1/accounts/:id/email_subscriptions: the address is confirmed by a link, gets public posts, unsubscribes with one click", () =>
      Effect.gen(function*() {
        const { publicUrl } = yield* ServerConfig
        const { bearer, id } = yield* withEmailSubscriptions("anna")
        assert.strictEqual((yield* get(`/api/v1/accounts/${id}`)).body.email_subscriptions, true)
        const asked = yield* post(path(id), { email: " Reader@Mail.Example " }, { "accept-language": "de" })
        assert.deepStrictEqual([asked.status, asked.body], [200, {}])
        const letter = yield* nextEmailTo("reader@mail.example")
        assert.match(letter.subject, /Bestätige/)
        const unsubscribe = letter.headers?.["List-Unsubscribe"] ?? ""
        assert.match(unsubscribe, new RegExp(`^<${publicUrl}/unsubscribe\\?token=\\d+\\.[\\w-]{43}>$`))
        assert.deepInclude(letter.headers, {
          "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
          "List-ID": "<anna.local.example>"
        })

        // Nothing is sent before the link is opened.
        yield* write(bearer, { status: "too early" })
        yield* runDigestSweep
        assert.deepStrictEqual(yield* takeEmails, [])
        const confirmation = linkIn(letter, "/email_subscriptions/")
        const page = yield* get(confirmation)
        assert.strictEqual(page.status, 200)
        assert.include(page.text, "@anna@local.example")
        assert.strictEqual((yield* get(confirmation)).status, 200, "a link works again")

        const first = yield* write(bearer, { status: "first <b>" })
        yield* write(bearer, { status: "second", in_reply_to_id: first, spoiler_text: "beware" })
        yield* write(bearer, { status: "quiet", visibility: "unlisted" })
        yield* write(bearer, { status: "for friends", visibility: "private" })
        const gone = yield* write(bearer, { status: "gone" })
        yield* send(`/api/v1/statuses/${gone}`, { method: "DELETE", headers: { authorization: `Bearer ${bearer}` } })
        const ben = yield* issueToken(yield* person("ben"))
        const other = yield* write(ben, { status: "by ben" })
        yield* write(bearer, { status: "@ben a reply", in_reply_to_id: other })
        yield* runDigestSweep
        const digests = yield* takeEmails
        assert.strictEqual(digests.length, 1)
        const digest = digests[0]!
        assert.strictEqual(digest.to, "reader@mail.example")
        assert.strictEqual(digest.subject, "Neue Beiträge von @anna")
        assert.include(digest.text, `first <b>\n${publicUrl}/@anna/${first}`)
        assert.include(digest.text, "beware")
        for (const word of ["second", "quiet", "friends", "gone", "a reply", "too early"]) {
          assert.notInclude(digest.text, word)
        }
        assert.strictEqual(digest.headers?.["List-Unsubscribe"], unsubscribe)
        yield* runDigestSweep
        assert.deepStrictEqual(yield* takeEmails, [], "each post is sent once")

        const link = linkIn(digest, "/unsubscribe")
        const asking = yield* get(link)
        assert.include(asking.text, `method="post"`)
        assert.strictEqual((yield* get(link)).status, 200, "a look ends nothing")
        const ended = yield* post(link, { "List-Unsubscribe": "One-Click" })
        assert.strictEqual(ended.status, 200, ended.text)
        assert.strictEqual((yield* post(link, { "List-Unsubscribe": "One-Click" })).status, 200)
        const pressed = yield* post(link, {}, { "sec-fetch-mode": "navigate" })
        assert.deepStrictEqual([pressed.status, pressed.headers.get("location")], [303, link], "F410")
        assert.include((yield* get(link)).text, "You are unsubscribed")
        yield* write(bearer, { status: "after the end" })
        yield* runDigestSweep
        assert.deepStrictEqual(yield* takeEmails, [])
        // The old link is no longer valid.
        assert.strictEqual((yield* get(confirmation)).status, 404)
      }))

    it.effect("subscribers are not disclosed; an invalid address is refused with details", () =>
      Effect.gen(function*() {
        const { id } = yield* withEmailSubscriptions("cora")
        yield* subscribed(id, "known@mail.example")
        const [known, unknown] = [
          yield* post(path(id), { email: "known@mail.example" }),
          yield* post(path(id), { email: "unknown@mail.example" })
        ]
        assert.deepStrictEqual([known.status, known.text], [unknown.status, unknown.text])
        assert.strictEqual((yield* nextEmailTo("unknown@mail.example")).to, "unknown@mail.example")
        assert.deepStrictEqual(yield* takeEmails, [], "who agreed is not asked again")
        const details = (email: string) =>
          Effect.map(post(path(id), { email }), ({ body, status }) => [status, body.details?.email?.[0]?.error])
        assert.deepStrictEqual(yield* details(""), [422, "ERR_BLANK"])
        assert.deepStrictEqual(yield* details("no address"), [422, "ERR_INVALID"])
        assert.deepStrictEqual(yield* details("a@b\r\nBcc: c@d.example"), [422, "ERR_INVALID"])
        assert.deepStrictEqual(yield* details(`${"x".repeat(320)}@mail.example`), [422, "ERR_TOO_LONG"])
        for (const token of ["", "1", "1.x", `${id}.${"a".repeat(43)}`, "9".repeat(40)]) {
          assert.strictEqual((yield* get(`/unsubscribe?token=${token}`)).status, 404, token)
          assert.strictEqual((yield* post(`/unsubscribe?token=${token}`, {})).status, 404, token)
          assert.strictEqual((yield* get(`/email_subscriptions/confirmation?confirmation_token=${token}`)).status, 404)
        }
      }))

    it.effect("an account that does not offer them is 404: without the setting, without the role, suspended, remote, unknown", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const now = new Date(yield* Clock.currentTimeMillis)
        const { bearer, id } = yield* withEmailSubscriptions("dora")
        const letter = yield* subscribed(id, "reader-of-dora@mail.example")
        const response = (of: bigint) => Effect.map(post(path(of), { email: "x@mail.example" }), ({ status }) => status)
        const plain = yield* person("emil")
        const asPlain = yield* change(yield* issueToken(plain), true)
        assert.strictEqual(asPlain.status, 403)
        assert.strictEqual(yield* response(plain), 404)
        assert.strictEqual(yield* response(1n), 404)
        yield* write(bearer, { status: "gathered before the end" })
        yield* change(bearer, false)
        assert.strictEqual((yield* get(`/api/v1/accounts/${id}`)).body.email_subscriptions, false)
        assert.strictEqual(yield* response(id), 404)
        assert.strictEqual((yield* get(linkIn(letter, "/email_subscriptions/"))).status, 404)
        yield* runDigestSweep
        assert.deepStrictEqual(yield* takeEmails, [])
        yield* change(bearer, true)
        yield* sql`UPDATE users SET role_id = -99 WHERE account_id = ${id}`
        assert.strictEqual(yield* response(id), 404)
        yield* sql`UPDATE users SET role_id = 77 WHERE account_id = ${id}`
        assert.strictEqual(yield* response(id), 200)
        yield* sql`UPDATE accounts SET suspended_at = ${now} WHERE id = ${id}`
        assert.strictEqual(yield* response(id), 404)
        const left = sql`SELECT 1 FROM email_subscriptions WHERE account_id = ${id}`
        assert.strictEqual((yield* left).length, 2)
        yield* sql`DELETE FROM users WHERE account_id = ${id}`
        assert.strictEqual((yield* left).length, 0, "they go with the account")
        yield* takeEmails
      }))

    it.effect("F74: unconfirmed subscriptions are deleted after seven days; beyond the maximum of pending addresses a new one is refused", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* withEmailSubscriptions("finn")
        yield* subscribed(id, "stays@mail.example")
        yield* post(path(id), { email: "waits@mail.example" })
        yield* sql`UPDATE email_subscriptions SET created_at = ${new Date(
          (yield* Clock.currentTimeMillis) - 8 * 86_400_000
        )} WHERE account_id = ${id}`
        yield* (yield* Retention).sweep
        const left = yield* sql<{ email: string }>`SELECT email FROM email_subscriptions WHERE account_id = ${id}`
        assert.deepStrictEqual(left.map(({ email }) => email), ["stays@mail.example"])
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO email_subscriptions (id, account_id, email, locale, created_at)
          SELECT 1000000 + n, ${id}, n || '@many.example', 'en', ${now} FROM generate_series(1, ${pendingMax - 1}) n`
        assert.strictEqual((yield* post(path(id), { email: "last@mail.example" })).status, 200)
        const refusals = yield* Effect.forEach(
          ["newest@mail.example", "last@mail.example", "stays@mail.example"],
          (email) => post(path(id), { email })
        )
        // Responses do not reveal known addresses.
        assert.strictEqual(refusals[0]?.status, 422)
        assert.deepStrictEqual(refusals.map(({ body }) => body), refusals.map(() => refusals[0]?.body))
        const [{ pending } = { pending: 0 }] = yield* sql<{ pending: number }>`SELECT count(*)::int AS pending
          FROM email_subscriptions WHERE account_id = ${id} AND confirmed_at IS NULL`
        assert.strictEqual(pending, pendingMax)
        const first = yield* sql`SELECT FROM email_subscriptions WHERE email = '1@many.example'`
        assert.lengthOf(first, 1)
        yield* takeEmails
      }))

    it.effect("F73: concurrent confirmations do not exceed an account's maximum of subscribers", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* withEmailSubscriptions("karl")
        const addresses = ["a@full.example", "b@full.example", "c@full.example"]
        const links = yield* Effect.forEach(addresses, (email) =>
          Effect.gen(function*() {
            assert.strictEqual((yield* post(path(id), { email })).status, 200)
            return linkIn(yield* nextEmailTo(email), "/email_subscriptions/")
          }))
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO email_subscriptions (id, account_id, email, locale, created_at, confirmed_at)
          SELECT 2000000 + n, ${id}, n || '@full.example', 'en', ${now}, ${now}
          FROM generate_series(1, ${subscriptionsMax - 1}) n`
        const pages = yield* behindGate("email_subscriptions", "UPDATE", links.map((link) => get(link)))
        assert.deepStrictEqual(pages.map(({ status }) => status).toSorted(), [200, 422, 422])
        const refused = pages.findIndex(({ status }) => status === 422)
        assert.include(pages[refused]?.text, "This account accepts no more email subscriptions")
        const confirmed = links[pages.findIndex(({ status }) => status === 200)] ?? ""
        assert.strictEqual((yield* get(confirmed)).status, 200, "a link works again")
        yield* sql`DELETE FROM email_subscriptions WHERE email = '1@full.example'`
        assert.strictEqual((yield* get(links[refused] ?? "")).status, 200, "the link works once there is room")
      }))

    it.effect("a subscriber who signs up with the address follows instead", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* withEmailSubscriptions("gina")
        yield* subscribed(id, "hugo@mail.example")
        const hugo = yield* user("hugo")
        yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${hugo}`
        const bearer = yield* issueToken(hugo, ["read", "write"])
        yield* (yield* MailLinks).requestConfirmation(parse("hugo@mail.example"))
        const letter = yield* nextEmailTo("hugo@mail.example")
        assert.strictEqual((yield* get(linkIn(letter, "/auth/confirmation"))).status, 200)
        const { body } = yield* get(`/api/v1/accounts/relationships?id[]=${id}`, bearer)
        assert.strictEqual(body[0].following, true)
        const left = yield* sql`SELECT 1 FROM email_subscriptions WHERE account_id = ${id}`
        assert.strictEqual(left.length, 0)
      }))
  }
)

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })(
  "posts by e-mail, on a server without them",
  (it) => {
    it.effect("the feature can be neither requested nor offered, and accounts do not mention it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const iris = yield* user("iris")
        yield* sql`UPDATE users SET role_id = (SELECT id FROM roles WHERE permissions & 1 = 1 LIMIT 1), email_subscriptions = true
        WHERE account_id = ${iris}`
        const response = yield* post(path(iris), { email: "x@mail.example" })
        assert.deepStrictEqual([response.status, response.text], [404, `{"error":"Record not found"}`])
        assert.strictEqual((yield* change(yield* issueToken(iris), true)).status, 403)
        assert.notProperty((yield* get(`/api/v1/accounts/${iris}`)).body, "email_subscriptions")
      }))

    it.effect("an address is asked at most five times in half an hour, by all requesters", () =>
      Effect.gen(function*() {
        const jan = yield* person("jan")
        const statuses = []
        for (let times = 0; times < 6; times++) {
          statuses.push((yield* post(path(jan), { email: "flooded@mail.example" })).status)
        }
        assert.deepStrictEqual(statuses, [404, 404, 404, 404, 404, 429])
      }))
  }
)
