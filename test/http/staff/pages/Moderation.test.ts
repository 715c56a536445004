import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"

type Browser = Effect.Success<ReturnType<typeof staffBrowser>>

const pathOf = ({ accountId }: Person) => `/admin/accounts/${accountId}`

/** Presses a button, confirms if asked, and follows the redirect. */
const does = Effect.fnUntraced(
  function*(browser: Browser, path: string, act: string, written: Record<string, string> = {}) {
    const asked = yield* browser.press(yield* browser.get(path), act, written)
    const sent = asked.status === 200 ? yield* browser.press(asked, act) : asked
    return sent.status === 302 ? yield* browser.follow(sent) : sent
  }
)

layer(TestServer.layer(), { excludeTestServices: true })("moderation on pages", (it) => {
  it.effect("S-022: an action describes its effect, runs once, and its notice undoes it", () =>
    Effect.gen(function*() {
      const moderator = yield* staffMember("mod1", ["manageUsers"])
      const bad = yield* newPerson("bad1")
      const browser = yield* staffBrowser(moderator)
      const page = yield* browser.get(pathOf(bad))
      const asked = yield* browser.press(page, "take", { type: "silence", text: "Stop", tells: "yes" })
      assert.strictEqual(asked.status, 200)
      assert.include(asked.text, "shown only to followers")
      const state = () =>
        Effect.map(ask(moderator, "GET", `/api/v1/admin/accounts/${bad.accountId}`), ({ body }) => body)
      assert.isFalse((yield* state()).silenced)
      const done = yield* browser.follow(yield* browser.press(asked, "take"))
      assert.include(done.text, "@bad1 was limited.")
      assert.isTrue((yield* state()).silenced)
      // Submitting the form again is refused with a message, and nothing is done twice.
      const again = yield* browser.press(asked, "take")
      assert.strictEqual(again.status, 422)
      assert.include(again.text, "role=\"alert\"")
      const undone = yield* browser.follow(yield* browser.press(done, "unsilence"))
      assert.include(undone.text, "no longer limited")
      assert.isFalse((yield* state()).silenced)
      // The notice is shown once.
      assert.notInclude((yield* browser.get(pathOf(bad))).text, "no longer limited")
      assert.deepStrictEqual((yield* auditEntries(moderator.accountId)).map(({ act }) => act), [
        "account unsilence",
        "account silence",
        "account silence"
      ])
    }))

  it.effect("S-252: acting on an equal or higher role is refused, as is an unknown or another's action", () =>
    Effect.gen(function*() {
      const [one, peer] = [
        yield* staffMember("peer1", ["manageUsers"], 50),
        yield* staffMember("peer2", ["manageUsers"], 50)
      ]
      const browser = yield* staffBrowser(one)
      const page = yield* does(browser, pathOf(peer), "take", { type: "suspend", text: "", tells: "yes" })
      assert.strictEqual(page.status, 403)
      assert.include(page.text, "This action is not allowed")
      const bad = yield* newPerson("bad2")
      const shown = yield* browser.get(pathOf(bad))
      for (const [act, status] of [["nothing", 422], ["constructor", 422], ["delete", 403], ["role", 403]] as const) {
        assert.strictEqual((yield* browser.submit(shown, { act }, 1)).status, status, act)
      }
      assert.notInclude(shown.text, "Delete account")
    }))

  it.effect("S-277: several sign-ups are decided at once; a refused one does not affect the others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const browser = yield* staffBrowser(yield* staffMember("mod3", ["manageUsers"]))
      const people = [yield* newPerson("wait1"), yield* newPerson("wait2"), yield* newPerson("here1")]
      yield* sql`UPDATE users SET approved = false WHERE account_id = ANY (${
        people.slice(0, 2).map(({ accountId }) => accountId)
      }::bigint[])`
      const page = yield* browser.get("/admin/accounts?status=pending")
      const token = /name="authenticity_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ""
      const body = new URLSearchParams([["authenticity_token", token], ["act", "approve"]])
      for (const { accountId } of people) body.append("ids[]", String(accountId))
      body.append("ids[]", "x")
      const sent = yield* browser.request("/admin/accounts?status=pending", {
        method: "POST",
        body,
        headers: { origin: (yield* TestServer).baseUrl }
      })
      const done = yield* browser.follow(sent)
      assert.include(done.text, "2 accounts were approved.")
      assert.include(done.text, "Not @here1: This action is not allowed")
      body.delete("ids[]")
      const none = yield* browser.request("/admin/accounts", {
        method: "POST",
        body,
        headers: { origin: (yield* TestServer).baseUrl }
      })
      assert.strictEqual(none.status, 422)
      assert.include(none.text, "blank")
    }))

  it.effect("S-234: the second moderator on a report learns of the first; posts are acted on; notes are written and deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [one, two] = [
        yield* staffMember("desk1", ["manageReports"]),
        yield* staffMember("desk2", ["manageReports"])
      ]
      const [bad, good] = [yield* newPerson("bad4"), yield* newPerson("good4")]
      const { body: post } = yield* ask(bad, "POST", "/api/v1/statuses", { status: "A <b>picture</b>" })
      yield* ask(good, "POST", "/api/v1/reports", {
        account_id: String(bad.accountId),
        status_ids: [post.id],
        comment: "Look"
      })
      const [report] = yield* sql<{ id: bigint }>`SELECT id FROM reports ORDER BY id DESC LIMIT 1`
      const path = `/admin/reports/${report!.id}`
      const [first, second] = [yield* staffBrowser(one), yield* staffBrowser(two)]
      const before = yield* second.get(path)
      assert.include(before.text, "A &lt;b&gt;picture&lt;/b&gt;")
      assert.include((yield* does(first, path, "assign")).text, "assigned to you")
      const late = yield* second.press(before, "assign")
      assert.strictEqual(late.status, 422)
      assert.include(late.text, "taken")
      assert.include((yield* does(first, path, "note", { content: "Seen <before>" })).text, "Seen &lt;before&gt;")
      assert.include((yield* does(first, path, "unnote")).text, "The note was deleted")
      assert.strictEqual((yield* does(first, path, "posts", { do: "delete" })).status, 422)
      const marked = yield* does(first, path, "posts", {
        do: "mark_as_sensitive",
        text: "Warn others",
        "ids[]": post.id
      })
      assert.include(marked.text, "marked as sensitive")
      assert.isTrue((yield* ask(good, "GET", `/api/v1/statuses/${post.id}`)).body.sensitive)
      assert.include((yield* does(first, path, "reopen")).text, "was reopened")
    }))

  it.effect("S-234 S-066: collections of accounts are on the page of a report, are removed from there, and stay listed when they are deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const browser = yield* staffBrowser(yield* staffMember("mod6", ["manageReports"]))
      const [bad, friend, good] = [yield* newPerson("bad6"), yield* newPerson("friend6"), yield* newPerson("good6")]
      yield* sql`UPDATE accounts SET discoverable = true WHERE id = ${friend.accountId}`
      const ids: Array<string> = []
      for (const name of ["Rude <people>", "Worse"]) {
        const given = { name, description: "Look & laugh", account_ids: [String(friend.accountId)] }
        ids.push((yield* ask(bad, "POST", "/api/v1/collections", given)).body.collection.id)
      }
      const [rude = "", worse = ""] = ids
      const reported = { account_id: String(bad.accountId), collection_ids: ids }
      const reports = [
        yield* ask(good, "POST", "/api/v1/reports", reported),
        yield* ask(good, "POST", "/api/v1/reports", reported)
      ]
      const [first, second] = reports.map(({ body }) => `/admin/reports/${body.id}`)
      const page = yield* browser.get(first!)
      for (const text of ["Rude &lt;people&gt;", "Look &amp; laugh", "@friend6", "Worse"]) {
        assert.include(page.text, text)
      }
      const done = yield* does(browser, first!, "posts", { do: "delete", text: "No", "collections[]": rude })
      assert.include(done.text, "selected items were removed")
      assert.strictEqual((yield* ask(bad, "GET", `/api/v1/collections/${rude}`)).status, 404)
      const still = yield* browser.get(second!)
      assert.include(still.text, "Deleted")
      assert.notInclude(still.text, `value="${rude}"`)
      // Too late after the action of the other moderator.
      const late = yield* does(browser, second!, "posts", { do: "delete", "collections[]": rude })
      assert.strictEqual(late.status, 422)
      yield* ask(bad, "DELETE", `/api/v1/collections/${worse}`)
      assert.include((yield* browser.get(second!)).text, "Worse")
      const strike = yield* (yield* staffBrowser(bad)).get("/disputes/strikes")
      assert.include(strike.text, "removed some of your collections")
      const [, href = ""] = /href="(\/disputes\/strikes\/\d+)"/.exec(strike.text) ?? []
      assert.include((yield* (yield* staffBrowser(bad)).get(href)).text, "Rude &lt;people&gt;")
    }))

  it.effect("S-252: an administrator grants lower roles, changes an address, and deletes a suspended user only by name", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* staffMember("owner5", ["administrator"], 900)
      const { roleId } = yield* staffMember("lower5", ["manageReports"], 10)
      const person = yield* newPerson("person5")
      const browser = yield* staffBrowser(owner)
      assert.include((yield* does(browser, pathOf(person), "role", { role: String(roleId) })).text, "now has the role")
      const [user] = yield* sql<{ roleId: bigint }>`SELECT role_id FROM users WHERE account_id = ${person.accountId}`
      assert.strictEqual(user?.roleId, roleId)
      assert.strictEqual((yield* does(browser, pathOf(person), "role", { role: String(owner.roleId) })).status, 403)
      const letter = yield* does(browser, pathOf(person), "email", { email: "new5@example.org" })
      assert.include(letter.text, "A confirmation email was sent")
      assert.notInclude((yield* browser.get(pathOf(person))).text, "Delete account", "only what is suspended")
      yield* does(browser, pathOf(person), "take", { type: "suspend", text: "", tells: "yes" })
      assert.strictEqual((yield* does(browser, pathOf(person), "delete", { typed: "person5" })).status, 422)
      const gone = yield* does(browser, pathOf(person), "delete", { typed: "@person5" })
      assert.include(gone.text, "is being deleted")
      assert.strictEqual((yield* ask(undefined, "GET", `/api/v1/accounts/${person.accountId}`)).status, 404)
    }))
})
