import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Permission, permissions } from "../../../../src/services/staff/Permissions.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf } from "../../../support/TestBrowser.ts"
import { declared, pageOf, pages, sources } from "./pages.ts"

const isPermission = (name: string): name is Permission => name in permissions
const names = Object.keys(permissions).filter(isPermission)
const nothing = "900000000000000001"

const hostile = [
  "",
  "0",
  "-1",
  "99999999999999999999999999",
  "1e9",
  "%00",
  "a%00b",
  "%F0%9F%A6%86",
  "%ff%fe",
  "'; DROP TABLE accounts; --",
  "%25%5C_",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "2026-13-99",
  "::1/999",
  "x".repeat(3_000)
]
const parameters = [
  "max_id",
  "min_id",
  "since_id",
  "state",
  "status",
  "origin",
  "role",
  "username",
  "display_name",
  "email",
  "domain",
  "by_target_domain",
  "ip",
  "account_id",
  "target_account_id",
  "lang",
  "page",
  "q",
  "type",
  "kind",
  "only",
  "rule",
  "ids[]",
  "a[b][c][d][e][f][g]"
]

/** Returns the parameters that the sources of a page read. */
const parametersOf = (path: string): ReadonlyArray<string> => {
  const text = sources.find(({ text }) => text.includes(`path: "${path}"`))?.text ?? ""
  const named = [...text.matchAll(/\b(?:query\.(?:get|has)|text)\("(\w+)"\)|filter(?:Text|Select)\(\w+, "(\w+)"/g)]
    .map(([, one, other]) => one ?? other ?? "")
  return [...new Set([...named, ...(text.includes("pageOf(") ? ["max_id", "min_id"] : [])])]
}

layer(TestServer.layer(), { excludeTestServices: true })("staff pages", (it) => {
  it.effect("the table names every existing page", () =>
    Effect.sync(() => {
      assert.isAtLeast(pages.length, 7)
      assert.deepStrictEqual(pages.map(({ path }) => path).toSorted(), declared.toSorted())
      for (const { path, permissions } of pages) assert.isTrue(permissions.every(isPermission), path)
    }))

  it.effect("S-021 S-252: each requires one of its permissions, and accepts no others", () =>
    Effect.gen(function*() {
      let [let_in, kept_out] = [0, 0]
      const nobody = yield* staffBrowser(yield* staffMember("nobits", []))
      const chief = yield* staffBrowser(yield* staffMember("allbits", ["administrator"]))
      const [token = "", theirs = ""] = yield* Effect.forEach([chief, nobody], (browser) =>
        Effect.map(browser.get("/settings/two_factor_authentication"), ({ text }) =>
          /name="authenticity_token" value="([^"]*)"/.exec(text)?.[1] ?? ""))
      const { baseUrl } = yield* TestServer
      const act = (browser: typeof nobody, path: string, origin: string, token: string) =>
        Effect.map(
          browser.request(pageOf(path, nothing), {
            method: "POST",
            body: new URLSearchParams({ act: "resolve", authenticity_token: token }),
            headers: { origin }
          }),
          ({ status }) =>
            status
        )
      for (const { path } of pages) {
        assert.strictEqual((yield* nobody.get(pageOf(path, nothing))).status, 403, path)
        // A form of another site with an administrator's token, and our own form sent by a user without permissions.
        assert.include([403, 404, 405], yield* act(chief, path, "https://evil.example", token), path)
        assert.include([403, 404, 405], yield* act(nobody, path, baseUrl, theirs), path)
        kept_out += 3
      }
      for (const name of names) {
        const browser = yield* staffBrowser(yield* staffMember(`bit${names.indexOf(name)}`, [name]))
        for (const { path, permissions: wanted } of pages) {
          const about = `${path} with ${name}`
          const { status, text } = yield* browser.get(pageOf(path, nothing))
          if (name === "administrator" || wanted.includes(name)) {
            assert.strictEqual(status, path.includes(":") ? 404 : 200, about)
            let_in++
          } else if (path === "/admin" && status === 302) {
            kept_out++
          } else {
            assert.strictEqual(status, 403, about)
            assert.notInclude(text, "<table", about)
            kept_out++
          }
        }
      }
      console.info(`${pages.length} pages of staff, ${let_in} visits let in, ${kept_out} kept out`)
    }))

  it.effect("the navigation has only pages that the role may open", () =>
    Effect.gen(function*() {
      for (const name of names) {
        const browser = yield* staffBrowser(yield* staffMember(`nav${names.indexOf(name)}`, [name]))
        const start = yield* browser.get("/admin")
        if (start.status === 403) continue
        const page = start.status === 302 ? yield* browser.follow(start) : start
        assert.strictEqual(page.status, 200, name)
        const [, menu = ""] = /<nav class="side"[^>]*>(.*?)<\/nav>/s.exec(page.text) ?? []
        const paths = [...menu.matchAll(/href="(\/admin[^"]*)"/g)].map(([, path = ""]) => path)
        assert.isNotEmpty(paths, name)
        for (const path of paths) assert.strictEqual((yield* browser.get(path)).status, 200, `${path} with ${name}`)
      }
    }))

  it.effect("forms are accepted from the session that they were shown to, and from no other", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson } = yield* TestServer
      const [one, two] = [
        yield* staffMember("chief1", ["administrator"]),
        yield* staffMember("chief2", ["administrator"])
      ]
      const target = yield* createPerson("target")
      const path = `/admin/accounts/${target.accountId}`
      const [mine, theirs] = [yield* staffBrowser(one), yield* staffBrowser(two)]
      const fields = formsOf(yield* mine.get(path)).find(({ acts }) => acts.includes("note"))
      const others = formsOf(yield* theirs.get(path)).find(({ acts }) => acts.includes("note"))
      const send = (token: string | undefined, headers?: Record<string, string>) =>
        mine.request(path, {
          method: "POST",
          body: new URLSearchParams({
            act: "note",
            content: "x",
            ...(token !== undefined && { ["authenticity_token"]: token })
          }),
          ...(headers !== undefined && { headers })
        })
      const own = fields?.fields["authenticity_token"]
      for (const token of [undefined, "", "x", others?.fields["authenticity_token"]]) {
        assert.strictEqual((yield* send(token)).status, 403)
      }
      assert.strictEqual((yield* send(own, { origin: "https://evil.example" })).status, 403)
      const count = sql<{ n: number }>`SELECT count(*)::int AS n FROM moderation_notes`
      assert.strictEqual((yield* count)[0]?.n, 0)
      assert.strictEqual((yield* send(own)).status, 302)
      assert.strictEqual((yield* count)[0]?.n, 1)
      // The role is removed between the page and the form.
      yield* sql`UPDATE users SET role_id = -99 WHERE account_id = ${one.accountId}`
      assert.strictEqual((yield* send(own)).status, 403)
      assert.strictEqual((yield* count)[0]?.n, 1)
    }))

  it.effect(
    "hostile parameters and fields get a response, and never a server error",
    () =>
      Effect.gen(function*() {
        const browser = yield* staffBrowser(yield* staffMember("patient", ["administrator"]))
        let asked = 0
        for (const { path } of pages) {
          for (const value of hostile) {
            const query = parameters.map((name) => `${encodeURIComponent(name)}=${value.replaceAll("&", "%26")}`).join(
              "&"
            )
            const search = value.length > 1_000 ? `username=${value}` : query
            const listed = yield* browser.get(
              `${pageOf(path, nothing)}?${search.replaceAll(/[ ;'<>\\]/g, encodeURIComponent)}`
            )
            assert.isBelow(listed.status, 500, `${path} ${value.slice(0, 40)}`)
            if (path.includes(":") && value !== "") {
              const shown = yield* browser.get(pageOf(path, encodeURIComponent(decodeLoosely(value))))
              assert.isBelow(shown.status, 500, `${path} named ${value.slice(0, 40)}`)
            }
            asked += 2
          }
          // Also singly for pages that read it: a refused parameter hides the others.
          for (const name of parametersOf(path)) {
            for (const value of ["%00", "99999999999999999999999999", "%ff", "2026-13-99"]) {
              const { status } = yield* browser.get(`${pageOf(path, nothing)}?${name}=${value}`)
              assert.isBelow(status, 500, `${path} ${name}=${value}`)
              asked++
            }
          }
        }
        console.info(`${asked} hostile requests answered`)
      })
  )
})

const decodeLoosely = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
