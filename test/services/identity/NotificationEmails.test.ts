import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { EmailChoices } from "../../../src/services/emails/EmailChoices.ts"
import type { EmailedType } from "../../../src/services/emails/EmailLists.ts"
import { NotificationEmails } from "../../../src/services/identity/NotificationEmails.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { permissions } from "../../../src/services/staff/Permissions.ts"
import { settled } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { get, post, postJson } from "../../support/Requests.ts"
import { issueToken, user } from "../../support/SignedIn.ts"
import { linkIn, takeEmails, write } from "../../support/Subscribers.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const member = Effect.fnUntraced(function*(name: string) {
  const id = AccountId.make(yield* user(name))
  return { id, name, bearer: yield* issueToken(id) }
})

/** Creates a member who gets e-mails about these types. */
const reader = Effect.fnUntraced(function*(name: string, ...types: ReadonlyArray<EmailedType>) {
  const one = yield* member(name)
  yield* (yield* EmailChoices).change(one.id, { types, declined: [] })
  return one
})

/** Moves the last request, the last e-mail and the next check of an account back by minutes. */
const ago = Effect.fnUntraced(function*({ id }: { readonly id: AccountId }, minutes: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE email_choices SET seen_at = now() - ${minutes} * interval '1 minute', due_at = now() - interval '1 second',
    emailed_id = least(emailed_id, (floor(extract(epoch FROM now() - ${minutes} * interval '1 minute') * 1000)::bigint << 16))
    WHERE account_id = ${id}`
})
const checkNow = Effect.fnUntraced(function*({ id }: { readonly id: AccountId }) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE email_choices SET due_at = now() - interval '1 second' WHERE account_id = ${id}`
})

const sweep = Effect.flatMap(NotificationEmails, (emails) => emails.sweep)
/** Runs the sweep; returns the e-mails that it sends. */
const swept = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* settled
  yield* sweep
  yield* eventually(sql`SELECT kind FROM promised_emails`, (rows) => rows.length === 0)
  return yield* takeEmails
})

const follow = (bearer: string, id: AccountId) => postJson(`/api/v1/accounts/${id}/follow`, bearer, {})

