import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../../support/Eventually.ts"
import { get, send } from "../../../support/Requests.ts"
import { issueToken, password, user } from "../../../support/SignedIn.ts"
import * as TestBrowser from "../../../support/TestBrowser.ts"
import { Postbox, server } from "../../../support/WebServer.ts"

type Browser = ReturnType<typeof TestBrowser.make>
const submitTo = (browser: Browser, page: TestBrowser.Page, action: string, fields: Record<string, string>) =>
  browser.submit(page, fields, TestBrowser.formsOf(page).findIndex((form) => form.action === action))
const submit = (path: string, token: string, fields: Record<string, string>) =>
  send(path, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: new URLSearchParams(fields) })
/** Takes e-mails up to the next one to this address. */
const letterTo = Effect.fnUntraced(function*(to: string) {
  for (;;) {
    const letter = yield* Postbox.next
    if (letter.to === to) return letter
  }
})
const signedIn = Effect.fnUntraced(function*(name: string) {
  const id = yield* user(name)
  const browser = TestBrowser.make()
  yield* browser.signIn(name)
  return { browser, id }
})

layer(server(), { excludeTestServices: true })("the user's own account, on pages and in the API", (it) => {
  it.effect("a changed password ends other browsers' sessions and keeps apps; the old one no longer works", () =>
    Effect.gen(function*() {
      const { browser, id } = yield* signedIn("ada")
      const token = yield* issueToken(id)
      const elsewhere = TestBrowser.make()
      yield* elsewhere.signIn("ada")
      const before = browser.cookies.get("__Host-session")
      const page = yield* browser.get("/settings/account")
      const wrong = yield* submitTo(browser, page, "/settings/account/password", {
        password: "wrong",
        new_password: "a new password"
      })
      assert.deepStrictEqual([wrong.status, /Wrong password/.test(wrong.text)], [403, true])
      const short = yield* submitTo(browser, page, "/settings/account/password", { password, new_password: "short" })
      assert.strictEqual(short.status, 422)
      const done = yield* submitTo(browser, page, "/settings/account/password", {
        password,
        new_password: "a new password"
      })
      assert.strictEqual(done.status, 302)
      assert.notStrictEqual(browser.cookies.get("__Host-session"), before)
      assert.include((yield* browser.get(done.headers.get("location") ?? "")).text, "Your password was changed")
      assert.include((yield* Postbox.next).text, "Your apps stay signed in")
      assert.strictEqual((yield* elsewhere.get("/settings/account")).status, 302)
      assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials", token)).status, 200)
      assert.strictEqual((yield* TestBrowser.make().signIn("ada")).status, 422)

      const byApi = { old_password: "a new password", new_password: "yet another one" }
      const path = "/api/v1/user/password_change"
      assert.strictEqual((yield* submit(path, token, { ...byApi, old_password: "wrong" })).status, 403)
      assert.strictEqual((yield* submit(path, token, { old_password: "x" })).status, 400)
      assert.strictEqual((yield* submit(path, token, { ...byApi, new_password: "short" })).status, 422)
      assert.strictEqual((yield* submit(path, yield* issueToken(id, ["read"]), byApi)).status, 403)
      assert.strictEqual((yield* submit(path, token, byApi)).status, 200)
      assert.strictEqual((yield* browser.get("/settings/account")).status, 302)
    }))

  it.effect("a new address is confirmed by e-mail, and the old one is notified", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser, id } = yield* signedIn("berta")
      yield* user("taken")
      const page = yield* browser.get("/settings/account")
      const change = (email: string, secret = password) =>
        submitTo(browser, page, "/settings/account/email", { email, password: secret })
      assert.strictEqual((yield* change("new@mail.example", "wrong")).status, 403)
      assert.strictEqual((yield* change("no address")).status, 422)
      assert.strictEqual((yield* change("taken@mail.example")).status, 422)
      assert.strictEqual((yield* change("new@mail.example")).status, 302)
      const link = yield* letterTo("new@mail.example")
      const notice = yield* letterTo("berta@mail.example")
      assert.include(notice.text, "is being changed to new@mail.example")
      assert.notInclude(link.text, "will be removed")
      assert.deepStrictEqual(yield* sql`SELECT email FROM users WHERE account_id = ${id}`, [{
        email: "berta@mail.example"
      }])
      const address = new URL(/https:\S+/.exec(link.text)?.[0] ?? "")
      assert.strictEqual((yield* TestBrowser.make().get(address.pathname + address.search)).status, 200)
      assert.deepStrictEqual(yield* sql`SELECT email FROM users WHERE account_id = ${id}`, [{
        email: "new@mail.example"
      }])
      const response = yield* submit("/api/v1/user/email_change", yield* issueToken(id), {
        password,
        new_email: "third@mail.example"
      })
      assert.deepStrictEqual([response.status, JSON.parse(response.text)], [202, {
        id: String(id),
        email: "new@mail.example",
        unconfirmed_email: "third@mail.example",
        approved: true,
        disabled: false
      }])
    }))

  it.effect("sessions are listed and ended by their own user, and a new browser is reported", () =>
    Effect.gen(function*() {
      const { browser, id } = yield* signedIn("carla")
      const { browser: foreign } = yield* signedIn("mallory")
      const sql = yield* SqlClient.SqlClient
      const phone = TestBrowser.make({
        origin: "https://local.example",
        "user-agent": "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"
      })
      yield* phone.signIn("carla")
      const letter = yield* letterTo("carla@mail.example")
      assert.deepStrictEqual([letter.to, /Firefox, Android/.test(letter.text)], ["carla@mail.example", true])
      yield* phone.signIn("carla", yield* phone.get("/auth/sign_in?force_login=1"))
      const page = yield* browser.get("/settings/sessions")
      assert.include(page.text, "Firefox, Android")
      assert.include(page.text, "This browser")
      const form = TestBrowser.formsOf(page).find(({ fields }) => "session" in fields)
      const theirs = yield* foreign.get("/settings/account")
      const token = TestBrowser.formsOf(theirs)[0]?.fields["authenticity_token"] ?? ""
      yield* foreign.request("/settings/sessions", {
        method: "POST",
        headers: { origin: "https://local.example" },
        body: new URLSearchParams({ authenticity_token: token, session: form?.fields["session"] ?? "" })
      })
      assert.strictEqual((yield* phone.get("/settings/sessions")).status, 200, "somebody else's")
      yield* submitTo(browser, page, "/settings/sessions", {})
      assert.strictEqual((yield* phone.get("/settings/sessions")).status, 302)
      assert.strictEqual((yield* browser.get("/settings/sessions")).status, 200)
      assert.strictEqual((yield* sql`SELECT FROM sign_in_places WHERE account_id = ${id}`).length, 3)
    }))

  it.effect("aliases are added and removed, and a move needs the other account's alias", () =>
    Effect.gen(function*() {
      const { browser, id } = yield* signedIn("dora")
      const target = yield* signedIn("dorothea")
      const self = "https://local.example/users/dora"
      const page = yield* target.browser.get("/settings/aliases")
      for (const account of ["nobody", "dorothea", "", "x".repeat(5_000)]) {
        assert.strictEqual(
          (yield* submitTo(target.browser, page, "/settings/aliases", { account })).status,
          422,
          account
        )
      }
      const moving = yield* browser.get("/settings/migration")
      const move = (account: string, secret = password) =>
        submitTo(browser, moving, "/settings/migration", { account, password: secret })
      assert.strictEqual((yield* move("dorothea")).status, 403)
      assert.strictEqual((yield* submitTo(target.browser, page, "/settings/aliases", { account: "@dora" })).status, 302)
      const listed = yield* target.browser.get("/settings/aliases")
      assert.include(listed.text, self)
      assert.strictEqual((yield* submitTo(target.browser, listed, "/settings/aliases/remove", {})).status, 302)
      assert.notInclude((yield* target.browser.get("/settings/aliases")).text, self)

      const theirs = yield* issueToken(target.id)
      const set = yield* submit("/api/v1/accounts/alias", theirs, { "also_known_as_uris[]": self })
      assert.strictEqual(set.status, 200)
      assert.strictEqual((yield* move("dorothea", "wrong")).status, 403)
      const token = yield* issueToken(id)
      const fields = { password, moved_to_uri: "https://local.example/users/dorothea" }
      assert.strictEqual((yield* submit("/api/v1/accounts/move", token, { ...fields, password: "wrong" })).status, 403)
      assert.strictEqual((yield* submit("/api/v1/accounts/move", token, fields)).status, 202)
      assert.strictEqual(
        (yield* get("/api/v1/accounts/verify_credentials", token)).status,
        403,
        "the token of a moved user"
      )
      const { text } = yield* get("/api/v1/accounts/lookup?acct=dora", theirs)
      assert.strictEqual(JSON.parse(text).moved?.acct, "dorothea")
    }))

  it.effect("pages of moving list the followers that came and that did not, for both accounts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [old, fresh] = [yield* signedIn("olga"), yield* signedIn("olga2")]
      const [came, stayed] = [yield* user("cora"), yield* user("stan")]
      const self = "https://local.example/users/olga"
      for (const id of [came, stayed]) {
        yield* submit(`/api/v1/accounts/${old.id}/follow`, yield* issueToken(id), {})
      }
      const theirs = yield* issueToken(fresh.id)
      yield* submit("/api/v1/accounts/alias", theirs, { "also_known_as_uris[]": self })
      // Refuses to take one of them along.
      yield* submit(`/api/v1/accounts/${stayed}/block`, theirs, {})
      assert.notInclude((yield* old.browser.get("/settings/migration")).text, "Move to")
      const target = "https://local.example/users/olga2"
      yield* submit("/api/v1/accounts/move", yield* issueToken(old.id), { password, moved_to_uri: target })
      yield* eventually(
        sql`SELECT FROM follows WHERE account_id = ${came} AND target_account_id = ${fresh.id}`,
        (rows) => rows.length === 1
      )
      const page = yield* old.browser.get("/settings/migration")
      assert.match(page.text, /<h2>Move to @olga2<\/h2>/)
      const [toCame = "", toStayed = ""] = [...page.text.matchAll(/href="(\/settings\/migration\/followers[^"]+)"/g)]
        .map(([, path = ""]) => path.replaceAll("&amp;", "&"))
      const cames = yield* old.browser.get(toCame)
      assert.include(cames.text, "@cora")
      assert.notInclude(cames.text, "@stan")
      assert.include((yield* old.browser.get(toStayed)).text, "@stan")
      const file = toStayed.replace("/followers?", "/download?")
      const csv = yield* old.browser.get(file)
      assert.strictEqual(csv.text, "Account address\r\nstan@local.example\r\n")
      assert.include(csv.headers.get("content-disposition") ?? "", "followers_who_did_not_come.csv")

      const other = yield* fresh.browser.get("/settings/migration")
      assert.match(other.text, /<h2>Move from @olga<\/h2>/)
      assert.include((yield* fresh.browser.get(toCame)).text, "@cora")
      assert.notInclude((yield* fresh.browser.get(toStayed)).text, "@stan")
      assert.strictEqual((yield* fresh.browser.get(file)).text, "Account address\r\n")
      assert.strictEqual((yield* TestBrowser.make().get(file)).status, 302)
    }))

  it.effect("a deleted account is gone, with its sessions and tokens", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser, id } = yield* signedIn("emma")
      const token = yield* issueToken(id)
      const page = yield* browser.get("/settings/delete")
      assert.strictEqual((yield* browser.submit(page, { password: "wrong" })).status, 403)
      assert.strictEqual((yield* submit("/api/v1/accounts/delete", token, { password: "wrong" })).status, 403)
      const done = yield* browser.submit(page, { password })
      assert.deepStrictEqual([done.status, /Your account was deleted/.test(done.text)], [200, true])
      assert.deepStrictEqual(yield* sql`SELECT FROM users WHERE account_id = ${id}`, [])
      assert.deepStrictEqual(yield* sql`SELECT FROM audit_log WHERE action = 'destroy'`, [])
      assert.strictEqual((yield* browser.get("/settings/delete")).status, 302)
      assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials", token)).status, 401)
      assert.strictEqual((yield* TestBrowser.make().signIn("emma")).status, 422)

      const { id: other } = yield* signedIn("frida")
      assert.strictEqual((yield* submit("/api/v1/accounts/delete", yield* issueToken(other), { password })).status, 202)
      assert.deepStrictEqual(yield* sql`SELECT FROM users WHERE account_id = ${other}`, [])
    }))

  it.effect("every form of the settings refuses other sites, and leads visitors to the sign-in and back", () =>
    Effect.gen(function*() {
      const { browser } = yield* signedIn("gerda")
      for (const path of ["account", "sessions", "passkeys", "aliases", "migration", "delete"]) {
        const page = yield* browser.get(`/settings/${path}`)
        assert.strictEqual(page.status, 200, path)
        for (const { action, fields } of TestBrowser.formsOf(page)) {
          for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
            const body = new URLSearchParams({ ...fields, password })
            assert.strictEqual((yield* browser.request(action, { method: "POST", body, headers })).status, 403, action)
          }
          const bare = {
            method: "POST",
            body: new URLSearchParams({ password }),
            headers: { origin: "https://local.example" }
          }
          assert.strictEqual((yield* browser.request(action, bare)).status, 403, action)
        }
        const visitor = TestBrowser.make()
        const sent = yield* visitor.get(`/settings/${path}`)
        assert.strictEqual(sent.status, 302)
        const back = yield* visitor.signIn("gerda", yield* visitor.get(sent.headers.get("location") ?? ""))
        assert.strictEqual(TestBrowser.locationOf(back).pathname, `/settings/${path}`)
      }
      assert.strictEqual((yield* browser.get("/settings/account")).status, 200)
      const open = TestBrowser.make()
      for (
        const evil of ["//evil.example", "https://evil.example", "/\\evil.example", "/auth/sign_out", "/@a\r\nx: y"]
      ) {
        const form = yield* open.get(`/auth/sign_in?${new URLSearchParams({ return_to: evil, force_login: "1" })}`)
        const landed = TestBrowser.locationOf(yield* open.signIn("gerda", form))
        assert.deepStrictEqual([landed.host, landed.pathname], ["none.example", "/home"], evil)
      }
    }))
})
