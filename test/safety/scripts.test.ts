import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { problems as pageProblems } from "../http/pages/strictPage.ts"
import { payloads } from "../services/html/payloads.ts"
import { problems } from "../services/html/strict.ts"
import { publishedId } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { call, get } from "./Calls.ts"

/** Members of API responses that clients show as HTML (entities.md). */
const htmlMembers = new Set(["content", "note", "value", "description"])
/** Members that clients open as URLs. */
const addressMembers = /(^|_)(url|uri|avatar|header|avatar_static|header_static|static_url|website|thumbnail|href)$/

/** Finds invalid HTML and URLs anywhere in a response. */
const wrong = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((one, index) => wrong(one, `${path}.${index}`))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const where = `${path}.${name}`
    if (typeof member !== "string") return wrong(member, where)
    // The source of a profile is plain text for its author's own form.
    const isHtml = htmlMembers.has(name) && !path.includes(".source")
    const isAddress = addressMembers.test(name) && !/^(?:https?:\/\/|$)/.test(member)
    const found = isHtml ? problems(member).map((problem) => `${where}: ${problem}`) : []
    return isAddress ? found.concat(`${where}: ${member}`) : found
  })
}

/** Joins the payloads into texts of at most this length; without NUL, which the server refuses. */
const together = (length: number) => {
  const texts = [""]
  for (const payload of payloads.map((one) => one.replaceAll("\0", "\ufffd"))) {
    const last = texts.at(-1) ?? ""
    if (last.length + payload.length < length) texts[texts.length - 1] = `${last}\n${payload}`
    else texts.push(payload.slice(0, length))
  }
  return texts
}

const checkResponse = Effect.fnUntraced(function*(path: string, by?: Person) {
  const { body, status } = yield* get(path, by)
  assert.strictEqual(status, 200, path)
  assert.deepStrictEqual(wrong(body), [], path)
})

layer(TestServer.layer(), { excludeTestServices: true })("row 41", (it) => {
  it.effect(
    "mark-up in any field of a post or profile appears in no response or page",
    () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
        assert.lengthOf(wrong([{ content: "<p onclick=\"x\">y</p>", account: { url: "javascript:x" } }]), 2, "it sees")
        const texts = together(450)
        assert.isAbove(texts.length, 20)
        const posts: Array<string> = []
        for (const text of texts) {
          posts.push(yield* publishedId(ada, `@bob ${text}`.slice(0, 500), { language: "en" }))
          posts.push(yield* publishedId(ada, "Warned", { spoiler_text: text, sensitive: true }))
        }
        for (const [index, text] of texts.entries()) {
          if (index % 2 === 1) {
            yield* call("PUT", `/api/v1/statuses/${posts[index]}`, ada, { status: text, spoiler_text: "" })
          }
        }
        for (
          const path of ["/api/v1/timelines/public?limit=40", "/api/v1/notifications?limit=80", "/api/v2/notifications"]
        ) {
          yield* checkResponse(path, bob)
        }
        for (const id of posts) {
          yield* checkResponse(`/api/v1/statuses/${id}`)
          const page = yield* get(`/@ada/${id}`)
          assert.deepStrictEqual(pageProblems(page.text), [], id)
        }
        yield* checkResponse(`/api/v1/statuses/${posts[1]}/history`)

        for (const text of together(200)) {
          const short = text.slice(0, 30)
          const { status } = yield* call("PATCH", "/api/v1/accounts/update_credentials", bob, {
            display_name: short,
            note: text,
            fields_attributes: [{ name: text, value: text }, { name: "Web", value: short }]
          })
          assert.strictEqual(status, 200, text)
          yield* checkResponse(`/api/v1/accounts/${bob.accountId}`)
          yield* checkResponse("/api/v1/accounts/verify_credentials", bob)
          assert.deepStrictEqual(pageProblems((yield* get("/@bob")).text), [], text)
        }
      })
  )

  it.effect("an app's name and URL are returned as text and as a web address, or refused", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      for (const payload of payloads.slice(0, 40)) {
        const wish = { client_name: payload.slice(0, 60), redirect_uris: "urn:ietf:wg:oauth:2.0:oob", website: payload }
        const response = yield* call("POST", "/api/v1/apps", undefined, wish)
        assert.strictEqual(response.status, 422, `${payload} is no web address`)
      }
      const named = yield* call("POST", "/api/v1/apps", undefined, {
        client_name: "<img src=x onerror=alert(1)>",
        redirect_uris: "https://app.example/"
      })
      const query = new URLSearchParams({
        client_id: named.body.client_id,
        redirect_uri: "https://app.example/",
        response_type: "code",
        scope: "read",
        state: "\"><script>alert(1)</script>"
      })
      const page = yield* fetch(`/oauth/authorize?${query}`)
      assert.notInclude(yield* Effect.promise(() => page.text()), "<script>alert")
    }))
})