layer(Layer.provideMerge(NotificationEmails.layer, server()), { excludeTestServices: true })(
  "e-mails about notifications",
  (it) => {
    it.effect("one e-mail an hour tells an absent member about all that is new, in the member's language", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { publicUrl } = yield* ServerConfig
        const anna = yield* reader("anna", "mention", "follow")
        const ben = yield* member("ben")
        yield* sql`UPDATE users SET locale = 'de' WHERE account_id = ${anna.id}`
        yield* ago(anna, 120)
        const status = yield* write(ben.bearer, { status: "Hello @anna, how <are> you?" })
        yield* write(ben.bearer, { status: "@anna beware", spoiler_text: "Spoiler" })
        yield* follow(ben.bearer, anna.id)
        const [letter, ...others] = yield* swept
        assert.lengthOf(others, 0)
        assert.isDefined(letter)
        assert.strictEqual(letter.to, "anna@mail.example")
        assert.match(letter.subject, /^Neue Benachrichtigungen \(/)
        assert.include(letter.text, `Hello @anna, how <are> you?\n${publicUrl}/@ben/${status}`)
        assert.include(letter.text, "Spoiler\n")
        assert.notInclude(letter.text, "beware")
        assert.include(letter.text, `${publicUrl}/@ben\n`)
        assert.include(letter.text, `${publicUrl}/settings/emails`)
        // The next e-mail is sent an hour later.
        yield* write(ben.bearer, { status: "@anna again" })
        assert.deepStrictEqual(yield* swept, [])
        yield* checkNow(anna)
        const [next] = yield* swept
        assert.match(next?.subject ?? "", /ben/)
        assert.include(next?.text, "again")
        assert.notInclude(next?.text, "Hello")
        yield* checkNow(anna)
        assert.deepStrictEqual(yield* swept, [], "nothing is told twice")
      }))

    it.effect("nothing is sent to a member who was active within the hour, read it elsewhere, or did not choose it", () =>
      Effect.gen(function*() {
        const [cora, dora, emma, fay] = [
          yield* reader("cora", "mention"),
          yield* reader("dora", "mention"),
          yield* reader("emma", "follow"),
          yield* member("fay")
        ]
        const gus = yield* member("gus")
        yield* ago(cora, 50)
        yield* ago(dora, 120)
        yield* ago(emma, 120)
        yield* write(gus.bearer, { status: "@cora @dora @emma @fay hi" })
        yield* settled
        const { body: [read] } = yield* get("/api/v1/notifications", dora.bearer)
        yield* postJson("/api/v1/markers", dora.bearer, { notifications: { last_read_id: read.id } })
        yield* ago(dora, 120)
        assert.deepStrictEqual(yield* swept, [])
        // A request with a token or a session counts as activity.
        yield* ago(cora, 120)
        yield* get("/api/v1/notifications", yield* issueToken(cora.id))
        assert.deepStrictEqual(yield* swept, [])
        assert.isDefined(fay)
      }))

    it.effect("blocked, muted and filtered senders, deleted posts and private texts are not in the e-mail", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const hal = yield* reader("hal", "mention", "favourite")
        const [ida, jon, kim, lea] = [
          yield* member("ida"),
          yield* member("jon"),
          yield* member("kim"),
          yield* member("lea")
        ]
        yield* follow(hal.bearer, lea.id)
        yield* postJson(`/api/v1/accounts/${jon.id}/mute`, hal.bearer, {})
        yield* ago(hal, 120)
        yield* write(ida.bearer, { status: "@hal blocked later" })
        yield* write(jon.bearer, { status: "@hal muted" })
        yield* write(kim.bearer, { status: "@hal unsolicited", visibility: "direct" })
        const gone = yield* write(lea.bearer, { status: "@hal gone" })
        yield* write(lea.bearer, { status: "@hal a secret", visibility: "direct" })
        yield* settled
        yield* sql`UPDATE statuses SET deleted_at = now() WHERE id = ${BigInt(gone)}`
        yield* postJson(`/api/v1/accounts/${ida.id}/block`, hal.bearer, {})
        yield* ago(hal, 120)
        const [letter, ...others] = yield* swept
        assert.lengthOf(others, 0)
        assert.match(letter?.subject ?? "", /^You were mentioned by lea \(/)
        for (const word of ["blocked", "muted", "unsolicited", "gone", "secret", "ida", "jon", "kim"]) {
          assert.notInclude(letter?.text, word)
        }
      }))

    it.effect("an e-mail names twenty notifications at most, and a member who is disabled gets none", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [mia, ned] = [yield* reader("mia", "mention"), yield* reader("ned", "mention")]
        const ole = yield* member("ole")
        yield* ago(mia, 120)
        yield* ago(ned, 120)
        for (let nth = 0; nth < 23; nth++) yield* write(ole.bearer, { status: `@mia @ned number ${nth};` })
        yield* sql`UPDATE users SET disabled = true WHERE account_id = ${ned.id}`
        const [letter, ...others] = yield* swept
        assert.lengthOf(others, 0)
        assert.isDefined(letter)
        assert.strictEqual(letter.text.match(/number \d+;/g)?.length, 20)
        assert.include(letter.text, "number 22;")
        assert.notInclude(letter.text, "number 2;")
        assert.include(letter.text, "There are more notifications.")
      }))

    it.effect("members get no new e-mail while the last one is unsent, and of two nodes only one promises it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const pia = yield* reader("pia", "mention")
        const quinn = yield* member("quinn")
        yield* ago(pia, 120)
        yield* write(quinn.bearer, { status: "@pia one" })
        yield* settled
        yield* sql`INSERT INTO promised_emails (kind, subject_id, due_at) VALUES ('email', ${pia.id}, now() + interval '1 hour')`
        yield* sweep
        assert.strictEqual((yield* sql`SELECT FROM promised_emails WHERE kind = 'notifications'`).length, 0)
        yield* sql`DELETE FROM promised_emails`
        yield* checkNow(pia)
        yield* Effect.all([sweep, sweep, sweep], { concurrency: "unbounded" })
        assert.lengthOf(yield* swept, 1)
      }))

    it.effect("F299: an e-mail that is written late leaves later notifications to the next one", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const emails = yield* NotificationEmails
        const tom = yield* reader("tom", "mention")
        const una = yield* member("una")
        yield* ago(tom, 120)
        yield* write(una.bearer, { status: "@tom first" })
        yield* settled
        const [first] = yield* sql<{ readonly id: bigint }>`SELECT id FROM notifications WHERE account_id = ${tom.id}`
        yield* write(una.bearer, { status: "@tom second" })
        yield* settled
        const [letter] = yield* emails.emailTo(tom.id, { after: "0", newest: String(first?.id) })
        assert.include(letter?.text, "@tom first")
        assert.notInclude(letter?.text, "@tom second")
        // A promise from before an upgrade.
        const [earlier] = yield* emails.emailTo(tom.id, { after: "0" })
        assert.include(earlier?.text, "@tom second")
        assert.lengthOf(yield* swept, 1)
      }))

    it.effect("one click on the signed link stops the e-mails; opening it does not, another token is refused", () =>
      Effect.gen(function*() {
        const rosa = yield* reader("rosa", "mention")
        const sam = yield* member("sam")
        yield* ago(rosa, 120)
        yield* write(sam.bearer, { status: "@rosa hello" })
        yield* settled
        yield* sweep
        const letter = yield* Postbox.next
        const header = letter.headers?.["List-Unsubscribe"] ?? ""
        assert.match(header, /^<http.*\/unsubscribe\/emails\?token=\d+\.[\w-]{43}>$/)
        assert.strictEqual(letter.headers?.["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
        const link = linkIn(letter, "/unsubscribe/")
        assert.include(header, link)
        const choices = yield* EmailChoices
        const asking = yield* get(link)
        assert.strictEqual(asking.status, 200)
        assert.include(asking.text, `method="post"`)
        assert.deepStrictEqual((yield* choices.of(rosa.id, 0n)).types, ["mention"])
        const other = link.replace(String(rosa.id), String(sam.id))
        assert.strictEqual((yield* get(other)).status, 404)
        assert.strictEqual((yield* post(other, { "List-Unsubscribe": "One-Click" })).status, 404)
        for (let twice = 0; twice < 2; twice++) {
          assert.strictEqual((yield* post(link, { "List-Unsubscribe": "One-Click" })).status, 200)
        }
        const pressed = yield* post(link, {}, { "sec-fetch-mode": "navigate" })
        assert.deepStrictEqual([pressed.status, pressed.headers.get("location")], [303, link], "F410")
        assert.include((yield* get(link)).text, "You are unsubscribed")
        assert.deepStrictEqual((yield* choices.of(rosa.id, 0n)).types, [])
        yield* write(sam.bearer, { status: "@rosa after the end" })
        yield* settled
        yield* sweep
        assert.strictEqual(yield* Effect.flatMap(Postbox, Queue.size), 0)
      }))

    it.effect("moderators get e-mails about reports unless they chose otherwise, and stop each kind of e-mails separately", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { publicUrl } = yield* ServerConfig
        const choices = yield* EmailChoices
        const [tess, ulf] = [yield* member("tess"), yield* reader("ulf", "mention")]
        yield* sql`UPDATE users SET role_id = 3 WHERE account_id IN (${tess.id}, ${ulf.id})`
        // Declining another kind of e-mails is not a choice about reports.
        yield* choices.end(tess.id, "trends")
        assert.deepStrictEqual(yield* choices.of(tess.id, permissions.manageReports), {
          types: ["admin.report"],
          declined: ["trends"]
        })
        const vera = yield* member("vera")
        const reported = yield* postJson("/api/v1/reports", vera.bearer, {
          account_id: String(ulf.id),
          comment: "rude"
        })
        assert.strictEqual(reported.status, 200, reported.text)
        yield* settled
        yield* sql`UPDATE email_choices SET seen_at = seen_at - interval '2 hours', due_at = now() - interval '1 second'
          WHERE account_id IN (${tess.id}, ${ulf.id})`
        const letters = yield* swept
        assert.deepStrictEqual(letters.map(({ to }) => to), ["tess@mail.example"])
        assert.include(letters[0]?.text, `${publicUrl}/admin/reports/${reported.body.id}`)
        yield* choices.end(tess.id, "notifications")
        yield* choices.end(tess.id, "trends")
        assert.deepStrictEqual(yield* choices.of(tess.id, permissions.manageReports), {
          types: [],
          declined: ["trends"]
        })
        yield* postJson("/api/v1/reports", vera.bearer, { account_id: String(ulf.id), comment: "again" })
        yield* settled
        assert.deepStrictEqual(yield* choices.of(tess.id, permissions.manageReports), {
          types: [],
          declined: ["trends"]
        })
      }))
  }
)
