import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { adminFixtures } from "../../../support/AdminFixtures.ts"
import { administratorBrowser } from "../../../support/AdministratorBrowser.ts"
import { TestServer } from "../../../support/Server.ts"
import { declaredActs, pages, sources } from "./pages.ts"

/** Fields that the sources read, including list fields. */
const fields = [
  ...new Set(
    sources.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:sent|form)\.(get|getAll|has)\("([a-z]\w*)"\)|\b(?:text|number)\("([a-z]\w*)"\)/g)].map(
        ([, how, one, other]) => `${one ?? other ?? ""}${how === "getAll" ? "[]" : ""}`
      )
    )
  ),
  "liveFeeds.local",
  "liveFeeds.remote",
  "hashtagFeeds.local",
  "hashtagFeeds.remote",
  "attachments"
].filter((name) => name !== "act" && name !== "confirmed")

/** Returns an invalid value by kind: a network of all addresses, or an impossible date. */
const wrong = (field: string) => /^(?:ip|domain|url|email)/.test(field) ? "::/0" : "2026-13-99T99:99"
const values: ReadonlyArray<(field: string) => string> = [
  () => "",
  () => `a\u0000\u{10FFFF}\ud800'"<>\\%${"x".repeat(7_000)}`,
  () => "-1",
  () => "99999999999999999999",
  wrong,
  () => "1"
]

/** Buttons that delete the page's subject come last, so that every button has one. */
const isEnd = (act: string) => /^(?:remove|delete|end|reject|dismiss|stop|clear|destroy)/.test(act)

/** Returns bodies of other types and sizes than a form's, each with the token if it can have one. */
const bodies = (
  act: string,
  token: string
): ReadonlyArray<readonly [name: string, body: string | FormData, type?: string]> => {
  const base = { act, confirmed: "yes", authenticity_token: token }
  const plain = new URLSearchParams(base).toString()
  const files = new FormData()
  for (const [name, value] of Object.entries(base)) files.set(name, value)
  for (const name of ["text", "name", "file", "image", "data", "kind"]) {
    files.set(name, new Blob([`<svg onload="alert(1)"/>`]), "../../x\".png")
  }
  const nothing = new FormData()
  for (const [name, value] of Object.entries(base)) nothing.set(name, value)
  for (const name of ["file", "image", "data"]) nothing.set(name, new Blob([]), "")
  return [
    ["names in names", `${plain}&text[a][b]=1&name[]=1&ids[x][y]=1&kind[]=1&domain[__proto__]=1&url[constructor]=1`],
    ["a list of many", `${plain}${"&ids[]=1".repeat(5_000)}`],
    [
      "as JSON",
      JSON.stringify({ ...base, text: null, name: {}, ids: [[1], { a: 1 }], kind: 1e300 }),
      "application/json"
    ],
    ["as JSON that is none", "{\"act\":", "application/json"],
    ["as a text", plain, "text/plain"],
    ["encoded badly", `${plain}&text=%ff%fe%00%zz&%ff=1`],
    ["files in place of texts", files],
    ["files of nothing", nothing],
    [
      "multipart without an end",
      "--x\r\nContent-Disposition: form-data; name=\"act\"\r\n\r\n",
      "multipart/form-data; boundary=x"
    ],
    ["large", `${plain}&text=${"x".repeat(1_200_000)}`]
  ]
}

const tokenIn = ({ text }: { readonly text: string }) =>
  /name="authenticity_token" value="([^"]*)"/.exec(text)?.[1] ?? ""

layer(TestServer.layer(), { excludeTestServices: true })("forms of staff", (it) => {
  const [lists, things] = [false, true].map((named) => declaredActs.filter(([path]) => path.includes(":") === named))
  const half = Math.ceil((lists?.length ?? 0) / 2)
  for (
    const [name, asked] of [
      ["some lists", lists?.slice(0, half) ?? []],
      ["other lists", lists?.slice(half) ?? []],
      ["pages about one thing", things ?? []]
    ] as const
  ) {
    it.effect(`hostile fields of every action on ${name} get a response, and never a server error`, () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const owner = yield* administratorBrowser(name.replaceAll(" ", ""))
        const addressOf = asked === things ? yield* adminFixtures(owner) : Effect.succeed<string>
        const addresses = new Map(
          yield* Effect.forEach(asked, ([path]) => Effect.map(addressOf(path), (address) => [path, address] as const))
        )
        const token = tokenIn(yield* owner.browser.get("/admin"))
        assert.isAtLeast(asked.length, 10)
        assert.isAtLeast(fields.length, 70)
        let sent = 0
        for (const [path, acts] of asked) {
          assert.isNotEmpty(acts, path)
          const address = addresses.get(path) ?? ""
          assert.strictEqual((yield* owner.browser.get(address)).status, 200, `${path}: what it is about is there`)
          for (const act of acts.toSorted((a, b) => Number(isEnd(a)) - Number(isEnd(b)))) {
            for (const value of values) {
              const body = new URLSearchParams({ act, confirmed: "yes", authenticity_token: token })
              for (const field of fields) body.append(field, value(field))
              const { status, text } = yield* owner.browser.request(address, {
                method: "POST",
                body,
                headers: { origin: baseUrl }
              })
              assert.isBelow(status, 500, `${path} ${act} ${value("any").slice(0, 20)}`)
              assert.notInclude(text, "Action is not included in the list", `${path} ${act}`)
              sent++
            }
          }
        }
        console.info(`${sent} hostile forms answered on ${name}, with ${fields.length} fields each`)
      }))
  }

  it.effect("bodies of every other type and size get a response on every page, and change nothing", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const { browser } = yield* administratorBrowser("stout")
      const token = tokenIn(yield* browser.get("/admin"))
      const acts = new Map(declaredActs)
      let sent = 0
      for (const { path } of pages) {
        const act = acts.get(path)?.find((name) => !isEnd(name)) ?? "save"
        for (const [name, body, type] of bodies(act, token)) {
          const { status } = yield* browser.request(path.replace(/:\w+/, "1"), {
            method: "POST",
            body,
            headers: {
              origin: baseUrl,
              ...(body instanceof FormData ? {} : { "content-type": type ?? "application/x-www-form-urlencoded" })
            }
          })
          assert.isBelow(status, 500, `${path} ${act}: ${name}`)
          if (name === "large" || name === "as JSON that is none") {
            assert.isAtLeast(status, 400, `${path} ${act}: ${name}`)
          }
          sent++
        }
      }
      console.info(`${sent} bodies of other types answered`)
    }))
})
